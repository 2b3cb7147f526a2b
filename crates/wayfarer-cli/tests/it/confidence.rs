//! The evidence reported by a run that found nothing.

use crate::models::*;
use crate::{check, report};
use serde_json::Value;

/// Two counters up to `max`, the first of which must stay below `most`; deep violations, wide levels.
fn counters(most: u32) -> String {
    format!(
        "var x: 0..60; var y: 0..60;
         startstate begin x := 0; y := 0; end;
         rule \"x\" x < 60 ==> begin x := x + 1; end;
         rule \"y\" y < 60 ==> begin y := y + 1; end;
         rule \"anew\" x = 60 & y = 60 ==> begin x := 0; y := 0; end;
         invariant \"low\" x < {most};"
    )
}

/// Three symmetric processes with a counter each.
const ALIKE: &str = "type Process: scalarset(3); var at: array [Process] of 0..20;
    startstate begin for p: Process do at[p] := 0; end; end;
    ruleset p: Process do
      rule \"up\" at[p] < 20 ==> begin at[p] := at[p] + 1; end;
      rule \"anew\" at[p] = 20 ==> begin at[p] := 0; end;
    end;
    invariant \"low\" forall p: Process do at[p] <= BOUND end;";

#[test]
fn a_run_that_found_nothing_is_audited() {
    let report = report(&counters(61), &["--states", "500", "--threads", "1"]);
    assert_eq!(report["verdict"], "not-found");
    let confidence = &report["confidence"];
    let audit = confidence["audit"].as_array().unwrap();
    let names: Vec<&str> = audit.iter().map(|sampler| sampler["sampler"].as_str().unwrap()).collect();
    assert_eq!(names, ["walk", "shallow walk", "priority walk", "restarted walk"]);
    assert!(
        audit.iter().all(|sampler| sampler["judge"] == "store" && sampler["unfinished"] == 0 && sampler["judged"] == sampler["walks"]),
        "{report:#}"
    );
    let bound = |sampler: &Value| sampler["missing_at_most"].as_f64().unwrap();
    let worst = audit.iter().filter(|sampler| sampler["fixed"] == true).map(bound).fold(0.0, f64::max);
    assert_eq!(bound(&confidence["headline"]), worst);
    // Walks of more than sixty steps or so end where the search has not been: with a kept step log-uniform to 4,096 that is at least a third of them.
    assert!(worst > 1.0 / 3.0 && worst < 1.0, "{worst}");
    assert!(confidence["forecast"]["new_states_next_hour"].as_f64().unwrap() > 0.0);
    assert!(confidence["walks_needed"]["walks"].as_f64().unwrap() > 299_000.0);
    assert_eq!((&confidence["states"]["distinct"], &confidence["rules_never_fired"]), (&Value::from(500), &Value::from(1)));
}

#[test]
fn the_headline_says_what_it_does_not_mean() {
    check(&counters(61), &["--states", "500", "--threads", "1", "--verbose"])
        .exits(0)
        .prints("what \"not found\" is worth")
        .prints("With 95 % confidence, at most")
        .prints("This bounds what such walks reach, not how many states there are")
        .prints("priority walk")
        .prints("No walk met a violation, so at most");
}

/// A search that ran dry has no forecast, and a store that does not forget counts better than any estimate.
#[test]
fn a_finished_search_over_fingerprints_counts_and_forecasts_nothing() {
    let model = counters(61);
    let exact = report(&model, &["--threads", "1"]);
    for store in ["compact:bits=64", "bitstate"] {
        for threads in ["1", "2"] {
            let found = report(&model, &["--store", store, "--threads", threads, "--memory", "64M"]);
            assert_eq!((&found["states"], &found["states_error"]), (&exact["states"], &0.0.into()), "{store}, {threads} threads");
            assert_eq!(found["confidence"]["forecast"], Value::Null, "{store}, {threads} threads");
        }
    }
    check(&model, &["--store", "compact:bits=64", "--memory", "64M"]).prints("very likely every state was visited (not proved)");
    let size = exact["states"].to_string();
    let all = report(&model, &["--strategy", "rbfs:own", "--size", &size, "--threads", "1", "--memory", "16M"]);
    assert!(all["coverage"].as_f64().unwrap() <= 1.0 && all["confidence"]["forecast"] == Value::Null, "{all:#}");
}

