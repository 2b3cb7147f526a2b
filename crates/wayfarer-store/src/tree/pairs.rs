//! A compact set of pairs of numbers. The tree store knows its states by these pairs.
//!
//! After Cleary ("Compact hash tables using bidirectional linear probing", 1984), as used in compact tree databases
//! (van der Berg 2019; Laarman 2019): a pair's address carries part of it, and a slot keeps only the rest. For a pair
//! (left, right), `right ^ mix(left)` gives the share (its low bits) and the line (the others, as a share of their
//! range). The slot keeps which of the line's addresses it was, together with `left`, in mixed radix, so that not even
//! fractions of a bit are lost to rounding.
//!
//! Departures: instead of bidirectional probing a pair has two lines, its home and another one. The other follows from
//! the home and the slot's contents, so that either can be computed from the other. A pair goes to the line with more
//! room, and the slot says to which (Azar and others' balanced allocations: lines then fill to nine tenths before the
//! first is full). A line is a cache line: a byte that counts its slots, a byte of every slot, by which a line is
//! searched, and the other bits of the slots without gaps. Slots are only ever added, so readers need no lock; a writer
//! locks the share. Each share is a table of its own. A crowded share says so, and a worker copies it into a table that is
//! larger by a third, while others use the other shares. Readers may still look into the old table. It is freed when a
//! worker has exclusive access.
#![allow(unsafe_code)] // Lines are atomics in raw memory.

use crate::Account;
use crate::memory::arena::{Chunk, LINE, prefetch_line};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The fewest and the most shares, as powers of two: so many that copying one takes less than a millisecond.
const SHARE_BITS: (u32, u32) = (8, 12);
/// Bytes of replaced tables that may lie around: a share of all, and at least so many.
const LITTER: (usize, usize) = (16, 1 << 16);
/// Bits of a line that slots can have.
const ROOM: u32 = 8 * (LINE as u32 - 1);
/// How much larger a share's next size is.
const GROWTH: f64 = 4.0 / 3.0;
/// The fewest and the most bits of a slot.
const WIDTHS: (u32, u32) = (10, 63);

/// A growing set of pairs for several workers.
pub(super) struct Pairs {
    shares: Box<[Share]>,
    share_bits: u32,
    /// One past the largest left number of shares that grew, and the most bits of a right one.
    ends: (AtomicU64, AtomicU32),
    /// Tables that were replaced.
    #[allow(clippy::vec_box)] // Readers have their addresses.
    replaced: Mutex<Vec<Box<Table>>>,
    /// Bytes of all tables that are in use, and of those that were replaced.
    bytes: AtomicUsize,
    litter: AtomicUsize,
}

struct Share {
    /// A table from a box. It is replaced under the lock and freed with exclusive access.
    table: AtomicPtr<Table>,
    used: AtomicUsize,
    /// The largest left and right number in it.
    largest: [AtomicU32; 2],
    /// Taken while a pair is added.
    lock: AtomicBool,
}

/// The result of adding a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Present,
    Inserted,
    /// Not there, and its share has no room for it: [`Pairs::grow`].
    Crowded,
}

/// A share's table.
struct Table {
    chunk: Chunk,
    share_bits: u32,
    lines: u64,
    /// 2⁶⁴ / `lines`, rounded up: multiplying by it divides.
    reciprocal: u64,
    /// Bits of a right number.
    right_bits: u32,
    /// How many addresses a line has.
    quotients: u64,
    /// One past the largest left number that a slot can hold.
    left_end: u64,
    /// Bits of a slot, and slots of a line.
    width: u32,
    slots: u32,
}

/// The places of a pair: its two lines, and the part of it that a slot keeps.
#[derive(Clone, Copy)]
struct Home {
    lines: [u64; 2],
    kept: u64,
}

