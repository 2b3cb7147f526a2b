//! What a store is to the loop.

use wayfarer_space::{States, Steps};

/// A stored state. Stores that can give states back number them from 0 in the order of their insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// What a store says about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Not known before; where it was inserted, its handle.
    New(Handle),
    /// Known, or taken to be known.
    Seen(Handle),
    /// There is no room for it.
    Full,
    /// It was not asked about.
    Skipped,
}

/// How well a store remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fidelity {
    /// It answers correctly, always.
    Exact,
    /// It may take a new state for a known one; the expected number of such omissions so far.
    Lossy(f64),
    /// It forgets.
    Amnesic,
}

/// States put before a store: the steps, and the handle of each source in the batch.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// The steps; start states are steps out of nowhere.
    pub steps: &'a Steps,
    /// The handles of the batch's sources, indexed by [`Steps::sources`]; empty for start states.
    pub sources: &'a [Handle],
}

impl Candidates<'_> {
    /// Where the candidate at `index` came from.
    pub fn parent(&self, index: usize) -> Option<Handle> {
        self.sources.get(self.steps.sources[index] as usize).copied()
    }
}

/// Remembers states.
pub trait Store {
    /// Says of each candidate whether it is new, and inserts nothing. A new one's handle means nothing.
    fn probe(&self, candidates: Candidates, visits: &mut Vec<Visit>);

    /// Inserts the candidates whose entry in `mask` is true (all where there is no mask) and that are new, at most `room` of them. After the first
    /// [`Visit::Full`] everything else is full too.
    fn insert(&mut self, candidates: Candidates, mask: Option<&[bool]>, room: u64, visits: &mut Vec<Visit>);

    /// Appends the state behind a handle; false where the store cannot give states back.
    fn state(&self, at: Handle, out: &mut States) -> bool;

    /// From where a state was first reached; none for start states.
    fn parent(&self, at: Handle) -> Option<Handle>;

    /// How many states it holds.
    fn len(&self) -> u64;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How well it remembers.
    fn fidelity(&self) -> Fidelity;

    /// The bytes it holds.
    fn bytes(&self) -> usize;
}
