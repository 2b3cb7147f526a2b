//! Breadth-first search over stores that cannot give states back: the frontier keeps the states itself, tight, in the order in which they were found.
//!
//! Such a store has no links either, so each waiting state carries a *waypoint*: its nearest ancestor at a level that is a multiple of [`INTERVAL`], kept
//! whole with a link to the waypoint before it. Waypoints are counted and freed when nothing in the frontier descends from them. A witness goes from waypoint to
//! waypoint and is searched anew in between. Where memory is short a level goes without, or the beginning: the searches in between are then longer.
//!
//! A frontier that no longer fits ends the search, or, in one that [spills](QueuedBfs::spilling), is thinned out: of the states found from then on some, drawn at
//! random, are looked at and not kept.

use super::{LAG, next_batch};
use crate::queue::{Queue, Segment};
use crate::waypoints::{NOWHERE, Waypoints};
use crate::{Account, Candidates, Ground, Handle, Limits, Selection, Stop, Store, Strategy, Visit};
use std::collections::{HashMap, VecDeque};
use wayfarer_space::{Packing, Rng, States, Width, Word};

/// Levels between waypoints: the depth of the searches that a witness is put together from.
const INTERVAL: u32 = 8;

/// Breadth-first search that keeps its own frontier.
pub struct QueuedBfs<'a> {
    frontier: Frontier<'a>,
    waypoints: Waypoints,
    /// States that were selected and not dealt with: they come first.
    again: VecDeque<(Vec<Word>, u32)>,
    /// States of the level that is being expanded that were not selected yet.
    level_left: u64,
    /// States found for the next level.
    next_level: u64,
    under_way: u64,
    /// The most states that a level had.
    widest: u64,
    depth: u32,
    limit: u32,
    batch: u32,
}

/// States that were found and wait, as far as there is room for them.
pub(crate) struct Frontier<'a> {
    pub(crate) account: &'a dyn Account,
    pub(crate) queue: Queue,
    /// States that were found and could not be kept.
    pub(crate) lost: u64,
    full: bool,
    /// Whether states that are found become waypoints.
    pub(crate) marks: bool,
    pub(crate) spill: Option<Spill>,
}

/// Which states are left out of a frontier that has no room for all.
pub(crate) struct Spill {
    rng: Rng,
    /// Of the states that are found, the share that is kept, of 2^16.
    kept: u64,
}

impl Spill {
    /// Keeps everything at first.
    pub(crate) fn new(rng: Rng) -> Self {
        Spill { rng, kept: ALL }
    }
}

impl<'a> Frontier<'a> {
    pub(crate) fn new(queue: Queue, spill: Option<Spill>, account: &'a dyn Account) -> Self {
        Frontier { account, queue, lost: 0, full: false, marks: false, spill }
    }

    /// Whether a state could not be kept where all must be.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether a state that was just found is left out, so that others find room.
    pub(crate) fn leaves_out(&mut self) -> bool {
        let Some(spill) = self.spill.as_mut().filter(|spill| spill.kept < ALL) else { return false };
        // Up again little by little, so that about one in five finds no room while room is short.
        spill.kept += (spill.kept / 256).max(1);
        let out = spill.rng.below(ALL) >= spill.kept;
        self.lost += u64::from(out);
        out
    }

    /// The waypoint of a state that was just found, held for it: the state itself, where it becomes one.
    pub(crate) fn waypoint(&self, state: &[Word], before: Option<u32>, waypoints: &mut Waypoints) -> Option<u32> {
        let marked = if before.is_none() || self.marks { waypoints.add(state, before, self.account) } else { None };
        marked.or_else(|| before.inspect(|before| waypoints.hold(*before)))
    }

    /// Appends a state with its waypoint; where there is no room, the waypoint is no longer needed.
    pub(crate) fn put(&mut self, state: &[Word], waypoint: u32) -> bool {
        let kept = self.queue.push(state, waypoint, self.account);
        if !kept {
            self.lost += 1;
            match &mut self.spill {
                Some(spill) => spill.kept -= spill.kept / 64,
                None => self.full = true,
            }
        }
        kept
    }

    /// Whether states found while a level of `states` is expanded are to become waypoints, if they lie at `depth`. As many more may be found as there are
    /// now, and the frontier itself needs room, too.
    pub(crate) fn marks_at(&self, depth: u32, states: u64, waypoints: &Waypoints) -> bool {
        let room = |bytes: u64| usize::try_from(bytes).is_ok_and(|bytes| self.account.allows(bytes));
        depth.is_multiple_of(INTERVAL) && room(8 * waypoints.bytes_for(states))
    }
}

const ALL: u64 = 1 << 16;

