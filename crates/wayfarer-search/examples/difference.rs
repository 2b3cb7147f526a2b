//! The six nets of the difference-storage paper: what the difference store needs in the paper's accounting and in truth, and how long it takes against the
//! store that keeps every state whole.
//!
//!     cargo run --release -p wayfarer-search --example difference [STATES]
//!
//! Tokens lie in places, all of them in the first to begin with; a step moves a random token to a random place (Mukherjee, Tari, Bertok 2010). The paper's
//! Λ counts 499 states, four bytes a token for a whole one and four bytes for a difference, neither links nor table; Δ is what that saves against δ = 0.
//! Beside it stand true bytes a state, table and links included, of as many states as asked for (fewer where the net has fewer), and the time of all visits
//! against the exact store's in the same run. States are made beforehand, so that the time is the stores' own.

use std::time::Instant;
use wayfarer_search::{Candidates, Delta, DifferenceStore, ExactStore, Handle, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, Steps, Width, Word};

const NETS: [(u64, usize); 6] = [(4, 5), (60, 90), (200, 400), (400, 700), (800, 1000), (1500, 2000)];
const DELTAS: [u32; 5] = [1, 2, 3, 7, 20];
/// As many paths as fit a batch go on side by side, each a step a round: a batch of steps has sources, as a search's has.
const PATHS: usize = 64;
/// Room for the stores.
const MOST: usize = 4 << 30;

fn main() {
    let states: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    println!("places tokens  delta      Λ paper  Δ paper   bytes/state    less  of 4 B a token  time/explicit");
    for (places, tokens) in NETS {
        let net = Net::new(places, tokens);
        let (explicit, explicit_bytes, seen) = net.best(states, |packing| Box::new(ExactStore::new(packing, &Unlimited, MOST).expect("room")));
        for delta in DELTAS {
            let (time, bytes, same) =
                net.best(states, |packing| Box::new(DifferenceStore::new(packing, Delta::Every(delta), &Unlimited, MOST).expect("room")));
            assert_eq!(seen, same, "both stores hold the same states");
            let paper = lambda(tokens, delta);
            println!(
                "{places:6} {tokens:6} {delta:6} {paper:12} {:7.0}% {bytes:13.1} {:6.1}% {:14.1}% {:13.2}x",
                100.0 * (1.0 - paper as f64 / lambda(tokens, 1) as f64),
                100.0 * (1.0 - bytes / explicit_bytes),
                100.0 * bytes / (4 * tokens) as f64,
                time / explicit,
            );
        }
        println!("{:>20} {explicit_bytes:37.1} bytes/state, {:.0} ns a visit, {} states: explicit", "", explicit, seen);
    }
}

/// The paper's table 1: 499 states, four bytes a token or a difference.
fn lambda(tokens: usize, delta: u32) -> usize {
    let whole = 499usize.div_ceil(delta as usize);
    whole * 4 * tokens + (499 - whole) * 4
}

/// A net whose tokens move one at a time.
struct Net {
    places: u64,
    tokens: usize,
    /// Bits of a place's number.
    bits: u32,
    per_word: usize,
}

impl Net {
    fn new(places: u64, tokens: usize) -> Self {
        let bits = 64 - (places - 1).leading_zeros();
        Net { places, tokens, bits, per_word: (64 / bits) as usize }
    }

    fn packing(&self) -> Packing {
        let mask = |tokens: usize| if tokens as u32 * self.bits == 64 { Word::MAX } else { (1 << (tokens as u32 * self.bits)) - 1 };
        let words = self.tokens.div_ceil(self.per_word);
        Packing::new((0..words).map(|word| mask(self.per_word.min(self.tokens - word * self.per_word))).collect())
    }

    fn moved(&self, state: &mut [Word], rng: &mut Rng) -> usize {
        let token = rng.below(self.tokens as u64) as usize;
        let (word, shift) = (token / self.per_word, (token % self.per_word) as u32 * self.bits);
        let mask = ((1 << self.bits) - 1) << shift;
        state[word] = state[word] & !mask | rng.below(self.places) << shift;
        token
    }

    /// Nanoseconds a visit, bytes a state, states. Every batch counts with the fastest of five runs: other programs only make it slower.
    fn best(&self, steps: usize, make: impl Fn(Packing) -> Box<dyn Store>) -> (f64, f64, u64) {
        let (mut times, bytes, states) = self.run(steps, &make);
        for _ in 1..5 {
            for (best, time) in times.iter_mut().zip(self.run(steps, &make).0) {
                *best = time.min(*best);
            }
        }
        (times.iter().sum::<f64>() * 1e9 / (times.len() * PATHS) as f64, bytes, states)
    }

    /// A walk of so many steps, going on from the start where a step leads to a known state: seconds of each batch, bytes a state, states.
    fn run(&self, steps: usize, make: impl Fn(Packing) -> Box<dyn Store>) -> (Vec<f64>, f64, u64) {
        let packing = self.packing();
        let width = packing.masks().len();
        let store = make(packing);
        let mut seat = store.seat().expect("a seat");
        let mut rng = Rng::new(1, "difference nets");
        let mut visits = Vec::new();
        let mut times = Vec::new();
        let mut done = 0;
        let mut paths: Vec<(Handle, Vec<Word>)> = Vec::new();
        let mut start = Steps::new(Width::Fixed(width));
        let zero = vec![0; width];
        start.push(0, Firing::of(0), &zero, &zero);
        store.insert(&mut seat, Candidates { steps: &start, sources: &[] }, None, u64::MAX, &mut visits);
        paths.resize(PATHS, (Handle(0), zero));
        let mut batch = Steps::new(Width::Fixed(width));
        while done < steps {
            batch.clear();
            let sources: Vec<Handle> = paths.iter().map(|(handle, _)| *handle).collect();
            for (source, (_, state)) in paths.iter().enumerate() {
                let mut next = state.clone();
                let token = self.moved(&mut next, &mut rng);
                batch.push(source as u32, Firing { rule: token as u32, outcome: 0 }, state, &next);
            }
            let started = Instant::now();
            store.insert(&mut seat, Candidates { steps: &batch, sources: &sources }, None, u64::MAX, &mut visits);
            times.push(started.elapsed().as_secs_f64());
            done += PATHS;
            for (path, visit) in visits.iter().enumerate() {
                if let Visit::New(handle) = visit {
                    paths[path] = (*handle, batch.states.get(path).to_vec());
                }
            }
        }
        (times, store.bytes() as f64 / store.len() as f64, store.len())
    }
}
