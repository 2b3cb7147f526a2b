//! Priorities of rules, an extension of CMurphi: if several rules are enabled, only those of the smallest number
//! fire. A rule without a number has 0.
//!
//! They become part of the guards: a rule fires if its own guard holds and no rule of a smaller number is enabled.

use super::Elaborator;
use super::build;
use super::code::Code;
use crate::source::Span;
use wayfarer_ir::{Expr, FunctionId, LoopExpr, LoopKind, Reg, Rule};

impl Elaborator<'_> {
    /// Adds the priorities to the guards of all rules.
    pub(super) fn order_by_priority(&mut self) {
        let priorities = std::mem::take(&mut self.numbering.priorities);
        let mut levels = priorities.clone();
        levels.sort_unstable();
        levels.dedup();
        let Some((_, levels)) = levels.split_last().filter(|(_, lower)| !lower.is_empty()) else { return };
        let before: Vec<(i64, FunctionId)> = levels.iter().map(|level| (*level, self.enabled(*level, &priorities))).collect();
        let fuel = self.fuel(Span::default(), "guard");
        for (rule, priority) in self.program.rules.iter_mut().zip(&priorities) {
            let calls = before.iter().filter(|(level, _)| level < priority);
            let none = calls.map(|(_, function)| build::not(Expr::Call { function: *function, arguments: Vec::new(), fuel }));
            let own = std::mem::replace(&mut rule.guard.value, Expr::Const(1));
            rule.guard.value = build::all(std::iter::once(own).chain(none).collect());
        }
    }

    /// The function that returns whether some rule of a priority is enabled.
    fn enabled(&mut self, level: i64, priorities: &[i64]) -> FunctionId {
        let fuel = self.fuel(Span::default(), "guard");
        let rules = self.program.rules.iter().zip(priorities).filter(|(_, priority)| **priority == level).map(|(rule, _)| rule);
        let registers = rules.clone().map(|rule| rule.guard.registers).max().unwrap_or(0);
        let value = build::any(rules.map(|rule| some_instance(rule, fuel)).collect());
        self.wrap(&format!("some rule of priority {level} is enabled"), Code::formula(registers), value, 0, Span::default())
    }
}

/// Whether some instance of a rule is enabled: its parameters become loops.
fn some_instance(rule: &Rule, fuel: wayfarer_ir::FaultId) -> Expr {
    rule.parameters.iter().enumerate().rev().fold(rule.guard.value.clone(), |body, (number, parameter)| {
        let to = Expr::Const(parameter.from + parameter.by * (i64::from(parameter.count) - 1));
        let (register, from) = (Reg(number as u32), Expr::Const(parameter.from));
        Expr::Loop(Box::new(LoopExpr { kind: LoopKind::Any, register, from, to, by: parameter.by, body, fuel }))
    })
}
