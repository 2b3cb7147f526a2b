//! Models that others wrote must be read. The corpus is not part of the project: without `WAYFARER_CORPUS` these tests say that
//! they did not run.

use std::path::{Path, PathBuf};
use wayfarer_lang::murphi;
use wayfarer_lang::source::Source;

/// The corpus folder, or `None` with a message on the console.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("WAYFARER_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("not run: WAYFARER_CORPUS does not point at a corpus");
    }
    folder
}

fn entries(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("the corpus has its reference file");
    serde_json::from_str(&text).expect("the reference file is a list")
}

/// Reads every listed file and checks that those for which `accepted` holds have no errors.
fn check(folder: &Path, reference: &str, accepted: impl Fn(&serde_json::Value) -> bool) {
    let mut refused = String::new();
    let mut count = 0;
    for entry in entries(&folder.join(reference)) {
        let file = entry["file"].as_str().expect("an entry names its file");
        let bytes = std::fs::read(folder.join(file)).expect("the listed file is there");
        let source = Source::from_bytes(file, &bytes);
        let (_, diagnostics) = murphi::parse(&source);
        count += 1;
        let rendered = diagnostics.render(&source, false);
        if accepted(&entry) && diagnostics.has_errors() {
            refused.push_str(&rendered);
        } else if std::env::var_os("WAYFARER_SHOW").is_some() {
            eprint!("{rendered}");
        }
    }
    assert!(count > 0, "the reference file is empty");
    assert!(refused.is_empty(), "files that other tools accept were refused:\n{refused}");
}

#[test]
fn models_from_public_repositories() {
    let Some(corpus) = corpus() else { return };
    check(&corpus.join("murphi"), "reference.json", |entry| entry["outcome_nosym"] != "rejected");
}

#[test]
fn language_tests_of_rumur() {
    let Some(corpus) = corpus() else { return };
    check(&corpus.join("murphi-language"), "expectations.json", |entry| entry["expect_accept"] == true);
}

/// Errors of syntax must be found here; errors of types are the elaborator's.
#[test]
fn wrong_syntax_is_refused() {
    let Some(corpus) = corpus() else { return };
    let wrong = [
        ("murphi", "bel-queen.m"),
        ("murphi", "cm-probrules-prob_turbogas-prob_turbogas.m"),
        ("murphi", "pb-consensus.m"),
        ("murphi", "pb-consensus_inv1.m"),
        ("murphi", "pb-paxos.m"),
        ("murphi", "pb-shard.m"),
        ("murphi-language", "boolean-shadow.m"),
        ("murphi-language", "liveness-statement.m"),
        ("murphi-language", "octal-literal.m"),
        ("murphi-language", "section-order9.m"),
        ("murphi-language", "string-escape1.m"),
    ];
    for (folder, file) in wrong {
        let bytes = std::fs::read(corpus.join(folder).join(file)).expect("the file is there");
        let (_, diagnostics) = murphi::parse(&Source::from_bytes(file, &bytes));
        assert!(diagnostics.has_errors(), "{file} was accepted");
    }
}
