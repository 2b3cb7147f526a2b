//! The words of a wide state that a command may change, so that only these are compared afterwards.

#![allow(unsafe_code)]

use wayfarer_space::{Hash, Sum, Word};

/// Words that are compared together.
const BLOCK: usize = 8;

/// Blocks of words, one bit each. The last bit stands for all further blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks(pub(crate) u64);

impl Blocks {
    pub(crate) const ALL: Blocks = Blocks(u64::MAX);

    /// The blocks of some words.
    pub(crate) fn of(words: impl IntoIterator<Item = bool>) -> Self {
        let touched = words.into_iter().enumerate().filter(|(_, touched)| *touched);
        Blocks(touched.fold(0, |all, (word, _)| all | 1 << (word / BLOCK).min(63)))
    }

    /// The blocks that are in both.
    pub(crate) fn and(self, other: Blocks) -> Self {
        Blocks(self.0 & other.0)
    }
}

/// The hash of a wide state, given the sum of the state it differs from, and the words in which it differs, all of them
/// in the given blocks.
#[inline]
pub(crate) fn describe(mut sum: Sum, from: &[Word], to: &[Word], blocks: Blocks) -> (Hash, u64) {
    let words = from.len();
    assert!(words == to.len() && words >= BLOCK, "two wide states");
    let mut mask = 0;
    let mut replace_in = |start: usize, mut differing: u32| {
        while differing != 0 {
            let index = start + differing.trailing_zeros() as usize / 2;
            sum = sum.replace(index, from[index], to[index]);
            mask |= 1 << index.min(63);
            differing &= differing - 1;
        }
    };
    // Full blocks with a bit of their own, then all that the next bit stands for.
    let own = (words / BLOCK).min(63);
    let mut left = blocks.0 & !(u64::MAX << own);
    while left != 0 {
        let start = left.trailing_zeros() as usize * BLOCK;
        replace_in(start, differing(block(from, start), block(to, start)));
        left &= left - 1;
    }
    if blocks.0 >> own != 0 {
        for start in (own * BLOCK..words).step_by(BLOCK) {
            // The last block also has words before it.
            let known = (start + BLOCK).saturating_sub(words);
            let bits = differing(block(from, start - known), block(to, start - known));
            replace_in(start, bits >> (known * 2));
        }
    }
    (sum.finish(words), mask)
}

#[inline]
fn block(words: &[Word], start: usize) -> &[Word; BLOCK] {
    words[start..start + BLOCK].try_into().expect("a block")
}

/// The words in which two blocks differ, one in every two bits. There is no branch for each word: few differ.
#[inline]
fn differing(from: &[Word; BLOCK], to: &[Word; BLOCK]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has these instructions, and each load is within its block.
    unsafe {
        use std::arch::x86_64::{_mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
        let equal = |index: usize| {
            let pair = |words: &[Word; BLOCK]| _mm_loadu_si128(words[index..index + 2].as_ptr().cast());
            _mm_cmpeq_epi32(pair(from), pair(to))
        };
        let halves = _mm_packs_epi16(_mm_packs_epi32(equal(0), equal(2)), _mm_packs_epi32(equal(4), equal(6)));
        let differing = !(_mm_movemask_epi8(halves) as u32);
        (differing | differing >> 1) & 0x5555
    }
    #[cfg(not(target_arch = "x86_64"))]
    (0..BLOCK).fold(0, |all, index| all | u32::from(from[index] != to[index]) << (index * 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::{Rng, hash};

    /// The hash and the mask are those of the whole state, whichever words change.
    #[test]
    fn changed_words_are_found_in_their_blocks() {
        let mut rng = Rng::new(1, "touched");
        for words in [8usize, 9, 16, 63, 64, 65, 504, 505, 512, 513, 600] {
            for _ in 0..50 {
                let from: Vec<Word> = (0..words).map(|_| rng.below(4)).collect();
                let (mut to, mut touched) = (from.clone(), vec![false; words]);
                for _ in 0..rng.below(6) {
                    let word = rng.below(words as u64) as usize;
                    touched[word] = true;
                    to[word] = rng.below(4);
                }
                let expected = (0..words).filter(|word| from[*word] != to[*word]).fold(0u64, |all, word| all | 1 << word.min(63));
                for blocks in [Blocks::of(touched), Blocks::ALL] {
                    assert_eq!(describe(Sum::of(&from), &from, &to, blocks), (hash(&to), expected), "{words} words");
                }
            }
        }
    }

    #[test]
    fn untouched_blocks_are_not_compared() {
        let (from, mut to) = (vec![0; 40], vec![0; 40]);
        to[20] = 1;
        let mut touched = vec![false; 40];
        touched[3] = true;
        assert_eq!(describe(Sum::of(&from), &from, &to, Blocks::of(touched)), (hash(&from), 0));
    }
}
