//! Values and where they live. Equal values have equal handles: small integers are their own handles, everything else is kept once in a table that only grows.

use crate::blocks::Blocks;
use crate::segments::Segments;
use crate::specification::{FunctionId, Operation};
use hashbrown::HashTable;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// A value: a small integer, or the number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) u32);

const SMALL: u32 = 1 << 31;
const LEAST: i64 = -(1 << 30);
const MOST: i64 = (1 << 30) - 1;

impl Value {
    /// `false`.
    pub const FALSE: Value = Value(0);
    /// `true`.
    pub const TRUE: Value = Value(1);
    /// The empty list.
    pub const NIL: Value = Value(2);
    /// The arguments of an action without arguments.
    pub const UNIT: Value = Value(3);

    /// A truth value.
    pub fn boolean(truth: bool) -> Value {
        if truth { Value::TRUE } else { Value::FALSE }
    }

    /// The integer that is its own handle.
    #[inline]
    pub(crate) fn small(self) -> Option<i64> {
        (self.0 & SMALL != 0).then(|| i64::from((self.0 << 1) as i32 >> 1))
    }

    #[inline]
    pub(crate) fn of_small(number: i64) -> Option<Value> {
        (LEAST..=MOST).contains(&number).then_some(Value(number as u32 & !SMALL | SMALL))
    }
}

/// The make of a value that is not a small integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Boolean(bool),
    Nil,
    Cons(Value, Value),
    /// A constructor with its arguments, a function without some of its arguments, or an application that no equation rewrites.
    Term(FunctionId, Box<[Value]>),
    /// A built-in operation that cannot be carried out.
    Stuck(Operation, Box<[Value]>),
    Integer(BigInt),
    /// A number that is not an integer.
    Rational(BigRational),
    /// A set by its elements, or by those that are not in it.
    Set {
        complement: bool,
        elements: Box<[Value]>,
    },
    /// A bag by its elements and how often each is in it.
    Bag(Box<[(Value, Value)]>),
    /// A function that differs from another in some places.
    Update {
        base: Value,
        entries: Box<[(Value, Value)]>,
    },
    /// A lambda or a comprehension with the values of its free variables.
    Closure {
        lambda: u32,
        captured: Box<[Value]>,
    },
    /// The arguments of an action.
    Tuple(Box<[Value]>),
}

/// Bytes of a place in an index by hash, about: a number and a byte of the hash, with room to grow.
pub(crate) const INDEXED: usize = 9;

impl Node {
    /// Bytes that it holds outside of itself, about.
    fn outside(&self) -> usize {
        match self {
            Node::Term(_, parts) | Node::Stuck(_, parts) | Node::Tuple(parts) => size_of_val(&**parts),
            Node::Set { elements, .. } => size_of_val(&**elements),
            Node::Closure { captured, .. } => size_of_val(&**captured),
            Node::Bag(entries) | Node::Update { entries, .. } => size_of_val(&**entries),
            Node::Integer(number) => number.bits() as usize / 8 + 8,
            Node::Rational(number) => (number.numer().bits() + number.denom().bits()) as usize / 8 + 16,
            Node::Boolean(_) | Node::Nil | Node::Cons(..) => 0,
        }
    }
}

#[derive(Debug)]
struct Entry {
    node: Node,
    /// Whether it is made of constructors only, so that another handle is another value.
    is_pure: bool,
}

const SHARES: usize = 64;

/// All values of a specification.
#[derive(Debug)]
pub(crate) struct Values {
    entries: Segments<Entry>,
    index: Vec<Mutex<HashTable<u32>>>,
    /// Bytes that nodes hold outside of the table.
    pub(crate) outside: Blocks,
}

/// The table of values has no room for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Default for Values {
    fn default() -> Self {
        let values = Values { entries: Segments::default(), index: (0..SHARES).map(|_| Mutex::default()).collect(), outside: Blocks::default() };
        // The first four are constants.
        for node in [Node::Boolean(false), Node::Boolean(true), Node::Nil, Node::Tuple(Box::new([]))] {
            let _ = values.intern(node, true);
        }
        values
    }
}

impl Values {
    /// The node of a value; a small integer has none.
    #[inline]
    pub(crate) fn node(&self, value: Value) -> Option<&Node> {
        self.entries.get(value.0).map(|entry| &entry.node)
    }

    /// Whether a value is made of constructors only.
    #[inline]
    pub(crate) fn is_pure(&self, value: Value) -> bool {
        value.small().is_some() || self.entries.get(value.0).is_some_and(|entry| entry.is_pure)
    }

