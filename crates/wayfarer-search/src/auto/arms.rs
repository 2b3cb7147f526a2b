//! Random searches beside the phases. Each keeps its own state from turn to turn, and a turn is a job with a limit of
//! steps. The next turn goes to the arm that promises the most states unknown to the phases, by an upper confidence bound over a fading memory; because of the
//! fading, an arm that has run dry is tried again.

use super::Auto;
use super::noting::Noting;
use crate::strategies::{Site, StrategySpec};
use crate::{Control, Fidelity, Figures, Job, Limits, NoStore, Outcome, Record, Room, Seat, Settings, Stop, Store, Strategy, Witness};
use wayfarer_space::{Rng, Space};

/// The arms: strategy, largest share of the memory as a divisor, and whether the arm waits until the search is no longer exhaustive.
///
/// Short walks find what is near to hand more often, and long ones what lies deeper than a thousand steps.
const ARMS: [(&str, usize, bool); 5] = [
    ("walk:restart=1000", usize::MAX, false),
    ("rurs:from=visited", 128, false),
    ("highway:width=256,restarts=4000000000", 128, false),
    ("rbfs:own=on,max-overhead=1000000000,max-collision=1", 16, true),
    ("walk:restart=10000,lanes=1", usize::MAX, false),
];
/// The most that an arm takes while the search is exhaustive.
const MODEST: usize = 32 << 20;
/// The least that an arm which waits is worth: it keeps a record of its own.
const LEAST: usize = 256 << 10;
/// Start states may take this share of the memory in an arm.
const STARTS: usize = 16;
/// An arm that could keep fewer states than this is left out.
const FEWEST: u64 = 256;
/// Steps of a turn.
const TURN: u64 = 4096;
/// The arms make one step for `ALONG` steps of the phases while the search is exhaustive, and one for `AHEAD` steps once it is saturated.
const ALONG: u64 = 64;
const AHEAD: u64 = 1;
/// A step of an arm asks the guards of all rules, as an expansion does, whose work counts for all its steps. If an expansion makes more
/// steps than this, a step of an arm counts for several, and a turn has fewer of them, but at least `SHORTEST`.
const USUAL: u64 = 16;
const SHORTEST: u64 = 64;
/// The states of a turn take this share of the memory at most, as a divisor.
const TAKEN: usize = 64;
/// The copies of a state that a step of a turn takes memory for, and the bytes beside each.
const ROWS: usize = 3;
const BESIDES: usize = 64;
/// The largest share of the memory that is kept for a turn, as a divisor.
const KEPT: usize = 16;
/// As many steps as this the arms make before they fall behind: many errors are near to hand.
const HEAD_START: u64 = 1 << 16;
/// How long an exhaustive search goes on after an arm has found a violation, because a violation that it finds itself
/// has a shortest witness: at least the first number of steps, and at least its steps so far divided by the second.
const FOR_SHORTEST: (u64, u64) = (1 << 16, 2);
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
    /// The work of these steps, in steps of the phases.
    work: u64,
    /// The work of a step.
    each: u64,
    /// Work that they may do beyond their share of the phases' steps.
    granted: u64,
    met: Option<Met>,
    /// Rounds of the phases so far: from time to time the account is told how much is held.
    pub(super) asked: u32,
}

