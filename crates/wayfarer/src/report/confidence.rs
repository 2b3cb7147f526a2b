//! The evidence behind "not found", as plain data.

use super::Discovery;
use crate::Report;
use serde_json::{Value, json};
use wayfarer_search::{Estimate, Outcome, Record, Stop, Tally};
use wayfarer_theory::{Richness, least_total, share_at_most, walks_needed};

/// The error probability of bounds: they fail with at most this probability.
pub const ERROR: f64 = 0.05;

/// The normal quantile of an interval of 95 %.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The report gives the number of walks needed to find violations this rare.
pub const RARE: f64 = 1e-5;

/// The evidence that nothing is violated.
#[derive(Clone, Debug, PartialEq)]
pub struct Confidence {
    /// The result of each sampler of the audit; those whose law does not depend on the visited states come first.
    /// Empty if there was no audit.
    pub audit: Vec<SamplerReport>,
    /// The share of the states, drawn by a hash, that the record contains; `None` if the store itself was the judge.
    pub record_share: Option<f64>,
    /// The rate at which states were found.
    pub discovery: Option<Discovery>,
    /// Chao's lower bound on the number of states, from the visit counts of the record's states, treated as
    /// independent draws.
    pub least_states: Option<Richness>,
    /// The largest one-step omission probability among the samples of randomised breadth-first search, after its last
    /// visit.
    pub omission_probability: Option<f64>,
    /// The expected number of states that the store took for known ones; `None` if it forgets.
    pub expected_omissions: Option<f64>,
}

/// The result of a sampler of the audit.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplerReport {
    /// The tally of its walks.
    pub tally: Tally,
    /// `store`, `record`, or `fingerprints` if those of the store on a GPU judged: states that it took for others count as
    /// visited.
    pub judge: &'static str,
    /// The upper bound on the share of the sampler's mass that was not visited, with 95 % confidence.
    pub missing_at_most: f64,
    /// The upper bound on the share of its walks that find a violation, with 95 % confidence.
    pub violation_at_most: f64,
}

impl SamplerReport {
    pub(crate) fn new(tally: Tally, judge: &'static str) -> Self {
        let bound = |hits, draws| share_at_most(hits, draws, ERROR).unwrap_or(1.0);
        let (missing_at_most, violation_at_most) = (bound(tally.missing, tally.judged), bound(0, tally.walks - tally.unfinished));
        SamplerReport { tally, judge, missing_at_most, violation_at_most }
    }

    fn to_json(&self) -> Value {
        let Tally { sampler, walks, unfinished, judged, missing, steps } = &self.tally;
        json!({
            "sampler": sampler.name(),
            "fixed": sampler.is_fixed(),
            "cap": sampler.cap(),
            "judge": self.judge,
            "walks": walks,
            "unfinished": unfinished,
            "judged": judged,
            "missing": missing,
            "steps": steps,
            "missing_at_most": self.missing_at_most,
            "violation_at_most": self.violation_at_most,
        })
    }
}

impl Confidence {
    /// The evidence of the search itself, without an audit. `known` is the number of reachable states, if the user
    /// gave it.
    pub(crate) fn of(outcome: &Outcome, expected_omissions: Option<f64>, discovery: Option<Discovery>, draws: bool, known: Option<u64>) -> Self {
        let record = outcome.record.as_ref();
        // A search that has run dry, or has found every state, has no future to forecast.
        let ended = matches!(outcome.stop, Stop::Exhausted | Stop::Confident | Stop::Accepted);
        let left = known.map(|known| (known as f64 - outcome.covered.value).max(0.0));
        let discovery = discovery.filter(|_| !ended && left != Some(0.0)).map(|discovery| Discovery { left, ..discovery });
        Confidence {
            audit: Vec::new(),
            record_share: record.map(Record::share),
            discovery,
            least_states: record.filter(|_| draws).and_then(|record| least_states(record, &outcome.covered)),
            omission_probability: outcome.details.omission_probability(),
            expected_omissions,
        }
    }

    /// The number of walks of each sampler; 0 if there was no audit.
    pub fn walks(&self) -> u64 {
        self.audit.first().map_or(0, |report| report.tally.walks)
    }

    /// The sampler of the headline: of those whose law does not depend on the visited states, the one with the
    /// largest bound.
    pub fn headline(&self) -> Option<&SamplerReport> {
        let fixed = self.audit.iter().filter(|report| report.tally.sampler.is_fixed());
        fixed.max_by(|one, other| one.missing_at_most.total_cmp(&other.missing_at_most))
    }

    /// The smallest of the samplers' bounds on violations: a walk finds one with at most this probability.
    pub fn violation_at_most(&self) -> Option<f64> {
        self.audit.iter().filter(|report| report.tally.sampler.is_fixed()).map(|report| report.violation_at_most).reduce(f64::max)
    }

    /// The number of walks needed to find, with 95 % confidence, a violation that one walk in a hundred thousand
    /// finds: ln δ / ln(1 − ε).
    pub fn walks_needed() -> f64 {
        walks_needed(ERROR, RARE).map_or(f64::INFINITY, f64::ceil)
    }

    /// The new states to expect from another hour; `None` if the search was too short to tell.
    pub fn next_hour(&self, seconds: f64) -> Option<f64> {
        let discovery = self.discovery.filter(|_| seconds > 0.0)?;
        Some(discovery.expected(3600.0 * discovery.steps as f64 / seconds))
    }

    /// As JSON, with related figures of the report, so that all evidence is in one place.
    pub(crate) fn to_json(&self, report: &Report) -> Value {
        let headline = self.headline();
        json!({
            "level": 1.0 - ERROR,
            "states": { "distinct": report.states, "error": report.states_error },
            "redundancy": report.redundancy,
            "depth": report.depth,
            "rules_never_fired": report.unfired_rules().count(),
            "headline": headline.map(|report| json!({ "sampler": report.tally.sampler.name(), "missing_at_most": report.missing_at_most })),
            "audit": self.audit.iter().map(SamplerReport::to_json).collect::<Vec<_>>(),
            "record_share": self.record_share,
            "violation_at_most": self.violation_at_most(),
            "walks_needed": { "chance": RARE, "walks": Self::walks_needed() },
            "least_states": self.least_states.map(|Richness { total, low, high }| json!({ "total": total, "low": low, "high": high })),
            "omission_probability": self.omission_probability,
            "expected_omissions": self.expected_omissions,
            "forecast": self.discovery.map(|discovery| json!({
                "new_states_per_step": discovery.rate(),
                "new_states_next_hour": self.next_hour(report.times.exploring),
            })),
        })
    }
}

/// The bound from the record's states, extrapolated to all states.
fn least_states(record: &Record, distinct: &Estimate) -> Option<Richness> {
    let found = least_total(record.len() as u64, record.met(1), record.met(2), NORMAL).ok().filter(|_| !record.is_empty())?;
    let factor = distinct.value / record.len() as f64;
    // The number of states that were met is itself an estimate over stores that forget.
    let spread = NORMAL * distinct.error;
    Some(Richness { total: found.total * factor, low: found.low * factor * (1.0 - spread).max(0.0), high: found.high * factor * (1.0 + spread) })
}
