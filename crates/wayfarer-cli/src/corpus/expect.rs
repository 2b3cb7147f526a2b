//! The expected results of the models of a corpus, and their comparison with a run. `wayfarer corpus --help`
//! describes the supported formats.

use serde_json::Value;
use std::path::Path;

/// One run of one model, with its expected result.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The model's file name.
    pub(crate) file: String,
    /// A label that distinguishes this run from others of the same model; often empty.
    pub(crate) label: &'static str,
    /// Arguments of `wayfarer check`.
    pub(crate) arguments: Vec<String>,
    expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// The model is refused.
    Rejected,
    /// Nothing is violated; with the numbers of states and fired rules, if they are known.
    Holds { states: Option<u64>, rules: Option<u64> },
    /// There is a violation of this kind; with the length of its shortest witness, if it is known.
    Violated { kind: String, length: Option<u64> },
    /// There is no violation in the first states, up to this number.
    NothingWithin(u64),
    /// The model is accepted, and no more is known.
    Accepted,
    /// No tool came to a result.
    Anything,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub(crate) enum Ran {
    /// The model was refused, with this message.
    Rejected(String),
    /// The report of `wayfarer check --json`.
    Report(Value),
    /// There is neither.
    Failed(String),
}

/// Whether a run agrees with the expected result, and a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Agrees(String),
    Differs(String),
    Skipped(String),
}

/// Turns an entry of a file into runs; `None` if the entry lacks something.
type Reader = fn(&Value, Option<u64>, &mut Vec<Case>) -> Option<()>;

/// Reads the expected results of a folder. Runs are stopped after `limit` states.
pub(crate) fn read(folder: &Path, limit: Option<u64>) -> Result<Vec<Case>, String> {
    if !folder.is_dir() {
        return Err(format!("`{}` is not a folder", folder.display()));
    }
    let forms: [(&str, Reader); 2] = [("reference.json", reference), ("expectations.json", expectation)];
    for (name, form) in forms {
        let file = folder.join(name);
        if !file.is_file() {
            continue;
        }
        let shown = file.display();
        let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("`{shown}` is not JSON: {error}"))?;
        let entries = value.as_array().ok_or_else(|| format!("`{shown}` is not a list"))?;
        let mut cases = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            form(entry, limit, &mut cases).ok_or_else(|| format!("`{shown}`: entry {} lacks its file or its expectation", index + 1))?;
        }
        return Ok(cases);
    }
    let cases = headers(folder, limit)?;
    if cases.is_empty() {
        return Err(format!("`{}` holds neither a reference.json nor an expectations.json, nor models with a header", folder.display()));
    }
    Ok(cases)
}

/// The models of a folder whose first lines give the expected result: `-- verdict: holds`, `-- states: 12`, `--
/// violation: deadlock`, ….
fn headers(folder: &Path, limit: Option<u64>) -> Result<Vec<Case>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("cannot read `{}`: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".m") || name.ends_with(".pnml"))
        .collect();
    names.sort();
    let mut cases = Vec::new();
    for name in names {
        let text = std::fs::read(folder.join(&name)).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        let text = String::from_utf8_lossy(&text);
        cases.extend(header(&text).map(|expected| Case::new(&name, "", symmetry("off"), expected, limit)));
        cases.extend(orbits(&text).map(|expected| Case::new(&name, "symmetry", symmetry("on"), expected, limit)));
    }
    Ok(cases)
}

fn symmetry(choice: &str) -> Vec<String> {
    vec!["--symmetry".to_string(), choice.to_string()]
}

/// The result up to symmetry from a header: `-- orbits: 12`.
fn orbits(text: &str) -> Option<Expected> {
    let states = heading(text).iter().find_map(|line| line.trim().strip_prefix("orbits:"))?.trim().parse().ok()?;
    Some(Expected::Holds { states: Some(states), rules: None })
}

/// The lines of a header: those of the first comment in XML, else those at the beginning that are comments.
fn heading(text: &str) -> Vec<&str> {
    if text.trim_start().starts_with('<') {
        let comment = text.split_once("<!--").and_then(|(_, rest)| rest.split_once("-->"));
        return comment.map_or_else(Vec::new, |(inside, _)| inside.lines().collect());
    }
    text.lines().map_while(|line| line.strip_prefix("--")).collect()
}

fn header(text: &str) -> Option<Expected> {
    let lines = heading(text);
    let field = |name: &str| lines.iter().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let number = |name: &str| field(name).and_then(|text| text.parse().ok());
    match field("verdict")? {
        "holds" => Some(Expected::Holds { states: number("states"), rules: number("rules") }),
        "violated" => {
            let kind = field("violation").and_then(|text| text.split_whitespace().next()).unwrap_or("any").to_string();
            Some(Expected::Violated { kind, length: number("witness") })
        }
        _ => None,
    }
}

