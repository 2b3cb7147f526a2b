//! Table 1 of the highway paper on its own mCRL2 specifications, read from a folder that the user names.
//!
//! The distribution of mCRL2 holds the specifications with one value of each parameter; the others are made by small
//! replacements in the text. The goal of brp is an action that the specification hides, so it is taken out of the
//! hidden ones.

use super::witnesses::{self, Row};
use crate::corpus::Found;
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table};
use wayfarer::search::Deadlock;
use wayfarer::{Interval, LoadOptions, Plan, Repeated, Report, open_text};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "specifications",
    title: "States to the find, witness lengths and success on the paper's own mCRL2 specifications",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.4, Table 1, and 5.2.3, Figure 8",
    question: "What do random search, randomised depth-first search and highways of 8, 16 and 32 need on 1394, brp, commprot, lift, othello and swp?",
    seconds: (20.0, 1500.0),
    alone: false,
    reads: &[FIREWIRE, BRP, CONFERENCE, LIFT, OTHELLO, WINDOW, DINING],
    settings,
    run,
};

const FIREWIRE: &str = "1394/1394-fin.mcrl2";
const BRP: &str = "industrial/brp/brp.mcrl2";
const CONFERENCE: &str = "commprot/commprot.mcrl2";
const LIFT: &str = "lift/lift3-init.mcrl2";
const OTHELLO: &str = "othello/othello.mcrl2";
const WINDOW: &str = "swp/swp_with_tanenbaums_bug.mcrl2";
const DINING: &str = "dining/dining8.mcrl2";

/// A specification with one value of its parameter.
struct Case {
    name: &'static str,
    file: &'static str,
    /// What is replaced in the text, each at its first place.
    edits: &'static [(&'static str, &'static str)],
    goal: &'static str,
    most: u64,
    /// The most runs. A case with fewer states or runs than the paper's is shown and not judged.
    runs: u64,
    quick: bool,
    /// The paper's states, trace and success in per cent, for each search.
    paper: [(f64, f64, f64); 5],
}

const HIDDEN: (&str, &str) = ("c8,c9,c10,a,r1,s4},\n     allow", "c8,c9,a,r1,s4},\n     allow");
/// The paper's specification had an action for a draw; the present one reports the numbers of pieces.
const DRAWN: (&str, &str) = ("    Outcome:Nat#Nat;", "    Draw;\n    Outcome:Nat#Nat;");
const DRAWS: (&str, &str) = (
    "(PassedTwice && !Stopped) -> Outcome(",
    "(PassedTwice && !Stopped && Count(Red,b) == Count(White,b)) -> Draw.Othello(initial_board,Red,true,true,true) +\n       (PassedTwice && !Stopped && Count(Red,b) != Count(White,b)) -> Outcome(",
);
const LIFTS: &str = "Lift0(1) || Lift0(2) || Lift0(3)";
const SMALL_BOARD: &str = "[[None, None, None, None],
                     [None,  Red,White, None],
                     [None,White,  Red, None],
                     [None, None, None, None]];";
const LARGE_BOARD: &str = "[[None, None, None, None, None, None],
                     [None, None, None, None, None, None],
                     [None, None,  Red,White, None, None],
                     [None, None,White,  Red, None, None],
                     [None, None, None, None, None, None],
                     [None, None, None, None, None, None]];";

const fn case(
    name: &'static str,
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    goal: &'static str,
    quick: bool,
    paper: [(f64, f64, f64); 5],
) -> Case {
    Case { name, file, edits, goal, most: 50_000, runs: u64::MAX, quick, paper }
}

