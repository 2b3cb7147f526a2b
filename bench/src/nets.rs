//! The six nets of the difference-storage paper: the memory of the difference store in the paper's accounting and in
//! actual bytes, and its time compared with the store that keeps every state whole.
//!
//! Tokens lie in places, initially all in the first; a step moves a random token to a random place (Mukherjee, Tari,
//! Bertok 2010). The paper's Λ and Δ are those of [`TableOne`], which counts neither links nor table. Beside them are
//! the actual bytes per state, table and links included, of 10⁵ states (the smallest net has 1,024), and the time of
//! all visits relative to the exact store's in the same run. States are generated between the visits, so that the
//! measured time is the stores' own.

use crate::Request;
use crate::results::Results;
use serde_json::json;
use wayfarer_lab::nets::{Costs, DELTAS, NETS, Net};
use wayfarer_theory::TableOne;

/// The time of the paper's store at δ = 20 as a multiple of its explicit store's: 1 and the η of its table 2.
const SLOWER: [f64; 6] = [f64::INFINITY, 28.5, 8.5, 5.5, 4.25, 3.0];
/// Steps, a few of which lead to known states.
const STEPS: usize = 102_400;

/// Prints a row for each net and δ.
pub(crate) fn measure(request: &Request, results: &mut Results) {
    println!(
        "\ndifference storage on the nets of its paper, best of {} interleaved runs; wanted at δ = 20: 95 % less on the large ones, time at most 1.3x",
        request.runs
    );
    println!("places tokens  states  delta      Λ paper  Δ paper   bytes/state    less  of 4 B a token  time paper  time/explicit");
    for ((places, tokens), slower) in NETS.into_iter().zip(SLOWER) {
        let Some(Costs { explicit, difference: ours }) = Net::new(places, tokens, STEPS).best(request.runs) else {
            println!("there is no room for {places} places and {tokens} tokens");
            continue;
        };
        let table = TableOne::new(tokens as u64);
        for (delta, ours) in DELTAS.into_iter().zip(ours) {
            assert_eq!(explicit.states, ours.states, "both stores hold the same states");
            let (delta, time) = (u64::from(delta), ours.nanoseconds() / explicit.nanoseconds());
            let paper = match delta {
                20 if slower.is_finite() => format!("{slower:.2}x"),
                20 => "∞".to_string(),
                _ => String::new(),
            };
            println!(
                "{places:6} {tokens:6} {:7} {delta:6} {:12} {:7.1}% {:13.1} {:6.1}% {:14.1}% {paper:>11} {time:13.2}x",
                ours.states,
                table.bytes(delta),
                100.0 * table.saved(delta),
                ours.bytes,
                100.0 * (1.0 - ours.bytes / explicit.bytes),
                100.0 * ours.bytes / (4 * tokens) as f64,
            );
            results.add(json!({ "part": "nets", "places": places, "tokens": tokens, "delta": delta, "states": ours.states,
                "paper_bytes": table.bytes(delta), "paper_saved": table.saved(delta),
                "bytes_per_state": ours.bytes, "explicit_bytes_per_state": explicit.bytes,
                "ns_per_visit": ours.nanoseconds(), "explicit_ns_per_visit": explicit.nanoseconds(), "time_ratio": time }));
        }
        println!("{:14} {:7} explicit {:39.1} bytes/state, {:.0} ns a visit", "", explicit.states, explicit.bytes, explicit.nanoseconds());
    }
}
