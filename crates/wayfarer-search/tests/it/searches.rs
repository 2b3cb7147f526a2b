//! The strategies over the one loop, on graphs that are known in full.

use crate::graphs::{distances, preorder, random};
use wayfarer_search::{
    Bfs, Cause, CompactStore, Deadlock, Dfs, ExactStore, Handle, Job, Limits, Outcome, Recall, Remember, Settings, Stop, Strategy, Unbounded,
    Unlimited, Verdict, Witness,
};
use wayfarer_space::{Graph, Rng, Space, States, Steps, Width};

fn quiet() -> Settings {
    Settings { deadlock: Deadlock::Off, ..Settings::default() }
}

fn run<'a>(graph: &'a Graph, strategy: &mut dyn Strategy, settings: &Settings) -> (Outcome, ExactStore<'a>) {
    let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
    let outcome = Job::new(graph, &store, strategy, settings).run(&mut Unbounded);
    (outcome, store)
}

fn visited(store: &ExactStore) -> Vec<u32> {
    let mut states = States::new(Width::Fixed(1));
    for number in 0..store.len() {
        assert!(store.state(Handle(number as u32), &mut states));
    }
    states.iter().map(|state| state[0] as u32).collect()
}

fn starts(graph: &Graph) -> Vec<u32> {
    let mut steps = Steps::new(Width::Fixed(1));
    graph.initial(&mut steps);
    steps.states.iter().map(|state| state[0] as u32).collect()
}

#[test]
fn both_visit_exactly_the_reachable_states() {
    let mut rng = Rng::new(3, "graphs");
    for _ in 0..300 {
        let graph = random(&mut rng, 40, 3);
        let distance = distances(&graph, &starts(&graph));
        let reachable = distance.iter().flatten().count() as u64;
        let edges: u64 = (0..graph.nodes()).filter(|node| distance[*node as usize].is_some()).map(|node| graph.successors(node).len() as u64).sum();
        for strategy in [&mut Bfs::new(&Limits::default()) as &mut dyn Strategy, &mut Dfs::new(&Limits::default())] {
            let (outcome, store) = run(&graph, strategy, &quiet());
            assert_eq!((outcome.states, outcome.fired, outcome.verdict()), (reachable, edges, Verdict::Holds));
            assert_eq!(store.len(), reachable);
            assert_eq!(outcome.firings.iter().sum::<u64>(), edges);
        }
    }
}

#[test]
fn breadth_first_goes_by_distance_and_reports_the_eccentricity() {
    let mut rng = Rng::new(4, "graphs");
    for _ in 0..200 {
        let graph = random(&mut rng, 60, 2);
        let distance = distances(&graph, &starts(&graph));
        let (outcome, store) = run(&graph, &mut Bfs::new(&Limits::default()), &quiet());
        let order: Vec<u32> = visited(&store).iter().map(|node| distance[*node as usize].unwrap()).collect();
        assert!(order.is_sorted());
        assert_eq!(outcome.depth, order.last().copied());
    }
}

#[test]
fn depth_first_is_true_preorder() {
    // On the diamond, pushing all successors already marked would visit 3 after 2; entering marks it below 1.
    let diamond = Graph::new(vec![vec![1, 2], vec![3], vec![3, 4], vec![4], vec![]], vec![0]);
    let (_, store) = run(&diamond, &mut Dfs::new(&Limits::default()), &quiet());
    assert_eq!(visited(&store), [0, 1, 3, 4, 2]);
    let mut rng = Rng::new(5, "graphs");
    for _ in 0..200 {
        let graph = random(&mut rng, 30, 4);
        let mut first = starts(&graph);
        first.dedup();
        let graph = Graph::new((0..graph.nodes()).map(|node| graph.successors(node).to_vec()).collect(), first[..1].to_vec());
        let (_, store) = run(&graph, &mut Dfs::new(&Limits::default()), &quiet());
        assert_eq!(visited(&store), preorder(&graph, &first[..1]));
    }
}

#[test]
fn witnesses_are_shortest_under_bfs_and_replay_under_both() {
    let mut rng = Rng::new(6, "graphs");
    let mut found = 0;
    for _ in 0..300 {
        let bad = rng.below(50) as u32;
        let graph = random(&mut rng, 50, 3).avoiding(vec![bad]);
        let distance = distances(&graph, &starts(&graph))[bad as usize];
        for (breadth, strategy) in [(true, &mut Bfs::new(&Limits::default()) as &mut dyn Strategy), (false, &mut Dfs::new(&Limits::default()))] {
            let (outcome, store) = run(&graph, strategy, &quiet());
            assert_eq!(outcome.verdict() == Verdict::Violated, distance.is_some());
            let Some(distance) = distance else { continue };
            assert_eq!(outcome.stop, Stop::Violations);
            let witness = Witness::trace(&graph, &store, &outcome.violations[0], &Unlimited, 1).unwrap();
            witness.replay(&graph, true, 1).unwrap();
            assert!(if breadth { witness.len() == distance as usize } else { witness.len() >= distance as usize });
            found += 1;
        }
    }
    assert!(found > 100, "only {found} violations were tried");
}

