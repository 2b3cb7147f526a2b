//! The readings of Figure 4 and of its counterpart for trees that the papers' text allows.
//!
//! Restarts begin at the start or at a visited node; closed nodes are kept, leave the choice, or are deleted; edges of
//! a grid are oriented, go both ways, or also wrap around. If closed nodes are deleted, V may become empty: then a run
//! ends, or begins at the start again. Wayfarer's own strategies run each of them.

use super::restarts_on_shapes::{MEMORY, STEPS, shapes};
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly};
use crate::shapes::{Edges, Made, spec};
use crate::{Cell, Column, Form, Table, plain, searches};
use std::ops::Range;
use wayfarer::search::Limits;

/// A choice of where restarts begin and what becomes of closed nodes.
struct Rule {
    name: &'static str,
    parameters: &'static str,
    /// Whether the loops are taken as they are printed: V holds up to N + 2 nodes, and a run ends once all of them were
    /// closed and deleted. Else it begins at the start again.
    literal: bool,
}

const fn rule(name: &'static str, parameters: &'static str) -> Rule {
    Rule { name, parameters, literal: false }
}

const RULES: [Rule; 7] = [
    rule("start, closed kept", "from=initial,close=off"),
    rule("start, closed out of the choice", "from=initial,close=on"),
    rule("start, closed deleted", "from=initial,close=delete"),
    rule("visited, closed kept", "from=visited,close=off"),
    rule("visited, closed out of the choice", "from=visited,close=on"),
    rule("visited, closed deleted", "from=visited,close=delete"),
    Rule { literal: true, ..rule("visited, closed deleted, loops as printed", "from=visited,close=delete") },
];

/// A tree has oriented edges in every reading.
fn edges(trees: bool) -> &'static [Edges] {
    if trees { &[Edges::Oriented] } else { &[Edges::Oriented, Edges::Undirected, Edges::Wrapped] }
}

/// Trees differ by little, so they are run more often, and the best reading once more with [`MORE`] times the runs.
fn runs(quick: bool, trees: bool) -> u64 {
    match (quick, trees) {
        (true, _) => 40,
        (false, true) => 400,
        (false, false) => 150,
    }
}

/// The best reading of trees is judged by this many times the runs.
const MORE: u64 = 24;

pub(super) fn words(quick: bool, trees: bool) -> String {
    let kinds = edges(trees).iter().map(|edges| edges.word()).collect::<Vec<_>>().join(", ");
    format!(
        "restarts from {}; edges {kinds}; {} repetitions each{}",
        RULES.map(|rule| rule.name).join("; "),
        runs(quick, trees),
        if trees { format!(", {MORE} times as many of the best") } else { String::new() }
    )
}

pub(super) fn pieces(trees: bool) -> usize {
    let cells = shapes(trees).len() * MEMORY.len() * 2;
    edges(trees).len() * RULES.len() * cells + if trees { cells } else { 0 }
}

/// A graph at a share of the memory: covered shares of RURS and of RSDRS.
struct Point {
    graph: String,
    density: f64,
    memory: f64,
    covered: [Figure; 2],
}

/// One reading with its nine points.
pub(super) struct Reading {
    rule: &'static str,
    edges: Edges,
    points: Vec<Point>,
}

/// All readings.
pub(super) struct Readings(Vec<Reading>);

