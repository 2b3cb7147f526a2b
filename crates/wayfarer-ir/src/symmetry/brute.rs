//! Orbits by brute force: every permutation, applied by walking the types. The reference for the tables, in tests.

use crate::code::TypeId;
use crate::packing::ones;
use crate::program::Program;
use crate::types::{Scalar, Type};
use std::collections::BTreeMap;
use wayfarer_space::Word;

/// A permutation of each set's elements: the image of each.
pub type Permutation = BTreeMap<u32, Vec<u64>>;

/// All permutations of a program's scalarsets, the identity first. There are many: the scalarsets must be small.
pub fn permutations(program: &Program) -> Vec<Permutation> {
    let scalars = program.types.iter().filter_map(Type::scalar);
    let sets: BTreeMap<u32, u64> = scalars.flat_map(|scalar| &scalar.elements).map(|part| (part.set, part.count)).collect();
    let mut all = vec![Permutation::new()];
    for (set, count) in sets {
        let orders = orders(count);
        let with =
            |made: &Permutation, order: &Vec<u64>| made.iter().map(|(set, order)| (*set, order.clone())).chain([(set, order.clone())]).collect();
        all = all.iter().flat_map(|made| orders.iter().map(move |order| with(made, order))).collect();
    }
    all
}

fn orders(count: u64) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for value in 0..count {
        all = all.into_iter().flat_map(|order| (0..=order.len()).rev().map(move |at| [&order[..at], &[value], &order[at..]].concat())).collect();
    }
    all
}

/// The state with every element replaced by its image.
pub fn permute(program: &Program, state: &[Word], by: &Permutation) -> Vec<Word> {
    let mut out = vec![0; state.len()];
    for variable in &program.variables {
        permuted(program, variable.ty, state, variable.offset as usize, by, &mut out, variable.offset as usize);
    }
    out
}

fn load(words: &[Word], bit: usize, bits: u32) -> u64 {
    words[bit / 64] >> (bit % 64) & ones(bits)
}

fn store(words: &mut [Word], bit: usize, value: u64) {
    words[bit / 64] |= value << (bit % 64);
}

/// The image of a value, counted from the type's smallest.
fn image(scalar: &Scalar, value: u64, by: &Permutation) -> u64 {
    let part = scalar.elements.iter().find(|part| (part.first..part.first + part.count).contains(&value));
    part.map_or(value, |part| part.first + by[&part.set][(value - part.first) as usize])
}

/// Adds the permuted object at `from` in `state` to `out`, which is zero there.
fn permuted(program: &Program, ty: TypeId, state: &[Word], from: usize, by: &Permutation, out: &mut [Word], to: usize) {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => {
            let stored = load(state, from, u32::from(scalar.bits));
            let undefined = u64::from(scalar.undefinable);
            store(out, to, if stored < undefined { stored } else { image(scalar, stored - undefined, by) + undefined });
        }
        Type::Record { fields, .. } => {
            fields.iter().for_each(|field| permuted(program, field.ty, state, from + field.offset as usize, by, out, to + field.offset as usize));
        }
        Type::Array { index, element, stride, count, .. } => {
            let Some(index) = program.types[index.0 as usize].scalar() else { return };
            for part in 0..u64::from(*count) {
                let (old, new) = (part as usize * *stride as usize, image(index, part, by) as usize * *stride as usize);
                permuted(program, *element, state, from + old, by, out, to + new);
            }
        }
        Type::Bag { element, stride, capacity, element_at, slot_bits, .. } => {
            let words = slot_bits.div_ceil(64) as usize;
            let mut slots: Vec<Vec<Word>> = Vec::new();
            for slot in (0..*capacity as usize).map(|slot| from + slot * *stride as usize) {
                let mut made = vec![0; words];
                if load(state, slot, 1) == 1 {
                    made[0] |= 1;
                    permuted(program, *element, state, slot + *element_at as usize, by, &mut made, *element_at as usize);
                }
                made.reverse();
                slots.push(made);
            }
            slots.sort_by(|a, b| b.cmp(a));
            for (number, slot) in slots.iter().enumerate() {
                let at = to + number * *stride as usize;
                slot.iter().rev().enumerate().for_each(|(word, value)| store(out, at + 64 * word, *value));
            }
        }
    }
}
