//! A program as a space, run by machine code.

#![allow(unsafe_code)]

use crate::check::Check;
use crate::commands::{Family, Quick, families};
use crate::emit::{Emitter, Environment, Outcome, Setting, Stop};
use crate::fire::LARGE_COMMAND;
use crate::foundry::{Code, Effort, Foundry, JitError, Meter};
use crate::guards::{Guards, NOT_FINE, Way};
use crate::key::key;
use crate::masks::Masks;
use crate::nest::Nest;
use crate::roots::Metering;
use crate::rows::Rows;
use crate::shape::{self, Shape};
use crate::sleep::Sleepers;
use crate::touched::Blocks;
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use wayfarer_ir::{FunctionId, Interpreter, Limits, Program, PropertyKind, Rule};
use wayfarer_kept::Folder;
use wayfarer_space::{Packing, Space, Word};

/// The most rules that are all compiled with their parameters fixed.
const MOST_FIXED_GUARDS: u64 = 16_384;
/// The guards of larger families are a nest of loops, if possible.
const MOST_GROUPED: u64 = 256;
/// A family's guards are compiled with fixed parameters if instances times nodes are at most this.
const MOST_FIXED_GUARD_NODES: u64 = 400_000;
const MOST_FIXED_COMMANDS: u64 = 1 << 16;
/// The most rules whose parameters are listed.
const MOST_QUICK: u32 = 1 << 18;
/// Programs of more rules than this have their guards in masks, if possible.
pub(crate) const MANY_RULES: usize = 8_192;
/// Guards and properties of more nodes are compiled with little effort: more would not pay on short runs.
const SMALL_CODE: usize = 4_000;
/// The nodes of guards that go into one function.
const NODES_PER_FUNCTION: usize = 3_000;

/// Code that is not compiled yet.
pub(crate) const NOT_YET: usize = 0;
/// Code that is interpreted.
pub(crate) const INTERPRETED: usize = 1;

pub(crate) type GuardsCode = unsafe extern "C" fn(*const Word, *mut u64, *const u64) -> u64;
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
    pub(crate) shape: Shape,
    target: TargetFrontendConfig,
    /// The file in which its code is kept.
    place: Option<(Folder, String)>,
    pub(crate) families: Vec<Family>,
    pub(crate) starts: Vec<Family>,
    /// The commands, if all of them are rows of a table.
    pub(crate) rows: Option<Rows>,
    /// The guards of such a program, if there are very many.
    pub(crate) masks: Option<Masks>,
    pub(crate) segments: Vec<Segment>,
    /// The first rule of each group.
    pub(crate) firsts: Vec<u32>,
    /// For each group, that none of its rules sleeps.
    pub(crate) awake: Vec<u64>,
    /// The rules that need not be fired in a state, by the rule that it was reached by.
    pub(crate) sleepers: Sleepers,
    /// The nodes of the commands of all rules, those of calls included.
    pub(crate) command_nodes: u64,
    /// Whether commands are so large that rules fire together.
    pub(crate) large_commands: bool,
    /// Guards that are evaluated together.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) groups: usize,
    /// The rules of each level as bits, group by group, if there are several levels.
    pub(crate) levels: Vec<Vec<u64>>,
    /// Whether there are several levels.
    pub(crate) layered: bool,
    /// The words that each family's commands may change, once that was asked for.
    pub(crate) writes: OnceLock<Vec<Blocks>>,
    /// The words that commands may change, by the address of their code.
    touched: Mutex<HashMap<usize, Blocks>>,
    /// Words of the tables that the guards' code reads.
    table_words: AtomicUsize,
    /// The check of all properties, if there are any.
    pub(crate) check: Option<Check>,
    pub(crate) check_groups: usize,
    /// Properties one by one; 0 if they were not needed yet.
    pub(crate) properties: Box<[AtomicUsize]>,
    pub(crate) assumptions: Option<AtomicUsize>,
    /// Functions of the model that have code of their own.
    pub(crate) functions: Box<[AtomicUsize]>,
    /// Commands by rule, if there are not too many.
    pub(crate) quick: Vec<Quick>,
    /// The parameters of each rule in `quick`.
    pub(crate) parameters: Vec<i64>,
    /// Whether some family is a segment of its own, so that enabled rules are listed.
    pub(crate) lone: bool,
    pub(crate) covers: bool,
    pub(crate) recursive: bool,
    pub(crate) heap_words: usize,
    pub(crate) code_limit: usize,
    pub(crate) interpreter: Interpreter,
    foundry: Mutex<Foundry>,
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
    code: GuardsCode,
    tables: Arc<[u64]>,
    pub(crate) group: usize,
    /// The segment it is part of, and its groups there.
    segment: usize,
    groups: Range<usize>,
    /// The function to call if the order of conjuncts matters, and its tables.
    ordered: OnceLock<(GuardsCode, Arc<[u64]>)>,
}

