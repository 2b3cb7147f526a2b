//! Every violated model under every strategy: which strategies find the violation, how fast, and the length of the
//! witness compared with the shortest.
//!
//! The models are our own in which bfs finds a violation and those that the corpus's manifest marks as violated. A
//! run's time is the CPU time of the whole process, including compilation of the model and shortening of the witness.

use crate::Request;
use crate::process::{self, Cost};
use crate::results::Results;
use crate::speed::report;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The time limit of each run.
const LIMIT: &str = "10s";

/// The strategies that `auto` is compared with, and whether their runs differ by seed.
const SINGLE: [(&str, bool); 11] = [
    ("bfs", false),
    ("dfs", false),
    ("rdfs", true),
    ("walk", true),
    ("random", true),
    ("highway", true),
    ("urs", true),
    ("sdrs", true),
    ("rurs", true),
    ("rsdrs", true),
    ("rbfs", true),
];

/// A strategy that missed with each of this many seeds is not tried with the others.
const PATIENCE: usize = 2;

/// The results of the runs of one strategy on one model.
#[derive(Default)]
struct Runs {
    found: usize,
    tried: usize,
    /// CPU seconds of each run; infinite for a miss.
    times: Vec<f64>,
    /// Witness lengths of the runs that found it.
    lengths: Vec<u64>,
    /// Violations reported without a witness that could be replayed.
    bare: usize,
}

impl Runs {
    fn median(&self) -> f64 {
        quantile(&self.times, 0.5)
    }
}

/// Prints a row for each model, then a summary of the witnesses of every strategy.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    let seeds = request.runs.max(1);
    println!(
        "\nviolations found within {LIMIT}, {seeds} seeds, median CPU seconds of the whole process; witness lengths as multiples of the optimum"
    );
    println!(
        "{:<32} {:>7} {:>10} {:>9} {:>9} {:>7} {:>7} {:>8} {:>8}",
        "model", "optimum", "best", "s", "auto s", "ratio", "found", "median", "longest"
    );
    let (mut ratios, mut lengths, mut bare, mut missed) = (Vec::new(), Vec::new(), 0, Vec::new());
    for path in models(request) {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(optimum) = optimum(request, &path) else { continue };
        let single: Vec<(&str, Runs)> =
            SINGLE.iter().map(|&(strategy, random)| (strategy, runs(request, &path, strategy, if random { seeds } else { 1 }))).collect();
        let auto = runs(request, &path, "auto", seeds);
        let best = single.iter().min_by(|a, b| a.1.median().total_cmp(&b.1.median()));
        let (best, least) = best.map_or(("none", f64::INFINITY), |(strategy, runs)| (*strategy, runs.median()));
        let ratio = auto.median() / least;
        ratios.push(ratio);
        if auto.found < auto.tried {
            missed.push(name.clone());
        }
        let of_model: Vec<f64> = single
            .iter()
            .map(|(_, runs)| runs)
            .chain([&auto])
            .flat_map(|runs| &runs.lengths)
            .map(|&length| if optimum == 0 { 1.0 + length as f64 } else { length as f64 / optimum as f64 })
            .collect();
        bare += single.iter().map(|(_, runs)| runs.bare).sum::<usize>() + auto.bare;
        println!(
            "{name:<32} {optimum:>7} {best:>10} {least:>9.3} {:>9.3} {ratio:>6.2}x {:>3}/{:<3} {:>8.2} {:>8.2}",
            auto.median(),
            auto.found,
            auto.tried,
            quantile(&of_model, 0.5),
            quantile(&of_model, 1.0)
        );
        lengths.extend(of_model);
        let all = single.iter().map(|(strategy, runs)| (*strategy, runs)).chain([("auto", &auto)]);
        results.add(json!({ "part": "finds", "model": name, "optimum": optimum, "runs": all
            .map(|(strategy, runs)| json!({ "strategy": strategy, "found": runs.found, "tried": runs.tried, "median": runs.median(),
                "lengths": runs.lengths }))
            .collect::<Vec<_>>() }));
    }
    let within = ratios.iter().filter(|ratio| **ratio <= 1.5).count();
    println!(
        "{} violations: auto against the best single strategy: median {:.2}x, most {:.2}x, within 1.5x on {within}; missed by a seed of auto: {}",
        ratios.len(),
        quantile(&ratios, 0.5),
        quantile(&ratios, 1.0),
        if missed.is_empty() { "none".to_string() } else { missed.join(", ") }
    );
    println!(
        "{} witnesses against the optimum: median {:.2}x, 95th percentile {:.2}x, longest {:.2}x; violations without a witness: {bare}",
        lengths.len(),
        quantile(&lengths, 0.5),
        quantile(&lengths, 0.95),
        quantile(&lengths, 1.0)
    );
}

