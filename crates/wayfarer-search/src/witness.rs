//! The way to a violation: made from a store's links, and replayed before it is believed.

mod dependence;
mod effort;
mod eliminate;
mod goal;
mod nearby;
mod pieces;
mod shorten;
mod stage;
mod windows;

pub use dependence::{Dependence, Touched};
pub use shorten::{Forms, Shortened, Shortening};
pub(crate) use stage::{Stage, stage_store};

use crate::{Account, Bfs, Cause, Deadlock, Handle, Job, Limits, Settings, Stop, Store, Unbounded, Violation};
use pieces::in_pieces;
use std::collections::HashMap;
use std::fmt;
use wayfarer_space::{Fault, Fired, Firing, PropertyBits, Space, States, Steps, Word, find_start};

/// A start state and firings that lead from it to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The number of the start state.
    pub start: u32,
    /// The states on the way, the start state first.
    pub states: Vec<Vec<Word>>,
    /// The firings between them; one fewer than states.
    pub firings: Vec<Firing>,
    /// The violation at its end.
    pub ending: Ending,
}

/// The violation at the end of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The property of this number fails in the last state.
    Property(u32),
    /// Judging that property fails in the last state.
    PropertyFault(u32, Fault),
    /// The last state is a deadlock.
    Deadlock,
    /// This firing out of the last state fails.
    Fault(Firing, Fault),
    /// The start state cannot be made; there are no states.
    Start(Fault),
    /// The last state satisfies this property, which was looked for.
    Found(u32),
    /// This firing leads out of the last state, and was looked for.
    Rule(Firing),
}

impl Ending {
    /// Whether a violation is wrong in the same way, wherever it shows: the same property, the same fault at the same place of the same rule, or of `any_rule`, a
    /// firing of the same rule.
    pub(crate) fn is_shown_by(&self, cause: &Cause, any_rule: bool) -> bool {
        match (*self, *cause) {
            (Ending::Property(one), Cause::Property(other)) | (Ending::Found(one), Cause::Found(other)) => one == other,
            (Ending::PropertyFault(one, fault), Cause::PropertyFault(other, also)) => (one, fault) == (other, also),
            (Ending::Deadlock, Cause::Deadlock) => true,
            (Ending::Fault(one, fault), Cause::Fault(other, also)) => fault == also && (any_rule || one.rule == other.rule),
            (Ending::Rule(one), Cause::Rule(other)) => one.rule == other.rule,
            _ => false,
        }
    }
}

/// Why a witness could not be made or does not replay. All of these are faults of the program that made it, not of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WitnessError {
    /// The violation is not about a state, so no way leads to it.
    NotAboutAState,
    /// The store cannot give states back.
    NoStates,
    /// There is not enough memory left to search for the way between two states of the trail.
    NoRoom,
    /// The first state of the chain is not a start state.
    NoStart,
    /// No firing leads from this state of the chain to the next.
    NoStep(usize),
    /// On replay, the firing at this place did something else.
    Departs(usize),
    /// On replay, the end is not what it was said to be.
    OtherEnd,
}

impl fmt::Display for WitnessError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            WitnessError::NotAboutAState => write!(out, "the violation is not about a single state"),
            WitnessError::NoStates => write!(out, "the store cannot give states back"),
            WitnessError::NoRoom => write!(out, "there is not enough memory left to find the way"),
            WitnessError::NoStart => write!(out, "the witness does not begin in a start state"),
            WitnessError::NoStep(at) => write!(out, "no rule leads from state {at} of the witness to the next"),
            WitnessError::Departs(at) => write!(out, "step {} departs from what was recorded", at + 1),
            WitnessError::OtherEnd => write!(out, "the witness replays, but its end is not a violation"),
        }
    }
}

impl std::error::Error for WitnessError {}

/// The least states that a thread expands, and the least firings that it replays: less would not be worth starting it.
const EXPANDED: usize = 512;
const REPLAYED: usize = 256;

