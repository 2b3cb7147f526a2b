//! Table 1 of the highway paper on its own mCRL2 specifications, read from a folder that the user names.
//!
//! The distribution of mCRL2 holds the specifications with one value of each parameter; the others are made by small
//! replacements in the text. The goal of brp is an action that the specification hides, so it is taken out of the
//! hidden ones.

use super::table_one::{self, Row};
use super::table_reasons::{self, Cell, Drawn, Quantity};
use super::transitions;
use crate::corpus::Found;
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict};
use crate::shapes::spec;
use crate::{Experiment, Findings, Line, Plot, Settings};
use wayfarer::search::Deadlock;
use wayfarer::{LoadOptions, Plan, Report, open_text};

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
    /// Replacements in the text, each of the first occurrence only.
    edits: &'static [(&'static str, &'static str)],
    goal: &'static str,
    quick: bool,
}

/// The parameter of the process itself is not used.
const LINKS: (&str, &str) = ("BUS(2) || LINK(2,0) || LINK(2,1)", "BUS(4) || LINK(4,0) || LINK(4,1) || LINK(4,2) || LINK(4,3)");
const HIDDEN: (&str, &str) = ("c8,c9,c10,a,r1,s4},\n     allow", "c8,c9,a,r1,s4},\n     allow");
/// The paper's specification had an action for a draw; the present one reports the numbers of pieces. The paper's traces have one
/// step more than there are free fields, so its games end on a full board; in the present one both players pass first.
const DRAWN: (&str, &str) = ("    Outcome:Nat#Nat;", "    Draw;\n    Outcome:Nat#Nat;");
const DRAWS: (&str, &str) = (
    "(PassedTwice && !Stopped) -> Outcome(",
    "((PassedTwice || Count(None,b) == 0) && !Stopped && Count(Red,b) == Count(White,b)) -> Draw.Othello(initial_board,Red,true,true,true) +\n       ((PassedTwice || Count(None,b) == 0) && !Stopped && Count(Red,b) != Count(White,b)) -> Outcome(",
);
const FULL: (&str, &str) = ("(!PassedTwice && !CanMove(player,b)) ->", "(!PassedTwice && Count(None,b) > 0 && !CanMove(player,b)) ->");
/// As in the present specification: a full board ends nothing.
const PASSES: (&str, &str) = (
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

const fn case(name: &'static str, file: &'static str, edits: &'static [(&'static str, &'static str)], goal: &'static str, quick: bool) -> Case {
    Case { name, file, edits, goal, quick }
}

const CASES: [Case; 19] = [
    case("1394(2)", FIREWIRE, &[], "LDres", true),
    case("1394(4)", FIREWIRE, &[LINKS], "LDres", false),
    case("brp(10)", BRP, &[HIDDEN, ("S(e0,3)", "S(e0,10)")], "c10", true),
    case("brp(30)", BRP, &[HIDDEN, ("S(e0,3)", "S(e0,30)")], "c10", false),
    case("brp(50)", BRP, &[HIDDEN, ("S(e0,3)", "S(e0,50)")], "c10", false),
    case("brp(70)", BRP, &[HIDDEN, ("S(e0,3)", "S(e0,70)")], "c10", false),
    case("brp(90)", BRP, &[HIDDEN, ("S(e0,3)", "S(e0,90)")], "c10", false),
    case("commprot", CONFERENCE, &[], "CFSAP_out", false),
    case("lift(3)", LIFT, &[], "protocol_error", true),
    case("lift(4)", LIFT, &[("N = 3;", "N = 4;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4)")], "protocol_error", false),
    case("lift(5)", LIFT, &[("N = 3;", "N = 5;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4) || Lift0(5)")], "protocol_error", false),
    case(
        "lift(6)",
        LIFT,
        &[("N = 3;", "N = 6;"), (LIFTS, "Lift0(1) || Lift0(2) || Lift0(3) || Lift0(4) || Lift0(5) || Lift0(6)")],
        "protocol_error",
        false,
    ),
    case("othello(4×4)", OTHELLO, &[DRAWN, DRAWS, FULL], "Draw", true),
    case("othello(6×6)", OTHELLO, &[DRAWN, DRAWS, FULL, (SMALL_BOARD, LARGE_BOARD)], "Draw", false),
    case("swp(2)", WINDOW, &[], "error", true),
    case("swp(4)", WINDOW, &[("MaxBuf = 2;", "MaxBuf = 4;")], "error", false),
    case("swp(6)", WINDOW, &[("MaxBuf = 2;", "MaxBuf = 6;")], "error", false),
    case("swp(8)", WINDOW, &[("MaxBuf = 2;", "MaxBuf = 8;")], "error", false),
    case("swp(10)", WINDOW, &[("MaxBuf = 2;", "MaxBuf = 10;")], "error", false),
];

/// Runs of a system: more of those on which an earlier result asked for more to decide a cell, and fewer of those whose runs take seconds. The traces of
/// large windows have thousands of steps, and each is replayed.
fn runs(quick: bool, system: &str) -> u64 {
    match (quick, system) {
        (true, _) => 6,
        (false, "commprot") => 4,
        (false, "swp(6)" | "swp(8)" | "swp(10)") => 8,
        (false, "1394(4)") => 128,
        (false, "othello(6×6)") => 256,
        _ => 48,
    }
}

fn cases(quick: bool) -> Vec<&'static Case> {
    CASES.iter().filter(|case| case.quick || !quick).collect()
}

