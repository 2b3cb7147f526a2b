//! The schedule of a phase: which job comes next, that of the phase or one of the [arms](super::arms).
//!
//! If one worker carries the phase out, the phase pauses when a turn of an arm is due and goes on after it. If there
//! are several workers, the arms have a thread of their own, so that no worker waits for them. That thread waits until
//! the phase has made the steps that allow the next turn.

use super::arms::Arms;
use crate::crew::{Crew, Ended, together};
use crate::explore::{Stretch, Work};
use crate::job::{Breadth, stood};
use crate::{Account, Bfs, Control, Outcome, Progress, Seat, Stop, Store};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use wayfarer_space::Space;

/// A phase about to be carried out, and the arms beside it.
pub(super) struct Schedule<'r, 'a> {
    turns: Turns<'r, 'a>,
    inner: &'r mut dyn Control,
    so_far: Progress,
    /// The phase ends if more bytes than this are in use.
    most: usize,
    /// Distinct states that earlier passes visited.
    least: u64,
    crowded: Crowded,
}

/// When the space's own tables leave the search too little of its memory: nothing that the search gives up would make room for them.
#[derive(Clone, Copy)]
pub(super) struct Crowded {
    /// Bytes in use, and bytes of the space's tables.
    used: usize,
    tables: usize,
}

impl Crowded {
    /// For a run of so many bytes. Stores and frontiers ask before they grow, so they do not go beyond it themselves.
    pub(super) fn within(whole: usize) -> Self {
        Crowded { used: whole + whole / 32, tables: whole / 4 }
    }

    pub(super) fn is_met(self, account: &dyn Account, space: &dyn Space) -> bool {
        account.used() > self.used && space.table_bytes() > self.tables
    }
}

impl<'r, 'a> Schedule<'r, 'a> {
    /// A phase over `store`, in which `seat` is a place for the arms, after phases that came to `so_far`.
    pub(super) fn new(
        arms: &'r mut Arms<'a>,
        store: &'r dyn Store,
        seat: Seat,
        so_far: Progress,
        crowded: Crowded,
        inner: &'r mut dyn Control,
    ) -> Self {
        let lasts = !so_far.phase.is_empty();
        Schedule { turns: Turns { arms, store, seat, before: so_far.steps, lasts }, inner, so_far, most: usize::MAX, least: 0, crowded }
    }

    /// The same for a phase that ends if more than `most` bytes are in use.
    pub(super) fn within(self, most: usize) -> Self {
        Schedule { most, ..self }
    }

    /// The same for a pass that begins again after `least` distinct states were visited: there are not fewer now.
    pub(super) fn at_least(self, least: u64) -> Self {
        Schedule { least, ..self }
    }

    /// Carries out the phase, with the turns that the arms have meanwhile. Says at which depth it ended, too.
    pub(super) fn run(self, phase: Breadth) -> (Outcome, u32) {
        let Schedule { mut turns, inner, so_far, most, least, crowded } = self;
        let signals = Signals::default();
        signals.tell(turns.arms);
        let Turns { store, lasts, .. } = turns;
        let (account, bytes) = (phase.account, phase.space.packing().bytes());
        let paced = phase.workers > 1;
        // The frontier of such a phase grows at once, and nobody asks for the memory of a turn.
        let promised = if phase.reserved > 0 { turns.arms.turn_bytes() } else { 0 };
        account.promise(promised);
        let asked = turns.arms.asked;
        let space = phase.space;
        let mut control =
            PhaseControl { inner, account, space, crowded, store, so_far, lasts, most, least, waiting: bytes + 4, asked, paced, signals: &signals };
        let done =
            if paced { beside(phase, &mut turns, &mut control) } else { phase.alone(|work, bfs| alternate(work, bfs, &mut turns, &mut control)) };
        account.keep(promised);
        turns.arms.asked = control.asked;
        done
    }
}

/// The phase and the arms in turn, by one worker. Returns why the phase ends, if it does not end by itself.
fn alternate(phase: &mut Work, bfs: &mut Bfs, turns: &mut Turns, control: &mut PhaseControl) -> Option<Stop> {
    loop {
        if let Stretch::Over(stop) = phase.go_on(bfs, control, turns.due()) {
            return stop;
        }
        let here = phase.progress(bfs);
        if let Some(each) = steps_each(&here) {
            turns.arms.learn(each);
        }
        let total = control.total(&here);
        let stop = turns.next(total.steps, &mut Quiet { inner: control.inner, total });
        control.signals.tell(turns.arms);
        if stop.is_some() {
            return stop;
        }
    }
}

