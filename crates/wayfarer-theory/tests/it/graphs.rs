//! Lemmas 1 and 2 and the renewal over sets, against brute force on all small graphs.

use crate::brute::{Lists, Process, close, elements};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use wayfarer_space::{Graph, Rng};
use wayfarer_theory::{Algorithm, CoverTime, ExplicitGraph, Place, SelfLoops, TheoryError, unwatched};

pub(crate) const ROOM: u64 = 1 << 30;

/// The library's graph and the brute force's, from one matrix: bit to + from·nodes.
fn from_bits(nodes: usize, bits: u32, with_loops: bool) -> Lists {
    let mut next = 0;
    (0..nodes)
        .map(|from| {
            (0..nodes)
                .filter(|to| {
                    if !with_loops && *to == from {
                        return false;
                    }
                    next += 1;
                    bits & (1 << (next - 1)) != 0
                })
                .collect()
        })
        .collect()
}

fn to_bits(lists: &Lists, order: &[usize], with_loops: bool) -> u32 {
    let (mut bits, mut next) = (0, 0);
    for from in 0..lists.len() {
        for to in (0..lists.len()).filter(|to| with_loops || *to != from) {
            bits |= u32::from(lists[order[from]].contains(&order[to])) << next;
            next += 1;
        }
    }
    bits
}

fn reaches_all(lists: &Lists) -> bool {
    let mut seen = 1u32;
    loop {
        let more = elements(seen).fold(seen, |set, node| lists[node].iter().fold(set, |set, to| set | (1 << to)));
        if more == seen {
            return seen.count_ones() as usize == lists.len();
        }
        seen = more;
    }
}

/// All orders of the nodes that keep node 0 first.
fn orders(nodes: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0]];
    for node in 1..nodes {
        all = all
            .into_iter()
            .flat_map(|order| {
                (1..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, node);
                    order
                })
            })
            .collect();
    }
    all
}

/// One graph of every isomorphism class (node 0 fixed as the start), all nodes reachable.
fn classes(nodes: usize, with_loops: bool) -> impl Iterator<Item = Lists> {
    let width = nodes * if with_loops { nodes } else { nodes - 1 };
    let orders = orders(nodes);
    (0..1u32 << width).map(move |bits| (bits, from_bits(nodes, bits, with_loops))).filter_map(move |(bits, lists)| {
        let first = reaches_all(&lists) && orders.iter().all(|order| to_bits(&lists, order, with_loops) >= bits);
        first.then_some(lists)
    })
}

pub(crate) fn explicit(lists: &Lists, starts: &[usize], loops: SelfLoops) -> ExplicitGraph {
    let edges = lists.iter().map(|targets| targets.iter().map(|to| *to as u32).collect()).collect();
    ExplicitGraph::new(&Graph::new(edges, starts.iter().map(|start| *start as u32).collect()), loops).unwrap()
}

pub(crate) fn check_cover_times(process: &Process<'_>, exactly: bool) {
    let Process { graph, starts, algorithm, loops, .. } = process.clone();
    let times = explicit(graph, starts, loops).cover_times(algorithm, ROOM, &mut unwatched).unwrap();
    assert!(times.residual() < 1e-12, "{graph:?}");
    for (nodes, time) in times.iter() {
        let (mean, chance) = if exactly {
            let (mean, chance) = process.cover_time(nodes as u32, |number| BigRational::from_integer(number.into()));
            (mean.map(|mean| mean.to_f64().unwrap()), chance.to_f64().unwrap())
        } else {
            process.cover_time(nodes as u32, |number| number as f64)
        };
        let right = match (time, mean) {
            (CoverTime::Finite(steps), Some(mean)) => close(steps, mean, if exactly { 1e-13 } else { 1e-9 }),
            (CoverTime::Infinite { reached }, None) => close(reached, chance, 1e-12),
            _ => false,
        };
        assert!(right, "{algorithm} covers {nodes} of {graph:?} from {starts:?}: {time:?}, by brute force {mean:?} with chance {chance}");
    }
}

pub(crate) fn check_coverage(process: &Process<'_>, steps: u32, unit: u128) {
    let Process { graph, starts, algorithm, loops, capacity } = process.clone();
    let coverage = explicit(graph, starts, loops).coverage(algorithm, capacity.map(|capacity| capacity as u32), steps, ROOM, &mut unwatched).unwrap();
    process.course(steps, unit, |step, law, whole| {
        let mut covered = 0.0;
        let mut least = 1f64;
        for (index, class) in coverage.classes().iter().enumerate() {
            let Place::Node(node) = class.place else { panic!("a class of a graph is a node") };
            let weight: u128 = law.iter().filter(|(moment, _)| moment.ever & (1 << node) != 0).map(|(_, weight)| *weight).sum();
            let right = weight as f64 / whole;
            covered += right;
            least = least.min(right);
            let ours = coverage.reached(index)[step as usize];
            assert!(close(ours, right, 1e-13), "{process:?}: node {node} after {step}: {ours}, by brute force {right}");
        }
        assert!(close(coverage.covered(step as usize), covered, 1e-13) && close(coverage.minimum(step as usize), least, 1e-13));
    });
}

impl std::fmt::Debug for Process<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} at {:?} on {:?} from {:?}", self.algorithm, self.capacity, self.graph, self.starts)
    }
}

