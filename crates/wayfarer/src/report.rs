//! The result of a run, as plain data, and its output formats.

mod checks;
mod confidence;
mod discovery;
mod finding;
mod formats;
pub mod itf;
mod junit;
mod kinds;
mod markdown;
mod outlet;
pub mod repeated;
mod sarif;
mod story;

pub use checks::CheckReport;
pub(crate) use checks::checks;
pub use confidence::{Confidence, ERROR, RARE, SamplerReport};
pub(crate) use discovery::Course;
pub use discovery::Discovery;
pub use finding::Finding;
pub use formats::{FORMATS, Format};
pub use junit::junit_failure;
pub use kinds::{Answer, CheckVerdict, Kind};
pub use outlet::Outlet;
pub use repeated::{Interval, Repeated};
pub use sarif::sarif_failure;
pub use story::stop_words;

use serde::Serialize;
use serde_json::{Map, Value, json};
use wayfarer_search::{Phase, Stop, Verdict};

/// The result of a run. The fields of the JSON form are listed in [`Report::to_json`]; later versions add fields and never rename them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// The model's name, as the user gave it.
    pub model: String,
    /// The verdict on the whole model.
    pub verdict: Verdict,
    /// The reason why the run ended.
    pub stop: Stop,
    /// Whether every reachable state was visited.
    pub complete: bool,
    /// Whether assumptions of the model excluded states or firings: the verdict then holds under these assumptions.
    pub assumed: bool,
    /// Whether states beyond the model's boundary were left out: the verdict then holds within it.
    pub bounded: bool,
    /// The number of distinct states: counted, or estimated if the store forgets or may omit states.
    pub states: u64,
    /// The relative standard error of `states`; 0 if they were counted.
    pub states_error: f64,
    /// States that were new to the store; more than the distinct ones if it forgets.
    pub insertions: u64,
    /// Steps taken: rules fired, or random choices of a strategy that makes them.
    pub steps: u64,
    /// The share of steps that led to a known state.
    pub redundancy: Option<f64>,
    /// The share of the states covered, if their number was given.
    pub coverage: Option<f64>,
    /// The steps after which shares of the states were covered, if their number was given.
    pub cover_times: Vec<CoverTime>,
    /// The density factor m/h of a complete run: m^h states for depth h.
    pub density_factor: Option<f64>,
    /// The visit counts of states, if requested: entry i is the number of states visited at least 2^i and fewer than
    /// 2^(i+1) times.
    pub profile: Vec<u64>,
    /// The strategy's own figures.
    pub details: wayfarer_search::Details,
    /// Whether the run searched for a goal instead of violations.
    pub sought: bool,
    /// Whether states that differ only in a permutation of scalarset elements counted as one.
    pub symmetry: bool,
    /// Why symmetry was not used although the model has scalarsets, with what it would bring, or why it was checked during the run.
    pub symmetry_note: Option<String>,
    /// Rules fired.
    pub rules_fired: u64,
    /// The depth reached; `None` if the strategy does not count it.
    pub depth: Option<u32>,
    /// States known but not expanded when the run ended.
    pub frontier: u64,
    /// Wall-clock seconds in total: exploration, audit, witnesses.
    pub seconds: f64,
    /// The seconds of each part.
    pub times: Times,
    /// The peak of the memory account.
    pub peak_memory_bytes: usize,
    /// The store's bytes per state; `None` if there is no state.
    pub bytes_per_state: Option<f64>,
    /// The number of bits of a tight state.
    pub state_bits: usize,
    /// The seed.
    pub seed: u64,
    /// The number of workers.
    pub threads: usize,
    /// The GPU that the search ran on, if it did.
    pub device: Option<String>,
    /// Whether the same plan gives the same report again, except times and memory.
    pub repeatable: bool,
    /// The strategy, as requested.
    pub strategy: String,
    /// The store, as requested.
    pub store: String,
    /// The phases of a run that chose its own strategies, in order.
    pub phases: Vec<Phase>,
    /// The expected number of states that the store took for known ones: 0 for an exact store, `None` for one that
    /// forgets.
    pub expected_omissions: Option<f64>,
    /// The number of firings of each rule of the model.
    pub rules: Vec<RuleReport>,
    /// The violations, in the order in which they were found.
    pub violations: Vec<ViolationReport>,
    /// The checks, each with its own verdict.
    pub checks: Vec<CheckReport>,
    /// Whether an incomplete run counts as a failure, as requested.
    pub exhaustive: bool,
    /// The command line that repeats the run, if there is one.
    pub again: Option<String>,
    /// The evidence that nothing is violated, if nothing was found.
    pub confidence: Option<crate::Confidence>,
    /// The limit of representation that the run reached, if any.
    pub limit: Option<wayfarer_space::Fault>,
    /// The number of restarts because values needed more bits than were allotted.
    pub restarts: u32,
    /// Remarks on obstacles, such as a limit of representation.
    pub remarks: Vec<String>,
}

