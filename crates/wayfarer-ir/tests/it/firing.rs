//! The results of firings, start states and properties.

use crate::{interpreter, program};
use wayfarer_ir::{At, Interpreter, Limits};
use wayfarer_space::{Completeness, Fault, Fired, Firing, PropertyBits, Rng, Space, States, Steps};

/// One variable `x` of four bits, with padding above it. Rule `add` adds its parameter (1, 3 or 5); `other` faults, discards, covers or prints by `x`.
const SMALL: &str = r#"(program "s" (words 1)
  (type t0 (scalar (bits 4) (low 0) (count 16)))
  (variable "x" t0 (offset 0) (at 0 0))
  (fault !0 violation error (at 0 0) "") (fault !1 limit endless (at 0 0) "")
  (start "s" (at 0 0) (parameter "v" t0 (from 0) (by 4) (count 4))
    (guard (registers 1) (ne r0 4))
    (command (registers 1) (frame 0) (check !0 (ne r0 8)) (store 4 (state 0) r0)))
  (rule "add" (at 0 0) (parameter "i" t0 (from 1) (by 2) (count 3))
    (guard (registers 1) (lt (load 4 (state 0)) 9))
    (command (registers 1) (frame 0) (store 64 (state 0) (add (load 64 (state 0)) (add r0 256)))))
  (rule "other" (at 0 0)
    (guard (registers 0) (checked-div !0 6 (sub 2 (load 4 (state 0)))))
    (command (registers 0) (frame 0)
      (cover p2)
      (print "x is " (value t0 (load 4 (state 0))) (value t0 (non-zero !0 0)))
      (if ((eq (load 4 (state 0)) 3) (discard)) ((eq (load 4 (state 0)) 4) (fail !1)) (else))
      (store 4 (state 0) (sub (load 4 (state 0)) 1))
      (print "now " (place t0 (state 0)))))
  (property p0 "below" always (at 0 0) (registers 0) (conjunct (at 3 4) (lt (load 4 (state 0)) 9)) (conjunct (at 5 6) (checked-div !0 6 (load 4 (state 0)))))
  (property p1 "assumed" assumption (at 0 0) (registers 0) (conjunct (at 0 0) (lt (load 64 (state 0)) 11)))
  (property p2 "covered" reachable (at 0 0) (registers 0) (conjunct (at 0 0) (eq (load 4 (state 0)) 7))))"#;

fn expand(space: &Interpreter, x: u64, from: Firing) -> Steps {
    let (mut batch, mut steps) = (States::new(space.width()), Steps::new(space.width()));
    batch.push(&[x]);
    assert_eq!(space.expand(&batch, from, &mut steps), Completeness::All);
    steps
}

fn targets(steps: &Steps) -> Vec<(u32, u64)> {
    steps.firings.iter().zip(steps.states.iter()).map(|(firing, state)| (firing.rule, state[0])).collect()
}

#[test]
fn start_states_have_guards_faults_and_assumptions() {
    let space = interpreter(SMALL);
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    assert_eq!(targets(&steps), [(0, 0)]);
    assert_eq!(steps.faults.iter().map(|step| (step.firing.rule, step.fault)).collect::<Vec<_>>(), [(2, Fault(0))]);
    assert_eq!(steps.discarded, 1);
    let (mut out, mut printed) = (Vec::new(), Vec::new());
    let ends: Vec<Fired> = (0..5).map(|start| space.start_printing(start, &mut out, &mut printed)).collect();
    assert_eq!(ends, [Fired::To, Fired::Disabled, Fired::Fault(Fault(0)), Fired::Discarded, Fired::Disabled]);
}

#[test]
fn expansion_keeps_the_order_and_the_counts() {
    let space = interpreter(SMALL);
    assert_eq!((space.rules(), space.properties()), (4, 3));
    // Padding bits that a command writes are zeroed before anything looks at the state.
    let steps = expand(&space, 1, Firing::of(0));
    assert_eq!(targets(&steps), [(0, 2), (1, 4), (2, 6), (3, 0)]);
    assert_eq!((steps.enabled.as_slice(), steps.reached.contains(2)), ([4].as_slice(), true));
    // The guard of `other` faults; the assumption discards 8 + 3 and 8 + 5.
    let steps = expand(&space, 2, Firing::of(0));
    assert_eq!((steps.len(), steps.faults.len(), steps.enabled[0], steps.reached.is_empty()), (3, 1, 4, true));
    let steps = expand(&space, 8, Firing::of(0));
    assert_eq!((targets(&steps), steps.discarded, steps.enabled[0]), (vec![(0, 9), (3, 7)], 2, 4));
    // A discarded firing covers nothing; one that faults does.
    let steps = expand(&space, 3, Firing::of(0));
    assert_eq!((steps.discarded, steps.reached.is_empty()), (1, true));
    let steps = expand(&space, 4, Firing::of(0));
    assert_eq!((steps.faults[0].fault, steps.reached.contains(2)), (Fault(1), true));
    // 6 / (2 - 9) is 0: nothing is enabled.
    let steps = expand(&space, 9, Firing::of(0));
    assert_eq!((steps.len(), steps.enabled[0]), (0, 0));
}

