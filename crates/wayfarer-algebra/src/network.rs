//! Parallel composition and its operators, down to synchronisation vectors.
//!
//! A vector says which components take part in a step, with a multi-action of which kind each, which of their actions must have equal arguments, and which actions are
//! seen in the end. The multi-actions that `allow` lets through are carried down to the components first, so that only vectors come up that may be let through. If there are
//! too many of them all the same, none are made, and steps are found without them ([`lazy`](crate::lazy)).

use crate::sequential::{LocationId, Locations};
use crate::specification::{ActionId, Place, Process, ProcessId, ProcessKind, Specification, Term, VariableId};
use crate::wrong::Wrong;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Operators over components.
#[derive(Clone, Debug)]
pub(crate) enum Network {
    Component(usize),
    Parallel(Vec<Network>),
    Block(BTreeSet<String>, Box<Network>),
    Hide(BTreeSet<String>, Box<Network>),
    Allow(Vec<Vec<String>>, Box<Network>),
    Rename(Vec<(String, String)>, Box<Network>),
    Communicate(Vec<(Vec<String>, String)>, Box<Network>),
}

/// The initial state of a component.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) frames: Vec<(LocationId, Vec<Term>)>,
}

/// The most components of a network.
const MOST_COMPONENTS: usize = 1024;

/// Unfolds the initial process to operators over components.
pub(crate) fn unfold(
    specification: &Specification,
    process: &Process,
    values: &HashMap<VariableId, Term>,
    calls: &mut Vec<ProcessId>,
    locations: &mut Locations,
    starts: &mut Vec<Start>,
) -> Result<Network, Wrong> {
    let mut inner = |process: &Process, calls: &mut Vec<ProcessId>| unfold(specification, process, values, calls, locations, starts);
    Ok(match &process.kind {
        ProcessKind::Parallel(list) => {
            let mut parts = Vec::new();
            for process in list {
                parts.push(inner(process, calls)?);
            }
            Network::Parallel(parts)
        }
        ProcessKind::Block(names, body) => Network::Block(names.iter().cloned().collect(), Box::new(inner(body, calls)?)),
        ProcessKind::Hide(names, body) => Network::Hide(names.iter().cloned().collect(), Box::new(inner(body, calls)?)),
        ProcessKind::Allow(multis, body) => Network::Allow(multis.iter().map(|names| sorted(names)).collect(), Box::new(inner(body, calls)?)),
        ProcessKind::Rename(pairs, body) => Network::Rename(pairs.clone(), Box::new(inner(body, calls)?)),
        ProcessKind::Communicate(list, body) => {
            let list: Vec<(Vec<String>, String)> = list.iter().map(|(from, to)| (sorted(from), to.clone())).collect();
            let mut seen = HashSet::new();
            for name in list.iter().flat_map(|(from, _)| from.iter().collect::<BTreeSet<_>>()) {
                if !seen.insert(name) {
                    return Err(Wrong::new(process.place, format!("the action `{name}` takes part in more than one communication")));
                }
            }
            Network::Communicate(list, Box::new(inner(body, calls)?))
        }
        ProcessKind::Call(called, arguments) if is_network(specification, *called, &mut Vec::new()) => {
            let definition = &specification.processes[called.index()];
            if calls.contains(called) {
                return Err(Wrong::new(process.place, format!("the process `{}` puts itself in parallel without end", definition.name)));
            }
            let arguments = arguments.iter().map(|term| crate::code::substitute(term, values));
            let values: HashMap<VariableId, Term> = definition.parameters.iter().copied().zip(arguments).collect();
            calls.push(*called);
            let network = unfold(specification, &definition.body, &values, calls, locations, starts);
            calls.pop();
            network?
        }
        _ => {
            if starts.len() >= MOST_COMPONENTS {
                return Err(Wrong::new(process.place, format!("more than {MOST_COMPONENTS} components")));
            }
            let name = match &process.kind {
                ProcessKind::Call(called, _) => specification.processes[called.index()].name.clone(),
                _ => calls.last().map_or_else(|| "init".to_string(), |called| specification.processes[called.index()].name.clone()),
            };
            let frames = locations.start(process, values, &name);
            starts.push(Start { name, frames });
            Network::Component(starts.len() - 1)
        }
    })
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

/// Whether a process is an operator over other processes, and not sequential.
fn is_network(specification: &Specification, process: ProcessId, within: &mut Vec<ProcessId>) -> bool {
    if within.contains(&process) {
        return false;
    }
    within.push(process);
    let answer = match &specification.processes[process.index()].body.kind {
        ProcessKind::Parallel(_) | ProcessKind::Block(..) | ProcessKind::Hide(..) => true,
        ProcessKind::Allow(..) | ProcessKind::Rename(..) | ProcessKind::Communicate(..) => true,
        ProcessKind::Call(called, _) => is_network(specification, *called, within),
        _ => false,
    };
    within.pop();
    answer
}

impl Network {
    /// Whether a component is part of it.
    pub(crate) fn has(&self, component: usize) -> bool {
        match self {
            Network::Component(own) => *own == component,
            Network::Parallel(parts) => parts.iter().any(|part| part.has(component)),
            Network::Block(_, body) | Network::Hide(_, body) | Network::Allow(_, body) => body.has(component),
            Network::Rename(_, body) | Network::Communicate(_, body) => body.has(component),
        }
    }

    /// The names of all actions that can communicate somewhere, by whatever name the components know them.
    pub(crate) fn communicating(&self, out: &mut BTreeSet<String>) {
        match self {
            Network::Component(_) => {}
            Network::Parallel(parts) => parts.iter().for_each(|part| part.communicating(out)),
            Network::Block(_, body) | Network::Hide(_, body) | Network::Allow(_, body) => body.communicating(out),
            Network::Rename(pairs, body) => {
                let renamed: Vec<String> = pairs.iter().filter(|(_, to)| out.contains(to)).map(|(from, _)| from.clone()).collect();
                out.extend(renamed);
                body.communicating(out);
            }
            Network::Communicate(list, body) => {
                out.extend(list.iter().flat_map(|(from, _)| from.iter().cloned()));
                body.communicating(out);
            }
        }
    }
}

/// A multi-action of some components as seen from an operator.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    /// Components with the number of a kind of multi-action each, in the order of the components.
    pub(crate) parts: Vec<(usize, u32)>,
    /// Actions that are seen, in the order of their numbers, and hidden ones that must have equal arguments.
    pub(crate) outcomes: Vec<Outcome>,
    /// Actions that must not all have equal arguments: they would communicate.
    pub(crate) unequal: Vec<Vec<Source>>,
}

