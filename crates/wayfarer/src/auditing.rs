//! Audits a search that found nothing: the number of walks of each sampler, and the time reserved for them.
//!
//! The logical clock decides the size of the audit: each sampler makes as many walks as a twentieth of the search's
//! steps buys, between a minimum and a maximum. The results of the walks never change that. With `--time`, the search
//! ends earlier by the expected time of the audit at the search's pace, at most by a twentieth; a walk that does not
//! end in time counts as missing.

use crate::Plan;
use crate::memory::Budget;
use crate::report::{Confidence, SamplerReport};
use crate::subject::Running;
use std::time::{Duration, Instant};
use wayfarer_search::{Account, Audit, Control, Outcome, Progress, Record, Sampler, Stop, Violation};
use wayfarer_space::{Firing, Rng, Space, States, Steps};

/// The largest and the smallest number of walks of one sampler.
const MOST_WALKS: f64 = 3000.0;
const LEAST_WALKS: f64 = 3.0;

/// The share of the search's steps that all samplers together may take.
const SHARE: f64 = 1.0 / 20.0;

/// Steps that they may take together if the search was short and did not end because of the time.
const LEAST_STEPS: f64 = 1_000_000.0;

/// The weight of a step that is drawn by itself, relative to one that is computed together with the others out of one
/// state.
const DRAWING: f64 = 2.0;

/// The time that suffices for most audits.
const AMPLE: Duration = Duration::from_secs(5);

/// The time that may be reserved even if the time budget is short.
const BRIEF: Duration = Duration::from_millis(100);

/// The same on a GPU, where walks go side by side and the longest one sets the time.
#[cfg(feature = "gpu")]
const MOST_ON_DEVICE: f64 = 131_072.0;
#[cfg(feature = "gpu")]
const LEAST_STEPS_ON_DEVICE: f64 = 1e8;

/// Steps of a sieved walk, as a multiple of the number in which the record can judge one on average.
const PATIENCE: f64 = 4.0;

/// The violations that an audit found.
pub(crate) struct Met {
    /// The violations.
    pub(crate) violations: Vec<Violation>,
    /// Whether they were found in the space of representatives, and not in the underlying one.
    pub(crate) among_representatives: bool,
}

/// The number of walks of each sampler on a GPU.
#[cfg(feature = "gpu")]
pub(crate) fn walks_on_device(plan: &Plan, outcome: &Outcome) -> u64 {
    let expanded = outcome.states.saturating_sub(outcome.frontier).max(1);
    let branching = outcome.fired as f64 / expanded as f64;
    let weight = |sampler: &Sampler| sampler.mean_steps() * if matches!(sampler, Sampler::Walk { .. }) { DRAWING } else { 1.0 + branching };
    let fitting = (outcome.steps as f64 * SHARE).max(LEAST_STEPS_ON_DEVICE) / Sampler::FIXED.iter().map(weight).sum::<f64>();
    plan.audit.unwrap_or(fitting.clamp(LEAST_WALKS, MOST_ON_DEVICE) as u64)
}

/// The samplers after a search, and the number of walks of each.
fn samplers(plan: &Plan, audit: &Audit, outcome: &Outcome) -> (Vec<Sampler>, u64) {
    let mut chosen = Sampler::FIXED.to_vec();
    let mut away = 0.0;
    if audit.is_judged_by_store() {
        // With several workers, not every handle below the number of states belongs to a state.
        chosen.extend((audit.workers == 1).then_some(Sampler::Restart { cap: 64 }));
    } else if let Some(share) = audit.record.map(Record::share).filter(|share| *share < 1.0) {
        away = 1.0 / share.max(1e-9);
        chosen.push(Sampler::Sieved { cap: 1024, reach: (PATIENCE * away).min(1e9) as u32 });
    }
    let branching = branching(plan, audit.space, outcome);
    let weight = |sampler: &Sampler| match sampler {
        Sampler::Shallow { .. } | Sampler::Priority { .. } => (1.0 + branching) * sampler.mean_steps(),
        Sampler::Sieved { .. } => DRAWING * (sampler.mean_steps() + away),
        _ => DRAWING * sampler.mean_steps(),
    };
    let least = if outcome.stop == Stop::Time { 0.0 } else { LEAST_STEPS };
    let fitting = (outcome.steps as f64 * SHARE).max(least) / chosen.iter().map(weight).sum::<f64>();
    (chosen, plan.audit.unwrap_or(fitting.clamp(LEAST_WALKS, MOST_WALKS) as u64))
}

