//! Several workers at one exploration.
//!
//! A level-synchronous crew shares a store: workers take pieces of the level from a list, keep what they find to themselves, and meet when the level is
//! done; what they found together is the next level. Between two meetings they share nothing but the store and one number per piece. A crew of walkers
//! shares nothing at all: each has its own store and its own streams, and they meet after so many steps, so that what they found does not depend on who was
//! faster.
//!
//! Meetings take a lock and sleep; there are as many as levels, or one for every 65,536 steps of a walker. A worker that ends for a reason of its own
//! (memory, time, Ctrl-C) says so, and no one waits for it any more.

mod queued;

use crate::explore::{Entering, conclude, work};
use crate::strategies::Waiting;
use crate::{Candidates, Control, Handle, Limits, Meeting, Outcome, Progress, Selection, Settings, Stop, Store, Strategy, Visit};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wayfarer_space::Space;

pub use queued::explore_over_fingerprints;
pub(crate) use queued::{Kept, over_fingerprints};

/// States in a piece of a level, at most.
const PIECE: u32 = 256;
/// Pieces for each worker that a level is cut into at least, where it is large enough.
const PIECES: u64 = 8;
/// Steps of a walker between two meetings.
const STRIDE: u64 = 1 << 16;
/// How long a worker sleeps at a meeting before it looks up.
const NAP: Duration = Duration::from_millis(5);

/// Explores breadth-first with several workers over one store that gives states back. Verdict, states, rules fired and the length of the shortest witness do
/// not depend on how many there are.
pub fn explore_by_levels(space: &dyn Space, store: &dyn Store, workers: usize, settings: &Settings, control: &mut dyn Control) -> Outcome {
    let mut outcome = levels(space, store, workers, settings, None, control).0;
    conclude(space, store, settings, &mut outcome);
    outcome
}

/// The same from the start, or from what waits in the store; not concluded, with what waits to be expanded at the end.
pub(crate) fn levels(
    space: &dyn Space,
    store: &dyn Store,
    workers: usize,
    settings: &Settings,
    from: Option<&Waiting>,
    control: &mut dyn Control,
) -> (Outcome, Waiting) {
    let crew = Crew::new(workers, settings.max_errors.max(1));
    if let Some(from) = from {
        let mut gate = crew.gate();
        gate.level = Arc::new(Level::new(from.level.clone(), workers));
        gate.found.clone_from(&from.next);
    }
    let waiting = Mutex::new(Waiting::default());
    let run = |worker, control: &mut dyn Control| {
        let mut strategy = Levels::new(&crew, &settings.limits);
        if let Some(from) = from {
            strategy = strategy.from(from);
        }
        let first = worker == 0 && from.is_none_or(|waiting| waiting.starts);
        let outcome = work(space, store, &mut strategy, settings, control, Entering { first, record: None });
        strategy.leave(&mut waiting.lock().unwrap_or_else(PoisonError::into_inner));
        outcome
    };
    // Whoever ends early would be waited for.
    let outcome = together(&crew, control, run, settings, |stop| stop != Stop::Exhausted);
    let mut waiting = waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What was found when the last meeting did not come about.
    let gate = crew.gate();
    waiting.next.extend(&gate.found);
    let taken = gate.level.next.load(Ordering::Relaxed).min(gate.level.pieces.len());
    waiting.level.extend(&gate.level.pieces[taken..]);
    waiting.starts = outcome.starts_left;
    drop(gate);
    (outcome, waiting)
}

/// A walker's own store and strategy.
pub type Part<'a> = (Box<dyn Store + 'a>, Box<dyn Strategy + 'a>);