/// Runs all readings.
pub(super) fn measure(desk: &Desk, trees: bool) -> Result<Readings, LabError> {
    let mut made: Vec<(Edges, Vec<Made>)> = Vec::new();
    for edges in edges(trees) {
        made.push((*edges, shapes(trees).iter().map(|shape| shape.make_with(*edges)).collect::<Result<_, _>>()?));
    }
    let mut tasks: Vec<(usize, usize, usize, usize, usize)> = Vec::new();
    for (edges, (_, graphs)) in made.iter().enumerate() {
        for rule in 0..RULES.len() {
            for shape in 0..graphs.len() {
                for memory in 0..MEMORY.len() {
                    tasks.extend([0, 1].map(|search| (edges, rule, shape, memory, search)));
                }
            }
        }
    }
    let covered = desk.each(&tasks, |(edges, rule, shape, memory, search)| {
        share(desk, &made[*edges].1[*shape], &RULES[*rule], MEMORY[*memory], *search, 0..runs(desk.quick, trees))
    })?;
    let mut readings: Vec<Reading> = Vec::new();
    for (edges, (kind, graphs)) in made.iter().enumerate() {
        for (rule, Rule { name, .. }) in RULES.iter().enumerate() {
            let mut points = Vec::new();
            for (shape, graph) in graphs.iter().enumerate() {
                for (memory, share) in MEMORY.iter().enumerate() {
                    let at = |search: usize| tasks.iter().position(|task| *task == (edges, rule, shape, memory, search)).map(|at| covered[at]);
                    let (Some(urs), Some(sdrs)) = (at(0), at(1)) else { continue };
                    points.push(Point { graph: graph.name.clone(), density: graph.density, memory: *share, covered: [urs, sdrs] });
                }
            }
            readings.push(Reading { rule: name, edges: *kind, points });
        }
    }
    Ok(Readings(readings))
}

/// The mean share of the nodes that RURS or RSDRS covers by a rule.
fn share(desk: &Desk, made: &Made, rule: &Rule, memory: f64, search: usize, runs: Range<u64>) -> Result<Figure, LabError> {
    let capacity = ((memory * f64::from(made.nodes)).round() as u32).max(2) + if rule.literal { 2 } else { 0 };
    let strategy = spec(&format!("{}:capacity={capacity},choice=states,batch=1,{}", ["rurs", "rsdrs"][search], rule.parameters))?;
    let limits = Limits { steps: u64::from(STEPS * made.nodes), ..Limits::default() };
    let mut shares = Vec::new();
    for run in runs {
        if desk.ended() {
            return Err(LabError::Interrupted);
        }
        let search = searches::search(&made.graph, &strategy, desk.seed.wrapping_add(run), limits);
        let covered = match search.again {
            // The same run up to the step after which V was empty; each step expands one node.
            Some(at) if rule.literal => {
                let limits = Limits { steps: at as u64, ..limits };
                searches::search(&made.graph, &strategy, desk.seed.wrapping_add(run), limits).outcome.covered.value
            }
            _ => search.outcome.covered.value,
        };
        shares.push(covered / f64::from(made.nodes));
    }
    Ok(Figure::mean(&shares))
}

impl Reading {
    pub(super) fn name(&self) -> String {
        format!("restarts from {}, edges {}", self.rule, self.edges.word())
    }

