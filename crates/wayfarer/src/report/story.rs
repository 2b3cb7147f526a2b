//! Violations in plain text: the same words wherever a report goes.

use crate::{Change, CheckReport, Kind, Report, StepReport, ViolationReport, WitnessReport};
use std::fmt::{self, Write as _};
use wayfarer_model::ABSENT;
use wayfarer_search::Stop;

/// Of a witness longer than this, only the beginning and the end are shown: nobody reads more, and programs that read
/// the files have limits.
const STEPS_TOLD: usize = 200;
const STEPS_TOLD_FIRST: usize = 20;
/// The same for the values of a start state.
const LINES_TOLD: usize = 200;

impl ViolationReport {
    /// The violation in a sentence.
    pub fn sentence(&self) -> String {
        let name = &self.name;
        match self.kind {
            Kind::Invariant => format!("invariant `{name}` does not hold"),
            Kind::Never => format!("`{name}` holds in a reachable state, and must in none"),
            Kind::Deadlock => "deadlock".to_string(),
            // An assertion without a text of its own is called by what happened.
            Kind::Assertion if name.starts_with("assertion failed") => name.clone(),
            Kind::Assertion => format!("assertion failed: {name}"),
            Kind::Error => format!("error statement reached: {name}"),
            Kind::Fault => format!("fault: {name}"),
            Kind::Cover => format!("cover `{name}` was never reached"),
            Kind::Liveness | Kind::Claim => format!("{} `{name}` does not hold", self.kind),
            Kind::Formula => format!("a state decides formula {name}"),
            Kind::Found => format!("a state satisfies {name}"),
            Kind::Rule => format!("rule {name} fires"),
        }
    }

    /// The location at which to show it: its own, or for a deadlock, which has none, that of the rule that led into
    /// it. Empty if there is neither.
    pub(crate) fn place(&self) -> &str {
        let last = || self.witness.as_ref().and_then(|witness| witness.steps.last()).map_or("", |step| step.at.as_str());
        if self.at.is_empty() { last() } else { &self.at }
    }

    /// The sentence with its location and details, then the counterexample.
    pub fn story(&self) -> String {
        let mut out = self.sentence();
        if !self.at.is_empty() {
            let _ = write!(out, " ({})", self.at);
        }
        out.push('\n');
        if let Some(detail) = &self.detail {
            let _ = writeln!(out, "{detail}");
        }
        match &self.witness {
            Some(witness) => {
                let _ = write!(out, "{witness}");
            }
            None if self.kind == Kind::Cover => {}
            None => out.push_str("there was too little memory left to find the way there\n"),
        }
        out
    }
}

impl fmt::Display for WitnessReport {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "witness of {} {}", self.length, if self.length == 1 { "step" } else { "steps" })?;
        writeln!(out, "  start {}", self.start)?;
        for line in self.start_lines() {
            writeln!(out, "        {line}")?;
        }
        let told = self.told();
        for (index, step) in self.steps.iter().enumerate() {
            if !told(index) {
                if told(index.saturating_sub(1)) {
                    writeln!(out, "     … {} steps are left out here", (0..self.steps.len()).filter(|index| !told(*index)).count())?;
                }
                continue;
            }
            let at = if step.at.is_empty() { String::new() } else { format!("  {}", step.at) };
            writeln!(out, "  {:>4}. {}{at}", index + 1, step.rule)?;
            for line in step.lines() {
                writeln!(out, "        {line}")?;
            }
        }
        Ok(())
    }
}

impl WitnessReport {
    /// The start state, one line for each variable that has a value.
    pub(crate) fn start_lines(&self) -> Vec<String> {
        let defined = self.start_state.iter().filter(|(_, value)| value != UNDEFINED);
        let mut lines: Vec<String> = defined.map(|(path, value)| format!("{path}: {value}")).collect();
        let undefined = self.start_state.len() - lines.len();
        if lines.len() > LINES_TOLD {
            let more = lines.len() - LINES_TOLD;
            lines.truncate(LINES_TOLD);
            lines.push(format!("{more} other values"));
        }
        match undefined {
            0 => {}
            1 => lines.push("1 other value undefined".to_string()),
            undefined => lines.push(format!("{undefined} other values undefined")),
        }
        lines
    }

