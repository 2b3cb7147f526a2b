//! Reports as SARIF 2.1.0, the format in which code scanning reads findings: each violation with its location, and
//! its counterexample as a code flow.
//!
//! Only violations are results: some readers show every result as an alert, whatever its kind. A check that the
//! budget left open is a notification; with `exhaustive` it is a result.
//!
//! The standard: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020.

use crate::place::{Place, uri};
use crate::{Finding, Outlet, Report, ViolationReport, WitnessReport};
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;
use wayfarer_search::Verdict;

/// Every kind of result: its name, its meaning, and its severity.
const RULES: [(&str, &str, &str); 11] = [
    ("invariant", "A reachable state violates an invariant", "error"),
    ("never", "A reachable state satisfies what must never hold", "error"),
    ("deadlock", "A reachable state has no way out", "error"),
    ("assertion", "An assertion can fail", "error"),
    ("error", "An error statement can be reached", "error"),
    ("fault", "A rule can fail: a value leaves its range, an undefined value is used, an index is out of bounds, or the like", "error"),
    ("cover", "What should be possible never happens", "error"),
    ("found", "A state that was looked for can be reached", "note"),
    ("rule", "A rule that was looked for can fire", "note"),
    ("not-proved", "The budget ended before this was proved", "warning"),
    ("model", "The model cannot be read", "error"),
];

/// Code scanning refuses files with very many results, and nobody reads them.
const MOST_RESULTS: usize = 1000;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Report {
    /// The report as a SARIF log of one run.
    pub fn sarif(&self) -> String {
        let mut results: Vec<Value> = self.violations.iter().take(MOST_RESULTS).map(|violation| self.violated(violation)).collect();
        let mut notes: Vec<Value> = self.conditions().iter().map(|condition| notification("note", condition, None)).collect();
        if self.violations.len() > MOST_RESULTS {
            notes.push(notification("note", &format!("{} further violations are left out", self.violations.len() - MOST_RESULTS), None));
        }
        for check in &self.checks {
            if check.verdict.is_violated() && check.violations.is_empty() {
                // There are more violations than were requested, and it is not about a state.
                let message = format!("{} does not hold", check.label());
                results.push(result(check.kind.word(), &message, &self.places(&check.at), &check.name));
            }
            if check.verdict.is_open() {
                let message = format!("{}: {}", check.label(), self.why_open(check));
                match self.exhaustive && self.verdict == Verdict::NotFound {
                    true => results.push(result("not-proved", &message, &self.places(&check.at), &check.name)),
                    false => notes.push(notification("warning", &message, location(&check.at))),
                }
            }
        }
        let mut invocation = json!({ "executionSuccessful": true, "toolExecutionNotifications": notes });
        if let Some(again) = &self.again {
            invocation["commandLine"] = json!(again);
        }
        let figures = json!({
            "verdict": self.verdict.word(), "stop": self.stop.word(), "complete": self.complete, "states": self.states, "rulesFired": self.rules_fired,
            "strategy": self.strategy, "store": self.store, "seed": self.seed,
        });
        log(&self.model, results, invocation, Some(figures))
    }

    /// Writes the report to a file as SARIF, whole or not at all.
    pub fn write_sarif(&self, path: impl AsRef<Path>) -> io::Result<()> {
        Outlet::new(path)?.write(&self.sarif())
    }

    fn violated(&self, violation: &ViolationReport) -> Value {
        let mut message = violation.story();
        if let Some(again) = &self.again {
            message.push_str(&format!("repeat it with: {again}\n"));
        }
        let places = self.places(violation.place());
        let mut result = result(violation.kind.word(), message.trim_end(), &places, &violation.name);
        if let Some(witness) = &violation.witness {
            result["codeFlows"] = json!([flow(witness, &places)]);
        }
        result
    }

    /// The locations at which a result can be shown, the best first. Code scanning refuses a file with a result
    /// without a location, and an action of a Rust model has none: it is shown at a property of the model.
    fn places<'a>(&'a self, best: &'a str) -> Vec<&'a str> {
        [best, self.model.as_str()].into_iter().chain(self.checks.iter().map(|check| check.at.as_str())).collect()
    }
}

