//! Mean cover times of trees and grids: URS against SDRS.

use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly};
use crate::shapes::{BOTH, Curve, Made, Shape};
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, plain};
use wayfarer::Interval;
use wayfarer::search::Limits;

pub(super) const TREES: Experiment = Experiment {
    name: "trees",
    title: "Mean cover time of trees",
    source: "Abed, Tripakis, Vincent (SPIN 2008), Figure 1; Resource-Aware Verification, Figure 3, left",
    question: "How many steps do URS and SDRS take to cover a share of a tree T(h, m), and when is which of them faster?",
    seconds: (1.5, 40.0),
    alone: false,
    reads: &[],
    settings: |quick| settings(quick, true),
    run: |desk, findings| run(desk, findings, true),
};

pub(super) const GRIDS: Experiment = Experiment {
    name: "grids",
    title: "Mean cover time of grids",
    source: "Abed, Tripakis, Vincent (SPIN 2008), Figure 3; Resource-Aware Verification, Figure 4, left",
    question: "How many steps do URS and SDRS take to cover a share of a grid G(L, d), and is URS further ahead there than on trees?",
    seconds: (1.5, 60.0),
    alone: false,
    reads: &[],
    settings: |quick| settings(quick, false),
    run: |desk, findings| run(desk, findings, false),
};

/// The last tree is thin: its density factor is below the 0.05 of the paper.
const QUICK_TREES: [Shape; 4] = [Shape::Tree(2, 10), Shape::Tree(3, 4), Shape::Tree(5, 2), Shape::Tree(30, 1)];
const TREES_SHAPES: [Shape; 5] = [Shape::Tree(2, 12), Shape::Tree(3, 5), Shape::Tree(4, 3), Shape::Tree(6, 2), Shape::Tree(60, 1)];
const QUICK_GRIDS: [Shape; 3] = [Shape::Grid(2, 4), Shape::Grid(4, 3), Shape::Grid(9, 2)];
const GRID_SHAPES: [Shape; 4] = [Shape::Grid(1, 7), Shape::Grid(3, 4), Shape::Grid(5, 3), Shape::Grid(12, 2)];

const SHARES: [f64; 5] = [0.6, 0.7, 0.8, 0.9, 1.0];

fn shapes(quick: bool, trees: bool) -> &'static [Shape] {
    match (trees, quick) {
        (true, true) => &QUICK_TREES,
        (true, false) => &TREES_SHAPES,
        (false, true) => &QUICK_GRIDS,
        (false, false) => &GRID_SHAPES,
    }
}

fn runs(quick: bool) -> u32 {
    if quick { 200 } else { 1000 }
}

fn settings(quick: bool, trees: bool) -> Settings {
    let shapes: Vec<String> = shapes(quick, trees).iter().map(|shape| format!("{shape:?}")).collect();
    vec![
        ("graphs", shapes.join(", ")),
        ("theory", "exact recursions; where they do not fit into 256 MiB, simulated".to_string()),
        ("measured", format!("Wayfarer's urs and sdrs with batch=1, choice=states, {} repetitions", runs(quick))),
    ]
}

/// The results for one graph.
struct Row {
    made: Made,
    /// Theory of URS and of SDRS, for one node, two nodes, and so on.
    theory: [Curve; 2],
    /// Measurements of both, to 60 % and to 100 %.
    measured: [[Option<Interval>; 2]; 2],
}

impl Row {
    fn at(&self, algorithm: usize, share: f64) -> Interval {
        self.theory[algorithm].points[nodes(share, self.made.nodes) - 1]
    }

    /// The theoretical time as a figure, with an interval if it was simulated.
    fn figure(&self, algorithm: usize, share: f64, runs: u32) -> Figure {
        Figure::of(self.at(algorithm, share), runs as usize)
    }

    /// The ratio of SDRS's time to that of URS.
    fn ratio(&self, share: f64) -> f64 {
        self.at(1, share).value / self.at(0, share).value
    }
}

fn nodes(share: f64, nodes: u32) -> usize {
    ((share * f64::from(nodes) - 1e-9).ceil() as usize).max(1)
}

