//! Searches up to symmetry on a device made of a C++ compiler, against the orbits of the intermediate form: other representatives, and the same counts.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::models::models;
use crate::searches::{asked, levels, tight, whole_level};
use wayfarer_gpu::{Levels, Machine, Search, Slots, Source, Unsupported, What};
use wayfarer_ir::symmetry::{Orbits, Symmetry};
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_space::{Space, Steps, Word};

/// A search by levels up to symmetry counts as many states, firings and notes in each level as one by the interpreter.
pub(crate) fn same_orbits(
    name: &str,
    program: &Program,
    interpreter: &Interpreter,
    machine: &dyn Machine,
    source: &Source,
    slots: Slots,
    most: usize,
) {
    let symmetry = Symmetry::of(program).expect("small sets").expect("a set");
    let orbits = Orbits::new(interpreter, &symmetry);
    let expected = levels(&orbits, 2, most);
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    let starts: Vec<Vec<Word>> = steps.states.iter().map(<[Word]>::to_vec).collect();
    let mut search = Levels::new(machine, source, slots, 16 << 20, &asked(interpreter, 2)).expect("memory");
    let mut first = search.start(&tight(source, &starts)).expect("a start").notes;
    for (depth, level) in expected.iter().enumerate() {
        let notes = if depth == 0 { std::mem::take(&mut first) } else { whole_level(&mut search) };
        let notes: Vec<What> = notes.iter().map(|note| note.what).collect();
        let totals = search.totals();
        // Which of the symmetric rules fire depends on the representative; how many do, does not.
        let fired = |firings: &[u64]| firings.iter().sum::<u64>();
        assert_eq!((level.totals.states, fired(&level.totals.firings)), (totals.states, fired(&totals.firings)), "{name}: level {depth}");
        let violations = level.notes.iter().filter(|(what, _)| !matches!(what, What::Fault(..) | What::PropertyFault(..))).count();
        let noted = notes.iter().filter(|what| !matches!(what, What::Fault(..) | What::PropertyFault(..))).count();
        assert_eq!(violations, noted, "{name}: level {depth}");
    }
}

#[test]
fn searches_up_to_symmetry_count_orbits() {
    let Some(compiler) = compiler() else { return };
    let prepared: Vec<_> = models()
        .into_iter()
        .filter_map(|(name, program)| {
            let symmetric = program.asymmetries.is_empty() && matches!(Symmetry::of(&program), Ok(Some(_)));
            let source = Source::symmetric(&program, Limits::default()).ok().filter(|_| symmetric)?;
            let slots = Slots::exact(source.bits, true);
            Some((name, Interpreter::new(program.clone(), Limits::default()), program, source, slots))
        })
        .collect();
    assert!(prepared.len() > 5, "{} symmetric models", prepared.len());
    let sources: Vec<_> = prepared.iter().map(|(_, _, _, source, slots)| (source.clone(), Search::Levels(*slots))).collect();
    let kernels = Kernels::of(compiler, &sources);
    for (number, (name, interpreter, program, source, slots)) in prepared.iter().enumerate() {
        // One that is violated early enough is followed that far.
        let most = if name.contains("german_bug") { 3_000 } else { 400 };
        same_orbits(name, program, interpreter, &kernels.device(number), source, *slots, most);
    }
}

#[test]
fn generated_programs_have_the_same_orbits() {
    let Some(compiler) = compiler() else { return };
    let prepared: Vec<_> = (0..200u64)
        .filter_map(|seed| {
            let program = std::sync::Arc::new(crate::plain(seed));
            let limits = crate::searches::limits(seed);
            let symmetric = program.asymmetries.is_empty() && matches!(Symmetry::of(&program), Ok(Some(_)));
            let source = Source::symmetric(&program, limits).ok().filter(|_| symmetric)?;
            let slots = Slots::exact(source.bits, true);
            Some((format!("seed {seed}"), Interpreter::new(program.clone(), limits), program, source, slots))
        })
        .take(8)
        .collect();
    let sources: Vec<_> = prepared.iter().map(|(_, _, _, source, slots)| (source.clone(), Search::Levels(*slots))).collect();
    let kernels = Kernels::of(compiler, &sources);
    for (number, (name, interpreter, program, source, slots)) in prepared.iter().enumerate() {
        same_orbits(name, program, interpreter, &kernels.device(number), source, *slots, 150);
    }
    eprintln!("{} generated programs", prepared.len());
}

#[test]
fn large_scalarsets_are_named() {
    let text = "type p: scalarset(7); var a: array [p] of boolean; startstate for i: p do a[i] := false; end; end; ruleset i: p do rule a[i] := !a[i]; end; end;";
    let loaded = wayfarer_lang::murphi::load(
        &wayfarer_lang::source::Source::from_bytes("large.m".to_string(), text.as_bytes()),
        &wayfarer_lang::murphi::Options::default(),
    );
    let program = loaded.0.expect("it is right");
    assert_eq!(Source::symmetric(&program, Limits::default()).err(), Some(Unsupported::Scalarset { elements: 7 }));
}
