//! A guard taken apart: the conjuncts that one small field decides become columns, and the others are left to code.

use crate::emit::Setting;
use crate::probe::{Field, Miss, Probe};
use crate::shape;
use std::rc::Rc;
use wayfarer_ir::{Expr, LoopKind, Rule, UnaryOp};

/// Fields of at most this many bits get tables.
const LARGEST_FIELD: u32 = 8;
/// The most nodes of a guard that are evaluated here.
const LARGEST_REST: usize = 1_500;
/// Conjuncts of a guard that get tables.
const MOST_CONJUNCTS: usize = 64;

/// More fuel than all columns of a guard together can take.
const ENOUGH_FUEL: u64 = 100_000;

/// A truth value that must hold, under the given values of registers.
#[derive(Clone)]
pub(super) struct Conjunct<'a> {
    pub(super) expr: &'a Expr,
    pub(super) negated: bool,
    pub(super) registers: Rc<[i64]>,
}

/// A set of values of a field.
pub(super) type Values = [u64; 4];

/// A conjunct that one field decides.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) field: Field,
    pub(super) holds: Values,
    pub(super) faults: Values,
}

/// The analysis of one rule's guard.
#[derive(Default)]
pub(super) struct Analysed<'a> {
    /// Never enabled, and never a fault.
    pub(super) never: bool,
    pub(super) columns: Vec<Column>,
    /// Conjuncts to be evaluated by code, in order.
    pub(super) rest: Vec<Conjunct<'a>>,
    /// Whether it must be evaluated after the columns.
    pub(super) ask: bool,
    /// Registers of the guard.
    pub(super) registers: u32,
    /// The fuel of its columns.
    pub(super) units: u64,
}

/// Whether the guards of a rule can be split, whatever its parameters are.
pub(super) fn can_split(setting: Setting, rule: &Rule) -> bool {
    let guard = &rule.guard;
    let mut calls = Vec::new();
    shape::calls_in(&guard.value, &mut calls);
    let leaks = shape::leaking_in(guard.registers, [&guard.value]).contains(&true);
    // If fuel is short, the guard's own code must count it.
    let counts = has_loop_or_call(&guard.value) && setting.limits.fuel < ENOUGH_FUEL;
    !leaks && !counts && setting.shape.keeps_depth(&calls, 0, &setting.limits)
}

/// Splits the guard of a rule with these parameters into columns and a rest, if it can be split.
pub(super) fn analyse<'a>(setting: Setting<'a>, rule: &'a Rule, values: &[i64], can_split: bool) -> Analysed<'a> {
    let guard = &rule.guard;
    let mut result = Analysed { registers: guard.registers, ..Analysed::default() };
    if !can_split {
        result.ask = true;
        return result;
    }
    let mut registers = values.to_vec();
    registers.resize(guard.registers as usize, 0);
    let mut conjuncts = Vec::new();
    let mut units = 0;
    take_apart(Conjunct { expr: &guard.value, negated: false, registers: registers.into() }, &mut conjuncts, &mut units, setting);
    for conjunct in conjuncts {
        if result.rest.is_empty() && result.columns.len() < MOST_CONJUNCTS {
            match decide(setting, &conjunct, &mut units) {
                Decided::Always => continue,
                Decided::Never => {
                    if result.columns.iter().all(|column| column.faults == [0; 4]) {
                        result.never = true;
                        return result;
                    }
                    result.rest.push(conjunct);
                    break;
                }
                Decided::Fault => {
                    result.ask = true;
                    break;
                }
                Decided::By(column) => {
                    result.push(column);
                    continue;
                }
                Decided::Open => {}
            }
        }
        result.rest.push(conjunct);
    }
    let nodes: usize = result.rest.iter().map(|conjunct| setting.shape.nodes_unrolled(conjunct.expr)).sum();
    result.ask |= nodes > LARGEST_REST;
    result.units = units;
    result
}

