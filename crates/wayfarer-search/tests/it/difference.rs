//! The difference store against a plain set.

use crate::tree::{Purse, answers_like_a_set, fills_up, searches_like_exact, serves_several_workers};
use wayfarer_search::{Account, Candidates, Delta, DifferenceStore, Handle, Remember, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, States, Steps, Width};

fn difference(packing: Packing, delta: u32) -> Box<dyn Store> {
    Box::new(DifferenceStore::new(packing, Delta::Every(delta), &Unlimited, 1 << 26).unwrap())
}

#[test]
fn difference_answers_like_a_set() {
    for delta in [1, 2, 20, 300] {
        answers_like_a_set(|packing| difference(packing, delta));
    }
}

#[test]
fn difference_fills_to_the_last_byte_and_says_so() {
    for words in [1, 2, 5, 40] {
        for limit in [400 << 10, 900_001] {
            let purse = Purse::new(limit);
            let store = DifferenceStore::new(Packing::whole(words), Delta::Every(20), &purse, limit).unwrap();
            fills_up(&store, words);
            assert_eq!(store.bytes(), purse.used());
        }
        let packing = Packing::whole(words);
        let purse = Purse::new(DifferenceStore::least(&packing, 1 << 20));
        let store = DifferenceStore::new(packing, Delta::Auto, &purse, 1 << 20).unwrap();
        fills_up(&store, words);
        assert!(!store.is_empty());
    }
}

#[test]
fn difference_serves_several_workers() {
    for words in [1, 3, 20] {
        serves_several_workers(&*difference(Packing::whole(words), 7), words);
    }
}

#[test]
fn difference_searches_like_exact() {
    for delta in [1, 3, 20, 65_535] {
        searches_like_exact(|packing| difference(packing, delta));
    }
}

#[test]
fn delta_out_of_range_is_refused_and_auto_follows_the_budget() {
    for delta in [0, 65_536] {
        assert!(DifferenceStore::new(Packing::whole(1), Delta::Every(delta), &Unlimited, 1 << 20).is_none());
    }
    let delta = |most: usize| DifferenceStore::delta_for(200, most);
    assert_eq!(delta(64 << 30), 1);
    assert!(delta(4 << 30) > 1 && delta(1 << 30) >= delta(4 << 30));
    assert!(delta(1 << 20) <= 201);
}

/// A path: from whole state to whole state, δ steps lie between, and all come back.
#[test]
fn every_delta_th_state_of_a_path_is_whole() {
    let words = 50;
    let bytes = |delta: u32| {
        let store = difference(Packing::whole(words), delta);
        let mut seat = store.seat().unwrap();
        let mut visits = Vec::new();
        let mut state = vec![0x0123_4567_89AB_CDEF; words];
        let mut all = Vec::new();
        for number in 0..20_000u64 {
            let before = state.clone();
            state[number as usize % words] ^= number + 1;
            let mut steps = Steps::new(Width::Fixed(words));
            steps.push(0, Firing::of(0), &before, &state);
            let sources: Vec<Handle> = number.checked_sub(1).map(|number| Handle(number as u32)).into_iter().collect();
            store.insert(&mut seat, Candidates { steps: &steps, sources: &sources }, None, u64::MAX, &mut visits);
            assert_eq!(visits, [Visit::New(Handle(number as u32))]);
            all.push(state.clone());
        }
        let mut back = States::new(Width::Fixed(words));
        for (handle, state) in all.iter().enumerate().rev() {
            back.clear();
            assert!(store.state(Handle(handle as u32), &mut back));
            assert_eq!(back.get(0), state.as_slice());
        }
        store.bytes() as f64 / 20_000.0
    };
    let (whole, half, twentieth) = (bytes(1), bytes(2), bytes(20));
    assert!(whole > 400.0 && half < 0.6 * whole && twentieth < 0.15 * whole, "{whole} {half} {twentieth}");
}
