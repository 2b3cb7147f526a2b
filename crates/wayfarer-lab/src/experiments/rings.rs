//! Which property of the token ring decides between URS and SDRS, by graphs made from the ring itself.
//!
//! The Abed papers find SDRS ahead on their ring below full cover. Ours has about as many states, the same depth and the
//! same density factor, and SDRS is far behind. So the ring is changed in two ways, apart and together: it is cut off at a
//! depth, so that it is widest at its end; and its steps lead to random states of the levels that they led to before, so
//! that paths do not meet again at once. Both algorithms are simulated as they are printed.

use crate::desk::{Desk, LabError};
use crate::models;
use crate::{Cell, Column, Findings, Table, plain};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use wayfarer::space::{Firing, Graph, Rng, Space, States, Steps, Word};
use wayfarer::theory::{Algorithm, ExplicitGraph, SelfLoops, SimulatedCover, Simulation, TheoryError, simulate_cover_times};
use wayfarer::{Plan, space_of};

const SHARES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 1.0];

/// Messages of each of three stations and, for the ring that is cut off, the depth.
fn sizes(quick: bool) -> (i64, (i64, u32)) {
    if quick { (3, (4, 42)) } else { (4, (6, 60)) }
}

/// Pieces of work.
pub(super) const PIECES: usize = 8;

/// Simulated runs, and the most steps of each for every state.
const RUNS: u32 = 4;
const STEPS: u64 = 120;

/// A graph with the distinct successors and the level of each node; nodes are numbered by their levels.
#[derive(Clone)]
pub(super) struct Leveled {
    /// The successors of each node.
    pub(super) edges: Vec<Vec<u32>>,
    pub(super) level: Vec<u32>,
}

impl Leveled {
    /// The reachable states of a space.
    pub(super) fn explore(space: &dyn Space) -> Leveled {
        let mut numbers: HashMap<Box<[Word]>, u32> = HashMap::new();
        let mut found: Vec<Box<[Word]>> = Vec::new();
        let (mut edges, mut level) = (Vec::new(), Vec::new());
        let mut number = |state: &[Word], at: u32, found: &mut Vec<Box<[Word]>>, level: &mut Vec<u32>| {
            *numbers.entry(state.into()).or_insert_with(|| {
                found.push(state.into());
                level.push(at);
                found.len() as u32 - 1
            })
        };
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        steps.states.iter().for_each(|state| {
            number(state, 0, &mut found, &mut level);
        });
        let mut one = States::new(space.width());
        while edges.len() < found.len() {
            let from = edges.len();
            one.clear();
            one.push(&found[from]);
            steps.clear();
            space.expand(&one, Firing::of(0), &mut steps);
            let next = level[from] + 1;
            let mut targets: Vec<u32> = steps.states.iter().map(|state| number(state, next, &mut found, &mut level)).collect();
            targets.sort_unstable();
            targets.dedup();
            edges.push(targets);
        }
        Leveled { edges, level }
    }

    /// The part down to a level, whose states have no successors.
    fn cut(&self, last: u32) -> Leveled {
        let nodes = self.level.iter().take_while(|level| **level <= last).count();
        let kept = |from: usize| self.edges[from].iter().copied().filter(|to| (*to as usize) < nodes).collect();
        let edges = (0..nodes).map(|from| if self.level[from] == last { Vec::new() } else { kept(from) }).collect();
        Leveled { edges, level: self.level[..nodes].to_vec() }
    }

    /// The same graph with the ends of its edges exchanged at random among edges between the same two levels. Every node
    /// keeps an edge from the level before it, so all stay reachable.
    fn rewired(&self, seed: u64) -> Leveled {
        let mut rng = Rng::new(seed, "rewired ring");
        let mut between: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        for (from, targets) in self.edges.iter().enumerate() {
            for to in targets {
                between.entry((self.level[from], self.level[*to as usize])).or_default().push((from as u32, *to));
            }
        }
        let mut edges = vec![Vec::new(); self.edges.len()];
        for mut pairs in between.into_values() {
            for last in (1..pairs.len()).rev() {
                let other = rng.below(last as u64 + 1) as usize;
                let (one, another) = (pairs[last].1, pairs[other].1);
                (pairs[last].1, pairs[other].1) = (another, one);
            }
            pairs.into_iter().for_each(|(from, to)| edges[from as usize].push(to));
        }
        Leveled { edges, level: self.level.clone() }
    }

