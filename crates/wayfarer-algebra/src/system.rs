//! A specification ready to be explored: components with their locations, and the vectors that join them.

use crate::code::{Code, Compiler, TooMany};
use crate::component::Component;
use crate::data::Data;
use crate::joins::Joins;
use crate::lazy::Lazy;
use crate::machine::{FUEL, Halt, Machine};
use crate::network::{self, Alphabet, Network, NoVectors, Start, Vector};
use crate::query::{Query, Wanted};
use crate::sequential::{Failure, Location, LocationId, Locations, Summand};
use crate::specification::{ActionId, Operation, Place, Process, Specification, Term, Variable};
use crate::value::Value;
use crate::wrong::Wrong;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// A specification that can be explored.
#[derive(Debug)]
pub struct System {
    pub(crate) data: Data,
    pub(crate) specification: Specification,
    pub(crate) locations: Vec<Location>,
    /// The summands of each location, compiled.
    pub(crate) summands: Vec<Vec<CompiledSummand>>,
    /// The kinds of multi-actions of summands.
    pub(crate) kinds: Vec<Vec<ActionId>>,
    pub(crate) components: Vec<Component>,
    pub(crate) network: Network,
    pub(crate) vectors: Vec<CompiledVector>,
    /// For each component, the vectors in which it is the first, by the kind of its multi-action.
    pub(crate) leading: Vec<Vec<Vec<u32>>>,
    /// The operators, if there are too many vectors to list.
    pub(crate) lazy: Option<Lazy>,
    pub(crate) rules: Vec<Vec<ActionId>>,
    pub(crate) fuel: u64,
    /// Caches of joins that no worker uses now.
    pub(crate) joins: Mutex<Vec<Joins>>,
}

/// A summand ready to be evaluated. A frame has the variables of the location, the arguments of all actions as they may be received, and the variables of the sum.
#[derive(Debug)]
pub(crate) struct CompiledSummand {
    pub(crate) kind: u32,
    pub(crate) slots: u16,
    /// The place in the frame where received arguments begin; those of all actions stand one after another.
    pub(crate) received: u16,
    pub(crate) actions: Vec<(ActionId, Box<[Code]>)>,
    pub(crate) next: Vec<(LocationId, Box<[Code]>)>,
    /// The plan for finding all solutions.
    pub(crate) query: Query,
    /// Whether it waits for received arguments. Then it has, for each argument, the code of those that do not depend on the variables of the sum.
    pub(crate) open: Option<Vec<Option<Code>>>,
    /// Plans by the set of arguments that are received, made when they are needed.
    plans: Mutex<HashMap<u64, Arc<(Query, u16)>>>,
    /// A number of its own among all summands.
    pub(crate) number: u32,
    pub(crate) place: Place,
}

/// A vector with what joining needs.
#[derive(Debug)]
pub(crate) struct CompiledVector {
    pub(crate) number: u32,
    pub(crate) rule: u32,
    /// The visible actions.
    pub(crate) actions: Vec<ActionId>,
    pub(crate) parts: Vec<(usize, u32)>,
    /// For each part and each of its actions, the group whose arguments it shares; `u32::MAX` if it shares none.
    pub(crate) groups: Vec<Vec<u32>>,
    /// For each group, how many arguments its actions have.
    pub(crate) arities: Vec<usize>,
    /// The source of each visible action's arguments.
    pub(crate) shown: Vec<(ActionId, (usize, usize))>,
    pub(crate) unequal: Vec<Vec<(usize, usize)>>,
}

/// The rule of successful termination.
pub(crate) const TERMINATE: &str = "Terminate";

impl System {
    /// Makes a specification ready. The error says what cannot be explored, and where it is.
    pub fn new(specification: Specification) -> Result<Self, Wrong> {
        System::limited(specification, FUEL)
    }

    /// The same with another limit on the rewrite steps of one evaluation, that of the initial values included.
    pub fn limited(specification: Specification, fuel: u64) -> Result<Self, Wrong> {
        System::made(specification, fuel, false)
    }

    /// The same without synchronisation vectors, however few there would be. Steps are found as in a system that has too many of them.
    pub fn without_vectors(specification: Specification) -> Result<Self, Wrong> {
        System::made(specification, FUEL, true)
    }

