//! The elaborator's errors for invalid models, and its programs for valid ones.

use expect_test::{Expect, expect};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::murphi::{self, ConstantValue, Options, Undefined};
use wayfarer_lang::source::Source;
use wayfarer_space::{Fired, Firing, Space, Steps};

/// Elaborates a model and compares all diagnostics.
fn check(model: &str, expected: Expect) {
    check_with(model, &Options::default(), expected);
}

fn check_with(model: &str, options: &Options, expected: Expect) {
    let source = Source::new("m", model);
    let (program, diagnostics) = murphi::load(&source, options);
    assert_eq!(program.is_some(), !diagnostics.has_errors());
    expected.assert_eq(&diagnostics.render(&source, false));
}

/// Elaborates rules over a few variables; the rest of the model is valid.
fn check_rule(rule: &str, expected: Expect) {
    const DECLARATIONS: &str = "const N: 3; type id: scalarset(N); state: enum { idle, busy }; other: enum { home }; node: union { id, other };\n\
        msg: record from: node; size: 0 .. 5; end;\n\
        var x: 0 .. 5; y: 0 .. 9; b: boolean; s: state; n: node; i: id; a: array [id] of 0 .. 5; m: msg; net: multiset [2] of msg;\n\
        function twice(v: 0 .. 5): 0 .. 10; begin return 2 * v; end; procedure reset(var v: 0 .. 5); begin v := 0; end;\n\
        startstate x := 0; end;\n";
    check(&format!("{DECLARATIONS}{rule}"), expected);
}

/// The program of a model as text, without its types and start states.
fn check_program(model: &str, expected: Expect) {
    let source = Source::new("m", model);
    let (program, diagnostics) = murphi::load(&source, &Options::default());
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
    let text = wayfarer_ir::text::print(&program);
    let start = text.find("\nrule ").or(text.find("\nproperty ")).unwrap_or(0);
    expected.assert_eq(&text[start..]);
}

/// Runs the start state and then the first enabled rule `firings` times. Returns the last state, or the way in which
/// it ended.
fn run(model: &str, options: &Options, firings: usize) -> String {
    let source = Source::new("m", model);
    let (program, diagnostics) = murphi::load(&source, options);
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
    let space = Interpreter::new(program, Limits::default());
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    if let Some(fault) = steps.faults.first() {
        return space.program().faults[fault.fault.0 as usize].message.clone();
    }
    let mut state = steps.states.get(0).to_vec();
    for _ in 0..firings {
        let mut next = Vec::new();
        let fired = (0..space.rules()).map(|rule| space.fire(&state, Firing::of(rule), &mut next)).find(|fired| *fired != Fired::Disabled);
        match fired {
            Some(Fired::To) => state = next,
            Some(Fired::Fault(fault)) => return space.program().faults[fault.0 as usize].message.clone(),
            Some(Fired::Discarded) => return "discarded".to_string(),
            Some(Fired::Disabled) | None => return "deadlock".to_string(),
        }
    }
    space.program().listing(&state)
}

