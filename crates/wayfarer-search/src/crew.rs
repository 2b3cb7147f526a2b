//! Several workers at one job: one leads, the others follow, and all of them meet.
//!
//! Between two meetings workers share only the store and the frontier. Whoever comes to a meeting early first watches for its end, because waking a
//! sleeping thread takes as long as expanding hundreds of states, and then sleeps. Breadth-first
//! search meets once per level; walkers do not meet ([`strides`]). The last worker to arrive decides how many workers are called to the next level. A thin level is expanded by
//! the first worker alone, and the others sleep until a level has enough work for them. A worker that ends early
//! (memory, time, Ctrl-C) says so, and the others no longer wait for it.

mod load;
mod strides;

use crate::record::Union;
use crate::{Control, Progress, Stop};
pub(crate) use load::{Lifted, Load};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use strides::Pace;
pub(crate) use strides::Strides;
use wayfarer_store::OwnLine;

/// How long a worker sleeps at a meeting before it looks up.
const NAP: Duration = Duration::from_millis(5);
/// And the first time, if it waits for the others to end.
const SHORTEST_NAP: Duration = Duration::from_micros(20);

/// How many times a worker looks whether a meeting has ended before it sleeps: at most, about 50 microseconds, and at least. Half as often after it looked in
/// vain, and twice as often after it did not.
const LOOKS: (u32, u32) = (1024, 8);

/// How a worker's part of a job ended.
pub(crate) struct Ended<T> {
    /// Its result.
    pub(crate) done: T,
    /// Why the others have to end as well, if they have to.
    pub(crate) ends_all: Option<Stop>,
    /// Its last figures, for the progress line.
    pub(crate) progress: Progress,
}

/// Runs all workers, the first on this thread, and returns their results in the order of their numbers. If the system
/// refuses a thread, that worker is left out and the others do its work.
pub(crate) fn together<T: Send>(crew: &Crew, control: &mut dyn Control, run: impl Fn(usize, &mut dyn Control) -> Ended<T> + Sync) -> Vec<T> {
    let part = |worker: usize, control: &mut dyn Control| {
        let _watch = DeadMansSwitch(crew);
        let ended = run(worker, control);
        if let Some(stop) = ended.ends_all {
            crew.end(stop);
        }
        ended
    };
    std::thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..crew.workers)
            .filter_map(|worker| {
                let thread = std::thread::Builder::new().name(format!("worker {worker}"));
                let begun = thread.spawn_scoped(scope, move || part(worker, &mut Follower { crew, worker }).done);
                if begun.is_err() {
                    crew.leave(worker, 0);
                }
                begun.ok()
            })
            .collect();
        let mut leader = Leader { crew, inner: control };
        let Ended { done, progress, .. } = part(0, &mut leader);
        // The others mostly end at the same time.
        let mut nap = SHORTEST_NAP;
        while others.iter().any(|other| !other.is_finished()) {
            std::thread::sleep(nap);
            nap = (nap * 2).min(NAP);
            if let Some(stop) = leader.ask(&progress) {
                crew.end(stop);
            }
        }
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(done).chain(joined).collect()
    })
}

/// Ends the run for the others if a worker panics, so that they do not wait for it for ever.
struct DeadMansSwitch<'a>(&'a Crew);

impl Drop for DeadMansSwitch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Stop::Interrupted);
        }
    }
}

/// The state that the workers of a crew share.
pub(crate) struct Crew {
    workers: usize,
    most: usize,
    gate: Mutex<Gate>,
    /// One for each worker, so that only those are woken who are called.
    bells: Vec<Condvar>,
    /// Whether the run ends, so that no one has to look behind the gate.
    ended: AtomicBool,
    /// The result of the last meeting, so that a worker that watches for it need not look behind the gate, either.
    result: AtomicU64,
    /// How often each worker looks before it sleeps.
    looks: Vec<AtomicU32>,
    /// Each worker's states, rules fired and steps, for the progress line. They lie in separate cache lines, so that
    /// workers do not slow each other down.
    progress: Vec<OwnLine<Figures>>,
    /// Whether the workers' states are disjoint, so that their sum is the number of visited states. If not, the union of their records says it, and where
    /// there is none the largest number is shown: at least as many were visited.
    disjoint: bool,
    union: Option<Arc<Union>>,
    /// How far walkers have come.
    pace: Pace,
}

