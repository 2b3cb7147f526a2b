//! Choosing among the successors of a state.

use std::ops::Range;
use wayfarer_space::{Rng, Steps};

/// The set over which a random choice is uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The set of successors, as in the papers and the theory.
    States,
    /// The enabled firings: a state that several lead to is more likely. Fast, because the others need not be made.
    Firings,
}

/// The steps out of one source of a batch; `from` is the end of the steps of the source before.
pub(crate) fn of_source(steps: &Steps, from: usize, source: usize) -> Range<usize> {
    let mut end = from;
    while end < steps.len() && steps.sources[end] as usize == source {
        end += 1;
    }
    from..end
}

/// The steps of a range that lead to different states, one for each: the first.
pub(crate) fn distinct(steps: &Steps, range: Range<usize>, out: &mut Vec<u32>) {
    out.clear();
    out.extend(range.map(|index| index as u32));
    out.sort_by_key(|index| steps.hashes[*index as usize]);
    out.dedup_by(|one, other| {
        let (one, other) = (*one as usize, *other as usize);
        steps.hashes[one] == steps.hashes[other] && steps.states.get(one) == steps.states.get(other)
    });
}

/// One step of a range, if any leads to another state. A successor that is the state itself may be drawn too, but a
/// state with no other successor has none.
pub(crate) fn pick_onward(choice: Choice, steps: &Steps, range: Range<usize>, rng: &mut Rng, scratch: &mut Vec<u32>) -> Option<usize> {
    let leads_on = range.clone().any(|index| steps.changed[index] != 0);
    if leads_on { pick(choice, steps, range, rng, scratch) } else { None }
}

/// One step of a range, drawn as `choice` says; none if there are none.
pub(crate) fn pick(choice: Choice, steps: &Steps, range: Range<usize>, rng: &mut Rng, scratch: &mut Vec<u32>) -> Option<usize> {
    if range.is_empty() {
        return None;
    }
    match choice {
        Choice::Firings => Some(range.start + rng.below(range.len() as u64) as usize),
        Choice::States => {
            distinct(steps, range, scratch);
            Some(scratch[rng.below(scratch.len() as u64) as usize] as usize)
        }
    }
}
