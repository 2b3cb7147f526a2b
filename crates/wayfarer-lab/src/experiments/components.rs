//! Five strongly connected components, each with one exit.

use super::substructures::{Runs, settings};
use crate::desk::{Desk, LabError};
use crate::judging::{Verdict, both, exactly};
use crate::{Cell, Column, Experiment, Findings, Plot, Table};
use wayfarer::space::Graph;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "components",
    title: "Strongly connected components: finding their exits",
    source: "Engels, Groote, van Weerdenburg, Willemse: Search algorithms for automated validation (2009), 5.1.3, Figure 4",
    question: "How many of five components' exits has each search found after a number of visited states?",
    seconds: (0.5, 0.5),
    alone: false,
    reads: &[],
    settings,
    run,
};

const COMPONENTS: u32 = 5;
const SIZE: u32 = 5;
const SHOWN: usize = 40;

/// The start leads to the first state of each component. In a component every state leads to every other, and
/// the last one also to an exit state of its own: 1 + 25 + 5 = 31 states.
fn graph() -> Graph {
    let at = |component: u32, position: u32| 1 + component * SIZE + position;
    let exit = |component: u32| 1 + COMPONENTS * SIZE + component;
    let mut edges = vec![(0..COMPONENTS).map(|component| at(component, 0)).collect::<Vec<u32>>()];
    for component in 0..COMPONENTS {
        for position in 0..SIZE {
            let mut targets: Vec<u32> = (0..SIZE).filter(|other| *other != position).map(|other| at(component, other)).collect();
            if position + 1 == SIZE {
                targets.push(exit(component));
            }
            edges.push(targets);
        }
    }
    edges.extend((0..COMPONENTS).map(|_| Vec::new()));
    Graph::new(edges, vec![0])
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let graph = graph();
    // An exit counts as found once its state is visited: its step out is then among the steps that the search
    // computes.
    let exits: Vec<u32> = (0..COMPONENTS).map(|component| component * SIZE + SIZE).collect();
    let widths = [1, 2, 3, 4, 5];
    desk.expect(4 * (2 + 2 * widths.len()));
    let mut all = vec![Runs::of(desk, &graph, "random", "random", 4 * SHOWN as u64)?, Runs::of(desk, &graph, "rdfs", "rdfs", u64::MAX)?];
    for width in widths {
        all.push(Runs::of(desk, &graph, &format!("highway {width}"), &format!("highway:width={width},restarts=0"), u64::MAX)?);
    }
    let mut ideal = Vec::new();
    for width in widths {
        ideal.push(Runs::of(desk, &graph, &format!("ideal {width}"), &format!("highway:width={width},ideal=on,restarts=0"), u64::MAX)?);
    }
    let marks = [5, 10, 20, 31];
    let mut columns = vec![Column::new("search")];
    columns.extend(marks.iter().map(|mark| Column::new(format!("{mark} states"))));
    columns.push(Column::new("in the end"));
    let mut table = Table::new("Mean number of exits found within a number of visited states", columns);
    for runs in &all {
        let found = marks.iter().map(|mark| Cell::from(runs.found(&exits, *mark)));
        table.row(std::iter::once(Cell::from(runs.name.as_str())).chain(found).chain([Cell::from(runs.found(&exits, usize::MAX))]));
    }
    findings.tables.push(table);
    let lines = all.iter().filter(|runs| runs.name != "highway 4").map(|runs| runs.line(&exits, SHOWN)).collect();
    findings.plots.push(Plot {
        title: "Five components, 31 states".into(),
        across: "states visited".into(),
        up: "exits found".into(),
        log: (false, false),
        lines,
    });
    let (random, depth_first, one) = (&all[0], &all[1], &all[2]);
    let steps: Vec<f64> = (1..=5).map(|component| depth_first.found(&exits, 1 + 6 * component)).collect();
    findings.judge(
        "Randomised depth-first search exhausts one component after the other, in steps",
        &steps.iter().zip(1..).map(|(found, component)| exactly((found - f64::from(component)).abs() < 1e-9)).collect::<Vec<_>>(),
        format!(
            "After 7, 13, 19, 25 and 31 states it has found {} exits.",
            steps.iter().map(|found| format!("{found:.2}")).collect::<Vec<_>>().join(", ")
        ),
    );
    let end = one.found(&exits, usize::MAX);
    let behind: Vec<Verdict> = (2..=SHOWN).map(|visits| one.counts(&exits, visits).at_least(&random.counts(&exits, visits))).collect();
    let never_behind = exactly(!behind.contains(&Verdict::Differs));
    let ahead = exactly((2..=SHOWN).any(|visits| one.counts(&exits, visits).more_than(&random.counts(&exits, visits)) == Verdict::Agrees));
    findings.judge(
        "A highway of width 1 always finds precisely one exit and slightly outperforms random search",
        &[exactly((end - 1.0).abs() < 1e-9), both(never_behind, ahead)],
        format!(
            "It finds {end:.3} exits; after 10 states random search has found {:.3} and the highway {:.3}.",
            random.found(&exits, 10),
            one.found(&exits, 10)
        ),
    );
    let ends: Vec<f64> = all[2..].iter().map(|runs| runs.found(&exits, usize::MAX)).collect();
    let rising: Vec<Verdict> =
        all[2..].windows(2).map(|pair| pair[1].counts(&exits, usize::MAX).more_than(&pair[0].counts(&exits, usize::MAX))).collect();
    findings.judge(
        "Wider highways approach randomised depth-first search",
        &rising,
        format!(
            "Widths 1 to 5 find {} exits in the end; depth-first search all {:.0}.",
            ends.iter().map(|found| format!("{found:.2}")).collect::<Vec<_>>().join(", "),
            depth_first.found(&exits, usize::MAX)
        ),
    );
    let pairs: Vec<(&Runs, &Runs)> = all[2..].iter().zip(&ideal).collect();
    findings.judge(
        "Approximate highways behave like ideal ones",
        &pairs.iter().map(|(runs, ideal)| runs.counts(&exits, usize::MAX).about(ideal.found(&exits, usize::MAX))).collect::<Vec<_>>(),
        format!(
            "Exits found in the end by widths 1 to 5, approximate and ideal: {}.",
            pairs
                .iter()
                .map(|(runs, ideal)| format!("{:.2} and {:.2}", runs.found(&exits, usize::MAX), ideal.found(&exits, usize::MAX)))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    Ok(())
}
