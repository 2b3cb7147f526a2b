//! Builds IR expressions and folds constants. Folding never drops an operand that could fault.

use super::interval::Interval;
use wayfarer_ir::{BinaryOp, CheckedOp, Expr, FaultId, FunctionId, Index, Place, RealOp, Test, UnaryOp};

/// An expression that grows past this many nodes through repeated expansion is refused.
pub(super) const LARGEST: usize = 20_000;

pub(super) fn add(expr: Expr, by: i64) -> Expr {
    let (base, offset) = split(expr);
    let by = by.wrapping_add(offset);
    match base {
        Expr::Const(value) => Expr::Const(value.wrapping_add(by)),
        base if by == 0 => base,
        base => Expr::Binary(BinaryOp::Add, Box::new(base), Box::new(Expr::Const(by))),
    }
}

/// An expression as the sum of another and a constant.
fn split(expr: Expr) -> (Expr, i64) {
    match expr {
        Expr::Binary(BinaryOp::Add, left, right) => match *right {
            Expr::Const(offset) => (*left, offset),
            right => (Expr::Binary(BinaryOp::Add, left, Box::new(right)), 0),
        },
        other => (other, 0),
    }
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    if let (Expr::Const(a), Expr::Const(b)) = (&left, &right) {
        return Expr::Const(op.apply(*a, *b));
    }
    match (op, left, right) {
        (BinaryOp::Add, left, Expr::Const(by)) | (BinaryOp::Add, Expr::Const(by), left) => add(left, by),
        (BinaryOp::Sub, left, Expr::Const(by)) => add(left, by.wrapping_neg()),
        // Wrapping addition is a bijection, so equal offsets cancel and constants move to the other side.
        (BinaryOp::Eq | BinaryOp::Ne, left, Expr::Const(value)) => {
            let (base, offset) = split(left);
            Expr::Binary(op, Box::new(base), Box::new(Expr::Const(value.wrapping_sub(offset))))
        }
        (BinaryOp::Eq | BinaryOp::Ne, left, right) => {
            let ((a, by), (b, other)) = (split(left), split(right));
            Expr::Binary(op, Box::new(add(a, by.wrapping_sub(other))), Box::new(b))
        }
        (op, left, right) => Expr::Binary(op, Box::new(left), Box::new(right)),
    }
}

/// An order comparison of values in the given intervals.
pub(super) fn order(op: BinaryOp, left: Expr, right: Expr, modest: bool) -> Expr {
    match (left, right) {
        (left, Expr::Const(value)) if modest && !matches!(left, Expr::Const(_)) => {
            let (base, offset) = split(left);
            Expr::Binary(op, Box::new(base), Box::new(Expr::Const(value - offset)))
        }
        (left, right) => binary(op, left, right),
    }
}

/// Arithmetic that may fault; folded if it does not.
pub(super) fn checked(op: CheckedOp, left: Expr, right: Expr, fault: FaultId) -> Expr {
    if let (Expr::Const(a), Expr::Const(b)) = (&left, &right)
        && let Some(value) = op.apply(*a, *b)
    {
        return Expr::Const(value);
    }
    Expr::Checked { op, left: Box::new(left), right: Box::new(right), fault }
}

/// An operator on real numbers.
pub(super) fn real(op: RealOp, left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Real(op), left, right)
}

/// A number without sign moved so that comparing the results as numbers with a sign compares the numbers.
pub(super) fn biased(expr: Expr) -> Expr {
    add(expr, i64::MIN)
}

/// A value required to lie in a target; `known` is the interval it is known to lie in.
pub(super) fn require_within(value: Expr, known: Interval, target: Interval, fault: FaultId) -> Expr {
    let holder = if known.is_unsigned() { Interval::UNSIGNED } else { Interval::ALL };
    if target.high < holder.low || target.low > holder.high {
        return sequence(value, Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault });
    }
    let target = target.clamp(holder);
    match known.is_unsigned() {
        true => {
            let bound = |bound: i128| (bound as i64).wrapping_add(i64::MIN);
            biased(require(biased(value), Test::Between(bound(target.low), bound(target.high)), fault))
        }
        false => require(value, Test::Between(target.low as i64, target.high as i64), fault),
    }
}

pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Eq, left, right)
}

/// The negation of a truth value.
pub(super) fn not(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const((value == 0).into()),
        Expr::Binary(BinaryOp::Eq, left, right) => Expr::Binary(BinaryOp::Ne, left, right),
        Expr::Binary(BinaryOp::Ne, left, right) => Expr::Binary(BinaryOp::Eq, left, right),
        other => match split(other) {
            (base, 0) => Expr::Unary(UnaryOp::Not, Box::new(base)),
            (base, offset) => equal(base, Expr::Const(offset.wrapping_neg())),
        },
    }
}

pub(super) fn negate(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const(value.wrapping_neg()),
        other => Expr::Unary(UnaryOp::Negate, Box::new(other)),
    }
}

pub(super) fn all(operands: Vec<Expr>) -> Expr {
    fold_lazy(operands, false)
}

pub(super) fn any(operands: Vec<Expr>) -> Expr {
    fold_lazy(operands, true)
}

