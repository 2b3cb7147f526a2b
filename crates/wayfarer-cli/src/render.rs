//! A report as text. Four lines come first: the verdict, the checks, the extent of the run, and its cost. Then comes
//! the witness or, if nothing was found, the evidence for that in a few sentences. Everything else is for `--verbose`
//! and `--json`.

mod details;
mod worth;

use crate::formulas;
use crate::output::{Paint, width, with_flags, wrapped};
use crate::sizes::{bytes, count, counted, rough, seconds};
use crate::witness::{self, Form};
use wayfarer::machine::Bound;
use wayfarer::{CheckReport, Kind, Report, Stop, Subject, Verdict, ViolationReport};

/// The options for showing a report.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub(crate) paint: Paint,
    pub(crate) form: Form,
    /// Only parts of a state whose names contain one of these are shown; all if there are none.
    pub(crate) only: &'a [String],
    /// Whether everything is shown.
    pub(crate) verbose: bool,
    /// The memory budget in bytes.
    pub(crate) memory: usize,
    /// The limit of which the budget is three quarters, if the user did not give the budget.
    pub(crate) bound: Option<Bound>,
    /// Whether the process's fixed memory comes on top of the budget.
    pub(crate) besides_on_top: bool,
    /// The command line that repeats this run.
    pub(crate) again: &'a str,
}

/// The shortest search, in seconds, for which a rate is shown.
const LEAST_TIME: f64 = 0.1;

/// The number of properties of each kind that are named; the rest are only counted.
const NAMED: usize = 3;
/// The number of checks named that were not judged: a reader must know which.
const MOST_LEFT: usize = 8;

/// The whole report.
pub(crate) fn report(report: &Report, subject: &dyn Subject, view: &View) -> String {
    let asked = formulas::asked(report);
    let mut out = if asked { formulas::text(report, view.paint) } else { verdict(report, view.paint) };
    let checked = (!asked).then(|| ("checked", checked(report)));
    for (name, text) in checked.into_iter().chain([("explored", explored(report)), ("cost", cost(report, view))]) {
        out.push_str(&format!("  {} {}\n", view.paint.faint(&format!("{name:<9}")), wrapped(&text, 12)));
    }
    for (index, violation) in report.violations.iter().enumerate().filter(|_| !asked || view.form != Form::None) {
        out.push_str(&violation_text(violation, index, report.violations.len(), view.paint));
        if let Some(found) = &violation.witness {
            out.push_str(&witness::witness(subject, found, view));
        }
    }
    if report.witness().is_some_and(|witness| witness.length > 0) && report.threads > 1 && !report.repeatable && view.form != Form::None {
        let which = "With several threads, another run may show another witness of the same length. With --threads 1 it is always the same one.";
        out.push_str(&format!("{}\n", view.paint.faint(&wrapped(which, 0))));
    }
    if report.witness().is_some_and(|witness| !witness.shortest) && report.threads == 1 && !report.repeatable && view.form != Form::None {
        let why = "Making the witness shorter ended because its time was up: a tenth of the time of the search, at least two seconds. Another run may show a longer or a \
                   shorter one.";
        out.push_str(&format!("{}\n", view.paint.faint(&wrapped(why, 0))));
    }
    out.push_str(&worth::block(report, view));
    for remark in &report.remarks {
        out.push_str(&format!("\n{}\n", wrapped(&format!("{} {}", view.paint.doubt("note:"), with_flags(remark)), 0)));
    }
    if view.verbose {
        out.push_str(&details::details(report, view));
    } else {
        out.push_str(&details::profile(report, view.paint));
        out.push_str(&unfired(report, view.paint));
    }
    out.push_str(&cut(report, view));
    out
}

