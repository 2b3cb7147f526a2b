//! Compares states of a few words with four words in a register.

#![allow(unsafe_code)]

use std::arch::x86_64::{_mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_pd};
use wayfarer_space::Word;

/// The words in a register.
const WORDS: usize = 4;
/// From so many words on it pays: the last words of a shorter state were written a moment ago, and a register cannot be filled before they are in the cache.
pub(crate) const WORTH: usize = 9;

/// Whether this processor has the instructions.
#[inline]
pub(crate) fn are_there() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// The words in which two states differ.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn differing<const W: usize>(from: &[Word; W], to: &[Word; W]) -> u64 {
    let (from, to) = (from.as_chunks::<WORDS>(), to.as_chunks::<WORDS>());
    let mut mask = 0;
    for (index, (from, to)) in from.0.iter().zip(to.0).enumerate() {
        // SAFETY: both are as long as a register.
        let (from, to) = unsafe { (_mm256_loadu_si256(from.as_ptr().cast()), _mm256_loadu_si256(to.as_ptr().cast())) };
        let equal = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(from, to))) as u64;
        mask |= (equal ^ 0xF) << (index * WORDS);
    }
    for (index, (from, to)) in from.1.iter().zip(to.1).enumerate() {
        mask |= u64::from(from != to) << (W / WORDS * WORDS + index);
    }
    mask
}

/// Puts a state in the place of another, and says in which words it differs.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn exchange<const W: usize>(entry: &mut [Word; W], to: &[Word; W]) -> u64 {
    let differs = differing(entry, to);
    *entry = *to;
    differs
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::{Rng, changed_words};

    fn agrees<const W: usize>(rng: &mut Rng) {
        for _ in 0..200 {
            let from: [Word; W] = std::array::from_fn(|_| rng.below(3));
            let to: [Word; W] = std::array::from_fn(|word| if rng.below(3) == 0 { rng.below(3) } else { from[word] });
            let mut entry = from;
            // SAFETY: the caller has asked.
            let (differs, exchanged) = unsafe { (differing(&from, &to), exchange(&mut entry, &to)) };
            assert_eq!((differs, exchanged, entry), (changed_words(&from, &to), differs, to));
        }
    }

    #[test]
    fn the_words_that_differ_are_found() {
        let mut rng = Rng::new(3, "lanes");
        if are_there() {
            agrees::<1>(&mut rng);
            agrees::<4>(&mut rng);
            agrees::<9>(&mut rng);
            agrees::<13>(&mut rng);
            agrees::<16>(&mut rng);
        }
    }
}
