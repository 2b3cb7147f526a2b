//! Lays values into words.
//!
//! The working layout trades a little space for speed: an object of at most 64 bits lies inside one word, a larger
//! one starts at a word and takes whole words, and array strides divide the word or are whole words. So a field is
//! one shift and one mask away, whatever index leads to it. The gaps cost nothing in a store, which keeps states in
//! their tight form.

use crate::code::TypeId;
use crate::types::{Field, Names, Scalar, Type};

/// The largest object, in bits. A state this large is 512 KiB; a model that needs more has an array that was meant to be smaller.
pub const MAX_BITS: u32 = 1 << 22;

/// A scalar type of `count` values from `low` on.
pub fn scalar(name: Option<String>, low: i64, count: u64, undefinable: bool, names: Names) -> Scalar {
    let largest = count.saturating_sub(1).saturating_add(u64::from(undefinable));
    let bits = (64 - largest.leading_zeros()).max(1) as u8;
    Scalar { name, bits, low, count, undefinable, names, elements: Vec::new() }
}

/// A record of the given fields in this order; `None` if it is larger than [`MAX_BITS`].
pub fn record(types: &[Type], fields: Vec<(String, TypeId)>) -> Option<Type> {
    let sizes: Vec<u32> = fields.iter().map(|(_, ty)| types[ty.0 as usize].bits()).collect();
    let (offsets, bits) = arrange(&sizes)?;
    let fields = fields.into_iter().zip(offsets).map(|((name, ty), offset)| Field { name, ty, offset }).collect();
    Some(Type::Record { fields, bits: bits.max(1) })
}

/// An array of `element`, one for each value of the scalar type `index`; `None` if it is larger than [`MAX_BITS`].
pub fn array(types: &[Type], index: TypeId, element: TypeId) -> Option<Type> {
    let count = u32::try_from(types[index.0 as usize].scalar()?.count).ok()?;
    let stride = stride_of(types[element.0 as usize].bits());
    let bits = total(stride, count)?;
    Some(Type::Array { index, element, stride, count, bits })
}

/// An unordered collection of at most `capacity` elements; `None` if it is larger than [`MAX_BITS`].
pub fn bag(types: &[Type], element: TypeId, capacity: u32) -> Option<Type> {
    let inner = types[element.0 as usize].bits();
    let (element_at, slot_bits) = if inner < 64 { (1, inner + 1) } else { (64, 64 + inner.next_multiple_of(64)) };
    let stride = stride_of(slot_bits);
    let bits = total(stride, capacity)?.max(1);
    Some(Type::Bag { element, stride, capacity, element_at, slot_bits, bits })
}

/// Offsets for objects of the given sizes, and their total bits. If they fit one word, they follow each other;
/// otherwise large ones take whole words and small ones fill words first-fit, the largest first. `None` if the total
/// is more than [`MAX_BITS`].
pub fn arrange(sizes: &[u32]) -> Option<(Vec<u32>, u32)> {
    let sum = sizes.iter().map(|size| u64::from(*size)).sum::<u64>();
    if sum > u64::from(MAX_BITS) {
        return None;
    }
    let mut offsets = vec![0; sizes.len()];
    if sum <= 64 {
        let mut at = 0;
        for (offset, size) in offsets.iter_mut().zip(sizes) {
            *offset = at;
            at += size;
        }
        return Some((offsets, at));
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(sizes[*index]));
    let mut next_word = 0u32;
    let mut open: Vec<(u32, u32)> = Vec::new(); // words with room left: (word, bits used)
    for index in order {
        let size = sizes[index];
        if size > 64 {
            offsets[index] = next_word * 64;
            next_word += size / 64;
            continue;
        }
        match open.iter_mut().find(|(_, used)| used.saturating_add(size) <= 64) {
            Some((word, used)) => {
                offsets[index] = *word * 64 + *used;
                *used += size;
            }
            None => {
                offsets[index] = next_word * 64;
                open.push((next_word, size));
                next_word += 1;
            }
        }
        // Full words need not be considered again; the list stays short because sizes fall.
        open.retain(|(_, used)| *used < 64);
    }
    let bits = next_word.checked_mul(64)?;
    (bits <= MAX_BITS).then_some((offsets, bits))
}

fn stride_of(bits: u32) -> u32 {
    if bits <= 64 { bits.next_power_of_two() } else { bits }
}

fn total(stride: u32, count: u32) -> Option<u32> {
    let bits = u64::from(stride) * u64::from(count);
    if bits > u64::from(MAX_BITS) {
        return None;
    }
    let bits = bits as u32;
    Some(if bits <= 64 { bits } else { bits.next_multiple_of(64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bits: u8) -> Type {
        Type::Scalar(scalar(None, 0, 1u64 << bits, false, Names::Numbers))
    }

    #[test]
    fn scalars_take_as_many_bits_as_their_stored_forms_need() {
        for (count, undefinable, bits) in
            [(1, false, 1), (1, true, 1), (2, false, 1), (2, true, 2), (3, true, 2), (4, true, 3), (u64::MAX, false, 64)]
        {
            assert_eq!(scalar(None, 0, count, undefinable, Names::Numbers).bits, bits, "{count} {undefinable}");
        }
    }

    #[test]
    fn small_records_are_packed_in_order() {
        let types = [number(2), number(3)];
        let Some(Type::Record { fields, bits }) = record(&types, vec![("a".into(), TypeId(0)), ("b".into(), TypeId(1))]) else { panic!() };
        assert_eq!((fields[0].offset, fields[1].offset, bits), (0, 2, 5));
    }

    #[test]
    fn no_small_object_straddles_a_word() {
        let (offsets, bits) = arrange(&[40, 30, 20, 128, 64, 3]).unwrap();
        for (offset, size) in offsets.iter().zip([40u32, 30, 20, 128, 64, 3]) {
            assert!(if size > 64 { offset % 64 == 0 } else { offset % 64 + size <= 64 }, "{offset} {size}");
        }
        assert_eq!(bits, 5 * 64);
    }

    #[test]
    fn array_strides_divide_the_word() {
        let types = [number(5), number(2)];
        let Some(Type::Array { stride, count, bits, .. }) = array(&types, TypeId(1), TypeId(0)) else { panic!() };
        assert_eq!((stride, count, bits), (8, 4, 32));
    }

    #[test]
    fn objects_past_the_limit_are_refused() {
        let types = [number(32), number(5)];
        assert!(array(&types, TypeId(0), TypeId(1)).is_none());
        assert!(bag(&types, TypeId(1), u32::MAX).is_none());
    }
}
