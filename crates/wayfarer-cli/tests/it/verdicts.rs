//! Verdicts, witnesses, the JSON report and exit codes.

use crate::models::*;
use crate::{Folder, check, forget_the_forecast, report, short, wayfarer, wayfarer_with_input};
use serde_json::json;

#[test]
fn a_model_that_holds_says_so_with_its_figures() {
    let done = check(COUNTER, &[]).exits(0);
    done.prints("holds: every reachable state was visited and none is bad")
        .prints("checked   invariant `in range`, assertions and faults, deadlocks\n")
        .prints("explored  4 states, 6 rules fired, depth 3\n")
        .prints("seed 1")
        .prints("rules that can never fire: never\n");
    check(COUNTER, &["--verbose"]).prints("rules that can never fire\n  never").prints("model.m:7:1");
}

#[test]
fn the_json_report_has_the_fields_that_are_promised() {
    let report = report(COUNTER, &["--seed", "7"]);
    for (field, value) in [
        ("schema", json!(1)),
        ("verdict", json!("holds")),
        ("stop", json!("exhausted")),
        ("states", json!(4)),
        ("rules_fired", json!(6)),
        ("depth", json!(3)),
        ("seed", json!(7)),
        ("strategy", json!("auto")),
        ("store", json!("exact")),
        ("unfired_rules", json!(["never"])),
        ("violation", json!(null)),
        ("witness", json!(null)),
        ("confidence", json!(null)),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    assert!(report["seconds"].is_f64() && report["peak_memory_bytes"].is_u64() && report["state_bits"].as_u64() == Some(3), "{report:#}");
}

#[test]
fn json_is_one_line_and_alone_on_the_standard_output() {
    let done = check(VIOLATED, &["--json"]).exits(1);
    assert_eq!(done.out.lines().count(), 1);
    done.json();
}

#[test]
fn a_violated_invariant_is_named_with_its_witness() {
    let done = check(VIOLATED, &[]).exits(1);
    done.prints("invariant `below two` does not hold")
        .prints("model.m:8:1")
        .prints("conjunct 2 of 2")
        .prints("witness of 2 steps (no shorter one exists)\n  start Init\n        x: 0\n        y[1]: false\n")
        .prints("     1. flip, i: ")
        .prints("│ y: true")
        .prints("│ x: 1\n")
        .prints("│ x: 2\n")
        .prints("  state at the end\n        x: 2\n");
    let report = report(VIOLATED, &[]);
    assert_eq!(report["violation"]["kind"], "invariant");
    assert_eq!(report["violation"]["name"], "below two");
    assert_eq!(short(&report["violation"]["at"]), "model.m:8:1");
    assert_eq!(report["witness"]["length"], 2);
    assert_eq!(report["witness"]["start"], "Init");
    assert_eq!(report["witness"]["steps"][1]["changes"]["x"], json!(["1", "2"]));
}

#[test]
fn a_witness_can_be_shown_in_full_or_not_at_all() {
    check(VIOLATED, &["--witness", "changes"]).exits(1).prints("        x: 0 → 1\n").prints("        x: 1 → 2\n");
    check(VIOLATED, &["--witness", "full"]).exits(1).prints("        y[1]: true\n        y[2]: true\n");
    let done = check(VIOLATED, &["--witness", "none"]).exits(1);
    assert!(!done.out.contains("start Init"), "{}", done.out);
}

#[test]
fn kinds_of_violations_are_told_apart() {
    for (model, kind, text) in [
        (STUTTERS, "deadlock", "deadlock"),
        (ASSERTION, "assertion", "x stays below two"),
        (ERROR, "error", "it went off"),
        (UNDEFINED, "fault", "undefined"),
        (RANGE, "fault", "x"),
    ] {
        let report = report(model, &[]);
        assert_eq!(report["verdict"], "violated", "{report:#}");
        assert_eq!(report["violation"]["kind"], kind, "{report:#}");
        check(model, &[]).exits(1).prints(text);
    }
}

#[test]
fn a_step_that_fails_ends_the_witness() {
    let report = report(ASSERTION, &[]);
    assert_eq!(report["witness"]["length"], 2);
    let last = &report["witness"]["steps"][1];
    assert_eq!(last["rule"], "up");
    assert!(last["fault"].as_str().unwrap().contains("x stays below two"), "{last:#}");
    check(ASSERTION, &[]).prints("fails: ");
}

#[test]
fn deadlocks_are_judged_as_asked() {
    assert_eq!(report(STUTTERS, &["--deadlock", "off"])["verdict"], "holds");
    assert_eq!(report(STUTTERS, &["--deadlock", "stuck"])["verdict"], "holds");
    assert_eq!(report(STUTTERS, &["--deadlock", "stuttering"])["witness"]["length"], 2);
}

#[test]
fn copying_an_undefined_value_is_a_fault_only_where_asked_for() {
    assert_eq!(report(COPIES, &[])["verdict"], "holds");
    assert_eq!(report(COPIES, &["--undefined", "strict"])["violation"]["kind"], "fault");
}

#[test]
fn constants_can_be_overridden() {
    assert_eq!(report(COUNTER, &["--const", "N=9"])["states"], 10);
    check(COUNTER, &["--const", "M=9"]).exits(2).complains("M");
}

#[test]
fn single_properties_can_be_chosen() {
    assert_eq!(report(VIOLATED, &["--property", "fine", "--deadlock", "off"])["verdict"], "holds");
    check(VIOLATED, &["--property", "fin"]).exits(2).complains("did you mean `fine`?").complains("`below two`");
}

#[test]
fn several_violations_can_be_collected() {
    let report = report(VIOLATED, &["--max-errors", "100"]);
    assert!(report["violations"].as_array().unwrap().len() > 1, "{report:#}");
}

#[test]
fn each_violation_is_shown_once_on_request() {
    for threads in ["1", "2"] {
        let report = report(VIOLATED, &["--all-violations", "--threads", threads]);
        let kinds: Vec<&str> = report["violations"].as_array().unwrap().iter().map(|violation| violation["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["invariant", "deadlock"], "{report:#}");
        assert_eq!(report["complete"], true);
    }
    check(VIOLATED, &["--all-violations", "--max-errors", "2"]).exits(2).complains("cannot be used with");
}

#[test]
fn a_verdict_under_assumptions_says_so() {
    check(ASSUMES, &[]).exits(0).prints("holds: under the model's assumptions");
    assert_eq!(report(ASSUMES, &[])["assumed"], true);
}

#[test]
fn elements_that_come_and_go_are_shown() {
    let done = check(BAG, &["--deadlock", "off", "--threads", "1"]).exits(1);
    done.prints("        net + 1\n").prints("        net - 1\n");
}

#[test]
fn depth_first_search_gives_the_same_verdict() {
    let report = report(COUNTER, &["--strategy", "dfs"]);
    assert_eq!((&report["verdict"], &report["states"], &report["strategy"]), (&json!("holds"), &json!(4), &json!("dfs")));
    check(VIOLATED, &["--strategy", "dfs"]).exits(1);
}

#[test]
fn interpreting_gives_the_same_report() {
    // With several threads, which of several shortest witnesses is shown may differ.
    let mut reports = [report(VIOLATED, &["--threads", "1"]), report(VIOLATED, &["--threads", "1", "--interpret"])];
    for report in &mut reports {
        forget_what_may_differ(report);
    }
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let folder = Folder::new();
    let file = folder.file("model.m", BIG);
    for strategy in ["bfs", "dfs"] {
        let run = || {
            let mut report =
                wayfarer(&["check", &file, "--json", "--quiet", "--states", "5000", "--strategy", strategy, "--seed", "5"]).exits(0).json();
            forget_what_may_differ(&mut report);
            report
        };
        assert_eq!(run(), run(), "{strategy}");
    }
}

fn forget_what_may_differ(report: &mut serde_json::Value) {
    for field in ["seconds", "times", "peak_memory_bytes"] {
        report[field] = json!(null);
    }
    forget_the_forecast(report);
    // Runs on different temporary files.
    let text = report.to_string().replace(report["model"].as_str().unwrap(), "model.m");
    *report = serde_json::from_str(&text).unwrap();
}

#[test]
fn a_model_can_come_from_the_standard_input() {
    wayfarer_with_input(&["check", "-"], COUNTER).exits(0).prints("<stdin> holds");
}

#[test]
fn no_colours_go_to_a_pipe_unless_they_are_asked_for() {
    let done = check(VIOLATED, &[]);
    assert!(!done.out.contains('\x1b') && !done.err.contains('\x1b'));
    check(VIOLATED, &["--color", "always"]).prints("\x1b[1;31mviolated");
}

#[test]
fn a_long_table_of_rules_is_cut_with_a_hint() {
    let rules: String = (0..40).map(|number| format!("rule \"r{number}\" true ==> begin x := !x; end;\n")).collect();
    let model = format!("var x: boolean;\nstartstate begin x := false; end;\n{rules}");
    check(&model, &["--verbose"]).exits(0).prints("other rules (all of them: --json)");
    assert_eq!(report(&model, &[])["rules"].as_array().unwrap().len(), 40);
}

#[test]
fn a_witness_can_have_one_column_for_each_process() {
    let text = "type pid: 1..2; var at: array [pid] of 0..3; on: array [pid] of boolean; turn: pid;\n\
        startstate for p: pid do at[p] := 0; on[p] := false; end; turn := 1; end;\n\
        ruleset p: pid do rule \"step\" at[p] < 3 & turn = p ==> at[p] := at[p] + 1; on[p] := true; turn := 3 - p; end; end;\n\
        invariant \"apart\" !(at[1] = 1 & at[2] = 1);";
    let done = check(text, &["--witness", "columns"]).exits(1);
    let lines: Vec<Vec<&str>> = done.out.lines().filter(|line| line.contains('│')).map(|line| line.split('│').map(str::trim).collect()).collect();
    assert_eq!(lines[0], ["", "1", "2", "shared"], "{}", done.out);
    assert_eq!(lines[1], ["1. step, p: 1", "at: 1", "", "turn: 2"], "{}", done.out);
    assert_eq!(lines[2], ["", "on: true", "", ""].as_slice()[..lines[2].len()], "{}", done.out);
    assert_eq!(lines[3], ["2. step, p: 2", "", "at: 1", "turn: 1"], "{}", done.out);
    // It is the default if several processes change and the columns fit.
    assert!(check(text, &[]).exits(1).prints("state at the end").out.contains('│'));
    assert!(!check(text, &["--witness", "changes"]).exits(1).prints("at[1]: 0 → 1").out.contains('│'));
    check("var x: 0..2; startstate x := 0; end; rule x < 2 ==> x := x + 1; end; invariant x < 2;", &["--witness", "columns"])
        .exits(1)
        .prints("no array of processes")
        .prints("x: 0 → 1");
}

#[test]
fn a_step_that_fails_names_the_element_it_chose() {
    let text = "type message: record size: 0..9; urgent: boolean; end; var net: array [1..2] of multiset [3] of message; m: message;\n\
        startstate undefine net; m.size := 7; m.urgent := true; end;\n\
        rule \"send\" multisetcount(i: net[2], true) = 0 ==> multisetadd(m, net[2]); end;\n\
        ruleset n: 1..2 do choose i: net[n] do rule \"take\" true ==> assert \"small\" net[n][i].size < 5; end; end; end;";
    check(text, &[]).exits(1).prints("take, n: 2, i: ").prints("; element i is {size: 7, urgent: true}");
}

/// A size that the search contradicts is said to be wrong.
#[test]
fn a_wrong_size_is_said_to_be_wrong() {
    check(COUNTER, &["--size", "1000"]).exits(0).prints("holds").prints(" % of --size").prints("--size says 1,000, but this search can reach ");
    let states = report(COUNTER, &[])["states"].to_string();
    let right = check(COUNTER, &["--size", &states]).exits(0).prints("100.00 % of --size");
    assert!(!right.out.contains("--size says"), "{}", right.out);
    check(BIG, &["--size", "10", "--states", "1000"]).exits(0).prints("--size says 10, but this search can reach at least 1,000 states");
}

/// Properties of whole runs are named as not judged, also in the first line, and a model without a start state has nothing to judge.
#[test]
fn a_holds_says_what_it_is_not_about() {
    let live = format!("{COUNTER}\nliveness \"comes back\" true;\n");
    let done = check(&live, &[]).exits(0);
    done.prints("none is bad; liveness `comes back` was not judged\n").prints("; not judged: liveness `comes back`\n");
    check(NO_START, &[]).exits(0).prints("holds: there is no start state, so there is no state that could be bad");
    check(COUNTER, &["--deadlock", "off"]).exits(0).prints("; not judged: deadlocks\n");
}

#[test]
fn a_state_that_leads_only_to_excluded_ones_is_no_deadlock() {
    let model = "var x: 0..5; startstate x := 0; end; rule \"inc\" x < 5 ==> x := x + 1; end; assume \"small\" x < 3;";
    let idle = &format!("{model} rule \"stay\" x = 2 ==> x := 2; end;");
    for strategy in ["auto", "bfs", "dfs", "rdfs"] {
        for arguments in [&["--strategy", strategy] as &[&str], &["--strategy", strategy, "--interpret"]] {
            check(model, arguments).exits(0).prints("holds");
            check(idle, arguments).exits(0).prints("holds");
        }
    }
    check(idle, &["--strategy", "walk", "--steps", "2k"]).exits(0).prints("not found");
    // A rule that leads nowhere else at all.
    check("var x: 0..5; startstate x := 0; end; rule x := 0; end; assume x < 3;", &[]).exits(1).prints("deadlock");
}
