//! Measures how little memory the compact store needs and what that costs, with random keys until it is full.
//!
//!     cargo run --release -p wayfarer-search --example compact [STATES]
//!
//! Three runs for STATES (10,000,000): 64 bits until full; as few bits as omit one of 100,000 states, until full; and
//! 64 bits that fall as needed, in the first run's memory, for four times as many states as it held.

use std::time::Instant;
use wayfarer_search::{Candidates, CompactStore, Remember, Unlimited, Visit};
use wayfarer_space::{Firing, Rng, Steps, Width};

/// Visits random states until one is refused or `most` were brought; gives how many, how many were omitted, and nanoseconds per visit.
fn fill(store: &CompactStore, most: u64) -> (u64, u64, f64) {
    let mut seat = store.seat().expect("a seat");
    let mut rng = Rng::new(1, "compact");
    let mut steps = Steps::new(Width::Fixed(1));
    let (mut brought, mut seconds) = (0, 0.0);
    let mut visits = Vec::new();
    while brought < most {
        steps.clear();
        for _ in 0..1024 {
            let state = [rng.next_word()];
            steps.push(0, Firing::of(0), &state, &state);
        }
        let started = Instant::now();
        store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
        seconds += started.elapsed().as_secs_f64();
        let full = visits.iter().position(|visit| *visit == Visit::Full);
        brought += full.unwrap_or(visits.len()) as u64;
        if full.is_some() {
            break;
        }
    }
    (brought, brought - store.len(), seconds * 1e9 / brought as f64)
}

fn report(store: &CompactStore, (brought, omitted, time): (u64, u64, f64)) {
    let precision = store.precision();
    let (least, most) = precision.band(0.99);
    println!("  {precision}");
    println!(
        "  {:.2} bytes a state, {:.2e} of the states omitted is expected; {omitted} were ({least} to {most} are no surprise at 99 %); {time:.0} ns a visit",
        store.bytes() as f64 / store.len() as f64,
        precision.expected_omissions / brought as f64,
    );
}

fn main() {
    let states: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let bytes = states as usize * 13 / 2;
    println!("64 bits in {bytes} bytes, until full");
    let store = CompactStore::new(64, 64, bytes, &Unlimited).expect("room");
    let run = fill(&store, u64::MAX);
    report(&store, run);
    let capacity = store.len();
    drop(store);

    let bytes = states as usize * 3;
    // About 21 of 2^r rests are taken in a full bucket, half of that on the way: 21 bits beside the address.
    let bits = ((bytes / 64) as f64).log2().floor() as u32 + 21;
    println!("{bits} bits in {bytes} bytes, until full");
    let store = CompactStore::new(bits, bits, bytes, &Unlimited).expect("room");
    let run = fill(&store, u64::MAX);
    report(&store, run);
    drop(store);

    println!("64 bits that may fall to 24, for {} states", 4 * capacity);
    let store = CompactStore::new(64, 24, states as usize * 13 / 2, &Unlimited).expect("room");
    let run = fill(&store, 4 * capacity);
    assert!(run.0 >= 4 * capacity, "it stopped");
    report(&store, run);
}