/// An entry of `reference.json`: one run, another without the deadlock check if its outcome is known, and one up to
/// symmetry if the number of orbits is known.
fn reference(entry: &Value, limit: Option<u64>, cases: &mut Vec<Case>) -> Option<()> {
    let file = entry.get("file")?.as_str()?;
    if let Some(known) = entry.get("known") {
        // A net: markings and firings, whatever deadlocks there are.
        let number = |name: &str| known.get(name).and_then(Value::as_u64);
        let expected = Expected::Holds { states: number("states"), rules: number("transitions_fired") };
        cases.push(Case::new(file, "", ["--deadlock", "off"].map(str::to_string).to_vec(), expected, limit));
        return Some(());
    }
    let multiset = entry.get("features").and_then(Value::as_array).is_some_and(|features| features.iter().any(|feature| feature == "multiset"));
    for (suffix, label) in [("", ""), ("_ndl", "deadlock off")] {
        // With multisets only the numbers for unordered bags are comparable, and no numbers of rules are.
        let text = |name: &str| entry.get(format!("{name}{suffix}")).and_then(Value::as_str);
        let number = |name: &str| entry.get(format!("{name}{suffix}")).and_then(Value::as_u64);
        let outcome = if multiset { text("outcome_nosym_multiset").or(text("outcome_nosym")) } else { text("outcome_nosym") };
        let Some(outcome) = outcome else { continue };
        let (states, rules) = if multiset { (number("states_nosym_multiset"), None) } else { (number("states_nosym"), number("rules_nosym")) };
        let at_least = if multiset { number("states_at_least_multiset") } else { number("states_at_least") };
        let expected = match outcome {
            "rejected" => Expected::Rejected,
            "holds" => Expected::Holds { states, rules },
            "unfinished" => match at_least {
                Some(states) => Expected::NothingWithin(states),
                None if entry.get("confirmed_by").and_then(Value::as_array).is_some_and(|tools| tools.is_empty()) => Expected::Anything,
                None => Expected::Accepted,
            },
            "invariant" | "deadlock" | "error" | "undefined-read" => Expected::Violated { kind: outcome.to_string(), length: None },
            _ => return None,
        };
        let mut arguments = symmetry("off");
        if suffix == "_ndl" {
            arguments.extend(["--deadlock".to_string(), "off".to_string()]);
        }
        cases.push(Case::new(file, label, arguments, expected, limit));
    }
    if let Some(states) = entry.get("states_sym_canonical").and_then(Value::as_u64) {
        // These were counted without the deadlock check if it would have ended the run.
        let arguments = [symmetry("on"), ["--deadlock", "off"].map(str::to_string).to_vec()].concat();
        let expected = Expected::Holds { states: Some(states), rules: entry.get("rules_sym_canonical").and_then(Value::as_u64) };
        cases.push(Case::new(file, "symmetry", arguments, expected, limit));
    }
    Some(())
}

/// An entry of `expectations.json`. Its directives are flags of rumur; those that change the meaning are taken over.
fn expectation(entry: &Value, limit: Option<u64>, cases: &mut Vec<Case>) -> Option<()> {
    let file = entry.get("file")?.as_str()?;
    let number = |name: &str| entry.get(name).and_then(Value::as_u64);
    let expected = match (entry.get("expect_accept")?.as_bool()?, entry.get("expect_verdict").and_then(Value::as_str)) {
        (false, _) => Expected::Rejected,
        (true, Some("holds")) => Expected::Holds { states: number("states"), rules: number("rules") },
        (true, Some("violated")) => Expected::Violated { kind: "any".to_string(), length: None },
        (true, _) => Expected::Accepted,
    };
    let flags = entry.pointer("/directives/rumur_flags").and_then(Value::as_array).cloned().unwrap_or_default();
    let flags: Vec<&str> = flags.iter().filter_map(Value::as_str).collect();
    let after = |name: &str| flags.iter().position(|flag| *flag == name).and_then(|at| flags.get(at + 1)).map(|value| value.to_string());
    let mut arguments = [symmetry("off"), ["--undefined", "strict"].map(str::to_string).to_vec()].concat();
    for (theirs, ours) in [("--deadlock-detection", "--deadlock"), ("--bound", "--depth")] {
        arguments.extend(after(theirs).into_iter().flat_map(|value| [ours.to_string(), value]));
    }
    cases.push(Case::new(file, "", arguments, expected, limit));
    Some(())
}

