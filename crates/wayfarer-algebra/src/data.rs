//! The data part of a specification, ready to be evaluated: sorts, functions with their decision trees, and the table of values.

use crate::code::{Lambda, TooMany, substitute};
use crate::matching::{self, Rules};
use crate::segments::Segments;
use crate::specification::{Equation, Function, FunctionId, Role, Sort, SortId, Specification, Term, Variable, VariableId};
use crate::value::{NoRoom, Node, Value, Values};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// The most values of a sort that are enumerated at once.
const MOST_VALUES: usize = 1 << 16;

/// The data part of a specification.
#[derive(Debug, Default)]
pub(crate) struct Data {
    pub(crate) sorts: Vec<Sort>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) values: Values,
    pub(crate) rules: Vec<Vec<Rules>>,
    pub(crate) lambdas: Segments<Lambda>,
    /// The values of functions without arguments, once they are known.
    pub(crate) constants: Vec<OnceLock<Value>>,
    /// All values of a sort, if it is finite and small.
    finite: Vec<OnceLock<Option<Arc<[Value]>>>>,
    with_equations: Vec<bool>,
    /// Functions that are an abbreviation: one equation, without conditions, over variables only.
    abbreviations: HashMap<FunctionId, (Vec<VariableId>, Term)>,
}

impl Data {
    /// Takes over the data part of a specification and compiles its equations.
    pub(crate) fn new(specification: &Specification) -> Result<Self, TooMany> {
        let mut data = Data {
            sorts: specification.sorts.clone(),
            functions: specification.functions.clone(),
            variables: specification.variables.clone(),
            with_equations: vec![false; specification.functions.len()],
            ..Data::default()
        };
        data.constants = specification.functions.iter().map(|_| OnceLock::new()).collect();
        data.finite = specification.sorts.iter().map(|_| OnceLock::new()).collect();
        let mut by_function: Vec<Vec<&Equation>> = vec![Vec::new(); specification.functions.len()];
        for equation in &specification.equations {
            by_function[equation.function.index()].push(equation);
            data.with_equations[equation.function.index()] = true;
        }
        for (index, equations) in by_function.iter().enumerate() {
            if let [equation] = equations.as_slice()
                && equation.condition.is_none()
            {
                let variable = |term: &Term| if let Term::Variable(variable) = term { Some(*variable) } else { None };
                let parameters: Option<Vec<VariableId>> = equation.patterns.iter().map(variable).collect();
                if let Some(parameters) = parameters
                    && parameters.iter().collect::<HashSet<_>>().len() == parameters.len()
                {
                    data.abbreviations.insert(FunctionId(index as u32), (parameters, equation.right.clone()));
                }
            }
        }
        // Codes refer to functions by number, so that the order of compiling does not matter.
        let mut rules = Vec::new();
        for equations in by_function {
            rules.push(matching::compile(&data, &equations)?);
        }
        data.rules = rules;
        Ok(data)
    }

    pub(crate) fn has_equations(&self, function: FunctionId) -> bool {
        self.with_equations[function.index()]
    }

    /// Whether a function is a constructor that no equation rewrites.
    pub(crate) fn is_plain_constructor(&self, function: FunctionId) -> bool {
        matches!(self.functions[function.index()].role, Role::Constructor(_)) && !self.has_equations(function)
    }

    /// The meaning of a function that is an abbreviation, with its arguments in place.
    pub(crate) fn unabbreviated(&self, function: FunctionId, arguments: &[Term]) -> Option<Term> {
        let (parameters, right) = self.abbreviations.get(&function)?;
        (parameters.len() == arguments.len()).then(|| substitute(right, &parameters.iter().copied().zip(arguments.iter().cloned()).collect()))
    }

    pub(crate) fn lambda(&self, lambda: Lambda) -> u32 {
        self.lambdas.push(lambda).unwrap_or(u32::MAX)
    }

    /// A function with arguments that is not rewritten.
    pub(crate) fn term(&self, function: FunctionId, arguments: &[Value]) -> Result<Value, NoRoom> {
        let symbol = &self.functions[function.index()];
        let whole = matches!(symbol.role, Role::Constructor(_)) && arguments.len() == symbol.arguments.len() && !self.has_equations(function);
        let is_pure = whole && arguments.iter().all(|argument| self.values.is_pure(*argument));
        self.values.intern(Node::Term(function, arguments.into()), is_pure)
    }

