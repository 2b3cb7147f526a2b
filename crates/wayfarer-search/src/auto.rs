//! `auto`: phases over the one loop, within one budget.
//!
//! 1. Breadth-first over the exact store and, where states are wide and that has taken its share, over a tree that they are [moved into](planting). While the
//!    system fits, this is all there is, and the answer is exact.
//! 2. When that is full, the same frontier goes on over the [elastic compact store](CompactStore::elastic). An exact store is drained into it segment by
//!    segment; a tree cannot be taken apart like that, so it leaves room for what follows. The frontier is kept as differences and, when it no longer fits,
//!    thinned out at random.
//! 3. When that has run dry, another pass under another hash and with other draws, as often as it takes: a state that one pass omits another does not.
//!
//! Beside the phases go [arms](arms): random searches that keep their own states and get a small share of the steps while the search is exhaustive, and
//! more of them when it no longer is. All shares are reckoned in steps, so that the same seed gives the same run.
//!
//! A run ends by a violation, because everything was visited, because nothing is likely to have been missed ([`Auto::confidence`]), or by its budget.

mod arms;
mod moving;
mod planting;

use crate::explore::conclude;
use crate::frontier::{Board, Pool, Waiting};
use crate::job::Breadth;
use crate::strategies::Level;
use crate::{
    Account, CompactStore, Control, Estimate, ExactStore, Fidelity, Limits, NoStore, Outcome, Progress, Record, Remember, Seat, Settings, Stop,
    Store, TreeStore,
};
use arms::Arms;
use planting::plant;
use std::sync::Arc;
use wayfarer_space::{Rng, Space};
use wayfarer_store::give_back;

/// Packed states of more bits than this go into the tree, once an exact store has taken its share of the memory, as a divisor.
const WIDE: usize = 512;
const PLANTED: usize = 8;
/// How much more room the frontier gets, for each byte that it took, in a pass after one that had no room for all of it: at least, and at most besides.
const MORE: (f64, f64) = (0.05, 0.85);
/// Of the memory, the most that waypoints take.
const WAYPOINT_SHARE: usize = 32;
/// The odds of omitting a new state, and the states that found no room in the frontier for each distinct one, above which the system is far too large.
const SATURATED: (f64, f64) = (0.1, 0.5);

/// The least memory for each worker at a pass.
const EACH: usize = 8 << 20;

/// A pass that finds fewer new states than this, for each known one, has found nothing new; and after so many of them in a row more are of no use.
const NOTHING_NEW: f64 = 1e-3;
const IDLE: u32 = 3;

/// What a pass from the start is called that is not the first.
const ANOTHER: &str = "another pass";

/// What a run in phases is given.
#[derive(Clone, Copy)]
pub struct Auto<'a> {
    /// Asked before anything grows.
    pub account: &'a dyn Account,
    /// The bytes that may be taken in all.
    pub memory: usize,
    /// How many workers search while the store is exact.
    pub workers: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// The probability of having omitted nothing at which a run over a store that errs ends.
    pub confidence: f64,
    /// Whether to go on where passes find nothing new: something else will end the run.
    pub patient: bool,
}

/// A part of a run that had one way of searching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// What it did.
    pub name: &'static str,
    /// Distinct states when it ended, as far as is known.
    pub states: u64,
    /// Distinct states that this phase alone has visited, with those it began with: counted, not estimated. Of several threads over a filter two may count the same state.
    pub visited: u64,
    /// Steps when it ended.
    pub steps: u64,
    /// The deepest level it reached.
    pub depth: u32,
    /// Why it ended.
    pub ended: &'static str,
    /// How many passes it stands for; the figures are those of the last.
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
    };
    let store = run.all(control);
    run.finish(store)
}

/// What the phases share.
struct Run<'a> {
    space: &'a dyn Space,
    auto: Auto<'a>,
    settings: &'a Settings,
    arms: Arms<'a>,
    /// What the phases that ended have done.
    done: Outcome,
    phases: Vec<Phase>,
    /// What was in use when the run began, and what it may take.
    whole: usize,
}

/// The first store: one that never errs.
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

