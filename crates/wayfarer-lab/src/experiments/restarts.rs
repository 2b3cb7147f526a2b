//! Restarts from the start state against restarts from a state visited before.

use super::systems::{Counted, SYSTEMS, plan};
use crate::desk::{Desk, LabError};
use crate::judging::{ABOUT, Figure, Verdict};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Settings, Table};
use wayfarer::{Plan, Report};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "restarts",
    title: "Restarts from the start state against restarts from a visited state",
    source: "Abed, Tripakis, Vincent (SPIN 2008), section 2 (after Pelánek et al. 2005); Resource-Aware Verification, section 2",
    question: "With memory for 15 % of the states, does it matter where RURS and RSDRS restart?",
    seconds: (2.5, 240.0),
    alone: false,
    reads: &[],
    settings,
    run,
};

const MEMORY: f64 = 0.15;
/// Steps per state.
const STEPS: u64 = 20;
const SEARCHES: [&str; 4] = ["rurs:from=initial", "rurs:from=visited", "rsdrs:from=initial", "rsdrs:from=visited"];

fn runs(quick: bool) -> u32 {
    if quick { 4 } else { 16 }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("models", SYSTEMS.iter().map(|system| system.words(quick)).collect::<Vec<_>>().join("; ")),
        ("memory", "15 % of the states".to_string()),
        ("steps", format!("{STEPS} for each state")),
        ("repetitions", runs(quick).to_string()),
    ]
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    desk.expect(SYSTEMS.len() * (1 + SEARCHES.len() * runs(desk.quick) as usize));
    let mut columns = vec![Column::new("system")];
    for name in ["RURS", "RSDRS"] {
        columns.extend(["initial", "visited"].map(|from| Column::new(format!("{name} from {from}: covered")).form(Form::Percent)));
    }
    columns.extend(["initial", "visited"].map(|from| Column::new(format!("RURS from {from}: redundancy")).form(Form::Percent)));
    columns.extend(["initial", "visited"].map(|from| Column::new(format!("RURS from {from}: depth of its tree"))));
    columns.push(Column::new("depth of the system"));
    let mut table = Table::new(format!("Share of the states covered after {STEPS} steps per state, and share of visits to known states"), columns);
    let mut all: Vec<(String, [Measured; 2])> = Vec::new();
    for system in &SYSTEMS {
        let counted = system.count(desk)?;
        desk.tick()?;
        let mut found = SEARCHES.iter().map(|strategy| measure(desk, &counted, strategy)).collect::<Result<Vec<_>, _>>()?;
        let redundancy = found.iter().take(2).map(|measured| Cell::from(measured.redundancy.interval));
        let depths = found.iter().take(2).map(|measured| Cell::from(measured.depth.interval)).chain([Cell::from(counted.depth)]);
        let cells: Vec<Cell> = found.iter().map(|measured| Cell::from(measured.covered.interval)).chain(redundancy).chain(depths).collect();
        table.row(std::iter::once(Cell::from(system.name)).chain(cells));
        for name in ["RURS", "RSDRS"] {
            let both: Vec<Measured> = found.drain(..2).collect();
            all.extend(<[Measured; 2]>::try_from(both).ok().map(|both| (format!("{name} on {}", system.name), both)));
        }
    }
    findings.tables.push(table);
    let listed: Vec<String> = all
        .iter()
        .map(|(name, [initial, visited])| format!("{name} {:+.1}", 100.0 * (visited.covered.interval.value - initial.covered.interval.value)))
        .collect();
    let little: Vec<Verdict> = all.iter().map(|(_, [initial, visited])| initial.covered.times(ABOUT).more_than(&visited.covered)).collect();
    findings.judge(
        "Restarting from the start state costs little redundancy",
        &little,
        format!("Starting from a visited state instead changes coverage by, in percentage points: {}. Little is less than a quarter of the covered states.", listed.join(", ")),
    );
    let costly: Vec<&(String, [Measured; 2])> =
        all.iter().zip(&little).filter(|(_, verdict)| **verdict == Verdict::Differs).map(|(one, _)| one).collect();
    findings.because(
        !costly.iter().any(|(_, [initial, _])| initial.reaches),
        "The paper's condition is that one filling of the memory can match the diameter, and here it does not on these systems.",
        format!(
            "Greatest depth of a filling's tree against the system's depth, if restarts from the start cost much: {}.",
            costly
                .iter()
                .map(|(name, [initial, _])| format!("{name} {} of {}", crate::plain(initial.depth.interval.value), initial.deepest))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    returns(findings, &all);
    let better: Vec<Verdict> = all.iter().map(|(_, [initial, visited])| visited.covered.more_than(&initial.covered)).collect();
    findings.judge(
        "Restarting from a random state of the previous walk reduces redundancy and reaches deep states",
        &better,
        format!("It covers more in {} of {} cases.", better.iter().filter(|verdict| **verdict == Verdict::Agrees).count(), all.len()),
    );
    let worse: Vec<&(String, [Measured; 2])> =
        all.iter().zip(&better).filter(|(_, verdict)| **verdict == Verdict::Differs).map(|(one, _)| one).collect();
    findings.because(
        worse.iter().all(|(_, [initial, _])| initial.reaches),
        "If a filling that begins at the start already reaches the depth of the system, there is nothing to gain by beginning elsewhere.",
        format!(
            "Greatest depth of a filling's tree against the system's depth, if restarts from the start cover more: {}.",
            worse
                .iter()
                .map(|(name, [initial, _])| format!("{name} {} of {}", crate::plain(initial.depth.interval.value), initial.deepest))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    returns(findings, &all);
    Ok(())
}

/// Tests whether it depends on the system: whether one can return in it.
fn returns(findings: &mut Findings, all: &[(String, [Measured; 2])]) {
    let ahead = |(_, [initial, visited]): &&(String, [Measured; 2])| visited.covered.more_than(&initial.covered) == Verdict::Agrees;
    let behind = |(_, [initial, visited]): &&(String, [Measured; 2])| initial.covered.more_than(&visited.covered) == Verdict::Agrees;
    let names = |some: &[&(String, [Measured; 2])]| some.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let (ahead, behind): (Vec<_>, Vec<_>) = (all.iter().filter(ahead).collect(), all.iter().filter(behind).collect());
    findings.because(
        ahead.iter().all(|(_, [initial, _])| !initial.ends) && behind.iter().all(|(_, [initial, _])| initial.ends),
        "It depends on whether the system can return. If it ends, a visited state leads only to what lies behind it, and the rest is never seen again; if it never ends, every state leads everywhere, and starting where the last search was spreads the searches.",
        format!("Restarts from a visited state cover more on: {}. Restarts from the start cover more on: {}. The first never end, the second do.", names(&ahead), names(&behind)),
    );
}

/// The figures of one search on one system.
struct Measured {
    covered: Figure,
    redundancy: Figure,
    depth: Figure,
    deepest: u32,
    /// Whether the search's tree is as deep as the system.
    reaches: bool,
    /// Whether the system ends.
    ends: bool,
}

fn measure(desk: &Desk, counted: &Counted, strategy: &str) -> Result<Measured, LabError> {
    let capacity = ((MEMORY * counted.states as f64) as u64).max(2);
    let strategy = spec(&format!("{strategy},choice=states,batch=1,capacity={capacity}"))?;
    let plan = Plan { steps: Some(STEPS * counted.states), ..plan(strategy) };
    let reports = desk.repeat(&counted.loaded, &plan, runs(desk.quick))?;
    let mean = |of: &dyn Fn(&Report) -> f64| Figure::mean(&reports.iter().map(of).collect::<Vec<_>>());
    let depth = mean(&|report| f64::from(report.depth.unwrap_or(0)));
    Ok(Measured {
        covered: mean(&|report| report.states as f64 / counted.states as f64),
        redundancy: mean(&|report| report.redundancy.unwrap_or(f64::NAN)),
        reaches: depth.interval.value >= f64::from(counted.depth),
        depth,
        deepest: counted.depth,
        ends: counted.ends,
    })
}
