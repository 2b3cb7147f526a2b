//! Expressions.
//!
//! Lazy operands are evaluated eagerly if nobody can tell: if an operand is small and its faults can be distinguished
//! from those of others, it is computed without a branch, and its fault counts only if the operand would have been
//! reached. Mispredicted branches cost more than the operands they save.

use super::{Activation, Condition, Emitter, Fuel, Outcome, Register, Stop, Val};
use crate::shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use wayfarer_ir::{Expr, LoopExpr, LoopKind, Reg};

/// Expressions of at most this many nodes are tried without branches.
const EAGER_NODES: usize = 24;

impl Emitter<'_, '_> {
    pub(crate) fn activation(&self) -> &Activation {
        self.activations.last().expect("code is written for an activation")
    }

    pub(crate) fn activation_mut(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("code is written for an activation")
    }

    pub(crate) fn expression(&mut self, expr: &Expr) -> Outcome<Val> {
        self.write_one()?;
        match expr {
            Expr::Const(value) => Ok(Val::constant(*value)),
            Expr::Reg(register) => Ok(self.register(*register)),
            Expr::Load { place, bits } => {
                let spot = self.spot(place)?;
                Ok(self.load(spot, u32::from(*bits)))
            }
            Expr::Unary(op, operand) => {
                let operand = self.expression(operand)?;
                Ok(self.unary(*op, operand))
            }
            Expr::Binary(op, left, right) => {
                let left = self.expression(left)?;
                let right = self.expression(right)?;
                Ok(self.binary(*op, left, right))
            }
            Expr::Checked { op, left, right, fault } => {
                let left = self.expression(left)?;
                let right = self.expression(right)?;
                self.checked(*op, left, right, *fault)
            }
            Expr::All(operands) => {
                let nodes = |index: usize| shape::nodes(&operands[index]);
                self.lazily(true, operands.len(), nodes, |emitter, index| emitter.expression(&operands[index]))
            }
            Expr::Any(operands) => {
                let nodes = |index: usize| shape::nodes(&operands[index]);
                self.lazily(false, operands.len(), nodes, |emitter, index| emitter.expression(&operands[index]))
            }
            Expr::Select(condition, then, otherwise) => self.select(condition, then, otherwise),
            Expr::Require { value, test, fault } => {
                let value = self.expression(value)?;
                self.require(value, *test, *fault)
            }
            Expr::Loop(fold) => self.fold(fold),
            Expr::Call { function, arguments, fuel } => self.call(*function, arguments, *fuel),
        }
    }

