//! The functions that Rust calls: commands, single guards and properties, assumptions, and all properties together.

use crate::emit::{
    Area, Condition, DISCARDED, DONE, Depth, Emitter, Environment, Faults, Flow, Fuel, Home, Noted, Outcome, Setting, Stop, Val, WORDS_IN_VARIABLES,
};
use crate::shape;
use crate::touched::Blocks;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;
use std::collections::HashMap;
use std::mem::offset_of;
use wayfarer_ir::{Expr, FunctionId, Property, PropertyKind, Reg, Rule};
use wayfarer_space::Packing;

/// The accounting of fuel in a function to be emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metering {
    Off,
    On,
}

/// The result of a formula's function if the formula holds.
pub(crate) const HOLDS: i64 = 1;

/// The nodes from which on commands and functions call others instead of copying them in. Small code takes a fraction of the time to compile, and a call costs
/// little if the state lies in memory, as wide ones do. Formulas go on copying: most of them cannot call.
const INLINE_UNTIL: usize = 500;

/// Loops of formulas are unrolled up to so many nodes, and those of properties up to more of them after many states.
pub(crate) const UNROLLED_NODES: u64 = 1_000;
pub(crate) const MORE_UNROLLED_NODES: u64 = 10_000;

/// The parameters' values if they are fixed.
pub(crate) type Fixed<'a> = Option<&'a [i64]>;

/// Emits a command. Its parameters are the state, the next state to write, and the environment. If a state has more
/// than [`WORDS_IN_VARIABLES`] words, the caller has copied it into the next state. Returns the words that the command
/// may change.
pub(crate) fn command(
    builder: FunctionBuilder,
    setting: Setting,
    rule: &Rule,
    fixed: Fixed,
    packing: &Packing,
    metering: Metering,
) -> Outcome<Blocks> {
    let mut emitter = Emitter::new(builder, setting, Faults::Told(HashMap::new()));
    emitter.inline_until = INLINE_UNTIL;
    let (state, out, environment) = (emitter.parameter(0), emitter.parameter(1), emitter.parameter(2));
    let words = setting.program.words;
    emitter.environment = Some(environment);
    emitter.source = Some(state);
    if words <= WORDS_IN_VARIABLES {
        let source = Area::fixed(state, words);
        emitter.state = emitter.area_in_variables(Home::At(out), words);
        for word in 0..words {
            let value = emitter.read_word(source, word);
            emitter.write_word(emitter.state, word, value);
        }
    } else {
        emitter.state = Area::memory(out, words);
    }
    emitter.state = emitter.state.as_state();
    let body = &rule.command;
    let mut calls = Vec::new();
    shape::calls_in_block(&body.block, &mut calls);
    prepare(&mut emitter, &calls, body.frame, metering);
    emitter.begin(body.registers, shape::leaking_in_body(body.registers, &body.block), body.frame)?;
    set_parameters(&mut emitter, rule, fixed);
    let flow = emitter.statements(&body.block)?;
    let (flow, _) = emitter.end(flow, None)?;
    emitter.within_fuel()?;
    let touched = Blocks::of(emitter.touched.iter().copied());
    if flow == Flow::Next {
        let area = emitter.state;
        for word in 0..words {
            let mask = packing.masks()[word as usize];
            let masked = emitter.touched[word as usize] && mask != u64::MAX;
            if words > WORDS_IN_VARIABLES && !masked {
                continue;
            }
            let mut value = emitter.read_word(area, word);
            if masked {
                value = emitter.builder.ins().band_imm_s(value, mask as i64);
            }
            emitter.builder.ins().store(MemFlagsData::trusted(), value, out, (word * 8) as i32);
        }
        emitter.give(DONE);
    }
    emitter.finish();
    Ok(touched)
}

/// Emits a guard. Its parameters are the state and the environment.
pub(crate) fn guard(builder: FunctionBuilder, setting: Setting, rule: &Rule, fixed: Fixed, metering: Metering) -> Outcome<()> {
    let mut emitter = formula(builder, setting);
    let value = &rule.guard.value;
    let mut calls = Vec::new();
    shape::calls_in(value, &mut calls);
    prepare(&mut emitter, &calls, 0, metering);
    emitter.begin(rule.guard.registers, shape::leaking_in(rule.guard.registers, [value]), 0)?;
    set_parameters(&mut emitter, rule, fixed);
    let holds = emitter.condition(value)?;
    emitter.within_fuel()?;
    give_truth(&mut emitter, holds);
    emitter.finish();
    Ok(())
}

/// Emits a property. Its parameters are the state and the environment.
pub(crate) fn property(builder: FunctionBuilder, setting: Setting, property: &Property, metering: Metering) -> Outcome<()> {
    let mut emitter = formula(builder, setting);
    let holds = judge(&mut emitter, property, metering)?;
    emitter.within_fuel()?;
    give_truth(&mut emitter, holds);
    emitter.finish();
    Ok(())
}

