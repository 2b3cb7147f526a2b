//! Reports as JUnit XML, the format in which continuous integration reads tests: the model is a suite, and each check
//! a case.
//!
//! A case passes only if its check is proved. A check that the budget left open is skipped, with the reason; with
//! `exhaustive` it fails. The elements and attributes are those that PHPUnit writes and Jenkins, GitLab and the
//! actions for GitHub read. Times of single cases are left out, since one search decides all of them.

use super::{CheckVerdict, Kind};
use crate::place::Place;
use crate::{CheckReport, Finding, Outlet, Report, ViolationReport};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use wayfarer_search::Verdict;

/// The number of violations of one check that are described in full.
const STORIES_TOLD: usize = 10;

impl Report {
    /// The report as JUnit XML.
    pub fn junit(&self) -> String {
        let mut cases = String::new();
        let (mut failures, mut skipped) = (0, 0);
        for check in &self.checks {
            let outcome = self.outcome(check);
            match outcome {
                Case::Passed => {}
                Case::Skipped(_) => skipped += 1,
                Case::Failed(_) => failures += 1,
            }
            let first = check.violations.first().and_then(|index| self.violations.get(*index)).map_or("", ViolationReport::place);
            let at = if check.at.is_empty() { first } else { &check.at };
            case(&mut cases, &self.model, &check.label(), at, &outcome);
        }
        // Violations that belong to no check must not get lost.
        let claimed = |index: usize| self.checks.iter().any(|check| check.violations.contains(&index));
        let unclaimed: Vec<&ViolationReport> = self.violations.iter().enumerate().filter(|(index, _)| !claimed(*index)).map(|(_, one)| one).collect();
        for violation in &unclaimed {
            failures += 1;
            case(&mut cases, &self.model, &violation.name, violation.place(), &Case::Failed(self.bad(&[violation])));
        }
        let counts = Counts { tests: self.checks.len() + unclaimed.len(), failures, errors: 0, skipped };
        let mut inside = String::new();
        inside.push_str("    <properties>\n");
        let depth = self.depth.map(|depth| depth.to_string());
        for (name, value) in [
            ("verdict", Some(self.verdict.to_string())),
            ("stop", Some(self.stop.to_string())),
            ("states", Some(self.states.to_string())),
            ("rules_fired", Some(self.rules_fired.to_string())),
            ("depth", depth),
            ("strategy", Some(self.strategy.clone())),
            ("store", Some(self.store.clone())),
            ("seed", Some(self.seed.to_string())),
            ("threads", Some(self.threads.to_string())),
            ("repeat", self.again.clone()),
        ] {
            if let Some(value) = value {
                let _ = writeln!(inside, "      <property name={} value={}/>", attribute(name), attribute(&value));
            }
        }
        inside.push_str("    </properties>\n");
        inside.push_str(&cases);
        let conditions = self.conditions();
        if !conditions.is_empty() {
            let _ = writeln!(inside, "    <system-out>{}</system-out>", text(&conditions.join("\n")));
        }
        document(&self.model, &counts, Some(self.seconds), &inside)
    }

    /// The outcome of a check's case.
    fn outcome(&self, check: &CheckReport) -> Case {
        let violations: Vec<&ViolationReport> = check.violations.iter().filter_map(|index| self.violations.get(*index)).collect();
        match check.verdict {
            CheckVerdict::NotJudged if matches!(check.kind, Kind::Liveness | Kind::Claim) => {
                Case::Skipped("not judged: Wayfarer does not judge properties of whole runs yet".to_string())
            }
            CheckVerdict::NotJudged => Case::Skipped("not judged: it was left out on request".to_string()),
            CheckVerdict::Judged(Verdict::Holds) => Case::Passed,
            CheckVerdict::Judged(Verdict::Violated) if violations.is_empty() => {
                Case::Failed(Bad { kind: check.kind.to_string(), message: format!("{} does not hold", check.label()), story: String::new() })
            }
            CheckVerdict::Judged(Verdict::Violated) => Case::Failed(self.bad(&violations)),
            _ if self.exhaustive && self.verdict == Verdict::NotFound => {
                Case::Failed(Bad { kind: "not-proved".to_string(), message: self.why_open(check), story: String::new() })
            }
            _ => Case::Skipped(self.why_open(check)),
        }
    }

    /// The violations, and the line that repeats the run.
    fn bad(&self, violations: &[&ViolationReport]) -> Bad {
        let more = violations.len().saturating_sub(STORIES_TOLD);
        let stories = violations.iter().take(STORIES_TOLD).map(|violation| violation.story());
        let others = (more > 0).then(|| format!("and {more} more against the same\n"));
        let repeat = self.again.iter().map(|again| format!("repeat it with: {again}\n"));
        let (kind, message) = violations.first().map_or_else(Default::default, |first| (first.kind.to_string(), first.sentence()));
        Bad { kind, message, story: stories.chain(others).chain(repeat).collect() }
    }

