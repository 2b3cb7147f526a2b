//! Tables 1 and 2 of the Abed papers: mean cover times of four systems, and the slowdown of coverage.

use super::rings::{self, Rings};
use super::systems::{Counted, SYSTEMS, System, plan};
use crate::desk::{Desk, LabError};
use crate::judging::{FITS, Figure, MOST, Verdict, exactly};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, plain};
use std::time::Instant;
use wayfarer::memory::Budget;
use wayfarer::{Interval, Plan};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cover-models",
    title: "Mean cover time of four systems, and where coverage stagnates",
    source: "Abed, Tripakis, Vincent (SPIN 2008), Tables 1 and 2; Resource-Aware Verification, Tables 1 and 2",
    question: "How long do URS and SDRS take to cover 60 to 100 % of Quicksort, Token ring, Fischer and Client/Server, and which is faster at which density factor?",
    seconds: (7.0, 1500.0),
    alone: false,
    reads: &[],
    settings,
    run,
};

const SHARES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 1.0];
/// The searches compared. The last two are those of the papers' implementation, which no longer draws closed states.
const SEARCHES: [(&str, &str); 4] = [
    ("URS", "urs:choice=states,batch=1"),
    ("SDRS", "sdrs:choice=states,batch=1"),
    ("URS, closed states out", "urs:close=on,choice=states,batch=1"),
    ("SDRS, closed states out", "sdrs:close=on,choice=states,batch=1"),
];

fn runs(quick: bool) -> u32 {
    if quick { 4 } else { 12 }
}

/// Steps after which a run that has not covered everything is given up.
fn most_steps(quick: bool) -> u64 {
    if quick { 1_000_000 } else { 2_000_000 }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("models", SYSTEMS.iter().map(|system| system.words(quick)).collect::<Vec<_>>().join("; ")),
        ("repetitions", format!("{} (paper: 100)", runs(quick))),
        ("given up after", format!("{} steps", crate::grouped(most_steps(quick) as i64))),
        ("strategies", SEARCHES.map(|(_, strategy)| strategy).join(" ")),
    ]
}

/// The steps and seconds at which each share was covered, and the curve up to there.
struct Way {
    times: [Option<(f64, f64)>; 5],
    curve: Vec<(f64, f64)>,
}

/// All runs of one search on one system.
struct Runs(Vec<Way>);

impl Runs {
    /// The mean over all runs; `None` if some did not reach the share.
    fn mean(&self, share: usize, of: fn((f64, f64)) -> f64) -> Option<Interval> {
        let reached: Option<Vec<f64>> = self.0.iter().map(|way| way.times[share].map(of)).collect();
        Interval::of_mean(&reached?)
    }

    /// The steps to a share as a figure.
    fn figure(&self, share: usize) -> Option<Figure> {
        self.mean(share, steps).map(|mean| Figure::of(mean, self.0.len()))
    }

    /// The share of each run's steps that the last tenth of the states takes. If a run was given up before that, it is at least
    /// what follows from the steps that it was allowed; nothing if some run did not get to nine tenths.
    fn tail(&self, most: u64) -> Figure {
        let share = |way: &Way| Some(1.0 - way.times[3]?.0 / way.times[4].map_or(most as f64, steps));
        let shares: Option<Vec<f64>> = self.0.iter().map(share).collect();
        Figure::mean(&shares.unwrap_or_default())
    }

    fn cell(&self, share: usize, of: fn((f64, f64)) -> f64) -> Cell {
        match self.mean(share, of) {
            Some(mean) => mean.into(),
            None => format!("not in {} of {}", self.0.iter().filter(|way| way.times[share].is_none()).count(), self.0.len()).into(),
        }
    }
}

fn steps((steps, _): (f64, f64)) -> f64 {
    steps
}

