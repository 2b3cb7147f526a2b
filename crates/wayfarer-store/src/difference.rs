//! The difference store: every state as its difference from the state it was reached from, and every δ-th state of a path whole.
//!
//! After Mukherjee, Tari and Bertok ("Memory efficient state-space analysis in software model-checking", 2010). INSERT
//! keeps the difference to the predecessor, or the whole state if the depth is a multiple of δ. SEARCH compares with
//! the states of the same hash. RECONSTRUCT walks back through at most δ − 1 differences.
//!
//! Departures:
//! - The paper's table of linked lists and second-level tables is replaced by the exact store's index, which compares
//!   bits of the hash first. A record begins with eight more bits. A state is looked at only if all of them agree, so
//!   almost only if it is the same state.
//! - A difference is the bytes of the tight state that changed, combined by exclusive or. Differences then add up in
//!   any order, so two states are compared without reconstructing either: walking back from both to a common ancestor,
//!   the sum of all differences is zero if they are equal. Two independent steps taken in both orders meet again after
//!   two steps, while the paper walks back to a whole state. A state is reconstructed only if no common ancestor is
//!   found.
//! - Reconstructed states are remembered for a while, because siblings and their ancestors are needed together.
//! - If a difference would be longer than the state, the state is kept whole and counts as depth 0. Depth is counted
//!   along the path by which a state was first reached, in any order of exploration (the paper's is depth-first).
//! - A rule's number is never kept in place of the bytes it changed, though it is shorter. Rules would have to be fired
//!   again along the whole way back, and states could not be compared without reconstructing them.

mod chain;

use crate::index::{Found, Index, Means, Seat as IndexSeat};
use crate::memory::arena::prefetch_line;
use crate::rows::{WHOLE, any, as_given, by_segments};
use crate::spec::{Accepts, Entry, Parameter};
use crate::{Abilities, Account, Candidates, Fidelity, Forget, Handle, Hint, Recall, Remember, Seat, StoreRow, Visit};
use chain::{Chain, Cursor, Place, push_number};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use wayfarer_space::{Hash, Packing, States, Steps, Word, hash};

/// The row of `difference`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry {
        name: "difference",
        help: "every state, as its change from the state it was reached from",
        parameters: &[Parameter::new("delta", Accepts::NumberOr(1..=65_535, "auto"), "20", "one state in this many along a path is stored whole")],
    },
    abilities: Abilities { varying: false, ..WHOLE },
    agree: any,
    least: DifferenceStore::least,
    settle: as_given,
    takes: by_segments,
    build: |given, room| {
        let delta = given.number("delta").map_or(Delta::Auto, |delta| Delta::Every(delta as u32));
        Some(Box::new(DifferenceStore::new(room.packing.clone(), delta, room.account, room.most)?))
    },
};

/// How often the difference store keeps a state whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delta {
    /// Once every this many states along a path; 1 keeps all whole.
    Every(u32),
    /// As the budget suggests.
    Auto,
}

/// Candidates whose cache lines are fetched together.
const GROUP: usize = 96;
/// Reconstructed states that are remembered, by handle.
const REMEMBERED: usize = 2048;
/// The bytes of states that each worker remembers whole, among those it inserted or found last. A state found again soon is then compared at once.
const FRESH: usize = 1 << 17;
/// States that `delta=auto` wants a budget to hold.
const WISHED: usize = 50_000_000;

/// Remembers every state, most of them as their change from another.
pub struct DifferenceStore<'a> {
    packing: Packing,
    delta: u32,
    chain: Chain,
    index: Index,
    account: &'a dyn Account,
    len: AtomicU64,
    /// For those who read states without a seat.
    remembered: Mutex<Remembered>,
}

/// States that were reconstructed, by handle.
struct Remembered {
    handles: Vec<u32>,
    states: Vec<Word>,
    words: usize,
    mask: usize,
    /// The way back from the state that is being reconstructed.
    way: Vec<u32>,
    state: Vec<Word>,
}

/// A worker's place at the difference store.
struct DifferenceSeat {
    index: IndexSeat,
    place: Place,
    /// The tight forms of a group.
    tight: Vec<Word>,
    search: Search,
    record: Vec<u8>,
    full: bool,
}

/// Buffers for a search.
struct Search {
    remembered: Remembered,
    /// The states inserted or met last, by handle; their number is a power of two.
    fresh_handles: Vec<u32>,
    fresh: Vec<Word>,
    /// The source of the candidate.
    source: Option<u32>,
    /// The source that was put together last, and its tight state.
    put_together: Option<u32>,
    source_tight: Vec<Word>,
    /// The bytes in which the candidate differs from its source.
    change: Vec<(u32, u8)>,
    /// The sum of differences, and the bytes that may not be zero.
    sum: Vec<u8>,
    touched: Vec<u32>,
}

