//! Promela models: their ends.

use crate::{Folder, wayfarer, wayfarer_with_input};

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
    wayfarer(&["check", &stuck]).exits(1).prints("deadlock");
    wayfarer(&["simulate", &stuck]).exits(1).prints("deadlock: no rule is enabled");
    wayfarer_with_input(&["step", &stuck], "r\nq\n").exits(0).prints("a deadlock");
}
