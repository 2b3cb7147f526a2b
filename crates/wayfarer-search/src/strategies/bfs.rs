//! Breadth-first search: level by level, so that the first violation found has a shortest witness.
//!
//! Over a store that numbers its states in the order of insertion the queue is the store itself: a cursor walks over the handles, and the frontier
//! costs no memory at all.

mod queued;

pub use queued::QueuedBfs;
pub(crate) use queued::{Frontier, Origin, Spill, Waiting};

use super::{Crewing, Nature, Row, SYSTEMATIC, exact};
use crate::spec::Entry;
use crate::{Candidates, Handle, Limits, Selection, Store, Strategy, Visit};

pub(super) static ROW: Row = Row {
    entry: Entry { name: "bfs", help: "breadth-first: level by level, so that witnesses are shortest", parameters: &[] },
    store: exact,
    nature: |_| Nature { crewing: Crewing::Together, by_levels: true, ..SYSTEMATIC },
    build: |_, site| {
        let can = site.store.abilities();
        match can.recalls && can.in_order {
            true => Box::new(Bfs::new(site.limits)),
            false => Box::new(QueuedBfs::new(site.limits, site.packing.clone(), site.account)),
        }
    },
};

/// The most states expanded per round: enough that a round's fixed cost does not show.
const BATCH: u32 = 64;
/// The steps that a round should have at most, so that the successors of three rounds stay in the cache, and in the budget where every state has many.
const STEPS: usize = 1024;

/// What to select next does not depend on what the last rounds find. So they lag behind by two: their states' places, then the states themselves, are
/// fetched while the next rounds are expanded.
pub(crate) const LAG: usize = 2;

/// The batch after a round that had so many sources and steps.
pub(crate) fn next_batch(batch: u32, sources: usize, steps: usize) -> u32 {
    if steps > STEPS {
        (batch / 2).max(1)
    } else if sources as u32 >= batch && 2 * steps <= STEPS {
        (batch * 2).min(BATCH)
    } else {
        batch
    }
}

/// Breadth-first search over a store that gives states back in the order of insertion.
#[derive(Clone, Debug)]
pub struct Bfs {
    /// The next state to select.
    next: u32,
    /// States that were selected and not yet dealt with.
    under_way: u32,
    /// One past the last state of the level that is being expanded.
    level_end: u32,
    /// One past the last state found.
    found: u32,
    depth: u32,
    limit: u32,
    batch: u32,
}

impl Bfs {
    /// A search that does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits) -> Self {
        Bfs { next: 0, under_way: 0, level_end: 0, found: 0, depth: 0, limit: limits.depth, batch: 1 }
    }

    /// What waits to be expanded.
    pub(crate) fn waiting(&self) -> Waiting {
        let run = |from: u32, until: u32| if from < until { vec![(from, until - from)] } else { Vec::new() };
        Waiting { level: run(self.next, self.level_end), next: run(self.level_end.max(self.next), self.found), depth: self.depth, starts: false }
    }
}

impl Strategy for Bfs {
    fn at_border(&self) -> bool {
        self.next == self.level_end && self.under_way == 0
    }

    fn level(&self) -> Option<u32> {
        Some(self.depth)
    }

    fn lag(&self) -> usize {
        LAG
    }

    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.next == self.level_end && self.under_way == 0 && self.level_end < self.found {
            self.depth += 1;
            self.level_end = self.found;
        }
        if self.depth >= self.limit {
            return;
        }
        let end = self.level_end.min(self.next.saturating_add(self.batch));
        selection.handles.extend((self.next..end).map(Handle));
        store.states(&selection.handles, &mut selection.states);
        self.under_way += end - self.next;
        self.next = end;
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let new = visits.iter().filter(|visit| matches!(visit, Visit::New(_))).count();
        self.found += new as u32;
        if selection.handles.is_empty() {
            // Start states are level 0.
            self.level_end = self.found;
        }
        self.under_way -= selection.handles.len() as u32;
        self.batch = next_batch(self.batch, selection.handles.len(), candidates.steps.len());
        if let Some(first) = selection.handles.get(kept) {
            self.next = self.next.min(first.0);
        }
    }

    fn depth(&self) -> Option<u32> {
        Some(self.depth + u32::from(self.level_end < self.found))
    }

    fn frontier(&self) -> u64 {
        u64::from(self.found - self.next + self.under_way)
    }

    fn beyond_depth(&self) -> u64 {
        if self.depth >= self.limit { self.frontier() } else { 0 }
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
