//! The experiments, one file each; what several share stands in the file they share it from.

mod back_loops;
mod components;
mod cover;
mod diamond;
mod restarts_on_shapes;
mod substructures;

use crate::Experiment;

/// All experiments, in the order in which they are listed and run.
pub(crate) const ALL: &[&Experiment] = &[
    &cover::TREES,
    &cover::GRIDS,
    &restarts_on_shapes::TREES,
    &restarts_on_shapes::GRIDS,
    &diamond::EXPERIMENT,
    &back_loops::EXPERIMENT,
    &components::EXPERIMENT,
];
