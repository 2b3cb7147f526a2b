//! Checks that the audit's bounds hold as often as they say. The models are small enough to know each sampler's
//! missing mass exactly; four strategies search them within three budgets from a hundred seeds each. The 95 % bound
//! must hold in 94 % of all runs and in 87 of 100 runs of every cell (a cell whose bound holds with 95 % falls below
//! with odds of 5 in 10,000), and it must be informative: its median is at most twice the truth plus the mass of
//! three draws.
//!
//! A search over a cache is judged through a small record, so draws above its largest value do not count; the truth
//! is then the missing share of the mass below that value. Whether the bound also holds for all of the mass is
//! counted separately.

use crate::Request;
use crate::results::Results;
use serde_json::json;
use std::path::Path;
use wayfarer::{LoadOptions, Plan, StrategySpec, load, space_of};
use wayfarer_search::{
    Audit, CacheStore, Deadlock, Job, Limits, Mass, Outcome, Record, Replacement, Room, Sampler, Settings, Site, Unbounded, Unlimited,
};
use wayfarer_space::{Rng, Space};
use wayfarer_theory::share_at_most;

const MODELS: [(&str, &[(&str, i64)]); 8] = [
    ("alternating_bit.m", &[]),
    ("bounded_retransmission.m", &[]),
    ("ticket_lock.m", &[("ProcessCount", 4)]),
    ("ring_election.m", &[("NodeCount", 4)]),
    ("ring_election_phases.m", &[("NodeCount", 5)]),
    ("sort.m", &[("Length", 5), ("Greatest", 2)]),
    ("fischer.m", &[("ProcessCount", 2)]),
    ("lost_wakeup.m", &[("Capacity", 20)]),
];

const STRATEGIES: [&str; 4] = ["bfs", "rdfs", "walk:restart=100", "rbfs"];

/// Steps of the search, as multiples of the model's states.
const BUDGETS: [f64; 3] = [0.2, 0.6, 2.0];

const SEEDS: u64 = 100;
const WALKS: u64 = 200;
const MOST_STATES: usize = 20_000;

/// One cell of the table for one sampler.
#[derive(Default)]
struct Cell {
    held: u32,
    held_for_all: u32,
    truths: Vec<f64>,
    ratios: Vec<f64>,
}

/// Prints a row for each cell and the sums below them.
pub(crate) fn measure(_request: &Request, results: &mut Results) {
    println!("\ncalibration of the audit: how often of {SEEDS} times the 95 % bound holds, for each sampler, with {WALKS} walks");
    println!(
        "{:<26} {:<18} {:>8}   held (walk, shallow, priority)   median truth             median bound/(truth + 3/n)",
        "model", "strategy", "steps"
    );
    let (mut runs, mut held, mut held_for_all, mut least, mut widest) = (0, 0, 0, u32::MAX, 0f64);
    for (file, constants) in MODELS {
        let Some(model) = Known::new(file, constants) else {
            println!("{file}: cannot be known in full");
            continue;
        };
        for (number, strategy) in STRATEGIES.iter().enumerate() {
            for (budget, share) in BUDGETS.iter().enumerate() {
                let steps = (share * model.states as f64).ceil() as u64;
                let mut cells: Vec<Cell> = Sampler::FIXED.iter().map(|_| Cell::default()).collect();
                for run in 0..SEEDS {
                    let seed = Rng::new(run, file).split((number * BUDGETS.len() + budget) as u64).next_word();
                    model.search(strategy, steps, seed, &mut cells);
                }
                let row = |show: &dyn Fn(&Cell) -> String| cells.iter().map(show).collect::<Vec<_>>().join(" ");
                println!(
                    "{file:<26} {strategy:<18} {steps:>8}   {:<32} {:<24} {}",
                    row(&|cell| format!("{:>3}", cell.held)),
                    row(&|cell| format!("{:.4}", median(&cell.truths))),
                    row(&|cell| format!("{:.2}", median(&cell.ratios)))
                );
                for (sampler, cell) in Sampler::FIXED.iter().zip(&cells) {
                    runs += SEEDS as u32;
                    held += cell.held;
                    held_for_all += cell.held_for_all;
                    least = least.min(cell.held);
                    widest = widest.max(median(&cell.ratios));
                    results.add(json!({ "part": "calibration", "model": file, "strategy": strategy, "steps": steps, "sampler": sampler.name(),
                        "walks": WALKS, "seeds": SEEDS, "held": cell.held, "held_for_all_mass": cell.held_for_all,
                        "median_truth": median(&cell.truths), "median_ratio": median(&cell.ratios) }));
                }
            }
        }
    }
    println!(
        "held in {:.2} % of {runs} runs, in at least {least} of {SEEDS} in each cell; the widest median is {widest:.2} of (truth + 3/n); for all of the mass {:.2} %",
        100.0 * f64::from(held) / f64::from(runs.max(1)),
        100.0 * f64::from(held_for_all) / f64::from(runs.max(1))
    );
}

