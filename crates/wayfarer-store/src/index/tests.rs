//! The index by itself: one worker and several, narrow and wide slots.

use super::*;
use crate::Unlimited;
use wayfarer_space::hash;

fn hash_of(handle: u32) -> Hash {
    hash(&[u64::from(handle)])
}

fn put(index: &Index, seat: &mut Seat, handle: u32) -> Found {
    let means = Means { account: &Unlimited, hash_of: &hash_of, fetch: &|_| (), sole: seat.sole };
    index.find_or_insert(seat, (index.spot(hash_of(handle)), hash_of(handle)), handle, |found| found == handle, || (), &means)
}

#[test]
fn finds_what_was_inserted_and_nothing_else() {
    for (sole, chunk) in [(false, 1 << 16), (true, 1 << 16), (false, AMPLE), (true, AMPLE)] {
        let index = Index::new(chunk, &Unlimited).unwrap();
        let mut seat = index.seat(sole).unwrap();
        let count = 300_000;
        index.enter(&seat);
        for handle in 0..count {
            assert_eq!(put(&index, &mut seat, handle), Found::Inserted);
        }
        for handle in 0..count {
            assert_eq!(put(&index, &mut seat, handle), Found::Present(handle));
        }
        assert_eq!(index.find(hash_of(count), |found| found == count), Found::Absent);
        index.leave(&seat);
    }
}

#[test]
fn the_slots_cost_little_at_every_size() {
    let index = Index::new(1 << 16, &Unlimited).unwrap();
    let mut seat = index.seat(false).unwrap();
    let mut worst: f64 = 0.0;
    for handle in 0..1_000_000u32 {
        put(&index, &mut seat, handle);
        if handle >= 100_000 && handle % 1_000 == 0 {
            worst = worst.max(index.bytes() as f64 / f64::from(handle));
        }
    }
    assert!(worst < 7.6, "{worst} bytes per state");
}

#[test]
fn shares_go_over_to_wide_slots_without_losing_entries() {
    [(false, 1 << 16), (true, 1 << 16), (false, AMPLE), (true, AMPLE)].into_iter().for_each(goes_over_to_wide_slots);
}

fn goes_over_to_wide_slots((sole, chunk): (bool, usize)) {
    let index = Index::new(chunk, &Unlimited).unwrap();
    let mut seat = index.seat(sole).unwrap();
    let handles = || (0..20_000u32).chain((1 << 28)..(1 << 28) + 20_000);
    for handle in handles() {
        assert_eq!(put(&index, &mut seat, handle), Found::Inserted);
    }
    assert!(handles().any(|handle| index.table(share_of(hash_of(handle)), hash_of(handle)).wide));
    for handle in handles() {
        assert_eq!(index.find(hash_of(handle), |found| found == handle), Found::Present(handle));
    }
}

#[test]
fn several_workers_insert_every_state_once() {
    let index = Index::new(1 << 16, &Unlimited).unwrap();
    let inserted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for worker in 0..4u32 {
            let (index, inserted) = (&index, &inserted);
            scope.spawn(move || {
                let mut seat = index.seat(false).unwrap();
                for round in 0..200u32 {
                    index.enter(&seat);
                    for number in 0..500u32 {
                        // Every state is offered by two workers, under handles that hash alike.
                        let state = round * 1_000 + (number * 7 + worker / 2 * 500) % 1_000;
                        if put(index, &mut seat, state) == Found::Inserted {
                            inserted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    index.leave(&seat);
                }
            });
        }
    });
    let present = (0..200_000).filter(|state| index.find(hash_of(*state), |found| found == *state) != Found::Absent).count();
    assert_eq!(inserted.load(Ordering::Relaxed), present);
}
