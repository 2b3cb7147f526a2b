//! A look at two lines of a filter with instructions that take a line at a time.
#![allow(unsafe_code)] // Lines are read whole, and by instructions that were found at run time.

use super::{Lacking, Line};
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

/// Whether this machine has the instructions.
#[inline]
pub(super) fn works() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vpopcntdq")
}

/// Looks for a state in its two lines; none if it is known. The machine must have the instructions.
#[inline]
pub(super) fn look(home: &Line, other: &Line, source: u64) -> Option<Lacking> {
    // SAFETY: callers have asked whether it works. A line is 64 readable bytes.
    unsafe { look_at(home.as_ptr().cast(), other.as_ptr().cast(), source) }
}

/// # Safety
///
/// There must be 64 readable bytes at `home` and `other`, and the machine must have the instructions.
#[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
unsafe fn look_at(home: *const u8, other: *const u8, source: u64) -> Option<Lacking> {
    // SAFETY: the caller vouches for the lines. They are aligned, so each of their words is read whole, as a relaxed load on this machine does.
    let (home, other) = unsafe { (_mm512_loadu_si512(home.cast()), _mm512_loadu_si512(other.cast())) };
    let places = _mm512_srlv_epi64(_mm512_set1_epi64(source as i64), _mm512_set_epi64(16, 22, 28, 34, 40, 46, 52, 58));
    let bits = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(places, _mm512_set1_epi64(63)));
    let (lacks, elsewhere) = (_mm512_testn_epi64_mask(home, bits), _mm512_testn_epi64_mask(other, bits));
    if lacks == 0 || elsewhere == 0 {
        return None;
    }
    let (at_home, counts) = (_mm512_popcnt_epi64(home), _mm512_popcnt_epi64(other));
    let nearer = _mm512_reduce_add_epi64(_mm512_sub_epi64(at_home, counts)) <= 0;
    let (counts, words) = if nearer { (at_home, lacks) } else { (counts, elsewhere) };
    let one = _mm512_set1_epi64(1);
    let share = |counts| _mm512_mul_pd(_mm512_cvtepi64_pd(counts), _mm512_set1_pd(1.0 / 64.0));
    let after = _mm512_mask_add_epi64(counts, words, counts, one);
    Some(Lacking { at_home: nearer, words, odds: _mm512_reduce_mul_pd(share(after)) - _mm512_reduce_mul_pd(share(counts)) })
}
