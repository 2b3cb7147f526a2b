//! Reports as Markdown, for the summary of a job or a comment on a change.

use super::{CheckVerdict, Finding, Report, stop_words};
use crate::sizes::{bytes, counted, seconds};
use std::fmt::Write as _;
use wayfarer_search::Verdict;

impl Report {
    /// The report as Markdown: the verdict, a table of the checks, the cost, and each witness behind a fold.
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}: {}\n\n", text(&self.model), word(CheckVerdict::Judged(self.verdict)));
        if self.verdict == Verdict::NotFound {
            let _ = writeln!(out, "Not every check is settled: {}.\n", stop_words(self.stop));
        }
        out.push_str("| check | verdict |\n|---|---|\n");
        for check in &self.checks {
            let _ = writeln!(out, "| {} | {} |", text(&check.label()), word(check.verdict));
        }
        let about = if self.states_error > 0.0 { "about " } else { "" };
        let (states, fired) = (counted(self.states, "state"), counted(self.rules_fired, "rule"));
        let (time, memory) = (seconds(self.seconds), bytes(self.peak_memory_bytes));
        let _ = writeln!(out, "\n{about}{states}, {fired} fired, {time}, {memory}\n");
        for condition in self.conditions() {
            let _ = writeln!(out, "- {}", text(&condition));
        }
        for violation in &self.violations {
            let summary = text(&violation.sentence());
            let _ = writeln!(out, "\n<details><summary>{summary}</summary>\n\n```text\n{}```\n\n</details>", violation.story().replace("```", "'''"));
        }
        out
    }
}

/// Markdown for a run that could not be carried out.
pub(super) fn failure(model: &str, message: &str, findings: &[Finding]) -> String {
    let told: String = match findings {
        [] => format!("{message}\n"),
        _ => findings.iter().map(|finding| format!("{finding}\n")).collect(),
    };
    format!("## {}: not checked\n\n```text\n{}```\n", text(model), told.replace("```", "'''"))
}

fn word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Judged(Verdict::Holds) => "✅ holds",
        CheckVerdict::Judged(Verdict::Violated) => "❌ violated",
        CheckVerdict::Judged(Verdict::NotFound) => "❔ open",
        CheckVerdict::NotJudged => "➖ not judged",
    }
}

/// Text that Markdown shows as it is, on one line.
fn text(plain: &str) -> String {
    let mut out = String::new();
    for letter in plain.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '\\' | '[' | ']' | '#' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_page() {
        assert_eq!(text("a|b <i> *x*\n_y_ & `z`"), "a\\|b &lt;i> \\*x\\* \\_y\\_ &amp; `z`");
        assert!(failure("m.m", "```\nbroken", &[]).ends_with("```text\n'''\nbroken\n```\n"));
    }
}
