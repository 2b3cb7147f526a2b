//! What "not found" is worth, for a person: the audit in a sentence that also says what it does not mean, and the other evidence beside it.

use crate::output::Paint;
use crate::sizes::{count, rough};
use wayfarer::search::Sampler;
use wayfarer::{Confidence, RARE, Report, SamplerReport, Stop};

/// The whole block; empty where something was found or everything visited.
pub(crate) fn block(report: &Report, paint: Paint) -> String {
    let Some(confidence) = &report.confidence else { return String::new() };
    let mut out = format!("\n{}\n", paint.strong("what \"not found\" is worth"));
    match confidence.headline() {
        Some(headline) => out.push_str(&audit(confidence, headline, paint)),
        None if report.stop == Stop::Interrupted => out.push_str("  There was no audit, because the run was interrupted.\n"),
        None => out.push_str("  There was no audit (--audit).\n"),
    }
    for (name, text) in lines(report, confidence) {
        out.push_str(&format!("  {} {text}\n", paint.faint(&format!("{name:<16}"))));
    }
    out
}

fn audit(confidence: &Confidence, headline: &SamplerReport, paint: Paint) -> String {
    let fixed = || confidence.audit.iter().filter(|report| report.tally.sampler.is_fixed());
    let mut out = String::new();
    if fixed().any(|report| report.tally.judged == 0) {
        out.push_str("  What independent walks end in could not be judged, so that nothing is known of how much of it was visited.\n");
    } else {
        out.push_str(&format!(
            "  With 95 % confidence, at most {} of what independent walks end in was not visited, by the worst of {} samplers ({}).\n  \
             That is a share of that sampler's mass and not of the states: where such walks hardly come, it says nothing.\n",
            percent(headline.missing_at_most),
            fixed().count(),
            headline.tally.sampler.name()
        ));
    }
    if let Some(share) = confidence.record_share.filter(|share| *share < 1.0) {
        out.push_str(&format!(
            "  The store cannot say what was visited; a record of {} of the states can, and only walks that end among those are judged.\n",
            percent(share)
        ));
        let sieved = confidence.audit.iter().find(|report| matches!(report.tally.sampler, Sampler::Sieved { .. }));
        if let Some(sieved) = sieved.filter(|sieved| sieved.tally.judged > headline.tally.judged) {
            let bound = percent(sieved.missing_at_most);
            out.push_str(&format!(
                "  Walks that go on until they meet one of those (sieved) say more: at most {bound} of what they end in was not visited.\n"
            ));
        }
    }
    out.push_str(&format!("  {}\n", paint.faint(&format!("{:<16} {:>7} {:>7} {:>8} {:>9}", "sampler", "walks", "judged", "missing", "at most"))));
    for report in &confidence.audit {
        let tally = &report.tally;
        let aside = match (tally.sampler.is_fixed(), tally.unfinished) {
            (_, unfinished) if unfinished > 0 => format!("  ({} did not end in time and count as missing)", count(unfinished)),
            (false, _) => "  (depends on what was visited)".to_string(),
            _ => String::new(),
        };
        out.push_str(&format!(
            "  {:<16} {:>7} {:>7} {:>8} {:>9}{}\n",
            tally.sampler.name(),
            count(tally.walks),
            count(tally.judged),
            count(tally.missing),
            percent(report.missing_at_most),
            paint.faint(&aside)
        ));
    }
    out
}

/// What else is known.
fn lines(report: &Report, confidence: &Confidence) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(bound) = confidence.violation_at_most() {
        let needed = count(Confidence::walks_needed() as u64);
        let rare = count((1.0 / RARE).round() as u64);
        lines.push((
            "violations",
            format!("none on the walks: at most {} of them can meet one (one in {rare} would take {needed} walks to see)", percent(bound)),
        ));
    }
    if let Some(discovery) = &confidence.discovery {
        let hour = confidence.next_hour(report.seconds).map_or_else(String::new, |states| {
            let room = if report.stop == Stop::Memory { ", had there been memory" } else { "" };
            format!("; another hour would bring about {} more{room}", about(states))
        });
        lines.push(("new states", format!("{} in every 100 steps of the last half{hour}", hundredths(100.0 * discovery.rate()))));
    }
    if let Some(least) = &confidence.least_states {
        let factor = least.total / (report.states as f64).max(1.0);
        let text = format!("{} at least, by Chao's bound ({} to {})", about(least.total), about(least.low), about(least.high));
        // Where nearly every state was met once, the bound is large and means little.
        lines.push(("states in all", if factor < 1e4 { text } else { format!("many more than {} by Chao's bound", about(report.states as f64)) }));
    }
    if let Some(probability) = confidence.omission_probability {
        lines.push(("omission", format!("a state was missed in one step with a probability of at most {probability:.3}, by the samples of rbfs")));
    }
    match confidence.expected_omissions {
        Some(0.0) => {}
        Some(expected) => lines.push(("store", format!("is expected to have taken {expected:.2e} new states for known ones"))),
        None => lines.push(("store", "forgets: a state may have been visited and left again unnoticed".to_string())),
    }
    lines
}

fn about(number: f64) -> String {
    if number < 1000.0 { count(number.round() as u64) } else { rough(number) }
}

fn hundredths(number: f64) -> String {
    if number >= 0.01 || number == 0.0 { format!("{number:.2}") } else { format!("{number:.1e}") }
}

/// A share, rounded up where that matters.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 10.0 {
        format!("{percent:.0} %")
    } else if percent >= 0.01 {
        format!("{:.2} %", (percent * 100.0).ceil() / 100.0)
    } else {
        format!("{percent:.1e} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_not_made_smaller() {
        assert_eq!(percent(0.000_998_08), "0.10 %");
        assert_eq!(percent(0.001_021), "0.11 %");
        assert_eq!(percent(0.432), "43 %");
        assert_eq!(percent(0.000_012), "1.2e-3 %");
    }
}
