//! Murphi, as CMurphi 5.4.9 and rumur read it.
//!
//! [`parse`] turns text into the tree of [`ast`] and a list of all syntax errors, without looking at names and types;
//! [`elaborate`](fn@elaborate) resolves and checks these and returns a program; [`load`] does both.

pub mod ast;
mod elaborate;
mod finding;
mod lexer;
mod parser;
mod token;

pub use elaborate::{ConstantValue, Options, Undefined, elaborate};
pub use finding::{Read, load_finding};
pub use parser::parse;

use crate::diagnostics::Diagnostics;
use crate::source::Source;
use wayfarer_ir::Program;

/// Parses and elaborates a model. There is a program exactly if the diagnostics have no errors, and then it has been
/// verified.
///
/// ```
/// use wayfarer_lang::{murphi, source::Source};
/// let source = Source::new("flip.m", "var x: boolean; startstate x := true; end; rule x := !x; end;");
/// let (program, diagnostics) = murphi::load(&source, &murphi::Options::default());
/// assert!(diagnostics.is_empty());
/// assert_eq!(program.unwrap().rules.len(), 1);
/// ```
pub fn load(source: &Source, options: &Options) -> (Option<Program>, Diagnostics) {
    let (model, mut diagnostics) = parse(source);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let (program, more) = elaborate(source, &model, options);
    diagnostics.extend(more);
    (program, diagnostics)
}
