//! A job is a search to be carried out: space, strategy, store, number of workers and limits. Every search begins here and ends in one outcome.

use crate::auto::explore_in_phases;
use crate::crew::{Crew, Ended, Load, Strides, together};
use crate::explore::{Entering, Work, conclude, work};
use crate::frontier::{Board, Pool, Shared};
use crate::record::Union;
use crate::strategies::{Bfs, Level};
use crate::{Account, Auto, Control, Fidelity, Limits, Outcome, Progress, Record, Settings, Stop, Store, Strategy};
use std::sync::{Arc, Mutex, PoisonError};
use wayfarer_space::Space;

/// A search to be carried out.
pub struct Job<'j, 'p> {
    space: &'j dyn Space,
    settings: &'j Settings,
    workers: usize,
    parts: Parts<'j, 'p>,
    /// Whether a single worker brings in the start states, and the record that it goes on with.
    entering: Entering,
}

/// A worker's own store and strategy.
pub type Part<'a> = (Box<dyn Store + 'a>, Box<dyn Strategy + 'a>);

/// Makes the part of the worker of this number; none if there is no room for it.
pub type Make<'j, 'p> = &'j (dyn Fn(usize) -> Option<Part<'p>> + Sync);

/// The parts that carry a job out.
enum Parts<'j, 'p> {
    /// One worker, with a strategy and a store.
    One(&'j dyn Store, &'j mut dyn Strategy),
    /// Breadth-first search over a store that workers share. If it gives no states back, the frontier asks the account before it grows.
    Together(&'j dyn Store, bool, &'j dyn Account),
    /// Each worker for itself.
    Apart(Make<'j, 'p>),
    /// Phases, which choose their parts themselves.
    Phases(Auto<'j>),
}

impl<'j, 'p> Job<'j, 'p> {
    /// A strategy over a store, by one worker. Nothing else may insert into the store meanwhile.
    pub fn new(space: &'j dyn Space, store: &'j dyn Store, strategy: &'j mut dyn Strategy, settings: &'j Settings) -> Self {
        Job { space, settings, workers: 1, parts: Parts::One(store, strategy), entering: Entering::default() }
    }

    /// Breadth-first search by several workers over one store, which gives states back or, if not `recalls`, knows them only. Unless the store errs, verdict,
    /// states, rules fired and the length of the shortest witness do not depend on how many there are.
    pub fn together(
        space: &'j dyn Space,
        store: &'j dyn Store,
        recalls: bool,
        account: &'j dyn Account,
        workers: usize,
        settings: &'j Settings,
    ) -> Self {
        Job { space, settings, workers, parts: Parts::Together(store, recalls, account), entering: Entering::default() }
    }

    /// Several workers, each with a store and a strategy of its own.
    pub fn apart(space: &'j dyn Space, make: Make<'j, 'p>, workers: usize, settings: &'j Settings) -> Self {
        Job { space, settings, workers, parts: Parts::Apart(make), entering: Entering::default() }
    }

    /// Phases within one budget.
    pub fn in_phases(space: &'j dyn Space, auto: Auto<'j>, settings: &'j Settings) -> Self {
        Job { space, settings, workers: auto.workers, parts: Parts::Phases(auto), entering: Entering::default() }
    }

    /// The same without start states, for a strategy that knows where it begins.
    pub(crate) fn bringing_starts(mut self, first: bool) -> Self {
        self.entering.first = first;
        self
    }

    /// The same, by a single worker that goes on with a record.
    pub(crate) fn going_on_with(mut self, record: Option<Record>) -> Self {
        self.entering.record = record;
        self
    }

    /// Carries it out, until nothing is left, enough was found, or a limit or `control` ends it.
    pub fn run(self, control: &mut dyn Control) -> Outcome {
        self.run_keeping(control).0
    }

