//! The one exploration loop. Strategies and stores differ; this does not.
//!
//! A round: select a batch, step, probe (where the strategy wants to choose), admit, insert, check, update, and ask the outside whether to go on. A store
//! that is full cuts a batch at whole sources: what was not dealt with in full belongs to the frontier again, and its firings are not counted.

use crate::{
    Admission, Candidates, Cause, Control, Handle, Hint, Limits, Outcome, Progress, Seat, Selection, Stop, Store, Strategy, Violation, Visit,
};
use std::collections::VecDeque;
use wayfarer_space::{Completeness, Fault, FaultClass, PropertyBits, Space, Steps, Width, Word};

/// When a state counts as a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deadlock {
    /// Never.
    Off,
    /// When no rule is enabled.
    Stuck,
    /// When no rule leads to another state.
    #[default]
    Stuttering,
}

/// What a run looks for, and how far it goes by the logical clock.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How far.
    pub limits: Limits,
    /// When a state counts as a deadlock.
    pub deadlock: Deadlock,
    /// After how many violations to stop; at least one.
    pub max_errors: usize,
    /// Which properties are judged; all where none is given.
    pub properties: Option<PropertyBits>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { limits: Limits::default(), deadlock: Deadlock::default(), max_errors: 1, properties: None }
    }
}

/// Explores `space` until a strategy has nothing left, enough was found, or a limit or `control` ends it.
pub fn explore(space: &dyn Space, store: &dyn Store, strategy: &mut dyn Strategy, settings: &Settings, control: &mut dyn Control) -> Outcome {
    let Some(seat) = store.seat() else { return Outcome::new(space.rules()).without_room() };
    let mut run = Run::new(space, settings, seat);
    let mut round = Round::new(space.width());
    run.complete(space.initial(&mut round.steps));
    let mut stop = run.start(store, strategy, &round);
    // Where all that is new is admitted, what to select next does not depend on what the last rounds find. So they lag behind by two: their states' places,
    // then the states themselves, are fetched while the next rounds are expanded.
    let lag = if strategy.admission() == Admission::AllNew { 2 } else { 0 };
    let mut waiting: VecDeque<Round> = VecDeque::new();
    let mut spare = vec![round];
    while stop.is_none() {
        stop = run.edge(store, strategy, control);
        if stop.is_some() {
            break;
        }
        let mut round = spare.pop().unwrap_or_else(|| Round::new(space.width()));
        round.selection.clear();
        strategy.select(store, &mut round.selection);
        let selected = !round.selection.handles.is_empty();
        if selected {
            run.complete(space.expand(&round.selection.states, round.selection.from, &mut round.steps));
            store.hint(&mut run.seat, &round.steps.hashes, Hint::Place);
            if let Some(last) = waiting.back() {
                store.hint(&mut run.seat, &last.steps.hashes, Hint::State);
            }
            waiting.push_back(round);
        } else {
            spare.push(round);
        }
        if !selected || waiting.len() > lag {
            let Some(round) = waiting.pop_front() else { break };
            stop = run.round(store, strategy, &round);
            spare.push(round);
        }
    }
    for round in waiting {
        strategy.update(&round.selection, 0, Candidates { steps: &round.steps, sources: &round.selection.handles }, &[]);
    }
    run.finish(stop, store, strategy)
}

/// A selection and the steps out of it.
struct Round {
    selection: Selection,
    steps: Steps,
}

impl Round {
    fn new(width: Width) -> Self {
        Round { selection: Selection::new(width), steps: Steps::new(width) }
    }
}

/// What the rounds of one run share.
struct Run<'a> {
    space: &'a dyn Space,
    settings: &'a Settings,
    outcome: Outcome,
    visits: Vec<Visit>,
    mask: Vec<bool>,
    bits: PropertyBits,
    complete: bool,
    seat: Seat,
}

impl<'a> Run<'a> {
    fn new(space: &'a dyn Space, settings: &'a Settings, seat: Seat) -> Self {
        Run {
            space,
            settings,
            outcome: Outcome::new(space.rules()),
            visits: Vec::new(),
            mask: Vec::new(),
            bits: PropertyBits::default(),
            complete: true,
            seat,
        }
    }