#[test]
fn expansion_can_begin_later() {
    let space = interpreter(SMALL);
    assert_eq!(targets(&expand(&space, 1, Firing::of(2))), [(2, 6), (3, 0)]);
    assert_eq!(targets(&expand(&space, 1, Firing { rule: 2, outcome: 1 })), [(3, 0)]);
    assert_eq!(targets(&expand(&space, 1, Firing::of(9))), []);
}

#[test]
fn rules_that_do_not_exist_are_disabled() {
    let space = interpreter(SMALL);
    let mut out = Vec::new();
    assert_eq!(space.fire(&[1], Firing::of(4), &mut out), Fired::Disabled);
    assert_eq!(space.fire(&[1], Firing { rule: 0, outcome: 1 }, &mut out), Fired::Disabled);
    assert_eq!(space.failing_conjunct(9, &[1]), None);
}

#[test]
fn properties_are_all_judged() {
    let space = interpreter(SMALL);
    let judge = |x: u64| {
        let mut bits = PropertyBits::default();
        let result = space.check(&[x], &mut bits);
        (result, bits.iter().collect::<Vec<u32>>(), space.failing_conjunct(0, &[x]))
    };
    assert_eq!(judge(5), (Ok(()), vec![], None));
    // 6 / 7 is 0: the second conjunct fails, and `covered` is reached.
    assert_eq!(judge(7), (Ok(()), vec![0, 2], Some((1, At { line: 5, column: 6 }))));
    assert_eq!(judge(12), (Ok(()), vec![0], Some((0, At { line: 3, column: 4 }))));
    assert_eq!(judge(0), (Err((0, Fault(0))), vec![], Some((1, At { line: 5, column: 6 }))));
    assert!(space.asks_to_reach(2) && !space.asks_to_reach(0) && !space.asks_to_reach(1));
}

#[test]
fn printing_tells_and_changes_nothing() {
    let space = interpreter(SMALL);
    let (mut out, mut printed) = (Vec::new(), Vec::new());
    assert_eq!(space.fire_printing(&[5], Firing::of(3), &mut out, &mut printed), Fired::To);
    assert_eq!((out, printed), (vec![4], vec!["x is 5?".to_string(), "now 4".to_string()]));
}

#[test]
fn samples_are_uniform_over_what_is_enabled() {
    // 40,000 draws over 4 firings: the chi-square statistic of 3 degrees exceeds 21.1 with odds 10^-4; the seed is fixed.
    let space = interpreter(SMALL);
    let mut rng = Rng::new(1, "sample");
    let (mut counts, mut out) = ([0f64; 4], Vec::new());
    for _ in 0..40_000 {
        let (firing, fired) = space.sample(&[2], &mut rng, &mut out).unwrap();
        assert_eq!(fired, if firing.rule == 3 { Fired::Fault(Fault(0)) } else { Fired::To });
        counts[firing.rule as usize] += 1.0;
    }
    let chi: f64 = counts.iter().map(|count| (count - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi < 21.1, "chi-square {chi}");
    assert_eq!(space.sample(&[9], &mut rng, &mut out), None);
}

#[test]
fn deep_calls_through_deep_trees_need_no_deep_stack() {
    // Every call descends through as many levels as the verifier allows, of every kind, and calls from the innermost one.
    let nest = |open: &str, close: &str, levels: usize, inner: &str| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
    let call = "(call f0 !0 0)";
    let value = |expr: String| format!("(return {expr})");
    for body in [
        value(nest("(add 1 ", ")", 295, call)),
        value(nest("(all ", ")", 295, call)),
        value(nest("(load 1 (state 0 (", " 1 1 !0)))", 295, call)),
        value(nest("(call f0 !0 ", ")", 295, call)),
        value(nest("(for-sum r1 0 ", " 1 !0 1)", 295, call)),
        nest("(if (else ", "))", 290, &format!("(do {call})")),
        nest("(while !0 1 ", ")", 290, &format!("(do {call})")),
    ] {
        let source = format!(
            r#"(program "d" (words 1) (fault !0 limit endless (at 0 0) "")
              (function f0 "f" (at 0 0) (parameters value) (result !0) (body (registers 2) (frame 0) {body}))
              (rule "r" (at 0 0) (guard (registers 0) {call}) (command (registers 0) (frame 0))))"#
        );
        let space = Interpreter::new(program(&source), Limits::default());
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let fired = thread.spawn(move || space.fire(&[0], Firing::of(0), &mut Vec::new())).unwrap().join().unwrap();
        assert_eq!(fired, Fired::Fault(Fault(0)), "{body}");
    }
}

#[test]
fn frames_together_are_bounded() {
    let source = r#"(program "f" (words 1) (fault !0 limit endless (at 0 0) "")
      (function f0 "f" (at 0 0) (parameters value) (no-result !0)
        (body (registers 1) (frame 100) (if (r0 (do (call f0 !0 (sub r0 1)))) (else))))
      (type t0 (scalar (bits 8) (low 0) (count 256)))
      (rule "r" (at 0 0) (parameter "i" t0 (from 8) (by 1) (count 2)) (guard (registers 1) 1) (command (registers 1) (frame 50) (do (call f0 !0 r0)))))"#;
    let space = Interpreter::new(program(source), Limits { frame_words: 950, ..Limits::default() });
    let ends = [0, 1].map(|rule| space.fire(&[0], Firing::of(rule), &mut Vec::new()));
    assert_eq!(ends, [Fired::To, Fired::Fault(Fault(0))]);
}
