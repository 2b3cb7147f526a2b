//! The cache: a fixed number of slots for fingerprints. If there is no free slot, a new state replaces another.
//!
//! Sources: state-space caching (Holzmann 1987; Godefroid, Holzmann, Pirottin 1992) and the cache of randomised
//! breadth-first search, whose published collision rates fit 1 − slots/insertions: free slots are filled before any is
//! overwritten. Departures:
//! - Slots come in buckets of `ways`, and "free" means free in the state's bucket. With 8 ways the rate lies above the
//!   formula by 0.14 after as many insertions as slots, by 0.005 after 1.7 times as many and by 0.001 after twice as
//!   many. With 16 ways the differences are 0.10, 0.001 and 0.
//! - A bucket's address carries part of the fingerprint, so a slot of 40 bits takes about 32 at ten thousand slots.
//!   With `lru` and `lfu` a bucket has one more word for its history, and with `fifo` for its next victim.
//!
//! Slots are replaced by compare-and-swap, and so is a bucket's history, which may fail. Workers that meet can disturb
//! the order of replacement but never write a wrong fingerprint. If two workers bring the same new state at once and
//! its bucket is full, both may be told that it is new.

use crate::memory::lines::sync::AtomicU64;
use crate::memory::lines::{Lines, WORDS};
use crate::rows::{FINGERPRINTS, any, usual_words};
use crate::spec::{Accepts, Entry, Given, Parameter, widened};
use crate::{
    Abilities, Account, Candidates, ExactStore, Fidelity, Figures, Forget, Handle, Recall, Remember, Room, Seat, StoreRow, StoreSpec, Visit,
};
use std::sync::atomic::{AtomicBool, Ordering};
use wayfarer_space::{Hash, Rng};

/// The row of `cache`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry {
        name: "cache",
        help: "fingerprints of some states; a new one takes the place of another",
        parameters: &[
            Parameter::open("slots", Accepts::Number(1..=1 << 40), "as many as fit", "how many fingerprints it holds"),
            Parameter::new("ways", Accepts::Number(widened(&CacheStore::WAYS)), "8", "the slots that a state may lie in"),
            Parameter::new("bits", Accepts::Number(widened(&CacheStore::BITS)), "40", "the bits of a fingerprint"),
            Parameter::new("replace", Accepts::OneOf(&["random", "fifo", "lru", "lfu"]), "random", "which fingerprint a new one replaces"),
        ],
    },
    abilities: Abilities { evicts: true, shared: false, ..FINGERPRINTS },
    agree: any,
    least: |_, most| ExactStore::least(most),
    settle,
    takes: |given, _| {
        let Asked { slots, ways, bits, replace } = Asked::of(given);
        let slots = slots.unwrap_or(0);
        (CacheStore::bytes_for(slots, ways, bits, replace), format!("{slots} slots"))
    },
    build: |given, room| {
        let Asked { slots, ways, bits, replace } = Asked::of(given);
        Some(Box::new(CacheStore::new(slots.unwrap_or(1), ways, bits, replace, room.seed, room.account)?))
    },
};

/// The parameters of a cache.
struct Asked {
    slots: Option<u64>,
    ways: u32,
    bits: u32,
    replace: Replacement,
}

impl Asked {
    fn of(given: &Given) -> Self {
        let short = |name: &str| given.number(name).unwrap_or(0) as u32;
        let replace = given.text("replace").and_then(Replacement::named).unwrap_or_default();
        Asked { slots: given.number("slots"), ways: short("ways"), bits: short("bits"), replace }
    }
}

/// As many slots as there is room for, beside the queue of a search over a cache, which keeps whole states.
fn settle(given: Given, room: &Room) -> Given {
    let Asked { slots: None, ways, bits, .. } = Asked::of(&given) else { return given };
    // A search that is bounded has a place in its queue for every seventh slot only.
    let slot = match room.bounded {
        true => 8 + (room.packing.words() as u64 * 8 + 24) / 3,
        false => u64::from(bits + 8).div_ceil(8) + usual_words(room.packing) as u64 * 8 + 24,
    };
    let ways = u64::from(ways);
    let slots = (room.fixed as u64 / slot / ways * ways).max(ways);
    given.with("slots", Some(slots.to_string()))
}

const NOWHERE: Handle = Handle(u32::MAX);
/// Candidates whose cache lines are fetched together.
const GROUP: usize = 64;

/// Which state of a full bucket goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replacement {
    /// Any, with equal odds.
    #[default]
    Random,
    /// The one inserted first.
    Fifo,
    /// The one that was asked for the longest time ago.
    Lru,
    /// The one that was asked for least often since it came, as far as a few bits can count.
    Lfu,
}

