//! The transition system a search sees.

use crate::{Fault, FaultClass, Firing, Packing, PropertyBits, Rng, States, Steps, Width, Word};
use std::ops::Range;

/// Whether an expansion gave every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All steps of all states of the batch.
    All,
    /// Some are missing, for the reason given; a search over this space can never claim that something holds.
    Cut(&'static str),
}

/// Stands for no rule where a rule may be named.
pub const NO_RULE: u32 = u32::MAX;

/// The result of one firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// It led to a state, which was written to the output.
    To,
    /// Its guard is false.
    Disabled,
    /// An assumption of the model excludes it.
    Discarded,
    /// Its guard or command failed.
    Fault(Fault),
}

/// The result of a check: a fault comes with the number of the property whose evaluation caused it.
pub type Checked = Result<(), (u32, Fault)>;

/// The transition system to explore. All methods are pure: the same arguments give the same results on every
/// thread.
pub trait Space: Sync {
    /// The number of words of a state.
    fn width(&self) -> Width;

    /// The bits of a state that carry information. All others are zero in every state.
    fn packing(&self) -> &Packing;

    /// The number of rules with their parameters fixed; firings refer to them by number.
    fn rules(&self) -> u32;

    /// The number of properties that [`check`](Space::check) evaluates.
    fn properties(&self) -> u32;

    /// All start states, as steps without a source: the firing's rule is the number of the start state, the
    /// source is 0 and `changed` is not meaningful.
    fn initial(&self, steps: &mut Steps) -> Completeness;

    /// Bytes of tables that the space itself keeps, such as values of the model. They only grow, and nobody can give them back.
    fn table_bytes(&self) -> usize {
        0
    }

    /// How many start states [`initial`](Space::initial) tries to make; none if they can only be made all at once.
    fn starts(&self) -> Option<u64> {
        None
    }

    /// The start states with these numbers, if [`starts`](Space::starts) says how many there are.
    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        let _ = numbers;
        self.initial(steps)
    }

    /// Clears `steps` and fills it with the steps out of every state of the batch whose firing is at or after
    /// `from`, in the order in which the space takes them.
    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness;

    /// The same for all firings, of states of which it is known by which rule each was first reached: `arrivals` has a rule for each state of the batch, or
    /// [`NO_RULE`]. The search expands all states that it reaches. So the space may leave out a step if another order of the same two rules leads to its
    /// target as well, as long as one order remains; it lists such a step in [`Steps::omitted`].
    ///
    /// Only called if [`uses_arrivals`](Space::uses_arrivals).
    fn expand_arrived(&self, batch: &States, arrivals: &[u32], steps: &mut Steps) -> Completeness {
        let _ = arrivals;
        self.expand(batch, Firing::of(0), steps)
    }

    /// Whether [`expand_arrived`](Space::expand_arrived) makes use of the rules by which states were reached.
    fn uses_arrivals(&self) -> bool {
        false
    }

    /// Draws a firing uniformly from those enabled in `state`, without computing all of them, and writes its
    /// result to `out`. Returns `None` in a deadlock.
    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)>;

    /// Fires one rule; used for replay. If the result is [`Fired::To`], the state is written to `out`.
    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired;

    /// Sets the bits of all properties that fail in `state`, or that are reached, for a property that asks
    /// whether something is reachable. A fault is returned with the number of the property whose evaluation
    /// caused it.
    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked;

    /// The same for the target of a step, of which the space may know more than its words.
    fn check_step(&self, steps: &Steps, index: usize, bits: &mut PropertyBits) -> Checked {
        self.check(steps.states.get(index), bits)
    }

    /// Checks the targets of a list of steps up to the first one for which there is something to tell. Returns its place in the list and what
    /// [`check_step`](Space::check_step) returns for it. `bits` must be empty.
    fn check_steps(&self, steps: &Steps, list: &[u32], bits: &mut PropertyBits) -> Option<(usize, Checked)> {
        list.iter().enumerate().find_map(|(place, index)| {
            let checked = self.check_step(steps, *index as usize, bits);
            (checked.is_err() || !bits.is_empty()).then_some((place, checked))
        })
    }

    /// Whether a state in which nothing is enabled may be the last one of a run; else it is a deadlock.
    fn may_end(&self, _state: &[Word]) -> bool {
        false
    }

    /// Whether a property asks for a state to be reached, rather than for something to hold always.
    fn asks_to_reach(&self, property: u32) -> bool;

    /// The class of a fault.
    fn fault_class(&self, fault: Fault) -> FaultClass;
}

/// Start states that are made at once, if there are many.
const STARTS: u64 = 1 << 12;

/// Whether a space has so many start states that they should not be made all at once.
pub fn has_many_starts(space: &dyn Space) -> bool {
    space.starts().is_some_and(|starts| starts > STARTS)
}

/// The pieces in which start states are made; one without numbers has all of them.
pub fn start_pieces(space: &dyn Space) -> impl Iterator<Item = Option<Range<u64>>> + use<> {
    let starts = space.starts().filter(|starts| *starts > STARTS);
    let pieces = starts.into_iter().flat_map(|starts| (0..starts).step_by(STARTS as usize).map(move |from| Some(from..starts.min(from + STARTS))));
    starts.is_none().then_some(None).into_iter().chain(pieces)
}

/// One of these pieces, drawn by `draw` from a number of them.
pub fn draw_start_piece(space: &dyn Space, draw: impl FnOnce(u64) -> u64) -> Option<Range<u64>> {
    let starts = space.starts().filter(|starts| *starts > STARTS)?;
    let from = draw(starts.div_ceil(STARTS)).saturating_mul(STARTS).min(starts);
    Some(from..starts.min(from.saturating_add(STARTS)))
}

/// Makes one of these pieces.
pub fn make_starts(space: &dyn Space, piece: Option<Range<u64>>, steps: &mut Steps) -> Completeness {
    match piece {
        Some(numbers) => space.initial_some(numbers, steps),
        None => space.initial(steps),
    }
}

/// Makes the start states, piece by piece, until `visit` finds something among them.
pub fn find_start<T>(space: &dyn Space, mut visit: impl FnMut(&Steps) -> Option<T>) -> Option<T> {
    let mut steps = Steps::new(space.width());
    start_pieces(space).find_map(|piece| {
        make_starts(space, piece, &mut steps);
        visit(&steps)
    })
}

/// The states of a way from a start state on, each the first that `fits` its goal; fewer than there are goals if no step leads on.
pub fn way_through(space: &dyn Space, goals: &[Vec<Word>], mut fits: impl FnMut(&[Word], &[Word]) -> bool) -> Vec<Vec<Word>> {
    let mut found: Vec<Vec<Word>> = Vec::new();
    let mut steps = Steps::new(space.width());
    let mut batch = States::new(space.width());
    for goal in goals {
        let mut among = |steps: &Steps| steps.states.iter().find(|state| fits(state, goal)).map(<[Word]>::to_vec);
        let next = match found.last() {
            None => find_start(space, among),
            Some(last) => {
                batch.clear();
                batch.push(last);
                space.expand(&batch, Firing::of(0), &mut steps);
                among(&steps)
            }
        };
        let Some(next) = next else { break };
        found.push(next);
    }
    found
}
