//! The end of a command: the statements that follow in the same atomic sequence, where the process stands then, and whether it goes on alone.

use super::chains::Tail;
use super::rules::Way;
use super::{Here, Lowering, Pending, binary, equal, field, not, store};
use crate::promela::flow::Transition;
use crate::promela::model::{Act, ActKind};
use std::collections::BTreeMap;
use wayfarer_ir::{BinaryOp, Block, Body, Expr, Formula, PrintItem, Rule, Stmt};

/// An assertion by number, the slot of its process, and whether the process goes on alone.
pub(super) type Failure = (usize, usize, bool);

impl<'a> Lowering<'a> {
    /// Prints a statement, if commands tell what they do.
    fn tell(&self, here: Here, transition: &Transition, block: &mut Block) {
        if self.telling {
            let act = &transition.act;
            block.push(Stmt::Print(vec![PrintItem::Text(format!(
                "{}[{}] line {}: {}",
                self.model.types[here.ty].name, here.slot, act.at.line, act.text
            ))]));
        }
    }

    /// Prepares for assertions in the middle of the command that begins with a transition.
    pub(super) fn watch_assertions(&mut self, way: &Way, block: &mut Block) {
        let inside = |act: &ActKind| matches!(act, ActKind::Indivisible(nodes) if super::chains::asserts(nodes));
        let follows = self.chains.tail(way.ty, way.state, way.number).has(&|act| matches!(act, ActKind::Assert(_)) || inside(act));
        self.pending = (follows || inside(&way.transition.act.kind)).then(|| {
            self.registers += 1;
            let register = wayfarer_ir::Reg(self.registers - 1);
            block.push(Stmt::Set(register, Expr::Const(0)));
            Pending { register, failed: Vec::new(), ends: [false; 2] }
        });
    }

    /// An assertion in the middle of a command: its failure is kept in mind, and the command goes on.
    pub(super) fn assert(&mut self, here: Here, act: &Act, block: &mut Block) {
        let ActKind::Assert(value) = &act.kind else { return };
        let condition = self.truth(here, value);
        let fault = self.assertion(act);
        let number = self.asserted.iter().position(|known| *known == fault).unwrap_or(self.asserted.len());
        if number == self.asserted.len() {
            self.asserted.push(fault);
        }
        let Some(pending) = &mut self.pending else { return block.push(Stmt::Check { condition, fault }) };
        pending.failed.push(number);
        let first = equal(Expr::Reg(pending.register), 0);
        let remember = vec![Stmt::Set(pending.register, Expr::Const(number as i64 + 1))];
        block.push(Stmt::If { branches: vec![(super::all(vec![not(condition), first]), remember)], otherwise: Vec::new() });
    }

    /// Moves a process to a control state; its commands end there.
    pub(super) fn arrive(&self, way: &Way, to: Option<usize>, block: &mut Block) {
        let at = &self.layout.slots[way.slot];
        if let Some(to) = to.filter(|to| *to != way.state)
            && let Some(value) = at.state(way.ty, to)
        {
            block.push(store(at.offset, at.bits, Expr::Const(value)));
        }
    }

    /// Goes on after a step that began with one transition and ended with another.
    pub(super) fn follow(&mut self, first: &Way, last: &Way, block: &mut Block) {
        let chains = self.chains.clone();
        self.tail(first, last, chains.tail(last.ty, last.state, last.number), block);
        if let Some(Pending { failed, ends, .. }) = self.pending.take() {
            let alone = [false, true].into_iter().filter(|alone| ends[usize::from(*alone)]);
            self.failures.extend(alone.flat_map(|alone| failed.iter().map(move |number| ((*number, last.slot, alone), last.ty))));
        }
    }

    fn tail(&mut self, first: &Way, last: &Way, tail: &Tail<'a>, block: &mut Block) {
        let here = Here { slot: last.slot, ty: last.ty, timeout: false };
        match tail {
            Tail::Stand { to, alone } => {
                self.arrive(last, *to, block);
                self.leave_control(first, last.slot, *alone, block);
            }
            Tail::Do(transition, rest) => {
                self.take(here, transition, block);
                self.tail(first, last, rest, block);
            }
            Tail::Test(options, otherwise) => {
                let mut branches = Vec::new();
                for (transition, rest) in options {
                    let condition = self.executable(here, &transition.act.kind);
                    let mut branch = Vec::new();
                    self.take(here, transition, &mut branch);
                    self.tail(first, last, rest, &mut branch);
                    branches.push((condition, branch));
                }
                let mut last_branch = Vec::new();
                self.tail(first, last, otherwise, &mut last_branch);
                block.push(Stmt::If { branches, otherwise: last_branch });
            }
        }
    }

    fn take(&mut self, here: Here, transition: &Transition, block: &mut Block) {
        self.tell(here, transition, block);
        self.assert(here, &transition.act, block);
        self.effect(here, &transition.act.kind, block);
    }

    /// Says who goes on alone.
    fn leave_control(&mut self, first: &Way, slot: usize, alone: bool, block: &mut Block) {
        let Some((offset, bits)) = self.layout.control else { return };
        let mut plain = Vec::new();
        if alone {
            plain.push(store(offset, bits, Expr::Const(slot as i64 + 1)));
        } else if self.is_passed(first.ty, first.state) {
            plain.push(store(offset, bits, Expr::Const(0)));
        }
        let Some(pending) = &mut self.pending else { return block.extend(plain) };
        pending.ends[usize::from(alone)] = true;
        let register = Expr::Reg(pending.register);
        let each = self.layout.slots.len() as i64 * 2;
        let number = binary(BinaryOp::Mul, register.clone(), Expr::Const(each));
        let number = binary(BinaryOp::Add, number, Expr::Const(self.failure((0, slot, alone)) - each));
        let failed = binary(BinaryOp::Ne, register, Expr::Const(0));
        block.push(Stmt::If { branches: vec![(failed, vec![store(offset, bits, number)])], otherwise: plain });
    }

    /// The value of the control field for a failed assertion.
    fn failure(&self, (number, slot, alone): Failure) -> i64 {
        let slots = self.layout.slots.len();
        (1 + slots + number * slots * 2 + slot * 2 + usize::from(alone)) as i64
    }

    /// Rules that report the assertions which failed in the middle of a command, and go on behind them.
    pub(super) fn failures(&mut self) -> Result<(), String> {
        let Some((offset, bits)) = self.layout.control else { return Ok(()) };
        let failures: BTreeMap<Failure, usize> = self.failures.iter().copied().collect();
        for (failure, ty) in failures {
            let (number, slot, alone) = failure;
            let fault = self.asserted[number];
            let site = &self.program.faults[fault.0 as usize];
            let (at, text) = (site.at, site.message.clone());
            let guard = Formula { registers: 0, value: equal(field(offset, bits), self.failure(failure)) };
            let after = if alone { slot as i64 + 1 } else { 0 };
            let commands = [(text.clone(), vec![Stmt::Fault(fault)]), (format!("{text} failed"), vec![store(offset, bits, Expr::Const(after))])];
            for (text, block) in commands {
                let name = format!("{}[{slot}] line {}: {text}", self.model.types[ty].name, at.line);
                self.rules.push(super::RuleOf { slot, ty, line: at.line, partner: None, passed: true, begins: Vec::new(), follow: Vec::new() });
                let command = Body { registers: 0, frame: 0, block };
                self.program.rules.push(Rule { name, parameters: Vec::new(), guard: guard.clone(), command, at });
            }
        }
        Ok(())
    }
}
