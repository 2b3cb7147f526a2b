//! Reasons why figures of the highway paper's Table 1 differ from ours, each with its test.

use super::table_one::{self, Printed, Row, SEARCHES};
use super::transitions::Found;
use crate::judging::{ABOUT, ENOUGH, Figure, Verdict};
use crate::{Column, Findings, Table, plain};
use wayfarer::Interval;

/// A column of Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    States,
    Length,
    Success,
}

impl Quantity {
    fn ours(self, row: &Row) -> Option<Figure> {
        match self {
            Quantity::States => row.states(),
            Quantity::Length => row.length(),
            Quantity::Success => Some(row.success()),
        }
    }

    fn printed(self, paper: &Printed) -> f64 {
        match self {
            Quantity::States => paper.0,
            Quantity::Length => paper.1,
            Quantity::Success => paper.2 / 100.0,
        }
    }
}

/// A cell of Table 1, ours beside the paper's.
pub(super) struct Cell {
    system: String,
    search: usize,
    ours: Figure,
    paper: f64,
    pub(super) verdict: Verdict,
}

impl Cell {
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.system, SEARCHES[self.search].0)
    }
}

/// The cells of a column in which the paper has a figure and we have enough runs.
pub(super) fn cells(all: &[(&str, &[Row])], quantity: Quantity) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (system, rows) in all {
        for (search, (row, paper)) in rows.iter().zip(&table_one::printed(system)).enumerate() {
            if let Some(ours) = quantity.ours(row).filter(|_| paper.2 > 0.0) {
                let paper = quantity.printed(paper);
                cells.push(Cell { system: system.to_string(), search, ours, paper, verdict: ours.about(paper) });
            }
        }
    }
    cells
}

/// The walks of a system that drew transitions and found something.
pub(super) struct Drawn {
    pub(super) system: &'static str,
    pub(super) found: Vec<Found>,
}

impl Drawn {
    fn mean(&self, of: impl Fn(&Found) -> u64) -> Figure {
        Figure::mean(&self.found.iter().map(|found| of(found) as f64).collect::<Vec<_>>())
    }
}

/// Adds the table of random search by what it draws.
pub(super) fn table(findings: &mut Findings, all: &[(&str, &[Row])], drawn: &[Drawn]) {
    let columns = vec![
        Column::new("system"),
        Column::paper("states"),
        Column::new("a successor drawn: states"),
        Column::new("a transition drawn: states"),
        Column::paper("trace"),
        Column::new("a successor drawn: loops cut out"),
        Column::new("a transition drawn: loops cut out"),
        Column::new("by first visits"),
        Column::new("by first sight"),
    ];
    let mut table = Table::new("Random search by what it draws, and its traces by how they are kept", columns);
    for drawn in drawn {
        let Some((_, rows)) = all.iter().find(|(system, _)| *system == drawn.system) else { continue };
        let paper = table_one::printed(drawn.system)[0];
        table.row([
            crate::Cell::from(drawn.system),
            paper.0.into(),
            rows[0].mean_states().into(),
            drawn.mean(|found| found.steps).interval.into(),
            paper.1.into(),
            rows[0].cut.into(),
            drawn.mean(|found| found.cut).interval.into(),
            drawn.mean(|found| found.visited).interval.into(),
            drawn.mean(|found| found.seen).interval.into(),
        ]);
    }
    findings.tables.push(table);
}

