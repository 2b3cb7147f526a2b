//! Bitstate hashing: k bits per state in one Bloom filter that takes the whole budget.
//!
//! Source: Holzmann, *An analysis of bitstate hashing* (1998), and Bloom (1970). Departures:
//! - The filter is blocked (Putze, Sanders, Singler 2007): all bits of a state lie in one cache line, so that a visit
//!   costs one miss instead of k. Lines fill unevenly, and the fullest ones answer *seen* too often. With k = 3 there
//!   are 1.04, 1.10, 1.23 and 1.50 times the omissions of the classic filter at 8, 16, 32 and 64 bits of memory per
//!   state. With k = 2 the factor is at most 1.18. With k = 8 it is up to ten, but omissions are then rarer than 10⁻⁶.
//! - Omissions are therefore not estimated from the fill alone. The filter keeps the sum over all lines of (set bits /
//!   512)^k, which is exactly the probability that the next new state is taken for known, and adds up its odds as
//!   states are found new.
//!
//! Setting a bit is one atomic *or*. Two workers that bring the same new state at the same moment may both be told that
//! it is new, but never both that it is known. No worker waits for another.

use crate::memory::lines::sync::AtomicU64;
use crate::memory::lines::{Lines, WORDS};
use crate::rows::{FINGERPRINTS, any, as_given};
use crate::spec::{Accepts, Entry, Parameter, widened};
use crate::{Abilities, Account, Candidates, DeviceKeeps, ExactStore, Fidelity, Figures, Forget, Handle, Recall, Remember, Seat, StoreRow, Visit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use wayfarer_space::Hash;

/// The row of `bitstate`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry {
        name: "bitstate",
        help: "a few bits per state in one large filter",
        parameters: &[Parameter::new("k", Accepts::Number(widened(&BitstateStore::K)), "3", "the bits that are set for each state")],
    },
    abilities: Abilities { device: DeviceKeeps::Bits, ..FINGERPRINTS },
    agree: any,
    least: |_, most| ExactStore::least(most),
    settle: as_given,
    takes: |given, room| (room.fixed, format!("{} bits set for each state; touched as it is used", given.number("k").unwrap_or(0))),
    build: |given, room| Some(Box::new(BitstateStore::new(given.number("k").unwrap_or(0) as u32, room.fixed, room.account)?)),
};

const NOWHERE: Handle = Handle(u32::MAX);
/// Candidates whose cache lines are fetched together.
const GROUP: usize = 64;
const LINE: usize = 64;
const LINE_BITS: u32 = 512;

/// Remembers a few bits of each state.
pub struct BitstateStore {
    lines: Lines,
    k: u32,
    large: AtomicBool,
    sums: Mutex<Sums>,
    len: AtomicU64,
    /// How often it knew a state. It cannot have omitted more.
    known: AtomicU64,
}

/// Figures of the filter as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    set: u64,
    /// The sum over all lines of (set bits / 512)^k.
    powers: f64,
    omissions: f64,
}

/// How full a filter is and what that does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// The share of its bits that are set.
    pub fill: f64,
    /// Bits of the filter per state found new; above 100 omissions are rare.
    pub hash_factor: f64,
    /// The probability that the next new state is omitted.
    pub next_omitted: f64,
    /// How many states are expected to have been omitted, states behind an omitted one not counted.
    pub expected_omissions: f64,
}

/// The bits of a state in its line.
#[derive(Clone, Copy, Default)]
struct Pattern {
    line: usize,
    bits: [u64; WORDS],
}

impl BitstateStore {
    /// How many bits per state may be asked for.
    pub const K: std::ops::RangeInclusive<u32> = 1..=16;

    /// The least number of bytes a store needs.
    pub const LEAST: usize = 2 * LINE;

    /// An empty filter of at most `bytes` bytes with `k` bits per state (outside [`K`](BitstateStore::K), the nearest).
    /// None if the account refuses or `bytes` is below [`LEAST`](BitstateStore::LEAST).
    pub fn new(k: u32, bytes: usize, account: &dyn Account) -> Option<Self> {
        if bytes < Self::LEAST {
            return None;
        }
        let lines = Lines::take((bytes - LINE) / LINE, account)?;
        let k = k.clamp(*Self::K.start(), *Self::K.end());
        Some(BitstateStore { lines, k, large: AtomicBool::new(false), sums: Mutex::default(), len: AtomicU64::new(0), known: AtomicU64::new(0) })
    }

    /// How full it is.
    pub fn filling(&self) -> Filling {
        let sums = *self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let bits = self.lines.len() as f64 * f64::from(LINE_BITS);
        Filling {
            fill: sums.set as f64 / bits,
            hash_factor: bits / self.len.load(Ordering::Relaxed).max(1) as f64,
            next_omitted: sums.powers / self.lines.len() as f64,
            expected_omissions: sums.omissions.min(self.known.load(Ordering::Relaxed) as f64),
        }
    }