fn processes<'a>(graph: &'a Lists, loops: SelfLoops, capacity: Option<usize>) -> impl Iterator<Item = Process<'a>> {
    Algorithm::ALL.into_iter().map(move |algorithm| Process { graph, starts: &[0], algorithm, loops, capacity })
}

#[test]
fn cover_times_on_all_graphs_of_up_to_four_nodes() {
    let mut seen = 0;
    for nodes in 1..=4 {
        for graph in classes(nodes, true) {
            for loops in [SelfLoops::Reset, SelfLoops::Absorb] {
                processes(&graph, loops, None).for_each(|process| check_cover_times(&process, nodes < 4));
            }
            seen += 1;
        }
    }
    assert_eq!(seen, CLASSES_WITH_LOOPS);
}

#[test]
fn cover_times_in_rationals_on_all_loop_free_graphs_of_four_nodes() {
    for graph in classes(4, false) {
        processes(&graph, SelfLoops::Reset, None).for_each(|process| check_cover_times(&process, true));
    }
}

#[test]
fn coverage_on_all_graphs_of_up_to_four_nodes() {
    for nodes in 1..=4usize {
        for (number, graph) in classes(nodes, true).enumerate() {
            // Every capacity on every third graph, and memory for all on every graph.
            for capacity in [None, Some(2 + number % 3).filter(|capacity| *capacity <= nodes)] {
                processes(&graph, SelfLoops::Reset, capacity).for_each(|process| check_coverage(&process, 6, 144));
            }
        }
    }
}

#[test]
fn all_loop_free_graphs_of_five_nodes() {
    let mut seen = 0;
    for (number, graph) in classes(5, false).enumerate() {
        seen += 1;
        processes(&graph, SelfLoops::Reset, None).for_each(|process| check_cover_times(&process, false));
        if number % 8 == 0 {
            let capacity = [None, Some(2), Some(3), Some(4)][number / 8 % 4];
            processes(&graph, SelfLoops::Reset, capacity).for_each(|process| check_coverage(&process, 7, 3600));
        }
    }
    assert_eq!(seen, CLASSES_OF_FIVE);
}

#[test]
fn random_graphs_with_loops_several_starts_and_unreachable_nodes() {
    let mut rng = Rng::new(3, "theory graphs");
    for _ in 0..400 {
        let nodes = 3 + rng.below(4) as usize;
        let density = 1 + rng.below(4);
        let graph: Lists = (0..nodes).map(|_| (0..nodes).filter(|_| rng.below(6) < density).collect()).collect();
        let starts: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.below(nodes as u64) as usize).collect();
        let loops = if rng.below(2) == 0 { SelfLoops::Reset } else { SelfLoops::Absorb };
        let capacity = Some(3 + rng.below(3) as usize);
        for algorithm in Algorithm::ALL {
            check_cover_times(&Process { graph: &graph, starts: &starts, algorithm, loops, capacity: None }, false);
            let reachable = explicit(&graph, &starts, loops).nodes() as usize;
            // Brute force restarts when V is full even if nothing remains to be found; so do we, and it makes
            // no difference.
            let capacity = capacity.filter(|capacity| *capacity <= reachable);
            check_coverage(&Process { graph: &graph, starts: &starts, algorithm, loops, capacity }, 8, 3600);
        }
    }
}

#[test]
fn what_cannot_be_computed_is_said() {
    let graph = Graph::new(vec![vec![0, 0, 1], vec![]], vec![7]);
    assert_eq!(ExplicitGraph::new(&graph, SelfLoops::Reset).unwrap_err(), TheoryError::NoStart);

    let complete: Vec<Vec<u32>> = (0..40).map(|_| (0..40).collect()).collect();
    let graph = ExplicitGraph::new(&Graph::new(complete, vec![0]), SelfLoops::Reset).unwrap();
    for algorithm in Algorithm::ALL {
        let answer = graph.cover_times(algorithm, 1 << 24, &mut unwatched);
        assert!(matches!(answer, Err(TheoryError::TooLarge { allowed, .. }) if allowed == 1 << 24), "{answer:?}");
        assert!(matches!(graph.coverage(algorithm, Some(1), 10, ROOM, &mut unwatched), Err(TheoryError::Parameter(_))));
        assert!(graph.coverage(algorithm, Some(3), 10, ROOM, &mut unwatched).is_ok(), "a small capacity has few sets");
        let mut stop = |_| std::ops::ControlFlow::Break(());
        assert_eq!(graph.coverage(algorithm, Some(3), 10, ROOM, &mut stop).unwrap_err(), TheoryError::Interrupted);
    }
}

#[test]
fn several_firings_to_one_node_count_once() {
    let once = ExplicitGraph::new(&Graph::new(vec![vec![1, 2], vec![], vec![]], vec![0]), SelfLoops::Reset).unwrap();
    let thrice = ExplicitGraph::new(&Graph::new(vec![vec![2, 1, 2, 2], vec![], vec![]], vec![0]), SelfLoops::Reset).unwrap();
    for algorithm in Algorithm::ALL {
        assert_eq!(once.cover_times(algorithm, ROOM, &mut unwatched), thrice.cover_times(algorithm, ROOM, &mut unwatched));
    }
}

/// The number of classes, by Burnside's lemma: a smaller number would mean that the enumeration skips some.
const CLASSES_WITH_LOOPS: usize = 2 + 8 + 136 + 6752;
const CLASSES_OF_FIVE: usize = 32_404;
