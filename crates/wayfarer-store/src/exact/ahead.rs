//! Sorts out candidates before they are visited. If all candidates will be inserted in the order in which they are
//! announced, one that was announced a moment ago needs no second lookup: it is known by its turn.

use super::WIDE;
use super::twins::Twins;
use crate::index::Spot;
use crate::memory::recent::Recent;
use crate::{Account, Visit};
use std::collections::VecDeque;
use wayfarer_space::{Hash, Packing, Steps, Width};

/// No handle is likely.
pub(super) const NONE: u32 = u32::MAX;
/// The handle of a candidate of an earlier round is likely, and not known yet. There is no such handle, either.
pub(super) const TWIN: u32 = u32::MAX - 1;

/// The most bytes that announced states may take: they stay in a core's own cache.
const BYTES: usize = 1 << 17;

/// Rounds that were announced and not visited yet.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    recent: Option<Recent>,
    /// The same for wide states.
    twins: Option<Twins>,
    rounds: VecDeque<Round>,
    spare: Vec<Vec<Look>>,
}

/// A candidate that must be looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Its place in the batch.
    pub(super) index: u32,
    /// The handle under which it is most likely known, [`NONE`] or [`TWIN`].
    pub(super) likely: u32,
    /// Where the index has it, unless the handle is known.
    pub(super) spot: Spot,
}

impl Look {
    pub(super) fn at(index: usize) -> Self {
        Look { index: index as u32, likely: NONE, spot: Spot::default() }
    }
}

/// A round that was announced.
#[derive(Debug)]
pub(super) struct Round {
    /// The address of the round's hashes, which identifies the round.
    place: usize,
    pub(super) looks: Vec<Look>,
    /// The number of its first look, if twins are looked for.
    first: u32,
}

impl Ahead {
    /// Announces a round and asks for the spot of every candidate that must be looked up. The first call takes
    /// memory for announced states: a small part of `most` bytes, if the account has it.
    pub(super) fn announce(&mut self, steps: &Steps, packing: &Packing, most: usize, account: &dyn Account, mut spot: impl FnMut(Hash) -> Spot) {
        let mut looks = self.spare.pop().unwrap_or_default();
        looks.clear();
        let mut first = 0;
        if steps.sifted {
            // The space has left out what can be left out.
            looks.extend((0..steps.len()).map(Look::at));
        } else {
            let bytes = (most / 512).min(BYTES);
            if let Width::Fixed(WIDE..) = steps.states.width() {
                first = self.twins.get_or_insert_with(|| Twins::new(bytes, account)).sift(steps, &mut looks);
            } else {
                let recent = self.recent.get_or_insert_with(|| Recent::new(packing, bytes, account));
                sift(recent, steps, &mut looks);
            }
        }
        looks.iter_mut().filter(|look| look.likely == NONE).for_each(|look| look.spot = spot(steps.hashes[look.index as usize]));
        self.rounds.push_back(Round { place: place(steps), looks, first });
    }

    /// The candidates of an announced round that must be looked for.
    pub(super) fn looks(&mut self, steps: &Steps) -> Option<&mut [Look]> {
        let place = place(steps);
        self.rounds.iter_mut().rev().find(|round| round.place == place).map(|round| round.looks.as_mut_slice())
    }

    /// The round when its turn has come; to be given [`back`](Ahead::back). All rounds before it were inserted.
    pub(super) fn turn(&mut self, steps: &Steps) -> Option<Round> {
        let place = place(steps);
        let mut round = self.rounds.pop_front_if(|round| round.place == place)?;
        if let Some(twins) = &mut self.twins {
            twins.resolve(round.first, &mut round.looks);
        }
        Some(round)
    }

    /// Takes the result of [`turn`](Ahead::turn) back after use, with the answers if all its candidates were visited.
    pub(super) fn back(&mut self, round: Round, visits: &[Visit]) {
        if let Some(twins) = &mut self.twins {
            twins.learn(round.first, &round.looks, visits);
        }
        self.spare.push(round.looks);
    }
}

fn place(steps: &Steps) -> usize {
    steps.hashes.as_ptr() as usize
}

/// Appends each candidate that changed and was not announced recently. A step that leads back to its source is left out too.
#[inline]
fn sift(recent: &mut Recent, steps: &Steps, looks: &mut Vec<Look>) {
    let Steps { states, hashes, changed, .. } = steps;
    if let Some((entries, mask)) = recent.plain() {
        // Without a branch for each, which nothing could predict. A state that leads back to itself is known, and may be noted as such.
        looks.resize(hashes.len(), Look::at(0));
        let mut kept = 0;
        for (index, ((word, hash), changed)) in states.words().iter().zip(hashes).zip(changed).enumerate() {
            let entry = &mut entries[hash.second() as usize & mask];
            let fresh = (*changed != 0) & (*entry != *word);
            *entry = *word;
            looks[kept].index = index as u32;
            kept += usize::from(fresh);
        }
        looks.truncate(kept);
        return;
    }
    for index in 0..hashes.len() {
        if changed[index] != 0 && !recent.repeats(hashes[index], states.get(index)) {
            looks.push(Look::at(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::{Firing, Rng, Width, Word};

    /// A candidate is passed over only if it was announced before, whichever states share its place, and the last announced one always is.
    fn sifts_soundly(packing: &Packing, width: Width, draw: impl Fn(&mut Rng) -> Vec<Word>) {
        let mut rng = Rng::new(5, "ahead");
        let mut ahead = Ahead::default();
        let mut announced = std::collections::HashSet::new();
        let mut repeats = 0;
        for round in 0..300 {
            let mut steps = Steps::new(width);
            for _ in 0..50 {
                let state = draw(&mut rng);
                steps.push(0, Firing::of(0), &[], &state);
            }
            let before = announced.clone();
            ahead.announce(&steps, packing, 512 * 256, &Unlimited, |_| Spot::default());
            let looks: Vec<usize> = ahead.looks(&steps).unwrap().iter().map(|look| look.index as usize).collect();
            for index in 0..steps.len() {
                let state = steps.states.get(index).to_vec();
                if !looks.contains(&index) {
                    repeats += 1;
                    assert!(before.contains(&state) || (0..index).any(|earlier| steps.states.get(earlier) == state), "round {round}");
                }
                announced.insert(state);
            }
            let looks = ahead.turn(&steps).unwrap();
            ahead.back(looks, &[]);
            assert!(ahead.turn(&steps).is_none());
        }
        assert!(repeats > 500, "{repeats}");
    }

    #[test]
    fn only_what_was_announced_is_passed_over() {
        sifts_soundly(&Packing::whole(1), Width::Fixed(1), |rng| vec![rng.below(40)]);
        sifts_soundly(&Packing::whole(9), Width::Fixed(9), |rng| (0..9).map(|word| if word == 7 { rng.below(90) } else { 3 }).collect());
        sifts_soundly(&Packing::whole(3), Width::Fixed(3), |rng| vec![rng.below(3), 0, rng.below(9)]);
        sifts_soundly(&Packing::varying(), Width::Varying, |rng| (0..1 + rng.below(9)).map(|_| rng.below(2)).collect());
    }
}
