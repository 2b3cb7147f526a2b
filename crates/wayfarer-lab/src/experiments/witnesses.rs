//! Table 1 of the highway paper on models of our own, which stand in for its specifications; witnesses are also
//! shortened.

use super::table_one::{self, Row, SEARCHES};
use crate::desk::{Desk, LabError};
use crate::models::{self, Model};
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
    let pieces: u32 = cases(desk.quick).count() as u32 * SEARCHES.len() as u32 * (runs(desk.quick) + shortened(desk.quick).0);
    desk.expect(pieces as usize);
    let mut all: Vec<(&str, Vec<Row>)> = Vec::new();
    for case in cases(desk.quick) {
        let find = if let Goal::State(goal) = case.goal { Some(goal) } else { None };
        let loaded = case.model.load(case.constants, find).map_err(LabError::Failed)?;
        all.push((case.name, (0..SEARCHES.len()).map(|search| measure(desk, case, &loaded, search)).collect::<Result<Vec<_>, _>>()?));
    }
    let rows: Vec<(&str, &[Row])> = all.iter().map(|(name, rows)| (*name, rows.as_slice())).collect();
    table_one::table(findings, &rows);
    judge(findings, &rows);
    findings.note("Our sliding window has larger steps than the mCRL2 specification of the paper and data in one direction only, so that only the order of its numbers is comparable, not their size. States of random search are its steps, as in the paper.");
    Ok(())
}

fn measure(desk: &Desk, case: &Case, loaded: &Loaded, search: usize) -> Result<Row, LabError> {
    let (find, find_rules) = match case.goal {
        Goal::State(goal) => (vec![goal.to_string()], Vec::new()),
        Goal::Rule(rule) => (Vec::new(), vec![rule.to_string()]),
    };
    let plan = Plan { find, find_rules, ..table_one::plan(search, table_one::most_states(case.name))? };
    let done = desk.repeat(loaded, &plan, runs(desk.quick))?;
    let (count, time) = shortened(desk.quick);
    Ok(Row::of(search, done, desk.repeat(loaded, &Plan { shorten: true, time: Some(time), ..plan }, count)?))
}

fn judge(findings: &mut Findings, all: &[(&str, &[Row])]) {
    table_one::claims(findings, all, |name| !name.starts_with("othello"));
    let gains: Vec<String> =
        all.iter().filter_map(|(name, rows)| Some(format!("{name} {} → {}", plain(rows[1].cut?.value), plain(rows[1].short?.value)))).collect();
    findings.note(format!(
        "Wayfarer's shortening of the witnesses of randomised depth-first search, mean length before and after: {}.",
        gains.join(", ")
    ));
}