    /// The same, with the last store of a job that chooses its stores itself.
    pub fn run_keeping(self, control: &mut dyn Control) -> (Outcome, Option<Box<dyn Store + 'j>>) {
        let Job { space, settings, workers, parts, entering } = self;
        match parts {
            Parts::One(store, strategy) => {
                let mut outcome = work(space, store, strategy, settings, control, entering);
                conclude(space, store, settings, &mut outcome);
                (outcome, None)
            }
            Parts::Together(store, recalls, account) => {
                // If the frontier holds states, rounds take memory besides: in a small budget fewer workers make them.
                let fits = |workers: &usize| *workers < 2 || account.allows(workers * Bfs::ordinary(space.packing()));
                let workers = if recalls { workers } else { (1..=workers).rev().find(fits).unwrap_or(1) };
                let board = || Box::new(Board::new(workers, None)) as Box<dyn Shared>;
                let pool = || Box::new(Arc::new(Pool::new(space.packing().clone(), account, workers))) as Box<dyn Shared>;
                let shared = if recalls { board() } else { pool() };
                let load = Load::new(account);
                let breadth = Breadth {
                    space,
                    store,
                    settings,
                    account,
                    load: &load,
                    workers,
                    shared: &*shared,
                    reserved: if recalls || workers < 2 { 0 } else { Bfs::ordinary(space.packing()) },
                    from: Level::default(),
                    entering: Entering::default(),
                };
                let (mut outcome, _) = breadth.run(control);
                conclude(space, store, settings, &mut outcome);
                (outcome, None)
            }
            Parts::Apart(make) => (apart(space, make, workers, settings, control), None),
            Parts::Phases(auto) => {
                let (outcome, store) = explore_in_phases(space, &auto, settings, control);
                (outcome, Some(store))
            }
        }
    }
}

/// A breadth-first search over one store, from the start or from a given frontier. It is a job of its own or a phase of one.
pub(crate) struct Breadth<'b, 'a> {
    pub(crate) space: &'b dyn Space,
    pub(crate) store: &'b dyn Store,
    pub(crate) settings: &'b Settings,
    pub(crate) account: &'b dyn Account,
    pub(crate) load: &'b Load<'b>,
    pub(crate) workers: usize,
    /// The frontier.
    pub(crate) shared: &'b (dyn Shared<'a> + 'a),
    /// The bytes that are kept for the rounds of each worker if the frontier holds states, since that grows at once when the search goes on.
    pub(crate) reserved: usize,
    pub(crate) from: Level,
    /// Whether start states are to be brought in, and the record that it goes on with.
    pub(crate) entering: Entering,
}

impl Breadth<'_, '_> {
    /// Carries it out; not concluded. Says at which depth it ended, too.
    pub(crate) fn run(self, control: &mut dyn Control) -> (Outcome, u32) {
        if self.workers < 2 { self.alone(|work, bfs| work.go_on(bfs, control, u64::MAX).stop()) } else { self.crewed(control) }
    }

    /// The same by one worker, whose work `drive` carries on. It says why the work ends, if it does not end by itself.
    pub(crate) fn alone(self, drive: impl FnOnce(&mut Work, &mut Bfs) -> Option<Stop>) -> (Outcome, u32) {
        let Breadth { space, store, settings, account, load, shared, reserved, from, entering, .. } = self;
        let mut bfs = Bfs::part(shared.part(0), 0, (None, Some(load)), from, &settings.limits).asking(account).reserving(reserved, space.packing());
        let outcome = match Work::new(space, store, &mut bfs, settings, entering) {
            Some(mut work) => {
                let stop = drive(&mut work, &mut bfs);
                work.finish(stop, &mut bfs)
            }
            None => Outcome::new(space.rules()).without_room(),
        };
        let (level, _) = bfs.leave();
        (outcome, level.depth)
    }

