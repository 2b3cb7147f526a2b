//! Real numbers with a fixed number of decimal digits, as CMurphi has them.
//!
//! An expression computes with numbers of 64 bits by IEEE 754; a register holds their bits. A variable of the type
//! `real(digits, exponent)` holds a decimal number: a value is rounded to that many digits when it is stored, half to
//! even, and becomes 0 if its exponent is too small. So the stored form is the position of the decimal number among all
//! those of its type, plus 1, because 0 means undefined.

#![allow(missing_docs)] // The functions have the names that mathematics gives them.

use std::fmt::Write;

/// The decimal numbers of a type: `digits` significant digits, and an exponent of ten from `1 - exponent` to `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RealFormat {
    /// From 1 to 15: more digits are not the same in every number of 64 bits.
    pub digits: u8,
    /// From 1 to 308.
    pub exponent: u16,
}

/// An operator on real numbers. Those of one operand ignore the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealOp {
    Add,
    Sub,
    Mul,
    Div,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// The stored form of the right operand in the format that the left one encodes; 0 if it has none, because it is
    /// no number or its exponent is too large.
    Pack,
    /// The value of the right operand, which is a stored form in the format that the left one encodes.
    Unpack,
    /// The real number that equals a whole number: a signed one if the left operand is 0, otherwise one without sign.
    Convert,
    Negate,
    Fmod,
    Pow,
    Log,
    Log10,
    Exp,
    Sin,
    Cos,
    Tan,
    Abs,
    Floor,
    Ceil,
    Sqrt,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
}

/// The bits of every result that is not a number, so that equal programs give equal bits.
pub const NOT_A_NUMBER: i64 = 0x7ff8_0000_0000_0000;

const MOST_DIGITS: u8 = 15;
const LARGEST_EXPONENT: u16 = 308;

impl RealFormat {
    /// The format, if numbers of 64 bits can hold its values.
    pub fn new(digits: i64, exponent: i64) -> Option<Self> {
        let digits = u8::try_from(digits).ok().filter(|digits| (1..=MOST_DIGITS).contains(digits))?;
        let exponent = u16::try_from(exponent).ok().filter(|exponent| (1..=LARGEST_EXPONENT).contains(exponent))?;
        Some(RealFormat { digits, exponent })
    }

    /// The number of values, zero included.
    pub fn count(self) -> u64 {
        1 + 2 * self.mantissas() * 2 * u64::from(self.exponent)
    }

    /// The format as an operand of `Pack` and `Unpack`.
    pub fn encode(self) -> i64 {
        i64::from(self.digits) | i64::from(self.exponent) << 8
    }

    fn decode(encoded: i64) -> Option<Self> {
        Self::new(encoded & 0xff, encoded >> 8)
    }

    /// The number of mantissas of a sign and an exponent.
    fn mantissas(self) -> u64 {
        9 * 10u64.pow(u32::from(self.digits) - 1)
    }

    /// The stored form of a value; 0 if it has none.
    pub fn pack(self, value: f64) -> u64 {
        if !value.is_finite() {
            return 0;
        }
        let Some((mantissa, exponent)) = self.rounded(value.abs()) else { return 1 };
        let least = 1 - i32::from(self.exponent);
        if exponent < least {
            return 1;
        }
        if exponent > i32::from(self.exponent) {
            return 0;
        }
        let sign = u64::from(value < 0.0);
        let rank = (sign * 2 * u64::from(self.exponent) + (exponent - least) as u64) * self.mantissas();
        2 + rank + mantissa - self.mantissas() / 9
    }

    /// The value of a stored form; 0 if it is none.
    pub fn unpack(self, stored: u64) -> f64 {
        if stored < 2 || stored > self.count() {
            return 0.0;
        }
        let rank = stored - 2;
        let (block, mantissa) = (rank / self.mantissas(), rank % self.mantissas() + self.mantissas() / 9);
        let exponents = 2 * u64::from(self.exponent);
        let exponent = (block % exponents) as i32 + 1 - i32::from(self.exponent);
        let size = decimal(mantissa, exponent - i32::from(self.digits) + 1);
        if block >= exponents { -size } else { size }
    }

    /// The text of a stored form that is not 0.
    pub fn show(self, stored: u64) -> String {
        let value = self.unpack(stored);
        let size = value.abs();
        if size != 0.0 && !(1e-5..1e15).contains(&size) { format!("{value:e}") } else { value.to_string() }
    }

    /// The mantissa, of `digits` digits, and the exponent of a positive number; nothing for 0.
    fn rounded(self, value: f64) -> Option<(u64, i32)> {
        if value == 0.0 {
            return None;
        }
        Some(self.rounded_by_scaling(value).unwrap_or_else(|| self.rounded_by_text(value)))
    }

