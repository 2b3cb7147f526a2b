//! Table 1 of the highway paper: number of states until the violation is found, witness lengths and success
//! rate of each search.

use crate::desk::{Desk, LabError};
use crate::models::{self, Model};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Judgement, Settings, Table, plain};
use std::time::Duration;
use wayfarer::search::Deadlock;
use wayfarer::{Interval, Loaded, Plan, Repeated, Report, SymmetryChoice};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "witnesses",
    title: "States to the find, witness lengths and success of each search",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.4, Table 1",
    question: "Which search needs the fewest states, and which gives the shortest witness: raw, with loops cut out, and shortened?",
    seconds: (8.0, 600.0),
    settings,
    run,
};

/// Random search, rdfs, highways of 8, 16 and 32, as in the paper.
const SEARCHES: [(&str, &str); 5] = [
    ("random", "random"),
    ("rdfs", "rdfs"),
    ("highway 8", "highway:width=8,restarts=0"),
    ("highway 16", "highway:width=16,restarts=0"),
    ("highway 32", "highway:width=32,restarts=0"),
];

struct Case {
    name: &'static str,
    model: Model,
    constants: &'static [(&'static str, i64)],
    goal: Goal,
    most: u64,
    quick: bool,
    /// The paper's states, trace and success in per cent, for each search.
    paper: [(f64, f64, f64); 5],
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
    case(
        "brp(10)",
        models::BOUNDED_RETRANSMISSION_TIMERS,
        &[("RetryCount", 10)],
        GIVES_UP,
        50_000,
        true,
        [(268.0, 137.0, 100.0), (155.0, 152.0, 100.0), (937.0, 124.0, 100.0), (1441.0, 94.0, 100.0), (2390.0, 78.0, 100.0)],
    ),
    case(
        "brp(30)",
        models::BOUNDED_RETRANSMISSION_TIMERS,
        &[("RetryCount", 30)],
        GIVES_UP,
        50_000,
        false,
        [(19885.0, 311.0, 75.0), (382.0, 361.0, 100.0), (1717.0, 240.0, 100.0), (3089.0, 209.0, 100.0), (5611.0, 186.0, 100.0)],
    ),
    case(
        "brp(50)",
        models::BOUNDED_RETRANSMISSION_TIMERS,
        &[("RetryCount", 50)],
        GIVES_UP,
        50_000,
        false,
        [(0.0, 0.0, 0.0), (539.0, 494.0, 100.0), (2345.0, 341.0, 100.0), (4496.0, 315.0, 100.0), (8415.0, 286.0, 100.0)],
    ),
    case(
        "brp(70)",
        models::BOUNDED_RETRANSMISSION_TIMERS,
        &[("RetryCount", 70)],
        GIVES_UP,
        50_000,
        false,
        [(0.0, 0.0, 0.0), (690.0, 629.0, 100.0), (3043.0, 445.0, 100.0), (5809.0, 413.0, 100.0), (11372.0, 387.0, 100.0)],
    ),
    case(
        "brp(90)",
        models::BOUNDED_RETRANSMISSION_TIMERS,
        &[("RetryCount", 90)],
        GIVES_UP,
        50_000,
        false,
        [(0.0, 0.0, 0.0), (821.0, 745.0, 100.0), (3593.0, 542.0, 100.0), (7103.0, 509.0, 100.0), (14094.0, 486.0, 100.0)],
    ),
    case(
        "othello(4×4)",
        models::OTHELLO,
        &[("Repeat", 0)],
        DRAW,
        50_000,
        true,
        [(12.0, 13.0, 12.0), (86.0, 13.0, 26.0), (87.0, 13.0, 49.0), (165.0, 13.0, 77.0), (312.0, 13.0, 91.0)],
    ),
    case(
        "othello(6×6)",
        models::OTHELLO,
        &[("Repeat", 0), ("Size", 6)],
        DRAW,
        50_000,
        false,
        [(32.0, 33.0, 3.0), (300.0, 33.0, 20.0), (248.0, 33.0, 35.0), (487.0, 33.0, 58.0), (955.0, 33.0, 80.0)],
    ),
    case(
        "swp(2)",
        models::SELECTIVE_REPEAT,
        &[("WindowSize", 2)],
        LIVELOCK,
        80_000,
        true,
        [(327.0, 204.0, 27.0), (279.0, 274.0, 27.0), (1217.0, 154.0, 26.0), (2214.0, 141.0, 27.0), (3161.0, 102.0, 27.0)],
    ),
    case(
        "swp(4)",
        models::SELECTIVE_REPEAT,
        &[("WindowSize", 4)],
        LIVELOCK,
        80_000,
        true,
        [(1640.0, 906.0, 27.0), (1570.0, 1552.0, 27.0), (6307.0, 790.0, 27.0), (12794.0, 802.0, 27.0), (13374.0, 421.0, 27.0)],
    ),
    case(
        "swp(6)",
        models::SELECTIVE_REPEAT,
        &[("WindowSize", 6)],
        LIVELOCK,
        80_000,
        false,
        [(4391.0, 2372.0, 27.0), (3872.0, 3844.0, 27.0), (14986.0, 1875.0, 27.0), (24588.0, 1540.0, 27.0), (29377.0, 922.0, 27.0)],
    ),
    case(
        "swp(8)",
        models::SELECTIVE_REPEAT,
        &[("WindowSize", 8)],
        LIVELOCK,
        80_000,
        false,
        [(7273.0, 3315.0, 27.0), (8531.0, 6500.0, 25.0), (21419.0, 2680.0, 27.0), (35119.0, 2198.0, 26.0), (48052.0, 1505.0, 21.0)],
    ),
    case(
        "swp(10)",
        models::SELECTIVE_REPEAT,
        &[("WindowSize", 10)],
        LIVELOCK,
        80_000,
        false,
        [(11546.0, 5642.0, 27.0), (16327.0, 8115.0, 21.0), (29425.0, 3681.0, 26.0), (45012.0, 2816.0, 22.0), (62502.0, 1957.0, 12.0)],
    ),
];

