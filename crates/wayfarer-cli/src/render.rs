//! A report for a person: the verdict in words, the figures, how often each rule fired, and what it means where the run was cut.

use crate::confidence;
use crate::output::Paint;
use crate::sizes::{bytes, count, counted, seconds};
use crate::witness::{self, Form};
use wayfarer::{Report, RuleReport, Stop, Subject, Verdict, ViolationReport};

/// How a report is shown.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub(crate) paint: Paint,
    pub(crate) form: Form,
    /// The memory budget in bytes.
    pub(crate) memory: usize,
    /// Whether the process's fixed needs come on top of the budget.
    pub(crate) besides_on_top: bool,
    /// The command line of this run without its budgets, for the line that repeats it.
    pub(crate) again: &'a str,
}

/// How many rules are listed before the table is cut.
const RULES_SHOWN: usize = 12;
const UNFIRED_SHOWN: usize = 20;

/// The whole report.
pub(crate) fn report(report: &Report, subject: &dyn Subject, view: &View) -> String {
    let mut out = verdict(report, view.paint);
    for (index, violation) in report.violations.iter().enumerate() {
        out.push_str(&violation_text(violation, index, report.violations.len(), view.paint));
        if let Some(found) = violation.witness.as_ref().filter(|_| view.form != Form::None) {
            out.push_str(&witness::witness(subject, found, view.form, view.paint));
        }
    }
    out.push('\n');
    out.push_str(&figures(report, view));
    out.push_str(&visits(report, view.paint));
    out.push_str(&profile(report, view.paint));
    out.push_str(&rule_table(&report.rules, view.paint));
    out.push_str(&unfired(report, view.paint));
    out.push_str(&confidence::block(report, view.paint));
    for remark in &report.remarks {
        out.push_str(&format!("\n{} {remark}\n", view.paint.doubt("note:")));
    }
    out.push_str(&cut(report, view));
    out
}

fn verdict(report: &Report, paint: Paint) -> String {
    let (word, sentence) = match report.verdict {
        Verdict::Violated if report.sought => (paint.good("found"), ""),
        Verdict::Holds if report.sought => {
            (paint.doubt("unreachable"), "every reachable state was visited, and what was looked for is not among them")
        }
        Verdict::NotFound if report.sought => (paint.doubt("not found"), "what was looked for was not found"),
        Verdict::Holds if report.assumed => {
            (paint.good("holds"), "under the model's assumptions: every state reachable under them was visited and none is bad")
        }
        Verdict::Holds => (paint.good("holds"), "every reachable state was visited and none is bad"),
        Verdict::Violated => (paint.bad("violated"), ""),
        _ if report.stop == Stop::Exhausted => (paint.doubt("not found"), "no violation was found"),
        _ => (paint.doubt("not found"), "no violation was found, but not everything was visited"),
    };
    match report.verdict {
        Verdict::Violated => format!("{} {word}\n", report.model),
        Verdict::NotFound => format!("{} {word}: {sentence} ({})\n", report.model, stop_words(report)),
        _ => format!("{} {word}: {sentence}\n", report.model),
    }
}

/// Why a run ended, as a clause.
fn stop_words(report: &Report) -> String {
    match report.stop {
        Stop::Exhausted => omitted(report),
        stop => wayfarer::stop_words(stop).to_string(),
    }
}

/// What a frontier that ran dry means over a store that is not exact.
fn omitted(report: &Report) -> String {
    match report.expected_omissions {
        Some(expected) => format!("every state was visited except an expected {expected:.2e} omitted"),
        None => "nothing is left to expand, but the store forgets, so states may be missing".to_string(),
    }
}

fn violation_text(violation: &ViolationReport, index: usize, of: usize, paint: Paint) -> String {
    let number = if of > 1 { format!("{} of {of}: ", index + 1) } else { String::new() };
    let mut out = format!("\n{number}{}", paint.bad(&violation.sentence()));
    if !violation.at.is_empty() {
        out.push_str(&format!("  {}", violation.at));
    }
    out.push('\n');
    if let Some(detail) = &violation.detail {
        out.push_str(&format!("  {detail}\n"));
    }
    out
}

