//! A diamond of width 10: the probability of visiting each of the ten states across its middle.

use super::substructures::{Runs, settings};
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly};
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Table};
use wayfarer::space::Graph;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "diamond",
    title: "A diamond of width 10: hit probabilities across its middle",
    source: "Engels, Groote, van Weerdenburg, Willemse: Search algorithms for automated validation (2009), 5.1.1, Figure 2",
    question: "How likely does each search visit the states 1 to 10 at the widest part of a diamond of 100 states?",
    seconds: (0.5, 0.5),
    alone: false,
    reads: &[],
    settings,
    run,
};

const WIDTH: u32 = 10;

/// Node (i, j) steps to (i + 1, j) and (i, j + 1); the numbered states are those with i + j = 9.
fn graph() -> Graph {
    let at = |i: u32, j: u32| i * WIDTH + j;
    let targets = |node: u32| {
        let (i, j) = (node / WIDTH, node % WIDTH);
        [(i + 1 < WIDTH).then(|| at(i + 1, j)), (j + 1 < WIDTH).then(|| at(i, j + 1))].into_iter().flatten().collect()
    };
    Graph::new((0..WIDTH * WIDTH).map(targets).collect(), vec![0])
}

fn numbered() -> Vec<u32> {
    (0..WIDTH).map(|j| (WIDTH - 1 - j) * WIDTH + j).collect()
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let graph = graph();
    let widths = [2, 4, 6, 8, 10];
    desk.expect(4 * (2 + widths.len()));
    let mut all = vec![Runs::of(desk, &graph, "random", "random", u64::MAX)?, Runs::of(desk, &graph, "rdfs", "rdfs", u64::MAX)?];
    for width in widths {
        all.push(Runs::of(desk, &graph, &format!("highway {width}"), &format!("highway:width={width},restarts=0"), u64::MAX)?);
    }
    let mut columns = vec![Column::new("search")];
    columns.extend((1..=WIDTH).map(|number| Column::new(number.to_string()).form(Form::Percent)));
    columns.push(Column::new("states visited"));
    let mut table = Table::new("Share of runs that visit each numbered state", columns);
    let states = numbered();
    for runs in &all {
        let hits = states.iter().map(|state| Cell::from(runs.hit(*state)));
        table.row(std::iter::once(Cell::from(runs.name.as_str())).chain(hits).chain([Cell::from(runs.distinct())]));
    }
    let exact: Vec<f64> = (0..WIDTH).map(|j| binomial(WIDTH - 1, j) / 2f64.powi(WIDTH as i32 - 1)).collect();
    table.row(std::iter::once(Cell::from("random, exact")).chain(exact.iter().map(|odds| Cell::from(*odds))));
    findings.tables.push(table);
    let lines = all
        .iter()
        .filter(|runs| runs.name != "rdfs")
        .map(|runs| Line::new(runs.name.clone(), (1u32..).zip(&states).map(|(number, state)| (f64::from(number), runs.hit(*state)))));
    findings.plots.push(Plot {
        title: "Diamond of width 10".into(),
        across: "numbered state".into(),
        up: "share of runs that visit it".into(),
        log: (false, false),
        lines: lines.collect(),
    });
    let least = |runs: &Runs| states.iter().map(|state| runs.hit(*state)).fold(1.0, f64::min);
    let mean = |runs: &Runs| states.iter().map(|state| runs.hit(*state)).sum::<f64>() / f64::from(WIDTH);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let inside = states.iter().zip(&exact).filter(|(state, odds)| {
        let found = all[0].share(**state, usize::MAX).interval;
        found.low <= **odds && **odds <= found.high
    });
    let inside = inside.count();
    findings.judge(
        "A random search hardly ever visits the outer states",
        &[all[0].share(states[0], usize::MAX).is_rare(), all[0].share(states[9], usize::MAX).is_rare()],
        format!("It visited state 1 in {} of the runs and state 5 in {}; theory says {} and {} ({inside} of 10 exact values lie inside our 95 % intervals).", percent(all[0].hit(states[0])), percent(all[0].hit(states[4])), percent(exact[0]), percent(exact[4])),
    );
    let highways: Vec<&Runs> = all.iter().skip(2).collect();
    let covered = |runs: &Runs| runs.counts(&states, usize::MAX);
    let means: Vec<String> = highways.iter().map(|runs| format!("{} {}", runs.name, percent(mean(runs)))).collect();
    let mut rising: Vec<Verdict> = highways.windows(2).map(|pair| covered(pair[1]).more_than(&covered(pair[0]))).collect();
    rising.push(covered(highways[0]).more_than(&covered(&all[0])));
    findings.judge(
        "A random search covers fewer of the numbered states than a highway, and wider highways cover more of them",
        &rising,
        format!("Mean share of runs over the ten states: random {}, {}.", percent(mean(&all[0])), means.join(", ")),
    );
    let widest = &all[all.len() - 1];
    let full = [least(&all[1]), least(widest)];
    findings.judge(
        "Randomised depth-first search and a highway of width 10 visit all of them",
        &full.map(|share| exactly(share == 1.0)),
        format!("The least visited state was visited in {} of the runs of rdfs and in {} of the highway's.", percent(full[0]), percent(full[1])),
    );
    let considered = (0..graph.nodes()).map(|node| graph.successors(node).len()).sum::<usize>() + 1;
    halves(findings, &all[1], widest, &states, considered as f64);
    Ok(())
}

/// "Half as many states": the readings of what is counted, and the one that gives the paper's factor.
fn halves(findings: &mut Findings, depth_first: &Runs, widest: &Runs, states: &[u32], considered: f64) {
    let ratio = |one: Figure, other: Figure| one.interval.value / other.interval.value;
    let whole = widest.distinct() / depth_first.distinct();
    let all_ten = ratio(widest.until_all(states), depth_first.until_all(states));
    let each: Vec<[Figure; 2]> = states.iter().map(|state| [widest, depth_first].map(|runs| runs.until_all(&[*state]))).collect();
    let mean = |at: usize| each.iter().map(|both| both[at].interval.value).sum::<f64>() / each.len() as f64;
    let first = [widest, depth_first].map(|runs| runs.until_any(states));
    let any = ratio(first[0], first[1]);
    // The reading that is nearest to the claimed factor decides; it is named.
    let readings = [
        ("a search that runs to its end", whole),
        ("until all ten were visited", all_ten),
        ("until a given one was visited", mean(0) / mean(1)),
        ("until the first one was visited", any),
        // The width is that of the diamond, so the highway considers every step.
        ("each place that the highway considers, as its algorithm counts them, against each state of rdfs", considered / depth_first.distinct()),
    ];
    let best = readings.into_iter().min_by(|one, other| (one.1 / 2.0).ln().abs().total_cmp(&(other.1 / 2.0).ln().abs())).unwrap_or(readings[0]);
    let listed: Vec<String> = readings.iter().map(|(name, factor)| format!("{factor:.2} ({name})")).collect();
    findings.judge(
        "Randomised depth-first search needs only half as many states as the highway of width 10",
        &[Figure::exact(best.1).about(2.0)],
        format!(
            "The highway's states against those of rdfs, by what is counted: {}. The nearest reading is the one judged: {}.",
            listed.join(", "),
            best.0
        ),
    );
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}
