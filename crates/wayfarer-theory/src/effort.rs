//! What a computation costs, told before it starts, and the window through which a caller watches and ends it.

use crate::TheoryError;
use std::ops::ControlFlow;

/// What a computation will take. All counts saturate: `u64::MAX` means "out of reach".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Configurations (level-count vectors, or sets) that are computed.
    pub configurations: u64,
    /// Bytes held at the peak.
    pub bytes: u64,
    /// Elementary operations, to the order of magnitude: a core does some hundred million a second.
    pub operations: u64,
}

impl Cost {
    /// Refuses what does not fit into `allowed` bytes.
    pub(crate) fn within(self, allowed: u64) -> Result<(), TheoryError> {
        if self.bytes > allowed { Err(TheoryError::TooLarge { bytes: self.bytes, allowed }) } else { Ok(()) }
    }
}

/// How far a computation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Parts done.
    pub done: u64,
    /// Parts in all; they take about equally long, except that the layers of a cover time are shorter at both ends.
    pub total: u64,
}

/// Told now and then how far a computation is; answering `Break` ends it with [`TheoryError::Interrupted`].
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A watch that looks away: pass `&mut unwatched`.
pub fn unwatched(_progress: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells the watch, and turns its answer into an error.
pub(crate) fn tell(watch: Watch<'_>, done: u64, total: u64) -> Result<(), TheoryError> {
    match watch(Progress { done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(TheoryError::Interrupted),
    }
}
