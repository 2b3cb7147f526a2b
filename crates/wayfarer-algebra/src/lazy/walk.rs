//! The steps of a state, one after another: a walk over the operators that chooses, part by part, which components take part and with which of their offers.
//!
//! Nothing is listed: a step is put together on a stack, handed on, and taken apart again. Actions whose arguments are known communicate at once; for components that wait for
//! arguments the join of [`steps`](crate::steps) does the rest.

use super::{Communication, Lazy, Need, Node, Parallel};
use crate::component::{Offer, Offers};
use crate::network::Source;
use crate::specification::ActionId;
use crate::steps::{Failed, Joiner, Taker, agree};
use crate::system::{CompiledVector, System};
use crate::value::Value;

/// The most steps of one state. Beyond it the expansion is cut, and the search says so.
pub(crate) const MOST_STEPS: u32 = 1 << 21;

/// The number of a vector that is made for one step only.
pub(crate) const UNNUMBERED: u32 = u32::MAX;

/// An action of the step that is put together.
#[derive(Clone, Debug)]
struct Seen {
    action: ActionId,
    /// The actions that it is made of, by part and by place in the part's multi-action.
    sources: Vec<Source>,
    hidden: bool,
    /// Its arguments, if they are known.
    arguments: Option<Value>,
}

/// A component that takes part, its kind of multi-action, and its offer.
type Part<'a> = (usize, u32, &'a Offer);

/// The step that is put together.
struct Walk<'a, 'w> {
    system: &'a System,
    offers: &'w [Option<&'a Offers>],
    parts: Vec<Part<'a>>,
    seen: Vec<Seen>,
    /// Actions that must not all have equal arguments.
    unequal: Vec<Vec<Source>>,
    /// How many steps may still be made.
    left: u32,
}

/// The continuation that is called once a step is complete as seen from an operator.
type Then<'a, 'w, 't> = &'t mut dyn FnMut(&mut Walk<'a, 'w>);

impl System {
    /// Gives the taker every step out of a state. False if there are more steps than are made.
    pub(crate) fn walk_steps<'a>(&'a self, lazy: &'a Lazy, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) -> bool {
        let offers = std::mem::take(&mut joiner.offers);
        // A summand that cannot be evaluated takes part in many steps.
        let mut failures: Vec<Failed> = Vec::new();
        let mut fail_once = |failed: Failed| {
            if !failures.contains(&failed) {
                failures.push(failed);
                (taker.fail)(failed);
            }
        };
        let mut once = Taker { take: taker.take, fail: &mut fail_once };
        let mut walk = Walk { system: self, offers: &offers, parts: Vec::new(), seen: Vec::new(), unequal: Vec::new(), left: joiner.left };
        lazy.walk(&lazy.root, &mut walk, &mut |walk| {
            if walk.left > 0 {
                lazy.finish(walk, locals, joiner, &mut once);
            }
        });
        let is_complete = walk.left > 0;
        joiner.offers = offers;
        is_complete
    }
}

