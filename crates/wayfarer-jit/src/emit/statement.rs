//! Statements.

use super::expression::rounds;
use super::{Condition, Emitter, Environment, Fuel, Outcome, Register, Stop, Val};
use crate::shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use std::mem::offset_of;
use wayfarer_ir::{Block, Expr, FaultId, Reg, Stmt};

/// A loop of statements is unrolled if rounds times nodes are at most this.
const UNROLLED_NODES: u64 = 600;

/// The flow of control after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// Nowhere: every path through it ended or went elsewhere. Nothing may be emitted until a block is entered.
    Ended,
}

impl Emitter<'_, '_> {
    pub(crate) fn statements(&mut self, block: &Block) -> Outcome<Flow> {
        for statement in block {
            if self.statement(statement)? == Flow::Ended {
                return Ok(Flow::Ended);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Stmt) -> Outcome<Flow> {
        self.write_one()?;
        match statement {
            Stmt::Set(register, expr) => {
                let value = self.expression(expr)?;
                self.set_register(*register, value);
            }
            Stmt::Store { place, bits, value } => {
                let spot = self.spot(place)?;
                let value = self.expression(value)?;
                self.store(spot, u32::from(*bits), value);
            }
            Stmt::Copy { to, from, bits } => {
                let to = self.spot(to)?;
                let from = self.spot(from)?;
                self.copy(to, from, *bits);
            }
            Stmt::Zero { place, bits } => {
                let spot = self.spot(place)?;
                self.zero(spot, *bits);
            }
            Stmt::Sort { place, stride, count, bits, again } => {
                let spot = self.spot(place)?;
                self.sort(spot, *stride, *count, *bits, *again);
            }
            Stmt::If { branches, otherwise } => return self.choice(branches, otherwise),
            Stmt::While { condition, body, fuel } => return self.repeat(condition, body, *fuel),
            Stmt::For { register, from, to, by, body, fuel } => {
                let from = self.expression(from)?;
                let to = self.expression(to)?;
                return self.count(*register, from, to, *by, body, *fuel);
            }
            Stmt::Do(expr) => {
                self.expression(expr)?;
            }
            Stmt::Check { condition, fault } => {
                let value = self.expression(condition)?;
                let fails = match self.truth(value) {
                    Condition::Known(holds) => Condition::Known(!holds),
                    truth => self.negated_truth(value, truth),
                };
                self.fault_if(fails, *fault)?;
            }
            Stmt::Fault(fault) => {
                self.always_fault(*fault)?;
                return Ok(self.ended());
            }
            Stmt::Discard => {
                self.discard();
                return Ok(Flow::Ended);
            }
            Stmt::Cover(property) => self.cover(property.0),
            Stmt::Return(expr) => {
                let value = match expr {
                    Some(expr) => self.expression(expr)?,
                    None => Val::constant(0),
                };
                return Ok(self.give_back(value));
            }
            Stmt::Print(_) => {}
        }
        Ok(Flow::Next)
    }

    /// Ends a block that was entered only because something had to follow.
    fn ended(&mut self) -> Flow {
        self.builder.ins().trap(cranelift_codegen::ir::TrapCode::unwrap_user(1));
        Flow::Ended
    }

    fn cover(&mut self, property: u32) {
        let Some(environment) = self.environment else { return };
        let covered = self.builder.ins().load(types::I64, Self::trusted(), environment, offset_of!(Environment, covered) as i32);
        let offset = (property / 64 * 8) as i32;
        let word = self.builder.ins().load(types::I64, Self::trusted(), covered, offset);
        let word = self.builder.ins().bor_imm_s(word, (1u64 << (property % 64)) as i64);
        self.builder.ins().store(Self::trusted(), word, covered, offset);
    }

    /// `Return`: at the outermost level the value is simply known; inside branches it goes through a variable.
    fn give_back(&mut self, value: Val) -> Flow {
        let activation = self.activation();
        if activation.nesting == 0 && activation.exit.is_none() {
            self.activation_mut().result = Some(value);
            return Flow::Ended;
        }
        let (exit, variable) = match activation.exit {
            Some(exit) => exit,
            None => {
                let exit = (self.builder.create_block(), self.builder.declare_var(types::I64));
                self.activation_mut().exit = Some(exit);
                exit
            }
        };
        let word = self.word(value);
        self.builder.def_var(variable, word);
        self.jump(exit);
        Flow::Ended
    }

    fn choice(&mut self, branches: &[(Expr, Block)], otherwise: &Block) -> Outcome<Flow> {
        let Some(((condition, block), rest)) = branches.split_first() else { return self.statements(otherwise) };
        let flag = match self.condition(condition)? {
            Condition::Known(true) => return self.statements(block),
            Condition::Known(false) => return self.choice(rest, otherwise),
            Condition::Flag(flag) => flag,
        };
        let mut assigned = shape::assigned(block);
        rest.iter().for_each(|(_, block)| shape::assigned_into(block, &mut assigned));
        shape::assigned_into(otherwise, &mut assigned);
        self.vary(&assigned);
        let (yes, no, end) = (self.block(), self.block(), self.block());
        self.branch(flag, yes, no);
        self.activation_mut().nesting += 1;
        self.enter(yes);
        let first = self.statements(block)?;
        if first == Flow::Next {
            self.jump(end);
        }
        self.enter(no);
        let second = self.choice(rest, otherwise)?;
        if second == Flow::Next {
            self.jump(end);
        }
        self.activation_mut().nesting -= 1;
        if first == Flow::Ended && second == Flow::Ended {
            return Ok(Flow::Ended);
        }
        self.enter(end);
        Ok(Flow::Next)
    }

    fn repeat(&mut self, condition: &Expr, body: &Block, fuel: FaultId) -> Outcome<Flow> {
        if matches!(self.fuel, Fuel::Bounded(_)) {
            return Err(Stop::Meter);
        }
        self.vary(&shape::assigned(body));
        let head = self.block();
        self.jump(head);
        self.builder.switch_to_block(head);
        self.activation_mut().nesting += 1;
        let condition = self.condition(condition)?;
        let flow = match condition {
            Condition::Known(false) => Flow::Next,
            Condition::Known(true) => {
                self.burn(fuel)?;
                if self.statements(body)? == Flow::Next {
                    self.jump(head);
                }
                Flow::Ended
            }
            Condition::Flag(flag) => {
                let (inside, end) = (self.block(), self.block());
                self.branch(flag, inside, end);
                self.enter(inside);
                self.burn(fuel)?;
                if self.statements(body)? == Flow::Next {
                    self.jump(head);
                }
                self.enter(end);
                Flow::Next
            }
        };
        self.builder.seal_block(head);
        self.activation_mut().nesting -= 1;
        Ok(flow)
    }

    fn count(&mut self, register: Reg, from: Val, to: Val, by: i64, body: &Block, fuel: FaultId) -> Outcome<Flow> {
        let rounds = match (from.known(), to.known()) {
            (Some(from), Some(to)) => Some(rounds(from, to, by)),
            _ => None,
        };
        if rounds == Some(0) {
            return Ok(Flow::Next);
        }
        if let (Some(rounds), Some(first)) = (rounds, from.known())
            && (rounds < 2 || self.written < self.inline_until)
            && rounds.saturating_mul(self.setting.shape.nodes_with_calls(body) + 2) <= UNROLLED_NODES
        {
            return self.count_unrolled(register, first, rounds, by, body, fuel);
        }
        let units = self.units();
        let mut assigned = shape::assigned(body);
        assigned.push(register);
        self.vary(&assigned);
        let counter = self.builder.declare_var(types::I64);
        let (first, last) = (self.word(from), self.word(to));
        self.builder.def_var(counter, first);
        let (head, inside, end) = (self.block(), self.block(), self.block());
        self.jump(head);
        self.builder.switch_to_block(head);
        let value = self.builder.use_var(counter);
        let within = if by < 0 { IntCC::SignedGreaterThanOrEqual } else { IntCC::SignedLessThanOrEqual };
        let more = self.builder.ins().icmp(within, value, last);
        self.branch(more, inside, end);
        self.enter(inside);
        self.activation_mut().nesting += 1;
        self.burn_in_loop(fuel, rounds)?;
        self.set_register(register, Val::any(value));
        // The body does not set the register, so that its value and range are known there, unless that of a loop
        // expression leaks into it.
        let held = self.activation().registers[register.0 as usize];
        if !self.activation().leaking[register.0 as usize] {
            let range = if by < 0 { (to.low, from.high) } else { (from.low, to.high) };
            if range.0 <= range.1 {
                self.activation_mut().registers[register.0 as usize] = Register::Holds(Val::within(value, range.0, range.1));
            }
        }
        let flow = self.statements(body)?;
        self.activation_mut().registers[register.0 as usize] = held;
        if flow == Flow::Next {
            let by = self.builder.ins().iconst(types::I64, by);
            let (next, overflow) = self.builder.ins().sadd_overflow(value, by);
            self.builder.def_var(counter, next);
            self.branch(overflow, end, head);
        }
        self.activation_mut().nesting -= 1;
        self.builder.seal_block(head);
        self.enter(end);
        self.charge_rounds(units, rounds);
        self.within_fuel()?;
        Ok(Flow::Next)
    }

    fn count_unrolled(&mut self, register: Reg, from: i64, rounds: u64, by: i64, body: &Block, fuel: FaultId) -> Outcome<Flow> {
        let slot = register.0 as usize;
        let before = self.activation().registers[slot];
        let leaks = self.activation().leaking[slot];
        for round in 0..rounds {
            let value = Val::constant(from.wrapping_add((round as i64).wrapping_mul(by)));
            self.burn(fuel)?;
            self.set_register(register, value);
            if !leaks {
                self.activation_mut().registers[slot] = Register::Holds(value);
            }
            let flow = self.statements(body)?;
            if !leaks && let Register::Varies(_) = before {
                self.activation_mut().registers[slot] = before;
            }
            if flow == Flow::Ended {
                return Ok(Flow::Ended);
            }
        }
        Ok(Flow::Next)
    }
}
