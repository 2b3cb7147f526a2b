//! The speed at which stores find or insert states, compared with `hashbrown` and `dashmap`: one core, tables of more
//! than 2 GiB, the same keys and hashes, and large pages for all (see [`LargePages`]). Then two threads on one store
//! against two threads on a store each, and the bytes that the compact store needs.
//!
//! Batches have 1024 states of two words, every other one new, the rest drawn from those known. The rivals are sized
//! for all states before the clock starts and keep a number of four bytes with each state, as the exact store keeps
//! its link; our stores grow as they go. `hashbrown` receives the hash that travels with a state; `dashmap` cannot
//! accept one and computes the same. Only the processor time of the table's own work counts.
#![allow(unsafe_code)] // An allocator and a clock.

use crate::results::Results;
use dashmap::DashMap;
use hashbrown::HashTable;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::hash::{BuildHasherDefault, Hasher};
use wayfarer_search::{Candidates, CompactStore, ExactStore, Remember, Seat, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, Steps, Width, hash};

/// The largest number of states of a round of the search, and the number of rounds between two readings of the clock.
const BATCH: u64 = 1024;
const BATCHES: usize = 8;
/// The number of states on one core, for the compact store and for the exact one, so that every table has more than 2
/// GiB; and the number of states in one turn.
const STATES: u64 = 200_000_000;
const FEWER: u64 = 100_000_000;
const TURN: u64 = 524_288;
/// The number of states of two threads together.
const SHARED: u64 = 40_000_000;

/// The system's allocator, which offers every large block as large pages.
pub(crate) struct LargePages;

impl LargePages {
    const LEAST: usize = 32 << 20;

    fn offer(block: *mut u8, bytes: usize) {
        #[cfg(target_os = "linux")]
        if !block.is_null() && bytes >= Self::LEAST {
            let page = 2 << 20;
            let from = (block as usize).next_multiple_of(page);
            let until = (block as usize + bytes) & !(page - 1);
            // SAFETY: the range lies inside the block, and the advice only affects how the system backs it.
            unsafe { libc::madvise(from as *mut libc::c_void, until - from, libc::MADV_HUGEPAGE) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (block, bytes);
    }
}

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the contract.
        let block = unsafe { System.alloc(layout) };
        Self::offer(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the contract.
        let block = unsafe { System.alloc_zeroed(layout) };
        Self::offer(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the contract.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A table that finds or inserts the states of a batch and returns the number of new ones.
trait Table {
    fn visit(&mut self, steps: &Steps) -> u64;
}

struct Ours<'a> {
    store: &'a dyn Store,
    seat: Seat,
    visits: Vec<Visit>,
}

impl<'a> Ours<'a> {
    fn at(store: &'a dyn Store) -> Self {
        Ours { store, seat: store.seat().expect("a seat"), visits: Vec::new() }
    }
}

impl Table for Ours<'_> {
    fn visit(&mut self, steps: &Steps) -> u64 {
        self.store.insert(&mut self.seat, Candidates { steps, sources: &[] }, None, u64::MAX, &mut self.visits);
        self.visits.iter().filter(|visit| matches!(visit, Visit::New(_))).count() as u64
    }
}

impl Table for HashTable<([u64; 2], u32)> {
    fn visit(&mut self, steps: &Steps) -> u64 {
        let before = self.len();
        for (state, hash) in steps.states.iter().zip(&steps.hashes) {
            let state = [state[0], state[1]];
            let number = self.len() as u32;
            // The folded lane has good bits everywhere, as hashbrown requires.
            self.entry(hash.address(), |entry| entry.0 == state, |entry| wayfarer_space::hash(&entry.0).address()).or_insert((state, number));
        }
        (self.len() - before) as u64
    }
}

/// The hash of a state, as a hasher that receives its two words.
#[derive(Default)]
struct StateHasher([u64; 2], usize);

impl Hasher for StateHasher {
    fn finish(&self) -> u64 {
        hash(&self.0).address()
    }
    fn write(&mut self, _bytes: &[u8]) {}
    fn write_u64(&mut self, word: u64) {
        self.0[self.1 & 1] = word;
        self.1 += 1;
    }
}

/// Two words with this hash.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(u64, u64);

impl std::hash::Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0);
        hasher.write_u64(self.1);
    }
}