/// A worker's states, rules fired and steps.
type Figures = [AtomicU64; 3];

struct Gate {
    /// Which workers are still at it, and the violations each of them had when it last came or left.
    present: Vec<bool>,
    /// Which of them sleep.
    asleep: Vec<bool>,
    violations: Vec<usize>,
    /// Workers below this number were called by the last meeting: those of them that are present, and those of these that wait.
    called: usize,
    working: usize,
    waiting: usize,
    meetings: u64,
    stop: Option<Stop>,
}

/// The news that a worker gets at a meeting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// How many meetings there were. A worker that was not called may have missed some.
    pub(crate) meetings: u64,
    /// How many workers were called, the first ones.
    pub(crate) called: usize,
    /// Whether all workers together had found enough violations when the meeting ended.
    pub(crate) enough: bool,
}

impl Met {
    /// The result in one word. The number of workers is far below the room for it.
    fn packed(self) -> u64 {
        self.meetings << 24 | (self.called as u64) << 1 | u64::from(self.enough)
    }

    fn unpacked(word: u64) -> Self {
        Met { meetings: word >> 24, called: (word >> 1) as usize & 0x7f_ffff, enough: word & 1 == 1 }
    }
}

impl Crew {
    /// A crew of `workers` workers that stops after `most` violations.
    pub(crate) fn new(workers: usize, most: usize) -> Self {
        Crew {
            workers,
            most,
            gate: Mutex::new(Gate {
                present: vec![true; workers],
                asleep: vec![false; workers],
                violations: vec![0; workers],
                called: workers,
                working: workers,
                waiting: 0,
                meetings: 0,
                stop: None,
            }),
            bells: (0..workers).map(|_| Condvar::new()).collect(),
            ended: AtomicBool::new(false),
            result: AtomicU64::new(Met { meetings: 0, called: workers, enough: false }.packed()),
            looks: (0..workers).map(|_| AtomicU32::new(LOOKS.0)).collect(),
            progress: (0..workers).map(|_| Default::default()).collect(),
            disjoint: true,
            union: None,
            pace: Pace::new(workers),
        }
    }

    /// The same, in which the worker with the most states speaks for all about them, unless they are `disjoint`.
    pub(crate) fn counting(self, disjoint: bool) -> Self {
        Crew { disjoint, ..self }
    }

