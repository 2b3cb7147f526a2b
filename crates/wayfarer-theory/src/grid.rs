//! Grids G(L, d): {0 … L}^d, in which a step adds one to one coordinate. They are the opposite extreme to
//! trees: a tree shares no successor, a grid shares all.
//!
//! The papers note that the coefficients do not aggregate here, and return to Lemmas 1 and 2. Their d-regular
//! form of α and β is for an infinite grid and wrong at the border, where a node has fewer than d successors.
//! We compute over sets while they fit into the memory allowed (a small capacity keeps them few even on a
//! large grid), and simulate beyond that. The result says which.

use crate::effort::Watch;
use crate::{
    Algorithm, CoverTimes, Coverage, ExplicitGraph, Prediction, SelfLoops, SimulatedCover, SimulatedCoverage, Simulation, TheoryError,
    predict_cover_times, predict_coverage,
};
use wayfarer_space::Graph;

/// The grid {0 … L}^d, started at the origin. Its one deadlock is the opposite corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    length: u32,
    dimensions: u32,
    nodes: u32,
}

/// The most nodes a grid may have; the simulation holds the graph.
const MOST_NODES: u64 = 1 << 24;

impl Grid {
    /// G(length, dimensions): sides of `length` + 1 nodes.
    pub fn new(length: u32, dimensions: u32) -> Result<Self, TheoryError> {
        if length == 0 || dimensions == 0 {
            return Err(TheoryError::Parameter(format!("a grid needs a length and a dimension of at least 1, not {length} and {dimensions}")));
        }
        let nodes = (0..dimensions).try_fold(1u64, |nodes, _| nodes.checked_mul(u64::from(length) + 1).filter(|nodes| *nodes <= MOST_NODES));
        match nodes {
            Some(nodes) => Ok(Grid { length, dimensions, nodes: nodes as u32 }),
            None => {
                let nodes = (u64::from(length) + 1).saturating_pow(dimensions);
                Err(TheoryError::TooManyNodes { nodes, most: MOST_NODES })
            }
        }
    }

    /// L: steps along one side.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// d.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// (L + 1)^d.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Steps from the origin to the opposite corner: L·d, the length of every longest path.
    pub fn height(&self) -> u32 {
        self.length * self.dimensions
    }

    /// The grid as a graph; the number of a node is Σ xᵢ·(L+1)^i.
    pub fn graph(&self) -> Graph {
        let side = self.length + 1;
        let successors = |node: u32| {
            let mut stride = 1;
            (0..self.dimensions)
                .filter_map(|_| {
                    let here = stride;
                    stride *= side;
                    (node / here % side < self.length).then_some(node + here)
                })
                .collect()
        };
        Graph::new((0..self.nodes).map(successors).collect(), vec![0])
    }

    /// Mean cover times: exact if `allowed` bytes suffice, otherwise simulated.
    pub fn cover_times(
        &self,
        algorithm: Algorithm,
        allowed: u64,
        simulation: Simulation,
        watch: Watch<'_>,
    ) -> Result<Prediction<CoverTimes, SimulatedCover>, TheoryError> {
        predict_cover_times(&ExplicitGraph::new(&self.graph(), SelfLoops::Reset)?, algorithm, allowed, simulation, watch)
    }

    /// Coverage over the first `steps` steps: exact if `allowed` bytes suffice, otherwise simulated.
    pub fn coverage(
        &self,
        algorithm: Algorithm,
        capacity: Option<u32>,
        steps: u32,
        allowed: u64,
        simulation: Simulation,
        watch: Watch<'_>,
    ) -> Result<Prediction<Coverage, SimulatedCoverage>, TheoryError> {
        predict_coverage(&ExplicitGraph::new(&self.graph(), SelfLoops::Reset)?, algorithm, capacity, steps, allowed, simulation, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn border_nodes_have_fewer_successors() {
        let graph = Grid::new(2, 2).unwrap().graph();
        assert_eq!(graph.successors(0), [1, 3]);
        assert_eq!(graph.successors(2), [5]);
        assert_eq!(graph.successors(8), [] as [u32; 0]);
        assert_eq!((0..9).map(|node| graph.successors(node).len()).sum::<usize>(), 12);
        assert!(Grid::new(0, 3).is_err() && Grid::new(9, 9).is_err() && Grid::new(u32::MAX, 40).is_err());
    }
}