impl<'a> DifferenceStore<'a> {
    /// The values that δ may have.
    pub const DELTA: std::ops::RangeInclusive<u32> = 1..=65_535;

    /// An empty store for states of the given packing. It keeps every `delta`-th state of a path whole, asks `account`
    /// before it grows, and never holds more than about `most` bytes. None if the account has no room to begin, δ is
    /// out of range, or states vary in width.
    pub fn new(packing: Packing, delta: Delta, account: &'a dyn Account, most: usize) -> Option<Self> {
        if packing.is_varying() {
            return None;
        }
        let delta = match delta {
            Delta::Every(delta) => delta,
            Delta::Auto => Self::delta_for(packing.bytes(), most),
        };
        if !Self::DELTA.contains(&delta) {
            return None;
        }
        let index = Index::new(Self::index_chunk(most), account)?;
        let chain = Chain::new(longest(packing.bytes()), most);
        let remembered = Mutex::new(Remembered::new(packing.words()));
        Some(DifferenceStore { packing, delta, chain, index, account, len: AtomicU64::new(0), remembered })
    }

    /// The least that a store of this packing must be allowed, for a budget of `most` bytes.
    pub fn least(packing: &Packing, most: usize) -> usize {
        Chain::least(longest(packing.bytes()), most) + Self::index_chunk(most)
    }

    /// The δ that `delta=auto` takes for states of `bytes` bytes: the smallest with which the budget holds fifty
    /// million states, and none so large that whole states cost less than a byte on average.
    pub fn delta_for(bytes: usize, most: usize) -> u32 {
        let enough = |delta: usize| most / (20 + bytes / delta) >= WISHED || bytes / delta < 1;
        let mut deltas = Self::DELTA;
        deltas.find(|delta| enough(*delta as usize)).unwrap_or(*Self::DELTA.end())
    }

    /// How often states are kept whole.
    pub fn delta(&self) -> u32 {
        self.delta
    }

    fn index_chunk(most: usize) -> usize {
        (most / 256).clamp(1 << 16, 1 << 20).next_power_of_two()
    }

    /// Writes the record of a state to `record`. `change` says how it differs from its source, if it has one.
    fn describe(&self, search: &mut Search, record: &mut Vec<u8>, hash: Hash, tight: &[Word], from: Option<u32>, handle: u32) {
        record.clear();
        record.push(mark(hash));
        let depth = from.map_or(0, |source| Head::read(&mut self.chain.record(source), source).depth.saturating_add(1) % self.delta);
        push_number(record, depth);
        // A link is how far back it leads, on whichever side: other workers' handles may be larger.
        let back = from.map_or(0, |source| zigzag(handle, source));
        push_number(record, back);
        let start = record.len();
        if depth > 0 && from.is_some() {
            push_change(record, &search.change);
            if record.len() - start <= self.packing.bytes() {
                return;
            }
            record.truncate(1);
            push_number(record, 0);
            push_number(record, back);
        }
        let end = record.len() + self.packing.bytes();
        for word in tight {
            record.extend_from_slice(&word.to_le_bytes());
        }
        record.truncate(end);
    }

    /// Whether a stored state is the candidate.
    fn same(&self, search: &mut Search, handle: u32, hash: Hash, tight: &[Word]) -> bool {
        if let Some(state) = search.fresh(handle, tight.len()) {
            return state == tight;
        }
        let mut record = self.chain.record(handle);
        if record.byte() != mark(hash) {
            return false;
        }
        if let Some(source) = search.source
            && let Some(same) = self.meet(search, source, handle)
        {
            if same {
                search.freshen(handle, tight);
            }
            return same;
        }
        search.remembered.reconstruct(self, handle);
        let same = search.remembered.state == *tight;
        if same {
            search.freshen(handle, tight);
        }
        same
    }

    /// Walks back from the source and from a stored state until they meet. The candidate is the stored state if all
    /// differences add up to zero. None if a whole state lies between.
    fn meet(&self, search: &mut Search, source: u32, handle: u32) -> Option<bool> {
        let Search { change, sum, touched, .. } = search;
        touched.clear();
        for (at, byte) in &*change {
            touched.push(*at);
            sum[*at as usize] ^= byte;
        }
        let (mut one, mut other) = (source, handle);
        let met = loop {
            if one == other {
                break true;
            }
            let later = if one > other { &mut one } else { &mut other };
            let mut record = self.chain.record(*later);
            let head = Head::read(&mut record, *later);
            let (Some(parent), 1..) = (head.parent, head.depth) else { break false };
            each_change(&mut record, |at, byte| {
                touched.push(at);
                sum[at as usize] ^= byte;
            });
            *later = parent;
        };
        let mut same = true;
        for at in &*touched {
            same &= std::mem::replace(&mut sum[*at as usize], 0) == 0;
        }
        met.then_some(same)
    }

