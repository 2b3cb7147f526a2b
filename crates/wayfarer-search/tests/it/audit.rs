//! The audit against the exact law of its samplers.

use crate::graphs;
use wayfarer_search::{
    Audit, Bfs, CacheStore, Control, ExactStore, Job, Limits, NoStore, Progress, Recall, Record, Remember, Replacement, Sampler, Settings, Stop,
    Store, Unbounded, Unlimited, Walk, Witness,
};
use wayfarer_space::{Graph, Rng, Space, hash};
use wayfarer_theory::share_at_most;

const SAMPLERS: [Sampler; 3] = [Sampler::Walk { cap: 200 }, Sampler::Shallow { cap: 24 }, Sampler::Priority { cap: 100 }];

/// A graph in which walks can get lost: random successors, some of them near, a few dead ends.
fn graph(rng: &mut Rng, nodes: u32) -> Graph {
    let near = |rng: &mut Rng, node: u32| (node + 1 + rng.below(5) as u32) % nodes;
    let edges = (0..nodes).map(|node| {
        let degree = if rng.below(150) == 0 { 0 } else { 1 + rng.below(4) };
        (0..degree).map(|_| if rng.below(16) == 0 { rng.below(u64::from(node) + 1) as u32 } else { near(rng, node) }).collect()
    });
    Graph::new(edges.collect::<Vec<_>>(), vec![0, 1])
}

/// An exact store with the states that a search visits within `steps` steps.
fn searched(graph: &Graph, seed: u64, steps: u64, walking: bool) -> ExactStore<'static> {
    let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 20).unwrap();
    let settings = Settings { limits: Limits { steps, ..Limits::default() }, deadlock: wayfarer_search::Deadlock::Off, ..Settings::default() };
    if walking {
        Job::new(graph, &store, &mut Walk::new(2, seed), &settings).run(&mut Unbounded);
    } else {
        Job::new(graph, &store, &mut Bfs::new(&settings.limits), &settings).run(&mut Unbounded);
    }
    store
}

fn quiet() -> Settings {
    Settings { deadlock: wayfarer_search::Deadlock::Off, ..Settings::default() }
}

fn audit<'a>(space: &'a Graph, store: &'a dyn Store, settings: &'a Settings, seed: u64) -> Audit<'a> {
    Audit { space, representative: None, store, record: None, settings, seed, workers: 1 }
}

