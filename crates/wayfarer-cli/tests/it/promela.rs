//! Promela models: their ends, the statements that are never executed, and the words of reports.

use crate::{Done, Folder, wayfarer, wayfarer_with_input};
use serde_json::json;

fn check(text: &str, options: &[&str]) -> Done {
    let folder = Folder::new();
    let file = folder.file("model.pml", text);
    wayfarer(&[&["check", &file], options].concat())
}

/// The statements that are reported as never executed.
fn unfired(text: &str) -> serde_json::Value {
    check(text, &["--json"]).json()["unfired_rules"].clone()
}

#[test]
fn a_run_that_may_end_is_no_violation() {
    let folder = Folder::new();
    let ended = folder.file("ended.pml", "byte x; active proctype P() { x = 1 }");
    let waits = folder.file("waits.pml", "byte x; active proctype P() { x = 1; end: x == 2 }");
    let terminated = folder.file("ended.mcrl2", "act a; init a;");
    for file in [&ended, &waits, &terminated] {
        wayfarer(&["check", file]).exits(0);
        wayfarer(&["simulate", file]).exits(0).prints("a valid end state");
        wayfarer_with_input(&["step", file], "r\nr\nr\nq\n").exits(0).prints("a valid end state");
    }
    let stuck = folder.file("stuck.pml", "byte x; active proctype P() { x = 1; x == 2 }");
    wayfarer(&["check", &stuck]).exits(1).prints("deadlock\n  invalid end state");
    wayfarer(&["simulate", &stuck]).exits(1).prints("deadlock: invalid end state");
    wayfarer_with_input(&["step", &stuck], "r\nq\n").exits(0).prints("a deadlock");
}

#[test]
fn statements_that_other_rules_execute_are_not_listed() {
    assert_eq!(unfired("byte x; active proctype P() { x = 1; assert(x == 1) }"), json!([]));
    let merged = "chan c = [2] of { byte }; byte x; active proctype P() { do :: x < 2 -> atomic { c!x; x = x + 1; c?_ } :: else -> break od }";
    assert_eq!(unfired(merged), json!([]));
    let meeting = "chan c = [0] of { byte }; chan d; active proctype P() { d = c; d!1 } active proctype Q() { c?_ }";
    assert_eq!(unfired(meeting), json!([]));
    let never = "byte x; active proctype P() { x = 2; if :: x == 1 -> assert(x == 1) :: else -> skip fi }";
    assert_eq!(unfired(never), json!(["P[0] line 1: x == 1", "P[0] line 1: assert(x == 1)"]));
}

#[test]
fn claims_that_are_not_judged_are_named() {
    let text = "byte x; active proctype P() { progress: x = 1; accept: x = 2 }
        ltl one { [] (x < 3) } ltl two { <> (x == 2) } ltl three { <> (x == 1) }";
    check(text, &[]).exits(0).prints("one").prints("two").prints("three").prints("progress labels").prints("accept labels");
}