fn verdict(report: &Report, paint: Paint) -> String {
    let (word, sentence) = match report.verdict {
        Verdict::Violated if report.sought => (paint.good("found"), String::new()),
        Verdict::Holds if report.sought => {
            (paint.doubt("unreachable"), ": every reachable state was visited, and none was the one looked for".to_string())
        }
        Verdict::NotFound if report.sought => {
            (paint.doubt("not found"), format!(": {} ({})", "the state or rule looked for was not met", stopped(report)))
        }
        Verdict::Holds if report.states == 0 => {
            (paint.good("holds"), ": there is no start state, so there is no state that could be bad".to_string())
        }
        Verdict::Holds if report.assumed => {
            (paint.good("holds"), ": under the model's assumptions, every reachable state was visited and none is bad".to_string())
        }
        Verdict::Holds => (paint.good("holds"), format!(": every reachable state was visited and none is bad{}", beyond(report))),
        Verdict::Violated => (paint.bad("violated"), String::new()),
        Verdict::NotFound => (paint.doubt("not found"), format!(": no violation was found; {}", open(report))),
    };
    format!("{}\n", wrapped(&format!("{} {word}{sentence}", report.model), 2))
}

/// The claims of the model that nobody judged, because they are about whole runs and not about states.
fn beyond(report: &Report) -> String {
    let claims: Vec<String> = report.checks.iter().filter(|check| is_beyond(check)).map(CheckReport::label).collect();
    match claims.len() {
        0 => String::new(),
        1 => format!("; {} was not judged", claims[0]),
        2 => format!("; {} and {} were not judged", claims[0], claims[1]),
        many => format!("; {many} properties of whole runs were not judged"),
    }
}

fn is_beyond(check: &CheckReport) -> bool {
    check.verdict == wayfarer::CheckVerdict::NotJudged && matches!(check.kind, Kind::Liveness | Kind::Claim)
}

/// The extent of a run without a violation, by the strongest evidence there is.
fn open(report: &Report) -> String {
    let dry = matches!(report.stop, Stop::Exhausted | Stop::Confident);
    match report.expected_omissions {
        Some(expected) if dry && expected < 0.5 => "very likely every state was visited (not proved)".to_string(),
        Some(expected) if dry => {
            let missed = expected.round() as u64;
            format!("about {} {} expected to have been missed", counted(missed, "state"), if missed == 1 { "is" } else { "are" })
        }
        None if dry => "the store forgets, so states may have been missed".to_string(),
        _ if report.stop == Stop::Accepted => "by the samples of rbfs, every state was likely visited (not proved)".to_string(),
        // A random search cannot tell when it is done.
        _ if !report.is_systematic() => format!("whether every state was visited is not known ({})", stopped(report)),
        _ => format!("not every state was expanded ({})", stopped(report)),
    }
}

/// The reason why a run ended, as a clause.
fn stopped(report: &Report) -> String {
    wayfarer::stop_words(report.stop).to_string()
}

/// The checks that need no property of the model.
const ALWAYS: [(Kind, &str); 2] = [(Kind::Fault, "assertions and faults"), (Kind::Deadlock, "deadlocks")];

/// The properties that were checked, and those that were not.
fn checked(report: &Report) -> String {
    let judged: Vec<&CheckReport> = report.checks.iter().filter(|check| check.verdict != wayfarer::CheckVerdict::NotJudged).collect();
    let mut parts = Vec::new();
    for kind in [Kind::Invariant, Kind::Never, Kind::Cover, Kind::Liveness, Kind::Found, Kind::Rule] {
        let names: Vec<&str> = judged.iter().filter(|check| check.kind == kind).map(|check| check.name.as_str()).collect();
        let word = match kind {
            Kind::Found => "a state in which",
            Kind::Rule => "a firing of",
            kind => kind.word(),
        };
        match names.len() {
            0 => {}
            few if few <= NAMED => parts.extend(names.iter().map(|name| format!("{word} `{name}`"))),
            many => parts.push(format!("{many} {word}s")),
        }
    }
    let properties = !parts.is_empty();
    for (kind, words) in ALWAYS {
        if judged.iter().any(|check| check.kind == kind) {
            parts.push(words.to_string());
        }
    }
    let mut text = if parts.is_empty() { "nothing".to_string() } else { parts.join(", ") };
    if !properties {
        let others = if report.checks.iter().any(is_beyond) { "no other properties of states" } else { "no other properties" };
        text.push_str(&format!("; the model states {others}"));
    }
    let left = report.checks.iter().filter(|check| check.verdict == wayfarer::CheckVerdict::NotJudged);
    let left: Vec<String> =
        left.map(|check| ALWAYS.iter().find(|(kind, _)| *kind == check.kind).map_or_else(|| check.label(), |(_, words)| words.to_string())).collect();
    match left.len() {
        _ if report.sought || left.is_empty() => {}
        few if few <= MOST_LEFT => text.push_str(&format!("; not judged: {}", left.join(", "))),
        many => text.push_str(&format!("; not judged: {} and {} more", left[..MOST_LEFT].join(", "), many - MOST_LEFT)),
    }
    text
}

