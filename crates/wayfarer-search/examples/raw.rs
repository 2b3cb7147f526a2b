//! How fast stores find or put states, beside `hashbrown` and `dashmap`: one core, tables well beyond the last-level cache, the same keys and hashes, and
//! large pages for all (the program starts itself again with the allocator's large pages on).
//!
//!     cargo run --release -p wayfarer-search --example raw [STATES] [threads | exact | compact]
//!
//! Batches of 256 states of two words, every other one new, the rest drawn from those known. As in a search, stores are told two batches ahead what will
//! be visited (that time counts too). The rivals are sized for all states before the clock
//! starts and keep a number of four bytes with each state, as the exact store keeps its link; the exact store grows as it goes. `hashbrown` is given the
//! hash that travels with a state, `dashmap` has no way to take one and computes the same. With `threads`, two threads on one store are compared with two
//! threads on a store each; with a store's name it runs alone, without rivals. At 100,000,000 states every table but the compact one is larger than 2 GiB.

use dashmap::DashMap;
use hashbrown::HashTable;
use std::hash::{BuildHasherDefault, Hasher};
use wayfarer_search::{Candidates, CompactStore, ExactStore, Hint, Seat, Store, Unlimited, Visit};
use wayfarer_space::{Firing, Packing, Rng, Steps, Width, hash};

const BATCH: u64 = 256;
const HUGE: &str = "glibc.malloc.hugetlb=1";

/// A table that finds or puts the states of a batch and says how many were new.
trait Table {
    fn visit(&mut self, steps: &Steps) -> u64;

    /// Says what will be visited after others, where the table can make use of it.
    fn hint(&mut self, _steps: &Steps, _hint: Hint) {}
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

    fn hint(&mut self, steps: &Steps, hint: Hint) {
        self.store.hint(&mut self.seat, &steps.hashes, hint);
    }
}

impl Table for HashTable<([u64; 2], u32)> {
    fn visit(&mut self, steps: &Steps) -> u64 {
        let before = self.len();
        for (state, hash) in steps.states.iter().zip(&steps.hashes) {
            let state = [state[0], state[1]];
            let number = self.len() as u32;
            // The folded lane has good bits everywhere, as hashbrown needs them.
            self.entry(hash.address(), |entry| entry.0 == state, |entry| wayfarer_space::hash(&entry.0).address()).or_insert((state, number));
        }
        (self.len() - before) as u64
    }
}

/// The hash of a state as a hasher that is given its two words.
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

/// Two words that hash as such.
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

/// Seconds that this thread has run: on a shared machine the wall clock would count what others do.
#[allow(unsafe_code)]
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the struct it is given and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Puts `states` states into a table and gives nanoseconds per visit; only the processor time of the table's own work counts. `lane` keeps the keys of several workers apart.
fn measure(table: &mut dyn Table, states: u64, lane: u64) -> f64 {
    let mut rng = Rng::new(lane, "raw");
    let mut rounds = [(); 3].map(|()| Steps::new(Width::Fixed(2)));
    let (mut made, mut new, mut visits, mut seconds) = (0, 0, 0u64, 0.0);
    while made < states {
        rounds.rotate_right(1);
        let [steps, next, now] = &mut rounds;
        steps.clear();
        for number in 0..BATCH {
            let key = if number % 2 == 0 {
                made += 1;
                made
            } else {
                1 + rng.below(made)
            };
            let state = [(key << 1 | lane).wrapping_mul(0x9E37_79B9_7F4A_7C15), key & 0x1F];
            steps.push(0, Firing::of(0), &state, &state);
        }
        visits += now.len() as u64;
        let started = cpu_seconds();
        table.hint(steps, Hint::Place);
        table.hint(next, Hint::State);
        new += table.visit(now);
        seconds += cpu_seconds() - started;
    }
    assert!(new.abs_diff(made - BATCH) < 10, "{new} new of {made} less two batches");
    seconds * 1e9 / visits as f64
}

fn exact(states: u64) -> ExactStore<'static> {
    ExactStore::new(Packing::new(vec![u64::MAX, 0x1F]), &Unlimited, states as usize * 40 + (64 << 20)).expect("room")
}

fn compact(states: u64) -> CompactStore {
    CompactStore::new(64, 64, states as usize * 10 + (1 << 16), &Unlimited).expect("room")
}

fn one_core(states: u64, only: Option<&str>) {
    let mut results = Vec::new();
    if only.is_none_or(|name| name == "exact") {
        let store = exact(states);
        let time = measure(&mut Ours::at(&store), states, 0);
        println!("exact      {time:6.1} ns a visit, {:5.2} bytes a state", store.bytes() as f64 / states as f64);
        results.push(("exact", time));
    }
    if only.is_none_or(|name| name == "compact") {
        let store = compact(states);
        let time = measure(&mut Ours::at(&store), states, 0);
        println!("compact    {time:6.1} ns a visit, {:5.2} bytes a state, {}", store.bytes() as f64 / states as f64, store.precision());
        results.push(("compact", time));
    }
    if only.is_some() {
        return;
    }
    let mut table = HashTable::with_capacity(states as usize + BATCH as usize);
    let hashbrown = measure(&mut table, states, 0);
    println!("hashbrown  {hashbrown:6.1} ns a visit, {:5.2} bytes a state", table.allocation_size() as f64 / states as f64);
    drop(table);
    let dashmap = measure(&mut DashMap::with_capacity_and_hasher(states as usize + BATCH as usize, BuildHasherDefault::default()), states, 0);
    println!("dashmap    {dashmap:6.1} ns a visit");
    for (name, time) in results {
        println!("{name}: {:.2} times as fast as hashbrown, {:.2} times as fast as dashmap", hashbrown / time, dashmap / time);
    }
}

/// Two threads with half of the states each, on one store or on one each: visits per nanosecond together, by each thread's own clock.
fn pair(stores: [&dyn Store; 2], states: u64) -> f64 {
    let times = std::thread::scope(|scope| {
        let workers = stores.map(Ours::at);
        let threads: Vec<_> =
            workers.into_iter().zip(0..).map(|(mut worker, lane)| scope.spawn(move || measure(&mut worker, states / 2, lane))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    times.iter().map(|time| 1.0 / time).sum()
}

fn two_threads(states: u64) {
    let shared = exact(states);
    let together = pair([&shared, &shared], states);
    drop(shared);
    let (one, other) = (exact(states / 2), exact(states / 2));
    let apart = pair([&one, &other], states);
    drop((one, other));
    println!(
        "exact, two threads: {:.2} of what two stores of half the size reach ({:.1} and {:.1} visits a microsecond)",
        together / apart,
        1e3 * together,
        1e3 * apart
    );
    let shared = compact(states);
    let together = pair([&shared, &shared], states);
    drop(shared);
    let (one, other) = (compact(states / 2), compact(states / 2));
    let apart = pair([&one, &other], states);
    println!(
        "compact, two threads: {:.2} of what two stores of half the size reach ({:.1} and {:.1} visits a microsecond)",
        together / apart,
        1e3 * together,
        1e3 * apart
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    if std::env::var_os("GLIBC_TUNABLES").is_none() {
        let program = std::env::current_exe().expect("a path to this program");
        let status = std::process::Command::new(program).args(arguments).env("GLIBC_TUNABLES", HUGE).status().expect("a second start");
        std::process::exit(status.code().unwrap_or(1));
    }
    let states: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100_000_000);
    match arguments.next().as_deref() {
        Some("threads") => two_threads(states),
        only => one_core(states, only),
    }
}