impl Share {
    /// The table as it is now. It lives at least as long as the borrow of the set.
    #[inline]
    fn table(&self) -> &Table {
        // SAFETY: the pointer comes from a box, and what it points to is freed only by those who have the set for themselves.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    fn lock(&self) {
        while self.lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.lock.store(false, Ordering::Release);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a box that no one else owns.
        drop(unsafe { Box::from_raw(*self.table.get_mut()) });
    }
}

impl Pairs {
    /// The bytes that an empty set takes, if it may become `most` bytes large.
    pub(super) fn least(most: usize) -> usize {
        (LINE + size_of::<Share>() + size_of::<Table>()) << Self::share_bits(most)
    }

    fn share_bits(most: usize) -> u32 {
        (most >> 15).max(1).ilog2().clamp(SHARE_BITS.0, SHARE_BITS.1)
    }

    /// An empty set that may become `most` bytes large; none if the account has no room to begin.
    pub(super) fn new(most: usize, account: &dyn Account) -> Option<Self> {
        let share_bits = Self::share_bits(most);
        let shares: Option<Box<[Share]>> = (0..1 << share_bits)
            .map(|_| {
                let table = Box::new(Table::new(1, (share_bits, share_bits), 1, account)?);
                Some(Share {
                    table: AtomicPtr::new(Box::into_raw(table)),
                    used: AtomicUsize::new(0),
                    largest: Default::default(),
                    lock: AtomicBool::new(false),
                })
            })
            .collect();
        Some(Pairs {
            shares: shares?,
            share_bits,
            ends: (AtomicU64::new(1), AtomicU32::new(share_bits)),
            replaced: Mutex::default(),
            bytes: AtomicUsize::new(LINE << share_bits),
            litter: AtomicUsize::new(0),
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.litter.load(Ordering::Relaxed)
    }

    /// Whether replaced tables should be [freed](Pairs::tidy) soon.
    pub(super) fn is_littered(&self) -> bool {
        self.litter.load(Ordering::Relaxed) > (self.bytes.load(Ordering::Relaxed) / LITTER.0).max(LITTER.1)
    }

    /// Frees the tables that were replaced. Says whether there were any.
    pub(super) fn tidy(&mut self) -> bool {
        *self.litter.get_mut() = 0;
        !std::mem::take(self.replaced.get_mut().unwrap_or_else(PoisonError::into_inner)).is_empty()
    }

    #[inline]
    fn share(&self, left: u32, right: u32) -> &Share {
        &self.shares[(right ^ mix(left)) as usize & (self.shares.len() - 1)]
    }

    /// Brings a pair's lines into the cache.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let table = self.share(left, right).table();
        for line in table.home(left, right).lines {
            prefetch_line(table.chunk.start().wrapping_add(line as usize * LINE));
        }
    }

    /// Whether the pair is in the set.
    #[inline]
    pub(super) fn contains(&self, left: u32, right: u32) -> bool {
        let table = self.share(left, right).table();
        table.holds(left, right) && table.find(&table.home(left, right)).is_none()
    }

    /// Puts a pair into the set.
    #[inline]
    pub(super) fn put(&self, left: u32, right: u32) -> Put {
        let share = self.share(left, right);
        loop {
            let table = share.table();
            if !table.holds(left, right) {
                return Put::Crowded;
            }
            let home = table.home(left, right);
            let Some(mut counts) = table.find(&home) else { return Put::Present };
            share.lock();
            if !std::ptr::eq(table, share.table.load(Ordering::Relaxed)) {
                // It was replaced meanwhile, and the new one may have the pair.
                share.unlock();
                continue;
            }
            let mut put = Put::Inserted;
            if counts != table.counts(&home) {
                // Others added to these lines meanwhile.
                match table.find(&home) {
                    Some(now) => counts = now,
                    None => put = Put::Present,
                }
            }
            if put == Put::Inserted {
                let which = usize::from(counts[1] < counts[0]);
                if counts[which] < table.slots {
                    table.add(home.lines[which], counts[which], home.kept << 1 | which as u64);
                    share.used.fetch_add(1, Ordering::Relaxed);
                    for (largest, number) in share.largest.iter().zip([left, right]) {
                        largest.store(largest.load(Ordering::Relaxed).max(number), Ordering::Relaxed);
                    }
                } else {
                    put = Put::Crowded;
                }
            }
            share.unlock();
            return put;
        }
    }

    /// Gives the share of a pair more room, or wider slots if they cannot hold the pair; false if there is no memory for it.
    #[cold]
    pub(super) fn grow(&self, left: u32, right: u32, account: &dyn Account) -> bool {
        let share = self.share(left, right);
        share.lock();
        let grown = self.grow_locked(share, left, right, account);
        share.unlock();
        grown
    }

    fn grow_locked(&self, share: &Share, left: u32, right: u32, account: &dyn Account) -> bool {
        let table = share.table();
        let used = share.used.load(Ordering::Relaxed) as u64;
        let holds = table.holds(left, right);
        if holds && table.counts(&table.home(left, right)).iter().any(|count| *count < table.slots) {
            // Another worker let it grow meanwhile.
            return true;
        }
        let [most_left, most_right] = share.largest.each_ref().map(|largest| largest.load(Ordering::Relaxed));
        let left_end = u64::from(left.max(most_left)) + 1;
        let left_end = self.ends.0.fetch_max(left_end, Ordering::Relaxed).max(left_end);
        let right_bits = u32::BITS - right.max(most_right).leading_zeros();
        let right_bits = self.ends.1.fetch_max(right_bits, Ordering::Relaxed).max(right_bits);
        // A little more than is needed now, so that the next left numbers do not make all slots anew again.
        let left_end = left_end + left_end / 16;
        // Each share has sizes of its own, so that they grow one after another and the load of the whole stays the same.
        let number = (right ^ mix(left)) as usize & (self.shares.len() - 1);
        let phase = number as f64 / self.shares.len() as f64;
        let step = (used as f64 * if holds { 1.05 } else { 1.0 } + 1.0).log(GROWTH) - phase;
        let mut wanted = GROWTH.powf(step.ceil() + phase) as u64 + 2;
        loop {
            let Some(grown) = Table::with_room(wanted, (self.share_bits, right_bits), left_end, account) else { return false };
            let mut all = true;
            table.pairs(|left, right| all = all && grown.put_alone(left, right));
            if all && grown.counts(&grown.home(left, right)).iter().any(|count| *count < grown.slots) {
                let (before, after) = (table.chunk.bytes(), grown.chunk.bytes());
                let old = share.table.swap(Box::into_raw(Box::new(grown)), Ordering::AcqRel);
                // SAFETY: the pointer came from a box, and this worker took it out of the share. Readers are done when the box is dropped.
                let old = unsafe { Box::from_raw(old) };
                self.replaced.lock().unwrap_or_else(PoisonError::into_inner).push(old);
                self.bytes.fetch_add(after, Ordering::Relaxed);
                self.bytes.fetch_sub(before, Ordering::Relaxed);
                self.litter.fetch_add(before, Ordering::Relaxed);
                return true;
            }
            wanted = wanted.max(grown.lines * u64::from(grown.slots) * 7 / 8) + wanted / 16 + 1;
        }
    }
}

/// Multiplying by the first scatters addresses, so that lines with one address more and lines with one less alternate.
/// Multiplying by the second undoes it.
const SCATTER: (u64, u64) = (0x9E37_79B1, inverse(0x9E37_79B1));
/// The same for slot contents, so that the byte by which a line is searched depends on all of them.
const STIR: (u64, u64) = (0xD6E8_FEB8_6659_FD93, inverse(0xD6E8_FEB8_6659_FD93));
/// A byte in every byte of a word.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// The odd number that undoes multiplying by this one, by Newton's rule: each round doubles the bits that are right.
pub(super) const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut round = 0;
    while round < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

/// A number's image under a fixed scrambling.
#[inline]
fn mix(left: u32) -> u32 {
    let product = u64::from(left).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as u32 ^ (product >> 13) as u32
}

#[inline]
fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

impl Table {
    /// An empty table of `lines` lines.
    fn new(lines: u64, (share_bits, right_bits): (u32, u32), left_end: u64, account: &dyn Account) -> Option<Self> {
        let (right_bits, quotients, width) = Self::measures(lines, (share_bits, right_bits), left_end)?;
        // All that a slot can say.
        let left_end = (1u64 << width) / (2 * quotients);
        let chunk = Chunk::take(lines as usize * LINE, account)?;
        // SAFETY: the chunk has this many bytes and no other worker knows it yet.
        unsafe { chunk.start().write_bytes(0, chunk.bytes()) };
        Some(Table {
            chunk,
            share_bits,
            lines,
            reciprocal: (u64::MAX / lines).wrapping_add(1),
            right_bits,
            quotients,
            left_end,
            width,
            slots: ROOM / width,
        })
    }

