//! Draws one random step out of each state of a batch.
//!
//! A drawn step may lead back to its source. The state may then be a deadlock, so it is expanded once to see. The
//! result is remembered for a while, so that idle steps do not slow a walk down.

use crate::{Deadlock, Selection};
use wayfarer_space::{Completeness, FaultStep, Fired, Firing, Rng, Space, States, Steps, Width, Word};

/// States whose liveliness is remembered.
const KNOWN: usize = 1 << 13;

/// Draws steps.
pub(crate) struct Sampling {
    out: Vec<Word>,
    batch: States,
    steps: Steps,
    /// Hashes of states that were looked at and can be left.
    lively: Vec<u64>,
}

impl Sampling {
    pub(crate) fn new(width: Width) -> Self {
        Sampling { out: Vec::new(), batch: States::new(width), steps: Steps::new(width), lively: Vec::new() }
    }

    /// Draws one step out of each selected state. If no step leaves a state, it counts as having no enabled firing, even if a step leads back to it.
    pub(crate) fn draw(&mut self, space: &dyn Space, selection: &mut Selection, steps: &mut Steps) -> Completeness {
        steps.clear();
        let Selection { states, draws, .. } = selection;
        let last = draws.len().saturating_sub(1);
        let mut none = Rng::new(0, "");
        for source in 0..states.len() {
            let state = states.get(source);
            let rng = draws.get_mut(source.min(last)).unwrap_or(&mut none);
            let number = source as u32;
            let mut enabled = 1;
            match space.sample(state, rng, &mut self.out) {
                Some((firing, Fired::To)) => {
                    steps.push(number, firing, state, &self.out);
                    if steps.changed[steps.len() - 1] == 0 && self.stutters(space, steps, state) {
                        enabled = 0;
                    }
                }
                Some((firing, Fired::Fault(fault))) => steps.faults.push(FaultStep { source: number, firing, fault }),
                Some((_, Fired::Discarded)) => steps.discarded += 1,
                Some((_, Fired::Disabled)) => {}
                None => enabled = 0,
            }
            steps.enabled.push(enabled);
        }
        Completeness::All
    }

    /// Whether no step leaves the state, which the last step led back to.
    fn stutters(&mut self, space: &dyn Space, steps: &Steps, state: &[Word]) -> bool {
        if self.lively.is_empty() {
            self.lively = vec![0; KNOWN];
        }
        let hash = steps.hashes[steps.len() - 1];
        let at = hash.address() as usize % KNOWN;
        if self.lively[at] == hash.second() {
            return false;
        }
        self.batch.clear();
        self.batch.push(state);
        space.expand(&self.batch, Firing::of(0), &mut self.steps);
        let stutters = Deadlock::Stuttering.shows_in(&self.steps);
        if !stutters {
            self.lively[at] = hash.second();
        }
        stutters
    }
}