    /// The same by one multiplication or division by an exact power of ten, if that decides it: its error is less than
    /// half a unit in the last place, so a result that is not that close to a tie is rounded as the exact one would be.
    fn rounded_by_scaling(self, value: f64) -> Option<(u64, i32)> {
        let binary = ((value.to_bits() >> 52) as i32) - 1023;
        // The estimate from the binary exponent is exact or one too small.
        let mut exponent = (f64::from(binary) * std::f64::consts::LOG10_2).floor() as i32;
        let limit = POWERS[usize::from(self.digits)];
        for _ in 0..2 {
            let by = i32::from(self.digits) - 1 - exponent;
            let power = *POWERS.get(by.unsigned_abs() as usize)?;
            let scaled = if by < 0 { value / power } else { value * power };
            let whole = scaled.floor();
            let margin = scaled * f64::EPSILON;
            if scaled >= limit - 1.0 {
                exponent += 1;
                continue;
            }
            if ((scaled - whole) - 0.5).abs() <= margin || scaled < limit / 10.0 + 1.0 {
                return None;
            }
            let mantissa = whole as u64 + u64::from(scaled - whole > 0.5);
            return Some((mantissa, exponent));
        }
        None
    }

    /// The same by writing the number down, which is exact.
    fn rounded_by_text(self, value: f64) -> (u64, i32) {
        let mut text = Digits { bytes: [0; 32], used: 0 };
        let _ = write!(text, "{value:.*e}", usize::from(self.digits) - 1);
        let (mut mantissa, mut exponent, mut negative, mut in_exponent) = (0u64, 0i32, false, false);
        for byte in &text.bytes[..text.used] {
            match byte {
                b'0'..=b'9' if in_exponent => exponent = exponent * 10 + i32::from(byte - b'0'),
                b'0'..=b'9' => mantissa = mantissa * 10 + u64::from(byte - b'0'),
                b'e' => in_exponent = true,
                b'-' => negative = true,
                _ => {}
            }
        }
        (mantissa, if negative { -exponent } else { exponent })
    }
}

/// The number nearest to a mantissa times a power of ten.
fn decimal(mantissa: u64, exponent: i32) -> f64 {
    match POWERS.get(exponent.unsigned_abs() as usize) {
        // Both operands are exact, so the result is rounded once.
        Some(power) if exponent < 0 => mantissa as f64 / power,
        Some(power) => mantissa as f64 * power,
        None => {
            let mut text = Digits { bytes: [0; 32], used: 0 };
            let _ = write!(text, "{mantissa}e{exponent}");
            std::str::from_utf8(&text.bytes[..text.used]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
        }
    }
}

/// The powers of ten that a number of 64 bits holds exactly.
const POWERS: [f64; 23] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22];

