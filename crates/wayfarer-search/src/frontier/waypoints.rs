//! Whole states that a witness will pass through, each with a link to the one before it, counted by those that need them.
//!
//! All workers of a crew share them. Counting is one atomic addition; a worker that finds or frees waypoints does so from
//! numbers of its own, and takes the lock only once for many of them.

use crate::Account;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use wayfarer_space::{Packing, Word};
use wayfarer_store::varying;

/// Waypoints that are taken from the account together.
const BLOCK: usize = 256;
/// Rows of blocks, each twice as long as the one before: enough for all numbers of 32 bits.
const ROWS: usize = 24;
/// Free numbers that a worker keeps for itself at most.
const SPARE: usize = 2 * BLOCK;
/// No waypoint.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A forest of states in which only what is needed is kept.
pub(crate) struct Waypoints {
    packing: Packing,
    /// Blocks never move, so that they are read without a lock.
    rows: [OnceLock<Row>; ROWS],
    grounds: Mutex<Grounds>,
    /// The most bytes to take.
    most: usize,
    /// Whether a single worker uses them, which then need not count atomically.
    alone: bool,
}

type Row = Box<[OnceLock<Block>]>;

/// [`BLOCK`] waypoints.
struct Block {
    /// Tight states, or states that have each their own number of words.
    tight: Box<[AtomicU64]>,
    forms: Box<[Mutex<Box<[u8]>>]>,
    links: Box<[Link]>,
}

/// The waypoint before it, and how many need it.
struct Link {
    before: AtomicU32,
    count: AtomicU32,
}

#[derive(Default)]
struct Grounds {
    blocks: usize,
    free: Vec<u32>,
}

/// Numbers that one worker can use for waypoints, and room to pack a state: adding a waypoint allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    free: Vec<u32>,
    tight: Vec<Word>,
}

impl Waypoints {
    pub(crate) fn new(packing: Packing, workers: usize) -> Self {
        Waypoints { packing, rows: [const { OnceLock::new() }; ROWS], grounds: Mutex::default(), most: usize::MAX, alone: workers < 2 }
    }

    /// The same in at most so many bytes.
    pub(crate) fn within(self, most: usize) -> Self {
        Waypoints { most, ..self }
    }

    /// Adds a state behind another waypoint, held once; none if the account has no room.
    pub(crate) fn add(&self, state: &[Word], before: Option<u32>, spare: &mut Spare, account: &dyn Account) -> Option<u32> {
        let mut form = Vec::new();
        if self.packing.is_varying() {
            varying::encode(state, &mut form);
            if !account.allows(form.len()) {
                return None;
            }
        }
        if spare.free.is_empty() {
            self.supply(spare, account)?;
        }
        let waypoint = spare.free.pop()?;
        let (block, at) = self.find(waypoint)?;
        if self.packing.is_varying() {
            *block.forms[at].lock().unwrap_or_else(PoisonError::into_inner) = form.into_boxed_slice();
        } else {
            let words = self.packing.words();
            spare.tight.clear();
            spare.tight.resize(words, 0);
            self.packing.pack(state, &mut spare.tight);
            block.tight[at * words..].iter().zip(&spare.tight).for_each(|(to, word)| to.store(*word, Ordering::Relaxed));
        }
        block.links[at].before.store(before.unwrap_or(NOWHERE), Ordering::Relaxed);
        block.links[at].count.store(1, Ordering::Relaxed);
        if let Some(before) = before {
            self.hold(before, 1);
        }
        Some(waypoint)
    }

