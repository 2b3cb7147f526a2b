//! The environment of an experiment: its settings, threads to repeat runs with, and a watch that sees its
//! progress.

use crate::Corpus;
use crate::corpus::Found;
use crate::models::Model;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use wayfarer::memory::Budget;
use wayfarer::search::{Control, Progress, Stop};
use wayfarer::{Loaded, Plan, Report, Subject};

/// The reason why an experiment has no findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// The user asked to stop.
    Interrupted,
    /// Something failed.
    Failed(String),
}

impl std::fmt::Display for LabError {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            LabError::Interrupted => out.write_str("interrupted"),
            LabError::Failed(message) => out.write_str(message),
        }
    }
}

impl std::error::Error for LabError {}

/// Watches the progress of an experiment and may stop it.
pub trait Watch: Sync {
    /// Whether the user asked to stop.
    fn ended(&self) -> bool;

    /// Receives the share of the experiment that is done, from 0 to 1.
    fn progress(&self, share: f64);
}

/// A watch that never stops anything.
pub struct Unwatched;

impl Watch for Unwatched {
    fn ended(&self) -> bool {
        false
    }

    fn progress(&self, _share: f64) {}
}

/// A number of permits, one for each thread that may work at the same time. Experiments that run side by side share
/// them.
#[derive(Debug)]
pub struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
    all: usize,
}

impl Permits {
    /// Permits for this many threads.
    pub fn new(threads: usize) -> Permits {
        let all = threads.max(1);
        Permits { free: Mutex::new(all), returned: Condvar::new(), all }
    }

    /// Does a piece of work with a permit.
    fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        let free = self.free.lock().unwrap_or_else(|poison| poison.into_inner());
        let mut free = self.returned.wait_while(free, |free| *free == 0).unwrap_or_else(|poison| poison.into_inner());
        *free -= 1;
        drop(free);
        let result = work();
        *self.free.lock().unwrap_or_else(|poison| poison.into_inner()) += 1;
        self.returned.notify_one();
        result
    }
}

/// The environment of an experiment.
pub struct Desk<'a> {
    /// Whether to use the quick settings.
    pub quick: bool,
    /// The first seed.
    pub seed: u64,
    permits: Arc<Permits>,
    corpus: Option<Arc<Corpus>>,
    watch: &'a dyn Watch,
    expected: AtomicUsize,
    done: AtomicUsize,
}

impl<'a> Desk<'a> {
    /// A desk with the given number of threads.
    pub fn new(quick: bool, seed: u64, threads: usize, watch: &'a dyn Watch) -> Self {
        Desk::sharing(quick, seed, Arc::new(Permits::new(threads)), watch)
    }

    /// A desk that shares its threads with others.
    pub fn sharing(quick: bool, seed: u64, permits: Arc<Permits>, watch: &'a dyn Watch) -> Self {
        Desk { quick, seed, permits, corpus: None, watch, expected: AtomicUsize::new(0), done: AtomicUsize::new(0) }
    }

    /// The same desk with a folder of models that others wrote.
    pub fn with_corpus(self, corpus: Option<Arc<Corpus>>) -> Self {
        Desk { corpus, ..self }
    }

    /// The user's folder of models.
    pub fn corpus(&self) -> Option<&Corpus> {
        self.corpus.as_deref()
    }

    /// A file of the user's folder whose path ends like this.
    pub(crate) fn find(&self, ending: &str) -> Option<Found> {
        self.corpus()?.find(ending)
    }

    /// Sets the expected number of pieces of work.
    pub fn expect(&self, pieces: usize) {
        self.expected.store(pieces, Ordering::Relaxed);
    }

    /// Records that one more piece is done.
    pub fn tick(&self) -> Result<(), LabError> {
        let (done, expected) = (self.done.fetch_add(1, Ordering::Relaxed) + 1, self.expected.load(Ordering::Relaxed));
        if expected > 0 {
            self.watch.progress((done as f64 / expected as f64).min(1.0));
        }
        self.look()
    }

    fn look(&self) -> Result<(), LabError> {
        if self.watch.ended() { Err(LabError::Interrupted) } else { Ok(()) }
    }

    /// Whether the user asked to stop, for work that checks by itself.
    pub fn ended(&self) -> bool {
        self.watch.ended()
    }

