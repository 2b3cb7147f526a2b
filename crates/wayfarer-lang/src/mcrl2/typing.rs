//! Names and sorts: from the tree to the typed core of `wayfarer-algebra`.
//!
//! Sorts are inferred from the leaves upward. An expression has a short list of candidates, one for each sort that it can have, with the number of conversions
//! between sorts of numbers that this takes; whoever uses the expression picks the cheapest that fits. So overloads are resolved without trying combinations.

mod builtin;
mod declarations;
mod expressions;
mod operators;
mod processes;
mod sorts;

use super::ast;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use std::collections::HashMap;
use wayfarer_algebra::{ActionId, FunctionId, Place, ProcessId, Sort, SortId, Specification, Term, Variable, VariableId};

/// The mark of a part that is wrong; what is wrong was already told.
pub(super) struct Told;

pub(super) type Typed<T> = Result<T, Told>;

/// The sort of the elements of `[]` and `{}`: it fits every sort.
const UNKNOWN: SortId = SortId(u32::MAX);

/// Gives every name and expression of a specification its meaning. There is a typed specification exactly if the diagnostics have no errors.
pub(super) fn elaborate(tree: &ast::Specification) -> (Option<Specification>, Diagnostics) {
    let mut typing = Typing::default();
    typing.declare(tree);
    typing.equations(tree);
    typing.processes(tree);
    typing.diagnostics.sort();
    (Some(typing.out).filter(|_| !typing.diagnostics.has_errors()), typing.diagnostics)
}

/// The state of the type checker: everything known so far.
#[derive(Default)]
struct Typing {
    out: Specification,
    diagnostics: Diagnostics,
    sort_numbers: HashMap<Sort, SortId>,
    sort_names: HashMap<String, SortId>,
    /// The functions of a name.
    functions: HashMap<String, Vec<FunctionId>>,
    /// The sort of each function as it was declared.
    function_sorts: Vec<SortId>,
    actions: HashMap<String, Vec<ActionId>>,
    processes: HashMap<String, Vec<ProcessId>>,
    /// Variables in scope, the innermost last.
    scope: Vec<(String, VariableId)>,
}

/// One way to read an expression.
#[derive(Clone)]
struct Candidate {
    sort: SortId,
    /// How many conversions between sorts of numbers it takes.
    cost: u32,
    term: Term,
    /// Whether there is another reading that is as good.
    ambiguous: bool,
}

impl Typing {
    fn error<T>(&mut self, span: Span, message: impl Into<String>) -> Typed<T> {
        self.report(Diagnostic::error(span, message))
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Typed<T> {
        self.diagnostics.push(diagnostic);
        Err(Told)
    }

    fn sort_id(&mut self, sort: Sort) -> SortId {
        if let Some(known) = self.sort_numbers.get(&sort) {
            return *known;
        }
        let number = SortId(self.out.sorts.len() as u32);
        self.out.sorts.push(sort.clone());
        self.sort_numbers.insert(sort, number);
        number
    }

    fn sort_of(&self, sort: SortId) -> Option<&Sort> {
        self.out.sorts.get(sort.index())
    }

    fn variable(&mut self, name: &str, sort: SortId) -> VariableId {
        let number = VariableId(self.out.variables.len() as u32);
        self.out.variables.push(Variable { name: name.to_string(), sort });
        number
    }

    /// Puts variables into scope.
    fn bind(&mut self, list: &[ast::Variables]) -> Typed<Vec<VariableId>> {
        let mut numbers = Vec::new();
        for variables in list {
            let sort = self.resolve(&variables.sort)?;
            for name in &variables.names {
                let number = self.variable(&name.text, sort);
                self.scope.push((name.text.clone(), number));
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    fn in_scope(&self, name: &str) -> Option<VariableId> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    fn sort_of_variable(&self, variable: VariableId) -> SortId {
        self.out.variables[variable.index()].sort
    }
}

/// A place as the core has it.
fn place(span: Span) -> Place {
    Place { start: span.start, end: span.end }
}
