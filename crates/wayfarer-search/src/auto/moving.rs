//! From a store that does not err, once it is full, to an elastic one that errs, within the same memory.

use super::{Begun, First, Run};
use crate::frontier::{Origin, Waiting};
use crate::{CompactStore, Control, ExactStore, Handle, NoStore, Progress, Recall, Record, Remember, Stop, Store, TreeStore};
use wayfarer_space::{Hash, States, hash};
use wayfarer_store::give_back;

/// States that are moved out of a tree at once: a worker's run of handles there; and the most workers.
const LEARNED: u32 = 128;
const MOST_WORKERS: u32 = 256;
/// When the frontier moves out of the exact store, how many times its size it is expected to grow to.
const GROWTH: f64 = 5.0;
/// The same out of a tree, which holds many more states: the frontier is near its largest.
const GROWTH_AFTER_TREE: f64 = 2.0;
/// Pieces of work between two questions to the outside.
const ASKED: u32 = 64;

/// Why it did not come to that, and the store that was full, as far as it is still there.
type Ended<'a> = (Stop, Box<dyn Store + 'a>);

impl<'a> Run<'a> {
    /// Moves the states of the first store into an elastic one, and its frontier into a frontier that holds the states themselves.
    pub(super) fn converted(&self, first: First<'a>, waiting: &Waiting, control: &mut dyn Control) -> Result<Begun<'a>, Ended<'a>> {
        let progress =
            Progress { states: first.store().len(), fired: self.done.fired, steps: self.done.steps, phase: "moving states", ..Progress::default() };
        let mut pieces = 0u32;
        let mut ask = || {
            pieces = pieces.wrapping_add(1);
            // That memory is short is nothing new.
            if pieces.is_multiple_of(ASKED) { control.ask(&progress).filter(|stop| *stop != Stop::Memory) } else { None }
        };
        // The store grows while states are moved into it. It leaves room for the rounds of the pass that follows.
        let reserved = self.reserved();
        self.auto.account.promise(reserved);
        let moved = match first {
            First::Exact(store) => self.drained(store, waiting, &mut ask),
            First::Tree(tree) => self.read(tree, waiting, &mut ask),
        };
        self.auto.account.keep(reserved);
        moved
    }

    fn drained(&self, store: ExactStore<'a>, waiting: &Waiting, ask: &mut dyn FnMut() -> Option<Stop>) -> Result<Begun<'a>, Ended<'a>> {
        let (known, width) = (store.len(), self.space.width());
        let (mut record, search) = (self.record(), self.pool(0));
        // The memory in use outside the first store stays in use.
        let besides = self.auto.account.used().saturating_sub(store.bytes());
        let closed = store.closed();
        let arms = self.arms.bytes();
        let settle = |held: usize| self.auto.account.settle(arms + held);
        settle(closed.bytes());
        let origin = Origin { width, read: &|handles, states| closed.read(handles, states), parent: &|at| closed.parent(at) };
        let mut stop = search.adopt(waiting, origin, ask);
        let bytes = self.store_bytes(besides, search.bytes() as f64 * GROWTH);
        let store = CompactStore::elastic(bytes, 0, self.auto.account).ok_or_else(|| (Stop::Memory, Box::new(NoStore) as Box<dyn Store>))?;
        let mut hashes = Vec::new();
        closed.drain(width, |states, left| {
            settle(left + store.bytes() + search.bytes());
            learn(&store, &mut record, states, &mut hashes);
            stop = stop.or_else(&mut *ask);
            stop.is_none()
        });
        give_back();
        match stop {
            // The states moved so far are in this store.
            Some(stop) => Err((stop, Box::new(store))),
            None => Ok(Begun { store, bytes, waiting: search, from: waiting.level_of(), record, known, starts: waiting.starts }),
        }
    }

    fn read(&self, tree: TreeStore<'a>, waiting: &Waiting, ask: &mut dyn FnMut() -> Option<Stop>) -> Result<Begun<'a>, Ended<'a>> {
        let (known, width) = (tree.len(), self.space.width());
        let (mut record, search) = (self.record(), self.pool(0));
        let besides = self.auto.account.used().saturating_sub(tree.bytes());
        // One link costs as much to read as a whole run of them.
        let parents = if self.auto.account.allows(known as usize * size_of::<u32>()) { tree.parents() } else { Vec::new() };
        let parent = |at: Handle| match parents.get(at.0 as usize) {
            Some(&parent) => (parent != u32::MAX).then_some(Handle(parent)),
            None => tree.parent(at),
        };
        let read = |handles: &[Handle], states: &mut States| {
            tree.states(handles, states);
        };
        let stop = search.adopt(waiting, Origin { width, read: &read, parent: &parent }, ask);
        drop(parents);
        if let Some(stop) = stop {
            return Err((stop, Box::new(tree)));
        }
        let bytes = self.store_bytes(besides, search.bytes() as f64 * GROWTH_AFTER_TREE);
        let Some(store) = CompactStore::elastic(bytes, 0, self.auto.account) else { return Err((Stop::Memory, Box::new(tree))) };
        let mut states = States::new(width);
        let mut hashes = Vec::new();
        let mut left = known;
        // A worker's last run of handles may not be full: what there is of it comes first.
        let runs = left.div_ceil(u64::from(LEARNED)) as u32 + MOST_WORKERS;
        for run in 0..runs {
            let handles: Vec<Handle> = (run * LEARNED..(run + 1) * LEARNED).map(Handle).collect();
            states.clear();
            tree.states(&handles, &mut states);
            learn(&store, &mut record, &states, &mut hashes);
            left = left.saturating_sub(states.len() as u64);
            if run % 256 == 0 {
                self.auto.account.settle(self.arms.bytes() + tree.bytes() + store.bytes() + search.bytes());
            }
            if let Some(stop) = ask() {
                return Err((stop, Box::new(tree)));
            }
            if left == 0 {
                break;
            }
        }
        drop(tree);
        give_back();
        self.auto.account.settle(self.arms.bytes() + store.bytes() + search.bytes());
        Ok(Begun { store, bytes, waiting: search, from: waiting.level_of(), record, known, starts: waiting.starts })
    }
}

/// Moves states that were visited into a store and a record.
fn learn(store: &CompactStore, record: &mut Record, states: &States, hashes: &mut Vec<Hash>) {
    hashes.clear();
    hashes.extend(states.iter().map(hash));
    store.learn(hashes);
    hashes.iter().zip(states.iter()).for_each(|(hash, state)| record.observe(*hash, state));
}