    fn complete(&mut self, completeness: Completeness) {
        self.complete &= completeness == Completeness::All;
    }

    /// Takes in the start states.
    fn start(&mut self, store: &dyn Store, strategy: &mut dyn Strategy, round: &Round) -> Option<Stop> {
        let Round { selection, steps } = round;
        self.outcome.discarded += steps.discarded;
        self.outcome.reached.union(&steps.reached);
        for step in &steps.faults {
            if self.speaks_against_model(step.firing, step.fault) {
                self.violated(Cause::Start(step.firing.rule, step.fault), None, Vec::new);
            }
        }
        let candidates = Candidates { steps, sources: &[] };
        let stop = self.admit(store, strategy, selection, candidates);
        self.outcome.starts = self.outcome.states;
        strategy.update(selection, 0, candidates, &self.visits);
        stop.or_else(|| self.enough())
    }

    /// Deals with the steps out of a selection.
    fn round(&mut self, store: &dyn Store, strategy: &mut dyn Strategy, round: &Round) -> Option<Stop> {
        let Round { selection, steps } = round;
        let candidates = Candidates { steps, sources: &selection.handles };
        let full = self.admit(store, strategy, selection, candidates);
        let cut = self.visits.iter().position(|visit| matches!(visit, Visit::Full));
        let kept = cut.map_or(selection.handles.len(), |index| steps.sources[index] as usize);
        if selection.first {
            self.count(strategy, round, kept);
        }
        strategy.update(selection, kept, candidates, &self.visits);
        self.enough().or(full).or_else(|| strategy.full().then_some(Stop::Memory))
    }

    /// Inserts what the strategy wants and checks what is new. Says why it stopped where not everything found room.
    fn admit(&mut self, store: &dyn Store, strategy: &mut dyn Strategy, selection: &Selection, candidates: Candidates) -> Option<Stop> {
        let room = self.settings.limits.states - self.outcome.states;
        match strategy.admission() {
            Admission::AllNew => store.insert(&mut self.seat, candidates, None, room, &mut self.visits),
            Admission::Chosen => {
                store.probe(&mut self.seat, candidates, &mut self.visits);
                strategy.admit(candidates, &self.visits, &mut self.mask);
                store.insert(&mut self.seat, candidates, Some(&self.mask), room, &mut self.visits);
            }
        }
        let mut full = false;
        for index in 0..self.visits.len() {
            match self.visits[index] {
                Visit::New(handle) => {
                    self.outcome.states += 1;
                    let trail = || {
                        let source = candidates.steps.sources[index] as usize;
                        let mut trail = if candidates.sources.is_empty() { Vec::new() } else { strategy.trail(selection, source)? };
                        trail.push(candidates.steps.states.get(index).to_vec());
                        Some(trail)
                    };
                    self.check(candidates.steps, index, handle, || trail().unwrap_or_default());
                }
                Visit::Full => full = true,
                Visit::Seen(_) | Visit::Skipped => {}
            }
        }
        full.then_some(if self.outcome.states >= self.settings.limits.states { Stop::States } else { Stop::Memory })
    }

    /// Judges a state that was just found.
    fn check(&mut self, steps: &Steps, index: usize, handle: Handle, trail: impl Fn() -> Vec<Vec<Word>>) {
        if self.space.properties() == 0 {
            return;
        }
        self.bits.clear();
        let judged = self.space.check(steps.states.get(index), &mut self.bits);
        if let Err((property, fault)) = judged
            && self.looked_for(property)
            && self.speaks_against_model(steps.firings[index], fault)
        {
            self.violated(Cause::PropertyFault(property, fault), Some(handle), &trail);
        }
        if self.bits.is_empty() {
            return;
        }
        let bits = std::mem::take(&mut self.bits);
        for property in bits.iter() {
            if !self.looked_for(property) {
                continue;
            }
            if self.space.asks_to_reach(property) {
                self.outcome.reached.insert(property);
            } else {
                self.violated(Cause::Property(property), Some(handle), &trail);
            }
        }
        self.bits = bits;
    }

