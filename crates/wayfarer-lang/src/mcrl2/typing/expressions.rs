//! Expressions: all sorts that each can have.

use super::{Candidate, Told, Typed, Typing, UNKNOWN};
use crate::diagnostics::Diagnostic;
use crate::mcrl2::ast::{Binder, Expression, ExpressionKind};
use crate::source::Span;
use num_bigint::BigInt;
use wayfarer_algebra::{Operation, Sort, SortId, Term};

impl Typing {
    /// The expression as a term of the given sort.
    pub(super) fn check(&mut self, expression: &Expression, sort: SortId) -> Typed<Term> {
        let candidates = self.infer(expression)?;
        match self.pick(&candidates, sort) {
            Some(best) if best.ambiguous => self.error(expression.span, "this can be read in more than one way"),
            Some(best) => Ok(best.term),
            None => {
                let (wanted, found) = (self.show(sort), self.sorts_of(&candidates));
                self.error(expression.span, format!("expected a value of sort {wanted}, but this has sort {found}"))
            }
        }
    }

    /// The cheapest candidate that fits a sort.
    pub(super) fn pick(&self, candidates: &[Candidate], sort: SortId) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        for candidate in candidates {
            let Some(cost) = self.fits(candidate.sort, sort) else { continue };
            let cost = cost + candidate.cost;
            match &mut best {
                Some(best) if best.cost < cost => {}
                Some(best) if best.cost == cost => best.ambiguous = true,
                _ => best = Some(Candidate { cost, ..candidate.clone() }),
            }
        }
        best
    }

    /// The one candidate that is cheapest of all.
    fn only(&mut self, candidates: Vec<Candidate>, span: Span) -> Typed<Candidate> {
        let least = candidates.iter().map(|candidate| candidate.cost).min().unwrap_or(0);
        let mut cheapest = candidates.into_iter().filter(|candidate| candidate.cost == least);
        match (cheapest.next(), cheapest.next()) {
            (Some(only), None) if !only.ambiguous => Ok(only),
            _ => self.error(span, "this can be read in more than one way"),
        }
    }

    /// The sorts of candidates, as they are written.
    pub(super) fn sorts_of(&self, candidates: &[Candidate]) -> String {
        let sorts: Vec<String> = candidates.iter().map(|candidate| self.show(candidate.sort)).collect();
        sorts.join(" or ")
    }

    /// All ways to read an expression, one for each sort; at least one.
    pub(super) fn infer(&mut self, expression: &Expression) -> Typed<Vec<Candidate>> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.infer_kind(expression))
    }

    fn infer_kind(&mut self, expression: &Expression) -> Typed<Vec<Candidate>> {
        let span = expression.span;
        let candidates = match &expression.kind {
            ExpressionKind::Name(name) => self.name(name, span)?,
            ExpressionKind::Number(digits) => {
                let number = digits.parse::<BigInt>().map_err(|_| Told)?;
                let sort = self.number_sort(u32::from(number == BigInt::ZERO));
                vec![candidate(sort, 0, Term::Number(number))]
            }
            ExpressionKind::List(elements) => self.enumerated(elements, Sort::List, Operation::ListOf)?,
            ExpressionKind::Set(elements) => self.enumerated(elements, Sort::Set, Operation::SetOf)?,
            ExpressionKind::Bag(elements) => {
                let natural = self.number_sort(1);
                let mut firsts = Vec::new();
                let mut numbers = Vec::new();
                for (element, number) in elements {
                    firsts.push(self.infer(element)?);
                    numbers.push(self.check(number, natural)?);
                }
                let mut list = self.common(firsts, span)?;
                for (sort, _, terms) in &mut list {
                    *sort = self.sort_id(Sort::Bag(*sort));
                    *terms = terms.drain(..).zip(&numbers).flat_map(|(term, number)| [term, number.clone()]).collect();
                }
                list.into_iter().map(|(sort, cost, terms)| candidate(sort, cost, Term::Operation(Operation::BagOf, terms))).collect()
            }
            ExpressionKind::Comprehension(variables, body) => self.comprehension(variables, body)?,
            ExpressionKind::Apply(head, arguments) => self.apply(head, arguments, span)?,
            ExpressionKind::Update(function, place, value) => self.update(function, place, value, span)?,
            ExpressionKind::Unary(sign, operand) => {
                let operand = self.infer(operand)?;
                self.unary(sign, &operand, span)?
            }
            ExpressionKind::Binary(sign, left, right) => {
                let left = self.infer(left)?;
                let right = self.infer(right)?;
                self.binary(sign, &left, &right, span)?
            }
            ExpressionKind::Binder(binder, variables, body) => {
                let depth = self.scope.len();
                let bound = self.bind(variables)?;
                let result = self.infer(body);
                self.scope.truncate(depth);
                let domain: Vec<SortId> = bound.iter().map(|variable| self.sort_of_variable(*variable)).collect();
                let candidates = result?;
                if *binder == Binder::Lambda {
                    let mut list = Vec::new();
                    for Candidate { sort, cost, term, ambiguous } in candidates {
                        let sort = self.sort_id(Sort::Function(domain.clone(), sort));
                        list.push(Candidate { sort, cost, term: Term::Lambda(bound.clone(), Box::new(term)), ambiguous });
                    }
                    list
                } else {
                    let boolean = self.boolean();
                    let Some(body) = self.pick(&candidates, boolean) else {
                        let found = self.sorts_of(&candidates);
                        return self.error(span, format!("expected a condition behind the variables, but it has sort {found}"));
                    };
                    let term = Term::Quantified { forall: *binder == Binder::Forall, variables: bound, body: Box::new(body.term) };
                    vec![Candidate { sort: boolean, term, ..body }]
                }
            }
            ExpressionKind::Where(body, assignments) => {
                let depth = self.scope.len();
                let mut definitions = Vec::new();
                for (name, value) in assignments {
                    let found = self.infer(value)?;
                    let found = self.only(found, value.span)?;
                    definitions.push((name, found));
                }
                let mut bound = Vec::new();
                for (name, found) in definitions {
                    let variable = self.variable(&name.text, found.sort);
                    self.scope.push((name.text.clone(), variable));
                    bound.push((variable, found.term));
                }
                let result = self.infer(body);
                self.scope.truncate(depth);
                let make = |found: Candidate| Candidate { term: Term::Where(bound.clone(), Box::new(found.term)), ..found };
                result?.into_iter().map(make).collect()
            }
        };
        Ok(merged(candidates))
    }

    fn name(&mut self, name: &str, span: Span) -> Typed<Vec<Candidate>> {
        if let "true" | "false" = name {
            let sort = self.boolean();
            return Ok(vec![candidate(sort, 0, Term::Boolean(name == "true"))]);
        }
        if let Some(variable) = self.in_scope(name) {
            return Ok(vec![candidate(self.sort_of_variable(variable), 0, Term::Variable(variable))]);
        }
        match self.functions.get(name) {
            Some(list) => {
                let make =
                    |function: &wayfarer_algebra::FunctionId| candidate(self.function_sorts[function.index()], 0, Term::Call(*function, Vec::new()));
                Ok(list.iter().map(make).collect())
            }
            None if self.is_builtin(name) => self.error(span, format!("the function `{name}` must be given its arguments here")),
            None => {
                let diagnostic = Diagnostic::error(span, format!("unknown name `{name}`"));
                match self.similar(name) {
                    Some(known) => self.report(diagnostic.with_help(format!("there is `{known}`"))),
                    None => self.report(diagnostic),
                }
            }
        }
    }

    /// A known name that differs from an unknown one by its case or by one letter.
    fn similar(&self, name: &str) -> Option<String> {
        let near = |known: &&String| {
            known.eq_ignore_ascii_case(name)
                || (known.len().abs_diff(name.len()) <= 1 && name.len() > 2 && {
                    let same = known.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
                    let rest = known.len().max(name.len()) - same;
                    known.bytes().rev().zip(name.bytes().rev()).take_while(|(one, other)| one == other).count() + 1 >= rest
                })
        };
        let variables = self.scope.iter().map(|(name, _)| name);
        let mut known: Vec<&String> = variables.chain(self.functions.keys()).filter(near).collect();
        known.sort();
        known.first().map(|name| (*name).clone())
    }

    /// All common sorts of several expressions, with their terms.
    fn common(&mut self, lists: Vec<Vec<Candidate>>, span: Span) -> Typed<Vec<(SortId, u32, Vec<Term>)>> {
        let mut common: Vec<(SortId, u32, Vec<Term>)> = vec![(UNKNOWN, 0, Vec::new())];
        for candidates in lists {
            let mut next: Vec<(SortId, u32, Vec<Term>)> = Vec::new();
            let several = common.len() * candidates.len() > 1;
            for (sort, cost, terms) in &mut common {
                for found in &candidates {
                    let Some(joined) = self.join(*sort, found.sort) else { continue };
                    let cost = *cost + found.cost;
                    if next.iter().any(|(known, least, _)| *known == joined && *least <= cost) {
                        continue;
                    }
                    // The usual case has one reading only, and moves the terms instead of copying them.
                    let mut terms = if several { terms.clone() } else { std::mem::take(terms) };
                    terms.push(found.term.clone());
                    next.push((joined, cost, terms));
                }
            }
            if next.is_empty() {
                return self.error(span, "the elements have no common sort");
            }
            common = next;
        }
        Ok(common)
    }

    fn enumerated(&mut self, elements: &[Expression], make: fn(SortId) -> Sort, operation: Operation) -> Typed<Vec<Candidate>> {
        let span = elements.first().map_or(Span::default(), |first| first.span);
        let lists = elements.iter().map(|element| self.infer(element)).collect::<Typed<Vec<_>>>()?;
        let common = self.common(lists, span)?;
        Ok(common.into_iter().map(|(sort, cost, terms)| candidate(self.sort_id(make(sort)), cost, Term::Operation(operation, terms))).collect())
    }

    fn comprehension(&mut self, variables: &crate::mcrl2::ast::Variables, body: &Expression) -> Typed<Vec<Candidate>> {
        let depth = self.scope.len();
        let bound = self.bind(std::slice::from_ref(variables))?;
        let result = self.infer(body);
        self.scope.truncate(depth);
        let (Some(variable), candidates) = (bound.first().copied(), result?) else { return Err(Told) };
        let element = self.sort_of_variable(variable);
        let (boolean, natural) = (self.boolean(), self.number_sort(1));
        for (wanted, bag) in [(boolean, false), (natural, true)] {
            if let Some(found) = self.pick(&candidates, wanted) {
                let sort = self.sort_id(if bag { Sort::Bag(element) } else { Sort::Set(element) });
                let term = Term::Comprehension { bag, variable, body: Box::new(found.term) };
                return Ok(vec![Candidate { sort, term, ..found }]);
            }
        }
        let found = self.sorts_of(&candidates);
        self.error(body.span, format!("expected a condition or a number behind `|`, but this has sort {found}"))
    }

    fn update(&mut self, function: &Expression, place: &Expression, value: &Expression, span: Span) -> Typed<Vec<Candidate>> {
        let functions = self.infer(function)?;
        let places = self.infer(place)?;
        let values = self.infer(value)?;
        let mut list = Vec::new();
        for found in &functions {
            let Some(Sort::Function(domain, codomain)) = self.sort_of(found.sort).cloned() else { continue };
            let [domain] = domain.as_slice() else { continue };
            let (Some(place), Some(value)) = (self.pick(&places, *domain), self.pick(&values, codomain)) else { continue };
            let term = Term::Operation(Operation::Update, vec![found.term.clone(), place.term, value.term]);
            list.push(candidate(found.sort, found.cost + place.cost + value.cost, term));
        }
        if list.is_empty() {
            let written = self.sorts_of(&functions);
            return self.error(span, format!("a function of sort {written} cannot be changed at such a place to such a value"));
        }
        Ok(list)
    }

    fn apply(&mut self, head: &Expression, arguments: &[Expression], span: Span) -> Typed<Vec<Candidate>> {
        let arguments_found = arguments.iter().map(|argument| self.infer(argument)).collect::<Typed<Vec<_>>>()?;
        let mut heads = Vec::new();
        let mut list = Vec::new();
        match &head.kind {
            ExpressionKind::Name(name) if self.in_scope(name).is_none_or(|variable| !self.is_function(self.sort_of_variable(variable))) => {
                if let Some(functions) = self.functions.get(name) {
                    heads.extend(
                        functions.iter().map(|function| candidate(self.function_sorts[function.index()], 0, Term::Call(*function, Vec::new()))),
                    );
                }
                if let Some(found) = self.builtin(name, &arguments_found) {
                    list.push(found);
                } else if heads.is_empty() && !self.is_builtin(name) {
                    self.name(name, head.span)?;
                }
            }
            _ => heads = self.infer(head)?,
        }
        for found in heads {
            let Some(Sort::Function(domain, codomain)) = self.sort_of(found.sort).cloned() else { continue };
            if domain.len() != arguments_found.len() {
                continue;
            }
            let (mut cost, mut terms, mut ambiguous) = (found.cost, Vec::new(), found.ambiguous);
            for (candidates, wanted) in arguments_found.iter().zip(&domain) {
                let Some(best) = self.pick(candidates, *wanted) else { break };
                cost += best.cost;
                ambiguous |= best.ambiguous;
                terms.push(best.term);
            }
            if terms.len() < domain.len() {
                continue;
            }
            let term = match found.term {
                Term::Call(function, mut first) if first.len() + terms.len() <= self.out.functions[function.index()].arguments.len() => {
                    first.extend(terms);
                    Term::Call(function, first)
                }
                other => Term::Apply(Box::new(other), terms),
            };
            list.push(Candidate { sort: codomain, cost, term, ambiguous });
        }
        if list.is_empty() {
            let sorts: Vec<String> = arguments_found.iter().map(|candidates| self.sorts_of(candidates)).collect();
            let what = match &head.kind {
                ExpressionKind::Name(name) => format!("`{name}`"),
                _ => "this".to_string(),
            };
            return self.error(span, format!("{what} cannot be applied to arguments of sort {}", sorts.join(" # ")));
        }
        Ok(list)
    }

    fn is_function(&self, sort: SortId) -> bool {
        matches!(self.sort_of(sort), Some(Sort::Function(..)))
    }
}

pub(super) fn candidate(sort: SortId, cost: u32, term: Term) -> Candidate {
    Candidate { sort, cost, term, ambiguous: false }
}

/// One candidate for each sort: the cheapest, marked if there are several of them.
pub(super) fn merged(list: Vec<Candidate>) -> Vec<Candidate> {
    let mut merged: Vec<Candidate> = Vec::new();
    for found in list {
        match merged.iter_mut().find(|known| known.sort == found.sort) {
            Some(known) if known.cost < found.cost => {}
            Some(known) if known.cost == found.cost => known.ambiguous = true,
            Some(known) => *known = found,
            None => merged.push(found),
        }
    }
    merged
}
