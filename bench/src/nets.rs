//! The six nets of the difference-storage paper: what the difference store needs in the paper's accounting and in truth, and how long it takes against the
//! store that keeps every state whole.
//!
//! Tokens lie in places, all of them in the first to begin with; a step moves a random token to a random place (Mukherjee, Tari, Bertok 2010). The paper's
//! Λ and Δ are those of [`TableOne`], which counts neither links nor table. Beside them stand true bytes a state, table and links included, of 10⁵ states
//! (the smallest net has 1,024), and the time of all visits against the exact store's in the same run. States are made between the visits, so that the
//! time is the stores' own.

use crate::Request;
use crate::results::Results;
use serde_json::json;
use std::time::Instant;
use wayfarer_search::{Candidates, Delta, DifferenceStore, ExactStore, Handle, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, Steps, Width, Word};
use wayfarer_theory::TableOne;

/// Places and tokens, and how many times longer the paper's store takes at δ = 20 than its explicit one: 1 and the η of its table 2.
const NETS: [(u64, usize, f64); 6] = [(4, 5, f64::INFINITY), (60, 90, 28.5), (200, 400, 8.5), (400, 700, 5.5), (800, 1000, 4.25), (1500, 2000, 3.0)];
const DELTAS: [u32; 5] = [1, 2, 3, 7, 20];
/// Steps, a few of which lead to known states.
const STEPS: usize = 102_400;
/// As many paths as fit a batch go on side by side, each a step a round: a batch of steps has sources, as a search's has.
const PATHS: usize = 64;
/// Room for the stores.
const MOST: usize = 4 << 30;

/// Prints a row for each net and δ.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\ndifference storage on the nets of its paper, best of {} interleaved runs; wanted at δ = 20: 95 % less on the large ones, time at most 1.3x",
        request.runs
    );
    println!("places tokens  states  delta      Λ paper  Δ paper   bytes/state    less  of 4 B a token  time paper  time/explicit");
    for (places, tokens, slower) in NETS {
        let Some((explicit, ours)) = Net::new(places, tokens).best(request.runs) else {
            println!("there is no room for {places} places and {tokens} tokens");
            continue;
        };
        let table = TableOne::new(tokens as u64);
        for (delta, ours) in DELTAS.into_iter().zip(ours) {
            assert_eq!(explicit.states, ours.states, "both stores hold the same states");
            let (delta, time) = (u64::from(delta), ours.nanoseconds() / explicit.nanoseconds());
            let paper = match delta {
                20 if slower.is_finite() => format!("{slower:.2}x"),
                20 => "∞".to_string(),
                _ => String::new(),
            };
            println!(
                "{places:6} {tokens:6} {:7} {delta:6} {:12} {:7.1}% {:13.1} {:6.1}% {:14.1}% {paper:>11} {time:13.2}x",
                ours.states,
                table.bytes(delta),
                100.0 * table.saved(delta),
                ours.bytes,
                100.0 * (1.0 - ours.bytes / explicit.bytes),
                100.0 * ours.bytes / (4 * tokens) as f64,
            );
            results.add(json!({ "part": "nets", "places": places, "tokens": tokens, "delta": delta, "states": ours.states,
                "paper_bytes": table.bytes(delta), "paper_saved": table.saved(delta),
                "bytes_per_state": ours.bytes, "explicit_bytes_per_state": explicit.bytes,
                "ns_per_visit": ours.nanoseconds(), "explicit_ns_per_visit": explicit.nanoseconds(), "time_ratio": time }));
        }
        println!("{:14} {:7} explicit {:39.1} bytes/state, {:.0} ns a visit", "", explicit.states, explicit.bytes, explicit.nanoseconds());
    }
}

/// What the visits of a run cost.
struct Visits {
    /// Seconds of each batch.
    times: Vec<f64>,
    /// Bytes per state.
    bytes: f64,
    states: u64,
}

impl Visits {
    /// Nanoseconds a visit.
    fn nanoseconds(&self) -> f64 {
        self.times.iter().sum::<f64>() * 1e9 / (self.times.len() * PATHS) as f64
    }

    /// Keeps the lesser time of every batch: other programs only make it slower.
    fn keep_lesser(&mut self, other: &Visits) {
        for (time, other) in self.times.iter_mut().zip(&other.times) {
            *time = other.min(*time);
        }
    }
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

    /// The exact store and the difference store at every δ, in interleaved runs. None where there is no room for a store.
    fn best(&self, runs: usize) -> Option<(Visits, Vec<Visits>)> {
        let (mut explicit, mut ours) = self.once()?;
        for _ in 1..runs {
            let (again, others) = self.once()?;
            explicit.keep_lesser(&again);
            ours.iter_mut().zip(&others).for_each(|(best, other)| best.keep_lesser(other));
        }
        Some((explicit, ours))
    }

    fn once(&self) -> Option<(Visits, Vec<Visits>)> {
        let explicit = self.run(&ExactStore::new(self.packing(), &Unlimited, MOST)?)?;
        let difference = |delta| self.run(&DifferenceStore::new(self.packing(), Delta::Every(delta), &Unlimited, MOST)?);
        Some((explicit, DELTAS.into_iter().map(difference).collect::<Option<_>>()?))
    }

    /// Walks of [`STEPS`] steps together; one whose step leads to a known state stays where it is.
    fn run(&self, store: &dyn Store) -> Option<Visits> {
        let width = self.packing().masks().len();
        let mut seat = store.seat()?;
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
        while done < STEPS {
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
        Some(Visits { times, bytes: store.bytes() as f64 / store.len() as f64, states: store.len() })
    }
}
