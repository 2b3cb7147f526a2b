//! Processes: which action or process a name means, and the sorts of arguments.

use super::{Typed, Typing, place};
use crate::diagnostics::Diagnostic;
use crate::mcrl2::ast::{self, ProcessKind as Kind};
use crate::source::Span;
use wayfarer_algebra::{ActionId, Process, ProcessDefinition, ProcessId, ProcessKind, SortId, Term, VariableId};

/// The meaning of a name with arguments.
enum Meaning {
    Action(ActionId),
    Process(ProcessId),
}

impl Typing {
    /// Gives process equations and the initial process their meaning.
    pub(super) fn processes(&mut self, tree: &ast::Specification) {
        let mut scopes = Vec::new();
        for declaration in &tree.processes {
            self.scope.clear();
            let Ok(parameters) = self.bind(&declaration.parameters) else {
                scopes.push(None);
                continue;
            };
            let name = &declaration.name;
            let sorts: Vec<SortId> = parameters.iter().map(|variable| self.sort_of_variable(*variable)).collect();
            let known = self.processes.get(&name.text).cloned().unwrap_or_default();
            if known.iter().any(|process| self.parameter_sorts(*process) == sorts) {
                let _: Typed<()> = self.error(name.span, format!("the process `{}` is declared twice", name.text));
                scopes.push(None);
                continue;
            }
            let number = ProcessId(self.out.processes.len() as u32);
            self.processes.entry(name.text.clone()).or_default().push(number);
            let body = Process { kind: ProcessKind::Delta, place: place(name.span) };
            self.out.processes.push(ProcessDefinition { name: name.text.clone(), parameters, body, place: place(name.span) });
            scopes.push(Some((number, std::mem::take(&mut self.scope))));
        }
        for (declaration, scope) in tree.processes.iter().zip(scopes) {
            let Some((number, scope)) = scope else { continue };
            self.scope = scope;
            if let Ok(body) = self.process(&declaration.body) {
                self.out.processes[number.index()].body = body;
            }
        }
        self.scope.clear();
        if let Some(init) = &tree.init {
            self.out.initial = self.process(init).ok();
        }
    }

    fn parameter_sorts(&self, process: ProcessId) -> Vec<SortId> {
        self.out.processes[process.index()].parameters.iter().map(|variable| self.sort_of_variable(*variable)).collect()
    }

    fn process(&mut self, process: &ast::Process) -> Typed<Process> {
        let kind = stacker::maybe_grow(64 << 10, 1 << 20, || self.process_kind(process))?;
        Ok(Process { kind, place: place(process.span) })
    }

    fn boxed(&mut self, process: &ast::Process) -> Typed<Box<Process>> {
        self.process(process).map(Box::new)
    }

    /// All of a list; what is wrong in several of them is told for each.
    fn all(&mut self, list: &[ast::Process]) -> Typed<Vec<Process>> {
        let read: Vec<Typed<Process>> = list.iter().map(|process| self.process(process)).collect();
        read.into_iter().collect()
    }