/// A violation that an arm found while the search was exhaustive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// The length of the witness to it, without loops.
    pub(super) length: usize,
    /// The steps at which the search gives up finding a shorter one.
    pub(super) until: u64,
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
            work: 0,
            each: 1,
            granted: 0,
            met: None,
            asked: 0,
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
            // An arm keeps the start states, beside a search that may need the memory.
            let starts = space.starts().unwrap_or(0).saturating_mul(size_of_val(space.packing().masks()) as u64);
            if starts > (auto.memory / STARTS) as u64 {
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

    /// The bytes of the arms' stores.
    pub(super) fn bytes(&self) -> usize {
        self.arms.iter().map(|arm| arm.store.bytes()).sum()
    }

    /// The steps of a turn.
    fn turn_steps(&self) -> u64 {
        let room = self.auto.memory / TAKEN / size_of_val(self.space.packing().masks()).max(1);
        (TURN / self.each).min(room as u64).max(SHORTEST)
    }

    /// The bytes that a turn takes beside those of the arms' stores, about, unless that is too much of the memory.
    pub(super) fn turn_bytes(&self) -> usize {
        (ROWS * self.turn_steps() as usize * (size_of_val(self.space.packing().masks()) + BESIDES)).min(self.auto.memory / KEPT)
    }

    /// A pass has ended: however few steps it made, the arms have another turn.
    pub(super) fn grant_turn(&mut self) {
        self.granted += TURN;
    }

    /// An expansion of the phase makes so many steps.
    pub(super) fn learn(&mut self, steps: u64) {
        self.each = (steps / USUAL).max(1);
    }

    /// The steps of the phases at which the next turn is due: when the arms' share of them is a turn more than the arms' work so far. After a violation they rest.
    pub(super) fn due(&self) -> u64 {
        if self.met.is_some() || self.arms.iter().all(|arm| arm.over) {
            return u64::MAX;
        }
        steps_for((self.work + TURN).saturating_sub(self.granted), if self.saturated { AHEAD } else { ALONG })
    }

    /// The violation for which an exhaustive phase looks for a shorter witness, if there is one.
    pub(super) fn met(&self) -> Option<Met> {
        self.met
    }

    /// The next turn, when the phases have made `steps`. Returns why the run ends, if it does. Unless the phase is one of those that `last` to the end, it
    /// goes on for a while after a violation, because one that it finds itself has a shortest witness.
    pub(super) fn turn(&mut self, main: &dyn Store, seat: &mut Seat, steps: u64, lasts: bool, control: &mut dyn Control) -> Option<Stop> {
        let stop = self.advance(main, seat, control)?;
        if stop != Stop::Violations || lasts {
            return Some(stop);
        }
        let Some(violation) = self.outcome.violations.first() else { return Some(stop) };
        let Ok(witness) = Witness::trace(self.space, &NoStore, violation, self.auto.account, 1) else { return Some(stop) };
        let until = steps + FOR_SHORTEST.0.max(steps / FOR_SHORTEST.1);
        self.met = Some(Met { length: witness.without_loops().len(), until });
        None
    }

    /// Lets the most promising arm make some steps. Returns why the run ends, if it does.
    fn advance(&mut self, main: &dyn Store, seat: &mut Seat, control: &mut dyn Control) -> Option<Stop> {
        let length = self.turn_steps();
        self.turns += 1;
        let turns = self.turns as f64;
        let promise = |arm: &Arm| arm.found / arm.spent.max(1.0) + (0.05 * (turns + 1.0).ln() / arm.turns.max(1e-3)).sqrt();
        let candidates = self.arms.iter_mut().filter(|arm| !arm.over);
        let arm = candidates.max_by(|one, other| promise(one).total_cmp(&promise(other)))?;
        let before = arm.strategy.steps();
        let limits = Limits { states: u64::MAX, steps: before.unwrap_or(0).saturating_add(length), ..self.settings.limits };
        let settings = Settings { limits, record_always: true, ..self.settings.clone() };
        let noting = Noting::new(&*arm.store, self.space.width());
        // While the store of the phase is exact, the arms' record is not needed.
        let settings = Settings { record: if main.fidelity() == Fidelity::Exact { 0 } else { settings.record }, ..settings };
        let turn = Job::new(self.space, &noting, &mut *arm.strategy, &settings).bringing_starts(!arm.begun).going_on_with(self.record.take());
        let mut outcome = turn.run(control);
        let discovered = noting.unknown_to(main, seat);
        self.record = outcome.record.take();
        arm.begun = true;
        // The limit of steps ends a turn. An arm that ended for another reason cannot go on.
        arm.over = outcome.stop != Stop::Steps;
        let steps = outcome.steps - before.unwrap_or(0);
        arm.found = arm.found * FADING + discovered as f64;
        arm.spent = arm.spent * FADING + steps.max(length / 8) as f64;
        arm.turns = arm.turns * FADING + 1.0;
        arm.discovered += discovered;
        self.steps += steps;
        self.work += steps.max(1).saturating_mul(self.each);
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
        if self.work > 0 {
            figures = figures.sum("steps of random searches beside", self.steps as f64);
            for arm in self.arms.iter().filter(|arm| arm.begun) {
                figures = figures.sum(format!("visits of {} to unknown states, about", arm.spec), arm.discovered as f64);
            }
        }
        figures
    }
}

/// The least number of steps of the phases that allows the arms `wanted` steps: one for one at the head start, and one for `rate` all along.
fn steps_for(wanted: u64, rate: u64) -> u64 {
    let early = wanted - wanted / (rate + 1);
    if early <= HEAD_START { early } else { (wanted - HEAD_START).saturating_mul(rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_due_as_soon_as_the_share_allows_it() {
        let allowed = |steps: u64, rate: u64| steps.min(HEAD_START) + steps / rate;
        for rate in [AHEAD, ALONG] {
            for wanted in (0..300).chain(HEAD_START - 300..HEAD_START + 5000).chain([1 << 17, 3 << 20]) {
                let due = steps_for(wanted, rate);
                assert!(allowed(due, rate) >= wanted, "{wanted} at {rate}");
                assert!(due == 0 || allowed(due - 1, rate) < wanted, "{wanted} at {rate}");
            }
        }
    }
}
