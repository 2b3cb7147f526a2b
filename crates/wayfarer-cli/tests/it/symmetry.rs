//! `--symmetry`: its use, its refusal, and witnesses that are runs of the model.

use crate::{Folder, check, report, wayfarer};

/// Four processes take turns; a rule can be added.
fn model(extra: &str) -> String {
    format!(
        "type pid: scalarset(4); var on: array [pid] of boolean; last: pid; n: 0 .. 4;\n\
        startstate \"none\" for p: pid do on[p] := false; last := p; end; n := 0; end;\n\
        ruleset p: pid do\n\
        rule \"go\" !on[p] & last != p ==> on[p] := true; last := p; n := n + 1; end;\n\
        rule \"stop\" on[p] ==> on[p] := false; last := p; n := n - 1; end;\n\
        {extra}\nend;\n"
    )
}

#[test]
fn states_count_up_to_symmetry_where_the_model_allows_it() {
    let text = model("");
    let (off, auto, on) = (report(&text, &["--symmetry", "off"]), report(&text, &[]), report(&text, &["--symmetry", "on"]));
    assert_eq!((off["states"].as_u64(), off["symmetry"].as_bool()), (Some(64), Some(false)));
    // The number of processes that are on, and whether the last one to move is among them.
    assert_eq!((auto["states"].as_u64(), auto["symmetry"].as_bool()), (Some(8), Some(true)));
    assert_eq!(auto["states"], on["states"]);
    check(&text, &[]).exits(0).prints("explored  8 states up to symmetry");
    check(&text, &["--symmetry", "off"]).exits(0).prints("explored  64 states,");
}

#[test]
fn a_model_that_tells_elements_apart_is_refused_with_the_place() {
    let text = model("rule \"first\" n = 4 ==> for q: pid do last := q; end; end;");
    let done = check(&text, &["--symmetry", "on"]).exits(2);
    done.complains("model.m:6:")
        .complains("depends on the order of its elements: `last` keeps what the last round writes")
        .complains("--symmetry off");
    check(&text, &["--symmetry", "off"]).exits(0);
    let auto = report(&text, &[]);
    assert_eq!(auto["symmetry"], false);
    assert!(auto["remarks"][0].as_str().unwrap().contains("symmetry is not used"), "{auto}");
    let cleared = model("rule \"first\" n = 4 ==> clear last; end;");
    check(&cleared, &["--symmetry", "on"]).exits(2).complains("clearing a value of type `pid`");
}

#[test]
fn what_cannot_be_shown_is_checked_during_the_run() {
    let text = model("rule \"lone\" n = 1 ==> for q: pid do if on[q] then last := q; end; end; end;");
    let (auto, on) = (report(&text, &[]), report(&text, &["--symmetry", "on"]));
    assert_eq!((auto["symmetry"].as_bool(), auto["states"].as_u64()), (Some(true), Some(8)));
    assert_eq!((on["symmetry"].as_bool(), on["states"].as_u64()), (Some(true), Some(8)));
    assert!(auto["remarks"][0].as_str().unwrap().contains("checked during the run"), "{auto}");
    assert!(on["remarks"][0].as_str().unwrap().contains("on your word"), "{on}");
    // Random searches check it as well.
    let walked = report(&text, &["--strategy", "walk", "--steps", "2000", "--audit", "off"]);
    assert_eq!(walked["symmetry"].as_bool(), Some(true));
}

#[test]
fn what_is_too_large_to_be_checked_is_left_to_the_user_with_what_it_would_bring() {
    let text = model("rule \"lone\" n = 1 ==> for q: pid do if on[q] then last := q; end; end; end;");
    let text = text.replace("scalarset(4)", "scalarset(5)").replace("0 .. 4", "0 .. 5");
    let auto = report(&text, &[]);
    assert_eq!(auto["symmetry"].as_bool(), Some(false));
    assert!(auto["remarks"][0].as_str().unwrap().contains("the option `symmetry` on"), "{auto}");
    // The first lines say it, with the place, and the factor is the one that the option brings.
    let states = |symmetry: &str| report(&text, &["--symmetry", symmetry])["states"].as_f64().unwrap();
    let factor = states("auto") / states("on");
    let out = check(&text, &[]).out;
    let explored = out.split("  explored ").nth(1).and_then(|rest| rest.split("  cost ").next()).unwrap_or_default();
    let explored = explored.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["symmetry is not used", "model.m:6:", "--symmetry on uses it all the same", &format!("visits about {factor:.1} times fewer states")]
    {
        assert!(explored.contains(part), "no `{part}` in {out}");
    }
}

