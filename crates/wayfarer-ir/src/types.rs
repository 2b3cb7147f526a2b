//! The meaning of the bits of a state for people: names of values, fields and elements, and their positions. A search
//! never uses this; reports, witnesses, tight layouts and symmetry do.
//!
//! Layout rule, kept by [`crate::layout`] and checked by the verifier: an object of at most 64 bits lies inside one word; a larger one
//! starts at a word and takes whole words. So every scalar lies inside one word, and every copy is a masked move or a run of words.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

use crate::code::TypeId;
use crate::real::RealFormat;

/// A type with its layout.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Type {
    /// A number, truth value or name.
    Scalar(Scalar),
    /// Named parts.
    Record { fields: Vec<Field>, bits: u32 },
    /// `count` elements, `stride` bits apart, numbered by the values of the scalar type `index`.
    Array { index: TypeId, element: TypeId, stride: u32, count: u32, bits: u32 },
    /// An unordered collection: `capacity` slots, `stride` bits apart. The slot's bit 0 says whether it is taken, and
    /// the element lies at `element_at` inside the slot; free slots are zero. Between steps the slots are sorted in
    /// descending order of their `slot_bits`.
    Bag { element: TypeId, stride: u32, capacity: u32, element_at: u32, slot_bits: u32, bits: u32 },
}

/// A part of a record.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Its distance in bits from the record's start.
    pub offset: u32,
}

/// A scalar type. A value `v` is stored as `v - low`, plus 1 if the type has an undefined value, which is stored as
/// 0.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Scalar {
    /// The name it was declared with, for messages.
    pub name: Option<String>,
    /// Width of the stored form.
    pub bits: u8,
    /// The smallest value.
    pub low: i64,
    /// The number of values.
    pub count: u64,
    /// Whether 0 is stored for "undefined".
    pub undefinable: bool,
    /// The text of its values.
    pub names: Names,
    /// The values that are elements of a scalarset, in ascending order: all of a scalarset's own type, and for each
    /// scalarset in a union a part.
    pub elements: Vec<Elements>,
}

/// A run of values that are the elements of a scalarset, in the scalarset's order. Elements of one scalarset can be
/// permuted throughout a state without changing its behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Elements {
    /// The scalarset's number.
    pub set: u32,
    /// The distance of the first element from the type's smallest value.
    pub first: u64,
    /// The number of elements; the same wherever the set occurs.
    pub count: u64,
}

/// The text of a scalar's values.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Names {
    /// As numbers.
    Numbers,
    /// By name, from the smallest value on.
    Names(Vec<String>),
    /// As real numbers. A value is a position among the numbers of the format.
    Real(RealFormat),
}

impl Type {
    /// Width in bits, including inner padding.
    pub fn bits(&self) -> u32 {
        match self {
            Type::Scalar(scalar) => u32::from(scalar.bits),
            Type::Record { bits, .. } | Type::Array { bits, .. } | Type::Bag { bits, .. } => *bits,
        }
    }

    /// The scalar type, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match self {
            Type::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }
}

impl Scalar {
    /// The stored form of a value.
    pub fn store(&self, value: i64) -> u64 {
        (value.wrapping_sub(self.low) as u64).wrapping_add(u64::from(self.undefinable))
    }

    /// The value of a stored form; `None` if it is undefined.
    pub fn value(&self, stored: u64) -> Option<i64> {
        if self.undefinable && stored == 0 {
            return None;
        }
        Some((stored.wrapping_sub(u64::from(self.undefinable)) as i64).wrapping_add(self.low))
    }

    /// The text of a stored form.
    pub fn show(&self, stored: u64) -> String {
        if self.undefinable && stored == 0 {
            return "undefined".to_string();
        }
        let position = stored.wrapping_sub(u64::from(self.undefinable));
        // A range without sign ends beyond the numbers with one.
        let value = i128::from(self.low) + i128::from(position);
        match &self.names {
            Names::Numbers => value.to_string(),
            Names::Names(names) => names.get(position as usize).cloned().unwrap_or_else(|| format!("?{value}")),
            Names::Real(format) => format.show(position.wrapping_add(1)),
        }
    }
}