    /// The smallest table with room for this many pairs.
    fn with_room(pairs: u64, bits: (u32, u32), left_end: u64, account: &dyn Account) -> Option<Self> {
        let mut lines = 1;
        loop {
            let slots = u64::from(ROOM / Self::measures(lines, bits, left_end)?.2);
            // Lines are nine tenths full when the first has no room.
            let wanted = (pairs * 10).div_ceil(9 * slots);
            if wanted <= lines {
                return Self::new(lines, bits, left_end, account);
            }
            lines = wanted.min(lines + lines / 2 + 1);
        }
    }

    /// The bits in which right numbers are mixed with left ones (as many as they have, and enough for the lines to be
    /// used about equally often), the number of addresses of a line, and the width of a slot. None if a slot would be
    /// too wide.
    fn measures(lines: u64, (share_bits, right_bits): (u32, u32), left_end: u64) -> Option<(u32, u64, u32)> {
        let right_bits = (share_bits + 64 - (lines - 1).leading_zeros()).max(right_bits).min(32);
        let quotients = (1u64 << (right_bits - share_bits)).div_ceil(lines);
        let width = (64 - (2 * left_end * quotients - 1).leading_zeros()).max(WIDTHS.0);
        (width <= WIDTHS.1).then_some((right_bits, quotients, width))
    }