fn seconds((_, seconds): (f64, f64)) -> f64 {
    seconds
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    desk.expect(SYSTEMS.len() * (1 + SEARCHES.len() * runs(desk.quick) as usize) + rings::PIECES);
    let mut all: Vec<(&System, Counted, Vec<Runs>)> = Vec::new();
    for system in &SYSTEMS {
        let counted = system.count(desk)?;
        desk.tick()?;
        let mut searches = Vec::new();
        for (_, strategy) in SEARCHES {
            let strategy = spec(&format!("{strategy},capacity={}", counted.states))?;
            let plan = Plan { steps: Some(most_steps(desk.quick)), ..plan(strategy) };
            let seeds: Vec<u64> = (0..u64::from(runs(desk.quick))).map(|run| desk.seed.wrapping_add(run)).collect();
            searches.push(Runs(desk.each(&seeds, |seed| cover(desk, &counted, &Plan { seed: *seed, ..plan.clone() }))?));
        }
        all.push((system, counted, searches));
    }
    graphs(findings, &all);
    times(findings, &all);
    for (system, counted, searches) in &all {
        findings.plots.push(coverage(system, counted, searches));
    }
    let rings = rings::rings(desk)?;
    rings.table(findings);
    judge(findings, &all, most_steps(desk.quick), &rings);
    Ok(())
}

fn cover(desk: &Desk, counted: &Counted, plan: &Plan) -> Result<Way, LabError> {
    let started = Instant::now();
    let wanted = SHARES.map(|share| (share * counted.states as f64 - 1e-9).ceil() as u64);
    let mut way = Way { times: [None; 5], curve: Vec::new() };
    let mut next = 0;
    let mut see = |way: &mut Way, states: u64, steps: u64| {
        for (time, _) in way.times.iter_mut().zip(&wanted).filter(|(time, wanted)| time.is_none() && states >= **wanted) {
            *time = Some((steps as f64, started.elapsed().as_secs_f64()));
        }
        if steps >= next {
            way.curve.push((steps as f64, 100.0 * states as f64 / counted.states as f64));
            next = steps + 1 + steps / 16;
        }
    };
    let report = desk.run_watched(&counted.loaded.subject(), plan, &Budget::new(usize::MAX / 2, 0), &mut |progress| {
        see(&mut way, progress.states, progress.steps)
    })?;
    see(&mut way, report.states, report.steps);
    Ok(way)
}

type All<'a> = [(&'a System, Counted, Vec<Runs>)];

fn graphs(findings: &mut Findings, all: &All) {
    let columns = vec![
        Column::new("system"),
        Column::paper("states").form(Form::Count),
        Column::new("states").form(Form::Count),
        Column::paper("longest path"),
        Column::new("depth"),
        Column::paper("density factor").form(Form::Fixed),
        Column::new("density factor").form(Form::Fixed),
        Column::new("has an end"),
    ];
    let mut table = Table::new("Table 1: the systems, in the paper and here", columns);
    for (system, counted, _) in all {
        let (states, path, density) = system.paper;
        let ends = if counted.ends { "yes" } else { "no" };
        table.row([
            system.name.into(),
            states.into(),
            counted.states.into(),
            path.into(),
            counted.depth.into(),
            density.into(),
            counted.density.into(),
            Cell::from(ends),
        ]);
    }
    findings.tables.push(table);
}

fn times(findings: &mut Findings, all: &All) {
    let mut columns = vec![Column::new("system"), Column::new("share").form(Form::Percent), Column::paper("URS, s"), Column::paper("SDRS, s")];
    columns.extend(SEARCHES.iter().map(|(name, _)| Column::new(format!("{name}, steps"))));
    columns.extend(SEARCHES.iter().take(2).map(|(name, _)| Column::new(format!("{name}, s"))));
    columns.push(Column::paper("SDRS/URS"));
    columns.push(Column::new("SDRS/URS, steps"));
    let mut table = Table::new("Table 2: mean cover times", columns);
    for (system, _, searches) in all {
        for (at, share) in SHARES.into_iter().enumerate() {
            let paper = [system.seconds[0][at], system.seconds[1][at]];
            let ratio = ratio(searches, at).map_or(Cell::Empty, Cell::from);
            let mut row = vec![Cell::from(system.name), share.into(), paper[0].into(), paper[1].into()];
            row.extend(searches.iter().map(|runs| runs.cell(at, steps)));
            row.extend(searches.iter().take(2).map(|runs| runs.cell(at, seconds)));
            row.extend([Cell::from(paper[1] / paper[0]), ratio]);
            table.row(row);
        }
    }
    findings.tables.push(table);
}

