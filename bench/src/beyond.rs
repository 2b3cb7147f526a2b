//! Searches that continue when memory is full, against breadth-first search, which stops there: models of at least
//! five times the budget, and ten times the CPU time in which breadth-first search fills memory (Figure 5 of Abed,
//! Tripakis and Vincent).

use crate::Request;
use crate::process::within_cpu;
use crate::results::Results;
use crate::speed::{checking, ours, report};
use serde_json::{Value, json};
use std::path::Path;

/// Models with a budget; each needs at least five times as much.
const MODELS: [(&str, &str); 4] =
    [("d-n_peterson6.m", "64M"), ("edmc-German_node4.m", "64M"), ("pb-flash_data.m", "24M"), ("rumur-pending-queue.m", "24M")];
/// The searches that continue.
const VARIANTS: [&str; 3] = ["from=initial", "from=visited", "replace=random"];
/// The time of the searches that continue, as a multiple of breadth-first search's.
const LONGER: f64 = 10.0;

/// Prints distinct states for each model and strategy, and their ratio to those of breadth-first search.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\nbeyond memory: distinct states in {LONGER} times the CPU time in which bfs fills memory; wanted: more than bfs, on one model 1.4x and more"
    );
    println!("{:<22} {:>6} {:<22} {:>8} {:>12} {:>8} {:>12} {:>7}", "model", "memory", "strategy", "seconds", "states", "error", "steps", "ratio");
    for (file, budget) in MODELS {
        let path = request.corpus.join("murphi").join(file);
        let (cost, states) = match ours(request, &path, None, &["--memory", budget]) {
            Ok(run) => run,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let bfs = report(&cost);
        if bfs["stop"] != "memory" {
            println!("{file:<22} fits {budget}");
            continue;
        }
        println!(
            "{file:<22} {budget:>6} {:<22} {:>8.2} {states:>12} {:>8} {:>12} {:>7}",
            "bfs",
            cost.cpu,
            "",
            bfs["steps"].as_u64().unwrap_or(0),
            ""
        );
        results.add(json!({ "part": "beyond", "model": file, "memory": budget, "strategy": "bfs", "seconds": cost.cpu, "states": states }));
        for strategy in ["rurs", "rsdrs"] {
            for variant in VARIANTS {
                let strategy = format!("{strategy}:{variant}");
                let curve = request.work.join("curve.csv");
                let more = ["--memory", budget, "--strategy", &strategy, "--curve", &curve.to_string_lossy()];
                let cost = match within_cpu(&mut checking(request, &path, &more), LONGER * cost.cpu) {
                    Ok(cost) => cost,
                    Err(error) => {
                        println!("{error}");
                        continue;
                    }
                };
                let report = report(&cost);
                let (covered, error) = (report["states"].as_u64().unwrap_or(0), report["states_error"].as_f64().unwrap_or(0.0));
                let ratio = covered as f64 / states as f64;
                println!("{:<29} {strategy:<22} {:>8.2} {covered:>12} {:>6.1} % {:>12} {ratio:>6.2}x", "", cost.cpu, error * 100.0, report["steps"]);
                results.add(json!({ "part": "beyond", "model": file, "memory": budget, "strategy": strategy, "seconds": cost.cpu, "states": covered,
                    "states_error": error, "steps": report["steps"], "ratio": ratio, "stop": report["stop"], "curve": points(&curve) }));
            }
        }
    }
}

/// At most forty points of a curve, as steps, seconds and states.
fn points(curve: &Path) -> Vec<[Value; 3]> {
    let text = std::fs::read_to_string(curve).unwrap_or_default();
    let number = |text: &str| text.parse().map_or(Value::Null, |number: f64| json!(number));
    let point = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
        [_, steps, seconds, states] => Some([number(steps), number(seconds), number(states)]),
        _ => None,
    };
    let points: Vec<_> = text.lines().skip(1).filter_map(point).collect();
    let apart = points.len().div_ceil(40).max(1);
    // From the end, so that the last point is among them.
    let mut some: Vec<_> = points.into_iter().rev().step_by(apart).collect();
    some.reverse();
    some
}
