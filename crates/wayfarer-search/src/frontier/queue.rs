//! States that wait to be expanded, first in first out, in segments that are taken and given back as the queue moves on.
//!
//! States that were found one after the other are alike. So an entry is the change from the one before it: a bit for each byte of the tight state that
//! differs, and these bytes. Its number is written as the difference from the one before, too. The first entry of a segment differs from zero.

use crate::Account;
use std::collections::VecDeque;
use wayfarer_space::{Packing, States, Word};
use wayfarer_store::varying;

/// Bytes of a segment, if there is memory for it, and the least.
const SEGMENT: usize = 1 << 14;
const LEAST: usize = 1 << 9;
/// The most bytes that a number takes.
const NUMBER: usize = 5;
/// Bytes behind an entry that are written and read with it: a word's bytes are taken eight at a time, whichever differ.
const SLACK: usize = size_of::<Word>();

/// A queue of states, each with a number of 32 bits.
pub(crate) struct Queue {
    packing: Packing,
    segments: VecDeque<Segment>,
    /// A segment that was emptied; one is kept so that a queue that breathes does not allocate.
    spare: Option<Box<[u8]>>,
    /// The position of the first entry in the first segment.
    head: usize,
    /// The last entry that was written, and the last that was read.
    written: Last,
    read: Last,
    words: Vec<Word>,
    /// The form of a state of varying width.
    entry: Vec<u8>,
    /// The bytes of a segment.
    segment: usize,
    /// The part of the level that states are found from.
    origin: u32,
}

/// States one after the other, that can be read without what lies before them.
pub(crate) struct Segment {
    bytes: Box<[u8]>,
    used: usize,
    states: u32,
    /// The part of the level that its first states were found from.
    origin: u32,
}

impl Segment {
    /// The part of the level that its first states were found from.
    pub(crate) fn origin(&self) -> u32 {
        self.origin
    }

    /// How many states it holds.
    pub(crate) fn states(&self) -> u32 {
        self.states
    }

    /// The bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The state from which the next entry is a difference.
#[derive(Clone, Default)]
struct Last {
    tight: Vec<Word>,
    number: u32,
}

impl Last {
    fn clear(&mut self) {
        self.tight.fill(0);
        self.number = 0;
    }
}

impl Queue {
    pub(crate) fn new(packing: Packing) -> Self {
        let last = Last { tight: vec![0; packing.words()], number: 0 };
        let words = vec![0; packing.words()];
        let (segments, entry) = (VecDeque::new(), Vec::new());
        Queue { packing, segments, spare: None, head: 0, written: last.clone(), read: last, words, entry, segment: SEGMENT, origin: 0 }
    }

    /// The same in segments of about `bytes` bytes.
    pub(crate) fn in_segments(self, bytes: usize) -> Self {
        Queue { segment: bytes.clamp(LEAST, SEGMENT), ..self }
    }

    /// States that are appended from now on were found from this part of the level.
    pub(crate) fn found_from(&mut self, origin: u32) {
        self.origin = origin;
    }

    /// Appends a state; false if the account has no room.
    pub(crate) fn push(&mut self, state: &[Word], number: u32, account: &dyn Account) -> bool {
        let most = self.make(state);
        if self.segments.back().is_none_or(|segment| segment.used + NUMBER + most + SLACK > segment.bytes.len()) {
            let room = self.segment.max(NUMBER + most + SLACK);
            let segment = match self.spare.take_if(|spare| spare.len() >= room) {
                Some(segment) => segment,
                None if account.allows(room) => vec![0; room].into_boxed_slice(),
                None => return false,
            };
            self.segments.push_back(Segment { bytes: segment, used: 0, states: 0, origin: self.origin });
            self.written.clear();
        }
        let Some(segment) = self.segments.back_mut() else { return false };
        let mut at = segment.used;
        let change = zigzag(number.wrapping_sub(self.written.number) as i32);
        write_number(change, &mut segment.bytes, &mut at);
        self.written.number = number;
        if self.packing.is_varying() {
            segment.bytes[at..at + self.entry.len()].copy_from_slice(&self.entry);
            at += self.entry.len();
        } else {
            write_change(&mut self.written.tight, &self.words, &mut segment.bytes, &mut at);
        }
        segment.used = at;
        segment.states += 1;
        true
    }

    /// Makes the tight form of a state, and says how many bytes its entry may take.
    fn make(&mut self, state: &[Word]) -> usize {
        if self.packing.is_varying() {
            self.entry.clear();
            self.entry.extend([0; NUMBER]);
            varying::encode(state, &mut self.entry);
            let length = (self.entry.len() - NUMBER) as u32;
            let mut at = 0;
            write_number(length, &mut self.entry, &mut at);
            self.entry.drain(at..NUMBER);
            return self.entry.len();
        }
        self.words.fill(0);
        self.packing.pack(state, &mut self.words);
        self.words.len() * (size_of::<Word>() + 1)
    }

