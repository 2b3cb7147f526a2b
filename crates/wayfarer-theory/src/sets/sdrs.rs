//! SDRS over sets: Lemma 2 of both papers.
//!
//! The walk is at a *closed* point C when it has just jumped (to a node of V drawn uniformly and not yet used), else at an open point at some node.
//! In the printed lemma the last bracket, with the factor 1_{w_k}(v), stands outside of the sum over u ∈ F(v) ∩ w̲ₖ: it belongs inside, with u ranging
//! over F(v) ∩ w̲ₖ₋₁, or u would be free. The initial condition, which is not printed, is C at the start set.
//!
//! Without a deadlock the walk never jumps: it may be trapped in a component all of whose nodes are in V. Then no greater set is reached, and the mean
//! cover time is infinite. Traps are found from the graph, not from small numbers.

use super::{FULL, Mask, Sets, members, note_full, rank};
use crate::cover::Tally;
use crate::effort::{Watch, tell};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, ExplicitGraph, TheoryError};

/// Mean cover times. The walk enters a set at its newest node and moves inside it as an absorbing chain over |V| + 1 places, which is solved by
/// elimination without subtractions (Grassmann, Taksar and Heyman), so that every mean sojourn has nearly full relative accuracy.
pub(super) fn cover_times(graph: &ExplicitGraph, sets: &Sets, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
    let places = Places::new(sets, 0);
    let mut entries = vec![0.0; places.total];
    let mut tally = Tally::new(graph.nodes() as usize, graph.starts());
    let mut chain = Chain::default();
    let mut flows = vec![0.0; graph.nodes() as usize];
    for set in 0..sets.masks.len() {
        if set % 1024 == 0 {
            tell(watch, set as u64, sets.masks.len() as u64)?;
        }
        let mask = sets.masks[set];
        let size = mask.count_ones() as usize;
        let trap = trapped(graph, sets, mask);
        chain.clear(size + 1);
        for (place, node) in members(mask).enumerate() {
            let entry = entries[places.first[set] + place];
            if trap & (1 << node) != 0 {
                tally.trap(size, entry);
                chain.entry[place] = 0.0;
                continue;
            }
            chain.entry[place] = entry;
            let jump = 1.0 / size as f64;
            if graph.resets(node) {
                chain.go(place, size, 1.0);
                chain.go(size, size, jump);
            } else {
                let share = 1.0 / graph.successors(node).len() as f64;
                for target in graph.successors(node).iter().map(|target| *target as usize) {
                    // From the closed point the walk first draws this node and then moves on from it.
                    for (from, weight) in [(place, share), (size, jump * share)] {
                        if mask & (1 << target) != 0 && trap & (1 << target) == 0 {
                            chain.go(from, rank(mask, target), weight);
                        } else {
                            chain.leave(from, weight);
                        }
                    }
                }
            }
        }
        if trap != 0 {
            // A trapped node that is drawn from V at a jump never leaves the trap.
            chain.leave(size, f64::from(trap.count_ones()) / size as f64);
        }
        chain.entry[size] = if set == 0 { 1.0 } else { 0.0 };
        chain.solve();
        let stays = &chain.entry;
        tally.stay(size, stays.iter().sum());
        tally.trap(size, stays[size] * f64::from(trap.count_ones()) / size as f64);
        flows.fill(0.0);
        for (place, node) in members(mask).enumerate().filter(|(_, node)| trap & (1 << node) == 0 && !graph.resets(*node)) {
            let flow = (stays[place] + stays[size] / size as f64) / graph.successors(node).len() as f64;
            graph.successors(node).iter().for_each(|target| flows[*target as usize] += flow);
        }
        members(trap).for_each(|node| tally.trap(size, flows[node]));
        for (node, child) in sets.growth(set) {
            tally.arrive(size + 1, flows[node]);
            if child != FULL {
                let child = child as usize;
                entries[places.first[child] + rank(sets.masks[child], node)] += flows[node];
            }
        }
    }
    Ok(tally.finish(Algorithm::Sdrs))
}

