//! How fingerprints are split between a bucket's address and its slots, and how a bucket's line is laid out.
//!
//! A fingerprint is a fraction x in [0, 1). Of x · buckets the whole part is the home bucket and the first `rest` bits behind the point are kept in a slot,
//! so that buckets × 2^rest fingerprints are told apart. Doubling the buckets makes the first of the kept bits the last of the address; dropping kept bits
//! at the end makes slots narrower. Neither needs anything that is not in the bucket itself.
//!
//! An entry may also lie in one other bucket, one of 128 distances away that depends on seven of the kept bits, the ones that are first when the table has
//! its full size: they are never dropped. Distances are counted in steps of as many buckets as one bucket has become by doubling, so that doubling takes both
//! buckets of an entry to the two buckets of its new home. One more bit in each slot says in which of the two an entry lies.
//!
//! A line of 512 bits: the slots from bit 0 up, filled from the first on; then unused bits; then, at the top, how many slots are filled, whether an entry
//! that is at home here lies elsewhere, and the lock.

use super::scan::Scan;
use crate::memory::lines::sync::{spin_loop, yield_now};
use crate::memory::lines::{Line, WORDS};
use std::sync::atomic::Ordering;

/// How many of the kept bits choose an entry's other bucket.
pub(super) const STEER: u32 = 7;
/// The fewest buckets a table has, enough for all distances to differ.
pub(super) const FEWEST: u64 = 256;
/// A table that will grow begins with this many buckets, or up to twice as many. An entry can only lie a whole number
/// of such steps away from its home, so there must be many buckets for all to fill evenly: with 256 a table was full at
/// 95 %.
pub(super) const FIRST: u64 = 1 << 14;
/// The lock's bit in a line's last word.
pub(super) const LOCK: u64 = 1 << 63;
/// Set if an entry whose home is this bucket lies in its other bucket.
const SPILLED: u64 = 1 << 62;
const LAST: usize = WORDS - 1;
const MOST_SLOTS: u32 = 63;
/// Kept bits from which on larger steps lose next to nothing, and hardly any two entries of a bucket become alike.
const MANY: u32 = 24;

/// The division of fingerprints and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    buckets: u64,
    /// How many buckets the table began with.
    fewest: u64,
    /// How many buckets one of these has become.
    step: u64,
    /// How often the buckets can double before the table fills its memory.
    left: u32,
    /// Bits of a fingerprint that a slot keeps.
    rest: u32,
    slots: u32,
    /// The position of the number of filled slots in the last word.
    count_at: u32,
    scan: Scan,
}

/// The places that a fingerprint may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) home: u64,
    pub(super) other: u64,
    /// The contents of its slot at home. In the other bucket the lowest bit is set.
    pub(super) value: u64,
}

impl Shape {
    /// A table of `fewest` buckets that may double `left` times, with `rest` bits kept at its full size.
    pub(super) fn new(fewest: u64, left: u32, rest: u32) -> Self {
        Shape { buckets: fewest, fewest, step: 1, left, rest: 0, slots: 0, count_at: 0, scan: Scan::new(1, 0) }.keeping(rest + left)
    }

    fn keeping(self, rest: u32) -> Self {
        let (slots, count_at) = slots_for(rest);
        Shape { rest, slots, count_at, scan: Scan::new(rest + 1, slots), ..self }
    }

    /// The shape with twice the buckets for the same fingerprints, doubled up to `most` times if there is room; none if
    /// the memory is used up. Doubling twice at once is best, because entries are then moved half as often.
    pub(super) fn grown(self, most: u32) -> Option<Self> {
        let doublings = self.left.min(most).min(2);
        (doublings > 0).then(|| {
            Shape { buckets: self.buckets << doublings, step: self.step << doublings, left: self.left - doublings, ..self }
                .keeping(self.rest - doublings)
        })
    }

    /// The shape with fewer bits and at least an eighth more slots, or a quarter if many bits are left; none if fewer
    /// than `floor` bits would be kept.
    pub(super) fn narrowed(self, floor: u32) -> Option<Self> {
        let floor = floor.max(STEER + self.left);
        let fitting = |part: u32, least: u32| {
            let wanted = self.slots + (self.slots / part).max(1);
            (least..self.rest).rev().find(|rest| slots_for(*rest).0 >= wanted)
        };
        let rest = fitting(4, floor.max(MANY)).or_else(|| fitting(8, floor)).unwrap_or(floor);
        (rest < self.rest && slots_for(rest).0 > self.slots).then(|| self.keeping(rest))
    }