    /// An empty queue like this one.
    pub(crate) fn like(&self) -> Self {
        Queue::new(self.packing.clone()).in_segments(self.segment)
    }

    /// Takes out all segments of a queue that nothing was read from but the one that is being written.
    pub(crate) fn take_full(&mut self) -> impl Iterator<Item = Segment> {
        let full = self.segments.len().saturating_sub(1);
        self.segments.drain(..full)
    }

    /// Takes everything out of a queue that nothing was read from.
    pub(crate) fn take_segments(&mut self) -> impl Iterator<Item = Segment> {
        self.written.clear();
        std::mem::take(&mut self.segments).into_iter().filter(|segment| segment.states > 0)
    }

    /// Puts a segment of another queue into one that was read to its end, and gives back the memory of the last.
    pub(crate) fn load(&mut self, segment: Segment) -> Option<Box<[u8]>> {
        let last = self.segments.pop_front().map(|segment| segment.bytes);
        self.segments.push_back(segment);
        last
    }

    /// Memory to be written next.
    pub(crate) fn reuse(&mut self, bytes: Box<[u8]>) {
        self.spare = Some(bytes);
    }

    /// Takes the first state out and appends it to `states`; none if the queue is empty.
    pub(crate) fn pop(&mut self, states: &mut States) -> Option<u32> {
        let segment = self.segments.front().filter(|segment| self.head < segment.used)?;
        let mut at = self.head;
        let number = self.read.number.wrapping_add(unzigzag(read_number(&segment.bytes, &mut at)) as u32);
        self.read.number = number;
        if self.packing.is_varying() {
            let length = read_number(&segment.bytes, &mut at) as usize;
            let form = &segment.bytes[at..at + length];
            varying::decode(form, states.push_dirty(varying::words(form)));
            at += length;
        } else {
            read_change(&mut self.read.tight, &segment.bytes, &mut at);
            self.packing.unpack(&self.read.tight, states.push_dirty(self.packing.masks().len()));
        }
        self.head = at;
        if at == segment.used {
            if self.segments.len() > 1 {
                self.head = 0;
                self.spare = self.segments.pop_front().map(|segment| segment.bytes);
            } else {
                // A short queue keeps its segment.
                (self.segments[0].used, self.segments[0].states) = (0, 0);
                self.head = 0;
                self.written.clear();
            }
            self.read.clear();
        }
        Some(number)
    }
}

fn zigzag(number: i32) -> u32 {
    (number << 1 ^ number >> 31) as u32
}

fn unzigzag(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

#[inline]
fn write_number(mut number: u32, to: &mut [u8], at: &mut usize) {
    while number >= 0x80 {
        to[*at] = number as u8 | 0x80;
        *at += 1;
        number >>= 7;
    }
    to[*at] = number as u8;
    *at += 1;
}

#[inline]
fn read_number(from: &[u8], at: &mut usize) -> u32 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = from[*at];
        *at += 1;
        number |= u32::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 28 {
            return number;
        }
    }
}

/// Writes the bytes of `tight` that differ from `last`, those of each word behind a byte that says which, and remembers them.
///
/// Which bytes differ cannot be predicted, so there is no branch for each: all eight are written, and the next one goes over those that are the same.
#[inline]
fn write_change(last: &mut [Word], tight: &[Word], to: &mut [u8], at: &mut usize) {
    for (last, word) in last.iter_mut().zip(tight) {
        let mask = differing(*last ^ *word);
        *last = *word;
        to[*at] = mask;
        *at += 1;
        if mask == 0 {
            continue;
        }
        for (bit, byte) in word.to_le_bytes().into_iter().enumerate() {
            to[*at] = byte;
            *at += usize::from(mask >> bit & 1);
        }
    }
}

#[inline]
fn read_change(last: &mut [Word], from: &[u8], at: &mut usize) {
    for last in last {
        let mask = from[*at];
        *at += 1;
        if mask == 0 {
            continue;
        }
        let (mut word, mut changed) = (0, 0);
        for bit in 0..size_of::<Word>() {
            let here = Word::from(mask >> bit & 1);
            word |= (Word::from(from[*at]) * here) << (bit * 8);
            changed |= (0xFF * here) << (bit * 8);
            *at += here as usize;
        }
        *last = *last & !changed | word;
    }
}

/// A bit for each byte that is not zero.
#[inline]
fn differing(word: Word) -> u8 {
    const LOW: Word = 0x7F7F_7F7F_7F7F_7F7F;
    // The highest bit of each such byte, and then all of them moved into the highest byte.
    let set = (((word & LOW) + LOW) | word) & !LOW;
    ((set >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
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
            let words = if rng.below(2_000) == 0 { SEGMENT / 8 + 7 } else { rng.below(65) as usize };
            (0..words).map(|_| rng.next_word() >> rng.below(64)).collect()
        });
    }
}
