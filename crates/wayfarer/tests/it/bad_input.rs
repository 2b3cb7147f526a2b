//! Broken models: each is refused with a location, or ends in a fault, and none panics, overflows the stack or takes
//! long.

use expect_test::{Expect, expect};
use std::time::{Duration, Instant};
use wayfarer::memory::Budget;
use wayfarer::search::Unbounded;
use wayfarer::{LoadError, LoadOptions, Plan, RunError, load, load_text};

/// The result of a text.
#[derive(Debug, PartialEq)]
enum Fate {
    /// Refused, with the diagnostics.
    Refused(String),
    /// Run, with verdict, kind of violation and its name.
    Ran(&'static str, &'static str, String),
    /// Read, but there is nothing to run.
    Idle(String),
}

/// Reads and runs a text, for at most a second or so.
fn fate(text: &str) -> Fate {
    let started = Instant::now();
    let fate = match load_text("bad.m", text.to_string(), &LoadOptions::default()) {
        Err(error) => Fate::Refused(error.to_string()),
        Ok(loaded) => {
            let plan = Plan { states: Some(10_000), time: Some(Duration::from_secs(2)), ..Plan::default() };
            match plan.check(&loaded.program, &Budget::new(1 << 30, 0), &mut Unbounded) {
                Ok(report) => {
                    let violation = report.violations.first();
                    Fate::Ran(
                        report.verdict.word(),
                        violation.map_or("", |found| found.kind.word()),
                        violation.map_or(String::new(), |found| found.name.clone()),
                    )
                }
                Err(error @ RunError::TooLittleMemory { .. }) => Fate::Idle(error.to_string()),
                Err(error) => panic!("{error}"),
            }
        }
    };
    // The machine that runs the tests may be busy: the goal is a second, but more is allowed.
    assert!(started.elapsed() < Duration::from_secs(10), "took {:?}: {}", started.elapsed(), &text[..text.len().min(200)]);
    fate
}

fn refused(text: &str) -> String {
    match fate(text) {
        Fate::Refused(message) => message,
        other => panic!("accepted: {other:?}\n{}", &text[..text.len().min(400)]),
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&refused(text));
}

/// A model around statements.
fn within(statements: &str) -> String {
    format!(
        "type E: enum {{ a, b }}; S: scalarset(2); R: record f: boolean; end;\n\
         var x: 0 .. 3; e: E; s: S; r: R; v: array [0 .. 2] of boolean; m: multiset [2] of 0 .. 3;\n\
         function f(n: 0 .. 3): 0 .. 3; begin return n; end;\n\
         procedure p(var n: 0 .. 3); begin n := 0; end;\n\
         startstate begin clear x; clear e; clear s; clear r; clear v; end;\n\
         rule begin\n  {statements}\nend;\n"
    )
}

#[test]
fn models_without_start_states_are_explored_as_empty() {
    // Nothing at all is a slip.
    for text in ["", " \n\t\n", "-- only a comment", "/* only a comment */"] {
        let error = load_text("bad.m", text.to_string(), &LoadOptions::default()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("`bad.m` is empty"), "{text}: {error}");
    }
    for text in ["var x: boolean;", "var x: 0 .. 3; rule x := 0; end; invariant x = 1;"] {
        let loaded = load_text("bad.m", text.to_string(), &LoadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(loaded.warnings.contains("the model has no start state"), "{text}: {}", loaded.warnings);
        let report =
            Plan::default().check(&loaded.program, &Budget::new(1 << 30, 0), &mut Unbounded).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((report.verdict.word(), report.states), ("holds", 0), "{text}");
        assert!(report.remarks.iter().any(|remark| remark.contains("no start state")), "{text}: {:?}", report.remarks);
    }
    // A cover is still not reached.
    assert_eq!(fate("var x: 0 .. 3; rule x := 0; end; cover \"c\" x = 1;"), Fate::Ran("violated", "cover", "c".to_string()));
}

#[test]
fn models_with_liveness_properties_are_judged_on_the_others() {
    let text = "var x: 0 .. 3; startstate x := 0; end; rule x < 3 ==> x := x + 1; end; liveness \"comes back\" x = 0; invariant \"low\" x < 3;";
    let loaded = load_text("live.m", text.to_string(), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.warnings.contains("liveness properties are not judged yet"), "{}", loaded.warnings);
    let report = Plan::default().check(&loaded.program, &Budget::new(1 << 30, 0), &mut Unbounded).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations[0].name, "low");
    let check = report.checks.iter().find(|check| check.name == "comes back").unwrap();
    assert_eq!((check.label().as_str(), check.verdict.word()), ("liveness `comes back`", "not-judged"));
}

