//! Randomised breadth-first search at memory 1.0 to 0.1: Figures 4 to 6 of its paper on models like SCI and Kerberos.

use crate::desk::{Desk, LabError};
use crate::judging::{ABOUT, Figure, Verdict, both, exactly, never};
use crate::models::{self, Model};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, grouped};
use std::collections::HashMap;
use wayfarer::memory::Budget;
use wayfarer::search::Deadlock;
use wayfarer::space::{Firing, Space, States, Steps, Word};
use wayfarer::{Interval, LoadOptions, Loaded, Plan, Report, load_text};

pub(super) const SCI: Experiment = Experiment {
    name: "rbfs-sci",
    title: "Randomised breadth-first search on a protocol like SCI",
    source: "Tronci, Della Penna, Intrigila, Venturini Zilli: A Probabilistic Approach to Automatic Verification of Concurrent Systems (2001), Figures 4 and 5",
    question: "With 1.0 to 0.1 of the memory of a full search: visits, omission probability, overhead, coverage and collisions?",
    seconds: (4.0, 200.0),
    alone: false,
    reads: &["sci.m"],
    settings: |quick| settings(&SHARING_LIST, quick),
    run: |desk, findings| run(desk, findings, &SHARING_LIST),
};

pub(super) const KERBEROS: Experiment = Experiment {
    name: "rbfs-kerberos",
    title: "Randomised breadth-first search on a login like Kerberos",
    source: "Tronci, Della Penna, Intrigila, Venturini Zilli (2001), Figures 4 and 6",
    question: "The same on a system of small diameter.",
    seconds: (2.0, 300.0),
    alone: false,
    reads: &[],
    settings: |quick| settings(&TICKETS, quick),
    run: |desk, findings| run(desk, findings, &TICKETS),
};

/// A system with the paper's figures.
pub(super) struct System {
    /// The paper's own model, if it is public: the end of its path in the user's folder.
    original: Option<&'static str>,
    /// Our own model of the kind, to stand in for it.
    model: Model,
    constants: &'static [(&'static str, i64)],
    quick: &'static [(&'static str, i64)],
    /// Reachable states, rules fired, most states in the queue, diameter: Figure 4.
    paper: [u32; 4],
    rows: [(f64, Row); 10],
}

/// The last visit's figures at a share of the memory.
#[derive(Clone, Copy)]
struct Row {
    visits: f64,
    pom1s: f64,
    pom1: f64,
    missed: f64,
    overhead: f64,
    coverage: f64,
    samples: f64,
    collisions: f64,
}

/// Figures in the order of the fields.
const fn row(figures: [f64; 8]) -> Row {
    let [visits, pom1s, pom1, missed, overhead, coverage, samples, collisions] = figures;
    Row { visits, pom1s, pom1, missed, overhead, coverage, samples, collisions }
}

/// A share of the memory, the paper's figures, our runs and those of our own variant.
type Measured = (f64, Row, Vec<Report>, Vec<Report>);

pub(super) const SHARING_LIST: System = System {
    original: Some("sci.m"),
    model: models::SHARING_LIST,
    constants: &[],
    quick: &[],
    paper: [18_193, 60_455, 1_175, 62],
    rows: [
        (1.0, row([1.0, 0.0, 0.0, 0.0, 1.066, 1.0, 0.0, 0.394])),
        (0.9, row([1.0, 0.0, 0.0, 0.0, 1.134, 1.0, 0.0, 0.491])),
        (0.8, row([1.0, 0.0, 0.0, 0.0, 1.313, 1.0, 0.0, 0.607])),
        (0.7, row([1.0, 0.0, 0.0, 0.0, 1.900, 1.0, 0.0, 0.764])),
        (0.6, row([2.0, 0.700, 0.747, 0.0, 10.178, 1.0, 181.0, 0.962])),
        (0.5, row([3.0, 0.611, 0.757, 1.0, 10.218, 0.999, 181.0, 0.968])),
        (0.4, row([3.0, 0.608, 0.775, 1.0, 10.166, 0.986, 181.0, 0.975])),
        (0.3, row([4.0, 0.667, 0.787, 1.0, 10.136, 0.935, 181.0, 0.980])),
        (0.2, row([4.0, 0.717, 0.760, 1.0, 10.099, 0.844, 181.0, 0.985])),
        (0.1, row([5.0, 0.708, 0.775, 1.0, 10.064, 0.571, 181.0, 0.989])),
    ],
};

