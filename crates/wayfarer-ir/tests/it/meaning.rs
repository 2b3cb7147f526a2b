//! The meaning of expressions and statements, one rule at a time.

use crate::interpreter;
use wayfarer_space::{Fault, Fired, Firing, Space};

/// Runs statements on a state of four words (variables `w0` to `w3`) with eight registers and a frame of four words.
/// Function f0 doubles a value; f1 writes 5 to a word behind a reference and 6 to one in a frame; f2 calls itself for ever; f3 ends without a result.
fn run(statements: &str) -> Result<[u64; 4], u32> {
    let space = interpreter(&format!(
        r#"(program "m" (words 4)
          (type t0 (scalar (bits 64) (low 0) (count 18446744073709551615)))
          (variable "w0" t0 (offset 0) (at 0 0)) (variable "w1" t0 (offset 64) (at 0 0))
          (variable "w2" t0 (offset 128) (at 0 0)) (variable "w3" t0 (offset 192) (at 0 0))
          (fault !0 violation assertion (at 0 0) "") (fault !1 violation error (at 0 0) "") (fault !2 limit endless (at 0 0) "")
          (function f0 "double" (at 0 0) (parameters value) (result !1)
            (body (registers 2) (frame 1) (set r1 (add r0 r0)) (store 64 (frame 0) (add r1 (load 64 (frame 0)))) (return (load 64 (frame 0)))))
          (function f1 "write" (at 0 0) (parameters (state 64) value (frame 64)) (no-result !1)
            (body (registers 1) (frame 0) (store 64 (ref0 0) (add 5 r0)) (store 64 (ref1 0) (add 6 r0))))
          (function f2 "deep" (at 0 0) (parameters value) (result !1)
            (body (registers 1) (frame 0) (return (select r0 (add 1 (call f2 !2 (sub r0 1))) 0))))
          (function f3 "silent" (at 0 0) (parameters) (result !1) (body (registers 0) (frame 0)))
          (rule "r" (at 0 0) (guard (registers 0) 1) (command (registers 8) (frame 4) {statements})))"#
    ));
    let mut out = Vec::new();
    match space.fire(&[1, 2, 3, 4], Firing::of(0), &mut out) {
        Fired::To => Ok(out.try_into().unwrap()),
        Fired::Fault(Fault(fault)) => Err(fault),
        other => panic!("{other:?}"),
    }
}

/// The value of an expression.
fn value(expr: &str) -> Result<i64, u32> {
    run(&format!("(store 64 (state 0) {expr})")).map(|state| state[0] as i64)
}

const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;

#[test]
fn total_operators() {
    for (expr, expected) in [
        ("(not 0)", 1),
        ("(not -7)", 0),
        ("(negate 5)", -5),
        (&format!("(negate {MIN})"), MIN),
        ("(complement 5)", -6),
        (&format!("(add {MAX} 1)"), MIN),
        (&format!("(sub {MIN} 1)"), MAX),
        (&format!("(mul {MAX} 2)"), -2),
        ("(and 12 10)", 8),
        ("(or 12 10)", 14),
        ("(xor 12 10)", 6),
        ("(shl 1 65)", 2),
        ("(shl 3 63)", MIN),
        ("(shl 1 -1)", MIN),
        ("(shr -8 1)", -4),
        ("(shr -8 64)", -8),
        ("(ushr -1 63)", 1),
        ("(ushr -1 128)", -1),
        ("(eq 3 3)", 1),
        ("(ne 3 3)", 0),
        (&format!("(lt {MIN} {MAX})"), 1),
        ("(le 3 3)", 1),
        ("(gt -1 0)", 0),
        ("(ge -1 -1)", 1),
    ] {
        assert_eq!(value(expr), Ok(expected), "{expr}");
    }
}

