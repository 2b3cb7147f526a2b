//! Operators over components for systems that have too many synchronisation vectors to list: without `allow`, any set of components may act at the same time.
//!
//! The steps of a state are then made one after another from the offers of that state ([`walk`]). This file has the operators with names replaced by numbers, and what is known
//! about a step before it is complete: what stands around a parallel composition may rule out some of its actions, or ask that they communicate.

pub(crate) mod walk;

use crate::network::{Alphabet, Filter, Network, communicating_filter, renamed_filter};
use crate::specification::ActionId;
use crate::wrong::Wrong;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The operators of a system.
#[derive(Debug)]
pub(crate) struct Lazy {
    root: Node,
    /// The rule of each action that can be seen alone, by the number of the action.
    singles: Vec<Option<u32>>,
    /// The rule of `tau`.
    tau: u32,
    /// The rule of all multi-actions of more than one action.
    pub(crate) several: u32,
    /// For each action the number of its name, in the order of names.
    names: Vec<u32>,
}

/// An operator.
#[derive(Debug)]
enum Node {
    Component(usize),
    Parallel(Parallel),
    /// Actions that do not happen.
    Block(Vec<bool>, Box<Node>),
    /// Actions that are not seen.
    Hide(Vec<bool>, Box<Node>),
    /// Sorted names that may happen at the same time.
    Allow(HashSet<Vec<u32>>, Box<Node>),
    /// The new action for each action.
    Rename(Vec<ActionId>, Box<Node>),
    Communicate(Vec<Communication>, Box<Node>),
}

/// Networks side by side.
#[derive(Debug)]
struct Parallel {
    parts: Vec<Node>,
    /// The filter of multi-actions, if any are ruled out.
    filter: Option<Filter>,
    needs: Vec<Need>,
}

/// Actions of these names become one action.
#[derive(Debug)]
struct Communication {
    from: Vec<u32>,
    /// The result for each action that may stand first.
    results: BTreeMap<ActionId, ActionId>,
}

/// A communication with names that do not get through by themselves.
#[derive(Clone, Debug)]
struct Need {
    /// All its names, each with how often it occurs.
    from: BTreeMap<u32, usize>,
    /// Those that must communicate.
    must: BTreeSet<u32>,
}

impl Lazy {
    /// The operators of a network, and the rules of its steps; the last rule is that of all larger multi-actions.
    pub(crate) fn new(alphabet: &Alphabet, network: &Network) -> Result<(Self, Vec<Vec<ActionId>>), Wrong> {
        let actions = &alphabet.specification.actions;
        let mut sorted: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let names = actions.iter().map(|action| sorted.partition_point(|name| *name < action.name.as_str()) as u32).collect();
        let maker = Maker { alphabet, sorted };
        let (root, seen) = maker.node(network, &Filter::default(), &[])?;
        let mut rules: Vec<Vec<ActionId>> = vec![Vec::new()];
        let mut singles = vec![None; actions.len()];
        for action in seen {
            singles[action.index()] = Some(rules.len() as u32);
            rules.push(vec![action]);
        }
        let several = rules.len() as u32;
        rules.push(Vec::new());
        Ok((Lazy { root, singles, tau: 0, several, names }, rules))
    }

    /// The rule of a multi-action.
    fn rule(&self, actions: &[ActionId]) -> u32 {
        match actions {
            [] => self.tau,
            [only] => self.singles[only.index()].unwrap_or(self.several),
            _ => self.several,
        }
    }

    /// Whether an action can be seen alone.
    pub(crate) fn is_seen(&self, action: ActionId) -> bool {
        self.singles[action.index()].is_some()
    }
}

struct Maker<'a, 'b> {
    alphabet: &'b Alphabet<'a>,
    /// All names of actions in their order.
    sorted: Vec<&'a str>,
}

