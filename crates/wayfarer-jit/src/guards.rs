//! All guards at once: the rules that are enabled in a state, as a set of bits.
//!
//! A guard is split into conjuncts. A conjunct that one small field decides becomes a column of that field's table:
//! for each value of the field, the rules it excludes and those for which it is a fault. A state then costs a few
//! loads and masks for 64 rules together, without a branch. The rest of a guard is evaluated by code, and only if its
//! tables do not exclude it.
//!
//! The result is exact. A fault in a conjunct counts only if the conjuncts before it are true, so in general a rule's
//! tables must be consulted in the order of its conjuncts, some fields more than once ([`Way::Ordered`]). In most
//! states no field has a value that is a fault for any guard: then order does not matter, each field is consulted
//! once, and neighbouring fields together ([`Way::Merged`]). If there is a fault, the guard is *undecided*, and so it
//! is if its evaluation is too long for this code; the caller then calls the guard's own code, which also returns the
//! fault.

mod analysis;
mod tables;

use crate::emit::{Area, Condition, Emitter, Faults, Fuel, Noted, Outcome, Setting, Stop, Val};
use crate::probe::Field;
use analysis::{Analysed, Conjunct, Values, analyse, can_split};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;
use tables::{Group, Lookup, windows};
use wayfarer_ir::{Reg, Rule};

/// The order in which tables are consulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// All at once, if no field has a value that is a fault for any guard; otherwise the function returns
    /// [`NOT_FINE`].
    Merged,
    /// In the order of each guard's conjuncts.
    Ordered,
}

/// The result of a function emitted in the merged way if order matters. It equals the result if all rules of a group
/// are undecided, which the ordered way handles equally well.
pub(crate) const NOT_FINE: u64 = u64::MAX;

/// A guard that cannot be emitted here.
pub(crate) struct Unwritable {
    group: usize,
    bit: usize,
}

/// The guards of many rules.
pub(crate) struct Guards<'a> {
    groups: Vec<Group<'a>>,
    lookups: Vec<Vec<Lookup>>,
    pub(crate) way: Way,
    /// All tables one after another. The code is given their address.
    pub(crate) tables: Vec<u64>,
}

