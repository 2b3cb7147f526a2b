//! A network of buffers: the extreme propagation times that each search finds.

use crate::desk::{Desk, LabError};
use crate::searches::{Noting, find};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Line, Plot, Settings, Table, grouped, models};
use std::collections::BTreeMap;
use std::sync::Mutex;
use wayfarer::search::{Deadlock, Limits};
use wayfarer::space::{Space, Word};
use wayfarer::subject::Words;
use wayfarer::{Loaded, Plan, space_of};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "buffers",
    title: "A network of buffers: extreme propagation times",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.1, Figure 6",
    question: "Which shortest and longest times for 100 units does each search find, allowed 202·N states?",
    seconds: (2.0, 120.0),
    settings,
    run,
};

const UNITS: i64 = 100;
/// States of a run, not counting the start.
const LENGTH: u64 = 202;

struct Scale {
    widths: &'static [u64],
    highways: u64,
    walks: u64,
}

const QUICK: Scale = Scale { widths: &[1, 2, 200, 1000], highways: 3, walks: 3_000 };
const FULL: Scale = Scale { widths: &[1, 2, 1000, 2000], highways: 100, walks: 100_000 };

fn scale(quick: bool) -> Scale {
    if quick { QUICK } else { FULL }
}

fn settings(quick: bool) -> Settings {
    let scale = scale(quick);
    vec![
        ("model", format!("buffers.m UnitCount={UNITS} Repeat=0")),
        ("N", scale.widths.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        (
            "distribution",
            format!("{} highways of width 1,000 against {} random searches (paper: 100 and 100,000)", scale.highways, grouped(scale.walks as i64)),
        ),
    ]
}

/// The times found, each with its number of occurrences.
type Times = BTreeMap<i64, u64>;

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let scale = scale(desk.quick);
    let loaded = desk.load(models::BUFFERS, &[("UnitCount", UNITS), ("Repeat", 0)])?;
    let space = space_of(&loaded.program, &Plan::default());
    let field = Clock::of(&loaded, &*space)?;
    let pieces = 16;
    desk.expect(scale.widths.len() * 3 + scale.highways as usize + pieces);
    let mut table =
        Table::new("Shortest and longest time found with 202·N states", ["search", "N", "shortest", "longest", "span"].map(Column::new).to_vec());
    table.columns[1].form = Form::Count;
    let mut spans: BTreeMap<(u64, &str), i64> = BTreeMap::new();
    for width in scale.widths {
        let searches =
            [("random", "random".to_string(), *width), ("rdfs", "rdfs".to_string(), 1), ("highway", format!("highway:width={width},restarts=0"), 1)];
        for (name, strategy, repeats) in searches {
            let limits = if name == "random" { Limits::default() } else { Limits { states: LENGTH * width + 2, ..Limits::default() } };
            let mut times = Times::new();
            for run in 0..repeats {
                merge(&mut times, &field.times(&*space, &strategy, desk.seed.wrapping_add(run), limits)?);
            }
            desk.tick()?;
            let (Some((least, _)), Some((most, _))) = (times.first_key_value(), times.last_key_value()) else { continue };
            table.row([
                Cell::from(name),
                (*width).into(),
                Cell::Number(*least as f64),
                Cell::Number(*most as f64),
                Cell::Number((most - least) as f64),
            ]);
            spans.insert((*width, name), most - least);
        }
    }
    findings.tables.push(table);
    let seeds: Vec<u64> = (0..scale.highways).map(|run| desk.seed.wrapping_add(run)).collect();
    let highways = desk.each(&seeds, |seed| field.times(&*space, "highway:width=1000,restarts=0", *seed, Limits::default()))?;
    let parts: Vec<u64> = (0..pieces as u64).collect();
    let walks = desk.each(&parts, |part| {
        let mut times = Times::new();
        for run in 0..scale.walks / pieces as u64 {
            merge(&mut times, &field.times(&*space, "random", desk.seed.wrapping_add(part * scale.walks + run), Limits::default())?);
        }
        Ok(times)
    })?;
    let [highways, walks] = [highways, walks].map(|all| {
        let mut sum = Times::new();
        all.iter().for_each(|times| merge(&mut sum, times));
        sum
    });
    findings.plots.push(plot(&scale, &highways, &walks));
    judge(findings, &scale, &spans, &highways, &walks);
    findings.note("The paper gives the network's delays in a figure only, so that only the order of times is comparable, not their values; its random searches centre on 1,100.");
    Ok(())
}

/// The variable that shows the clock.
struct Clock<'a> {
    loaded: &'a Loaded,
}

