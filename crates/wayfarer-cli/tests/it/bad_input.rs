//! No input of a user makes the program panic, and every message says what would be right.

use crate::models::*;
use crate::{Folder, check, program, wayfarer, wayfarer_with_input};
use std::process::Stdio;

#[test]
fn mistakes_in_a_model_are_shown_together_with_carets() {
    let done = check(TWO_MISTAKES, &[]).exits(2).complains("nowhere").complains("unknown").complains("model.m:3:").complains("model.m:4:");
    assert!(done.err.matches('^').count() >= 2, "{}", done.err);
    assert_eq!(done.out, "");
}

#[test]
fn files_that_are_no_models_are_refused() {
    let folder = Folder::new();
    let folder_path = folder.path("");
    for (argument, message) in [
        (folder.path("missing.m"), "there is no such file"),
        (folder_path, "it is a folder"),
        (folder.file("binary.m", [0x7f, b'E', b'L', b'F', 0, 0, 1]), "binary file"),
        (folder.file("empty.m", ""), "empty.m"),
        (folder.file("blank.m", "\n\n-- nothing here\n"), "blank.m"),
    ] {
        for command in ["check", "info", "simulate", "step"] {
            let done = wayfarer(&[command, &argument]).exits(2).complains(message);
            assert_eq!(done.out, "", "{command} {argument}");
        }
    }
}

#[test]
fn an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.file("secret.m", COUNTER);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read it in any case.
    if std::fs::read(&file).is_err() {
        wayfarer(&["check", &file]).exits(2).complains("permission denied");
    }
}

#[test]
fn a_model_without_a_start_state_is_explored_as_empty_with_a_warning() {
    check(NO_START, &[]).exits(0).prints("0 states").prints("the model has no start state");
    check("var x: boolean;\nrule \"a\" true ==> begin x := true; end;\n", &[]).exits(0).complains("start state");
}

#[test]
fn bad_values_are_refused_with_what_is_right() {
    for (arguments, message) in [
        (&["--memory", "lots"][..], "64M, 512MiB or 2G"),
        (&["--memory", "0"], "too small"),
        (&["--time", "soon"], "10m or 1h30m"),
        (&["--states", "0"], "from 1 on"),
        (&["--depth", "9G"], "the most is 4294967295"),
        (&["--seed", "x"], "from 0 to 18446744073709551615"),
        (&["--max-errors", "0"], "from 1 on"),
        (&["--const", "N"], "NodeCount=4"),
        (&["--const", "=4"], "NodeCount=4"),
        (&["--strategy", "dsf"], "did you mean `dfs`?"),
        (&["--store", "exakt"], "exact"),
        (&["--deadlock", "of"], "off, stuck or stuttering"),
        (&["--undefined", "lax"], "copy, strict"),
        (&["--stategy", "bfs"], "--strategy"),
        (&["one", "two"], "unexpected argument"),
    ] {
        let done = check(COUNTER, arguments).exits(2).complains(message);
        assert_eq!(done.out, "", "{arguments:?}");
    }
    wayfarer(&["chekc", "x.m"]).exits(2).complains("'check'");
    wayfarer(&[]).exits(2).complains("Usage");
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_panic() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    for arguments in [
        vec!["check", &file],
        vec!["check", &file, "--json"],
        vec!["info", &file],
        vec!["simulate", &file, "--steps", "1000"],
        vec!["--help"],
        vec!["man"],
    ] {
        let mut child = program().args(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)) && errors.is_empty(), "{arguments:?}: {:?} {errors}", output.status);
    }
}

#[test]
fn a_model_in_place_of_a_command_suggests_check() {
    let folder = Folder::new();
    let file = folder.file("model.m", COUNTER);
    let done = wayfarer(&[&file]).exits(2).complains(&format!("To check it: wayfarer check {file}"));
    assert!(!done.err.contains("similar subcommand"), "{}", done.err);
    wayfarer(&["no-such-thing"]).exits(2);
}

