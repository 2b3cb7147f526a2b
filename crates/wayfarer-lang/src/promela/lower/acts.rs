//! Statements: when they can be executed, and what they do.

use super::layout::LeafAt;
use super::rules::PRINTED_FROM;
use super::{Here, Lowering, Ranged, binary, equal, fixed, store};
use crate::promela::learned::Limit;
use crate::promela::model::{ActKind, Place, PrintPart, Scalar, Start, Value};
use wayfarer_ir::{At, BinaryOp, Block, Expr, FaultId, FaultKind, PrintItem, Stmt, Test};
use wayfarer_space::FaultClass;

impl Lowering<'_> {
    /// Whether a statement can be executed; of a rendezvous only what the statement itself says.
    pub(super) fn executable(&mut self, here: Here, act: &ActKind) -> Expr {
        match act {
            ActKind::Condition(value) => self.truth(here, value),
            ActKind::Send { channel, .. } => self.can_send(here, channel),
            ActKind::Receive { channel, random, fields, .. } => self.poll(here, channel, *random, fields),
            ActKind::End => match self.layout.slots.get(here.slot + 1) {
                Some(_) => equal(self.process(here.slot + 1), 0),
                None => Expr::Const(1),
            },
            ActKind::Indivisible(nodes) => self.can_begin(here, nodes),
            ActKind::Skip | ActKind::Else | ActKind::Assign(..) | ActKind::Assert(_) | ActKind::Run { .. } | ActKind::Print(_) => Expr::Const(1),
        }
    }

    /// The effect of a statement, except for moving its process.
    pub(super) fn effect(&mut self, here: Here, act: &ActKind, out: &mut Block) {
        match act {
            ActKind::Skip | ActKind::Else | ActKind::Condition(_) | ActKind::Assert(_) => {}
            ActKind::Assign(place, value) => {
                let value = self.value(here, value);
                self.assign(here, place, value, out);
            }
            ActKind::Send { channel, sorted, values } => self.send(here, channel, *sorted, values, out),
            ActKind::Receive { channel, random, keep, fields } => self.receive(here, channel, *random, *keep, fields, out),
            ActKind::Run { ty, arguments, at, result } => self.run(here, (*ty, *at), arguments, result.as_deref(), out),
            ActKind::Print(_) if self.telling => {}
            ActKind::Print(parts) => {
                let items = parts.iter().map(|part| self.print_part(here, part)).collect();
                out.push(Stmt::Print(items));
            }
            ActKind::Indivisible(nodes) => self.indivisible(here, nodes, out),
            ActKind::End => self.end(here, out),
        }
    }

    fn print_part(&mut self, here: Here, part: &PrintPart) -> PrintItem {
        let (value, names) = match part {
            PrintPart::Text(text) => return PrintItem::Text(text.clone()),
            PrintPart::Name(value, kind) => (value, Some(*kind)),
            PrintPart::Number(value)
            | PrintPart::Unsigned(value)
            | PrintPart::Hexadecimal(value)
            | PrintPart::Octal(value)
            | PrintPart::Character(value) => (value, None),
        };
        let value = self.value(here, value);
        let ty = self.print_type(names);
        // Numbers may be negative, so their stored form begins with the least of them.
        let from = if names.is_none() { PRINTED_FROM } else { 0 };
        PrintItem::Value(Expr::Binary(BinaryOp::Sub, Box::new(value.expr), Box::new(Expr::Const(from))), ty)
    }

    /// Stores a value in a variable.
    pub(super) fn assign(&mut self, here: Here, place: &Place, value: Ranged, out: &mut Block) {
        if self.model.leaf(place.leaf).is_ignored() {
            return;
        }
        let home = self.home(here, place.leaf);
        let fault = self.range_limit(home, place.leaf);
        let ty = self.model.leaf(place.leaf).ty;
        match self.place(here, place) {
            Some((at, bits, low, high)) => out.push(Stmt::Store { place: at, bits, value: stored(value, ty, low, high, fault) }),
            None => {
                // It was learned to be constant.
                let known = match self.layout.leaves.get(&(home, place.leaf)) {
                    Some(LeafAt::Constant(known)) => *known,
                    _ => 0,
                };
                out.push(Stmt::Check { condition: equal(value.expr, known), fault });
            }
        }
    }

    /// Begins a process in the first free slot.
    fn run(&mut self, here: Here, (ty, at): (usize, At), arguments: &[Value], result: Option<&(Place, Value)>, out: &mut Block) {
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.value(here, argument);
            let register = self.register();
            out.push(Stmt::Set(register, value.expr.clone()));
            values.push(Ranged { expr: if let Expr::Const(value) = value.expr { Expr::Const(value) } else { Expr::Reg(register) }, ..value });
        }
        let count = self.layout.slots.len();
        let message = format!("there are more processes than was learned: `{}`", self.model.types[ty].name);
        let beyond = if count >= 255 {
            let message = format!("`run {}` would make a 256th process", self.model.types[ty].name);
            self.fault(FaultClass::Violation, FaultKind::Collection, message, at)
        } else {
            self.limit(Limit::Slot(count, ty), message)
        };
        let mut branches = Vec::new();
        for slot in here.slot + 1..count {
            let mut block = Vec::new();
            if self.layout.slots[slot].state(ty, 0).is_none() {
                let message = format!("`{}` runs in slot {slot}, which was not learned", self.model.types[ty].name);
                let fault = self.limit(Limit::Slot(slot, ty), message);
                block.push(Stmt::Fault(fault));
            } else {
                self.begin(slot, ty, &values, &mut block);
                if let Some((place, value)) = result {
                    let value = self.value(here, &value.with_created(slot as i64));
                    self.assign(here, place, value, &mut block);
                }
            }
            branches.push((equal(self.process(slot), 0), block));
        }
        let otherwise = vec![Stmt::Fault(beyond)];
        if branches.is_empty() {
            out.extend(otherwise);
        } else {
            out.push(Stmt::If { branches, otherwise });
        }
    }

    /// Writes the first values of a process into its slot, which is zero.
    pub(super) fn begin(&mut self, slot: usize, ty: usize, arguments: &[Ranged], out: &mut Block) {
        let here = Here { slot, ty, timeout: false };
        let at = &self.layout.slots[slot];
        let (offset, bits) = (at.offset, at.bits);
        let Some(start) = at.state(ty, self.model.types[ty].automaton.start) else { return };
        out.push(store(offset, bits, Expr::Const(start)));
        for id in self.model.types[ty].leaves.clone() {
            self.first_values(here, id, arguments, out);
        }
    }

    /// Writes the first values of a variable, whose place is zero.
    pub(super) fn first_values(&mut self, here: Here, id: crate::promela::model::LeafId, arguments: &[Ranged], out: &mut Block) {
        let leaf = self.model.leaf(id);
        let home = self.home(here, id);
        if let Some(LeafAt::Ramp(_)) = self.layout.leaves.get(&(home, id)) {
            return;
        }
        for element in 0..leaf.cells() {
            let mut rest = element;
            let mut indices = Vec::new();
            for count in leaf.dimensions.iter().rev() {
                indices.insert(0, Value::Constant(i64::from(rest % count)));
                rest /= count;
            }
            let place = Place { leaf: id, indices, at: leaf.at };
            let value = match &leaf.initial {
                Start::Zero => Ranged::constant(0),
                Start::Value(value) => self.value(here, value),
                Start::List(values) => match values.get(element as usize).or(values.last()) {
                    Some(value) => self.value(here, value),
                    None => Ranged::constant(0),
                },
                Start::Parameter(number) => arguments.get(*number).cloned().unwrap_or(Ranged::constant(0)),
                Start::Channel(ty) => {
                    let origin = crate::promela::learned::Origin { owner: home, ty: *ty, member: element };
                    Ranged::constant(self.layout.channel_number(&origin))
                }
            };
            // A value that is stored as zero is there already.
            let zero = match (self.layout.leaves.get(&(home, id)), &value.expr) {
                (Some(LeafAt::Stored { low, .. }), Expr::Const(value)) => leaf.ty.wrap(*value) == *low,
                (Some(LeafAt::Constant(known)), Expr::Const(value)) => leaf.ty.wrap(*value) == *known,
                _ => false,
            };
            if !zero {
                self.assign(here, &place, value, out);
            }
        }
    }

    /// Zeroes all that a process has.
    fn end(&mut self, here: Here, out: &mut Block) {
        let at = &self.layout.slots[here.slot];
        out.push(store(at.offset, at.bits, Expr::Const(0)));
        for id in &self.model.types[here.ty].leaves {
            if let Some(LeafAt::Stored { offset, bits, strides, .. }) = self.layout.leaves.get(&(Some(here.slot), *id)) {
                let leaf = self.model.leaf(*id);
                let total = match (strides.first(), leaf.dimensions.first()) {
                    (Some(stride), Some(count)) => stride * count,
                    _ => u32::from(*bits),
                };
                let total = if total > 64 { total.next_multiple_of(64) } else { total };
                out.push(Stmt::Zero { place: fixed(*offset), bits: total });
            }
        }
        for channel in self.layout.channels.iter().filter(|channel| channel.origin.owner == Some(here.slot) && channel.room > 0) {
            if self.model.channels[channel.origin.ty].owner == Some(here.ty) {
                out.push(store(channel.length.0, channel.length.1, Expr::Const(0)));
                let total = channel.stride * channel.room;
                let total = if total > 64 { total.next_multiple_of(64) } else { total };
                out.push(Stmt::Zero { place: fixed(channel.messages), bits: total });
            }
        }
    }
}

