//! The workers of a plan: how many there are, and how they carry out its strategy.

use crate::{Plan, Report};
use wayfarer_search::{Crewing, Stop};

/// The workers of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    crewing: Crewing,
    workers: usize,
}

impl Crew {
    /// As many workers as the plan asks for, if its strategy and store, and the limits on its run, allow several.
    pub(super) fn of(plan: &Plan) -> Self {
        let workers = threads(plan);
        // Limits of the logical clock end a run at the same point each time; with a shared store only a single worker
        // can guarantee that. Workers that search apart divide the steps, but not the states.
        let shares = plan.states.is_none() && plan.steps.is_none() && !plan.profile;
        let (crewing, several) = match plan.strategy.crew(&plan.store()) {
            Crewing::Phases => (Crewing::Phases, shares),
            Crewing::Together => (Crewing::Together, shares),
            Crewing::Apart => (Crewing::Apart, plan.states.is_none()),
            Crewing::Alone => (Crewing::Alone, false),
        };
        match workers {
            2.. if several => Crew { crewing, workers },
            _ if crewing == Crewing::Phases => Crew { crewing, workers: 1 },
            _ => Crew { crewing: Crewing::Alone, workers: 1 },
        }
    }

    /// How they carry out the strategy. One worker is alone, or goes through phases.
    pub(super) fn crewing(self) -> Crewing {
        self.crewing
    }

    pub(super) fn workers(self) -> usize {
        self.workers
    }

    /// The number of stores that share the budget.
    pub(super) fn stores(self) -> usize {
        if self.crewing == Crewing::Apart { self.workers } else { 1 }
    }

    /// Whether several work on one search, which then ends elsewhere each time if a limit ends it.
    pub(super) fn shares_space(self) -> bool {
        self.workers > 1 && matches!(self.crewing, Crewing::Together | Crewing::Phases)
    }

    /// Whether one store is made for all of them before the search begins.
    pub(super) fn shares_store(self) -> bool {
        matches!(self.crewing, Crewing::Alone | Crewing::Together)
    }

    /// Whether the same plan gives the same report again. If workers share a store, the choice among several shortest
    /// witnesses depends on timing, and so does the point at which a budget ends the run.
    pub(super) fn repeats(self, report: &Report) -> bool {
        if self.shares_space() { report.holds() } else { !matches!(report.stop, Stop::Time | Stop::Interrupted | Stop::Memory) }
    }

    /// Why one thread searched, if several were asked for or are usual.
    pub(super) fn remark(self, plan: &Plan) -> Option<String> {
        let (strategy, store) = (plan.strategy.name(), plan.store());
        match (self.workers, plan.threads, plan.strategy.crew(&store)) {
            (1, 2.., Crewing::Alone) | (1, 0, Crewing::Alone) => {
                Some(format!("only one thread was used: several cannot share `{strategy}` over `{}`", store.name()))
            }
            (1, 2.., _) => Some("only one thread was used: with more, a limit on states or steps would end each run elsewhere".to_string()),
            _ => None,
        }
    }
}

/// The threads that a plan asks for, or as many as there are processors.
pub(super) fn threads(plan: &Plan) -> usize {
    match plan.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}
