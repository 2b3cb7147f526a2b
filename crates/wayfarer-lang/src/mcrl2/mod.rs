//! mCRL2: processes with data.
//!
//! [`parse`] turns text into the tree of [`ast`].

pub mod ast;
mod lexer;
mod parser;

pub use parser::parse;
