//! A completely known graph, ready for exact computation or simulation: its reachable part, renumbered, with
//! successors as sets.

use crate::effort::Watch;
use crate::{Algorithm, CoverTimes, Coverage, SelfLoops, TheoryError, sets};
use wayfarer_space::{Graph, Space, Steps};

/// The reachable part of a graph. Exact results over its sets of nodes are feasible up to about twenty nodes,
/// and further if few sets can occur (sparse graphs, small capacities). A computation that would need more
/// memory than allowed returns an error.
///
/// ```
/// use wayfarer_space::Graph;
/// use wayfarer_theory::{Algorithm, ExplicitGraph, SelfLoops, unwatched};
///
/// // Two leaves under a root: one step to the first, six more in the mean to the second.
/// let graph = Graph::new(vec![vec![1, 2], vec![], vec![]], vec![0]);
/// let graph = ExplicitGraph::new(&graph, SelfLoops::Reset)?;
/// let times = graph.cover_times(Algorithm::Sdrs, 1 << 20, &mut unwatched)?;
/// assert!((times.full().finite().unwrap() - 7.0).abs() < 1e-12);
/// # Ok::<(), wayfarer_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExplicitGraph {
    /// The number each node had in the graph it came from.
    names: Vec<u32>,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// Start nodes come first in the numbering: they are 0 .. starts.
    starts: usize,
    depth: u32,
    loops: SelfLoops,
}

impl ExplicitGraph {
    /// The part of `graph` that is reachable from its start nodes. If there are several start nodes, all of
    /// them are in V from the beginning (the papers' V₀), and SDRS begins at one drawn from them.
    pub fn new(graph: &Graph, loops: SelfLoops) -> Result<Self, TheoryError> {
        let mut number = vec![u32::MAX; graph.nodes() as usize];
        let mut names = Vec::new();
        for start in start_nodes(graph) {
            if number[start as usize] == u32::MAX {
                number[start as usize] = names.len() as u32;
                names.push(start);
            }
        }
        if names.is_empty() {
            return Err(TheoryError::NoStart);
        }
        let starts = names.len();
        let (mut offsets, mut targets, mut depths) = (vec![0], Vec::new(), vec![0u32; starts]);
        let mut node = 0;
        while node < names.len() {
            let first = targets.len();
            for target in graph.successors(names[node]) {
                let known = &mut number[*target as usize];
                if *known == u32::MAX {
                    *known = names.len() as u32;
                    names.push(*target);
                    depths.push(depths[node] + 1);
                }
                targets.push(*known);
            }
            targets[first..].sort_unstable();
            let mut kept = first;
            for index in first..targets.len() {
                if index == first || targets[index] != targets[kept - 1] {
                    targets[kept] = targets[index];
                    kept += 1;
                }
            }
            targets.truncate(kept);
            offsets.push(kept);
            node += 1;
        }
        let depth = depths.last().copied().unwrap_or(0);
        Ok(ExplicitGraph { names, offsets, targets, starts, depth, loops })
    }

    /// M: the number of reachable nodes.
    pub fn nodes(&self) -> u32 {
        self.names.len() as u32
    }

    /// The greatest distance of a node from the start nodes. The papers' diameter is the longest acyclic path, which is NP-hard to find.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The mean cover time of every number of nodes, exactly, by Lemma 1 or 2 over sets, within `allowed` bytes.
    pub fn cover_times(&self, algorithm: Algorithm, allowed: u64, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
        sets::cover_times(self, algorithm, allowed, watch)
    }

    /// Reachability and coverage over the first `steps` steps, exactly, within `allowed` bytes; re-initialised when `capacity` nodes are stored.
    pub fn coverage(&self, algorithm: Algorithm, capacity: Option<u32>, steps: u32, allowed: u64, watch: Watch<'_>) -> Result<Coverage, TheoryError> {
        sets::coverage(self, algorithm, self.checked_capacity(capacity)?, steps as usize, allowed, watch)
    }

    /// The capacity, if it can fill up; an error if it leaves no room for more than the start nodes.
    pub(crate) fn checked_capacity(&self, capacity: Option<u32>) -> Result<Option<u32>, TheoryError> {
        match capacity {
            Some(capacity) if capacity as usize <= self.starts => Err(TheoryError::Parameter(format!(
                "a capacity of {capacity} leaves no room beside the start nodes; it must be at least {}",
                self.starts + 1
            ))),
            capacity => Ok(capacity.filter(|capacity| *capacity <= self.nodes())),
        }
    }

    /// The number of a node in the original graph.
    pub(crate) fn name(&self, node: usize) -> u32 {
        self.names[node]
    }

    /// The number of start nodes; they are the first nodes.
    pub(crate) fn starts(&self) -> usize {
        self.starts
    }

    /// The distinct successors of a node, ascending.
    pub(crate) fn successors(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Whether SDRS jumps from this node.
    pub(crate) fn resets(&self, node: usize) -> bool {
        match self.successors(node) {
            [] => true,
            [only] => self.loops == SelfLoops::Reset && *only as usize == node,
            _ => false,
        }
    }
}

/// The start nodes that exist.
fn start_nodes(graph: &Graph) -> Vec<u32> {
    let mut steps = Steps::new(graph.width());
    graph.initial(&mut steps);
    steps.states.iter().map(|state| state[0] as u32).filter(|start| *start < graph.nodes()).collect()
}
