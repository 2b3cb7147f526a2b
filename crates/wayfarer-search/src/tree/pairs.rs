//! A compact set of pairs of numbers: what the tree store knows its states by.
//!
//! After Cleary ("Compact hash tables using bidirectional linear probing", 1984), as compact tree databases use him (van der Berg 2019; Laarman 2019): a
//! pair's address carries part of it, and a slot keeps only the rest. For a pair (left, right), `right ^ mix(left)` gives the share (its low bits) and the bucket
//! (the others, as a share of their range); the slot keeps which of the bucket's addresses it was, together with `left`, in mixed radix, so that not even
//! fractions of a bit are lost to rounding.
//!
//! Departures: no bidirectional probing and no order inside a bucket; a pair lies in its home bucket or one of the next three, and the slot says in which.
//! Slots are lanes of a 64-bit word (five, four, three, two or one), so that one compare-and-swap inserts. Each of the 256 shares is a table of its own that
//! grows by a third; growing freezes its free slots, copies and publishes, as the exact store's index does.
#![allow(unsafe_code)] // Buckets are atomics in raw memory.

use crate::Account;
use crate::arena::{Chunk, LINE};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const SHARES: usize = 256;
const SHARE_BITS: u32 = 8;
/// Words of a bucket, a cache line.
const WORDS: usize = LINE / 8;
/// Buckets in which a pair may lie, from its home on.
const REACH: u64 = 4;
/// How many lanes a word may have, the narrowest first.
const LANES: [u32; 5] = [5, 4, 3, 2, 1];
/// Says that a worker is not inside a batch.
const IDLE: u64 = u64::MAX;
/// The most workers at one set.
const SEATS: usize = 256;

/// A growing set of pairs for several workers.
pub(super) struct Pairs {
    /// A [`Table`] each, in one word.
    shares: Box<[AtomicU64]>,
    used: Box<[AtomicU32]>,
    /// One past the largest right number so far, so that a share that grows gives room to all.
    right_end: AtomicU64,
    left_end: AtomicU64,
    grounds: Mutex<Grounds>,
    bytes: AtomicUsize,
    epoch: AtomicU64,
    noted: Box<[AtomicU64]>,
    seats: AtomicUsize,
}

struct Grounds {
    /// The memory of each share's table.
    tables: Vec<Chunk>,
    /// Tables that were replaced, and the epoch from which nobody sees them.
    replaced: Vec<(u64, Chunk)>,
}

/// A worker's place at the set.
pub(super) struct PairSeat(usize);

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Present,
    Inserted,
    /// Not there, and no room for it.
    Full,
}

/// A share's table. All of it fits one word.
#[derive(Clone, Copy)]
struct Table {
    base: *mut u8,
    /// The number of buckets by its place in the row of sizes.
    class: u32,
    /// Bits of a right number.
    right_bits: u32,
    /// Lanes of a word.
    lanes: u32,
    /// The word it was read from.
    word: u64,
}

impl Pairs {
    /// An empty set; none where the account has no room to begin.
    pub(super) fn new(account: &dyn Account) -> Option<Self> {
        let pairs = Pairs {
            shares: (0..SHARES).map(|_| AtomicU64::new(0)).collect(),
            used: (0..SHARES).map(|_| AtomicU32::new(0)).collect(),
            right_end: AtomicU64::new(1),
            left_end: AtomicU64::new(1),
            grounds: Mutex::new(Grounds { tables: Vec::new(), replaced: Vec::new() }),
            bytes: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
            noted: (0..SEATS).map(|_| AtomicU64::new(IDLE)).collect(),
            seats: AtomicUsize::new(0),
        };
        let mut grounds = pairs.grounds.lock().ok()?;
        for share in 0..SHARES {
            let (table, chunk) = pairs.make(0, right_bits_of(0, 0), 5, account)?;
            pairs.shares[share].store(table.word, Ordering::Relaxed);
            grounds.tables.push(chunk);
        }
        drop(grounds);
        Some(pairs)
    }

