//! Removes colours. Bindings are found by joining the tokens that can occur with the input arcs and the guard, one new token at a time, and not by
//! going through all values of all variables: a net may have a thousand million of these and a few thousand bindings that can ever fire.
//!
//! A token *can occur* if it is there in the beginning or some binding puts it whose tokens can occur. Nothing that is left out is ever enabled.

mod join;

use super::flat::{Flat, FlatPlace, FlatTransition};
use super::net::Net;
use super::terms::{Bag, Colour, Part};
use super::xml::Findings;
use crate::diagnostics::Diagnostic;
use join::{Joins, UNBOUND};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The most transitions that a net may have without its colours.
pub const MOST_TRANSITIONS: usize = 1_000_000;

/// The most places that a net may have without its colours.
pub const MOST_PLACES: usize = 1_000_000;

/// The most tokens that one initial marking or arc may list.
const MOST_LISTED: u64 = 4_000_000;

/// The same net without colours; none where it would be too large, with the reason.
pub(super) fn unfold(net: Net, findings: &mut Findings) -> Option<Flat> {
    let net = Arc::new(net);
    if !net.coloured {
        return Some(plain(net));
    }
    let mut unfolding = Unfolding { net: &net, tokens: Tokens::new(net.places.len()), found: Vec::new(), waiting: HashMap::new(), odd: None };
    match unfolding.run() {
        Ok(()) => {}
        Err(TooLarge { transition, what }) => {
            let span = match transition {
                Some(transition) => net.transitions[transition].span,
                None => net.places.first().map_or_else(Default::default, |place| place.span),
            };
            let name = transition.map_or_else(String::new, |transition| format!("transition `{}`: ", net.transitions[transition].name));
            findings.push(Diagnostic::error(span, format!("{name}{what}")).with_help("a net of this size cannot be explored without its colours"));
            return None;
        }
    }
    if let Some(transition) = unfolding.odd {
        let transition = &net.transitions[transition];
        let message = format!("`{}` subtracts more than there is for some bindings, which are left out", transition.name);
        findings.push(Diagnostic::warning(transition.span, message));
    }
    let Unfolding { tokens, found, .. } = unfolding;
    Some(finish(net.clone(), tokens, found))
}

/// A net that has no colours anyway.
fn plain(net: Arc<Net>) -> Flat {
    let count = |bag: &Bag| bag.plus.iter().map(|(count, _)| *count).sum::<u64>();
    let arcs = |arcs: &[(usize, Bag)]| {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        arcs.iter().for_each(|(place, bag)| *sums.entry(*place as u32).or_default() += count(bag));
        sums.into_iter().collect()
    };
    let places = (0..net.places.len()).map(|place| FlatPlace { place, colour: Box::default() }).collect();
    let transitions = net.transitions.iter().enumerate().map(|(number, transition)| FlatTransition {
        transition: number,
        binding: Box::default(),
        inputs: arcs(&transition.inputs),
        outputs: arcs(&transition.outputs),
    });
    let initial = net.places.iter().map(|place| count(&place.initial)).collect();
    Flat { places, transitions: transitions.collect(), initial, units: net.units.clone(), net }
}

/// A net that is too large, and the transition at which that was seen.
struct TooLarge {
    transition: Option<usize>,
    what: String,
}

/// The tokens that can occur, numbered in the order in which they were found.
struct Tokens {
    list: Vec<(usize, Box<[u32]>)>,
    numbers: Vec<HashMap<Box<[u32]>, u32>>,
}

impl Tokens {
    fn new(places: usize) -> Self {
        Tokens { list: Vec::new(), numbers: vec![HashMap::new(); places] }
    }

    /// The number of a token, which can occur from now on.
    fn insert(&mut self, place: usize, colour: &[u32]) -> u32 {
        if let Some(number) = self.numbers[place].get(colour) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.numbers[place].insert(colour.into(), number);
        self.list.push((place, colour.into()));
        number
    }
}

/// A place and a colour.
type Token = (usize, Box<[u32]>);
/// A transition and the values of its variables.
type Binding = (usize, Box<[u32]>);

struct Unfolding<'a> {
    net: &'a Net,
    tokens: Tokens,
    found: Vec<FlatTransition>,
    /// Bindings that wait for a token, which is no pattern of theirs, to occur.
    waiting: HashMap<Token, Vec<Binding>>,
    /// A transition with a binding under which an inscription is no multiset.
    odd: Option<usize>,
}

