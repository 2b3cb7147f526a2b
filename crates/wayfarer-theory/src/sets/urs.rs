//! URS over sets: Lemma 1 of both papers.
//!
//! From V a step finds the new node v with probability β = (1/|V|) Σ_{u ∈ V, u → v} 1/|Succ(u)| and stays with α = 1 − Σ β. The printed lemma writes
//! F(w̲ₖ) for the fathers of the *last* node w_k, and leaves |C ∩ w|/|C| undefined for a deadlock: it is 1 there, the step is lost.
//! We never form 1 − α: the probability to leave is added up from the β.

use super::{FULL, Sets, members, note_full};
use crate::cover::Tally;
use crate::effort::{Watch, tell};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, ExplicitGraph, TheoryError};

/// Mean cover times: every set is visited at most once, for 1/(1 − α) steps on average.
pub(super) fn cover_times(graph: &ExplicitGraph, sets: &Sets, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
    let rates = rates(graph, sets);
    let mut visits = vec![0.0; sets.masks.len()];
    let mut tally = Tally::new(graph.nodes() as usize, graph.starts());
    if let Some(first) = visits.first_mut() {
        *first = 1.0;
    }
    for set in 0..sets.masks.len() {
        if set % 4096 == 0 {
            tell(watch, set as u64, sets.masks.len() as u64)?;
        }
        let size = sets.masks[set].count_ones() as usize;
        let rates = &rates[sets.first_child[set]..sets.first_child[set + 1]];
        let leave: f64 = rates.iter().sum();
        let visit: f64 = visits[set];
        tally.stay(size, visit / leave);
        for (rate, (_, child)) in rates.iter().zip(sets.growth(set)) {
            let arrival = visit * rate / leave;
            tally.arrive(size + 1, arrival);
            if child != FULL {
                visits[child as usize] += arrival;
            }
        }
    }
    Ok(tally.finish(Algorithm::Urs))
}

/// The run until V is full. A set's children come after it, so that one array suffices if the loop runs
/// backwards.
pub(super) fn first_run(graph: &ExplicitGraph, sets: &Sets, steps: usize, run: &mut FirstRun, watch: Watch<'_>) -> Result<(), TheoryError> {
    let nodes = graph.nodes() as usize;
    let rates = rates(graph, sets);
    let mut now = vec![0.0; sets.masks.len()];
    let mut found = vec![0.0; nodes];
    if let Some(first) = now.first_mut() {
        *first = 1.0;
    }
    for step in 1..=steps {
        tell(watch, step as u64 - 1, steps as u64)?;
        found.fill(0.0);
        for set in (0..sets.masks.len()).rev() {
            let before = now[set];
            if before == 0.0 {
                continue;
            }
            let rates = &rates[sets.first_child[set]..sets.first_child[set + 1]];
            now[set] = before * (1.0 - rates.iter().sum::<f64>()).max(0.0);
            for (rate, (node, child)) in rates.iter().zip(sets.growth(set)) {
                let flow = before * rate;
                found[node] += flow;
                if child == FULL {
                    note_full(run, nodes, sets.masks[set] | (1 << node), step, flow);
                } else {
                    now[child as usize] += flow;
                }
            }
        }
        found.iter().enumerate().for_each(|(node, flow)| run.find(node, step, *flow));
    }
    Ok(())
}

/// β for every child of every set.
fn rates(graph: &ExplicitGraph, sets: &Sets) -> Vec<f64> {
    let nodes = graph.nodes() as usize;
    let share: Vec<f64> = (0..nodes).map(|node| 1.0 / graph.successors(node).len() as f64).collect();
    let mut fathers = vec![0; nodes];
    for node in 0..nodes {
        for target in graph.successors(node) {
            fathers[*target as usize] |= 1u128 << node;
        }
    }
    let mut rates = Vec::with_capacity(sets.children.len());
    for (set, mask) in sets.masks.iter().enumerate() {
        let size = f64::from(mask.count_ones());
        rates.extend(sets.growth(set).map(|(node, _)| members(fathers[node] & mask).map(|father| share[father]).sum::<f64>() / size));
    }
    rates
}