const REPLACEMENTS: [(&str, Replacement); 4] =
    [("random", Replacement::Random), ("fifo", Replacement::Fifo), ("lru", Replacement::Lru), ("lfu", Replacement::Lfu)];

impl Replacement {
    /// The replacement of this name.
    pub fn named(name: &str) -> Option<Replacement> {
        REPLACEMENTS.iter().find(|found| found.0 == name).map(|found| found.1)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        REPLACEMENTS.iter().find(|found| found.1 == self).map_or("random", |found| found.0)
    }
}

/// Remembers fingerprints of some of the states.
pub struct CacheStore {
    lines: Lines,
    /// Whether large pages were offered to the system.
    large: AtomicBool,
    buckets: u64,
    /// Words from one bucket to the next. The first is the history, if there is one.
    stride: usize,
    ways: u32,
    replacement: Replacement,
    /// Bits in a slot (the lowest says that it is filled), and slots in a word.
    width: u32,
    per_word: u32,
    rng: Rng,
    seats: AtomicU64,
    held: AtomicU64,
    insertions: AtomicU64,
    collisions: AtomicU64,
}

/// A worker's place at a cache.
struct CacheSeat {
    rng: Rng,
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// The first word of the bucket.
    word: usize,
    value: u64,
}

/// The result of putting a state into the cache.
enum Put {
    Present,
    Filled,
    Overwrote,
}

impl CacheStore {
    /// The choice of a cache with these parameters; as many slots as fit if none are given.
    pub fn spec(slots: Option<u64>, ways: u32, bits: u32, replace: Replacement) -> StoreSpec {
        let slots = slots.map(|slots| slots.to_string());
        let values =
            [("slots", slots), ("ways", Some(ways.to_string())), ("bits", Some(bits.to_string())), ("replace", Some(replace.name().to_owned()))];
        StoreSpec::of(&ROW, &values)
    }

    /// How many slots a bucket may have.
    pub const WAYS: std::ops::RangeInclusive<u32> = 1..=16;
    /// How many bits a fingerprint may have.
    pub const BITS: std::ops::RangeInclusive<u32> = 8..=64;

    /// An empty cache of at least `slots` slots (rounded up to whole buckets) in buckets of `ways`, for fingerprints of
    /// at least `bits` bits. A value out of range counts as the nearest in range. None if the account refuses.
    pub fn new(slots: u64, ways: u32, bits: u32, replacement: Replacement, seed: u64, account: &dyn Account) -> Option<Self> {
        let (ways, width, stride, per_word) = Self::layout(slots, ways, bits, replacement);
        let buckets = slots.max(1).div_ceil(u64::from(ways));
        let words = usize::try_from(buckets).ok()?.checked_mul(stride)?;
        let lines = Lines::take(words.div_ceil(WORDS), account)?;
        Some(CacheStore {
            lines,
            large: AtomicBool::new(false),
            buckets,
            stride,
            ways,
            replacement,
            width,
            per_word,
            rng: Rng::new(seed, "cache"),
            seats: AtomicU64::new(0),
            held: AtomicU64::new(0),
            insertions: AtomicU64::new(0),
            collisions: AtomicU64::new(0),
        })
    }

    /// The bytes that a cache of these parameters takes.
    pub fn bytes_for(slots: u64, ways: u32, bits: u32, replacement: Replacement) -> usize {
        let (ways, _, stride, _) = Self::layout(slots, ways, bits, replacement);
        let buckets = slots.max(1).div_ceil(u64::from(ways));
        Lines::bytes_for((buckets as usize).saturating_mul(stride).div_ceil(WORDS))
    }

    /// Ways, bits in a slot, words in a bucket, and slots in a word.
    fn layout(slots: u64, ways: u32, bits: u32, replacement: Replacement) -> (u32, u32, usize, u32) {
        let ways = ways.clamp(*Self::WAYS.start(), *Self::WAYS.end());
        let bits = bits.clamp(*Self::BITS.start(), *Self::BITS.end());
        let buckets = slots.max(1).div_ceil(u64::from(ways));
        // The bits that the address does not carry, but no more than fit into a word beside the mark of a filled slot.
        let rest = (f64::from(bits) - (buckets as f64).log2()).ceil().clamp(1.0, 63.0) as u32;
        let per_word = (64 / (rest + 1)).min(ways);
        let history = usize::from(replacement != Replacement::Random);
        (ways, rest + 1, history + ways.div_ceil(per_word) as usize, per_word)
    }

    /// How many states it has room for.
    pub fn slots(&self) -> u64 {
        self.buckets * u64::from(self.ways)
    }

    /// How many states were inserted, those included that came back after they were forgotten.
    pub fn insertions(&self) -> u64 {
        self.insertions.load(Ordering::Relaxed)
    }

