//! The exact law of the states that a sampler keeps, on spaces that are small enough. Its bounds are tested against it.
//!
//! The walk's distribution is moved step by step over all reachable states. A priority walk is a Markov chain over
//! states and priorities together: one copy of the states for each of the 2^r ways to give r rules one of two
//! priorities.

use super::{CHANGE, Sampler};
use std::collections::HashMap;
use wayfarer_space::{Firing, Space, States, Steps, Word, has_many_starts};

/// The law of the state that a sampler's walk keeps.
#[derive(Clone, Debug)]
pub struct Mass {
    /// All reachable states.
    pub states: States,
    /// The probability that each of them is kept.
    pub shares: Vec<f64>,
}

/// Rules that the priorities of a priority walk are enumerated for, at most.
const MOST_RULES: usize = 12;

impl Mass {
    /// The mass of the states for which `visited` says no.
    pub fn missing(&self, visited: &[Option<bool>]) -> f64 {
        self.shares.iter().zip(visited).filter(|(_, visited)| **visited == Some(false)).map(|(share, _)| share).sum::<f64>() + 0.0
    }
}

impl Sampler {
    /// The law of the states it keeps; none if it depends on the visited states, or the space has more than `most` states or too many rules.
    pub fn mass(self, space: &dyn Space, most: usize) -> Option<Mass> {
        if !self.is_fixed() {
            return None;
        }
        let graph = Enumerated::new(space, most)?;
        let shares = match self {
            Sampler::Priority { .. } => graph.by_priorities(self)?,
            Sampler::Shallow { .. } => self.mixed(graph.start(), |from, to| graph.over_states(from, to)),
            _ => self.mixed(graph.start(), |from, to| graph.over_firings(from, to)),
        };
        Some(Mass { states: graph.states, shares })
    }

    /// The distribution after a random number of steps, drawn as the sampler draws it.
    fn mixed(self, start: Vec<f64>, step: impl Fn(&[f64], &mut [f64])) -> Vec<f64> {
        let mut now = start;
        let mut next = vec![0.0; now.len()];
        let mut sum = vec![0.0; now.len()];
        for at in 1..=self.cap() {
            next.fill(0.0);
            step(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
            let weight = self.keeps(at);
            sum.iter_mut().zip(&now).for_each(|(sum, share)| *sum += weight * share);
        }
        sum
    }
}

/// All reachable states and the firings out of them.
struct Enumerated {
    states: States,
    starts: Vec<usize>,
    /// Rule and target of each firing that leads to a state.
    edges: Vec<Vec<(u32, usize)>>,
    /// Enabled firings, those included that lead nowhere.
    enabled: Vec<u32>,
}

impl Enumerated {
    fn new(space: &dyn Space, most: usize) -> Option<Self> {
        let mut numbers: HashMap<Vec<Word>, usize> = HashMap::new();
        let mut states = States::new(space.width());
        let mut number = |state: &[Word], states: &mut States| {
            let next = states.len();
            let number = *numbers.entry(state.to_vec()).or_insert(next);
            if number == next {
                states.push(state);
            }
            number
        };
        if has_many_starts(space) {
            return None;
        }
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let starts = steps.states.iter().map(|state| number(state, &mut states)).collect::<Vec<_>>();
        let (mut edges, mut enabled) = (Vec::new(), Vec::new());
        let mut batch = States::new(space.width());
        while edges.len() < states.len() {
            if states.len() > most {
                return None;
            }
            batch.clear();
            batch.push(states.get(edges.len()));
            space.expand(&batch, Firing::of(0), &mut steps);
            edges.push((0..steps.len()).map(|row| (steps.firings[row].rule, number(steps.states.get(row), &mut states))).collect());
            enabled.push(steps.enabled[0]);
        }
        (!starts.is_empty()).then_some(Enumerated { states, starts, edges, enabled })
    }

    fn start(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.states.len()];
        self.starts.iter().for_each(|start| shares[*start] += 1.0 / self.starts.len() as f64);
        shares
    }

    fn over_firings(&self, from: &[f64], to: &mut [f64]) {
        for (state, share) in from.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let enabled = self.enabled[state].max(1) as usize;
            let each = share / enabled as f64;
            self.edges[state].iter().for_each(|(_, target)| to[*target] += each);
            to[state] += each * (enabled - self.edges[state].len()) as f64;
        }
    }

    fn over_states(&self, from: &[f64], to: &mut [f64]) {
        for (state, share) in from.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let mut targets: Vec<usize> = self.edges[state].iter().map(|(_, target)| *target).collect();
            targets.sort_unstable();
            targets.dedup();
            if targets.iter().all(|target| *target == state) {
                targets = vec![state];
            }
            targets.iter().for_each(|target| to[*target] += share / targets.len() as f64);
        }
    }

    fn by_priorities(&self, sampler: Sampler) -> Option<Vec<f64>> {
        let mut rules: Vec<u32> = self.edges.iter().flatten().map(|(rule, _)| *rule).collect();
        rules.sort_unstable();
        rules.dedup();
        if rules.len() > MOST_RULES {
            return None;
        }
        let ways = 1usize << rules.len();
        let states = self.states.len();
        // The targets of each state under each assignment of priorities, all equally likely.
        let mut targets: Vec<Vec<usize>> = Vec::with_capacity(ways * states);
        for way in 0..ways {
            for (state, edges) in self.edges.iter().enumerate() {
                let onward = || edges.iter().filter(|(_, target)| *target != state);
                let preferred = |rule: u32| rules.binary_search(&rule).is_ok_and(|bit| way >> bit & 1 == 1);
                let mut chosen: Vec<usize> = onward().filter(|(rule, _)| preferred(*rule)).map(|(_, target)| *target).collect();
                if chosen.is_empty() {
                    chosen = onward().map(|(_, target)| *target).collect();
                }
                targets.push(chosen);
            }
        }
        let change = 1.0 / CHANGE as f64;
        let start = self.start();
        let both: Vec<f64> = (0..ways).flat_map(|_| start.iter().map(|share| share / ways as f64)).collect();
        let sum = sampler.mixed(both, |from, to| {
            let mut anew = vec![0.0; states];
            from.chunks(states).for_each(|way| anew.iter_mut().zip(way).for_each(|(sum, share)| *sum += share * change / ways as f64));
            for (at, share) in from.iter().enumerate() {
                let (way, state) = (at / states, at % states);
                let share = share * (1.0 - change) + anew[state];
                let chosen = &targets[at];
                if chosen.is_empty() {
                    to[at] += share;
                }
                chosen.iter().for_each(|target| to[way * states + target] += share / chosen.len() as f64);
            }
        });
        let mut shares = vec![0.0; states];
        sum.chunks(states).for_each(|way| shares.iter_mut().zip(way).for_each(|(sum, share)| *sum += share));
        Some(shares)
    }
}
