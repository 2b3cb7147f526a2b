//! The end that a witness must keep when it is made shorter.

use crate::{Deadlock, Ending};
use wayfarer_space::{Fired, Firing, PropertyBits, Space, States, Steps, Word};

/// The end of a witness, to be recognised in other states.
pub(super) struct Goal<'a> {
    pub(super) space: &'a dyn Space,
    pub(super) ending: Ending,
    pub(super) deadlock: Deadlock,
}

impl Goal<'_> {
    /// Whether a witness may end in this state.
    pub(super) fn is_met(&self, state: &[Word]) -> bool {
        match self.ending {
            Ending::Property(property) | Ending::Found(property) => {
                let mut bits = PropertyBits::default();
                self.space.check(state, &mut bits).is_ok() && bits.contains(property)
            }
            Ending::PropertyFault(property, fault) => self.space.check(state, &mut PropertyBits::default()) == Err((property, fault)),
            Ending::Fault(firing, fault) => self.space.fire(state, firing, &mut Vec::new()) == Fired::Fault(fault),
            Ending::Rule(firing) => self.space.fire(state, firing, &mut Vec::new()) == Fired::To,
            Ending::Deadlock => self.is_deadlock(state),
            Ending::Start(_) => false,
        }
    }

    /// Whether a way that passes such a state ends there in any case, so that it is enough to look at its last state.
    pub(super) fn is_final(&self) -> bool {
        self.ending == Ending::Deadlock
    }

    fn is_deadlock(&self, state: &[Word]) -> bool {
        let mut steps = Steps::new(self.space.width());
        let mut batch = States::new(self.space.width());
        batch.push(state);
        self.space.expand(&batch, Firing::of(0), &mut steps);
        let stuck = match self.deadlock {
            Deadlock::Stuck => steps.enabled[0] == 0,
            _ => steps.changed.iter().all(|changed| *changed == 0) && steps.faults.is_empty(),
        };
        stuck && !self.space.may_end(state)
    }
}
