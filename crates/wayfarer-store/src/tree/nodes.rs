//! Numbers for values of a few words: the same value always has the same number. The tree's parts are kept here, each once.
//!
//! Values lie in segments in the order of their numbers. A table of 32-bit slots finds them. A slot holds a number and
//! as many bits of the value's hash as fit beside it, so that almost only equal values are compared. Looking up and
//! adding need no lock. If there is no room for another value the answer is [`Number::Crowded`], and a worker with
//! exclusive access makes room.
#![allow(unsafe_code)] // Values and slots lie in raw memory.

use crate::Account;
use crate::memory::arena::{Chunk, LINE, prefetch_line};
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers that a worker takes at once.
const RUN: u32 = 16;
/// The fewest slots.
const SLOTS: usize = 64;

/// Values, each with its number.
pub(super) struct Nodes {
    /// Words of a value.
    words: usize,
    /// Values of a segment, as a power of two.
    segment: u32,
    segments: Vec<Chunk>,
    slots: Chunk,
    slot_count: usize,
    number_bits: u32,
    /// The most numbers that may ever be given out.
    most: u64,
    /// The first number that there is no room for.
    limit: u32,
    next: AtomicU32,
}

/// Numbers that a worker may give.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeSeat {
    next: u32,
    end: u32,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// The value's number.
    Is(u32),
    /// It has none.
    Absent,
    /// It has none, and there is no room to give it one.
    Crowded,
}

impl Nodes {
    /// No values yet, of `words` words each and at most `most` of them; none if the account has no room to begin.
    pub(super) fn new(words: usize, most: u64, account: &dyn Account) -> Option<Self> {
        let slots = Self::take_slots(SLOTS, account)?;
        let mut nodes = Nodes {
            words,
            segment: Self::segment(words),
            segments: Vec::new(),
            slots,
            slot_count: SLOTS,
            number_bits: number_bits(SLOTS),
            most: most.min(u64::from(u32::MAX) - 1),
            limit: 0,
            next: AtomicU32::new(0),
        };
        nodes.measure();
        Some(nodes)
    }

    /// The bytes that the first value needs, if it has at most 64 words.
    pub(super) const LEAST: usize = 4 * SLOTS + (8 << 10);

    /// Values of a segment, as a power of two: about eight kilobytes of them, so that what lies empty is little.
    fn segment(words: usize) -> u32 {
        (1024 / words.max(1)).clamp(RUN as usize, 1024).ilog2()
    }

    fn take_slots(count: usize, account: &dyn Account) -> Option<Chunk> {
        let bytes = (4 * count).next_multiple_of(LINE);
        let chunk = Chunk::take(bytes, account)?;
        // SAFETY: the chunk has this many bytes and no other worker knows it yet.
        unsafe { chunk.start().write_bytes(0, bytes) };
        Some(chunk)
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.segments.iter().map(Chunk::bytes).sum::<usize>()
    }

