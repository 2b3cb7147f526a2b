//! Tests of what runs on a device, without one: generated source is compiled as C++ where a compiler is there.

mod agreement;
mod audits;
mod device;
mod emulated;
mod generated;
mod harness;
mod keeping;
mod lanes;
mod models;
mod orbits;
mod passing;
mod searches;
mod unset;

/// A generated program.
fn plain(seed: u64) -> wayfarer_ir::Program {
    wayfarer_ir::generate::generate(seed)
}
