//! Strategies, stores, budgets and options over Rust models.

use super::two_phase::{LooseTwoPhase, TwoPhase};
use wayfarer::prelude::*;

fn packed<const N: usize>() -> Planned {
    Plan::new(TwoPhase::<N>::default()).deadlock("off").symmetry("off")
}

#[test]
fn counts_are_those_that_others_found() {
    for (planned, states) in [
        (packed::<3>(), 288),
        (packed::<5>(), 8_832),
        (Plan::new(LooseTwoPhase(3)).deadlock("off"), 288),
        (Plan::new(LooseTwoPhase(5)).deadlock("off"), 8_832),
    ] {
        let report = planned.run().unwrap();
        report.assert_holds();
        report.assert_complete();
        assert_eq!(report.states, states);
    }
}

#[test]
fn every_exact_store_and_exhaustive_strategy_agrees_and_threads_do_not_matter() {
    for strategy in ["bfs", "dfs", "rdfs"] {
        for store in ["exact", "tree", "difference"] {
            let report = packed::<4>().strategy(strategy).store(store).run().unwrap();
            assert_eq!((report.states, report.verdict.word()), (1_568, "holds"), "{strategy} over {store}");
        }
    }
    for planned in [packed::<5>(), Plan::new(LooseTwoPhase(5)).deadlock("off")] {
        let report = planned.threads(3).run().unwrap();
        assert_eq!((report.states, report.verdict.word(), report.threads), (8_832, "holds", 3));
    }
}

#[test]
fn other_strategies_and_stores_work_over_both_encodings() {
    for planned in [packed::<3>(), Plan::new(LooseTwoPhase(3)).deadlock("off")] {
        for store in ["compact", "bitstate", "cache"] {
            let report = planned.clone().store(store).memory("16M").run().unwrap();
            assert_eq!((report.verdict.word(), report.states), ("not-found", 288), "{store}");
        }
        for strategy in ["walk", "urs", "sdrs", "rbfs", "highway"] {
            let report = planned.clone().strategy(strategy).memory("16M").steps(20_000).run().unwrap();
            assert!(report.verdict.word() == "not-found" && report.states > 200, "{strategy}: {report}");
        }
    }
}

#[test]
fn a_store_that_needs_a_fixed_width_says_so() {
    for store in ["tree", "difference"] {
        let error = Plan::new(LooseTwoPhase(3)).store(store).run().unwrap_err();
        assert!(error.to_string().contains("derive Packed"), "{error}");
    }
}

#[test]
fn a_violation_comes_with_its_shortest_way() {
    let planned = Plan::new(TwoPhase::<3> { broken: true }).deadlock("off");
    for symmetry in ["off", "on"] {
        let report = planned.clone().symmetry(symmetry).run().unwrap();
        report.assert_violated("consistent");
        assert_eq!(report.symmetry, symmetry == "on");
        let witness = report.violations[0].witness.as_ref().unwrap();
        assert_eq!(witness.length, 3);
        let text = report.to_string();
        assert!(text.contains("managers[0]: Working → ") && text.contains("Commit"), "{text}");
        assert!(text.contains("to repeat exactly this run: Plan::new(TwoPhase).deadlock(\"off\")"), "{text}");
        assert!(report.violations[0].at.contains("two_phase.rs:"), "{:?}", report.violations[0].at);
    }
}

#[test]
fn a_deadlock_is_looked_for_unless_that_is_turned_off() {
    Plan::new(TwoPhase::<3>::default()).run().unwrap().assert_violated("deadlock");
}

#[test]
fn representatives_are_fewer_and_the_verdict_is_the_same() {
    let report = packed::<5>().symmetry("auto").run().unwrap();
    report.assert_holds();
    assert!(report.symmetry && report.states < 8_832 / 10, "{report}");
}

