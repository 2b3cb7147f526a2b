//! Predictions that are exact if the computation fits and simulated if not, for commands that must always
//! answer. The result says which.

use crate::effort::Watch;
use crate::{
    Algorithm, CoverTimes, Coverage, ExplicitGraph, SimulatedCover, SimulatedCoverage, Simulation, TheoryError, simulate_cover_times,
    simulate_coverage,
};

/// An exact result if that was feasible, otherwise an estimate.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction<E, S> {
    /// Computed exactly.
    Exact(E),
    /// Simulated.
    Simulated {
        /// The reason why it could not be computed.
        why: TheoryError,
        /// The simulated result.
        estimate: S,
    },
}

/// Mean cover times: exact if `allowed` bytes suffice, otherwise simulated.
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

/// Coverage over the first `steps` steps: exact if `allowed` bytes suffice, otherwise simulated.
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

/// Whether an error is only about size, so that simulation can answer instead.
fn is_size(error: &TheoryError) -> bool {
    matches!(error, TheoryError::TooLarge { .. } | TheoryError::TooManyNodes { .. })
}
