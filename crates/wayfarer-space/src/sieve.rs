//! A small cache of recently found states. In breadth-first search, most steps that find nothing new lead to
//! states that were found a moment ago, because two independent steps taken in either order lead from
//! neighbours to the same state. Such steps need only be counted.

use crate::{Width, Word};

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
    shift: u32,
}

/// A step that was left out, because it leads back to its source or to a state that an earlier step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Index of the source in the batch.
    pub source: u32,
    /// The rule that fired.
    pub rule: u32,
    /// Whether the step changes the state.
    pub changed: bool,
}

impl Sieve {
    /// An empty sieve. Sieves exist for states of one word and for states of varying length.
    pub fn new(width: Width) -> Option<Self> {
        match width {
            Width::Fixed(1) => Some(Sieve::with(BYTES / 8, 1)),
            Width::Fixed(_) => None,
            Width::Varying => Some(Sieve::with(BYTES / 8, STRIDES[0])),
        }
    }

    fn with(words: usize, stride: usize) -> Self {
        let mut sieve = Sieve { words: vec![0; words], stride, shift: 64 - (words / stride).ilog2() };
        sieve.clear();
        sieve
    }

    /// Empties the sieve.
    pub fn clear(&mut self) {
        self.words.fill(0);
        if self.stride == 1 {
            // An empty slot holds a word that belongs to another slot: zero, except in the slot of zero,
            // which holds one.
            let zero = self.place(0);
            self.words[zero] = 1;
        }
    }

    /// Whether a state of one word is absent from the sieve. Inserts it.
    #[inline]
    pub fn is_fresh(&mut self, word: Word) -> bool {
        let place = self.place(word);
        std::mem::replace(&mut self.words[place], word) != word
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
        *self = Sieve::with(self.words.len(), 2 * self.stride);
        self.is_fresh_state(state)
    }

    #[inline]
    fn place(&self, word: Word) -> usize {
        (word.wrapping_mul(FACTOR) >> self.shift) as usize
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
            sifts_soundly(Sieve::with(places, 1), |rng, kinds| vec![rng.below(kinds)], |sieve, state| sieve.is_fresh(state[0]));
        }
    }

    #[test]
    fn states_of_any_length_are_told_apart() {
        for words in [64, 4096] {
            let draw = |rng: &mut Rng, kinds| (0..rng.below(20)).map(|_| rng.below(2.min(kinds))).collect();
            sifts_soundly(Sieve::with(words, STRIDES[0]), draw, |sieve, state| sieve.is_fresh_state(state));
        }
        let mut sieve = Sieve::new(Width::Varying).unwrap();
        assert!(sieve.is_fresh_state(&[]) && !sieve.is_fresh_state(&[]));
        assert!(sieve.is_fresh_state(&[0]) && !sieve.is_fresh_state(&[0]));
        assert!(sieve.is_fresh_state(&[7; 15]) && !sieve.is_fresh_state(&[7; 15]));
        assert!(sieve.is_fresh_state(&[7; 16]) && sieve.is_fresh_state(&[7; 16]));
    }
}
