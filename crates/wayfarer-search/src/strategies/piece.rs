//! Where a search begins that cannot hold all start states. If there are many, they come in pieces: such a search begins in one piece, which it draws at random,
//! and may ask for another one later. All of them were judged before.

use crate::{Selection, Stepping};
use wayfarer_space::{Rng, Steps};

/// One of the pieces of the start states.
#[derive(Clone, Debug)]
pub(super) struct OnePiece {
    rng: Rng,
    /// The pieces that came before the search began, and those that it asked for.
    seen: u64,
    asked: u64,
}

impl OnePiece {
    pub(super) fn new(seed: u64) -> Self {
        OnePiece { rng: Rng::new(seed, "pieces of start states"), seen: 0, asked: 0 }
    }

    /// Whether a piece is the one to begin in, rather than the one before it. Of those that come before the search each has the same odds.
    pub(super) fn takes(&mut self, selection: &Selection, steps: &Steps) -> bool {
        if steps.is_empty() {
            return false;
        }
        if selection.stepping == Stepping::Start {
            return true;
        }
        self.seen += 1;
        self.seen == 1 || self.rng.below(self.seen) == 0
    }

    /// Whether there are others.
    pub(super) fn is_one_of_several(&self) -> bool {
        self.seen > 1
    }

    /// Selects another piece.
    pub(super) fn ask_for_another(&mut self, selection: &mut Selection) {
        self.asked += 1;
        selection.stepping = Stepping::Start;
        selection.draws.push(self.rng.split(self.asked));
    }
}
