//! Stateright models in Wayfarer, compared with Stateright's own search.

mod clocks;
mod two_phase;
mod walker;

use clocks::clocks;
use stateright::{Checker, Model};
use two_phase::TwoPhase;
use walker::Walker;
use wayfarer::{Plan, Report, RunError};
use wayfarer_stateright::FromStateright;

fn length(report: &Report) -> Option<usize> {
    report.violations.first()?.witness.as_ref().map(|witness| witness.length)
}

#[test]
fn two_phase_commit_has_the_counts_that_stateright_finds() -> Result<(), RunError> {
    for managers in [3, 5] {
        let report = Plan::from_stateright(TwoPhase { managers }).run()?;
        report.assert_holds();
        let theirs = TwoPhase { managers }.checker().spawn_bfs().join();
        theirs.assert_properties();
        assert_eq!(report.states, theirs.unique_state_count() as u64);
        assert_eq!(report.states, if managers == 3 { 288 } else { 8_832 });
        // Stateright counts the start, and begins with depth 1.
        assert_eq!(report.steps + 1, theirs.state_count() as u64);
        assert_eq!(report.depth.map(|depth| depth as usize + 1), Some(theirs.max_depth()));
    }
    let report = Plan::from_stateright(TwoPhase { managers: 7 }).run()?;
    report.assert_holds();
    assert_eq!(report.states, 296_448);
    Ok(())
}

#[test]
fn each_variant_of_the_actions_is_a_rule() -> Result<(), RunError> {
    let report = Plan::from_stateright(TwoPhase { managers: 3 }).run()?;
    let rules: Vec<(&str, u64)> = report.rules.iter().filter(|rule| rule.fired > 0).map(|rule| (rule.rule.as_str(), rule.fired)).collect();
    assert_eq!(rules.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["Prepare", "GiveUp", "Obey", "Count", "Decide"]);
    assert_eq!(rules.iter().map(|(_, fired)| fired).sum::<u64>(), report.rules_fired);
    let report = Plan::from_stateright(TwoPhase { managers: 3 }).find_rule("Decide(Commit)").run()?;
    assert_eq!((report.verdict.word(), length(&report)), ("violated", Some(7)));
    Ok(())
}

#[test]
fn a_representative_folds_what_is_alike() -> Result<(), RunError> {
    let report = Plan::from_stateright_symmetric(TwoPhase { managers: 5 }, two_phase::sorted).run()?;
    report.assert_holds();
    let theirs = TwoPhase { managers: 5 }.checker().symmetry_fn(two_phase::sorted).spawn_dfs().join();
    assert_eq!((report.states, report.symmetry), (314, true));
    assert_eq!(theirs.unique_state_count(), 314);
    Ok(())
}

#[test]
fn other_stores_and_strategies_do_their_work() -> Result<(), RunError> {
    for (strategy, store) in [("dfs", "exact"), ("bfs", "compact"), ("rdfs", "exact"), ("bfs", "bitstate")] {
        let report = Plan::from_stateright(TwoPhase { managers: 5 }).strategy(strategy).store(store).memory("64M").run()?;
        assert!(report.violations.is_empty(), "{report}");
        assert_eq!(report.states, 8_832, "{report}");
    }
    let report = Plan::from_stateright(TwoPhase { managers: 5 }).strategy("walk").steps(20_000).run()?;
    assert_eq!(report.verdict.word(), "not-found");
    Ok(())
}

#[test]
fn a_boundary_is_one_here_too() -> Result<(), RunError> {
    let report = Plan::from_stateright(Walker::harmless()).run()?;
    let theirs = Walker::harmless().checker().spawn_bfs().join();
    assert_eq!(report.states, theirs.unique_state_count() as u64);
    report.assert_holds();
    assert!(report.bounded);
    Ok(())
}

#[test]
fn a_violation_is_found_as_soon_and_told_in_the_models_words() -> Result<(), RunError> {
    let report = Plan::from_stateright(Walker::lost()).run()?;
    report.assert_violated("stays near");
    let theirs = Walker::lost().checker().spawn_bfs().join();
    let path = theirs.discovery("stays near").unwrap_or_else(|| panic!("stateright finds it"));
    assert_eq!(length(&report), Some(path.into_actions().len()));
    let steps = &report.violations[0].witness.as_ref().unwrap_or_else(|| panic!("{report}")).steps;
    assert!(steps.iter().all(|step| step.rule == "to the east: one step" || step.rule == "to the north: one step"), "{report}");
    assert!(report.violations[0].at.contains("tests/it/main.rs:"), "{report}");
    assert!(report.again.as_deref().is_some_and(|again| again.starts_with("Plan::from_stateright(Walker)")), "{report}");
    Ok(())
}

#[test]
fn what_never_happens_is_reported() -> Result<(), RunError> {
    let report = Plan::from_stateright(Walker { hopes: true, ..Walker::harmless() }).run()?;
    report.assert_violated("gets far");
    Ok(())
}

#[test]
fn liveness_is_refused_with_a_way_out() -> Result<(), RunError> {
    let walker = || Walker { returns: true, ..Walker::harmless() };
    let Err(error) = Plan::from_stateright(walker()).run() else { panic!("it should be refused") };
    let message = error.to_string();
    assert!(message.contains("`comes home` must hold eventually") && message.contains("from_stateright_without_eventually"), "{message}");
    Plan::from_stateright_without_eventually(walker()).run()?.assert_holds();
    Ok(())
}

#[test]
fn an_end_is_a_deadlock_only_on_request() -> Result<(), RunError> {
    Plan::from_stateright(Walker::harmless()).deadlock("stuck").run()?.assert_holds();
    Plan::from_stateright(Walker { ends: true, ..Walker::harmless() }).run()?.assert_holds();
    Plan::from_stateright(Walker { ends: true, ..Walker::harmless() }).deadlock("stuck").run()?.assert_violated("deadlock");
    Ok(())
}

#[test]
fn actor_models_are_checked_by_their_clones() -> Result<(), RunError> {
    let report = Plan::from_stateright_by_clone(clocks(99, 9)).run()?;
    let theirs = clocks(99, 9).checker().spawn_bfs().join();
    report.assert_holds();
    assert_eq!(report.states, theirs.unique_state_count() as u64);
    let report = Plan::from_stateright_by_clone(clocks(5, 9)).run()?;
    report.assert_violated("below the limit");
    let theirs = clocks(5, 9).checker().spawn_bfs().join();
    let path = theirs.discovery("below the limit").unwrap_or_else(|| panic!("stateright finds it"));
    assert_eq!(length(&report), Some(path.into_actions().len()));
    // States are shown in parts, although only their own text is known.
    let steps = &report.violations[0].witness.as_ref().unwrap_or_else(|| panic!("{report}")).steps;
    assert!(steps.iter().all(|step| step.changes.iter().any(|change| change.path.starts_with("actor_states["))), "{report}");
    // Every search works on them, and the same seed gives the same report.
    for strategy in ["dfs", "walk", "rdfs"] {
        let run = || Plan::from_stateright_by_clone(clocks(5, 9)).strategy(strategy).steps(100_000).run();
        assert_eq!(length(&run()?), length(&run()?));
    }
    Ok(())
}
