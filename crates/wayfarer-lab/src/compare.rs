//! Compares several strategies on one model: what each found, how soon, the length of its witness, its
//! coverage until then, and which one to use.

use crate::desk::{Desk, LabError};
use crate::{Cell, Column, Findings, Form, Line, Plot, Table, grouped, plain};
use std::sync::Arc;
use std::time::Instant;
use wayfarer::memory::Budget;
use wayfarer::repeated::{length, raw_length, steps};
use wayfarer::search::Deadlock;
use wayfarer::{Interval, Plan, Repeated, Report, StrategySpec, Subject};

/// The model, strategies and limits of a comparison.
pub struct Comparison {
    /// The model.
    pub subject: Arc<dyn Subject>,
    /// Everything except the strategy and the seed: the same for all.
    pub plan: Plan,
    /// The strategies.
    pub strategies: Vec<StrategySpec>,
    /// The number of repetitions of randomised strategies.
    pub runs: u32,
    /// The memory of each run.
    pub budget: Budget,
}

/// The results of one strategy.
struct Side {
    strategy: StrategySpec,
    done: Repeated,
    curve: Vec<(f64, f64)>,
}

impl Side {
    fn name(&self) -> String {
        self.strategy.to_string()
    }

    fn rate(&self) -> Interval {
        self.done.success_rate()
    }

    /// The mean of a figure over all runs, with and without a violation.
    fn mean(&self, of: impl Fn(&Report) -> f64) -> Option<Interval> {
        Interval::of_mean(&self.done.runs.iter().map(of).collect::<Vec<_>>())
    }

    fn complete(&self) -> Option<&Report> {
        self.done.runs.iter().find(|report| report.complete)
    }
}

/// The density factors below and above which the paper prefers SDRS and URS (Abed, Tripakis, Vincent 2008,
/// section 6.1).
const THIN: f64 = 0.03;
const BROAD: f64 = 0.07;

