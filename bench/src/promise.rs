//! Peak resident memory against `--memory`, measured from outside: ten models, every store, three budgets; the same for
//! `auto`, with its time; and for numbers of threads, with two more models that have very many enabled rules and very
//! many start states.

use crate::Request;
use crate::models::PROMISE;
use crate::process;
use crate::results::Results;
use crate::speed::{checking, report};
use serde_json::json;
use std::path::PathBuf;

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
/// The budgets of the grid over threads.
const MORE_BUDGETS: [(&str, u64); 4] = [BUDGETS[0], BUDGETS[1], BUDGETS[2], ("16G", 16 << 30)];
const THREADS: [&str; 4] = ["1", "2", "16", "64"];

/// Every state has 30,000 successors.
const MANY_RULES: &str = "type value: 0..29999; var at: array [0..2] of value; startstate at[0] := 0; at[1] := 0; at[2] := 0; end;
ruleset v: value do rule at[2] := at[1]; at[1] := at[0]; at[0] := v; end; end;
";
const MANY_STARTS: &str = "var at: 0..999999; turn: 0..1; ruleset s: 0..999999 do startstate at := s; turn := 0; end; end;
rule turn < 1 ==> turn := 1; end;
";

/// The limits of a promise.
struct Promise {
    /// `--time`.
    seconds: u64,
    /// The most memory a run may take, as a share of the budget.
    most: f64,
    /// The most seconds that a run may continue past `--time`.
    late: f64,
    models: Vec<PathBuf>,
    budgets: &'static [(&'static str, u64)],
}

impl Promise {
    fn of_ten(request: &Request, seconds: u64) -> Self {
        let models = PROMISE.iter().map(|file| request.corpus.join("murphi").join(file)).collect();
        Promise { seconds, most: 1.02, late: 1.0, models, budgets: &BUDGETS }
    }

    fn heading(&self) {
        let Promise { seconds, most, late, models, .. } = self;
        let (models, most) = (models.len(), most * 100.0);
        println!(
            "\nlargest peak resident set of {models} models as a share of --memory (never above {most:.0} %), --time {seconds}s (never {late} s late)"
        );
        let budgets: Vec<String> = self.budgets.iter().map(|(name, _)| format!("{name:>10}")).collect();
        println!("{:<22} {} {:>12}", "", budgets.join(" "), "longest");
    }
}

/// Prints the largest peak of the ten models for each store and budget, and every run that broke the promise.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    let promise = Promise::of_ten(request, 6);
    promise.heading();
    let mut broken = Vec::new();
    for (store, strategy) in STORES {
        row(request, results, &promise, store, &["--store", store, "--strategy", strategy], &mut broken);
    }
    conclude(&broken);
}

/// The same for `auto`, with time for its later phases.
pub(crate) fn measure_phases(request: &Request, results: &mut Results) {
    let promise = Promise::of_ten(request, 15);
    promise.heading();
    let mut broken = Vec::new();
    row(request, results, &promise, "auto", &["--strategy", "auto"], &mut broken);
    row(request, results, &promise, "auto, two threads", &["--strategy", "auto", "--threads", "2"], &mut broken);
    conclude(&broken);
}

/// The same for `auto` and `bfs` with several numbers of threads, more strictly, and on two models that are hard to fit.
pub(crate) fn measure_threads(request: &Request, results: &mut Results) {
    let mut promise = Promise { seconds: 3, most: 1.0, late: 0.5, budgets: &MORE_BUDGETS, ..Promise::of_ten(request, 3) };
    for (name, text) in [("many-rules.m", MANY_RULES), ("many-starts.m", MANY_STARTS)] {
        let path = request.work.join(name);
        match std::fs::write(&path, text) {
            Ok(()) => promise.models.insert(0, path),
            Err(error) => eprintln!("bench: cannot write {}: {error}", path.display()),
        }
    }
    promise.heading();
    let mut broken = Vec::new();
    for strategy in ["auto", "bfs"] {
        for threads in THREADS {
            let options = ["--strategy", strategy, "--threads", threads];
            let name = format!("{strategy}, {threads} threads");
            if name.contains(&request.only) {
                row(request, results, &promise, &name, &options, &mut broken);
            }
        }
    }
    conclude(&broken);
}

fn row(request: &Request, results: &mut Results, promise: &Promise, name: &str, options: &[&str], broken: &mut Vec<String>) {
    print!("{name:<22}");
    let mut longest = 0f64;
    for (budget, bytes) in promise.budgets {
        let mut worst = 0f64;
        for path in &promise.models {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let limit = format!("{}s", promise.seconds);
            let more = [&["--memory", budget, "--time", &limit, "--audit", "1000"], options].concat();
            let run = format!("{file} {} --memory {budget}", options.join(" "));
            let cost = match process::run(&mut checking(request, path, &more)) {
                Ok(cost) => cost,
                Err(error) => {
                    broken.push(format!("{run}: {error}"));
                    continue;
                }
            };
            let (share, report) = (cost.peak as f64 / *bytes as f64, report(&cost));
            (worst, longest) = (worst.max(share), longest.max(cost.wall));
            if share > promise.most {
                broken.push(format!("{run}: {:.1} %", share * 100.0));
            }
            if cost.wall > promise.seconds as f64 + promise.late {
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