/// Emits all assumptions. The parameters are the state and the environment. The first that fails or faults decides.
pub(crate) fn assumptions(builder: FunctionBuilder, setting: Setting, metering: Metering) -> Outcome<()> {
    let mut emitter = formula(builder, setting);
    for property in setting.program.properties.iter().filter(|property| property.kind == PropertyKind::Assumption) {
        emitter.fuel = Fuel::Bounded(0);
        let holds = judge(&mut emitter, property, metering)?;
        emitter.within_fuel()?;
        match holds {
            Condition::Known(true) => {}
            holds => {
                let flag = emitter.flag(holds);
                let (next, discarded) = (emitter.block(), emitter.block());
                emitter.branch(flag, next, discarded);
                emitter.enter(discarded);
                emitter.give(DISCARDED);
                emitter.enter(next);
            }
        }
        emitter.activations.pop();
    }
    emitter.give(DONE);
    emitter.finish();
    Ok(())
}

/// Emits a function of the model.
pub(crate) fn function(builder: FunctionBuilder, setting: Setting, function: FunctionId, depth: Depth) -> Outcome<()> {
    let mut emitter = Emitter::new(builder, setting, Faults::Told(HashMap::new()));
    emitter.inline_until = INLINE_UNTIL;
    emitter.depth = depth;
    emitter.function(function)?;
    emitter.finish();
    Ok(())
}

/// Properties of more nodes are checked with branches.
const EAGER_NODES: usize = 100;
/// Properties of more nodes only have code of their own.
const LARGEST_PROPERTY: usize = 40_000;

/// Emits the check of properties, sixty-four to a group. Its parameters are the state and the output, in which the
/// words of results to report and of undecided ones alternate. It returns whether there is any of either. Properties
/// in `asked` are always undecided. Loops are unrolled up to so many nodes.
pub(crate) fn properties(builder: FunctionBuilder, setting: Setting, asked: &[bool], unrolled: u64) -> Result<(), usize> {
    let mut emitter = Emitter::new(builder, setting, Faults::Told(HashMap::new()));
    emitter.unroll_until = unrolled;
    let (state, out) = (emitter.parameter(0), emitter.parameter(1));
    emitter.state = Area::fixed(state, setting.program.words);
    let any = emitter.builder.declare_var(types::I64);
    let zero = emitter.builder.ins().iconst(types::I64, 0);
    emitter.builder.def_var(any, zero);
    for (group, properties) in setting.program.properties.chunks(64).enumerate() {
        let words = [emitter.builder.declare_var(types::I64), emitter.builder.declare_var(types::I64)];
        let [told, undecided] = words;
        let always: u64 = (0..properties.len()).filter(|bit| asked[group * 64 + bit]).map(|bit| 1u64 << bit).sum();
        emitter.builder.def_var(told, zero);
        let always = emitter.builder.ins().iconst(types::I64, always as i64);
        emitter.builder.def_var(undecided, always);
        for (bit, property) in properties.iter().enumerate() {
            if asked[group * 64 + bit] || property.kind == PropertyKind::Assumption {
                continue;
            }
            write_property(&mut emitter, property, bit, told, undecided).map_err(|_| group * 64 + bit)?;
        }
        let values = words.map(|word| emitter.builder.use_var(word));
        for (place, value) in values.into_iter().enumerate() {
            emitter.builder.ins().store(MemFlagsData::trusted(), value, out, (group * 16 + place * 8) as i32);
            let sum = emitter.builder.use_var(any);
            let sum = emitter.builder.ins().bor(sum, value);
            emitter.builder.def_var(any, sum);
        }
    }
    let any = emitter.builder.use_var(any);
    emitter.builder.ins().return_(&[any]);
    emitter.finish();
    Ok(())
}

fn write_property(
    emitter: &mut Emitter,
    property: &Property,
    bit: usize,
    told: cranelift_frontend::Variable,
    undecided: cranelift_frontend::Variable,
) -> Outcome<()> {
    let setting = emitter.setting;
    let nodes: usize = property.conjuncts.iter().map(|(_, expr)| setting.shape.nodes_unrolled(expr)).sum();
    if nodes > LARGEST_PROPERTY {
        return Err(Stop::Large);
    }
    emitter.fuel = Fuel::Bounded(0);
    let mut judged = None;
    if nodes <= EAGER_NODES {
        let (outer, depth) = (std::mem::replace(&mut emitter.faults, Faults::Noted(Noted::none())), emitter.activations.len());
        let result = judge(emitter, property, Metering::Off);
        let noted = std::mem::replace(&mut emitter.faults, outer);
        emitter.activations.truncate(depth);
        match (result, noted) {
            (Ok(holds), Faults::Noted(noted)) => judged = Some((holds, noted.any)),
            (Err(Stop::Branches), _) => emitter.fuel = Fuel::Bounded(0),
            (Err(stop), _) => return Err(stop),
            _ => {}
        }
    }
    let is_told = property.kind.reported_if() == Some(true);
    let mask = 1i64 << bit;
    if let Some((holds, faulted)) = judged {
        let tells = if is_told { holds } else { emitter.negated(holds) };
        let safe = emitter.negated(faulted);
        let tells = emitter.both(tells, safe);
        for (condition, word) in [(tells, told), (faulted, undecided)] {
            let old = emitter.builder.use_var(word);
            let bits = match condition {
                Condition::Known(false) => continue,
                Condition::Known(true) => emitter.builder.ins().iconst(types::I64, mask),
                Condition::Flag(flag) => {
                    let wide = emitter.builder.ins().uextend(types::I64, flag);
                    emitter.builder.ins().ishl_imm_s(wide, bit as i64)
                }
            };
            let new = emitter.builder.ins().bor(old, bits);
            emitter.builder.def_var(word, new);
        }
        return emitter.within_fuel();
    }
    let (faulted, tell, end) = (emitter.block(), emitter.block(), emitter.block());
    emitter.builder.set_cold_block(faulted);
    let outer = std::mem::replace(&mut emitter.faults, Faults::Go(faulted));
    let holds = judge(emitter, property, Metering::Off)?;
    emitter.faults = outer;
    emitter.within_fuel()?;
    let flag = emitter.flag(holds);
    if is_told {
        emitter.branch(flag, tell, end)
    } else {
        emitter.branch(flag, end, tell)
    };
    for (block, word) in [(tell, told), (faulted, undecided)] {
        emitter.enter(block);
        let old = emitter.builder.use_var(word);
        let new = emitter.builder.ins().bor_imm_s(old, mask);
        emitter.builder.def_var(word, new);
        emitter.jump(end);
    }
    emitter.enter(end);
    emitter.activations.pop();
    Ok(())
}

