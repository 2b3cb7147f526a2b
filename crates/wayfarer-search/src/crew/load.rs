//! The memory of rounds that are large because their states have very many successors.
//!
//! A round takes its memory while it is made, and nobody can ask for it in advance. So a worker begins such rounds only
//! if the budget has room for one, and the room is promised to it until it holds the memory. Nor do more workers make such
//! rounds than there are cores.

use crate::Account;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The size of large rounds, and the account that they are taken from. It lasts as long as a job: a new phase of the job
/// has to know the size before its first round.
pub(crate) struct Load<'a> {
    account: &'a dyn Account,
    /// The most bytes that a round of a single state took, if that was much.
    weight: AtomicUsize,
    /// The workers that make such rounds. Held while one asks for room, so that two are not promised the same.
    workers: Mutex<usize>,
    /// The most workers that make such rounds at once: with more than there are cores, a round takes so long that the run ends late.
    most: OnceLock<usize>,
}

/// A worker that may make rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lifted {
    /// The bytes of a round that it was promised and does not hold yet.
    pub(crate) promised: usize,
    /// Whether it is one of those that may keep cores busy with large rounds.
    counts: bool,
}

impl<'a> Load<'a> {
    pub(crate) fn new(account: &'a dyn Account) -> Self {
        Load { account, weight: AtomicUsize::new(0), workers: Mutex::new(0), most: OnceLock::new() }
    }

    /// Notes that a round of one state takes this many bytes.
    pub(crate) fn weigh(&self, bytes: usize) {
        self.weight.fetch_max(bytes, Ordering::Relaxed);
    }

    /// The bytes of a large round; zero if there was none.
    pub(crate) fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }

    /// Lets one more worker make rounds and promises it the room for one; none if there is no room, or large rounds keep all cores busy.
    pub(crate) fn lift(&self) -> Option<Lifted> {
        let weight = self.weight();
        if weight == 0 {
            return Some(Lifted::default());
        }
        let most = *self.most.get_or_init(|| std::thread::available_parallelism().map_or(usize::MAX, usize::from));
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        (*workers < most && self.account.allows(weight)).then(|| {
            *workers += 1;
            Lifted { promised: self.promise(weight), counts: true }
        })
    }

    /// The same for a worker that makes rounds in any case.
    pub(crate) fn lift_anyway(&self) -> Lifted {
        let weight = self.weight();
        let counts = weight > 0;
        *self.workers.lock().unwrap_or_else(PoisonError::into_inner) += usize::from(counts);
        Lifted { promised: self.promise(weight), counts }
    }

    /// A worker makes no more rounds for now.
    pub(crate) fn lower(&self, lifted: Lifted) {
        if lifted.counts {
            *self.workers.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        }
        self.settle(lifted.promised);
    }

    /// Promises so many bytes, whether there is room or not.
    pub(crate) fn promise(&self, bytes: usize) -> usize {
        self.account.promise(bytes);
        bytes
    }

    /// A worker holds the memory that it was promised, or no longer needs it.
    pub(crate) fn settle(&self, promised: usize) {
        self.account.keep(promised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    #[test]
    fn no_more_workers_than_cores_make_large_rounds() {
        let load = Load::new(&Unlimited);
        load.most.set(3).unwrap();
        let light: Vec<Lifted> = (0..10).filter_map(|_| load.lift()).collect();
        assert_eq!(light.len(), 10, "light rounds are free");
        load.weigh(100);
        let leader = load.lift_anyway();
        let heavy: Vec<Lifted> = (0..10).filter_map(|_| load.lift()).collect();
        assert_eq!((leader.promised, heavy.len()), (100, 2));
        // A place counts from when it was taken.
        light.into_iter().for_each(|lifted| load.lower(lifted));
        assert!(load.lift().is_none());
        load.lower(leader);
        assert!(load.lift().is_some());
    }
}
