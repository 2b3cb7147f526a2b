//! The savings and costs of difference storage, by the formulas of Mukherjee, Tari and Bertok (Memory
//! Efficient State-Space Analysis in Software Model-Checking, section 3.1.4): states at depth 0, δ, 2δ, … are
//! stored whole, all others as the difference from their predecessor.
//!
//! Departures. The paper prints β′_expanded over k − 1 in one line and over k^δ − 1 in the next: the latter
//! is the geometric sum. Its last form of π sums over 0…δ, δ…2δ, …, which counts every δ-th level twice, and
//! drops ε(δ−1)y from the sum over the levels, although the derivation has it there. Both are corrected here.
//! The paper assumes k > 1; a chain, k = 1, is the limit and is the case that Table 1 measures. All sums are
//! scaled by the largest term, so that no k and n overflow.

use crate::TheoryError;

/// A reachability graph in which every state has the same number of new successors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StorageModel {
    /// k: new states per state, above 0; the paper's is above 1.
    branching: f64,
    /// n: the depth of the graph.
    height: u32,
    /// δ: steps between two states that are stored whole, at least 1.
    distance: u32,
    /// x: the size of a difference as a share of a whole state, between 0 and 1.
    ratio: f64,
}

impl StorageModel {
    /// Checks the parameters.
    pub fn new(branching: f64, height: u32, distance: u32, ratio: f64) -> Result<Self, TheoryError> {
        let wrong = |what: String| Err(TheoryError::Parameter(what));
        if !(branching > 0.0 && branching.is_finite()) {
            return wrong(format!("the branching must be a number above 0, not {branching}"));
        }
        if distance == 0 {
            return wrong("the distance between whole states must be at least 1".to_owned());
        }
        if !(0.0..=1.0).contains(&ratio) {
            return wrong(format!("the ratio of a difference to a state must lie between 0 and 1, not {ratio}"));
        }
        Ok(StorageModel { branching, height, distance, ratio })
    }

    /// β_expanded / β_total: the share of states that are stored whole.
    pub fn whole_share(&self) -> f64 {
        self.whole_shares().last().unwrap_or(1.0)
    }

    /// Δ: the share of memory that is saved, (1 − x)(1 − β_expanded/β_total).
    pub fn saved(&self) -> f64 {
        (1.0 - self.ratio) * (1.0 - self.whole_share())
    }

    /// π: the time of one comparison at each level from 0 to n, in units of ε, the time to compare two whole
    /// states. Going back one step takes `step_back` (the paper's y), and every difference is assumed to be
    /// as far as possible, δ − 1 steps, from a whole state. As in the paper, the comparison that follows the
    /// way back is not counted.
    pub fn time(&self, step_back: f64) -> f64 {
        let back = f64::from(self.distance - 1) * step_back;
        self.whole_shares().map(|whole| whole + (1.0 - whole) * back).sum()
    }

    /// The share of states at depth 0, δ, 2δ, … in graphs of height 0, 1, … n. The sums are kept in units of
    /// the largest level: the last level if levels grow, the root if they shrink.
    fn whole_shares(&self) -> impl Iterator<Item = f64> {
        let StorageModel { branching, distance, .. } = *self;
        let (mut whole, mut total, mut level) = (0.0, 0.0, 1.0);
        (0..=self.height).map(move |height| {
            if branching >= 1.0 {
                whole /= branching;
                total /= branching;
            } else if height > 0 {
                level *= branching;
            }
            total += level;
            if height % distance == 0 {
                whole += level;
            }
            whole / total
        })
    }
}

/// The accounting of the paper's Table 1: no links, no table; tokens and differences of four bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOne {
    /// The number of states stored. The paper's figures are those of 499, although it says 500.
    pub states: u64,
    /// m: the number of tokens of the net, each of which is a part of a state.
    pub tokens: u64,
}

impl TableOne {
    /// Bytes per token, and per difference.
    const PART: u64 = 4;

    /// The paper's number of states.
    pub fn new(tokens: u64) -> Self {
        TableOne { states: 499, tokens }
    }

    /// Λ: bytes if every `distance`-th state is whole: ⌈s/δ⌉·4m + (s − ⌈s/δ⌉)·4. A distance of 0 is the
    /// paper's notation for storing all whole.
    pub fn bytes(&self, distance: u64) -> u64 {
        let whole = self.states.div_ceil(distance.max(1));
        whole.saturating_mul(Self::PART).saturating_mul(self.tokens).saturating_add((self.states - whole).saturating_mul(Self::PART))
    }

    /// Δ: the share saved compared with storing all states whole.
    pub fn saved(&self, distance: u64) -> f64 {
        1.0 - self.bytes(distance) as f64 / self.bytes(0).max(1) as f64
    }
}
