//! Finding all values of variables that make conditions true: for sums, quantifiers and comprehensions.
//!
//! A plan is made once. It takes variables one after another: those that a condition says the value of, members of known collections, values of small sorts, and
//! integers between bounds. Conditions are checked as soon as all their variables have values. Variables for which there is no such way are searched for together, with
//! conditions evaluated over values that are known in part ([`crate::partial`]).

use crate::code::{Code, Compiler, TooMany, free};
use crate::machine::{Halt, Machine};
use crate::specification::{Operation, Sort, SortId, Term, VariableId};
use crate::value::{Node, Value};
use num_bigint::BigInt;

/// How much of the solutions is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    First,
    All,
}

/// A plan.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Conditions without variables of the plan.
    checks: Vec<Code>,
    steps: Vec<Step>,
    /// The places of the variables, in the order of their declaration.
    slots: Vec<u16>,
    search: Option<Search>,
}

/// One variable.
#[derive(Clone, Debug)]
struct Step {
    slot: u16,
    sort: SortId,
    way: Way,
    /// Conditions that can be decided now.
    checks: Vec<Code>,
}

/// How to find the values of a variable.
#[derive(Clone, Debug)]
enum Way {
    Value(Code),
    Among(Code),
    All,
    /// Between bounds, each with whether it is excluded itself.
    Between {
        low: Vec<(Code, bool)>,
        high: Vec<(Code, bool)>,
    },
}

/// Variables that are searched for together.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) variables: Vec<(u16, SortId)>,
    pub(crate) conditions: Vec<Code>,
}