impl<'a> Guards<'a> {
    /// Splits the guards of all instances of the given rules, sixty-four to a group. Only those groups can be written
    /// that are in `wanted`.
    pub(crate) fn new(setting: Setting<'a>, rules: &'a [Rule], way: Way, wanted: std::ops::Range<usize>) -> Self {
        let mut guards = Guards { groups: Vec::new(), lookups: Vec::new(), way, tables: Vec::new() };
        for rule in rules {
            let mut values = vec![0; rule.parameters.len()];
            let mut can_be_split = None;
            for member in 0..rule.instances() {
                if guards.groups.last().is_none_or(|group| group.guards.len() == 64) {
                    guards.groups.push(Group { guards: Vec::new() });
                }
                let analysed = if wanted.contains(&(guards.groups.len() - 1)) {
                    rule.values(member, &mut values);
                    let can_be_split = *can_be_split.get_or_insert_with(|| can_split(setting, rule));
                    analyse(setting, rule, &values, can_be_split)
                } else {
                    Analysed::default()
                };
                guards.groups.last_mut().expect("a group was pushed").guards.push(analysed);
            }
        }
        let windows = windows(&guards.groups);
        for group in &guards.groups {
            let lookups = match way {
                Way::Merged => group.merge(&windows, &mut guards.tables),
                Way::Ordered => group.schedule(&mut guards.tables),
            };
            guards.lookups.push(lookups);
        }
        guards
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The approximate size of the code of a group.
    pub(crate) fn nodes(&self, setting: Setting<'a>, group: usize) -> usize {
        let rest: usize =
            self.groups[group].guards.iter().flat_map(|guard| &guard.rest).map(|conjunct| setting.shape.nodes_unrolled(conjunct.expr)).sum();
        rest + self.lookups[group].len() * 4 + 8
    }

    /// Leaves a guard to its own code.
    pub(crate) fn give_up(&mut self, Unwritable { group, bit }: Unwritable) {
        self.groups[group].guards[bit].ask = true;
    }

    /// Emits the function that evaluates the guards of some groups. Its parameters are the state, the output, in
    /// which the words of enabled and of undecided rules alternate, and the tables. It returns whether any is
    /// undecided, or [`NOT_FINE`].
    pub(crate) fn write(&self, mut emitter: Emitter<'a, '_>, groups: std::ops::Range<usize>) -> Result<(), Unwritable> {
        let (state, out) = (emitter.parameter(0), emitter.parameter(1));
        emitter.state = Area::fixed(state, emitter.setting.program.words);
        if self.way == Way::Merged
            && let Some(suspicious) = self.suspicion(&mut emitter, groups.clone())
        {
            let (fine, not_fine) = (emitter.block(), emitter.block());
            emitter.builder.set_cold_block(not_fine);
            emitter.branch(suspicious, not_fine, fine);
            emitter.enter(not_fine);
            emitter.give(NOT_FINE as i64);
            emitter.enter(fine);
        }
        let mut any = emitter.builder.ins().iconst(types::I64, 0);
        for (place, group) in groups.enumerate() {
            let (enabled, undecided) = self.write_group(&mut emitter, group)?;
            let at = (place * 16) as i32;
            emitter.builder.ins().store(MemFlagsData::trusted(), enabled, out, at);
            emitter.builder.ins().store(MemFlagsData::trusted(), undecided, out, at + 8);
            any = emitter.builder.ins().bor(any, undecided);
        }
        emitter.builder.ins().return_(&[any]);
        emitter.finish();
        Ok(())
    }

    /// A value that is not zero if some field has a value that is a fault for some guard of the groups.
    fn suspicion(&self, emitter: &mut Emitter, groups: std::ops::Range<usize>) -> Option<Value> {
        let mut faults: BTreeMap<Field, Values> = BTreeMap::new();
        for column in self.groups[groups].iter().flat_map(|group| &group.guards).flat_map(|guard| &guard.columns) {
            let all = faults.entry(column.field).or_default();
            (0..4).for_each(|word| all[word] |= column.faults[word]);
        }
        faults.retain(|_, values| *values != [0; 4]);
        // Usually zero is the fault: undefined. One test of a word finds all fields that are zero.
        let mut zeros: BTreeMap<u32, Vec<Field>> = BTreeMap::new();
        let mut suspicious = None;
        let mut suspect = |emitter: &mut Emitter, value: Value| {
            suspicious = Some(match suspicious {
                Some(before) => emitter.builder.ins().bor(before, value),
                None => value,
            });
        };
        for (field, values) in faults {
            if values == [1, 0, 0, 0] {
                zeros.entry(field.offset / 64).or_default().push(field);
                continue;
            }
            let spot = emitter.state_spot(field.offset);
            let value = emitter.load(spot, field.bits);
            for word in (0..4).filter(|word| values[*word] != 0) {
                let relative = emitter.sum(value, crate::emit::Val::constant(-(word as i64) * 64));
                let relative = emitter.word(relative);
                let set = emitter.builder.ins().iconst(types::I64, values[word] as i64);
                let bit = emitter.builder.ins().ushr(set, relative);
                let bit = emitter.builder.ins().band_imm_s(bit, 1);
                let limit = emitter.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, relative, 64);
                let limit = emitter.builder.ins().uextend(types::I64, limit);
                let bit = emitter.builder.ins().band(bit, limit);
                suspect(emitter, bit);
            }
        }
        for (word, fields) in zeros {
            let lowest = |longer_than: u32| -> u64 {
                fields.iter().filter(|field| field.bits > longer_than).map(|field| 1u64 << (field.offset % 64)).fold(0, |all, bit| all | bit)
            };
            let spot = emitter.state_spot(word * 64);
            let value = emitter.load(spot, 64);
            let value = emitter.word(value);
            let mut folded = value;
            for distance in 1..fields.iter().map(|field| field.bits).max().unwrap_or(1) {
                let moved = emitter.builder.ins().ushr_imm_s(value, i64::from(distance));
                let moved = emitter.builder.ins().band_imm_s(moved, lowest(distance) as i64);
                folded = emitter.builder.ins().bor(folded, moved);
            }
            let missing = emitter.builder.ins().bnot(folded);
            let missing = emitter.builder.ins().band_imm_s(missing, lowest(0) as i64);
            suspect(emitter, missing);
        }
        suspicious
    }