/// The states on a shortest way from one state, or else from a start state, to another.
fn way_between(space: &dyn Space, from: Option<&[Word]>, to: &[Word], account: &dyn Account, at: usize) -> Result<Vec<Vec<Word>>, WitnessError> {
    let stage = Stage { space, from, only: None, goal: &|state| state == to };
    let store = stage_store(space, account).ok_or(WitnessError::NoRoom)?;
    let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
    let outcome = Job::new(&stage, &store, &mut Bfs::new(&Limits::default()), &settings).run(&mut Unbounded);
    let missing = if outcome.stop == Stop::Memory { WitnessError::NoRoom } else { WitnessError::NoStep(at) };
    chain(space, &store, outcome.violations.first().and_then(|violation| violation.state).ok_or(missing)?)
}

impl Witness {
    /// The witness to a violation, from the store's links or, if it keeps none, by searching anew between the states of
    /// its trail, which takes memory from `account`. The firings are found again by expanding each state on the way, by at most `workers` threads.
    pub fn trace(
        space: &dyn Space,
        store: &dyn Store,
        violation: &Violation,
        account: &dyn Account,
        workers: usize,
    ) -> Result<Witness, WitnessError> {
        let ending = match violation.cause {
            Cause::Property(property) => Ending::Property(property),
            Cause::PropertyFault(property, fault) => Ending::PropertyFault(property, fault),
            Cause::Deadlock => Ending::Deadlock,
            Cause::Fault(firing, fault) => Ending::Fault(firing, fault),
            Cause::Start(start, fault) => return Ok(Witness { start, states: Vec::new(), firings: Vec::new(), ending: Ending::Start(fault) }),
            Cause::NotReached(_) => return Err(WitnessError::NotAboutAState),
            Cause::Found(property) => Ending::Found(property),
            Cause::Rule(firing) => Ending::Rule(firing),
        };
        if !violation.trail.is_empty() {
            return Witness::along(space, &violation.trail, ending, account, workers);
        }
        let states = chain(space, store, violation.state.ok_or(WitnessError::NotAboutAState)?)?;
        Witness::through(space, states, ending, workers)
    }

    /// The witness that passes through the given states, a start state first: the way between two of them is searched anew, breadth-first.
    fn along(space: &dyn Space, trail: &[Vec<Word>], ending: Ending, account: &dyn Account, workers: usize) -> Result<Witness, WitnessError> {
        let begins = find_start(space, |steps| steps.states.iter().any(|state| state == trail[0]).then_some(())).is_some();
        let mut steps = Steps::new(space.width());
        let mut states = if begins { vec![trail[0].clone()] } else { way_between(space, None, &trail[0], account, 0)? };
        let mut batch = States::new(space.width());
        for (at, pair) in trail.windows(2).enumerate() {
            if pair[0] == pair[1] {
                continue;
            }
            batch.clear();
            batch.push(&pair[0]);
            space.expand(&batch, Firing::of(0), &mut steps);
            if steps.states.iter().any(|state| state == pair[1]) {
                states.push(pair[1].clone());
                continue;
            }
            states.extend(way_between(space, Some(&pair[0]), &pair[1], account, at)?.into_iter().skip(1));
        }
        Witness::through(space, states, ending, workers)
    }

