//! Random programs, interpreted and compiled as C++.

use crate::agreement::{Seen, agree};
use crate::harness::{Built, compiler};
use std::sync::Arc;
use wayfarer_gpu::{Source, Unsupported};
use wayfarer_ir::{Interpreter, Limits};

/// Programs run by `cargo test`; `WAYFARER_FUZZ_SEEDS=from..to` runs others.
const SEEDS: std::ops::Range<u64> = 0..90;
/// Programs in one library.
const TOGETHER: usize = 30;

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("WAYFARER_FUZZ_SEEDS") else { return SEEDS };
    let (from, to) = text.split_once("..").expect("from..to");
    from.parse().expect("a number")..to.parse().expect("a number")
}

#[test]
fn generated_programs_agree_with_the_interpreter() {
    let Some(compiler) = compiler() else { return };
    let mut seen = Seen::default();
    let seeds: Vec<u64> = seeds().collect();
    for some in seeds.chunks(TOGETHER) {
        let mut sources = Vec::new();
        let mut interpreters = Vec::new();
        for seed in some {
            let limits = Limits { fuel: 50 + seed % 500, call_depth: 2 + (seed % 7) as u32, frame_words: 40 + (seed % 100) as u32 };
            let program = Arc::new(crate::plain(*seed));
            match Source::new(&program, limits) {
                Ok(source) => {
                    sources.push(source);
                    interpreters.push((*seed, Interpreter::new(program, limits)));
                }
                Err(Unsupported::Wide { .. } | Unsupported::Empty) => {}
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }
        let built = Built::new(compiler, &sources);
        for (number, (seed, interpreter)) in interpreters.iter().enumerate() {
            agree(&format!("seed {seed}"), interpreter, &built, number, &sources[number], 30, &mut seen);
        }
    }
    if seeds.len() as u64 == SEEDS.end {
        assert!(seen.states > 1_000 && seen.steps > 1_000 && seen.faults > 200 && seen.discarded > 20, "{seen:?}");
        assert!(seen.reached > 20 && seen.failing > 200 && seen.property_faults > 20, "{seen:?}");
    }
}