const CASES: [Case; 19] = [
    case(
        "1394(2)",
        FIREWIRE,
        &[],
        "LDres",
        true,
        [(3266.0, 158.0, 100.0), (981.0, 491.0, 100.0), (1154.0, 174.0, 88.0), (2078.0, 153.0, 93.0), (3439.0, 125.0, 95.0)],
    ),
    case(
        "1394(4)",
        FIREWIRE,
        &[("init P1394(2);", "init P1394(4);")],
        "LDres",
        false,
        [(4870.0, 3777.0, 100.0), (2990.0, 2501.0, 99.0), (1807.0, 322.0, 86.0), (2047.0, 175.0, 99.0), (3514.0, 141.0, 99.0)],
    ),
    case(
        "brp(10)",
        BRP,
        &[HIDDEN, ("S(e0,3)", "S(e0,10)")],
        "c10",
        true,
        [(268.0, 137.0, 100.0), (155.0, 152.0, 100.0), (937.0, 124.0, 100.0), (1441.0, 94.0, 100.0), (2390.0, 78.0, 100.0)],
    ),
    case(
        "brp(30)",
        BRP,
        &[HIDDEN, ("S(e0,3)", "S(e0,30)")],
        "c10",
        false,
        [(19885.0, 311.0, 75.0), (382.0, 361.0, 100.0), (1717.0, 240.0, 100.0), (3089.0, 209.0, 100.0), (5611.0, 186.0, 100.0)],
    ),
    case(
        "brp(50)",
        BRP,
        &[HIDDEN, ("S(e0,3)", "S(e0,50)")],
        "c10",
        false,
        [(0.0, 0.0, 0.0), (539.0, 494.0, 100.0), (2345.0, 341.0, 100.0), (4496.0, 315.0, 100.0), (8415.0, 286.0, 100.0)],
    ),
    case(
        "brp(70)",
        BRP,
        &[HIDDEN, ("S(e0,3)", "S(e0,70)")],
        "c10",
        false,
        [(0.0, 0.0, 0.0), (690.0, 629.0, 100.0), (3043.0, 445.0, 100.0), (5809.0, 413.0, 100.0), (11372.0, 387.0, 100.0)],
    ),
    case(
        "brp(90)",
        BRP,
        &[HIDDEN, ("S(e0,3)", "S(e0,90)")],
        "c10",
        false,
        [(0.0, 0.0, 0.0), (821.0, 745.0, 100.0), (3593.0, 542.0, 100.0), (7103.0, 509.0, 100.0), (14094.0, 486.0, 100.0)],
    ),
    Case {
        // Its states have dozens of successors, and take long to expand.
        most: 2_000,
        runs: 4,
        ..case(
            "commprot",
            CONFERENCE,
            &[],
            "CFSAP_out",
            false,
            [(1516.0, 1517.0, 100.0), (4864.0, 631.0, 72.0), (7418.0, 929.0, 100.0), (13181.0, 825.0, 97.0), (16441.0, 515.0, 90.0)],
        )
    },
    case(
        "lift(3)",
        LIFT,
        &[],
        "protocol_error",
        true,
        [(13.0, 14.0, 2.0), (553.0, 14.0, 100.0), (87.0, 13.0, 31.0), (149.0, 13.0, 58.0), (257.0, 13.0, 93.0)],
    ),
    case(
        "lift(4)",
        LIFT,
        &[("N = 3;", "N = 4;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4)")],
        "protocol_error",
        false,
        [(0.0, 0.0, 0.0), (1232.0, 17.0, 100.0), (106.0, 15.0, 14.0), (207.0, 16.0, 45.0), (367.0, 15.0, 81.0)],
    ),
    case(
        "lift(5)",
        LIFT,
        &[("N = 3;", "N = 5;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4) || Lift0(5)")],
        "protocol_error",
        false,
        [(0.0, 0.0, 0.0), (2438.0, 19.0, 100.0), (119.0, 17.0, 2.0), (253.0, 18.0, 30.0), (461.0, 17.0, 65.0)],
    ),
    case(
        "lift(6)",
        LIFT,
        &[("N = 3;", "N = 6;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4) || Lift0(5) || Lift0(6)")],
        "protocol_error",
        false,
        [(0.0, 0.0, 0.0), (6311.0, 21.0, 99.0), (0.0, 0.0, 0.0), (313.0, 22.0, 11.0), (542.0, 20.0, 48.0)],
    ),
    case(
        "othello(4×4)",
        OTHELLO,
        &[DRAWN, DRAWS],
        "Draw",
        true,
        [(12.0, 13.0, 12.0), (86.0, 13.0, 26.0), (87.0, 13.0, 49.0), (165.0, 13.0, 77.0), (312.0, 13.0, 91.0)],
    ),
    case(
        "othello(6×6)",
        OTHELLO,
        &[DRAWN, DRAWS, (SMALL_BOARD, LARGE_BOARD)],
        "Draw",
        false,
        [(32.0, 33.0, 3.0), (300.0, 33.0, 20.0), (248.0, 33.0, 35.0), (487.0, 33.0, 58.0), (955.0, 33.0, 80.0)],
    ),
    Case {
        most: 80_000,
        ..case(
            "swp(2)",
            WINDOW,
            &[],
            "error",
            true,
            [(327.0, 204.0, 27.0), (279.0, 274.0, 27.0), (1217.0, 154.0, 26.0), (2214.0, 141.0, 27.0), (3161.0, 102.0, 27.0)],
        )
    },
    Case {
        most: 80_000,
        ..case(
            "swp(4)",
            WINDOW,
            &[("MaxBuf = 2;", "MaxBuf = 4;")],
            "error",
            false,
            [(1640.0, 906.0, 27.0), (1570.0, 1552.0, 27.0), (6307.0, 790.0, 27.0), (12794.0, 802.0, 27.0), (13374.0, 421.0, 27.0)],
        )
    },
    Case {
        most: 80_000,
        ..case(
            "swp(6)",
            WINDOW,
            &[("MaxBuf = 2;", "MaxBuf = 6;")],
            "error",
            false,
            [(4391.0, 2372.0, 27.0), (3872.0, 3844.0, 27.0), (14986.0, 1875.0, 27.0), (24588.0, 1540.0, 27.0), (29377.0, 922.0, 27.0)],
        )
    },
    Case {
        most: 80_000,
        ..case(
            "swp(8)",
            WINDOW,
            &[("MaxBuf = 2;", "MaxBuf = 8;")],
            "error",
            false,
            [(7273.0, 3315.0, 27.0), (8531.0, 6500.0, 25.0), (21419.0, 2680.0, 27.0), (35119.0, 2198.0, 26.0), (48052.0, 1505.0, 21.0)],
        )
    },
    Case {
        most: 80_000,
        ..case(
            "swp(10)",
            WINDOW,
            &[("MaxBuf = 2;", "MaxBuf = 10;")],
            "error",
            false,
            [(11546.0, 5642.0, 27.0), (16327.0, 8115.0, 21.0), (29425.0, 3681.0, 26.0), (45012.0, 2816.0, 22.0), (62502.0, 1957.0, 12.0)],
        )
    },
];

