//! Difference storage on coloured Petri nets of the Model Checking Contest, beside the paper's artificial ones.

use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly};
use crate::nets::DELTAS;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, plain};
use std::sync::Arc;
use std::time::Instant;
use wayfarer::search::{Deadlock, StoreSpec};
use wayfarer::theory::TableOne;
use wayfarer::{Interval, LoadOptions, Plan, Report, Subject, open_text};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coloured-nets",
    title: "Storing states as differences on real coloured nets",
    source: "Mukherjee, Tari, Bertok (2010), Tables 1 and 2; nets of the Model Checking Contest 2023",
    question: "Do the paper's savings and delays hold on coloured nets that others wrote?",
    seconds: (5.0, 200.0),
    alone: true,
    reads: &NETS,
    settings,
    run,
};

const NETS: [&str; 6] = [
    "Peterson-COL-3.pnml",
    "LamportFastMutEx-COL-4.pnml",
    "PhilosophersDyn-COL-10.pnml",
    "Referendum-COL-0010.pnml",
    "TokenRing-COL-010.pnml",
    "AirplaneLD-COL-0010.pnml",
];

/// The most tokens of a marking, as the contest has them.
const TOKENS: [u64; 6] = [11, 22, 20, 10, 11, 38];

/// Stores take memory in segments: with fewer states than this their bytes a state mean nothing.
const ENOUGH: u64 = 150_000;

/// The most states of a net, and the runs.
fn scale(quick: bool) -> (u64, usize) {
    if quick { (20_000, 2) } else { (600_000, 14) }
}

fn settings(quick: bool) -> Settings {
    let (states, runs) = scale(quick);
    vec![
        ("nets", NETS.join(", ")),
        ("search", format!("breadth-first, one thread, at most {} states, {runs} interleaved runs", crate::grouped(states as i64))),
        ("stores", "exact; difference with δ = 1, 2, 3, 7, 20".to_string()),
    ]
}

/// A net with its runs: whole states, then each δ.
struct Measured {
    name: String,
    tokens: u64,
    runs: Vec<Vec<Run>>,
}

/// A report, and the seconds of exploration less those in which the computer did something else.
struct Run {
    report: Report,
    seconds: f64,
}

impl Measured {
    /// Whether it has enough states for bytes a state to mean something.
    fn is_large(&self) -> bool {
        self.runs[0].first().is_some_and(|run| run.report.states >= ENOUGH)
    }

    /// The saving at δ = 20 by the paper's accounting of four bytes a token.
    fn accounted(&self) -> f64 {
        let formula = TableOne::new(self.tokens);
        1.0 - formula.bytes(20) as f64 / formula.bytes(1) as f64
    }

    fn bytes(&self, store: usize) -> f64 {
        self.runs[store].first().and_then(|run| run.report.bytes_per_state).unwrap_or(f64::NAN)
    }

    fn saved(&self, store: usize) -> f64 {
        1.0 - self.bytes(store) / self.bytes(0)
    }