impl Lazy {
    /// Puts together all steps of an operator.
    fn walk<'a, 'w>(&self, node: &Node, walk: &mut Walk<'a, 'w>, then: Then<'a, 'w, '_>) {
        if walk.left == 0 {
            return;
        }
        let start = walk.seen.len();
        match node {
            Node::Component(component) => self.component(*component, walk, then),
            Node::Parallel(parallel) => {
                let has_offers = |part: &&Node| match part {
                    Node::Component(component) => walk.offers[*component].is_some_and(|offers| !offers.kinds.is_empty()),
                    _ => true,
                };
                let parts: Vec<&Node> = parallel.parts.iter().filter(has_offers).collect();
                let before = walk.parts.len();
                self.parts(parallel, &parts, start, walk, &mut |walk| {
                    if walk.parts.len() > before {
                        then(walk);
                    }
                });
            }
            Node::Block(blocked, body) => self.walk(body, walk, &mut |walk| {
                if !walk.seen[start..].iter().any(|seen| !seen.hidden && blocked[seen.action.index()]) {
                    then(walk);
                }
            }),
            Node::Hide(hidden, body) => self.walk(body, walk, &mut |walk| {
                let before: Vec<bool> = walk.seen[start..].iter().map(|seen| seen.hidden).collect();
                walk.seen[start..].iter_mut().for_each(|seen| seen.hidden |= hidden[seen.action.index()]);
                then(walk);
                walk.seen[start..].iter_mut().zip(before).for_each(|(seen, before)| seen.hidden = before);
            }),
            Node::Allow(allowed, body) => self.walk(body, walk, &mut |walk| {
                let visible = walk.seen[start..].iter().filter(|seen| !seen.hidden);
                let mut names: Vec<u32> = visible.map(|seen| self.names[seen.action.index()]).collect();
                names.sort_unstable();
                if names.is_empty() || allowed.contains(&names) {
                    then(walk);
                }
            }),
            Node::Rename(renamed, body) => self.walk(body, walk, &mut |walk| {
                let before: Vec<ActionId> = walk.seen[start..].iter().map(|seen| seen.action).collect();
                for seen in walk.seen[start..].iter_mut().filter(|seen| !seen.hidden) {
                    seen.action = renamed[seen.action.index()];
                }
                then(walk);
                walk.seen[start..].iter_mut().zip(before).for_each(|(seen, before)| seen.action = before);
            }),
            Node::Communicate(list, body) => self.walk(body, walk, &mut |walk| {
                let limit = walk.seen.len() - start;
                self.communicate(list, start, limit, &mut Vec::new(), walk, then);
            }),
        }
    }

    fn component<'a, 'w>(&self, component: usize, walk: &mut Walk<'a, 'w>, then: Then<'a, 'w, '_>) {
        let Some(offers) = walk.offers[component] else { return };
        let (start, part) = (walk.seen.len(), walk.parts.len());
        for (kind, list) in &offers.kinds {
            for offer in list {
                for (index, action) in walk.system.kinds[*kind as usize].iter().enumerate() {
                    let arguments = arguments_of(walk.system, *kind, offer, index);
                    walk.seen.push(Seen { action: *action, sources: vec![(part, index)], hidden: false, arguments });
                }
                walk.parts.push((component, *kind, offer));
                then(walk);
                walk.parts.truncate(part);
                walk.seen.truncate(start);
            }
        }
    }