    pub(super) fn buckets(&self) -> u64 {
        self.buckets
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn rest(&self) -> u32 {
        self.rest
    }

    /// Whether the table has not its full size yet.
    pub(super) fn may_grow(&self) -> bool {
        self.left > 0
    }

    /// How many fingerprints are told apart.
    pub(super) fn fingerprints(&self) -> f64 {
        (self.buckets as f64 * f64::from(self.rest).exp2()).min(64f64.exp2())
    }

    /// How many entries there are slots for.
    pub(super) fn capacity(&self) -> u64 {
        self.buckets * u64::from(self.slots)
    }

    #[inline]
    pub(super) fn place(&self, address: u64) -> Place {
        let product = u128::from(address) * u128::from(self.buckets);
        let (home, rest) = ((product >> 64) as u64, (product as u64) >> (64 - self.rest));
        let other = home + self.reach(rest);
        Place { home, other: if other >= self.buckets { other - self.buckets } else { other }, value: rest << 1 }
    }

    /// How far away the other bucket lies.
    #[inline]
    fn reach(&self, rest: u64) -> u64 {
        let steer = rest >> (self.rest - STEER - self.left) & ((1 << STEER) - 1);
        // Without any pattern: multiples of one number would lead back to the same few buckets after two moves.
        let mixed = (steer + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32;
        (1 + ((mixed * (self.fewest - 1)) >> 32)) * self.step
    }

    /// The other bucket of an entry that lies in `bucket`.
    #[inline]
    pub(super) fn across(&self, bucket: u64, value: u64) -> u64 {
        let reach = self.reach(value >> 1);
        let across = if value & 1 == 0 { bucket + reach } else { bucket + self.buckets - reach };
        if across >= self.buckets { across - self.buckets } else { across }
    }

    /// Which of the buckets that `bucket` becomes in the grown table takes an entry, and as what.
    #[inline]
    pub(super) fn grown_entry(&self, grown: &Shape, bucket: u64, value: u64) -> (u64, u64) {
        let doublings = self.rest - grown.rest;
        let part = value >> grown.width() & ((1 << doublings) - 1);
        ((bucket << doublings) + part, value & ((1 << grown.width()) - 1))
    }

    /// Whether entries of a bucket that become alike are too rare to look for.
    pub(super) fn keeps_many(&self) -> bool {
        self.rest >= MANY
    }

    /// An entry with the bits that `narrow` keeps.
    #[inline]
    pub(super) fn narrowed_entry(&self, narrow: &Shape, value: u64) -> u64 {
        (value >> 1 >> (self.rest - narrow.rest)) << 1 | (value & 1)
    }

    #[inline]
    fn width(&self) -> u32 {
        self.rest + 1
    }

    #[inline]
    fn count_in(&self, last: u64) -> u32 {
        ((last & (SPILLED - 1)) >> self.count_at) as u32
    }
}

/// The number of slots of `rest` kept bits in a line, and the position of the number of filled slots in the last word.
fn slots_for(rest: u32) -> (u32, u32) {
    let count_bits = |slots: u32| 32 - slots.leading_zeros();
    let slots = (1..=MOST_SLOTS).rev().find(|slots| slots * (rest + 1) + count_bits(*slots) + 2 <= 512).unwrap_or(1);
    (slots, 62 - count_bits(slots))
}

/// A copy of a bucket's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket([u64; WORDS]);

impl Bucket {
    /// Copies a line. Every entry it counts is whole, also while another worker adds one.
    #[inline]
    pub(super) fn read(line: &Line) -> Self {
        let mut words = [0; WORDS];
        words[LAST] = line[LAST].load(Ordering::Acquire) & !LOCK;
        for (word, from) in words[..LAST].iter_mut().zip(line) {
            *word = from.load(Ordering::Relaxed);
        }
        Bucket(words)
    }

    /// Writes a line that no other worker writes. It is unlocked then.
    pub(super) fn write(&self, line: &Line) {
        for (word, to) in self.0[..LAST].iter().zip(line) {
            to.store(*word, Ordering::Relaxed);
        }
        line[LAST].store(self.0[LAST], Ordering::Release);
    }

    #[inline]
    pub(super) fn count(&self, shape: &Shape) -> u32 {
        shape.count_in(self.0[LAST])
    }

    /// Whether an entry at home here may lie in its other bucket.
    #[inline]
    pub(super) fn spilled(&self) -> bool {
        self.0[LAST] & SPILLED != 0
    }

    pub(super) fn set_spilled(&mut self) {
        self.0[LAST] |= SPILLED;
    }

    #[inline]
    pub(super) fn get(&self, shape: &Shape, slot: u32) -> u64 {
        let at = slot * shape.width();
        let (word, shift) = ((at >> 6) as usize & LAST, at & 63);
        let low = self.0[word] >> shift;
        // Beyond the last word there would only be bits that the mask cuts off.
        let high = self.0[(word + 1) & LAST] << 1 << (63 - shift);
        (low | high) & ((1 << shape.width()) - 1)
    }

    pub(super) fn entries(&self, shape: &Shape) -> impl Iterator<Item = u64> {
        (0..self.count(shape)).map(|slot| self.get(shape, slot))
    }

    /// Adds an entry; the caller knows that there is a free slot.
    pub(super) fn push(&mut self, shape: &Shape, value: u64) {
        let count = self.count(shape);
        assert!(count < shape.slots, "no free slot");
        self.flip(shape, count, value);
        self.0[LAST] += 1 << shape.count_at;
    }

    /// Takes an entry out; the last one takes its slot.
    pub(super) fn remove(&mut self, shape: &Shape, slot: u32) {
        let last = self.count(shape) - 1;
        let value = self.get(shape, last);
        self.flip(shape, last, value);
        if slot != last {
            self.flip(shape, slot, self.get(shape, slot) ^ value);
        }
        self.0[LAST] -= 1 << shape.count_at;
    }

    fn flip(&mut self, shape: &Shape, slot: u32, bits: u64) {
        let at = slot * shape.width();
        let (word, shift) = ((at >> 6) as usize, at & 63);
        self.0[word] ^= bits << shift;
        if shift + shape.width() > 64 {
            self.0[word + 1] ^= bits >> (64 - shift);
        }
    }
}

/// A bucket that is filled anew: as [`Bucket`], with its number of entries at hand and a word more, so that an entry is put in without a question.
#[derive(Clone, Copy, Default)]
pub(super) struct Filling {
    words: [u64; WORDS + 1],
    count: u32,
    /// Whether one of the entries is not at home here.
    guests: u64,
}

impl Filling {
    /// Adds an entry; the caller knows that there is a free slot.
    #[inline]
    pub(super) fn push(&mut self, shape: &Shape, value: u64) {
        let at = self.count * shape.width();
        let (word, shift) = ((at >> 6) as usize & LAST, at & 63);
        self.words[word] |= value << shift;
        self.words[word + 1] |= value >> 1 >> (63 - shift);
        self.count += 1;
        self.guests |= value & 1;
    }

    /// Writes a line that no other worker writes. The line is left locked if it holds an entry that is not at home.
    pub(super) fn write(&self, shape: &Shape, line: &Line) {
        self.write_with(if self.guests == 0 { 0 } else { LOCK }, shape, line);
    }

    /// Writes a line that no other worker writes. The line is left unlocked, and marked as spilled if `spilled` is set.
    pub(super) fn write_spilled(&self, spilled: bool, shape: &Shape, line: &Line) {
        self.write_with(if spilled { SPILLED } else { 0 }, shape, line);
    }

    fn write_with(&self, marks: u64, shape: &Shape, line: &Line) {
        for (word, to) in self.words[..LAST].iter().zip(line) {
            to.store(*word, Ordering::Relaxed);
        }
        line[LAST].store(self.words[LAST] | u64::from(self.count) << shape.count_at | marks, Ordering::Release);
    }
}

/// The result of a look at a line.
#[derive(Clone, Copy)]
pub(super) struct Looked {
    pub(super) found: bool,
    /// The last word before the look.
    last: u64,
}

impl Looked {
    /// Whether an entry at home there may lie in its other bucket.
    #[inline]
    pub(super) fn spilled(&self) -> bool {
        self.last & SPILLED != 0
    }

    /// Whether there is a free slot and the line is not locked.
    #[inline]
    pub(super) fn free(&self, shape: &Shape) -> bool {
        self.last & LOCK == 0 && shape.count_in(self.last) < shape.slots
    }
}

/// Looks for a value in a line to which other threads may add entries meanwhile; the entries it counted are not touched by that.
#[inline]
pub(super) fn look(line: &Line, shape: &Shape, value: u64) -> Looked {
    let last = line[LAST].load(Ordering::Acquire);
    Looked { found: shape.scan.find(line, shape.count_in(last), value), last }
}

/// Adds an entry to a line that no other worker writes and that has a free slot. It is unlocked then.
#[inline]
pub(super) fn push(line: &Line, shape: &Shape, value: u64) {
    let mut last = line[LAST].load(Ordering::Relaxed) & !LOCK;
    let at = shape.count_in(last) * shape.width();
    let (word, shift) = ((at >> 6) as usize & LAST, at & 63);
    if word == LAST {
        last |= value << shift;
    } else {
        line[word].store(line[word].load(Ordering::Relaxed) | value << shift, Ordering::Relaxed);
        if shift + shape.width() > 64 {
            let high = value >> (64 - shift);
            if word + 1 == LAST {
                last |= high;
            } else {
                line[word + 1].store(line[word + 1].load(Ordering::Relaxed) | high, Ordering::Relaxed);
            }
        }
    }
    // Readers that see the new count see the whole entry.
    line[LAST].store(last + (1 << shape.count_at), Ordering::Release);
}

/// How many slots of a line are filled.
#[inline]
pub(super) fn count(line: &Line, shape: &Shape) -> u32 {
    shape.count_in(line[LAST].load(Ordering::Relaxed))
}

/// Whether an entry at home in a line may lie in its other bucket.
#[inline]
pub(super) fn spilled(line: &Line) -> bool {
    line[LAST].load(Ordering::Relaxed) & SPILLED != 0
}

/// Notes that an entry whose home is this line lies in its other bucket. No other worker writes the line, and it is left unlocked.
#[inline]
pub(super) fn mark_spilled(line: &Line) {
    line[LAST].store((line[LAST].load(Ordering::Relaxed) | SPILLED) & !LOCK, Ordering::Release);
}

/// Whether a line's lock is taken.
#[inline]
pub(super) fn is_locked(line: &Line) -> bool {
    line[LAST].load(Ordering::Relaxed) & LOCK != 0
}

/// Waits for a line's lock and takes it.
#[inline]
pub(super) fn lock(line: &Line) {
    let mut tries = 0u32;
    loop {
        let last = line[LAST].load(Ordering::Relaxed);
        if last & LOCK == 0 && line[LAST].compare_exchange_weak(last, last | LOCK, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        tries += 1;
        if tries.is_multiple_of(64) || cfg!(loom) {
            yield_now();
        } else {
            spin_loop();
        }
    }
}

/// Takes a line's lock if nothing was added since a look at it; says whether it did.
#[inline]
pub(super) fn lock_unchanged(line: &Line, looked: Looked) -> bool {
    line[LAST].compare_exchange(looked.last & !LOCK, looked.last | LOCK, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Gives a line's lock back.
#[inline]
pub(super) fn unlock(line: &Line) {
    line[LAST].store(line[LAST].load(Ordering::Relaxed) & !LOCK, Ordering::Release);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use wayfarer_space::hash;

    #[test]
    fn slots_fill_the_line() {
        // 64 bits at a million buckets: 44 or 45 kept, eleven slots either way.
        assert_eq!((slots_for(44).0, slots_for(45).0, slots_for(46).0), (11, 11, 10));
        assert_eq!(slots_for(20).0, 24);
        assert!((STEER..=63).all(|rest| slots_for(rest).0 * (rest + 1) <= u32::from(u16::MAX)));
    }

    #[test]
    fn an_entry_comes_back_from_every_slot_of_every_width() {
        for rest in STEER..=56 {
            let shape = Shape::new(300, 0, rest);
            let line: Line = std::array::from_fn(|_| AtomicU64::new(0));
            let value = |slot: u32| hash(&[u64::from(slot)]).second() >> (63 - rest);
            for slot in 0..shape.slots() {
                push(&line, &shape, value(slot));
            }
            let mut bucket = Bucket::read(&line);
            assert!(bucket.entries(&shape).eq((0..shape.slots()).map(value)), "{rest} bits");
            assert!(!bucket.spilled());
            bucket.remove(&shape, 1);
            assert_eq!(bucket.get(&shape, 1), value(shape.slots() - 1));
            assert_eq!(bucket.count(&shape), shape.slots() - 1);
            while bucket.count(&shape) > 0 {
                bucket.remove(&shape, 0);
            }
            assert_eq!(bucket, Bucket([0; WORDS]));
        }
    }

    #[test]
    fn growing_and_narrowing_agree_with_placing_anew() {
        let start = Shape::new(333, 5, 30);
        for key in 0..2_000u64 {
            let hash = hash(&[key]);
            let (mut shape, mut at) = (start, start.place(hash.address()));
            assert_eq!(shape.across(at.home, at.value), at.other);
            assert_eq!(shape.across(at.other, at.value | 1), at.home);
            while let Some(grown) = shape.grown(2) {
                let (home, value) = shape.grown_entry(&grown, at.home, at.value);
                let (other, displaced) = shape.grown_entry(&grown, at.other, at.value | 1);
                assert_eq!((Place { home, other, value }, displaced), (grown.place(hash.address()), value | 1));
                (shape, at) = (grown, grown.place(hash.address()));
            }
            while let Some(narrow) = shape.narrowed(0) {
                at.value = shape.narrowed_entry(&narrow, at.value);
                assert_eq!(at, narrow.place(hash.address()));
                shape = narrow;
            }
            assert_eq!(shape.rest(), STEER);
        }
    }
}
