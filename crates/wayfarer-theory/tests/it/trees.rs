//! The recursions over level counts, against brute force on small trees and against the recursions over sets on larger ones.

use crate::brute::{Lists, Process, close};
use crate::graphs::{ROOM, explicit};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use wayfarer_space::Graph;
use wayfarer_theory::{Algorithm, Coverage, ExplicitGraph, Place, SelfLoops, TheoryError, Tree, unwatched};

pub(crate) fn lists(graph: &Graph) -> Lists {
    (0..graph.nodes()).map(|node| graph.successors(node).iter().map(|to| *to as usize).collect()).collect()
}

fn process(graph: &Lists, algorithm: Algorithm, capacity: Option<usize>) -> Process<'_> {
    Process { graph, starts: &[0], algorithm, loops: SelfLoops::Reset, capacity }
}

fn full(height: u32, degree: u32, algorithm: Algorithm) -> f64 {
    Tree::new(height, degree).unwrap().cover_times(algorithm, ROOM, &mut unwatched).unwrap().full().finite().unwrap()
}

#[test]
fn cover_times_in_rationals() {
    for (height, degree) in [(1, 1), (1, 2), (1, 3), (2, 2), (3, 1), (5, 1)] {
        let tree = Tree::new(height, degree).unwrap();
        let graph = lists(&tree.graph());
        for algorithm in Algorithm::ALL {
            let times = tree.cover_times(algorithm, ROOM, &mut unwatched).unwrap();
            assert_eq!(times.nodes(), graph.len() as u64);
            for (nodes, time) in times.iter() {
                let (mean, _) = process(&graph, algorithm, None).cover_time(nodes as u32, |number| BigRational::from_integer(number.into()));
                let (ours, right) = (time.finite().unwrap(), mean.unwrap().to_f64().unwrap());
                assert!(close(ours, right, 1e-14), "{algorithm} covers {nodes} of T({height}, {degree}): {ours}, by brute force {right}");
            }
        }
    }
}

#[test]
fn cover_times_by_iterating_the_process() {
    for (height, degree) in [(2, 3), (1, 5), (7, 1)] {
        let tree = Tree::new(height, degree).unwrap();
        let graph = lists(&tree.graph());
        for algorithm in Algorithm::ALL {
            let times = tree.cover_times(algorithm, ROOM, &mut unwatched).unwrap();
            let right = process(&graph, algorithm, None).cover_times_by_iteration();
            for ((nodes, ours), right) in times.iter().zip(right) {
                let ours = ours.finite().unwrap();
                assert!(close(ours, right, 1e-11), "{algorithm} covers {nodes} of T({height}, {degree}): {ours}, by iteration {right}");
            }
        }
    }
}

#[test]
fn cover_times_agree_with_sets() {
    for (height, degree) in [(2, 3), (3, 2), (2, 4), (1, 12), (15, 1)] {
        let tree = Tree::new(height, degree).unwrap();
        let graph = ExplicitGraph::new(&tree.graph(), SelfLoops::Reset).unwrap();
        assert_eq!((graph.nodes(), graph.depth()), (tree.nodes(), height));
        for algorithm in Algorithm::ALL {
            let times = tree.cover_times(algorithm, ROOM, &mut unwatched).unwrap();
            assert!(times.residual() < 1e-13);
            for (one, other) in times.iter().zip(graph.cover_times(algorithm, ROOM, &mut unwatched).unwrap().iter()) {
                assert!(close(one.1.finite().unwrap(), other.1.finite().unwrap(), 1e-12), "{algorithm} on T({height}, {degree})");
            }
        }
    }
}

/// The level of each node of a tree whose nodes are numbered level by level.
fn levels(tree: &Tree) -> Vec<usize> {
    (0..=tree.height()).flat_map(|level| vec![level as usize; tree.degree().pow(level) as usize]).collect()
}

fn tree_coverage(tree: &Tree, algorithm: Algorithm, capacity: Option<u32>, steps: u32) -> Coverage {
    tree.coverage(algorithm, capacity, steps, ROOM, &mut unwatched).unwrap()
}

#[test]
fn coverage_exactly() {
    // The unit is a common multiple of |V|·m for all |V| that occur.
    for (height, degree, capacity, steps, unit) in [
        (1, 2, None, 12, 12),
        (1, 3, Some(3), 12, 36),
        (2, 2, None, 11, 840),
        (2, 2, Some(3), 15, 12),
        (2, 2, Some(4), 15, 24),
        (2, 2, Some(6), 14, 120),
        (3, 1, Some(2), 12, 12),
        (3, 1, Some(3), 12, 12),
        (2, 3, Some(5), 10, 180),
    ] {
        let tree = Tree::new(height, degree).unwrap();
        let graph = lists(&tree.graph());
        for algorithm in Algorithm::ALL {
            let coverage = tree_coverage(&tree, algorithm, capacity, steps);
            process(&graph, algorithm, capacity.map(|capacity| capacity as usize)).course(steps, unit, |step, law, whole| {
                for (node, level) in levels(&tree).into_iter().enumerate() {
                    let weight: u128 = law.iter().filter(|(moment, _)| moment.ever & (1 << node) != 0).map(|(_, weight)| *weight).sum();
                    let (ours, right) = (coverage.reached(level)[step as usize], weight as f64 / whole);
                    assert!(
                        close(ours, right, 1e-14),
                        "{algorithm} on T({height}, {degree}) at {capacity:?}: node {node} after {step}: {ours}, {right}"
                    );
                }
            });
        }
    }
}

