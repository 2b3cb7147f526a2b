//! An explicit graph as a space: small, exact, and known in full, so that searches can be tested against it.

use crate::{Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// A directed graph whose nodes are states of one word. The edge at place k of a node is the firing of rule k.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<Vec<u32>>,
    starts: Vec<u32>,
    bad: Vec<u32>,
    packing: Packing,
    rules: u32,
}

impl Graph {
    /// A graph with the given successors of each node, started in `starts`. Edges to nodes that do not exist are left out.
    pub fn new(mut edges: Vec<Vec<u32>>, starts: Vec<u32>) -> Self {
        let nodes = edges.len() as u32;
        for targets in &mut edges {
            targets.retain(|target| *target < nodes);
        }
        let rules = edges.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let bits = 32 - nodes.saturating_sub(1).leading_zeros();
        Graph { edges, starts, bad: Vec::new(), packing: Packing::new(vec![(1u64 << bits) - 1]), rules }
    }

    /// Adds the property "none of these nodes is reached".
    pub fn avoiding(mut self, bad: Vec<u32>) -> Self {
        self.bad = bad;
        self
    }

    /// How many nodes it has, reachable or not.
    pub fn nodes(&self) -> u32 {
        self.edges.len() as u32
    }

    /// A node's successors.
    pub fn successors(&self, node: u32) -> &[u32] {
        self.edges.get(node as usize).map_or(&[], Vec::as_slice)
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
            let targets = self.successors(state[0] as u32);
            let first = from.first_rule() as usize;
            for (rule, target) in targets.iter().enumerate().skip(first) {
                steps.push(source as u32, Firing::of(rule as u32), state, &[Word::from(*target)]);
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
        let rule = rng.below(targets.len() as u64) as u32;
        let firing = Firing::of(rule);
        Some((firing, self.fire(state, firing, out)))
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        match self.successors(state[0] as u32).get(firing.rule as usize) {
            Some(target) => {
                out.clear();
                out.push(Word::from(*target));
                Fired::To
            }
            None => Fired::Disabled,
        }
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
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
