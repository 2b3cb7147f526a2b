//! A frontier of states, for stores that cannot give states back.
//!
//! Waiting states lie in segments that any worker may take, a few neighbours at once. They lie in the order of the segments that they were found from, so that
//! a worker expands states together that lead to the same states. A worker puts what it finds into segments of its own and hands them over as they
//! fill up, the rest at the end of a level. Waypoints are shared, under a lock that is taken twice for a round at most; one worker alone finds it open.
//!
//! A frontier that no longer fits ends the search, or, if it [spills](Pool::spilling), is thinned out: of the states found from then on some, drawn at random, are
//! looked at and not kept.

use super::outlet::{Outlet, Way};
use super::queue::{Queue, Segment};
use super::waypoints::{Gathered, Waypoints};
use super::{Frontier, Shared};
use crate::{Account, Candidates, Handle, Selection, Store, Visit};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wayfarer_space::{Packing, Rng, Word};

/// Bytes of a segment that several workers share: a level has many of them.
const SHARED_SEGMENT: usize = 1 << 12;
/// Segments that a worker takes at once, at most, and the turns for each worker that the rest of a level is left for at least, if it is large enough.
const TOGETHER: usize = 8;
const TURNS: usize = 8;

/// The waiting states, and the waypoints on the way to them. To hold both locks, take the heap's first.
pub(crate) struct Pool<'a> {
    pub(super) account: &'a dyn Account,
    /// An empty queue, as all are that states are written into.
    queue: Queue,
    /// The stream for dropping states, if the search may drop some.
    rng: Option<Rng>,
    workers: usize,
    heap: Mutex<Heap>,
    /// States in the heap.
    waiting: AtomicU64,
    pub(super) waypoints: Waypoints,
    /// States that were not kept when others were taken over, and those that workers which have left did not keep.
    unadopted: AtomicU64,
    lost: AtomicU64,
}

#[derive(Default)]
pub(super) struct Heap {
    /// Segments of the level that is being expanded, and of the next.
    pub(super) level: VecDeque<Segment>,
    pub(super) next: VecDeque<Segment>,
    bytes: usize,
    most: usize,
    /// Segments of the level that were taken.
    taken: u32,
    /// The turn in which the next level became the level; the states it had then, and the most that one had.
    turned: u64,
    states: u64,
    widest: u64,
    /// Whether what is found in this level becomes waypoints.
    marks: bool,
}

/// Figures about a search's frontier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// States that were found and not kept.
    pub(crate) lost: u64,
    /// The most bytes that waiting states took, about.
    pub(crate) most_bytes: usize,
    /// The most states of a level that were kept.
    pub(crate) widest: u64,
}

fn states<'s>(segments: impl IntoIterator<Item = &'s Segment>) -> u64 {
    segments.into_iter().map(|segment| u64::from(segment.states())).sum()
}

