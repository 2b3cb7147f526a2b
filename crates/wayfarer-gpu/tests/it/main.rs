//! Tests of what runs on a device, without one: generated source is compiled as C++ where a compiler is there.

mod agreement;
mod device;
mod emulated;
mod generated;
mod harness;
mod models;
mod searches;

/// A generated program without what devices do not run: levels of rules.
fn plain(seed: u64) -> wayfarer_ir::Program {
    wayfarer_ir::Program { levels: Vec::new(), ..wayfarer_ir::generate::generate(seed) }
}
