//! Which conjunct is evaluated at which depth of the nest.

use crate::emit::Setting;
use crate::ranges::{Range, may_fault};
use crate::shape;
use wayfarer_ir::{Expr, Rule, UnaryOp};

/// A parameter of more values than this has no masks.
const LARGEST_MASK: u32 = 4_096;
/// The most parameters.
const MOST_PARAMETERS: usize = 64;
/// The fuel that is certainly enough for a guard whose loops have known bounds.
const ENOUGH_FUEL: u64 = 100_000;

/// A truth value that must hold.
#[derive(Clone, Copy)]
pub(crate) struct Conjunct<'a> {
    pub(crate) expr: &'a Expr,
    pub(crate) negated: bool,
    /// The parameters it depends on, as bits.
    reads: u64,
    faults: bool,
}

/// Something to evaluate once some parameters are bound.
pub(crate) enum Task<'a> {
    /// The conjunct must hold.
    Test(Conjunct<'a>),
    /// The values of a parameter for which all of these hold.
    Sieve { parameter: usize, conjuncts: Vec<Conjunct<'a>> },
}

/// The guards of a family.
pub(crate) struct Nest<'a> {
    pub(crate) rule: &'a Rule,
    /// The tasks once the first n parameters are bound, for each n.
    pub(crate) depths: Vec<Vec<Task<'a>>>,
}

impl<'a> Nest<'a> {
    /// The nest of a family, if its guard can be split.
    pub(crate) fn of(setting: Setting<'a>, rule: &'a Rule) -> Option<Self> {
        let guard = &rule.guard;
        let parameters = rule.parameters.len();
        if parameters == 0 || parameters > MOST_PARAMETERS || rule.instances() > u64::from(u32::MAX) {
            return None;
        }
        let mut calls = Vec::new();
        shape::calls_in(&guard.value, &mut calls);
        let leaks = shape::leaking_in(guard.registers, [&guard.value]).contains(&true);
        let counts = (!calls.is_empty() || shape::has_loop(&guard.value)) && setting.limits.fuel < ENOUGH_FUEL;
        if leaks || counts || !setting.shape.keeps_depth(&calls, 0, &setting.limits) || binds_parameter(&guard.value, parameters) {
            return None;
        }
        let mut ranges: Vec<Range> = rule.parameters.iter().map(|parameter| range(parameter.from, parameter.by, parameter.count)).collect();
        ranges.resize(guard.registers as usize, (0, 0));
        let mut conjuncts = Vec::new();
        split(&guard.value, false, &mut |expr, negated| {
            let reads = parameters_read(expr, parameters);
            conjuncts.push(Conjunct { expr, negated, reads, faults: may_fault(setting.program, expr, &ranges) });
        });
        let mut nest = Nest { rule, depths: (0..=parameters).map(|_| Vec::new()).collect() };
        nest.place(&conjuncts);
        Some(nest)
    }

    /// Places conjuncts as far outside as their parameters and the faults of others allow.
    fn place(&mut self, conjuncts: &[Conjunct<'a>]) {
        // The depths at which all conjuncts so far, and those that can fault, are decided.
        let (mut all, mut faulting) = (0, 0);
        let mut placed: Vec<Vec<(usize, Conjunct)>> = self.depths.iter().map(|_| Vec::new()).collect();
        for conjunct in conjuncts {
            let floor = if conjunct.faults { all } else { faulting };
            let (depth, key) = match highest(conjunct.reads) {
                None => (floor, 0),
                Some(last) => {
                    let others = highest(conjunct.reads & !(1 << last)).map_or(0, |other| other + 1);
                    let depth = others.max(floor);
                    if depth <= last && self.rule.parameters[last].count <= LARGEST_MASK { (depth, last + 1) } else { (depth.max(last + 1), 0) }
                }
            };
            all = all.max(depth);
            faulting = if conjunct.faults { faulting.max(depth) } else { faulting };
            // Outer parameters first, as far as the order does not matter.
            let here = &mut placed[depth];
            let mut at = here.len();
            while at > 0 && here[at - 1].0 > key && !(here[at - 1].1.faults || conjunct.faults) {
                at -= 1;
            }
            here.insert(at, (key, *conjunct));
        }
        for (tasks, placed) in self.depths.iter_mut().zip(placed) {
            for (key, conjunct) in placed {
                match (key.checked_sub(1), tasks.last_mut()) {
                    (None, _) => tasks.push(Task::Test(conjunct)),
                    (Some(sifted), Some(Task::Sieve { parameter, conjuncts })) if *parameter == sifted => conjuncts.push(conjunct),
                    (Some(parameter), _) => tasks.push(Task::Sieve { parameter, conjuncts: vec![conjunct] }),
                }
            }
        }
    }
}

/// The values of a parameter.
pub(crate) fn range(from: i64, by: i64, count: u32) -> Range {
    let last = i128::from(from) + i128::from(by) * i128::from(count.max(1) - 1);
    i64::try_from(last).map_or((i64::MIN, i64::MAX), |last| (from.min(last), from.max(last)))
}

fn highest(bits: u64) -> Option<usize> {
    bits.checked_ilog2().map(|bit| bit as usize)
}

/// Splits a conjunction into its parts, in order.
fn split<'a>(expr: &'a Expr, negated: bool, found: &mut dyn FnMut(&'a Expr, bool)) {
    match (expr, negated) {
        (Expr::Unary(UnaryOp::Not, operand), _) => split(operand, !negated, found),
        (Expr::All(operands), false) | (Expr::Any(operands), true) => operands.iter().for_each(|operand| split(operand, negated, found)),
        _ => found(expr, negated),
    }
}

/// The parameters that an expression reads, as bits.
fn parameters_read(expr: &Expr, parameters: usize) -> u64 {
    let mut reads = 0;
    shape::each(expr, &mut |part| {
        if let Expr::Reg(register) = part
            && (register.0 as usize) < parameters
        {
            reads |= 1 << register.0;
        }
    });
    reads
}

/// Whether a loop uses the register of a parameter.
fn binds_parameter(expr: &Expr, parameters: usize) -> bool {
    let mut binds = false;
    shape::each(expr, &mut |part| {
        if let Expr::Loop(fold) = part {
            binds |= (fold.register.0 as usize) < parameters;
        }
    });
    binds
}
