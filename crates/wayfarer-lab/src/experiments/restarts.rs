//! Restarts from the start state against restarts from a state visited before.

use super::systems::{Counted, SYSTEMS, plan};
use crate::desk::{Desk, LabError};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Settings, Table};
use wayfarer::{Interval, Plan};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "restarts",
    title: "Restarts from the start state against restarts from a visited state",
    source: "Abed, Tripakis, Vincent (SPIN 2008), section 2 (after Pelánek et al. 2005); Resource-Aware Verification, section 2",
    question: "With memory for 15 % of the states, does it matter where RURS and RSDRS restart?",
    seconds: (2.5, 240.0),
    settings,
    run,
};

const MEMORY: f64 = 0.15;
/// Steps per state.
const STEPS: u64 = 20;
const SEARCHES: [&str; 4] = ["rurs:from=initial", "rurs:from=visited", "rsdrs:from=initial", "rsdrs:from=visited"];

fn runs(quick: bool) -> u32 {
    if quick { 4 } else { 40 }
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
    let mut table = Table::new(format!("Share of the states covered after {STEPS} steps per state, and share of visits to known states"), columns);
    let mut gains: Vec<(String, f64)> = Vec::new();
    for system in &SYSTEMS {
        let counted = system.count(desk)?;
        desk.tick()?;
        let mut covered = Vec::new();
        let mut redundancy = Vec::new();
        for strategy in SEARCHES {
            let (share, again) = measure(desk, &counted, strategy)?;
            covered.push(share);
            redundancy.push(again);
        }
        let value = |at: usize| covered[at].map_or(f64::NAN, |interval: Interval| interval.value);
        gains.extend([(0, "RURS"), (2, "RSDRS")].map(|(at, name)| (format!("{name} on {}", system.name), value(at + 1) - value(at))));
        let cells = covered.iter().map(|interval| Cell::from(*interval)).chain(redundancy.iter().take(2).map(|interval| Cell::from(*interval)));
        table.row(std::iter::once(Cell::from(system.name)).chain(cells));
    }
    findings.tables.push(table);
    let listed: Vec<String> = gains.iter().map(|(name, gain)| format!("{name} {:+.1}", 100.0 * gain)).collect();
    let little = gains.iter().filter(|(_, gain)| gain.abs() < 0.1).count();
    findings.claim(
        "Restarting from the start state costs little redundancy",
        Judgement::of(little, gains.len()),
        format!("Starting from a visited state instead changes coverage by, in percentage points: {}.", listed.join(", ")),
    );
    let better = gains.iter().filter(|(_, gain)| *gain > 0.0).count();
    findings.claim(
        "Restarting from a random state of the previous walk reduces redundancy and reaches deep states",
        Judgement::of(better, gains.len()),
        format!("It covers more in {better} of {} cases.", gains.len()),
    );
    Ok(())
}

type Means = (Option<Interval>, Option<Interval>);

fn measure(desk: &Desk, counted: &Counted, strategy: &str) -> Result<Means, LabError> {
    let capacity = ((MEMORY * counted.states as f64) as u64).max(2);
    let strategy = spec(&format!("{strategy},choice=states,batch=1,capacity={capacity}"))?;
    let plan = Plan { steps: Some(STEPS * counted.states), ..plan(strategy) };
    let reports = desk.repeat(&counted.loaded, &plan, runs(desk.quick))?;
    let mean = |of: &dyn Fn(&wayfarer::Report) -> f64| Interval::of_mean(&reports.iter().map(of).collect::<Vec<_>>());
    Ok((mean(&|report| report.states as f64 / counted.states as f64), mean(&|report| report.redundancy.unwrap_or(f64::NAN))))
}
