//! States that wait to be expanded, tight, first in first out, in segments that are taken and given back as the queue moves on.

use crate::Account;
use std::collections::VecDeque;
use wayfarer_space::{Packing, States, Word};

/// Words of a segment.
const SEGMENT: usize = 1 << 15;

/// A queue of states, each with a number of 32 bits.
pub(crate) struct Queue {
    packing: Packing,
    segments: VecDeque<Box<[Word]>>,
    /// Segments that were emptied; one is kept so that a queue that breathes does not allocate.
    spare: Option<Box<[Word]>>,
    entry: usize,
    per_segment: usize,
    /// Place of the first entry in the first segment, and of the first free one in the last.
    head: usize,
    tail: usize,
    tight: Vec<Word>,
}

impl Queue {
    pub(crate) fn new(packing: Packing) -> Self {
        // The number shares the last word with the state where there is room for it.
        let entry = (packing.bits() + 32).div_ceil(64);
        let tight = vec![0; entry.max(packing.words())];
        Queue { packing, segments: VecDeque::new(), spare: None, entry, per_segment: (SEGMENT / entry).max(1), head: 0, tail: 0, tight }
    }

    /// Appends a state; false where the account has no room.
    pub(crate) fn push(&mut self, state: &[Word], number: u32, account: &dyn Account) -> bool {
        if self.segments.is_empty() || self.tail == self.per_segment {
            let words = self.per_segment * self.entry;
            let segment = match self.spare.take() {
                Some(segment) => segment,
                None if account.allows(words * size_of::<Word>()) => vec![0; words].into_boxed_slice(),
                None => return false,
            };
            self.segments.push_back(segment);
            self.tail = 0;
        }
        self.tight.fill(0);
        self.packing.pack(state, &mut self.tight);
        self.tight[self.entry - 1] |= Word::from(number) << 32;
        let at = self.tail * self.entry;
        if let Some(segment) = self.segments.back_mut() {
            segment[at..at + self.entry].copy_from_slice(&self.tight[..self.entry]);
        }
        self.tail += 1;
        true
    }

    /// Takes the first state out and appends it to `states`; none where the queue is empty.
    pub(crate) fn pop(&mut self, states: &mut States) -> Option<u32> {
        if self.segments.is_empty() || (self.segments.len() == 1 && self.head == self.tail) {
            return None;
        }
        let at = self.head * self.entry;
        let entry = &self.segments.front()?[at..at + self.entry];
        let number = (entry[self.entry - 1] >> 32) as u32;
        self.tight[..self.entry].copy_from_slice(entry);
        self.tight[self.entry - 1] &= Word::from(u32::MAX);
        self.packing.unpack(&self.tight, states.push_dirty(self.packing.masks().len()));
        self.head += 1;
        if self.head == self.per_segment {
            self.head = 0;
            self.spare = self.segments.pop_front();
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::{Rng, Width};

    #[test]
    fn what_goes_in_comes_out_in_order() {
        for masks in [vec![0x1F], vec![u64::MAX], vec![u64::MAX, u64::MAX >> 32], vec![u64::MAX, u64::MAX >> 31], vec![u64::MAX; 5]] {
            let mut rng = Rng::new(9, "queue");
            let mut queue = Queue::new(Packing::new(masks.clone()));
            let mut expected = VecDeque::new();
            let mut states = States::new(Width::Fixed(masks.len()));
            for round in 0..40_000u32 {
                if rng.below(5) < 3 {
                    let state: Vec<Word> = masks.iter().map(|mask| rng.next_word() & mask).collect();
                    assert!(queue.push(&state, round, &Unlimited));
                    expected.push_back((state, round));
                } else {
                    states.clear();
                    let popped = queue.pop(&mut states).map(|number| (states.get(0).to_vec(), number));
                    assert_eq!(popped, expected.pop_front());
                }
            }
        }
    }
}