/// A SARIF log for a run that could not be carried out: diagnostics about the model are results, anything else is a
/// notification.
pub fn sarif_failure(model: &str, message: &str, findings: &[Finding]) -> String {
    let results =
        findings.iter().filter(|finding| finding.error).map(|finding| result("model", &finding.text(), &[&finding.at, model], &finding.message));
    let told = if findings.is_empty() { message } else { "the model cannot be read" };
    let notes = json!([notification("error", told, location(model))]);
    log(model, results.collect(), json!({ "executionSuccessful": false, "toolExecutionNotifications": notes }), None)
}

fn log(model: &str, results: Vec<Value>, invocation: Value, figures: Option<Value>) -> String {
    let rules = RULES.iter().map(|(id, meaning, level)| {
        json!({ "id": id, "shortDescription": { "text": meaning }, "fullDescription": { "text": meaning }, "defaultConfiguration": { "level": level } })
    });
    // Several models of one repository are several analyses: with one name the last would replace the others.
    let name = Place::parse(model).and_then(|place| place.path()).unwrap_or_else(|| model.to_string());
    let mut run = json!({
        "tool": { "driver": {
            "name": "Wayfarer",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.collect::<Vec<_>>(),
        } },
        "automationDetails": { "id": format!("wayfarer/{}/", name.trim_start_matches('/')) },
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    });
    if let Some(figures) = figures {
        run["properties"] = figures;
    }
    format!("{:#}\n", json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

/// A result at the first valid location.
fn result(kind: &str, message: &str, places: &[&str], name: &str) -> Value {
    let mut result = json!({ "ruleId": kind });
    if let Some((index, (_, _, level))) = RULES.iter().enumerate().find(|(_, (id, ..))| *id == kind) {
        result["ruleIndex"] = json!(index);
        result["level"] = json!(level);
    }
    result["message"] = json!({ "text": message });
    result["locations"] = Value::Array(places.iter().find_map(|at| location(at)).into_iter().collect());
    // The key by which later runs are compared: a violation stays the same when lines move.
    result["partialFingerprints"] = json!({ "checked/v1": format!("{kind}: {name}") });
    result
}

fn notification(level: &str, message: &str, location: Option<Value>) -> Value {
    let mut object = json!({ "level": level, "message": { "text": message } });
    if let Some(location) = location {
        object["locations"] = json!([location]);
    }
    object
}

/// A location; `None` if it is in no file.
fn location(at: &str) -> Option<Value> {
    let place = Place::parse(at)?;
    let mut region = json!({ "startLine": place.line.unwrap_or(1) });
    if let Some(column) = place.column {
        region["startColumn"] = json!(column);
    }
    Some(json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&place.path()?) }, "region": region } }))
}

/// The counterexample: the start state with its values, and each step with its changes.
fn flow(witness: &WitnessReport, places: &[&str]) -> Value {
    // A start state is shown at the model, if that is a file.
    let start_places: Vec<&str> = places.iter().skip(1).chain(places).copied().collect();
    let start = format!("start {}\n{}", witness.start, witness.start_lines().join("\n"));
    let mut steps =
        vec![stop(0, start.trim_end(), "", &start_places, witness.start_state.iter().map(|(path, value)| (path.as_str(), value.as_str())))];
    let told = witness.told();
    for (index, step) in witness.steps.iter().enumerate().filter(|(index, _)| told(*index)) {
        let message = format!("{}. {}\n{}", index + 1, step.rule, step.lines().join("\n"));
        let after = step.changes.iter().map(|change| (change.path.as_str(), change.to.as_str()));
        steps.push(stop(index + 1, &message, &step.at, places, after));
    }
    json!({ "message": { "text": format!("witness of {} steps", witness.length) }, "threadFlows": [{ "locations": steps }] })
}

/// One location of a flow: the event, its position, and the values after it.
fn stop<'a>(order: usize, message: &str, at: &str, places: &[&str], values: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let mut place = location(at).or_else(|| places.iter().find_map(|at| location(at))).unwrap_or_else(|| json!({}));
    place["message"] = json!({ "text": message });
    let state: Map<String, Value> = values.map(|(path, value)| (path.to_string(), json!({ "text": value }))).collect();
    json!({ "executionOrder": order, "location": place, "state": state })
}