    /// The witness that consists of the given states; the firings between them are found again, by at most `workers` threads.
    pub fn through(space: &dyn Space, states: Vec<Vec<Word>>, ending: Ending, workers: usize) -> Result<Witness, WitnessError> {
        let among = |steps: &Steps| (0..steps.len()).find(|index| steps.states.get(*index) == states[0]).map(|index| steps.firings[index].rule);
        let start = find_start(space, among).ok_or(WitnessError::NoStart)?;
        let found = in_pieces(workers, states.len() - 1, EXPANDED, |piece| {
            let (mut steps, mut batch) = (Steps::new(space.width()), States::new(space.width()));
            let leads = |at: usize| {
                batch.clear();
                batch.push(&states[at]);
                space.expand(&batch, Firing::of(0), &mut steps);
                let found = (0..steps.len()).find(|index| steps.states.get(*index) == states[at + 1]).ok_or(WitnessError::NoStep(at))?;
                Ok(steps.firings[found])
            };
            piece.map(leads).collect::<Result<Vec<_>, _>>()
        });
        let firings = found.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Witness { start, states, firings, ending })
    }

    /// Cuts out every way that leads back to a state the witness was in before; the end is the same.
    pub fn without_loops(mut self) -> Witness {
        let mut last = HashMap::new();
        for (at, state) in self.states.iter().enumerate() {
            last.insert(state.as_slice(), at);
        }
        let mut kept = Vec::new();
        let mut at = 0;
        while at < self.states.len() {
            // From the last time in this state on, the rest is the same.
            at = last[self.states[at].as_slice()];
            kept.push(at);
            at += 1;
        }
        self.firings = kept[..kept.len().saturating_sub(1)].iter().map(|at| self.firings[*at]).collect();
        self.states = kept.iter().map(|at| self.states[*at].clone()).collect();
        self
    }

    /// How many firings it has, a last one that fails included.
    pub fn len(&self) -> usize {
        self.firings.len() + usize::from(matches!(self.ending, Ending::Fault(..) | Ending::Rule(_)))
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fires the witness again in `space`, by at most `workers` threads, and compares every state and the end. Deadlocks are judged by `stuttering`: whether every
    /// step leads back.
    pub fn replay(&self, space: &dyn Space, stuttering: bool, workers: usize) -> Result<(), WitnessError> {
        if let Ending::Start(fault) = self.ending {
            let again = |steps: &Steps| steps.faults.iter().any(|step| step.firing.rule == self.start && step.fault == fault).then_some(());
            return find_start(space, again).ok_or(WitnessError::NoStart);
        }
        let first = self.states.first().ok_or(WitnessError::NoStart)?;
        let begins = |steps: &Steps| {
            (0..steps.len()).any(|index| steps.firings[index].rule == self.start && steps.states.get(index) == first.as_slice()).then_some(())
        };
        find_start(space, begins).ok_or(WitnessError::NoStart)?;
        // Every state is known, so each step can be fired by itself.
        let departs = in_pieces(workers, self.firings.len(), REPLAYED, |mut piece| {
            let mut next = Vec::new();
            piece.find(|at| space.fire(&self.states[*at], self.firings[*at], &mut next) != Fired::To || self.states.get(at + 1) != Some(&next))
        });
        if let Some(at) = departs.into_iter().flatten().next() {
            return Err(WitnessError::Departs(at));
        }
        self.end(space, stuttering)
    }

    fn end(&self, space: &dyn Space, stuttering: bool) -> Result<(), WitnessError> {
        let last = self.states.last().ok_or(WitnessError::NoStart)?;
        let mut bits = PropertyBits::default();
        let judged = space.check(last, &mut bits);
        let holds = match self.ending {
            Ending::Property(property) | Ending::Found(property) => bits.contains(property),
            Ending::Rule(firing) => space.fire(last, firing, &mut Vec::new()) == Fired::To,
            Ending::PropertyFault(property, fault) => judged == Err((property, fault)),
            Ending::Fault(firing, fault) => space.fire(last, firing, &mut Vec::new()) == Fired::Fault(fault),
            Ending::Deadlock => if stuttering { Deadlock::Stuttering } else { Deadlock::Stuck }.is_at(space, last),
            Ending::Start(_) => false,
        };
        if holds { Ok(()) } else { Err(WitnessError::OtherEnd) }
    }
}

/// The states from a start state to the one behind `end`.
pub(crate) fn chain(space: &dyn Space, store: &dyn Store, end: Handle) -> Result<Vec<Vec<Word>>, WitnessError> {
    let mut handles = vec![end];
    while let Some(parent) = handles.last().and_then(|handle| store.parent(*handle)) {
        handles.push(parent);
    }
    let mut buffer = States::new(space.width());
    for handle in handles.iter().rev() {
        if !store.state(*handle, &mut buffer) {
            return Err(WitnessError::NoStates);
        }
    }
    Ok(buffer.iter().map(<[Word]>::to_vec).collect())
}
