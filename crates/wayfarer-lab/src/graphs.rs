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
    let chosen = strategy.default_store();
    let most = graph.nodes() as usize + 16;
    let store: Box<dyn Store> = match chosen {
        StoreSpec::Pool { slots, replace } => Box::new(PoolStore::new(graph.packing().clone(), slots.unwrap_or(u64::MAX), replace, seed, &Unlimited)),
        StoreSpec::Nothing => Box::new(NoStore),
        _ => match ExactStore::new(graph.packing().clone(), &Unlimited, most) {
            Some(store) => Box::new(store),
            None => Box::new(NoStore),
        },
    };
    let logged = Logged { graph, visited: Mutex::new(Vec::new()) };
    let site = Site { limits: &limits, packing: graph.packing(), account: &Unlimited, seed, store: chosen };
    let settings = Settings { limits, deadlock: Deadlock::Off, ..Settings::default() };
    let outcome = explore(&logged, &*store, &mut *strategy.build(&site), &settings, &mut Unbounded);
    Search { outcome, visited: logged.visited.into_inner().unwrap_or_default() }
}

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
