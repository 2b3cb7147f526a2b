//! Data expressions ready to be evaluated: variables are places in a frame, constants are values, and bound variables come with a plan for finding their values.

use crate::data::Data;
use crate::query::{Query, Wanted};
use crate::specification::{FunctionId, Operation, Role, SortId, Term, VariableId};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A data expression.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// A place of the frame.
    Slot(u16),
    Constant(Value),
    Call(FunctionId, Box<[Code]>),
    Operation(Operation, Box<[Code]>),
    Apply(Box<Code>, Box<[Code]>),
    /// A lambda, by its number, with the values of its free variables.
    Closure(u32, Box<[Code]>),
    Quantified {
        forall: bool,
        query: Arc<Query>,
    },
    /// A set or bag of all solutions of a query, or a closure if these cannot be enumerated.
    Comprehension {
        bag: bool,
        query: Arc<Query>,
        otherwise: Box<Code>,
    },
    Let(Box<[(u16, Code)]>, Box<Code>),
}

/// A function by its value.
#[derive(Clone, Debug)]
pub(crate) struct Lambda {
    pub(crate) parameters: u16,
    /// Places of its frame.
    pub(crate) slots: u16,
    pub(crate) body: Arc<Code>,
    pub(crate) role: LambdaRole,
}

/// The kind of value that a closure stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LambdaRole {
    Function,
    Set,
    Bag,
}

/// Too many variables in one scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

/// Turns terms into code. Frames grow as variables are bound.
pub(crate) struct Compiler<'a> {
    pub(crate) data: &'a Data,
    /// Variables that the specification does not have.
    extra: Vec<SortId>,
    slots: HashMap<VariableId, u16>,
    /// The place of the next variable.
    next: u16,
    /// Places that were ever in use.
    most: u16,
}

impl<'a> Compiler<'a> {
    /// A compiler for a frame in which nothing is bound yet.
    pub(crate) fn new(data: &'a Data) -> Self {
        Compiler { data, extra: Vec::new(), slots: HashMap::new(), next: 0, most: 0 }
    }

    /// A compiler that knows variables beside those of the specification.
    pub(crate) fn with_variables(data: &'a Data, extra: Vec<SortId>) -> Self {
        Compiler { extra, ..Compiler::new(data) }
    }

    /// A variable that the specification does not have.
    pub(crate) fn fresh(&mut self, sort: SortId) -> VariableId {
        self.extra.push(sort);
        VariableId((self.data.variables.len() + self.extra.len() - 1) as u32)
    }

    /// How many places the frame needs.
    pub(crate) fn slots(&self) -> u16 {
        self.most
    }

    /// Gives a variable the next place.
    pub(crate) fn bind(&mut self, variable: VariableId) -> Result<u16, TooMany> {
        let slot = self.next;
        self.bind_at(variable, slot)?;
        Ok(slot)
    }

    /// Gives a variable a place that was chosen.
    pub(crate) fn bind_at(&mut self, variable: VariableId, slot: u16) -> Result<(), TooMany> {
        self.slots.insert(variable, slot);
        self.reserve(slot + 1)
    }

    /// Keeps all places below this one for what is there.
    pub(crate) fn reserve(&mut self, places: u16) -> Result<(), TooMany> {
        self.next = self.next.max(places);
        self.most = self.most.max(self.next);
        if self.most > 4096 { Err(TooMany) } else { Ok(()) }
    }

    pub(crate) fn slot(&self, variable: VariableId) -> Option<u16> {
        self.slots.get(&variable).copied()
    }

