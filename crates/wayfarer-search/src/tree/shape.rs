//! The shape of a tree: which bits of a state lie together in a leaf, and which parts are paired.
//!
//! Compression lives from parts that vary independently of each other: if they are well chosen, the two parts under the root have few values, and all
//! combinations of them are told by two small numbers. Which parts these are is not known when a run begins, so the shape is learnt: from a sample of stored
//! states, the two parts whose joint values are fewest are joined, until two are left (agglomerative clustering; the number of values in the whole space is
//! estimated from the sample by Chao's estimator). Laarman's tree pairs neighbours.

/// A slice of a tight state that is never cut: at most 32 bits of one word of the working layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    at: u32,
    bits: u32,
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
    /// At most 64 bits, kept as they are: its slices of the tight state.
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

/// The most slices whose every pair is looked at.
const MOST: usize = 96;

impl Leaf {
    /// The leaf's bits in a tight state, which is followed by one more word.
    #[inline]
    pub(super) fn read(&self, tight: &[u64]) -> u64 {
        let (mut value, mut filled) = (0, 0);
        for unit in &self.0 {
            value |= unit.read(tight) << filled;
            filled += unit.bits;
        }
        value
    }

    /// Puts the leaf's bits into a tight state.
    #[inline]
    pub(super) fn write(&self, mut value: u64, tight: &mut [u64]) {
        for unit in &self.0 {
            unit.write(value, tight);
            value >>= unit.bits;
        }
    }
}

impl Unit {
    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }

    #[inline]
    fn read(&self, tight: &[u64]) -> u64 {
        let (word, shift) = (self.at as usize / 64, self.at % 64);
        let wide = u128::from(tight[word]) | u128::from(tight[word + 1]) << 64;
        (wide >> shift) as u64 & self.mask()
    }

    #[inline]
    fn write(&self, value: u64, tight: &mut [u64]) {
        let (word, shift) = (self.at as usize / 64, self.at % 64);
        let mask = u128::from(self.mask()) << shift;
        let value = u128::from(value & self.mask()) << shift;
        tight[word] = tight[word] & !(mask as u64) | value as u64;
        if mask >> 64 != 0 {
            tight[word + 1] = tight[word + 1] & !((mask >> 64) as u64) | (value >> 64) as u64;
        }
    }
}

/// A part while a shape is being made.
struct Part {
    words: u64,
    bits: u32,
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
            let mut next = Vec::with_capacity(parts.len() / 2 + 1);
            let mut rest = parts.into_iter();
            while let Some(first) = rest.next() {
                next.push(match rest.next() {
                    Some(second) => join(first, second),
                    None => first,
                });
            }
            parts = next;
        }
        Shape::of(parts)
    }

    /// Learns from tight states of the given stride.
    pub(super) fn learnt(masks: &[u64], sample: &[u64], stride: usize) -> Self {
        let count = sample.len() / stride;
        let mut parts = units(masks);
        let mut joiner = Joiner::new(count);
        for part in &mut parts {
            let Grown::Leaf(units) = &part.tree else { continue };
            let values: Vec<u64> = sample.chunks(stride).map(|tight| units[0].read(tight)).collect();
            part.values = joiner.number(values.into_iter());
        }
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
            let other = std::mem::replace(&mut parts[second], Part { words: 0, bits: 0, tree: Grown::Leaf(Vec::new()), values: Vec::new() });
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
    let mut at = 0;
    for (word, mask) in masks.iter().enumerate() {
        let bits = mask.count_ones();
        let pieces = bits.div_ceil(32);
        for piece in 0..pieces {
            let (from, to) = (bits * piece / pieces, bits * (piece + 1) / pieces);
            let unit = Unit { at: at + from, bits: to - from };
            parts.push(Part { words: 1 << word.min(63), bits: unit.bits, tree: Grown::Leaf(vec![unit]), values: Vec::new() });
        }
        at += bits;
    }
    parts
}

fn join(first: Part, second: Part) -> Part {
    let (words, bits) = (first.words | second.words, first.bits + second.bits);
    let tree = match (first.tree, second.tree) {
        (Grown::Leaf(mut units), Grown::Leaf(more)) if bits <= 64 => {
            units.extend(more);
            Grown::Leaf(units)
        }
        (one, other) => {
            let part = |tree, words, bits| Part { words, bits, tree, values: Vec::new() };
            Grown::Pair(Box::new((part(one, first.words, first.bits), part(other, second.words, second.bits))))
        }
    };
    Part { words, bits, tree, values: Vec::new() }
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
        self.chao()
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

    fn bits_of(shape: &Shape) -> Vec<(u32, u32)> {
        let mut units: Vec<(u32, u32)> = Vec::new();
        for position in &shape.positions {
            if let Kind::Leaf(leaf) = &position.kind {
                units.extend(leaf.0.iter().map(|unit| (unit.at, unit.bits)));
            }
        }
        units.sort_unstable();
        units
    }

    #[test]
    fn every_bit_lies_in_one_leaf() {
        let mut rng = Rng::new(4, "shape");
        for words in [2, 3, 9, 64, 150] {
            let masks: Vec<u64> = (0..words).map(|_| rng.next_word() | 1 | 1 << 63).collect();
            let total: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
            let stride = total.div_ceil(64) as usize + 1;
            let sample: Vec<u64> = (0..stride * 40).map(|at| if at % stride == stride - 1 { 0 } else { rng.next_word() }).collect();
            for shape in [Shape::balanced(&masks), Shape::learnt(&masks, &sample, stride)] {
                let mut next = 0;
                for (at, bits) in bits_of(&shape) {
                    assert_eq!(at, next);
                    next += bits;
                }
                assert_eq!(next, total);
            }
        }
    }

    #[test]
    fn parts_that_depend_on_each_other_are_joined() {
        // Words 0 and 3 are equal, and so are 1 and 2; the two kinds are independent.
        let mut rng = Rng::new(5, "shape");
        let masks = vec![u32::MAX as u64; 4];
        let mut sample = Vec::new();
        for _ in 0..2_000 {
            let (a, b) = (rng.below(200), rng.below(200));
            sample.extend([a | b << 32, b | a << 32, 0]);
        }
        let shape = Shape::learnt(&masks, &sample, 3);
        let mut tops: Vec<u64> = shape.top.iter().map(|top| shape.positions[*top].words).collect();
        tops.sort_unstable();
        assert_eq!(tops, [0b0110, 0b1001]);
    }
}