/// Flattens and drops constants. Operands after the deciding constant are not evaluated, but all before it are.
fn fold_lazy(operands: Vec<Expr>, deciding: bool) -> Expr {
    let mut kept = Vec::new();
    for operand in operands {
        match operand {
            Expr::Const(value) if (value != 0) != deciding => {}
            Expr::Const(_) => {
                kept.push(Expr::Const(deciding.into()));
                break;
            }
            Expr::Any(inner) if deciding => kept.extend(inner),
            Expr::All(inner) if !deciding => kept.extend(inner),
            other => kept.push(other),
        }
    }
    match kept.len() {
        0 => Expr::Const((!deciding).into()),
        1 => kept.remove(0), // operands are truth values: 0 or 1
        _ if deciding => Expr::Any(kept),
        _ => Expr::All(kept),
    }
}

pub(super) fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition {
        Expr::Const(0) => otherwise,
        Expr::Const(_) => then,
        condition => Expr::Select(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

/// Both, in order; the value is that of the second.
pub(super) fn sequence(first: Expr, second: Expr) -> Expr {
    Expr::Select(Box::new(Expr::Any(vec![first, Expr::Const(1)])), Box::new(second), Box::new(Expr::Const(0)))
}

pub(super) fn require(value: Expr, test: Test, fault: FaultId) -> Expr {
    match (&value, test) {
        (Expr::Const(constant), Test::NonZero) if *constant != 0 => value,
        (Expr::Const(constant), Test::Between(low, high)) if (low..=high).contains(constant) => value,
        _ => Expr::Require { value: Box::new(value), test, fault },
    }
}

/// Whether a value lies between two bounds; `known` is the interval it is known to lie in.
pub(super) fn between(value: Expr, known: Interval, low: i64, high: i64) -> Expr {
    let mut tests = Vec::new();
    if known.low < low.into() {
        tests.push(binary(BinaryOp::Ge, value.clone(), Expr::Const(low)));
    }
    if known.high > high.into() {
        tests.push(binary(BinaryOp::Le, value, Expr::Const(high)));
    }
    all(tests)
}

/// A place moved by some bits.
pub(super) fn offset(mut place: Place, by: u32) -> Place {
    place.offset += by;
    place
}

/// A place at an element. A constant index inside the bounds becomes part of the offset.
pub(super) fn element(mut place: Place, value: Expr, stride: u32, count: u32, fault: FaultId) -> Place {
    match value {
        Expr::Const(index) if (0..i64::from(count)).contains(&index) => place.offset += index as u32 * stride,
        value => place.indices.push(Index { value, stride, count, fault }),
    }
    place
}

/// The number of nodes of an expression, counted up to [`LARGEST`].
pub(super) fn size(expr: &Expr) -> usize {
    let mut count = 0;
    count_nodes(expr, &mut count);
    count
}

/// The functions that an expression calls.
pub(super) fn calls(expr: &Expr, found: &mut Vec<FunctionId>) {
    match expr {
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Load { place, .. } => place_calls(place, found),
        Expr::Unary(_, operand) | Expr::Require { value: operand, .. } => calls(operand, found),
        Expr::Binary(_, left, right) | Expr::Checked { left, right, .. } => [left, right].into_iter().for_each(|part| calls(part, found)),
        Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| calls(operand, found)),
        Expr::Select(condition, then, otherwise) => [condition, then, otherwise].into_iter().for_each(|part| calls(part, found)),
        Expr::Loop(fold) => [&fold.from, &fold.to, &fold.body].into_iter().for_each(|part| calls(part, found)),
        Expr::Call { function, arguments, .. } => {
            found.push(*function);
            for argument in arguments {
                match argument {
                    wayfarer_ir::Argument::Value(value) => calls(value, found),
                    wayfarer_ir::Argument::Place(place) => place_calls(place, found),
                }
            }
        }
    }
}

/// As [`calls`], for the indices of a place.
pub(super) fn place_calls(place: &Place, found: &mut Vec<FunctionId>) {
    place.indices.iter().for_each(|index| calls(&index.value, found));
}

/// As [`size`], for the indices of a place.
pub(super) fn place_size(place: &Place) -> usize {
    let mut count = 0;
    place.indices.iter().for_each(|index| count_nodes(&index.value, &mut count));
    count
}

fn count_nodes(expr: &Expr, count: &mut usize) {
    *count += 1;
    if *count > LARGEST {
        return;
    }
    match expr {
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Load { place, .. } => place.indices.iter().for_each(|index| count_nodes(&index.value, count)),
        Expr::Unary(_, operand) | Expr::Require { value: operand, .. } => count_nodes(operand, count),
        Expr::Binary(_, left, right) | Expr::Checked { left, right, .. } => {
            count_nodes(left, count);
            count_nodes(right, count);
        }
        Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| count_nodes(operand, count)),
        Expr::Select(condition, then, otherwise) => [condition, then, otherwise].into_iter().for_each(|part| count_nodes(part, count)),
        Expr::Loop(fold) => [&fold.from, &fold.to, &fold.body].into_iter().for_each(|part| count_nodes(part, count)),
        Expr::Call { arguments, .. } => {
            for argument in arguments {
                match argument {
                    wayfarer_ir::Argument::Value(value) => count_nodes(value, count),
                    wayfarer_ir::Argument::Place(place) => place.indices.iter().for_each(|index| count_nodes(&index.value, count)),
                }
            }
        }
    }
}