    /// How many numbers were given to workers.
    pub(super) fn given(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    /// Whether more numbers are wanted than there may be.
    pub(super) fn exhausted(&self) -> bool {
        u64::from(self.given()) + u64::from(RUN) > self.most
    }

    fn measure(&mut self) {
        let values = (self.segments.len() as u64) << self.segment;
        let slots = self.slot_count as u64 * 4 / 5;
        self.limit = values.min(slots).min(self.most) as u32;
    }

    /// Makes room for `more` values at least; false if the account refuses or there may be no more. All workers wait meanwhile, so if there are many values
    /// there is room for many more.
    pub(super) fn reserve(&mut self, more: usize, account: &dyn Account) -> bool {
        let given = self.given() as usize;
        let further = given / 16;
        (further > more && self.reserve_exactly(given + further, account)) || self.reserve_exactly(given + more, account)
    }

    fn reserve_exactly(&mut self, values: usize, account: &dyn Account) -> bool {
        let wanted = (values + RUN as usize).min(self.most as usize);
        while self.segments.len() << self.segment < wanted {
            let bytes = ((8 * self.words) << self.segment).next_multiple_of(LINE);
            let Some(chunk) = Chunk::take(bytes, account) else { return false };
            self.segments.push(chunk);
        }
        if self.slot_count * 4 / 5 < wanted && !self.widen(wanted, account) {
            return false;
        }
        self.measure();
        !self.exhausted()
    }

    /// Goes over to a larger table of slots.
    fn widen(&mut self, wanted: usize, account: &dyn Account) -> bool {
        let count = (wanted * 5 / 4 + 1).max(self.slot_count + self.slot_count / 4).next_multiple_of(16);
        let Some(slots) = Self::take_slots(count, account) else { return false };
        let old: Vec<u32> = (0..self.slot_count).map(|at| self.slot(at).load(Ordering::Relaxed)).filter(|slot| *slot != 0).collect();
        let mask = ones(self.number_bits);
        self.slots = slots;
        self.slot_count = count;
        self.number_bits = number_bits(count);
        for number in old.into_iter().map(|slot| (slot & mask) - 1) {
            let hash = mix(self.value(number));
            let mut at = self.home(hash);
            while self.slot(at).load(Ordering::Relaxed) != 0 {
                at = self.after(at);
            }
            self.slot(at).store(self.entry(hash, number), Ordering::Relaxed);
        }
        true
    }

    /// The value of a number that was given out.
    #[inline]
    pub(super) fn value(&self, number: u32) -> &[u64] {
        // SAFETY: the number was published after its value was written, and values are never written again; segments live as long as the nodes.
        unsafe { std::slice::from_raw_parts(self.address(number), self.words) }
    }

    /// Whether a number that was given out is this value's.
    #[inline]
    pub(super) fn is(&self, number: u32, value: &[u64]) -> bool {
        // Values are short: a loop is faster than a call.
        self.value(number).iter().zip(value).all(|(one, other)| one == other)
    }

    /// The only word of a value that has one.
    #[inline]
    pub(super) fn word(&self, number: u32) -> u64 {
        self.value(number)[0]
    }

    #[inline]
    fn address(&self, number: u32) -> *mut u64 {
        let (segment, place) = (number as usize >> self.segment, number as usize & ((1 << self.segment) - 1));
        self.segments[segment].start().cast::<u64>().wrapping_add(place * self.words)
    }

    /// Brings a value into the cache.
    #[inline]
    pub(super) fn prefetch_value(&self, number: u32) {
        prefetch_line(self.address(number).cast());
    }

    /// Fetches the place of a value of this hash into the cache.
    #[inline]
    pub(super) fn prefetch_place(&self, hash: u64) {
        prefetch_line(self.slots.start().wrapping_add(4 * self.home(hash)));
    }

    /// Brings the value that most likely has this hash into the cache.
    #[inline]
    pub(super) fn prefetch_likely(&self, hash: u64) {
        let mut at = self.home(hash);
        let print = self.entry(hash, 0) - 1;
        for _ in 0..8 {
            let slot = self.slot(at).load(Ordering::Acquire);
            if slot == 0 {
                return;
            }
            if slot & !ones(self.number_bits) == print {
                return self.prefetch_value((slot & ones(self.number_bits)) - 1);
            }
            at = self.after(at);
        }
    }

    /// The number of a value whose [`mix`] is `hash`. If it has none, it gets a new one if `insert`.
    #[inline]
    pub(super) fn number(&self, seat: &mut NodeSeat, value: &[u64], hash: u64, insert: bool) -> Number {
        debug_assert!(value.len() == self.words && hash == mix(value));
        let mut at = self.home(hash);
        let (mask, print) = (ones(self.number_bits), self.entry(hash, 0) - 1);
        loop {
            let slot = self.slot(at).load(Ordering::Acquire);
            if slot == 0 {
                if !insert {
                    return Number::Absent;
                }
                if seat.next == seat.end && !self.extend(seat) {
                    return Number::Crowded;
                }
                // SAFETY: the number is this worker's alone until it is published, and there is room for its value, being below `limit`.
                unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), self.address(seat.next), self.words) };
                if self.slot(at).compare_exchange(0, self.entry(hash, seat.next), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    seat.next += 1;
                    return Number::Is(seat.next - 1);
                }
                // Someone was faster: look at the slot again.
                continue;
            }
            if slot & !mask == print {
                let number = (slot & mask) - 1;
                if self.is(number, value) {
                    return Number::Is(number);
                }
            }
            at = self.after(at);
        }
    }

    #[cold]
    fn extend(&self, seat: &mut NodeSeat) -> bool {
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(RUN).filter(|end| *end <= self.limit));
        let Ok(next) = taken else { return false };
        *seat = NodeSeat { next, end: next + RUN };
        true
    }

    #[inline]
    fn slot(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at < self.slot_count);
        // SAFETY: there are `slot_count` aligned slots, all of them at least zeroed, reached as atomics only, and they live as long as the nodes.
        unsafe { &*self.slots.start().cast::<AtomicU32>().add(at) }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slot_count as u128) >> 64) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.slot_count { 0 } else { at + 1 }
    }

    #[inline]
    fn entry(&self, hash: u64, number: u32) -> u32 {
        (hash as u32) & !ones(self.number_bits) | (number + 1)
    }
}

