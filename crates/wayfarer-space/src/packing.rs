//! The tight layout: the form in which a store keeps a state.
//!
//! In the working layout, fields do not straddle words and leave gaps. The bits that carry information are
//! the same in every state. The tight form is those bits, word after word, with the gaps squeezed out: one
//! bit-extract per word to pack and one bit-deposit per word to unpack.
#![allow(unsafe_code)] // Calls code for instructions detected at run time.

use crate::{States, Word};

/// The bits of each word that carry information, and the conversions between the two layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    masks: Vec<Word>,
    /// The bit of the tight form at which each word begins.
    starts: Vec<u32>,
    bits: usize,
    /// Whether each state has its own number of words; then there are no masks.
    varying: bool,
    /// Whether this machine gathers and scatters bits in one instruction.
    fast: bool,
    /// Whether there are no gaps: tight states are the states themselves.
    plain: bool,
}

impl Packing {
    /// The packing of states whose bits outside `masks` are always zero.
    pub fn new(masks: Vec<Word>) -> Self {
        let mut starts = Vec::with_capacity(masks.len());
        let mut bits = 0;
        for mask in &masks {
            starts.push(bits);
            bits += mask.count_ones();
        }
        let bits = bits as usize;
        #[cfg(target_arch = "x86_64")]
        let fast = std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let fast = false;
        let plain = masks
            .split_last()
            .is_some_and(|(last, others)| *last != 0 && last & last.wrapping_add(1) == 0 && others.iter().all(|mask| *mask == Word::MAX));
        Packing { masks, starts, bits, varying: false, fast, plain }
    }

    /// No packing, for states that each have their own number of words: the store decides on their form. Only
    /// [`is_varying`](Packing::is_varying) is meaningful then.
    pub fn varying() -> Self {
        Packing { varying: true, ..Packing::default() }
    }

    /// Whether each state has its own number of words.
    pub fn is_varying(&self) -> bool {
        self.varying
    }

    /// The packing that keeps every bit of `words` words.
    pub fn whole(words: usize) -> Self {
        Packing::new(vec![Word::MAX; words])
    }

    /// Whether a state is one word and its tight form is that word.
    #[inline]
    pub fn is_plain_word(&self) -> bool {
        self.plain && self.masks.len() == 1
    }

    /// The masks, one per word.
    pub fn masks(&self) -> &[Word] {
        &self.masks
    }

