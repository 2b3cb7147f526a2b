//! A small cache of recently found states. In breadth-first search, most steps that find nothing new lead to
//! states that were found a moment ago, because two independent steps taken in either order lead from
//! neighbours to the same state. Such steps need only be counted.

use crate::{Width, Word};

/// The most words of a state of fixed length that a sieve holds.
pub const SIEVED: usize = 16;
/// The size of a sieve in bytes: small enough for a core's own cache.
const BYTES: usize = 1 << 16;
/// Words per entry if lengths vary, initially and at most. One of them holds the state's length.
const STRIDES: [usize; 2] = [4, 16];
const FACTOR: Word = 0x9E37_79B9_7F4A_7C15;

/// Recently found states, stored whole, each in the one slot that its bits select. A sieve never takes a new
/// state for a known one.
#[derive(Clone, Debug)]
pub struct Sieve {
    words: Vec<Word>,
    /// Words per entry.
    stride: usize,
    /// Whether all states have as many words as an entry.
    fixed: bool,
    shift: u32,
}

/// A step that was left out, because it leads back to its source or to a state that an earlier step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Index of the source in the batch.
    pub source: u32,
    /// The rule, and in the lowest bit whether the step changes the state.
    what: u32,
}

impl Omitted {
    /// A step by a rule, which changes the state or not.
    #[inline]
    pub fn new(source: u32, rule: u32, changed: bool) -> Self {
        debug_assert!(rule < 1 << 31, "more rules than there can be");
        Omitted { source, what: rule << 1 | u32::from(changed) }
    }

    /// The rule that fired.
    #[inline]
    pub fn rule(self) -> u32 {
        self.what >> 1
    }

    /// Whether the step changes the state.
    #[inline]
    pub fn changed(self) -> bool {
        self.what & 1 == 1
    }
}

/// A sieve for states of `W` words.
#[derive(Debug)]
pub struct SieveOf<'a, const W: usize> {
    entries: &'a mut [[Word; W]],
}

impl<const W: usize> SieveOf<'_, W> {
    /// The same sieve, of which the compiler knows where this is called that it has the usual size.
    #[inline]
    pub fn known(&mut self) -> SieveOf<'_, W> {
        SieveOf { entries: &mut self.entries[..entries_of(W)] }
    }

    /// The entry that a state selects. If another state is there, this one is absent, and belongs there from now on.
    #[inline]
    pub fn entry(&mut self, state: &[Word; W]) -> &mut [Word; W] {
        let folded = state.iter().fold(0, |folded: Word, word| folded.wrapping_mul(FACTOR).rotate_left(29) ^ word);
        &mut self.entries[place(folded, const { shift_of(entries_of(W)) })]
    }

    /// Whether a state is absent from the sieve. Inserts it.
    #[inline]
    pub fn is_fresh(&mut self, state: &[Word; W]) -> bool {
        std::mem::replace(self.entry(state), *state) != *state
    }
}

/// The entries of a sieve for states of so many words. (Code for states of no words is compiled and never runs.)
const fn entries_of(words: usize) -> usize {
    let words = if words == 0 { 1 } else { words };
    (BYTES / 8 / words).next_power_of_two()
}

/// The distance by which words are shifted to select one of so many entries.
const fn shift_of(entries: usize) -> u32 {
    64 - entries.ilog2()
}

/// The entry that a word selects.
#[inline]
fn place(word: Word, shift: u32) -> usize {
    (word.wrapping_mul(FACTOR) >> shift) as usize
}

impl Sieve {
    /// An empty sieve. Sieves exist for states of few words and for states of varying length.
    pub fn new(width: Width) -> Option<Self> {
        match width {
            Width::Fixed(words @ 1..=SIEVED) => Some(Sieve::with(entries_of(words), words, true)),
            Width::Fixed(_) => None,
            Width::Varying => Some(Sieve::with(BYTES / 8 / STRIDES[0], STRIDES[0], false)),
        }
    }

    fn with(entries: usize, stride: usize, fixed: bool) -> Self {
        let mut sieve = Sieve { words: vec![0; entries * stride], stride, fixed, shift: shift_of(entries) };
        sieve.clear();
        sieve
    }

    /// Empties the sieve.
    pub fn clear(&mut self) {
        self.words.fill(0);
        if self.fixed {
            // An empty entry holds a state that belongs to another one: zeros, except in the first, which is that of zeros. There it is a one and zeros.
            self.words[0] = 1;
        }
    }

    /// Whether a state of one word is absent from the sieve. Inserts it.
    #[inline]
    pub fn is_fresh(&mut self, word: Word) -> bool {
        let place = self.place(word);
        std::mem::replace(&mut self.words[place], word) != word
    }

