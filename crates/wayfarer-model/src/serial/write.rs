//! From values to bits.

use super::{GROUP, PAYLOAD, Trouble};
use crate::bits::Growing;
use serde::Serialize;
use serde::ser::{self, Serializer};

/// Appends the bits of a value.
#[inline]
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Growing) -> Result<(), Trouble> {
    value.serialize(Writer(out))
}

struct Writer<'a>(&'a mut Growing);

impl Writer<'_> {
    #[inline(always)]
    fn number(self, value: u64) {
        if value < 1 << PAYLOAD { self.0.put(value, GROUP) } else { self.groups(value) }
    }

    #[inline(never)]
    fn groups(self, mut value: u64) {
        while value >= 1 << PAYLOAD {
            self.0.put(value & ((1 << PAYLOAD) - 1) | 1 << PAYLOAD, GROUP);
            value >>= PAYLOAD;
        }
        self.0.put(value, GROUP);
    }

    /// Numbers near zero are short, whatever their sign.
    #[inline]
    fn signed(self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    #[inline(always)]
    fn length(&mut self, length: Option<usize>) -> Result<(), Trouble> {
        let length = length.ok_or_else(|| Trouble::new("a sequence or map does not say how long it is before it is written"))?;
        Writer(self.0).number(length as u64);
        Ok(())
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Trouble;
    type SerializeSeq = Writer<'a>;
    type SerializeTuple = Writer<'a>;
    type SerializeTupleStruct = Writer<'a>;
    type SerializeTupleVariant = Writer<'a>;
    type SerializeMap = Writer<'a>;
    type SerializeStruct = Writer<'a>;
    type SerializeStructVariant = Writer<'a>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Trouble> {
        self.0.put(u64::from(value), 1);
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<(), Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<(), Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<(), Trouble> {
        self.serialize_i64(i64::from(value))
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<(), Trouble> {
        self.signed(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Trouble> {
        self.serialize_u128(value as u128)
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<(), Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<(), Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<(), Trouble> {
        self.serialize_u64(u64::from(value))
    }

    #[inline]
    fn serialize_u64(self, value: u64) -> Result<(), Trouble> {
        self.number(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Trouble> {
        Writer(self.0).number(value as u64);
        self.number((value >> 64) as u64);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Trouble> {
        self.0.put(u64::from(value.to_bits()), 32);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Trouble> {
        self.0.put(value.to_bits(), 64);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Trouble> {
        self.serialize_u32(u32::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<(), Trouble> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Trouble> {
        Writer(self.0).number(value.len() as u64);
        value.iter().for_each(|byte| self.0.put(u64::from(*byte), 8));
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Trouble> {
        self.serialize_bool(false)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Trouble> {
        self.0.put(1, 1);
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Trouble> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Trouble> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _name: &'static str, index: u32, _variant: &'static str) -> Result<(), Trouble> {
        self.serialize_u32(index)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Trouble> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), Trouble> {
        Writer(self.0).number(u64::from(index));
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(mut self, length: Option<usize>) -> Result<Self, Trouble> {
        self.length(length)?;
        Ok(self)
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
        Writer(self.0).number(u64::from(index));
        Ok(self)
    }

    #[inline]
    fn serialize_map(mut self, length: Option<usize>) -> Result<Self, Trouble> {
        self.length(length)?;
        Ok(self)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Self, Trouble> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(self, _name: &'static str, index: u32, _variant: &'static str, _length: usize) -> Result<Self, Trouble> {
        Writer(self.0).number(u64::from(index));
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Elements are written one after the other.
macro_rules! in_order {
    ($($part:ident $element:ident),*) => { $(
        impl ser::$part for Writer<'_> {
            type Ok = ();
            type Error = Trouble;

            #[inline]
            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
                encode(value, self.0)
            }

            #[inline]
            fn end(self) -> Result<(), Trouble> {
                Ok(())
            }
        }
    )* };
}

in_order!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

/// Fields likewise, without their names.
macro_rules! with_names {
    ($($part:ident),*) => { $(
        impl ser::$part for Writer<'_> {
            type Ok = ();
            type Error = Trouble;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, _name: &'static str, value: &T) -> Result<(), Trouble> {
                encode(value, self.0)
            }

            #[inline]
            fn end(self) -> Result<(), Trouble> {
                Ok(())
            }
        }
    )* };
}

with_names!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Writer<'_> {
    type Ok = ();
    type Error = Trouble;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Trouble> {
        encode(key, self.0)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        encode(value, self.0)
    }

    #[inline]
    fn end(self) -> Result<(), Trouble> {
        Ok(())
    }
}
