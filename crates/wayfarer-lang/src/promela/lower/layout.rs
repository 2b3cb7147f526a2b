//! The layout of the state.

use super::chains::Chains;
use crate::promela::learned::{Home, Learned, Origin};
use crate::promela::model::{LeafId, Model, Scalar, Start};
use std::collections::{BTreeSet, HashMap};
use wayfarer_ir::{At, Names, Program, Type, TypeId, Variable, layout};

/// The places of all fields.
pub(super) struct Layout {
    pub(super) slots: Vec<Slot>,
    pub(super) leaves: HashMap<(Home, LeafId), LeafAt>,
    /// All channels; channel k is number k + 1.
    pub(super) channels: Vec<ChannelAt>,
    /// The process that goes on alone, plus one: offset and bits.
    pub(super) control: Option<(u32, u8)>,
}

/// A slot: the process in it and its control state are one field.
pub(super) struct Slot {
    pub(super) offset: u32,
    pub(super) bits: u8,
    /// The types that may run there. 0 means that nothing runs.
    pub(super) residents: Vec<Resident>,
}

/// A type that may run in a slot.
pub(super) struct Resident {
    pub(super) ty: usize,
    /// The value for each control state in which a process may stand.
    pub(super) states: Vec<Option<i64>>,
    /// The least and the largest of these values.
    pub(super) range: (i64, i64),
}

/// How a variable is kept.
#[derive(Clone, Debug)]
pub(super) enum LeafAt {
    /// In the state, as value less `low`.
    Stored { offset: u32, strides: Vec<u32>, bits: u8, low: i64, high: i64 },
    /// It has one value for ever.
    Constant(i64),
    /// An array of channels that were made together and stay: the first one's number.
    Ramp(i64),
}

/// The layout of a channel's messages.
pub(super) struct ChannelAt {
    pub(super) origin: Origin,
    pub(super) capacity: u32,
    /// How many it can hold as it is laid out.
    pub(super) room: u32,
    pub(super) length: (u32, u8),
    pub(super) messages: u32,
    pub(super) stride: u32,
    pub(super) element_bits: u32,
    /// Place inside a message, bits, and range of each field.
    pub(super) fields: Vec<FieldAt>,
}

#[derive(Clone, Debug)]
pub(super) struct FieldAt {
    pub(super) offset: u32,
    pub(super) bits: u8,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// An object that gets its place at the end, when all sizes are known.
enum Placed {
    Slot(usize),
    Leaf((Home, LeafId)),
    Length(usize),
    Messages(usize),
    Control,
}

impl Slot {
    /// The value for a control state of a type.
    pub(super) fn state(&self, ty: usize, state: usize) -> Option<i64> {
        self.residents.iter().find(|known| known.ty == ty)?.states[state]
    }
}

impl Layout {
    pub(super) fn new(model: &Model, learned: &Learned, chains: &Chains, program: &mut Program) -> Result<Self, String> {
        let origins = learned.all_channels(model);
        if origins.len() > 255 {
            return Err("there are more than 255 channels".to_string());
        }
        let mut maker = Maker { model, learned, program, origins: &origins, placed: Vec::new(), scalars: HashMap::new() };
        let mut layout = Layout { slots: Vec::new(), leaves: HashMap::new(), channels: Vec::new(), control: None };
        for id in &model.globals {
            maker.leaf(&mut layout, None, *id)?;
        }
        for (slot, types) in learned.slots.iter().enumerate() {
            maker.slot(&mut layout, slot, types, chains)?;
            for ty in types {
                for id in &model.types[*ty].leaves {
                    maker.leaf(&mut layout, Some(slot), *id)?;
                }
            }
        }
        for origin in &origins {
            maker.channel(&mut layout, *origin)?;
        }
        // Behind the slots come the assertions that failed in the middle of a command.
        let (slots, assertions) = (learned.slots.len(), chains.assertions());
        if chains.some_passed() || assertions > 0 {
            let ty = maker.scalar(0, (slots + assertions * slots * 2) as i64, Names::Numbers);
            maker.place(Placed::Control, "goes on alone", ty, At::default());
        }
        maker.arrange(&mut layout)?;
        Ok(layout)
    }

    /// The number of a channel; 0 where it is not there.
    pub(super) fn channel_number(&self, origin: &Origin) -> i64 {
        self.channels.iter().position(|channel| channel.origin == *origin).map_or(0, |number| number as i64 + 1)
    }
}

struct Maker<'a> {
    model: &'a Model,
    learned: &'a Learned,
    program: &'a mut Program,
    origins: &'a [Origin],
    placed: Vec<(Placed, String, TypeId, At)>,
    scalars: HashMap<(i64, i64), TypeId>,
}