    /// The bytes that an empty set takes.
    pub(super) const LEAST: usize = SHARES * LINE;

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn seat(&self) -> Option<PairSeat> {
        let number = self.seats.fetch_add(1, Ordering::Relaxed);
        (number < SEATS).then_some(PairSeat(number))
    }

    /// A worker begins a batch: until it leaves, no table it may see is freed.
    pub(super) fn enter(&self, seat: &PairSeat) {
        self.noted[seat.0].store(self.epoch.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    pub(super) fn leave(&self, seat: &PairSeat) {
        self.noted[seat.0].store(IDLE, Ordering::Release);
    }

    /// Brings a pair's home bucket into the cache.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let table = self.table(share_of(left, right));
        let (home, _) = table.home(left, right);
        let address = table.base.wrapping_add(home as usize * LINE);
        crate::arena::prefetch_line(address);
    }

    /// Whether the pair is in the set.
    #[inline]
    pub(super) fn contains(&self, left: u32, right: u32) -> bool {
        let share = share_of(left, right);
        loop {
            let table = self.table(share);
            if !table.holds(left, right) {
                return false;
            }
            match table.look(left, right, false) {
                Looked::Found => return true,
                Looked::Frozen => std::thread::yield_now(),
                _ => return false,
            }
        }
    }

    /// Puts a pair into the set. Only between [`enter`](Pairs::enter) and [`leave`](Pairs::leave).
    #[inline]
    pub(super) fn put(&self, seat: &PairSeat, left: u32, right: u32, account: &dyn Account) -> Put {
        let share = share_of(left, right);
        loop {
            let table = self.table(share);
            if !table.holds(left, right) {
                if !self.grow(seat, share, table, left, right, false, account) {
                    return Put::Full;
                }
                continue;
            }
            match table.look(left, right, true) {
                Looked::Found => return Put::Present,
                Looked::Inserted => {
                    let used = self.used[share].fetch_add(1, Ordering::Relaxed) + 1;
                    if u64::from(used) * 16 >= table.slots() * 15 {
                        // Where there is no room to grow, the share fills up to its last slot.
                        self.grow(seat, share, table, left, right, true, account);
                    }
                    return Put::Inserted;
                }
                Looked::Frozen => std::thread::yield_now(),
                Looked::Crowded | Looked::Free => {
                    if !self.grow(seat, share, table, left, right, true, account) {
                        return Put::Full;
                    }
                }
            }
        }
    }

    #[inline]
    fn table(&self, share: usize) -> Table {
        Table::from_word(self.shares[share].load(Ordering::Acquire))
    }

    /// An empty table and its memory.
    fn make(&self, class: u32, right_bits: u32, lanes: u32, account: &dyn Account) -> Option<(Table, Chunk)> {
        let bytes = SIZES[class as usize] as usize * LINE;
        let chunk = Chunk::take(bytes, account)?;
        // SAFETY: the chunk has this many bytes and nobody else knows it yet.
        unsafe { chunk.start().write_bytes(0, bytes) };
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Some((Table::new(chunk.start(), class, right_bits, lanes), chunk))
    }

    /// Replaces a share's table by one that can hold the pair, larger where `larger`; false where there is no memory for it.
    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn grow(&self, seat: &PairSeat, share: usize, table: Table, left: u32, right: u32, larger: bool, account: &dyn Account) -> bool {
        let Ok(mut grounds) = self.grounds.lock() else { return false };
        if self.shares[share].load(Ordering::Acquire) != table.word {
            return true;
        }
        // This worker holds no other table, so what was replaced before it came here is not its business.
        self.noted[seat.0].store(self.epoch.load(Ordering::SeqCst), Ordering::SeqCst);
        self.free_replaced(&mut grounds);
        table.freeze();
        let (most_left, most_right, used) = table.largest();
        let (left, right) = (u64::from(left.max(most_left)) + 1, u64::from(right.max(most_right)) + 1);
        let left_end = self.left_end.fetch_max(left, Ordering::Relaxed).max(left);
        let right_end = self.right_end.fetch_max(right, Ordering::Relaxed).max(right);
        let right_bits = 64 - (right_end - 1).leading_zeros();
        let mut slots = ((used + 1) * 16).div_ceil(15) + 1;
        if larger {
            slots = slots.max(table.slots() + table.slots() / 5 + 1);
        }
        loop {
            let made =
                cheapest(slots, right_bits, left_end).and_then(|(class, lanes)| self.make(class, right_bits_of(class, right_bits), lanes, account));
            let Some((grown, chunk)) = made else {
                table.thaw();
                return false;
            };
            if table.copy_to(&grown) {
                self.used[share].store(used as u32, Ordering::Relaxed);
                self.shares[share].store(grown.word, Ordering::Release);
                let old = std::mem::replace(&mut grounds.tables[share], chunk);
                let epoch = self.epoch.fetch_add(1, Ordering::SeqCst) + 1;
                grounds.replaced.push((epoch, old));
                self.noted[seat.0].store(epoch, Ordering::SeqCst);
                self.free_replaced(&mut grounds);
                return true;
            }
            self.bytes.fetch_sub(chunk.bytes(), Ordering::Relaxed);
            slots = grown.slots() + grown.slots() / 5 + 1;
        }
    }

    /// Frees the tables that no worker can see any more.
    fn free_replaced(&self, grounds: &mut Grounds) {
        let seats = self.seats.load(Ordering::Relaxed).min(SEATS);
        let oldest = self.noted[..seats].iter().map(|noted| noted.load(Ordering::SeqCst)).min().unwrap_or(IDLE);
        grounds.replaced.retain(|(epoch, chunk)| {
            let seen = *epoch > oldest;
            if !seen {
                self.bytes.fetch_sub(chunk.bytes(), Ordering::Relaxed);
            }
            seen
        });
    }
}

/// The least memory with so many slots that hold such numbers: class and lanes.
fn cheapest(slots: u64, right_bits: u32, left_end: u64) -> Option<(u32, u32)> {
    let fitting = LANES.iter().filter_map(|lanes| {
        let buckets = slots.div_ceil(u64::from(*lanes) * WORDS as u64);
        let fits = |class: &u32| SIZES[*class as usize] >= buckets && speaks(*class, right_bits_of(*class, right_bits), *lanes, left_end - 1);
        (0..SIZES.len() as u32).find(fits).map(|class| (class, *lanes))
    });
    fitting.min_by_key(|(class, lanes)| (*class, 5 - *lanes))
}

/// The bits in which a table mixes right numbers with left ones: as many as they have, and enough for the buckets to be met about equally often.
fn right_bits_of(class: u32, needed: u32) -> u32 {
    let buckets = SIZES[class as usize];
    (SHARE_BITS + 64 - (buckets - 1).leading_zeros()).max(needed).min(32)
}

/// Whether the slots of a table are wide enough for a left number.
#[inline]
fn speaks(class: u32, right_bits: u32, lanes: u32, left: u64) -> bool {
    (left + 1) * quotients(class, right_bits) <= (lane_ones(lanes) - 2) / REACH
}

/// How many quotients there are.
#[inline]
fn quotients(class: u32, right_bits: u32) -> u64 {
    (1u64 << (right_bits - SHARE_BITS)).div_ceil(SIZES[class as usize])
}

/// A lane full of ones.
#[inline]
fn lane_ones(lanes: u32) -> u64 {
    u64::MAX >> (64 - LANE_BITS[lanes as usize])
}

const LANE_BITS: [u32; 6] = [0, 64, 32, 21, 16, 12];

/// Numbers of buckets, each about a third more than the one before.
static SIZES: [u64; 64] = sizes();

const fn sizes() -> [u64; 64] {
    let mut sizes = [0; 64];
    let mut size = 1u64;
    let mut at = 0;
    while at < sizes.len() {
        sizes[at] = size;
        size = if size < 4 { size + 1 } else { size + size / 3 };
        at += 1;
    }
    sizes
}

/// Multiplying by the one scatters addresses, so that buckets of one address more and one less lie side by side; by the other, gathers them again.
const SCATTER: (u64, u64) = (0x9E37_79B1, inverse(0x9E37_79B1));

/// The odd number that undoes multiplying by this one, by Newton's rule: each round doubles the bits that are right.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut round = 0;
    while round < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

/// The share of a pair.
#[inline]
fn share_of(left: u32, right: u32) -> usize {
    (right ^ mix(left)) as usize & (SHARES - 1)
}

/// A number's image under a fixed scrambling.
#[inline]
fn mix(left: u32) -> u32 {
    let product = u64::from(left).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as u32 ^ (product >> 13) as u32
}

/// How a walk through a table ended.
enum Looked {
    Found,
    Inserted,
    Free,
    Frozen,
    Crowded,
}

impl Table {
    const ADDRESS: u32 = 42;

