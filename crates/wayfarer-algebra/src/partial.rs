//! Search over values that are known in part. A list may be known to have two elements or more, a number to lie in an interval; a condition that is false of all such values
//! cuts them off at once. So `#l < 4` bounds the lists, and `x + y <= n` the numbers.

use crate::code::Code;
use crate::machine::{Halt, Machine};
use crate::matching::{Test, Tree, parts_of};
use crate::query::Search;
use crate::specification::{FunctionId, Operation, Role, Sort, SortId};
use crate::value::{Node, Value};
use std::collections::VecDeque;

/// So many values known in part are looked at before a search is given up.
const MOST: usize = 100_000;
/// So many parts of such values are copied before a search is given up: a value can get deeper with every split, and each split copies all of it.
const MOST_PARTS: usize = 4_000_000;
/// Applications of functions within each other are followed to this depth.
const DEPTH: u32 = 24;

/// A value as far as it is known.
#[derive(Clone, Debug)]
pub(crate) enum Partial {
    Known(Value),
    /// An integer between bounds.
    Between(Option<i64>, Option<i64>, SortId),
    /// A constructor, or a list cell, with its arguments.
    Made(Option<FunctionId>, Vec<Partial>),
    /// Any value of a sort.
    Any(SortId),
    /// Nothing is known, and nothing can be found out by splitting.
    Unknown,
}

/// Finds all values of the variables for which all conditions hold; says whether the caller wants more.
pub(crate) fn search<'d>(
    search: &Search,
    machine: &mut Machine<'d>,
    base: usize,
    take: &mut dyn FnMut(&mut Machine<'d>, usize) -> Result<bool, Halt>,
) -> Result<bool, Halt> {
    let mut queue: VecDeque<Vec<Partial>> = VecDeque::new();
    queue.push_back(search.variables.iter().map(|(_, sort)| any(machine, *sort)).collect());
    let (mut looked_at, mut copied) = (0, 0);
    let frame: Vec<Partial> = machine.stack[base..].iter().map(|value| Partial::Known(*value)).collect();
    while let Some(candidate) = queue.pop_front() {
        looked_at += 1;
        copied += candidate.iter().map(size).sum::<usize>();
        if looked_at > MOST || copied > MOST_PARTS {
            return Err(Halt::Unbounded(search.variables[0].1));
        }
        machine.fuel = machine.fuel.checked_sub(1).ok_or(Halt::Fuel)?;
        let mut environment = frame.clone();
        for ((slot, _), partial) in search.variables.iter().zip(&candidate) {
            environment[*slot as usize] = partial.clone();
        }
        let mut is_possible = true;
        let mut is_certain = true;
        for condition in &search.conditions {
            match guess(machine, condition, &mut environment, 0)? {
                Partial::Known(Value::TRUE) => {}
                Partial::Known(Value::FALSE) => {
                    is_possible = false;
                    break;
                }
                _ => is_certain = false,
            }
        }
        if !is_possible {
            continue;
        }
        let Some(index) = candidate.iter().position(|partial| !matches!(partial, Partial::Known(_))) else {
            if !is_certain {
                return Err(Halt::Undecided);
            }
            for ((slot, _), partial) in search.variables.iter().zip(&candidate) {
                if let Partial::Known(value) = partial {
                    machine.stack[base + *slot as usize] = *value;
                }
            }
            if !take(machine, base)? {
                return Ok(false);
            }
            continue;
        };
        let sort = search.variables[index].1;
        let Some(parts) = split(machine, &candidate[index])? else { return Err(Halt::Unbounded(sort)) };
        for part in parts {
            queue.push_back(with_part(&candidate, index, part));
        }
    }
    Ok(true)
}

/// The same parts with another one in one place. The one that it replaces may be large and is not copied.
fn with_part(parts: &[Partial], index: usize, part: Partial) -> Vec<Partial> {
    let mut all = Vec::with_capacity(parts.len());
    all.extend_from_slice(&parts[..index]);
    all.push(part);
    all.extend_from_slice(&parts[index + 1..]);
    all
}

/// How many parts a value has, as far as it is known.
fn size(partial: &Partial) -> usize {
    let (mut count, mut open) = (0, vec![partial]);
    while let Some(partial) = open.pop() {
        count += 1;
        if let Partial::Made(_, parts) = partial {
            open.extend(parts);
        }
    }
    count
}

