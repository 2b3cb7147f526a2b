//! The automated parking garage of the highway paper, with its two known faults.
//!
//! The specification of mCRL2's distribution has the faults and no action that shows them. One is added: it is enabled
//! if an instruction is allowed that the corrected specification, which lies beside it, does not allow.

use super::specifications::edited;
use crate::corpus::Found;
use crate::desk::{Desk, LabError};
use crate::judging::{Figure, Verdict, both};
use crate::shapes::spec;
use crate::{Cell, Column, Experiment, Findings, Form, Line, Plot, Settings, Table, plain};
use wayfarer::search::Deadlock;
use wayfarer::{LoadOptions, Plan, Report, open_text};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "garage",
    title: "An automated parking garage: finding its faults",
    source: "Engels, Groote, van Weerdenburg, Willemse (2009), 5.2.2, Figure 7",
    question: "After how many states, and how many steps, does each search find one of the two faults?",
    seconds: (30.0, 400.0),
    alone: false,
    reads: &[GARAGE],
    settings,
    run,
};

const GARAGE: &str = "garage/garage-r2-error.mcrl2";

const SEARCHES: [(&str, &str); 5] = [
    ("random", "random"),
    ("rdfs", "rdfs"),
    ("highway 1", "highway:width=1,restarts=0"),
    ("highway 8", "highway:width=8,restarts=0"),
    ("random, by transitions", "walk:lanes=1,restart=never,choice=firings"),
];

/// The search that is no part of the paper's picture, and explains it.
const BY_TRANSITIONS: usize = 4;

/// The conditions that the corrected specification has and this one lacks.
const SHUTTLE: &str = "harmful(move_shuttles(sps, so, dr), glob_state(fs, shs, ls)) = so == lowered && !no_half_car_sps(sps, fs);";
const LIFT: &str = "harmful(move_lift(lh), glob_state(fs, shs, ls)) = ls == ls_basement && !free(positions(b_r1lift), fs) &&
    !(even_occ(positions_b_r1([b_r1a_sh, b_r1a]), fs) && even_occ(positions_b_r1([b_r1b, b_r1b_sh]), fs));";
const NO_SHUTTLE: &str = "harmful(move_shuttles(sps, so, dr), gs) = false;";
const NO_LIFT: &str = "harmful(move_lift(lh), gs) = false;";

/// The paper speaks of two faults and of the error: which of them is looked for.
const FAULTS: [(&str, &str, &str); 3] =
    [("either fault", SHUTTLE, LIFT), ("the shuttle's fault", SHUTTLE, NO_LIFT), ("the lift's fault", NO_SHUTTLE, LIFT)];

/// The specification with an action for a fault.
fn faulty(found: &Found, shuttle: &str, lift: &str) -> Option<String> {
    let conditions = format!(
        "eqn
  {shuttle}
  {lift}
  harmful(move_belts(r1bs, dc, ms), gs) = false;
  harmful(move_belts(r2bs, dc, ms), gs) = false;
  harmful(move_belts(r3bs, dc, ms), gs) = false;
  harmful(tilt_shuttle(sp, so), gs) = false;
  harmful(rotate_lift, gs) = false;
  init_gs ="
    );
    let edits = [
        (
            "  allowed: Instruction # GlobalState -> Bool;",
            "  allowed: Instruction # GlobalState -> Bool;\n  harmful: Instruction # GlobalState -> Bool;",
        ),
        ("eqn\n  init_gs =", conditions.as_str()),
        ("  occur: Event;", "  occur: Event;\n  error;"),
        (
            "      exec(i) . S(nextstate(i, ok, gs_sl))\n",
            "      exec(i) . S(nextstate(i, ok, gs_sl))
  +
    sum i: Instruction. (valid(i) && allowed(i, gs_sl) && harmful(i, gs_sl)) -> error . delta\n",
        ),
    ];
    edited(found, &edits)
}

/// Runs that are made one after the other with the same tables of the specification.
const TOGETHER: usize = 12;

/// The most states of a run.
fn most(quick: bool) -> u64 {
    if quick { 400 } else { 20_000 }
}

/// Runs of a search: most of them for either fault, which is the paper's setting, and fewer for each fault alone and for the search that only explains.
fn runs(quick: bool, fault: usize, search: usize) -> u64 {
    match (quick, fault, search) {
        (true, ..) => 2,
        (false, 0, ..BY_TRANSITIONS) => 144,
        _ => 36,
    }
}

fn settings(quick: bool) -> Settings {
    vec![
        ("specification", GARAGE.to_string()),
        ("states", format!("at most {}", crate::grouped(most(quick) as i64))),
        ("repetitions", format!("{} for either fault, {} for each alone and of random search by transitions", runs(quick, 0, 0), runs(quick, 1, 0))),
    ]
}

