//! Built-in operations on truth values, numbers and lists. An operation that cannot be carried out is a value of its own.

use crate::code::Code;
use crate::machine::{Evaluated, Halt, Machine};
use crate::specification::Operation;
use crate::value::{Node, Value};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::ops;

/// Numbers of more bits are not made by `exp`.
const MOST_BITS: u64 = 1 << 20;

/// Rewrite steps that an element of a list counts for: a list that is made takes memory for each.
const ELEMENT: usize = 8;

impl Machine<'_> {
    /// An operation whose operands are not evaluated yet.
    pub(crate) fn operation_code(&mut self, operation: Operation, operands: &[Code], base: usize) -> Evaluated {
        match (operation, operands) {
            (Operation::If, [condition, one, other]) => match self.evaluate(condition, base)? {
                Value::TRUE => self.evaluate(one, base),
                Value::FALSE => self.evaluate(other, base),
                condition => {
                    let (one, other) = (self.evaluate(one, base)?, self.evaluate(other, base)?);
                    if one == other { Ok(one) } else { self.keep(operation, &[condition, one, other]) }
                }
            },
            (Operation::And | Operation::Or | Operation::Implies, [one, other]) => {
                // The truth value of the first operand that decides, and the result then.
                let (decisive, result) = match operation {
                    Operation::And => (Value::FALSE, Value::FALSE),
                    Operation::Or => (Value::TRUE, Value::TRUE),
                    _ => (Value::FALSE, Value::TRUE),
                };
                let first = self.evaluate(one, base)?;
                if first == decisive {
                    return Ok(result);
                }
                let second = self.evaluate(other, base)?;
                if matches!(first, Value::TRUE | Value::FALSE) || second == result {
                    return Ok(second);
                }
                if operation != Operation::Implies && matches!(second, Value::TRUE | Value::FALSE) {
                    return Ok(first);
                }
                self.keep(operation, &[first, second])
            }
            (_, [one]) => {
                let one = self.evaluate(one, base)?;
                self.operate(operation, &[one])
            }
            (_, [one, other]) => {
                let one = self.evaluate(one, base)?;
                let other = self.evaluate(other, base)?;
                self.operate(operation, &[one, other])
            }
            _ => {
                let operands = self.list(operands, base)?;
                self.operate(operation, &operands)
            }
        }
    }

    /// An operation that cannot be carried out.
    pub(crate) fn keep(&self, operation: Operation, operands: &[Value]) -> Evaluated {
        Ok(self.data.values.intern(Node::Stuck(operation, operands.into()), false)?)
    }

    /// An operation on values.
    pub(crate) fn operate(&mut self, operation: Operation, operands: &[Value]) -> Evaluated {
        use Operation::*;
        let truth = |decided: Option<bool>| decided.map(Value::boolean);
        let found = match (operation, operands) {
            (Not, [Value::TRUE]) => Some(Value::FALSE),
            (Not, [Value::FALSE]) => Some(Value::TRUE),
            (Equal, [one, other]) => match self.equal(*one, *other) {
                None if self.sets_equal(*one, *other).is_some() => truth(self.sets_equal(*one, *other)),
                decided => truth(decided),
            },
            (Unequal, [one, other]) => match self.operate(Equal, &[*one, *other])? {
                Value::TRUE => Some(Value::FALSE),
                Value::FALSE => Some(Value::TRUE),
                _ => None,
            },
            (Less, [one, other]) => truth(self.data.compare(*one, *other).map(Ordering::is_lt)),
            (LessEqual, [one, other]) => truth(self.data.compare(*one, *other).map(Ordering::is_le)),
            (Greater, [one, other]) => truth(self.data.compare(*one, *other).map(Ordering::is_gt)),
            (GreaterEqual, [one, other]) => truth(self.data.compare(*one, *other).map(Ordering::is_ge)),
            (Add | Subtract | Multiply | Divide | Quotient | Remainder | Power | Minimum | Maximum, [one, other]) => {
                self.arithmetic(operation, *one, *other)?
            }
            (
                Negate | Successor | Predecessor | Absolute | Floor | Ceiling | Round | SquareRoot | ToPositive | ToNatural | ToInteger | ToReal,
                [one],
            ) => self.number(operation, *one)?,
            (Cons | Snoc | Concatenate | Size | At | Head | Tail | LastElement | AllButLast | ListOf, _) => self.on_lists(operation, operands)?,
            (Part(constructor, place), [value]) => match self.data.node(*value) {
                Some(Node::Term(head, arguments)) if *head == constructor => arguments.get(place as usize).copied(),
                _ => None,
            },
            (And | Or | Implies | If, _) => None,
            _ => self.on_collections(operation, operands)?,
        };
        match found {
            Some(value) => Ok(value),
            None => self.keep(operation, operands),
        }
    }

    fn arithmetic(&mut self, operation: Operation, one: Value, other: Value) -> Result<Option<Value>, Halt> {
        use Operation::*;
        let data = self.data;
        let values = &data.values;
        if let (Some(one), Some(other)) = (one.small(), other.small()) {
            let result = match operation {
                Quotient if other > 0 => Some(one.div_euclid(other)),
                Remainder if other > 0 => Some(one.rem_euclid(other)),
                _ => combine(operation, one, other),
            };
            if let Some(result) = result {
                return Ok(Some(values.integer64(result)?));
            }
        }
        if let (Some(one), Some(other)) = (values.as_integer(one), values.as_integer(other)) {
            if operation == Multiply {
                // Products of products double in length with every step.
                self.burn((one.bits() / 64).saturating_mul(other.bits() / 64) as usize)?;
            }
            let result = match operation {
                Quotient if other.is_positive() => Some(one.div_floor(&other)),
                Remainder if other.is_positive() => Some(one.mod_floor(&other)),
                Power => return self.power(&BigRational::from_integer(one), &other),
                Divide if !other.is_zero() => return Ok(Some(values.rational(BigRational::new(one, other))?)),
                _ => combine(operation, one, other),
            };
            return Ok(result.map(|result| values.integer(result)).transpose()?);
        }
        let (Some(one), Some(other)) = (values.as_rational(one), values.as_rational(other)) else { return Ok(None) };
        let result = match operation {
            Divide if !other.is_zero() => Some(one / other),
            Power if other.is_integer() => return self.power(&one, &other.to_integer()),
            _ => combine(operation, one, other),
        };
        Ok(result.map(|result| values.rational(result)).transpose()?)
    }

    fn power(&self, base: &BigRational, exponent: &BigInt) -> Result<Option<Value>, Halt> {
        let bits = base.numer().bits().max(base.denom().bits());
        let size = exponent.abs().to_u64().and_then(|exponent| exponent.checked_mul(bits.max(1)));
        if base.is_zero() && exponent.is_negative() {
            return Ok(None);
        }
        let Some(exponent) = size.filter(|size| *size <= MOST_BITS).and_then(|_| exponent.to_i32()) else { return Err(Halt::Fuel) };
        Ok(Some(self.data.values.rational(base.pow(exponent))?))
    }

    fn number(&mut self, operation: Operation, one: Value) -> Result<Option<Value>, Halt> {
        use Operation::*;
        let values = &self.data.values;
        let Some(number) = values.as_rational(one) else { return Ok(None) };
        let result = match operation {
            Negate => -number,
            Successor => number + BigRational::one(),
            Predecessor => number - BigRational::one(),
            Absolute => number.abs(),
            Floor => number.floor(),
            Ceiling => number.ceil(),
            // Halves go up, as in mCRL2: round(r) = floor(r + 1/2).
            Round => (number + BigRational::new(1.into(), 2.into())).floor(),
            SquareRoot if number.is_integer() && !number.is_negative() => BigRational::from_integer(number.to_integer().sqrt()),
            ToPositive if number.is_integer() && number.is_positive() => return Ok(Some(one)),
            ToNatural if number.is_integer() && !number.is_negative() => return Ok(Some(one)),
            ToInteger if number.is_integer() => return Ok(Some(one)),
            ToReal => return Ok(Some(one)),
            _ => return Ok(None),
        };
        Ok(Some(values.rational(result)?))
    }

    fn on_lists(&mut self, operation: Operation, operands: &[Value]) -> Result<Option<Value>, Halt> {
        use Operation::*;
        let data = self.data;
        let values = &data.values;
        let is_list = |value: Value| matches!(data.node(value), Some(Node::Nil | Node::Cons(..)));
        Ok(match (operation, operands) {
            (ListOf, _) => Some(values.list(operands, Value::NIL)?),
            (Cons, [head, tail]) => Some(values.cons(*head, *tail)?),
            (Snoc, [list, last]) if is_list(*list) => {
                let (elements, end) = values.elements(*list);
                self.burn(elements.len() * ELEMENT)?;
                if end == Value::NIL { Some(values.list(&elements, values.cons(*last, Value::NIL)?)?) } else { None }
            }
            (Concatenate, [one, other]) => {
                let (elements, end) = values.elements(*one);
                self.burn(elements.len() * ELEMENT)?;
                if end == Value::NIL {
                    Some(values.list(&elements, *other)?)
                } else if *other == Value::NIL {
                    Some(*one)
                } else {
                    None
                }
            }
            (Head, [list]) => match self.data.node(*list) {
                Some(Node::Cons(head, _)) => Some(*head),
                _ => None,
            },
            (Tail, [list]) => match self.data.node(*list) {
                Some(Node::Cons(_, tail)) => Some(*tail),
                _ => None,
            },
            (Size, [list]) if is_list(*list) => {
                let (elements, end) = values.elements(*list);
                self.burn(elements.len() * ELEMENT)?;
                if end == Value::NIL { Some(values.integer64(elements.len() as i64)?) } else { None }
            }
            (Size, [set]) => match self.data.node(*set) {
                Some(Node::Set { complement: false, elements }) => Some(values.integer64(elements.len() as i64)?),
                Some(Node::Bag(elements)) => {
                    let mut sum = Value::of_small(0);
                    for (_, count) in elements {
                        sum = sum.map(|sum| self.arithmetic(Add, sum, *count)).transpose()?.flatten();
                    }
                    sum
                }
                _ => None,
            },
            (At, [list, place]) => {
                let (mut list, mut left) = (*list, place.small());
                loop {
                    match (self.data.node(list), left) {
                        (Some(Node::Cons(head, _)), Some(0)) => break Some(*head),
                        (Some(Node::Cons(_, tail)), Some(place)) if place > 0 => (list, left) = (*tail, Some(place - 1)),
                        _ => break None,
                    }
                }
            }
            (LastElement | AllButLast, [list]) => {
                let (elements, end) = values.elements(*list);
                self.burn(elements.len() * ELEMENT)?;
                match elements.split_last() {
                    Some((last, others)) if end == Value::NIL => {
                        if operation == LastElement {
                            Some(*last)
                        } else {
                            Some(values.list(others, Value::NIL)?)
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

/// The operations that all numbers have in common; none for others.
fn combine<N: Ord + ops::Add<Output = N> + ops::Sub<Output = N> + ops::Mul<Output = N>>(operation: Operation, one: N, other: N) -> Option<N> {
    match operation {
        Operation::Add => Some(one + other),
        Operation::Subtract => Some(one - other),
        Operation::Multiply => Some(one * other),
        Operation::Minimum => Some(one.min(other)),
        Operation::Maximum => Some(one.max(other)),
        _ => None,
    }
}
