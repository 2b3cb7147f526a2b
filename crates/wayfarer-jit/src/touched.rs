//! The words of a wide state that a command may change, so that only these are compared afterwards.

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
    let mut mask = 0;
    let mut compare = |start: usize, old: &[Word], new: &[Word]| {
        for (index, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
            sum = sum.replace(start + index, *old, *new);
            mask |= 1 << (start + index).min(63);
        }
    };
    let ((old_blocks, old_rest), (new_blocks, new_rest)) = (from.as_chunks::<BLOCK>(), to.as_chunks::<BLOCK>());
    let mut left = blocks.0;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        left &= left - 1;
        let end = if first == 63 { old_blocks.len() } else { (first + 1).min(old_blocks.len()) };
        for number in first..end {
            let (old, new) = (&old_blocks[number], &new_blocks[number]);
            // Few words change: a block is compared without a branch for each word.
            let mut differs = 0;
            for index in 0..BLOCK {
                differs |= old[index] ^ new[index];
            }
            if differs != 0 {
                compare(number * BLOCK, old, new);
            }
        }
        if first == old_blocks.len().min(63) {
            compare(old_blocks.len() * BLOCK, old_rest, new_rest);
        }
    }
    (sum.finish(to.len()), mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::{Rng, hash};

    /// The hash and the mask are those of the whole state, whichever words change.
    #[test]
    fn changed_words_are_found_in_their_blocks() {
        let mut rng = Rng::new(1, "touched");
        for words in [5usize, 8, 9, 16, 63, 64, 65, 504, 505, 512, 513, 600] {
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