    fn write_group(&self, emitter: &mut Emitter<'a, '_>, number: usize) -> Result<(Value, Value), Unwritable> {
        let group = &self.groups[number];
        let members = |test: &dyn Fn(&Analysed) -> bool| -> u64 {
            group.guards.iter().enumerate().filter(|(_, guard)| test(guard)).map(|(bit, _)| 1u64 << bit).sum()
        };
        let mut alive = emitter.builder.ins().iconst(types::I64, members(&|guard| !guard.never) as i64);
        let mut undecided = emitter.builder.ins().iconst(types::I64, 0);
        let tables = emitter.parameter(2);
        for lookup in &self.lookups[number] {
            let spot = emitter.state_spot(lookup.field.offset);
            let value = emitter.load(spot, lookup.field.bits);
            let value = emitter.word(value);
            let distance = emitter.builder.ins().ishl_imm_s(value, 3);
            let entry = emitter.builder.ins().iadd(tables, distance);
            let table = lookup.table as i32 * 8;
            let flags = MemFlagsData::trusted().with_readonly().with_can_move();
            if lookup.faults {
                let faults = emitter.builder.ins().load(types::I64, flags, entry, table + (8 << lookup.field.bits));
                let faults = emitter.builder.ins().band(alive, faults);
                undecided = emitter.builder.ins().bor(undecided, faults);
            }
            let holds = emitter.builder.ins().load(types::I64, flags, entry, table);
            alive = emitter.builder.ins().band(alive, holds);
        }
        let ask = members(&|guard| guard.ask);
        if ask != 0 {
            let asked = emitter.builder.ins().band_imm_s(alive, ask as i64);
            undecided = emitter.builder.ins().bor(undecided, asked);
            alive = emitter.builder.ins().band_imm_s(alive, !ask as i64);
        }
        let rest = members(&|guard| !guard.rest.is_empty() && !guard.ask);
        if rest == 0 {
            return Ok((alive, undecided));
        }
        let variables = [alive, undecided].map(|value| {
            let variable = emitter.builder.declare_var(types::I64);
            emitter.builder.def_var(variable, value);
            variable
        });
        let [alive, undecided] = variables;
        // Sixteen at a time are skipped together if none of them is alive.
        for quarter in 0..4 {
            let inside = rest & (0xFFFF << (quarter * 16));
            if inside == 0 {
                continue;
            }
            let end = emitter.block();
            if inside.count_ones() > 1 {
                let (some, now) = (emitter.block(), emitter.builder.use_var(alive));
                let now = emitter.builder.ins().band_imm_s(now, inside as i64);
                emitter.branch(now, some, end);
                emitter.enter(some);
            }
            for bit in (0..64).filter(|bit| inside >> bit & 1 == 1) {
                self.write_rest(emitter, &group.guards[bit], bit, alive, undecided).map_err(|_| Unwritable { group: number, bit })?;
            }
            emitter.jump(end);
            emitter.enter(end);
        }
        Ok((emitter.builder.use_var(alive), emitter.builder.use_var(undecided)))
    }

