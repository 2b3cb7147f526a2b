//! The frequencies with which a random walk visits each state.

use super::cover_models::correlation;
use super::systems::{SYSTEMS, plan};
use crate::desk::{Desk, LabError};
use crate::judging::{FITS, MOST, exactly};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, models, plain};
use wayfarer::Plan;
use wayfarer::search::StoreSpec;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "frequencies",
    title: "Visit frequencies of a random walk",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2, after Pelánek et al. 2005",
    question: "How unevenly does a random walk visit the states, and do the frequencies follow a power law?",
    seconds: (1.0, 30.0),
    alone: false,
    reads: &[],
    settings,
    run,
};

/// Steps per state.
fn steps(quick: bool) -> u64 {
    if quick { 50 } else { 400 }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("models", SYSTEMS.iter().map(|system| system.words(quick)).collect::<Vec<_>>().join("; ")),
        ("walk", format!("walk:restart=10000,lanes=1,choice=states, {} steps for each state", steps(quick))),
    ]
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    desk.expect(2 * SYSTEMS.len());
    let columns = vec![
        Column::new("system"),
        Column::new("states").form(Form::Count),
        Column::new("visited").form(Form::Percent),
        Column::new("median visits of visited states"),
        Column::new("most visits, at least").form(Form::Count),
        Column::new("exponent"),
        Column::new("R² of the straight line"),
    ];
    let mut table = Table::new("Visits of a random walk to the states", columns);
    let mut straight = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    let mut densities: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for system in &SYSTEMS {
        let counted = system.count(desk)?;
        desk.tick()?;
        let report = desk.run(&counted.loaded, &walk(desk, counted.states)?)?;
        desk.tick()?;
        let visited: u64 = report.profile.iter().sum();
        let density = density(&report.profile);
        let (slope, fit) = line(&density);
        let mut below = 0;
        let median = report.profile.iter().position(|count| {
            below += count;
            2 * below >= visited
        });
        table.row([
            Cell::from(system.name),
            counted.states.into(),
            (visited as f64 / counted.states as f64).into(),
            Cell::from(median.map(|bin| if bin == 0 { "1".to_string() } else { format!("{} to {}", 1u64 << bin, (1u64 << (bin + 1)) - 1) })),
            report.profile.iter().rposition(|count| *count > 0).map(|bin| 2f64.powi(bin as i32)).into(),
            slope.into(),
            fit.into(),
        ]);
        straight.push((system.name, slope.unwrap_or(f64::NAN), fit.unwrap_or(0.0)));
        lines.push(Line::new(system.name, density.clone()));
        densities.push((system.name, density));
    }
    findings.tables.push(table);
    findings.plots.push(Plot {
        title: "Visit frequencies of a walk".into(),
        across: "visits to a state".into(),
        up: "share of states, for each visit".into(),
        log: (true, true),
        lines,
    });
    let listed: Vec<String> = straight.iter().map(|(name, slope, fit)| format!("{name} {} (R² {})", plain(*slope), plain(*fit))).collect();
    findings.judge(
        "Visit frequencies of a random walk follow a power law: a few states take most visits",
        &straight.iter().map(|(_, slope, fit)| exactly(*fit > FITS && *slope < 0.0)).collect::<Vec<_>>(),
        format!("On a log-log plot, a straight line of this slope fits: {}.", listed.join(", ")),
    );
    fans(findings, &densities, &straight);
    // Quicksort ends after a few steps, so that a walk does little but begin again. Sorting again and again, it is one walk.
    let again = desk.load(models::QUICKSORT, &[("Repeat", 1)])?;
    let states = desk.run(&again, &super::systems::plan(wayfarer::StrategySpec::default()))?.states;
    let report = desk.run(&again, &walk(desk, states)?)?;
    let (slope, fit) = line(&density(&report.profile));
    findings.because(
        fit.is_some_and(|fit| fit > FITS) && slope.is_some_and(|slope| slope < 0.0),
        "A system that ends after a few steps is no place for a walk: every walk begins again at the start, and a state's frequency is that of its level.",
        format!("Quicksort that sorts again and again, {} states: slope {}, R² {}.", crate::grouped(states as i64), plain(slope.unwrap_or(f64::NAN)), plain(fit.unwrap_or(0.0))),
    );
    Ok(())
}

/// Tests whether the frequencies are those of a fan: if the start draws one of many inputs with equal odds, most states lie behind
/// one input and are visited about equally often. Those that several inputs share are visited more, and may follow a power law.
fn fans(findings: &mut Findings, densities: &[(&str, Vec<(f64, f64)>)], straight: &[(&str, f64, f64)]) {
    // The class with the most states, its share, and R² from there on.
    let largest = |density: &[(f64, f64)]| {
        let at = (0..density.len()).max_by(|one, other| (density[*one].0 * density[*one].1).total_cmp(&(density[*other].0 * density[*other].1)))?;
        Some((density[at].0, density[at].0 * density[at].1, line(&density[at..]).1?))
    };
    let all: Vec<(&str, (f64, f64, f64), bool)> = densities
        .iter()
        .zip(straight)
        .filter_map(|((name, density), (_, slope, fit))| Some((*name, largest(density)?, *fit > FITS && *slope < 0.0)))
        .collect();
    let told = |(name, (visits, share, fit), _): &(&str, (f64, f64, f64), bool)| {
        format!("{name} {:.0} % ({visits} to {} visits), R² from there on {}", 100.0 * share, 2.0 * visits - 1.0, plain(*fit))
    };
    findings.because(
        all.iter().all(|(_, (_, share, fit), fits)| *fits || *share > MOST && *fit > FITS),
        "If a start draws one of many inputs with equal odds, most states lie behind a single input, and all of them are visited about equally often. Only the states that several inputs share can follow a power law.",
        format!("Share of the states in the class, of twice as many visits at most, that has the most of them: {}.", all.iter().map(told).collect::<Vec<_>>().join("; ")),
    );
}

/// A walk over a system of so many states that counts the visits to each.
fn walk(desk: &Desk, states: u64) -> Result<Plan, LabError> {
    let strategy = spec("walk:restart=10000,lanes=1,choice=states")?;
    Ok(Plan { steps: Some(steps(desk.quick) * states), store: Some(StoreSpec::exact()), profile: true, seed: desk.seed, ..plan(strategy) })
}

/// The number of states with 2^i to 2^(i+1) visits, per possible number of visits: the density that a power law describes.
fn density(profile: &[u64]) -> Vec<(f64, f64)> {
    let visited: u64 = profile.iter().sum();
    let bins = profile.iter().enumerate().filter(|(_, count)| **count > 0);
    bins.map(|(bin, count)| (2f64.powi(bin as i32), *count as f64 / 2f64.powi(bin as i32) / visited as f64)).collect()
}

/// The slope of the straight line through a density on a log-log plot, and its R².
fn line(density: &[(f64, f64)]) -> (Option<f64>, Option<f64>) {
    let logs: Vec<(f64, f64)> = density.iter().map(|(visits, share)| (visits.ln(), share.ln())).collect();
    (slope(&logs), correlation(&logs).map(|r| r * r))
}

fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    if points.len() < 2 {
        return None;
    }
    let (x, y) = (points.iter().map(|point| point.0).sum::<f64>() / n, points.iter().map(|point| point.1).sum::<f64>() / n);
    let (across, up) = points.iter().fold((0.0, 0.0), |(across, up), point| (across + (point.0 - x).powi(2), up + (point.0 - x) * (point.1 - y)));
    Some(up / across)
}
