//! Any bytes can be read as mCRL2, every diagnostic rendered, and what is right explored for a few steps.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayfarer_algebra::{AlgebraSpace, System};
use wayfarer_lang::mcrl2;
use wayfarer_lang::source::Source;
use wayfarer_space::{Fired, Rng, Space, Steps};

fuzz_target!(|bytes: &[u8]| {
    let source = Source::from_bytes("fuzz.mcrl2", bytes);
    let (specification, diagnostics) = mcrl2::load(&source);
    let length = source.text().len() as u32;
    for diagnostic in &diagnostics {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= length, "{diagnostic:?}");
    }
    diagnostics.render(&source, true);
    assert_eq!(specification.is_none(), diagnostics.has_errors());
    let Some(Ok(system)) = specification.map(System::new) else { return };
    let system = system.with_fuel(10_000);
    let space = AlgebraSpace::new(&system, system.layout());
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let (mut state, mut next, mut rng) = (steps.states.get(0).to_vec(), Vec::new(), Rng::new(1, "fuzz"));
    for _ in 0..20 {
        match space.sample(&state, &mut rng, &mut next) {
            Some((_, Fired::To)) => std::mem::swap(&mut state, &mut next),
            _ => return,
        }
    }
    space.show(&state);
});
