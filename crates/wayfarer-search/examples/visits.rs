//! How long a visit to the exact store takes: batches of states of two words, three quarters of them known.
//!
//!     cargo run --release -p wayfarer-search --example visits [STATES]

use std::time::Instant;
use wayfarer_search::{Candidates, ExactStore, Remember, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, Steps, Width};

fn main() {
    let states: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4_000_000);
    let store = ExactStore::new(Packing::new(vec![u64::MAX, 0x1F]), &Unlimited, 4 << 30).expect("room");
    let mut seat = store.seat().expect("a seat");
    let mut rng = Rng::new(1, "visits");
    let mut steps = Steps::new(Width::Fixed(2));
    let mut visits = Vec::new();
    let (mut seen, mut new, mut filling, mut visiting) = (0u64, 0u64, 0.0, 0.0);
    while new < states {
        let started = Instant::now();
        steps.clear();
        for number in 0..1024u64 {
            let key = if number % 4 == 0 { new + number / 4 } else { rng.below(new.max(1)) };
            let state = [key.wrapping_mul(0x9E37_79B9_7F4A_7C15), key & 0x1F];
            steps.push(0, Firing::of(0), &state, &state);
        }
        let filled = Instant::now();
        store.insert(&mut seat, Candidates { steps: &steps, sources: &[] }, None, u64::MAX, &mut visits);
        visiting += filled.elapsed().as_secs_f64();
        filling += (filled - started).as_secs_f64();
        let fresh = visits.iter().filter(|visit| matches!(visit, Visit::New(_))).count() as u64;
        new += fresh;
        seen += visits.len() as u64 - fresh;
    }
    let total = (new + seen) as f64;
    println!(
        "{new} new, {seen} seen: {:.1} ns a visit, {:.1} ns to make one; {:.2} bytes a state",
        visiting * 1e9 / total,
        filling * 1e9 / total,
        store.bytes() as f64 / new as f64
    );
}
