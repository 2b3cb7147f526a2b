//! Resolves names and types: the tree as written becomes a [`Model`].

mod expressions;
mod globals;
mod statements;
mod variables;

use super::ast;
use super::files::Files;
use super::flow;
use super::model::{LeafId, Model, ProcessType, Scalar};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use expressions::Run;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wayfarer_ir::At;

/// Something that could not be resolved; its message is noted already.
pub(super) struct Failed;
pub(super) type Resolved<T> = Result<T, Failed>;

/// More cells than this together are refused.
const MOST_CELLS: u64 = 1 << 18;
/// Errors after which nothing more is said.
const MOST_ERRORS: usize = 50;

/// Resolves a model with a condition on its states. Findings about the condition are given apart.
pub(super) fn resolve_finding(
    tree: &ast::Model,
    files: &Files,
    source: &str,
    find: Option<(&ast::Expr, &str)>,
    diagnostics: &mut Diagnostics,
) -> (Model, Diagnostics) {
    let mut condition = Diagnostics::new();
    let mut resolver = Resolver::new(files, source, diagnostics);
    resolver.model(tree);
    if let (Some((expr, text)), 0) = (find, resolver.errors) {
        let before = resolver.diagnostics.len();
        if let Ok(value) = resolver.value(expr) {
            resolver.model.find = Some((value, text.to_string()));
        }
        for (ty, label, span) in std::mem::take(&mut resolver.remote_labels) {
            if !resolver.model.types[ty].automaton.labels.iter().any(|(name, _)| **name == *label) {
                let name = resolver.model.types[ty].name.clone();
                resolver.error(span, format!("`{name}` has no label `{label}`"));
            }
        }
        resolver.diagnostics.iter().skip(before).for_each(|finding| condition.push(finding.clone()));
        resolver.diagnostics.truncate(before);
    }
    if resolver.errors == 0 {
        for id in super::scratch::reset(&mut resolver.model) {
            let Some((_, span)) = resolver.hidden.iter().find(|(hidden, _)| *hidden == id).copied() else { continue };
            resolver.warn(span, "this variable is hidden, but steps may read what earlier ones stored in it, so it is part of the state");
        }
    }
    (resolver.model, condition)
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    Variable(Arc<Variable>),
    /// A value of an `mtype`.
    Constant(i64),
}

/// A declared variable, or a field of one.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) count: Option<u32>,
    pub(super) shape: Shape,
}

/// How a variable is made up.
#[derive(Debug)]
pub(super) enum Shape {
    Scalar(LeafId),
    Record(Vec<(Arc<str>, Variable)>),
}

pub(super) struct Resolver<'a> {
    pub(super) files: &'a Files,
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) model: Model,
    /// Scopes from the outermost in; the first is global.
    pub(super) scopes: Vec<HashMap<Arc<str>, Symbol>>,
    pub(super) typedefs: HashMap<Arc<str>, Vec<ast::Declaration>>,
    pub(super) proctypes: HashMap<Arc<str>, usize>,
    /// Variables of each process type by name, for remote references.
    pub(super) locals: Vec<HashMap<Arc<str>, Arc<Variable>>>,
    /// Kinds of `mtype`; the unnamed one is the first.
    pub(super) kinds: Vec<Arc<str>>,
    /// The process type whose body is being resolved.
    pub(super) owner: Option<usize>,
    pub(super) cells: u64,
    pub(super) in_dstep: bool,
    /// Whether a `run` may stand in the expression that is resolved, and what it creates.
    run: Run,
    /// Hidden variables with their places.
    hidden: Vec<(LeafId, Span)>,
    /// Whether a variable declared here still gets its first value when the process begins.
    pub(super) at_start: bool,
    pub(super) errors: usize,
    /// Labels that remote references name.
    pub(super) remote_labels: Vec<(usize, Arc<str>, Span)>,
    pub(super) said: HashSet<&'static str>,
}

