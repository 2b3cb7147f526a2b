//! Peak resident memory against `--memory`, seen from outside: ten models, every store, three budgets.

use crate::Request;
use crate::models::PROMISE;
use crate::process;
use crate::results::Results;
use crate::speed::{checking, report};
use serde_json::json;

/// The stores, each with a strategy that suits it.
const STORES: [(&str, &str); 6] = [
    ("exact", "bfs"),
    ("tree", "bfs"),
    ("difference:delta=20", "bfs"),
    ("compact:bits=64", "bfs"),
    ("bitstate:k=3", "bfs"),
    ("cache:ways=8,bits=40", "rbfs"),
];
const BUDGETS: [(&str, u64); 3] = [("64M", 64 << 20), ("256M", 256 << 20), ("1G", 1 << 30)];
/// Of the budget, what a run may take at most.
const MOST: f64 = 1.02;

/// Prints the largest peak of the ten models for each store and budget, and every run that broke the promise.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nlargest peak resident set of {} models as a share of --memory (never above 102 %), at most 6 s each", PROMISE.len());
    println!("{:<22} {:>10} {:>10} {:>10}", "store", BUDGETS[0].0, BUDGETS[1].0, BUDGETS[2].0);
    let mut broken = Vec::new();
    for (store, strategy) in STORES {
        print!("{store:<22}");
        for (budget, bytes) in BUDGETS {
            let mut worst = 0f64;
            for file in PROMISE {
                let path = request.corpus.join("murphi").join(file);
                let more = ["--memory", budget, "--time", "6s", "--store", store, "--strategy", strategy, "--audit", "1000"];
                let run = format!("{file} --store {store} --memory {budget}");
                let cost = match process::run(&mut checking(request, &path, &more)) {
                    Ok(cost) => cost,
                    Err(error) => {
                        broken.push(format!("{run}: {error}"));
                        continue;
                    }
                };
                let (share, report) = (cost.peak as f64 / bytes as f64, report(&cost));
                worst = worst.max(share);
                if share > MOST {
                    broken.push(format!("{run}: {:.1} %", share * 100.0));
                }
                if !matches!(cost.code, Some(0 | 1)) || !report["verdict"].is_string() {
                    let how = cost.code.map_or("a signal".to_string(), |code| format!("exit code {code}"));
                    broken.push(format!("{run}: no verdict, ended by {how}"));
                }
                results.add(json!({ "part": "promise", "model": file, "store": store, "budget": bytes, "peak": cost.peak, "code": cost.code,
                    "states": report["states"], "verdict": report["verdict"], "stop": report["stop"], "seconds": cost.wall }));
            }
            print!(" {:>8.1} %", worst * 100.0);
        }
        println!();
    }
    println!("runs that broke the promise: {}", broken.len());
    for run in broken {
        println!("  {run}");
    }
}
