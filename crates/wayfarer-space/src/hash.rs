//! The hash of a state: 128 bits, computed once and kept with the state.
//!
//! Narrow states: two independent lanes of multiply-and-fold over the words. Wide states: a sum of products, one for
//! each word, from which a successor's hash is found by the words that changed ([`Sum`]). The parts have names so that
//! no two users of one state's hash share bits by accident: [`Hash::address`] places a state in a table,
//! [`Hash::fingerprint`] tells states apart inside it, [`Hash::second`] is reserved for records and owners.

use crate::Word;

/// The version of the hash. It changes whenever the same words would hash to something else, and is saved
/// with anything that outlives a run.
pub const HASH_VERSION: u32 = 2;

/// A state's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash {
    first: u64,
    second: u64,
}

impl Hash {
    /// The start of a table lookup: the low bits of the first lane are used first.
    #[inline]
    pub fn address(self) -> u64 {
        self.first
    }

    /// Thirty-two bits that no address of fewer than 2³² buckets uses.
    #[inline]
    pub fn fingerprint(self) -> u32 {
        (self.first >> 32) as u32
    }

    /// The second lane, independent of the first.
    #[inline]
    pub fn second(self) -> u64 {
        self.second
    }
}

const FIRST: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93];
const SECOND: [u64; 2] = [0xC2B2_AE3D_27D4_EB4F, 0xA076_1D64_78BD_642F];

/// States of more words than this are hashed by a [`Sum`].
pub const NARROW: usize = 4;

/// The hash of a state's words. The length enters the hash.
#[inline]
pub fn hash(words: &[Word]) -> Hash {
    if words.len() > NARROW {
        return Sum::of(words).finish(words.len());
    }
    let length = words.len() as u64;
    let mut first = FIRST[0] ^ length;
    let mut second = SECOND[0] ^ length;
    for word in words {
        first = fold(first ^ word, FIRST[1]);
        second = fold(second.rotate_left(23) ^ word, SECOND[1]);
    }
    Hash { first: fold(first ^ FIRST[0], SECOND[1]), second: fold(second ^ SECOND[0], FIRST[1]) }
}

/// The hash of a wide state before its last step: the sum of all words times the factors of their positions. The
/// factors are random odd numbers, so two states have the same sum with a probability of about 2⁻⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum(u128);

impl Sum {
    /// The sum of a state.
    #[inline]
    pub fn of(words: &[Word]) -> Self {
        let mut sum = 0u128;
        let (first, rest) = words.split_at(words.len().min(FACTORS.len()));
        for (word, factor) in first.iter().zip(&FACTORS) {
            sum = sum.wrapping_add(u128::from(*word) * u128::from(*factor));
        }
        for (index, word) in rest.iter().enumerate() {
            sum = sum.wrapping_add(u128::from(*word) * u128::from(random(FACTORS.len() + index)));
        }
        Sum(sum)
    }

    /// The sum after the word at an index was replaced.
    #[inline]
    #[must_use]
    pub fn replace(self, index: usize, old: Word, new: Word) -> Self {
        let factor = FACTORS.get(index).copied().unwrap_or_else(|| random(index));
        // The difference of both products, with one multiplication.
        let borrowed = if new < old { factor } else { 0 };
        let product = u128::from(new.wrapping_sub(old)) * u128::from(factor);
        Sum(self.0.wrapping_add(product).wrapping_sub(u128::from(borrowed) << 64))
    }

    /// The hash of a state of this many words.
    #[inline]
    pub fn finish(self, words: usize) -> Hash {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let length = words as u64;
        Hash { first: fold(fold(low ^ length, FIRST[0]) ^ high, FIRST[1]), second: fold(fold(high ^ length, SECOND[0]) ^ low, SECOND[1]) }
    }
}

/// The factors of the first words.
static FACTORS: [u64; 256] = {
    let mut factors = [0; 256];
    let mut index = 0;
    while index < factors.len() {
        factors[index] = random(index);
        index += 1;
    }
    factors
};

/// A random odd number for a position.
const fn random(index: usize) -> u64 {
    let mut value = (index as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (value ^ (value >> 31)) | 1
}

/// The two halves of the full product, folded. The added input keeps a zero factor from erasing the other.
#[inline]
fn fold(value: u64, factor: u64) -> u64 {
    let product = u128::from(value) * u128::from(factor);
    (product as u64) ^ ((product >> 64) as u64) ^ value.rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbouring_states_do_not_collide_even_in_half_a_lane() {
        // 2^16 states that differ in few bits. 32 random bits would give 0.5 expected collisions; six or more have odds below 10^-5.
        let mut halves = [HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new()];
        for low in 0..256u64 {
            for high in 0..256u64 {
                let Hash { first, second } = hash(&[low, high << 56]);
                for (half, value) in halves.iter_mut().zip([first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]) {
                    half.insert(value);
                }
            }
        }
        for half in halves {
            assert!(half.len() > 65_536 - 6, "{} distinct", half.len());
        }
    }

    #[test]
    fn neighbouring_wide_states_do_not_collide_even_in_half_a_lane() {
        let mut halves = [HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new()];
        for (left, right) in [(0, 1), (2, 4), (0, 299)] {
            halves.iter_mut().for_each(HashSet::clear);
            let mut state = vec![0; 300];
            for low in 0..256u64 {
                for high in 0..256u64 {
                    (state[left], state[right]) = (low, high << 40);
                    let Hash { first, second } = hash(&state);
                    for (half, value) in halves.iter_mut().zip([first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]) {
                        half.insert(value);
                    }
                }
            }
            for half in &halves {
                assert!(half.len() > 65_536 - 6, "{} distinct", half.len());
            }
        }
    }

    #[test]
    fn replacing_words_gives_the_hash_of_the_new_state() {
        let mut rng = crate::Rng::new(3, "sums");
        for words in [5, 9, 256, 300] {
            let mut state: Vec<u64> = (0..words).map(|_| rng.below(u64::MAX)).collect();
            let mut sum = Sum::of(&state);
            for _ in 0..20 {
                let (index, new) = (rng.below(words) as usize, rng.below(u64::MAX));
                sum = sum.replace(index, state[index], new);
                state[index] = new;
            }
            assert_eq!(sum.finish(state.len()), hash(&state));
        }
    }

    #[test]
    fn length_is_part_of_the_hash() {
        assert_ne!(hash(&[]), hash(&[0]));
        assert_ne!(hash(&[0]), hash(&[0, 0]));
    }

    #[test]
    fn the_version_fixes_the_values() {
        assert_eq!(HASH_VERSION, 2);
        let Hash { first, second } = hash(&[1, 2, 3]);
        assert_eq!((first, second), (0x2A62_7585_0D89_2DF3, 0xAF71_3E6F_4695_1EC8));
    }
}
