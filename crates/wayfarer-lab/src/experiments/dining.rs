//! The dining philosophers' deadlock: 17 of them with at most 5,000 states, and 5 at every width of a highway.

use super::bounded::Bounded;
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly};
use crate::searches::find;
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Table, models};
use wayfarer::search::{Deadlock, Limits};
use wayfarer::space::Space;
use wayfarer::theory::walks_needed;
use wayfarer::{Interval, Plan, space_of};

pub(super) const SEVENTEEN: Experiment = Experiment {
    name: "dining-17",
    title: "Seventeen dining philosophers: which searches find the deadlock",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.3, Figure 8, left; Grosu, Smolka 2005 for the number of walks",
    question: "How likely does each search find the one deadlock within 5,000 states, and how likely does a random run of 68 states?",
    seconds: (2.0, 20.0),
    alone: false,
    reads: &[],
    settings: |quick| {
        vec![
            ("model", "dining.m PhilosopherCount=17 Slow=1".to_string()),
            ("states", format!("at most {MOST}")),
            ("repetitions", format!("{}; of the runs of 68 states 24 times as many", many(quick))),
        ]
    },
    run: seventeen,
};

pub(super) const FIVE: Experiment = Experiment {
    name: "dining-5",
    title: "Five dining philosophers: wider highways find the deadlock less often",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.3, Figure 8, right",
    question: "How does the total probability to find the deadlock depend on a highway's width, ideal and approximate?",
    seconds: (2.0, 30.0),
    alone: false,
    reads: &[],
    settings: |quick| {
        vec![
            ("model", "dining.m PhilosopherCount=5 Slow=1".to_string()),
            ("repetitions", format!("{} for each width (paper: 4,000)", runs_of_five(quick))),
        ]
    },
    run: five,
};

const MOST: u64 = 5_000;

fn many(quick: bool) -> u32 {
    if quick { 200 } else { 1_000 }
}

fn runs_of_five(quick: bool) -> u32 {
    if quick { 400 } else { 2_000 }
}

/// The number of states at which each run found the deadlock; `None` if it did not.
fn finds(desk: &Desk, space: &dyn Space, strategy: &str, limits: Limits, runs: u32) -> Result<Vec<Option<u64>>, LabError> {
    let strategy = spec(strategy)?;
    let walks = !strategy.default_store().abilities().remembers;
    let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| desk.seed.wrapping_add(run)).collect();
    let parts: Vec<&[u64]> = seeds.chunks(runs.div_ceil(8).max(1) as usize).collect();
    let one = |seed: &u64| {
        if desk.ended() {
            return Err(LabError::Interrupted);
        }
        let outcome = find(space, &strategy, *seed, limits, Deadlock::Stuck);
        // A walk's visits count each time, as the paper's do.
        let states = if walks { outcome.steps } else { outcome.states };
        Ok((!outcome.violations.is_empty()).then_some(states))
    };
    Ok(desk.each(&parts, |seeds| seeds.iter().map(one).collect::<Result<Vec<_>, _>>())?.concat())
}

fn share(finds: &[Option<u64>], within: u64) -> Interval {
    figure(finds, within).interval
}

fn figure(finds: &[Option<u64>], within: u64) -> Figure {
    Figure::share(finds.iter().flatten().filter(|states| **states <= within).count(), finds.len())
}

fn philosophers(desk: &Desk, count: i64) -> Result<Box<dyn Space>, LabError> {
    let loaded = desk.load(models::DINING, &[("PhilosopherCount", count), ("Slow", 1)])?;
    Ok(space_of(&loaded.program, &Plan::default()))
}

