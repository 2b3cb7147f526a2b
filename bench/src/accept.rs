//! The reliability of an acceptance by randomised breadth-first search, and its result on models with far more states
//! than its cache has slots.

use crate::Request;
use crate::rbfs::run;
use crate::results::Results;
use serde_json::json;
use std::sync::Arc;
use wayfarer::ir::Program;
use wayfarer::{LoadOptions, SymmetryChoice, load};

/// Models with their numbers of states, without symmetry.
const MODELS: [(&str, u64); 5] = [
    ("edmc-German_node2.m", 23_097),
    ("cm-mset-newcache3.m", 50_626),
    ("d-romp_german3.m", 58_104),
    ("m2c-tilelink.m", 69_885),
    ("cm-sci-sci.m", 109_080),
];
/// Models on which the cached search of another tool aborts.
const LARGE: [(&str, u64); 2] = [("cm-mux-mcslock1.m", 554_221), ("d-German_node3.m", 1_663_875)];
/// Slots as shares of the states.
const SHARES: [f64; 4] = [0.6, 0.75, 0.9, 1.0];
const VARIANTS: [&str; 2] = ["rbfs", "rbfs:own"];

/// Prints the number of accepted runs that missed a state, and then the runs on the large models.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    for variant in VARIANTS {
        accepted(request, variant, results);
    }
    println!("\nrandomised breadth-first search with slots for 50 % and 30 % of the states: it must end by itself, with a verdict");
    println!(
        "{:<24} {:<10} {:>6} {:<14} {:>10} {:>9} {:>9} {:>7} {:>7}",
        "model", "strategy", "slots", "stop", "verdict", "coverage", "overhead", "Pom1s", "visits"
    );
    for (file, reach) in LARGE {
        let Some(program) = program(request, file) else { continue };
        for (variant, share) in [(VARIANTS[0], 0.5), (VARIANTS[0], 0.3), (VARIANTS[1], 0.5), (VARIANTS[1], 0.3)] {
            let Some(report) = run(&program, &with_slots(variant, share, reach), 1, SymmetryChoice::Off) else {
                println!("{file}: {variant} did not run");
                continue;
            };
            let (coverage, overhead) = (report.states as f64 / reach as f64, report.insertions as f64 / report.states as f64);
            let (visits, pom1s) = (report.details.visits.len(), report.details.visits.last().and_then(|visit| visit.pom1s).unwrap_or(f64::NAN));
            println!(
                "{file:<24} {variant:<10} {share:>5.0}% {:<14} {:>10} {coverage:>9.4} {overhead:>9.3} {pom1s:>7.3} {visits:>7}",
                report.stop,
                report.verdict,
                share = share * 100.0
            );
            results.add(json!({ "part": "accept", "model": file, "strategy": report.strategy, "slots": share, "stop": report.stop.word(),
                "verdict": report.verdict.word(), "coverage": coverage, "overhead": overhead, "pom1s": pom1s, "visits": visits }));
        }
    }
}

/// Ten seeds and four sizes on each of five models.
fn accepted(request: &Request, variant: &str, results: &mut Results) {
    println!(
        "\nacceptance of {variant}, slots for 60, 75, 90 and 100 % of the states, ten seeds each; wanted: at least 60 accepted, at most 2 of them missed a state"
    );
    println!("{:<24} {:>10} {:>6} {:>10} {:>8}   accepted at each size", "model", "states", "runs", "accepted", "missed");
    let (mut runs, mut all_accepted, mut all_missed) = (0, 0, Vec::new());
    for (file, reach) in MODELS {
        let Some(program) = program(request, file) else { continue };
        let (mut done, mut sizes, mut missed) = (0, [0; SHARES.len()], 0);
        for (share, accepted) in SHARES.into_iter().zip(&mut sizes) {
            for seed in 1..=10 {
                let Some(report) = run(&program, &with_slots(variant, share, reach), seed, SymmetryChoice::Off) else { continue };
                done += 1;
                if report.stop == wayfarer::Stop::Accepted {
                    *accepted += 1;
                    if report.states < reach {
                        missed += 1;
                        all_missed.push(format!("{file}, {:.0} % of the slots, seed {seed}: {} of {reach} states", share * 100.0, report.states));
                    }
                }
                let pom1s = report.details.visits.last().and_then(|visit| visit.pom1s).unwrap_or(f64::NAN);
                results.add(
                    json!({ "part": "accept", "model": file, "strategy": report.strategy, "slots": share, "seed": seed, "stop": report.stop.word(),
                    "states": report.states, "reach": reach, "insertions": report.insertions, "pom1s": pom1s }),
                );
            }
        }
        let accepted: u32 = sizes.iter().sum();
        println!("{file:<24} {reach:>10} {done:>6} {accepted:>10} {missed:>8}   {sizes:?}");
        runs += done;
        all_accepted += accepted;
    }
    println!("{:<24} {:>10} {runs:>6} {all_accepted:>10} {:>8}", "together", "", all_missed.len());
    for run in all_missed {
        println!("  missed: {run}");
    }
}

fn with_slots(variant: &str, share: f64, reach: u64) -> String {
    format!("{variant}{}slots={}", if variant.contains(':') { ',' } else { ':' }, (share * reach as f64).ceil())
}

fn program(request: &Request, file: &str) -> Option<Arc<Program>> {
    let path = request.corpus.join("murphi").join(file);
    load(&path.to_string_lossy(), &LoadOptions::default()).map_err(|error| println!("{error}")).ok().map(|loaded| loaded.program)
}
