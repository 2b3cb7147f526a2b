//! Components and their local states. The offers of a component in a local state are found once and kept; its offers for received values, once for each of them.

use crate::blocks::Blocks;
use crate::code::Code;
use crate::machine::{Halt, Machine};
use crate::segments::Segments;
use crate::system::System;
use crate::value::{INDEXED, Value};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A sequential process with all local states that were met.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    locals: Segments<Local>,
    index: Mutex<HashTable<u32>>,
    received: Segments<Received>,
    received_index: Mutex<HashTable<u32>>,
    /// Bytes that local states and offers hold outside of the tables.
    pub(crate) outside: Blocks,
}

/// A local state: frames of a location and the values of its variables each, the running one first. No frames: the process has ended.
#[derive(Debug)]
struct Local {
    frames: Box<[u32]>,
    offers: OnceLock<Offers>,
}

/// A local state, a summand, what is received, and whether that is by whole actions.
type ReceivedKey = (u32, u32, u64, bool);

/// The offers of a summand for received arguments.
#[derive(Debug)]
struct Received {
    key: ReceivedKey,
    values: Box<[Value]>,
    /// A failure is kept like any other result: it takes long to find, and comes again with every step that it could be part of.
    offers: Result<Box<[Offer]>, Halt>,
}

/// The offers of a component in a local state.
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
    /// A summand that waits for received arguments, by its place in the location, with the arguments that are known already.
    Open { summand: u32, known: Box<[Option<Value>]> },
}

/// The local state of the first component after the system has terminated.
const AFTER_END: u32 = u32::MAX;