    /// How many insertions overwrote another state.
    pub fn collisions(&self) -> u64 {
        self.collisions.load(Ordering::Relaxed)
    }

    /// How many states were forgotten: each collision evicts one, and nothing else does.
    pub fn evictions(&self) -> u64 {
        self.collisions()
    }

    /// The share of the insertions that overwrote another state; 0 before the first.
    pub fn collision_rate(&self) -> f64 {
        self.collisions() as f64 / self.insertions().max(1) as f64
    }

    #[inline]
    fn place(&self, hash: Hash) -> Place {
        let product = u128::from(hash.address()) * u128::from(self.buckets);
        let rest = (product as u64) >> (65 - self.width);
        Place { word: (product >> 64) as usize * self.stride, value: rest << 1 | 1 }
    }

    #[inline]
    fn prefetch(&self, hashes: &[Hash], places: &mut [Place; GROUP]) {
        for (hash, place) in hashes.iter().zip(places) {
            *place = self.place(*hash);
            self.prefetch_bucket(*place);
        }
    }

    /// A bucket may lie across a border of lines.
    #[inline]
    fn prefetch_bucket(&self, place: Place) {
        let (first, last) = (place.word / WORDS, (place.word + self.stride - 1) / WORDS);
        self.lines.prefetch(first);
        if last != first {
            self.lines.prefetch(last);
        }
    }

    /// The word and the shift of a slot.
    #[inline]
    fn slot(&self, place: Place, way: u32) -> (&AtomicU64, u32) {
        let history = usize::from(self.replacement != Replacement::Random);
        (&self.lines.words()[place.word + history + (way / self.per_word) as usize], way % self.per_word * self.width)
    }

    /// The slot of a state in its bucket, or else the first free slot with its word.
    #[inline]
    fn look(&self, place: Place) -> Result<u32, Option<(u32, u64)>> {
        let mask = u64::MAX >> (64 - self.width);
        for way in 0..self.ways {
            let (word, shift) = self.slot(place, way);
            let found = word.load(Ordering::Relaxed);
            let value = found >> shift & mask;
            if value == place.value {
                return Ok(way);
            }
            // Slots are filled from the first on.
            if value == 0 {
                return Err(Some((way, found)));
            }
        }
        Err(None)
    }

    fn put(&self, seat: &mut CacheSeat, place: Place) -> Put {
        let mask = u64::MAX >> (64 - self.width);
        loop {
            let (way, found, put) = match self.look(place) {
                Ok(way) => {
                    self.touch(place, way, false);
                    return Put::Present;
                }
                Err(Some((way, found))) => (way, found, Put::Filled),
                Err(None) => {
                    let way = self.victim(seat, place);
                    (way, self.slot(place, way).0.load(Ordering::Relaxed), Put::Overwrote)
                }
            };
            let (word, shift) = self.slot(place, way);
            let value = found & !(mask << shift) | place.value << shift;
            if word.compare_exchange(found, value, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.touch(place, way, true);
                return put;
            }
        }
    }

    fn history(&self, place: Place) -> &AtomicU64 {
        &self.lines.words()[place.word]
    }

    /// Which slot of a full bucket is overwritten.
    fn victim(&self, seat: &mut CacheSeat, place: Place) -> u32 {
        match self.replacement {
            Replacement::Random => seat.rng.below(u64::from(self.ways)) as u32,
            Replacement::Fifo => (self.history(place).load(Ordering::Relaxed) % u64::from(self.ways)) as u32,
            // The history lists the ways from the last used to the first used; at the end of it lies the victim.
            Replacement::Lru => (self.history(place).load(Ordering::Relaxed) >> (4 * (self.ways - 1)) & 15) as u32 % self.ways,
            Replacement::Lfu => {
                let history = self.history(place).load(Ordering::Relaxed);
                (0..self.ways).min_by_key(|way| self.frequency(history, *way)).unwrap_or(0)
            }
        }
    }

    /// Bits that count how often a slot's state was asked for.
    fn counter_bits(&self) -> u32 {
        (64 / self.ways).min(8)
    }

    fn frequency(&self, history: u64, way: u32) -> u64 {
        history >> (way * self.counter_bits()) & ((1 << self.counter_bits()) - 1)
    }

