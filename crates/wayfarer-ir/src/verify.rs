//! The rules for programs. All code that runs programs may rely on them: a verified program reads and writes only its
//! own memories, never straddles a word, and runs in bounded stack and time. A violation is a mistake in the code
//! that built the program, not in the user's model.
//!
//! **Ids.** All types, functions, faults, properties, registers and reference parameters that are referred to exist.
//!
//! **Sizes.** States and frames have at most [`MAX_WORDS`] words; a body has at most [`MAX_REGISTERS`] registers;
//! there are at most [`MAX_INSTANCES`] rules and as many start states, parameters fixed; sorted runs have at most
//! [`MAX_SORTED`] elements; expressions and statements nest at most [`MAX_DEPTH`] deep, types at most
//! [`MAX_TYPE_DEPTH`].
//!
//! **Types** do not contain themselves. A scalar has 1 to 64 bits, enough for its values. Parts of a type lie inside
//! it and do not overlap. An object of at most 64 bits lies inside one word, a larger one starts at a word and takes
//! whole words. An array has one element for each value of its index type. The mark of a bag's slot does not overlap
//! the element.
//!
//! **Variables** lie inside the state and do not overlap, with the alignment of objects.
//!
//! **Places.** For every value its indices can take, a place lies inside its root: the state, the frame, or the run
//! of bits of its reference. A run of at most 64 bits lies inside one word, a longer one takes whole words; `Load`
//! and `Store` move 1 to 64 bits.
//!
//! **Code.** `by` of a loop is not 0, and its body does not set its register, nor does an inner loop. Arguments match
//! parameters: a value for a value; for a reference a place in the same region, of the same number of bits. `Return`
//! gives a value exactly in functions that have a result. Parameters have registers. `Cover` names a `Reachable`
//! property. Sorted elements do not overlap.
//!
//! **Formulas** (guards and properties) have no frame and call only functions that neither write the state nor
//! discard nor cover. In addition, printed items call none that write their callers' frames, so that printing has no
//! effects.

mod code;
mod layout;

use crate::acts::{Acts, acts};
use crate::program::{Body, Function, Parameter, Program, Rule};
use code::Code;
use std::fmt;

/// The most words of a state, and of a frame.
pub const MAX_WORDS: u32 = 1 << 16;
/// The most registers of a formula, command or function.
pub const MAX_REGISTERS: u32 = 4096;
/// The most rules, and the most start states, parameters fixed.
pub const MAX_INSTANCES: u64 = 1 << 24;
/// The most elements of a `Sort`.
pub const MAX_SORTED: u32 = 4096;
/// The deepest nesting of expressions and statements.
pub const MAX_DEPTH: u32 = 300;
/// The deepest nesting of types.
pub const MAX_TYPE_DEPTH: u32 = 64;

/// A violation of a rule for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The part of the program, such as ``rule `Send`, guard``.
    pub part: String,
    /// The problem there.
    pub problem: Problem,
}

/// A problem of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A reference to something that does not exist.
    Missing {
        /// The kind of thing.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// Something is larger than allowed.
    TooLarge {
        /// The kind of thing.
        what: &'static str,
        /// Its size.
        size: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A place, variable or part reaches past the end of its container.
    Outside {
        /// The first bit after it.
        end: u64,
        /// The size of its container in bits.
        size: u64,
    },
    /// A run of bits that can lie across a word's edge, or a long one that does not take whole words.
    Straddles {
        /// Its length.
        bits: u32,
    },
    /// A number of bits other than 1 to 64 for a move of one word, or none at all.
    Bits(u32),
    /// Two parts that overlap, by name.
    Overlap(String, String),
    /// The arguments of a call do not match the function's parameters.
    Arguments {
        /// The function.
        function: u32,
        /// The first argument that does not match.
        argument: usize,
    },
    /// Any other problem.
    Wrong(&'static str),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}: {}", self.part, self.problem)
    }
}

impl std::error::Error for VerifyError {}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Problem::Missing { what, number } => write!(out, "{what} {number} does not exist"),
            Problem::TooLarge { what, size, limit } => write!(out, "{what}: {size} is more than {limit}"),
            Problem::Outside { end, size } => write!(out, "bits up to {end} of something of {size} bits"),
            Problem::Straddles { bits } => write!(out, "a run of {bits} bits can lie across the edge of a word"),
            Problem::Bits(bits) => write!(out, "{bits} bits cannot be moved at once"),
            Problem::Overlap(first, second) => write!(out, "`{first}` and `{second}` overlap"),
            Problem::Arguments { function, argument } => write!(out, "argument {argument} does not match a parameter of function {function}"),
            Problem::Wrong(what) => out.write_str(what),
        }
    }
}

