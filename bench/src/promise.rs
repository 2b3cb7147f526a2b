//! Peak resident memory against `--memory`, measured from outside: ten models, every store, three budgets; and the
//! same for `auto`, with its time.

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
/// The most memory a run may take, as a share of the budget.
const MOST: f64 = 1.02;
/// The most seconds that a run may continue past `--time`.
const LATE: f64 = 1.0;

/// Prints the largest peak of the ten models for each store and budget, and every run that broke the promise.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    heading(6);
    let mut broken = Vec::new();
    for (store, strategy) in STORES {
        row(request, results, store, &["--store", store, "--strategy", strategy], 6, &mut broken);
    }
    conclude(&broken);
}

/// The same for `auto`, with time for its later phases.
pub(crate) fn measure_phases(request: &Request, results: &mut Results) {
    heading(15);
    let mut broken = Vec::new();
    row(request, results, "auto", &["--strategy", "auto"], 15, &mut broken);
    row(request, results, "auto, two threads", &["--strategy", "auto", "--threads", "2"], 15, &mut broken);
    conclude(&broken);
}

fn heading(seconds: u64) {
    println!(
        "\nlargest peak resident set of {} models as a share of --memory (never above 102 %), --time {seconds}s (never a second late)",
        PROMISE.len()
    );
    println!("{:<22} {:>10} {:>10} {:>10} {:>12}", "", BUDGETS[0].0, BUDGETS[1].0, BUDGETS[2].0, "longest");
}

fn row(request: &Request, results: &mut Results, name: &str, options: &[&str], seconds: u64, broken: &mut Vec<String>) {
    print!("{name:<22}");
    let mut longest = 0f64;
    for (budget, bytes) in BUDGETS {
        let mut worst = 0f64;
        for file in PROMISE {
            let path = request.corpus.join("murphi").join(file);
            let limit = format!("{seconds}s");
            let more = [&["--memory", budget, "--time", &limit, "--audit", "1000"], options].concat();
            let run = format!("{file} {} --memory {budget}", options.join(" "));
            let cost = match process::run(&mut checking(request, &path, &more)) {
                Ok(cost) => cost,
                Err(error) => {
                    broken.push(format!("{run}: {error}"));
                    continue;
                }
            };
            let (share, report) = (cost.peak as f64 / bytes as f64, report(&cost));
            (worst, longest) = (worst.max(share), longest.max(cost.wall));
            if share > MOST {
                broken.push(format!("{run}: {:.1} %", share * 100.0));
            }
            if cost.wall > seconds as f64 + LATE {
                broken.push(format!("{run}: ended after {:.2} s", cost.wall));
            }
            if !matches!(cost.code, Some(0 | 1)) || !report["verdict"].is_string() {
                let how = cost.code.map_or("a signal".to_string(), |code| format!("exit code {code}"));
                broken.push(format!("{run}: no verdict, ended by {how}"));
            }
            results.add(json!({ "part": "promise", "model": file, "options": options, "budget": bytes, "peak": cost.peak, "code": cost.code,
                "states": report["states"], "verdict": report["verdict"], "stop": report["stop"], "seconds": cost.wall }));
        }
        print!(" {:>8.1} %", worst * 100.0);
    }
    println!(" {longest:>10.2} s");
}

fn conclude(broken: &[String]) {
    println!("runs that broke the promise: {}", broken.len());
    for run in broken {
        println!("  {run}");
    }
}
