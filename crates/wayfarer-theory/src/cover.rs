//! Mean cover times: the mean number of steps until a share of the nodes is covered. The same type serves
//! graphs, trees and grids.
//!
//! The papers compute T(k) = Σₙ n·P(the k-th node is found in step n) with two auxiliary sums S⁰ and S¹. We
//! use the sum over the tail instead, T(k) = Σₙ P(fewer than k nodes are covered after n steps) = Σ over
//! configurations with fewer than k nodes of their mean sojourn. It is the same number, but needs S⁰ alone
//! and no subtractions, and is defined at full cover, where the printed (1−α)S¹ − αS⁰ reads 0·∞ − ∞.

use crate::sum::Sum;
use crate::{Algorithm, criteria};

/// The mean number of steps until a given number of nodes is covered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoverTime {
    /// The mean, in steps (turns of the loop; zero for the start states).
    Finite(f64),
    /// The algorithm may never cover that many: SDRS does not leave a terminal component in which it cannot
    /// jump.
    Infinite {
        /// The probability that it ever does.
        reached: f64,
    },
}

impl CoverTime {
    /// The mean, if it is finite.
    pub fn finite(self) -> Option<f64> {
        match self {
            CoverTime::Finite(steps) => Some(steps),
            CoverTime::Infinite { .. } => None,
        }
    }
}

/// The mean cover time of every number of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverTimes {
    algorithm: Algorithm,
    times: Vec<CoverTime>,
    residual: f64,
}

impl CoverTimes {
    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The number of nodes to cover.
    pub fn nodes(&self) -> u64 {
        self.times.len() as u64
    }

    /// The mean cover time of `nodes` nodes; `None` for zero and for more nodes than there are.
    pub fn of(&self, nodes: u64) -> Option<CoverTime> {
        self.times.get(usize::try_from(nodes.checked_sub(1)?).ok()?).copied()
    }

    /// The mean time of full cover.
    pub fn full(&self) -> CoverTime {
        self.times.last().copied().unwrap_or(CoverTime::Finite(0.0))
    }

    /// The mean cover time of a share between 0 and 1, that is of ⌈share·M⌉ nodes. The papers' response time at error ε is that of 1 − ε.
    pub fn of_share(&self, share: f64) -> CoverTime {
        self.of(criteria::nodes_of_share(share, self.nodes())).unwrap_or(CoverTime::Finite(0.0))
    }

    /// The share of steps that found nothing new when `nodes` nodes are covered, at the mean cover time;
    /// `None` if that is infinite.
    pub fn redundancy(&self, nodes: u64) -> Option<f64> {
        Some(criteria::redundancy(self.of(nodes)?.finite()?, nodes))
    }

    /// All cover times, from one node on.
    pub fn iter(&self) -> impl Iterator<Item = (u64, CoverTime)> + '_ {
        (1..).zip(self.times.iter().copied())
    }

    /// The largest deviation from one of probabilities that must add up to one: the effect of rounding on the
    /// result.
    pub fn residual(&self) -> f64 {
        self.residual
    }
}

/// Collects sojourns by the number of nodes covered and turns them into cover times.
pub(crate) struct Tally {
    sojourn: Vec<Sum>,
    arrived: Vec<Sum>,
    trapped: Vec<Sum>,
    starts: usize,
}

impl Tally {
    /// An empty tally for the given numbers of nodes and start nodes.
    pub(crate) fn new(nodes: usize, starts: usize) -> Self {
        let empty = || vec![Sum::default(); nodes + 1];
        Tally { sojourn: empty(), arrived: empty(), trapped: empty(), starts }
    }

    /// Adds the mean number of steps spent in a configuration of `size` nodes.
    pub(crate) fn stay(&mut self, size: usize, steps: f64) {
        self.sojourn[size].add(steps);
    }

    /// Adds the probability that a configuration is the first of `size` nodes. These add up to the
    /// probability of covering `size` nodes.
    pub(crate) fn arrive(&mut self, size: usize, probability: f64) {
        self.arrived[size].add(probability);
    }

    /// Adds the probability that a configuration of `size` nodes is never left.
    pub(crate) fn trap(&mut self, size: usize, probability: f64) {
        self.trapped[size].add(probability);
    }

    pub(crate) fn finish(self, algorithm: Algorithm) -> CoverTimes {
        let (mut steps, mut lost, mut residual) = (Sum::default(), Sum::default(), 0f64);
        let mut trapped = false;
        let times = (1..self.sojourn.len())
            .map(|size| {
                steps.add(self.sojourn[size - 1].value());
                let missing = self.trapped[size - 1].value();
                trapped |= missing > 0.0;
                lost.add(missing);
                let reached = 1.0 - lost.value();
                if size > self.starts {
                    residual = residual.max((self.arrived[size].value() - reached).abs());
                }
                if trapped { CoverTime::Infinite { reached: reached.clamp(0.0, 1.0) } } else { CoverTime::Finite(steps.value()) }
            })
            .collect();
        CoverTimes { algorithm, times, residual }
    }
}
