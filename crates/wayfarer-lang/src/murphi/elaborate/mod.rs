//! Turns the syntax tree of a Murphi model into a program: resolves names, checks types and lowers to the IR in one pass.
//!
//! Every method reports errors and continues with an error operand or type that suppresses follow-up errors, so that
//! one run finds many errors. If tools differ, the meaning is CMurphi's: a copy of an undefined scalar is undefined,
//! a `for` loop whose first bound is past its last does not run, `=` on a union looks through to its members.
//! [`Undefined::Strict`] follows rumur on copies.
//!
//! Constants, types and variables are elaborated first, so that the state's layout is known; then functions, rules
//! and properties in the order of the text, each seeing only what was declared before it. A function is checked once
//! at its declaration, and elaborated again for each combination of regions (state or frame) that calls pass to its
//! references.
//!
//! - [`scopes`], [`declarations`], [`types`], [`type_expressions`]: the meaning of names
//! - [`operand`], [`interval`], [`build`], [`conversions`]: values, objects and the stored forms between them
//! - [`reals`], [`unsigned`]: numbers that are not whole, and those beyond 2^63 - 1
//! - [`expressions`], [`operators`], [`places`], [`loops`], [`calls`], [`bags`]: expressions
//! - [`statements`], [`clear`]: statements
//! - [`code`], [`functions`], [`effects`], [`locals`], [`rules`], [`priorities`], [`properties`]: whole bodies
//! - [`asymmetries`], [`rounds`]: constructs that tell the elements of scalarsets apart

mod asymmetries;
mod bags;
mod build;
mod calls;
mod clear;
mod code;
mod conversions;
mod declarations;
mod effects;
mod expressions;
mod functions;
mod interval;
mod locals;
mod loops;
mod operand;
mod operators;
mod places;
mod priorities;
mod properties;
mod reals;
mod rounds;
mod rules;
mod scopes;
mod statements;
mod type_expressions;
mod types;
mod unsigned;

use super::ast;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use code::Code;
use functions::{Declared, Instance};
use rustc_hash::FxHashMap;
use scopes::Scopes;
use std::collections::HashMap;
use types::Types;
use wayfarer_ir::verify::Problem;
use wayfarer_ir::{At, FaultId, FaultKind, FaultSite, Function, FunctionId, Program, PropertyId, Region};
use wayfarer_space::FaultClass;

/// The user's options for reading a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values that replace those of the model's constants, by name.
    pub constants: Vec<(String, ConstantValue)>,
    /// The meaning of copying an undefined scalar.
    pub undefined: Undefined,
}

/// A value given for a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantValue {
    /// A whole number.
    Number(i64),
    /// A name: `true`, `false`, a member of an enum or another constant.
    Name(String),
}

/// The meaning of copying an undefined scalar in assignments, by-value arguments and results. Using one in an
/// expression is always a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undefined {
    /// The copy is undefined too, as in CMurphi.
    #[default]
    Copy,
    /// It is a fault, as in rumur.
    Strict,
}

/// Elaborates a model that was parsed without errors. There is a program exactly if the diagnostics have no errors.
pub fn elaborate(source: &Source, model: &ast::Model, options: &Options) -> (Option<Program>, Diagnostics) {
    let mut elaborator = Elaborator::new(source, options);
    elaborator.model(model);
    let mut diagnostics = elaborator.diagnostics;
    diagnostics.sort();
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut program = elaborator.program;
    program.types = elaborator.types.into_ir();
    for error in wayfarer_ir::verify(&program) {
        let message = match error.problem {
            Problem::TooLarge { what, size, limit } => format!("{}: {what} too large: {size}, where at most {limit} are supported", error.part),
            _ => format!("{error}; this is a mistake in Wayfarer, not in the model"),
        };
        diagnostics.push(Diagnostic::error(Span::default(), message));
    }
    let program = (!diagnostics.has_errors()).then_some(program);
    (program, diagnostics)
}

