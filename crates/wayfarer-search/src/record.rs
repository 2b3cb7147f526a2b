//! The record: the states with the k smallest values of a second hash among all that were ever admitted.
//!
//! Over a store that forgets or errs it says how many distinct states there were: while fewer than k were met it holds them all and the count is exact; after that
//! the k-th smallest value v of n distinct ones, uniform in [0, 1), has mean k/(n+1), so (k − 1)/v estimates n with a relative standard error of
//! 1/√(k − 2) (Bar-Yossef and others 2002; Giroire 2009). Records of several runs or workers merge by taking the k smallest of all.
//!
//! Below its largest value the record knows exactly which states were admitted, so an audit judges by it; and because a state below that value was below it
//! from the beginning, the record also knows how often each of its states was met.

mod union;

use std::collections::BinaryHeap;
use std::sync::Arc;
pub(crate) use union::Union;
use wayfarer_space::{Hash, Packing, States, Width, Word};
use wayfarer_store::Slab;

/// A number of states and how far off it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its relative standard error; 0 if it was counted.
    pub error: f64,
}

impl Estimate {
    /// The estimate, given that it cannot exceed `most`.
    pub(crate) fn at_most(self, most: u64) -> Estimate {
        Estimate { value: self.value.min(most as f64), ..self }
    }

    /// The estimate of a union, given how many states each of several workers counted: there are at least as many. If all were `done` and counted the
    /// same number, and the estimate agrees with it, they counted the same states.
    pub(crate) fn given(self, counts: &[u64], done: bool) -> Estimate {
        let most = counts.iter().copied().max().unwrap_or(0) as f64;
        let same = done && counts.iter().all(|count| *count as f64 == most);
        if same && (self.value - most).abs() <= 3.0 * self.error * most {
            return Estimate { value: most, error: 0.0 };
        }
        Estimate { value: self.value.max(most), ..self }
    }
}

/// The k states with the smallest second hash.
#[derive(Clone, Debug)]
pub struct Record {
    most: usize,
    /// The values that are kept with the slots of their states, the largest first.
    values: BinaryHeap<(u64, u32)>,
    /// The same values, each at or behind its place; free places hold [`FREE`]. At most half are in use.
    known: Vec<Known>,
    states: Slab,
    /// The union with the records of other workers, if it is followed.
    union: Option<Arc<Union>>,
}

/// A value that is kept.
#[derive(Clone, Copy, Debug)]
struct Known {
    value: u64,
    slot: u32,
    /// How often its state was met.
    met: u32,
}

/// No value: one that would be this is kept as the next smaller.
const FREE: u64 = u64::MAX;
/// The fewest states that a record holds.
const LEAST: usize = 8;
const NONE: Known = Known { value: FREE, slot: 0, met: 0 };

impl Record {
    /// An empty record of at most `most` states of the given packing.
    pub fn new(most: usize, packing: Packing) -> Self {
        Record { most: most.max(LEAST), values: BinaryHeap::new(), known: vec![NONE; 64], states: Slab::new(packing), union: None }
    }

    /// The same, which tells a union what it takes in.
    pub(crate) fn sharing(self, union: Arc<Union>) -> Self {
        Record { union: Some(union), ..self }
    }

    /// The number of states that a record holds in a run of `bytes` bytes: enough for an error below one percent if
    /// there is room, and few enough to stay in the cache.
    pub fn suiting(bytes: usize, packing: &Packing) -> usize {
        let one = Record::bytes_for(1 << 10, packing) >> 10;
        (bytes / 64 / one).clamp(256, 1 << 14)
    }

    /// The bytes that a record of `most` states may take.
    pub fn bytes_for(most: usize, packing: &Packing) -> usize {
        most.max(LEAST) * (16 + 64 + 2 * packing.words() * size_of::<Word>())
    }

    /// A state was admitted.
    #[inline]
    pub fn observe(&mut self, hash: Hash, state: &[Word]) {
        let value = value(hash);
        if self.wants(value)
            && let Some(slot) = self.enter(value, 1)
        {
            self.states.put(slot, state);
        }
    }

    /// A state was met that is taken to have been admitted before.
    #[inline]
    pub fn meet(&mut self, hash: Hash) {
        let value = value(hash);
        if self.wants(value)
            && let Ok(at) = self.find(value)
        {
            self.known[at].met = self.known[at].met.saturating_add(1);
        }
    }

