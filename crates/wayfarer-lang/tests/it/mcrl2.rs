//! mCRL2: what is refused and where, what expressions are worth, our own models against their headers, and the two implementations of the semantics against each other,
//! on our models and on generated specifications. With `WAYFARER_CORPUS`, also the counts of mCRL2's own tools.

use expect_test::{Expect, expect};
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use wayfarer_algebra::{AlgebraSpace, Layout, PlainSpace, System};
use wayfarer_lang::mcrl2;
use wayfarer_lang::source::Source;
use wayfarer_space::{Firing, Rng, Space, States, Steps};

pub(crate) fn system(text: &str) -> System {
    let source = Source::new("t.mcrl2", text);
    let (specification, diagnostics) = mcrl2::load(&source);
    let specification = specification.unwrap_or_else(|| panic!("{}\n{text}", diagnostics.render(&source, false)));
    System::new(specification).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"))
}

/// What is said about a text that cannot be explored.
fn refused(text: &str, expected: Expect) {
    let source = Source::new("t.mcrl2", text);
    let (specification, diagnostics) = mcrl2::load(&source);
    let at = |start: u32| {
        let at = source.position(start);
        format!("{}:{}", at.line, at.column)
    };
    let mut lines: Vec<String> = diagnostics.iter().map(|found| format!("{}: {}\n", at(found.span.start), found.message)).collect();
    match specification.map(System::new) {
        None => assert!(diagnostics.has_errors()),
        Some(Err(wrong)) => lines.push(format!("{}: {}\n", at(wrong.place.start), wrong.message)),
        Some(Ok(_)) => panic!("this was taken for right:\n{text}"),
    }
    expected.assert_eq(&lines.concat());
}

/// States, transitions, states without transitions, and the first fault, of at most so many states.
pub(crate) struct Counts {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    pub(crate) deadlocks: usize,
    pub(crate) fault: Option<String>,
    pub(crate) complete: bool,
}

pub(crate) fn explore(system: &System, space: &dyn Space, most: usize) -> Counts {
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let first = steps.states.get(0).to_vec();
    let mut seen = HashSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    let mut counts = Counts { states: 0, transitions: 0, deadlocks: 0, fault: None, complete: true };
    while let Some(state) = queue.pop_front() {
        let mut batch = States::new(space.width());
        batch.push(&state);
        space.expand(&batch, Firing::of(0), &mut steps);
        counts.transitions += steps.len();
        counts.deadlocks += usize::from(steps.is_empty());
        if let Some(fault) = steps.faults.first() {
            counts.fault.get_or_insert_with(|| system.explain_fault(fault.fault).0);
        }
        for next in steps.states.iter() {
            if seen.insert(next.to_vec()) {
                queue.push_back(next.to_vec());
            }
        }
        if seen.len() >= most {
            counts.complete = queue.is_empty();
            break;
        }
    }
    counts.states = seen.len();
    counts
}

pub(crate) fn wide(system: &System) -> Layout {
    Layout::new(vec![32; system.layout().bits.len()])
}

fn counted(text: &str) -> Counts {
    let system = system(text);
    explore(&system, &AlgebraSpace::new(&system, wide(&system)), 100_000)
}

/// The labels of all steps out of the initial state.
pub(crate) fn labels(text: &str) -> Vec<String> {
    let system = system(text);
    let space = AlgebraSpace::new(&system, wide(&system));
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let state = steps.states.get(0).to_vec();
    let mut batch = States::new(space.width());
    batch.push(&state);
    space.expand(&batch, Firing::of(0), &mut steps);
    assert!(steps.faults.is_empty(), "{}\n{text}", system.explain_fault(steps.faults[0].fault).0);
    steps.firings.iter().map(|firing| space.label(&state, *firing).expect("a label")).collect()
}