    /// Counts the firings of the first `kept` sources and looks for faults and deadlocks among them.
    fn count(&mut self, strategy: &dyn Strategy, round: &Round, kept: usize) {
        let Round { selection, steps } = round;
        let mut moves = 0;
        let mut fault = 0;
        self.outcome.reached.union(&steps.reached);
        self.outcome.discarded += steps.discarded;
        for source in 0..kept {
            let trail = || strategy.trail(selection, source).unwrap_or_default();
            let mut changes = false;
            let mut faulty = false;
            while moves < steps.len() && steps.sources[moves] as usize == source {
                self.outcome.firings[steps.firings[moves].rule as usize] += 1;
                self.outcome.fired += 1;
                changes |= steps.changed[moves] != 0;
                moves += 1;
            }
            while fault < steps.faults.len() && steps.faults[fault].source as usize == source {
                let step = steps.faults[fault];
                faulty = true;
                fault += 1;
                self.outcome.firings[step.firing.rule as usize] += 1;
                self.outcome.fired += 1;
                if self.speaks_against_model(step.firing, step.fault) {
                    self.violated(Cause::Fault(step.firing, step.fault), Some(selection.handles[source]), trail);
                }
            }
            let deadlock = match self.settings.deadlock {
                Deadlock::Off => false,
                Deadlock::Stuck => steps.enabled[source] == 0,
                Deadlock::Stuttering => !changes && !faulty,
            };
            if deadlock {
                self.violated(Cause::Deadlock, Some(selection.handles[source]), trail);
            }
        }
    }

    fn violated(&mut self, cause: Cause, state: Option<Handle>, trail: impl Fn() -> Vec<Vec<Word>>) {
        if self.outcome.violations.len() < self.settings.max_errors {
            self.outcome.violations.push(Violation { cause, state, trail: trail() });
        }
    }

    /// Whether a fault is a violation; where it only says that a representation ran out, remembers that.
    fn speaks_against_model(&mut self, firing: wayfarer_space::Firing, fault: Fault) -> bool {
        if self.space.fault_class(fault) == FaultClass::Violation {
            return true;
        }
        self.outcome.limit.get_or_insert((firing, fault));
        false
    }

    fn looked_for(&self, property: u32) -> bool {
        self.settings.properties.as_ref().is_none_or(|chosen| chosen.contains(property))
    }

    fn enough(&self) -> Option<Stop> {
        (self.outcome.violations.len() >= self.settings.max_errors.max(1)).then_some(Stop::Violations)
    }

    /// The edge of a round: limits of the logical clock, then the outside.
    fn edge(&mut self, store: &dyn Store, strategy: &dyn Strategy, control: &mut dyn Control) -> Option<Stop> {
        if self.outcome.fired >= self.settings.limits.steps {
            return Some(Stop::Steps);
        }
        control.ask(&Progress {
            states: store.len(),
            fired: self.outcome.fired,
            frontier: strategy.frontier(),
            depth: strategy.depth(),
            violations: self.outcome.violations.len(),
        })
    }

    fn finish(mut self, stop: Option<Stop>, store: &dyn Store, strategy: &dyn Strategy) -> Outcome {
        self.outcome.frontier = strategy.frontier();
        self.outcome.depth = strategy.depth();
        self.outcome.stop = match stop {
            Some(stop) => stop,
            None if strategy.beyond_depth() > 0 => Stop::Depth,
            None if self.outcome.limit.is_some() => Stop::Limit,
            None => Stop::Exhausted,
        };
        self.outcome.conclude(store.fidelity(), strategy.exhaustive(), self.complete);
        if self.outcome.is_complete() {
            for property in 0..self.space.properties() {
                if self.looked_for(property) && self.space.asks_to_reach(property) && !self.outcome.reached.contains(property) {
                    self.violated(Cause::NotReached(property), None, Vec::new);
                }
            }
        }
        self.outcome
    }
}
