//! The functions that compiled code calls.

#![allow(unsafe_code)]

use wayfarer_ir::RealOp;

/// Sorts `count` elements, `stride` bits apart, in descending order of their `bits`, starting `shift` bits after the
/// start of the word at `address`. Elements of at most 64 bits lie inside one word, larger ones take whole words.
///
/// # Safety
/// The elements must be memory that the caller may read and write.
pub(crate) unsafe extern "C" fn sort(address: *mut u64, shift: u64, stride: u64, count: u64, bits: u64) {
    let words = (shift + (count - 1) * stride + bits).div_ceil(64);
    // SAFETY: guaranteed by the caller.
    let memory = unsafe { std::slice::from_raw_parts_mut(address, words as usize) };
    sort_from(memory, 0, shift, stride, count, bits);
}

/// The same, if the elements at `before` are in order: only if any of those at `address` differs from them.
///
/// # Safety
/// The elements must be memory that the caller may read and write, and those at `before` memory that it may read.
pub(crate) unsafe extern "C" fn sort_again(address: *mut u64, shift: u64, stride: u64, count: u64, bits: u64, before: *const u64) {
    let end = shift + (count - 1) * stride + bits;
    let words = end.div_ceil(64) as usize;
    // SAFETY: guaranteed by the caller.
    let (memory, before) = unsafe { (std::slice::from_raw_parts_mut(address, words), std::slice::from_raw_parts(before, words)) };
    // Most calls end here: a command that writes to one of many multisets has a call for each.
    if let Some(word) = memory.iter().zip(before).position(|(new, old)| new != old) {
        sort_from_word(word, memory, before, shift, stride, count, bits);
    }
}

/// Sorts elements, the first words of which are as they were when all were in order.
#[cold]
#[inline(never)]
fn sort_from_word(mut word: usize, memory: &mut [u64], before: &[u64], shift: u64, stride: u64, count: u64, bits: u64) {
    let mut differs = memory[word] ^ before[word];
    if word == 0 {
        // Bits before the first element.
        differs &= u64::MAX << (shift % 64);
    }
    while differs == 0 {
        word += 1;
        if word == memory.len() {
            return;
        }
        differs = memory[word] ^ before[word];
    }
    let bit = word as u64 * 64 + u64::from(differs.trailing_zeros());
    if bit < shift + (count - 1) * stride + bits {
        sort_from(memory, ((bit - shift) / stride) as usize, shift, stride, count, bits);
    }
}

/// Sorts elements; those before the one at `from` are in order.
fn sort_from(memory: &mut [u64], from: usize, shift: u64, stride: u64, count: u64, bits: u64) {
    // Insertion sort: after a command, the elements are sorted except for one or two.
    if bits > 64 {
        sort_runs(memory, (shift / 64) as usize, (stride / 64) as usize, count as usize, (bits / 64) as usize);
        return;
    }
    let Some(first) = first_unsorted(memory, from, shift as usize, stride as usize, count as usize, bits) else { return };
    let (shift, stride, count) = (shift as usize, stride as usize, count as usize);
    for end in first..count {
        let at = shift + end * stride;
        let here = load(memory, at, bits);
        if here == 0 && is_zero(&memory[at / 64..], at % 64) {
            return;
        }
        let mut to = at;
        while to > shift {
            let before = load(memory, to - stride, bits);
            if before >= here {
                break;
            }
            store(memory, to, bits, before);
            to -= stride;
        }
        if to != at {
            store(memory, to, bits, here);
        }
    }
}

/// The first element that is greater than the one before it; those before the one at `from` are in order. Empty slots
/// are zero and come last: behind the first of them only whether anything is left needs to be known.
fn first_unsorted(memory: &[u64], from: usize, shift: usize, stride: usize, count: usize, bits: u64) -> Option<usize> {
    let mut before = if from == 0 { u64::MAX } else { load(memory, shift + (from - 1) * stride, bits) };
    for index in from..count {
        let here = load(memory, shift + index * stride, bits);
        if here > before {
            return Some(index);
        }
        if here == 0 {
            let from = shift + (index + 1) * stride;
            if index + 1 == count || is_zero(&memory[from / 64..], from % 64) {
                return None;
            }
            return (index + 1..count).find(|index| load(memory, shift + index * stride, bits) != 0);
        }
        before = here;
    }
    None
}

/// Whether all bits from `shift` on are zero.
fn is_zero(memory: &[u64], shift: usize) -> bool {
    memory.split_first().is_none_or(|(first, rest)| first >> shift | rest.iter().fold(0, |all, word| all | word) == 0)
}

