//! Values while code is emitted: a constant if it is known, otherwise a machine value with its known range.
//!
//! Constants are folded here, as the code is emitted: a rule's parameters are constants, so most indices, tests and
//! branches vanish before Cranelift sees them.

use super::{Emitter, Outcome, Stop};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use wayfarer_ir::{BinaryOp, CheckedOp, FaultId, Test, UnaryOp};

/// The representation of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    Constant(i64),
    /// The wrapping sum of a machine value and a constant. Offsets of stored forms cancel without ever being computed.
    Sum(Value, i64),
    /// A truth value in a byte: 0 or 1.
    Flag(Value),
}

/// A value and the range it lies in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Val {
    pub(crate) held: Held,
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// A condition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    Known(bool),
    Flag(Value),
}

impl Val {
    pub(crate) fn constant(value: i64) -> Self {
        Val { held: Held::Constant(value), low: value, high: value }
    }

    pub(crate) fn any(value: Value) -> Self {
        Val::within(value, i64::MIN, i64::MAX)
    }

    pub(crate) fn within(value: Value, low: i64, high: i64) -> Self {
        if low == high {
            return Val::constant(low);
        }
        Val { held: Held::Sum(value, 0), low, high }
    }

    pub(crate) fn flag(value: Value) -> Self {
        Val { held: Held::Flag(value), low: 0, high: 1 }
    }

