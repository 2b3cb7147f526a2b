//! The result of a run, and the verdict that follows from it.

use crate::witness::chain;
use crate::{Details, Estimate, Fidelity, Handle, Phase, Record, Store};
use std::fmt;
use wayfarer_space::{Fault, Firing, PropertyBits, Space, Word};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The frontier ran dry: there is nothing left to expand.
    Exhausted,
    /// As many violations were found as were asked for.
    Violations,
    /// The memory budget is spent.
    Memory,
    /// The time budget is spent.
    Time,
    /// As many states were found as were allowed.
    States,
    /// As many rules were fired as were allowed.
    Steps,
    /// States beyond the depth limit were left out.
    Depth,
    /// The user asked to stop.
    Interrupted,
    /// A representation ran out, so steps are missing.
    Limit,
    /// The strategy is sure enough that nothing is missing.
    Accepted,
    /// Few enough states are expected to have been omitted.
    Confident,
    /// The strategy came back to states too often.
    Overhead,
    /// Nearly every state that the strategy remembers pushes another out.
    Collisions,
    /// As many restarts were made as were asked for.
    Restarts,
}

impl Stop {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Stop::Exhausted => "exhausted",
            Stop::Violations => "violation",
            Stop::Memory => "memory",
            Stop::Time => "time",
            Stop::States => "states",
            Stop::Steps => "steps",
            Stop::Depth => "depth",
            Stop::Interrupted => "interrupted",
            Stop::Limit => "limit",
            Stop::Accepted => "accepted",
            Stop::Confident => "confident",
            Stop::Overhead => "overhead",
            Stop::Collisions => "collisions",
            Stop::Restarts => "restarts",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The property of this number fails in the state.
    Property(u32),
    /// Judging the property of this number failed in the state.
    PropertyFault(u32, Fault),
    /// Nothing can happen in the state (or nothing that changes it).
    Deadlock,
    /// A firing out of the state failed.
    Fault(Firing, Fault),
    /// A start state could not be made; its number and the fault.
    Start(u32, Fault),
    /// The whole system was visited and this property, which asks to be reached, was not.
    NotReached(u32),
    /// The state satisfies this property, which was looked for.
    Found(u32),
    /// This firing, which was looked for, leads out of the state.
    Rule(Firing),
}

impl Cause {
    /// Whether another is wrong in the same way, wherever it shows: the same property, the same fault, a deadlock, a firing of the same rule.
    pub(crate) fn is_like(&self, other: &Cause) -> bool {
        match (self, other) {
            (Cause::Fault(_, one), Cause::Fault(_, other)) | (Cause::Start(_, one), Cause::Start(_, other)) => one == other,
            (Cause::Rule(one), Cause::Rule(other)) => one.rule == other.rule,
            _ => self == other,
        }
    }
}

/// A violation and the state that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its kind.
    pub cause: Cause,
    /// The state in which it shows; none if it is not about a state.
    pub state: Option<Handle>,
    /// If the store keeps no links: states on the way, from a start state to the one that shows the violation.
    pub trail: Vec<Vec<Word>>,
    /// Its place among those found in the same level.
    pub rank: Rank,
}

/// The order of violations in a search that goes by levels: by the length of their witnesses, then by their cause, then by their state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    length: u32,
    kind: u8,
    detail: (u32, u32),
    state: Vec<Word>,
}

impl Rank {
    /// The rank of a violation whose witness has `length` steps.
    pub(crate) fn new(length: u32, cause: &Cause, state: &[Word]) -> Self {
        let (kind, detail) = match *cause {
            Cause::Start(number, fault) => (0, (number, fault.0)),
            Cause::Deadlock => (1, (0, 0)),
            Cause::Property(number) => (2, (number, 0)),
            Cause::PropertyFault(number, fault) => (3, (number, fault.0)),
            Cause::Fault(firing, fault) => (4, (firing.rule, fault.0)),
            Cause::Found(number) => (5, (number, 0)),
            Cause::Rule(firing) => (6, (firing.rule, firing.outcome)),
            Cause::NotReached(number) => (7, (number, 0)),
        };
        Rank { length, kind, detail, state: state.to_vec() }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub stop: Stop,
    /// The violations, in the order in which they were found.
    pub violations: Vec<Violation>,
    /// States that were new to the store. If it is exact, these are the distinct states.
    pub states: u64,
    /// Distinct states: counted if the store is exact, else estimated from the record.
    pub covered: Estimate,
    /// Whether no state was counted twice: the store does not forget, and no other store was searched beside it.
    pub(crate) counted: bool,
    /// Steps taken, as the strategy counts them.
    pub steps: u64,
    /// How often states were visited, if that was asked for and the store tells states apart: at place i the number of
    /// states visited at least 2^i and fewer than 2^(i+1) times.
    pub profile: Vec<u64>,
    /// Figures of the strategy's own.
    pub details: Details,
    /// Start states found.
    pub starts: u64,
    /// Whether some of them found no room and were left behind.
    pub(crate) starts_left: bool,
    /// Rules fired, those included that ended in a fault, without those that an assumption discarded.
    pub fired: u64,
    /// How often each rule fired, parameters fixed.
    pub firings: Vec<u64>,
    /// The depth reached, as the strategy counts it; none if it does not.
    pub depth: Option<u32>,
    /// States known but not expanded at the end.
    pub frontier: u64,
    /// Firings and start states that the model's assumptions excluded.
    pub discarded: u64,
    /// Properties that ask to be reached, and were.
    pub reached: PropertyBits,
    /// A fault that is a limit of representation, if there was one.
    pub limit: Option<(Firing, Fault)>,
    /// Over stores that err: how many states the passes that ran dry are together expected to have omitted, or the first pass so far, or
    /// the stores of workers that search apart.
    pub omissions: Option<f64>,
    /// Whether breadth-first search over a store that does not err found the violations, so that no shorter witnesses exist.
    pub shortest: bool,
    /// The phases of a run that had several.
    pub phases: Vec<Phase>,
    /// Whether strategy and expansions allow the claim that everything was visited, once the frontier has run dry.
    pub(crate) exhaustive: bool,
    /// Over a store that is not exact: what distinct states are estimated from, and an audit is judged by.
    pub record: Option<Record>,
    proof: Option<Proof>,
}

/// Evidence that every reachable state was visited. Only the loop can make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// The verdict about the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every reachable state was visited and none is bad.
    Holds,
    /// Something is wrong.
    Violated,
    /// Nothing was found, and not everything was looked at.
    NotFound,
}

