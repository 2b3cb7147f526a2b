//! The functions that compiled code calls.

#![allow(unsafe_code)]

use std::cmp::Ordering;

/// Sorts `count` elements, `stride` bits apart, in descending order of their `bits`, starting `shift` bits after the
/// start of the word at `address`. Elements of at most 64 bits lie inside one word, larger ones take whole words.
///
/// # Safety
/// The elements must be memory that the caller may read and write.
pub(crate) unsafe extern "C" fn sort(address: *mut u64, shift: u64, stride: u64, count: u64, bits: u64) {
    let words = (shift + (count - 1) * stride + bits).div_ceil(64);
    // SAFETY: guaranteed by the caller.
    let memory = unsafe { std::slice::from_raw_parts_mut(address, words as usize) };
    let element = |index: u64| (shift + index * stride) as usize;
    // Insertion sort: after a command, the elements are sorted except for one or two.
    for end in 1..count {
        let mut index = end;
        while index > 0 && compare(memory, element(index - 1), element(index), bits) == Ordering::Less {
            swap(memory, element(index - 1), element(index), bits);
            index -= 1;
        }
    }
}

fn compare(memory: &[u64], left: usize, right: usize, bits: u64) -> Ordering {
    if bits <= 64 {
        return load(memory, left, bits).cmp(&load(memory, right, bits));
    }
    let run = |start: usize| memory[start / 64..start / 64 + bits as usize / 64].iter().rev();
    run(left).cmp(run(right))
}

fn swap(memory: &mut [u64], left: usize, right: usize, bits: u64) {
    if bits > 64 {
        for word in 0..bits as usize / 64 {
            memory.swap(left / 64 + word, right / 64 + word);
        }
        return;
    }
    let (first, second) = (load(memory, left, bits), load(memory, right, bits));
    store(memory, left, bits, second);
    store(memory, right, bits, first);
}

fn load(memory: &[u64], at: usize, bits: u64) -> u64 {
    memory[at / 64] >> (at % 64) & (u64::MAX >> (64 - bits))
}

fn store(memory: &mut [u64], at: usize, bits: u64, value: u64) {
    let mask = (u64::MAX >> (64 - bits)) << (at % 64);
    memory[at / 64] = memory[at / 64] & !mask | value << (at % 64) & mask;
}
