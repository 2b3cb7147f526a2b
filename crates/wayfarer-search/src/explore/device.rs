//! The loop for a device that carries out whole rounds by itself: it selects, steps, probes, inserts and checks, and
//! reports its findings. This module decides, as for any other run, which findings are violations and when the run
//! ends.

use super::judging::Found;
use super::{Run, conclude};
use crate::{
    Candidates, Cause, Control, Details, Estimate, Fidelity, Forget, Handle, Outcome, Progress, Recall, Remember, Seat, Settings, Stop, Visit,
};
use wayfarer_space::{Fault, Firing, PropertyBits, Space, States, Steps, Word};

/// Something that a device met.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The cause of the violation.
    pub cause: Cause,
    /// The state in which it shows.
    pub state: Vec<Word>,
    /// How long its witness is, if the search goes by levels.
    pub length: Option<u32>,
    /// Data from which the device can find the way to the state again.
    pub key: [u64; 3],
}

/// The figures of a search on a device so far.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// States that were new to the store.
    pub states: u64,
    /// States known but not expanded.
    pub frontier: u64,
    /// The depth reached, if it is counted.
    pub depth: Option<u32>,
    /// Steps, if they are not the rules fired.
    pub steps: Option<u64>,
    /// How often each rule fired.
    pub firings: Vec<u64>,
    /// Firings that assumptions discarded.
    pub discarded: u64,
    /// Properties that ask to be reached, and were.
    pub reached: PropertyBits,
    /// A fault that is a limit of representation, if one was met.
    pub limit: Option<(Firing, Fault)>,
    /// Whether there is no room for more.
    pub full: bool,
    /// Whether the level is done. A search that does not go by levels has none.
    pub at_border: bool,
    /// Whether there is nothing left to do.
    pub done: bool,
    /// Why it ends where there is nothing left to do, if that does not mean that everything was visited.
    pub ended: Option<Stop>,
    /// About how many distinct states it met, if its stores do not say.
    pub covered: Option<Estimate>,
    /// Figures of its own.
    pub details: Details,
    /// The size and fidelity of the device's store.
    pub away: Away,
}

/// A machine that carries out whole rounds of a search.
pub trait Device {
    /// Brings in the start states.
    fn start(&mut self, starts: &States, findings: &mut Vec<Finding>) -> Result<(), Lost>;

    /// Goes on for a fraction of a second and for at most about `most` steps.
    fn round(&mut self, most: u64, findings: &mut Vec<Finding>) -> Result<(), Lost>;

    /// The figures so far.
    fn standing(&self) -> Standing;

    /// The states on the way to a finding: first one near a start state, last the one that shows the finding. The
    /// device may discard its search to compute them.
    fn way(&mut self, finding: &Finding, control: &mut dyn Control) -> Result<Option<Vec<Vec<Word>>>, Lost>;

    /// For each i, the number of states that were visited at least 2^i and fewer than 2^(i+1) times; none if visits were
    /// not counted.
    fn profile(&mut self) -> Result<Vec<u64>, Lost> {
        Ok(Vec::new())
    }

    /// Whether it visits every state, unless it is ended.
    fn is_exhaustive(&self) -> bool;
}

/// The device failed, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

/// Describes a store in the memory of a device. It answers for size and fidelity only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Away {
    /// States in it.
    pub states: u64,
    /// Bytes that it takes there.
    pub bytes: u64,
    /// How well it remembers.
    pub fidelity: Fidelity,
}

impl Default for Away {
    fn default() -> Self {
        Away { states: 0, bytes: 0, fidelity: Fidelity::Exact }
    }
}