/// Threads that search apart meet the same states: no coverage over time and no forecast is made of what they count together.
#[test]
fn threads_that_search_apart_contradict_nothing() {
    let model = counters(61);
    for strategy in ["walk", "urs", "sdrs", "highway:width=8", "rbfs"] {
        let found = report(&model, &["--strategy", strategy, "--threads", "4", "--steps", "40k", "--size", "3721", "--memory", "64M"]);
        assert_eq!((&found["cover_times"], &found["confidence"]["forecast"]), (&Value::Array(Vec::new()), &Value::Null), "{strategy}");
        assert!(found["states"].as_u64().unwrap() <= 3721 && found["coverage"].as_f64().unwrap() <= 1.0, "{strategy}: {}", found["states"]);
    }
}

#[test]
fn what_was_proved_or_violated_needs_no_confidence() {
    assert_eq!(report(COUNTER, &[])["confidence"], Value::Null);
    assert_eq!(report(VIOLATED, &[])["confidence"], Value::Null);
    assert!(!check(COUNTER, &[]).out.contains("is worth"));
}

#[test]
fn the_user_says_how_much_is_audited() {
    let model = counters(61);
    let walks = |option: &str| report(&model, &["--states", "500", "--threads", "1", "--audit", option])["confidence"]["audit"].clone();
    assert_eq!(walks("40")[0]["walks"], 40);
    assert_eq!(walks("off"), serde_json::json!([]));
    check(&model, &["--audit", "often"]).exits(2).complains("a number of walks, such as 3000, or `off`");
    check(&model, &["--states", "500", "--audit", "off"]).exits(0).prints("There was no audit");
}

#[test]
fn a_violation_that_the_audit_meets_is_reported_with_its_witness() {
    for threads in ["1", "2"] {
        let report = report(&counters(40), &["--strategy", "bfs", "--depth", "12", "--threads", threads]);
        assert_eq!((&report["verdict"], &report["violation"]["name"]), (&Value::from("violated"), &Value::from("low")), "{report:#}");
        assert_eq!(report["witness"]["length"], 40, "{report:#}");
        assert!(report["witness"]["raw_length"].as_u64().unwrap() >= 40, "{report:#}");
        assert_eq!(report["confidence"], Value::Null);
        assert!(report["remarks"].to_string().contains("the random walks of the audit after it met this violation"), "{report:#}");
    }
    check(&counters(40), &["--depth", "12", "--audit", "off"]).exits(0).prints("not found");
}

#[test]
fn under_symmetry_walks_are_concrete_and_what_they_keep_is_not() {
    // Nearly all orbits are visited: if states were compared as they are, five of six would be missing.
    let all = report(&ALIKE.replace("BOUND", "20"), &["--states", "1750", "--threads", "1", "--audit", "300"]);
    assert_eq!((&all["symmetry"], &all["verdict"]), (&Value::from(true), &Value::from("not-found")), "{all:#}");
    let missing: u64 = all["confidence"]["audit"].as_array().unwrap().iter().map(|sampler| sampler["missing"].as_u64().unwrap()).sum();
    assert!(missing < 300, "{all:#}");
    let violated = report(&ALIKE.replace("BOUND", "15"), &["--depth", "10", "--threads", "1"]);
    assert_eq!((&violated["symmetry"], &violated["verdict"]), (&Value::from(true), &Value::from("violated")), "{violated:#}");
    assert_eq!(violated["witness"]["steps"].as_array().unwrap().len() as u64, violated["witness"]["length"].as_u64().unwrap());
}

#[test]
fn over_a_store_that_errs_or_forgets_the_record_is_the_judge() {
    for (strategy, store) in [("bfs", "compact"), ("walk", "nothing"), ("rbfs:slots=64", "cache:slots=64,ways=16")] {
        let report = report(&counters(61), &["--strategy", strategy, "--store", store, "--steps", "3000", "--threads", "1", "--memory", "64M"]);
        let audit = report["confidence"]["audit"].as_array().unwrap();
        assert!(!audit.is_empty() && audit.iter().all(|sampler| sampler["judge"] == "record"), "{strategy}: {report:#}");
        assert!(report["confidence"]["headline"]["missing_at_most"].as_f64().unwrap() <= 1.0);
    }
}