/// What passes over an elastic store begin with.
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
                    self.auto.account.settle(self.arms.bytes() + first.store().bytes());
                    let (outcome, left) = self.first_phase(&first, Some(&there), control);
                    waiting = left;
                    goes_on = self.end_first(outcome, &first);
                }
                // What was made of the tree is gone again.
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
        // What the best of the passes that ran dry with a whole frontier is expected to have omitted.
        let mut omissions: Option<f64> = None;
        loop {
            let name = if pass == 0 { "bfs over compact" } else { ANOTHER };
            let mut outcome = self.pass(name, &store, &waiting, from, (pass > 0 || starts, record), control);
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
            // Whatever such a store calls new is new, so a pass that forgot nothing counts what it visits.
            let visited = if pass == 0 { known + outcome.states } else { outcome.states };
            let estimated = record.estimate();
            most = most.max(visited as f64);
            outcome.covered = if pass == 0 || estimated.value < most { Estimate { value: most, error: 0.0 } } else { estimated };
            let stop = if !dry {
                Some(outcome.stop)
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
            // Of a first pass that was cut short, what its store expects so far.
            self.done.omissions = omissions.or((pass == 0).then_some(own));
            if stop.is_some() {
                self.done.record = Some(record);
                return Box::new(store);
            }
            pass += 1;
            self.arms.grant_turn();
            if lost > 0 {
                // Store and frontier filled the memory between them: what the one is to have more, the other has less.
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

    /// Where states are wide the exact store is not allowed much: a tree will hold many times as many of them, if more slowly.
    fn first_store(&self) -> Option<First<'a>> {
        let Auto { account, memory, .. } = self.auto;
        let most = if self.is_wide() { memory / PLANTED } else { memory };
        ExactStore::new(self.space.packing().clone(), account, most).map(First::Exact)
    }

    /// A tree with what the exact store knows, and what waits there.
    fn planted(&self, exact: &ExactStore<'a>, waiting: &Waiting, control: &mut dyn Control) -> Result<(First<'a>, Waiting), Stop> {
        let Auto { account, memory, .. } = self.auto;
        let tree = TreeStore::new(self.space.packing().clone(), account, memory).ok_or(Stop::Memory)?;
        let progress = Progress { states: exact.len(), fired: self.done.fired, steps: self.done.steps, ..Progress::default() };
        let waiting = plant(self.space, exact, waiting, &tree, control, &progress)?;
        Ok((First::Tree(tree), waiting))
    }

    /// Ends a phase over a store that does not err, and says whether there is more to do.
    fn end_first(&mut self, mut outcome: Outcome, first: &First<'a>) -> bool {
        let goes_on = outcome.stop == Stop::Memory && outcome.violations.len() < self.settings.max_errors.max(1);
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
        let Some(seat) = first.store().seat() else {
            let waiting = from.cloned().unwrap_or(Waiting { starts: true, ..Waiting::default() });
            return (Outcome::new(space.rules()).without_room(), waiting);
        };
        // A tree leaves room for the store that follows, since it cannot be taken apart while states are moved.
        let most = if matches!(first, First::Tree(_)) { self.whole / 8 * 5 } else { usize::MAX };
        let so_far = Progress { states: self.done.states, fired: self.done.fired, steps: self.done.steps, ..Progress::default() };
        let mut beside = self.arms.beside(first.store(), seat, control, so_far).within(most);
        let (store, workers) = (first.store(), self.auto.workers);
        let board = Board::new(workers, from);
        let (starts, at) = from.map_or((true, Level::default()), |waiting| (waiting.starts, waiting.level_of()));
        let breadth = Breadth { space, store, settings, account: self.auto.account, workers, shared: &board, from: at, first: starts, record: None };
        let (mut outcome, depth) = breadth.run(&mut beside);
        let waiting = board.left(depth, outcome.starts_left);
        // Start states that come later than others come at a later level.
        outcome.shortest = from.is_none_or(|waiting| !waiting.starts);
        self.arms.give(&mut outcome);
        // What an earlier phase reached was reached.
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
        from: Level,
        (first, record): (bool, Record),
        control: &mut dyn Control,
    ) -> Outcome {
        // A later pass begins with nothing, and counts anew.
        let states = if phase == ANOTHER { self.settings.limits.states } else { self.limits_left().states };
        let settings = Settings { limits: Limits { states, ..self.limits_left() }, record_always: true, ..self.settings.clone() };
        let so_far =
            Progress { fired: self.done.fired, steps: self.done.steps, violations: self.done.violations.len(), phase, ..Progress::default() };
        // A compact store is probed without a place there, and is faster while it has one worker.
        let mut beside = self.arms.beside(store, Seat::new(()), control, so_far);
        let workers = waiting.workers();
        let breadth = Breadth {
            space: self.space,
            store,
            settings: &settings,
            account: self.auto.account,
            workers,
            shared: waiting,
            from,
            first,
            record: Some(record),
        };
        let mut outcome = breadth.charged(&mut beside);
        self.arms.give(&mut outcome);
        outcome
    }

    /// What the phases so far leave of the limits.
    fn limits_left(&self) -> Limits {
        Limits {
            states: self.settings.limits.states.saturating_sub(self.done.covered.value as u64),
            steps: self.settings.limits.steps.saturating_sub(self.done.steps),
            ..self.settings.limits
        }
    }

    /// Notes what a phase did.
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
        self.done.details.figures.append(self.arms.figures());
        self.done.phases = self.phases;
        (self.done, store)
    }

    /// An empty frontier for a pass, which goes on when it is full.
    fn pool(&self, pass: u64) -> Arc<Pool<'a>> {
        // Limits of the logical clock are kept to the step, so that such a run can be repeated.
        let unlimited = [self.settings.limits.steps, self.settings.limits.states] == [u64::MAX; 2];
        let workers = if unlimited { self.auto.workers.min(self.auto.memory / EACH).max(1) } else { 1 };
        let pool = Pool::new(self.space.packing().clone(), self.auto.account, workers);
        Arc::new(pool.spilling(Rng::new(self.auto.seed, "spilling").split(pass), self.auto.memory / WAYPOINT_SHARE))
    }

    fn record(&self) -> Record {
        Record::new(self.settings.record, self.space.packing().clone())
    }

    /// The bytes of an elastic store beside what is in use and a frontier of so many bytes: between a third and three quarters of what there is.
    fn store_bytes(&self, besides: usize, frontier: f64) -> usize {
        let memory = self.whole - besides.min(self.whole / 2);
        ((memory as f64 - frontier) as usize).clamp(memory / 3, memory / 4 * 3)
    }
}

/// Whether a pass that is expected to have omitted so many states has most likely omitted none: then it has visited every state. What it omitted may hide any number of
/// others, so that passes which agree prove nothing, and a long thin system is left for good at the first omission. That a pass which omitted something should have met
/// with so little reason to is improbable by what is weighed here; each pass has half the odds of the one before, so that all together keep to the confidence asked for.
fn is_sure(expected: f64, pass: u64, confidence: f64) -> bool {
    -(-expected).exp_m1() <= (1.0 - confidence) * 0.5f64.powf(pass as f64 + 1.0)
}

fn expected(store: &dyn Store) -> f64 {
    if let Fidelity::Lossy(expected) = store.fidelity() { expected } else { 0.0 }
}