/// Explores `space` on a device until it has nothing left, enough was found, or a limit or `control` ends it.
pub fn explore_on_device(space: &dyn Space, device: &mut dyn Device, settings: &Settings, control: &mut dyn Control) -> Result<Outcome, Lost> {
    let away = Away::default();
    let mut run = Run::new(space, &away, settings, Seat::new(()), None);
    let mut steps = Steps::new(space.width());
    run.complete(space.initial(&mut steps));
    run.outcome.discarded = steps.discarded;
    run.outcome.reached.union(&steps.reached);
    for step in &steps.faults {
        if run.speaks_against_model(step.firing, step.fault) {
            run.violated(Found { cause: Cause::Start(step.firing.rule, step.fault), state: None, words: &[], length: Some(0) }, Vec::new);
        }
    }
    let (before, reached) = (run.outcome.discarded, run.outcome.reached.clone());
    let (mut findings, mut kept) = (Vec::new(), Vec::new());
    device.start(&steps.states, &mut findings)?;
    let mut standing = device.standing();
    run.outcome.starts = standing.states;
    let stop = loop {
        take(&mut run, &mut findings, &mut kept);
        run.outcome.states = standing.states;
        run.outcome.fired = standing.firings.iter().sum();
        run.outcome.limit = run.outcome.limit.or(standing.limit);
        let ended = if standing.at_border { run.enough() } else { None };
        let ended = ended.or_else(|| (settings.end_at_limit && run.outcome.limit.is_some()).then_some(Stop::Limit));
        if ended.is_some() || standing.done && !standing.full {
            break ended.or(standing.ended);
        }
        let taken = standing.steps.unwrap_or(run.outcome.fired);
        let limits = &settings.limits;
        let beyond = [
            (standing.full, Stop::Memory),
            (standing.at_border && standing.depth.is_some_and(|depth| depth >= limits.depth) && standing.ended.is_none(), Stop::Depth),
            (standing.states >= limits.states, Stop::States),
            (taken >= limits.steps, Stop::Steps),
        ];
        if let Some((_, stop)) = beyond.into_iter().find(|(is, _)| *is) {
            break run.enough().or(Some(stop));
        }
        let violations = run.outcome.violations.len();
        let Standing { states, frontier, .. } = standing;
        let depth = standing.depth.unwrap_or(0);
        if let Some(stop) = control.ask(&Progress { states, fired: run.outcome.fired, steps: taken, frontier, depth, violations, phase: "" }) {
            break run.enough().or(Some(stop));
        }
        device.round(limits.steps - taken, &mut findings)?;
        standing = device.standing();
    };
    let mut outcome = run.outcome;
    outcome.firings = standing.firings;
    outcome.discarded = before + standing.discarded;
    outcome.reached = reached;
    outcome.reached.union(&standing.reached);
    outcome.depth = standing.depth;
    outcome.frontier = standing.frontier;
    outcome.steps = standing.steps.unwrap_or(outcome.fired);
    outcome.details = standing.details;
    outcome.covered = standing.covered.unwrap_or(Estimate { value: outcome.states as f64, error: 0.0 });
    outcome.exhaustive = device.is_exhaustive() && run.complete;
    if settings.profile {
        outcome.profile = device.profile()?;
    }
    outcome.shortest = device.is_exhaustive() && standing.away.fidelity == Fidelity::Exact;
    outcome.stop = stop.unwrap_or(if outcome.limit.is_some() { Stop::Limit } else { Stop::Exhausted });
    conclude(space, &standing.away, settings, &mut outcome);
    for violation in &mut outcome.violations {
        let finding = kept.iter().find(|finding: &&Finding| violation.trail.last() == Some(&finding.state) && finding.cause == violation.cause);
        if let Some(finding) = finding
            && let Some(way) = device.way(finding, control)?
        {
            violation.trail = way;
        }
    }
    Ok(outcome)
}

/// Judges the findings. Until the way to a finding is known, its trail holds only the last state; the code that makes
/// the witness can search for that state from the start states.
fn take(run: &mut Run, findings: &mut Vec<Finding>, kept: &mut Vec<Finding>) {
    for finding in findings.drain(..) {
        let speaks = match finding.cause {
            Cause::Property(property) | Cause::Found(property) => run.looked_for(property),
            Cause::PropertyFault(property, fault) => run.looked_for(property) && run.speaks_against_model(Firing::of(0), fault),
            Cause::Fault(firing, fault) => run.speaks_against_model(firing, fault),
            Cause::Deadlock => !run.space.may_end(&finding.state),
            _ => true,
        };
        if speaks {
            let Finding { cause, state, length, .. } = &finding;
            run.violated(Found { cause: *cause, state: None, words: state, length: *length }, || vec![state.clone()]);
            kept.push(finding);
        }
    }
    let violations = &run.outcome.violations;
    kept.retain(|finding| violations.iter().any(|violation| violation.cause == finding.cause && violation.trail.last() == Some(&finding.state)));
}

impl Remember for Away {
    fn seat(&self) -> Option<Seat> {
        Some(Seat::new(()))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        visits.resize(candidates.steps.len(), Visit::Skipped);
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, _mask: Option<&[bool]>, _room: u64, visits: &mut Vec<Visit>) {
        self.probe(seat, candidates, visits);
    }

    fn len(&self) -> u64 {
        self.states
    }

    fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    fn bytes(&self) -> usize {
        self.bytes as usize
    }
}

impl Recall for Away {
    fn state(&self, _at: Handle, _out: &mut States) -> bool {
        false
    }

    fn parent(&self, _at: Handle) -> Option<Handle> {
        None
    }
}

impl Forget for Away {}
