//! The common part of the three substructures of the highway paper: repeated searches, and the probability of
//! having found something after a number of visited states.

use crate::desk::{Desk, LabError};
use crate::judging::Figure;
use crate::searches;
use crate::shapes::spec;
use crate::{Line, Settings};
use wayfarer::search::Limits;
use wayfarer::space::Graph;

/// Runs as in the paper.
pub(super) const RUNS: u32 = 1000;

pub(super) fn settings(_quick: bool) -> Settings {
    vec![("repetitions", format!("{RUNS} for each search, as in the paper"))]
}

/// For each run, the nodes in the order of their first visit, and the number of that visit. A walk's visits
/// count each time, as in the paper.
pub(super) struct Runs {
    pub(super) name: String,
    firsts: Vec<Vec<(u32, usize)>>,
}

impl Runs {
    /// Runs a search with many seeds, each for at most `steps` steps.
    pub(super) fn of(desk: &Desk, graph: &Graph, name: &str, strategy: &str, steps: u64) -> Result<Runs, LabError> {
        let strategy = spec(strategy)?;
        let seeds: Vec<u64> = (0..u64::from(RUNS)).map(|run| desk.seed.wrapping_add(run)).collect();
        let parts: Vec<&[u64]> = seeds.chunks(250).collect();
        let limits = Limits { steps, ..Limits::default() };
        let logs = desk
            .each(&parts, |seeds| Ok(seeds.iter().map(|seed| searches::search(graph, &strategy, *seed, limits).visited).collect::<Vec<_>>()))?
            .concat();
        let repeats = !strategy.default_store().abilities().remembers;
        let firsts = logs.iter().map(|log| first_visits(log, graph.nodes(), repeats)).collect();
        Ok(Runs { name: name.to_string(), firsts })
    }

    /// The share of runs that visited a node.
    pub(super) fn hit(&self, node: u32) -> f64 {
        self.firsts.iter().filter(|firsts| firsts.iter().any(|(visited, _)| *visited == node)).count() as f64 / self.firsts.len() as f64
    }

    /// The mean number of the given nodes that a run has visited after `visits` visits.
    pub(super) fn found(&self, nodes: &[u32], visits: usize) -> f64 {
        let all: usize = self.firsts.iter().map(|firsts| firsts.iter().filter(|(node, at)| *at <= visits && nodes.contains(node)).count()).sum();
        all as f64 / self.firsts.len() as f64
    }

    /// The share of runs that have visited a node after `visits` visits.
    pub(super) fn share(&self, node: u32, visits: usize) -> Figure {
        let found = self.firsts.iter().filter(|firsts| firsts.iter().any(|(visited, at)| *visited == node && *at <= visits)).count();
        Figure::share(found, self.firsts.len())
    }

    /// The number of the given nodes that each run has visited after `visits` visits.
    pub(super) fn counts(&self, nodes: &[u32], visits: usize) -> Figure {
        let count = |firsts: &Vec<(u32, usize)>| firsts.iter().filter(|(node, at)| *at <= visits && nodes.contains(node)).count() as f64;
        Figure::mean(&self.firsts.iter().map(count).collect::<Vec<_>>())
    }

    /// The visits of each run until it has visited all the given nodes, over the runs that did.
    pub(super) fn until_all(&self, nodes: &[u32]) -> Figure {
        let last = |firsts: &Vec<(u32, usize)>| {
            let found: Vec<usize> = firsts.iter().filter(|(node, _)| nodes.contains(node)).map(|(_, at)| *at).collect();
            (found.len() == nodes.len()).then(|| found.iter().max().copied().unwrap_or(0) as f64)
        };
        Figure::mean(&self.firsts.iter().filter_map(last).collect::<Vec<_>>())
    }

    /// The visits of each run until it has visited one of the given nodes.
    pub(super) fn until_any(&self, nodes: &[u32]) -> Figure {
        let first = |firsts: &Vec<(u32, usize)>| firsts.iter().find(|(node, _)| nodes.contains(node)).map(|(_, at)| *at as f64);
        Figure::mean(&self.firsts.iter().filter_map(first).collect::<Vec<_>>())
    }

    /// The same at 1, 2, … visits, as a line of a plot.
    pub(super) fn line(&self, nodes: &[u32], most: usize) -> Line {
        Line::new(self.name.clone(), (0..=most).map(|visits| (visits as f64, self.found(nodes, visits))))
    }

    /// The mean number of distinct nodes that a run visited.
    pub(super) fn distinct(&self) -> f64 {
        self.firsts.iter().map(Vec::len).sum::<usize>() as f64 / self.firsts.len() as f64
    }
}

/// The first visit of each node. A search that backtracks returns to a node for its next successor: that is
/// not a new visit.
fn first_visits(log: &[u32], nodes: u32, repeats: bool) -> Vec<(u32, usize)> {
    let mut seen = vec![false; nodes as usize];
    let mut firsts = Vec::new();
    for (at, node) in log.iter().enumerate() {
        if !std::mem::replace(&mut seen[*node as usize], true) {
            firsts.push((*node, if repeats { at + 1 } else { firsts.len() + 1 }));
        }
    }
    firsts
}