/// Explores with several walkers, each of which has its own store and strategy, made by `part` for its number; none where there is no room for it.
pub fn explore_apart<'a>(
    space: &dyn Space,
    part: &(dyn Fn(usize) -> Option<Part<'a>> + Sync),
    workers: usize,
    settings: &Settings,
    control: &mut dyn Control,
) -> Outcome {
    let crew = Crew::new(workers, settings.max_errors.max(1));
    // Each makes its share of the steps, the first those that are left over.
    let share = |worker: usize| match settings.limits.steps {
        u64::MAX => u64::MAX,
        steps => steps / workers as u64 + if worker == 0 { steps % workers as u64 } else { 0 },
    };
    let run = |worker: usize, control: &mut dyn Control| {
        let Some((store, mut strategy)) = part(worker) else {
            crew.leave(0);
            return Outcome::new(space.rules()).without_room();
        };
        let settings = Settings { limits: Limits { steps: share(worker), ..settings.limits }, record_always: true, ..settings.clone() };
        let mut strides = Strides { crew: &crew, inner: control, next: STRIDE };
        let mut outcome = work(space, &*store, &mut *strategy, &settings, &mut strides, Entering::default());
        crew.leave(outcome.violations.len());
        // Handles mean nothing outside the walker's own store.
        outcome.settle_trails(space, &*store);
        // What one walker covers another may cover too: only a record tells them apart.
        outcome.exhaustive = false;
        outcome
    };
    together(&crew, control, run, settings, |stop| matches!(stop, Stop::Time | Stop::Interrupted))
}

/// Runs all workers, the first on this thread, and puts together what they did. `spreads` says which reasons that ended one worker end all.
fn together(
    crew: &Crew,
    control: &mut dyn Control,
    run: impl Fn(usize, &mut dyn Control) -> Outcome + Sync,
    settings: &Settings,
    spreads: impl Fn(Stop) -> bool + Sync,
) -> Outcome {
    std::thread::scope(|scope| {
        let (run, spreads) = (&run, &spreads);
        let others: Vec<_> = (1..crew.workers)
            .filter_map(|worker| {
                let begun = std::thread::Builder::new().name(format!("worker {worker}")).spawn_scoped(scope, move || {
                    let _watch = DeadMansSwitch(crew);
                    let outcome = run(worker, &mut Follower { crew, worker });
                    if spreads(outcome.stop) {
                        crew.end(outcome.stop);
                    }
                    outcome
                });
                // Where the system has no more threads, the others do the work.
                if begun.is_err() {
                    crew.leave(0);
                }
                begun.ok()
            })
            .collect();
        let _watch = DeadMansSwitch(crew);
        let mut outcome = run(0, &mut Leader { crew, inner: control });
        if spreads(outcome.stop) {
            crew.end(outcome.stop);
        }
        let mut leader = Leader { crew, inner: control };
        let last = Progress { states: outcome.states, fired: outcome.fired, steps: outcome.steps, ..Progress::default() };
        while others.iter().any(|other| !other.is_finished()) {
            std::thread::sleep(NAP);
            if let Some(stop) = leader.ask(&last) {
                crew.end(stop);
            }
        }
        for other in others {
            match other.join() {
                Ok(more) => outcome.absorb(more, settings.max_errors.max(1)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcome
    })
}

/// Ends the run for the others where a worker panics, so that they do not wait for it for ever.
struct DeadMansSwitch<'a>(&'a Crew);

impl Drop for DeadMansSwitch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Stop::Interrupted);
        }
    }
}

/// What the workers of a crew share.
struct Crew {
    workers: usize,
    most: usize,
    gate: Mutex<Gate>,
    opened: Condvar,
    /// Whether the run ends, so that no one has to look behind the gate.
    ended: AtomicBool,
    /// Where each worker stands, for the progress line: states, rules fired and steps. Apart, so that workers do not write into each other's lines.
    progress: Vec<Place>,
    /// Whether the states of all workers together are what was visited; else the first speaks for all.
    disjoint: bool,
}

#[derive(Default)]
#[repr(align(128))]
struct Place([AtomicU64; 3]);

#[derive(Default)]
struct Gate {
    /// Workers that are still at it, and those of them that wait.
    present: usize,
    waiting: usize,
    meetings: u64,
    /// What was found for the next level: first handle and number of states.
    found: Vec<(u32, u32)>,
    level: Arc<Level>,
    /// Violations of those who wait, and of those who left.
    violations: usize,
    left_with: usize,
    /// Violations when the last meeting ended.
    counted: usize,
    stop: Option<Stop>,
}

/// The states of a level, in pieces.
#[derive(Default)]
struct Level {
    pieces: Vec<(u32, u32)>,
    next: AtomicUsize,
}

impl Level {
    fn new(mut found: Vec<(u32, u32)>, workers: usize) -> Self {
        found.sort_unstable();
        let states: u64 = found.iter().map(|(_, states)| u64::from(*states)).sum();
        let piece = (states / (workers as u64 * PIECES)).clamp(1, u64::from(PIECE)) as u32;
        let cut = |(first, states): (u32, u32)| (0..states.div_ceil(piece)).map(move |at| (first + at * piece, piece.min(states - at * piece)));
        Level { pieces: found.into_iter().flat_map(cut).collect(), next: AtomicUsize::new(0) }
    }
}

