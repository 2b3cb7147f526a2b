//! Explicit graphs with the same commands as models.

use super::{Folder, wayfarer, wayfarer_with_input};

/// A loop through the label `a` from state 0, with two ways named `b` out of state 1, one of them to a dead end.
const GRAPH: &str = "des (0, 5, 5)\n(0, \"a\", 1)\n(1, b, 2)\n(1, b, 3)\n(2, \"back to 0\", 0)\n(4, never, 0)\n";

#[test]
fn a_graph_is_checked_and_its_labels_are_its_rules() {
    let folder = Folder::new();
    let file = folder.file("four.aut", GRAPH);
    let witness = folder.path("witness.itf.json");
    wayfarer(&["check", &file, "--seed", "1"]).exits(1).prints("deadlock").prints("witness of 2 steps").prints("state: 1 → 3");
    wayfarer(&["check", &file, "--deadlock", "off"]).exits(0).prints("holds").prints("never");
    wayfarer(&["check", &file, "--find-rule", "back to 0", "--witness", &witness]).exits(1).prints("found").prints("witness of 3 steps");
    wayfarer(&["check", &file, "--find-rule", "never"]).exits(0).prints("unreachable");
    wayfarer(&["check", &file, "--find-rule", "bak to 0"]).exits(2).complains("did you mean");
    for strategy in ["dfs", "rdfs", "walk", "urs", "rbfs"] {
        wayfarer(&["check", &file, "--strategy", strategy, "--steps", "1k"]).exits(1).prints("deadlock");
    }
}

#[test]
fn a_graph_comes_through_the_standard_input_too() {
    wayfarer_with_input(&["check", "-", "--deadlock", "off"], GRAPH).exits(0).prints("holds");
}

#[test]
fn witnesses_of_graphs_replay() {
    let folder = Folder::new();
    let file = folder.file("four.aut", GRAPH);
    let witness = folder.path("witness.itf.json");
    wayfarer(&["check", &file, "--witness", &witness]).exits(1);
    wayfarer(&["replay", &file, &witness]).exits(0).prints("replays");
    let other = folder.file("other.aut", GRAPH.replace("(1, b, 3)", "(1, b, 4)"));
    wayfarer(&["replay", &other, &witness]).exits(1).prints("departs");
}

#[test]
fn a_graph_is_described_and_simulated() {
    let folder = Folder::new();
    let file = folder.file("four.aut", GRAPH);
    wayfarer(&["info", &file]).exits(0).prints("a graph of 5 states and 5 transitions").prints("back to 0");
    wayfarer(&["info", &file, "--json"]).exits(0).prints("\"transitions\":5");
    wayfarer(&["simulate", &file, "--deadlock", "off", "--steps", "3"]).exits(0).prints("state: 0 → 1");
}

#[test]
fn what_only_models_have_is_refused_for_graphs() {
    let folder = Folder::new();
    let file = folder.file("four.aut", GRAPH);
    wayfarer(&["check", &file, "--const", "N=1"]).exits(2).complains("has no constant `N`");
    wayfarer(&["check", &file, "--find", "x = 1"]).exits(2).complains("--find-rule looks for a label");
    wayfarer(&["check", &folder.file("wrong.aut", "des (0, 1, 2)\n")]).exits(2).complains("announces 1 transitions");
}
