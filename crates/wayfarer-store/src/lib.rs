//! Remembers states: the store traits, the stores, and how one is chosen by name. This crate knows nothing of searches.
//!
//! - [`Store`] is the interface to a search, [`StoreSpec`] a user's choice of a store, [`Abilities`] a list of its capabilities
//! - [`ExactStore`], [`TreeStore`] and [`DifferenceStore`] remember every state
//! - [`CompactStore`] and [`BitstateStore`] remember fingerprints, [`CacheStore`] and [`PoolStore`] some states, [`NoStore`] none
//! - [`Account`] says whether there is memory left, [`Figures`] are the figures that a part of a run reports about itself

mod account;
mod bitstate;
mod cache;
mod compact;
mod difference;
mod exact;
mod figures;
mod index;
mod memory;
mod nothing;
mod plain;
mod pool;
mod rows;
pub mod spec;
mod store;
mod tree;

pub use account::{Account, Unlimited};
pub use bitstate::{BitstateStore, Filling};
pub use cache::{CacheStore, Replacement};
pub use compact::{CompactStore, Precision};
pub use difference::{Delta, DifferenceStore};
pub use exact::{Closed, ExactStore, varying};
pub use figures::Figures;
pub use memory::{OwnLine, Slab, give_back};
pub use nothing::NoStore;
pub use pool::PoolStore;
pub(crate) use rows::StoreRow;
pub use rows::{Abilities, DeviceKeeps, Room, StoreSpec};
pub use spec::{Parameter, SpecError};
pub use store::{Candidates, Fidelity, Forget, Handle, Hint, Recall, Remember, Seat, Store, Visit};
pub use tree::TreeStore;
