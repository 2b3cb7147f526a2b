//! Table 1 of the highway paper: its figures, its searches, how they are run, and the claims that rest on it.
//!
//! Two experiments share it: one runs models of our own, the other the paper's specifications.

use crate::desk::LabError;
use crate::judging::{ENOUGH, Figure, Verdict, exactly, printed_order};
use crate::shapes::spec;
use crate::{Cell, Column, Findings, Form, Table, plain};
use std::cmp::Ordering;
use wayfarer::search::Deadlock;
use wayfarer::{Interval, Plan, Repeated, Report, SymmetryChoice};

/// Random search, rdfs, highways of 8, 16 and 32.
pub(super) const SEARCHES: [(&str, &str); 5] = [
    ("random", "random"),
    ("rdfs", "rdfs"),
    ("highway 8", "highway:width=8,restarts=0"),
    ("highway 16", "highway:width=16,restarts=0"),
    ("highway 32", "highway:width=32,restarts=0"),
];

/// The paper's states, trace and success in per cent of a search.
pub(super) type Printed = (f64, f64, f64);

/// The systems of the paper with the figures of each search.
#[rustfmt::skip]
const PRINTED: [(&str, [Printed; 5]); 19] = [
    ("1394(2)", [(3266.0, 158.0, 100.0), (981.0, 491.0, 100.0), (1154.0, 174.0, 88.0), (2078.0, 153.0, 93.0), (3439.0, 125.0, 95.0)]),
    ("1394(4)", [(4870.0, 3777.0, 100.0), (2990.0, 2501.0, 99.0), (1807.0, 322.0, 86.0), (2047.0, 175.0, 99.0), (3514.0, 141.0, 99.0)]),
    ("brp(10)", [(268.0, 137.0, 100.0), (155.0, 152.0, 100.0), (937.0, 124.0, 100.0), (1441.0, 94.0, 100.0), (2390.0, 78.0, 100.0)]),
    ("brp(30)", [(19885.0, 311.0, 75.0), (382.0, 361.0, 100.0), (1717.0, 240.0, 100.0), (3089.0, 209.0, 100.0), (5611.0, 186.0, 100.0)]),
    ("brp(50)", [(0.0, 0.0, 0.0), (539.0, 494.0, 100.0), (2345.0, 341.0, 100.0), (4496.0, 315.0, 100.0), (8415.0, 286.0, 100.0)]),
    ("brp(70)", [(0.0, 0.0, 0.0), (690.0, 629.0, 100.0), (3043.0, 445.0, 100.0), (5809.0, 413.0, 100.0), (11372.0, 387.0, 100.0)]),
    ("brp(90)", [(0.0, 0.0, 0.0), (821.0, 745.0, 100.0), (3593.0, 542.0, 100.0), (7103.0, 509.0, 100.0), (14094.0, 486.0, 100.0)]),
    ("commprot", [(1516.0, 1517.0, 100.0), (4864.0, 631.0, 72.0), (7418.0, 929.0, 100.0), (13181.0, 825.0, 97.0), (16441.0, 515.0, 90.0)]),
    ("lift(3)", [(13.0, 14.0, 2.0), (553.0, 14.0, 100.0), (87.0, 13.0, 31.0), (149.0, 13.0, 58.0), (257.0, 13.0, 93.0)]),
    ("lift(4)", [(0.0, 0.0, 0.0), (1232.0, 17.0, 100.0), (106.0, 15.0, 14.0), (207.0, 16.0, 45.0), (367.0, 15.0, 81.0)]),
    ("lift(5)", [(0.0, 0.0, 0.0), (2438.0, 19.0, 100.0), (119.0, 17.0, 2.0), (253.0, 18.0, 30.0), (461.0, 17.0, 65.0)]),
    ("lift(6)", [(0.0, 0.0, 0.0), (6311.0, 21.0, 99.0), (0.0, 0.0, 0.0), (313.0, 22.0, 11.0), (542.0, 20.0, 48.0)]),
    ("othello(4×4)", [(12.0, 13.0, 12.0), (86.0, 13.0, 26.0), (87.0, 13.0, 49.0), (165.0, 13.0, 77.0), (312.0, 13.0, 91.0)]),
    ("othello(6×6)", [(32.0, 33.0, 3.0), (300.0, 33.0, 20.0), (248.0, 33.0, 35.0), (487.0, 33.0, 58.0), (955.0, 33.0, 80.0)]),
    ("swp(2)", [(327.0, 204.0, 27.0), (279.0, 274.0, 27.0), (1217.0, 154.0, 26.0), (2214.0, 141.0, 27.0), (3161.0, 102.0, 27.0)]),
    ("swp(4)", [(1640.0, 906.0, 27.0), (1570.0, 1552.0, 27.0), (6307.0, 790.0, 27.0), (12794.0, 802.0, 27.0), (13374.0, 421.0, 27.0)]),
    ("swp(6)", [(4391.0, 2372.0, 27.0), (3872.0, 3844.0, 27.0), (14986.0, 1875.0, 27.0), (24588.0, 1540.0, 27.0), (29377.0, 922.0, 27.0)]),
    ("swp(8)", [(7273.0, 3315.0, 27.0), (8531.0, 6500.0, 25.0), (21419.0, 2680.0, 27.0), (35119.0, 2198.0, 26.0), (48052.0, 1505.0, 21.0)]),
    ("swp(10)", [(11546.0, 5642.0, 27.0), (16327.0, 8115.0, 21.0), (29425.0, 3681.0, 26.0), (45012.0, 2816.0, 22.0), (62502.0, 1957.0, 12.0)]),
];

