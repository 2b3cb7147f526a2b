//! `--junit` and `--sarif`: files that other programs read, so the tests read them as these programs would.

use crate::models::*;
use crate::{Done, Folder, wayfarer, wayfarer_with_input};
use roxmltree::{Document, Node};
use serde_json::Value;

/// A run with both files, parsed.
struct Files {
    done: Done,
    junit: String,
    sarif: Value,
}

fn both(model: &str, arguments: &[&str]) -> Files {
    let folder = Folder::new();
    // With this, the folder is a repository, so locations are relative to it.
    std::fs::create_dir(folder.path(".git")).unwrap();
    std::fs::create_dir(folder.path("a b")).unwrap();
    let file = folder.file("a b/model.m", model);
    let (junit, sarif) = (folder.path("out.xml"), folder.path("out.sarif"));
    let mut all = vec!["check", &file, "--quiet", "--junit", &junit, "--sarif", &sarif];
    all.extend(arguments);
    let done = wayfarer(&all);
    let junit = std::fs::read_to_string(&junit).unwrap();
    let sarif = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    assert_junit(&junit);
    assert_sarif(&sarif);
    let left: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
    Files { done, junit, sarif }
}

impl Files {
    /// Each case by name, with its outcome.
    fn cases(&self) -> Vec<(String, String)> {
        let document = Document::parse(&self.junit).unwrap();
        let ended = |case: Node| case.first_element_child().map_or("passed".to_string(), |child| child.tag_name().name().to_string());
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        cases.map(|case| (case.attribute("name").unwrap().to_string(), ended(case))).collect()
    }

    fn results(&self) -> &Vec<Value> {
        self.sarif["runs"][0]["results"].as_array().unwrap()
    }

    #[track_caller]
    fn assert_cases(&self, expected: &[(&str, &str)]) {
        let cases = self.cases();
        let cases: Vec<(&str, &str)> = cases.iter().map(|(name, end)| (name.as_str(), end.as_str())).collect();
        assert_eq!(cases, expected, "{}", self.junit);
    }
}

/// The properties that every reader of JUnit files relies on: counts that agree with the cases, names, a location,
/// and a message if a case did not pass.
#[track_caller]
fn assert_junit(text: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    for suite in [root, root.first_element_child().unwrap()] {
        let count = |tag: &str| suite.descendants().filter(|node| node.has_tag_name(tag)).count().to_string();
        for (attribute, tag) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")] {
            assert_eq!(suite.attribute(attribute), Some(count(tag).as_str()), "{attribute} in {text}");
        }
        assert!(suite.attribute("name").is_some());
    }
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        assert!(case.attribute("name").is_some() && case.attribute("classname").is_some(), "{text}");
        assert!(case.attribute("file").is_none_or(|file| !file.contains('\\')), "{text}");
        assert!(case.attribute("line").is_none_or(|line| line.parse::<u32>().unwrap() >= 1), "{text}");
        assert!(case.children().filter(Node::is_element).all(|child| child.attribute("message").is_some()), "{text}");
    }
}

/// The rules of SARIF 2.1.0 that apply to our files.
#[track_caller]
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "Wayfarer");
    assert!(run["automationDetails"]["id"].as_str().unwrap().ends_with('/'));
    assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
    for notification in run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap() {
        assert!(notification["message"]["text"].is_string());
    }
    for result in run["results"].as_array().unwrap() {
        assert!(!result["message"]["text"].as_str().unwrap().is_empty(), "{result:#}");
        let rule = &driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["shortDescription"]["text"].is_string());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        result["locations"].as_array().unwrap().iter().for_each(assert_location);
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            let stops = flow["threadFlows"][0]["locations"].as_array().unwrap();
            assert!(!stops.is_empty());
            for stop in stops {
                assert!(stop["location"]["message"]["text"].is_string() && stop["executionOrder"].is_u64());
                assert!(stop["state"].as_object().unwrap().values().all(|value| value["text"].is_string()));
                if stop["location"]["physicalLocation"].is_object() {
                    assert_location(&stop["location"]);
                }
            }
        }
    }
}