impl<'a> Maker<'a, '_> {
    fn number(&self, name: &str) -> Option<u32> {
        self.sorted.binary_search(&name).ok().map(|number| number as u32)
    }

    fn name(&self, action: ActionId) -> &'a str {
        &self.alphabet.specification.actions[action.index()].name
    }

    fn marked(&self, names: &BTreeSet<String>) -> Vec<bool> {
        self.alphabet.specification.actions.iter().map(|action| names.contains(&action.name)).collect()
    }

    /// An operator and the actions that can come up from it.
    fn node(&self, network: &Network, filter: &Filter, needs: &[Need]) -> Result<(Node, BTreeSet<ActionId>), Wrong> {
        Ok(match network {
            Network::Component(component) => {
                let seen = self.alphabet.kinds[*component].iter().flat_map(|(_, actions)| actions.iter().copied()).collect();
                (Node::Component(*component), seen)
            }
            Network::Parallel(parts) => {
                let (mut nodes, mut seen) = (Vec::new(), BTreeSet::new());
                for part in parts {
                    let (node, more) = self.node(part, filter, &[])?;
                    seen.extend(more);
                    match node {
                        Node::Parallel(inner) => nodes.extend(inner.parts),
                        node => nodes.push(node),
                    }
                }
                let filter = filter.is_restricting().then(|| filter.clone());
                (Node::Parallel(Parallel { parts: nodes, filter, needs: needs.to_vec() }), seen)
            }
            Network::Block(names, body) => {
                let mut inner = filter.clone();
                inner.blocked.extend(names.iter().cloned());
                let (node, mut seen) = self.node(body, &inner, needs)?;
                seen.retain(|action| !names.contains(self.name(*action)));
                (Node::Block(self.marked(names), Box::new(node)), seen)
            }
            Network::Hide(names, body) => {
                let mut inner = filter.clone();
                inner.free.extend(names.iter().cloned());
                inner.blocked.retain(|name| !names.contains(name));
                let (node, mut seen) = self.node(body, &inner, &[])?;
                seen.retain(|action| !names.contains(self.name(*action)));
                (Node::Hide(self.marked(names), Box::new(node)), seen)
            }
            Network::Allow(multis, body) => {
                let inner = Filter::of(multis.iter().cloned(), BTreeSet::new());
                let (node, mut seen) = self.node(body, &inner, &[])?;
                let listed: BTreeSet<&String> = multis.iter().flatten().collect();
                seen.retain(|action| listed.iter().any(|name| *name == self.name(*action)));
                // A list with a name that no action has lets nothing through.
                let numbers = |names: &Vec<String>| names.iter().map(|name| self.number(name)).collect::<Option<Vec<u32>>>();
                (Node::Allow(multis.iter().filter_map(numbers).collect(), Box::new(node)), seen)
            }
            Network::Rename(pairs, body) => {
                let (node, seen) = self.node(body, &renamed_filter(pairs, filter), &[])?;
                let mut renamed: Vec<ActionId> = (0..self.alphabet.specification.actions.len() as u32).map(ActionId).collect();
                for action in &seen {
                    if let Some((_, to)) = pairs.iter().find(|(from, _)| from == self.name(*action)) {
                        renamed[action.index()] = self.alphabet.like(to, *action)?;
                    }
                }
                let seen = seen.iter().map(|action| renamed[action.index()]).collect();
                (Node::Rename(renamed, Box::new(node)), seen)
            }
            Network::Communicate(list, body) => {
                let own: Vec<Need> = list.iter().filter_map(|(from, _)| self.need(from, filter)).collect();
                let (node, mut seen) = self.node(body, &communicating_filter(list, filter), &own)?;
                let mut communications = Vec::new();
                for (from, to) in list {
                    let firsts: Vec<ActionId> = seen.iter().copied().filter(|action| self.can_communicate(from, *action, &seen)).collect();
                    let mut results = BTreeMap::new();
                    for action in firsts {
                        results.insert(action, self.alphabet.like(to, action)?);
                    }
                    let Some(from) = from.iter().map(|name| self.number(name)).collect::<Option<Vec<u32>>>() else { continue };
                    communications.push(Communication { from, results });
                }
                seen.extend(communications.iter().flat_map(|communication| communication.results.values().copied()));
                (Node::Communicate(communications, Box::new(node)), seen)
            }
        })
    }

    /// The need of a communication, if some of its names are not let through by themselves.
    fn need(&self, from: &[String], filter: &Filter) -> Option<Need> {
        let must: BTreeSet<u32> = from.iter().filter(|name| !filter.lets(&[name])).filter_map(|name| self.number(name)).collect();
        let mut counts = BTreeMap::new();
        for name in from {
            *counts.entry(self.number(name)?).or_insert(0) += 1;
        }
        (!must.is_empty()).then_some(Need { from: counts, must })
    }

    /// Whether an action can be the first of a communication: there are actions of all its names with the same sorts.
    fn can_communicate(&self, from: &[String], action: ActionId, seen: &BTreeSet<ActionId>) -> bool {
        let actions = &self.alphabet.specification.actions;
        let fits = |name: &String| {
            seen.iter().any(|other| self.name(*other) == name && actions[other.index()].arguments == actions[action.index()].arguments)
        };
        from.iter().any(|name| name == self.name(action)) && from.iter().all(fits)
    }
}
