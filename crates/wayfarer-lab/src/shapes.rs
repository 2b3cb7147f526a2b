//! Trees and grids: the theory of random searches on them, and measurements of Wayfarer's own strategies.

use crate::desk::{Desk, LabError};
use crate::searches;
use std::ops::ControlFlow;
use wayfarer::search::{Limits, StrategySpec};
use wayfarer::space::Graph;
use wayfarer::theory::{
    Algorithm, CoverTime, ExplicitGraph, Grid, Prediction, Progress, SelfLoops, Simulation, TheoryError, Tree, density_factor, predict_cover_times,
    predict_coverage,
};
use wayfarer::{Interval, StrategySpec as Spec};

/// A tree T(h, m) or a grid G(L, d).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Tree(u32, u32),
    Grid(u32, u32),
}

/// The edges of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Away from the start.
    Oriented,
    /// Both ways.
    Undirected,
    /// Away from the start, and from the last node of a row to its first.
    Wrapped,
}

impl Edges {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Edges::Oriented => "oriented",
            Edges::Undirected => "both ways",
            Edges::Wrapped => "wrapped around",
        }
    }
}

/// The paper's algorithms and Wayfarer's names for them.
pub(crate) const BOTH: [(Algorithm, &str); 2] = [(Algorithm::Urs, "urs"), (Algorithm::Sdrs, "sdrs")];

/// The memory limit of exact computation.
const ALLOWED: u64 = 1 << 28;

/// The most nodes for which computation over sets is tried.
const MOST_NODES: u32 = 24;

/// A shape with its graph.
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) nodes: u32,
    pub(crate) density: f64,
    pub(crate) graph: Graph,
    explicit: ExplicitGraph,
    tree: Option<Tree>,
}

impl Shape {
    /// The shape with edges of this kind; trees have oriented ones only.
    pub(crate) fn make_with(self, edges: Edges) -> Result<Made, LabError> {
        let made = self.make()?;
        let Shape::Grid(length, dimensions) = self else { return Ok(made) };
        let successors: Vec<Vec<u32>> = (0..made.nodes).map(|node| neighbours(node, length + 1, dimensions, edges)).collect();
        let graph = Graph::new(successors, vec![0]);
        let explicit = ExplicitGraph::new(&graph, SelfLoops::Reset).map_err(failed)?;
        Ok(Made { graph, explicit, ..made })
    }

    pub(crate) fn make(self) -> Result<Made, LabError> {
        let made = |name: String, height: u32, graph: Graph, tree: Option<Tree>| {
            let explicit = ExplicitGraph::new(&graph, SelfLoops::Reset).map_err(failed)?;
            let nodes = graph.nodes();
            // A tree has its own density; m of a grid is that of a tree of the same height and size.
            let density = tree.as_ref().map_or_else(|| density_factor(f64::from(nodes), f64::from(height)), Tree::density_factor);
            Ok(Made { name, nodes, density, graph, explicit, tree })
        };
        match self {
            Shape::Tree(height, degree) => {
                let tree = Tree::new(height, degree).map_err(failed)?;
                made(format!("T({height}, {degree})"), height, tree.graph(), Some(tree))
            }
            Shape::Grid(length, dimensions) => {
                let grid = Grid::new(length, dimensions).map_err(failed)?;
                made(format!("G({length}, {dimensions})"), grid.height(), grid.graph(), None)
            }
        }
    }
}

/// The successors of a node of a grid whose coordinates are the digits of its number to this base.
fn neighbours(node: u32, base: u32, dimensions: u32, edges: Edges) -> Vec<u32> {
    let mut all = Vec::new();
    for dimension in 0..dimensions {
        let place = base.pow(dimension);
        let digit = node / place % base;
        match edges {
            _ if digit + 1 < base => all.push(node + place),
            Edges::Wrapped => all.push(node - digit * place),
            Edges::Oriented | Edges::Undirected => {}
        }
        if edges == Edges::Undirected && digit > 0 {
            all.push(node - place);
        }
    }
    all
}

/// A theoretical curve, and whether it was computed exactly.
pub(crate) struct Curve {
    pub(crate) exact: bool,
    /// The means, with intervals if they were simulated.
    pub(crate) points: Vec<Interval>,
}

impl Made {
    /// Mean steps to cover one node, two nodes, and so on.
    pub(crate) fn cover_times(&self, desk: &Desk, algorithm: Algorithm, runs: u32) -> Result<Curve, LabError> {
        let mut watch = watch(desk);
        let exact = |time: CoverTime| exactly(time.finite().unwrap_or(f64::INFINITY));
        let tree = self.tree.as_ref().map(|tree| tree.cover_times(algorithm, ALLOWED, &mut watch));
        let prediction = match tree {
            Some(Ok(times)) => Prediction::Exact(times),
            Some(Err(TheoryError::TooLarge { .. })) | None => {
                let allowed = if self.nodes <= MOST_NODES { ALLOWED } else { 0 };
                predict_cover_times(&self.explicit, algorithm, allowed, simulation(desk, runs), &mut watch).map_err(failed)?
            }
            Some(Err(error)) => return Err(failed(error)),
        };
        Ok(match prediction {
            Prediction::Exact(times) => Curve { exact: true, points: times.iter().map(|(_, time)| exact(time)).collect() },
            Prediction::Simulated { estimate, .. } => {
                let points = estimate.times.iter().map(|time| time.steps.map_or(exactly(f64::INFINITY), between)).collect();
                Curve { exact: false, points }
            }
        })
    }