    /// Whether the slots can say this pair.
    #[inline]
    fn holds(&self, left: u32, right: u32) -> bool {
        u64::from(right) >> self.right_bits == 0 && u64::from(left) < self.left_end
    }

    /// The places of a pair.
    #[inline]
    fn home(&self, left: u32, right: u32) -> Home {
        let bits = self.right_bits - self.share_bits;
        let rest = (u64::from(right ^ mix(left)) & ones(self.right_bits)) >> self.share_bits;
        let product = (rest.wrapping_mul(SCATTER.0) & mask(bits)) * self.lines;
        let line = product >> bits;
        let quotient = divided(product & mask(bits), self.reciprocal);
        let kept = u64::from(left) * self.quotients + if self.lines == 1 { product } else { quotient };
        Home { lines: [line, self.other(line, kept)], kept }
    }

    /// The other line of a pair that lies in this one.
    #[inline]
    fn other(&self, line: u64, kept: u64) -> u64 {
        let sum = ((kept.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) * self.lines) >> 32;
        if sum >= line { sum - line } else { sum + self.lines - line }
    }

    #[inline]
    fn word(&self, line: u64, at: usize) -> &AtomicU64 {
        debug_assert!(line < self.lines && at < LINE / 8);
        // SAFETY: the table has `lines` lines of eight aligned words, which are only read and written through atomics.
        unsafe { &*self.chunk.start().add(line as usize * LINE + at * 8).cast::<AtomicU64>() }
    }

    #[inline]
    fn counts(&self, home: &Home) -> [u32; 2] {
        home.lines.map(|line| self.word(line, 0).load(Ordering::Acquire) as u32 & 0xFF)
    }

    /// How many slots the two lines of a pair have; none if it is in one of them.
    #[inline]
    fn find(&self, home: &Home) -> Option<[u32; 2]> {
        let first = self.find_in(home.lines[0], home.kept << 1)?;
        let second = self.find_in(home.lines[1], home.kept << 1 | 1)?;
        Some([first, second])
    }

