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
use crate::{Account, Candidates, Ground, Handle, Limits, Selection, Stop, Store, Strategy, Visit};
use std::collections::{HashMap, VecDeque};
use wayfarer_space::{Packing, Rng, States, Width, Word};

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
    /// The most states that a level had.
    widest: u64,
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

/// A store that states are taken over from: how it gives them back, and from where one was reached.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'r> {
    pub(crate) width: Width,
    pub(crate) read: &'r dyn Fn(&[Handle], &mut States),
    pub(crate) parent: &'r dyn Fn(Handle) -> Option<Handle>,
}

/// States that are taken over at once.
const ADOPTED: u32 = 256;

/// The nearest waypoint of ancestors of waiting states, and whether they are waypoints themselves.
type Ways = HashMap<u32, (Option<u32>, bool)>;
/// For each of these that there is room for, the bytes that it takes to make room for twice as many.
const WAY: usize = 40;

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
            widest: 0,
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

    /// Goes on from what waits in an exact store. The store's links become waypoints as far as there is room for them. The reason why it ended early, where
    /// `ask` gave one.
    pub(crate) fn adopt(&mut self, waiting: &Waiting, origin: Origin, ask: &mut dyn FnMut() -> Option<Stop>) -> Option<Stop> {
        let mut known = Ways::new();
        let mut states = States::new(origin.width);
        let mut stop = None;
        self.depth = waiting.depth;
        for (runs, next) in [(&waiting.level, false), (&waiting.next, true)] {
            let depth = waiting.depth + u32::from(next);
            let pieces = runs
                .iter()
                .flat_map(|(first, states)| (*first..first + states).step_by(ADOPTED as usize).map(move |at| at..(first + states).min(at + ADOPTED)));
            for piece in pieces {
                let handles: Vec<Handle> = piece.map(Handle).collect();
                states.clear();
                (origin.read)(&handles, &mut states);
                for (handle, state) in handles.iter().zip(states.iter()) {
                    let waypoint = self.way_to(*handle, depth, origin, &mut known);
                    let kept = self.put(state, waypoint);
                    *(if next { &mut self.next_level } else { &mut self.level_left }) += u64::from(kept);
                }
                stop = stop.or_else(&mut *ask);
                if stop.is_some() {
                    break;
                }
            }
        }
        // Each waypoint was held for those that might descend from it.
        known.into_values().filter(|(_, own)| *own).filter_map(|(waypoint, _)| waypoint).for_each(|waypoint| self.waypoints.release(waypoint));
        stop
    }

    /// The waypoint that a state at the given depth descends from, held once more.
    fn way_to(&mut self, state: Handle, depth: u32, origin: Origin, known: &mut Ways) -> Option<u32> {
        // Up to the first ancestor that is a waypoint already, then down again.
        let (mut at, mut depth, mut above) = (state, depth, Vec::new());
        let mut waypoint = loop {
            let level = if depth == 0 || depth.is_multiple_of(INTERVAL) { depth } else { depth - depth % INTERVAL };
            for _ in level..depth {
                at = (origin.parent)(at)?;
            }
            depth = level;
            if let Some((waypoint, _)) = known.get(&at.0) {
                break *waypoint;
            }
            above.push(at);
            match (origin.parent)(at) {
                Some(above) if depth > 0 => (at, depth) = (above, depth - 1),
                _ => break None,
            }
        };
        let mut one = States::new(origin.width);
        for at in above.into_iter().rev() {
            one.clear();
            (origin.read)(&[at], &mut one);
            let added = self.waypoints.add(one.get(0), waypoint, self.account);
            waypoint = added.or(waypoint);
            // Where there is no room for it, those that come this way need not go farther up either.
            if added.is_some() || known.len() < known.capacity() || self.account.allows(known.capacity().max(64) * WAY) {
                known.insert(at.0, (waypoint, added.is_some()));
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
        self.widest = self.widest.max(self.level_left);
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

    /// The most states of a level that were kept.
    pub(crate) fn widest(&self) -> u64 {
        self.widest
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
