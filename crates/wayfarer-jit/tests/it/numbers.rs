//! Operators on real numbers and on numbers without sign, on every pair of telling operands.

use crate::agreement::agree;
use std::sync::Arc;
use wayfarer_ir::{CheckedOp, Limits, RealFormat, RealOp, text, verify};

/// A program whose rules set `x` and `y` to samples and `z` to the result of an operator.
fn check(name: &str, samples: &[i64], left: &str, operator: &str) {
    let set = |number: usize, at: u32, value: &i64| {
        format!(
            r#"(rule "set {at} {number}" (at 1 1) (guard (registers 0) (eq (load 64 (state 128)) 0))
              (command (registers 0) (frame 0) (store 64 (state {at}) {value})))"#
        )
    };
    let sets: String = samples.iter().enumerate().map(|(number, value)| set(number, 0, value) + &set(number, 64, value)).collect();
    let text = format!(
        r#"(program "numbers" (words 3)
          (type t0 (scalar (bits 64) (low 0) (count 18446744073709551615)))
          (variable "x" t0 (offset 0) (at 1 1))
          (variable "y" t0 (offset 64) (at 1 1))
          (variable "z" t0 (offset 128) (at 1 1))
          (fault !0 violation overflow (at 1 1) "overflow")
          (start "zero" (at 1 1) (guard (registers 0) 1) (command (registers 0) (frame 0)))
          {sets}
          (rule "apply" (at 1 1) (guard (registers 0) (eq (load 64 (state 128)) 0))
            (command (registers 0) (frame 0) (store 64 (state 128) ({operator} {left} (load 64 (state 64)))))))"#
    );
    let program = text::read(&text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    assert_eq!(verify(&program), []);
    let seen = agree(name, &Arc::new(program), Limits::default(), 600);
    assert!(seen.steps > 100, "{name}: {seen:?}");
}

#[test]
fn real_operators_agree() {
    let reals = [0.0, -0.0, 1.0, -1.5, 2.0 / 3.0, 1000.5, 1e99, 1e300, -1e-300, 5e-324, f64::INFINITY, f64::NAN];
    let samples: Vec<i64> = reals.iter().map(|real| real.to_bits() as i64).chain([1, 2, 3_564_001, -1, 12]).collect();
    let format = RealFormat::new(4, 99).map_or(0, RealFormat::encode).to_string();
    for (op, name) in RealOp::ALL {
        let left = if matches!(op, RealOp::Pack | RealOp::Unpack) { format.as_str() } else { "(load 64 (state 0))" };
        check(name, &samples, left, name);
    }
}

#[test]
fn operators_without_sign_agree() {
    let samples = [0, 1, 2, 3, 7, 1 << 32, (1 << 32) + 1, i64::MAX, i64::MIN, i64::MIN + 1, -2, -1];
    for (_, name) in CheckedOp::ALL.iter().filter(|(_, name)| name.starts_with("unsigned")) {
        check(name, &samples, "(load 64 (state 0))", &format!("{name} !0"));
    }
}
