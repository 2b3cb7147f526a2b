//! Wayfarer explores the state space of a concurrent system within a budget of memory and time, and says what its answer is worth.
//!
//! - [`load`] reads a model and gives a [`wayfarer_ir::Program`], or the diagnostics that say why not
//! - [`Plan`] holds everything chosen for a run, and [`Plan::check`] carries it out
//! - [`Report`] is what came of it: plain data that can be shown, serialised and asserted on
//! - [`memory`] counts what a run takes

mod allotment;
mod amount;
mod assert;
mod auditing;
mod checks;
mod confidence;
mod discovery;
mod error;
mod explicit;
pub mod itf;
mod junit;
mod load;
pub mod machine;
pub mod memory;
mod modelled;
mod outlet;
mod place;
mod plan;
mod planned;
mod program;
pub mod repeated;
mod report;
mod run;
mod running;
mod sarif;
pub mod sizes;
mod stores;
mod story;
pub mod subject;
mod symmetry;
mod watch;
mod writer;

pub use allotment::Allotment;
pub use amount::Amount;
pub use checks::CheckReport;
pub use confidence::{Confidence, ERROR as AUDIT_ERROR, RARE, SamplerReport};
pub use discovery::Discovery;
pub use error::RunError;
pub use explicit::Explicit;
pub use junit::junit_failure;
pub use load::{Finding, LoadError, LoadOptions, Loaded, Opened, Rejection, load, load_graph, load_text, open};
pub use modelled::Modelled;
pub use outlet::Outlet;
pub use plan::Plan;
pub use planned::Planned;
pub use repeated::{Interval, Repeated};
pub use report::{Change, CoverTime, Report, RuleReport, StepReport, ViolationReport, WitnessReport};
pub use running::space_of;
pub use sarif::sarif_failure;
pub use story::stop_words;
pub use subject::Subject;
pub use symmetry::SymmetryChoice;
pub use wayfarer_ir as ir;
pub use wayfarer_lang as lang;
pub use wayfarer_model as model;
pub use wayfarer_model::{Model, Packed, Properties, Representative};
pub use wayfarer_search as search;
pub use wayfarer_search::{StoreSpec, StrategySpec};
pub use wayfarer_space as space;
pub use wayfarer_theory as theory;

/// What a model and its check need.
pub mod prelude {
    pub use crate::{Model, Packed, Plan, Planned, Properties, Report, Representative, RunError};
}

/// The pages in `docs/`, whose snippets are tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/first-model.md")]
    mod first_model {}
    #[doc = include_str!("../../../docs/strategies.md")]
    mod strategies {}
    #[doc = include_str!("../../../docs/report.md")]
    mod report {}
    #[doc = include_str!("../../../docs/ci.md")]
    mod ci {}
}
