//! Models written in Rust: what a user implements, how typed states become words, and the [`Space`](wayfarer_space::Space) that searches see.
//!
//! - [`Model`] is what a user writes: a state, actions, what they lead to, and properties
//! - [`Packed`] gives a state a fixed number of bits; `#[derive(Packed)]` writes it for plain types
//! - any other state that `serde` can write and read is encoded into words of varying number ([`Coded`] is the common face of both)
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
pub use model::{Model, Properties, Property, PropertyKind, Representative};
pub use packed::{Packed, ranged, whole};
pub use shape::{ABSENT, Difference, Shape};
pub use space::{KINDS, ModelSpace, WANTED};
pub use wayfarer_derive::Packed;