impl Unfolding<'_> {
    fn run(&mut self) -> Result<(), TooLarge> {
        for (number, place) in self.net.places.iter().enumerate() {
            let initial = evaluate(&place.initial, &|_, _| None).ok_or_else(|| TooLarge {
                transition: None,
                what: format!("the initial marking of `{}` has more than {MOST_LISTED} tokens, or less than none of some colour", place.name),
            })?;
            initial.keys().for_each(|colour| {
                self.tokens.insert(number, colour);
            });
        }
        let mut joins = Joins::new(self.net);
        let mut bindings = Vec::new();
        for transition in 0..self.net.transitions.len() {
            joins.without_tokens(transition, &mut bindings)?;
            self.take(transition, &mut bindings)?;
        }
        let mut next = 0;
        while next < self.tokens.list.len() {
            let (place, colour) = self.tokens.list[next].clone();
            joins.add_token(place, &colour, next as u32);
            for (transition, item) in joins.users(place).to_vec() {
                joins.with_token(transition, item, &colour, next as u32, &mut bindings)?;
                self.take(transition, &mut bindings)?;
            }
            for (transition, binding) in self.waiting.remove(&(place, colour)).unwrap_or_default() {
                self.take_one(transition, binding)?;
            }
            next += 1;
        }
        Ok(())
    }

    fn take(&mut self, transition: usize, bindings: &mut Vec<Box<[u32]>>) -> Result<(), TooLarge> {
        bindings.drain(..).try_for_each(|binding| self.take_one(transition, binding))
    }

    fn take_one(&mut self, number: usize, binding: Box<[u32]>) -> Result<(), TooLarge> {
        let transition = &self.net.transitions[number];
        let slots = slots(self.net, number);
        let value = |variable: u32, part: u32| {
            let slot = slots.iter().find(|(candidate, _)| *candidate == variable)?.1 + part;
            binding.get(slot as usize).copied()
        };
        let mut sides = [Vec::new(), Vec::new()];
        for (side, arcs) in sides.iter_mut().zip([&transition.inputs, &transition.outputs]) {
            for (place, bag) in arcs {
                let Some(tokens) = evaluate(bag, &value) else {
                    self.odd = Some(number);
                    return Ok(());
                };
                side.extend(tokens.into_iter().map(|(colour, count)| (*place, colour, count)));
            }
        }
        let [inputs, outputs] = sides;
        if let Some((place, colour, _)) = inputs.iter().find(|(place, colour, _)| !self.tokens.numbers[*place].contains_key(&colour[..])) {
            self.waiting.entry((*place, colour.clone().into())).or_default().push((number, binding));
            return Ok(());
        }
        let mut list = |side: Vec<(usize, Vec<u32>, u64)>| {
            let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
            side.into_iter().for_each(|(place, colour, count)| *sums.entry(self.tokens.insert(place, &colour)).or_default() += count);
            sums.into_iter().collect::<Vec<_>>()
        };
        let (inputs, outputs) = (list(inputs), list(outputs));
        self.found.push(FlatTransition { transition: number, binding, inputs, outputs });
        if self.found.len() > MOST_TRANSITIONS {
            let here = self.found.iter().filter(|found| found.transition == number).count();
            let what = format!("{here} bindings of it, and more than {MOST_TRANSITIONS} bindings in all; that is the limit");
            return Err(TooLarge { transition: Some(number), what });
        }
        if self.tokens.list.len() > MOST_PLACES {
            let what = format!("more than {MOST_PLACES} colours of tokens can occur; that is the limit");
            return Err(TooLarge { transition: Some(number), what });
        }
        Ok(())
    }
}

/// The first slot of each variable of a transition in its bindings.
fn slots(net: &Net, transition: usize) -> Vec<(u32, u32)> {
    let mut next = 0;
    let mut slots = Vec::new();
    for variable in &net.transitions[transition].variables {
        slots.push((*variable as u32, next));
        next += net.parts(net.variables[*variable].sort).len() as u32;
    }
    slots
}

/// The tokens of a multiset, where all variables have values; none where it would have less than none of a colour, or too many.
fn evaluate(bag: &Bag, value: &impl Fn(u32, u32) -> Option<u32>) -> Option<BTreeMap<Vec<u32>, u64>> {
    let mut tokens: BTreeMap<Vec<u32>, i64> = BTreeMap::new();
    for (terms, sign) in [(&bag.plus, 1), (&bag.minus, -1)] {
        for (count, colour) in terms {
            each(colour, value, &mut |colour| *tokens.entry(colour.to_vec()).or_default() += sign * *count as i64)?;
        }
    }
    tokens.retain(|_, count| *count != 0);
    tokens.into_iter().map(|(colour, count)| u64::try_from(count).ok().map(|count| (colour, count))).collect()
}

/// Every colour that a term stands for.
fn each(colour: &Colour, value: &impl Fn(u32, u32) -> Option<u32>, visit: &mut impl FnMut(&[u32])) -> Option<()> {
    let mut all: u64 = 1;
    let mut parts = Vec::with_capacity(colour.len());
    for part in colour {
        match part {
            Part::All(count) => {
                all = all.saturating_mul(u64::from(*count));
                parts.push(UNBOUND);
            }
            part => parts.push(part.value(value)?),
        }
    }
    if all > MOST_LISTED {
        return None;
    }
    let mut now = parts.clone();
    for number in 0..all {
        let mut rest = number;
        for (place, part) in colour.iter().enumerate().rev() {
            if let Part::All(count) = part {
                now[place] = (rest % u64::from(*count)) as u32;
                rest /= u64::from(*count);
            }
        }
        visit(&now);
    }
    Some(())
}

/// Puts places and transitions into the order of the net.
fn finish(net: Arc<Net>, tokens: Tokens, mut transitions: Vec<FlatTransition>) -> Flat {
    let mut order: Vec<u32> = (0..tokens.list.len() as u32).collect();
    order.sort_by(|one, other| tokens.list[*one as usize].cmp(&tokens.list[*other as usize]));
    let mut place_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, token)| place_of[*token as usize] = place as u32);
    for transition in &mut transitions {
        for side in [&mut transition.inputs, &mut transition.outputs] {
            side.iter_mut().for_each(|(place, _)| *place = place_of[*place as usize]);
            side.sort_unstable();
        }
    }
    transitions.sort_by(|one, other| (one.transition, &one.binding).cmp(&(other.transition, &other.binding)));
    let places: Vec<FlatPlace> = order
        .iter()
        .map(|token| {
            let (place, colour) = &tokens.list[*token as usize];
            FlatPlace { place: *place, colour: colour.clone() }
        })
        .collect();
    let mut initial = vec![0; places.len()];
    for (number, place) in net.places.iter().enumerate() {
        for (colour, count) in evaluate(&place.initial, &|_, _| None).unwrap_or_default() {
            if let Some(token) = tokens.numbers[number].get(&colour[..]) {
                initial[place_of[*token as usize] as usize] = count;
            }
        }
    }
    Flat { net, places, transitions, initial, units: Vec::new() }
}
