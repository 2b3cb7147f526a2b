//! The values of the naive evaluator: plain trees of plain values. Nothing here is packed.

use super::tree::{Model, Type, TypeId};

/// A value of a simple type. Members of enums and scalarsets carry their type, so a union needs no encoding of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scalar {
    Number(i64),
    Boolean(bool),
    Member(TypeId, usize),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// None is undefined.
    Scalar(Option<Scalar>),
    Record(Vec<Value>),
    Array(Vec<Value>),
    /// One entry for each slot; `None` is a free one.
    Bag(Vec<Option<Value>>),
}

/// The kinds of faults of a command, in the terms of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Undefined,
    Range,
    Index,
    Division,
    Overflow,
    Collection,
    NoResult,
    Assertion,
    Error,
}

impl Value {
    /// Everything undefined, every bag empty.
    pub(crate) fn undefined(model: &Model, ty: TypeId) -> Value {
        Value::filled(model, ty, &|_| None)
    }

    /// Every scalar at the least value of its type, every bag empty.
    pub(crate) fn cleared(model: &Model, ty: TypeId) -> Value {
        Value::filled(model, ty, &|ty| match model.types[ty].ty {
            Type::Range(low, _) => Some(Scalar::Number(low)),
            _ => all_of(model, ty).first().copied(),
        })
    }

    fn filled(model: &Model, ty: TypeId, leaf: &dyn Fn(TypeId) -> Option<Scalar>) -> Value {
        match &model.types[ty].ty {
            Type::Record(fields) => Value::Record(fields.iter().map(|(_, ty)| Value::filled(model, *ty, leaf)).collect()),
            Type::Array(index, element) => Value::Array(all_of(model, *index).iter().map(|_| Value::filled(model, *element, leaf)).collect()),
            Type::Bag(capacity, _) => Value::Bag(vec![None; *capacity]),
            _ => Value::Scalar(leaf(ty)),
        }
    }

    /// Sorts the bags inside, so that equal bags are equal values.
    pub(crate) fn settle(&mut self) {
        match self {
            Value::Scalar(_) => {}
            Value::Record(parts) | Value::Array(parts) => parts.iter_mut().for_each(Value::settle),
            Value::Bag(slots) => {
                slots.iter_mut().flatten().for_each(Value::settle);
                slots.sort_by(|a, b| b.cmp(a));
            }
        }
    }
}

/// Whether a value belongs to a simple type.
pub(crate) fn is_of(model: &Model, ty: TypeId, scalar: Scalar) -> bool {
    match (&model.types[ty].ty, scalar) {
        (Type::Range(low, high), Scalar::Number(number)) => (low..=high).contains(&&number),
        (Type::Range(..), _) => false,
        _ => all_of(model, ty).contains(&scalar),
    }
}

/// All values of a simple type, in order. Never asked of a wide range.
pub(crate) fn all_of(model: &Model, ty: TypeId) -> Vec<Scalar> {
    match &model.types[ty].ty {
        Type::Boolean => vec![Scalar::Boolean(false), Scalar::Boolean(true)],
        Type::Range(low, high) => (*low..=*high).map(Scalar::Number).collect(),
        Type::Enum(names) => (0..names.len()).map(|number| Scalar::Member(ty, number)).collect(),
        Type::Scalarset(count) => (0..*count as usize).map(|number| Scalar::Member(ty, number)).collect(),
        Type::Union(members) => members.iter().flat_map(|member| all_of(model, *member)).collect(),
        other => unreachable!("{other:?} is not simple"),
    }
}
