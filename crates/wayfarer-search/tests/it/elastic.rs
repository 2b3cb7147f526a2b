//! The compact store that takes its memory as it grows, and turns into a filter instead of being full.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_search::{Account, Candidates, CompactStore, Fidelity, Remember, Visit};
use wayfarer_space::{Firing, Rng, Steps, Width};

/// An account that counts what is charged to it.
struct Limited(usize, AtomicUsize);

impl Account for Limited {
    fn allows(&self, bytes: usize) -> bool {
        self.used() + bytes <= self.0
    }

    fn used(&self) -> usize {
        self.1.load(Ordering::Relaxed)
    }

    fn charge(&self, bytes: usize) {
        self.1.fetch_add(bytes, Ordering::Relaxed);
    }

    fn refund(&self, bytes: usize) {
        self.1.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn limited(bytes: usize) -> Limited {
    Limited(bytes, AtomicUsize::new(0))
}

/// Brings `states` states in batches, each state and then a known one; gives how many were taken for known, and looks that no known one is found new.
fn fill(store: &CompactStore, states: u64, stream: &str) -> u64 {
    let mut seat = store.seat().unwrap();
    let (mut steps, mut visits) = (Steps::new(Width::Fixed(1)), Vec::new());
    let (mut rng, mut known) = (Rng::new(3, stream), HashSet::new());
    let mut omitted = 0;
    while (known.len() as u64) < states {
        steps.clear();
        let batch: Vec<u64> = (0..512).map(|_| rng.next_word() >> 8).collect();
        for word in batch.iter().chain(&batch) {
            steps.push(0, Firing::of(0), &[0], &[*word]);
        }
        store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
        for (at, word) in batch.iter().enumerate() {
            match visits[at] {
                Visit::Seen(_) => omitted += u64::from(known.insert(*word)),
                Visit::New(_) => assert!(known.insert(*word), "a known state was found new"),
                other => panic!("{other:?}"),
            }
            assert!(matches!(visits[at + 512], Visit::Seen(_)));
        }
        store.probe(&mut seat, Candidates { steps: &steps, sources: &[] }, &mut visits);
        assert!(visits.iter().all(|visit| matches!(visit, Visit::Seen(_))));
    }
    omitted
}

#[test]
fn an_elastic_store_is_never_full_and_knows_how_often_it_errs() {
    let account = limited(1 << 20);
    let store = CompactStore::elastic(512 << 10, 0, &account).unwrap();
    assert!(account.used() <= 32 << 10, "{} bytes at the start", account.used());
    for (states, filters, most) in [(20_000, false, 1e-3), (80_000, false, 1.0), (300_000, true, 1_000.0)] {
        fill(&store, states, &format!("elastic {states}"));
        let Fidelity::Lossy(expected) = store.fidelity() else { panic!("a lossy store") };
        assert!(expected <= most, "{expected} omissions expected at {states}");
        assert_eq!(store.filtering().is_some(), filters);
    }
    assert!(account.used() <= 512 << 10);
    drop(store);
    assert_eq!(account.used(), 0);
}

#[test]
fn omissions_of_the_filter_are_those_expected() {
    // Five fillings of 300,000 states in 400 KB, about eleven bits for each: some 360 omissions in each, so four standard deviations are a tenth of the sum.
    let (mut omitted, mut expected) = (0.0, 0.0);
    for salt in 0..5 {
        let account = limited(1 << 20);
        let store = CompactStore::elastic(400 << 10, salt, &account).unwrap();
        omitted += fill(&store, 300_000, &format!("salt {salt}")) as f64;
        let Fidelity::Lossy(more) = store.fidelity() else { panic!("a lossy store") };
        expected += more;
    }
    assert!((omitted / expected - 1.0).abs() < 0.1, "{omitted} omitted, {expected} expected");
}

#[test]
fn stores_with_different_salts_err_about_different_states() {
    let account = limited(8 << 20);
    let stores: Vec<_> = [0, 7].map(|salt| CompactStore::elastic(200 << 10, salt, &account).unwrap()).into();
    let mut omitted: Vec<HashSet<u64>> = Vec::new();
    for store in &stores {
        let mut seat = store.seat().unwrap();
        let (mut steps, mut visits, mut missed) = (Steps::new(Width::Fixed(1)), Vec::new(), HashSet::new());
        for from in (0..200_000u64).step_by(1000) {
            steps.clear();
            (from..from + 1000).for_each(|word| steps.push(0, Firing::of(0), &[0], &[word]));
            store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
            missed.extend((from..from + 1000).zip(&visits).filter(|(_, visit)| matches!(visit, Visit::Seen(_))).map(|(word, _)| word));
        }
        omitted.push(missed);
    }
    let both = omitted[0].intersection(&omitted[1]).count() as f64;
    let expected = omitted[0].len() as f64 * omitted[1].len() as f64 / 200_000.0;
    // Early states are never omitted, so common ones are a few times as many as if omissions were spread evenly.
    assert!(omitted[0].len() > 1000 && both < 6.0 * expected + 10.0, "{} and {} omitted, {both} by both", omitted[0].len(), omitted[1].len());
}