    /// Writes the report to a file as JUnit XML, whole or not at all.
    pub fn write_junit(&self, path: impl AsRef<Path>) -> io::Result<()> {
        Outlet::new(path)?.write(&self.junit())
    }
}

/// JUnit XML for a run that could not be carried out: one case that ends in an error.
pub fn junit_failure(model: &str, message: &str, findings: &[Finding]) -> String {
    let mut inside = String::new();
    let at = findings.first().map_or("", |finding| finding.at.as_str());
    let bad = Bad { kind: "model".to_string(), message: first_line(message), story: told(message, findings) };
    element(&mut inside, model, "the model can be checked", at, Some(("error", &bad)));
    document(model, &Counts { tests: 1, failures: 0, errors: 1, skipped: 0 }, None, &inside)
}

/// The text of the diagnostics, or the message if there are none.
fn told(message: &str, findings: &[Finding]) -> String {
    match findings {
        [] => message.to_string(),
        _ => findings.iter().map(|finding| format!("{finding}\n")).collect(),
    }
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_string()
}

/// The outcome of a case.
enum Case {
    Passed,
    Skipped(String),
    Failed(Bad),
}

struct Bad {
    kind: String,
    message: String,
    story: String,
}

struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

fn document(model: &str, counts: &Counts, seconds: Option<f64>, inside: &str) -> String {
    let Counts { tests, failures, errors, skipped } = counts;
    let seconds = seconds.map_or_else(String::new, |seconds| format!(" time=\"{seconds:.3}\""));
    let numbers = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"{seconds}");
    let name = attribute(model);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"wayfarer\" {numbers}>\n  <testsuite name={name} {numbers}>\n{inside}  </testsuite>\n</testsuites>\n"
    )
}

fn case(out: &mut String, model: &str, name: &str, at: &str, outcome: &Case) {
    match outcome {
        Case::Passed => element(out, model, name, at, None),
        Case::Skipped(why) => {
            element(out, model, name, at, Some(("skipped", &Bad { kind: String::new(), message: why.clone(), story: String::new() })))
        }
        Case::Failed(bad) => element(out, model, name, at, Some(("failure", bad))),
    }
}

fn element(out: &mut String, model: &str, name: &str, at: &str, child: Option<(&str, &Bad)>) {
    // Readers take the text before the last dot for a package, so a file's extension must not come last.
    let stem = model.rsplit_once('.').map_or(model, |(stem, extension)| if extension.contains('/') { model } else { stem });
    let class = stem.replace(['/', '\\'], ".");
    let _ = write!(out, "    <testcase name={} classname={}", attribute(name), attribute(class.trim_start_matches('.')));
    let place = Place::parse(if at.is_empty() { model } else { at });
    if let Some(place) = place
        && let Some(path) = place.path()
    {
        let _ = write!(out, " file={} line=\"{}\"", attribute(&path), place.line.unwrap_or(1));
    }
    let Some((tag, bad)) = child else {
        out.push_str("/>\n");
        return;
    };
    let kind = if bad.kind.is_empty() { String::new() } else { format!(" type={}", attribute(&bad.kind)) };
    let message = attribute(&bad.message);
    let _ = match bad.story.is_empty() {
        true => write!(out, ">\n      <{tag} message={message}{kind}/>\n    </testcase>\n"),
        false => write!(out, ">\n      <{tag} message={message}{kind}>{}</{tag}>\n    </testcase>\n", text(&bad.story)),
    };
}

/// A quoted attribute value. Line ends and tabs are kept; a reader would otherwise turn them into blanks.
fn attribute(value: &str) -> String {
    format!("\"{}\"", escaped(value, true))
}

fn text(value: &str) -> String {
    escaped(value, false)
}

/// XML cannot represent most control characters, not even escaped: they are shown as Rust writes them.
fn escaped(value: &str, attribute: bool) -> String {
    let mut out = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\n' | '\t' if attribute => {
                let _ = write!(out, "&#{};", letter as u32);
            }
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_say_is_shown() {
        assert_eq!(text("a<b & c>\"\u{1}\u{7f}\u{ffff}\r\n]]>"), "a&lt;b &amp; c&gt;\"\\u{1}\\u{7f}\\u{ffff}&#13;\n]]&gt;");
        assert_eq!(attribute("a\"b\n\t'"), "\"a&quot;b&#10;&#9;'\"");
    }
}
