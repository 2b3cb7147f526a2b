//! States that are passed through, levels of rules, and ends.

use crate::{interpreter, program};
use wayfarer_ir::passing::Passing;
use wayfarer_space::{Fault, Fired, Firing, Rng, Space, States, Steps};

/// A number of four bits beside a passing field of one bit. `begin` leads from 0 to 1 and passes; `go` and `jump` lead on from a passing state, `rest` ends the
/// passing at 3. `late` has a larger level. State 9 may be the last.
const PASSING: &str = r#"(program "s" (words 1)
  (type t0 (scalar (bits 4) (low 0) (count 16)))
  (type t1 (scalar (bits 1) (low 0) (count 2)))
  (variable "x" t0 (offset 0) (at 0 0))
  (variable "on" t1 (offset 4) (at 0 0))
  (fault !0 violation endless (at 0 0) "endless")
  (levels 0 0 0 0 1 0)
  (passing (offset 4) (bits 1) !0)
  (ends (registers 0) (eq (load 4 (state 0)) 9))
  (start "s" (at 0 0) (guard (registers 0) 1) (command (registers 0) (frame 0)))
  (rule "begin" (at 0 0) (guard (registers 0) (eq (load 5 (state 0)) 0)) (command (registers 0) (frame 0) (store 5 (state 0) 17)))
  (rule "go" (at 0 0) (guard (registers 0) (eq (load 5 (state 0)) 17)) (command (registers 0) (frame 0) (store 5 (state 0) 18)))
  (rule "jump" (at 0 0) (guard (registers 0) (eq (load 5 (state 0)) 17)) (command (registers 0) (frame 0) (store 5 (state 0) 20)))
  (rule "rest" (at 0 0) (guard (registers 0) (eq (load 5 (state 0)) 18)) (command (registers 0) (frame 0) (store 5 (state 0) 3)))
  (rule "late" (at 0 0) (guard (registers 0) (any (eq (load 5 (state 0)) 0) (eq (load 5 (state 0)) 4))) (command (registers 0) (frame 0) (store 5 (state 0) 9)))
  (rule "spin" (at 0 0) (guard (registers 0) (any (eq (load 5 (state 0)) 3) (eq (load 5 (state 0)) 21))) (command (registers 0) (frame 0) (store 5 (state 0) 21))))"#;

fn expand(space: &dyn Space, state: u64, from: Firing) -> Steps {
    let (mut batch, mut steps) = (States::new(space.width()), Steps::new(space.width()));
    batch.push(&[state]);
    space.expand(&batch, from, &mut steps);
    steps
}

fn ways(steps: &Steps) -> Vec<(u32, u32, u64)> {
    steps.firings.iter().zip(steps.states.iter()).map(|(firing, state)| (firing.rule, firing.outcome, state[0])).collect()
}

#[test]
fn passing_states_are_no_states_and_each_way_through_them_is_a_step() {
    let inner = interpreter(PASSING);
    let field = program(PASSING).passing.unwrap();
    let space = Passing::new(&inner, field);
    // One way rests at 3. The other blocks at 4, where the field is cleared. `late` waits for `begin`.
    let steps = expand(&space, 0, Firing::of(0));
    assert_eq!(ways(&steps), [(0, 0, 3), (0, 1, 4)]);
    assert_eq!(steps.enabled, [2]);
    let steps = expand(&space, 0, Firing { rule: 0, outcome: 1 });
    assert_eq!(ways(&steps), [(0, 1, 4)]);
    let mut out = Vec::new();
    assert_eq!(space.fire(&[0], Firing { rule: 0, outcome: 1 }, &mut out), Fired::To);
    assert_eq!(out, [4]);
    assert_eq!(space.fire(&[0], Firing { rule: 0, outcome: 2 }, &mut out), Fired::Disabled);
    let way: Vec<u32> = space.way(&[0], Firing { rule: 0, outcome: 0 }).unwrap().iter().map(|(firing, _)| firing.rule).collect();
    assert_eq!(way, [0, 1, 3]);
}

#[test]
fn passing_without_end_is_a_fault() {
    let inner = interpreter(PASSING);
    let space = Passing::new(&inner, program(PASSING).passing.unwrap());
    let steps = expand(&space, 3, Firing::of(0));
    assert!(steps.is_empty());
    assert_eq!(steps.faults.len(), 1);
    assert_eq!(steps.faults[0].fault, Fault(0));
}

#[test]
fn a_rule_waits_for_those_of_a_smaller_level() {
    let inner = interpreter(PASSING);
    let mut out = Vec::new();
    assert_eq!(inner.fire(&[0], Firing::of(4), &mut out), Fired::Disabled);
    assert_eq!(inner.fire(&[4], Firing::of(4), &mut out), Fired::To);
    assert_eq!(ways(&expand(&inner, 0, Firing::of(0))), [(0, 0, 17)]);
    assert_eq!(ways(&expand(&inner, 0, Firing::of(1))), []);
}

#[test]
fn samples_are_drawn_from_all_ways() {
    let inner = interpreter(PASSING);
    let space = Passing::new(&inner, program(PASSING).passing.unwrap());
    let mut rng = Rng::new(7, "test");
    let mut out = Vec::new();
    let mut met = [false; 2];
    // The odds that one of two equal ways is missing in 40 draws are below one in 10^11.
    for _ in 0..40 {
        let (firing, fired) = space.sample(&[0], &mut rng, &mut out).unwrap();
        assert_eq!(fired, Fired::To);
        met[firing.outcome as usize] = true;
    }
    assert_eq!(met, [true; 2]);
}

#[test]
fn some_states_may_be_the_last() {
    let inner = interpreter(PASSING);
    assert!(inner.may_end(&[9]) && !inner.may_end(&[4]));
}