/// The result of an operator on real numbers that has no instruction of its own: the n-th of [`RealOp::ALL`].
pub(crate) extern "C" fn real(op: u64, left: u64, right: u64) -> u64 {
    RealOp::ALL.get(op as usize).map_or(0, |(op, _)| op.apply(left as i64, right as i64) as u64)
}

/// The same for elements of `words` words.
fn sort_runs(memory: &mut [u64], first: usize, stride: usize, count: usize, words: usize) {
    for end in 1..count {
        let mut right = first + end * stride;
        // Empty slots stay where they are.
        if is_zero(&memory[right..right + words], 0) {
            if is_zero(&memory[right..], 0) {
                return;
            }
            continue;
        }
        while right > first && is_less(memory, right - stride, right, words) {
            for word in 0..words {
                memory.swap(right - stride + word, right + word);
            }
            right -= stride;
        }
    }
}

/// Whether the number at one place is less than that at another; the last word counts most.
fn is_less(memory: &[u64], left: usize, right: usize, words: usize) -> bool {
    let (left, right) = (&memory[left..left + words], &memory[right..right + words]);
    let mut word = words;
    while word > 0 {
        word -= 1;
        if left[word] != right[word] {
            return left[word] < right[word];
        }
    }
    false
}

fn load(memory: &[u64], at: usize, bits: u64) -> u64 {
    memory[at / 64] >> (at % 64) & (u64::MAX >> (64 - bits))
}

fn store(memory: &mut [u64], at: usize, bits: u64, value: u64) {
    let mask = (u64::MAX >> (64 - bits)) << (at % 64);
    memory[at / 64] = memory[at / 64] & !mask | value << (at % 64) & mask;
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    /// Elements of every size at every place are sorted, and what lies around and between them stays.
    #[test]
    fn elements_are_sorted_and_their_neighbours_stay() {
        let mut rng = Rng::new(1, "sort");
        for (stride, bits) in [(1, 1), (2, 2), (4, 3), (8, 8), (16, 11), (32, 32), (32, 5), (64, 64), (64, 40), (128, 128), (192, 128)] {
            for round in 0..200 {
                let count = 2 + rng.below(20);
                let shift = rng.below(64 / stride.min(64)) * stride.min(64) * u64::from(stride <= 64);
                let words = ((shift + count * stride).div_ceil(64) + 1) as usize;
                // Every other round most elements are zero, as in bags.
                let mut memory: Vec<u64> = (0..words).map(|_| if round % 2 == 0 || rng.below(4) == 0 { rng.below(u64::MAX) } else { 0 }).collect();
                let element = |memory: &[u64], index: u64| -> Vec<u64> {
                    let at = (shift + index * stride) as usize;
                    match bits {
                        ..=64 => vec![load(memory, at, bits)],
                        _ => memory[at / 64..at / 64 + bits as usize / 64].iter().rev().copied().collect(),
                    }
                };
                let mut expected: Vec<Vec<u64>> = (0..count).map(|index| element(&memory, index)).collect();
                expected.sort_by(|left, right| right.cmp(left));
                let mut around = memory.clone();
                // SAFETY: the elements lie in this memory.
                unsafe { sort(memory.as_mut_ptr(), shift, stride, count, bits) };
                let found: Vec<Vec<u64>> = (0..count).map(|index| element(&memory, index)).collect();
                assert_eq!(found, expected, "{count} elements of {bits} bits, {stride} apart, from {shift}");
                // Sorted again after changes, at the places of elements and elsewhere.
                let mut again = memory.clone();
                for _ in 0..rng.below(3) {
                    let word = rng.below(words as u64) as usize;
                    again[word] = if rng.below(3) == 0 { 0 } else { again[word] ^ rng.below(u64::MAX) & rng.below(u64::MAX) };
                }
                let mut fully = again.clone();
                // SAFETY: the elements lie in these memories.
                unsafe {
                    sort(fully.as_mut_ptr(), shift, stride, count, bits);
                    sort_again(again.as_mut_ptr(), shift, stride, count, bits, memory.as_ptr());
                }
                assert_eq!(again, fully, "{count} elements of {bits} bits, {stride} apart, from {shift}, sorted again");
                for words in [&mut around, &mut memory] {
                    for index in 0..count {
                        let at = (shift + index * stride) as usize;
                        match bits {
                            ..=64 => store(words, at, bits, 0),
                            _ => words[at / 64..at / 64 + bits as usize / 64].fill(0),
                        }
                    }
                }
                assert_eq!(memory, around, "what is no element changed: {bits} bits, {stride} apart, from {shift}");
            }
        }
    }
}
