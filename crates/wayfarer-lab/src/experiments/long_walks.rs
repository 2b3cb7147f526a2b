//! RSDRS on systems that never end, for runs too long for a search.
//!
//! RSDRS draws a stored state only where nothing leads on. On a system that never ends it never does: it is a random walk that
//! begins at the start again whenever its memory is full. Closed states play no part, unless they are deleted and make
//! room. So it can be walked on the explicit graph, at a small part of the cost of a search.

use super::rings::Leveled;
use crate::desk::{Desk, LabError};
use wayfarer::space::Rng;

/// The number of steps between two looks at the watch.
const LOOK: u64 = 1 << 22;

/// The distinct nodes that a walk with room for `capacity` nodes has visited after each of some numbers of steps, which rise.
pub(super) fn walk(desk: &Desk, graph: &Leveled, capacity: u64, marks: &[u64], seed: u64) -> Result<Vec<u64>, LabError> {
    let mut rng = Rng::new(seed, "long walk");
    // The last filling of the memory in which each node was stored; 0 for never.
    let mut stored_in = vec![0u32; graph.edges.len()];
    let (mut filling, mut stored, mut covered, mut at) = (1, 1, 1, 0);
    stored_in[0] = filling;
    let mut seen = Vec::new();
    for step in 1..=marks.last().copied().unwrap_or(0) {
        let next = &graph.edges[at];
        at = next[rng.below(next.len() as u64) as usize] as usize;
        let last = std::mem::replace(&mut stored_in[at], filling);
        covered += u64::from(last == 0);
        stored += u64::from(last != filling);
        if stored >= capacity {
            (filling, stored, at) = (filling + 1, 1, 0);
            stored_in[0] = filling;
        }
        while seen.len() < marks.len() && marks[seen.len()] == step {
            seen.push(covered);
        }
        if step.is_multiple_of(LOOK) && desk.ended() {
            return Err(LabError::Interrupted);
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn a_walk_around_a_ring_begins_again_when_its_memory_is_full() {
        let graph = Leveled { edges: (0..10).map(|node| vec![(node + 1) % 10]).collect(), level: (0..10).collect() };
        let desk = Desk::new(true, 1, 1, &Unwatched);
        assert_eq!(walk(&desk, &graph, 100, &[0, 3, 9, 50][1..], 1).unwrap(), vec![4, 10, 10]);
        // Room for four nodes: it never gets to the fifth.
        assert_eq!(walk(&desk, &graph, 4, &[2, 3, 1000], 1).unwrap(), vec![3, 4, 4]);
    }
}
