//! The exact store: every state in its tight form with a link to where it was first reached.
//!
//! A record is the tight state and four bytes of link. Records lie in segments that are never moved; an [`Index`] finds them by hash. The two cache misses of a
//! visit, bucket and record, are taken ahead of it: hints fetch them while the loop expands other states.

use crate::arena::prefetch_line;
use crate::index::{Found, Index, Means, Seat as IndexSeat};
use crate::records::{Records, Run};
use crate::{Account, Candidates, Fidelity, Handle, Hint, Seat, Store, Visit};
use std::sync::atomic::{AtomicU64, Ordering};
use wayfarer_space::{Hash, Packing, States, Word, hash};

/// The usual size of a segment of records.
const SEGMENT: usize = 2 << 20;
/// Candidates that are packed together.
const GROUP: usize = 96;

/// Remembers every state, and how it was reached.
pub struct ExactStore<'a> {
    packing: Packing,
    records: Records,
    index: Index,
    account: &'a dyn Account,
    len: AtomicU64,
}

/// A worker's place at the exact store.
struct ExactSeat {
    index: IndexSeat,
    run: Run,
    /// The tight forms of a group.
    tight: Vec<Word>,
    full: bool,
}

impl<'a> ExactStore<'a> {
    /// An empty store for states of the given packing that asks `account` before it grows, and that never holds more than `most` bytes. None where the
    /// account has no room to begin.
    pub fn new(packing: Packing, account: &'a dyn Account, most: usize) -> Option<Self> {
        let segment = (most / 64).clamp(1 << 12, SEGMENT).next_power_of_two();
        let records = Records::new(packing.bytes(), segment, most);
        let index = Index::new(segment.max(1 << 16), account)?;
        Some(ExactStore { packing, records, index, account, len: AtomicU64::new(0) })
    }

    /// The least that a store of this packing must be allowed, for a budget of `most` bytes.
    pub fn least(most: usize) -> usize {
        let segment = (most / 64).clamp(1 << 12, SEGMENT).next_power_of_two();
        segment + segment.max(1 << 16)
    }

    fn hash_of(&self, handle: u32) -> Hash {
        let mut tight = vec![0; self.packing.words()];
        let mut state = vec![0; self.packing.masks().len()];
        self.records.read(handle, &mut tight);
        self.packing.unpack(&tight, &mut state);
        hash(&state)
    }

    /// Inserts one candidate.
    #[inline]
    fn visit(&self, seat: &mut ExactSeat, hash: Hash, at: usize, parent: Option<Handle>, room: bool) -> Visit {
        let words = self.packing.words();
        let tight = &seat.tight[at * words..(at + 1) * words];
        let same = |handle: u32| self.records.same(handle, tight);
        let next = if room && !seat.full { self.records.next(&mut seat.run, self.account) } else { None };
        let found = match next {
            Some(handle) => {
                let write = || self.records.write(&seat.run, tight, parent.map(|parent| parent.0));
                let means = Means { account: self.account, hash_of: &|handle| self.hash_of(handle) };
                self.index.find_or_insert(&mut seat.index, hash, handle, same, write, &means)
            }
            None => self.index.find(hash, same),
        };
        match (found, next) {
            (Found::Present(handle), _) => Visit::Seen(Handle(handle)),
            (Found::Inserted, Some(handle)) => {
                seat.run.keep();
                Visit::New(Handle(handle))
            }
            _ => {
                // A store that refused one state stays full for this worker, so that what is cut off is always the end of a batch.
                seat.full |= room;
                Visit::Full
            }
        }
    }
}

impl Store for ExactStore<'_> {
    fn seat(&self) -> Option<Seat> {
        let index = self.index.seat()?;
        Some(Seat::new(ExactSeat { index, run: Run::default(), tight: vec![0; GROUP * self.packing.words()], full: false }))
    }

    fn hint(&self, seat: &mut Seat, hashes: &[Hash], hint: Hint) {
        let Some(seat) = seat.of::<ExactSeat>() else { return };
        self.index.enter(&seat.index);
        match hint {
            Hint::Place => hashes.iter().for_each(|hash| prefetch_line(self.index.address(*hash))),
            Hint::State => {
                for handle in hashes.iter().filter_map(|hash| self.index.likely(*hash)) {
                    prefetch_line(self.records.address(handle));
                }
            }
        }
        self.index.leave(&seat.index);
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<ExactSeat>() else { return };
        let words = self.packing.words();
        self.index.enter(&seat.index);
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            let until = candidates.steps.len().min(from + GROUP);
            let hashes = &candidates.steps.hashes[from..until];
            self.packing.pack_all(&candidates.steps.states, from..until, &mut seat.tight);
            for (at, hash) in hashes.iter().enumerate() {
                let tight = &seat.tight[at * words..(at + 1) * words];
                visits.push(match self.index.find(*hash, |handle| self.records.same(handle, tight)) {
                    Found::Present(handle) => Visit::Seen(Handle(handle)),
                    _ => Visit::New(Handle(u32::MAX)),
                });
            }
        }
        self.index.leave(&seat.index);
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<ExactSeat>() else { return };
        let mut new = 0;
        self.index.enter(&seat.index);
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            let until = candidates.steps.len().min(from + GROUP);
            let hashes = &candidates.steps.hashes[from..until];
            self.packing.pack_all(&candidates.steps.states, from..until, &mut seat.tight);
            for (at, hash) in hashes.iter().enumerate() {
                if mask.is_some_and(|mask| !mask[from + at]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                let visit = self.visit(seat, *hash, at, candidates.parent(from + at), room > 0);
                match visit {
                    Visit::New(_) => {
                        room -= 1;
                        new += 1;
                    }
                    Visit::Full => room = 0,
                    _ => {}
                }
                visits.push(visit);
            }
        }
        self.index.leave(&seat.index);
        self.len.fetch_add(new, Ordering::Relaxed);
    }

    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.states(&[at], out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        let mut tight = vec![0; self.packing.words()];
        for handle in handles {
            self.records.read(handle.0, &mut tight);
            self.packing.unpack(&tight, out.push_dirty(self.packing.masks().len()));
        }
        true
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        self.records.parent(at.0).map(Handle)
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        self.records.bytes() + self.index.bytes()
    }
}
