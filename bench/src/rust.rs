//! Models in Rust against Stateright 0.31: two-phase commit, one thread, each side a process of its own. States come in two forms, plain values of fixed size and
//! lists with a set; Stateright searches both breadth-first and depth-first over hashes, and its best search counts.

use crate::Request;
use crate::process::{self, Cost};
use crate::results::Results;
use serde_json::json;

const PLAIN: [&str; 2] = ["bfs-plain", "dfs-plain"];
const LOOSE: [&str; 2] = ["bfs-loose", "dfs-loose"];

/// Our sides, the rival's searches over the same form of states, and the target ratio, if there is one. Floors are
/// bare loops, to show what is possible.
const SIDES: [(&str, [&str; 2], Option<f64>); 9] = [
    ("packed", PLAIN, Some(4.0)),
    ("auto", PLAIN, None),
    ("floor", PLAIN, None),
    ("serde", PLAIN, Some(1.5)),
    ("serde-auto", PLAIN, None),
    ("lists", LOOSE, Some(1.5)),
    ("lists-auto", LOOSE, None),
    ("lists-floor", LOOSE, None),
    ("adapter", LOOSE, None),
];

/// Managers, and the number of states with them.
const SIZES: [(u32, f64); 2] = [(7, 296_448.0), (8, 1_745_408.0)];

/// Sides whose memory is measured, with their target bytes per state.
const MEMORY: [(&str, f64); 4] = [("packed", 4.5 + 12.0), ("compact", 8.0), ("bfs-plain", f64::NAN), ("dfs-plain", f64::NAN)];

/// Prints states per CPU second and bytes per state.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\nstates per CPU second on two-phase commit, whole process, best of {} interleaved runs; against Stateright's best search over states of the same form, and over \
         lists with a set, which is how its own example has them",
        request.runs
    );
    println!("{:<9} {:<11} {:>10} {:>12} {:>12} {:>12} {:>8}", "managers", "states", "M/s", "same, M/s", "ratio", "to lists", "wanted");
    for (managers, states) in SIZES {
        let names: Vec<&str> = SIDES.iter().map(|(ours, ..)| *ours).chain(PLAIN).chain(LOOSE).collect();
        let mut best = vec![0f64; names.len()];
        for _ in 0..request.runs {
            for (name, best) in names.iter().zip(&mut best) {
                match run(request, name, managers) {
                    Ok((cost, _, found)) if found == states => *best = best.max(states / cost.cpu),
                    Ok((_, _, found)) => println!("  {name}: {found} states, not {states}"),
                    Err(error) => println!("  {name}: {error}"),
                }
            }
        }
        let rate = |name: &str| names.iter().position(|other| *other == name).map_or(0.0, |index| best[index]);
        let lists = LOOSE.iter().map(|name| rate(name)).fold(0.0, f64::max);
        for (ours, theirs, wanted) in SIDES {
            let (rate, same) = (rate(ours), theirs.iter().map(|name| rate(name)).fold(0.0, f64::max));
            let wanted = wanted.map_or_else(String::new, |wanted| format!("{wanted:.1}x"));
            println!("{managers:<9} {ours:<11} {:>10.2} {:>12.2} {:>11.2}x {:>11.2}x {wanted:>8}", rate / 1e6, same / 1e6, rate / same, rate / lists);
            let row = json!({ "part": "rust", "managers": managers, "states": ours, "per_cpu_second": rate, "stateright_same": same, "stateright_lists": lists });
            results.add(row);
        }
    }
    println!("\nbytes per state with 8 managers: peak resident minus resident before the first state");
    for (side, wanted) in MEMORY {
        let (managers, states) = SIZES[1];
        match run(request, side, managers) {
            Ok((cost, before, _)) => {
                let bytes = (cost.peak as f64 - before) / states;
                let wanted = if wanted.is_nan() { String::new() } else { format!(" ({wanted} wanted)") };
                println!("{side:<9} {bytes:>8.2}{wanted}");
                results.add(json!({ "part": "rust", "managers": managers, "states": side, "bytes_per_state": bytes }));
            }
            Err(error) => println!("{side:<9} {error}"),
        }
    }
}

/// Runs one side. Returns its cost, the resident set before its first state, and the number of states it found.
fn run(request: &Request, side: &str, managers: u32) -> Result<(Cost, f64, f64), String> {
    let program = request.wayfarer.with_file_name("two-phase");
    let cost = process::run(std::process::Command::new(&program).args([side, &managers.to_string()]))?;
    let numbers: Vec<f64> = cost.output.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    match numbers[..] {
        [before, states] => Ok((cost, before, states)),
        _ => Err(format!("{} printed no figures", program.display())),
    }
}
