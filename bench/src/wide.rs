//! The stores that remember every state, on models with wide states: bytes per state and CPU time of whole runs,
//! without symmetry.

use crate::Request;
use crate::results::Results;
use crate::speed::{ours, report};
use serde_json::json;

/// Models, and the target bytes per state of the tree store.
const MODELS: [(&str, f64); 3] = [("rud-msi.m", 9.0), ("cm-sym-cache3.m", 9.0), ("cm-others-newcache3.m", 12.0)];
const STORES: [&str; 3] = ["exact", "tree", "difference"];

/// Prints a row for each model and store.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nexact stores on wide models, whole process, one thread, best of {} interleaved runs; wanted of tree: at most 1.3x", request.runs);
    println!(
        "{:<24} {:<12} {:>10} {:>11} {:>12} {:>8} {:>10} {:>8}",
        "model", "store", "states", "state bits", "bytes/state", "wanted", "seconds", "/exact"
    );
    for (file, wanted) in MODELS {
        let path = request.corpus.join("murphi").join(file);
        let mut best: [Option<(f64, serde_json::Value)>; STORES.len()] = Default::default();
        for _ in 0..request.runs {
            for (store, best) in STORES.iter().zip(&mut best) {
                match ours(request, &path, None, &["--store", store]) {
                    Ok((cost, _)) if best.as_ref().is_none_or(|(cpu, _)| cost.cpu < *cpu) => *best = Some((cost.cpu, report(&cost))),
                    Ok(_) => {}
                    Err(error) => println!("  {error}"),
                }
            }
        }
        let exact = best[0].as_ref().map_or(f64::NAN, |(cpu, _)| *cpu);
        for (store, (cpu, report)) in STORES.iter().zip(best.into_iter().flatten()) {
            let count = |name: &str| report[name].as_u64().unwrap_or(0);
            let (states, bits, bytes) = (count("states"), count("state_bits"), report["bytes_per_state"].as_f64().unwrap_or(f64::NAN));
            let most = if *store == "tree" { format!("{wanted:.0}") } else { String::new() };
            println!("{file:<24} {store:<12} {states:>10} {bits:>11} {bytes:>12.2} {most:>8} {cpu:>10.2} {:>7.2}x", cpu / exact);
            results.add(json!({ "part": "wide", "model": file, "store": store, "states": states, "state_bits": bits, "bytes_per_state": bytes,
                "seconds": cpu, "to_exact": cpu / exact }));
        }
    }
}
