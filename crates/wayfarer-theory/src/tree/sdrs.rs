//! SDRS on trees. Between two jumps the walk makes an *excursion*: from a node of V drawn uniformly it goes down to a leaf. In a tree everything below
//! a new node is new, so an excursion whose first new node is at level j adds one node at each level from j to h. With the uncovered children
//! u_j = m·k_{j−1} − k_j of covered nodes this has probability (u_j/|k|)·Σ_{i=1}^{j} m^{−i}, where i is the length of the way from the node drawn
//! to the new one. (The papers' β_{j,h}·d₀(h−j+1, h) is the same, seen from the vector that it leads to.)
//!
//! Against the print (appendix C of the SPIN 2008 paper): the innovation has no closed part, which would count leaf excursions twice (the terms
//! a·S¹ − b·S⁰ of T_sdrs go); the inner sum of P(n, k, O) begins at l = max(j, s), not max(j, 0); in T_sdrs the sums d₀, d₁ begin at l − j + 1, not
//! l − j; μ has d₁ in its numerator; the closed form of d₁ has a wrong sign. Of all that we need only S⁰ of the closed points, because the tail sum
//! (see [`cover`](crate::cover)) asks for sojourns alone, and every size is found in exactly one step:
//!
//!   Σ_{|k|=s} sojourn(k) = Σ_{|k|=s} S⁰(k)·(1 + Σ_t m^{−t}·(k_t + … + k_h)/|k|)  +  1 for s ≥ 2.

use super::Tree;
use super::prefixes::{Prefixes, Runs};
use crate::cover::Tally;
use crate::effort::{Watch, tell};
use crate::renewal::FirstRun;
use crate::{Algorithm, CoverTimes, TheoryError};

/// Mean cover times, layer by layer in |k|; an excursion reaches at most h layers ahead.
pub(super) fn cover_times(tree: &Tree, prefixes: &Prefixes, watch: Watch<'_>) -> Result<CoverTimes, TheoryError> {
    let height = tree.levels.len() - 1;
    let ways = ways_down(tree);
    let mut tally = Tally::new(tree.nodes as usize, 1);
    let mut ring = vec![vec![0.0; prefixes.len()]; height + 1];
    let (leaves_in_all, nodes) = (u64::from(tree.levels[height]), u64::from(tree.nodes));
    ring[1 % (height + 1)][0] = 1.0;
    for size in 1..tree.nodes as usize {
        tell(watch, size as u64 - 1, nodes - 1)?;
        for prefix in 0..prefixes.len() {
            let entered: f64 = std::mem::take(&mut ring[size % (height + 1)][prefix]);
            if entered == 0.0 {
                continue;
            }
            let leaves = size as u32 - prefixes.sizes[prefix];
            // An excursion finds nothing with probability (k_h/|k|)·(1 + 1/m + … + m^{−h}) = k_h·M/(|k|·m^h).
            // One minus that, in whole numbers:
            let whole = size as u64 * leaves_in_all;
            let closed = entered * whole as f64 / (whole - u64::from(leaves) * nodes) as f64;
            let unit = closed / size as f64;
            let (mut above, mut lingering, mut found) = (1, 0.0, 0.0);
            for (index, count) in prefixes.counts(prefix).iter().copied().chain([leaves]).enumerate() {
                let level = index + 1;
                lingering += f64::from(count) * ways[level];
                let uncovered = tree.degree * above - count;
                above = count;
                let new = height - index;
                if uncovered > 0 {
                    let flow = unit * f64::from(uncovered) * ways[level];
                    found += flow;
                    let target = if level == height { prefix } else { prefixes.links(prefix)[index] as usize };
                    ring[(size + new) % (height + 1)][target] += flow;
                }
                // Excursions that found their first new node at this level or above have at least this many
                // new nodes.
                tally.arrive((size + new).min(nodes as usize), found);
            }
            tally.stay(size, closed + unit * lingering);
        }
        if size >= 2 {
            tally.stay(size, 1.0);
        }
    }
    Ok(tally.finish(Algorithm::Sdrs))
}