/// Prints how much longer than the shortest witness those of every strategy are, on models with independent parts whose shortest witness is named in their first lines.
pub(crate) fn measure_witnesses(request: &Request, results: &mut Results) {
    let seeds = request.runs.max(1);
    println!("\nwitnesses of models with independent parts, {seeds} seeds: lengths as multiples of the shortest");
    println!("{:<16} {:>8} {:>8} {:>8} {:>8}", "model", "shortest", "found", "median", "longest");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("witnesses");
    let mut models: Vec<PathBuf> = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    models.sort();
    let mut all = Vec::new();
    for path in models {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let shortest = text.split_once("shortest: ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<f64>().ok());
        let Some(shortest) = shortest else { continue };
        let random = SINGLE.iter().copied().chain([("auto", true)]);
        let lengths = random.flat_map(|(strategy, random)| runs(request, &path, strategy, if random { seeds } else { 1 }).lengths);
        let of_model: Vec<f64> = lengths.map(|length| length as f64 / shortest).collect();
        println!("{name:<16} {shortest:>8} {:>8} {:>8.2} {:>8.2}", of_model.len(), quantile(&of_model, 0.5), quantile(&of_model, 1.0));
        results.add(json!({ "part": "witnesses", "model": name, "shortest": shortest, "lengths": of_model }));
        all.extend(of_model);
    }
    println!("{} witnesses: median {:.2}x, 95th percentile {:.2}x", all.len(), quantile(&all, 0.5), quantile(&all, 0.95));
}

/// The models to run: our own, and those of the corpus that are known to be violated.
fn models(request: &Request) -> Vec<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/murphi");
    let mut models: Vec<PathBuf> = std::fs::read_dir(&own).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    models.retain(|path| path.extension().is_some_and(|end| end == "m"));
    models.sort();
    let folder = request.corpus.join("murphi");
    let manifest = std::fs::read(folder.join("reference.json")).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
    let violated = |row: &&Value| row["classes"].as_array().is_some_and(|classes| classes.iter().any(|class| class == "violated"));
    let named = manifest.as_array().into_iter().flatten().filter(violated);
    models.extend(named.filter_map(|row| row["file"].as_str()).map(|file| folder.join(file)));
    models
}

/// The length of a shortest witness, by breadth-first search; `None` if that finds no violation.
fn optimum(request: &Request, path: &Path) -> Option<u64> {
    let report = report(&check(request, path, "bfs", 1).ok()?);
    (report["verdict"] == "violated").then(|| report["witness"]["length"].as_u64()).flatten()
}

fn runs(request: &Request, path: &Path, strategy: &str, seeds: usize) -> Runs {
    let mut runs = Runs::default();
    for seed in 1..=seeds {
        if runs.tried >= PATIENCE && runs.found == 0 {
            break;
        }
        runs.tried += 1;
        let Ok(cost) = check(request, path, strategy, seed) else {
            runs.times.push(f64::INFINITY);
            continue;
        };
        let report = report(&cost);
        if report["verdict"] != "violated" {
            runs.times.push(f64::INFINITY);
            continue;
        }
        runs.found += 1;
        runs.times.push(cost.cpu);
        match report["witness"]["length"].as_u64() {
            Some(length) => runs.lengths.push(length),
            None => runs.bare += 1,
        }
    }
    runs
}

fn check(request: &Request, path: &Path, strategy: &str, seed: usize) -> Result<Cost, String> {
    let seed = seed.to_string();
    let mut command = Command::new(&request.wayfarer);
    command.args(["check", "--json", "--quiet", "--threads", "1", "--audit", "off", "--memory", "1G", "--time", LIMIT]);
    command.args(["--strategy", strategy, "--seed", &seed]).arg(path);
    process::run(&mut command)
}

/// A quantile by the nearest rank; NaN if there are no values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}
