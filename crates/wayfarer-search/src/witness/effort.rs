//! The work that shortening may take, counted in firings and states, so that the result does not depend on a clock unless the clock ends it.

use crate::{Control, Progress, Stop};

/// The firings between two questions to the outside.
const EVERY: u64 = 4096;

/// The work that is left, and the outside that may end it sooner.
pub(super) struct Effort<'a> {
    left: u64,
    unasked: u64,
    control: &'a mut dyn Control,
    stopped: Option<Stop>,
}

impl<'a> Effort<'a> {
    pub(super) fn new(left: u64, control: &'a mut dyn Control) -> Self {
        Effort { left, unasked: 0, control, stopped: None }
    }

    /// The work that is left.
    pub(super) fn left(&self) -> u64 {
        if self.stopped.is_some() { 0 } else { self.left }
    }

    /// Takes some of it; false if there was not so much, or if the outside ends it.
    pub(super) fn spend(&mut self, amount: u64) -> bool {
        self.unasked += amount;
        if self.unasked >= EVERY {
            self.ask_outside();
        }
        if self.left() < amount {
            self.left = 0;
            return false;
        }
        self.left -= amount;
        true
    }

    /// Asks the outside, which may end it.
    pub(super) fn ask_outside(&mut self) {
        if self.stopped.is_none() {
            self.unasked = 0;
            self.stopped = self.control.ask(&Progress { phase: "shortening the witness", ..Progress::default() });
        }
    }

    /// Takes what a search took, and why it ended.
    pub(super) fn spend_search(&mut self, states: u64, stop: Stop) {
        self.left = self.left.saturating_sub(states);
        if matches!(stop, Stop::Time | Stop::Interrupted) {
            self.stopped = Some(stop);
        }
    }

    /// Whether the outside ended it.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }
}

impl Control for Effort<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.control.ask(&Progress { phase: "shortening the witness", ..*progress })
    }
}