fn run(desk: &Desk, findings: &mut Findings, trees: bool) -> Result<(), LabError> {
    let shapes = shapes(desk.quick, trees);
    desk.expect(shapes.len() * (2 + 4 * 8));
    let rows = shapes.iter().map(|shape| measure(desk, *shape)).collect::<Result<Vec<Row>, _>>()?;
    table(findings, &rows);
    for row in &rows {
        findings.plots.push(plot(row));
    }
    judge(findings, &rows, trees, runs(desk.quick));
    if !trees {
        against_trees(desk, findings, &rows)?;
    }
    uniform(desk, findings, trees)?;
    findings
        .note("The paper's figures show three graphs each; their sizes are not readable in the text, so ours span a range of density factors m/h.");
    Ok(())
}

/// Compares how likely the node that is hardest to reach is reached, on graphs that are small enough for exact theory.
fn uniform(desk: &Desk, findings: &mut Findings, trees: bool) -> Result<(), LabError> {
    let shapes =
        if trees { [Shape::Tree(2, 3), Shape::Tree(3, 2), Shape::Tree(2, 5)] } else { [Shape::Grid(2, 2), Shape::Grid(1, 4), Shape::Grid(3, 2)] };
    let mut cases = Vec::new();
    let mut told = Vec::new();
    for shape in shapes {
        let made = shape.make()?;
        for times in [2, 5] {
            let steps = times * made.nodes;
            let [urs, sdrs] = BOTH.map(|(algorithm, _)| made.least_reached(desk, algorithm, steps));
            let (urs, sdrs) = (urs?, sdrs?);
            cases.push(exactly(urs > sdrs));
            told.push(format!("{} after {steps} steps {} against {}", made.name, plain(urs), plain(sdrs)));
        }
    }
    findings.judge(
        "URS explores more uniformly: the node that is hardest to reach is reached more often",
        &cases,
        format!("Its probability by exact theory, URS against SDRS: {}.", told.join("; ")),
    );
    Ok(())
}

/// Compares the lead of URS on grids with that on trees of about the same size.
fn against_trees(desk: &Desk, findings: &mut Findings, grids: &[Row]) -> Result<(), LabError> {
    let mut ratios = Vec::new();
    for shape in [Shape::Tree(2, 10), Shape::Tree(3, 4), Shape::Tree(5, 2)] {
        let tree = shape.make()?;
        let [urs, sdrs] = [BOTH[0], BOTH[1]].map(|(algorithm, _)| tree.cover_times(desk, algorithm, runs(desk.quick)));
        let last = |curve: &Curve| curve.points.last().map_or(f64::NAN, |last| last.value);
        ratios.push((tree.name.clone(), last(&sdrs?) / last(&urs?), tree.density));
    }
    // Each grid against the tree that is nearest in size and density; what decides is exact or has next to no error.
    let nearest = |row: &Row| {
        let far = |tree: &&(String, f64, f64)| (tree.2 / row.made.density).ln().abs();
        ratios.iter().min_by(|one, other| far(one).total_cmp(&far(other)))
    };
    let cases: Vec<Verdict> = grids.iter().filter_map(|row| Some(exactly(row.ratio(1.0) > nearest(row)?.1))).collect();
    findings.judge(
        "URS leads by more on grids than on trees",
        &cases,
        format!(
            "At full cover SDRS takes {} times the steps on grids and {} on trees; each grid is judged against the tree of the nearest density factor.",
            grids.iter().map(|row| format!("{} ({}, m/h {})", plain(row.ratio(1.0)), row.made.name, plain(row.made.density))).collect::<Vec<_>>().join(", "),
            ratios.iter().map(|(name, ratio, density)| format!("{} ({name}, m/h {})", plain(*ratio), plain(*density))).collect::<Vec<_>>().join(", ")
        ),
    );
    let density = |row: &&Row| row.made.density >= 0.5;
    let dense = grids.iter().filter(density).filter(|row| nearest(row).is_some_and(|tree| row.ratio(1.0) > tree.1)).count();
    findings.because(
        dense == grids.iter().filter(density).count(),
        "Which graphs are compared decides: the lead of URS on trees grows with their degree, and a bushy tree outdoes a narrow grid.",
        format!("Of the grids with m/h of 0.5 and more, {dense} of {} are ahead of their tree.", grids.iter().filter(density).count()),
    );
    Ok(())
}

