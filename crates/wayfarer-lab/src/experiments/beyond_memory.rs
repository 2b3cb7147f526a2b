//! Figure 5 of the Abed papers: covered states over steps if the system does not fit into memory.

use super::systems::plan;
use crate::desk::{Desk, LabError};
use crate::models::{self, Model};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Line, Plot, Settings, Table, grouped};
use wayfarer::memory::{Budget, taken};
use wayfarer::{Plan, StrategySpec};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond-memory",
    title: "Covered states beyond the memory",
    source: "Abed, Tripakis, Vincent (SPIN 2008), Figure 5; Resource-Aware Verification, Figure 5",
    question: "Given memory for a part of a large system, how many distinct states do breadth-first search, RURS, RSDRS and auto cover?",
    seconds: (6.0, 600.0),
    settings,
    run,
};

struct System {
    name: &'static str,
    model: Model,
    constants: &'static [(&'static str, i64)],
    quick: &'static [(&'static str, i64)],
    /// States, in full and quick, as counted by breadth-first search with enough memory.
    states: (u64, u64),
}

const SYSTEMS: [System; 3] = [
    System {
        name: "Token",
        model: models::TOKEN_RING_LAN,
        constants: &[("StationCount", 5), ("MessageCount", 3), ("Rest", 1)],
        quick: &[("StationCount", 5), ("MessageCount", 2), ("Rest", 1)],
        states: (2_781_155, 482_105),
    },
    System {
        name: "Fischer",
        model: models::FISCHER,
        constants: &[("ProcessCount", 6), ("WriteWithin", 6), ("WaitFor", 7)],
        quick: &[("ProcessCount", 5), ("WriteWithin", 6), ("WaitFor", 7)],
        states: (4_731_824, 405_056),
    },
    System {
        name: "Server",
        model: models::CLIENT_SERVER,
        constants: &[("ClientCount", 5), ("WorkerCount", 2), ("OutstandingMax", 3), ("QuestionCount", 1)],
        quick: &[("ClientCount", 4), ("WorkerCount", 2), ("OutstandingMax", 3), ("QuestionCount", 1)],
        states: (1_570_000, 76_000),
    },
];

/// The memory and the steps of a run. Unlike seconds, steps are the same on every machine.
fn scale(quick: bool) -> (usize, u64) {
    if quick { (2 << 20, 400_000) } else { (8 << 20, 60_000_000) }
}

fn searches() -> Vec<&'static str> {
    let mut all = vec!["bfs", "rurs", "rsdrs"];
    if StrategySpec::names().any(|name| name == "auto") {
        all.push("auto");
    }
    all
}

fn settings(quick: bool) -> Settings {
    let (memory, steps) = scale(quick);
    vec![
        ("systems", SYSTEMS.iter().map(|system| system.name).collect::<Vec<_>>().join(", ")),
        ("memory", format!("{} MiB for each run", memory >> 20)),
        ("steps", format!("{} for each run", grouped(steps as i64))),
        ("strategies", searches().join(", ")),
    ]
}

struct Run {
    covered: u64,
    error: f64,
    stop: &'static str,
    curve: Vec<(f64, f64)>,
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let searches = searches();
    desk.expect(SYSTEMS.len() * searches.len());
    let mut columns = vec![Column::new("system"), Column::new("states").form(Form::Count)];
    columns.extend(searches.iter().map(|name| Column::new(format!("{name}: covered")).form(Form::Count)));
    columns.extend(searches.iter().skip(1).map(|name| Column::new(format!("{name} against bfs"))));
    columns.push(Column::new("bfs ended by"));
    let mut table = Table::new("Distinct states covered with the same memory", columns);
    let mut gains: Vec<(String, f64)> = Vec::new();
    let mut most_error: f64 = 0.0;
    for system in &SYSTEMS {
        let loaded = desk.load(system.model, if desk.quick { system.quick } else { system.constants })?;
        let states = if desk.quick { system.states.1 } else { system.states.0 };
        let mut runs = Vec::new();
        for strategy in &searches {
            // Sequentially, because memory is accounted for the whole program.
            let (memory, steps) = scale(desk.quick);
            let limit = taken() + memory;
            let plan = Plan { memory: Some(limit), steps: Some(steps), record: None, seed: desk.seed, ..plan(spec(strategy)?) };
            let (mut curve, mut next) = (vec![(0.0, 0.0)], 0);
            let report = desk.run_watched(&loaded.subject(), &plan, &Budget::new(limit, 0), &mut |progress| {
                if progress.steps >= next {
                    curve.push((progress.steps as f64, progress.states as f64));
                    next = progress.steps + steps / 150;
                }
            })?;
            // A breadth-first search that ended keeps its states.
            curve.extend([(report.steps as f64, report.states as f64), (steps.max(report.steps) as f64, report.states as f64)]);
            runs.push(Run { covered: report.states, error: report.states_error, stop: report.stop.word(), curve });
            desk.tick()?;
        }
        let breadth_first = runs[0].covered.max(1) as f64;
        let mut row = vec![Cell::from(system.name), states.into()];
        row.extend(runs.iter().map(|run| Cell::from(run.covered)));
        row.extend(runs.iter().skip(1).map(|run| Cell::from(format!("{:+.0} %", 100.0 * (run.covered as f64 / breadth_first - 1.0)))));
        row.push(runs[0].stop.into());
        table.row(row);
        gains.extend(
            searches.iter().zip(&runs).skip(1).map(|(name, run)| (format!("{name} on {}", system.name), run.covered as f64 / breadth_first - 1.0)),
        );
        most_error = runs.iter().map(|run| run.error).fold(most_error, f64::max);
        let lines = searches.iter().zip(&runs).map(|(name, run)| Line::new(*name, run.curve.iter().copied()));
        findings.plots.push(Plot {
            title: system.name.to_string(),
            across: "steps".into(),
            up: "distinct states".into(),
            log: (false, false),
            lines: lines.collect(),
        });
    }
    findings.tables.push(table);
    let random: Vec<&(String, f64)> = gains.iter().filter(|(name, _)| name.starts_with('r')).collect();
    let ahead = random.iter().filter(|(_, gain)| *gain > 0.0).count();
    let best = random.iter().map(|(_, gain)| *gain).fold(f64::NEG_INFINITY, f64::max);
    let listed: Vec<String> = gains.iter().map(|(name, gain)| format!("{name} {:+.0} %", 100.0 * gain)).collect();
    findings.claim(
        "RURS and RSDRS go beyond the limit of breadth-first search, by up to 40 %",
        Judgement::of(ahead, random.len()),
        format!(
            "Compared with the coverage of breadth-first search with the same memory: {}. The best is {:+.0} %.",
            listed.join(", "),
            100.0 * best
        ),
    );
    let uniform: Vec<bool> = gains.chunks(searches.len() - 1).map(|both| both[0].1 > both[1].1).collect();
    findings.claim(
        "URS is generally better than SDRS",
        Judgement::of(uniform.iter().filter(|better| **better).count(), uniform.len()),
        format!("RURS covers more than RSDRS on {} of {} systems.", uniform.iter().filter(|better| **better).count(), uniform.len()),
    );
    if !searches.contains(&"auto") {
        findings.note("This version has no strategy `auto` yet; it is measured as soon as it has.");
    }
    findings.note(format!("The paper draws seconds; steps stand for them here. Memory counts everything the program takes; distinct states of strategies that forget are estimated, with a standard error of {:.1} % at most.", 100.0 * most_error));
    Ok(())
}
