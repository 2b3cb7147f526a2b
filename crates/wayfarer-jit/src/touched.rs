//! The words of a wide state that a command may change, so that only these are compared afterwards.

#![allow(unsafe_code)]

use wayfarer_space::{Hash, Sum, Word};

/// Words that are compared together.
const BLOCK: usize = 8;
/// The most words that have a bit of their own in a mask.
const MOST: usize = 64;

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
    if words > MOST {
        return describe_long(sum, from, to, blocks);
    }
    // All blocks are compared before any word is replaced. So one loop runs over few words, the end of which the
    // processor foresees wrongly once, and not one for each block.
    let mask = differing(from, to, blocks.0 & u64::MAX >> (64 - words.div_ceil(BLOCK)));
    let mut left = mask;
    while left != 0 {
        let index = left.trailing_zeros() as usize;
        // SAFETY: only words of the states were compared.
        sum = unsafe { sum.replace(index, *from.get_unchecked(index), *to.get_unchecked(index)) };
        left &= left - 1;
    }
    (sum.finish(words), mask)
}

/// The same for states of more words than a mask has bits.
#[inline(never)]
fn describe_long(mut sum: Sum, from: &[Word], to: &[Word], blocks: Blocks) -> (Hash, u64) {
    let words = from.len();
    let mut mask = 0;
    for start in (0..words).step_by(MOST) {
        let own = if start < 64 * BLOCK { blocks.0 >> (start / BLOCK) & 0xFF } else { (blocks.0 >> 63) * 0xFF };
        if own == 0 {
            continue;
        }
        // The last words are compared together with some before them, and so begin inside a block.
        let first = start.min(words - MOST);
        let own = if first == start { own } else { 0xFF };
        let mut left = differing(&from[first..first + MOST], &to[first..first + MOST], own) >> (start - first);
        while left != 0 {
            let index = start + left.trailing_zeros() as usize;
            sum = sum.replace(index, from[index], to[index]);
            mask |= 1 << index.min(63);
            left &= left - 1;
        }
    }
    (sum.finish(words), mask)
}

/// The words in which two runs of [`BLOCK`] to [`MOST`] words differ, one bit each, all of them in the given blocks.
#[inline(always)]
fn differing(from: &[Word], to: &[Word], blocks: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        assert!(from.len() == to.len() && from.len() >= BLOCK, "a block");
        // SAFETY: the processor has the instructions. The last block may begin so many words after the first.
        return unsafe { differing_fast(from.as_ptr(), to.as_ptr(), from.len() - BLOCK, blocks) };
    }
    differing_slowly(from, to, blocks)
}

/// The words that differ, with four words in a register.
///
/// # Safety
/// Both places must have [`BLOCK`] words more than `last`, and at most [`MOST`] in all.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn differing_fast(from: *const Word, to: *const Word, last: usize, mut blocks: u64) -> u64 {
    use std::arch::x86_64::{_mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_pd};
    let mut mask = 0;
    while blocks != 0 {
        // The last block may also have words before it.
        let start = (blocks.trailing_zeros() as usize * BLOCK).min(last);
        let equal = |index: usize| {
            // SAFETY: the words are in a block that begins at `last` or earlier.
            let (from, to) = unsafe { (_mm256_loadu_si256(from.add(index).cast()), _mm256_loadu_si256(to.add(index).cast())) };
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(from, to))) as u8
        };
        mask |= u64::from(!(equal(start) | equal(start + 4) << 4)) << start;
        blocks &= blocks - 1;
    }
    mask
}

/// The same for any processor. There is no branch for each word: few differ.
fn differing_slowly(from: &[Word], to: &[Word], mut blocks: u64) -> u64 {
    let mut mask = 0;
    while blocks != 0 {
        let start = (blocks.trailing_zeros() as usize * BLOCK).min(from.len() - BLOCK);
        for (index, (from, to)) in from[start..start + BLOCK].iter().zip(&to[start..start + BLOCK]).enumerate() {
            mask |= u64::from(from != to) << (start + index);
        }
        blocks &= blocks - 1;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::{Rng, hash};

    /// The hash and the mask are those of the whole state, whichever words change.
    #[test]
    fn changed_words_are_found_in_their_blocks() {
        let mut rng = Rng::new(1, "touched");
        for words in [8usize, 9, 16, 63, 64, 65, 71, 72, 128, 504, 505, 511, 512, 513, 600] {
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

    /// Both ways of comparing words find the same.
    #[test]
    fn words_are_compared_alike_on_every_processor() {
        let mut rng = Rng::new(2, "touched");
        for words in 8..=64usize {
            for _ in 0..20 {
                let (from, to): (Vec<Word>, Vec<Word>) = (0..words).map(|_| (rng.below(2) << 40, rng.below(2) << 40)).unzip();
                let blocks = rng.below(256) & u64::MAX >> (64 - words.div_ceil(8));
                assert_eq!(differing(&from, &to, blocks), differing_slowly(&from, &to, blocks), "{words} words");
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
