//! Decides which bits of a state make which part of its tree.
//!
//! The tree has three levels. A state is the pair of its two *sides*. A side is a word of *fields*. A field holds the
//! number of a *part*, or the part's bits themselves if they fit. A tree pays if its parts have few values: if they are
//! well chosen, the two sides have few values too, and every combination of them is a pair of small numbers. Good parts
//! are not known when a run begins, so the shape is learnt from a sample of stored states. The two slices with the
//! fewest joint values are joined, again and again (agglomerative clustering; the number of values in the whole space
//! is estimated from the sample by Chao's estimator), as long as the joint values are few enough to be kept whole. The
//! resulting parts are dealt to the sides in the same way, and moved from one side to the other while that leaves fewer
//! values. Laarman's tree pairs neighbours and has as many levels as that takes.

#![allow(unsafe_code)] // Calling code for instructions that were found at run time.

use std::ops::Range;

/// Bits of a word of the working layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    word: usize,
    mask: u64,
}

/// Slices of a state, as words without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The slices, and at which bit each begins.
    units: Vec<(Unit, u32)>,
    /// Bits in all.
    bits: u32,
}

/// A part of the state and its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Which words of the working layout it has bits of, as in `Steps::changed`.
    pub(super) words: u64,
    pub(super) leaf: Leaf,
    /// The position of its field in the side's word.
    pub(super) shift: u32,
    /// How many bits the field has.
    pub(super) width: u32,
    /// Whether the field holds the part's bits and not their number.
    pub(super) plain: bool,
}

/// One of the two sides: its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) words: u64,
    pub(super) parts: Range<usize>,
}

/// Which parts there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) parts: Vec<Part>,
    pub(super) sides: [Side; 2],
}

/// The most bits of a slice that is never cut.
const SLICE: u32 = 16;
/// The most slices whose every pair is looked at.
const MOST: usize = 96;
/// The most values that a part may have by the sample and still be kept whole.
const WHOLE: f64 = 600.0;
/// The most bits of a number.
const NUMBER: u32 = 32;

impl Leaf {
    /// All bits of a state.
    pub(super) fn of_all(masks: &[u64]) -> Self {
        Leaf::of(masks.iter().enumerate().filter(|(_, mask)| **mask != 0).map(|(word, mask)| Unit { word, mask: *mask }).collect())
    }

    /// Slices in any order, those of one word joined.
    fn of(mut slices: Vec<Unit>) -> Self {
        slices.sort_by_key(|unit| unit.word);
        let mut units: Vec<(Unit, u32)> = Vec::new();
        let mut bits = 0;
        for slice in slices {
            bits += slice.mask.count_ones();
            match units.last_mut() {
                Some((unit, _)) if unit.word == slice.word => unit.mask |= slice.mask,
                _ => units.push((slice, 0)),
            }
        }
        let mut at = 0;
        for (unit, begin) in &mut units {
            *begin = at;
            at += unit.mask.count_ones();
        }
        Leaf { units, bits }
    }

    /// How many words it has; at least one.
    pub(super) fn len(&self) -> usize {
        self.bits.div_ceil(64).max(1) as usize
    }

