//! Sizes, constants, and parts of the language that are refused by name.

use super::{check, check_with, run};
use expect_test::expect;
use wayfarer_lang::murphi::{ConstantValue, Options};

#[test]
fn sizes_are_limited() {
    check(
        "type big: 0 .. 1000000000; var a: array [big] of boolean; m: multiset [0] of boolean; r: 5 .. 4; s: scalarset(0);\n\
         startstate end; ruleset i: big do rule end; end; ruleset i: 0 .. 9999; j: 0 .. 9999 do rule end; end;",
        expect![[r#"
            m:1:35: error: this is too large: objects of more than 4194304 bits are not supported
            1 | …  big: 0 .. 1000000000; var a: array [big] of boolean; m: multiset [0] of boolean; r: 5 .. 4; s: scal …
              |                                 ^^^^^^^^^^^^^^^^^^^^^^
              = help: reduce the constants it depends on; a state this large leaves no room to explore

            m:1:72: error: a multiset needs room for at least one element; this one has room for 0
            1 | … big] of boolean; m: multiset [0] of boolean; r: 5 .. 4; s: scalarset(0);
              |                                 ^

            m:1:90: error: this range is empty: its upper bound 4 is less than its lower bound 5
            1 | … : multiset [0] of boolean; r: 5 .. 4; s: scalarset(0);
              |                                 ^^^^^^

            m:1:111: error: a scalarset needs at least one value, and fewer than 2^63 - 1; this one has 0
            1 | … lean; r: 5 .. 4; s: scalarset(0);
              |                                 ^

            m:2:25: error: `i` has 1000000001 values: at most 4194304 instances of a rule are supported
            2 | startstate end; ruleset i: big do rule end; end; ruleset i: 0 .. 9999; j: 0 .. 9999 do rule end; end …
              |                         ^
              = help: use a smaller type, or choose the value in several steps

            m:2:88: error: this rule has 100000000 instances: at most 4194304 are supported
            2 | … i: 0 .. 9999; j: 0 .. 9999 do rule end; end;
              |                                 ^^^^^^^^
              = help: use smaller types for the parameters of its rulesets

        "#]],
    );
}

#[test]
fn constants_are_folded_and_must_be_constant() {
    check(
        "const A: 2 * (3 + 4) % 5; B: 1 / (A - 4); C: D; var x: 0 .. A; y: x .. 3; startstate x := A; end; const D: 3;",
        expect![[r#"
            m:1:30: error: division by zero in a constant
            1 | const A: 2 * (3 + 4) % 5; B: 1 / (A - 4); C: D; var x: 0 .. A; y: x .. 3; startstate x := A; end; co …
              |                              ^^^^^^^^^^^

            m:1:46: error: `D` is used before it is declared
            1 | …  + 4) % 5; B: 1 / (A - 4); C: D; var x: 0 .. A; y: x .. 3; startstate x := A; end; const D: 3;
              |                                 ^
            1 | … startstate x := A; end; const D: 3;
              |                                 - it is declared here
              = help: move the declaration before its first use

            m:1:67: error: the lower bound of a range must be constant
            1 | … - 4); C: D; var x: 0 .. A; y: x .. 3; startstate x := A; end; const D: 3;
              |                                 ^
              = help: constants are numbers, names of constants and operators on them

        "#]],
    );
}

#[test]
fn constants_can_be_given() {
    let options = |name: &str, value| Options { constants: vec![(name.to_string(), value)], ..Options::default() };
    let model = "const Nodes: 3; Fair: true; var x: 0 .. Nodes; b: boolean; startstate x := Nodes; b := Fair; end;";
    assert_eq!(run(model, &options("Nodes", ConstantValue::Number(7)), 0), "x: 7\nb: true\n");
    assert_eq!(run(model, &options("Fair", ConstantValue::Name("false".to_string())), 0), "x: 3\nb: false\n");
    check_with(
        model,
        &options("Fair", ConstantValue::Number(0)),
        expect![[r#"
        m:1:17: error: the value given for `Fair` is of type `integer`, but the model's is of type `boolean`
        1 | const Nodes: 3; Fair: true; var x: 0 .. Nodes; b: boolean; startstate x := Nodes; b := Fair; end;
          |                 ^^^^

    "#]],
    );
    check_with(
        model,
        &options("Node", ConstantValue::Number(0)),
        expect![[r#"
        m:1:1: error: the model has no constant `Node` to give a value to
        1 | const Nodes: 3; Fair: true; var x: 0 .. Nodes; b: boolean; startstate x := Nodes; b := Fair; end;
          | ^
          = help: did you mean `Nodes`?

    "#]],
    );
    check_with(
        model,
        &options("Value", ConstantValue::Number(0)),
        expect![[r#"
        m:1:1: error: the model has no constant `Value` to give a value to
        1 | const Nodes: 3; Fair: true; var x: 0 .. Nodes; b: boolean; startstate x := Nodes; b := Fair; end;
          | ^
          = help: its constants are `Nodes`, `Fair`

    "#]],
    );
}

#[test]
fn liveness_is_named_as_not_judged() {
    check(
        "var b: boolean; startstate b := true; end; liveness b;",
        expect![[r#"
            m:1:44: warning: liveness properties are not judged yet; the other properties are
            1 | var b: boolean; startstate b := true; end; liveness b;
              |                                            ^^^^^^^^^^
              = help: use `cover` to ask whether a state can be reached at all

        "#]],
    );
}