/// All violations in a program; empty for a verified program.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    let mut verifier = Verifier { program, acts: Vec::new(), errors: Vec::new() };
    verifier.sizes();
    layout::verify(&mut verifier);
    verifier.depths();
    // The following checks descend into trees and trust sizes.
    if verifier.errors.is_empty() {
        verifier.acts = acts(program);
        verifier.code();
    }
    verifier.errors
}

struct Verifier<'a> {
    program: &'a Program,
    acts: Vec<Acts>,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn error(&mut self, part: &str, problem: Problem) {
        self.errors.push(VerifyError { part: part.to_string(), problem });
    }

    fn at_most(&mut self, part: &str, what: &'static str, size: u64, limit: u64) {
        if size > limit {
            self.error(part, Problem::TooLarge { what, size, limit });
        }
    }

    fn sizes(&mut self) {
        self.at_most("program", "words", u64::from(self.program.words), u64::from(MAX_WORDS));
        for (what, families) in [("start state", &self.program.starts), ("rule", &self.program.rules)] {
            let mut total = 0u64;
            for rule in families {
                let part = format!("{what} `{}`", rule.name);
                let counts = || rule.parameters.iter().map(|parameter| u64::from(parameter.count));
                let instances = counts().fold(1, u64::saturating_mul);
                total = total.saturating_add(instances);
                for parameter in &rule.parameters {
                    match self.program.types.get(parameter.ty.0 as usize) {
                        None => self.error(&part, Problem::Missing { what: "type", number: parameter.ty.0 }),
                        Some(ty) if ty.scalar().is_none() => self.error(&part, Problem::Wrong("a parameter's type is not scalar")),
                        Some(_) => {}
                    }
                }
                let parameters = rule.parameters.len() as u64;
                self.registers(&part, rule.guard.registers, parameters);
                self.body_sizes(&part, &rule.command, parameters);
                // Families multiply their counts in order, and that must not overflow even if a later count is 0.
                if counts().try_fold(1u64, u64::checked_mul).is_none() {
                    self.error(&part, Problem::TooLarge { what: "instances", size: u64::MAX, limit: MAX_INSTANCES });
                }
            }
            self.at_most("program", "instances of rules", total, MAX_INSTANCES);
        }
        for function in &self.program.functions {
            let part = format!("function `{}`", function.name);
            let values = function.parameters.iter().filter(|parameter| **parameter == Parameter::Value).count();
            self.body_sizes(&part, &function.body, values as u64);
        }
        for property in &self.program.properties {
            self.registers(&format!("property `{}`", property.name), property.registers, 0);
        }
        self.wrappers();
    }

    /// Levels, passing states and ends.
    fn wrappers(&mut self) {
        if self.program.levels.len() > self.program.rules.len() {
            self.error("program", Problem::Wrong("there are levels of rules that are not there"));
        }
        if let Some(passing) = self.program.passing {
            let (offset, bits) = (u64::from(passing.offset), u64::from(passing.bits));
            if bits == 0 || offset % 64 + bits > 64 || offset + bits > u64::from(self.program.words) * 64 {
                self.error("program", Problem::Wrong("the passing field does not lie inside a word of the state"));
            }
            if passing.endless.0 as usize >= self.program.faults.len() {
                self.error("program", Problem::Missing { what: "fault", number: passing.endless.0 });
            }
        }
        if let Some(ends) = &self.program.ends {
            self.registers("ends", ends.registers, 0);
        }
    }

    fn body_sizes(&mut self, part: &str, body: &Body, parameters: u64) {
        self.registers(part, body.registers, parameters);
        self.at_most(part, "words of the frame", u64::from(body.frame), u64::from(MAX_WORDS));
    }

    fn registers(&mut self, part: &str, registers: u32, parameters: u64) {
        self.at_most(part, "registers", u64::from(registers), u64::from(MAX_REGISTERS));
        if u64::from(registers) < parameters {
            self.error(part, Problem::Wrong("a parameter has no register"));
        }
    }

    fn depths(&mut self) {
        let program = self.program;
        let deep = Problem::TooLarge { what: "nesting", size: u64::from(MAX_DEPTH) + 1, limit: u64::from(MAX_DEPTH) };
        for (what, families) in [("start state", &program.starts), ("rule", &program.rules)] {
            for rule in families {
                if code::expr_too_deep(&rule.guard.value, MAX_DEPTH) || code::block_too_deep(&rule.command.block, MAX_DEPTH) {
                    self.error(&format!("{what} `{}`", rule.name), deep.clone());
                }
            }
        }
        for function in program.functions.iter().filter(|function| code::block_too_deep(&function.body.block, MAX_DEPTH)) {
            self.error(&format!("function `{}`", function.name), deep.clone());
        }
        if program.ends.as_ref().is_some_and(|ends| code::expr_too_deep(&ends.value, MAX_DEPTH)) {
            self.error("ends", deep.clone());
        }
        for property in &program.properties {
            if property.conjuncts.iter().any(|(_, conjunct)| code::expr_too_deep(conjunct, MAX_DEPTH)) {
                self.error(&format!("property `{}`", property.name), deep.clone());
            }
        }
    }

    fn code(&mut self) {
        let program = self.program;
        for function in &program.functions {
            self.function(function);
        }
        for rule in &program.starts {
            self.rule("start state", rule);
        }
        for rule in &program.rules {
            self.rule("rule", rule);
        }
        if let Some(ends) = &program.ends {
            Code::new(self, "ends".to_string(), ends.registers).formula().expr(&ends.value);
        }
        for property in &program.properties {
            let part = format!("property `{}`", property.name);
            let mut code = Code::new(self, part, property.registers).formula();
            for (_, conjunct) in &property.conjuncts {
                code.expr(conjunct);
            }
        }
    }

    fn rule(&mut self, what: &str, rule: &Rule) {
        Code::new(self, format!("{what} `{}`, guard", rule.name), rule.guard.registers).formula().expr(&rule.guard.value);
        let command = format!("{what} `{}`, command", rule.name);
        Code::new(self, command, rule.command.registers).frame(rule.command.frame).block(&rule.command.block);
    }

    fn function(&mut self, function: &Function) {
        let part = format!("function `{}`", function.name);
        if function.result && function.no_result.0 as usize >= self.program.faults.len() {
            self.error(&part, Problem::Missing { what: "fault", number: function.no_result.0 });
        }
        for parameter in &function.parameters {
            if let Parameter::Reference { bits, .. } = parameter {
                match bits {
                    0 => self.error(&part, Problem::Bits(0)),
                    65.. if !bits.is_multiple_of(64) => self.error(&part, Problem::Straddles { bits: *bits }),
                    _ => {}
                }
            }
        }
        let body = &function.body;
        Code::new(self, part, body.registers).frame(body.frame).parameters(&function.parameters, function.result).block(&body.block);
    }
}
