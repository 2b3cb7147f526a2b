//! Compiled programs against the interpreter, which defines what they mean.

mod agreement;
mod corners;
mod fuzz;
mod known;
mod mcslock;
mod numbers;
mod rows;
mod sleep;
