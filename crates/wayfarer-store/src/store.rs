//! The interface between a store and the exploration loop.

use crate::Figures;
use std::any::Any;
use wayfarer_space::{States, Steps, Word};

/// A stored state. With one worker, stores that can give states back number them from 0 in the order of their insertion.
///
/// A handle has 32 bits, so a store that gives states back holds fewer than 2^32 states. Then it is full, as it is when memory is spent, and `auto` goes on over
/// fingerprints, which need no handles. The exact store comes to that after about 100 GiB (130 million states of `german_bug.m` take 3.1 GiB, 25 bytes each),
/// a tree, at 3 to 10 bytes a state, after 12 to 40 GiB. Wider handles would cost every smaller run: 4 bytes more for a link and 4 for an index slot, a third
/// of the exact store's memory and more than a tree takes in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// A store's answer about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Not known before. The handle is valid if the state was inserted.
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

/// The part of a visit to prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The place at which a state would be found.
    Place,
    /// The same, and all of these states will be inserted before others that are announced later. Callers never ask for the handles of known states.
    Coming,
    /// The state at that place.
    State,
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
    /// The source of the candidate at `index`.
    pub fn parent(&self, index: usize) -> Option<Handle> {
        self.sources.get(self.steps.sources[index] as usize).copied()
    }
}

/// A worker's place at a store: what it keeps between batches so that workers share nothing they need not share. Each worker has its own.
pub struct Seat(Box<dyn Any + Send>);

impl Seat {
    /// A seat that holds what its store needs.
    pub fn new(own: impl Any + Send) -> Self {
        Seat(Box::new(own))
    }

    /// The store's own data in this seat; none if the seat belongs to another store.
    pub fn of<T: Any>(&mut self) -> Option<&mut T> {
        self.0.downcast_mut()
    }

    /// Takes the store's own data out of this seat; none if the seat belongs to another store.
    pub fn into<T: Any>(self) -> Option<T> {
        self.0.downcast().ok().map(|own| *own)
    }
}

/// Everything a search may ask of a store: [`Remember`] for all of them, [`Recall`] and [`Forget`] for those that can. The [abilities](crate::Abilities) in a
/// store's row say what it can.
pub trait Store: Remember + Recall + Forget {}

impl<S: Remember + Recall + Forget> Store for S {}

/// Remembers states, for several workers at once. Nothing blocks a visit.
pub trait Remember: Send + Sync {
    /// A place for one more worker; none if the store has no more.
    fn seat(&self) -> Option<Seat>;

    /// A place for a worker that is the only one to insert as long as it sits there, which may be faster. Others may probe.
    fn sole_seat(&self) -> Option<Seat> {
        self.seat()
    }

    /// A worker leaves its place for good: what it was given and did not use may go to the next.
    fn leave(&self, seat: Seat) {
        let _ = seat;
    }

    /// Says that these states will be visited soon, so that memory can be fetched while other work goes on. Called twice for a batch, with some time
    /// between: first as [`Hint::Place`] or [`Hint::Coming`], then as [`Hint::State`].
    fn hint(&self, seat: &mut Seat, steps: &Steps, hint: Hint) {
        let _ = (seat, steps, hint);
    }

    /// Says of each candidate whether it is new, and inserts nothing. A new one's handle means nothing.
    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>);

    /// Inserts the candidates whose entry in `mask` is true (all if there is no mask) and that are new, at most `room` of them. After the first
    /// [`Visit::Full`] every other new one is full too.
    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, room: u64, visits: &mut Vec<Visit>);

    /// How many states it holds.
    fn len(&self) -> u64;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How well it remembers.
    fn fidelity(&self) -> Fidelity;

    /// How well it has remembered until now: a store that forgets when it is full has forgotten nothing before.
    fn so_far(&self) -> Fidelity {
        self.fidelity()
    }

    /// The bytes it holds.
    fn bytes(&self) -> usize;

    /// Figures of the store's own, for the report.
    fn figures(&self) -> Figures {
        Figures::default()
    }
}

/// Gives states back by their handles. A store that cannot has nothing to add.
pub trait Recall {
    /// Appends the state behind a handle; false if the store cannot give states back.
    fn state(&self, at: Handle, out: &mut States) -> bool {
        let _ = (at, out);
        false
    }

    /// Appends the states behind several handles.
    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        handles.iter().all(|handle| self.state(*handle, out))
    }

    /// The state from which a state was first reached; none for start states.
    fn parent(&self, at: Handle) -> Option<Handle> {
        let _ = at;
        None
    }

    /// The handle of the n-th of the states it holds, n below [`len`](Remember::len): with one worker, every state is one of them.
    fn nth(&self, n: u64) -> Handle {
        Handle(n as u32)
    }
}

/// Forgets states when it is asked to. A store that does not has nothing to add.
pub trait Forget {
    /// Whether this state, for which the handle was given out, is still behind it.
    fn holds(&self, at: Handle, state: &[Word]) -> bool {
        let _ = (at, state);
        true
    }

    /// Forgets one state; false if the store cannot.
    fn forget(&self, at: Handle) -> bool {
        let _ = at;
        false
    }

    /// Forgets all states; false if the store cannot. No other worker may be at the store.
    fn clear(&self) -> bool {
        false
    }
}
