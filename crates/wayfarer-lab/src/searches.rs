//! Searches on a space that is built once for many runs, with a log of every state that is expanded.

use std::sync::Mutex;
use wayfarer::search::{
    Control, Deadlock, Job, Limits, NoStore, Outcome, Progress, Room, Settings, Site, Stop, Store, StrategySpec, Unbounded, Unlimited,
};
use wayfarer::space::{
    Checked, Completeness, Fault, FaultClass, Fired, Firing, Graph, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word,
};

/// The result of a search on a graph.
pub(crate) struct Search {
    pub(crate) outcome: Outcome,
    /// The nodes in the order in which they were expanded; a walk lists a node once for each visit.
    pub(crate) visited: Vec<u32>,
    /// How many of them were expanded when the search asked for the start states again; `None` if it never did.
    pub(crate) again: Option<usize>,
}

/// Runs a strategy on a graph with a suitable store.
pub(crate) fn search(graph: &Graph, strategy: &StrategySpec, seed: u64, limits: Limits) -> Search {
    let visited = Mutex::new(Vec::new());
    let note = |state: &[Word], _: bool| {
        if let Ok(mut visited) = visited.lock() {
            visited.push(state[0] as u32);
        }
    };
    let starts = Mutex::new(Vec::new());
    let begin = || {
        if let (Ok(mut starts), Ok(visited)) = (starts.lock(), visited.lock()) {
            starts.push(visited.len());
        }
    };
    let outcome = find(&Noting { space: graph, note: &note, begin: &begin }, strategy, seed, limits, Deadlock::Off);
    let again = starts.into_inner().ok().and_then(|starts| starts.get(1).copied());
    Search { outcome, visited: visited.into_inner().unwrap_or_default(), again }
}

/// Runs a strategy on a space with a suitable store; violations come without a witness.
pub(crate) fn find(space: &dyn Space, strategy: &StrategySpec, seed: u64, limits: Limits, deadlock: Deadlock) -> Outcome {
    let (chosen, packing) = (strategy.default_store(), space.packing());
    let room = Room { packing, account: &Unlimited, most: MOST_BYTES, fixed: MOST_BYTES, bounded: false, seed };
    let store = chosen.build(&room).unwrap_or_else(|| Box::new(NoStore));
    let site = Site { limits: &limits, packing, account: &Unlimited, seed, store: chosen };
    Job::new(space, &*store, &mut *strategy.build(&site), &Settings { limits, deadlock, ..Settings::default() }).run(&mut Unbounded)
}

/// The most states that a search on a space holds at any time, and its outcome.
pub(crate) fn held(space: &dyn Space, strategy: &StrategySpec, seed: u64, limits: Limits) -> (u64, Outcome) {
    struct Watching<'a>(&'a dyn Store, u64);
    impl Control for Watching<'_> {
        fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
            self.1 = self.1.max(self.0.len());
            None
        }
    }
    let (chosen, packing) = (strategy.default_store(), space.packing());
    let room = Room { packing, account: &Unlimited, most: MOST_BYTES, fixed: MOST_BYTES, bounded: false, seed };
    let store = chosen.build(&room).unwrap_or_else(|| Box::new(NoStore));
    let site = Site { limits: &limits, packing, account: &Unlimited, seed, store: chosen };
    let mut watching = Watching(&*store, 0);
    let settings = Settings { limits, deadlock: Deadlock::Off, ..Settings::default() };
    let outcome = Job::new(space, &*store, &mut *strategy.build(&site), &settings).run(&mut watching);
    (watching.1, outcome)
}

/// The memory limit of a store; it takes only the memory it needs.
const MOST_BYTES: usize = 1 << 32;

/// A space that reports each state that is expanded, and whether it has no successors.
pub(crate) struct Noting<'a> {
    pub(crate) space: &'a dyn Space,
    pub(crate) note: &'a (dyn Fn(&[Word], bool) + Sync),
    /// Called each time the start states are asked for.
    pub(crate) begin: &'a (dyn Fn() + Sync),
}

impl Space for Noting<'_> {
    fn width(&self) -> Width {
        self.space.width()
    }

    fn packing(&self) -> &Packing {
        self.space.packing()
    }

    fn rules(&self) -> u32 {
        self.space.rules()
    }

    fn properties(&self) -> u32 {
        self.space.properties()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        (self.begin)();
        self.space.initial(steps)
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        let completeness = self.space.expand(batch, from, steps);
        // If only the remaining steps of a state are requested, a space does not say whether there were any
        // before.
        let whole = from == Firing::of(0);
        for (state, enabled) in batch.iter().zip(&steps.enabled) {
            (self.note)(state, whole && *enabled == 0);
        }
        completeness
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        let fired = self.space.sample(state, rng, out);
        (self.note)(state, fired.is_none());
        fired
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.space.fire(state, firing, out)
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.space.check(state, bits)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.space.asks_to_reach(property)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.space.fault_class(fault)
    }
}
