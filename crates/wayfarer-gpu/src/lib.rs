//! Runs programs on a GPU. An IR program becomes CUDA C ([`Source`]), which is compiled at run time and searched by kernels: breadth-first search by levels
//! ([`Levels`]) over a store in the device's memory ([`Slots`]), random walks ([`Walks`]), and searches that every lane makes for itself ([`Lanes`]). An
//! [`Audit`] walks beside a search by levels and asks its store.
//!
//! Nothing of CUDA is needed to build this crate, and nothing of it but the driver to run compiled code: both libraries are looked for when they are needed.
//! Searches see a device through [`Machine`]; tests put a C++ compiler in its place.

mod apart;
mod audit;
mod bounds;
mod cache;
mod compile;
mod device;
mod driver;
mod levels;
mod machine;
mod memory;
mod notes;
mod own;
mod room;
mod running;
mod sketch;
mod slots;
mod source;
mod spill;
mod trail;
mod unsupported;
mod walks;

pub use apart::{compile_apart, serve_compiler};
pub use audit::{Audit, Judged, Law, OnWalk, Walking};
pub use device::{Device, LoadError, Loaded};
pub use levels::{Asked, Levels, Round, Totals};
pub use machine::{Address, DeviceError, Kernel, Machine, Params};
pub use notes::{Note, Reached, What};
pub use own::{Did, Lanes, Order, Own, Shown};
pub use slots::Slots;
pub use source::{MOST_BITS, MOST_RULES, Search, Source};
pub use spill::Grant;
pub use unsupported::Unsupported;
pub use walks::{Met, Walked, Walks};