    #[inline]
    fn line_of(&self, hash: Hash) -> usize {
        ((u128::from(hash.address()) * self.lines.len() as u128) >> 64) as usize
    }

    #[inline]
    fn pattern(&self, hash: Hash) -> Pattern {
        let mut bits = [0; WORDS];
        let mut source = hash.second();
        for number in 0..self.k {
            if number > 0 && number % 7 == 0 {
                // Seven positions of nine bits use up a word; the next comes from both lanes.
                source = (hash.second() ^ hash.address().rotate_left(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
            bits[source as usize & 7] |= 1 << (source >> 3 & 63);
            source >>= 9;
        }
        Pattern { line: self.line_of(hash), bits }
    }

    #[inline]
    fn prefetch(&self, hashes: &[Hash], patterns: &mut [Pattern; GROUP]) {
        for (hash, pattern) in hashes.iter().zip(patterns) {
            *pattern = self.pattern(*hash);
            self.lines.prefetch(pattern.line);
        }
    }

    #[inline]
    fn holds(&self, pattern: &Pattern) -> bool {
        let line = self.lines.line(pattern.line);
        pattern.bits.iter().zip(line).all(|(bits, word)| word.load(Ordering::Relaxed) & bits == *bits)
    }

    /// Sets the bits of a state that lacks some; says which it set, and how many of its line were set before.
    #[inline]
    fn set(&self, pattern: &Pattern) -> (u32, u32) {
        let (mut set, mut before) = (0, 0);
        for (bits, word) in pattern.bits.iter().zip(self.lines.line(pattern.line)) {
            let found = if *bits == 0 { word.load(Ordering::Relaxed) } else { word.fetch_or(*bits, Ordering::Relaxed) };
            set += (bits & !found).count_ones();
            before += found.count_ones();
        }
        (set, before)
    }

    fn power(&self, set: u32) -> f64 {
        (f64::from(set) / f64::from(LINE_BITS)).powi(self.k as i32)
    }

    fn count_known(&self, visits: &[Visit]) {
        self.known.fetch_add(visits.iter().filter(|visit| matches!(visit, Visit::Seen(_))).count() as u64, Ordering::Relaxed);
    }

    /// Adds a group to the sums.
    fn settle(&self, new: u64, set: u64, powers: f64) {
        let len = self.len.fetch_add(new, Ordering::Relaxed) + new;
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        // The odds grow evenly over a group, near enough; each new state stands for the omitted ones before it.
        let odds = ((sums.powers + powers / 2.0) / self.lines.len() as f64).min(1.0 - 1e-9);
        sums.omissions += new as f64 * odds / (1.0 - odds);
        sums.set += set;
        sums.powers += powers;
        drop(sums);
        if self.lines.is_crowded(len) && !self.large.swap(true, Ordering::Relaxed) {
            // Until here a small model has touched small pages only.
            self.lines.offer_large_pages(0..self.lines.len());
            self.lines.gather_large_pages();
        }
    }
}

impl Remember for BitstateStore {
    fn seat(&self) -> Option<Seat> {
        Some(Seat::new(()))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let mut patterns = [Pattern::default(); GROUP];
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            self.prefetch(hashes, &mut patterns);
            visits
                .extend(patterns[..hashes.len()].iter().map(|pattern| if self.holds(pattern) { Visit::Seen(NOWHERE) } else { Visit::New(NOWHERE) }));
        }
        self.count_known(visits);
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let mut patterns = [Pattern::default(); GROUP];
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            self.prefetch(hashes, &mut patterns);
            let (mut new, mut set, mut powers) = (0, 0, 0.0);
            for pattern in &patterns[..hashes.len()] {
                if mask.is_some_and(|mask| !mask[visits.len()]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                if self.holds(pattern) {
                    visits.push(Visit::Seen(NOWHERE));
                    continue;
                }
                if room == 0 {
                    visits.push(Visit::Full);
                    continue;
                }
                let (own, before) = self.set(pattern);
                if own == 0 {
                    // Another worker was faster.
                    visits.push(Visit::Seen(NOWHERE));
                    continue;
                }
                visits.push(Visit::New(NOWHERE));
                (room, new, set) = (room - 1, new + 1, set + u64::from(own));
                powers += self.power(before + own) - self.power(before);
            }
            if new > 0 {
                self.settle(new, set, powers);
            }
        }
        self.count_known(visits);
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Lossy(self.filling().expected_omissions)
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }

    fn figures(&self) -> Figures {
        let Filling { fill, hash_factor, expected_omissions, .. } = self.filling();
        let any = -(-expected_omissions).exp_m1();
        let bytes = self.bytes() as f64;
        let figures = Figures::default().mean("share of bits set", fill, bytes).mean("hash factor", hash_factor, bytes);
        figures.most("probability that any state was omitted", Some(any))
    }
}

impl Recall for BitstateStore {}

impl Forget for BitstateStore {}
