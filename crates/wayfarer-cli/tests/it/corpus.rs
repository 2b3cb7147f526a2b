//! `wayfarer corpus` over folders with recorded results.

use crate::models::*;
use crate::{Folder, wayfarer};

#[test]
fn agreement_and_differences_are_counted() {
    let folder = Folder::new();
    for (name, text) in [("counter.m", COUNTER), ("violated.m", VIOLATED), ("big.m", BIG), ("wrong.m", TWO_MISTAKES)] {
        folder.file(name, text);
    }
    let reference = |states: u32| {
        format!(
            r#"[{{"file":"counter.m","outcome_nosym":"holds","states_nosym":{states},"rules_nosym":6,"features":[]}},
                {{"file":"violated.m","outcome_nosym":"invariant","features":[]}},
                {{"file":"big.m","outcome_nosym":"unfinished","states_at_least":500,"features":[]}},
                {{"file":"wrong.m","outcome_nosym":"rejected","features":[]}}]"#
        )
    };
    folder.file("reference.json", reference(4));
    wayfarer(&["corpus", &folder.path("")]).exits(0).prints("4 agree, 0 differ, 0 skipped\n");
    folder.file("reference.json", reference(5));
    let done = wayfarer(&["corpus", &folder.path(""), "--quiet"]).exits(1).prints("differs  counter.m");
    assert_eq!(done.out.lines().count(), 2, "{}", done.out);
    let known = folder.file("known.txt", "# known\ncounter.m counts otherwise\n");
    wayfarer(&["corpus", &folder.path(""), "--known", &known])
        .exits(0)
        .prints("counts otherwise")
        .prints("3 agree, 0 differ, 0 skipped, 1 known to differ\n");
    wayfarer(&["corpus", &folder.path(""), "--only", "no such model"]).exits(2).complains("--only");
    wayfarer(&["corpus", &folder.path(""), "--only", "counter", "--limit-states", "2"]).exits(0).prints("0 agree, 0 differ, 1 skipped\n");
    assert_eq!(wayfarer(&["corpus", &folder.path(""), "--json"]).exits(1).json()["models"].as_array().unwrap().len(), 4);
}

#[test]
fn expectations_carry_flags() {
    let folder = Folder::new();
    folder.file("stutters.m", STUTTERS);
    folder.file("wrong.m", TWO_MISTAKES);
    folder.file(
        "expectations.json",
        r#"[{"file":"stutters.m","expect_accept":true,"expect_verdict":"violated","states":null,"rules":null,"directives":{}},
            {"file":"stutters.m","expect_accept":true,"expect_verdict":"holds","states":3,"rules":3,"directives":{"rumur_flags":["--deadlock-detection","stuck"]}},
            {"file":"wrong.m","expect_accept":false,"expect_verdict":null,"states":null,"rules":null,"directives":{"rumur_exit_code":1}}]"#,
    );
    wayfarer(&["corpus", &folder.path("")]).exits(0).prints("3 agree, 0 differ, 0 skipped\n");
}

#[test]
fn models_may_say_themselves_what_is_expected() {
    let folder = Folder::new();
    folder.file("counter.m", format!("-- verdict: holds\n-- states: 4\n-- rules: 6\n{COUNTER}"));
    folder.file("violated.m", format!("-- verdict: violated\n-- violation: invariant \"below two\"\n-- witness: 3\n{VIOLATED}"));
    wayfarer(&["corpus", &folder.path("")])
        .exits(1)
        .prints("1 agree, 1 differ, 0 skipped\n")
        .prints("2 steps, expected a violation (invariant), 3 steps");
}

#[test]
fn a_folder_that_is_no_corpus_is_refused() {
    let folder = Folder::new();
    wayfarer(&["corpus", &folder.path("")]).exits(2).complains("neither a reference.json nor an expectations.json");
    wayfarer(&["corpus", &folder.path("missing")]).exits(2).complains("is not a folder");
    folder.file("reference.json", "[{}]");
    wayfarer(&["corpus", &folder.path("")]).exits(2).complains("entry 1");
    // Nothing was compared, which must not look as if all agreed.
    folder.file("reference.json", "[]");
    wayfarer(&["corpus", &folder.path("")]).exits(2).complains("no results that can be compared");
}
