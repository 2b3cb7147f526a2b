//! A program as a space, run by machine code.

#![allow(unsafe_code)]

use crate::emit::{Emitter, Environment, Outcome, Setting, Stop, parameters};
use crate::foundry::{Foundry, JitError, Meter};
use crate::functions;
use crate::guards::{Guards, Way};
use crate::masks::Masks;
use crate::nest::Nest;
use crate::roots::{self, Metering};
use crate::rows::Rows;
use crate::shape::{self, Shape};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use wayfarer_ir::{FunctionId, Interpreter, Limits, Program, PropertyKind, Rule};
use wayfarer_space::{Packing, Space, Word};

/// The most rules that are all compiled with their parameters fixed.
const MOST_FIXED_GUARDS: u64 = 16_384;
/// The guards of larger families are a nest of loops, if possible.
const MOST_GROUPED: u64 = 256;
/// A family's guards are compiled with fixed parameters if instances times nodes are at most this.
const MOST_FIXED_GUARD_NODES: u64 = 400_000;
/// A family's commands are compiled with fixed parameters if instances times nodes are at most this, or if a command
/// has at most [`SMALL_COMMAND`] nodes and there are at most [`MOST_SMALL_COMMANDS`].
const MOST_FIXED_COMMAND_NODES: u64 = 60_000;
const SMALL_COMMAND: u64 = 200;
const MOST_SMALL_COMMANDS: u64 = 512;
/// Families of at most this many commands compile each at its first firing.
const MOST_EAGER: u64 = 8;
/// A command of a family gets code of its own after this many firings for each node of it.
const FIRINGS_PER_NODE: u64 = 8;
/// Larger bodies are interpreted: the time to compile grows faster than their size.
const LARGEST_BODY: usize = 20_000;
const MOST_FIXED_COMMANDS: u64 = 1 << 16;
/// The most rules whose parameters are listed.
const MOST_QUICK: u32 = 1 << 18;
/// Programs of more rules than this have their guards in masks, if possible.
pub(crate) const MANY_RULES: usize = 8_192;
/// The nodes of guards that go into one function.
const NODES_PER_FUNCTION: usize = 3_000;

/// Code that is not compiled yet.
pub(crate) const NOT_YET: usize = 0;
/// Code that is interpreted.
pub(crate) const INTERPRETED: usize = 1;

pub(crate) type GuardsCode = unsafe extern "C" fn(*const Word, *mut u64) -> u64;
pub(crate) type NestCode = unsafe extern "C" fn(*const Word, *mut u32) -> u64;
pub(crate) type FormulaCode = unsafe extern "C" fn(*const Word, *mut Environment) -> i64;
pub(crate) type CommandCode = unsafe extern "C" fn(*const Word, *mut Word, *mut Environment) -> i64;

/// A program as a space, run by machine code.
pub struct Compiled {
    pub(crate) program: Arc<Program>,
    limits: Limits,
    pub(crate) packing: Packing,
    pub(crate) rules: u32,
    pub(crate) words: usize,
    shape: Shape,
    target: TargetFrontendConfig,
    pub(crate) families: Vec<Family>,
    pub(crate) starts: Vec<Family>,
    /// The commands, if all of them are rows of a table.
    pub(crate) rows: Option<Rows>,
    /// The guards of such a program, if there are very many.
    pub(crate) masks: Option<Masks>,
    pub(crate) segments: Vec<Segment>,
    /// Guards that are evaluated together.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) groups: usize,
    /// The rules of each level as bits, group by group, if there are several levels.
    pub(crate) levels: Vec<Vec<u64>>,
    /// Whether there are several levels.
    pub(crate) layered: bool,
    /// Tables read by the guards' code, which contains their addresses.
    tables: Mutex<Vec<Vec<u64>>>,
    /// The check of all properties, if there are any.
    pub(crate) check: Option<GuardsCode>,
    pub(crate) check_groups: usize,
    /// Properties one by one; 0 if they were not needed yet.
    pub(crate) properties: Box<[AtomicUsize]>,
    pub(crate) assumptions: Option<AtomicUsize>,
    /// Functions of the model that have code of their own.
    functions: Box<[AtomicUsize]>,
    /// Commands by rule, if there are not too many.
    pub(crate) quick: Vec<Quick>,
    /// The parameters of each rule in `quick`.
    pub(crate) parameters: Vec<i64>,
    /// Whether some family is a segment of its own, so that enabled rules are listed.
    pub(crate) lone: bool,
    pub(crate) covers: bool,
    pub(crate) recursive: bool,
    pub(crate) heap_words: usize,
    code_limit: usize,
    pub(crate) interpreter: Interpreter,
    foundry: Mutex<Foundry>,
}