    fn new(base: *mut u8, class: u32, right_bits: u32, lanes: u32) -> Self {
        let word = (base as u64 >> 6)
            | u64::from(class) << Self::ADDRESS
            | u64::from(right_bits) << (Self::ADDRESS + 6)
            | u64::from(lanes) << (Self::ADDRESS + 12);
        Table { base, class, right_bits, lanes, word }
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        let field = |at: u32| (word >> (Self::ADDRESS + at) & 63) as u32;
        Table { base: ((word & ((1 << Self::ADDRESS) - 1)) << 6) as *mut u8, class: field(0), right_bits: field(6), lanes: field(12), word }
    }

    #[inline]
    fn buckets(&self) -> u64 {
        SIZES[self.class as usize]
    }

    #[inline]
    fn slots(&self) -> u64 {
        self.buckets() * u64::from(self.lanes) * WORDS as u64
    }

    /// Whether the slots can say this pair.
    #[inline]
    fn holds(&self, left: u32, right: u32) -> bool {
        u64::from(right) >> self.right_bits == 0 && speaks(self.class, self.right_bits, self.lanes, u64::from(left))
    }

    /// A pair's home bucket and quotient.
    #[inline]
    fn home(&self, left: u32, right: u32) -> (u64, u64) {
        let mask = ((1u64 << self.right_bits) - 1) as u32;
        let rest = u64::from((right ^ (mix(left) & mask)) >> SHARE_BITS);
        let bits = self.right_bits - SHARE_BITS;
        let scattered = rest.wrapping_mul(SCATTER.0) & ((1 << bits) - 1);
        let bucket = (scattered * self.buckets()) >> bits;
        (bucket, scattered - (bucket << bits).div_ceil(self.buckets()))
    }

