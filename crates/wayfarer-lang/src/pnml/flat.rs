//! A net without colours: places that hold plain tokens, and transitions with numbers on their arcs. Each remembers which place or transition of the
//! written net it stands for, and for which colour or binding.

use super::net::Net;
use std::sync::Arc;

/// A net without colours.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The net it was made from.
    pub net: Arc<Net>,
    /// Places, in the order of the net's, and of their colours.
    pub places: Vec<FlatPlace>,
    /// Transitions, in the order of the net's, and of their bindings.
    pub transitions: Vec<FlatTransition>,
    /// Tokens in the beginning.
    pub initial: Vec<u64>,
    /// Sets of places that a tool claimed to share one token at most.
    pub units: Vec<Vec<usize>>,
}

/// A place for tokens of one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatPlace {
    /// The place of the net.
    pub place: usize,
    /// The colour, part by part; empty where tokens have none.
    pub colour: Box<[u32]>,
}

/// A transition with its variables fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatTransition {
    /// The transition of the net.
    pub transition: usize,
    /// The values of its variables, part by part, in the order of [`Transition::variables`](super::net::Transition::variables).
    pub binding: Box<[u32]>,
    /// The tokens it takes: places in ascending order, and how many.
    pub inputs: Vec<(u32, u64)>,
    /// The tokens it puts.
    pub outputs: Vec<(u32, u64)>,
}

impl FlatTransition {
    /// The changes that firing makes: places in ascending order, and by how much.
    pub fn effect(&self) -> Vec<(u32, i64)> {
        let mut effect = Vec::with_capacity(self.inputs.len() + self.outputs.len());
        let (mut inputs, mut outputs) = (self.inputs.iter().peekable(), self.outputs.iter().peekable());
        loop {
            let next = match (inputs.peek(), outputs.peek()) {
                (Some((taken, _)), Some((put, _))) => *taken.min(put),
                (Some((place, _)), None) | (None, Some((place, _))) => *place,
                (None, None) => return effect,
            };
            let taken = inputs.next_if(|(place, _)| *place == next).map_or(0, |(_, count)| *count as i64);
            let put = outputs.next_if(|(place, _)| *place == next).map_or(0, |(_, count)| *count as i64);
            if put != taken {
                effect.push((next, put - taken));
            }
        }
    }

    /// Whether a marking has the tokens it takes.
    pub fn is_enabled(&self, marking: &[u64]) -> bool {
        self.inputs.iter().all(|(place, count)| marking[*place as usize] >= *count)
    }
}

impl Flat {
    /// A place as a person names it: `p3`, or `Fork[4]` where tokens have colours.
    pub fn place_name(&self, place: usize) -> String {
        let FlatPlace { place, colour } = &self.places[place];
        let place = &self.net.places[*place];
        if !self.net.coloured || self.net.count(place.sort) == 1 {
            return place.name.clone();
        }
        let shown = self.net.colour(place.sort, colour);
        format!("{}[{}]", place.name, shown.trim_start_matches('(').trim_end_matches(')'))
    }

    /// A transition as a person names it: `move, t: 3, from: A`.
    pub fn transition_name(&self, number: usize) -> String {
        let flat = &self.transitions[number];
        let transition = &self.net.transitions[flat.transition];
        let mut text = transition.name.clone();
        let mut rest = &flat.binding[..];
        for variable in &transition.variables {
            let variable = &self.net.variables[*variable];
            let (parts, others) = rest.split_at(self.net.parts(variable.sort).len());
            rest = others;
            text.push_str(&format!(", {}: {}", variable.name, self.net.colour(variable.sort, parts)));
        }
        text
    }

    /// The places that hold the tokens of a place of the net.
    pub fn places_of(&self, place: usize) -> std::ops::Range<usize> {
        self.places.partition_point(|flat| flat.place < place)..self.places.partition_point(|flat| flat.place <= place)
    }

    /// The bindings of a transition of the net.
    pub fn transitions_of(&self, transition: usize) -> std::ops::Range<usize> {
        let position = |least: usize| self.transitions.partition_point(|flat| flat.transition < least);
        position(transition)..position(transition + 1)
    }
}
