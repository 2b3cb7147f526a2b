//! Makes a witness shorter.
//!
//! A breadth-first search from the start states looks for the same kind of violation. If it ends within its bound, the
//! witness is a shortest one. Bounded searches from states of the witness look for later states of it, the farthest
//! ahead first, and a shorter way replaces the one between. The two take turns, and their bounds grow from turn to turn
//! until nothing is left to gain, memory is short, or the outside ends it.

use crate::witness::{Stage, chain, stage_store};
use crate::{Account, Aim, Bfs, Control, Deadlock, Ending, Job, Limits, Settings, Sought, Stop, Witness};
use std::collections::HashMap;
use wayfarer_space::{Space, Word};

/// States that a search from the start and one along the witness may visit, at first; the bounds grow alike.
const FROM_START: u64 = 1 << 17;
const WINDOW: u64 = 1 << 11;
/// The number of times that the bounds grow, and the factor.
const TURNS: u32 = 4;
const GROWTH: u64 = 4;
/// Meetings with later states that a window looks at.
const MEETINGS: usize = 64;

/// A witness to the same violation, at most as long. A fault must be in the same rule unless `any_rule`, which compares
/// only the place in the source. `deadlock` is the rule for deadlocks by which it was found.
pub fn shortened(
    space: &dyn Space,
    witness: Witness,
    (deadlock, any_rule): (Deadlock, bool),
    account: &dyn Account,
    control: &mut dyn Control,
) -> Witness {
    let mut witness = witness.without_loops();
    if witness.states.len() < 2 {
        return witness;
    }
    for turn in 0..TURNS {
        let factor = GROWTH.pow(turn);
        let (direct, stop) = from_start(space, &witness, FROM_START * factor, (deadlock, any_rule), account, control);
        match (direct, stop) {
            (Some(direct), _) if direct.len() <= witness.len() => return direct,
            // Everything up to the end of the witness was looked at: there is no shorter one.
            (_, Stop::Time | Stop::Interrupted | Stop::Depth | Stop::Exhausted) => return witness,
            _ => {}
        }
        loop {
            let (states, stop) = one_pass(space, &witness.states, WINDOW * factor, account, control);
            let gained = states.len() < witness.states.len();
            if gained && let Ok(shorter) = Witness::through(space, states, witness.ending) {
                witness = shorter;
            }
            if stop.is_some() {
                return witness;
            }
            if !gained {
                break;
            }
        }
    }
    witness
}

/// Looks for the same thing from the start states.
fn from_start(
    space: &dyn Space,
    witness: &Witness,
    states: u64,
    (deadlock, any_rule): (Deadlock, bool),
    account: &dyn Account,
    control: &mut dyn Control,
) -> (Option<Witness>, Stop) {
    let Some(store) = stage_store(space, account) else { return (None, Stop::Memory) };
    let sought = match witness.ending {
        Ending::Found(property) => {
            let mut sought = Sought::default();
            sought.properties.insert(property);
            Some(sought)
        }
        Ending::Rule(firing) => {
            let mut sought = Sought::default();
            sought.rules.insert(firing.rule);
            Some(sought)
        }
        _ => None,
    };
    let depth = witness.firings.len() as u32;
    let limits = Limits { states, depth, ..Limits::default() };
    let settings = Settings { limits, deadlock, sought, aim: Some(Aim { ending: witness.ending, any_rule }), ..Settings::default() };
    let outcome = Job::new(space, &store, &mut Bfs::new(&limits), &settings).run(control);
    let found = outcome.violations.first().and_then(|violation| Witness::trace(space, &store, violation, account).ok());
    (found, outcome.stop)
}

/// Goes along a witness once and takes every short cut it finds.
fn one_pass(
    space: &dyn Space,
    states: &[Vec<Word>],
    window: u64,
    account: &dyn Account,
    control: &mut dyn Control,
) -> (Vec<Vec<Word>>, Option<Stop>) {
    let places: HashMap<&[Word], usize> = states.iter().enumerate().map(|(place, state)| (state.as_slice(), place)).collect();
    let mut way = vec![states[0].clone()];
    let mut at = 0;
    let mut stop = None;
    while at + 1 < states.len() {
        let cut = if stop.is_none() { short_cut(space, states, &places, at, window, account, control) } else { Ok(None) };
        match cut {
            Ok(Some((to, through))) => {
                way.extend(through);
                at = to;
            }
            Ok(None) => {
                at += 1;
                way.push(states[at].clone());
            }
            Err(why) => stop = Some(why),
        }
    }
    (way, stop)
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
    control: &mut dyn Control,
) -> Result<Option<ShortCut>, Stop> {
    let Some(store) = stage_store(space, account) else { return Err(Stop::Memory) };
    let ahead = |state: &[Word]| places.get(state).is_some_and(|place| *place > at + 1);
    let stage = Stage { space, from: Some(&states[at]), goal: &ahead };
    let limits = Limits { states: window, ..Limits::default() };
    let settings = Settings { limits, deadlock: Deadlock::Off, max_errors: MEETINGS, ..Settings::default() };
    let outcome = Job::new(&stage, &store, &mut Bfs::new(&limits), &settings).run(control);
    if matches!(outcome.stop, Stop::Time | Stop::Interrupted | Stop::Memory) {
        return Err(outcome.stop);
    }
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
    Ok(best.map(|(_, cut)| cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Unbounded, Unlimited};
    use wayfarer_space::{Graph, Rng};

    /// A random walk of `length` steps.
    fn walk(graph: &Graph, rng: &mut Rng, length: usize) -> Vec<Vec<Word>> {
        let mut way = vec![vec![0]];
        for _ in 0..length {
            let targets = graph.successors(way[way.len() - 1][0] as u32);
            way.push(vec![Word::from(targets[rng.below(targets.len() as u64) as usize])]);
        }
        way
    }

    fn distance(graph: &Graph, to: u32) -> usize {
        let mut level = vec![0];
        let mut seen = vec![0];
        let mut steps = 0;
        while !level.contains(&to) {
            level = level.iter().flat_map(|node| graph.successors(*node)).copied().filter(|node| !seen.contains(node)).collect();
            seen.extend(&level);
            steps += 1;
        }
        steps
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
            let (way, stop) = one_pass(&graph, &witness.states, 60, &Unlimited, &mut Unbounded);
            assert_eq!((way.first(), way.last(), stop), (Some(&vec![0]), Some(&last), None));
            assert!(Witness::through(&graph, way.clone(), Ending::Deadlock).is_ok());
            before += witness.states.len();
            after += way.len();
        }
        assert!(after * 2 < before, "{before} states became {after}");
    }

    #[test]
    fn where_the_search_from_the_start_ends_the_witness_is_a_shortest_one() {
        let mut rng = Rng::new(7, "shorten");
        for target in [3, 50, 99, 118] {
            let edges = (0..120u32).map(|node| vec![(node + 1) % 120, (node + 9) % 120]).collect();
            let graph: Graph = Graph::new(edges, vec![0]).avoiding(vec![target]);
            let mut states = walk(&graph, &mut rng, 4000);
            let Some(first) = states.iter().position(|state| state[0] == Word::from(target)) else { continue };
            states.truncate(first + 1);
            let witness = Witness::through(&graph, states, Ending::Property(0)).unwrap();
            let shorter = shortened(&graph, witness, (Deadlock::Off, true), &Unlimited, &mut Unbounded);
            shorter.replay(&graph, true).unwrap();
            assert_eq!(shorter.len(), distance(&graph, target));
        }
    }
}