    /// The steps to show, by their index.
    pub(crate) fn told(&self) -> impl Fn(usize) -> bool + use<> {
        let steps = self.steps.len();
        move |index| steps <= STEPS_TOLD || index < STEPS_TOLD_FIRST || index >= steps - (STEPS_TOLD - STEPS_TOLD_FIRST)
    }
}

/// The text of an undefined value.
const UNDEFINED: &str = "undefined";

impl StepReport {
    /// The changes of the step, one line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        match &self.fault {
            Some(fault) => vec![format!("fails: {fault}")],
            None if self.changes.is_empty() => vec!["nothing changes".to_string()],
            None => self.changes.iter().map(Change::to_string).collect(),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        // An element of a bag is added or removed: it has no old and new value.
        let bag = self.path.trim_end_matches("{}");
        match (self.from.as_str(), self.to.as_str()) {
            (ABSENT, element) if bag != self.path => write!(out, "{bag} + {element}"),
            (element, ABSENT) if bag != self.path => write!(out, "{bag} - {element}"),
            (from, to) => write!(out, "{}: {from} → {to}", self.path),
        }
    }
}

impl CheckReport {
    /// The name of the check.
    pub fn label(&self) -> String {
        match self.kind {
            Kind::Deadlock | Kind::Fault => self.name.clone(),
            kind => format!("{kind} `{}`", self.name),
        }
    }
}

impl Report {
    /// The reason why a check is neither proved nor violated.
    pub(crate) fn why_open(&self, check: &CheckReport) -> String {
        let why = match self.stop {
            Stop::Violations => {
                format!("the run ended at another violation: {}", self.violations.first().map_or_else(String::new, ViolationReport::sentence))
            }
            stop => format!("the run ended before everything was visited: {}", stop_words(stop)),
        };
        let states = format!("{} states were visited", self.states);
        match check.kind {
            Kind::Cover => format!("not reached so far: {why}; {states}"),
            _ => format!("not proved: {why}; {states} and nothing was found against it"),
        }
    }

    /// The conditions under which the report's verdicts hold, one line each.
    pub(crate) fn conditions(&self) -> Vec<String> {
        let assumed = self.assumed.then(|| "verdicts hold under the model's assumptions".to_string());
        let bounded = self.bounded.then(|| "verdicts hold within the model's boundary".to_string());
        let worst = self.confidence.as_ref().and_then(|confidence| confidence.headline()).filter(|worst| worst.tally.judged > 0);
        let audited = worst.map(|worst| {
            format!(
                "with 95 % confidence, at most {:.2} % of the random walks made after the search end in a state that was not visited; this bounds what such walks reach, not \
                 how many states there are",
                100.0 * worst.missing_at_most
            )
        });
        assumed.into_iter().chain(bounded).chain(audited).chain(self.symmetry_note.clone()).chain(self.remarks.iter().cloned()).collect()
    }
}

/// The reason why a run ended, as a clause.
pub fn stop_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Memory => "the memory budget is spent",
        Stop::Time => "the time is up",
        Stop::States => "the limit on states was reached",
        Stop::Steps => "the limit on steps was reached",
        Stop::Depth => "states at the depth limit were not expanded",
        Stop::Interrupted => "interrupted",
        Stop::Limit => "a limit of representation was met",
        Stop::Violations => "as many violations were found as were asked for",
        Stop::Accepted => "the omission probability of the samples is as small as was asked for",
        Stop::Confident => "most likely no state was omitted",
        Stop::Overhead => "states came back too often",
        Stop::Collisions => "nearly every state that was remembered pushed another out",
        Stop::Restarts => "as many restarts were made as were asked for",
        Stop::Exhausted => "nothing is left to expand, but the store may have taken new states for known ones or forgotten some",
    }
}