    /// The same sieve, for states of a fixed number of words that is known.
    ///
    /// # Panics
    /// If the sieve is for states of another length.
    #[inline]
    pub fn of<const W: usize>(&mut self) -> SieveOf<'_, W> {
        assert!(self.fixed && self.stride == W && self.words.len() == entries_of(W) * W, "a sieve for states of {W} words");
        SieveOf { entries: self.words.as_chunks_mut().0 }
    }

    /// Whether a state of any length is absent from the sieve. Inserts it, unless it is too long.
    #[inline]
    pub fn is_fresh_state(&mut self, state: &[Word]) -> bool {
        if state.len() >= self.stride {
            return self.widen(state);
        }
        let folded = state.iter().fold(0, |folded: Word, word| folded.wrapping_mul(FACTOR).rotate_left(29) ^ word);
        let entry = self.place(folded) * self.stride;
        let entry = &mut self.words[entry..entry + self.stride];
        let length = 1 + state.len() as Word;
        let mut same = std::mem::replace(&mut entry[0], length) == length;
        // Word by word: calls to compare and to copy would take longer than these few words.
        for (old, new) in entry[1..].iter_mut().zip(state) {
            same &= std::mem::replace(old, *new) == *new;
        }
        !same
    }

    /// Makes the entries longer, and thus fewer.
    #[cold]
    fn widen(&mut self, state: &[Word]) -> bool {
        if self.stride >= STRIDES[1] {
            return true;
        }
        *self = Sieve::with(self.words.len() / self.stride / 2, 2 * self.stride, false);
        self.is_fresh_state(state)
    }

    #[inline]
    fn place(&self, word: Word) -> usize {
        place(word, self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use std::collections::HashSet;

    /// Draws states, most of them from a small set, and sifts them.
    fn sifts_soundly(mut sieve: Sieve, draw: impl Fn(&mut Rng, u64) -> Vec<Word>, mut is_fresh: impl FnMut(&mut Sieve, &[Word]) -> bool) {
        let (mut rng, mut met, mut passed) = (Rng::new(9, "sieve"), HashSet::new(), 0);
        for _ in 0..20_000 {
            let kinds = if rng.below(2) == 0 { 200 } else { u64::MAX };
            let state = draw(&mut rng, kinds);
            if is_fresh(&mut sieve, &state) {
                met.insert(state);
            } else {
                passed += 1;
                assert!(met.contains(&state), "{state:?} was never met");
                assert!(!is_fresh(&mut sieve, &state));
            }
        }
        assert!(passed > 10, "{passed}");
    }

    #[test]
    fn only_what_was_met_is_not_fresh() {
        for places in [2, 16, 1024] {
            sifts_soundly(Sieve::with(places, 1, true), |rng, kinds| vec![rng.below(kinds)], |sieve, state| sieve.is_fresh(state[0]));
        }
    }

    #[test]
    fn states_of_few_words_are_told_apart() {
        for kinds in [40, u64::MAX] {
            let draw = |rng: &mut Rng, most: u64| vec![rng.below(most.min(kinds)), 0, rng.below(3)];
            let is_fresh = |sieve: &mut Sieve, state: &[Word]| sieve.of::<3>().is_fresh(state.try_into().unwrap());
            sifts_soundly(Sieve::new(Width::Fixed(3)).unwrap(), draw, is_fresh);
        }
        for words in 2..=SIEVED {
            // The state that stands in the first entry of an empty sieve belongs elsewhere, and all others are absent.
            let mut sieve = Sieve::new(Width::Fixed(words)).unwrap();
            let mut one = vec![0; words];
            one[0] = 1;
            for state in [one, vec![0; words]] {
                macro_rules! ask {
                    ($($width:literal)*) => {
                        match words {
                            $($width => sieve.of::<$width>().is_fresh(state[..].try_into().unwrap()),)*
                            _ => unreachable!("a width"),
                        }
                    };
                }
                let mut is_fresh = || ask!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
                assert!(is_fresh() && !is_fresh());
            }
        }
    }

    #[test]
    fn states_of_any_length_are_told_apart() {
        for words in [64, 4096] {
            let draw = |rng: &mut Rng, kinds| (0..rng.below(20)).map(|_| rng.below(2.min(kinds))).collect();
            sifts_soundly(Sieve::with(words / STRIDES[0], STRIDES[0], false), draw, |sieve, state| sieve.is_fresh_state(state));
        }
        let mut sieve = Sieve::new(Width::Varying).unwrap();
        assert!(sieve.is_fresh_state(&[]) && !sieve.is_fresh_state(&[]));
        assert!(sieve.is_fresh_state(&[0]) && !sieve.is_fresh_state(&[0]));
        assert!(sieve.is_fresh_state(&[7; 15]) && !sieve.is_fresh_state(&[7; 15]));
        assert!(sieve.is_fresh_state(&[7; 16]) && sieve.is_fresh_state(&[7; 16]));
    }
}
