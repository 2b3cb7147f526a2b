//! States of a fixed number of bits.

use crate::bits::{Packer, Unpacker};
use crate::shape::Shape;

/// A type whose values all take the same number of bits and can be restored from them.
///
/// `#[derive(Packed)]` implements it for structs, tuples and enums of such values. An integer takes as many bits as
/// its type has, unless its field gives a range: `#[packed(range = 0..=5)]` or `#[packed(bits = 3)]`. A value outside
/// its range is a fault of the model, reported with a witness.
///
/// ```
/// use wayfarer_model::Packed;
///
/// #[derive(Packed)]
/// # #[packed(crate = wayfarer_model)]
/// enum Light { Red, Yellow, Green }
///
/// #[derive(Packed)]
/// # #[packed(crate = wayfarer_model)]
/// struct Crossing {
///     lights: [Light; 4],
///     #[packed(range = 0..=9)]
///     waiting: u32,
///     walker: Option<bool>,
/// }
///
/// assert_eq!(Crossing::BITS, 4 * 2 + 4 + 2);
/// ```
pub trait Packed: Sized {
    /// The number of bits of a value.
    const BITS: u32;

    /// Writes [`BITS`](Packed::BITS) bits, different ones for different values.
    fn pack(&self, out: &mut Packer);

    /// Reads the value that wrote these bits.
    fn unpack(from: &mut Unpacker) -> Self;

    /// The bits as one word, if there are at most 64. This is the fast path: it has no branches if the parts take it,
    /// too.
    #[inline(always)]
    fn word(&self) -> u64 {
        let mut out = [0];
        let mut packer = Packer::new(&mut out);
        self.pack(&mut packer);
        packer.finish();
        out[0]
    }

    /// The value whose bits are those of a word, if there are at most 64.
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Self::unpack(&mut Unpacker::new(&[word]))
    }

    /// The value in a form to be shown.
    fn shape(&self) -> Shape;
}

/// The functions with which derived code combines words.
pub mod whole {
    /// A word shifted left; 0 if all its bits are shifted out.
    #[inline(always)]
    pub const fn up(word: u64, bits: u32) -> u64 {
        if bits < 64 { word << bits } else { 0 }
    }

    /// The `bits` bits of a word from bit `from` on.
    #[inline(always)]
    pub const fn cut(word: u64, from: u32, bits: u32) -> u64 {
        let word = if from < 64 { word >> from } else { 0 };
        if bits < 64 { word & ((1 << bits) - 1) } else { word }
    }

    /// The most bits a value may have to be unpacked together with seven others, in three steps instead of eight.
    pub const SMALL: u32 = 4;

    /// Unpacks the eight values of `bits` bits each in the low bits of a word into eight bytes.
    #[inline(always)]
    pub const fn spread(word: u64, bits: u32) -> [u8; 8] {
        let mut word = word & cut(u64::MAX, 0, 8 * bits);
        word = (word | word << (32 - 4 * bits)) & (cut(u64::MAX, 0, 4 * bits) * 0x0000_0001_0000_0001);
        word = (word | word << (16 - 2 * bits)) & (cut(u64::MAX, 0, 2 * bits) * 0x0001_0001_0001_0001);
        word = (word | word << (8 - bits)) & (cut(u64::MAX, 0, bits) * 0x0101_0101_0101_0101);
        word.to_le_bytes()
    }
}

impl Packed for bool {
    const BITS: u32 = 1;

    #[inline(always)]
    fn pack(&self, out: &mut Packer) {
        out.put(u64::from(*self), 1);
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker) -> Self {
        from.take(1) == 1
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        u64::from(*self)
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        word & 1 == 1
    }

    fn shape(&self) -> Shape {
        Shape::Leaf(self.to_string())
    }
}

macro_rules! integers {
    ($($type:ty as $unsigned:ty: $bits:expr),*) => { $(
        impl Packed for $type {
            const BITS: u32 = $bits;

            #[inline(always)]
            fn pack(&self, out: &mut Packer) {
                out.put(*self as $unsigned as u64, $bits);
            }

            #[inline(always)]
            fn unpack(from: &mut Unpacker) -> Self {
                from.take($bits) as $type
            }

            #[inline(always)]
            fn word(&self) -> u64 {
                *self as $unsigned as u64
            }

            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $type
            }

            fn shape(&self) -> Shape {
                Shape::Leaf(self.to_string())
            }
        }
    )* };
}

integers!(u8 as u8: 8, u16 as u16: 16, u32 as u32: 32, u64 as u64: 64, usize as u64: 64);
integers!(i8 as u8: 8, i16 as u16: 16, i32 as u32: 32, i64 as u64: 64, isize as u64: 64);

impl Packed for char {
    const BITS: u32 = 21;

    fn pack(&self, out: &mut Packer) {
        out.put(u64::from(u32::from(*self)), 21);
    }

    fn unpack(from: &mut Unpacker) -> Self {
        char::from_u32(from.take(21) as u32).unwrap_or_default()
    }

    fn shape(&self) -> Shape {
        Shape::Leaf(format!("{self:?}"))
    }
}

impl<T: Packed> Packed for Option<T> {
    const BITS: u32 = 1 + T::BITS;

    #[inline]
    fn pack(&self, out: &mut Packer) {
        out.put(u64::from(self.is_some()), 1);
        match self {
            Some(value) => value.pack(out),
            None => out.skip(T::BITS),
        }
    }

    #[inline]
    fn unpack(from: &mut Unpacker) -> Self {
        if from.take(1) == 1 {
            Some(T::unpack(from))
        } else {
            from.skip(T::BITS);
            None
        }
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        self.as_ref().map_or(0, |value| 1 | whole::up(value.word(), 1))
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        (word & 1 == 1).then(|| T::from_word(word >> 1))
    }