    /// The same, in which the union of the workers' records says how many states were visited.
    pub(crate) fn united(self, union: Option<Arc<Union>>) -> Self {
        Crew { disjoint: false, union, ..self }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Waits until everyone who was called is here and this worker is called again. The last to come asks `next`, with the number of this meeting, how many
    /// workers are to be called. Everyone is called if enough was found.
    pub(crate) fn meet(
        &self,
        worker: usize,
        violations: usize,
        ask: &mut dyn FnMut() -> Option<Stop>,
        next: &mut dyn FnMut(u64) -> usize,
    ) -> Result<Met, Stop> {
        let mut gate = self.gate();
        gate.violations[worker] = violations;
        gate.waiting += 1;
        let met = gate.meetings;
        if gate.waiting == gate.working {
            self.open(&mut gate, next);
        }
        if gate.meetings == met && gate.stop.is_none() {
            drop(gate);
            if let Some(result) = self.watch(worker, met) {
                return Ok(result);
            }
            gate = self.gate();
        }
        while gate.meetings == met || worker >= gate.called {
            if let Some(stop) = gate.stop {
                return Err(stop);
            }
            gate.asleep[worker] = true;
            if worker > 0 {
                gate = self.bells[worker].wait(gate).unwrap_or_else(PoisonError::into_inner);
                gate.asleep[worker] = false;
                continue;
            }
            // The first worker speaks for all with the outside, which may end the run.
            gate = self.bells[worker].wait_timeout(gate, NAP).unwrap_or_else(PoisonError::into_inner).0;
            gate.asleep[worker] = false;
            if gate.meetings == met && gate.stop.is_none() {
                drop(gate);
                if let Some(stop) = ask() {
                    self.end(stop);
                }
                gate = self.gate();
            }
        }
        Ok(Met::unpacked(self.result.load(Ordering::Acquire)))
    }

    /// Looks for a while whether the meeting after `met` others has ended. Gives its result if it has and calls this worker. Until this worker comes to the
    /// next meeting, there is no other result.
    fn watch(&self, worker: usize, met: u64) -> Option<Met> {
        let looks = self.looks[worker].load(Ordering::Relaxed);
        for _ in 0..looks {
            let result = Met::unpacked(self.result.load(Ordering::Acquire));
            if result.meetings != met {
                self.looks[worker].store((looks * 2).min(LOOKS.0), Ordering::Relaxed);
                return (worker < result.called).then_some(result);
            }
            if self.ended.load(Ordering::Relaxed) {
                return None;
            }
            std::hint::spin_loop();
        }
        self.looks[worker].store((looks / 2).max(LOOKS.1), Ordering::Relaxed);
        None
    }

    /// A meeting of the first worker with itself: the others have not been called, and stay away. Says how many meetings there were. None if others have
    /// been called, or if violations were found, which all have to learn.
    pub(crate) fn go_on_alone(&self) -> Option<u64> {
        let mut gate = self.gate();
        if gate.working > 1 || gate.stop.is_some() || gate.violations.iter().any(|found| *found > 0) {
            return None;
        }
        gate.meetings += 1;
        self.result.store(Met { meetings: gate.meetings, called: gate.called, enough: false }.packed(), Ordering::Release);
        Some(gate.meetings)
    }

    /// Ends a meeting.
    fn open(&self, gate: &mut Gate, next: &mut dyn FnMut(u64) -> usize) {
        gate.waiting = 0;
        gate.meetings += 1;
        let enough = gate.violations.iter().sum::<usize>() >= self.most;
        // The level is turned in any case: it says what is left.
        let called = next(gate.meetings).clamp(1, self.workers);
        gate.called = if enough { self.workers } else { called };
        gate.working = gate.present[..gate.called].iter().filter(|present| **present).count();
        self.result.store(Met { meetings: gate.meetings, called: gate.called, enough }.packed(), Ordering::Release);
        self.ring(&gate.asleep[..gate.called]);
    }

    /// Wakes those who sleep.
    fn ring(&self, asleep: &[bool]) {
        self.bells.iter().zip(asleep).filter(|(_, asleep)| **asleep).for_each(|(bell, _)| bell.notify_one());
    }

    /// A worker leaves and is no longer waited for; it has found this many violations.
    pub(crate) fn leave(&self, worker: usize, violations: usize) {
        self.pace.leave(worker, violations);
        let mut gate = self.gate();
        gate.violations[worker] = violations;
        if std::mem::take(&mut gate.present[worker]) && worker < gate.called {
            gate.working -= 1;
            if gate.waiting == gate.working && gate.waiting > 0 {
                self.open(&mut gate, &mut |_| self.workers);
            }
        }
    }

    /// The run ends for everyone.
    pub(crate) fn end(&self, stop: Stop) {
        let mut gate = self.gate();
        gate.stop = gate.stop.or(Some(stop));
        self.ended.store(true, Ordering::Release);
        self.ring(&gate.asleep);
    }

    /// Why the run ends, if it does.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if self.ended.load(Ordering::Acquire) { self.gate().stop } else { None }
    }
}

/// The control of the worker on the thread that began the run. It asks the outside, with the sum of all workers' figures.
struct Leader<'a> {
    crew: &'a Crew,
    inner: &'a mut dyn Control,
}

impl Control for Leader<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        note(&self.crew.progress[0], progress);
        let sum = |at: usize| self.crew.progress.iter().map(|worker| worker[at].load(Ordering::Relaxed)).sum();
        let most = || self.crew.progress.iter().map(|worker| worker[0].load(Ordering::Relaxed)).max();
        let united = self.crew.union.as_ref().map_or(0, |union| union.states());
        let states = if self.crew.disjoint { sum(0) } else { most().unwrap_or(progress.states).max(united) };
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

fn note(at: &Figures, progress: &Progress) {
    at[0].store(progress.states, Ordering::Relaxed);
    at[1].store(progress.fired, Ordering::Relaxed);
    at[2].store(progress.steps, Ordering::Relaxed);
}
