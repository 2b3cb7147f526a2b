//! The plain store: every state in an ordered map of the standard library. It has no packing, no hashing and no memory
//! layout of its own, so it shares no code with the other stores and is a reference to check them against.

use crate::rows::{WHOLE, any, as_given, little};
use crate::spec::Entry;
use crate::{Abilities, Account, Candidates, Fidelity, Forget, Handle, Recall, Remember, Seat, StoreRow, Visit};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wayfarer_space::{States, Word};

/// The row of `plain`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry { name: "plain", help: "every state in an ordinary map: slow and simple, to check the other stores against", parameters: &[] },
    abilities: Abilities { shared: false, ..WHOLE },
    agree: any,
    least: little,
    settle: as_given,
    takes: |_, room| (room.most, "at most: grows state by state, and is the frontier as well".to_string()),
    build: |_, room| Some(Box::new(PlainStore::new(room.account, room.most))),
};

/// The bytes of a state besides its words: its counts and handle, its share of a map's node, and its link, some of
/// which grow by doubling.
const EACH: usize = 112;

/// Keeps every state whole, in an ordered map.
pub(crate) struct PlainStore<'a> {
    account: &'a dyn Account,
    most: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    handles: BTreeMap<Arc<[Word]>, u32>,
    /// States with their parents, by handle.
    states: Vec<(Arc<[Word]>, Option<Handle>)>,
    bytes: usize,
    /// Whether a state was refused. From then on all new ones are.
    full: bool,
}

impl<'a> PlainStore<'a> {
    /// An empty store that asks `account` before it grows and holds at most about `most` bytes.
    pub(crate) fn new(account: &'a dyn Account, most: usize) -> Self {
        PlainStore { account, most, inside: Mutex::default() }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// The handle of a new state; none if there is no room for it.
    fn add(&mut self, state: &[Word], parent: Option<Handle>, account: &dyn Account, most: usize) -> Option<Handle> {
        let more = size_of_val(state) + EACH;
        let handle = u32::try_from(self.states.len()).ok().filter(|handle| *handle < u32::MAX)?;
        if self.full || self.bytes + more > most || !account.allows(more) {
            self.full = true;
            return None;
        }
        let state: Arc<[Word]> = state.into();
        self.handles.insert(state.clone(), handle);
        self.states.push((state, parent));
        self.bytes += more;
        Some(Handle(handle))
    }
}

impl Remember for PlainStore<'_> {
    fn seat(&self) -> Option<Seat> {
        Some(Seat::new(()))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        let inside = self.inside();
        let visit = |state: &[Word]| inside.handles.get(state).map_or(Visit::New(Handle(u32::MAX)), |handle| Visit::Seen(Handle(*handle)));
        visits.clear();
        visits.extend(candidates.steps.states.iter().map(visit));
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        let mut inside = self.inside();
        visits.clear();
        for (index, state) in candidates.steps.states.iter().enumerate() {
            let visit = if mask.is_some_and(|mask| !mask[index]) {
                Visit::Skipped
            } else if let Some(handle) = inside.handles.get(state) {
                Visit::Seen(Handle(*handle))
            } else if room == 0 {
                Visit::Full
            } else {
                let added = inside.add(state, candidates.parent(index), self.account, self.most);
                room = if added.is_some() { room - 1 } else { 0 };
                added.map_or(Visit::Full, Visit::New)
            };
            visits.push(visit);
        }
    }

    fn len(&self) -> u64 {
        self.inside().states.len() as u64
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        self.inside().bytes
    }
}

impl Recall for PlainStore<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        let inside = self.inside();
        let found = inside.states.get(at.0 as usize);
        if let Some((state, _)) = found {
            out.push(state);
        }
        found.is_some()
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        self.inside().states.get(at.0 as usize).and_then(|(_, parent)| *parent)
    }
}

impl Forget for PlainStore<'_> {}