    fn made(specification: Specification, fuel: u64, always_lazy: bool) -> Result<Self, Wrong> {
        let Some(initial) = specification.initial.clone() else { return Err(Wrong::new(Place::default(), "there is no initial process")) };
        let too_large = |place: Place| move |_: TooMany| Wrong::new(place, "this has too many variables in one scope");
        let mut data = Data::new(&specification).map_err(too_large(initial.place))?;
        let (network, starts, locations, variables) = match unfolded(&specification, &data, &initial, false) {
            Err(Failure::NeedsStack) => unfolded(&specification, &data, &initial, true),
            other => other,
        }
        .map_err(|failure| match failure {
            Failure::Wrong(wrong) => wrong,
            Failure::NeedsStack => Wrong::new(initial.place, "the processes unfold without end"),
        })?;
        data.variables.clone_from(&variables);
        let specification = Specification { variables, ..specification };
        let mut communicating = BTreeSet::new();
        network.communicating(&mut communicating);
        let mut kinds: BTreeMap<Vec<ActionId>, u32> = BTreeMap::new();
        let mut summands = Vec::new();
        let mut number = 0;
        for location in &locations {
            let mut compiled = Vec::new();
            for summand in &location.summands {
                let names: Vec<ActionId> = summand.actions.iter().map(|(action, _)| *action).collect();
                let next = kinds.len() as u32;
                let kind = *kinds.entry(names).or_insert(next);
                let made = compile(&data, &specification, location, summand, &communicating, (kind, number));
                compiled.push(made.map_err(too_large(summand.place))?);
                number += 1;
            }
            summands.push(compiled);
        }
        let kinds_of: Vec<Vec<(u32, Vec<ActionId>)>> = starts.iter().map(|start| kinds_of(start, &locations, &summands)).collect();
        let alphabet = Alphabet::new(&specification, &kinds_of, initial.place);
        let (vectors, lazy, rules) = match alphabet.vectors(&network) {
            Ok(vectors) if !always_lazy => (vectors, None, Vec::new()),
            Ok(_) | Err(NoVectors::TooMany) => {
                let (lazy, rules) = Lazy::new(&alphabet, &network)?;
                (Vec::new(), Some(lazy), rules)
            }
            Err(NoVectors::Wrong(wrong)) => return Err(wrong),
        };
        let kind_count = kinds.len();
        let mut system = System {
            data,
            locations,
            summands,
            kinds: numbered(kinds),
            components: Vec::new(),
            network,
            vectors: Vec::new(),
            leading: starts.iter().map(|_| vec![Vec::new(); kind_count]).collect(),
            lazy,
            rules,
            specification,
            fuel,
            joins: Mutex::default(),
        };
        system.number_vectors(vectors);
        for (index, start) in starts.iter().enumerate() {
            let component = system
                .started(start, index == 0)
                .map_err(|halt| Wrong::new(initial.place, format!("the initial values cannot be found: {}", system.explain(halt))))?;
            system.components.push(component);
        }
        Ok(system)
    }

