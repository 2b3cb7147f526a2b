//! Equality and order of values, as far as they are decided.

use crate::data::Data;
use crate::machine::Machine;
use crate::specification::Role;
use crate::value::{Node, Value};
use std::cmp::Ordering;

impl Machine<'_> {
    /// Whether two values are equal, if that is decided.
    pub(crate) fn equal(&self, one: Value, other: Value) -> Option<bool> {
        self.data.equal(one, other)
    }
}

impl Data {
    /// Whether two values are equal, if that is decided.
    pub(crate) fn equal(&self, one: Value, other: Value) -> Option<bool> {
        if one == other {
            return Some(true);
        }
        if self.values.is_pure(one) && self.values.is_pure(other) {
            return Some(false);
        }
        let (first, second) = (self.node(one)?, self.node(other)?);
        match (first, second) {
            (Node::Cons(head, tail), Node::Cons(head2, tail2)) => self.all_equal(&[*head, *tail], &[*head2, *tail2]),
            (Node::Cons(..), Node::Nil) | (Node::Nil, Node::Cons(..)) => Some(false),
            (Node::Term(head, arguments), Node::Term(head2, arguments2)) => {
                let both = self.is_constructed(first) && self.is_constructed(second);
                match (both, head == head2) {
                    (true, true) => self.all_equal(arguments, arguments2),
                    (true, false) => Some(false),
                    _ => None,
                }
            }
            (Node::Update { base, entries }, Node::Update { base: base2, entries: entries2 }) if base == base2 => {
                // Both keep only what differs from their common base.
                let differs = |(place, value): &(Value, Value)| {
                    entries2.iter().any(|(place2, value2)| place == place2 && self.equal(*value, *value2) == Some(false))
                };
                entries.iter().any(differs).then_some(false)
            }
            (Node::Set { complement: false, elements }, Node::Set { complement: false, elements: elements2 })
                if elements.len() == elements2.len() =>
            {
                (elements.len() == 1).then(|| self.equal(elements[0], elements2[0])).flatten()
            }
            _ => None,
        }
    }

    fn all_equal(&self, one: &[Value], other: &[Value]) -> Option<bool> {
        let mut all = Some(true);
        for (one, other) in one.iter().zip(other) {
            match self.equal(*one, *other) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            }
        }
        all
    }

    /// The node of a value that is not a small integer.
    #[inline]
    pub(crate) fn node(&self, value: Value) -> Option<&Node> {
        if value.small().is_some() { None } else { self.values.node(value) }
    }

    fn is_constructed(&self, node: &Node) -> bool {
        matches!(node, Node::Term(head, arguments)
            if matches!(self.functions[head.index()].role, Role::Constructor(_)) && arguments.len() == self.functions[head.index()].arguments.len() && !self.has_equations(*head))
    }

    /// The order of two values: that of numbers, of constructors and then of their arguments, and of lists by their first difference. None if it is not decided.
    pub(crate) fn compare(&self, one: Value, other: Value) -> Option<Ordering> {
        if let (Some(one), Some(other)) = (one.small(), other.small()) {
            return Some(one.cmp(&other));
        }
        if one == other {
            return Some(Ordering::Equal);
        }
        if let (Some(one), Some(other)) = (self.values.as_rational(one), self.values.as_rational(other)) {
            return Some(one.cmp(&other));
        }
        match (self.node(one)?, self.node(other)?) {
            (Node::Boolean(one), Node::Boolean(other)) => Some(one.cmp(other)),
            (Node::Nil, Node::Cons(..)) => Some(Ordering::Less),
            (Node::Cons(..), Node::Nil) => Some(Ordering::Greater),
            (Node::Cons(head, tail), Node::Cons(head2, tail2)) => match self.compare(*head, *head2)? {
                Ordering::Equal => self.compare(*tail, *tail2),
                order => Some(order),
            },
            (Node::Term(head, arguments), Node::Term(head2, arguments2)) => {
                let number = |function: &crate::specification::FunctionId| match self.functions[function.index()].role {
                    Role::Constructor(number) => Some(number),
                    _ => None,
                };
                match number(head)?.cmp(&number(head2)?) {
                    Ordering::Equal => self.compare_all(arguments, arguments2),
                    order => Some(order),
                }
            }
            (Node::Set { complement, elements }, Node::Set { complement: complement2, elements: elements2 }) => {
                let order = complement.cmp(complement2).then(elements.len().cmp(&elements2.len()));
                if order == Ordering::Equal { self.compare_all(elements, elements2) } else { Some(order) }
            }
            _ => None,
        }
    }

    fn compare_all(&self, one: &[Value], other: &[Value]) -> Option<Ordering> {
        for (one, other) in one.iter().zip(other) {
            match self.compare(*one, *other)? {
                Ordering::Equal => {}
                order => return Some(order),
            }
        }
        Some(Ordering::Equal)
    }

    /// A total order for canonical forms: that of [`compare`](Data::compare) if it is decided.
    pub(crate) fn arrange(&self, one: Value, other: Value) -> Ordering {
        self.compare(one, other).filter(|order| order.is_ne() || one == other).unwrap_or_else(|| one.cmp(&other))
    }
}