#[test]
fn a_run_that_sees_elements_told_apart_begins_again_without_symmetry() {
    // Whether the assertion fails depends on who is on, and every order of the rounds is one of the two.
    let model = |condition: &str| {
        format!(
            "type pid: scalarset(3); var on: array [pid] of boolean; n: 0 .. 9;\n\
            startstate for p: pid do on[p] := false; end; n := 0; end;\n\
            ruleset p: pid do rule \"go\" !on[p] ==> on[p] := true; end; end;\n\
            rule \"sum\" n = 0 & exists p: pid do on[p] end & exists p: pid do !on[p] end ==>\n\
            for q: pid do if {condition} then n := n + 1; else assert \"first\" n = 0; end; end; end;\n\
            rule \"again\" n > 0 ==> n := 0; end;\n"
        )
    };
    for condition in ["on[q]", "!on[q]"] {
        let text = model(condition);
        let (off, auto) = (report(&text, &["--symmetry", "off"]), report(&text, &[]));
        assert_eq!((off["verdict"].as_str(), auto["verdict"].as_str()), (Some("violated"), Some("violated")), "{auto}");
        assert_eq!((auto["symmetry"].as_bool(), &auto["states"]), (Some(false), &off["states"]));
        assert!(auto["remarks"].to_string().contains("began again without it"), "{auto}");
    }
}

#[test]
fn witnesses_are_runs_of_the_model_and_as_short() {
    let bad = [
        ("invariant \"three\" n < 3 | !on[p];", "invariant"),
        ("rule \"fail\" n = 3 & on[p] & last = p ==> n := n + 2; end;", "fault"),
        ("rule \"complain\" n = 4 ==> error \"all are on\"; end;", "error"),
    ];
    for (extra, kind) in bad {
        let text = model(extra);
        for store in ["exact", "tree", "bitstate"] {
            let (off, on) = (report(&text, &["--symmetry", "off"]), report(&text, &["--symmetry", "on", "--store", store]));
            assert_eq!(on["violation"]["kind"], kind, "{on}");
            assert_eq!(on["violation"]["name"], off["violation"]["name"]);
            assert_eq!(on["witness"]["length"], off["witness"]["length"], "{store}: {on}");
            // Every step changes what the previous one left: the same element has one name from the first step to the
            // last.
            let steps = on["witness"]["steps"].as_array().unwrap();
            let moved: Vec<&str> = steps.iter().filter_map(|step| step["rule"].as_str()?.strip_prefix("go, p: ")).collect();
            let mut names = moved.clone();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), moved.len(), "{on}");
        }
    }
}

#[test]
fn a_witness_found_up_to_symmetry_replays() {
    let folder = Folder::new();
    let file = folder.file("model.m", model("invariant \"three\" n < 3;"));
    let trace = folder.path("trace.itf.json");
    wayfarer(&["check", &file, "--symmetry", "on", "--witness", &trace]).exits(1);
    wayfarer(&["replay", &file, &trace]).exits(0);
}

#[test]
fn one_instance_of_a_rule_is_looked_for_without_symmetry() {
    let report = report(&model(""), &["--find-rule", "stop, p: pid_1"]);
    assert_eq!(report["symmetry"], false, "{report}");
    let family = self::report(&model(""), &["--find-rule", "stop"]);
    assert_eq!(family["symmetry"], true, "{family}");
}

#[test]
fn a_step_to_another_state_of_the_orbit_is_no_deadlock() {
    let text = "type pid: scalarset(3); var holder: pid; startstate for p: pid do holder := p; end; end;\n\
        ruleset p: pid do rule \"hand over\" holder != p ==> holder := p; end; end;";
    let report = report(text, &[]);
    assert_eq!(
        (report["verdict"].as_str(), report["states"].as_u64(), report["rules_fired"].as_u64()),
        (Some("holds"), Some(1), Some(2)),
        "{report}"
    );
    let stuck = text.replace("==> holder := p;", "==> holder := holder;");
    check(&stuck, &[]).exits(1).prints("deadlock");
}

#[test]
fn a_start_state_that_is_wrong_is_shown_as_it_is() {
    // The start state is not the one that stands for its orbit.
    let text = model("").replace("end;\n\nend;\n", "end;\nend;\n") + "invariant \"some\" n > 0;";
    for strategy in ["bfs", "dfs", "walk"] {
        let report = report(&text, &["--strategy", strategy, "--threads", "1"]);
        assert_eq!((&report["symmetry"], &report["witness"]["length"]), (&true.into(), &0.into()), "{strategy}: {report}");
    }
}