    #[inline]
    fn word(&self, bucket: u64, at: usize) -> &AtomicU64 {
        debug_assert!(bucket < self.buckets() && at < WORDS);
        // SAFETY: the table has `buckets` lines of eight aligned words, which are only read and written through atomics while it is a table, and which
        // outlive the batch in which it was found (see `Pairs::enter`).
        unsafe { &*self.base.add(bucket as usize * LINE + at * 8).cast::<AtomicU64>() }
    }

    /// Looks for a pair that the table can hold, and puts it into the first free slot where `insert`.
    #[inline]
    fn look(&self, left: u32, right: u32, insert: bool) -> Looked {
        match self.lanes {
            1 => self.look_in::<1, 64>(left, right, insert),
            2 => self.look_in::<2, 32>(left, right, insert),
            3 => self.look_in::<3, 21>(left, right, insert),
            4 => self.look_in::<4, 16>(left, right, insert),
            _ => self.look_in::<5, 12>(left, right, insert),
        }
    }

    #[inline(always)]
    fn look_in<const LANES: u32, const BITS: u32>(&self, left: u32, right: u32, insert: bool) -> Looked {
        let (home, quotient) = self.home(left, right);
        let value = (u64::from(left) * quotients(self.class, self.right_bits) + quotient) * REACH + 1;
        let buckets = self.buckets();
        let mut bucket = home;
        for distance in 0..REACH.min(buckets) {
            'again: loop {
                let wanted = spread::<LANES, BITS>(value + distance);
                let mut words = [0; WORDS];
                for (at, word) in words.iter_mut().enumerate() {
                    *word = self.word(bucket, at).load(Ordering::Acquire);
                }
                let found = words.iter().fold(0, |found, word| found | zero_lanes::<LANES, BITS>(word ^ wanted));
                if found != 0 {
                    return Looked::Found;
                }
                // Slots fill in order, so only the last word can have a free one while the others have none.
                for (at, word) in words.iter().enumerate() {
                    let free = zero_lanes::<LANES, BITS>(*word);
                    if free != 0 {
                        if !insert {
                            return Looked::Free;
                        }
                        let shift = free.trailing_zeros() + 1 - BITS;
                        let new = word | (value + distance) << shift;
                        if self.word(bucket, at).compare_exchange(*word, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                            return Looked::Inserted;
                        }
                        continue 'again;
                    }
                }
                let ones = spread::<LANES, BITS>(u64::MAX >> (64 - BITS));
                if words.iter().any(|word| zero_lanes::<LANES, BITS>(word ^ ones) != 0) {
                    return Looked::Frozen;
                }
                break;
            }
            bucket = if bucket + 1 == buckets { 0 } else { bucket + 1 };
        }
        Looked::Crowded
    }

