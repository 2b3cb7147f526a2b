//! Numbers beyond 2^63 - 1. A register holds them modulo 2^64, and the interval of a value says whether it has a sign. So
//! sums, differences and products that are known to fit need nothing; this is about the rest.
//!
//! An operation on a number without sign gives one without sign: a negative result is a fault.

use super::Elaborator;
use super::build;
use super::interval::Interval;
use super::operand::Value;
use super::types::Ty;
use crate::source::Span;
use wayfarer_ir::{BinaryOp, CheckedOp, Expr, FaultId};

impl<'a> Elaborator<'a> {
    /// Reports that numbers below 0 and numbers beyond 2^63 - 1 meet in a way that no register can hold.
    pub(super) fn mixed_signs(&mut self, span: Span) {
        self.error_with_help(
            span,
            format!("this mixes numbers that may be below 0 with numbers that may be beyond {}", i64::MAX),
            "assign the one to a variable of a narrower range first, and use that",
        );
    }

    /// A sum, difference, product, quotient or remainder of which an operand may be beyond 2^63 - 1, checked. `range` holds
    /// the exact results. `None` if an error was reported.
    pub(super) fn unsigned_arithmetic(
        &mut self,
        op: CheckedOp,
        left: Value,
        right: Value,
        fault: FaultId,
        range: Interval,
        span: Span,
    ) -> Option<Value> {
        let unsigned = |expr: Expr| Some(Value::new(expr, Ty::NUMBER, range.clamp(Interval::UNSIGNED)));
        match (op, left.range.low < 0, right.range.low < 0) {
            (CheckedOp::Sub, _, false) if !left.range.is_unsigned() => {
                // The left operand moved to the numbers without sign, less the right one, moved back.
                let moved = build::checked(CheckedOp::UnsignedSub, build::biased(left.expr), right.expr, fault);
                Some(Value::new(build::biased(moved), Ty::NUMBER, range.clamp(Interval::ALL)))
            }
            (_, false, false) => unsigned(build::checked(without_sign(op), left.expr, right.expr, fault)),
            (CheckedOp::Add, true, false) => self.unsigned_arithmetic(op, right, left, fault, range, span),
            (CheckedOp::Add | CheckedOp::Sub, false, true) if self.may_repeat(&right.expr, span) => {
                let (forth, back) = match op {
                    CheckedOp::Add => (CheckedOp::UnsignedAdd, CheckedOp::UnsignedSub),
                    _ => (CheckedOp::UnsignedSub, CheckedOp::UnsignedAdd),
                };
                if !self.may_repeat(&left.expr, span) {
                    return None;
                }
                let negative = build::binary(BinaryOp::Lt, right.expr.clone(), Expr::Const(0));
                let less = build::checked(back, left.expr.clone(), build::negate(right.expr.clone()), fault);
                let more = build::checked(forth, left.expr, right.expr, fault);
                unsigned(build::select(negative, less, more))
            }
            _ => {
                self.mixed_signs(span);
                None
            }
        }
    }

    /// An order comparison.
    pub(super) fn compared(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Option<Expr> {
        if !left.range.is_unsigned() && !right.range.is_unsigned() {
            return Some(build::order(op, left.expr, right.expr, left.range.modest() && right.range.modest()));
        }
        let order = |left: Expr, right: Expr| build::binary(op, build::biased(left), build::biased(right));
        // A number below 0 is less than one without sign.
        let (signed, if_negative) = match (left.range.low < 0, right.range.low < 0) {
            (true, _) => (&left, matches!(op, BinaryOp::Lt | BinaryOp::Le)),
            (_, true) => (&right, matches!(op, BinaryOp::Gt | BinaryOp::Ge)),
            _ => return Some(order(left.expr, right.expr)),
        };
        if !self.may_repeat(&signed.expr, span) {
            return None;
        }
        let negative = build::binary(BinaryOp::Lt, signed.expr.clone(), Expr::Const(0));
        Some(build::select(negative, Expr::Const(if_negative.into()), order(left.expr, right.expr)))
    }

    /// Whether two values of the same type are equal.
    pub(super) fn values_equal(&mut self, left: Value, right: Value, span: Span) -> Option<Expr> {
        if let Some(equal) = self.real_operation(wayfarer_ir::RealOp::Eq, &left, &right) {
            return Some(equal.expr);
        }
        let signed = match (left.range.is_unsigned(), right.range.is_unsigned()) {
            (false, true) if left.range.low < 0 => left.expr.clone(),
            (true, false) if right.range.low < 0 => right.expr.clone(),
            _ => return Some(build::equal(left.expr, right.expr)),
        };
        if !self.may_repeat(&signed, span) {
            return None;
        }
        Some(build::all(vec![build::binary(BinaryOp::Ge, signed, Expr::Const(0)), build::equal(left.expr, right.expr)]))
    }
}

/// The operator on numbers without sign.
fn without_sign(op: CheckedOp) -> CheckedOp {
    match op {
        CheckedOp::Add => CheckedOp::UnsignedAdd,
        CheckedOp::Sub => CheckedOp::UnsignedSub,
        CheckedOp::Mul => CheckedOp::UnsignedMul,
        CheckedOp::Div => CheckedOp::UnsignedDiv,
        CheckedOp::Rem => CheckedOp::UnsignedRem,
        op => op,
    }
}