/// The extent of the run.
fn explored(report: &Report) -> String {
    let states = if report.states_error > 0.0 {
        format!("about {} states (standard error {:.1} %)", count(report.states), 100.0 * report.states_error)
    } else {
        counted(report.states, "state")
    };
    let orbits = if report.symmetry { " up to symmetry" } else { "" };
    let waiting = if report.frontier > 0 { format!(" ({} not expanded)", count(report.frontier)) } else { String::new() };
    let fired = format!("{} fired", counted(report.rules_fired, "rule"));
    let depth = report.depth.map_or_else(String::new, |depth| format!(", depth {}", count(u64::from(depth))));
    let coverage = report.coverage.map_or_else(String::new, |coverage| format!(", {:.2} % of --size", 100.0 * coverage));
    let note = report.symmetry_note.as_ref().map_or_else(String::new, |note| format!("; {}", with_flags(note)));
    format!("{states}{orbits}{waiting}, {fired}{depth}{coverage}{note}")
}

fn cost(report: &Report, view: &View) -> String {
    let times = &report.times;
    let rate = rate(report).map_or_else(String::new, |rate| format!(" ({rate})"));
    let besides = [(times.preparing, "to start the GPU"), (times.audit, "audit"), (times.witnesses, "witness")];
    let besides: String = besides.iter().filter(|(time, _)| *time >= 0.1).map(|(time, what)| format!(" + {} {what}", seconds(*time))).collect();
    let on_top = if view.besides_on_top { " (the program's own needs come on top)" } else { "" };
    let threads = if report.threads > 1 { format!(", {} threads", report.threads) } else { String::new() };
    let aside = if is_set_aside(report) { ", most of it set aside for the store at the start" } else { "" };
    let memory = format!("{} of {}{on_top}{aside}", bytes(report.peak_memory_bytes), bytes(view.memory));
    let device = report.device.as_ref().map_or_else(String::new, |device| format!(", on {device}"));
    let search = format!("{} over {}{threads}{device}, seed {}", report.strategy, report.store, report.seed);
    format!("{}{rate}{besides}, {memory}; {search}", seconds(times.exploring))
}

/// Whether the store's memory does not depend on the number of states: it is a table of fingerprints or bits that was made for the whole budget.
fn is_set_aside(report: &Report) -> bool {
    let store = wayfarer::search::StoreSpec::parse(&report.store).map(|store| store.abilities());
    report.phases.is_empty() && store.is_ok_and(|store| store.remembers && !store.recalls)
}

/// The states or, if the search draws its steps, the steps in a second. A run that is over at once spends its time on reading and compiling the model, and
/// has no rate to speak of.
fn rate(report: &Report) -> Option<String> {
    let times = &report.times;
    let (number, what) = if report.expands_once() || report.is_systematic() { (report.states, "states") } else { (report.steps, "steps") };
    (times.exploring >= LEAST_TIME && number > 0).then(|| format!("{} {what}/s", rough(number as f64 / times.exploring)))
}

fn violation_text(violation: &ViolationReport, index: usize, of: usize, paint: Paint) -> String {
    let number = if of > 1 { format!("{} of {of}: ", index + 1) } else { String::new() };
    let sentence = violation.sentence();
    let place = witness::fitting(&violation.at, number.len() + sentence.chars().count() + 2, width());
    let mut out = format!("\n{number}{}{place}\n", paint.bad(&sentence));
    if let Some(detail) = &violation.detail {
        out.push_str(&format!("  {}\n", wrapped(detail, 2)));
    }
    out
}