/// A search in parts that several workers go on with.
pub(crate) struct Parts<'a> {
    pub(crate) account: &'a dyn Account,
    /// What waits of the level that is being expanded, and of the next.
    pub(crate) level: Vec<Segment>,
    pub(crate) next: Vec<Segment>,
    pub(crate) waypoints: Waypoints,
    pub(crate) depth: u32,
    pub(crate) deepest: u32,
    /// States that could not be kept.
    pub(crate) lost: u64,
    /// An empty queue for what is found.
    pub(crate) queue: Queue,
    /// Where the search spills, what its draws are made from.
    pub(crate) rng: Option<Rng>,
}

/// Bytes of a segment of a search in parts: a level has many of them.
const SHARED_SEGMENT: usize = 1 << 12;

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
    /// Whether start states wait, too, which found no room.
    pub(crate) starts: bool,
}

impl<'a> QueuedBfs<'a> {
    /// A search that keeps states of the given packing, asks `account` before its frontier grows, and does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits, packing: Packing, account: &'a dyn Account) -> Self {
        QueuedBfs {
            frontier: Frontier::new(Queue::new(packing.clone()), None, account),
            waypoints: Waypoints::new(packing),
            again: VecDeque::new(),
            level_left: 0,
            next_level: 0,
            under_way: 0,
            widest: 0,
            depth: 0,
            limit: limits.depth,
            batch: 1,
        }
    }

    /// The same, going on where its frontier has no room for all states, with at most so many bytes of waypoints.
    pub fn spilling(self, rng: Rng, waypoints: usize) -> Self {
        let Frontier { queue, account, .. } = self.frontier;
        let frontier = Frontier::new(queue.in_segments(waypoints / 4), Some(Spill::new(rng)), account);
        QueuedBfs { frontier, waypoints: self.waypoints.within(waypoints), ..self }
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

    /// Takes the search apart. Nothing of it may be under way.
    pub(crate) fn apart(mut self, width: Width) -> Parts<'a> {
        let deepest = self.depth + u32::from(self.next_level > 0);
        let account = self.frontier.account;
        let mut queue = self.frontier.queue.like().in_segments(SHARED_SEGMENT);
        let mut states = States::new(width);
        let mut regrouped = |left: u64| {
            for _ in 0..left {
                states.clear();
                let Some(waypoint) = self.frontier.queue.pop(&mut states) else { break };
                if !queue.push(states.get(0), waypoint, account) {
                    self.frontier.lost += 1;
                    self.waypoints.release(waypoint);
                }
            }
            queue.take_segments().collect()
        };
        let (level, next) = (regrouped(self.level_left), regrouped(self.next_level));
        let rng = self.frontier.spill.map(|spill| spill.rng);
        Parts { account, level, next, waypoints: self.waypoints, depth: self.depth, deepest, lost: self.frontier.lost, queue, rng }
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
            let added = self.waypoints.add(one.get(0), waypoint, self.frontier.account);
            waypoint = added.or(waypoint);
            // Where there is no room for it, those that come this way need not go farther up either.
            if added.is_some() || known.len() < known.capacity() || self.frontier.account.allows(known.capacity().max(64) * WAY) {
                known.insert(at.0, (waypoint, added.is_some()));
            }
        }
        waypoint.inspect(|waypoint| self.waypoints.hold(*waypoint))
    }

    /// Puts a state that was just found into the frontier.
    fn keep(&mut self, state: &[Word], before: Option<u32>) -> bool {
        if self.frontier.leaves_out() {
            return false;
        }
        let waypoint = self.frontier.waypoint(state, before, &mut self.waypoints);
        self.put(state, waypoint)
    }

    /// Appends a state that holds its waypoint.
    fn put(&mut self, state: &[Word], waypoint: Option<u32>) -> bool {
        let waypoint = waypoint.unwrap_or(NOWHERE);
        let kept = self.frontier.put(state, waypoint);
        if !kept {
            self.waypoints.release(waypoint);
        }
        kept
    }

    /// Begins the next level.
    fn descend(&mut self) {
        self.depth += 1;
        self.level_left = std::mem::take(&mut self.next_level);
        self.widest = self.widest.max(self.level_left);
        self.frontier.marks = self.frontier.marks_at(self.depth + 1, self.level_left, &self.waypoints);
    }

    /// The bytes of the waiting states now.
    pub(crate) fn bytes(&self) -> usize {
        self.frontier.queue.bytes()
    }

    /// The most bytes that waiting states took.
    pub(crate) fn most_bytes(&self) -> usize {
        self.frontier.queue.most_bytes()
    }

    /// The most states of a level that were kept.
    pub(crate) fn widest(&self) -> u64 {
        self.widest
    }

    /// How many states were found and not kept.
    pub(crate) fn lost(&self) -> u64 {
        self.frontier.lost
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
            let Some(waypoint) = self.frontier.queue.pop(&mut selection.states) else { break };
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
        self.frontier.is_full()
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
        self.level_left + self.next_level + self.under_way + self.frontier.lost
    }

    fn beyond_depth(&self) -> u64 {
        if self.depth >= self.limit { self.frontier() } else { 0 }
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
