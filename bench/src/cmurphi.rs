//! States per CPU second against CMurphi 5.4.9, on models nobody tuned for: narrow and wide states, few and many rules.
//!
//! CMurphi translates a model to C++, g++ compiles it, and that program explores the model; neither is counted. So ours
//! runs with the code that an earlier run kept, and also with `--keep-code off`, where its compiling counts. CMurphi makes
//! its whole table at the start, which takes time in proportion. So it runs twice: with room for twice the states, which
//! is the best for it and which nobody knows before, and with [`USUAL`]. The part needs the translator in `CMURPHI_MU`
//! and its include folder in `CMURPHI_INCLUDE`.

use crate::Request;
use crate::process::{self, Cost};
use crate::results::Results;
use crate::speed::{ours, report};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A model, and the states after which the comparison stops, if it covers only the first ones.
const MODELS: [(&str, Option<u64>); 32] = [
    ("cm-mux-mcslock1.m", None),
    ("cm-mux-mcslock2.m", None),
    ("cm-mux-n_peterson.m", Some(5_000_000)),
    ("cm-sci-sci.m", None),
    ("cm-sym-cache3.m", None),
    ("cm-sym-list6.m", None),
    ("cm-sym-list6too.m", None),
    ("cm-others-newcache3.m", Some(500_000)),
    ("cm-mset-newcache3.m", None),
    ("cm-mset-cache3multi.m", Some(1_000_000)),
    ("cm-mset-newlist6.m", Some(1_000_000)),
    ("d-German_node3.m", None),
    ("d-n_peterson5.m", None),
    ("d-romp_german3.m", None),
    ("d-sci3d2.m", Some(1_000_000)),
    ("edmc-Flash_node2.m", None),
    ("edmc-German_node2.m", None),
    ("edmc-TL-C_In_M_data.m", Some(200_000)),
    ("edmc-TL-C_In_S_data.m", Some(500_000)),
    ("m2c-tilelink.m", None),
    ("romp-german.m", None),
    ("romp-ruMI.m", Some(500_000)),
    ("romp-MESI.m", Some(300_000)),
    ("rud-msi.m", Some(1_000_000)),
    ("rud-msi_opt.m", Some(500_000)),
    ("san-MSI.m", Some(100_000)),
    ("ter-mesi.m", Some(500_000)),
    ("tim-mesi.m", Some(1_000_000)),
    ("tim-msi.m", Some(1_000_000)),
    ("ysc-mesi.m", Some(1_000_000)),
    ("ysc-moesi.m", Some(1_000_000)),
    ("ysc-msi.m", Some(1_000_000)),
];

/// A model of our own, an intruder with a memory of messages, and the text that makes it larger.
const OWN: (&str, Option<u64>) = ("intruder.m", Some(100_000));
const LARGER: [&str; 2] = ["Forgeries:      0;", "Forgeries:      1;"];

/// Megabytes for CMurphi's table if the number of states is not known.
const USUAL: u64 = 4_000;

/// Runs of ours that take fewer CPU seconds than this are repeated so many times as often, on both sides: they differ much from run to run.
const SHORT: f64 = 0.1;
const MORE: usize = 10;

/// States of at least this many bits are wide.
const WIDE: u64 = 1_000;

