//! A program as a space, run by machine code.

#![allow(unsafe_code)]

use crate::emit::{DISCARDED, DONE, Depth, Environment, FIRST_FAULT, NO_STACK, Outcome, Setting, Stop, parameters};
use crate::foundry::{Foundry, JitError};
use crate::functions;
use crate::guards::Guards;
use crate::roots::{self, Called, HOLDS, Metering};
use crate::shape::{self, Shape};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use wayfarer_ir::{FunctionId, Interpreter, Limits, Program, PropertyKind, Rule};
use wayfarer_space::{Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word};

/// Rules beyond this many are not all compiled with their parameters fixed.
const MOST_FIXED_GUARDS: u64 = 16_384;
/// A family's guards are fixed where instances times nodes are at most this.
const MOST_FIXED_GUARD_NODES: u64 = 400_000;
/// A family's commands are fixed where instances times nodes are at most this, or where a command has at most [`SMALL_COMMAND`] nodes.
const MOST_FIXED_COMMAND_NODES: u64 = 60_000;
const SMALL_COMMAND: u64 = 200;
const MOST_FIXED_COMMANDS: u64 = 1 << 16;
/// Nodes of guards that go into one function.
const NODES_PER_FUNCTION: usize = 3_000;

/// Code that was not compiled yet.
const NOT_YET: usize = 0;
/// Code that is left to the interpreter.
const INTERPRETED: usize = 1;

type GuardsCode = unsafe extern "C" fn(*const Word, *mut u64) -> u64;
type FormulaCode = unsafe extern "C" fn(*const Word, *mut Environment) -> i64;
type CommandCode = unsafe extern "C" fn(*const Word, *mut Word, *mut Environment) -> i64;

/// A program as a space, run by machine code.
pub struct Compiled {
    program: Arc<Program>,
    limits: Limits,
    packing: Packing,
    rules: u32,
    words: usize,
    shape: Shape,
    target: TargetFrontendConfig,
    families: Vec<Family>,
    starts: Vec<Family>,
    segments: Vec<Segment>,
    /// Guards that are decided together.
    chunks: Vec<Chunk>,
    groups: usize,
    /// Read by the guards' code, which knows where they lie.
    tables: Vec<Vec<u64>>,
    /// The judgement of all properties, if there are any.
    check: Option<GuardsCode>,
    check_groups: usize,
    /// Properties one by one; 0 where they were not needed yet.
    properties: Box<[AtomicUsize]>,
    assumptions: Option<AtomicUsize>,
    /// Functions of the model that have code of their own.
    functions: Box<[AtomicUsize]>,
    covers: bool,
    recursive: bool,
    heap_words: usize,
    code_limit: usize,
    interpreter: Interpreter,
    foundry: Mutex<Foundry>,
}

/// A family of rules.
struct Family {
    first: u32,
    instances: u64,
    /// Own code of the guards: one for each instance, or one for all.
    guards: Codes,
    commands: Codes,
}

/// Code for each instance, or for all together.
enum Codes {
    Fixed(Box<[AtomicUsize]>),
    General(AtomicUsize),
}

/// Rules in ascending order.
enum Segment {
    /// Guards decided together: the first rule, the first group, the number of groups.
    Together { first: u32, group: usize, groups: usize },
    /// Guards asked one by one.
    Alone { family: usize },
}

struct Chunk {
    code: GuardsCode,
    group: usize,
}