    /// Notes that a slot was asked for, or filled anew.
    fn touch(&self, place: Place, way: u32, filled: bool) {
        if self.replacement == Replacement::Random {
            return;
        }
        let history = self.history(place);
        let found = history.load(Ordering::Relaxed);
        let next = match self.replacement {
            Replacement::Random => return,
            // The next victim is the one after the last that was filled.
            Replacement::Fifo if filled => u64::from((way + 1) % self.ways),
            Replacement::Fifo => return,
            Replacement::Lru => to_front(found, way, self.ways),
            Replacement::Lfu => self.counted(found, way, filled),
        };
        if next != found {
            // A worker that was faster has touched the bucket just now: its order is as good as this one's.
            let _ = history.compare_exchange(found, next, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn counted(&self, history: u64, way: u32, filled: bool) -> u64 {
        let bits = self.counter_bits();
        let most = (1u64 << bits) - 1;
        let at = way * bits;
        if filled {
            return history & !(most << at) | 1 << at;
        }
        let frequency = self.frequency(history, way);
        if frequency < most {
            return history + (1 << at);
        }
        // A full counter halves all, so that the past fades.
        (0..self.ways).fold(0, |halved, other| halved | (self.frequency(history, other) / 2) << (other * bits)) | 1 << (at + bits - 1)
    }
}

/// A list of ways, four bits each, with `way` brought to its front. Zero is the list in order of the ways, which no other list is.
fn to_front(list: u64, way: u32, ways: u32) -> u64 {
    let list = if list == 0 { (0..ways).fold(0, |list, way| list | u64::from(way) << (4 * way)) } else { list };
    let mut front = u64::from(way);
    let mut at = 4;
    for position in 0..ways {
        let entry = list >> (4 * position) & 15;
        if entry != u64::from(way) && at < 64 {
            front |= entry << at;
            at += 4;
        }
    }
    front
}

impl Remember for CacheStore {
    fn seat(&self) -> Option<Seat> {
        let number = self.seats.fetch_add(1, Ordering::Relaxed);
        Some(Seat::new(CacheSeat { rng: self.rng.split(number) }))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        let mut places = [Place::default(); GROUP];
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            self.prefetch(hashes, &mut places);
            for place in &places[..hashes.len()] {
                visits.push(match self.look(*place) {
                    Ok(way) => {
                        self.touch(*place, way, false);
                        Visit::Seen(NOWHERE)
                    }
                    Err(_) => Visit::New(NOWHERE),
                });
            }
        }
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        let Some(seat) = seat.of::<CacheSeat>() else { return };
        let mut places = [Place::default(); GROUP];
        let (mut filled, mut collisions) = (0, 0);
        for hashes in candidates.steps.hashes.chunks(GROUP) {
            self.prefetch(hashes, &mut places);
            for place in &places[..hashes.len()] {
                if mask.is_some_and(|mask| !mask[visits.len()]) {
                    visits.push(Visit::Skipped);
                    continue;
                }
                if room == 0 {
                    visits.push(if self.look(*place).is_ok() { Visit::Seen(NOWHERE) } else { Visit::Full });
                    continue;
                }
                match self.put(seat, *place) {
                    Put::Present => {
                        visits.push(Visit::Seen(NOWHERE));
                        continue;
                    }
                    Put::Filled => filled += 1,
                    Put::Overwrote => collisions += 1,
                }
                visits.push(Visit::New(NOWHERE));
                room -= 1;
            }
        }
        if filled + collisions > 0 {
            let held = self.held.fetch_add(filled, Ordering::Relaxed) + filled;
            if self.lines.is_crowded(held) && !self.large.swap(true, Ordering::Relaxed) {
                // Until here a small model has touched small pages only.
                self.lines.offer_large_pages(0..self.lines.len());
                self.lines.gather_large_pages();
            }
            self.collisions.fetch_add(collisions, Ordering::Relaxed);
            self.insertions.fetch_add(filled + collisions, Ordering::Relaxed);
        }
    }

    /// The number of states it holds now, without those it forgot.
    fn len(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Amnesic
    }

    fn so_far(&self) -> Fidelity {
        if self.collisions() > 0 {
            return Fidelity::Amnesic;
        }
        // A new state is compared with the states in its bucket, half as many on average as there are in the end.
        let held = self.len() as f64;
        Fidelity::Lossy(held * held / 2.0 / self.buckets as f64 / (1u64 << (self.width - 1)) as f64)
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }

    fn figures(&self) -> Figures {
        let [slots, collisions, evictions] = [self.slots(), self.collisions(), self.evictions()].map(|count| count as f64);
        Figures::default().sum("slots", slots).sum("collisions", collisions).sum("evictions", evictions)
    }
}

impl Recall for CacheStore {}

impl Forget for CacheStore {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_all_ways() {
        let list = to_front(to_front(0, 2, 4), 0, 4);
        assert_eq!(list, 0x3120);
        assert_eq!(to_front(list, 3, 4), 0x1203);
        assert_eq!(to_front(0, 0, 1), 0);
        let all = (0..16).fold(0, |list, way| to_front(list, way, 16));
        assert_eq!(all, 0x0123_4567_89AB_CDEF);
    }
}