/// The run until V is full, step by step over (set, open node or closed). Children come after their sets, so
/// that one array suffices if the loop runs backwards.
pub(super) fn first_run(graph: &ExplicitGraph, sets: &Sets, steps: usize, run: &mut FirstRun, watch: Watch<'_>) -> Result<(), TheoryError> {
    let places = Places::new(sets, 1);
    let mut now = vec![0.0; places.total];
    if !sets.masks.is_empty() {
        now[places.first[0] + sets.masks[0].count_ones() as usize] = 1.0;
    }
    let nodes = graph.nodes() as usize;
    let mut before = Vec::new();
    // The flow into each node from the current set, and the probability found at each node over all sets.
    let (mut flows, mut found) = (vec![0.0; nodes], vec![0.0; nodes]);
    for step in 1..=steps {
        tell(watch, step as u64 - 1, steps as u64)?;
        found.fill(0.0);
        for set in (0..sets.masks.len()).rev() {
            let (mask, first) = (sets.masks[set], places.first[set]);
            let size = mask.count_ones() as usize;
            before.clear();
            before.extend_from_slice(&now[first..first + size + 1]);
            if before.iter().all(|probability| *probability == 0.0) {
                continue;
            }
            now[first + size] = 0.0;
            flows.fill(0.0);
            for (place, node) in members(mask).enumerate() {
                let here = before[place] + before[size] / size as f64;
                if graph.resets(node) {
                    now[first + size] += here;
                } else if here > 0.0 {
                    let flow = here / graph.successors(node).len() as f64;
                    graph.successors(node).iter().for_each(|target| flows[*target as usize] += flow);
                }
            }
            members(mask).enumerate().for_each(|(place, node)| now[first + place] = flows[node]);
            for (node, child) in sets.growth(set) {
                found[node] += flows[node];
                if child == FULL {
                    note_full(run, nodes, mask | (1 << node), step, flows[node]);
                } else {
                    let child = child as usize;
                    now[places.first[child] + rank(sets.masks[child], node)] += flows[node];
                }
            }
        }
        found.iter().enumerate().for_each(|(node, flow)| run.find(node, step, *flow));
    }
    Ok(())
}

/// Nodes of V from which no step leaves V and no jump comes, however long the walk goes on.
fn trapped(graph: &ExplicitGraph, sets: &Sets, mask: Mask) -> Mask {
    let mut free = members(mask).filter(|node| graph.resets(*node) || sets.successors[*node] & !mask != 0).fold(0, |free, node| free | (1 << node));
    loop {
        let more = members(mask & !free).filter(|node| sets.successors[*node] & free != 0).fold(free, |free, node| free | (1 << node));
        if more == free {
            return mask & !free;
        }
        free = more;
    }
}

/// The start of each set's places in one flat array.
struct Places {
    first: Vec<usize>,
    total: usize,
}

impl Places {
    /// One place for every node of every set, and `more` additional ones.
    fn new(sets: &Sets, more: usize) -> Self {
        let mut total = 0;
        let first = sets
            .masks
            .iter()
            .map(|mask| {
                let first = total;
                total += mask.count_ones() as usize + more;
                first
            })
            .collect();
        Places { first, total }
    }
}

/// An absorbing chain of a few places, dense.
#[derive(Default)]
struct Chain {
    size: usize,
    step: Vec<f64>,
    exit: Vec<f64>,
    /// The entries before [`solve`](Chain::solve), the mean sojourns after it.
    entry: Vec<f64>,
}

impl Chain {
    fn clear(&mut self, size: usize) {
        self.size = size;
        for (column, length) in [(&mut self.step, size * size), (&mut self.exit, size), (&mut self.entry, size)] {
            column.clear();
            column.resize(length, 0.0);
        }
    }

    fn go(&mut self, from: usize, to: usize, weight: f64) {
        self.step[from * self.size + to] += weight;
    }

    fn leave(&mut self, from: usize, weight: f64) {
        self.exit[from] += weight;
    }

    /// Replaces the entries by the mean number of steps spent in each place. A place that nothing leads to
    /// may be isolated: it gets 0.
    fn solve(&mut self) {
        let size = self.size;
        let mut leaving = vec![0.0; size];
        for gone in (0..size).rev() {
            let row = gone * size;
            leaving[gone] = self.step[row..row + gone].iter().sum::<f64>() + self.exit[gone];
            if leaving[gone] == 0.0 {
                continue;
            }
            for other in 0..gone {
                let share = self.step[other * size + gone] / leaving[gone];
                if share > 0.0 {
                    for to in 0..gone {
                        self.step[other * size + to] += share * self.step[row + to];
                    }
                    self.exit[other] += share * self.exit[gone];
                }
            }
            let share = self.entry[gone] / leaving[gone];
            for to in 0..gone {
                self.entry[to] += share * self.step[row + to];
            }
        }
        for (place, leaving) in leaving.into_iter().enumerate() {
            let arriving: f64 = self.entry[place] + (0..place).map(|from| self.entry[from] * self.step[from * size + place]).sum::<f64>();
            self.entry[place] = if leaving > 0.0 { arriving / leaving } else { 0.0 };
        }
    }
}
