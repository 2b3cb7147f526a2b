//! The Promela models of `models/promela`, each headed by its verdict and counts, on the machine and on the interpreted program.

use crate::promela_explore::{Counts, by_machine, by_program, model};
use std::path::{Path, PathBuf};

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "pml"));
    paths.sort();
    paths
}

fn header(text: &str, key: &str) -> String {
    let prefix = format!("// {key}: ");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_else(|| panic!("no `{key}`")).to_string()
}

#[test]
fn every_model_keeps_the_promise_of_its_header() {
    let paths = models();
    assert!(paths.len() >= 8);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let (states, rules) = (header(&text, "states").parse().unwrap(), header(&text, "rules").parse().unwrap());
        let is_bad = header(&text, "verdict") == "violated";
        header(&text, "why");
        let model = model(&path.to_string_lossy(), &text);
        for (way, counts) in [("machine", by_machine(&model, 100_000)), ("program", by_program(&model, 100_000))] {
            let Counts { states: found, steps, faults, deadlocks } = counts;
            assert_eq!((found, steps), (states, rules), "{} on the {way}", path.display());
            assert_eq!(faults + deadlocks > 0, is_bad, "{} on the {way}", path.display());
        }
    }
}
