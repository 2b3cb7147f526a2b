//! Numbers formatted for people.

use crate::{Cell, Form};

impl Form {
    /// A number as text.
    pub fn text(self, value: f64) -> String {
        if value.is_infinite() {
            return "∞".to_string();
        }
        match self {
            Form::Count => grouped(value.round() as i64),
            Form::Percent => format!("{:.1} %", 100.0 * value),
            Form::Fixed => format!("{value:.3}"),
            Form::Plain => plain(value),
        }
    }
}

impl Cell {
    /// The cell as text: the value, and its interval if there is one.
    pub fn parts(&self, form: Form) -> (String, String) {
        match self {
            Cell::Empty => (String::new(), String::new()),
            Cell::Text(text) => (text.clone(), String::new()),
            Cell::Number(value) => (form.text(*value), String::new()),
            Cell::Between { value, low, high } => {
                let beside = match (low, high) {
                    (Some(low), Some(high)) if high == low => String::new(),
                    // Nearly symmetric: one number gives both ends.
                    (Some(low), Some(high)) if ((value - low) - (high - value)).abs() <= 0.02 * (high - low) => {
                        format!("±{}", form.text((high - low) / 2.0).trim_end_matches(" %"))
                    }
                    (Some(low), Some(high)) => format!("{}–{}", form.text(*low).trim_end_matches(" %"), form.text(*high).trim_end_matches(" %")),
                    _ => String::new(),
                };
                (form.text(*value), beside)
            }
        }
    }
}

/// Three or four significant digits.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_string(),
        _ if size >= 9_999.5 => grouped(value.round() as i64),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ if size >= 999.5 => grouped(value.round() as i64),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// A whole number in groups of three digits.
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::from(if value < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer::Interval;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in
            [(0.0, "0"), (1.5, "1.50"), (26.278, "26.3"), (115.75, "115.8"), (6032.0, "6032"), (1234567.0, "1,234,567"), (2.5e-7, "2.5e-7")]
        {
            assert_eq!(plain(value), text);
        }
        assert_eq!((Form::Percent.text(0.5), Form::Count.text(999.6), Form::Fixed.text(1.0)), ("50.0 %".into(), "1,000".into(), "1.000".into()));
        assert_eq!(grouped(-1000), "-1,000");
    }

    #[test]
    fn intervals_stand_beside_their_value() {
        let parts = |value, low, high| Cell::from(Interval { value, low, high }).parts(Form::Plain);
        assert_eq!(parts(10.0, 9.5, 10.5), ("10".into(), "±0.500".into()));
        assert_eq!(parts(0.5, 0.4, 0.9), ("0.500".into(), "0.400–0.900".into()));
        assert_eq!(parts(3.0, f64::NEG_INFINITY, f64::INFINITY), ("3".into(), String::new()));
        assert_eq!(Cell::from(f64::INFINITY), Cell::Text("∞".into()));
    }
}
