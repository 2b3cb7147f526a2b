//! Petri nets through every command.

use super::{Folder, wayfarer, wayfarer_with_input};
use std::path::Path;

fn net(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/pnml").join(name).canonicalize().unwrap().to_str().unwrap().to_string()
}

#[test]
fn a_net_is_checked_and_shown_as_markings() {
    let folder = Folder::new();
    let (file, witness) = (net("philosophers.pnml"), folder.path("witness.itf.json"));
    wayfarer(&["check", &file, "--strategy", "bfs", "--witness", "full", "--witness", &witness])
        .exits(1)
        .prints("deadlock")
        .prints("witness of 5 steps")
        .prints("take left, p: ")
        .prints("hungry[5]: 1");
    wayfarer(&["replay", &file, &witness]).exits(0).prints("replays");
    let states: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&witness).unwrap()).unwrap();
    assert_eq!(states["states"][0]["fork[1]"], 1);
    let report = wayfarer(&["check", &file, "--deadlock", "off", "--json"]).exits(0).json();
    assert_eq!((&report["states"], &report["rules_fired"], &report["rules"][0]["rule"]), (&82.into(), &265.into(), &"take left".into()));
    for (store, strategy) in [("tree", "bfs"), ("difference", "bfs"), ("compact", "bfs"), ("exact", "dfs")] {
        let report = wayfarer(&["check", &file, "--deadlock", "off", "--json", "--store", store, "--strategy", strategy]).exits(0).json();
        assert_eq!((&report["states"], &report["rules_fired"]), (&82.into(), &265.into()), "{store}");
    }
    let report = wayfarer(&["check", &file, "--deadlock", "off", "--json", "--interpret"]).exits(0).json();
    assert_eq!(report["states"], 82);
}

#[test]
fn nets_are_described_simulated_stepped_and_drawn() {
    let file = net("trains.pnml");
    wayfarer(&["info", &file]).exits(0).prints("a coloured net of 2 places and 1 transition").prints("without colours it has");
    assert_eq!(wayfarer(&["info", &file, "--json"]).exits(0).json()["places"][0]["name"], "on");
    wayfarer(&["simulate", &file, "--seed", "1", "--steps", "3"]).exits(0).prints("move, t: ");
    wayfarer_with_input(&["step", &file], "1\ns\nq\n").exits(0).prints("move, t: ").prints("on[");
    let drawn = Folder::new();
    wayfarer(&["graph", &file, "-o", &drawn.path("trains.dot")]).exits(0);
    assert!(std::fs::read_to_string(drawn.path("trains.dot")).unwrap().contains("move, t: red, s: 1"));
    wayfarer(&["check", &file, "--find-rule", "move, t: green, s: 3"]).exits(1).prints("found");
    wayfarer(&["check", &file, "--find-rule", "moove"]).exits(2).complains("did you mean");
    wayfarer_with_input(&["check", "-", "--deadlock", "off"], &std::fs::read_to_string(&file).unwrap()).exits(0).prints("holds");
}

#[test]
fn markings_are_looked_for() {
    let file = net("philosophers.pnml");
    wayfarer(&["check", &file, "--find", "eating >= 2 and fork[1] = 0"]).exits(1).prints("found");
    wayfarer(&["check", &file, "--find", "eating > 2"]).exits(0).prints("unreachable");
    wayfarer(&["check", &file, "--find", "eatin > 2"]).exits(2).complains("no place is called `eatin`").complains("`eating` is one");
}

const QUESTIONS: &str = r#"<property-set xmlns="http://mcc.lip6.fr/">
<property><id>A</id><formula><exists-path><finally><integer-le><integer-constant>100</integer-constant><tokens-count><place>b</place></tokens-count></integer-le></finally></exists-path></formula></property>
<property><id>B</id><formula><all-paths><globally><is-fireable><transition>turn</transition><transition>back</transition></is-fireable></globally></all-paths></formula></property>
<property><id>C</id><formula><exists-path><finally><integer-le><integer-constant>129</integer-constant><tokens-count><place>a</place><place>b</place></tokens-count></integer-le></finally></exists-path></formula></property>
</property-set>"#;

#[test]
fn all_formulas_of_a_file_are_answered_in_one_run() {
    let folder = Folder::new();
    let (file, questions, junit) = (net("doubling.pnml"), folder.file("questions.xml", QUESTIONS), folder.path("junit.xml"));
    let lines = "FORMULA A TRUE TECHNIQUES EXPLICIT\nFORMULA B FALSE TECHNIQUES EXPLICIT\nFORMULA C FALSE TECHNIQUES EXPLICIT\n";
    for threads in ["1", "2"] {
        let done = wayfarer(&["check", &file, "--properties", &questions, "--mcc", "--threads", threads]).exits(0);
        assert_eq!(done.out, lines);
    }
    let done = wayfarer(&["check", &file, "--properties", &questions, "--junit", &junit]).exits(0);
    done.prints("3 formulas: 1 true, 2 false").prints("started again with more room");
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("failures=\"2\""), "{xml}");
    // The file of formulas is an input, too.
    wayfarer(&["check", &file, "--properties", &questions, "--junit", &questions]).exits(2).complains("--junit would overwrite");
    assert_eq!(std::fs::read_to_string(&questions).unwrap(), QUESTIONS);
    // A budget that ends first leaves questions open, and calls nothing false.
    let report =
        wayfarer(&["check", &file, "--properties", &questions, "--steps", "5", "--strategy", "bfs", "--threads", "1", "--json"]).exits(0).json();
    let answers: Vec<&str> = report["checks"].as_array().unwrap().iter().filter_map(|check| check["answer"].as_str()).collect();
    assert_eq!(answers, ["open", "open", "open"]);
    wayfarer(&["check", &file, "--properties", &questions, "--steps", "5", "--strategy", "bfs", "--threads", "1", "--exhaustive"]).exits(4);
    wayfarer(&["check", &file, "--properties", &file]).exits(2).complains("a file of formulas begins with");
    let wrong = folder.file("wrong.xml", QUESTIONS.replace("<place>b</place>", "<place>q</place>"));
    wayfarer(&["check", &file, "--properties", &wrong]).exits(2).complains("no place is called `q`").complains("wrong.xml:2:");
}

#[test]
fn a_net_without_a_bound_runs_until_the_budget_ends() {
    let folder = Folder::new();
    let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"/>
        <transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
    let file = folder.file("unbounded.pnml", text);
    let report = wayfarer(&["check", &file, "--states", "5000", "--json"]).exits(0).json();
    assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"states".into()));
    wayfarer(&["check", &folder.file("cut.pnml", &text[..150])]).exits(2).complains("cut.pnml:").complains("not well-formed XML");
}