    /// Takes in what another record holds.
    pub fn absorb(&mut self, other: &Record) {
        for (value, from) in &other.values {
            let met = other.find(*value).map_or(1, |at| other.known[at].met);
            if self.wants(*value)
                && let Some(slot) = self.enter(*value, met)
            {
                self.states.copy(slot, &other.states, *from);
            }
        }
        // The states that the other record left out were at least as large as the largest it kept.
        if other.values.len() == other.most {
            let largest = other.largest();
            while self.values.len() > LEAST && self.largest() > largest {
                self.drop_largest();
                self.most = self.values.len().max(LEAST);
            }
        }
    }

    /// Whether the record can tell if a state with this hash was admitted.
    #[inline]
    pub fn judges(&self, hash: Hash) -> bool {
        let value = value(hash);
        self.wants(value) || self.find(value).is_ok()
    }

    /// Whether a state was admitted; none if the record cannot tell, because its value is above those that are kept.
    pub fn contains(&self, hash: Hash, state: &[Word]) -> Option<bool> {
        let value = value(hash);
        let Ok(at) = self.find(value) else { return self.wants(value).then_some(false) };
        // States of different lengths are told apart, too.
        let mut kept = States::new(Width::Varying);
        Some(self.states.get(self.known[at].slot, &mut kept) && kept.get(0) == state)
    }

    /// The share of all states, drawn by a hash, of which it knows whether they were admitted.
    pub fn share(&self) -> f64 {
        if self.values.len() < self.most { 1.0 } else { self.largest() as f64 / 2f64.powi(64) }
    }

    /// How many states it holds.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of its states that were visited exactly `times` times.
    pub fn met(&self, times: u32) -> u64 {
        self.known.iter().filter(|known| known.value != FREE && known.met == times).count() as u64
    }

    /// How many distinct states were met.
    pub fn estimate(&self) -> Estimate {
        estimate(self.values.len(), self.most, self.largest())
    }

    #[inline]
    fn wants(&self, value: u64) -> bool {
        self.values.len() < self.most || value <= self.largest()
    }

    #[inline]
    fn largest(&self) -> u64 {
        self.values.peek().map_or(FREE, |(value, _)| *value)
    }

    /// Keeps a value that was met `met` times, and returns the slot for its state; none if it is known.
    fn enter(&mut self, value: u64, met: u32) -> Option<u32> {
        if let Ok(at) = self.find(value) {
            self.known[at].met = self.known[at].met.saturating_add(met);
            return None;
        }
        if let Some(union) = &self.union {
            union.add(value);
        }
        let slot = if self.values.len() == self.most { self.drop_largest()? } else { self.values.len() as u32 };
        if slot as usize == self.states.slots() {
            let left = self.most - self.states.slots().min(self.most - 1);
            self.states.grow((self.states.slots() / 2).max(16).min(left));
        }
        self.values.push((value, slot));
        if 2 * self.values.len() > self.known.len() {
            let larger = vec![NONE; 2 * self.known.len()];
            let known = std::mem::replace(&mut self.known, larger);
            known.into_iter().filter(|known| known.value != FREE).for_each(|known| self.mark(known));
        }
        self.mark(Known { value, slot, met });
        Some(slot)
    }

    fn mark(&mut self, known: Known) {
        if let Err(at) = self.find(known.value) {
            self.known[at] = known;
        }
    }

