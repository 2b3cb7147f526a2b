//! Grids: brute force on small ones, and the choice between computation and simulation.

use crate::brute::{Process, close};
use crate::graphs::{ROOM, check_cover_times, check_coverage};
use crate::trees::lists;
use wayfarer_theory::{Algorithm, ExplicitGraph, Grid, Prediction, SelfLoops, Simulation, TheoryError, unwatched};

#[test]
fn small_grids_by_brute_force() {
    for (length, dimensions, exactly) in [(1, 1, true), (3, 1, true), (1, 2, true), (1, 3, false)] {
        let grid = Grid::new(length, dimensions).unwrap();
        let graph = lists(&grid.graph());
        for algorithm in Algorithm::ALL {
            check_cover_times(&Process { graph: &graph, starts: &[0], algorithm, loops: SelfLoops::Reset, capacity: None }, exactly);
        }
    }
    // The unit is a common multiple of |V|·degree for all that occur.
    for (length, dimensions, capacity, steps, unit) in
        [(1, 2, None, 14, 24), (1, 2, Some(3), 14, 24), (2, 2, Some(4), 14, 24), (1, 3, Some(5), 12, 360)]
    {
        let graph = lists(&Grid::new(length, dimensions).unwrap().graph());
        for algorithm in Algorithm::ALL {
            check_coverage(&Process { graph: &graph, starts: &[0], algorithm, loops: SelfLoops::Reset, capacity }, steps, unit);
        }
    }
}

#[test]
fn larger_grids_by_iterating_the_process() {
    for (length, dimensions) in [(2, 2), (1, 3)] {
        let grid = Grid::new(length, dimensions).unwrap();
        let graph = lists(&grid.graph());
        for algorithm in Algorithm::ALL {
            let Ok(Prediction::Exact(times)) = grid.cover_times(algorithm, ROOM, Simulation::default(), &mut unwatched) else {
                panic!("a grid this small is computed")
            };
            let right = Process { graph: &graph, starts: &[0], algorithm, loops: SelfLoops::Reset, capacity: None }.cover_times_by_iteration();
            for ((nodes, ours), right) in times.iter().zip(right) {
                assert!(close(ours.finite().unwrap(), right, 1e-11), "{algorithm} covers {nodes} of G({length}, {dimensions}): {ours:?}, {right}");
            }
        }
    }
}

#[test]
fn a_grid_that_does_not_fit_is_simulated_and_says_so() {
    let grid = Grid::new(3, 2).unwrap();
    let simulation = Simulation { runs: 50, ..Simulation::default() };
    for algorithm in Algorithm::ALL {
        let small = grid.cover_times(algorithm, 1 << 10, simulation, &mut unwatched).unwrap();
        let Prediction::Simulated { why: TheoryError::TooLarge { .. }, estimate } = small else { panic!("{small:?}") };
        assert_eq!(estimate.times.len(), 16);
        assert!(matches!(grid.cover_times(algorithm, ROOM, simulation, &mut unwatched), Ok(Prediction::Exact(_))));
        assert!(matches!(grid.coverage(algorithm, None, 50, 1 << 10, simulation, &mut unwatched), Ok(Prediction::Simulated { .. })));
        // A hundred nodes, but never more than eight of them in memory.
        let large = Grid::new(9, 2).unwrap();
        let Ok(Prediction::Exact(coverage)) = large.coverage(algorithm, Some(8), 60, ROOM, simulation, &mut unwatched) else {
            panic!("few sets fit")
        };
        assert_eq!(coverage.nodes(), 100);
        assert!(matches!(large.coverage(algorithm, Some(1), 60, 1 << 10, simulation, &mut unwatched), Err(TheoryError::Parameter(_))));
    }
}

#[test]
fn a_grid_is_symmetric() {
    let grid = Grid::new(2, 2).unwrap();
    let graph = ExplicitGraph::new(&grid.graph(), SelfLoops::Reset).unwrap();
    let coverage = graph.coverage(Algorithm::Sdrs, Some(5), 30, ROOM, &mut unwatched).unwrap();
    let of = |node: u32| {
        let index = coverage.classes().iter().position(|class| class.place == wayfarer_theory::Place::Node(node)).unwrap();
        coverage.reached(index)[30]
    };
    assert!(close(of(1), of(3), 1e-14) && close(of(2), of(6), 1e-14) && close(of(5), of(7), 1e-14) && of(1) > of(2));
}
