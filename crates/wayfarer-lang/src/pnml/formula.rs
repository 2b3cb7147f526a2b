//! Conditions on markings, and their form in a program.

use super::encoding::{Encoding, Holds, Kept};
use super::flat::Flat;
use super::lower::{compare, guard, load};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wayfarer_ir::{At, BinaryOp, Body, Expr, FaultId, FaultKind, FaultSite, Function, FunctionId, Program, Property, PropertyKind, Stmt, UnaryOp};
use wayfarer_space::FaultClass;

/// A question about the reachable markings of a net. It becomes a property that asks for a marking in which its condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Its name.
    pub name: String,
    /// Its position in the file; nowhere if the user typed it.
    pub at: At,
    /// Whether its author asks that no marking satisfies the condition, which is then the opposite of what was written.
    pub is_universal: bool,
    /// The search looks for a marking that satisfies it.
    pub condition: Predicate,
}

/// A condition on a marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// All of them; true where there is none.
    All(Vec<Predicate>),
    /// Some of them; false where there is none.
    Any(Vec<Predicate>),
    /// Not.
    Not(Box<Predicate>),
    /// How two numbers compare.
    Compare(Comparison, Sum, Sum),
    /// Some binding of this transition of the net is enabled.
    Fireable(usize),
    /// No transition is enabled.
    Deadlock,
}

/// How numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
    /// Equal.
    Equal,
    /// Not equal.
    Unequal,
    /// Greater or equal.
    AtLeast,
    /// Greater.
    Greater,
}

/// A constant and the tokens of some places of the net without colours, which may occur more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The constant.
    pub constant: i64,
    /// The places.
    pub places: Vec<u32>,
}

impl Sum {
    fn value(&self, marking: &[u64]) -> i128 {
        i128::from(self.constant) + self.places.iter().map(|place| i128::from(marking[*place as usize])).sum::<i128>()
    }
}

impl Predicate {
    /// Whether a marking satisfies it.
    pub fn holds(&self, flat: &Flat, marking: &[u64]) -> bool {
        match self {
            Predicate::All(inner) => inner.iter().all(|predicate| predicate.holds(flat, marking)),
            Predicate::Any(inner) => inner.iter().any(|predicate| predicate.holds(flat, marking)),
            Predicate::Not(inner) => !inner.holds(flat, marking),
            Predicate::Compare(comparison, left, right) => {
                let (left, right) = (left.value(marking), right.value(marking));
                match comparison {
                    Comparison::Less => left < right,
                    Comparison::AtMost => left <= right,
                    Comparison::Equal => left == right,
                    Comparison::Unequal => left != right,
                    Comparison::AtLeast => left >= right,
                    Comparison::Greater => left > right,
                }
            }
            Predicate::Fireable(transition) => flat.transitions[flat.transitions_of(*transition)].iter().any(|flat| flat.is_enabled(marking)),
            Predicate::Deadlock => !flat.transitions.iter().any(|flat| flat.is_enabled(marking)),
        }
    }
}

/// Transitions with more ways to be enabled than this are asked by a function of their own.
const FEW_WAYS: usize = 4;

/// Adds formulas to the program of a net, as properties that ask to be reached.
pub(super) fn add(program: &mut Program, flat: &Flat, encoding: &Encoding, formulas: &[Formula]) {
    let mut adding = Adding { program, flat, encoding, functions: HashMap::new(), fuel: None };
    for formula in formulas {
        let at = formula.at;
        let conjuncts = match &formula.condition {
            Predicate::All(inner) => inner.iter().map(|predicate| (at, adding.predicate(predicate))).collect(),
            other => vec![(at, adding.predicate(other))],
        };
        adding.program.properties.push(Property { name: formula.name.clone(), kind: PropertyKind::Reachable, registers: 0, conjuncts, at });
    }
}

struct Adding<'a> {
    program: &'a mut Program,
    flat: &'a Flat,
    encoding: &'a Encoding,
    /// Functions that tell whether a transition is enabled; none stands for any of them.
    functions: HashMap<Option<usize>, FunctionId>,
    fuel: Option<FaultId>,
}