    fn process_kind(&mut self, process: &ast::Process) -> Typed<ProcessKind> {
        Ok(match &process.kind {
            Kind::Delta => ProcessKind::Delta,
            Kind::Tau => ProcessKind::Actions(Vec::new()),
            Kind::Apply(name, arguments) => match self.meaning(name, arguments, process.span, true)? {
                (Meaning::Action(action), terms) => ProcessKind::Actions(vec![(action, terms)]),
                (Meaning::Process(called), terms) => ProcessKind::Call(called, terms),
            },
            Kind::Assign(name, assignments) => self.assign(name, assignments, process.span)?,
            Kind::Choice(list) => ProcessKind::Choice(self.all(list)?),
            Kind::Sequence(list) => ProcessKind::Sequence(self.all(list)?),
            Kind::Parallel(list) => ProcessKind::Parallel(self.all(list)?),
            Kind::Sum(variables, body) => {
                let depth = self.scope.len();
                let bound = self.bind(variables)?;
                let body = self.boxed(body);
                self.scope.truncate(depth);
                ProcessKind::Sum(bound, body?)
            }
            Kind::If(condition, then, other) => {
                let boolean = self.boolean();
                let condition = self.check(condition, boolean);
                let then = self.boxed(then);
                let other = match other {
                    Some(other) => self.boxed(other),
                    None => Ok(Box::new(Process { kind: ProcessKind::Delta, place: place(process.span) })),
                };
                ProcessKind::If(condition?, then?, other?)
            }
            Kind::Multi(list) => {
                let mut actions = Vec::new();
                for part in list {
                    match &part.kind {
                        Kind::Tau => {}
                        Kind::Apply(name, arguments) => match self.meaning(name, arguments, part.span, false)? {
                            (Meaning::Action(action), terms) => actions.push((action, terms)),
                            (Meaning::Process(_), _) => return self.not_an_action(part.span),
                        },
                        Kind::Multi(_) => match self.process_kind(part)? {
                            ProcessKind::Actions(more) => actions.extend(more),
                            _ => return self.not_an_action(part.span),
                        },
                        _ => return self.not_an_action(part.span),
                    }
                }
                ProcessKind::Actions(actions)
            }
            Kind::Block(names, inner) => {
                self.known(names.iter())?;
                ProcessKind::Block(texts(names), self.boxed(inner)?)
            }
            Kind::Hide(names, inner) => {
                self.known(names.iter())?;
                ProcessKind::Hide(texts(names), self.boxed(inner)?)
            }
            Kind::Allow(list, inner) => {
                self.known(list.iter().flatten())?;
                ProcessKind::Allow(list.iter().map(|names| texts(names)).collect(), self.boxed(inner)?)
            }
            Kind::Rename(pairs, inner) => {
                self.known(pairs.iter().flat_map(|(from, to)| [from, to]))?;
                let pairs = pairs.iter().map(|(from, to)| (from.text.clone(), to.text.clone())).collect();
                ProcessKind::Rename(pairs, self.boxed(inner)?)
            }
            Kind::Communicate(list, inner) => {
                self.known(list.iter().flat_map(|(from, to)| from.iter().chain([to])))?;
                for (from, _) in list {
                    if let [only] = from.as_slice() {
                        let diagnostic = Diagnostic::error(only.span, "a communication takes at least two actions");
                        return self.report(diagnostic.with_help("use `rename` to give an action another name"));
                    }
                }
                let list = list.iter().map(|(from, to)| (texts(from), to.text.clone())).collect();
                ProcessKind::Communicate(list, self.boxed(inner)?)
            }
        })
    }

    fn not_an_action<T>(&mut self, span: Span) -> Typed<T> {
        let diagnostic = Diagnostic::error(span, "only actions can be joined with `|`");
        self.report(diagnostic.with_help("write `||` to run processes in parallel"))
    }