    fn hash_of(&self, handle: u32) -> Hash {
        let mut own;
        let mut shared = self.remembered.try_lock();
        let remembered = match &mut shared {
            Ok(remembered) => &mut **remembered,
            Err(_) => {
                own = Remembered::of(1, self.packing.words());
                &mut own
            }
        };
        remembered.reconstruct(self, handle);
        let mut state = vec![0; self.packing.masks().len()];
        self.packing.unpack(&remembered.state, &mut state);
        hash(&state)
    }

    /// Inserts one candidate.
    #[inline]
    fn visit(&self, seat: &mut DifferenceSeat, hash: Hash, at: usize, from: Option<u32>, room: bool) -> Visit {
        let words = self.packing.words();
        let DifferenceSeat { index, place, tight, search, record, full } = seat;
        let tight = &tight[at * words..(at + 1) * words];
        search.compare(self, from, tight);
        let next = if room && !*full { self.chain.next(place, self.account) } else { None };
        let search = std::cell::RefCell::new(search);
        let record = std::cell::RefCell::new(record);
        let same = |handle: u32| self.same(&mut search.borrow_mut(), handle, hash, tight);
        let found = match next {
            Some(handle) => {
                let write = || {
                    let mut record = record.borrow_mut();
                    self.describe(&mut search.borrow_mut(), &mut record, hash, tight, from, handle);
                    self.chain.write(place, &record);
                };
                let means = Means { account: self.account, hash_of: &|handle| self.hash_of(handle), fetch: &|_| (), sole: false };
                self.index.find_or_insert(index, (self.index.spot(hash), hash), handle, same, write, &means)
            }
            None => self.index.find(hash, same),
        };
        match (found, next) {
            (Found::Present(handle), _) => Visit::Seen(Handle(handle)),
            (Found::Inserted, Some(handle)) => {
                self.chain.keep(place, &record.borrow());
                search.borrow_mut().freshen(handle, tight);
                Visit::New(Handle(handle))
            }
            _ => {
                *full |= room;
                Visit::Full
            }
        }
    }

    /// Makes the tight forms of the group of candidates that begins at `from`, fetches the memory that they need, and returns their hashes.
    #[inline]
    fn gather<'s>(&self, seat: &mut DifferenceSeat, steps: &'s Steps, from: usize) -> &'s [Hash] {
        let until = steps.len().min(from + GROUP);
        let hashes = &steps.hashes[from..until];
        self.prefetch(hashes);
        self.packing.pack_some(&steps.states, from..until, &mut seat.tight);
        hashes
    }

    /// Fetches home buckets into the cache, then the heads and records that are most likely to be compared.
    fn prefetch(&self, hashes: &[Hash]) {
        for hash in hashes {
            self.index.prefetch(self.index.spot(*hash));
        }
        let (mut likely, mut count) = ([0; GROUP], 0);
        for handle in hashes.iter().filter_map(|hash| self.index.likely(*hash)) {
            prefetch_line(self.chain.head(handle).0);
            likely[count] = handle;
            count += 1;
        }
        likely[..count].iter().for_each(|handle| prefetch_line(self.chain.address(*handle)));
    }
}

/// The longest record of a state of `bytes` bytes: the mark, the depth, the link, and the longest attempt at the rest.
fn longest(bytes: usize) -> usize {
    bytes + 16
}

/// Bits of the hash that the index does not use.
#[inline]
fn mark(hash: Hash) -> u8 {
    (hash.second() >> 56) as u8
}

/// A link as a number: 0 if there is none.
#[inline]
fn zigzag(handle: u32, parent: u32) -> u32 {
    // Twice the way back, or twice the way forward less one; a state is never its own parent. Ways of 2³¹ and more do not occur before handles run out.
    if handle > parent { (handle - parent) << 1 } else { (parent - handle) << 1 | 1 }
}

/// How a record begins.
struct Head {
    depth: u32,
    parent: Option<u32>,
}

impl Head {
    /// Reads past the beginning of a record.
    #[inline]
    fn read(record: &mut Cursor, handle: u32) -> Self {
        record.byte();
        let depth = record.number();
        let back = record.number();
        let parent = match back {
            0 => None,
            _ if back & 1 == 0 => Some(handle - (back >> 1)),
            _ => Some(handle + (back >> 1)),
        };
        Head { depth, parent }
    }
}

