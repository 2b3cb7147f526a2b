//! The same semantics once more, plainly: the operators are applied to the actions of the running summands as they stand, all conditions and equalities go into one query, and
//! nothing is kept. It shares values and evaluation with the fast implementation, but no offers, no received values and no vectors. Witnesses are replayed here, and
//! generated specifications are run through both.

use crate::code::{Compiler, substitute};
use crate::component::Component;
use crate::machine::{Halt, Machine};
use crate::network::{Filter, Network, communicating_filter, renamed_filter};
use crate::query::Wanted;
use crate::sequential::LocationId;
use crate::space::AlgebraSpace;
use crate::specification::{ActionId, Operation, SortId, Term, VariableId};
use crate::system::System;
use crate::value::Value;
use std::collections::{BTreeSet, HashMap};
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word,
};

/// A step: the visible actions with their arguments in the order of names, and the local states that follow.
pub(crate) type PlainStep = (Vec<(ActionId, Vec<Value>)>, Vec<u32>);

/// Actions at the same time, not evaluated yet.
#[derive(Clone)]
struct Multi {
    variables: Vec<VariableId>,
    conditions: Vec<Term>,
    actions: Vec<(ActionId, Vec<Term>)>,
    moves: Vec<Move>,
}

/// A move of a component: the locations that follow with their arguments, and the frames behind these.
#[derive(Clone)]
struct Move {
    component: usize,
    next: Vec<(LocationId, Vec<Term>)>,
    rest: Vec<u32>,
}

struct Stepper<'a> {
    system: &'a System,
    locals: &'a [u32],
    /// The sorts of variables that were made for this state.
    fresh: Vec<SortId>,
    /// The components that take part, with the local states that follow; none if all steps are wanted.
    only: Option<&'a [(usize, u32)]>,
}

impl System {
    /// All steps out of a state; none if it is after the end.
    pub(crate) fn plain_steps(&self, locals: &[u32]) -> Result<Vec<PlainStep>, Halt> {
        self.plain_steps_of(locals, None)
    }

    /// The same, or only those steps in which exactly these components take part and come to these local states. All steps would be too many if many components may act together.
    pub(crate) fn plain_steps_of(&self, locals: &[u32], only: Option<&[(usize, u32)]>) -> Result<Vec<PlainStep>, Halt> {
        if self.components.iter().zip(locals).all(|(component, local)| component.frames(*local).is_empty()) {
            let mut next = locals.to_vec();
            next[0] = Component::END;
            return Ok(vec![(Vec::new(), next)]);
        }
        let mut stepper = Stepper { system: self, locals, fresh: Vec::new(), only };
        let multis = stepper.multis(&self.network, &Filter::default());
        let mut steps = Vec::new();
        for multi in multis {
            stepper.solve(&multi, &mut steps)?;
        }
        Ok(steps)
    }
}

