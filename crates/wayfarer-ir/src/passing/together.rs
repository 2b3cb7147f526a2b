//! Passing through the states of a whole batch together, level by level.
//!
//! The paths of a level are expanded in one batch, and told in the order of a depth-first walk afterwards. Levels keep their
//! states in the order in which that walk comes to them, so that one cursor for each level is enough.

use super::{Level, Passing, Scratch};
use std::ops::Deref;
use wayfarer_space::{FaultStep, Firing, Space, States, Steps, Width};

/// Longer paths are followed one by one.
const MOST_LEVELS: usize = 64;
/// So are batches with more states to pass through.
const MOST_STATES: usize = 1 << 16;

impl<P: Deref + Sync> Passing<P>
where
    P::Target: Space,
{
    /// Expands the passing states behind the first steps, level by level. False if there are too many.
    pub(super) fn make_levels(&self, first: &Steps, scratch: &mut Scratch) -> bool {
        let width = self.inner.width();
        let mut passed = 0;
        for number in 0..MOST_LEVELS {
            if scratch.levels.len() <= number {
                scratch.levels.push(Level { batch: States::new(width), steps: Steps::new(width), entry: 0, row: 0, fault: 0 });
            }
            let (before, rest) = scratch.levels.split_at_mut(number);
            let level = &mut rest[0];
            let from = before.last().map_or(first, |level| &level.steps);
            level.batch.clear();
            self.collect(&from.states, &mut level.batch);
            (level.entry, level.row, level.fault) = (0, 0, 0);
            level.steps.clear();
            if level.batch.is_empty() {
                return true;
            }
            passed += level.batch.len();
            if passed > MOST_STATES {
                return false;
            }
            self.inner.expand(&level.batch, Firing::of(0), &mut level.steps);
        }
        false
    }

    /// Appends the passing ones of some states to a batch.
    fn collect(&self, states: &States, batch: &mut States) {
        let Width::Fixed(width) = self.inner.width() else { return };
        for state in states.words().chunks_exact(width.max(1)) {
            if self.passes(state) {
                batch.push(state);
            }
        }
    }

    /// Appends the results of the first steps to `out`, except those before the firing `from`, after the levels were made.
    pub(super) fn settle_levels(&self, batch: &States, first: &Steps, from: Firing, out: &mut Steps, scratch: &mut Scratch) {
        out.discarded = first.discarded;
        out.reached.union(&first.reached);
        for level in scratch.levels.iter().take_while(|level| !level.batch.is_empty()) {
            out.reached.union(&level.steps.reached);
        }
        let (mut row, mut fault) = (0, 0);
        for source in 0..batch.len() {
            let mut enabled = first.enabled[source];
            let here = batch.get(source);
            loop {
                let next = first.sources.get(row).filter(|of| **of as usize == source).map(|_| first.firings[row]);
                let bad = first.faults.get(fault).filter(|step| step.source as usize == source);
                let of = source as u32;
                match (next, bad) {
                    (None, None) => break,
                    (Some(_), None) => {}
                    (Some(step), Some(bad)) if step < bad.firing => {}
                    (_, Some(bad)) => {
                        if bad.firing >= from {
                            out.faults.push(FaultStep { source: of, ..*bad });
                        } else {
                            enabled -= 1;
                        }
                        fault += 1;
                        continue;
                    }
                }
                let (state, rule) = (first.states.get(row), first.firings[row].rule);
                if self.passes(state) {
                    enabled -= 1;
                    let told = self.tell_paths(rule, from, (of, here), out, scratch);
                    match told {
                        // Everything enabled on the path was discarded.
                        None => {
                            out.discarded += 1;
                            enabled += 1;
                        }
                        Some(told) => enabled += told,
                    }
                } else if Firing::of(rule) >= from {
                    out.states.push(state);
                    out.hashes.push(first.hashes[row]);
                    out.changed.push(first.changed[row]);
                    out.sources.push(of);
                    out.firings.push(Firing::of(rule));
                } else {
                    enabled -= 1;
                }
                row += 1;
            }
            out.enabled.push(enabled);
        }
    }

    /// Tells the ends of all paths through the next passing state of the first level, and returns how many of them are not before
    /// the firing `from`; `None` if there are no ends at all.
    fn tell_paths(&self, rule: u32, from: Firing, source: (u32, &[u64]), out: &mut Steps, scratch: &mut Scratch) -> Option<u32> {
        let (of, here) = source;
        let (mut outcome, mut told) = (0, 0);
        let mut depth = 0;
        let mut entered = true;
        loop {
            let level = &mut scratch.levels[depth];
            let mut firing = || {
                outcome += 1;
                let firing = Firing { rule, outcome: outcome - 1 };
                (firing >= from).then(|| {
                    told += 1;
                    firing
                })
            };
            if std::mem::take(&mut entered)
                && level.steps.enabled.get(level.entry) == Some(&0)
                && let Some(firing) = firing()
            {
                let mut settled = level.batch.get(level.entry).to_vec();
                self.clear(&mut settled);
                out.push(of, firing, here, &settled);
            }
            let steps = &level.steps;
            let next = steps.sources.get(level.row).filter(|of| **of as usize == level.entry).map(|_| steps.firings[level.row]);
            let bad = steps.faults.get(level.fault).filter(|step| step.source as usize == level.entry);
            match (next, bad) {
                (None, None) => {
                    level.entry += 1;
                    match depth.checked_sub(1) {
                        Some(above) => depth = above,
                        None => return (outcome > 0).then_some(told),
                    }
                    continue;
                }
                (Some(_), None) => {}
                (Some(step), Some(bad)) if step <= bad.firing => {}
                (_, Some(bad)) => {
                    if let Some(firing) = firing() {
                        out.faults.push(FaultStep { source: of, firing, fault: bad.fault });
                    }
                    level.fault += 1;
                    continue;
                }
            }
            level.row += 1;
            let state = steps.states.get(level.row - 1);
            if self.passes(state) {
                depth += 1;
                entered = true;
            } else if let Some(firing) = firing() {
                out.push(of, firing, here, state);
            }
        }
    }
}
