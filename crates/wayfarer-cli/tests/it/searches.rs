//! Strategies, their goals, repeated runs, and their output files.

use crate::models::*;
use crate::{Folder, check, forget_the_forecast, report};

const STRATEGIES: [&str; 20] = [
    "bfs",
    "dfs",
    "rdfs",
    "walk",
    "walk:lanes=1,choice=states,restart=never",
    "walk:from=visited,restart=5",
    "random:restarts=50,length=20",
    "urs",
    "urs:choice=states,batch=1,mix=0.5",
    "urs:close=on,mix=auto",
    "urs:close=delete",
    "sdrs",
    "sdrs:close=on",
    "sdrs:close=delete",
    "rurs:capacity=3",
    "rurs:capacity=3,from=visited",
    "rsdrs:capacity=3,replace=lru",
    "highway:width=2",
    "rbfs:slots=64,samples=10",
    "rbfs:own,slots=64",
];

#[test]
fn every_strategy_finds_a_violation_and_the_way_to_it() {
    for strategy in STRATEGIES {
        for threads in ["1", "3"] {
            let report = report(VIOLATED, &["--strategy", strategy, "--steps", "20k", "--threads", threads]);
            assert_eq!(report["verdict"], "violated", "{strategy}: {report:#}");
            assert_eq!(report["violation"]["name"], "below two", "{strategy}");
            assert_eq!(report["witness"]["length"], 2, "{strategy}");
        }
    }
}

#[test]
fn witnesses_lose_what_other_parts_of_the_model_did() {
    // Three token rings of 4 nodes; the first one's token must go round ten times. The others, and the nodes' own work, have nothing to do with it.
    let model = "type ring: 1..3; node: 0..3; var at: array [ring] of node; busy: array [ring] of array [node] of boolean; rounds: array [ring] of 0..10;\n\
        startstate for r: ring do at[r] := 0; rounds[r] := 0; for n: node do busy[r][n] := false; end; end; end;\n\
        ruleset r: ring; n: node do\n\
        rule \"pass\" at[r] = n & rounds[r] < 10 ==> at[r] := (n + 1) % 4; if n = 3 then rounds[r] := rounds[r] + 1; end; end;\n\
        rule \"start\" !busy[r][n] ==> busy[r][n] := true; end;\n\
        rule \"end\" busy[r][n] ==> busy[r][n] := false; end; end;\n\
        invariant \"bounded\" rounds[1] < 10;";
    for strategy in ["dfs", "rdfs", "walk"] {
        let report = report(model, &["--strategy", strategy, "--threads", "1"]);
        assert_eq!((&report["witness"]["length"], &report["witness"]["shortest"]), (&40.into(), &true.into()), "{strategy}: {report:#}");
        assert_eq!(report["repeatable"], true, "{strategy}");
    }
    // One property about all rings depends on everything, so what is left out is left out by replay.
    let all = model.replace("rounds[1] < 10", "forall r: ring do rounds[r] < 10 end");
    let report = report(&all, &["--strategy", "rdfs", "--threads", "1"]);
    assert_eq!(report["witness"]["length"], 40, "{report:#}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    for strategy in STRATEGIES {
        for threads in ["1", "2"] {
            let run = || {
                let mut report = report(BIG, &["--strategy", strategy, "--steps", "30k", "--seed", "5", "--memory", "32M", "--threads", threads]);
                // The file has another name each time.
                for varies in ["seconds", "times", "peak_memory_bytes", "bytes_per_state", "model", "rules", "checks"] {
                    report[varies] = serde_json::Value::Null;
                }
                forget_the_forecast(&mut report);
                report
            };
            let (one, other) = (run(), run());
            assert_eq!(one, other, "{strategy}");
            assert!(one["repeatable"] == true || one["stop"] == "memory", "{strategy}: {one:#}");
        }
    }
}

#[test]
fn only_exhaustive_searches_say_that_something_holds() {
    for strategy in STRATEGIES {
        let report = report(COUNTER, &["--strategy", strategy, "--steps", "5k"]);
        let exhaustive = ["bfs", "dfs", "rdfs", "urs:close=on,mix=auto", "sdrs:close=on"].contains(&strategy);
        assert_eq!(report["verdict"], if exhaustive { "holds" } else { "not-found" }, "{strategy}: {report:#}");
        // A V of three states is emptied before the fourth is found.
        assert_eq!(report["states"], if strategy == "rurs:capacity=3" { 3 } else { 4 }, "{strategy}");
    }
}

#[test]
fn a_predicate_is_looked_for_in_the_models_own_language() {
    check(COUNTER, &["--find", "x = 2", "--quiet"]).exits(1).prints("found").prints("a state satisfies x = 2").prints("witness of 2 steps");
    check(COUNTER, &["--find", "x > N", "--quiet"]).exits(0).prints("unreachable");
    check(COUNTER, &["--find", "x = y", "--quiet"]).exits(2).complains("--find:1:5").complains("there is no variable or constant `y`");
    check(COUNTER, &["--find", "x + ", "--quiet"]).exits(2).complains("--find:1:");
    check(COUNTER, &["--find", "x", "--quiet"]).exits(2).complains("--find:1:1");
    // With a goal, nothing else is reported.
    check(VIOLATED, &["--find", "x = 1 & y[2]", "--quiet"]).exits(1).prints("witness of 1 step");
    check(VIOLATED, &["--find", "x = 3", "--strategy", "walk", "--steps", "10k", "--quiet"]).exits(1).prints("a state satisfies x = 3");
}

