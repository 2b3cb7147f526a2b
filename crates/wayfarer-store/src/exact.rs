//! The exact store: every state in its tight form, with a link to the state from which it was first reached.
//!
//! Records lie in segments that never move, and an [`Index`] finds them by hash. A record is the tight state and four
//! bytes of link. States that vary in width are kept as [`Strings`]. A visit has two cache misses, bucket and record,
//! and both are fetched ahead: hints fetch them while the loop expands other states, and without hints a visit fetches
//! for later states of its batch.

mod ahead;
mod closed;
mod forms;
mod strings;
mod twins;
pub mod varying;

use crate::index::{Found, Index, Means, Seat as IndexSeat, Spot};
use crate::memory::arena::prefetch_line;
use crate::memory::own_line::OwnLine;
use crate::memory::records::Records;

use crate::rows::{WHOLE, any, as_given, by_segments};
use crate::spec::Entry;
use crate::{Abilities, Account, Candidates, DeviceKeeps, Fidelity, Forget, Handle, Hint, Recall, Remember, Seat, StoreRow, Visit};
use ahead::{Ahead, Look, NONE};
pub use closed::Closed;
use forms::{Form, Readable, Tight};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use strings::Strings;
use wayfarer_space::{Hash, Packing, States, Steps};

/// The row of `exact`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry { name: "exact", help: "every state, packed to the bit; the default while memory lasts", parameters: &[] },
    abilities: Abilities { device: DeviceKeeps::State, ..WHOLE },
    agree: any,
    least: |_, most| ExactStore::least(most),
    settle: as_given,
    takes: by_segments,
    build: |_, room| Some(Box::new(ExactStore::new(room.packing.clone(), room.account, room.most)?)),
};

/// The usual size of a segment of records.
const SEGMENT: usize = 2 << 20;
/// States of at least this many words are wide: looking at each of their words is the main cost of a visit, and is avoided.
const WIDE: usize = 9;
/// Candidates whose forms are made together.
const GROUP: usize = 96;
/// How many states ahead of a visit its bucket is asked for; the record is at half of that.
const AHEAD: usize = 32;

/// Remembers every state, and how it was reached.
pub struct ExactStore<'a>(Kept<'a>);

/// The two ways in which states are kept, chosen once.
enum Kept<'a> {
    Tight(Keeper<'a, Tight>),
    Varying(Keeper<'a, Strings>),
}

/// States of one form and what finds them.
struct Keeper<'a, F: Form> {
    form: F,
    index: Index,
    account: &'a dyn Account,
    /// The bytes it may hold at most.
    most: usize,
    len: OwnLine<AtomicU64>,
    /// Buffers of workers that left, for workers that come.
    left: Mutex<Vec<F::Group>>,
}

/// A worker's place at the exact store.
struct ExactSeat<G> {
    index: IndexSeat,
    /// The forms of a group, and the place that the worker writes to.
    group: G,
    /// Candidates that were fetched by hints and not visited yet.
    hinted: usize,
    ahead: Ahead,
    full: bool,
}

impl<'a> ExactStore<'a> {
    /// An empty store for states of the given packing. It asks `account` before it grows and never holds more than
    /// `most` bytes. None if the account has no room to begin.
    pub fn new(packing: Packing, account: &'a dyn Account, most: usize) -> Option<Self> {
        let segment = Self::segment(most);
        let index = Index::new(segment.max(1 << 16), account)?;
        Some(ExactStore(if packing.is_varying() {
            Kept::Varying(Keeper { form: Strings::new(segment, most), index, account, most, len: OwnLine::default(), left: Mutex::default() })
        } else {
            let records = Records::new(packing.bytes(), segment, most);
            Kept::Tight(Keeper { form: Tight { packing, records }, index, account, most, len: OwnLine::default(), left: Mutex::default() })
        }))
    }