impl Case {
    fn new(file: &str, label: &'static str, mut arguments: Vec<String>, expected: Expected, limit: Option<u64>) -> Case {
        let enough = if let Expected::NothingWithin(states) = expected { Some(states) } else { None };
        if let Some(states) = [limit, enough].into_iter().flatten().min() {
            arguments.extend(["--states".to_string(), states.to_string()]);
        }
        Case { file: file.to_string(), label, arguments, expected }
    }

    /// Compares a result with the expected one.
    pub(crate) fn judge(&self, ran: &Ran) -> Judgement {
        let report = match (ran, &self.expected) {
            (Ran::Failed(why), _) => return Judgement::Differs(why.clone()),
            (Ran::Rejected(_), Expected::Rejected) => return Judgement::Agrees("rejected".to_string()),
            (Ran::Rejected(why), Expected::Anything) => return Judgement::Skipped(format!("rejected ({why}); {}", Expected::Anything.words())),
            (Ran::Rejected(why), expected) => return Judgement::Differs(format!("rejected ({why}), expected {}", expected.words())),
            (Ran::Report(report), _) => Found::new(report),
        };
        let differs = || Judgement::Differs(format!("{}, expected {}", report.words(), self.expected.words()));
        match &self.expected {
            Expected::Rejected => differs(),
            Expected::Holds { states, rules } => match report.verdict {
                "violated" => differs(),
                "holds" if states.is_some_and(|states| states != report.states) || rules.is_some_and(|rules| rules != report.rules) => differs(),
                "holds" => Judgement::Agrees(report.words()),
                // A depth bound is part of the expectation, so that the run agrees if it reaches the bound and finds
                // nothing.
                _ if report.stop == "depth" && states.is_none_or(|states| states == report.states) => Judgement::Agrees(report.words()),
                _ if states.is_some_and(|states| report.states > states) => differs(),
                _ => Judgement::Skipped(report.words()),
            },
            Expected::Violated { kind, length } => match report.verdict {
                "violated" if report.is(kind) && length.is_none_or(|length| length == report.length) => Judgement::Agrees(report.words()),
                "not-found" => Judgement::Skipped(format!("{}, expected {}", report.words(), self.expected.words())),
                _ => differs(),
            },
            Expected::NothingWithin(states) => match report.verdict {
                "violated" => differs(),
                "holds" if report.states < *states => differs(),
                "not-found" if report.states < *states => Judgement::Skipped(report.words()),
                _ => Judgement::Agrees(report.words()),
            },
            Expected::Accepted => Judgement::Agrees(format!("{}; nothing to compare with", report.words())),
            Expected::Anything => Judgement::Skipped(format!("{}; {}", report.words(), self.expected.words())),
        }
    }
}

impl Expected {
    fn words(&self) -> String {
        let number = |number: &Option<u64>, noun: &str| number.map_or(String::new(), |number| format!(", {number} {noun}"));
        match self {
            Expected::Rejected => "a rejection".to_string(),
            Expected::Holds { states, rules } => format!("holds{}{}", number(states, "states"), number(rules, "rules fired")),
            Expected::Violated { kind, length } => {
                let kind = if kind == "any" { String::new() } else { format!(" ({kind})") };
                format!("a violation{kind}{}", number(length, "steps"))
            }
            Expected::NothingWithin(states) => format!("nothing within {states} states"),
            Expected::Accepted => "a model that is accepted".to_string(),
            Expected::Anything => "no tool has a result".to_string(),
        }
    }
}

/// The parts of a report that are compared.
struct Found<'a> {
    verdict: &'a str,
    stop: &'a str,
    states: u64,
    rules: u64,
    kind: &'a str,
    name: &'a str,
    length: u64,
}

impl<'a> Found<'a> {
    fn new(report: &'a Value) -> Self {
        let text = |path: &str| report.pointer(path).and_then(Value::as_str).unwrap_or("");
        let number = |path: &str| report.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        Found {
            verdict: text("/verdict"),
            stop: text("/stop"),
            states: number("/states"),
            rules: number("/rules_fired"),
            kind: text("/violation/kind"),
            name: text("/violation/name"),
            length: number("/witness/length"),
        }
    }

    /// Whether the violation is of a kind in the corpus's terms: there, assertions, error statements and ranges left
    /// are all errors.
    fn is(&self, kind: &str) -> bool {
        let undefined = self.kind == "fault" && self.name.contains("undefined");
        match kind {
            "any" => true,
            "undefined-read" => undefined,
            "error" => matches!(self.kind, "error" | "assertion" | "fault") && !undefined,
            kind => self.kind == kind,
        }
    }

