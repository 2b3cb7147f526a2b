//! Peak resident memory against `--memory`, seen from outside.

use crate::Request;
use crate::models::PROMISE;
use crate::results::Results;
use crate::speed::ours;
use serde_json::json;

/// Prints peak over budget for ten models and three budgets, and the worst.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\npeak resident set as a share of --memory (never above 102 %), at most 30 s each");
    println!("{:<28} {:>10} {:>10} {:>10}", "model", "64M", "256M", "1G");
    let mut worst = 0f64;
    for file in PROMISE {
        let path = request.corpus.join("murphi").join(file);
        print!("{file:<28}");
        for (budget, bytes) in [("64M", 64u64 << 20), ("256M", 256 << 20), ("1G", 1 << 30)] {
            match ours(request, &path, None, &["--memory", budget, "--time", "30s"]) {
                Ok((cost, states)) => {
                    let share = cost.peak as f64 / bytes as f64;
                    worst = worst.max(share);
                    print!(" {:>8.1} %", share * 100.0);
                    results.add(json!({ "part": "promise", "model": file, "budget": bytes, "peak": cost.peak, "states": states }));
                }
                Err(error) => print!(" {error}"),
            }
        }
        println!();
    }
    println!("worst: {:.1} %", worst * 100.0);
}