/// Memory that running code needs, kept between calls.
#[derive(Default)]
struct Scratch {
    /// Enabled and undecided rules, alternating.
    bits: Vec<u64>,
    covered: Vec<u64>,
    heap: Vec<u64>,
    parameters: Vec<i64>,
    state: Vec<Word>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Compiled {
    /// Compiles the guards and properties of a verified program; commands follow on their first firing.
    pub fn new(program: impl Into<Arc<Program>>, limits: Limits) -> Result<Self, JitError> {
        let program = program.into();
        let shape = Shape::of(&program);
        let foundry = Foundry::new()?;
        let target = foundry.target();
        let functions = zeros(program.functions.len() * 2);
        let recursive = (0..program.functions.len()).any(|number| shape.is_recursive(FunctionId(number as u32)));
        // Frames that lie apart are together within the limit, but for that of the command itself, which no limit holds.
        let largest = program.rules.iter().chain(&program.starts).map(|rule| rule.command.frame).max().unwrap_or(0);
        let heap_words = if shape.has_far_frames(&program, largest) { limits.frame_words as usize + largest as usize } else { 0 };
        let interpreter = Interpreter::new(program.clone(), limits);
        let mut compiled = Compiled {
            packing: program.packing(),
            rules: interpreter.rules(),
            words: program.words as usize,
            families: families(&program.rules, &shape),
            starts: families(&program.starts, &shape),
            segments: Vec::new(),
            chunks: Vec::new(),
            groups: 0,
            tables: Vec::new(),
            check: None,
            check_groups: program.properties.len().div_ceil(64),
            properties: zeros(program.properties.len()),
            assumptions: program.properties.iter().any(|property| property.kind == PropertyKind::Assumption).then(AtomicUsize::default),
            functions,
            covers: shape::has_cover(&program),
            recursive,
            heap_words,
            code_limit: usize::MAX,
            foundry: Mutex::new(foundry),
            interpreter,
            program,
            limits,
            shape,
            target,
        };
        compiled.compile_guards()?;
        compiled.compile_check()?;
        Ok(compiled)
    }

    /// Leaves commands to the interpreter once there is this much machine code, those that cover properties excepted.
    pub fn with_code_limit(mut self, bytes: usize) -> Self {
        self.code_limit = bytes;
        self
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Bytes of machine code and tables made so far.
    pub fn code_bytes(&self) -> usize {
        self.foundry().bytes() + self.tables.iter().map(|table| table.len() * 8).sum::<usize>()
    }

    /// Functions made so far.
    pub fn code_functions(&self) -> usize {
        self.foundry().functions()
    }

    /// How many words a state has.
    pub fn width_words(&self) -> usize {
        self.words
    }

    /// How many rules are enabled in a state, those included whose guard faults.
    pub fn count_enabled(&self, state: &[Word]) -> u32 {
        assert_eq!(state.len(), self.words, "a state of another width");
        self.with_scratch(|scratch| {
            let mut bits = std::mem::take(&mut scratch.bits);
            let undecided = self.decide(state, &mut bits);
            let count = if undecided == 0 && !self.has_lone_families() {
                bits[..self.groups * 2].iter().step_by(2).map(|word| word.count_ones()).sum()
            } else {
                self.enabled_slowly(state, &bits, scratch).len() as u32
            };
            scratch.bits = bits;
            count
        })
    }

    fn foundry(&self) -> MutexGuard<'_, Foundry> {
        self.foundry.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn setting(&self) -> Setting<'_> {
        Setting { program: &self.program, shape: &self.shape, limits: self.limits, target: self.target, functions: self.functions.as_ptr() as usize }
    }

    fn compile_guards(&mut self) -> Result<(), JitError> {
        let mut fixed: u64 = 0;
        let mut segments = Vec::new();
        let mut runs: Vec<Vec<&Rule>> = Vec::new();
        for (number, family) in self.families.iter().enumerate() {
            let rule = &self.program.rules[number];
            let nodes = self.shape.nodes_unrolled(&rule.guard.value) as u64;
            let together = fixed + family.instances <= MOST_FIXED_GUARDS && family.instances.saturating_mul(nodes) <= MOST_FIXED_GUARD_NODES;
            if !together {
                segments.push(Segment::Alone { family: number });
                continue;
            }
            fixed += family.instances;
            match segments.last() {
                Some(Segment::Together { .. }) => runs.last_mut().expect("a run goes with its segment").push(rule),
                _ => {
                    segments.push(Segment::Together { first: family.first, group: 0, groups: 0 });
                    runs.push(vec![rule]);
                }
            }
        }
        let mut chunks = Vec::new();
        let mut tables = Vec::new();
        let mut next_group = 0;
        let mut runs = runs.into_iter();
        for segment in &mut segments {
            let Segment::Together { group, groups, .. } = segment else { continue };
            let setting = self.setting();
            let mut guards = Guards::new(setting, &runs.next().expect("a segment has its run"));
            (*group, *groups) = (next_group, guards.groups());
            let mut start = 0;
            while start < guards.groups() {
                let mut end = start + 1;
                let mut nodes = guards.nodes(setting, start);
                while end < guards.groups() && nodes + guards.nodes(setting, end) <= NODES_PER_FUNCTION {
                    nodes += guards.nodes(setting, end);
                    end += 1;
                }
                let address = loop {
                    let name = format!("guards of {next_group}+{start}");
                    let write = |builder: FunctionBuilder| guards.write(crate::emit::Emitter::plain(builder, setting), start..end);
                    match self.foundry().make(&name, 2, 1, write)? {
                        Ok(address) => break address,
                        Err(unwritable) => guards.give_up(unwritable),
                    }
                };
                // SAFETY: the function was written with these parameters and this result.
                let code = unsafe { std::mem::transmute::<*const u8, GuardsCode>(address) };
                chunks.push(Chunk { code, group: next_group + start });
                start = end;
            }
            next_group += guards.groups();
            // Moving the vector does not move its elements.
            tables.push(std::mem::take(&mut guards.tables));
        }
        self.chunks = chunks;
        self.groups = next_group;
        self.tables = tables;
        self.segments = segments;
        Ok(())
    }

    fn compile_check(&mut self) -> Result<(), JitError> {
        if !self.program.properties.iter().any(|property| property.kind != PropertyKind::Assumption) {
            return Ok(());
        }
        let mut asked = vec![false; self.program.properties.len()];
        let address = loop {
            let setting = self.setting();
            match self.foundry().make("properties", 2, 1, |builder| roots::properties(builder, setting, &asked))? {
                Ok(address) => break address,
                Err(property) => asked[property] = true,
            }
        };
        // SAFETY: the function was written with these parameters and this result.
        self.check = Some(unsafe { std::mem::transmute::<*const u8, GuardsCode>(address) });
        Ok(())
    }

    /// The address in a cell; compiles what it stands for if it is not there yet.
    #[inline]
    fn code(&self, cell: &AtomicUsize, compile: impl FnOnce() -> usize) -> usize {
        match cell.load(Ordering::Acquire) {
            NOT_YET => compile(),
            address => address,
        }
    }

    /// Compiles a function into a cell, with all it calls.
    #[cold]
    fn compile(
        &self,
        cell: &AtomicUsize,
        name: &str,
        words: usize,
        write: impl Fn(FunctionBuilder, Metering) -> Outcome<Called>,
    ) -> usize {
        let mut foundry = self.foundry();
        let there = cell.load(Ordering::Acquire);
        if there != NOT_YET {
            return there;
        }
        let address = self.make(&mut foundry, name, words, 1, &write).unwrap_or(INTERPRETED);
        cell.store(address, Ordering::Release);
        address
    }

    fn make(
        &self,
        foundry: &mut Foundry,
        name: &str,
        words: usize,
        results: usize,
        write: &dyn Fn(FunctionBuilder, Metering) -> Outcome<Called>,
    ) -> Option<usize> {
        let mut called = Vec::new();
        let mut metering = Metering::Off;
        let address = loop {
            let made = foundry.make(name, words, results, |builder| {
                called = write(builder, metering)?;
                Ok(())
            });
            match made {
                Ok(Ok(address)) => break address as usize,
                Ok(Err(Stop::Meter)) if metering == Metering::Off => metering = Metering::On,
                _ => return None,
            }
        };
        for (function, depth) in called {
            self.make_function(foundry, function, depth)?;
        }
        Some(address)
    }

    /// Gives a function of the model code of its own.
    fn make_function(&self, foundry: &mut Foundry, function: u32, depth: Depth) -> Option<()> {
        let cell = &self.functions[functions::slot(function, depth)];
        if cell.load(Ordering::Acquire) != NOT_YET {
            return Some(());
        }
        // Marked before it is made, because it may call itself; nothing runs until all is there.
        cell.store(INTERPRETED, Ordering::Release);
        let setting = self.setting();
        let words = parameters(&self.program.functions[function as usize]);
        let write = |builder: FunctionBuilder, _: Metering| roots::function(builder, setting, FunctionId(function), depth);
        let name = format!("function {function} {depth:?}");
        let address = self.make(foundry, &name, words, 2, &write)?;
        cell.store(address, Ordering::Release);
        Some(())
    }

    fn command_code(&self, starts: bool, number: usize, member: u64) -> usize {
        let family = if starts { &self.starts[number] } else { &self.families[number] };
        let cell = family.commands.cell(member);
        self.code(cell, || {
            let rule = if starts { &self.program.starts[number] } else { &self.program.rules[number] };
            if self.foundry().bytes() > self.code_limit && !starts && !self.covers {
                cell.store(INTERPRETED, Ordering::Release);
                return INTERPRETED;
            }
            let values = family.commands.values(rule, member);
            let name = format!("{} {number}.{member}", if starts { "start" } else { "command" });
            self.compile(cell, &name, 3, |builder, metering| {
                roots::command(builder, self.setting(), rule, values.as_deref(), &self.packing, metering)
            })
        })
    }

    fn guard_code(&self, starts: bool, number: usize, member: u64) -> usize {
        let family = if starts { &self.starts[number] } else { &self.families[number] };
        let cell = family.guards.cell(member);
        self.code(cell, || {
            let rule = if starts { &self.program.starts[number] } else { &self.program.rules[number] };
            let values = family.guards.values(rule, member);
            let name = format!("{} {number}.{member}", if starts { "start guard" } else { "guard" });
            self.compile(cell, &name, 2, |builder, metering| roots::guard(builder, self.setting(), rule, values.as_deref(), metering))
        })
    }

    fn with_scratch<T>(&self, act: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        if scratch.bits.len() < self.groups.max(self.check_groups) * 2 {
            scratch.bits.resize(self.groups.max(self.check_groups) * 2, 0);
        }
        if scratch.covered.len() < self.check_groups {
            scratch.covered.resize(self.check_groups, 0);
        }
        if scratch.heap.len() < self.heap_words {
            // From zeroed pages, of which only those in use cost anything.
            scratch.heap = vec![0; self.heap_words];
        }
        let result = act(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }

    /// Runs code that takes an environment.
    #[inline]
    fn run(&self, scratch: &mut Scratch, rule: Option<(&Rule, u64)>, call: impl Fn(*mut Environment) -> i64) -> i64 {
        if let Some((rule, member)) = rule {
            scratch.parameters.resize(rule.parameters.len(), 0);
            rule.values(member, &mut scratch.parameters);
        }
        let mut environment = Environment {
            fuel: 0,
            parameters: scratch.parameters.as_ptr(),
            covered: scratch.covered.as_mut_ptr(),
            depth: 0,
            frame_words: 0,
            stack_end: 0,
            heap: scratch.heap.as_mut_ptr(),
        };
        if !self.recursive {
            return call(&mut environment);
        }
        self.run_recursive(&mut environment, call)
    }

    /// As [`run`](Self::run), where the stack must be watched: with more of it as long as it was not enough.
    #[cold]
    fn run_recursive(&self, environment: &mut Environment, call: impl Fn(*mut Environment) -> i64) -> i64 {
        const SPARE: usize = 256 << 10;
        const LARGEST: usize = 1 << 34;
        let heap = environment.heap;
        let mut attempt = || {
            let marker = 0u8;
            let here = (&raw const marker) as usize;
            let left = stacker::remaining_stack().unwrap_or(SPARE).min(here);
            environment.stack_end = (here - left + SPARE) as u64;
            environment.heap = heap;
            call(environment)
        };
        let mut status = attempt();
        let mut size = 8 << 20;
        while status == NO_STACK && size < LARGEST {
            status = stacker::grow(size, &mut attempt);
            size *= 4;
        }
        status
    }

    /// Evaluates a guard by its own code.
    fn ask(&self, starts: bool, number: usize, member: u64, state: &[Word], scratch: &mut Scratch) -> Result<bool, Fault> {
        let address = self.guard_code(starts, number, member);
        let (family, rule) = if starts { (&self.starts[number], &self.program.starts[number]) } else { (&self.families[number], &self.program.rules[number]) };
        let general = matches!(family.guards, Codes::General(_)).then_some((rule, member));
        // SAFETY: the address was made with these parameters, and the state has the program's width.
        let status = self.run(scratch, general, |environment| unsafe {
            std::mem::transmute::<usize, FormulaCode>(address)(state.as_ptr(), environment)
        });
        if status >= FIRST_FAULT { Err(Fault((status - FIRST_FAULT) as u32)) } else { Ok(status == HOLDS) }
    }

    /// Runs a command and judges the assumptions. Where the answer is `To`, the state was written to `out`.
    fn fire_command(&self, starts: bool, number: usize, member: u64, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        let address = self.command_code(starts, number, member);
        let (family, rule) =
            if starts { (&self.starts[number], &self.program.starts[number]) } else { (&self.families[number], &self.program.rules[number]) };
        if address == INTERPRETED {
            return self.interpret(starts, family.first + member as u32, state, out, scratch);
        }
        let general = matches!(family.commands, Codes::General(_)).then_some((rule, member));
        let target = out.as_mut_ptr();
        // SAFETY: the address was made with these parameters, and both states have the program's width.
        let status = self.run(scratch, general, |environment| unsafe {
            std::mem::transmute::<usize, CommandCode>(address)(state.as_ptr(), target, environment)
        });
        match status {
            DONE => self.judge_assumptions(out, scratch),
            DISCARDED => Fired::Discarded,
            fault => Fired::Fault(Fault((fault - FIRST_FAULT) as u32)),
        }
    }

    #[cold]
    fn interpret(&self, starts: bool, number: u32, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        let mut result = std::mem::take(&mut scratch.state);
        let fired = if starts {
            self.interpreter.start_printing(number, &mut result, &mut Vec::new())
        } else {
            self.interpreter.fire(state, Firing::of(number), &mut result)
        };
        if fired == Fired::To {
            out.copy_from_slice(&result);
        }
        scratch.state = result;
        fired
    }

    fn judge_assumptions(&self, state: &[Word], scratch: &mut Scratch) -> Fired {
        let Some(cell) = &self.assumptions else { return Fired::To };
        let address = self.code(cell, || {
            self.compile(cell, "assumptions", 2, |builder, metering| roots::assumptions(builder, self.setting(), metering))
        });
        // SAFETY: the address was made with these parameters, and the state has the program's width.
        let status = self.run(scratch, None, |environment| unsafe {
            std::mem::transmute::<usize, FormulaCode>(address)(state.as_ptr(), environment)
        });
        match status {
            DONE => Fired::To,
            DISCARDED => Fired::Discarded,
            fault => Fired::Fault(Fault((fault - FIRST_FAULT) as u32)),
        }
    }

    /// Judges one property by its own code.
    fn ask_property(&self, property: usize, state: &[Word], scratch: &mut Scratch) -> Result<bool, Fault> {
        let cell = &self.properties[property];
        let address = self.code(cell, || {
            let name = format!("property {property}");
            self.compile(cell, &name, 2, |builder, metering| {
                roots::property(builder, self.setting(), &self.program.properties[property], metering)
            })
        });
        // SAFETY: the address was made with these parameters, and the state has the program's width.
        let status = self.run(scratch, None, |environment| unsafe {
            std::mem::transmute::<usize, FormulaCode>(address)(state.as_ptr(), environment)
        });
        if status >= FIRST_FAULT { Err(Fault((status - FIRST_FAULT) as u32)) } else { Ok(status == HOLDS) }
    }

    /// Decides the guards of all rules that are decided together.
    #[inline]
    fn decide(&self, state: &[Word], bits: &mut [u64]) -> u64 {
        let mut undecided = 0;
        for chunk in &self.chunks {
            // SAFETY: the code was made with these parameters; the state has the program's width and the bits have room for all groups.
            undecided |= unsafe { (chunk.code)(state.as_ptr(), bits[chunk.group * 2..].as_mut_ptr()) };
        }
        undecided
    }

    /// The family of a rule and its number in it.
    fn member(families: &[Family], rule: u32) -> Option<(usize, u64)> {
        let number = families.partition_point(|family| family.first <= rule).checked_sub(1)?;
        // Of families without members that begin at the same rule, the last found is the one that has it.
        let member = u64::from(rule - families[number].first);
        (member < families[number].instances).then_some((number, member))
    }

    /// Fires a rule whose guard is true into the columns of steps.
    fn fire_into(&self, starts: bool, number: usize, member: u64, source: u32, state: &[Word], steps: &mut Steps, scratch: &mut Scratch) {
        let family = if starts { &self.starts[number] } else { &self.families[number] };
        let firing = Firing::of(family.first + member as u32);
        let out = steps.states.push_dirty(self.words);
        let fired = self.fire_command(starts, number, member, state, out, scratch);
        match fired {
            Fired::To => steps.describe_last(source, firing, state),
            Fired::Fault(fault) => {
                steps.states.pop();
                steps.faults.push(FaultStep { source, firing, fault });
            }
            Fired::Discarded => {
                steps.states.pop();
                steps.discarded += 1;
            }
            Fired::Disabled => steps.states.pop(),
        }
        if self.covers {
            for (index, word) in scratch.covered.iter_mut().enumerate() {
                let covered = std::mem::take(word);
                if fired != Fired::Discarded {
                    (0..64).filter(|bit| covered >> bit & 1 == 1).for_each(|bit| steps.reached.insert(index as u32 * 64 + bit));
                }
            }
        }
    }

    /// Tries a rule whose guard is yet to be asked; whether it was enabled.
    fn try_into(&self, starts: bool, number: usize, member: u64, source: u32, state: &[Word], steps: &mut Steps, scratch: &mut Scratch) -> bool {
        match self.ask(starts, number, member, state, scratch) {
            Ok(true) => self.fire_into(starts, number, member, source, state, steps, scratch),
            Ok(false) => return false,
            Err(fault) => {
                let family = if starts { &self.starts[number] } else { &self.families[number] };
                steps.faults.push(FaultStep { source, firing: Firing::of(family.first + member as u32), fault });
            }
        }
        true
    }

    fn expand_one(&self, source: u32, state: &[Word], first_rule: u64, steps: &mut Steps, scratch: &mut Scratch) -> u32 {
        let mut enabled = 0;
        let mut bits = std::mem::take(&mut scratch.bits);
        self.decide(state, &mut bits);
        for segment in &self.segments {
            match segment {
                Segment::Together { first, group, groups } => {
                    for index in 0..*groups {
                        let (decided, undecided) = (bits[(group + index) * 2], bits[(group + index) * 2 + 1]);
                        let base = u64::from(*first) + index as u64 * 64;
                        let mut open = decided | undecided;
                        if first_rule > base {
                            open &= u64::MAX.checked_shl((first_rule - base) as u32).unwrap_or(0);
                        }
                        while open != 0 {
                            let bit = open.trailing_zeros();
                            open &= open - 1;
                            let rule = base as u32 + bit;
                            let Some((number, member)) = Self::member(&self.families, rule) else { continue };
                            if undecided >> bit & 1 == 1 {
                                enabled += u32::from(self.try_into(false, number, member, source, state, steps, scratch));
                            } else {
                                enabled += 1;
                                self.fire_into(false, number, member, source, state, steps, scratch);
                            }
                        }
                    }
                }
                Segment::Alone { family: number } => {
                    let family = &self.families[*number];
                    for member in first_rule.saturating_sub(u64::from(family.first))..family.instances {
                        enabled += u32::from(self.try_into(false, *number, member, source, state, steps, scratch));
                    }
                }
            }
        }
        scratch.bits = bits;
        enabled
    }
}

impl Codes {
    fn cell(&self, member: u64) -> &AtomicUsize {
        match self {
            Codes::Fixed(cells) => &cells[member as usize],
            Codes::General(cell) => cell,
        }
    }

    /// The parameters' values where the code is for one instance.
    fn values(&self, rule: &Rule, member: u64) -> Option<Vec<i64>> {
        match self {
            Codes::Fixed(_) => {
                let mut values = vec![0; rule.parameters.len()];
                rule.values(member, &mut values);
                Some(values)
            }
            Codes::General(_) => None,
        }
    }
}

fn families(rules: &[Rule], shape: &Shape) -> Vec<Family> {
    let (mut first, mut fixed) = (0u64, 0u64);
    rules
        .iter()
        .map(|rule| {
            let instances = rule.instances().min(u64::from(u32::MAX) - first);
            let nodes = shape.nodes_with_calls(&rule.command.block);
            let small = nodes <= SMALL_COMMAND || instances.saturating_mul(nodes) <= MOST_FIXED_COMMAND_NODES;
            let codes = |fix: bool| if fix { Codes::Fixed(zeros(instances as usize)) } else { Codes::General(AtomicUsize::new(NOT_YET)) };
            let fix = fixed + instances <= MOST_FIXED_COMMANDS;
            fixed += if fix { instances } else { 0 };
            let family = Family { first: first as u32, instances, guards: codes(fix && instances <= 64), commands: codes(fix && small) };
            first += instances;
            family
        })
        .collect()
}

fn zeros(count: usize) -> Box<[AtomicUsize]> {
    (0..count).map(|_| AtomicUsize::new(NOT_YET)).collect()
}

impl Space for Compiled {
    fn width(&self) -> Width {
        Width::Fixed(self.words)
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.rules
    }

    fn properties(&self) -> u32 {
        self.program.properties.len() as u32
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        steps.clear();
        let zero = vec![0; self.words];
        self.with_scratch(|scratch| {
            for (number, family) in self.starts.iter().enumerate() {
                for member in 0..family.instances {
                    self.try_into(true, number, member, 0, &zero, steps, scratch);
                }
            }
        });
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        let first = u64::from(from.rule) + u64::from(from.outcome > 0);
        self.with_scratch(|scratch| {
            for (source, state) in batch.iter().enumerate() {
                assert_eq!(state.len(), self.words, "a state of another width");
                let enabled = self.expand_one(source as u32, state, first, steps, scratch);
                steps.enabled.push(enabled);
            }
        });
        Completeness::All
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        assert_eq!(state.len(), self.words, "a state of another width");
        self.with_scratch(|scratch| {
            let (rule, fault) = self.draw(state, rng, scratch)?;
            let firing = Firing::of(rule);
            if let Some(fault) = fault {
                return Some((firing, Fired::Fault(fault)));
            }
            let (number, member) = Self::member(&self.families, rule)?;
            out.resize(self.words, 0);
            let fired = self.fire_command(false, number, member, state, out, scratch);
            scratch.covered.fill(0);
            Some((firing, fired))
        })
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        assert_eq!(state.len(), self.words, "a state of another width");
        let Some((number, member)) = Self::member(&self.families, firing.rule).filter(|_| firing.outcome == 0) else { return Fired::Disabled };
        self.with_scratch(|scratch| match self.ask(false, number, member, state, scratch) {
            Ok(true) => {
                let mut next = vec![0; self.words];
                let fired = self.fire_command(false, number, member, state, &mut next, scratch);
                scratch.covered.fill(0);
                if fired == Fired::To {
                    *out = next;
                }
                fired
            }
            Ok(false) => Fired::Disabled,
            Err(fault) => Fired::Fault(fault),
        })
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
        assert_eq!(state.len(), self.words, "a state of another width");
        let Some(code) = self.check else { return Ok(()) };
        self.with_scratch(|scratch| {
            // SAFETY: the code was made with these parameters; the state has the program's width and the bits have room for all groups.
            if unsafe { code(state.as_ptr(), scratch.bits.as_mut_ptr()) } == 0 {
                return Ok(());
            }
            self.tell(state, bits, scratch)
        })
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.program.properties.get(property as usize).is_some_and(|property| property.kind == PropertyKind::Reachable)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.program.faults.get(fault.0 as usize).map_or(FaultClass::Unsupported, |site| site.class)
    }
}

impl Compiled {
    /// Tells what is wrong with a state of which the quick judgement said that something is.
    #[cold]
    fn tell(&self, state: &[Word], bits: &mut PropertyBits, scratch: &mut Scratch) -> Result<(), (u32, Fault)> {
        let mut result = Ok(());
        for group in 0..self.check_groups {
            let (told, undecided) = (scratch.bits[group * 2], scratch.bits[group * 2 + 1]);
            for bit in (0..64).filter(|bit| (told | undecided) >> bit & 1 == 1) {
                let number = group * 64 + bit;
                if told >> bit & 1 == 1 {
                    bits.insert(number as u32);
                    continue;
                }
                let mut copy = Scratch::default();
                std::mem::swap(&mut copy.bits, &mut scratch.bits);
                match self.ask_property(number, state, scratch) {
                    Ok(holds) if holds == self.asks_to_reach(number as u32) => bits.insert(number as u32),
                    Ok(_) => {}
                    Err(fault) => result = result.and(Err((number as u32, fault))),
                }
                std::mem::swap(&mut copy.bits, &mut scratch.bits);
            }
        }
        result
    }

    /// Draws one of the enabled rules; with the fault where its guard is one.
    fn draw(&self, state: &[Word], rng: &mut Rng, scratch: &mut Scratch) -> Option<(u32, Option<Fault>)> {
        let mut bits = std::mem::take(&mut scratch.bits);
        let undecided = self.decide(state, &mut bits);
        let drawn = if undecided == 0 && !self.has_lone_families() { self.draw_decided(&bits, rng) } else { self.draw_slowly(state, &bits, rng, scratch) };
        scratch.bits = bits;
        drawn
    }

    fn has_lone_families(&self) -> bool {
        self.segments.iter().any(|segment| matches!(segment, Segment::Alone { .. }))
    }

    fn draw_decided(&self, bits: &[u64], rng: &mut Rng) -> Option<(u32, Option<Fault>)> {
        let count: u32 = bits[..self.groups * 2].iter().step_by(2).map(|word| word.count_ones()).sum();
        if count == 0 {
            return None;
        }
        let mut rank = rng.below(u64::from(count)) as u32;
        for segment in &self.segments {
            let Segment::Together { first, group, groups } = segment else { continue };
            for index in 0..*groups {
                let mut word = bits[(group + index) * 2];
                let here = word.count_ones();
                if rank >= here {
                    rank -= here;
                    continue;
                }
                for _ in 0..rank {
                    word &= word - 1;
                }
                return Some((first + index as u32 * 64 + word.trailing_zeros(), None));
            }
        }
        None
    }

    /// As [`draw_decided`](Self::draw_decided), where guards must be asked.
    #[cold]
    fn draw_slowly(&self, state: &[Word], bits: &[u64], rng: &mut Rng, scratch: &mut Scratch) -> Option<(u32, Option<Fault>)> {
        let enabled = self.enabled_slowly(state, bits, scratch);
        (!enabled.is_empty()).then(|| enabled[rng.below(enabled.len() as u64) as usize])
    }

    /// All enabled rules, with the fault where a guard is one, after the decided guards.
    fn enabled_slowly(&self, state: &[Word], bits: &[u64], scratch: &mut Scratch) -> Vec<(u32, Option<Fault>)> {
        let mut enabled: Vec<(u32, Option<Fault>)> = Vec::new();
        let mut ask = |number: usize, member: u64, enabled: &mut Vec<(u32, Option<Fault>)>| {
            let rule = self.families[number].first + member as u32;
            match self.ask(false, number, member, state, scratch) {
                Ok(true) => enabled.push((rule, None)),
                Ok(false) => {}
                Err(fault) => enabled.push((rule, Some(fault))),
            }
        };
        for segment in &self.segments {
            match segment {
                Segment::Together { first, group, groups } => {
                    for index in 0..*groups {
                        let (decided, undecided) = (bits[(group + index) * 2], bits[(group + index) * 2 + 1]);
                        for bit in (0..64).filter(|bit| (decided | undecided) >> bit & 1 == 1) {
                            let rule = first + index as u32 * 64 + bit;
                            match Self::member(&self.families, rule) {
                                Some((number, member)) if undecided >> bit & 1 == 1 => ask(number, member, &mut enabled),
                                _ => enabled.push((rule, None)),
                            }
                        }
                    }
                }
                Segment::Alone { family } => (0..self.families[*family].instances).for_each(|member| ask(*family, member, &mut enabled)),
            }
        }
        enabled
    }
}