/// Nothing but its sort is known of a value.
fn any(machine: &Machine, sort: SortId) -> Partial {
    match machine.data.sorts.get(sort.index()) {
        Some(Sort::Positive) => Partial::Between(Some(1), None, sort),
        Some(Sort::Natural) => Partial::Between(Some(0), None, sort),
        Some(Sort::Integer) => Partial::Between(None, None, sort),
        _ => Partial::Any(sort),
    }
}

/// Splits a value that is known in part into several that are known better; none if there is no way to.
fn split(machine: &Machine, partial: &Partial) -> Result<Option<Vec<Partial>>, Halt> {
    let data = machine.data;
    Ok(Some(match partial {
        Partial::Known(_) | Partial::Unknown => return Ok(None),
        Partial::Between(low, high, sort) => {
            let between = |low: Option<i64>, high: Option<i64>| match (low, high) {
                (Some(low), Some(high)) if low == high => data.values.integer64(low).map(Partial::Known),
                _ => Ok(Partial::Between(low, high, *sort)),
            };
            match (*low, *high) {
                (None, None) => vec![between(Some(0), None)?, between(None, Some(-1))?],
                (Some(low), None) => {
                    let cut = low.saturating_add(low.abs());
                    vec![between(Some(low), Some(cut))?, between(Some(cut.saturating_add(1)), None)?]
                }
                (None, Some(high)) => {
                    let cut = high.saturating_sub(high.abs());
                    vec![between(Some(cut), Some(high))?, between(None, Some(cut.saturating_sub(1)))?]
                }
                (Some(low), Some(high)) => {
                    let middle = low + (high - low) / 2;
                    vec![between(Some(low), Some(middle))?, between(Some(middle + 1), Some(high))?]
                }
            }
        }
        Partial::Made(head, parts) => {
            let Some(index) = parts.iter().position(|part| !matches!(part, Partial::Known(_))) else { return Ok(None) };
            let Some(split) = split(machine, &parts[index])? else { return Ok(None) };
            let mut all = Vec::new();
            for part in split {
                all.push(made(machine, *head, with_part(parts, index, part))?);
            }
            all
        }
        Partial::Any(sort) => {
            if let Some(values) = data.all_values(*sort)
                && values.len() <= 256
            {
                return Ok(Some(values.iter().map(|value| Partial::Known(*value)).collect()));
            }
            match data.sorts.get(sort.index()) {
                Some(Sort::List(element)) => vec![Partial::Known(Value::NIL), Partial::Made(None, vec![any(machine, *element), Partial::Any(*sort)])],
                Some(Sort::Data { constructors, .. }) if !constructors.is_empty() => {
                    let mut all = Vec::new();
                    for constructor in constructors {
                        let parts = data.functions[constructor.index()].arguments.iter().map(|sort| any(machine, *sort)).collect();
                        all.push(made(machine, Some(*constructor), parts)?);
                    }
                    all
                }
                _ => return Ok(None),
            }
        }
    }))
}

/// A constructor with its arguments; a value if all of them are.
fn made(machine: &Machine, head: Option<FunctionId>, parts: Vec<Partial>) -> Result<Partial, Halt> {
    let known: Option<Vec<Value>> = parts.iter().map(|part| if let Partial::Known(value) = part { Some(*value) } else { None }).collect();
    Ok(match (known, head) {
        (Some(values), Some(function)) => Partial::Known(machine.data.term(function, &values)?),
        (Some(values), None) => Partial::Known(machine.data.values.cons(values[0], values[1])?),
        (None, _) => Partial::Made(head, parts),
    })
}

/// The value of an expression as far as it can be told.
fn guess(machine: &mut Machine, code: &Code, environment: &mut Vec<Partial>, depth: u32) -> Result<Partial, Halt> {
    Ok(match code {
        Code::Constant(value) => Partial::Known(*value),
        Code::Slot(slot) => environment.get(*slot as usize).cloned().unwrap_or(Partial::Unknown),
        Code::Operation(operation, operands) => guess_operation(machine, *operation, operands, environment, depth)?,
        Code::Call(function, arguments) => {
            let mut parts = Vec::new();
            for argument in arguments {
                parts.push(guess(machine, argument, environment, depth)?);
            }
            guess_call(machine, *function, parts, depth)?
        }
        Code::Let(definitions, body) => {
            for (slot, definition) in definitions {
                let value = guess(machine, definition, environment, depth)?;
                if environment.len() <= *slot as usize {
                    environment.resize(*slot as usize + 1, Partial::Unknown);
                }
                environment[*slot as usize] = value;
            }
            guess(machine, body, environment, depth)?
        }
        Code::Apply(..) | Code::Closure(..) | Code::Quantified { .. } | Code::Comprehension { .. } => {
            let values: Option<Vec<Value>> =
                environment.iter().map(|part| if let Partial::Known(value) = part { Some(*value) } else { None }).collect();
            match values {
                Some(values) => Partial::Known(in_frame(machine, code, &values)?),
                None => Partial::Unknown,
            }
        }
    })
}

