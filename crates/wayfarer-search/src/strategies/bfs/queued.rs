//! Breadth-first search over stores that cannot give states back: the frontier keeps the states itself, tight, in the order in which they were found.
//!
//! Such a store has no links either, so each waiting state carries a *waypoint*: its nearest ancestor at a level that is a multiple of [`INTERVAL`], kept
//! whole with a link to the waypoint before it. Waypoints are counted and freed when nothing in the frontier descends from them. A witness goes from waypoint to
//! waypoint and is searched anew in between. Where memory is short a level goes without, or the beginning: the searches in between are then longer.
//!
//! A frontier that no longer fits ends the search, or, in one that [spills](QueuedBfs::spilling), is thinned out: of the states found from then on some, drawn at
//! random, are looked at and not kept.

use super::{LAG, next_batch};
use crate::queue::Queue;
use crate::waypoints::{NOWHERE, Waypoints};
use crate::{Account, Candidates, Ground, Handle, Limits, Selection, Store, Strategy, Visit};
use std::collections::{HashMap, VecDeque};
use wayfarer_space::{Packing, Rng, Word};

/// Levels between waypoints: the depth of the searches that a witness is put together from.
const INTERVAL: u32 = 8;

/// Breadth-first search that keeps its own frontier.
pub struct QueuedBfs<'a> {
    account: &'a dyn Account,
    queue: Queue,
    waypoints: Waypoints,
    /// States that were selected and not dealt with: they come first.
    again: VecDeque<(Vec<Word>, u32)>,
    /// States of the level that is being expanded that were not selected yet.
    level_left: u64,
    /// States found for the next level.
    next_level: u64,
    under_way: u64,
    /// States that were found and could not be kept.
    lost: u64,
    full: bool,
    depth: u32,
    limit: u32,
    batch: u32,
    /// Whether states that are found become waypoints.
    marks: bool,
    spill: Option<Spill>,
}

/// Which states are left out of a frontier that has no room for all.
struct Spill {
    rng: Rng,
    /// Of the states that are found, the share that is kept, of 2^16.
    kept: u64,
}

const ALL: u64 = 1 << 16;

/// How a store gives a state back, and from where it was reached.
type Read<'r> = &'r dyn Fn(Handle) -> Vec<Word>;
type Parent<'r> = &'r dyn Fn(Handle) -> Option<Handle>;

/// States that wait in an exact store: those of the level that is being expanded and those found for the next, as first handle and number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) level: Vec<(u32, u32)>,
    pub(crate) next: Vec<(u32, u32)>,
    pub(crate) depth: u32,
}