    /// Whether an expression is not zero.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Outcome<Condition> {
        let value = self.expression(expr)?;
        Ok(self.truth(value))
    }

    pub(crate) fn register(&mut self, register: Reg) -> Val {
        match self.activation().registers[register.0 as usize] {
            Register::Holds(value) => value,
            Register::Varies(variable) => Val::any(self.builder.use_var(variable)),
        }
    }

    pub(crate) fn set_register(&mut self, register: Reg, value: Val) {
        match self.activation().registers[register.0 as usize] {
            Register::Holds(_) => self.activation_mut().registers[register.0 as usize] = Register::Holds(value),
            Register::Varies(variable) => {
                let word = self.word(value);
                self.builder.def_var(variable, word);
            }
        }
    }

    /// Lets registers differ between paths from here on.
    pub(crate) fn vary(&mut self, registers: &[Reg]) {
        for register in registers {
            if let Register::Holds(value) = self.activation().registers[register.0 as usize] {
                let variable = self.builder.declare_var(types::I64);
                let word = self.word(value);
                self.builder.def_var(variable, word);
                self.activation_mut().registers[register.0 as usize] = Register::Varies(variable);
            }
        }
    }

    /// The conjunction (`all`) or disjunction of operands, lazy from left to right.
    pub(crate) fn lazily(
        &mut self,
        all: bool,
        count: usize,
        nodes: impl Fn(usize) -> usize,
        mut operand: impl FnMut(&mut Self, usize) -> Outcome<Val>,
    ) -> Outcome<Val> {
        // `undecided` says whether the operands so far leave the answer open.
        let mut undecided = Condition::Known(true);
        let mut exit = None;
        for index in 0..count {
            if let Condition::Known(false) = undecided {
                break;
            }
            if self.faults_are_noted() {
                let value = self.noting_where(undecided, |emitter| operand(emitter, index))?;
                let open = self.leaves_open(all, value);
                undecided = self.both(undecided, open);
                continue;
            }
            if !matches!(undecided, Condition::Known(true)) && nodes(index) <= EAGER_NODES {
                let eager = self.without_branches(|emitter| {
                    let value = operand(emitter, index)?;
                    Ok(emitter.leaves_open(all, value))
                })?;
                if let Some((open, faulted, fault)) = eager {
                    if let Some(fault) = fault {
                        let faulted = self.both(undecided, faulted);
                        self.fault_if(faulted, fault)?;
                    }
                    undecided = self.both(undecided, open);
                    continue;
                }
            }
            if let Condition::Flag(flag) = undecided {
                let exit = *exit.get_or_insert_with(|| self.builder.create_block());
                let next = self.block();
                self.branch(flag, next, exit);
                self.enter(next);
            }
            let value = operand(self, index)?;
            undecided = self.leaves_open(all, value);
        }
        let Some(exit) = exit else {
            return Ok(if all { undecided } else { self.negated(undecided) }.into());
        };
        // The paths that ended early give 0 for `all` and 1 for `any`.
        let result = self.builder.declare_var(types::I8);
        let end = self.block();
        let value = if all { undecided } else { self.negated(undecided) };
        let value = self.flag(value);
        self.builder.def_var(result, value);
        self.jump(end);
        self.enter(exit);
        let early = self.builder.ins().iconst(types::I8, i64::from(!all));
        self.builder.def_var(result, early);
        self.jump(end);
        self.enter(end);
        Ok(Val::flag(self.builder.use_var(result)))
    }

    fn leaves_open(&mut self, all: bool, value: Val) -> Condition {
        let truth = self.truth(value);
        if all { truth } else { self.negated_truth_of(value, truth) }
    }

    fn negated_truth_of(&mut self, value: Val, truth: Condition) -> Condition {
        match truth {
            Condition::Known(known) => Condition::Known(!known),
            Condition::Flag(_) => self.negated_truth(value, truth),
        }
    }

    /// A condition as a byte.
    pub(crate) fn flag(&mut self, condition: Condition) -> cranelift_codegen::ir::Value {
        match condition {
            Condition::Known(value) => self.builder.ins().iconst(types::I8, i64::from(value)),
            Condition::Flag(value) => value,
        }
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Outcome<Val> {
        let condition = self.condition(condition)?;
        let flag = match condition {
            Condition::Known(true) => return self.expression(then),
            Condition::Known(false) => return self.expression(otherwise),
            Condition::Flag(flag) => flag,
        };
        let negated = self.negated(condition);
        if self.faults_are_noted() {
            let first = self.noting_where(condition, |emitter| emitter.expression(then))?;
            let second = self.noting_where(negated, |emitter| emitter.expression(otherwise))?;
            return Ok(self.choose(flag, first, second));
        }
        if shape::nodes(then) <= EAGER_NODES && shape::nodes(otherwise) <= EAGER_NODES {
            let first = self.without_branches(|emitter| emitter.expression(then))?;
            let second = match first {
                Some(_) => self.without_branches(|emitter| emitter.expression(otherwise))?,
                None => None,
            };
            if let (Some((first, fault_of_first, which_first)), Some((second, fault_of_second, which_second))) = (first, second) {
                for (active, faulted, which) in [(condition, fault_of_first, which_first), (negated, fault_of_second, which_second)] {
                    if let Some(fault) = which {
                        let faulted = self.both(active, faulted);
                        self.fault_if(faulted, fault)?;
                    }
                }
                return Ok(self.choose(flag, first, second));
            }
        }
        let result = self.builder.declare_var(types::I64);
        let (yes, no, end) = (self.block(), self.block(), self.block());
        self.branch(flag, yes, no);
        let mut range = (i64::MAX, i64::MIN);
        for (block, expr) in [(yes, then), (no, otherwise)] {
            self.enter(block);
            let value = self.expression(expr)?;
            range = (range.0.min(value.low), range.1.max(value.high));
            let word = self.word(value);
            self.builder.def_var(result, word);
            self.jump(end);
        }
        self.enter(end);
        let value = self.builder.use_var(result);
        Ok(Val::within(value, range.0, range.1))
    }

    fn choose(&mut self, flag: cranelift_codegen::ir::Value, first: Val, second: Val) -> Val {
        let (a, b) = (self.word(first), self.word(second));
        let value = self.builder.ins().select(flag, a, b);
        Val::within(value, first.low.min(second.low), first.high.max(second.high))
    }

    fn fold(&mut self, fold: &LoopExpr) -> Outcome<Val> {
        let from = self.expression(&fold.from)?;
        let to = self.expression(&fold.to)?;
        if let (Some(from), Some(to)) = (from.known(), to.known()) {
            let rounds = rounds(from, to, fold.by);
            let nodes = self.setting.shape.nodes_unrolled(&fold.body) as u64;
            if rounds.saturating_mul(nodes) <= self.unroll_until && (self.written < self.inline_until || rounds < 2) {
                return self.fold_unrolled(fold, from, rounds);
            }
            if self.faults_are_noted() {
                return Err(Stop::Branches);
            }
            return self.fold_running(fold, Val::constant(from), Val::constant(to), Some(rounds));
        }
        if self.faults_are_noted() {
            return Err(Stop::Branches);
        }
        self.fold_running(fold, from, to, None)
    }

    fn fold_unrolled(&mut self, fold: &LoopExpr, from: i64, rounds: u64) -> Outcome<Val> {
        let leaks = self.activation().leaking[fold.register.0 as usize];
        let (before, level) = (self.activation().registers[fold.register.0 as usize], self.activations.len() - 1);
        let nodes = shape::nodes(&fold.body) + 1;
        let round = |emitter: &mut Self, index: usize| {
            if leaks && emitter.faults_are_noted() {
                // Whether the round begins would depend on the state, and so would the register's value afterwards.
                return Err(Stop::Branches);
            }
            emitter.burn(fold.fuel)?;
            let value = Val::constant(from.wrapping_add((index as i64).wrapping_mul(fold.by)));
            if leaks {
                emitter.set_register(fold.register, value);
            } else {
                emitter.activation_mut().registers[fold.register.0 as usize] = Register::Holds(value);
            }
            emitter.expression(&fold.body)
        };
        let result = match fold.kind {
            LoopKind::All => self.lazily(true, rounds as usize, |_| nodes, round),
            LoopKind::Any => self.lazily(false, rounds as usize, |_| nodes, round),
            LoopKind::Sum => {
                let mut sum = Val::constant(0);
                let mut stop = None;
                for index in 0..rounds as usize {
                    match round(self, index) {
                        Ok(value) => sum = self.sum(sum, value),
                        Err(error) => {
                            stop = Some(error);
                            break;
                        }
                    }
                }
                stop.map_or(Ok(sum), Err)
            }
        };
        if !leaks {
            // Not of the last activation: if a round was given up, that may be one of a call inside it.
            self.activations[level].registers[fold.register.0 as usize] = before;
        }
        result
    }

    /// Emits a loop that is not unrolled.
    fn fold_running(&mut self, fold: &LoopExpr, from: Val, to: Val, rounds: Option<u64>) -> Outcome<Val> {
        let units = self.units();
        let leaks = self.activation().leaking[fold.register.0 as usize];
        let before = self.activation().registers[fold.register.0 as usize];
        let (counter, result) = (self.builder.declare_var(types::I64), self.builder.declare_var(types::I64));
        let (first, start) = (self.word(from), self.builder.ins().iconst(types::I64, i64::from(fold.kind == LoopKind::All)));
        let last = self.word(to);
        self.builder.def_var(counter, first);
        self.builder.def_var(result, start);
        let (head, body, end) = (self.block(), self.block(), self.block());
        self.jump(head);
        self.builder.switch_to_block(head);
        let value = self.builder.use_var(counter);
        let within = if fold.by < 0 { IntCC::SignedGreaterThanOrEqual } else { IntCC::SignedLessThanOrEqual };
        let more = self.builder.ins().icmp(within, value, last);
        self.branch(more, body, end);
        self.enter(body);
        self.burn_in_loop(fold.fuel, rounds)?;
        let current = Val::within(value, if fold.by < 0 { to.low } else { from.low }, if fold.by < 0 { from.high } else { to.high });
        if leaks {
            self.set_register(fold.register, current);
        } else {
            self.activation_mut().registers[fold.register.0 as usize] = Register::Holds(current);
        }
        let round = self.expression(&fold.body)?;
        match fold.kind {
            LoopKind::Sum => {
                let sum = self.builder.use_var(result);
                let word = self.word(round);
                let sum = self.builder.ins().iadd(sum, word);
                self.builder.def_var(result, sum);
            }
            LoopKind::All | LoopKind::Any => {
                let truth = self.truth(round);
                let stops = if fold.kind == LoopKind::All { self.negated(truth) } else { truth };
                let flag = self.flag(stops);
                let (early, next) = (self.block(), self.block());
                self.branch(flag, early, next);
                self.enter(early);
                let answer = self.builder.ins().iconst(types::I64, i64::from(fold.kind == LoopKind::Any));
                self.builder.def_var(result, answer);
                self.jump(end);
                self.enter(next);
            }
        }
        let by = self.builder.ins().iconst(types::I64, fold.by);
        let (next, overflow) = self.builder.ins().sadd_overflow(value, by);
        self.builder.def_var(counter, next);
        self.branch(overflow, end, head);
        self.builder.seal_block(head);
        self.enter(end);
        self.charge_rounds(units, rounds);
        if !leaks {
            self.activation_mut().registers[fold.register.0 as usize] = before;
        }
        let value = self.builder.use_var(result);
        Ok(match fold.kind {
            LoopKind::Sum => Val::any(value),
            _ => Val::within(value, 0, 1),
        })
    }

    pub(crate) fn units(&self) -> u64 {
        match self.fuel {
            Fuel::Bounded(units) => units,
            Fuel::Counted(_) => 0,
        }
    }

    /// Takes the fuel of a round of a loop that runs `rounds` times, if that is known.
    pub(crate) fn burn_in_loop(&mut self, fault: wayfarer_ir::FaultId, rounds: Option<u64>) -> Outcome<()> {
        if rounds.is_none() && matches!(self.fuel, Fuel::Bounded(_)) {
            return Err(Stop::Meter);
        }
        self.burn(fault)
    }

    /// After a loop's body was emitted once: multiplies its fuel by the number of rounds.
    pub(crate) fn charge_rounds(&mut self, before: u64, rounds: Option<u64>) {
        if let (Fuel::Bounded(units), Some(rounds)) = (&mut self.fuel, rounds) {
            let once = *units - before;
            *units = before.saturating_add(once.saturating_mul(rounds));
        }
    }

    /// Whether the fuel that may be used is within the limit.
    pub(crate) fn within_fuel(&self) -> Outcome<()> {
        match self.fuel {
            Fuel::Bounded(units) if units > self.setting.limits.fuel => Err(Stop::Meter),
            _ => Ok(()),
        }
    }
}

/// The number of rounds of a loop.
pub(crate) fn rounds(from: i64, to: i64, by: i64) -> u64 {
    let distance = if by < 0 { i128::from(from) - i128::from(to) } else { i128::from(to) - i128::from(from) };
    if distance < 0 { 0 } else { u64::try_from(distance / i128::from(by).abs() + 1).unwrap_or(u64::MAX) }
}
