//! Wayfarer explores the state space of a concurrent system within a budget of memory and time, and reports how
//! reliable its answer is.
//!
//! A [`Model`] defines the start states of a system, its actions, and its properties. A [`Plan`] defines the search
//! and its limits; running it gives a [`Report`]. Here a farmer takes a wolf, a goat and a cabbage across a river,
//! one at a time, and must not leave the goat alone with either of the others. The model claims that they never all
//! get across; the violation is a shortest solution of the puzzle.
//!
//! ```
//! use wayfarer::prelude::*;
//!
//! struct River;
//!
//! const FARMER: usize = 0;
//! const WOLF: usize = 1;
//! const GOAT: usize = 2;
//! const CABBAGE: usize = 3;
//!
//! #[derive(Debug)]
//! enum Action { Alone, With(usize) }
//!
//! impl Model for River {
//!     /// Who is on the far bank.
//!     type State = [bool; 4];
//!     type Action = Action;
//!
//!     fn initial(&self) -> Vec<[bool; 4]> {
//!         vec![[false; 4]]
//!     }
//!
//!     fn actions(&self, far: &[bool; 4], actions: &mut Vec<Action>) {
//!         actions.push(Action::Alone);
//!         actions.extend([WOLF, GOAT, CABBAGE].into_iter().filter(|who| far[*who] == far[FARMER]).map(Action::With));
//!     }
//!
//!     fn next(&self, far: &[bool; 4], action: &Action) -> Option<[bool; 4]> {
//!         let mut next = *far;
//!         next[FARMER] = !far[FARMER];
//!         if let Action::With(who) = *action {
//!             next[who] = !far[who];
//!         }
//!         let alone = next[GOAT] != next[FARMER];
//!         (!alone || next[WOLF] != next[GOAT] && next[CABBAGE] != next[GOAT]).then_some(next)
//!     }
//!
//!     fn properties(&self, properties: &mut Properties<Self>) {
//!         properties.never("all are across", |_, far| *far == [true; 4]);
//!     }
//! }
//!
//! let report = Plan::packed(River).memory("64M").time("10s").run()?;
//! println!("{report}");
//! report.assert_violated("all are across");
//! assert_eq!(report.witness().map(|witness| witness.length), Some(7));
//! # Ok::<(), RunError>(())
//! ```
//!
//! - [`Plan::new`] and its relatives give a [`Planned`], to which options are added: those of the command line, with the same names
//! - [`Report`] is plain data that can be shown, serialised and asserted on, and written as JUnit XML and SARIF for continuous integration
//! - [`Subject`] is the interface of anything that can be checked: a Rust model, an explicit graph, a Murphi program, or something of your own
//! - [`memory`] counts the memory of a run
//!
//! `examples/` has larger models, and the repository's `docs/` a short book.
//!
//! # Features
//!
//! - `murphi`: models in Murphi and graphs in Aldebaran files, through `Plan::from_file`
//! - `jit`: the same compiled to machine code, at the cost of building Cranelift
//! - `gpu`: the same on a GPU, if one is there when it runs

// The report is one large `json!`.
#![recursion_limit = "256"]

mod allotment;
mod assert;
mod auditing;
#[cfg(feature = "gpu")]
mod device;
mod error;
#[cfg(feature = "murphi")]
pub mod languages;
pub mod machine;
pub mod memory;
mod place;
mod plan;
mod report;
mod run;
pub mod sizes;
mod stores;
pub mod subject;
mod watch;
mod writer;

pub use allotment::Allotment;
pub use error::RunError;
#[cfg(feature = "murphi")]
pub use languages::{
    LANGUAGES, Language, LoadError, LoadOptions, Loaded, Opened, Rejection, io_words, load, load_graph, load_text, open, open_formulas, open_text,
};
pub use plan::{Amount, DeviceChoice, OPTIONS, Plan, PlanOption, Planned, options};
pub use report::{
    Answer, Change, CheckReport, CheckVerdict, Confidence, CoverTime, Discovery, ERROR as AUDIT_ERROR, FORMATS, Finding, Format, Interval, Kind,
    Outlet, RARE, Repeated, Report, RuleReport, SamplerReport, StepReport, Times, ViolationReport, WitnessReport, itf, junit_failure, repeated,
    sarif_failure, stop_words,
};
pub use subject::symmetry::SymmetryChoice;
pub use subject::{Explicit, Modelled, Subject};
#[cfg(feature = "murphi")]
pub use subject::{Programmed, space_of};
#[cfg(feature = "gpu")]
pub use wayfarer_gpu::{compile_apart, serve_compiler};
#[cfg(feature = "murphi")]
pub use wayfarer_ir as ir;
#[cfg(feature = "murphi")]
pub use wayfarer_lang as lang;
pub use wayfarer_model as model;
pub use wayfarer_model::{Model, Packed, Properties, Representative};
pub use wayfarer_search as search;
pub use wayfarer_search::{Stop, StoreSpec, StrategySpec, Verdict};
pub use wayfarer_space as space;
pub use wayfarer_theory as theory;

/// The items that a model and its check need.
pub mod prelude {
    pub use crate::{Model, Packed, Plan, Planned, Properties, Report, Representative, RunError};
}

/// The pages in `docs/`, whose code snippets are tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/first-model.md")]
    mod first_model {}
    #[doc = include_str!("../../../docs/strategies.md")]
    mod strategies {}
    #[doc = include_str!("../../../docs/report.md")]
    mod report {}
    #[cfg(feature = "murphi")]
    #[doc = include_str!("../../../docs/from-murphi.md")]
    mod from_murphi {}
    #[doc = include_str!("../../../docs/ci.md")]
    mod ci {}
}