impl Table for DashMap<State, u32, BuildHasherDefault<StateHasher>> {
    fn visit(&mut self, steps: &Steps) -> u64 {
        let mut new = 0;
        for state in steps.states.iter() {
            self.entry(State(state[0], state[1])).or_insert_with(|| {
                new += 1;
                new as u32
            });
        }
        new
    }
}

/// CPU seconds of this thread: on a shared machine the wall clock would count the work of others.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the struct it is given and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The progress of a table through the states: the next states, and the time of the table's own work.
struct Way {
    rng: Rng,
    lane: u64,
    batches: Vec<Steps>,
    made: u64,
    new: u64,
    visits: u64,
    seconds: f64,
}

impl Way {
    /// `lane` keeps the keys of several workers apart.
    fn new(lane: u64) -> Self {
        Way { rng: Rng::new(lane, "raw"), lane, batches: vec![Steps::new(Width::Fixed(2)); BATCHES], made: 0, new: 0, visits: 0, seconds: 0.0 }
    }

    /// Continues until `states` states were generated.
    fn go(&mut self, table: &mut dyn Table, states: u64) {
        while self.made < states {
            for steps in &mut self.batches {
                steps.clear();
                for number in 0..BATCH {
                    let key = if number % 2 == 0 {
                        self.made += 1;
                        self.made
                    } else {
                        1 + self.rng.below(self.made)
                    };
                    let state = [(key << 1 | self.lane).wrapping_mul(0x9E37_79B9_7F4A_7C15), key & 0x1F];
                    steps.push(0, Firing::of(0), &state, &state);
                }
            }
            self.visits += BATCHES as u64 * BATCH;
            let started = cpu_seconds();
            for steps in &self.batches {
                self.new += table.visit(steps);
            }
            self.seconds += cpu_seconds() - started;
        }
        assert!(self.new.abs_diff(self.made) < 10, "{} new of {}", self.new, self.made);
    }

    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.visits as f64
    }
}

fn exact(states: u64) -> ExactStore<'static> {
    ExactStore::new(Packing::new(vec![u64::MAX, 0x1F]), &Unlimited, states as usize * 40 + (64 << 20)).expect("room")
}

fn compact(states: u64) -> CompactStore<'static> {
    CompactStore::new(64, 64, states as usize * 11 + (1 << 16), &Unlimited).expect("room")
}

/// Runs and prints all measurements.
pub(crate) fn measure_all(results: &mut Results) {
    one_core(results);
    println!("\nvisits a microsecond by two threads on one store, and on a store each: with half of the states, and with all");
    two_threads("exact", exact, results);
    two_threads("compact", compact, results);
    bytes(results);
}

/// A table with its name.
type Runner<'a> = (&'static str, &'a mut dyn Table);

fn one_core(results: &mut Results) {
    println!("find or put, states of two words, half of the visits new, one core, large pages; tables in one race take turns of some milliseconds");
    println!("{:<12} {:>12} {:>12} {:>14}", "table", "states", "ns a visit", "ratio");
    let room = |states: u64| states as usize + BATCHES * BATCH as usize;
    let store = compact(STATES);
    race(STATES, [("compact", &mut Ours::at(&store)), ("hashbrown", &mut HashTable::with_capacity(room(STATES)))], results);
    drop(store);
    let dashmap = |states: u64| DashMap::with_capacity_and_hasher(room(states), BuildHasherDefault::<StateHasher>::default());
    let store = compact(STATES);
    race(STATES, [("compact", &mut Ours::at(&store)), ("dashmap", &mut dashmap(STATES))], results);
    drop(store);
    let store = exact(FEWER);
    let rivals: [Runner; 3] =
        [("exact", &mut Ours::at(&store)), ("hashbrown", &mut HashTable::with_capacity(room(FEWER))), ("dashmap", &mut dashmap(FEWER))];
    race(FEWER, rivals, results);
}

