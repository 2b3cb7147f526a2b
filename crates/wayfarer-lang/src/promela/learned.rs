//! The assumptions under which a model is compiled: how many processes there are, what runs where, how large values become, how full channels get.
//!
//! All of it is learned from a short look-ahead. Everything beyond is a fault of class *limit* in the compiled program; the model is then compiled
//! again with the limit that was met made wider.

use super::bounds::Bounds;
use super::machine::{Machine, State, Trouble};
use super::model::{Leaf, LeafId, Model, Scalar};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use wayfarer_space::Rng;

/// States that the look-ahead makes breadth first.
const STATES: usize = 1_500;
/// Random walks that it makes from there, and their length.
const WALKS: u64 = 16;
const LENGTH: usize = 120;
/// Statements that it executes in all: what bounds its time.
const WORK: usize = 16_000;

/// The most bits by which a variable may be wider than what the look-ahead met, one element and all together.
const MORE: u32 = 2;
const MORE_IN_ALL: u32 = 6;

/// Restarts after which variables of one type are made wider together.
const MANY: u32 = 4;

/// The location of a variable: in the globals, or in the slot of a process.
pub type Home = Option<usize>;

/// A channel by what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The slot of the process that made it.
    pub owner: Home,
    /// The initialiser.
    pub ty: usize,
    /// Which element of an array of channels it is.
    pub member: u32,
}

/// The least and the largest value.
pub type Range = (i64, i64);

/// The assumptions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    /// The process types that may run in each slot.
    pub slots: Vec<BTreeSet<usize>>,
    /// Values of variables, all elements of an array together.
    pub ranges: BTreeMap<(Home, LeafId), Range>,
    /// Channels that variables may hold.
    pub channels: BTreeMap<(Home, LeafId), BTreeSet<Origin>>,
    /// Values of fields of messages, by initialiser.
    pub fields: BTreeMap<(usize, usize), Range>,
    /// Channels in fields of messages.
    pub field_channels: BTreeMap<(usize, usize), BTreeSet<Origin>>,
    /// How many messages a channel holds, by initialiser.
    pub lengths: BTreeMap<usize, u32>,
    /// How often something was too narrow.
    pub effort: u32,
    /// How often each was.
    pub met: BTreeMap<Limit, u32>,
}

/// Something that turned out to be too narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// A variable's value.
    Range(Home, LeafId),
    /// A field's value.
    Field(usize, usize),
    /// Messages in a channel.
    Length(usize),
    /// A process type in a slot.
    Slot(usize, usize),
}

impl Learned {
    /// Looks ahead.
    pub fn look_ahead(model: &Model) -> Result<Self, Trouble> {
        let machine = Machine::new(model);
        let start = machine.start()?;
        let mut learned = Learned::default();
        for (ty, channel) in model.channels.iter().enumerate() {
            learned.lengths.insert(ty, channel.capacity.min(1));
        }
        let mut seen: HashSet<State> = HashSet::new();
        let mut queue = VecDeque::new();
        learned.note(model, &machine, None, &start);
        seen.insert(start.clone());
        queue.push_back(start.clone());
        let mut edge: Vec<State> = vec![start];
        let mut cut = false;
        while let Some(state) = queue.pop_front() {
            if seen.len() > STATES || machine.work() > WORK / 2 {
                cut = true;
                edge.push(state);
                edge.extend(queue.drain(..).step_by(7).take(32));
                break;
            }
            for taken in machine.expand(&state) {
                let Ok(next) = taken.result else { continue };
                if !seen.contains(&next) {
                    learned.note(model, &machine, Some(&state), &next);
                    seen.insert(next.clone());
                    queue.push_back(next);
                }
            }
            let mut state = state;
            if state.control.take().is_some() && seen.insert(state.clone()) {
                queue.push_back(state);
            }
        }
        if cut {
            learned.walk(model, &machine, &edge);
        }
        learned.note_stored(model, &machine);
        learned.round_up(model);
        if cut {
            learned.reach_out(model);
        }
        Ok(learned)
    }

    /// Makes ranges as wide as values can become by the model's text, if that takes few bits more than was met.
    fn reach_out(&mut self, model: &Model) {
        let Some(bounds) = Bounds::of(model) else { return };
        for ((_, id), range) in &mut self.ranges {
            let leaf = model.leaf(*id);
            if leaf.written
                && leaf.ty != Scalar::Chan
                && let Some(bound) = bounds.variable(*id)
            {
                *range = reached(*range, bound, leaf.ty, leaf.cells());
            }
        }
        for ((ty, number), range) in &mut self.fields {
            let channel = &model.channels[*ty];
            if let Some(bound) = bounds.field(*ty, *number) {
                *range = reached(*range, bound, channel.fields[*number], channel.capacity.max(1) * channel.count);
            }
        }
    }

    /// Walks at random from some states on.
    fn walk(&mut self, model: &Model, machine: &Machine, edge: &[State]) {
        let mut rng = Rng::new(0, "look-ahead");
        for number in 0..WALKS {
            let state = edge[number as usize % edge.len()].clone();
            self.stroll(model, machine, state, LENGTH, WORK, &mut rng);
        }
    }

