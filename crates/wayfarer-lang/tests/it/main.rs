//! The one integration-test binary of this crate; each module is a suite.

mod mcrl2;
mod mcrl2_together;
mod murphi_corpus;
mod murphi_elaborate;
mod murphi_models;
mod murphi_mutations;
mod murphi_numbers;
mod murphi_orbits;
mod murphi_symmetry;
mod pnml;
mod promela_corpus;
mod promela_explore;
mod promela_language;
mod promela_models;
mod promela_spin;
