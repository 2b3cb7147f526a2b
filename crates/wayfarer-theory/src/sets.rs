//! Exact laws over the sets V of covered nodes of an explicit graph: the sets that can occur, and one module
//! each for URS (Lemma 1) and SDRS (Lemma 2).
//!
//! The lemmas are stated for *sequences* of nodes in the order of their discovery. Sets suffice, because no
//! coefficient depends on that order, and there are factorially fewer of them.

mod sdrs;
mod urs;

use crate::effort::{Watch, tell};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, Coverage, ExplicitGraph, NodeClass, Place, TheoryError};

/// A set of nodes, one bit per node.
type Mask = u128;

/// The most nodes a set can hold.
const MOST_NODES: u64 = Mask::BITS as u64;

/// Mean cover times, or the reason why there are none.
pub(crate) fn cover_times(graph: &ExplicitGraph, algorithm: Algorithm, allowed: u64, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
    let sets = Sets::enumerate(graph, graph.nodes() as usize, allowed, watch)?;
    match algorithm {
        Algorithm::Urs => urs::cover_times(graph, &sets, watch),
        Algorithm::Sdrs => sdrs::cover_times(graph, &sets, watch),
    }
}

/// Reachability over time, or the reason why there is none.
pub(crate) fn coverage(
    graph: &ExplicitGraph,
    algorithm: Algorithm,
    capacity: Option<u32>,
    steps: usize,
    allowed: u64,
    watch: Watch<'_>,
) -> Result<Coverage, TheoryError> {
    // Memory that holds every node behaves like a capacity of all nodes: when it fills, nothing is missing.
    let full = capacity.unwrap_or(graph.nodes()) as usize;
    let bytes = FirstRun::bytes(u64::from(graph.nodes()), steps as u64);
    if bytes > allowed {
        return Err(TheoryError::TooLarge { bytes, allowed });
    }
    let sets = Sets::enumerate(graph, full, allowed - bytes, watch)?;
    let classes = (0..graph.nodes() as usize).map(|node| NodeClass { place: Place::Node(graph.name(node)), nodes: 1 }).collect();
    let mut run = FirstRun::new(classes, steps);
    for start in 0..graph.starts() {
        run.find(start, 0, 1.0);
    }
    match algorithm {
        Algorithm::Urs => urs::first_run(graph, &sets, steps, &mut run, watch)?,
        Algorithm::Sdrs => sdrs::first_run(graph, &sets, steps, &mut run, watch)?,
    }
    Ok(run.renew(algorithm, capacity))
}

/// All sets that can occur with fewer than a given number of nodes, by size, and the set that each becomes
/// with each new node.
struct Sets {
    masks: Vec<Mask>,
    /// The index of each set's first child; one more entry than sets.
    first_child: Vec<usize>,
    /// The new node of each child, ascending within a set.
    new_nodes: Vec<u8>,
    /// The set it leads to; [`FULL`] if that has the size at which the run ends.
    children: Vec<u32>,
    /// The successors of each node, as a set.
    successors: Vec<Mask>,
}

/// The number of sets between two looks of the watch.
const LOOK: usize = 1 << 14;

/// A child that is not in the table, because the run ends there.
const FULL: u32 = u32::MAX;