impl Adding<'_> {
    fn predicate(&mut self, predicate: &Predicate) -> Expr {
        match predicate {
            Predicate::All(inner) => Expr::All(inner.iter().map(|predicate| self.predicate(predicate)).collect()),
            Predicate::Any(inner) => Expr::Any(inner.iter().map(|predicate| self.predicate(predicate)).collect()),
            Predicate::Not(inner) => not(self.predicate(inner)),
            Predicate::Compare(comparison, left, right) => {
                let op = match comparison {
                    Comparison::Less => BinaryOp::Lt,
                    Comparison::AtMost => BinaryOp::Le,
                    Comparison::Equal => BinaryOp::Eq,
                    Comparison::Unequal => BinaryOp::Ne,
                    Comparison::AtLeast => BinaryOp::Ge,
                    Comparison::Greater => BinaryOp::Gt,
                };
                match (self.sum(left), self.sum(right)) {
                    (Expr::Const(left), Expr::Const(right)) => Expr::Const(op.apply(left, right)),
                    (left, right) => Expr::Binary(op, Box::new(left), Box::new(right)),
                }
            }
            Predicate::Fireable(transition) => self.fireable(Some(*transition)),
            Predicate::Deadlock => not(self.fireable(None)),
        }
    }

    /// Whether some binding of a transition is enabled, or some transition at all.
    fn fireable(&mut self, transition: Option<usize>) -> Expr {
        if let Some(function) = self.functions.get(&transition) {
            return self.call(*function);
        }
        let range = transition.map_or(0..self.flat.transitions.len(), |transition| self.flat.transitions_of(transition));
        // Bindings that take the same tokens are enabled together.
        let mut known: BTreeSet<&[(u32, u64)]> = BTreeSet::new();
        let mut ways = Vec::new();
        for flat in &self.flat.transitions[range] {
            if known.insert(&flat.inputs) {
                match guard(self.encoding, &flat.inputs) {
                    Expr::Const(0) => {}
                    Expr::All(tests) if tests.is_empty() => return Expr::Const(1),
                    way => ways.push(way),
                }
            }
        }
        if ways.len() <= FEW_WAYS {
            return Expr::Any(ways);
        }
        let function = FunctionId(self.program.functions.len() as u32);
        let name = transition.map_or_else(|| "fireable".to_string(), |transition| format!("fireable {}", self.flat.net.transitions[transition].name));
        let no_result = self.fuel();
        let body = Body { registers: 0, frame: 0, block: vec![Stmt::Return(Some(Expr::Any(ways)))] };
        self.program.functions.push(Function { name, parameters: Vec::new(), result: true, no_result, body, at: At::default() });
        self.functions.insert(transition, function);
        self.call(function)
    }

    fn call(&mut self, function: FunctionId) -> Expr {
        let fuel = self.fuel();
        Expr::Call { function, arguments: Vec::new(), fuel }
    }

    /// The fault of a formula that is too long to be judged.
    fn fuel(&mut self) -> FaultId {
        *self.fuel.get_or_insert_with(|| {
            let message = "a formula is too long to be judged within --loop-limit".to_string();
            self.program.faults.push(FaultSite { class: FaultClass::Limit, kind: FaultKind::Endless, message, at: At::default() });
            FaultId(self.program.faults.len() as u32 - 1)
        })
    }

    fn sum(&self, sum: &Sum) -> Expr {
        let mut constant = sum.constant;
        // For each field how often its places occur, by value; a count has the value 0 here.
        let mut fields: BTreeMap<u32, BTreeMap<u32, i64>> = BTreeMap::new();
        for place in &sum.places {
            match self.encoding.kept[*place as usize] {
                Kept::Constant(tokens) => constant = constant.saturating_add_unsigned(tokens),
                Kept::Count { field } => *fields.entry(field).or_default().entry(0).or_default() += 1,
                Kept::Which { field, value } => *fields.entry(field).or_default().entry(value).or_default() += 1,
            }
        }
        let mut terms = Vec::new();
        for (number, values) in fields {
            let field = &self.encoding.fields[number as usize];
            match &field.holds {
                Holds::Count { .. } => terms.push(times(load(field), values.values().sum())),
                Holds::Which(set) => {
                    let all = set.places.len();
                    let first = values.values().next().copied().unwrap_or(1);
                    if values.len() == all && values.values().all(|times| *times == first) {
                        // Wherever the token is, it counts.
                        if set.can_be_empty {
                            terms.push(times(compare(BinaryOp::Ne, load(field), 0), first));
                        } else {
                            constant = constant.saturating_add(first);
                        }
                        continue;
                    }
                    for (run, often) in runs(&values) {
                        let test = match run {
                            (from, to) if from == to => compare(BinaryOp::Eq, load(field), i64::from(from)),
                            (from, to) => Expr::Binary(
                                BinaryOp::And,
                                Box::new(compare(BinaryOp::Ge, load(field), i64::from(from))),
                                Box::new(compare(BinaryOp::Le, load(field), i64::from(to))),
                            ),
                        };
                        terms.push(times(test, often));
                    }
                }
            }
        }
        if constant != 0 || terms.is_empty() {
            terms.push(Expr::Const(constant));
        }
        balanced(terms)
    }
}

/// A sum as a tree that is as deep as it must be.
fn balanced(mut terms: Vec<Expr>) -> Expr {
    match terms.len() {
        0 => Expr::Const(0),
        1 => terms.remove(0),
        count => {
            let rest = terms.split_off(count / 2);
            Expr::Binary(BinaryOp::Add, Box::new(balanced(terms)), Box::new(balanced(rest)))
        }
    }
}

/// Neighbouring values that count equally often: the first, the last, and how often.
fn runs(values: &BTreeMap<u32, i64>) -> Vec<((u32, u32), i64)> {
    let mut runs: Vec<((u32, u32), i64)> = Vec::new();
    for (value, often) in values {
        match runs.last_mut() {
            Some(((_, last), times)) if *last + 1 == *value && times == often => *last = *value,
            _ => runs.push(((*value, *value), *often)),
        }
    }
    runs
}

fn times(expr: Expr, often: i64) -> Expr {
    if often == 1 { expr } else { Expr::Binary(BinaryOp::Mul, Box::new(expr), Box::new(Expr::Const(often))) }
}

fn not(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const(i64::from(value == 0)),
        expr => Expr::Unary(UnaryOp::Not, Box::new(expr)),
    }
}
