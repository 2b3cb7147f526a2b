//! A small cache of joins. The steps of a vector depend only on the local states of the components that take part, and
//! neighbouring states differ in few components. A join in which several parts wait for arguments is expensive, so its
//! result is kept for a while. A cache holds about a megabyte at most, so that it fits into what a budget leaves for data between two checks.

use crate::steps::Step;
use crate::value::Value;

/// Vectors of more parts are not kept.
pub(crate) const PARTS: usize = 4;
/// Places of a cache; the newest result wins.
const PLACES: usize = 1 << 12;
/// Results of more steps are not kept.
const STEPS: u32 = 64;
/// Numbers that all results together may hold. Beyond it new results are not kept.
const NUMBERS: usize = 1 << 18;

/// A vector and the local states of its parts.
pub(crate) type Key = (u32, [u32; PARTS]);

/// Results of joins, for one worker at a time.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    /// Vectors whose joins are worth keeping, as bits.
    costly: Vec<u64>,
    places: Vec<Kept>,
    /// Numbers that the results have room for.
    held: usize,
}

/// The steps of one join.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    key: Option<Key>,
    steps: u32,
    /// The next local state of each part, step by step.
    next: Vec<u32>,
    /// The arguments of each visible action, step by step.
    shown: Vec<Value>,
}

impl Joins {
    pub(crate) fn is_costly(&self, vector: u32) -> bool {
        self.costly.get(vector as usize / 64).is_some_and(|bits| bits >> (vector % 64) & 1 == 1)
    }

    pub(crate) fn note_costly(&mut self, vector: u32) {
        let word = vector as usize / 64;
        if word >= self.costly.len() {
            self.costly.resize(word + 1, 0);
        }
        self.costly[word] |= 1 << (vector % 64);
    }

    /// The result that is kept under a key.
    pub(crate) fn find(&self, key: &Key) -> Option<&Kept> {
        self.places.get(place(key)).filter(|kept| kept.key.as_ref() == Some(key))
    }

    /// An empty result for a key, with the buffers of the one that it will replace.
    pub(crate) fn begin(&mut self, key: Key) -> Kept {
        if self.places.is_empty() {
            self.places.resize_with(PLACES, Kept::default);
        }
        let mut kept = std::mem::take(&mut self.places[place(&key)]);
        self.held -= kept.room();
        kept.next.clear();
        kept.shown.clear();
        Kept { key: Some(key), steps: 0, ..kept }
    }

    /// Keeps a result, unless it is too large.
    pub(crate) fn keep(&mut self, kept: Kept) {
        let room = kept.room();
        if let Some(key) = kept.key.filter(|_| kept.steps <= STEPS && self.held + room <= NUMBERS) {
            self.held += room;
            let before = std::mem::replace(&mut self.places[place(&key)], kept);
            self.held -= before.room();
        }
    }
}

impl Kept {
    /// How many numbers its buffers have room for.
    fn room(&self) -> usize {
        self.next.capacity() + self.shown.capacity()
    }

    pub(crate) fn note(&mut self, step: &Step) {
        self.steps += 1;
        if self.steps <= STEPS {
            self.next.extend(step.moves.iter().map(|(_, next)| *next));
            self.shown.extend_from_slice(step.shown);
        }
    }

    /// Each step: the next local states of the parts, and the arguments of the visible actions.
    pub(crate) fn steps(&self, parts: usize, shown: usize) -> impl Iterator<Item = (&[u32], &[Value])> {
        (0..self.steps as usize).map(move |step| (&self.next[step * parts..][..parts], &self.shown[step * shown..][..shown]))
    }
}

fn place((vector, locals): &Key) -> usize {
    let mixed = locals.iter().fold(u64::from(*vector), |hash, local| (hash ^ u64::from(*local)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (mixed >> 40) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_stays_within_its_bound() {
        let mut joins = Joins::default();
        for local in 0..20_000 {
            let mut kept = joins.begin((1, [local, 0, 0, 0]));
            for _ in 0..STEPS {
                kept.note(&Step { rule: 0, actions: &[], moves: &[(0, local), (1, 2), (2, 3)], shown: &[Value::UNIT] });
            }
            joins.keep(kept);
        }
        let held: usize = joins.places.iter().map(Kept::room).sum();
        assert_eq!(held, joins.held);
        assert!(held > NUMBERS / 2 && held <= NUMBERS, "{held}");
        assert!((0..20_000).any(|local| joins.find(&(1, [local, 0, 0, 0])).is_some_and(|kept| kept.steps == STEPS)));
    }
}
