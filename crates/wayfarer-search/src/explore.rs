//! The one exploration loop. All strategies and stores run through it.
//!
//! A round selects a batch of states, makes their steps, probes the store (only if the strategy chooses among the
//! successors), admits, inserts, checks properties, updates the strategy, and asks the outside whether to go on. If the
//! store fills up in the middle of a batch, the batch is cut between two source states. The sources after the cut go
//! back to the frontier and their firings are not counted.

mod device;
mod judging;
mod profile;
mod sampling;

use crate::explore::sampling::Sampling;
use crate::{
    Admission, Candidates, Cause, Control, Deadlock, Estimate, Fidelity, Ground, Hint, Meeting, Outcome, Progress, Rank, Record, Seat, Selection,
    Settings, Stepping, Stop, Store, Strategy, Violation, Visit,
};
pub use device::{Away, Device, Finding, Lost, Standing, explore_on_device};
use judging::{Found, way};
use profile::{count_visit, histogram};
use std::collections::VecDeque;
use wayfarer_space::{Completeness, FaultClass, PropertyBits, Sieve, Space, States, Steps, Width, draw_start_piece, make_starts, start_pieces};

/// How a worker begins.
#[derive(Debug)]
pub(crate) struct Entering {
    /// Whether it brings in the start states.
    pub(crate) first: bool,
    /// Whether it is the only one that inserts into its store.
    pub(crate) sole: bool,
    /// The record that it goes on with.
    pub(crate) record: Option<Record>,
}

impl Default for Entering {
    fn default() -> Self {
        Entering { first: true, sole: true, record: None }
    }
}

/// One worker's part of an exploration: all of it, or the rounds of one of several. Only the first brings in the start states.
pub(crate) fn work(
    space: &dyn Space,
    store: &dyn Store,
    strategy: &mut dyn Strategy,
    settings: &Settings,
    control: &mut dyn Control,
    entering: Entering,
) -> Outcome {
    let Some(mut work) = Work::new(space, store, strategy, settings, entering) else { return Outcome::new(space.rules()).without_room() };
    let ended = work.go_on(strategy, control, u64::MAX);
    work.finish(ended.stop(), strategy)
}

/// One worker's part of an exploration, which can pause between two rounds and go on later.
pub(crate) struct Work<'a> {
    run: Run<'a>,
    /// Rounds that were expanded and not yet dealt with, and others to use again.
    waiting: VecDeque<Round>,
    spare: Vec<Round>,
    lag: usize,
    first: Hint,
    /// Why it ends before the first round, if it does.
    stop: Option<Stop>,
    /// Whether the outside was asked and the round that follows was not made.
    paused: bool,
}

/// How a stretch of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// The steps asked for were made, and there may be more to do.
    Paused,
    /// It is over, because nothing is left or for the given reason.
    Over(Option<Stop>),
}

impl Stretch {
    /// Why the work ended, if something ended it.
    pub(crate) fn stop(self) -> Option<Stop> {
        if let Stretch::Over(stop) = self { stop } else { None }
    }
}

impl<'a> Work<'a> {
    /// Takes a place at the store, and brings in the start states if they are to be brought in. None if the store has no place.
    pub(crate) fn new(
        space: &'a dyn Space,
        store: &'a dyn Store,
        strategy: &mut dyn Strategy,
        settings: &'a Settings,
        entering: Entering,
    ) -> Option<Self> {
        let seat = if entering.sole { store.sole_seat() } else { store.seat() };
        let mut run = Run::new(space, store, settings, seat?, entering.record);
        let mut stop = None;
        if entering.first {
            // There may be many start states, so their buffers are freed before the first round.
            let mut round = Round::new(space.width());
            for piece in start_pieces(space) {
                run.complete(make_starts(space, piece, &mut round.steps));
                stop = run.start(strategy, &round);
                if stop.is_some() {
                    // A search that starts anew when memory is full does so among the other start states as well.
                    stop = stop.filter(|stop| *stop != Stop::Memory || !strategy.answers_full());
                    break;
                }
            }
        }
        let lag = strategy.lag();
        // Whether everything is inserted in order and known states need only be counted.
        let in_order = lag > 0 && strategy.admission() == Admission::AllNew && !settings.profile;
        let first = if in_order { Hint::Coming } else { Hint::Place };
        if in_order
            && run.record.is_none()
            && settings.sought.as_ref().is_none_or(|sought| sought.rules.is_empty())
            && store.fidelity() == Fidelity::Exact
        {
            run.sieve = Sieve::new(space.width());
            if space.uses_arrivals() {
                strategy.note_arrivals();
            }
        }
        Some(Work { run, waiting: VecDeque::new(), spare: Vec::new(), lag, first, stop, paused: false })
    }

