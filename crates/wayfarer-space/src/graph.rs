//! An explicit graph as a space: small, exact, and completely known, so that searches can be tested against
//! it.

use crate::{Checked, Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// A directed graph whose nodes are states of one word. The k-th edge of a node is the firing of rule k. In a
/// graph with labels, the rules are the labels, and an edge is an outcome of its label's rule.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<Vec<u32>>,
    /// The label of each edge, ascending at each node; empty in a graph without labels.
    labels: Vec<Vec<u32>>,
    starts: Vec<u32>,
    bad: Vec<u32>,
    packing: Packing,
    rules: u32,
}

impl Graph {
    /// A graph with the given successors of each node and the start nodes `starts`. Edges to nodes that do
    /// not exist are left out.
    pub fn new(mut edges: Vec<Vec<u32>>, starts: Vec<u32>) -> Self {
        let nodes = edges.len() as u32;
        for targets in &mut edges {
            targets.retain(|target| *target < nodes);
        }
        let rules = edges.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let bits = 32 - nodes.saturating_sub(1).leading_zeros();
        Graph { edges, labels: Vec::new(), starts, bad: Vec::new(), packing: Packing::new(vec![(1u64 << bits) - 1]), rules }
    }

    /// A graph with the label and the target of each edge and the start nodes `starts`. Labels are numbered
    /// from 0. Edges to nodes that do not exist are left out.
    pub fn labelled(mut edges: Vec<Vec<(u32, u32)>>, starts: Vec<u32>) -> Self {
        let nodes = edges.len() as u32;
        for edges in &mut edges {
            edges.retain(|(_, target)| *target < nodes);
            edges.sort_by_key(|(label, _)| *label);
        }
        let labels: Vec<Vec<u32>> = edges.iter().map(|edges| edges.iter().map(|(label, _)| *label).collect()).collect();
        let rules = labels.iter().filter_map(|labels| labels.last()).max().map_or(0, |last| last + 1);
        let plain = edges.iter().map(|edges| edges.iter().map(|(_, target)| *target).collect()).collect();
        Graph { labels, rules, ..Graph::new(plain, starts) }
    }

    /// Adds the property that none of these nodes is reached.
    pub fn avoiding(mut self, bad: Vec<u32>) -> Self {
        self.bad = bad;
        self
    }

    /// The number of nodes, reachable or not.
    pub fn nodes(&self) -> u32 {
        self.edges.len() as u32
    }

    /// A node's successors.
    pub fn successors(&self, node: u32) -> &[u32] {
        self.edges.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// The firing of the edge at an index of a node.
    fn firing(&self, node: u32, place: usize) -> Firing {
        match self.labels.get(node as usize) {
            Some(labels) => {
                let rule = labels[place];
                Firing { rule, outcome: (place - labels.partition_point(|label| *label < rule)) as u32 }
            }
            None => Firing::of(place as u32),
        }
    }

    /// The index of a node's first edge whose firing is at or after this one.
    fn place(&self, node: u32, from: Firing) -> usize {
        match self.labels.get(node as usize) {
            Some(labels) => {
                let first = labels.partition_point(|label| *label < from.rule);
                let same = labels[first..].iter().take_while(|label| **label == from.rule).count();
                first + same.min(from.outcome as usize)
            }
            None => from.first_rule() as usize,
        }
    }
}

impl Space for Graph {
    fn width(&self) -> Width {
        Width::Fixed(1)
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.rules
    }

    fn properties(&self) -> u32 {
        1
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        steps.clear();
        for (number, start) in self.starts.iter().enumerate() {
            steps.push(0, Firing::of(number as u32), &[0], &[Word::from(*start)]);
        }
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        for (source, state) in batch.iter().enumerate() {
            let node = state[0] as u32;
            let targets = self.successors(node);
            let first = self.place(node, from);
            for (place, target) in targets.iter().enumerate().skip(first) {
                steps.push(source as u32, self.firing(node, place), state, &[Word::from(*target)]);
            }
            steps.enabled.push(targets.len().saturating_sub(first) as u32);
        }
        Completeness::All
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        let targets = self.successors(state[0] as u32);
        if targets.is_empty() {
            return None;
        }
        let firing = self.firing(state[0] as u32, rng.below(targets.len() as u64) as usize);
        Some((firing, self.fire(state, firing, out)))
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let node = state[0] as u32;
        let place = self.place(node, firing);
        match self.successors(node).get(place) {
            Some(target) if self.firing(node, place) == firing => {
                out.clear();
                out.push(Word::from(*target));
                Fired::To
            }
            _ => Fired::Disabled,
        }
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        if self.bad.contains(&(state[0] as u32)) {
            bits.insert(0);
        }
        Ok(())
    }

    fn asks_to_reach(&self, _property: u32) -> bool {
        false
    }

    fn fault_class(&self, _fault: Fault) -> FaultClass {
        FaultClass::Violation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_with_one_label_are_outcomes_of_its_rule() {
        let graph = Graph::labelled(vec![vec![(1, 1), (0, 2), (1, 0), (3, 9)], vec![], vec![(2, 0)]], vec![0]);
        assert_eq!((graph.rules(), graph.successors(0)), (3, &[2, 1, 0][..]));
        let mut batch = States::new(Width::Fixed(1));
        batch.push(&[0]);
        let mut steps = Steps::new(Width::Fixed(1));
        let second = Firing { rule: 1, outcome: 1 };
        for (from, firings) in [
            (Firing::of(0), vec![Firing::of(0), Firing::of(1), second]),
            (Firing::of(0).after(), vec![Firing::of(1), second]),
            (Firing::of(1).after(), vec![second]),
            (second.after(), vec![]),
        ] {
            graph.expand(&batch, from, &mut steps);
            assert_eq!(steps.firings, firings);
        }
        let mut out = Vec::new();
        assert_eq!((graph.fire(&[0], second, &mut out), out.as_slice()), (Fired::To, &[0][..]));
        assert_eq!(graph.fire(&[0], second.after(), &mut out), Fired::Disabled);
        assert_eq!(graph.fire(&[1], Firing::of(0), &mut out), Fired::Disabled);
    }
}
