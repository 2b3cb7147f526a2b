//! Petri nets against LoLA 2, an explicit-state tool of the Model Checking Contest: complete state spaces of
//! place/transition nets. The program is `bin/lola` of the repository yanntm/ExtractLola-2021, to be put on the path
//! as `lola2`; Debian's package `lola` is another program.

use crate::Request;
use crate::process::{self, Cost};
use crate::results::Results;
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// The nets of the comparison, and the target ratio on each.
const NETS: [&str; 4] = ["EisenbergMcGuire-PT-04", "HouseConstruction-PT-00005", "CircadianClock-PT-000010", "NQueens-PT-08"];
const WANTED: (f64, f64) = (2.5, 4.0);

/// Prints markings per CPU second of both and their ratio.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\ncomplete state spaces of nets, markings per CPU second of whole processes, best of {} interleaved runs", request.runs);
    let folder = request.corpus.join("pnml");
    if !folder.is_dir() {
        println!("not measured: the corpus has no folder `pnml`");
        return;
    }
    if Command::new("lola2").arg("--version").output().is_err() {
        println!("LoLA is not installed as `lola2`, so only our own figures are shown");
    }
    println!("{:<28} {:>10} {:>14} {:>14} {:>7}", "net", "markings", "wayfarer", "lola", "ratio");
    let mut ratios = Vec::new();
    for net in NETS {
        let path = folder.join(format!("{net}.pnml"));
        let (mut ours, mut theirs) = (None, None);
        for _ in 0..request.runs {
            keep(&mut ours, wayfarer(request, &path));
            keep(&mut theirs, lola(&path));
        }
        let Some((markings, seconds)) = ours else {
            println!("{net:<28} could not be explored");
            continue;
        };
        let rate = markings as f64 / seconds;
        let other = theirs.filter(|(found, _)| *found == markings).map(|(found, seconds)| found as f64 / seconds);
        let ratio = other.map(|other| rate / other);
        ratios.extend(ratio);
        let shown = |value: Option<f64>, digits: usize| value.map_or_else(|| "–".to_string(), |value| format!("{value:.digits$}"));
        println!("{net:<28} {markings:>10} {rate:>14.0} {:>14} {:>7}", shown(other, 0), shown(ratio, 2));
        results
            .add(json!({ "part": "lola", "net": net, "markings": markings, "wayfarer_per_second": rate, "lola_per_second": other, "ratio": ratio }));
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("geometric mean of the ratios {mean:.2} (wanted: at least {} on each and {} in the mean)", WANTED.0, WANTED.1);
        results.add(json!({ "part": "lola", "geometric_mean": mean }));
    }
}

/// Keeps the better of two runs: states and CPU seconds.
pub(crate) fn keep(best: &mut Option<(u64, f64)>, run: Option<(u64, f64)>) {
    if let Some(run) = run
        && best.is_none_or(|best| run.1 < best.1)
    {
        *best = Some(run);
    }
}

/// The states of a complete breadth-first search on one thread, and its CPU seconds.
pub(crate) fn wayfarer(request: &Request, net: &Path) -> Option<(u64, f64)> {
    let mut command = Command::new(&request.wayfarer);
    command.arg("check").arg(net).args(["--strategy", "bfs", "--deadlock", "off", "--threads", "1", "--json", "--quiet"]);
    let Cost { cpu, output, .. } = process::run(&mut command).ok()?;
    let report: serde_json::Value = serde_json::from_str(&output).ok()?;
    Some((report["states"].as_u64().filter(|_| report["complete"] == true)?, cpu))
}

fn lola(net: &Path) -> Option<(u64, f64)> {
    let mut command = Command::new("sh");
    // LoLA writes its findings to the standard error.
    command.args(["-c", "exec lola2 --pnmlnet --check=full --netreduction=off --stubborn=off \"$0\" 2>&1"]).arg(net);
    let Cost { cpu, output, .. } = process::run(&mut command).ok()?;
    let line = output.lines().find(|line| line.contains("markings"))?;
    Some((line.rsplit(':').next()?.trim().parse().ok()?, cpu))
}