    /// The place of a value, or the place where it would be inserted.
    fn find(&self, value: u64) -> Result<usize, usize> {
        let mask = self.known.len() - 1;
        // Values are small: their low bits tell them apart.
        let mut at = value as usize & mask;
        while self.known[at].value != FREE {
            if self.known[at].value == value {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    fn drop_largest(&mut self) -> Option<u32> {
        let (value, slot) = self.values.pop()?;
        let mask = self.known.len() - 1;
        let Ok(mut hole) = self.find(value) else { return Some(slot) };
        let mut at = hole;
        // Those behind move up, so that none is cut off from its place.
        loop {
            at = (at + 1) & mask;
            if self.known[at].value == FREE {
                break;
            }
            let home = self.known[at].value as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.known[hole] = self.known[at];
                hole = at;
            }
        }
        self.known[hole] = NONE;
        Some(slot)
    }
}

/// The number of distinct values, of which the smallest are kept, `most` of them if there are as many.
fn estimate(kept: usize, most: usize, largest: u64) -> Estimate {
    if kept < most {
        return Estimate { value: kept as f64, error: 0.0 };
    }
    let share = largest as f64 / 2f64.powi(64);
    Estimate { value: (most - 1) as f64 / share, error: 1.0 / ((most - 2) as f64).sqrt() }
}

/// The key by which the record orders states.
fn value(hash: Hash) -> u64 {
    hash.second().min(FREE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::{Rng, hash};

    fn record_of(range: std::ops::Range<u64>, times: u64, most: usize) -> Record {
        let mut record = Record::new(most, Packing::whole(1));
        for _ in 0..times {
            for value in range.clone() {
                record.observe(hash(&[value]), &[value]);
            }
        }
        record
    }

    #[test]
    fn few_states_are_counted_and_many_estimated() {
        assert_eq!(record_of(0..1000, 5, 1024).estimate(), Estimate { value: 1000.0, error: 0.0 });
        let mut rng = Rng::new(1, "record");
        let mut outside = 0;
        for _ in 0..40 {
            let from = rng.next_word() >> 1;
            let found = record_of(from..from + 50_000, 1, 1024).estimate();
            // Three standard errors are left with odds of about 0.3 %: of 40 runs more than one with odds of 0.6 %; the seed is fixed.
            outside += u32::from((found.value / 50_000.0 - 1.0).abs() > 3.0 * found.error);
        }
        assert!(outside <= 1, "{outside} of 40 outside three standard errors");
    }

    #[test]
    fn records_merge_into_the_record_of_everything() {
        let whole = record_of(0..30_000, 1, 512).estimate();
        let mut first = record_of(0..20_000, 2, 512);
        first.absorb(&record_of(10_000..30_000, 1, 512));
        assert_eq!(first.estimate(), whole);
        let mut small = record_of(0..100, 1, 512);
        small.absorb(&record_of(50..200, 3, 512));
        assert_eq!(small.estimate(), Estimate { value: 200.0, error: 0.0 });
    }

    #[test]
    fn a_union_follows_what_records_hold_together() {
        let union = Arc::new(Union::new(512));
        let whole = record_of(0..30_000, 1, 512).estimate();
        for range in [0..20_000, 10_000..30_000, 5_000..6_000] {
            let mut record = Record::new(512, Packing::whole(1)).sharing(Arc::clone(&union));
            let mut before = union.states();
            for value in range {
                record.observe(hash(&[value]), &[value]);
                // Only the first estimate may be below what was counted before it.
                assert!(union.states() >= before || before < 512, "{} after {before}", union.states());
                before = union.states();
            }
        }
        assert_eq!(union.states(), whole.value as u64);
    }

    #[test]
    fn what_workers_counted_bounds_the_estimate_of_their_union() {
        let about = Estimate { value: 990.0, error: 0.01 };
        assert_eq!(about.given(&[1000, 1000], true), Estimate { value: 1000.0, error: 0.0 });
        assert_eq!(about.given(&[1000, 1000], false), Estimate { value: 1000.0, error: 0.01 });
        assert_eq!(about.given(&[1000, 980], true), Estimate { value: 1000.0, error: 0.01 });
        assert_eq!(about.given(&[700, 700], true), about);
    }

    #[test]
    fn a_record_knows_what_was_admitted_below_its_largest_value() {
        let record = record_of(0..20_000, 1, 512);
        let judged = |value: u64| record.contains(hash(&[value]), &[value]);
        let inside = (0..20_000).filter(|value| judged(*value) == Some(true)).count();
        assert_eq!(inside, 512);
        assert!((0..20_000).all(|value| judged(value) != Some(false)));
        let outside = (20_000..60_000).filter(|value| judged(*value) == Some(false)).count() as f64;
        assert!((20_000..60_000).all(|value| judged(value) != Some(true)));
        // A share of 40,000 other states lies below the largest value and is judged. A right program leaves four
        // standard errors with odds of 10⁻⁴; the seed is fixed.
        let expected = 40_000.0 * record.share();
        assert!((outside - expected).abs() < 4.0 * expected.sqrt(), "{outside} where {expected} were expected");
        let whole = record_of(0..100, 1, 512);
        assert_eq!(whole.share(), 1.0);
        assert!((0..200).all(|value| whole.contains(hash(&[value]), &[value]) == Some(value < 100)));
    }

    #[test]
    fn meetings_are_counted() {
        let mut record = record_of(0..3_000, 1, 256);
        (0..2_000).for_each(|value| record.meet(hash(&[value])));
        (5_000..9_000).for_each(|value| record.meet(hash(&[value])));
        let of = |range: std::ops::Range<u64>| range.filter(|value| record.contains(hash(&[*value]), &[*value]) == Some(true)).count() as u64;
        assert_eq!((record.met(1), record.met(2), record.met(3)), (of(2_000..3_000), of(0..2_000), 0));
        let other = record.clone();
        record.absorb(&other);
        assert_eq!(record.met(1), 0);
    }
}