/// Wall-clock seconds of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// Starting a GPU and compiling for it; 0 on the CPU.
    pub preparing: f64,
    /// Exploration.
    pub exploring: f64,
    /// The audit.
    pub audit: f64,
    /// Finding, shortening and replaying witnesses.
    pub witnesses: f64,
}

/// The time at which a share of the states was covered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoverTime {
    /// The share.
    pub share: f64,
    /// Steps until then, rounded up to a round of the search.
    pub steps: u64,
}

/// A rule of the model, with all values of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleReport {
    /// Its name.
    pub rule: String,
    /// `file:line:column`.
    pub at: String,
    /// The number of times it fired.
    pub fired: u64,
    /// It did not fire, but its statements were executed by other rules, or may have been.
    #[serde(skip)]
    pub elsewhere: bool,
}

/// A violation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViolationReport {
    /// The kind of property or fault.
    pub kind: Kind,
    /// The property's name or the fault's message.
    pub name: String,
    /// `file:line:column` of the violated property; empty for a deadlock.
    pub at: String,
    /// More detail on the failure, such as the conjunct of an invariant.
    pub detail: Option<String>,
    /// The counterexample; `None` if the violation is not about a state.
    pub witness: Option<WitnessReport>,
}

/// A witness, in a form to be shown.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WitnessReport {
    /// The number of firings.
    pub length: usize,
    /// The number of firings before shortening.
    pub raw_length: usize,
    /// Whether no shorter witness exists.
    pub shortest: bool,
    /// The start state's name.
    pub start: String,
    /// Every variable of the start state with its value.
    pub start_state: Vec<(String, String)>,
    /// The firings in order.
    pub steps: Vec<StepReport>,
    /// The raw witness, for replay and other formats.
    pub raw: wayfarer_search::Witness,
}

/// One firing.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// The rule with its parameters' values.
    pub rule: String,
    /// `file:line:column` of the rule.
    pub at: String,
    /// The variables it changed.
    pub changes: Vec<Change>,
    /// The fault it ends in, for a last firing that fails.
    pub fault: Option<String>,
    /// The output of the model in this step.
    pub printed: Vec<String>,
}

/// A variable's change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The variable, as a path such as `Chan[1].Cmd`.
    pub path: String,
    /// The value before.
    pub from: String,
    /// The value after.
    pub to: String,
}

impl Report {
    /// Whether the strategy expands every state once, in which case redundancy says nothing about its choices.
    pub fn expands_once(&self) -> bool {
        wayfarer_search::StrategySpec::parse(&self.strategy).is_ok_and(|strategy| strategy.nature().expands_once)
    }

    /// Whether the strategy would visit every state, if nothing ended it.
    pub fn is_systematic(&self) -> bool {
        wayfarer_search::StrategySpec::parse(&self.strategy).is_ok_and(|strategy| strategy.nature().exhaustive)
    }

    /// Whether every reachable state was visited and nothing is violated.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }

    /// Whether there is a violation, or the goal was reached.
    pub fn is_violated(&self) -> bool {
        self.verdict == Verdict::Violated
    }

    /// The first violation, if there is one.
    pub fn violation(&self) -> Option<&ViolationReport> {
        self.violations.first()
    }

    /// The witness of the first violation that has one.
    pub fn witness(&self) -> Option<&WitnessReport> {
        self.violations.iter().find_map(|violation| violation.witness.as_ref())
    }

    /// The rules that never fired, except those whose statements were executed by others.
    pub fn unfired_rules(&self) -> impl Iterator<Item = &RuleReport> {
        self.rules.iter().filter(|rule| rule.fired == 0 && !rule.elsewhere)
    }

