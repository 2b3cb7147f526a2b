//! The minimum work of any checker: take actions, compute successors, and look up their words in a set. No
//! properties, no witnesses, no budget.

use crate::loose::Loose;
use crate::plain::{Plain, State};
use hashbrown::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use wayfarer::model::{BySerde, Coded, Packed};
use wayfarer::prelude::*;
use wayfarer::space::hash;

/// The number of states, by their packed words.
pub(crate) fn packed<const N: usize>() -> u64 {
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

/// The same over lists and a set: a stack of typed states, which are never decoded, and hashes of their words.
pub(crate) fn by_serde(managers: usize) -> u64 {
    let model = Loose(managers);
    let mut stack = Model::initial(&model);
    let mut known: HashSet<u64, BuildHasherDefault<Fold>> = HashSet::default();
    let (mut actions, mut words) = (Vec::new(), Vec::new());
    let mut is_new = |state: &_| {
        Coded::<BySerde>::encode_to(state, &mut words);
        known.insert(hash(&words).address())
    };
    stack.retain(&mut is_new);
    let mut states = 0;
    while let Some(state) = stack.pop() {
        states += 1;
        actions.clear();
        Model::actions(&model, &state, &mut actions);
        stack.extend(actions.iter().filter_map(|action| Model::next(&model, &state, action)).filter(&mut is_new));
    }
    states
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
