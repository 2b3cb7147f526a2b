//! How many tokens a place can have, and which places share one. A fact that semiflows prove needs no test while a net runs; one that a NUPN section
//! claims, or that was guessed, is tested at every firing that could break it.

use super::flat::Flat;
use super::semiflows::{Semiflow, semiflows};
use std::collections::BinaryHeap;

/// The most tokens of a place for which its field is made.
pub(super) const MOST: u64 = (1 << 62) - 1;

/// Passes over all transitions when firings are counted.
const ROUNDS: usize = 200;

/// How the tokens of a net are kept.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// For each place, the most tokens it can have, where that is proved.
    pub proved: Vec<Option<u64>>,
    /// The places whose tokens no firing changes.
    pub constant: Vec<bool>,
    /// Sets of places that share one token and are kept as one field. No place is in two of them.
    pub sets: Vec<OneToken>,
}

/// Places that share one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneToken {
    /// The places, in ascending order.
    pub places: Vec<u32>,
    /// Whether some firing may leave all of them without a token.
    pub can_be_empty: bool,
    /// Whether it is proved that they share it, and not only claimed.
    pub is_proved: bool,
}

impl Bounds {
    /// Finds what can be proved; takes the claims of a NUPN section beside it if `trusted`.
    pub fn of(flat: &Flat, trusted: bool) -> Self {
        let mut flows = semiflows(flat, false);
        let mut proved = bound(flat, &flows);
        if proved.iter().any(Option::is_none) {
            flows.extend(semiflows(flat, true).into_iter().filter(|flow| !flow.is_kept));
            proved = bound(flat, &flows);
        }
        tighten(flat, &mut proved);
        let mut constant = vec![true; flat.places.len()];
        flat.transitions.iter().flat_map(|transition| transition.effect()).for_each(|(place, _)| constant[place as usize] = false);
        let mut candidates: Vec<OneToken> = flows
            .iter()
            .filter(|flow| flow.shares_one_token() && flow.weights.len() > 1)
            .map(|flow| OneToken {
                // The token is never where there is never one.
                places: flow.weights.iter().map(|(place, _)| *place).filter(|place| proved[*place as usize] != Some(0)).collect(),
                can_be_empty: !flow.is_kept,
                is_proved: true,
            })
            .collect();
        if trusted {
            let units = flat.units.iter().filter(|unit| unit.iter().map(|place| flat.initial[*place]).sum::<u64>() <= 1);
            candidates.extend(units.map(|unit| OneToken {
                places: unit.iter().map(|place| *place as u32).collect(),
                can_be_empty: true,
                is_proved: false,
            }));
        }
        let claimed: Vec<bool> = {
            let mut claimed = vec![false; flat.places.len()];
            flat.units.iter().flatten().filter(|_| trusted).for_each(|place| claimed[*place] = true);
            claimed
        };
        let mut taken = constant.clone();
        proved.iter().enumerate().filter(|(_, bound)| **bound == Some(0)).for_each(|(place, _)| taken[place] = true);
        // A proved bound needs no test while the net runs, so claims are used only for the other places.
        let (known, believed): (Vec<OneToken>, Vec<OneToken>) = candidates.into_iter().partition(|candidate| candidate.is_proved);
        let mut sets = choose(&proved, &claimed, &known, &mut taken);
        sets.extend(choose(&proved, &claimed, &believed, &mut taken));
        sets.sort_by_key(|set| set.places[0]);
        Bounds { proved, constant, sets }
    }
}

fn bound(flat: &Flat, flows: &[Semiflow]) -> Vec<Option<u64>> {
    let mut proved: Vec<Option<u64>> = vec![None; flat.places.len()];
    for flow in flows {
        for (place, weight) in &flow.weights {
            let bound = flow.total / weight;
            let known = &mut proved[*place as usize];
            *known = Some(known.map_or(bound, |known| known.min(bound)));
        }
    }
    proved
}

