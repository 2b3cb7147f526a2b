//! Explores a [`Space`](wayfarer_space::Space): the one loop, the stores that remember states, the strategies that decide where to look, and what
//! comes of it. This crate sees words; it knows no language, no file, no terminal and no clock.
//!
//! - [`Job`] is what is to be done: one way in, one [`Outcome`] out; [`Settings`] and [`Control`] say how far it may go
//! - [`Store`] remembers states: [`ExactStore`]
//! - [`Strategy`] selects and admits: [`Bfs`], [`Dfs`]
//! - [`Outcome`] is what the loop returns, and [`Witness`] the way to a violation
//! - [`Audit`] draws walks that say how much was not seen

mod audit;
mod auto;
mod control;
mod crew;
mod explore;
mod frontier;
mod job;
mod outcome;
mod record;
mod strategies;
mod strategy;
mod witness;

pub use audit::{Audit, CHANGE, Mass, Representative, Sampler, Tally};
pub use auto::{Auto, Phase};
pub use control::{Control, Progress, Unbounded};
pub use explore::{Aim, Away, Deadlock, Device, Finding, Lost, Settings, Sought, Standing, explore_on_device};
pub use job::{Job, Make, Part};
pub use outcome::{Cause, Outcome, Rank, Stop, Verdict, Violation};
pub use record::{Estimate, Record};

pub use strategies::{Bfs, Crewing, Dfs, Highway, Nature, Need, OnDevice, Rbfs, Rules, Sdrs, Site, StrategySpec, Urs, Walk};
pub use strategy::{Admission, Details, Ground, Limits, Meeting, Position, Selection, Stepping, Strategy, VisitFigures};
pub use wayfarer_store::{
    Abilities, Account, BitstateStore, CacheStore, Candidates, CompactStore, Delta, DeviceKeeps, DifferenceStore, ExactStore, Fidelity, Figures,
    Filling, Forget, Handle, Hint, NoStore, Parameter, PoolStore, Precision, Recall, Remember, Replacement, Room, Seat, SpecError, Store, StoreSpec,
    TreeStore, Unlimited, Visit,
};
pub use witness::{Ending, Witness, WitnessError, shortened};
