//! Sequential processes as locations with summands.
//!
//! A location is a process with its parameters, or a sequence of processes that are still to run, with the variables that are free in it. Its summands are found by unfolding calls until
//! an action comes first: so every summand has variables, conditions, a multi-action, and the locations that follow, each with the values of its variables.
//!
//! Where one location ends and another begins decides which states are the same. This follows the regular linearisation of mCRL2: one process that is left to run has the values of its
//! arguments; several have the values of the variables in their arguments; what stands behind a process that never ends is dropped; and `a.(c -> p <> q)` at the top of a choice is taken
//! for `c -> a.p <> a.q`. Processes for which that would give locations without end keep a stack of what is left to run.

use crate::code::{free, negated, split, substitute};
use crate::keys::{key_of_process, key_of_term};
use crate::specification::{ActionId, Place, Process, ProcessId, ProcessKind, Specification, Term, Variable, VariableId};
use std::collections::{HashMap, HashSet};

/// A place in the text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Wrong {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Wrong { place, message: message.into(), help: None }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Wrong { help: Some(help.into()), ..self }
    }
}

/// The number of a location.
pub(crate) type LocationId = u32;

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The process it belongs to.
    pub(crate) name: String,
    /// Whether it is that process and nothing else.
    pub(crate) is_whole: bool,
    pub(crate) place: Place,
    pub(crate) parameters: Vec<VariableId>,
    pub(crate) summands: Vec<Summand>,
}

/// A way to go on from a location.
#[derive(Clone, Debug)]
pub(crate) struct Summand {
    pub(crate) variables: Vec<VariableId>,
    pub(crate) conditions: Vec<Term>,
    /// The multi-action, its actions in the order of their numbers.
    pub(crate) actions: Vec<(ActionId, Vec<Term>)>,
    /// What follows, the first to run first; nothing if the process has ended.
    pub(crate) next: Vec<(LocationId, Vec<Term>)>,
    pub(crate) place: Place,
}

/// A process that is left to run, with its arguments.
#[derive(Clone, Debug)]
struct Instance {
    what: What,
    arguments: Vec<Term>,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Delta,
    Process(ProcessId),
    Actions(Vec<ActionId>),
    /// A part of a process, by its number.
    Part(usize),
}

/// Locations that were found so far.
pub(crate) struct Locations<'a> {
    specification: &'a Specification,
    /// The variables of the specification and those of locations for actions.
    pub(crate) variables: Vec<Variable>,
    pub(crate) list: Vec<Location>,
    /// Parts of processes with their free variables.
    parts: Vec<(Process, Vec<VariableId>)>,
    part_numbers: HashMap<String, usize>,
    numbers: HashMap<String, LocationId>,
    /// Which processes can end.
    can_end: Vec<bool>,
    /// Whether what is left to run is kept as a stack.
    by_stack: bool,
    /// Locations whose summands are not known yet.
    open: Vec<(LocationId, Vec<Instance>)>,
    /// Summands made so far, to stop before a specification takes all memory.
    made: usize,
}

/// Summands of all locations together.
const MOST_SUMMANDS: usize = 1 << 20;
/// Processes in a row, and locations, beyond which a stack is used.
const MOST_IN_ROW: usize = 24;
const MOST_LOCATIONS: usize = 20_000;

type Values = HashMap<VariableId, Term>;

/// A summand in the making.
struct Item {
    variables: Vec<VariableId>,
    conditions: Vec<Term>,
    actions: Vec<(ActionId, Vec<Term>)>,
    rest: Vec<Instance>,
    place: Place,
}

/// Why locations could not be found.
pub(crate) enum Failure {
    Wrong(Wrong),
    /// There would be too many of them without a stack.
    NeedsStack,
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Failure::Wrong(wrong)
    }
}

impl<'a> Locations<'a> {
    pub(crate) fn new(specification: &'a Specification, by_stack: bool) -> Self {
        let mut locations = Locations {
            specification,
            variables: specification.variables.clone(),
            list: Vec::new(),
            parts: Vec::new(),
            part_numbers: HashMap::new(),
            numbers: HashMap::new(),
            can_end: vec![false; specification.processes.len()],
            by_stack,
            open: Vec::new(),
            made: 0,
        };
        locations.find_ends();
        locations
    }