    pub(crate) fn empty_set(&self) -> Result<Value, NoRoom> {
        self.values.intern(Node::Set { complement: false, elements: Box::new([]) }, true)
    }

    pub(crate) fn empty_bag(&self) -> Result<Value, NoRoom> {
        self.values.intern(Node::Bag(Box::new([])), true)
    }

    /// All values of a sort in their order, if these are not too many.
    pub(crate) fn all_values(&self, sort: SortId) -> Option<Arc<[Value]>> {
        self.finite.get(sort.index())?.get_or_init(|| self.enumerate(sort, &mut Vec::new())).clone()
    }

    fn enumerate(&self, sort: SortId, within: &mut Vec<SortId>) -> Option<Arc<[Value]>> {
        if let Some(Some(known)) = self.finite.get(sort.index())?.get() {
            return Some(known.clone());
        }
        if within.contains(&sort) || within.len() > 64 {
            return None;
        }
        within.push(sort);
        let found: Option<Arc<[Value]>> = self.enumerate_kind(sort, within).map(Into::into);
        within.pop();
        // The outermost sort is kept by the caller. The values of the others are kept here, because a sort can be an argument of many constructors.
        if let Some(found) = found.as_ref().filter(|_| !within.is_empty()) {
            let _ = self.finite[sort.index()].set(Some(found.clone()));
        }
        found
    }

    fn enumerate_kind(&self, sort: SortId, within: &mut Vec<SortId>) -> Option<Vec<Value>> {
        match self.sorts.get(sort.index())? {
            Sort::Boolean => Some(vec![Value::FALSE, Value::TRUE]),
            Sort::Positive | Sort::Natural | Sort::Integer | Sort::Real | Sort::List(_) | Sort::Bag(_) => None,
            Sort::Set(element) => {
                let elements = self.enumerate(*element, within)?;
                if elements.len() > 12 {
                    return None;
                }
                let subset = |bits: usize| {
                    let chosen = elements.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1).map(|(_, element)| *element).collect();
                    self.values.intern(Node::Set { complement: false, elements: chosen }, true).ok()
                };
                (0..1 << elements.len()).map(subset).collect()
            }
            Sort::Function(domain, codomain) => {
                let [domain] = domain.as_slice() else { return None };
                let (places, results) = (self.enumerate(*domain, within)?, self.enumerate(*codomain, within)?);
                let count = results.len().checked_pow(places.len() as u32).filter(|count| *count <= 4096)?;
                (0..count).map(|number| self.table(&places, &results, number)).collect()
            }
            Sort::Data { constructors, .. } if constructors.is_empty() => None,
            Sort::Data { constructors, .. } => {
                let mut all = Vec::new();
                for constructor in constructors {
                    if self.has_equations(*constructor) {
                        return None;
                    }
                    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
                    for argument in &self.functions[constructor.index()].arguments {
                        let values = self.enumerate(*argument, within)?;
                        if rows.len().checked_mul(values.len()).is_none_or(|count| count > MOST_VALUES) {
                            return None;
                        }
                        rows = rows.iter().flat_map(|row| values.iter().map(move |value| [row.as_slice(), &[*value]].concat())).collect();
                    }
                    for row in rows {
                        all.push(self.term(*constructor, &row).ok()?);
                    }
                    if all.len() > MOST_VALUES {
                        return None;
                    }
                }
                Some(all)
            }
        }
    }

    /// The function with the given number among all functions between two finite sorts: a constant with some places changed.
    fn table(&self, places: &[Value], results: &[Value], mut number: usize) -> Option<Value> {
        let mut entries = Vec::new();
        for place in places {
            entries.push((*place, *results.get(number % results.len())?));
            number /= results.len();
        }
        let base = self.values.intern(Node::Tuple(Box::new([])), true).ok()?;
        self.values.intern(Node::Update { base, entries: entries.into() }, false).ok()
    }
}
