//! The store of an arm, which notes a sample of the states that are new to it. They tell how much the arm finds that the phase does not know.

use crate::{Candidates, Fidelity, Forget, Handle, Recall, Remember, Seat, Store, Visit};
use std::sync::{Mutex, PoisonError};
use wayfarer_space::{Firing, States, Steps, Width, Word};

/// Of the states that an arm visits, one in `LOOKED_UP` is looked up in the store of the phase.
const LOOKED_UP: u64 = 16;

/// An arm's store. It notes a sample of its new states, which are then looked up in the store of the phase.
pub(super) struct Noting<'r> {
    inner: &'r dyn Store,
    met: Mutex<States>,
}

impl<'r> Noting<'r> {
    /// The same store, which notes from now on.
    pub(super) fn new(inner: &'r dyn Store, width: Width) -> Self {
        Noting { inner, met: Mutex::new(States::new(width)) }
    }

    fn note(&self, steps: &Steps, visits: &[Visit]) {
        let noted = |index: &usize| matches!(visits[*index], Visit::New(_)) && steps.hashes[*index].second().is_multiple_of(LOOKED_UP);
        let mut met = None;
        for index in (0..visits.len()).filter(noted) {
            let met = met.get_or_insert_with(|| self.met.lock().unwrap_or_else(PoisonError::into_inner));
            met.push(steps.states.get(index));
        }
    }

    /// About how many of the states that it met are unknown to a store.
    pub(super) fn unknown_to(self, main: &dyn Store, seat: &mut Seat) -> u64 {
        let met = self.met.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut steps = Steps::new(met.width());
        met.iter().for_each(|state| steps.push(0, Firing::of(0), state, state));
        let mut answers = Vec::new();
        main.probe(seat, Candidates { steps: &steps, sources: &[] }, &mut answers);
        LOOKED_UP * answers.iter().filter(|answer| matches!(answer, Visit::New(_))).count() as u64
    }
}

impl Remember for Noting<'_> {
    fn seat(&self) -> Option<Seat> {
        self.inner.seat()
    }

    fn leave(&self, seat: Seat) {
        self.inner.leave(seat);
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        self.inner.probe(seat, candidates, visits);
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, room: u64, visits: &mut Vec<Visit>) {
        self.inner.insert(seat, candidates, mask, room, visits);
        self.note(candidates.steps, visits);
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn fidelity(&self) -> Fidelity {
        self.inner.fidelity()
    }

    fn so_far(&self) -> Fidelity {
        self.inner.so_far()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }
}

impl Recall for Noting<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.inner.state(at, out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        self.inner.states(handles, out)
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        self.inner.parent(at)
    }

    fn nth(&self, n: u64) -> Handle {
        self.inner.nth(n)
    }
}

impl Forget for Noting<'_> {
    fn holds(&self, at: Handle, state: &[Word]) -> bool {
        self.inner.holds(at, state)
    }

    fn forget(&self, at: Handle) -> bool {
        self.inner.forget(at)
    }

    fn clear(&self) -> bool {
        self.inner.clear()
    }
}
