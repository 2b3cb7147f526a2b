//! Steps per CPU second of whole runs of `walk` and `urs`, beside the bare walk of part `walk` in the same run.

use crate::Request;
use crate::results::Results;
use crate::speed::{ours, report};
use crate::walk::{Wanted, models, rate};
use serde_json::json;

/// Enough steps that the start-up of a process does not matter.
const STEPS: &str = "20000000";
/// The largest permitted slowdown of a search relative to the target rate of the bare walk.
const SLOWER: f64 = 1.5;

/// Prints the rates of the bare walk and of both strategies.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nsteps per CPU second of searches that choose firings, whole process, one core, best of {} interleaved runs", request.runs);
    println!("{:<24} {:<22} {:>10} {:>10} {:>20}", "model", "strategy", "M/s", "wanted", "bare walk is faster");
    for Wanted { file, path, space, rate: wanted } in models(request) {
        let strategies = ["walk:choice=firings", "urs:choice=firings"];
        let (mut bare, mut best) = (0f64, [0f64; 2]);
        for run in 0..request.runs {
            bare = bare.max(rate(&*space, run as u64));
            for (strategy, best) in strategies.iter().zip(&mut best) {
                match ours(request, &path, None, &["--strategy", strategy, "--steps", STEPS]) {
                    Ok((cost, _)) => *best = best.max(report(&cost)["steps"].as_f64().unwrap_or(0.0) / cost.cpu),
                    Err(error) => println!("  {error}"),
                }
            }
        }
        println!("{file:<24} {:<22} {:>10.2} {wanted:>10.2}", "bare walk", bare / 1e6);
        for (strategy, rate) in strategies.iter().zip(best) {
            println!("{:<24} {strategy:<22} {:>10.2} {:>10.2} {:>19.2}x", "", rate / 1e6, wanted / SLOWER, bare / rate);
            results.add(json!({ "part": "rates", "model": file, "strategy": strategy, "steps_per_cpu_second": rate, "bare_walk": bare }));
        }
    }
}