fn seventeen(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let space = philosophers(desk, 17)?;
    let runs = many(desk.quick);
    let searches: Vec<(String, String)> = [("random".to_string(), "random".to_string()), ("rdfs".to_string(), "rdfs".to_string())]
        .into_iter()
        .chain((2..=5).map(|width| (format!("highway {width}"), format!("highway:width={width},restarts=0"))))
        .collect();
    desk.expect((searches.len() + 12) * 8);
    let mut all = Vec::new();
    for (name, strategy) in &searches {
        let limits = if name == "random" { Limits { steps: MOST, ..Limits::default() } } else { Limits { states: MOST, ..Limits::default() } };
        all.push((name.clone(), finds(desk, &*space, strategy, limits, runs)?));
    }
    let short = finds(desk, &*space, "random:length=68", Limits { steps: 68, ..Limits::default() }, 24 * runs)?;
    let marks = [68, 200, 500, 1_000, 2_000, MOST];
    let mut columns = vec![Column::new("search")];
    columns.extend(marks.iter().map(|mark| Column::new(format!("{} states", crate::grouped(*mark as i64))).form(Form::Percent)));
    let mut table = Table::new("Share of runs that found the deadlock within a number of states", columns);
    for (name, finds) in &all {
        table.row(std::iter::once(Cell::from(name.as_str())).chain(marks.iter().map(|mark| Cell::from(share(finds, *mark)))));
    }
    findings.tables.push(table);
    let lines = all.iter().map(|(name, finds)| Line::new(name.clone(), (0..=100).map(|at| (at as f64 * 50.0, share(finds, at * 50).value))));
    findings.plots.push(Plot {
        title: "Seventeen philosophers".into(),
        across: "states".into(),
        up: "share of runs that found it".into(),
        log: (false, false),
        lines: lines.collect(),
    });
    let end = |at: usize| share(&all[at].1, MOST).value;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let ends: Vec<String> = all.iter().enumerate().map(|(at, (name, _))| format!("{name} {}", percent(end(at)))).collect();
    // Two searches that always find it are told apart by how soon they do.
    let outperforms = |at: usize| match figure(&all[0].1, MOST).more_than(&figure(&all[at].1, MOST)) {
        Verdict::Agrees => Verdict::Agrees,
        _ => states(&all[at].1).more_than(&states(&all[0].1)),
    };
    findings.judge(
        "Random search outperforms all others",
        &(1..all.len()).map(outperforms).collect::<Vec<_>>(),
        format!(
            "Found within {MOST} states: {}. Mean states of those that found it: {}.",
            ends.join(", "),
            all.iter().map(|(name, finds)| format!("{name} {}", crate::plain(states(finds).interval.value))).collect::<Vec<_>>().join(", ")
        ),
    );
    let bounded = finds(desk, &*space, "rdfs", Limits { states: MOST, depth: 136, ..Limits::default() }, runs)?;
    findings.because(
        figure(&all[0].1, MOST).more_than(&figure(&bounded, MOST)) == Verdict::Agrees,
        "The paper's randomised depth-first searches often fail; ours do so if their depth is bounded, and then random search is ahead.",
        format!(
            "With paths of at most 136 steps, eight for each philosopher, {:.1} % of them find the deadlock.",
            100.0 * share(&bounded, MOST).value
        ),
    );
    findings.judge(
        "Only 70 % of the randomised depth-first searches find the deadlock",
        &[figure(&all[1].1, MOST).about(0.7)],
        format!("Here {} do.", percent(end(1))),
    );
    why_not_all(desk, findings, &*space, runs)?;
    findings.judge(
        "Wider highways do worse",
        // The area above a curve of Figure 8 is the mean number of states, if a run without a find counts with all of them.
        &(2..all.len() - 1).map(|at| spent(&all[at + 1].1).more_than(&spent(&all[at].1))).collect::<Vec<_>>(),
        format!(
            "Figure 8 draws the share of runs that found it against the states. Judged by the area above each curve, which is the mean number of states, a run without a find counting with {MOST}: {} for widths 2 to 5. In the end they find it in {}.",
            (2..all.len()).map(|at| crate::plain(spent(&all[at].1).interval.value)).collect::<Vec<_>>().join(", "),
            (2..all.len()).map(|at| percent(end(at))).collect::<Vec<_>>().join(", ")
        ),
    );
    let rate = figure(&short, u64::MAX);
    findings.judge(
        "A random run of at most 68 states finds it in 20 % of the cases",
        &[rate.about(0.2)],
        format!("Here {} of the runs ({} to {} at 95 %), so that the eight hours without a find that Godefroid and Khurshid report are not confirmed either.", percent(rate.interval.value), percent(rate.interval.low), percent(rate.interval.high)),
    );
    walks(findings, &short, rate.interval.value);
    Ok(())
}

/// Mean states to the find, over runs that found it.
fn states(finds: &[Option<u64>]) -> Figure {
    Figure::mean(&finds.iter().flatten().map(|states| *states as f64).collect::<Vec<_>>())
}

/// Mean states of all runs, those without a find counting with the most that they may visit.
fn spent(finds: &[Option<u64>]) -> Figure {
    Figure::mean(&finds.iter().map(|states| states.unwrap_or(MOST) as f64).collect::<Vec<_>>())
}