    /// Bits of a tight state.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bytes of a tight state.
    pub fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Words of a tight state.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64)
    }

    /// Writes the tight form of `state` into the first [`words`](Packing::words) of `tight`.
    #[inline]
    pub fn pack(&self, state: &[Word], tight: &mut [Word]) {
        if self.plain {
            return copy(state, tight);
        }
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: `fast` says that this machine has the instructions.
            return unsafe { self.pack_fast(state, tight) };
        }
        self.pack_by(0, state, tight, extract);
    }

    /// Writes the tight forms of some states, one after another, [`words`](Packing::words) each.
    #[inline]
    pub fn pack_some(&self, states: &States, indices: impl Iterator<Item = usize>, tight: &mut [Word]) {
        let words = self.words();
        if self.plain && words == 1 {
            for (tight, index) in tight.iter_mut().zip(indices) {
                *tight = states.words()[index];
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if self.fast && !self.plain {
            // SAFETY: `fast` says that this machine has the instructions.
            return unsafe { self.pack_some_fast(states, indices, tight) };
        }
        for (at, index) in indices.enumerate() {
            self.pack(states.get(index), &mut tight[at * words..(at + 1) * words]);
        }
    }

    /// Makes the tight form of a state from that of another one. The words in which both may differ are given in the form of
    /// [`Steps::changed`](crate::Steps::changed); only these are gathered.
    #[inline]
    pub fn repack(&self, state: &[Word], changed: u64, tight: &mut [Word]) {
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: `fast` says that this machine has the instructions.
            return unsafe { self.repack_fast(state, changed, tight) };
        }
        self.repack_by(state, changed, tight, extract);
    }

    /// Writes the working forms of tight states, which come one after another, [`words`](Packing::words) each, into as many `states`.
    #[inline]
    pub fn unpack_some(&self, tight: &[Word], states: &mut [Word]) {
        #[cfg(target_arch = "x86_64")]
        if self.fast && !self.plain {
            // SAFETY: `fast` says that this machine has the instructions.
            return unsafe { self.unpack_some_fast(tight, states) };
        }
        let (words, width) = (self.words().max(1), self.masks.len().max(1));
        tight.chunks_exact(words).zip(states.chunks_exact_mut(width)).for_each(|(tight, state)| self.unpack(tight, state));
    }

    /// Writes the working form of a tight state.
    #[inline]
    pub fn unpack(&self, tight: &[Word], state: &mut [Word]) {
        if self.plain {
            return copy(tight, state);
        }
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: `fast` says that this machine has the instructions.
            return unsafe { self.unpack_fast(tight, state) };
        }
        self.unpack_by(tight, state, deposit);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn pack_fast(&self, state: &[Word], tight: &mut [Word]) {
        self.pack_by(0, state, tight, |value, mask| std::arch::x86_64::_pext_u64(value, mask));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn repack_fast(&self, state: &[Word], changed: u64, tight: &mut [Word]) {
        self.repack_by(state, changed, tight, |value, mask| std::arch::x86_64::_pext_u64(value, mask));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn unpack_fast(&self, tight: &[Word], state: &mut [Word]) {
        self.unpack_by(tight, state, |value, mask| std::arch::x86_64::_pdep_u64(value, mask));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn pack_some_fast(&self, states: &States, indices: impl Iterator<Item = usize>, tight: &mut [Word]) {
        use std::arch::x86_64::_pext_u64;
        let (words, width, all) = (self.words(), self.masks.len(), states.words());
        // Most narrow states lie in two words.
        if let (&[first, second], 2) = (self.masks.as_slice(), words) {
            let filled = first.count_ones();
            let (states, tight) = (all.as_chunks::<2>().0, tight.as_chunks_mut::<2>().0);
            for (index, tight) in indices.zip(tight) {
                let (low, high) = (_pext_u64(states[index][0], first), _pext_u64(states[index][1], second));
                *tight = join(low, high, filled);
            }
            return;
        }
        for (at, index) in indices.enumerate() {
            self.pack_by(0, &all[index * width..(index + 1) * width], &mut tight[at * words..(at + 1) * words], |value, mask| _pext_u64(value, mask));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn unpack_some_fast(&self, tight: &[Word], states: &mut [Word]) {
        use std::arch::x86_64::_pdep_u64;
        let (words, width) = (self.words().max(1), self.masks.len().max(1));
        if let (&[first, second], 2) = (self.masks.as_slice(), words) {
            let filled = first.count_ones();
            for (tight, state) in tight.as_chunks::<2>().0.iter().zip(states.as_chunks_mut::<2>().0) {
                let high = part(tight, filled);
                *state = [_pdep_u64(tight[0], first), _pdep_u64(high, second)];
            }
            return;
        }
        for (tight, state) in tight.chunks_exact(words).zip(states.chunks_exact_mut(width)) {
            self.unpack_by(tight, state, |value, mask| _pdep_u64(value, mask));
        }
    }

    /// Packs the words from `first` on; the bits of those before are in place.
    #[inline(always)]
    fn pack_by(&self, first: usize, state: &[Word], tight: &mut [Word], extract: impl Fn(Word, Word) -> Word) {
        let start = self.starts.get(first).map_or(0, |start| *start as usize);
        let (mut next, mut filled) = (start / 64, start as u32 % 64);
        let mut gathered = if filled > 0 { tight[next] & low_bits(filled) } else { 0 };
        for (word, mask) in state.iter().zip(&self.masks).skip(first) {
            let value = extract(*word, *mask);
            gathered |= value << filled;
            let before = filled;
            filled += mask.count_ones();
            if filled >= 64 {
                tight[next] = gathered;
                next += 1;
                filled -= 64;
                // The upper bits of the value, which did not fit. There may be none: then all 64 are shifted out.
                gathered = value >> 1 >> (63 - before);
            }
        }
        if filled > 0 {
            tight[next] = gathered;
        }
    }

    #[inline(always)]
    fn repack_by(&self, state: &[Word], changed: u64, tight: &mut [Word], extract: impl Fn(Word, Word) -> Word) {
        let mut left = changed & !LAST;
        while left != 0 {
            let word = left.trailing_zeros() as usize;
            left &= left - 1;
            let (mask, start) = (self.masks[word], self.starts[word] as usize);
            let (index, shift, count) = (start / 64, start as u32 % 64, mask.count_ones());
            if count == 0 {
                continue;
            }
            let (value, ones) = (extract(state[word], mask), low_bits(count));
            tight[index] = tight[index] & !(ones << shift) | value << shift;
            if shift + count > 64 {
                tight[index + 1] = tight[index + 1] & !(ones >> (64 - shift)) | value >> (64 - shift);
            }
        }
        if changed & LAST != 0 {
            // The last bit stands for all further words.
            self.pack_by(63, state, tight, extract);
        }
    }

    #[inline(always)]
    fn unpack_by(&self, tight: &[Word], state: &mut [Word], deposit: impl Fn(Word, Word) -> Word) {
        for ((word, mask), start) in state.iter_mut().zip(&self.masks).zip(&self.starts) {
            let (index, shift) = (*start as usize / 64, start % 64);
            // Words without information may come last.
            let mut value = tight.get(index).map_or(0, |low| low >> shift);
            // The branch goes the same ways in every state. Joining two words each time takes longer on some machines.
            if shift + mask.count_ones() > 64 {
                value |= tight[index + 1] << (64 - shift);
            }
            *word = deposit(value, *mask);
        }
    }
}

/// The bit of [`Steps::changed`](crate::Steps::changed) that stands for word 63 and all after it.
const LAST: u64 = 1 << 63;

/// As many ones, 1 to 64, from the lowest bit on.
#[inline]
fn low_bits(count: u32) -> Word {
    Word::MAX >> (64 - count)
}

/// Two words of which the first has `filled` bits, without the gap between them.
#[inline]
fn join(first: Word, second: Word, filled: u32) -> [Word; 2] {
    let joined = u128::from(first) | u128::from(second) << filled;
    [joined as Word, (joined >> 64) as Word]
}

/// The bits from `from` on.
#[inline]
fn part(words: &[Word; 2], from: u32) -> Word {
    ((u128::from(words[0]) | u128::from(words[1]) << 64) >> from) as Word
}

/// Copies a state's words. A call to copy a word or two would cost more than the words.
#[inline]
fn copy(from: &[Word], to: &mut [Word]) {
    match (from, to) {
        ([from], [to, ..]) => *to = *from,
        ([from, other], [to, more, ..]) => (*to, *more) = (*from, *other),
        (from, to) => to[..from.len()].copy_from_slice(from),
    }
}

/// Gathers the bits of `value` under `mask` into the low bits.
fn extract(value: Word, mut mask: Word) -> Word {
    let (mut result, mut at) = (0, 0);
    while mask != 0 {
        // One run of ones at a time: layouts have few runs per word.
        let (start, ones) = lowest_run(mask);
        result |= (value >> start & ones) << at;
        at += ones.count_ones();
        mask &= !(ones << start);
    }
    result
}

/// Scatters the low bits of `value` to the bits of `mask`.
fn deposit(value: Word, mut mask: Word) -> Word {
    let (mut result, mut at) = (0, 0);
    while mask != 0 {
        let (start, ones) = lowest_run(mask);
        result |= (value >> at & ones) << start;
        at += ones.count_ones();
        mask &= !(ones << start);
    }
    result
}

/// The start of the lowest run of ones, and a run of ones of its length from bit 0.
fn lowest_run(mask: Word) -> (u32, Word) {
    let start = mask.trailing_zeros();
    let run = (mask >> start).trailing_ones();
    (start, if run == 64 { Word::MAX } else { (1 << run) - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn packing_and_unpacking_are_inverse() {
        let mut rng = Rng::new(7, "packing");
        for _ in 0..2_000 {
            let words = 1 + rng.below(5) as usize;
            let masks: Vec<Word> = (0..words).map(|_| random_mask(&mut rng)).collect();
            let state: Vec<Word> = masks.iter().map(|mask| rng.next_word() & mask).collect();
            let packing = Packing::new(masks);
            let mut tight = vec![Word::MAX; packing.words()];
            packing.pack(&state, &mut tight);
            let mut back = vec![Word::MAX; words];
            packing.unpack(&tight, &mut back);
            assert_eq!(back, state);
            let mut portable = vec![Word::MAX; packing.words()];
            packing.pack_by(0, &state, &mut portable, extract);
            assert_eq!(portable, tight);
            packing.unpack_by(&tight, &mut back, deposit);
            assert_eq!(back, state);
        }
    }

    #[test]
    fn portable_forms_agree_with_the_definition() {
        let mut rng = Rng::new(8, "packing");
        for _ in 0..2_000 {
            let (value, mask) = (rng.next_word(), random_mask(&mut rng));
            let positions: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
            let gathered = positions.iter().enumerate().fold(0, |sum, (at, bit)| sum | (value >> bit & 1) << at);
            let scattered = positions.iter().enumerate().fold(0, |sum, (at, bit)| sum | (value >> at & 1) << bit);
            assert_eq!(extract(value, mask), gathered);
            assert_eq!(deposit(value, mask), scattered);
        }
    }

    #[test]
    fn many_states_are_packed_as_one_is() {
        let mut rng = Rng::new(9, "packing");
        for _ in 0..500 {
            let masks: Vec<Word> = (0..1 + rng.below(4)).map(|_| random_mask(&mut rng)).collect();
            let (packing, width) = (Packing::new(masks.clone()), masks.len());
            let words = packing.words();
            let mut states = States::new(crate::Width::Fixed(width));
            for _ in 0..5 {
                let state: Vec<Word> = masks.iter().map(|mask| rng.next_word() & mask).collect();
                states.push(&state);
            }
            let indices = [4, 0, 0, 3, 1, 2];
            let mut tight = vec![Word::MAX; 6 * words];
            packing.pack_some(&states, indices.into_iter(), &mut tight);
            let mut back = vec![Word::MAX; 6 * width];
            packing.unpack_some(&tight, &mut back);
            for (at, index) in indices.into_iter().enumerate() {
                let mut one = vec![Word::MAX; words];
                packing.pack(states.get(index), &mut one);
                assert_eq!(tight[at * words..(at + 1) * words], one);
                if words > 0 {
                    assert_eq!(back[at * width..(at + 1) * width], *states.get(index));
                }
            }
        }
    }

    #[test]
    fn a_state_is_repacked_from_one_that_differs_in_few_words() {
        let mut rng = Rng::new(10, "packing");
        for _ in 0..500 {
            let masks: Vec<Word> = (0..1 + rng.below(90)).map(|_| random_mask(&mut rng)).collect();
            let packing = Packing::new(masks.clone());
            let from: Vec<Word> = masks.iter().map(|mask| rng.next_word() & mask).collect();
            let mut to = from.clone();
            for _ in 0..rng.below(6) {
                let word = rng.below(masks.len() as u64) as usize;
                to[word] = rng.next_word() & masks[word];
            }
            let (mut tight, mut expected) = (vec![0; packing.words()], vec![0; packing.words()]);
            packing.pack(&to, &mut expected);
            // A word that is said to have changed may have kept its value.
            for changed in [crate::changed_words(&from, &to), Word::MAX >> (64 - masks.len().min(64))] {
                packing.pack(&from, &mut tight);
                packing.repack(&to, changed, &mut tight);
                assert_eq!(tight, expected);
                packing.pack(&from, &mut tight);
                packing.repack_by(&to, changed, &mut tight, extract);
                assert_eq!(tight, expected);
            }
        }
    }

    fn random_mask(rng: &mut Rng) -> Word {
        match rng.below(4) {
            0 => 0,
            1 => Word::MAX,
            2 => rng.next_word() & rng.next_word(),
            _ => rng.next_word() | rng.next_word(),
        }
    }
}