impl Sets {
    /// Enumerates the sets. Their number is not known in advance: the watch sees how many there are so far.
    fn enumerate(graph: &ExplicitGraph, full: usize, allowed: u64, watch: Watch<'_>) -> Result<Sets, TheoryError> {
        let nodes = u64::from(graph.nodes());
        if nodes > MOST_NODES {
            return Err(TheoryError::TooManyNodes { nodes, most: MOST_NODES });
        }
        let successors: Vec<Mask> =
            (0..nodes as usize).map(|node| graph.successors(node).iter().fold(0, |mask, target| mask | (1 << target))).collect();
        let mut sets = Sets { masks: Vec::new(), first_child: Vec::new(), new_nodes: Vec::new(), children: Vec::new(), successors };
        let start = (0..graph.starts()).fold(0, |mask, node| mask | (1 << node));
        let mut layer: Vec<Mask> = if graph.starts() < full { vec![start] } else { Vec::new() };
        let mut size = graph.starts();
        while !layer.is_empty() {
            size += 1;
            let next = if size < full { sets.grown(&layer, allowed, watch)? } else { Vec::new() };
            let first_of_next = sets.masks.len() + layer.len();
            for mask in layer {
                if sets.masks.len().is_multiple_of(LOOK) {
                    tell(watch, sets.masks.len() as u64, 0)?;
                }
                sets.masks.push(mask);
                sets.first_child.push(sets.children.len());
                for node in members(sets.frontier(mask)) {
                    let child =
                        if size < full { next.binary_search(&(mask | (1 << node))).map_or(FULL, |at| (first_of_next + at) as u32) } else { FULL };
                    sets.new_nodes.push(node as u8);
                    sets.children.push(child);
                }
            }
            sets.within(next.len() as u64, size as u64, allowed)?;
            layer = next;
        }
        sets.first_child.push(sets.children.len());
        Ok(sets)
    }

    /// The sets with one node more, sorted.
    fn grown(&self, layer: &[Mask], allowed: u64, watch: Watch<'_>) -> Result<Vec<Mask>, TheoryError> {
        let mut next: Vec<Mask> = Vec::new();
        let mut sorted = 0;
        for (at, mask) in layer.iter().enumerate() {
            if at.is_multiple_of(LOOK) {
                tell(watch, (self.masks.len() + sorted) as u64, 0)?;
            }
            next.extend(members(self.frontier(*mask)).map(|node| mask | (1 << node)));
            if next.len() >= (1 << 16).max(2 * sorted) {
                next.sort_unstable();
                next.dedup();
                sorted = next.len();
                self.within(sorted as u64, 1, allowed)?;
            }
        }
        next.sort_unstable();
        next.dedup();
        next.shrink_to_fit();
        Ok(next)
    }

    /// Returns an error if this table, `more` sets of `size` nodes and the data that the algorithms keep per
    /// set would not fit.
    fn within(&self, more: u64, size: u64, allowed: u64) -> Result<(), TheoryError> {
        let sets = self.masks.len() as u64 + more;
        // Per set: its mask, two offsets, and per node in it a probability; per child its node, its index and a rate.
        let positions: u64 = self.masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>() + more * size;
        let bytes = sets * 40 + positions * 8 + self.children.len() as u64 * 13;
        if bytes > allowed || sets > u64::from(FULL - 1) { Err(TheoryError::TooLarge { bytes, allowed }) } else { Ok(()) }
    }

    /// Nodes outside a set that are one step away from it.
    fn frontier(&self, mask: Mask) -> Mask {
        members(mask).fold(0, |reached, node| reached | self.successors[node]) & !mask
    }

    /// The nodes by which a set can grow, each with the set it leads to.
    fn growth(&self, set: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let children = self.first_child[set]..self.first_child[set + 1];
        self.new_nodes[children.clone()].iter().map(|node| usize::from(*node)).zip(self.children[children].iter().copied())
    }
}

/// The nodes of a set, ascending.
fn members(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let node = mask.trailing_zeros();
        if node == Mask::BITS {
            return None;
        }
        mask &= mask - 1;
        Some(node as usize)
    })
}

/// The rank of a node among the nodes of a set that contains it.
fn rank(mask: Mask, node: usize) -> usize {
    (mask & ((1 << node) - 1)).count_ones() as usize
}

/// Records that V is full in this step, with the given nodes and probability.
fn note_full(run: &mut FirstRun, nodes: usize, full: Mask, step: usize, probability: f64) {
    for node in (0..nodes).filter(|node| full & (1 << node) == 0) {
        run.miss(node, step, probability);
    }
}
