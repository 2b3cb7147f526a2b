//! A part of the system in which a way is searched: from one state or from the start states, with all rules or some, to a goal.

use crate::{Account, ExactStore};
use std::collections::BTreeSet;
use std::ops::Range;
use wayfarer_space::{Checked, Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// Numbers of rules with their parameters fixed.
pub(crate) type RuleSet = BTreeSet<u32>;

/// The most that the store of one stage may hold. The first memory that a store takes depends on it, and a small run
/// has little left, so there are smaller ones.
const STAGES: [usize; 5] = [1 << 34, 1 << 24, 1 << 22, 1 << 20, 1 << 18];

/// The store of one stage: the largest that has room to grow.
pub(crate) fn stage_store<'a>(space: &dyn Space, account: &'a dyn Account) -> Option<ExactStore<'a>> {
    let most = STAGES.into_iter().find(|most| account.allows(3 * ExactStore::least(*most))).unwrap_or(STAGES[STAGES.len() - 1]);
    ExactStore::new(space.packing().clone(), account, most)
}

/// One stage of a witness: the system started in one state, or as it always starts, with a goal as the only thing that must not be reached.
pub(crate) struct Stage<'a> {
    pub(crate) space: &'a dyn Space,
    pub(crate) from: Option<&'a [Word]>,
    /// The rules that may fire; all of them if there is no set.
    pub(crate) only: Option<&'a RuleSet>,
    pub(crate) goal: &'a (dyn Fn(&[Word]) -> bool + Sync),
}

impl Space for Stage<'_> {
    fn width(&self) -> Width {
        self.space.width()
    }

    fn packing(&self) -> &Packing {
        self.space.packing()
    }

    fn rules(&self) -> u32 {
        self.space.rules()
    }

    fn properties(&self) -> u32 {
        1
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        let Some(from) = self.from else { return self.space.initial(steps) };
        steps.clear();
        steps.push(0, Firing::of(0), from, from);
        Completeness::All
    }

    fn starts(&self) -> Option<u64> {
        if self.from.is_none() { self.space.starts() } else { None }
    }

    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        if self.from.is_none() { self.space.initial_some(numbers, steps) } else { self.initial(steps) }
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        let Some(only) = self.only else {
            let completeness = self.space.expand(batch, from, steps);
            // Faults of other steps do not matter here.
            steps.faults.clear();
            return completeness;
        };
        // A sieve must not hear of steps that are then left out.
        let mut every = Steps::new(self.space.width());
        let completeness = self.space.expand(batch, from, &mut every);
        steps.clear();
        for row in (0..every.len()).filter(|row| only.contains(&every.firings[*row].rule)) {
            let source = every.sources[row];
            steps.push(source, every.firings[row], batch.get(source as usize), every.states.get(row));
        }
        steps.enabled = every.enabled;
        completeness
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.space.sample(state, rng, out)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.space.fire(state, firing, out)
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        if (self.goal)(state) {
            bits.insert(0);
        }
        Ok(())
    }

    fn asks_to_reach(&self, _property: u32) -> bool {
        false
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.space.fault_class(fault)
    }
}
