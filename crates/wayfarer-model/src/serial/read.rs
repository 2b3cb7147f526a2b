//! From bits to values.

use super::{GROUP, PAYLOAD, Trouble};
use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use wayfarer_space::Word;

/// Reads a value.
#[inline]
pub(crate) fn decode<T: DeserializeOwned>(words: &[Word]) -> Result<T, Trouble> {
    let mut bits = Stream::new(words);
    let value = T::deserialize(Reader(&mut bits))?;
    if bits.is_past_end() { Err(Trouble::new("it reads more than was written")) } else { Ok(value) }
}

/// Bits one after another, as they were written.
struct Stream<'a> {
    /// The next bits, the first of them at the top.
    window: Word,
    /// The number of bits in the window.
    left: u32,
    words: std::slice::Iter<'a, Word>,
    past_end: bool,
}

impl<'a> Stream<'a> {
    #[inline]
    fn new(words: &'a [Word]) -> Self {
        let mut stream = Stream { window: 0, left: 0, words: words.iter(), past_end: false };
        stream.next_word();
        stream
    }

    /// Goes on to the next word. The bits of the last one lie below a leading one.
    #[inline]
    fn next_word(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        let above = if self.words.as_slice().is_empty() { 1 + word.leading_zeros() } else { 0 };
        self.window = word.checked_shl(above).unwrap_or(0);
        self.left = 64u32.saturating_sub(above);
        true
    }

    /// The next bits, at least one; past the end there are zeros.
    #[inline(always)]
    fn take(&mut self, bits: u32) -> Word {
        if bits <= self.left && bits < 64 {
            let value = self.window >> (64 - bits);
            self.window <<= bits;
            self.left -= bits;
            value
        } else {
            self.refill(bits)
        }
    }

    /// The same if a word does not have them all.
    #[inline(never)]
    fn refill(&mut self, bits: u32) -> Word {
        let (mut value, mut wanted): (Word, u32) = (0, bits);
        loop {
            let some = wanted.min(self.left);
            value = value.checked_shl(some).unwrap_or(0) | self.window.checked_shr(64 - some).unwrap_or(0);
            self.window = self.window.checked_shl(some).unwrap_or(0);
            self.left -= some;
            wanted -= some;
            if wanted == 0 {
                return value;
            }
            if !self.next_word() {
                self.past_end = true;
                return value.checked_shl(wanted).unwrap_or(0);
            }
        }
    }

    /// Whether more was read than was written.
    #[inline]
    fn is_past_end(&self) -> bool {
        self.past_end
    }
}

struct Reader<'a, 'b>(&'a mut Stream<'b>);

impl Reader<'_, '_> {
    #[inline(always)]
    fn number(&mut self) -> u64 {
        let group = self.0.take(GROUP);
        if group < 1 << PAYLOAD { group } else { self.groups(group) }
    }

    #[inline(never)]
    fn groups(&mut self, mut group: u64) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while group >= 1 << PAYLOAD && shift < 63 {
            value |= (group & ((1 << PAYLOAD) - 1)) << shift;
            shift += PAYLOAD;
            group = self.0.take(GROUP);
        }
        value | group << shift
    }

    #[inline]
    fn signed(&mut self) -> i64 {
        let value = self.number();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    /// A number of elements. One that the words cannot hold comes from a type that does not read back its own output.
    #[inline]
    fn length(&mut self) -> Result<usize, Trouble> {
        let length = self.number() as usize;
        if length > 1 << 32 { Err(Trouble::new("it does not read what was written")) } else { Ok(length) }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Trouble> {
        let length = self.length()?;
        let mut bytes = Vec::with_capacity(length.min(1 << 16));
        for _ in 0..length {
            if self.0.is_past_end() {
                return Err(Trouble::new("it reads more than was written"));
            }
            bytes.push(self.0.take(8) as u8);
        }
        Ok(bytes)
    }
}

/// All numbers are written in the same way.
macro_rules! numbers {
    ($($ask:ident $visit:ident $read:ident $type:ty),*) => { $(
        #[inline]
        fn $ask<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
            visitor.$visit(self.$read() as $type)
        }
    )* };
}

const UNKNOWN: &str =
    "its type does not say how it is read: serde attributes such as untagged, tag, flatten and skip_serializing_if do not work here";

impl<'de> Deserializer<'de> for Reader<'_, '_> {
    type Error = Trouble;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Trouble> {
        Err(Trouble::new(UNKNOWN))
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_bool(self.0.take(1) == 1)
    }

    numbers!(
        deserialize_i8 visit_i8 signed i8, deserialize_i16 visit_i16 signed i16, deserialize_i32 visit_i32 signed i32, deserialize_i64 visit_i64 signed i64,
        deserialize_u8 visit_u8 number u8, deserialize_u16 visit_u16 number u16, deserialize_u32 visit_u32 number u32, deserialize_u64 visit_u64 number u64
    );

    fn deserialize_i128<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let low = u128::from(self.number());
        visitor.visit_i128((low | u128::from(self.number()) << 64) as i128)
    }

    fn deserialize_u128<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let low = u128::from(self.number());
        visitor.visit_u128(low | u128::from(self.number()) << 64)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_f32(f32::from_bits(self.0.take(32) as u32))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_f64(f64::from_bits(self.0.take(64)))
    }

    fn deserialize_char<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let code = self.number() as u32;
        visitor.visit_char(char::from_u32(code).ok_or_else(|| Trouble::new("it does not read what was written"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let text = String::from_utf8(self.bytes()?).map_err(|_| Trouble::new("it does not read what was written"))?;
        visitor.visit_string(text)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_byte_buf(self.bytes()?)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        if self.0.take(1) == 1 { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let left = self.length()?;
        visitor.visit_seq(Elements { from: self.0, left })
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_seq(Elements { from: self.0, left })
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _name: &'static str, left: usize, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_seq(Elements { from: self.0, left })
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Trouble> {
        let left = self.length()?;
        visitor.visit_map(Elements { from: self.0, left })
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(self, _name: &'static str, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_seq(Elements { from: self.0, left: fields.len() })
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(self, _name: &'static str, _variants: &'static [&'static str], visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_enum(self)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Trouble> {
        Err(Trouble::new(UNKNOWN))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Trouble> {
        Err(Trouble::new(UNKNOWN))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

struct Elements<'a, 'b> {
    from: &'a mut Stream<'b>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = Trouble;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Trouble> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.from.is_past_end() {
            return Err(Trouble::new("it reads more than was written"));
        }
        self.left -= 1;
        seed.deserialize(Reader(self.from)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, '_> {
    type Error = Trouble;

    #[inline]
    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Trouble> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Trouble> {
        seed.deserialize(Reader(self.from))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::EnumAccess<'de> for Reader<'_, '_> {
    type Error = Trouble;
    type Variant = Self;

    #[inline]
    fn variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<(T::Value, Self), Trouble> {
        let index: U32Deserializer<Trouble> = (self.number() as u32).into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'_, '_> {
    type Error = Trouble;

    #[inline]
    fn unit_variant(self) -> Result<(), Trouble> {
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Trouble> {
        seed.deserialize(self)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_seq(Elements { from: self.0, left })
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_seq(Elements { from: self.0, left: fields.len() })
    }
}
