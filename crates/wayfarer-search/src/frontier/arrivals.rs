//! The rules by which waiting states were first reached, two bytes for each state. They only save work, so what there is no memory for is left out.

use crate::Account;
use wayfarer_space::NO_RULE;

/// Stands for a rule whose number has no room in two bytes.
const UNKNOWN: u16 = u16::MAX;
/// The most arrivals that lie together, and the fewest that there is room for.
const SHEET: usize = 1 << 17;
const LEAST: usize = 1 << 8;

/// The arrivals that one worker notes, in the order in which it finds states: full sheets, and one with room.
#[derive(Default)]
pub(super) struct Noting {
    sheets: Vec<Vec<u16>>,
    /// Whether there was no memory for one, so that all that follow are left out.
    stopped: bool,
}

/// Where the arrival of a state is noted, if it is: the list, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    list: u32,
    at: u32,
}

/// The arrivals that all workers noted, each worker's in a list of sheets.
#[derive(Default)]
pub(super) struct Arrivals {
    lists: Vec<Vec<Vec<u16>>>,
}

impl Noting {
    /// Notes the rule by which a state was reached, and says where.
    pub(super) fn note(&mut self, rule: u32, account: &dyn Account) -> Place {
        if self.sheets.last().is_none_or(|last| last.len() == last.capacity().min(SHEET)) {
            self.stopped = self.stopped || !self.grow(account);
        }
        let full = self.sheets.len().saturating_sub(1) * SHEET;
        let Some(last) = self.sheets.last_mut().filter(|_| !self.stopped) else { return Place::NOWHERE };
        last.push(u16::try_from(rule).unwrap_or(UNKNOWN));
        Place { list: 0, at: (full + last.len() - 1) as u32 }
    }

    /// Makes room for more; false if the account has none. Only a first sheet begins small.
    #[cold]
    fn grow(&mut self, account: &dyn Account) -> bool {
        let sheet = if self.sheets.is_empty() { LEAST } else { SHEET };
        match self.sheets.last_mut().filter(|last| last.len() < SHEET) {
            Some(last) if account.allows(2 * last.len() * size_of::<u16>()) => last.reserve_exact(last.len()),
            None if account.allows(sheet * size_of::<u16>()) => self.sheets.push(Vec::with_capacity(sheet)),
            _ => return false,
        }
        true
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
        let Noting { sheets, .. } = std::mem::take(noting);
        let list = self.lists.len() as u32;
        self.lists.extend(Some(sheets).filter(|sheets| !sheets.is_empty()));
        list
    }

    /// Appends the rules of `states` states from a place on, unless nothing is noted at all.
    pub(super) fn read(&self, from: Place, states: u32, rules: &mut Vec<u32>) {
        if self.is_empty() {
            return;
        }
        let (end, mut at) = (rules.len() + states as usize, from.at as usize);
        if let Some(list) = self.lists.get(from.list as usize) {
            while rules.len() < end
                && let Some(there) = list.get(at / SHEET).and_then(|sheet| sheet.get(at % SHEET..)).filter(|there| !there.is_empty())
            {
                let some = there.len().min(end - rules.len());
                rules.extend(there[..some].iter().map(|rule| if *rule == UNKNOWN { NO_RULE } else { u32::from(*rule) }));
                at += some;
            }
        }
        rules.resize(end, NO_RULE);
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
        let rule = |at: usize| at as u32 % 1_000;
        let first = one.note(rule(0), &Unlimited);
        (1..SHEET + 10).for_each(|at| _ = one.note(rule(at), &Unlimited));
        let large = other.note(70_000, &Unlimited);
        assert_eq!((arrivals.add(&mut one), arrivals.add(&mut Noting::default()), arrivals.add(&mut other)), (0, 1, 1));
        // Over the ends of a sheet, and of what was noted.
        arrivals.read(first.in_list(0).after(SHEET as u32 - 1), 2, &mut read);
        arrivals.read(first.in_list(0).after(SHEET as u32 + 9), 2, &mut read);
        arrivals.read(large.in_list(1), 1, &mut read);
        arrivals.read(Place::NOWHERE.in_list(1).after(4), 2, &mut read);
        assert_eq!(read, [&[rule(SHEET - 1), rule(SHEET), rule(SHEET + 9)], [NO_RULE; 4].as_slice()].concat());
    }

    #[test]
    fn what_has_no_room_is_not_noted() {
        let mut noting = Noting::default();
        let place = noting.note(1, &Unlimited);
        let places: Vec<Place> = (0..3_000).map(|rule| noting.note(rule, &Nothing)).collect();
        assert_eq!(places.iter().filter(|place| **place == Place::NOWHERE).count(), 3_001 - LEAST);
        let mut arrivals = Arrivals::default();
        let list = arrivals.add(&mut noting);
        let mut read = Vec::new();
        arrivals.read(place.in_list(list).after(LEAST as u32 - 1), 2, &mut read);
        assert_eq!(read, [LEAST as u32 - 2, NO_RULE]);
    }
}