    /// The number of states that lead nowhere else.
    pub(super) fn ends(&self) -> usize {
        self.edges.iter().enumerate().filter(|(node, targets)| targets.iter().all(|to| *to as usize == *node)).count()
    }
}

/// A graph with the simulated steps of URS and SDRS to each share.
struct Ring {
    name: &'static str,
    states: usize,
    depth: u32,
    ends: usize,
    urs: SimulatedCover,
    sdrs: SimulatedCover,
}

impl Ring {
    /// SDRS's steps for each of URS at a share, and whether that is only a lower bound because some run of SDRS was given up;
    /// nothing if some run of URS was.
    fn ratio(&self, share: f64) -> Option<(f64, bool)> {
        let urs = self.urs.of_share(share).steps?.mean;
        Some(match self.sdrs.of_share(share).steps {
            Some(sdrs) => (sdrs.mean / urs, false),
            None => (self.sdrs.simulation.most_steps as f64 / urs, true),
        })
    }

    /// Whether SDRS is ahead for certain below full cover, and not at full cover.
    fn has_the_papers_order(&self) -> bool {
        let ahead = |share: f64| {
            let (urs, sdrs) = (self.urs.of_share(share).steps, self.sdrs.of_share(share).steps);
            urs.zip(sdrs).is_some_and(|(urs, sdrs)| sdrs.high < urs.low)
        };
        SHARES[..4].iter().all(|share| ahead(*share)) && self.ratio(1.0).is_some_and(|(ratio, _)| ratio > 1.0)
    }

    fn ratios(&self) -> Vec<String> {
        let one = |share: &f64| match self.ratio(*share) {
            Some((ratio, true)) => format!("over {}", plain(ratio)),
            Some((ratio, false)) => plain(ratio),
            None => "–".to_string(),
        };
        SHARES.iter().map(one).collect()
    }
}

/// The rings, simulated.
pub(super) struct Rings(Vec<Ring>);

/// Makes and simulates the rings.
pub(super) fn rings(desk: &Desk) -> Result<Rings, LabError> {
    let (messages, (more, depth)) = sizes(desk.quick);
    let ring = |messages: i64| {
        let loaded = desk.load(models::TOKEN_RING_LAN, &[("StationCount", 3), ("MessageCount", messages), ("Rest", 1)])?;
        Ok(Leveled::explore(&*space_of(&loaded.program, &Plan::default())))
    };
    let (whole, wide) = (ring(messages)?, ring(more)?.cut(depth));
    let graphs = [
        ("our ring", whole.clone()),
        ("cut off, so that it is widest at its end", wide.clone()),
        ("with steps to random states of the same levels", whole.rewired(desk.seed)),
        ("both", wide.rewired(desk.seed)),
    ];
    let tasks: Vec<(usize, Algorithm)> = (0..graphs.len()).flat_map(|at| [(at, Algorithm::Urs), (at, Algorithm::Sdrs)]).collect();
    let mut done = desk
        .each(&tasks, |(at, algorithm)| {
            let graph = Graph::new(graphs[*at].1.edges.clone(), vec![0]);
            let explicit = ExplicitGraph::new(&graph, SelfLoops::Reset).map_err(failed)?;
            let simulation =
                Simulation { runs: RUNS, most_steps: STEPS * graphs[*at].1.edges.len() as u64, seed: desk.seed, ..Simulation::default() };
            let mut watch = |_| if desk.ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            simulate_cover_times(&explicit, *algorithm, simulation, &mut watch).map_err(failed)
        })?
        .into_iter();
    let mut all = Vec::new();
    for (name, graph) in &graphs {
        if let (Some(urs), Some(sdrs)) = (done.next(), done.next()) {
            let depth = graph.level.last().copied().unwrap_or(0);
            all.push(Ring { name, states: graph.edges.len(), depth, ends: graph.ends(), urs, sdrs });
        }
    }
    Ok(Rings(all))
}

