//! mCRL2 specifications against mCRL2's own tools: complete state spaces. `mcrl22lps` and `lps2lts` are measured in the
//! same run if they are on the path; otherwise the CPU times that were recorded with them are compared with.

use crate::Request;
use crate::lola::{keep, wayfarer};
use crate::process;
use crate::results::Results;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Smaller specifications take no time that could be compared.
const LEAST_STATES: u64 = 5_000;
/// Wanted ratios of CPU time: on each, and in the geometric mean.
const WANTED: (f64, f64) = (10.0, 20.0);

/// Prints CPU seconds of both and their ratio.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\ncomplete state spaces of mCRL2 specifications, CPU seconds of whole processes, best of {} interleaved runs", request.runs);
    let folder = request.corpus.join("mcrl2");
    let reference = std::fs::read_to_string(folder.join("reference.json")).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(Value::Object(reference)) = reference else {
        println!("not measured: the corpus has no file `mcrl2/reference.json`");
        return;
    };
    let installed = ["mcrl22lps", "lps2lts"].iter().all(|tool| Command::new(tool).arg("--version").output().is_ok());
    if !installed {
        println!("mcrl22lps and lps2lts are not installed, so their recorded times stand for them");
    }
    println!("{:<44} {:>9} {:>9} {:>9} {:>7}", "specification", "states", "wayfarer", "lps2lts", "ratio");
    let mut ratios = Vec::new();
    for (file, facts) in &reference {
        let known = &facts["jitty"];
        let states = known["states"].as_u64().filter(|states| known["complete"] == true && *states > LEAST_STATES);
        let (Some(states), Some(recorded)) = (states, known["cpu_s"].as_f64()) else { continue };
        let path = folder.join(file);
        let (mut ours, mut theirs) = (None, None);
        for _ in 0..request.runs {
            keep(&mut ours, wayfarer(request, &path));
            if installed {
                keep(&mut theirs, lps2lts(&path).map(|seconds| (states, seconds)));
            }
        }
        let Some((_, seconds)) = ours.filter(|(found, _)| *found == states) else {
            println!("{file:<44} {states:>9} has other states, or could not be explored");
            continue;
        };
        let other = theirs.map_or(recorded, |(_, seconds)| seconds);
        let ratio = other / seconds;
        ratios.push(ratio);
        println!("{file:<44} {states:>9} {seconds:>9.3} {other:>9.2} {ratio:>7.1}");
        results.add(json!({ "part": "mcrl2", "file": file, "states": states, "wayfarer_seconds": seconds, "lps2lts_seconds": other, "measured": theirs.is_some(), "ratio": ratio }));
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("geometric mean of the ratios {mean:.1} (wanted: at least {} on each and {} in the mean)", WANTED.0, WANTED.1);
        results.add(json!({ "part": "mcrl2", "geometric_mean": mean }));
    }
}

/// CPU seconds of the exploration; linearising comes before it and does not count.
fn lps2lts(file: &Path) -> Option<f64> {
    let linear = std::env::temp_dir().join(format!("wayfarer-bench-{}.lps", std::process::id()));
    process::run(Command::new("mcrl22lps").arg(file).arg(&linear)).ok()?;
    let explored = process::run(Command::new("lps2lts").arg(&linear)).ok();
    // A file that is left behind does no harm.
    let _ = std::fs::remove_file(&linear);
    explored.map(|cost| cost.cpu)
}
