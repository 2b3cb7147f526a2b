//! Channels: tests, sending and receiving. Messages lie in a row from the first on, and what is behind the last is zero.

use super::layout::ChannelAt;
use super::values::sum;
use super::{Here, Lowering, Ranged, all, any, binary, equal, field, fixed, not};
use crate::promela::learned::Limit;
use crate::promela::model::{Match, Place, Probe, Value};
use wayfarer_ir::{At, BinaryOp, Block, Expr, FaultId, FaultKind, Index, Reg, Root, Stmt, Test};
use wayfarer_space::FaultClass;

impl Lowering<'_> {
    /// The number of the channel in a variable, and the channels it may be.
    pub(super) fn channel(&mut self, here: Here, place: &Place) -> (Expr, Vec<usize>) {
        let value = self.load(here, place);
        let count = self.layout.channels.len() as i64;
        let candidates = (value.low.max(1)..=value.high.min(count)).map(|number| number as usize - 1);
        let home = self.home(here, place.leaf);
        let set = self.learned.channels.get(&(home, place.leaf));
        let known = |number: &usize| set.is_none_or(|set| set.contains(&self.layout.channels[*number].origin));
        let candidates: Vec<usize> = candidates.filter(known).collect();
        (value.expr, candidates)
    }

    /// The limit that a variable meets where it holds a channel that was not learned; none if all that fit in it were.
    fn unlearned(&mut self, here: Here, place: &Place, candidates: &[usize]) -> Option<FaultId> {
        let value = self.load(here, place);
        let numbers = value.high.min(self.layout.channels.len() as i64) - value.low.max(1) + 1;
        let home = self.home(here, place.leaf);
        (numbers > candidates.len() as i64).then(|| self.range_limit(home, place.leaf))
    }

    /// Whether a variable can hold no channel.
    fn may_miss(&mut self, here: Here, place: &Place) -> bool {
        self.load(here, place).low < 1
    }

    /// Whether a channel exists, as its owner may have ended; none where it certainly does.
    pub(super) fn exists(&self, here: Here, number: usize) -> Option<Expr> {
        let origin = self.layout.channels[number].origin;
        let (slot, ty) = (origin.owner?, self.model.channels[origin.ty].owner?);
        // Slots are taken from the first on: below the process that moves none is free.
        let taken = slot < here.slot && self.layout.slots[slot].residents.len() == 1;
        if taken || self.lenient || (here.slot, here.ty) == (slot, ty) {
            return None;
        }
        Some(if here.slot == slot { Expr::Const(0) } else { self.runs(slot, ty).unwrap_or(Expr::Const(0)) })
    }

    fn no_channel(&mut self, at: At) -> FaultId {
        self.fault(FaultClass::Violation, FaultKind::Undefined, "a channel is used that has no initialiser, or is gone".to_string(), at)
    }

    pub(super) fn wrong_arity(&mut self, at: At) -> FaultId {
        self.fault(FaultClass::Violation, FaultKind::Undefined, "a message has another number of fields than its channel".to_string(), at)
    }

    /// A value that depends on which channel a variable holds; a fault where it holds none. One that is gone is a fault too, or has the value given for it.
    fn by_channel(&mut self, here: Here, place: &Place, gone: Option<i64>, mut of: impl FnMut(&mut Self, usize) -> Ranged) -> Ranged {
        let (number, candidates) = self.channel(here, place);
        let misses = self.may_miss(here, place);
        let fault = self.no_channel(place.at);
        let missing = Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault };
        let mut of = |lowering: &mut Self, candidate: usize| {
            let value = of(lowering, candidate);
            match lowering.exists(here, candidate) {
                None => value,
                Some(exists) => Ranged {
                    low: value.low.min(gone.unwrap_or(0)),
                    high: value.high.max(gone.unwrap_or(0)),
                    expr: Expr::Select(Box::new(exists), Box::new(value.expr), Box::new(gone.map_or(missing.clone(), Expr::Const))),
                },
            }
        };
        if let (Expr::Const(_), [only]) = (&number, &candidates[..]) {
            return of(self, *only);
        }
        let none = match self.unlearned(here, place, &candidates) {
            Some(limit) => {
                let limit = Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault: limit };
                Some(Expr::Select(Box::new(equal(number.clone(), 0)), Box::new(missing.clone()), Box::new(limit)))
            }
            None => (misses || candidates.is_empty()).then(|| missing.clone()),
        };
        let mut result = none.map(|expr| Ranged { expr, low: 0, high: 0 });
        for candidate in candidates.into_iter().rev() {
            let value = of(self, candidate);
            result = Some(match result {
                None => value,
                Some(other) => Ranged {
                    low: value.low.min(other.low),
                    high: value.high.max(other.high),
                    expr: Expr::Select(Box::new(equal(number.clone(), candidate as i64 + 1)), Box::new(value.expr), Box::new(other.expr)),
                },
            });
        }
        result.unwrap_or(Ranged::constant(0))
    }

    pub(super) fn length(&mut self, here: Here, place: &Place) -> Ranged {
        self.by_channel(here, place, Some(0), |lowering, number| lowering.length_of(number))
    }

    fn length_of(&self, number: usize) -> Ranged {
        let channel = &self.layout.channels[number];
        if channel.room == 0 {
            return Ranged::constant(0);
        }
        Ranged { expr: field(channel.length.0, channel.length.1), low: 0, high: i64::from(channel.room) }
    }

    pub(super) fn probe(&mut self, here: Here, probe: Probe, place: &Place) -> Expr {
        let gone = match probe {
            Probe::Full | Probe::NotFull => None,
            Probe::Empty => Some(1),
            Probe::NotEmpty => Some(0),
        };
        let value = self.by_channel(here, place, gone, |lowering, number| {
            let capacity = i64::from(lowering.layout.channels[number].capacity);
            let length = lowering.length_of(number);
            let (op, with) = match probe {
                Probe::Full => (BinaryOp::Eq, capacity),
                Probe::NotFull => (BinaryOp::Lt, capacity),
                Probe::Empty => (BinaryOp::Eq, 0),
                Probe::NotEmpty => (BinaryOp::Gt, 0),
            };
            let expr = match length.expr {
                Expr::Const(value) => Expr::Const(i64::from(match probe {
                    Probe::Full => value == capacity,
                    Probe::NotFull => value < capacity,
                    Probe::Empty => value == 0,
                    Probe::NotEmpty => value > 0,
                })),
                length => binary(op, length, Expr::Const(with)),
            };
            Ranged { expr, low: 0, high: 1 }
        });
        value.expr
    }

    /// Whether the channel can take a message, where it is one with room for messages; 0 for a rendezvous.
    pub(super) fn can_send(&mut self, here: Here, place: &Place) -> Expr {
        let value = self.by_channel(here, place, None, |lowering, number| {
            let capacity = i64::from(lowering.layout.channels[number].capacity);
            match lowering.length_of(number).expr {
                Expr::Const(value) => Ranged::constant(i64::from(value < capacity)),
                length => Ranged { expr: binary(BinaryOp::Lt, length, Expr::Const(capacity)), low: 0, high: 1 },
            }
        });
        value.expr
    }

    /// The value of a message's field; `at` is the message's place in the row.
    fn field_of(&self, channel: &ChannelAt, number: usize, at: &Expr, fault: FaultId) -> Ranged {
        let laid = &channel.fields[number];
        let place = match at {
            Expr::Const(at) => fixed(channel.messages + *at as u32 * channel.stride + laid.offset),
            at => wayfarer_ir::Place {
                root: Root::State,
                offset: channel.messages + laid.offset,
                indices: vec![Index { value: at.clone(), stride: channel.stride, count: channel.room, fault }],
            },
        };
        let stored = Expr::Load { place, bits: laid.bits };
        Ranged { expr: sum(stored, Expr::Const(laid.low)), low: laid.low, high: laid.high }
    }

    /// Whether the message at a place of the row fits.
    fn fits(&mut self, here: Here, number: usize, fields: &[Match], at: &Expr, place: &Place) -> Expr {
        if fields.len() != self.layout.channels[number].fields.len() {
            let fault = self.wrong_arity(place.at);
            return Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault };
        }
        let fault = self.no_channel(place.at);
        let mut parts = Vec::new();
        for (index, wanted) in fields.iter().enumerate() {
            if let Match::Equal(value) = wanted {
                let value = self.value(here, value);
                let found = self.field_of(&self.layout.channels[number], index, at, fault);
                if value.low > found.high || value.high < found.low {
                    return Expr::Const(0);
                }
                parts.push(binary(BinaryOp::Eq, found.expr, value.expr));
            }
        }
        all(parts)
    }

    /// Whether there is a message that fits.
    pub(super) fn poll(&mut self, here: Here, place: &Place, random: bool, fields: &[Match]) -> Expr {
        let gone = (!self.model.notices_receiving_from_gone()).then_some(0);
        let value = self.by_channel(here, place, gone, |lowering, number| {
            let room = i64::from(lowering.layout.channels[number].room);
            if room == 0 {
                return Ranged::constant(0);
            }
            let length = lowering.length_of(number).expr;
            let reach = if random { room } else { 1 };
            let mut ways = Vec::new();
            for at in 0..reach {
                let there = binary(BinaryOp::Gt, length.clone(), Expr::Const(at));
                let fits = lowering.fits(here, number, fields, &Expr::Const(at), place);
                ways.push(all(vec![there, fits]));
            }
            Ranged { expr: any(ways), low: 0, high: 1 }
        });
        value.expr
    }

    /// A block for each channel that a variable may hold.
    fn for_channels(&mut self, here: Here, place: &Place, out: &mut Block, mut write: impl FnMut(&mut Self, usize, &mut Block)) {
        let (number, candidates) = self.channel(here, place);
        let misses = self.may_miss(here, place);
        if let ([only], false) = (&candidates[..], misses) {
            return write(self, *only, out);
        }
        let fault = self.no_channel(place.at);
        let mut branches = Vec::new();
        for candidate in candidates {
            let mut block = Vec::new();
            write(self, candidate, &mut block);
            branches.push((equal(number.clone(), candidate as i64 + 1), block));
        }
        if branches.is_empty() {
            out.push(Stmt::Fault(fault));
            return;
        }
        let otherwise = if misses { vec![Stmt::Fault(fault)] } else { branches.pop().map(|(_, block)| block).unwrap_or_default() };
        if branches.is_empty() {
            out.extend(otherwise);
        } else {
            out.push(Stmt::If { branches, otherwise });
        }
    }

    /// A value as it is stored in a field of a message.
    pub(super) fn stored_field(&mut self, ty: usize, number: usize, value: Ranged, low: i64, high: i64) -> Expr {
        let scalar = self.model.channels[ty].fields[number];
        let message = format!("field {} of messages of `{}` needs more room than was learned", number + 1, self.model.channels[ty].name);
        let fault = self.limit(Limit::Field(ty, number), message);
        super::acts::stored(value, scalar, low, high, fault)
    }

    /// Puts a message into a channel.
    pub(super) fn send(&mut self, here: Here, place: &Place, sorted: bool, values: &[Value], out: &mut Block) {
        self.for_channels(here, place, out, |lowering, number, out| {
            let channel = &lowering.layout.channels[number];
            let (ty, arity, room) = (channel.origin.ty, channel.fields.len(), channel.room);
            if arity != values.len() {
                let fault = lowering.wrong_arity(place.at);
                out.push(Stmt::Fault(fault));
                return;
            }
            let message = format!("channel `{}` holds more messages than was learned", lowering.model.channels[ty].name);
            let full = lowering.limit(Limit::Length(ty), message);
            if room == 0 {
                out.push(Stmt::Fault(full));
                return;
            }
            let mut registers = Vec::new();
            for (index, value) in values.iter().enumerate() {
                let value = lowering.value(here, value);
                let laid = lowering.layout.channels[number].fields[index].clone();
                let stored = lowering.stored_field(ty, index, value, laid.low, laid.high);
                let register = lowering.register();
                out.push(Stmt::Set(register, stored));
                registers.push(register);
            }
            if sorted {
                lowering.make_room(number, &registers, full, out);
            } else {
                let length = lowering.length_of(number).expr;
                lowering.write_message(number, length, &registers, full, out);
            }
            let channel = &lowering.layout.channels[number];
            let longer = binary(BinaryOp::Add, field(channel.length.0, channel.length.1), Expr::Const(1));
            out.push(super::store(channel.length.0, channel.length.1, longer));
        });
    }

    /// Writes the fields of a message at a place of the row.
    fn write_message(&mut self, number: usize, at: Expr, registers: &[Reg], fault: FaultId, out: &mut Block) {
        let channel = &self.layout.channels[number];
        let place = |offset: u32| wayfarer_ir::Place {
            root: Root::State,
            offset: channel.messages + offset,
            indices: vec![Index { value: at.clone(), stride: channel.stride, count: channel.room, fault }],
        };
        if channel.element_bits <= 64 {
            // The whole message is one value.
            let mut message = Expr::Const(0);
            for (laid, register) in channel.fields.iter().zip(registers) {
                let part = match laid.offset {
                    0 => Expr::Reg(*register),
                    offset => binary(BinaryOp::Shl, Expr::Reg(*register), Expr::Const(i64::from(offset))),
                };
                message = match message {
                    Expr::Const(_) => part,
                    message => binary(BinaryOp::Or, message, part),
                };
            }
            out.push(Stmt::Store { place: place(0), bits: channel.element_bits as u8, value: message });
            return;
        }
        for (laid, register) in channel.fields.iter().zip(registers) {
            out.push(Stmt::Store { place: place(laid.offset), bits: laid.bits, value: Expr::Reg(*register) });
        }
    }

    /// Copies a message from one place of the row to another.
    fn copy_message(&self, number: usize, to: Expr, from: Expr, fault: FaultId) -> Stmt {
        let channel = &self.layout.channels[number];
        let place = |at: Expr| wayfarer_ir::Place {
            root: Root::State,
            offset: channel.messages,
            indices: vec![Index { value: at, stride: channel.stride, count: channel.room, fault }],
        };
        Stmt::Copy { to: place(to), from: place(from), bits: channel.element_bits }
    }

    /// Sorted sending: moves larger messages up and writes the message before them.
    fn make_room(&mut self, number: usize, registers: &[Reg], fault: FaultId, out: &mut Block) {
        let room = i64::from(self.layout.channels[number].room);
        let length = self.length_of(number).expr;
        out.push(Stmt::Check { condition: binary(BinaryOp::Lt, length.clone(), Expr::Const(room)), fault });
        let at = self.register();
        out.push(Stmt::Set(at, length));
        let before = binary(BinaryOp::Sub, Expr::Reg(at), Expr::Const(1));
        // A message is larger where the first field that differs is.
        let channel = &self.layout.channels[number];
        let mut larger = Expr::Const(0);
        for (index, register) in registers.iter().enumerate().rev() {
            let mut found = self.field_of(channel, index, &before, fault).expr;
            if let Expr::Binary(BinaryOp::Add, stored, _) = found {
                found = *stored;
            }
            let equal = binary(BinaryOp::Eq, found.clone(), Expr::Reg(*register));
            larger = any(vec![binary(BinaryOp::Gt, found, Expr::Reg(*register)), all(vec![equal, larger])]);
        }
        let condition = all(vec![binary(BinaryOp::Gt, Expr::Reg(at), Expr::Const(0)), larger]);
        let body = vec![self.copy_message(number, Expr::Reg(at), before.clone(), fault), Stmt::Set(at, before)];
        out.push(Stmt::While { condition, body, fuel: fault });
        self.write_message(number, Expr::Reg(at), registers, fault, out);
    }

    /// Takes a message out of a channel, or only reads it, and stores its fields. That there is one was tested before.
    pub(super) fn receive(&mut self, here: Here, place: &Place, random: bool, keep: bool, fields: &[Match], out: &mut Block) {
        self.for_channels(here, place, out, |lowering, number, out| {
            let channel = &lowering.layout.channels[number];
            let (room, arity) = (channel.room, channel.fields.len());
            let fault = lowering.no_channel(place.at);
            if room == 0 {
                out.push(Stmt::Fault(fault));
                return;
            }
            if arity != fields.len() {
                let fault = lowering.wrong_arity(place.at);
                out.push(Stmt::Fault(fault));
                return;
            }
            let mut at = Expr::Const(0);
            if random {
                let register = lowering.register();
                out.push(Stmt::Set(register, Expr::Const(0)));
                let fits = lowering.fits(here, number, fields, &Expr::Reg(register), place);
                let length = lowering.length_of(number).expr;
                let there = binary(BinaryOp::Lt, Expr::Reg(register), binary(BinaryOp::Sub, length, Expr::Const(1)));
                let next = vec![Stmt::Set(register, binary(BinaryOp::Add, Expr::Reg(register), Expr::Const(1)))];
                out.push(Stmt::While { condition: all(vec![there, not(fits)]), body: next, fuel: fault });
                at = Expr::Reg(register);
            }
            // All fields are read before any is stored: a variable may be an index of another's place.
            let mut values = Vec::new();
            for (index, wanted) in fields.iter().enumerate() {
                if let Match::Store(target) = wanted {
                    let found = lowering.field_of(&lowering.layout.channels[number], index, &at, fault);
                    let register = lowering.register();
                    out.push(Stmt::Set(register, found.expr.clone()));
                    values.push((target, Ranged { expr: Expr::Reg(register), ..found }));
                }
            }
            if !keep {
                lowering.remove(number, &at, fault, out);
            }
            for (target, value) in values {
                lowering.assign(here, target, value, out);
            }
        });
    }

    /// Takes a message out of the row; those behind it move up.
    fn remove(&mut self, number: usize, at: &Expr, fault: FaultId, out: &mut Block) {
        let channel = &self.layout.channels[number];
        let (room, stride, messages) = (channel.room, channel.stride, channel.messages);
        let total = stride * room;
        let length = channel.length;
        let shorter = binary(BinaryOp::Sub, field(length.0, length.1), Expr::Const(1));
        if room == 1 {
            out.push(Stmt::Zero { place: fixed(messages), bits: if total > 64 { total.next_multiple_of(64) } else { channel.element_bits } });
        } else if matches!(at, Expr::Const(0)) && total <= 64 {
            let moved = binary(BinaryOp::Ushr, field(messages, total as u8), Expr::Const(i64::from(stride)));
            out.push(super::store(messages, total as u8, moved));
        } else if matches!(at, Expr::Const(0)) && stride < 64 {
            let words = total.div_ceil(64);
            for word in 0..words {
                let low = binary(BinaryOp::Ushr, field(messages + word * 64, 64), Expr::Const(i64::from(stride)));
                let value = if word + 1 < words {
                    let high = binary(BinaryOp::Shl, field(messages + word * 64 + 64, 64), Expr::Const(i64::from(64 - stride)));
                    binary(BinaryOp::Or, low, high)
                } else {
                    low
                };
                out.push(super::store(messages + word * 64, 64, value));
            }
        } else {
            let register = self.register();
            let next = binary(BinaryOp::Add, Expr::Reg(register), Expr::Const(1));
            let body = vec![self.copy_message(number, Expr::Reg(register), next, fault)];
            let last = binary(BinaryOp::Sub, field(length.0, length.1), Expr::Const(2));
            out.push(Stmt::For { register, from: at.clone(), to: last, by: 1, body, fuel: fault });
            let channel = &self.layout.channels[number];
            let place = wayfarer_ir::Place {
                root: Root::State,
                offset: messages,
                indices: vec![Index { value: shorter.clone(), stride, count: room, fault }],
            };
            out.push(Stmt::Zero { place, bits: channel.element_bits });
        }
        out.push(super::store(length.0, length.1, shorter));
    }
}
