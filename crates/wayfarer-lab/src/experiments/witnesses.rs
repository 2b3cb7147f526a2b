//! Table 1 of the highway paper on models of our own, which stand in for its specifications; witnesses are also
//! shortened.

use super::lanes::Lanes;
use super::table_one::{self, Row, SEARCHES};
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict};
use crate::models::{self, Model};
use crate::shapes::spec;
use crate::{Experiment, Findings, Settings, plain};
use std::time::Duration;
use wayfarer::{Loaded, Plan};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "witnesses",
    title: "States to the find, witness lengths and success of each search",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.4, Table 1",
    question: "Which search needs the fewest states, and which gives the shortest witness: raw, with loops cut out, and shortened?",
    seconds: (8.0, 600.0),
    alone: false,
    reads: &[],
    settings,
    run,
};

struct Case {
    name: &'static str,
    model: Model,
    constants: &'static [(&'static str, i64)],
    goal: Goal,
    quick: bool,
}

#[derive(Clone, Copy)]
enum Goal {
    State(&'static str),
    Rule(&'static str),
}

const LIVELOCK: Goal = Goal::State("livelock()");
const DRAW: Goal = Goal::State("over() & disks(Black) = disks(White)");
const GIVES_UP: Goal = Goal::Rule("sender tells the receiver's timer");

const CASES: [Case; 12] = [
    case("brp(10)", models::BOUNDED_RETRANSMISSION_TIMERS, &[("RetryCount", 10)], GIVES_UP, true),
    case("brp(30)", models::BOUNDED_RETRANSMISSION_TIMERS, &[("RetryCount", 30)], GIVES_UP, false),
    case("brp(50)", models::BOUNDED_RETRANSMISSION_TIMERS, &[("RetryCount", 50)], GIVES_UP, false),
    case("brp(70)", models::BOUNDED_RETRANSMISSION_TIMERS, &[("RetryCount", 70)], GIVES_UP, false),
    case("brp(90)", models::BOUNDED_RETRANSMISSION_TIMERS, &[("RetryCount", 90)], GIVES_UP, false),
    case("othello(4×4)", models::OTHELLO, &[("Repeat", 0)], DRAW, true),
    case("othello(6×6)", models::OTHELLO, &[("Repeat", 0), ("Size", 6)], DRAW, false),
    case("swp(2)", models::SELECTIVE_REPEAT, &[("WindowSize", 2)], LIVELOCK, true),
    case("swp(4)", models::SELECTIVE_REPEAT, &[("WindowSize", 4)], LIVELOCK, true),
    case("swp(6)", models::SELECTIVE_REPEAT, &[("WindowSize", 6)], LIVELOCK, false),
    case("swp(8)", models::SELECTIVE_REPEAT, &[("WindowSize", 8)], LIVELOCK, false),
    case("swp(10)", models::SELECTIVE_REPEAT, &[("WindowSize", 10)], LIVELOCK, false),
];

const fn case(name: &'static str, model: Model, constants: &'static [(&'static str, i64)], goal: Goal, quick: bool) -> Case {
    Case { name, model, constants, goal, quick }
}

fn runs(quick: bool) -> u32 {
    if quick { 8 } else { 160 }
}

/// The number of runs whose witnesses are also shortened, and the time for each: shortening may take seconds.
fn shortened(quick: bool) -> (u32, Duration) {
    if quick { (1, Duration::from_millis(400)) } else { (1, Duration::from_secs(2)) }
}

fn cases(quick: bool) -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(move |case| case.quick || !quick)
}

fn settings(quick: bool) -> Settings {
    let cases: Vec<String> = cases(quick)
        .map(|case| {
            format!(
                "{} = {} {}",
                case.name,
                case.model.file,
                case.constants.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    vec![
        ("systems", cases.join("; ")),
        ("states", "at most 50,000, sliding window 80,000".to_string()),
        ("repetitions", format!("{}; of {} also shortened", runs(quick), shortened(quick).0)),
    ]
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let pieces: u32 = cases(desk.quick).count() as u32 * SEARCHES.len() as u32 * (runs(desk.quick) + shortened(desk.quick).0)
        + cases(desk.quick).count() as u32 * runs(desk.quick);
    desk.expect(pieces as usize + LANES.len() * 6);
    let mut all: Vec<(&str, Vec<Row>)> = Vec::new();
    let mut ideal: Vec<Row> = Vec::new();
    for case in cases(desk.quick) {
        let find = if let Goal::State(goal) = case.goal { Some(goal) } else { None };
        let loaded = case.model.load(case.constants, find).map_err(LabError::Failed)?;
        all.push((case.name, (0..SEARCHES.len()).map(|search| measure(desk, case, &loaded, search)).collect::<Result<Vec<_>, _>>()?));
        let plan = Plan { strategy: spec(IDEAL)?, ..goal(case, table_one::plan(2, table_one::most_states(case.name))?) };
        ideal.push(Row::of(2, desk.repeat(&loaded, &plan, runs(desk.quick))?, Vec::new()));
    }
    let rows: Vec<(&str, &[Row])> = all.iter().map(|(name, rows)| (*name, rows.as_slice())).collect();
    table_one::table(findings, &rows);
    let lanes = lanes(desk)?;
    judge(findings, &rows, &lanes);
    approximate(findings, &rows, &ideal);
    findings.note("Our sliding window has larger steps than the mCRL2 specification of the paper and data in one direction only, so that only the order of its numbers is comparable, not their size. States of random search are its steps, as in the paper.");
    Ok(())
}

/// The plan with the case's goal.
fn goal(case: &Case, plan: Plan) -> Plan {
    match case.goal {
        Goal::State(goal) => Plan { find: vec![goal.to_string()], ..plan },
        Goal::Rule(rule) => Plan { find_rules: vec![rule.to_string()], ..plan },
    }
}

/// A highway whose levels are drawn uniformly, beside the approximate one of the same width.
const IDEAL: &str = "highway:width=8,restarts=0,ideal=on";

/// Judges whether approximate highways behave like ideal ones.
fn approximate(findings: &mut Findings, all: &[(&str, &[Row])], ideal: &[Row]) {
    let pairs = || all.iter().zip(ideal).map(|((name, rows), ideal)| (*name, &rows[2], ideal));
    let cells = |of: fn(&Row) -> Option<Figure>| pairs().filter_map(move |(_, one, other)| Some(of(one)?.is_about(&of(other)?)));
    let listed = |of: fn(&Row) -> Option<Figure>| {
        let one = |(name, one, other): (&str, &Row, &Row)| {
            Some(format!("{name} {} and {}", plain(of(one)?.interval.value), plain(of(other)?.interval.value)))
        };
        pairs().filter_map(one).collect::<Vec<_>>().join(", ")
    };
    findings.judge(
        "Approximate and ideal highways hardly ever differ in practice",
        &cells(Row::states).chain(cells(Row::length)).collect::<Vec<_>>(),
        format!(
            "Highways of 8, approximate and ideal. Mean states to the find: {}. Mean length: {}. A quarter more or less is about the same.",
            listed(Row::states),
            listed(Row::length)
        ),
    );
}

fn measure(desk: &Desk, case: &Case, loaded: &Loaded, search: usize) -> Result<Row, LabError> {
    let plan = goal(case, table_one::plan(search, table_one::most_states(case.name))?);
    let done = desk.repeat(loaded, &plan, runs(desk.quick))?;
    let (count, time) = shortened(desk.quick);
    Ok(Row::of(search, done, desk.repeat(loaded, &Plan { shorten: true, time: Some(time), ..plan }, count)?))
}

/// The windows on which a highway that may come back is run, to explain lengths.
const LANES: [(&str, i64); 3] = [("swp(6)", 6), ("swp(8)", 8), ("swp(10)", 10)];

/// The kinds of highways: whether visited states are left out, and whether each lane goes to a successor of its own.
const KINDS: [(bool, bool); 3] = [(true, false), (false, false), (false, true)];

/// The mean depths at which highways of 8 and 32 find the livelock.
struct Widened {
    system: &'static str,
    /// By kind, then by width.
    depths: [[Figure; 2]; 3],
}

fn lanes(desk: &Desk) -> Result<Vec<Widened>, LabError> {
    let of = |at: usize| KINDS.into_iter().flat_map(move |(remembers, apart)| [8, 32].map(|width| (at, remembers, apart, width)));
    let jobs: Vec<(usize, bool, bool, usize)> = (0..LANES.len()).flat_map(of).collect();
    let done = desk.each(&jobs, |(at, remembers, apart, width)| {
        let Goal::State(goal) = LIVELOCK else { return Ok(Figure::mean(&[])) };
        let loaded = models::SELECTIVE_REPEAT.load(&[("WindowSize", LANES[*at].1)], Some(goal)).map_err(LabError::Failed)?;
        let subject = loaded.subject();
        let properties: Vec<u32> =
            (0u32..).zip(subject.properties()).filter(|(_, property)| property.kind.asks_to_reach()).map(|(number, _)| number).collect();
        let plan = Plan { find: vec![goal.to_string()], ..table_one::plan(2, 0)? };
        let running = subject.running(&plan, usize::MAX / 2);
        let lanes = Lanes { width: *width, remembers: *remembers, apart: *apart, most: table_one::most_states(LANES[*at].0) };
        let mut depths = Vec::new();
        for run in 0..u64::from(runs(desk.quick)) {
            if desk.ended() {
                return Err(LabError::Interrupted);
            }
            depths.extend(lanes.find(running.space(), &properties, desk.seed.wrapping_add(run)).map(|depth| depth as f64));
        }
        Ok(Figure::mean(&depths))
    })?;
    let widened =
        |((system, _), six): (&(&'static str, i64), &[Figure])| Widened { system, depths: [[six[0], six[1]], [six[2], six[3]], [six[4], six[5]]] };
    Ok(LANES.iter().zip(done.chunks(6)).map(widened).collect())
}

/// Tests why wide highways find late: because they may not come back to visited states, or because lanes are relatives.
fn why_late(findings: &mut Findings, lanes: &[Widened]) {
    let told = |at: usize| {
        let one = |widened: &Widened| {
            let [narrow, wide] = widened.depths[at].map(|figure| plain(figure.interval.value));
            format!("{} {narrow} and {wide}", widened.system)
        };
        lanes.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let falls = |at: usize| lanes.iter().all(|widened| widened.depths[at][0].more_than(&widened.depths[at][1]) == Verdict::Agrees);
    findings.because(
        falls(1),
        "A highway may not come back to states that it has visited. A wide one visits most states near its way, so that the ways to the fault that pass them again are closed to it.",
        format!("Mean depth of the find with widths 8 and 32, visited states left out: {}; if it may come back: {}.", told(0), told(1)),
    );
    findings.because(
        falls(2),
        "Lanes are relatives: a state with many successors leaves many of them in the next level, so that a wide highway crowds where there are many successors, and more lanes are not more tries.",
        format!("Mean depth of the find with widths 8 and 32 if each lane goes to one of its own successors: {}.", told(2)),
    );
}

fn judge(findings: &mut Findings, all: &[(&str, &[Row])], lanes: &[Widened]) {
    table_one::claims(findings, all, |name| !name.starts_with("othello"));
    if let Some(at) = findings.claims.iter().position(|claim| claim.claim.starts_with("Wider highways")) {
        // The reason belongs to this claim, which is not the last one.
        let after = findings.claims.split_off(at + 1);
        why_late(findings, lanes);
        findings.claims.extend(after);
    }
    let gains: Vec<String> =
        all.iter().filter_map(|(name, rows)| Some(format!("{name} {} → {}", plain(rows[1].cut?.value), plain(rows[1].short?.value)))).collect();
    findings.note(format!(
        "Wayfarer's shortening of the witnesses of randomised depth-first search, mean length before and after: {}.",
        gains.join(", ")
    ));
}
