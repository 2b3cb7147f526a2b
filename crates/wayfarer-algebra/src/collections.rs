//! Sets, bags and changed functions, in forms that are equal if the collections are. A set over a finite sort is always given by its elements; sets that cannot be
//! enumerated are kept as they were made, and only asked for members.

use crate::code::Code;
use crate::machine::{Evaluated, Halt, Machine};
use crate::query::Query;
use crate::specification::Operation;
use crate::value::{Node, Value};

impl Machine<'_> {
    /// A set or bag by a condition or a number for each element.
    pub(crate) fn comprehension(&mut self, bag: bool, query: &Query, otherwise: &Code, base: usize) -> Evaluated {
        let closure = self.evaluate(otherwise, base)?;
        if !query.is_bounded() {
            return Ok(closure);
        }
        let mut found = Vec::new();
        query.solve(self, base, &mut |_, values| {
            found.push(values[0]);
            Ok(true)
        })?;
        if !bag {
            return self.set(false, found);
        }
        let mut entries = Vec::new();
        for element in found {
            let count = self.apply_to(closure, element)?;
            entries.push((element, count));
        }
        self.bag(entries)
    }

    /// A set of elements in any order.
    pub(crate) fn set(&self, complement: bool, mut elements: Vec<Value>) -> Evaluated {
        elements.sort_by(|one, other| self.data.arrange(*one, *other));
        elements.dedup();
        let is_pure = elements.iter().all(|element| self.data.values.is_pure(*element));
        Ok(self.data.values.intern(Node::Set { complement, elements: elements.into() }, is_pure)?)
    }

    /// A bag of elements and their numbers in any order.
    fn bag(&mut self, mut entries: Vec<(Value, Value)>) -> Evaluated {
        entries.sort_by(|(one, _), (other, _)| self.data.arrange(*one, *other));
        let mut merged: Vec<(Value, Value)> = Vec::new();
        for (element, count) in entries {
            match merged.last_mut() {
                Some((last, sum)) if *last == element => *sum = self.operate(Operation::Add, &[*sum, count])?,
                _ => merged.push((element, count)),
            }
        }
        merged.retain(|(_, count)| !self.data.values.is_zero(*count));
        let is_pure = merged.iter().all(|(element, count)| self.data.values.is_pure(*element) && self.data.values.is_pure(*count));
        Ok(self.data.values.intern(Node::Bag(merged.into()), is_pure)?)
    }

    /// Whether two sets of which one is given by what is not in it are equal, or the like; none if these are no such sets.
    pub(crate) fn sets_equal(&self, one: Value, other: Value) -> Option<bool> {
        match (self.data.node(one)?, self.data.node(other)?) {
            (Node::Set { complement, elements }, Node::Set { complement: complement2, elements: elements2 }) => {
                if complement != complement2 || elements.len() != elements2.len() {
                    let pure = |elements: &[Value]| elements.iter().all(|element| self.data.values.is_pure(*element));
                    return (pure(elements) && pure(elements2)).then_some(false);
                }
                None
            }
            _ => None,
        }
    }

    /// Whether a value is an element, if that is decided.
    fn member(&mut self, element: Value, collection: Value) -> Result<Option<bool>, Halt> {
        let data = self.data;
        let among = |machine: &Self, elements: &mut dyn Iterator<Item = Value>| {
            let mut decided = Some(false);
            for other in elements {
                match machine.equal(element, other) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => decided = None,
                }
            }
            decided
        };
        Ok(match data.node(collection) {
            Some(Node::Nil | Node::Cons(..)) => {
                let (elements, end) = data.values.elements(collection);
                self.burn(elements.len())?;
                among(self, &mut elements.into_iter()).filter(|found| *found || end == Value::NIL)
            }
            Some(Node::Set { complement, elements }) => among(self, &mut elements.iter().copied()).map(|found| found != *complement),
            Some(Node::Bag(entries)) => among(self, &mut entries.iter().map(|(element, _)| *element)),
            Some(Node::Closure { .. }) => match self.apply_to(collection, element)? {
                Value::TRUE => Some(true),
                Value::FALSE => Some(false),
                number => data.values.as_integer(number).map(|_| !data.values.is_zero(number)),
            },
            Some(Node::Stuck(operation, operands)) => {
                let first = match operands.first() {
                    Some(first) => self.member(element, *first)?,
                    None => None,
                };
                let second = match operands.get(1) {
                    Some(second) => self.member(element, *second)?,
                    None => None,
                };
                match operation {
                    Operation::Union => first.zip(second).map(|(one, other)| one || other),
                    Operation::Intersection => first.zip(second).map(|(one, other)| one && other),
                    Operation::Difference => first.zip(second).map(|(one, other)| one && !other),
                    Operation::Complement(_) => first.map(|one| !one),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// How often an element is in a bag, if that is decided.
    fn count(&mut self, element: Value, bag: Value) -> Result<Option<Value>, Halt> {
        Ok(match self.data.node(bag) {
            Some(Node::Bag(entries)) => match entries.iter().find(|(known, _)| *known == element) {
                Some((_, count)) => Some(*count),
                None if entries.iter().all(|(known, _)| self.equal(*known, element) == Some(false)) => Value::of_small(0),
                None => None,
            },
            Some(Node::Closure { .. }) => Some(self.apply_to(bag, element)?),
            _ => None,
        })
    }

    pub(crate) fn on_collections(&mut self, operation: Operation, operands: &[Value]) -> Result<Option<Value>, Halt> {
        use Operation::*;
        let data = self.data;
        Ok(match (operation, operands) {
            (SetOf, _) => Some(self.set(false, operands.to_vec())?),
            (BagOf, _) => {
                let entries = operands.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                Some(self.bag(entries)?)
            }
            (Member, [element, collection]) => self.member(*element, *collection)?.map(Value::boolean),
            (Count, [element, bag]) => self.count(*element, *bag)?,
            (Union | Intersection | Difference, [one, other]) => {
                let (Some(Node::Set { complement, elements }), Some(Node::Set { complement: complement2, elements: elements2 })) =
                    (data.node(*one), data.node(*other))
                else {
                    return Ok(None);
                };
                // A difference is an intersection with the complement.
                let (union, second) = (operation == Union, if operation == Difference { !complement2 } else { *complement2 });
                self.combined(union, (*complement, elements), (second, elements2))?
            }
            (Complement(sort), [set]) => match (data.node(*set), data.all_values(sort)) {
                (Some(Node::Set { complement: false, elements }), Some(all)) => {
                    let others = all.iter().copied().filter(|value| !elements.contains(value)).collect();
                    Some(self.set(false, others)?)
                }
                (Some(Node::Set { complement, elements }), _) => Some(self.set(!complement, elements.to_vec())?),
                _ => None,
            },
            (Subset | ProperSubset, [one, other]) => {
                self.subset(*one, *other)?.map(|is_subset| Value::boolean(is_subset && (operation == Subset || one != other)))
            }
            (BagUnion | BagDifference | BagIntersection, [one, other]) => {
                let (Some(Node::Bag(entries)), Some(Node::Bag(entries2))) = (data.node(*one), data.node(*other)) else { return Ok(None) };
                let mut result = Vec::new();
                if operation == BagUnion {
                    result = [&entries[..], &entries2[..]].concat();
                } else {
                    for (element, count) in entries {
                        let other = entries2.iter().find(|(known, _)| known == element).map_or(Value::of_small(0), |(_, count)| Some(*count));
                        let Some(other) = other else { return Ok(None) };
                        let left = if operation == BagIntersection {
                            self.operate(Minimum, &[*count, other])?
                        } else {
                            let left = self.operate(Subtract, &[*count, other])?;
                            self.operate(Maximum, &[left, Value::of_small(0).unwrap_or(left)])?
                        };
                        result.push((*element, left));
                    }
                }
                Some(self.bag(result)?)
            }
            (SetToBag, [set]) => match (data.node(*set), Value::of_small(1)) {
                (Some(Node::Set { complement: false, elements }), Some(one)) => {
                    Some(self.bag(elements.iter().map(|element| (*element, one)).collect())?)
                }
                _ => None,
            },
            (BagToSet, [bag]) => match data.node(*bag) {
                Some(Node::Bag(entries)) => Some(self.set(false, entries.iter().map(|(element, _)| *element).collect())?),
                _ => None,
            },
            (Update, [function, place, value]) => Some(self.updated(*function, *place, *value)?),
            _ => None,
        })
    }

    /// A union or intersection of sets, each given by its elements or by what is not in it. None if elements cannot be told apart.
    fn combined(&mut self, union: bool, one: (bool, &[Value]), other: (bool, &[Value])) -> Result<Option<Value>, Halt> {
        let work = if matches!((union, one.0, other.0), (true, false, false) | (false, true, true)) { 1 } else { other.1.len() };
        self.burn((one.1.len() + other.1.len()).saturating_mul(work))?;
        let contains = |elements: &[Value], element: Value| elements.iter().any(|known| self.equal(*known, element) == Some(true));
        let without =
            |elements: &[Value], others: &[Value]| elements.iter().copied().filter(|element| !contains(others, *element)).collect::<Vec<_>>();
        let both = |elements: &[Value], others: &[Value]| elements.iter().copied().filter(|element| contains(others, *element)).collect::<Vec<_>>();
        let (first, second) = (one.1, other.1);
        let (complement, elements) = match (union, one.0, other.0) {
            (true, false, false) | (false, true, true) => (one.0, [first, second].concat()),
            (true, true, true) | (false, false, false) => (one.0, both(first, second)),
            (true, true, false) => (true, without(first, second)),
            (true, false, true) => (true, without(second, first)),
            (false, false, true) => (false, without(first, second)),
            (false, true, false) => (false, without(second, first)),
        };
        Ok(Some(self.set(complement, elements)?))
    }

    fn subset(&mut self, one: Value, other: Value) -> Result<Option<bool>, Halt> {
        let data = self.data;
        match (data.node(one), data.node(other)) {
            (Some(Node::Set { complement: false, elements }), Some(_)) => {
                let mut all = Some(true);
                for element in elements {
                    match self.member(*element, other)? {
                        Some(true) => {}
                        Some(false) => return Ok(Some(false)),
                        None => all = None,
                    }
                }
                Ok(all)
            }
            (Some(Node::Set { complement: true, elements }), Some(Node::Set { complement: true, elements: elements2 })) => {
                Ok(Some(elements2.iter().all(|element| elements.contains(element))))
            }
            (Some(Node::Bag(entries)), Some(Node::Bag(_))) => {
                for (element, count) in entries {
                    let Some(most) = self.count(*element, other)? else { return Ok(None) };
                    if data.compare(*count, most).is_none_or(|order| order.is_gt()) {
                        return Ok(Some(false));
                    }
                }
                Ok(Some(true))
            }
            _ => Ok(None),
        }
    }

    /// A function with one place changed. Places that have the value they had before any change are not kept.
    fn updated(&mut self, function: Value, place: Value, value: Value) -> Evaluated {
        let (base, mut entries) = match self.data.node(function) {
            Some(Node::Update { base, entries }) => (*base, entries.to_vec()),
            _ => (function, Vec::new()),
        };
        entries.retain(|(known, _)| *known != place);
        let is_table = base == Value::UNIT;
        if is_table || self.apply_to(base, place)? != value {
            entries.push((place, value));
            entries.sort_by(|(one, _), (other, _)| self.data.arrange(*one, *other));
        }
        if entries.is_empty() {
            return Ok(base);
        }
        Ok(self.data.values.intern(Node::Update { base, entries: entries.into() }, false)?)
    }
}
