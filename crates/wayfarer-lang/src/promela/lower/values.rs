//! Expressions: values of variables, operators as C's `int` has them, and what is known of their range.

use super::layout::LeafAt;
use super::{Here, Lowering, Ranged, all, any, binary, equal, field, not};
use crate::promela::learned::{Home, Limit};
use crate::promela::model::{Binary, LeafId, Place, Unary, Value};
use crate::promela::operators;
use wayfarer_ir::{At, BinaryOp, CheckedOp, Expr, FaultKind, Index, Root, Test};
use wayfarer_space::FaultClass;

impl Ranged {
    pub(super) fn constant(value: i64) -> Self {
        Ranged { expr: Expr::Const(value), low: value, high: value }
    }

    fn truth(expr: Expr) -> Self {
        match expr {
            Expr::Const(value) => Ranged::constant(value),
            expr => Ranged { expr, low: 0, high: 1 },
        }
    }
}

impl Lowering<'_> {
    pub(super) fn value(&mut self, here: Here, value: &Value) -> Ranged {
        match value {
            Value::Constant(value) => Ranged::constant(*value),
            Value::Load(place) => self.load(here, place),
            Value::Unary(Unary::Not, operand) => Ranged::truth(not(self.truth(here, operand))),
            Value::Unary(op, operand) => {
                let operand = self.value(here, operand);
                if let Expr::Const(value) = operand.expr {
                    return Ranged::constant(operators::unary(*op, value));
                }
                let zero = Expr::Const(if *op == Unary::Complement { -1 } else { 0 });
                // `~x` is `-1 - x`.
                let (low, high) = if *op == Unary::Complement { (!operand.high, !operand.low) } else { (-operand.high, -operand.low) };
                wrapped(Ranged { expr: binary(BinaryOp::Sub, zero, operand.expr), low, high })
            }
            Value::Binary(op @ (Binary::And | Binary::Or), left, right, _) => {
                let parts = vec![self.truth(here, left), self.truth(here, right)];
                Ranged::truth(if *op == Binary::And { all(parts) } else { any(parts) })
            }
            Value::Binary(op, left, right, at) => {
                let (left, right) = (self.value(here, left), self.value(here, right));
                self.operate(*op, left, right, *at)
            }
            Value::Conditional(condition, one, other) => {
                let condition = self.truth(here, condition);
                let (one, other) = (self.value(here, one), self.value(here, other));
                match condition {
                    Expr::Const(0) => other,
                    Expr::Const(_) => one,
                    condition => Ranged {
                        low: one.low.min(other.low),
                        high: one.high.max(other.high),
                        expr: Expr::Select(Box::new(condition), Box::new(one.expr), Box::new(other.expr)),
                    },
                }
            }
            Value::Len(place) => self.length(here, place),
            Value::Probe(probe, place) => Ranged::truth(self.probe(here, *probe, place)),
            Value::Poll { channel, random, fields } => Ranged::truth(self.poll(here, channel, *random, fields)),
            Value::Timeout => Ranged::constant(i64::from(here.timeout)),
            Value::Pid => Ranged::constant(here.slot as i64),
            Value::Processes => self.processes(),
            // It was replaced by its number.
            Value::Created => Ranged::constant(0),
            Value::RemoteLabel { ty, process, label } => {
                let labels = &self.model.types[*ty].automaton.labels;
                let states: Vec<usize> = labels.iter().filter(|(name, _)| name == label).filter_map(|(_, at)| *at).collect();
                let cases = self.remote(here, *ty, process.as_deref(), |lowering, slot| {
                    let at = states.iter().filter_map(|state| lowering.layout.slots[slot].state(*ty, *state));
                    let at: Vec<i64> = at.collect();
                    let pc = lowering.process(slot);
                    Ranged::truth(any(at.into_iter().map(|state| equal(pc.clone(), state)).collect()))
                });
                Ranged { low: 0, high: 1, ..cases }
            }
            Value::RemoteLoad { ty, process, place } => {
                self.remote(here, *ty, process.as_deref(), |lowering, slot| lowering.load(Here { slot, ty: *ty, timeout: false }, place))
            }
        }
    }

    /// A value as a truth value: 0 or 1.
    pub(super) fn truth(&mut self, here: Here, value: &Value) -> Expr {
        let value = self.value(here, value);
        match value.expr {
            Expr::Const(value) => Expr::Const(i64::from(value != 0)),
            expr if value.low >= 0 && value.high <= 1 => expr,
            expr => binary(BinaryOp::Ne, expr, Expr::Const(0)),
        }
    }

    /// The field that says what runs in a slot.
    pub(super) fn process(&self, slot: usize) -> Expr {
        field(self.layout.slots[slot].offset, self.layout.slots[slot].bits)
    }

    /// How many processes there are: slots are taken from the first on.
    fn processes(&mut self) -> Ranged {
        let count = self.layout.slots.len();
        let mut expr = Expr::Const(0);
        for slot in 0..count {
            let taken = binary(BinaryOp::Ne, self.process(slot), Expr::Const(0));
            expr = binary(BinaryOp::Add, expr, taken);
        }
        Ranged { expr, low: 0, high: count as i64 }
    }

    /// Something of another process: by number, or of the first one of its type.
    fn remote(&mut self, here: Here, ty: usize, process: Option<&Value>, mut of: impl FnMut(&mut Self, usize) -> Ranged) -> Ranged {
        let message = format!("there is no process of type `{}` with this number", self.model.types[ty].name);
        let fault = self.fault(FaultClass::Violation, FaultKind::Undefined, message, self.model.types[ty].at);
        let number = process.map(|process| self.value(here, process));
        let mut result = Ranged::constant(0);
        let missing = Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault };
        if !self.lenient {
            result.expr = missing;
        }
        for slot in (0..self.layout.slots.len()).rev() {
            let Some(runs) = self.runs(slot, ty) else { continue };
            let condition = match &number {
                Some(number) => match number.expr {
                    Expr::Const(value) if value != slot as i64 => continue,
                    Expr::Const(_) => runs,
                    ref expr => all(vec![equal(expr.clone(), slot as i64), runs]),
                },
                None => runs,
            };
            let value = of(self, slot);
            result = Ranged {
                low: result.low.min(value.low),
                high: result.high.max(value.high),
                expr: Expr::Select(Box::new(condition), Box::new(value.expr), Box::new(result.expr)),
            };
        }
        result
    }

    /// Whether a process of a type runs in a slot; none where that never happens.
    pub(super) fn runs(&self, slot: usize, ty: usize) -> Option<Expr> {
        let residents = &self.layout.slots.get(slot)?.residents;
        let (first, last) = residents.iter().find(|known| known.ty == ty)?.range;
        let pc = self.process(slot);
        Some(if residents.len() == 1 {
            binary(BinaryOp::Ne, pc, Expr::Const(0))
        } else {
            all(vec![binary(BinaryOp::Ge, pc.clone(), Expr::Const(first)), binary(BinaryOp::Le, pc, Expr::Const(last))])
        })
    }

    pub(super) fn home(&self, here: Here, leaf: LeafId) -> Home {
        self.model.leaf(leaf).owner.map(|_| here.slot)
    }

    /// The indices of a place as those of the IR, and their value as one number counted through all dimensions.
    fn indices(&mut self, here: Here, place: &Place) -> Vec<(Ranged, u32)> {
        let dimensions = self.model.leaf(place.leaf).dimensions.clone();
        place.indices.iter().zip(dimensions).map(|(index, count)| (self.value(here, index), count)).collect()
    }

    fn index_fault(&mut self, place: &Place) -> wayfarer_ir::FaultId {
        let message = format!("index out of bounds: `{}`", self.model.leaf(place.leaf).name);
        self.fault(FaultClass::Violation, FaultKind::Index, message, place.at)
    }

    /// The place of a stored variable in the IR; none where it is not stored.
    pub(super) fn place(&mut self, here: Here, place: &Place) -> Option<(wayfarer_ir::Place, u8, i64, i64)> {
        let home = self.home(here, place.leaf);
        let LeafAt::Stored { mut offset, strides, bits, low, high } = self.layout.leaves.get(&(home, place.leaf))?.clone() else { return None };
        let mut indices = Vec::new();
        for ((index, count), stride) in self.indices(here, place).into_iter().zip(strides) {
            match index.expr {
                Expr::Const(value) if (0..i64::from(count)).contains(&value) => offset += value as u32 * stride,
                value => {
                    let fault = self.index_fault(place);
                    indices.push(Index { value, stride, count, fault });
                }
            }
        }
        Some((wayfarer_ir::Place { root: Root::State, offset, indices }, bits, low, high))
    }

    pub(super) fn load(&mut self, here: Here, place: &Place) -> Ranged {
        let home = self.home(here, place.leaf);
        match self.layout.leaves.get(&(home, place.leaf)).cloned() {
            Some(LeafAt::Stored { .. }) => match self.place(here, place) {
                Some((at, bits, low, high)) => {
                    let stored = Expr::Load { place: at, bits };
                    let expr = if low == 0 { stored } else { binary(BinaryOp::Add, stored, Expr::Const(low)) };
                    Ranged { expr, low, high }
                }
                None => Ranged::constant(0),
            },
            Some(LeafAt::Constant(value)) => {
                let (value, checks) = (Ranged::constant(value), self.bounds(here, place));
                with_checks(value, checks)
            }
            Some(LeafAt::Ramp(first)) => {
                let total: i64 = self.model.leaf(place.leaf).cells().into();
                let fault = self.index_fault(place);
                let mut number = Ranged::constant(0);
                for (index, count) in self.indices(here, place) {
                    let checked = within(index, i64::from(count), fault);
                    let scaled = match number.expr {
                        Expr::Const(value) => Expr::Const(value * i64::from(count)),
                        expr => binary(BinaryOp::Mul, expr, Expr::Const(i64::from(count))),
                    };
                    number.expr = sum(scaled, checked);
                }
                Ranged { expr: sum(Expr::Const(first), number.expr), low: first, high: first + total - 1 }
            }
            // A process type that does not run in this slot.
            None => Ranged::constant(0),
        }
    }

    /// Tests of the indices of a place that need no memory.
    fn bounds(&mut self, here: Here, place: &Place) -> Vec<Expr> {
        let fault = self.index_fault(place);
        let indices = self.indices(here, place);
        indices.into_iter().map(|(index, count)| within(index, i64::from(count), fault)).filter(|expr| !matches!(expr, Expr::Const(_))).collect()
    }

    /// The limit of a variable.
    pub(super) fn range_limit(&mut self, home: Home, leaf: LeafId) -> wayfarer_ir::FaultId {
        let message = match home {
            Some(slot) => format!("`{}` of process {slot} needs more room than was learned", self.model.leaf(leaf).name),
            None => format!("`{}` needs more room than was learned", self.model.leaf(leaf).name),
        };
        self.limit(Limit::Range(home, leaf), message)
    }

    fn operate(&mut self, op: Binary, left: Ranged, right: Ranged, at: At) -> Ranged {
        if let (Expr::Const(one), Expr::Const(other)) = (&left.expr, &right.expr)
            && let Some(value) = operators::binary(op, *one, *other)
        {
            return Ranged::constant(value);
        }
        let compare = |op| Ranged::truth(binary(op, left.expr.clone(), right.expr.clone()));
        match op {
            Binary::Add => {
                let (low, high) = (left.low + right.low, left.high + right.high);
                wrapped(Ranged { expr: sum(left.expr, right.expr), low, high })
            }
            Binary::Subtract => {
                let (low, high) = (left.low - right.high, left.high - right.low);
                wrapped(Ranged { expr: binary(BinaryOp::Sub, left.expr, right.expr), low, high })
            }
            Binary::Multiply => {
                let ends = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
                let (low, high) = (ends.into_iter().min().unwrap_or(0), ends.into_iter().max().unwrap_or(0));
                wrapped(Ranged { expr: binary(BinaryOp::Mul, left.expr, right.expr), low, high })
            }
            Binary::Divide | Binary::Remainder => self.divide(op, left, right, at),
            Binary::BitAnd => {
                let bounds = bit_bounds(&left, &right);
                let high = if left.low >= 0 && right.low >= 0 { left.high.min(right.high) } else { bounds.1 };
                Ranged { expr: binary(BinaryOp::And, left.expr, right.expr), low: if left.low >= 0 || right.low >= 0 { 0 } else { bounds.0 }, high }
            }
            Binary::BitOr | Binary::BitXor => {
                let (low, high) = bit_bounds(&left, &right);
                let op = if op == Binary::BitOr { BinaryOp::Or } else { BinaryOp::Xor };
                Ranged { expr: binary(op, left.expr, right.expr), low, high }
            }
            Binary::ShiftLeft => {
                let by = match right.expr {
                    Expr::Const(value) => Expr::Const(value & 31),
                    expr => binary(BinaryOp::And, expr, Expr::Const(31)),
                };
                let most = 1i64 << right.high.clamp(0, 31);
                let (low, high) = if right.low < 0 || right.high > 31 {
                    (i64::MIN / 4, i64::MAX / 4)
                } else {
                    (left.low.min(left.low * most), left.high.max(left.high * most))
                };
                wrapped(Ranged { expr: binary(BinaryOp::Shl, left.expr, by), low, high })
            }
            Binary::ShiftRight => {
                let by = match right.expr {
                    Expr::Const(value) => Expr::Const(value & 31),
                    expr => binary(BinaryOp::And, expr, Expr::Const(31)),
                };
                Ranged { expr: binary(BinaryOp::Shr, left.expr, by), low: left.low.min(0), high: left.high.max(0) }
            }
            Binary::Equal => compare(BinaryOp::Eq),
            Binary::NotEqual => compare(BinaryOp::Ne),
            Binary::Less => compare(BinaryOp::Lt),
            Binary::LessOrEqual => compare(BinaryOp::Le),
            Binary::Greater => compare(BinaryOp::Gt),
            Binary::GreaterOrEqual => compare(BinaryOp::Ge),
            Binary::And => Ranged::truth(all(vec![left.expr, right.expr])),
            Binary::Or => Ranged::truth(any(vec![left.expr, right.expr])),
        }
    }

    fn divide(&mut self, op: Binary, left: Ranged, right: Ranged, at: At) -> Ranged {
        let divides = op == Binary::Divide;
        if let Expr::Const(by) = right.expr
            && by > 0
        {
            let (low, high) =
                if divides { (left.low / by, left.high / by) } else { (if left.low >= 0 { 0 } else { 1 - by }, (by - 1).min(left.high.max(0))) };
            // Powers of two need no division where nothing is negative.
            if left.low >= 0 && by & (by - 1) == 0 {
                let expr = if divides {
                    binary(BinaryOp::Shr, left.expr, Expr::Const(i64::from(by.trailing_zeros())))
                } else {
                    binary(BinaryOp::And, left.expr, Expr::Const(by - 1))
                };
                return Ranged { expr, low, high };
            }
            // A remainder of what is less than twice the divisor is a comparison.
            if !divides && left.low >= 0 && left.high < by {
                return left;
            }
            let fault = self.fault(FaultClass::Violation, FaultKind::Division, "division by zero".to_string(), at);
            let checked = if divides { CheckedOp::Div } else { CheckedOp::Rem };
            return Ranged { expr: Expr::Checked { op: checked, left: Box::new(left.expr), right: Box::new(right.expr), fault }, low, high };
        }
        let fault = self.fault(FaultClass::Violation, FaultKind::Division, "division by zero".to_string(), at);
        let most = left.low.abs().max(left.high.abs());
        let checked = if divides { CheckedOp::Div } else { CheckedOp::Rem };
        let low = if left.low >= 0 && right.low >= 0 { 0 } else { -most };
        Ranged { expr: Expr::Checked { op: checked, left: Box::new(left.expr), right: Box::new(right.expr), fault }, low, high: most }
    }
}