    /// The locations where a process starts, with the values of their variables.
    pub(crate) fn start(&mut self, process: &Process, values: &HashMap<VariableId, Term>, name: &str) -> Vec<(LocationId, Vec<Term>)> {
        let instance = self.instance(process, values);
        self.frames(vec![instance], name)
    }

    /// Finds the summands of all locations that are reachable.
    pub(crate) fn complete(&mut self) -> Result<(), Failure> {
        while let Some((location, instances)) = self.open.pop() {
            let name = self.list[location as usize].name.clone();
            let Some((first, behind)) = instances.split_first() else { continue };
            let items = self.unfold(first)?;
            let mut summands = Vec::new();
            for item in items {
                self.made += 1;
                if self.made > MOST_SUMMANDS {
                    return Err(Wrong::new(item.place, "the processes unfold to too many alternatives").into());
                }
                let mut rest = item.rest;
                rest.extend(behind.iter().cloned());
                if !self.by_stack && (rest.len() > MOST_IN_ROW || self.list.len() > MOST_LOCATIONS) {
                    return Err(Failure::NeedsStack);
                }
                let next = self.frames(rest, &name);
                let mut actions = item.actions;
                actions.sort_by_key(|(action, _)| *action);
                let mut summand = Summand { variables: item.variables, conditions: item.conditions, actions, next, place: item.place };
                summand.drop_unused();
                summands.push(summand);
            }
            self.list[location as usize].summands = summands;
        }
        Ok(())
    }

    /// The summands of the process that runs first.
    fn unfold(&mut self, instance: &Instance) -> Result<Vec<Item>, Wrong> {
        let mut calls = Vec::new();
        match &instance.what {
            What::Delta => Ok(Vec::new()),
            What::Actions(actions) => {
                let mut arguments = instance.arguments.iter().cloned();
                let arity = |action: &ActionId| self.specification.actions[action.index()].arguments.len();
                let actions = actions.iter().map(|action| (*action, arguments.by_ref().take(arity(action)).collect())).collect();
                Ok(vec![Item { variables: Vec::new(), conditions: Vec::new(), actions, rest: Vec::new(), place: instance.place }])
            }
            What::Process(process) => {
                let definition = &self.specification.processes[process.index()];
                calls.push(*process);
                let values = definition.parameters.iter().copied().zip(instance.arguments.iter().cloned()).collect();
                self.items(&definition.body, &values, &mut calls, true)
            }
            What::Part(part) => {
                let (process, variables) = self.parts[*part].clone();
                let values = variables.iter().copied().zip(instance.arguments.iter().cloned()).collect();
                self.items(&process, &values, &mut calls, true)
            }
        }
    }

    /// The locations of what is left to run.
    fn frames(&mut self, mut rest: Vec<Instance>, name: &str) -> Vec<(LocationId, Vec<Term>)> {
        if let Some(last) = rest.iter().position(|instance| !self.ends(&instance.what)) {
            rest.truncate(last + 1);
        }
        if self.by_stack {
            return rest.into_iter().map(|instance| self.single(instance, name)).collect();
        }
        match rest.len() {
            0 => Vec::new(),
            1 => rest.into_iter().map(|instance| self.single(instance, name)).collect(),
            _ => vec![self.several(rest, name)],
        }
    }

