//! Declarations: sorts, constructors, mappings, actions, and equations.

use super::{Typed, Typing};
use crate::diagnostics::Diagnostic;
use crate::mcrl2::ast::{self, SortKind};
use crate::source::Span;
use std::collections::HashMap;
use wayfarer_algebra::{Action, ActionId, Equation, Function, FunctionId, Role, Sort, SortId, Term};

impl Typing {
    /// Declares sorts, functions and actions.
    pub(super) fn declare(&mut self, tree: &ast::Specification) {
        self.declare_sorts(tree);
        for (list, is_constructor) in [(&tree.constructors, true), (&tree.maps, false)] {
            for declaration in list {
                let Ok(sort) = self.resolve(&declaration.sort) else { continue };
                for name in &declaration.names {
                    let role = if is_constructor { Role::Constructor(0) } else { Role::Map };
                    let Ok(number) = self.function(name, sort, role) else { continue };
                    if is_constructor {
                        let result = self.out.functions[number.index()].result;
                        match self.out.sorts.get_mut(result.index()) {
                            Some(Sort::Data { constructors, .. }) => {
                                self.out.functions[number.index()].role = Role::Constructor(constructors.len() as u32);
                                constructors.push(number);
                            }
                            _ => {
                                let _: Typed<()> =
                                    self.error(declaration.sort.span, "constructors can only be added to a sort that was declared without a meaning");
                            }
                        }
                    }
                }
            }
        }
        self.refuse_empty_sorts(tree);
        for variables in &tree.globals {
            // A global variable may have any value: it is a constant about which nothing is known.
            let Ok(sort) = self.resolve(&variables.sort) else { continue };
            for name in &variables.names {
                let _ = self.function(name, sort, Role::Map);
            }
        }
        for declaration in &tree.actions {
            let Ok(arguments) = declaration.sorts.iter().map(|sort| self.resolve(sort)).collect::<Typed<Vec<_>>>() else { continue };
            for name in &declaration.names {
                let known = self.actions.entry(name.text.clone()).or_default();
                if known.iter().any(|action| self.out.actions[action.index()].arguments == arguments) {
                    let _: Typed<()> = self.error(name.span, format!("the action `{}` is declared twice", name.text));
                    continue;
                }
                known.push(ActionId(self.out.actions.len() as u32));
                self.out.actions.push(Action { name: name.text.clone(), arguments: arguments.clone() });
            }
        }
    }

    /// Names of sorts first, since sorts may refer to each other in any order.
    fn declare_sorts(&mut self, tree: &ast::Specification) {
        let mut aliases: HashMap<&str, &ast::Sort> = HashMap::new();
        for declaration in &tree.sorts {
            let name = &declaration.name;
            if aliases.contains_key(name.text.as_str()) || self.sort_names.contains_key(&name.text) {
                let _: Typed<()> = self.error(name.span, format!("the sort `{}` is declared twice", name.text));
                continue;
            }
            match &declaration.meaning {
                Some(meaning) if !matches!(meaning.kind, SortKind::Struct(_)) => {
                    aliases.insert(&name.text, meaning);
                }
                _ => {
                    let sort = self.sort_id(Sort::Data { name: name.text.clone(), constructors: Vec::new() });
                    self.sort_names.insert(name.text.clone(), sort);
                }
            }
        }
        for declaration in &tree.sorts {
            let _ = self.alias(&declaration.name.text, &aliases, 0);
        }
        for declaration in &tree.sorts {
            if let Some(ast::Sort { kind: SortKind::Struct(constructors), .. }) = &declaration.meaning
                && let Some(sort) = self.sort_names.get(&declaration.name.text).copied()
            {
                let _ = self.structured(Some(sort), constructors);
            }
        }
    }

