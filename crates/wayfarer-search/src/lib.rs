//! Explores a [`Space`](wayfarer_space::Space): the one loop, the stores that remember states, the strategies that decide where to look, and what
//! comes of it. This crate sees words; it knows no language, no file, no terminal and no clock.
//!
//! - [`Job`] is what is to be done: one way in, one [`Outcome`] out; [`Settings`] and [`Control`] say how far it may go
//! - [`Store`] remembers states: [`ExactStore`]
//! - [`Strategy`] selects and admits: [`Bfs`], [`Dfs`]
//! - [`Outcome`] is what the loop returns, and [`Witness`] the way to a violation
//! - [`Audit`] draws walks that say how much was not seen

mod account;
mod arena;
mod audit;
mod auto;
mod bitstate;
mod cache;
mod choice;
mod compact;
mod control;
mod crew;
mod difference;
mod drawing;
mod exact;
mod explore;
mod figures;
mod frontier;
mod index;
mod job;
mod lines;
mod nothing;
mod outcome;
mod pool;
mod recent;
mod record;
mod records;
mod renewal;
mod sampling;
mod shorten;
mod slab;
mod spec;
mod store;
mod strategies;
mod strategy;
mod tree;
mod witness;

pub use account::{Account, Unlimited};
pub use audit::{Audit, CHANGE, Mass, Representative, Sampler, Tally};
pub use auto::{Auto, Phase};
pub use bitstate::{BitstateStore, Filling};
pub use cache::{CacheStore, Replacement};
pub(crate) use choice::StoreRow;
pub use choice::{Abilities, Room, StoreSpec};
pub use compact::{CompactStore, Precision};
pub use control::{Control, Progress, Unbounded};
pub use difference::{Delta, DifferenceStore};
pub use exact::ExactStore;
pub use explore::{Aim, Away, Deadlock, Device, Finding, Lost, Settings, Sought, Standing, explore_on_device};
pub use figures::Figures;
pub use job::{Job, Make, Part};
pub use nothing::NoStore;
pub use outcome::{Cause, Outcome, Rank, Stop, Verdict, Violation};
pub use pool::PoolStore;
pub use record::{Estimate, Record};
pub use shorten::shortened;
pub use spec::{Parameter, SpecError};
pub use store::{Candidates, Fidelity, Handle, Hint, Seat, Store, Visit};
pub use strategies::{Bfs, Crewing, Dfs, Highway, Nature, Need, Rbfs, Rules, Sdrs, Site, StrategySpec, Urs, Walk};
pub use strategy::{Admission, Details, Ground, Limits, Meeting, Selection, Stepping, Strategy, VisitFigures};
pub use tree::TreeStore;
pub use witness::{Ending, Witness, WitnessError};