/// Variants of randomised depth-first search that may fail: with bounded memory, or with a bounded stack.
fn why_not_all(desk: &Desk, findings: &mut Findings, space: &dyn Space, runs: u32) -> Result<(), LabError> {
    let percent = |finds: &[Option<u64>]| format!("{:.1} %", 100.0 * share(finds, MOST).value);
    let limits = |depth: u32| Limits { states: MOST, depth, ..Limits::default() };
    let mut told = Vec::new();
    let mut near = false;
    // 68 is the length of the paper's short runs, four steps for each philosopher.
    for depth in [68, 136, 500] {
        let finds = finds(desk, space, "rdfs", limits(depth), runs)?;
        near |= figure(&finds, MOST).about(0.7) == Verdict::Agrees;
        told.push(format!("{} with paths of at most {depth} steps", percent(&finds)));
    }
    findings.because(near, "Its depth was bounded, as that of the paper's short random runs.", format!("Found by {}.", told.join(", ")));
    let mut told = Vec::new();
    let mut near = false;
    for (list, remembers) in [(4, true), (16, true), (64, true), (256, true), (16, false), (256, false)] {
        let seeds: Vec<u64> = (0..u64::from(runs.min(400))).map(|run| desk.seed.wrapping_add(run)).collect();
        let parts: Vec<&[u64]> = seeds.chunks(seeds.len().div_ceil(8).max(1)).collect();
        let search = Bounded { list, remembers, most: MOST };
        let finds = desk.each(&parts, |seeds| Ok(seeds.iter().map(|seed| search.find_deadlock(space, *seed)).collect::<Vec<_>>()))?.concat();
        near |= figure(&finds, MOST).about(0.7) == Verdict::Agrees;
        told.push(format!("{} with room for {list}{}", percent(&finds), if remembers { "" } else { " and nothing remembered" }));
    }
    findings.because(
        near,
        "It keeps a list of states to do instead of backtracking, and states count as met once they are on the list.",
        format!("Found by {}.", told.join(", ")),
    );
    let marks = [50, 100, 200, 500];
    let all = finds(desk, space, "rdfs", limits(u32::MAX), runs)?;
    let at: Vec<String> = marks.iter().map(|mark| format!("{:.1} % after {mark}", 100.0 * share(&all, *mark).value)).collect();
    findings.because(
        false,
        "Far fewer states were allowed than the paper says.",
        format!("Unbounded, it has found the deadlock in {} states: the share passes 70 % long before 5,000.", at.join(", ")),
    );
    Ok(())
}

/// R = ln δ / ln(1 − ε) walks, each of which finds the deadlock with probability ε, miss it with probability
/// δ.
fn walks(findings: &mut Findings, short: &[Option<u64>], rate: f64) {
    let error = 0.05;
    let Ok(needed) = walks_needed(error, rate) else { return };
    let group = needed.ceil() as usize;
    let groups: Vec<&[Option<u64>]> = short.chunks_exact(group.max(1)).collect();
    let missed = groups.iter().filter(|group| group.iter().all(Option::is_none)).count();
    let odds = Interval::of_share(missed, groups.len().max(1));
    findings.judge(
        "R = ln δ / ln(1 − ε) walks miss with probability at most δ (Grosu, Smolka)",
        &[exactly(odds.low <= error)],
        format!("With ε = {rate:.3} and δ = {error}, R = {group}; {missed} of {} groups of R runs found nothing.", groups.len()),
    );
}

