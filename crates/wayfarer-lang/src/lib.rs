//! Reads the modelling languages that Wayfarer supports. Each language has its own module; all of them report through
//! [`source`] and [`diagnostics`].

pub mod aut;
pub mod diagnostics;
pub mod mcrl2;
pub mod murphi;
pub mod pnml;
pub mod promela;
pub mod source;