/// A rule's command, if it needs only a state.
pub(crate) struct Quick {
    /// Its code, or [`NOT_YET`].
    pub(crate) code: AtomicUsize,
    /// Where its parameters begin.
    pub(crate) parameters: u32,
}

/// A family of rules.
pub(crate) struct Family {
    pub(crate) first: u32,
    pub(crate) instances: u64,
    /// The guards' own code: one for each instance, or one for all.
    pub(crate) guards: Codes,
    pub(crate) commands: Codes,
    /// The code of all commands, until those that fire often have code of their own.
    general: AtomicUsize,
    /// How often each command fired by that code, and after how many firings it gets its own.
    heat: Box<[AtomicU32]>,
    patience: u32,
}

/// Code for each instance, or for all together.
pub(crate) enum Codes {
    Fixed(Box<[AtomicUsize]>),
    General(AtomicUsize),
}

/// Rules in ascending order, sixty-four to a group.
pub(crate) struct Segment {
    pub(crate) first: u32,
    pub(crate) group: usize,
    pub(crate) groups: usize,
    /// The one family of a segment that has no groups; `None` if the guards are evaluated together.
    pub(crate) alone: Option<usize>,
    /// The code that lists the enabled rules of such a family; without it the guards are evaluated one by one.
    pub(crate) nest: Option<NestCode>,
    families: Range<usize>,
}

/// A function that evaluates the guards of some groups.
pub(crate) struct Chunk {
    pub(crate) code: GuardsCode,
    pub(crate) group: usize,
    /// The segment it is part of, and its groups there.
    segment: usize,
    groups: Range<usize>,
    /// The function to call if the order of conjuncts matters.
    pub(crate) ordered: AtomicUsize,
}

impl Compiled {
    /// Compiles the guards and properties of a verified program; commands follow on their first firing.
    pub fn new(program: impl Into<Arc<Program>>, limits: Limits) -> Result<Self, JitError> {
        Self::with_nests(program, limits, MOST_GROUPED)
    }

    /// The same, with the guards of families of more than `grouped` rules as nests of loops.
    pub fn with_nests(program: impl Into<Arc<Program>>, limits: Limits, grouped: u64) -> Result<Self, JitError> {
        let program = program.into();
        let shape = Shape::of(&program);
        let foundry = Foundry::new()?;
        let target = foundry.target();
        let functions = zeros(program.functions.len() * 2);
        let recursive = (0..program.functions.len()).any(|number| shape.is_recursive(FunctionId(number as u32)));
        // Frames outside the stack are together within the limit, except for that of the command itself, to which no
        // limit applies.
        let largest = program.rules.iter().chain(&program.starts).map(|rule| rule.command.frame).max().unwrap_or(0);
        let heap_words = if shape.has_far_frames(&program, largest) { limits.frame_words as usize + largest as usize } else { 0 };
        let interpreter = Interpreter::new(program.clone(), limits);
        let mut compiled = Compiled {
            packing: program.packing(),
            rules: interpreter.rules(),
            words: program.words as usize,
            families: families(&program.rules, &shape, MOST_FIXED_COMMANDS),
            // Each start state is computed once in a search: code of its own would never pay.
            starts: families(&program.starts, &shape, 1),
            rows: None,
            masks: None,
            segments: Vec::new(),
            chunks: Vec::new(),
            groups: 0,
            levels: Vec::new(),
            layered: false,
            tables: Mutex::default(),
            check: None,
            check_groups: program.properties.len().div_ceil(64),
            properties: zeros(program.properties.len()),
            assumptions: program.properties.iter().any(|property| property.kind == PropertyKind::Assumption).then(AtomicUsize::default),
            functions,
            quick: Vec::new(),
            lone: false,
            parameters: Vec::new(),
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
        compiled.rows = if compiled.is_plain() { Rows::of(&compiled.program) } else { None };
        // Masks know nothing of levels.
        if compiled.rows.is_some() && compiled.rules as usize > MANY_RULES && wayfarer_ir::levels::Levels::of(&compiled.program).is_none() {
            compiled.masks = Masks::of(&compiled.program);
        }
        compiled.list_parameters();
        if compiled.masks.is_none() {
            compiled.compile_guards(grouped)?;
        }
        compiled.list_levels();
        compiled.compile_check()?;
        Ok(compiled)
    }

    /// Interprets further commands once there is this much machine code, except those that cover properties.
    pub fn with_code_limit(mut self, bytes: usize) -> Self {
        self.code_limit = bytes;
        self
    }

    /// Sets the functions that measure the memory of compiling.
    pub fn with_meter(self, meter: Meter) -> Self {
        self.foundry().set_meter(meter);
        self
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Bytes of machine code and tables so far.
    pub fn code_bytes(&self) -> usize {
        // One lock at a time: code that compiles guards takes the tables while it holds the foundry.
        let tables: usize = self.tables.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).iter().map(|table| table.len() * 8).sum();
        tables + self.foundry().bytes() + self.masks.as_ref().map_or(0, |masks| masks.table_words() * 8)
    }

    /// The number of functions compiled so far.
    pub fn code_functions(&self) -> usize {
        self.foundry().functions()
    }

    fn foundry(&self) -> MutexGuard<'_, Foundry> {
        self.foundry.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn setting(&self) -> Setting<'_> {
        Setting { program: &self.program, shape: &self.shape, limits: self.limits, target: self.target, functions: self.functions.as_ptr() as usize }
    }