/// Runs the comparison. The returned findings have no claims; the advice is in the notes, followed by the
/// rule behind it.
pub fn compare(desk: &Desk, question: &Comparison) -> Result<Findings, LabError> {
    let started = Instant::now();
    let mut findings = Findings {
        name: "comparison".to_string(),
        title: format!("Strategies on {}", question.subject.source()),
        source: "wayfarer compare".to_string(),
        question: "Which strategy reaches the goal, how soon, with how long a witness, and how much does each cover?".to_string(),
        seed: desk.seed,
        settings: vec![("repetitions".to_string(), format!("{} of randomised strategies, from seed {}", question.runs, desk.seed))],
        ..Findings::default()
    };
    let limits = [
        question.plan.steps.map(|steps| format!("{} steps", grouped(steps as i64))),
        question.plan.states.map(|states| format!("{} states", grouped(states as i64))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().chain(question.plan.time.map(|time| format!("{} s", time.as_secs_f64()))).collect();
    if !limits.is_empty() {
        findings.settings.push(("each run at most".to_string(), limits.join(", ")));
    }
    desk.expect(question.strategies.iter().map(|strategy| runs(question, strategy) as usize).sum());
    let sides = question.strategies.iter().map(|strategy| side(desk, question, strategy)).collect::<Result<Vec<_>, _>>()?;
    tables(&mut findings, &sides);
    let lines = sides.iter().map(|side| Line::new(side.name(), side.curve.iter().copied().filter(|(steps, _)| *steps > 0.0)));
    findings.plots.push(Plot {
        title: "Distinct states covered, first run".into(),
        across: "steps".into(),
        up: "states".into(),
        log: (true, false),
        lines: lines.collect(),
    });
    let known = sides.iter().flat_map(|side| &side.done.runs).find_map(shape);
    // A search that ended at a deadlock says nothing about the whole; one that ignores deadlocks may.
    let known = match known {
        Some(known) => Some(known),
        None => shape(&desk.run_watched(
            &question.subject,
            &Plan { deadlock: Some(Deadlock::Off), ..question.plan.clone() },
            &question.budget,
            &mut |_| {},
        )?),
    };
    findings.notes = advice(&sides, known);
    findings.seconds = started.elapsed().as_secs_f64();
    Ok(findings)
}

/// Density factor, depth and states, if a run visited everything breadth first.
fn shape(report: &Report) -> Option<(f64, u32, u64)> {
    Some((report.density_factor?, report.depth?, report.states))
}

/// The number of runs; a deterministic strategy needs no repetition.
fn runs(question: &Comparison, strategy: &StrategySpec) -> u32 {
    if strategy.nature().seeded { question.runs.max(1) } else { 1 }
}

fn side(desk: &Desk, question: &Comparison, strategy: &StrategySpec) -> Result<Side, LabError> {
    let mut side = Side { strategy: strategy.clone(), done: Repeated::default(), curve: Vec::new() };
    for run in 0..runs(question, strategy) {
        let plan = Plan { strategy: strategy.clone(), seed: desk.seed.wrapping_add(u64::from(run)), ..question.plan.clone() };
        let (mut curve, mut next) = (Vec::new(), 0);
        let report = desk.run_watched(&question.subject, &plan, &question.budget, &mut |progress| {
            if run == 0 && progress.steps >= next {
                curve.push((progress.steps as f64, progress.states as f64));
                next = progress.steps + 1 + progress.steps / 32;
            }
        })?;
        if run == 0 {
            // Shortening a witness is a search of its own.
            curve.retain(|(steps, _): &(f64, f64)| *steps <= report.steps as f64);
            curve.push((report.steps as f64, report.states as f64));
            side.curve = curve;
        }
        side.done.runs.push(report);
        desk.tick()?;
    }
    Ok(side)
}

fn tables(findings: &mut Findings, sides: &[Side]) {
    let columns = vec![
        Column::new("strategy"),
        Column::new("runs"),
        Column::new("found").form(Form::Percent),
        Column::new("states"),
        Column::new("steps"),
        Column::new("seconds").form(Form::Fixed),
        Column::new("witness"),
        Column::new("before shortening"),
        Column::new("visits to known states").form(Form::Percent),
        Column::new("mostly ended by"),
    ];
    let mut table = Table::new("Means: steps and witnesses over the runs that found something, states and seconds over all", columns);
    for side in sides {
        let reports = &side.done.runs;
        let most = reports.iter().map(|report| report.stop).max_by_key(|stop| reports.iter().filter(|report| report.stop == *stop).count());
        table.row([
            Cell::from(side.name()),
            reports.len().into(),
            side.rate().into(),
            side.mean(|report| report.states as f64).into(),
            side.done.mean(steps).or_else(|| side.mean(steps)).into(),
            side.mean(|report| report.times.exploring).into(),
            side.done.mean(length).into(),
            side.done.mean(raw_length).into(),
            side.mean(|report| report.redundancy.unwrap_or(f64::NAN)).into(),
            most.map(wayfarer::Stop::word).into(),
        ]);
    }
    findings.tables.push(table);
}

/// The advice, and the rule behind it.
fn advice(sides: &[Side], known: Option<(f64, u32, u64)>) -> Vec<String> {
    let mut said = Vec::new();
    let finders: Vec<&Side> = sides.iter().filter(|side| side.done.successes().next().is_some()).collect();
    if finders.is_empty() {
        said.push(format!("Advice: {}", nothing_found(sides)));
    } else {
        let best = finders.iter().map(|side| side.rate().low).fold(0.0, f64::max);
        // Not clearly worse than the best: the 95 % intervals touch.
        let sure: Vec<&&Side> = finders.iter().filter(|side| side.rate().high >= best).collect();
        let least = |of: &dyn Fn(&Side) -> Option<f64>| {
            sure.iter().filter_map(|side| Some((side.name(), of(side)?))).min_by(|one, another| one.1.total_cmp(&another.1))
        };
        let mean = |side: &Side, of: fn(&Report) -> f64| side.done.mean(of).map(|mean| mean.value);
        if let (Some((soonest, steps)), Some((shortest, length))) = (least(&|side| mean(side, steps)), least(&|side| mean(side, length))) {
            said.push(format!("Advice: to find it again soon, use {soonest} ({} steps on average); for a short explanation, use {shortest} (a witness of {} steps on average).", plain(steps), plain(length)));
        }
        let seldom: Vec<String> = finders
            .iter()
            .filter(|side| side.rate().high < best)
            .map(|side| format!("{} ({:.0} %)", side.name(), 100.0 * side.rate().value))
            .collect();
        if !seldom.is_empty() {
            said.push(format!("Clearly less successful: {}.", seldom.join(", ")));
        }
    }
    if !finders.is_empty() {
        said.push(
            "The rule behind the advice: among strategies whose success is not clearly below the best one's (95 % intervals touch), the one with the fewest mean steps to the find, \
             and the one with the shortest mean witness."
                .to_string(),
        );
        return said;
    }
    // Runs that end when they find something are too short to tell how strategies cover a space.
    said.extend(density(sides, known));
    said.push(
        "The rule behind the advice: bfs, if it visited everything; else the strategy that covered most distinct states with the same steps."
            .to_string(),
    );
    said
}

fn nothing_found(sides: &[Side]) -> String {
    if let Some(side) = sides.iter().find(|side| side.complete().is_some()) {
        let states = side.complete().map_or(0, |report| report.states);
        return format!("{} visited all {} states and found nothing wrong; no other strategy can say more.", side.name(), grouped(states as i64));
    }
    let covered = sides.iter().filter_map(|side| Some((side, side.mean(|report| report.states as f64)?.value)));
    match covered.max_by(|one, another| one.1.total_cmp(&another.1)) {
        Some((side, states)) => format!(
            "nothing was found, and not everything was visited; {} covered most, {} distinct states on average.",
            side.name(),
            grouped(states as i64)
        ),
        None => "there was no run.".to_string(),
    }
}

/// The recommendation of the density factor, and whether the figures agree.
fn density(sides: &[Side], known: Option<(f64, u32, u64)>) -> Option<String> {
    let (factor, depth, states) = known?;
    let suggests = match factor {
        _ if factor < THIN => "thin, which suggests sdrs for less than full cover",
        _ if factor > BROAD => "broad, which suggests urs",
        _ => "neither thin nor broad, which suggests urs by a little",
    };
    let mean = |name: &str| {
        sides
            .iter()
            .find(|side| side.strategy.name() == name)
            .and_then(|side| side.mean(|report| report.states as f64 / report.steps.max(1) as f64))
            .map(|mean| mean.value)
    };
    let measured = match (mean("urs"), mean("sdrs")) {
        (Some(urs), Some(sdrs)) => {
            let (first, second) = if urs >= sdrs { ("urs", "sdrs") } else { ("sdrs", "urs") };
            let agrees = (first == "sdrs") == (factor < THIN);
            format!(
                " Here {first} found {} distinct states a step, {second} {}: the measurement {} it.",
                plain(urs.max(sdrs)),
                plain(urs.min(sdrs)),
                if agrees { "supports" } else { "contradicts" }
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "A rule of thumb for random searches (Abed, Tripakis and Vincent 2008): with {} states at a depth of {depth} this space is {suggests} (its density factor, the degree over \
         the depth of a tree of this size, is {}; below 0.03 is thin, above 0.07 broad).{measured}",
        grouped(states as i64),
        plain(factor)
    ))
}
