//! Where a search begins that cannot hold all start states. If there are many, they come in pieces. They are judged as they come, but such a search begins in one
//! piece, which it draws at random, and may ask for another one later.

use crate::{Selection, Stepping};
use wayfarer_space::{Rng, Steps};

/// One of the pieces of the start states.
#[derive(Clone, Debug)]
pub(super) struct OnePiece {
    rng: Rng,
    /// The pieces that came before the first round, and those that the search asked for.
    seen: u64,
    asked: u64,
}

impl OnePiece {
    pub(super) fn new(seed: u64) -> Self {
        OnePiece { rng: Rng::new(seed, "pieces of start states"), seen: 0, asked: 0 }
    }

    /// Whether the search begins in the piece that came: the only one, or one that it asked for.
    pub(super) fn takes(&mut self, selection: &Selection, steps: &Steps) -> bool {
        if selection.stepping != Stepping::Start {
            self.seen += 1;
        }
        !steps.is_empty() && (selection.stepping == Stepping::Start || self.seen == 1)
    }

    /// Whether there are several.
    pub(super) fn is_one_of_several(&self) -> bool {
        self.seen > 1
    }

    /// Whether the search has yet to ask for the piece to begin in.
    pub(super) fn is_to_be_drawn(&self) -> bool {
        self.is_one_of_several() && self.asked == 0
    }

    /// Selects another piece.
    pub(super) fn ask_for_another(&mut self, selection: &mut Selection) {
        self.asked += 1;
        selection.stepping = Stepping::Start;
        selection.draws.push(self.rng.split(self.asked));
    }
}