/// Runs that are made one after the other with the same tables of the specification.
const TOGETHER: u64 = 8;

fn settings(quick: bool) -> Settings {
    vec![
        ("systems", cases(quick).iter().map(|case| case.name).collect::<Vec<_>>().join(", ")),
        ("states", "at most 50,000, sliding window 80,000".to_string()),
        (
            "repetitions",
            format!(
                "{}, {} of 1394(4), {} of othello(6×6), {} of windows from 6 on, {} of commprot; {TOGETHER} at a time with the same tables",
                runs(quick, ""),
                runs(quick, "1394(4)"),
                runs(quick, "othello(6×6)"),
                runs(quick, "swp(10)"),
                runs(quick, "commprot")
            ),
        ),
    ]
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
            Some((text, path)) if loads(desk, &path, &text, case) => texts.push((case, path, text)),
            _ => missing.push(case.name),
        }
    }
    if texts.is_empty() {
        let finding = "No specification was found: they are part of the mCRL2 distribution and not ours to ship. `--corpus FOLDER` names a folder that holds them; the experiment `witnesses` runs models of our own.";
        findings.judge("Table 1 on the paper's own specifications", &[Verdict::Open(None)], finding);
        return Ok(());
    }
    let runs_of = |case: usize| runs(desk.quick, texts[case].0.name);
    let mut jobs: Vec<(usize, usize, u64)> = (0..texts.len())
        .flat_map(|case| (0..5).flat_map(move |search| (0..runs_of(case)).step_by(TOGETHER as usize).map(move |first| (case, search, first))))
        .collect();
    // The longest first, by the paper's states: a search that fails takes all that it may.
    jobs.sort_by_key(|(case, search, _)| {
        let (states, _, success) = table_one::printed(texts[*case].0.name)[*search];
        let most = table_one::most_states(texts[*case].0.name) as f64;
        std::cmp::Reverse((states * success / 100.0 + most * (1.0 - success / 100.0)) as u64)
    });
    desk.expect(jobs.len() + 7 * 8);
    let done = desk.each(&jobs, |(case, search, first)| {
        let (case, path, text) = &texts[*case];
        let opened = open_text(path, text.clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", case.name)))?;
        let plan = plan(case, *search, table_one::most_states(case.name))?;
        let one = |run: u64| desk.run_on(&opened.subject, &Plan { seed: desk.seed.wrapping_add(run), ..plan.clone() });
        (*first..(first + TOGETHER).min(runs(desk.quick, case.name))).map(one).collect::<Result<Vec<Report>, LabError>>()
    })?;
    let mut rows: Vec<Vec<Row>> = Vec::new();
    for case in 0..texts.len() {
        let of = |search: usize| {
            let some = jobs.iter().zip(&done).filter(|((at, which, _), _)| (*at, *which) == (case, search));
            Row::of(search, some.flat_map(|(_, reports)| reports.clone()).collect(), Vec::new())
        };
        rows.push((0..5).map(of).collect());
    }
    let all: Vec<(&str, &[Row])> = texts.iter().zip(&rows).map(|((case, ..), rows)| (case.name, rows.as_slice())).collect();
    table_one::table(findings, &all);
    let drawn = drawn(desk, &texts)?;
    table_reasons::table(findings, &all, &drawn);
    judge(findings, &all, &drawn);
    philosophers(desk, findings)?;
    passes(desk, findings)?;
    if !missing.is_empty() {
        findings.note(format!("Not found in the folder, or not as expected: {}.", missing.join(", ")));
    }
    findings.note("States of random search are its steps, as in the paper; traces are with loops cut out.");
    Ok(())
}

