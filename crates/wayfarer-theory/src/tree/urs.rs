//! URS on trees. With u_j = m·k_{j−1} − k_j, the uncovered children at level j of covered nodes, a step finds a node of level j with
//! probability u_j/(m·|k|); this is the papers' β_j, seen from the vector it starts from, and their α = (m·k_h + |k| − 1)/(m·|k|) is the rest.
//! Both are right as printed. The cover time is not computed as printed, (1 − α)S¹ − αS⁰, which is undefined at full cover (α = 1): see
//! [`cover`](crate::cover).

use super::Tree;
use super::prefixes::{NONE, Prefixes, Runs};
use crate::cover::Tally;
use crate::effort::{Watch, tell};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, TheoryError};

/// Mean cover times, layer by layer in |k|: a layer reaches only into the next.
pub(super) fn cover_times(tree: &Tree, prefixes: &Prefixes, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
    let mut tally = Tally::new(tree.nodes as usize, 1);
    let mut layer = vec![0.0; prefixes.len()];
    let mut next = vec![0.0; prefixes.len()];
    layer[0] = 1.0;
    for size in 1..tree.nodes {
        tell(watch, u64::from(size) - 1, u64::from(tree.nodes) - 1)?;
        for prefix in 0..prefixes.len() {
            let visit: f64 = std::mem::take(&mut layer[prefix]);
            if visit == 0.0 {
                continue;
            }
            let leaves = size - prefixes.sizes[prefix];
            // u₁ + … + u_h, in whole numbers.
            let uncovered = f64::from(tree.degree * (size - leaves) - (size - 1));
            tally.arrive(size as usize, visit);
            tally.stay(size as usize, visit * f64::from(tree.degree) * f64::from(size) / uncovered);
            let mut above = 1;
            for (count, link) in prefixes.counts(prefix).iter().zip(prefixes.links(prefix)) {
                if *link != NONE {
                    next[*link as usize] += visit * f64::from(tree.degree * above - count) / uncovered;
                }
                above = *count;
            }
            if tree.degree * above > leaves {
                next[prefix] += visit * f64::from(tree.degree * above - leaves) / uncovered;
            }
        }
        std::mem::swap(&mut layer, &mut next);
    }
    layer.iter().for_each(|visit| tally.arrive(tree.nodes as usize, *visit));
    Ok(tally.finish(Algorithm::Urs))
}

/// The run until V holds `full` nodes. Growth leads to greater vectors, so that one array suffices if the
/// loop runs backwards.
pub(super) fn first_run(tree: &Tree, prefixes: &Prefixes, full: u32, steps: usize, run: &mut FirstRun, watch: Watch<'_>) -> Result<(), TheoryError> {
    let height = tree.levels.len() - 1;
    let runs = Runs::new(tree, prefixes, full);
    let mut now = vec![0.0; runs.total()];
    let mut vector = vec![0u32; height];
    let mut found = vec![0.0; height];
    now[0] = 1.0;
    for step in 1..=steps {
        tell(watch, step as u64 - 1, steps as u64)?;
        found.fill(0.0);
        for prefix in (0..prefixes.len()).rev() {
            vector[..height - 1].copy_from_slice(prefixes.counts(prefix));
            let links = prefixes.links(prefix);
            for leaves in (0..=runs.most_leaves(prefix)).rev() {
                let here = runs.at(prefix, leaves);
                let before: f64 = now[here];
                if before == 0.0 {
                    continue;
                }
                vector[height - 1] = leaves;
                let size = prefixes.sizes[prefix] + leaves;
                let unit = before / (f64::from(tree.degree) * f64::from(size));
                let stay = f64::from(tree.degree * leaves + size - 1);
                now[here] = unit * stay;
                let mut above = 1;
                for level in 0..height {
                    let uncovered = tree.degree * above - vector[level];
                    above = vector[level];
                    if uncovered == 0 {
                        continue;
                    }
                    let flow = unit * f64::from(uncovered);
                    found[level] += flow;
                    if size + 1 == full {
                        vector[level] += 1;
                        tree.missing_shares(&vector).for_each(|(class, share)| run.miss(class, step, flow * share));
                        vector[level] -= 1;
                    } else if level + 1 == height {
                        now[here + 1] += flow;
                    } else {
                        now[runs.at(links[level] as usize, leaves)] += flow;
                    }
                }
            }
        }
        for (level, flow) in found.iter().enumerate() {
            run.find(level + 1, step, flow / f64::from(tree.levels[level + 1]));
        }
    }
    Ok(())
}