#[test]
fn reports_count_variants_of_actions() {
    let report = packed::<3>().run().unwrap();
    let fired = |name: &str| report.rules.iter().find(|rule| rule.rule == name).map(|rule| rule.fired);
    assert!(fired("HearCommit") > Some(0) && fired("Prepare") > Some(0), "{:?}", report.rules);
    assert_eq!(report.rules.iter().map(|rule| rule.fired).sum::<u64>(), report.rules_fired);
}

#[test]
fn what_is_looked_for_is_found() {
    let report = packed::<3>().find("all commit").run().unwrap();
    assert_eq!((report.verdict.word(), report.violations[0].kind.word()), ("violated", "found"));
    let report = packed::<3>().find_rule("HearCommit").run().unwrap();
    assert_eq!(report.violations[0].witness.as_ref().unwrap().length, 8, "{report}");
    let report = packed::<3>().find_rule("HearCommit(1)").run().unwrap();
    assert_eq!(report.violations[0].name, "HearCommit(1)");
    assert_eq!(packed::<3>().find_rule("Nothing").run().unwrap().verdict.word(), "holds");
}

#[test]
fn options_are_read_as_on_the_command_line() {
    let plan = packed::<3>().memory("64M").time("1m30s").states("10k").depth(7).store("compact:bits=40").max_errors(3).plan();
    assert_eq!((plan.memory, plan.time.map(|time| time.as_secs()), plan.states, plan.depth), (Some(64 << 20), Some(90), Some(10_000), Some(7)));
    assert_eq!((plan.store.unwrap().to_string().as_str(), plan.max_errors), ("compact:bits=40,floor=24", 3));
    for (planned, says) in [
        (packed::<3>().memory("plenty"), "memory: `plenty` is not a size"),
        (packed::<3>().strategy("bsf"), "strategy: no strategy is called `bsf` (did you mean `bfs`?)"),
        (packed::<3>().deadlock("on"), "deadlock: `on` is not a rule for deadlocks"),
        (packed::<3>().property("consistend"), "there is no property `consistend`"),
    ] {
        let error = planned.run().unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn a_test_takes_one_thread_and_little_memory() {
    let plan = packed::<3>().plan();
    assert_eq!((plan.threads, plan.memory), (1, Some(256 << 20)));
}

#[test]
fn a_memory_budget_holds_without_a_counting_allocator() {
    for planned in [packed::<7>(), Plan::new(LooseTwoPhase(7)).deadlock("off")] {
        let report = planned.clone().memory("2M").run().unwrap();
        assert_eq!(report.verdict.word(), "not-found");
        assert!(matches!(report.stop.word(), "confident" | "memory"), "{report}");
        assert!(report.peak_memory_bytes <= 2 << 20, "{}", report.peak_memory_bytes);
        assert!(report.states > 290_000, "{report}");
        let report = planned.strategy("bfs").memory("2M").run().unwrap();
        assert_eq!((report.verdict.word(), report.stop.word()), ("not-found", "memory"));
        assert!(report.peak_memory_bytes <= 2 << 20 && report.peak_memory_bytes > 1 << 20, "{}", report.peak_memory_bytes);
        assert!(report.states > 20_000, "{report}");
    }
}

#[test]
fn a_time_budget_holds_on_one_thread() {
    let report = Plan::new(LooseTwoPhase(12)).deadlock("off").time("200ms").run().unwrap();
    assert_eq!((report.verdict.word(), report.stop.word()), ("not-found", "time"));
    assert!(report.to_string().contains(&format!(".steps({})", report.steps)), "{report}");
}

/// A counter with several kinds of violations.
struct Wrongs;

impl Model for Wrongs {
    type State = i8;
    type Action = i8;

    fn initial(&self) -> Vec<i8> {
        vec![0]
    }

    fn actions(&self, _: &i8, actions: &mut Vec<i8>) {
        actions.extend([1, 2, -1]);
    }

    fn next(&self, state: &i8, action: &i8) -> Option<i8> {
        state.checked_add(*action)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties
            .always("small", |_, state| *state < 5)
            .never("seven", |_, state| *state == 7)
            .sometimes("eight", |_, state| *state == 8)
            .sometimes("far away", |_, state| *state == 100);
    }

    fn within_boundary(&self, state: &i8) -> bool {
        (-10..=10).contains(state)
    }
}

#[test]
fn all_violated_properties_come_in_one_run_on_request() {
    let report = Plan::packed(Wrongs).all_violations(true).run().unwrap();
    let names: Vec<&str> = report.violations.iter().map(|violation| violation.name.as_str()).collect();
    assert_eq!(names, ["small", "seven", "far away"]);
    assert!(report.complete && report.bounded && !report.assumed);
    let lengths: Vec<usize> = report.violations.iter().filter_map(|violation| violation.witness.as_ref()).map(|witness| witness.length).collect();
    assert_eq!(lengths, [3, 4]);
}

#[test]
fn a_verdict_within_a_boundary_says_so() {
    let report = Plan::by_serde(Wrongs).property("eight").run().unwrap();
    report.assert_holds();
    assert_eq!(report.states, 21);
    assert!(report.to_string().contains("within the model's boundary"), "{report}");
}

#[test]
fn a_sometimes_that_was_not_reached_is_reported() {
    let report = Plan::packed(Wrongs).property("far away").run().unwrap();
    report.assert_violated("far away");
    let cut = Plan::packed(Wrongs).property("far away").states(5).run().unwrap();
    assert!(cut.to_string().contains("not reached so far: cover `far away`"), "{cut}");
}

#[test]
fn assertions_show_the_witness_and_the_line_that_repeats_it() {
    let report = Plan::packed(Wrongs).run().unwrap();
    let message = |act: fn(&Report)| {
        let report = report.clone();
        let payload = std::panic::catch_unwind(move || act(&report)).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let holds = message(Report::assert_holds);
    for part in ["invariant `small` does not hold", "witness of 3 steps", "state: 0 → ", "Plan::packed(Wrongs).seed(1).run()"] {
        assert!(holds.contains(part), "{part} not in {holds}");
    }
    assert!(message(|report| report.assert_violated("seven")).contains("`seven` should be violated"));
    assert!(message(|report| report.assert_violated("sven")).contains("there is no property `sven`"));
    assert!(message(Report::assert_complete).contains("every reachable state should be visited"));
}

#[test]
fn reports_are_the_same_again() {
    for strategy in ["bfs", "rdfs", "walk", "urs"] {
        let run = || {
            let mut report = packed::<4>().strategy(strategy).steps(5_000).run().unwrap();
            // Seconds, and forecasts based on them, differ from run to run.
            (report.seconds, report.times) = (0.0, wayfarer::Times::default());
            report.to_json().to_string()
        };
        assert_eq!(run(), run(), "{strategy}");
    }
}

#[test]
fn witnesses_are_written_to_files() {
    let file = std::env::temp_dir().join(format!("wayfarer-rust-{}.itf.json", std::process::id()));
    let _ = Plan::packed(Wrongs).witness(file.to_str().unwrap()).run().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let _ = std::fs::remove_file(&file);
    assert!(text.contains("\"violation\": \"invariant: small\""), "{text}");
}

#[test]
fn files_go_through_the_same_plan() {
    let file = std::env::temp_dir().join(format!("wayfarer-rust-{}.aut", std::process::id()));
    std::fs::write(&file, "des (0, 2, 3)\n(0, go, 1)\n(1, on, 2)\n").unwrap();
    let planned = Plan::from_file(file.to_str().unwrap()).unwrap();
    let report = planned.find_rule("on").run().unwrap();
    let _ = std::fs::remove_file(&file);
    assert_eq!(report.violations[0].witness.as_ref().unwrap().length, 2);
    assert!(report.again.unwrap().starts_with("Plan::from_file("));
}