#[test]
fn checked_operators() {
    for (expr, expected) in [
        ("(checked-add !1 2 3)", Ok(5)),
        (&format!("(checked-add !1 {MAX} 1)"), Err(1)),
        (&format!("(checked-sub !1 {MIN} 1)"), Err(1)),
        (&format!("(checked-mul !1 {MIN} -1)"), Err(1)),
        ("(checked-mul !1 -4 5)", Ok(-20)),
        ("(checked-div !1 -7 2)", Ok(-3)),
        ("(checked-div !1 7 0)", Err(1)),
        (&format!("(checked-div !1 {MIN} -1)"), Err(1)),
        ("(checked-rem !1 -7 2)", Ok(-1)),
        ("(checked-rem !1 7 0)", Err(1)),
        (&format!("(checked-rem !1 {MIN} -1)"), Ok(0)),
    ] {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

#[test]
fn lazy_operators_stop_early() {
    let fault = "(non-zero !1 0)";
    for (expr, expected) in [
        ("(all)".to_string(), Ok(1)),
        ("(any)".to_string(), Ok(0)),
        ("(all 2 -1)".to_string(), Ok(1)),
        (format!("(all 1 0 {fault})"), Ok(0)),
        (format!("(all 1 {fault} 0)"), Err(1)),
        (format!("(any 0 7 {fault})"), Ok(1)),
        (format!("(select 2 5 {fault})"), Ok(5)),
        (format!("(select 0 {fault} 6)"), Ok(6)),
        ("(non-zero !1 -3)".to_string(), Ok(-3)),
        ("(between !1 -2 4 4)".to_string(), Ok(4)),
        ("(between !1 -2 4 -2)".to_string(), Ok(-2)),
        ("(between !1 -2 4 5)".to_string(), Err(1)),
        (format!("(add (non-zero !0 0) {fault})"), Err(0)),
    ] {
        assert_eq!(value(&expr), expected, "{expr}");
    }
}

#[test]
fn folding_loops() {
    for (expr, expected) in [
        ("(for-sum r0 1 4 1 !2 r0)".to_string(), Ok(10)),
        ("(for-sum r0 4 1 -2 !2 r0)".to_string(), Ok(6)),
        ("(for-sum r0 4 1 1 !2 r0)".to_string(), Ok(0)),
        ("(for-all r0 1 4 1 !2 (non-zero !0 (sub 3 r0)))".to_string(), Err(0)),
        ("(for-all r0 1 4 1 !2 (lt r0 5))".to_string(), Ok(1)),
        ("(for-all r0 1 4 1 !2 (select (gt r0 2) (non-zero !0 0) (lt r0 2)))".to_string(), Ok(0)),
        ("(for-any r0 1 4 1 !2 (select (gt r0 2) (non-zero !0 0) (eq r0 2)))".to_string(), Ok(1)),
        ("(for-any r0 1 4 1 !2 0)".to_string(), Ok(0)),
        // The step that would leave 64 bits ends the loop.
        (format!("(for-sum r0 {} {MAX} 2 !2 1)", MAX - 2), Ok(2)),
        (format!("(for-sum r0 {MIN} {MIN} -1 !2 1)"), Ok(1)),
        ("(for-sum r0 1 1000000 1 !2 1)".to_string(), Ok(1_000_000)),
        ("(for-sum r0 1 1000001 1 !2 1)".to_string(), Err(2)),
        // The register keeps the last round's value, or its previous value if there is no round.
        ("(add (for-sum r0 1 4 1 !2 0) r0)".to_string(), Ok(4)),
        ("(add (for-any r0 1 4 1 !2 (eq r0 2)) r0)".to_string(), Ok(3)),
        ("(add (for-sum r0 7 4 1 !2 0) r0)".to_string(), Ok(0)),
    ] {
        assert_eq!(value(&expr), expected, "{expr}");
    }
}

#[test]
fn places_and_indices() {
    assert_eq!(value("(load 64 (state 64 (2 64 3 !0)))"), Ok(4));
    assert_eq!(value("(load 64 (state 64 (3 64 3 !0)))"), Err(0));
    assert_eq!(value("(load 64 (state 64 (-1 64 3 !0)))"), Err(0));
    // An index is tested before the next one is evaluated.
    assert_eq!(value("(load 4 (state 0 (4 64 4 !0) ((non-zero !1 0) 4 2 !1)))"), Err(0));
    assert_eq!(value("(load 2 (state 192 (1 2 2 !0)))"), Ok(1));
    // Loads extend with zeros, stores cut.
    assert_eq!(run("(store 64 (state 0) -1) (store 3 (state 5) 10) (store 64 (state 64) (load 8 (state 0)))"), Ok([!0 - 0xA0, 0x5F, 3, 4]));
    // Indices come before the value.
    assert_eq!(run("(store 64 (state 0 (4 64 4 !0)) (non-zero !1 0))"), Err(0));
    assert_eq!(run("(copy 64 (state 0 (4 64 4 !0)) (state 0 (4 64 4 !1)))"), Err(0));
}

#[test]
fn moves_of_bits() {
    assert_eq!(run("(copy 128 (state 128) (state 0))"), Ok([1, 2, 1, 2]));
    assert_eq!(run("(copy 128 (frame 64) (state 128)) (copy 192 (state 0) (frame 0))"), Ok([0, 3, 4, 4]));
    assert_eq!(run("(copy 2 (state 66) (state 128))"), Ok([1, 14, 3, 4]));
    assert_eq!(run("(zero 128 (state 64)) (zero 1 (state 0))"), Ok([0, 0, 0, 4]));
    assert_eq!(run("(sort (state 0) 64 4 64)"), Ok([4, 3, 2, 1]));
    assert_eq!(run("(sort (state 0) 128 2 128)"), Ok([3, 4, 1, 2]));
    assert_eq!(run("(store 64 (state 0) 8516) (sort (state 0) 4 4 4)"), Ok([0x1244, 2, 3, 4]));
}

#[test]
fn branches_and_loops() {
    assert_eq!(run("(if (0 (fail !0)) (2 (set r0 7)) ((non-zero !1 0)) (else (fail !0))) (store 64 (state 0) r0)"), Ok([7, 2, 3, 4]));
    assert_eq!(run("(if (0 (fail !0)) (else (return))) (fail !1)"), Ok([1, 2, 3, 4]));
    assert_eq!(run("(while !2 (lt r0 3) (set r0 (add r0 1)) (set r1 (add r1 r0))) (store 64 (state 0) r1)"), Ok([6, 2, 3, 4]));
    assert_eq!(run("(while !2 1)"), Err(2));
    assert_eq!(run("(for r0 3 1 -1 !2 (set r1 (add (mul r1 10) r0))) (store 64 (state 0) r1) (store 64 (state 64) r0)"), Ok([321, 1, 3, 4]));
    assert_eq!(run("(for r0 1 9 1 !2 (if ((eq r0 4) (return)) (else)) (store 64 (state 0) r0))"), Ok([3, 2, 3, 4]));
    // Fuel is shared by all loops of a command.
    assert_eq!(run("(for r0 1 1000 1 !2 (for r1 1 998 1 !0)) (set r2 1)"), Ok([1, 2, 3, 4]));
    assert_eq!(run("(for r0 1 1000 1 !2 (for r1 1 999 1 !0)) (while !1 (lt r2 1) (set r2 1))"), Err(1));
    assert_eq!(run("(check !0 2) (check !1 0)"), Err(1));
    assert_eq!(run("(fail !1)"), Err(1));
}

#[test]
fn calls() {
    // The frame of each call starts zeroed.
    assert_eq!(value("(add (call f0 !2 3) (call f0 !2 (call f0 !2 4)))"), Ok(22));
    assert_eq!(run("(do (call f1 !2 (state 64 (2 64 3 !0)) (call f0 !2 1) (frame 64))) (copy 64 (state 0) (frame 64))"), Ok([8, 2, 3, 7]));
    assert_eq!(run("(do (call f1 !2 (state 64 (3 64 3 !0)) 0 (frame 64)))"), Err(0));
    assert_eq!(value("(call f1 !2 (state 64) 0 (frame 0))"), Ok(0));
    assert_eq!(value("(call f3 !2)"), Err(1));
    assert_eq!(value("(call f2 !2 999)"), Ok(999));
    assert_eq!(value("(call f2 !2 1000)"), Err(2));
}
