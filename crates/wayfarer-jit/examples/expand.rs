//! Measures the cost of one expansion, one sample and one check. Takes the path of a program in the text form (`-`
//! for the MCS lock), the most states, and the number of times to expand them.
//!
//! The walk over the states is breadth first over at most a million, with a table that costs extra and is not
//! counted.

#[path = "../tests/it/mcslock.rs"]
mod mcslock;

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use wayfarer_ir::{Limits, text};
use wayfarer_jit::Compiled;
use wayfarer_space::{Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// Nanoseconds of processor time, so that other work on the machine counts less; of wall-clock time if the system
/// does not provide it.
struct Watch(u64, Instant);

impl Watch {
    fn start() -> Self {
        Watch(on_processor().unwrap_or(0), Instant::now())
    }

    fn nanos(&self) -> f64 {
        on_processor().map_or(self.1.elapsed().as_nanos() as f64, |now| (now - self.0) as f64)
    }
}

fn on_processor() -> Option<u64> {
    std::fs::read_to_string("/proc/self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() {
    let begin = Instant::now();
    let program = match std::env::args().nth(1) {
        Some(path) if path != "-" => Arc::new(text::read(&std::fs::read_to_string(path).expect("a readable file")).expect("a program")),
        _ => mcslock::program(),
    };
    let most: usize = std::env::args().nth(2).map_or(1_000_000, |text| text.parse().expect("a number"));
    let read = begin.elapsed();
    let begin = Instant::now();
    let compiled = Compiled::new(program, Limits::default()).expect("a supported machine");
    println!("read {read:?}, compile guards and properties {:?}, {} rules, {} words", begin.elapsed(), compiled.rules(), compiled.width_words());
    let begin = Instant::now();
    let mut steps = Steps::new(compiled.width());
    compiled.initial(&mut steps);
    println!("initial {:?}, {} bytes of code", begin.elapsed(), compiled.code_bytes());

    let mut known: HashSet<Box<[Word]>> = HashSet::new();
    let mut all = States::new(compiled.width());
    let mut level = States::new(compiled.width());
    let mut first = true;
    loop {
        level.clear();
        for state in steps.states.iter() {
            if known.len() < most && known.insert(state.into()) {
                level.push(state);
                all.push(state);
            }
        }
        if level.is_empty() {
            break;
        }
        let begin = Instant::now();
        compiled.expand(&level, Firing::of(0), &mut steps);
        if std::mem::take(&mut first) {
            println!("first expansion {:?}", begin.elapsed());
        }
    }
    println!("{} states, {} functions, {} bytes of code", all.len(), compiled.code_functions(), compiled.code_bytes());

    let mut batch = States::new(compiled.width());
    let rounds: usize = std::env::args().nth(3).map_or(3, |text| text.parse().expect("a number"));
    for _ in 0..rounds {
        let (mut made, mut enabled) = (0u64, 0u64);
        let begin = Watch::start();
        for start in (0..all.len()).step_by(64) {
            batch.clear();
            (start..(start + 64).min(all.len())).for_each(|index| batch.push(all.get(index)));
            compiled.expand(&batch, Firing::of(0), &mut steps);
            made += steps.len() as u64;
            enabled += steps.enabled.iter().map(|count| u64::from(*count)).sum::<u64>();
        }
        let nanos = begin.nanos();
        println!("expand: {:.1} ns per state, {:.1} ns per step, {enabled} enabled, {made} steps", nanos / all.len() as f64, nanos / made as f64);
    }
    if rounds == 0 {
        return;
    }
    let begin = Watch::start();
    let mut count = 0u64;
    for state in all.iter() {
        count += u64::from(compiled.count_enabled(black_box(state)));
    }
    println!("guards: {:.1} ns per state, {count} enabled", begin.nanos() / all.len() as f64);
    let begin = Watch::start();
    let mut bits = PropertyBits::default();
    for state in all.iter() {
        let _ = black_box(compiled.check(black_box(state), &mut bits));
    }
    println!("check: {:.1} ns per state", begin.nanos() / all.len() as f64);
    let mut rng = Rng::new(1, "walk");
    let (mut state, mut next) = (all.get(0).to_vec(), Vec::new());
    let walk = 5_000_000;
    let begin = Watch::start();
    for _ in 0..walk {
        match compiled.sample(&state, &mut rng, &mut next) {
            Some((_, wayfarer_space::Fired::To)) => std::mem::swap(&mut state, &mut next),
            _ => state.copy_from_slice(all.get(0)),
        }
    }
    println!("sample: {:.1} ns per step", begin.nanos() / f64::from(walk));
}