fn run(desk: &Desk, findings: &mut Findings) -> Result<(), LabError> {
    let found = desk.find(GARAGE);
    let texts: Option<Vec<String>> = found.and_then(|found| FAULTS.iter().map(|(_, shuttle, lift)| faulty(&found, shuttle, lift)).collect());
    let Some(texts) = texts else {
        let finding = "The specification was not found: it is part of the mCRL2 distribution and not ours to ship. `--corpus FOLDER` names a folder that holds it.";
        findings.judge("Randomised depth-first search finds the fault soonest", &[Verdict::Open(None)], finding);
        return Ok(());
    };
    let most = most(desk.quick);
    let jobs: Vec<(usize, usize, u64)> = (0..FAULTS.len())
        .flat_map(|fault| {
            let firsts = move |search: usize| (0..runs(desk.quick, fault, search)).step_by(TOGETHER).map(move |first| (fault, search, first));
            (0..SEARCHES.len()).flat_map(firsts)
        })
        .collect();
    desk.expect(jobs.len());
    let done = desk.each(&jobs, |(fault, search, first)| {
        let opened =
            open_text(GARAGE, texts[*fault].clone(), &LoadOptions::default()).map_err(|error| LabError::Failed(format!("{GARAGE}: {error}")))?;
        let strategy = spec(SEARCHES[*search].1)?;
        let walks = !strategy.default_store().abilities().remembers;
        let (states, steps) = if walks { (None, Some(most)) } else { (Some(most), None) };
        let plan = Plan {
            strategy,
            states,
            steps,
            find_rules: vec!["error".to_string()],
            deadlock: Some(Deadlock::Off),
            shorten: false,
            threads: 1,
            ..Plan::default()
        };
        let one = |run: u64| {
            let report = desk.run_on(&opened.subject, &Plan { seed: desk.seed.wrapping_add(run), ..plan.clone() })?;
            Ok(Run { visited: if walks { report.steps } else { report.states }, length: length(&report) })
        };
        (*first..(first + TOGETHER as u64).min(runs(desk.quick, *fault, *search))).map(one).collect::<Result<Vec<Run>, LabError>>()
    })?;
    let readings: Vec<Vec<Vec<&Run>>> = (0..FAULTS.len())
        .map(|fault| {
            let of =
                |search: usize| jobs.iter().zip(&done).filter(|((of, at, _), _)| (*of, *at) == (fault, search)).flat_map(|(_, runs)| runs).collect();
            (0..SEARCHES.len()).map(of).collect()
        })
        .collect();
    for ((name, ..), all) in FAULTS.iter().zip(&readings) {
        table(findings, name, all);
    }
    plots(findings, &readings[0]);
    judge(findings, &readings);
    Ok(())
}

/// A run: the states it visited, and the length of its witness if it found a fault.
struct Run {
    visited: u64,
    length: Option<f64>,
}

/// Either fault is the goal by which claims are judged, as the paper's text has it. The others are shown.
const JUDGED: &str = "Judged with either fault as the goal, as the paper's text has it";

fn length(report: &Report) -> Option<f64> {
    report.is_violated().then(|| wayfarer::repeated::length(report))
}

/// The states to the find. A run that found nothing counts with all it visited, so that the mean is a lower bound.
fn states(runs: &[&Run]) -> Figure {
    Figure::mean(&runs.iter().map(|run| run.visited as f64).collect::<Vec<_>>())
}

fn lengths(runs: &[&Run]) -> Figure {
    Figure::mean(&runs.iter().filter_map(|run| run.length).collect::<Vec<_>>())
}

fn found(runs: &[&Run]) -> Figure {
    Figure::share(runs.iter().filter(|run| run.length.is_some()).count(), runs.len())
}

fn table(findings: &mut Findings, fault: &str, all: &[Vec<&Run>]) {
    let columns = vec![
        Column::new("search"),
        Column::new("states to the find, at least"),
        Column::new("length of the witness"),
        Column::new("found").form(Form::Percent),
    ];
    let mut table = Table::new(format!("Looking for {fault}: means; a run that found nothing counts with the states that it visited"), columns);
    for ((name, _), runs) in SEARCHES.iter().zip(all) {
        table.row([Cell::from(*name), states(runs).interval.into(), lengths(runs).interval.into(), found(runs).interval.into()]);
    }
    findings.tables.push(table);
}