    /// How many slots a line has; none if one of them holds this.
    #[inline]
    fn find_in(&self, line: u64, held: u64) -> Option<u32> {
        let stirred = held.wrapping_mul(STIR.0) & ones(self.width);
        let (rest_bits, wanted) = (self.width - 8, (stirred >> (self.width - 8)) * BYTES);
        let rest = stirred & ones(rest_bits);
        let head = self.word(line, 0).load(Ordering::Acquire);
        let count = head as u32 & 0xFF;
        let mut word = head;
        for at in 0..=count / 8 {
            if at > 0 {
                word = self.word(line, at as usize).load(Ordering::Relaxed);
            }
            // The bytes that agree: zero after the exclusive or. The first byte of the line and those after the last slot are none.
            let mut agree = zero_bytes(word ^ wanted);
            if at == 0 {
                agree &= !0xFF;
            }
            if at == count / 8 {
                agree &= ones(8 * (count % 8 + 1));
            }
            while agree != 0 {
                let slot = at * 8 + agree.trailing_zeros() / 8 - 1;
                if self.rest(line, slot, rest_bits) == rest {
                    return None;
                }
                agree &= agree - 1;
            }
        }
        Some(count)
    }

    /// At which bit of a line the rest of a slot begins.
    #[inline]
    fn rest_at(&self, slot: u32, rest_bits: u32) -> (usize, u32) {
        let at = 8 + 8 * self.slots + slot * rest_bits;
        (at as usize / 64, at % 64)
    }

    #[inline]
    fn rest(&self, line: u64, slot: u32, rest_bits: u32) -> u64 {
        let (at, shift) = self.rest_at(slot, rest_bits);
        let mut rest = self.word(line, at).load(Ordering::Relaxed) >> shift;
        if shift + rest_bits > 64 {
            rest |= self.word(line, at + 1).load(Ordering::Relaxed) << (64 - shift);
        }
        rest & ones(rest_bits)
    }

