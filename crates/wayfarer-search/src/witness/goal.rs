//! The end that a witness must keep when it is made shorter.

use crate::{Deadlock, Ending};
use wayfarer_space::{Fired, PropertyBits, Space, Word};

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
            Ending::Deadlock => self.deadlock.is_at(self.space, state),
            Ending::Start(_) => false,
        }
    }

    /// Whether a way that passes such a state ends there in any case, so that it is enough to look at its last state.
    pub(super) fn is_final(&self) -> bool {
        self.ending == Ending::Deadlock
    }
}
