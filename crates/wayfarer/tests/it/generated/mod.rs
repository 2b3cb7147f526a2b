//! Wayfarer against a naive explorer, on generated models.
//!
//! proptest draws a [`gene`] tree, [`build`] makes a well-typed model out of it, [`print`] writes it as Murphi for
//! Wayfarer, and [`naive`] explores the tree itself: its own values, its own evaluation, its own search. The two must
//! agree on the whole system: states, firings of every rule, and all violations with the length of their shortest
//! witness. A failure is shrunk and printed as a model with its header, ready to be put into `regressions/`.
//!
//! `WAYFARER_CASES=100000 WAYFARER_SEED=7 cargo test -p wayfarer generated` runs more and other cases;
//! `WAYFARER_SHOW=1` prints every model.

mod build;
mod evaluate;
mod expressions;
mod gene;
mod naive;
mod print;
mod scope;
mod statements;
mod tree;
mod value;

use naive::{Found, Wrong};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use value::Kind;
use wayfarer::ir::{FaultKind, Program};
use wayfarer::memory::Budget;
use wayfarer::search::{Ending, Unbounded};
use wayfarer::{LoadOptions, Plan, Report, SymmetryChoice, load_text};

/// Larger systems are left out.
const MOST_STATES: usize = 3000;
/// If there are more violations than this, only the first one is compared: each takes a witness.
const MOST_WRONG: u64 = 300;

/// The result of one generated model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Compared {
    Holds,
    Violated,
    TooLarge,
    Unclear,
}