    /// Reports sorts none of whose constructors can be given arguments. Sums leave out variables that nothing depends on, so every sort must have a value.
    fn refuse_empty_sorts(&mut self, tree: &ast::Specification) {
        let mut inhabited = vec![false; self.out.sorts.len()];
        loop {
            let has_value = |sort: &SortId| inhabited[sort.index()];
            let next: Vec<bool> = self
                .out
                .sorts
                .iter()
                .map(|sort| match sort {
                    Sort::Data { constructors, .. } if !constructors.is_empty() => {
                        constructors.iter().any(|constructor| self.out.functions[constructor.index()].arguments.iter().all(has_value))
                    }
                    Sort::Function(_, result) => has_value(result),
                    _ => true,
                })
                .collect();
            if next == inhabited {
                break;
            }
            inhabited = next;
        }
        for declaration in &tree.sorts {
            let Some(Sort::Data { name, constructors }) = self.sort_names.get(&declaration.name.text).and_then(|sort| self.sort_of(*sort)) else {
                continue;
            };
            let own = self.sort_names[&declaration.name.text];
            if inhabited[own.index()] || *name != declaration.name.text {
                continue;
            }
            let missing = |constructor: &FunctionId| {
                let arguments = &self.out.functions[constructor.index()].arguments;
                arguments.iter().find(|sort| **sort == own).or_else(|| arguments.iter().find(|sort| !inhabited[sort.index()])).copied()
            };
            let mut needed: Vec<String> = constructors.iter().filter_map(missing).map(|sort| format!("`{}`", self.show(sort))).collect();
            needed.sort();
            needed.dedup();
            let message = format!("sort `{name}` has no values: every constructor needs a value of {}", needed.join(" or "));
            let help = "add a constructor without arguments, or one whose arguments have values";
            let _: Typed<()> = self.report(Diagnostic::error(declaration.name.span, message).with_help(help));
        }
    }

    /// Gives an alias its meaning, and before that all aliases it refers to.
    fn alias(&mut self, name: &str, aliases: &HashMap<&str, &ast::Sort>, depth: usize) -> Typed<()> {
        let Some(meaning) = aliases.get(name) else { return Ok(()) };
        if self.sort_names.contains_key(name) {
            return Ok(());
        }
        if depth > aliases.len() {
            return self.error(meaning.span, format!("the sort `{name}` is defined by itself"));
        }
        let mut names = Vec::new();
        mentioned(meaning, &mut names);
        for other in names {
            self.alias(&other, aliases, depth + 1)?;
        }
        if self.sort_names.contains_key(name) {
            return Ok(());
        }
        let sort = self.resolve(meaning)?;
        self.sort_names.insert(name.to_string(), sort);
        Ok(())
    }

    /// The constructors, projections and recognisers of a structured sort, which gets a new number if it has none yet.
    pub(super) fn structured(&mut self, sort: Option<SortId>, constructors: &[ast::Constructor]) -> Typed<SortId> {
        let sort = sort.unwrap_or_else(|| {
            let names: Vec<&str> = constructors.iter().map(|constructor| constructor.name.text.as_str()).collect();
            let name = format!("struct {} #{}", names.join(" | "), self.out.sorts.len());
            self.sort_id(Sort::Data { name, constructors: Vec::new() })
        });
        let boolean = self.boolean();
        let mut projections: Vec<Projection> = Vec::new();
        let mut recognisers = Vec::new();
        for (index, constructor) in constructors.iter().enumerate() {
            let arguments = constructor.arguments.iter().map(|(_, sort)| self.resolve(sort)).collect::<Typed<Vec<_>>>()?;
            let whole = if arguments.is_empty() { sort } else { self.sort_id(Sort::Function(arguments.clone(), sort)) };
            let number = self.function(&constructor.name, whole, Role::Constructor(index as u32))?;
            if let Some(Sort::Data { constructors, .. }) = self.out.sorts.get_mut(sort.index()) {
                constructors.push(number);
            }
            for (place, ((name, _), argument)) in constructor.arguments.iter().zip(&arguments).enumerate() {
                let Some(name) = name else { continue };
                match projections.iter_mut().find(|(known, sort, _)| known.text == name.text && sort == argument) {
                    Some((_, _, places)) => places.push((number, place)),
                    None => projections.push((name.clone(), *argument, vec![(number, place)])),
                }
            }
            if let Some(name) = &constructor.recogniser {
                recognisers.push((name.clone(), number));
            }
        }
        for (name, result, places) in projections {
            let whole = self.sort_id(Sort::Function(vec![sort], result));
            self.function(&name, whole, Role::Projection(places))?;
        }
        for (name, constructor) in recognisers {
            let whole = self.sort_id(Sort::Function(vec![sort], boolean));
            self.function(&name, whole, Role::Recogniser(constructor))?;
        }
        Ok(sort)
    }

    /// Declares a function.
    fn function(&mut self, name: &ast::Name, sort: SortId, role: Role) -> Typed<FunctionId> {
        let number = FunctionId(self.out.functions.len() as u32);
        let known = self.functions.entry(name.text.clone()).or_default();
        let same = known.iter().copied().find(|other| self.function_sorts[other.index()] == sort);
        if let Some(other) = same {
            if role == Role::Map && self.out.functions[other.index()].role == Role::Map {
                // Aliases make this happen, and it is harmless: all equations are about one function.
                self.diagnostics.push(Diagnostic::warning(name.span, format!("the mapping `{}` of this sort is declared twice", name.text)));
                return Ok(other);
            }
            let written = self.show(sort);
            return self.error(name.span, format!("the function `{}` of sort {written} is declared twice", name.text));
        }
        known.push(number);
        let (mut arguments, mut result, mut first) = (Vec::new(), sort, 0);
        while let Some(Sort::Function(domain, codomain)) = self.sort_of(result).cloned() {
            if arguments.is_empty() {
                first = domain.len();
            }
            arguments.extend(domain);
            result = codomain;
        }
        self.function_sorts.push(sort);
        self.out.functions.push(Function { name: name.text.clone(), role, arguments, first, result });
        Ok(number)
    }

