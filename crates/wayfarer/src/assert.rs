//! A report as text, and assertions for tests.

use crate::{Kind, Report, sizes, stop_words};
use std::fmt;
use wayfarer_search::{Stop, Verdict};

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Violated if self.sought => "found".to_string(),
            Verdict::Holds if self.sought => "unreachable: what was looked for is in no reachable state".to_string(),
            Verdict::Holds => "holds: every reachable state was visited and none is bad".to_string(),
            Verdict::Violated => "violated".to_string(),
            Verdict::NotFound => format!("not found: nothing is wrong so far, but not everything was visited ({})", stop_words(self.stop)),
        };
        writeln!(out, "{}: {verdict}", self.model)?;
        for condition in self.conditions() {
            writeln!(out, "  {condition}")?;
        }
        for violation in &self.violations {
            writeln!(out, "{}", violation.story().trim_end())?;
        }
        let about = if self.states_error > 0.0 { "about " } else { "" };
        let depth = self.depth.map_or_else(String::new, |depth| format!(", depth {depth}"));
        let counted = |count, what| format!("{} {what}{}", sizes::count(count), if count == 1 { "" } else { "s" });
        let orbits = if self.symmetry { " up to symmetry" } else { "" };
        let (states, steps, seconds) = (counted(self.states, "state"), counted(self.steps, "step"), sizes::seconds(self.seconds));
        writeln!(out, "{about}{states}{orbits}, {steps}{depth}, {seconds}, {} at most", sizes::bytes(self.peak_memory_bytes))?;
        for check in self.checks.iter().filter(|check| check.kind == Kind::Cover && check.verdict.is_open()) {
            writeln!(out, "not reached so far: {}", check.label())?;
        }
        match &self.again {
            Some(again) if self.repeatable || matches!(self.stop, Stop::Time | Stop::Interrupted) && self.threads == 1 => {
                writeln!(out, "to repeat exactly this run: {again}")
            }
            Some(again) => writeln!(out, "to run it again: {again}"),
            None => Ok(()),
        }
    }
}

impl Report {
    /// Fails unless every reachable state was visited and nothing is violated.
    ///
    /// # Panics
    /// With the report, its witness and the line that repeats the run.
    #[track_caller]
    pub fn assert_holds(&self) {
        assert!(self.holds(), "the model should hold\n{self}");
    }

    /// Fails unless this is violated: a property, `"deadlock"`, or a fault by a part of its message.
    ///
    /// # Panics
    /// With the report and the line that repeats the run.
    #[track_caller]
    pub fn assert_violated(&self, name: &str) {
        let meant = self.violations.iter().any(|violation| violation.name == name || violation.kind == Kind::Fault && violation.name.contains(name));
        if !meant {
            let known: Vec<&str> = self.checks.iter().filter(|check| check.name != name).map(|check| check.name.as_str()).collect();
            let unknown = self.checks.iter().all(|check| check.name != name);
            let hint = if unknown && name != "deadlock" {
                format!("\nthere is no property `{name}`; there are: {}", known.join(", "))
            } else {
                String::new()
            };
            panic!("`{name}` should be violated\n{self}{hint}");
        }
    }

    /// Fails unless every reachable state was visited, whatever was found.
    ///
    /// # Panics
    /// With the report and the line that repeats the run.
    #[track_caller]
    pub fn assert_complete(&self) {
        assert!(self.complete, "every reachable state should be visited\n{self}");
    }
}
