//! The code of a nest.

use super::NOT_FINE;
use super::plan::{Conjunct, Nest, Task};
use crate::emit::{Area, Condition, Emitter, Faults, Fuel, Outcome, Val};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::Variable;
use wayfarer_ir::Reg;

/// The values of a parameter that are still possible, as bits.
#[derive(Clone, Copy)]
enum Mask {
    /// All of them.
    All,
    /// At most sixty-four values.
    Word(Variable),
    /// More values.
    Words(StackSlot),
}

/// The writing of one nest.
struct Writer<'n, 'a, 'f> {
    nest: &'n Nest<'a>,
    emitter: Emitter<'a, 'f>,
    /// The masks of all parameters at this point.
    masks: Vec<Mask>,
    /// The address at which the next instance is written.
    cursor: Variable,
}

impl<'a> Nest<'a> {
    /// Emits the function. Its parameters are the state and the output, to which the numbers of the enabled instances
    /// are written in ascending order, 32 bits each. It returns how many there are, or [`NOT_FINE`].
    pub(crate) fn write<'f>(&self, mut emitter: Emitter<'a, 'f>) -> Outcome<()> {
        let (state, out) = (emitter.parameter(0), emitter.parameter(1));
        emitter.state = Area::fixed(state, emitter.setting.program.words);
        let (faulted, end) = (emitter.block(), emitter.block());
        emitter.builder.set_cold_block(faulted);
        emitter.faults = Faults::Go(faulted);
        emitter.fuel = Fuel::Bounded(0);
        let registers = self.rule.guard.registers.max(self.rule.parameters.len() as u32);
        emitter.begin(registers, vec![false; registers as usize], 0)?;
        let cursor = emitter.builder.declare_var(types::I64);
        emitter.builder.def_var(cursor, out);
        let mut writer = Writer { nest: self, emitter, masks: vec![Mask::All; self.rule.parameters.len()], cursor };
        let zero = writer.emitter.builder.ins().iconst(types::I64, 0);
        writer.depth(0, zero, end)?;
        let Writer { mut emitter, .. } = writer;
        emitter.within_fuel()?;
        emitter.enter(end);
        let last = emitter.builder.use_var(cursor);
        let bytes = emitter.builder.ins().isub(last, out);
        let count = emitter.builder.ins().ushr_imm_s(bytes, 2);
        emitter.builder.ins().return_(&[count]);
        emitter.enter(faulted);
        emitter.give(NOT_FINE as i64);
        emitter.finish();
        Ok(())
    }
}