    /// Mean covered nodes after 0, 1, … steps, with restarts at a capacity.
    pub(crate) fn coverage(&self, desk: &Desk, algorithm: Algorithm, capacity: u32, steps: u32, runs: u32) -> Result<Curve, LabError> {
        let mut watch = watch(desk);
        // The cost of a tree's recursions is known in advance; beyond some ten seconds, simulation is
        // cheaper.
        let feasible =
            |tree: &&Tree| tree.coverage_cost(algorithm, Some(capacity), steps).operations < if desk.quick { 200_000_000 } else { 4_000_000_000 };
        let tree = self.tree.as_ref().filter(feasible).map(|tree| tree.coverage(algorithm, Some(capacity), steps, ALLOWED, &mut watch));
        let prediction = match tree {
            Some(Ok(coverage)) => Prediction::Exact(coverage),
            Some(Err(TheoryError::TooLarge { .. })) | None => {
                // Sets of up to `capacity` nodes: many, unless there are few of either.
                let allowed = if self.nodes <= MOST_NODES || !desk.quick { 1 << 24 } else { 0 };
                predict_coverage(&self.explicit, algorithm, Some(capacity), steps, allowed, simulation(desk, runs), &mut watch).map_err(failed)?
            }
            Some(Err(error)) => return Err(failed(error)),
        };
        Ok(match prediction {
            Prediction::Exact(coverage) => {
                Curve { exact: true, points: (0..=coverage.steps()).map(|step| exactly(coverage.covered(step))).collect() }
            }
            Prediction::Simulated { estimate, .. } => Curve { exact: false, points: estimate.covered.iter().copied().map(between).collect() },
        })
    }

    /// π_min after this many steps with enough memory, exactly: the probability of having reached the node that is
    /// hardest to reach.
    pub(crate) fn least_reached(&self, desk: &Desk, algorithm: Algorithm, steps: u32) -> Result<f64, LabError> {
        let mut watch = watch(desk);
        let coverage = match &self.tree {
            Some(tree) => tree.coverage(algorithm, None, steps, ALLOWED, &mut watch),
            None => self.explicit.coverage(algorithm, None, steps, ALLOWED, &mut watch),
        };
        Ok(coverage.map_err(failed)?.minimum(steps as usize))
    }

    /// The mean of a figure over searches with different seeds.
    pub(crate) fn measured(
        &self,
        desk: &Desk,
        strategy: &str,
        limits: Limits,
        runs: u32,
        figure: fn(&searches::Search) -> f64,
    ) -> Result<Option<Interval>, LabError> {
        let strategy: StrategySpec = spec(strategy)?;
        let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| desk.seed.wrapping_add(run)).collect();
        let parts: Vec<&[u64]> = seeds.chunks(runs.div_ceil(8).max(1) as usize).collect();
        let figures = desk.each(&parts, |seeds| {
            let one = |seed: &u64| {
                if desk.ended() { Err(LabError::Interrupted) } else { Ok(figure(&searches::search(&self.graph, &strategy, *seed, limits))) }
            };
            seeds.iter().map(one).collect::<Result<Vec<f64>, _>>()
        })?;
        Ok(Interval::of_mean(&figures.concat()))
    }
}

/// Parses the strategy that an experiment names.
pub(crate) fn spec(text: &str) -> Result<Spec, LabError> {
    text.parse().map_err(|error| LabError::Failed(format!("{text}: {error}")))
}

pub(crate) fn exactly(value: f64) -> Interval {
    Interval { value, low: value, high: value }
}

fn between(estimate: wayfarer::theory::Estimate) -> Interval {
    Interval { value: estimate.mean, low: estimate.low, high: estimate.high }
}

fn simulation(desk: &Desk, runs: u32) -> Simulation {
    Simulation { runs, seed: desk.seed, ..Simulation::default() }
}

fn watch<'a>(desk: &'a Desk) -> impl FnMut(Progress) -> ControlFlow<()> + 'a {
    |_| if desk.ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn failed(error: TheoryError) -> LabError {
    match error {
        TheoryError::Interrupted => LabError::Interrupted,
        error => LabError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_the_edges_asked_for() {
        // The middle of G(2, 2) is 4, its last node 8.
        let of = |node, edges| {
            let mut all = neighbours(node, 3, 2, edges);
            all.sort_unstable();
            all
        };
        assert_eq!((of(4, Edges::Oriented), of(8, Edges::Oriented)), (vec![5, 7], vec![]));
        assert_eq!((of(4, Edges::Undirected), of(8, Edges::Undirected)), (vec![1, 3, 5, 7], vec![5, 7]));
        assert_eq!((of(4, Edges::Wrapped), of(8, Edges::Wrapped)), (vec![5, 7], vec![2, 6]));
        let made = Shape::Grid(2, 2).make_with(Edges::Oriented).unwrap();
        assert_eq!((made.nodes, made.graph.nodes()), (9, 9));
    }
}
