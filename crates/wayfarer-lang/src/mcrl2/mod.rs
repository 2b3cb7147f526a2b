//! mCRL2: processes with data.
//!
//! [`parse`] turns text into the tree of [`ast`] and a list of all that is wrong with it, without looking at names and sorts; [`load`] also gives names and
//! expressions their meaning, in the typed core of `wayfarer-algebra`.

pub mod ast;
mod lexer;
mod parser;
mod typing;

pub use parser::parse;

use crate::diagnostics::Diagnostics;
use crate::source::Source;
use wayfarer_algebra::Specification;

/// Reads a specification and gives everything in it its meaning. There is a typed specification exactly if the diagnostics have no errors.
pub fn load(source: &Source) -> (Option<Specification>, Diagnostics) {
    let (tree, mut diagnostics) = parse(source);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let (specification, more) = typing::elaborate(&tree);
    diagnostics.extend(more);
    (specification, diagnostics)
}