impl Verdict {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::NotFound => "not-found",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Outcome {
    /// An empty outcome for a space with this many rules.
    pub(crate) fn new(rules: u32) -> Self {
        Outcome {
            stop: Stop::Exhausted,
            violations: Vec::new(),
            states: 0,
            covered: Estimate::default(),
            counted: true,
            steps: 0,
            profile: Vec::new(),
            details: Details::default(),
            starts: 0,
            starts_left: false,
            fired: 0,
            firings: vec![0; rules as usize],
            depth: None,
            frontier: 0,
            discarded: 0,
            reached: PropertyBits::default(),
            limit: None,
            omissions: None,
            shortest: false,
            phases: Vec::new(),
            exhaustive: false,
            record: None,
            proof: None,
        }
    }

    /// The outcome of a run whose store has no place for a worker.
    pub(crate) fn without_room(self) -> Self {
        Outcome { stop: Stop::Memory, starts_left: true, ..self }
    }

    /// Called once by the loop, when it has ended. The outcome is complete only if store, strategy, expansions and frontier all allow it.
    pub(crate) fn conclude(&mut self, fidelity: Fidelity) {
        if self.stop == Stop::Exhausted && self.frontier == 0 && fidelity == Fidelity::Exact && self.exhaustive && self.limit.is_none() {
            self.proof = Some(Proof);
        }
    }

    /// Keeps of violations that are wrong in the same way only the first.
    pub fn keep_each_once(&mut self) {
        let mut kept: Vec<Violation> = Vec::new();
        for violation in std::mem::take(&mut self.violations) {
            if !kept.iter().any(|earlier| earlier.cause.is_like(&violation.cause)) {
                kept.push(violation);
            }
        }
        self.violations = kept;
    }

    /// Takes in what another worker of the same run did, which visited other states.
    pub(crate) fn absorb(&mut self, other: Outcome, most: usize) {
        self.states += other.states;
        self.starts += other.starts;
        self.starts_left |= other.starts_left;
        self.fired += other.fired;
        self.steps += other.steps;
        self.firings.iter_mut().zip(&other.firings).for_each(|(sum, more)| *sum += more);
        self.depth = self.depth.max(other.depth);
        self.frontier += other.frontier;
        self.discarded += other.discarded;
        self.reached.union(&other.reached);
        self.limit = self.limit.or(other.limit);
        self.exhaustive &= other.exhaustive;
        self.violations.extend(other.violations);
        self.violations.sort_by(|one, another| one.rank.cmp(&another.rank));
        self.violations.truncate(most);
        for (bin, more) in other.profile.iter().enumerate() {
            match self.profile.get_mut(bin) {
                Some(sum) => *sum += more,
                None => self.profile.push(*more),
            }
        }
        self.details.absorb(other.details);
        self.counted &= other.counted;
        let estimate = match (&mut self.record, &other.record) {
            (Some(record), Some(more)) => {
                record.absorb(more);
                Some(record.estimate().at_most(self.states))
            }
            _ => None,
        };
        let counted = Estimate { value: self.states as f64, error: 0.0 };
        self.covered = estimate.filter(|_| !self.counted).unwrap_or(counted);
        // A reason that ended one worker ended all; running dry is the weakest.
        if self.stop == Stop::Exhausted {
            self.stop = other.stop;
        }
    }

    /// Finds the ways to violations that have none yet in the store in which their handles mean something.
    pub(crate) fn settle_trails(&mut self, space: &dyn Space, store: &dyn Store) {
        for violation in self.violations.iter_mut().filter(|violation| violation.trail.is_empty()) {
            if let Some(state) = violation.state {
                violation.trail = chain(space, store, state).unwrap_or_default();
            }
        }
    }

    /// Whether every reachable state was visited.
    pub fn is_complete(&self) -> bool {
        self.proof.is_some()
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        if !self.violations.is_empty() {
            Verdict::Violated
        } else if self.is_complete() {
            Verdict::Holds
        } else {
            Verdict::NotFound
        }
    }
}