fn failed(error: TheoryError) -> LabError {
    match error {
        TheoryError::Interrupted => LabError::Interrupted,
        error => LabError::Failed(error.to_string()),
    }
}

impl Rings {
    /// Adds the table of ratios.
    pub(super) fn table(&self, findings: &mut Findings) {
        let mut columns = vec![Column::new("token ring"), Column::new("states"), Column::new("depth"), Column::new("ends")];
        columns.extend(SHARES.map(|share| Column::new(format!("SDRS/URS at {:.0} %", 100.0 * share))));
        let caption = format!("The shape of the ring: steps of SDRS for each of URS, both as printed, simulated {RUNS} times");
        let mut table = Table::new(caption, columns);
        for ring in &self.0 {
            let figures = [Cell::from(ring.name), ring.states.into(), ring.depth.into(), ring.ends.into()];
            table.row(figures.into_iter().chain(ring.ratios().into_iter().map(Cell::from)));
        }
        findings.tables.push(table);
    }

    /// Tests on the last claim whether the shape of the ring explains the order of the two algorithms.
    pub(super) fn explain(&self, findings: &mut Findings) {
        let fitting = self.0.iter().filter(|ring| ring.has_the_papers_order()).count();
        let told: Vec<String> = self
            .0
            .iter()
            .map(|ring| format!("{} ({} states, {} of them ends) {}", ring.name, ring.states, ring.ends, ring.ratios().join("/")))
            .collect();
        findings.because(
            fitting > 0 && self.0.last().is_some_and(Ring::has_the_papers_order) && self.0.first().is_some_and(|ring| !ring.has_the_papers_order()),
            "Size, depth and density factor do not settle the order; the shape does. Steps of our ring commute, so that its paths meet again at once, as in a grid, and all of them lead to a few ends. SDRS is ahead on a ring whose paths part and that is widest at its end, as a thin tree is.",
            format!("Steps of SDRS for each of URS at 60/70/80/90/100 %: {}. {fitting} of {} have the paper's order in all five.", told.join("; "), self.0.len()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of 4 by 4, by levels.
    fn grid() -> Leveled {
        let mut nodes: Vec<(u32, u32)> = (0..4).flat_map(|x| (0..4).map(move |y| (x, y))).collect();
        nodes.sort_by_key(|(x, y)| (x + y, *x));
        let number = |node: (u32, u32)| nodes.iter().position(|other| *other == node).map(|at| at as u32);
        let edges = nodes.iter().map(|(x, y)| [number((x + 1, *y)), number((*x, y + 1))].into_iter().flatten().collect()).collect();
        Leveled { edges, level: nodes.iter().map(|(x, y)| x + y).collect() }
    }

    #[test]
    fn a_graph_that_is_cut_off_ends_at_its_last_level() {
        let cut = grid().cut(3);
        assert_eq!((cut.edges.len(), cut.ends()), (10, 4));
        assert_eq!(grid().ends(), 1);
    }

    #[test]
    fn exchanging_ends_keeps_levels_and_reaches_every_node() {
        let (before, after) = (grid(), grid().rewired(7));
        assert_ne!(before.edges, after.edges);
        let mut reached = vec![false; 16];
        reached[0] = true;
        for (from, targets) in after.edges.iter().enumerate() {
            assert_eq!(targets.len(), before.edges[from].len());
            for to in targets {
                assert!(reached[from]);
                assert_eq!(after.level[*to as usize], after.level[from] + 1);
                reached[*to as usize] = true;
            }
        }
        assert!(reached.into_iter().all(|node| node));
    }
}