/// The paper's figures of a system.
pub(super) fn printed(system: &str) -> [Printed; 5] {
    PRINTED.iter().find(|(name, _)| *name == system).map_or([(0.0, 0.0, 0.0); 5], |(_, figures)| *figures)
}

/// The most states of a search of a system.
pub(super) fn most_states(system: &str) -> u64 {
    if system.starts_with("swp") { 80_000 } else { 50_000 }
}

/// A run of a search that ends after so many states; what it looks for is left to be said. A walk's visits count each time, as the paper's do.
pub(super) fn plan(search: usize, most: u64) -> Result<Plan, LabError> {
    let strategy = spec(SEARCHES[search].1)?;
    let walks = !strategy.default_store().abilities().remembers;
    let (states, steps) = if walks { (None, Some(most)) } else { (Some(most), None) };
    Ok(Plan { strategy, states, steps, symmetry: SymmetryChoice::Off, deadlock: Some(Deadlock::Off), shorten: false, threads: 1, ..Plan::default() })
}

/// The runs of one search on one system.
pub(super) struct Row {
    pub(super) rate: Interval,
    pub(super) runs: usize,
    states: Option<Interval>,
    raw: Option<Interval>,
    pub(super) cut: Option<Interval>,
    pub(super) short: Option<Interval>,
    /// Mean states of all runs, found or not.
    spent: Option<f64>,
    /// The states of each run that found something, fewest first.
    pub(super) finds: Vec<f64>,
}

impl Row {
    /// The figures of some runs of a search, of which the last ones were made to be shortened.
    pub(super) fn of(search: usize, reports: Vec<Report>, shortened: Vec<Report>) -> Row {
        let walks = search == 0;
        let visited = |report: &Report| if walks { report.steps as f64 } else { report.states as f64 };
        let spent = Interval::of_mean(&reports.iter().map(visited).collect::<Vec<_>>()).map(|mean| mean.value);
        let done = Repeated { runs: reports };
        Row {
            runs: done.runs.len(),
            rate: done.success_rate(),
            states: done.mean(visited),
            raw: done.mean(wayfarer::repeated::raw_length),
            cut: done.mean(wayfarer::repeated::length),
            short: Repeated { runs: shortened }.mean(wayfarer::repeated::length),
            finds: sorted(done.successes().map(visited)),
            spent,
        }
    }