/// The bits for a number that is one more than any number in `slots` slots.
fn number_bits(slots: usize) -> u32 {
    (usize::BITS - slots.leading_zeros()).min(32)
}

#[inline]
fn ones(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// A value's hash. The numbers it scatters are small and regular, so every bit of a word must reach every bit of the result.
#[inline]
pub(super) fn mix(value: &[u64]) -> u64 {
    let mut hash = 0x51_7C_C1_B7_27_22_0A_95u64;
    for word in value {
        let product = u128::from(hash ^ word) * 0x9E37_79B9_7F4A_7C15;
        hash = (product as u64) ^ (product >> 64) as u64 ^ hash.rotate_left(29);
    }
    (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use std::collections::HashMap;
    use wayfarer_space::Rng;

    #[test]
    fn the_same_value_has_the_same_number() {
        let mut rng = Rng::new(6, "nodes");
        for words in [1, 2, 5] {
            let mut nodes = Nodes::new(words, u64::MAX, &Unlimited).unwrap();
            let mut seat = NodeSeat::default();
            let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
            for _ in 0..40_000 {
                let value: Vec<u64> = (0..words).map(|word| rng.below(if word == 0 { 9_000 } else { 2 }) << (9 * word)).collect();
                let number = loop {
                    match nodes.number(&mut seat, &value, mix(&value), true) {
                        Number::Is(number) => break number,
                        Number::Crowded => assert!(nodes.reserve(1, &Unlimited)),
                        Number::Absent => unreachable!("it is to be inserted"),
                    }
                };
                let next = known.len() as u32;
                assert_eq!(*known.entry(value.clone()).or_insert(next), number);
                assert_eq!(nodes.value(number), value);
            }
            for (value, number) in &known {
                assert_eq!(nodes.number(&mut seat, value, mix(value), false), Number::Is(*number));
            }
            let other = vec![u64::MAX; words];
            assert_eq!(nodes.number(&mut seat, &other, mix(&other), false), Number::Absent);
        }
    }

    #[test]
    fn no_more_numbers_than_allowed() {
        let mut nodes = Nodes::new(1, 64, &Unlimited).unwrap();
        let mut seat = NodeSeat::default();
        let mut given = 0;
        for value in 0..1_000u64 {
            match nodes.number(&mut seat, &[value], mix(&[value]), true) {
                Number::Is(_) => given += 1,
                _ if nodes.reserve(1, &Unlimited) => {}
                _ => assert!(nodes.exhausted()),
            }
        }
        assert!((48..=64).contains(&given), "{given}");
    }
}
