//! Randomised depth-first search with a bounded list of states to do, as tools without backtracking have it.
//!
//! A state's successors go onto the list in random order and the newest is taken next. If the list is full, the
//! oldest states are dropped from it. So the search may lose what it has not expanded, and may end without having
//! visited everything. This is a reading of the highway paper's program, to explain how its depth-first searches fail.

use std::collections::{HashSet, VecDeque};
use wayfarer::space::{Firing, Rng, Space, States, Steps, Word};

/// A search of this kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded {
    /// The most states to do.
    pub(super) list: usize,
    /// Whether states that were met before are left out.
    pub(super) remembers: bool,
    /// The most states to expand.
    pub(super) most: u64,
}

impl Bounded {
    /// The number of states expanded when a state without successors was met; `None` if none was.
    pub(super) fn find_deadlock(&self, space: &dyn Space, seed: u64) -> Option<u64> {
        let mut rng = Rng::new(seed, "bounded rdfs");
        let mut met: HashSet<Vec<Word>> = HashSet::new();
        let mut list: VecDeque<Vec<Word>> = VecDeque::new();
        let mut steps = Steps::new(space.width());
        let mut one = States::new(space.width());
        space.initial(&mut steps);
        list.extend(steps.states.iter().map(<[Word]>::to_vec));
        met.extend(list.iter().cloned());
        for expanded in 1..=self.most {
            let state = list.pop_back()?;
            one.clear();
            one.push(&state);
            steps.clear();
            space.expand(&one, Firing::of(0), &mut steps);
            if steps.enabled.first().is_none_or(|enabled| *enabled == 0) {
                return Some(expanded);
            }
            let mut next: Vec<Vec<Word>> = steps.states.iter().map(<[Word]>::to_vec).collect();
            // A random order, by drawing one of those that are left.
            while !next.is_empty() {
                let target = next.swap_remove(rng.below(next.len() as u64) as usize);
                if !self.remembers || met.insert(target.clone()) {
                    list.push_back(target);
                }
            }
            while list.len() > self.list {
                list.pop_front();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer::space::Graph;

    #[test]
    fn a_short_list_loses_the_way_and_a_long_one_does_not() {
        // A path of choices, each between going on and a dead loop; the end of the path has no successors.
        let edges = (0..20)
            .map(|node| {
                if node < 10 {
                    vec![node + 1, 10 + node % 9 + 1]
                } else if node == 10 {
                    vec![]
                } else {
                    vec![node]
                }
            })
            .collect();
        let graph = Graph::new(edges, vec![0]);
        let found = |list: usize| (0..50).filter(|seed| Bounded { list, remembers: true, most: 1000 }.find_deadlock(&graph, *seed).is_some()).count();
        assert_eq!(found(100), 50);
        assert!(found(1) < 5, "{}", found(1));
    }
}