    /// Lists the parameters of all rules that may get quick code.
    fn list_parameters(&mut self) {
        if self.rules > MOST_QUICK || !self.is_plain() {
            return;
        }
        for rule in &self.program.rules {
            for member in 0..rule.instances() {
                let start = self.parameters.len();
                self.quick.push(Quick { code: AtomicUsize::new(NOT_YET), parameters: start as u32 });
                self.parameters.resize(start + rule.parameters.len(), 0);
                rule.values(member, &mut self.parameters[start..]);
            }
        }
    }

    fn compile_guards(&mut self, grouped: u64) -> Result<(), JitError> {
        let mut fixed: u64 = 0;
        let mut segments: Vec<Segment> = Vec::new();
        for (number, family) in self.families.iter().enumerate() {
            let rule = &self.program.rules[number];
            let nodes = self.shape.nodes_unrolled(&rule.guard.value) as u64;
            let nest = if family.instances > grouped { self.make_nest(number)? } else { None };
            let few = fixed + family.instances <= MOST_FIXED_GUARDS && family.instances.saturating_mul(nodes) <= MOST_FIXED_GUARD_NODES;
            let together = few && nest.is_none();
            fixed += if together { family.instances } else { 0 };
            match segments.last_mut() {
                Some(segment) if together && segment.alone.is_none() => segment.families.end += 1,
                _ => {
                    let alone = (!together).then_some(number);
                    segments.push(Segment { first: family.first, group: 0, groups: 0, alone, nest, families: number..number + 1 });
                }
            }
        }
        let (mut chunks, mut tables) = (Vec::new(), Vec::new());
        for (number, segment) in segments.iter_mut().enumerate() {
            segment.group = self.groups;
            if segment.alone.is_some() {
                continue;
            }
            let setting = self.setting();
            let mut guards = Guards::new(setting, &self.program.rules[segment.families.clone()], Way::Merged);
            segment.groups = guards.groups();
            let mut start = 0;
            while start < guards.groups() {
                let mut end = start + 1;
                let mut nodes = guards.nodes(setting, start);
                while end < guards.groups() && nodes + guards.nodes(setting, end) <= NODES_PER_FUNCTION {
                    nodes += guards.nodes(setting, end);
                    end += 1;
                }
                let address = self.make_guards(&mut self.foundry(), &mut guards, start..end, &format!("guards {number}.{start}"))?;
                // SAFETY: the function was emitted with these parameters and this result.
                let code = unsafe { std::mem::transmute::<*const u8, GuardsCode>(address) };
                chunks.push(Chunk { code, group: segment.group + start, segment: number, groups: start..end, ordered: AtomicUsize::new(NOT_YET) });
                start = end;
            }
            // Moving the vector does not move its elements.
            tables.push(std::mem::take(&mut guards.tables));
            self.groups += segment.groups;
        }
        self.chunks = chunks;
        self.tables = Mutex::new(tables);
        self.lone = segments.iter().any(|segment| segment.alone.is_some());
        self.segments = segments;
        Ok(())
    }

