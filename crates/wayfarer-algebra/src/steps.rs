//! The steps out of a state: a join of what the components offer, vector by vector. Nothing is rewritten here that was rewritten before.

use crate::component::{Component, Offer, Offers};
use crate::joins::{Joins, PARTS};
use crate::lazy::walk::{MOST_STEPS, UNNUMBERED};
use crate::machine::Halt;
use crate::specification::ActionId;
use crate::system::{CompiledVector, System};
use crate::value::Value;

/// A step, as the join finds it.
pub(crate) struct Step<'a> {
    pub(crate) rule: u32,
    /// The visible actions.
    pub(crate) actions: &'a [ActionId],
    /// Components that move, with their next local states.
    pub(crate) moves: &'a [(usize, u32)],
    /// The visible actions' arguments, each as one value.
    pub(crate) shown: &'a [Value],
}

/// A step that could not be taken: the summand and why.
pub(crate) type Failed = (u32, Halt);

/// The receiver of the steps out of a state.
pub(crate) struct Taker<'t> {
    /// Called for every step.
    pub(crate) take: &'t mut dyn FnMut(Step),
    /// Called for whatever could not be evaluated.
    pub(crate) fail: &'t mut dyn FnMut(Failed),
}

/// Room that is used again from state to state.
#[derive(Default)]
pub(crate) struct Joiner<'a> {
    pub(crate) offers: Vec<Option<&'a Offers>>,
    /// The offer that was chosen for each part.
    pub(crate) chosen: Vec<Option<(&'a [Value], u32)>>,
    /// Parts that wait for arguments.
    pub(crate) waiting: Vec<Waiting<'a>>,
    pub(crate) groups: Vec<Option<Value>>,
    moves: Vec<(usize, u32)>,
    shown: Vec<Value>,
    /// How many steps of the state may still be made.
    pub(crate) left: u32,
    pub(crate) joins: Joins,
}

/// How much a part has to try and how many arguments it lacks, its place among those that wait, and the arguments that it can be given.
type Chance = ((usize, usize), usize, u64, Vec<Value>);

/// A part, its summand, and the arguments that it knows already.
type Waiting<'a> = (usize, u32, &'a [Option<Value>]);

impl Joiner<'_> {
    /// Makes room for the parts of a vector, none of which has chosen an offer.
    pub(crate) fn begin(&mut self, vector: &CompiledVector) {
        self.chosen.clear();
        self.chosen.resize(vector.parts.len(), None);
        self.waiting.clear();
        self.groups.clear();
        self.groups.resize(vector.arities.len(), None);
    }
}

/// Counts a step of a state. False if there are more than are made.
fn may_go_on(left: &mut u32) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
}

impl System {
    /// The number of the rule of termination.
    pub(crate) fn terminate_rule(&self) -> u32 {
        self.rules.len() as u32
    }

