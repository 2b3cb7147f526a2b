//! Finds the numbers of a state's parts and sides in the tree, and its words from them.

use super::nodes::{NodeSeat, Nodes, Number, mix};
use super::pairs::{Pairs, inverse};
use super::sequence::Entry;
use super::shape::{Leaf, Shape};
use crate::Account;
use wayfarer_space::{Packing, Steps, Word};

/// How many words of a side, and how many pairs, a worker remembers.
const RECENT: usize = 1 << 11;
const PRESENT: usize = 1 << 13;

/// Parts, sides and pairs, each value of which is kept once.
pub(super) struct Tree {
    pub(super) shape: Option<Shape>,
    /// The numbers of each part's values; those of parts that are plain stay empty.
    pub(super) parts: Vec<Nodes>,
    /// The numbers of the sides' words.
    pub(super) sides: Vec<Nodes>,
    pub(super) pairs: Pairs,
    /// The whole state, if there is no shape, and its bits.
    all: Leaf,
    bits: u32,
}

/// A worker's places at the parts of one tree, and room for a part's value.
#[derive(Default)]
pub(super) struct TreePlaces {
    parts: Vec<NodeSeat>,
    sides: [NodeSeat; 2],
    value: Vec<Word>,
    /// Words of sides that were asked for last and their numbers, by hash: what comes again soon needs no lookup.
    recent: [Box<[(u64, u32)]>; 2],
    /// Pairs that were met last and are in the set, by hash.
    pub(super) present: Box<[u64]>,
}

/// A candidate on its way to its pair.
#[derive(Clone, Copy)]
pub(super) struct Job {
    /// The words of its sides and their hashes.
    sides: [(u64, u64); 2],
    /// The numbers of its sides as far as they are known.
    numbers: [Option<u32>; 2],
    /// Whether it has numbers at all, as far as is known.
    known: bool,
    /// Whether its pair was met a short while ago.
    pub(super) present: bool,
}

/// Why numbers could not be given: there is no room.
pub(super) struct Crowded;

impl Tree {
    pub(super) fn new(shape: Option<Shape>, packing: &Packing, most: usize, account: &dyn Account) -> Option<Self> {
        let (mut parts, mut sides) = (Vec::new(), Vec::new());
        if let Some(shape) = &shape {
            for part in &shape.parts {
                parts.push(Nodes::new(part.leaf.len(), if part.plain { u64::MAX } else { 1 << part.width }, account)?);
            }
            for _ in &shape.sides {
                sides.push(Nodes::new(1, u64::MAX, account)?);
            }
        }
        Some(Tree { shape, parts, sides, pairs: Pairs::new(most, account)?, all: Leaf::of_all(packing.masks()), bits: packing.bits() as u32 })
    }

