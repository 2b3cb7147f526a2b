//! Emits the code of one function: a guard, a command, a property, or a function of the model.
//!
//! The emitter folds constants as it goes. Registers whose value is known stay out of the code, loops with known
//! bounds are unrolled while they are small, and calls are inlined with their references replaced by their targets.
//! The rest goes to Cranelift, which eliminates common subexpressions.
//!
//! There are three ways to handle a fault, see [`Faults`].

mod call;
mod expression;
mod number;
mod place;
mod statement;
mod value;

pub(crate) use call::{LARGEST_LOCAL, LARGEST_LOCALS, parameters};
pub(crate) use expression::rounds;
pub(crate) use place::{Area, Home, Spot, WORDS_IN_VARIABLES};
pub(crate) use statement::Flow;
pub(crate) use value::{Condition, Val};

use crate::shape::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::HashMap;
use wayfarer_ir::{FaultId, Program};

/// The reason why a function was not emitted to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It needs branches where none are allowed.
    Branches,
    /// Its fuel is not bounded by its shape: it must be counted.
    Meter,
    /// It is too large to be inlined.
    Large,
}

pub(crate) type Outcome<T> = Result<T, Stop>;

/// The status of a function that ended normally.
pub(crate) const DONE: i64 = 0;
/// The status if the firing was discarded.
pub(crate) const DISCARDED: i64 = 1;
/// There was not enough stack for a recursion: there is no result, call again with more.
pub(crate) const NO_STACK: i64 = 2;
/// A called function has no code yet: there is no result, call again when it has.
pub(crate) const NO_CODE: i64 = 3;
/// The status of a fault f is this plus f.
pub(crate) const FIRST_FAULT: i64 = 4;

/// The data that emitted code accesses through its last parameter.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Environment {
    /// The remaining fuel, while a function of the model is called.
    pub(crate) fuel: u64,
    /// The parameters of a rule, for code that serves its whole family.
    pub(crate) parameters: *const i64,
    /// One bit for each property that was covered.
    pub(crate) covered: *mut u64,
    /// The number of running calls, if it is not known statically.
    pub(crate) depth: u64,
    /// The words of the frames in use, if they are not known statically.
    pub(crate) frame_words: u64,
    /// The stack must not grow below this address.
    pub(crate) stack_end: u64,
    /// The start of the next large frame.
    pub(crate) heap: *mut u64,
    /// The index in the table of functions of one that has no code yet.
    pub(crate) missing: u64,
}

/// The handling of faults.
pub(crate) enum Faults {
    /// The function ends and returns the fault.
    Told(HashMap<FaultId, Block>),
    /// Control goes to one block, whatever the fault.
    Go(Block),
    /// Nothing branches: a flag records whether there was a fault. Values computed after one are meaningless, but
    /// harmless.
    Noted(Noted),
}

/// Faults recorded so far.
#[derive(Clone, Copy)]
pub(crate) struct Noted {
    /// Whether the current part of the expression is evaluated at all.
    active: Condition,
    /// Whether there was a fault.
    pub(crate) any: Condition,
    /// The fault, while it can only be one.
    which: Option<FaultId>,
    several: bool,
}

impl Noted {
    pub(crate) fn none() -> Self {
        Noted { active: Condition::Known(true), any: Condition::Known(false), which: None, several: false }
    }
}

/// The accounting of fuel.
pub(crate) enum Fuel {
    /// None: it takes at most this many units, which must stay within the limit.
    Bounded(u64),
    /// In a variable.
    Counted(Variable),
}

/// A register.
#[derive(Clone, Copy)]
pub(crate) enum Register {
    /// It has this value here, on every path that leads here.
    Holds(Val),
    /// It differs between paths.
    Varies(Variable),
}

/// The locals of the command, formula or function being emitted.
pub(crate) struct Activation {
    pub(crate) registers: Vec<Register>,
    /// Registers of loop expressions that are read outside their loop: always held in a variable.
    pub(crate) leaking: Vec<bool>,
    pub(crate) frame: Option<Area>,
    pub(crate) references: Vec<Spot>,
    /// Branches and loops around the current statement that depend on the state.
    pub(crate) nesting: u32,
    /// The target of `Return`, once one was nested.
    pub(crate) exit: Option<(Block, Variable)>,
    /// The result of a `Return` that was not nested.
    pub(crate) result: Option<Val>,
}

/// Whether the limits on nested calls must be tested.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Depth {
    /// The shape of the program guarantees them.
    Bounded,
    /// Counted in the environment.
    Counted,
}

/// The context of an emitter.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) program: &'a Program,
    pub(crate) shape: &'a Shape,
    pub(crate) limits: wayfarer_ir::Limits,
    pub(crate) target: TargetFrontendConfig,
}

