//! `auto`: its phases and the random searches beside them, with one worker and with several.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;
use wayfarer_search::{Auto, Deadlock, Job, Outcome, Settings, Unbounded, Unlimited, Verdict};
use wayfarer_space::{Checked, Completeness, Fault, FaultClass, Fired, Firing, Graph, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

fn auto(space: &dyn Space, workers: usize, seed: u64) -> Outcome {
    let auto = Auto { account: &Unlimited, memory: 64 << 20, workers, seed, confidence: 0.99, patient: false };
    let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
    Job::in_phases(space, auto, &settings).run(&mut Unbounded)
}

/// A graph of which every node can be reached, with long levels.
fn graph(rng: &mut Rng) -> Graph {
    const NODES: u32 = 20_000;
    let successors = |node: u32, rng: &mut Rng| vec![(node + 1) % NODES, rng.below(u64::from(NODES)) as u32, rng.below(u64::from(NODES)) as u32];
    Graph::new((0..NODES).map(|node| successors(node, rng)).collect(), vec![0])
}

#[test]
fn random_searches_beside_change_no_counts() {
    let mut rng = Rng::new(5, "phases");
    for seed in 0..3 {
        let graph = graph(&mut rng);
        let alone = auto(&graph, 1, seed);
        assert!(alone.is_complete() && alone.details.figures.get("steps of random searches beside").is_some());
        for workers in [2, 5] {
            let outcome = auto(&graph, workers, seed);
            let facts = |outcome: &Outcome| (outcome.is_complete(), outcome.states, outcome.firings.clone(), outcome.depth, outcome.frontier);
            assert_eq!(facts(&outcome), facts(&alone), "{workers} workers");
            // The number of turns depends on timing, so a run that can be repeated does not tell it.
            assert_eq!(outcome.details.figures.get("steps of random searches beside"), None);
        }
    }
}

#[test]
fn a_violation_that_either_finds_is_reported() {
    let mut rng = Rng::new(6, "phases");
    for seed in 0..4 {
        let graph = graph(&mut rng).avoiding(vec![rng.below(20_000) as u32]);
        for workers in [1, 2, 5] {
            assert_eq!(auto(&graph, workers, seed).verdict(), Verdict::Violated, "{workers} workers");
        }
    }
}

/// A line of states, which the first worker expands alone. It waits in the middle until another thread has expanded something, too.
struct Line {
    graph: Graph,
    first: ThreadId,
    own: AtomicU64,
    others: AtomicU64,
    /// Whether other threads break.
    breaks: bool,
}

const LENGTH: u32 = 20_000;

impl Line {
    fn new(breaks: bool) -> Self {
        let graph = Graph::new((0..LENGTH).map(|node| vec![(node + 1).min(LENGTH - 1)]).collect(), vec![0]);
        Line { graph, first: thread::current().id(), own: AtomicU64::new(0), others: AtomicU64::new(0), breaks }
    }

    fn note(&self, states: usize) {
        if thread::current().id() != self.first {
            self.others.fetch_add(states as u64, Ordering::Relaxed);
            assert!(!self.breaks, "this space breaks");
            return;
        }
        let own = self.own.fetch_add(states as u64, Ordering::Relaxed);
        let mut naps = 0;
        while own > u64::from(LENGTH) / 2 && self.others.load(Ordering::Relaxed) == 0 && naps < 10_000 {
            thread::sleep(Duration::from_millis(1));
            naps += 1;
        }
    }
}

impl Space for Line {
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
        self.note(batch.len());
        self.graph.expand(batch, from, steps)
    }
    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.note(1);
        self.graph.sample(state, rng, out)
    }
    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.graph.fire(state, firing, out)
    }
    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.graph.check(state, bits)
    }
    fn asks_to_reach(&self, property: u32) -> bool {
        self.graph.asks_to_reach(property)
    }
    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.graph.fault_class(fault)
    }
}

#[test]
fn no_worker_waits_for_a_random_search() {
    let line = Line::new(false);
    let outcome = auto(&line, 2, 1);
    assert_eq!(outcome.states, u64::from(LENGTH));
    // The first worker expands every state once and does nothing else; the random searches run elsewhere.
    assert_eq!(line.own.into_inner(), u64::from(LENGTH));
    assert!(line.others.into_inner() > 0);
}

#[test]
fn a_random_search_that_breaks_ends_the_run() {
    let line = Line::new(true);
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| auto(&line, 2, 1)));
    assert!(broken.is_err());
}