impl<'a> Clock<'a> {
    fn of(loaded: &'a Loaded, space: &dyn Space) -> Result<Self, LabError> {
        let clock = Clock { loaded };
        // The name comes from the model: if it changed, this would fail at once.
        let times = clock.times(space, "random", 1, Limits::default())?;
        if times.is_empty() { Err(LabError::Failed("buffers.m has no run that ends, or no `clock`".to_string())) } else { Ok(clock) }
    }

    fn read(&self, state: &[Word]) -> Option<i64> {
        let values = self.loaded.program.values(state);
        values.iter().find(|value| value.path == "clock")?.value.parse().ok()
    }

    /// The times at the ends of a search's runs.
    fn times(&self, space: &dyn Space, strategy: &str, seed: u64, limits: Limits) -> Result<Times, LabError> {
        let ends: Mutex<Vec<Vec<Word>>> = Mutex::new(Vec::new());
        let note = |state: &[Word], stuck: bool| {
            if stuck && let Ok(mut ends) = ends.lock() {
                ends.push(state.to_vec());
            }
        };
        find(&Noting { space, note: &note }, &spec(strategy)?, seed, limits, Deadlock::Off);
        let mut times = Times::new();
        for state in ends.into_inner().unwrap_or_default() {
            if let Some(time) = self.read(&state) {
                *times.entry(time).or_default() += 1;
            }
        }
        Ok(times)
    }
}

fn merge(into: &mut Times, from: &Times) {
    from.iter().for_each(|(time, count)| *into.entry(*time).or_default() += count);
}

fn plot(scale: &Scale, highways: &Times, walks: &Times) -> Plot {
    // Bins of ten seconds; shares, because the two have different numbers of ends.
    let line = |name: String, times: &Times| {
        let all: u64 = times.values().sum();
        let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
        times.iter().for_each(|(time, count)| *bins.entry(time / 10 * 10 + 5).or_default() += count);
        Line::new(name, bins.iter().map(|(time, count)| (*time as f64, *count as f64 / all.max(1) as f64)).collect::<Vec<_>>())
    };
    let lines = vec![
        line(format!("{} highways of 1,000", scale.highways), highways),
        line(format!("{} random searches", grouped(scale.walks as i64)), walks),
    ];
    Plot {
        title: "Propagation times".into(),
        across: "time for 100 units, s".into(),
        up: "share of the times found".into(),
        log: (false, true),
        lines,
    }
}

fn judge(findings: &mut Findings, scale: &Scale, spans: &BTreeMap<(u64, &str), i64>, highways: &Times, walks: &Times) {
    let span = |width: u64, name: &str| spans.get(&(width, name)).copied().unwrap_or(0);
    let wide: Vec<u64> = scale.widths.iter().copied().filter(|width| *width >= 100).collect();
    let ranked =
        wide.iter().filter(|width| span(**width, "highway") > span(**width, "rdfs") && span(**width, "rdfs") > span(**width, "random")).count();
    let told: Vec<String> = wide
        .iter()
        .map(|width| format!("N = {width}: highway {}, rdfs {}, random {}", span(*width, "highway"), span(*width, "rdfs"), span(*width, "random")))
        .collect();
    findings.claim(
        "Wide highways span the most, then randomised depth-first search, then random search",
        Judgement::of(ranked, wide.len()),
        format!("Spans in seconds: {}.", told.join("; ")),
    );
    findings.claim(
        "At width 2 randomised depth-first search does better than highway and random search",
        Judgement::of(usize::from(span(2, "rdfs") > span(2, "highway")) + usize::from(span(2, "rdfs") > span(2, "random")), 2),
        format!("Spans with 404 states: rdfs {}, highway {}, random {} (one run each).", span(2, "rdfs"), span(2, "highway"), span(2, "random")),
    );
    let ends = |times: &Times| (times.first_key_value().map_or(0, |(time, _)| *time), times.last_key_value().map_or(0, |(time, _)| *time));
    let (near, far) = (ends(walks), ends(highways));
    let middle = median(walks);
    findings.claim(
        "Random searches are less likely to find extreme times than highways",
        Judgement::of(usize::from(far.0 < near.0) + usize::from(far.1 > near.1), 2),
        format!("Highways found {} to {} s, random searches {} to {} s with a median of {middle} s. A likely cause, which we did not examine: lanes of a highway share most of their path.", far.0, far.1, near.0, near.1),
    );
}

fn median(times: &Times) -> i64 {
    let half = times.values().sum::<u64>() / 2;
    let mut below = 0;
    times
        .iter()
        .find(|(_, count)| {
            below += **count;
            below > half
        })
        .map_or(0, |(time, _)| *time)
}
