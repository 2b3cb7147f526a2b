//! Short cuts along a witness: bounded searches from its states look for later ones.

use super::effort::Effort;
use super::{Stage, chain, stage_store};
use crate::{Account, Bfs, Deadlock, Job, Limits, Settings};
use std::collections::HashMap;
use wayfarer_space::{Space, Word};

/// Meetings with later states that a window looks at.
const MEETINGS: usize = 64;

/// Goes along a witness once and takes every short cut it finds.
pub(super) fn one_pass(space: &dyn Space, states: &[Vec<Word>], window: u64, account: &dyn Account, effort: &mut Effort) -> Vec<Vec<Word>> {
    let places: HashMap<&[Word], usize> = states.iter().enumerate().map(|(place, state)| (state.as_slice(), place)).collect();
    let mut way = vec![states[0].clone()];
    let mut at = 0;
    while at + 1 < states.len() {
        match short_cut(space, states, &places, at, window, account, effort) {
            Some((to, through)) => {
                way.extend(through);
                at = to;
            }
            None => {
                at += 1;
                way.push(states[at].clone());
            }
        }
    }
    way
}

/// A place ahead, and a way there with fewer steps than the witness takes.
type ShortCut = (usize, Vec<Vec<Word>>);

/// The short cut from a place that saves most.
fn short_cut(
    space: &dyn Space,
    states: &[Vec<Word>],
    places: &HashMap<&[Word], usize>,
    at: usize,
    window: u64,
    account: &dyn Account,
    effort: &mut Effort,
) -> Option<ShortCut> {
    if effort.left() == 0 {
        return None;
    }
    let store = stage_store(space, account)?;
    let ahead = |state: &[Word]| places.get(state).is_some_and(|place| *place > at + 1);
    let stage = Stage { space, from: Some(&states[at]), only: None, goal: &ahead };
    let limits = Limits { states: window.min(effort.left()), ..Limits::default() };
    let settings = Settings { limits, deadlock: Deadlock::Off, max_errors: MEETINGS, ..Settings::default() };
    let outcome = Job::new(&stage, &store, &mut Bfs::new(&limits), &settings).run(effort);
    effort.spend_search(outcome.states, outcome.stop);
    let mut best: Option<(usize, ShortCut)> = None;
    for handle in outcome.violations.iter().filter_map(|violation| violation.state) {
        let Ok(mut way) = chain(space, &store, handle) else { continue };
        let Some(place) = way.last().and_then(|state| places.get(state.as_slice())) else { continue };
        let saved = (place - at).saturating_sub(way.len() - 1);
        if saved > 0 && best.as_ref().is_none_or(|(most, _)| saved > *most) {
            way.remove(0);
            best = Some((saved, (*place, way)));
        }
    }
    best.map(|(_, cut)| cut)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Ending, Unbounded, Unlimited, Witness};
    use wayfarer_space::{Graph, Rng};

    /// A random walk of `length` steps.
    pub(in crate::witness) fn walk(graph: &Graph, rng: &mut Rng, length: usize) -> Vec<Vec<Word>> {
        let mut way = vec![vec![0]];
        for _ in 0..length {
            let targets = graph.successors(way[way.len() - 1][0] as u32);
            way.push(vec![Word::from(targets[rng.below(targets.len() as u64) as usize])]);
        }
        way
    }

    #[test]
    fn passes_along_a_witness_keep_its_ends_and_take_short_cuts() {
        let mut rng = Rng::new(6, "shorten");
        let (mut before, mut after) = (0, 0);
        for _ in 0..40 {
            // A ring with chords, so that every walk can go on.
            let edges = (0..120u32).map(|node| vec![(node + 1) % 120, (node + 7) % 120, (node + 41) % 120]).collect();
            let graph = Graph::new(edges, vec![0]);
            let states = walk(&graph, &mut rng, 60);
            let last = states[60].clone();
            let witness = Witness::through(&graph, states, Ending::Deadlock).unwrap().without_loops();
            let way = one_pass(&graph, &witness.states, 60, &Unlimited, &mut Effort::new(u64::MAX, &mut Unbounded));
            assert_eq!((way.first(), way.last()), (Some(&vec![0]), Some(&last)));
            assert!(Witness::through(&graph, way.clone(), Ending::Deadlock).is_ok());
            before += witness.states.len();
            after += way.len();
        }
        assert!(after * 2 < before, "{before} states became {after}");
    }
}
