//! States per CPU second against SPIN: on our own models and equivalent Promela models in `bench/promela`, which have
//! the same states, and on Promela models of others that both sides read as they are.

use crate::Request;
use crate::process::{self, Cost};
use crate::results::Results;
use crate::speed::ours;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Murphi model and its Promela twin, with parameters that give both the same states, about a million.
struct Twin {
    name: &'static str,
    stem: &'static str,
    constants: &'static [&'static str],
    defines: &'static [&'static str],
    /// The depth of the search and the size of the hash table that suit SPIN best here: more of either costs it time.
    room: [&'static str; 2],
}

const TWINS: [Twin; 2] = [
    Twin { name: "Peterson, 6 processes", stem: "peterson", constants: &["ProcessCount=6"], defines: &["-DN=6"], room: ["-m1300000", "-w24"] },
    Twin {
        name: "ring election, 12 nodes",
        stem: "ring_election_phases",
        constants: &["NodeCount=12", "LinkSize=3"],
        defines: &["-DN=12", "-DLINK=3"],
        room: ["-m1000", "-w22"],
    },
];

/// The target ratio.
const WANTED: f64 = 3.0;

/// Prints states per CPU second of both sides and their ratio, or an error if the numbers of states differ.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\nstates per CPU second against SPIN, whole process, one thread, deadlock check off on both sides, best of {} interleaved runs",
        request.runs
    );
    println!("rival: spin -o1 -o2 -o3 -a, gcc -O3 -DSAFETY -DNOREDUCE, pan -c0 -E (compile time is not counted against it)");
    println!("{:<24} {:>12} {:>14} {:>14} {:>8}", "model", "states", "SPIN", "wayfarer", "ratio");
    for twin in &TWINS {
        match compare(request, twin) {
            Ok(Rates { states, theirs, own, direct }) => {
                let (ratio, twin_ratio) = (own / theirs, direct / own);
                println!("{:<24} {states:>12} {theirs:>14.0} {own:>14.0} {ratio:>7.1}x   (at least {WANTED}x wanted)", twin.name);
                println!("{:<24} {:>12} {:>14} {direct:>14.0} {twin_ratio:>7.2}x   of the Murphi version", "  its Promela text", "", "");
                results.add(json!({
                    "part": "spin", "model": twin.stem, "states": states, "spin": theirs, "wayfarer": own, "ratio": ratio,
                    "promela": direct, "promela_to_murphi": twin_ratio
                }));
            }
            Err(error) => println!("{:<24} {error}", twin.name),
        }
    }
    measure_promela(request, results);
}

/// Promela models of the corpus that both sides explore completely, with the room that suits SPIN best.
const PROMELA: [(&str, [&str; 2]); 5] = [
    ("beem_szymanski.4", ["-m80000", "-w22"]),
    ("beem_telephony.3", ["-m50000", "-w20"]),
    ("beem_frogs.3", ["-m300", "-w20"]),
    ("beem_loyd.2", ["-m200000", "-w19"]),
    ("beem_iprotocol.4", ["-m2000", "-w24"]),
];

/// Prints states per CPU second of both sides on Promela models of others, and the geometric mean of the ratios.
fn measure_promela(request: &Request, results: &mut Results) {
    println!("\nstates per CPU second against SPIN on the same Promela text");
    println!("{:<24} {:>12} {:>14} {:>14} {:>8}", "model", "states", "SPIN", "wayfarer", "ratio");
    let mut ratios: Vec<f64> = Vec::new();
    for (stem, room) in PROMELA {
        let twin = Twin { name: stem, stem, constants: &[], defines: &[], room };
        let text = request.corpus.join("promela").join(format!("{stem}.pml"));
        match compare_text(request, &twin, &text) {
            Ok((states, theirs, own)) => {
                let ratio = own / theirs;
                println!("{stem:<24} {states:>12} {theirs:>14.0} {own:>14.0} {ratio:>7.1}x   (at least 1.5x wanted)");
                results.add(json!({ "part": "spin", "model": stem, "states": states, "spin": theirs, "wayfarer": own, "ratio": ratio }));
                ratios.push(ratio);
            }
            Err(error) => println!("{stem:<24} {error}"),
        }
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("geometric mean {mean:.2}x   (at least 2.5x wanted)");
    }
}