fn figures(report: &Report, view: &View) -> String {
    let rate = if report.seconds > 0.0 { report.states as f64 / report.seconds } else { 0.0 };
    let frontier = if report.frontier > 0 { format!(" ({} of them not expanded)", count(report.frontier)) } else { String::new() };
    let on_top = if view.besides_on_top { " (what the process needs in any case comes on top)" } else { "" };
    let states = if report.states_error > 0.0 {
        format!("about {} (standard error {:.1} %)", count(report.states), 100.0 * report.states_error)
    } else {
        count(report.states)
    };
    let orbits = if report.symmetry { " up to symmetry" } else { "" };
    let mut lines = vec![("states", format!("{states}{orbits}{frontier}")), ("rules fired", count(report.rules_fired))];
    if report.steps != report.rules_fired {
        lines.push(("steps", count(report.steps)));
    }
    if report.insertions != report.states && report.states_error == 0.0 {
        lines.push(("insertions", format!("{} (states that were forgotten count again)", count(report.insertions))));
    }
    lines.extend(report.depth.map(|depth| ("depth", count(u64::from(depth)))));
    lines.extend([
        ("time", format!("{} ({} states/s)", seconds(report.seconds), crate::sizes::rough(rate))),
        ("peak memory", format!("{} of {}{on_top}", bytes(report.peak_memory_bytes), bytes(view.memory))),
    ]);
    if let Some(per_state) = report.bytes_per_state {
        // Stores take memory in pieces: before the first are full, the quotient says little about the store.
        let bits = counted(report.state_bits as u64, "bit");
        let text =
            if report.states < 10_000 { format!("a state has {bits}; too few for a mean") } else { format!("{per_state:.1} (a state has {bits})") };
        lines.push(("bytes per state", text));
    }
    if !report.expands_once()
        && let Some(redundancy) = report.redundancy
    {
        lines.push(("redundancy", format!("{:.1} % of the steps led to states met before", 100.0 * redundancy)));
    }
    if let Some(coverage) = report.coverage {
        let times: Vec<String> = report.cover_times.iter().map(|time| format!("{:.0} % after {}", 100.0 * time.share, count(time.steps))).collect();
        let times = if times.is_empty() { String::new() } else { format!(" ({} steps)", times.join(", ")) };
        lines.push(("coverage", format!("{:.2} %{times}", 100.0 * coverage)));
    }
    lines.extend(report.details.figures.iter().map(|(name, value)| (name, number(value))));
    if let Some(factor) = report.density_factor {
        lines.push(("density factor", format!("{factor:.3}")));
    }
    if report.phases.len() > 1 {
        for (number, phase) in report.phases.iter().enumerate() {
            let passes = if phase.passes > 1 { format!("{} more passes", phase.passes) } else { phase.name.to_string() };
            let until = format!("until {} states, {} steps, depth {}", count(phase.states), count(phase.steps), count(u64::from(phase.depth)));
            let text = format!("{passes}, {until} ({})", phase.ended);
            lines.push((if number == 0 { "phases" } else { "" }, text));
        }
    }
    let threads = if report.threads > 1 { format!(", {} threads", report.threads) } else { String::new() };
    let device = report.device.as_ref().map_or_else(String::new, |device| format!(", on {device}"));
    lines.push(("search", format!("{}, {} store, seed {}{threads}{device}", report.strategy, report.store, report.seed)));
    let wide = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(16);
    lines.iter().map(|(name, value)| format!("  {} {value}\n", view.paint.faint(&format!("{name:<wide$}")))).collect()
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 {
        count(value as u64)
    } else if value != 0.0 && value.abs() < 1e-3 {
        format!("{value:.2e}")
    } else {
        format!("{value:.4}")
    }
}

/// What randomised breadth-first search knew after each visit.
fn visits(report: &Report, paint: Paint) -> String {
    if report.details.visits.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.strong("visits"));
    out.push_str(&format!("  {:>5}  {:>7}  {:>14}  {:>8}  {:>14}  {:>6}\n", "visit", "Pom1s", "insertions", "samples", "collision rate", "levels"));
    let mut number = 0;
    let mut worker = 0;
    for visit in &report.details.visits {
        number = if visit.worker == worker { number + 1 } else { 1 };
        worker = visit.worker;
        out.push_str(&format!(
            "  {:>5}  {:>7}  {:>14}  {:>8}  {:>14.3}  {:>6}\n",
            if worker == 0 { number.to_string() } else { format!("{worker}:{number}") },
            visit.pom1s.map_or("unknown".to_string(), |greatest| format!("{greatest:.3}")),
            count(visit.insertions),
            count(visit.samples),
            visit.collision_rate,
            count(u64::from(visit.levels))
        ));
    }
    out
}

/// How many states were visited how often.
fn profile(report: &Report, paint: Paint) -> String {
    if report.profile.is_empty() {
        return String::new();
    }
    let all: u64 = report.profile.iter().sum();
    let mut out = format!("\n{}\n", paint.strong("how often states were visited"));
    for (bin, states) in report.profile.iter().enumerate() {
        let (low, high) = (1u64 << bin, (2u64 << bin) - 1);
        let times = if low == high { count(low) } else { format!("{} to {}", count(low), count(high)) };
        out.push_str(&format!("  {times:>24}  {:>14}  {:>5.1} %\n", count(*states), 100.0 * *states as f64 / all as f64));
    }
    out
}

