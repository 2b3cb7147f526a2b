//! Bindings by joins: each input arc is a pattern, the tokens of its place are a table, and a new token is joined with the tables of the other arcs.

use super::{MOST_TRANSITIONS, TooLarge, slots};
use crate::pnml::net::Net;
use crate::pnml::terms::{Condition, Part, moved};
use std::collections::HashMap;

/// A slot without a value.
pub(super) const UNBOUND: u32 = u32::MAX;

/// Values that are tried for one transition, at most.
const MOST_TRIES: u64 = 20_000_000;

/// The patterns of all transitions and the tables of all places.
pub(super) struct Joins<'a> {
    net: &'a Net,
    transitions: Vec<Patterns<'a>>,
    /// The patterns that read each place.
    users: Vec<Vec<(usize, usize)>>,
    tables: Vec<Table>,
    tries: u64,
}

/// The patterns of a transition.
struct Patterns<'a> {
    /// A place, and the parts of its tokens in terms of slots.
    items: Vec<(usize, Vec<Cell>)>,
    /// How many values each slot can have.
    domains: Vec<u32>,
    guards: Vec<&'a Condition>,
    slots: Vec<(u32, u32)>,
}

/// A part of a pattern.
#[derive(Clone, Copy)]
enum Cell {
    Constant(u32),
    Slot { slot: usize, shift: u32, count: u32 },
}

/// The tokens of a place in the order of their numbers, found by some of their parts.
#[derive(Default)]
struct Table {
    rows: Vec<(u32, Box<[u32]>)>,
    /// For a set of parts, the rows by the values of these.
    indices: HashMap<u64, HashMap<Box<[u32]>, Vec<u32>>>,
}

impl Table {
    fn add(&mut self, number: u32, colour: &[u32]) {
        let row = self.rows.len() as u32;
        self.rows.push((number, colour.into()));
        for (mask, index) in &mut self.indices {
            index.entry(key(colour, *mask)).or_default().push(row);
        }
    }

    fn find(&mut self, mask: u64, values: &[u32]) -> Vec<u32> {
        let rows = &self.rows;
        let index = self.indices.entry(mask).or_insert_with(|| {
            let mut index: HashMap<Box<[u32]>, Vec<u32>> = HashMap::new();
            rows.iter().enumerate().for_each(|(row, (_, colour))| index.entry(key(colour, mask)).or_default().push(row as u32));
            index
        });
        index.get(values).cloned().unwrap_or_default()
    }
}

fn key(colour: &[u32], mask: u64) -> Box<[u32]> {
    colour.iter().enumerate().filter(|(part, _)| mask >> part & 1 == 1).map(|(_, value)| *value).collect()
}

impl<'a> Joins<'a> {
    pub(super) fn new(net: &'a Net) -> Self {
        let mut users = vec![Vec::new(); net.places.len()];
        let transitions: Vec<Patterns> = (0..net.transitions.len()).map(|number| Patterns::new(net, number)).collect();
        for (number, patterns) in transitions.iter().enumerate() {
            for (item, (place, _)) in patterns.items.iter().enumerate() {
                users[*place].push((number, item));
            }
        }
        Joins { net, transitions, users, tables: net.places.iter().map(|_| Table::default()).collect(), tries: 0 }
    }

    /// The patterns that read a place: transition, and which of its patterns.
    pub(super) fn users(&self, place: usize) -> &[(usize, usize)] {
        &self.users[place]
    }

    /// A token that can occur from now on.
    pub(super) fn add_token(&mut self, place: usize, colour: &[u32], number: u32) {
        self.tables[place].add(number, colour);
    }

    /// The bindings of a transition that has no patterns.
    pub(super) fn without_tokens(&mut self, transition: usize, found: &mut Vec<Box<[u32]>>) -> Result<(), TooLarge> {
        if !self.transitions[transition].items.is_empty() {
            return Ok(());
        }
        let mut binding = vec![UNBOUND; self.transitions[transition].domains.len()];
        self.begin();
        self.extend(transition, 0, u32::MAX, 0, &mut binding, found)
    }

    /// The bindings in which a pattern takes the newest token, earlier patterns older ones, and later patterns any.
    pub(super) fn with_token(
        &mut self,
        transition: usize,
        item: usize,
        colour: &[u32],
        number: u32,
        found: &mut Vec<Box<[u32]>>,
    ) -> Result<(), TooLarge> {
        let mut binding = vec![UNBOUND; self.transitions[transition].domains.len()];
        self.begin();
        if self.transitions[transition].matches(item, colour, &mut binding).is_none() || !self.transitions[transition].is_possible(&binding) {
            return Ok(());
        }
        let done = 1u64.checked_shl(item as u32).unwrap_or(0);
        self.extend(transition, done, number, item, &mut binding, found)
    }

    fn begin(&mut self) {
        self.tries = 0;
    }

