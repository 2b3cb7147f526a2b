//! Highways that may come back to states that they have visited, to explain what it costs that a highway may not.
//!
//! Each level is a random choice of the distinct successors of the level before. The paper's highway leaves out the
//! states of all earlier levels (Engels, Groote, van Weerdenburg, Willemse 2009, Definition 5); `remembers` says whether
//! this one does.

use std::collections::HashSet;
use wayfarer::space::{Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// A highway of this kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// The most states of a level.
    pub(super) width: usize,
    /// Whether states of earlier levels are left out.
    pub(super) remembers: bool,
    /// The most states to visit.
    pub(super) most: u64,
}

impl Lanes {
    /// The depth at which a state was met that has one of the properties; `None` if there was none.
    pub(super) fn find(&self, space: &dyn Space, properties: &[u32], seed: u64) -> Option<u64> {
        let mut rng = Rng::new(seed, "lanes");
        let mut steps = Steps::new(space.width());
        let mut batch = States::new(space.width());
        let mut bits = PropertyBits::default();
        space.initial(&mut steps);
        let mut level: Vec<Vec<Word>> = steps.states.iter().take(1).map(<[Word]>::to_vec).collect();
        let mut visited: HashSet<Vec<Word>> = level.iter().cloned().collect();
        let mut spent = 0;
        for depth in 1.. {
            spent += level.len() as u64;
            if level.is_empty() || spent > self.most {
                return None;
            }
            batch.clear();
            level.iter().for_each(|state| batch.push(state));
            steps.clear();
            space.expand(&batch, Firing::of(0), &mut steps);
            let mut met: HashSet<&[Word]> = HashSet::new();
            let mut next: Vec<Vec<Word>> = Vec::new();
            for target in steps.states.iter() {
                if !met.insert(target) || self.remembers && visited.contains(target) {
                    continue;
                }
                bits.clear();
                if space.check(target, &mut bits).is_ok() && properties.iter().any(|property| bits.contains(*property)) {
                    return Some(depth);
                }
                next.push(target.to_vec());
            }
            while next.len() > self.width {
                next.swap_remove(rng.below(next.len() as u64) as usize);
            }
            if self.remembers {
                visited.extend(next.iter().cloned());
            }
            level = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer::space::Graph;

    #[test]
    fn only_a_highway_that_may_come_back_gets_out_of_a_loop() {
        // A loop of two states, one of which leads on as well; a narrow highway that passes the exit never comes back to it.
        let graph = Graph::new(vec![vec![1, 2], vec![0], vec![3], vec![]], vec![0]).avoiding(vec![3]);
        let found = |remembers: bool| {
            let lanes = Lanes { width: 1, remembers, most: 200 };
            (0..100).filter(|seed| lanes.find(&graph, &[0], *seed).is_some()).count()
        };
        // One that may come back misses the exit a hundred times with a chance of 2^-100.
        assert_eq!(found(true).clamp(20, 80), found(true));
        assert_eq!(found(false), 100);
    }
}