    /// One random walk.
    fn stroll(&mut self, model: &Model, machine: &Machine, mut state: State, length: usize, work: usize, rng: &mut Rng) {
        for _ in 0..length {
            if machine.work() > work {
                return;
            }
            let mut next: Vec<State> = machine.expand(&state).into_iter().filter_map(|taken| taken.result.ok()).collect();
            if next.is_empty() {
                if state.control.take().is_none() {
                    return;
                }
                continue;
            }
            let next = next.swap_remove(rng.below(next.len() as u64) as usize);
            self.note(model, machine, Some(&state), &next);
            state = next;
        }
    }

    /// Takes into account what was stored on the way to states.
    fn note_stored(&mut self, model: &Model, machine: &Machine) {
        for ((home, id), (low, high)) in machine.stored() {
            if model.leaf(id).ty != Scalar::Chan {
                let range = self.ranges.entry((home, id)).or_insert((low, high));
                widen(range, low);
                widen(range, high);
            }
        }
    }

    /// Takes a state into account. Variables that are as they were in the state before it are known already.
    fn note(&mut self, model: &Model, machine: &Machine, before: Option<&State>, state: &State) {
        let known = before.map(|before| &before.globals[..]);
        for id in &model.globals {
            self.note_leaf(model, machine, None, *id, (known, &state.globals));
        }
        for (pid, process) in state.processes.iter().enumerate() {
            while self.slots.len() <= pid {
                self.slots.push(BTreeSet::new());
            }
            self.slots[pid].insert(process.ty);
            let known = before.and_then(|before| before.processes.get(pid)).filter(|known| known.ty == process.ty);
            let known = known.map(|known| &known.cells[..]);
            for id in &model.types[process.ty].leaves {
                self.note_leaf(model, machine, Some(pid), *id, (known, &process.cells));
            }
        }
        for channel in &state.channels {
            let length = self.lengths.entry(channel.origin.ty).or_insert(0);
            *length = (*length).max(channel.messages.len() as u32);
            for message in &channel.messages {
                for (number, (value, scalar)) in message.iter().zip(&model.channels[channel.origin.ty].fields).enumerate() {
                    if *scalar == Scalar::Chan {
                        let set = self.field_channels.entry((channel.origin.ty, number)).or_default();
                        set.extend(machine.origin(*value));
                    } else {
                        widen(self.fields.entry((channel.origin.ty, number)).or_insert((*value, *value)), *value);
                    }
                }
            }
        }
    }

    fn note_leaf(&mut self, model: &Model, machine: &Machine, home: Home, id: LeafId, (known, cells): (Option<&[i64]>, &[i64])) {
        let leaf = model.leaf(id);
        let place = leaf.cell as usize..(leaf.cell + leaf.cells()) as usize;
        let values = &cells[place.clone()];
        if leaf.ty == Scalar::Chan {
            let set = self.channels.entry((home, id)).or_default();
            set.extend(values.iter().filter_map(|value| machine.origin(*value)));
        } else if known.is_none_or(|known| known[place] != *values)
            && let (Some(low), Some(high)) = (values.iter().min(), values.iter().max())
        {
            let range = self.ranges.entry((home, id)).or_insert((*low, *high));
            widen(range, *low);
            widen(range, *high);
        }
    }

    /// Makes ranges of whole bits, but for variables that are never written.
    fn round_up(&mut self, model: &Model) {
        for ((_, id), range) in &mut self.ranges {
            let leaf = model.leaf(*id);
            if leaf.written || leaf.dimensions.iter().any(|count| *count > 1) {
                *range = rounded(*range, leaf.ty);
            }
        }
        for ((ty, number), range) in &mut self.fields {
            *range = rounded(*range, model.channels[*ty].fields[*number]);
        }
        for (ty, length) in &mut self.lengths {
            let capacity = model.channels[*ty].capacity;
            *length = length.next_power_of_two().min(capacity);
        }
    }

    /// The range of a variable.
    pub fn range(&self, home: Home, id: LeafId) -> Range {
        self.ranges.get(&(home, id)).copied().unwrap_or((0, 0))
    }

    /// Makes wider what was too narrow. False where it was as wide as it can be.
    pub fn widen(&mut self, model: &Model, limit: Limit) -> bool {
        let wider = self.widen_one(model, limit);
        // If one limit was too narrow, others may be: a longer look finds them before they cost a run.
        self.effort += 1;
        self.look_further(model);
        wider
    }

    fn look_further(&mut self, model: &Model) {
        let machine = Machine::new(model);
        let Ok(start) = machine.start() else { return };
        let most = WORK << self.effort.min(4);
        let mut rng = Rng::new(u64::from(self.effort), "look-ahead");
        while machine.work() < most {
            let before = machine.work();
            self.stroll(model, &machine, start.clone(), LENGTH << self.effort.min(4), most, &mut rng);
            if machine.work() == before {
                break;
            }
        }
        self.note_stored(model, &machine);
        self.round_up(model);
        self.reach_out(model);
    }