/// Appends the bytes that changed: how many groups there are, and for each how far it lies from the end of the one before, its length and its bytes.
fn push_change(record: &mut Vec<u8>, change: &[(u32, u8)]) {
    const MOST: usize = 4;
    let length_at =
        |at: usize| (1..MOST).find(|length| change.get(at + length).is_none_or(|next| next.0 != change[at].0 + *length as u32)).unwrap_or(MOST);
    let (mut groups, mut at) = (0, 0);
    while at < change.len() {
        at += length_at(at);
        groups += 1;
    }
    push_number(record, groups);
    let (mut at, mut end) = (0, 0);
    while at < change.len() {
        let length = length_at(at);
        push_number(record, (change[at].0 - end) << 2 | (length as u32 - 1));
        record.extend(change[at..at + length].iter().map(|(_, byte)| *byte));
        end = change[at].0 + length as u32;
        at += length;
    }
}

/// Calls `each` with every byte that changed.
#[inline]
fn each_change(record: &mut Cursor, mut each: impl FnMut(u32, u8)) {
    let groups = record.number();
    let mut at = 0;
    for _ in 0..groups {
        let head = record.number();
        at += head >> 2;
        for _ in 0..=(head & 3) {
            each(at, record.byte());
            at += 1;
        }
    }
}

impl Remembered {
    fn new(words: usize) -> Self {
        // Large states are remembered in smaller numbers.
        Self::of(REMEMBERED.min(((1 << 18) / (words + 1)).next_power_of_two()).max(16), words)
    }

    /// Remembers `count` states, a power of two.
    fn of(count: usize, words: usize) -> Self {
        Remembered { handles: vec![u32::MAX; count], states: vec![0; count * words], words, mask: count - 1, way: Vec::new(), state: vec![0; words] }
    }

    /// Puts the tight form of a stored state into `state`.
    fn reconstruct(&mut self, store: &DifferenceStore, handle: u32) {
        self.way.clear();
        let mut at = handle;
        loop {
            let place = at as usize & self.mask;
            if self.handles[place] == at {
                let Remembered { states, state, words, .. } = self;
                state.copy_from_slice(&states[place * *words..(place + 1) * *words]);
                break;
            }
            let mut record = store.chain.record(at);
            let head = Head::read(&mut record, at);
            match (head.depth, head.parent) {
                (1.., Some(parent)) => {
                    self.way.push(at);
                    at = parent;
                }
                _ => {
                    if let Some(last) = self.state.last_mut() {
                        *last = 0;
                    }
                    record.words(store.packing.bytes(), &mut self.state);
                    if self.way.is_empty() {
                        // Whole already: nothing is gained by remembering it.
                        return;
                    }
                    self.remember(at);
                    break;
                }
            }
        }
        while let Some(at) = self.way.pop() {
            let mut record = store.chain.record(at);
            Head::read(&mut record, at);
            each_change(&mut record, |at, byte| self.state[at as usize / 8] ^= u64::from(byte) << (at % 8 * 8));
            // The state itself and the last ones before it are likely to be asked for again: its brothers and cousins come the same way.
            if self.way.len() < 6 {
                self.remember(at);
            }
        }
    }

    /// Copies a state that is remembered; false if it is not.
    fn recall(&self, handle: u32, tight: &mut [Word]) -> bool {
        let place = handle as usize & self.mask;
        if self.handles[place] != handle {
            return false;
        }
        tight.copy_from_slice(&self.states[place * self.words..(place + 1) * self.words]);
        true
    }

    fn remember(&mut self, handle: u32) {
        let place = handle as usize & self.mask;
        self.handles[place] = handle;
        let Remembered { states, state, words, .. } = self;
        states[place * *words..(place + 1) * *words].copy_from_slice(state);
    }
}

impl Search {
    /// A state that is remembered.
    #[inline]
    fn fresh(&self, handle: u32, words: usize) -> Option<&[Word]> {
        let fresh = handle as usize & (self.fresh_handles.len() - 1);
        (self.fresh_handles[fresh] == handle).then(|| &self.fresh[fresh * words..(fresh + 1) * words])
    }

    /// Remembers a state that was just inserted or met.
    #[inline]
    fn freshen(&mut self, handle: u32, tight: &[Word]) {
        let (words, fresh) = (tight.len(), handle as usize & (self.fresh_handles.len() - 1));
        self.fresh_handles[fresh] = handle;
        self.fresh[fresh * words..(fresh + 1) * words].copy_from_slice(tight);
    }

