//! The laboratory: every experiment of the papers that Wayfarer implements, rerun, with the paper's own
//! figures beside ours, and the same comparisons for any model.
//!
//! - [`experiments`] is the table of experiments; [`Experiment::run`] runs one at a [`Desk`]
//! - [`Findings`] is its result: tables, plots and a judgement of each claim, as plain data
//! - [`Findings::text`], serde and [`page`] render it for the terminal, for scripts and for a browser
//! - [`Shelf`] saves finished experiments
//! - [`compare`] compares strategies on any model

mod compare;
mod corpus;
mod desk;
mod experiment;
mod experiments;
mod figures;
mod findings;
mod index;
mod judging;
mod models;
pub mod nets;
mod page;
mod plot;
mod searches;
mod shapes;
mod shelf;
pub mod text;

pub use compare::{Comparison, compare};
pub use corpus::Corpus;
pub use desk::{Desk, LabError, Permits, Unwatched, Watch};
pub use experiment::{Experiment, Settings, experiments};
pub use figures::{grouped, plain};
pub use findings::{Cases, Cell, Claim, Column, Findings, Form, Judgement, Reason, Table};
pub use index::summary;
pub use page::page;
pub use plot::{Line, Plot};
pub use shelf::Shelf;