    fn widen_one(&mut self, model: &Model, limit: Limit) -> bool {
        // A limit that was too narrow twice is most likely far too narrow.
        let met = self.met.entry(limit).or_insert(0);
        *met += 1;
        let doublings = |times: u32| [1, 4, 8, 32][times.min(3) as usize];
        // Variables that are made wider together have met the limit together.
        let together = doublings((*met - 1).max(self.effort / MANY));
        let doublings = doublings(*met - 1);
        match limit {
            Limit::Range(home, id) => {
                let ty = model.leaf(id).ty;
                if ty == Scalar::Chan {
                    let all = self.all_channels(model);
                    let set = self.channels.entry((home, id)).or_default();
                    let before = set.len();
                    set.extend(all);
                    return set.len() > before;
                }
                let range = self.ranges.entry((home, id)).or_insert((0, 0));
                let wider = (0..together).fold(*range, |range, _| doubled(range, ty));
                let changed = std::mem::replace(range, wider) != wider;
                // Other processes of the type will need as much. After many restarts so will, most likely, other variables of the same type.
                let alike = |other: &Leaf| self.effort >= MANY && other.ty == ty && other.written && other.cells() == 1;
                for ((_, other), range) in &mut self.ranges {
                    if (*other == id && model.leaf(id).written) || alike(model.leaf(*other)) {
                        *range = (range.0.min(wider.0), range.1.max(wider.1));
                    }
                }
                changed
            }
            Limit::Field(channel, number) => {
                let ty = model.channels[channel].fields[number];
                if ty == Scalar::Chan {
                    let all = self.all_channels(model);
                    let set = self.field_channels.entry((channel, number)).or_default();
                    let before = set.len();
                    set.extend(all);
                    return set.len() > before;
                }
                let range = self.fields.entry((channel, number)).or_insert((0, 0));
                let wider = (0..doublings).fold(*range, |range, _| doubled(range, ty));
                std::mem::replace(range, wider) != wider
            }
            Limit::Length(channel) => {
                let capacity = model.channels[channel].capacity;
                let length = self.lengths.entry(channel).or_insert(0);
                let wider = (*length << doublings.min(8)).clamp(1, capacity.max(1));
                std::mem::replace(length, wider) != wider
            }
            Limit::Slot(slot, ty) => {
                while self.slots.len() <= slot {
                    self.slots.push(BTreeSet::new());
                }
                let new = self.slots[slot].insert(ty);
                // A type that came once may come again: behind it, and in the slots of processes that were started as it was.
                if self.effort > 2 {
                    let started = model.active.len().max(1);
                    let last = (slot + doublings.min(8)).min(254);
                    self.slots.resize_with(self.slots.len().max(last + 1), BTreeSet::new);
                    for types in self.slots.iter_mut().take(last + 1).skip(started.min(slot)) {
                        types.insert(ty);
                    }
                }
                new
            }
        }
    }

    /// All channels that there are in some slot.
    pub fn all_channels(&self, model: &Model) -> Vec<Origin> {
        let mut all = Vec::new();
        for (ty, channel) in model.channels.iter().enumerate() {
            let homes: Vec<Home> = match channel.owner {
                None => vec![None],
                Some(owner) => (0..self.slots.len()).filter(|slot| self.slots[*slot].contains(&owner)).map(Some).collect(),
            };
            for owner in homes {
                all.extend((0..channel.count).map(|member| Origin { owner, ty, member }));
            }
        }
        all.sort_by_key(|origin| origin.owner);
        all
    }
}

fn widen(range: &mut Range, value: i64) {
    *range = (range.0.min(value), range.1.max(value));
}

/// The range that a bound allows, if it is few bits wider than the range that was met; else the latter.
fn reached(met: Range, bound: Range, ty: Scalar, cells: u32) -> Range {
    let bits = |range: Range| 64 - ((range.1 - range.0) as u64).leading_zeros();
    let all = rounded((met.0.min(bound.0), met.1.max(bound.1)), ty);
    let more = bits(all) - bits(met);
    if more <= MORE && more * cells <= MORE_IN_ALL { all } else { met }
}

/// The smallest range of whole bits around a range and zero.
fn rounded((low, high): Range, ty: Scalar) -> Range {
    let (least, most) = ty.range();
    let up = |value: i64| ((value + 1) as u64).next_power_of_two() as i64 - 1;
    let high = up(high.max(0)).max(1);
    let low = if low < 0 { -(up(-low - 1) + 1) } else { 0 };
    (low.max(least), high.min(most))
}

/// A range that is twice as wide, on the side or sides on which it can be.
fn doubled((low, high): Range, ty: Scalar) -> Range {
    let (least, most) = ty.range();
    let high = if high < most { high * 2 + 1 } else { high };
    let low = if least < 0 { (low * 2).min(-1) } else { 0 };
    rounded((low.max(least), high.min(most)), ty)
}