/// The index of a part of a vector, and of an action in its multi-action.
pub(crate) type Source = (usize, usize);

/// An action with all that must have its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) action: ActionId,
    pub(crate) sources: Vec<Source>,
    pub(crate) hidden: bool,
}

/// Multi-actions that may be part of one that what stands around lets through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// All sorted lists of names that are let through, and all parts of them; none if nothing restricts them.
    parts: Option<HashSet<Vec<String>>>,
    /// Names that do not count.
    pub(crate) free: BTreeSet<String>,
    /// Names that are not let through at all.
    pub(crate) blocked: BTreeSet<String>,
}

impl Filter {
    /// Lets through what is a part of one of these lists.
    pub(crate) fn of(lists: impl IntoIterator<Item = Vec<String>>, free: BTreeSet<String>) -> Self {
        let mut parts = HashSet::new();
        for names in lists {
            if names.len() > 12 || parts.len() > 1 << 20 {
                // All parts of such a list would be too many. The operators check again all that comes up, so everything may be let through here.
                return Filter::default();
            }
            if parts.contains(&names) {
                continue;
            }
            for bits in 0..1usize << names.len() {
                parts.insert(names.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1).map(|(_, name)| name.clone()).collect());
            }
        }
        Filter { parts: Some(parts), free, blocked: BTreeSet::new() }
    }

    /// Whether anything is not let through.
    pub(crate) fn is_restricting(&self) -> bool {
        self.parts.is_some() || !self.blocked.is_empty()
    }

    /// Whether a multi-action of these names may be part of one that is let through.
    pub(crate) fn lets(&self, names: &[&str]) -> bool {
        if names.iter().any(|name| self.blocked.contains(*name)) {
            return false;
        }
        let Some(parts) = &self.parts else { return true };
        let mut counted: Vec<String> = names.iter().filter(|name| !self.free.contains(**name)).map(|name| (*name).to_string()).collect();
        counted.sort();
        parts.contains(&counted)
    }
}