#[test]
fn coverage_agrees_with_sets() {
    for (height, degree) in [(2, 3), (3, 2), (10, 1)] {
        let tree = Tree::new(height, degree).unwrap();
        let graph = explicit(&lists(&tree.graph()), &[0], SelfLoops::Reset);
        for algorithm in Algorithm::ALL {
            for capacity in [None, Some(2), Some(3), Some(5), Some(8), Some(tree.nodes()), Some(tree.nodes() + 7)] {
                let ours = tree_coverage(&tree, algorithm, capacity, 120);
                let sets = graph.coverage(algorithm, capacity, 120, ROOM, &mut unwatched).unwrap();
                assert_eq!((ours.nodes(), ours.capacity(), ours.steps()), (sets.nodes(), sets.capacity(), sets.steps()));
                for step in 0..=120 {
                    assert!(close(ours.covered(step), sets.covered(step), 1e-12) && close(ours.minimum(step), sets.minimum(step), 1e-12));
                    for (index, class) in sets.classes().iter().enumerate() {
                        let Place::Node(node) = class.place else { panic!("a class of a graph is a node") };
                        let level = levels(&tree)[node as usize];
                        assert!(
                            close(ours.reached(level)[step], sets.reached(index)[step], 1e-12),
                            "{algorithm} at {capacity:?}, node {node}, {step}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_tail_of_coverage_adds_up_to_the_cover_time() {
    // Two computations that share nothing: Σₙ (M − Cov(n)) is the sum over k of the mean cover times.
    for algorithm in Algorithm::ALL {
        let tree = Tree::new(3, 2).unwrap();
        let coverage = tree_coverage(&tree, algorithm, None, 4000);
        let tail: f64 = (0..=4000).map(|step| 15.0 - coverage.covered(step)).sum();
        let times: f64 = tree.cover_times(algorithm, ROOM, &mut unwatched).unwrap().iter().map(|(_, time)| time.finite().unwrap()).sum();
        assert!(close(tail, times, 1e-10), "{algorithm}: {tail} and {times}");
    }
}

#[test]
fn a_large_tree_within_little_memory() {
    let tree = Tree::new(7, 2).unwrap();
    for algorithm in Algorithm::ALL {
        let cost = tree.cover_times_cost(algorithm);
        assert!(cost.configurations > 500_000 && cost.bytes < 10 << 20, "{cost:?}");
        assert!(matches!(tree.cover_times(algorithm, cost.bytes - 1, &mut unwatched), Err(TheoryError::TooLarge { .. })));
        let mut seen = 0;
        let mut watch = |progress: wayfarer_theory::Progress| {
            assert!(progress.done < progress.total);
            seen += 1;
            std::ops::ControlFlow::Continue(())
        };
        let times = tree.cover_times(algorithm, cost.bytes, &mut watch).unwrap();
        assert!(times.residual() < 1e-12, "{algorithm}: {}", times.residual());
        assert_eq!(seen, 254);
    }
}

#[test]
fn ten_million_vectors_in_one_mebibyte() {
    let tree = Tree::new(3, 20).unwrap();
    for algorithm in Algorithm::ALL {
        assert!(tree.cover_times_cost(algorithm).configurations > 10_000_000);
        let times = tree.cover_times(algorithm, 1 << 20, &mut unwatched).unwrap();
        assert!(times.residual() < 1e-11, "{algorithm}: {}", times.residual());
    }
}

#[test]
fn closed_forms() {
    // A star: with k leaves covered, the root is drawn with 1/(k + 1) and leads to a new leaf with (m − k)/m.
    let star: f64 = (0..1000).map(|covered| f64::from(covered + 1) * 1000.0 / f64::from(1000 - covered)).sum();
    assert!(close(full(1, 1000, Algorithm::Urs), star, 1e-13));
    // A path: URS must draw its end, SDRS walks down without a jump.
    assert!(close(full(200, 1, Algorithm::Urs), 200.0 * 201.0 / 2.0, 1e-13));
    assert!(close(full(200, 1, Algorithm::Sdrs), 200.0, 1e-13));
}

#[test]
fn what_makes_no_tree_is_refused() {
    assert!(matches!(Tree::new(0, 3), Err(TheoryError::Parameter(_))));
    assert!(matches!(Tree::new(3, 0), Err(TheoryError::Parameter(_))));
    assert!(matches!(Tree::new(40, 3), Err(TheoryError::TooManyNodes { .. })));
    assert!(matches!(Tree::new(u32::MAX, u32::MAX), Err(TheoryError::TooManyNodes { .. })));
    let tree = Tree::new(3, 3).unwrap();
    assert!(matches!(tree.coverage(Algorithm::Urs, Some(1), 5, ROOM, &mut unwatched), Err(TheoryError::Parameter(_))));
    assert_eq!(tree.coverage(Algorithm::Sdrs, Some(2), 0, ROOM, &mut unwatched).unwrap().covered(0), 1.0);
    // A computation out of reach is refused at once, without trying.
    let huge = Tree::new(4, 40).unwrap();
    assert!(matches!(huge.cover_times(Algorithm::Sdrs, ROOM, &mut unwatched), Err(TheoryError::TooLarge { .. })));
}

#[test]
fn check_values_of_the_notes() {
    for (height, degree, urs, sdrs) in [(2, 2, 26.278, 30.933), (2, 3, 99.113, 115.75), (3, 2, 91.226, 99.775)] {
        for (algorithm, right) in [(Algorithm::Urs, urs), (Algorithm::Sdrs, sdrs)] {
            let ours = full(height, degree, algorithm);
            assert!((ours - right).abs() < 5.01e-4 * if right == 115.75 { 10.0 } else { 1.0 }, "{algorithm} on T({height}, {degree}): {ours}");
        }
    }
}
