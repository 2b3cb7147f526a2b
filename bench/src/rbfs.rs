//! Randomised breadth-first search on sci.m: the rows of Figure 5 of its paper beside ours, and our own variant at equal bytes.
//!
//! The paper's accounting: M = 5·Reach + 4·MaxQ bytes for a run that fits (40-bit signatures, 4-byte queue entries), and at memory x·M a cache of
//! x·M/8.2 slots with a queue of 0.8 times as many entries. The states in the queue come on top. Our variant gets the same bytes in its own layout.

use crate::Request;
use crate::results::Results;
use serde_json::json;
use std::sync::Arc;
use wayfarer::ir::Program;
use wayfarer::memory::Budget;
use wayfarer::search::{Control, Progress, Room, Stop, Unbounded, Unlimited};
use wayfarer::{LoadOptions, Plan, Report, StrategySpec, SymmetryChoice, load};

/// The final row of each memory share in the paper, 181 samples: visits, Pom1s, overhead, coverage, share of runs that missed a state.
const PAPER: [(f64, [f64; 5]); 10] = [
    (1.0, [1.0, 0.0, 1.066, 1.0, 0.0]),
    (0.9, [1.0, 0.0, 1.134, 1.0, 0.0]),
    (0.8, [1.0, 0.0, 1.313, 1.0, 0.0]),
    (0.7, [1.0, 0.0, 1.900, 1.0, 0.0]),
    (0.6, [2.0, 0.700, 10.178, 1.0, 0.0]),
    (0.5, [3.0, 0.611, 10.218, 0.999, 1.0]),
    (0.4, [3.0, 0.608, 10.166, 0.986, 1.0]),
    (0.3, [4.0, 0.667, 10.136, 0.935, 1.0]),
    (0.2, [4.0, 0.717, 10.099, 0.844, 1.0]),
    (0.1, [5.0, 0.708, 10.064, 0.571, 1.0]),
];

/// The means over ten seeds.
struct Row {
    visits: f64,
    pom1s: f64,
    overhead: f64,
    coverage: f64,
    missed: f64,
    collisions: f64,
    accepted: usize,
}

pub(crate) fn measure(request: &Request, results: &mut Results) {
    let path = request.corpus.join("murphi").join("cm-sci-sci.m");
    let loaded = match load(&path.to_string_lossy(), &LoadOptions::default()) {
        Ok(loaded) => loaded,
        Err(error) => return println!("{error}"),
    };
    let (reach, widest) = reachable(&loaded.program);
    // The paper's own figures if the model is the paper's.
    let widest = if reach == 18_193 { 1_175 } else { widest };
    let bytes = 5 * reach + 4 * widest;
    println!("\nrandomised breadth-first search on sci.m: {reach} states, at most {widest} in the queue, M = {} KiB, ten seeds each", bytes / 1024);
    println!(
        "  mem   paper: visits  Pom1s  overhead  coverage  missed     ours: visits  Pom1s  overhead  coverage  missed  Clrate  accepted     own: overhead  coverage  missed  accepted"
    );
    let mut honest = Vec::new();
    for (share, paper) in PAPER {
        let slots = (share * bytes as f64 / 8.2) as u64;
        let samples = (reach / 100).max(1);
        let faithful = format!("rbfs:slots={slots},queue=0.8,samples={samples},levels=40");
        let ours = row(&loaded.program, reach, &faithful);
        // Equal bytes: five for each slot and four for each place in the queue.
        let improved = format!("rbfs:own,slots={slots},queue=0.8,samples={samples}");
        let own = row(&loaded.program, reach, &improved);
        println!(
            "  {share:.1}   {:>13.0} {:>6.3} {:>9.3} {:>9.3} {:>7.1} {:>16.1} {:>6.3} {:>9.3} {:>9.4} {:>7.1} {:>7.3} {:>9} {:>17.3} {:>9.4} {:>7.1} {:>9}",
            paper[0],
            paper[1],
            paper[2],
            paper[3],
            paper[4],
            ours.visits,
            ours.pom1s,
            ours.overhead,
            ours.coverage,
            ours.missed,
            ours.collisions,
            ours.accepted,
            own.overhead,
            own.coverage,
            own.missed,
            own.accepted
        );
        honest.push((share, bytes_of(&loaded.program, &faithful), bytes_of(&loaded.program, &improved), ours.overhead, own.overhead));
        results.add(json!({ "part": "rbfs", "memory": share, "slots": slots, "paper": paper,
            "ours": { "visits": ours.visits, "pom1s": ours.pom1s, "overhead": ours.overhead, "coverage": ours.coverage, "missed": ours.missed },
            "own": { "overhead": own.overhead, "coverage": own.coverage, "missed": own.missed } }));
    }
    println!("  in honest bytes, KiB: cache as it is laid out + queue with its states when full");
    println!("  mem    rbfs: cache   queue  overhead     own: cache   queue  overhead");
    for (share, ours, own, overhead, improved) in honest {
        let kib = |bytes: usize| bytes as f64 / 1024.0;
        println!("  {share:.1} {:>14.1} {:>7.1} {overhead:>9.3} {:>14.1} {:>7.1} {improved:>9.3}", kib(ours.0), kib(ours.1), kib(own.0), kib(own.1));
    }
}

