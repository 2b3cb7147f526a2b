//! Promela, as SPIN 6.5 reads it.
//!
//! [`read`] turns text into a resolved [`Model`]: macros are expanded, names are resolved and every process type has its automaton.

pub mod ast;
mod files;
mod flow;
pub mod learned;
mod lexer;
pub mod lower;
pub mod machine;
pub mod model;
mod operators;
mod parser;
mod preprocess;
mod resolve;
mod token;

pub use flow::{Automaton, ControlState, Transition};
pub use model::Model;
pub use preprocess::Include;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use files::Files;

/// Reads a model. `constants` are macros set from outside; `include` gives the text of a file that the model includes. There is a model exactly
/// when the diagnostics have no errors.
pub fn read(source: &Source, constants: &[(String, String)], include: Include) -> (Option<Model>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let Some(mut files) = Files::new(source) else {
        diagnostics.push(Diagnostic::error(Span::default(), "the text is too large"));
        return (None, diagnostics);
    };
    let tokens = preprocess::preprocess(&mut files, constants, include, &mut diagnostics);
    if diagnostics.has_errors() {
        return (None, files.settle(diagnostics));
    }
    let tree = parser::parse(tokens, &mut diagnostics);
    if diagnostics.has_errors() {
        return (None, files.settle(diagnostics));
    }
    let model = resolve::resolve(&tree, &files, source.name(), &mut diagnostics);
    if !diagnostics.has_errors() && model.active.is_empty() {
        diagnostics.push(Diagnostic::error(Span::default(), "no process runs: there is neither `init` nor an `active` process type"));
    }
    let sound = !diagnostics.has_errors();
    (sound.then_some(model), files.settle(diagnostics))
}
