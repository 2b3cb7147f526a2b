//! The shape of a tree: which bits of a state lie together in a leaf, and which parts are paired.
//!
//! Compression lives from parts that vary independently of each other: if they are well chosen, the two parts under the root have few values, and all
//! combinations of them are told by two small numbers. Which parts these are is not known when a run begins, so the shape is learnt: from a sample of stored
//! states, the two parts whose joint values are fewest are joined, until two are left (agglomerative clustering; the number of values in the whole space is
//! estimated from the sample by Chao's estimator). Laarman's tree pairs neighbours.

#![allow(unsafe_code)] // Calling code for instructions that were found at run time.

/// A slice of a state that is never cut: at most [`SLICE`] of the bits that carry information in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    word: usize,
    mask: u64,
}

/// A part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Which words of the working layout it has bits of, as in `Steps::changed`.
    pub(super) words: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// At most 64 bits, kept as they are: its slices of the state.
    Leaf(Leaf),
    /// Two parts, by their numbers.
    Pair(usize, usize),
}

/// The slices that make a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf(Vec<Unit>);

/// Which parts there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) positions: Vec<Position>,
    /// The parts under the root.
    pub(super) top: [usize; 2],
}

/// The most bits of a slice.
const SLICE: u32 = 16;
/// The most slices whose every pair is looked at.
const MOST: usize = 96;

impl Leaf {
    /// All bits of a state that has no more than 64.
    pub(super) fn of_all(masks: &[u64]) -> Self {
        Leaf(masks.iter().enumerate().filter(|(_, mask)| **mask != 0).map(|(word, mask)| Unit { word, mask: *mask }).collect())
    }

    /// The leaf's bits in a state.
    #[inline]
    pub(super) fn read(&self, state: &[u64]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: this machine has the instruction.
            return unsafe { self.read_fast(state) };
        }
        self.read_by(state, extract)
    }

    /// Puts the leaf's bits into a state.
    #[inline]
    pub(super) fn write(&self, value: u64, state: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: this machine has the instruction.
            return unsafe { self.write_fast(value, state) };
        }
        self.write_by(value, state, deposit);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn read_fast(&self, state: &[u64]) -> u64 {
        self.read_by(state, |value, mask| std::arch::x86_64::_pext_u64(value, mask))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn write_fast(&self, value: u64, state: &mut [u64]) {
        self.write_by(value, state, |value, mask| std::arch::x86_64::_pdep_u64(value, mask));
    }

    #[inline(always)]
    fn read_by(&self, state: &[u64], extract: impl Fn(u64, u64) -> u64) -> u64 {
        let (mut value, mut filled) = (0, 0);
        for unit in &self.0 {
            value |= extract(state[unit.word], unit.mask) << filled;
            filled += unit.mask.count_ones();
        }
        value
    }

    #[inline(always)]
    fn write_by(&self, mut value: u64, state: &mut [u64], deposit: impl Fn(u64, u64) -> u64) {
        for unit in &self.0 {
            let word = &mut state[unit.word];
            *word = *word & !unit.mask | deposit(value, unit.mask);
            value = value.checked_shr(unit.mask.count_ones()).unwrap_or(0);
        }
    }
}

/// Gathers the bits of `value` under `mask` into the low bits.
fn extract(value: u64, mut mask: u64) -> u64 {
    let (mut result, mut at) = (0, 0);
    while mask != 0 {
        result |= (value >> mask.trailing_zeros() & 1) << at;
        at += 1;
        mask &= mask - 1;
    }
    result
}

/// Scatters the low bits of `value` to the bits of `mask`.
fn deposit(mut value: u64, mut mask: u64) -> u64 {
    let mut result = 0;
    while mask != 0 {
        result |= (value & 1) << mask.trailing_zeros();
        value >>= 1;
        mask &= mask - 1;
    }
    result
}

/// A part while a shape is being made.
struct Part {
    words: u64,
    bits: u32,
    /// Levels of pairs in it.
    height: u32,
    tree: Grown,
    /// The sample's values here, numbered.
    values: Vec<u32>,
}

enum Grown {
    Leaf(Vec<Unit>),
    Pair(Box<(Part, Part)>),
}

impl Shape {
    /// Pairs neighbours, for states of more than 64 bits whose words have the given masks.
    pub(super) fn balanced(masks: &[u64]) -> Self {
        let mut parts = units(masks);
        while parts.len() > 2 {
            parts = halved(parts);
        }
        Shape::of(parts)
    }