#[test]
fn a_store_that_forgot_nothing_does_not_say_that_it_forgets() {
    let model = counters(61);
    // Threads that search apart have exact stores of their own.
    let several = ["--strategy", "urs", "--threads", "3", "--steps", "20k"];
    assert_eq!(report(&model, &several)["expected_omissions"], 0.0);
    let done = check(&model, &several).exits(0).prints("whether every state was visited is not known (the limit on steps was reached)");
    assert!(!done.out.contains("forgets"), "{}", done.out);
    // A cache and a pool with room for all keep all: what they counted is no estimate.
    for store in ["cache", "pool"] {
        let over = ["--strategy", "bfs", "--store", store, "--memory", "64M", "--threads", "1"];
        let found = report(&model, &over);
        assert_eq!((&found["states"], &found["states_error"], &found["verdict"]), (&3721.into(), &0.0.into(), &"not-found".into()), "{found:#}");
        assert!(found["expected_omissions"].as_f64().is_some_and(|expected| expected < 1e-3), "{found:#}");
        check(&model, &over).exits(0).prints("explored  3,721 states,").prints("very likely every state was visited (not proved)");
    }
    // A small one forgets.
    let small = ["--strategy", "bfs", "--store", "cache:slots=64", "--steps", "20k", "--threads", "1"];
    let forgetful = report(&model, &small);
    assert!(forgetful["expected_omissions"].is_null(), "{forgetful:#}");
    check(&model, &small).exits(0).prints("The store forgets states");
}

#[test]
fn threads_that_each_counted_all_states_do_not_estimate_them() {
    let model = counters(200).replace("60", "199");
    // The record holds 16,384 states, so that 40,000 were estimated.
    let over = ["--strategy", "rbfs", "--memory", "256M", "--threads", "3"];
    let found = report(&model, &over);
    assert_eq!((&found["stop"], &found["states"], &found["states_error"]), (&"accepted".into(), &40_000.into(), &0.0.into()), "{found:#}");
    let done = check(&model, &over).exits(0).prints("explored  40,000 states,");
    assert!(!done.out.contains("forgets"), "{}", done.out);
    // The evidence behind the first line stands before that of the walks, few of which can be judged.
    let (samples, walks) = (done.out.find("By the samples of rbfs,"), done.out.find("walks could be judged"));
    assert!(samples.is_some() && samples < walks, "{}", done.out);
    // A search that was cut short missed states, whatever its store did.
    let short = ["--strategy", "bfs", "--store", "compact", "--depth", "9", "--memory", "256M"];
    let done = check(&model, &short).exits(0).prints("not every state was expanded");
    assert!(!done.out.contains("missed no state"), "{}", done.out);
}

#[test]
fn searches_that_avoid_known_states_estimate_nothing_from_meeting_them() {
    // Chao's estimate from a highway's visits was hundreds of times the number of states.
    let narrow = report(&counters(61), &["--strategy", "highway:width=8", "--threads", "1", "--steps", "3k"]);
    assert!(narrow["confidence"]["least_states"].is_null(), "{narrow:#}");
    // So was that of a search that closes states, which it would come back to.
    let closing = report(&counters(61), &["--strategy", "urs:close=on", "--store", "pool", "--threads", "1"]);
    assert_eq!((&closing["states"], &closing["confidence"]["least_states"]), (&3721.into(), &Value::Null), "{closing:#}");
    let drawn = report(&counters(61), &["--strategy", "walk", "--threads", "1", "--steps", "200k"]);
    let least = &drawn["confidence"]["least_states"];
    let bound = |name: &str| least[name].as_f64().unwrap();
    assert!(bound("low") <= 3721.0 && bound("low") < bound("total") && bound("total") < bound("high"), "{least}");
}

#[test]
fn an_accepted_search_says_so_in_its_first_line() {
    let over = ["--strategy", "rbfs", "--memory", "16M", "--threads", "1"];
    let done = check(&counters(61), &over).exits(0).prints("by the samples of rbfs, every state was likely visited (not proved)");
    done.prints("a state was missed in one step with a probability below 0.001.");
}

/// A random search takes many steps out of few states. That says nothing about the cost of the audit's walks.
#[test]
fn random_searches_are_audited_like_others() {
    for strategy in ["urs", "sdrs", "rurs", "rsdrs"] {
        let report = report(&counters(61), &["--strategy", strategy, "--steps", "1M", "--threads", "1"]);
        let walks = report["confidence"]["audit"][0]["walks"].as_u64().unwrap();
        assert!(walks >= 300, "{strategy}: {walks} walks");
    }
}
