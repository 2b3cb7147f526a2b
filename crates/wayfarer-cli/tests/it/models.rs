//! Small models, each with its known results.

/// Holds: 4 states, 6 firings, depth 3; the rule `never` never fires.
pub(crate) const COUNTER: &str = r#"const N: 3;
type num: 0..N;
var x: num;
startstate "Init" begin x := 0; end;
rule "up" x < N ==> begin x := x + 1; end;
rule "down" x > 0 ==> begin x := x - 1; end;
rule "never" x * x = 2 ==> begin x := 0; end;
invariant "in range" x <= N;
"#;

/// Violates `below two` after two steps; its second conjunct is the one that fails.
pub(crate) const VIOLATED: &str = r#"var x: 0..3;
    y: array [1..2] of boolean;
startstate "Init" begin x := 0; y[1] := false; y[2] := false; end;
ruleset i: 1..2 do
  rule "flip" x < 3 & !y[i] ==> begin x := x + 1; y[i] := true; end;
end;
rule "back" y[2] ==> begin y[2] := false; end;
invariant "below two" x >= 0 & x < 2;
invariant "fine" x < 4;
"#;

/// Deadlocks after two steps: there, only `stutter` is enabled and changes nothing.
pub(crate) const STUTTERS: &str = r#"var x: 0..2;
startstate begin x := 0; end;
rule "up" x < 2 ==> begin x := x + 1; end;
rule "stutter" x = 2 ==> begin x := 2; end;
"#;

/// An assertion fails in the second step.
pub(crate) const ASSERTION: &str = r#"var x: 0..3;
startstate begin x := 0; end;
rule "up" x < 3 ==> begin x := x + 1; assert x < 2 "x stays below two"; end;
rule "down" x > 0 ==> begin x := x - 1; end;
"#;

/// An error statement is reached in the first step.
pub(crate) const ERROR: &str = r#"var x: boolean;
startstate begin x := false; end;
rule "boom" !x ==> begin x := true; error "it went off"; end;
"#;

/// The guard reads a variable that has no value.
pub(crate) const UNDEFINED: &str = r#"var x: boolean; y: boolean;
startstate begin x := false; end;
rule "flip" true ==> begin x := !x; end;
rule "read" y ==> begin x := true; end;
"#;

/// Copies a variable that has no value, which is a fault only on request.
pub(crate) const COPIES: &str = r#"var x: boolean; y: boolean; z: boolean;
startstate begin x := false; end;
rule "flip" true ==> begin x := !x; z := y; end;
"#;

/// The value leaves its range in the third step.
pub(crate) const RANGE: &str = r#"var x: 0..2;
startstate begin x := 0; end;
rule "up" true ==> begin x := x + 1; end;
"#;

/// 100^6 states: more than any budget here.
pub(crate) const BIG: &str = r#"const N: 100;
type index: 1..6; num: 0..N-1;
var x: array [index] of num;
startstate "Init" begin for i: index do x[i] := 0; end; end;
ruleset i: index do
  rule "count" true ==> begin x[i] := (x[i] + 1) % N; end;
end;
invariant "in range" forall i: index do x[i] < N end;
"#;

/// Two mistakes on two lines.
pub(crate) const TWO_MISTAKES: &str = r#"var x: 0..3;
startstate begin x := 0; end;
rule "a" x < nowhere ==> begin x := x + 1; end;
rule "b" x < 3 ==> begin x := unknown; end;
"#;

/// Prints as it goes.
pub(crate) const TALKS: &str = r#"var x: 0..9;
startstate "Hello" begin x := 0; put "hello from the start\n"; end;
rule "next" x < 9 ==> begin x := x + 1; put "x is now "; put x; put "\n"; end;
"#;

/// Its start state does not exist: an assumption excludes it.
pub(crate) const NO_START: &str = r#"var x: boolean;
startstate begin x := false; end;
rule "flip" true ==> begin x := !x; end;
assume "impossible" false;
"#;

/// Holds under its assumption, without which it would not.
pub(crate) const ASSUMES: &str = r#"var x: 0..9;
startstate begin x := 0; end;
rule "up" x < 9 ==> begin x := x + 1; end;
rule "down" x > 0 ==> begin x := x - 1; end;
assume "not far" x < 5;
invariant "below five" x < 5;
"#;

/// An element is added to a multiset and removed again.
pub(crate) const BAG: &str = r#"type num: 1..2;
var net: multiset [2] of num; sent: boolean;
startstate begin undefine net; sent := false; end;
ruleset n: num do
  rule "send" !sent ==> begin multisetadd(n, net); sent := true; end;
end;
choose m: net do
  rule "receive" sent ==> begin multisetremove(m, net); end;
end;
invariant "never empty after sending" sent -> multisetcount(i: net, true) = 1;
"#;
