//! `auto` with less memory than the states take: a tenth and a hundredth of the bytes that the exact store needs, or
//! enough for slots for a share of the states.
//!
//! The program `coverage` counts the states actually visited: it watches each step of the same run. CPU time is that
//! of the program itself, as a multiple of the exact run's.

use crate::Request;
use crate::process;
use crate::results::Results;
use crate::speed::{ours, report};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const MODELS: [&str; 18] = [
    "cm-mux-mcslock1.m",
    "cm-mux-mcslock2.m",
    "d-German_node3.m",
    "edmc-Flash_node2.m",
    "d-n_peterson5.m",
    "romp-german.m",
    "cm-sym-list6.m",
    "cm-sym-list6too.m",
    "cm-mset-newlist6.m",
    "cm-mset-cache3multi.m",
    "cm-sym-cache3.m",
    "cm-others-newcache3.m",
    "rud-msi.m",
    "rud-msi_opt.m",
    "d-sci3d2.m",
    "cm-sci-sci.m",
    "ysc-msi.m",
    "tim-msi.m",
];
const IN_SLOTS: [&str; 2] = ["cm-mux-mcslock1.m", "d-German_node3.m"];

/// The CPU time that runs aim at, as a multiple of the exact run's; the most they may take, and the target coverage.
const RUNS: [(f64, f64, f64); 2] = [(1.43, 1.5, 0.995), (2.42, 2.5, 0.999)];

/// Options for runs over all states, on one thread. The audit is the same for both sides and left out.
const PLAIN: [&str; 4] = ["--symmetry", "off", "--audit", "off"];

/// Prints a row for each model.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\na tenth of the exact store's bytes: true coverage and CPU time against the exact run's (99.5 % within 1.5x, 99.9 % within 2.5x); a hundredth"
    );
    println!(
        "{:<24} {:>10} {:>8} {:>9} {:>11} {:>6} {:>11} {:>6}  a hundredth",
        "model", "states", "CPU s", "tenth", "coverage", "x", "coverage", "x"
    );
    let mut reached = 0;
    for file in MODELS {
        match row(request, file) {
            Ok((row, all)) => {
                reached += usize::from(all);
                results.add(row);
            }
            Err(error) => println!("{file}: {error}"),
        }
    }
    println!("both reached on {reached} of {}", MODELS.len());
}

/// Prints the coverage in the bytes of 40-bit slots for some of the states.
pub(crate) fn measure_slots(request: &Request, results: &mut Results) {
    println!(
        "\nthe bytes of 40-bit slots for some of the states, and of the largest frontier: true coverage by number of steps, as shares of the exact run's"
    );
    println!("{:<24} {:>10} {:>8} {:>10} {:>11} {:>11} {:>11}", "model", "states", "slots", "bytes", "1.1", "2.2", "3.3");
    for file in IN_SLOTS {
        for share in ["0.5", "0.3"] {
            match covered(request, &request.corpus.join("murphi").join(file), &format!("slots:{share}"), &["1.1", "2.2", "3.3"]) {
                Ok(Covered { states, bytes, runs }) => {
                    print!("{file:<24} {states:>10} {share:>8} {bytes:>10}");
                    runs.iter().for_each(|(_, coverage)| print!(" {:>9.3} %", coverage * 100.0));
                    println!();
                    results.add(json!({ "part": "slots", "model": file, "states": states, "slots": share, "bytes": bytes, "runs": runs }));
                }
                Err(error) => println!("{file}: {error}"),
            }
        }
    }
}

fn row(request: &Request, file: &str) -> Result<(Value, bool), String> {
    let path = request.corpus.join("murphi").join(file);
    let run = |more: &[&str]| ours(request, &path, None, &[&PLAIN, more].concat());
    let (mut exact, mut steps) = (f64::INFINITY, 0);
    for _ in 0..request.runs.max(1) {
        let (cost, _) = run(&["--strategy", "bfs"])?;
        exact = exact.min(cost.cpu);
        steps = report(&cost)["steps"].as_u64().unwrap_or(0);
    }
    // The number of steps that fit into that time, from a run with proportionally more steps.
    let tenth = covered(request, &path, "0.1", &[])?.bytes.to_string();
    let limited = |factor: f64| {
        let most = ((steps as f64 * factor) as u64).to_string();
        Ok::<_, String>(run(&["--memory", &tenth, "--confidence", "0.999999999999", "--steps", &most])?.0.cpu / exact)
    };
    let mut factors = Vec::new();
    for (aim, ..) in RUNS {
        let mut best = f64::INFINITY;
        for _ in 0..request.runs.max(2) {
            best = best.min(limited(aim)?);
        }
        factors.push(aim * aim / best);
    }
    let texts: Vec<String> = factors.iter().map(f64::to_string).collect();
    let Covered { states, bytes, runs } = covered(request, &path, "0.1", &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut times = [f64::INFINITY; RUNS.len()];
    for _ in 0..request.runs.max(1) {
        for (factor, best) in factors.iter().zip(&mut times) {
            *best = best.min(limited(*factor)?);
        }
    }
    let hundredth = (bytes / 10).to_string();
    // Some models need more memory to start, and the program says so.
    let (least, ended) = match run(&["--memory", &hundredth, "--time", "5s"]) {
        Ok((cost, found)) => {
            let least = report(&cost);
            // The claims of the run: a number of states with its error, no claim that hardly any were omitted unless
            // that is true, and never that something holds.
            let error = 3.0 * least["states_error"].as_f64().unwrap_or(0.0);
            let (fewest, most) = (found as f64 * (1.0 - error), found as f64 * (1.0 + error));
            let whole = least["stop"] != "confident" || most >= states as f64;
            let honest = least["verdict"] != "holds" && fewest <= states as f64 && whole;
            let ended = format!("{:.1} s, {}, {}", cost.wall, least["stop"].as_str().unwrap_or("?"), if honest { "true" } else { "FALSE" });
            (least, ended)
        }
        Err(_) => (Value::Null, "too small to begin".to_string()),
    };
    print!("{file:<24} {states:>10} {exact:>8.2} {:>7.2} M", bytes as f64 / 1e6);
    let mut all = true;
    let mut shown = Vec::new();
    for (((made, coverage), time), (_, most, least)) in runs.iter().zip(times).zip(RUNS) {
        print!(" {:>9.3} % {:>6.2}", coverage * 100.0, time);
        all &= *coverage >= least && time <= most;
        shown.push(json!({ "steps": made, "coverage": coverage, "time": time }));
    }
    println!("  {ended}");
    let hundredth = json!({ "ended": ended, "states": least["states"], "verdict": least["verdict"] });
    let row = json!({ "part": "tenth", "model": file, "states": states, "cpu": exact, "bytes": bytes, "runs": shown, "hundredth": hundredth });
    Ok((row, all))
}

/// The coverage of runs.
struct Covered {
    states: u64,
    bytes: u64,
    /// Steps, and the share of the states that was expanded.
    runs: Vec<(u64, f64)>,
}

fn covered(request: &Request, path: &Path, share: &str, steps: &[&str]) -> Result<Covered, String> {
    let program = request.wayfarer.with_file_name("coverage");
    let cost = process::run(Command::new(&program).arg(path).arg(share).args(steps))?;
    let numbers: Vec<f64> = cost.output.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    match numbers[..] {
        [states, bytes, ref runs @ ..] if runs.len() == 2 * steps.len() => {
            let runs = runs.chunks(2).map(|run| (run[0] as u64, run[1])).collect();
            Ok(Covered { states: states as u64, bytes: bytes as u64, runs })
        }
        _ => Err(format!("{} printed no figures", program.display())),
    }
}