/// The run until V holds `full` nodes. A step depends on the closed points of the h + 1 steps before it,
/// which are kept in a ring. Growth leads to greater vectors; the loop therefore runs backwards, and the
/// newest entry can replace the oldest.
pub(super) fn first_run(tree: &Tree, prefixes: &Prefixes, full: u32, steps: usize, run: &mut FirstRun, watch: Watch<'_>) -> Result<(), TheoryError> {
    let height = tree.levels.len() - 1;
    let runs = Runs::new(tree, prefixes, full);
    let powers: Vec<f64> = (0..=height + 1).map(|power| f64::from(tree.degree).powi(-(power as i32))).collect();
    let mut ring = vec![vec![0.0; runs.total()]; height + 1];
    let mut vector = vec![0u32; height];
    let mut found = vec![0.0; height + 1];
    // past[s]: the probability of having been at a closed point here s steps ago.
    let mut past = vec![0.0; height + 2];
    ring[0][0] = 1.0;
    for step in 1..=steps {
        tell(watch, step as u64 - 1, steps as u64)?;
        found.fill(0.0);
        let newest = step % (height + 1);
        for prefix in (0..prefixes.len()).rev() {
            vector[..height - 1].copy_from_slice(prefixes.counts(prefix));
            let links = prefixes.links(prefix);
            for leaves in (0..=runs.most_leaves(prefix)).rev() {
                let here = runs.at(prefix, leaves);
                for (ago, past) in past.iter_mut().enumerate().skip(1) {
                    *past = ring[(step + height + 1 - ago) % (height + 1)][here];
                }
                if past[1..].iter().all(|probability| *probability == 0.0) {
                    continue;
                }
                vector[height - 1] = leaves;
                let size = prefixes.sizes[prefix] + leaves;
                // Excursions to a covered leaf, i steps below the node drawn, and then the jump.
                let nothing: f64 = (0..=height).map(|way| powers[way] * past[way + 1]).sum();
                ring[newest][here] = f64::from(leaves) / f64::from(size) * nothing;
                let mut above = 1;
                for first in 1..=height {
                    let uncovered = tree.degree * above - vector[first - 1];
                    above = vector[first - 1];
                    if uncovered == 0 {
                        continue;
                    }
                    let unit = f64::from(uncovered) / f64::from(size);
                    // The excursion is now `below` levels under its first new node; one more is the jump from the leaf.
                    for below in 0..=height + 1 - first {
                        let flow = unit * (1..=first).map(|way| powers[way] * past[way + below]).sum::<f64>();
                        if first + below <= height {
                            found[first + below] += flow;
                            if size + below as u32 + 1 == full {
                                let new = first - 1..first + below;
                                vector[new.clone()].iter_mut().for_each(|count| *count += 1);
                                tree.missing_shares(&vector).for_each(|(class, share)| run.miss(class, step, flow * share));
                                vector[new].iter_mut().for_each(|count| *count -= 1);
                                break;
                            }
                        } else {
                            let target = if first == height { prefix } else { links[first - 1] as usize };
                            ring[newest][runs.at(target, leaves + 1)] += flow;
                        }
                    }
                }
            }
        }
        for (level, (flow, nodes)) in found.iter().zip(&tree.levels).enumerate().skip(1) {
            run.find(level, step, flow / f64::from(*nodes));
        }
    }
    Ok(())
}

/// Σ_{i=1}^{j} m^{−i} for every level j.
fn ways_down(tree: &Tree) -> Vec<f64> {
    let mut ways = vec![0.0];
    for level in 1..tree.levels.len() {
        // Added up from the small end.
        ways.push((1..=level as i32).rev().map(|way| f64::from(tree.degree).powi(-way)).sum());
    }
    ways
}
