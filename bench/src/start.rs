//! From process start to the first expanded state.

use crate::Request;
use crate::results::Results;
use crate::speed::ours;
use serde_json::json;

/// Prints the wall-clock seconds of a run that stops after its first round: an upper bound for the time to the first expanded state.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!("\nfrom process start to the end of the first round (and of the process), best of {} runs", request.runs);
    for (file, target) in [("cm-sci-sci.m", 0.3), ("cm-mux-mcslock1.m", 0.05), ("d-German_node3.m", 0.05), ("edmc-Flash_node2.m", 0.3)] {
        let path = request.corpus.join("murphi").join(file);
        let costs = (0..request.runs).filter_map(|_| ours(request, &path, None, &["--steps", "1"]).ok());
        let best = costs.map(|(cost, _)| cost.wall).fold(f64::INFINITY, f64::min);
        println!("{file:<24} {:>8.1} ms   (at most {:.0} ms wanted)", best * 1e3, target * 1e3);
        results.add(json!({ "part": "start", "model": file, "seconds": best }));
    }
}
