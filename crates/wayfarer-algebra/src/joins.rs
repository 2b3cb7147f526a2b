//! A small cache of joins. The steps of a vector depend only on the local states of the components that take part, and
//! neighbouring states differ in few components. A join in which several parts wait for arguments is expensive, so its
//! result is kept for a while.

use crate::steps::Step;
use crate::value::Value;

/// Vectors of more parts are not kept.
pub(crate) const PARTS: usize = 4;
/// Places of a cache; the newest result wins.
const PLACES: usize = 1 << 12;
/// Results of more steps are not kept.
const STEPS: u32 = 64;

/// A vector and the local states of its parts.
pub(crate) type Key = (u32, [u32; PARTS]);

/// Results of joins, for one worker at a time.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    /// Vectors whose joins are worth keeping, as bits.
    costly: Vec<u64>,
    places: Vec<Kept>,
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
        kept.next.clear();
        kept.shown.clear();
        Kept { key: Some(key), steps: 0, ..kept }
    }

    /// Keeps a result, unless it is too large.
    pub(crate) fn keep(&mut self, kept: Kept) {
        if let Some(key) = kept.key.filter(|_| kept.steps <= STEPS) {
            self.places[place(&key)] = kept;
        }
    }
}

impl Kept {
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
