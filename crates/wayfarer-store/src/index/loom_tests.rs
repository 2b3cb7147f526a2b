//! Tries all interleavings of two workers at an index, with up to two preemptions (loom):
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release -p wayfarer-store --lib loom
#![allow(unsafe_code)] // Records are plain memory that loom watches.

use super::*;
use crate::Unlimited;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use wayfarer_space::hash;

/// States behind handles, written before a handle is published. Loom reports a record that is read while it is written, or before.
struct Records(Vec<UnsafeCell<u64>>);

// SAFETY: each record is written by the one worker that has its handle, before it is published; that this is so is what loom checks.
unsafe impl Sync for Records {}
// SAFETY: as above.
unsafe impl Send for Records {}

/// Handles of a worker begin at a multiple of this.
const OWN: u32 = 8;

impl Records {
    fn get(&self, handle: u32) -> u64 {
        // SAFETY: published, so written.
        self.0[handle as usize].with(|state| unsafe { *state })
    }

    fn write(&self, handle: u32, state: u64) {
        // SAFETY: nobody else has this handle, and it is not published yet.
        self.0[handle as usize].with_mut(|at| unsafe { *at = state });
    }
}

/// One worker puts in its states, one after another; says how many were new.
fn work(index: &Index, records: &Records, worker: u32, states: &[u64]) -> usize {
    let mut seat = index.seat(false).unwrap();
    let hash_of = |handle: u32| hash(&[records.get(handle)]);
    let means = Means { account: &Unlimited, hash_of: &hash_of, fetch: &|_| (), sole: false };
    let mut handle = OWN * worker;
    let mut new = 0;
    index.enter(&seat);
    for state in states {
        let same = |known: u32| records.get(known) == *state;
        match index.find_or_insert(&mut seat, (index.spot(hash(&[*state])), hash(&[*state])), handle, same, || records.write(handle, *state), &means)
        {
            Found::Inserted => {
                new += 1;
                handle += 1;
            }
            Found::Present(known) => assert_eq!(records.get(known), *state),
            Found::Absent => panic!("there is room"),
        }
    }
    index.leave(&seat);
    new
}

/// Fills an index with some states, then has two workers put in theirs side by side. Every state must be there once in the end.
fn meet(largest: u32, filling: &'static [u64], first: &'static [u64], second: &'static [u64]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.max_branches = 100_000;
    model.check(move || {
        let mut index = Index::new(1 << 12, &Unlimited).unwrap();
        index.largest = largest;
        let records = Records((0..3 * OWN).map(|_| UnsafeCell::new(u64::MAX)).collect());
        let mut new = work(&index, &records, 0, filling);
        let shared = Arc::new((index, records));
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || work(&shared.0, &shared.1, 2, second))
        };
        let (index, records) = &*shared;
        new += work(index, records, 1, first);
        new += other.join().unwrap();
        let mut all: Vec<u64> = filling.iter().chain(first).chain(second).copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(new, all.len(), "a state was inserted twice, or not at all");
        for state in all {
            assert!(matches!(index.find(hash(&[state]), |known| records.get(known) == state), Found::Present(_)), "{state} is lost");
        }
    });
}

#[test]
fn loom_a_state_is_inserted_once() {
    meet(LARGEST, &[], &[1], &[1]);
    meet(LARGEST, &[1], &[2], &[2, 1]);
}

/// A table of two slots doubles at its first entry, while the other worker looks at it, inserts, or waits.
#[test]
fn loom_no_state_is_lost_while_a_table_doubles() {
    meet(LARGEST, &[], &[1], &[2]);
    meet(LARGEST, &[], &[1, 2], &[2]);
    meet(LARGEST, &[1], &[2], &[3, 1]);
}

/// The same for a table of two buckets that is split into two parts, which a directory finds.
#[test]
fn loom_no_state_is_lost_while_a_table_is_split() {
    meet(1, &[1], &[2], &[3]);
    meet(1, &[1], &[2], &[2, 1]);
}
