//! The operators. They compute as C does with `int`, and wrap.

use super::ast::{Binary, Unary};

/// The value of an operator of one operand.
pub(super) fn unary(op: Unary, value: i64) -> i64 {
    match op {
        Unary::Not => i64::from(value == 0),
        Unary::Minus => i64::from((value as i32).wrapping_neg()),
        Unary::Complement => !value,
    }
}

/// The value of an operator of two operands; none for a division by zero.
pub(super) fn binary(op: Binary, left: i64, right: i64) -> Option<i64> {
    let wrap = |value: i64| i64::from(value as i32);
    Some(match op {
        Binary::Add => wrap(left.wrapping_add(right)),
        Binary::Subtract => wrap(left.wrapping_sub(right)),
        Binary::Multiply => wrap(left.wrapping_mul(right)),
        Binary::Divide => wrap(left.checked_div(right)?),
        Binary::Remainder => wrap(left.checked_rem(right)?),
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::ShiftLeft => wrap(left.wrapping_shl((right & 31) as u32)),
        Binary::ShiftRight => left >> (right & 31),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::Less => i64::from(left < right),
        Binary::LessOrEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterOrEqual => i64::from(left >= right),
        Binary::And => i64::from(left != 0 && right != 0),
        Binary::Or => i64::from(left != 0 || right != 0),
    })
}
