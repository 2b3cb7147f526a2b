//! Compiles programs to machine code with Cranelift and explores them at that speed. No other crate uses Cranelift.
//!
//! [`Compiled`] is a [`Space`](wayfarer_space::Space) that agrees with [`wayfarer_ir::Interpreter`] on everything: states and their order, faults,
//! enabled counts, discards, covers, samples under the same generator, and failing properties.
//!
//! - guards become tables and masks, all rules at once (`guards`, `probe`)
//! - commands are compiled on their first firing, with little effort and for all parameters; those that fire often are
//!   compiled again with more effort, their parameters fixed while that stays small (`commands`, `roots`, `emit`)
//! - guards of very many rules that compare fields with constants are tables in two levels, without code (`masks`)
//! - guards of large families are a nest of loops over their parameters, which lists the enabled ones (`nest`, `listed`)
//! - commands that only add and set constants are rows of a table (`rows`)
//! - properties are checked all at once; their loops are unrolled after many states (`check`)
//! - successors are written directly into the columns of steps (`explore`, `fire`, `run`)
//! - code that the shape of the program does not keep within its limits counts fuel and depth as it runs (`shape`)
//! - all machine code is in one contiguous area of memory and is counted, and a later run can use it again (`foundry`, `key`)

mod check;
mod commands;
mod compiled;
mod emit;
mod explore;
mod fire;
mod foundry;
mod functions;
mod guards;
mod key;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod levels;
mod listed;
mod masks;
mod nest;
mod probe;
mod ranges;
mod renewed;
mod roots;
mod rows;
mod run;
mod runtime;
mod shape;
mod sleep;
mod touched;

pub use compiled::Compiled;
pub use foundry::{JitError, Meter};
