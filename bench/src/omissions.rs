//! States that the compact store takes for known ones if fingerprints are short: the true number, against the exact
//! store, beside the number that the report expects. States that are reachable only through an omitted one are
//! missing too, so more may be missing than expected.

use crate::Request;
use crate::results::Results;
use crate::speed::{ours, report};
use serde_json::json;

const MODELS: [&str; 2] = ["d-German_node3.m", "romp-german.m"];

/// Prints a row for each model and number of bits.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nomissions of the compact store: states missing against the exact store's, and the report's expectation");
    println!("{:<24} {:>5} {:>10} {:>10} {:>10} {:>12} {:>8}", "model", "bits", "exact", "compact", "missing", "expected", "ratio");
    for file in MODELS {
        let path = request.corpus.join("murphi").join(file);
        let all = match ours(request, &path, None, &[]) {
            Ok((_, states)) => states,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        for bits in [24, 28, 32, 36, 40] {
            let store = format!("compact:bits={bits},floor={bits}");
            match ours(request, &path, None, &["--store", &store, "--memory", "256M"]) {
                Ok((cost, _)) => {
                    let report = report(&cost);
                    // States that were new to the store are counted; distinct states are estimated.
                    let found = report["insertions"].as_u64().unwrap_or(0);
                    let (missing, expected) = (all as i64 - found as i64, report["expected_omissions"].as_f64().unwrap_or(f64::NAN));
                    println!("{file:<24} {bits:>5} {all:>10} {found:>10} {missing:>10} {expected:>12.1} {:>8.2}", missing as f64 / expected);
                    results.add(json!({ "part": "omissions", "model": file, "bits": bits, "states": all, "found": found, "missing": missing,
                        "expected": expected, "stop": report["stop"] }));
                }
                Err(error) => println!("{error}"),
            }
        }
    }
}