    fn shape(&self) -> Shape {
        self.as_ref().map_or_else(|| Shape::Leaf("None".to_string()), T::shape)
    }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    const BITS: u32 = T::BITS * N as u32;

    #[inline(always)]
    fn pack(&self, out: &mut Packer) {
        if Self::BITS <= 64 {
            out.put(self.word(), Self::BITS);
        } else {
            self.iter().for_each(|element| element.pack(out));
        }
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker) -> Self {
        if Self::BITS <= 64 { Self::from_word(from.take(Self::BITS)) } else { std::array::from_fn(|_| T::unpack(from)) }
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        self.iter().enumerate().fold(0, |word, (index, element)| word | whole::up(element.word(), index as u32 * T::BITS))
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        if T::BITS > whole::SMALL || N > 8 {
            return std::array::from_fn(|index| T::from_word(whole::cut(word, index as u32 * T::BITS, T::BITS)));
        }
        let bytes = whole::spread(word, T::BITS);
        std::array::from_fn(|index| T::from_word(u64::from(bytes[index])))
    }

    fn shape(&self) -> Shape {
        Shape::List(self.iter().map(T::shape).collect())
    }
}

impl<T: Packed> Packed for Box<T> {
    const BITS: u32 = T::BITS;

    #[inline]
    fn pack(&self, out: &mut Packer) {
        (**self).pack(out);
    }

    #[inline]
    fn unpack(from: &mut Unpacker) -> Self {
        Box::new(T::unpack(from))
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        (**self).word()
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Box::new(T::from_word(word))
    }

    fn shape(&self) -> Shape {
        (**self).shape()
    }
}

impl Packed for () {
    const BITS: u32 = 0;

    fn pack(&self, _out: &mut Packer) {}

    fn unpack(_from: &mut Unpacker) -> Self {}

    fn shape(&self) -> Shape {
        Shape::Leaf("()".to_string())
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*)),*) => { $(
        impl<$($name: Packed),*> Packed for ($($name,)*) {
            const BITS: u32 = 0 $(+ $name::BITS)*;

            #[inline]
            fn pack(&self, out: &mut Packer) {
                $(self.$index.pack(out);)*
            }

            #[inline]
            fn unpack(from: &mut Unpacker) -> Self {
                ($($name::unpack(from),)*)
            }

            fn shape(&self) -> Shape {
                Shape::List(vec![$(self.$index.shape()),*])
            }
        }
    )* };
}

tuples!(
    (A 0),
    (A 0, B 1),
    (A 0, B 1, C 2),
    (A 0, B 1, C 2, D 3),
    (A 0, B 1, C 2, D 3, E 4),
    (A 0, B 1, C 2, D 3, E 4, F 5),
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6),
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
);

/// The functions that derived code calls for an integer whose field gives a range.
pub mod ranged {
    use crate::bits::{Packer, Unpacker};

    /// The number of bits for the values from `low` to `high`.
    pub const fn bits(low: i128, high: i128) -> u32 {
        assert!(low <= high, "a range that is empty");
        let bits = 128 - ((high - low) as u128).leading_zeros();
        assert!(bits <= 64, "a range of more than 64 bits");
        bits
    }

    /// Writes a value of the range.
    #[inline]
    #[track_caller]
    pub fn pack(value: i128, low: i128, high: i128, name: &str, out: &mut Packer) {
        if value < low || value > high {
            outside(value, low, high, name);
        }
        out.put((value - low) as u64, bits(low, high));
    }

    /// The word of a value of the range.
    #[inline(always)]
    #[track_caller]
    pub fn word(value: i128, low: i128, high: i128, name: &str) -> u64 {
        if value < low || value > high {
            outside(value, low, high, name);
        }
        (value - low) as u64
    }

    /// The value of a word.
    #[inline(always)]
    pub fn from_word(low: i128, word: u64) -> i128 {
        low + i128::from(word)
    }

    /// Reads a value of the range.
    #[inline]
    pub fn unpack(low: i128, high: i128, from: &mut Unpacker) -> i128 {
        low + i128::from(from.take(bits(low, high)))
    }

    #[cold]
    #[track_caller]
    fn outside(value: i128, low: i128, high: i128, name: &str) -> ! {
        panic!("`{name}` is {value}, outside of its range {low} to {high}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn small_values_move_together() {
        let mut rng = Rng::new(6, "packed");
        for round in 0..1_000u32 {
            let bits = round % (whole::SMALL + 1);
            let bytes: [u8; 8] = std::array::from_fn(|_| rng.below(1 << bits) as u8);
            let word = bytes.iter().enumerate().fold(0, |word, (index, byte)| word | u64::from(*byte) << (index as u32 * bits));
            assert_eq!(whole::spread(word, bits), bytes);
            assert_eq!(whole::spread(word | whole::up(rng.next_word(), 8 * bits), bits), bytes);
        }
    }

    #[test]
    fn arrays_of_all_lengths_come_back() {
        fn comes_back<const N: usize>(rng: &mut Rng) {
            let bits: [bool; N] = std::array::from_fn(|_| rng.below(2) == 1);
            assert_eq!(<[bool; N]>::from_word(bits.word()), bits);
            assert_eq!(bits.word(), bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit)));
        }
        let mut rng = Rng::new(7, "packed");
        for _ in 0..50 {
            comes_back::<0>(&mut rng);
            comes_back::<1>(&mut rng);
            comes_back::<7>(&mut rng);
            comes_back::<8>(&mut rng);
            comes_back::<9>(&mut rng);
            comes_back::<31>(&mut rng);
            comes_back::<63>(&mut rng);
            comes_back::<64>(&mut rng);
        }
    }
}