#[test]
fn a_firing_of_a_rule_is_looked_for_by_name() {
    check(VIOLATED, &["--find-rule", "back", "--quiet"]).exits(1).prints("rule back fires").prints("witness of 2 steps");
    check(VIOLATED, &["--find-rule", "flip, i: 2", "--strategy", "rdfs", "--quiet"]).exits(1).prints("rule flip, i: 2 fires");
    check(COUNTER, &["--find-rule", "never", "--quiet"]).exits(0).prints("unreachable");
    check(COUNTER, &["--find-rule", "upp", "--quiet"]).exits(2).complains("`upp`").complains("`up`");
}

#[test]
fn several_runs_are_summed_up() {
    check(VIOLATED, &["--strategy", "walk", "--runs", "12", "--steps", "1k", "--quiet"])
        .exits(1)
        .prints("12 of 12 runs found something: 100.0 %")
        .prints("witness length before shortening");
    let summed = report(VIOLATED, &["--strategy", "random", "--runs", "6", "--steps", "1k"]);
    assert_eq!((&summed["runs"], summed["each"].as_array().map(Vec::len)), (&6.into(), Some(6)));
    assert_eq!(summed["each"][5]["seed"], 6);
    check(COUNTER, &["--strategy", "walk", "--runs", "3", "--steps", "50", "--quiet"])
        .exits(0)
        .prints("0 of 3 runs")
        .prints("3 runs found nothing")
        .prints("most ended because the limit on steps was reached\n");
    check(COUNTER, &["--runs", "0"]).exits(2).complains("from 1 on");
}

#[test]
fn curves_are_written() {
    let folder = Folder::new();
    let file = folder.path("curve.csv");
    check(BIG, &["--strategy", "rurs:capacity=500", "--steps", "5k", "--runs", "2", "--threads", "1", "--quiet", "--curve", &file]).exits(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("seed,steps,seconds,states"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    assert!(rows.len() > 40 && rows.iter().all(|row| row.len() == 4), "{text}");
    assert_eq!((rows[0][0], rows[rows.len() - 1][0]), (1.0, 2.0));
    let first: Vec<&Vec<f64>> = rows.iter().filter(|row| row[0] == 1.0).collect();
    assert!(first.is_sorted_by(|one, other| one[1] <= other[1] && one[3] <= other[3]), "{text}");
    check(BIG, &["--curve", "/nowhere/at/all.csv", "--steps", "10"]).exits(3).complains("--curve cannot write");
}

#[test]
fn a_plan_is_shown_without_a_run() {
    check(BIG, &["--plan", "--memory", "256M"]).exits(0).prints("256.0 MiB of memory for auto").prints("machine code").prints("exact");
    check(BIG, &["--plan", "--memory", "256M", "--strategy", "rbfs"]).exits(0).prints("cache:slots=").prints("record");
    let plan = report(BIG, &["--plan", "--memory", "64M", "--store", "bitstate"]);
    assert_eq!(plan["memory"], 64 << 20);
    check(BIG, &["--plan", "--strategy", "rurs", "--store", "exact"]).exits(2).complains("`rurs` needs a store that can be emptied");
}

#[test]
fn witnesses_are_made_shorter_unless_they_are_to_stay() {
    // A walk goes back and forth before it gets there.
    let find = ["--find", "x = 3 & !y[2]", "--strategy", "walk:lanes=1", "--seed", "11", "--threads", "1"];
    let short = report(VIOLATED, &find);
    let raw = report(VIOLATED, &[find.as_slice(), &["--shorten", "off"]].concat());
    assert_eq!(short["witness"]["raw_length"], raw["witness"]["raw_length"]);
    assert!(short["witness"]["length"].as_u64() <= raw["witness"]["length"].as_u64());
    assert_eq!(short["witness"]["length"], report(VIOLATED, &["--find", "x = 3 & !y[2]"])["witness"]["length"]);
}

#[test]
fn coverage_is_shown_where_the_size_is_known() {
    let report = report(COUNTER, &["--strategy", "urs:batch=1,choice=states", "--steps", "1k", "--size", "4", "--threads", "1"]);
    assert_eq!((&report["coverage"], report["cover_times"].as_array().map(Vec::len)), (&1.0.into(), Some(5)));
    check(COUNTER, &["--strategy", "walk", "--steps", "1k", "--size", "8", "--quiet"]).exits(0).prints("50.00 %");
}

#[test]
fn visits_are_counted_on_request() {
    check(COUNTER, &["--strategy", "sdrs", "--steps", "1k", "--profile", "--threads", "1", "--quiet"])
        .exits(0)
        .prints("how often states were visited");
    let profile = report(COUNTER, &["--strategy", "sdrs", "--steps", "1k", "--profile", "--threads", "1"])["profile"].clone();
    let states: u64 = profile.as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap()).sum();
    assert_eq!(states, 4);
}

#[test]
fn strategies_that_do_not_exist_are_refused_with_those_that_do() {
    for (strategy, complaint) in [
        ("wlak", "did you mean `walk`?"),
        ("walk:lane=2", "did you mean `lanes`?"),
        ("walk:lanes=0", "it may be 1 to 4096"),
        ("urs:mix=2", "it may be 0 to 1, or auto"),
        ("highway:width=0", "it may be 1 to"),
        ("rbfs:maxpom=-1", "it may be 0 to 1"),
        ("rurs:from=nowhere", "one of initial, visited"),
        ("sdrs:capacity", "not of the form parameter=value"),
    ] {
        check(COUNTER, &["--strategy", strategy]).exits(2).complains(complaint);
    }
    check(COUNTER, &["--strategy", "urs", "--store", "compact"]).exits(2).complains("give states back");
    check(COUNTER, &["--strategy", "rbfs", "--store", "exact"]).exits(2).complains("a store that forgets");
}