impl<'a> Pool<'a> {
    /// An empty frontier of states of the given packing for this many workers. It asks `account` before it grows.
    pub(crate) fn new(packing: Packing, account: &'a dyn Account, workers: usize) -> Self {
        let queue = Queue::new(packing.clone());
        Pool {
            account,
            queue: if workers > 1 { queue.in_segments(SHARED_SEGMENT) } else { queue },
            rng: None,
            workers,
            heap: Mutex::default(),
            waiting: AtomicU64::new(0),
            waypoints: Waypoints::new(packing, workers),
            unadopted: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// The same, but it drops states at random if there is no room for all, and keeps at most `waypoints` bytes of waypoints.
    pub(crate) fn spilling(self, rng: Rng, waypoints: usize) -> Self {
        let queue = if self.workers > 1 { self.queue } else { self.queue.in_segments(waypoints / 4) };
        Pool { queue, rng: Some(rng), waypoints: self.waypoints.within(waypoints), ..self }
    }

    /// For how many workers it is.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Its figures.
    pub(crate) fn kept(&self) -> Kept {
        let heap = self.heap();
        let lost = self.lost.load(Ordering::Relaxed) + self.unadopted.load(Ordering::Relaxed);
        Kept { lost, most_bytes: heap.most, widest: heap.widest }
    }

    /// The bytes of the waiting states now.
    pub(crate) fn bytes(&self) -> usize {
        self.heap().bytes
    }

    pub(super) fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outlet of a worker. A single worker draws from the stream itself.
    pub(super) fn outlet(&self, worker: usize) -> Outlet<'a> {
        let rng = self.rng.as_ref().map(|rng| if self.workers > 1 { rng.split(worker as u64) } else { rng.clone() });
        Outlet::new(self.queue.like(), rng, self.account)
    }

    /// States that were taken over and not kept.
    pub(super) fn lose(&self, states: u64) {
        self.unadopted.fetch_add(states, Ordering::Relaxed);
    }

    /// Takes some neighbouring segments of the level, and the number of the first.
    fn take(&self) -> (Vec<Segment>, u32) {
        let mut heap = self.heap();
        let together = (heap.level.len() / (self.workers * TURNS)).clamp(1, TOGETHER).min(heap.level.len());
        let segments: Vec<Segment> = heap.level.drain(..if self.workers > 1 { together } else { together.min(1) }).collect();
        heap.bytes -= segments.iter().map(Segment::bytes).sum::<usize>();
        let first = heap.taken;
        heap.taken += segments.len() as u32;
        self.waiting.fetch_sub(states(&segments), Ordering::Relaxed);
        (segments, first)
    }

    /// Adds segments to the next level, or to the level, and says how many states they hold.
    pub(super) fn add(&self, segments: impl Iterator<Item = Segment>, to: fn(&mut Heap) -> &mut VecDeque<Segment>) -> u64 {
        let mut heap = self.heap();
        let mut states = 0;
        for segment in segments {
            states += u64::from(segment.states());
            heap.bytes += segment.bytes();
            to(&mut heap).push_back(segment);
        }
        heap.most = heap.most.max(heap.bytes);
        self.waiting.fetch_add(states, Ordering::Relaxed);
        states
    }
}

impl<'a> Shared<'a> for Arc<Pool<'a>> {
    fn part(&self, worker: usize) -> Box<dyn Frontier + 'a> {
        Box::new(Segments {
            pool: self.clone(),
            outlet: self.outlet(worker),
            reading: self.queue.like(),
            coming: Vec::new().into_iter(),
            number: 0,
            read_left: 0,
            queued: 0,
            // The first worker counts the states that were found before.
            handed: if worker == 0 { states(&self.heap().next) } else { 0 },
            cut: 0,
            found: Vec::new(),
        })
    }

    fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed) + self.unadopted.load(Ordering::Relaxed)
    }
}

/// One worker's part.
struct Segments<'a> {
    pool: Arc<Pool<'a>>,
    outlet: Outlet<'a>,
    /// The segment that is being read, those that were taken with it, the number of the next, and the states left in all of them.
    reading: Queue,
    coming: std::vec::IntoIter<Segment>,
    number: u32,
    read_left: u64,
    /// States in the worker's own segments, and those that were handed over since the last turn.
    queued: u64,
    handed: u64,
    /// States that were selected and could not be dealt with.
    cut: u64,
    /// The candidates of a round that are kept, each with its waypoint.
    found: Vec<(usize, u32)>,
}

impl Segments<'_> {
    /// Goes on to another segment, and says whether there was one. The memory of the last is written next.
    fn take_segment(&mut self) -> bool {
        if self.coming.len() == 0 {
            let (segments, first) = self.pool.take();
            self.read_left = states(&segments);
            (self.coming, self.number) = (segments.into_iter(), first);
        }
        let Some(segment) = self.coming.next() else { return false };
        self.outlet.queue.found_from(self.number);
        self.number += 1;
        if let Some(spare) = self.reading.load(segment) {
            self.outlet.queue.reuse(spare);
        }
        true
    }
}