    /// The least that a store must be allowed, for a budget of `most` bytes.
    pub fn least(most: usize) -> usize {
        Self::segment(most) + Self::segment(most).max(1 << 16)
    }

    fn segment(most: usize) -> usize {
        (most / 64).clamp(1 << 12, SEGMENT).next_power_of_two()
    }
}

impl<F: Form> Keeper<'_, F> {
    fn seat(&self, sole: bool) -> Option<Seat> {
        let index = self.index.seat(sole)?;
        let left = self.left().pop();
        Some(Seat::new(ExactSeat { index, group: left.unwrap_or_else(|| self.form.group(GROUP)), hinted: 0, ahead: Ahead::default(), full: false }))
    }

    fn leave(&self, seat: Seat) {
        self.left().extend(seat.into::<ExactSeat<F::Group>>().map(|seat| seat.group));
    }

    fn left(&self) -> MutexGuard<'_, Vec<F::Group>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hint(&self, seat: &mut Seat, steps: &Steps, hint: Hint) {
        let Some(seat) = seat.of::<ExactSeat<F::Group>>() else { return };
        self.index.enter(&seat.index);
        match hint {
            Hint::Place => steps.hashes.iter().for_each(|hash| self.index.prefetch(self.index.spot(*hash))),
            Hint::Coming => {
                let fetch = |hash| {
                    let spot = self.index.spot(hash);
                    self.index.prefetch(spot);
                    spot
                };
                seat.ahead.announce(steps, self.form.packing(), self.most, self.account, fetch);
            }
            Hint::State => {
                match seat.ahead.looks(steps) {
                    Some(looks) => {
                        // The others have twins in rounds whose turn comes before theirs, so that their states will be in the cache.
                        for look in looks.iter_mut().filter(|look| look.likely == NONE) {
                            let Look { index, likely, spot } = look;
                            self.index.each_likely(spot, steps.hashes[*index as usize], |handle| {
                                self.form.fetch(handle);
                                *likely = handle;
                            });
                        }
                    }
                    None => {
                        // Steps that lead back to their source are not looked up.
                        let looked_for = steps.hashes.iter().zip(&steps.changed).filter(|(_, changed)| **changed != 0);
                        looked_for.for_each(|(hash, _)| self.fetch_records(*hash));
                    }
                }
                seat.hinted += steps.hashes.len();
            }
        }
        self.index.leave(&seat.index);
    }

    /// Asks for the records that a visit will compare.
    #[inline]
    fn fetch_records(&self, hash: Hash) {
        self.index.each_likely(&mut self.index.spot(hash), hash, |handle| self.form.fetch(handle));
    }

    /// Calls `visit` for every candidate whose entry in `mask` is true, with its place in the group and in the batch; others are skipped.
    #[inline]
    fn each(
        &self,
        seat: &mut ExactSeat<F::Group>,
        candidates: Candidates,
        mask: Option<&[bool]>,
        visits: &mut Vec<Visit>,
        mut visit: impl FnMut(&mut ExactSeat<F::Group>, Hash, usize, usize) -> Visit,
    ) {
        visits.clear();
        let hashes = &candidates.steps.hashes;
        visits.reserve(hashes.len());
        let hinted = seat.hinted >= hashes.len();
        seat.hinted = seat.hinted.saturating_sub(hashes.len());
        self.index.enter(&seat.index);
        if !hinted {
            hashes.iter().take(AHEAD).for_each(|hash| self.index.prefetch(self.index.spot(*hash)));
            hashes.iter().take(AHEAD / 2).for_each(|hash| self.fetch_records(*hash));
        }
        for from in (0..hashes.len()).step_by(GROUP) {
            let until = hashes.len().min(from + GROUP);
            self.form.gather(&mut seat.group, &candidates.steps.states, from..until);
            for at in from..until {
                if !hinted {
                    if let Some(hash) = hashes.get(at + AHEAD) {
                        self.index.prefetch(self.index.spot(*hash));
                    }
                    if let Some(hash) = hashes.get(at + AHEAD / 2) {
                        self.fetch_records(*hash);
                    }
                }
                let skipped = mask.is_some_and(|mask| !mask[at]);
                visits.push(if skipped { Visit::Skipped } else { visit(seat, hashes[at], at - from, at) });
            }
        }
        self.index.leave(&seat.index);
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<ExactSeat<F::Group>>() else { return };
        let hinted = seat.hinted;
        self.each(seat, candidates, None, visits, |seat, hash, at, _| {
            match self.index.find(hash, |handle| self.form.same(&seat.group, at, handle)) {
                Found::Present(handle) => Visit::Seen(Handle(handle)),
                _ => Visit::New(Handle(u32::MAX)),
            }
        });
        // Probed states are in the cache and will be inserted next.
        seat.hinted = hinted.max(candidates.steps.len());
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<ExactSeat<F::Group>>() else { return };
        if let Some(round) = seat.ahead.turn(candidates.steps) {
            let whole = mask.is_none() && !seat.full && room > candidates.steps.len() as u64;
            if whole {
                self.insert_announced(seat, candidates, &round.looks, visits);
            }
            seat.ahead.back(round, if whole { visits } else { &[] });
            if whole {
                return;
            }
        }
        let mut new = 0;
        let hash_of = |handle| self.form.hash_of(handle);
        let fetch = |handle| prefetch_line(self.form.address(handle));
        let means = Means { account: self.account, hash_of: &hash_of, fetch: &fetch, sole: seat.index.is_sole() };
        self.each(seat, candidates, mask, visits, |seat, hash, at, index| {
            let parent = candidates.parent(index);
            // A step that leads back to its source leads to a known state and needs no lookup.
            if candidates.steps.changed[index] == 0
                && let Some(parent) = parent
            {
                return Visit::Seen(parent);
            }
            let visit = self.visit(seat, &means, (self.index.spot(hash), hash), (at, parent), room > 0);
            match visit {
                Visit::New(_) => {
                    room -= 1;
                    new += 1;
                }
                Visit::Full => room = 0,
                _ => {}
            }
            visit
        });
        self.len.fetch_add(new, Ordering::Relaxed);
    }

    /// Inserts the announced candidates that must be looked up. All others are known already, or equal one that is inserted before them.
    fn insert_announced(&self, seat: &mut ExactSeat<F::Group>, candidates: Candidates, looks: &[Look], visits: &mut Vec<Visit>) {
        let Steps { hashes, .. } = candidates.steps;
        seat.hinted = seat.hinted.saturating_sub(hashes.len());
        visits.resize(hashes.len(), Visit::Seen(Handle(NONE)));
        let mut new = 0;
        let hash_of = |handle| self.form.hash_of(handle);
        let fetch = |handle| prefetch_line(self.form.address(handle));
        let means = Means { account: self.account, hash_of: &hash_of, fetch: &fetch, sole: seat.index.is_sole() };
        self.index.enter(&seat.index);
        for looks in looks.chunks(GROUP) {
            self.form.gather_steps(&mut seat.group, candidates, looks.iter().map(|look| look.index as usize));
            for (at, look) in looks.iter().enumerate() {
                if look.likely != NONE && self.form.same(&seat.group, at, look.likely) {
                    continue;
                }
                let index = look.index as usize;
                let visit = self.visit(seat, &means, (look.spot, hashes[index]), (at, candidates.parent(index)), true);
                new += u64::from(matches!(visit, Visit::New(_)));
                visits[index] = visit;
            }
        }
        self.index.leave(&seat.index);
        self.len.fetch_add(new, Ordering::Relaxed);
    }

    /// Inserts one candidate, which has this place in the group and this source. It is part of its callers' loops, because a call would spill what they hold.
    #[inline(always)]
    fn visit(
        &self,
        seat: &mut ExactSeat<F::Group>,
        means: &Means,
        (spot, hash): (Spot, Hash),
        (at, parent): (usize, Option<Handle>),
        room: bool,
    ) -> Visit {
        let next = if room && !seat.full { self.form.next(&mut seat.group, at, self.account) } else { None };
        let group = &seat.group;
        let same = |handle: u32| self.form.same(group, at, handle);
        let found = match next {
            Some(handle) => {
                let write = || self.form.write(group, at, parent.map(|parent| parent.0));
                self.index.find_or_insert(&mut seat.index, (spot, hash), handle, same, write, means)
            }
            None => self.index.find(hash, same),
        };
        match (found, next) {
            (Found::Present(handle), _) => Visit::Seen(Handle(handle)),
            (Found::Inserted, Some(handle)) => {
                self.form.keep(&mut seat.group, at);
                Visit::New(Handle(handle))
            }
            _ => {
                // A store that refused one state stays full for this worker, so that the states cut off are always the end of a batch.
                seat.full |= room;
                Visit::Full
            }
        }
    }
}