    /// Makes rounds until nothing is left, something ends the work, or `until` steps were made.
    pub(crate) fn go_on(&mut self, strategy: &mut dyn Strategy, control: &mut dyn Control, until: u64) -> Stretch {
        let Work { run, waiting, spare, lag, first, paused, .. } = self;
        let (space, store, lag, first) = (run.space, run.store, *lag, *first);
        let mut stop = self.stop.take();
        while stop.is_none() {
            if !std::mem::take(paused) {
                stop = run.edge(strategy, control);
                if stop.is_some() {
                    break;
                }
                if run.steps(strategy) >= until {
                    *paused = true;
                    return Stretch::Paused;
                }
            }
            let mut round = spare.pop().unwrap_or_else(|| Round::new(space.width()));
            round.selection.clear();
            strategy.select(store, &mut round.selection);
            let selected = !round.selection.is_empty();
            if selected {
                run.step(strategy, &mut round);
                store.hint(&mut run.seat, &round.steps, first);
                if let Some(last) = waiting.back() {
                    store.hint(&mut run.seat, &last.steps, Hint::State);
                }
                waiting.push_back(round);
            } else {
                spare.push(round);
            }
            if !selected && waiting.is_empty() {
                // A worker that waits for the others frees its buffers, because they may need the memory.
                if strategy.ahead() < lag {
                    spare.clear();
                }
                let progress = run.progress(strategy);
                match strategy.meet(run.outcome.violations.len(), &mut || control.ask(&progress)) {
                    Meeting::Over => break,
                    Meeting::On => {}
                    Meeting::Stop(why) => stop = Some(why),
                }
            }
            let mut due = waiting.len().saturating_sub(if selected { strategy.ahead() } else { waiting.len().saturating_sub(1) });
            while stop.is_none()
                && due > 0
                && let Some(round) = waiting.pop_front()
            {
                due -= 1;
                stop = run.round(strategy, &round);
                // Spare rounds are dropped, because each takes much memory if states have many successors.
                if spare.len() <= strategy.ahead() {
                    spare.push(round);
                }
            }
        }
        Stretch::Over(stop)
    }

    /// The figures so far.
    pub(crate) fn progress(&self, strategy: &dyn Strategy) -> Progress {
        self.run.progress(strategy)
    }

    /// Ends the work for this reason, or because nothing is left. Rounds that were not dealt with go back to the frontier.
    pub(crate) fn finish(self, stop: Option<Stop>, strategy: &mut dyn Strategy) -> Outcome {
        for round in self.waiting {
            strategy.update(&round.selection, 0, Candidates { steps: &round.steps, sources: &round.selection.handles }, &[]);
        }
        self.run.finish(stop, strategy)
    }
}

/// Called once, after all workers have ended. Decides whether every reachable state was visited. If so, properties that
/// ask to be reached and were not are violated.
pub(crate) fn conclude(space: &dyn Space, store: &dyn Store, settings: &Settings, outcome: &mut Outcome) {
    outcome.conclude(store.fidelity());
    if outcome.is_complete() && settings.sought.is_none() {
        for property in 0..space.properties() {
            let judged = settings.properties.as_ref().is_none_or(|chosen| chosen.contains(property));
            if judged && space.asks_to_reach(property) && !outcome.reached.contains(property) && outcome.violations.len() < settings.max_errors.max(1)
            {
                outcome.violations.push(Violation { cause: Cause::NotReached(property), state: None, trail: Vec::new(), rank: Rank::default() });
            }
        }
    }
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

/// The state that the rounds of one run share.
struct Run<'a> {
    space: &'a dyn Space,
    store: &'a dyn Store,
    settings: &'a Settings,
    outcome: Outcome,
    visits: Vec<Visit>,
    mask: Vec<bool>,
    /// The candidates of a round that are judged.
    fresh: Vec<u32>,
    properties: u32,
    bits: PropertyBits,
    complete: bool,
    seat: Seat,
    sampling: Sampling,
    /// Lets the space leave out steps to recently found states, if those steps need only be counted.
    sieve: Option<Sieve>,
    /// Over a store that cannot say how many distinct states there were.
    record: Option<Record>,
    /// How often each state was visited, by handle.
    profile: Option<Vec<u32>>,
}