/// The alphabet of vectors: the actions that they are made of.
pub(crate) struct Alphabet<'a> {
    pub(crate) specification: &'a Specification,
    /// The kinds of multi-actions of each component.
    pub(crate) kinds: &'a [Vec<(u32, Vec<ActionId>)>],
    /// The position of the initial process in the text.
    place: Place,
    /// Actions by name and argument sorts.
    actions: HashMap<(&'a str, &'a [crate::SortId]), ActionId>,
}

/// The most vectors of a specification. With more of them, looking through all that a component leads takes longer than putting steps together anew.
const MOST_VECTORS: usize = 1 << 14;

/// Why there are no vectors.
pub(crate) enum NoVectors {
    Wrong(Wrong),
    TooMany,
}

impl From<Wrong> for NoVectors {
    fn from(wrong: Wrong) -> Self {
        NoVectors::Wrong(wrong)
    }
}

impl<'a> Alphabet<'a> {
    pub(crate) fn new(specification: &'a Specification, kinds: &'a [Vec<(u32, Vec<ActionId>)>], place: Place) -> Self {
        let number = |(index, action): (usize, &'a crate::Action)| ((action.name.as_str(), action.arguments.as_slice()), ActionId(index as u32));
        Alphabet { specification, kinds, place, actions: specification.actions.iter().enumerate().map(number).collect() }
    }

    /// The vectors of a network.
    pub(crate) fn vectors(&self, network: &Network) -> Result<Vec<Vector>, NoVectors> {
        let mut vectors = self.up(network, &Filter::default())?;
        for vector in &mut vectors {
            vector.outcomes.sort_by(|one, other| self.name(one.action).cmp(self.name(other.action)).then(one.action.cmp(&other.action)));
        }
        Ok(vectors)
    }

    fn name(&self, action: ActionId) -> &'a str {
        &self.specification.actions[action.index()].name
    }

