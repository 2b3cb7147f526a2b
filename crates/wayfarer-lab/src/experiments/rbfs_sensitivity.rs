//! The sensitivity of randomised breadth-first search to its parameters, and its errors of both types.

use super::rbfs::{Known, SHARING_LIST, TICKETS, is_accepted, overhead};
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, exactly, never};
use crate::{Cell, Column, Experiment, Findings, Form, Settings, Table};
use wayfarer::Report;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "rbfs-sensitivity",
    title: "Randomised breadth-first search: maxpom, samples, g, and errors of both types",
    source: "Tronci, Della Penna, Intrigila, Venturini Zilli (2001), section 4",
    question: "Do MAXPOM (0.01, 0.05, 0.1), the number of samples (Reach/100, Reach/1000) and g (0.1, 0.8) matter, and how often is a run wrongly accepted or wrongly refused?",
    seconds: (6.0, 200.0),
    alone: false,
    reads: &["sci.m"],
    settings,
    run,
};

const MEMORY: [f64; 5] = [1.0, 0.9, 0.8, 0.7, 0.6];
/// maxpom, the divisor of Reach that gives the number of samples, g.
const CHOICES: [(f64, u64, f64); 5] = [(0.01, 100, 0.8), (0.05, 100, 0.8), (0.1, 100, 0.8), (0.01, 1000, 0.8), (0.01, 100, 0.1)];
/// The shares at which g is compared on the second system.
const SOME: [f64; 4] = [0.9, 0.7, 0.5, 0.4];

/// Runs at a share of the memory: to show that no accepted run missed a state takes 74 accepted ones.
fn runs(quick: bool, share: f64, first: bool) -> u32 {
    match (quick, first && share >= 0.7) {
        (true, _) => 2,
        (false, true) => 20,
        (false, false) => 6,
    }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("model", "sci.m of the user's folder, or sharing_list.m; kerberos.m for g; with symmetry".to_string()),
        ("memory", format!("{MEMORY:?} of M; {SOME:?} on the second system")),
        ("repetitions", format!("{} at 0.7 and more of the first system, {} elsewhere", runs(quick, 1.0, true), runs(quick, 0.0, true))),
    ]
}

/// All runs with one choice at one share of the memory.
struct Point {
    choice: usize,
    share: f64,
    reports: Vec<Report>,
}

impl Point {
    fn accepted(&self) -> usize {
        self.reports.iter().filter(|report| is_accepted(report)).count()
    }

    fn wrongly_accepted(&self, known: &Known) -> usize {
        self.reports.iter().filter(|report| is_accepted(report) && known.missed(report)).count()
    }

    fn wrongly_refused(&self, known: &Known) -> usize {
        self.reports.iter().filter(|report| !is_accepted(report) && !known.missed(report)).count()
    }

    /// The share of the runs that visited every state.
    fn whole(&self, known: &Known) -> Figure {
        Figure::share(self.reports.iter().filter(|report| !known.missed(report)).count(), self.reports.len())
    }

    fn share_accepted(&self) -> Figure {
        Figure::share(self.accepted(), self.reports.len())
    }

    /// Whether it performs better than another: more runs visit everything, or more are accepted, or they insert fewer states.
    fn better_than(&self, other: &Point, known: &Known) -> Verdict {
        let decided = |verdict: &Verdict| !matches!(verdict, Verdict::Open(_));
        let shares = [(self.whole(known), other.whole(known)), (self.share_accepted(), other.share_accepted())];
        let mut verdicts =
            shares.iter().filter(|(own, others)| own.interval.value != others.interval.value).map(|(own, others)| own.more_than(others));
        verdicts.find(decided).unwrap_or_else(|| other.overhead().more_than(&self.overhead()))
    }

    fn overhead(&self) -> Figure {
        Figure::mean(&self.reports.iter().map(overhead).collect::<Vec<_>>())
    }
}

/// A system with its runs.
struct Measured {
    name: &'static str,
    known: Known,
    points: Vec<Point>,
}

impl Measured {
    fn of(desk: &Desk, name: &'static str, known: Known, shares: &[f64], choices: &[usize], first: bool) -> Result<Measured, LabError> {
        let mut points = Vec::new();
        for choice in choices {
            let (maxpom, part, queue) = CHOICES[*choice];
            let samples = (known.reach / part).max(1);
            for share in shares {
                let slots = known.slots(*share, queue);
                let strategy = format!("rbfs:slots={slots},queue={queue},samples={samples},maxpom={maxpom},levels=40");
                points.push(Point { choice: *choice, share: *share, reports: known.repeat(desk, &strategy, runs(desk.quick, *share, first))? });
            }
        }
        Ok(Measured { name, known, points })
    }

    fn with(&self, choice: usize) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.choice == choice)
    }

    fn least(&self, choice: usize) -> f64 {
        self.with(choice).filter(|point| point.accepted() == point.reports.len()).map(|point| point.share).fold(f64::INFINITY, f64::min)
    }
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let pieces = |shares: &[f64], first: bool| shares.iter().map(|share| runs(desk.quick, *share, first) as usize).sum::<usize>();
    desk.expect(CHOICES.len() * pieces(&MEMORY, true) + 2 * pieces(&SOME, false));
    let known = Known::of(desk, &SHARING_LIST)?;
    let first = Measured::of(desk, if known.original { "sci.m" } else { "sharing_list.m" }, known, &MEMORY, &[0, 1, 2, 3, 4], true)?;
    let second = Measured::of(desk, "kerberos.m", Known::of(desk, &TICKETS)?, &SOME, &[0, 4], false)?;
    table(findings, &[&first, &second]);
    judge(findings, &first, &second);
    Ok(())
}