#[test]
fn agrees_with_the_naive_explorer() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().map_or(usual, |text| text.parse().expect("a number"));
    let (cases, seed) = (number("WAYFARER_CASES", 400) as u32, number("WAYFARER_SEED", 1));
    let config = Config { cases, max_shrink_iters: 20_000, failure_persistence: None, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let counts: [Cell<u32>; 4] = Default::default();
    let states = Cell::new(0);
    let result = runner.run(&gene::genome(), |genome| {
        let model = build::build(&genome);
        if std::env::var_os("WAYFARER_SHOW").is_some() {
            println!("{}\n----", print::print(&model));
        }
        let (compared, size) = compare(&model).map_err(TestCaseError::fail)?;
        counts[compared as usize].set(counts[compared as usize].get() + 1);
        states.set(states.get() + size);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, genome)) => {
            let model = build::build(&genome);
            panic!("{reason}\n\n{}{}", header(&model), print::print(&model));
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
    let [holds, violated, large, unclear] = counts.map(Cell::into_inner);
    println!("{holds} hold, {violated} are violated, {large} too large, {unclear} unclear; {} states", states.get());
    assert!(holds * 20 >= cases && violated * 4 >= cases, "the models are one-sided: {holds} hold, {violated} are violated of {cases}");
    assert!((large + unclear) * 3 <= cases, "too many models are left out: {large} too large, {unclear} unclear of {cases}");
}

/// Runs both explorers on a model; the error says where they disagree.
fn compare(model: &tree::Model) -> Result<(Compared, u64), String> {
    let Some(found) = naive::explore(model, MOST_STATES) else { return Ok((Compared::TooLarge, 0)) };
    if std::env::var_os("WAYFARER_SHOW").is_some() {
        println!("states {} fired {} wrong {:?}", found.states, found.fired, found.wrong);
    }
    if found.unclear {
        return Ok((Compared::Unclear, 0));
    }
    let text = print::print(model);
    let loaded = load_text("generated.m", text, &LoadOptions::default()).map_err(|error| format!("refused:\n{error}"))?;
    let program = &loaded.program;
    let run = |plan: Plan| {
        let budget = Budget::new(1 << 30, 0);
        plan.check(program, &budget, &mut Unbounded).map_err(|error| format!("not carried out: {error}"))
    };
    let total: u64 = found.wrong.values().map(|(count, _)| count).sum();
    for (strategy, interpret) in [("bfs", true), ("dfs", true), ("bfs", false)] {
        let plan = Plan { strategy: strategy.parse().expect("a strategy"), interpret, symmetry: SymmetryChoice::Off, ..Plan::default() };
        let way = format!("{}, {}", strategy, if interpret { "interpreted" } else { "compiled" });
        let report = run(plan.clone())?;
        check_first(&found, &report, program, strategy).map_err(|error| format!("{way}: {error}"))?;
        if total <= MOST_WRONG {
            let report = run(Plan { max_errors: MOST_WRONG as usize + 1, ..plan })?;
            let (expected, got) = (expected_listing(&found, strategy), listing(&report, program, strategy));
            if expected != got {
                return Err(format!("{way}: the naive explorer found\n{expected}and wayfarer\n{got}"));
            }
        }
    }
    // Up to symmetry there are the same violations, after as many firings; their number may differ.
    let report = run(Plan { interpret: true, ..Plan::default() })?;
    check_first(&found, &report, program, "bfs").map_err(|error| format!("up to symmetry: {error}"))?;
    if report.verdict.word() == "holds" && (report.states > found.states || (!report.symmetry && report.states != found.states)) {
        return Err(format!("{} states and {} orbits", found.states, report.states));
    }
    Ok((if total == 0 { Compared::Holds } else { Compared::Violated }, found.states))
}

/// The header of the model's file.
fn header(model: &tree::Model) -> String {
    let Some(found) = naive::explore(model, MOST_STATES) else { return String::new() };
    let mut text = "-- model: shrunk from a generated one\n".to_string();
    match found.wrong.iter().min_by_key(|(_, (_, length))| *length) {
        None => text.push_str(&format!("-- verdict: holds\n-- states: {}\n-- rules: {}\n", found.states, found.fired)),
        Some((wrong, (_, length))) => {
            let violation = match wrong {
                Wrong::Invariant(name) => format!("invariant \"{name}\""),
                Wrong::Deadlock => "deadlock".to_string(),
                Wrong::InvariantFault(kind) | Wrong::Fault(_, kind) | Wrong::StartFault(_, kind) => match kind {
                    Kind::Assertion => "assertion".to_string(),
                    Kind::Error => "error".to_string(),
                    kind => format!("fault {}", format!("{kind:?}").to_lowercase()),
                },
            };
            text.push_str(&format!("-- verdict: violated\n-- violation: {violation}\n-- witness: {length}\n"));
        }
    }
    text + "-- why: \n"
}

/// The first violation of a run must be one of those that exist and, breadth-first, no longer than the shortest.
fn check_first(found: &Found, report: &Report, program: &Program, strategy: &str) -> Result<(), String> {
    let Some(violation) = report.violations.first() else {
        return if found.wrong.is_empty() && report.verdict.word() == "holds" {
            Ok(())
        } else {
            Err(format!("{}, but {:?}", report.verdict.word(), found.wrong))
        };
    };
    let (wrong, length) = described(violation, program);
    let Some((_, shortest)) = found.wrong.get(&wrong) else { return Err(format!("found {wrong:?}, but there is only {:?}", found.wrong)) };
    if strategy == "bfs" && length != *shortest {
        return Err(format!("{wrong:?} after {length} firings, but {shortest} are enough"));
    }
    // A deadlock is detected when a state is expanded, and by then its successors' siblings were checked: between
    // kinds, one more firing is allowed.
    let least = found.wrong.values().map(|(_, length)| *length).min().unwrap_or(0);
    let late = usize::from(found.wrong.get(&Wrong::Deadlock).is_some_and(|(_, length)| *length == least));
    if strategy == "bfs" && length > least + late {
        return Err(format!("{wrong:?} after {length} firings, but something goes wrong after {least}: {:?}", found.wrong));
    }
    Ok(())
}

/// Everything about a system, one fact per line.
fn expected_listing(found: &Found, strategy: &str) -> String {
    facts(found.states, found.fired, &found.fired_by, &found.wrong, strategy)
}

fn listing(report: &Report, program: &Program, strategy: &str) -> String {
    let mut fired_by = BTreeMap::new();
    for rule in report.rules.iter().filter(|rule| rule.fired > 0) {
        *fired_by.entry(rule.rule.clone()).or_insert(0) += rule.fired;
    }
    let mut wrong: BTreeMap<Wrong, (u64, usize)> = BTreeMap::new();
    for violation in &report.violations {
        let (what, length) = described(violation, program);
        let entry = wrong.entry(what).or_insert((0, length));
        entry.0 += 1;
        entry.1 = entry.1.min(length);
    }
    facts(report.states, report.rules_fired, &fired_by, &wrong, strategy)
}

fn facts(states: u64, fired: u64, fired_by: &BTreeMap<String, u64>, wrong: &BTreeMap<Wrong, (u64, usize)>, strategy: &str) -> String {
    let mut text = format!("{states} states, {fired} firings\n");
    for (rule, count) in fired_by {
        let _ = writeln!(text, "{rule} fired {count} times");
    }
    for (wrong, (count, shortest)) in wrong {
        let _ = write!(text, "{wrong:?} {count} times");
        let _ = if strategy == "bfs" { writeln!(text, ", first after {shortest} firings") } else { writeln!(text) };
    }
    text
}

/// A violation in the naive explorer's terms, with the length of its witness.
fn described(violation: &wayfarer::ViolationReport, program: &Program) -> (Wrong, usize) {
    let witness = violation.witness.as_ref().expect("every violation here is about a state");
    let kind = |fault: wayfarer::space::Fault| match program.faults[fault.0 as usize].kind {
        FaultKind::Assertion => Kind::Assertion,
        FaultKind::Error => Kind::Error,
        FaultKind::Undefined => Kind::Undefined,
        FaultKind::Range => Kind::Range,
        FaultKind::Index => Kind::Index,
        FaultKind::Division => Kind::Division,
        FaultKind::Overflow => Kind::Overflow,
        FaultKind::Collection => Kind::Collection,
        FaultKind::NoResult => Kind::NoResult,
        other => panic!("no generated model can meet {other:?}"),
    };
    let wrong = match witness.raw.ending {
        Ending::Property(number) => Wrong::Invariant(program.properties[number as usize].name.clone()),
        Ending::PropertyFault(_, fault) => Wrong::InvariantFault(kind(fault)),
        Ending::Deadlock => Wrong::Deadlock,
        Ending::Fault(firing, fault) => {
            let (family, _) = program.rule_of(firing.rule).expect("the rule exists");
            Wrong::Fault(program.rules[family].name.clone(), kind(fault))
        }
        Ending::Start(fault) => {
            let (family, _) = program.start_of(witness.raw.start).expect("the start state exists");
            Wrong::StartFault(program.starts[family].name.clone(), kind(fault))
        }
        other @ (Ending::Found(_) | Ending::Rule(_)) => panic!("nothing was looked for: {other:?}"),
    };
    (wrong, witness.length)
}