pub(super) const TICKETS: System = System {
    original: None,
    model: models::KERBEROS,
    constants: &[("ClientCount", 2), ("ServerCount", 1), ("GrantCount", 2), ("TicketCount", 4)],
    quick: &[("ClientCount", 2), ("ServerCount", 1), ("GrantCount", 2), ("TicketCount", 2)],
    paper: [109_282, 172_111, 20_523, 19],
    rows: [
        (1.0, row([1.0, 0.0, 0.0, 0.0, 1.008, 1.0, 0.0, 0.303])),
        (0.9, row([1.0, 0.0, 0.0, 0.0, 1.013, 1.0, 0.0, 0.376])),
        (0.8, row([1.0, 0.0, 0.0, 0.0, 1.021, 1.0, 0.0, 0.450])),
        (0.7, row([1.0, 0.0, 0.0, 0.0, 1.033, 1.0, 0.0, 0.524])),
        (0.6, row([1.0, 0.0, 0.0, 0.0, 1.053, 1.0, 0.0, 0.599])),
        (0.5, row([1.0, 0.0, 0.0, 0.0, 1.084, 1.0, 0.0, 0.676])),
        (0.4, row([7.0, 0.841, 0.841, 0.0, 3.403, 1.0, 619.0, 0.917])),
        (0.3, row([10.0, 0.084, 0.955, 1.0, 9.713, 1.0, 1091.0, 0.978])),
        (0.2, row([8.0, 0.277, 0.963, 1.0, 10.026, 0.998, 1091.0, 0.986])),
        (0.1, row([10.0, 0.396, 0.979, 1.0, 10.040, 0.973, 1091.0, 0.993])),
    ],
};

/// To show that something happens in less than one run in twenty takes some eighty runs.
fn runs(quick: bool) -> u32 {
    if quick { 2 } else { 80 }
}

/// Runs at the shares of the memory about which no claim says never or always.
fn many(system: &System, quick: bool) -> u32 {
    match (quick, system.original) {
        (true, _) => 2,
        (false, Some(_)) => 16,
        (false, None) => 16,
    }
}

/// Runs of the variants that only the table shows.
fn fewer(system: &System, quick: bool) -> u32 {
    match (quick, system.original) {
        (true, _) => 2,
        (false, Some(_)) => 6,
        (false, None) => 3,
    }
}

/// In a quick run, every second share of the memory suffices.
fn rows(system: &System, quick: bool) -> impl Iterator<Item = (f64, Row)> {
    system.rows.into_iter().enumerate().filter(move |(at, _)| !quick || at % 2 == 0 || *at == 3).map(|(_, row)| row)
}

fn settings(system: &System, quick: bool) -> Settings {
    let constants: Vec<String> = if quick { system.quick } else { system.constants }.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    vec![
        (
            "model",
            format!(
                "{}{}{}, with symmetry where the model has it",
                system.original.map_or(String::new(), |name| format!("{name} of the user's folder, or ")),
                system.model.file,
                constants.concat()
            ),
        ),
        ("memory", "M = 5·Reach + 4·max Q bytes; at x·M a cache of x·M/8.2 slots and a queue of g = 0.8 as many places".to_string()),
        ("samples", "Reach/100; maxpom 0.01; levels=40".to_string()),
        (
            "repetitions",
            format!("{} at 0.7, {} at the other shares, {} of the variants (paper: 10)", runs(quick), many(system, quick), fewer(system, quick)),
        ),
    ]
}

/// A system whose states were all counted.
pub(super) struct Known {
    pub(super) loaded: Loaded,
    /// Whether it is the paper's own model.
    pub(super) original: bool,
    pub(super) reach: u64,
    fired: u64,
    /// The share of the steps that lead back by more than three levels.
    behind: f64,
    depth: u32,
    pub(super) widest: u64,
}

