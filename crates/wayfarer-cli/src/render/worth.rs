//! The evidence for "not found", as text: the audit in a sentence that also says what it does not mean, and the other
//! evidence.

use super::View;
use crate::output::{Paint, wrapped};
use crate::sizes::{count, rough};
use wayfarer::search::{Sampler, Tally};
use wayfarer::{Confidence, Report, SamplerReport, Stop};

/// Fewer walks than these bound nothing of interest, if other walks do.
const FEW: u64 = 30;

/// The whole block; empty if something was found or everything visited.
pub(super) fn block(report: &Report, view: &View) -> String {
    let Some(confidence) = &report.confidence else { return String::new() };
    let mut out = format!("\n{}\n", view.paint.strong("what \"not found\" is worth"));
    for sentence in sentences(report, confidence) {
        out.push_str(&format!("  {}\n", wrapped(&sentence, 2)));
    }
    if view.verbose && !confidence.audit.is_empty() {
        out.push_str(&table(confidence, view.paint));
    }
    out
}

/// The evidence, one sentence for each kind.
fn sentences(report: &Report, confidence: &Confidence) -> Vec<String> {
    let mut out = Vec::new();
    // What the first line of the report rests on comes first.
    let done = matches!(report.stop, Stop::Exhausted | Stop::Confident | Stop::Accepted);
    if done {
        out.extend(omissions(confidence, done));
    }
    match confidence.headline() {
        Some(headline) => out.push(audit(confidence, headline)),
        None if report.stop == Stop::Interrupted => out.push("There was no audit, because the run was interrupted.".to_string()),
        None if report.stop == Stop::Limit => out.push("There was no audit.".to_string()),
        None if report.stop == Stop::Memory => out.push("There was no audit, or no memory left for it.".to_string()),
        None => out.push("There was no audit (--audit).".to_string()),
    }
    if let Some(bound) = confidence.violation_at_most() {
        out.push(format!("No walk met a violation, so at most {} of such walks can.", percent(bound)));
    }
    if let Some(discovery) = &confidence.discovery {
        let hour = confidence.next_hour(report.times.exploring).map_or_else(String::new, |states| {
            let room = if report.stop == Stop::Memory { ", had there been memory" } else { "" };
            format!("; at this rate another hour would find about {} more{room}", about(states))
        });
        out.push(format!("In the last half of the search, {} steps reached a new state{hour}.", share_of_steps(discovery.rate())));
    }
    if let Some(least) = &confidence.least_states {
        let factor = least.total / (report.states as f64).max(1.0);
        // If nearly every state was visited once, the bound is large and means little.
        out.push(match factor < 1e4 {
            true => {
                format!(
                    "By Chao's estimate, which is too low rather than too high, there are about {} states or more (95 % interval {} to {}).",
                    about(least.total),
                    about(least.low),
                    about(least.high)
                )
            }
            false => format!("By Chao's estimate there are many more than {} states.", about(report.states as f64)),
        });
    }
    if !done {
        out.extend(omissions(confidence, done));
    }
    out
}

/// What the search itself expects to have missed. A search that was cut short missed more than its store did.
fn omissions(confidence: &Confidence, done: bool) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(probability) = confidence.omission_probability {
        let bound = if probability < 0.001 { "below 0.001".to_string() } else { format!("of at most {:.3}", (1e3 * probability).ceil() / 1e3) };
        out.push(format!("By the samples of rbfs, a state was missed in one step with a probability {bound}."));
    }
    match confidence.expected_omissions {
        Some(0.0) => {}
        Some(expected) if expected < 0.01 && !done => {}
        Some(expected) if expected < 0.01 => out.push("The store is expected to have missed no state (fewer than 0.01 on average).".to_string()),
        Some(expected) => out.push(format!("The store is expected to have taken about {} new states for known ones.", few(expected))),
        None => out.push("The store forgets states: one may have been visited and forgotten again.".to_string()),
    }
    out
}

/// The strongest bound that the walks give, with its meaning.
fn audit(confidence: &Confidence, headline: &SamplerReport) -> String {
    let meaning = "This bounds what such walks reach, not how many states there are";
    let fixed = || confidence.audit.iter().filter(|report| report.tally.sampler.is_fixed());
    let sieved = confidence.audit.iter().find(|report| matches!(report.tally.sampler, Sampler::Sieved { .. }) && report.tally.judged > 0);
    let least = if sieved.is_some() { FEW } else { 1 };
    if fixed().all(|report| report.tally.judged >= report.tally.walks.min(least)) {
        let Tally { walks, judged, .. } = headline.tally;
        let few = if judged < walks { format!("; {} of its {} walks could be judged", count(judged), count(walks)) } else { String::new() };
        return format!(
            "With 95 % confidence, at most {} of the random walks made after the search end in a state that was not visited (the worst of {} samplers{few}). {meaning}.",
            percent(headline.missing_at_most),
            fixed().count()
        );
    }
    match sieved {
        Some(sieved) => format!(
            "The store keeps no record of most states, so the walks were continued until they met a recorded one: with 95 % confidence, at most {} of these ends were not \
             visited. {meaning}.",
            percent(sieved.missing_at_most)
        ),
        None => "The walks gave no usable estimate: too few ended in states whose visit was recorded.".to_string(),
    }
}

/// The samplers one by one.
fn table(confidence: &Confidence, paint: Paint) -> String {
    let mut out = String::new();
    if let Some(share) = confidence.record_share.filter(|share| *share < 1.0) {
        out.push_str(&format!(
            "  A record of {} of the states says which were visited; only walks that end among these are judged.\n",
            percent(share)
        ));
    }
    out.push_str(&format!("  {}\n", paint.faint(&format!("{:<16} {:>7} {:>7} {:>8} {:>9}", "sampler", "walks", "judged", "missing", "at most"))));
    for report in &confidence.audit {
        let tally = &report.tally;
        let aside = match (tally.sampler.is_fixed(), tally.unfinished) {
            (_, unfinished) if unfinished > 0 => format!("  ({} did not end in time and count as missing)", count(unfinished)),
            (false, _) => "  (its law depends on the visited states)".to_string(),
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

fn about(number: f64) -> String {
    if number < 1000.0 { count(number.round() as u64) } else { rough(number) }
}

/// A number of states that may be less than one.
fn few(number: f64) -> String {
    if number < 10.0 { format!("{number:.2}") } else { about(number) }
}

/// A share of the steps, in numbers that one can picture.
fn share_of_steps(share: f64) -> String {
    match share {
        0.0 => "none of the".to_string(),
        _ if share >= 1e-3 => format!("{:.1} of 100", 100.0 * share),
        _ if share >= 1e-6 => format!("{:.1} of 100,000", 1e5 * share),
        _ => "fewer than one in a million".to_string(),
    }
}

/// A share, rounded up if that matters.
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
