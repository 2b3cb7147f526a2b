//! `auto` with a tenth, and a hundredth, of the bytes that the exact store needs: the states that its passes visited, counted by the stores that found them new,
//! and the CPU time until then as a multiple of the exact run's. What several passes visited together is at least what the best of them did.

use crate::Request;
use crate::results::Results;
use crate::speed::{ours, report};
use serde_json::{Value, json};

const MODELS: [&str; 12] = [
    "cm-mux-mcslock1.m",
    "cm-mux-mcslock2.m",
    "d-German_node3.m",
    "d-n_peterson5.m",
    "romp-german.m",
    "cm-sym-list6too.m",
    "cm-mset-cache3multi.m",
    "cm-sym-cache3.m",
    "cm-others-newcache3.m",
    "rud-msi.m",
    "rud-msi_opt.m",
    "d-sci3d2.m",
];

/// Runs that know each state, on one thread; the audit is the same for both sides and left out.
const PLAIN: [&str; 4] = ["--symmetry", "off", "--audit", "off"];

/// Prints a row for each model.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\na tenth of the exact store's bytes: coverage and CPU time against the exact run's, after the first pass and after the second; a hundredth"
    );
    println!(
        "{:<24} {:>10} {:>8} {:>9} {:>10} {:>6} {:>10} {:>6} {:>12}",
        "model", "states", "CPU s", "tenth", "coverage", "x", "coverage", "x", "a hundredth"
    );
    for file in MODELS {
        match row(request, file) {
            Ok(row) => results.add(row),
            Err(error) => println!("{file}: {error}"),
        }
    }
}

fn row(request: &Request, file: &str) -> Result<Value, String> {
    let path = request.corpus.join("murphi").join(file);
    let run = |more: &[&str]| ours(request, &path, None, &[&PLAIN, more].concat());
    let (mut cpu, mut exact, mut states) = (f64::INFINITY, Value::Null, 0);
    for _ in 0..request.runs.max(1) {
        let (cost, found) = run(&["--strategy", "bfs"])?;
        if cost.cpu < cpu {
            (cpu, exact, states) = (cost.cpu, report(&cost), found);
        }
    }
    let bytes = exact["bytes_per_state"].as_f64().unwrap_or(0.0) * states as f64;
    let tenth = ((bytes / 10.0) as u64).to_string();
    // How far each pass goes, by the logical clock; then as far again, for the time it takes.
    let whole =
        report(&run(&["--memory", &tenth, "--confidence", "0.999999", "--steps", &(3 * exact["steps"].as_u64().unwrap_or(0)).to_string()])?.0);
    let empty = Vec::new();
    let phases = whole["phases"].as_array().unwrap_or(&empty);
    let mut passes = Vec::new();
    for until in [1, 2] {
        let Some(phase) = phases.get(until.min(phases.len().saturating_sub(1))) else { continue };
        let steps = if until == 1 { phase["steps"].as_u64().unwrap_or(0) } else { 2 * passes_steps(&passes) };
        let steps = if phases.len() == 1 { u64::MAX >> 1 } else { steps };
        let mut best = f64::INFINITY;
        let mut last = Value::Null;
        for _ in 0..request.runs.max(1) {
            let (cost, _) = run(&["--memory", &tenth, "--confidence", "0.999999", "--steps", &steps.to_string()])?;
            (best, last) = (best.min(cost.cpu), report(&cost));
        }
        let visited = last["phases"].as_array().unwrap_or(&empty).iter().filter_map(|phase| phase["visited"].as_u64()).max().unwrap_or(0);
        passes.push((visited as f64 / states as f64, best / cpu, steps));
    }
    let hundredth = ((bytes / 100.0) as u64).to_string();
    // Some models need more to begin with, and the program says so.
    let (least, ended) = match run(&["--memory", &hundredth, "--time", "10s"]) {
        Ok((cost, _)) => {
            let least = report(&cost);
            let ended = format!("{:.1} s, {}", cost.wall, least["stop"].as_str().unwrap_or("?"));
            (least, ended)
        }
        Err(_) => (Value::Null, "too small".to_string()),
    };
    let shown = |at: usize| passes.get(at).map_or((f64::NAN, f64::NAN), |pass| (pass.0, pass.1));
    let ((first, first_time), (second, second_time)) = (shown(0), shown(1));
    println!(
        "{file:<24} {states:>10} {cpu:>8.2} {:>7.2} M {:>8.2} % {first_time:>6.2} {:>8.2} % {second_time:>6.2} {ended:>12}",
        bytes / 10e6,
        100.0 * first,
        100.0 * second,
    );
    Ok(json!({ "part": "tenth", "model": file, "states": states, "cpu": cpu, "bytes": bytes / 10.0,
        "passes": passes.iter().map(|(coverage, time, steps)| json!({ "coverage": coverage, "time": time, "steps": steps })).collect::<Vec<_>>(),
        "hundredth": { "ended": ended, "states": least["states"], "verdict": least["verdict"] } }))
}

/// The steps of the first pass: the second has about as many.
fn passes_steps(passes: &[(f64, f64, u64)]) -> u64 {
    passes.first().map_or(0, |pass| pass.2)
}