impl Crew {
    fn new(workers: usize, most: usize) -> Self {
        let gate = Gate { present: workers, ..Gate::default() };
        Crew {
            workers,
            most,
            gate: Mutex::new(gate),
            opened: Condvar::new(),
            ended: AtomicBool::new(false),
            progress: (0..workers).map(|_| Default::default()).collect(),
            disjoint: true,
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everyone is here, and gives the violations found so far.
    fn meet(&self, found: Vec<(u32, u32)>, violations: usize, ask: &mut dyn FnMut() -> Option<Stop>) -> Result<(Arc<Level>, usize), Stop> {
        let mut gate = self.gate();
        gate.found.extend(found);
        gate.violations += violations;
        gate.waiting += 1;
        let meeting = gate.meetings;
        self.open(&mut gate);
        while gate.meetings == meeting {
            if let Some(stop) = gate.stop {
                return Err(stop);
            }
            gate = self.opened.wait_timeout(gate, NAP).unwrap_or_else(PoisonError::into_inner).0;
            if gate.meetings == meeting && gate.stop.is_none() {
                drop(gate);
                if let Some(stop) = ask() {
                    self.end(stop);
                }
                gate = self.gate();
            }
        }
        Ok((gate.level.clone(), gate.counted))
    }

    /// Ends the meeting where everyone is here.
    fn open(&self, gate: &mut Gate) {
        if gate.waiting == gate.present && gate.waiting > 0 {
            gate.level = Arc::new(Level::new(std::mem::take(&mut gate.found), self.workers));
            gate.counted = gate.violations + gate.left_with;
            gate.violations = 0;
            gate.waiting = 0;
            gate.meetings += 1;
            self.opened.notify_all();
        }
    }

    /// One fewer to wait for; it leaves with so many violations.
    fn leave(&self, violations: usize) {
        let mut gate = self.gate();
        gate.present -= 1;
        gate.left_with += violations;
        self.open(&mut gate);
    }

    /// The run ends for everyone.
    fn end(&self, stop: Stop) {
        let mut gate = self.gate();
        gate.stop = gate.stop.or(Some(stop));
        self.ended.store(true, Ordering::Release);
        self.opened.notify_all();
    }

    fn stop(&self) -> Option<Stop> {
        if self.ended.load(Ordering::Acquire) { self.gate().stop } else { None }
    }
}

/// Breadth-first search of one worker of a crew.
struct Levels<'a> {
    crew: &'a Crew,
    level: Arc<Level>,
    /// What is left of the piece that was taken.
    piece: (u32, u32),
    found: Vec<(u32, u32)>,
    /// States that were selected and could not be dealt with, and how many were found when the run ended.
    cut: Vec<u32>,
    left: u64,
    under_way: u64,
    depth: u32,
    deepest: u32,
    limit: u32,
    beyond: u64,
    begun: bool,
}

impl<'a> Levels<'a> {
    fn new(crew: &'a Crew, limits: &Limits) -> Self {
        Levels {
            crew,
            level: Arc::default(),
            piece: (0, 0),
            found: Vec::new(),
            cut: Vec::new(),
            left: 0,
            under_way: 0,
            depth: 0,
            deepest: 0,
            limit: limits.depth,
            beyond: 0,
            begun: false,
        }
    }
}

impl Levels<'_> {
    /// The same in the middle of a level.
    fn from(self, waiting: &Waiting) -> Self {
        let level = self.crew.gate().level.clone();
        let deepest = waiting.depth + u32::from(!waiting.next.is_empty());
        Levels { level, depth: waiting.depth, deepest, begun: true, ..self }
    }

    /// What this worker leaves unexpanded. What it brought to a meeting is the crew's.
    fn leave(&self, waiting: &mut Waiting) {
        waiting.depth = waiting.depth.max(self.depth);
        waiting.level.extend(self.cut.iter().map(|handle| (*handle, 1)));
        waiting.level.extend(Some(self.piece).filter(|piece| piece.1 > 0));
        waiting.next.extend(&self.found);
    }
}

