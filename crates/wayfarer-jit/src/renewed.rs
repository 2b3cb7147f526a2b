//! Code that is replaced by better code after some uses.

use crate::compiled::NOT_YET;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Marks the address of code that will be replaced. Code begins at even addresses.
const EARLY: usize = 1;
/// Uses of early code until the next attempt to make better code, if another thread was compiling.
pub(crate) const WHILE_BUSY: u32 = 64;

/// The address of a function's code.
#[derive(Default)]
pub(crate) struct Renewed {
    /// The address, or [`NOT_YET`]; with [`EARLY`] if the code will be replaced.
    code: AtomicUsize,
    /// The uses until then.
    left: AtomicU32,
}

impl Renewed {
    /// The code for one more use, or [`NOT_YET`] if there is none or it is time for better code.
    #[inline]
    pub(crate) fn take(&self) -> usize {
        let address = self.code.load(Ordering::Acquire);
        if address & EARLY == 0 { address } else { self.take_early(address - EARLY) }
    }

    /// The code, if it will not be replaced.
    #[inline]
    pub(crate) fn settled(&self) -> Option<usize> {
        let address = self.code.load(Ordering::Acquire);
        (address != NOT_YET && address & EARLY == 0).then_some(address)
    }

    /// Counts the uses of code that will be replaced. A few that are lost between threads do not matter.
    #[inline(never)]
    fn take_early(&self, address: usize) -> usize {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return NOT_YET;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        address
    }

    /// Provides code, if `uses` is given for only so many uses.
    pub(crate) fn serve(&self, address: usize, uses: Option<u32>) {
        self.left.store(uses.unwrap_or(0), Ordering::Relaxed);
        self.code.store(address | if uses.is_some() { EARLY } else { 0 }, Ordering::Release);
    }
}