#[test]
fn typical_messages() {
    check(
        "var x: 0 .. 3;\nstartstate begin x = 0; end;",
        expect![[r#"
        bad.m:2:20: error: expected `:=`, found `=`
        2 | startstate begin x = 0; end;
          |                    ^
          = help: an assignment is written `:=`

    "#]],
    );
    check(
        "var x: 3 .. 0;\nstartstate begin x := 0; end;",
        expect![[r#"
        bad.m:1:8: error: this range is empty: its upper bound 0 is less than its lower bound 3
        1 | var x: 3 .. 0;
          |        ^^^^^^

    "#]],
    );
    check(
        &within("y := 1;"),
        expect![[r#"
        bad.m:7:3: error: there is no variable or constant `y`
        7 |   y := 1;
          |   ^

    "#]],
    );
    check(
        &within("x := true;"),
        expect![[r#"
        bad.m:7:8: error: `x` is of type `0..3`, but this is of type `boolean`
        7 |   x := true;
          |        ^^^^

    "#]],
    );
    check(
        &within("e := s;"),
        expect![[r#"
        bad.m:7:8: error: `e` is of type `E`, but this is of type `S`
        7 |   e := s;
          |        ^

    "#]],
    );
    check(
        &within("r.g := true;"),
        expect![[r#"
        bad.m:7:5: error: `R` has no field `g`
        7 |   r.g := true;
          |     ^
          = help: its fields are `f`

    "#]],
    );
    check(
        &within("x := f(1, 2);"),
        expect![[r#"
        bad.m:7:8: error: `f` takes 1 argument, but 2 are given here
        7 |   x := f(1, 2);
          |        ^^^^^^^
        3 | function f(n: 0 .. 3): 0 .. 3; begin return n; end;
          |          - it is declared here

    "#]],
    );
    check(
        &within("p(x + 1);"),
        expect![[r#"
        bad.m:7:5: error: `x + 1` cannot be passed to `n`, a `var` parameter: it is not a variable that can be written
        7 |   p(x + 1);
          |     ^^^^^
          = help: assign it to a local variable and pass that

    "#]],
    );
    check(
        &within("if x then x := 0; end;"),
        expect![[r#"
        bad.m:7:6: error: the condition of `if` must be boolean, but this is of type `0..3`
        7 |   if x then x := 0; end;
          |      ^
          = help: compare the number with another, as in `x != 0`

    "#]],
    );
    check(
        &within("for i: E do i := a; end;"),
        expect![[r#"
        bad.m:7:15: error: `i` cannot be written: it is bound by a loop, a ruleset or an alias of a value
        7 |   for i: E do i := a; end;
          |               ^

    "#]],
    );
    check(
        "const N: 2;\nconst N: 3;\nvar x: 0 .. N;\nstartstate begin x := 0; end;",
        expect![[r#"
        bad.m:2:7: error: `N` is declared twice in the same scope
        2 | const N: 3;
          |       ^
        1 | const N: 2;
          |       - it was declared here
          = help: choose another name for one of them

    "#]],
    );
    check(
        "var x: array [0 .. 999999999] of boolean;\nstartstate begin clear x; end;",
        expect![[r#"
        bad.m:1:8: error: this is too large: objects of more than 4194304 bits are not supported
        1 | var x: array [0 .. 999999999] of boolean;
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = help: reduce the constants it depends on; a state this large leaves no room to explore

    "#]],
    );
    check(
        "var x: boolean;\nstartstate begin x := true; end;\nruleset i: 1 .. 1000000000 do rule begin x := !x; end; end;",
        expect![[r#"
        bad.m:3:9: error: `i` has 1000000000 values: at most 4194304 instances of a rule are supported
        3 | ruleset i: 1 .. 1000000000 do rule begin x := !x; end; end;
          |         ^
          = help: use a smaller type, or choose the value in several steps

    "#]],
    );
    check(
        &within("while x < 3 do x := x + 1;"),
        expect![[r#"
        bad.m:9:1: error: expected `end` or `endrule`, found the end of the file
        9 | 
          | ^
        6 | rule begin
          | ---- this `rule` is still open

    "#]],
    );
    check(
        &within("put \"never closed;"),
        expect![[r#"
        bad.m:7:7: error: this string is never closed
        7 |   put "never closed;
          |       ^^^^^^^^^^^^^^
          = help: a string ends with `"` on the line where it begins

    "#]],
    );
}

/// Wrong in one way each; all are refused with a location.
#[test]
fn wrong_statements_are_refused() {
    let statements = [
        "x := ;",
        "x := 1 +;",
        "x := (1;",
        "x := 1);",
        "x := 1 @ 2;",
        "x := 'c';",
        "x + 1;",
        "3 := x;",
        "x := e;",
        "x := a;",
        "x := r;",
        "r := x;",
        "v := r;",
        "e := 1;",
        "s := 1;",
        "s := a;",
        "x := s + 1;",
        "x := e + 1;",
        "x := -e;",
        "x := !x;",
        "x := x & e;",
        "r.f.f := true;",
        "x.f := 1;",
        "x[1] := 1;",
        "v[e] := true;",
        "v[a] := true;",
        "v.f := true;",
        "r[1] := true;",
        "x := f;",
        "x := f();",
        "x := f(e);",
        "x := f(1)(2);",
        "x := g(1);",
        "x := p(x);",
        "p();",
        "p(3);",
        "p(x, x);",
        "p(r);",
        "if e then end;",
        "if x = e then end;",
        "if x < e then end;",
        "if r = x then end;",
        "if true then x := 1;",
        "if true x := 1; end;",
        "elsif true then end;",
        "switch x case true: x := 1; end;",
        "switch r case 1: x := 1; end;",
        "while x do end;",
        "for i do end;",
        "for i: x do end;",
        "for i: R do end;",
        "for i := 0 to e do end;",
        "for i := 0 to 3 by 0 do end;",
        "for i := 0 to 3 do x := j; end;",
        "for i := 0 to 3 do i := 1; end;",
        "alias q: 1 + do end;",
        "alias q: nowhere do end;",
        "clear 1;",
        "clear E;",
        "undefine f(1);",
        "undefine E;",
        "return 1;",
        "assert x;",
        "assert;",
        "error;x",
        "multisetadd(true, m);",
        "multisetadd(1, v);",
        "multisetadd(1);",
        "multisetremove(1, m);",
        "multisetremove(x, m);",
        "multisetremovepred(i: v, true);",
        "multisetremovepred(i: m, 1);",
        "x := multisetcount(i: m, 1);",
        "x := multisetcount(m, true);",
        "x := m[0];",
        "if isundefined(1) then end;",
        "if ismember(x, E) then end;",
        "if ismember(e, Nothing) then end;",
        "if forall i: E do i end then end;",
        "if exists i: 0 .. x do true end then end;",
        "x := true ? 1;",
        "x := x ? 1 : 2;",
        "x := true ? 1 : e;",
        "x := undefined + 1;",
        "x := 99999999999999999999999999;",
        "x := 18446744073709551616;",
        "x := 1.5;",
        "x := \"text\";",
        "end;",
        "begin x := 1; end;",
        "var y: boolean;",
        "type t: boolean;",
        "rule begin end;",
    ];
    let mut accepted = Vec::new();
    for statement in statements {
        match fate(&within(statement)) {
            Fate::Refused(message) => assert!(message.starts_with("bad.m:") && message.contains("error: "), "no place for `{statement}`: {message}"),
            other => accepted.push(format!("`{statement}`: {other:?}")),
        }
    }
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
}

#[test]
fn wrong_declarations_are_refused() {
    let models = [
        "const c",
        "const N;",
        "const N: ;",
        "const N: M;",
        "const N: N;",
        "const N: 1 / 0;",
        "const N: 1; var N: boolean;",
        "type t;",
        "type t: u;",
        "type t: t;",
        "type t: record x: t; end;",
        "type t: array [t] of t;",
        "type t: enum { };",
        "type t: enum { a, a };",
        "type t: enum { a }; u: enum { a };",
        "type t: enum { a, b",
        "type t: record a, a: boolean; end;",
        "type t: record a: boolean; b: a; end;",
        "type t: 0 .. true;",
        "type t: true .. false;",
        "type t: 0 .. x; var x: boolean;",
        "type t: scalarset(0);",
        "type t: scalarset(-1);",
        "type t: scalarset(true);",
        "type t: union { boolean, 0 .. 3 };",
        "type t: enum { a }; u: union { t, t };",
        "type t: array [0 .. 2] of;",
        "type t: array [record a: boolean; end] of boolean;",
        "type t: multiset [0 - 1] of boolean;",
        "type t: multiset [true] of boolean;",
        "type t: real(4, 4);",
        "var x: boolean; x: boolean;",
        "var x;",
        "var : boolean;",
        "var x: boolean; function x(): boolean; begin return true; end;",
        "function f(): boolean; begin return true; end; function f(): boolean; begin return true; end;",
        "function f(): boolean; begin return 1; end;",
        "function f(): boolean; begin return; end;",
        "function f(a: boolean; a: boolean): boolean; begin return a; end;",
        "function f(a): boolean; begin return a; end;",
        "function f(a: boolean): boolean; begin a := true; return a; end;",
        "procedure p(); begin return 1; end;",
        "procedure p(); begin q(); end;",
        "procedure p() begin end; rule p",
        "rule true =>",
        "rule 1 ==> begin end;",
        "rule undefined ==> begin end;",
        "startstate true ==> begin end;",
        "invariant 1;",
        "invariant \"x\";",
        "invariant nothing = 1;",
        "ruleset i: boolean do",
        "ruleset i: boolean do startstate begin end; function f(): boolean; begin return true; end; end;",
        "ruleset i do rule begin end; end;",
        "ruleset i: 0 .. 1; i: 0 .. 1 do rule begin i := 0; end; end;",
        "choose i: nothing do rule begin end; end;",
        "alias a: nothing do rule begin end; end;",
        "liveness 1;",
        "if true then end;",
        "x := 1;",
        ";;;;)",
        "/* never closed",
        "\"just a text\"",
        "\u{feff}}",
        "\u{0}",
        "λ: boolean",
        "var λ: ;",
    ];
    let mut accepted = Vec::new();
    for model in models {
        match fate(&format!("{model}\n")) {
            Fate::Refused(message) => assert!(message.contains("bad.m:") && message.contains("error: "), "no place for `{model}`: {message}"),
            other => accepted.push(format!("`{model}`: {other:?}")),
        }
    }
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
}

/// Endless nesting neither overflows the stack nor takes long.
#[test]
fn deep_nesting() {
    const DEEP: usize = 100_000;
    let wrapped = |open: &str, inner: &str, close: &str| within(&format!("x := {}{inner}{};", open.repeat(DEEP), close.repeat(DEEP)));
    let texts = [
        wrapped("(", "1", ")"),
        wrapped("-", "1", ""),
        wrapped("~", "1", ""),
        wrapped("f(", "1", ")"),
        wrapped("1 + (", "1", ")"),
        wrapped("true ? 1 : ", "1", ""),
        wrapped("v[", "0", "]"),
        wrapped("(", "1", ""),
        within(&format!("x := x{};", " + 1".repeat(DEEP))),
        within(&format!("x := x{};", " - 1".repeat(DEEP))),
        within(&format!("x := x{};", " / 1".repeat(DEEP))),
        within(&format!("if {}true then end;", "!".repeat(DEEP))),
        within(&format!("if {}true then end;", "true -> ".repeat(DEEP))),
        within(&format!("if {}true then end;", "true & ".repeat(DEEP))),
        within(&format!("if {}true{} then end;", "forall i: E do ".repeat(DEEP), " end".repeat(DEEP))),
        within(&format!("{}{}", "if true then ".repeat(DEEP), "end; ".repeat(DEEP))),
        within(&format!("{}{}", "while false do ".repeat(DEEP), "end; ".repeat(DEEP))),
        within(&format!("{}{}", "for i: E do ".repeat(DEEP), "end; ".repeat(DEEP))),
        within(&format!("{}{}", "alias q: x do ".repeat(DEEP), "end; ".repeat(DEEP))),
        within(&format!("if true then {} end;", "elsif true then ".repeat(DEEP))),
        within(&format!("{}{}", "switch x case 1: ".repeat(DEEP), "end; ".repeat(DEEP))),
        within(&format!("r{} := true;", ".f".repeat(DEEP))),
        within(&format!("v{} := true;", "[0]".repeat(DEEP))),
        format!("type t: {}boolean;", "array [boolean] of ".repeat(DEEP)),
        format!("type t: {}boolean;{}", "record a: ".repeat(DEEP), " end;".repeat(DEEP)),
        format!("{}{}", "ruleset i: boolean do ".repeat(DEEP), "end; ".repeat(DEEP)),
        format!(
            "var x: boolean; startstate begin clear x; end; {} rule begin x := true; end; {}",
            "alias a: x do ".repeat(DEEP),
            "end; ".repeat(DEEP)
        ),
        "/*".repeat(DEEP),
        "(".repeat(DEEP),
        "end ".repeat(DEEP),
        (0..DEEP)
            .map(|number| format!("const c{number}: {};\n", if number == 0 { "0".to_string() } else { format!("c{} + 1", number - 1) }))
            .collect(),
        (0..2000)
            .map(|number| {
                format!("type t{number}: {};\n", if number == 0 { "boolean".to_string() } else { format!("array [boolean] of t{}", number - 1) })
            })
            .collect(),
    ];
    for text in &texts {
        // The text does not matter, only that there is one.
        fate(text);
    }
}

/// Sizes that no machine holds are refused, not tried.
#[test]
fn enormous_things() {
    let models = [
        "var x: array [0 .. 999999999] of boolean;",
        "var x: array [0 .. 99999] of array [0 .. 99999] of boolean;",
        "var x: multiset [1000000000] of boolean;",
        "type s: scalarset(1000000000); var x: array [s] of boolean;",
        "var y: boolean; ruleset i: 1 .. 1000000000 do rule begin y := true; end; end;",
        "var y: boolean; ruleset i: 1 .. 100000; j: 1 .. 100000 do rule begin y := true; end; end;",
        "var y: boolean; ruleset i: 1 .. 1000000000 do startstate begin y := true; end; end;",
        "var y: boolean; ruleset i: 1 .. 1000000000 do invariant y; end;",
        "var x: -1 .. 9223372036854775808;",
        "function f(): boolean; var x: array [0 .. 999999999] of boolean; begin return true; end;",
    ];
    for model in models {
        let text = format!("{model}\nvar z: boolean;\nstartstate begin z := true; end;\nrule begin z := !z; end;\n");
        match fate(&text) {
            Fate::Refused(message) => assert!(message.contains("bad.m:1:"), "{model}: {message}"),
            // A property over many instances may be checked within its fuel instead.
            Fate::Ran("violated", "fault", _) => {}
            other => panic!("{model}: {other:?}"),
        }
    }
}

/// Endless loops are a fault, within a second.
#[test]
fn endless_commands() {
    let statements = [
        "while true do x := x; end;",
        "while x < 3 do x := 0; end;",
        "for i := 0 to 9223372036854775807 do x := 0; end;",
        "for i: -1000000000000 .. 1000000000000 do x := 0; end;",
        "if forall i := 0 to 9223372036854775807 do true end then x := 0; end;",
        "if exists i := 0 - 9223372036854775807 to 9223372036854775807 do false end then x := 0; end;",
        "for i := 0 to 99999; j := 0 to 99999; k := 0 to 99999 do x := 0; end;",
        "while true do while true do x := 0; end; end;",
    ];
    for statement in statements {
        match fate(&within(statement)) {
            Fate::Ran("violated", "fault", _) => {}
            other => panic!("{statement}: {other:?}"),
        }
    }
    let recursive = [
        "procedure q(); begin q(); end; rule begin q(); end;",
        "function g(n: 0 .. 3): 0 .. 3; begin return g(n); end; rule begin x := g(0); end;",
        "function g(n: 0 .. 3): boolean; begin return g(n) & g(n); end; rule g(1) ==> begin x := 1; end;",
        "function g(n: 0 .. 3): boolean; var a: array [0 .. 999] of boolean; begin return g(n); end; invariant g(0);",
    ];
    for rules in recursive {
        match fate(&format!("var x: 0 .. 3; {rules} startstate begin x := 0; end; rule begin x := 3 - x; end;")) {
            Fate::Ran("violated", "fault", _) => {}
            other => panic!("{rules}: {other:?}"),
        }
    }
}

/// Arithmetic at the edge of 64 bits, with and without a sign.
#[test]
fn edges_of_arithmetic() {
    let largest = "9223372036854775807";
    for (value, faults) in [
        (format!("{largest} + n"), false),
        ("18446744073709551615 + n".to_string(), true),
        (format!("0 - {largest} - n - n"), true),
        (format!("{largest} * (n + n)"), false),
        (format!("{largest} * (n + n + n)"), true),
        ("n / (n - n)".to_string(), true),
        ("n % (n - n)".to_string(), true),
        (format!("(0 - {largest} - n) / (0 - n)"), true),
        (format!("-(0 - {largest} - n)"), false),
        (format!("-(0 - {largest} - n - n)"), true),
        (format!("(0 - {largest} - n) % (0 - n)"), false),
        (format!("{largest} - n + n - {largest}"), false),
    ] {
        let text = format!("var n, z: 0 .. 1; startstate begin n := 1; z := 0; end; rule begin z := ({value}) = 0 ? 1 - z : 1 - z; end;");
        match (fate(&text), faults) {
            (Fate::Ran("violated", "fault", _), true) | (Fate::Ran("holds", "", _), false) => {}
            (other, _) => panic!("{value}: {other:?}"),
        }
    }
}

#[test]
fn files_that_are_no_models() {
    let folder = std::env::temp_dir().join(format!("wayfarer-bad-input-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("written");
        path.to_string_lossy().into_owned()
    };
    let read = |path: &str| load(path, &LoadOptions::default()).map(|_| ()).expect_err("no model");
    let missing = folder.join("missing.m").to_string_lossy().into_owned();
    assert!(matches!(read(&missing), LoadError::Read(message) if message.contains("there is no such file")));
    assert!(matches!(read(&folder.to_string_lossy()), LoadError::Read(message) if message.contains("folder")));
    assert!(matches!(read(&file("binary.m", &[0x7f, b'E', b'L', b'F', 0, 1, 2])), LoadError::Read(message) if message.contains("binary")));
    let every: Vec<u8> = (1..=255).collect();
    assert!(matches!(read(&file("bytes.m", &every)), LoadError::Invalid(_)));
    assert!(matches!(read(&file("latin.m", b"var x\xe9: boolean;")), LoadError::Invalid(_)));
    std::fs::remove_dir_all(&folder).expect("removed");
}