    /// The code that lists the enabled rules of a family, if its guards can be a nest of loops.
    fn make_nest(&self, family: usize) -> Result<Option<NestCode>, JitError> {
        let setting = self.setting();
        let Some(nest) = Nest::of(setting, &self.program.rules[family]) else { return Ok(None) };
        let made = self.foundry().make(&format!("nest {family}"), 2, 1, |builder| nest.write(Emitter::plain(builder, setting)))?;
        // SAFETY: the function was emitted with these parameters and this result.
        Ok(made.ok().map(|address| unsafe { std::mem::transmute::<*const u8, NestCode>(address) }))
    }

    fn make_guards(&self, foundry: &mut Foundry, guards: &mut Guards, groups: Range<usize>, name: &str) -> Result<*const u8, JitError> {
        loop {
            let setting = self.setting();
            match foundry.make(name, 2, 1, |builder| guards.write(Emitter::plain(builder, setting), groups.clone()))? {
                Ok(address) => return Ok(address),
                Err(unwritable) => guards.give_up(unwritable),
            }
        }
    }

    /// The function that evaluates the guards of a chunk if the order of their conjuncts matters.
    pub(crate) fn ordered_code(&self, chunk: &Chunk) -> GuardsCode {
        let address = self.code(&chunk.ordered, || {
            let mut foundry = self.foundry();
            let there = chunk.ordered.load(Ordering::Acquire);
            if there != NOT_YET {
                return there;
            }
            let segment = &self.segments[chunk.segment];
            let mut guards = Guards::new(self.setting(), &self.program.rules[segment.families.clone()], Way::Ordered);
            let name = format!("ordered guards {}.{}", chunk.segment, chunk.groups.start);
            let address =
                self.make_guards(&mut foundry, &mut guards, chunk.groups.clone(), &name).expect("guards that could be written before") as usize;
            self.tables.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(std::mem::take(&mut guards.tables));
            chunk.ordered.store(address, Ordering::Release);
            address
        });
        // SAFETY: the function was emitted with these parameters and this result.
        unsafe { std::mem::transmute::<usize, GuardsCode>(address) }
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
        // SAFETY: the function was emitted with these parameters and this result.
        self.check = Some(unsafe { std::mem::transmute::<*const u8, GuardsCode>(address) });
        Ok(())
    }

    /// The address in a cell; compiles the function if it is not there yet.
    #[inline]
    pub(crate) fn code(&self, cell: &AtomicUsize, compile: impl FnOnce() -> usize) -> usize {
        match cell.load(Ordering::Acquire) {
            NOT_YET => compile(),
            address => address,
        }
    }

    /// Compiles a function into a cell, with all its callees.
    #[cold]
    pub(crate) fn compile(&self, cell: &AtomicUsize, name: &str, words: usize, write: impl Fn(FunctionBuilder, Metering) -> Outcome<()>) -> usize {
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
        write: &dyn Fn(FunctionBuilder, Metering) -> Outcome<()>,
    ) -> Option<usize> {
        let mut metering = Metering::Off;
        loop {
            match foundry.make(name, words, results, |builder| write(builder, metering)) {
                Ok(Ok(address)) => return Some(address as usize),
                Ok(Err(Stop::Meter)) if metering == Metering::Off => metering = Metering::On,
                _ => return None,
            }
        }
    }

    /// Compiles a function of the model on its own. Returns whether that was possible.
    #[cold]
    pub(crate) fn make_function(&self, slot: usize) -> bool {
        let (function, depth) = functions::at(slot);
        let mut foundry = self.foundry();
        let cell = &self.functions[slot];
        if cell.load(Ordering::Acquire) != NOT_YET {
            return true;
        }
        let setting = self.setting();
        let words = parameters(&self.program.functions[function as usize]);
        let write = |builder: FunctionBuilder, _: Metering| roots::function(builder, setting, FunctionId(function), depth);
        let name = format!("function {function} {depth:?}");
        let made = self.make(&mut foundry, &name, words, 2, &write);
        cell.store(made.unwrap_or(NOT_YET), Ordering::Release);
        made.is_some()
    }

    /// A family and its rule.
    pub(crate) fn family(&self, starts: bool, number: usize) -> (&Family, &Rule) {
        if starts { (&self.starts[number], &self.program.starts[number]) } else { (&self.families[number], &self.program.rules[number]) }
    }

    /// Whether commands need only a state.
    pub(crate) fn is_plain(&self) -> bool {
        self.assumptions.is_none() && !self.covers && !self.recursive && self.heap_words == 0
    }

