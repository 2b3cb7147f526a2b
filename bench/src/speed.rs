//! States per CPU second against rumur, and bytes per state.

use crate::models::{MEMORY, Model, SPEED};
use crate::process::{self, Cost};
use crate::results::Results;
use crate::{Request, rumur};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Prints states per CPU second for both sides and their ratio.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("states per CPU second, whole process, one thread, deadlock check off on both sides, best of {} interleaved runs", request.runs);
    let rival = rumur::version();
    match &rival {
        Some(version) => println!("rival: {version}, compiled with gcc -O3 -march=native (its compile time is not counted against it)"),
        None => println!("rival: rumur or gcc is not installed, so there is nothing to compare with"),
    }
    println!("our rules are compiled, too, and kept from an earlier run; last, what is reached if their compiling counts");
    println!("{:<24} {:>12} {:>14} {:>14} {:>8} {:>14} {:>8}", "model", "states", "rumur", "wayfarer", "ratio", "compiling", "ratio");
    let mut logarithms = [0.0; 2];
    for model in &SPEED {
        let path = request.corpus.join("murphi").join(model.file);
        let theirs = rival.as_ref().and_then(|_| rumur::checker(request, &path, "off").map_err(|error| println!("  {error}")).ok());
        let (mut best_theirs, mut best_ours, mut states) = (0f64, [0f64; 2], 0);
        let _ = ours(request, &path, model.states, &[]);
        for _ in 0..request.runs {
            if let Some(program) = &theirs
                && let Ok((cost, found)) = rumur::explore(program, model.states)
            {
                best_theirs = best_theirs.max(found as f64 / cost.cpu);
            }
            for (keep, best) in ["on", "off"].into_iter().zip(&mut best_ours) {
                match ours(request, &path, model.states, &["--keep-code", keep]) {
                    Ok((cost, found)) => {
                        *best = best.max(found as f64 / cost.cpu);
                        states = found;
                    }
                    Err(error) => println!("  {error}"),
                }
            }
        }
        let [ratio, compiling] = best_ours.map(|ours| if best_theirs > 0.0 { ours / best_theirs } else { f64::NAN });
        logarithms[0] += ratio.ln();
        logarithms[1] += compiling.ln();
        let [kept, first] = best_ours;
        println!("{:<24} {states:>12} {best_theirs:>14.0} {kept:>14.0} {ratio:>7.1}x {first:>14.0} {compiling:>7.1}x", model.name);
        results.add(json!({ "part": "speed", "model": model.file, "states": states, "rumur": best_theirs, "wayfarer": kept, "ratio": ratio,
            "wayfarer_compiling": first, "ratio_compiling": compiling }));
    }
    let [mean, compiling] = logarithms.map(|sum| (sum / SPEED.len() as f64).exp());
    println!("{:<24} {:>12} {:>14} {:>14} {mean:>7.1}x {:>14} {compiling:>7.1}x", "geometric mean", "", "", "", "");
    results.add(json!({ "part": "speed", "model": "geometric mean", "ratio": mean, "ratio_compiling": compiling }));
}

/// Prints the resident bytes per state, including witness links.
pub(crate) fn measure_memory(request: &Request, results: &mut Results) {
    println!("\nresident bytes per state: (peak - peak of a run of one round) / states");
    println!("{:<24} {:>12} {:>11} {:>10} {:>22}", "model", "states", "state bits", "bytes", "over the state's own");
    for Model { file, name, states } in &MEMORY {
        let path = request.corpus.join("murphi").join(file);
        let (Ok((before, _)), Ok((after, found))) = (ours(request, &path, None, &["--steps", "1"]), ours(request, &path, *states, &[])) else {
            println!("{name:<24} did not run");
            continue;
        };
        let bits = field(&after, "state_bits");
        let bytes = after.peak.saturating_sub(before.peak) as f64 / found as f64;
        let over = bytes - bits.div_ceil(8) as f64;
        println!("{name:<24} {found:>12} {bits:>11} {bytes:>10.2} {over:>22.2}");
        results.add(json!({ "part": "memory", "model": file, "states": found, "state_bits": bits, "bytes_per_state": bytes }));
    }
}

/// The command `wayfarer check --json` on a model. Unless requested, it runs without symmetry and without an audit,
/// which the rivals do not have.
pub(crate) fn checking(request: &Request, model: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(&request.wayfarer);
    command.args(["check", "--json", "--quiet", "--deadlock", "off"]).args(more).arg(model);
    for (option, unless_given) in [("--threads", "1"), ("--symmetry", "off"), ("--audit", "off")] {
        if !more.contains(&option) {
            command.args([option, unless_given]);
        }
    }
    command
}

/// Runs `wayfarer check --json`. Returns its cost and the states it found.
pub(crate) fn ours(request: &Request, model: &Path, states: Option<u64>, more: &[&str]) -> Result<(Cost, u64), String> {
    let mut command = checking(request, model, more);
    if let Some(states) = states {
        command.args(["--states", &states.to_string()]);
    }
    let cost = process::run(&mut command)?;
    if !matches!(cost.code, Some(0 | 1)) {
        return Err(format!("wayfarer ended with {:?} on {}", cost.code, model.display()));
    }
    let states = field(&cost, "states");
    Ok((cost, states))
}

fn field(cost: &Cost, name: &str) -> u64 {
    report(cost)[name].as_u64().unwrap_or(0)
}

/// The report that a run printed; null if it printed none.
pub(crate) fn report(cost: &Cost) -> Value {
    serde_json::from_str(&cost.output).unwrap_or(Value::Null)
}