    /// A figure over the runs that found something; `None` if there are too few for its interval.
    fn figure(&self, of: fn(&Row) -> Option<Interval>) -> Option<Figure> {
        Figure::skewed(of(self)?, self.finds.len())
    }

    /// The mean states of the runs that found something, however few.
    pub(super) fn mean_states(&self) -> Option<Interval> {
        self.states
    }

    pub(super) fn states(&self) -> Option<Figure> {
        self.figure(|row| row.states)
    }

    pub(super) fn length(&self) -> Option<Figure> {
        self.figure(|row| row.cut)
    }

    /// The length as found, with its loops.
    fn raw_length(&self) -> Option<Figure> {
        self.figure(|row| row.raw)
    }

    pub(super) fn success(&self) -> Figure {
        Figure::of(self.rate, self.runs)
    }
}

/// Adds the table, the paper's figures beside ours.
pub(super) fn table(findings: &mut Findings, all: &[(&str, &[Row])]) {
    let shortened = all.iter().any(|(_, rows)| rows.iter().any(|row| row.short.is_some()));
    let mut columns = vec![
        Column::new("system"),
        Column::new("search"),
        Column::paper("success").form(Form::Percent),
        Column::new("success").form(Form::Percent),
        Column::paper("states").form(Form::Count),
        Column::new("states"),
        Column::paper("trace").form(Form::Count),
        Column::new("trace"),
        Column::new("raw"),
    ];
    columns.extend(shortened.then(|| Column::new("shortened")));
    let mut table = Table::new("Table 1: means over the runs that reached the goal. A trace is the raw one with loops cut out", columns);
    for (system, rows) in all {
        for (((name, _), row), (states, trace, success)) in SEARCHES.iter().zip(*rows).zip(printed(system)) {
            let quoted = |value: f64| if success > 0.0 { Cell::from(value) } else { Cell::Empty };
            let ours = [quoted(states), row.states.into(), quoted(trace), row.cut.into(), row.raw.into(), row.short.into()];
            table.row(
                [Cell::from(*system), Cell::from(*name), (success / 100.0).into(), row.rate.into()]
                    .into_iter()
                    .chain(ours)
                    .take(9 + usize::from(shortened)),
            );
        }
    }
    findings.tables.push(table);
}

/// A comparison of two searches on a system, in the order that the paper's own table has: the search that has more of a figure there must have more here.
/// `None` if the table has no order, or a figure of ours is not there.
fn compared(
    system: &str,
    rows: &[Row],
    (one, other): (usize, usize),
    paper: fn(&Printed) -> f64,
    of: fn(&Row) -> Option<Figure>,
) -> Option<Compared> {
    let printed = printed(system);
    let order = [one, other].iter().all(|search| printed[*search].2 > 0.0).then(|| printed_order(paper(&printed[one]), paper(&printed[other])))??;
    let (one, other) = (of(&rows[one])?, of(&rows[other])?);
    let verdict = if order == Ordering::Greater { one.outdoes(&other) } else { other.outdoes(&one) };
    Some(Compared { order, verdict })
}

/// The order of two searches in the paper's table, and whether ours is the same.
struct Compared {
    order: Ordering,
    verdict: Verdict,
}

/// The comparisons of pairs of searches on all systems that are meant.
fn comparisons(
    all: &[(&str, &[Row])],
    pairs: &[(usize, usize)],
    paper: fn(&Printed) -> f64,
    of: fn(&Row) -> Option<Figure>,
    meant: impl Fn(&str) -> bool,
) -> Vec<(String, Compared)> {
    let one = |(name, rows): &(&str, &[Row]), pair: (usize, usize)| {
        let label = format!("{name} {} and {}", SEARCHES[pair.0].0, SEARCHES[pair.1].0);
        compared(name, rows, pair, paper, of).map(|compared| (label, compared))
    };
    all.iter().filter(|(name, _)| meant(name)).flat_map(|system| pairs.iter().filter_map(move |pair| one(system, *pair))).collect()
}

