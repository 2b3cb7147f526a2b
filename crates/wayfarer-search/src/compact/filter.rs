//! What a compact table turns into when fingerprints have no room any more: a filter of a few bits per state, in the same lines.
//!
//! With slots narrower than about eighteen bits a bucket of fingerprints takes more unknown states for known than a Bloom filter of the same size does
//! (2 · slots / 2^bits against 2 · fill^k, which cross there). So each line is turned, in place, into a small filter of the entries that lie in it, from what
//! is left of their fingerprints; a little before that point, so that enough is left to tell the entries of a line apart. A state is known where either of its two lines has all its bits; a new one goes to the emptier of the two, which keeps
//! lines even. Such a filter is never full: it only errs more often, and knows how often.

use super::shape::{Bucket, Place, Shape};
use crate::lines::{Line, Lines, WORDS};
use std::sync::atomic::Ordering;

/// Bits per state: about the best from 10 to 16 bits of memory per state.
const K: u32 = 8;
const LINE_BITS: f64 = 512.0;

/// The filter as a whole. Workers keep what they add to it and tell it group by group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Bits that are set.
    pub(super) set: u64,
    /// The sum over all lines of (set bits / 512)^k: half of what a new state runs the risk of, times the lines.
    pub(super) powers: f64,
    /// States that were taken for known, as far as can be expected.
    pub(super) omissions: f64,
}

impl Sums {
    /// The odds that the next new state is taken for known: its bits are set in one of two lines, or it has the fingerprint of an entry there.
    pub(super) fn odds(&self, shape: &Shape) -> f64 {
        let alike = self.set as f64 / f64::from(K) / shape.fingerprints();
        (2.0 * (self.powers / shape.buckets() as f64 + alike)).clamp(0.0, 1.0 - 1e-9)
    }

    /// A group brought `new` states; the odds grow evenly over it, near enough.
    pub(super) fn settle(&mut self, shape: &Shape, new: u64, added: (u64, f64)) {
        let odds = Sums { powers: self.powers + added.1 / 2.0, ..*self }.odds(shape);
        self.omissions += new as f64 * odds / (1.0 - odds);
        self.set += added.0;
        self.powers += added.1;
    }
}

/// Turns every bucket into the filter of its entries. Nobody else may be inside.
pub(super) fn convert(lines: &Lines, shape: &Shape) -> Sums {
    let mut sums = Sums::default();
    for bucket in 0..shape.buckets() as usize {
        let line = lines.line(bucket);
        let mut bits = [0; WORDS];
        for value in Bucket::read(line).entries(shape) {
            bits.iter_mut().zip(pattern(value)).for_each(|(word, more)| *word |= more);
        }
        bits.iter().zip(line).for_each(|(word, to)| to.store(*word, Ordering::Relaxed));
        let set = bits.iter().map(|word| word.count_ones()).sum();
        sums.set += u64::from(set);
        sums.powers += power(set);
    }
    sums
}

/// Whether a state is known.
#[inline]
pub(super) fn holds(lines: &Lines, place: Place) -> bool {
    let bits = pattern(place.value);
    has(lines.line(place.home as usize), &bits) || has(lines.line(place.other as usize), &bits)
}

/// Adds a state; none where it is known, else how many bits were set and what that adds to the sum of powers.
#[inline]
pub(super) fn put(lines: &Lines, place: Place) -> Option<(u32, f64)> {
    let bits = pattern(place.value);
    let (home, other) = (lines.line(place.home as usize), lines.line(place.other as usize));
    if has(home, &bits) || has(other, &bits) {
        return None;
    }
    let (at_home, elsewhere) = (fill(home), fill(other));
    let (line, before) = if at_home <= elsewhere { (home, at_home) } else { (other, elsewhere) };
    let mut set = 0;
    for (bits, word) in bits.iter().zip(line).filter(|(bits, _)| **bits != 0) {
        set += (bits & !word.fetch_or(*bits, Ordering::Relaxed)).count_ones();
    }
    // Where nothing was set, another worker was faster.
    (set > 0).then(|| (set, power(before + set) - power(before)))
}

/// The bits of a fingerprint in its line, whichever of the two that is: the lowest bit of `value`, which says so, plays no part.
#[inline]
fn pattern(value: u64) -> [u64; WORDS] {
    let mut bits = [0; WORDS];
    let mut source = mixed(value >> 1);
    for number in 0..K {
        if number == 7 {
            // Seven positions of nine bits use up a word.
            source = mixed(!(value >> 1));
        }
        bits[source as usize & 7] |= 1 << (source >> 3 & 63);
        source >>= 9;
    }
    bits
}

#[inline]
fn mixed(value: u64) -> u64 {
    let value = (value ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value ^ (value >> 29)
}

#[inline]
fn has(line: &Line, bits: &[u64; WORDS]) -> bool {
    bits.iter().zip(line).all(|(bits, word)| word.load(Ordering::Relaxed) & bits == *bits)
}

#[inline]
fn fill(line: &Line) -> u32 {
    line.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
}

/// The odds that a state finds all its bits among so many. Of its eight positions two coincide with odds of 5.3 %.
#[inline]
fn power(set: u32) -> f64 {
    let share = f64::from(set) / LINE_BITS;
    let cube = share * share * share;
    cube * cube * share * (0.053 + 0.947 * share)
}
