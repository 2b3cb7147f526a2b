//! Expressions: translates each form to an operand.

use super::Elaborator;
use super::build;
use super::interval::Interval;
use super::operand::{Object, Operand, Storage, Value};
use super::types::{Shape, Ty};
use crate::murphi::ast::{self, ExprKind};
use crate::source::Span;
use wayfarer_ir::{BinaryOp, Expr, FaultKind, RealOp, Test};

impl<'a> Elaborator<'a> {
    /// The operand of an expression. Names, fields and elements stay objects, so that they can be written, passed by
    /// reference and copied undefined.
    pub(super) fn operand(&mut self, expr: &'a ast::Expr) -> Operand {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Field { base, field } => self.field(base, field, expr.span),
            ExprKind::Index { base, index } => self.element(base, index, expr.span),
            ExprKind::Call { function, arguments } => self.call_expression(function, arguments, expr.span),
            ExprKind::Parenthesised(inner) => self.operand(inner),
            _ => self.computed(expr).map_or(Operand::Error, Operand::Value),
        }
    }

    /// The value of an expression; `None` if there was an error, which has been reported.
    pub(super) fn value(&mut self, expr: &'a ast::Expr) -> Option<Value> {
        match self.operand(expr) {
            Operand::Error => None,
            Operand::Value(value) => Some(value),
            Operand::Object(object) if self.types.is_value(object.ty) => self.read(object),
            Operand::Object(object) | Operand::Result { object, .. } => {
                let found = self.types.describe(object.ty);
                self.error(expr.span, format!("a single value is needed here, but this is of type {found}"));
                None
            }
            Operand::Undefined => {
                self.error_with_help(
                    expr.span,
                    "`undefined` can only be passed as an argument",
                    "write `undefine x` to make x undefined, `isundefined(x)` to ask",
                );
                None
            }
        }
    }

    /// The truth value of an expression; `what` names its role.
    pub(super) fn truth(&mut self, expr: &'a ast::Expr, what: &str) -> Option<Expr> {
        let value = self.value(expr)?;
        if value.ty == Ty::BOOLEAN {
            return Some(value.expr);
        }
        if value.ty != Ty::ERROR {
            let found = self.types.describe(value.ty);
            let help = if self.types.is_number(value.ty) { "compare the number with another, as in `x != 0`" } else { "compare it, as in `x = y`" };
            self.error_with_help(expr.span, format!("{what} must be boolean, but this is of type {found}"), help);
        }
        None
    }

    /// A whole or real number; `what` names its role.
    pub(super) fn quantity(&mut self, expr: &'a ast::Expr, what: &str) -> Option<Value> {
        let value = self.value(expr)?;
        if self.types.is_number(value.ty) || self.types.is_real(value.ty) {
            return Some(value);
        }
        if value.ty != Ty::ERROR {
            let found = self.types.describe(value.ty);
            self.error(expr.span, format!("{what} must be a number, but this is of type {found}"));
        }
        None
    }

    /// A whole number; `what` names its role.
    pub(super) fn number(&mut self, expr: &'a ast::Expr, what: &str) -> Option<Value> {
        let value = self.value(expr)?;
        if self.types.is_number(value.ty) {
            return Some(value);
        }
        if value.ty != Ty::ERROR {
            let found = self.types.describe(value.ty);
            let number = if self.types.is_real(value.ty) { "whole number" } else { "number" };
            self.error(expr.span, format!("{what} must be a {number}, but this is of type {found}"));
        }
        None
    }

    /// The value of an object, which must not be undefined.
    pub(super) fn read(&mut self, object: Object) -> Option<Value> {
        let simple = self.types.simple(object.ty)?;
        if simple.total {
            return Some(Value::new(build::add(self.stored(&object), simple.to_stored().wrapping_neg()), object.ty, simple.range()));
        }
        let message = format!("{} is undefined", self.quote(object.span));
        let fault = self.fault(FaultKind::Undefined, object.span, message);
        let stored = build::require(self.stored(&object), Test::NonZero, fault);
        if let Some(format) = self.types.real_format(object.ty) {
            return Some(Value::real(build::real(RealOp::Unpack, Expr::Const(format.encode()), stored)));
        }
        Some(Value::new(build::add(stored, simple.to_stored().wrapping_neg()), object.ty, simple.range()))
    }

    /// The stored form of a scalar object.
    pub(super) fn stored(&self, object: &Object) -> Expr {
        match &object.storage {
            Storage::Memory(place) => Expr::Load { place: place.clone(), bits: self.types.bits(object.ty).min(64) as u8 },
            Storage::Register(register) => Expr::Reg(*register),
            Storage::Computed(expr) => expr.clone(),
        }
    }

    /// Forms that give values.
    fn computed(&mut self, expr: &'a ast::Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Number(number) => Some(Value::constant(*number, Ty::NUMBER)),
            ExprKind::HugeNumber(number) => Some(Value::number(i128::from(*number))),
            ExprKind::Real(text) => self.real_literal(text, expr.span),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, expr.span),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, expr.span),
            ExprKind::Chain { op, operands } => self.chain(*op, operands, expr.span),
            ExprKind::Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise, expr.span),
            ExprKind::Quantified { universal, quantifiers, body } => self.quantified(*universal, quantifiers, body, expr.span),
            ExprKind::IsUndefined(operand) => self.is_undefined(operand),
            ExprKind::IsMember { value, ty } => self.is_member(value, ty),
            ExprKind::BagCount { name, bag, condition } => self.bag_count(name, bag, condition, expr.span),
            ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. } | ExprKind::Call { .. } | ExprKind::Parenthesised(_) => None,
        }
    }

    fn conditional(&mut self, condition: &'a ast::Expr, then: &'a ast::Expr, otherwise: &'a ast::Expr, span: Span) -> Option<Value> {
        let condition = self.truth(condition, "the condition of `?:`");
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        let (condition, mut then, mut otherwise) = (condition?, then?, otherwise?);
        let ty = if self.types.is_number(then.ty) && self.types.is_number(otherwise.ty) {
            Ty::NUMBER
        } else {
            self.common(&mut then, &mut otherwise, "the two sides of `?:`", span)?
        };
        let range = then.range.hull(otherwise.range);
        if !range.fits() {
            self.mixed_signs(span);
            return None;
        }
        Some(Value::new(build::select(condition, then.expr, otherwise.expr), ty, range))
    }

    /// Converts two values to one type: the union, if one of them is a union that has the other as a member.
    pub(super) fn common(&mut self, left: &mut Value, right: &mut Value, what: &str, span: Span) -> Option<Ty> {
        if left.ty == Ty::ERROR || right.ty == Ty::ERROR {
            return None;
        }
        if self.types.is_real(left.ty) || self.types.is_real(right.ty) {
            return self.common_real(left, right, what, span);
        }
        let to_right = self.types.shift(left.ty, right.ty);
        let to_left = self.types.shift(right.ty, left.ty);
        let (narrow, shift, ty) = match (self.types.shape(left.ty), self.types.shape(right.ty)) {
            (Shape::Union(members), Shape::Union(others)) if members.len() > others.len() => (right, to_left, left.ty),
            (Shape::Union(_), Shape::Union(_)) => (left, to_right, right.ty),
            (Shape::Union(_), _) => (right, to_left, left.ty),
            _ => (left, to_right, right.ty),
        };
        let Some(shift) = shift else {
            let other = if narrow.ty == ty { "itself".to_string() } else { self.types.describe(ty) };
            let found = self.types.describe(narrow.ty);
            self.error(span, format!("{what} do not go together: one is of type {found}, the other of type {other}"));
            return None;
        };
        narrow.expr = build::add(std::mem::replace(&mut narrow.expr, Expr::Const(0)), shift);
        narrow.range = narrow.range.shift(shift);
        narrow.ty = ty;
        Some(ty)
    }

    fn is_undefined(&mut self, operand: &'a ast::Expr) -> Option<Value> {
        match self.operand(operand) {
            Operand::Error => None,
            Operand::Object(object) if self.types.simple(object.ty).is_some_and(|simple| simple.total) => Some(Value::truth(Expr::Const(0))),
            Operand::Object(object) if self.types.simple(object.ty).is_some() && !matches!(object.storage, Storage::Computed(_)) => {
                Some(Value::truth(build::equal(self.stored(&object), Expr::Const(0))))
            }
            // Loop variables and parameters of rules always have a value.
            Operand::Value(value) if matches!(value.expr, Expr::Reg(_)) => Some(Value::truth(Expr::Const(0))),
            Operand::Object(object) if !self.types.is_value(object.ty) => {
                let found = self.types.describe(object.ty);
                self.error_with_help(
                    operand.span,
                    format!("`isundefined` asks about a single value, but this is of type {found}"),
                    "name one of its parts, as in `isundefined(x.field)`",
                );
                None
            }
            _ => {
                self.error_with_help(operand.span, "`isundefined` asks about a variable", "a computed value is never undefined");
                None
            }
        }
    }

    /// Whether a value of a union belongs to a member. Undefined belongs to none.
    fn is_member(&mut self, value: &'a ast::Expr, ty: &'a ast::TypeExpr) -> Option<Value> {
        let operand = self.operand(value);
        let member = self.type_expr(ty, None);
        let (stored, from, known) = match operand {
            Operand::Object(object) if self.types.simple(object.ty).is_some() => {
                let simple = self.types.simple(object.ty)?;
                (self.stored(&object), object.ty, Interval { low: 0, high: simple.high - simple.low + 1 })
            }
            Operand::Value(value) => {
                let by = self.types.simple(value.ty).map_or(1, |simple| simple.to_stored());
                (build::add(value.expr, by), value.ty, value.range.shift(by))
            }
            Operand::Error => return None,
            _ => {
                self.error(value.span, "`ismember` asks about a value of a union");
                return None;
            }
        };
        if member == Ty::ERROR || from == Ty::ERROR {
            return None;
        }
        let (Some(shift), Some(target)) = (self.types.shift(member, from), self.types.ordinal(member)) else {
            let (found, wanted) = (self.types.describe(from), self.types.describe(member));
            self.error(value.span, format!("a value of type {found} is never of type {wanted}"));
            return None;
        };
        if !self.may_repeat(&stored, value.span) {
            return None;
        }
        let low = self.types.simple(from).map_or(0, |simple| simple.low);
        let [first, last] = [target.low, target.high].map(|end| end + i128::from(shift) - low + 1);
        if known.low == 0 && first == 1 && known.high == last {
            return Some(Value::truth(build::binary(BinaryOp::Ne, stored, Expr::Const(0))));
        }
        Some(Value::truth(build::between(stored, known, first as i64, last as i64)))
    }

    /// Counts the nodes added by expanding a name; reports an error if they grow too many.
    pub(super) fn charge(&mut self, operand: &Operand, span: Span) -> bool {
        let size = match operand {
            Operand::Value(value) => build::size(&value.expr) - 1,
            Operand::Object(Object { storage: Storage::Memory(place), .. }) => build::place_size(place),
            _ => 0,
        };
        self.code.expansion += size;
        if size >= build::LARGEST || self.code.expansion > 10 * build::LARGEST {
            self.error(span, "aliases of aliases make this expression too large when written out");
            self.code.expansion = 0;
            return false;
        }
        true
    }
}