    pub(crate) fn known(self) -> Option<i64> {
        match self.held {
            Held::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The same value with a narrower range.
    pub(crate) fn narrowed(self, low: i64, high: i64) -> Self {
        let (low, high) = (self.low.max(low), self.high.min(high));
        if low == high {
            return Val::constant(low);
        }
        if low > high {
            return self;
        }
        Val { low, high, ..self }
    }
}

impl From<Condition> for Val {
    fn from(condition: Condition) -> Val {
        match condition {
            Condition::Known(value) => Val::constant(i64::from(value)),
            Condition::Flag(value) => Val::flag(value),
        }
    }
}

impl Emitter<'_, '_> {
    /// The value as a machine word.
    pub(crate) fn word(&mut self, value: Val) -> Value {
        match value.held {
            Held::Constant(value) => self.builder.ins().iconst(types::I64, value),
            Held::Sum(value, 0) => value,
            Held::Sum(value, add) => self.builder.ins().iadd_imm_s(value, add),
            Held::Flag(value) => self.builder.ins().uextend(types::I64, value),
        }
    }

    /// Whether the value is not zero.
    pub(crate) fn truth(&mut self, value: Val) -> Condition {
        match value.held {
            Held::Constant(value) => Condition::Known(value != 0),
            _ if value.low > 0 || value.high < 0 => Condition::Known(true),
            Held::Sum(value, add) => Condition::Flag(self.builder.ins().icmp_imm_s(IntCC::NotEqual, value, add.wrapping_neg())),
            Held::Flag(value) => Condition::Flag(value),
        }
    }

    pub(crate) fn negated(&mut self, condition: Condition) -> Condition {
        match condition {
            Condition::Known(value) => Condition::Known(!value),
            Condition::Flag(value) => Condition::Flag(self.builder.ins().bxor_imm_s(value, 1)),
        }
    }

    pub(crate) fn both(&mut self, left: Condition, right: Condition) -> Condition {
        match (left, right) {
            (Condition::Known(false), _) | (_, Condition::Known(false)) => Condition::Known(false),
            (Condition::Known(true), other) | (other, Condition::Known(true)) => other,
            (Condition::Flag(left), Condition::Flag(right)) => Condition::Flag(self.builder.ins().band(left, right)),
        }
    }

    pub(crate) fn either(&mut self, left: Condition, right: Condition) -> Condition {
        match (left, right) {
            (Condition::Known(true), _) | (_, Condition::Known(true)) => Condition::Known(true),
            (Condition::Known(false), other) | (other, Condition::Known(false)) => other,
            (Condition::Flag(left), Condition::Flag(right)) => Condition::Flag(self.builder.ins().bor(left, right)),
        }
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, operand: Val) -> Val {
        if let Some(value) = operand.known() {
            return Val::constant(op.apply(value));
        }
        match op {
            UnaryOp::Not => {
                let truth = self.truth(operand);
                self.negated(truth).into()
            }
            UnaryOp::Negate => {
                let word = self.word(operand);
                let result = self.builder.ins().ineg(word);
                match (operand.high.checked_neg(), operand.low.checked_neg()) {
                    (Some(low), Some(high)) => Val::within(result, low, high),
                    _ => Val::any(result),
                }
            }
            UnaryOp::Complement => {
                let word = self.word(operand);
                let result = self.builder.ins().bnot(word);
                Val::within(result, !operand.high, !operand.low)
            }
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, left: Val, right: Val) -> Val {
        if let (Some(left), Some(right)) = (left.known(), right.known()) {
            return Val::constant(op.apply(left, right));
        }
        match op {
            BinaryOp::Add => self.sum(left, right),
            BinaryOp::Sub => self.difference(left, right),
            BinaryOp::Mul => self.product(left, right),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let (a, b) = (self.word(left), self.word(right));
                let result = match op {
                    BinaryOp::And => self.builder.ins().band(a, b),
                    BinaryOp::Or => self.builder.ins().bor(a, b),
                    _ => self.builder.ins().bxor(a, b),
                };
                if left.low < 0 || right.low < 0 {
                    return match op {
                        BinaryOp::And if left.low >= 0 => Val::within(result, 0, left.high),
                        BinaryOp::And if right.low >= 0 => Val::within(result, 0, right.high),
                        _ => Val::any(result),
                    };
                }
                let high = match op {
                    BinaryOp::And => left.high.min(right.high),
                    // All bits up to the highest that either can have.
                    _ => i64::MAX >> ((left.high | right.high).leading_zeros().max(1) - 1),
                };
                Val::within(result, 0, high)
            }
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Ushr => {
                // Cranelift's shifts take their distance modulo the width, as ours do.
                let (a, b) = (self.word(left), self.word(right));
                let result = match op {
                    BinaryOp::Shl => self.builder.ins().ishl(a, b),
                    BinaryOp::Shr => self.builder.ins().sshr(a, b),
                    _ => self.builder.ins().ushr(a, b),
                };
                if op != BinaryOp::Shl && left.low >= 0 { Val::within(result, 0, left.high) } else { Val::any(result) }
            }
            BinaryOp::Eq => self.compare(IntCC::Equal, left, right).into(),
            BinaryOp::Ne => self.compare(IntCC::NotEqual, left, right).into(),
            BinaryOp::Lt => self.compare(IntCC::SignedLessThan, left, right).into(),
            BinaryOp::Le => self.compare(IntCC::SignedLessThanOrEqual, left, right).into(),
            BinaryOp::Gt => self.compare(IntCC::SignedGreaterThan, left, right).into(),
            BinaryOp::Ge => self.compare(IntCC::SignedGreaterThanOrEqual, left, right).into(),
            BinaryOp::Real(op) => self.real(op, left, right),
        }
    }

    pub(crate) fn sum(&mut self, left: Val, right: Val) -> Val {
        let (left, right) = if left.known().is_some() { (right, left) } else { (left, right) };
        let held = match (self.unflagged(left), right.held) {
            (Held::Constant(a), Held::Constant(b)) => return Val::constant(a.wrapping_add(b)),
            (Held::Sum(value, add), Held::Constant(more)) => Held::Sum(value, add.wrapping_add(more)),
            _ => {
                let (a, b) = (self.word(left), self.word(right));
                Held::Sum(self.builder.ins().iadd(a, b), 0)
            }
        };
        match (left.low.checked_add(right.low), left.high.checked_add(right.high)) {
            (Some(low), Some(high)) => Val { held, low, high },
            _ => Val { held, low: i64::MIN, high: i64::MAX },
        }
    }

    fn difference(&mut self, left: Val, right: Val) -> Val {
        let held = match (self.unflagged(left), right.held) {
            (Held::Sum(value, add), Held::Constant(less)) => Held::Sum(value, add.wrapping_sub(less)),
            _ => {
                let (a, b) = (self.word(left), self.word(right));
                Held::Sum(self.builder.ins().isub(a, b), 0)
            }
        };
        match (left.low.checked_sub(right.high), left.high.checked_sub(right.low)) {
            (Some(low), Some(high)) => Val { held, low, high },
            _ => Val { held, low: i64::MIN, high: i64::MAX },
        }
    }

    pub(crate) fn product(&mut self, left: Val, right: Val) -> Val {
        if let (Some(left), Some(right)) = (left.known(), right.known()) {
            return Val::constant(left.wrapping_mul(right));
        }
        match (left.known(), right.known()) {
            (Some(0), _) | (_, Some(0)) => return Val::constant(0),
            (Some(1), _) => return right,
            (_, Some(1)) => return left,
            _ => {}
        }
        let held = match (left.held, right.held) {
            (Held::Sum(value, add), Held::Constant(factor)) | (Held::Constant(factor), Held::Sum(value, add)) => {
                // Distributes, modulo 2⁶⁴, so that the constant part stays free.
                Held::Sum(self.builder.ins().imul_imm_s(value, factor), add.wrapping_mul(factor))
            }
            _ => {
                let (a, b) = (self.word(left), self.word(right));
                Held::Sum(self.builder.ins().imul(a, b), 0)
            }
        };
        let (low, high) = product_range(left, right).unwrap_or((i64::MIN, i64::MAX));
        Val { held, low, high }
    }

    /// The value with a flag widened to a word, so that constants can be added to it for free.
    fn unflagged(&mut self, value: Val) -> Held {
        match value.held {
            Held::Flag(_) => Held::Sum(self.word(value), 0),
            held => held,
        }
    }

    /// A signed comparison, or one for equality.
    pub(crate) fn compare(&mut self, code: IntCC, left: Val, right: Val) -> Condition {
        if let Some(known) = compare_ranges(code, left, right) {
            return Condition::Known(known);
        }
        if left.known().is_some() {
            return self.compare(mirrored(code), right, left);
        }
        if let Some(bound) = right.known() {
            match left.held {
                Held::Flag(flag) if matches!(code, IntCC::Equal | IntCC::NotEqual) && (0..=1).contains(&bound) => {
                    return if (code == IntCC::Equal) == (bound == 1) { Condition::Flag(flag) } else { self.negated(Condition::Flag(flag)) };
                }
                Held::Sum(value, add) => {
                    // The constant moves to the other side if nothing can wrap; for equality wrapping does not
                    // matter.
                    let equality = matches!(code, IntCC::Equal | IntCC::NotEqual);
                    let moves = left.low.checked_sub(add).is_some() && left.high.checked_sub(add).is_some() && bound.checked_sub(add).is_some();
                    if equality || moves {
                        return Condition::Flag(self.builder.ins().icmp_imm_s(code, value, bound.wrapping_sub(add)));
                    }
                }
                _ => {}
            }
        }
        if let (Held::Sum(a, add), Held::Sum(b, more)) = (left.held, right.held)
            && matches!(code, IntCC::Equal | IntCC::NotEqual)
            && add == more
        {
            return Condition::Flag(self.builder.ins().icmp(code, a, b));
        }
        let (a, b) = (self.word(left), self.word(right));
        Condition::Flag(self.builder.ins().icmp(code, a, b))
    }

    /// Arithmetic that can fault.
    pub(crate) fn checked(&mut self, op: CheckedOp, left: Val, right: Val, fault: FaultId) -> Outcome<Val> {
        if let (Some(a), Some(b)) = (left.known(), right.known()) {
            return match op.apply(a, b) {
                Some(value) => Ok(Val::constant(value)),
                None => self.always_fault(fault),
            };
        }
        match op {
            CheckedOp::Add if left.low.checked_add(right.low).is_some() && left.high.checked_add(right.high).is_some() => Ok(self.sum(left, right)),
            CheckedOp::Sub if left.low.checked_sub(right.high).is_some() && left.high.checked_sub(right.low).is_some() => {
                Ok(self.difference(left, right))
            }
            CheckedOp::Mul if product_range(left, right).is_some() => Ok(self.product(left, right)),
            CheckedOp::Add | CheckedOp::Sub | CheckedOp::Mul => {
                let (a, b) = (self.word(left), self.word(right));
                let (result, overflow) = match op {
                    CheckedOp::Add => self.builder.ins().sadd_overflow(a, b),
                    CheckedOp::Sub => self.builder.ins().ssub_overflow(a, b),
                    _ => self.builder.ins().smul_overflow(a, b),
                };
                self.fault_if(Condition::Flag(overflow), fault)?;
                Ok(Val::any(result))
            }
            CheckedOp::Div | CheckedOp::Rem => self.division(op, left, right, fault),
            _ => self.unsigned(op, left, right, fault),
        }
    }

    fn division(&mut self, op: CheckedOp, left: Val, right: Val, fault: FaultId) -> Outcome<Val> {
        if self.faults_are_noted() && right.known().is_none() {
            // The machine's own division would trap where a fault is only recorded.
            return Err(Stop::Branches);
        }
        let by_zero = self.compare(IntCC::Equal, right, Val::constant(0));
        let by_minus_one = self.compare(IntCC::Equal, right, Val::constant(-1));
        let from_least = self.compare(IntCC::Equal, left, Val::constant(i64::MIN));
        let least_by_minus_one = self.both(by_minus_one, from_least);
        let mut stops = by_zero;
        if op == CheckedOp::Div {
            stops = self.either(stops, least_by_minus_one);
        }
        if let Condition::Known(true) = stops {
            return self.always_fault(fault);
        }
        self.fault_if(stops, fault)?;
        // MIN by -1, whose remainder is 0, would trap as well.
        let (a, mut b) = (self.word(left), self.word(right));
        match least_by_minus_one {
            Condition::Known(false) => {}
            Condition::Known(true) => b = self.builder.ins().iconst(types::I64, 1),
            Condition::Flag(flag) => {
                let one = self.builder.ins().iconst(types::I64, 1);
                b = self.builder.ins().select(flag, one, b);
            }
        }
        let result = if op == CheckedOp::Div { self.builder.ins().sdiv(a, b) } else { self.builder.ins().srem(a, b) };
        match (op, right.known()) {
            (CheckedOp::Rem, Some(divisor)) if divisor != i64::MIN && divisor != 0 => {
                let most = divisor.abs() - 1;
                Ok(Val::within(result, if left.low >= 0 { 0 } else { -most }, if left.high <= 0 { 0 } else { most }))
            }
            _ => Ok(Val::any(result)),
        }
    }

    /// The value itself if it passes the test.
    pub(crate) fn require(&mut self, value: Val, test: Test, fault: FaultId) -> Outcome<Val> {
        match test {
            Test::NonZero => match self.truth(value) {
                Condition::Known(true) => Ok(value),
                Condition::Known(false) => self.always_fault(fault),
                passes => {
                    let fails = self.negated_truth(value, passes);
                    self.fault_if(fails, fault)?;
                    Ok(match (value.low, value.high) {
                        (0, _) => value.narrowed(1, i64::MAX),
                        (_, 0) => value.narrowed(i64::MIN, -1),
                        _ => value,
                    })
                }
            },
            Test::Between(low, high) => {
                if low > high || value.high < low || value.low > high {
                    return self.always_fault(fault);
                }
                let fails = match (value.low < low, value.high > high) {
                    (false, false) => return Ok(value),
                    (true, false) => self.compare(IntCC::SignedLessThan, value, Val::constant(low)),
                    (false, true) => self.compare(IntCC::SignedGreaterThan, value, Val::constant(high)),
                    (true, true) => {
                        // One unsigned comparison for both ends.
                        let distance = match value.held {
                            Held::Sum(value, add) => self.builder.ins().iadd_imm_s(value, add.wrapping_sub(low)),
                            _ => {
                                let word = self.word(value);
                                self.builder.ins().iadd_imm_s(word, low.wrapping_neg())
                            }
                        };
                        let span = self.builder.ins().iconst(types::I64, high.wrapping_sub(low));
                        Condition::Flag(self.builder.ins().icmp(IntCC::UnsignedGreaterThan, distance, span))
                    }
                };
                self.fault_if(fails, fault)?;
                Ok(value.narrowed(low, high))
            }
        }
    }

    /// Whether the value is zero; a comparison of its own rather than a flipped flag, so that it joins the branch.
    pub(crate) fn negated_truth(&mut self, value: Val, truth: Condition) -> Condition {
        match value.held {
            Held::Sum(value, add) => Condition::Flag(self.builder.ins().icmp_imm_s(IntCC::Equal, value, add.wrapping_neg())),
            _ => self.negated(truth),
        }
    }
}

/// The result of a comparison if the ranges alone decide it.
fn compare_ranges(code: IntCC, left: Val, right: Val) -> Option<bool> {
    let (below, above) = (left.high < right.low, left.low > right.high);
    let (at_most, at_least) = (left.high <= right.low, left.low >= right.high);
    let same = left.known().is_some() && left.known() == right.known();
    match code {
        IntCC::Equal => (below || above).then_some(false).or(same.then_some(true)),
        IntCC::NotEqual => (below || above).then_some(true).or(same.then_some(false)),
        IntCC::SignedLessThan => below.then_some(true).or(at_least.then_some(false)),
        IntCC::SignedLessThanOrEqual => at_most.then_some(true).or(above.then_some(false)),
        IntCC::SignedGreaterThan => above.then_some(true).or(at_most.then_some(false)),
        IntCC::SignedGreaterThanOrEqual => at_least.then_some(true).or(below.then_some(false)),
        _ => None,
    }
}

fn product_range(left: Val, right: Val) -> Option<(i64, i64)> {
    let corners =
        [left.low.checked_mul(right.low)?, left.low.checked_mul(right.high)?, left.high.checked_mul(right.low)?, left.high.checked_mul(right.high)?];
    Some((*corners.iter().min()?, *corners.iter().max()?))
}

/// The comparison that gives the same answer with its operands exchanged.
fn mirrored(code: IntCC) -> IntCC {
    match code {
        IntCC::SignedLessThan => IntCC::SignedGreaterThan,
        IntCC::SignedLessThanOrEqual => IntCC::SignedGreaterThanOrEqual,
        IntCC::SignedGreaterThan => IntCC::SignedLessThan,
        IntCC::SignedGreaterThanOrEqual => IntCC::SignedLessThanOrEqual,
        code => code,
    }
}
