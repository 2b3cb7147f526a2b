//! Promela models of others against the counts of SPIN: those of `raw_o123_noclaim`, which are those of the plain semantics.

use crate::promela_explore::by_program;
use wayfarer_lang::promela::read;
use wayfarer_lang::source::Source;

/// Larger ones are left to `wayfarer corpus`.
const MOST: u64 = 4_000;

#[test]
fn small_models_of_the_corpus_have_the_counts_of_spin() {
    let Ok(corpus) = std::env::var("WAYFARER_CORPUS") else {
        println!("not run: WAYFARER_CORPUS is not set");
        return;
    };
    let folder = std::path::Path::new(&corpus).join("promela");
    let Ok(text) = std::fs::read_to_string(folder.join("reference.json")) else {
        println!("not run: there is no promela/reference.json");
        return;
    };
    let entries: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for entry in entries.as_array().unwrap() {
        let reference = &entry["raw_o123_noclaim"];
        let (Some(true), Some(stored)) = (reference["complete"].as_bool(), reference["stored"].as_u64()) else { continue };
        let file = entry["file"].as_str().unwrap();
        // Priorities of processes are not supported.
        if stored > MOST || file == "spin_rtos1.pml" {
            continue;
        }
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let source = Source::from_bytes(file, &bytes);
        let (model, diagnostics) = read(&source, &[], &|_| None);
        let model = model.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
        let counts = by_program(&model, 2 * MOST as usize);
        assert_eq!(counts.states as u64, stored, "{file}");
        // SPIN counts the start as a transition.
        assert_eq!(counts.steps + 1, reference["transitions"].as_u64().unwrap(), "{file}");
        compared += 1;
    }
    assert!(compared >= 14, "only {compared} models compared");
}
