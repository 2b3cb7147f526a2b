//! Random programs, on the interpreter and compiled.

use crate::agreement::{Seen, agree, agree_on};
use std::sync::Arc;
use wayfarer_ir::{Interpreter, Limits, Program, generate};
use wayfarer_jit::Compiled;

/// Programs run by `cargo test`; `WAYFARER_FUZZ_SEEDS=from..to` runs others.
const SEEDS: std::ops::Range<u64> = 0..500;

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("WAYFARER_FUZZ_SEEDS") else { return SEEDS };
    let (from, to) = text.split_once("..").expect("from..to");
    from.parse().expect("a number")..to.parse().expect("a number")
}

fn run(seeds: impl Iterator<Item = u64>, limits: impl Fn(u64) -> Limits, most: usize) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let program = Arc::new(generate::generate(seed));
        seen.add(agree(&format!("seed {seed}"), &program, limits(seed), most));
    }
    seen
}

#[test]
fn generated_programs_agree() {
    let seen = run(seeds(), |seed| Limits { fuel: 50 + seed % 500, call_depth: 2 + (seed % 7) as u32, frame_words: 40 + (seed % 100) as u32 }, 30);
    if seeds() != SEEDS {
        return;
    }
    assert!(seen.states > 5_000 && seen.steps > 5_000 && seen.faults > 1_000 && seen.discarded > 100, "{seen:?}");
    assert!(seen.reached > 100 && seen.failing > 1_000 && seen.property_faults > 100 && seen.omitted > 1_000, "{seen:?}");
}

#[test]
fn generated_programs_agree_with_fuel_to_spare() {
    // Endless loops are slow to interpret until they have used it up.
    let seen = run(seeds().step_by(10), |_| Limits { fuel: 100_000, ..Limits::default() }, 15);
    assert!(seeds() != SEEDS || seen.states > 500 && seen.steps > 500 && seen.faults > 50, "{seen:?}");
}

/// Runs a program whose families are all nests of loops.
fn agree_nested(name: &str, program: Program, most: usize) -> Seen {
    let (program, limits) = (Arc::new(program), Limits { fuel: 100_000, ..Limits::default() });
    let interpreter = Interpreter::new(program.clone(), limits);
    let compiled = Compiled::with_nests(program, limits, 0).unwrap_or_else(|error| panic!("{name}: {error}"));
    agree_on(name, &interpreter, &compiled, most)
}

#[test]
fn nests_of_loops_agree() {
    let mut seen = Seen::default();
    for seed in seeds().step_by(4) {
        seen.add(agree_nested(&format!("nested seed {seed}"), generate::generate(seed), 6));
        seen.add(agree_nested(&format!("deep seed {seed}"), generate::generate_deep(seed), 6));
    }
    assert!(seeds() != SEEDS || seen.states > 1_000 && seen.steps > 1_000 && seen.faults > 200, "{seen:?}");
}
