//! Sequential processes as locations with summands.
//!
//! A location is a process with its parameters, or a sequence of processes that are still to run, with the variables that are free in it. Its summands are found by unfolding calls until
//! an action comes first: so every summand has variables, conditions, a multi-action, and the locations that follow, each with the values of its variables.
//!
//! The boundaries between locations decide which states are the same. This follows the regular linearisation of mCRL2: one process that is left to run has the values of its
//! arguments; several have the values of the variables in their arguments; what stands behind a process that never ends is dropped; and `a.(c -> p <> q)` at the top of a choice is taken
//! for `c -> a.p <> a.q`. Processes for which that would give locations without end keep a stack of what is left to run.

use crate::code::{Compiler, free, negated, split, substitute};
use crate::data::Data;
use crate::free::free_in;
use crate::keys::{key_of_process, key_of_term};
use crate::machine::Machine;
use crate::specification::{ActionId, Place, Process, ProcessId, ProcessKind, SortId, Specification, Term, Variable, VariableId};
use crate::wrong::Wrong;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

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
    /// The locations that follow, the first to run first; none if the process has ended.
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
    /// Several processes in a row, by their number.
    Row(usize),
}

/// A part of a process, or several in a row, with the variables that are free there.
#[derive(Clone, Debug)]
struct Piece<T> {
    owner: String,
    variables: Vec<VariableId>,
    body: T,
}

/// Locations that were found so far.
pub(crate) struct Locations<'a> {
    specification: &'a Specification,
    /// The variables of the specification and those of locations for actions.
    pub(crate) variables: Vec<Variable>,
    pub(crate) list: Vec<Location>,
    parts: Vec<Piece<Process>>,
    part_numbers: HashMap<String, usize>,
    rows: Vec<Piece<Vec<Instance>>>,
    row_numbers: HashMap<String, usize>,
    /// Processes without parameters that are nothing but several processes in a row, with the texts of these.
    aliases: Vec<(String, ProcessId)>,
    numbers: HashMap<What, LocationId>,
    /// Alternatives that were found already, and those that are being looked for.
    items: HashMap<What, Rc<Vec<Item>>>,
    busy: Vec<What>,
    /// Variables of the definition and the sums around what is looked at.
    in_scope: Vec<VariableId>,
    /// Which processes can end.
    can_end: Vec<bool>,
    /// Whether what is left to run is kept as a stack.
    by_stack: bool,
    /// Evaluates what has no variables.
    machine: Machine<'a>,
    /// Locations whose summands are not known yet.
    open: Vec<(LocationId, What)>,
    /// Summands made so far, to stop before a specification takes all memory.
    made: usize,
}

/// Summands of all locations together.
const MOST_SUMMANDS: usize = 1 << 20;
/// Processes in a row, and locations, beyond which a stack is used.
const MOST_IN_ROW: usize = 32;
const MOST_LOCATIONS: usize = 5_000;
/// Rewrite steps for a constant inside of a process.
const FOLDING_FUEL: u64 = 100_000;

type Values = HashMap<VariableId, Term>;

