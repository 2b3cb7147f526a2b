//! The filter that a compact table turns into when there is no room for fingerprints: a few bits per state, in the same lines.
//!
//! With slots narrower than about eighteen bits, a bucket of fingerprints takes more new states for known than a Bloom
//! filter of the same size (2 · slots / 2^bits against 2 · fill^k). So each line is turned, in place, into a small
//! filter of its entries, using the bits that are left of their fingerprints. This happens a little before that point,
//! while the entries of a line can still be told apart. A state is known if either of its two lines has all its bits. A
//! new state goes to the emptier line, which keeps lines even. Such a filter is never full; it only errs more often,
//! and it knows how often.
//!
//! Each line is a filter of its own (Putze, Sanders, Singler 2007, *Cache-, hash- and space-efficient Bloom filters*)
//! with one bit of a state in each of its words. A machine with wide registers looks at all words at once, and the odds
//! of an error are a product of eight shares.

#[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
mod wide;

use super::shape::{Bucket, Place, Shape};
use crate::memory::lines::{Line, Lines, WORDS};
use std::sync::atomic::Ordering;

/// Bits per state, one in each word of a line: about the best from 10 to 16 bits of memory per state.
const K: u32 = WORDS as u32;

/// Figures of the filter as a whole. Workers add their part after each group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Bits that are set.
    pub(super) set: u64,
    /// The sum over all lines of the odds that a state finds all its bits there. A new state looks at two lines, so
    /// twice this sum, divided by the number of lines, is the odds that it is omitted.
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

/// Turns every bucket into the filter of its entries. No other worker may be inside.
pub(super) fn convert(lines: &Lines, shape: &Shape) -> Sums {
    let mut sums = Sums::default();
    for bucket in 0..shape.buckets() as usize {
        let line = lines.line(bucket);
        let mut bits = [0; WORDS];
        for value in Bucket::read(line).entries(shape) {
            bits.iter_mut().zip(pattern(source(value))).for_each(|(word, more)| *word |= more);
        }
        bits.iter().zip(line).for_each(|(word, to)| to.store(*word, Ordering::Relaxed));
        sums.set += u64::from(fill(&bits));
        sums.powers += odds(&bits);
    }
    sums
}

/// Whether a state is known.
#[inline]
pub(super) fn holds(lines: &Lines, place: Place) -> bool {
    look(lines.line(place.home as usize), lines.line(place.other as usize), source(place.value)).is_none()
}

/// Adds a state. None if it is known, else the number of bits set and the change in the sum of powers.
#[inline]
pub(super) fn put(lines: &Lines, place: Place) -> Option<(u32, f64)> {
    let (home, other) = (lines.line(place.home as usize), lines.line(place.other as usize));
    let source = source(place.value);
    let Lacking { at_home, words, odds } = look(home, other, source)?;
    let line = if at_home { home } else { other };
    let (mut left, mut set) = (words, 0);
    while left != 0 {
        let word = left.trailing_zeros() as usize;
        let bit = bit(source, word);
        set += u32::from(line[word].fetch_or(bit, Ordering::Relaxed) & bit == 0);
        left &= left - 1;
    }
    // If nothing was set, another worker was faster.
    (set > 0).then_some((set, odds))
}

/// The bits of an unknown state that are missing in the emptier of its two lines.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lacking {
    at_home: bool,
    /// The words in which its bit is not set, a bit each.
    words: u8,
    /// The change that setting them makes to the odds that a state finds all its bits in the line.
    odds: f64,
}

/// Looks for a state in its two lines; none if it is known.
#[inline]
fn look(home: &Line, other: &Line, source: u64) -> Option<Lacking> {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    if wide::works() {
        return wide::look(home, other, source);
    }
    look_by_words(home, other, source)
}

/// As [`wide::look`], for every machine. All words are looked at: whether a state is known cannot be foretold, and a wrong guess of the processor costs more than
/// they do.
fn look_by_words(home: &Line, other: &Line, source: u64) -> Option<Lacking> {
    let bits = pattern(source);
    let missing = |line: &[u64; WORDS]| (0..WORDS).fold(0, |words, word| words | u8::from(line[word] & bits[word] == 0) << word);
    let (home, other) = (read(home), read(other));
    let (lacks, elsewhere) = (missing(&home), missing(&other));
    if lacks == 0 || elsewhere == 0 {
        return None;
    }
    let at_home = fill(&home) <= fill(&other);
    let (line, words) = if at_home { (home, lacks) } else { (other, elsewhere) };
    let after = std::array::from_fn(|word| line[word] | bits[word]);
    Some(Lacking { at_home, words, odds: odds(&after) - odds(&line) })
}

/// The source of a fingerprint's bits in the filter, the same for both of its lines: the lowest bit of `value`, which
/// tells the lines apart, is left out.
#[inline]
fn source(value: u64) -> u64 {
    let value = (value >> 1 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value ^ (value >> 29)
}

/// The bit of a fingerprint in a word of its line: six bits for each word, from the top.
#[inline]
fn bit(source: u64, word: usize) -> u64 {
    1 << (source >> (58 - 6 * word) & 63)
}

#[inline]
fn pattern(source: u64) -> [u64; WORDS] {
    std::array::from_fn(|word| bit(source, word))
}

#[inline]
fn read(line: &Line) -> [u64; WORDS] {
    std::array::from_fn(|word| line[word].load(Ordering::Relaxed))
}

#[inline]
fn fill(words: &[u64; WORDS]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// The odds that a state finds all its bits in a line.
#[inline]
fn odds(words: &[u64; WORDS]) -> f64 {
    words.iter().map(|word| f64::from(word.count_ones()) / 64.0).product()
}

#[cfg(all(test, target_arch = "x86_64", not(miri), not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use wayfarer_space::Rng;

    #[test]
    fn both_ways_look_alike() {
        let mut rng = Rng::new(7, "filter");
        let mut known = 0;
        for round in 0..4_000 {
            // From nearly empty lines to nearly full ones.
            let mut line = || -> Line { std::array::from_fn(|_| AtomicU64::new((0..round % 7).fold(0, |word, _| word | rng.next_word()))) };
            let (home, other) = (line(), line());
            let source = rng.next_word();
            let words = look_by_words(&home, &other, source);
            known += u32::from(words.is_none());
            if wide::works() {
                let wide = wide::look(&home, &other, source);
                let parts = |looked: Option<Lacking>| looked.map(|lacking| (lacking.at_home, lacking.words));
                assert_eq!(parts(wide), parts(words));
                let added = |looked: Option<Lacking>| looked.map_or(0.0, |lacking| lacking.odds);
                assert!((added(wide) - added(words)).abs() < 1e-12);
            }
        }
        assert!((1_000..3_000).contains(&known), "{known} of 4,000 known");
    }
}
