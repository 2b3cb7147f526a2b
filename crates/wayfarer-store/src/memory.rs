//! How stores take memory: chunks of pages and blocks cut out of them, atomic cache lines, records and slabs of states,
//! and a table of recently found states.

pub(crate) mod arena;
pub(crate) mod lines;
pub(crate) mod own_line;
pub(crate) mod recent;
pub(crate) mod records;
pub(crate) mod slab;
pub(crate) mod sweep;

pub use arena::give_back;
pub use own_line::OwnLine;
pub use slab::Slab;