impl Compiled {
    /// Compiles the guards and properties of a verified program; commands follow on their first firing.
    pub fn new(program: impl Into<Arc<Program>>, limits: Limits) -> Result<Self, JitError> {
        Self::with_nests(program, limits, MOST_GROUPED)
    }

    /// The same, with the code that an earlier run kept in this folder. When it is dropped, it keeps what it compiled.
    pub fn with_kept(program: impl Into<Arc<Program>>, limits: Limits, folder: Folder) -> Result<Self, JitError> {
        let program = program.into();
        let place = key(&program, limits).map(|name| (folder, name));
        Self::build(program, limits, MOST_GROUPED, place)
    }

    /// The same, with the guards of families of more than `grouped` rules as nests of loops.
    pub fn with_nests(program: impl Into<Arc<Program>>, limits: Limits, grouped: u64) -> Result<Self, JitError> {
        Self::build(program.into(), limits, grouped, None)
    }

    fn build(program: Arc<Program>, limits: Limits, grouped: u64, place: Option<(Folder, String)>) -> Result<Self, JitError> {
        let shape = Shape::of(&program);
        let functions = zeros(program.functions.len() * 2);
        let mut foundry = Foundry::new(&functions)?;
        if let Some(code) = place.as_ref().and_then(|(folder, name)| folder.look_up(name)) {
            foundry.use_kept(code);
        }
        let target = foundry.target();
        let recursive = (0..program.functions.len()).any(|number| shape.is_recursive(FunctionId(number as u32)));
        // Frames outside the stack are together within the limit, except for that of the command itself, to which no
        // limit applies.
        let largest = program.rules.iter().chain(&program.starts).map(|rule| rule.command.frame).max().unwrap_or(0);
        let heap_words = if shape.has_far_frames(&program, largest) { limits.frame_words as usize + largest as usize } else { 0 };
        let nodes = program.rules.iter().map(|rule| rule.instances().saturating_mul(shape.nodes_with_calls(&rule.command.block)));
        let nodes = nodes.fold(0, u64::saturating_add);
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
            firsts: Vec::new(),
            awake: Vec::new(),
            sleepers: Sleepers::default(),
            command_nodes: nodes,
            large_commands: nodes >= LARGE_COMMAND.saturating_mul(u64::from(interpreter.rules())),
            chunks: Vec::new(),
            groups: 0,
            levels: Vec::new(),
            layered: false,
            writes: OnceLock::new(),
            touched: Mutex::default(),
            table_words: AtomicUsize::new(0),
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
            place,
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
        compiled.check = compiled.make_check()?;
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
        let tables = self.table_words.load(Ordering::Relaxed) + self.masks.as_ref().map_or(0, Masks::table_words);
        tables * 8 + self.foundry().bytes()
    }

    /// The number of functions compiled so far.
    pub fn code_functions(&self) -> usize {
        self.foundry().functions()
    }

