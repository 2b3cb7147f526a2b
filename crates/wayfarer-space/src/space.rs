//! The transition system a search sees.

use crate::{Fault, FaultClass, Firing, Packing, PropertyBits, Rng, States, Steps, Width, Word};

/// Whether an expansion gave every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All steps of all states of the batch.
    All,
    /// Some are missing, for the reason given; a search over it can never claim that something holds.
    Cut(&'static str),
}

/// What became of one firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// It led to a state, which was written out.
    To,
    /// Its guard is false.
    Disabled,
    /// An assumption of the model excludes it.
    Discarded,
    /// Its guard or command failed.
    Fault(Fault),
}

/// What is explored. All methods are pure: the same arguments give the same results on every thread.
pub trait Space: Sync {
    /// How many words a state has.
    fn width(&self) -> Width;

    /// Which bits of a state carry information. All others are zero in every state.
    fn packing(&self) -> &Packing;

    /// How many rules there are, parameters fixed; firings name them by number.
    fn rules(&self) -> u32;

    /// How many properties [`check`](Space::check) judges.
    fn properties(&self) -> u32;

    /// All start states, as steps out of nowhere: the firing's rule is the number of the start state, the source is 0 and `changed` is not meaningful.
    fn initial(&self, steps: &mut Steps) -> Completeness;

    /// Clears `steps` and fills it with the steps out of every state of the batch whose firing is at or after `from`, in the order in which the space takes them.
    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness;

    /// One firing drawn uniformly from those enabled in `state`, without making all, its result written to `out`; none in a deadlock.
    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)>;

    /// Fires one rule; used for replay. Where the answer is [`Fired::To`], the state is written to `out`.
    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired;

    /// Sets the bits of all properties that fail in `state` (for a property that asks whether something is reachable: that are reached).
    /// A fault while judging is given back with the number of the property that met it.
    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)>;

    /// The same for the state that a step led to, of which the space may know more than its words.
    fn check_step(&self, steps: &Steps, index: usize, bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
        self.check(steps.states.get(index), bits)
    }

    /// Whether a state in which nothing is enabled may be the last one of a run; else it is a deadlock.
    fn may_end(&self, _state: &[Word]) -> bool {
        false
    }

    /// Whether a property asks for a state to be reached, rather than for something to hold always.
    fn asks_to_reach(&self, property: u32) -> bool;

    /// Whom a fault speaks about.
    fn fault_class(&self, fault: Fault) -> FaultClass;
}