/// A value as it is stored: wrapped to its type, within what was learned, less the smallest one.
pub(super) fn stored(value: Ranged, ty: Scalar, low: i64, high: i64, fault: FaultId) -> Expr {
    let (least, most) = ty.range();
    let Ranged { mut expr, low: mut from, high: mut to } = value;
    if let Expr::Const(value) = expr {
        let value = ty.wrap(value);
        return if (low..=high).contains(&value) {
            Expr::Const(value - low)
        } else {
            Expr::Require { value: Box::new(Expr::Const(0)), test: Test::NonZero, fault }
        };
    }
    if from < least || to > most {
        expr = match ty {
            Scalar::Short => binary(BinaryOp::Shr, binary(BinaryOp::Shl, expr, Expr::Const(48)), Expr::Const(48)),
            Scalar::Int => binary(BinaryOp::Shr, binary(BinaryOp::Shl, expr, Expr::Const(32)), Expr::Const(32)),
            _ => binary(BinaryOp::And, expr, Expr::Const(most)),
        };
        (from, to) = (least, most);
    }
    if from < low || to > high {
        expr = Expr::Require { value: Box::new(expr), test: Test::Between(low, high), fault };
    }
    if low == 0 { expr } else { binary(BinaryOp::Sub, expr, Expr::Const(low)) }
}
