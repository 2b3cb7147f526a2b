//! mCRL2 without `allow`: components act together in as many ways as there are, and steps are found without listing them beforehand.

use crate::mcrl2::{agree, explore, generated, system, wide};
use std::collections::{BTreeSet, HashSet, VecDeque};
use wayfarer_algebra::{AlgebraSpace, ComponentState, FrameState, PlainSpace, System};
use wayfarer_lang::mcrl2;
use wayfarer_lang::source::Source;
use wayfarer_space::{Completeness, Fired, Firing, Rng, Space, States, Steps};

/// Sums without a bound are soon given up.
const FUEL: u64 = 500;

pub(crate) fn without_vectors(text: &str) -> System {
    let (specification, _) = mcrl2::load(&Source::new("t.mcrl2", text));
    System::without_vectors(specification.expect("typed")).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"))
}

/// The steps of the first states, as labels and targets in order.
fn transitions(system: &System, most: usize) -> Vec<String> {
    let space = AlgebraSpace::new(system, wide(system));
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let first = steps.states.get(0).to_vec();
    let (mut seen, mut queue, mut all) = (HashSet::from([first.clone()]), VecDeque::from([first]), Vec::new());
    while let Some(state) = queue.pop_front() {
        let mut batch = States::new(space.width());
        batch.push(&state);
        assert_eq!(space.expand(&batch, Firing::of(0), &mut steps), Completeness::All);
        let shown = |words: &[u64]| {
            let component = |component: ComponentState| {
                let frame = |frame: &FrameState| format!("{}:{}{:?}", frame.process, frame.place.start, frame.variables);
                component.frames.iter().map(frame).collect::<String>()
            };
            space.show(words).into_iter().map(component).collect::<Vec<_>>().join(" ")
        };
        let labels = space.labels(&state);
        let mut found: Vec<(String, String, &[u64])> = steps.states.iter().zip(labels).map(|(next, label)| (shown(next), label, next)).collect();
        found.sort();
        all.push(format!("{}, faulty: {}", shown(&state), !steps.faults.is_empty()));
        for (to, label, next) in found {
            all.push(format!("  {label} to {to}"));
            if seen.len() < most && seen.insert(next.to_vec()) {
                queue.push_back(next.to_vec());
            }
        }
    }
    all
}

/// Both find the same steps.
fn same(one: &System, other: &System, most: usize, what: &str) -> usize {
    let (one, other) = (transitions(one, most), transitions(other, most));
    if let Some(at) = one.iter().zip(&other).position(|(one, other)| one != other) {
        panic!("{what}\n{:?}\n{:?}", &one[at.saturating_sub(1)..=at], &other[at.saturating_sub(1)..=at]);
    }
    assert_eq!(one.len(), other.len(), "{what}");
    one.len()
}

#[test]
fn steps_are_the_same_with_and_without_vectors() {
    let mut rng = Rng::new(24, "mcrl2 together");
    let mut found = 0;
    for number in 0..60 {
        let text = generated(&mut rng);
        found += same(&system(&text).with_fuel(FUEL), &without_vectors(&text).with_fuel(FUEL), 12, &format!("specification {number}:\n{text}"));
    }
    assert!(found > 400, "the specifications do next to nothing: {found} steps in all");
}

#[test]
fn steps_without_vectors_are_those_of_the_plain_semantics() {
    let mut rng = Rng::new(25, "mcrl2 together");
    for number in 0..40 {
        let text = generated(&mut rng);
        agree(&without_vectors(&text).with_fuel(FUEL), 15, &format!("specification {number}:\n{text}"));
    }
    let cases = [
        "comm({d'|e' -> d}, d'(1) || e'(2) || (sum n: Nat. (n < 3) -> e'(n)))",
        "comm({d'|e' -> d}, d'(1)|d'(2) || e'(2) || (sum n: Nat. (n < 3) -> e'(n)|e'(n)))",
        "block({d', e'}, comm({d'|e' -> d}, d'(1)|d'(2) || (sum n: Nat. e'(n)) || (sum n: Nat. e'(n) . a)))",
        "hide({d}, rename({b -> a}, comm({a|b -> c}, a || b || a|b || d(1) || tau)))",
        "allow({a, a|c, c|c}, comm({a|b|b -> c}, a || b || b || a || b))",
        "block({a}, comm({a|a -> c}, a || a || a || a . b))",
        "comm({c|b -> a}, block({a, b}, comm({a|b -> c}, a . a || b || a)) || b . b)",
    ];
    for case in cases {
        let text = format!("act a, b, c; d, d', e': Nat; init {case};");
        agree(&without_vectors(&text), 300, case);
        same(&system(&text).with_fuel(FUEL), &without_vectors(&text), 300, case);
    }
}

