//! The rules by which waiting states were first reached, two bytes for each state. They only save work, so what there is no memory for is left out.

use crate::Account;
use wayfarer_space::NO_RULE;

/// Stands for a rule whose number has no room in two bytes.
const UNKNOWN: u16 = u16::MAX;
/// States that there is room for at first.
const FIRST: usize = 1 << 10;

/// The arrivals that one worker notes, in the order in which it finds states.
#[derive(Default)]
pub(super) struct Noting {
    rules: Vec<u16>,
    /// Whether there was no memory for one, so that all that follow are left out.
    stopped: bool,
}

/// Where the arrival of a state is noted, if it is: the list, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    list: u32,
    at: u32,
}

/// The arrivals that all workers noted.
#[derive(Default)]
pub(super) struct Arrivals {
    lists: Vec<Vec<u16>>,
}

impl Noting {
    /// Notes the rule by which a state was reached, and says where.
    pub(super) fn note(&mut self, rule: u32, account: &dyn Account) -> Place {
        if self.rules.len() == self.rules.capacity() && !self.stopped {
            let more = (self.rules.len() / 2).max(FIRST);
            self.stopped = !account.allows((self.rules.len() + more) * size_of::<u16>());
            if !self.stopped {
                self.rules.reserve_exact(more);
            }
        }
        if self.stopped {
            return Place::NOWHERE;
        }
        self.rules.push(u16::try_from(rule).unwrap_or(UNKNOWN));
        Place { list: 0, at: self.rules.len() as u32 - 1 }
    }
}

impl Place {
    /// Of a state whose arrival is not noted.
    pub(super) const NOWHERE: Place = Place { list: u32::MAX, at: u32::MAX };

    /// The place of a state found so many later.
    pub(super) fn after(self, states: u32) -> Self {
        Place { at: self.at.saturating_add(states), ..self }
    }

    /// The same in another list.
    pub(super) fn in_list(self, list: u32) -> Self {
        if self == Place::NOWHERE { self } else { Place { list, ..self } }
    }
}

impl Arrivals {
    /// Whether nothing is noted.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Takes what a worker has noted, and says in which list it is from now on.
    pub(super) fn add(&mut self, noting: &mut Noting) -> u32 {
        let Noting { rules, .. } = std::mem::take(noting);
        let list = self.lists.len() as u32;
        self.lists.extend(Some(rules).filter(|rules| !rules.is_empty()));
        list
    }

    /// Appends the rules of `states` states from a place on, unless nothing is noted at all.
    pub(super) fn read(&self, from: Place, states: u32, rules: &mut Vec<u32>) {
        if self.is_empty() {
            return;
        }
        let there = self.lists.get(from.list as usize).and_then(|list| list.get(from.at as usize..)).unwrap_or_default();
        let known = there.iter().map(|rule| if *rule == UNKNOWN { NO_RULE } else { u32::from(*rule) });
        rules.extend(known.chain(std::iter::repeat(NO_RULE)).take(states as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    /// Allows nothing.
    struct Nothing;

    impl Account for Nothing {
        fn allows(&self, _bytes: usize) -> bool {
            false
        }

        fn used(&self) -> usize {
            0
        }
    }

    #[test]
    fn rules_are_read_where_they_were_noted() {
        let mut arrivals = Arrivals::default();
        let mut read = Vec::new();
        arrivals.read(Place::NOWHERE, 3, &mut read);
        assert!(read.is_empty(), "nothing is noted");
        let (mut one, mut other) = (Noting::default(), Noting::default());
        let first = one.note(7, &Unlimited);
        (8..2_000).for_each(|rule| _ = one.note(rule, &Unlimited));
        let large = other.note(70_000, &Unlimited);
        assert_eq!((arrivals.add(&mut one), arrivals.add(&mut Noting::default()), arrivals.add(&mut other)), (0, 1, 1));
        arrivals.read(first.in_list(0).after(1_990), 5, &mut read);
        arrivals.read(large.in_list(1), 1, &mut read);
        arrivals.read(Place::NOWHERE.in_list(1).after(4), 2, &mut read);
        assert_eq!(read, [1_997, 1_998, 1_999, NO_RULE, NO_RULE, NO_RULE, NO_RULE, NO_RULE]);
    }

    #[test]
    fn what_has_no_room_is_not_noted() {
        let mut noting = Noting::default();
        let place = noting.note(1, &Unlimited);
        let mut places: Vec<Place> = (0..3_000).map(|rule| noting.note(rule, &Nothing)).collect();
        assert_eq!((places.len(), places.pop()), (3_000, Some(Place::NOWHERE)));
        let mut arrivals = Arrivals::default();
        let list = arrivals.add(&mut noting);
        let mut read = Vec::new();
        arrivals.read(place.in_list(list).after(FIRST as u32 - 1), 2, &mut read);
        assert_eq!(read, [FIRST as u32 - 2, NO_RULE]);
    }
}
