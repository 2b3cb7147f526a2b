//! The result of a run, as plain data, and the forms in which it is written.

mod checks;
mod confidence;
mod discovery;
mod finding;
mod formats;
pub mod itf;
mod junit;
mod kinds;
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
    /// Why the run ended.
    pub stop: Stop,
    /// Whether every reachable state was visited.
    pub complete: bool,
    /// Whether assumptions of the model left out states or firings: the verdict then holds under them.
    pub assumed: bool,
    /// Whether states beyond the model's boundary were left out: the verdict then holds within it.
    pub bounded: bool,
    /// Distinct states: counted, or estimated over a store that forgets or errs.
    pub states: u64,
    /// The relative standard error of `states`; 0 where they were counted.
    pub states_error: f64,
    /// States that were new to the store; more than the distinct ones where it forgets.
    pub insertions: u64,
    /// Steps taken: rules fired, or random choices of a strategy that makes them.
    pub steps: u64,
    /// The share of steps that led to a state met before.
    pub redundancy: Option<f64>,
    /// The share of the states covered, where their number was given.
    pub coverage: Option<f64>,
    /// When shares of the states were covered, where their number was given.
    pub cover_times: Vec<CoverTime>,
    /// The density factor m/h of a complete run: m^h states for depth h.
    pub density_factor: Option<f64>,
    /// How often states were visited, where that was asked for: at place i the number of states visited 2^i times and less than twice as often.
    pub profile: Vec<u64>,
    /// Figures of the strategy's own.
    pub details: wayfarer_search::Details,
    /// Whether something was looked for instead of violations.
    pub sought: bool,
    /// Whether states that differ only in which element of a scalarset is which counted as one.
    pub symmetry: bool,
    /// Rules fired.
    pub rules_fired: u64,
    /// Depth reached; none where the strategy does not count it.
    pub depth: Option<u32>,
    /// States known but not expanded when the run ended.
    pub frontier: u64,
    /// Wall-clock seconds of everything: exploration, audit, witnesses.
    pub seconds: f64,
    /// The same apart.
    pub times: Times,
    /// Peak of the memory account.
    pub peak_memory_bytes: usize,
    /// What the store holds, per state; none where there is no state.
    pub bytes_per_state: Option<f64>,
    /// Bits of a tight state.
    pub state_bits: usize,
    /// The seed.
    pub seed: u64,
    /// How many workers there were.
    pub threads: usize,
    /// The GPU that the search ran on, if it did.
    pub device: Option<String>,
    /// Whether the same plan gives the same report again, less seconds and memory.
    pub repeatable: bool,
    /// The strategy, as it was asked for.
    pub strategy: String,
    /// The store, as it was asked for.
    pub store: String,
    /// The phases of a run that chose its own way, in order.
    pub phases: Vec<Phase>,
    /// How many states the store is expected to have taken for known ones: 0 for an exact store, none for one that forgets.
    pub expected_omissions: Option<f64>,
    /// How often each rule of the model fired.
    pub rules: Vec<RuleReport>,
    /// What was found wrong, the first first.
    pub violations: Vec<ViolationReport>,
    /// What was judged, each with its own verdict.
    pub checks: Vec<CheckReport>,
    /// Whether a run that was cut counts as a failure, as it was asked for.
    pub exhaustive: bool,
    /// The command line that repeats the run, where there is one.
    pub again: Option<String>,
    /// What it is worth that nothing was found, where nothing was.
    pub confidence: Option<crate::Confidence>,
    /// The limit of representation that was met, if one was.
    pub limit: Option<wayfarer_space::Fault>,
    /// How often the run was started again because values needed more room than was set aside for them.
    pub restarts: u32,
    /// A remark on what stood in the way, where something did (a limit of representation, for instance).
    pub remarks: Vec<String>,
}

/// Wall-clock seconds of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// Exploration.
    pub exploring: f64,
    /// The audit.
    pub audit: f64,
    /// Finding, shortening and replaying witnesses.
    pub witnesses: f64,
}

/// How soon a share of the states was covered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoverTime {
    /// The share.
    pub share: f64,
    /// Steps until then, rounded up to a round of the search.
    pub steps: u64,
}

/// A rule of the model, all values of its parameters together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleReport {
    /// Its name.
    pub rule: String,
    /// `file:line:column`.
    pub at: String,
    /// How often it fired.
    pub fired: u64,
}

/// A violation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViolationReport {
    /// The kind of property or fault.
    pub kind: Kind,
    /// The property's name or the fault's message.
    pub name: String,
    /// `file:line:column` of what was violated; empty for a deadlock.
    pub at: String,
    /// More on what failed, such as the conjunct of an invariant.
    pub detail: Option<String>,
    /// The way there; none where it is not about a state.
    pub witness: Option<WitnessReport>,
}

/// The way to a violation, for a person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WitnessReport {
    /// How many firings.
    pub length: usize,
    /// How many there were before shortening.
    pub raw_length: usize,
    /// Whether no shorter witness exists.
    pub shortest: bool,
    /// The start state's name.
    pub start: String,
    /// Every variable of the start state with its value.
    pub start_state: Vec<(String, String)>,
    /// The firings in order.
    pub steps: Vec<StepReport>,
    /// The raw witness, for replay and for other forms.
    pub raw: wayfarer_search::Witness,
}

/// One firing.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// The rule with its parameters' values.
    pub rule: String,
    /// `file:line:column` of the rule.
    pub at: String,
    /// What it changed.
    pub changes: Vec<Change>,
    /// The fault it ends in, for a last firing that fails.
    pub fault: Option<String>,
    /// The output of the model in this step.
    pub printed: Vec<String>,
}

/// A variable's change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which variable, as a path such as `Chan[1].Cmd`.
    pub path: String,
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

impl Report {
    /// Whether the strategy expands every state once, so that redundancy says nothing about its choices.
    pub fn expands_once(&self) -> bool {
        wayfarer_search::StrategySpec::parse(&self.strategy).is_ok_and(|strategy| strategy.nature().expands_once)
    }

    /// Whether every reachable state was visited and nothing is wrong.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }

    /// Whether something is wrong, or what was looked for was found.
    pub fn is_violated(&self) -> bool {
        self.verdict == Verdict::Violated
    }

    /// The first violation, if there is one.
    pub fn violation(&self) -> Option<&ViolationReport> {
        self.violations.first()
    }

    /// The way to the first violation that has one.
    pub fn witness(&self) -> Option<&WitnessReport> {
        self.violations.iter().find_map(|violation| violation.witness.as_ref())
    }

    /// Names of the rules that never fired.
    pub fn unfired_rules(&self) -> impl Iterator<Item = &RuleReport> {
        self.rules.iter().filter(|rule| rule.fired == 0)
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
            "remarks": self.remarks,
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
                    // Several elements of one bag can come and go in a step, all under the bag's name.
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