/// Begins a property and evaluates it; the caller pops its activation.
fn judge(emitter: &mut Emitter, property: &Property, metering: Metering) -> Outcome<Condition> {
    let conjuncts: Vec<&Expr> = property.conjuncts.iter().map(|(_, expr)| expr).collect();
    let mut calls = Vec::new();
    conjuncts.iter().for_each(|expr| shape::calls_in(expr, &mut calls));
    if emitter.environment.is_none() && !emitter.setting.shape.keeps_depth(&calls, 0, &emitter.setting.limits) {
        return Err(Stop::Large);
    }
    let leaking = shape::leaking_in(property.registers, conjuncts.iter().copied());
    if emitter.faults_are_noted() && leaking.contains(&true) {
        return Err(Stop::Branches);
    }
    if emitter.environment.is_some() {
        prepare(emitter, &calls, 0, metering);
    }
    emitter.begin(property.registers, leaking, 0)?;
    let nodes = |index: usize| shape::nodes(conjuncts[index]);
    let value = emitter.lazily(true, conjuncts.len(), nodes, |emitter, index| emitter.expression(conjuncts[index]))?;
    Ok(emitter.truth(value))
}

fn formula<'a, 'f>(builder: FunctionBuilder<'f>, setting: Setting<'a>) -> Emitter<'a, 'f> {
    let mut emitter = Emitter::new(builder, setting, Faults::Told(HashMap::new()));
    emitter.state = Area::fixed(emitter.parameter(0), setting.program.words);
    emitter.environment = Some(emitter.parameter(1));
    emitter
}

/// Sets up fuel and the limits on nested calls.
fn prepare(emitter: &mut Emitter, calls: &[u32], frame: u32, metering: Metering) {
    if metering == Metering::On {
        emitter.count_fuel();
    }
    emitter.depth = Depth::Bounded;
    if !emitter.setting.shape.keeps_depth(calls, frame, &emitter.setting.limits) {
        emitter.depth = Depth::Counted;
        if let Some(environment) = emitter.environment {
            for (offset, start) in [(offset_of!(Environment, depth), 0), (offset_of!(Environment, frame_words), i64::from(frame))] {
                let start = emitter.builder.ins().iconst(types::I64, start);
                emitter.builder.ins().store(MemFlagsData::trusted(), start, environment, offset as i32);
            }
        }
    }
}

fn set_parameters(emitter: &mut Emitter, rule: &Rule, fixed: Fixed) {
    if let Some(values) = fixed {
        for (register, value) in values.iter().enumerate() {
            emitter.set_register(Reg(register as u32), Val::constant(*value));
        }
        return;
    }
    let Some(environment) = emitter.environment else { return };
    let flags = MemFlagsData::trusted();
    let table = emitter.builder.ins().load(types::I64, flags, environment, offset_of!(Environment, parameters) as i32);
    for (register, parameter) in rule.parameters.iter().enumerate() {
        let value = emitter.builder.ins().load(types::I64, flags, table, (register * 8) as i32);
        let last = i128::from(parameter.from) + i128::from(parameter.by) * i128::from(parameter.count.max(1) - 1);
        let value = match i64::try_from(last) {
            Ok(last) => Val::within(value, parameter.from.min(last), parameter.from.max(last)),
            Err(_) => Val::any(value),
        };
        emitter.set_register(Reg(register as u32), value);
    }
}

fn give_truth(emitter: &mut Emitter, holds: Condition) {
    let flag = emitter.flag(holds);
    let wide = emitter.builder.ins().uextend(types::I64, flag);
    emitter.builder.ins().return_(&[wide]);
}
