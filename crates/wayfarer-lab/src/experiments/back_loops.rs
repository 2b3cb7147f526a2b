//! A path to a deadlock, each state of which also leads back to the start.

use super::substructures::{Runs, settings};
use crate::desk::{Desk, LabError};
use crate::judging::{Verdict, both, exactly};
use crate::{Cell, Column, Experiment, Findings, Form, Plot, Table};
use wayfarer::space::Graph;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "back-loops",
    title: "Back-loops: finding the one deadlock",
    source: "Engels, Groote, van Weerdenburg, Willemse: Search algorithms for automated validation (2009), 5.1.2, Figure 3",
    question: "How likely is each search to have found the deadlock after a number of visited states?",
    seconds: (0.5, 0.5),
    alone: false,
    reads: &[],
    settings,
    run,
};

/// The last state before the deadlock.
const LAST: u32 = 9;
const SHOWN: usize = 60;

/// P(0), …, P(9), then the deadlock, then the loops back: from P(n) a chain of n - 1 states that ends in P(0). 10 + 1 + 36 = 47 states.
fn graph() -> Graph {
    let mut edges: Vec<Vec<u32>> = (0..=LAST).map(|n| vec![n + 1]).collect();
    edges.push(Vec::new());
    // P(0) also has a self-loop.
    edges[0].push(0);
    for n in 1..=LAST {
        let (first, chain) = (edges.len() as u32, n - 1);
        edges[n as usize].push(if chain == 0 { 0 } else { first });
        edges.extend((1..=chain).map(|step| vec![if step == chain { 0 } else { first + step }]));
    }
    Graph::new(edges, vec![0])
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let graph = graph();
    let deadlock = [LAST + 1];
    let widths = [1, 2, 3, 4, 5];
    desk.expect(4 * (2 + widths.len()));
    let mut all = vec![Runs::of(desk, &graph, "random", "random", 4 * SHOWN as u64)?, Runs::of(desk, &graph, "rdfs", "rdfs", u64::MAX)?];
    for width in widths {
        all.push(Runs::of(desk, &graph, &format!("highway {width}"), &format!("highway:width={width},restarts=0"), u64::MAX)?);
    }
    let marks = [15, 20, 30, 47, 60];
    let mut columns = vec![Column::new("search")];
    columns.extend(marks.iter().map(|mark| Column::new(format!("{mark} states")).form(Form::Percent)));
    columns.push(Column::new("in the end").form(Form::Percent));
    let mut table = Table::new("Share of runs that found the deadlock within a number of visited states", columns);
    for runs in &all {
        let shares = marks.iter().map(|mark| Cell::from(runs.found(&deadlock, *mark)));
        let end = if runs.name == "random" { Cell::Empty } else { Cell::from(runs.found(&deadlock, usize::MAX)) };
        table.row(std::iter::once(Cell::from(runs.name.as_str())).chain(shares).chain([end]));
    }
    findings.tables.push(table);
    let lines = all.iter().filter(|runs| runs.name != "highway 4").map(|runs| runs.line(&deadlock, SHOWN)).collect();
    findings.plots.push(Plot {
        title: format!("Back-loops, {} states", graph.nodes()),
        across: "states visited".into(),
        up: "share of runs that found it".into(),
        log: (false, false),
        lines,
    });
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let random = all[0].found(&deadlock, 50);
    findings.judge(
        "After 50 steps random search has not found it with a significant probability",
        &[all[0].share(deadlock[0], 50).is_rare()],
        format!("It had found it in {} of the runs.", percent(random)),
    );
    let (depth_first, five) = (&all[1], &all[6]);
    let ahead = |runs: &Runs, visits: usize| runs.share(deadlock[0], visits).more_than(&depth_first.share(deadlock[0], visits));
    let better: Vec<usize> = (31..=47).filter(|visits| ahead(five, *visits) == Verdict::Agrees).collect();
    // Better: ahead somewhere beyond 30 states and nowhere behind. The others are behind somewhere.
    let behind =
        |runs: &Runs| (31..=47).any(|visits| depth_first.share(deadlock[0], visits).more_than(&runs.share(deadlock[0], visits)) == Verdict::Agrees);
    let mut cases = vec![both(exactly(!better.is_empty()), exactly(!behind(five)))];
    cases.extend(all[2..6].iter().map(|runs| exactly(behind(runs))));
    findings.judge(
        "Only a highway of width 5 does better than randomised depth-first search, after 30 states",
        &cases,
        format!(
            "Beyond 30 states width 5 is ahead at {} of 17 numbers of states ({} against {} at 31, {} against {} at 40).",
            better.len(),
            percent(five.found(&deadlock, 31)),
            percent(depth_first.found(&deadlock, 31)),
            percent(five.found(&deadlock, 40)),
            percent(depth_first.found(&deadlock, 40)),
        ),
    );
    let ends: Vec<f64> = all[2..].iter().map(|runs| runs.found(&deadlock, usize::MAX)).collect();
    // More states change nothing: after all 47 it has found what it ever finds.
    let limits: Vec<Verdict> = all[2..].iter().map(|runs| exactly(runs.found(&deadlock, 47) == runs.found(&deadlock, usize::MAX))).collect();
    findings.judge(
        "Each width of a highway has a share of runs that it cannot exceed, since it cannot return",
        &limits,
        format!("Widths 1 to 5 end at {}.", ends.iter().map(|share| percent(*share)).collect::<Vec<_>>().join(", ")),
    );
    let one = all[2].share(deadlock[0], SHOWN);
    let others: Vec<&Runs> = all.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, runs)| runs).collect();
    let cases: Vec<Verdict> = others.iter().map(|runs| runs.share(deadlock[0], SHOWN).more_than(&one)).collect();
    findings.judge(
        "A highway of width 1 is outperformed by all others",
        &cases,
        format!(
            "Within {SHOWN} states it finds the deadlock in {} of the runs; the others in {}.",
            percent(one.interval.value),
            others.iter().map(|runs| format!("{} ({})", percent(runs.found(&deadlock, SHOWN)), runs.name)).collect::<Vec<_>>().join(", ")
        ),
    );
    let early = others.iter().all(|runs| runs.share(deadlock[0], 20).more_than(&all[2].share(deadlock[0], 20)) == Verdict::Agrees);
    let longer: Vec<f64> = [60, 240].map(|visits| all[0].found(&deadlock, visits)).to_vec();
    findings.because(
        longer[1] > one.interval.value && !early,
        "Random search catches up only after more states than the figure shows.",
        format!("Random search has found it in {} of the runs after 60 states and in {} after 240.", percent(longer[0]), percent(longer[1])),
    );
    Ok(())
}