/// All tables take turns, so that other load on the machine affects them alike. The first is ours; its ratio to each
/// other one is printed.
fn race<const TABLES: usize>(states: u64, mut tables: [Runner; TABLES], results: &mut Results) {
    let mut ways = [(); TABLES].map(|()| Way::new(0));
    for until in (1..=states / TURN).map(|turn| turn * TURN) {
        for ((_, table), way) in tables.iter_mut().zip(&mut ways) {
            way.go(*table, until);
        }
    }
    let ours = ways[0].nanoseconds();
    for ((name, _), way) in tables.iter().zip(&ways) {
        let ratio = way.nanoseconds() / ours;
        println!("{name:<12} {states:>12} {:>12.1} {ratio:>13.2}x", way.nanoseconds());
        results.add(json!({
            "part": "raw", "table": name, "against": tables[0].0, "states": states, "nanoseconds": way.nanoseconds(), "ratio": ratio
        }));
    }
}

/// Two threads with `states` states each, on one store or on one each. Returns their combined visits per nanosecond,
/// by each thread's own clock.
fn pair(stores: [&dyn Store; 2], states: u64) -> f64 {
    let times = std::thread::scope(|scope| {
        let workers = stores.map(Ours::at);
        let threads: Vec<_> = workers
            .into_iter()
            .zip(0..)
            .map(|(mut worker, lane)| {
                scope.spawn(move || {
                    let mut way = Way::new(lane);
                    way.go(&mut worker, states);
                    way.nanoseconds()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    times.iter().map(|time| 1.0 / time).sum()
}

/// Two threads on one store; two threads on a store each that ends with half as many states, so that the work is the
/// same; and the same with as many states, so that caches help equally.
fn two_threads<S: Store>(name: &str, make: impl Fn(u64) -> S, results: &mut Results) {
    let shared = make(SHARED);
    let together = pair([&shared, &shared], SHARED / 2);
    drop(shared);
    let apart = |states: u64| {
        let (one, other) = (make(states), make(states));
        pair([&one, &other], states)
    };
    let (half, full) = (apart(SHARED / 2), apart(SHARED));
    println!(
        "{name:<12} {:>8.1} {:>8.1} {:>8.1}: {:.2} and {:.2} of the copies",
        1e3 * together,
        1e3 * half,
        1e3 * full,
        together / half,
        together / full
    );
    results.add(json!({ "part": "raw", "store": name, "two_threads_to_half": together / half, "two_threads_to_full": together / full }));
}

/// Bytes per state of the compact store when it is full: at 64 bits, and at bits that omit one state of 100,000.
fn bytes(results: &mut Results) {
    let states = 10_000_000;
    // About 21 of 2^r remainders are taken in a full bucket, and half of that on average: 21 bits beside the address.
    let few = ((states * 3 / 64) as f64).log2().floor() as u32 + 21;
    println!("\ncompact until full, random states");
    for (bits, bytes) in [(64, states * 13 / 2), (few, states * 3)] {
        let store = CompactStore::new(bits, bits, bytes, &Unlimited).expect("room");
        let mut worker = Ours::at(&store);
        let mut rng = Rng::new(1, "compact");
        let mut steps = Steps::new(Width::Fixed(1));
        while !worker.visits.contains(&Visit::Full) {
            steps.clear();
            for _ in 0..1024 {
                let state = [rng.next_word()];
                steps.push(0, Firing::of(0), &state, &state);
            }
            worker.visit(&steps);
        }
        let per_state = store.bytes() as f64 / store.len() as f64;
        let omitted = store.precision().expected_omissions / store.len() as f64;
        println!("{:>12} states at {bits} bits: {per_state:.2} bytes a state, {omitted:.1e} of the states omitted is expected", store.len());
        results
            .add(json!({ "part": "raw", "store": "compact", "bits": bits, "states": store.len(), "bytes_per_state": per_state, "omitted": omitted }));
    }
}