    /// The code of a command, and whether it needs the values of its parameters.
    pub(crate) fn command_code(&self, starts: bool, number: usize, member: u64) -> (usize, bool) {
        let (family, _) = self.family(starts, number);
        let own = matches!(family.commands, Codes::Fixed(_));
        // Most commands of a large family fire seldom: compiling each of them would take longer than their firings.
        if let Some(heat) = family.heat.get(member as usize)
            && heat.load(Ordering::Relaxed) < family.patience
        {
            heat.fetch_add(1, Ordering::Relaxed);
            return (self.compile_command(starts, number, &family.general, None), true);
        }
        let cell = family.commands.cell(member);
        let address = self.code(cell, || {
            let address = self.compile_command(starts, number, cell, own.then_some(member));
            if !starts && address != INTERPRETED && self.is_plain() {
                let first = family.first as usize;
                let rules = if own { first + member as usize..first + member as usize + 1 } else { first..first + family.instances as usize };
                self.quick.get(rules).into_iter().flatten().for_each(|quick| quick.code.store(address, Ordering::Release));
            }
            address
        });
        (address, !own)
    }

    /// Compiles a command into a cell, for one instance or for all.
    fn compile_command(&self, starts: bool, number: usize, cell: &AtomicUsize, instance: Option<u64>) -> usize {
        let (_, rule) = self.family(starts, number);
        self.code(cell, || {
            let too_large = self.foundry().bytes() > self.code_limit || self.shape.largest_body(&self.program, &rule.command.block) > LARGEST_BODY;
            if too_large && !starts && !self.covers {
                cell.store(INTERPRETED, Ordering::Release);
                return INTERPRETED;
            }
            let values = instance.map(|member| values(rule, member));
            let name =
                format!("{} {number}.{}", if starts { "start" } else { "command" }, instance.map_or("all".to_string(), |member| member.to_string()));
            self.compile(cell, &name, 3, |builder, metering| {
                roots::command(builder, self.setting(), rule, values.as_deref(), &self.packing, metering)
            })
        })
    }

    pub(crate) fn guard_code(&self, starts: bool, number: usize, member: u64) -> usize {
        let (family, rule) = self.family(starts, number);
        let cell = family.guards.cell(member);
        self.code(cell, || {
            let values = family.guards.values(rule, member);
            let name = format!("{} {number}.{member}", if starts { "start guard" } else { "guard" });
            self.compile(cell, &name, 2, |builder, metering| roots::guard(builder, self.setting(), rule, values.as_deref(), metering))
        })
    }
}

impl Codes {
    pub(crate) fn cell(&self, member: u64) -> &AtomicUsize {
        match self {
            Codes::Fixed(cells) => &cells[member as usize],
            Codes::General(cell) => cell,
        }
    }

    /// The parameters' values if the code is for one instance.
    fn values(&self, rule: &Rule, member: u64) -> Option<Vec<i64>> {
        match self {
            Codes::Fixed(_) => Some(values(rule, member)),
            Codes::General(_) => None,
        }
    }
}

/// The parameters' values of an instance.
fn values(rule: &Rule, member: u64) -> Vec<i64> {
    let mut values = vec![0; rule.parameters.len()];
    rule.values(member, &mut values);
    values
}

/// Instances of rules; at most `most` of them have code of their own.
fn families(rules: &[Rule], shape: &Shape, most: u64) -> Vec<Family> {
    let (mut first, mut fixed) = (0u64, 0u64);
    rules
        .iter()
        .map(|rule| {
            let instances = rule.instances().min(u64::from(u32::MAX) - first);
            let nodes = shape.nodes_with_calls(&rule.command.block);
            let small = nodes <= SMALL_COMMAND && instances <= MOST_SMALL_COMMANDS || instances.saturating_mul(nodes) <= MOST_FIXED_COMMAND_NODES;
            let codes = |fix: bool| if fix { Codes::Fixed(zeros(instances as usize)) } else { Codes::General(AtomicUsize::new(NOT_YET)) };
            let fix = fixed + instances <= most;
            fixed += if fix { instances } else { 0 };
            let heat = if fix && small && instances > MOST_EAGER { instances as usize } else { 0 };
            let family = Family {
                first: first as u32,
                instances,
                guards: codes(fix && instances <= 64),
                commands: codes(fix && small),
                general: AtomicUsize::new(NOT_YET),
                heat: (0..heat).map(|_| AtomicU32::new(0)).collect(),
                patience: nodes.saturating_mul(FIRINGS_PER_NODE).min(1 << 20) as u32,
            };
            first += instances;
            family
        })
        .collect()
}

fn zeros(count: usize) -> Box<[AtomicUsize]> {
    (0..count).map(|_| AtomicUsize::new(NOT_YET)).collect()
}
