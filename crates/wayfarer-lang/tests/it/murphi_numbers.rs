//! Numbers beyond 2^63 - 1 and real numbers, in the interpreter. Compiled code is compared with it in the library's tests.

use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::murphi::{self, ConstantValue, Options};
use wayfarer_lang::source::Source;
use wayfarer_space::{Space, Steps};

/// The start state of a model, or the message of its fault.
fn start(model: &str) -> String {
    start_with(model, &Options::default())
}

fn start_with(model: &str, options: &Options) -> String {
    let source = Source::new("m", model);
    let (program, diagnostics) = murphi::load(&source, options);
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
    let space = Interpreter::new(program, Limits::default());
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    match steps.faults.first() {
        Some(fault) => space.program().faults[fault.fault.0 as usize].message.clone(),
        None => space.program().listing(steps.states.get(0)),
    }
}

/// The first error in a model.
fn error(model: &str) -> String {
    let source = Source::new("m", model);
    let (program, diagnostics) = murphi::load(&source, &Options::default());
    assert!(program.is_none(), "{model}");
    let text = diagnostics.render(&source, false);
    text.lines().find_map(|line| line.split_once(": error: ")).map_or(String::new(), |(_, message)| message.to_string())
}

/// A statement over numbers of both kinds: `u` and `w` without sign, `s` with one.
fn after(u: &str, w: &str, s: &str, statement: &str) -> String {
    let declarations = "type big: 0 .. 0xfffffffffffffffe; var u: big; w: big; s: -100 .. 100; b: boolean; t: -9223372036854775808 .. 5;";
    start(&format!("{declarations} startstate u := {u}; w := {w}; s := {s}; {statement} clear s; end;"))
}

fn value<'a>(state: &'a str, name: &str) -> &'a str {
    state.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or(state)
}

const TOP: u64 = u64::MAX - 1;
const SAMPLES: [u64; 7] = [0, 1, 7, i64::MAX as u64, 1 << 63, (1 << 63) + 5, TOP];

/// All operators on numbers without sign, against numbers of 128 bits.
#[test]
fn arithmetic_without_sign_is_exact_or_a_fault() {
    for left in SAMPLES {
        for right in SAMPLES {
            let (a, b) = (i128::from(left), i128::from(right));
            let results = [
                ("+", Some(a + b)),
                ("-", Some(a - b)),
                ("*", a.checked_mul(b)),
                ("/", a.checked_div(b)),
                ("%", a.checked_rem(b)),
                ("&", Some(a & b)),
                ("|", Some(a | b)),
                ("^", Some(a ^ b)),
            ];
            for (sign, exact) in results {
                let state = after(&left.to_string(), &right.to_string(), "0", &format!("u := u {sign} w;"));
                match exact.filter(|exact| (0..=i128::from(TOP)).contains(exact)) {
                    Some(exact) => assert_eq!(value(&state, "u"), exact.to_string(), "{left} {sign} {right}"),
                    None => assert!(!state.contains("u: "), "{left} {sign} {right}: {state}"),
                }
            }
        }
    }
}

#[test]
fn comparisons_of_all_kinds_of_numbers_are_exact() {
    for left in SAMPLES {
        for (name, right) in SAMPLES.iter().map(|right| ("w", i128::from(*right))).chain([-100i128, -1, 0, 1, 100].map(|right| ("s", right))) {
            let a = i128::from(left);
            for (sign, exact) in [("=", a == right), ("!=", a != right), ("<", a < right), ("<=", a <= right), (">", a > right), (">=", a >= right)] {
                let (w, s) = if name == "w" { (right, 0) } else { (0, right) };
                let state = after(&left.to_string(), &w.to_string(), &s.to_string(), &format!("b := u {sign} {name};"));
                assert_eq!(value(&state, "b"), exact.to_string(), "{left} {sign} {right}");
                let mirrored = match sign {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    same => same,
                };
                let state = after(&left.to_string(), &w.to_string(), &s.to_string(), &format!("b := {name} {mirrored} u;"));
                assert_eq!(value(&state, "b"), exact.to_string(), "{right} {mirrored} {left}");
            }
        }
    }
}

#[test]
fn numbers_with_and_without_sign_meet() {
    for (statement, expected) in [
        ("u := u + s;", "18446744073709551514"),
        ("u := s + u;", "18446744073709551514"),
        ("u := u - 200; u := u - s;", "18446744073709551514"),
        ("u := 5; u := u + s;", "the value of `u + s` is below 0 or above 18446744073709551615"),
        ("u := s;", "the value of `s` is outside the range 0..18446744073709551614 of `u`"),
        ("u := 0xffffffffffffffff;", "the value of `0xffffffffffffffff` is outside the range 0..18446744073709551614 of `u`"),
        ("u := u >> 1;", "9223372036854775807"),
        ("u := ~u;", "1"),
        ("s := 7; u := u - u + s;", "7"),
        ("switch u case 18446744073709551614: u := 3; endswitch;", "3"),
        ("for i: 18446744073709551613 .. 18446744073709551614 do u := i - 5; end;", "18446744073709551609"),
    ] {
        assert_eq!(value(&after("18446744073709551614", "0", "-100", statement), "u"), expected, "{statement}");
    }
    // A difference of a number with a sign and one without has a sign.
    assert_eq!(value(&after("9223372036854775809", "0", "5", "t := s - u;"), "t"), "-9223372036854775804");
    assert_eq!(value(&after("9223372036854775809", "0", "-5", "t := s - u;"), "t"), "the value of `s - u` does not fit 64 bits");
    assert_eq!(value(&after("3", "0", "-5", "t := s - u;"), "t"), "-8");
    assert_eq!(value(&after("3", "0", "-5", "t := -9223372036854775808;"), "t"), "-9223372036854775808");
}