    fn words(&self) -> String {
        match self.verdict {
            "violated" => format!("violated ({} `{}`), {} steps", self.kind, self.name, self.length),
            "holds" => format!("holds, {} states, {} rules fired", self.states, self.rules),
            _ => format!("not found ({}), {} states", self.stop, self.states),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judge(entry: Value, ran: Ran) -> &'static str {
        let mut cases = Vec::new();
        reference(&entry, None, &mut cases).unwrap();
        match cases[0].judge(&ran) {
            Judgement::Agrees(_) => "agrees",
            Judgement::Differs(_) => "differs",
            Judgement::Skipped(_) => "skipped",
        }
    }

    fn report(verdict: &str, states: u64, rules: u64, kind: &str, name: &str) -> Ran {
        Ran::Report(
            json!({ "verdict": verdict, "stop": "time", "states": states, "rules_fired": rules, "violation": { "kind": kind, "name": name } }),
        )
    }

    #[test]
    fn counts_and_kinds_are_compared() {
        let holds = json!({ "file": "a.m", "outcome_nosym": "holds", "states_nosym": 5, "rules_nosym": 9, "features": [] });
        assert_eq!(judge(holds.clone(), report("holds", 5, 9, "", "")), "agrees");
        assert_eq!(judge(holds.clone(), report("holds", 5, 8, "", "")), "differs");
        assert_eq!(judge(holds.clone(), report("holds", 6, 9, "", "")), "differs");
        assert_eq!(judge(holds.clone(), report("not-found", 3, 2, "", "")), "skipped");
        assert_eq!(judge(holds.clone(), report("not-found", 6, 2, "", "")), "differs");
        assert_eq!(judge(holds.clone(), report("violated", 5, 9, "deadlock", "")), "differs");
        assert_eq!(judge(holds, Ran::Failed("crashed".into())), "differs");
        let error = json!({ "file": "a.m", "outcome_nosym": "error", "features": [] });
        assert_eq!(judge(error.clone(), report("violated", 5, 9, "assertion", "x")), "agrees");
        assert_eq!(judge(error, report("violated", 5, 9, "fault", "an undefined value was used")), "differs");
        let rejected = json!({ "file": "a.m", "outcome_nosym": "rejected", "features": [] });
        assert_eq!(judge(rejected.clone(), Ran::Rejected("no".into())), "agrees");
        assert_eq!(judge(rejected, report("holds", 5, 9, "", "")), "differs");
    }

    #[test]
    fn headers_say_what_is_expected() {
        let holds = header("-- model: a\n-- verdict: holds\n-- states: 12\n\nvar x: boolean;\n-- rules: 3\n");
        assert_eq!(holds, Some(Expected::Holds { states: Some(12), rules: None }));
        let violated = header("-- verdict: violated\n-- violation: assertion \"x\"\n-- witness: 6\n");
        assert_eq!(violated, Some(Expected::Violated { kind: "assertion".to_string(), length: Some(6) }));
        assert_eq!(header("-- a model\n"), None);
        let net = header("<?xml version=\"1.0\"?>\n<!--\nverdict: holds\nstates: 3\nrules: 4\n-->\n<pnml/>\n");
        assert_eq!(net, Some(Expected::Holds { states: Some(3), rules: Some(4) }));
    }

    #[test]
    fn multiset_models_compare_bags_and_no_rules() {
        let entry = json!({
            "file": "a.m", "outcome_nosym": "unfinished", "outcome_nosym_multiset": "holds", "states_nosym": 50, "states_nosym_multiset": 5,
            "rules_nosym": 1, "features": ["multiset"],
        });
        assert_eq!(judge(entry, report("holds", 5, 77, "", "")), "agrees");
    }

    #[test]
    fn unfinished_models_are_explored_as_far_as_the_others_got() {
        let entry = json!({ "file": "a.m", "outcome_nosym": "unfinished", "states_at_least": 100, "features": [] });
        let mut cases = Vec::new();
        reference(&entry, None, &mut cases).unwrap();
        assert_eq!(cases[0].arguments, ["--symmetry", "off", "--states", "100"]);
        assert_eq!(judge(entry.clone(), report("not-found", 100, 1, "", "")), "agrees");
        assert_eq!(judge(entry.clone(), report("holds", 50, 1, "", "")), "differs");
        assert_eq!(judge(entry, report("violated", 50, 1, "deadlock", "")), "differs");
    }
}
