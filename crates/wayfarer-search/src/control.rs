//! The loop's only window to the outside: asked at the edge of every round, it may look at a clock, a signal or a terminal.

use crate::Stop;

/// The figures of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Distinct states found; an estimate if the store cannot count them.
    pub states: u64,
    /// Rules fired.
    pub fired: u64,
    /// Steps taken, as the strategy counts them.
    pub steps: u64,
    /// States known but not expanded.
    pub frontier: u64,
    /// The depth reached.
    pub depth: u32,
    /// Violations found.
    pub violations: usize,
    /// The name of the present phase, if the run has several phases and this is not the first.
    pub phase: &'static str,
}

/// Watches a run and may end it.
pub trait Control {
    /// Called at the edge of every round; an answer ends the run for that reason.
    fn ask(&mut self, progress: &Progress) -> Option<Stop>;
}

/// Never ends a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unbounded;

impl Control for Unbounded {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        None
    }
}