impl Component {
    /// A component that starts with these frames; the first component of a system also has a state for its end.
    pub(crate) fn new(name: String, frames: &[u32], is_first: bool) -> Result<Self, Halt> {
        let component = Component {
            name,
            locals: Segments::default(),
            index: Mutex::default(),
            received: Segments::default(),
            received_index: Mutex::default(),
            outside: Blocks::default(),
        };
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

    /// The bytes of its tables, about.
    pub(crate) fn bytes(&self) -> usize {
        let locals = self.locals.len() as usize * (size_of::<Local>() + INDEXED);
        locals + self.received.len() as usize * (size_of::<Received>() + INDEXED) + self.outside.asked() + self.outside.rounding()
    }

    /// Counts the memory of a list of offers.
    fn note(&self, list: &[Offer]) {
        self.outside.add(size_of_val(list));
        for offer in list {
            self.outside.add(match offer {
                Offer::Ready { tuples, .. } => size_of_val(&**tuples),
                Offer::Open { known, .. } => size_of_val(&**known),
            });
        }
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
        self.outside.add(size_of_val(frames));
        let number = self.locals.push(Local { frames: frames.into(), offers: OnceLock::new() }).ok_or(Halt::NoRoom)?;
        table.insert_unique(hash, number, |number| FxBuildHasher.hash_one(self.frames(*number)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Ok(number)
    }

    /// The offers of a component in a local state.
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
            let result = match &summand.open {
                Some(arguments) => self.known(system, &mut machine, local, index as u32, arguments).map(|offer| found.push(offer)),
                None => self.solve(system, &mut machine, local, index as u32, 0, &[], &mut found),
            };
            if let Err(halt) = result {
                // The failure is reported instead: what came before it may be any number of values, multiplied by those of other components.
                found.clear();
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
        // Copies have no room to spare, and the larger blocks are used again for the next local state.
        let mut kinds = Vec::with_capacity(offers.kinds.len());
        for (kind, found) in offers.kinds.drain(..) {
            let mut list = Vec::with_capacity(found.len());
            list.extend(found);
            self.note(&list);
            kinds.push((kind, list));
        }
        self.outside.add(size_of_val(&*kinds));
        Offers { kinds, ..offers }
    }

    /// A summand that waits, with the arguments that are known already.
    fn known(&self, system: &System, machine: &mut Machine, local: u32, index: u32, arguments: &[Option<Code>]) -> Result<Offer, Halt> {
        let (values, _) = self.split(system, local);
        let location = self.frames(local)[0] as usize;
        machine.begin(&values, system.summands[location][index as usize].slots);
        let known = arguments.iter().map(|code| code.as_ref().map(|code| machine.evaluate(code, 0)).transpose()).collect::<Result<_, _>>()?;
        Ok(Offer::Open { summand: index, known })
    }

    /// The values of the running location's variables, and the frames behind it.
    fn split(&self, system: &System, local: u32) -> (Vec<Value>, &[u32]) {
        let frames = self.frames(local);
        let Some((location, rest)) = frames.split_first() else { return (Vec::new(), &[]) };
        let (values, rest) = rest.split_at(system.locations[*location as usize].parameters.len());
        (values.iter().map(|value| Value(*value)).collect(), rest)
    }

    /// The offers of a summand once it has received arguments: bit k of `mask` for argument k, with the values of these in `arguments`.
    pub(crate) fn receive(&self, system: &System, local: u32, summand: u32, mask: u64, arguments: &[Value]) -> Result<&[Offer], Halt> {
        self.received((local, summand, mask, false), arguments, &mut |found| {
            let mut machine = Machine::new(&system.data, system.fuel);
            self.solve(system, &mut machine, local, summand, mask, arguments, found)
        })
    }

    /// The same for all arguments of some actions: bit k of `actions` for action k, with its arguments as one value in `tuples`.
    pub(crate) fn receive_tuples(&self, system: &System, local: u32, summand: u32, actions: u64, tuples: &[Value]) -> Result<&[Offer], Halt> {
        self.received((local, summand, actions, true), tuples, &mut |found| {
            let location = self.frames(local)[0] as usize;
            let (mut mask, mut arguments, mut place, mut given) = (0, Vec::new(), 0, tuples.iter());
            for (index, (_, codes)) in system.summands[location][summand as usize].actions.iter().enumerate() {
                if actions >> index & 1 == 1
                    && let Some(tuple) = given.next()
                {
                    arguments.extend(system.data.values.arguments(*tuple, codes.len()));
                    mask |= ((1u64 << codes.len()) - 1) << place;
                }
                place += codes.len();
            }
            let mut machine = Machine::new(&system.data, system.fuel);
            self.solve(system, &mut machine, local, summand, mask, &arguments, found)
        })
    }

    /// Looks up what is kept under a key and values, and finds it first if it is not there.
    fn received(&self, key: ReceivedKey, values: &[Value], find: &mut dyn FnMut(&mut Vec<Offer>) -> Result<(), Halt>) -> Result<&[Offer], Halt> {
        let hash_of = |key: ReceivedKey, values: &[Value]| FxBuildHasher.hash_one((key, values)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = hash_of(key, values);
        let is_same = |number: &u32| self.received.get(*number).is_some_and(|known| known.key == key && *known.values == *values);
        let offers = |number: u32| self.received.get(number).map_or(Ok(&[][..]), |known| known.offers.as_deref().map_err(|halt| *halt));
        if let Some(found) = self.received_index.lock().unwrap_or_else(PoisonError::into_inner).find(hash, is_same) {
            return offers(*found);
        }
        let mut found = Vec::new();
        let result = find(&mut found);
        let mut index = self.received_index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = index.find(hash, is_same) {
            return offers(*found);
        }
        self.note(&found);
        self.outside.add(size_of_val(values));
        let number = self.received.push(Received { key, values: values.into(), offers: result.map(|()| found.into()) }).ok_or(Halt::NoRoom)?;
        index.insert_unique(hash, number, |number| self.received.get(*number).map_or(0, |known| hash_of(known.key, &known.values)));
        offers(number)
    }

    /// All solutions of a summand in a local state.
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &self,
        system: &System,
        machine: &mut Machine,
        local: u32,
        index: u32,
        mask: u64,
        arguments: &[Value],
        out: &mut Vec<Offer>,
    ) -> Result<(), Halt> {
        let location = self.frames(local)[0] as usize;
        let summand = &system.summands[location][index as usize];
        let (values, rest) = self.split(system, local);
        let planned = if mask == 0 { None } else { Some(system.plan(location, index as usize, mask)?) };
        let (query, slots) = planned.as_deref().map_or((&summand.query, summand.slots), |(query, slots)| (query, (*slots).max(summand.slots)));
        machine.begin(&values, slots);
        let mut given = arguments.iter();
        for place in 0..64 {
            if mask >> place & 1 == 1
                && let Some(argument) = given.next()
            {
                machine.stack[summand.received as usize + place] = *argument;
            }
        }
        query.solve(machine, 0, &mut |machine, _| {
            let mut found = Vec::with_capacity(summand.actions.len());
            for (_, codes) in &summand.actions {
                found.push(System::tuple(machine, codes)?);
            }
            let mut next = Vec::with_capacity(8 + rest.len());
            for (location, codes) in &summand.next {
                next.push(*location);
                for code in codes {
                    next.push(machine.evaluate(code, 0)?.0);
                }
            }
            next.extend_from_slice(rest);
            out.push(Offer::Ready { tuples: found.into(), next: self.local(&next)? });
            Ok(true)
        })
    }
}
