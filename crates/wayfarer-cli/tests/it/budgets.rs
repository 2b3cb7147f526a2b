//! Limits: each ends a run with the reason and its consequences.

use crate::models::*;
use crate::{check, report};
use std::time::Instant;

#[test]
fn each_limit_is_a_reason_to_stop() {
    for (arguments, stop, advice) in [
        (&["--states", "1000"] as &[&str], "states", "--states"),
        (&["--steps", "1k"], "steps", "--steps"),
        (&["--depth", "3"], "depth", "--depth"),
        (&["--time", "200ms"], "time", "--time"),
        (&["--memory", "2M", "--strategy", "bfs"], "memory", "--memory"),
    ] {
        let report = report(BIG, arguments);
        assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &stop.into()), "{report:#}");
        assert_eq!(report["complete"], false);
        check(BIG, arguments)
            .exits(0)
            .prints("not found: no violation was found; not every state was expanded")
            .prints(&format!("Try a larger {advice}").replace("larger --time", "longer --time"));
    }
}

#[test]
fn limits_are_kept() {
    assert_eq!(report(BIG, &["--states", "1000"])["states"], 1000);
    assert_eq!(report(BIG, &["--depth", "2"])["depth"], 2);
    // States with up to two steps behind them: 1 + 6 + 21.
    assert_eq!(report(BIG, &["--depth", "2"])["states"], 28);
    let steps = report(BIG, &["--steps", "1000"])["rules_fired"].as_u64().unwrap();
    assert!((1000..100_000).contains(&steps), "{steps}");
    for search in [&["--strategy", "bfs"] as &[&str], &["--steps", "500k"]] {
        let report = report(BIG, &[&["--memory", "2M"], search].concat());
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= 2 << 20, "{peak} with {search:?}");
    }
}

/// All states of a single component are local states of it, in tables that the space keeps.
#[test]
fn tables_of_processes_count() {
    let queue = "sort D = struct d1 | d2 | d3; act inn, out: D;
        proc Q(l: List(D)) = (#l < 12) -> sum d: D . inn(d) . Q(l <| d) + (l != []) -> out(head(l)) . Q(tail(l)); init Q([]);";
    let folder = crate::Folder::new();
    let file = folder.file("queue.mcrl2", queue);
    let report = crate::wayfarer(&["check", file.as_str(), "--json", "--memory", "64M", "--time", "60s"]).json();
    assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"memory".into()), "{report:#}");
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= (64 << 20) / 10 * 11, "{peak}");
    assert!(report["remarks"].to_string().contains("local states of the model's processes"), "{report:#}");
}

#[test]
fn time_is_kept_within_a_fraction_of_a_second() {
    let started = Instant::now();
    check(BIG, &["--time", "500ms", "--quiet", "--threads", "1"])
        .exits(0)
        .prints("the time is up")
        .prints("To repeat exactly this run: wayfarer check ")
        .prints("--steps ");
    // Half a second of work; the rest is starting a process on a busy machine.
    assert!(started.elapsed().as_secs_f64() < 3.0, "{:?}", started.elapsed());
}

#[test]
fn an_exhaustive_run_that_was_cut_has_its_own_exit_code() {
    check(BIG, &["--states", "1000", "--exhaustive"]).exits(4);
    check(COUNTER, &["--exhaustive"]).exits(0);
    check(VIOLATED, &["--exhaustive"]).exits(1);
    check(BIG, &["--states", "1000"]).exits(0);
}

#[test]
fn a_budget_too_small_to_begin_names_the_least() {
    let done = check(COUNTER, &["--memory", "8K"]).exits(3).complains("too small to begin");
    let least = done.err.split("--memory ").nth(1).unwrap().split_whitespace().next().unwrap().to_string();
    check(COUNTER, &["--memory", &least]).exits(0).prints("come on top");
}

#[test]
fn more_memory_than_there_is_gets_a_warning() {
    check(COUNTER, &["--memory", "900T"]).exits(0).complains("warning: --memory 900.0 TiB is more than");
}

#[test]
fn progress_goes_to_the_standard_error_and_can_be_silenced() {
    let loud = check(BIG, &["--time", "2500ms", "--json"]).exits(0);
    assert!(loud.err.contains("states (") && loud.err.contains("frontier"), "{}", loud.err);
    loud.json();
    let quiet = check(BIG, &["--time", "2500ms", "--quiet"]).exits(0);
    assert_eq!(quiet.err, "");
}

#[test]
fn a_rule_that_never_ends_is_a_fault_soon() {
    let model = "var x: boolean;\nstartstate begin x := false; end;\nrule \"spin\" true ==> begin while true do x := !x; end; end;\n";
    let started = Instant::now();
    let report = report(model, &[]);
    assert_eq!(report["violation"]["kind"], "fault", "{report:#}");
    assert!(started.elapsed().as_secs() < 10);
}

