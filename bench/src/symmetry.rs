//! States up to symmetry: CPU time against rumur, whose default heuristic may leave several states of an orbit, and
//! the gain from symmetry.

use crate::process::Cost;
use crate::results::Results;
use crate::speed::ours;
use crate::{Request, rumur};
use serde_json::json;
use std::path::Path;

/// Models of the comparison with rumur.
const RIVAL: [(&str, &str); 4] = [
    ("cm-mux-n_peterson.m", "n_peterson 7"),
    ("cm-mux-mcslock1.m", "mcslock1"),
    ("d-n_peterson6.m", "n_peterson 6"),
    ("romp-german.m", "German, 4 nodes (romp)"),
];

/// Prints CPU seconds of both sides and their ratio, and then of our own model of eight equal processes with and without symmetry.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nup to symmetry: CPU seconds to the end, whole process, one thread, best of {} interleaved runs", request.runs);
    println!("{:<24} {:>12} {:>10} {:>12} {:>10} {:>8}", "model", "rumur states", "seconds", "our states", "seconds", "ratio");
    for (file, name) in RIVAL {
        let path = request.corpus.join("murphi").join(file);
        let theirs = rumur::checker(request, &path, "heuristic").map_err(|error| println!("  {error}")).ok();
        let (mut rival, mut own) = (Best::default(), Best::default());
        for _ in 0..request.runs {
            rival.note(theirs.as_ref().and_then(|program| rumur::explore(program, None).ok()));
            own.note(ours(request, &path, None, &["--symmetry", "on"]).ok());
        }
        let ratio = rival.cpu / own.cpu;
        println!("{name:<24} {:>12} {:>10.3} {:>12} {:>10.3} {ratio:>7.1}x", rival.states, rival.cpu, own.states, own.cpu);
        results.add(json!({ "part": "symmetry", "model": file, "rumur_states": rival.states, "rumur": rival.cpu, "states": own.states, "wayfarer": own.cpu, "ratio": ratio }));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/murphi/connection_pool.m");
    let (mut off, mut on) = (Best::default(), Best::default());
    for _ in 0..request.runs {
        off.note(ours(request, &path, None, &[]).ok());
        on.note(ours(request, &path, None, &["--symmetry", "on"]).ok());
    }
    let (states, time) = (off.states as f64 / on.states as f64, off.cpu / on.cpu);
    println!(
        "eight equal processes: {} states in {:.3} s, {} orbits in {:.3} s: {states:.0}x fewer, {time:.0}x faster",
        off.states, off.cpu, on.states, on.cpu
    );
    results.add(json!({ "part": "symmetry", "model": "connection_pool.m", "states": off.states, "seconds": off.cpu, "orbits": on.states, "orbit_seconds": on.cpu }));
}

/// The cheapest of several runs.
struct Best {
    cpu: f64,
    states: u64,
}

impl Default for Best {
    fn default() -> Self {
        Best { cpu: f64::INFINITY, states: 0 }
    }
}

impl Best {
    fn note(&mut self, run: Option<(Cost, u64)>) {
        if let Some((cost, states)) = run {
            self.cpu = self.cpu.min(cost.cpu);
            self.states = states;
        }
    }
}
