//! Predictions as a table, as JSON and as a plot.

use super::{Answer, Subject, Time, ends, reason, steps};
use crate::options::Question;
use crate::output::Paint;
use crate::sizes::{count, counted};
use serde_json::{Value, json};
use wayfarer::theory::{Prediction, Simulation, TheoryError};
use wayfarer_lab::{Line, Plot};

/// The shares of nodes whose cover times are shown, in per cent: those of the papers' tables.
const SHARES: [u64; 5] = [60, 70, 80, 90, 100];

/// ⌈percent·nodes⌉, at least one.
fn nodes_of(percent: u64, nodes: u32) -> u64 {
    (percent * u64::from(nodes)).div_ceil(100).max(1)
}

/// The table as text.
pub(super) fn text(subject: &Subject, answers: &[Answer], question: &Question, paint: Paint) -> String {
    let density =
        subject.density.map_or(String::new(), |density| format!(", density factor {density:.3} (degree over height of a tree of this size)"));
    let nodes = counted(u64::from(subject.nodes), "node");
    let mut out = format!("{}: {nodes}, height {}{density}\n\n", paint.strong(&subject.name), count(u64::from(subject.height)));
    let mut rows = vec![row("mean steps to cover", answers.iter().map(|answer| heading(answer, is_exact(&answer.cover))))];
    for share in SHARES {
        let nodes = nodes_of(share, subject.nodes);
        rows.push(row(&format!("  {share:>3} %, {}", counted(nodes, "node")), answers.iter().map(|answer| time_text(answer, nodes))));
    }
    out.push_str(&aligned(&rows));
    if let Some(steps) = steps(question, subject.nodes) {
        let restarts = question.capacity.map_or(String::new(), |capacity| format!(", anew at {}", count(u64::from(capacity))));
        let after = |answer: &Answer| answer.after.as_ref().is_some_and(is_exact);
        let rows = [
            row(&format!("after {}{restarts}", counted(u64::from(steps), "step")), answers.iter().map(|answer| heading(answer, after(answer)))),
            row("  mean covered nodes", answers.iter().map(covered_text)),
            row("  π_min, to the hardest node", answers.iter().map(|answer| minimum(answer).map_or("–".to_string(), probability))),
        ];
        out.push('\n');
        out.push_str(&aligned(&rows));
    }
    out.push('\n');
    for note in notes(subject, answers) {
        out.push_str(&format!("{note}\n"));
    }
    out
}

fn heading(answer: &Answer, exact: bool) -> String {
    format!("{}, {}", answer.algorithm, if exact { "exact" } else { "simulated" })
}

fn is_exact<E, S>(prediction: &Prediction<E, S>) -> bool {
    matches!(prediction, Prediction::Exact(_))
}

fn time_text(answer: &Answer, nodes: u64) -> String {
    let time = answer.time(nodes);
    match (time.steps, &answer.cover) {
        (Some(steps), _) => number(steps, time.interval),
        (None, Prediction::Exact(_)) => "never".to_string(),
        (None, Prediction::Simulated { estimate, .. }) => {
            let runs = estimate.simulation.runs;
            let missed = runs - (time.reached * f64::from(runs)).round() as u32;
            format!("not reached in {} of {}", count(u64::from(missed)), count(u64::from(runs)))
        }
    }
}

fn covered_text(answer: &Answer) -> String {
    match &answer.after {
        Some(Prediction::Exact(coverage)) => number(coverage.covered(coverage.steps()), None),
        Some(Prediction::Simulated { estimate, .. }) => {
            estimate.covered.last().map_or("–".to_string(), |last| number(last.mean, Some(ends(*last))))
        }
        None => "–".to_string(),
    }
}

/// The smallest probability of having reached a node. A simulation gives none: the smallest of many estimates would
/// be too small.
fn minimum(answer: &Answer) -> Option<f64> {
    match &answer.after {
        Some(Prediction::Exact(coverage)) => Some(coverage.minimum(coverage.steps())),
        _ => None,
    }
}

fn number(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        None => grouped(value, 3),
        Some((low, high)) => format!("{} ({} to {})", grouped(value, 1), grouped(low, 1), grouped(high, 1)),
    }
}

/// A number that is not negative, with separators and this many decimals.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.').map(|(whole, rest)| (whole.parse(), rest)) {
        Some((Ok(whole), rest)) => format!("{}.{rest}", count(whole)),
        _ => text,
    }
}

/// Rounded, but never to certainty.
fn probability(value: f64) -> String {
    match value {
        0.0 | 1.0 => format!("{value}"),
        _ if value < 1e-4 => format!("{value:.3e}"),
        _ if value > 1.0 - 1e-4 => format!("1 - {:.3e}", 1.0 - value),
        _ => format!("{value:.4}"),
    }
}