    /// Finds out how a candidate differs from its source.
    fn compare(&mut self, store: &DifferenceStore, source: Option<u32>, tight: &[Word]) {
        self.change.clear();
        let Some(handle) = source else {
            self.source = None;
            return;
        };
        self.source = source;
        let (words, fresh) = (tight.len(), handle as usize & (self.fresh_handles.len() - 1));
        let source_tight = if self.fresh_handles[fresh] == handle {
            &self.fresh[fresh * words..(fresh + 1) * words]
        } else {
            if self.put_together != source {
                self.put_together = source;
                // The search has just asked for it, to expand it.
                let asked = store.remembered.try_lock().is_ok_and(|asked| asked.recall(handle, &mut self.source_tight));
                if !asked {
                    self.remembered.reconstruct(store, handle);
                    self.source_tight.copy_from_slice(&self.remembered.state);
                }
            }
            &self.source_tight[..]
        };
        for (word, (from, to)) in source_tight.iter().zip(tight).enumerate() {
            let mut changed = from ^ to;
            while changed != 0 {
                let byte = changed.trailing_zeros() / 8;
                self.change.push((word as u32 * 8 + byte, (changed >> (8 * byte)) as u8));
                changed &= !(0xFF << (8 * byte));
            }
        }
    }
}

impl Remember for DifferenceStore<'_> {
    fn seat(&self) -> Option<Seat> {
        let words = self.packing.words();
        let fresh = (FRESH / (8 * words.max(1))).clamp(64, 1 << 14).next_power_of_two();
        let search = Search {
            remembered: Remembered::new(words),
            fresh_handles: vec![u32::MAX; fresh],
            fresh: vec![0; fresh * words],
            source: None,
            put_together: None,
            source_tight: vec![0; words],
            change: Vec::new(),
            sum: vec![0; words * 8],
            touched: Vec::new(),
        };
        let index = self.index.seat(false)?;
        Some(Seat::new(DifferenceSeat { index, place: Place::default(), tight: vec![0; GROUP * words], search, record: Vec::new(), full: false }))
    }

    fn hint(&self, seat: &mut Seat, steps: &Steps, hint: Hint) {
        let Some(seat) = seat.of::<DifferenceSeat>() else { return };
        self.index.enter(&seat.index);
        match hint {
            Hint::Place | Hint::Coming => steps.hashes.iter().for_each(|hash| self.index.prefetch(self.index.spot(*hash))),
            Hint::State => {
                for handle in steps.hashes.iter().filter_map(|hash| self.index.likely(*hash)) {
                    prefetch_line(self.chain.head(handle).0);
                }
            }
        }
        self.index.leave(&seat.index);
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<DifferenceSeat>() else { return };
        let words = self.packing.words();
        self.index.enter(&seat.index);
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            for (at, hash) in self.gather(seat, candidates.steps, from).iter().enumerate() {
                let tight = &seat.tight[at * words..(at + 1) * words];
                let search = &mut seat.search;
                search.compare(self, candidates.parent(from + at).map(|parent| parent.0), tight);
                visits.push(match self.index.find(*hash, |handle| self.same(search, handle, *hash, tight)) {
                    Found::Present(handle) => Visit::Seen(Handle(handle)),
                    _ => Visit::New(Handle(u32::MAX)),
                });
            }
        }
        self.index.leave(&seat.index);
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<DifferenceSeat>() else { return };
        let mut new = 0;
        self.index.enter(&seat.index);
        for from in (0..candidates.steps.len()).step_by(GROUP) {
            for (at, hash) in self.gather(seat, candidates.steps, from).iter().enumerate() {
                let index = from + at;
                if mask.is_some_and(|mask| !mask[index]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                let source = candidates.parent(index).map(|parent| parent.0);
                let visit = self.visit(seat, *hash, at, source, room > 0);
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

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn bytes(&self) -> usize {
        self.chain.bytes() + self.index.bytes()
    }
}

impl Recall for DifferenceStore<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.states(&[at], out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        // Several who read at once remember for themselves.
        let mut own;
        let mut shared = self.remembered.try_lock();
        let remembered = match &mut shared {
            Ok(remembered) => &mut **remembered,
            Err(_) => {
                own = Remembered::new(self.packing.words());
                &mut own
            }
        };
        for handle in handles {
            remembered.reconstruct(self, handle.0);
            self.packing.unpack(&remembered.state, out.push_dirty(self.packing.masks().len()));
        }
        true
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        Head::read(&mut self.chain.record(at.0), at.0).parent.map(Handle)
    }
}

impl Forget for DifferenceStore<'_> {}
