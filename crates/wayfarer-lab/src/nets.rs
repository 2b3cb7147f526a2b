//! The six nets of the difference-storage paper, and the cost of visits to a store of their states.
//!
//! Tokens lie in places, initially all in the first; a step moves a random token to a random place
//! (Mukherjee, Tari, Bertok 2010). States are generated between the visits, so that the measured time is the
//! stores' own.

use std::time::Instant;
use wayfarer::search::{Candidates, Delta, DifferenceStore, ExactStore, Handle, Store, Unlimited, Visit};
use wayfarer::space::{Firing, Packing, Rng, Steps, Width, Word};

/// Places and tokens of the paper's nets.
pub const NETS: [(u64, usize); 6] = [(4, 5), (60, 90), (200, 400), (400, 700), (800, 1000), (1500, 2000)];

/// The paper's distances between whole states.
pub const DELTAS: [u32; 5] = [1, 2, 3, 7, 20];

/// The number of parallel paths, as many as fit into a batch. Each takes one step per round, so that a batch
/// of steps has sources, as in a search.
const PATHS: usize = 64;

/// The memory limit of the stores.
const MOST: usize = 4 << 30;

/// The cost of the visits of a run.
#[derive(Clone, Debug)]
pub struct Visits {
    /// Seconds of each batch.
    times: Vec<f64>,
    /// Bytes per state, table and links included.
    pub bytes: f64,
    /// Distinct states.
    pub states: u64,
}

impl Visits {
    /// Nanoseconds per visit.
    pub fn nanoseconds(&self) -> f64 {
        self.times.iter().sum::<f64>() * 1e9 / (self.times.len() * PATHS) as f64
    }

    /// Keeps the shorter time of every batch: other programs can only make it slower.
    fn keep_lesser(&mut self, other: &Visits) {
        for (time, other) in self.times.iter_mut().zip(&other.times) {
            *time = other.min(*time);
        }
    }
}

/// The costs of the stores on a net.
#[derive(Clone, Debug)]
pub struct Costs {
    /// The store that keeps every state whole.
    pub explicit: Visits,
    /// The difference store, for each of [`DELTAS`].
    pub difference: Vec<Visits>,
}

/// A net whose tokens move one at a time.
#[derive(Clone, Copy, Debug)]
pub struct Net {
    places: u64,
    tokens: usize,
    steps: usize,
    /// Bits of a place's number.
    bits: u32,
    per_word: usize,
}

impl Net {
    /// A net with the given numbers of places and tokens, on which walks make `steps` steps in total.
    pub fn new(places: u64, tokens: usize, steps: usize) -> Self {
        let bits = 64 - (places - 1).leading_zeros();
        Net { places, tokens, steps, bits, per_word: (64 / bits) as usize }
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

    /// The stores in `runs` interleaved runs, each of `passes` passes. Every pass makes the same visits, and the shortest time of
    /// each batch counts. Returns `None` if a store does not fit.
    pub fn repeated(&self, runs: usize, passes: usize) -> Option<Vec<Costs>> {
        (0..runs).map(|_| self.best(passes)).collect()
    }

    /// The stores in interleaved passes, with the shortest time of each batch.
    pub fn best(&self, passes: usize) -> Option<Costs> {
        let mut best = self.once()?;
        for _ in 1..passes.max(1) {
            let again = self.once()?;
            best.explicit.keep_lesser(&again.explicit);
            best.difference.iter_mut().zip(&again.difference).for_each(|(best, other)| best.keep_lesser(other));
        }
        Some(best)
    }

    fn once(&self) -> Option<Costs> {
        let explicit = self.run(&ExactStore::new(self.packing(), &Unlimited, MOST)?)?;
        let difference = |delta| self.run(&DifferenceStore::new(self.packing(), Delta::Every(delta), &Unlimited, MOST)?);
        Some(Costs { explicit, difference: DELTAS.into_iter().map(difference).collect::<Option<_>>()? })
    }

    /// Makes all steps; a walk whose step leads to a known state stays where it is.
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
        while done < self.steps {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_time_of_each_batch_counts() {
        let visits = |times: &[f64]| Visits { times: times.to_vec(), bytes: 1.0, states: 1 };
        let mut best = visits(&[1.0, 9.0, 3.0]);
        best.keep_lesser(&visits(&[2.0, 2.0, 2.0]));
        assert_eq!(best.times, [1.0, 2.0, 2.0]);
        let costs = Net::new(60, 90, 640).repeated(2, 2).unwrap();
        assert!(costs.len() == 2 && costs.iter().all(|costs| costs.explicit.times.len() == 10 && costs.difference.len() == DELTAS.len()));
    }
}