/// The most steps that are computed to learn how many lead out of a state.
const PROBED_STEPS: usize = 1 << 14;

/// The states that are followed for that, and how far.
const PROBED_WALKS: usize = 16;
const PROBED_LENGTH: usize = 32;

/// The approximate number of steps computed to take one of them. If the search expanded each state once, its own figures tell. If it draws its steps, the
/// steps that it took have nothing to do with that, and a few short walks tell.
fn branching(plan: &Plan, space: &dyn Space, outcome: &Outcome) -> f64 {
    let mut steps = Steps::new(space.width());
    let mut batch = States::new(space.width());
    match space.starts() {
        Some(_) => space.initial_some(0..PROBED_WALKS as u64, &mut steps),
        None => space.initial(&mut steps),
    };
    (0..steps.len().min(PROBED_WALKS)).for_each(|index| batch.push(steps.states.get(index)));
    let expands_once = plan.strategy.nature().expands_once;
    let mut rng = Rng::new(plan.seed, "branching");
    let (mut computed, mut states, mut most) = (0, 0, 0.0f64);
    for _ in 0..if expands_once { 1 } else { PROBED_LENGTH } {
        space.expand(&batch, Firing::of(0), &mut steps);
        computed += steps.len();
        states += batch.len();
        most = most.max(computed as f64 / states.max(1) as f64);
        batch.clear();
        let mut from = 0;
        while from < steps.len() {
            let to = from + steps.sources[from..].iter().take_while(|source| **source == steps.sources[from]).count();
            batch.push(steps.states.get(from + rng.below((to - from) as u64) as usize));
            from = to;
        }
        if batch.is_empty() || computed > PROBED_STEPS {
            break;
        }
    }
    let expanded = outcome.states.saturating_sub(outcome.frontier).max(1);
    if expands_once { most.max(outcome.fired as f64 / expanded as f64) } else { most }
}

/// Makes the audit's walks after a search that found nothing, and adds their results. `searched` is the space that
/// was searched; the audit's own space is the underlying one.
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

/// The time that a search reserves for its audit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserve {
    started: Instant,
    /// The upper limit.
    most: Duration,
}

impl Reserve {
    pub(crate) fn new(plan: &Plan, started: Instant) -> Self {
        let time = plan.time.unwrap_or_default();
        // A twentieth of a second or two is too short for anything.
        let most = time.mul_f64(SHARE).max(BRIEF.min(time / 4));
        Reserve { started, most: if plan.audit == Some(0) { Duration::ZERO } else { most } }
    }

    /// The reserve after a number of steps: the time in which the search took as many steps as the audit may take,
    /// and some seconds more if a twentieth allows them, because walks that do not end in time spoil the bound.
    pub(crate) fn after(&self, now: Instant, steps: u64) -> Duration {
        let walks: f64 = Sampler::FIXED.iter().map(|sampler| 2.0 * DRAWING * sampler.mean_steps()).sum();
        let share = SHARE.min(MOST_WALKS * walks / steps.max(1) as f64);
        self.most.min((now - self.started).mul_f64(share).max(AMPLE))
    }
}

/// Ends the audit when the time is up, the budget is spent or the user asks to stop.
pub(crate) struct AuditWatch<'a> {
    pub(crate) until: Option<Instant>,
    pub(crate) budget: &'a Budget,
    pub(crate) running: &'a dyn Running,
    pub(crate) inner: &'a mut dyn Control,
    /// The progress of the search when it ended; the progress shown stays there.
    pub(crate) progress: Progress,
}

impl Control for AuditWatch<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Some(Stop::Time);
        }
        // The search's reserve is meant for this; only the limit itself counts.
        self.budget.note_code(self.running.code_bytes());
        if self.budget.used() > self.budget.limit() {
            return Some(Stop::Memory);
        }
        self.inner.ask(&self.progress)
    }
}
