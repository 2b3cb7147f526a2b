//! The hash of a state: 128 bits, computed once and kept with the state.
//!
//! Two independent lanes of multiply-and-fold over the words. The parts have names so that no two users of
//! one state's hash share bits by accident: [`Hash::address`] places a state in a table,
//! [`Hash::fingerprint`] tells states apart inside it, [`Hash::second`] is reserved for records and owners.

use crate::Word;

/// The version of the hash. It changes whenever the same words would hash to something else, and is saved
/// with anything that outlives a run.
pub const HASH_VERSION: u32 = 1;

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

/// The hash of a state's words. The length enters the hash.
#[inline]
pub fn hash(words: &[Word]) -> Hash {
    let length = words.len() as u64;
    let mut first = FIRST[0] ^ length;
    let mut second = SECOND[0] ^ length;
    for word in words {
        first = fold(first ^ word, FIRST[1]);
        second = fold(second.rotate_left(23) ^ word, SECOND[1]);
    }
    Hash { first: fold(first ^ FIRST[0], SECOND[1]), second: fold(second ^ SECOND[0], FIRST[1]) }
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
    fn length_is_part_of_the_hash() {
        assert_ne!(hash(&[]), hash(&[0]));
        assert_ne!(hash(&[0]), hash(&[0, 0]));
    }

    #[test]
    fn the_version_fixes_the_values() {
        assert_eq!(HASH_VERSION, 1);
        let Hash { first, second } = hash(&[1, 2, 3]);
        assert_eq!((first, second), (0x2A62_7585_0D89_2DF3, 0xAF71_3E6F_4695_1EC8));
    }
}