const fn case(
    name: &'static str,
    model: Model,
    constants: &'static [(&'static str, i64)],
    goal: Goal,
    most: u64,
    quick: bool,
    paper: [(f64, f64, f64); 5],
) -> Case {
    Case { name, model, constants, goal, most, quick, paper }
}

fn runs(quick: bool) -> u32 {
    if quick { 8 } else { 100 }
}

/// The number of runs whose witnesses are also shortened, and the time for each: shortening may take seconds.
fn shortened(quick: bool) -> (u32, Duration) {
    if quick { (1, Duration::from_millis(400)) } else { (10, Duration::from_secs(3)) }
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

struct Row {
    rate: Interval,
    states: Option<Interval>,
    raw: Option<Interval>,
    cut: Option<Interval>,
    short: Option<Interval>,
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let pieces: u32 = cases(desk.quick).count() as u32 * SEARCHES.len() as u32 * (runs(desk.quick) + shortened(desk.quick).0);
    desk.expect(pieces as usize);
    let columns = vec![
        Column::new("system"),
        Column::new("search"),
        Column::paper("states").form(Form::Count),
        Column::new("states"),
        Column::paper("trace").form(Form::Count),
        Column::new("raw"),
        Column::new("loops cut"),
        Column::new("shortened"),
        Column::paper("success").form(Form::Percent),
        Column::new("success").form(Form::Percent),
    ];
    let mut table = Table::new("Means over the runs that reached the goal", columns);
    let mut all: Vec<(&Case, Vec<Row>)> = Vec::new();
    for case in cases(desk.quick) {
        let find = if let Goal::State(goal) = case.goal { Some(goal) } else { None };
        let loaded = case.model.load(case.constants, find).map_err(LabError::Failed)?;
        let rows = SEARCHES.iter().map(|(_, strategy)| measure(desk, case, &loaded, strategy)).collect::<Result<Vec<_>, _>>()?;
        for (((name, _), row), (states, trace, success)) in SEARCHES.iter().zip(&rows).zip(case.paper) {
            let quoted = |value: f64| if success > 0.0 { Cell::from(value) } else { Cell::Empty };
            let (cut, raw, short) = (row.cut.into(), row.raw.into(), row.short.into());
            table.row([
                case.name.into(),
                Cell::from(*name),
                quoted(states),
                row.states.into(),
                quoted(trace),
                raw,
                cut,
                short,
                (success / 100.0).into(),
                row.rate.into(),
            ]);
        }
        all.push((case, rows));
    }
    findings.tables.push(table);
    judge(findings, &all);
    findings.note("Our sliding window has larger steps than the mCRL2 specification of the paper and data in one direction only, so that only the order of its numbers is comparable, not their size. States of random search are its steps, as in the paper; its trace is the raw one with loops cut out.");
    Ok(())
}

fn measure(desk: &Desk, case: &Case, loaded: &Loaded, strategy: &str) -> Result<Row, LabError> {
    let strategy = spec(strategy)?;
    let walks = !strategy.default_store().abilities().remembers;
    let (find, find_rules) = match case.goal {
        Goal::State(goal) => (vec![goal.to_string()], Vec::new()),
        Goal::Rule(rule) => (Vec::new(), vec![rule.to_string()]),
    };
    let (states, steps) = if walks { (None, Some(case.most)) } else { (Some(case.most), None) };
    let plan = Plan {
        strategy,
        states,
        steps,
        find,
        find_rules,
        symmetry: SymmetryChoice::Off,
        deadlock: Some(Deadlock::Off),
        shorten: false,
        ..Plan::default()
    };
    let done = Repeated { runs: desk.repeat(loaded, &plan, runs(desk.quick))? };
    let (count, time) = shortened(desk.quick);
    let short = Repeated { runs: desk.repeat(loaded, &Plan { shorten: true, time: Some(time), ..plan }, count)? };
    let visited = |report: &Report| if walks { report.steps as f64 } else { report.states as f64 };
    Ok(Row {
        rate: done.success_rate(),
        states: done.mean(visited),
        raw: done.mean(wayfarer::repeated::raw_length),
        cut: done.mean(wayfarer::repeated::length),
        short: short.mean(wayfarer::repeated::length),
    })
}

fn judge(findings: &mut Findings, all: &[(&Case, Vec<Row>)]) {
    let least = |rows: &[Row], of: &dyn Fn(&Row) -> Option<Interval>, among: &[usize]| {
        let values = among.iter().filter_map(|at| Some((*at, of(&rows[*at])?.value)));
        values.min_by(|one, another| one.1.total_cmp(&another.1)).map(|(at, _)| at)
    };
    let every = [0, 1, 2, 3, 4];
    let fewest: Vec<(&str, usize)> = all.iter().filter_map(|(case, rows)| Some((case.name, least(rows, &|row| row.states, &every[1..])?))).collect();
    let agreeing = fewest.iter().filter(|(_, at)| *at == 1).count();
    let listed = |found: &[(&str, usize)]| found.iter().map(|(name, at)| format!("{name} {}", SEARCHES[*at].0)).collect::<Vec<_>>().join(", ");
    findings.claim(
        "Randomised depth-first search needs the fewest states",
        Judgement::of(agreeing, fewest.len()),
        format!("Fewest states among rdfs and the highways, over runs that found something: {}.", listed(&fewest)),
    );
    let shortest: Vec<(&str, usize)> = all.iter().filter_map(|(case, rows)| Some((case.name, least(rows, &|row| row.cut, &every[1..])?))).collect();
    let deep: Vec<&(&str, usize)> = shortest.iter().filter(|(name, _)| !name.starts_with("othello")).collect();
    findings.claim(
        "Highways give shorter witnesses than randomised depth-first search if the goal is deep",
        Judgement::of(deep.iter().filter(|(_, at)| *at >= 2).count(), deep.len()),
        format!("Shortest witness, loops cut out: {}.", listed(&shortest)),
    );
    let mut wider = (0, 0);
    let mut success = (0, 0);
    for (_, rows) in all {
        for pair in [(2, 3), (3, 4)] {
            if let (Some(narrow), Some(wide)) = (rows[pair.0].cut, rows[pair.1].cut) {
                wider = (wider.0 + usize::from(wide.value <= narrow.value), wider.1 + 1);
            }
            success = (success.0 + usize::from(rows[pair.1].rate.value >= rows[pair.0].rate.value), success.1 + 1);
        }
    }
    findings.claim(
        "Wider highways give shorter witnesses for more states",
        Judgement::of(wider.0, wider.1),
        format!(
            "In {} of {} doublings of the width the witness becomes no longer; success does not fall in {} of {}.",
            wider.0, wider.1, success.0, success.1
        ),
    );
    let gains: Vec<String> = all
        .iter()
        .filter_map(|(case, rows)| Some(format!("{} {} → {}", case.name, plain(rows[1].cut?.value), plain(rows[1].short?.value))))
        .collect();
    let lengths: Vec<(f64, f64)> = all
        .iter()
        .filter(|(case, _)| !case.name.starts_with("othello"))
        .filter_map(|(_, rows)| Some((rows[1].cut?.value, rows[4].cut?.value)))
        .collect();
    findings.claim(
        "Randomised depth-first search gives long witnesses if the goal is deep",
        Judgement::of(lengths.iter().filter(|(depth_first, highway)| *depth_first > 1.5 * highway).count(), lengths.len()),
        format!("Wayfarer's shortening makes up for it: mean length of its witnesses before and after, {}.", gains.join(", ")),
    );
}