impl Frontier for Segments<'_> {
    fn take(&mut self, _store: &dyn Store, most: u32, selection: &mut Selection) {
        while (selection.handles.len() as u32) < most {
            match self.reading.pop(&mut selection.states) {
                Some(waypoint) => {
                    selection.handles.push(Handle(waypoint));
                    self.read_left -= 1;
                }
                None if self.take_segment() => {}
                None => break,
            }
        }
    }

    fn put(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit], _noting: Option<&dyn Account>) {
        let Segments { pool, outlet, found, .. } = self;
        let states = &candidates.steps.states;
        found.clear();
        let mut held = Gathered::new();
        for (index, _) in visits.iter().enumerate().filter(|(_, visit)| matches!(visit, Visit::New(_))) {
            if outlet.leaves_out() {
                continue;
            }
            let before = candidates.parent(index).map(|handle| handle.0);
            let waypoint = match outlet.waypoint(states.get(index), before, &pool.waypoints) {
                Way::Own(own) => own,
                Way::Of(before) => {
                    held.gather(before, |waypoint, more| pool.waypoints.hold(waypoint, more));
                    before
                }
            };
            found.push((index, waypoint));
        }
        held.settle(|waypoint, more| pool.waypoints.hold(waypoint, more));
        let mut released = Gathered::new();
        for handle in selection.handles.iter().take(kept) {
            released.gather(handle.0, |waypoint, fewer| pool.waypoints.release(waypoint, fewer, &mut outlet.spare));
        }
        released.settle(|waypoint, fewer| pool.waypoints.release(waypoint, fewer, &mut outlet.spare));
        let all = found.len();
        found.retain(|(index, waypoint)| !outlet.put(states.get(*index), *waypoint));
        self.queued += (all - found.len()) as u64;
        found.iter().for_each(|(_, waypoint)| pool.waypoints.release(*waypoint, 1, &mut outlet.spare));
        let mut full = outlet.queue.take_full().peekable();
        if full.peek().is_some() {
            let handed = pool.add(full, |heap| &mut heap.next);
            self.queued -= handed;
            self.handed += handed;
        }
        self.cut += selection.handles.len().saturating_sub(kept) as u64;
    }

    fn pass_over(&mut self) -> u64 {
        let mut passed = std::mem::take(&mut self.read_left);
        self.coming = Vec::new().into_iter();
        loop {
            let (segments, _) = self.pool.take();
            if segments.is_empty() {
                return passed;
            }
            passed += states(&segments);
        }
    }

    fn hand_over(&mut self) {
        let handed = self.pool.add(self.outlet.queue.take_segments(), |heap| &mut heap.next);
        self.queued -= handed;
        self.handed += handed;
    }

    fn turn(&mut self, turn: u64, depth: u32, _feed: u64) -> u64 {
        let mut heap = self.pool.heap();
        if heap.turned < turn {
            heap.turned = turn;
            heap.level = std::mem::take(&mut heap.next);
            heap.level.make_contiguous().sort_by_key(Segment::origin);
            heap.taken = 0;
            heap.states = states(heap.level.iter());
            heap.widest = heap.widest.max(heap.states);
            heap.marks = self.outlet.marks_at(depth + 1, heap.states, &self.pool.waypoints);
        }
        self.outlet.marks = heap.marks;
        self.handed = 0;
        heap.states
    }

    fn level_states(&self) -> u64 {
        self.pool.heap().states
    }

    fn is_level_done(&self) -> bool {
        self.read_left == 0 && self.pool.heap().level.is_empty()
    }

    fn found(&self) -> u64 {
        self.queued + self.handed
    }

    fn own(&self) -> u64 {
        self.read_left + self.queued + self.cut + self.outlet.lost
    }

    fn shared(&self) -> u64 {
        self.pool.waiting()
    }

    fn is_full(&self) -> bool {
        self.outlet.is_full()
    }

    fn trail(&self, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let mut trail = self.pool.waypoints.chain(selection.handles.get(source)?.0);
        trail.push(selection.states.get(source).to_vec());
        Some(trail)
    }

    fn leave(&mut self) {
        self.pool.lost.fetch_add(self.outlet.lost, Ordering::Relaxed);
        self.pool.waypoints.give_back(&mut self.outlet.spare);
    }
}