    fn names(&self, vector: &Vector) -> Vec<&'a str> {
        vector.outcomes.iter().filter(|outcome| !outcome.hidden).map(|outcome| self.name(outcome.action)).collect()
    }

    fn up(&self, network: &Network, filter: &Filter) -> Result<Vec<Vector>, NoVectors> {
        let result = match network {
            Network::Component(component) => {
                let vector = |(kind, actions): &(u32, Vec<ActionId>)| Vector {
                    parts: vec![(*component, *kind)],
                    outcomes: actions
                        .iter()
                        .enumerate()
                        .map(|(index, action)| Outcome { action: *action, sources: vec![(0, index)], hidden: false })
                        .collect(),
                    unequal: Vec::new(),
                };
                self.kinds[*component].iter().map(vector).filter(|vector| filter.lets(&self.names(vector))).collect()
            }
            Network::Parallel(parts) => {
                let mut all: Vec<Vector> = Vec::new();
                for part in parts {
                    let more = self.up(part, filter)?;
                    let mut both = Vec::new();
                    for one in &all {
                        let names = self.names(one);
                        for other in &more {
                            let mut together = names.clone();
                            together.extend(self.names(other));
                            if filter.lets(&together) {
                                both.push(joined(one, other));
                                if both.len() > MOST_VECTORS {
                                    return Err(NoVectors::TooMany);
                                }
                            }
                        }
                    }
                    all.extend(more);
                    all.extend(both);
                }
                all
            }
            Network::Block(names, body) => {
                let mut inner = filter.clone();
                inner.blocked.extend(names.iter().cloned());
                let mut vectors = self.up(body, &inner)?;
                vectors.retain(|vector| !self.names(vector).iter().any(|name| names.contains(*name)));
                vectors
            }
            Network::Hide(names, body) => {
                let mut inner = filter.clone();
                inner.free.extend(names.iter().cloned());
                inner.blocked.retain(|name| !names.contains(name));
                let mut vectors = self.up(body, &inner)?;
                for vector in &mut vectors {
                    for outcome in &mut vector.outcomes {
                        outcome.hidden |= names.contains(self.name(outcome.action));
                    }
                }
                vectors
            }
            Network::Allow(multis, body) => {
                let whole: HashSet<Vec<String>> =
                    multis.iter().filter(|names| filter.lets(&names.iter().map(String::as_str).collect::<Vec<_>>())).cloned().collect();
                let inner = Filter::of(whole.iter().cloned(), BTreeSet::new());
                let mut vectors = self.up(body, &inner)?;
                vectors.retain(|vector| {
                    let mut names: Vec<String> = self.names(vector).into_iter().map(str::to_string).collect();
                    names.sort();
                    names.is_empty() || whole.contains(&names)
                });
                vectors
            }
            Network::Rename(pairs, body) => {
                let inner = renamed_filter(pairs, filter);
                let mut vectors = self.up(body, &inner)?;
                for vector in &mut vectors {
                    for outcome in vector.outcomes.iter_mut().filter(|outcome| !outcome.hidden) {
                        let action = &self.specification.actions[outcome.action.index()];
                        if let Some((_, to)) = pairs.iter().find(|(from, _)| *from == action.name) {
                            outcome.action = self.action(to, &action.arguments)?;
                        }
                    }
                }
                vectors
            }
            Network::Communicate(list, body) => {
                let inner = communicating_filter(list, filter);
                let mut vectors = Vec::new();
                for vector in self.up(body, &inner)? {
                    let limit = vector.outcomes.len();
                    self.communicate(list, vector, limit, &mut Vec::new(), &mut vectors)?;
                    if vectors.len() > MOST_VECTORS {
                        return Err(NoVectors::TooMany);
                    }
                }
                vectors
            }
        };
        let mut result: Vec<Vector> = result;
        result.retain(|vector| filter.lets(&self.names(vector)));
        if result.len() > MOST_VECTORS {
            return Err(NoVectors::TooMany);
        }
        Ok(result)
    }

    /// The action of a name with the argument sorts of another one.
    pub(crate) fn like(&self, name: &str, other: ActionId) -> Result<ActionId, Wrong> {
        self.action(name, &self.specification.actions[other.index()].arguments)
    }

    fn action(&self, name: &str, arguments: &[crate::SortId]) -> Result<ActionId, Wrong> {
        self.actions.get(&(name, arguments)).copied().ok_or_else(|| {
            let wrong = Wrong::new(self.place, format!("the action `{name}` is not declared with the sorts of the actions that it stands for"));
            wrong.with_help("declare it with `act`")
        })
    }

    /// All ways in which the first `limit` actions of a vector communicate. Those that can must, unless their arguments differ; results do not communicate again.
    fn communicate(
        &self,
        list: &[(Vec<String>, String)],
        vector: Vector,
        limit: usize,
        apart: &mut Vec<Vec<usize>>,
        out: &mut Vec<Vector>,
    ) -> Result<(), Wrong> {
        for (from, to) in list {
            let Some(chosen) = self.choose(from, &vector, limit, apart) else { continue };
            let arguments = &self.specification.actions[vector.outcomes[chosen[0]].action.index()].arguments;
            let sources = chosen.iter().flat_map(|index| vector.outcomes[*index].sources.clone()).collect();
            let order: Vec<usize> = (0..vector.outcomes.len()).filter(|index| !chosen.contains(index)).collect();
            let mut met = vector.clone();
            met.outcomes = order.iter().map(|index| vector.outcomes[*index].clone()).collect();
            met.outcomes.push(Outcome { action: self.action(to, arguments)?, sources, hidden: false });
            // Groups that are known to differ keep their actions; one that lost an action cannot be chosen again.
            let moved = |group: &Vec<usize>| group.iter().map(|old| order.iter().position(|index| index == old)).collect::<Option<Vec<usize>>>();
            let mut inner: Vec<Vec<usize>> = apart.iter().filter_map(moved).collect();
            self.communicate(list, met, limit - chosen.len(), &mut inner, out)?;
            let mut differ = vector;
            differ.unequal.push(chosen.iter().filter_map(|index| differ.outcomes[*index].sources.first().copied()).collect());
            apart.push(chosen);
            self.communicate(list, differ, limit, apart, out)?;
            apart.pop();
            return Ok(());
        }
        out.push(vector);
        Ok(())
    }

    /// Actions of a vector that a communication takes, other than those that are known to have different arguments.
    fn choose(&self, from: &[String], vector: &Vector, limit: usize, apart: &[Vec<usize>]) -> Option<Vec<usize>> {
        fn extend(alphabet: &Alphabet, from: &[String], vector: &Vector, limit: usize, apart: &[Vec<usize>], chosen: &mut Vec<usize>) -> bool {
            let Some(name) = from.get(chosen.len()) else {
                let mut sorted = chosen.clone();
                sorted.sort();
                return !apart.iter().any(|group| {
                    let mut group = group.clone();
                    group.sort();
                    group == sorted
                });
            };
            for (index, outcome) in vector.outcomes.iter().take(limit).enumerate() {
                let own = &alphabet.specification.actions[outcome.action.index()];
                if outcome.hidden || own.name != *name || chosen.contains(&index) {
                    continue;
                }
                // Equal names in a row are chosen in ascending order, so that a choice comes once only.
                if let (Some(last), Some(before)) = (chosen.last(), chosen.len().checked_sub(1).and_then(|at| from.get(at)))
                    && before == name
                    && *last > index
                {
                    continue;
                }
                if let Some(first) = chosen.first()
                    && alphabet.specification.actions[vector.outcomes[*first].action.index()].arguments != own.arguments
                {
                    continue;
                }
                chosen.push(index);
                if extend(alphabet, from, vector, limit, apart, chosen) {
                    return true;
                }
                chosen.pop();
            }
            false
        }
        let mut chosen = Vec::new();
        extend(self, from, vector, limit, apart, &mut chosen).then_some(chosen)
    }
}

