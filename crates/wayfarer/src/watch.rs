//! The checks of a run between rounds: whether time, memory and the user let it continue, and its coverage so far.

use crate::auditing::Reserve;
use crate::memory::Budget;
use crate::report::Course;
use crate::report::CoverTime;
use crate::subject::Running;
use std::time::Instant;
use wayfarer_search::{Account, Control, Progress, Stop, Store};

/// The clock is read every so many rounds, or after so many steps: a round of a single state can have tens of thousands.
const ROUNDS: u32 = 16;
const STEPS: u64 = 1 << 14;

/// Keeps the time budget, then forwards the question.
pub(crate) struct Watch<'a> {
    pub(crate) inner: &'a mut dyn Control,
    pub(crate) budget: &'a Budget,
    pub(crate) running: &'a dyn Running,
    /// Whether the symmetry that the run uses was seen not to be there.
    pub(crate) refuted: &'a dyn Fn() -> bool,
    /// The holders of memory, if they can be asked in one place.
    pub(crate) held: Option<Held<'a>>,
    pub(crate) until: Option<Instant>,
    /// The time reserved for the audit.
    pub(crate) reserve: Reserve,
    pub(crate) asked: u32,
    /// The steps when it looked at the clock.
    pub(crate) looked: u64,
    pub(crate) cover: Cover,
    pub(crate) course: Course,
}

/// The store of a run, and the additional bytes of each waiting state.
pub(crate) struct Held<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) waiting: usize,
}

/// The steps after which shares of a space of known size were covered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cover {
    /// Shares not yet covered, in states, the next one last; and those that were, with the steps until then.
    ahead: Vec<(f64, u64)>,
    behind: Vec<CoverTime>,
}

impl Cover {
    pub(crate) fn new(size: Option<u64>) -> Self {
        let ahead = size.map_or_else(Vec::new, |size| [1.0, 0.9, 0.8, 0.7, 0.6].map(|share| (share, (share * size as f64).ceil() as u64)).to_vec());
        Cover { ahead, behind: Vec::new() }
    }

    /// All cover times, including those reached when the run ended.
    pub(crate) fn until(mut self, states: u64, steps: u64) -> Vec<CoverTime> {
        self.see(states, steps);
        self.behind
    }

    pub(crate) fn see(&mut self, states: u64, steps: u64) {
        while let Some((share, wanted)) = self.ahead.last().copied()
            && states >= wanted
        {
            self.ahead.pop();
            self.behind.push(CoverTime { share, steps });
        }
    }
}

impl Control for Watch<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.cover.see(progress.states, progress.steps);
        self.course.see(progress.steps, progress.states);
        self.asked = self.asked.wrapping_add(1);
        // Rounds are short as a rule: reading the clock in every sixteenth suffices.
        if self.asked % ROUNDS == 1 || progress.steps.saturating_sub(self.looked) >= STEPS {
            self.looked = progress.steps;
            if let Some(until) = self.until {
                let now = Instant::now();
                if now + self.reserve.after(now, progress.steps) >= until {
                    return Some(Stop::Time);
                }
            }
            self.budget.note_code(self.running.code_bytes());
            if let Some(held) = self.held.as_ref().filter(|_| self.budget.wants_settling(self.asked)) {
                self.budget.settle(held.store.bytes() + self.running.space().table_bytes() + progress.frontier as usize * held.waiting);
            }
            if !self.budget.allows(0) {
                return Some(Stop::Memory);
            }
            if (self.refuted)() {
                return Some(Stop::Interrupted);
            }
        }
        self.inner.ask(progress)
    }
}

/// Ends the shortening of witnesses in time.
pub(crate) struct Deadline<'a> {
    /// `None` if witnesses are not shortened.
    pub(crate) until: Option<Instant>,
    pub(crate) inner: &'a mut dyn Control,
    /// The figures of the search that found the witness.
    pub(crate) found: Progress,
    /// Whether the clock or the user ended it, so that the result may be another one next time.
    pub(crate) is_over: bool,
}

impl Control for Deadline<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        let stop = if self.until.is_some_and(|until| Instant::now() >= until) {
            Some(Stop::Time)
        } else {
            self.inner.ask(&Progress { phase: progress.phase, ..self.found })
        };
        self.is_over |= stop.is_some();
        stop
    }
}
