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
    let words = (shift + (count - 1) * stride + bits).div_ceil(64) as usize;
    // Most calls end here: a command that writes to one of many multisets has a call for each. Words are read one by
    // one: the command has just written some, and two of them read as one would have to wait until both are in the cache.
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (end, end_before) = (address.add(words), before.add(words));
        let mut word = -(words as isize);
        while *end.offset(word) == *end_before.offset(word) {
            word += 1;
            if word == 0 {
                return;
            }
        }
        sort_changed(address, shift, stride, count, bits, before);
    }
}

/// The same, for elements that differ or have changed words around them. The parameters are those of the caller, which
/// so needs no stack.
#[inline(never)]
unsafe extern "C" fn sort_changed(address: *mut u64, shift: u64, stride: u64, count: u64, bits: u64, before: *const u64) {
    let words = (shift + (count - 1) * stride + bits).div_ceil(64) as usize;
    // SAFETY: guaranteed by the caller. From the start of a word, each element of these strides is in a cell of its own.
    unsafe {
        match stride {
            _ if shift != 0 || words == 1 || bits > stride || cfg!(target_endian = "big") => {}
            8 => return mend::<u8>(address, before, words, count as usize, bits),
            16 => return mend::<u16>(address, before, words, count as usize, bits),
            32 => return mend::<u32>(address, before, words, count as usize, bits),
            64 => return mend::<u64>(address, before, words, count as usize, bits),
            _ => {}
        }
        let (memory, before) = (std::slice::from_raw_parts_mut(address, words), std::slice::from_raw_parts(before, words));
        sort_differing(memory, before, shift, stride, count, bits);
    }
}

/// The memory of one element, if elements are as far apart as it is large.
trait Cell: Copy + Into<u64> {
    /// The low bits of a word.
    fn of(word: u64) -> Self;
}

macro_rules! cells {
    ($($cell:ty)*) => { $(impl Cell for $cell {
        #[inline]
        fn of(word: u64) -> Self {
            word as Self
        }
    })* };
}

cells! { u8 u16 u32 u64 }

/// Sorts the low `bits` of `count` cells, given those before, which are in order. A command usually puts an element into
/// one cell, takes one from another, or does both. The cells of a word start at its low end.
///
/// # Safety
/// The caller may read and write so many `words` at `address` and read as many at `before`. The cells lie in them.
#[inline(never)]
unsafe fn mend<C: Cell>(address: *mut u64, before: *const u64, words: usize, count: usize, bits: u64) {
    let size = 8 * size_of::<C>();
    let ones = u64::MAX >> (64 - bits);
    let elements = u64::MAX / (u64::MAX >> (64 - size)) * ones;
    let (cells, old) = (address.cast::<C>(), before.cast::<C>());
    // SAFETY: each word that these are given is below `words`, and each cell below `count`.
    let differing = |word: usize| unsafe { (*address.add(word) ^ *before.add(word)) & elements };
    let load = |index: usize| unsafe { (*cells.add(index)).into() & ones };
    let store = |index: usize, value: u64| unsafe { *cells.add(index) = C::of((*cells.add(index)).into() & !ones | value) };
    let load_old = |index: usize| unsafe { (*old.add(index)).into() & ones };

    let (mut word, mut found) = (0, differing(0));
    while found == 0 {
        word += 1;
        if word == words {
            return;
        }
        found = differing(word);
    }
    let first = (word * 64 + found.trailing_zeros() as usize) / size;
    if first >= count {
        return;
    }
    let mut value = load(first);
    found &= !(ones << (first * size % 64));
    let mut end = words - 1;
    while end > word && differing(end) == 0 {
        end -= 1;
    }
    if end > word || found != 0 {
        // One element taken and another put is one replaced: the two change places, and one cell is as it was.
        while found == 0 {
            word += 1;
            found = differing(word);
        }
        let second = (word * 64 + found.trailing_zeros() as usize) / size;
        found &= !(ones << (second * size % 64));
        if end > word || found != 0 || second >= count || load_old(second) != value {
            // SAFETY: guaranteed by the caller.
            let memory = unsafe { std::slice::from_raw_parts_mut(address, words) };
            return sort_from(memory, first, 0, size as u64, count as u64, bits);
        }
        value = load(second);
        store(second, load_old(second));
    }
    // All others are in order, so it is clear where this one belongs. The way there is short: empty cells come last.
    let mut to = first;
    while to > 0 && load(to - 1) < value {
        store(to, load(to - 1));
        to -= 1;
    }
    if to == first {
        while to + 1 < count && load(to + 1) > value {
            store(to, load(to + 1));
            to += 1;
        }
    }
    store(to, value);
}

/// Sorts elements that differ from those before, which are in order.
fn sort_differing(memory: &mut [u64], before: &[u64], shift: u64, stride: u64, count: u64, bits: u64) {
    // Bits before the first element do not count.
    let (mut word, mut differs) = (0, (memory[0] ^ before[0]) & u64::MAX << (shift % 64));
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

    /// Whichever one or two of some elements in order a command changes, they are in order afterwards, and the gaps
    /// between them stay.
    #[test]
    fn one_or_two_changed_elements_go_where_they_belong() {
        const GAPS: u64 = 0xA5A5_A5A5_A5A5_A5A5;
        let sizes = [
            (8usize, 8u64, 9usize),
            (8, 5, 10),
            (16, 16, 8),
            (16, 14, 5),
            (32, 32, 4),
            (32, 20, 5),
            (64, 64, 3),
            (64, 40, 4),
            (4, 4, 16),
            (4, 3, 20),
        ];
        for (stride, bits, count) in sizes {
            let ones = u64::MAX >> (64 - bits);
            let values = [0, 1, ones - 1, ones];
            let fill = |elements: &[u64]| {
                let mut words = vec![GAPS; (count * stride).div_ceil(64)];
                elements.iter().enumerate().for_each(|(index, value)| store(&mut words, index * stride, bits, *value));
                words
            };
            // Every way to have `taken` elements, and among them some of each value.
            for taken in 0..=count.min(5) {
                for kinds in 0..3usize.pow(taken as u32) {
                    let mut before: Vec<u64> =
                        (0..count).map(|index| if index < taken { values[1 + kinds / 3usize.pow(index as u32) % 3] } else { 0 }).collect();
                    before.sort_by(|left, right| right.cmp(left));
                    let places = (taken + 2).min(count);
                    for (one, other) in (0..places).flat_map(|one| (one..places).map(move |other| (one, other))) {
                        for (new, newer) in values.iter().flat_map(|new| values.iter().map(move |newer| (*new, *newer))) {
                            let mut after = before.clone();
                            (after[one], after[other]) = (new, newer);
                            let (mut words, old) = (fill(&after), fill(&before));
                            // SAFETY: the elements lie in these memories.
                            unsafe { sort_again(words.as_mut_ptr(), 0, stride as u64, count as u64, bits, old.as_ptr()) };
                            after.sort_by(|left, right| right.cmp(left));
                            assert_eq!(
                                words,
                                fill(&after),
                                "{count} elements of {bits} bits, {stride} apart: {before:?}, then {new} at {one} and {newer} at {other}"
                            );
                        }
                    }
                }
            }
        }
    }
}
