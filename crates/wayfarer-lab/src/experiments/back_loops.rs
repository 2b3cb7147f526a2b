//! A path to a deadlock, each state of which also leads back to the start.

use super::substructures::{Runs, settings};
use crate::desk::{Desk, LabError};
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Plot, Table};
use wayfarer::space::Graph;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "back-loops",
    title: "Back-loops: finding the one deadlock",
    source: "Engels, Groote, van Weerdenburg, Willemse: Search algorithms for automated validation (2009), 5.1.2, Figure 3",
    question: "How likely is each search to have found the deadlock after a number of visited states?",
    seconds: (0.5, 0.5),
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
    findings.claim(
        "After 50 steps random search has not found it with a significant probability",
        if random < 0.1 { Judgement::Agrees } else { Judgement::Differs },
        format!("It had found it in {} of the runs.", percent(random)),
    );
    let (depth_first, five) = (&all[1], &all[6]);
    let better: Vec<usize> = (1..=47).filter(|visits| five.found(&deadlock, *visits) > depth_first.found(&deadlock, *visits)).collect();
    let others =
        all[2..6].iter().filter(|runs| (31..=47).all(|visits| runs.found(&deadlock, visits) <= depth_first.found(&deadlock, visits))).count();
    findings.claim(
        "Only a highway of width 5 does better than randomised depth-first search, after 30 states",
        match better.first() {
            Some(from) if *from >= 20 && others == 4 => Judgement::Agrees,
            Some(_) => Judgement::Partly,
            None => Judgement::Differs,
        },
        match (better.first(), better.last()) {
            (Some(from), Some(to)) => format!(
                "Width 5 is ahead between {from} and {to} states ({} against {} at 30); of the widths 1 to 4, {others} stay behind beyond 30 states.",
                percent(five.found(&deadlock, 30)),
                percent(depth_first.found(&deadlock, 30))
            ),
            _ => format!(
                "Width 5 is never ahead: {} against {} at 30 states.",
                percent(five.found(&deadlock, 30)),
                percent(depth_first.found(&deadlock, 30))
            ),
        },
    );
    let ends: Vec<f64> = all[2..].iter().map(|runs| runs.found(&deadlock, usize::MAX)).collect();
    let rising = ends.windows(2).filter(|pair| pair[1] >= pair[0]).count();
    findings.claim(
        "Each width of a highway has a share of runs that it cannot exceed, since it cannot return",
        Judgement::of(rising, ends.len() - 1),
        format!("Widths 1 to 5 end at {}.", ends.iter().map(|share| percent(*share)).collect::<Vec<_>>().join(", ")),
    );
    let worst = all[2].found(&deadlock, SHOWN);
    let outperformed = all.iter().enumerate().filter(|(at, runs)| *at != 2 && runs.found(&deadlock, SHOWN) >= worst).count();
    findings.claim(
        "A highway of width 1 is outperformed by all others",
        Judgement::of(outperformed, all.len() - 1),
        format!(
            "It finds the deadlock in {} of the runs; {outperformed} of the {} other searches do at least as well within {SHOWN} states.",
            percent(worst),
            all.len() - 1
        ),
    );
    Ok(())
}