    /// Writes the leaf's bits in a state to `value`, which has [`len`](Leaf::len) words.
    #[inline]
    pub(super) fn read(&self, state: &[u64], value: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: this machine has the instruction.
            return unsafe { self.read_fast(state, value) };
        }
        self.read_by(state, value, extract);
    }

    /// Puts the leaf's bits into a state.
    #[inline]
    pub(super) fn write(&self, value: &[u64], state: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: this machine has the instruction.
            return unsafe { self.write_fast(value, state) };
        }
        self.write_by(value, state, deposit);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn read_fast(&self, state: &[u64], value: &mut [u64]) {
        self.read_by(state, value, |value, mask| std::arch::x86_64::_pext_u64(value, mask));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,popcnt")]
    fn write_fast(&self, value: &[u64], state: &mut [u64]) {
        self.write_by(value, state, |value, mask| std::arch::x86_64::_pdep_u64(value, mask));
    }

    #[inline(always)]
    fn read_by(&self, state: &[u64], value: &mut [u64], extract: impl Fn(u64, u64) -> u64) {
        if let [only] = value {
            *only = self.units.iter().fold(0, |bits, (unit, begin)| bits | extract(state[unit.word], unit.mask) << begin);
            return;
        }
        value.fill(0);
        for (unit, begin) in &self.units {
            let bits = extract(state[unit.word], unit.mask);
            let (at, shift) = (*begin as usize / 64, begin % 64);
            value[at] |= bits << shift;
            if shift > 0 && at + 1 < value.len() {
                value[at + 1] |= bits >> (64 - shift);
            }
        }
    }

    #[inline(always)]
    fn write_by(&self, value: &[u64], state: &mut [u64], deposit: impl Fn(u64, u64) -> u64) {
        for (unit, begin) in &self.units {
            let (at, shift) = (*begin as usize / 64, begin % 64);
            let mut bits = value[at] >> shift;
            if shift > 0 && at + 1 < value.len() {
                bits |= value[at + 1] << (64 - shift);
            }
            let word = &mut state[unit.word];
            *word = *word & !unit.mask | deposit(bits, unit.mask);
        }
    }
}

impl Part {
    /// The contents of its field in the side's word.
    #[inline]
    pub(super) fn field(&self, side: u64) -> u64 {
        side >> self.shift & (u64::MAX >> (64 - self.width))
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
struct Growing {
    words: u64,
    bits: u32,
    units: Vec<Unit>,
    /// Its parts, if it is no longer a part itself.
    parts: Vec<Growing>,
    /// The sample's values here, numbered.
    values: Vec<u32>,
}

impl Shape {
    /// Neighbours are together, for states of more than 64 bits whose words have the given masks.
    pub(super) fn balanced(masks: &[u64]) -> Self {
        let mut parts = units(masks);
        while parts.len() > 4 {
            parts = halved(parts);
        }
        let right = parts.split_off(parts.len() / 2);
        let width = |part: &Growing| if part.bits <= NUMBER { part.bits } else { NUMBER };
        Shape::of([parts, right].map(|side| side.into_iter().map(|part| (width(&part), part)).collect()))
    }

    /// Learns from states that lie one after another. Fields should have `spare` bits beyond those of the number of values that their parts have by the sample.
    pub(super) fn learnt(masks: &[u64], sample: &[u64], spare: u32) -> Self {
        let stride = masks.len();
        let count = sample.len() / stride;
        let mut parts = units(masks);
        let mut joiner = Joiner::new(count);
        for part in &mut parts {
            let Unit { word, mask } = part.units[0];
            part.values = joiner.number(sample.chunks(stride).map(|state| state[word] & mask));
        }
        // Bits that never varied in the sample make one part.
        let (fixed, mut parts): (Vec<Growing>, Vec<Growing>) = parts.into_iter().partition(|part| part.values.iter().all(|value| *value == 0));
        let fixed = fixed.into_iter().reduce(|first, second| Growing { values: vec![0; count], ..join(first, second) });
        parts.extend(fixed);
        let mut at = 0;
        while parts.len() > MOST && at + 1 < parts.len() {
            // Too many to look at every pair: neighbours are joined first.
            let second = parts.remove(at + 1);
            let first = parts.remove(at);
            parts.insert(at, joiner.join(first, second));
            at = (at + 1) % (parts.len() - 1).max(1);
        }
        let parts = joiner.cluster(parts, 2, WHOLE);
        let wrapped = parts.into_iter().map(|part| Growing {
            words: part.words,
            bits: part.bits,
            units: Vec::new(),
            values: part.values.clone(),
            parts: vec![part],
        });
        let sides = joiner.cluster(wrapped.collect(), 2, f64::INFINITY);
        let mut sides: Vec<Vec<Growing>> = sides.into_iter().map(|side| side.parts).collect();
        sides.resize_with(2, Vec::new);
        joiner.settle(&mut sides);
        // The left number stands in every slot in full and the right one only in part: the fewer values go left.
        if joiner.distinct(&sides[0]) > joiner.distinct(&sides[1]) {
            sides.swap(0, 1);
        }
        let mut sides = sides.into_iter().map(|side| joiner.fit(side, spare));
        Shape::of([(); 2].map(|()| sides.next().unwrap_or_default()))
    }

    /// The shape of these sides: parts with the widths of their fields.
    fn of(sides: [Vec<(u32, Growing)>; 2]) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let sides = sides.map(|side| {
            let from = parts.len();
            let (mut shift, mut words) = (0, 0);
            for (width, part) in side {
                words |= part.words;
                parts.push(Part { words: part.words, leaf: Leaf::of(part.units), shift, width, plain: part.bits <= width });
                shift += width;
            }
            Side { words, parts: from..parts.len() }
        });
        Shape { parts, sides }
    }
}

/// All slices of a state, each a part.
fn units(masks: &[u64]) -> Vec<Growing> {
    let mut parts = Vec::new();
    for (word, mask) in masks.iter().enumerate() {
        let (bits, mut rest) = (mask.count_ones(), *mask);
        let pieces = bits.div_ceil(SLICE);
        for piece in 0..pieces {
            let count = bits * (piece + 1) / pieces - bits * piece / pieces;
            let slice = deposit(u64::MAX >> (64 - count), rest);
            rest &= !slice;
            parts.push(Growing {
                words: 1 << word.min(63),
                bits: count,
                units: vec![Unit { word, mask: slice }],
                parts: Vec::new(),
                values: Vec::new(),
            });
        }
    }
    parts
}

/// Joins neighbours.
fn halved(parts: Vec<Growing>) -> Vec<Growing> {
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

fn join(mut first: Growing, second: Growing) -> Growing {
    first.units.extend(second.units);
    first.parts.extend(second.parts);
    Growing { words: first.words | second.words, bits: first.bits + second.bits, units: first.units, parts: first.parts, values: Vec::new() }
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

    fn estimate(&mut self, first: &Growing, second: &Growing) -> f64 {
        self.count(first.values.iter().zip(&second.values).map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)), |_| ());
        self.chao()
    }