/// The phase by its workers, and the arms beside it on a thread of their own. Without that thread they have no turns in this phase.
fn beside(phase: Breadth, turns: &mut Turns, control: &mut PhaseControl) -> (Outcome, u32) {
    let (signals, lasts) = (control.signals, control.lasts);
    let (space, pair) = (phase.space, Crew::new(2, usize::MAX));
    // Each is taken once, by the one who does it.
    let (phase, turns) = (Mutex::new(Some(phase)), Mutex::new(turns));
    let run = |who: usize, control: &mut dyn Control| {
        if who > 0 {
            let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
            return Ended { done: None, ends_all: follow(&mut turns, signals, control), progress: Progress::default() };
        }
        let _over = Closing(signals);
        let done = phase.lock().unwrap_or_else(PoisonError::into_inner).take().map(|phase| phase.run(control));
        let stop = done.as_ref().map(|(outcome, _)| outcome.stop);
        // The arms finish their turn only if another phase follows.
        let goes_on = |stop: &Stop| *stop == Stop::Memory || *stop == Stop::Exhausted && lasts;
        let progress = done.as_ref().map_or_else(Progress::default, |(outcome, _)| stood(outcome));
        Ended { ends_all: stop.filter(|stop| !goes_on(stop)), progress, done }
    };
    let done = together(&pair, control, run).into_iter().flatten().next();
    done.unwrap_or_else(|| (Outcome::new(space.rules()).without_room(), 0))
}

/// The turns of the arms beside a phase of several workers, until it ends. Returns why the phase has to end, if it has to.
fn follow(turns: &mut Turns, signals: &Signals, control: &mut dyn Control) -> Option<Stop> {
    while let Some(steps) = signals.wait(turns.due()) {
        signals.busy.store(true, Ordering::Relaxed);
        if let Some(each) = Some(signals.each.load(Ordering::Relaxed)).filter(|each| *each > 0) {
            turns.arms.learn(each);
        }
        let stop = turns.next(turns.before + steps, &mut Ending { inner: control, signals });
        signals.tell(turns.arms);
        signals.busy.store(false, Ordering::Relaxed);
        signals.cut.store(false, Ordering::Relaxed);
        if stop.is_some() {
            return stop.filter(|stop| *stop == Stop::Violations);
        }
    }
    None
}

/// The steps of an expansion, on average. None if it cannot be told, as in a phase that began with states of an earlier one.
fn steps_each(progress: &Progress) -> Option<u64> {
    let expanded = progress.states.checked_sub(progress.frontier).filter(|expanded| *expanded > 0);
    expanded.map(|expanded| progress.steps / expanded)
}

/// The turns of the arms during a phase.
struct Turns<'r, 'a> {
    arms: &'r mut Arms<'a>,
    /// The store of the phase, and a place there.
    store: &'r dyn Store,
    seat: Seat,
    /// Steps of the phases before.
    before: u64,
    /// Whether the phase is one of those that follow each other until the run ends.
    lasts: bool,
}

impl Turns<'_, '_> {
    /// The steps of this phase at which the next turn is due.
    fn due(&self) -> u64 {
        self.arms.due().saturating_sub(self.before)
    }

    /// The next turn, after so many steps of all phases.
    fn next(&mut self, steps: u64, control: &mut dyn Control) -> Option<Stop> {
        self.arms.turn(self.store, &mut self.seat, steps, self.lasts, control)
    }
}

/// The news that a phase and the arms have for each other.
struct Signals {
    /// The bytes of the arms' stores.
    bytes: AtomicUsize,
    /// The depth beyond which, and the steps after which, the phase finds no shorter witness than an arm did.
    length: AtomicUsize,
    until: AtomicU64,
    /// Steps of the phase, those at which the arms are to be woken, and whether the phase is over.
    steps: AtomicU64,
    due: AtomicU64,
    /// Steps of an expansion of the phase, about; zero if it is not known.
    each: AtomicU64,
    over: AtomicBool,
    /// Whether a turn is under way beside the phase, and whether it is to end early because memory is short.
    busy: AtomicBool,
    cut: AtomicBool,
    gate: Mutex<()>,
    bell: Condvar,
}

impl Default for Signals {
    fn default() -> Self {
        Signals {
            bytes: AtomicUsize::new(0),
            length: AtomicUsize::new(usize::MAX),
            until: AtomicU64::new(u64::MAX),
            steps: AtomicU64::new(0),
            due: AtomicU64::new(u64::MAX),
            each: AtomicU64::new(0),
            over: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            gate: Mutex::new(()),
            bell: Condvar::new(),
        }
    }
}

impl Signals {
    /// The arms tell how they stand.
    fn tell(&self, arms: &Arms) {
        self.bytes.store(arms.bytes(), Ordering::Relaxed);
        if let Some(met) = arms.met() {
            self.length.store(met.length, Ordering::Relaxed);
            self.until.store(met.until, Ordering::Relaxed);
        }
    }

