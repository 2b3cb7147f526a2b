//! Programs written by hand for every rule of their meaning, and random ones for everything nobody thought of.

mod effects;
mod firing;
mod meaning;
mod passing;
mod random;
mod reading;
mod relevant;
mod showing;
mod symmetry;
mod verifying;

use wayfarer_ir::{Interpreter, Limits, Program, text, verify};

/// The program in a text; it must be valid.
fn program(source: &str) -> Program {
    let program = text::read(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let errors = verify(&program);
    assert!(errors.is_empty(), "{errors:#?}\n{source}");
    program
}

fn interpreter(source: &str) -> Interpreter {
    Interpreter::new(program(source), Limits::default())
}
