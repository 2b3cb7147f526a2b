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
    // Insertion sort: after a command, the elements are sorted except for one or two.
    if bits > 64 {
        sort_runs(memory, (shift / 64) as usize, (stride / 64) as usize, count as usize, (bits / 64) as usize);
        return;
    }
    let mask = u64::MAX >> (64 - bits);
    let mut before = memory[(shift / 64) as usize] >> (shift % 64) & mask;
    for end in 1..count {
        let at = (shift + end * stride) as usize;
        let here = memory[at / 64] >> (at % 64) & mask;
        if here > before {
            let mut to = at;
            while to > shift as usize && load(memory, to - stride as usize, bits) < here {
                let smaller = load(memory, to - stride as usize, bits);
                store(memory, to, bits, smaller);
                to -= stride as usize;
            }
            store(memory, to, bits, here);
        } else {
            before = here;
        }
    }
}

/// The result of an operator on real numbers that has no instruction of its own: the n-th of [`RealOp::ALL`].
pub(crate) extern "C" fn real(op: u64, left: u64, right: u64) -> u64 {
    RealOp::ALL.get(op as usize).map_or(0, |(op, _)| op.apply(left as i64, right as i64) as u64)
}

/// The same for elements of `words` words.
fn sort_runs(memory: &mut [u64], first: usize, stride: usize, count: usize, words: usize) {
    for end in 1..count {
        let mut right = first + end * stride;
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
