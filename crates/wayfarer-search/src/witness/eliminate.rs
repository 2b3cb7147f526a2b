//! Leaves firings out of a witness as long as it still shows the same thing when it is replayed.
//!
//! If dependences are known, everything that the end does not depend on goes first, in one pass. Then whole rules are left out, then runs of firings, long
//! ones before short ones, down to single firings: a later firing that is no longer enabled is left out with them. At last every stretch is left out
//! after which the rest can be fired as it is.

use super::Witness;
use super::dependence::{self, Dependence};
use super::effort::Effort;
use super::goal::Goal;
use std::collections::{BTreeMap, HashMap};
use wayfarer_space::{Fired, Word};

/// The witness without firings that it does not need.
pub(super) fn eliminated(goal: &Goal, dependence: Option<&dyn Dependence>, mut witness: Witness, effort: &mut Effort) -> Witness {
    if let Some(sliced) = dependence.and_then(|dependence| sliced(goal, dependence, &witness, effort)) {
        witness = sliced;
    }
    loop {
        let before = witness.firings.len();
        witness = without_rules(goal, witness, effort);
        witness = without_runs(goal, witness, effort);
        witness = without_stretches(goal, witness, effort);
        if witness.firings.len() == before || effort.left() == 0 {
            return witness;
        }
    }
}

/// The witness without the firings that its end does not depend on. The kept firings read the same values as before.
fn sliced(goal: &Goal, dependence: &dyn Dependence, witness: &Witness, effort: &mut Effort) -> Option<Witness> {
    let mut needed = dependence::needed_at_end(dependence, goal.ending)?;
    let mut reads: HashMap<u32, Vec<Word>> = HashMap::new();
    let mut kept = vec![false; witness.firings.len()];
    for place in (0..kept.len()).rev() {
        let changed: Vec<Word> = witness.states[place].iter().zip(&witness.states[place + 1]).map(|(one, other)| one ^ other).collect();
        if dependence::meets(&changed, &needed) {
            kept[place] = true;
            let rule = witness.firings[place].rule;
            dependence::add(&mut needed, reads.entry(rule).or_insert_with(|| dependence.rule(rule).reads));
        }
    }
    if kept.iter().all(|kept| *kept) {
        return None;
    }
    without(goal, witness, &|place| !kept[place], effort)
}

/// Leaves out all firings of a rule at a time, those of the last ones first.
fn without_rules(goal: &Goal, mut witness: Witness, effort: &mut Effort) -> Witness {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    witness.firings.iter().for_each(|firing| *counts.entry(firing.rule).or_default() += 1);
    // Rules that fire often save most.
    let mut rules: Vec<(usize, u32)> = counts.into_iter().filter(|(_, count)| *count > 1).map(|(rule, count)| (count, rule)).collect();
    rules.sort_unstable();
    for (_, rule) in rules.into_iter().rev() {
        let is_left_out = |place: usize| witness.firings[place].rule == rule;
        if effort.left() == 0 {
            break;
        }
        if let Some(shorter) = without(goal, &witness, &is_left_out, effort) {
            witness = shorter;
        }
    }
    witness
}

/// Leaves out runs of firings, each half as long as those before.
fn without_runs(goal: &Goal, mut witness: Witness, effort: &mut Effort) -> Witness {
    let mut length = witness.firings.len().div_ceil(2);
    while length > 0 {
        let mut from = 0;
        while from < witness.firings.len() {
            if effort.left() == 0 {
                return witness;
            }
            let run = from..from + length;
            match without(goal, &witness, &|place| run.contains(&place), effort) {
                // The firings after it have moved to this place.
                Some(shorter) => witness = shorter,
                None => from += length,
            }
        }
        length /= 2;
    }
    witness
}

/// Leaves out every stretch after which all the rest can be fired as it is, the longest first.
fn without_stretches(goal: &Goal, mut witness: Witness, effort: &mut Effort) -> Witness {
    let mut from = 0;
    while from < witness.firings.len() {
        let all = witness.firings.len();
        let found = (from + 1..all).rev().find_map(|to| {
            let mut states = vec![witness.states[from].clone()];
            for firing in &witness.firings[to..] {
                let mut next = Vec::new();
                if !effort.spend(1) || goal.space.fire(&states[states.len() - 1], *firing, &mut next) != Fired::To {
                    return None;
                }
                states.push(next);
            }
            goal.is_met(&states[states.len() - 1]).then_some((to, states))
        });
        if let Some((to, states)) = found {
            witness.firings.drain(from..to);
            witness.states.truncate(from);
            witness.states.extend(states);
        }
        if effort.left() == 0 {
            break;
        }
        from += 1;
    }
    witness
}

/// The witness without some of its firings, if it still ends as it must. Firings that are not enabled any more, or that change nothing, are left out as well.
fn without(goal: &Goal, witness: &Witness, is_left_out: &dyn Fn(usize) -> bool, effort: &mut Effort) -> Option<Witness> {
    let first = (0..witness.firings.len()).find(|place| is_left_out(*place))?;
    let mut states = vec![witness.states[first].clone()];
    let mut firings = Vec::new();
    let mut next = Vec::new();
    let mut ended = !goal.is_final() && goal.is_met(&states[0]);
    for place in first..witness.firings.len() {
        if ended {
            break;
        }
        if is_left_out(place) {
            continue;
        }
        if !effort.spend(1) {
            return None;
        }
        let last = &states[states.len() - 1];
        if goal.space.fire(last, witness.firings[place], &mut next) == Fired::To && next != *last {
            firings.push(witness.firings[place]);
            states.push(std::mem::take(&mut next));
            ended = !goal.is_final() && goal.is_met(&states[states.len() - 1]);
        }
    }
    let arrives = goal.is_final() && goal.is_met(&states[states.len() - 1]);
    if !ended && !arrives {
        return None;
    }
    let states = witness.states[..first].iter().cloned().chain(states).collect();
    let firings = witness.firings[..first].iter().copied().chain(firings).collect();
    Some(Witness { start: witness.start, states, firings, ending: witness.ending })
}
