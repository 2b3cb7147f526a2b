//! The states that a run of `auto` actually visits: each of its steps is watched and compared with the states that an
//! exhaustive search visits.
//!
//! ```text
//! coverage MODEL SHARE STEPS …
//! ```
//!
//! SHARE gives the memory of the run: a share of the bytes that the exact store needs, such as `0.1`; or `slots:0.3`,
//! the bytes of 40-bit slots for that share of the states, plus those of the largest frontier. STEPS are shares of
//! the steps of the exhaustive search; there is one run for each. Prints the states, the bytes and, for each run, the
//! steps and the share of the states that were expanded. The list of states is not part of the budget.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use wayfarer::memory::{Budget, Counting};
use wayfarer::{LoadOptions, Plan, space_of};
use wayfarer_search::{Account, Auto, Bfs, Control, Deadlock, ExactStore, Job, Limits, Progress, Record, Remember, Settings, Stop, Unlimited};
use wayfarer_space::{Completeness, Fault, FaultClass, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word, hash};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("coverage: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure(arguments: &[String]) -> Result<(), String> {
    let [model, share, steps @ ..] = arguments else { return Err("usage: coverage MODEL SHARE STEPS …".to_string()) };
    let loaded = wayfarer::load(model, &LoadOptions::default()).map_err(|error| error.to_string())?;
    let plan = Plan::default();
    let space = space_of(&loaded.program, &plan);
    let settings = Settings { deadlock: Deadlock::Off, ..Settings::default() };

    // A hash of every state, and the cost of visiting them.
    let listed = Watched { inner: &*space, note: Note::List(Mutex::default()) };
    let mut widest = Widest::default();
    let store = ExactStore::new(space.packing().clone(), &Unlimited, usize::MAX).ok_or("there is no room for all states")?;
    let outcome = Job::new(&listed, &store, &mut Bfs::new(&Limits::default()), &settings).run(&mut widest);
    let exact = store.bytes();
    drop(store);
    let Note::List(list) = listed.note else { return Err("nothing was listed".to_string()) };
    let mut all = list.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_unstable();
    all.dedup();
    let states = all.len() as f64;
    let bytes = match share.strip_prefix("slots:") {
        Some(slots) => slots.parse::<f64>().map_err(|_| "slots: needs a number")? * states * 5.0 + widest.0 as f64 * space.packing().bytes() as f64,
        None => share.parse::<f64>().map_err(|_| "SHARE is a number, or slots: and one")? * exact as f64,
    };
    print!("{states} {bytes:.0}");
    for text in steps {
        let factor: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        let limits = Limits { steps: (outcome.steps as f64 * factor) as u64, ..Limits::default() };
        let seen = all.iter().map(|_| AtomicU8::new(0)).collect();
        let watched = Watched { inner: &*space, note: Note::Mark(&all, seen) };
        let settings = Settings { limits, record: Record::suiting(bytes as usize, space.packing()), ..settings.clone() };
        // The memory already in use is not counted for the run.
        let budget = Budget::of_run(bytes as usize);
        budget.excuse();
        let memory = budget.limit() - budget.limit() / 64 - budget.used();
        let auto = Auto { account: &budget, memory, workers: 1, seed: 1, confidence: 1.0, patient: true };
        let (outcome, store) = Job::in_phases(&watched, auto, &settings).run_keeping(&mut widest);
        drop(store);
        let Note::Mark(_, seen) = &watched.note else { return Err("nothing was marked".to_string()) };
        let met = seen.iter().filter(|mark| mark.load(Ordering::Relaxed) > 0).count();
        print!(" {} {:.6}", outcome.steps, met as f64 / states);
    }
    println!();
    Ok(())
}

/// The largest frontier.
#[derive(Default)]
struct Widest(u64);

impl Control for Widest {
    fn ask(&mut self, progress: &Progress) -> Option<Stop> {
        self.0 = self.0.max(progress.frontier);
        None
    }
}

/// A space that notes which states are expanded.
struct Watched<'a> {
    inner: &'a dyn Space,
    note: Note<'a>,
}

enum Note<'a> {
    /// Their hashes, as they come.
    List(Mutex<Vec<Word>>),
    /// Marks beside a sorted list of them.
    Mark(&'a [Word], Vec<AtomicU8>),
}

impl Watched<'_> {
    fn note(&self, state: &[Word]) {
        let hash = hash(state).second();
        match &self.note {
            Note::List(list) => list.lock().unwrap_or_else(PoisonError::into_inner).push(hash),
            Note::Mark(all, marks) => {
                if let Ok(place) = all.binary_search(&hash) {
                    marks[place].store(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Space for Watched<'_> {
    fn width(&self) -> Width {
        self.inner.width()
    }

    fn packing(&self) -> &Packing {
        self.inner.packing()
    }

    fn rules(&self) -> u32 {
        self.inner.rules()
    }

    fn properties(&self) -> u32 {
        self.inner.properties()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.inner.initial(steps)
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        batch.iter().for_each(|state| self.note(state));
        self.inner.expand(batch, from, steps)
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.note(state);
        self.inner.sample(state, rng, out)
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.inner.fire(state, firing, out)
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
        self.inner.check(state, bits)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.inner.asks_to_reach(property)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.inner.fault_class(fault)
    }
}
