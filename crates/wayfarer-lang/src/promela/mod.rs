//! Promela, as SPIN 6.5 reads it.
//!
//! [`read`] turns text into a resolved [`Model`]: macros are expanded, names are resolved and every process type has its automaton.

pub mod ast;
mod bounds;
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
mod scratch;
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
    let Reading { model, diagnostics, .. } = read_finding(source, None, constants, include);
    (model, diagnostics)
}

/// A model that was read, and what there is to say about it.
pub struct Reading {
    /// The model, where nothing is wrong.
    pub model: Option<Model>,
    /// Findings about its text.
    pub diagnostics: Diagnostics,
    /// Findings about the condition that is looked for.
    pub condition: Diagnostics,
}

/// Reads a model as [`read`] does, and a condition on its states: an expression of Promela over global variables, `P[1]@label` and `P[1]:variable`.
pub fn read_finding(source: &Source, find: Option<&str>, constants: &[(String, String)], include: Include) -> Reading {
    let mut diagnostics = Diagnostics::new();
    let Some(mut files) = Files::new(source) else {
        diagnostics.push(Diagnostic::error(Span::default(), "the text is too large"));
        return Reading { model: None, diagnostics, condition: Diagnostics::new() };
    };
    let tokens = preprocess::preprocess(&mut files, constants, include, &mut diagnostics);
    if diagnostics.has_errors() {
        return Reading { model: None, diagnostics: files.settle(diagnostics), condition: Diagnostics::new() };
    }
    let tree = parser::parse(tokens, &mut diagnostics);
    if diagnostics.has_errors() {
        return Reading { model: None, diagnostics: files.settle(diagnostics), condition: Diagnostics::new() };
    }
    let mut condition = Diagnostics::new();
    let mut wanted = None;
    if let Some(find) = find {
        let types: Vec<&str> = tree
            .units
            .iter()
            .filter_map(|unit| match unit {
                ast::Unit::Proctype(proctype) => Some(&*proctype.name.text),
                _ => None,
            })
            .collect();
        let tokens = lexer::tokens(find, 0);
        wanted = parser::parse_expression(tokens, &types, &mut condition).map(|expr| (expr, find));
    }
    let wanted = wanted.as_ref().map(|(expr, text)| (expr, *text));
    let (model, more) = resolve::resolve_finding(&tree, &files, source.name(), wanted, &mut diagnostics);
    condition.extend(more);
    if !diagnostics.has_errors() && model.active.is_empty() {
        diagnostics.push(Diagnostic::error(Span::default(), "no process runs: there is neither `init` nor an `active` process type"));
    }
    let sound = !diagnostics.has_errors() && !condition.has_errors();
    Reading { model: sound.then_some(model), diagnostics: files.settle(diagnostics), condition }
}

/// A number of things, in words.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