    /// Calls `each` with every pair. Of right numbers the lowest bits are missing: they are the share's business and no part of a slot's address.
    fn pairs(&self, mut each: impl FnMut(u32, u32)) {
        let (bits, ones, buckets) = (LANE_BITS[self.lanes as usize], lane_ones(self.lanes), self.buckets());
        let count = quotients(self.class, self.right_bits);
        let mask = ((1u64 << self.right_bits) - 1) as u32 & !(SHARES as u32 - 1);
        for bucket in 0..buckets {
            for at in 0..WORDS {
                let word = self.word(bucket, at).load(Ordering::Acquire);
                for lane in 0..self.lanes {
                    let value = word >> (lane * bits) & ones;
                    if value == 0 || value == ones {
                        continue;
                    }
                    let (rest, distance) = ((value - 1) / REACH, (value - 1) % REACH);
                    let (left, quotient) = ((rest / count) as u32, rest % count);
                    let home = (bucket + buckets - distance) % buckets;
                    let scattered = (home << (self.right_bits - SHARE_BITS)).div_ceil(buckets) + quotient;
                    let rest = scattered.wrapping_mul(SCATTER.1) & ((1 << (self.right_bits - SHARE_BITS)) - 1);
                    each(left, ((rest as u32) << SHARE_BITS) ^ (mix(left) & mask));
                }
            }
        }
    }

    /// The largest left number, no less than the largest right one, and how many pairs there are.
    fn largest(&self) -> (u32, u32, u64) {
        let mut largest = (0, 0, 0);
        self.pairs(|left, right| largest = (largest.0.max(left), largest.1.max(right | (SHARES as u32 - 1)), largest.2 + 1));
        largest
    }

    /// Replaces the lanes that hold `from` by `to`.
    fn replace(&self, from: u64, to: u64) {
        let bits = LANE_BITS[self.lanes as usize];
        for bucket in 0..self.buckets() {
            for at in 0..WORDS {
                let _ = self.word(bucket, at).fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                    let mut new = word;
                    for lane in 0..self.lanes {
                        if word >> (lane * bits) & lane_ones(self.lanes) == from {
                            new = new & !(lane_ones(self.lanes) << (lane * bits)) | to << (lane * bits);
                        }
                    }
                    Some(new)
                });
            }
        }
    }

    /// Stops all insertions: every free slot becomes frozen.
    fn freeze(&self) {
        self.replace(0, lane_ones(self.lanes));
    }

    fn thaw(&self) {
        self.replace(lane_ones(self.lanes), 0);
    }

    /// Copies all pairs into a table that no one else sees yet; false where one found no place.
    fn copy_to(&self, to: &Table) -> bool {
        let mut all = true;
        self.pairs(|left, right| all = all && matches!(to.look(left, right, true), Looked::Inserted));
        all
    }
}

