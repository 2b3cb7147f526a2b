//! The experiments, one file each; what several share stands in the file they share it from.

mod back_loops;
mod components;
mod cover;
mod cover_models;
mod diamond;
mod frequencies;
mod restarts;
mod restarts_on_shapes;
mod substructures;
mod systems;

use crate::Experiment;

/// All experiments, in the order in which they are listed and run.
pub(crate) const ALL: &[&Experiment] = &[
    &cover::TREES,
    &cover::GRIDS,
    &restarts_on_shapes::TREES,
    &restarts_on_shapes::GRIDS,
    &cover_models::EXPERIMENT,
    &restarts::EXPERIMENT,
    &diamond::EXPERIMENT,
    &back_loops::EXPERIMENT,
    &components::EXPERIMENT,
    &frequencies::EXPERIMENT,
];
