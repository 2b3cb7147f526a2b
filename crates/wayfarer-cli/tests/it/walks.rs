//! The commands that walk through a model: info, simulate, step, replay.

use crate::models::*;
use crate::{Folder, wayfarer, wayfarer_with_input};

#[test]
fn info_lists_what_a_model_consists_of() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    wayfarer(&["info", &file]).exits(0).prints("a state has").prints("flip, i: ").prints("below two").prints("invariant").prints("model.m:5:3");
    let info = wayfarer(&["info", &file, "--json"]).exits(0).json();
    assert_eq!(info["rules"][0]["instances"], 2);
    assert_eq!(info["properties"][1]["name"], "fine");
    let sum: u64 = info["variables"].as_array().unwrap().iter().map(|variable| variable["bits"].as_u64().unwrap()).sum();
    assert_eq!(info["state_bits"], sum);
}

#[test]
fn a_simulation_prints_its_steps_and_what_the_model_puts() {
    let folder = Folder::new();
    let file = folder.file("model.m", TALKS);
    let run = |arguments: &[&str]| {
        let mut all = vec!["simulate", file.as_str()];
        all.extend(arguments);
        wayfarer(&all)
    };
    let done = run(&["--steps", "3"]).exits(0).prints("| hello from the start").prints("| x is now 1").prints("x: 2 → 3").prints("3 steps made");
    assert!(!done.out.contains("x is now 4"));
    run(&[]).exits(1).prints("violated: deadlock");
    run(&["--deadlock", "off"]).exits(0).prints("no rule is enabled");
}

#[test]
fn a_simulation_repeats_with_its_seed() {
    let folder = Folder::new();
    let file = folder.file("model.m", BIG);
    let run = |seed: &str| wayfarer(&["simulate", &file, "--seed", seed, "--steps", "50"]).exits(0).out;
    assert_eq!(run("3"), run("3"));
    // Fifty draws from six rules agree with odds of 6^-50.
    assert_ne!(run("3"), run("4"));
}

#[test]
fn a_simulation_stops_at_a_violation() {
    let folder = Folder::new();
    let file = folder.file("model.m", RANGE);
    wayfarer(&["simulate", &file]).exits(1).prints("violated: ").prints("     3. up");
}

#[test]
fn a_walk_by_hand_fires_undoes_and_shows() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    let done = wayfarer_with_input(&["step", &file], "2\nu\n1\ns\n99\nwhat\nr\nq\n").exits(0);
    done.prints("after 0 steps, 2 rules enabled:\n     1  flip, i: 1\n     2  flip, i: 2\n")
        .prints("y[2]: false → true")
        .prints("        y[1]: true\n        y[2]: false\n")
        .prints("99 is not in the list: 1 choice")
        .prints("`what` is not a command")
        .prints("violated: invariant `below two` does not hold");
    wayfarer_with_input(&["step", &file], "").exits(0);
    wayfarer_with_input(&["step", "-"], VIOLATED).exits(2).complains("must be a file");
}

#[test]
fn a_start_state_is_chosen_first_where_there_are_several() {
    let folder = Folder::new();
    let file =
        folder.file("model.m", "var x: 0..3;\nruleset i: 1..2 do startstate \"s\" begin x := i; end; end;\nrule \"r\" true ==> begin x := 3; end;\n");
    wayfarer_with_input(&["step", &file], "2\nu\nq\n").exits(0).prints("choose a start state:\n     1  s, i: 1\n").prints("x: 2");
}

#[test]
fn a_recorded_witness_replays_until_the_model_changes() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    let trace = folder.path("trace.itf.json");
    wayfarer(&["check", &file, "--witness", &trace]).exits(1).complains("witness written");
    let itf: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&trace).unwrap()).unwrap();
    assert_eq!(itf["states"].as_array().unwrap().len(), 3);
    assert_eq!(itf["vars"], serde_json::json!(["x", "y"]));
    wayfarer(&["replay", &file, &trace]).exits(0).prints("replays: all 2 steps");
    for (old, new, expected) in [
        ("x < 3 & !y[i]", "x < 1 & !y[i]", "departs at step 2 (flip, i: "),
        ("\"flip\"", "\"flop\"", "does not exist any more"),
        ("x := x + 1", "x := x + 2", "x: recorded 1, now 2"),
        ("begin x := 0; y[1]", "begin x := 1; y[1]", "departs at the start"),
        ("x >= 0 & x < 2", "x >= 0 & x < 3", "nothing is wrong there any more"),
        ("x := x + 1", "assert x = 1; x := x + 1", "it fails now"),
    ] {
        let changed = VIOLATED.replace(old, new);
        assert_ne!(changed, VIOLATED);
        let file = folder.file("changed.m", changed);
        wayfarer(&["replay", &file, &trace]).exits(1).prints(expected);
    }
}

#[test]
fn witnesses_of_faults_and_deadlocks_replay_too() {
    for model in [ASSERTION, RANGE, STUTTERS, UNDEFINED, ERROR] {
        let folder = Folder::new();
        let file = folder.file("model.m", model);
        let trace = folder.path("trace.itf.json");
        wayfarer(&["check", &file, "--witness", &trace]).exits(1);
        wayfarer(&["replay", &file, &trace]).exits(0).prints("replays");
    }
}

#[test]
fn a_witness_that_is_none_is_refused() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    let other = folder.file("other.json", "{\"states\": 3}");
    wayfarer(&["replay", &file, &file]).exits(2).complains("is not JSON");
    wayfarer(&["replay", &file, &other]).exits(2).complains("cannot be used");
    wayfarer(&["replay", &file, "nowhere.json"]).exits(2).complains("cannot read the witness");
}

#[test]
fn several_violations_give_several_files() {
    let folder = Folder::new();
    let file = folder.file("model.m", VIOLATED);
    let trace = folder.path("trace.itf.json");
    wayfarer(&["check", &file, "--max-errors", "2", "--witness", &trace]).exits(1);
    assert!(std::fs::exists(&trace).unwrap() && std::fs::exists(folder.path("trace.2.itf.json")).unwrap());
}