fn verdicts(cells: &[(String, Compared)]) -> Vec<Verdict> {
    cells.iter().map(|(_, compared)| compared.verdict).collect()
}

/// The number of cells, and of those in which the paper's table has the claimed order and the other; then the cells that differ or are open.
fn told(cells: &[(String, Compared)], claimed: Ordering) -> String {
    let with = |verdict: fn(&Verdict) -> bool| {
        let some: Vec<&str> = cells.iter().filter(|(_, compared)| verdict(&compared.verdict)).map(|(label, _)| label.as_str()).collect();
        if some.is_empty() { "none".to_string() } else { some.join(", ") }
    };
    let usual = cells.iter().filter(|(_, compared)| compared.order == claimed).count();
    format!(
        "Judged in the {} cells in which the paper's own table has an order and there are {ENOUGH} finds of each: {usual} as the claim says, {} exceptions. The order is another in: {}. Open: {}.",
        cells.len(),
        cells.len() - usual,
        with(|verdict| *verdict == Verdict::Differs),
        with(|verdict| matches!(verdict, Verdict::Open(_)))
    )
}

/// The claims about Table 1, for any set of systems: rows in the order of the searches; `deep` says whether a system's goal is deep.
/// A comparison counts only if the paper's own figures have an order and there are enough runs.
pub(super) fn claims(findings: &mut Findings, all: &[(&str, &[Row])], deep: fn(&str) -> bool) {
    let listed = |of: &dyn Fn(&Row) -> Option<Interval>| {
        let one = |row: &Row| of(row).map_or("–".to_string(), |interval| plain(interval.value));
        all.iter().map(|(name, rows)| format!("{name} {}", rows[1..].iter().map(one).collect::<Vec<_>>().join("/"))).collect::<Vec<_>>().join(", ")
    };
    // Each width against rdfs, over the runs that found something.
    let highways = [(2, 1), (3, 1), (4, 1)];
    let states = comparisons(all, &highways, |paper| paper.0, Row::states, |_| true);
    findings.judge(
        "Randomised depth-first search needs the fewest states, with the exceptions of Table 1",
        &verdicts(&states),
        format!(
            "Mean states of rdfs and of highways of 8, 16 and 32, over runs that found something: {}. {}",
            listed(&|row| row.states),
            told(&states, Ordering::Greater)
        ),
    );
    let counted: Vec<(f64, f64)> = all.iter().filter_map(|(_, rows)| Some((per_find(&rows[1])?, per_find(&rows[2])?))).collect();
    let cheaper = counted.iter().filter(|(depth_first, highway)| depth_first < highway).count();
    findings.note(format!(
        "The means are over runs that found something, so that a highway that mostly ends early shows its lucky runs. Counting the states of failed runs as well, rdfs needs fewer states for each find than highway 8 on {cheaper} of {} systems.",
        counted.len()
    ));
    let lengths = comparisons(all, &highways, |paper| paper.1, Row::length, deep);
    findings.judge(
        "Highways give shorter witnesses than randomised depth-first search if the goal is deep",
        &verdicts(&lengths),
        format!("Mean length with loops cut out, rdfs and highways of 8, 16 and 32: {}. {}", listed(&|row| row.cut), told(&lengths, Ordering::Less)),
    );
    let against_random = comparisons(all, &[(2, 0), (3, 0), (4, 0)], |paper| paper.1, Row::length, deep);
    findings.judge(
        "Highways give the shortest witnesses: shorter than random search as well if the goal is deep, with the exceptions of Table 1",
        &verdicts(&against_random),
        format!(
            "Mean length of random search, loops cut out: {}. {}",
            all.iter().filter_map(|(name, rows)| Some(format!("{name} {}", plain(rows[0].cut?.value)))).collect::<Vec<_>>().join(", "),
            told(&against_random, Ordering::Less)
        ),
    );
    let as_found = comparisons(all, &[(2, 0), (3, 0), (4, 0)], |paper| paper.1, Row::raw_length, deep);
    findings.because(
        !as_found.is_empty() && as_found.iter().all(|(_, compared)| compared.verdict == Verdict::Agrees),
        "Cutting loops out favours random search: its way is full of them, and a highway's has none, because it never comes back.",
        format!(
            "Mean length of random search as it went: {}. {}",
            all.iter().filter_map(|(name, rows)| Some(format!("{name} {}", plain(rows[0].raw?.value)))).collect::<Vec<_>>().join(", "),
            told(&as_found, Ordering::Less)
        ),
    );
    // From width 8 to 32; one doubling changes lengths by less than their spread.
    let lengths = comparisons(all, &[(4, 2)], |paper| paper.1, Row::length, deep);
    let states = comparisons(all, &[(4, 2)], |paper| paper.0, Row::states, deep);
    let certain = |cells: &[(String, Compared)]| cells.iter().filter(|(_, compared)| compared.verdict == Verdict::Agrees).count();
    findings.judge(
        "Wider highways give shorter witnesses for more states",
        &[verdicts(&lengths), verdicts(&states)].concat(),
        format!(
            "From width 8 to 32 on systems with deep goals. Lengths: {} of {} cells as in the paper. {} States: {} of {} cells as in the paper. {}",
            certain(&lengths),
            lengths.len(),
            told(&lengths, Ordering::Less),
            certain(&states),
            states.len(),
            told(&states, Ordering::Greater)
        ),
    );
    let random: Vec<Verdict> = all.iter().filter_map(|(_, rows)| Some(rows[1].length()?.more_than(&rows[0].length()?))).collect();
    findings.judge(
        "Random search, too, gives shorter witnesses than randomised depth-first search on some systems (8 of the paper's 19)",
        &[if random.is_empty() { Verdict::Open(None) } else { exactly(random.contains(&Verdict::Agrees)) }],
        format!(
            "Here on {} of the {} on which both find something.",
            random.iter().filter(|verdict| **verdict == Verdict::Agrees).count(),
            random.len()
        ),
    );
}