    /// Gives the taker every step out of a state that is given by its local states. False if there are too many steps to make them all.
    pub(crate) fn each_step<'a>(&'a self, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) -> bool {
        joiner.offers.clear();
        joiner.left = MOST_STEPS;
        let mut is_ended = true;
        for (component, local) in self.components.iter().zip(locals) {
            let offers = component.offers(self, *local);
            is_ended &= offers.is_some_and(|offers| offers.is_ended);
            if let Some(failed) = offers.and_then(|offers| offers.halt) {
                (taker.fail)(failed);
            }
            joiner.offers.push(offers);
        }
        if is_ended {
            (taker.take)(Step { rule: self.terminate_rule(), actions: &[], moves: &[(0, Component::END)], shown: &[] });
            return true;
        }
        if let Some(lazy) = &self.lazy {
            return self.walk_steps(lazy, locals, joiner, taker);
        }
        for component in 0..locals.len() {
            let Some(offers) = joiner.offers[component] else { continue };
            for (kind, _) in &offers.kinds {
                for vector in &self.leading[component][*kind as usize] {
                    self.join(&self.vectors[*vector as usize], locals, joiner, taker);
                }
            }
        }
        joiner.left > 0
    }

    fn join<'a>(&'a self, vector: &CompiledVector, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) {
        for (component, kind) in &vector.parts[1..] {
            if list_of(joiner, *component, *kind).is_none() {
                return;
            }
        }
        if vector.parts.len() > PARTS || !joiner.joins.is_costly(vector.number) {
            return self.search(vector, locals, joiner, taker);
        }
        let mut key = (vector.number, [0; PARTS]);
        for (place, (component, _)) in key.1.iter_mut().zip(&vector.parts) {
            *place = locals[*component];
        }
        if let Some(kept) = joiner.joins.find(&key) {
            for (next, shown) in kept.steps(vector.parts.len(), vector.shown.len()) {
                if !may_go_on(&mut joiner.left) {
                    return;
                }
                joiner.moves.clear();
                joiner.moves.extend(vector.parts.iter().zip(next).map(|((component, _), next)| (*component, *next)));
                (taker.take)(Step { rule: vector.rule, actions: &vector.actions, moves: &joiner.moves, shown });
            }
            return;
        }
        let (mut kept, mut failed) = (joiner.joins.begin(key), false);
        let mut note = |step: Step| {
            kept.note(&step);
            (taker.take)(step);
        };
        let mut note_failure = |failure: Failed| {
            failed = true;
            (taker.fail)(failure);
        };
        self.search(vector, locals, joiner, &mut Taker { take: &mut note, fail: &mut note_failure });
        if !failed && joiner.left > 0 {
            joiner.joins.keep(kept);
        }
    }

    /// Finds the steps of a vector.
    fn search<'a>(&'a self, vector: &CompiledVector, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) {
        joiner.begin(vector);
        self.choose(vector, 0, locals, joiner, taker);
    }

    /// Chooses an offer for each part from `part` on; those that wait for arguments come last.
    fn choose<'a>(&'a self, vector: &CompiledVector, part: usize, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) {
        let Some((component, kind)) = vector.parts.get(part) else { return self.resolve(vector, locals, joiner, taker) };
        let Some(list) = list_of(joiner, *component, *kind) else { return };
        for offer in list {
            if joiner.left == 0 {
                return;
            }
            match offer {
                Offer::Ready { tuples, next } => {
                    let Some(set) = agree(vector, part, tuples, &mut joiner.groups) else { continue };
                    joiner.chosen[part] = Some((tuples, *next));
                    self.choose(vector, part + 1, locals, joiner, taker);
                    joiner.chosen[part] = None;
                    forget(set, &mut joiner.groups);
                }
                Offer::Open { summand, known } => {
                    joiner.waiting.push((part, *summand, known));
                    self.choose(vector, part + 1, locals, joiner, taker);
                    joiner.waiting.pop();
                }
            }
        }
    }

    /// Gives those that wait for arguments what the others have, the one that gets most first.
    pub(crate) fn resolve<'a>(&'a self, vector: &CompiledVector, locals: &[u32], joiner: &mut Joiner<'a>, taker: &mut Taker) {
        if joiner.waiting.is_empty() {
            return self.emit(vector, joiner, taker.take);
        }
        if let [(part, summand, own)] = joiner.waiting[..]
            && let Some((mask, count, tuples)) = told(vector, part, &joiner.groups)
        {
            // The usual case: one part waits, and others have the arguments of all its actions that communicate.
            joiner.waiting.clear();
            let (component, _) = vector.parts[part];
            let received = self.components[component].receive_tuples(self, locals[component], summand, mask, &tuples[..count]);
            self.go_on(vector, (part, summand), received, locals, joiner, taker);
            joiner.waiting.push((part, summand, own));
            return;
        }
        if vector.number != UNNUMBERED {
            joiner.joins.note_costly(vector.number);
        }
        let Some(known) = self.known_arguments(vector, joiner) else { return };
        // How much each has to try, and how many arguments it lacks, with the values that it can be given.
        let mut best: Option<Chance> = None;
        for (index, (part, summand, own)) in joiner.waiting.iter().enumerate() {
            let (mut mask, mut values, mut lacking, mut place) = (0, Vec::new(), 0, 0);
            for (group, action) in vector.groups[*part].iter().zip(self.actions_of(vector, *part)) {
                for position in 0..action {
                    if own[place].is_none() {
                        match known.get(*group as usize).and_then(|arguments| arguments[position]) {
                            Some(value) => {
                                mask |= 1 << place;
                                values.push(value);
                            }
                            None => lacking += 1,
                        }
                    }
                    place += 1;
                }
            }
            let component = vector.parts[*part].0;
            let tries = if joiner.waiting.len() == 1 { 0 } else { self.tries(component, locals[component], *summand, mask) };
            if best.as_ref().is_none_or(|(least, ..)| (tries, lacking) < *least) {
                best = Some(((tries, lacking), index, mask, values));
            }
        }
        let Some((_, best, mask, values)) = best else { return };
        let (part, summand, own) = joiner.waiting.remove(best);
        let (component, _) = vector.parts[part];
        let received = self.components[component].receive(self, locals[component], summand, mask, &values);
        self.go_on(vector, (part, summand), received, locals, joiner, taker);
        joiner.waiting.insert(best, (part, summand, own));
    }

    /// Goes on with each of a part's offers, now that it has received its arguments.
    fn go_on<'a>(
        &'a self,
        vector: &CompiledVector,
        (part, summand): (usize, u32),
        received: Result<&'a [Offer], Halt>,
        locals: &[u32],
        joiner: &mut Joiner<'a>,
        taker: &mut Taker,
    ) {
        match received {
            Err(halt) => {
                let component = vector.parts[part].0;
                let location = self.components[component].frames(locals[component]).first().copied().unwrap_or(0);
                (taker.fail)((self.summands[location as usize][summand as usize].number, halt));
            }
            Ok(list) => {
                for offer in list {
                    if joiner.left == 0 {
                        return;
                    }
                    let Offer::Ready { tuples, next } = offer else { continue };
                    let Some(set) = agree(vector, part, tuples, &mut joiner.groups) else { continue };
                    joiner.chosen[part] = Some((tuples, *next));
                    self.resolve(vector, locals, joiner, taker);
                    joiner.chosen[part] = None;
                    forget(set, &mut joiner.groups);
                }
            }
        }
    }

    /// About how many candidates a summand has to try once it has received some arguments. If there is no number, a
    /// summand with a condition comes before one that takes any value.
    fn tries(&self, component: usize, local: u32, summand: u32, mask: u64) -> usize {
        let location = self.components[component].frames(local).first().copied().unwrap_or(0);
        match self.plan(location as usize, summand as usize, mask) {
            Ok(plan) => plan.0.candidates(&self.data).unwrap_or(usize::MAX - usize::from(plan.0.is_narrowed())),
            Err(_) => usize::MAX,
        }
    }

    /// How many arguments each action of a part has.
    fn actions_of<'a>(&'a self, vector: &CompiledVector, part: usize) -> impl Iterator<Item = usize> + 'a {
        self.kinds[vector.parts[part].1 as usize].iter().map(|action| self.specification.actions[action.index()].arguments.len())
    }

    /// The arguments of each group as far as they are known; none if they contradict each other.
    fn known_arguments(&self, vector: &CompiledVector, joiner: &Joiner) -> Option<Vec<Vec<Option<Value>>>> {
        let mut known: Vec<Vec<Option<Value>>> = Vec::with_capacity(vector.arities.len());
        for (arity, tuple) in vector.arities.iter().zip(&joiner.groups) {
            known.push(match tuple {
                Some(tuple) => self.data.values.arguments(*tuple, *arity).into_iter().map(Some).collect(),
                None => vec![None; *arity],
            });
        }
        for (part, _, own) in &joiner.waiting {
            let mut place = 0;
            for (group, arity) in vector.groups[*part].iter().zip(self.actions_of(vector, *part)) {
                for position in 0..arity {
                    if let (Some(value), Some(arguments)) = (own[place], known.get_mut(*group as usize)) {
                        match arguments[position] {
                            Some(other) if other != value => return None,
                            _ => arguments[position] = Some(value),
                        }
                    }
                    place += 1;
                }
            }
        }
        Some(known)
    }

    fn emit(&self, vector: &CompiledVector, joiner: &mut Joiner, take: &mut dyn FnMut(Step)) {
        let value = |(part, action): &(usize, usize)| joiner.chosen[*part].and_then(|(tuples, _)| tuples.get(*action).copied());
        for group in &vector.unequal {
            let mut values = group.iter().map(value);
            let first = values.next();
            if values.all(|value| Some(value) == first) {
                return;
            }
        }
        if !may_go_on(&mut joiner.left) {
            return;
        }
        joiner.shown.clear();
        for (_, source) in &vector.shown {
            let value = joiner.chosen[source.0].and_then(|(tuples, _)| tuples.get(source.1).copied()).unwrap_or(Value::UNIT);
            joiner.shown.push(value);
        }
        joiner.moves.clear();
        for ((component, _), chosen) in vector.parts.iter().zip(&joiner.chosen) {
            if let Some((_, next)) = chosen {
                joiner.moves.push((*component, *next));
            }
        }
        take(Step { rule: vector.rule, actions: &vector.actions, moves: &joiner.moves, shown: &joiner.shown });
    }
}