#[test]
fn expressions_have_the_values_that_mcrl2_gives_them() {
    let values = [
        ("Int", "3 - 5", "-2"),
        ("Nat", "(7 - 9) mod 4", "2"),
        ("Int", "-7 div 2", "-4"),
        ("Nat", "7 mod 2 * 3", "1"),
        ("Real", "1 / 2 + 1 / 3", "5 / 6"),
        ("Int", "round(5 / 2)", "3"),
        ("Int", "floor(-1 / 2)", "-1"),
        ("Pos", "exp(2, 70)", "1180591620717411303424"),
        ("Nat", "sqrt(17)", "4"),
        ("Bool", "exists n: Nat. n * n == 49 && n < 20", "true"),
        ("Bool", "forall n: Nat. n < 5 => n * n < 20", "true"),
        ("Bool", "forall b: Bool. b || !b", "true"),
        ("List(Nat)", "1 |> [2, 3] ++ [4] <| 5", "[1, 2, 3, 4, 5]"),
        ("Nat", "[4, 5, 6] . 1", "5"),
        ("List(Nat)", "rtail([1, 2, 3])", "[1, 2]"),
        ("Nat", "#[1, 1]", "2"),
        ("Bool", "[1, 2] < [1, 3]", "true"),
        ("Set(Nat)", "{3, 1, 2, 1}", "{1, 2, 3}"),
        ("Set(Nat)", "{1, 2, 3} * {2, 3, 4} - {3}", "{2}"),
        ("Bool", "{1} < {1, 2} && !({1} < {1})", "true"),
        ("Bool", "5 in {n: Nat | n mod 2 == 1}", "true"),
        ("Set(Bool)", "!{true}", "{false}"),
        ("Set(Nat)", "{n: Nat | n < 3}", "{0, 1, 2}"),
        ("Bool", "{n: Nat | n < 3} == {0, 1, 2}", "true"),
        ("Bag(Nat)", "{1: 2, 2: 1} + {1: 1}", "{1: 3, 2: 1}"),
        ("Nat", "count(1, {1: 2} - {1: 1})", "1"),
        ("Bool", "Bag2Set({1: 2, 2: 0}) == {1}", "true"),
        ("Bool", "(lambda x: Nat. x + 1)(2) == 3", "true"),
        ("Nat", "(lambda x: Nat. 0)[1 -> 5][2 -> 6](1)", "5"),
        ("Bool", "(lambda x: Nat. 0)[1 -> 0] == (lambda x: Nat. 0)[2 -> 0]", "true"),
        ("Nat", "x + y whr x = 2, y = 3 end", "5"),
        ("Nat", "if(1 > 2, 7, max(2, 3))", "3"),
        ("Nat", "head([])", "head([])"),
        ("Bool", "succ(2) == 3 && pred(1) == 0 && abs(-3) == 3", "true"),
    ];
    for (sort, expression, expected) in values {
        // Closed lambdas are values of their own unless they stand at one place.
        let text = format!("act a: {sort}; init a({expression});");
        if expression.contains("== (lambda") {
            continue;
        }
        assert_eq!(labels(&text), [format!("a({expected})")], "{expression}");
    }
}

#[test]
fn equations_are_conditional_non_linear_and_curried() {
    let data = "sort T = struct leaf?is_leaf | node(left: T, value: Nat, right: T)?is_node;
        map same: Nat # Nat -> Bool; add: Nat -> Nat -> Nat; sum_: T -> Nat; twice: (Nat -> Nat) # Nat -> Nat; big: Nat -> Bool; five: Nat;
        var n, m: Nat; t, u: T; f: Nat -> Nat;
        eqn same(n, n) = true; n != m -> same(n, m) = false; add(n)(m) = n + m; sum_(leaf) = 0;
            sum_(node(t, n, u)) = sum_(t) + n + sum_(u); twice(f, n) = f(f(n)); n < 10 -> big(n) = false; n >= 10 -> big(n) = true; five = 5;
        act a: Bool; b: Nat;";
    let cases = [
        ("a(same(3, 3))", "a(true)"),
        ("a(same(3, 4))", "a(false)"),
        ("b(add(3)(4))", "b(7)"),
        ("b(twice(add(3), 4))", "b(10)"),
        ("b(sum_(node(node(leaf, 1, leaf), 2, node(leaf, five, leaf))))", "b(8)"),
        ("a(is_leaf(left(node(leaf, 1, leaf))) && big(12))", "a(true)"),
    ];
    for (action, expected) in cases {
        assert_eq!(labels(&format!("{data} init {action};")), [expected], "{action}");
    }
}