#[test]
fn samplers_keep_states_as_their_law_says() {
    let settings = quiet();
    let mut worst: f64 = 0.0;
    for number in 0..8 {
        let graph = graph(&mut Rng::new(number, "audited"), 60);
        for sampler in SAMPLERS {
            let mass = sampler.mass(&graph, 1000).unwrap();
            assert!((mass.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for steps in [5, 20, 60] {
                let store = searched(&graph, number, steps, true);
                let audit = audit(&graph, &store, &settings, 7 + number);
                let truth = mass.missing(&audit.judge(mass.states.clone()));
                let (tally, _) = audit.draw(sampler, 4000, &mut Unbounded);
                assert_eq!((tally.walks, tally.judged, tally.unfinished), (4000, 4000, 0));
                let error = (truth * (1.0 - truth) / 4000.0).sqrt().max(1e-4);
                worst = worst.max((tally.missing as f64 / 4000.0 - truth).abs() / error);
            }
        }
    }
    // 72 binomial counts: the worst lies beyond 4.3 standard errors with odds of about 10⁻³; the seeds are fixed.
    assert!(worst < 4.3, "{worst} standard errors");
}

#[test]
fn bounds_hold_as_often_as_they_say() {
    let settings = quiet();
    let (mut runs, mut held, mut tight) = (0u32, 0u32, 0u32);
    for number in 0..2 {
        let graph = graph(&mut Rng::new(20 + number, "audited"), 80);
        for sampler in SAMPLERS {
            let mass = sampler.mass(&graph, 1000).unwrap();
            for (walking, steps) in [(false, 15), (false, 60), (true, 30), (true, 200)] {
                for seed in 0..25 {
                    let store = searched(&graph, seed, steps, walking);
                    let audit = audit(&graph, &store, &settings, seed);
                    let truth = mass.missing(&audit.judge(mass.states.clone()));
                    let (tally, _) = audit.draw(sampler, 200, &mut Unbounded);
                    let bound = share_at_most(tally.missing, tally.judged, 0.05).unwrap();
                    runs += 1;
                    held += u32::from(truth <= bound);
                    tight += u32::from(bound <= 2.0 * (truth + 3.0 / 200.0));
                }
            }
        }
    }
    // The bound fails in at most 5 % of runs: of 600 more than 50 with odds below 10⁻³ (mean 30, standard deviation 5.3); the seeds are fixed.
    assert!(runs == 600 && held >= 550, "{held} of {runs}");
    // Sampler streams are shared between searches of one seed, so the runs are not quite independent; the median is far from its limit all the same.
    assert!(2 * tight > runs, "{tight} of {runs} within twice what could be known");
}

#[test]
fn a_record_judges_what_it_can_tell() {
    let graph = graph(&mut Rng::new(3, "audited"), 3000);
    let settings = quiet();
    let store = searched(&graph, 1, 2000, true);
    let exact = audit(&graph, &store, &settings, 5);
    let mut states = wayfarer_space::States::new(graph.width());
    (0..store.len()).for_each(|n| assert!(store.state(store.nth(n), &mut states)));
    let record_of = |most: usize| {
        let mut record = Record::new(most, graph.packing().clone());
        states.iter().for_each(|state| record.observe(hash(state), state));
        record
    };
    let (whole, small) = (record_of(1 << 16), record_of(20));
    for sampler in SAMPLERS {
        let (by_store, _) = exact.draw(sampler, 500, &mut Unbounded);
        let (by_record, _) = Audit { store: &NoStore, record: Some(&whole), ..exact }.draw(sampler, 500, &mut Unbounded);
        assert_eq!(by_store, by_record);
        let few = Audit { store: &NoStore, record: Some(&small), ..exact };
        let (some, _) = few.draw(sampler, 500, &mut Unbounded);
        assert!(some.judged < 500 && some.missing <= some.judged, "{some:?}");
    }
    // A sieved walk goes on until the record can tell.
    let few = Audit { store: &NoStore, record: Some(&small), ..exact };
    let (sieved, _) = few.draw(Sampler::Sieved { cap: 200, reach: 2000 }, 500, &mut Unbounded);
    let (plain, _) = few.draw(Sampler::Walk { cap: 200 }, 500, &mut Unbounded);
    assert!(sieved.judged > 2 * plain.judged, "{sieved:?} {plain:?}");
}

#[test]
fn a_forgetting_store_is_not_believed() {
    let graph = graph(&mut Rng::new(4, "audited"), 500);
    let settings = quiet();
    let cache = CacheStore::new(64, 4, 32, Replacement::Random, 1, &Unlimited).unwrap();
    let outcome = Job::new(&graph, &cache, &mut Walk::new(1, 3), &Settings { limits: Limits { steps: 30_000, ..Limits::default() }, ..quiet() })
        .run(&mut Unbounded);
    let record = outcome.record.as_ref().unwrap();
    let audit = Audit { record: Some(record), ..audit(&graph, &cache, &settings, 1) };
    assert!(!audit.is_judged_by_store());
    // The walk met nearly everything, though the cache remembers a fraction.
    let (tally, _) = audit.draw(Sampler::Walk { cap: 200 }, 1000, &mut Unbounded);
    assert!(tally.judged == 1000 && tally.missing < 100, "{tally:?}");
    assert!(record.met(1) < record.len() as u64);
}

/// Ends after this many rounds.
struct Rounds(u32);

impl Control for Rounds {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        self.0 = self.0.saturating_sub(1);
        (self.0 == 0).then_some(Stop::Time)
    }
}

#[test]
fn unfinished_walks_count_as_missing() {
    let graph = graph(&mut Rng::new(3, "audited"), 300);
    let settings = quiet();
    let store = searched(&graph, 1, u64::MAX, false);
    let (tally, _) = audit(&graph, &store, &settings, 5).draw(SAMPLERS[0], 1000, &mut Rounds(50));
    assert!(tally.unfinished > 500);
    assert_eq!((tally.walks, tally.judged, tally.missing), (1000, 1000, tally.unfinished));
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let graph = graph(&mut Rng::new(6, "audited"), 2000);
    let settings = quiet();
    let store = searched(&graph, 1, 500, true);
    let one = audit(&graph, &store, &settings, 5);
    for sampler in SAMPLERS {
        assert_eq!(one.draw(sampler, 1000, &mut Unbounded).0, Audit { workers: 4, ..one }.draw(sampler, 1000, &mut Unbounded).0);
    }
    let (stopped, _) = Audit { workers: 3, ..one }.draw(SAMPLERS[0], 100_000, &mut Rounds(40));
    assert!(stopped.unfinished > 10_000 && stopped.judged == 100_000, "{stopped:?}");
}

#[test]
fn a_violation_on_the_way_has_a_witness_that_replays() {
    for sampler in SAMPLERS.into_iter().chain([Sampler::Restart { cap: 200 }]) {
        let graph = graph(&mut Rng::new(11, "audited"), 400).avoiding((45..52).collect());
        let store = searched(&graph, 1, 25, false);
        // Not the first violation ends it, but it is not lost all the same.
        let settings = Settings { max_errors: 10_000, ..quiet() };
        let audit = audit(&graph, &store, &settings, 5);
        let (_, violations) = audit.draw(sampler, 3000, &mut Unbounded);
        let violation = violations.first().unwrap_or_else(|| panic!("{sampler:?} found nothing"));
        assert_eq!(violations, Audit { workers: 3, ..audit }.draw(sampler, 3000, &mut Unbounded).1);
        let witness = Witness::trace(&graph, &NoStore, violation, &Unlimited, 1).unwrap();
        witness.replay(&graph, true, 1).unwrap();
    }
}

#[test]
fn walks_come_to_their_end_where_states_have_many_successors() {
    // Few walks go side by side in the hub, and those that wait are not forgotten.
    let edges = (0..3000).map(|node| if node % 3 == 0 { (0..3000).collect() } else { vec![node - 1] });
    let graph = Graph::new(edges.collect::<Vec<_>>(), vec![0]);
    let settings = quiet();
    let store = searched(&graph, 1, 1, false);
    for sampler in [Sampler::Shallow { cap: 5 }, Sampler::Priority { cap: 20 }] {
        let (tally, _) = audit(&graph, &store, &settings, 5).draw(sampler, 100, &mut Unbounded);
        assert_eq!((tally.walks, tally.unfinished, tally.judged), (100, 0, 100));
    }
}

#[test]
fn restarts_begin_in_stored_states() {
    // Two nodes that only lead to each other: from what was visited nothing else can be reached.
    let graph = Graph::new(vec![vec![1], vec![0], vec![3], vec![2]], vec![0, 2]);
    let settings = quiet();
    let store = searched(&graph, 1, u64::MAX, false);
    let (tally, _) = audit(&graph, &store, &settings, 5).draw(Sampler::Restart { cap: 10 }, 200, &mut Unbounded);
    assert_eq!((tally.judged, tally.missing), (200, 0));
    assert!(Sampler::Restart { cap: 10 }.mass(&graph, 10).is_none());
    assert_eq!(graphs::distances(&graph, &[0, 2]).iter().flatten().count(), 4);
}