fn list_of<'a>(joiner: &Joiner<'a>, component: usize, kind: u32) -> Option<&'a [Offer]> {
    let kinds = &joiner.offers[component]?.kinds;
    let place = kinds.iter().position(|(own, _)| *own == kind)?;
    Some(&kinds[place].1)
}

/// Actions of which all arguments are looked up together, at most.
const TOLD: usize = 4;

/// The arguments of all actions of a part that communicate: which actions, how many, and the arguments of each as one value. None if some are not known.
fn told(vector: &CompiledVector, part: usize, groups: &[Option<Value>]) -> Option<(u64, usize, [Value; TOLD])> {
    let (mut mask, mut count, mut tuples) = (0, 0, [Value::UNIT; TOLD]);
    for (action, group) in vector.groups[part].iter().enumerate() {
        if *group == u32::MAX {
            continue;
        }
        *tuples.get_mut(count)? = (*groups.get(*group as usize)?)?;
        mask |= 1 << action;
        count += 1;
    }
    Some((mask, count, tuples))
}

/// Sets the groups of a part's actions to their arguments. Gives back the groups that were set, as bits; none if a group has other arguments already.
pub(crate) fn agree(vector: &CompiledVector, part: usize, tuples: &[Value], groups: &mut [Option<Value>]) -> Option<u64> {
    let mut set = 0;
    for (group, tuple) in vector.groups[part].iter().zip(tuples) {
        let Some(known) = groups.get_mut(*group as usize) else { continue };
        match known {
            None => {
                *known = Some(*tuple);
                set |= 1 << group;
            }
            Some(known) if known == tuple => {}
            Some(_) => {
                forget(set, groups);
                return None;
            }
        }
    }
    Some(set)
}

fn forget(mut set: u64, groups: &mut [Option<Value>]) {
    while set != 0 {
        groups[set.trailing_zeros() as usize] = None;
        set &= set - 1;
    }
}