fn runs(quick: bool) -> u64 {
    if quick { 6 } else { 24 }
}

fn cases(quick: bool) -> Vec<&'static Case> {
    CASES.iter().filter(|case| case.quick || !quick).collect()
}

fn settings(quick: bool) -> Settings {
    vec![
        ("systems", cases(quick).iter().map(|case| case.name).collect::<Vec<_>>().join(", ")),
        ("states", "at most 50,000, sliding window 80,000; 2,000 of commprot, which is not judged".to_string()),
        ("repetitions", runs(quick).to_string()),
    ]
}

impl Case {
    /// Whether it was carried out as in the paper.
    fn is_judged(&self) -> bool {
        self.runs == u64::MAX
    }
}

/// The text with the replacements made; `None` if something to be replaced is not there.
pub(super) fn edited(found: &Found, edits: &[(&str, &str)]) -> Option<String> {
    let replace = |text: String, (from, to): &(&str, &str)| text.contains(from).then(|| text.replacen(from, to, 1));
    edits.iter().try_fold(found.text.clone(), replace)
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let mut texts: Vec<(&Case, String, String)> = Vec::new();
    let mut missing: Vec<&str> = Vec::new();
    for case in cases(desk.quick) {
        match desk.find(case.file).and_then(|found| Some((edited(&found, case.edits)?, found.path))) {
            Some((text, path)) if loads(desk, &path, &text, case.goal) => texts.push((case, path, text)),
            _ => missing.push(case.name),
        }
    }
    if texts.is_empty() {
        let finding = "No specification was found: they are part of the mCRL2 distribution and not ours to ship. `--corpus FOLDER` names a folder that holds them; the experiment `witnesses` runs models of our own.";
        findings.judge("Table 1 on the paper's own specifications", &[Verdict::Open(None)], finding);
        return Ok(());
    }
    let jobs: Vec<(usize, usize, u64)> = (0..texts.len())
        .flat_map(|case| (0..5).flat_map(move |search| (0..runs(desk.quick)).map(move |run| (case, search, run))))
        .filter(|(case, _, run)| *run < texts[*case].0.runs)
        .collect();
    desk.expect(jobs.len() + 6 * 8);
    let reports = desk.each(&jobs, |(case, search, run)| {
        let (case, path, text) = &texts[*case];
        // A subject of its own for each run: its tables are not shared with runs beside it.
        let opened = open_text(path, text.clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", case.name)))?;
        desk.run_on(&opened.subject, &plan(case.goal, case.most, *search, desk.seed.wrapping_add(*run))?)
    })?;
    let mut rows: Vec<Vec<Row>> = Vec::new();
    for case in 0..texts.len() {
        let of = |search: usize| {
            let some = jobs.iter().zip(&reports).filter(|((at, which, _), _)| (*at, *which) == (case, search));
            row(some.map(|(_, report)| report.clone()).collect(), search == 0)
        };
        rows.push((0..5).map(of).collect());
    }
    let all: Vec<(&Case, &[Row])> = texts.iter().zip(&rows).map(|((case, ..), rows)| (*case, rows.as_slice())).collect();
    table(findings, &all);
    let judged: Vec<(&Case, &[Row])> = all.iter().copied().filter(|(case, _)| case.is_judged()).collect();
    judge(findings, &judged);
    philosophers(desk, findings)?;
    if !missing.is_empty() {
        findings.note(format!("Not found in the folder, or not as expected: {}.", missing.join(", ")));
    }
    findings.note("States of random search are its steps, as in the paper; traces are with loops cut out.");
    Ok(())
}

/// Whether a text is a specification with this action.
fn loads(desk: &Desk, path: &str, text: &str, goal: &str) -> bool {
    let opened = open_text(path, text.to_string(), &LoadOptions::default());
    opened.is_ok_and(|opened| plan(goal, 1, 1, 1).is_ok_and(|plan| desk.run_on(&opened.subject, &plan).is_ok()))
}

/// A run that looks for an action.
fn plan(goal: &str, most: u64, search: usize, seed: u64) -> Result<Plan, LabError> {
    let strategy = spec(witnesses::SEARCHES[search].1)?;
    let walks = !strategy.default_store().abilities().remembers;
    let (states, steps) = if walks { (None, Some(most)) } else { (Some(most), None) };
    Ok(Plan {
        strategy,
        states,
        steps,
        seed,
        find_rules: vec![goal.to_string()],
        deadlock: Some(Deadlock::Off),
        shorten: false,
        threads: 1,
        ..Plan::default()
    })
}

fn row(reports: Vec<Report>, walks: bool) -> Row {
    let visited = |report: &Report| if walks { report.steps as f64 } else { report.states as f64 };
    let spent = Interval::of_mean(&reports.iter().map(visited).collect::<Vec<_>>()).map(|mean| mean.value);
    let done = Repeated { runs: reports };
    Row {
        runs: done.runs.len(),
        rate: done.success_rate(),
        states: done.mean(visited),
        raw: done.mean(wayfarer::repeated::raw_length),
        cut: done.mean(wayfarer::repeated::length),
        short: None,
        finds: witnesses::sorted(done.successes().map(visited)),
        spent,
    }
}

fn table(findings: &mut Findings, all: &[(&Case, &[Row])]) {
    let columns = vec![
        Column::new("system"),
        Column::new("search"),
        Column::paper("states").form(Form::Count),
        Column::new("states"),
        Column::paper("trace").form(Form::Count),
        Column::new("trace"),
        Column::new("raw"),
        Column::paper("success").form(Form::Percent),
        Column::new("success").form(Form::Percent),
    ];
    let mut table = Table::new("Means over the runs that reached the goal", columns);
    for (case, rows) in all {
        for (((name, _), row), (states, trace, success)) in witnesses::SEARCHES.iter().zip(*rows).zip(case.paper) {
            let quoted = |value: f64| if success > 0.0 { Cell::from(value) } else { Cell::Empty };
            table.row([
                case.name.into(),
                Cell::from(*name),
                quoted(states),
                row.states.into(),
                quoted(trace),
                row.cut.into(),
                row.raw.into(),
                (success / 100.0).into(),
                row.rate.into(),
            ]);
        }
    }
    findings.tables.push(table);
}

fn judge(findings: &mut Findings, all: &[(&Case, &[Row])]) {
    let named: Vec<(&str, &[Row])> = all.iter().map(|(case, rows)| (case.name, *rows)).collect();
    // The goals of lift and othello lie at one depth, whichever way is taken.
    witnesses::claims(findings, &named, |name| !name.starts_with("othello") && !name.starts_with("lift"));
    let cells = |of: &dyn Fn(&Row) -> Option<Figure>, quoted: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<(String, Verdict)> {
        let mut cells = Vec::new();
        for (case, rows) in all {
            for (search, (row, paper)) in rows.iter().zip(&case.paper).enumerate() {
                if let Some(figure) = of(row).filter(|_| paper.2 > 0.0) {
                    cells.push((format!("{} {}", case.name, witnesses::SEARCHES[search].0), figure.about(quoted(paper))));
                }
            }
        }
        cells
    };
    let told = |cells: &[(String, Verdict)]| {
        let of = |wanted: Verdict| cells.iter().filter(|(_, verdict)| *verdict == wanted).count();
        let far: Vec<&str> = cells.iter().filter(|(_, verdict)| *verdict == Verdict::Differs).map(|(name, _)| name.as_str()).collect();
        format!("{} of {} cells are about the paper's for certain, {} are not: {}.", of(Verdict::Agrees), cells.len(), far.len(), far.join(", "))
    };
    for (claim, cells) in [
        ("Table 1: states to the find", cells(&Row::states, &|paper| paper.0)),
        ("Table 1: lengths of the traces", cells(&Row::length, &|paper| paper.1)),
        ("Table 1: rates of success", cells(&|row| Some(row.success()), &|paper| paper.2 / 100.0)),
    ] {
        findings.judge(claim, &cells.iter().map(|(_, verdict)| *verdict).collect::<Vec<_>>(), told(&cells));
        ended_early(findings, all);
    }
}

/// Tests whether the paper's searches that failed were ended early: if only as many of our runs count as the paper's
/// rate of success allows, the soonest ones, they must need as many states as the paper's.
fn ended_early(findings: &mut Findings, all: &[(&Case, &[Row])]) {
    let mut near = 0;
    let mut told = Vec::new();
    for (case, rows) in all {
        let (states, _, success) = case.paper[1];
        let soonest = (success / 100.0 * rows[1].runs as f64).round() as usize;
        if success >= 95.0 || soonest < 2 || rows[1].finds.len() <= soonest {
            continue;
        }
        let mean = Figure::mean(&rows[1].finds[..soonest]);
        near += usize::from(!matches!(mean.about(states), Verdict::Differs));
        told.push(format!("{} {} (paper {states})", case.name, crate::plain(mean.interval.value)));
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

/// The deadlock of 17 philosophers, as mCRL2's own specification has them.
fn philosophers(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let Some(found) = desk.find(DINING) else { return Ok(()) };
    let more: String = (9..=17).map(|number| format!(" || ForkPhil({number})")).collect();
    let edits = [("K = 8;", "K = 17;".to_string()), ("ForkPhil(7) || ForkPhil(8)", format!("ForkPhil(7) || ForkPhil(8){more}"))];
    let edits: Vec<(&str, &str)> = edits.iter().map(|(from, to)| (*from, to.as_str())).collect();
    let Some(text) = edited(&found, &edits) else { return Ok(()) };
    let searches: Vec<(String, String)> = [("random".to_string(), "random".to_string()), ("rdfs".to_string(), "rdfs".to_string())]
        .into_iter()
        .chain((2..=5).map(|width| (format!("highway {width}"), format!("highway:width={width},restarts=0"))))
        .collect();
    let jobs: Vec<(usize, u64)> = (0..searches.len()).flat_map(|search| (0..8).map(move |part| (search, part))).collect();
    let each = runs(desk.quick).div_ceil(4).max(2);
    let done = desk.each(&jobs, |(search, part)| {
        let opened =
            open_text(&found.path, text.clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", found.path)))?;
        let strategy = spec(&searches[*search].1)?;
        let walks = !strategy.default_store().abilities().remembers;
        let (states, steps) = if walks { (None, Some(5_000)) } else { (Some(5_000), None) };
        let plan = Plan { strategy, states, steps, deadlock: Some(Deadlock::Stuck), shorten: false, threads: 1, ..Plan::default() };
        let one = |run: u64| {
            let report = desk.run_on(&opened.subject, &Plan { seed: desk.seed.wrapping_add(part * each + run), ..plan.clone() })?;
            Ok(report.is_violated().then_some(if walks { report.steps } else { report.states }))
        };
        (0..each).map(one).collect::<Result<Vec<Option<u64>>, LabError>>()
    })?;
    let finds: Vec<Vec<Option<u64>>> = (0..searches.len())
        .map(|search| jobs.iter().zip(&done).filter(|((at, _), _)| *at == search).flat_map(|(_, finds)| finds.clone()).collect())
        .collect();
    let share =
        |search: usize, within: u64| Figure::share(finds[search].iter().flatten().filter(|states| **states <= within).count(), finds[search].len());
    findings.plots.push(Plot {
        title: "Seventeen philosophers of mCRL2".into(),
        across: "states".into(),
        up: "share of runs that found the deadlock".into(),
        log: (false, false),
        lines: searches
            .iter()
            .enumerate()
            .map(|(at, (name, _))| Line::new(name.clone(), (0..=100).map(|mark| (mark as f64 * 50.0, share(at, mark * 50).interval.value))))
            .collect(),
    });
    let percent = |figure: Figure| format!("{:.0} %", 100.0 * figure.interval.value);
    findings.judge(
        "Figure 8: only 70 % of the randomised depth-first searches find the deadlock of 17 philosophers within 5,000 states",
        &[share(1, 5_000).about(0.7)],
        format!(
            "On mCRL2's own specification {} do; {}.",
            percent(share(1, 5_000)),
            searches.iter().enumerate().map(|(at, (name, _))| format!("{name} {}", percent(share(at, 5_000)))).collect::<Vec<_>>().join(", ")
        ),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_edited_only_if_everything_is_there() {
        let found = Found { path: "x".into(), text: "N = 3; N = 3; init;".into() };
        assert_eq!(edited(&found, &[("N = 3;", "N = 4;")]).as_deref(), Some("N = 4; N = 3; init;"));
        assert_eq!(edited(&found, &[("N = 3;", "N = 4;"), ("K", "L")]), None);
    }
}
