//! The queue Q: a fixed number of places for states, old ones that are taken out at random and new ones for the next level, each with a waypoint.

use crate::Account;
use crate::frontier::{Spare, Waypoints};
use wayfarer_space::{Packing, Rng, States, Word};
use wayfarer_store::Slab;

/// Levels between waypoints.
const INTERVAL: u32 = 8;

/// The queue.
pub(super) struct Places {
    most: usize,
    entries: Vec<Entry>,
    slab: Slab,
    free: Vec<u32>,
    old: Vec<u32>,
    new: Vec<u32>,
    /// States that were lost for want of room, as many as there are places to spare; a reservoir.
    spare: Vec<u32>,
    lost: u64,
    waypoints: Waypoints,
    unused: Spare,
}

#[derive(Clone, Copy)]
struct Entry {
    waypoint: u32,
    depth: u32,
}

impl Places {
    pub(super) fn new(packing: Packing, most: usize) -> Self {
        Places {
            most,
            entries: Vec::new(),
            slab: Slab::new(packing.clone()),
            free: Vec::new(),
            old: Vec::new(),
            new: Vec::new(),
            spare: Vec::new(),
            lost: 0,
            waypoints: Waypoints::new(packing, 1),
            unused: Spare::default(),
        }
    }

    /// States in the queue.
    pub(super) fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }

    /// New states in the queue.
    pub(super) fn fresh(&self) -> usize {
        self.new.len()
    }

    /// New states become old ones.
    pub(super) fn relabel(&mut self) {
        self.old.append(&mut self.new);
    }

    /// Takes a random old state out; its waypoint is the caller's to release.
    pub(super) fn take(&mut self, rng: &mut Rng, states: &mut States) -> Option<(u32, u32)> {
        if self.old.is_empty() {
            return None;
        }
        let entry = self.old.swap_remove(rng.below(self.old.len() as u64) as usize);
        self.slab.get(entry, states);
        self.free.push(entry);
        let Entry { waypoint, depth } = self.entries[entry as usize];
        Some((waypoint, depth))
    }

    /// A start state; false if there is no place.
    pub(super) fn push_old(&mut self, state: &[Word], account: &dyn Account) -> bool {
        let entry = self.put(state, None, 0, account);
        self.old.extend(entry);
        entry.is_some()
    }

    /// A state for the next level, `depth` deep and reached from one with the given waypoint; false if there is no memory.
    pub(super) fn push_new(&mut self, state: &[Word], before: u32, depth: u32, account: &dyn Account) -> bool {
        let entry = self.put(state, Some(before), depth, account);
        self.new.extend(entry);
        entry.is_some()
    }

    /// Keeps a state that found no room, with odds that make what is kept a fair draw of all such states.
    pub(super) fn remember(&mut self, state: &[Word], before: u32, depth: u32, rng: &mut Rng, account: &dyn Account) {
        let room = (self.most / 2).max(1);
        self.lost += 1;
        if self.spare.len() >= room {
            if rng.below(self.lost) >= room as u64 {
                return;
            }
            let entry = self.spare.swap_remove(rng.below(self.spare.len() as u64) as usize);
            self.free.push(entry);
            let waypoint = self.entries[entry as usize].waypoint;
            self.release(waypoint);
        }
        let entry = self.put(state, Some(before), depth, account);
        self.spare.extend(entry);
    }

    /// Begins with the states kept in the reservoir; false if there are none.
    pub(super) fn recall(&mut self) -> bool {
        self.lost = 0;
        let some = !self.spare.is_empty();
        self.old.append(&mut self.spare);
        some
    }

    pub(super) fn release(&mut self, waypoint: u32) {
        self.waypoints.release(waypoint, 1, &mut self.unused);
    }

    pub(super) fn chain(&self, waypoint: u32) -> Vec<Vec<Word>> {
        self.waypoints.chain(waypoint)
    }

    fn put(&mut self, state: &[Word], before: Option<u32>, depth: u32, account: &dyn Account) -> Option<u32> {
        let waypoint = match before {
            Some(waypoint) if !depth.is_multiple_of(INTERVAL) => {
                self.waypoints.hold(waypoint, 1);
                waypoint
            }
            before => self.waypoints.add(state, before, &mut self.unused, account)?,
        };
        let entry = match self.free.pop() {
            Some(entry) => entry,
            None => {
                let more = (self.entries.len() / 2).clamp(256, 1 << 16);
                if !account.allows((self.entries.len() + more) * (size_of::<Entry>() + 16) + self.slab.growth(more)) {
                    self.waypoints.release(waypoint, 1, &mut self.unused);
                    return None;
                }
                let first = self.entries.len();
                self.entries.resize(first + more, Entry { waypoint: 0, depth: 0 });
                self.slab.grow(more);
                self.free.extend((first as u32..(first + more) as u32).rev());
                self.free.pop()?
            }
        };
        self.entries[entry as usize] = Entry { waypoint, depth };
        self.slab.put(entry, state);
        Some(entry)
    }
}