fn five(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let space = philosophers(desk, 5)?;
    let widths: Vec<u32> = (1..=8).chain([10, 12, 16, 20, 24, 32, 48]).collect();
    desk.expect(widths.len() * 2 * 8);
    let runs = runs_of_five(desk.quick);
    let mut table = Table::new(
        "Total probability to find the deadlock",
        ["width", "approximate (Algorithm 1)", "ideal", "difference, points"].map(Column::new).to_vec(),
    );
    table.columns[1].form = Form::Percent;
    table.columns[2].form = Form::Percent;
    let mut both: [Vec<Interval>; 2] = [Vec::new(), Vec::new()];
    for width in &widths {
        for (rates, ideal) in both.iter_mut().zip(["off", "on"]) {
            let found = finds(desk, &*space, &format!("highway:width={width},ideal={ideal},restarts=0"), Limits::default(), runs)?;
            rates.push(share(&found, u64::MAX));
        }
        let [approximate, ideal] = [0, 1].map(|at| both[at][both[at].len() - 1]);
        table.row([Cell::from(*width), approximate.into(), ideal.into(), (100.0 * (approximate.value - ideal.value)).into()]);
    }
    findings.tables.push(table);
    let line = |name: &str, rates: &[Interval]| Line {
        name: name.to_string(),
        points: widths.iter().zip(rates).map(|(width, rate)| (f64::from(*width), rate.value)).collect(),
        band: rates.iter().map(|rate| (rate.low, rate.high)).collect(),
    };
    findings.plots.push(Plot {
        title: "Five philosophers".into(),
        across: "highway width".into(),
        up: "share of runs that find the deadlock".into(),
        log: (false, false),
        lines: vec![line("approximate", &both[0]), line("ideal", &both[1])],
    });
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let figures = both.each_ref().map(|rates| rates.iter().map(|rate| Figure::of(*rate, runs as usize)).collect::<Vec<_>>());
    // Falling: each width from the best one up to 32 against the next one shown.
    let to = widths.iter().position(|width| *width == 32).unwrap_or(widths.len() - 1);
    let peak = |rates: &[Interval]| (0..=to).max_by(|one, other| rates[*one].value.total_cmp(&rates[*other].value)).unwrap_or(0);
    let told: Vec<String> = ["approximate", "ideal"]
        .iter()
        .zip(&both)
        .map(|(name, rates)| {
            let at = peak(rates);
            format!(
                "{name}: {} at width 1, {} at its best ({}), {} at 32, {} at 48",
                percent(rates[0].value),
                percent(rates[at].value),
                widths[at],
                percent(rates[to].value),
                percent(rates[widths.len() - 1].value)
            )
        })
        .collect();
    let falls: Vec<Verdict> = [0, 1]
        .iter()
        .flat_map(|at| [figures[*at][peak(&both[*at])].more_than(&figures[*at][to]), figures[*at][0].more_than(&figures[*at][to])])
        .collect();
    findings.judge(
        "The probability to find the deadlock falls as highways become wider",
        &falls,
        format!("{}. Judged from the best width and from width 1 to width 32.", told.join("; ")),
    );
    let outcome = find(&*space, &spec("bfs")?, desk.seed, Limits::default(), Deadlock::Off);
    let states = outcome.states;
    findings.because(
        both.iter().all(|rates| rates[widths.len() - 1].value > rates[to].value),
        "A highway that is nearly as wide as the widest level is a breadth-first search, which finds everything, so that the fall must end.",
        format!("The system has {states} states, and at width 48 the share rises again for both."),
    );
    let apart: Vec<u32> = widths
        .iter()
        .enumerate()
        .filter(|(at, _)| both[0][*at].low > both[1][*at].high || both[1][*at].low > both[0][*at].high)
        .map(|(_, width)| *width)
        .collect();
    let better: Vec<Verdict> = (0..widths.len()).map(|at| figures[0][at].more_than(&figures[1][at])).collect();
    let decided: Vec<Verdict> = better.into_iter().filter(|verdict| !matches!(verdict, Verdict::Open(_))).collect();
    findings.judge(
        "Ideal and approximate highways differ here, and the approximate one does better",
        &if decided.is_empty() { vec![Verdict::Open(None)] } else { decided },
        if apart.is_empty() {
            "At no width do the 95 % intervals lie apart.".to_string()
        } else {
            format!("The 95 % intervals lie apart at the widths {apart:?}; judged by the widths at which the difference is certain.")
        },
    );
    // Wider than any level can be.
    let whole = ["off", "on"].map(|ideal| {
        let strategy = spec(&format!("highway:width={},ideal={ideal},restarts=0", states.max(1)))?;
        let outcome = find(&*space, &strategy, desk.seed, Limits::default(), Deadlock::Off);
        Ok::<_, LabError>((outcome.states, outcome.depth))
    });
    let [approximate, ideal] = whole;
    let (approximate, ideal, breadth) = (approximate?, ideal?, (states, outcome.depth));
    findings.judge(
        "If no level is wider than the highway, approximate and ideal highways coincide, and are breadth-first search",
        &[exactly(approximate == breadth), exactly(ideal == breadth)],
        format!(
            "With a width of {states} they visit {} and {} states; breadth-first search visits {states}, to the same depth.",
            approximate.0, ideal.0
        ),
    );
    Ok(())
}