    /// Gives a worker numbers: those that others have freed, or those of a new block.
    fn supply(&self, spare: &mut Spare, account: &dyn Account) -> Option<()> {
        let mut grounds = self.grounds();
        let left = grounds.free.len().saturating_sub(BLOCK);
        spare.free.extend(grounds.free.drain(left..));
        if !spare.free.is_empty() {
            return Some(());
        }
        let number = grounds.blocks;
        let (row, place) = place(number);
        if row >= ROWS || (number + 1).saturating_mul(self.one() * BLOCK) > self.most {
            return None;
        }
        let (words, forms) = if self.packing.is_varying() { (0, BLOCK) } else { (self.packing.words() * BLOCK, 0) };
        let places = if place == 0 { size_of::<OnceLock<Block>>() << row } else { 0 };
        if !account.allows(words * size_of::<Word>() + BLOCK * 12 + forms * size_of::<Mutex<Box<[u8]>>>() + places) {
            return None;
        }
        let block = Block {
            tight: (0..words).map(|_| AtomicU64::new(0)).collect(),
            forms: (0..forms).map(|_| Mutex::default()).collect(),
            links: (0..BLOCK).map(|_| Link { before: AtomicU32::new(NOWHERE), count: AtomicU32::new(0) }).collect(),
        };
        self.rows[row].get_or_init(|| (0..1 << row).map(|_| OnceLock::new()).collect())[place].get_or_init(|| block);
        grounds.blocks += 1;
        let first = (number * BLOCK) as u32;
        spare.free.extend((first..first + BLOCK as u32).rev());
        Some(())
    }

    fn grounds(&self) -> MutexGuard<'_, Grounds> {
        self.grounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block of a waypoint and its place there.
    #[inline]
    fn find(&self, waypoint: u32) -> Option<(&Block, usize)> {
        let (row, place) = place(waypoint as usize / BLOCK);
        Some((self.rows.get(row)?.get()?[place].get()?, waypoint as usize % BLOCK))
    }

    /// The bytes that so many waypoints would take besides those that are there.
    pub(crate) fn bytes_for(&self, more: u64) -> u64 {
        more.saturating_sub(self.grounds().free.len() as u64).saturating_mul(self.one() as u64)
    }

    /// The bytes of one waypoint, about.
    fn one(&self) -> usize {
        let state = if self.packing.is_varying() { 64 } else { self.packing.words() * size_of::<Word>() };
        state + 12
    }

