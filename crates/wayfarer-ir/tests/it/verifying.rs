//! Each rule of the verifier, broken once.

use wayfarer_ir::verify::Problem;
use wayfarer_ir::{text, verify};

/// The problems of a program with the given parts, beside a state of two words, a fault, functions and a property.
fn problems(parts: &str) -> Vec<Problem> {
    let source = format!(
        r#"(program "v" (words 2)
          (type t0 (scalar (bits 4) (low 0) (count 16)))
          (type t1 (array t0 t0 (stride 4) (count 16) (bits 64)))
          (variable "x" t1 (offset 0) (at 0 0))
          (fault !0 violation error (at 0 0) "")
          (function f0 "value" (at 0 0) (parameters value) (result !0) (body (registers 1) (frame 0) (return r0)))
          (function f1 "write" (at 0 0) (parameters (state 4)) (no-result !0) (body (registers 0) (frame 0) (store 4 (ref0 0) 1)))
          (function f2 "outer" (at 0 0) (parameters) (result !0) (body (registers 0) (frame 0) (return (call f1 !0 (state 0)))))
          (function f3 "fill" (at 0 0) (parameters (frame 64)) (result !0) (body (registers 0) (frame 0) (store 64 (ref0 0) 1) (return 1)))
          (function f4 "drop" (at 0 0) (parameters) (no-result !0) (body (registers 0) (frame 0) (discard)))
          (function f5 "local" (at 0 0) (parameters) (result !0) (body (registers 0) (frame 1) (return (call f3 !0 (frame 0)))))
          (property p0 "always" always (at 0 0) (registers 0))
          {parts})"#
    );
    let program = text::read(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    verify(&program).into_iter().map(|error| error.problem).collect()
}

fn command(statements: &str) -> Vec<Problem> {
    problems(&format!("(rule \"r\" (at 0 0) (guard (registers 0) 1) (command (registers 2) (frame 1) {statements}))"))
}

fn guard(expr: &str) -> Vec<Problem> {
    problems(&format!("(rule \"r\" (at 0 0) (guard (registers 2) {expr}) (command (registers 0) (frame 0)))"))
}

fn missing(what: &'static str, number: u32) -> Vec<Problem> {
    vec![Problem::Missing { what, number }]
}

fn wrong(what: &'static str) -> Vec<Problem> {
    vec![Problem::Wrong(what)]
}

#[test]
fn ids_exist() {
    assert_eq!(guard("r2"), missing("register", 2));
    assert_eq!(guard("(non-zero !1 r0)"), missing("fault", 1));
    assert_eq!(guard("(call f9 !0)"), missing("function", 9));
    assert_eq!(guard("(load 4 (ref0 0))"), missing("reference", 0));
    assert_eq!(command("(cover p7)"), missing("property", 7));
    assert_eq!(command("(print (place t7 (state 0)))"), missing("type", 7));
    assert_eq!(command("(cover p0)"), wrong("a covered property does not ask to be reached"));
    assert_eq!(command("(print (value t1 0))"), wrong("a printed value has no scalar type"));
}

#[test]
fn places_stay_inside_and_do_not_straddle() {
    assert_eq!(guard("(load 4 (state 124))"), []);
    assert_eq!(guard("(load 4 (state 125))"), [Problem::Outside { end: 129, size: 128 }]);
    assert_eq!(guard("(load 4 (state 62))"), [Problem::Straddles { bits: 4 }]);
    assert_eq!(guard("(load 4 (state 0 (r0 4 32 !0)))"), []);
    assert_eq!(guard("(load 4 (state 0 (r0 4 33 !0)))"), [Problem::Outside { end: 132, size: 128 }]);
    assert_eq!(guard("(load 4 (state 2 (r0 5 13 !0)))"), [Problem::Straddles { bits: 4 }]);
    assert_eq!(guard("(load 4 (state 0 (r0 5 13 !0)))"), []);
    assert_eq!(guard("(load 4 (state 3 (r0 64 2 !0) (r1 4 15 !0)))"), []);
    assert_eq!(guard("(load 4 (state 3 (r0 64 2 !0) (r1 4 16 !0)))"), [Problem::Outside { end: 131, size: 128 }]);
    assert_eq!(guard("(load 1 (frame 0))"), [Problem::Outside { end: 1, size: 0 }]);
    assert_eq!(guard("(load 0 (state 0))"), [Problem::Bits(0), Problem::Bits(0)]);
    assert_eq!(guard("(load 65 (state 0))")[0], Problem::Bits(65));
    assert_eq!(command("(copy 128 (state 0) (state 0)) (copy 64 (frame 0) (state 64))"), []);
    assert_eq!(command("(zero 65 (state 0))"), [Problem::Straddles { bits: 65 }]);
    assert_eq!(command("(zero 128 (state 0 (0 1 1 !0)))"), []);
    assert_eq!(command("(sort (state 0) 4 32 3)"), []);
    assert_eq!(command("(sort (state 0) 4 32 5)").last(), Some(&Problem::Wrong("sorted elements overlap")));
    assert_eq!(command("(sort (state 0) 0 5000 0)").len(), 2);
    assert_eq!(guard(&format!("(load 1 (state {} (r0 {} {} !0)))", u32::MAX, u32::MAX, u32::MAX)).len(), 1);
}

#[test]
fn loops_keep_their_registers() {
    assert_eq!(guard("(for-sum r0 0 1 0 !0 1)"), wrong("a loop's step is 0"));
    assert_eq!(guard("(for-sum r0 r0 (for-sum r0 0 1 1 !0 1) 1 !0 (for-sum r1 0 1 1 !0 1))"), []);
    assert_eq!(guard("(for-sum r0 0 1 1 !0 (for-sum r0 0 1 1 !0 1))"), wrong("a loop's body sets the loop's register"));
    assert_eq!(command("(for r0 0 1 1 !0 (if (1 (set r0 1)) (else)))"), wrong("a loop's body sets the loop's register"));
}

