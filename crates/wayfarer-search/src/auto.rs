//! `auto`: phases over the one loop, within one budget.
//!
//! 1. Breadth-first search over the exact store. If states are wide, they are [moved into a tree](planting) once the
//!    exact store has used its share of the memory. If the system fits, the search ends here and the answer is exact.
//! 2. If the first store is full, the search goes on from the same frontier over the [elastic compact
//!    store](CompactStore::elastic). An exact store is moved into it segment by segment. A tree cannot be freed in
//!    parts, so it leaves room for its successor from the beginning. The frontier is kept as differences, and states
//!    are dropped from it at random if it no longer fits.
//! 3. When that search has run dry, further passes follow, each with another hash and other random draws. A state that
//!    one pass omits is likely to be found by another.
//!
//! [Arms](arms) run beside the phases. They are random searches with stores of their own. They get a small share of the
//! steps while the search is exhaustive, and more once it is not. Shares are counted in steps, so that the same seed
//! gives the same run. A phase is a job, a turn of an arm is a job, and the [schedule] says which comes next.
//!
//! A run ends at a violation, if everything was visited, if it is likely that nothing was missed ([`Auto::confidence`]), or at a limit.

mod arms;
mod moving;
mod noting;
mod planting;
mod schedule;

use crate::crew::Load;
use crate::explore::{Entering, conclude};
use crate::frontier::{Board, Pool, Waiting};
use crate::job::Breadth;
use crate::strategies::{Bfs, Level};
use crate::{
    Account, CompactStore, Control, Estimate, ExactStore, Fidelity, Limits, NoStore, Outcome, Progress, Record, Remember, Seat, Settings, Stop,
    Store, TreeStore,
};
use arms::Arms;
use planting::plant;
use schedule::{Crowded, Schedule};
use std::sync::Arc;
use wayfarer_space::{Rng, Space};
use wayfarer_store::give_back;

/// Packed states of more bits than this go into the tree, once an exact store has taken its share of the memory, as a divisor.
const WIDE: usize = 512;
const PLANTED: usize = 8;
/// If a pass had no room for its whole frontier, the next pass gives the frontier more, as a share of the bytes it
/// took: at least the first number, and at most the second on top.
const MORE: (f64, f64) = (0.05, 0.85);
/// The largest share of the memory for waypoints, as a divisor.
const WAYPOINT_SHARE: usize = 32;
/// The odds of omitting a new state, and the states that found no room in the frontier for each distinct one, above which the system is far too large.
const SATURATED: (f64, f64) = (0.1, 0.5);

/// The largest share of the memory that is kept for the rounds of a pass, as a divisor.
const ROUNDS: usize = 6;
/// The least memory for each worker at a pass.
const EACH: usize = 8 << 20;

/// A pass is idle if it finds fewer new states than this share of the known ones. After `IDLE` idle passes in a row, more passes are of no use.
const NOTHING_NEW: f64 = 1e-3;
const IDLE: u32 = 3;

/// The name of a pass from the start that is not the first.
const ANOTHER: &str = "another pass";

/// The parameters of a run in phases.
#[derive(Clone, Copy)]
pub struct Auto<'a> {
    /// Asked before anything grows.
    pub account: &'a dyn Account,
    /// The bytes that the whole run may take.
    pub memory: usize,
    /// How many workers search while the store is exact.
    pub workers: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// The probability of having omitted nothing at which a run over a store that errs ends.
    pub confidence: f64,
    /// Whether to go on if passes find nothing new, because something else will end the run.
    pub patient: bool,
}

/// A part of a run that had one way of searching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Its name, which says how it searched.
    pub name: &'static str,
    /// Distinct states when it ended, as far as is known.
    pub states: u64,
    /// Distinct states that this phase visited, including those it began with. They are counted, not estimated; with
    /// several threads over a filter, two threads may count the same state.
    pub visited: u64,
    /// Steps when it ended.
    pub steps: u64,
    /// The deepest level it reached.
    pub depth: u32,
    /// Why it ended.
    pub ended: &'static str,
    /// The number of passes that are summed up here; the figures are those of the last.
    pub passes: u64,
}

impl Phase {
    /// Whether its store began empty again: then that store speaks for this phase alone, not for the run.
    pub fn begins_again(&self) -> bool {
        self.name == ANOTHER
    }
}