/// The bytes of the cache in its actual layout, and of the full queue, whole states included.
fn bytes_of(program: &Program, strategy: &str) -> (usize, usize) {
    let Ok(spec) = strategy.parse::<StrategySpec>() else { return (0, 0) };
    let store = spec.default_store();
    let Some(slots) = store.number("slots") else { return (0, 0) };
    let room = Room { packing: &program.packing(), account: &Unlimited, most: 0, fixed: 0, bounded: false, seed: 0 };
    // An entry of the queue: the tight state, its waypoint and its depth. Our variant has half as many entries again
    // for states that do not fit.
    let place = program.packing().words() * 8 + 8;
    let queue = if strategy.contains("own") { 0.14 * 1.5 } else { 0.8 };
    (store.takes(&room).0, (slots as f64 * queue) as usize * place)
}

fn row(program: &Arc<Program>, reach: u64, strategy: &str) -> Row {
    let reports: Vec<Report> = (1..=10).filter_map(|seed| run(program, strategy, seed, SymmetryChoice::Auto)).collect();
    let n = reports.len() as f64;
    let mean = |figure: &dyn Fn(&Report) -> f64| reports.iter().map(figure).sum::<f64>() / n;
    Row {
        visits: mean(&|report| report.details.visits.len() as f64),
        pom1s: mean(&|report| report.details.visits.last().and_then(|visit| visit.pom1s).unwrap_or(f64::NAN)),
        overhead: mean(&|report| report.insertions as f64 / report.states as f64),
        coverage: mean(&|report| report.states as f64 / reach as f64),
        missed: mean(&|report| f64::from(u8::from(report.states < reach))),
        collisions: mean(&|report| report.details.visits.last().map_or(0.0, |visit| visit.collision_rate)),
        accepted: reports.iter().filter(|report| report.stop == wayfarer::Stop::Accepted).count(),
    }
}

/// One run, whose states are counted and not estimated: the record holds them all.
pub(crate) fn run(program: &Arc<Program>, strategy: &str, seed: u64, symmetry: SymmetryChoice) -> Option<Report> {
    let strategy = strategy.parse().ok()?;
    let plan =
        Plan { strategy, seed, symmetry, deadlock: Some(wayfarer::search::Deadlock::Off), record: Some(1 << 21), audit: Some(0), ..Plan::default() };
    plan.check(program, &Budget::new(usize::MAX / 2, 0), &mut Unbounded).ok()
}

/// The number of states, and the longest queue of breadth-first search.
fn reachable(program: &Arc<Program>) -> (u64, u64) {
    struct Widest(u64);
    impl Control for Widest {
        fn ask(&mut self, progress: &Progress) -> Option<Stop> {
            self.0 = self.0.max(progress.frontier);
            None
        }
    }
    let mut widest = Widest(0);
    let plan = Plan { deadlock: Some(wayfarer::search::Deadlock::Off), ..Plan::default() };
    let states = plan.check(program, &Budget::new(usize::MAX / 2, 0), &mut widest).map_or(0, |report| report.states);
    (states, widest.0)
}
