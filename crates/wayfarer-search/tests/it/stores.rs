//! Every store against a plain set.

use std::collections::HashMap;
use wayfarer_search::{Candidates, ExactStore, Handle, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, States, Steps, Width, Word};

/// Steps to the given states.
fn steps_to(states: &[Vec<Word>]) -> Steps {
    let mut steps = Steps::new(Width::Fixed(states[0].len()));
    for state in states {
        steps.push(0, Firing::of(0), state, state);
    }
    steps
}

/// States of `words` words, drawn so that duplicates are common; `spread` bounds how many bits vary.
fn draw(rng: &mut Rng, words: usize, spread: u64) -> Vec<Word> {
    (0..words).map(|word| if word == words / 2 { rng.below(spread) << (words % 7) } else { 0 }).collect()
}

#[test]
fn exact_answers_like_a_set() {
    for words in [1, 2, 3, 8, 64] {
        let mut rng = Rng::new(words as u64, "stores");
        let store = ExactStore::new(Packing::whole(words), &Unlimited, 1 << 26).unwrap();
        let mut seat = store.seat().unwrap();
        let mut known: HashMap<Vec<Word>, u32> = HashMap::new();
        let mut visits = Vec::new();
        for _ in 0..60 {
            let states: Vec<_> = (0..200).map(|_| draw(&mut rng, words, 5_000)).collect();
            let steps = steps_to(&states);
            let candidates = Candidates { steps: &steps, sources: &[] };
            store.probe(&mut seat, candidates, &mut visits);
            for (state, visit) in states.iter().zip(&visits) {
                assert_eq!(matches!(visit, Visit::New(_)), !known.contains_key(state));
            }
            store.insert(&mut seat, candidates, None, u64::MAX, &mut visits);
            for (state, visit) in states.iter().zip(&visits) {
                let next = known.len() as u32;
                match known.get(state) {
                    Some(handle) => assert_eq!(*visit, Visit::Seen(Handle(*handle))),
                    None => {
                        assert_eq!(*visit, Visit::New(Handle(next)));
                        known.insert(state.clone(), next);
                    }
                }
            }
        }
        let mut back = States::new(Width::Fixed(words));
        for (state, handle) in &known {
            back.clear();
            assert!(store.state(Handle(*handle), &mut back));
            assert_eq!(back.get(0), state.as_slice());
        }
        assert_eq!(store.len(), known.len() as u64);
    }
}

#[test]
fn a_mask_and_a_room_are_kept_to() {
    let store = ExactStore::new(Packing::whole(1), &Unlimited, 1 << 20).unwrap();
    let mut seat = store.seat().unwrap();
    let states: Vec<_> = (0..6).map(|number| vec![number]).collect();
    let steps = steps_to(&states);
    let candidates = Candidates { steps: &steps, sources: &[] };
    let mut visits = Vec::new();
    store.insert(&mut seat, candidates, Some(&[true, false, true, true, true, true]), 3, &mut visits);
    assert_eq!(visits, [Visit::New(Handle(0)), Visit::Skipped, Visit::New(Handle(1)), Visit::New(Handle(2)), Visit::Full, Visit::Full]);
    assert_eq!(store.len(), 3);
}
