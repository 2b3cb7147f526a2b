//! Programs of valid models: what they do when they run, and how they are lowered.

use super::{check_program, run};
use expect_test::expect;
use wayfarer_lang::murphi::{Options, Undefined};

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
