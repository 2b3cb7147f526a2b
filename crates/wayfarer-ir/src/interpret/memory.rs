//! The two memories of running code, the state and the stack of frames, and the moves of bits between them.
//!
//! A verified program stays inside its memories and keeps every run of at most 64 bits inside one word, and every longer one on whole words.

use crate::program::Region;
use std::cmp::Ordering;
use wayfarer_space::Word;

/// A resolved place: an absolute position in one of the memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) region: Region,
    pub(super) bit: usize,
}

/// The state and the frames of all running calls.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) state: Vec<Word>,
    pub(super) frames: Vec<Word>,
}

impl Memory {
    /// All words of a region.
    pub(super) fn words(&self, region: Region) -> &[Word] {
        match region {
            Region::State => &self.state,
            Region::Frame => &self.frames,
        }
    }

    fn words_mut(&mut self, region: Region) -> &mut [Word] {
        match region {
            Region::State => &mut self.state,
            Region::Frame => &mut self.frames,
        }
    }

    /// At most 64 bits, zero-extended.
    #[inline]
    pub(super) fn load(&self, spot: Spot, bits: u32) -> Word {
        self.words(spot.region)[spot.bit / 64] >> (spot.bit % 64) & low_ones(bits)
    }

    /// Writes the low bits of a value, at most 64.
    #[inline]
    pub(super) fn store(&mut self, spot: Spot, bits: u32, value: Word) {
        let shift = spot.bit % 64;
        let mask = low_ones(bits) << shift;
        let word = &mut self.words_mut(spot.region)[spot.bit / 64];
        *word = *word & !mask | value << shift & mask;
    }

    /// Copies a run of bits as if it were read whole and then written.
    pub(super) fn copy(&mut self, to: Spot, from: Spot, bits: u32) {
        if bits <= 64 {
            let value = self.load(from, bits);
            self.store(to, bits, value);
            return;
        }
        let (target, source, words) = (to.bit / 64, from.bit / 64, bits as usize / 64);
        match (to.region, from.region) {
            (Region::State, Region::State) => self.state.copy_within(source..source + words, target),
            (Region::Frame, Region::Frame) => self.frames.copy_within(source..source + words, target),
            (Region::State, Region::Frame) => self.state[target..target + words].copy_from_slice(&self.frames[source..source + words]),
            (Region::Frame, Region::State) => self.frames[target..target + words].copy_from_slice(&self.state[source..source + words]),
        }
    }

    /// Zeroes a run of bits.
    pub(super) fn zero(&mut self, spot: Spot, bits: u32) {
        if bits <= 64 {
            self.store(spot, bits, 0);
        } else {
            let start = spot.bit / 64;
            self.words_mut(spot.region)[start..start + bits as usize / 64].fill(0);
        }
    }

    /// Sorts elements in descending order. Insertion sort: after a command, the elements are sorted except for one or
    /// two.
    pub(super) fn sort(&mut self, spot: Spot, stride: u32, count: u32, bits: u32) {
        let element = |index: u32| Spot { region: spot.region, bit: spot.bit + index as usize * stride as usize };
        for end in 1..count {
            let mut index = end;
            while index > 0 && self.compare(element(index - 1), element(index), bits) == Ordering::Less {
                self.swap(element(index - 1), element(index), bits);
                index -= 1;
            }
        }
    }

    /// Compares two runs as numbers whose first word is the least significant.
    fn compare(&self, left: Spot, right: Spot, bits: u32) -> Ordering {
        if bits <= 64 {
            return self.load(left, bits).cmp(&self.load(right, bits));
        }
        let words = self.words(left.region);
        let run = |spot: Spot| words[spot.bit / 64..spot.bit / 64 + bits as usize / 64].iter().rev();
        run(left).cmp(run(right))
    }

    fn swap(&mut self, left: Spot, right: Spot, bits: u32) {
        if bits <= 64 {
            let (first, second) = (self.load(left, bits), self.load(right, bits));
            self.store(left, bits, second);
            self.store(right, bits, first);
            return;
        }
        let words = self.words_mut(left.region);
        for word in 0..bits as usize / 64 {
            words.swap(left.bit / 64 + word, right.bit / 64 + word);
        }
    }
}

/// A mask of the low `bits`, 1 to 64.
#[inline]
fn low_ones(bits: u32) -> Word {
    Word::MAX >> (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(words: &[Word]) -> Memory {
        Memory { state: words.to_vec(), frames: vec![0; 4] }
    }

    fn at(bit: usize) -> Spot {
        Spot { region: Region::State, bit }
    }

    #[test]
    fn a_store_leaves_its_neighbours_alone() {
        let mut memory = state(&[Word::MAX]);
        memory.store(at(4), 3, 0b1010);
        assert_eq!(memory.state[0], Word::MAX & !(0b101 << 4));
        assert_eq!(memory.load(at(4), 3), 0b010);
        memory.store(at(0), 64, 7);
        assert_eq!(memory.state[0], 7);
    }

    #[test]
    fn long_runs_move_by_words_even_where_they_overlap() {
        let mut memory = state(&[1, 2, 3, 4]);
        memory.copy(at(64), at(0), 128);
        assert_eq!(memory.state, [1, 1, 2, 4]);
        memory.copy(Spot { region: Region::Frame, bit: 128 }, at(64), 128);
        assert_eq!(memory.frames, [0, 0, 1, 2]);
        memory.zero(at(64), 192);
        assert_eq!(memory.state, [1, 0, 0, 0]);
    }

    #[test]
    fn sorting_is_descending_and_the_last_word_weighs_most() {
        let mut memory = state(&[0x3142]);
        memory.sort(at(0), 4, 4, 4);
        assert_eq!(memory.state[0], 0x1234);
        let mut memory = state(&[9, 1, 0, 2, 5, 2]);
        memory.sort(at(0), 128, 3, 128);
        assert_eq!(memory.state, [5, 2, 0, 2, 9, 1]);
    }

    #[test]
    fn sorting_moves_only_the_bits_of_the_elements() {
        let mut memory = state(&[0b1011_0001]);
        memory.sort(at(0), 4, 2, 3);
        assert_eq!(memory.state[0], 0b1001_0011);
    }
}
