//! Static bounds on a number. They are wide enough that arithmetic on 64-bit bounds cannot overflow.

/// All numbers from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Interval {
    /// Every value that a register can hold as a number with a sign.
    pub(super) const ALL: Interval = Interval { low: i64::MIN as i128, high: i64::MAX as i128 };
    /// Every value that a register can hold as a number without sign.
    pub(super) const UNSIGNED: Interval = Interval { low: 0, high: u64::MAX as i128 };
    /// The truth values.
    pub(super) const TRUTH: Interval = Interval { low: 0, high: 1 };

    pub(super) fn new(low: i64, high: i64) -> Self {
        Interval { low: low.into(), high: high.into() }
    }

    pub(super) fn one(value: i64) -> Self {
        Interval::new(value, value)
    }

    /// Whether a register holds these values as numbers without sign: they do not fit with one.
    pub(super) fn is_unsigned(self) -> bool {
        self.high > Interval::ALL.high
    }

    pub(super) fn within(self, other: Interval) -> bool {
        self.low >= other.low && self.high <= other.high
    }

    pub(super) fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether every value fits a register, all of them with a sign or all without.
    pub(super) fn fits(self) -> bool {
        self.within(Interval::ALL) || self.within(Interval::UNSIGNED)
    }

    /// Whether the values are far enough from the limits that adding two of them cannot overflow.
    pub(super) fn modest(self) -> bool {
        self.within(Interval { low: -(1 << 61), high: 1 << 61 })
    }

    /// The intersection; if it is empty, something inside `other`.
    pub(super) fn clamp(self, other: Interval) -> Interval {
        Interval { low: self.low.clamp(other.low, other.high), high: self.high.clamp(other.low, other.high) }
    }

    pub(super) fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(super) fn shift(self, by: i64) -> Interval {
        Interval { low: self.low + i128::from(by), high: self.high + i128::from(by) }
    }

    pub(super) fn add(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high }
    }

    pub(super) fn subtract(self, other: Interval) -> Interval {
        Interval { low: self.low - other.high, high: self.high - other.low }
    }

    pub(super) fn multiply(self, other: Interval) -> Interval {
        // Products of two numbers of 64 bits without sign may not fit 128 bits with one.
        let product = i128::saturating_mul;
        let corners = [product(self.low, other.low), product(self.low, other.high), product(self.high, other.low), product(self.high, other.high)];
        Interval { low: corners.into_iter().min().unwrap_or(0), high: corners.into_iter().max().unwrap_or(0) }
    }

    /// The interval of the quotient truncated towards zero, for any divisor except zero.
    pub(super) fn divide(self, other: Interval) -> Interval {
        let largest = self.low.abs().max(self.high.abs());
        if other.low > 0 {
            let ends = [self.low / other.low, self.low / other.high, self.high / other.low, self.high / other.high];
            return Interval { low: ends.into_iter().min().unwrap_or(0), high: ends.into_iter().max().unwrap_or(0) };
        }
        Interval { low: -largest, high: largest }
    }

    /// The interval of the remainder with the sign of the dividend, for any divisor except zero.
    pub(super) fn remainder(self, other: Interval) -> Interval {
        let below = (other.low.abs().max(other.high.abs()) - 1).max(0);
        Interval { low: if self.low < 0 { (-below).max(self.low) } else { 0 }, high: if self.high > 0 { below.min(self.high) } else { 0 } }
    }

    /// The interval of `&`, `|` and `^`; all numbers if an operand may be negative.
    pub(super) fn bitwise(self, other: Interval) -> Interval {
        if self.low < 0 || other.low < 0 {
            return Interval::ALL;
        }
        let largest = self.high.max(other.high) as u128;
        let bits = 128 - largest.leading_zeros();
        Interval { low: 0, high: (1i128 << bits) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operator against all pairs of values of all small intervals.
    #[test]
    fn no_result_lies_outside() {
        let intervals: Vec<Interval> = (-4..=4).flat_map(|low| (low..=4).map(move |high| Interval::new(low, high))).collect();
        for a in &intervals {
            for b in &intervals {
                for x in a.low..=a.high {
                    for y in b.low..=b.high {
                        assert!(a.add(*b).contains(x + y) && a.subtract(*b).contains(x - y) && a.multiply(*b).contains(x * y));
                        assert!(a.bitwise(*b).contains(x & y) && a.bitwise(*b).contains(x | y) && a.bitwise(*b).contains(x ^ y));
                        if y != 0 {
                            assert!(a.divide(*b).contains(x / y), "{x} / {y} in {a:?} / {b:?}");
                            assert!(a.remainder(*b).contains(x % y), "{x} % {y} in {a:?} % {b:?}");
                        }
                    }
                }
            }
        }
    }
}
