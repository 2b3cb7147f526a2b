//! Walkers side by side: each goes at its own pace, and what they find does not depend on it.
//!
//! A walker counts its violations at milestones, which lie at the same numbers of steps for all. The run ends at the first
//! milestone by which all of them together have found enough. Nobody waits for the others until something is found. Then a walker
//! that is past the milestone waits until the others have come there, too, and what it found beyond does not count.

use super::{Crew, NAP};
use crate::{Control, Progress, Stop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use wayfarer_store::OwnLine;

/// Steps of a walker between two milestones: at first, and at most. In between it is a share of the steps that were taken, so
/// that a long walk does not stop often and a short one does not find its end late.
const STRIDE: u64 = 1 << 16;
const LONGEST: u64 = 1 << 20;
const SHARE: u64 = 4;

/// How far the walkers of a crew have come, and what they have found.
pub(super) struct Pace {
    /// The last milestone of each; `u64::MAX` for one that has left.
    at: Vec<OwnLine<AtomicU64>>,
    /// For each walker the milestones at which it had more violations than before, and how many.
    found: Mutex<Vec<Vec<(u64, usize)>>>,
    /// Whether anyone has found something.
    any: AtomicBool,
    bell: Condvar,
}

impl Pace {
    pub(super) fn new(walkers: usize) -> Self {
        Pace {
            at: (0..walkers).map(|_| OwnLine::default()).collect(),
            found: Mutex::new(vec![Vec::new(); walkers]),
            any: AtomicBool::new(false),
            bell: Condvar::new(),
        }
    }

    /// A walker is at a milestone.
    fn reach(&self, walker: usize, milestone: u64, violations: usize) {
        self.note(walker, milestone, violations);
        self.at[walker].store(milestone, Ordering::SeqCst);
        if self.any.load(Ordering::SeqCst) {
            self.bell.notify_all();
        }
    }

    /// A walker has left. Violations it found since its last milestone count at the next one.
    pub(super) fn leave(&self, walker: usize, violations: usize) {
        let last = self.at[walker].load(Ordering::SeqCst);
        self.note(walker, last.saturating_add(1), violations);
        self.at[walker].store(u64::MAX, Ordering::SeqCst);
        self.bell.notify_all();
    }

    fn note(&self, walker: usize, milestone: u64, violations: usize) {
        if violations == 0 {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found[walker].last().is_none_or(|(_, before)| *before < violations) {
            found[walker].push((milestone, violations));
        }
        self.any.store(true, Ordering::SeqCst);
    }

    /// The first milestone by which enough was found, as far as is known.
    fn end(&self, found: &[Vec<(u64, usize)>], most: usize) -> Option<u64> {
        let mut milestones: Vec<u64> = found.iter().flatten().map(|(milestone, _)| *milestone).collect();
        milestones.sort_unstable();
        milestones.into_iter().find(|milestone| found.iter().map(|walker| by(walker, *milestone)).sum::<usize>() >= most)
    }

    /// Whether everyone has come to a milestone or left.
    fn all_at(&self, milestone: u64) -> bool {
        self.at.iter().all(|at| at.load(Ordering::SeqCst) >= milestone)
    }
}

/// The violations that a walker had found by a milestone.
fn by(found: &[(u64, usize)], milestone: u64) -> usize {
    found.iter().take_while(|(at, _)| *at <= milestone).last().map_or(0, |(_, violations)| *violations)
}

impl Crew {
    /// The number of a walker's violations that count, after all have ended: those beyond the end of the run do not.
    pub(crate) fn counting_violations(&self, walker: usize) -> usize {
        let found = self.pace.found.lock().unwrap_or_else(PoisonError::into_inner);
        let end = self.pace.end(&found, self.most).unwrap_or(u64::MAX);
        by(&found[walker], end)
    }
}

/// The control of a walker.
pub(crate) struct Strides<'a> {
    crew: &'a Crew,
    walker: usize,
    inner: &'a mut dyn Control,
    milestone: u64,
    /// The steps at which the next milestone lies.
    next: u64,
}

impl<'a> Strides<'a> {
    pub(crate) fn new(crew: &'a Crew, walker: usize, inner: &'a mut dyn Control) -> Self {
        Strides { crew, walker, inner, milestone: 0, next: STRIDE }
    }

    /// Goes on, unless enough was found by a milestone that everyone has come to. Beyond such a milestone it waits for the others.
    fn decide(&mut self, progress: &Progress) -> Option<Stop> {
        let pace = &self.crew.pace;
        while pace.any.load(Ordering::SeqCst) {
            let found = pace.found.lock().unwrap_or_else(PoisonError::into_inner);
            let end = pace.end(&found, self.crew.most)?;
            if pace.all_at(end) {
                return Some(Stop::Violations);
            }
            if self.milestone < end {
                return None;
            }
            drop(pace.bell.wait_timeout(found, NAP));
            // The first speaks for all with the outside, which may end the run.
            let stop = self.inner.ask(progress);
            if stop.is_some() {
                return stop;
            }
        }
        None
    }
}

impl Control for Strides<'_> {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        if progress.steps >= self.next {
            self.next += (self.next / SHARE).clamp(STRIDE, LONGEST);
            self.milestone += 1;
            self.crew.pace.reach(self.walker, self.milestone, progress.violations);
            if let Some(stop) = self.decide(progress) {
                return Some(stop);
            }
        }
        self.inner.ask(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ended, together};
    use super::*;
    use wayfarer_space::Rng;

    struct Never;

    impl Control for Never {
        fn ask(&mut self, _progress: &Progress) -> Option<Stop> {
            None
        }
    }

    /// Walks of 4096 steps at a time that find a violation at each of some numbers of steps.
    fn walk(control: &mut dyn Control, finds: &[u64], delay: u64) -> usize {
        let mut progress = Progress::default();
        for _ in 0..2_000 {
            progress.steps += 4_096;
            progress.violations = finds.iter().filter(|at| **at <= progress.steps).count();
            (0..delay).for_each(|_| std::hint::spin_loop());
            if control.ask(&progress).is_some() {
                break;
            }
        }
        progress.violations
    }

    #[test]
    fn the_speed_of_walkers_does_not_change_what_counts() {
        let mut rng = Rng::new(3, "strides");
        for most in 1..4 {
            let finds: Vec<Vec<u64>> = (0..4).map(|_| (0..2).map(|_| 1 + rng.below(6_000_000)).collect()).collect();
            let mut counted = Vec::new();
            for delays in [[0, 0, 0, 0], [0, 900, 0, 300], [900, 0, 300, 0]] {
                let crew = Crew::new(4, most);
                let run = |walker: usize, control: &mut dyn Control| {
                    let violations = walk(&mut Strides::new(&crew, walker, control), &finds[walker], delays[walker]);
                    crew.leave(walker, violations);
                    Ended { done: (), ends_all: None, progress: Progress::default() }
                };
                together(&crew, &mut Never, run);
                counted.push((0..4).map(|walker| crew.counting_violations(walker)).collect::<Vec<_>>());
            }
            assert!(counted.iter().all(|other| *other == counted[0]), "{most}: {counted:?}");
            assert!(counted[0].iter().sum::<usize>() >= most, "{most}: {counted:?}");
        }
    }
}