fn ratio(searches: &[Runs], share: usize) -> Option<f64> {
    Some(searches[1].mean(share, steps)?.value / searches[0].mean(share, steps)?.value)
}

fn coverage(system: &System, counted: &Counted, searches: &[Runs]) -> Plot {
    let lines = SEARCHES
        .iter()
        .zip(searches)
        .filter_map(|((name, _), runs)| Some(Line::new(*name, runs.0.first()?.curve.iter().copied().filter(|(steps, _)| *steps >= 10.0))));
    Plot {
        title: format!("{}, {} states", system.name, crate::grouped(counted.states as i64)),
        across: "steps".to_string(),
        up: "covered, per cent".to_string(),
        log: (true, false),
        lines: lines.collect(),
    }
}

fn judge(findings: &mut Findings, all: &All, most: u64, rings: &Rings) {
    // The papers' Table 2 against both forms of the algorithms: as printed, and without closed states.
    let readings = [("as printed", 0, 1), ("closed states out of the choice", 2, 3)].map(|(name, urs, sdrs)| (name, table_two(all, urs, sdrs)));
    let agreeing = |cells: &[(String, Verdict)]| cells.iter().filter(|(_, verdict)| *verdict == Verdict::Agrees).count();
    let best = if agreeing(&readings[1].1) > agreeing(&readings[0].1) { &readings[1] } else { &readings[0] };
    let differing: Vec<&str> = best.1.iter().filter(|(_, verdict)| *verdict == Verdict::Differs).map(|(name, _)| name.as_str()).collect();
    findings.judge(
        "URS is faster on all systems but Token, where SDRS is faster below full cover",
        &best.1.iter().map(|(_, verdict)| *verdict).collect::<Vec<_>>(),
        format!(
            "The same algorithm wins, counted in steps, in {} of {} cells of Table 2 for the algorithms {} and in {} for those with {}; judged by the better reading, {}.{}",
            agreeing(&readings[0].1),
            readings[0].1.len(),
            readings[0].0,
            agreeing(&readings[1].1),
            readings[1].0,
            best.0,
            if differing.is_empty() { String::new() } else { format!(" The other wins at: {}.", differing.join(", ")) }
        ),
    );
    let walking: Vec<&str> = all.iter().filter(|(_, counted, _)| !counted.ends).map(|(system, ..)| system.name).collect();
    let elsewhere = differing.iter().filter(|cell| !walking.iter().any(|name| cell.starts_with(name))).count();
    findings.because(
        elsewhere == 0,
        "SDRS jumps only in states without successors; on a system that has none it is a plain random walk, whose order need not be the paper's.",
        format!("Systems without such a state here: {}. Cells that differ on other systems: {elsewhere}.", walking.join(", ")),
    );
    let (own, theirs): (Vec<f64>, Vec<f64>) = all.iter().map(|(system, counted, _)| (counted.density, system.paper.2)).unzip();
    let order = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        order
    };
    let reordered = order(&own) != order(&theirs);
    findings.because(
        reordered,
        "Our models have other density factors than the paper's.",
        format!(
            "Here {}, there {}: the order of the systems by density is {}.",
            list(&own),
            list(&theirs),
            if reordered { "another" } else { "the same" }
        ),
    );
    let pace = |runs: &Runs| Some(runs.mean(0, seconds)?.value / runs.mean(0, steps)?.value);
    let faster = all.iter().filter(|(system, ..)| system.seconds[0][0] > system.seconds[1][0]).all(|(_, _, searches)| {
        let (urs, sdrs) = (searches[0].mean(0, seconds), searches[1].mean(0, seconds));
        urs.zip(sdrs).is_some_and(|(urs, sdrs)| sdrs.value < urs.value)
    });
    let paces: Vec<String> = all
        .iter()
        .filter_map(|(system, _, searches)| Some(format!("{} {:.1} and {:.1}", system.name, 1e6 * pace(&searches[0])?, 1e6 * pace(&searches[1])?)))
        .collect();
    findings.because(
        faster,
        "The paper counts seconds, and a step of SDRS may cost less than one of URS.",
        format!("Microseconds a step of URS and of SDRS: {}. To turn the order on Token a step would have to cost a tenth.", paces.join(", ")),
    );
    rings.explain(findings);
    let tails: Vec<(&str, Figure)> = all.iter().map(|(system, _, searches)| (system.name, searches[0].tail(most))).collect();
    findings.judge(
        "Coverage stagnates near 90 %: the last states are the hardest",
        &tails.iter().map(|(_, tail)| tail.above(MOST)).collect::<Vec<_>>(),
        format!(
            "Share of URS's steps spent on the last tenth of the states, at least: {}.",
            tails.iter().map(|(name, tail)| format!("{name} {:.0} %", 100.0 * tail.interval.value)).collect::<Vec<_>>().join(", ")
        ),
    );
    let saved: Vec<(&str, &Runs, &Runs)> =
        all.iter().flat_map(|(system, _, searches)| [(system.name, &searches[0], &searches[2]), (system.name, &searches[1], &searches[3])]).collect();
    let factors: Vec<String> = saved
        .iter()
        .map(|(name, kept, closed)| match (kept.mean(4, steps), closed.mean(4, steps)) {
            (Some(kept), Some(closed)) => format!("{name} {}", plain(kept.value / closed.value)),
            _ => format!("{name} not covered"),
        })
        .collect();
    findings.judge(
        "Taking completely explored states out of the choice avoids redundant visits",
        &saved.iter().filter_map(|(_, kept, closed)| Some(kept.figure(4)?.more_than(&closed.figure(4)?))).collect::<Vec<_>>(),
        format!("Steps to full cover are divided by these factors, for URS and for SDRS: {}.", factors.join(", ")),
    );
    findings.because(
        walking.len() < all.len(),
        "A walk that never jumps draws from no choice, so that taking states out of it changes nothing.",
        format!("SDRS never jumps on {}.", walking.join(", ")),
    );
    let fits: Vec<(&str, f64)> =
        all.iter().filter_map(|(system, _, searches)| Some((system.name, logarithmic(&searches[0].0.first()?.curve)?))).collect();
    findings.judge(
        "Coverage grows like the logarithm of the steps",
        &fits.iter().map(|(_, fit)| exactly(*fit > FITS)).collect::<Vec<_>>(),
        format!(
            "Covered states against the logarithm of steps, between 20 and 90 %: R² of a straight line is {}.",
            fits.iter().map(|(name, fit)| format!("{name} {}", plain(*fit))).collect::<Vec<_>>().join(", ")
        ),
    );
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(", ")
}

