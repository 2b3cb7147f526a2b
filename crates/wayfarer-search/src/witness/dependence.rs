//! Which parts of a state a rule depends on and which it changes, if the system can tell.
//!
//! From this follows what a violation cannot depend on: firings that change nothing it needs, and rules that can never reach it.

use super::stage::RuleSet;
use crate::Ending;
use wayfarer_space::Word;

/// The bits of a state that a rule reads and writes, as a mask for each word. They may be more than it does, never fewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// The bits that decide whether it fires and what it does.
    pub reads: Vec<Word>,
    /// The bits that it may change.
    pub writes: Vec<Word>,
}

/// Knows what rules and properties depend on.
pub trait Dependence {
    /// The bits that a rule with its parameters fixed reads and writes.
    fn rule(&self, rule: u32) -> Touched;

    /// The bits that decide whether a property fails.
    fn property(&self, property: u32) -> Vec<Word>;

    /// The bits that decide whether a state is left out by an assumption.
    fn assumptions(&self) -> Vec<Word>;

    /// The number of rules with their parameters fixed.
    fn rules(&self) -> u32;
}

/// The most rules whose dependence is computed to find those that can reach a violation.
const MOST_RULES: u32 = 1 << 12;

/// The bits that decide whether a state ends a witness; `None` if that depends on everything.
pub(super) fn needed_at_end(dependence: &dyn Dependence, ending: Ending) -> Option<Vec<Word>> {
    let mut needed = match ending {
        Ending::Property(property) | Ending::Found(property) => dependence.property(property),
        Ending::Fault(firing, _) | Ending::Rule(firing) => dependence.rule(firing.rule).reads,
        // Which property is judged first decides whether the fault shows.
        Ending::PropertyFault(..) | Ending::Deadlock | Ending::Start(_) => return None,
    };
    if needed.iter().all(|word| *word == 0) {
        // A statement inside a rule decides, not the state.
        return None;
    }
    add(&mut needed, &dependence.assumptions());
    Some(needed)
}

/// The rules that a violation can depend on, directly or through others. Any witness to it is still one without the firings of all others, so a shortest one has
/// none of them. `None` if it can depend on all rules, or if there are too many to tell.
pub(super) fn cone(dependence: &dyn Dependence, ending: Ending) -> Option<RuleSet> {
    if dependence.rules() > MOST_RULES {
        return None;
    }
    let mut needed = needed_at_end(dependence, ending)?;
    let mut outside: Vec<(u32, Touched)> = (0..dependence.rules()).map(|rule| (rule, dependence.rule(rule))).collect();
    let mut inside = RuleSet::new();
    if let Ending::Fault(firing, _) | Ending::Rule(firing) = ending {
        inside.insert(firing.rule);
    }
    loop {
        let before = outside.len();
        outside.retain(|(rule, touched)| {
            let reaches = meets(&touched.writes, &needed);
            if reaches {
                inside.insert(*rule);
                add(&mut needed, &touched.reads);
            }
            !reaches
        });
        if outside.is_empty() {
            return None;
        }
        if outside.len() == before {
            return Some(inside);
        }
    }
}

/// Whether two sets share a bit.
pub(super) fn meets(one: &[Word], other: &[Word]) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

/// Adds a set to another.
pub(super) fn add(to: &mut Vec<Word>, more: &[Word]) {
    if to.len() < more.len() {
        to.resize(more.len(), 0);
    }
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Firing;

    /// Rules that read and write one bit each, and a property of the first bit.
    struct Chain(Vec<(u32, u32)>);

    impl Dependence for Chain {
        fn rule(&self, rule: u32) -> Touched {
            let (reads, writes) = self.0[rule as usize];
            Touched { reads: vec![1 << reads], writes: vec![1 << writes] }
        }

        fn property(&self, property: u32) -> Vec<Word> {
            vec![Word::from(property == 0)]
        }

        fn assumptions(&self) -> Vec<Word> {
            vec![0]
        }

        fn rules(&self) -> u32 {
            self.0.len() as u32
        }
    }

    #[test]
    fn rules_that_cannot_reach_the_end_are_outside() {
        let chain = Chain(vec![(4, 3), (2, 1), (1, 0), (5, 2)]);
        let cone = |ending| cone(&chain, ending);
        assert_eq!(cone(Ending::Property(0)), Some(RuleSet::from([1, 2, 3])));
        assert_eq!(cone(Ending::Rule(Firing::of(1))), Some(RuleSet::from([1, 3])));
        // A deadlock depends on everything, and so does a property that no bit decides.
        assert_eq!(cone(Ending::Deadlock), None);
        assert_eq!(cone(Ending::Property(1)), None);
    }
}
