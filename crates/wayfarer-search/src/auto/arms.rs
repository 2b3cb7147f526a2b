//! Random searches beside the phases. Each keeps its own state from turn to turn. The next turn goes to the arm that
//! promises the most states unknown to the phases, by an upper confidence bound over a fading memory; because of the
//! fading, an arm that has run dry is tried again.

use super::Auto;
use crate::explore::{Entering, has_many_starts, work};
use crate::strategies::{Site, StrategySpec};
use crate::{
    Candidates, Control, Fidelity, Figures, Forget, Handle, Limits, NoStore, Outcome, Progress, Recall, Record, Remember, Room, Seat, Settings, Stop,
    Store, Strategy, Visit, Witness,
};
use std::sync::{Mutex, PoisonError};
use wayfarer_space::{Firing, Rng, Space, States, Steps, Word};

/// The arms: strategy, largest share of the memory as a divisor, and whether the arm waits until the search is no longer exhaustive.
const ARMS: [(&str, usize, bool); 4] = [
    ("walk:restart=1000", usize::MAX, false),
    ("rurs:from=visited", 128, false),
    ("highway:width=256,restarts=4000000000", 128, false),
    ("rbfs:own=on,max-overhead=1000000000,max-collision=1", 16, true),
];
/// The most that an arm takes while the search is exhaustive.
const MODEST: usize = 32 << 20;
/// The least that an arm which waits is worth: it keeps a record of its own.
const LEAST: usize = 256 << 10;
/// An arm that could keep fewer states than this is left out.
const FEWEST: u64 = 256;
/// Steps of a turn.
const TURN: u64 = 4096;
/// The arms make one step for `ALONG` steps of the phases while the search is exhaustive, and one for `AHEAD` steps once it is saturated.
const ALONG: u64 = 64;
const AHEAD: u64 = 1;
/// As many steps as this the arms make before they fall behind: many errors are near to hand.
const HEAD_START: u64 = 1 << 16;
/// How long an exhaustive search goes on after an arm has found a violation, because a violation that it finds itself
/// has a shortest witness: at least the first number of steps, and at least its steps so far divided by the second.
const FOR_SHORTEST: (u64, u64) = (1 << 16, 2);
/// Of the states that an arm visits, one in `LOOKED_UP` is looked up in the store of the phase.
const LOOKED_UP: u64 = 16;
/// An arm's discoveries fade by this factor with each of its turns.
const FADING: f64 = 0.9;

/// The arms, and their results so far.
pub(super) struct Arms<'a> {
    auto: Auto<'a>,
    space: &'a dyn Space,
    settings: &'a Settings,
    arms: Vec<Arm<'a>>,
    /// The record of the states that all arms visited.
    record: Option<Record>,
    /// The merged outcome of their turns, except violations that a phase has taken over.
    outcome: Outcome,
    saturated: bool,
    turns: u64,
    steps: u64,
    /// Steps that they may make beyond their share of the phases' steps.
    granted: u64,
    asked: u32,
    met: Option<Met>,
}

/// A violation that an arm found while the search was exhaustive.
struct Met {
    /// The length of the witness to it, without loops.
    length: usize,
    /// The steps at which the search gives up finding a shorter one.
    until: u64,
}

struct Arm<'a> {
    spec: StrategySpec,
    /// Whether it came when the search was no longer exhaustive.
    waited: bool,
    store: Box<dyn Store + 'a>,
    strategy: Box<dyn Strategy + 'a>,
    begun: bool,
    over: bool,
    /// Discoveries, steps and turns, fading.
    found: f64,
    spent: f64,
    turns: f64,
    discovered: u64,
}

impl<'a> Arms<'a> {
    pub(super) fn new(space: &'a dyn Space, auto: &Auto<'a>, settings: &'a Settings) -> Self {
        let outcome = Outcome::new(space.rules());
        let mut arms = Arms {
            auto: *auto,
            space,
            settings,
            arms: Vec::new(),
            record: None,
            outcome,
            saturated: false,
            turns: 0,
            steps: 0,
            granted: 0,
            asked: 0,
            met: None,
        };
        arms.add(false);
        arms
    }

