//! The exact behaviour of URS and SDRS as the papers predict it: cover times, reachability probabilities,
//! coverage with and without re-initialisation, and related formulas.
//!
//! - [`ExplicitGraph`]: any graph of about twenty nodes, over the sets of covered nodes
//! - [`Tree`]: complete trees, over the numbers of covered nodes per level
//! - [`Grid`]: grids, as explicit graphs
//! - [`CoverTimes`], [`Coverage`]: the results; [`simulate_cover_times`], [`simulate_coverage`] estimate the same
//! - [`predict_cover_times`], [`predict_coverage`]: exact if it fits, otherwise simulated, and the [`Prediction`] says which
//! - [`StorageModel`], [`TableOne`]: the savings of difference storage
//! - [`walks_needed`], [`density_factor`], [`degree`], [`redundancy`]: criteria
//! - [`share_at_most`], [`share_between`], [`rule_of_three`], [`least_total`]: inferences from a sample about the rest
//!
//! The papers are Abed, Tripakis, Vincent: *Resource-Aware Verification using Randomized Exploration of Large
//! State Spaces*, and *Systems Verification using Randomized Exploration of Large State Spaces* (SPIN 2008);
//! Mukherjee, Tari, Bertok: *Memory Efficient State-Space Analysis in Software Model-Checking*. If a printed
//! formula is wrong, the module that computes it says so; the tests check the corrected one against brute
//! force.
//!
//! A *step* is one turn of an algorithm's loop. The start states are covered after 0 steps. (The papers' n is
//! one more.) This crate does no I/O and reads no clock. Every computation takes the number of bytes it may
//! use, and a watch that sees its progress and may end it.

mod algorithm;
mod binomial;
mod cover;
mod coverage;
mod criteria;
mod effort;
mod error;
mod estimate;
mod explicit;
mod grid;
mod prediction;
mod renewal;
mod richness;
mod sets;
mod simulate;
mod storage;
mod sum;
mod tree;

pub use algorithm::{Algorithm, SelfLoops};
pub use binomial::{rule_of_three, share_at_least, share_at_most, share_between};
pub use cover::{CoverTime, CoverTimes};
pub use coverage::{Coverage, NodeClass, Place};
pub use criteria::{degree, density_factor, redundancy, walks_needed};
pub use effort::{Cost, Progress, Watch, unwatched};
pub use error::TheoryError;
pub use estimate::{Confidence, Estimate};
pub use explicit::ExplicitGraph;
pub use grid::Grid;
pub use prediction::{Prediction, predict_cover_times, predict_coverage};
pub use richness::{Richness, least_total};
pub use simulate::{SimulatedCover, SimulatedCoverage, SimulatedTime, Simulation, simulate_cover_times, simulate_coverage};
pub use storage::{StorageModel, TableOne};
pub use tree::Tree;
