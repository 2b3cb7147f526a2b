//! Exact where it fits, simulated where not, and the result says which: what a command wants that must always answer.

use crate::effort::Watch;
use crate::{
    Algorithm, CoverTimes, Coverage, ExplicitGraph, SimulatedCover, SimulatedCoverage, Simulation, TheoryError, simulate_cover_times,
    simulate_coverage,
};

/// An exact result where that was feasible, else an estimate.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction<E, S> {
    /// Computed, without chance.
    Exact(E),
    /// Simulated.
    Simulated {
        /// Why it could not be computed.
        why: TheoryError,
        /// What the simulation gave.
        estimate: S,
    },
}

/// Mean cover times: exact if `allowed` bytes suffice, else simulated.
pub fn predict_cover_times(
    graph: &ExplicitGraph,
    algorithm: Algorithm,
    allowed: u64,
    simulation: Simulation,
    watch: Watch<'_>,
) -> Result<Prediction<CoverTimes, SimulatedCover>, TheoryError> {
    match graph.cover_times(algorithm, allowed, watch) {
        Ok(exact) => Ok(Prediction::Exact(exact)),
        Err(why) if is_size(&why) => Ok(Prediction::Simulated { why, estimate: simulate_cover_times(graph, algorithm, simulation, watch)? }),
        Err(error) => Err(error),
    }
}

/// Coverage over the first `steps` steps: exact if `allowed` bytes suffice, else simulated.
pub fn predict_coverage(
    graph: &ExplicitGraph,
    algorithm: Algorithm,
    capacity: Option<u32>,
    steps: u32,
    allowed: u64,
    simulation: Simulation,
    watch: Watch<'_>,
) -> Result<Prediction<Coverage, SimulatedCoverage>, TheoryError> {
    match graph.coverage(algorithm, capacity, steps, allowed, watch) {
        Ok(exact) => Ok(Prediction::Exact(exact)),
        Err(why) if is_size(&why) => {
            Ok(Prediction::Simulated { why, estimate: simulate_coverage(graph, algorithm, capacity, steps, simulation, watch)? })
        }
        Err(error) => Err(error),
    }
}

/// Whether an error speaks of size alone, so that simulation can answer in its place.
fn is_size(error: &TheoryError) -> bool {
    matches!(error, TheoryError::TooLarge { .. } | TheoryError::TooManyNodes { .. })
}