#[test]
fn deadlocks_are_found_by_their_definition() {
    // 0 → 1, and 1 only loops; 0 → 2, and 2 is stuck.
    let graph = Graph::new(vec![vec![1, 2], vec![1], vec![]], vec![0]);
    for (deadlock, expected) in [(Deadlock::Off, vec![]), (Deadlock::Stuck, vec![2]), (Deadlock::Stuttering, vec![1, 2])] {
        let settings = Settings { deadlock, max_errors: 9, ..Settings::default() };
        let (outcome, store) = run(&graph, &mut Bfs::new(&Limits::default()), &settings);
        let mut states = States::new(Width::Fixed(1));
        for violation in &outcome.violations {
            assert_eq!(violation.cause, Cause::Deadlock);
            assert!(store.state(violation.state.unwrap(), &mut states));
            Witness::trace(&graph, &store, violation, &Unlimited, 1).unwrap().replay(&graph, deadlock == Deadlock::Stuttering, 1).unwrap();
        }
        assert_eq!(states.iter().map(|state| state[0]).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn over_a_lossy_store_everything_is_visited_and_witnesses_are_found_anew() {
    let mut rng = Rng::new(11, "graphs");
    let mut found = 0;
    for _ in 0..60 {
        let bad = rng.below(300) as u32;
        let graph = random(&mut rng, 300, 4).avoiding(vec![bad]);
        let distance = distances(&graph, &starts(&graph));
        let mut strategy = Bfs::queued(&Limits::default(), graph.packing().clone(), &Unlimited);
        // With 64 bits for 300 states the odds of any omission are below 10^-14.
        let store = CompactStore::new(64, 24, 1 << 20, &Unlimited).unwrap();
        let outcome = Job::new(&graph, &store, &mut strategy, &quiet()).run(&mut Unbounded);
        match distance[bad as usize] {
            None => {
                assert_eq!(outcome.states, distance.iter().flatten().count() as u64);
                assert_eq!((outcome.verdict(), outcome.stop, outcome.frontier), (Verdict::NotFound, Stop::Exhausted, 0));
                assert_eq!(outcome.depth, distance.iter().flatten().max().copied());
            }
            Some(distance) => {
                let witness = Witness::trace(&graph, &store, &outcome.violations[0], &Unlimited, 1).unwrap();
                witness.replay(&graph, true, 1).unwrap();
                assert_eq!(witness.len(), distance as usize);
                found += 1;
            }
        }
    }
    assert!(found > 20, "only {found} violations were tried");
}

#[test]
fn limits_end_a_run_and_forbid_holds() {
    let line = Graph::new((0..1000).map(|node| vec![(node + 1) % 1000]).collect(), vec![0]);
    let limited = |limits: Limits, stop: Stop, states: u64| {
        for strategy in [&mut Bfs::new(&limits) as &mut dyn Strategy, &mut Dfs::new(&limits)] {
            let (outcome, _) = run(&line, strategy, &Settings { limits, ..quiet() });
            assert_eq!((outcome.verdict(), outcome.stop, outcome.states), (Verdict::NotFound, stop, states));
        }
    };
    limited(Limits { states: 10, ..Limits::default() }, Stop::States, 10);
    limited(Limits { steps: 10, ..Limits::default() }, Stop::Steps, 11);
    limited(Limits { depth: 10, ..Limits::default() }, Stop::Depth, 11);
    let (outcome, _) = run(&line, &mut Bfs::new(&Limits { depth: 1000, ..Limits::default() }), &quiet());
    assert_eq!(outcome.verdict(), Verdict::Holds);
}

#[test]
fn a_full_store_ends_the_run_and_loses_nothing() {
    /// Allows this many bytes altogether.
    struct Small(std::sync::atomic::AtomicUsize);
    impl wayfarer_search::Account for Small {
        fn allows(&self, bytes: usize) -> bool {
            let left = self.0.load(std::sync::atomic::Ordering::Relaxed);
            self.0.store(left.saturating_sub(bytes), std::sync::atomic::Ordering::Relaxed);
            bytes <= left
        }
        fn used(&self) -> usize {
            0
        }
    }
    let nodes = 200_000;
    let graph = Graph::new((0..nodes).map(|node| vec![(node + 1) % nodes, (node * 7 + 1) % nodes]).collect(), vec![0]);
    for strategy in [&mut Bfs::new(&Limits::default()) as &mut dyn Strategy, &mut Dfs::new(&Limits::default())] {
        let account = Small(std::sync::atomic::AtomicUsize::new(600_000));
        let store = ExactStore::new(graph.packing().clone(), &account, 600_000).unwrap();
        let outcome = Job::new(&graph, &store, strategy, &quiet()).run(&mut Unbounded);
        assert_eq!((outcome.stop, outcome.verdict()), (Stop::Memory, Verdict::NotFound));
        assert!(outcome.states > 10_000 && outcome.states == store.len() && outcome.frontier > 0, "{outcome:?}");
        assert_eq!(visited(&store).iter().collect::<std::collections::HashSet<_>>().len() as u64, outcome.states);
    }
}
