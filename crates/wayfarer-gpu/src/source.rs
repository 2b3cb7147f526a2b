//! A program as CUDA C: one function for each guard, command, function and property, and a few that put them together. The text is readable, and plain
//! enough to compile as C++, where tests hold it against the interpreter.
//!
//! - `code`, `places`, `statements`: trees to C
//! - `parts`: guards, commands, functions and properties
//! - `whole`: what searches call: `enabled`, `fire`, `check`
//! - `tight`: the way between the layouts
//! - `orbits`: representatives of states up to symmetry

mod code;
mod orbits;
mod parts;
mod places;
mod statements;
mod tight;
mod whole;

use crate::bounds::Bounds;
use crate::machine::Kernel;
use crate::own::Own;
use crate::slots::Slots;
use crate::unsupported::Unsupported;
use std::fmt::Write;
use wayfarer_ir::{BinaryOp, Expr, Limits, Program, walk};
use wayfarer_space::Packing;

/// The definitions that generated code uses, and the data it carries besides the state.
const PRELUDE: &str = include_str!("cuda/prelude.h");
const SCENE: &str = include_str!("cuda/scene.h");
/// The definitions that search kernels use, and the kernels themselves.
const MACHINE: &str = include_str!("cuda/machine.h");
const HASH: &str = include_str!("cuda/hash.h");
const STORE: &str = include_str!("cuda/store.h");
const TELLING: &str = include_str!("cuda/telling.h");
const DRAWING: &str = include_str!("cuda/drawing.h");
const LEVELS: &str = include_str!("cuda/levels.h");
const WALKS: &str = include_str!("cuda/walks.h");

const OWN: &str = include_str!("cuda/own.h");
const POOLS: &str = include_str!("cuda/pools.h");
const RANDOM: &str = include_str!("cuda/random.h");
const HIGHWAYS: &str = include_str!("cuda/highways.h");
const SWARM: &str = include_str!("cuda/swarm.h");
const AUDIT: &str = include_str!("cuda/audit.h");

/// The most bits that a tight state may have on a device.
pub const MOST_BITS: usize = 4096;
/// The most rules, parameters fixed.
pub const MOST_RULES: u64 = 1 << 16;
/// Parts of guards that are written once for each rule.
const GUARD_PARTS: usize = 4_000;
/// The most words of the frame of a command or function.
const MOST_FRAME: u32 = 1024;

/// A search that kernels carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Search {
    /// Breadth-first, over a store of this kind.
    Levels(Slots),
    /// Random walks.
    Walks,
    /// Searches that lanes make for themselves.
    Own(Own),
    /// Breadth-first, counting how often states are visited.
    Profile(Slots),
    /// The walks of an audit of a search over a store of this kind.
    Audit(Slots),
}

impl Search {
    /// The kernels of the search, the one that takes most of the time first.
    pub(crate) fn kernels(self) -> &'static [Kernel] {
        match self {
            Search::Levels(_) => &[Kernel::Expand, Kernel::Start, Kernel::Find, Kernel::Grow, Kernel::Halve],
            Search::Profile(_) => &[Kernel::Expand, Kernel::Start, Kernel::Find, Kernel::Grow, Kernel::Halve, Kernel::Profile],
            Search::Walks => &[Kernel::Walk],
            Search::Own(_) => &[Kernel::Own],
            Search::Audit(_) => &[Kernel::Audit, Kernel::Judge],
        }
    }

    /// Whether it passes through states as models ask for.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Search::Levels(_) | Search::Profile(_))
    }
}

/// A program in C, without the kernels of a search.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text behind the prelude.
    pub(crate) text: String,
    /// Words of a state in the working layout.
    pub words: usize,
    /// Words of a tight state.
    pub tight: usize,
    /// Bits of a tight state.
    pub bits: usize,
    /// Rules, parameters fixed.
    pub rules: u32,
    /// How many properties there are.
    pub properties: u32,
    /// Whether some function calls itself.
    pub recursive: bool,
    /// Whether states are taken up to symmetry.
    pub symmetric: bool,
    /// Whether some states are passed through. Only searches by levels do that.
    pub passes: bool,
    /// The way between the layouts.
    pub packing: Packing,
}

impl Source {
    /// Writes a verified program.
    pub fn new(program: &Program, limits: Limits) -> Result<Self, Unsupported> {
        Source::written(program, limits, GUARD_PARTS, false)
    }

    /// The same, with states up to permutations of scalarset elements, which the program must respect.
    pub fn symmetric(program: &Program, limits: Limits) -> Result<Self, Unsupported> {
        Source::written(program, limits, GUARD_PARTS, true)
    }

    /// The same. Guards are written once for each rule, parameters fixed, while they have no more parts than this together: code that is faster, and takes longer to
    /// compile.
    pub fn unrolled(program: &Program, limits: Limits, guard_parts: usize) -> Result<Self, Unsupported> {
        Source::written(program, limits, guard_parts, false)
    }

