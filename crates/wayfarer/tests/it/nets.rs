//! Nets of the Model Checking Contest: markings and firings, by machine code and by interpretation. The corpus is not part of the project: without
//! `WAYFARER_CORPUS` this says that it did not run.

use std::path::PathBuf;
use wayfarer::memory::Budget;
use wayfarer::search::{Deadlock, Unbounded};
use wayfarer::{LoadOptions, Plan, StrategySpec, open};

/// Up to this many markings a net is interpreted, too.
const INTERPRETED: u64 = 200_000;

#[test]
fn nets_of_the_contest_have_the_markings_and_firings_that_are_known() {
    let Some(folder) = std::env::var_os("WAYFARER_CORPUS").map(|corpus| PathBuf::from(corpus).join("pnml")) else {
        eprintln!("not run: WAYFARER_CORPUS does not point at a corpus");
        return;
    };
    let reference = std::fs::read_to_string(folder.join("reference.json")).expect("the corpus has its reference file");
    let reference: Vec<serde_json::Value> = serde_json::from_str(&reference).expect("a list");
    let mut differences = Vec::new();
    for entry in &reference {
        let file = folder.join(entry["file"].as_str().expect("a file"));
        let known = |name: &str| entry["known"][name].as_u64().expect("a number");
        let (states, fired) = (known("states"), known("transitions_fired"));
        for interpret in [false, true] {
            if interpret && states > INTERPRETED {
                continue;
            }
            let opened = open(file.to_str().expect("a plain path"), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
            let plan = Plan { strategy: StrategySpec::bfs(), deadlock: Some(Deadlock::Off), interpret, ..Plan::default() };
            let mut subject = opened.subject;
            let report = plan.check_widening(&mut subject, &Budget::new(8 << 30, 0), &mut Unbounded).unwrap_or_else(|error| panic!("{error}"));
            if (report.states, report.rules_fired, report.complete) != (states, fired, true) {
                differences.push(format!(
                    "{}: {} markings and {} firings, {states} and {fired} known",
                    file.display(),
                    report.states,
                    report.rules_fired
                ));
            }
        }
    }
    assert!(reference.len() > 50 && differences.is_empty(), "{}", differences.join("\n"));
}