#[test]
fn many_components_act_together() {
    // Each of ten components does one action, alone or with others: 2^10 states and 3^10 - 2^10 steps, one more for the end.
    let ten = system(&format!("act a; init {};", ["a"; 10].join(" || ")));
    let counts = explore(&ten, &AlgebraSpace::new(&ten, wide(&ten)), 10_000);
    assert_eq!((counts.states, counts.transitions), ((1 << 10) + 1, 59_049 - 1024 + 1));
    // The first of twenty has 2^20 - 1 steps.
    let twenty = system(&format!("act a; init {};", ["a"; 20].join(" || ")));
    let space = AlgebraSpace::new(&twenty, wide(&twenty));
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut batch = States::new(space.width());
    batch.push(steps.states.get(0).to_vec().as_slice());
    assert_eq!(space.expand(&batch, Firing::of(0), &mut steps), Completeness::All);
    assert_eq!(steps.len(), (1 << 20) - 1);
}

#[test]
fn a_ring_of_twenty_communicates_by_values() {
    // A token goes round; all can send and receive, and names alone would allow many pairs of senders and receivers.
    let member = |number: usize| format!("P({number}, {})", number == 0);
    let members: Vec<String> = (0..20).map(member).collect();
    let text = format!(
        "act r, s, c: Nat; proc P(i: Nat, t: Bool) = t -> s((i + 1) mod 20) . P(i, false) + (!t) -> sum n: Nat. (n == i) -> r(n) . P(i, true);\n\
         init block({{r, s}}, comm({{r|s -> c}}, {}));",
        members.join(" || ")
    );
    let system = system(&text);
    let counts = explore(&system, &AlgebraSpace::new(&system, wide(&system)), 10_000);
    assert_eq!((counts.states, counts.transitions), (20, 20));
    let rules: BTreeSet<String> = (0..system.rule_count()).map(|rule| system.rule_name(rule)).collect();
    assert!(rules.contains("c") && rules.contains("several actions") && !rules.contains("r"), "{rules:?}");
}

#[test]
fn too_many_steps_are_cut_and_not_passed_over() {
    // Without vectors, and with them.
    cuts(&system(&format!("act a; init {};", ["a"; 40].join(" || "))));
    cuts(&system("act a: Nat; proc P = sum m: Nat. (m < 150) -> a(m) . P; init allow({a|a|a}, P || P || P);"));
}

fn cuts(system: &System) {
    let space = AlgebraSpace::new(system, wide(system));
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut batch = States::new(space.width());
    batch.push(steps.states.get(0).to_vec().as_slice());
    assert!(matches!(space.expand(&batch, Firing::of(0), &mut steps), Completeness::Cut(_)));
}

/// The values that were found before a sum was given up are not combined with those of other components: there would be very many.
#[test]
fn sums_without_a_bound_offer_nothing() {
    let text = "act a: Nat; b; proc P = sum m: Nat. a(m) . P + b . P; init P || P || P;";
    let system = system(text).with_fuel(5_000);
    let counts = explore(&system, &AlgebraSpace::new(&system, wide(&system)), 5);
    assert!(counts.fault.is_some());
    // One, two or three of them do `b`.
    assert_eq!((counts.states, counts.transitions), (1, 7));
}

/// Witnesses are replayed step by step. The plain semantics then looks at those components only that take part, because all steps would be too many.
#[test]
fn steps_of_many_components_are_replayed() {
    let text = format!(
        "act a, b, c: Nat; proc P(n: Nat) = sum m: Nat. (m < 2) -> a(n + m) . P(n) + b(n) . c(n) . delta; init comm({{a|b -> c}}, {});",
        (0..9).map(|number| format!("P({number})")).collect::<Vec<_>>().join(" || ")
    );
    let system = system(&text);
    let fast = AlgebraSpace::new(&system, wide(&system));
    let mut rng = Rng::new(26, "mcrl2 replay");
    let mut steps = Steps::new(fast.width());
    fast.initial(&mut steps);
    let state = steps.states.get(0).to_vec();
    let plain = PlainSpace::new(AlgebraSpace::new(&system, wide(&system)));
    let mut batch = States::new(fast.width());
    batch.push(&state);
    fast.expand(&batch, Firing::of(0), &mut steps);
    for _ in 0..5 {
        let chosen = rng.below(steps.len() as u64) as usize;
        let mut next = Vec::new();
        assert_eq!(plain.fire(&state, steps.firings[chosen], &mut next), Fired::To);
        assert_eq!(next, steps.states.get(chosen));
    }
}
