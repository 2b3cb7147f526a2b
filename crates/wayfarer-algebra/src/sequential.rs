//! Sequential processes as locations with summands.
//!
//! A location is a process with its parameters, or what is left of a sequence with the variables that are free in it. Its summands are found by unfolding calls until
//! an action comes first: so every summand has variables, conditions, a multi-action, and the locations that follow, each with the values of its variables.

use crate::code::{free, negated, split, substitute};
use crate::specification::{ActionId, Place, Process, ProcessId, ProcessKind, Specification, Term, VariableId};
use std::collections::HashMap;

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
    /// The process it belongs to, and where in it.
    pub(crate) name: String,
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

/// Locations that were found so far.
pub(crate) struct Locations<'a> {
    specification: &'a Specification,
    pub(crate) list: Vec<Location>,
    processes: HashMap<ProcessId, LocationId>,
    tails: HashMap<(Place, Place, usize), LocationId>,
    /// Bodies whose summands are not known yet.
    open: Vec<(LocationId, Vec<Process>)>,
    /// Summands made so far, to stop before a specification takes all memory.
    made: usize,
}

/// Summands of all locations together.
const MOST_SUMMANDS: usize = 1 << 20;

type Values = HashMap<VariableId, Term>;

/// A summand in the making.
struct Item {
    variables: Vec<VariableId>,
    conditions: Vec<Term>,
    actions: Vec<(ActionId, Vec<Term>)>,
    /// What is left to do, with the meaning of variables in it.
    rest: Vec<(Vec<Process>, Values)>,
    place: Place,
}

impl<'a> Locations<'a> {
    pub(crate) fn new(specification: &'a Specification) -> Self {
        Locations { specification, list: Vec::new(), processes: HashMap::new(), tails: HashMap::new(), open: Vec::new(), made: 0 }
    }

    /// The locations where a process starts, with the values of their variables.
    pub(crate) fn start(&mut self, process: &Process, values: &HashMap<VariableId, Term>, name: &str) -> Vec<(LocationId, Vec<Term>)> {
        self.frames(&[process.clone()], values, name)
    }

    /// Finds the summands of all locations that are reachable.
    pub(crate) fn complete(&mut self) -> Result<(), Wrong> {
        while let Some((location, body)) = self.open.pop() {
            let name = self.list[location as usize].name.clone();
            let items = self.sequence(&body, &Values::new(), &mut Vec::new())?;
            let mut summands = Vec::new();
            for item in items {
                self.made += 1;
                if self.made > MOST_SUMMANDS {
                    return Err(Wrong::new(item.place, "the processes unfold to too many alternatives"));
                }
                let mut next = Vec::new();
                for (rest, values) in &item.rest {
                    next.extend(self.frames(rest, values, &name));
                }
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

    /// The locations of what is left to do: calls with their arguments, and from the first other process on everything as one location.
    fn frames(&mut self, rest: &[Process], values: &Values, name: &str) -> Vec<(LocationId, Vec<Term>)> {
        let mut frames = Vec::new();
        for (index, process) in rest.iter().enumerate() {
            if let ProcessKind::Call(called, arguments) = &process.kind {
                let location = self.process(*called);
                frames.push((location, arguments.iter().map(|term| substitute(term, values)).collect()));
                continue;
            }
            let tail = &rest[index..];
            let key = (process.place, tail.last().map_or(process.place, |last| last.place), tail.len());
            let mut parameters = Vec::new();
            tail.iter().for_each(|process| free_in(process, &mut parameters));
            let mut seen = std::collections::HashSet::new();
            parameters.retain(|variable| seen.insert(*variable));
            let location = match self.tails.get(&key) {
                Some(known) => *known,
                None => {
                    let number = self.add(name.to_string(), false, process.place, parameters.clone(), tail.to_vec());
                    self.tails.insert(key, number);
                    number
                }
            };
            frames.push((location, parameters.iter().map(|variable| substitute(&Term::Variable(*variable), values)).collect()));
            break;
        }
        frames
    }

    fn process(&mut self, process: ProcessId) -> LocationId {
        if let Some(known) = self.processes.get(&process) {
            return *known;
        }
        let definition = &self.specification.processes[process.index()];
        let number = self.add(definition.name.clone(), true, definition.place, definition.parameters.clone(), vec![definition.body.clone()]);
        self.processes.insert(process, number);
        number
    }

    fn add(&mut self, name: String, is_whole: bool, place: Place, parameters: Vec<VariableId>, body: Vec<Process>) -> LocationId {
        let number = self.list.len() as LocationId;
        self.list.push(Location { name, is_whole, place, parameters, summands: Vec::new() });
        self.open.push((number, body));
        number
    }

    /// The summands of a sequence.
    fn sequence(&self, list: &[Process], values: &Values, calls: &mut Vec<ProcessId>) -> Result<Vec<Item>, Wrong> {
        let Some((first, rest)) = list.split_first() else { return Ok(Vec::new()) };
        let mut items = self.items(first, values, calls)?;
        if !rest.is_empty() {
            for item in &mut items {
                item.rest.push((rest.to_vec(), values.clone()));
            }
        }
        Ok(items)
    }

    fn items(&self, process: &Process, values: &Values, calls: &mut Vec<ProcessId>) -> Result<Vec<Item>, Wrong> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.items_of_kind(process, values, calls))
    }

    fn items_of_kind(&self, process: &Process, values: &Values, calls: &mut Vec<ProcessId>) -> Result<Vec<Item>, Wrong> {
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
                let items = self.items(&definition.body, &inner, calls);
                calls.pop();
                items?
            }
            ProcessKind::Choice(list) => {
                let mut items = Vec::new();
                for process in list {
                    items.extend(self.items(process, values, calls)?);
                    if items.len() > MOST_SUMMANDS {
                        return Err(Wrong::new(process.place, "the processes unfold to too many alternatives"));
                    }
                }
                items
            }
            ProcessKind::Sum(variables, body) => {
                let mut items = self.items(body, values, calls)?;
                for item in &mut items {
                    item.variables.splice(0..0, variables.iter().copied());
                }
                items
            }
            ProcessKind::If(condition, then, other) => {
                let condition = substitute(condition, values);
                let mut items = Vec::new();
                for (process, truth) in [(then, true), (other, false)] {
                    let mut conjuncts = Vec::new();
                    if truth { split(&condition, &mut conjuncts) } else { negated(&condition, &mut conjuncts) }
                    for mut item in self.items(process, values, calls)? {
                        item.conditions.splice(0..0, conjuncts.iter().cloned());
                        items.push(item);
                    }
                }
                items
            }
            ProcessKind::Sequence(list) => self.sequence(list, values, calls)?,
            ProcessKind::Parallel(_) => {
                let wrong = Wrong::new(process.place, "processes can only be put in parallel at the top: not behind an action, in a choice, or in a process that calls itself");
                return Err(wrong);
            }
            ProcessKind::Block(..) | ProcessKind::Hide(..) | ProcessKind::Allow(..) | ProcessKind::Rename(..) | ProcessKind::Communicate(..) => {
                let message = "`allow`, `block`, `comm`, `hide` and `rename` can only stand at the top: not behind an action, in a choice, or in a process that calls itself";
                return Err(Wrong::new(process.place, message));
            }
        })
    }
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
        ProcessKind::Choice(list) | ProcessKind::Sequence(list) | ProcessKind::Parallel(list) => list.iter().for_each(|process| free_in(process, out)),
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