impl Stepper<'_> {
    fn name(&self, action: ActionId) -> &str {
        &self.system.specification.actions[action.index()].name
    }

    fn names<'m>(&'m self, multi: &'m Multi) -> Vec<&'m str> {
        multi.actions.iter().map(|(action, _)| self.name(*action)).collect()
    }

    /// The multi-actions that an operator allows. The filter only spares work: every operator checks what comes up from below by itself.
    fn multis(&mut self, network: &Network, filter: &Filter) -> Vec<Multi> {
        let mut multis = match network {
            Network::Component(component) => self.component(*component),
            Network::Parallel(parts) => {
                let mut all: Vec<Multi> = Vec::new();
                let mut is_first = true;
                for part in parts {
                    if self.only.is_some_and(|only| !only.iter().any(|(component, _)| part.has(*component))) {
                        continue;
                    }
                    let more = self.multis(part, filter);
                    let mut both = Vec::new();
                    for one in &all {
                        let names = self.names(one);
                        for other in &more {
                            if filter.lets(&[&names[..], &self.names(other)[..]].concat()) {
                                both.push(together(one, other));
                            }
                        }
                    }
                    if self.only.is_some() {
                        all = if is_first { more } else { both };
                    } else {
                        all.extend(more);
                        all.extend(both);
                    }
                    is_first = false;
                }
                all
            }
            Network::Block(names, body) => {
                let mut multis = self.multis(body, filter);
                multis.retain(|multi| !self.names(multi).iter().any(|name| names.contains(*name)));
                multis
            }
            Network::Hide(names, body) => {
                let mut inner = filter.clone();
                inner.free.extend(names.iter().cloned());
                inner.blocked.retain(|name| !names.contains(name));
                let mut multis = self.multis(body, &inner);
                for multi in &mut multis {
                    let actions = std::mem::take(&mut multi.actions);
                    multi.actions = actions.into_iter().filter(|(action, _)| !names.contains(self.name(*action))).collect();
                }
                multis
            }
            Network::Allow(allowed, body) => {
                let inner = Filter::of(allowed.iter().cloned(), BTreeSet::new());
                let mut multis = self.multis(body, &inner);
                multis.retain(|multi| {
                    let mut names: Vec<String> = self.names(multi).into_iter().map(str::to_string).collect();
                    names.sort();
                    names.is_empty() || allowed.contains(&names)
                });
                multis
            }
            Network::Rename(pairs, body) => {
                let mut multis = self.multis(body, &renamed_filter(pairs, filter));
                for (action, _) in multis.iter_mut().flat_map(|multi| &mut multi.actions) {
                    if let Some((_, to)) = pairs.iter().find(|(from, _)| from == self.name(*action)) {
                        *action = self.action(to, *action);
                    }
                }
                multis
            }
            Network::Communicate(list, body) => {
                let multis = self.multis(body, &communicating_filter(list, filter));
                let mut all = Vec::new();
                for multi in multis {
                    self.communicate(list, multi, Vec::new(), &[], &mut all);
                }
                all
            }
        };
        multis.retain(|multi| filter.lets(&self.names(multi)));
        multis
    }

    /// The action of a name with the argument sorts of another one.
    fn action(&self, name: &str, like: ActionId) -> ActionId {
        let actions = &self.system.specification.actions;
        let sorts = &actions[like.index()].arguments;
        actions.iter().position(|action| action.name == name && action.arguments == *sorts).map_or(like, |index| ActionId(index as u32))
    }

    /// Whether locations that follow can be what a component is to come to.
    fn may_come_to(&self, component: usize, next: &[(LocationId, Vec<Term>)], rest: &[u32]) -> bool {
        let Some(only) = self.only else { return true };
        let Some((_, target)) = only.iter().find(|(other, _)| *other == component) else { return false };
        let frames = self.system.components[component].frames(*target);
        next.first().map_or(frames == rest, |(location, _)| frames.first() == Some(location))
    }

    /// The summands of a component, with the values of its variables in place.
    fn component(&mut self, component: usize) -> Vec<Multi> {
        let frames = self.system.components[component].frames(self.locals[component]);
        let Some((location, rest)) = frames.split_first() else { return Vec::new() };
        let Some(location) = self.system.locations.get(*location as usize) else { return Vec::new() };
        let (values, rest) = rest.split_at(location.parameters.len());
        let known: HashMap<VariableId, Term> =
            location.parameters.iter().copied().zip(values.iter().map(|value| Term::Value(Value(*value)))).collect();
        let mut multis = Vec::new();
        for summand in &location.summands {
            if !self.may_come_to(component, &summand.next, rest) {
                continue;
            }
            let mut known = known.clone();
            let mut variables = Vec::new();
            for variable in &summand.variables {
                let number = VariableId((self.system.data.variables.len() + self.fresh.len()) as u32);
                self.fresh.push(self.system.data.variables[variable.index()].sort);
                known.insert(*variable, Term::Variable(number));
                variables.push(number);
            }
            let all = |terms: &[Term]| terms.iter().map(|term| substitute(term, &known)).collect::<Vec<_>>();
            multis.push(Multi {
                variables,
                conditions: all(&summand.conditions),
                actions: summand.actions.iter().map(|(action, terms)| (*action, all(terms))).collect(),
                moves: vec![Move {
                    component,
                    next: summand.next.iter().map(|(location, terms)| (*location, all(terms))).collect(),
                    rest: rest.to_vec(),
                }],
            });
        }
        multis
    }

    /// Lets actions communicate: `done` are results, which do not communicate again; `apart` are choices of actions that have different arguments.
    fn communicate(
        &self,
        list: &[(Vec<String>, String)],
        multi: Multi,
        done: Vec<(ActionId, Vec<Term>)>,
        apart: &[Vec<usize>],
        out: &mut Vec<Multi>,
    ) {
        for (from, to) in list {
            let mut choices = Vec::new();
            self.choices(from, &multi, &mut Vec::new(), &mut choices);
            let Some(chosen) = choices.into_iter().find(|choice| !apart.contains(choice)) else { continue };
            let equalities = equalities(&multi, &chosen);
            let mut met = multi.clone();
            met.conditions.extend(equalities.iter().cloned());
            let mut results = done.clone();
            results.push((self.action(to, multi.actions[chosen[0]].0), multi.actions[chosen[0]].1.clone()));
            let kept: Vec<usize> = (0..multi.actions.len()).filter(|index| !chosen.contains(index)).collect();
            met.actions = kept.iter().map(|index| multi.actions[*index].clone()).collect();
            let moved = |choice: &Vec<usize>| choice.iter().map(|old| kept.iter().position(|index| index == old)).collect::<Option<Vec<_>>>();
            let inner: Vec<Vec<usize>> = apart.iter().filter_map(moved).collect();
            self.communicate(list, met, results, &inner, out);
            // Without arguments there is nothing that could differ.
            let Some(all_equal) = equalities.into_iter().reduce(|one, other| Term::Operation(Operation::And, vec![one, other])) else { return };
            let mut differ = multi;
            differ.conditions.push(Term::Operation(Operation::Not, vec![all_equal]));
            let mut longer = apart.to_vec();
            longer.push(chosen);
            return self.communicate(list, differ, done, &longer, out);
        }
        let mut multi = multi;
        multi.actions.extend(done);
        out.push(multi);
    }

    /// All ways to take actions of these names, each in ascending order among equal names.
    fn choices(&self, from: &[String], multi: &Multi, chosen: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        let Some(name) = from.get(chosen.len()) else { return out.push(chosen.clone()) };
        for (index, (action, _)) in multi.actions.iter().enumerate() {
            let actions = &self.system.specification.actions;
            let fits = chosen.first().is_none_or(|first| actions[multi.actions[*first].0.index()].arguments == actions[action.index()].arguments);
            let ordered = chosen.last().is_none_or(|last| *name != from[chosen.len() - 1] || *last < index);
            if self.name(*action) == name && fits && ordered && !chosen.contains(&index) {
                chosen.push(index);
                self.choices(from, multi, chosen, out);
                chosen.pop();
            }
        }
    }

    fn sort_of(&self, variable: VariableId) -> Option<SortId> {
        let own = &self.system.data.variables;
        own.get(variable.index()).map(|known| known.sort).or_else(|| self.fresh.get(variable.index() - own.len()).copied())
    }

    /// Makes one variable of two that a condition says are equal. A condition on one of them then bounds both.
    fn united(&self, mut multi: Multi) -> Multi {
        let pair = |condition: &Term| match condition {
            Term::Operation(Operation::Equal, sides) => match sides[..] {
                [Term::Variable(one), Term::Variable(other)] if one != other && self.sort_of(one) == self.sort_of(other) => Some((one, other)),
                _ => None,
            },
            _ => None,
        };
        while let Some((at, (kept, gone))) = multi.conditions.iter().enumerate().find_map(|(at, condition)| Some((at, pair(condition)?))) {
            multi.conditions.remove(at);
            multi.variables.retain(|variable| *variable != gone);
            let known = HashMap::from([(gone, Term::Variable(kept))]);
            let moved = multi.moves.iter_mut().flat_map(|step| step.next.iter_mut().map(|(_, terms)| terms));
            let terms = multi.actions.iter_mut().map(|(_, terms)| terms).chain(moved).flatten();
            terms.chain(&mut multi.conditions).for_each(|term| *term = substitute(term, &known));
        }
        multi
    }

    /// All solutions of what happens at the same time.
    fn solve(&self, multi: &Multi, out: &mut Vec<PlainStep>) -> Result<(), Halt> {
        let multi = &self.united(multi.clone());
        let too_many = |_| Halt::NoRoom;
        let mut compiler = Compiler::with_variables(&self.system.data, self.fresh.clone());
        let query = compiler.query(&multi.variables, &multi.conditions, Wanted::All).map_err(too_many)?;
        for variable in &multi.variables {
            compiler.bind(*variable).map_err(too_many)?;
        }
        let mut actions = Vec::new();
        for (action, terms) in &multi.actions {
            let codes = terms.iter().map(|term| compiler.compile(term)).collect::<Result<Vec<_>, _>>().map_err(too_many)?;
            actions.push((*action, codes));
        }
        let mut moves = Vec::new();
        for step in &multi.moves {
            let mut frames = Vec::new();
            for (location, terms) in &step.next {
                let codes = terms.iter().map(|term| compiler.compile(term)).collect::<Result<Vec<_>, _>>().map_err(too_many)?;
                frames.push((*location, codes));
            }
            moves.push((step, frames));
        }
        let mut machine = Machine::new(&self.system.data, self.system.fuel);
        machine.begin(&[], compiler.slots());
        query.solve(&mut machine, 0, &mut |machine, _| {
            let mut label = Vec::new();
            for (action, codes) in &actions {
                label.push((*action, machine.list(codes, 0)?));
            }
            label.sort_by(|(one, terms), (other, others)| (self.name(*one), one, terms).cmp(&(self.name(*other), other, others)));
            let mut next = self.locals.to_vec();
            for (step, frames) in &moves {
                let mut words = Vec::new();
                for (location, codes) in frames {
                    words.push(*location);
                    words.extend(machine.list(codes, 0)?.into_iter().map(|value| value.0));
                }
                words.extend_from_slice(&step.rest);
                next[step.component] = self.system.components[step.component].local(&words)?;
            }
            out.push((label, next));
            Ok(true)
        })
    }
}