impl Writer<'_, '_, '_> {
    /// Emits everything once the first parameters are bound; control then goes to `exit`. `member` is the number of
    /// the instance as far as it is known.
    fn depth(&mut self, bound: usize, member: Value, exit: Block) -> Outcome<()> {
        let masks = self.masks.clone();
        let nest = self.nest;
        for task in &nest.depths[bound] {
            match task {
                Task::Test(conjunct) => self.test(conjunct, exit)?,
                Task::Sieve { parameter, conjuncts } => self.sieve(*parameter, conjuncts, exit)?,
            }
        }
        if bound == self.masks.len() {
            let at = self.emitter.builder.use_var(self.cursor);
            let number = self.emitter.builder.ins().ireduce(types::I32, member);
            self.emitter.builder.ins().store(MemFlagsData::trusted(), number, at, 0);
            let next = self.emitter.builder.ins().iadd_imm_s(at, 4);
            self.emitter.builder.def_var(self.cursor, next);
            self.emitter.jump(exit);
        } else {
            let count = i64::from(nest.rule.parameters[bound].count);
            self.each(bound, exit, |writer, index, again| {
                let scaled = writer.emitter.builder.ins().imul_imm_s(member, count);
                let inner = writer.emitter.builder.ins().iadd(scaled, index);
                writer.depth(bound + 1, inner, again)
            })?;
        }
        self.masks = masks;
        Ok(())
    }

    /// Leaves to `exit` unless the conjunct holds.
    fn test(&mut self, conjunct: &Conjunct, exit: Block) -> Outcome<()> {
        match self.conjunct(conjunct)? {
            Condition::Known(true) => {}
            Condition::Known(false) => {
                self.emitter.jump(exit);
                let next = self.emitter.block();
                self.emitter.enter(next);
            }
            Condition::Flag(flag) => {
                let next = self.emitter.block();
                self.emitter.branch(flag, next, exit);
                self.emitter.enter(next);
            }
        }
        Ok(())
    }

    fn conjunct(&mut self, conjunct: &Conjunct) -> Outcome<Condition> {
        let truth = self.emitter.condition(conjunct.expr)?;
        Ok(if conjunct.negated { self.emitter.negated(truth) } else { truth })
    }

    /// Narrows the mask of a parameter, and leaves to `exit` if no value remains.
    fn sieve(&mut self, parameter: usize, conjuncts: &[Conjunct], exit: Block) -> Outcome<()> {
        let count = self.nest.rule.parameters[parameter].count;
        let zero = self.emitter.builder.ins().iconst(types::I64, 0);
        let any = self.emitter.builder.declare_var(types::I64);
        self.emitter.builder.def_var(any, zero);
        let words = count.div_ceil(64);
        // A mask of its own at each depth: the loops outside go on with theirs.
        let narrowed = if words <= 1 {
            Mask::Word(any)
        } else {
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, words * 8, 3);
            let slot = self.emitter.builder.create_sized_stack_slot(slot);
            for word in 0..words {
                self.emitter.builder.ins().stack_store(types::I64, zero, slot, (word * 8) as i32);
            }
            Mask::Words(slot)
        };
        let end = self.emitter.block();
        self.each(parameter, end, |writer, index, again| {
            for conjunct in conjuncts {
                writer.test(conjunct, again)?;
            }
            let builder = &mut writer.emitter.builder;
            let one = builder.ins().iconst(types::I64, 1);
            // Shifts take their distance modulo 64.
            let bit = builder.ins().ishl(one, index);
            let before = builder.use_var(any);
            let after = builder.ins().bor(before, bit);
            builder.def_var(any, after);
            if let Mask::Words(slot) = narrowed {
                let word = builder.ins().ushr_imm_s(index, 6);
                let distance = builder.ins().ishl_imm_s(word, 3);
                let base = builder.ins().stack_addr(types::I64, slot, 0);
                let address = builder.ins().iadd(base, distance);
                let old = builder.ins().load(types::I64, MemFlagsData::trusted(), address, 0);
                let new = builder.ins().bor(old, bit);
                builder.ins().store(MemFlagsData::trusted(), new, address, 0);
            }
            writer.emitter.jump(again);
            Ok(())
        })?;
        self.emitter.enter(end);
        let (some, found) = (self.emitter.block(), self.emitter.builder.use_var(any));
        self.emitter.branch(found, some, exit);
        self.emitter.enter(some);
        self.masks[parameter] = narrowed;
        Ok(())
    }

    /// Runs over the values of a parameter that its mask leaves, ascending by index, with its register set; control
    /// then goes to `exit`. The body ends with a jump to the block it is given.
    fn each(&mut self, parameter: usize, exit: Block, body: impl FnOnce(&mut Self, Value, Block) -> Outcome<()>) -> Outcome<()> {
        let count = self.nest.rule.parameters[parameter].count;
        match self.masks[parameter] {
            Mask::All if count > 64 => self.each_in_range(parameter, count, exit, body),
            Mask::All => {
                let ones = if count == 64 { -1 } else { (1i64 << count) - 1 };
                let ones = self.emitter.builder.ins().iconst(types::I64, ones);
                self.each_bit(parameter, ones, None, exit, body)
            }
            Mask::Word(variable) => {
                let bits = self.emitter.builder.use_var(variable);
                self.each_bit(parameter, bits, None, exit, body)
            }
            Mask::Words(slot) => {
                let number = self.emitter.builder.declare_var(types::I64);
                let zero = self.emitter.builder.ins().iconst(types::I64, 0);
                self.emitter.builder.def_var(number, zero);
                let (head, inside, next) = (self.emitter.block(), self.emitter.block(), self.emitter.block());
                self.emitter.jump(head);
                self.emitter.builder.switch_to_block(head);
                let word = self.emitter.builder.use_var(number);
                let more = self.emitter.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, word, i64::from(count.div_ceil(64)));
                self.emitter.branch(more, inside, exit);
                self.emitter.enter(inside);
                let base = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
                let distance = self.emitter.builder.ins().ishl_imm_s(word, 3);
                let address = self.emitter.builder.ins().iadd(base, distance);
                let bits = self.emitter.builder.ins().load(types::I64, MemFlagsData::trusted(), address, 0);
                self.each_bit(parameter, bits, Some(word), next, body)?;
                self.emitter.enter(next);
                let word = self.emitter.builder.use_var(number);
                let word = self.emitter.builder.ins().iadd_imm_s(word, 1);
                self.emitter.builder.def_var(number, word);
                self.emitter.jump(head);
                self.emitter.builder.seal_block(head);
                Ok(())
            }
        }
    }

    fn each_bit(
        &mut self,
        parameter: usize,
        bits: Value,
        word: Option<Value>,
        exit: Block,
        body: impl FnOnce(&mut Self, Value, Block) -> Outcome<()>,
    ) -> Outcome<()> {
        let left = self.emitter.builder.declare_var(types::I64);
        self.emitter.builder.def_var(left, bits);
        let (head, inside) = (self.emitter.block(), self.emitter.block());
        self.emitter.jump(head);
        self.emitter.builder.switch_to_block(head);
        let now = self.emitter.builder.use_var(left);
        self.emitter.branch(now, inside, exit);
        self.emitter.enter(inside);
        let bit = self.emitter.builder.ins().ctz(now);
        let less = self.emitter.builder.ins().iadd_imm_s(now, -1);
        let rest = self.emitter.builder.ins().band(now, less);
        self.emitter.builder.def_var(left, rest);
        let index = match word {
            Some(word) => {
                let base = self.emitter.builder.ins().ishl_imm_s(word, 6);
                self.emitter.builder.ins().iadd(base, bit)
            }
            None => bit,
        };
        self.bind(parameter, index);
        body(self, index, head)?;
        self.emitter.builder.seal_block(head);
        Ok(())
    }

    fn each_in_range(&mut self, parameter: usize, count: u32, exit: Block, body: impl FnOnce(&mut Self, Value, Block) -> Outcome<()>) -> Outcome<()> {
        let number = self.emitter.builder.declare_var(types::I64);
        let zero = self.emitter.builder.ins().iconst(types::I64, 0);
        self.emitter.builder.def_var(number, zero);
        let (head, inside) = (self.emitter.block(), self.emitter.block());
        self.emitter.jump(head);
        self.emitter.builder.switch_to_block(head);
        let index = self.emitter.builder.use_var(number);
        let next = self.emitter.builder.ins().iadd_imm_s(index, 1);
        self.emitter.builder.def_var(number, next);
        let more = self.emitter.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, i64::from(count));
        self.emitter.branch(more, inside, exit);
        self.emitter.enter(inside);
        self.bind(parameter, index);
        body(self, index, head)?;
        self.emitter.builder.seal_block(head);
        Ok(())
    }

    /// Gives a parameter the value at an index.
    fn bind(&mut self, parameter: usize, index: Value) {
        let known = &self.nest.rule.parameters[parameter];
        let (from, by) = (known.from, known.by);
        let index = Val::within(index, 0, i64::from(known.count.max(1)) - 1);
        let scaled = self.emitter.product(index, Val::constant(by));
        let value = self.emitter.sum(scaled, Val::constant(from));
        self.emitter.set_register(Reg(parameter as u32), value);
    }
}
