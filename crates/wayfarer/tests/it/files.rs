//! JUnit and SARIF files of Rust models, which have no file of their own: locations are those of properties and
//! panics.

use serde_json::Value;
use wayfarer::prelude::*;

/// Counts up to `end`, and fails at three in the way it is told to.
struct Counter {
    end: u8,
    trouble: Trouble,
}

#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    None,
    Stops,
    Panics,
    Bad,
}

impl Model for Counter {
    type State = u8;
    type Action = &'static str;

    fn initial(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, state: &u8, actions: &mut Vec<&'static str>) {
        if *state < 3 || self.trouble != Trouble::Stops {
            actions.push("count");
        }
    }

    fn next(&self, state: &u8, _: &&'static str) -> Option<u8> {
        assert!(*state < 3 || self.trouble != Trouble::Panics, "cannot count beyond three");
        Some((state + 1) % 100)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.never("is bad", |model, state| *state == 3 && model.trouble == Trouble::Bad);
        properties.sometimes("gets to three", |_, state| *state == 3);
    }

    fn within_boundary(&self, state: &u8) -> bool {
        *state <= self.end
    }
}

fn files(model: Counter) -> (Report, String, Value) {
    let report = Plan::packed(model).deadlock("stuck").run().unwrap_or_else(|error| panic!("{error}"));
    let (junit, sarif) = (report.junit(), report.sarif());
    (report, junit, serde_json::from_str(&sarif).unwrap_or_else(|error| panic!("{error}: {sarif}")))
}

/// The line of the only result, which is in this file.
#[track_caller]
fn line(sarif: &Value) -> u64 {
    let [result] = sarif["runs"][0]["results"].as_array().map(Vec::as_slice).unwrap_or_default() else { panic!("{sarif:#}") };
    let place = &result["locations"][0]["physicalLocation"];
    for stop in result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().into_iter().flatten() {
        assert!(stop["location"]["physicalLocation"]["artifactLocation"]["uri"].is_string(), "{sarif:#}");
    }
    // Relative to the repository, or to the package if there is none.
    assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("tests/it/files.rs") && !uri.starts_with("file:")), "{place}");
    place["region"]["startLine"].as_u64().unwrap_or_default()
}

fn line_of(text: &str) -> u64 {
    (1..).zip(include_str!("files.rs").lines()).find(|(_, line)| line.contains(text)).map_or(0, |(number, _)| number)
}

#[test]
fn a_violated_property_is_shown_where_it_was_named() {
    let (report, junit, sarif) = files(Counter { end: 9, trouble: Trouble::Bad });
    report.assert_violated("is bad");
    let named = line_of("properties.never(");
    assert_eq!(line(&sarif), named);
    assert!(junit.contains(&format!("tests/it/files.rs\" line=\"{named}\"")), "{junit}");
    assert!(junit.contains("`is bad` holds in a reachable state, and must in none") && junit.contains("witness of 3 steps"), "{junit}");
    assert!(junit.contains("repeat it with: Plan::packed(Counter)"), "{junit}");
}

#[test]
fn a_panic_is_shown_where_it_happens() {
    let (report, junit, sarif) = files(Counter { end: 9, trouble: Trouble::Panics });
    report.assert_violated("cannot count beyond three");
    assert_eq!(line(&sarif), line_of("cannot count beyond three"));
    assert!(junit.contains("<testcase name=\"no rule fails\"") && junit.contains("type=\"fault\""), "{junit}");
}

#[test]
fn a_deadlock_is_shown_at_a_property() {
    let (report, _, sarif) = files(Counter { end: 9, trouble: Trouble::Stops });
    report.assert_violated("deadlock");
    assert_eq!(line(&sarif), line_of("properties.never("));
}

#[test]
fn a_proof_says_within_what() {
    let (report, junit, sarif) = files(Counter { end: 9, trouble: Trouble::None });
    report.assert_holds();
    assert!(junit.contains("failures=\"0\" errors=\"0\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("<system-out>verdicts hold within the model's boundary<"), "{junit}");
    assert!(sarif["runs"][0]["results"].as_array().is_some_and(Vec::is_empty));
    let (_, junit, sarif) = files(Counter { end: 2, trouble: Trouble::None });
    assert!(junit.contains("cover `gets to three` was never reached"), "{junit}");
    assert_eq!(line(&sarif), line_of("properties.sometimes("));
}