/// For each cell of Table 2, whether the same algorithm wins.
fn table_two(all: &All, urs: usize, sdrs: usize) -> Vec<(String, Verdict)> {
    let mut cells = Vec::new();
    for (system, _, searches) in all {
        for (at, share) in SHARES.into_iter().enumerate() {
            let urs_wins = system.seconds[1][at] > system.seconds[0][at];
            let verdict = match (searches[urs].figure(at), searches[sdrs].figure(at)) {
                (Some(urs), Some(sdrs)) if urs_wins => sdrs.more_than(&urs),
                (Some(urs), Some(sdrs)) => urs.more_than(&sdrs),
                // If one does not reach the share within the steps and the other does, the other wins.
                (Some(_), None) => exactly(urs_wins),
                (None, Some(_)) => exactly(!urs_wins),
                (None, None) => Verdict::Open(None),
            };
            cells.push((format!("{} at {:.0} %", system.name, 100.0 * share), verdict));
        }
    }
    cells
}

/// R² of coverage as a linear function of the logarithm of steps, between 20 and 90 %.
fn logarithmic(curve: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        curve.iter().filter(|(steps, share)| *steps > 0.0 && (20.0..=90.0).contains(share)).map(|(steps, share)| (steps.ln(), *share)).collect();
    correlation(&points).map(|r| r * r)
}

/// The correlation of some points; `None` if there are fewer than three.
pub(super) fn correlation(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let (x, y) = (points.iter().map(|point| point.0).sum::<f64>() / n, points.iter().map(|point| point.1).sum::<f64>() / n);
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    Some(sum(&|point| (point.0 - x) * (point.1 - y)) / (sum(&|point| (point.0 - x).powi(2)) * sum(&|point| (point.1 - y).powi(2))).sqrt())
}