    /// Adds the arms that begin with the run, or those that wait until the search is no longer exhaustive.
    fn add(&mut self, waiting: bool) {
        // Who wants many violations wants those of the search, in its order, and none twice.
        if self.settings.max_errors > 1 {
            return;
        }
        let (space, auto) = (self.space, self.auto);
        for (number, (spec, share, waits)) in ARMS.into_iter().enumerate().filter(|(_, (_, _, waits))| *waits == waiting) {
            let Ok(spec) = StrategySpec::parse(spec) else { continue };
            let memory = if waits { auto.memory / share } else { (auto.memory / share).min(MODEST) };
            if waits && memory < LEAST {
                continue;
            }
            let seed = Rng::new(auto.seed, "arms").split(number as u64).next_word();
            let room = Room { packing: space.packing(), account: auto.account, most: memory, fixed: memory, bounded: true, seed };
            let kept = spec.default_store().settled(&room);
            // One that could keep too few states is of no use.
            if kept.number("slots").is_some_and(|slots| slots < FEWEST) {
                continue;
            }
            let Some(store) = kept.build(&room) else { continue };
            let site = Site { limits: &self.settings.limits, packing: space.packing(), account: auto.account, seed, store: kept };
            let strategy = spec.build(&site);
            if has_many_starts(space) && !strategy.starts_in_pieces() {
                continue;
            }
            self.arms.push(Arm {
                spec,
                waited: waits,
                store,
                strategy,
                begun: false,
                over: false,
                found: 0.0,
                spent: 0.0,
                turns: 0.0,
                discovered: 0,
            });
        }
    }

    /// Whether the search is exhaustive no longer.
    pub(super) fn set_saturated(&mut self, saturated: bool) {
        if saturated && !self.arms.iter().any(|arm| arm.waited) {
            self.add(true);
        }
        self.saturated = saturated;
    }

