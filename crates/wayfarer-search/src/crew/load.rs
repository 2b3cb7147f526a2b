//! The memory of rounds that are large because their states have very many successors.
//!
//! A round takes its memory while it is made, and nobody can ask for it in advance. So a worker begins such rounds only
//! if the budget has room for one, and the room is promised to it until it holds the memory.

use crate::Account;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The size of large rounds, and the account that they are taken from. It lasts as long as a job: a new phase of the job
/// has to know the size before its first round.
pub(crate) struct Load<'a> {
    account: &'a dyn Account,
    /// The most bytes that a round of a single state took, if that was much.
    weight: AtomicUsize,
    /// Held while a worker asks for room, so that two are not promised the same.
    asking: Mutex<()>,
}

impl<'a> Load<'a> {
    pub(crate) fn new(account: &'a dyn Account) -> Self {
        Load { account, weight: AtomicUsize::new(0), asking: Mutex::new(()) }
    }

    /// Notes that a round of one state takes this many bytes.
    pub(crate) fn weigh(&self, bytes: usize) {
        self.weight.fetch_max(bytes, Ordering::Relaxed);
    }

    /// The bytes of a large round; zero if there was none.
    pub(crate) fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }

    /// Promises one more worker the room for a round, and says how much it is; none if there is no room.
    pub(crate) fn lift(&self) -> Option<usize> {
        let weight = self.weight();
        if weight == 0 {
            return Some(0);
        }
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        self.account.allows(weight).then(|| self.promise(weight))
    }

    /// The same for a worker that makes rounds in any case.
    pub(crate) fn lift_anyway(&self) -> usize {
        self.promise(self.weight())
    }

    fn promise(&self, bytes: usize) -> usize {
        self.account.promise(bytes);
        bytes
    }

    /// A worker holds the memory that it was promised, or no longer needs it.
    pub(crate) fn settle(&self, promised: usize) {
        self.account.keep(promised);
    }
}
