//! The small formulas by which the papers compare algorithms and graphs.

use crate::TheoryError;

/// The number of walks R = ln δ / ln(1 − ε) of Grosu and Smolka (Monte Carlo model checking), quoted in the
/// SPIN 2008 paper: R independent runs, each of which finds an existing bug with probability at least
/// `chance` (ε), miss it with probability at most `error` (δ). Round up for a whole number of runs.
pub fn walks_needed(error: f64, chance: f64) -> Result<f64, TheoryError> {
    for (name, value) in [("error", error), ("chance", chance)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(TheoryError::Parameter(format!("the {name} must lie between 0 and 1, not {value}")));
        }
    }
    Ok(error.ln() / (-chance).ln_1p())
}

/// The degree of the regular tree with the given number of nodes and height: m = M^(1/h).
pub fn degree(nodes: f64, height: f64) -> f64 {
    nodes.powf(height.recip())
}

/// The density factor DF = m/h with m = M^(1/h). The papers print m = ʰ√M in a damaged form; this form gives
/// all four factors of their Table 1. Their height is the longest acyclic path, which is NP-hard to find:
/// Wayfarer passes the breadth-first depth and says so. (For a tree T(h, m) the papers use its own m, and the
/// factor is m/h without taking a root.)
pub fn density_factor(nodes: f64, height: f64) -> f64 {
    degree(nodes, height) / height
}

/// The redundancy (n − k)/n of a run that covered k nodes: the share of visits that found nothing new. The
/// papers' n counts the start state as a visit and ours counts turns of the loop, so n = `steps` + 1.
pub fn redundancy(steps: f64, nodes: u64) -> f64 {
    (steps + 1.0 - nodes as f64) / (steps + 1.0)
}

/// ⌈share·M⌉, at least 1 and at most M, not misled by a product that rounding lifted just above a whole number.
pub(crate) fn nodes_of_share(share: f64, nodes: u64) -> u64 {
    let exact = share * nodes as f64;
    ((exact - 1e-9 * exact.abs().max(1.0)).ceil().max(1.0) as u64).min(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_factors_of_table_1() {
        // Fischer's is 0.1507 and was printed as 0.150; the others are rounded.
        for (nodes, height, printed) in [(6032.0, 19.0, 0.083), (20953.0, 72.0, 0.016), (34606.0, 14.0, 0.150), (35182.0, 28.0, 0.052)] {
            assert!((density_factor(nodes, height) - printed).abs() < 1e-3, "{nodes} nodes: {}", density_factor(nodes, height));
        }
    }

    #[test]
    fn walks_miss_no_more_often_than_asked() {
        let walks = walks_needed(0.01, 0.001).unwrap();
        assert!((0.999f64.powf(walks) - 0.01).abs() < 1e-12);
        assert!(walks_needed(0.0, 0.5).is_err() && walks_needed(0.5, 1.0).is_err() && walks_needed(f64::NAN, 0.5).is_err());
    }

    #[test]
    fn redundancy_counts_the_start() {
        // Seven nodes found in six steps: nothing was redundant.
        assert_eq!(redundancy(6.0, 7), 0.0);
        assert_eq!(redundancy(13.0, 7), 0.5);
    }

    #[test]
    fn a_share_is_rounded_up_but_not_by_rounding() {
        assert_eq!(nodes_of_share(0.07, 100), 7);
        assert_eq!(nodes_of_share(0.071, 100), 8);
        assert_eq!(nodes_of_share(0.6, 7), 5);
        assert_eq!(nodes_of_share(0.0, 7), 1);
        assert_eq!(nodes_of_share(1.0, 7), 7);
    }
}
