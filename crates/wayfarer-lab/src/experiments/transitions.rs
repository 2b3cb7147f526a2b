//! Random search that draws a transition instead of a successor, as tools do that do not compare the targets.
//!
//! If several transitions lead to one state, that state is drawn more often, and a state with many loops is hardly left.
//! The walk also keeps the ways to its states in three manners, because a tool may report any of them: as it went, with
//! loops cut out; from each state's predecessor on the first visit; and from the state at which a successor was first
//! seen. This is a reading of the highway paper's random search, to explain its figures.

use std::collections::HashMap;
use wayfarer::space::{Fault, Firing, Rng, Space, States, Steps, Word};

/// A walk that found its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The steps it took, the last one to the goal included.
    pub(super) steps: u64,
    /// The way that it went, with loops cut out.
    pub(super) cut: u64,
    /// The way by which each state was visited first.
    pub(super) visited: u64,
    /// The way by which each state was seen first, as a successor of a visited one.
    pub(super) seen: u64,
}

/// Known of a state: its distances from the start by the ways of first visits and of first sight.
#[derive(Clone, Copy)]
struct Known {
    visited: Option<u64>,
    seen: u64,
    /// Its place on the way with loops cut out.
    place: Option<usize>,
}

/// Walks from a start state until a transition of a wanted rule is enabled; `None` if that takes more than `most` steps, or if nothing is enabled.
/// A fault ends the walk and is returned, because states may need more room than was set aside.
pub(super) fn walk(space: &dyn Space, wanted: &dyn Fn(u32) -> bool, seed: u64, most: u64) -> Result<Option<Found>, Fault> {
    let mut rng = Rng::new(seed, "transitions");
    let mut steps = Steps::new(space.width());
    let mut one = States::new(space.width());
    space.initial(&mut steps);
    let mut state: Vec<Word> = match steps.states.iter().next() {
        Some(state) => state.to_vec(),
        None => return Ok(None),
    };
    let mut known: HashMap<Vec<Word>, Known> = HashMap::from([(state.clone(), Known { visited: Some(0), seen: 0, place: Some(0) })]);
    let mut way: Vec<Vec<Word>> = vec![state.clone()];
    for taken in 1..=most {
        let here = known[&state];
        one.clear();
        one.push(&state);
        steps.clear();
        space.expand(&one, Firing::of(0), &mut steps);
        if steps.firings.iter().any(|firing| wanted(firing.rule)) {
            return Ok(Some(Found { steps: taken, cut: way.len() as u64, visited: here.visited.unwrap_or(0) + 1, seen: here.seen + 1 }));
        }
        if let Some(step) = steps.faults.first() {
            return Err(step.fault);
        }
        for target in steps.states.iter() {
            if !known.contains_key(target) {
                known.insert(target.to_vec(), Known { visited: None, seen: here.seen + 1, place: None });
            }
        }
        if steps.is_empty() {
            return Ok(None);
        }
        state = steps.states.get(rng.below(steps.len() as u64) as usize).to_vec();
        let Some(next) = known.get_mut(&state) else { return Ok(None) };
        next.visited = next.visited.or(here.visited.map(|depth| depth + 1));
        match next.place {
            // A loop was closed: what came after the first visit is no longer on the way.
            Some(place) => {
                for left in way.drain(place + 1..).collect::<Vec<_>>() {
                    if let Some(left) = known.get_mut(&left) {
                        left.place = None;
                    }
                }
            }
            None => {
                next.place = Some(way.len());
                way.push(state.clone());
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer::space::Graph;

    #[test]
    fn a_walk_along_a_line_has_one_way() {
        let graph = Graph::labelled(vec![vec![(0, 1)], vec![(0, 2)], vec![(1, 2)]], vec![0]);
        assert_eq!(walk(&graph, &|rule| rule == 1, 1, 10), Ok(Some(Found { steps: 3, cut: 3, visited: 3, seen: 3 })));
        assert_eq!(walk(&graph, &|rule| rule == 1, 1, 2), Ok(None));
    }

    #[test]
    fn several_transitions_to_one_state_make_it_more_likely() {
        // Nine loops and one way out: about ten steps, where a draw of states would take two.
        let mut out: Vec<(u32, u32)> = (0..9).map(|label| (label, 0)).collect();
        out.push((9, 1));
        let graph = Graph::labelled(vec![out, vec![(10, 1)]], vec![0]);
        let found: Vec<Found> = (0..400).filter_map(|seed| walk(&graph, &|rule| rule == 10, seed, 1000).unwrap()).collect();
        let mean = found.iter().map(|found| found.steps as f64).sum::<f64>() / found.len() as f64;
        // The mean of 400 is within 1.6 of 11 in all but one of a thousand cases.
        assert!((9.4..12.6).contains(&mean) && found.iter().all(|found| found.cut == 2 && found.visited == 2), "{mean}");
    }
}
