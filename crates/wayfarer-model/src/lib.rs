//! Models written in Rust: the trait that a user implements, the encoding of typed states as words, and the
//! [`Space`](wayfarer_space::Space) that searches see.
//!
//! - [`Model`] is the trait that a user implements: a state, actions, their successors, and properties
//! - [`Packed`] gives a state a fixed number of bits; `#[derive(Packed)]` implements it for plain types
//! - any other state that `serde` can write and read is encoded into a varying number of words ([`Coded`] is the common interface of both)
//! - [`ModelSpace`] is the space of a model

mod bits;
mod caught;
mod coded;
mod model;
mod packed;
mod serial;
mod shape;
mod space;

pub use bits::{Packer, Unpacker};
pub use caught::{Faults, Misuse};
pub use coded::{BySerde, Coded, Tight};
pub use model::{Model, Properties, Property, Representative};
pub use packed::{Packed, ranged, whole};
pub use shape::{ABSENT, Difference, Shape};
pub use space::{KINDS, ModelSpace, WANTED};
pub use wayfarer_derive::Packed;
pub use wayfarer_space::PropertyKind;