impl Maker<'_> {
    fn ty(&mut self, ty: Type) -> TypeId {
        self.program.types.push(ty);
        TypeId(self.program.types.len() as u32 - 1)
    }

    fn scalar(&mut self, low: i64, high: i64, names: Names) -> TypeId {
        let plain = matches!(names, Names::Numbers);
        if plain && let Some(known) = self.scalars.get(&(low, high)) {
            return *known;
        }
        let id = self.ty(Type::Scalar(layout::scalar(None, low, (high - low + 1) as u64, false, names)));
        if plain {
            self.scalars.insert((low, high), id);
        }
        id
    }

    fn array(&mut self, element: TypeId, count: u32) -> Result<TypeId, String> {
        let index = self.scalar(0, i64::from(count) - 1, Names::Numbers);
        let array = layout::array(&self.program.types, index, element).ok_or("an array is too large")?;
        Ok(self.ty(array))
    }

    fn place(&mut self, what: Placed, name: &str, ty: TypeId, at: At) {
        self.placed.push((what, name.to_string(), ty, at));
    }

    fn bits(&self, ty: TypeId) -> u32 {
        self.program.types[ty.0 as usize].bits()
    }

    /// The type of a scalar with its names.
    fn named(&mut self, ty: Scalar, low: i64, high: i64) -> TypeId {
        let names = match ty {
            Scalar::Bit(true) if (low, high) == (0, 1) => Some(vec!["false".to_string(), "true".to_string()]),
            Scalar::Mtype(kind) => {
                let names = &self.model.mtypes[kind as usize];
                let name =
                    |value: i64| usize::try_from(value - 1).ok().and_then(|value| names.get(value)).cloned().unwrap_or_else(|| value.to_string());
                Some((low..=high).map(name).collect())
            }
            Scalar::Chan => Some((low..=high).map(|value| self.channel_name(value)).collect()),
            _ => None,
        };
        self.scalar(low, high, names.map_or(Names::Numbers, Names::Names))
    }

    fn channel_name(&self, number: i64) -> String {
        let Some(origin) = usize::try_from(number - 1).ok().and_then(|number| self.origins.get(number)) else { return "none".to_string() };
        let channel = &self.model.channels[origin.ty];
        let member = if channel.count > 1 { format!("[{}]", origin.member) } else { String::new() };
        match (origin.owner, channel.owner) {
            (Some(slot), Some(ty)) => format!("{}[{slot}].{}{member}", self.model.types[ty].name, channel.name),
            _ => format!("{}{member}", channel.name),
        }
    }

    fn number(&self, origin: &Origin) -> i64 {
        self.origins.iter().position(|known| known == origin).map_or(0, |number| number as i64 + 1)
    }

    /// The range of numbers of some channels, none included.
    fn channel_range(&self, set: Option<&BTreeSet<Origin>>) -> (i64, i64) {
        (0, set.into_iter().flatten().map(|origin| self.number(origin)).max().unwrap_or(0))
    }

    fn leaf(&mut self, layout: &mut Layout, home: Home, id: LeafId) -> Result<(), String> {
        let leaf = self.model.leaf(id);
        if leaf.is_ignored() {
            layout.leaves.insert((home, id), LeafAt::Constant(0));
            return Ok(());
        }
        if let (Start::Channel(ty), false) = (&leaf.initial, leaf.written) {
            let first = self.number(&Origin { owner: home, ty: *ty, member: 0 });
            layout.leaves.insert((home, id), LeafAt::Ramp(first));
            return Ok(());
        }
        let (mut low, mut high) = match leaf.ty {
            Scalar::Chan => self.channel_range(self.learned.channels.get(&(home, id))),
            _ => self.learned.range(home, id),
        };
        if !leaf.written && leaf.ty == Scalar::Chan {
            let set = self.learned.channels.get(&(home, id));
            let numbers: BTreeSet<i64> = set.into_iter().flatten().map(|origin| self.number(origin)).collect();
            if let (Some(least), true) = (numbers.first(), matches!(leaf.initial, Start::Parameter(_) | Start::Value(_))) {
                low = *least;
            }
        }
        if low == high && !leaf.written {
            layout.leaves.insert((home, id), LeafAt::Constant(low));
            return Ok(());
        }
        high = high.max(low + 1);
        let mut ty = self.named(leaf.ty, low, high);
        let mut strides = Vec::new();
        for count in leaf.dimensions.iter().rev() {
            ty = self.array(ty, *count)?;
            if let Type::Array { stride, .. } = &self.program.types[ty.0 as usize] {
                strides.insert(0, *stride);
            }
        }
        let name = match home {
            Some(slot) => format!("{}[{slot}].{}", self.model.types[leaf.owner.unwrap_or(0)].name, leaf.name),
            None => leaf.name.clone(),
        };
        let bits = layout::scalar(None, low, (high - low + 1) as u64, false, Names::Numbers).bits;
        layout.leaves.insert((home, id), LeafAt::Stored { offset: 0, strides, bits, low, high });
        self.place(Placed::Leaf((home, id)), &name, ty, leaf.at);
        Ok(())
    }

    fn slot(&mut self, layout: &mut Layout, slot: usize, types: &BTreeSet<usize>, chains: &Chains) -> Result<(), String> {
        let mut names = vec!["-".to_string()];
        let mut residents = Vec::new();
        for ty in types {
            let process = &self.model.types[*ty];
            let first = names.len() as i64;
            let mut states = vec![None; process.automaton.states.len()];
            for (number, state) in process.automaton.states.iter().enumerate().filter(|(number, _)| chains.stands(*ty, *number)) {
                states[number] = Some(names.len() as i64);
                let label = process.automaton.labels.iter().find(|(_, at)| *at == Some(number)).map(|(name, _)| name.to_string());
                let line = state.transitions.first().map_or(0, |way| way.act.at.line);
                names.push(format!("{}@{}", process.name, label.unwrap_or_else(|| format!("{line}"))));
            }
            residents.push(Resident { ty: *ty, states, range: (first, names.len() as i64 - 1) });
        }
        let high = names.len() as i64 - 1;
        let ty = self.scalar(0, high, Names::Names(names));
        layout.slots.push(Slot { offset: 0, bits: self.bits(ty) as u8, residents });
        let name = match types.iter().next() {
            Some(only) if types.len() == 1 => format!("{}[{slot}]", self.model.types[*only].name),
            _ => format!("process[{slot}]"),
        };
        self.place(Placed::Slot(slot), &name, ty, At::default());
        Ok(())
    }

    fn channel(&mut self, layout: &mut Layout, origin: Origin) -> Result<(), String> {
        let number = layout.channels.len();
        let channel = &self.model.channels[origin.ty];
        let room = self.learned.lengths.get(&origin.ty).copied().unwrap_or(0).min(channel.capacity);
        let mut at =
            ChannelAt { origin, capacity: channel.capacity, room, length: (0, 0), messages: 0, stride: 0, element_bits: 0, fields: Vec::new() };
        let mut parts = Vec::new();
        for (field, ty) in channel.fields.iter().enumerate() {
            let (low, high) = match ty {
                Scalar::Chan => self.channel_range(self.learned.field_channels.get(&(origin.ty, field))),
                _ => self.learned.fields.get(&(origin.ty, field)).copied().unwrap_or((0, 1)),
            };
            let high = high.max(low + 1);
            let id = self.named(*ty, low, high);
            at.fields.push(FieldAt { offset: 0, bits: self.bits(id) as u8, low, high });
            parts.push((format!("{field}"), id));
        }
        if room > 0 {
            let record = layout::record(&self.program.types, parts).ok_or("a message is too large")?;
            if let Type::Record { fields, bits } = &record {
                at.element_bits = *bits;
                for (field, laid) in at.fields.iter_mut().zip(fields) {
                    field.offset = laid.offset;
                }
            }
            let element = self.ty(record);
            let messages = self.array(element, room)?;
            if let Type::Array { stride, .. } = &self.program.types[messages.0 as usize] {
                at.stride = *stride;
            }
            let length = self.scalar(0, i64::from(room), Names::Numbers);
            at.length.1 = self.bits(length) as u8;
            let name = self.channel_name(number as i64 + 1);
            self.place(Placed::Length(number), &format!("len({name})"), length, At::default());
            self.place(Placed::Messages(number), &name, messages, At::default());
        }
        layout.channels.push(at);
        Ok(())
    }

    fn arrange(&mut self, layout: &mut Layout) -> Result<(), String> {
        let sizes: Vec<u32> = self.placed.iter().map(|(_, _, ty, _)| self.bits(*ty)).collect();
        let (offsets, bits) = layout::arrange(&sizes).ok_or("the state is too large")?;
        self.program.words = bits.div_ceil(64).max(1);
        for ((what, name, ty, at), offset) in std::mem::take(&mut self.placed).into_iter().zip(offsets) {
            match what {
                Placed::Slot(slot) => layout.slots[slot].offset = offset,
                Placed::Leaf(key) => {
                    if let Some(LeafAt::Stored { offset: place, .. }) = layout.leaves.get_mut(&key) {
                        *place = offset;
                    }
                }
                Placed::Length(number) => layout.channels[number].length.0 = offset,
                Placed::Messages(number) => layout.channels[number].messages = offset,
                Placed::Control => layout.control = Some((offset, self.bits(ty) as u8)),
            }
            self.program.variables.push(Variable { name, ty, offset, at });
        }
        Ok(())
    }
}
