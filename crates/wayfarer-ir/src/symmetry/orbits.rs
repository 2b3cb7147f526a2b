//! A space whose states are the representatives of another's orbits.

use super::{Doubts, Scratch, Symmetry};
use std::cell::Cell;
use std::ops::Range;
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word, way_through,
};

/// A space up to permutations of scalarset elements: its states are representatives. Firings are those of the
/// underlying space, out of the representative. Whether a step leads back to its source is decided before the
/// successor is replaced, so deadlocks are those of the underlying space.
pub struct Orbits<'a> {
    inner: &'a dyn Space,
    symmetry: &'a Symmetry,
    doubts: Option<&'a Doubts>,
}

thread_local! {
    /// Memory for finding representatives. Taken while in use.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl<'a> Orbits<'a> {
    /// The orbits of a space whose program has the symmetry and does not break it.
    pub fn new(inner: &'a dyn Space, symmetry: &'a Symmetry) -> Self {
        Orbits { inner, symmetry, doubts: None }
    }

    /// The same, and checks what could not be shown.
    pub fn checking(mut self, doubts: Option<&'a Doubts>) -> Self {
        self.doubts = doubts;
        self
    }

    /// States of the underlying space that lead step by step through the orbits of `states`, the first of which must
    /// be that of a start state. Returns fewer states if some step is missing.
    pub fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>> {
        let mut trial = Vec::new();
        self.with_scratch(|scratch| {
            way_through(self.inner, states, |state, goal| {
                trial.clear();
                trial.extend_from_slice(state);
                self.symmetry.canonicalise(&mut trial, scratch);
                trial == goal
            })
        })
    }

    /// Replaces a state by the representative of its orbit.
    pub fn representative(&self, state: &mut [Word]) {
        self.with_scratch(|scratch| self.symmetry.canonicalise(state, scratch));
    }

    fn with_scratch<T>(&self, act: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        self.symmetry.fit(&mut scratch);
        let result = act(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }

    fn replace(&self, fired: Fired, out: &mut [Word]) {
        if fired == Fired::To {
            self.with_scratch(|scratch| self.symmetry.canonicalise(out, scratch));
        }
    }
}

impl Space for Orbits<'_> {
    fn width(&self) -> Width {
        self.inner.width()
    }

    fn packing(&self) -> &Packing {
        self.inner.packing()
    }

    fn rules(&self) -> u32 {
        self.inner.rules()
    }

    fn properties(&self) -> u32 {
        self.inner.properties()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.initial_some(0..u64::MAX, steps)
    }

    fn starts(&self) -> Option<u64> {
        self.inner.starts()
    }

    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        let completeness = self.inner.initial_some(numbers, steps);
        self.with_scratch(|scratch| {
            for row in 0..steps.len() {
                if self.symmetry.canonicalise(steps.states.get_mut(row), scratch) {
                    steps.describe_again(row, &[]);
                }
            }
        });
        completeness
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        // Rules in doubt are checked on all their steps.
        let sieve = if self.doubts.is_some() { steps.sieve.take() } else { None };
        let completeness = self.inner.expand(batch, from, steps);
        steps.sieve = steps.sieve.take().or(sieve);
        // Different states may have one representative: who sifts those has something left to do.
        steps.sifted = false;
        self.with_scratch(|scratch| {
            if let Some(doubts) = self.doubts {
                doubts.check(self.inner, self.symmetry, batch, steps, scratch);
            }
            for row in 0..steps.len() {
                // A step back to a representative needs no change.
                if steps.changed[row] != 0 && self.symmetry.canonicalise(steps.states.get_mut(row), scratch) {
                    steps.describe_again(row, batch.get(steps.sources[row] as usize));
                }
            }
        });
        completeness
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        let (firing, fired) = self.inner.sample(state, rng, out)?;
        if let Some(doubts) = self.doubts.filter(|doubts| doubts.are_about(firing.rule)) {
            self.with_scratch(|scratch| doubts.check_state(self.inner, self.symmetry, state, scratch));
        }
        self.replace(fired, out);
        Some((firing, fired))
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let fired = self.inner.fire(state, firing, out);
        self.replace(fired, out);
        fired
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.inner.check(state, bits)
    }

    fn check_steps(&self, steps: &Steps, list: &[u32], bits: &mut PropertyBits) -> Option<(usize, Checked)> {
        self.inner.check_steps(steps, list, bits)
    }

    fn may_end(&self, state: &[Word]) -> bool {
        self.inner.may_end(state)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.inner.asks_to_reach(property)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.inner.fault_class(fault)
    }
}
