//! Simulation, for graphs that are too large for exact computation: repetitions of URS and SDRS on an
//! explicit graph, with an interval on every number.
//!
//! This is a second, plain implementation of the algorithms, independent of Wayfarer's search loop, so that
//! the two can be compared.

use crate::effort::{Watch, tell};
use crate::estimate::{Confidence, Estimate, Sample};
use crate::{Algorithm, ExplicitGraph, TheoryError, criteria};
use wayfarer_space::Rng;

/// The size and seed of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// Independent repetitions; at least two.
    pub runs: u32,
    /// The most steps of a run that waits for cover.
    pub most_steps: u64,
    /// The seed; the same seed gives the same numbers.
    pub seed: u64,
    /// The confidence of the intervals.
    pub confidence: Confidence,
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation { runs: 1000, most_steps: 10_000_000, seed: 0, confidence: Confidence::P95 }
    }
}

/// The simulated time to cover a given number of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedTime {
    /// The number of runs that covered that many.
    pub reached: u32,
    /// The mean number of steps, if all runs did; a mean over only those that did would be too small.
    pub steps: Option<Estimate>,
}

/// Simulated cover times.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedCover {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The simulation they come from.
    pub simulation: Simulation,
    /// The times for one node, two nodes, and so on.
    pub times: Vec<SimulatedTime>,
}

impl SimulatedCover {
    /// The cover time of a share between 0 and 1, that is of ⌈share·M⌉ nodes.
    pub fn of_share(&self, share: f64) -> SimulatedTime {
        self.times[criteria::nodes_of_share(share, self.times.len() as u64) as usize - 1]
    }
}

/// Simulated coverage: the mean number of distinct nodes reached after 0, 1, … steps, over all restarts.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedCoverage {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The number of stored nodes at which it was re-initialised.
    pub capacity: Option<u32>,
    /// The simulation it comes from.
    pub simulation: Simulation,
    /// The estimate at each step.
    pub covered: Vec<Estimate>,
}

/// The number of steps between two looks of the watch.
const LOOK: u64 = 1 << 16;

/// Simulates cover times.
pub fn simulate_cover_times(
    graph: &ExplicitGraph,
    algorithm: Algorithm,
    simulation: Simulation,
    watch: Watch<'_>,
) -> Result<SimulatedCover, TheoryError> {
    check(simulation)?;
    let nodes = graph.nodes() as usize;
    let mut samples = vec![Sample::default(); nodes];
    let streams = Rng::new(simulation.seed, "theory cover");
    for number in 0..simulation.runs {
        tell(watch, u64::from(number), u64::from(simulation.runs))?;
        let mut run = Run::new(graph, algorithm, None, streams.split(u64::from(number)));
        samples[..graph.starts()].iter_mut().for_each(|sample| sample.add(0.0));
        for step in 1..=simulation.most_steps {
            if run.covered == nodes {
                break;
            }
            if step.is_multiple_of(LOOK) {
                tell(watch, u64::from(number), u64::from(simulation.runs))?;
            }
            if run.step() {
                samples[run.covered - 1].add(step as f64);
            }
        }
    }
    let times = samples
        .iter()
        .map(|sample| SimulatedTime {
            reached: sample.count(),
            steps: if sample.count() == simulation.runs { sample.estimate(simulation.confidence) } else { None },
        })
        .collect();
    Ok(SimulatedCover { algorithm, simulation, times })
}

/// Simulates coverage over the first `steps` steps.
pub fn simulate_coverage(
    graph: &ExplicitGraph,
    algorithm: Algorithm,
    capacity: Option<u32>,
    steps: u32,
    simulation: Simulation,
    watch: Watch<'_>,
) -> Result<SimulatedCoverage, TheoryError> {
    check(simulation)?;
    let capacity = graph.checked_capacity(capacity)?;
    let mut samples = vec![Sample::default(); steps as usize + 1];
    let streams = Rng::new(simulation.seed, "theory coverage");
    for number in 0..simulation.runs {
        let mut run = Run::new(graph, algorithm, capacity, streams.split(u64::from(number)));
        for (step, sample) in samples.iter_mut().enumerate() {
            if step > 0 {
                run.step();
            }
            if (step as u64).is_multiple_of(LOOK) {
                tell(watch, u64::from(number), u64::from(simulation.runs))?;
            }
            sample.add(run.covered as f64);
        }
    }
    let covered = samples.iter().filter_map(|sample| sample.estimate(simulation.confidence)).collect();
    Ok(SimulatedCoverage { algorithm, capacity, simulation, covered })
}

fn check(simulation: Simulation) -> Result<(), TheoryError> {
    if simulation.runs < 2 {
        return Err(TheoryError::Parameter(format!("an interval needs at least 2 runs, not {}", simulation.runs)));
    }
    Ok(())
}

/// One repetition.
struct Run<'a> {
    graph: &'a ExplicitGraph,
    algorithm: Algorithm,
    capacity: usize,
    rng: Rng,
    /// V, in the order of discovery.
    stored: Vec<u32>,
    /// The last filling of the memory in which each node was stored; 0 for never.
    stored_in: Vec<u32>,
    filling: u32,
    at: usize,
    /// Distinct nodes found over all fillings.
    covered: usize,
}

impl<'a> Run<'a> {
    fn new(graph: &'a ExplicitGraph, algorithm: Algorithm, capacity: Option<u32>, rng: Rng) -> Self {
        let nodes = graph.nodes() as usize;
        let capacity = capacity.map_or(usize::MAX, |capacity| capacity as usize);
        let mut run = Run { graph, algorithm, capacity, rng, stored: Vec::new(), stored_in: vec![0; nodes], filling: 0, at: 0, covered: 0 };
        run.restart();
        run
    }

    fn restart(&mut self) {
        self.filling += 1;
        self.stored.clear();
        (0..self.graph.starts()).for_each(|start| {
            self.store(start);
        });
        self.at = self.draw();
    }

    /// Takes one turn of the loop. Returns whether it found a node never found before.
    fn step(&mut self) -> bool {
        let from = match self.algorithm {
            Algorithm::Urs => self.draw(),
            Algorithm::Sdrs if self.graph.resets(self.at) => {
                self.at = self.draw();
                return false;
            }
            Algorithm::Sdrs => self.at,
        };
        let successors = self.graph.successors(from);
        if successors.is_empty() {
            return false;
        }
        self.at = successors[self.rng.below(successors.len() as u64) as usize] as usize;
        let new = self.store(self.at);
        if self.stored.len() >= self.capacity {
            self.restart();
        }
        new
    }

    fn draw(&mut self) -> usize {
        self.stored[self.rng.below(self.stored.len() as u64) as usize] as usize
    }

    /// Puts a node into V. Returns whether it was never found before.
    fn store(&mut self, node: usize) -> bool {
        let last = std::mem::replace(&mut self.stored_in[node], self.filling);
        if last != self.filling {
            self.stored.push(node as u32);
        }
        self.covered += usize::from(last == 0);
        last == 0
    }
}