    fn extend(
        &mut self,
        transition: usize,
        done: u64,
        newest: u32,
        trigger: usize,
        binding: &mut Vec<u32>,
        found: &mut Vec<Box<[u32]>>,
    ) -> Result<(), TooLarge> {
        self.tries += 1;
        if self.tries > MOST_TRIES || found.len() > MOST_TRANSITIONS {
            let what = format!(
                "more than {} bindings are to be tried; that is the limit",
                if found.len() > MOST_TRANSITIONS { MOST_TRANSITIONS as u64 } else { MOST_TRIES }
            );
            return Err(TooLarge { transition: Some(transition), what });
        }
        let patterns = &self.transitions[transition];
        // The pattern of which the most is known comes next; past 64 patterns the rest is taken in order.
        let next = (0..patterns.items.len()).filter(|item| done >> item.min(&63) & 1 == 0).max_by_key(|item| patterns.known(*item, binding));
        let Some(item) = next else {
            return self.enumerate(transition, 0, binding, found);
        };
        let (place, cells) = &patterns.items[item];
        let (place, mut mask, mut values) = (*place, 0u64, Vec::new());
        for (part, cell) in cells.iter().enumerate() {
            if let Some(value) = cell.value(binding) {
                mask |= 1 << part;
                values.push(value);
            }
        }
        for row in self.tables[place].find(mask, &values) {
            let (number, colour) = &self.tables[place].rows[row as usize];
            if *number > newest || *number == newest && item < trigger {
                break;
            }
            let patterns = &self.transitions[transition];
            let before: Vec<usize> = cells_unbound(&patterns.items[item].1, binding);
            if patterns.matches(item, colour, binding).is_some() && patterns.is_possible(binding) {
                self.extend(transition, done | 1 << item.min(63), newest, trigger, binding, found)?;
            }
            before.into_iter().for_each(|slot| binding[slot] = UNBOUND);
        }
        Ok(())
    }

    /// Tries all values of the slots that no pattern gives one.
    fn enumerate(&mut self, transition: usize, from: usize, binding: &mut Vec<u32>, found: &mut Vec<Box<[u32]>>) -> Result<(), TooLarge> {
        let Some(slot) = (from..binding.len()).find(|slot| binding[*slot] == UNBOUND) else {
            if self.transitions[transition].is_possible(binding) {
                found.push(binding.clone().into());
            }
            return Ok(());
        };
        for value in 0..self.transitions[transition].domains[slot] {
            self.tries += 1;
            if self.tries > MOST_TRIES || found.len() > MOST_TRANSITIONS {
                let name = &self.net.transitions[transition].name;
                let domain: f64 = self.transitions[transition].domains.iter().map(|count| f64::from(*count)).product();
                let what = format!("the variables of `{name}` have {domain:.2e} values together, more than can be tried");
                return Err(TooLarge { transition: Some(transition), what });
            }
            binding[slot] = value;
            if self.transitions[transition].is_possible(binding) {
                self.enumerate(transition, slot + 1, binding, found)?;
            }
        }
        binding[slot] = UNBOUND;
        Ok(())
    }
}

fn cells_unbound(cells: &[Cell], binding: &[u32]) -> Vec<usize> {
    cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Slot { slot, .. } if binding[*slot] == UNBOUND => Some(*slot),
            _ => None,
        })
        .collect()
}

impl Cell {
    fn value(&self, binding: &[u32]) -> Option<u32> {
        match *self {
            Cell::Constant(value) => Some(value),
            Cell::Slot { slot, shift, count } => (binding[slot] != UNBOUND).then(|| moved(binding[slot], shift, count)),
        }
    }
}

impl<'a> Patterns<'a> {
    fn new(net: &'a Net, number: usize) -> Self {
        let transition = &net.transitions[number];
        let slots = slots(net, number);
        let domains =
            transition.variables.iter().flat_map(|variable| net.parts(net.variables[*variable].sort)).map(|part| net.count(*part)).collect();
        let mut items = Vec::new();
        for (place, bag) in &transition.inputs {
            // Tokens that may be subtracted again need not be there.
            for (count, colour) in bag.plus.iter().filter(|_| bag.minus.is_empty()) {
                let cells: Option<Vec<Cell>> = colour.iter().map(|part| cell(*part, &slots)).collect();
                if let Some(cells) = cells.filter(|_| *count > 0) {
                    items.push((*place, cells));
                }
            }
        }
        // A pattern beyond the 64th would need a larger set of those that are done; the last test finds what they would have.
        items.truncate(63);
        Patterns { items, domains, guards: transition.guard.conjuncts(), slots }
    }

    /// Gives slots the values with which a pattern is a token; none where it is not.
    fn matches(&self, item: usize, colour: &[u32], binding: &mut [u32]) -> Option<()> {
        for (cell, value) in self.items[item].1.iter().zip(colour) {
            match (*cell, cell.value(binding)) {
                (_, Some(known)) if known == *value => {}
                (_, Some(_)) => return None,
                (Cell::Slot { slot, shift, count }, None) => binding[slot] = moved(*value, count - shift % count.max(1), count),
                (Cell::Constant(_), None) => {}
            }
        }
        Some(())
    }

    /// How much of a pattern is known, the share of its parts first.
    fn known(&self, item: usize, binding: &[u32]) -> (usize, std::cmp::Reverse<usize>) {
        let cells = &self.items[item].1;
        let known = cells.iter().filter(|cell| cell.value(binding).is_some()).count();
        (known * 64 / cells.len().max(1), std::cmp::Reverse(item))
    }

    /// Whether no guard is known to be false.
    fn is_possible(&self, binding: &[u32]) -> bool {
        let value = |variable: u32, part: u32| {
            let slot = self.slots.iter().find(|(candidate, _)| *candidate == variable)?.1 + part;
            binding.get(slot as usize).copied().filter(|value| *value != UNBOUND)
        };
        self.guards.iter().all(|guard| guard.holds(&value) != Some(false))
    }
}

fn cell(part: Part, slots: &[(u32, u32)]) -> Option<Cell> {
    match part {
        Part::Constant(value) => Some(Cell::Constant(value)),
        Part::Variable { variable, part, shift, count } => {
            let slot = slots.iter().find(|(candidate, _)| *candidate == variable)?.1 + part;
            Some(Cell::Slot { slot: slot as usize, shift, count })
        }
        Part::All(_) => None,
    }
}
