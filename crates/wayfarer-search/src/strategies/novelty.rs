//! Best-first search by novelty: states that show something new are expanded first, all others after them in the order
//! in which they were found. Every state is expanded once, so a search that runs dry has visited everything.
//!
//! Source: Lipovetzky and Geffner 2012, *Width and serialization of classical planning problems* (novelty as the
//! smallest tuple of atoms that occurs for the first time). Departures: the atoms are the bytes of a state and, up to
//! 32 bytes, pairs of them. They are remembered by bits of a hash table, so an atom may be taken for an old one. Nothing
//! is pruned; novelty only decides the order: new single bytes before new pairs before nothing new.

use super::{Nature, Need, Row, SYSTEMATIC, exact};
use crate::{Account, Candidates, Handle, Position, Selection, Stop, Store, Strategy, Visit};
use std::collections::VecDeque;
use wayfarer_space::Word;
use wayfarer_store::spec::{Accepts, Entry, Parameter};

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "novelty",
        help: "best-first: states with values, or pairs of values, that no state before them had",
        parameters: &[Parameter::new("tuple", Accepts::Number(1..=2), "2", "how many values together may be new")],
    },
    store: exact,
    nature: |_| Nature { needs: Need::Recall, counts_depth: false, ..SYSTEMATIC },
    build: |given, site| Box::new(Novelty::new(given.number("tuple") == Some(2), site.account)),
};

/// States of one round.
const BATCH: usize = 16;
/// Bits of the table of pairs.
const PAIRS: usize = 1 << 20;
/// The most bytes of a state whose pairs are looked at.
const WIDEST: usize = 32;
/// Byte positions with a table of their own. Further ones share them.
const POSITIONS: usize = 1 << 10;
/// Queues grow by this many states at a time.
const GROWTH: usize = 1 << 12;

/// Best-first search by novelty.
pub(crate) struct Novelty<'a> {
    account: &'a dyn Account,
    seen: Seen,
    /// States that wait: with nothing new, with a new pair, with a new byte.
    waiting: [VecDeque<Handle>; 3],
    /// States that were selected and not yet dealt with.
    under_way: u64,
    full: bool,
}

impl<'a> Novelty<'a> {
    /// A search that looks at single bytes and, if `pairs`, at pairs of them.
    pub(crate) fn new(pairs: bool, account: &'a dyn Account) -> Self {
        Novelty { account, seen: Seen::new(pairs), waiting: Default::default(), under_way: 0, full: false }
    }

    fn push(&mut self, rank: usize, handle: Handle) {
        let queue = &mut self.waiting[rank];
        if queue.len() == queue.capacity() {
            // A queue that grows is copied.
            if !self.account.allows((queue.len() + GROWTH) * size_of::<Handle>()) {
                self.full = true;
            }
            queue.reserve_exact(GROWTH.max(queue.len() / 2));
        }
        queue.push_back(handle);
    }
}

impl Strategy for Novelty<'_> {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        let Some(queue) = self.waiting.iter_mut().rev().find(|queue| !queue.is_empty()) else { return };
        selection.handles.extend(queue.drain(..queue.len().min(BATCH)));
        store.states(&selection.handles, &mut selection.states);
        self.under_way = selection.handles.len() as u64;
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        self.under_way = 0;
        for handle in selection.handles[kept..].iter().rev() {
            self.waiting[0].push_front(*handle);
        }
        for (index, visit) in visits.iter().enumerate() {
            if let Visit::New(handle) = visit {
                let rank = self.seen.rank(candidates.steps.states.get(index));
                self.push(rank, *handle);
            }
        }
    }
}

impl Position for Novelty<'_> {
    fn depth(&self) -> Option<u32> {
        None
    }

    fn frontier(&self) -> u64 {
        self.waiting.iter().map(|queue| queue.len() as u64).sum::<u64>() + self.under_way
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ended(&self) -> Option<Stop> {
        self.full.then_some(Stop::Memory)
    }

    fn exhaustive(&self) -> bool {
        true
    }
}

/// The bytes and pairs of bytes that occurred so far.
struct Seen {
    /// For each position of a byte, the values it had.
    bytes: Vec<[u64; 4]>,
    /// Bits of pairs, by hash; empty if pairs are not looked at.
    pairs: Vec<u64>,
}

impl Seen {
    fn new(pairs: bool) -> Self {
        Seen { bytes: Vec::new(), pairs: if pairs { vec![0; PAIRS / 64] } else { Vec::new() } }
    }

    /// Notes a state: 2 if it has a new byte, 1 if it has only a new pair, 0 if it has neither.
    fn rank(&mut self, state: &[Word]) -> usize {
        let positions = (8 * state.len()).min(POSITIONS);
        if self.bytes.len() < positions {
            self.bytes.resize(positions, [0; 4]);
        }
        let bytes = || state.iter().flat_map(|word| word.to_le_bytes());
        let mut rank = 0;
        for (position, byte) in bytes().enumerate() {
            let values = &mut self.bytes[position % POSITIONS];
            if set(values, usize::from(byte)) {
                rank = 2;
            }
        }
        if !self.pairs.is_empty() && 8 * state.len() <= WIDEST {
            for (first, one) in bytes().enumerate() {
                for (second, other) in bytes().enumerate().skip(first + 1) {
                    let pair = [first as u64, u64::from(one), second as u64, u64::from(other)];
                    let key = pair.iter().fold(0u64, |key, part| (key ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    if set(&mut self.pairs, (key >> 44) as usize % PAIRS) {
                        rank = rank.max(1);
                    }
                }
            }
        }
        rank
    }
}

/// Sets a bit; whether it was not set before.
fn set(bits: &mut [u64], at: usize) -> bool {
    let (word, bit) = (at / 64, 1 << (at % 64));
    let is_new = bits[word] & bit == 0;
    bits[word] |= bit;
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deadlock, ExactStore, Job, Remember, Settings, Unbounded, Unlimited};
    use wayfarer_space::{Graph, Space};

    #[test]
    fn new_bytes_rank_before_new_pairs() {
        let mut seen = Seen::new(true);
        assert_eq!(seen.rank(&[0x0000]), 2, "everything is new at first");
        assert_eq!(seen.rank(&[0x0100]), 2, "a byte that was not there before");
        assert_eq!(seen.rank(&[0x0001]), 2);
        assert_eq!(seen.rank(&[0x0101]), 1, "both bytes are known, but not together");
        assert_eq!(seen.rank(&[0x0101]), 0);
    }

    #[test]
    fn every_state_is_visited_once() {
        let graph = Graph::new((0..500u32).map(|node| vec![(2 * node + 1) % 500, (2 * node + 2) % 500]).collect(), vec![0]);
        let store = ExactStore::new(graph.packing().clone(), &Unlimited, 1 << 24).unwrap();
        let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };
        let outcome = Job::new(&graph, &store, &mut Novelty::new(true, &Unlimited), &settings).run(&mut Unbounded);
        assert_eq!((outcome.states, outcome.fired, store.len()), (500, 1000, 500));
        assert!(outcome.is_complete());
    }
}