/// Two vectors at the same time.
fn joined(one: &Vector, other: &Vector) -> Vector {
    let offset = one.parts.len();
    let shift = |sources: &[Source]| sources.iter().map(|(part, index)| (part + offset, *index)).collect::<Vec<_>>();
    let mut both = one.clone();
    both.parts.extend(other.parts.iter().copied());
    both.outcomes.extend(other.outcomes.iter().map(|outcome| Outcome { sources: shift(&outcome.sources), ..outcome.clone() }));
    both.unequal.extend(other.unequal.iter().map(|group| shift(group)));
    both
}

/// The filter to apply below a renaming.
pub(crate) fn renamed_filter(pairs: &[(String, String)], filter: &Filter) -> Filter {
    let back = |name: &String| {
        let mut names: Vec<String> = pairs.iter().filter(|(_, to)| to == name).map(|(from, _)| from.clone()).collect();
        if !pairs.iter().any(|(from, _)| from == name) {
            names.push(name.clone());
        }
        names
    };
    let Some(parts) = &filter.parts else {
        let blocked = filter.blocked.iter().filter(|name| !pairs.iter().any(|(from, _)| from == *name)).cloned().collect();
        return Filter { blocked, ..Filter::default() };
    };
    let mut inner = HashSet::new();
    for names in parts {
        let mut lists: Vec<Vec<String>> = vec![Vec::new()];
        for name in names {
            lists = lists.iter().flat_map(|list| back(name).into_iter().map(|from| [list.as_slice(), &[from]].concat())).collect();
        }
        inner.extend(lists.into_iter().map(|list| sorted(&list)));
    }
    Filter::of(inner, filter.free.iter().flat_map(back).collect())
}

/// The filter to apply below communications: every result may stand for the actions that it is made of.
pub(crate) fn communicating_filter(list: &[(Vec<String>, String)], filter: &Filter) -> Filter {
    let taken: BTreeSet<&String> = list.iter().flat_map(|(from, _)| from).collect();
    let blocked: BTreeSet<String> = filter.blocked.iter().filter(|name| !taken.contains(name)).cloned().collect();
    let mut free = filter.free.clone();
    for (from, to) in list {
        if filter.free.contains(to) {
            free.extend(from.iter().cloned());
        }
    }
    let Some(parts) = &filter.parts else { return Filter { blocked, ..Filter::default() } };
    let mut inner = HashSet::new();
    for names in parts {
        let mut lists: Vec<Vec<String>> = vec![Vec::new()];
        for name in names {
            let mut sources: Vec<Vec<String>> = vec![vec![name.clone()]];
            sources.extend(list.iter().filter(|(_, to)| to == name).map(|(from, _)| from.clone()));
            lists = lists.iter().flat_map(|list| sources.iter().map(|source| [list.as_slice(), source.as_slice()].concat())).collect();
        }
        inner.extend(lists.into_iter().map(|list| sorted(&list)));
    }
    Filter::of(inner, free)
}
