//! Random walks: steps per CPU second on one core, every invariant checked in every state.

use crate::Request;
use crate::process::own_cpu;
use crate::results::Results;
use serde_json::json;
use std::path::PathBuf;
use wayfarer::space::{Fired, PropertyBits, Rng, Space, Steps};
use wayfarer::{LoadOptions, Plan, load, space_of};

/// Models, and their target rates in million steps per CPU second.
const WANTED: [(&str, f64); 2] = [("cm-mux-mcslock1.m", 10.0), ("d-German_node3.m", 5.0)];

/// A model with a target rate.
pub(crate) struct Wanted {
    pub(crate) file: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) space: Box<dyn Space>,
    /// The target in million steps per CPU second.
    pub(crate) rate: f64,
}

/// The models with target rates. Prints the reason if one cannot be loaded.
pub(crate) fn models(request: &Request) -> impl Iterator<Item = Wanted> {
    WANTED.into_iter().filter_map(|(file, rate)| {
        let path = request.corpus.join("murphi").join(file);
        let loaded = load(&path.to_string_lossy(), &LoadOptions::default()).map_err(|error| println!("{file}: {error}")).ok()?;
        Some(Wanted { file, path, space: space_of(&loaded.program, &Plan::default()), rate })
    })
}

/// Prints the rate of a walk that restarts at a deadlock.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nrandom walk, steps per CPU second, one core, invariants checked, best of {} runs", request.runs);
    for Wanted { file, space, rate: wanted, .. } in models(request) {
        let best = (0..request.runs).map(|run| rate(&*space, run as u64)).fold(0.0, f64::max);
        println!("{file:<24} {:>8.2} M/s   (at least {wanted} M/s wanted)", best / 1e6);
        results.add(json!({ "part": "walk", "model": file, "steps_per_cpu_second": best }));
    }
}

/// Steps per CPU second of one walk.
pub(crate) fn rate(space: &dyn Space, seed: u64) -> f64 {
    const STEPS: u64 = 5_000_000;
    let mut starts = Steps::new(space.width());
    space.initial(&mut starts);
    let start = starts.states.get(0).to_vec();
    let (mut state, mut next) = (start.clone(), Vec::new());
    let mut rng = Rng::new(seed, "walk");
    let mut bits = PropertyBits::default();
    let before = own_cpu();
    for _ in 0..STEPS {
        match space.sample(&state, &mut rng, &mut next) {
            Some((_, Fired::To)) => std::mem::swap(&mut state, &mut next),
            _ => state.clone_from(&start),
        }
        bits.clear();
        let _ = space.check(&state, &mut bits);
        assert!(bits.is_empty(), "a state of these models violates an invariant");
    }
    STEPS as f64 / (own_cpu() - before).as_secs_f64()
}
