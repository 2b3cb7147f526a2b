//! Complete trees T(h, m), by the aggregated recursions of the papers: a configuration is the vector (k₁ …
//! k_h) of covered nodes per level.
//!
//! There are far fewer vectors than sets, but still many. Two savings make 10⁷ of them and more cheap. First,
//! the deepest level is implied by the others and |k|, so that a layer |k| = s needs one number per *prefix*
//! (k₁ … k_{h−1}), and only the layers that a recursion reaches back to are kept. Second, reachability needs
//! no recursion of its own: the tree looks the same from every node of a level, so P(a fixed level-i node ∈
//! V, K = k) is (kᵢ/mⁱ)·P(K = k); the papers' separate recursion for it (γ of URS, and its analogue for SDRS)
//! has exactly this solution.

mod prefixes;
mod sdrs;
mod urs;

use crate::effort::{Cost, Watch};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, Coverage, NodeClass, Place, TheoryError};
use prefixes::{Growth, Prefixes, count};
use wayfarer_space::Graph;

/// The complete tree of height h ≥ 1 in which every node above the leaves has m ≥ 1 successors. Exploration starts at the root.
///
/// ```
/// use wayfarer_theory::{Algorithm, Tree, unwatched};
///
/// let tree = Tree::new(2, 2)?;
/// let times = tree.cover_times(Algorithm::Urs, 1 << 20, &mut unwatched)?;
/// assert_eq!(format!("{:.3}", times.full().finite().unwrap()), "26.278");
/// # Ok::<(), wayfarer_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    degree: u32,
    /// Nodes at each level, from the root to the leaves.
    levels: Vec<u32>,
    nodes: u32,
}

/// The most nodes a tree may have; products of two counts stay exact in floating point.
const MOST_NODES: u64 = 1 << 24;

impl Tree {
    /// T(height, degree).
    pub fn new(height: u32, degree: u32) -> Result<Self, TheoryError> {
        if height == 0 || degree == 0 {
            return Err(TheoryError::Parameter(format!("a tree needs a height and a degree of at least 1, not {height} and {degree}")));
        }
        let (mut levels, mut width, mut nodes) = (vec![1], 1u64, 1u64);
        for _ in 0..height {
            width = width.saturating_mul(u64::from(degree));
            nodes = nodes.saturating_add(width);
            if nodes > MOST_NODES {
                return Err(TheoryError::TooManyNodes { nodes, most: MOST_NODES });
            }
            levels.push(width as u32);
        }
        Ok(Tree { degree, levels, nodes: nodes as u32 })
    }

    /// h: steps from the root to a leaf.
    pub fn height(&self) -> u32 {
        self.levels.len() as u32 - 1
    }

    /// m: successors of a node that is not a leaf.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The density factor m/h.
    pub fn density_factor(&self) -> f64 {
        f64::from(self.degree) / f64::from(self.height())
    }

    /// The tree as a graph, nodes numbered level by level from the root.
    pub fn graph(&self) -> Graph {
        let inner = self.nodes - self.levels[self.levels.len() - 1];
        let below = |node: u32| (node * self.degree + 1..=node * self.degree + self.degree).collect();
        Graph::new((0..self.nodes).map(|node| if node < inner { below(node) } else { Vec::new() }).collect(), vec![0])
    }

    /// The cost of [`cover_times`](Tree::cover_times).
    pub fn cover_times_cost(&self, algorithm: Algorithm) -> Cost {
        let height = u64::from(self.height());
        let (prefixes, vectors) = count(self, self.nodes);
        let layers = match algorithm {
            Algorithm::Urs => 2,
            Algorithm::Sdrs => height + 1,
        };
        let bytes = prefixes.saturating_mul(Prefixes::bytes_each(height) + 8 * layers).saturating_add(48 * u64::from(self.nodes));
        let terms = match algorithm {
            Algorithm::Urs => height + 1,
            Algorithm::Sdrs => height * (height + 3) / 2,
        };
        Cost {
            configurations: vectors,
            bytes,
            operations: vectors.saturating_mul(terms).saturating_add(prefixes.saturating_mul(u64::from(self.nodes))),
        }
    }

    /// The mean cover time of every number of nodes, exactly, within `allowed` bytes.
    pub fn cover_times(&self, algorithm: Algorithm, allowed: u64, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
        self.cover_times_cost(algorithm).within(allowed)?;
        match algorithm {
            Algorithm::Urs => urs::cover_times(self, &Prefixes::new(self, self.nodes, Growth::One), watch),
            Algorithm::Sdrs => sdrs::cover_times(self, &Prefixes::new(self, self.nodes, Growth::Down), watch),
        }
    }

    /// The cost of [`coverage`](Tree::coverage).
    pub fn coverage_cost(&self, algorithm: Algorithm, capacity: Option<u32>, steps: u32) -> Cost {
        let height = u64::from(self.height());
        let full = capacity.unwrap_or(self.nodes).min(self.nodes);
        let (prefixes, vectors) = count(self, full);
        let (arrays, terms) = match algorithm {
            Algorithm::Urs => (1, height + 1),
            Algorithm::Sdrs => (height + 1, height * (height + 3) / 2),
        };
        let bytes = prefixes
            .saturating_mul(Prefixes::bytes_each(height) + 8)
            .saturating_add(vectors.saturating_mul(8 * arrays))
            .saturating_add(FirstRun::bytes(height + 1, u64::from(steps)));
        let renewal = u64::from(steps).saturating_mul(u64::from(steps)).saturating_mul(height + 1) / 2;
        let operations = vectors.saturating_mul(terms).saturating_mul(u64::from(steps)).saturating_add(if full < self.nodes { renewal } else { 0 });
        Cost { configurations: vectors, bytes, operations }
    }

    /// Reachability of every level and coverage over the first `steps` steps, exactly, within `allowed`
    /// bytes; re-initialised when `capacity` nodes are stored (the start included).
    pub fn coverage(&self, algorithm: Algorithm, capacity: Option<u32>, steps: u32, allowed: u64, watch: Watch<'_>) -> Result<Coverage, TheoryError> {
        if let Some(capacity @ 0..=1) = capacity {
            return Err(TheoryError::Parameter(format!("a capacity of {capacity} leaves no room beside the root; it must be at least 2")));
        }
        self.coverage_cost(algorithm, capacity, steps).within(allowed)?;
        let capacity = capacity.filter(|capacity| *capacity <= self.nodes);
        // Memory that holds every node behaves like a capacity of all nodes: when it fills, nothing is missing.
        let full = capacity.unwrap_or(self.nodes);
        let classes = (0..).zip(&self.levels).map(|(level, nodes)| NodeClass { place: Place::Level(level), nodes: u64::from(*nodes) }).collect();
        let mut run = FirstRun::new(classes, steps as usize);
        run.find(0, 0, 1.0);
        match algorithm {
            Algorithm::Urs => urs::first_run(self, &Prefixes::new(self, full, Growth::One), full, steps as usize, &mut run, watch)?,
            Algorithm::Sdrs => sdrs::first_run(self, &Prefixes::new(self, full, Growth::Down), full, steps as usize, &mut run, watch)?,
        }
        Ok(run.renew(algorithm, capacity))
    }

    /// The share of each level's nodes that a vector does not cover: 1 − kᵢ/mⁱ, for every level except the
    /// root's.
    fn missing_shares<'a>(&'a self, vector: &'a [u32]) -> impl Iterator<Item = (usize, f64)> + 'a {
        (1..).zip(vector.iter().zip(&self.levels[1..]).map(|(covered, all)| f64::from(all - covered) / f64::from(*all)))
    }
}
