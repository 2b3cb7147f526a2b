//! Numbers for 64-bit values: the same value always has the same number. The tree's leaves and inner pairs are kept here, each once.

use crate::Account;
use crate::index::{Found, Index, Means, Seat as IndexSeat};
use crate::records::{Records, Run};
use wayfarer_space::{Hash, hash};

/// Values, each with its number.
pub(super) struct Nodes {
    records: Records,
    index: Index,
}

/// A worker's place at the nodes.
pub(super) struct NodeSeat {
    index: IndexSeat,
    run: Run,
    /// The values that were asked for last, by their hash, so that most questions end here.
    recent: Box<[(u64, u32)]>,
}

/// How many recent values a worker keeps.
const RECENT: usize = 1 << 14;

impl Nodes {
    pub(super) fn new(most: usize, account: &dyn Account) -> Option<Self> {
        let segment = Self::segment(most);
        Some(Nodes { records: Records::of_words(segment, most), index: Index::new(segment.max(1 << 16), account)? })
    }

    /// The bytes that the first node needs.
    pub(super) fn least(most: usize) -> usize {
        let segment = Self::segment(most);
        segment + segment.max(1 << 16)
    }

    fn segment(most: usize) -> usize {
        (most / 1024).clamp(1 << 12, 1 << 16).next_power_of_two()
    }

    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.index.bytes()
    }

    pub(super) fn seat(&self) -> Option<NodeSeat> {
        Some(NodeSeat { index: self.index.seat()?, run: Run::default(), recent: vec![(0, u32::MAX); RECENT].into_boxed_slice() })
    }

    pub(super) fn enter(&self, seat: &NodeSeat) {
        self.index.enter(&seat.index);
    }

    pub(super) fn leave(&self, seat: &NodeSeat) {
        self.index.leave(&seat.index);
    }

    /// The value of a number that was given out.
    #[inline]
    pub(super) fn value(&self, number: u32) -> u64 {
        self.records.word(number)
    }

    /// The number of a value; where it has none yet, a new one if `insert` and there is room.
    #[inline]
    pub(super) fn number(&self, seat: &mut NodeSeat, value: u64, insert: bool, account: &dyn Account) -> Option<u32> {
        let at = (value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % RECENT;
        let (recent, number) = seat.recent[at];
        if recent == value && number != u32::MAX {
            return Some(number);
        }
        let number = self.ask(seat, value, insert, account)?;
        seat.recent[at] = (value, number);
        Some(number)
    }

    fn ask(&self, seat: &mut NodeSeat, value: u64, insert: bool, account: &dyn Account) -> Option<u32> {
        let hash_value = hash(&[value]);
        let same = |number: u32| self.records.word(number) == value;
        if !insert {
            return match self.index.find(hash_value, same) {
                Found::Present(number) => Some(number),
                _ => None,
            };
        }
        let next = match self.records.next(&mut seat.run, account) {
            Some(next) => next,
            None => return self.ask(seat, value, false, account),
        };
        let write = || self.records.write_word(&seat.run, value);
        let means = Means { account, hash_of: &|number| self.hash_of(number), fetch: &|_| () };
        match self.index.find_or_insert(&mut seat.index, hash_value, next, same, write, &means) {
            Found::Present(number) => Some(number),
            Found::Inserted => {
                seat.run.keep();
                Some(next)
            }
            Found::Absent => None,
        }
    }

    fn hash_of(&self, number: u32) -> Hash {
        hash(&[self.records.word(number)])
    }
}