    /// A control for a phase over `store` that gives the arms their turns. `seat` is a place there.
    pub(super) fn beside<'r>(&'r mut self, store: &'r dyn Store, seat: Seat, inner: &'r mut dyn Control, so_far: Progress) -> Beside<'r, 'a> {
        let lasting = !so_far.phase.is_empty();
        Beside { arms: self, store, seat: Mutex::new(seat), inner, so_far, lasting, most: usize::MAX }
    }

    /// Tells the account, if it asks, how many bytes are held by the phase's store, by a frontier outside that store, and by the arms.
    fn settle(&mut self, store: &dyn Store, waiting: u64) {
        self.asked = self.asked.wrapping_add(1);
        if self.auto.account.wants_settling(self.asked) {
            let waiting = waiting as usize * (self.space.packing().bytes() + 4);
            self.auto.account.settle(store.bytes() + waiting + self.bytes());
        }
    }

    /// The bytes of the arms' stores.
    pub(super) fn bytes(&self) -> usize {
        self.arms.iter().map(|arm| arm.store.bytes()).sum()
    }

    /// A pass has ended: however few steps it made, the arms have another turn.
    pub(super) fn grant_turn(&mut self) {
        self.granted += TURN;
    }

    /// The number of steps that the arms may have made when the phases have made `steps`.
    fn allowed(&self, steps: u64) -> u64 {
        self.granted + steps.min(HEAD_START) + if self.saturated { steps / AHEAD } else { steps / ALONG }
    }

    /// Lets the most promising arm make some steps. Returns why the run ends, if it does.
    fn turn(&mut self, main: &dyn Store, seat: &Mutex<Seat>, control: &mut dyn Control) -> Option<Stop> {
        self.turns += 1;
        let turns = self.turns as f64;
        let promise = |arm: &Arm| arm.found / arm.spent.max(1.0) + (0.05 * (turns + 1.0).ln() / arm.turns.max(1e-3)).sqrt();
        let candidates = self.arms.iter_mut().filter(|arm| !arm.over);
        let arm = candidates.max_by(|one, other| promise(one).total_cmp(&promise(other)))?;
        let before = arm.strategy.steps();
        let limits = Limits { states: u64::MAX, steps: before.unwrap_or(0).saturating_add(TURN), ..self.settings.limits };
        let settings = Settings { limits, record_always: true, ..self.settings.clone() };
        let watched = Watched { inner: &*arm.store, met: Mutex::new(States::new(self.space.width())) };
        // While the store of the phase is exact, the arms' record is not needed.
        let settings = Settings { record: if main.fidelity() == Fidelity::Exact { 0 } else { settings.record }, ..settings };
        let entering = Entering { first: !arm.begun, record: self.record.take() };
        let mut outcome = work(self.space, &watched, &mut *arm.strategy, &settings, control, entering);
        let discovered = watched.unknown_to(main, seat);
        self.record = outcome.record.take();
        arm.begun = true;
        // The limit of steps ends a turn. An arm that ended for another reason cannot go on.
        arm.over = outcome.stop != Stop::Steps;
        let steps = outcome.steps - before.unwrap_or(0);
        arm.found = arm.found * FADING + discovered as f64;
        arm.spent = arm.spent * FADING + steps.max(TURN / 8) as f64;
        arm.turns = arm.turns * FADING + 1.0;
        arm.discovered += discovered;
        self.steps += steps.max(1);
        outcome.settle_trails(self.space, &*arm.store);
        let stop = match outcome.stop {
            Stop::Time | Stop::Interrupted => Some(outcome.stop),
            _ => (!outcome.violations.is_empty()).then_some(Stop::Violations),
        };
        outcome.steps = 0;
        self.outcome.absorb(outcome, self.settings.max_errors.max(1));
        stop
    }

    /// Adds to a phase's outcome the violations that the arms found beside it.
    pub(super) fn give(&mut self, to: &mut Outcome) {
        let found = std::mem::take(&mut self.outcome.violations);
        if to.violations.is_empty() && !found.is_empty() {
            (to.violations, to.stop) = (found, Stop::Violations);
            to.shortest = self.met.as_ref().is_some_and(|met| to.depth.is_some_and(|depth| depth as usize > met.length));
        }
    }

    /// Adds the arms' firings to the run's outcome, unless the run was complete: then its own counts are exact.
    pub(super) fn tell(&self, to: &mut Outcome) {
        if !to.is_complete() {
            to.reached.union(&self.outcome.reached);
            to.fired += self.outcome.fired;
            to.firings.iter_mut().zip(&self.outcome.firings).for_each(|(sum, more)| *sum += more);
        }
    }

    /// Adds the states that the arms visited to a record.
    pub(super) fn share(&self, record: &mut Record) {
        if let Some(own) = &self.record {
            record.absorb(own);
        }
    }

    /// The arms' figures for the report.
    pub(super) fn figures(&self) -> Figures {
        let mut figures = Figures::default();
        if self.steps > 0 {
            figures = figures.sum("steps of random searches beside", self.steps as f64);
            for arm in self.arms.iter().filter(|arm| arm.begun) {
                figures = figures.sum(format!("visits of {} to unknown states, about", arm.spec.name()), arm.discovered as f64);
            }
        }
        figures
    }
}

/// The control of a phase: asks the outside, and gives the arms their turns.
pub(super) struct Beside<'r, 'a> {
    arms: &'r mut Arms<'a>,
    store: &'r dyn Store,
    seat: Mutex<Seat>,
    inner: &'r mut dyn Control,
    so_far: Progress,
    /// Whether memory that is short is nothing new: what asks before it grows has been told.
    lasting: bool,
    /// The phase ends if more bytes than this are in use.
    most: usize,
}

impl Beside<'_, '_> {
    /// The same for a phase that ends if more than `most` bytes are in use.
    pub(super) fn within(self, most: usize) -> Self {
        Beside { most, ..self }
    }
}

