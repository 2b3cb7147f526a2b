//! What was met lately. In breadth-first search most steps that lead to nothing new lead to states that were found a moment ago, because two steps that can be taken
//! in either order lead from neighbours to the same state: such steps need only be counted.

use crate::Word;

/// States of one word that were met lately, each in the one place that its bits name.
#[derive(Clone, Debug)]
pub struct Sieve {
    words: Vec<Word>,
    shift: u32,
}

/// A step that was left out, because it leads back to its source or to a state that an earlier step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Index of the source in the batch.
    pub source: u32,
    /// The rule that fired.
    pub rule: u32,
    /// Whether it leads to another state than its source.
    pub changed: bool,
}

impl Sieve {
    /// Nothing was met yet; there are two to the power of `bits` places, of eight bytes each.
    pub fn new(bits: u32) -> Self {
        let mut sieve = Sieve { words: vec![0; 1 << bits], shift: 64 - bits };
        sieve.clear();
        sieve
    }

    /// Nothing was met yet.
    pub fn clear(&mut self) {
        // An empty place holds a word that belongs elsewhere: zero, and in the place of zero one.
        self.words.fill(0);
        let zero = self.place(0);
        self.words[zero] = 1;
    }

    /// Whether a word was not met lately; from now on it was.
    #[inline]
    pub fn is_fresh(&mut self, word: Word) -> bool {
        let place = self.place(word);
        std::mem::replace(&mut self.words[place], word) != word
    }

    #[inline]
    fn place(&self, word: Word) -> usize {
        (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use std::collections::HashSet;

    #[test]
    fn only_what_was_met_is_not_fresh() {
        for bits in [1, 4, 10] {
            let mut sieve = Sieve::new(bits);
            let (mut rng, mut met, mut passed) = (Rng::new(9, "sieve"), HashSet::new(), 0);
            for _ in 0..20_000 {
                let word = if rng.below(2) == 0 { rng.below(200) } else { rng.next_word() };
                if sieve.is_fresh(word) {
                    met.insert(word);
                } else {
                    passed += 1;
                    assert!(met.contains(&word), "{word} was never met");
                }
                assert!(!sieve.is_fresh(word));
            }
            assert!(passed > 10, "{passed}");
        }
    }
}