    /// A cache of joins that another worker left, or an empty one.
    pub(crate) fn lend_joins(&self) -> Joins {
        self.joins.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes back a cache of joins.
    pub(crate) fn return_joins(&self, joins: Joins) {
        self.joins.lock().unwrap_or_else(PoisonError::into_inner).push(joins);
    }

    /// The limit on rewrite steps of one evaluation.
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    /// The same with another limit on rewrite steps of one evaluation from now on.
    pub fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    fn number_vectors(&mut self, vectors: Vec<Vector>) {
        let mut numbers: HashMap<Vec<ActionId>, u32> = HashMap::new();
        let mut names: Vec<Vec<ActionId>> =
            vectors.iter().map(|vector| vector.outcomes.iter().filter(|outcome| !outcome.hidden).map(|outcome| outcome.action).collect()).collect();
        names.sort();
        names.dedup();
        for actions in names {
            numbers.insert(actions.clone(), self.rules.len() as u32);
            self.rules.push(actions);
        }
        for vector in vectors {
            let visible: Vec<ActionId> = vector.outcomes.iter().filter(|outcome| !outcome.hidden).map(|outcome| outcome.action).collect();
            let mut groups: Vec<Vec<u32>> = Vec::new();
            for (_, kind) in &vector.parts {
                groups.push(vec![u32::MAX; self.kinds[*kind as usize].len()]);
            }
            let mut arities = Vec::new();
            for outcome in vector.outcomes.iter().filter(|outcome| outcome.sources.len() > 1) {
                for (part, index) in &outcome.sources {
                    groups[*part][*index] = arities.len() as u32;
                }
                arities.push(self.specification.actions[outcome.action.index()].arguments.len());
            }
            let shown = vector.outcomes.iter().filter(|outcome| !outcome.hidden).map(|outcome| (outcome.action, outcome.sources[0])).collect();
            let number = self.vectors.len() as u32;
            if let Some((component, kind)) = vector.parts.first() {
                self.leading[*component][*kind as usize].push(number);
            }
            self.vectors.push(CompiledVector {
                number,
                rule: numbers.get(&visible).copied().unwrap_or(0),
                actions: visible,
                parts: vector.parts,
                groups,
                arities,
                shown,
                unequal: vector.unequal,
            });
        }
    }

    fn started(&self, start: &Start, is_first: bool) -> Result<Component, Halt> {
        let mut machine = Machine::new(&self.data, self.fuel);
        let mut frames = Vec::new();
        for (location, arguments) in &start.frames {
            frames.push(*location);
            for argument in arguments {
                let mut compiler = Compiler::new(&self.data);
                let code = compiler.compile(argument).map_err(|_| Halt::NoRoom)?;
                machine.begin(&[], compiler.slots());
                frames.push(machine.evaluate(&code, 0)?.0);
            }
        }
        Component::new(start.name.clone(), &frames, is_first)
    }

    /// Explains a halt in words.
    pub fn explain(&self, halt: Halt) -> String {
        match halt {
            Halt::Fuel => format!("rewriting takes more than {} steps", self.fuel),
            Halt::Depth => "functions call each other too deeply".to_string(),
            Halt::Unbounded(sort) => format!("there is no bound on the values of sort {} to try", self.show_sort(sort)),
            Halt::Undecided => "a condition is neither true nor false".to_string(),
            Halt::NoRoom => "the table of values is full".to_string(),
        }
    }
}

/// The keys of a map in the order of their numbers.
fn numbered(kinds: BTreeMap<Vec<ActionId>, u32>) -> Vec<Vec<ActionId>> {
    let mut list = vec![Vec::new(); kinds.len()];
    for (actions, number) in kinds {
        list[number as usize] = actions;
    }
    list
}

type Unfolded = (Network, Vec<Start>, Vec<Location>, Vec<Variable>);

/// Components with their locations, and the operators over them.
fn unfolded(specification: &Specification, data: &Data, initial: &Process, by_stack: bool) -> Result<Unfolded, Failure> {
    let mut locations = Locations::new(specification, data, by_stack);
    let mut starts = Vec::new();
    let network = network::unfold(specification, initial, &HashMap::new(), &mut Vec::new(), &mut locations, &mut starts)?;
    locations.complete()?;
    Ok((network, starts, locations.list, locations.variables))
}

/// The kinds of multi-actions that a component can do.
fn kinds_of(start: &Start, locations: &[Location], summands: &[Vec<CompiledSummand>]) -> Vec<(u32, Vec<ActionId>)> {
    let mut reached: BTreeSet<LocationId> = BTreeSet::new();
    let mut open: Vec<LocationId> = start.frames.iter().map(|(location, _)| *location).collect();
    let mut kinds: BTreeMap<u32, Vec<ActionId>> = BTreeMap::new();
    while let Some(location) = open.pop() {
        if !reached.insert(location) {
            continue;
        }
        for (summand, compiled) in locations[location as usize].summands.iter().zip(&summands[location as usize]) {
            kinds.insert(compiled.kind, compiled.actions.iter().map(|(action, _)| *action).collect());
            open.extend(summand.next.iter().map(|(location, _)| *location));
        }
    }
    kinds.into_iter().collect()
}

/// The frame of a summand, with the variables that received arguments are known by.
fn frame<'d>(
    data: &'d Data,
    specification: &Specification,
    location: &Location,
    summand: &Summand,
) -> Result<(Compiler<'d>, u16, Vec<Term>), TooMany> {
    let mut compiler = Compiler::new(data);
    for parameter in &location.parameters {
        compiler.bind(*parameter)?;
    }
    let received = location.parameters.len() as u16;
    let mut equalities = Vec::new();
    for (action, arguments) in &summand.actions {
        for (argument, sort) in arguments.iter().zip(&specification.actions[action.index()].arguments) {
            let variable = compiler.fresh(*sort);
            compiler.bind(variable)?;
            equalities.push(Term::Operation(Operation::Equal, vec![argument.clone(), Term::Variable(variable)]));
        }
    }
    Ok((compiler, received, equalities))
}

