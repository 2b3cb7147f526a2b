//! Coverage after n steps: the probability of having reached each node, the minimum of these, and the mean
//! number of covered nodes.

use crate::Algorithm;

/// A class of nodes that are reached with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeClass {
    /// The place of the class in the graph.
    pub place: Place,
    /// The number of nodes in the class.
    pub nodes: u64,
}

/// The place of a class of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The one node of this number in the graph.
    Node(u32),
    /// All nodes at this distance from the root of a tree.
    Level(u32),
}

/// The course of coverage over the steps 0, 1, …, n. Asking for a class or a step beyond it panics, as with a
/// slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    pub(crate) algorithm: Algorithm,
    pub(crate) capacity: Option<u32>,
    pub(crate) classes: Vec<NodeClass>,
    /// For each class, the probability at each step.
    pub(crate) reached: Vec<Vec<f64>>,
}

impl Coverage {
    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The number of stored nodes at which the algorithm was re-initialised; `None` if memory held all.
    pub fn capacity(&self) -> Option<u32> {
        self.capacity
    }

    /// The last step.
    pub fn steps(&self) -> usize {
        self.reached.first().map_or(0, |series| series.len() - 1)
    }

    /// The classes of nodes, in the order of [`reached`](Coverage::reached).
    pub fn classes(&self) -> &[NodeClass] {
        &self.classes
    }

    /// P(i, n) for the class at `index` and n = 0, 1, …: the probability that a given node of the class was
    /// reached within n steps, restarts included.
    pub fn reached(&self, index: usize) -> &[f64] {
        &self.reached[index]
    }

    /// Cov(n): the mean number of distinct nodes reached within `step` steps, over all restarts. By Lemma 3 it is the sum of P(i, n) over all nodes.
    pub fn covered(&self, step: usize) -> f64 {
        self.classes.iter().zip(&self.reached).map(|(class, series)| class.nodes as f64 * series[step]).sum()
    }

    /// π_min: the probability of having reached the node that is hardest to reach, within `step` steps.
    pub fn minimum(&self, step: usize) -> f64 {
        self.reached.iter().map(|series| series[step]).fold(1.0, f64::min)
    }

    /// The number of nodes to reach.
    pub fn nodes(&self) -> u64 {
        self.classes.iter().map(|class| class.nodes).sum()
    }
}
