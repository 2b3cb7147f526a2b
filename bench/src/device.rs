//! A GPU against all cores of the CPU, over models of more than ten million states: whole searches, or the first
//! seconds of them. Rates are states per second of exploring; starting the GPU is shown beside them.

use crate::Request;
use crate::process;
use crate::results::Results;
use serde_json::{Value, json};
use std::process::Command;

/// Models of more than ten million states, the wide ones last.
const MODELS: [&str; 10] = [
    "cm-mux-n_peterson.m",
    "edmc-German_node4.m",
    "pb-flash_data.m",
    "m2c-german5.m",
    "edmc-Flash_node4.m",
    "edmc-German_node8.m",
    "edmc-TL-C_In_S_data.m",
    "edmc-TL-C_NonIn_M_data.m",
    "ter-mesi.m",
    "romp-MESI.m",
];

/// The seconds of a model on the CPU, and on the GPU.
const CPU_SECONDS: u64 = 12;
const GPU_SECONDS: u64 = 4;

/// Prints both rates, their ratio, and the geometric mean of the ratios.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("\na GPU against {threads} threads, states per second of exploring (at least 20 in the mean wanted, at least 5 for each)");
    let mut ratios = Vec::new();
    for file in MODELS {
        let path = request.corpus.join("murphi").join(file);
        if !path.is_file() {
            println!("{file}: not in this corpus");
            continue;
        }
        let run = |device: &str, seconds: u64| {
            let mut command = Command::new(&request.wayfarer);
            command.args(["check", "--quiet", "--json", "--deadlock", "off", "--symmetry", "off", "--strategy", "bfs", "--store", "exact"]);
            command.args(["--audit", "off", "--device", device, "--time", &format!("{seconds}s")]).arg(&path);
            let report: Value = serde_json::from_str(&process::run(&mut command)?.output).map_err(|error| format!("no report: {error}"))?;
            Ok::<_, String>(report)
        };
        // The first run on the GPU compiles the model, which may take longer than the search.
        let _ = run("gpu", 60);
        let (there, here) = match (run("gpu", GPU_SECONDS), run("cpu", CPU_SECONDS)) {
            (Ok(there), Ok(here)) => (there, here),
            (Err(why), _) | (_, Err(why)) => {
                println!("{file:<28} {why}");
                continue;
            }
        };
        let states = |report: &Value| report["states"].as_f64().unwrap_or(0.0);
        let rate = |report: &Value| states(report) / report["times"]["exploring"].as_f64().unwrap_or(f64::INFINITY).max(1e-3);
        let (there_rate, here_rate) = (rate(&there), rate(&here));
        let (ratio, started) = (there_rate / here_rate, there["times"]["preparing"].as_f64().unwrap_or(0.0));
        ratios.push(ratio);
        println!(
            "{file:<28} {:>5} bits   gpu {:>12.0} states {:>8.1} M/s ({started:.2} s to start)   cpu {:>12.0} states {:>7.2} M/s   ratio {ratio:.1}",
            there["state_bits"],
            states(&there),
            there_rate / 1e6,
            states(&here),
            here_rate / 1e6
        );
        let (gpu_seconds, cpu_seconds) = (&there["times"]["exploring"], &here["times"]["exploring"]);
        results.add(json!({ "part": "device", "model": file, "threads": threads, "gpu_states": there["states"], "gpu_seconds": gpu_seconds,
            "gpu_start": started, "cpu_states": here["states"], "cpu_seconds": cpu_seconds, "ratio": ratio }));
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!("geometric mean of {} models: {mean:.1}, least {least:.1}", ratios.len());
}
