//! Re-initialisation: when V holds N nodes the memory is emptied and the algorithm starts again from the start states.
//!
//! Theorem 2 of the SPIN 2008 paper (Theorem 1 of the other) prints
//! P_RA(i, n) = P_A(i, n) + Σ_{s ≥ M} [P*(i, s) + (1 − P*(i, s))·P_RA(i, n − s)]. Read as printed it exceeds one: 1 − P* counts runs that did not
//! fill the memory at step s at all, P* = Σ_{|k|=N} P(i, K_s = k) counts a run again for every step it lingers at N nodes, P_A includes |k| = N
//! a second time, and the sum begins at the size of the graph. The right form splits by the step s at which V is *first* full (s ≥ N − 1):
//!
//!   P_RA(i, n) = P(i reached in the first run, by step n) + Σ_{s=1}^{n} P(first full at s, without i) · P_RA(i, n − s)
//!
//! which is what this file solves, forwards in n. A restart takes no step.

use crate::{Algorithm, Coverage, NodeClass};

/// The run up to the moment when V is full.
pub(crate) struct FirstRun {
    classes: Vec<NodeClass>,
    found: Vec<Vec<f64>>,
    missed: Vec<Vec<f64>>,
}

impl FirstRun {
    /// A run in which nothing has happened yet in any of the steps 0 ..= `steps`.
    pub(crate) fn new(classes: Vec<NodeClass>, steps: usize) -> Self {
        let empty = || vec![vec![0.0; steps + 1]; classes.len()];
        let (found, missed) = (empty(), empty());
        FirstRun { classes, found, missed }
    }

    /// Bytes for the given numbers of classes and steps, including the result.
    pub(crate) fn bytes(classes: u64, steps: u64) -> u64 {
        (steps + 1).saturating_mul(classes).saturating_mul(24)
    }

    /// Adds the probability that a given node of the class is found in this step.
    pub(crate) fn find(&mut self, class: usize, step: usize, probability: f64) {
        self.found[class][step] += probability;
    }

    /// Adds the probability that V becomes full in this step and a given node of the class is not in it.
    pub(crate) fn miss(&mut self, class: usize, step: usize, probability: f64) {
        self.missed[class][step] += probability;
    }

    /// The course over all runs. `capacity` is only recorded.
    pub(crate) fn renew(self, algorithm: Algorithm, capacity: Option<u32>) -> Coverage {
        let reached = self.found.iter().zip(&self.missed).map(|(found, missed)| solve(found, missed)).collect();
        Coverage { algorithm, capacity, classes: self.classes, reached }
    }
}

/// x(n) = Σ_{t ≤ n} found(t) + Σ_{s=1}^{n} missed(s)·x(n − s). All terms are positive: nothing cancels.
fn solve(found: &[f64], missed: &[f64]) -> Vec<f64> {
    let filled: Vec<usize> = (1..missed.len()).filter(|step| missed[*step] > 0.0).collect();
    let (first, last) = (filled.first().copied().unwrap_or(1), filled.last().copied().unwrap_or(0));
    let mut so_far = 0.0;
    let mut solution: Vec<f64> = Vec::with_capacity(found.len());
    for (step, now) in found.iter().enumerate() {
        so_far += now;
        let most = last.min(step);
        let again: f64 = if first <= most {
            missed[first..=most].iter().zip(solution[step - most..=step - first].iter().rev()).map(|(miss, later)| miss * later).sum()
        } else {
            0.0
        };
        solution.push((so_far + again).min(1.0));
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_coin_thrown_every_two_steps() {
        // A run of two steps finds the node in its second step with probability 1/4, otherwise it is full
        // without it.
        let found = [0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0];
        let missed = [0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(solve(&found, &missed), [0.0, 0.0, 0.25, 0.25, 1.0 - 0.5625, 1.0 - 0.5625, 1.0 - 0.421875]);
    }
}