impl<'a> QueuedBfs<'a> {
    /// A search that keeps states of the given packing, asks `account` before its frontier grows, and does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits, packing: Packing, account: &'a dyn Account) -> Self {
        QueuedBfs {
            account,
            queue: Queue::new(packing.clone()),
            waypoints: Waypoints::new(packing),
            again: VecDeque::new(),
            level_left: 0,
            next_level: 0,
            under_way: 0,
            lost: 0,
            full: false,
            depth: 0,
            limit: limits.depth,
            batch: 1,
            marks: false,
            spill: None,
        }
    }

    /// The same, going on where its frontier has no room for all states, with at most so many bytes of waypoints.
    pub fn spilling(self, rng: Rng, waypoints: usize) -> Self {
        let queue = self.queue.in_segments(waypoints / 4);
        QueuedBfs { spill: Some(Spill { rng, kept: ALL }), waypoints: self.waypoints.within(waypoints), queue, ..self }
    }

    /// Goes on from what waits in an exact store. The store's links become waypoints as far as there is room for them.
    pub(crate) fn adopt(&mut self, waiting: &Waiting, read: Read, parent: Parent) {
        let mut known = HashMap::new();
        self.depth = waiting.depth;
        for (runs, next) in [(&waiting.level, false), (&waiting.next, true)] {
            let depth = waiting.depth + u32::from(next);
            for handle in runs.iter().flat_map(|(first, states)| *first..first + states) {
                let waypoint = self.way_to(Handle(handle), depth, (read, parent), &mut known);
                let kept = self.put(&read(Handle(handle)), waypoint);
                *(if next { &mut self.next_level } else { &mut self.level_left }) += u64::from(kept);
            }
        }
        // Each waypoint was held for those that might descend from it.
        known.into_values().for_each(|waypoint| self.waypoints.release(waypoint));
    }

    /// The waypoint that a state at the given depth descends from, held once more.
    fn way_to(&mut self, state: Handle, depth: u32, (read, parent): (Read, Parent), known: &mut HashMap<u32, u32>) -> Option<u32> {
        // Up to the first ancestor that is a waypoint already, then down again.
        let (mut at, mut depth, mut above) = (state, depth, Vec::new());
        let mut waypoint = loop {
            let level = if depth == 0 || depth.is_multiple_of(INTERVAL) { depth } else { depth - depth % INTERVAL };
            for _ in level..depth {
                at = parent(at)?;
            }
            depth = level;
            if let Some(waypoint) = known.get(&at.0) {
                break Some(*waypoint);
            }
            above.push(at);
            match parent(at) {
                Some(above) if depth > 0 => (at, depth) = (above, depth - 1),
                _ => break None,
            }
        };
        for at in above.into_iter().rev() {
            if let Some(added) = self.waypoints.add(&read(at), waypoint, self.account) {
                known.insert(at.0, added);
                waypoint = Some(added);
            }
        }
        waypoint.inspect(|waypoint| self.waypoints.hold(*waypoint))
    }

    /// Puts a state that was just found into the frontier.
    fn keep(&mut self, state: &[Word], before: Option<u32>) -> bool {
        if let Some(spill) = &mut self.spill
            && spill.kept < ALL
        {
            // Up again little by little, so that about one in five finds no room while room is short.
            spill.kept += (spill.kept / 256).max(1);
            if spill.rng.below(ALL) >= spill.kept {
                self.lost += 1;
                return false;
            }
        }
        let marked = if before.is_none() || self.marks { self.waypoints.add(state, before, self.account) } else { None };
        let waypoint = marked.or_else(|| before.inspect(|before| self.waypoints.hold(*before)));
        self.put(state, waypoint)
    }

    /// Appends a state that holds its waypoint.
    fn put(&mut self, state: &[Word], waypoint: Option<u32>) -> bool {
        let waypoint = waypoint.unwrap_or(NOWHERE);
        let kept = self.queue.push(state, waypoint, self.account);
        if !kept {
            self.waypoints.release(waypoint);
            self.lost += 1;
            match &mut self.spill {
                Some(spill) => spill.kept -= spill.kept / 64,
                None => self.full = true,
            }
        }
        kept
    }

    /// Begins the next level.
    fn descend(&mut self) {
        self.depth += 1;
        self.level_left = std::mem::take(&mut self.next_level);
        let room = |bytes: u64| usize::try_from(bytes).is_ok_and(|bytes| self.account.allows(bytes));
        // As many more may be found as there are now, and the frontier itself needs room, too.
        self.marks = (self.depth + 1).is_multiple_of(INTERVAL) && room(8 * self.waypoints.bytes_for(self.level_left));
    }

    /// The bytes of the waiting states now.
    pub(crate) fn bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// The most bytes that waiting states took.
    pub(crate) fn most_bytes(&self) -> usize {
        self.queue.most_bytes()
    }

    /// How many states were found and not kept.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
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
            self.descend();
        }
        if self.depth >= self.limit {
            return;
        }
        for _ in 0..self.level_left.min(u64::from(self.batch)) {
            if let Some((state, waypoint)) = self.again.pop_front() {
                selection.states.push(&state);
                selection.handles.push(Handle(waypoint));
                continue;
            }
            let Some(waypoint) = self.queue.pop(&mut selection.states) else { break };
            selection.handles.push(Handle(waypoint));
        }
        self.level_left -= selection.handles.len() as u64;
        self.under_way += selection.handles.len() as u64;
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let starts = selection.handles.is_empty();
        for (index, _) in visits.iter().enumerate().filter(|(_, visit)| matches!(visit, Visit::New(_))) {
            let before = candidates.parent(index).map(|handle| handle.0);
            if self.keep(candidates.steps.states.get(index), before) {
                *(if starts { &mut self.level_left } else { &mut self.next_level }) += 1;
            }
        }
        self.under_way -= selection.handles.len() as u64;
        self.batch = next_batch(self.batch, selection.handles.len(), candidates.steps.len());
        for (source, handle) in selection.handles.iter().enumerate() {
            if source < kept {
                self.waypoints.release(handle.0);
            } else {
                self.again.push_back((selection.states.get(source).to_vec(), handle.0));
                self.level_left += 1;
            }
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