/// Bits of a field that takes so many values.
pub(super) fn bits_for(values: u64) -> u32 {
    64 - values.saturating_sub(1).leading_zeros()
}

/// Chooses sets that do not overlap, the one that saves the most first.
fn choose(proved: &[Option<u64>], claimed: &[bool], candidates: &[OneToken], taken: &mut [bool]) -> Vec<OneToken> {
    let gain = |candidate: &OneToken, taken: &[bool]| -> (i64, usize) {
        let free = candidate.places.iter().filter(|place| !taken[**place as usize]);
        let (mut apart, mut count) = (0, 0u64);
        for place in free {
            // A place without a proved bound would take a guessed width.
            let place = *place as usize;
            apart += match proved[place] {
                Some(bound) => i64::from(bits_for(bound + 1)),
                None if claimed[place] => 1,
                None => 4,
            };
            count += 1;
        }
        let empty = candidate.can_be_empty || count < candidate.places.len() as u64;
        (apart - i64::from(bits_for(count + u64::from(empty))), count as usize)
    };
    // Gains only fall as places are taken, so a candidate whose gain is still what it was is the best of all.
    let mut heap: BinaryHeap<(i64, bool, usize, std::cmp::Reverse<usize>)> = candidates
        .iter()
        .enumerate()
        .map(|(number, candidate)| {
            let (gain, count) = gain(candidate, taken);
            (gain, candidate.is_proved, count, std::cmp::Reverse(number))
        })
        .collect();
    let mut sets = Vec::new();
    while let Some((before, is_proved, _, std::cmp::Reverse(number))) = heap.pop() {
        let candidate = &candidates[number];
        let (now, count) = gain(candidate, taken);
        if now <= 0 {
            continue;
        }
        if now < before {
            heap.push((now, is_proved, count, std::cmp::Reverse(number)));
            continue;
        }
        let places: Vec<u32> = candidate.places.iter().copied().filter(|place| !taken[*place as usize]).collect();
        places.iter().for_each(|place| taken[*place as usize] = true);
        let can_be_empty = candidate.can_be_empty || places.len() < candidate.places.len();
        sets.push(OneToken { places, can_be_empty, is_proved });
    }
    sets
}

/// Bounds by counting firings: a transition fires no more often than the tokens that can ever come to a place it drains allow. This bounds nets in which
/// tokens only move on, however they branch and join.
fn tighten(flat: &Flat, proved: &mut [Option<u64>]) {
    let effects: Vec<Vec<(u32, i64)>> = flat.transitions.iter().map(|transition| transition.effect()).collect();
    let mut fires: Vec<Option<u64>> = vec![None; effects.len()];
    // All tokens that ever come to a place; none where there is no limit to them.
    let coming = |fires: &[Option<u64>]| -> Vec<Option<u64>> {
        let mut all: Vec<Option<u64>> = flat.initial.iter().map(|tokens| Some(*tokens)).collect();
        for (number, effect) in effects.iter().enumerate() {
            for (place, change) in effect.iter().filter(|(_, change)| *change > 0) {
                let more = fires[number].and_then(|fires| fires.checked_mul(change.unsigned_abs()));
                let sum = &mut all[*place as usize];
                *sum = sum.and_then(|sum| sum.checked_add(more?)).filter(|sum| *sum <= MOST);
            }
        }
        all
    };
    // Each pass goes one step further along the net.
    for _ in 0..ROUNDS {
        let all = coming(&fires);
        let mut moved = false;
        for (number, effect) in effects.iter().enumerate() {
            let drained = effect.iter().filter(|(_, change)| *change < 0);
            let most = drained.filter_map(|(place, change)| all[*place as usize].map(|all| all / change.unsigned_abs())).min();
            if most.is_some() && (fires[number].is_none() || most < fires[number]) {
                fires[number] = most;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for (known, bound) in proved.iter_mut().zip(coming(&fires)) {
        if let Some(bound) = bound {
            *known = Some(known.map_or(bound, |known| known.min(bound)));
        }
    }
}
