//! Finds a value among the slots of a line. Slots have any width, so they begin anywhere in a byte: eight at a time are brought to the beginning of a
//! word each, by a permutation of bytes and a shift that depend on the width alone and are made once.
#![allow(unsafe_code)] // Lines are read whole, and by instructions that were found at run time.

use crate::memory::lines::{Line, WORDS};
use std::sync::atomic::Ordering;

const MOST_SLOTS: usize = 64;

/// Tables for searching a line, for slots of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Scan {
    /// For each slot the bytes that it lies in, and how many bits it begins behind the first of them.
    bytes: [[u8; 8]; MOST_SLOTS],
    shifts: [u64; MOST_SLOTS],
    mask: u64,
    width: u32,
    slots: u32,
    /// Whether this machine permutes bytes.
    fast: bool,
}

impl Scan {
    /// For `slots` slots of `width` bits, at most 57.
    pub(super) fn new(width: u32, slots: u32) -> Self {
        let (mut bytes, mut shifts) = ([[0; 8]; MOST_SLOTS], [0; MOST_SLOTS]);
        for slot in 0..slots as usize {
            let at = slot * width as usize;
            // Eight bytes that hold the slot and end before the line does.
            let first = (at / 8).min(56);
            bytes[slot] = std::array::from_fn(|byte| (first + byte) as u8);
            shifts[slot] = (at - 8 * first) as u64;
        }
        #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
        let fast = width <= 57 && std::arch::is_x86_feature_detected!("avx512vbmi") && std::arch::is_x86_feature_detected!("avx512bw");
        #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
        let fast = false;
        Scan { bytes, shifts, mask: u64::MAX >> (64 - width), width, slots, fast }
    }

    /// Whether one of the first `count` slots holds `value`. Other workers may add entries meanwhile; that does not touch those that are counted. It always
    /// looks at all slots: whether a state is known cannot be foretold, and one wrong guess of the processor costs as much as ten slots.
    #[inline]
    pub(super) fn find(&self, line: &Line, count: u32, value: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
        let found = if self.fast {
            // SAFETY: `fast` says that this machine has the instructions.
            unsafe { self.find_fast(line.as_ptr().cast(), value) }
        } else {
            self.find_by_words(line, value)
        };
        #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
        let found = self.find_by_words(line, value);
        // Free slots may look like a value of zero.
        found & ((1 << count) - 1) != 0
    }

    /// The slots that hold `value`, a bit each, and perhaps some past the last.
    ///
    /// # Safety
    ///
    /// There must be 64 readable bytes at `line`, and the machine must have the instructions.
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    unsafe fn find_fast(&self, line: *const u8, value: u64) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: the caller vouches for the line. Lines are aligned, so the load reads each of its words whole, as a
        // relaxed load on this machine does. Entries that were counted before the load were written before it. The
        // tables have room for all groups of eight.
        unsafe {
            let words = _mm512_loadu_si512(line.cast());
            let (wanted, mask) = (_mm512_set1_epi64(value as i64), _mm512_set1_epi64(self.mask as i64));
            let mut found = 0;
            let mut first = 0;
            while first < self.slots as usize {
                let bytes = _mm512_loadu_si512(self.bytes.as_ptr().add(first).cast());
                let shifts = _mm512_loadu_si512(self.shifts.as_ptr().add(first).cast());
                let slots = _mm512_srlv_epi64(_mm512_permutexvar_epi8(bytes, words), shifts);
                found |= u64::from(_mm512_testn_epi64_mask(_mm512_xor_si512(slots, wanted), mask)) << first;
                first += 8;
            }
            found
        }
    }

    /// As `find_fast`, for every machine.
    #[inline]
    fn find_by_words(&self, line: &Line, value: u64) -> u64 {
        let words: [u64; WORDS] = std::array::from_fn(|word| line[word].load(Ordering::Relaxed));
        let (mut found, mut at) = (0, 0);
        for slot in 0..self.slots {
            let (word, shift) = ((at >> 6) as usize & (WORDS - 1), at & 63);
            // The last slot ends in the last word, so what is read from the first behind it is dropped.
            let bits = (words[word] >> shift) | (words[(word + 1) & (WORDS - 1)] << 1 << (63 - shift));
            found |= u64::from((bits ^ value) & self.mask == 0) << slot;
            at += self.width;
        }
        found
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use wayfarer_space::Rng;

    #[test]
    fn both_ways_find_the_same_slots() {
        let mut rng = Rng::new(6, "scan");
        for width in 8..=57 {
            let slots = (500 / width).min(63);
            let scan = Scan::new(width, slots);
            // Few different bits, so that values come up more than once.
            let line: Line = std::array::from_fn(|_| AtomicU64::new(if rng.below(3) == 0 { rng.next_word() } else { 0 }));
            for slot in 0..slots {
                let at = (slot * width) as usize;
                let bit = |bit: usize| line[bit / 64].load(Ordering::Relaxed) >> (bit % 64) & 1;
                let value = (0..width as usize).fold(0, |value, place| value | bit(at + place) << place);
                let words = scan.find_by_words(&line, value);
                assert!(words >> slot & 1 == 1, "{width} bits, slot {slot}");
                for count in 0..=slots {
                    assert_eq!(scan.find(&line, count, value), words & ((1 << count) - 1) != 0, "{width} bits, slot {slot}");
                }
            }
        }
    }
}