impl<'a> Resolver<'a> {
    fn new(files: &'a Files, source: &str, diagnostics: &'a mut Diagnostics) -> Self {
        Resolver {
            files,
            diagnostics,
            model: Model { source: source.to_string(), mtypes: vec![Vec::new()], ..Model::default() },
            scopes: vec![HashMap::new()],
            typedefs: HashMap::new(),
            proctypes: HashMap::new(),
            locals: Vec::new(),
            kinds: vec!["".into()],
            owner: None,
            cells: 0,
            in_dstep: false,
            run: Run::Refused,
            hidden: Vec::new(),
            at_start: false,
            errors: 0,
            remote_labels: Vec::new(),
            said: HashSet::new(),
        }
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) -> Failed {
        self.errors += 1;
        if self.errors <= MOST_ERRORS {
            self.diagnostics.push(Diagnostic::error(span, message));
        }
        Failed
    }

    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::warning(span, message));
    }

    pub(super) fn at(&self, span: Span) -> At {
        self.files.at(span)
    }

    fn model(&mut self, tree: &ast::Model) {
        self.list_types(tree);
        for unit in &tree.units {
            let _ = self.unit(unit);
        }
        self.bodies(tree);
    }

    /// Process types and `mtype` values may be used before they are declared.
    fn list_types(&mut self, tree: &ast::Model) {
        for unit in &tree.units {
            match unit {
                ast::Unit::Proctype(proctype) => {
                    let number = self.model.types.len();
                    if self.proctypes.insert(proctype.name.text.clone(), number).is_some() {
                        self.error(proctype.name.span, format!("`{}` is declared twice", proctype.name.text));
                    }
                    let at = self.at(proctype.name.span);
                    let parameters = proctype.parameters.iter().map(|declaration| declaration.variables.len()).sum();
                    self.model.types.push(ProcessType {
                        name: proctype.name.text.to_string(),
                        leaves: Vec::new(),
                        cells: 0,
                        parameters,
                        provided: None,
                        automaton: flow::Automaton::default(),
                        at,
                    });
                    self.locals.push(HashMap::new());
                }
                ast::Unit::Mtype { kind, names } => self.mtype(kind.as_ref(), names),
                _ => {}
            }
        }
    }

    fn mtype(&mut self, kind: Option<&ast::Name>, names: &[ast::Name]) {
        let number = self.kind(kind) as usize;
        // A later declaration continues the numbers; inside one the last name has the smallest, as in SPIN.
        for name in names.iter().rev() {
            if self.model.mtypes[number].len() >= 255 {
                self.error(name.span, "an `mtype` has at most 255 names");
                return;
            }
            self.model.mtypes[number].push(name.text.to_string());
            let value = self.model.mtypes[number].len() as i64;
            if self.scopes[0].insert(name.text.clone(), Symbol::Constant(value)).is_some() {
                self.error(name.span, format!("`{}` is declared twice", name.text));
            }
        }
    }

    /// The number of a kind of `mtype`.
    pub(super) fn kind(&mut self, kind: Option<&ast::Name>) -> u32 {
        let name: Arc<str> = kind.map_or_else(|| "".into(), |kind| kind.text.clone());
        match self.kinds.iter().position(|known| *known == name) {
            Some(number) => number as u32,
            None => {
                self.kinds.push(name);
                self.model.mtypes.push(Vec::new());
                (self.kinds.len() - 1) as u32
            }
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bodies(&mut self, tree: &ast::Model) {
        let proctypes: Vec<&ast::Proctype> = tree
            .units
            .iter()
            .filter_map(|unit| match unit {
                ast::Unit::Proctype(proctype) => Some(proctype),
                _ => None,
            })
            .collect();
        // Variables of all process types come first: remote references may name any of them.
        let mut trees = Vec::new();
        for (number, proctype) in proctypes.iter().enumerate() {
            self.owner = Some(number);
            self.scopes.push(HashMap::new());
            trees.push(self.body(number, proctype));
            self.scopes.truncate(1);
        }
        self.owner = None;
        for (number, (proctype, nodes)) in proctypes.iter().zip(trees).enumerate() {
            let remote: Vec<Arc<str>> = self.remote_labels.iter().filter(|(ty, _, _)| *ty == number).map(|(_, label, _)| label.clone()).collect();
            let end = self.at(proctype.end);
            match flow::build(nodes, end, &remote) {
                Ok(automaton) => self.model.types[number].automaton = automaton,
                Err((span, message)) => {
                    self.error(if span == Span::default() { proctype.name.span } else { span }, message);
                }
            }
        }
        for word in ["accept", "progress"] {
            let occurs = self.model.types.iter().any(|ty| ty.automaton.labels.iter().any(|(name, _)| name.starts_with(word)));
            if occurs {
                self.model.claims.push(format!("{word} labels"));
            }
        }
        for (ty, label, span) in std::mem::take(&mut self.remote_labels) {
            if self.errors == 0 && !self.model.types[ty].automaton.labels.iter().any(|(name, _)| **name == *label) {
                let name = self.model.types[ty].name.clone();
                self.error(span, format!("`{name}` has no label `{label}`"));
            }
        }
    }
}

impl Scalar {
    /// How messages name it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Scalar::Bit(true) => "bool",
            Scalar::Bit(false) => "bit",
            Scalar::Byte => "byte",
            Scalar::Pid => "pid",
            Scalar::Short => "short",
            Scalar::Int => "int",
            Scalar::Unsigned(_) => "unsigned",
            Scalar::Mtype(_) => "mtype",
            Scalar::Chan => "chan",
        }
    }
}