/// A rule that never fires in a complete run is often a mistake in its guard.
fn unfired(report: &Report, paint: Paint) -> String {
    if !report.complete {
        return String::new();
    }
    let rules: Vec<String> = report.unfired_rules().map(|rule| rule.rule.clone()).collect();
    match rules.len() {
        0 => String::new(),
        few if few <= NAMED => format!("\n{}\n", wrapped(&format!("{} {}", paint.doubt("rules that can never fire:"), rules.join(", ")), 2)),
        many => format!(
            "\n{}\n",
            wrapped(&format!("{} {many}, {} among them; --verbose lists them", paint.doubt("rules that can never fire:"), rules[0]), 2)
        ),
    }
}

/// Advice on what to try after an incomplete run, and the line that repeats it.
fn cut(report: &Report, view: &View) -> String {
    if report.verdict != Verdict::NotFound || formulas::asked(report) {
        return String::new();
    }
    let left = "a violation may lie among states that were not visited";
    let advice = match report.stop {
        Stop::Memory if report.peak_memory_bytes < view.memory / 4 * 3 && !view.besides_on_top => format!(
            "The system gave only {} of the {} that were planned: {left}. Look for a limit of the process (ulimit -v) or of its control group.",
            bytes(report.peak_memory_bytes),
            bytes(view.memory)
        ),
        Stop::Memory => {
            let spent = format!("The memory budget of {} was spent before the search was done: {left}", bytes(view.memory));
            match view.bound {
                Some(Bound::Addresses) => {
                    format!("{spent}. The budget is three quarters of what the limit on address space leaves: try a larger limit (ulimit -v), or a smaller model (--const).")
                }
                Some(Bound::Group) => {
                    format!("{spent}. The budget is three quarters of what the control group of this process leaves: try a larger group, or a smaller model (--const).")
                }
                Some(Bound::Machine) | None => format!("{spent}. Try a larger --memory, or a smaller model (--const)."),
            }
        }
        Stop::Time => format!("The time was up before the search was done: {left}. Try a longer --time, or a smaller model (--const)."),
        Stop::States => format!("The run ended at the limit on states: {left}. Try a larger --states, or none."),
        Stop::Steps => format!("The run ended at the limit on steps: {left}. Try a larger --steps, or none."),
        Stop::Depth => format!(
            "States at depth {} were not expanded: a violation may lie deeper. Try a larger --depth, or none.",
            count(u64::from(report.depth.unwrap_or(0)))
        ),
        Stop::Interrupted => format!("The run was interrupted: {left}."),
        Stop::Accepted => "Accepted: by the samples, no state is likely to have been missed in one step. That is evidence and not a proof. For more, try a smaller maxpom."
            .to_string(),
        Stop::Confident => "A whole pass most likely missed no state (--confidence). That is strong evidence and not a proof.".to_string(),
        Stop::Overhead | Stop::Collisions => format!("The search forgot too many states to make progress: {left}. Try more --memory, or rbfs:own."),
        Stop::Restarts => format!("The search ended after its last restart: {left}. Try more restarts, or the default strategy."),
        Stop::Limit => "Steps that could not be computed are missing: a violation may lie beyond them.".to_string(),
        Stop::Exhausted => {
            "The store does not remember states exactly: a new state can be taken for a known one, and the states behind it are then missed too. For a proof, try --store exact \
             or more --memory."
                .to_string()
        }
        _ => format!("The run ended early: {left}."),
    };
    let mut out = format!("\n{}\n", wrapped(&advice, 0));
    if !report.repeatable && report.threads > 1 && matches!(report.stop, Stop::Time | Stop::Memory | Stop::Interrupted) {
        let why =
            "With several threads, a run that ends early visits other states each time. With --threads 1 the report gives a command that repeats it.";
        out.push_str(&format!("{}\n", wrapped(why, 0)));
    }
    // The wall clock and signals are not repeatable; the number of fired rules is.
    if matches!(report.stop, Stop::Time | Stop::Interrupted) && report.steps > 0 && report.threads == 1 {
        out.push_str(&format!("To repeat exactly this run: {}\n", view.again));
    }
    out
}
