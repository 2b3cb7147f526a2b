//! Two threads against two independent single-threaded runs: the share of the machine's total throughput that the
//! shared search reaches.

use crate::Request;
use crate::results::Results;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const MODELS: [&str; 3] = ["d-German_node3.m", "cm-mux-mcslock2.m", "cm-others-newcache3.m"];

/// Prints the rate of two threads as a share of the rate of two copies.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\ntwo threads against two copies of one thread, wall clock, best of {} interleaved runs (at least 0.9 wanted)", request.runs);
    for (store, file) in ["exact", "compact"].iter().flat_map(|store| MODELS.iter().map(move |file| (*store, *file))) {
        let path = request.corpus.join("murphi").join(file);
        if !path.is_file() {
            println!("{file}: not in this corpus");
            continue;
        }
        let (mut copies, mut shared) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..request.runs.max(1) {
            copies = copies.min(seconds(request, &path, store, "1", 2));
            shared = shared.min(seconds(request, &path, store, "2", 1));
        }
        // Two copies visit every state twice in their time.
        let ratio = copies / (2.0 * shared);
        println!("{file:<28} {store:<8} two copies {copies:>7.3} s   two threads {shared:>7.3} s   ratio {ratio:.2}");
        results.add(json!({ "part": "threads", "model": file, "store": store, "copies_seconds": copies, "threads_seconds": shared, "ratio": ratio }));
    }
}

/// The wall-clock time of `processes` processes at once.
fn seconds(request: &Request, model: &Path, store: &str, threads: &str, processes: usize) -> f64 {
    let begun = Instant::now();
    let running: Vec<_> = (0..processes)
        .map(|_| {
            Command::new(&request.wayfarer)
                .args(["check", "--quiet", "--json", "--deadlock", "off", "--symmetry", "off", "--threads", threads])
                .args(["--strategy", "bfs", "--store", store, "--memory", "2G", "--audit", "off"])
                .arg(model)
                .stdout(Stdio::null())
                .spawn()
        })
        .collect();
    for child in running {
        let ended = child.and_then(|mut child| child.wait());
        if !ended.is_ok_and(|status| status.success()) {
            return f64::INFINITY;
        }
    }
    begun.elapsed().as_secs_f64()
}
