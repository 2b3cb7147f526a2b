//! Explores a [`Space`](wayfarer_space::Space): the one loop, the strategies, and the outcome. This crate sees words;
//! it knows no language, no file, no terminal and no clock.
//!
//! - [`Job`] is a search to be carried out and gives one [`Outcome`]; [`Settings`] and [`Control`] say how far it may go
//! - [`Store`] remembers states: [`ExactStore`]
//! - [`Strategy`] selects and admits: [`Bfs`], [`Dfs`]
//! - [`Outcome`] is the loop's result, and [`Witness`] the way to a violation
//! - [`Audit`] draws walks that estimate how much was not visited

mod audit;
mod auto;
mod control;
mod crew;
mod explore;
mod frontier;
mod job;
mod outcome;
mod record;
mod settings;
mod strategies;
mod strategy;
mod witness;

pub use audit::{Audit, CHANGE, Mass, Representative, Sampler, Tally};
pub use auto::{Auto, Phase};
pub use control::{Control, Progress, Unbounded};
pub use explore::{Away, Device, Finding, Lost, Standing, explore_on_device};
pub use job::{Job, Make, Part};
pub use outcome::{Cause, Outcome, Rank, Stop, Verdict, Violation};
pub use record::{Estimate, Record};
pub use settings::{Aim, Deadlock, Settings, Sought};

pub use strategies::{Bfs, Crewing, Dfs, Highway, Nature, Need, OnDevice, Rbfs, Rules, Sdrs, Site, StrategySpec, Urs, Walk};
pub use strategy::{Admission, Details, Ground, Limits, Meeting, Position, Selection, Stepping, Strategy, VisitFigures};
pub use wayfarer_store::{
    Abilities, Account, BitstateStore, CacheStore, Candidates, CompactStore, Delta, DeviceKeeps, DifferenceStore, ExactStore, Fidelity, Figures,
    Filling, Forget, Handle, Hint, NoStore, Parameter, PoolStore, Precision, Recall, Remember, Replacement, Room, Seat, SpecError, Store, StoreSpec,
    TreeStore, Unlimited, Visit,
};
pub use witness::{Dependence, Ending, Forms, Shortened, Shortening, Touched, Witness, WitnessError};