    /// The code of a term.
    pub(crate) fn compile(&mut self, term: &Term) -> Result<Code, TooMany> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.compile_kind(term))
    }

    fn all(&mut self, terms: &[Term]) -> Result<Box<[Code]>, TooMany> {
        terms.iter().map(|term| self.compile(term)).collect()
    }

    fn compile_kind(&mut self, term: &Term) -> Result<Code, TooMany> {
        Ok(match term {
            Term::Variable(variable) => Code::Slot(self.slot(*variable).ok_or(TooMany)?),
            Term::Value(value) => Code::Constant(*value),
            Term::Boolean(truth) => Code::Constant(Value::boolean(*truth)),
            Term::Number(number) => Code::Constant(self.data.values.integer(number.clone()).map_err(|_| TooMany)?),
            Term::Call(function, arguments) => {
                let codes = self.all(arguments)?;
                let is_constructor =
                    matches!(self.data.functions[function.index()].role, Role::Constructor(_)) && !self.data.has_equations(*function);
                match constants(&codes) {
                    Some(values) if is_constructor => Code::Constant(self.data.term(*function, &values).map_err(|_| TooMany)?),
                    _ => Code::Call(*function, codes),
                }
            }
            Term::Operation(operation, arguments) => {
                let codes = self.all(arguments)?;
                match (operation, constants(&codes)) {
                    (Operation::ListOf, Some(values)) => Code::Constant(self.data.values.list(&values, Value::NIL).map_err(|_| TooMany)?),
                    _ => Code::Operation(*operation, codes),
                }
            }
            Term::Apply(head, arguments) => Code::Apply(Box::new(self.compile(head)?), self.all(arguments)?),
            Term::Lambda(parameters, body) => self.closure(parameters, body, LambdaRole::Function)?,
            Term::Quantified { forall, variables, body } => {
                let mut conjuncts = Vec::new();
                if *forall {
                    negated(body, &mut conjuncts)
                } else {
                    split(body, &mut conjuncts)
                }
                let query = self.query(variables, &conjuncts, Wanted::First)?;
                Code::Quantified { forall: *forall, query: Arc::new(query) }
            }
            Term::Comprehension { bag, variable, body } => {
                let otherwise = Box::new(self.closure(&[*variable], body, if *bag { LambdaRole::Bag } else { LambdaRole::Set })?);
                let mut conjuncts = Vec::new();
                if !*bag {
                    split(body, &mut conjuncts);
                }
                let query = Arc::new(self.query(&[*variable], &conjuncts, Wanted::All)?);
                Code::Comprehension { bag: *bag, query, otherwise }
            }
            Term::Where(definitions, body) => {
                let before = self.next;
                let mut codes = Vec::new();
                for (_, definition) in definitions {
                    codes.push(self.compile(definition)?);
                }
                let slots = definitions.iter().map(|(variable, _)| self.bind(*variable)).collect::<Result<Vec<_>, _>>()?;
                let body = self.compile(body)?;
                self.next = before;
                Code::Let(slots.into_iter().zip(codes).collect(), Box::new(body))
            }
        })
    }

    fn closure(&mut self, parameters: &[VariableId], body: &Term, role: LambdaRole) -> Result<Code, TooMany> {
        let mut used = Vec::new();
        free(body, &mut used);
        used.retain(|variable| !parameters.contains(variable) && self.slots.contains_key(variable));
        used.sort();
        used.dedup();
        let captured: Box<[Code]> = used.iter().filter_map(|variable| self.slot(*variable)).map(Code::Slot).collect();
        let mut inner = Compiler::new(self.data);
        inner.extra.clone_from(&self.extra);
        for variable in used.iter().chain(parameters) {
            inner.bind(*variable)?;
        }
        let body = inner.compile(body)?;
        let slots = inner.slots();
        let lambda = Lambda { parameters: parameters.len() as u16, slots, body: Arc::new(body), role };
        Ok(Code::Closure(self.data.lambda(lambda), captured))
    }

    /// A plan for finding values of variables that make all conjuncts true. The variables are bound in the frame only inside the plan.
    pub(crate) fn query(&mut self, variables: &[VariableId], conjuncts: &[Term], wanted: Wanted) -> Result<Query, TooMany> {
        let before = self.next;
        for variable in variables {
            self.bind(*variable)?;
        }
        let query = crate::query::plan(self, variables, conjuncts, wanted);
        self.next = before;
        query
    }

    pub(crate) fn sort_of(&self, variable: VariableId) -> SortId {
        match self.data.variables.get(variable.index()) {
            Some(variable) => variable.sort,
            None => self.extra.get(variable.index() - self.data.variables.len()).copied().unwrap_or(SortId(u32::MAX)),
        }
    }
}

fn constants(codes: &[Code]) -> Option<Vec<Value>> {
    codes.iter().map(|code| if let Code::Constant(value) = code { Some(*value) } else { None }).collect()
}