/// Explores `space` in phases. Also gives the last store, in which states found in the first phase lie.
pub(crate) fn explore_in_phases<'a>(
    space: &'a dyn Space,
    auto: &Auto<'a>,
    settings: &'a Settings,
    control: &mut dyn Control,
) -> (Outcome, Box<dyn Store + 'a>) {
    let mut run = Run {
        space,
        auto: *auto,
        settings,
        arms: Arms::new(space, auto, settings),
        done: Outcome::new(space.rules()),
        phases: Vec::new(),
        whole: auto.account.used() + auto.memory,
        load: Load::new(auto.account),
    };
    let store = run.all(control);
    run.finish(store)
}

/// The state that the phases share.
struct Run<'a> {
    space: &'a dyn Space,
    auto: Auto<'a>,
    settings: &'a Settings,
    arms: Arms<'a>,
    /// The merged outcome of the phases that have ended.
    done: Outcome,
    phases: Vec<Phase>,
    /// The bytes that were in use when the run began, plus its budget.
    whole: usize,
    load: Load<'a>,
}

/// The first store: one that never errs.
#[allow(clippy::large_enum_variant)] // There is one at a time.
enum First<'a> {
    Exact(ExactStore<'a>),
    Tree(TreeStore<'a>),
}

impl<'a> First<'a> {
    fn store(&self) -> &(dyn Store + 'a) {
        match self {
            First::Exact(store) => store,
            First::Tree(store) => store,
        }
    }

    fn boxed(self) -> Box<dyn Store + 'a> {
        match self {
            First::Exact(store) => Box::new(store),
            First::Tree(store) => Box::new(store),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            First::Exact(_) => "bfs over exact",
            First::Tree(_) => "bfs over tree",
        }
    }
}

/// The parts that passes over an elastic store begin with.
struct Begun<'a> {
    store: CompactStore<'a>,
    /// The bytes that the store may take.
    bytes: usize,
    waiting: Arc<Pool<'a>>,
    from: Level,
    record: Record,
    /// States that the store knows already.
    known: u64,
    /// Whether start states are to be brought in.
    starts: bool,
}

/// How a pass begins.
#[derive(Clone, Copy)]
struct Standing {
    from: Level,
    /// Whether start states are to be brought in.
    starts: bool,
    /// States that its store holds already, and distinct states that earlier passes visited.
    known: u64,
    least: u64,
}

