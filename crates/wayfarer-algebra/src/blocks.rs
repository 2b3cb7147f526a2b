//! The memory of small blocks. The system's allocator rounds each of them up, which no counting allocator sees.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of blocks that are never given back.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    asked: AtomicUsize,
    rounding: AtomicUsize,
}

impl Blocks {
    /// Counts a block of so many bytes; nothing is allocated for none.
    pub(crate) fn add(&self, bytes: usize) {
        if bytes > 0 {
            self.asked.fetch_add(bytes, Ordering::Relaxed);
            self.rounding.fetch_add((bytes + 8).next_multiple_of(16).max(32) - bytes, Ordering::Relaxed);
        }
    }

    /// The bytes that were asked for.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// The bytes that were taken besides.
    pub(crate) fn rounding(&self) -> usize {
        self.rounding.load(Ordering::Relaxed)
    }
}
