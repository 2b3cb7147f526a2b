//! From values to bits, the highest of a word first.
//!
//! The bits that do not fill a word yet travel with the writer, below a leading one, and are returned as the result:
//! one word, which stays in a register from call to call. A value of many small parts would otherwise spend its time
//! waiting for memory. The last word keeps its leading one, which tells a reader where the bits begin, and leaves
//! zeros above it, which stores do not keep.

use super::{GROUP, PAYLOAD, Trouble};
use serde::Serialize;
use serde::ser::{self, Serializer};
use std::num::NonZeroU64;
use wayfarer_space::Word;

/// Bits of a word that is not full, below a leading one.
type Tail = Word;

const NOTHING: Tail = 1;

/// Appends the words of a value; a value without any bits has none.
#[inline]
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<Word>) -> Result<(), Trouble> {
    let before = out.len();
    let mut writer = Writer { out, tail: NOTHING };
    writer.part(value)?;
    let Writer { out, tail } = writer;
    if tail != NOTHING || out.len() > before {
        out.push(tail);
    }
    Ok(())
}

struct Writer<'a> {
    out: &'a mut Vec<Word>,
    tail: Tail,
}

/// The result of writing: the bits of a word that is not full, and some that are still to be appended to them. The
/// variants of an enum without fields then differ only in a number, for which the compiler copies the variant's own
/// number instead of emitting an unpredictable jump.
struct Written {
    tail: Tail,
    /// Below a leading one, too.
    coming: NonZeroU64,
}

/// Appends bits that fill a word. It is kept out of line so that everything else is short enough to be inlined.
#[inline(never)]
fn spill(out: &mut Vec<Word>, tail: Tail, value: Word, bits: u32) -> Tail {
    let held = 63 - tail.leading_zeros();
    let rest = bits + held - 64;
    let upper = (tail ^ 1 << held).checked_shl(64 - held).unwrap_or(0);
    out.push(upper | value >> rest);
    1 << rest | value & ((1 << rest) - 1)
}

