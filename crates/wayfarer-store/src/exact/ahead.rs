//! Sorts out candidates before they are visited. If all candidates will be inserted in the order in which they are
//! announced, one that was announced a moment ago needs no second lookup: it is known by its turn.

use crate::Account;
use crate::memory::recent::Recent;
use std::collections::VecDeque;
use wayfarer_space::{Hash, Packing, Steps};

/// No handle is likely.
pub(super) const NONE: u32 = u32::MAX;

/// The most bytes that announced states may take: they stay in a core's own cache.
const BYTES: usize = 1 << 17;

/// Rounds that were announced and not visited yet.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    recent: Option<Recent>,
    rounds: VecDeque<Round>,
    spare: Vec<Vec<Look>>,
}

/// A candidate that must be looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Its place in the batch.
    pub(super) index: u32,
    /// The handle under which it is most likely known.
    pub(super) likely: u32,
}

#[derive(Debug)]
struct Round {
    /// The address of the round's hashes, which identifies the round.
    place: usize,
    looks: Vec<Look>,
}

impl Ahead {
    /// Announces a round and calls `each` with the hash of every candidate that must be looked up. The first call takes
    /// memory for announced states: a small part of `most` bytes, if the account has it.
    pub(super) fn announce(&mut self, steps: &Steps, packing: &Packing, most: usize, account: &dyn Account, mut each: impl FnMut(Hash)) {
        let mut looks = self.spare.pop().unwrap_or_default();
        looks.clear();
        if steps.sifted {
            // The space has left out what can be left out.
            looks.extend((0..steps.len()).map(|index| Look { index: index as u32, likely: NONE }));
        } else {
            let recent = self.recent.get_or_insert_with(|| Recent::new(packing, (most / 512).min(BYTES), account));
            sift(recent, steps, &mut looks);
        }
        looks.iter().for_each(|look| each(steps.hashes[look.index as usize]));
        self.rounds.push_back(Round { place: place(steps), looks });
    }

    /// The candidates of an announced round that must be looked for.
    pub(super) fn looks(&mut self, steps: &Steps) -> Option<&mut [Look]> {
        let place = place(steps);
        self.rounds.iter_mut().rev().find(|round| round.place == place).map(|round| round.looks.as_mut_slice())
    }

    /// The same when the round's turn has come; to be given [`back`](Ahead::back).
    pub(super) fn turn(&mut self, steps: &Steps) -> Option<Vec<Look>> {
        let place = place(steps);
        self.rounds.pop_front_if(|round| round.place == place).map(|round| round.looks)
    }

    /// Takes the result of [`turn`](Ahead::turn) back after use.
    pub(super) fn back(&mut self, looks: Vec<Look>) {
        self.spare.push(looks);
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
        looks.resize(hashes.len(), Look { index: 0, likely: NONE });
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
            looks.push(Look { index: index as u32, likely: NONE });
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
            ahead.announce(&steps, packing, 512 * 256, &Unlimited, |_| ());
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
            ahead.back(looks);
            assert!(ahead.turn(&steps).is_none());
        }
        assert!(repeats > 500, "{repeats}");
    }

    #[test]
    fn only_what_was_announced_is_passed_over() {
        sifts_soundly(&Packing::whole(1), Width::Fixed(1), |rng| vec![rng.below(40)]);
        sifts_soundly(&Packing::whole(3), Width::Fixed(3), |rng| vec![rng.below(3), 0, rng.below(9)]);
        sifts_soundly(&Packing::varying(), Width::Varying, |rng| (0..1 + rng.below(9)).map(|_| rng.below(2)).collect());
    }
}