/// Evaluates an expression in a frame of its own.
fn in_frame(machine: &mut Machine, code: &Code, values: &[Value]) -> Result<Value, Halt> {
    let frame = machine.stack.len();
    machine.stack.extend_from_slice(values);
    let result = machine.evaluate(code, frame);
    machine.stack.truncate(frame);
    result
}

fn guess_operation(
    machine: &mut Machine,
    operation: Operation,
    operands: &[Code],
    environment: &mut Vec<Partial>,
    depth: u32,
) -> Result<Partial, Halt> {
    use Operation::*;
    let truth = |decided: Option<bool>| decided.map_or(Partial::Unknown, |truth| Partial::Known(Value::boolean(truth)));
    if operation == If {
        return match guess(machine, &operands[0], environment, depth)? {
            Partial::Known(Value::TRUE) => guess(machine, &operands[1], environment, depth),
            Partial::Known(Value::FALSE) => guess(machine, &operands[2], environment, depth),
            _ => Ok(Partial::Unknown),
        };
    }
    if matches!(operation, And | Or | Implies) {
        let first = decided(&guess(machine, &operands[0], environment, depth)?).map(|truth| truth != (operation == Implies));
        let decisive = operation != And;
        if first == Some(decisive) {
            return Ok(truth(Some(decisive)));
        }
        let second = decided(&guess(machine, &operands[1], environment, depth)?);
        if second == Some(decisive) {
            return Ok(truth(Some(decisive)));
        }
        return Ok(truth(first.and(second)));
    }
    let mut parts = Vec::new();
    for operand in operands {
        parts.push(guess(machine, operand, environment, depth)?);
    }
    let known: Option<Vec<Value>> = parts.iter().map(|part| if let Partial::Known(value) = part { Some(*value) } else { None }).collect();
    if let Some(values) = known {
        return Ok(Partial::Known(machine.operate(operation, &values)?));
    }
    let data = machine.data;
    let interval = |part: &Partial| match part {
        Partial::Known(value) => value.small().map(|number| (Some(number), Some(number))),
        Partial::Between(low, high, _) => Some((*low, *high)),
        _ => None,
    };
    let intervals = parts.first().and_then(interval).zip(parts.get(1).and_then(interval));
    let between = |low: Option<i64>, high: Option<i64>| Partial::Between(low, high, SortId(u32::MAX));
    Ok(match (operation, parts.as_slice()) {
        (Not, [part]) => truth(decided(part).map(|truth| !truth)),
        (Equal, [one, other]) => truth(same(machine, one, other)),
        (Unequal, [one, other]) => truth(same(machine, one, other).map(|same| !same)),
        (Less, _) => truth(intervals.and_then(|(one, other)| below(one, other, true))),
        (LessEqual, _) => truth(intervals.and_then(|(one, other)| below(one, other, false))),
        (Greater, _) => truth(intervals.and_then(|(one, other)| below(other, one, true))),
        (GreaterEqual, _) => truth(intervals.and_then(|(one, other)| below(other, one, false))),
        (Add, _) => intervals.map_or(Partial::Unknown, |(one, other)| between(sum(one.0, other.0), sum(one.1, other.1))),
        (Subtract, _) => intervals.map_or(Partial::Unknown, |(one, other)| between(difference(one.0, other.1), difference(one.1, other.0))),
        (Multiply, _) => match intervals {
            Some(((Some(low), high), (Some(low2), high2))) if low >= 0 && low2 >= 0 => {
                between(low.checked_mul(low2).or(Some(i64::MAX)), high.zip(high2).and_then(|(high, high2)| high.checked_mul(high2)))
            }
            _ => Partial::Unknown,
        },
        (Successor, [part]) => interval(part).map_or(Partial::Unknown, |(low, high)| between(sum(low, Some(1)), sum(high, Some(1)))),
        (Predecessor, [part]) => interval(part).map_or(Partial::Unknown, |(low, high)| between(difference(low, Some(1)), difference(high, Some(1)))),
        (Negate, [part]) => interval(part).map_or(Partial::Unknown, |(low, high)| between(difference(Some(0), high), difference(Some(0), low))),
        (ToPositive | ToNatural | ToInteger | ToReal, [part @ Partial::Between(..)]) => part.clone(),
        (Size, [part]) => {
            let (mut part, mut cells) = (part, 0);
            loop {
                match part {
                    Partial::Made(None, parts) => (part, cells) = (&parts[1], cells + 1),
                    Partial::Known(value) => {
                        let (elements, end) = data.values.elements(*value);
                        break if end == Value::NIL {
                            Partial::Known(data.values.integer64(cells + elements.len() as i64)?)
                        } else {
                            Partial::Unknown
                        };
                    }
                    Partial::Any(_) => break between(Some(cells), None),
                    _ => break Partial::Unknown,
                }
            }
        }
        (Head, [Partial::Made(None, parts)]) => parts[0].clone(),
        (Tail, [Partial::Made(None, parts)]) => parts[1].clone(),
        (Cons, [_, _]) => made(machine, None, parts)?,
        (ListOf, _) => parts.into_iter().rev().try_fold(Partial::Known(Value::NIL), |tail, head| made(machine, None, vec![head, tail]))?,
        _ => Partial::Unknown,
    })
}