    /// The location of one process, with its arguments.
    fn single(&mut self, instance: Instance, name: &str) -> (LocationId, Vec<Term>) {
        let key = format!("{:?}", instance.what);
        if let Some(known) = self.numbers.get(&key) {
            return (*known, instance.arguments);
        }
        let (name, is_whole, parameters) = match &instance.what {
            What::Delta => ("delta".to_string(), true, Vec::new()),
            What::Process(process) => {
                let definition = &self.specification.processes[process.index()];
                (definition.name.clone(), true, definition.parameters.clone())
            }
            What::Actions(actions) => {
                let mut parameters = Vec::new();
                for action in actions {
                    for sort in &self.specification.actions[action.index()].arguments {
                        parameters.push(VariableId(self.variables.len() as u32));
                        self.variables.push(Variable { name: format!("argument{}", parameters.len()), sort: *sort });
                    }
                }
                let names: Vec<&str> = actions.iter().map(|action| self.specification.actions[action.index()].name.as_str()).collect();
                (names.join("|"), true, parameters)
            }
            What::Part(part) => (name.to_string(), false, self.parts[*part].1.clone()),
        };
        let arguments = parameters.iter().map(|variable| Term::Variable(*variable)).collect();
        let own = Instance { arguments, ..instance.clone() };
        let number = self.add(key, Location { name, is_whole, place: instance.place, parameters, summands: Vec::new() }, vec![own]);
        (number, instance.arguments)
    }

    /// The location of several processes in a row, with the values of the variables in their arguments.
    fn several(&mut self, rest: Vec<Instance>, name: &str) -> (LocationId, Vec<Term>) {
        let mut key = String::new();
        let mut parameters = Vec::new();
        for instance in &rest {
            key.push_str(&format!("{:?}", instance.what));
            for argument in &instance.arguments {
                key_of_term(argument, &self.variables, &mut key);
                free(argument, &mut parameters);
            }
        }
        let mut seen = HashSet::new();
        parameters.retain(|variable| seen.insert(*variable));
        let arguments = parameters.iter().map(|variable| Term::Variable(*variable)).collect();
        let number = match self.numbers.get(&key) {
            Some(known) => *known,
            None => {
                // A process that is nothing but this sequence is the same location.
                let same = self.specification.processes.iter().position(|process| process.parameters.is_empty() && self.is_row(&process.body, &key));
                match same {
                    Some(process) => {
                        let instance = Instance { what: What::Process(ProcessId(process as u32)), arguments: Vec::new(), place: rest[0].place };
                        let number = self.single(instance, name).0;
                        self.numbers.insert(key, number);
                        number
                    }
                    None => {
                        let place = rest[0].place;
                        self.add(key, Location { name: name.to_string(), is_whole: false, place, parameters, summands: Vec::new() }, rest)
                    }
                }
            }
        };
        (number, arguments)
    }

    /// Whether a body is a sequence of calls with this key.
    fn is_row(&self, body: &Process, key: &str) -> bool {
        let ProcessKind::Sequence(list) = &body.kind else { return false };
        let mut own = String::new();
        for process in list {
            let ProcessKind::Call(called, arguments) = &process.kind else { return false };
            own.push_str(&format!("{:?}", What::Process(*called)));
            arguments.iter().for_each(|term| key_of_term(term, &self.variables, &mut own));
        }
        own == key
    }

    fn add(&mut self, key: String, location: Location, instances: Vec<Instance>) -> LocationId {
        let number = self.list.len() as LocationId;
        self.list.push(location);
        self.numbers.insert(key, number);
        self.open.push((number, instances));
        number
    }

    /// A process that is left to run, as an instance of something that has a location.
    fn instance(&mut self, process: &Process, values: &Values) -> Instance {
        let all = |terms: &[Term]| terms.iter().map(|term| substitute(term, values)).collect::<Vec<_>>();
        let (what, arguments) = match &process.kind {
            ProcessKind::Delta => (What::Delta, Vec::new()),
            ProcessKind::Call(called, arguments) => (What::Process(*called), all(arguments)),
            ProcessKind::Actions(actions) => {
                let mut actions: Vec<&(ActionId, Vec<Term>)> = actions.iter().collect();
                actions.sort_by_key(|(action, _)| *action);
                let arguments = actions.iter().flat_map(|(_, terms)| all(terms)).collect();
                (What::Actions(actions.iter().map(|(action, _)| *action).collect()), arguments)
            }
            _ => {
                let mut key = String::new();
                key_of_process(process, &self.variables, &mut key);
                let mut variables = Vec::new();
                free_in(process, &mut variables);
                let mut seen = HashSet::new();
                variables.retain(|variable| seen.insert(*variable));
                let arguments = variables.iter().map(|variable| substitute(&Term::Variable(*variable), values)).collect();
                let number = *self.part_numbers.entry(key).or_insert_with(|| {
                    self.parts.push((process.clone(), variables));
                    self.parts.len() - 1
                });
                (What::Part(number), arguments)
            }
        };
        Instance { what, arguments, place: process.place }
    }

