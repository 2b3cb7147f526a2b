//! Runs whose memory is too small for every state: the search continues, and says how.

use crate::{check, report};

/// Three counters: 216,000 states; the budgets below hold a tenth of them.
const COUNTERS: &str = "
const Last: 59;
var a: 0..Last; b: 0..Last; c: 0..Last;
startstate begin a := 0; b := 0; c := 0; end;
rule \"a\" a < Last ==> begin a := a + 1; end;
rule \"b\" b < Last ==> begin b := b + 1; end;
rule \"c\" c < Last ==> begin c := c + 1; end;
rule \"again\" a = Last & b = Last & c = Last ==> begin a := 0; b := 0; c := 0; end;
";

#[test]
fn a_full_store_gives_way_to_fingerprints_of_the_same_states() {
    for threads in ["1", "2"] {
        let report = report(COUNTERS, &["--memory", "700K", "--threads", threads]);
        // Passes that agree end the run; they cannot prove that their omissions hide nothing.
        assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"memory".into()), "{report:#}");
        let phases = report["phases"].as_array().unwrap();
        assert_eq!((&phases[0]["name"], &phases[0]["ended"]), (&"bfs over exact".into(), &"memory".into()), "{report:#}");
        assert_eq!(phases[1]["name"], "bfs over compact");
        // All except those that the fingerprints took for known.
        let visited = phases[1]["visited"].as_u64().unwrap();
        assert!((214_000..=216_000).contains(&visited), "{visited} visited");
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= (700 << 10) + (64 << 10), "{peak}");
    }
    check(COUNTERS, &["--memory", "700K", "--threads", "1", "--verbose"]).exits(0).prints("bfs over exact, until").prints("bfs over compact, until");
}

#[test]
fn several_threads_share_the_phases_over_fingerprints() {
    // 1,728,000 states, half of which the exact store holds; every path to the violation has 345 steps.
    let model = COUNTERS.replace("59", "119");
    let budget = ["--memory", "17M", "--threads", "2"];
    let held = report(&model, &budget);
    let phases = held["phases"].as_array().unwrap();
    assert_eq!((&phases[0]["ended"], &phases[1]["name"]), (&"memory".into(), &"bfs over compact".into()), "{held:#}");
    assert_eq!((&phases[1]["visited"], &phases[1]["depth"]), (&1_728_000.into(), &357.into()), "{held:#}");
    assert_eq!((&held["threads"], &held["repeatable"], &held["stop"]), (&2.into(), &false.into(), &"confident".into()), "{held:#}");
    let violated = report(&format!("{model}invariant \"low\" a + b + c < 345;"), &budget);
    assert_eq!((&violated["verdict"], &violated["witness"]["length"]), (&"violated".into(), &345.into()), "{violated:#}");
}

#[test]
fn a_violation_beyond_the_exact_store_has_a_replayed_witness() {
    // Every path to it has 165 steps; so has the witness, whichever search finds it.
    let model = format!("{COUNTERS}invariant \"low\" a + b + c < 165;");
    for more in [&["--seed", "1"] as &[&str], &["--seed", "2", "--threads", "2"]] {
        let report = report(&model, &[&["--memory", "700K"], more].concat());
        assert_eq!(report["verdict"], "violated", "{report:#}");
        assert_eq!(report["witness"]["length"], 165, "{report:#}");
    }
}

#[test]
fn confidence_is_a_probability_below_one() {
    check(COUNTERS, &["--confidence", "1"]).exits(2).complains("is not a confidence");
    check(COUNTERS, &["--confidence", "0.5", "--memory", "8M"]).exits(0).prints("holds");
}

#[test]
fn start_states_that_find_no_room_are_not_forgotten() {
    // 40,000 start states, a part of which the first store holds; the violation is six steps from the last of them.
    let model = "
const N: 39999;
type R: 0..N; P: 0..1000000000;
var x: R; y: P; wide: array [0..18] of P;
ruleset r: R do startstate begin x := r; y := r; for i: 0..18 do wide[i] := r; end; end; end;
rule \"go\" x = N & y < 2 * N ==> begin y := y + 1; end;
rule \"stay\" true ==> begin x := x; end;
invariant \"low\" !(x = N & y = N + 6);
";
    for threads in ["1", "2"] {
        let report = report(model, &["--memory", "16M", "--threads", threads, "--deadlock", "off"]);
        assert_eq!((&report["verdict"], &report["witness"]["length"]), (&"violated".into(), &6.into()), "{report:#}");
        let phases = report["phases"].as_array().unwrap();
        assert_eq!((&phases[0]["ended"], &phases[0]["steps"]), (&"memory".into(), &0.into()), "{report:#}");
    }
}