fn notes(subject: &Subject, answers: &[Answer]) -> Vec<String> {
    let mut notes = Vec::new();
    for answer in answers {
        let mut simulated = |what: &str, why: &TheoryError, simulation: Simulation| {
            notes.push(format!(
                "{}, {what}: simulated, {} from seed {}, {} % intervals: {}",
                answer.algorithm,
                counted(u64::from(simulation.runs), "run"),
                simulation.seed,
                simulation.confidence.percent(),
                reason(why)
            ));
        };
        let mut waited = None;
        if let Prediction::Simulated { why, estimate } = &answer.cover {
            simulated("cover times", why, estimate.simulation);
            waited = Some(estimate.simulation.most_steps);
        }
        if let Some(Prediction::Simulated { why, estimate }) = &answer.after {
            simulated("covered nodes", why, estimate.simulation);
            notes.push(format!("{}: π_min is not simulated, because the least of many estimates would be too small", answer.algorithm));
        }
        let full = answer.time(u64::from(subject.nodes));
        match (full.steps, waited) {
            (None, None) => notes.push(format!(
                "{}: covers everything with probability {}; else it stays for ever where it cannot leave and cannot jump",
                answer.algorithm,
                probability(full.reached)
            )),
            (None, Some(steps)) => notes.push(format!("{}: a run is given up after {}", answer.algorithm, counted(steps, "step"))),
            _ => {}
        }
    }
    if notes.is_empty() {
        notes.push("all figures are exact".to_string());
    }
    notes
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_string()).chain(cells).collect()
}

/// Rows with their cells under each other: names to the left, figures to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let room = widths[column];
            out.push_str(&if column == 0 { format!("{cell:<room$}") } else { format!("   {cell:>room$}") });
        }
        out.push('\n');
    }
    out
}

/// The same for scripts.
pub(super) fn json(subject: &Subject, answers: &[Answer], question: &Question) -> Value {
    let mut shape = subject.facts.clone();
    shape["nodes"] = subject.nodes.into();
    shape["density_factor"] = subject.density.into();
    let share = |answer: &Answer, share: u64| {
        let nodes = nodes_of(share, subject.nodes);
        let Time { steps, interval, reached } = answer.time(nodes);
        let mut time = json!({ "share": share as f64 / 100.0, "nodes": nodes, "steps": steps, "reached": reached });
        // A simulation that did not get there does not prove that no run ever will.
        if is_exact(&answer.cover) {
            time["never"] = steps.is_none().into();
        }
        with_interval(time, interval)
    };
    let strategy = |answer: &Answer| {
        let mut cover = json!({ "times": SHARES.map(|percent| share(answer, percent)) });
        match &answer.cover {
            Prediction::Exact(times) => {
                origin(&mut cover, None);
                cover["residual"] = times.residual().into();
            }
            Prediction::Simulated { why, estimate } => origin(&mut cover, Some((why, estimate.simulation))),
        }
        let mut value = json!({ "strategy": answer.algorithm.word(), "cover": cover });
        if let (Some(prediction), Some(steps)) = (&answer.after, steps(question, subject.nodes)) {
            let mut after = json!({ "steps": steps, "capacity": question.capacity, "minimum": minimum(answer) });
            match prediction {
                Prediction::Exact(coverage) => {
                    origin(&mut after, None);
                    after["covered"] = coverage.covered(coverage.steps()).into();
                }
                Prediction::Simulated { why, estimate } => {
                    origin(&mut after, Some((why, estimate.simulation)));
                    after["covered"] = estimate.covered.last().map(|last| last.mean).into();
                    after = with_interval(after, estimate.covered.last().copied().map(ends));
                }
            }
            value["after"] = after;
        }
        value
    };
    json!({ "schema": 1, "shape": shape, "strategies": answers.iter().map(strategy).collect::<Vec<_>>() })
}

fn with_interval(mut value: Value, interval: Option<(f64, f64)>) -> Value {
    if let Some((low, high)) = interval {
        value["low"] = low.into();
        value["high"] = high.into();
    }
    value
}

fn origin(value: &mut Value, simulated: Option<(&TheoryError, Simulation)>) {
    match simulated {
        None => value["method"] = "exact".into(),
        Some((why, simulation)) => {
            value["method"] = "simulated".into();
            value["why"] = reason(why).into();
            value["runs"] = simulation.runs.into();
            value["seed"] = simulation.seed.into();
            value["most_steps"] = simulation.most_steps.into();
            value["confidence_percent"] = simulation.confidence.percent().into();
        }
    }
}

/// Covered nodes against steps: after each step if steps were requested, otherwise at the mean cover times.
pub(super) fn plot(subject: &Subject, answers: &[Answer]) -> Plot {
    let after = answers.iter().any(|answer| answer.after.is_some());
    let (title, across) = if after { ("mean covered nodes", "steps") } else { ("mean cover times", "mean steps until that many are covered") };
    Plot {
        title: format!("{}: {title}", subject.name),
        across: across.to_string(),
        up: "nodes covered".to_string(),
        log: (false, false),
        lines: answers.iter().map(|answer| line(subject, answer)).collect(),
    }
}

fn line(subject: &Subject, answer: &Answer) -> Line {
    let (exact, points, band) = match &answer.after {
        Some(Prediction::Exact(coverage)) => (true, (0..=coverage.steps()).map(|step| (step as f64, coverage.covered(step))).collect(), Vec::new()),
        Some(Prediction::Simulated { estimate, .. }) => {
            let points = (0..).zip(&estimate.covered).map(|(step, covered)| (f64::from(step), covered.mean)).collect();
            (false, points, estimate.covered.iter().copied().map(ends).collect())
        }
        None => {
            // Times grow with the nodes, so that all times after the first infinite one are infinite, too.
            let times = (1..=u64::from(subject.nodes)).map_while(|nodes| Some((answer.time(nodes).steps?, nodes as f64)));
            (is_exact(&answer.cover), times.collect(), Vec::new())
        }
    };
    Line { name: heading(answer, exact), points, band }
}
