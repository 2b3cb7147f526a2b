//! Components and their local states. What a component offers in a local state is found once and kept; what it does with received values, once for each of them.

use crate::machine::{Halt, Machine};
use crate::segments::Segments;
use crate::system::System;
use crate::value::Value;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A sequential process with all local states that were met.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    locals: Segments<Local>,
    index: Mutex<HashTable<u32>>,
    received: Segments<Box<[Offer]>>,
    received_index: Mutex<FxHashMap<(u32, u32, u32, Box<[Value]>), u32>>,
}

/// A local state: frames of a location and the values of its variables each, the running one first. No frames: the process has ended.
#[derive(Debug)]
struct Local {
    frames: Box<[u32]>,
    offers: OnceLock<Offers>,
}

/// What can be done in a local state.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// Offers by the kind of their multi-action, in the order of the kinds.
    pub(crate) kinds: Vec<(u32, Vec<Offer>)>,
    /// Whether the process has ended.
    pub(crate) is_ended: bool,
    /// The summand that could not be evaluated.
    pub(crate) halt: Option<(u32, Halt)>,
}

/// One thing that can be done.
#[derive(Clone, Debug)]
pub(crate) enum Offer {
    /// The arguments of each action, and the local state that follows.
    Ready { tuples: Box<[Value]>, next: u32 },
    /// A summand that waits for received arguments, by its place in the location.
    Open(u32),
}

/// The local state of the first component after the system has terminated.
const AFTER_END: u32 = u32::MAX;

impl Component {
    /// A component that starts with these frames; the first component of a system also has a state for its end.
    pub(crate) fn new(name: String, frames: &[u32], is_first: bool) -> Result<Self, Halt> {
        let component =
            Component { name, locals: Segments::default(), index: Mutex::default(), received: Segments::default(), received_index: Mutex::default() };
        component.local(frames)?;
        if is_first {
            component.local(&[AFTER_END])?;
        }
        Ok(component)
    }

    /// The number of the local state after the end of the system, in the first component.
    pub(crate) const END: u32 = 1;

    /// How many local states were met.
    pub(crate) fn len(&self) -> u32 {
        self.locals.len()
    }

    /// The frames of a local state.
    pub(crate) fn frames(&self, local: u32) -> &[u32] {
        self.locals.get(local).map_or(&[], |local| &local.frames)
    }

    /// The number of a local state.
    pub(crate) fn local(&self, frames: &[u32]) -> Result<u32, Halt> {
        let hash = FxBuildHasher.hash_one(frames).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut table = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.find(hash, |number| self.frames(*number) == frames) {
            return Ok(*found);
        }
        let number = self.locals.push(Local { frames: frames.into(), offers: OnceLock::new() }).ok_or(Halt::NoRoom)?;
        table.insert_unique(hash, number, |number| FxBuildHasher.hash_one(self.frames(*number)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Ok(number)
    }

    /// What can be done in a local state.
    #[inline]
    pub(crate) fn offers(&self, system: &System, local: u32) -> Option<&Offers> {
        let entry = self.locals.get(local)?;
        match entry.offers.get() {
            Some(offers) => Some(offers),
            None => Some(entry.offers.get_or_init(|| self.find_offers(system, local))),
        }
    }

    fn find_offers(&self, system: &System, local: u32) -> Offers {
        let frames = self.frames(local);
        let mut offers = Offers { is_ended: frames.is_empty(), ..Offers::default() };
        let Some((location, _)) = frames.split_first().filter(|(location, _)| **location != AFTER_END) else { return offers };
        let mut machine = Machine::new(&system.data, system.fuel);
        for (index, summand) in system.summands[*location as usize].iter().enumerate() {
            let mut found = Vec::new();
            if summand.is_open {
                found.push(Offer::Open(index as u32));
            } else if let Err(halt) = self.solve(system, &mut machine, local, index as u32, 0, &[], &mut found) {
                offers.halt.get_or_insert((summand.number, halt));
            }
            if found.is_empty() {
                continue;
            }
            match offers.kinds.iter_mut().find(|(kind, _)| *kind == summand.kind) {
                Some((_, list)) => list.extend(found),
                None => offers.kinds.push((summand.kind, found)),
            }
        }
        offers.kinds.sort_by_key(|(kind, _)| *kind);
        offers
    }

    /// What a summand offers once some of its actions have received their arguments: bit k of `mask` for action k, and its arguments in `tuples` as they come.
    pub(crate) fn receive(&self, system: &System, local: u32, index: u32, mask: usize, tuples: &[Value]) -> Result<&[Offer], Halt> {
        let key = (local, index, mask as u32, tuples.into());
        if let Some(found) = self.received_index.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(self.received.get(*found).map_or(&[], |list| list));
        }
        let mut found = Vec::new();
        let mut machine = Machine::new(&system.data, system.fuel);
        self.solve(system, &mut machine, local, index, mask, tuples, &mut found)?;
        let number = self.received.push(found.into()).ok_or(Halt::NoRoom)?;
        let known = *self.received_index.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(number);
        Ok(self.received.get(known).map_or(&[], |list| list))
    }

    /// All solutions of a summand in a local state.
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &self,
        system: &System,
        machine: &mut Machine,
        local: u32,
        index: u32,
        mask: usize,
        tuples: &[Value],
        out: &mut Vec<Offer>,
    ) -> Result<(), Halt> {
        let frames = self.frames(local);
        let location = frames[0] as usize;
        let parameters = system.locations[location].parameters.len();
        let summand = &system.summands[location][index as usize];
        let values: Vec<Value> = frames[1..=parameters].iter().map(|value| Value(*value)).collect();
        let rest = &frames[parameters + 1..];
        machine.begin(&values, summand.slots);
        let (query, uses_received) = summand.query(mask);
        let mut given = tuples.iter();
        for action in 0..summand.actions.len() {
            if mask >> action & 1 == 1
                && let Some(tuple) = given.next()
            {
                let arguments = machine.data.values.arguments(*tuple, summand.actions[action].1.len());
                let start = summand.received[action] as usize;
                if uses_received {
                    machine.stack[start..start + arguments.len()].copy_from_slice(&arguments);
                }
            }
        }
        let mut halt = None;
        query.solve(machine, 0, &mut |machine, _| {
            let mut found = Vec::with_capacity(summand.actions.len());
            for (_, codes) in &summand.actions {
                found.push(System::tuple(machine, codes)?);
            }
            let is_other = |(position, tuple): (usize, &Value)| {
                let action = (0..summand.actions.len()).filter(|action| mask >> action & 1 == 1).nth(position);
                action.is_some_and(|action| found[action] != *tuple)
            };
            if !uses_received && tuples.iter().enumerate().any(is_other) {
                return Ok(true);
            }
            let mut next = Vec::with_capacity(8 + rest.len());
            for (location, codes) in &summand.next {
                next.push(*location);
                for code in codes {
                    next.push(machine.evaluate(code, 0)?.0);
                }
            }
            next.extend_from_slice(rest);
            match self.local(&next) {
                Ok(next) => out.push(Offer::Ready { tuples: found.into(), next }),
                Err(why) => {
                    halt = Some(why);
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        halt.map_or(Ok(()), Err)
    }
}