/// Prints the ratio for each model and the geometric means.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\nstates per CPU second against CMurphi, whole process, one thread, no symmetry, no deadlock check, best of {} interleaved runs",
        request.runs
    );
    let (Some(translator), Some(include)) = (std::env::var_os("CMURPHI_MU"), std::env::var_os("CMURPHI_INCLUDE")) else {
        println!(
            "rival: CMurphi is not installed (CMURPHI_MU: its translator, CMURPHI_INCLUDE: its include folder), so there is nothing to compare with"
        );
        return;
    };
    let rival = Rival { translator: translator.into(), include: include.into() };
    println!("wanted: 4x in the geometric mean, of wide models as well, 2.5x on each, 3x on our own");
    println!(
        "{:<26} {:>10} {:>10} {:>12} {:>12} {:>8} {:>12} {:>8} {:>12} {:>8}",
        "model", "states", "state bits", "wayfarer", "cmurphi", "ratio", "in 4 GB", "ratio", "compiling", "ratio"
    );
    let (mut all, mut wide) = (<[Vec<f64>; 3]>::default(), <[Vec<f64>; 3]>::default());
    let own = [(larger(request), OWN.1)];
    let others = MODELS.iter().map(|(file, states)| (request.corpus.join("murphi").join(file), *states));
    for (index, (path, states)) in own.into_iter().chain(others).enumerate() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match compare(request, &rival, &path, states) {
            Ok(Compared { states, bits, theirs, ours }) => {
                let ([best, usual], [kept, compiling]) = (theirs, ours);
                let ratios = [kept / best, kept / usual, compiling / best];
                println!(
                    "{name:<26} {states:>10} {bits:>10} {kept:>12.0} {best:>12.0} {:>7.2}x {usual:>12.0} {:>7.2}x {compiling:>12.0} {:>7.2}x",
                    ratios[0], ratios[1], ratios[2]
                );
                results.add(json!({ "part": "cmurphi", "model": name, "states": states, "state_bits": bits, "cmurphi": best,
                    "cmurphi_in_4_gb": usual, "wayfarer": kept, "ratio": ratios[0], "ratio_in_4_gb": ratios[1],
                    "wayfarer_compiling": compiling, "ratio_compiling": ratios[2] }));
                for (which, ratio) in ratios.into_iter().enumerate().filter(|_| index > 0) {
                    all[which].push(ratio);
                    wide[which].extend((bits >= WIDE).then_some(ratio));
                }
            }
            Err(error) => println!("{name:<26} {error}"),
        }
    }
    let of = |which: &str, ratios: [Vec<f64>; 3]| ["", ", in 4 GB", ", compiling"].map(|how| format!("{which}{how}")).into_iter().zip(ratios);
    for (name, ratios) in of("all", all).chain(of("wide", wide)) {
        let mean = (ratios.iter().map(|ratio: &f64| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{:<26} geometric mean {mean:.2}x, least {least:.2}x of {} models", name, ratios.len());
        results.add(json!({ "part": "cmurphi", "model": format!("geometric mean, {name}"), "ratio": mean, "least": least }));
    }
}

/// Writes our own model in its larger size, and returns its path.
fn larger(request: &Request) -> PathBuf {
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/murphi").join(OWN.0);
    let to = request.work.join("models").join(OWN.0);
    let text = std::fs::read_to_string(&from).unwrap_or_default().replace(LARGER[0], LARGER[1]);
    if let Err(error) = std::fs::create_dir_all(request.work.join("models")).and_then(|()| std::fs::write(&to, text)) {
        println!("{}: {error}", to.display());
    }
    to
}

struct Rival {
    translator: PathBuf,
    include: PathBuf,
}

struct Compared {
    states: u64,
    bits: u64,
    /// With the best size of the table, and with [`USUAL`].
    theirs: [f64; 2],
    /// With kept code, and compiling.
    ours: [f64; 2],
}

fn compare(request: &Request, rival: &Rival, model: &Path, limit: Option<u64>) -> Result<Compared, String> {
    let program = rival.checker(request, model)?;
    let mut best = Compared { states: 0, bits: 0, theirs: [0.0; 2], ours: [0.0; 2] };
    // Some code is made late: the second run may compile what the first one found worth it.
    for _ in 0..2 {
        ours(request, model, limit, &["--strategy", "bfs"])?;
    }
    let (mut round, mut longest) = (0, 0f64);
    while round < request.runs || (round < request.runs * MORE && longest < SHORT) {
        // What is added for short runs is the comparison of the best on both sides.
        let both = if round < request.runs { 2 } else { 1 };
        for (keep, rate) in ["on", "off"].into_iter().zip(&mut best.ours).take(both) {
            let (cost, states) = ours(request, model, limit, &["--strategy", "bfs", "--keep-code", keep])?;
            *rate = rate.max(states as f64 / cost.cpu);
            best.states = states;
            best.bits = report(&cost)["state_bits"].as_u64().unwrap_or(0);
            longest = longest.max(if keep == "on" { cost.cpu } else { 0.0 });
        }
        // Twice the room that the states need.
        let enough = 16 + best.states * (best.bits / 8 + 16) * 2 / 1_000_000;
        for (megabytes, theirs) in [enough, USUAL].into_iter().zip(&mut best.theirs).take(both) {
            let (cost, states) = explore(&program, limit, megabytes)?;
            *theirs = theirs.max(states as f64 / cost.cpu);
        }
        round += 1;
    }
    Ok(best)
}

impl Rival {
    /// Builds CMurphi's checker for a model, once.
    fn checker(&self, request: &Request, model: &Path) -> Result<PathBuf, String> {
        let stem = model.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (source, code, program) =
            (request.work.join(format!("{stem}.m")), request.work.join(format!("{stem}.cpp")), request.work.join(format!("{stem}.cmurphi")));
        if program.is_file() {
            return Ok(program);
        }
        // The translator writes beside the model.
        std::fs::copy(model, &source).map_err(|error| error.to_string())?;
        let translated = process::run(Command::new(&self.translator).arg(&source))?;
        let compiled = Command::new("g++").args(["-O2", "-w", "-fpermissive", "-I"]).arg(&self.include).arg("-o").arg(&program).arg(&code).status();
        match (translated.code, compiled) {
            (Some(0), Ok(status)) if status.success() => Ok(program),
            _ => Err("CMurphi or g++ did not accept it".to_string()),
        }
    }
}

/// Runs the checker to completion, or to about `limit` states. Returns cost and states.
fn explore(program: &Path, limit: Option<u64>, megabytes: u64) -> Result<(Cost, u64), String> {
    let mut command = Command::new(program);
    command.args(["-ndl", "-nosym", "-p4", &format!("-m{megabytes}")]);
    let enough = |line: &str| limit.is_some_and(|wanted| states_in(line).is_some_and(|found| found >= wanted));
    let cost = process::until(&mut command, enough)?;
    let states = cost.output.lines().rev().find_map(states_in).ok_or("CMurphi printed no number of states")?;
    Ok((cost, states))
}

/// The number of states in a line of CMurphi's report or progress.
fn states_in(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at =
        words.windows(2).position(|pair| pair[1].trim_end_matches(',') == "states" && (pair[1].ends_with(',') || words.contains(&"explored")))?;
    words[at].parse().ok()
}