impl Writer<'_> {
    /// Appends the low `bits` bits of `value`; the other bits must be zero.
    #[inline(always)]
    fn put(self, value: Word, bits: u32) -> Self {
        let Writer { out, tail } = self;
        let tail = if tail < 1 << (64 - bits) { tail << bits | value } else { spill(out, tail, value, bits) };
        Writer { out, tail }
    }

    #[inline(always)]
    fn number(self, value: u64) -> Self {
        if value < 1 << PAYLOAD { self.put(value, GROUP) } else { self.groups(value) }
    }

    #[inline(never)]
    fn groups(mut self, mut value: u64) -> Self {
        while value >= 1 << PAYLOAD {
            self = self.put(value & ((1 << PAYLOAD) - 1) | 1 << PAYLOAD, GROUP);
            value >>= PAYLOAD;
        }
        self.put(value, GROUP)
    }

    /// Numbers near zero are short, whatever their sign.
    #[inline]
    fn signed(self, value: i64) -> Self {
        self.number((value << 1 ^ value >> 63) as u64)
    }

    #[inline(always)]
    fn length(self, length: Option<usize>) -> Result<Self, Trouble> {
        let length = length.ok_or_else(|| Trouble::new("a sequence or map does not say how long it is before it is written"))?;
        Ok(self.number(length as u64))
    }

    #[inline(always)]
    fn done(self) -> Result<Written, Trouble> {
        Ok(Written { tail: self.tail, coming: NonZeroU64::MIN })
    }

    /// Appends a part.
    #[inline(always)]
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        let Written { tail, coming } = value.serialize(Writer { out: self.out, tail: self.tail })?;
        self.tail = tail;
        if coming != NonZeroU64::MIN {
            let bits = 63 - coming.leading_zeros();
            self.tail = Writer { out: self.out, tail }.put(coming.get() ^ 1 << bits, bits).tail;
        }
        Ok(())
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = Written;
    type Error = Trouble;
    type SerializeSeq = Writer<'a>;
    type SerializeTuple = Writer<'a>;
    type SerializeTupleStruct = Writer<'a>;
    type SerializeTupleVariant = Writer<'a>;
    type SerializeMap = Writer<'a>;
    type SerializeStruct = Writer<'a>;
    type SerializeStructVariant = Writer<'a>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<Written, Trouble> {
        self.put(u64::from(value), 1).done()
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<Written, Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<Written, Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<Written, Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<Written, Trouble> {
        self.signed(value).done()
    }

    fn serialize_i128(self, value: i128) -> Result<Written, Trouble> {
        self.serialize_u128(value as u128)
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<Written, Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<Written, Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<Written, Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u64(self, value: u64) -> Result<Written, Trouble> {
        self.number(value).done()
    }

    fn serialize_u128(self, value: u128) -> Result<Written, Trouble> {
        self.number(value as u64).number((value >> 64) as u64).done()
    }

    fn serialize_f32(self, value: f32) -> Result<Written, Trouble> {
        self.put(u64::from(value.to_bits()), 32).done()
    }

    fn serialize_f64(self, value: f64) -> Result<Written, Trouble> {
        self.put(value.to_bits(), 64).done()
    }

    fn serialize_char(self, value: char) -> Result<Written, Trouble> {
        self.serialize_u32(u32::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<Written, Trouble> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Written, Trouble> {
        let writer = self.number(value.len() as u64);
        value.iter().fold(writer, |writer, byte| writer.put(u64::from(*byte), 8)).done()
    }

    #[inline]
    fn serialize_none(self) -> Result<Written, Trouble> {
        self.serialize_bool(false)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Trouble> {
        value.serialize(self.put(1, 1))
    }

    #[inline]
    fn serialize_unit(self) -> Result<Written, Trouble> {
        self.done()
    }

    #[inline]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<Written, Trouble> {
        self.done()
    }

    #[inline(always)]
    fn serialize_unit_variant(self, _name: &'static str, index: u32, _variant: &'static str) -> Result<Written, Trouble> {
        match NonZeroU64::new(1 << GROUP | u64::from(index)) {
            Some(coming) if index < 1 << PAYLOAD => Ok(Written { tail: self.tail, coming }),
            _ => self.number(u64::from(index)).done(),
        }
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<Written, Trouble> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<Written, Trouble> {
        value.serialize(self.number(u64::from(index)))
    }

    #[inline]
    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Trouble> {
        self.length(length)
    }

    #[inline]
    fn serialize_tuple(self, _length: usize) -> Result<Self, Trouble> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Self, Trouble> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(self, _name: &'static str, index: u32, _variant: &'static str, _length: usize) -> Result<Self, Trouble> {
        Ok(self.number(u64::from(index)))
    }

    #[inline]
    fn serialize_map(self, length: Option<usize>) -> Result<Self, Trouble> {
        self.length(length)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Self, Trouble> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(self, _name: &'static str, index: u32, _variant: &'static str, _length: usize) -> Result<Self, Trouble> {
        Ok(self.number(u64::from(index)))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Elements are written one after the other.
macro_rules! in_order {
    ($($part:ident $element:ident),*) => { $(
        impl ser::$part for Writer<'_> {
            type Ok = Written;
            type Error = Trouble;

            #[inline]
            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
                self.part(value)
            }

            #[inline]
            fn end(self) -> Result<Written, Trouble> {
                self.done()
            }
        }
    )* };
}

in_order!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

/// Fields likewise, without their names.
macro_rules! with_names {
    ($($part:ident),*) => { $(
        impl ser::$part for Writer<'_> {
            type Ok = Written;
            type Error = Trouble;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, _name: &'static str, value: &T) -> Result<(), Trouble> {
                self.part(value)
            }

            /// The next field would be read in its place.
            fn skip_field(&mut self, name: &'static str) -> Result<(), Trouble> {
                Err(Trouble::new(format!("its field `{name}` is left out now and then, by serde's skip_serializing_if: a state must be written whole")))
            }

            #[inline]
            fn end(self) -> Result<Written, Trouble> {
                self.done()
            }
        }
    )* };
}

with_names!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Writer<'_> {
    type Ok = Written;
    type Error = Trouble;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Trouble> {
        self.part(key)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        self.part(value)
    }

    #[inline]
    fn end(self) -> Result<Written, Trouble> {
        self.done()
    }
}