    /// The report as one JSON object, schema 1.
    pub fn to_json(&self) -> Value {
        let first = self.violations.first();
        json!({
            "schema": 1,
            "model": self.model,
            "verdict": self.verdict.word(),
            "stop": self.stop.word(),
            "complete": self.complete,
            "assumed": self.assumed,
            "bounded": self.bounded,
            "states": self.states,
            "states_error": self.states_error,
            "insertions": self.insertions,
            "steps": self.steps,
            "redundancy": self.redundancy,
            "coverage": self.coverage,
            "cover_times": self.cover_times,
            "density_factor": self.density_factor,
            "profile": self.profile,
            "figures": self.details.figures.iter().map(|(name, value)| (name.to_string(), json!(value))).collect::<Map<_, _>>(),
            "visits": self.details.visits.iter().map(visit).collect::<Vec<_>>(),
            "sought": self.sought,
            "symmetry": self.symmetry,
            "symmetry_note": self.symmetry_note,
            "rules_fired": self.rules_fired,
            "depth": self.depth,
            "frontier": self.frontier,
            "seconds": self.seconds,
            "times": self.times,
            "peak_memory_bytes": self.peak_memory_bytes,
            "bytes_per_state": self.bytes_per_state,
            "state_bits": self.state_bits,
            "seed": self.seed,
            "threads": self.threads,
            "device": self.device,
            "repeatable": self.repeatable,
            "strategy": self.strategy,
            "store": self.store,
            "phases": self.phases.iter().map(phase).collect::<Vec<_>>(),
            "expected_omissions": self.expected_omissions,
            "rules": self.rules,
            "unfired_rules": self.unfired_rules().map(|rule| rule.rule.as_str()).collect::<Vec<_>>(),
            "violation": first.map_or(Value::Null, ViolationReport::to_json),
            "witness": first.and_then(|violation| violation.witness.as_ref()).map_or(Value::Null, WitnessReport::to_json),
            "violations": self.violations.iter().map(|violation| {
                let mut object = violation.to_json();
                object["witness"] = violation.witness.as_ref().map_or(Value::Null, WitnessReport::to_json);
                object
            }).collect::<Vec<_>>(),
            "checks": self.checks,
            "restarts": self.restarts,
            "remarks": self.symmetry_note.iter().chain(&self.remarks).collect::<Vec<_>>(),
            "confidence": self.confidence.as_ref().map_or(Value::Null, |confidence| confidence.to_json(self)),
        })
    }
}

/// A phase of a run that had several.
fn phase(phase: &Phase) -> Value {
    json!({ "name": phase.name, "states": phase.states, "visited": phase.visited, "steps": phase.steps, "depth": phase.depth, "ended": phase.ended, "passes": phase.passes })
}

/// A visit of randomised breadth-first search.
fn visit(visit: &wayfarer_search::VisitFigures) -> Value {
    json!({
        "worker": visit.worker,
        "pom1s": visit.pom1s,
        "insertions": visit.insertions,
        "samples": visit.samples,
        "collision_rate": visit.collision_rate,
        "levels": visit.levels,
        "rules_fired": visit.fired,
    })
}

impl ViolationReport {
    fn to_json(&self) -> Value {
        json!({ "kind": self.kind, "name": self.name, "at": (!self.at.is_empty()).then_some(&self.at), "detail": self.detail })
    }
}

impl WitnessReport {
    fn to_json(&self) -> Value {
        let named = |pairs: &[(String, String)]| Value::Object(pairs.iter().map(|(path, value)| (path.clone(), json!(value))).collect::<Map<_, _>>());
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                let mut changes = Map::new();
                for change in &step.changes {
                    // Several elements of one bag can be added or removed in a step, all under the bag's name.
                    let mut path = change.path.clone();
                    while changes.contains_key(&path) {
                        path.push('\'');
                    }
                    changes.insert(path, json!([change.from, change.to]));
                }
                json!({ "rule": step.rule, "at": step.at, "changes": changes, "fault": step.fault, "printed": step.printed })
            })
            .collect();
        json!({ "length": self.length, "raw_length": self.raw_length, "shortest": self.shortest, "start": self.start, "start_state": named(&self.start_state), "steps": steps })
    }
}
