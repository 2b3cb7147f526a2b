//! Which conjuncts of a guard can fault, judged by the ranges of the values they read.

use crate::shape;
use wayfarer_ir::{Argument, BinaryOp, CheckedOp, Expr, LoopKind, Place, Program, Test, UnaryOp};

/// The least and the greatest value.
pub(crate) type Range = (i64, i64);

const ANY: Range = (i64::MIN, i64::MAX);
const TRUTH: Range = (0, 1);

/// Whether evaluating an expression may fault for some state and some values of the registers in the given ranges.
/// Fuel is not looked at.
pub(crate) fn may_fault(program: &Program, expr: &Expr, registers: &[Range]) -> bool {
    let mut judge = Judge { program, faults: false, calls: 0 };
    judge.range(expr, &mut registers.to_vec());
    judge.faults
}

/// The range of an expression.
struct Judge<'a> {
    program: &'a Program,
    faults: bool,
    /// Calls that are being looked at.
    calls: u32,
}

/// Deeper calls are not looked at.
const DEEPEST_CALL: u32 = 8;

impl Judge<'_> {
    fn range(&mut self, expr: &Expr, registers: &mut Vec<Range>) -> Range {
        match expr {
            Expr::Const(value) => (*value, *value),
            Expr::Reg(register) => registers.get(register.0 as usize).copied().unwrap_or(ANY),
            Expr::Load { place, bits } => {
                self.place(place, registers);
                if *bits < 63 { (0, (1 << bits) - 1) } else { ANY }
            }
            Expr::Unary(op, operand) => {
                self.range(operand, registers);
                if *op == UnaryOp::Not { TRUTH } else { ANY }
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.range(left, registers), self.range(right, registers));
                let exact = match op {
                    BinaryOp::Add => sum(left, right),
                    BinaryOp::Sub => difference(left, right),
                    BinaryOp::Mul => product(left, right),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Some(TRUTH),
                    BinaryOp::Real(op) if op.is_comparison() => Some(TRUTH),
                    _ => None,
                };
                exact.unwrap_or(ANY)
            }
            Expr::Checked { op, left, right, .. } => {
                let (left, right) = (self.range(left, registers), self.range(right, registers));
                let exact = match op {
                    CheckedOp::Add => sum(left, right),
                    CheckedOp::Sub => difference(left, right),
                    CheckedOp::Mul => product(left, right),
                    _ => None,
                };
                self.faults |= exact.is_none();
                exact.unwrap_or(ANY)
            }
            Expr::All(operands) | Expr::Any(operands) => {
                operands.iter().for_each(|operand| {
                    self.range(operand, registers);
                });
                TRUTH
            }
            Expr::Select(condition, then, otherwise) => {
                self.range(condition, registers);
                let (first, second) = (self.range(then, registers), self.range(otherwise, registers));
                (first.0.min(second.0), first.1.max(second.1))
            }
            Expr::Require { value, test, .. } => {
                let (low, high) = self.range(value, registers);
                let (passes, kept) = match test {
                    Test::NonZero => (low > 0 || high < 0, (low, high)),
                    Test::Between(from, to) => (*from <= low && high <= *to, (low.max(*from), high.min(*to))),
                };
                self.faults |= !passes;
                if kept.0 <= kept.1 { kept } else { (low, high) }
            }
            Expr::Loop(fold) => {
                let (from, to) = (self.range(&fold.from, registers), self.range(&fold.to, registers));
                let range = if fold.by < 0 { (to.0, from.1) } else { (from.0, to.1) };
                let slot = fold.register.0 as usize;
                if range.0 > range.1 || slot >= registers.len() {
                    self.faults |= slot >= registers.len();
                    return ANY;
                }
                let before = std::mem::replace(&mut registers[slot], range);
                self.range(&fold.body, registers);
                registers[slot] = before;
                if fold.kind == LoopKind::Sum { ANY } else { TRUTH }
            }
            Expr::Call { function, arguments, .. } => {
                let callee = &self.program.functions[function.0 as usize];
                let body = shape::as_expression(callee);
                let mut inner = Vec::new();
                for argument in arguments {
                    match argument {
                        Argument::Value(expr) => inner.push(self.range(expr, registers)),
                        Argument::Place(place) => self.place(place, registers),
                    }
                }
                inner.resize(callee.body.registers as usize, (0, 0));
                match body {
                    Some(body) if self.calls < DEEPEST_CALL => {
                        self.calls += 1;
                        let range = self.range(body, &mut inner);
                        self.calls -= 1;
                        range
                    }
                    _ => {
                        self.faults = true;
                        ANY
                    }
                }
            }
        }
    }

    fn place(&mut self, place: &Place, registers: &mut Vec<Range>) {
        for index in &place.indices {
            let (low, high) = self.range(&index.value, registers);
            self.faults |= low < 0 || high >= i64::from(index.count);
        }
    }
}

fn sum(left: Range, right: Range) -> Option<Range> {
    Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?))
}

fn difference(left: Range, right: Range) -> Option<Range> {
    Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?))
}

fn product(left: Range, right: Range) -> Option<Range> {
    let corners = [left.0.checked_mul(right.0)?, left.0.checked_mul(right.1)?, left.1.checked_mul(right.0)?, left.1.checked_mul(right.1)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_ir::{FaultId, Index, Reg, Root};

    fn load(value: Expr, count: u32) -> Expr {
        let index = Index { value, stride: 4, count, fault: FaultId(0) };
        Expr::Load { place: Place { root: Root::State, offset: 0, indices: vec![index] }, bits: 4 }
    }

    #[test]
    fn indices_within_bounds_do_not_fault() {
        let program = Program::default();
        let moved = Expr::Binary(BinaryOp::Sub, Box::new(Expr::Reg(Reg(0))), Box::new(Expr::Const(1)));
        assert!(!may_fault(&program, &load(moved.clone(), 5), &[(1, 5)]));
        assert!(may_fault(&program, &load(moved.clone(), 4), &[(1, 5)]));
        assert!(may_fault(&program, &load(moved, 5), &[(0, 5)]));
        let defined = Expr::Require { value: Box::new(load(Expr::Reg(Reg(0)), 9)), test: Test::NonZero, fault: FaultId(0) };
        assert!(may_fault(&program, &defined, &[(0, 5)]));
        assert!(!may_fault(&program, &load(load(Expr::Const(0), 1), 16), &[]));
    }
}
