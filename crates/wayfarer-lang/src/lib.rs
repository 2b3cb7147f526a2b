//! Reads the modelling languages that Wayfarer understands. Each language has a room of its own; all of them report through
//! [`source`] and [`diagnostics`].

pub mod aut;
pub mod diagnostics;
pub mod mcrl2;
pub mod murphi;
pub mod pnml;
pub mod source;
