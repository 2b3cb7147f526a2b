//! A network of buffers: the extreme propagation times that each search finds.

use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict};
use crate::searches::{Noting, find};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, grouped, models};
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
    alone: false,
    reads: &[],
    settings,
    run,
};

const UNITS: i64 = 100;
/// States of a run, not counting the start.
const LENGTH: u64 = 202;

struct Scale {
    widths: &'static [u64],
    /// Repetitions of the comparison by span: at the narrow widths, and at the wide ones.
    spans: (u64, u64),
    highways: u64,
    walks: u64,
}

const QUICK: Scale = Scale { widths: &[1, 2, 200], spans: (40, 4), highways: 3, walks: 3_000 };
const FULL: Scale = Scale { widths: &[1, 2, 1000, 2000], spans: (400, 12), highways: 60, walks: 60_000 };

fn scale(quick: bool) -> Scale {
    if quick { QUICK } else { FULL }
}

fn settings(quick: bool) -> Settings {
    let scale = scale(quick);
    vec![
        ("model", format!("buffers.m UnitCount={UNITS} Repeat=0")),
        ("N", scale.widths.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        ("repetitions", format!("{} at N = 1 and 2, {} at the others (paper: one)", scale.spans.0, scale.spans.1)),
        (
            "distribution",
            format!("{} highways of width 1,000 against {} random searches (paper: 100 and 100,000)", scale.highways, grouped(scale.walks as i64)),
        ),
    ]
}

/// The searches compared.
const SEARCHES: [&str; 3] = ["random", "rdfs", "highway"];

/// The span of each run, by width and search.
type Spans = BTreeMap<(u64, &'static str), Vec<f64>>;

/// The times found, each with its number of occurrences.
type Times = BTreeMap<i64, u64>;

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let scale = scale(desk.quick);
    let loaded = desk.load(models::BUFFERS, &[("UnitCount", UNITS), ("Repeat", 0)])?;
    let space = space_of(&loaded.program, &Plan::default());
    let field = Clock::of(&loaded, &*space)?;
    let pieces = 64;
    let mut jobs = Vec::new();
    for width in scale.widths {
        let runs = if *width <= 2 { scale.spans.0 } else { scale.spans.1 };
        for name in SEARCHES {
            jobs.extend((0..runs).map(|run| (*width, name, run)));
        }
    }
    desk.expect(jobs.len() + scale.highways as usize + pieces);
    let found = desk.each(&jobs, |(width, name, run)| {
        let seed = desk.seed.wrapping_add(run.wrapping_mul(1 << 20));
        let limits = Limits { states: LENGTH * width + 2, ..Limits::default() };
        let mut times = Times::new();
        match *name {
            "random" => (0..*width).try_for_each(|walk| {
                merge(&mut times, &field.times(&*space, "random", seed.wrapping_add(walk), Limits::default())?);
                Ok(())
            })?,
            "rdfs" => merge(&mut times, &field.times(&*space, "rdfs", seed, limits)?),
            _ => merge(&mut times, &field.times(&*space, &format!("highway:width={width},restarts=0"), seed, limits)?),
        }
        Ok(times)
    })?;
    let mut table = Table::new(
        "Mean over the runs of the shortest and the longest time found with 202·N states",
        ["search", "N", "runs", "shortest", "longest", "span"].map(Column::new).to_vec(),
    );
    table.columns[1].form = Form::Count;
    let mut spans = Spans::new();
    for width in scale.widths {
        for name in SEARCHES {
            let runs: Vec<(f64, f64)> = jobs
                .iter()
                .zip(&found)
                .filter(|((at, of, _), _)| at == width && *of == name)
                .filter_map(|(_, times)| Some((*times.first_key_value()?.0 as f64, *times.last_key_value()?.0 as f64)))
                .collect();
            let mean = |of: fn(&(f64, f64)) -> f64| Figure::mean(&runs.iter().map(of).collect::<Vec<_>>());
            let span = mean(|run| run.1 - run.0);
            table.row([
                Cell::from(name),
                (*width).into(),
                runs.len().into(),
                mean(|run| run.0).interval.into(),
                mean(|run| run.1).interval.into(),
                span.interval.into(),
            ]);
            spans.insert((*width, name), runs.iter().map(|run| run.1 - run.0).collect());
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
    let lanes = Lanes::of(&highways);
    let [highways, walks] = [highways, walks].map(|all| {
        let mut sum = Times::new();
        all.iter().for_each(|times| merge(&mut sum, times));
        sum
    });
    findings.plots.push(plot(&scale, &highways, &walks));
    judge(findings, &scale, &spans, &highways, &walks, &lanes);
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
        find(&Noting { space, note: &note, begin: &|| () }, &spec(strategy)?, seed, limits, Deadlock::Off);
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

/// The number of independent walks that the lanes of a highway are worth, judged by the spread of their mean.
struct Lanes {
    worth: f64,
    lanes: f64,
}

impl Lanes {
    fn of(highways: &[Times]) -> Lanes {
        let moments = |times: &Times| {
            let count = times.values().sum::<u64>() as f64;
            let mean = times.iter().map(|(time, number)| *time as f64 * *number as f64).sum::<f64>() / count;
            let variance = times.iter().map(|(time, number)| (*time as f64 - mean).powi(2) * *number as f64).sum::<f64>() / count;
            (count, mean, variance)
        };
        let all: Vec<(f64, f64, f64)> = highways.iter().filter(|times| !times.is_empty()).map(moments).collect();
        let n = all.len() as f64;
        let mean = all.iter().map(|(_, mean, _)| mean).sum::<f64>() / n;
        let between = all.iter().map(|(_, one, _)| (one - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let within = all.iter().map(|(_, _, variance)| variance).sum::<f64>() / n;
        // The mean of k independent walks has a k-th of the variance of one.
        Lanes { worth: (within + between) / between, lanes: all.iter().map(|(count, ..)| count).sum::<f64>() / n }
    }
}

fn judge(findings: &mut Findings, scale: &Scale, spans: &Spans, highways: &Times, walks: &Times, lanes: &Lanes) {
    let all = |width: u64, name: &'static str| spans.get(&(width, name)).map_or(&[][..], Vec::as_slice);
    let span = |width: u64, name: &'static str| Figure::mean(all(width, name));
    let value = |width: u64, name: &'static str| crate::plain(span(width, name).interval.value);
    let wide: Vec<u64> = scale.widths.iter().copied().filter(|width| *width >= 100).collect();
    let pairs = [("highway", "rdfs"), ("rdfs", "random")];
    let ranked: Vec<Verdict> = wide.iter().flat_map(|width| pairs.map(|(more, less)| span(*width, more).more_than(&span(*width, less)))).collect();
    let told: Vec<String> = wide
        .iter()
        .map(|width| format!("N = {width}: highway {}, rdfs {}, random {}", value(*width, "highway"), value(*width, "rdfs"), value(*width, "random")))
        .collect();
    let worth = format!(
        "The means of {} highways spread as much as if each of their {} lanes were worth {} independent walks in all.",
        scale.highways,
        crate::plain(lanes.lanes),
        crate::plain(lanes.worth)
    );
    let coalesce = "Lanes of a highway are cousins: all of them descend from a few states a few levels back, so that their times are alike.";
    let few = lanes.worth < lanes.lanes / 4.0;
    findings.judge(
        "Wide highways span the most, then randomised depth-first search, then random search",
        &ranked,
        format!("Mean spans in seconds: {}.", told.join("; ")),
    );
    findings.because(few, coalesce, worth.clone());
    findings.judge(
        "At width 2 randomised depth-first search does better than highway and random search",
        &[span(2, "rdfs").more_than(&span(2, "highway")), span(2, "rdfs").more_than(&span(2, "random"))],
        format!("Mean spans with 404 states: rdfs {}, highway {}, random {}.", value(2, "rdfs"), value(2, "highway"), value(2, "random")),
    );
    // The paper shows one run of each: how often would one run have this order?
    let runs = all(2, "rdfs").iter().zip(all(2, "highway")).zip(all(2, "random"));
    let lucky = runs.clone().filter(|((depth_first, highway), random)| depth_first > highway && depth_first > random).count();
    let lucky = Figure::share(lucky, runs.count());
    findings.because(
        lucky.more_than(&Figure::exact(crate::judging::RARE)) == Verdict::Agrees,
        "The paper shows a single run of each search.",
        format!(
            "In {:.0} % of our triples of single runs randomised depth-first search spans the most, though not in the mean.",
            100.0 * lucky.interval.value
        ),
    );
    let ends = |times: &Times| (times.first_key_value().map_or(0, |(time, _)| *time), times.last_key_value().map_or(0, |(time, _)| *time));
    let (near, far) = (ends(walks), ends(highways));
    let middle = median(walks);
    // Extreme: beyond the times that all but one in a hundred random searches stay within.
    let (low, high) = (quantile(walks, 0.005), quantile(walks, 0.995));
    let extreme = |times: &Times| {
        let count = times.iter().filter(|(time, _)| **time < low || **time > high).map(|(_, count)| *count as usize).sum();
        Figure::share(count, times.values().sum::<u64>() as usize)
    };
    let (walked, driven) = (extreme(walks), extreme(highways));
    // Lanes are not independent: the interval is that of as many walks as they are worth.
    let fewer = (lanes.worth * scale.highways as f64).max(2.0);
    let driven = Figure::share((driven.interval.value * fewer).round() as usize, fewer as usize);
    findings.judge(
        "Random searches are less likely to find extreme times than highways",
        &[driven.more_than(&walked)],
        format!("Times below {low} s or above {high} s, which one random search in a hundred finds: {:.3} % of the random searches' ends and {:.3} % of the highways'. Highways found {} to {} s, random searches {} to {} s with a median of {middle} s.", 100.0 * walked.interval.value, 100.0 * driven.interval.value, far.0, far.1, near.0, near.1),
    );
    findings.because(few, coalesce, worth);
}

fn quantile(times: &Times, share: f64) -> i64 {
    let wanted = share * times.values().sum::<u64>() as f64;
    let mut below = 0;
    let found = times.iter().find(|(_, count)| {
        below += **count;
        below as f64 > wanted
    });
    found.or(times.last_key_value()).map_or(0, |(time, _)| *time)
}

fn median(times: &Times) -> i64 {
    quantile(times, 0.5)
}