fn plots(findings: &mut Findings, all: &[Vec<&Run>]) {
    let share = |runs: &[&Run], within: &dyn Fn(&Run) -> bool| {
        runs.iter().filter(|run| run.length.is_some() && within(run)).count() as f64 / runs.len() as f64
    };
    let lines = |of: &dyn Fn(&[&Run], f64) -> f64, to: f64| -> Vec<Line> {
        SEARCHES
            .iter()
            .zip(all)
            .map(|((name, _), runs)| Line::new(*name, (0..=100).map(|at| (f64::from(at) / 100.0 * to, of(runs, f64::from(at) / 100.0 * to)))))
            .collect()
    };
    let most = all.iter().flatten().map(|run| run.visited as f64).fold(1.0, f64::max);
    let longest = all.iter().flatten().filter_map(|run| run.length).fold(1.0, f64::max);
    findings.plots.push(Plot {
        title: "Found within a number of states (Figure 7)".into(),
        across: "states".into(),
        up: "share of runs that found a fault".into(),
        log: (false, false),
        lines: lines(&|runs, mark| share(runs, &|run| run.visited as f64 <= mark), most),
    });
    findings.plots.push(Plot {
        title: "Found by a witness of at most this length (Figure 7)".into(),
        across: "steps of the witness".into(),
        up: "share of runs that found a fault".into(),
        log: (false, false),
        lines: lines(&|runs, mark| share(runs, &|run| run.length.is_some_and(|length| length <= mark)), longest),
    });
}

/// The paper's claims with their cases.
fn claims(all: &[Vec<&Run>]) -> [(&'static str, Vec<Verdict>); 3] {
    let (random, depth_first, one, eight) = (states(&all[0]), states(&all[1]), states(&all[2]), states(&all[3]));
    let soonest = [random, one, eight].map(|other| other.outdoes(&depth_first)).to_vec();
    let by_far = vec![random.outdoes(&one), one.below(400.0), random.about(4_000.0)];
    let (random, depth_first, one, eight) = (lengths(&all[0]), lengths(&all[1]), lengths(&all[2]), lengths(&all[3]));
    let shortest = vec![both(random.outdoes(&eight), one.outdoes(&eight)), depth_first.outdoes(&random), depth_first.outdoes(&eight)];
    [
        ("Randomised depth-first search is the most successful at finding the fault quickly", soonest),
        ("A highway of width 1 outperforms random search by far: fewer than 400 states against 4,000", by_far),
        ("A highway of width 8 gives the shortest witnesses, followed by random search; randomised depth-first search does poorly", shortest),
    ]
}

fn judge(findings: &mut Findings, readings: &[Vec<Vec<&Run>>]) {
    let told = |all: &[Vec<&Run>], of: fn(&[&Run]) -> Figure| {
        SEARCHES.iter().zip(all).map(|((name, _), runs)| format!("{name} {}", plain(of(runs).interval.value))).collect::<Vec<_>>().join(", ")
    };
    for (at, (claim, cases)) in claims(&readings[0]).into_iter().enumerate() {
        let of: fn(&[&Run]) -> Figure = if at == 2 { lengths } else { states };
        let what = if at == 2 { "Mean length of the witnesses, loops cut out" } else { "Mean states to the find, at least" };
        let each: Vec<String> = FAULTS.iter().zip(readings).map(|((name, ..), all)| format!("{name}: {}", told(all, of))).collect();
        findings.judge(claim, &cases, format!("{what}, by the fault that is looked for: {}. {JUDGED}.", each.join("; ")));
        match at {
            0 => stuck(findings, &readings[0]),
            1 => by_transitions(findings, readings),
            _ => (),
        }
    }
}

/// Tests whether depth-first search and a highway of width 1 can differ at all: they do the same until one of them is stuck.
fn stuck(findings: &mut Findings, all: &[Vec<&Run>]) {
    let (straight, highways) = (
        all[1].iter().filter(|run| run.length.is_some_and(|length| length + 1.0 >= run.visited as f64)).count(),
        all[2].iter().filter(|run| run.length.is_some()).count(),
    );
    findings.because(
        straight * 10 >= all[1].len() * 9 && highways == all[2].len(),
        "A highway of width 1 and depth-first search both go to a random successor that they have not visited. They differ only if no such successor is left: then the highway ends and depth-first search turns back.",
        format!(
            "{highways} of {} highways found the fault, so that none was stuck, and {straight} of {} depth-first searches found it without turning back.",
            all[2].len(),
            all[1].len()
        ),
    );
}

/// Tests whether the paper's random search draws transitions: many instructions leave the garage as it is.
fn by_transitions(findings: &mut Findings, readings: &[Vec<Vec<&Run>>]) {
    let factor = |all: &[Vec<&Run>], search: usize| states(&all[search]).interval.value / states(&all[2]).interval.value;
    let listed = |search: usize| {
        let each: Vec<String> = FAULTS.iter().zip(readings).map(|((name, ..), all)| format!("{:.1} ({name})", factor(all, search))).collect();
        each.join(", ")
    };
    findings.because(
        readings.iter().all(|all| states(&all[BY_TRANSITIONS]).times(0.5).more_than(&states(&all[0])) == Verdict::Agrees),
        "The paper's random search draws a transition and not a successor. Many instructions leave the garage as it is, and each of them is drawn as often as one that changes it. What is left may be the specification, which is older in the paper.",
        format!("Random search needs this many times the states of a highway of width 1: {}; if it draws transitions, {}. The paper has more than 10.", listed(0), listed(BY_TRANSITIONS)),
    );
}
