//! Who says whether there is memory left. Stores ask before they take a segment; the answer "no" makes them full, never an abort.

/// The memory account of a run.
pub trait Account: Sync {
    /// Whether `bytes` more may be taken now.
    fn allows(&self, bytes: usize) -> bool;

    /// Bytes taken so far by everything in the run.
    fn used(&self) -> usize;

    /// Memory that was reserved past the allocator is in use from now on.
    fn charge(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Such memory was given back.
    fn refund(&self, bytes: usize) {
        let _ = bytes;
    }

    /// These bytes will be taken without asking: until the promise is [kept](Account::keep), nobody else is allowed them.
    fn promise(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Bytes that were promised are in use now, or no longer needed.
    fn keep(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Whether it wants to be told how many bytes are held, because it only knows what it has allowed. Asked now and then; `asked` counts the calls.
    fn wants_settling(&self, asked: u32) -> bool {
        let _ = asked;
        false
    }

    /// Reports the bytes that are held now. They include everything that was allowed.
    fn settle(&self, held: usize) {
        let _ = held;
    }
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
