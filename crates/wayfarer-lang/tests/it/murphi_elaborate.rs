//! The elaborator's errors for invalid models, and its programs for valid ones.

mod limits;
mod meaning;
mod strange;

use expect_test::{Expect, expect};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::murphi::{self, Options};
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
