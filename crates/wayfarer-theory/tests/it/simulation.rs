//! The simulation against the exact results: it is used if they are infeasible, so it must agree with them if
//! they are not.

use crate::graphs::{ROOM, explicit};
use wayfarer_space::Graph;
use wayfarer_theory::{
    Algorithm, Confidence, Estimate, ExplicitGraph, Grid, SelfLoops, Simulation, Tree, simulate_cover_times, simulate_coverage, unwatched,
};

/// Whether a value lies within one and a half times the half-width of a 99.9 % interval: 4.9 standard errors, missed by chance with odds 8·10⁻⁷.
fn agrees(estimate: Estimate, value: f64) -> bool {
    (estimate.mean - value).abs() <= 1.5 * (estimate.high - estimate.mean)
}

fn simulation(seed: u64) -> Simulation {
    Simulation { runs: 4000, seed, confidence: Confidence::P999, ..Simulation::default() }
}

#[test]
fn cover_times_agree() {
    // 7 graphs × 2 algorithms × 2 levels: 28 comparisons, odds of a false alarm below 3·10⁻⁵; the seed is fixed.
    let graphs: Vec<Graph> = vec![
        Tree::new(2, 2).unwrap().graph(),
        Tree::new(3, 2).unwrap().graph(),
        Tree::new(2, 3).unwrap().graph(),
        Tree::new(1, 6).unwrap().graph(),
        Grid::new(2, 2).unwrap().graph(),
        Grid::new(3, 2).unwrap().graph(),
        Grid::new(1, 3).unwrap().graph(),
    ];
    for graph in &graphs {
        let graph = ExplicitGraph::new(graph, SelfLoops::Reset).unwrap();
        for algorithm in Algorithm::ALL {
            let exact = graph.cover_times(algorithm, ROOM, &mut unwatched).unwrap();
            let simulated = simulate_cover_times(&graph, algorithm, simulation(11), &mut unwatched).unwrap();
            for share in [0.7, 1.0] {
                let (right, time) = (exact.of_share(share).finite().unwrap(), simulated.of_share(share));
                assert_eq!(time.reached, 4000);
                assert!(agrees(time.steps.unwrap(), right), "{algorithm} on {} nodes at {share}: {right} against {time:?}", graph.nodes());
            }
        }
    }
}

#[test]
fn coverage_with_restarts_agrees() {
    // 4 graphs × 2 algorithms × 2 capacities × 2 steps: 32 comparisons, odds of a false alarm below 3·10⁻⁵; the seed is fixed.
    let graphs: Vec<Graph> =
        vec![Tree::new(3, 2).unwrap().graph(), Tree::new(2, 3).unwrap().graph(), Grid::new(2, 2).unwrap().graph(), Grid::new(1, 3).unwrap().graph()];
    for graph in &graphs {
        let graph = ExplicitGraph::new(graph, SelfLoops::Reset).unwrap();
        for algorithm in Algorithm::ALL {
            for capacity in [None, Some(5)] {
                let exact = graph.coverage(algorithm, capacity, 80, ROOM, &mut unwatched).unwrap();
                let simulated = simulate_coverage(&graph, algorithm, capacity, 80, simulation(12), &mut unwatched).unwrap();
                for step in [12, 80] {
                    let (right, estimate) = (exact.covered(step), simulated.covered[step]);
                    assert!(agrees(estimate, right), "{algorithm} at {capacity:?} on {} nodes after {step}: {right}, {estimate:?}", graph.nodes());
                }
            }
        }
    }
}

#[test]
fn a_trap_leaves_runs_unfinished() {
    // From 0 to 1 or to the pair 2 ⇄ 3, which SDRS never leaves.
    let graph = explicit(&vec![vec![1, 2], vec![], vec![3], vec![2]], &[0], SelfLoops::Reset);
    let exact = graph.cover_times(Algorithm::Sdrs, ROOM, &mut unwatched).unwrap();
    let wayfarer_theory::CoverTime::Infinite { reached } = exact.full() else { panic!("{exact:?}") };
    let settings = Simulation { most_steps: 2000, ..simulation(13) };
    let simulated = simulate_cover_times(&graph, Algorithm::Sdrs, settings, &mut unwatched).unwrap();
    let time = simulated.of_share(1.0);
    assert_eq!(time.steps, None);
    // Binomial with 4000 trials: four standard deviations, odds 6·10⁻⁵.
    let deviation = (4000.0 * reached * (1.0 - reached)).sqrt();
    assert!((f64::from(time.reached) - 4000.0 * reached).abs() < 4.0 * deviation, "{} of 4000, expected {}", time.reached, 4000.0 * reached);
    assert!(graph.cover_times(Algorithm::Urs, ROOM, &mut unwatched).unwrap().full().finite().is_some());
    assert!(simulate_cover_times(&graph, Algorithm::Urs, Simulation { runs: 1, ..settings }, &mut unwatched).is_err());
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let graph = ExplicitGraph::new(&Grid::new(3, 2).unwrap().graph(), SelfLoops::Reset).unwrap();
    let settings = Simulation { runs: 20, ..simulation(5) };
    let run = |settings| simulate_coverage(&graph, Algorithm::Sdrs, Some(6), 40, settings, &mut unwatched).unwrap().covered;
    assert_eq!(run(settings), run(settings));
    assert_ne!(run(settings), run(Simulation { seed: 6, ..settings }));
}
