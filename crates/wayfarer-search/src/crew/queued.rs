//! Several workers at a breadth-first search over a store that cannot give states back.
//!
//! What waits lies in segments that any worker may take. A worker puts what it finds into segments of its own and hands them over as they fill up, the rest when
//! all meet at the end of a level. Waypoints are shared, under a lock that is taken twice for a round at most.

use super::{Crew, together};
use crate::explore::{Entering, conclude, work};
use crate::queue::{Queue, Segment};
use crate::strategies::{Frontier, LAG, Spill, next_batch};
use crate::waypoints::{NOWHERE, Waypoints};
use crate::{Account, Candidates, Control, Ground, Handle, Meeting, Outcome, QueuedBfs, Selection, Settings, Stop, Store, Strategy, Visit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wayfarer_space::{Space, Word};

/// Steps that a worker has under way, about, and the bytes of one besides its state.
const UNDER_WAY: usize = 8192;
const STEP: usize = 64;

/// What a search did with its frontier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// States that were found and not kept.
    pub(crate) lost: u64,
    /// The most bytes that waiting states took, about.
    pub(crate) most_bytes: usize,
    /// The most states of a level that were kept.
    pub(crate) widest: u64,
}

/// Explores breadth-first with several workers over one store that knows states without being able to give them back. Where it does not err, verdict, states,
/// rules fired and the length of the shortest witness do not depend on how many there are.
pub fn explore_over_fingerprints(
    space: &dyn Space,
    store: &dyn Store,
    workers: usize,
    settings: &Settings,
    account: &dyn Account,
    control: &mut dyn Control,
) -> Outcome {
    let search = QueuedBfs::new(&settings.limits, space.packing().clone(), account);
    let (mut outcome, _) = over_fingerprints(space, store, workers, settings, search, Entering::default(), control);
    conclude(space, store, settings, &mut outcome);
    outcome
}

