//! Searches on explicit graphs, with a log of which nodes were visited when.

use std::sync::Mutex;
use wayfarer::search::{
    Deadlock, ExactStore, Limits, NoStore, Outcome, PoolStore, Settings, Site, Store, StoreSpec, StrategySpec, Unbounded, Unlimited, explore,
};
use wayfarer::space::{Completeness, Fault, FaultClass, Fired, Firing, Graph, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// What a search on a graph did.
pub(crate) struct Search {
    pub(crate) outcome: Outcome,
    /// The nodes in the order in which their successors were looked at; those of a walk as often as it came by.
    pub(crate) visited: Vec<u32>,
}

/// Runs a strategy on a graph over the store that suits it.
pub(crate) fn search(graph: &Graph, strategy: &StrategySpec, seed: u64, limits: Limits) -> Search {
    let logged = Logged { graph, visited: Mutex::new(Vec::new()) };
    let outcome = find(&logged, strategy, seed, limits, Deadlock::Off);
    Search { outcome, visited: logged.visited.into_inner().unwrap_or_default() }
}

/// Runs a strategy on a space that was made once for many runs, over the store that suits it; what it found has no witness.
pub(crate) fn find(space: &dyn Space, strategy: &StrategySpec, seed: u64, limits: Limits, deadlock: Deadlock) -> Outcome {
    let (chosen, packing) = (strategy.default_store(), space.packing());
    let exact = || -> Box<dyn Store> {
        match ExactStore::new(packing.clone(), &Unlimited, MOST_BYTES) {
            Some(store) => Box::new(store),
            None => Box::new(NoStore),
        }
    };
    let store: Box<dyn Store> = match chosen {
        StoreSpec::Pool { slots, replace } => Box::new(PoolStore::new(packing.clone(), slots.unwrap_or(u64::MAX), replace, seed, &Unlimited)),
        StoreSpec::Nothing => Box::new(NoStore),
        _ => exact(),
    };
    let site = Site { limits: &limits, packing, account: &Unlimited, seed, store: chosen };
    explore(space, &*store, &mut *strategy.build(&site), &Settings { limits, deadlock, ..Settings::default() }, &mut Unbounded)
}

/// Room for an exact store; it takes what it needs.
const MOST_BYTES: usize = 1 << 32;

/// A graph that notes whose successors are asked for.
struct Logged<'a> {
    graph: &'a Graph,
    visited: Mutex<Vec<u32>>,
}

impl Logged<'_> {
    fn note(&self, nodes: impl Iterator<Item = u32>) {
        if let Ok(mut visited) = self.visited.lock() {
            visited.extend(nodes);
        }
    }
}

impl Space for Logged<'_> {
    fn width(&self) -> Width {
        self.graph.width()
    }

    fn packing(&self) -> &Packing {
        self.graph.packing()
    }

    fn rules(&self) -> u32 {
        self.graph.rules()
    }

    fn properties(&self) -> u32 {
        self.graph.properties()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.graph.initial(steps)
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        self.note(batch.iter().map(|state| state[0] as u32));
        self.graph.expand(batch, from, steps)
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.note(std::iter::once(state[0] as u32));
        self.graph.sample(state, rng, out)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.graph.fire(state, firing, out)
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
        self.graph.check(state, bits)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.graph.asks_to_reach(property)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.graph.fault_class(fault)
    }
}
