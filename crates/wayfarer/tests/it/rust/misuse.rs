//! Models that break the rules for models.

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use wayfarer::prelude::*;

/// A counter up to ten whose parts can be told to go wrong.
#[derive(Default)]
struct Counter {
    next_panics_at: Option<u8>,
    actions_panic_at: Option<u8>,
    judging_panics_at: Option<u8>,
    initial_panics: bool,
}

#[derive(Clone, Debug, PartialEq, Packed, Serialize, Deserialize)]
struct Count {
    #[packed(range = 0..=9)]
    value: u8,
}

#[derive(Debug)]
enum Step {
    Up,
    Down,
}

impl Model for Counter {
    type State = Count;
    type Action = Step;

    fn initial(&self) -> Vec<Count> {
        assert!(!self.initial_panics, "no beginning");
        vec![Count { value: 0 }]
    }

    fn actions(&self, state: &Count, actions: &mut Vec<Step>) {
        assert!(self.actions_panic_at != Some(state.value), "no actions here");
        actions.extend([Step::Up, Step::Down]);
    }

    fn next(&self, state: &Count, action: &Step) -> Option<Count> {
        assert!(self.next_panics_at != Some(state.value) || matches!(action, Step::Down), "cannot go up from {}", state.value);
        match action {
            Step::Up => Some(Count { value: state.value + 1 }).filter(|_| self.next_panics_at.is_none() || state.value < 9),
            Step::Down => state.value.checked_sub(1).map(|value| Count { value }),
        }
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.always("fine", |model, state| {
            assert!(model.judging_panics_at != Some(state.value), "cannot judge this");
            true
        });
    }
}

#[test]
fn a_panic_in_next_is_a_fault_with_its_witness() {
    for planned in [Plan::packed, Plan::by_serde].map(|plan| plan(Counter { next_panics_at: Some(3), ..Counter::default() })) {
        for strategy in ["bfs", "dfs", "walk"] {
            let report = planned.clone().strategy(strategy).run().unwrap();
            report.assert_violated("cannot go up from 3");
            let violation = &report.violations[0];
            assert_eq!((violation.kind.word(), violation.detail.as_deref()), ("fault", Some("in rule Up")));
            assert!(violation.at.contains("misuse.rs:"), "{}", violation.at);
            let witness = violation.witness.as_ref().unwrap();
            assert_eq!(witness.length, 4);
            assert!(witness.steps[3].fault.as_ref().unwrap().contains("cannot go up from 3"));
        }
    }
}

#[test]
fn panics_elsewhere_are_faults_too() {
    for (counter, message, length) in [
        (Counter { actions_panic_at: Some(2), ..Counter::default() }, "no actions here", Some(3)),
        (Counter { judging_panics_at: Some(2), ..Counter::default() }, "cannot judge this", Some(2)),
        (Counter { initial_panics: true, ..Counter::default() }, "no beginning", Some(0)),
    ] {
        let report = Plan::packed(counter).run().unwrap();
        report.assert_violated(message);
        assert_eq!(report.violations[0].witness.as_ref().map(|witness| witness.length), length, "{report}");
    }
}

#[test]
fn a_value_outside_of_its_range_is_a_fault() {
    let report = Plan::packed(Counter::default()).run().unwrap();
    report.assert_violated("`value` is 10, outside of its range 0 to 9");
    assert_eq!(report.violations[0].witness.as_ref().unwrap().length, 10);
    // The location is that of the type, not of the code that packs it.
    assert!(report.violations[0].at.contains("misuse.rs:17:"), "{}", report.violations[0].at);
}

/// A random walk that rolls its own dice.
struct Dice(AtomicU32);

impl Model for Dice {
    type State = u32;
    type Action = ();

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, _: &u32, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &u32, (): &()) -> Option<u32> {
        Some((state + self.0.fetch_add(1, Ordering::Relaxed)) % 1000)
    }
}

#[test]
fn a_next_that_is_not_deterministic_is_named() {
    for planned in [Plan::packed(Dice(AtomicU32::new(0))), Plan::by_serde(Dice(AtomicU32::new(0)))] {
        let error = planned.run().unwrap_err().to_string();
        assert!(error.starts_with("`next` is not deterministic: in the state 0 the action () led to two different states (state: "), "{error}");
    }
}

/// A late liar: `next` changes its answer only after the vetting at the beginning, and only at a violation.
struct Liar(AtomicU32);