    fn join(&mut self, first: Growing, second: Growing) -> Growing {
        let values = self.number(first.values.iter().zip(&second.values).map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)));
        Growing { values, ..join(first, second) }
    }

    /// Joins the two whose joint values are fewest until `least` are left or all pairs have more than `most` values.
    fn cluster(&mut self, mut parts: Vec<Growing>, least: usize, most: f64) -> Vec<Growing> {
        let mut joint: Vec<Vec<f64>> = Vec::new();
        for first in 0..parts.len() {
            joint.push((0..first).map(|second| self.estimate(&parts[first], &parts[second])).collect());
        }
        while parts.len() > least {
            let (mut best, mut fewest) = ((1, 0), f64::INFINITY);
            for (first, row) in joint.iter().enumerate() {
                for (second, estimate) in row.iter().enumerate() {
                    if *estimate < fewest {
                        (best, fewest) = ((first, second), *estimate);
                    }
                }
            }
            if fewest > most {
                break;
            }
            let (first, second) = best;
            let removed = parts.remove(first);
            joint.remove(first);
            for row in joint.iter_mut().skip(first) {
                row.remove(first);
            }
            let other = parts.remove(second);
            let joined = self.join(other, removed);
            parts.insert(second, joined);
            for at in 0..parts.len() {
                if at != second {
                    joint[at.max(second)][at.min(second)] = self.estimate(&parts[at], &parts[second]);
                }
            }
        }
        parts
    }

    /// Moves parts to the other side while both sides together have fewer values then.
    fn settle(&mut self, sides: &mut [Vec<Growing>]) {
        let mut now = [self.distinct(&sides[0]), self.distinct(&sides[1])];
        for _ in 0..2 * (sides[0].len() + sides[1].len()) {
            let mut best = None;
            for from in 0..2 {
                for at in 0..sides[from].len() {
                    let part = sides[from].remove(at);
                    let left = self.distinct(&sides[from]);
                    sides[1 - from].push(part);
                    let right = self.distinct(&sides[1 - from]);
                    if let Some(part) = sides[1 - from].pop() {
                        sides[from].insert(at, part);
                    }
                    if left + right < 0.98 * best.map_or(now[0] + now[1], |(_, _, sum)| sum) {
                        best = Some((from, at, left + right));
                    }
                }
            }
            let Some((from, at, _)) = best else { return };
            let part = sides[from].remove(at);
            sides[1 - from].push(part);
            now = [self.distinct(&sides[0]), self.distinct(&sides[1])];
        }
    }

    /// How many values some parts have together.
    fn distinct(&mut self, parts: &[Growing]) -> f64 {
        let mut parts = parts.iter();
        let Some(first) = parts.next() else { return 1.0 };
        let mut values = first.values.clone();
        for part in parts {
            values = self.number(values.iter().zip(&part.values).map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)));
        }
        self.count(values.iter().map(|value| u64::from(*value)), |_| ());
        self.chao()
    }

    /// The parts of a side with the widths of their fields, joined if they would not fit a word.
    fn fit(&mut self, mut side: Vec<Growing>, spare: u32) -> Vec<(u32, Growing)> {
        loop {
            let mut widths: Vec<u32> = side
                .iter()
                .map(|part| {
                    let values = self.distinct(std::slice::from_ref(part));
                    ((values.log2().ceil() as u32).saturating_add(spare)).min(NUMBER).min(part.bits)
                })
                .collect();
            if side.iter().map(|part| part.bits).sum::<u32>() <= 64 {
                widths = side.iter().map(|part| part.bits).collect();
            }
            let mut sum: u32 = widths.iter().sum();
            if sum > 64 && side.len() > 2 {
                let fewer = side.len() - 1;
                side = self.cluster(side, fewer, f64::INFINITY);
                continue;
            }
            // Spare bits go to all parts alike.
            while sum < 64 {
                let before = sum;
                for (width, part) in widths.iter_mut().zip(&side) {
                    if sum < 64 && *width < part.bits && *width < NUMBER {
                        *width += 1;
                        sum += 1;
                    }
                }
                if sum == before {
                    break;
                }
            }
            // Parts that are plain are read together.
            let (plain, mut numbered): (Vec<_>, Vec<_>) = widths.into_iter().zip(side).partition(|(width, part)| *width == part.bits);
            numbered.extend(plain.into_iter().reduce(|(width, part), (more, other)| (width + more, join(part, other))));
            return numbered;
        }
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
            for shape in [Shape::balanced(&masks), Shape::learnt(&masks, &sample, 4)] {
                let state = draw();
                let mut left = masks.clone();
                let mut back = vec![u64::MAX; words];
                for Part { leaf, width, .. } in &shape.parts {
                    assert!((1..=64).contains(width));
                    for (unit, _) in &leaf.units {
                        assert_eq!(left[unit.word] & unit.mask, unit.mask);
                        left[unit.word] &= !unit.mask;
                    }
                    let (mut value, mut other) = (vec![0; leaf.len()], vec![0; leaf.len()]);
                    leaf.read(&state, &mut value);
                    leaf.write(&value, &mut back);
                    leaf.read_by(&state, &mut other, extract);
                    assert_eq!(value, other);
                }
                for side in &shape.sides {
                    assert!(shape.parts[side.parts.clone()].iter().map(|part| part.width).sum::<u32>() <= 64);
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
        let shape = Shape::learnt(&masks, &sample, 4);
        let mut tops: Vec<u64> = shape.sides.iter().map(|side| side.words).collect();
        tops.sort_unstable();
        assert_eq!(tops, [0b0110, 0b1001]);
    }
}
