//! Invalid models: each message says what was expected, where, and what a beginner probably meant.

use super::check_errors;
use expect_test::expect;

#[test]
fn one_run_finds_many_errors() {
    check_errors(
        "const N = 3;
        type t: 0 .. ;
        var x boolean; y: t
        rule x = 1 => begin y := ; x := (1 + ; z[1 := 2; end;
        ruleset i t do rule end; end;
        invariant x := 1;
        invariant forall i : t do x;",
        expect![[r#"
            1:9: expected `:`, found `=`
                help: a name and its type or value have `:` between them
            2:22: expected an expression, found `;`
            3:15: expected `:`, found `boolean`
            4:20: `=>` is not an operator
                help: a guard ends with `==>`, an implication is written `->`
            4:34: expected an expression, found `;`
            4:46: expected an expression, found `;`
            4:52: expected `]`, found `:=`
                help: `:=` assigns and `=` compares; `:` stands between a name and its type or value
            5:19: expected `:`, found `t`
            6:21: `:=` inside an expression
                help: `=` compares; `:=` is a statement
            7:36: expected `end` or `endforall`, found `;`
                7:19: this `forall` is still open
        "#]],
    );
}

#[test]
fn a_short_arrow_ends_a_guard_before_an_assignment() {
    check_errors(
        "rule x < 3 => x := x + 1; end;
        invariant x < 2 => x > 0;",
        expect![[r#"
            1:12: `=>` is not an operator
                help: a guard ends with `==>`, an implication is written `->`
            2:25: `=>` is not an operator
                help: a guard ends with `==>`, an implication is written `->`
        "#]],
    );
}

#[test]
fn assignments_and_comparisons() {
    check_errors(
        "rule begin
          x = 1;
          if x := 1 then y := 2; end;
          x == 2;
        end;",
        expect![[r#"
            2:13: expected `:=`, found `=`
                help: an assignment is written `:=`
            3:16: `:=` inside an expression
                help: `=` compares; `:=` is a statement
            4:13: expected `:=`, found `==`
                help: an assignment is written `:=`
        "#]],
    );
}

#[test]
fn missing_ends() {
    check_errors(
        "rule begin
          if a then
            x := 1;
        endrule;
        rule begin for i : t do x := 1; end;
        rule begin x := 1; end; end;
        startstate begin",
        expect![[r#"
            4:9: expected `end` or `endif`, found `endrule`
                2:11: this `if` is still open
            6:9: expected `end` or `endrule`, found `rule`
                5:9: this `rule` is still open
            6:33: `end` closes nothing
                help: every block before it is closed already
            7:25: expected `end` or `endstartstate`, found the end of the file
                7:9: this `startstate` is still open
        "#]],
    );
}

#[test]
fn else_if_needs_an_end_of_its_own() {
    check_errors(
        "rule begin
          if a then x := 1;
          else if b then x := 2;
          end;
        end;
        rule x := 3; end;",
        expect![[r#"
            6:9: expected `end` or `endrule`, found `rule`
                1:1: this `rule` is still open
                3:11: this `if` needs an `end` of its own
                help: `elsif` continues the same `if`; `else if` opens another one
        "#]],
    );
}

#[test]
fn wrong_closing_words() {
    check_errors(
        "rule begin if a then x := 1; endfor; end;",
        expect![[r#"
        1:30: expected `end` or `endif`, found `endfor`
            1:12: this `if` is still open
    "#]],
    );
}

#[test]
fn slips_in_words() {
    check_errors(
        "rulset i : t do end;
        rule begin
          iff a then b := 1; end;
          if a then b := 1; elseif c then b := 2; end;
          whlie a do b := 1; end;
        end;
        rule a and b ==> end;",
        expect![[r#"
            1:1: expected a declaration, function, rule or property, found `rulset`
                help: did you mean `ruleset`?
            3:11: expected a statement, found `iff`
                help: did you mean `if`?
            4:29: expected `elsif`, found `elseif`
                help: did you mean `elsif`?
            5:11: expected a statement, found `whlie`
                help: did you mean `while`?
            7:16: expected `==>`, found `and`
                help: did you mean `&`?
        "#]],
    );
}

#[test]
fn slips_inside_blocks_of_rules() {
    check_errors(
        "ruleset i : t do
          x := 1; y := 2;
          rul a ==> end;
          rule b ==> end;
        end;
        rule c ==> end;",
        expect![[r#"
            2:11: expected a rule or `end`, found `x`
            5:9: `end` closes nothing
                help: every block before it is closed already
        "#]],
    );
}

#[test]
fn missing_semicolons() {
    check_errors(
        "rule begin
          x := 1
          y := 2 z := 3;
          if a then b := 1 end
          clear x
        end",
        expect![[r#"
            2:17: expected `;` after this statement
            3:18: expected `;`, found `z`
            4:31: expected `;` after this statement
        "#]],
    );
}

#[test]
fn chains_that_do_not_chain() {
    check_errors(
        "invariant a < b < c; invariant a -> b -> c; invariant a = b & c = d = e",
        expect![[r#"
        1:17: comparisons do not chain
            help: compare twice, `a < b & b < c`, or put parentheses
        1:39: implications do not chain
            help: put parentheses: `a -> (b -> c)`
        1:69: comparisons do not chain
            help: compare twice, `a < b & b < c`, or put parentheses
    "#]],
    );
}

#[test]
fn commas_and_braces() {
    check_errors(
        "function f(a: t, b: t): t; begin return a[1, 2]; end;
        type e: enum { a b, c };
        rule alias x: y, z: w do end; end;
        rule { x := 1; }",
        expect![[r#"
            1:16: parameters are separated by `;`
                help: `,` only joins names of the same type: `a, b: t; c: u`
            1:44: an index is one expression
                help: arrays of arrays are indexed one by one: `a[i][j]`
            2:26: expected `,` or `}`, found `b`
            3:24: aliases are separated by `;`
                help: write `;` instead of `,`
            4:14: expected a statement, found `{`
                help: blocks are closed by `end`; curly braces only enclose `enum` and `union`
            4:24: expected a statement, found `}`
            4:25: expected `end` or `endrule`, found the end of the file
                4:9: this `rule` is still open
        "#]],
    );
}

#[test]
fn things_of_other_dialects() {
    check_errors(
        "externfun f(x: t): t \"f.h\";
        fair rule end;
        pctl [ a until <= 3 b ] >= 0.5;
        axiom \"a\" true;
        rule liveness x; cover x; end;
        rule ==> end;
        ruleset i: t do var x: t; function f(): t; begin return 1; end; rule end; end;",
        expect![[r#"
            1:1: external functions are not supported
            2:9: fairness of rules is not supported
            3:9: probabilistic properties (PCTL) are not supported
            4:9: axioms are not supported
            5:14: a liveness property cannot be a statement
                help: it belongs among the rules
            6:14: expected a condition, found `==>`
            7:25: declarations cannot stand inside a block of rules
                help: is an `end` missing before them?
            7:35: functions cannot stand inside a block of rules
                help: is an `end` missing before it?
        "#]],
    );
}

#[test]
fn what_is_never_closed() {
    check_errors(
        "rule \"abc\n begin x := f(1; end; /* never",
        expect![[r#"
        1:6: this string is never closed
            help: a string ends with `"` on the line where it begins
        2:16: expected `,` or `)`, found `;`
        2:23: this comment is never closed
            help: close it with `*/`
    "#]],
    );
}

#[test]
fn text_that_is_not_murphi() {
    check_errors(
        "#include <stdio.h>\nint main() { return 0; }",
        expect![[r#"
        1:1: unexpected character `#`
            help: comments are `-- to the end of the line` or `/* between these */`
        1:2: expected a declaration, function, rule or property, found `include`
    "#]],
    );
    check_errors(
        "<<<<<<< HEAD\nvar x: t;\n=======\n>>>>>>> other\n",
        expect![[r#"
        1:1: unresolved merge conflict
            help: keep one of the two versions and delete the three marker lines
        3:1: unresolved merge conflict
            help: keep one of the two versions and delete the three marker lines
        4:1: unresolved merge conflict
            help: keep one of the two versions and delete the three marker lines
    "#]],
    );
    check_errors(
        "var boolean: 0 .. 1; end: t; x：t；",
        expect![[r#"
        1:5: `boolean` is a reserved word and cannot be declared
        1:22: `end` closes nothing
            help: every block before it is closed already
        1:31: unexpected character `：`
            help: this is a full-width character; Murphi's are `:` and `;`
        1:33: unexpected character `；`
            help: this is a full-width character; Murphi's are `:` and `;`
    "#]],
    );
}