    /// The handle of a node.
    pub(crate) fn intern(&self, node: Node, is_pure: bool) -> Result<Value, NoRoom> {
        let hash = hash_of(&node);
        let share = &self.index[(hash >> 58) as usize % SHARES];
        let mut table = share.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.find(hash, |number| self.entries.get(*number).is_some_and(|entry| entry.node == node)) {
            return Ok(Value(*found));
        }
        self.outside.add(node.outside());
        let number = self.entries.push(Entry { node, is_pure }).filter(|number| number & SMALL == 0).ok_or(NoRoom)?;
        table.insert_unique(hash, number, |number| self.entries.get(*number).map_or(0, |entry| hash_of(&entry.node)));
        Ok(Value(number))
    }

    /// The bytes of all values, about.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() as usize * (size_of::<Entry>() + INDEXED) + self.outside.asked() + self.outside.rounding()
    }

    /// An integer.
    pub(crate) fn integer(&self, number: BigInt) -> Result<Value, NoRoom> {
        match number.to_i64().and_then(Value::of_small) {
            Some(small) => Ok(small),
            None => self.intern(Node::Integer(number), true),
        }
    }

    /// An integer of 64 bits.
    #[inline]
    pub(crate) fn integer64(&self, number: i64) -> Result<Value, NoRoom> {
        match Value::of_small(number) {
            Some(small) => Ok(small),
            None => self.intern(Node::Integer(BigInt::from(number)), true),
        }
    }

    /// A rational number.
    pub(crate) fn rational(&self, number: BigRational) -> Result<Value, NoRoom> {
        if number.is_integer() { self.integer(number.to_integer()) } else { self.intern(Node::Rational(number), true) }
    }

    /// A list cell.
    pub(crate) fn cons(&self, head: Value, tail: Value) -> Result<Value, NoRoom> {
        self.intern(Node::Cons(head, tail), self.is_pure(head) && self.is_pure(tail))
    }

    /// A list of the given elements before a tail.
    pub(crate) fn list(&self, elements: &[Value], tail: Value) -> Result<Value, NoRoom> {
        elements.iter().rev().try_fold(tail, |tail, head| self.cons(*head, tail))
    }

    /// The elements of a list and what stands behind its last cell: the empty list, unless something could not be rewritten.
    pub(crate) fn elements(&self, mut list: Value) -> (Vec<Value>, Value) {
        let mut elements = Vec::new();
        while let Some(Node::Cons(head, tail)) = self.node(list) {
            elements.push(*head);
            list = *tail;
        }
        (elements, list)
    }

    /// The arguments of an action as one value.
    pub(crate) fn tuple(&self, arguments: &[Value]) -> Result<Value, NoRoom> {
        match arguments {
            [] => Ok(Value::UNIT),
            [only] => Ok(*only),
            _ => self.intern(Node::Tuple(arguments.into()), true),
        }
    }

    /// The arguments of an action of `count` arguments.
    pub(crate) fn arguments(&self, tuple: Value, count: usize) -> Vec<Value> {
        match (count, self.node(tuple)) {
            (0, _) => Vec::new(),
            (1, _) => vec![tuple],
            (_, Some(Node::Tuple(arguments))) => arguments.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The integer that a value is, if it is one.
    pub(crate) fn as_integer(&self, value: Value) -> Option<BigInt> {
        match value.small() {
            Some(small) => Some(BigInt::from(small)),
            None => match self.node(value) {
                Some(Node::Integer(number)) => Some(number.clone()),
                _ => None,
            },
        }
    }

    /// The number that a value is, if it is one.
    pub(crate) fn as_rational(&self, value: Value) -> Option<BigRational> {
        match self.node(value).filter(|_| value.small().is_none()) {
            Some(Node::Rational(number)) => Some(number.clone()),
            _ => self.as_integer(value).map(BigRational::from_integer),
        }
    }

    /// Whether a value is a number that is zero.
    pub(crate) fn is_zero(&self, value: Value) -> bool {
        value.small() == Some(0) || self.as_integer(value).is_some_and(|number| number.is_zero())
    }
}

fn hash_of(node: &Node) -> u64 {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_handles() {
        let values = Values::default();
        for number in [0, 1, -1, MOST, MOST + 1, LEAST, LEAST - 1, i64::MAX, i64::MIN] {
            let value = values.integer64(number).unwrap();
            assert_eq!(value, values.integer(BigInt::from(number)).unwrap());
            assert_eq!(values.as_integer(value), Some(BigInt::from(number)));
        }
        let list = values.list(&[Value::TRUE, Value::FALSE], Value::NIL).unwrap();
        assert_eq!(list, values.cons(Value::TRUE, values.list(&[Value::FALSE], Value::NIL).unwrap()).unwrap());
        assert_eq!(values.elements(list), (vec![Value::TRUE, Value::FALSE], Value::NIL));
        let half = BigRational::new(1.into(), 2.into());
        assert_eq!(values.rational(half.clone()).unwrap(), values.rational(BigRational::new(2.into(), 4.into())).unwrap());
        assert_eq!(values.rational(&half + &half).unwrap().small(), Some(1));
    }
}
