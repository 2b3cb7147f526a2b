//! How many members of a family share the value of a conjunct of its guard.
//!
//! The members of a family are numbered like the rounds of nested loops over its parameters. If a conjunct is false
//! for one of them, and neither it nor a conjunct before it depends on the last parameters, then it decides the guard for all
//! values of these, and none of them needs to be looked at.

use super::machine::{Machine, Stop};
use crate::code::Expr;
use crate::program::Rule;
use crate::walk;

/// For each conjunct of a family's guard, the number of neighbouring members for which it and all before it are the
/// same.
#[derive(Clone, Debug)]
pub(super) struct Shares(Vec<u64>);

impl Shares {
    pub(super) fn of(rule: &Rule) -> Self {
        let mut shares = Vec::new();
        let mut used = 0;
        each_conjunct(&rule.guard.value, &mut |conjunct| {
            walk::expressions(conjunct, &mut |part| match part {
                Expr::Reg(register) if (register.0 as usize) < rule.parameters.len() => used = used.max(register.0 as usize + 1),
                // A loop that changes a parameter's register makes everything after it depend on more than is read.
                Expr::Loop(fold) if (fold.register.0 as usize) < rule.parameters.len() => used = rule.parameters.len(),
                _ => {}
            });
            shares.push(rule.parameters[used..].iter().map(|parameter| u64::from(parameter.count)).product());
        });
        Shares(shares)
    }

    /// Evaluates a guard whose parameters are set: `None` if it is true, and otherwise the number of neighbouring members for
    /// which it is false.
    pub(super) fn excluded(&self, machine: &mut Machine, guard: &Expr) -> Result<Option<u64>, Stop> {
        self.conjuncts(machine, guard, &mut 0)
    }

    fn conjuncts(&self, machine: &mut Machine, expr: &Expr, at: &mut usize) -> Result<Option<u64>, Stop> {
        if let Expr::All(operands) = expr {
            for operand in operands {
                if let Some(share) = self.conjuncts(machine, operand, at)? {
                    return Ok(Some(share));
                }
            }
            return Ok(None);
        }
        let share = self.0[*at];
        *at += 1;
        Ok((machine.value(expr)? == 0).then_some(share))
    }
}

fn each_conjunct<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Expr)) {
    match expr {
        Expr::All(operands) => operands.iter().for_each(|operand| each_conjunct(operand, visit)),
        _ => visit(expr),
    }
}