/// After this many errors the rest is not reported: it would only repeat them.
const ERROR_LIMIT: usize = 200;

struct Elaborator<'a> {
    source: &'a Source,
    options: &'a Options,
    diagnostics: Diagnostics,
    errors: usize,
    /// While set, nothing is reported: the same text was or will be elaborated with reports.
    muted: bool,
    /// While set, the code built will be discarded: faults get no numbers and calls make no instances.
    checking: bool,
    types: Types,
    scopes: Scopes,
    functions: Vec<Declared<'a>>,
    instances: HashMap<(usize, Vec<Region>), FunctionId>,
    pending: Vec<Instance>,
    /// Functions made from formulas.
    wrapped: Vec<(FunctionId, Function)>,
    program: Program,
    fault_numbers: FxHashMap<(FaultKind, String, At), FaultId>,
    /// The property that each cover statement reports to, by the statement's position.
    covers: HashMap<Span, PropertyId>,
    bag_sites: Vec<bags::Site>,
    /// The blocks around the rule being read, outermost first.
    around: Vec<rules::Enclosure<'a>>,
    numbering: rules::Numbering,
    asymmetries: asymmetries::Ledger,
    /// The code being built.
    code: Code,
}

impl<'a> Elaborator<'a> {
    fn new(source: &'a Source, options: &'a Options) -> Self {
        Elaborator {
            source,
            options,
            diagnostics: Diagnostics::new(),
            errors: 0,
            muted: false,
            checking: false,
            types: Types::new(),
            scopes: Scopes::default(),
            functions: Vec::new(),
            instances: HashMap::new(),
            pending: Vec::new(),
            wrapped: Vec::new(),
            around: Vec::new(),
            program: Program { source: source.name().to_string(), ..Program::default() },
            fault_numbers: FxHashMap::default(),
            covers: HashMap::new(),
            bag_sites: Vec::new(),
            numbering: rules::Numbering::default(),
            asymmetries: asymmetries::Ledger::default(),
            code: Code::formula(0),
        }
    }

    fn model(&mut self, model: &'a ast::Model) {
        let visible = self.declare_all(&model.items);
        self.lay_out_state();
        for (item, visible) in model.items.iter().zip(visible) {
            self.scopes.visible = visible;
            match item {
                ast::Item::Decl(_) => {}
                ast::Item::Function(function) => self.check_function(function),
                ast::Item::Rule(rule) => self.rule(rule),
            }
        }
        self.finish_rules();
        self.elaborate_pending();
        self.gather_asymmetries();
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.muted {
            return;
        }
        self.errors += 1;
        if self.errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    fn error_with_help(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(Diagnostic::error(span, message).with_help(help));
    }

    fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        if !self.muted {
            self.diagnostics.push(Diagnostic::warning(span, message).with_help(help));
        }
    }

    /// The number of a fault site, which is added if it is new.
    fn fault(&mut self, kind: FaultKind, span: Span, message: impl Into<String>) -> FaultId {
        if self.checking {
            return FaultId(0);
        }
        let (at, message) = (self.at(span), message.into());
        let faults = &mut self.program.faults;
        *self.fault_numbers.entry((kind, message.clone(), at)).or_insert_with(|| {
            faults.push(FaultSite { class: FaultClass::Violation, kind, message, at });
            FaultId(faults.len() as u32 - 1)
        })
    }

    /// The fault of a loop or recursion that takes too long.
    fn fuel(&mut self, span: Span, what: &str) -> FaultId {
        self.fault(FaultKind::Endless, span, format!("this {what} does not end within the limit"))
    }

    fn at(&self, span: Span) -> At {
        let position = self.source.position(span.start);
        At { line: position.line as u32, column: position.column as u32 }
    }

    /// The text under a span for use in a message: on one line, and not too long.
    fn quote(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let text = self.source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= LONGEST {
            return format!("`{text}`");
        }
        format!("`{}…`", text.chars().take(LONGEST).collect::<String>())
    }
}