impl Strategy for Levels<'_> {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.piece.1 == 0 {
            let next = self.level.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.level.pieces.get(next) else { return };
            self.piece = *piece;
        }
        if self.depth >= self.limit {
            self.beyond += u64::from(self.piece.1);
            self.piece.1 = 0;
            return self.select(store, selection);
        }
        let taken = self.piece.1.min(64);
        selection.handles.extend((self.piece.0..self.piece.0 + taken).map(Handle));
        store.states(&selection.handles, &mut selection.states);
        self.piece = (self.piece.0 + taken, self.piece.1 - taken);
        self.under_way += u64::from(taken);
    }

    fn lag(&self) -> usize {
        2
    }

    fn update(&mut self, selection: &Selection, kept: usize, _candidates: Candidates, visits: &[Visit]) {
        for visit in visits {
            if let Visit::New(Handle(handle)) = visit {
                match self.found.last_mut() {
                    Some((first, states)) if *first + *states == *handle => *states += 1,
                    _ => self.found.push((*handle, 1)),
                }
            }
        }
        if !selection.handles.is_empty() {
            self.under_way -= selection.handles.len() as u64;
            self.cut.extend(selection.handles[kept..].iter().map(|handle| handle.0));
        }
    }

    fn at_border(&self) -> bool {
        false
    }

    fn level(&self) -> Option<u32> {
        Some(self.depth)
    }

    fn meet(&mut self, found: usize, ask: &mut dyn FnMut() -> Option<Stop>) -> Meeting {
        let own: u64 = self.found.iter().map(|(_, states)| u64::from(*states)).sum();
        match self.crew.meet(std::mem::take(&mut self.found), found, ask) {
            Err(stop) => {
                self.left += own;
                Meeting::Stop(stop)
            }
            Ok((level, violations)) => {
                let empty = level.pieces.is_empty();
                let next = self.depth + u32::from(self.begun);
                self.deepest = if empty { self.deepest } else { next };
                if violations >= self.crew.most {
                    self.left += own;
                    return Meeting::Stop(Stop::Violations);
                }
                self.depth = next;
                self.begun = true;
                self.level = level;
                if empty { Meeting::Over } else { Meeting::On }
            }
        }
    }

    fn depth(&self) -> Option<u32> {
        let found = if self.found.is_empty() { 0 } else { self.depth + u32::from(self.begun) };
        Some(self.deepest.max(found))
    }

    fn frontier(&self) -> u64 {
        let found: u64 = self.found.iter().map(|(_, states)| u64::from(*states)).sum();
        u64::from(self.piece.1) + self.under_way + self.cut.len() as u64 + self.left + found + self.beyond
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        true
    }
}

/// The control of the worker that runs where the run was begun: it asks the outside, with what all have done.
struct Leader<'a> {
    crew: &'a Crew,
    inner: &'a mut dyn Control,
}

impl Control for Leader<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        note(&self.crew.progress[0], progress);
        let sum = |at: usize| self.crew.progress.iter().map(|worker| worker.0[at].load(Ordering::Relaxed)).sum();
        let states = if self.crew.disjoint { sum(0) } else { progress.states };
        let all = Progress { states, fired: sum(1), steps: sum(2), ..*progress };
        self.inner.ask(&all).or_else(|| self.crew.stop())
    }
}

/// The control of the others: they end when the run does.
struct Follower<'a> {
    crew: &'a Crew,
    worker: usize,
}

impl Control for Follower<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        note(&self.crew.progress[self.worker], progress);
        self.crew.stop()
    }
}

fn note(Place(at): &Place, progress: &Progress) {
    at[0].store(progress.states, Ordering::Relaxed);
    at[1].store(progress.fired, Ordering::Relaxed);
    at[2].store(progress.steps, Ordering::Relaxed);
}

/// The control of a walker: it meets the others after so many steps, and ends with them where any of them has found enough.
struct Strides<'a> {
    crew: &'a Crew,
    inner: &'a mut dyn Control,
    next: u64,
}

impl Control for Strides<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if progress.steps < self.next {
            return self.inner.ask(progress);
        }
        self.next += STRIDE;
        let Strides { crew, inner, .. } = self;
        match crew.meet(Vec::new(), progress.violations, &mut || inner.ask(progress)) {
            Err(stop) => Some(stop),
            Ok((_, violations)) if violations >= crew.most => Some(Stop::Violations),
            Ok(_) => self.inner.ask(progress),
        }
    }
}