/// Random search that draws transitions, on the systems whose runs are cheap and on which the paper's random search finds something.
fn drawn(desk: &Desk, texts: &[(&Case, String, String)]) -> Result<Vec<Drawn>, LabError> {
    let cheap = |case: &Case| runs(desk.quick, case.name) >= runs(desk.quick, "");
    let meant: Vec<_> = texts.iter().filter(|(case, ..)| cheap(case) && table_one::printed(case.name)[0].2 > MOST_FAIL).collect();
    desk.each(&meant, |(case, path, text)| {
        let opened = open_text(path, text.clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", case.name)))?;
        let most = table_one::most_states(case.name);
        let mut subject = opened.subject;
        let mut found = Vec::new();
        let mut run = 0;
        while run < runs(desk.quick, "") {
            if desk.ended() {
                return Err(LabError::Interrupted);
            }
            let walked = {
                let running = subject.running(&plan(case, 0, most)?, usize::MAX / 2);
                let wanted: Vec<u32> = (0..running.space().rules()).filter(|rule| subject.is_called(*rule, case.goal)).collect();
                transitions::walk(running.space(), &|rule| wanted.contains(&rule), desk.seed.wrapping_add(run), most)
            };
            match walked {
                Ok(walked) => {
                    found.extend(walked);
                    run += 1;
                }
                // The same walk again with more room for the values.
                Err(fault) => match subject.widened(fault) {
                    Some(widened) => subject = widened,
                    None => return Err(LabError::Failed(format!("{}: a walk met a fault", case.name))),
                },
            }
        }
        Ok(Drawn { system: case.name, found })
    })
}

/// A search that finds something in fewer per cent of its runs says little about how many states it needs.
const MOST_FAIL: f64 = 15.0;

/// The traces of Othello as the specification stands, in which both players pass before a game ends.
fn passes(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let case = case("othello(4×4)", OTHELLO, &[DRAWN, PASSES], "Draw", true);
    let Some((text, path)) = desk.find(case.file).and_then(|found| Some((edited(&found, case.edits)?, found.path))) else { return Ok(()) };
    let opened = open_text(&path, text, &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{path}: {error}")))?;
    let plan = plan(&case, 1, table_one::most_states(case.name))?;
    let seeds: Vec<u64> = (0..TOGETHER).map(|run| desk.seed.wrapping_add(run)).collect();
    let reports = seeds.iter().map(|seed| desk.run_on(&opened.subject, &Plan { seed: *seed, ..plan.clone() })).collect::<Result<Vec<_>, _>>()?;
    if let Some(length) = Row::of(1, reports, Vec::new()).length() {
        findings.note(format!(
            "Othello ends as soon as the board is full, as the lengths of the paper's traces say. As the specification is distributed both players pass first, and the traces of rdfs on 4×4 have {} steps.",
            crate::plain(length.interval.value)
        ));
    }
    Ok(())
}

/// Whether a text is a specification with this action.
fn loads(desk: &Desk, path: &str, text: &str, case: &Case) -> bool {
    let opened = open_text(path, text.to_string(), &LoadOptions::default());
    opened.is_ok_and(|opened| plan(case, 1, 1).is_ok_and(|plan| desk.run_on(&opened.subject, &plan).is_ok()))
}

/// A run that looks for the action of a case.
fn plan(case: &Case, search: usize, most: u64) -> Result<Plan, LabError> {
    Ok(Plan { find_rules: vec![case.goal.to_string()], ..table_one::plan(search, most)? })
}

fn judge(findings: &mut Findings, all: &[(&str, &[Row])], drawn: &[Drawn]) {
    // The goals of lift and othello lie at one depth, whichever way is taken.
    table_one::claims(findings, all, |name| !name.starts_with("othello") && !name.starts_with("lift"));
    let told = |cells: &[Cell]| {
        let of = |wanted: Verdict| cells.iter().filter(|cell| cell.verdict == wanted).count();
        let far: Vec<String> = cells.iter().filter(|cell| cell.verdict == Verdict::Differs).map(Cell::label).collect();
        let far = if far.is_empty() { "none".to_string() } else { far.join(", ") };
        format!("{} of {} cells are about the paper's for certain. Not the paper's: {far}.", of(Verdict::Agrees), cells.len())
    };
    let figures = [Quantity::States, Quantity::Length, Quantity::Success];
    for (claim, quantity) in ["Table 1: states to the find", "Table 1: lengths of the traces", "Table 1: rates of success"].into_iter().zip(figures) {
        let cells = table_reasons::cells(all, quantity);
        findings.judge(claim, &cells.iter().map(|cell| cell.verdict).collect::<Vec<_>>(), told(&cells));
        if quantity == Quantity::Success {
            table_reasons::ended_early(findings, all);
            table_reasons::lost_at_random(findings, all);
            table_reasons::of_twenty_seven(findings, all);
        } else {
            table_reasons::draws_transitions(findings, &cells, drawn, quantity);
            table_reasons::few_runs(findings, &cells);
        }
    }
}

/// Randomised depth-first search that turns back at this depth, eight steps for each philosopher.
const BOUNDED: (&str, u32) = ("rdfs to depth 136", 136);

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
        .chain([(BOUNDED.0.to_string(), "rdfs".to_string())])
        .collect();
    let jobs: Vec<(usize, u64)> = (0..searches.len()).flat_map(|search| (0..8).map(move |part| (search, part))).collect();
    let each = runs(desk.quick, "").div_ceil(4).max(2);
    let done = desk.each(&jobs, |(search, part)| {
        let opened =
            open_text(&found.path, text.clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{}: {error}", found.path)))?;
        let strategy = spec(&searches[*search].1)?;
        let walks = !strategy.default_store().abilities().remembers;
        let (states, steps) = if walks { (None, Some(5_000)) } else { (Some(5_000), None) };
        let depth = (searches[*search].0 == BOUNDED.0).then_some(BOUNDED.1);
        let plan = Plan { strategy, states, steps, depth, deadlock: Some(Deadlock::Stuck), shorten: false, threads: 1, ..Plan::default() };
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
    let bounded = share(searches.len() - 1, 5_000);
    findings.because(
        bounded.about(0.7) != Verdict::Differs,
        "The depth of the paper's searches was bounded, as that of its short random runs.",
        format!("With paths of at most {} steps, eight for each philosopher, {} find it.", BOUNDED.1, percent(bounded)),
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