/// Goes on with a search, with one worker or several.
pub(crate) fn over_fingerprints(
    space: &dyn Space,
    store: &dyn Store,
    workers: usize,
    settings: &Settings,
    mut search: QueuedBfs,
    entering: Entering,
    control: &mut dyn Control,
) -> (Outcome, Kept) {
    if workers < 2 {
        let outcome = work(space, store, &mut search, settings, control, entering);
        return (outcome, Kept { lost: search.lost(), most_bytes: search.most_bytes(), widest: search.widest() });
    }
    let parts = search.apart(space.width());
    // In a pass that begins again every worker finds what the record knows already.
    let disjoint = !entering.first || entering.record.is_none();
    let crew = Crew { disjoint, ..Crew::new(workers, settings.max_errors.max(1)) };
    let pool = Pool::new(parts.level, parts.next, parts.waypoints);
    let lost = AtomicU64::new(parts.lost);
    let first = entering.first;
    // Who comes first goes on with the record.
    let record = Mutex::new(entering.record);
    let (account, queue, rng) = (parts.account, &parts.queue, &parts.rng);
    // What each worker has under way, and what goes on beside them, is known only once it is there.
    let under_way = workers * UNDER_WAY * (size_of_val(space.packing().masks()) + STEP);
    account.charge(under_way);
    let run = |worker: usize, control: &mut dyn Control| {
        let spill = rng.as_ref().map(|rng| Spill::new(rng.split(worker as u64)));
        let mut strategy = Segments {
            crew: &crew,
            pool: &pool,
            leads: worker == 0,
            frontier: Frontier::new(queue.like(), spill, account),
            reading: queue.like(),
            read_left: 0,
            queued: 0,
            under_way: 0,
            beyond: 0,
            depth: parts.depth,
            deepest: parts.deepest,
            limit: settings.limits.depth,
            batch: 1,
            begun: !first,
            meetings: 0,
            kept: Vec::new(),
        };
        let record = if worker == 0 { record.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let outcome = work(space, store, &mut strategy, settings, control, Entering { first: first && worker == 0, record });
        lost.fetch_add(strategy.frontier.lost, Ordering::Relaxed);
        outcome
    };
    // Whoever ends early would be waited for.
    let outcome = together(&crew, control, run, settings, |stop| stop != Stop::Exhausted);
    account.refund(under_way);
    let heap = pool.heap();
    (outcome, Kept { lost: lost.load(Ordering::Relaxed), most_bytes: heap.most, widest: heap.widest })
}

/// What waits, and the waypoints on the way there. Whoever holds both locks took the heap's first.
struct Pool {
    heap: Mutex<Heap>,
    /// States in the heap.
    waiting: AtomicU64,
    waypoints: Mutex<Waypoints>,
}

#[derive(Default)]
struct Heap {
    /// Segments of the level that is being expanded, and of the next.
    level: Vec<Segment>,
    next: Vec<Segment>,
    bytes: usize,
    most: usize,
    /// The meeting after which the next level became the level; the states it had then, and the most that one had.
    turned: u64,
    states: u64,
    widest: u64,
    /// Whether what is found in this level becomes waypoints.
    marks: bool,
}

impl Pool {
    fn new(level: Vec<Segment>, next: Vec<Segment>, waypoints: Waypoints) -> Self {
        let states = level.iter().chain(&next).map(|segment| u64::from(segment.states())).sum();
        let bytes = level.iter().chain(&next).map(Segment::bytes).sum();
        let heap = Heap { level, next, bytes, most: bytes, ..Heap::default() };
        Pool { heap: Mutex::new(heap), waiting: AtomicU64::new(states), waypoints: Mutex::new(waypoints) }
    }

    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waypoints(&self) -> MutexGuard<'_, Waypoints> {
        self.waypoints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a segment of the level.
    fn take(&self) -> Option<Segment> {
        let mut heap = self.heap();
        let segment = heap.level.pop()?;
        heap.bytes -= segment.bytes();
        self.waiting.fetch_sub(u64::from(segment.states()), Ordering::Relaxed);
        Some(segment)
    }

    /// Adds segments to the next level, and says how many states they hold.
    fn add(&self, segments: impl Iterator<Item = Segment>) -> u64 {
        let mut heap = self.heap();
        let mut states = 0;
        for segment in segments {
            states += u64::from(segment.states());
            heap.bytes += segment.bytes();
            heap.next.push(segment);
        }
        heap.most = heap.most.max(heap.bytes);
        self.waiting.fetch_add(states, Ordering::Relaxed);
        states
    }

    /// Makes the next level the level, unless another worker has done so after this meeting: the states that it has, and whether what is found there
    /// becomes waypoints, as `marks` says for so many states.
    fn turn(&self, meeting: u64, marks: impl FnOnce(u64, &Waypoints) -> bool) -> (u64, bool) {
        let mut heap = self.heap();
        if heap.turned < meeting {
            heap.turned = meeting;
            heap.level = std::mem::take(&mut heap.next);
            heap.states = heap.level.iter().map(|segment| u64::from(segment.states())).sum();
            heap.widest = heap.widest.max(heap.states);
            heap.marks = marks(heap.states, &self.waypoints());
        }
        (heap.states, heap.marks)
    }
}

/// The part of one worker.
struct Segments<'r, 'a> {
    crew: &'r Crew,
    pool: &'r Pool,
    /// Whether it speaks for what lies in the pool, too.
    leads: bool,
    frontier: Frontier<'a>,
    /// The segment that was taken, and the states left there.
    reading: Queue,
    read_left: u64,
    /// States in the worker's own segments.
    queued: u64,
    under_way: u64,
    beyond: u64,
    depth: u32,
    deepest: u32,
    limit: u32,
    batch: u32,
    begun: bool,
    meetings: u64,
    /// The candidates of a round that are kept, each with its waypoint.
    kept: Vec<(usize, u32)>,
}

impl Segments<'_, '_> {
    /// Takes a segment, and says whether there was one.
    fn take(&mut self) -> bool {
        let Some(segment) = self.pool.take() else { return false };
        self.read_left = u64::from(segment.states());
        self.reading.load(segment);
        true
    }
}

impl Strategy for Segments<'_, '_> {
    fn select(&mut self, _store: &dyn Store, selection: &mut Selection) {
        if self.depth >= self.limit {
            while self.take() {
                self.beyond += std::mem::take(&mut self.read_left);
            }
            return;
        }
        while (selection.handles.len() as u32) < self.batch {
            match self.reading.pop(&mut selection.states) {
                Some(waypoint) => {
                    selection.handles.push(Handle(waypoint));
                    self.read_left -= 1;
                }
                None if self.take() => {}
                None => break,
            }
        }
        self.under_way += selection.handles.len() as u64;
    }

    fn lag(&self) -> usize {
        LAG
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let Segments { pool, frontier, kept: found, .. } = self;
        let states = &candidates.steps.states;
        found.clear();
        let mut waypoints = pool.waypoints();
        for (index, _) in visits.iter().enumerate().filter(|(_, visit)| matches!(visit, Visit::New(_))) {
            if !frontier.leaves_out() {
                let before = candidates.parent(index).map(|handle| handle.0);
                let waypoint = frontier.waypoint(states.get(index), before, &mut waypoints);
                found.push((index, waypoint.unwrap_or(NOWHERE)));
            }
        }
        // What could not be dealt with ends the run.
        selection.handles[..kept].iter().for_each(|handle| waypoints.release(handle.0));
        drop(waypoints);
        let all = found.len();
        found.retain(|(index, waypoint)| !frontier.put(states.get(*index), *waypoint));
        self.queued += (all - found.len()) as u64;
        if !found.is_empty() {
            let mut waypoints = pool.waypoints();
            found.iter().for_each(|(_, waypoint)| waypoints.release(*waypoint));
        }
        let mut full = frontier.queue.take_full().peekable();
        if full.peek().is_some() {
            self.queued -= pool.add(full);
        }
        self.under_way -= kept as u64;
        self.batch = next_batch(self.batch, selection.handles.len(), candidates.steps.len());
    }

    fn full(&self) -> bool {
        self.frontier.is_full()
    }

    fn at_border(&self) -> bool {
        false
    }

    fn level(&self) -> Option<u32> {
        Some(self.depth)
    }

    fn trail(&self, _ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let mut trail = self.pool.waypoints().chain(selection.handles.get(source)?.0);
        trail.push(selection.states.get(source).to_vec());
        Some(trail)
    }

    fn meet(&mut self, found: usize, ask: &mut dyn FnMut() -> Option<Stop>) -> Meeting {
        self.queued -= self.pool.add(self.frontier.queue.take_segments());
        match self.crew.meet(Vec::new(), found, ask) {
            Err(stop) => Meeting::Stop(stop),
            Ok((_, violations)) => {
                self.meetings += 1;
                let next = self.depth + u32::from(self.begun);
                let (states, marks) = self.pool.turn(self.meetings, |states, waypoints| self.frontier.marks_at(next + 1, states, waypoints));
                self.deepest = if states == 0 { self.deepest } else { next };
                if violations >= self.crew.most {
                    return Meeting::Stop(Stop::Violations);
                }
                (self.depth, self.begun, self.frontier.marks) = (next, true, marks);
                if states == 0 { Meeting::Over } else { Meeting::On }
            }
        }
    }

    fn depth(&self) -> Option<u32> {
        let found = if self.queued == 0 { 0 } else { self.depth + u32::from(self.begun) };
        Some(self.deepest.max(found))
    }

    fn frontier(&self) -> u64 {
        let shared = if self.leads { self.pool.waiting.load(Ordering::Relaxed) } else { 0 };
        shared + self.read_left + self.queued + self.under_way + self.beyond + self.frontier.lost
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