impl<'a> Run<'a> {
    fn all(&mut self, control: &mut dyn Control) -> Box<dyn Store + 'a> {
        let Some(first) = self.first_store() else {
            // Too little to begin exactly.
            let bytes = self.store_bytes(self.auto.account.used(), 0.0);
            let Some(store) = CompactStore::elastic(bytes, 0, self.auto.account) else {
                self.done.stop = Stop::Memory;
                return Box::new(NoStore);
            };
            let begun = Begun { store, bytes, waiting: self.pool(0), from: Level::default(), record: self.record(), known: 0, starts: true };
            return self.passes(begun, control);
        };
        let (outcome, mut waiting) = self.first_phase(&first, None, control);
        let mut goes_on = self.end_first(outcome, &first);
        let mut first = first;
        if goes_on
            && let First::Exact(exact) = &first
            && self.is_wide()
        {
            match self.planted(exact, &waiting, control) {
                Ok((tree, there)) => {
                    first = tree;
                    give_back();
                    self.auto.account.settle(self.arms.bytes() + first.store().bytes() + self.space.table_bytes());
                    let (outcome, left) = self.first_phase(&first, Some(&there), control);
                    waiting = left;
                    goes_on = self.end_first(outcome, &first);
                }
                // The unfinished tree has been dropped; the run goes on from the exact store.
                Err(Stop::Memory) => {}
                Err(stop) => {
                    self.done.stop = stop;
                    goes_on = false;
                }
            }
        }
        if !goes_on {
            return first.boxed();
        }
        match self.converted(first, &waiting, control) {
            Ok(begun) => self.passes(begun, control),
            Err((stop, last)) => {
                self.done.stop = stop;
                last
            }
        }
    }

    /// Pass after pass over elastic stores, until one of them ends the run.
    fn passes(&mut self, begun: Begun<'a>, control: &mut dyn Control) -> Box<dyn Store + 'a> {
        let Begun { mut store, mut bytes, mut waiting, mut from, mut record, known, starts } = begun;
        let (mut pass, mut most, mut idle, mut before) = (0, 0f64, 0, 0f64);
        // The expected omissions of the best pass that ran dry without losing a part of its frontier.
        let mut omissions: Option<f64> = None;
        loop {
            let name = if pass == 0 { "bfs over compact" } else { ANOTHER };
            let standing = match pass {
                0 => Standing { from, starts, known, least: 0 },
                _ => Standing { from, starts: true, known: 0, least: most.max(before) as u64 },
            };
            let mut outcome = self.pass(name, &store, &waiting, standing, record, control);
            let kept = waiting.kept();
            let dry = outcome.stop == Stop::Exhausted;
            record = outcome.record.take().unwrap_or_else(|| self.record());
            self.arms.share(&mut record);
            let (own, odds) = (expected(&store), store.filtering().unwrap_or(0.0));
            let distinct = record.estimate().value.max(1.0);
            let lost = kept.lost;
            idle = if distinct > before * (1.0 + NOTHING_NEW) { 0 } else { idle + 1 };
            before = before.max(distinct);
            let whole = dry && lost == 0 && outcome.exhaustive && outcome.limit.is_none() && self.done.limit.is_none();
            if whole {
                omissions = Some(omissions.map_or(own, |best| best.min(own)));
            }
            // A state that such a store calls new is new, so a pass that forgot nothing counts the states it visits.
            let visited = if pass == 0 { known + outcome.states } else { outcome.states };
            let estimated = record.estimate();
            most = most.max(visited as f64);
            outcome.covered = if pass == 0 || estimated.value < most { Estimate { value: most, error: 0.0 } } else { estimated };
            let stop = if !dry {
                Some(outcome.stop)
            } else if Crowded::within(self.whole).is_met(self.auto.account, self.space) {
                Some(Stop::Memory)
            } else if whole && is_sure(own, pass, self.auto.confidence) {
                Some(Stop::Confident)
            } else if idle >= IDLE && !self.auto.patient {
                Some(Stop::Memory)
            } else {
                None
            };
            self.arms.set_saturated(odds > SATURATED.0 || lost as f64 > SATURATED.1 * distinct);
            outcome.stop = stop.unwrap_or(outcome.stop);
            self.end_phase(name, outcome, visited, None);
            // If the first pass was cut short, these are the omissions that its store expects so far.
            self.done.omissions = omissions.or((pass == 0).then_some(own));
            if stop.is_some() {
                self.done.record = Some(record);
                return Box::new(store);
            }
            pass += 1;
            self.arms.grant_turn();
            if lost > 0 {
                // Store and frontier together filled the memory, so the store must shrink for the frontier to grow.
                let short = (lost as f64 / (2 * kept.widest.max(1)) as f64).min(MORE.1) + MORE.0;
                bytes = (store.bytes() as f64 - kept.most_bytes as f64 * short).max(self.whole as f64 / 3.0).min(bytes as f64) as usize;
            }
            drop(store);
            give_back();
            (waiting, from) = (self.pool(pass), Level::default());
            let salt = Rng::new(self.auto.seed, "salts").split(pass).next_word() | 1;
            let Some(next) = CompactStore::elastic(bytes, salt, self.auto.account) else {
                (self.done.record, self.done.stop) = (Some(record), Stop::Memory);
                return Box::new(NoStore);
            };
            store = next;
        }
    }

    fn is_wide(&self) -> bool {
        let packing = self.space.packing();
        !packing.is_varying() && packing.bits() > WIDE
    }

    /// If states are wide, the exact store gets only a small share: a tree holds many times as many states, though it is slower.
    fn first_store(&self) -> Option<First<'a>> {
        let Auto { account, memory, .. } = self.auto;
        let most = if self.is_wide() { memory / PLANTED } else { memory };
        ExactStore::new(self.space.packing().clone(), account, most).map(First::Exact)
    }

    /// A tree with the states of the exact store, and the frontier with handles into the tree.
    fn planted(&self, exact: &ExactStore<'a>, waiting: &Waiting, control: &mut dyn Control) -> Result<(First<'a>, Waiting), Stop> {
        let Auto { account, memory, .. } = self.auto;
        let tree = TreeStore::new(self.space.packing().clone(), account, memory).ok_or(Stop::Memory)?;
        let progress = Progress { states: exact.len(), fired: self.done.fired, steps: self.done.steps, ..Progress::default() };
        let waiting = plant(self.space, exact, waiting, &tree, control, &progress)?;
        Ok((First::Tree(tree), waiting))
    }

    /// Ends a phase over a store that does not err, and says whether there is more to do.
    fn end_first(&mut self, mut outcome: Outcome, first: &First<'a>) -> bool {
        // Another store does not help if the space's own tables take most of the memory.
        let is_crowded = self.space.table_bytes() > self.whole / 2;
        let goes_on = outcome.stop == Stop::Memory && !is_crowded && outcome.violations.len() < self.settings.max_errors.max(1);
        let (visited, shortest) = (first.store().len(), outcome.shortest);
        outcome.covered = Estimate { value: visited as f64, error: 0.0 };
        let concluded = outcome.is_complete();
        self.end_phase(first.name(), outcome, visited, Some(first.store()));
        self.done.shortest = shortest;
        if concluded {
            self.done.conclude(Fidelity::Exact);
        }
        goes_on
    }

    /// Breadth-first over a store that does not err, from the start or from what waits there.
    fn first_phase(&mut self, first: &First<'a>, from: Option<&Waiting>, control: &mut dyn Control) -> (Outcome, Waiting) {
        let space = self.space;
        let settings = &Settings { limits: self.limits_left(), ..self.settings.clone() };
        let crowded = Crowded::within(self.whole);
        let Some(seat) = first.store().seat() else {
            let waiting = from.cloned().unwrap_or(Waiting { starts: true, ..Waiting::default() });
            return (Outcome::new(space.rules()).without_room(), waiting);
        };
        // A tree leaves room for the store that follows, since it cannot be taken apart while states are moved.
        let most = if matches!(first, First::Tree(_)) { self.whole / 8 * 5 } else { usize::MAX };
        let so_far = Progress { states: self.done.states, fired: self.done.fired, steps: self.done.steps, ..Progress::default() };
        let (store, workers) = (first.store(), self.auto.workers);
        let board = Board::new(workers, from);
        let (starts, at) = from.map_or((true, Level::default()), |waiting| (waiting.starts, waiting.level_of()));
        let entering = Entering { first: starts, record: None, ..Entering::default() };
        let account = self.auto.account;
        let load = &self.load;
        let breadth = Breadth { space, store, settings, account, load, workers, shared: &board, reserved: 0, from: at, entering };
        let (mut outcome, depth) = Schedule::new(&mut self.arms, store, seat, so_far, crowded, control).within(most).run(breadth);
        let waiting = board.left(depth, outcome.starts_left);
        // Start states that come later than others come at a later level.
        outcome.shortest = from.is_none_or(|waiting| !waiting.starts);
        self.arms.give(&mut outcome);
        // Properties reached in an earlier phase stay reached.
        outcome.reached.union(&self.done.reached);
        conclude(space, first.store(), settings, &mut outcome);
        (outcome, waiting)
    }

    /// One pass over the elastic store.
    fn pass(
        &mut self,
        phase: &'static str,
        store: &CompactStore<'a>,
        waiting: &Arc<Pool<'a>>,
        Standing { from, starts, known, least }: Standing,
        record: Record,
        control: &mut dyn Control,
    ) -> Outcome {
        // A later pass begins with nothing, and counts anew.
        let states = if phase == ANOTHER { self.settings.limits.states } else { self.limits_left().states };
        let settings = Settings { limits: Limits { states, ..self.limits_left() }, record_always: true, ..self.settings.clone() };
        let so_far = Progress {
            states: known,
            fired: self.done.fired,
            steps: self.done.steps,
            violations: self.done.violations.len(),
            phase,
            ..Progress::default()
        };
        let workers = waiting.workers();
        // A compact store can be probed without a place there, and is faster while it has one worker.
        let seat = if workers > 1 { store.seat() } else { None }.unwrap_or_else(|| Seat::new(()));
        let breadth = Breadth {
            space: self.space,
            store,
            settings: &settings,
            account: self.auto.account,
            load: &self.load,
            workers,
            shared: waiting,
            reserved: self.rounds(),
            from,
            entering: Entering { first: starts, record: Some(record), ..Entering::default() },
        };
        let schedule = Schedule::new(&mut self.arms, store, seat, so_far, Crowded::within(self.whole), control);
        let (mut outcome, _) = schedule.at_least(least).run(breadth);
        self.arms.give(&mut outcome);
        outcome
    }

    /// The limits that are left after the phases so far.
    fn limits_left(&self) -> Limits {
        Limits {
            states: self.settings.limits.states.saturating_sub(self.done.covered.value as u64),
            steps: self.settings.limits.steps.saturating_sub(self.done.steps),
            ..self.settings.limits
        }
    }

    /// Adds the outcome of a phase to that of the run.
    fn end_phase(&mut self, name: &'static str, mut outcome: Outcome, visited: u64, store: Option<&dyn Store>) {
        if let Some(store) = store {
            // Handles mean nothing once the store is given up.
            outcome.settle_trails(self.space, store);
        }
        let (covered, stop, frontier) = (outcome.covered, outcome.stop, outcome.frontier);
        let depth = outcome.depth.unwrap_or(0);
        if self.phases.is_empty() {
            self.done = outcome;
        } else {
            let (record, omissions) = (self.done.record.take(), self.done.omissions);
            self.done.absorb(outcome, self.settings.max_errors.max(1));
            self.done.shortest = false;
            (self.done.record, self.done.omissions) = (record, omissions);
        }
        (self.done.covered, self.done.stop, self.done.frontier) = (covered, stop, frontier);
        let steps = self.done.steps;
        let phase = Phase { name, states: covered.value.round() as u64, visited, steps, depth, ended: stop.word(), passes: 1 };
        match self.phases.last_mut().filter(|last| last.name == name) {
            Some(last) => *last = Phase { passes: last.passes + 1, visited: visited.max(last.visited), ..phase },
            None => self.phases.push(phase),
        }
    }

    fn finish(mut self, store: Box<dyn Store + 'a>) -> (Outcome, Box<dyn Store + 'a>) {
        self.arms.tell(&mut self.done);
        // Beside several workers, the number of turns depends on timing. A complete run can be repeated, and owes nothing to them.
        if self.auto.workers < 2 || !self.done.is_complete() {
            self.done.details.figures.append(self.arms.figures());
        }
        self.done.phases = self.phases;
        (self.done, store)
    }

    /// The workers of a pass.
    fn crew(&self) -> usize {
        // Limits of the logical clock are kept to the step, so that such a run can be repeated.
        let unlimited = [self.settings.limits.steps, self.settings.limits.states] == [u64::MAX; 2];
        if unlimited { self.auto.workers.min(self.auto.memory / EACH).max(1) } else { 1 }
    }

    /// The bytes that are kept for the rounds of each worker of a pass: as many as they take, unless that is too much of the memory. What a single worker takes
    /// is not much.
    fn rounds(&self) -> usize {
        let crew = self.crew();
        if crew > 1 { Bfs::ordinary(self.space.packing()).min(self.auto.memory / ROUNDS / crew) } else { 0 }
    }

    /// The bytes that are kept for the rounds of a pass and for a turn beside it.
    fn reserved(&self) -> usize {
        let crew = self.crew();
        crew * self.rounds() + if crew > 1 { self.arms.turn_bytes() } else { 0 }
    }

    /// An empty frontier for a pass, which goes on when it is full.
    fn pool(&self, pass: u64) -> Arc<Pool<'a>> {
        let pool = Pool::new(self.space.packing().clone(), self.auto.account, self.crew());
        Arc::new(pool.spilling(Rng::new(self.auto.seed, "spilling").split(pass), self.auto.memory / WAYPOINT_SHARE))
    }

    fn record(&self) -> Record {
        Record::new(self.settings.record, self.space.packing().clone())
    }

    /// The size of an elastic store in bytes, next to `besides` bytes in use and a frontier of `frontier` bytes:
    /// between a third and three quarters of the memory.
    fn store_bytes(&self, besides: usize, frontier: f64) -> usize {
        let besides = besides + self.load.weight() + self.reserved();
        let memory = self.whole - besides.min(self.whole / 2);
        ((memory as f64 - frontier) as usize).clamp(memory / 3, memory / 4 * 3)
    }
}

/// Whether a pass with this number of expected omissions has most likely omitted nothing, and so visited every state.
/// Passes that agree prove nothing, because one omitted state may hide any number of others, and a search of a long,
/// thin system ends at its first omission. The probability that a pass with so few expected omissions omitted a state
/// is at most `1 - e^-expected`. Each pass gets half the allowance of the one before, so that all passes together keep
/// to the confidence asked for.
fn is_sure(expected: f64, pass: u64, confidence: f64) -> bool {
    -(-expected).exp_m1() <= (1.0 - confidence) * 0.5f64.powf(pass as f64 + 1.0)
}

fn expected(store: &dyn Store) -> f64 {
    if let Fidelity::Lossy(expected) = store.fidelity() { expected } else { 0.0 }
}