    /// Applies `work` to each item on all threads, each item a piece of work; results come in the order of
    /// the items. `work` must not call `each` again: it already has the permit of its thread.
    pub fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> Result<R, LabError> + Sync) -> Result<Vec<R>, LabError> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
        let failure: Mutex<Option<LabError>> = Mutex::new(None);
        let hand = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return };
                match self.permits.during(|| work(item)).and_then(|result| self.tick().map(|()| result)) {
                    Ok(result) => results.lock().unwrap_or_else(|poison| poison.into_inner()).push((at, result)),
                    Err(error) => {
                        next.store(items.len(), Ordering::Relaxed);
                        failure.lock().unwrap_or_else(|poison| poison.into_inner()).get_or_insert(error);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            // Models may nest calls deeply; a thread's default stack is too small for the largest.
            let others = (1..self.permits.all.min(items.len().max(1)))
                .filter_map(|_| std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, hand).ok());
            let others: Vec<_> = others.collect();
            hand();
            drop(others);
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
            return Err(error);
        }
        let mut results = results.into_inner().unwrap_or_else(|poison| poison.into_inner());
        results.sort_by_key(|(at, _)| *at);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Loads a model of the laboratory.
    pub(crate) fn load(&self, model: Model, constants: &[(&str, i64)]) -> Result<Loaded, LabError> {
        model.load(constants, None).map_err(LabError::Failed)
    }

    /// Runs a plan without a memory budget.
    pub fn run(&self, loaded: &Loaded, plan: &Plan) -> Result<Report, LabError> {
        let subject = loaded.subject();
        self.run_watched(&subject, plan, &Budget::new(usize::MAX / 2, 0), &mut |_| {})
    }

    /// Runs a plan and shows its progress after every round. There is no audit, whose cost and findings are
    /// not the strategy's.
    pub fn run_watched(&self, subject: &Arc<dyn Subject>, plan: &Plan, budget: &Budget, seen: &mut dyn FnMut(&Progress)) -> Result<Report, LabError> {
        let mut control = Watched { watch: self.watch, seen, asked: 0 };
        let plan = Plan { audit: Some(0), ..plan.clone() };
        let mut widened = subject.clone();
        let report =
            plan.check_widening(&mut widened, budget, &mut control).map_err(|error| LabError::Failed(format!("{}: {error}", subject.source())))?;
        if report.stop == Stop::Interrupted { Err(LabError::Interrupted) } else { Ok(report) }
    }

    /// Runs a plan on a subject without a memory budget.
    pub fn run_on(&self, subject: &Arc<dyn Subject>, plan: &Plan) -> Result<Report, LabError> {
        self.run_watched(subject, plan, &Budget::new(usize::MAX / 2, 0), &mut |_| {})
    }

    /// Runs a plan with `runs` seeds, starting with the first.
    pub fn repeat(&self, loaded: &Loaded, plan: &Plan, runs: u32) -> Result<Vec<Report>, LabError> {
        let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| self.seed.wrapping_add(run)).collect();
        self.each(&seeds, |seed| self.run(loaded, &Plan { seed: *seed, ..plan.clone() }))
    }
}

/// Asks the watch from time to time.
struct Watched<'a> {
    watch: &'a dyn Watch,
    seen: &'a mut dyn FnMut(&Progress),
    asked: u32,
}

impl Control for Watched<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        (self.seen)(progress);
        self.asked = self.asked.wrapping_add(1);
        (self.asked.is_multiple_of(64) && self.watch.ended()).then_some(Stop::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ends;

    impl Watch for Ends {
        fn ended(&self) -> bool {
            true
        }

        fn progress(&self, _share: f64) {}
    }

    #[test]
    fn results_come_in_order_and_the_first_failure_ends_the_work() {
        let desk = Desk::new(true, 1, 3, &Unwatched);
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(desk.each(&items, |item| Ok(item * 2)).unwrap(), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let failed: Result<Vec<()>, _> = desk.each(&items, |item| if *item == 7 { Err(LabError::Failed("no".into())) } else { Ok(()) });
        assert_eq!(failed, Err(LabError::Failed("no".into())));
        assert_eq!(Desk::new(true, 1, 2, &Ends).each(&items, |_| Ok(())), Err(LabError::Interrupted));
    }
}