impl Analysed<'_> {
    /// Appends a column, or merges it with the previous one on the same field.
    fn push(&mut self, column: Column) {
        match self.columns.last_mut() {
            Some(last) if last.field == column.field => {
                for word in 0..4 {
                    last.faults[word] |= last.holds[word] & column.faults[word];
                    last.holds[word] &= column.holds[word];
                }
            }
            _ => self.columns.push(column),
        }
    }
}

enum Decided {
    Always,
    Never,
    Fault,
    By(Column),
    Open,
}

/// Whether a conjunct needs nothing of the state, or just one small field.
fn decide(setting: Setting, conjunct: &Conjunct, units: &mut u64) -> Decided {
    let evaluate = |known| {
        let mut probe = Probe::new(setting.program, known);
        let result = probe.value(&mut conjunct.registers.to_vec(), conjunct.expr);
        (result.map(|value| (value != 0) != conjunct.negated), probe.units)
    };
    let field = match evaluate(None) {
        (Ok(holds), used) => {
            *units += used;
            return if holds { Decided::Always } else { Decided::Never };
        }
        (Err(Miss::Fault(_)), _) => return Decided::Fault,
        (Err(Miss::Hard), _) => return Decided::Open,
        (Err(Miss::Unknown(field)), _) => field,
    };
    if field.bits > LARGEST_FIELD {
        return Decided::Open;
    }
    let mut column = Column { field, holds: [0; 4], faults: [0; 4] };
    let mut most = 0;
    for value in 0..1u64 << field.bits {
        let (result, used) = evaluate(Some((field, value)));
        most = most.max(used);
        let (word, bit) = ((value / 64) as usize, 1 << (value % 64));
        match result {
            Ok(true) => column.holds[word] |= bit,
            Ok(false) => {}
            Err(Miss::Fault(_)) => column.faults[word] |= bit,
            Err(_) => return Decided::Open,
        }
    }
    *units += most;
    Decided::By(column)
}

/// Splits a conjunction into its parts: `All`, a loop over all rounds with known bounds, and their duals under a
/// negation.
fn take_apart<'a>(conjunct: Conjunct<'a>, out: &mut Vec<Conjunct<'a>>, units: &mut u64, setting: Setting) {
    if out.len() >= MOST_CONJUNCTS {
        out.push(conjunct);
        return;
    }
    match (conjunct.expr, conjunct.negated) {
        (Expr::Unary(UnaryOp::Not, operand), negated) => {
            take_apart(Conjunct { expr: operand, negated: !negated, ..conjunct }, out, units, setting);
        }
        (Expr::All(operands), false) | (Expr::Any(operands), true) => {
            for operand in operands {
                take_apart(Conjunct { expr: operand, ..conjunct.clone() }, out, units, setting);
            }
        }
        (Expr::Loop(fold), negated) if fold.kind == if negated { LoopKind::Any } else { LoopKind::All } => {
            let bound = |expr: &Expr| Probe::new(setting.program, None).value(&mut conjunct.registers.to_vec(), expr);
            let (Ok(from), Ok(to)) = (bound(&fold.from), bound(&fold.to)) else {
                out.push(conjunct);
                return;
            };
            let rounds = crate::emit::rounds(from, to, fold.by);
            if has_loop_or_call(&fold.from) || has_loop_or_call(&fold.to) || rounds > MOST_CONJUNCTS as u64 {
                out.push(conjunct);
                return;
            }
            for round in 0..rounds {
                *units += 1;
                let mut registers = conjunct.registers.to_vec();
                registers[fold.register.0 as usize] = from.wrapping_add((round as i64).wrapping_mul(fold.by));
                take_apart(Conjunct { expr: &fold.body, negated, registers: registers.into() }, out, units, setting);
            }
        }
        _ => out.push(conjunct),
    }
}

fn has_loop_or_call(expr: &Expr) -> bool {
    let mut calls = Vec::new();
    shape::calls_in(expr, &mut calls);
    !calls.is_empty() || shape::has_loop(expr)
}
