//! Arithmetic on intervals of values.

use crate::promela::ast::{Binary, Unary};
use crate::promela::learned::Range;
use crate::promela::model::Scalar;

const TRUTH: Range = (0, 1);
const INT: Range = (i32::MIN as i64, i32::MAX as i64);

/// The smallest interval that has both.
pub(super) fn join(one: Range, other: Range) -> Range {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The intersection of two ranges; none if it is empty.
pub(super) fn meet(one: Range, other: Range) -> Option<Range> {
    let both = (one.0.max(other.0), one.1.min(other.1));
    (both.0 <= both.1).then_some(both)
}

/// The values of a variable of this type after one of the interval was stored in it.
pub(super) fn stored(range: Range, ty: Scalar) -> Range {
    let (least, most) = ty.range();
    if range.0 >= least && range.1 <= most { range } else { (least, most) }
}

pub(super) fn unary(op: Unary, (low, high): Range) -> Range {
    match op {
        Unary::Not => TRUTH,
        Unary::Minus => computed((-high, -low)),
        Unary::Complement => (!high, !low),
    }
}

pub(super) fn binary(op: Binary, left: Range, right: Range) -> Range {
    match op {
        Binary::Add => computed((left.0 + right.0, left.1 + right.1)),
        Binary::Subtract => computed((left.0 - right.1, left.1 - right.0)),
        Binary::Multiply => {
            let products = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
            computed(products.into_iter().fold((products[0], products[0]), |range, product| join(range, (product, product))))
        }
        Binary::Divide if right.0 > 0 => {
            let quotients = [left.0 / right.0, left.0 / right.1, left.1 / right.0, left.1 / right.1];
            quotients.into_iter().fold((quotients[0], quotients[0]), |range, quotient| join(range, (quotient, quotient)))
        }
        Binary::Remainder => {
            let most = right.0.abs().max(right.1.abs()).saturating_sub(1).max(0);
            let high = if left.1 >= 0 { left.1.min(most) } else { 0 };
            let low = if left.0 < 0 { left.0.max(-most) } else { 0 };
            (low, high)
        }
        Binary::BitAnd if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
        Binary::BitOr | Binary::BitXor if left.0 >= 0 && right.0 >= 0 => (0, ((left.1.max(right.1) + 1) as u64).next_power_of_two() as i64 - 1),
        Binary::ShiftRight if left.0 >= 0 && (0..32).contains(&right.0) => (0, left.1 >> right.0),
        Binary::ShiftLeft if left.0 >= 0 && right.0 >= 0 && right.1 < 31 => computed((left.0 << right.0, left.1 << right.1)),
        Binary::Divide | Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::ShiftRight | Binary::ShiftLeft => INT,
        Binary::Equal | Binary::NotEqual | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => TRUTH,
        Binary::And | Binary::Or => TRUTH,
    }
}

/// The values left of a comparison with `right` that is true; none if it cannot be true.
pub(super) fn compared(op: Binary, left: Range, right: Range) -> Option<Range> {
    match op {
        Binary::Equal => meet(left, right),
        Binary::NotEqual if right.0 == right.1 && left.0 == right.0 => meet(left, (left.0 + 1, i64::MAX)),
        Binary::NotEqual if right.0 == right.1 && left.1 == right.0 => meet(left, (i64::MIN, left.1 - 1)),
        Binary::Less => meet(left, (i64::MIN, right.1 - 1)),
        Binary::LessOrEqual => meet(left, (i64::MIN, right.1)),
        Binary::Greater => meet(left, (right.0 + 1, i64::MAX)),
        Binary::GreaterOrEqual => meet(left, (right.0, i64::MAX)),
        _ => Some(left),
    }
}

/// The comparison that is true exactly if this one is false.
pub(super) fn negated(op: Binary) -> Option<Binary> {
    Some(match op {
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::GreaterOrEqual,
        Binary::LessOrEqual => Binary::Greater,
        Binary::Greater => Binary::LessOrEqual,
        Binary::GreaterOrEqual => Binary::Less,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
pub(super) fn mirrored(op: Binary) -> Binary {
    match op {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        other => other,
    }
}

/// The result of a computation with `int`, which wraps.
fn computed(range: Range) -> Range {
    if range.0 >= INT.0 && range.1 <= INT.1 { range } else { INT }
}