    /// For each point, whether RURS is ahead.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.points.iter().map(|point| point.covered[0].more_than(&point.covered[1])).collect()
    }

    pub(super) fn ahead(&self) -> usize {
        self.verdicts().iter().filter(|verdict| **verdict == Verdict::Agrees).count()
    }

    pub(super) fn words(&self) -> String {
        let one = |point: &Point| {
            let [urs, sdrs] = point.covered.map(|covered| 100.0 * covered.interval.value);
            format!("{} at {:.0} %: {urs:.1} against {sdrs:.1} %", point.graph, 100.0 * point.memory)
        };
        self.points.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    fn gap(point: &Point) -> f64 {
        point.covered[0].interval.value - point.covered[1].interval.value
    }

    /// The points at a share of the memory, in order of rising density.
    fn at(&self, memory: f64) -> Vec<&Point> {
        let mut some: Vec<&Point> = self.points.iter().filter(|point| point.memory == memory).collect();
        some.sort_by(|one, other| one.density.total_cmp(&other.density));
        some
    }

    /// Whether the lead grows from each graph to the next denser one.
    pub(super) fn rising(&self) -> Vec<Verdict> {
        MEMORY
            .iter()
            .flat_map(|memory| self.at(*memory).windows(2).map(|pair| exactly(Reading::gap(pair[1]) > Reading::gap(pair[0]))).collect::<Vec<_>>())
            .collect()
    }

    /// Whether RURS is ahead on the densest graphs and behind on the thinnest: at each memory, no graph on which it is
    /// behind is denser than one on which it is ahead.
    pub(super) fn by_density(&self) -> bool {
        MEMORY.iter().all(|memory| {
            let verdicts: Vec<Verdict> = self.at(*memory).iter().map(|point| point.covered[0].more_than(&point.covered[1])).collect();
            let ahead = verdicts.iter().position(|verdict| *verdict == Verdict::Agrees).unwrap_or(verdicts.len());
            verdicts.iter().rposition(|verdict| *verdict == Verdict::Differs).is_none_or(|behind| behind < ahead)
        })
    }

    pub(super) fn gaps(&self) -> String {
        let one = |point: &&Point| format!("{} (m/h {}) {:.1} points", point.graph, plain(point.density), 100.0 * Reading::gap(point));
        self.at(0.15).iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl Readings {
    /// The reading in which RURS is ahead most often; of several, the one in which the lead grows with the density most
    /// often; of several, the first, which is nearest to the printed algorithms.
    pub(super) fn best(&self) -> &Reading {
        let grows = |reading: &Reading| reading.rising().iter().filter(|verdict| **verdict == Verdict::Agrees).count();
        self.0.iter().rev().max_by_key(|reading| (reading.ahead(), grows(reading))).unwrap_or(&self.0[0])
    }

    /// Puts theory, which is exact or has smaller errors, in the place of the measurements of the printed algorithms.
    pub(super) fn printed_is(&mut self, theory: impl Iterator<Item = [Figure; 2]>) {
        self.0[0].points.iter_mut().zip(theory).for_each(|(point, covered)| point.covered = covered);
    }

    /// Measures the best reading of trees again, with more runs and other seeds than those that made it the best.
    pub(super) fn measure_best(&mut self, desk: &Desk) -> Result<(), LabError> {
        let best = self.best();
        let at = self.0.iter().position(|reading| std::ptr::eq(reading, best)).unwrap_or(0);
        let Some(rule) = RULES.iter().find(|rule| rule.name == self.0[at].rule).filter(|_| at > 0) else { return Ok(()) };
        let made = shapes(true).iter().map(|shape| shape.make()).collect::<Result<Vec<_>, _>>()?;
        let tasks: Vec<(usize, usize)> = (0..self.0[at].points.len()).flat_map(|point| [(point, 0), (point, 1)]).collect();
        let first = runs(desk.quick, true);
        let covered = desk.each(&tasks, |(point, search)| {
            share(desk, &made[point / MEMORY.len()], rule, MEMORY[point % MEMORY.len()], *search, first..(1 + MORE) * first)
        })?;
        tasks.iter().zip(covered).for_each(|((point, search), covered)| self.0[at].points[*point].covered[*search] = covered);
        Ok(())
    }

    /// Restarts from the start, closed nodes kept, oriented edges: the algorithms as they are printed.
    pub(super) fn printed(&self) -> &Reading {
        &self.0[0]
    }

    pub(super) fn ranking(&self) -> String {
        let one = |reading: &Reading| format!("{} {}", reading.name(), reading.ahead());
        format!("Of 9 cells RURS is ahead for certain in: {}", self.0.iter().map(one).collect::<Vec<_>>().join("; "))
    }

    /// Whether some reading has the whole order.
    pub(super) fn any_order(&self) -> bool {
        self.0.iter().any(|reading| !reading.rising().contains(&Verdict::Differs))
    }

    pub(super) fn orders(&self) -> String {
        let one =
            |reading: &Reading| format!("{} {}", reading.name(), reading.rising().iter().filter(|verdict| **verdict == Verdict::Agrees).count());
        self.0.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    pub(super) fn table(&self) -> Table {
        let mut columns = vec![Column::new("restarts from"), Column::new("edges"), Column::new("graph"), Column::new("memory").form(Form::Percent)];
        columns.extend(["RURS", "RSDRS"].map(|name| Column::new(name).form(Form::Percent)));
        let mut table = Table::new(format!("The readings: share of the nodes covered after {STEPS} steps per node"), columns);
        for reading in &self.0 {
            for point in &reading.points {
                let [urs, sdrs] = point.covered.map(|covered| Cell::from(covered.interval));
                table.row([Cell::from(reading.rule), reading.edges.word().into(), point.graph.as_str().into(), point.memory.into(), urs, sdrs]);
            }
        }
        table
    }
}