#[test]
fn a_full_disk_is_reported() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let folder = Folder::new();
    let file = folder.file("model.m", COUNTER);
    let output = program().args(["check", &file]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let done = check(VIOLATED, &["--witness", "/nowhere/trace.json"]).exits(3).complains("--witness cannot write");
    assert_eq!(done.out, "", "it is noticed before the run");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for depth in [100, 1_000, 100_000] {
        let model = format!("var x: boolean;\nstartstate begin x := {}true{}; end;\n", "(".repeat(depth), ")".repeat(depth));
        let done = wayfarer_with_input(&["check", "-", "--deadlock", "off"], &model);
        assert!(matches!(done.code, Some(0 | 2)), "{depth}: {:?} {}", done.code, done.err.chars().take(500).collect::<String>());
    }
    let recursion = "var x: boolean;\nfunction f(b: boolean): boolean; begin return f(!b); end;\nstartstate begin x := f(true); end;\n";
    let done = check(recursion, &[]);
    assert!(matches!(done.code, Some(1 | 2)), "{done:?}");
}

#[test]
fn what_would_run_away_is_refused_at_once() {
    let many = "type big: 0..999999999;\nvar x: boolean;\nstartstate begin x := false; end;\nruleset i: big do rule \"r\" true ==> begin x := !x; end; end;\n";
    check(many, &[]).exits(2);
    let large = "var x: array [0..999999999] of boolean;\nstartstate begin clear x; end;\nrule true ==> begin x[0] := !x[0]; end;\n";
    check(large, &[]).exits(2);
}

#[test]
fn help_teaches_and_is_no_error() {
    wayfarer(&["--help"]).exits(0).prints("Examples:").prints("wayfarer check german.m");
    wayfarer(&["check", "--help"]).exits(0).prints("Exit codes:").prints("--memory <SIZE>").prints("Budget:");
    let (short, long) = (wayfarer(&["check", "-h"]).exits(0), wayfarer(&["check", "--help"]).exits(0));
    assert!(short.out.len() * 3 / 2 < long.out.len());
    wayfarer(&["--version"]).exits(0).prints("wayfarer ");
}

#[test]
fn completions_and_man_pages_come_from_the_same_table() {
    for shell in ["bash", "zsh", "fish"] {
        let text = wayfarer(&["completions", shell]).exits(0).prints("exhaustive").prints("loop-limit");
        // The names of strategies, of stores and of experiments.
        text.prints("highway").prints("bitstate").prints("cover-models");
    }
    wayfarer(&["man"]).exits(0).prints(".TH wayfarer 1");
    wayfarer(&["man", "check"]).exits(0).prints("\\-\\-exhaustive").prints("Exit codes");
    // Every page that a page refers to exists, and all of them name the version.
    let version = env!("CARGO_PKG_VERSION");
    let mut pages = vec!["wayfarer".to_string()];
    let mut next = 0;
    while next < pages.len() {
        let name = pages[next].clone();
        let arguments = if next == 0 { vec!["man"] } else { vec!["man", &name] };
        let page = wayfarer(&arguments).exits(0).prints(version).out;
        let plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
        let named = plain.lines().filter_map(|line| line.trim().strip_suffix("(1)")).map(str::to_string);
        let fresh: Vec<String> = named.filter(|name| name.starts_with("wayfarer-") && !pages.contains(name)).collect();
        pages.extend(fresh);
        next += 1;
    }
    assert!(pages.contains(&"wayfarer-lab-run".to_string()), "{pages:?}");
    wayfarer(&["man", "chek"]).exits(2).complains("did you mean `check`?");
}

/// A file whose ending names no language is guessed, and an error says so.
#[test]
fn a_guessed_language_is_named() {
    let folder = Folder::new();
    let file = folder.file("notes.txt", "# Shopping\n\nmilk, bread\n");
    wayfarer(&["check", &file]).exits(2).complains("notes.txt` names no language, so it was read as Murphi").complains(".pml");
    let plain = wayfarer(&["check", &folder.file("notes.m", "# Shopping\n")]).exits(2);
    assert!(!plain.err.contains("was read as"), "{}", plain.err);
}