#[test]
fn sums_are_enumerated_by_what_bounds_them() {
    let cases = [
        ("sum l: List(Bool). (#l < 3) -> a(#l)", 7),
        ("sum n: Nat. (n < 4) -> a(n)", 4),
        ("sum n, m: Nat. (n + m == 3) -> a(n)", 4),
        ("sum n: Nat. (n in [1, 5, 1]) -> a(n)", 2),
        ("sum n: Nat. (2 <= n && n * n <= 30) -> a(n)", 4),
        ("sum p: P. (fst(p) + snd(p) < 3) -> a(fst(p))", 6),
        ("sum i: Int. (-2 < i && i < 2) -> a(abs(i))", 3),
        ("sum s: Set(Bool). a(#s)", 4),
        ("sum f: Bool -> Bool. (f(true)) -> a(0)", 2),
        ("sum n: Nat. (exists m: Nat. m < 3 && n == 2 * m) -> a(n)", 3),
    ];
    for (process, many) in cases {
        let text = format!("sort P = struct pair(fst: Nat, snd: Nat); act a: Nat; init {process};");
        if process.contains("exists m") {
            // Nothing bounds n from outside of the quantifier.
            assert!(counted(&text).fault.is_some());
            continue;
        }
        assert_eq!(labels(&text).len(), many, "{process}");
    }
}

#[test]
fn operators_follow_the_semantics_of_multi_actions() {
    let cases = [
        ("a || b", 5, 6),
        ("allow({a, b}, a || b)", 5, 5),
        ("block({a}, a || b)", 2, 1),
        ("comm({a|b -> c}, a || b)", 5, 6),
        ("allow({c}, comm({a|b -> c}, a || b))", 3, 2),
        ("hide({a}, a . b)", 4, 3),
        ("rename({a -> b}, allow({a|a}, a || a))", 3, 2),
        ("allow({d}, comm({d'|e' -> d}, (sum n: Nat. d'(n)) || e'(3) . a))", 2, 1),
        ("comm({d'|e' -> d}, d'(1) || e'(2))", 5, 6),
        ("allow({d, d'|e'}, comm({d'|e' -> d}, d'(1)|e'(1)|d'(2)))", 1, 0),
        ("tau || a", 5, 6),
        ("delta", 1, 0),
        ("a . (tau + b) . delta", 3, 3),
    ];
    for (process, states, transitions) in cases {
        let text = format!("act a, b, c; d, d', e': Nat; init {process};");
        let counts = counted(&text);
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{process}");
        agree(&system(&text), 1000, process);
    }
}

