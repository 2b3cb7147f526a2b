//! Several workers at one exploration: what they find must not depend on how many they are, nor on who is slow.

use crate::graphs::random;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wayfarer_search::{
    Bfs, CompactStore, Control, Deadlock, Details, ExactStore, Job, Limits, NoStore, Outcome, PoolStore, Progress, Room, Settings, Site, Stop, Store,
    Strategy, StrategySpec, TreeStore, Unbounded, Unlimited, Urs, Walk, Witness,
};
use wayfarer_space::{Checked, Completeness, Fault, FaultClass, Fired, Firing, Graph, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// The results that must be the same for any number of workers.
fn facts(outcome: &Outcome) -> String {
    let violations: Vec<_> = outcome.violations.iter().map(|violation| (violation.cause, violation.rank.clone())).collect();
    let Outcome { stop, states, fired, firings, depth, frontier, .. } = outcome;
    format!("{stop:?} {:?} {states} {fired} {firings:?} {depth:?} {frontier} {violations:?}", outcome.verdict())
}

/// Large enough that levels are shared, and wide enough that they are long.
fn graphs() -> Vec<(Graph, Deadlock)> {
    let mut rng = Rng::new(21, "crews");
    let mut graphs = Vec::new();
    for bad in 0..6 {
        let graph = random(&mut rng, 3_000, 4);
        let bad: Vec<u32> = (0..bad).map(|_| rng.below(3_000) as u32).collect();
        graphs.push((graph.clone().avoiding(bad.clone()), Deadlock::Off));
        graphs.push((graph.avoiding(bad), Deadlock::Stuttering));
    }
    graphs
}

#[test]
fn levels_are_the_same_for_any_number_of_workers() {
    for (graph, deadlock) in graphs() {
        for max_errors in [1, 3] {
            let settings = Settings { deadlock, max_errors, ..Settings::default() };
            let store = || ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
            let alone = store();
            let expected = Job::new(&graph, &alone, &mut Bfs::new(&Limits::default()), &settings).run(&mut Unbounded);
            for workers in [1, 2, 3, 16, 64] {
                let shared = store();
                let outcome = Job::together(&graph, &shared, true, &Unlimited, workers, &settings).run(&mut Unbounded);
                assert_eq!(facts(&outcome), facts(&expected), "{workers} workers");
                for (violation, other) in outcome.violations.iter().zip(&expected.violations) {
                    let witness = Witness::trace(&graph, &shared, violation, &Unlimited, 3).unwrap();
                    witness.replay(&graph, true, 3).unwrap();
                    assert_eq!(witness.len(), Witness::trace(&graph, &alone, other, &Unlimited, 3).unwrap().len());
                }
            }
        }
    }
}

#[test]
fn levels_over_fingerprints_are_those_over_states() {
    for (graph, deadlock) in graphs() {
        for max_errors in [1, 3] {
            let settings = Settings { deadlock, max_errors, ..Settings::default() };
            let exact = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
            let expected = Job::new(&graph, &exact, &mut Bfs::new(&Limits::default()), &settings).run(&mut Unbounded);
            let counts = |outcome: &Outcome| (outcome.states, outcome.fired, outcome.firings.clone(), outcome.depth, outcome.violations.len());
            let mut alone = None;
            for workers in [1, 2, 3, 16] {
                let shared = CompactStore::new(64, 64, 1 << 20, &Unlimited).unwrap();
                let outcome = Job::together(&graph, &shared, false, &Unlimited, workers, &settings).run(&mut Unbounded);
                // A store that may err proves nothing.
                assert!(!outcome.is_complete());
                assert_eq!(counts(&outcome), counts(&expected), "{workers} workers");
                assert_eq!(*alone.get_or_insert_with(|| facts(&outcome)), facts(&outcome), "{workers} workers");
                for (violation, other) in outcome.violations.iter().zip(&expected.violations) {
                    let witness = Witness::trace(&graph, &shared, violation, &Unlimited, 3).unwrap();
                    witness.replay(&graph, true, 3).unwrap();
                    assert_eq!(witness.len(), Witness::trace(&graph, &exact, other, &Unlimited, 3).unwrap().len());
                }
            }
        }
    }
}

#[test]
fn a_depth_limit_leaves_the_same_states_out() {
    let (graph, _) = graphs().swap_remove(0);
    let settings = Settings { limits: Limits { depth: 5, ..Limits::default() }, deadlock: Deadlock::Off, ..Settings::default() };
    let run = |workers| {
        let store = TreeStore::new(graph.packing().clone(), &Unlimited, 1 << 22).unwrap();
        Job::together(&graph, &store, true, &Unlimited, workers, &settings).run(&mut Unbounded)
    };
    let expected = run(1);
    assert_eq!(expected.stop, Stop::Depth);
    assert_eq!((facts(&run(4)), run(4).frontier), (facts(&expected), expected.frontier));
    for workers in [1, 4] {
        let store = CompactStore::new(64, 64, 1 << 20, &Unlimited).unwrap();
        assert_eq!(facts(&Job::together(&graph, &store, false, &Unlimited, workers, &settings).run(&mut Unbounded)), facts(&expected));
    }
}

/// A graph some of whose expansions take a while, so that workers wait for each other at every level.
struct Slow<'a> {
    graph: &'a Graph,
    asked: AtomicU64,
    /// The expansion that panics, if one does.
    breaks_at: u64,
}

