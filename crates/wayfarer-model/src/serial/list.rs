//! From values to their shapes.

use super::Trouble;
use crate::shape::Shape;
use serde::Serialize;
use serde::ser::{self, Serializer};

/// The parts of a value with their names.
pub(crate) fn list<T: Serialize + ?Sized>(value: &T) -> Shape {
    value.serialize(Lister).unwrap_or_else(|trouble| Shape::Leaf(format!("<{trouble}>")))
}

#[derive(Clone, Copy)]
struct Lister;

/// Parts that come one after the other.
struct Parts {
    variant: Option<&'static str>,
    kind: Kind,
    parts: Vec<(String, Shape)>,
    key: String,
}

enum Kind {
    Fields,
    List,
    Map,
}

impl Parts {
    fn new(kind: Kind, variant: Option<&'static str>) -> Result<Self, Trouble> {
        Ok(Parts { variant, kind, parts: Vec::new(), key: String::new() })
    }

    fn push<T: Serialize + ?Sized>(&mut self, name: impl Into<String>, value: &T) -> Result<(), Trouble> {
        self.parts.push((name.into(), value.serialize(Lister)?));
        Ok(())
    }

    fn shape(self) -> Result<Shape, Trouble> {
        let shape = match self.kind {
            Kind::Fields => Shape::Fields(self.parts),
            Kind::List => Shape::List(self.parts.into_iter().map(|(_, shape)| shape).collect()),
            Kind::Map => Shape::Map(self.parts),
        };
        Ok(match self.variant {
            Some(name) => Shape::Variant(name.to_string(), Box::new(shape)),
            None => shape,
        })
    }
}

macro_rules! leaves {
    ($($ask:ident $type:ty),*) => { $(
        fn $ask(self, value: $type) -> Result<Shape, Trouble> {
            Ok(Shape::Leaf(value.to_string()))
        }
    )* };
}

impl Serializer for Lister {
    type Ok = Shape;
    type Error = Trouble;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Parts;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    leaves!(
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128, serialize_u8 u8,
        serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128, serialize_f32 f32, serialize_f64 f64
    );

    fn serialize_char(self, value: char) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf(format!("{value:?}")))
    }

    fn serialize_str(self, value: &str) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf(format!("{value:?}")))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf(format!("{value:?}")))
    }

    fn serialize_none(self) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf("None".to_string()))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Shape, Trouble> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf("()".to_string()))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf(name.to_string()))
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<Shape, Trouble> {
        Ok(Shape::Leaf(variant.to_string()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<Shape, Trouble> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Shape, Trouble> {
        let mut parts = Parts::new(Kind::Fields, Some(variant))?;
        parts.push("0", value)?;
        parts.shape()
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Parts, Trouble> {
        Parts::new(Kind::List, None)
    }

    fn serialize_tuple(self, _length: usize) -> Result<Parts, Trouble> {
        Parts::new(Kind::List, None)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Parts, Trouble> {
        Parts::new(Kind::Fields, None)
    }

    fn serialize_tuple_variant(self, _name: &'static str, _index: u32, variant: &'static str, _length: usize) -> Result<Parts, Trouble> {
        Parts::new(Kind::Fields, Some(variant))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Parts, Trouble> {
        Parts::new(Kind::Map, None)
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Parts, Trouble> {
        Parts::new(Kind::Fields, None)
    }

    fn serialize_struct_variant(self, _name: &'static str, _index: u32, variant: &'static str, _length: usize) -> Result<Parts, Trouble> {
        Parts::new(Kind::Fields, Some(variant))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! by_number {
    ($($part:ident $element:ident),*) => { $(
        impl ser::$part for Parts {
            type Ok = Shape;
            type Error = Trouble;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
                self.push(self.parts.len().to_string(), value)
            }

            fn end(self) -> Result<Shape, Trouble> {
                self.shape()
            }
        }
    )* };
}

by_number!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

macro_rules! by_name {
    ($($part:ident),*) => { $(
        impl ser::$part for Parts {
            type Ok = Shape;
            type Error = Trouble;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Trouble> {
                self.push(name, value)
            }

            fn end(self) -> Result<Shape, Trouble> {
                self.shape()
            }
        }
    )* };
}

by_name!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Parts {
    type Ok = Shape;
    type Error = Trouble;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Trouble> {
        self.key = list(key).to_string();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        let key = std::mem::take(&mut self.key);
        self.push(key, value)
    }

    fn end(self) -> Result<Shape, Trouble> {
        self.shape()
    }
}