#[test]
fn calls_and_returns_match() {
    assert_eq!(guard("(call f0 !0 1)"), []);
    assert_eq!(guard("(call f0 !0)"), [Problem::Arguments { function: 0, argument: 0 }]);
    assert_eq!(guard("(call f0 !0 1 2)"), [Problem::Arguments { function: 0, argument: 1 }]);
    assert_eq!(guard("(call f0 !0 (state 0))"), [Problem::Arguments { function: 0, argument: 0 }]);
    assert_eq!(command("(do (call f1 !0 (state 4)))"), []);
    assert_eq!(command("(do (call f1 !0 (frame 4)))"), [Problem::Arguments { function: 1, argument: 0 }]);
    assert_eq!(command("(do (call f1 !0 (state 62)))"), [Problem::Straddles { bits: 4 }]);
    assert_eq!(command("(return 1)"), wrong("a return does not agree with whether there is a result"));
}

#[test]
fn formulas_and_printed_items_leave_no_trace() {
    let formula = wrong("a formula calls a function that writes the state, discards or covers");
    assert_eq!(guard("(call f2 !0)"), formula);
    assert_eq!(guard("(call f4 !0)"), formula);
    assert_eq!(guard("(call f5 !0)"), []);
    let printed = wrong("a printed item calls a function that leaves a trace");
    assert_eq!(command("(print (value t0 (call f3 !0 (frame 0))))"), printed);
    assert_eq!(command("(print (value t0 (call f2 !0)))"), printed);
    assert_eq!(command("(print (value t0 (call f5 !0))) (do (call f3 !0 (frame 0)))"), []);
}

#[test]
fn types_and_variables_are_laid_out() {
    let ty = |text: &str| problems(&format!("(type t2 {text})"));
    assert_eq!(ty("(scalar (bits 4) (low 0) (count 16))"), []);
    assert_eq!(ty("(scalar (bits 4) (low 0) (count 16) (undefinable))"), wrong("its bits do not hold its values"));
    assert_eq!(ty("(scalar (bits 65) (low 0) (count 16))"), [Problem::Bits(65)]);
    assert_eq!(ty("(record (bits 64) (field \"a\" t2 (offset 0)))"), wrong("it contains itself, or nests too deep"));
    assert_eq!(ty("(record (bits 64) (field \"a\" t3 (offset 0)))"), missing("type", 3));
    assert_eq!(ty("(record (bits 8) (field \"a\" t0 (offset 5)))"), [Problem::Outside { end: 9, size: 8 }]);
    assert_eq!(ty("(record (bits 8) (field \"a\" t0 (offset 0)) (field \"b\" t0 (offset 3)))"), [Problem::Overlap("a".into(), "b".into())]);
    assert_eq!(ty("(record (bits 128) (field \"a\" t0 (offset 62)))"), [Problem::Straddles { bits: 4 }]);
    assert_eq!(ty("(record (bits 100))"), [Problem::Straddles { bits: 100 }]);
    assert_eq!(ty("(array t0 t0 (stride 2) (count 16) (bits 64))"), wrong("its elements overlap"));
    assert_eq!(ty("(array t0 t0 (stride 7) (count 16) (bits 128))"), [Problem::Straddles { bits: 4 }]);
    let counts = "its index type is not a scalar of as many values as it has elements";
    assert_eq!(ty("(array t0 t0 (stride 4) (count 8) (bits 32))"), wrong(counts));
    assert_eq!(ty("(bag t0 (stride 8) (capacity 4) (element-at 1) (slot-bits 5) (bits 32))"), []);
    let slots = "its slots do not hold their marks and elements apart";
    assert_eq!(ty("(bag t0 (stride 8) (capacity 4) (element-at 0) (slot-bits 5) (bits 32))"), wrong(slots));
    assert_eq!(problems("(variable \"y\" t0 (offset 60) (at 0 0))"), [Problem::Overlap("x".into(), "y".into())]);
    assert_eq!(problems("(variable \"y\" t0 (offset 125) (at 0 0))"), [Problem::Outside { end: 129, size: 128 }]);
}

#[test]
fn sizes_are_bounded() {
    let rule = |count: u64| {
        let parameter = format!("(parameter \"i\" t0 (from 0) (by 1) (count {count}))");
        problems(&format!("(rule \"r\" (at 0 0) {parameter} {parameter} {parameter} (guard (registers 3) 1) (command (registers 3) (frame 0)))"))
    };
    assert_eq!(rule(256), []);
    assert_eq!(rule(257).len(), 1);
    assert_eq!(rule(u64::from(u32::MAX)).len(), 2);
    assert_eq!(guard(&format!("{}1{}", "(not ".repeat(299), ")".repeat(299))), []);
    assert_eq!(guard(&format!("{}1{}", "(not ".repeat(300), ")".repeat(300))).len(), 1);
    assert_eq!(command(&format!("{}{}", "(if (else ".repeat(299), "))".repeat(299))), []);
    assert_eq!(command(&format!("{}{}", "(if (else ".repeat(301), "))".repeat(301))).len(), 1);
    let few = "(rule \"r\" (at 0 0) (parameter \"i\" t0 (from 0) (by 1) (count 2)) (guard (registers 0) 1) (command (registers 1) (frame 70000)))";
    assert_eq!(problems(few).len(), 2);
}
