//! Explores a [`Space`](wayfarer_space::Space): the one loop, the stores that remember states, the strategies that decide where to look, and what
//! comes of it. This crate sees words; it knows no language, no file, no terminal and no clock.
//!
//! - [`explore`] is the loop; [`Settings`] and [`Control`] say how far it may go
//! - [`Store`] remembers states: [`ExactStore`]
//! - [`Strategy`] selects and admits: [`Bfs`], [`Dfs`]
//! - [`Outcome`] is what the loop returns, and [`Witness`] the way to a violation

mod account;
mod arena;
mod bfs;
mod bitstate;
mod cache;
mod choice;
mod compact;
mod control;
mod dfs;
mod difference;
mod exact;
mod explore;
mod index;
mod lines;
mod outcome;
mod queue;
mod records;
mod store;
mod strategy;
mod tree;
mod waypoints;
mod witness;

pub use account::{Account, Unlimited};
pub use bfs::{Bfs, QueuedBfs};
pub use bitstate::{BitstateStore, Filling};
pub use cache::{CacheStore, Replacement};
pub use choice::{Delta, SpecError, StoreSpec};
pub use compact::{CompactStore, Precision};
pub use control::{Control, Progress, Unbounded};
pub use dfs::Dfs;
pub use difference::{DifferenceStore, FireAgain};
pub use exact::ExactStore;
pub use explore::{Deadlock, Settings, explore};
pub use outcome::{Cause, Outcome, Stop, Verdict, Violation};
pub use store::{Candidates, Fidelity, Handle, Hint, Seat, Store, Visit};
pub use strategy::{Admission, Limits, Selection, Strategy};
pub use tree::TreeStore;
pub use witness::{Ending, Witness, WitnessError};