    /// Lets each of the parts take part or not. The actions of the parts before these stand in `walk.seen[start..]`.
    fn parts<'a, 'w>(&self, parallel: &Parallel, parts: &[&Node], start: usize, walk: &mut Walk<'a, 'w>, then: Then<'a, 'w, '_>) {
        let Some((first, rest)) = parts.split_first() else { return then(walk) };
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            if self.can_be_met(parallel, rest, start, walk) {
                self.parts(parallel, rest, start, walk, then);
            }
            self.walk(first, walk, &mut |walk| {
                if self.is_let(parallel, start, walk) && self.can_be_met(parallel, rest, start, walk) {
                    self.parts(parallel, rest, start, walk, then);
                }
            });
        });
    }

    fn is_let(&self, parallel: &Parallel, start: usize, walk: &Walk) -> bool {
        let Some(filter) = &parallel.filter else { return true };
        let actions = &walk.system.specification.actions;
        let names: Vec<&str> = walk.seen[start..].iter().filter(|seen| !seen.hidden).map(|seen| actions[seen.action.index()].name.as_str()).collect();
        filter.lets(&names)
    }

    /// Whether the actions that must communicate can still find all that they communicate with.
    fn can_be_met(&self, parallel: &Parallel, rest: &[&Node], start: usize, walk: &Walk) -> bool {
        parallel.needs.iter().all(|need| {
            let seen = &walk.seen[start..];
            seen.iter()
                .filter(|seen| !seen.hidden && need.must.contains(&self.names[seen.action.index()]))
                .all(|seen| self.is_met(need, seen, rest, start, walk))
        })
    }

    /// Whether one such action can: there are as many of each other name as there are of its own, among the parts that have chosen and those that have not.
    fn is_met(&self, need: &Need, own: &Seen, rest: &[&Node], start: usize, walk: &Walk) -> bool {
        let name = self.names[own.action.index()];
        let Some(times) = need.from.get(&name) else { return true };
        let chosen = &walk.seen[start..];
        let is_same =
            |seen: &&Seen| !seen.hidden && self.names[seen.action.index()] == name && (own.arguments.is_none() || seen.arguments == own.arguments);
        let many = chosen.iter().filter(is_same).count();
        need.from.iter().filter(|(other, _)| **other != name).all(|(other, others)| {
            let sorts = |action: ActionId| &walk.system.specification.actions[action.index()].arguments;
            let fits = |action: ActionId| self.names[action.index()] == *other && sorts(action) == sorts(own.action);
            let here = chosen.iter().filter(|seen| !seen.hidden && fits(seen.action) && may_be_equal(seen.arguments, own.arguments)).count();
            let (mut supply, wanted) = (here * times, many * others);
            for part in rest {
                if supply >= wanted {
                    return true;
                }
                let Node::Component(component) = part else { return true };
                let most = walk.offers[*component].map_or(0, |offers| most_of(walk.system, offers, &fits, own.arguments));
                supply += most * times;
            }
            supply >= wanted
        })
    }

    /// Lets the first `limit` actions from `start` on communicate. Those that can must, unless their arguments differ; results do not communicate again.
    fn communicate<'a, 'w>(
        &self,
        list: &[Communication],
        start: usize,
        limit: usize,
        apart: &mut Vec<Vec<usize>>,
        walk: &mut Walk<'a, 'w>,
        then: Then<'a, 'w, '_>,
    ) {
        for communication in list {
            let mut chosen = Vec::new();
            if !self.choose(communication, &walk.seen[start..][..limit], apart, &mut chosen, walk.system) {
                continue;
            }
            let before = walk.seen[start..].to_vec();
            let arguments = chosen.iter().find_map(|index| before[*index].arguments);
            let sources = chosen.iter().flat_map(|index| before[*index].sources.iter().copied()).collect();
            let kept: Vec<usize> = (0..before.len()).filter(|index| !chosen.contains(index)).collect();
            walk.seen.truncate(start);
            walk.seen.extend(kept.iter().map(|index| before[*index].clone()));
            let action = communication.results.get(&before[chosen[0]].action).copied().unwrap_or(before[chosen[0]].action);
            walk.seen.push(Seen { action, sources, hidden: false, arguments });
            let moved = |group: &Vec<usize>| group.iter().map(|old| kept.iter().position(|index| index == old)).collect::<Option<Vec<usize>>>();
            let mut inner: Vec<Vec<usize>> = apart.iter().filter_map(moved).collect();
            self.communicate(list, start, limit - chosen.len(), &mut inner, walk, then);
            walk.seen.truncate(start);
            walk.seen.extend(before);
            if chosen.iter().any(|index| walk.seen[start + *index].arguments.is_none()) {
                // It is not known yet whether they are equal.
                let group = chosen.iter().filter_map(|index| walk.seen[start + *index].sources.first().copied()).collect();
                walk.unequal.push(group);
                chosen.sort_unstable();
                apart.push(chosen);
                self.communicate(list, start, limit, apart, walk, then);
                apart.pop();
                walk.unequal.pop();
            }
            return;
        }
        then(walk);
    }

    /// Chooses actions for a communication whose arguments may be equal, other than those that are taken to be different.
    fn choose(&self, communication: &Communication, seen: &[Seen], apart: &[Vec<usize>], chosen: &mut Vec<usize>, system: &System) -> bool {
        let Some(name) = communication.from.get(chosen.len()) else {
            let mut sorted = chosen.clone();
            sorted.sort_unstable();
            return !apart.contains(&sorted);
        };
        for (index, candidate) in seen.iter().enumerate() {
            if candidate.hidden || self.names[candidate.action.index()] != *name || chosen.contains(&index) {
                continue;
            }
            // Equal names in a row are chosen in ascending order, so that a choice comes once only.
            if chosen.last().is_some_and(|last| communication.from[chosen.len() - 1] == *name && *last > index) {
                continue;
            }
            let sorts = |action: ActionId| &system.specification.actions[action.index()].arguments;
            let fits =
                |other: &usize| sorts(seen[*other].action) == sorts(candidate.action) && may_be_equal(seen[*other].arguments, candidate.arguments);
            if !chosen.iter().all(fits) {
                continue;
            }
            chosen.push(index);
            if self.choose(communication, seen, apart, chosen, system) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Hands on a complete step. Parts that wait for arguments receive them first.
    fn finish<'a>(&self, walk: &mut Walk<'a, '_>, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) {
        let mut visible: Vec<&Seen> = walk.seen.iter().filter(|seen| !seen.hidden).collect();
        visible.sort_by_key(|seen| (self.names[seen.action.index()], seen.action));
        let actions: Vec<ActionId> = visible.iter().map(|seen| seen.action).collect();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut arities = Vec::new();
        let waits = |part: usize| matches!(walk.parts[part].2, Offer::Open { .. });
        if (0..walk.parts.len()).any(waits) {
            groups.extend(walk.parts.iter().map(|(_, kind, _)| vec![u32::MAX; walk.system.kinds[*kind as usize].len()]));
            for seen in walk.seen.iter().filter(|seen| seen.sources.len() > 1 && seen.sources.iter().any(|(part, _)| waits(*part))) {
                seen.sources.iter().for_each(|(part, index)| groups[*part][*index] = arities.len() as u32);
                arities.push(walk.system.specification.actions[seen.action.index()].arguments.len());
            }
        } else {
            groups.resize(walk.parts.len(), Vec::new());
        }
        let shown = visible.iter().map(|seen| (seen.action, seen.sources[0])).collect();
        let parts = walk.parts.iter().map(|(component, kind, _)| (*component, *kind)).collect();
        let vector =
            CompiledVector { number: UNNUMBERED, rule: self.rule(&actions), actions, parts, groups, arities, shown, unequal: walk.unequal.clone() };
        joiner.begin(&vector);
        for (part, (_, _, offer)) in walk.parts.iter().enumerate() {
            match offer {
                Offer::Ready { tuples, next } => {
                    if agree(&vector, part, tuples, &mut joiner.groups).is_none() {
                        return;
                    }
                    joiner.chosen[part] = Some((tuples, *next));
                }
                Offer::Open { summand, known } => joiner.waiting.push((part, *summand, known)),
            }
        }
        walk.system.resolve(&vector, locals, joiner, taker);
        walk.left = joiner.left;
    }
}