fn measure(desk: &Desk, shape: Shape) -> Result<Row, LabError> {
    let made = shape.make()?;
    let runs = runs(desk.quick);
    let mut theory = Vec::new();
    let mut measured = Vec::new();
    for (algorithm, name) in BOTH {
        theory.push(made.cover_times(desk, algorithm, runs)?);
        desk.tick()?;
        let mut times = [None, None];
        for (time, share) in times.iter_mut().zip([0.6, 1.0]) {
            let strategy = format!("{name}:capacity={},choice=states,batch=1", nodes(share, made.nodes));
            *time = made.measured(desk, &strategy, Limits::default(), runs, |search| search.outcome.steps as f64)?;
        }
        measured.push(times);
    }
    match (<[Curve; 2]>::try_from(theory), <[_; 2]>::try_from(measured)) {
        (Ok(theory), Ok(measured)) => Ok(Row { made, theory, measured }),
        _ => Err(LabError::Failed("an algorithm is missing".to_string())),
    }
}

fn table(findings: &mut Findings, rows: &[Row]) {
    let columns = ["graph", "nodes", "m/h", "share", "URS, theory", "URS, measured", "SDRS, theory", "SDRS, measured", "SDRS/URS"];
    let mut table = Table::new("Mean steps to cover a share of the nodes", columns.map(Column::new).to_vec());
    table.columns[3].form = Form::Percent;
    for row in rows {
        for share in SHARES {
            let measured = |algorithm: usize| match share {
                0.6 => Cell::from(row.measured[algorithm][0]),
                1.0 => Cell::from(row.measured[algorithm][1]),
                _ => Cell::Empty,
            };
            table.row([
                Cell::from(row.made.name.as_str()),
                row.made.nodes.into(),
                row.made.density.into(),
                share.into(),
                row.at(0, share).into(),
                measured(0),
                row.at(1, share).into(),
                measured(1),
                row.ratio(share).into(),
            ]);
        }
    }
    findings.tables.push(table);
}

fn plot(row: &Row) -> Plot {
    let line = |algorithm: usize, name: &str| {
        let count = f64::from(row.made.nodes);
        let points = row.theory[algorithm].points.iter().enumerate().map(|(index, time)| ((index + 1) as f64 / count * 100.0, time.value));
        Line::new(format!("{name}, {}", if row.theory[algorithm].exact { "exact" } else { "simulated" }), points)
    };
    Plot {
        title: format!("{}, m/h = {}", row.made.name, plain(row.made.density)),
        across: "nodes covered, per cent".to_string(),
        up: "mean steps".to_string(),
        log: (false, false),
        lines: vec![line(0, "URS"), line(1, "SDRS")],
    }
}