impl Space for Slow<'_> {
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
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(asked != self.breaks_at, "this space breaks");
        if asked % 17 == 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.graph.expand(batch, from, steps)
    }
    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
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
fn slow_workers_are_waited_for() {
    for (graph, deadlock) in graphs().into_iter().take(4) {
        let settings = Settings { deadlock, ..Settings::default() };
        let slow = Slow { graph: &graph, asked: AtomicU64::new(0), breaks_at: u64::MAX };
        let run = |space: &dyn Space, workers| {
            let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
            facts(&Job::together(space, &store, true, &Unlimited, workers, &settings).run(&mut Unbounded))
        };
        assert_eq!(run(&slow, 8), run(&graph, 1));
        let over_fingerprints = |space: &dyn Space, workers| {
            let store = CompactStore::new(64, 64, 1 << 20, &Unlimited).unwrap();
            facts(&Job::together(space, &store, false, &Unlimited, workers, &settings).run(&mut Unbounded))
        };
        assert_eq!(over_fingerprints(&slow, 8), over_fingerprints(&graph, 1));
    }
}

#[test]
fn no_one_waits_for_a_worker_that_broke() {
    let (graph, _) = graphs().swap_remove(0);
    for breaks_at in [0, 5, 12] {
        let broken = Slow { graph: &graph, asked: AtomicU64::new(0), breaks_at };
        let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
        let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
        let run = std::panic::AssertUnwindSafe(|| Job::together(&broken, &store, true, &Unlimited, 4, &settings).run(&mut Unbounded));
        assert!(std::panic::catch_unwind(run).is_err());
        let broken = Slow { graph: &graph, asked: AtomicU64::new(0), breaks_at };
        let store = CompactStore::new(64, 64, 1 << 20, &Unlimited).unwrap();
        let run = std::panic::AssertUnwindSafe(|| Job::together(&broken, &store, false, &Unlimited, 4, &settings).run(&mut Unbounded));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

/// Ends a run after this many questions.
struct Patience(u32);

impl Control for Patience {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        self.0 = self.0.saturating_sub(1);
        (self.0 == 0).then_some(Stop::Interrupted)
    }
}

#[test]
fn everyone_ends_when_the_outside_says_so() {
    let (graph, _) = graphs().swap_remove(0);
    let slow = Slow { graph: &graph, asked: AtomicU64::new(0), breaks_at: u64::MAX };
    let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
    for patience in [1, 2, 5, 20] {
        let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
        let outcome = Job::together(&slow, &store, true, &Unlimited, 4, &settings).run(&mut Patience(patience));
        assert_eq!(outcome.stop, Stop::Interrupted);
        assert!(!outcome.is_complete());
    }
    // The others may finish a small graph before the first worker has asked often.
    let store = CompactStore::new(64, 64, 1 << 20, &Unlimited).unwrap();
    let outcome = Job::together(&slow, &store, false, &Unlimited, 4, &settings).run(&mut Patience(1));
    assert_eq!(outcome.stop, Stop::Interrupted);
    let part = |worker: usize| Some((Box::new(NoStore) as Box<dyn Store>, Box::new(Walk::new(2, worker as u64)) as Box<dyn Strategy>));
    let outcome = Job::apart(&graph, &part, 4, &settings).run(&mut Patience(1_000));
    assert_eq!(outcome.stop, Stop::Interrupted);
}

#[test]
fn a_full_store_ends_the_run_for_all() {
    struct Little(AtomicU64);
    impl wayfarer_search::Account for Little {
        fn allows(&self, bytes: usize) -> bool {
            self.0.fetch_add(bytes as u64, Ordering::Relaxed) < 300_000
        }
        fn used(&self) -> usize {
            0
        }
    }
    let mut rng = Rng::new(22, "crews");
    let graph = random(&mut rng, 200_000, 4);
    let account = Little(AtomicU64::new(0));
    let store = ExactStore::new(graph.packing().clone(), &account, 1 << 20).unwrap();
    let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
    let outcome = Job::together(&graph, &store, true, &Unlimited, 3, &settings).run(&mut Unbounded);
    assert_eq!((outcome.stop, outcome.is_complete()), (Stop::Memory, false));
    assert!(outcome.frontier > 0);
}

#[test]
fn walkers_repeat_for_a_seed_and_a_number() {
    let mut rng = Rng::new(23, "crews");
    let graph = random(&mut rng, 5_000, 3);
    let settings = Settings { limits: Limits { steps: 400_001, ..Limits::default() }, deadlock: Deadlock::Off, ..Settings::default() };
    type Make<'a> = Box<dyn Fn(usize) -> Option<(Box<dyn Store + 'a>, Box<dyn Strategy + 'a>)> + Sync + 'a>;
    let walks: Make = Box::new(|worker| Some((Box::new(NoStore), Box::new(Walk::new(3, worker as u64)))));
    let searches: Make = Box::new(|worker| {
        let store = PoolStore::new(graph.packing().clone(), 500, None, worker as u64, &Unlimited);
        Some((Box::new(store), Box::new(Urs::renewed(400, false, worker as u64))))
    });
    for part in [&walks, &searches] {
        let run = |graph: &Graph| {
            let outcome = Job::apart(graph, part.as_ref(), 3, &settings).run(&mut Unbounded);
            format!("{} {:?} {:?}", facts(&outcome), outcome.covered, outcome.details)
        };
        assert_eq!(run(&graph), run(&graph));
        // A violation that one of them meets ends the others at their next meeting, always the same one.
        let bad = graph.clone().avoiding(vec![17, 1_234, 4_321]);
        assert_eq!(run(&bad), run(&bad));
    }
}

/// Three workers each for itself: what they report together follows from what each reports alone.
#[test]
fn figures_of_several_workers_merge_by_their_rules() {
    let mut rng = Rng::new(24, "crews");
    let graph = random(&mut rng, 2_000, 3);
    let settings = Settings { limits: Limits { steps: 30_000, ..Limits::default() }, deadlock: Deadlock::Off, ..Settings::default() };
    let alone = Settings { limits: Limits { steps: 10_000, ..Limits::default() }, ..settings.clone() };
    let (packing, limits) = (graph.packing(), Limits::default());
    for text in ["rbfs:slots=400,maxpom=0,max-overhead=1000,max-collision=1", "highway:width=7", "urs:mix=auto,capacity=900"] {
        let spec: StrategySpec = text.parse().unwrap();
        let part = |worker: usize| {
            let room = Room { packing, account: &Unlimited, most: 1 << 20, fixed: 1 << 20, bounded: false, seed: worker as u64 };
            let store = spec.default_store().settled(&room);
            let site = Site { limits: &limits, packing, account: &Unlimited, seed: worker as u64, store: store.clone() };
            Some((store.build(&room)?, spec.build(&site)))
        };
        let all = Job::apart(&graph, &part, 3, &settings).run(&mut Unbounded).details;
        let each: Vec<Details> = (0..3)
            .map(|worker| {
                let (store, mut strategy) = part(worker).unwrap();
                Job::new(&graph, &*store, &mut *strategy, &alone).run(&mut Unbounded).details
            })
            .collect();
        let of = |name: &str| each.iter().map(|details| details.figures.get(name).unwrap()).collect::<Vec<f64>>();
        let sum = |name: &str| assert_eq!(all.figures.get(name), Some(of(name).iter().sum()), "{text}: {name}");
        match spec.name() {
            "rbfs" => {
                let _ = ["visits", "samples", "insertions"].map(sum);
                assert_eq!(all.omission_probability(), each.iter().map(|details| details.omission_probability().unwrap()).reduce(f64::max));
                assert!(all.omission_probability().unwrap() <= 1.0 && all.figures.get("collision rate").unwrap() <= 1.0);
                let weighted: f64 = of("collision rate").iter().zip(of("insertions")).map(|(rate, insertions)| rate * insertions).sum();
                let mean = weighted / of("insertions").iter().sum::<f64>();
                assert!((all.figures.get("collision rate").unwrap() - mean).abs() < 1e-9);
                for worker in 0..3u32 {
                    let made = all.visits.iter().filter(|visit| visit.worker == worker).count();
                    assert_eq!(made, each[worker as usize].visits.len());
                }
            }
            "highway" => {
                sum("highways");
                assert_eq!(all.figures.get("width"), Some(7.0));
            }
            _ => assert!((0.05..=0.95).contains(&all.figures.get("rate of leaves").unwrap())),
        }
    }
}

/// The largest number of states that the outside was told.
struct Told(u64);

impl Control for Told {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.0 = self.0.max(progress.states);
        None
    }
}