/// A summand in the making.
#[derive(Clone)]
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
    pub(crate) fn new(specification: &'a Specification, data: &'a Data, by_stack: bool) -> Self {
        let mut locations = Locations {
            specification,
            variables: specification.variables.clone(),
            list: Vec::new(),
            parts: Vec::new(),
            part_numbers: HashMap::new(),
            rows: Vec::new(),
            row_numbers: HashMap::new(),
            aliases: Vec::new(),
            numbers: HashMap::new(),
            items: HashMap::new(),
            busy: Vec::new(),
            in_scope: Vec::new(),
            can_end: vec![false; specification.processes.len()],
            by_stack,
            machine: Machine::new(data, FOLDING_FUEL),
            open: Vec::new(),
            made: 0,
        };
        locations.find_ends();
        for (index, definition) in specification.processes.iter().enumerate() {
            if let ProcessKind::Sequence(list) = &definition.body.kind
                && definition.parameters.is_empty()
                && list.iter().all(|process| matches!(process.kind, ProcessKind::Call(..)))
            {
                let mut row: Vec<Instance> = list.iter().map(|process| locations.instance(process, &Values::new(), "")).collect();
                for argument in row.iter_mut().flat_map(|instance| &mut instance.arguments) {
                    locations.fold(argument);
                }
                let key = locations.key(&row);
                locations.aliases.push((key, ProcessId(index as u32)));
            }
        }
        locations
    }

    /// The locations where a process starts, with the values of their variables.
    pub(crate) fn start(&mut self, process: &Process, values: &HashMap<VariableId, Term>, name: &str) -> Vec<(LocationId, Vec<Term>)> {
        let mut instance = self.instance(process, values, name);
        instance.arguments.iter_mut().for_each(|argument| {
            self.fold(argument);
        });
        vec![(self.location(&instance), instance.arguments)]
    }

    /// Finds the summands of all locations that are reachable.
    pub(crate) fn complete(&mut self) -> Result<(), Failure> {
        while let Some((location, what)) = self.open.pop() {
            let items = match &what {
                What::Delta => Rc::default(),
                What::Actions(_) => {
                    let arguments = self.list[location as usize].parameters.iter().map(|variable| Term::Variable(*variable)).collect();
                    let instance = Instance { what: what.clone(), arguments, place: self.list[location as usize].place };
                    Rc::new(self.head(&instance, &[])?)
                }
                _ => self.items_of(&what, self.list[location as usize].place)?,
            };
            let mut summands = Vec::new();
            for item in items.iter() {
                self.made += 1;
                if self.made > MOST_SUMMANDS {
                    return Err(Wrong::new(item.place, "the processes unfold to too many alternatives").into());
                }
                let next = item.rest.iter().map(|instance| (self.location(instance), instance.arguments.clone())).collect();
                let mut actions = item.actions.clone();
                actions.sort_by_key(|(action, _)| *action);
                let mut summand =
                    Summand { variables: item.variables.clone(), conditions: item.conditions.clone(), actions, next, place: item.place };
                summand.drop_unused();
                summands.push(summand);
            }
            self.list[location as usize].summands = summands;
        }
        Ok(())
    }

    /// The location of a process, whatever its arguments.
    fn location(&mut self, instance: &Instance) -> LocationId {
        if let Some(known) = self.numbers.get(&instance.what) {
            return *known;
        }
        let (name, is_whole) = match &instance.what {
            What::Delta => ("delta".to_string(), true),
            What::Process(process) => (self.specification.processes[process.index()].name.clone(), true),
            What::Actions(actions) => {
                let names: Vec<&str> = actions.iter().map(|action| self.specification.actions[action.index()].name.as_str()).collect();
                (names.join("|"), true)
            }
            What::Part(part) => (self.parts[*part].owner.clone(), false),
            What::Row(row) => (self.rows[*row].owner.clone(), false),
        };
        let parameters = self.parameters(&instance.what);
        let number = self.list.len() as LocationId;
        self.list.push(Location { name, is_whole, place: instance.place, parameters, summands: Vec::new() });
        self.numbers.insert(instance.what.clone(), number);
        self.open.push((number, instance.what.clone()));
        number
    }

    /// The variables that the arguments of an instance are values of. Those of actions are made anew.
    fn parameters(&mut self, what: &What) -> Vec<VariableId> {
        match what {
            What::Delta => Vec::new(),
            What::Process(process) => self.specification.processes[process.index()].parameters.clone(),
            What::Part(part) => self.parts[*part].variables.clone(),
            What::Row(row) => self.rows[*row].variables.clone(),
            What::Actions(actions) => {
                let sorts = actions.iter().flat_map(|action| self.specification.actions[action.index()].arguments.clone());
                let sorts: Vec<_> = sorts.collect();
                sorts.into_iter().enumerate().map(|(index, sort)| self.fresh(format!("argument{}", index + 1), sort)).collect()
            }
        }
    }

    fn fresh(&mut self, name: String, sort: SortId) -> VariableId {
        self.variables.push(Variable { name, sort });
        VariableId(self.variables.len() as u32 - 1)
    }

    /// The alternatives of a process, a part or a row, over its own variables.
    fn items_of(&mut self, what: &What, place: Place) -> Result<Rc<Vec<Item>>, Failure> {
        if let Some(known) = self.items.get(what) {
            return Ok(known.clone());
        }
        if self.busy.contains(what) {
            let name = match what {
                What::Process(process) => format!("the process `{}`", self.specification.processes[process.index()].name),
                _ => "this process".to_string(),
            };
            return Err(Wrong::new(place, format!("{name} calls itself before any action")).with_help("put an action before the call").into());
        }
        self.busy.push(what.clone());
        let own = self.parameters(what);
        let around = std::mem::replace(&mut self.in_scope, own);
        let items = match what {
            What::Process(process) => {
                let definition = &self.specification.processes[process.index()];
                self.alternatives(&definition.body, &definition.name, true)
            }
            What::Part(part) => {
                let piece = self.parts[*part].clone();
                self.alternatives(&piece.body, &piece.owner, true)
            }
            What::Row(row) => {
                let piece = self.rows[*row].clone();
                self.row_items(&piece)
            }
            What::Delta | What::Actions(_) => Ok(Vec::new()),
        };
        self.busy.pop();
        self.in_scope = around;
        let items = Rc::new(items?);
        self.made += items.len();
        if self.made > MOST_SUMMANDS {
            return Err(Wrong::new(place, "the processes unfold to too many alternatives").into());
        }
        self.items.insert(what.clone(), items.clone());
        Ok(items)
    }

    fn row_items(&mut self, piece: &Piece<Vec<Instance>>) -> Result<Vec<Item>, Failure> {
        let Some((first, behind)) = piece.body.split_first() else { return Ok(Vec::new()) };
        let items = self.head(first, &piece.variables)?;
        items.into_iter().map(|item| self.followed(item, behind, &piece.owner)).collect()
    }

    /// An alternative with more behind it.
    fn followed(&mut self, mut item: Item, behind: &[Instance], owner: &str) -> Result<Item, Failure> {
        item.rest.extend(behind.iter().cloned());
        item.rest = self.compact(std::mem::take(&mut item.rest), owner)?;
        Ok(item)
    }

    /// The alternatives of an instance: those of what it is an instance of, with its arguments. Sums get variables of their own if theirs are in use.
    fn head(&mut self, instance: &Instance, in_use: &[VariableId]) -> Result<Vec<Item>, Failure> {
        if let What::Actions(actions) = &instance.what {
            let mut arguments = instance.arguments.iter().cloned();
            let arity = |action: &ActionId| self.specification.actions[action.index()].arguments.len();
            let actions = actions.iter().map(|action| (*action, arguments.by_ref().take(arity(action)).collect())).collect();
            return Ok(vec![Item { variables: Vec::new(), conditions: Vec::new(), actions, rest: Vec::new(), place: instance.place }]);
        }
        let items = self.items_of(&instance.what, instance.place)?;
        let parameters = self.parameters(&instance.what);
        let values: Values = parameters.into_iter().zip(instance.arguments.iter().cloned()).collect();
        let mut used = [in_use, &self.in_scope].concat();
        instance.arguments.iter().for_each(|term| free(term, &mut used));
        let mut all = Vec::new();
        for item in items.iter() {
            let mut item = item.clone();
            let mut values = values.clone();
            for variable in &mut item.variables {
                if used.contains(variable) {
                    let own = self.variables[variable.index()].clone();
                    let other = self.fresh(format!("{}'", own.name), own.sort);
                    values.insert(*variable, Term::Variable(other));
                    *variable = other;
                }
            }
            let change = |terms: &mut Vec<Term>| terms.iter_mut().for_each(|term| *term = substitute(term, &values));
            change(&mut item.conditions);
            item.actions.iter_mut().for_each(|(_, terms)| change(terms));
            item.rest.iter_mut().for_each(|instance| change(&mut instance.arguments));
            all.push(item);
        }
        Ok(all)
    }

    /// The instances left to run, joined into one if there is no stack.
    fn compact(&mut self, mut rest: Vec<Instance>, owner: &str) -> Result<Vec<Instance>, Failure> {
        if !self.by_stack {
            rest = rest.into_iter().flat_map(|instance| self.flattened(instance)).collect();
        }
        // Equal constants must look equal, however they are written.
        for argument in rest.iter_mut().flat_map(|instance| &mut instance.arguments) {
            self.fold(argument);
        }
        if let Some(last) = rest.iter().position(|instance| !self.ends(&instance.what)) {
            rest.truncate(last + 1);
        }
        if self.by_stack || rest.len() < 2 {
            return Ok(rest);
        }
        for start in 0..rest.len() - 1 {
            let key = self.key(&rest[start..]);
            if let Some((_, process)) = self.aliases.iter().find(|(known, _)| *known == key) {
                let place = rest[start].place;
                rest.truncate(start);
                rest.push(Instance { what: What::Process(*process), arguments: Vec::new(), place });
                break;
            }
        }
        if rest.len() < 2 {
            return Ok(rest);
        }
        if rest.len() > MOST_IN_ROW || self.rows.len() > MOST_LOCATIONS {
            return Err(Failure::NeedsStack);
        }
        let place = rest[0].place;
        let mut variables = Vec::new();
        rest.iter().flat_map(|instance| &instance.arguments).for_each(|term| free(term, &mut variables));
        let mut seen = HashSet::new();
        variables.retain(|variable| seen.insert(*variable));
        let arguments = variables.iter().map(|variable| Term::Variable(*variable)).collect();
        let key = self.key(&rest);
        let number = *self.row_numbers.entry(key).or_insert_with(|| {
            self.rows.push(Piece { owner: owner.to_string(), variables, body: rest });
            self.rows.len() - 1
        });
        Ok(vec![Instance { what: What::Row(number), arguments, place }])
    }

    /// The processes of a row with their arguments, so that a row inside another is equal to one that was written out.
    fn flattened(&self, instance: Instance) -> Vec<Instance> {
        let What::Row(row) = instance.what else { return vec![instance] };
        let piece = &self.rows[row];
        let values: Values = piece.variables.iter().copied().zip(instance.arguments).collect();
        let given = |inner: &Instance| Instance {
            what: inner.what.clone(),
            arguments: inner.arguments.iter().map(|term| substitute(term, &values)).collect(),
            place: inner.place,
        };
        piece.body.iter().map(given).collect()
    }

    /// A text that is equal for equal instances in a row.
    fn key(&self, row: &[Instance]) -> String {
        let mut key = String::new();
        for instance in row {
            key.push_str(&format!("{:?}", instance.what));
            instance.arguments.iter().for_each(|argument| key_of_term(argument, &self.variables, &mut key));
        }
        key
    }

    /// Evaluates all parts of a term that have no variables; says whether that is the whole term.
    fn fold(&mut self, term: &mut Term) -> bool {
        let parts: Vec<&mut Term> = match term {
            Term::Variable(_) => return false,
            Term::Value(_) => return true,
            Term::Boolean(_) | Term::Number(_) => Vec::new(),
            Term::Call(_, parts) | Term::Operation(_, parts) => parts.iter_mut().collect(),
            Term::Apply(head, parts) => std::iter::once(&mut **head).chain(parts.iter_mut()).collect(),
            _ => {
                let mut used = Vec::new();
                free(term, &mut used);
                if !used.is_empty() {
                    return false;
                }
                Vec::new()
            }
        };
        // All of them, and not only up to the first that has variables.
        let mut is_whole = true;
        for part in parts {
            is_whole &= self.fold(part);
        }
        if !is_whole {
            return false;
        }
        let mut compiler = Compiler::new(self.machine.data);
        if let Ok(code) = compiler.compile(term) {
            self.machine.begin(&[], compiler.slots());
            if let Ok(value) = self.machine.evaluate(&code, 0) {
                *term = Term::Value(value);
                return true;
            }
        }
        false
    }

    /// A process that is left to run, as an instance of something that has a location.
    fn instance(&mut self, process: &Process, values: &Values, owner: &str) -> Instance {
        let all = |terms: &[Term]| terms.iter().map(|term| substitute(term, values)).collect::<Vec<_>>();
        let (what, arguments) = match &process.kind {
            ProcessKind::Delta => (What::Delta, Vec::new()),
            ProcessKind::Call(called, arguments) => self.called(*called, all(arguments)),
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
                    self.parts.push(Piece { owner: owner.to_string(), variables, body: process.clone() });
                    self.parts.len() - 1
                });
                (What::Part(number), arguments)
            }
        };
        Instance { what, arguments, place: process.place }
    }

    /// A process with its arguments. One that only calls another one is that other one.
    fn called(&self, mut process: ProcessId, mut arguments: Vec<Term>) -> (What, Vec<Term>) {
        for _ in 0..self.specification.processes.len() {
            let definition = &self.specification.processes[process.index()];
            let ProcessKind::Call(other, terms) = &definition.body.kind else { break };
            let values: Values = definition.parameters.iter().copied().zip(arguments).collect();
            arguments = terms.iter().map(|term| substitute(term, &values)).collect();
            process = *other;
        }
        (What::Process(process), arguments)
    }

    /// The alternatives of a process. At the top of a choice, conditions behind an action are decided before it.
    fn alternatives(&mut self, process: &Process, owner: &str, is_top: bool) -> Result<Vec<Item>, Failure> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.alternatives_of_kind(process, owner, is_top))
    }

    fn alternatives_of_kind(&mut self, process: &Process, owner: &str, is_top: bool) -> Result<Vec<Item>, Failure> {
        let none = Values::new();
        Ok(match &process.kind {
            ProcessKind::Delta => Vec::new(),
            ProcessKind::Actions(_) | ProcessKind::Call(..) => {
                let instance = self.instance(process, &none, owner);
                self.head(&instance, &[])?
            }
            ProcessKind::Choice(list) => {
                let mut items = Vec::new();
                for process in list {
                    items.extend(self.alternatives(process, owner, true)?);
                    if items.len() > MOST_SUMMANDS {
                        return Err(Wrong::new(process.place, "the processes unfold to too many alternatives").into());
                    }
                }
                items
            }
            ProcessKind::Sum(variables, body) => {
                self.in_scope.extend(variables);
                let items = self.alternatives(body, owner, true);
                self.in_scope.truncate(self.in_scope.len() - variables.len());
                let mut items = items?;
                for item in &mut items {
                    item.variables.splice(0..0, variables.iter().copied());
                }
                items
            }
            ProcessKind::If(condition, then, other) => {
                let mut items = Vec::new();
                for (process, truth) in [(then, true), (other, false)] {
                    for mut item in self.alternatives(process, owner, !matches!(process.kind, ProcessKind::Sequence(_)))? {
                        item.conditions.splice(0..0, conjuncts(condition, truth));
                        items.push(item);
                    }
                }
                items
            }
            ProcessKind::Sequence(list) => {
                let Some((first, rest)) = list.split_first() else { return Ok(Vec::new()) };
                let ways = match rest {
                    [only] if is_top && matches!(only.kind, ProcessKind::If(..)) => self.ways(only, owner),
                    _ => vec![(Vec::new(), rest.iter().flat_map(|process| self.in_row(process, owner)).collect::<Vec<_>>())],
                };
                let first = self.instance(first, &none, owner);
                let mut items = Vec::new();
                for (conditions, rest) in ways {
                    let mut in_use = Vec::new();
                    rest.iter().flat_map(|instance| &instance.arguments).for_each(|term| free(term, &mut in_use));
                    for mut item in self.head(&first, &in_use)? {
                        item.conditions.extend(conditions.iter().cloned());
                        items.push(self.followed(item, &rest, owner)?);
                    }
                }
                items
            }
            ProcessKind::Parallel(_) => {
                let message =
                    "processes can only be put in parallel at the top: not behind an action, in a choice, or in a process that calls itself";
                return Err(Wrong::new(process.place, message).into());
            }
            ProcessKind::Block(..) | ProcessKind::Hide(..) | ProcessKind::Allow(..) | ProcessKind::Rename(..) | ProcessKind::Communicate(..) => {
                let message = "`allow`, `block`, `comm`, `hide` and `rename` can only stand at the top: not behind an action, in a choice, or in a process that calls itself";
                return Err(Wrong::new(process.place, message).into());
            }
        })
    }

    /// The outcomes of nested conditions, each with the conditions for it.
    fn ways(&mut self, process: &Process, owner: &str) -> Vec<(Vec<Term>, Vec<Instance>)> {
        let ProcessKind::If(condition, then, other) = &process.kind else {
            return vec![(Vec::new(), self.in_row(process, owner))];
        };
        let mut all = Vec::new();
        for (process, truth) in [(then, true), (other, false)] {
            for (mut conditions, rest) in self.ways(process, owner) {
                conditions.splice(0..0, conjuncts(condition, truth));
                all.push((conditions, rest));
            }
        }
        all
    }

    /// A process as several in a row if it is a sequence.
    fn in_row(&mut self, process: &Process, owner: &str) -> Vec<Instance> {
        let none = Values::new();
        match &process.kind {
            ProcessKind::Sequence(list) => list.iter().flat_map(|process| self.in_row(process, owner)).collect(),
            _ => vec![self.instance(process, &none, owner)],
        }
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
            What::Part(part) => self.process_ends(&self.parts[*part].body),
            What::Row(row) => self.rows[*row].body.iter().all(|instance| self.ends(&instance.what)),
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