fn decided(partial: &Partial) -> Option<bool> {
    match partial {
        Partial::Known(Value::TRUE) => Some(true),
        Partial::Known(Value::FALSE) => Some(false),
        _ => None,
    }
}

fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one?.checked_add(other?)
}

fn difference(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one?.checked_sub(other?)
}

type Interval = (Option<i64>, Option<i64>);

/// Whether all numbers of one interval are below all of another, or none of them is.
fn below(one: Interval, other: Interval, strict: bool) -> Option<bool> {
    let less = |one: i64, other: i64| one < other || (!strict && one == other);
    if one.1.zip(other.0).is_some_and(|(high, low)| less(high, low)) {
        return Some(true);
    }
    one.0.zip(other.1).is_some_and(|(low, high)| !less(low, high)).then_some(false)
}

/// Whether two values are equal, as far as they are known.
fn same(machine: &Machine, one: &Partial, other: &Partial) -> Option<bool> {
    let data = machine.data;
    match (one, other) {
        (Partial::Known(one), Partial::Known(other)) => data.equal(*one, *other),
        (Partial::Between(low, high, _), Partial::Known(value)) | (Partial::Known(value), Partial::Between(low, high, _)) => {
            let number = value.small()?;
            (low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high)).then_some(false)
        }
        (Partial::Between(low, high, _), Partial::Between(low2, high2, _)) => {
            let apart = high.zip(*low2).is_some_and(|(high, low)| high < low) || high2.zip(*low).is_some_and(|(high, low)| high < low);
            apart.then_some(false)
        }
        (Partial::Made(head, parts), Partial::Made(head2, parts2)) => {
            if head != head2 {
                return Some(false);
            }
            all_same(machine, parts, parts2)
        }
        (Partial::Made(head, parts), Partial::Known(value)) | (Partial::Known(value), Partial::Made(head, parts)) => match (head, data.node(*value)?)
        {
            (None, Node::Nil) => Some(false),
            (None, Node::Cons(first, rest)) => all_same(machine, parts, &[Partial::Known(*first), Partial::Known(*rest)]),
            (Some(head), Node::Term(head2, arguments)) if matches!(data.functions[head2.index()].role, Role::Constructor(_)) => {
                if head != head2 {
                    return Some(false);
                }
                let arguments: Vec<Partial> = arguments.iter().map(|argument| Partial::Known(*argument)).collect();
                all_same(machine, parts, &arguments)
            }
            _ => None,
        },
        _ => None,
    }
}