#[test]
fn states_that_several_searches_meet_are_told_once() {
    let mut rng = Rng::new(25, "crews");
    let graph = random(&mut rng, 300, 3);
    let exact = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
    let settings = Settings { limits: Limits { steps: 60_000, ..Limits::default() }, deadlock: Deadlock::Off, ..Settings::default() };
    let there = Job::new(&graph, &exact, &mut Bfs::new(&Limits::default()), &settings).run(&mut Unbounded).states;
    let part = |worker: usize| {
        let store = PoolStore::new(graph.packing().clone(), 1_000, None, worker as u64, &Unlimited);
        Some((Box::new(store) as Box<dyn Store>, Box::new(Urs::renewed(900, false, worker as u64)) as Box<dyn Strategy>))
    };
    let mut told = Told(0);
    let outcome = Job::apart(&graph, &part, 4, &settings).run(&mut told);
    // Each worker meets nearly all of them.
    assert!(outcome.states > 2 * there, "{}", outcome.states);
    assert!((there / 2..=there).contains(&told.0), "{} of {there}", told.0);
    assert!(outcome.frontier <= there);
    // Walkers forget at once, so that every visit is new to them. None of it is told, also not by one who is done.
    let walkers = |worker: usize| Some((Box::new(NoStore) as Box<dyn Store>, Box::new(Walk::new(1, worker as u64)) as Box<dyn Strategy>));
    let mut told = Told(0);
    Job::apart(&graph, &walkers, 4, &settings).run(&mut told);
    assert!((there / 2..=there).contains(&told.0), "{} of {there}", told.0);
}

#[test]
fn the_outside_is_told_what_several_searches_met_together() {
    let mut rng = Rng::new(26, "crews");
    let graph = random(&mut rng, 50_000, 3);
    let settings =
        Settings { limits: Limits { steps: 80_000, ..Limits::default() }, deadlock: Deadlock::Off, record: 1 << 10, ..Settings::default() };
    let part = |worker: usize| {
        let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
        Some((Box::new(store) as Box<dyn Store>, Box::new(Urs::new(1 << 20, worker as u64)) as Box<dyn Strategy>))
    };
    let mut told = Told(0);
    let outcome = Job::apart(&graph, &part, 4, &settings).run(&mut told);
    // Each worker met half of them; the largest number of one worker was told before.
    let (told, covered) = (told.0 as f64, outcome.covered.value);
    assert!(outcome.states as f64 > 1.2 * covered, "{} and {covered}", outcome.states);
    assert!((0.9..=1.0).contains(&(told / covered)), "{told} of {covered}");
    assert_eq!(outcome.omissions, Some(0.0));
}