    /// Evaluates the rest of a guard if it is still alive.
    fn write_rest(&self, emitter: &mut Emitter<'a, '_>, guard: &Analysed<'a>, bit: usize, alive: Variable, undecided: Variable) -> Outcome<()> {
        emitter.fuel = Fuel::Bounded(guard.units);
        let mask = 1i64 << bit;
        let (test, end) = (emitter.block(), emitter.block());
        let now = emitter.builder.use_var(alive);
        let here = emitter.builder.ins().band_imm_s(now, mask);
        emitter.branch(here, test, end);
        emitter.enter(test);
        let leaking = vec![false; guard.registers as usize];
        emitter.begin(guard.registers, leaking, 0)?;
        let small: usize = guard.rest.iter().map(|conjunct| emitter.setting.shape.nodes_unrolled(conjunct.expr)).sum();
        let eager = if small <= 40 {
            let (outer, level) = (std::mem::replace(&mut emitter.faults, Faults::Noted(Noted::none())), emitter.activations.len());
            let result = conjunction(emitter, &guard.rest);
            emitter.activations.truncate(level);
            let noted = std::mem::replace(&mut emitter.faults, outer);
            match (result, noted) {
                (Ok(holds), Faults::Noted(noted)) => Some((holds, noted.any)),
                (Err(Stop::Branches), _) => None,
                (Err(stop), _) => return Err(stop),
                _ => None,
            }
        } else {
            None
        };
        let faulted = emitter.block();
        let holds = match eager {
            Some((holds, faults)) => {
                if let Condition::Flag(flag) = faults {
                    let next = emitter.block();
                    emitter.branch(flag, faulted, next);
                    emitter.enter(next);
                } else if let Condition::Known(true) = faults {
                    emitter.jump(faulted);
                    let next = emitter.block();
                    emitter.enter(next);
                }
                holds
            }
            None => {
                let outer = std::mem::replace(&mut emitter.faults, Faults::Go(faulted));
                let holds = conjunction(emitter, &guard.rest)?;
                emitter.faults = outer;
                holds
            }
        };
        let now = emitter.builder.use_var(alive);
        let without = emitter.builder.ins().band_imm_s(now, !mask);
        let flag = emitter.flag(holds);
        let after = emitter.builder.ins().select(flag, now, without);
        emitter.builder.def_var(alive, after);
        emitter.jump(end);
        emitter.builder.set_cold_block(faulted);
        emitter.enter(faulted);
        let now = emitter.builder.use_var(alive);
        let without = emitter.builder.ins().band_imm_s(now, !mask);
        emitter.builder.def_var(alive, without);
        let asked = emitter.builder.use_var(undecided);
        let asked = emitter.builder.ins().bor_imm_s(asked, mask);
        emitter.builder.def_var(undecided, asked);
        emitter.jump(end);
        emitter.enter(end);
        emitter.activations.pop();
        Ok(())
    }
}

/// Whether all conjuncts hold; lazy, in order.
fn conjunction(emitter: &mut Emitter<'_, '_>, conjuncts: &[Conjunct]) -> Outcome<Condition> {
    let mut holds = Condition::Known(true);
    let mut exit = None;
    for conjunct in conjuncts {
        let operand = |emitter: &mut Emitter<'_, '_>| {
            for (register, value) in conjunct.registers.iter().enumerate() {
                emitter.set_register(Reg(register as u32), Val::constant(*value));
            }
            let value = emitter.expression(conjunct.expr)?;
            let truth = emitter.truth(value);
            Ok(if conjunct.negated { emitter.negated(truth) } else { truth })
        };
        if emitter.faults_are_noted() {
            let here = emitter.noting_where(holds, operand)?;
            holds = emitter.both(holds, here);
            continue;
        }
        match holds {
            Condition::Known(false) => break,
            Condition::Known(true) => {}
            Condition::Flag(flag) => {
                let exit = *exit.get_or_insert_with(|| emitter.builder.create_block());
                let next = emitter.block();
                emitter.branch(flag, next, exit);
                emitter.enter(next);
            }
        }
        holds = operand(emitter)?;
    }
    let Some(exit) = exit else { return Ok(holds) };
    let result = emitter.builder.declare_var(types::I8);
    let end = emitter.block();
    let value = emitter.flag(holds);
    emitter.builder.def_var(result, value);
    emitter.jump(end);
    emitter.enter(exit);
    let no = emitter.builder.ins().iconst(types::I8, 0);
    emitter.builder.def_var(result, no);
    emitter.jump(end);
    emitter.enter(end);
    Ok(Condition::Flag(emitter.builder.use_var(result)))
}
