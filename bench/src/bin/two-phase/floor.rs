//! What any checker must do at least over packed states: take actions, make successors, and look for their words in a set. No properties, no witnesses, no budget.

use crate::plain::{Plain, State};
use hashbrown::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use wayfarer::model::Packed;
use wayfarer::prelude::*;

/// How many states there are.
pub(crate) fn explore<const N: usize>() -> u64 {
    let model = Plain::<N>;
    let mut queue: Vec<u64> = Model::initial(&model).iter().map(Packed::word).collect();
    let mut known: HashSet<u64, BuildHasherDefault<Fold>> = queue.iter().copied().collect();
    let (mut next, mut actions) = (0, Vec::new());
    while let Some(word) = queue.get(next) {
        let state = State::<N>::from_word(*word);
        next += 1;
        actions.clear();
        Model::actions(&model, &state, &mut actions);
        for action in &actions {
            if let Some(successor) = Model::next(&model, &state, action) {
                let word = successor.word();
                if known.insert(word) {
                    queue.push(word);
                }
            }
        }
    }
    queue.len() as u64
}

/// One multiplication, folded: as fast as a hash for a table can be.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * u128::from(0xD6E8_FEB8_6659_FD93u64);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) fn typed<const N: usize>(mode: u32) -> u64 {
    use crate::loose::Loose;
    use wayfarer::model::{BySerde, Coded};
    use wayfarer::space::hash;
    let model = Loose(N);
    let mut stack = Model::initial(&model);
    let mut known: HashSet<u64, BuildHasherDefault<Fold>> = Default::default();
    let mut actions = Vec::new();
    let mut words = Vec::new();
    let mut sum = 0u64;
    let mut exp = 0;
    let mut props = Properties::<Loose>::default();
    Model::properties(&model, &mut props);
    while let Some(state) = stack.pop() {
        exp += 1;
        actions.clear();
        Model::actions(&model, &state, &mut actions);
        for action in &actions {
            if let Some(successor) = Model::next(&model, &state, action) {
                <_ as Coded<BySerde>>::encode_to(&successor, &mut words);
                let h = hash(&words);
                if mode == 3 {
                    for _ in 0..2 {
                    let again = Model::next(&model, &state, action).unwrap();
                    sum += std::hint::black_box(&again) as *const _ as u64;
                    }
                }
                if mode == 2 {
                    for _ in 0..2 {
                    <_ as Coded<BySerde>>::encode_to(&successor, &mut words);
                    sum += hash(&words).fingerprint() as u64;
                    }
                }
                let w = h.address();
                if known.insert(w) {
                    stack.push(successor);
                }
            }
        }
    }
    std::hint::black_box(sum);
    exp
}
