//! Small graphs and what brute force knows about them.

use std::collections::VecDeque;
use wayfarer_space::{Graph, Rng};

/// A random graph; `degree` bounds the successors of a node.
pub(crate) fn random(rng: &mut Rng, nodes: u32, degree: u64) -> Graph {
    let edges = (0..nodes).map(|_| (0..rng.below(degree + 1)).map(|_| rng.below(u64::from(nodes)) as u32).collect()).collect();
    let starts = (0..1 + rng.below(3)).map(|_| rng.below(u64::from(nodes)) as u32).collect();
    Graph::new(edges, starts)
}

/// The distance of every node from `starts`; none if it cannot be reached.
pub(crate) fn distances(graph: &Graph, starts: &[u32]) -> Vec<Option<u32>> {
    let mut distance = vec![None; graph.nodes() as usize];
    let mut queue = VecDeque::new();
    for start in starts {
        if distance[*start as usize].is_none() {
            distance[*start as usize] = Some(0);
            queue.push_back(*start);
        }
    }
    while let Some(node) = queue.pop_front() {
        for next in graph.successors(node) {
            if distance[*next as usize].is_none() {
                distance[*next as usize] = distance[node as usize].map(|so_far: u32| so_far + 1);
                queue.push_back(*next);
            }
        }
    }
    distance
}

/// The nodes in the order in which a recursive depth-first search enters them.
pub(crate) fn preorder(graph: &Graph, starts: &[u32]) -> Vec<u32> {
    fn enter(graph: &Graph, node: u32, order: &mut Vec<u32>) {
        if !order.contains(&node) {
            order.push(node);
            for next in graph.successors(node) {
                enter(graph, *next, order);
            }
        }
    }
    let mut order = Vec::new();
    for start in starts {
        enter(graph, *start, &mut order);
    }
    order
}
