//! The cost of a computation, known before it starts, and the callback through which a caller watches and
//! ends it.

use crate::TheoryError;
use std::ops::ControlFlow;

/// The cost of a computation. All counts saturate: `u64::MAX` means "out of reach".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The number of configurations (level-count vectors, or sets) to compute.
    pub configurations: u64,
    /// Peak memory in bytes.
    pub bytes: u64,
    /// Elementary operations, to the order of magnitude: a core does some hundred million per second.
    pub operations: u64,
}

impl Cost {
    /// Returns an error if the computation does not fit into `allowed` bytes.
    pub(crate) fn within(self, allowed: u64) -> Result<(), TheoryError> {
        if self.bytes > allowed { Err(TheoryError::TooLarge { bytes: self.bytes, allowed }) } else { Ok(()) }
    }
}

/// The progress of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Parts done.
    pub done: u64,
    /// Parts in total, or 0 as long as their number is not known; they take about equally long, except that
    /// the layers of a cover time are shorter at both ends.
    pub total: u64,
}

/// A callback that sees the progress of a computation from time to time; returning `Break` ends it with
/// [`TheoryError::Interrupted`].
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A watch that never interrupts: pass `&mut unwatched`.
pub fn unwatched(_progress: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Calls the watch and turns its answer into an error.
pub(crate) fn tell(watch: Watch<'_>, done: u64, total: u64) -> Result<(), TheoryError> {
    match watch(Progress { done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(TheoryError::Interrupted),
    }
}