/// Rules by how often they fired, the most fired first.
fn rule_table(rules: &[RuleReport], paint: Paint) -> String {
    let mut fired: Vec<&RuleReport> = rules.iter().filter(|rule| rule.fired > 0).collect();
    if fired.is_empty() {
        return String::new();
    }
    fired.sort_by_key(|rule| std::cmp::Reverse(rule.fired));
    let shown = if fired.len() > RULES_SHOWN + 3 { RULES_SHOWN } else { fired.len() };
    let numbers: Vec<String> = fired[..shown].iter().map(|rule| count(rule.fired)).collect();
    let wide = numbers.iter().map(String::len).max().unwrap_or(0);
    let names = fired[..shown].iter().map(|rule| rule.rule.chars().count()).max().unwrap_or(0).min(48);
    let mut out = format!("\n{}\n", paint.strong("how often each rule fired"));
    for (rule, number) in fired[..shown].iter().zip(&numbers) {
        out.push_str(&format!("  {number:>wide$}  {:<names$}  {}\n", rule.rule, paint.faint(&rule.at)));
    }
    if shown < fired.len() {
        let rest: u64 = fired[shown..].iter().map(|rule| rule.fired).sum();
        out.push_str(&format!("  {:>wide$}  {} (all of them: --json)\n", count(rest), counted((fired.len() - shown) as u64, "other rule")));
    }
    out
}

fn unfired(report: &Report, paint: Paint) -> String {
    let rules: Vec<&RuleReport> = report.unfired_rules().collect();
    if rules.is_empty() {
        return String::new();
    }
    let names = rules.iter().take(UNFIRED_SHOWN).map(|rule| rule.rule.chars().count()).max().unwrap_or(0).min(48);
    let heading = if report.complete { "rules that can never fire" } else { "rules that did not fire" };
    let mut out = format!("\n{}\n", paint.doubt(heading));
    for rule in rules.iter().take(UNFIRED_SHOWN) {
        out.push_str(&format!("  {:<names$}  {}\n", rule.rule, paint.faint(&rule.at)));
    }
    if rules.len() > UNFIRED_SHOWN {
        out.push_str(&format!("  and {} (all of them: --json)\n", counted((rules.len() - UNFIRED_SHOWN) as u64, "other")));
    }
    out
}

/// What it means that a run was cut, and what to try.
fn cut(report: &Report, view: &View) -> String {
    if report.verdict != Verdict::NotFound {
        return String::new();
    }
    let left = "a violation may lie among the states that were not visited";
    let advice = match report.stop {
        Stop::Memory => format!(
            "The memory budget of {} was spent before every state was visited: {left}. Try a larger --memory, or a smaller model (--const).",
            bytes(view.memory)
        ),
        Stop::Time => format!("The time was up before every state was visited: {left}. Try a longer --time, or a smaller model (--const)."),
        Stop::States => format!("The run ended at the limit on states: {left}. Try a larger --states, or none."),
        Stop::Steps => format!("The run ended at the limit on steps: {left}. Try a larger --steps, or none."),
        Stop::Depth => format!(
            "States at depth {} were not expanded: a violation may lie deeper. Try a larger --depth, or none.",
            count(u64::from(report.depth.unwrap_or(0)))
        ),
        Stop::Interrupted => format!("The run was interrupted: {left}."),
        Stop::Accepted => "Accepted: by the samples, no state is likely to have been missed in one step. That is evidence and not a proof. For more, try a smaller maxpom."
            .to_string(),
        Stop::Confident => "Few enough states are expected to have been omitted (--confidence). That is evidence and not a proof: states that can be reached only through omitted ones are not reckoned with."
            .to_string(),
        Stop::Overhead | Stop::Collisions => format!("The search forgets more than it can bear: {left}. Try more --memory, or rbfs:own."),
        Stop::Restarts => format!("The search ended after its last restart: {left}. Try more restarts, or none of --strategy."),
        Stop::Limit => "Steps that could not be represented are missing: a violation may lie beyond them. Try a larger --loop-limit.".to_string(),
        Stop::Exhausted => {
            "The store does not remember states exactly, so a state can be taken for another, and what lies behind it is then missing too. Try --store exact, or \
             more --memory."
                .to_string()
        }
        _ => format!("The run ended early: {left}."),
    };
    let mut out = format!("\n{advice}\n");
    if !report.repeatable && report.threads > 1 {
        out.push_str(
            "Where a budget ends a run of several threads depends on who was faster; with --threads 1 the run names the line that repeats it.\n",
        );
    }
    // The wall clock and signals are not repeatable; the number of fired rules is.
    if matches!(report.stop, Stop::Time | Stop::Interrupted) && report.steps > 0 && report.threads == 1 {
        out.push_str(&format!("To repeat exactly this run: {}\n", view.again));
    }
    out
}