fn table(findings: &mut Findings, all: &[&Measured]) {
    let columns = vec![
        Column::new("model"),
        Column::new("maxpom"),
        Column::new("samples").form(Form::Count),
        Column::new("g"),
        Column::new("memory"),
        Column::new("overhead").form(Form::Fixed),
        Column::new("accepted"),
        Column::new("accepted, a state missed (type 1)"),
        Column::new("refused, none missed (type 2)"),
    ];
    let mut table = Table::new("Errors of both types", columns);
    for measured in all {
        for point in &measured.points {
            let (maxpom, part, queue) = CHOICES[point.choice];
            table.row([
                Cell::from(measured.name),
                maxpom.into(),
                (measured.known.reach / part).max(1).into(),
                queue.into(),
                point.share.into(),
                Cell::from(point.overhead().interval),
                point.accepted().into(),
                point.wrongly_accepted(&measured.known).into(),
                point.wrongly_refused(&measured.known).into(),
            ]);
        }
    }
    findings.tables.push(table);
}

fn judge(findings: &mut Findings, first: &Measured, second: &Measured) {
    let accepted = |choice: usize| first.with(choice).map(Point::accepted).sum::<usize>();
    let wrongly = |choice: usize| first.with(choice).map(|point| point.wrongly_accepted(&first.known)).sum::<usize>();
    let counts: Vec<String> = [0, 1, 2].iter().map(|at| format!("{} of {} at {}", wrongly(*at), accepted(*at), CHOICES[*at].0)).collect();
    findings.judge(
        "MAXPOM is not critical: 0.05 works as well as 0.01, and so does 0.1 in nearly all cases",
        &[0, 1, 2].map(|choice| never(wrongly(choice), accepted(choice))),
        format!("Accepted runs that had missed a state: {}.", counts.join(", ")),
    );
    let down_to = |choice: usize| match first.least(choice) {
        least if least.is_finite() => format!("down to {least} of the memory"),
        _ => "at none of these shares".to_string(),
    };
    findings.judge(
        "A thousandth of the states is enough as samples",
        &[never(wrongly(3), accepted(3)), exactly(first.least(3) <= first.least(0))],
        format!(
            "With Reach/1000 samples every run is accepted {}, with Reach/100 {}; wrongly accepted: {} and {}.",
            down_to(3),
            down_to(0),
            wrongly(3),
            wrongly(0)
        ),
    );
    // At each share: the run with a large queue, and with a small one.
    let pairs = |measured: &'_ Measured| {
        measured
            .with(0)
            .zip(measured.with(4))
            .map(|(large, small)| (large.share, large.better_than(small, &measured.known)))
            .collect::<Vec<(f64, Verdict)>>()
    };
    let words = |measured: &Measured| {
        let one = |(large, small): (&Point, &Point)| {
            let side = |point: &Point| {
                format!(
                    "{} of {} complete, {} accepted, {:.2} insertions",
                    (point.whole(&measured.known).interval.value * point.reports.len() as f64).round(),
                    point.reports.len(),
                    point.accepted(),
                    point.overhead().interval.value
                )
            };
            format!("at {} {} against {}", large.share, side(large), side(small))
        };
        format!("{}: {}", measured.name, measured.with(0).zip(measured.with(4)).map(one).collect::<Vec<_>>().join(", "))
    };
    let cases: Vec<Verdict> = [first, second].iter().flat_map(|measured| pairs(measured)).map(|(_, verdict)| verdict).collect();
    findings.judge(
        "A queue of g = 0.8 performs better than one of 0.1",
        &cases,
        format!("By runs that visit everything, then by accepted runs, then by insertions for each state; g = 0.8 against g = 0.1 in the same bytes. {}; {}.", words(first), words(second)),
    );
    // A queue of a tenth of the slots holds the widest level, or it does not.
    let room = |measured: &Measured, share: f64| measured.known.slots(share, 0.1) as f64 * 0.1 / measured.known.widest as f64;
    let rooms: Vec<(f64, Verdict)> =
        [first, second].iter().flat_map(|measured| pairs(measured).into_iter().map(|(share, verdict)| (room(measured, share), verdict))).collect();
    let of = |wanted: Verdict| rooms.iter().filter(|(_, verdict)| *verdict == wanted).map(|(room, _)| *room).collect::<Vec<f64>>();
    let (ahead, behind) = (of(Verdict::Agrees), of(Verdict::Differs));
    let listed = |rooms: &[f64]| rooms.iter().map(|room| format!("{room:.2}")).collect::<Vec<_>>().join(", ");
    findings.because(
        !behind.is_empty() && behind.iter().all(|small| *small > 1.0 && ahead.iter().all(|large| large < small)),
        "In the same bytes a small queue leaves more slots to the cache. It wins while the widest level fits into it with room to spare, and loses states if not.",
        format!("Places of the small queue for each state of the widest level, if g = 0.1 is ahead: {}; if g = 0.8 is ahead: {}.", listed(&behind), listed(&ahead)),
    );
    let refused: usize = first.points.iter().map(|point| point.wrongly_refused(&first.known)).sum();
    findings.judge(
        "Errors of type 2 occur if memory is just too small",
        &[exactly(refused > 0)],
        format!("{refused} runs that had visited every state were refused."),
    );
}