fn judge(findings: &mut Findings, rows: &[Row], trees: bool, runs: u32) {
    let list = |rows: &[&Row], share: f64| {
        let each = rows.iter().map(|row| format!("{} {}", row.made.name, plain(row.ratio(share))));
        each.collect::<Vec<_>>().join(", ")
    };
    let broad: Vec<&Row> = rows.iter().filter(|row| row.made.density >= 0.05).collect();
    findings.judge(
        "URS covers the whole graph in fewer steps than SDRS",
        &broad.iter().map(|row| row.figure(1, 1.0, runs).more_than(&row.figure(0, 1.0, runs))).collect::<Vec<_>>(),
        format!("Ratio of SDRS's steps to URS's at full cover: {}.", list(&broad, 1.0)),
    );
    let apart = |row: &Row, share: f64| (row.at(1, share).value - row.at(0, share).value) / f64::from(row.made.nodes);
    let listed =
        |rows: &[&Row], share: f64| rows.iter().map(|row| format!("{} {}", row.made.name, plain(apart(row, share)))).collect::<Vec<_>>().join(", ");
    // The papers draw steps, so the difference is judged in steps. Simulated curves have errors far below these gaps.
    findings.judge(
        "The difference shows mainly beyond 70 % of cover",
        &broad.iter().map(|row| exactly(apart(row, 1.0) - apart(row, 0.7) > apart(row, 0.7))).collect::<Vec<_>>(),
        format!(
            "In steps per node, SDRS is behind by {} at 70 % and by {} at 100 %; more than half of it must come after 70 %. As a ratio, it takes {} times the steps at 70 % and {} at 100 %.",
            listed(&broad, 0.7),
            listed(&broad, 1.0),
            list(&broad, 0.7),
            list(&broad, 1.0)
        ),
    );
    let mut sorted = broad.clone();
    sorted.sort_by(|one, another| one.made.density.total_cmp(&another.made.density));
    let beyond: Vec<f64> = sorted.iter().map(|row| 1.0 - apart(row, 0.7) / apart(row, 1.0)).collect();
    findings.because(
        beyond.windows(2).all(|pair| pair[1] > pair[0]),
        "It is so on dense graphs: the share of the difference that comes after 70 % grows with the density factor.",
        format!(
            "By exact theory, in order of rising m/h: {}.",
            sorted
                .iter()
                .zip(&beyond)
                .map(|(row, share)| format!("{} (m/h {}) {:.0} %", row.made.name, plain(row.made.density), 100.0 * share))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    findings.judge(
        "The greater the density factor, the greater the difference",
        &sorted.windows(2).map(|pair| exactly(apart(pair[1], 1.0) > apart(pair[0], 1.0))).collect::<Vec<_>>(),
        format!(
            "In order of rising m/h, SDRS is behind by {} steps per node at full cover; the ratios are {}.",
            listed(&sorted, 1.0),
            list(&sorted, 1.0)
        ),
    );
    let rising = |share: f64| sorted.windows(2).filter(|pair| apart(pair[1], share) > apart(pair[0], share)).count();
    findings.because(
        rising(0.6) + 1 == sorted.len(),
        "Below full cover the order is the paper's. At full cover the corners decide: a walk comes to a corner of a long, thin grid once in 2^L times, however many nodes there are.",
        format!(
            "Of {} pairs of neighbours in order of m/h the difference grows in {} at 60 %, {} at 70 %, {} at 80 %, {} at 90 % and {} at 100 % of cover. At 60 % SDRS is behind by {} steps per node.",
            sorted.len() - 1,
            rising(0.6),
            rising(0.7),
            rising(0.8),
            rising(0.9),
            rising(1.0),
            listed(&sorted, 0.6)
        ),
    );
    if trees {
        for thin in rows.iter().filter(|row| row.made.density < 0.05) {
            findings.judge(
                "On a thin tree (m/h below 0.05) SDRS performs as well as URS or better",
                &[0.6, 0.9].map(|share| thin.figure(0, share, runs).at_least(&thin.figure(1, share, runs))),
                format!(
                    "On {} (m/h {}) SDRS takes {} of the steps of URS to 60 %, {} to 90 % and {} to full cover.",
                    thin.made.name,
                    plain(thin.made.density),
                    plain(thin.ratio(0.6)),
                    plain(thin.ratio(0.9)),
                    plain(thin.ratio(1.0))
                ),
            );
        }
    }
    let points: Vec<(Interval, Interval)> = rows
        .iter()
        .flat_map(|row| {
            (0..2).flat_map(move |algorithm| [(0, 0.6), (1, 1.0)].map(|(at, share)| Some((row.at(algorithm, share), row.measured[algorithm][at]?))))
        })
        .flatten()
        .collect();
    // If theory was simulated, it has an interval of its own.
    let inside = points.iter().filter(|(theory, measured)| theory.low <= measured.high && measured.low <= theory.high).count();
    findings.judge(
        "Wayfarer's strategies are the paper's algorithms",
        // Of 95 % intervals one in twenty may miss; three times as many would be a surprise.
        &[exactly(points.len() - inside <= 1 + points.len() * 3 / 20)],
        format!("{inside} of {} measured means agree with theory within their 95 % intervals.", points.len()),
    );
}
