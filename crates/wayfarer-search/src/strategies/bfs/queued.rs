//! Breadth-first search over stores that cannot give states back: the frontier keeps the states itself, tight, in the order in which they were found.
//!
//! Such a store has no links either, so each waiting state carries a *waypoint*: its nearest ancestor at a level that is a multiple of [`INTERVAL`], kept
//! whole with a link to the waypoint before it. Waypoints are counted and freed when nothing in the frontier descends from them. A witness goes from waypoint to
//! waypoint and is searched anew in between.

use super::{LAG, next_batch};
use crate::queue::Queue;
use crate::waypoints::Waypoints;
use crate::{Account, Candidates, Ground, Handle, Limits, Selection, Store, Strategy, Visit};
use wayfarer_space::{Packing, Word};

/// Levels between waypoints: the depth of the searches that a witness is put together from.
const INTERVAL: u32 = 8;

/// Breadth-first search that keeps its own frontier.
pub struct QueuedBfs<'a> {
    account: &'a dyn Account,
    queue: Queue,
    waypoints: Waypoints,
    /// States of the level that is being expanded that were not selected yet.
    level_left: u64,
    /// States found for the next level.
    next_level: u64,
    under_way: u64,
    /// States that were found and could not be kept, or were cut off when the store was full.
    lost: u64,
    full: bool,
    depth: u32,
    limit: u32,
    batch: u32,
}

impl<'a> QueuedBfs<'a> {
    /// A search that keeps states of the given packing, asks `account` before its frontier grows, and does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits, packing: Packing, account: &'a dyn Account) -> Self {
        QueuedBfs {
            account,
            queue: Queue::new(packing.clone()),
            waypoints: Waypoints::new(packing),
            level_left: 0,
            next_level: 0,
            under_way: 0,
            lost: 0,
            full: false,
            depth: 0,
            limit: limits.depth,
            batch: 1,
        }
    }

    /// Puts a state that was just found into the frontier, at the given depth.
    fn keep(&mut self, state: &[Word], before: Option<u32>, depth: u32) -> bool {
        let waypoint = match before {
            Some(waypoint) if !depth.is_multiple_of(INTERVAL) => {
                self.waypoints.hold(waypoint);
                Some(waypoint)
            }
            before => self.waypoints.add(state, before, self.account),
        };
        let kept = waypoint.is_some_and(|waypoint| {
            let kept = self.queue.push(state, waypoint, self.account);
            if !kept {
                self.waypoints.release(waypoint);
            }
            kept
        });
        self.full |= !kept;
        self.lost += u64::from(!kept);
        kept
    }
}

impl Strategy for QueuedBfs<'_> {
    fn at_border(&self) -> bool {
        self.level_left == 0 && self.under_way == 0
    }

    fn level(&self) -> Option<u32> {
        Some(self.depth)
    }

    fn lag(&self) -> usize {
        LAG
    }

    fn select(&mut self, _store: &dyn Store, selection: &mut Selection) {
        if self.level_left == 0 && self.under_way == 0 && self.next_level > 0 {
            self.depth += 1;
            self.level_left = std::mem::take(&mut self.next_level);
        }
        if self.depth >= self.limit {
            return;
        }
        for _ in 0..self.level_left.min(u64::from(self.batch)) {
            let Some(waypoint) = self.queue.pop(&mut selection.states) else { break };
            selection.handles.push(Handle(waypoint));
        }
        self.level_left -= selection.handles.len() as u64;
        self.under_way += selection.handles.len() as u64;
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let starts = selection.handles.is_empty();
        let depth = if starts { 0 } else { self.depth + 1 };
        for (index, _) in visits.iter().enumerate().filter(|(_, visit)| matches!(visit, Visit::New(_))) {
            let before = candidates.parent(index).map(|handle| handle.0);
            if self.keep(candidates.steps.states.get(index), before, depth) {
                *(if starts { &mut self.level_left } else { &mut self.next_level }) += 1;
            }
        }
        self.under_way -= selection.handles.len() as u64;
        self.batch = next_batch(self.batch, selection.handles.len(), candidates.steps.len());
        self.lost += (selection.handles.len() - kept.min(selection.handles.len())) as u64;
        for handle in &selection.handles {
            self.waypoints.release(handle.0);
        }
    }

    fn full(&self) -> bool {
        self.full
    }

    fn trail(&self, _ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let mut trail = self.waypoints.chain(selection.handles.get(source)?.0);
        trail.push(selection.states.get(source).to_vec());
        Some(trail)
    }

    fn depth(&self) -> Option<u32> {
        Some(self.depth + u32::from(self.next_level > 0))
    }

    fn frontier(&self) -> u64 {
        self.level_left + self.next_level + self.under_way + self.lost
    }

    fn beyond_depth(&self) -> u64 {
        if self.depth >= self.limit { self.frontier() } else { 0 }
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
