//! Who says whether there is memory left. Stores ask before they take a segment; the answer "no" makes them full, never an abort.

/// The memory account of a run.
pub trait Account: Sync {
    /// Whether `bytes` more may be taken now.
    fn allows(&self, bytes: usize) -> bool;

    /// Bytes taken so far by everything in the run.
    fn used(&self) -> usize;
}

/// An account without a limit and without a count, for tests and tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Account for Unlimited {
    fn allows(&self, _bytes: usize) -> bool {
        true
    }

    fn used(&self) -> usize {
        0
    }
}