/// Emits one function.
pub(crate) struct Emitter<'a, 'f> {
    pub(crate) builder: FunctionBuilder<'f>,
    pub(crate) setting: Setting<'a>,
    pub(crate) faults: Faults,
    pub(crate) fuel: Fuel,
    pub(crate) depth: Depth,
    pub(crate) state: Area,
    pub(crate) activations: Vec<Activation>,
    pub(crate) environment: Option<Value>,
    /// The address of the state that a command was given.
    pub(crate) source: Option<Value>,
    /// Nodes emitted so far.
    pub(crate) written: usize,
    /// Nodes after which calls are no longer inlined.
    pub(crate) inline_until: usize,
    /// A loop of a formula is unrolled if rounds times nodes are at most this. Nodes of loops inside count once for each of their rounds.
    pub(crate) unroll_until: u64,
    /// Nodes after which the emitter gives up.
    pub(crate) largest: usize,
    entry: Block,
    discarded: Option<Block>,
    locals: Option<StackSlot>,
    /// Words of the frames in use, and their maximum.
    local_words: u32,
    most_local_words: u32,
    /// Statuses other than `DONE` are returned together with a result.
    pub(crate) gives_result: bool,
    /// The words of the state that may have been written.
    pub(crate) touched: Vec<bool>,
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(crate) fn new(mut builder: FunctionBuilder<'f>, setting: Setting<'a>, faults: Faults) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        Emitter {
            builder,
            setting,
            faults,
            fuel: Fuel::Bounded(0),
            depth: Depth::Bounded,
            state: Area::nowhere(),
            activations: Vec::new(),
            environment: None,
            source: None,
            written: 0,
            inline_until: 4_000,
            unroll_until: crate::roots::UNROLLED_NODES,
            largest: 2_000_000,
            entry,
            discarded: None,
            locals: None,
            local_words: 0,
            most_local_words: 0,
            gives_result: false,
            touched: vec![false; setting.program.words as usize],
        }
    }

    /// An emitter of code that has no environment.
    pub(crate) fn plain(builder: FunctionBuilder<'f>, setting: Setting<'a>) -> Self {
        Emitter::new(builder, setting, Faults::Told(HashMap::new()))
    }

    /// The n-th parameter of the function.
    pub(crate) fn parameter(&self, number: usize) -> Value {
        self.builder.block_params(self.entry)[number]
    }

    /// Flags of every load and store: the addresses are ours.
    pub(crate) fn trusted() -> MemFlagsData {
        MemFlagsData::trusted()
    }

    /// Starts to count fuel from the limit.
    pub(crate) fn count_fuel(&mut self) {
        let variable = self.builder.declare_var(types::I64);
        let limit = self.builder.ins().iconst(types::I64, self.setting.limits.fuel as i64);
        self.builder.def_var(variable, limit);
        self.fuel = Fuel::Counted(variable);
    }

    /// A new block that is entered only from here.
    pub(crate) fn block(&mut self) -> Block {
        self.builder.create_block()
    }

    /// Continues in a block whose predecessors are all known.
    pub(crate) fn enter(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    pub(crate) fn jump(&mut self, block: Block) {
        self.builder.ins().jump(block, &[]);
    }

    pub(crate) fn branch(&mut self, flag: Value, then: Block, otherwise: Block) {
        self.builder.ins().brif(flag, then, &[], otherwise, &[]);
    }

    pub(crate) fn faults_are_noted(&self) -> bool {
        matches!(self.faults, Faults::Noted(_))
    }

    /// Faults if the condition is true.
    pub(crate) fn fault_if(&mut self, condition: Condition, fault: FaultId) -> Outcome<()> {
        if let Faults::Noted(mut noted) = self.faults {
            let here = self.both(noted.active, condition);
            if !matches!(here, Condition::Known(false)) {
                noted.several |= noted.which.is_some_and(|which| which != fault);
                noted.which = Some(fault);
                noted.any = self.either(noted.any, here);
            }
            self.faults = Faults::Noted(noted);
            return Ok(());
        }
        match condition {
            Condition::Known(false) => {}
            Condition::Known(true) => {
                self.always_fault(fault)?;
            }
            Condition::Flag(flag) => {
                let target = self.fault_target(fault);
                let next = self.block();
                self.branch(flag, target, next);
                self.enter(next);
            }
        }
        Ok(())
    }

    /// Faults. Code emitted afterwards is never run; the value is a placeholder.
    pub(crate) fn always_fault(&mut self, fault: FaultId) -> Outcome<Val> {
        if self.faults_are_noted() {
            self.fault_if(Condition::Known(true), fault)?;
        } else {
            let target = self.fault_target(fault);
            self.jump(target);
            let next = self.block();
            self.enter(next);
        }
        Ok(Val::constant(0))
    }

    fn fault_target(&mut self, fault: FaultId) -> Block {
        match &mut self.faults {
            Faults::Go(block) => *block,
            Faults::Told(blocks) => *blocks.entry(fault).or_insert_with(|| {
                let block = self.builder.create_block();
                self.builder.set_cold_block(block);
                block
            }),
            Faults::Noted(_) => unreachable!("noted faults have no target"),
        }
    }

    /// Ends the function because an assumption fails.
    pub(crate) fn discard(&mut self) {
        let block = match self.discarded {
            Some(block) => block,
            None => {
                let block = self.builder.create_block();
                self.builder.set_cold_block(block);
                self.discarded = Some(block);
                block
            }
        };
        self.jump(block);
    }

    /// Takes one unit of fuel.
    pub(crate) fn burn(&mut self, fault: FaultId) -> Outcome<()> {
        match self.fuel {
            Fuel::Bounded(ref mut units) => {
                *units = units.saturating_add(1);
                if *units > self.setting.limits.fuel { Err(Stop::Meter) } else { Ok(()) }
            }
            Fuel::Counted(_) if self.faults_are_noted() => Err(Stop::Branches),
            Fuel::Counted(variable) => {
                let left = self.builder.use_var(variable);
                let empty = self.builder.ins().icmp_imm_s(IntCC::Equal, left, 0);
                self.fault_if(Condition::Flag(empty), fault)?;
                let less = self.builder.ins().iadd_imm_s(left, -1);
                self.builder.def_var(variable, less);
                Ok(())
            }
        }
    }

    /// Counts one more emitted node.
    pub(crate) fn write_one(&mut self) -> Outcome<()> {
        self.written += 1;
        if self.written > self.largest { Err(Stop::Large) } else { Ok(()) }
    }

    /// Emits something without branches and returns the recorded faults; `None` if it needs branches or can have
    /// faults of several kinds.
    pub(crate) fn without_branches<T>(&mut self, write: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<Option<(T, Condition, Option<FaultId>)>> {
        let units = match self.fuel {
            Fuel::Bounded(units) => units,
            Fuel::Counted(_) => 0,
        };
        let (activations, local_words) = (self.activations.len(), self.local_words);
        let outer = std::mem::replace(&mut self.faults, Faults::Noted(Noted::none()));
        let result = write(self);
        self.activations.truncate(activations);
        self.local_words = local_words;
        let inner = std::mem::replace(&mut self.faults, outer);
        let restore = |emitter: &mut Self| {
            if let Fuel::Bounded(now) = &mut emitter.fuel {
                *now = units;
            }
        };
        match (result, inner) {
            (Ok(value), Faults::Noted(noted)) if !noted.several => Ok(Some((value, noted.any, noted.which))),
            (Ok(_), _) | (Err(Stop::Branches), _) => {
                restore(self);
                Ok(None)
            }
            (Err(stop), _) => Err(stop),
        }
    }

    /// Records faults of the emitted code only while the condition holds.
    pub(crate) fn noting_where<T>(&mut self, condition: Condition, write: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let Faults::Noted(noted) = self.faults else { unreachable!("faults are noted here") };
        let active = self.both(noted.active, condition);
        self.faults = Faults::Noted(Noted { active, ..noted });
        let result = write(self);
        if let Faults::Noted(inner) = &mut self.faults {
            inner.active = noted.active;
        }
        result
    }

    /// The address of a word of the frames kept in memory.
    pub(crate) fn local_address(&mut self, word: u32) -> Value {
        let slot = match self.locals {
            Some(slot) => slot,
            None => {
                let slot = self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
                self.locals = Some(slot);
                slot
            }
        };
        self.most_local_words = self.most_local_words.max(self.local_words).max(word + 1);
        self.builder.ins().stack_addr(types::I64, slot, (word * 8) as i32)
    }

    /// Returns a status from blocks that were only jumped to, and ends the function.
    pub(crate) fn finish(mut self) {
        let mut ends = Vec::new();
        if let Faults::Told(blocks) = &self.faults {
            let mut faults: Vec<_> = blocks.iter().map(|(fault, block)| (FIRST_FAULT + i64::from(fault.0), *block)).collect();
            faults.sort_unstable();
            ends.extend(faults);
        }
        ends.extend(self.discarded.map(|block| (DISCARDED, block)));
        for (status, block) in ends {
            self.enter(block);
            self.give(status);
        }
        if let Some(slot) = self.locals {
            self.builder.func.sized_stack_slots[slot].size = self.most_local_words.max(1) * 8;
        }
        self.builder.seal_all_blocks();
        self.builder.finalize(self.setting.target);
    }

    /// Ends the function with a status.
    pub(crate) fn give(&mut self, status: i64) {
        let status = self.builder.ins().iconst(types::I64, status);
        if self.gives_result {
            let zero = self.builder.ins().iconst(types::I64, 0);
            self.builder.ins().return_(&[status, zero]);
        } else {
            self.builder.ins().return_(&[status]);
        }
    }
}
