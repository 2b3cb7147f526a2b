//! The results of elaborating an expression.

use super::interval::Interval;
use super::types::Ty;
use crate::source::Span;
use wayfarer_ir::{Expr, Place, Reg};

/// The result of elaborating an expression.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// There was an error, which has been reported.
    Error,
    /// The word `undefined`.
    Undefined,
    /// A value, not undefined.
    Value(Value),
    /// An object in memory or a register, which may be undefined.
    Object(Object),
    /// An object that holds a function's result once `call` has been evaluated.
    Result { call: Expr, object: Object },
}

/// A value with its type and the interval it is known to lie in.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) expr: Expr,
    pub(super) ty: Ty,
    pub(super) range: Interval,
}

impl Value {
    pub(super) fn new(expr: Expr, ty: Ty, range: Interval) -> Self {
        Value { expr, ty, range }
    }

    pub(super) fn constant(value: i64, ty: Ty) -> Self {
        Value::new(Expr::Const(value), ty, Interval::one(value))
    }

    /// A constant number that fits a register, with a sign or without.
    pub(super) fn number(value: i128) -> Self {
        Value::new(Expr::Const(value as i64), Ty::NUMBER, Interval { low: value, high: value })
    }

    pub(super) fn real(expr: Expr) -> Self {
        Value::new(expr, Ty::REAL, Interval::ALL)
    }

    pub(super) fn truth(expr: Expr) -> Self {
        Value::new(expr, Ty::BOOLEAN, Interval::TRUTH)
    }

    /// The register's value, if it is constant.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.expr {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }
}

/// A stored object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) storage: Storage,
    pub(super) ty: Ty,
    /// The reason why it cannot be written, if so.
    pub(super) fixed: Option<&'static str>,
    /// The position of its mention.
    pub(super) span: Span,
}

/// The location of an object. Only scalars are in registers or results, in their stored form.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Memory(Place),
    Register(Reg),
    /// The result of a call, just computed.
    Computed(Expr),
}