#[test]
fn a_store_that_takes_most_of_the_memory_leaves_room_for_the_witness() {
    // A counter goes round; two steps from its end something is wrong.
    let model = "
var x: 0..30;
startstate begin x := 0; end;
rule \"on\" x < 30 ==> begin x := x + 1; end;
rule \"back\" x = 30 ==> begin x := 0; end;
invariant \"low\" x < 29;
";
    for store in ["compact", "bitstate", "cache"] {
        for memory in ["2M", "3M", "4M", "6M", "10M", "16M", "24M"] {
            let report = report(model, &["--store", store, "--strategy", "bfs", "--memory", memory, "--threads", "1"]);
            assert_eq!((&report["verdict"], &report["witness"]["length"]), (&"violated".into(), &29.into()), "{store} {memory}: {report:#}");
        }
    }
}

#[test]
fn a_deep_stack_stays_within_the_budget() {
    let line = "
var x: 0..1000000000;
startstate begin x := 0; end;
rule \"on\" x < 1000000000 ==> begin x := x + 1; end;
";
    for store in ["exact", "compact", "bitstate"] {
        let report = report(line, &["--strategy", "dfs", "--store", store, "--memory", "6M", "--audit", "off", "--threads", "1"]);
        assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"memory".into()), "{report:#}");
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!((4 << 20..=6 << 20).contains(&peak), "{store}: {peak}");
    }
}

/// Every state has 30,000 successors: what the workers have under way must fit the budget.
#[test]
fn many_enabled_rules_fit_the_budget_with_several_threads() {
    const MANY: &str = "type value: 0..29999; var at: array [0..2] of value; startstate at[0] := 0; at[1] := 0; at[2] := 0; end;
        ruleset v: value do rule at[2] := at[1]; at[1] := at[0]; at[0] := v; end; end;";
    for threads in ["1", "2", "16"] {
        let report = report(MANY, &["--memory", "64M", "--time", "700ms", "--deadlock", "off", "--threads", threads]);
        assert_eq!(report["stop"], "time", "{report:#}");
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= 64 << 20, "{peak} bytes with {threads} threads");
    }
}

/// Start states are made some at a time, also for the audit's walks and for witnesses.
#[test]
fn many_start_states_fit_the_budget() {
    const STARTS: &str = "var at: 0..999999; turn: 0..1; ruleset s: 0..999999 do startstate at := s; turn := 0; end; end;
        rule turn < 1 ==> turn := 1; end;";
    for (deadlock, verdict) in [("off", "holds"), ("stuck", "violated")] {
        let report = report(STARTS, &["--memory", "64M", "--deadlock", deadlock, "--threads", "2"]);
        assert_eq!((&report["states"], &report["verdict"]), (&2_000_000.into(), &verdict.into()), "{report:#}");
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= 64 << 20, "{peak} bytes");
    }
}

/// Random searches begin in a piece of the start states, and in another one when they start anew.
#[test]
fn many_start_states_fit_the_budget_of_every_strategy() {
    const STARTS: &str = "var at: 0..299999; turn: 0..1; ruleset s: 0..299999 do startstate at := s; turn := 0; end; end;
        rule turn < 1 ==> turn := 1; end;";
    for strategy in ["walk", "rbfs", "highway:width=100", "dfs", "rdfs", "urs", "rurs", "rsdrs", "random", "novelty"] {
        for threads in ["1", "8"] {
            let options =
                ["--memory", "64M", "--steps", "200000", "--deadlock", "off", "--audit", "off", "--strategy", strategy, "--threads", threads];
            let report = report(STARTS, &options);
            let (peak, steps) = (report["peak_memory_bytes"].as_u64().unwrap(), report["steps"].as_u64().unwrap());
            // Workers that ask for the last memory at the same moment may take a little more.
            assert!(peak <= (64 << 20) / 50 * 51 && steps > 0, "{strategy}, {threads} threads: {peak} bytes, {steps} steps");
        }
    }
}

/// The only violation lies behind one of 100,000 start states: a walk that kept to the first piece that it drew would miss it (with odds of 24 in 25).
#[test]
fn walks_go_on_to_other_start_states() {
    const ONE: &str = "var at: 0..99999; turn: 0..1; ruleset s: 0..99999 do startstate at := s; turn := 0; end; end;
        rule turn < 1 ==> turn := 1; assert at != 77777; end;";
    for strategy in ["walk", "walk:choice=states", "rurs", "rdfs", "dfs"] {
        let report = report(ONE, &["--memory", "64M", "--steps", "20000000", "--deadlock", "off", "--strategy", strategy, "--threads", "1"]);
        assert_eq!(report["verdict"], "violated", "{strategy}: {report:#}");
        assert_eq!(report["violations"][0]["witness"]["steps"].as_array().map(Vec::len), Some(1), "{report:#}");
    }
}