#[test]
fn wrong_specifications_are_refused_where_they_are_wrong() {
    refused(
        "act a; init b;",
        expect![[r#"
        1:13: unknown action or process `b`
    "#]],
    );
    refused(
        "act a: Nat; init a(true);",
        expect![[r#"
        1:18: `a` takes Nat, but is given arguments of sort Bool
    "#]],
    );
    refused(
        "sort A = struct c | d; B = struct c | e; act a: Bool; init a(c == c);",
        expect![[r#"
            1:60: `a` with these arguments can be read in more than one way
        "#]],
    );
    refused(
        "map f: Nat -> Bool; var n: Nat; eqn f(n) = n; init delta;",
        expect![[r#"
        1:37: the left side has sort Bool, but the right side has sort Nat
    "#]],
    );
    refused(
        "map f: Nat -> Nat; var n, m: Nat; eqn f(n) = m; init delta;",
        expect![[r#"
        1:39: the variable `m` does not occur on the left side
    "#]],
    );
    refused(
        "act a; proc P = P + a; init P;",
        expect![[r#"
        1:17: the process `P` calls itself before any action
    "#]],
    );
    refused(
        "act a; proc P = a . (P || P); init P;",
        expect![[r#"
        1:21: processes can only be put in parallel at the top: not behind an action, in a choice, or in a process that calls itself
    "#]],
    );
    refused(
        "act a; proc P = a || P; init P;",
        expect![[r#"
        1:22: the process `P` puts itself in parallel without end
    "#]],
    );
    refused(
        "act a; init a@3;",
        expect![[r#"
        1:14: time (`@`) is not supported
    "#]],
    );
    refused(
        "act a; init dist b: Bool[1/2]. a;",
        expect![[r#"
        1:13: probabilities (`dist`) are not supported
    "#]],
    );
    refused(
        "act a; proc P(n: Nat) = a . P(n",
        expect![[r#"
        1:32: expected `)`, but the text ends here
    "#]],
    );
    refused(
        "sort S = S2; S2 = S; init delta;",
        expect![[r#"
        1:10: the sort `S` is defined by itself
        1:19: the sort `S2` is defined by itself
    "#]],
    );
    refused(
        "sort D = struct c(n: D); E = struct e(F) | f(E); F = struct g(E); L = struct l(List(D)); G = struct h(L) | i(G); act a: D; init sum d: D . a(d);",
        expect![[r#"
            1:6: sort `D` has no values: every constructor needs a value of `D`
            1:26: sort `E` has no values: every constructor needs a value of `E` or `F`
            1:50: sort `F` has no values: every constructor needs a value of `E`
        "#]],
    );
    refused(
        "map val: Nat; init delta;",
        expect![[r#"
            1:5: expected a name, but this is `val` (a reserved word)
        "#]],
    );
    refused(
        "init unknown_;",
        expect![[r#"
        1:6: unknown action or process `unknown_`
    "#]],
    );
    refused(
        "",
        expect![[r#"
        1:1: the specification has no initial process
    "#]],
    );
}

/// What is left to run is the same whether a process came to it or it was written out, as in mCRL2's linearisation.
#[test]
fn rows_inside_rows_are_the_same_locations() {
    let counts = counted("act a, b; s: Bool; proc R = R(true) . R(false) . R; R(x: Bool) = a . s(x) . R(x) + b . s(!x); init R;");
    assert_eq!((counts.states, counts.transitions, counts.deadlocks), (4, 6, 0));
}

#[test]
fn endless_things_end() {
    let deep = format!("act a: Bool; init a({}true{});", "(".repeat(5000), ")".repeat(5000));
    let source = Source::new("t", deep.as_str());
    assert!(mcrl2::load(&source).1.has_errors());
    let long = format!("act a; init {};", vec!["a"; 3000].join(" . "));
    assert_eq!(counted(&long).states, 3002);
    let endless = system("map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1); act a: Nat; b; init b . a(f(0));").with_fuel(10_000);
    assert_eq!(explore(&endless, &AlgebraSpace::new(&endless, wide(&endless)), 100).fault.as_deref(), Some("rewriting takes more than 10000 steps"));
    let lists = "map f: List(Nat) -> List(Nat); var l: List(Nat); eqn f(l) = f(l ++ l); act a: List(Nat); b; init b . a(f([1]));";
    let doubling = system(lists).with_fuel(10_000);
    assert_eq!(
        explore(&doubling, &AlgebraSpace::new(&doubling, wide(&doubling)), 100).fault.as_deref(),
        Some("rewriting takes more than 10000 steps")
    );
    let infinite = counted("act a, b: Nat; proc X(n: Nat) = sum m: Nat. a(n) . b(m) . X(n + 1); init X(0);");
    assert_eq!(infinite.fault.as_deref(), Some("a sum or a quantifier has no bound on the values to try"));
    let chain = counted("sort U = struct u; act a: List(U); init sum l: List(U). a(l);");
    assert_eq!(chain.fault.as_deref(), Some("a sum or a quantifier has no bound on the values to try"));
    let pairs = "sort B = struct b(Bool, Bool, Bool, Bool, Bool, Bool); D = struct d(B, B); act a: D; init sum x, y: D. (x != y) -> a(x);";
    let many = system(pairs).with_fuel(10_000);
    assert_eq!(explore(&many, &AlgebraSpace::new(&many, wide(&many)), 100).fault.as_deref(), Some("rewriting takes more than 10000 steps"));
    let nested: Vec<String> = (0..60).map(|number| format!("D{number} = struct d{number}(D{0}, D{0});", number + 1)).collect();
    assert_eq!(counted(&format!("sort {} D60 = struct d; act a: D0; init sum x: D0. a(x);", nested.join(" "))).states, 3);
    let undecided = counted("map f: Nat -> Bool; act a; init f(0) -> a;");
    assert_eq!(undecided.fault.as_deref(), Some("a condition is neither true nor false"));
}

#[test]
fn faults_name_the_action_that_cannot_be_taken() {
    let hidden = "map f: Bool -> Bool; act a, b: Bool; init hide({a}, b(true) + f(true) -> a(true));";
    let joined = "act r, s, c: Nat; init allow({c}, comm({r | s -> c}, (sum n: Nat. r(n)) || (sum n: Nat. s(n))));";
    for (text, rule) in [("map f: Bool -> Bool; act a, b: Bool; init f(true) -> a(true) + b(true);", "a"), (hidden, "tau"), (joined, "c")] {
        let system = system(text);
        let space = AlgebraSpace::new(&system, wide(&system));
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let first = steps.states.clone();
        space.expand(&first, Firing::of(0), &mut steps);
        let named: Vec<String> = steps.faults.iter().map(|fault| system.rule_name(fault.firing.rule)).collect();
        assert!(!named.is_empty() && named.iter().all(|name| name == rule), "{named:?} {text}");
        assert!(space.table_bytes() > 0);
    }
}

/// Both sides of a communication have a sum over the naturals; only one has a condition that bounds it.
#[test]
fn the_side_with_a_condition_is_asked_first() {
    let text = "map known: Nat # List(Nat) -> Bool; var n, m: Nat; l: List(Nat); eqn known(n, []) = false; known(n, m |> l) = n == m || known(n, l);
        act r, s, c, d: Nat; proc T(l: List(Nat)) = sum k: Nat. known(k, l) -> s(k) . T(l) <> delta; I = sum n: Nat. r(n) . d(n) . I;
        init allow({c, d}, comm({s | r -> c}, I || T([3, 5])));";
    let counts = counted(text);
    assert_eq!((counts.states, counts.transitions, counts.fault), (3, 4, None));
    agree(&system(text), 100, "a bounded sum that talks to an unbounded one");
}

/// Both implementations have the same steps in all states, up to so many.
pub(crate) fn agree(system: &System, most: usize, what: &str) {
    let plain = PlainSpace::new(AlgebraSpace::new(system, wide(system)));
    let counts = explore(system, &plain, most);
    assert!(counts.fault.as_ref().is_none_or(|fault| !fault.contains("two implementations")), "{what}");
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/mcrl2")
}

#[test]
fn our_models_are_as_their_headers_say() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).expect("the models are there") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix("% ")?.strip_prefix(name)?.strip_prefix(": "));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let system = system(&text);
        let counts = explore(&system, &AlgebraSpace::new(&system, wide(&system)), 3_000);
        match field("verdict") {
            Some("not found") => assert!(!counts.complete, "{name}"),
            // Larger ones are counted elsewhere.
            _ if !counts.complete => {}
            verdict => {
                let found = format!("{} {} {}", counts.states, counts.transitions, counts.deadlocks);
                let said =
                    format!("{} {} {}", field("states").unwrap_or("?"), field("transitions").unwrap_or("?"), field("deadlocks").unwrap_or("0"));
                if field("states").is_some() {
                    assert_eq!(said, found, "{name}");
                } else {
                    println!("{name}: {found}");
                }
                assert!(counts.fault.is_none(), "{name}");
                assert!(verdict != Some("violated") || counts.deadlocks > 0, "{name}");
            }
        }
        agree(&system, 25, &name);
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} models were found");
}

/// A specification of a few components that send and receive numbers, from a seed.
pub(crate) fn generated(rng: &mut Rng) -> String {
    let mut pick = |list: &[&str]| list[rng.below(list.len() as u64) as usize].to_string();
    let mut processes = String::new();
    for process in 0..3 {
        let mut summands = Vec::new();
        for _ in 0..3 {
            let sum = pick(&["", "sum m: Nat. (m < 3) -> ", "sum m: Nat. ", "sum b: Bool. ", "(n < 2) -> ", "sum m: Nat. (m < 2 && m != n) -> "]);
            let argument = if sum.contains("m: Nat") { pick(&["m", "n", "m"]) } else { pick(&["n", "(n + 1) mod 3", "1"]) };
            // A sum without a bound must receive.
            let action = if sum == "sum m: Nat. " {
                pick(&["r(m)", "r'(m)", "r(m)|x(1)"])
            } else {
                pick(&["s(A)", "s'(A)", "x(A)", "r(A)", "s(A)|x(n)"]).replace('A', &argument)
            };
            let next = pick(&["P0(A)", "P1(A)", "P2(n)", "x(A) . P1(n)", "(A == 1) -> P0(n) <> P1(A)", "(x(0) + s(A)) . P2(A)", "delta"])
                .replace('A', &argument);
            summands.push(format!("{sum}{action} . {}", if next.contains("->") { format!("({next})") } else { next }));
        }
        processes.push_str(&format!("P{process}(n: Nat) = {};\n", summands.join(" + ")));
    }
    let inner = pick(&["P0(0) || P1(1)", "P0(0) || P1(1) || P2(2)", "hide({x}, P0(0) || P2(0)) || P1(1)", "rename({x -> y}, P0(1)) || P2(0)"]);
    let body = pick(&[
        "allow({c, c', x, y, c|x, x|c}, comm({r|s -> c, r'|s' -> c'}, I))",
        "hide({c}, allow({c, c', x}, comm({r|s -> c, r'|s' -> c'}, I)))",
        "block({r, s, r', s'}, comm({r|s -> c, r'|s' -> c'}, I))",
        "comm({r|s -> c}, block({s'}, I))",
        "rename({c -> x}, block({r, s}, hide({x}, comm({r|s -> c, r'|s' -> c'}, I))))",
        "allow({x, s|x, c|x|x, c}, comm({r|s -> c}, I))",
    ]);
    format!("act r, s, c, r', s', c', x, y: Nat;\nproc {processes}init {};", body.replace('I', &inner))
}

#[test]
fn generated_specifications_are_the_same_in_both_implementations() {
    let mut rng = Rng::new(22, "mcrl2");
    let mut states = 0;
    for number in 0..100 {
        let text = generated(&mut rng);
        // Sums without a bound are soon given up.
        let system = system(&text).with_fuel(2_000);
        let plain = PlainSpace::new(AlgebraSpace::new(&system, wide(&system)));
        let counts = explore(&system, &plain, 60);
        let disagree = counts.fault.as_ref().is_some_and(|fault| fault.contains("two implementations"));
        assert!(!disagree, "specification {number}:\n{text}");
        states += counts.states;
    }
    assert!(states > 600, "the specifications do next to nothing: {states} states in all");
}

#[test]
fn any_text_can_be_read() {
    let mut rng = Rng::new(23, "mcrl2 mutations");
    for entry in std::fs::read_dir(folder()).expect("the models are there") {
        let text = std::fs::read_to_string(entry.expect("readable").path()).expect("text");
        for _ in 0..5 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + rng.below(4) {
                let (at, other) = (rng.below(bytes.len() as u64) as usize, rng.below(bytes.len() as u64) as usize);
                match rng.below(3) {
                    0 => bytes[at] = bytes[other],
                    1 => drop(bytes.drain(at.min(other)..at.min(other) + at.abs_diff(other).min(9))),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            let source = Source::from_bytes("mutated.mcrl2", &bytes);
            let (specification, diagnostics) = mcrl2::load(&source);
            diagnostics.render(&source, false);
            if let Some(Ok(system)) = specification.map(System::new) {
                let system = system.with_fuel(20_000);
                explore(&system, &AlgebraSpace::new(&system, wide(&system)), 5);
            }
        }
    }
}

#[test]
fn counts_are_those_of_the_mcrl2_tools() {
    let Some(corpus) = std::env::var_os("WAYFARER_CORPUS").map(|folder| PathBuf::from(folder).join("mcrl2")) else {
        println!("not run: WAYFARER_CORPUS does not name a folder with mcrl2/reference.json");
        return;
    };
    let reference = std::fs::read_to_string(corpus.join("reference.json")).expect("the reference is there");
    let reference: serde_json::Value = serde_json::from_str(&reference).expect("JSON");
    let (mut same, mut complete) = (0, 0);
    for (file, facts) in reference.as_object().expect("an object") {
        let bytes = std::fs::read(corpus.join(file)).expect("the specification is there");
        let source = Source::from_bytes(file, &bytes);
        let (specification, diagnostics) = mcrl2::load(&source);
        let refused = diagnostics.iter().any(|found| found.message.contains("not supported"));
        assert!(specification.is_some() || refused, "{}", diagnostics.render(&source, false));
        let known = &facts["jitty"];
        if known["complete"] != true {
            continue;
        }
        complete += 1;
        let system =
            specification.map(|specification| System::new(specification).unwrap_or_else(|wrong| panic!("{file}: {wrong:?}"))).expect("typed");
        let counts = explore(&system, &AlgebraSpace::new(&system, wide(&system)), 200_000);
        if counts.states < 2_000 {
            let lazy = crate::mcrl2_together::without_vectors(&String::from_utf8_lossy(&bytes));
            let other = explore(&lazy, &AlgebraSpace::new(&lazy, wide(&lazy)), 200_000);
            assert_eq!((other.states, other.transitions), (counts.states, counts.transitions), "{file} without vectors");
        }
        let found = (counts.states as u64, counts.transitions as u64, counts.deadlocks as u64);
        let number = |name: &str| known[name].as_u64().unwrap_or(0);
        let expected = (number("states"), number("transitions"), number("deadlocks"));
        if found == expected && counts.fault.is_none() {
            same += 1;
        } else {
            println!("{file}: expected {expected:?}, found {found:?} {:?}", counts.fault);
        }
    }
    println!("{same} of {complete} have the same counts");
    assert!(same == 64 && complete == 64, "{same} of {complete}");
}
