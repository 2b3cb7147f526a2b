//! Repeats what a walk met on a GPU in another form of the model, step by step: machine code for a GPU comes from a compiler that nothing else checks.

use wayfarer_search::{Cause, Deadlock, Violation};
use wayfarer_space::{Fired, Firing, PropertyBits, Space, States, Steps, Word};

/// The reason why a violation cannot be repeated, if it cannot: its trail must be a way from a start state to one in which it shows.
pub(super) fn doubt(space: &dyn Space, met: &Violation, deadlock: Deadlock) -> Option<String> {
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let Some((first, last)) = met.trail.first().zip(met.trail.last()) else { return Some("there is no way to it".to_string()) };
    if !steps.states.iter().any(|state| state == &first[..]) {
        return Some("the way to it does not begin in a start state".to_string());
    }
    for (number, pair) in met.trail.windows(2).enumerate() {
        expand(space, &pair[0], &mut steps);
        if !steps.states.iter().any(|state| state == &pair[1][..]) {
            return Some(format!("step {} of {} is none of the model's", number + 1, met.trail.len() - 1));
        }
    }
    (!shows(space, last, met.cause, deadlock)).then(|| "the last state of the way does not show it".to_string())
}

fn expand(space: &dyn Space, state: &[Word], steps: &mut Steps) {
    let mut batch = States::new(space.width());
    batch.push(state);
    space.expand(&batch, Firing::of(0), steps);
}

/// Whether a state shows a violation.
fn shows(space: &dyn Space, state: &[Word], cause: Cause, deadlock: Deadlock) -> bool {
    let (mut bits, mut out) = (PropertyBits::default(), Vec::new());
    match cause {
        Cause::Property(property) | Cause::Found(property) => {
            let _ = space.check(state, &mut bits);
            bits.contains(property)
        }
        Cause::PropertyFault(property, fault) => space.check(state, &mut bits) == Err((property, fault)),
        Cause::Fault(firing, fault) => space.fire(state, firing, &mut out) == Fired::Fault(fault),
        Cause::Rule(firing) => space.fire(state, firing, &mut out) == Fired::To,
        Cause::Deadlock => deadlock.is_at(space, state),
        Cause::Start(..) | Cause::NotReached(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, Plan, open_text};
    use wayfarer_search::Rank;

    /// Counts up to 3, where it is stuck; 2 is bad.
    const MODEL: &str = "var n: 0..3; startstate n := 0; end; rule \"up\" n < 3 ==> n := n + 1; end; invariant \"not two\" n != 2;";

    #[test]
    fn only_what_is_there_is_repeated() {
        let opened = open_text("model.m", MODEL.to_string(), &LoadOptions::default()).expect("a model");
        let replayed = opened.subject.replaying(&Plan::default());
        let space = replayed.space();
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let mut way = vec![steps.states.get(0).to_vec()];
        for _ in 0..3 {
            expand(space, &way[way.len() - 1], &mut steps);
            way.push(steps.states.get(0).to_vec());
        }
        let tried = |cause: Cause, trail: &[Vec<Word>]| {
            doubt(space, &Violation { cause, state: None, trail: trail.to_vec(), rank: Rank::default() }, Deadlock::Stuttering)
        };
        assert_eq!(tried(Cause::Property(0), &way[..3]), None);
        assert_eq!(tried(Cause::Deadlock, &way), None);
        // A way that leads there, and a state that does not show it: a deadlock, a bad state, a fault, a rule that does not fire.
        let unseen = Some("the last state of the way does not show it".to_string());
        assert_eq!(tried(Cause::Deadlock, &way[..3]), unseen);
        assert_eq!(tried(Cause::Property(0), &way[..2]), unseen);
        assert_eq!(tried(Cause::Fault(Firing::of(0), wayfarer_space::Fault(0)), &way[..2]), unseen);
        assert_eq!(tried(Cause::Rule(Firing::of(0)), &way), unseen);
        // A step that is none, and no start.
        let torn = [way[0].clone(), way[2].clone()];
        assert_eq!(tried(Cause::Property(0), &torn), Some("step 1 of 1 is none of the model's".to_string()));
        assert_eq!(tried(Cause::Property(0), &way[1..3]), Some("the way to it does not begin in a start state".to_string()));
        assert!(tried(Cause::Deadlock, &[]).is_some());
    }
}