impl Model for Liar {
    type State = u32;
    type Action = ();

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, _: &u32, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &u32, (): &()) -> Option<u32> {
        let lies = *state == 1000 && self.0.fetch_add(1, Ordering::Relaxed) == 0;
        Some(if lies { 5000 } else { (state + 1) % 2000 })
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.always("small", |_, state| *state < 5000);
    }
}

#[test]
fn a_violation_that_does_not_happen_again_is_not_reported_as_one() {
    let error = Plan::packed(Liar(AtomicU32::new(0))).run().unwrap_err();
    assert!(matches!(error, RunError::NotRepeated(_)), "{error:?}");
    assert!(error.to_string().contains("does not happen again"), "{error}");
}

/// States with parts that have no order of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Unordered {
    round: u8,
    votes: HashMap<u8, bool>,
    seen: HashSet<u8>,
}

struct Voting {
    set: bool,
}

impl Model for Voting {
    type State = Unordered;
    type Action = u8;

    fn initial(&self) -> Vec<Unordered> {
        vec![Unordered { round: 0, votes: HashMap::new(), seen: HashSet::new() }]
    }

    fn actions(&self, _: &Unordered, actions: &mut Vec<u8>) {
        actions.extend(0..12);
    }

    fn next(&self, state: &Unordered, action: &u8) -> Option<Unordered> {
        let mut next = state.clone();
        if self.set {
            next.seen.insert(*action);
        } else {
            next.votes.insert(*action, true);
        }
        Some(next)
    }
}