/// A name of a figure of a walk, and how to get it.
type Reading = (&'static str, fn(&Found) -> u64);

/// Tests whether the paper's random search draws a transition, so that a state is more likely if several lead to it.
pub(super) fn draws_transitions(findings: &mut Findings, cells: &[Cell], drawn: &[Drawn], quantity: Quantity) {
    let readings: &[Reading] = match quantity {
        Quantity::Length => &[
            ("loops cut out", |found| found.cut),
            ("the way by which states were visited first", |found| found.visited),
            ("the way by which states were seen first", |found| found.seen),
        ],
        _ => &[("states", |found| found.steps)],
    };
    let far: Vec<&Cell> = cells.iter().filter(|cell| cell.search == 0 && cell.verdict == Verdict::Differs).collect();
    let of = |cell: &Cell| drawn.iter().find(|drawn| drawn.system == cell.system);
    if far.is_empty() || drawn.is_empty() {
        return;
    }
    let mut told = Vec::new();
    let mut explained = false;
    for (name, of_found) in readings {
        let near =
            |cell: &&&Cell| of(cell).is_some_and(|drawn| drawn.found.len() >= ENOUGH && drawn.mean(of_found).about(cell.paper) != Verdict::Differs);
        explained |= far.iter().filter(near).count() == far.len();
        let random = cells.iter().filter(|cell| cell.search == 0).filter_map(|cell| Some((cell, of(cell)?)));
        let listed: Vec<String> =
            random.map(|(cell, drawn)| format!("{} {} (paper {})", cell.system, plain(drawn.mean(of_found).interval.value), cell.paper)).collect();
        told.push(format!("{name}: {}", listed.join(", ")));
    }
    let names: Vec<&str> = far.iter().map(|cell| cell.system.as_str()).collect();
    findings.because(
        explained,
        format!(
            "Random search ({}): the paper's tool draws a transition and does not compare where transitions lead, so that a state is more likely if several lead to it.",
            names.join(", ")
        ),
        format!("Means of walks that draw transitions, {}.", told.join("; ")),
    );
}

/// The number of runs behind a figure of the paper: 27 on the sliding window, as its rates of success say; elsewhere the rates are whole per cent.
fn paper_runs(system: &str) -> f64 {
    if system.starts_with("swp") { 27.0 } else { 100.0 }
}

/// The paper's figure of a cell with the interval that it would have if its runs were spread as ours are.
fn quoted(cell: &Cell) -> Figure {
    let Interval { value, low, high } = cell.ours.interval;
    let half = (high - low) / 2.0 / value * cell.paper * (cell.ours.runs as f64 / paper_runs(&cell.system)).sqrt();
    Figure { interval: Interval { value: cell.paper, low: cell.paper - half, high: cell.paper + half }, runs: cell.ours.runs }
}

/// Tests whether the paper's figures are means of too few runs to be told from ours.
pub(super) fn few_runs(findings: &mut Findings, cells: &[Cell]) {
    let far: Vec<&Cell> = cells.iter().filter(|cell| cell.search != 0 && cell.verdict == Verdict::Differs).collect();
    if far.is_empty() {
        return;
    }
    let apart = |cell: &Cell| {
        let paper = quoted(cell);
        [paper.more_than(&cell.ours.times(ABOUT)), cell.ours.more_than(&paper.times(ABOUT))].contains(&Verdict::Agrees)
    };
    let told: Vec<String> = far
        .iter()
        .map(|cell| {
            let (ours, paper) = (cell.ours.interval, quoted(cell).interval);
            format!(
                "{} {} to {} (paper {} to {})",
                cell.label(),
                plain(ours.low.max(0.0)),
                plain(ours.high),
                plain(paper.low.max(0.0)),
                plain(paper.high)
            )
        })
        .collect();
    let left = far.iter().filter(|cell| apart(cell)).count();
    findings.because(
        left == 0,
        "The other cells: the paper's figures are means of runs as well, 27 on the sliding window and at most about 100 elsewhere, and have an interval of their own.",
        format!("With the spread of our runs: {}. Beyond a quarter for certain: {left} of {}.", told.join(", "), far.len()),
    );
}

/// Tests whether the paper's rates on the sliding window are numbers of runs: they are 27 for nearly every search and window.
pub(super) fn of_twenty_seven(findings: &mut Findings, all: &[(&str, &[Row])]) {
    const RUNS: f64 = 27.0;
    let windows = all.iter().filter(|(system, _)| system.starts_with("swp"));
    let cells: Vec<Verdict> = windows
        .flat_map(|(system, rows)| rows.iter().zip(table_one::printed(system)).map(|(row, paper)| row.success().about(paper.2 / RUNS)))
        .collect();
    let against = cells.iter().filter(|verdict| **verdict == Verdict::Differs).count();
    findings.because(
        !cells.is_empty() && 4 * against < cells.len(),
        "The rates of the sliding window are numbers of runs and not per cent: 27 runs were made, and nearly all of them found the fault.",
        format!("As shares of 27 runs, {} of {} cells are compatible with ours.", cells.len() - against, cells.len()),
    );
}

/// Tests whether the paper's depth-first searches that failed are a choice of all: then its finds come as late as all of ours.
pub(super) fn lost_at_random(findings: &mut Findings, all: &[(&str, &[Row])]) {
    let few = all.iter().filter(|(system, _)| table_one::printed(system)[1].2 < 95.0);
    let cells: Vec<(Verdict, String)> = few
        .filter_map(|(system, rows)| {
            let (states, _, success) = table_one::printed(system)[1];
            let (ours, mean) = (rows[1].success(), rows[1].states()?);
            let told = format!("{system} {} (paper {states}, found by {success:.0} %)", crate::plain(mean.interval.value));
            // If ours fail as well, there is nothing to explain.
            (ours.about(success / 100.0) == Verdict::Differs).then(|| (mean.about(states), told))
        })
        .collect();
    let far = cells.iter().filter(|(verdict, _)| *verdict == Verdict::Differs).count();
    findings.because(
        !cells.is_empty() && far == 0,
        "Whether a depth-first search of the paper counts as a find does not depend on how long it took: its finds come as late as all of ours. So no bound on states made them fail; runs were lost for another reason, or the rates are not shares of the runs.",
        format!(
            "Mean states of all our finds: {}; {} of {} are compatible with the paper's.",
            cells.iter().map(|(_, told)| told.as_str()).collect::<Vec<_>>().join(", "),
            cells.len() - far,
            cells.len()
        ),
    );
}

/// Tests whether the paper's searches that failed were ended early: if only as many of our runs count as the paper's
/// rate of success allows, the soonest ones, they must need as many states as the paper's.
pub(super) fn ended_early(findings: &mut Findings, all: &[(&str, &[Row])]) {
    let mut near = 0;
    let mut told = Vec::new();
    for (system, rows) in all {
        let (states, _, success) = table_one::printed(system)[1];
        let soonest = (success / 100.0 * rows[1].runs as f64).round() as usize;
        if success >= 95.0 || soonest < 2 || rows[1].finds.len() <= soonest {
            continue;
        }
        let mean = Figure::mean(&rows[1].finds[..soonest]);
        near += usize::from(!matches!(mean.about(states), Verdict::Differs));
        told.push(format!("{system} {} (paper {states})", crate::plain(mean.interval.value)));
    }
    findings.because(
        !told.is_empty() && near == told.len(),
        "The paper's randomised depth-first searches that failed were ended before they had found anything, by a bound that its text does not give.",
        format!(
            "Mean states of as many of our soonest finds as the paper's rate of success allows: {}; {near} of {} are compatible with the paper's.",
            told.join(", "),
            told.len()
        ),
    );
}
