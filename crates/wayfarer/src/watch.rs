//! What a run asks between rounds: whether time, memory and the user let it go on, and how much it has covered.

use crate::auditing::Reserve;
use crate::memory::Budget;
use crate::report::Course;
use crate::report::CoverTime;
use crate::subject::Running;
use std::time::Instant;
use wayfarer_search::{Account, Control, Progress, Stop, Store};

/// Keeps the time budget, then passes the question on.
pub(crate) struct Watch<'a> {
    pub(crate) inner: &'a mut dyn Control,
    pub(crate) budget: &'a Budget,
    pub(crate) running: &'a dyn Running,
    /// What holds memory, where one place can say how much.
    pub(crate) held: Option<Held<'a>>,
    pub(crate) until: Option<Instant>,
    /// What is kept of the time for the audit.
    pub(crate) reserve: Reserve,
    pub(crate) asked: u32,
    pub(crate) cover: Cover,
    pub(crate) course: Course,
}

/// The store of a run, and what each state that waits takes besides.
pub(crate) struct Held<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) waiting: usize,
}

/// When so much of a space of known size was covered.
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

    /// All that was covered when the run ended.
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
        // Rounds are short: looking at the clock in every sixteenth is often enough.
        if self.asked % 16 == 1 {
            if let Some(until) = self.until {
                let now = Instant::now();
                if now + self.reserve.after(now, progress.steps) >= until {
                    return Some(Stop::Time);
                }
            }
            self.budget.note_code(self.running.code_bytes());
            if let Some(held) = self.held.as_ref().filter(|_| self.budget.wants_settling(self.asked)) {
                self.budget.settle(held.store.bytes() + progress.frontier as usize * held.waiting);
            }
            if !self.budget.allows(0) {
                return Some(Stop::Memory);
            }
        }
        self.inner.ask(progress)
    }
}

/// Ends the shortening of witnesses in time.
pub(crate) struct Deadline<'a> {
    /// None where witnesses stay as they are.
    pub(crate) until: Option<Instant>,
    pub(crate) inner: &'a mut dyn Control,
}

impl Control for Deadline<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if self.until.is_some_and(|until| Instant::now() >= until) { Some(Stop::Time) } else { self.inner.ask(progress) }
    }
}