    /// Learns from states that lie one after another.
    pub(super) fn learnt(masks: &[u64], sample: &[u64]) -> Self {
        let stride = masks.len();
        let count = sample.len() / stride;
        let mut parts = units(masks);
        let mut joiner = Joiner::new(count);
        for part in &mut parts {
            let Grown::Leaf(units) = &part.tree else { continue };
            let Unit { word, mask } = units[0];
            part.values = joiner.number(sample.chunks(stride).map(|state| state[word] & mask));
        }
        // What never varied in the sample needs no thought: it is one part, balanced.
        let (mut fixed, mut parts): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.values.iter().all(|value| *value == 0));
        while fixed.len() > 1 {
            fixed = halved(fixed);
            fixed.iter_mut().for_each(|part| part.values = vec![0; count]);
        }
        parts.append(&mut fixed);
        let mut at = 0;
        while parts.len() > MOST && at + 1 < parts.len() {
            // Too many to look at every pair: neighbours are joined first.
            let second = parts.remove(at + 1);
            let first = parts.remove(at);
            parts.insert(at, joiner.join(first, second));
            at = (at + 1) % (parts.len() - 1).max(1);
        }
        let mut joint: Vec<Vec<f64>> = Vec::new();
        for first in 0..parts.len() {
            joint.push((0..first).map(|second| joiner.estimate(&parts[first], &parts[second])).collect());
        }
        while parts.len() > 2 {
            let (mut best, mut least) = ((1, 0), f64::INFINITY);
            for (first, row) in joint.iter().enumerate() {
                for (second, estimate) in row.iter().enumerate() {
                    if *estimate < least {
                        (best, least) = ((first, second), *estimate);
                    }
                }
            }
            let (first, second) = best;
            let removed = parts.remove(first);
            joint.remove(first);
            for row in joint.iter_mut().skip(first) {
                row.remove(first);
            }
            let other =
                std::mem::replace(&mut parts[second], Part { words: 0, bits: 0, height: 0, tree: Grown::Leaf(Vec::new()), values: Vec::new() });
            parts[second] = joiner.join(other, removed);
            for at in 0..parts.len() {
                if at != second {
                    let estimate = joiner.estimate(&parts[at], &parts[second]);
                    joint[at.max(second)][at.min(second)] = estimate;
                }
            }
        }
        // The left number stands in every slot in full and the right one only in part: the fewer values go left.
        if joiner.distinct(&parts[0]) > joiner.distinct(&parts[1]) {
            parts.swap(0, 1);
        }
        Shape::of(parts)
    }

    fn of(parts: Vec<Part>) -> Self {
        let mut positions = Vec::new();
        let top: Vec<usize> = parts.into_iter().map(|part| place(part, &mut positions)).collect();
        Shape { positions, top: [top[0], top[1]] }
    }
}

fn place(part: Part, positions: &mut Vec<Position>) -> usize {
    let kind = match part.tree {
        Grown::Leaf(units) => Kind::Leaf(Leaf(units)),
        Grown::Pair(pair) => {
            let left = place(pair.0, positions);
            Kind::Pair(left, place(pair.1, positions))
        }
    };
    positions.push(Position { words: part.words, kind });
    positions.len() - 1
}

/// All slices of a state, each a part.
fn units(masks: &[u64]) -> Vec<Part> {
    let mut parts = Vec::new();
    for (word, mask) in masks.iter().enumerate() {
        let (bits, mut rest) = (mask.count_ones(), *mask);
        let pieces = bits.div_ceil(SLICE);
        for piece in 0..pieces {
            let count = bits * (piece + 1) / pieces - bits * piece / pieces;
            let slice = deposit(u64::MAX >> (64 - count), rest);
            rest &= !slice;
            parts.push(Part {
                words: 1 << word.min(63),
                bits: count,
                height: 0,
                tree: Grown::Leaf(vec![Unit { word, mask: slice }]),
                values: Vec::new(),
            });
        }
    }
    parts
}

/// Joins neighbours.
fn halved(parts: Vec<Part>) -> Vec<Part> {
    let mut halved = Vec::with_capacity(parts.len() / 2 + 1);
    let mut rest = parts.into_iter();
    while let Some(first) = rest.next() {
        halved.push(match rest.next() {
            Some(second) => join(first, second),
            None => first,
        });
    }
    halved
}

fn join(first: Part, second: Part) -> Part {
    let (words, bits) = (first.words | second.words, first.bits + second.bits);
    let mut height = 0;
    let tree = match (first.tree, second.tree) {
        (Grown::Leaf(mut units), Grown::Leaf(more)) if bits <= 64 => {
            units.extend(more);
            Grown::Leaf(units)
        }
        (one, other) => {
            height = first.height.max(second.height) + 1;
            let part = |tree, words, bits| Part { words, bits, height: 0, tree, values: Vec::new() };
            Grown::Pair(Box::new((part(one, first.words, first.bits), part(other, second.words, second.bits))))
        }
    };
    Part { words, bits, height, tree, values: Vec::new() }
}