/// As [`compare`], if both sides read the same text.
fn compare_text(request: &Request, twin: &Twin, text: &Path) -> Result<(u64, f64, f64), String> {
    let pan = build(request, text, twin)?;
    let (mut states, mut best_theirs, mut best_ours) = (0, 0f64, 0f64);
    for _ in 0..request.runs {
        let (theirs, stored) = explore(&pan, twin)?;
        let (own, found) = ours(request, text, None, &[])?;
        if stored != found {
            return Err(format!("SPIN stored {stored} states, and wayfarer found {found}"));
        }
        states = found;
        best_theirs = best_theirs.max(stored as f64 / theirs.cpu);
        best_ours = best_ours.max(found as f64 / own.cpu);
    }
    Ok((states, best_theirs, best_ours))
}

/// The states of all sides, which must agree, and the best rate of each.
struct Rates {
    states: u64,
    theirs: f64,
    own: f64,
    /// Ours on the Promela text.
    direct: f64,
}

/// Runs SPIN, and ours on both texts of a twin.
fn compare(request: &Request, twin: &Twin) -> Result<Rates, String> {
    let root = PathBuf::from(Path::new(env!("CARGO_MANIFEST_DIR")));
    let model = root.join("../models/murphi").join(twin.stem).with_extension("m");
    let constants: Vec<&str> = twin.constants.iter().flat_map(|constant| ["--const", *constant]).collect();
    let text = root.join("promela").join(twin.stem).with_extension("pml");
    let pan = build(request, &text, twin)?;
    let macros: Vec<&str> = twin.defines.iter().flat_map(|define| ["--const", define.trim_start_matches("-D")]).collect();
    let mut rates = Rates { states: 0, theirs: 0.0, own: 0.0, direct: 0.0 };
    for _ in 0..request.runs {
        let (theirs, stored) = explore(&pan, twin)?;
        let (own, found) = ours(request, &model, None, &constants)?;
        let (direct, read) = ours(request, &text, None, &macros)?;
        if stored != found || stored != read {
            return Err(format!("the twins differ: SPIN stored {stored} states, and wayfarer found {found} and {read}"));
        }
        rates.states = found;
        rates.theirs = rates.theirs.max(stored as f64 / theirs.cpu);
        rates.own = rates.own.max(found as f64 / own.cpu);
        rates.direct = rates.direct.max(read as f64 / direct.cpu);
    }
    Ok(rates)
}

/// Builds SPIN's checker for a twin.
fn build(request: &Request, promela: &Path, twin: &Twin) -> Result<PathBuf, String> {
    let folder = request.work.join(format!("spin-{}", twin.stem));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let step = |command: &mut Command| match command.current_dir(&folder).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{} did not accept {}: {}", command.get_program().display(), twin.stem, String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{} does not run: {error}", command.get_program().display())),
    };
    step(Command::new("spin").args(["-o1", "-o2", "-o3"]).args(twin.defines).arg("-a").arg(promela))?;
    step(Command::new("gcc").args(["-O3", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-o", "pan", "pan.c"]))?;
    Ok(folder.join("pan"))
}

/// Runs SPIN's checker. Returns its cost and the states it stored. A search that was cut short or found an error does
/// not count.
fn explore(pan: &Path, twin: &Twin) -> Result<(Cost, u64), String> {
    let cost = process::run(Command::new(pan).args(["-c0", "-E"]).args(twin.room))?;
    if !cost.output.contains("errors: 0") || cost.output.contains("max search depth too small") {
        return Err("SPIN did not get to the end without an error".to_string());
    }
    let stored = cost.output.lines().find_map(|line| line.trim().strip_suffix(" states, stored")?.trim().parse().ok());
    Ok((cost, stored.ok_or("SPIN printed no number of states")?))
}