fn assert_location(location: &Value) {
    let place = &location["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b/model.m");
    assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
    assert!(place["region"].get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
}

#[test]
fn a_case_passes_where_its_property_is_proved() {
    let files = both(COUNTER, &[]);
    files.assert_cases(&[("invariant `in range`", "passed"), ("no rule fails", "passed"), ("no deadlock", "passed")]);
    assert!(files.results().is_empty(), "{:#}", files.sarif);
    assert_eq!(files.sarif["runs"][0]["properties"]["verdict"], "holds");
}

#[test]
fn a_violation_has_its_place_and_its_witness() {
    let files = both(VIOLATED, &[]);
    files.assert_cases(&[
        ("invariant `below two`", "failure"),
        ("invariant `fine`", "skipped"),
        ("no rule fails", "skipped"),
        ("no deadlock", "skipped"),
    ]);
    let document = Document::parse(&files.junit).unwrap();
    let case = document.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
    assert_eq!((case.attribute("file"), case.attribute("line")), (Some("a b/model.m"), Some("8")));
    let failure = case.first_element_child().unwrap();
    assert_eq!(failure.attribute("message"), Some("invariant `below two` does not hold"));
    let story = failure.text().unwrap();
    for part in ["witness of 2 steps", "start Init", "x: 1 → 2", "model.m:8:1", "repeat it with: wayfarer check"] {
        assert!(story.contains(part), "{story}");
    }
    assert!(files.junit.contains("the run ended at another violation: invariant `below two` does not hold"), "{}", files.junit);

    let [result] = files.results().as_slice() else { panic!("{:#}", files.sarif) };
    assert_eq!(result["ruleId"], "invariant");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"], serde_json::json!({ "startLine": 8, "startColumn": 1 }));
    let stops = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(stops.len(), 3);
    assert_eq!(stops[0]["state"]["x"]["text"], "0");
    assert_eq!(stops[2]["state"]["x"]["text"], "2");
    assert_eq!(stops[2]["location"]["physicalLocation"]["region"]["startLine"], 5);
    assert!(result["message"]["text"].as_str().unwrap().contains("conjunct 2 of 2 is false"));
}

#[test]
fn what_else_is_proved_beside_violations_passes() {
    let files = both(VIOLATED, &["--max-errors", "100", "--deadlock", "off"]);
    files.assert_cases(&[
        ("invariant `below two`", "failure"),
        ("invariant `fine`", "passed"),
        ("no rule fails", "passed"),
        ("no deadlock", "skipped"),
    ]);
    assert!(files.junit.contains("not judged: it was left out on request"), "{}", files.junit);
}

#[test]
fn what_a_budget_left_open_is_skipped_and_fails_only_where_everything_is_asked_for() {
    let open = both(BIG, &["--states", "500"]);
    open.assert_cases(&[("invariant `in range`", "skipped"), ("no rule fails", "skipped"), ("no deadlock", "skipped")]);
    assert!(
        open.junit.contains("not proved: the run ended before everything was visited: the limit on states was reached; 500 states"),
        "{}",
        open.junit
    );
    assert!(open.results().is_empty());
    assert!(open.junit.contains("<system-out>with 95 % confidence, at most "), "{}", open.junit);
    // The audit, and the three that are open.
    assert_eq!(open.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 4);
    let failed = both(BIG, &["--states", "500", "--exhaustive"]);
    failed.done.exits(4);
    assert_eq!(failed.sarif["runs"][0]["results"][0]["ruleId"], "not-proved");
    assert_eq!(failed.sarif["runs"][0]["results"].as_array().unwrap().len(), 3);
    assert_eq!(failed.junit.matches("type=\"not-proved\"").count(), 3);
}

#[test]
fn other_kinds_fail_the_case_they_belong_to() {
    for (model, case, rule, line) in [
        (STUTTERS, "no deadlock", "deadlock", 3),
        (ASSERTION, "no rule fails", "assertion", 3),
        (ERROR, "no rule fails", "error", 3),
        (UNDEFINED, "no rule fails", "fault", 4),
    ] {
        let files = both(model, &[]);
        let failed: Vec<String> = files.cases().into_iter().filter(|(_, end)| end == "failure").map(|(name, _)| name).collect();
        assert_eq!(failed, [case], "{}", files.junit);
        assert_eq!(files.results()[0]["ruleId"], rule);
        assert_eq!(files.results()[0]["locations"][0]["physicalLocation"]["region"]["startLine"], line, "{rule}");
    }
}

#[test]
fn covers_pass_when_reached_and_fail_when_they_cannot_be() {
    let model = format!("{COUNTER}cover \"two\" x = 2;\ncover \"four\" x = N + 1;\ncover \"five\" x = N + 2;\n");
    // One violation is requested, and both covers fail.
    let files = both(&model, &[]);
    let cases: Vec<String> = files.cases().into_iter().map(|(_, end)| end).collect();
    assert_eq!(cases, ["passed", "passed", "failure", "failure", "passed", "passed"], "{}", files.junit);
    assert_eq!(files.results().len(), 2);
    assert!(files.results().iter().all(|result| result["ruleId"] == "cover"));
    let cut = both(&model, &["--states", "3"]);
    let cases: Vec<String> = cut.cases().into_iter().map(|(_, end)| end).collect();
    assert_eq!(cases[1..4], ["passed", "skipped", "skipped"], "{}", cut.junit);
}

#[test]
fn what_was_looked_for_fails_as_the_exit_code_does() {
    let found = both(COUNTER, &["--find", "x = 2"]);
    let failed: Vec<String> = found.cases().into_iter().filter(|(_, end)| end == "failure").map(|(name, _)| name).collect();
    assert_eq!(failed, ["found `x = 2`"], "{}", found.junit);
    assert_eq!((&found.results()[0]["ruleId"], &found.results()[0]["level"]), (&"found".into(), &"note".into()));
    found.done.exits(1);
    let rule = both(COUNTER, &["--find-rule", "never"]);
    assert!(rule.cases().contains(&("rule `never`".to_string(), "passed".to_string())), "{}", rule.junit);
    rule.done.exits(0);
}

#[test]
fn names_that_no_file_format_likes_come_through() {
    let model = COUNTER.replace("in range", "a < b && \u{7f}\u{1}\t]]> é").replace("x <= N", "x < 2");
    let files = both(&model, &[]);
    assert_eq!(files.cases()[0].0, "invariant `a < b && \\u{7f}\\u{1}\t]]> é`");
    assert!(files.results()[0]["message"]["text"].as_str().unwrap().contains("a < b && \u{7f}\u{1}\t]]> é"));
}

#[test]
fn a_model_that_cannot_be_read_is_an_error_at_its_place() {
    let files = both(TWO_MISTAKES, &[]);
    files.assert_cases(&[("the model can be checked", "error")]);
    assert!(files.junit.contains("line=\"3\"") && files.junit.contains("nowhere"), "{}", files.junit);
    let lines: Vec<&Value> = files.results().iter().map(|result| &result["locations"][0]["physicalLocation"]["region"]["startLine"]).collect();
    assert_eq!(lines, [3, 4]);
    assert_eq!(files.sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    files.done.exits(2);
    let files = both(COUNTER, &["--property", "no such"]);
    files.assert_cases(&[("the model can be checked", "error")]);
    assert!(files.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap().contains("no such"));
    files.done.exits(2);
}

#[test]
fn files_stay_small_where_much_is_wrong() {
    // Twenty-one states are bad, each of them more than 200 steps deep, and a start state has hundreds of values.
    let model = "type num: 0..260; var x: num; a: array [0..299] of boolean;\n\
        startstate begin x := 0; for i: 0..299 do a[i] := false; end; end;\n\
        rule \"up\" x < 260 ==> begin x := x + 1; end;\n\
        invariant \"small\" x < 240;\n";
    let files = both(model, &["--max-errors", "5000", "--deadlock", "off"]);
    assert_eq!(files.results().len(), 21);
    for part in ["and 11 more against the same", "40 steps are left out here", "101 other values"] {
        assert!(files.junit.contains(part), "no `{part}` in {}", files.junit);
    }
}

#[test]
fn a_model_from_the_standard_input_has_no_place() {
    let folder = Folder::new();
    let (junit, sarif) = (folder.path("out.xml"), folder.path("out.sarif"));
    wayfarer_with_input(&["check", "-", "--junit", &junit, "--sarif", &sarif], VIOLATED).exits(1);
    assert_junit(&std::fs::read_to_string(&junit).unwrap());
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    assert_sarif(&log);
    assert_eq!(log["runs"][0]["results"][0]["locations"], serde_json::json!([]));
}

#[test]
fn a_file_that_cannot_be_written_is_noticed_before_the_run() {
    let folder = Folder::new();
    let file = folder.file("model.m", BIG);
    for option in ["--junit", "--sarif"] {
        wayfarer(&["check", &file, option, &folder.path("no/such/folder.xml")])
            .exits(3)
            .complains(&format!("{option} cannot write"))
            .complains("its folder does not exist");
        wayfarer(&["check", &file, option, folder.0.to_str().unwrap()]).exits(3).complains("it is a folder");
        wayfarer(&["check", &file, option, &folder.path("x"), "--runs", "2"]).exits(2).complains("does not go with --runs");
        wayfarer(&["check", &file, option, &folder.path("x"), "--plan"]).exits(2).complains("--plan");
    }
    let same = folder.path("same");
    wayfarer(&["check", &file, "--junit", &same, "--sarif", &same]).exits(2).complains("--junit and --sarif name the same file");
    let likewise = format!("{}/../{}/same", folder.0.display(), folder.0.file_name().unwrap().to_str().unwrap());
    wayfarer(&["check", &file, "--curve", &same, "--witness", &likewise]).exits(2).complains("--curve and --witness name the same file");
    wayfarer(&["check", &file, "--witness", &same, "--witness", &same]).exits(2).complains("--witness names").complains("twice");
    assert!(!std::path::Path::new(&same).exists());
    wayfarer(&["check", &file, "--states", "10", "--junit", "/dev/null", "--sarif", "/dev/null"]).exits(0);
}

#[test]
fn a_summary_in_markdown_lists_the_checks() {
    let folder = Folder::new();
    let (file, page) = (folder.file("model.m", VIOLATED), folder.path("summary.md"));
    wayfarer(&["check", &file, "--quiet", "--markdown", &page]).exits(1);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("❌ violated") && text.contains("| invariant `below two` | ❌ violated |"), "{text}");
    assert!(text.contains("<details><summary>invariant `below two` does not hold</summary>") && text.contains("witness of 2 steps"), "{text}");
    wayfarer(&["check", &folder.file("broken.m", "var x"), "--markdown", &page]).exits(2);
    assert!(std::fs::read_to_string(&page).unwrap().contains("not checked"));
}

/// An output that names the model would destroy it.
#[test]
fn no_output_overwrites_the_model() {
    let folder = Folder::new();
    let file = folder.file("model.m", COUNTER);
    std::os::unix::fs::symlink(&file, folder.path("link.m")).unwrap();
    for output in [file.clone(), folder.path("link.m"), folder.path("../") + folder.0.file_name().unwrap().to_str().unwrap() + "/model.m"] {
        for option in ["--witness", "--junit", "--sarif", "--curve"] {
            wayfarer(&["check", &file, option, &output]).exits(2).complains("would overwrite");
        }
        wayfarer(&["compare", &file, "--html", &output]).exits(2).complains("would overwrite");
    }
    wayfarer(&["check", &file, "--witness", "ful"]).exits(2).complains("did you mean `full`?");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), COUNTER);
}

#[test]
fn files_can_be_pipes() {
    let folder = Folder::new();
    wayfarer(&["check", &folder.file("model.m", COUNTER), "--quiet", "--junit", "/dev/stderr"]).exits(0).complains("<testsuites");
}