/// Numbers in rising order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// States for each find, those of failed runs included.
fn per_find(row: &Row) -> Option<f64> {
    let mean = row.spent?;
    (row.rate.value > 0.0).then(|| mean / row.rate.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(states: f64, finds: usize) -> Row {
        let interval = Interval { value: states, low: 0.9 * states, high: 1.1 * states };
        Row {
            rate: Interval::of_share(finds, finds),
            runs: finds,
            states: Some(interval),
            raw: None,
            cut: None,
            short: None,
            spent: Some(states),
            finds: vec![states; finds],
        }
    }

    #[test]
    fn a_cell_is_judged_if_the_table_has_an_order_and_there_are_enough_finds() {
        let rows = |finds: usize| [10.0, 300.0, 100.0, 310.0, 400.0].map(|states| row(states, finds));
        let cells = |system: &str, finds: usize| {
            let rows = rows(finds);
            let cells = comparisons(&[(system, rows.as_slice())], &[(2, 1), (3, 1), (4, 1)], |paper| paper.0, Row::states, |_| true);
            cells.iter().map(|(_, compared)| (compared.order, compared.verdict)).collect::<Vec<_>>()
        };
        use Ordering::{Greater, Less};
        // Table 1 has rdfs behind all highways on lift(3), and ahead of the wider two on 4×4 Othello.
        assert_eq!(cells("lift(3)", 40), [(Less, Verdict::Agrees), (Less, Verdict::Differs), (Less, Verdict::Differs)]);
        assert_eq!(cells("othello(4×4)", 40), [(Greater, Verdict::Differs), (Greater, Verdict::Agrees)]);
        assert_eq!(cells("lift(3)", 20), []);
    }
}
