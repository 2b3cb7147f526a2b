//! Valid models and their trees.

use super::{check, check_expressions};
use expect_test::expect;

#[test]
fn operators_bind_as_in_rumur_and_cmurphi() {
    check_expressions(
        &[
            "!a = b",
            "!a & b",
            "a = !b & c",
            "a + !b = c",
            "a | b & c -> d",
            "a -> b ? c : d",
            "a ? b : c ? d : e",
            "a | b && c",
            "a || b && c",
            "a | b ^ c & d",
            "a + b << c = d",
            "-a * b",
            "- -a + ~b",
            "a - b - c",
            "a - b + c + d * e * f / g",
            "(a & b) & c & d",
            "a.b[c].d[e][f]",
            "a == b",
            "a ≤ b ∧ ¬c ∨ d",
        ],
        expect![[r#"
            (Not (Equal a b))
            (And (Not a) b)
            (And (Equal a (Not b)) c)
            (Add a (Not (Equal b c)))
            (Implies (Or a (And b c)) d)
            (? (Implies a b) c d)
            (? a b (? c d e))
            (And (Or a b) c)
            (Or a (And b c))
            (Or a (Xor b (And c d)))
            (Equal (ShiftLeft (Add a b) c) d)
            (Multiply (Negate a) b)
            (Add (Negate (Negate a)) (Complement b))
            (Subtract (Subtract a b) c)
            (Add (Subtract a b) c (Divide (Multiply d e f) g))
            (And <(And a b)> c d)
            a.b[c].d[e][f]
            (Equal a b)
            (Or (And (LessEqual a b) (Not c)) d)
        "#]],
    );
}

#[test]
fn primaries() {
    check_expressions(
        &[
            "forall i : t do x[i] end",
            "exists i := 0 to 3 by 2; j : 0 .. n - 1 do i = j endexists",
            "forall i : t : true endforall & FALSE",
            "f() + g(a, b + 1,)",
            "isundefined(a.b) | ismember(a, t) | ismember(a, enum { x })",
            "multisetcount(i : bag, bag[i].a) = 1",
            "1.5 < 0xfffffffffffffffe",
            "in = until",
        ],
        expect![[r#"
            (forall (i t) x[i])
            (exists (i 0 to 3 by 2) (j 0..(Subtract n 1)) (Equal i j))
            (And (forall (i t) true) false)
            (Add (call f) (call g a (Add b 1)))
            (Or (isundefined a.b) (ismember a t) (ismember a (enum x)))
            (Equal (bag-count i bag bag[i].a) 1)
            (Less real:1.5 huge:18446744073709551614)
            (Equal in until)
        "#]],
    );
}

#[test]
fn declarations() {
    check(
        "const N: 3; M, K: N - 1
        type t: 0 .. N; s: scalarset(N); e: enum { a, b, }; u: union { s, enum { c } };
          r: record x, y: boolean; z: array [t] of r end;
          b: multiset [3] of r; d: array [BOOLEAN] of real(4, 2);
        var v, w: t; cover: e; choose: u; ;
        Var assume: record endrecord",
        expect![[r#"
            (const N 3)
            (const M (Subtract N 1))
            (const K (Subtract N 1))
            (type t 0..N)
            (type s (scalarset N))
            (type e (enum a,b))
            (type u (union s (enum c)))
            (type r (record (x,y boolean) (z (array t r))))
            (type b (multiset 3 r))
            (type d (array boolean (real 4 2)))
            (var v,w t)
            (var cover e)
            (var choose u)
            (var assume (record))
        "#]],
    );
}

#[test]
fn functions() {
    check(
        "function f(var x, y: t; z: 0 .. 1): boolean; var l: t; begin return x = l; end;
        procedure p(); begin end;
        procedure q() const c: 1; x := c; endprocedure
        function g(): t return 1 endfunction",
        expect![[r#"
            (function f (var x,y: t; z: 0..1) boolean (var l t) (return (Equal x l)))
            (function p () none)
            (function q () none (const c 1) (:= x c))
            (function g () t (return 1))
        "#]],
    );
}

#[test]
fn rules() {
    check(
        "rule \"a\" x = 1 ==> begin x := 2 end;
        rule x := 1; end
        rule p(); end;
        rule f(x) ==> p() endrule;
        rule 20 \"urgent\" true ==> end;
        rule 1 = x ==> end;
        rule true ==> var y: t; begin y := 1; end;
        ruleset i : t; j := 0 to 2 do
          startstate \"s\" x := i end;
          alias a : x[i]; b : 2 do rule a = b ==> a := undefined; end; endalias;
        endruleset
        choose i : bag.net do rule end; endchoose;
        invariant \"n\" x; invariant x \"n\"; cover x = 1; assume (x) \"a\"; liveness y; assert x;",
        expect![[r#"
            (rule "a" when (Equal x 1) (:= x 2))
            (rule (:= x 1))
            (rule (call p))
            (rule when (call f x) (call p))
            (rule "urgent" priority 20 when true)
            (rule when (Equal 1 x))
            (rule when true (var y t) (:= y 1))
            (ruleset (i t) (j 0 to 2) (start "s" (:= x i)) (alias (a x[i]) (b 2) (rule when (Equal a b) (:= a undefined))))
            (choose i bag.net (rule))
            (Invariant "n" x)
            (Invariant "n" x)
            (Cover (Equal x 1))
            (Assume "a" <x>)
            (Liveness y)
            (Invariant x)
        "#]],
    );
}

#[test]
fn statements() {
    check(
        "startstate
          if a then b := 1 elsif c then else d := 2; ; e := 3 endif;
          if a then else if b then c := 1; end end;
          switch x case 1, 2: a := 1; case y: else b := 1; end;
          for i : t do while a do return endwhile end;
          alias a : b.c; d : 3; do a := d end;
          clear a[1]; undefine b.c; return 1 + 2; put \"x\\n\"; put a; error \"bad\"; error;
          assert a \"m\"; assert \"m\" a; invariant a; assume a; cover \"c\" a = 1;
          multisetadd(x, bag); multisetremove(i, bag); multisetremovepred(i : bag, bag[i] = 1); p(a, b);
          cover := 1; assume[1] := 2;
        end",
        expect![[r#"
            (start (if a { (:= b 1) } c { } else { (:= d 2) (:= e 3) }) (if a { } else { (if b { (:= c 1) }) }) (switch x (1 2) { (:= a 1) } (y) { } else { (:= b 1) }) (for (i t) { (while a { (return) }) }) (alias (a b.c) (d 3) { (:= a d) }) (clear a[1]) (undefine b.c) (return (Add 1 2)) (put "x\n") (put a) (error "bad") (error) (assert "m" a) (assert "m" a) (assert a) (assume a) (cover "c" (Equal a 1)) (bag-add x bag) (bag-remove i bag) (bag-remove-if i bag (Equal bag[i] 1)) (call p a b) (:= cover 1) (:= assume[1] 2))
        "#]],
    );
}

#[test]
fn words_of_one_tool_can_be_functions_of_a_model() {
    check(
        "procedure cover(x: t); begin end;
        procedure multisetadd(x: t); begin end;
        rule cover(1); multisetadd(2); end",
        expect![[r#"
            (function cover (x: t) none)
            (function multisetadd (x: t) none)
            (rule (call cover 1) (call multisetadd 2))
        "#]],
    );
}