/// A model and the exact law of each sampler on it.
struct Known {
    space: Box<dyn Space>,
    states: u64,
    masses: Vec<Mass>,
}

impl Known {
    fn new(file: &str, constants: &[(&str, i64)]) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/murphi").join(file);
        let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let loaded = load(&path.to_string_lossy(), &LoadOptions { constants, ..LoadOptions::default() }).ok()?;
        let space = space_of(&loaded.program, &Plan::default());
        let masses = Sampler::FIXED.iter().map(|sampler| sampler.mass(&*space, MOST_STATES)).collect::<Option<Vec<_>>>()?;
        Some(Known { states: masses[0].states.len() as u64, space, masses })
    }

    /// Searches once and adds each sampler's result to its cell.
    fn search(&self, strategy: &str, steps: u64, seed: u64, cells: &mut [Cell]) {
        let (space, packing) = (&*self.space, self.space.packing());
        let record = MOST_STATES;
        let settings = Settings {
            limits: Limits { steps, ..Limits::default() },
            deadlock: Deadlock::Off,
            max_errors: usize::MAX,
            record,
            ..Settings::default()
        };
        let Ok(parsed) = StrategySpec::parse(strategy) else { return };
        let mut spec = parsed.default_store();
        if spec.abilities().evicts {
            spec = CacheStore::spec(Some((self.states / 4).next_multiple_of(8)), 8, 32, Replacement::Random);
        }
        let room = Room { packing, account: &Unlimited, most: 1 << 20, fixed: 1 << 20, bounded: false, seed };
        let Some(store) = spec.build(&room) else { return };
        let mut built = parsed.build(&Site { limits: &settings.limits, packing, account: &Unlimited, seed, store: spec });
        let Outcome { record, .. } = Job::new(space, &*store, &mut *built, &settings).run(&mut Unbounded);
        let knowing = Audit { space, representative: None, store: &*store, record: record.as_ref(), settings: &settings, seed, workers: 1 };
        // A search over a cache is judged by a record that holds a quarter of the states.
        let small = record.as_ref().filter(|_| strategy == "rbfs").map(|whole| {
            let mut small = Record::new(self.states as usize / 4, packing.clone());
            small.absorb(whole);
            small
        });
        let audit = Audit { record: small.as_ref().or(record.as_ref()), ..knowing };
        for ((sampler, mass), cell) in Sampler::FIXED.iter().zip(&self.masses).zip(cells) {
            let visited = audit.judge(mass.states.clone());
            let below: f64 = mass.shares.iter().zip(&visited).filter(|(_, visited)| visited.is_some()).map(|(share, _)| share).sum();
            let truth = if below > 0.0 { mass.missing(&visited) / below } else { 0.0 };
            let (tally, _) = audit.draw(*sampler, WALKS, &mut Unbounded);
            let Ok(bound) = share_at_most(tally.missing, tally.judged, 0.05) else { return };
            cell.held += u32::from(truth <= bound);
            cell.held_for_all += u32::from(mass.missing(&knowing.judge(mass.states.clone())) <= bound);
            cell.truths.push(truth);
            cell.ratios.push(bound / (truth + 3.0 / tally.judged.max(1) as f64));
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
