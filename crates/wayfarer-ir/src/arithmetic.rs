//! The results of the operators. The interpreter and everything that folds constants use this, so that they agree.

use crate::code::{BinaryOp, CheckedOp, UnaryOp};

impl UnaryOp {
    /// All operators with their names in the text form.
    pub const ALL: [(UnaryOp, &'static str); 3] = [(UnaryOp::Not, "not"), (UnaryOp::Negate, "negate"), (UnaryOp::Complement, "complement")];

    /// The result.
    pub fn apply(self, value: i64) -> i64 {
        match self {
            UnaryOp::Not => i64::from(value == 0),
            UnaryOp::Negate => value.wrapping_neg(),
            UnaryOp::Complement => !value,
        }
    }
}

impl BinaryOp {
    /// All operators on whole numbers with their names in the text form.
    pub const ALL: [(BinaryOp, &'static str); 15] = [
        (BinaryOp::Add, "add"),
        (BinaryOp::Sub, "sub"),
        (BinaryOp::Mul, "mul"),
        (BinaryOp::And, "and"),
        (BinaryOp::Or, "or"),
        (BinaryOp::Xor, "xor"),
        (BinaryOp::Shl, "shl"),
        (BinaryOp::Shr, "shr"),
        (BinaryOp::Ushr, "ushr"),
        (BinaryOp::Eq, "eq"),
        (BinaryOp::Ne, "ne"),
        (BinaryOp::Lt, "lt"),
        (BinaryOp::Le, "le"),
        (BinaryOp::Gt, "gt"),
        (BinaryOp::Ge, "ge"),
    ];

    /// The result.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        // Wrapping shifts use the low six bits of their distance.
        match self {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
            BinaryOp::Shl => left.wrapping_shl(right as u32),
            BinaryOp::Shr => left.wrapping_shr(right as u32),
            BinaryOp::Ushr => (left as u64).wrapping_shr(right as u32) as i64,
            BinaryOp::Eq => i64::from(left == right),
            BinaryOp::Ne => i64::from(left != right),
            BinaryOp::Lt => i64::from(left < right),
            BinaryOp::Le => i64::from(left <= right),
            BinaryOp::Gt => i64::from(left > right),
            BinaryOp::Ge => i64::from(left >= right),
            BinaryOp::Real(op) => op.apply(left, right),
        }
    }
}

impl CheckedOp {
    /// All operators with their names in the text form.
    pub const ALL: [(CheckedOp, &'static str); 10] = [
        (CheckedOp::Add, "checked-add"),
        (CheckedOp::Sub, "checked-sub"),
        (CheckedOp::Mul, "checked-mul"),
        (CheckedOp::Div, "checked-div"),
        (CheckedOp::Rem, "checked-rem"),
        (CheckedOp::UnsignedAdd, "unsigned-add"),
        (CheckedOp::UnsignedSub, "unsigned-sub"),
        (CheckedOp::UnsignedMul, "unsigned-mul"),
        (CheckedOp::UnsignedDiv, "unsigned-div"),
        (CheckedOp::UnsignedRem, "unsigned-rem"),
    ];

    /// The result; `None` for a fault.
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            CheckedOp::Add => left.checked_add(right),
            CheckedOp::Sub => left.checked_sub(right),
            CheckedOp::Mul => left.checked_mul(right),
            CheckedOp::Div => left.checked_div(right),
            // The remainder of MIN by -1 exists although the quotient does not fit.
            CheckedOp::Rem if right == 0 => None,
            CheckedOp::Rem => Some(left.wrapping_rem(right)),
            CheckedOp::UnsignedAdd => (left as u64).checked_add(right as u64).map(|sum| sum as i64),
            CheckedOp::UnsignedSub => (left as u64).checked_sub(right as u64).map(|difference| difference as i64),
            CheckedOp::UnsignedMul => (left as u64).checked_mul(right as u64).map(|product| product as i64),
            CheckedOp::UnsignedDiv => (left as u64).checked_div(right as u64).map(|quotient| quotient as i64),
            CheckedOp::UnsignedRem => (left as u64).checked_rem(right as u64).map(|rest| rest as i64),
        }
    }
}