/// A value in every lane.
#[inline(always)]
fn spread<const LANES: u32, const BITS: u32>(value: u64) -> u64 {
    let mut spread = value;
    for lane in 1..LANES {
        spread |= value << (lane * BITS);
    }
    spread
}

/// The top bit of every lane that is zero.
#[inline(always)]
fn zero_lanes<const LANES: u32, const BITS: u32>(word: u64) -> u64 {
    let tops = spread::<LANES, BITS>(1 << (BITS - 1));
    let rests = spread::<LANES, BITS>((1 << (BITS - 1)) - 1);
    !(((word & rests) + rests) | word) & tops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use std::collections::HashSet;
    use wayfarer_space::Rng;

    fn filled(pairs: impl Iterator<Item = (u32, u32)>) -> (Pairs, HashSet<(u32, u32)>) {
        let set = Pairs::new(&Unlimited).unwrap();
        let seat = set.seat().unwrap();
        let mut known = HashSet::new();
        set.enter(&seat);
        for (left, right) in pairs {
            let expected = if known.insert((left, right)) { Put::Inserted } else { Put::Present };
            assert_eq!(set.put(&seat, left, right, &Unlimited), expected, "{left} {right}");
        }
        set.leave(&seat);
        (set, known)
    }

    #[test]
    fn answers_like_a_set() {
        let mut rng = Rng::new(1, "pairs");
        for (left, right) in [(1, 60_000), (60_000, 1), (300, 300), (20_000, 50_000), (1 << 31, 1 << 31)] {
            let (set, known) = filled((0..60_000).map(|_| (rng.below(left) as u32, rng.below(right) as u32)));
            for _ in 0..20_000 {
                let pair = (rng.below(left) as u32, rng.below(right) as u32);
                assert_eq!(set.contains(pair.0, pair.1), known.contains(&pair));
            }
            assert!(known.iter().all(|(left, right)| set.contains(*left, *right)));
        }
    }

    #[test]
    fn numbers_that_grow_widen_the_slots() {
        let (set, known) = filled((0..200_000u32).map(|number| (number / 40, number.wrapping_mul(7) % (number / 3 + 1))));
        assert!(known.iter().all(|(left, right)| set.contains(*left, *right)));
        let bytes = set.bytes() as f64 / known.len() as f64;
        assert!(bytes < 6.0, "{bytes} bytes a pair");
    }

    #[test]
    fn strides_and_equal_low_bits_find_their_places() {
        for stride in [256, 1 << 12, 1 << 16] {
            let (set, known) = filled((0..30_000u32).map(|number| (number % 3, (number / 3).wrapping_mul(stride))));
            assert!(known.iter().all(|(left, right)| set.contains(*left, *right)));
        }
    }

    #[test]
    fn several_workers_insert_every_pair_once() {
        let set = Pairs::new(&Unlimited).unwrap();
        let inserted = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4u32 {
                let (set, inserted) = (&set, &inserted);
                scope.spawn(move || {
                    let seat = set.seat().unwrap();
                    for round in 0..100u32 {
                        set.enter(&seat);
                        for number in 0..1_000u32 {
                            let pair = round * 1_000 + (number * 7 + worker * 250) % 1_000;
                            if set.put(&seat, pair % 977, pair / 13, &Unlimited) == Put::Inserted {
                                inserted.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        set.leave(&seat);
                    }
                });
            }
        });
        let distinct: HashSet<_> = (0..100_000u32).map(|pair| (pair % 977, pair / 13)).collect();
        assert_eq!(inserted.load(Ordering::Relaxed), distinct.len());
    }
}