impl Control for Beside<'_, '_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        let total = Progress {
            states: self.so_far.states + progress.states,
            fired: self.so_far.fired + progress.fired,
            steps: self.so_far.steps + progress.steps,
            violations: self.so_far.violations + progress.violations,
            phase: self.so_far.phase,
            ..*progress
        };
        if let Some(stop) = self.inner.ask(&total).filter(|stop| !(self.lasting && *stop == Stop::Memory)) {
            return Some(stop);
        }
        if self.most < usize::MAX && self.arms.auto.account.used() > self.most {
            return Some(Stop::Memory);
        }
        self.arms.settle(self.store, if self.lasting { progress.frontier } else { 0 });
        if let Some(met) = &self.arms.met {
            // If the search has passed this depth without finding a violation, the arm's witness is a shortest one.
            return (progress.depth as usize > met.length || total.steps >= met.until).then_some(Stop::Violations);
        }
        if self.arms.arms.is_empty() || self.arms.steps + TURN > self.arms.allowed(total.steps) {
            return None;
        }
        let mut quiet = Quiet { inner: self.inner, total };
        let stop = self.arms.turn(self.store, &self.seat, &mut quiet)?;
        if stop != Stop::Violations || self.lasting {
            return Some(stop);
        }
        let Some(violation) = self.arms.outcome.violations.first() else { return Some(stop) };
        let Ok(witness) = Witness::trace(self.arms.space, &NoStore, violation, self.arms.auto.account) else { return Some(stop) };
        let until = total.steps + FOR_SHORTEST.0.max(total.steps / FOR_SHORTEST.1);
        self.arms.met = Some(Met { length: witness.without_loops().len(), until });
        None
    }
}

/// The control of an arm's turn. The outside sees the progress of the phase, not that of the arm.
struct Quiet<'r> {
    inner: &'r mut dyn Control,
    total: Progress,
}

impl Control for Quiet<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        self.inner.ask(&self.total).filter(|stop| matches!(stop, Stop::Time | Stop::Interrupted))
    }
}

/// An arm's store. It notes a sample of its new states, which are then looked up in the store of the phase.
struct Watched<'r> {
    inner: &'r dyn Store,
    met: Mutex<States>,
}

impl Watched<'_> {
    fn note(&self, steps: &Steps, visits: &[Visit]) {
        let noted = |index: &usize| matches!(visits[*index], Visit::New(_)) && steps.hashes[*index].second().is_multiple_of(LOOKED_UP);
        let mut met = None;
        for index in (0..visits.len()).filter(noted) {
            let met = met.get_or_insert_with(|| self.met.lock().unwrap_or_else(PoisonError::into_inner));
            met.push(steps.states.get(index));
        }
    }

    /// About how many of the states that it met are unknown to a store.
    fn unknown_to(self, main: &dyn Store, seat: &Mutex<Seat>) -> u64 {
        let met = self.met.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut steps = Steps::new(met.width());
        met.iter().for_each(|state| steps.push(0, Firing::of(0), state, state));
        let mut seat = seat.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = Vec::new();
        main.probe(&mut seat, Candidates { steps: &steps, sources: &[] }, &mut answers);
        LOOKED_UP * answers.iter().filter(|answer| matches!(answer, Visit::New(_))).count() as u64
    }
}

impl Remember for Watched<'_> {
    fn seat(&self) -> Option<Seat> {
        self.inner.seat()
    }

    fn leave(&self, seat: Seat) {
        self.inner.leave(seat);
    }

    fn probe(&self, seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        self.inner.probe(seat, candidates, visits);
    }

    fn insert(&self, seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, room: u64, visits: &mut Vec<Visit>) {
        self.inner.insert(seat, candidates, mask, room, visits);
        self.note(candidates.steps, visits);
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn fidelity(&self) -> Fidelity {
        self.inner.fidelity()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }
}

impl Recall for Watched<'_> {
    fn state(&self, at: Handle, out: &mut States) -> bool {
        self.inner.state(at, out)
    }

    fn states(&self, handles: &[Handle], out: &mut States) -> bool {
        self.inner.states(handles, out)
    }

    fn parent(&self, at: Handle) -> Option<Handle> {
        self.inner.parent(at)
    }

    fn nth(&self, n: u64) -> Handle {
        self.inner.nth(n)
    }
}

impl Forget for Watched<'_> {
    fn holds(&self, at: Handle, state: &[Word]) -> bool {
        self.inner.holds(at, state)
    }

    fn forget(&self, at: Handle) -> bool {
        self.inner.forget(at)
    }

    fn clear(&self) -> bool {
        self.inner.clear()
    }
}