impl<'a> Run<'a> {
    fn new(space: &'a dyn Space, store: &'a dyn Store, settings: &'a Settings, seat: Seat, record: Option<Record>) -> Self {
        let counts = store.fidelity() == Fidelity::Exact && !settings.record_always;
        Run {
            space,
            store,
            settings,
            outcome: Outcome::new(space.rules()),
            visits: Vec::new(),
            mask: Vec::new(),
            fresh: Vec::new(),
            properties: space.properties(),
            bits: PropertyBits::default(),
            complete: true,
            seat,
            sampling: Sampling::new(space.width()),
            sieve: None,
            record: record.or_else(|| (!counts && settings.record > 0).then(|| Record::new(settings.record, space.packing().clone()))),
            profile: settings.profile.then(Vec::new),
        }
    }

    fn ground(&self) -> Ground<'a> {
        Ground { space: self.space, store: self.store }
    }

    fn complete(&mut self, completeness: Completeness) {
        self.complete &= completeness == Completeness::All;
    }

    /// Takes in the start states.
    fn start(&mut self, strategy: &mut dyn Strategy, round: &Round) -> Option<Stop> {
        let Round { selection, steps } = round;
        self.outcome.discarded += steps.discarded;
        self.outcome.reached.union(&steps.reached);
        for step in &steps.faults {
            if self.speaks_against_model(step.firing, step.fault) {
                let cause = Cause::Start(step.firing.rule, step.fault);
                self.violated(Found { cause, state: None, words: &[], length: strategy.level() }, Vec::new);
            }
        }
        let candidates = Candidates { steps, sources: &[] };
        let stop = self.admit(strategy, selection, candidates);
        self.outcome.starts = self.outcome.states;
        self.outcome.starts_left |= self.visits.iter().any(|visit| matches!(visit, Visit::Full));
        strategy.update(selection, 0, candidates, &self.visits);
        stop.or_else(|| self.enough())
    }

    /// Makes the steps that the strategy wants.
    fn step(&mut self, strategy: &mut dyn Strategy, round: &mut Round) {
        let Round { selection, steps } = round;
        let completeness = match selection.stepping {
            Stepping::All | Stepping::Again => {
                steps.sieve = self.sieve.take();
                let completeness = match selection.arrivals.is_empty() {
                    true => self.space.expand(&selection.states, selection.from, steps),
                    false => self.space.expand_arrived(&selection.states, &selection.arrivals, steps),
                };
                self.sieve = steps.sieve.take();
                completeness
            }
            Stepping::One => self.sampling.draw(self.space, selection, steps),
            Stepping::Start => self.make_some_starts(selection, steps),
            Stepping::Given => {
                steps.clear();
                strategy.give(selection, steps);
                Completeness::All
            }
        };
        self.complete(completeness);
    }

    /// Makes the start states again or, if there are many, a piece of them that is drawn.
    fn make_some_starts(&self, selection: &mut Selection, steps: &mut Steps) -> Completeness {
        let draw = |pieces| selection.draws.first_mut().map_or(0, |rng| rng.below(pieces));
        make_starts(self.space, draw_start_piece(self.space, draw), steps)
    }

    /// Deals with the steps out of a selection.
    fn round(&mut self, strategy: &mut dyn Strategy, round: &Round) -> Option<Stop> {
        let Round { selection, steps } = round;
        let candidates = Candidates { steps, sources: &selection.handles };
        let full = self.admit(strategy, selection, candidates);
        let cut = self.visits.iter().position(|visit| matches!(visit, Visit::Full));
        let kept = cut.map_or(selection.handles.len(), |index| steps.sources[index] as usize);
        if matches!(selection.stepping, Stepping::All | Stepping::One) {
            self.count(strategy, round, kept);
        }
        strategy.update(selection, kept, candidates, &self.visits);
        // A search that has no room even for the start states would start anew for ever.
        let full = full.filter(|stop| *stop != Stop::Memory || selection.stepping == Stepping::Start || !strategy.answers_full());
        let full = full.or_else(|| strategy.full().then_some(Stop::Memory));
        if full.is_some() || strategy.at_border() { self.enough().or(full) } else { None }
    }

    /// Inserts the candidates that the strategy wants and checks the new ones. Returns why the run must stop, if there was no room for all of them.
    fn admit(&mut self, strategy: &mut dyn Strategy, selection: &Selection, candidates: Candidates) -> Option<Stop> {
        let room = self.settings.limits.states - self.outcome.states;
        let mask = match strategy.admission() {
            Admission::AllNew => None,
            Admission::Chosen => {
                self.store.probe(&mut self.seat, candidates, &mut self.visits);
                strategy.admit(selection, candidates, &self.visits, &mut self.mask);
                Some(self.mask.as_slice())
            }
            Admission::Drawn => {
                strategy.admit(selection, candidates, &[], &mut self.mask);
                Some(self.mask.as_slice())
            }
        };
        self.store.insert(&mut self.seat, candidates, mask, room, &mut self.visits);
        let considers = strategy.considers();
        let mut full = false;
        self.fresh.clear();
        for (index, visit) in self.visits.iter().enumerate() {
            match visit {
                // Most are, and nothing is to be done.
                Visit::Seen(_) if self.record.is_none() => {}
                Visit::New(_) => {
                    self.fresh.push(index as u32);
                    if let Some(record) = &mut self.record {
                        record.observe(candidates.steps.hashes[index], candidates.steps.states.get(index));
                    }
                }
                Visit::Seen(_) => {
                    if let Some(record) = &mut self.record {
                        record.meet(candidates.steps.hashes[index]);
                    }
                }
                Visit::Full => full = true,
                Visit::Skipped => {}
            }
        }
        self.outcome.states += self.fresh.len() as u64;
        if considers && selection.stepping != Stepping::Given {
            self.fresh.clear();
            self.fresh.extend(0..self.visits.len() as u32);
        }
        if !considers || selection.stepping != Stepping::Given {
            self.judge(strategy, selection, candidates, !considers);
        }
        if let Some(counts) = &mut self.profile {
            self.visits.iter().for_each(|visit| count_visit(counts, *visit));
        }
        full.then_some(if self.outcome.states >= self.settings.limits.states { Stop::States } else { Stop::Memory })
    }

    /// The number of firings out of the first `kept` sources that assumptions discarded. The steps count them for all
    /// sources, so if the store became full, the kept sources are expanded again.
    fn discarded(&self, round: &Round, kept: usize) -> u64 {
        let Round { selection, steps } = round;
        if steps.discarded == 0 || kept == selection.handles.len() || selection.stepping != Stepping::All {
            return steps.discarded;
        }
        let (mut first, mut again) = (States::new(selection.states.width()), Steps::new(selection.states.width()));
        selection.states.iter().take(kept).for_each(|state| first.push(state));
        self.space.expand(&first, selection.from, &mut again);
        again.discarded
    }

    /// Counts the firings of the first `kept` sources and looks for faults and deadlocks among them.
    fn count(&mut self, strategy: &dyn Strategy, round: &Round, kept: usize) {
        let Round { selection, steps } = round;
        let ground = self.ground();
        let wanted = self.settings.sought.as_ref().map(|sought| &sought.rules);
        let mut moves = 0;
        let mut fault = 0;
        let mut omitted = 0;
        self.outcome.reached.union(&steps.reached);
        self.outcome.discarded += self.discarded(round, kept);
        let counted = steps.sources.partition_point(|source| (*source as usize) < kept);
        for firing in &steps.firings[..counted] {
            self.outcome.firings[firing.rule as usize] += 1;
        }
        self.outcome.fired += counted as u64;
        let left_out = steps.omitted.partition_point(|step| (step.source as usize) < kept);
        for step in &steps.omitted[..left_out] {
            self.outcome.firings[step.rule() as usize] += 1;
        }
        self.outcome.fired += left_out as u64;
        if wanted.is_none() && steps.faults.is_empty() && self.settings.deadlock == Deadlock::Off {
            return;
        }
        for source in 0..kept {
            let trail = || way(ground, strategy, selection, source, false).unwrap_or_default();
            let (state, words, level) = (Some(selection.handles[source]), selection.states.get(source), strategy.level());
            let found = |cause, further| Found { cause, state, words, length: level.map(|level| level + further) };
            let (mut moved, mut changes, mut faulty) = (false, false, false);
            let first = moves + omitted + fault;
            while moves < steps.len() && steps.sources[moves] as usize == source {
                let firing = steps.firings[moves];
                if wanted.is_some_and(|wanted| wanted.contains(firing.rule)) {
                    self.violated(found(Cause::Rule(firing), 1), trail);
                }
                moved = true;
                changes |= steps.changed[moves] != 0;
                moves += 1;
            }
            while omitted < steps.omitted.len() && steps.omitted[omitted].source as usize == source {
                moved = true;
                changes |= steps.omitted[omitted].changed();
                omitted += 1;
            }
            while fault < steps.faults.len() && steps.faults[fault].source as usize == source {
                let step = steps.faults[fault];
                faulty = true;
                fault += 1;
                if self.space.fault_class(step.fault) != FaultClass::Passed {
                    self.outcome.firings[step.firing.rule as usize] += 1;
                    self.outcome.fired += 1;
                }
                if self.speaks_against_model(step.firing, step.fault) {
                    self.violated(found(Cause::Fault(step.firing, step.fault), 1), trail);
                }
            }
            // A state that an assumption excludes is another one.
            changes |= steps.discarded > 0 && steps.enabled[source] as usize > moves + omitted + fault - first;
            let deadlock = match self.settings.deadlock {
                Deadlock::Off => false,
                // If the drawn step leads back to its source, the drawing has already looked at the other steps.
                Deadlock::Stuck => steps.enabled[source] == 0 && !moved,
                Deadlock::Stuttering if selection.stepping == Stepping::One => steps.enabled[source] == 0,
                Deadlock::Stuttering => !changes && !faulty,
            };
            if deadlock && !self.space.may_end(words) {
                self.violated(found(Cause::Deadlock, 0), trail);
            }
        }
    }

    fn enough(&self) -> Option<Stop> {
        (self.outcome.violations.len() >= self.settings.max_errors.max(1) || self.found_all()).then_some(Stop::Violations)
    }

    /// The edge of a round: limits of the logical clock, then the outside.
    fn edge(&mut self, strategy: &dyn Strategy, control: &mut dyn Control) -> Option<Stop> {
        let progress = self.progress(strategy);
        if progress.steps >= self.settings.limits.steps {
            return Some(Stop::Steps);
        }
        if self.settings.end_at_limit && self.outcome.limit.is_some() {
            return Some(Stop::Limit);
        }
        control.ask(&progress)
    }

    /// Whether the states that the store took for new are the distinct ones: a store that does not forget takes none for new twice, so its own count is better
    /// than an estimate.
    fn counts(&self) -> bool {
        self.store.so_far() != Fidelity::Amnesic && !self.settings.record_always
    }

    /// Steps taken, as the strategy counts them.
    fn steps(&self, strategy: &dyn Strategy) -> u64 {
        strategy.steps().unwrap_or(self.outcome.fired)
    }

    fn progress(&self, strategy: &dyn Strategy) -> Progress {
        Progress {
            states: match &self.record {
                Some(record) if !self.counts() => record.estimate().at_most(self.outcome.states).value as u64,
                _ => self.outcome.states,
            },
            fired: self.outcome.fired,
            steps: self.steps(strategy),
            frontier: strategy.frontier(),
            depth: strategy.depth().unwrap_or(0),
            violations: self.outcome.violations.len(),
            phase: "",
        }
    }

    fn finish(mut self, stop: Option<Stop>, strategy: &dyn Strategy) -> Outcome {
        self.outcome.frontier = strategy.frontier();
        self.outcome.depth = strategy.depth();
        self.outcome.steps = self.steps(strategy);
        self.outcome.details = strategy.details();
        self.outcome.shortest = strategy.level().is_some();
        self.outcome.counted = self.counts();
        self.outcome.covered = match &self.record {
            Some(record) if !self.outcome.counted => record.estimate().at_most(self.outcome.states),
            _ => Estimate { value: self.outcome.states as f64, error: 0.0 },
        };
        self.outcome.profile = self.profile.take().map_or_else(Vec::new, |counts| histogram(&counts));
        self.outcome.stop = match stop {
            Some(stop) => stop,
            None if strategy.beyond_depth() > 0 => Stop::Depth,
            None if self.outcome.limit.is_some() => Stop::Limit,
            None => strategy.ended().unwrap_or(Stop::Exhausted),
        };
        self.outcome.exhaustive = strategy.exhaustive() && self.complete;
        self.outcome.record = self.record;
        self.store.leave(self.seat);
        self.outcome
    }
}
