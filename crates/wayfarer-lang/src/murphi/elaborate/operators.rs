//! Operators. Arithmetic is on 64-bit numbers and faults if the result does not fit; intervals show when that cannot
//! happen.

use super::build;
use super::interval::Interval;
use super::operand::{Object, Operand, Storage, Value};
use super::types::{Shape, Ty};
use super::{Elaborator, Undefined};
use crate::murphi::ast::{self, BinaryOp as Op, ChainOp, UnaryOp};
use crate::source::Span;
use wayfarer_ir::{BinaryOp, CheckedOp, Expr, FaultKind, Index, LoopExpr, LoopKind, Place, RealOp, UnaryOp as IrUnaryOp};

/// The most operands that may overflow: each is checked after those before it, so that they nest.
const LONGEST_CHAIN: usize = 100;

impl<'a> Elaborator<'a> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &'a ast::Expr, span: Span) -> Option<Value> {
        match op {
            UnaryOp::Not => Some(Value::truth(build::not(self.truth(operand, "the operand of `!`")?))),
            UnaryOp::Plus => self.quantity(operand, "the operand of `+`"),
            UnaryOp::Negate => {
                let value = self.quantity(operand, "the operand of `-`")?;
                if let Some(negated) = self.real_operation(RealOp::Negate, &Value::constant(0, Ty::NUMBER), &value) {
                    return Some(negated);
                }
                self.arithmetic(CheckedOp::Sub, Value::constant(0, Ty::NUMBER), value, span)
            }
            UnaryOp::Complement => {
                let value = self.number(operand, "the operand of `~`")?;
                let all_ones = if value.range.is_unsigned() { Interval::UNSIGNED.high } else { -1 };
                let range = Interval { low: all_ones - value.range.high, high: all_ones - value.range.low };
                let expr = match value.expr {
                    Expr::Const(value) => Expr::Const(!value),
                    expr => Expr::Unary(IrUnaryOp::Complement, Box::new(expr)),
                };
                Some(Value::new(expr, Ty::NUMBER, range))
            }
        }
    }

    pub(super) fn binary(&mut self, op: Op, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Option<Value> {
        match op {
            Op::Implies => {
                let (left, right) = (self.truth(left, "the left side of `->`"), self.truth(right, "the right side of `->`"));
                Some(Value::truth(build::any(vec![build::not(left?), right?])))
            }
            Op::Equal => self.equality(left, right, span).map(Value::truth),
            Op::NotEqual => self.equality(left, right, span).map(|equal| Value::truth(build::not(equal))),
            Op::Less => self.comparison(BinaryOp::Lt, RealOp::Lt, left, right, span),
            Op::LessEqual => self.comparison(BinaryOp::Le, RealOp::Le, left, right, span),
            Op::Greater => self.comparison(BinaryOp::Gt, RealOp::Gt, left, right, span),
            Op::GreaterEqual => self.comparison(BinaryOp::Ge, RealOp::Ge, left, right, span),
            Op::Subtract => self.quantities("-", left, right).and_then(|(left, right)| self.arithmetic(CheckedOp::Sub, left, right, span)),
            Op::Divide => self.quantities("/", left, right).and_then(|(left, right)| self.division(CheckedOp::Div, left, right, span)),
            Op::Remainder => self.numbers("%", left, right).and_then(|(left, right)| self.division(CheckedOp::Rem, left, right, span)),
            Op::ShiftLeft => self.numbers("<<", left, right).and_then(|(left, right)| self.shift(true, left, right, span)),
            Op::ShiftRight => self.numbers(">>", left, right).and_then(|(left, right)| self.shift(false, left, right, span)),
            Op::Xor => self.numbers("^", left, right).and_then(|(left, right)| self.bitwise(BinaryOp::Xor, left, right, span)),
        }
    }

    /// `&` and `|` are logical on booleans and bitwise on numbers; the first operand decides.
    pub(super) fn chain(&mut self, op: ChainOp, operands: &'a [ast::Expr], span: Span) -> Option<Value> {
        match op {
            ChainOp::Add => self.fold(CheckedOp::Add, operands, span),
            ChainOp::Multiply => self.fold(CheckedOp::Mul, operands, span),
            ChainOp::And | ChainOp::Or => {
                let (sign, bits) = if op == ChainOp::And { ("&", BinaryOp::And) } else { ("|", BinaryOp::Or) };
                let (first, rest) = operands.split_first()?;
                let first_value = self.value(first);
                if first_value.as_ref().is_some_and(|value| self.types.is_number(value.ty)) {
                    let role = format!("the other operand of `{sign}`, whose first operand is a number,");
                    let rest: Vec<Option<Value>> = rest.iter().map(|operand| self.number(operand, &role)).collect();
                    let values: Vec<Value> = std::iter::once(first_value).chain(rest).collect::<Option<_>>()?;
                    return halves(values, &mut |left, right| self.bitwise(bits, left, right, span));
                }
                if first_value.is_none() {
                    // It is not known whether the others should be numbers or truth values.
                    rest.iter().for_each(|operand| drop(self.value(operand)));
                }
                let role = format!("an operand of `{sign}`");
                let mut truths = vec![self.as_truth(first_value?, first.span, &role)];
                truths.extend(rest.iter().map(|operand| self.truth(operand, &role)));
                let truths: Vec<Expr> = truths.into_iter().collect::<Option<_>>()?;
                Some(Value::truth(if op == ChainOp::And { build::all(truths) } else { build::any(truths) }))
            }
        }
    }

    fn as_truth(&mut self, value: Value, span: Span, what: &str) -> Option<Expr> {
        if value.ty == Ty::BOOLEAN {
            return Some(value.expr);
        }
        let found = self.types.describe(value.ty);
        self.error(span, format!("{what} must be boolean, but this is of type {found}"));
        None
    }

    /// A sum or product of many operands. If no part of it can leave 64 bits, the operands are grouped in halves, so
    /// that long chains do not nest.
    fn fold(&mut self, op: CheckedOp, operands: &'a [ast::Expr], span: Span) -> Option<Value> {
        let (sign, total): (_, fn(i128, i128) -> i128) = match op {
            CheckedOp::Add => ("+", i128::saturating_add),
            _ => ("*", i128::saturating_mul),
        };
        let role = format!("an operand of `{sign}`");
        let values: Vec<Option<Value>> = operands.iter().map(|operand| self.quantity(operand, &role)).collect();
        let values: Vec<Value> = values.into_iter().collect::<Option<_>>()?;
        if values.iter().any(|value| self.types.is_real(value.ty)) {
            // Sums and products of real numbers depend on the order.
            let (first, rest) = values.split_first()?;
            return rest.iter().try_fold(first.clone(), |left, right| self.arithmetic(op, left, right.clone(), span));
        }
        let largest = values.iter().map(|value| value.range.low.abs().max(value.range.high.abs()).max(1)).reduce(total)?;
        if largest <= i64::MAX.into() {
            return halves(values, &mut |left, right| self.arithmetic(op, left, right, span));
        }
        if values.len() > LONGEST_CHAIN {
            self.error_with_help(
                span,
                format!("more than {LONGEST_CHAIN} operands of `{sign}` whose result may not fit 64 bits"),
                "compute it in steps",
            );
            return None;
        }
        let mut values = values.into_iter();
        let first = values.next()?;
        values.try_fold(first, |left, right| self.arithmetic(op, left, right, span))
    }

    fn quantities(&mut self, sign: &str, left: &'a ast::Expr, right: &'a ast::Expr) -> Option<(Value, Value)> {
        let role = format!("an operand of `{sign}`");
        let (left, right) = (self.quantity(left, &role), self.quantity(right, &role));
        left.zip(right)
    }

    fn numbers(&mut self, sign: &str, left: &'a ast::Expr, right: &'a ast::Expr) -> Option<(Value, Value)> {
        let role = format!("an operand of `{sign}`");
        let (left, right) = (self.number(left, &role), self.number(right, &role));
        left.zip(right)
    }

    fn comparison(&mut self, op: BinaryOp, real: RealOp, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Option<Value> {
        let role = "an operand of an order comparison";
        let (left, right) = (self.quantity(left, role), self.quantity(right, role));
        let (left, right) = (left?, right?);
        if let Some(truth) = self.real_operation(real, &left, &right) {
            return Some(truth);
        }
        self.compared(op, left, right, span).map(Value::truth)
    }

    /// A sum, difference or product, checked if it may leave 64 bits.
    pub(super) fn arithmetic(&mut self, op: CheckedOp, left: Value, right: Value, span: Span) -> Option<Value> {
        let (range, total, real) = match op {
            CheckedOp::Add => (left.range.add(right.range), BinaryOp::Add, RealOp::Add),
            CheckedOp::Sub => (left.range.subtract(right.range), BinaryOp::Sub, RealOp::Sub),
            _ => (left.range.multiply(right.range), BinaryOp::Mul, RealOp::Mul),
        };
        if let Some(value) = self.real_operation(real, &left, &right) {
            return Some(value);
        }
        if range.fits() {
            let expr = match (op, left.expr) {
                (CheckedOp::Sub, Expr::Const(0)) => build::negate(right.expr),
                (_, left) => build::binary(total, left, right.expr),
            };
            return Some(Value::new(expr, Ty::NUMBER, range));
        }
        if left.range.is_unsigned() || right.range.is_unsigned() {
            // A difference of a number with a sign and one without has a sign.
            let message = match op == CheckedOp::Sub && !left.range.is_unsigned() {
                true => format!("the value of {} does not fit 64 bits", self.quote(span)),
                false => format!("the value of {} is below 0 or above {}", self.quote(span), u64::MAX),
            };
            let fault = self.fault(FaultKind::Overflow, span, message);
            return self.unsigned_arithmetic(op, left, right, fault, range, span);
        }
        let message = format!("the value of {} does not fit 64 bits", self.quote(span));
        let fault = self.fault(FaultKind::Overflow, span, message);
        Some(Value::new(build::checked(op, left.expr, right.expr, fault), Ty::NUMBER, range.clamp(Interval::ALL)))
    }

    fn division(&mut self, op: CheckedOp, left: Value, right: Value, span: Span) -> Option<Value> {
        if let Some(value) = self.real_operation(RealOp::Div, &left, &right) {
            return Some(value);
        }
        let range = if op == CheckedOp::Div { left.range.divide(right.range) } else { left.range.remainder(right.range) };
        let kind = if right.range.contains(0) { FaultKind::Division } else { FaultKind::Overflow };
        let message = match kind {
            FaultKind::Division => format!("division by zero in {}", self.quote(span)),
            _ => format!("the value of {} does not fit 64 bits", self.quote(span)),
        };
        let fault = self.fault(kind, span, message);
        if left.range.is_unsigned() || right.range.is_unsigned() {
            return self.unsigned_arithmetic(op, left, right, fault, range, span);
        }
        Some(Value::new(build::checked(op, left.expr, right.expr, fault), Ty::NUMBER, range.clamp(Interval::ALL)))
    }

    /// A shift. A negative amount shifts the other way, and 64 or more shifts out all bits; to the right the sign is
    /// kept.
    fn shift(&mut self, left_wards: bool, value: Value, amount: Value, span: Span) -> Option<Value> {
        let (right, all) = match value.range.is_unsigned() {
            true => (BinaryOp::Ushr, Interval::UNSIGNED),
            false => (BinaryOp::Shr, Interval::ALL),
        };
        if amount.range.is_unsigned() {
            self.mixed_signs(span);
            return None;
        }
        let ops = if left_wards { (BinaryOp::Shl, right) } else { (right, BinaryOp::Shl) };
        let range = if left_wards || amount.range.low < 0 { all } else { value.range.hull(Interval::one(0)) };
        if amount.range.within(Interval::new(0, 63)) {
            return Some(Value::new(build::binary(ops.0, value.expr, amount.expr), Ty::NUMBER, range));
        }
        if !self.may_repeat(&value.expr, span) || !self.may_repeat(&amount.expr, span) {
            return None;
        }
        let (given, by) = (value.expr, amount.expr);
        let forth = build::binary(ops.0, given.clone(), by.clone());
        let back = build::binary(ops.1, given, build::negate(by.clone()));
        let inside = build::between(by.clone(), amount.range, -63, 63);
        let chosen = build::select(build::binary(BinaryOp::Lt, by, Expr::Const(0)), back, forth);
        Some(Value::new(build::select(inside, chosen, Expr::Const(0)), Ty::NUMBER, range))
    }

    fn bitwise(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Option<Value> {
        if left.range.is_unsigned() && right.range.low < 0 || right.range.is_unsigned() && left.range.low < 0 {
            self.mixed_signs(span);
            return None;
        }
        let range = left.range.bitwise(right.range);
        Some(Value::new(build::binary(op, left.expr, right.expr), Ty::NUMBER, range))
    }

    /// Whether two operands are equal. Records and arrays are compared part by part; an undefined part equals only
    /// another undefined part.
    fn equality(&mut self, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Option<Expr> {
        let (a, b) = (self.operand(left), self.operand(right));
        if let (Some(first), Some(second)) = (self.whole(&a), self.whole(&b)) {
            return self.objects_equal(first, second, span);
        }
        if self.options.undefined == Undefined::Copy
            && let Some(equal) = self.identifiers_equal(&a, &b, span)
        {
            return Some(equal);
        }
        let (mut a, mut b) = (self.operand_value(a, left)?, self.operand_value(b, right)?);
        self.common(&mut a, &mut b, "the two sides of this comparison", span)?;
        self.values_equal(a, b, span)
    }

    /// Whether two identifiers are equal, if one is a variable of a scalarset or union. As in CMurphi, such a
    /// variable may be undefined: then it equals only another undefined one. `None` if this is another kind of
    /// comparison.
    fn identifiers_equal(&mut self, a: &Operand, b: &Operand, span: Span) -> Option<Expr> {
        let identifier = |operand: &Operand| match operand {
            Operand::Object(object) => matches!(self.types.shape(object.ty), Shape::Scalarset | Shape::Union(_)),
            _ => false,
        };
        if !identifier(a) && !identifier(b) {
            return None;
        }
        let (mut a, mut b) = (self.loose(a)?, self.loose(b)?);
        let (a_ty, b_ty) = (a.ty, b.ty);
        let muted = std::mem::replace(&mut self.muted, true);
        let ty = self.common(&mut a, &mut b, "", span);
        self.muted = muted;
        let ty = ty?;
        // Undefined, which is -1 here, must not become a member when it is converted to the union.
        for (side, before) in [(&mut a, a_ty), (&mut b, b_ty)] {
            let shift = self.types.shift(before, ty)?;
            if shift != 0 && side.range.low < i128::from(shift) {
                if !self.may_repeat(&side.expr, span) {
                    return None;
                }
                let known = build::binary(BinaryOp::Ge, side.expr.clone(), Expr::Const(shift));
                side.expr = build::select(known, std::mem::replace(&mut side.expr, Expr::Const(0)), Expr::Const(-1));
            }
        }
        Some(build::equal(a.expr, b.expr))
    }

    /// The value of an operand; -1 if it is an undefined identifier.
    fn loose(&mut self, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Value(value) => Some(value.clone()),
            Operand::Object(object) => match self.types.shape(object.ty) {
                Shape::Scalarset | Shape::Union(_) => {
                    let simple = self.types.simple(object.ty)?;
                    let range = Interval { low: -1, ..simple.range() };
                    Some(Value::new(build::add(self.stored(object), -1), object.ty, range))
                }
                _ if self.types.is_value(object.ty) => self.read(object.clone()),
                _ => None,
            },
            Operand::Error | Operand::Undefined | Operand::Result { .. } => None,
        }
    }

    /// An operand that is a record, array or bag, with the expression that must be evaluated first.
    fn whole(&self, operand: &Operand) -> Option<(Option<Expr>, Object)> {
        match operand {
            Operand::Object(object) if !self.types.is_value(object.ty) => Some((None, object.clone())),
            Operand::Result { call, object } => Some((Some(call.clone()), object.clone())),
            _ => None,
        }
    }

    fn operand_value(&mut self, operand: Operand, expr: &ast::Expr) -> Option<Value> {
        match operand {
            Operand::Value(value) => Some(value),
            Operand::Object(object) if self.types.is_value(object.ty) => self.read(object),
            Operand::Object(object) | Operand::Result { object, .. } => {
                let found = self.types.describe(object.ty);
                self.error(expr.span, format!("this is of type {found} and cannot be compared with a single value"));
                None
            }
            Operand::Undefined => {
                self.error_with_help(expr.span, "nothing is equal to `undefined`", "write `isundefined(x)` to ask whether x is undefined");
                None
            }
            Operand::Error => None,
        }
    }

    fn objects_equal(&mut self, left: (Option<Expr>, Object), right: (Option<Expr>, Object), span: Span) -> Option<Expr> {
        let ((call_a, a), (call_b, b)) = (left, right);
        if !self.types.same(a.ty, b.ty) {
            let (found, other) = (self.types.describe(a.ty), self.types.describe(b.ty));
            self.error(span, format!("the two sides of this comparison do not go together: one is of type {found}, the other of type {other}"));
            return None;
        }
        if self.types.has_bag(a.ty) {
            self.error_with_help(span, "multisets cannot be compared", "compare what `multisetcount` says about them");
            return None;
        }
        let (Storage::Memory(a_place), Storage::Memory(b_place)) = (a.storage, b.storage) else { return None };
        for place in [&a_place, &b_place] {
            if !self.may_repeat(&Expr::Load { place: place.clone(), bits: 1 }, span) {
                return None;
            }
        }
        let bits = self.types.bits(a.ty);
        let load = |place: Place| Expr::Load { place, bits: bits.min(64) as u8 };
        let equal = if bits <= 64 {
            build::equal(load(a_place), load(b_place))
        } else {
            let words = bits / 64;
            let register = self.code.register();
            let fault = self.fuel(span, "comparison");
            let word = |mut place: Place| {
                place.indices.push(Index { value: Expr::Reg(register), stride: 64, count: words, fault });
                load(place)
            };
            Expr::Loop(Box::new(LoopExpr {
                kind: LoopKind::All,
                register,
                from: Expr::Const(0),
                to: Expr::Const(i64::from(words) - 1),
                by: 1,
                body: build::equal(word(a_place), word(b_place)),
                fuel: fault,
            }))
        };
        let calls = call_b.into_iter().chain(call_a);
        Some(calls.fold(equal, |equal, call| build::sequence(call, equal)))
    }
}

/// Combines values in order, in a tree of least height.
fn halves(mut values: Vec<Value>, combine: &mut impl FnMut(Value, Value) -> Option<Value>) -> Option<Value> {
    if values.len() <= 2 {
        let right = values.pop();
        return match (values.pop(), right) {
            (Some(left), Some(right)) => combine(left, right),
            (_, value) => value,
        };
    }
    let right = values.split_off(values.len() / 2);
    let left = halves(values, combine)?;
    let right = halves(right, combine)?;
    combine(left, right)
}

/// Whether a constant expression could not be folded because it divides by zero.
pub(super) fn zero_divisor(expr: &Expr) -> bool {
    match expr {
        Expr::Checked { op: CheckedOp::Div | CheckedOp::Rem, right, .. } if matches!(**right, Expr::Const(0)) => true,
        Expr::Checked { left, right, .. } | Expr::Binary(_, left, right) => zero_divisor(left) || zero_divisor(right),
        Expr::Unary(_, operand) => zero_divisor(operand),
        _ => false,
    }
}