    fn known<'a>(&mut self, names: impl Iterator<Item = &'a ast::Name>) -> Typed<()> {
        for name in names {
            if !self.actions.contains_key(&name.text) {
                return self.error(name.span, format!("unknown action `{}`", name.text));
            }
        }
        Ok(())
    }

    /// The action or process that a name with arguments means.
    fn meaning(&mut self, name: &ast::Name, arguments: &[ast::Expression], span: Span, processes: bool) -> Typed<(Meaning, Vec<Term>)> {
        let found = arguments.iter().map(|argument| self.infer(argument)).collect::<Typed<Vec<_>>>()?;
        let actions = self.actions.get(&name.text).into_iter().flatten();
        let mut meanings: Vec<(Meaning, Vec<SortId>)> =
            actions.map(|action| (Meaning::Action(*action), self.out.actions[action.index()].arguments.clone())).collect();
        if processes {
            let called = self.processes.get(&name.text).into_iter().flatten();
            meanings.extend(called.map(|process| (Meaning::Process(*process), self.parameter_sorts(*process))));
        }
        if meanings.is_empty() {
            return self.error(name.span, format!("unknown action or process `{}`", name.text));
        }
        let several = meanings.len() > 1;
        let wanted: Vec<String> =
            meanings.iter().map(|(_, sorts)| sorts.iter().map(|sort| self.show(*sort)).collect::<Vec<_>>().join(" # ")).collect();
        let mut best: Option<(u32, bool, Meaning, Vec<Term>)> = None;
        for (meaning, sorts) in meanings {
            if sorts.len() != found.len() {
                continue;
            }
            let picked: Option<Vec<_>> = found.iter().zip(&sorts).map(|(candidates, sort)| self.pick(candidates, *sort)).collect();
            let Some(picked) = picked else { continue };
            let cost = picked.iter().map(|found| found.cost).sum();
            let ambiguous = picked.iter().any(|found| found.ambiguous);
            match &mut best {
                Some((least, ..)) if *least < cost => {}
                Some((least, tie, ..)) if *least == cost => *tie = true,
                _ => best = Some((cost, ambiguous, meaning, picked.into_iter().map(|found| found.term).collect())),
            }
        }
        match best {
            Some((_, true, ..)) => self.error(span, format!("`{}` with these arguments can be read in more than one way", name.text)),
            Some((_, false, meaning, terms)) => Ok((meaning, terms)),
            None => {
                let given: Vec<String> = found.iter().map(|candidates| self.sorts_of(candidates)).collect();
                let given = if given.is_empty() { "no arguments".to_string() } else { format!("arguments of sort {}", given.join(" # ")) };
                let message = format!("`{}` takes {}, but is given {given}", name.text, takes(&wanted, several));
                self.error(span, message)
            }
        }
    }

    /// A process with some parameters assigned: the others keep their values.
    fn assign(&mut self, name: &ast::Name, assignments: &[(ast::Name, ast::Expression)], span: Span) -> Typed<ProcessKind> {
        let has = |typing: &Self, process: ProcessId, name: &str| {
            typing.out.processes[process.index()].parameters.iter().any(|variable| typing.out.variables[variable.index()].name == name)
        };
        let all = self.processes.get(&name.text).cloned().unwrap_or_default();
        if all.is_empty() {
            if assignments.is_empty() && self.actions.contains_key(&name.text) {
                return self.report(Diagnostic::error(span, "an action without arguments has no brackets"));
            }
            return self.error(name.span, format!("unknown process `{}`", name.text));
        }
        let in_scope = |typing: &Self, process: ProcessId| {
            let unassigned = |variable: &VariableId| {
                let parameter = &typing.out.variables[variable.index()].name;
                assignments.iter().any(|(name, _)| name.text == *parameter) || typing.in_scope(parameter).is_some()
            };
            typing.out.processes[process.index()].parameters.iter().all(unassigned)
        };
        let fitting: Vec<ProcessId> =
            all.iter().copied().filter(|process| assignments.iter().all(|(name, _)| has(self, *process, &name.text))).collect();
        let mut possible: Vec<ProcessId> = fitting.iter().copied().filter(|process| in_scope(self, *process)).collect();
        if possible.len() > 1 {
            // The process that this stands in, if it is one of them.
            let own = |process: &ProcessId| {
                let parameters = &self.out.processes[process.index()].parameters;
                parameters.iter().all(|parameter| self.scope.iter().any(|(_, known)| known == parameter))
            };
            let inside: Vec<ProcessId> = possible.iter().copied().filter(own).collect();
            if inside.len() == 1 {
                possible = inside;
            }
        }
        let [process] = possible.as_slice() else {
            let message = match (fitting.is_empty(), possible.is_empty()) {
                (true, _) => format!("the process `{}` has no such parameters", name.text),
                (_, true) => format!("not all parameters of `{}` have a value here", name.text),
                _ => format!("`{}` with these parameters can be read in more than one way", name.text),
            };
            return self.error(span, message);
        };
        let mut terms = Vec::new();
        for parameter in self.out.processes[process.index()].parameters.clone() {
            let own = self.out.variables[parameter.index()].clone();
            match assignments.iter().find(|(name, _)| name.text == own.name) {
                Some((_, value)) => terms.push(self.check(value, own.sort)?),
                None => {
                    let is_own = self.scope.iter().any(|(_, known)| *known == parameter);
                    let variable = if is_own { Some(parameter) } else { self.in_scope(&own.name) };
                    let Some(variable) = variable.filter(|variable| self.fits(self.sort_of_variable(*variable), own.sort).is_some()) else {
                        return self.error(span, format!("the parameter `{}` of `{}` has no value here", own.name, name.text));
                    };
                    terms.push(Term::Variable(variable));
                }
            }
        }
        Ok(ProcessKind::Call(*process, terms))
    }
}

fn takes(wanted: &[String], several: bool) -> String {
    let written = |sorts: &String| if sorts.is_empty() { "no arguments".to_string() } else { sorts.clone() };
    let list: Vec<String> = wanted.iter().map(written).collect();
    if several { format!("one of: {}", list.join("; ")) } else { list.concat() }
}

fn texts(names: &[ast::Name]) -> Vec<String> {
    names.iter().map(|name| name.text.clone()).collect()
}