    /// The phase tells how far it has come.
    fn pace(&self, progress: &Progress) {
        self.steps.store(progress.steps, Ordering::SeqCst);
        if progress.steps >= self.due.load(Ordering::SeqCst) {
            if let Some(each) = steps_each(progress) {
                self.each.store(each, Ordering::Relaxed);
            }
            self.ring();
        }
    }

    /// Cuts a turn short that is under way. Says whether there is one.
    fn cut_short(&self) -> bool {
        let busy = self.busy.load(Ordering::Relaxed);
        if busy {
            self.cut.store(true, Ordering::Relaxed);
        }
        busy
    }

    fn ring(&self) {
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.bell.notify_one();
    }

    /// Waits until the phase has made `due` steps, and says how many it has made; none if it is over.
    fn wait(&self, due: u64) -> Option<u64> {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.due.store(due, Ordering::SeqCst);
        loop {
            let steps = self.steps.load(Ordering::SeqCst);
            if self.over.load(Ordering::SeqCst) || steps >= due {
                // Nobody need ring meanwhile.
                self.due.store(u64::MAX, Ordering::SeqCst);
                return (!self.over.load(Ordering::SeqCst)).then_some(steps);
            }
            gate = self.bell.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells the arms that the phase is over, however it ends.
struct Closing<'a>(&'a Signals);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        self.0.ring();
    }
}

/// The control of a phase: asks the outside with the figures of the whole run, and keeps the phase within its memory.
struct PhaseControl<'r> {
    inner: &'r mut dyn Control,
    account: &'r dyn Account,
    space: &'r dyn Space,
    crowded: Crowded,
    store: &'r dyn Store,
    so_far: Progress,
    /// Whether memory that is short is nothing new: what asks before it grows has been told.
    lasts: bool,
    most: usize,
    least: u64,
    /// The bytes of a state that waits outside the store.
    waiting: usize,
    asked: u32,
    /// Whether the arms wait for the steps of the phase.
    paced: bool,
    signals: &'r Signals,
}

impl PhaseControl<'_> {
    /// The figures of the run, if the phase has these.
    fn total(&self, progress: &Progress) -> Progress {
        Progress {
            states: (self.so_far.states + progress.states).max(self.least),
            fired: self.so_far.fired + progress.fired,
            steps: self.so_far.steps + progress.steps,
            violations: self.so_far.violations + progress.violations,
            phase: self.so_far.phase,
            ..*progress
        }
    }

    /// Tells the account, if it asks, how many bytes are held by the phase's store, by a frontier outside that store, and by the arms.
    fn settle(&mut self, frontier: u64) {
        self.asked = self.asked.wrapping_add(1);
        if self.account.wants_settling(self.asked) {
            let waiting = if self.lasts { frontier as usize * self.waiting } else { 0 };
            self.account.settle(self.store.bytes() + self.space.table_bytes() + waiting + self.signals.bytes.load(Ordering::Relaxed));
        }
    }
}

impl Control for PhaseControl<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        let total = self.total(progress);
        let is_crowded = || self.crowded.is_met(self.account, self.space);
        let full = || (self.most < usize::MAX && self.account.used() > self.most).then_some(Stop::Memory);
        let stop = self.inner.ask(&total).filter(|stop| !(self.lasts && *stop == Stop::Memory && !is_crowded())).or_else(full);
        // A turn takes memory for a while. It ends first if memory is short, and then the phase looks again.
        if stop.is_some() && !(stop == Some(Stop::Memory) && self.signals.cut_short()) {
            return stop;
        }
        self.settle(progress.frontier);
        if self.paced {
            self.signals.pace(progress);
        }
        // If the search has passed this depth without finding a violation, the arm's witness is a shortest one.
        let passed =
            progress.depth as usize > self.signals.length.load(Ordering::Relaxed) || total.steps >= self.signals.until.load(Ordering::Relaxed);
        passed.then_some(Stop::Violations)
    }
}

/// The control of a turn between two stretches of the phase. The outside sees the progress of the phase, not that of the arm.
struct Quiet<'r> {
    inner: &'r mut dyn Control,
    total: Progress,
}

impl Control for Quiet<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        self.inner.ask(&self.total).filter(|stop| matches!(stop, Stop::Time | Stop::Interrupted))
    }
}

/// The control of a turn beside the phase. It is interrupted when the run ends, and it ends early if memory is short.
struct Ending<'r> {
    inner: &'r mut dyn Control,
    signals: &'r Signals,
}

impl Control for Ending<'_> {
    fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
        let interrupted = self.inner.ask(&Progress::default()).map(|_| Stop::Interrupted);
        interrupted.or_else(|| self.signals.cut.load(Ordering::Relaxed).then_some(Stop::Steps))
    }
}