/// Does the same with either kind of keeper.
macro_rules! kept {
    ($store:expr, $keeper:ident => $does:expr) => {
        match &$store.0 {
            Kept::Tight($keeper) => $does,
            Kept::Varying($keeper) => $does,
        }
    };
}

impl<'a> ExactStore<'a> {
    /// One past the last handle that was given out, and those below it behind which there is nothing, when no one works here.
    pub fn given_out(&self) -> (u32, Vec<Range<u32>>) {
        kept!(self, keeper => (keeper.form.end(), keeper.unused()))
    }

    /// Gives up finding states, and with it the memory that takes: states are only read from here on.
    pub fn closed(self) -> Closed {
        match self.0 {
            Kept::Tight(keeper) => keeper.closed(),
            Kept::Varying(keeper) => keeper.closed(),
        }
    }
}

impl<'a, F: Form + 'static> Keeper<'a, F> {
    fn unused(&self) -> Vec<Range<u32>> {
        let mut unused: Vec<Range<u32>> = self.left().iter().map(F::unused).collect();
        unused.sort_unstable_by_key(|range| range.start);
        unused
    }

    fn closed(self) -> Closed {
        let unused = self.unused();
        Closed { form: Box::new(self.form), unused }
    }
}

impl Remember for ExactStore<'_> {
    fn seat(&self) -> Option<Seat> {
        kept!(self, keeper => keeper.seat(false))
    }

    fn sole_seat(&self) -> Option<Seat> {
        kept!(self, keeper => keeper.seat(true))
    }

    fn leave(&self, seat: Seat) {
        kept!(self, keeper => keeper.leave(seat));
    }

    fn hint(&self, seat: &mut Seat, steps: &Steps, hint: Hint) {
        kept!(self, keeper => keeper.hint(seat, steps, hint));
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        kept!(self, keeper => keeper.probe(seat, candidates, visits));
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, room: u64, visits: &mut Vec<Visit>) {
        kept!(self, keeper => keeper.insert(seat, candidates, mask, room, visits));
    }

    fn len(&self) -> u64 {
        kept!(self, keeper => keeper.len.load(Ordering::Relaxed))
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        kept!(self, keeper => keeper.form.bytes() + keeper.index.bytes())
    }
}

impl Recall for ExactStore<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.states(&[at], out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        // Handles that lie side by side need no help; those drawn at random do.
        if handles.windows(2).any(|pair| pair[0].0.abs_diff(pair[1].0) > 64) {
            kept!(self, keeper => handles.iter().for_each(|handle| prefetch_line(keeper.form.address(handle.0))));
        }
        kept!(self, keeper => keeper.form.read(handles, out));
        true
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        kept!(self, keeper => keeper.form.parent(at.0)).map(Handle)
    }
}

impl Forget for ExactStore<'_> {}