    /// Gives equations their sorts.
    pub(super) fn equations(&mut self, tree: &ast::Specification) {
        for section in &tree.equations {
            self.scope.clear();
            if self.bind(&section.variables).is_err() {
                continue;
            }
            for equation in &section.list {
                if let Ok(equation) = self.equation(equation) {
                    self.out.equations.push(equation);
                }
            }
        }
        self.scope.clear();
    }

    fn equation(&mut self, equation: &ast::Equation) -> Typed<Equation> {
        let boolean = self.boolean();
        let condition = equation.condition.as_ref().map(|condition| self.check(condition, boolean)).transpose()?;
        let left = self.infer(&equation.left)?;
        let right = self.infer(&equation.right)?;
        let mut best: Option<(u32, Term, Term)> = None;
        let mut tie = false;
        for one in &left {
            for other in &right {
                let Some(cost) = self.fits(other.sort, one.sort) else { continue };
                let cost = cost + one.cost + other.cost;
                let least = best.as_ref().map_or(u32::MAX, |best| best.0);
                tie = if cost == least { true } else { tie && cost > least };
                if cost < least {
                    tie = one.ambiguous || other.ambiguous;
                    best = Some((cost, one.term.clone(), other.term.clone()));
                }
            }
        }
        let Some((_, left, right)) = best else {
            let (one, other) = (self.sorts_of(&left), self.sorts_of(&right));
            return self.error(equation.span, format!("the left side has sort {one}, but the right side has sort {other}"));
        };
        if tie {
            return self.error(equation.span, "the functions in this equation can be read in more than one way");
        }
        if matches!(&left, Term::Operation(..)) {
            // Such an equation is a lemma about a built-in operation, which is carried out without equations.
            let message = "this equation is about a built-in operation, and is not used";
            return self.report(Diagnostic::warning(equation.left.span, message));
        }
        let (function, patterns) = self.head(left, equation.left.span)?;
        let mut bound = Vec::new();
        for pattern in &patterns {
            pattern.add_free(&mut bound);
        }
        let mut used = Vec::new();
        right.add_free(&mut used);
        if let Some(condition) = &condition {
            condition.add_free(&mut used);
        }
        // Variables that are bound inside the right side are no variables of the section.
        if let Some(stray) = used.iter().find(|variable| !bound.contains(variable) && self.scope.iter().any(|(_, known)| known == *variable)) {
            let name = self.out.variables[stray.index()].name.clone();
            let diagnostic = Diagnostic::error(equation.span, format!("the variable `{name}` does not occur on the left side"));
            return self.report(diagnostic.with_help("an equation can only use what its left side gives it"));
        }
        Ok(Equation { function, patterns, condition, right })
    }

    /// The function that a left side rewrites, and its patterns.
    fn head(&mut self, left: Term, span: Span) -> Typed<(FunctionId, Vec<Term>)> {
        match left {
            Term::Call(function, patterns) => Ok((function, patterns)),
            Term::Apply(inner, more) => {
                let (function, mut patterns) = self.head(*inner, span)?;
                patterns.extend(more);
                Ok((function, patterns))
            }
            _ => self.error(span, "the left side of an equation must begin with a function that was declared by `map` or `cons`"),
        }
    }
}

/// The names that a sort expression mentions.
fn mentioned(sort: &ast::Sort, names: &mut Vec<String>) {
    match &sort.kind {
        SortKind::Named(name) => names.push(name.clone()),
        SortKind::Container(_, element) => mentioned(element, names),
        SortKind::Function(domain, codomain) => {
            domain.iter().for_each(|sort| mentioned(sort, names));
            mentioned(codomain, names);
        }
        SortKind::Struct(constructors) => {
            constructors.iter().flat_map(|constructor| &constructor.arguments).for_each(|(_, sort)| mentioned(sort, names));
        }
    }
}

/// A projection: its name, the sort it gives, and the constructors that have it, each with the place of the argument.
type Projection = (ast::Name, SortId, Vec<(FunctionId, usize)>);