/// An index that is tested.
fn within(index: Ranged, count: i64, fault: wayfarer_ir::FaultId) -> Expr {
    if index.low >= 0 && index.high < count {
        return index.expr;
    }
    Expr::Require { value: Box::new(index.expr), test: Test::Between(0, count - 1), fault }
}

/// A value that is only there where some tests pass.
fn with_checks(value: Ranged, checks: Vec<Expr>) -> Ranged {
    checks.into_iter().fold(value, |value, check| Ranged { expr: sum(value.expr, binary(BinaryOp::Mul, check, Expr::Const(0))), ..value })
}

pub(super) fn sum(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Const(one), Expr::Const(other)) => Expr::Const(one.wrapping_add(other)),
        (Expr::Const(0), other) | (other, Expr::Const(0)) => other,
        (left, right) => binary(BinaryOp::Add, left, right),
    }
}

/// A value that is brought into 32 bits where it may leave them.
fn wrapped(value: Ranged) -> Ranged {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    if value.low >= least && value.high <= most {
        return value;
    }
    let expr = binary(BinaryOp::Shr, binary(BinaryOp::Shl, value.expr, Expr::Const(32)), Expr::Const(32));
    Ranged { expr, low: least, high: most }
}

/// The range of values with no more bits than two others.
fn bit_bounds(left: &Ranged, right: &Ranged) -> (i64, i64) {
    let reach = left.low.abs().max(left.high.abs()).max(right.low.abs()).max(right.high.abs());
    let most = ((reach as u64 + 1).next_power_of_two() as i64).max(1);
    (if left.low >= 0 && right.low >= 0 { 0 } else { -most }, most - 1)
}