    fn written(program: &Program, limits: Limits, guard_parts: usize, symmetric: bool) -> Result<Self, Unsupported> {
        let packing = program.packing();
        refuse(program, &packing)?;
        let bounds = Bounds::of(program, &limits);
        let rules: u64 = program.rules.iter().map(wayfarer_ir::Rule::instances).sum();
        let mut text = String::new();
        let names = [
            ("WORDS", u64::from(program.words)),
            ("TIGHT", packing.words() as u64),
            ("RULES", rules),
            ("MASK_WORDS", rules.div_ceil(64).max(1)),
            ("PROPERTY_WORDS", (program.properties.len() as u64).div_ceil(64).max(1)),
            ("COVER_WORDS", (program.properties.len() as u64).div_ceil(64).max(1)),
            ("COVERS", u64::from(whole::covers(program))),
            ("ENDS", u64::from(program.ends.is_some())),
            ("CALL_DEPTH", u64::from(limits.call_depth)),
            ("FRAME_WORDS", u64::from(limits.frame_words)),
        ];
        let _ = writeln!(text, "// {}", one_line(&program.source));
        let _ = writeln!(text, "static const u64 FUEL = {}ull;", limits.fuel);
        write_passing(program, &mut text);
        for (name, value) in names {
            let _ = writeln!(text, "static const u32 {name} = {value};");
        }
        text.push_str(SCENE);
        text.push('\n');
        tight::write(&packing, &mut text);
        parts::write(program, &bounds, &mut text);
        whole::write(program, &bounds, guard_parts, &mut text);
        orbits::write(program, symmetric, &mut text)?;
        Ok(Source {
            text,
            words: program.words as usize,
            tight: packing.words(),
            bits: packing.bits(),
            rules: rules as u32,
            properties: program.properties.len() as u32,
            recursive: (0..program.functions.len()).any(|function| bounds.is_recursive(function)),
            symmetric,
            passes: program.passing.is_some(),
            packing,
        })
    }

    /// The whole text, prelude included: what a person reads, and a C++ compiler takes.
    pub fn text(&self) -> String {
        format!("{PRELUDE}\n{}", self.text)
    }

    /// The whole text with the kernels of a search.
    pub fn with_kernels(&self, search: Search) -> String {
        format!("{PRELUDE}\n{}", self.kernels(search))
    }

    /// The same without the prelude, for those who put several programs into one file.
    pub fn kernels(&self, search: Search) -> String {
        let (store, kernels): (u32, Vec<&str>) = match search {
            Search::Levels(store) | Search::Profile(store) => (store.number(), vec![MACHINE, HASH, STORE, TELLING, LEVELS]),
            Search::Audit(store) => (store.number(), vec![MACHINE, HASH, STORE, TELLING, DRAWING, OWN, AUDIT]),
            Search::Walks => (0, vec![MACHINE, TELLING, DRAWING, WALKS]),
            Search::Own(own) => {
                let kernel = match own {
                    Own::Uniform { .. } | Own::Deep { .. } => POOLS,
                    Own::Random => RANDOM,
                    Own::Highway { .. } => HIGHWAYS,
                    Own::DepthFirst => SWARM,
                };
                (0, vec![own.definitions(), MACHINE, HASH, TELLING, DRAWING, OWN, kernel])
            }
        };
        let profiles = u32::from(matches!(search, Search::Profile(_)));
        format!("#undef STORE\n#define STORE {store}\n#undef PROFILES\n#define PROFILES {profiles}\n{}{}", self.text, kernels.concat())
    }

    /// The prelude and the program apart, for those who put several programs into one file.
    pub fn parts(&self) -> (&'static str, &str) {
        (PRELUDE, &self.text)
    }
}

/// The field of states that are passed through, and the fault of passing through them endlessly.
fn write_passing(program: &Program, out: &mut String) {
    let _ = writeln!(out, "#undef PASSES\n#define PASSES {}", u32::from(program.passing.is_some()));
    if let Some(field) = &program.passing {
        let bits = if field.bits >= 64 { u64::MAX } else { (1 << field.bits) - 1 } << (field.offset % 64);
        let _ = writeln!(out, "static const u32 PASSING_WORD = {};\nstatic const u64 PASSING_BITS = {bits:#x}ull;", field.offset / 64);
        let _ = writeln!(out, "static const int ENDLESS = FAULT({});", field.endless.0);
    }
}

fn refuse(program: &Program, packing: &Packing) -> Result<(), Unsupported> {
    let rules: u64 = program.rules.iter().map(wayfarer_ir::Rule::instances).sum();
    if packing.bits() > MOST_BITS {
        return Err(Unsupported::Wide { bits: packing.bits() });
    }
    if packing.bits() == 0 {
        return Err(Unsupported::Empty);
    }
    if rules > MOST_RULES {
        return Err(Unsupported::Rules { rules });
    }
    if has_reals(program) {
        return Err(Unsupported::Reals);
    }
    let bodies =
        program.rules.iter().map(|rule| (&rule.name, &rule.command)).chain(program.functions.iter().map(|function| (&function.name, &function.body)));
    match bodies.into_iter().find(|(_, body)| body.frame > MOST_FRAME) {
        Some((name, body)) => Err(Unsupported::Frame { name: name.clone(), words: body.frame }),
        None => Ok(()),
    }
}

/// Whether some operator of a program is one on real numbers.
fn has_reals(program: &Program) -> bool {
    let mut found = false;
    let mut note = |expr: &Expr| found |= matches!(expr, Expr::Binary(BinaryOp::Real(_), _, _));
    for rule in &program.rules {
        walk::expressions(&rule.guard.value, &mut note);
        walk::expressions_of_block(&rule.command.block, &mut note);
    }
    program.functions.iter().for_each(|function| walk::expressions_of_block(&function.body.block, &mut note));
    program.properties.iter().flat_map(|property| &property.conjuncts).for_each(|(_, conjunct)| walk::expressions(conjunct, &mut note));
    found
}

/// The name in C of a function of the program.
fn function_name(program: &Program, number: u32) -> String {
    format!("f{number}_{}", identifier(&program.functions[number as usize].name))
}

/// The letters of a name that C takes.
fn identifier(name: &str) -> String {
    name.chars().filter(char::is_ascii).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(40).collect()
}

/// A text without line breaks, for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() || letter == '\\' { ' ' } else { letter }).collect()
}
