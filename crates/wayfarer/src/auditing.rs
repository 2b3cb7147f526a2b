//! Audits a search that found nothing: how many walks each sampler makes, and the time that is kept for them.
//!
//! How much the audit does is decided by the logical clock: each sampler makes as many walks as a twentieth of the search's steps buys, between a least and a most.
//! Nothing that the walks meet changes that. With `--time` the search ends earlier by what its pace lets one expect of the audit, at most by a twentieth; a
//! walk that does not come to its end in time counts as missing.

use crate::Plan;
use crate::memory::Budget;
use crate::report::{Confidence, SamplerReport};
use crate::subject::Running;
use std::time::{Duration, Instant};
use wayfarer_search::{Account, Audit, Control, Outcome, Progress, Record, Sampler, Stop, Violation};
use wayfarer_space::{Firing, Space, States, Steps};

/// Walks of one sampler.
const MOST_WALKS: f64 = 3000.0;
const LEAST_WALKS: f64 = 3.0;

/// The share of the search's steps that all samplers together may take.
const SHARE: f64 = 1.0 / 20.0;

/// Steps that they may take together where the search was short and did not end because of the time.
const LEAST_STEPS: f64 = 1_000_000.0;

/// A step that is drawn weighs as much as so many that are made together with others out of one state.
const DRAWING: f64 = 2.0;

/// What is enough for most audits.
const AMPLE: Duration = Duration::from_secs(5);

/// What may be kept of a short time.
const BRIEF: Duration = Duration::from_millis(100);

/// Steps of a sieved walk beyond the number in which the record can judge one, on average.
const PATIENCE: f64 = 4.0;

/// What an audit met.
pub(crate) struct Met {
    /// What is wrong, where something is.
    pub(crate) violations: Vec<Violation>,
    /// Whether it was met in the space that was searched, and not in the one behind it.
    pub(crate) among_representatives: bool,
}

/// The samplers after a search, and how many walks each of them makes.
fn samplers(plan: &Plan, audit: &Audit, outcome: &Outcome) -> (Vec<Sampler>, u64) {
    let mut chosen = Sampler::FIXED.to_vec();
    let mut away = 0.0;
    if audit.is_judged_by_store() {
        // With several workers not every handle below the number of states stands for one.
        chosen.extend((audit.workers == 1).then_some(Sampler::Restart { cap: 64 }));
    } else if let Some(share) = audit.record.map(Record::share).filter(|share| *share < 1.0) {
        away = 1.0 / share.max(1e-9);
        chosen.push(Sampler::Sieved { cap: 1024, reach: (PATIENCE * away).min(1e9) as u32 });
    }
    let branching = branching(audit.space, outcome);
    let weight = |sampler: &Sampler| match sampler {
        Sampler::Shallow { .. } | Sampler::Priority { .. } => (1.0 + branching) * sampler.mean_steps(),
        Sampler::Sieved { .. } => DRAWING * (sampler.mean_steps() + away),
        _ => DRAWING * sampler.mean_steps(),
    };
    let least = if outcome.stop == Stop::Time { 0.0 } else { LEAST_STEPS };
    let fitting = (outcome.steps as f64 * SHARE).max(least) / chosen.iter().map(weight).sum::<f64>();
    (chosen, plan.audit.unwrap_or(fitting.clamp(LEAST_WALKS, MOST_WALKS) as u64))
}

/// How many steps are made to take one of them, about: as many as lead out of the start states, or as the search saw where it expanded states.
fn branching(space: &dyn Space, outcome: &Outcome) -> f64 {
    let mut steps = Steps::new(space.width());
    let mut batch = States::new(space.width());
    space.initial(&mut steps);
    (0..steps.len().min(16)).for_each(|index| batch.push(steps.states.get(index)));
    space.expand(&batch, Firing::of(0), &mut steps);
    let starts = steps.len() as f64 / batch.len().max(1) as f64;
    let expanded = outcome.states.saturating_sub(outcome.frontier).max(1);
    starts.max(outcome.fired as f64 / expanded as f64)
}

/// Makes the audit's walks after a search that found nothing, and adds what they say. `searched` is the space that was searched, the audit's own the one behind it.
pub(crate) fn audit(
    plan: &Plan,
    audit: &Audit,
    searched: &dyn Space,
    outcome: &Outcome,
    control: &mut dyn Control,
    confidence: &mut Confidence,
) -> Option<Met> {
    if plan.audit == Some(0) || outcome.stop == Stop::Interrupted {
        return None;
    }
    let judge = if audit.is_judged_by_store() { "store" } else { "record" };
    confidence.record_share = confidence.record_share.filter(|_| judge == "record");
    let (samplers, walks) = samplers(plan, audit, outcome);
    for sampler in samplers {
        let among_representatives = matches!(sampler, Sampler::Restart { .. });
        let audit = if among_representatives { Audit { space: searched, representative: None, ..*audit } } else { *audit };
        let (tally, met) = audit.draw(sampler, walks, control);
        if !met.is_empty() {
            return Some(Met { violations: met, among_representatives });
        }
        confidence.audit.push(SamplerReport::new(tally, judge));
    }
    None
}

/// The time that a search leaves to its audit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserve {
    started: Instant,
    /// At most so much.
    most: Duration,
}

impl Reserve {
    pub(crate) fn new(plan: &Plan, started: Instant) -> Self {
        let time = plan.time.unwrap_or_default();
        // A twentieth of a second or two is too little for anything.
        let most = time.mul_f64(SHARE).max(BRIEF.min(time / 4));
        Reserve { started, most: if plan.audit == Some(0) { Duration::ZERO } else { most } }
    }

    /// How much it is after so many steps: what the search took for as many as the audit may take, and some seconds where a twentieth allows them, because walks
    /// that do not end in time spoil the bound.
    pub(crate) fn after(&self, now: Instant, steps: u64) -> Duration {
        let walks: f64 = Sampler::FIXED.iter().map(|sampler| 2.0 * DRAWING * sampler.mean_steps()).sum();
        let share = SHARE.min(MOST_WALKS * walks / steps.max(1) as f64);
        self.most.min((now - self.started).mul_f64(share).max(AMPLE))
    }
}

/// Ends the audit when the time is up, the budget is spent or the user wants it.
pub(crate) struct AuditWatch<'a> {
    pub(crate) until: Option<Instant>,
    pub(crate) budget: &'a Budget,
    pub(crate) running: &'a dyn Running,
    pub(crate) inner: &'a mut dyn Control,
    /// What the search had come to: the progress that is shown stays there.
    pub(crate) progress: Progress,
}

impl Control for AuditWatch<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Some(Stop::Time);
        }
        // What a search keeps free is for this; only the limit itself counts.
        self.budget.note_code(self.running.code_bytes());
        if self.budget.used() > self.budget.limit() {
            return Some(Stop::Memory);
        }
        self.inner.ask(&self.progress)
    }
}