    /// The same by several workers.
    fn crewed(self, control: &mut dyn Control) -> (Outcome, u32) {
        let Breadth { space, store, settings, account, load, workers, shared, reserved, from, entering: Entering { first, record, .. } } = self;
        // In a pass that begins again, all workers find states that the record already knows.
        let disjoint = !first || record.is_none();
        let crew = Crew::new(workers, settings.max_errors.max(1)).counting(disjoint);
        // Who comes first goes on with the record.
        let record = Mutex::new(record);
        let run = |worker: usize, control: &mut dyn Control| {
            let bfs = Bfs::part(shared.part(worker), worker, (Some(&crew), Some(load)), from, &settings.limits);
            let mut bfs = bfs.asking(account).reserving(reserved, space.packing());
            let record = if worker == 0 { record.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
            let mut outcome = work(space, store, &mut bfs, settings, control, Entering { first: first && worker == 0, sole: false, record });
            let (level, own) = bfs.leave();
            outcome.frontier = own;
            // A worker that ends early ends the run for all, because the others would wait for it.
            let ends_all = Some(outcome.stop).filter(|stop| *stop != Stop::Exhausted);
            Ended { ends_all, progress: stood(&outcome), done: (outcome, level.depth) }
        };
        let all = together(&crew, control, run);
        let depth = all.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let mut outcome = absorbed(all.into_iter().map(|(outcome, _)| outcome), space, settings);
        outcome.frontier += shared.waiting();
        (outcome, depth)
    }
}
/// Several workers, each for itself.
fn apart(space: &dyn Space, make: Make, workers: usize, settings: &Settings, control: &mut dyn Control) -> Outcome {
    let union = (settings.record > 0).then(|| Arc::new(Union::new(settings.record)));
    let crew = Crew::new(workers, settings.max_errors.max(1)).united(union.clone());
    // Each makes its share of the steps, the first those that are left over.
    let share = |worker: usize| match settings.limits.steps {
        u64::MAX => u64::MAX,
        steps => steps / workers as u64 + if worker == 0 { steps % workers as u64 } else { 0 },
    };
    let run = |worker: usize, control: &mut dyn Control| {
        let Some((store, mut strategy)) = make(worker) else {
            crew.leave(worker, 0);
            let done = (worker, Outcome::new(space.rules()).without_room(), Fidelity::Exact);
            return Ended { done, ends_all: None, progress: Progress::default() };
        };
        let settings = Settings { limits: Limits { steps: share(worker), ..settings.limits }, record_always: true, ..settings.clone() };
        let record = union.clone().map(|union| Record::new(settings.record, space.packing().clone()).sharing(union));
        let entering = Entering { record, ..Entering::default() };
        let mut outcome = work(space, &*store, &mut *strategy, &settings, &mut Strides::new(&crew, worker, control), entering);
        crew.leave(worker, outcome.violations.len());
        // Handles mean nothing outside the worker's own store.
        outcome.settle_trails(space, &*store);
        // Workers may visit the same states; only a record tells them apart.
        outcome.exhaustive = false;
        let ends_all = Some(outcome.stop).filter(|stop| matches!(stop, Stop::Time | Stop::Interrupted));
        // Over a store that forgets, a state that came back was new again.
        let progress = Progress { states: outcome.covered.value as u64, ..stood(&outcome) };
        Ended { ends_all, progress, done: (worker, outcome, store.so_far()) }
    };
    let done = together(&crew, control, run);
    let omitted: Option<f64> = done.iter().map(|(_, _, fidelity)| omissions(*fidelity)).sum();
    let counts: Vec<u64> = done.iter().map(|(_, outcome, _)| outcome.states).collect();
    let outcomes = done.into_iter().map(|(worker, mut outcome, _)| {
        outcome.violations.truncate(crew.counting_violations(worker));
        outcome
    });
    let mut longest = 0;
    let outcomes = outcomes.inspect(|outcome| longest = outcome.frontier.max(longest));
    let mut outcome = absorbed(outcomes, space, settings);
    // The same states may wait in several frontiers.
    outcome.frontier = longest;
    if omitted.is_some() {
        // No store forgot anything, so what each worker took for new it counted once.
        outcome.omissions = omitted;
        outcome.covered = outcome.covered.given(&counts, matches!(outcome.stop, Stop::Exhausted | Stop::Accepted));
    }
    outcome
}

/// The states that a store is expected to have taken for known ones; none if it forgot some.
fn omissions(fidelity: Fidelity) -> Option<f64> {
    match fidelity {
        Fidelity::Exact => Some(0.0),
        Fidelity::Lossy(expected) => Some(expected),
        Fidelity::Amnesic => None,
    }
}

/// The merged outcome of all workers.
fn absorbed(outcomes: impl Iterator<Item = Outcome>, space: &dyn Space, settings: &Settings) -> Outcome {
    let absorb = |mut all: Outcome, more: Outcome| {
        all.absorb(more, settings.max_errors.max(1));
        all
    };
    outcomes.reduce(absorb).unwrap_or_else(|| Outcome::new(space.rules()))
}

/// A worker's last figures.
pub(crate) fn stood(outcome: &Outcome) -> Progress {
    Progress { states: outcome.states, fired: outcome.fired, steps: outcome.steps, ..Progress::default() }
}