/// Text of a number on the stack: rounding happens on every assignment.
struct Digits {
    bytes: [u8; 32],
    used: usize,
}

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.used + text.len();
        self.bytes.get_mut(self.used..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

impl RealOp {
    /// All operators with their names in the text form.
    pub const ALL: [(RealOp, &'static str); 32] = [
        (RealOp::Add, "real-add"),
        (RealOp::Sub, "real-sub"),
        (RealOp::Mul, "real-mul"),
        (RealOp::Div, "real-div"),
        (RealOp::Eq, "real-eq"),
        (RealOp::Ne, "real-ne"),
        (RealOp::Lt, "real-lt"),
        (RealOp::Le, "real-le"),
        (RealOp::Gt, "real-gt"),
        (RealOp::Ge, "real-ge"),
        (RealOp::Pack, "real-pack"),
        (RealOp::Unpack, "real-unpack"),
        (RealOp::Convert, "real-convert"),
        (RealOp::Negate, "real-negate"),
        (RealOp::Fmod, "real-fmod"),
        (RealOp::Pow, "real-pow"),
        (RealOp::Log, "real-log"),
        (RealOp::Log10, "real-log10"),
        (RealOp::Exp, "real-exp"),
        (RealOp::Sin, "real-sin"),
        (RealOp::Cos, "real-cos"),
        (RealOp::Tan, "real-tan"),
        (RealOp::Abs, "real-fabs"),
        (RealOp::Floor, "real-floor"),
        (RealOp::Ceil, "real-ceil"),
        (RealOp::Sqrt, "real-sqrt"),
        (RealOp::Asin, "real-asin"),
        (RealOp::Acos, "real-acos"),
        (RealOp::Atan, "real-atan"),
        (RealOp::Sinh, "real-sinh"),
        (RealOp::Cosh, "real-cosh"),
        (RealOp::Tanh, "real-tanh"),
    ];

    /// Whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, RealOp::Eq | RealOp::Ne | RealOp::Lt | RealOp::Le | RealOp::Gt | RealOp::Ge)
    }

    /// The result.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        let (a, b) = (f64::from_bits(left as u64), f64::from_bits(right as u64));
        let real = match self {
            RealOp::Eq => return i64::from(a == b),
            RealOp::Ne => return i64::from(a != b),
            RealOp::Lt => return i64::from(a < b),
            RealOp::Le => return i64::from(a <= b),
            RealOp::Gt => return i64::from(a > b),
            RealOp::Ge => return i64::from(a >= b),
            RealOp::Pack => return RealFormat::decode(left).map_or(0, |format| format.pack(b)) as i64,
            RealOp::Unpack => RealFormat::decode(left).map_or(0.0, |format| format.unpack(right as u64)),
            RealOp::Convert if left == 0 => right as f64,
            RealOp::Convert => right as u64 as f64,
            RealOp::Add => a + b,
            RealOp::Sub => a - b,
            RealOp::Mul => a * b,
            RealOp::Div => a / b,
            RealOp::Negate => -b,
            RealOp::Fmod => a % b,
            RealOp::Pow => a.powf(b),
            RealOp::Log => b.ln(),
            RealOp::Log10 => b.log10(),
            RealOp::Exp => b.exp(),
            RealOp::Sin => b.sin(),
            RealOp::Cos => b.cos(),
            RealOp::Tan => b.tan(),
            RealOp::Abs => b.abs(),
            RealOp::Floor => b.floor(),
            RealOp::Ceil => b.ceil(),
            RealOp::Sqrt => b.sqrt(),
            RealOp::Asin => b.asin(),
            RealOp::Acos => b.acos(),
            RealOp::Atan => b.atan(),
            RealOp::Sinh => b.sinh(),
            RealOp::Cosh => b.cosh(),
            RealOp::Tanh => b.tanh(),
        };
        if real.is_nan() { NOT_A_NUMBER } else { real.to_bits() as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    fn text(format: RealFormat, value: f64) -> f64 {
        let rounded: f64 = format!("{value:.*e}", usize::from(format.digits) - 1).parse().expect("a number");
        let exponent = |value: f64| format!("{value:e}").split('e').nth(1).and_then(|part| part.parse::<i32>().ok()).unwrap_or(0);
        if exponent(rounded) < 1 - i32::from(format.exponent) { 0.0 } else { rounded }
    }

    /// Every value is rounded as by writing it with the type's digits and reading it again, ties included.
    #[test]
    fn rounding_is_that_of_the_text() {
        let mut rng = Rng::new(7, "reals");
        for digits in 1..=15 {
            let format = RealFormat::new(digits, 99).expect("a format");
            let power = 10f64.powi(digits as i32 - 1);
            let mut values = vec![1.0, -1.0, 0.1, 9.5, 9.95, 99.95, 1e22, 1e23, 1e-98, 9.99e-99, 1e-99, 1e-110, power + 0.5, power * 10.0 - 0.5];
            for _ in 0..2000 {
                let word = rng.next_word();
                values.push(f64::from_bits((word % (1 << 62)) | (1 << 61)));
                values.push((word % 1_000_000) as f64 + 0.5);
                values.push((word % 100_000) as f64 / 8.0 * power / 1e3);
            }
            for value in values.into_iter().filter(|value| value.abs() < 1e90) {
                let stored = format.pack(value);
                assert!(stored >= 1 && stored <= format.count(), "{value:e}");
                assert_eq!(format.unpack(stored), text(format, value), "{value:e} with {digits} digits");
                assert_eq!(format.pack(format.unpack(stored)), stored, "{value:e}");
            }
        }
    }

    #[test]
    fn values_without_a_stored_form_have_none() {
        let format = RealFormat::new(4, 10).expect("a format");
        for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e11, 9.9999e10, -1e300] {
            assert_eq!(format.pack(value), 0, "{value}");
        }
        assert_eq!((format.pack(0.0), format.pack(-0.0), format.pack(-1e-10), format.unpack(1)), (1, 1, 1, 0.0));
        assert_eq!(format.unpack(format.count()), -9.999e10);
        assert!(RealFormat::new(16, 99).is_none() && RealFormat::new(4, 309).is_none() && RealFormat::new(0, 99).is_none());
        assert!(RealFormat::new(15, 308).is_some_and(|format| format.count() < u64::MAX / 8));
    }
}