#[test]
fn ranges_that_fill_a_word_have_no_undefined_value() {
    let model = "var x: 0 .. 18446744073709551615; y: 18446744073709551610 .. 18446744073709551615; startstate x := 0xffffffffffffffff - x; end;";
    assert_eq!(start(model), "x: 18446744073709551615\ny: undefined\n");
    assert_eq!(start("var x: 0 .. 18446744073709551615; startstate clear x; x := x + 1; end;"), "x: 1\n");
    // The bounds of a range are computed, and not only bounded.
    assert_eq!(
        start("var x: 0 .. 7 & 5; y: 1 .. 0xf000000000000000 | 1; startstate x := 5; y := 0xf000000000000001; end;"),
        "x: 5\ny: 17293822569102704641\n"
    );
    let cleared = "var y: 18446744073709551610 .. 18446744073709551615; r: record a: boolean; y: 9223372036854775809 .. 9223372036854775810; end; startstate clear y; clear r; end;";
    assert_eq!(start(cleared), "y: 18446744073709551610\nr.a: false\nr.y: 9223372036854775809\n");
    for (model, expected) in [
        ("var x: 0 .. 18446744073709551615; startstate undefine x; end;", "this has all numbers of 64 bits as its range, and cannot be undefined"),
        (
            "var x: -1 .. 9223372036854775808; startstate x := 0; end;",
            "this range does not fit 64 bits: it has numbers below 0 and numbers beyond 9223372036854775807",
        ),
        (
            "var x: 0 .. 5; startstate for i: 0 .. 9223372036854775808 do x := 0; end; end;",
            "this has numbers on both sides of 9223372036854775807: a loop would not end",
        ),
        (
            "var x: 0 .. 18446744073709551614; s: -1 .. 1; startstate x := x * s; end;",
            "this mixes numbers that may be below 0 with numbers that may be beyond 9223372036854775807",
        ),
        ("var x: 18446744073709551616 .. 1; startstate end;", "this number does not fit 64 bits"),
    ] {
        assert_eq!(error(model), expected);
    }
}

#[test]
fn real_numbers_are_rounded_where_they_are_stored() {
    let real = |declarations: &str, statements: &str| start(&format!("var {declarations} startstate {statements} end;"));
    for (statements, expected) in [
        ("x := 1000.5;", "1000"),
        ("x := 1001.5;", "1002"),
        ("x := 12345;", "12340"),
        ("x := 2.0 / 3;", "0.6667"),
        ("x := 2 / 3;", "0"),
        ("x := 1.0 / 3 * 3;", "1"),
        ("x := 1.0; x := x / 3; x := x * 3;", "0.9999"),
        ("x := -0.00001234567;", "-0.00001235"),
        ("x := 1e20; x := x * 1e20;", "1e40"),
        ("x := 0.0; x := -x;", "0"),
        ("x := 1e-99;", "0"),
        ("clear x;", "0"),
        ("undefine x;", "undefined"),
        ("x := pow(2, 0.5) + sqrt(16) + fabs(-1);", "6.414"),
        ("x := floor(2.7) + ceil(2.2) + fmod(7, 4);", "8"),
        ("x := 18446744073709551615 + 0.0;", "1.845e19"),
        ("x := 5 > 4.5 ? 1.5 : 2;", "1.5"),
        ("x := 1e99; x := x * 10;", "the value of `x * 10` is not a real number of 4 digits with an exponent of at most 99, as `x` needs"),
        ("x := 0.0; x := 1 / x;", "the value of `1 / x` is not a real number of 4 digits with an exponent of at most 99, as `x` needs"),
        ("undefine x; x := x + 1;", "`x` is undefined"),
    ] {
        assert_eq!(value(&real("x: real(4, 99);", statements), "x"), expected, "{statements}");
    }
    // Between formats, by value, returned, in a record and compared.
    let model = "type r: real(4, 99); wide: real(15, 308); \
        var x: r; y: wide; b: boolean; c: record a: r; b: r; end; \
        function third(v: r): r; begin return v / 3; end; \
        startstate y := 2.0 / 3; x := y; b := x = y; c.a := third(10000.4); c.b := x; x := c.b; y := x; end;";
    assert_eq!(start(model), "x: 0.6667\ny: 0.6667\nb: false\nc.a: 3333\nc.b: 0.6667\n");
    let constant = "const half: 0.5; var x: real(4, 99); startstate x := half; end;";
    let options = |value| Options { constants: vec![("half".to_string(), value)], ..Options::default() };
    assert_eq!(start_with(constant, &options(ConstantValue::Number(2))), "x: 2\n");
    assert_eq!(start_with(constant, &options(ConstantValue::Name("0.25".to_string()))), "x: 0.25\n");
    for (model, expected) in [
        ("type pid: scalarset(3); var x: pid; startstate x := pid_1; end;", "there is no variable or constant `pid_1`"),
        ("var x: real(16, 99); startstate end;", "the number of digits of a real type must be from 1 to 15; this is 16"),
        ("var x: real(4, 9); startstate end;", "the largest exponent of a real type must be from 10 to 308; this is 9"),
        ("var x: real(4, 99); i: 0..9; startstate i := x; end;", "`i` is of type `0..9`, but this is of type `real`"),
        ("var x: real(4, 99); startstate x := x % 2; end;", "an operand of `%` must be a whole number, but this is of type `real`"),
        ("type r: real(4, 99); var a: array [r] of boolean; startstate end;", "an array cannot be indexed by `r`"),
        ("type r: real(4, 99); var b: boolean; ruleset x: r do rule b := true; end; end; startstate end;", "`x` cannot run over `r`"),
    ] {
        assert_eq!(error(model), expected);
    }
}