/// The arguments of one action of an offer, if they are known.
fn arguments_of(system: &System, kind: u32, offer: &Offer, index: usize) -> Option<Value> {
    match offer {
        Offer::Ready { tuples, .. } => tuples.get(index).copied(),
        Offer::Open { known, .. } => {
            let arity = |action: &ActionId| system.specification.actions[action.index()].arguments.len();
            let actions = &system.kinds[kind as usize];
            let place: usize = actions[..index].iter().map(arity).sum();
            match arity(&actions[index]) {
                0 => Some(Value::UNIT),
                1 => known[place],
                _ => None,
            }
        }
    }
}

fn may_be_equal(one: Option<Value>, other: Option<Value>) -> bool {
    one.is_none() || other.is_none() || one == other
}

/// The most actions of some kind that a component can do at the same time with these arguments.
fn most_of(system: &System, offers: &Offers, fits: &dyn Fn(ActionId) -> bool, arguments: Option<Value>) -> usize {
    let mut most = 0;
    for (kind, list) in &offers.kinds {
        let places: Vec<usize> =
            system.kinds[*kind as usize].iter().enumerate().filter(|(_, action)| fits(**action)).map(|(index, _)| index).collect();
        if places.len() <= most {
            continue;
        }
        for offer in list {
            let fitting = places.iter().filter(|index| can_be(system, *kind, offer, **index, arguments));
            most = most.max(fitting.count());
        }
    }
    most
}

/// Whether an action of an offer can have these arguments.
fn can_be(system: &System, kind: u32, offer: &Offer, index: usize, arguments: Option<Value>) -> bool {
    let (Some(wanted), Offer::Open { known, .. }) = (arguments, offer) else {
        return may_be_equal(arguments_of(system, kind, offer, index), arguments);
    };
    let arity = |action: &ActionId| system.specification.actions[action.index()].arguments.len();
    let actions = &system.kinds[kind as usize];
    let place: usize = actions[..index].iter().map(arity).sum();
    let wanted = system.data.values.arguments(wanted, arity(&actions[index]));
    wanted.iter().zip(&known[place..]).all(|(wanted, known)| known.is_none_or(|known| known == *wanted))
}