    /// The summands of a process. At the top of a choice, conditions behind an action are decided before it.
    fn items(&mut self, process: &Process, values: &Values, calls: &mut Vec<ProcessId>, is_top: bool) -> Result<Vec<Item>, Wrong> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.items_of_kind(process, values, calls, is_top))
    }

    fn items_of_kind(&mut self, process: &Process, values: &Values, calls: &mut Vec<ProcessId>, is_top: bool) -> Result<Vec<Item>, Wrong> {
        Ok(match &process.kind {
            ProcessKind::Delta => Vec::new(),
            ProcessKind::Actions(actions) => {
                let actions = actions.iter().map(|(action, terms)| (*action, terms.iter().map(|term| substitute(term, values)).collect())).collect();
                vec![Item { variables: Vec::new(), conditions: Vec::new(), actions, rest: Vec::new(), place: process.place }]
            }
            ProcessKind::Call(called, arguments) => {
                let definition = &self.specification.processes[called.index()];
                if calls.contains(called) {
                    let wrong = Wrong::new(process.place, format!("the process `{}` calls itself before any action", definition.name));
                    return Err(wrong.with_help("put an action before the call"));
                }
                let arguments = arguments.iter().map(|term| substitute(term, values));
                let inner: Values = definition.parameters.iter().copied().zip(arguments).collect();
                calls.push(*called);
                let items = self.items(&definition.body, &inner, calls, true);
                calls.pop();
                items?
            }
            ProcessKind::Choice(list) => {
                let mut items = Vec::new();
                for process in list {
                    items.extend(self.items(process, values, calls, true)?);
                    if items.len() > MOST_SUMMANDS {
                        return Err(Wrong::new(process.place, "the processes unfold to too many alternatives"));
                    }
                }
                items
            }
            ProcessKind::Sum(variables, body) => {
                let mut items = self.items(body, values, calls, true)?;
                for item in &mut items {
                    item.variables.splice(0..0, variables.iter().copied());
                }
                items
            }
            ProcessKind::If(condition, then, other) => {
                let condition = substitute(condition, values);
                let mut items = Vec::new();
                for (process, truth) in [(then, true), (other, false)] {
                    for mut item in self.items(process, values, calls, false)? {
                        item.conditions.splice(0..0, conjuncts(&condition, truth));
                        items.push(item);
                    }
                }
                items
            }
            ProcessKind::Sequence(list) => {
                let Some((first, rest)) = list.split_first() else { return Ok(Vec::new()) };
                let mut ways = vec![(Vec::new(), rest.iter().map(|process| self.instance(process, values)).collect::<Vec<_>>())];
                if let ([only], true) = (rest, is_top)
                    && matches!(only.kind, ProcessKind::If(..))
                {
                    ways = self.ways(only, values);
                }
                let mut items = Vec::new();
                for (conditions, rest) in ways {
                    for mut item in self.items(first, values, calls, false)? {
                        item.conditions.extend(conditions.iter().cloned());
                        item.rest.extend(rest.iter().cloned());
                        items.push(item);
                    }
                }
                items
            }
            ProcessKind::Parallel(_) => {
                let message =
                    "processes can only be put in parallel at the top: not behind an action, in a choice, or in a process that calls itself";
                return Err(Wrong::new(process.place, message));
            }
            ProcessKind::Block(..) | ProcessKind::Hide(..) | ProcessKind::Allow(..) | ProcessKind::Rename(..) | ProcessKind::Communicate(..) => {
                let message = "`allow`, `block`, `comm`, `hide` and `rename` can only stand at the top: not behind an action, in a choice, or in a process that calls itself";
                return Err(Wrong::new(process.place, message));
            }
        })
    }

    /// What nested conditions lead to, each with the conditions for it.
    fn ways(&mut self, process: &Process, values: &Values) -> Vec<(Vec<Term>, Vec<Instance>)> {
        let ProcessKind::If(condition, then, other) = &process.kind else { return vec![(Vec::new(), vec![self.instance(process, values)])] };
        let condition = substitute(condition, values);
        let mut all = Vec::new();
        for (process, truth) in [(then, true), (other, false)] {
            for (mut conditions, rest) in self.ways(process, values) {
                conditions.splice(0..0, conjuncts(&condition, truth));
                all.push((conditions, rest));
            }
        }
        all
    }

    /// Finds out which processes can end.
    fn find_ends(&mut self) {
        loop {
            let can_end: Vec<bool> = self.specification.processes.iter().map(|definition| self.process_ends(&definition.body)).collect();
            if can_end == self.can_end {
                return;
            }
            self.can_end = can_end;
        }
    }

    fn process_ends(&self, process: &Process) -> bool {
        match &process.kind {
            ProcessKind::Delta => false,
            ProcessKind::Actions(_) => true,
            ProcessKind::Call(called, _) => self.can_end[called.index()],
            ProcessKind::Choice(list) => list.iter().any(|process| self.process_ends(process)),
            ProcessKind::If(_, then, other) => self.process_ends(then) || self.process_ends(other),
            ProcessKind::Sequence(list) | ProcessKind::Parallel(list) => list.iter().all(|process| self.process_ends(process)),
            ProcessKind::Sum(_, body) | ProcessKind::Block(_, body) | ProcessKind::Hide(_, body) | ProcessKind::Allow(_, body) => {
                self.process_ends(body)
            }
            ProcessKind::Rename(_, body) | ProcessKind::Communicate(_, body) => self.process_ends(body),
        }
    }

    fn ends(&self, what: &What) -> bool {
        match what {
            What::Delta => false,
            What::Actions(_) => true,
            What::Process(process) => self.can_end[process.index()],
            What::Part(part) => self.process_ends(&self.parts[*part].0),
        }
    }
}