#[test]
fn names_that_do_not_exist_are_near_to_others_or_declared_later() {
    check_rule(
        "rule xx = 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: soon; soon: 2;",
        expect![[r#"
            m:6:6: error: there is no variable or constant `xx`
            6 | rule xx = 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: …
              |      ^^
              = help: did you mean `x`?

            m:6:17: error: there is no variable or constant `Z`
            6 | rule xx = 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: …
              |                 ^

            m:6:22: error: there is no variable or constant `idel`
            6 | rule xx = 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: …
              |                      ^^^^
              = help: did you mean `idle`?

            m:6:30: error: `msg` has no field `form`
            6 | rule xx = 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: …
              |                              ^^^^
              = help: did you mean `from`?

            m:6:41: error: there is no function or procedure `twize`
            6 | … 0 ==> Z := idel; m.form := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: soon; soon …
              |                                 ^^^^^
              = help: did you mean `twice`?

            m:6:61: error: `late` is used before it is declared
            6 | … orm := i; twize(1); end; rule late = 1 ==> end; const late: 1; early: soon; soon: 2;
              |                                 ^^^^
            6 | …  rule late = 1 ==> end; const late: 1; early: soon; soon: 2;
              |                                 ---- it is declared here
              = help: move the declaration before its first use

            m:6:101: error: `soon` is used before it is declared
            6 | … => end; const late: 1; early: soon; soon: 2;
              |                                 ^^^^
            6 | … ; const late: 1; early: soon; soon: 2;
              |                                 ---- it is declared here
              = help: move the declaration before its first use

        "#]],
    );
}

#[test]
fn types_that_do_not_go_together_are_named() {
    check_rule(
        "rule x ==> x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x = b ==> end; rule m = x ==> end;",
        expect![[r#"
            m:6:6: error: a guard must be boolean, but this is of type `0..5`
            6 | rule x ==> x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x …
              |      ^
              = help: compare the number with another, as in `x != 0`

            m:6:17: error: `x` is of type `0..5`, but this is of type `boolean`
            6 | rule x ==> x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x …
              |                 ^

            m:6:25: error: `s` is of type `state`, but this is of type `other`
            6 | rule x ==> x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x …
              |                         ^^^^

            m:6:36: error: `i` is of type `id`, but this is of type `0..5`
            6 | … x ==> x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x = b = …
              |                                 ^

            m:6:41: error: `a` is indexed by `id`, but this index is of type `0..5`
            6 | …  x := b; s := home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x = b ==> en …
              |                                 ^

            m:6:55: error: `m` is of type `msg`, but this is of type `array [id] of 0..5`
            6 | … home; i := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x = b ==> end; rule m = x …
              |                                 ^

            m:6:63: error: `n` is of type `node`, but this is of type `state`
            6 | … := x; a[x] := 0; m := a; n := s; end; rule s < idle ==> end; rule x = b ==> end; rule m = x ==> end;
              |                                 ^

            m:6:76: error: an operand of an order comparison must be a number, but this is of type `state`
            6 | …  0; m := a; n := s; end; rule s < idle ==> end; rule x = b ==> end; rule m = x ==> end;
              |                                 ^

            m:6:80: error: an operand of an order comparison must be a number, but this is of type `state`
            6 | … m := a; n := s; end; rule s < idle ==> end; rule x = b ==> end; rule m = x ==> end;
              |                                 ^^^^

            m:6:99: error: the two sides of this comparison do not go together: one is of type `0..5`, the other of type `boolean`
            6 | … ; rule s < idle ==> end; rule x = b ==> end; rule m = x ==> end;
              |                                 ^^^^^

            m:6:119: error: this is of type `msg` and cannot be compared with a single value
            6 | … end; rule x = b ==> end; rule m = x ==> end;
              |                                 ^

        "#]],
    );
}

#[test]
fn operators_say_what_they_need() {
    check_rule(
        "rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;",
        expect![[r#"
        m:6:10: error: an operand of `&` must be boolean, but this is of type `0..5`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |          ^
          = help: compare the number with another, as in `x != 0`

        m:6:22: error: the operand of `-` must be a number, but this is of type `boolean`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                      ^

        m:6:34: error: an operand of `+` must be a number, but this is of type `state`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                                  ^

        m:6:46: error: the other operand of `&`, whose first operand is a number, must be a number, but this is of type `boolean`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                                              ^

        m:6:55: error: the operand of `!` must be boolean, but this is of type `0..5`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                                                       ^
          = help: compare the number with another, as in `x != 0`

        m:6:63: error: the two sides of this comparison do not go together: one is of type `id`, the other of type `state`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                                                               ^^^^^

        m:6:75: error: the two sides of `?:` do not go together: one is of type `integer`, the other of type `state`
        6 | rule b & x ==> x := -b; x := x + s; x := x & b; b := !x; b := i = s; x := b ? 1 : s; end;
          |                                                                           ^^^^^^^^^

    "#]],
    );
}

#[test]
fn calls_are_checked() {
    check_rule(
        "rule reset(x) ==> twice(1, 2); x := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule twice ==> end; rule x() ==> end;",
        expect![[r#"
            m:6:6: error: `reset` changes the state, so it cannot be called here
            6 | rule reset(x) ==> twice(1, 2); x := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule …
              |      ^^^^^
              = help: guards, properties, constants and printed values may only look at the state

            m:6:19: error: `twice` takes 1 argument, but 2 are given here
            6 | rule reset(x) ==> twice(1, 2); x := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule …
              |                   ^^^^^^^^^^^
            4 | function twice(v: 0 .. 5): 0 .. 10; begin return 2 * v; end; procedure reset(var v: 0 .. 5); begin v …
              |          ----- it is declared here

            m:6:37: error: `reset` is a procedure and gives no value
            6 | … eset(x) ==> twice(1, 2); x := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule twice …
              |                                 ^^^^^^^^

            m:6:53: error: the `var` parameter `v` is of type `0..5`, so a variable of type `0..9` cannot be passed to it
            6 | … e(1, 2); x := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule twice ==> end; rule x …
              |                                 ^

            m:6:63: error: `3` cannot be passed to `v`, a `var` parameter: it is not a variable that can be written
            6 | …  := reset(x); reset(y); reset(3); x := twice(b); return 1; end; rule twice ==> end; rule x() ==> end …
              |                                 ^
              = help: assign it to a local variable and pass that

            m:6:78: error: the parameter `v` of `twice` is of type `0..5`, but this is of type `boolean`
            6 | … eset(y); reset(3); x := twice(b); return 1; end; rule twice ==> end; rule x() ==> end;
              |                                 ^

            m:6:89: error: a rule returns no value
            6 | … set(3); x := twice(b); return 1; end; rule twice ==> end; rule x() ==> end;
              |                                 ^
              = help: write `return;`

            m:6:102: error: `twice` is a function or procedure
            6 | … twice(b); return 1; end; rule twice ==> end; rule x() ==> end;
              |                                 ^^^^^
              = help: write `twice(…)` to call it

            m:6:122: error: `x` is not a function or procedure
            6 | … end; rule twice ==> end; rule x() ==> end;
              |                                 ^

        "#]],
    );
}

#[test]
fn what_cannot_be_written_is_not() {
    check_rule(
        "ruleset k: id do rule for j := 0 to 3 do j := 1; end; k := i; N := 2; idle := busy; clear N; undefine k; end; end;",
        expect![[r#"
            m:6:42: error: `j` cannot be written: it is bound by a loop, a ruleset or an alias of a value
            6 | … id do rule for j := 0 to 3 do j := 1; end; k := i; N := 2; idle := busy; clear N; undefine k; end; e …
              |                                 ^

            m:6:55: error: `k` cannot be written: it is bound by a loop, a ruleset or an alias of a value
            6 | … r j := 0 to 3 do j := 1; end; k := i; N := 2; idle := busy; clear N; undefine k; end; end;
              |                                 ^

            m:6:63: error: `N` cannot be written: it is not a variable
            6 | …  to 3 do j := 1; end; k := i; N := 2; idle := busy; clear N; undefine k; end; end;
              |                                 ^

            m:6:71: error: `idle` cannot be written: it is not a variable
            6 | …  j := 1; end; k := i; N := 2; idle := busy; clear N; undefine k; end; end;
              |                                 ^^^^

            m:6:91: error: `N` cannot be written: it is not a variable
            6 | … ; N := 2; idle := busy; clear N; undefine k; end; end;
              |                                 ^

            m:6:103: error: `k` cannot be written: it is bound by a loop, a ruleset or an alias of a value
            6 | … le := busy; clear N; undefine k; end; end;
              |                                 ^

        "#]],
    );
    check(
        "procedure p(v: 0 .. 1); begin v := 0; end; startstate p(0); end;",
        expect![[r#"
        m:1:31: error: `v` cannot be written: it is a parameter passed by value
        1 | procedure p(v: 0 .. 1); begin v := 0; end; startstate p(0); end;
          |                               ^

    "#]],
    );
}

#[test]
fn guards_and_properties_must_not_change_the_state() {
    check(
        "var x: 0 .. 1; function f(): boolean; begin x := 0; return true; end; function g(var v: 0 .. 1): boolean; begin v := 1; return true; end; \
         function h(var v: 0 .. 1): boolean; begin return v = 1; end; function k(): boolean; var l: 0 .. 1; begin return g(l); end;\n\
         startstate x := 0; end;\n\
         rule f() ==> end; rule g(x) ==> end; rule h(x) ==> end; rule k() ==> end; invariant f(); rule put f(); end;",
        expect![[r#"
            m:3:6: error: `f` changes the state, so it cannot be called here
            3 | rule f() ==> end; rule g(x) ==> end; rule h(x) ==> end; rule k() ==> end; invariant f(); rule put f( …
              |      ^
              = help: guards, properties, constants and printed values may only look at the state

            m:3:24: error: `g` changes the state, so it cannot be called here
            3 | rule f() ==> end; rule g(x) ==> end; rule h(x) ==> end; rule k() ==> end; invariant f(); rule put f( …
              |                        ^
              = help: guards, properties, constants and printed values may only look at the state

            m:3:85: error: `f` changes the state, so it cannot be called here
            3 | … ; rule k() ==> end; invariant f(); rule put f(); end;
              |                                 ^
              = help: guards, properties, constants and printed values may only look at the state

            m:3:99: error: `f` changes the state, so it cannot be called here
            3 | …  end; invariant f(); rule put f(); end;
              |                                 ^
              = help: guards, properties, constants and printed values may only look at the state

        "#]],
    );
}

#[test]
fn a_recursive_function_that_only_reads_may_be_called_in_guards() {
    let declarations = "type index: 0 .. 2; message: record kind: 0 .. 2; part: index; end; var net: array [index] of message; x: 0 .. 2;\n\
        function match(m1: message; var m2: message): boolean; begin \
        if m1.kind != m2.kind then return false; elsif m1.kind = 0 then return true; end; return match(net[m1.part], net[m2.part]); end;\n\
        procedure swap(var a: 0 .. 2; var b: 0 .. 2; n: 0 .. 2); begin if n > 0 then swap(b, a, n - 1); else a := 0; end; end;\n\
        function reads(var a: 0 .. 2; var b: 0 .. 2; n: 0 .. 2): boolean; begin if n > 0 then return reads(b, a, n - 1); end; return a = b; end;\n\
        function through(var a: 0 .. 2): boolean; var l: 0 .. 2; begin l := a; swap(l, l, 1); return reads(a, l, 1); end;\n\
        function writes(var a: 0 .. 2; n: 0 .. 2): boolean; begin if n > 0 then return writes(x, n - 1); end; a := 0; return true; end;\n\
        function swaps(var a: 0 .. 2; var b: 0 .. 2): boolean; begin swap(b, a, 2); return true; end;\n\
        startstate x := 1; for i: index do net[i].kind := i; net[i].part := i / 2; end; end;\n";
    let fine = "rule match(net[2], net[2]) & exists i: index do !match(net[i], net[1]) end & reads(x, x, 2) & through(x) ==> x := 2; end; \
        invariant forall i: index do match(net[i], net[i]) end;";
    check(&format!("{declarations}{fine}"), expect![[""]]);
    let state = run(&format!("{declarations}{fine}"), &Options::default(), 0);
    assert!(state.ends_with("x: 1\n"), "{state}");
    check(
        &format!("{declarations}rule writes(x, 1) ==> end; rule swaps(net[0].part, x) ==> end;"),
        expect![[r#"
            m:9:6: error: `writes` changes the state, so it cannot be called here
            9 | rule writes(x, 1) ==> end; rule swaps(net[0].part, x) ==> end;
              |      ^^^^^^
              = help: guards, properties, constants and printed values may only look at the state

            m:9:33: error: `swaps` changes the state, so it cannot be called here
            9 | rule writes(x, 1) ==> end; rule swaps(net[0].part, x) ==> end;
              |                                 ^^^^^
              = help: guards, properties, constants and printed values may only look at the state

        "#]],
    );
}

#[test]
fn multisets_are_named_by_their_slots_only() {
    check_rule(
        "choose e: net do rule net[e].size = 1 ==> multisetremove(x, net); multisetadd(x, net); multisetremove(e, a); end; end; \
         rule net[0].size = 1 ==> end; rule net = net ==> end; rule multisetcount(e: a, true) = 0 ==> end;",
        expect![[r#"
            m:6:58: error: a multiset cannot be indexed by `0..5`
            6 | … ].size = 1 ==> multisetremove(x, net); multisetadd(x, net); multisetremove(e, a); end; end; rule net …
              |                                 ^
              = help: its elements are named by `choose i : bag do …` and inside `multisetcount` and `multisetremovepred`

            m:6:79: error: an element of the multiset is of type `msg`, but this is of type `0..5`
            6 | … etremove(x, net); multisetadd(x, net); multisetremove(e, a); end; end; rule net[0].size = 1 ==> end; …
              |                                 ^

            m:6:106: error: a multiset is needed here, but this is of type `array [id] of 0..5`
            6 | … dd(x, net); multisetremove(e, a); end; end; rule net[0].size = 1 ==> end; rule net = net ==> end; ru …
              |                                 ^

            m:6:129: error: a multiset cannot be indexed by `integer`
            6 | … ove(e, a); end; end; rule net[0].size = 1 ==> end; rule net = net ==> end; rule multisetcount(e: a, …
              |                                 ^
              = help: its elements are named by `choose i : bag do …` and inside `multisetcount` and `multisetremovepred`

            m:6:155: error: multisets cannot be compared
            6 | … net[0].size = 1 ==> end; rule net = net ==> end; rule multisetcount(e: a, true) = 0 ==> end;
              |                                 ^^^^^^^^^
              = help: compare what `multisetcount` says about them

            m:6:196: error: a multiset is needed here, but this is of type `array [id] of 0..5`
            6 | … => end; rule multisetcount(e: a, true) = 0 ==> end;
              |                                 ^

        "#]],
    );
}

#[test]
fn ismember_and_isundefined_ask_about_variables() {
    check_rule(
        "rule ismember(n, id) & isundefined(n) ==> end; rule ismember(n, state) ==> end; rule isundefined(m) | isundefined(3) ==> end; \
         rule n = undefined ==> x := undefined; end;",
        expect![[r#"
            m:6:62: error: a value of type `node` is never of type `state`
            6 | … ned(n) ==> end; rule ismember(n, state) ==> end; rule isundefined(m) | isundefined(3) ==> end; rule …
              |                                 ^

            m:6:98: error: `isundefined` asks about a single value, but this is of type `msg`
            6 | … te) ==> end; rule isundefined(m) | isundefined(3) ==> end; rule n = undefined ==> x := undefined; en …
              |                                 ^
              = help: name one of its parts, as in `isundefined(x.field)`

            m:6:115: error: `isundefined` asks about a variable
            6 | …  isundefined(m) | isundefined(3) ==> end; rule n = undefined ==> x := undefined; end;
              |                                 ^
              = help: a computed value is never undefined

            m:6:136: error: nothing is equal to `undefined`
            6 | … ndefined(3) ==> end; rule n = undefined ==> x := undefined; end;
              |                                 ^^^^^^^^^
              = help: write `isundefined(x)` to ask whether x is undefined

        "#]],
    );
}

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

#[test]
fn one_mistake_is_reported_once() {
    // Each name is declared wrongly and used often.
    check(
        "type t: array [nowhere] of boolean; var v: t; w: 0 .. zero; a: boolean; a: 0 .. 1;\n\
         function f(p: t): t; begin return p; end;\n\
         startstate v[0] := true; w := 1; a := 2; v := f(v); f(v); alias z: nothing do z := z.a; end; end; \
         ruleset i: t do rule v[i] ==> v[i] := i; end; invariant v[i] = i; end;",
        expect![[r#"
            m:1:16: error: there is no type `nowhere`
            1 | type t: array [nowhere] of boolean; var v: t; w: 0 .. zero; a: boolean; a: 0 .. 1;
              |                ^^^^^^^

            m:1:55: error: there is no variable or constant `zero`
            1 | type t: array [nowhere] of boolean; var v: t; w: 0 .. zero; a: boolean; a: 0 .. 1;
              |                                                       ^^^^

            m:1:73: error: `a` is declared twice in the same scope
            1 | type t: array [nowhere] of boolean; var v: t; w: 0 .. zero; a: boolean; a: 0 .. 1;
              |                                                                         ^
            1 | type t: array [nowhere] of boolean; var v: t; w: 0 .. zero; a: boolean; a: 0 .. 1;
              |                                                             - it was declared here
              = help: choose another name for one of them

            m:3:68: error: there is no variable or constant `nothing`
            3 | …  2; v := f(v); f(v); alias z: nothing do z := z.a; end; end; ruleset i: t do rule v[i] ==> v[i] := i …
              |                                 ^^^^^^^

        "#]],
    );
}

#[test]
fn names_shadow_and_end() {
    let model = "type t: 0 .. 1; var t2: t; x: boolean; \
        function f(t: boolean): t; begin if t then return 1; end; return 0; end; \
        startstate var x: 0 .. 3; begin x := 3; t2 := f(x = 3); for x: 0 .. 1 do alias t: x do t2 := t; end; end; end;";
    assert_eq!(run(model, &Options::default(), 0), "t2: 1\nx: undefined\n");
}

#[test]
fn undefined_is_copied_or_a_fault() {
    let model = "var x: 0 .. 3; y: 1 .. 9; z: 0 .. 1; function f(v: 0 .. 9): 0 .. 3; begin return v; end; \
        startstate end; rule y := x; z := f(y); end;";
    assert_eq!(run(model, &Options::default(), 1), "x: undefined\ny: undefined\nz: undefined\n");
    assert_eq!(run(model, &Options { undefined: Undefined::Strict, ..Options::default() }, 1), "`x` is undefined");
    let used = "var x: 0 .. 3; startstate x := x + 0; end;";
    assert_eq!(run(used, &Options::default(), 0), "`x` is undefined");
}

#[test]
fn undefined_can_be_assigned_and_passed() {
    let model = "type id: scalarset(2); e: enum { a }; u: union { id, e }; r: record f: 2 .. 3; end; \
        var x: 3 .. 5; b: boolean; c: e; i: id; n: u; m: r; found: 0 .. 15;\n\
        function none(p: 0 .. 9): boolean; begin return isundefined(p); end; function nobody(p: u): boolean; begin return isundefined(p); end;\n\
        function nothing(p: r): boolean; begin return isundefined(p.f); end;\n\
        startstate x := 3; b := true; c := a; n := a; m.f := 3; found := 0; end;\n\
        rule !none(x) & !nobody(n) & !nothing(m) ==> var l: 0 .. 1; begin x := undefined; b := undefined; c := undefined; i := undefined; n := undefined; \
        m := undefined; l := 1; l := undefined; if isundefined(l) then found := 8; end; end;\n\
        rule none(x) & found = 8 ==> if nobody(n) & nobody(i) & nothing(m) & none(undefined) then found := 15; end; end;";
    let end = "x: undefined\nb: undefined\nc: undefined\ni: undefined\nn: undefined\nm.f: undefined\nfound: ";
    assert_eq!(run(model, &Options::default(), 1), format!("{end}8\n"));
    assert_eq!(run(model, &Options::default(), 2), format!("{end}15\n"));
}

#[test]
fn copies_between_ranges_are_checked() {
    let model = |value: &str| format!("var x: -5 .. 300; y: 0 .. 3; startstate x := {value}; y := x; end;");
    assert_eq!(run(&model("2"), &Options::default(), 0), "x: 2\ny: 2\n");
    assert_eq!(run(&model("-1"), &Options::default(), 0), "the value of `x` is outside the range 0..3 of `y`");
    assert_eq!(run(&model("300"), &Options::default(), 0), "the value of `x` is outside the range 0..3 of `y`");
    let wide = "var x, y: -9223372036854775807 .. 9223372036854775807; z: 0 .. 1; startstate x := 9223372036854775807; y := -x; z := x; end;";
    assert_eq!(run(wide, &Options::default(), 0), "the value of `x` is outside the range 0..1 of `z`");
}

#[test]
fn unions_take_and_give_their_members() {
    let model = "type id: scalarset(2); kind: enum { home, away }; node: union { id, kind }; \
        var n, o: node; k: kind; i: id; in_id, in_kind, same: boolean; a: array [node] of 0 .. 3; \
        startstate n := away; k := n; a[n] := 3; in_id := ismember(n, id); in_kind := ismember(n, kind); same := n = away & k = n & n != home; \
        for j: id do i := j; end; o := i; end;";
    let expected = expect![[r#"
        n: away
        o: id_2
        k: away
        i: id_2
        in_id: false
        in_kind: true
        same: true
        a[id_1]: undefined
        a[id_2]: undefined
        a[home]: undefined
        a[away]: 3
    "#]];
    expected.assert_eq(&run(model, &Options::default(), 0));
    let wrong = "type id: scalarset(2); kind: enum { home }; node: union { id, kind }; var n: node; i: id; startstate n := home; i := n; end;";
    assert_eq!(run(wrong, &Options::default(), 0), "the value of `n` is not of type `id`, as `i` needs");
}

#[test]
fn undefined_identifiers_can_be_compared() {
    let model = "type id: scalarset(2); kind: enum { home }; node: union { kind, id }; var n, o: node; i: id; r: array [0 .. 4] of boolean; \
        startstate r[0] := n = o; r[1] := n = home; r[2] := i = n; o := home; r[3] := i = o; r[4] := n != o; end;";
    let expected = expect![[r#"
        n: undefined
        o: home
        i: undefined
        r[0]: true
        r[1]: false
        r[2]: true
        r[3]: false
        r[4]: true
    "#]];
    expected.assert_eq(&run(model, &Options::default(), 0));
    let strict = Options { undefined: Undefined::Strict, ..Options::default() };
    assert_eq!(run(model, &strict, 0), "`n` is undefined");
}

#[test]
fn aliases_are_bound_once() {
    let model = "var p: 0 .. 2; a: array [0 .. 2] of 0 .. 9; \
        startstate clear a; p := 1; alias v: a[p]; w: p + 1 do p := 2; v := 7; a[2] := w; end; end;";
    assert_eq!(run(model, &Options::default(), 0), "p: 2\na[0]: 0\na[1]: 7\na[2]: 2\n");
}

#[test]
fn results_and_arguments_can_be_whole_records() {
    let model = "type r: record a: 0 .. 9; b: array [0 .. 20] of 0 .. 255; end; var x, y: r; same: boolean; \
        function make(v: 0 .. 9): r; var l: r; begin clear l; l.a := v; return l; end; \
        function grow(p: r): r; var l: r; begin l := p; l.a := p.a + 1; return l; end; \
        function depth(n: 0 .. 9): 0 .. 9; begin if n = 0 then return 0; end; return depth(n - 1) + 1; end; \
        startstate x := grow(grow(make(3))); y := x; same := make(5) = x; y.a := depth(6); end; \
        rule make(5) = x ==> x.a := 0; end;";
    let state = run(model, &Options::default(), 0);
    assert!(state.contains("x.a: 5\n") && state.contains("y.a: 6\n") && state.contains("same: true\n") && state.contains("x.b[20]: 0\n"), "{state}");
    assert!(run(model, &Options::default(), 1).contains("x.a: 0\n"));
    assert_eq!(run(model, &Options::default(), 2), "deadlock");
}

#[test]
fn loops_run_as_written() {
    let model = |header: &str| format!("var n, k: -50 .. 50; startstate n := 0; k := 2; for i := {header} do n := n * 3 + i; end; end;");
    let run = |header: &str| run(&model(header), &Options::default(), 0);
    assert_eq!(run("1 to 3"), "n: 18\nk: 2\n");
    assert_eq!(run("3 to 1 by -1"), "n: 34\nk: 2\n");
    assert_eq!(run("1 to 3 by k"), "n: 6\nk: 2\n");
    assert_eq!(run("3 to 1 by 0 - k"), "n: 10\nk: 2\n");
    assert_eq!(run("k to k - 1"), "n: 0\nk: 2\n");
    assert_eq!(run("1 to 3 by k - 2"), "the step `k - 2` is 0: the loop does not end");
}

#[test]
fn an_empty_ruleset_has_no_rules() {
    let model = "var x: 0 .. 3; startstate x := 0; end; ruleset i := 1 to 0 do rule x := i; end; invariant x = i; end; rule x := 2; end;";
    assert_eq!(run(model, &Options::default(), 1), "x: 2\n");
}

#[test]
fn shifts_and_bits_follow_rumur() {
    let model = "var a: array [0 .. 7] of -100 .. 100; s: -70 .. 70; startstate s := -1; \
        a[0] := 5 & 3; a[1] := 5 | 3; a[2] := 5 ^ 3; a[3] := ~5; a[4] := 8 << s; a[5] := -8 >> 1; a[6] := 8 >> s; s := 64; a[7] := 1 << s; end;";
    let expected = expect![[r#"
        a[0]: 1
        a[1]: 7
        a[2]: 6
        a[3]: -6
        a[4]: 4
        a[5]: -4
        a[6]: 16
        a[7]: 0
        s: 64
    "#]];
    expected.assert_eq(&run(model, &Options::default(), 0));
}

#[test]
fn multisets_keep_one_order() {
    let model = "type r: record v: 0 .. 3; end; var net: multiset [3] of r; x: r; n: 0 .. 3; \
        startstate x.v := 1; multisetadd(x, net); x.v := 3; multisetadd(x, net); x.v := 2; multisetadd(x, net); n := multisetcount(i: net, net[i].v > 1); end; \
        choose e: net do rule net[e].v = 2 ==> multisetremove(e, net); x.v := 0; multisetadd(x, net); if n = 2 then return; end; end; end; \
        rule begin multisetremovepred(i: net, net[i].v < 3); end;";
    let expected = expect![[r#"
        net{0}.v: 3
        net{1}.v: 2
        net{2}.v: 1
        x.v: 2
        n: 2

        net{0}.v: 3
        net{1}.v: 1
        net{2}.v: 0
        x.v: 0
        n: 2

        net{0}.v: 3
        x.v: 0
        n: 2
    "#]];
    expected.assert_eq(&[0, 1, 2].map(|firings| run(model, &Options::default(), firings)).join("\n"));
    let full = "var net: multiset [1] of boolean; startstate multisetadd(true, net); multisetadd(false, net); end;";
    assert_eq!(run(full, &Options::default(), 0), "the multiset `net` is full: it has room for 1");
    let gone = "var net: multiset [1] of boolean; startstate multisetadd(true, net); end; \
        choose e: net do rule begin multisetremove(e, net); multisetremove(e, net); end; end;";
    assert_eq!(run(gone, &Options::default(), 1), "`e` is no longer in `net`");
}

#[test]
fn rules_of_a_smaller_number_go_first() {
    let model =
        "var x: 0 .. 9; startstate x := 0; end; rule 20 x < 9 ==> x := x + 1; end; ruleset i: 0 .. 3 do rule 3 x = i * 2 ==> x := x + 3; end; end;";
    assert_eq!(run(model, &Options::default(), 1), "x: 3\n");
    assert_eq!(run(model, &Options::default(), 2), "x: 4\n");
    assert_eq!(run(model, &Options::default(), 3), "x: 7\n");
}

#[test]
fn a_rule_is_lowered_to_a_few_words() {
    check_program(
        "type id: scalarset(2); var pc: array [id] of enum { idle, trying }; turn: id; n: 0 .. 3; startstate end; \
         ruleset i: id do rule \"go\" pc[i] = idle & turn = i & n < 3 ==> pc[i] := trying; n := n + 1; undefine turn; end; end; \
         ruleset i: id do invariant \"safe\" pc[i] = trying -> n > 0 & true; end;",
        expect![[r#"
            (program "m"
              (words 1)
              (type t0 (scalar (bits 2) (low 0) (count 2) (name "boolean") (undefinable) (names "false" "true")))
              (type t1 (scalar (bits 2) (low 0) (count 2) (name "id") (undefinable) (names "id_1" "id_2") (elements (set 1) (first 0) (count 2))))
              (type t2 (scalar (bits 2) (low 0) (count 2) (undefinable) (names "idle" "trying")))
              (type t3 (array t1 t2 (stride 2) (count 2) (bits 4)))
              (type t4 (scalar (bits 3) (low 0) (count 4) (undefinable)))
              (variable "pc" t3 (offset 0) (at 1 28))
              (variable "turn" t1 (offset 4) (at 1 69))
              (variable "n" t4 (offset 6) (at 1 79))
              (fault !0 violation index (at 1 133) "index `i` is outside `id`")
              (fault !1 violation undefined (at 1 133) "`pc[i]` is undefined")
              (fault !2 violation undefined (at 1 159) "`n` is undefined")
              (fault !3 violation index (at 1 169) "index `i` is outside `id`")
              (fault !4 violation undefined (at 1 191) "`n` is undefined")
              (fault !5 violation range (at 1 191) "the value of `n + 1` is outside the range 0..3 of `n`")
              (fault !6 violation index (at 1 257) "index `i` is outside `id`")
              (fault !7 violation undefined (at 1 257) "`pc[i]` is undefined")
              (fault !8 violation undefined (at 1 275) "`n` is undefined")
              (fault !9 violation endless (at 1 240) "this property does not end within the limit")
              (start "startstate 1" (at 1 90)
                (guard (registers 0) 1)
                (command (registers 0) (frame 0)))
              (rule "go" (at 1 123)
                (parameter "i" t1 (from 0) (by 1) (count 2))
                (guard (registers 1) (all (eq (non-zero !1 (load 2 (state 0 (r0 2 2 !0)))) 1) (eq (add (load 2 (state 4)) -1) r0) (lt (non-zero !2 (load 3 (state 6))) 4)))
                (command (registers 1) (frame 0)
                  (store 2 (state 0 (r0 2 2 !3)) 2)
                  (store 3 (state 6) (add (between !5 0 3 (non-zero !4 (load 3 (state 6)))) 1))
                  (zero 2 (state 4))))
              (property p0 "safe" always (at 1 240) (registers 1)
                (conjunct (at 1 257) (for-all r0 0 1 1 !9 (any (ne (non-zero !7 (load 2 (state 0 (r0 2 2 !6)))) 2) (gt (non-zero !8 (load 3 (state 6))) 1))))))
        "#]],
    );
}

/// Words and numbers of a text, with their positions.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = character.is_alphanumeric() || character == '_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// Models in which words were exchanged with others of the same text: most still parse, and then have a strange
/// meaning. In any case, elaboration ends with a program that verifies and runs, or with errors, and never reports an
/// internal error.
#[test]
fn strange_models_do_not_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/murphi");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the models are there").filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut seed = 7u64;
    let mut random = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound.max(1)
    };
    let (mut parsed, mut accepted) = (0, 0);
    let cases = std::env::var("WAYFARER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500);
    for case in 0..cases {
        let text = std::fs::read_to_string(&files[case % files.len()]).expect("a model is text");
        let words = words(&text);
        let mut changed = text.clone();
        // From the back, so that positions stay valid.
        let mut places: Vec<usize> = (0..=random(2)).map(|_| random(words.len())).collect();
        places.sort_unstable();
        places.dedup();
        for place in places.into_iter().rev() {
            let (at, word) = words[place];
            changed.replace_range(at..at + word.len(), words[random(words.len())].1);
        }
        let source = Source::new("strange.m", changed);
        let (_, reading) = murphi::parse(&source);
        parsed += usize::from(!reading.has_errors());
        let (program, diagnostics) = murphi::load(&source, &Options::default());
        assert!(!diagnostics.iter().any(|diagnostic| diagnostic.message.contains("mistake in Wayfarer")), "{}", source.text());
        diagnostics.render(&source, false);
        let Some(program) = program else { continue };
        accepted += 1;
        let space = Interpreter::new(program, Limits { fuel: 10_000, ..Limits::default() });
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        if !steps.is_empty() {
            let state = steps.states.get(0).to_vec();
            let mut next = Vec::new();
            for rule in 0..space.rules().min(1000) {
                space.fire(&state, Firing::of(rule), &mut next);
            }
        }
    }
    assert!(parsed > cases / 3 && accepted > cases / 15, "{parsed} parsed and {accepted} accepted of {cases}: the changes are too wild or too tame");
}

/// Models made to be deep, long or doubling: they are read or refused, in little time and on a small stack.
#[test]
fn nothing_runs_away() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
    let array = "var a: array [0 .. 3] of 0 .. 3; b: boolean; x: 0 .. 3; startstate clear a; x := 0; b := true; end;\n";
    let mut models = vec![
        format!("{array} rule x := {}; end;", deep("a[", "x", "]", 150)),
        format!("{array} rule x := {}; end;", deep("1 << (", "x", ")", 90)),
        format!("{array} rule b := {}; end;", deep("!(", "b", ")", 90)),
        format!("{array} rule b := {}; end;", deep("b -> (b | (", "b", "))", 45)),
        format!("{array} rule {} end;", deep("if b then ", "b := b;", " end;", 150)),
        format!("{array} rule {} end;", deep("for i: 0 .. 0 do ", "b := b;", " end;", 150)),
        format!("{array} rule x := {}; end;", deep("b ? (", "x", ") : 1", 90)),
        format!("{array} rule b := {}; end;", vec!["b"; 50_000].join(" & ")),
        format!("{array} rule x := {}; end;", vec!["x"; 50_000].join(" + ")),
        format!("{array} rule {} end;", "x := a[x]; alias y: a[x] do y := x; end; ".repeat(5000)),
        format!("{array} {}", "rule x = 1 ==> x := 0; end; ".repeat(5000)),
        format!("{array} {}", "rule y = z ==> z := y; end; ".repeat(5000)),
        format!("{array} {}", deep("ruleset i: 0 .. 1 do ", "rule b := b; end; ", "end; ", 150)),
    ];
    // Each alias is used twice by the next, each type twice in the next, each function calls the one before.
    let aliases: String = (0..60).map(|i| format!("alias c{}: a[(c{i} + c{i}) % 4] do ", i + 1)).collect();
    models.push(format!("{array} alias c0: x do {aliases} rule c60 = 0 ==> b := c60 = 1; end; {} end;", "end; ".repeat(60)));
    let types: String = (0..70).map(|i| format!("t{}: record p, q: t{i}; end; ", i + 1)).collect();
    models.push(format!("type t0: boolean; {types} var v: t70; startstate clear v; end;"));
    let chain: String = (0..70).map(|i| format!("t{}: record p: t{i}; end; ", i + 1)).collect();
    models.push(format!("type t0: boolean; {chain} var v: t70; startstate clear v; end;"));
    let functions: String =
        (0..3000).map(|i| format!("function f{}(v: 0 .. 3; var w: 0 .. 3): 0 .. 3; begin return f{i}(v, w); end; ", i + 1)).collect();
    models.push(format!("{array} function f0(v: 0 .. 3; var w: 0 .. 3): 0 .. 3; begin return v; end; {functions} rule x := f3000(x, x); end;"));
    for model in models {
        let started = std::time::Instant::now();
        let source = Source::new("m", model);
        let (program, diagnostics) = murphi::load(&source, &Options::default());
        let text = diagnostics.render(&source, false);
        assert!(!text.contains("mistake in Wayfarer"), "{text}");
        if let Some(program) = program {
            let space = Interpreter::new(program, Limits::default());
            space.initial(&mut Steps::new(space.width()));
        }
        let head: String = source.text().chars().skip(array.len()).take(60).collect();
        assert!(started.elapsed().as_secs() < 5, "{head}: {:?}", started.elapsed());
        if std::env::var_os("WAYFARER_SHOW").is_some() {
            eprintln!("{head}… {:?} {}", started.elapsed(), text.lines().next().unwrap_or("accepted"));
        }
    }
}