#[test]
fn a_store_that_takes_half_of_all_states_for_known_ones_is_no_ground_for_confidence() {
    // 1,728,000 states, less than a tenth of which every pass visits: passes that agree with each other are wrong
    // together.
    let report = report(&COUNTERS.replace("59", "119"), &["--memory", "200K", "--steps", "8000000", "--threads", "1", "--audit", "off"]);
    assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"steps".into()), "{report:#}");
    let phases = report["phases"].as_array().unwrap();
    assert!(phases.len() > 2 && phases.iter().all(|phase| phase["visited"].as_u64().unwrap() < 172_800), "{report:#}");
}

#[test]
fn a_line_of_states_that_is_left_at_an_omission_is_no_ground_for_confidence_either() {
    let line = "
var x: 0..1000000000;
startstate begin x := 0; end;
rule \"on\" x < 1000000000 ==> begin x := x + 1; end;
invariant \"low\" x != 999999999;
";
    for seed in ["1", "2", "3"] {
        let report = report(line, &["--memory", "200K", "--seed", seed, "--threads", "1", "--audit", "off"]);
        assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"memory".into()), "{report:#}");
    }
}

#[test]
fn a_budget_too_small_to_begin_exactly_gives_an_answer_all_the_same() {
    let report = report(COUNTERS, &["--memory", "80K", "--steps", "400000", "--threads", "1", "--audit", "off"]);
    assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"steps".into()), "{report:#}");
    let states = report["states"].as_f64().unwrap() * (1.0 - 3.0 * report["states_error"].as_f64().unwrap());
    assert!((1_000.0..=216_000.0).contains(&states), "{states} states");
}

#[test]
fn what_a_random_search_finds_first_does_not_make_the_witness_longer() {
    // A random walk reaches 60 long before a search by levels does, on a longer path.
    let wide = "
const Last: 99;
var x: 0..Last; y: 0..Last; z: 0..Last;
startstate begin x := 0; y := 0; z := 0; end;
rule \"on\" x < Last ==> begin x := x + 1; end;
rule \"back\" x > 0 ==> begin x := x - 1; end;
rule \"far\" x = 3 ==> begin x := 50; end;
rule \"y\" y < Last ==> begin y := y + 1; end;
rule \"z\" z < Last ==> begin z := z + 1; end;
invariant \"not sixty\" x != 60;
";
    for seed in ["1", "2", "3"] {
        let report = report(wide, &["--seed", seed, "--threads", "1"]);
        assert_eq!((&report["verdict"], &report["witness"]["length"]), (&"violated".into(), &14.into()), "{report:#}");
    }
}

/// Three counters in states of 700 bits: 64,000 of them.
const WIDE: &str = "
const Last: 39;
var a: array [0..99] of 0..127;
startstate begin for i: 0..99 do a[i] := 64; end; for i: 0..2 do a[i] := 0; end; end;
ruleset i: 0..2 do rule \"up\" a[i] < Last ==> begin a[i] := a[i] + 1; a[i + 10] := 127 - a[i]; end; end;
rule \"again\" a[0] = Last & a[1] = Last & a[2] = Last ==> begin
  for i: 0..2 do a[i] := 0; a[i + 10] := 64; end;
end;
";

#[test]
fn wide_states_move_into_a_tree_and_the_answer_stays_exact() {
    let later = format!("{WIDE}invariant \"low\" a[0] + a[1] + a[2] < 90;");
    for threads in ["1", "2"] {
        let whole = report(WIDE, &["--memory", "6M", "--threads", threads]);
        assert_eq!((&whole["verdict"], &whole["states"]), (&"holds".into(), &64_000.into()), "{whole:#}");
        let names: Vec<_> = whole["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["bfs over exact", "bfs over tree"]);
        // The firings out of the states of both.
        assert_eq!(whole["rules_fired"], 3 * 39 * 40 * 40 + 1);
        let broken = report(&later, &["--memory", "6M", "--threads", threads]);
        assert_eq!((&broken["verdict"], &broken["witness"]["length"]), (&"violated".into(), &90.into()), "{broken:#}");
    }
}