/// Splits a condition into its conjuncts.
pub(crate) fn split(term: &Term, out: &mut Vec<Term>) {
    match term {
        Term::Boolean(true) => {}
        Term::Operation(Operation::And, operands) => operands.iter().for_each(|operand| split(operand, out)),
        Term::Operation(Operation::Not, operands) => match operands.as_slice() {
            [operand] => negated(operand, out),
            _ => out.push(term.clone()),
        },
        _ => out.push(term.clone()),
    }
}

/// Splits the negation of a condition into its conjuncts.
pub(crate) fn negated(term: &Term, out: &mut Vec<Term>) {
    match term {
        Term::Boolean(truth) => split(&Term::Boolean(!truth), out),
        Term::Operation(Operation::Or, operands) => operands.iter().for_each(|operand| negated(operand, out)),
        Term::Operation(Operation::Implies, operands) if operands.len() == 2 => {
            split(&operands[0], out);
            negated(&operands[1], out);
        }
        Term::Operation(Operation::Not, operands) if operands.len() == 1 => split(&operands[0], out),
        Term::Operation(operation, operands) => {
            let opposite = match operation {
                Operation::Equal => Some(Operation::Unequal),
                Operation::Unequal => Some(Operation::Equal),
                Operation::Less => Some(Operation::GreaterEqual),
                Operation::GreaterEqual => Some(Operation::Less),
                Operation::Greater => Some(Operation::LessEqual),
                Operation::LessEqual => Some(Operation::Greater),
                _ => None,
            };
            out.push(match opposite {
                Some(opposite) => Term::Operation(opposite, operands.clone()),
                None => Term::Operation(Operation::Not, vec![term.clone()]),
            });
        }
        _ => out.push(Term::Operation(Operation::Not, vec![term.clone()])),
    }
}

/// All variables that occur in a term and are not bound in it.
pub(crate) fn free(term: &Term, out: &mut Vec<VariableId>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match term {
        Term::Variable(variable) => out.push(*variable),
        Term::Boolean(_) | Term::Number(_) | Term::Value(_) => {}
        Term::Call(_, arguments) | Term::Operation(_, arguments) => arguments.iter().for_each(|term| free(term, out)),
        Term::Apply(head, arguments) => {
            free(head, out);
            arguments.iter().for_each(|term| free(term, out));
        }
        Term::Lambda(variables, body) | Term::Quantified { variables, body, .. } => without(body, variables, out),
        Term::Comprehension { variable, body, .. } => without(body, std::slice::from_ref(variable), out),
        Term::Where(definitions, body) => {
            definitions.iter().for_each(|(_, term)| free(term, out));
            let bound: Vec<VariableId> = definitions.iter().map(|(variable, _)| *variable).collect();
            without(body, &bound, out);
        }
    });
}

fn without(body: &Term, bound: &[VariableId], out: &mut Vec<VariableId>) {
    let mut inner = Vec::new();
    free(body, &mut inner);
    out.extend(inner.into_iter().filter(|variable| !bound.contains(variable)));
}

/// A term with variables replaced by terms. Every binder has variables of its own, so nothing is captured.
pub(crate) fn substitute(term: &Term, by: &HashMap<VariableId, Term>) -> Term {
    if by.is_empty() {
        return term.clone();
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let all = |terms: &[Term]| terms.iter().map(|term| substitute(term, by)).collect::<Vec<_>>();
        match term {
            Term::Variable(variable) => by.get(variable).unwrap_or(term).clone(),
            Term::Boolean(_) | Term::Number(_) | Term::Value(_) => term.clone(),
            Term::Call(function, arguments) => Term::Call(*function, all(arguments)),
            Term::Operation(operation, arguments) => Term::Operation(*operation, all(arguments)),
            Term::Apply(head, arguments) => Term::Apply(Box::new(substitute(head, by)), all(arguments)),
            Term::Lambda(variables, body) => Term::Lambda(variables.clone(), Box::new(substitute(body, by))),
            Term::Quantified { forall, variables, body } => {
                Term::Quantified { forall: *forall, variables: variables.clone(), body: Box::new(substitute(body, by)) }
            }
            Term::Comprehension { bag, variable, body } => {
                Term::Comprehension { bag: *bag, variable: *variable, body: Box::new(substitute(body, by)) }
            }
            Term::Where(definitions, body) => {
                let definitions = definitions.iter().map(|(variable, term)| (*variable, substitute(term, by))).collect();
                Term::Where(definitions, Box::new(substitute(body, by)))
            }
        }
    })
}