    pub(crate) fn foundry(&self) -> MutexGuard<'_, Foundry> {
        self.foundry.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The foundry, unless another thread is compiling: there is always another way to run, by earlier code or by the interpreter, except for commands
    /// that cover properties.
    pub(crate) fn idle_foundry(&self) -> Option<MutexGuard<'_, Foundry>> {
        match self.foundry.try_lock() {
            Ok(foundry) => Some(foundry),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => self.covers.then(|| self.foundry()),
        }
    }

    /// Whether no further commands are compiled; `None` if another thread is compiling.
    pub(crate) fn code_is_full(&self) -> Option<bool> {
        Some(self.idle_foundry()?.bytes() > self.code_limit)
    }

    /// The words that commands may change, by the address of their code.
    pub(crate) fn touched(&self) -> MutexGuard<'_, HashMap<usize, Blocks>> {
        self.touched.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn setting(&self) -> Setting<'_> {
        Setting { program: &self.program, shape: &self.shape, limits: self.limits, target: self.target }
    }

    /// Lists the parameters of all rules that may get quick code.
    fn list_parameters(&mut self) {
        if self.rules > MOST_QUICK || !self.is_plain() {
            return;
        }
        for rule in &self.program.rules {
            for member in 0..rule.instances() {
                let start = self.parameters.len();
                self.quick.push(Quick::new(start));
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
        let mut chunks = Vec::new();
        for (number, segment) in segments.iter_mut().enumerate() {
            segment.group = self.groups;
            if segment.alone.is_some() {
                continue;
            }
            let setting = self.setting();
            let mut guards = Guards::new(setting, &self.program.rules[segment.families.clone()], Way::Merged, 0..usize::MAX);
            segment.groups = guards.groups();
            let tables = self.count(std::mem::take(&mut guards.tables));
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
                let (group, tables) = (segment.group + start, tables.clone());
                chunks.push(Chunk { code, tables, group, segment: number, groups: start..end, ordered: OnceLock::new() });
                start = end;
            }
            self.groups += segment.groups;
            self.firsts.extend((segment.first..).step_by(64).take(segment.groups));
        }
        self.awake = vec![0; self.groups];
        self.chunks = chunks;
        self.lone = segments.iter().any(|segment| segment.alone.is_some());
        self.segments = segments;
        Ok(())
    }

    /// Tables that guards will read.
    fn count(&self, tables: Vec<u64>) -> Arc<[u64]> {
        self.table_words.fetch_add(tables.len(), Ordering::Relaxed);
        tables.into()
    }

    /// The code that lists the enabled rules of a family, if its guards can be a nest of loops.
    fn make_nest(&self, family: usize) -> Result<Option<NestCode>, JitError> {
        let setting = self.setting();
        let Some(nest) = Nest::of(setting, &self.program.rules[family]) else { return Ok(None) };
        let write = |builder: FunctionBuilder| nest.write(Emitter::plain(builder, setting)).map(|()| 0);
        let made = self.foundry().make(&format!("nest {family}"), (2, 1), Effort::Much, write)?;
        // SAFETY: the function was emitted with these parameters and this result.
        Ok(made.ok().map(|code| unsafe { std::mem::transmute::<*const u8, NestCode>(code.address) }))
    }

    fn make_guards(&self, foundry: &mut Foundry, guards: &mut Guards, groups: Range<usize>, name: &str) -> Result<*const u8, JitError> {
        // Values shared between guards that are evaluated in their order live long: more effort makes this code slower.
        let effort = match guards.way {
            Way::Merged => effort_for(groups.clone().map(|group| guards.nodes(self.setting(), group)).sum()),
            Way::Ordered => Effort::Little,
        };
        loop {
            let setting = self.setting();
            let write = |builder: FunctionBuilder| guards.write(Emitter::plain(builder, setting), groups.clone()).map(|()| 0);
            match foundry.make(name, (3, 1), effort, write)? {
                Ok(code) => return Ok(code.address),
                Err(unwritable) => guards.give_up(unwritable),
            }
        }
    }

    /// Evaluates the guards of a chunk. Returns whether any is undecided.
    ///
    /// # Safety
    /// The state must have the program's width, and there must be room for two words for each group of the chunk.
    #[inline(always)]
    pub(crate) unsafe fn decide_chunk(&self, chunk: &Chunk, state: *const Word, bits: *mut u64) -> u64 {
        // SAFETY: the code was emitted with these parameters for these tables; the rest is guaranteed by the caller.
        let undecided = unsafe { (chunk.code)(state, bits, chunk.tables.as_ptr()) };
        if undecided != NOT_FINE {
            return undecided;
        }
        let (code, tables) = self.ordered(chunk);
        // SAFETY: as above.
        unsafe { code(state, bits, tables.as_ptr()) }
    }

    /// The function that evaluates the guards of a chunk if the order of their conjuncts matters.
    #[cold]
    fn ordered<'c>(&self, chunk: &'c Chunk) -> &'c (GuardsCode, Arc<[u64]>) {
        chunk.ordered.get_or_init(|| {
            let segment = &self.segments[chunk.segment];
            let mut guards = Guards::new(self.setting(), &self.program.rules[segment.families.clone()], Way::Ordered, chunk.groups.clone());
            let tables = self.count(std::mem::take(&mut guards.tables));
            let name = format!("ordered guards {}.{}", chunk.segment, chunk.groups.start);
            let made = self.make_guards(&mut self.foundry(), &mut guards, chunk.groups.clone(), &name);
            let address = made.expect("guards that could be written before");
            // SAFETY: the function was emitted with these parameters and this result.
            (unsafe { std::mem::transmute::<*const u8, GuardsCode>(address) }, tables)
        })
    }

    /// The address in a cell; compiles the function if it is not there yet.
    #[inline]
    pub(crate) fn code(&self, cell: &AtomicUsize, compile: impl FnOnce() -> usize) -> usize {
        match cell.load(Ordering::Acquire) {
            NOT_YET => compile(),
            address => address,
        }
    }

    /// Compiles a function into a cell, with all its callees, and hands over what was noted about it. The address is [`NOT_YET`] if another thread is
    /// compiling.
    #[cold]
    pub(crate) fn compile(
        &self,
        cell: &AtomicUsize,
        name: &str,
        words: usize,
        effort: Effort,
        write: impl Fn(FunctionBuilder, Metering) -> Outcome<u64>,
        note: impl FnOnce(usize, u64),
    ) -> usize {
        let Some(mut foundry) = self.idle_foundry() else { return NOT_YET };
        let there = cell.load(Ordering::Acquire);
        if there != NOT_YET {
            return there;
        }
        let address = match self.make(&mut foundry, name, (words, 1), effort, &write) {
            Some(code) => {
                note(code.address as usize, code.note);
                code.address as usize
            }
            None => INTERPRETED,
        };
        cell.store(address, Ordering::Release);
        address
    }

    pub(crate) fn make(
        &self,
        foundry: &mut Foundry,
        name: &str,
        (words, results): (usize, usize),
        effort: Effort,
        write: &dyn Fn(FunctionBuilder, Metering) -> Outcome<u64>,
    ) -> Option<Code> {
        let mut metering = Metering::Off;
        loop {
            match foundry.make(name, (words, results), effort, |builder| write(builder, metering)) {
                Ok(Ok(code)) => return Some(code),
                Ok(Err(Stop::Meter)) if metering == Metering::Off => metering = Metering::On,
                _ => return None,
            }
        }
    }

    /// A family and its rule.
    pub(crate) fn family(&self, starts: bool, number: usize) -> (&Family, &Rule) {
        if starts { (&self.starts[number], &self.program.starts[number]) } else { (&self.families[number], &self.program.rules[number]) }
    }

    /// Whether commands need only a state.
    pub(crate) fn is_plain(&self) -> bool {
        self.assumptions.is_none() && !self.covers && !self.recursive && self.heap_words == 0
    }
}

impl Drop for Compiled {
    /// Keeps the machine code for later runs, if it was [made for that](Self::with_kept) and not all of it was kept before.
    fn drop(&mut self) {
        if let Some((folder, name)) = &self.place
            && let Some(code) = self.foundry().kept_code()
        {
            folder.keep(name, &code);
        }
    }
}

/// The effort for code that is made before the first state.
pub(crate) fn effort_for(nodes: usize) -> Effort {
    if nodes <= SMALL_CODE { Effort::Much } else { Effort::Little }
}

pub(crate) fn zeros(count: usize) -> Box<[AtomicUsize]> {
    (0..count).map(|_| AtomicUsize::new(NOT_YET)).collect()
}