/// The conditions that the arguments of chosen actions are equal.
fn equalities(multi: &Multi, chosen: &[usize]) -> Vec<Term> {
    let (_, first) = &multi.actions[chosen[0]];
    let others = chosen[1..].iter().flat_map(|index| first.iter().zip(&multi.actions[*index].1));
    others.map(|(one, other)| Term::Operation(Operation::Equal, vec![one.clone(), other.clone()])).collect()
}

fn together(one: &Multi, other: &Multi) -> Multi {
    let mut both = one.clone();
    both.variables.extend(&other.variables);
    both.conditions.extend(other.conditions.iter().cloned());
    both.actions.extend(other.actions.iter().cloned());
    both.moves.extend(other.moves.iter().cloned());
    both
}

/// A system as a space by its plain semantics. Firings have the numbers that the fast space gives them; one that only one of the two knows is a fault.
#[derive(Debug)]
pub struct PlainSpace<'a> {
    fast: AlgebraSpace<'a>,
}

impl<'a> PlainSpace<'a> {
    /// The plain counterpart of a space.
    pub fn new(fast: AlgebraSpace<'a>) -> Self {
        PlainSpace { fast }
    }
}

impl Space for PlainSpace<'_> {
    fn width(&self) -> Width {
        self.fast.width()
    }

    fn packing(&self) -> &Packing {
        self.fast.packing()
    }

    fn rules(&self) -> u32 {
        self.fast.rules()
    }

    fn properties(&self) -> u32 {
        0
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.fast.initial(steps)
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        let all = self.fast.expand(batch, from, steps);
        for (source, state) in batch.iter().enumerate() {
            if let Some(fault) = self.fast.disagreement(state) {
                let firing = Firing { rule: self.fast.rules() - 1, outcome: u32::MAX - 1 };
                steps.faults.push(FaultStep { source: source as u32, firing, fault });
            }
        }
        all
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.fast.sample(state, rng, out)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        match self.fast.fire(state, firing, out) {
            Fired::To if !self.fast.is_plain_step(state, firing, out) => Fired::Disabled,
            fired => fired,
        }
    }

    fn check(&self, _state: &[Word], _bits: &mut PropertyBits) -> Checked {
        Ok(())
    }

    fn asks_to_reach(&self, _property: u32) -> bool {
        false
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.fast.fault_class(fault)
    }

    fn may_end(&self, state: &[Word]) -> bool {
        self.fast.may_end(state)
    }
}
