//! Short cuts along a witness: bounded searches from its states look for later ones.

use super::effort::Effort;
use super::pieces::in_pieces;
use super::{Stage, chain, stage_store};
use crate::{Account, Bfs, Control, Deadlock, Job, Limits, Settings, Stop, Unbounded};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use wayfarer_space::{Space, Word};

/// Meetings with later states that a window looks at.
const MEETINGS: usize = 64;

/// Windows of more states are searched one after another: the outside is asked only before several are searched side by side.
const LARGEST: u64 = 1 << 12;
/// The windows that a thread searches before the results are used. Those behind a short cut are searched in vain.
const EACH: usize = 4;
/// The memory that must be left for each thread. With less, the result could depend on which of them asks first.
const MEMORY: usize = 16 << 20;

/// Goes along a witness once and takes every short cut it finds. Several threads may look for short cuts ahead; the way is the same.
pub(super) fn one_pass(
    space: &dyn Space,
    states: &[Vec<Word>],
    window: u64,
    account: &dyn Account,
    workers: usize,
    effort: &mut Effort,
) -> Vec<Vec<Word>> {
    let places: HashMap<&[Word], usize> = states.iter().enumerate().map(|(place, state)| (state.as_slice(), place)).collect();
    let along = Along { space, states, places, account };
    let mut way = vec![states[0].clone()];
    let (mut at, mut ahead) = (0, VecDeque::new());
    while at + 1 < states.len() {
        if ahead.is_empty() && workers > 1 && window <= LARGEST && account.allows(workers * MEMORY) {
            effort.ask_outside();
            let until = states.len().min(at + workers * EACH);
            // Only if the work that is left suffices for all of them, as it would one after another.
            if effort.left() >= window * (until - at) as u64 {
                let from = at;
                let search = |piece: Range<usize>| piece.map(|place| along.short_cut(from + place, window, &mut Unbounded)).collect::<Vec<_>>();
                ahead = in_pieces(workers, until - from, 1, search).concat().into();
            }
        }
        if effort.left() == 0 {
            ahead.clear();
        }
        let looked = ahead.pop_front().or_else(|| (effort.left() > 0).then(|| along.short_cut(at, window.min(effort.left()), effort)));
        if let Some(looked) = &looked {
            effort.spend_search(looked.visited, looked.stop);
        }
        match looked.and_then(|looked| looked.cut) {
            Some((to, through)) => {
                way.extend(through);
                ahead.drain(..ahead.len().min(to - at - 1));
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

/// The states of a witness, and the place of each along it.
struct Along<'a> {
    space: &'a dyn Space,
    states: &'a [Vec<Word>],
    places: HashMap<&'a [Word], usize>,
    account: &'a dyn Account,
}

/// A place ahead, and a way there with fewer steps than the witness takes.
type ShortCut = (usize, Vec<Vec<Word>>);

/// The result of looking for a short cut.
#[derive(Clone)]
struct Looked {
    cut: Option<ShortCut>,
    /// The states that it took, and why the search ended.
    visited: u64,
    stop: Stop,
}

impl Along<'_> {
    /// Looks for the short cut from a place that saves most.
    fn short_cut(&self, at: usize, window: u64, control: &mut dyn Control) -> Looked {
        let Along { space, states, places, account } = self;
        let Some(store) = stage_store(*space, *account) else { return Looked { cut: None, visited: 0, stop: Stop::Memory } };
        let ahead = |state: &[Word]| places.get(state).is_some_and(|place| *place > at + 1);
        let stage = Stage { space: *space, from: Some(&states[at]), only: None, goal: &ahead };
        let limits = Limits { states: window, ..Limits::default() };
        let settings = Settings { limits, deadlock: Deadlock::Off, max_errors: MEETINGS, ..Settings::default() };
        let outcome = Job::new(&stage, &store, &mut Bfs::new(&limits), &settings).run(control);
        let mut best: Option<(usize, ShortCut)> = None;
        for handle in outcome.violations.iter().filter_map(|violation| violation.state) {
            let Ok(mut way) = chain(*space, &store, handle) else { continue };
            let Some(place) = way.last().and_then(|state| places.get(state.as_slice())) else { continue };
            let saved = (place - at).saturating_sub(way.len() - 1);
            if saved > 0 && best.as_ref().is_none_or(|(most, _)| saved > *most) {
                way.remove(0);
                best = Some((saved, (*place, way)));
            }
        }
        Looked { cut: best.map(|(_, cut)| cut), visited: outcome.states, stop: outcome.stop }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Ending, Unlimited, Witness};
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
            let witness = Witness::through(&graph, states, Ending::Deadlock, 1).unwrap().without_loops();
            let [way, other, another] = [1, 2, 5].map(|workers| {
                let mut control = Unbounded;
                let mut effort = Effort::new(1 << 12, &mut control);
                (one_pass(&graph, &witness.states, 60, &Unlimited, workers, &mut effort), effort.left())
            });
            assert!(way == other && way == another, "the way and the work do not depend on the workers");
            let (way, _) = way;
            assert_eq!((way.first(), way.last()), (Some(&vec![0]), Some(&last)));
            assert!(Witness::through(&graph, way.clone(), Ending::Deadlock, 1).is_ok());
            before += witness.states.len();
            after += way.len();
        }
        assert!(after * 2 < before, "{before} states became {after}");
    }
}
