//! States that wait to be expanded, tight, first in first out, in segments that are taken and given back as the queue moves on.

use crate::Account;
use crate::exact::varying;
use std::collections::VecDeque;
use wayfarer_space::{Packing, States, Word};

/// Words of a segment.
const SEGMENT: usize = 1 << 15;

/// A queue of states, each with a number of 32 bits.
pub(crate) struct Queue {
    packing: Packing,
    /// Words of an entry; zero where each has its own, which its first word says beside the number.
    entry: usize,
    segments: VecDeque<Segment>,
    /// A segment that was emptied; one is kept so that a queue that breathes does not allocate.
    spare: Option<Box<[Word]>>,
    /// Where the first entry begins in the first segment.
    head: usize,
    /// The entry that is made or read.
    words: Vec<Word>,
    bytes: Vec<u8>,
}

struct Segment {
    words: Box<[Word]>,
    used: usize,
}

impl Queue {
    pub(crate) fn new(packing: Packing) -> Self {
        // The number shares the last word with the state where there is room for it.
        let entry = if packing.is_varying() { 0 } else { (packing.bits() + 32).div_ceil(64) };
        let words = vec![0; entry.max(packing.words())];
        Queue { packing, entry, segments: VecDeque::new(), spare: None, head: 0, words, bytes: Vec::new() }
    }

    /// Appends a state; false where the account has no room.
    pub(crate) fn push(&mut self, state: &[Word], number: u32, account: &dyn Account) -> bool {
        self.make(state, number);
        let words = if self.entry == 0 { self.words.len() } else { self.entry };
        if self.segments.back().is_none_or(|segment| segment.used + words > segment.words.len()) {
            let room = SEGMENT.max(words);
            let segment = match self.spare.take_if(|spare| spare.len() >= words) {
                Some(segment) => segment,
                None if account.allows(room * size_of::<Word>()) => vec![0; room].into_boxed_slice(),
                None => return false,
            };
            self.segments.push_back(Segment { words: segment, used: 0 });
        }
        if let Some(segment) = self.segments.back_mut() {
            segment.words[segment.used..segment.used + words].copy_from_slice(&self.words[..words]);
            segment.used += words;
        }
        true
    }

    /// Makes the entry of a state.
    fn make(&mut self, state: &[Word], number: u32) {
        if self.entry > 0 {
            self.words.fill(0);
            self.packing.pack(state, &mut self.words);
            self.words[self.entry - 1] |= Word::from(number) << 32;
            return;
        }
        self.bytes.clear();
        varying::encode(state, &mut self.bytes);
        self.words.clear();
        self.words.push(Word::from(number) << 32 | self.bytes.len() as Word);
        self.words.extend(self.bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            Word::from_le_bytes(word)
        }));
    }

    /// Takes the first state out and appends it to `states`; none where the queue is empty.
    pub(crate) fn pop(&mut self, states: &mut States) -> Option<u32> {
        let segment = self.segments.front().filter(|segment| self.head < segment.used)?;
        let entry = &segment.words[self.head..segment.used];
        let number;
        if self.entry > 0 {
            let last = self.entry - 1;
            number = (entry[last] >> 32) as u32;
            self.words[..last + 1].copy_from_slice(&entry[..last + 1]);
            self.words[last] &= Word::from(u32::MAX);
            self.packing.unpack(&self.words, states.push_dirty(self.packing.masks().len()));
            self.head += self.entry;
        } else {
            number = (entry[0] >> 32) as u32;
            let words = (entry[0] as u32 as usize).div_ceil(8);
            self.bytes.clear();
            self.bytes.extend(entry[1..1 + words].iter().flat_map(|word| word.to_le_bytes()));
            varying::decode(&self.bytes, states.push_dirty(varying::words(&self.bytes)));
            self.head += 1 + words;
        }
        // The last segment is given up only when another follows it or it has no room, so that a short queue stays where it is.
        if self.head == segment.used && (self.segments.len() > 1 || segment.used + self.entry.max(1) > segment.words.len()) {
            self.head = 0;
            self.spare = self.segments.pop_front().map(|segment| segment.words);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::{Rng, Width};

    /// Pushes and pops at random and compares with a plain queue; pushes win, so that it grows.
    fn compare(packing: Packing, width: Width, mut draw: impl FnMut(&mut Rng) -> Vec<Word>) {
        let mut rng = Rng::new(9, "queue");
        let mut queue = Queue::new(packing);
        let mut expected = VecDeque::new();
        let mut states = States::new(width);
        for round in 0..40_000u32 {
            // Now and then it runs dry.
            if rng.below(5) < 3 && round % 10_000 < 6_000 {
                let state = draw(&mut rng);
                assert!(queue.push(&state, round, &Unlimited));
                expected.push_back((state, round));
            } else {
                states.clear();
                let popped = queue.pop(&mut states).map(|number| (states.get(0).to_vec(), number));
                assert_eq!(popped, expected.pop_front());
            }
        }
    }

    #[test]
    fn what_goes_in_comes_out_in_order() {
        for masks in [vec![0x1F], vec![u64::MAX], vec![u64::MAX, u64::MAX >> 32], vec![u64::MAX, u64::MAX >> 31], vec![u64::MAX; 5]] {
            let width = Width::Fixed(masks.len());
            compare(Packing::new(masks.clone()), width, |rng| masks.iter().map(|mask| rng.next_word() & mask).collect());
        }
    }

    #[test]
    fn states_of_varying_width_come_out_in_order() {
        compare(Packing::varying(), Width::Varying, |rng| {
            let words = if rng.below(2_000) == 0 { SEGMENT + 7 } else { rng.below(65) as usize };
            (0..words).map(|_| rng.next_word() >> rng.below(64)).collect()
        });
    }
}