    /// Time as a multiple of keeping states whole, by the median of the interleaved runs.
    fn time(&self, store: usize) -> Figure {
        Figure::median(&self.runs[store].iter().zip(&self.runs[0]).map(|(one, whole)| one.seconds / whole.seconds).collect::<Vec<_>>())
    }
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let (states, runs) = scale(desk.quick);
    let mut all: Vec<Measured> = Vec::new();
    // Those that have more states than are visited, with a tenth of them.
    let mut fewer: Vec<Measured> = Vec::new();
    desk.expect(NETS.len());
    for (name, tokens) in NETS.into_iter().zip(TOKENS) {
        let Some(found) = desk.find(name) else {
            desk.tick()?;
            continue;
        };
        let opened =
            open_text(&found.path, found.text, &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", found.path)))?;
        let measured = Measured { tokens, ..measure(desk, name, &opened.subject, states, runs)? };
        if measured.runs[0][0].report.states == states {
            fewer.push(measure(desk, name, &opened.subject, states / 10, runs)?);
        }
        all.push(measured);
        desk.tick()?;
    }
    if all.is_empty() {
        findings.judge(
            "The savings hold on real coloured nets",
            &[Verdict::Open(None)],
            "No net was found: the nets are not ours to ship. `--corpus FOLDER` names a folder that holds them.",
        );
        return Ok(());
    }
    table(findings, &all);
    plots(findings, &all);
    judge(findings, &all, &fewer);
    if all.len() < NETS.len() {
        findings.note(format!("Of {} nets {} were found in the folder.", NETS.len(), all.len()));
    }
    Ok(())
}

fn measure(desk: &Desk, name: &str, subject: &Arc<dyn Subject>, states: u64, runs: usize) -> Result<Measured, LabError> {
    let stores: Vec<String> = std::iter::once("exact".to_string()).chain(DELTAS.iter().map(|delta| format!("difference:delta={delta}"))).collect();
    let mut all: Vec<Vec<Run>> = stores.iter().map(|_| Vec::new()).collect();
    // One after the other, since this measures time; the stores take turns.
    for _ in 0..runs {
        for (store, reports) in stores.iter().zip(&mut all) {
            let store: StoreSpec = store.parse().map_err(|error| LabError::Failed(format!("{store}: {error}")))?;
            let plan = Plan {
                store: Some(store),
                strategy: "bfs".parse().map_err(|error| LabError::Failed(format!("bfs: {error}")))?,
                states: Some(states),
                threads: 1,
                deadlock: Some(Deadlock::Off),
                shorten: false,
                ..Plan::default()
            };
            let (started, busy) = (Instant::now(), processor_seconds());
            let report = desk.run_on(subject, &plan)?;
            let share = processor_seconds().zip(busy).map_or(1.0, |(now, before)| (now - before) / started.elapsed().as_secs_f64());
            reports.push(Run { seconds: report.times.exploring * share.clamp(0.01, 1.0), report });
        }
    }
    Ok(Measured { name: name.trim_end_matches(".pnml").to_string(), tokens: 0, runs: all })
}

/// The seconds that this process was on a processor, where the system says so: Linux, in hundredths.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in brackets, which may hold anything, user and system time are fields 12 and 13.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}

fn table(findings: &mut Findings, all: &[Measured]) {
    let mut columns =
        vec![Column::new("net"), Column::new("states").form(Form::Count), Column::new("bits a state"), Column::new("whole, bytes a state")];
    columns.extend(DELTAS.iter().map(|delta| Column::new(format!("δ = {delta}: bytes"))));
    columns.extend(DELTAS.iter().map(|delta| Column::new(format!("δ = {delta}: time"))));
    let mut table = Table::new("True bytes a state, links and table included, and time as a multiple of keeping states whole", columns);
    for net in all {
        let report = &net.runs[0][0].report;
        let bytes = |store: usize| if net.is_large() { Cell::from(net.bytes(store)) } else { Cell::from("too few states") };
        let times = (1..=DELTAS.len()).map(|store| Cell::from(net.time(store).interval));
        let head = [Cell::from(net.name.as_str()), report.states.into(), report.state_bits.into()];
        table.row(head.into_iter().chain((0..=DELTAS.len()).map(bytes)).chain(times));
    }
    findings.tables.push(table);
    // The paper's own accounting on its artificial nets, for comparison.
    let mut columns = vec![Column::new("the paper's net")];
    columns.extend(DELTAS.iter().map(|delta| Column::paper(format!("δ = {delta}: saved")).form(Form::Percent)));
    let mut table = Table::new("Table 1 for comparison: saved by the paper's accounting on artificial nets", columns);
    for (places, tokens) in crate::nets::NETS {
        let formula = TableOne::new(tokens as u64);
        let whole = formula.bytes(1) as f64;
        table.row(
            std::iter::once(Cell::from(format!("{places} places, {tokens} tokens")))
                .chain(DELTAS.iter().map(|delta| Cell::from(1.0 - formula.bytes(u64::from(*delta)) as f64 / whole))),
        );
    }
    findings.tables.push(table);
}

fn plots(findings: &mut Findings, all: &[Measured]) {
    let line = |net: &Measured, of: &dyn Fn(usize) -> f64| {
        Line::new(net.name.clone(), DELTAS.iter().enumerate().map(|(index, delta)| (f64::from(*delta), of(index + 1))))
    };
    findings.plots.push(Plot {
        title: "Bytes a state against δ".into(),
        across: "δ".into(),
        up: "share of a whole state's bytes".into(),
        log: (false, false),
        lines: all.iter().filter(|net| net.is_large()).map(|net| line(net, &|store| net.bytes(store) / net.bytes(0))).collect(),
    });
    findings.plots.push(Plot {
        title: "Time against δ".into(),
        across: "δ".into(),
        up: "times as long".into(),
        log: (false, false),
        lines: all.iter().map(|net| line(net, &|store| net.time(store).interval.value)).collect(),
    });
}

fn judge(findings: &mut Findings, all: &[Measured], fewer: &[Measured]) {
    let last = DELTAS.len();
    let large: Vec<&Measured> = all.iter().filter(|net| net.is_large()).collect();
    let listed: Vec<String> = large
        .iter()
        .map(|net| {
            format!("{} {:.0} % ({} bits, {} bytes whole)", net.name, 100.0 * net.saved(last), net.runs[0][0].report.state_bits, plain(net.bytes(0)))
        })
        .collect();
    findings.judge(
        "Storing differences saves most of the memory on real coloured nets as well",
        &if large.is_empty() { vec![Verdict::Open(None)] } else { large.iter().map(|net| exactly(net.saved(last) > crate::judging::MOST)).collect() },
        format!("Saved at δ = 20, in true bytes against states packed to the bit, on nets of enough states: {}.", listed.join(", ")),
    );
    let accounted: Vec<String> = all.iter().map(|net| format!("{} {:.0} %", net.name, 100.0 * net.accounted())).collect();
    findings.because(
        large.iter().all(|net| net.accounted() > crate::judging::MOST && net.runs[0][0].report.state_bits < 128),
        "The paper counts four bytes for each token of a whole state. Place invariants and packing make a marking of these nets smaller than a difference with its link, so that there is nothing to save.",
        format!("By the paper's accounting δ = 20 would save {}.", accounted.join(", ")),
    );
    findings.judge(
        "The delay at δ = 20 is about twice the time of whole states, or less",
        &all.iter().map(|net| net.time(last).below(2.0 * crate::judging::ABOUT)).collect::<Vec<_>>(),
        format!(
            "Processor time at δ = 20 against whole states, by the median of the runs with its 95 % interval: {}. About twice is at most 2.5.",
            all.iter()
                .map(|net| {
                    let Interval { value, low, high } = net.time(last).interval;
                    format!("{} {value:.2} ({low:.2} to {high:.2})", net.name)
                })
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    let listed = |nets: &[Measured]| {
        let one = |net: &Measured| {
            let Interval { value, low, high } = net.time(last).interval;
            format!("{} {value:.2} ({low:.2} to {high:.2}, {} states)", net.name, crate::grouped(net.runs[0][0].report.states as i64))
        };
        nets.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    findings.because(
        !fewer.is_empty()
            && fewer.iter().all(|few| {
                let many = all.iter().find(|net| net.name == few.name);
                let falls = many.is_some_and(|many| many.time(last).more_than(&few.time(last)) == Verdict::Agrees);
                falls && few.time(last).interval.value < 2.0 * crate::judging::ABOUT
            }),
        "A difference leads to its predecessor, which lies elsewhere in memory. With few states that is in a cache; the paper measures 500 states.",
        format!("The same nets with a tenth of the states: {}.", listed(fewer)),
    );
}
