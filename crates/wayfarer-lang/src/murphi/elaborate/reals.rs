//! Real numbers, with CMurphi's meaning: expressions compute with 64 bits, and a value is rounded to the digits of its
//! type where it is stored, passed by value or returned. A whole number stands for the real number that equals it.

use super::Elaborator;
use super::build;
use super::conversions::Goal;
use super::operand::{Operand, Value};
use super::types::Ty;
use crate::murphi::ast::{self, Name};
use crate::source::Span;
use wayfarer_ir::{Expr, FaultKind, RealFormat, RealOp, Test};

/// The functions that CMurphi has, with the number of their arguments.
const FUNCTIONS: [(&str, RealOp, usize); 18] = [
    ("log", RealOp::Log, 1),
    ("log10", RealOp::Log10, 1),
    ("exp", RealOp::Exp, 1),
    ("sin", RealOp::Sin, 1),
    ("cos", RealOp::Cos, 1),
    ("tan", RealOp::Tan, 1),
    ("fabs", RealOp::Abs, 1),
    ("floor", RealOp::Floor, 1),
    ("ceil", RealOp::Ceil, 1),
    ("sqrt", RealOp::Sqrt, 1),
    ("fmod", RealOp::Fmod, 2),
    ("pow", RealOp::Pow, 2),
    ("asin", RealOp::Asin, 1),
    ("acos", RealOp::Acos, 1),
    ("atan", RealOp::Atan, 1),
    ("sinh", RealOp::Sinh, 1),
    ("cosh", RealOp::Cosh, 1),
    ("tanh", RealOp::Tanh, 1),
];

impl<'a> Elaborator<'a> {
    pub(super) fn real_literal(&mut self, text: &str, span: Span) -> Option<Value> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Some(Value::real(Expr::Const(value.to_bits() as i64))),
            _ => {
                self.error(span, format!("{text} is too large for a real number"));
                None
            }
        }
    }

    /// The real number that a value stands for, if it is a number.
    pub(super) fn as_real(&self, value: &Value) -> Option<Expr> {
        if self.types.is_real(value.ty) {
            return Some(value.expr.clone());
        }
        let without_sign = i64::from(value.range.is_unsigned());
        self.types.is_number(value.ty).then(|| build::real(RealOp::Convert, Expr::Const(without_sign), value.expr.clone()))
    }

    /// An operator on two numbers, at least one of them real; `None` if neither is.
    pub(super) fn real_operation(&self, op: RealOp, left: &Value, right: &Value) -> Option<Value> {
        if !self.types.is_real(left.ty) && !self.types.is_real(right.ty) {
            return None;
        }
        let expr = build::real(op, self.as_real(left)?, self.as_real(right)?);
        Some(if op.is_comparison() { Value::truth(expr) } else { Value::real(expr) })
    }

    /// Makes both of two numbers real.
    pub(super) fn common_real(&mut self, left: &mut Value, right: &mut Value, what: &str, span: Span) -> Option<Ty> {
        match (self.as_real(left), self.as_real(right)) {
            (Some(first), Some(second)) => {
                (*left, *right) = (Value::real(first), Value::real(second));
                Some(Ty::REAL)
            }
            _ => {
                let (found, other) = (self.types.describe(left.ty), self.types.describe(right.ty));
                self.error(span, format!("{what} do not go together: one is of type {found}, the other of type {other}"));
                None
            }
        }
    }

    /// The stored form of a value. It has none if it is infinite or no number, as after a division by zero, or if its
    /// exponent is too large.
    pub(super) fn packed(&mut self, value: Expr, format: RealFormat, span: Span, goal: Goal) -> Expr {
        let message = format!(
            "the value of {} is not a real number of {} digits with an exponent of at most {}, as {} needs",
            self.quote(span),
            format.digits,
            format.exponent,
            self.goal(goal)
        );
        let packed = build::real(RealOp::Pack, Expr::Const(format.encode()), value);
        if matches!(packed, Expr::Const(stored) if stored != 0) {
            return packed;
        }
        let fault = self.fault(FaultKind::Range, span, message);
        build::require(packed, Test::NonZero, fault)
    }

    /// A call of a function on real numbers; `None` if there is none of this name.
    pub(super) fn real_function(&mut self, name: &'a Name, arguments: &'a [ast::Expr], span: Span) -> Option<Operand> {
        let (text, op, count) = *FUNCTIONS.iter().find(|(text, _, _)| *text == name.text)?;
        let role = format!("an argument of `{text}`");
        let values: Vec<Option<Value>> = arguments.iter().map(|argument| self.quantity(argument, &role)).collect();
        if values.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            self.error(span, format!("`{text}` takes {count} argument{plural}, but {} are given here", values.len()));
            return Some(Operand::Error);
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<Value>>>() else { return Some(Operand::Error) };
        let mut reals: Vec<Expr> = values.iter().filter_map(|value| self.as_real(value)).collect();
        let right = reals.pop()?;
        let left = reals.pop().unwrap_or(Expr::Const(0));
        Some(Operand::Value(Value::real(build::real(op, left, right))))
    }
}