/// The plan of a summand for a set of received arguments.
fn plan(compiler: &mut Compiler, summand: &Summand, equalities: &[Term], mask: u64) -> Result<Query, TooMany> {
    let told = equalities.iter().enumerate().filter(|(index, _)| *index < 64 && mask >> index & 1 == 1).map(|(_, equality)| equality);
    let conditions: Vec<Term> = told.chain(&summand.conditions).cloned().collect();
    compiler.query(&summand.variables, &conditions, Wanted::All)
}

fn compile(
    data: &Data,
    specification: &Specification,
    location: &Location,
    summand: &Summand,
    communicating: &BTreeSet<String>,
    (kind, number): (u32, u32),
) -> Result<CompiledSummand, TooMany> {
    let (mut compiler, received, equalities) = frame(data, specification, location, summand)?;
    let query = plan(&mut compiler, summand, &equalities, 0)?;
    let told = plan(&mut compiler, summand, &equalities, u64::MAX)?;
    for variable in &summand.variables {
        compiler.bind(*variable)?;
    }
    let mut actions = Vec::new();
    for (action, arguments) in &summand.actions {
        actions.push((*action, arguments.iter().map(|term| compiler.compile(term)).collect::<Result<_, _>>()?));
    }
    let mut next = Vec::new();
    for (location, arguments) in &summand.next {
        next.push((*location, arguments.iter().map(|term| compiler.compile(term)).collect::<Result<_, _>>()?));
    }
    let depends = |term: &Term| {
        let mut used = Vec::new();
        crate::code::free(term, &mut used);
        used.iter().any(|variable| summand.variables.contains(variable))
    };
    let receives = summand
        .actions
        .iter()
        .any(|(action, terms)| communicating.contains(&specification.actions[action.index()].name) && terms.iter().any(depends));
    // Whether receiving arguments leaves less to try.
    let less = told.candidates(data).unwrap_or(usize::MAX) < query.candidates(data).unwrap_or(usize::MAX);
    let open = if receives && less && equalities.len() <= 64 {
        let terms = summand.actions.iter().flat_map(|(_, terms)| terms);
        Some(terms.map(|term| if depends(term) { Ok(None) } else { compiler.compile(term).map(Some) }).collect::<Result<_, _>>()?)
    } else {
        None
    };
    let slots = compiler.slots();
    Ok(CompiledSummand { kind, slots, received, actions, next, query, open, plans: Mutex::default(), number, place: summand.place })
}

impl System {
    /// The plan of a summand for a set of received arguments, and the places of the frame that it needs.
    pub(crate) fn plan(&self, location: usize, index: usize, mask: u64) -> Result<Arc<(Query, u16)>, Halt> {
        let summand = &self.summands[location][index];
        let mut plans = summand.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans.get(&mask) {
            return Ok(known.clone());
        }
        let make = || {
            let own = &self.locations[location].summands[index];
            let (mut compiler, _, equalities) = frame(&self.data, &self.specification, &self.locations[location], own)?;
            let query = plan(&mut compiler, own, &equalities, mask)?;
            Ok((query, compiler.slots()))
        };
        let made = Arc::new(make().map_err(|_: TooMany| Halt::NoRoom)?);
        plans.insert(mask, made.clone());
        Ok(made)
    }

    /// The arguments of an action in a frame, as one value.
    pub(crate) fn tuple(machine: &mut Machine, codes: &[Code]) -> Result<Value, Halt> {
        match codes {
            [] => Ok(Value::UNIT),
            [only] => machine.evaluate(only, 0),
            _ => {
                let values = machine.list(codes, 0)?;
                Ok(machine.data.values.tuple(&values)?)
            }
        }
    }
}