/// A search that starts anew when V is full ends if V cannot hold the start states.
#[test]
fn a_search_without_room_for_the_start_states_ends() {
    const STARTS: &str = "var at: 0..19; turn: 0..1; ruleset s: 0..19 do startstate at := s; turn := 0; end; end; rule turn < 1 ==> turn := 1; end;";
    for strategy in ["rurs:capacity=10", "rsdrs:capacity=10"] {
        let report = report(STARTS, &["--time", "20s", "--deadlock", "off", "--strategy", strategy, "--threads", "1"]);
        assert_eq!(report["stop"], "memory", "{strategy}: {report:#}");
    }
}

#[test]
fn a_search_by_one_thread_says_why() {
    check(COUNTER, &["--strategy", "dfs", "--threads", "4"]).prints("only one thread was used: several cannot share `dfs` over `exact`");
    check(COUNTER, &["--strategy", "bfs", "--states", "100", "--threads", "4"]).prints("only one thread was used: with more, a limit");
}

/// In a small budget machine code does not count, whether it was compiled or kept. Each run has its own cache folder or that of the run before.
#[test]
fn kept_code_leaves_a_small_budget_as_it_was() {
    let folder = crate::Folder::new();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/murphi/german.m");
    let explored = |more: &[&str]| {
        let mut command = crate::program();
        command.env("XDG_CACHE_HOME", folder.path("cache")).args(["check", model, "--const", "NodeCount=4", "--symmetry", "off"]);
        command.args(["--quiet", "--json", "--audit", "off", "--memory", "1M", "--threads", "1", "--strategy", "bfs"]).args(more);
        let report = crate::Done::new(&command.output().unwrap()).json();
        (report["states"].as_u64().unwrap(), report["steps"].as_u64().unwrap(), report["stop"].to_string())
    };
    let files = || std::fs::read_dir(folder.path("cache/wayfarer/code")).map_or(0, Iterator::count);
    let fresh = explored(&["--keep-code", "off"]);
    assert_eq!((fresh.2.as_str(), files()), ("\"memory\"", 0));
    assert_eq!([explored(&[]), explored(&[])], [fresh.clone(), fresh]);
    assert_eq!(files(), 1);
}

/// A budget that comes from a limit of the process names it, and leaves little of it to the program itself.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_address_space_is_named() {
    let folder = crate::Folder::new();
    let file = folder.file("model.m", BIG);
    let under = |kibibytes: u32, options: &str| {
        let line = format!("ulimit -v {kibibytes}; exec \"$0\" check \"$1\" --quiet {options}");
        let mut command = std::process::Command::new("sh");
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).args(["-c", &line, env!("CARGO_BIN_EXE_wayfarer"), &file]);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let spent = under(120_000, "--strategy bfs --audit off");
    assert!(spent.contains("three quarters of what the limit on address space leaves: try a larger limit (ulimit -v)"), "{spent}");
    // Of 4 GiB the stack of the main thread takes an eighth at most, and threads share the allocator's memory.
    let plan = under(4 << 20, "--plan");
    let gibibytes: f64 = plan.split(' ').next().unwrap().parse().unwrap();
    assert!(plan.contains(" GiB of memory for auto") && gibibytes >= 2.0, "{plan}");
}

/// The store of fingerprints is made while the full store still holds most of the address space.
#[cfg(target_os = "linux")]
#[test]
fn auto_goes_on_over_fingerprints_under_a_limit_on_address_space() {
    let folder = crate::Folder::new();
    let file = folder.file("model.m", BIG.replace("num: 0..N-1", "num: 0..16777215"));
    for kibibytes in [170_000, 180_000, 190_000] {
        let line = format!("ulimit -v {kibibytes}; exec \"$0\" check \"$1\" --quiet --json --const N=12 --audit off");
        let mut command = std::process::Command::new("sh");
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).args(["-c", &line, env!("CARGO_BIN_EXE_wayfarer"), &file]);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(report["states"], 2_985_984, "{kibibytes}: {report:#}");
    }
}

/// Two threads have much under way. In a small budget one of them searches.
#[test]
fn two_threads_explore_in_a_small_budget() {
    for store in ["compact", "bitstate"] {
        let report = report(BIG, &["--store", store, "--memory", "1M", "--threads", "2", "--time", "2s", "--audit", "off"]);
        assert!(report["states"].as_u64().unwrap() > 10_000, "{store}: {report:#}");
    }
}