#[test]
fn a_map_without_an_order_is_named() {
    // Each of a dozen more elements at least halves the odds that the orders agree by chance; a run has hundreds of
    // such states.
    for (set, field) in [(false, "`votes`"), (true, "`seen`")] {
        for strategy in ["auto", "walk"] {
            let error = Plan::new(Voting { set }).strategy(strategy).deadlock("off").steps(10_000u64).run().unwrap_err().to_string();
            assert!(error.contains(field) && error.contains("BTreeMap or BTreeSet"), "{error}");
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Forgetful {
    kept: u8,
    #[serde(skip)]
    lost: u8,
}

struct Losing;

impl Model for Losing {
    type State = Forgetful;
    type Action = ();

    fn initial(&self) -> Vec<Forgetful> {
        vec![Forgetful { kept: 1, lost: 2 }]
    }

    fn actions(&self, _: &Forgetful, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &Forgetful, (): &()) -> Option<Forgetful> {
        Some(Forgetful { kept: state.kept, lost: state.lost.wrapping_add(1) })
    }
}

#[derive(Clone, Debug)]
struct Rounded(f64);

impl Serialize for Rounded {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<'de> Deserialize<'de> for Rounded {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Rounded(f64::deserialize(from)?.round()))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Scale {
    weight: Rounded,
}

struct Weighing;

impl Model for Weighing {
    type State = Scale;
    type Action = ();

    fn initial(&self) -> Vec<Scale> {
        vec![Scale { weight: Rounded(0.4) }]
    }

    fn actions(&self, _: &Scale, _: &mut Vec<()>) {}

    fn next(&self, _: &Scale, (): &()) -> Option<Scale> {
        None
    }
}

#[test]
fn a_state_that_does_not_come_back_is_named_with_its_field() {
    let error = Plan::new(Weighing).run().unwrap_err().to_string();
    assert!(error.contains("its field `weight` is not what it was"), "{error}");
}

#[test]
fn a_field_that_serde_skips_is_no_part_of_the_state() {
    let report = Plan::new(Losing).deadlock("off").run().unwrap();
    assert_eq!(report.states, 1);
}

/// A counter whose laps serde does not see, although a property does.
struct Laps;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lap {
    at: u8,
    #[serde(skip)]
    laps: u8,
}

impl Model for Laps {
    type State = Lap;
    type Action = ();

    fn initial(&self) -> Vec<Lap> {
        vec![Lap { at: 0, laps: 0 }]
    }

    fn actions(&self, _: &Lap, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &Lap, (): &()) -> Option<Lap> {
        Some(Lap { at: (state.at + 1) % 3, laps: state.laps + u8::from(state.at == 2) })
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.never("second lap", |_, state| state.laps == 1);
    }
}

#[test]
fn a_field_that_serde_skips_and_a_property_needs_is_found_out() {
    let error = Plan::new(Laps).deadlock("off").run().unwrap_err().to_string();
    assert!(error.contains("answers otherwise than when it is read back (`second lap` is judged differently)"), "{error}");
}

/// A state from which serde leaves out zeros, so that different states are written alike.
struct Gaps;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Gap {
    #[serde(default, skip_serializing_if = "is_zero")]
    first: u8,
    rest: Vec<u8>,
}

fn is_zero(value: &u8) -> bool {
    *value == 0
}

impl Model for Gaps {
    type State = Gap;
    type Action = ();

    fn initial(&self) -> Vec<Gap> {
        vec![Gap { first: 1, rest: Vec::new() }]
    }

    fn actions(&self, _: &Gap, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &Gap, (): &()) -> Option<Gap> {
        (state.first == 1).then(|| Gap { first: 0, rest: vec![0] })
    }
}

#[test]
fn a_field_that_is_left_out_now_and_then_is_named() {
    let error = Plan::new(Gaps).deadlock("off").run().unwrap_err().to_string();
    assert!(error.starts_with("the state cannot be written: its field `first` is left out now and then"), "{error}");
}

/// A symmetry whose function fails.
struct Failing;

impl Model for Failing {
    type State = u8;
    type Action = ();

    fn initial(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, _: &u8, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &u8, (): &()) -> Option<u8> {
        Some((state + 1) % 5)
    }

    fn symmetry(&self) -> Option<wayfarer::model::Representative<Self>> {
        Some(|_, state| if *state == 3 { panic!("no representative of three") } else { *state })
    }
}

#[test]
fn a_panic_in_symmetry_is_told_as_what_it_is() {
    let error = Plan::packed(Failing).run().unwrap_err().to_string();
    assert!(error.starts_with("the function that `symmetry` gives panics at") && error.ends_with("no representative of three"), "{error}");
}

/// Strings in so little memory that nothing fits into the queue of rbfs.
struct Bits;

impl Model for Bits {
    type State = String;
    type Action = u32;

    fn initial(&self) -> Vec<String> {
        vec!["0".repeat(16)]
    }

    fn actions(&self, _: &String, actions: &mut Vec<u32>) {
        actions.extend(0..16);
    }

    fn next(&self, state: &String, action: &u32) -> Option<String> {
        let mut bytes = state.clone().into_bytes();
        bytes[*action as usize] ^= 1;
        String::from_utf8(bytes).ok()
    }
}

#[test]
fn rbfs_ends_where_not_even_a_start_state_finds_room() {
    for strategy in ["rbfs", "rbfs:own"] {
        let report = Plan::new(Bits).strategy(strategy).memory("1M").threads(2).audit("off").steps(3_000_000u64).run().unwrap();
        assert_eq!(report.verdict.word(), "not-found", "{report}");
    }
}

/// A symmetry that forgets more than it may.
struct Wrongly;

impl Model for Wrongly {
    type State = (u8, u8);
    type Action = u8;

    fn initial(&self) -> Vec<(u8, u8)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u8, u8), actions: &mut Vec<u8>) {
        actions.extend([0, 1]);
    }

    fn next(&self, state: &(u8, u8), action: &u8) -> Option<(u8, u8)> {
        // Only the second may go on, and only while the first waits.
        match action {
            0 if state.0 == 0 && state.1 == 0 => Some((1, 0)),
            1 if state.0 == 0 && state.1 > 0 && state.1 < 3 => Some((0, state.1 + 1)),
            _ => None,
        }
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.never("three", |_, state| state.1 == 3);
    }

    fn symmetry(&self) -> Option<wayfarer::model::Representative<Self>> {
        Some(|_, state| (state.0.min(state.1), state.0.max(state.1)))
    }
}

#[test]
fn a_symmetry_that_the_model_does_not_have_is_found_out() {
    let error = Plan::packed(Wrongly).deadlock("off").run().unwrap_err();
    assert_eq!(error, RunError::NotSymmetric);
    Plan::packed(Wrongly).deadlock("off").symmetry("off").run().unwrap().assert_holds();
}

struct Nowhere;

impl Model for Nowhere {
    type State = bool;
    type Action = ();

    fn initial(&self) -> Vec<bool> {
        Vec::new()
    }

    fn actions(&self, _: &bool, _: &mut Vec<()>) {}

    fn next(&self, _: &bool, (): &()) -> Option<bool> {
        None
    }
}

#[test]
fn a_model_without_start_states_is_refused() {
    assert_eq!(Plan::packed(Nowhere).run().unwrap_err(), RunError::NoStartState);
}