    /// So many more need it.
    #[inline]
    pub(crate) fn hold(&self, waypoint: u32, more: u32) {
        if waypoint != NOWHERE
            && let Some((block, at)) = self.find(waypoint)
        {
            let count = &block.links[at].count;
            if self.alone {
                count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
            } else {
                count.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// So many fewer need it. If none does any more, it and those that only it needed are freed.
    #[inline]
    pub(crate) fn release(&self, mut waypoint: u32, mut fewer: u32, spare: &mut Spare) {
        while waypoint != NOWHERE
            && let Some((block, at)) = self.find(waypoint)
        {
            let Link { before, count } = &block.links[at];
            let needed = if self.alone {
                let needed = count.load(Ordering::Relaxed);
                count.store(needed - fewer, Ordering::Relaxed);
                needed
            } else {
                count.fetch_sub(fewer, Ordering::AcqRel)
            };
            if needed > fewer {
                return;
            }
            let next = before.load(Ordering::Relaxed);
            if let Some(form) = block.forms.get(at) {
                *form.lock().unwrap_or_else(PoisonError::into_inner) = Box::default();
            }
            spare.free.push(waypoint);
            if spare.free.len() > SPARE {
                self.grounds().free.extend(spare.free.drain(BLOCK..));
            }
            (waypoint, fewer) = (next, 1);
        }
    }

    /// A worker needs its numbers no longer.
    pub(crate) fn give_back(&self, spare: &mut Spare) {
        self.grounds().free.append(&mut spare.free);
    }

    /// The states from the first waypoint to this one.
    pub(crate) fn chain(&self, mut waypoint: u32) -> Vec<Vec<Word>> {
        let words = self.packing.words();
        let mut states = Vec::new();
        while waypoint != NOWHERE
            && let Some((block, at)) = self.find(waypoint)
        {
            states.push(match block.forms.get(at) {
                Some(form) => {
                    let form = form.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut state = vec![0; varying::words(&form)];
                    varying::decode(&form, &mut state);
                    state
                }
                None => {
                    let tight: Vec<Word> = block.tight[at * words..(at + 1) * words].iter().map(|word| word.load(Ordering::Relaxed)).collect();
                    let mut state = vec![0; self.packing.masks().len()];
                    self.packing.unpack(&tight, &mut state);
                    state
                }
            });
            waypoint = block.links[at].before.load(Ordering::Relaxed);
        }
        states.reverse();
        states
    }
}

/// The row of a block and its place there.
#[inline]
fn place(block: usize) -> (usize, usize) {
    let row = (block + 1).ilog2();
    (row as usize, block + 1 - (1 << row))
}

/// Gathers holds or releases of the same waypoint that follow each other.
#[derive(Debug)]
pub(super) struct Gathered {
    waypoint: u32,
    count: u32,
}

impl Gathered {
    pub(super) fn new() -> Self {
        Gathered { waypoint: NOWHERE, count: 0 }
    }

    /// One more of this waypoint; `settle` is called with those gathered before if they were of another.
    #[inline]
    pub(super) fn gather(&mut self, waypoint: u32, settle: impl FnMut(u32, u32)) {
        if waypoint != self.waypoint {
            self.settle(settle);
            self.waypoint = waypoint;
        }
        self.count += 1;
    }

    /// Settles those that were gathered last.
    pub(super) fn settle(&mut self, mut settle: impl FnMut(u32, u32)) {
        if self.count > 0 {
            settle(self.waypoint, self.count);
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    #[test]
    fn unneeded_waypoints_are_freed_with_their_ancestors() {
        for (packing, workers) in [(Packing::whole(1), 1), (Packing::varying(), 1), (Packing::whole(1), 4)] {
            let waypoints = Waypoints::new(packing, workers);
            let mut spare = Spare::default();
            let root = waypoints.add(&[1], None, &mut spare, &Unlimited).unwrap();
            let left = waypoints.add(&[2], Some(root), &mut spare, &Unlimited).unwrap();
            let right = waypoints.add(&[3], Some(root), &mut spare, &Unlimited).unwrap();
            waypoints.release(root, 1, &mut spare);
            assert_eq!(waypoints.chain(right), [vec![1], vec![3]]);
            let before = spare.free.len();
            waypoints.hold(left, 2);
            waypoints.release(left, 3, &mut spare);
            assert_eq!(spare.free.len(), before + 1);
            waypoints.release(right, 1, &mut spare);
            assert_eq!(spare.free.len(), before + 3);
            waypoints.give_back(&mut spare);
            assert_eq!(waypoints.grounds().free.len(), BLOCK);
        }
    }

    #[test]
    fn waypoints_of_varying_width_come_back() {
        let waypoints = Waypoints::new(Packing::varying(), 1);
        let mut spare = Spare::default();
        let states = [vec![], vec![1, 2, 3], vec![u64::MAX; 70]];
        let last = states.iter().fold(None, |before, state| waypoints.add(state, before, &mut spare, &Unlimited));
        assert_eq!(waypoints.chain(last.unwrap()), states);
    }

    #[test]
    fn workers_that_hold_and_release_side_by_side_free_everything() {
        let waypoints = Waypoints::new(Packing::whole(1), 4);
        std::thread::scope(|scope| {
            for worker in 0..4u64 {
                let waypoints = &waypoints;
                scope.spawn(move || {
                    let mut spare = Spare::default();
                    for round in 0..300 {
                        let mut chain = Vec::new();
                        for at in 0..5 {
                            chain.push(waypoints.add(&[worker << 32 | round << 8 | at], chain.last().copied(), &mut spare, &Unlimited).unwrap());
                        }
                        assert_eq!(waypoints.chain(chain[4]).len(), 5);
                        chain.into_iter().for_each(|waypoint| waypoints.release(waypoint, 1, &mut spare));
                    }
                    waypoints.give_back(&mut spare);
                });
            }
        });
        let grounds = waypoints.grounds();
        assert_eq!(grounds.free.len(), grounds.blocks * BLOCK);
    }
}