/// Numbers joint values by a small table that is used again and again.
struct Joiner {
    table: Vec<(u64, u32)>,
    counts: Vec<u32>,
}

impl Joiner {
    fn new(sample: usize) -> Self {
        Joiner { table: vec![(0, 0); (2 * sample).next_power_of_two()], counts: Vec::new() }
    }

    /// Numbers values in the order of their first appearance, and counts each.
    fn number(&mut self, values: impl Iterator<Item = u64>) -> Vec<u32> {
        let mut numbers = Vec::new();
        self.count(values, |number| numbers.push(number));
        numbers
    }

    fn count(&mut self, values: impl Iterator<Item = u64>, mut each: impl FnMut(u32)) {
        self.table.fill((0, 0));
        self.counts.clear();
        let mask = self.table.len() - 1;
        for value in values {
            let mut at = (value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
            let number = loop {
                let (known, number) = self.table[at];
                if number == 0 {
                    self.counts.push(0);
                    self.table[at] = (value, self.counts.len() as u32);
                    break self.counts.len() as u32 - 1;
                }
                if known == value {
                    break number - 1;
                }
                at = (at + 1) & mask;
            };
            self.counts[number as usize] += 1;
            each(number);
        }
    }

    /// How many values there are in the whole, from those counted in the sample (Chao 1984).
    fn chao(&self) -> f64 {
        let once = self.counts.iter().filter(|count| **count == 1).count() as f64;
        let twice = self.counts.iter().filter(|count| **count == 2).count() as f64;
        self.counts.len() as f64 + once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }

    fn estimate(&mut self, first: &Part, second: &Part) -> f64 {
        self.count(first.values.iter().zip(&second.values).map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)), |_| ());
        // A level more costs time whenever something below it changes, so that among about equals the flatter is better.
        self.chao() * (1.0 + 0.04 * f64::from(first.height.max(second.height)))
    }

    fn distinct(&mut self, part: &Part) -> usize {
        self.count(part.values.iter().map(|value| u64::from(*value)), |_| ());
        self.chao() as usize
    }

    fn join(&mut self, first: Part, second: Part) -> Part {
        let values = self.number(first.values.iter().zip(&second.values).map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)));
        let mut part = join(first, second);
        part.values = values;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn every_bit_lies_in_one_leaf() {
        let mut rng = Rng::new(4, "shape");
        for words in [2, 3, 9, 64, 150] {
            let masks: Vec<u64> = (0..words).map(|_| rng.next_word() | 1 | 1 << 63).collect();
            let mut draw = || masks.iter().map(|mask| rng.next_word() & mask).collect::<Vec<_>>();
            let sample: Vec<u64> = (0..40).flat_map(|_| draw()).collect();
            for shape in [Shape::balanced(&masks), Shape::learnt(&masks, &sample)] {
                let state = draw();
                let mut left = masks.clone();
                let mut back = vec![u64::MAX; words];
                for position in &shape.positions {
                    let Kind::Leaf(leaf) = &position.kind else { continue };
                    for unit in &leaf.0 {
                        assert_eq!(left[unit.word] & unit.mask, unit.mask);
                        left[unit.word] &= !unit.mask;
                    }
                    leaf.write(leaf.read(&state), &mut back);
                    assert_eq!(leaf.read_by(&state, extract), leaf.read(&state));
                }
                assert!(left.iter().all(|mask| *mask == 0));
                assert!(back.iter().zip(&state).zip(&masks).all(|((back, state), mask)| back & mask == *state));
            }
        }
    }

    #[test]
    fn parts_that_depend_on_each_other_are_joined() {
        // Words 0 and 3 are equal, and so are 1 and 2; the two kinds are independent.
        let mut rng = Rng::new(5, "shape");
        let masks = vec![0xFFFF; 4];
        let mut sample = Vec::new();
        for _ in 0..2_000 {
            let (a, b) = (rng.below(200), rng.below(200));
            sample.extend([a, b, b, a]);
        }
        let shape = Shape::learnt(&masks, &sample);
        let mut tops: Vec<u64> = shape.top.iter().map(|top| shape.positions[*top].words).collect();
        tops.sort_unstable();
        assert_eq!(tops, [0b0110, 0b1001]);
    }
}