impl Known {
    pub(super) fn of(desk: &Desk, system: &System) -> Result<Known, LabError> {
        let found = system.original.and_then(|name| desk.find(name));
        let original = found.is_some();
        let loaded = match found {
            Some(found) => {
                load_text(&found.path, found.text, &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", found.path)))?
            }
            None => desk.load(system.model, if desk.quick { system.quick } else { system.constants })?,
        };
        let mut widest = 0;
        let plan = Plan { deadlock: Some(Deadlock::Off), ..Plan::default() };
        let report =
            desk.run_watched(&loaded.subject(), &plan, &Budget::new(usize::MAX / 2, 0), &mut |progress| widest = widest.max(progress.frontier))?;
        let loaded_space = wayfarer::space_of(&loaded.program, &Plan::default());
        Ok(Known {
            loaded,
            original,
            reach: report.states,
            fired: report.rules_fired,
            behind: behind(&*loaded_space),
            depth: report.depth.unwrap_or(0),
            widest,
        })
    }

    /// M in the paper's accounting.
    fn bytes(&self) -> u64 {
        5 * self.reach + 4 * self.widest
    }

    /// The cache's slots at a share of M, for a queue of `queue` times as many places.
    pub(super) fn slots(&self, share: f64, queue: f64) -> u64 {
        (share * self.bytes() as f64 / (5.0 + 4.0 * queue)) as u64
    }

    /// Runs a strategy with many seeds; distinct states are counted, not estimated.
    pub(super) fn repeat(&self, desk: &Desk, strategy: &str, runs: u32) -> Result<Vec<Report>, LabError> {
        let plan = Plan { strategy: spec(strategy)?, deadlock: Some(Deadlock::Off), record: Some(1 << 21), ..Plan::default() };
        // This is far beyond ten insertions per state, at which a run gives up by itself; a run that no
        // longer inserts anything would never notice.
        let plan = Plan { steps: Some(40 * self.fired), ..plan };
        desk.repeat(&self.loaded, &plan, runs)
    }

    /// Whether a run missed a state.
    pub(super) fn missed(&self, report: &Report) -> bool {
        report.states < self.reach
    }
}

/// The share of the steps of a breadth-first search that lead back by more than three levels.
fn behind(space: &dyn Space) -> f64 {
    let mut levels: HashMap<Vec<Word>, u32> = HashMap::new();
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut level = States::new(space.width());
    for state in steps.states.iter() {
        if levels.insert(state.to_vec(), 0).is_none() {
            level.push(state);
        }
    }
    let (mut depth, mut all, mut far) = (0, 0u64, 0u64);
    while !level.is_empty() {
        let mut next = States::new(space.width());
        for state in level.iter() {
            let mut one = States::new(space.width());
            one.push(state);
            steps.clear();
            space.expand(&one, Firing::of(0), &mut steps);
            for target in steps.states.iter() {
                all += 1;
                match levels.get(target) {
                    Some(found) => far += u64::from(found + 3 < depth),
                    None => {
                        levels.insert(target.to_vec(), depth + 1);
                        next.push(target);
                    }
                }
            }
        }
        level = next;
        depth += 1;
    }
    far as f64 / all.max(1) as f64
}

/// The mean of a figure over some runs.
pub(super) fn mean(reports: &[Report], of: impl Fn(&Report) -> f64) -> Option<Interval> {
    Interval::of_mean(&reports.iter().map(of).collect::<Vec<_>>())
}

pub(super) fn overhead(report: &Report) -> f64 {
    report.insertions as f64 / report.states.max(1) as f64
}

pub(super) fn is_accepted(report: &Report) -> bool {
    report.stop == wayfarer::Stop::Accepted
}

fn run(desk: &Desk, findings: &mut Findings, system: &System) -> Result<(), LabError> {
    let known = Known::of(desk, system)?;
    let of = |share: f64| if share == 0.7 { runs(desk.quick) } else { many(system, desk.quick) };
    desk.expect(rows(system, desk.quick).map(|(share, _)| of(share) + 2 * fewer(system, desk.quick)).sum::<u32>() as usize);
    facts(findings, system, &known);
    let mut all: Vec<Measured> = Vec::new();
    let columns = vec![
        Column::new("memory"),
        Column::paper("visits"),
        Column::new("visits"),
        Column::paper("Pom1s").form(Form::Fixed),
        Column::new("Pom1s").form(Form::Fixed),
        Column::paper("Pom1").form(Form::Fixed),
        Column::new("Pom1").form(Form::Fixed),
        Column::paper("missed"),
        Column::new("missed"),
        Column::paper("overhead").form(Form::Fixed),
        Column::new("overhead").form(Form::Fixed),
        Column::paper("coverage").form(Form::Fixed),
        Column::new("coverage").form(Form::Fixed),
        Column::paper("samples"),
        Column::new("samples"),
        Column::paper("collisions").form(Form::Fixed),
        Column::new("collisions").form(Form::Fixed),
        Column::new("accepted"),
        Column::new("own: overhead").form(Form::Fixed),
        Column::new("own: coverage").form(Form::Fixed),
    ];
    let mut table = Table::new("The last visit's figures at each share of the memory; missed is the share of runs that omitted a state", columns);
    for (share, paper) in rows(system, desk.quick) {
        let slots = known.slots(share, 0.8);
        let samples = (known.reach / 100).max(1);
        let strategy = |samples: u64, own: &str| format!("rbfs:slots={slots},queue=0.8,samples={samples}{own}");
        let ours = known.repeat(desk, &strategy(samples, ",levels=40"), of(share))?;
        // With a sample for every state, the maximum over the samples is the maximum over all.
        let every = known.repeat(desk, &strategy(4 * known.reach, ",levels=40"), fewer(system, desk.quick))?;
        let own = known.repeat(desk, &strategy(samples, ",own"), fewer(system, desk.quick))?;
        let last = |of: fn(&wayfarer::search::VisitFigures) -> f64| mean(&ours, |report| report.details.visits.last().map_or(f64::NAN, of));
        let missed = ours.iter().filter(|report| known.missed(report)).count() as f64 / ours.len() as f64;
        table.row([
            share.into(),
            paper.visits.into(),
            mean(&ours, |report| report.details.visits.len() as f64).into(),
            paper.pom1s.into(),
            last(|visit| visit.pom1s.unwrap_or(f64::NAN)).into(),
            paper.pom1.into(),
            mean(&every, |report| report.details.visits.last().and_then(|visit| visit.pom1s).unwrap_or(f64::NAN)).into(),
            paper.missed.into(),
            missed.into(),
            paper.overhead.into(),
            mean(&ours, overhead).into(),
            paper.coverage.into(),
            mean(&ours, |report| report.states as f64 / known.reach as f64).into(),
            paper.samples.into(),
            last(|visit| visit.samples as f64).into(),
            paper.collisions.into(),
            last(|visit| visit.collision_rate).into(),
            Cell::from(format!("{} of {}", ours.iter().filter(|report| is_accepted(report)).count(), ours.len())),
            mean(&own, overhead).into(),
            mean(&own, |report| report.states as f64 / known.reach as f64).into(),
        ]);
        all.push((share, paper, ours, own));
    }
    findings.tables.push(table);
    each_visit(findings, &known, &all);
    plots(findings, &known, &all);
    judge(findings, &known, &all);
    match (system.original, known.original) {
        (Some(name), true) => findings.note(format!("This is the paper's own model, {name}, from the folder that the user named.")),
        (Some(name), false) => findings.note(format!(
            "The paper's own model, {name}, is not ours to ship; {} stands in for it. `--corpus FOLDER` runs the original if the folder holds it.",
            system.model.file
        )),
        (None, _) => findings.note(format!("The paper's own model is not public as far as we know; {} stands in for it.", system.model.file)),
    }
    findings.note("The states in the queue lie outside the paper's accounting. `own` is Wayfarer's variant in the same bytes: smaller slots, a smaller queue, and a reservoir for states that do not fit.");
    Ok(())
}

fn facts(findings: &mut Findings, system: &System, known: &Known) {
    let columns = vec![Column::new("figure"), Column::paper("paper").form(Form::Count), Column::new("here").form(Form::Count)];
    let mut table = Table::new("Figure 4: the systems", columns);
    let ours = [known.reach, known.fired, known.widest, u64::from(known.depth)];
    for ((name, paper), ours) in ["reachable states", "rules fired", "most states in the queue", "diameter"].iter().zip(system.paper).zip(ours) {
        table.row([Cell::from(*name), paper.into(), ours.into()]);
    }
    table.row([
        Cell::from("M, KiB"),
        Cell::Number(f64::from(5 * system.paper[0] + 4 * system.paper[2]) / 1024.0),
        Cell::Number(known.bytes() as f64 / 1024.0),
    ]);
    findings.tables.push(table);
}

/// The observer's knowledge after each visit, if there was more than one.
fn each_visit(findings: &mut Findings, known: &Known, all: &[Measured]) {
    let columns = vec![
        Column::new("memory"),
        Column::new("visit"),
        Column::new("runs that came so far"),
        Column::new("Pom1s").form(Form::Fixed),
        Column::new("insertions per reachable state").form(Form::Fixed),
        Column::new("samples"),
        Column::new("collisions").form(Form::Fixed),
    ];
    let mut table = Table::new("Visit by visit, if one was not enough", columns);
    for (share, _, ours, _) in all {
        let most = ours.iter().map(|report| report.details.visits.len()).max().unwrap_or(0);
        for visit in (0..most.min(10)).filter(|_| most > 1) {
            let some: Vec<_> = ours.iter().filter_map(|report| report.details.visits.get(visit)).collect();
            let mean =
                |of: &dyn Fn(&wayfarer::search::VisitFigures) -> f64| Interval::of_mean(&some.iter().map(|visit| of(visit)).collect::<Vec<_>>());
            table.row([
                (*share).into(),
                (visit + 1).into(),
                some.len().into(),
                mean(&|visit| visit.pom1s.unwrap_or(f64::NAN)).into(),
                mean(&|visit| visit.insertions as f64 / known.reach as f64).into(),
                mean(&|visit| visit.samples as f64).into(),
                mean(&|visit| visit.collision_rate).into(),
            ]);
        }
    }
    findings.tables.push(table);
}

fn plots(findings: &mut Findings, known: &Known, all: &[Measured]) {
    let line = |name: &str, of: &dyn Fn(&Measured) -> f64| Line::new(name, all.iter().rev().map(|row| (row.0, of(row))));
    let value = |reports: &[Report], of: &dyn Fn(&Report) -> f64| mean(reports, of).map_or(f64::NAN, |mean| mean.value);
    let covered = |report: &Report| report.states as f64 / known.reach as f64;
    findings.plots.push(Plot {
        title: "Insertions per distinct state".into(),
        across: "share of the memory".into(),
        up: "overhead".into(),
        log: (false, true),
        lines: vec![
            line("paper", &|row| row.1.overhead),
            line("rbfs", &|row| value(&row.2, &overhead)),
            line("own", &|row| value(&row.3, &overhead)),
        ],
    });
    findings.plots.push(Plot {
        title: "Coverage".into(),
        across: "share of the memory".into(),
        up: "share of the states visited".into(),
        log: (false, false),
        lines: vec![line("paper", &|row| row.1.coverage), line("rbfs", &|row| value(&row.2, &covered)), line("own", &|row| value(&row.3, &covered))],
    });
}

fn judge(findings: &mut Findings, known: &Known, all: &[Measured]) {
    let accepted: Vec<&Report> = all.iter().flat_map(|(_, _, ours, _)| ours).filter(|report| is_accepted(report)).collect();
    let wrongly = accepted.iter().filter(|report| known.missed(report)).count();
    findings.judge(
        "Accepting a run with Pom1s ≤ 0.01 never commits an error of type 1",
        &[never(wrongly, accepted.len())],
        format!("Of {} accepted runs {wrongly} had missed a state.", accepted.len()),
    );
    let least = |of: &dyn Fn(&Measured) -> bool| all.iter().filter(|row| of(row)).map(|row| row.0).fold(f64::INFINITY, f64::min);
    let all_accepted = least(&|row| row.2.iter().all(is_accepted));
    let paper = least(&|row| row.1.visits == 1.0 && row.1.missed == 0.0);
    let at = |share: f64| all.iter().find(|row| row.0 == share);
    let cost = at(all_accepted).map_or(f64::NAN, |row| figure(&row.2, overhead).interval.value);
    let quoted = at(paper).map_or(f64::NAN, |row| row.1.overhead);
    let saved = at(0.7).map_or(Verdict::Open(None), |row| {
        let usual = Figure::share(row.2.iter().filter(|report| is_accepted(report)).count(), row.2.len()).is_usual();
        both(usual, figure(&row.2, overhead).below(2.0 * ABOUT))
    });
    findings.judge(
        "30 % of the memory are saved, at about twice the time",
        &[saved],
        if all_accepted.is_finite() {
            format!(
                "All runs are accepted down to {all_accepted} of the memory (paper: {paper}), at {cost:.2} insertions a state (paper: {quoted:.2}). Judged at 0.7: nearly all accepted, at no more than {} insertions a state.",
                2.0 * ABOUT
            )
        } else {
            "At no share of the memory were all runs accepted.".to_string()
        },
    );
    stand_in(findings, known);
    let refused: Vec<String> =
        all.iter().filter(|row| row.2.iter().any(|report| !is_accepted(report) && !known.missed(report))).map(|row| row.0.to_string()).collect();
    findings.judge(
        "Between the last run that is rightly accepted and the first that is rightly refused, some are refused though they missed nothing (type 2)",
        &[exactly(!refused.is_empty())],
        if refused.is_empty() {
            "No run that visited everything was refused.".to_string()
        } else {
            format!("Runs that visited every state were refused at {} of the memory.", refused.join(", "))
        },
    );
    let near: Vec<(f64, Figure, f64)> =
        all.iter().filter(|row| row.1.overhead < 3.0).map(|row| (row.0, figure(&row.2, overhead), row.1.overhead)).collect();
    let listed: Vec<String> =
        near.iter().map(|(share, ours, paper)| format!("{:+.0} % at {share}", 100.0 * (ours.interval.value / paper - 1.0))).collect();
    findings.judge(
        "Overhead at each share of the memory, if one visit is enough",
        &near.iter().map(|(_, ours, paper)| ours.about(*paper)).collect::<Vec<_>>(),
        format!("Ours against the paper's: {}; a quarter more or less is about the same.", listed.join(", ")),
    );
    stand_in(findings, known);
    let covered = |report: &Report| report.states as f64 / known.reach as f64;
    findings.judge(
        "Coverage at each share of the memory",
        &all.iter().map(|row| figure(&row.2, covered).about(row.1.coverage)).collect::<Vec<_>>(),
        format!(
            "{}.",
            all.iter()
                .map(|row| format!("{:.3} at {} (paper {:.3})", figure(&row.2, covered).interval.value, row.0, row.1.coverage))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    stand_in(findings, known);
    let spread: Vec<Verdict> = all
        .iter()
        .map(|row| {
            let mean = figure(&row.2, overhead).interval.value;
            let far = row.2.iter().map(overhead).filter(|one| *one > mean * ABOUT || *one < mean / ABOUT).count();
            Figure::share(far, row.2.len()).below(0.5)
        })
        .collect();
    findings.judge(
        "Different runs give very similar results, so that the averages stand for single runs",
        &spread,
        "Judged at each share of the memory: most runs have an overhead within a quarter of the mean.".to_string(),
    );
}

/// A reason that holds for every figure of a stand-in: it is another graph.
fn stand_in(findings: &mut Findings, known: &Known) {
    if !known.original {
        let behind = known.behind;
        findings.because(
            behind > 0.02,
            "Our model is another graph of about the same size: more of its steps lead back to states that a cache has long forgotten.",
            format!("Of the {} steps of our model {:.1} % lead back by more than three levels.", grouped(known.fired as i64), 100.0 * behind),
        );
    }
}

fn figure(reports: &[Report], of: impl Fn(&Report) -> f64) -> Figure {
    Figure::mean(&reports.iter().map(of).collect::<Vec<_>>())
}
