//! The experiments, one file each; code that several share is in the file of one of them.

mod back_loops;
mod beyond_memory;
mod bounded;
mod buffers;
mod coloured_nets;
mod components;
mod cover;
mod cover_models;
mod diamond;
mod difference;
mod dining;
mod frequencies;
mod garage;
mod lanes;
mod long_walks;
mod rbfs;
mod rbfs_sensitivity;
mod readings;
mod restarts;
mod restarts_on_shapes;
mod rings;
mod scanning;
mod specifications;
mod substructures;
mod systems;
mod table_one;
mod table_reasons;
mod transitions;
mod witnesses;

use crate::Experiment;

/// All experiments, in the order in which they are listed and run.
pub(crate) const ALL: &[&Experiment] = &[
    &cover::TREES,
    &cover::GRIDS,
    &restarts_on_shapes::TREES,
    &restarts_on_shapes::GRIDS,
    &cover_models::EXPERIMENT,
    &restarts::EXPERIMENT,
    &beyond_memory::EXPERIMENT,
    &difference::EXPERIMENT,
    &coloured_nets::EXPERIMENT,
    &rbfs::SCI,
    &rbfs::KERBEROS,
    &rbfs_sensitivity::EXPERIMENT,
    &diamond::EXPERIMENT,
    &back_loops::EXPERIMENT,
    &components::EXPERIMENT,
    &buffers::EXPERIMENT,
    &dining::SEVENTEEN,
    &dining::FIVE,
    &witnesses::EXPERIMENT,
    &specifications::EXPERIMENT,
    &garage::EXPERIMENT,
    &frequencies::EXPERIMENT,
];