/// Takes the values of the variables; says whether to go on.
pub(crate) type Take<'a, 'd> = dyn FnMut(&mut Machine<'d>, &[Value]) -> Result<bool, Halt> + 'a;

/// Sorts of at most this many values are enumerated before bounds are looked at.
const SMALL: usize = 16;

/// Makes a plan. The variables have their places in the compiler's frame already.
pub(crate) fn plan(compiler: &mut Compiler, variables: &[VariableId], conjuncts: &[Term], wanted: Wanted) -> Result<Query, TooMany> {
    let _ = wanted;
    let mut open: Vec<VariableId> = variables.to_vec();
    let mut left: Vec<(Term, Vec<VariableId>)> = Vec::new();
    let mut checks = Vec::new();
    for conjunct in conjuncts {
        let mut used = Vec::new();
        free(conjunct, &mut used);
        used.retain(|variable| open.contains(variable));
        used.sort();
        used.dedup();
        if used.is_empty() {
            checks.push(compiler.compile(conjunct)?);
        } else {
            left.push((conjunct.clone(), used));
        }
    }
    let slots = variables.iter().filter_map(|variable| compiler.slot(*variable)).collect();
    let mut query = Query { checks, steps: Vec::new(), slots, search: None };
    while !open.is_empty() {
        let Some((variable, way, used_up)) = next(compiler, &open, &left)? else { break };
        open.retain(|other| *other != variable);
        let mut index = 0;
        left.retain(|_| {
            index += 1;
            !used_up.contains(&(index - 1))
        });
        let mut checks = Vec::new();
        let mut later = Vec::new();
        for (conjunct, mut used) in left {
            used.retain(|other| *other != variable);
            if used.is_empty() { checks.push(compiler.compile(&conjunct)?) } else { later.push((conjunct, used)) }
        }
        left = later;
        let (slot, sort) = (compiler.slot(variable).ok_or(TooMany)?, compiler.sort_of(variable));
        query.steps.push(Step { slot, sort, way, checks });
    }
    if !open.is_empty() {
        let mut variables = Vec::new();
        for variable in &open {
            variables.push((compiler.slot(*variable).ok_or(TooMany)?, compiler.sort_of(*variable)));
        }
        let conditions = left.iter().map(|(conjunct, _)| compiler.compile(conjunct)).collect::<Result<_, _>>()?;
        query.search = Some(Search { variables, conditions });
    }
    Ok(query)
}

/// The next variable, how to find its values, and which conditions that makes true by itself.
fn next(compiler: &mut Compiler, open: &[VariableId], left: &[(Term, Vec<VariableId>)]) -> Result<Option<(VariableId, Way, Vec<usize>)>, TooMany> {
    let is_known = |term: &Term| {
        let mut used = Vec::new();
        free(term, &mut used);
        !used.iter().any(|variable| open.contains(variable))
    };
    for (index, (conjunct, _)) in left.iter().enumerate() {
        match conjunct {
            Term::Variable(variable) if open.contains(variable) => {
                return Ok(Some((*variable, Way::Value(Code::Constant(Value::TRUE)), vec![index])));
            }
            Term::Operation(Operation::Not, operands) => {
                if let [Term::Variable(variable)] = operands.as_slice()
                    && open.contains(variable)
                {
                    return Ok(Some((*variable, Way::Value(Code::Constant(Value::FALSE)), vec![index])));
                }
            }
            Term::Operation(Operation::Equal, operands) => {
                if let [one, other] = operands.as_slice() {
                    for (variable, value) in [(one, other), (other, one)] {
                        if let Term::Variable(variable) = variable
                            && open.contains(variable)
                            && is_known(value)
                        {
                            return Ok(Some((*variable, Way::Value(compiler.compile(value)?), vec![index])));
                        }
                    }
                    for (pattern, value) in [(one, other), (other, one)] {
                        // A variable inside of constructors is the part of the value at its place. That the value is of this make is checked with the whole condition.
                        if is_known(value)
                            && let Some((variable, part)) = inside(compiler, pattern, value.clone(), open, 0)
                        {
                            return Ok(Some((variable, Way::Value(compiler.compile(&part)?), Vec::new())));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    for (index, (conjunct, _)) in left.iter().enumerate() {
        if let Term::Operation(Operation::Member, operands) = conjunct
            && let [Term::Variable(variable), collection] = operands.as_slice()
            && open.contains(variable)
            && is_known(collection)
            && may_be_listed(collection)
        {
            return Ok(Some((*variable, Way::Among(compiler.compile(collection)?), vec![index])));
        }
    }
    let count = |compiler: &Compiler, variable: VariableId| compiler.data.all_values(compiler.sort_of(variable)).map(|values| values.len());
    let smallest = open.iter().filter_map(|variable| count(compiler, *variable).map(|count| (count, *variable))).min_by_key(|(count, _)| *count);
    if let Some((count, variable)) = smallest
        && count <= SMALL
    {
        return Ok(Some((variable, Way::All, Vec::new())));
    }
    for variable in open {
        let lowest = match compiler.data.sorts.get(compiler.sort_of(*variable).index()) {
            Some(Sort::Positive) => Some(1),
            Some(Sort::Natural) => Some(0),
            Some(Sort::Integer) => None,
            _ => continue,
        };
        let (mut low, mut high, mut used_up) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(lowest) = lowest.and_then(Value::of_small) {
            low.push((Code::Constant(lowest), false));
        }
        for (index, (conjunct, _)) in left.iter().enumerate() {
            let Term::Operation(operation, operands) = conjunct else { continue };
            let [one, other] = operands.as_slice() else { continue };
            let is_variable = |term: &Term| matches!(term, Term::Variable(own) if own == variable);
            let (bound, is_upper, excluded) = match operation {
                Operation::Less if is_variable(one) => (other, true, true),
                Operation::LessEqual if is_variable(one) => (other, true, false),
                Operation::Greater if is_variable(one) => (other, false, true),
                Operation::GreaterEqual if is_variable(one) => (other, false, false),
                Operation::Less if is_variable(other) => (one, false, true),
                Operation::LessEqual if is_variable(other) => (one, false, false),
                Operation::Greater if is_variable(other) => (one, true, true),
                Operation::GreaterEqual if is_variable(other) => (one, true, false),
                _ => continue,
            };
            if is_known(bound) {
                let bound = (compiler.compile(bound)?, excluded);
                if is_upper {
                    high.push(bound)
                } else {
                    low.push(bound)
                }
                used_up.push(index);
            }
        }
        if !low.is_empty() && !high.is_empty() {
            return Ok(Some((*variable, Way::Between { low, high }, used_up)));
        }
    }
    Ok(smallest.map(|(_, variable)| (variable, Way::All, Vec::new())))
}

/// A variable inside of constructors, and the part of a value at its place.
fn inside(compiler: &Compiler, pattern: &Term, value: Term, open: &[VariableId], depth: u32) -> Option<(VariableId, Term)> {
    if depth > 32 {
        return None;
    }
    if let Term::Call(function, arguments) = pattern
        && let Some(meaning) = compiler.data.unabbreviated(*function, arguments)
    {
        return match &meaning {
            Term::Variable(variable) => open.contains(variable).then_some((*variable, value)),
            _ => inside(compiler, &meaning, value, open, depth + 1),
        };
    }
    let (parts, part): (&[Term], &dyn Fn(usize) -> Operation) = match pattern {
        Term::Call(function, parts) if compiler.data.is_plain_constructor(*function) => (parts, &|index| Operation::Part(*function, index as u32)),
        Term::Operation(Operation::Cons, parts) => (parts, &|index| if index == 0 { Operation::Head } else { Operation::Tail }),
        _ => return None,
    };
    for (index, inner) in parts.iter().enumerate() {
        let value = Term::Operation(part(index), vec![value.clone()]);
        if let Term::Variable(variable) = inner {
            if open.contains(variable) {
                return Some((*variable, value));
            }
        } else if let Some(found) = inside(compiler, inner, value, open, depth + 1) {
            return Some(found);
        }
    }
    None
}

/// Whether a collection is likely to be given by its elements.
fn may_be_listed(collection: &Term) -> bool {
    !matches!(collection, Term::Comprehension { .. } | Term::Operation(Operation::Complement(_), _))
}

impl Query {
    /// Whether the values are found without a search that may not end.
    pub(crate) fn is_bounded(&self) -> bool {
        self.search.is_none()
    }

    /// About how many candidates are tried; none if that cannot be said.
    pub(crate) fn candidates(&self, machine: &crate::data::Data) -> Option<usize> {
        self.search.is_none().then_some(())?;
        let mut all: usize = 1;
        for step in &self.steps {
            match step.way {
                Way::Value(_) => {}
                Way::All => all = all.checked_mul(machine.all_values(step.sort)?.len())?,
                Way::Among(_) | Way::Between { .. } => all = all.checked_mul(8)?,
            }
        }
        Some(all)
    }

    /// Whether a condition narrows the values of the variables that are searched for.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.conditions.is_empty())
    }

    /// Finds all values, in the frame that begins at `base`, until `take` says that it has enough.
    pub(crate) fn solve<'d>(&self, machine: &mut Machine<'d>, base: usize, take: &mut Take<'_, 'd>) -> Result<(), Halt> {
        match holds(machine, &self.checks, base)? {
            Some(false) => Ok(()),
            decided => self.go(machine, base, 0, decided.is_none(), take).map(|_| ()),
        }
    }

    /// Goes on with the variable of step `at`. `doubtful` says that some condition could not be decided: that matters only if no other condition is false.
    fn go<'d>(&self, machine: &mut Machine<'d>, base: usize, at: usize, doubtful: bool, take: &mut Take<'_, 'd>) -> Result<bool, Halt> {
        let Some(step) = self.steps.get(at) else {
            return match &self.search {
                _ if doubtful => Err(Halt::Undecided),
                None => {
                    let values: Vec<Value> = self.slots.iter().map(|slot| machine.stack[base + *slot as usize]).collect();
                    take(machine, &values)
                }
                Some(search) => crate::partial::search(search, machine, base, &mut |machine, base| {
                    let values: Vec<Value> = self.slots.iter().map(|slot| machine.stack[base + *slot as usize]).collect();
                    take(machine, &values)
                }),
            };
        };
        match &step.way {
            Way::Value(code) => {
                let value = machine.evaluate(code, base)?;
                if !is_of(machine, value, step.sort) {
                    return Ok(true);
                }
                self.with(machine, base, at, value, doubtful, take)
            }
            Way::Among(code) => {
                let collection = machine.evaluate(code, base)?;
                let mut elements = match machine.data.node(collection) {
                    Some(Node::Nil | Node::Cons(..)) => {
                        let (mut elements, end) = machine.data.values.elements(collection);
                        if end != Value::NIL {
                            return Err(Halt::Undecided);
                        }
                        elements.sort();
                        elements.dedup();
                        elements.sort_by(|one, other| machine.data.arrange(*one, *other));
                        elements
                    }
                    Some(Node::Set { complement: false, elements }) => elements.to_vec(),
                    Some(Node::Bag(entries)) => entries.iter().map(|(element, _)| *element).collect(),
                    _ => return self.filtered(machine, base, at, collection, doubtful, take),
                };
                elements.retain(|element| is_of(machine, *element, step.sort));
                for element in elements {
                    if !self.with(machine, base, at, element, doubtful, take)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Way::All => {
                let values = machine.data.all_values(step.sort).ok_or(Halt::Unbounded(step.sort))?;
                for value in values.iter() {
                    if !self.with(machine, base, at, *value, doubtful, take)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Way::Between { low, high } => {
                let mut least: Option<BigInt> = None;
                for (code, excluded) in low {
                    let bound = bound(machine, code, base, *excluded, true)?;
                    least = Some(least.map_or(bound.clone(), |least| least.max(bound)));
                }
                let mut most: Option<BigInt> = None;
                for (code, excluded) in high {
                    let bound = bound(machine, code, base, *excluded, false)?;
                    most = Some(most.map_or(bound.clone(), |most| most.min(bound)));
                }
                let (Some(mut next), Some(most)) = (least, most) else { return Err(Halt::Unbounded(step.sort)) };
                while next <= most {
                    let value = machine.data.values.integer(next.clone())?;
                    if !self.with(machine, base, at, value, doubtful, take)? {
                        return Ok(false);
                    }
                    next += 1;
                }
                Ok(true)
            }
        }
    }

    /// All values of the sort that are members of a collection that is not given by its elements.
    fn filtered<'d>(
        &self,
        machine: &mut Machine<'d>,
        base: usize,
        at: usize,
        collection: Value,
        doubtful: bool,
        take: &mut Take<'_, 'd>,
    ) -> Result<bool, Halt> {
        let sort = self.steps[at].sort;
        let values = machine.data.all_values(sort).ok_or(Halt::Unbounded(sort))?;
        for value in values.iter() {
            machine.burn(1)?;
            match machine.operate(Operation::Member, &[*value, collection])? {
                Value::TRUE => {
                    if !self.with(machine, base, at, *value, doubtful, take)? {
                        return Ok(false);
                    }
                }
                Value::FALSE => {}
                _ => return Err(Halt::Undecided),
            }
        }
        Ok(true)
    }

    /// Goes on with a value of the variable of step `at`.
    fn with<'d>(
        &self,
        machine: &mut Machine<'d>,
        base: usize,
        at: usize,
        value: Value,
        doubtful: bool,
        take: &mut Take<'_, 'd>,
    ) -> Result<bool, Halt> {
        let step = &self.steps[at];
        machine.burn(1)?;
        machine.stack[base + step.slot as usize] = value;
        match holds(machine, &step.checks, base)? {
            Some(false) => Ok(true),
            decided => self.go(machine, base, at + 1, doubtful || decided.is_none(), take),
        }
    }
}

/// Whether all conditions hold; none if no one is false and some cannot be decided.
fn holds(machine: &mut Machine, conditions: &[Code], base: usize) -> Result<Option<bool>, Halt> {
    let mut all = Some(true);
    for condition in conditions {
        match machine.decide(condition, base) {
            Ok(true) => {}
            Ok(false) => return Ok(Some(false)),
            Err(Halt::Undecided) => all = None,
            Err(halt) => return Err(halt),
        }
    }
    Ok(all)
}

/// Whether a value belongs to a sort of numbers, or the sort has other values.
pub(crate) fn is_of(machine: &Machine, value: Value, sort: SortId) -> bool {
    let least = match machine.data.sorts.get(sort.index()) {
        Some(Sort::Positive) => 1,
        Some(Sort::Natural) => 0,
        Some(Sort::Integer) => i64::MIN,
        _ => return true,
    };
    match value.small() {
        Some(small) => small >= least,
        None => match machine.data.values.node(value) {
            Some(Node::Integer(number)) => *number >= BigInt::from(least) || (least == i64::MIN),
            Some(Node::Rational(_)) => false,
            _ => true,
        },
    }
}

/// An integer bound: the least or the largest integer within it.
fn bound(machine: &mut Machine, code: &Code, base: usize, excluded: bool, is_low: bool) -> Result<BigInt, Halt> {
    let value = machine.evaluate(code, base)?;
    let number = machine.data.values.as_rational(value).ok_or(Halt::Undecided)?;
    let rounded = if is_low { number.ceil() } else { number.floor() };
    let is_exact = rounded == number;
    let mut bound = rounded.to_integer();
    if excluded && is_exact {
        bound += if is_low { 1 } else { -1 };
    }
    Ok(bound)
}