fn all_same(machine: &Machine, one: &[Partial], other: &[Partial]) -> Option<bool> {
    let mut all = Some(true);
    for (one, other) in one.iter().zip(other) {
        match same(machine, one, other) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

fn guess_call(machine: &mut Machine, function: FunctionId, parts: Vec<Partial>, depth: u32) -> Result<Partial, Halt> {
    let data = machine.data;
    let known: Option<Vec<Value>> = parts.iter().map(|part| if let Partial::Known(value) = part { Some(*value) } else { None }).collect();
    if let Some(values) = known {
        let codes: Box<[Code]> = values.into_iter().map(Code::Constant).collect();
        return Ok(Partial::Known(machine.evaluate(&Code::Call(function, codes), 0)?));
    }
    let symbol = &data.functions[function.index()];
    match (&symbol.role, parts.as_slice()) {
        (Role::Constructor(_), _) if !data.has_equations(function) && parts.len() == symbol.arguments.len() => {
            return made(machine, Some(function), parts);
        }
        (Role::Recogniser(constructor), [Partial::Made(Some(head), _)]) => return Ok(Partial::Known(Value::boolean(head == constructor))),
        (Role::Projection(places), [Partial::Made(Some(head), arguments)]) => {
            if let Some((_, place)) = places.iter().find(|(constructor, _)| constructor == head) {
                return Ok(arguments.get(*place).cloned().unwrap_or(Partial::Unknown));
            }
        }
        _ => {}
    }
    let Some(rules) = data.rules[function.index()].iter().find(|rules| rules.arguments as usize == parts.len()) else { return Ok(Partial::Unknown) };
    if depth >= DEPTH {
        return Ok(Partial::Unknown);
    }
    machine.fuel = machine.fuel.checked_sub(1).ok_or(Halt::Fuel)?;
    stacker::maybe_grow(96 << 10, 4 << 20, || walk(machine, &rules.tree, parts, depth + 1))
}

/// Walks a decision tree as far as the values are known.
fn walk(machine: &mut Machine, mut tree: &Tree, arguments: Vec<Partial>, depth: u32) -> Result<Partial, Halt> {
    let data = machine.data;
    let mut frame = arguments.clone();
    loop {
        match tree {
            Tree::Fail => return Ok(Partial::Unknown),
            Tree::Restart(next) => {
                frame.clone_from(&arguments);
                tree = next;
            }
            Tree::Switch { place, cases, otherwise } => {
                let value = frame[*place as usize].clone();
                let mut found = None;
                for (test, next) in cases {
                    let matches = match (&value, test) {
                        (Partial::Known(value), Test::Constant(constant)) => Some(value == constant),
                        (Partial::Known(value), Test::Cons) => Some(matches!(data.node(*value), Some(Node::Cons(..)))),
                        (Partial::Known(value), Test::Head(function, parts)) => Some(
                            matches!(data.node(*value), Some(Node::Term(head, arguments)) if head == function && arguments.len() == *parts as usize),
                        ),
                        (Partial::Made(None, _), Test::Cons) => Some(true),
                        (Partial::Made(Some(head), parts), Test::Head(function, count)) => Some(head == function && parts.len() == *count as usize),
                        (Partial::Made(..), _) => Some(false),
                        (Partial::Between(low, high, _), Test::Constant(constant)) => {
                            let number = constant.small();
                            let outside = number.is_some_and(|number| low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high));
                            if outside { Some(false) } else { None }
                        }
                        _ => None,
                    };
                    match matches {
                        Some(true) => {
                            found = Some((test, next));
                            break;
                        }
                        Some(false) => {}
                        None => return Ok(Partial::Unknown),
                    }
                }
                let Some((test, next)) = found else {
                    tree = otherwise;
                    continue;
                };
                if parts_of(test) > 0 {
                    match value {
                        Partial::Made(_, parts) => frame.extend(parts),
                        Partial::Known(value) => match data.node(value) {
                            Some(Node::Cons(head, tail)) => frame.extend([Partial::Known(*head), Partial::Known(*tail)]),
                            Some(Node::Term(_, parts)) => frame.extend(parts.iter().map(|part| Partial::Known(*part))),
                            _ => return Ok(Partial::Unknown),
                        },
                        _ => return Ok(Partial::Unknown),
                    }
                }
                tree = next;
            }
            Tree::Leaf { equal, condition, result, slots, next } => {
                let length = frame.len();
                frame.resize(length.max(*slots as usize), Partial::Known(Value::UNIT));
                let mut usable = Some(true);
                for (one, other) in equal {
                    match same(machine, &frame[*one as usize], &frame[*other as usize]) {
                        Some(true) => {}
                        Some(false) => usable = Some(false),
                        None => usable = usable.filter(|usable| !*usable),
                    }
                }
                if usable == Some(true)
                    && let Some(condition) = condition
                {
                    usable = decided(&guess(machine, condition, &mut frame, depth)?);
                }
                match usable {
                    Some(true) => return guess(machine, result, &mut frame, depth),
                    Some(false) => {
                        frame.truncate(length);
                        tree = next;
                    }
                    None => return Ok(Partial::Unknown),
                }
            }
        }
    }
}
