//! The exact store: every state in its tight form with a link to where it was first reached, in the order of insertion.
//!
//! A record is the tight state and four bytes of link. Records lie in segments that are never moved; an [`Index`] finds them by hash. Visiting a batch goes
//! over it three times, so that the two cache misses of each visit, bucket and record, overlap with those of all others.

use crate::index::{Found, Index};
use crate::segments::Segments;
use crate::{Account, Candidates, Fidelity, Handle, Store, Visit};
use wayfarer_space::{Hash, Packing, States, Word, hash};

/// The usual size of a segment.
const SEGMENT: usize = 1 << 20;
const LINK: usize = 4;
const NO_PARENT: u32 = u32::MAX;

/// Remembers every state, and how it was reached.
pub struct ExactStore<'a> {
    packing: Packing,
    records: Segments,
    index: Index,
    account: &'a dyn Account,
    full: bool,
}

impl<'a> ExactStore<'a> {
    /// An empty store for states of the given packing that asks `account` before it grows. With less than 64 MiB to spend, pass a smaller `segment`.
    pub fn new(packing: Packing, account: &'a dyn Account, segment: Option<usize>) -> Self {
        let records = Segments::new(packing.bytes() + LINK, segment.unwrap_or(SEGMENT));
        ExactStore { packing, records, index: Index::new(), account, full: false }
    }

    /// Whether the tight state is the one in a record.
    #[inline]
    fn same(&self, handle: u32, tight: &[u8]) -> bool {
        &self.records.get(handle as usize)[..tight.len()] == tight
    }
}

/// Buffers for one tight state.
struct Tight {
    words: Vec<Word>,
}

impl Tight {
    fn new(packing: &Packing) -> Self {
        Tight { words: vec![0; packing.words() + 1] }
    }

    fn pack(&mut self, packing: &Packing, state: &[Word]) -> &[u8] {
        packing.pack(state, &mut self.words);
        &as_bytes(&self.words)[..packing.bytes()]
    }
}

impl Store for ExactStore<'_> {
    fn probe(&self, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        self.prefetch(candidates.steps.hashes.iter().copied());
        let mut tight = Tight::new(&self.packing);
        for (state, hash) in candidates.steps.states.iter().zip(&candidates.steps.hashes) {
            let bytes = tight.pack(&self.packing, state);
            visits.push(match self.index.find(*hash, |handle| self.same(handle, bytes)) {
                Found::Present(handle) => Visit::Seen(Handle(handle)),
                Found::Absent => Visit::New(Handle(u32::MAX)),
            });
        }
    }

    fn insert(&mut self, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        self.prefetch(candidates.steps.hashes.iter().copied());
        let mut tight = Tight::new(&self.packing);
        for (number, (state, hash)) in candidates.steps.states.iter().zip(&candidates.steps.hashes).enumerate() {
            if mask.is_some_and(|mask| !mask[number]) {
                visits.push(Visit::Skipped);
                continue;
            }
            let bytes = tight.pack(&self.packing, state);
            if let Found::Present(handle) = self.index.find(*hash, |handle| self.same(handle, bytes)) {
                visits.push(Visit::Seen(Handle(handle)));
                continue;
            }
            let parent = candidates.parent(number).map_or(NO_PARENT, |handle| handle.0);
            let visit = if self.full || room == 0 { None } else { self.append(*hash, bytes, parent) };
            match visit {
                Some(handle) => {
                    room -= 1;
                    visits.push(Visit::New(Handle(handle)));
                }
                None => {
                    // A store that refused one state stays full, so that what is cut off is always the end of a batch.
                    self.full |= room > 0;
                    room = 0;
                    visits.push(Visit::Full);
                }
            }
        }
    }

    fn state(&self, at: Handle, out: &mut States) -> bool {
        let mut tight = Tight::new(&self.packing);
        let record = self.records.get(at.0 as usize);
        as_bytes_mut(&mut tight.words)[..self.packing.bytes()].copy_from_slice(&record[..self.packing.bytes()]);
        self.packing.unpack(&tight.words, out.push_zero(self.packing.masks().len()));
        true
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        let record = self.records.get(at.0 as usize);
        let link = &record[record.len() - LINK..];
        let parent = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
        (parent != NO_PARENT).then_some(Handle(parent))
    }

    fn len(&self) -> u64 {
        self.records.len() as u64
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        self.records.bytes() + self.index.bytes()
    }
}

impl ExactStore<'_> {
    fn append(&mut self, hash: Hash, tight: &[u8], parent: u32) -> Option<u32> {
        let handle = u32::try_from(self.records.len()).ok().filter(|handle| *handle < u32::MAX - 1)?;
        let record = self.records.push(self.account)?;
        record[..tight.len()].copy_from_slice(tight);
        record[tight.len()..].copy_from_slice(&parent.to_le_bytes());
        let (records, packing) = (&self.records, &self.packing);
        let hash_of = |handle: u32| hash_record(packing, records.get(handle as usize));
        if !self.index.insert(hash, handle, self.account, hash_of) {
            self.records.pop();
            return None;
        }
        Some(handle)
    }

    /// Brings the home bucket of each hash, then the record most likely to be compared, into the cache.
    fn prefetch(&self, hashes: impl Iterator<Item = Hash> + Clone) {
        for hash in hashes.clone() {
            prefetch_line(self.index.address(hash));
        }
        for hash in hashes {
            if let Some(handle) = self.index.likely(hash) {
                prefetch_line(self.records.address(handle as usize));
            }
        }
    }
}

fn hash_record(packing: &Packing, record: &[u8]) -> Hash {
    let mut tight = vec![0; packing.words() + 1];
    as_bytes_mut(&mut tight)[..packing.bytes()].copy_from_slice(&record[..packing.bytes()]);
    let mut state = vec![0; packing.masks().len()];
    packing.unpack(&tight, &mut state);
    hash(&state)
}

#[inline]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching is a hint; it reads nothing and is allowed on any address, valid or not.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The words as bytes, the low byte first on the machines we run on; the order only has to be the same in both directions.
#[allow(unsafe_code)]
fn as_bytes(words: &[Word]) -> &[u8] {
    // SAFETY: every bit pattern is a valid byte, the length is exact and the lifetime is that of the borrow.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[allow(unsafe_code)]
fn as_bytes_mut(words: &mut [Word]) -> &mut [u8] {
    // SAFETY: as above, and every byte pattern is a valid word.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
