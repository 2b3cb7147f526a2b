//! The interface between a model and a search: words, states, steps and the [`Space`] that connects them.
//!
//! A state is a slice of 64-bit words. A [`Space`] gives the start states, the steps from a batch of states,
//! and the properties that fail in a state. This crate knows nothing of languages, files or clocks; every
//! other crate builds on it.

mod fault;
mod graph;
mod hash;
mod packing;
mod property;
mod rng;
mod sieve;
mod space;
mod states;
mod steps;

pub use fault::{Fault, FaultClass};
pub use graph::Graph;
pub use hash::{HASH_VERSION, Hash, NARROW, Sum, hash};
pub use packing::Packing;
pub use property::{PropertyBits, PropertyKind};
pub use rng::{RNG_VERSION, Rng};
pub use sieve::{Omitted, SIEVED, Sieve, SieveOf};
pub use space::{
    Checked, Completeness, Fired, NO_RULE, Space, draw_start_piece, find_start, has_many_starts, make_starts, start_pieces, way_through,
};
pub use states::{States, Width, Word};
pub use steps::{FaultStep, Firing, Own, Steps, changed_words};
