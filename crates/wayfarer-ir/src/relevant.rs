//! The parameters on whose values the steps of a rule depend. Members of a family that differ in others only have the same steps. Printed items do not
//! count.

use crate::code::{Argument, Block, Expr, FunctionId, Place, Reg};
use crate::program::{Function, Parameter, Program, Rule};
use crate::walk;

/// The relevant parameters of a program's functions, from which those of its rules follow.
#[derive(Clone, Debug)]
pub struct Relevant {
    /// For each function, whether each of its parameters that are values is relevant.
    functions: Vec<Vec<bool>>,
}

impl Relevant {
    /// Analyses the functions of a verified program.
    pub fn new(program: &Program) -> Self {
        let values = |function: &Function| function.parameters.iter().filter(|parameter| matches!(parameter, Parameter::Value)).count();
        let mut relevant = Relevant { functions: program.functions.iter().map(|function| vec![false; values(function)]).collect() };
        // Each round but the last adds a parameter.
        loop {
            let used = |function: &Function| {
                let mut used = vec![false; values(function)];
                relevant.block(&function.body.block, &mut used);
                used
            };
            let functions: Vec<Vec<bool>> = program.functions.iter().map(used).collect();
            if functions == relevant.functions {
                return relevant;
            }
            relevant.functions = functions;
        }
    }

    /// Whether each parameter of a rule is relevant.
    pub fn parameters(&self, rule: &Rule) -> Vec<bool> {
        let mut used = vec![false; rule.parameters.len()];
        self.expression(&rule.guard.value, &mut used);
        self.block(&rule.command.block, &mut used);
        used
    }

    fn block(&self, block: &Block, used: &mut [bool]) {
        walk::statements(block, &mut |statement| walk::operands_of_statement(statement, &mut |expr| self.expression(expr, used)));
    }

    fn expression(&self, expr: &Expr, used: &mut [bool]) {
        match expr {
            // A register that is assigned is no longer the parameter, but that does no harm.
            Expr::Reg(Reg(register)) => used.iter_mut().skip(*register as usize).take(1).for_each(|used| *used = true),
            Expr::Call { function: FunctionId(function), arguments, .. } => {
                let mut relevant = self.functions.get(*function as usize).into_iter().flatten();
                for argument in arguments {
                    match argument {
                        // Nothing looks at it there, and evaluating a register has no effect.
                        Argument::Value(value) if relevant.next() == Some(&false) && matches!(value, Expr::Reg(_)) => {}
                        Argument::Value(value) => self.expression(value, used),
                        Argument::Place(Place { indices, .. }) => indices.iter().for_each(|index| self.expression(&index.value, used)),
                    }
                }
            }
            _ => walk::operands(expr, &mut |operand| self.expression(operand, used)),
        }
    }
}

/// The first member of a family that has the same steps as this one, given which parameters are relevant.
pub fn first_alike(rule: &Rule, relevant: &[bool], mut member: u64) -> u64 {
    let (mut first, mut weight) = (0, 1);
    for (parameter, relevant) in rule.parameters.iter().zip(relevant).rev() {
        let count = u64::from(parameter.count);
        first += if *relevant { member % count * weight } else { 0 };
        weight *= count;
        member /= count;
    }
    first
}
