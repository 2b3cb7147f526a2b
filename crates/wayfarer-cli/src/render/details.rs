//! All figures of a report beyond its first lines, for `--verbose`: figures, visits, profile, rules.

use super::View;
use crate::output::Paint;
use crate::sizes::{bytes, count, counted, seconds};
use wayfarer::{Report, RuleReport};

/// The number of rules listed before the table is cut.
const RULES_SHOWN: usize = 12;
const UNFIRED_SHOWN: usize = 20;

/// All details.
pub(super) fn details(report: &Report, view: &View) -> String {
    let mut out = String::from("\n");
    out.push_str(&figures(report, view));
    out.push_str(&visits(report, view.paint));
    out.push_str(&profile(report, view.paint));
    out.push_str(&rule_table(&report.rules, view.paint));
    out.push_str(&unfired(report, view.paint));
    out
}

fn figures(report: &Report, view: &View) -> String {
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
        let again = if report.threads > 1 {
            "states that were forgotten, or that several threads met, count again"
        } else {
            "states that were forgotten count again"
        };
        lines.push(("insertions", format!("{} ({again})", count(report.insertions))));
    }
    lines.extend(report.depth.map(|depth| ("depth", count(u64::from(depth)))));
    let times = &report.times;
    lines.extend([
        ("time", format!("{} of exploring, {} of audit, {} for witnesses", seconds(times.exploring), seconds(times.audit), seconds(times.witnesses))),
        ("peak memory", format!("{} of {}{on_top}", bytes(report.peak_memory_bytes), bytes(view.memory))),
    ]);
    if let Some(per_state) = report.bytes_per_state {
        // Stores allocate memory in pieces, some of it before the first state: with few states the quotient means
        // little.
        let bits = counted(report.state_bits as u64, "bit");
        let text = if super::is_set_aside(report) {
            format!("the store's memory was set aside at the start, {} for each state so far (a state has {bits})", bytes(per_state as usize))
        } else if report.states < 100_000 {
            format!("too few states for a mean (a state has {bits})")
        } else {
            format!("{per_state:.1}, the store's fixed cost included (a state has {bits})")
        };
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
        lines.push((
            "density factor",
            format!("{factor:.3} (the degree over the depth of a tree of this size: below 0.03 suggests sdrs, above 0.07 urs)"),
        ));
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

/// A figure with three digits or so; `--json` has all of them.
fn number(value: f64) -> String {
    match value {
        _ if value.fract() == 0.0 && (0.0..1e15).contains(&value) => count(value as u64),
        _ if value > 0.0 && value < 1e-3 => "below 0.001".to_string(),
        _ if value.abs() < 1.0 => format!("{value:.3}"),
        _ if value.abs() < 100.0 => format!("{value:.2}"),
        _ if (0.0..1e15).contains(&value) => count(value.round() as u64),
        _ => format!("{value:.0}"),
    }
}

/// The knowledge of randomised breadth-first search after each visit.
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

/// The number of states by number of visits.
pub(super) fn profile(report: &Report, paint: Paint) -> String {
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

/// Rules by number of firings, the largest first.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_numbers_that_one_can_read() {
        let shown = [7.7e-11, 0.0, 0.25, 39.263, 21_564.318_4, 12_345.0].map(number);
        assert_eq!(shown, ["below 0.001", "0", "0.250", "39.26", "21,564", "12,345"]);
    }
}