    /// Adds a slot to a line that has `count`. No other worker adds to this table meanwhile.
    #[inline]
    fn add(&self, line: u64, count: u32, held: u64) {
        let stirred = held.wrapping_mul(STIR.0) & ones(self.width);
        let rest_bits = self.width - 8;
        let (at, shift) = self.rest_at(count, rest_bits);
        let rest = stirred & ones(rest_bits);
        let set = |at: usize, bits: u64| {
            let word = self.word(line, at);
            word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        };
        set(at, rest << shift);
        if shift + rest_bits > 64 {
            set(at + 1, rest >> (64 - shift));
        }
        let byte = count + 1;
        set(byte as usize / 8, stirred >> rest_bits << (8 * (byte % 8)));
        let head = self.word(line, 0);
        head.store(head.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Puts a pair that is not there into a table that no one else sees; false if it found no place.
    fn put_alone(&self, left: u32, right: u32) -> bool {
        let home = self.home(left, right);
        let counts = self.counts(&home);
        let which = usize::from(counts[1] < counts[0]);
        if counts[which] == self.slots {
            return false;
        }
        self.add(home.lines[which], counts[which], home.kept << 1 | which as u64);
        true
    }

    /// Calls `each` with every pair. The lowest bits of right numbers are chosen such that the pair's share is 0,
    /// because they are no part of a slot's address.
    fn pairs(&self, mut each: impl FnMut(u32, u32)) {
        let (bits, rest_bits) = (self.right_bits - self.share_bits, self.width - 8);
        let lines = self.reciprocal;
        let first_of = |line: u64| if self.lines == 1 { 0 } else { divided((line << bits) + self.lines - 1, lines) };
        let quotients = (u64::MAX / self.quotients).wrapping_add(1);
        for line in 0..self.lines {
            let count = self.word(line, 0).load(Ordering::Relaxed) as u32 & 0xFF;
            let first = first_of(line);
            for slot in 0..count {
                let byte = slot + 1;
                let tag = self.word(line, byte as usize / 8).load(Ordering::Relaxed) >> (8 * (byte % 8)) & 0xFF;
                let held = (tag << rest_bits | self.rest(line, slot, rest_bits)).wrapping_mul(STIR.1) & ones(self.width);
                let kept = held >> 1;
                let first = if held & 1 == 0 { first } else { first_of(self.other(line, kept)) };
                let mut left = if self.quotients == 1 { kept } else { divided(kept, quotients) };
                // For large slot contents the quotient may be one too many.
                left -= u64::from(left * self.quotients > kept);
                let (left, quotient) = (left as u32, kept - left * self.quotients);
                let rest = (first + quotient).wrapping_mul(SCATTER.1) & mask(bits);
                each(left, ((rest as u32) << self.share_bits) ^ (mix(left) & ones(self.right_bits) as u32));
            }
        }
    }
}

/// A number divided by another, whose reciprocal is 2⁶⁴ divided by it and rounded up. Exact if the product of both is below 2⁶⁴.
#[inline]
fn divided(number: u64, reciprocal: u64) -> u64 {
    ((u128::from(number) * u128::from(reciprocal)) >> 64) as u64
}

/// As [`ones`], for no bits too.
#[inline]
fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The top bit of every byte that is zero.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    let rests = 0x7F * BYTES;
    !(((word & rests) + rests) | word | rests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use std::collections::HashSet;
    use wayfarer_space::Rng;

    fn filled(pairs: impl Iterator<Item = (u32, u32)>) -> (Pairs, HashSet<(u32, u32)>) {
        let mut set = Pairs::new(1 << 20, &Unlimited).unwrap();
        let mut known = HashSet::new();
        for (left, right) in pairs {
            let expected = if known.insert((left, right)) { Put::Inserted } else { Put::Present };
            let mut put = set.put(left, right);
            while put == Put::Crowded {
                assert!(set.grow(left, right, &Unlimited));
                put = set.put(left, right);
            }
            assert_eq!(put, expected, "{left} {right}");
            if set.is_littered() {
                assert!(set.tidy() && !set.is_littered());
            }
        }
        set.tidy();
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
        assert!(bytes < 4.5, "{bytes} bytes a pair");
    }

    #[test]
    fn numbers_that_fit_without_growing_are_kept_when_it_grows() {
        // Most left numbers are small. An occasional large one fits the spare bits of the slots.
        let mut rng = Rng::new(2, "pairs");
        let mut draw = |number: u32| if number.is_multiple_of(50) { rng.below(3_000) } else { rng.below(40) } as u32;
        let (set, known) = filled((0..60_000u32).map(|number| (draw(number), number.wrapping_mul(7) % 9_000)));
        assert!(known.iter().all(|(left, right)| set.contains(*left, *right)));
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
        let set = std::sync::RwLock::new(Pairs::new(1 << 30, &Unlimited).unwrap());
        let inserted = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4u32 {
                let (set, inserted) = (&set, &inserted);
                scope.spawn(move || {
                    for number in 0..100_000u32 {
                        let pair = number / 1_000 * 1_000 + (number * 7 + worker * 250) % 1_000;
                        loop {
                            let put = set.read().unwrap().put(pair % 977, pair / 13);
                            match put {
                                Put::Present => break,
                                Put::Inserted => {
                                    inserted.fetch_add(1, Ordering::Relaxed);
                                    break;
                                }
                                Put::Crowded => assert!(set.read().unwrap().grow(pair % 977, pair / 13, &Unlimited)),
                            }
                        }
                        if number % 64 == worker && set.read().unwrap().is_littered() {
                            set.write().unwrap().tidy();
                        }
                    }
                });
            }
        });
        let distinct: HashSet<_> = (0..100_000u32).map(|pair| (pair % 977, pair / 13)).collect();
        assert_eq!(inserted.load(Ordering::Relaxed), distinct.len());
    }
}