    pub(super) fn places(&self) -> TreePlaces {
        let longest = self.shape.iter().flat_map(|shape| shape.parts.iter().map(|part| part.leaf.len())).max().unwrap_or(1);
        let recent = || vec![(0, u32::MAX); RECENT].into_boxed_slice();
        TreePlaces {
            parts: vec![NodeSeat::default(); self.parts.len()],
            sides: Default::default(),
            value: vec![0; longest],
            recent: [recent(), recent()],
            present: vec![u64::MAX; PRESENT].into_boxed_slice(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.parts.iter().chain(&self.sides).map(Nodes::bytes).sum::<usize>() + self.pairs.bytes()
    }

    /// Makes room for `more` values of every part and side; false if there is none.
    pub(super) fn reserve(&mut self, more: usize, account: &dyn Account) -> bool {
        let Some(shape) = &self.shape else { return false };
        let parts = self.parts.iter_mut().zip(&shape.parts).filter(|(_, part)| !part.plain);
        parts.map(|(nodes, _)| nodes).chain(&mut self.sides).all(|nodes| nodes.reserve(more, account))
    }

    /// A source, with the words of its sides.
    #[inline]
    pub(super) fn known(&self, left: u32, right: u32) -> Job {
        let side = |side: usize, number: u32| (self.sides[side].word(number), 0);
        Job { sides: [side(0, left), side(1, right)], numbers: [Some(left), Some(right)], known: true, present: false }
    }

    /// Finds the words of a candidate's sides, and prefetches the places of their numbers. `source` is the state it
    /// differs from in the words that the step names.
    #[inline]
    pub(super) fn begin(&self, places: &mut TreePlaces, source: Option<&Job>, steps: &Steps, index: usize, insert: bool) -> Result<Job, Crowded> {
        let state = steps.states.get(index);
        let Some(shape) = &self.shape else {
            let mut value = [0];
            self.all.read(state, &mut value);
            let (low, high) = halves(self.bits);
            let numbers = [Some((value[0] >> low) as u32 & ones(high)), Some(scramble(value[0] as u32 & ones(low), low))];
            return Ok(Job { sides: Default::default(), numbers, known: true, present: false });
        };
        let changed = if source.is_some() { steps.changed[index] } else { u64::MAX };
        let mut job = source.copied().unwrap_or(Job { numbers: [None; 2], known: true, present: false, sides: Default::default() });
        for (at, side) in shape.sides.iter().enumerate() {
            if source.is_some() && side.words & changed == 0 {
                continue;
            }
            let old = job.sides[at].0;
            let mut word = old;
            for at in side.parts.clone() {
                let part = &shape.parts[at];
                if part.words & changed == 0 {
                    continue;
                }
                let value = &mut places.value[..part.leaf.len()];
                part.leaf.read(state, value);
                let before = part.field(old);
                let field = if part.plain {
                    value[0]
                } else if source.is_some() && self.parts[at].is(before as u32, value) {
                    before
                } else {
                    match self.parts[at].number(&mut places.parts[at], value, mix(value), insert) {
                        Number::Is(number) => u64::from(number),
                        Number::Crowded => return Err(Crowded),
                        Number::Absent => {
                            job.known = false;
                            return Ok(job);
                        }
                    }
                };
                word ^= (before ^ field) << part.shift;
            }
            if source.is_none() || word != old {
                let hash = mix(&[word]);
                job.sides[at] = (word, hash);
                let (recent, number) = places.recent[at][hash as usize % RECENT];
                job.numbers[at] = (recent == word && number != u32::MAX).then_some(number);
                if job.numbers[at].is_none() {
                    self.sides[at].prefetch_place(hash);
                }
            }
        }
        Ok(job)
    }

    /// Finds the numbers of the jobs' sides and asks for the places of their pairs.
    pub(super) fn finish(&self, places: &mut TreePlaces, jobs: &mut [Job], insert: bool) -> Result<(), Crowded> {
        for (at, nodes) in self.sides.iter().enumerate() {
            for job in jobs.iter().filter(|job| job.known && job.numbers[at].is_none()) {
                nodes.prefetch_likely(job.sides[at].1);
            }
        }
        for job in jobs.iter_mut().filter(|job| job.known) {
            for (at, nodes) in self.sides.iter().enumerate() {
                if job.numbers[at].is_none() {
                    let (word, hash) = job.sides[at];
                    match nodes.number(&mut places.sides[at], &[word], hash, insert) {
                        Number::Is(number) => {
                            job.numbers[at] = Some(number);
                            places.recent[at][hash as usize % RECENT] = (word, number);
                        }
                        Number::Crowded => return Err(Crowded),
                        Number::Absent => job.known = false,
                    }
                }
            }
            if let Some((left, right)) = job.pair() {
                job.present = places.present[place_of(left, right)] == joined(left, right);
                if !job.present {
                    self.pairs.prefetch(left, right);
                }
            }
        }
        Ok(())
    }
}

impl Job {
    /// Nothing is asked.
    pub(super) fn none() -> Self {
        Job { sides: Default::default(), numbers: [None; 2], known: false, present: false }
    }

    /// One that is in the tree.
    pub(super) fn met() -> Self {
        Job { present: true, ..Job::none() }
    }

    /// The pair, if both numbers are known.
    #[inline]
    pub(super) fn pair(&self) -> Option<(u32, u32)> {
        if self.known { self.numbers[0].zip(self.numbers[1]) } else { None }
    }
}

/// A pair as one number. None is all ones: numbers end before.
#[inline]
pub(super) fn joined(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The place of a recently found pair.
#[inline]
pub(super) fn place_of(left: u32, right: u32) -> usize {
    (joined(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % PRESENT
}

/// Puts states together, each from the one before, so that shared parts are already in place.
pub(super) struct Reading {
    state: Vec<Word>,
    /// The last contents of each part's field.
    last: Vec<Option<u64>>,
}

impl Reading {
    pub(super) fn new(tree: &Tree, width: usize) -> Self {
        Reading { state: vec![0; width], last: vec![None; tree.parts.len()] }
    }

    /// The state of a record.
    pub(super) fn read(&mut self, tree: &Tree, entry: Entry) -> &[Word] {
        let Some(shape) = &tree.shape else {
            let low = halves(tree.bits).0;
            tree.all.write(&[u64::from(unscramble(entry.right, low)) | u64::from(entry.left) << low], &mut self.state);
            return &self.state;
        };
        for (at, (side, number)) in shape.sides.iter().zip([entry.left, entry.right]).enumerate() {
            let word = tree.sides[at].word(number);
            for part in side.parts.clone() {
                let field = shape.parts[part].field(word);
                if self.last[part].replace(field) != Some(field) {
                    let leaf = &shape.parts[part].leaf;
                    if shape.parts[part].plain {
                        leaf.write(&[field], &mut self.state);
                    } else {
                        leaf.write(tree.parts[part].value(field as u32), &mut self.state);
                    }
                }
            }
        }
        &self.state
    }
}

/// Bits of the low and the high half of a state that needs no tree.
fn halves(bits: u32) -> (u32, u32) {
    (bits.min(32), bits.saturating_sub(32))
}

fn ones(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// A permutation of the numbers of `bits` bits: multiply, fold, multiply.
fn scramble(value: u32, bits: u32) -> u32 {
    let half = bits.div_ceil(2);
    let product = value.wrapping_mul(0x9E37_79B1) & ones(bits);
    (product ^ product >> half).wrapping_mul(0x85EB_CA77) & ones(bits)
}

/// The inverse of [`scramble`].
fn unscramble(value: u32, bits: u32) -> u32 {
    let half = bits.div_ceil(2);
    // The low half of an inverse among numbers of 64 bits is the inverse among those of 32.
    let (first, second) = const { (inverse(0x9E37_79B1) as u32, inverse(0x85EB_CA77) as u32) };
    let folded = value.wrapping_mul(second) & ones(bits);
    // Folding by half of the bits or more undoes itself.
    (folded ^ folded >> half).wrapping_mul(first) & ones(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambling_is_one_to_one() {
        for bits in [0, 1, 2, 7, 16, 31, 32] {
            for number in 0..70_000u32 {
                let value = number.wrapping_mul(0x0101_6B55) & ones(bits);
                assert_eq!(unscramble(scramble(value, bits), bits), value);
                assert!(scramble(value, bits) <= ones(bits));
            }
        }
    }
}
