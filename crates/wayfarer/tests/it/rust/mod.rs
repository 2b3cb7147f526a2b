//! Models written in Rust, through the same plans as all others.

mod left_out;
mod misuse;
mod plans;
mod two_phase;