/// The conjuncts of a condition or of its negation.
fn conjuncts(condition: &Term, truth: bool) -> Vec<Term> {
    let mut all = Vec::new();
    if truth {
        split(condition, &mut all)
    } else {
        negated(condition, &mut all)
    }
    all
}

impl Summand {
    /// Leaves out variables that nothing depends on: every sort has a value, and all of them do the same.
    fn drop_unused(&mut self) {
        let mut used = Vec::new();
        self.conditions.iter().for_each(|term| free(term, &mut used));
        self.actions.iter().flat_map(|(_, terms)| terms).for_each(|term| free(term, &mut used));
        self.next.iter().flat_map(|(_, terms)| terms).for_each(|term| free(term, &mut used));
        self.variables.retain(|variable| used.contains(variable));
    }
}

/// All variables that occur in a process and are not bound in it.
fn free_in(process: &Process, out: &mut Vec<VariableId>) {
    match &process.kind {
        ProcessKind::Delta => {}
        ProcessKind::Actions(actions) => actions.iter().flat_map(|(_, terms)| terms).for_each(|term| free(term, out)),
        ProcessKind::Call(_, terms) => terms.iter().for_each(|term| free(term, out)),
        ProcessKind::Choice(list) | ProcessKind::Sequence(list) | ProcessKind::Parallel(list) => {
            list.iter().for_each(|process| free_in(process, out))
        }
        ProcessKind::Sum(variables, body) => {
            let mut inner = Vec::new();
            free_in(body, &mut inner);
            out.extend(inner.into_iter().filter(|variable| !variables.contains(variable)));
        }
        ProcessKind::If(condition, then, other) => {
            free(condition, out);
            free_in(then, out);
            free_in(other, out);
        }
        ProcessKind::Block(_, body) | ProcessKind::Hide(_, body) | ProcessKind::Allow(_, body) => free_in(body, out),
        ProcessKind::Rename(_, body) | ProcessKind::Communicate(_, body) => free_in(body, out),
    }
}
