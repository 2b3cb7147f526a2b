//! Compiled programs against the interpreter, which defines what they mean.

mod agreement;
mod fuzz;
mod known;
mod mcslock;
