//! States that are passed through: Promela models with atomic sequences on a device made of a C++ compiler, against the interpreter.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::searches::{asked, levels, tight, whole_level};
use std::path::Path;
use std::sync::Arc;
use wayfarer_gpu::{Levels, Machine, Search, Slots, Source, What};
use wayfarer_ir::passing::Passing;
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_lang::promela::learned::Learned;
use wayfarer_lang::promela::lower::lower;
use wayfarer_lang::{promela, source};
use wayfarer_space::{Space, Steps, Word};

/// Choices inside an atomic sequence, a fault on one of the paths, one that goes back to where it began, and one that blocks in the middle.
const CHOICES: &str = "byte x, y; chan c = [1] of { byte };
active [2] proctype P() {
  do
  :: atomic { x < 6 -> if :: x = x + 1 :: x = x + 2; assert(x != 7) :: y = 1 - y :: skip fi; if :: y == 1 -> x = x + 1 :: else fi }
  :: atomic { x > 3 -> x = x - 3; c!x; y = 0 }
  :: atomic { c?y -> y = 1 }
  od
}";

fn program(text: &str) -> Arc<Program> {
    let read = promela::read(&source::Source::from_bytes("model.pml".to_string(), text.as_bytes()), &[], &|_| None);
    let model = read.0.expect("the model is right");
    let learned = Learned::look_ahead(&model).unwrap_or_else(|_| panic!("it begins"));
    Arc::new(lower(&model, &learned).expect("it can be lowered").program)
}

/// A search by levels counts the same states, firings and faults in each level as one by the interpreter.
fn same_paths(name: &str, program: &Arc<Program>, machine: &dyn Machine, source: &Source, slots: Slots, most: usize) -> usize {
    let interpreter = Interpreter::new(program.clone(), Limits::default());
    let passing = Passing::new(Box::new(Interpreter::new(program.clone(), Limits::default())), program.passing.expect("it passes"));
    let expected = levels(&passing, 1, most);
    let mut steps = Steps::new(passing.width());
    passing.initial(&mut steps);
    let starts: Vec<Vec<Word>> = steps.states.iter().map(<[Word]>::to_vec).collect();
    let mut search = Levels::new(machine, source, slots, 16 << 20, &asked(&interpreter, 1)).expect("memory");
    let mut first = search.start(&tight(source, &starts)).expect("a start").notes;
    let mut faults = 0;
    for (depth, level) in expected.iter().enumerate() {
        let notes = if depth == 0 { std::mem::take(&mut first) } else { whole_level(&mut search) };
        let mut notes: Vec<What> = notes.iter().map(|note| note.what).collect();
        let totals = search.totals();
        assert_eq!((level.totals.states, &level.totals.firings), (totals.states, &totals.firings), "{name}: level {depth}");
        assert_eq!(level.totals.discarded, totals.discarded, "{name}: level {depth}");
        if totals.limit.is_some() {
            // Which limit comes first is not said, and the run begins again.
            return faults;
        }
        let mut wanted: Vec<What> = level.notes.iter().map(|(what, _)| *what).collect();
        wanted.sort();
        notes.sort();
        if depth > 0 {
            assert_eq!(wanted, notes, "{name}: level {depth}");
        }
        faults += notes.iter().filter(|what| matches!(what, What::PathFault(..) | What::Fault(..))).count();
    }
    assert_eq!(search.totals().spilled, 0, "{name}");
    faults
}

#[test]
fn atomic_sequences_are_passed_through() {
    let Some(compiler) = compiler() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a model");
    let files = ["alternating_bit.pml", "lock_bug.pml", "parcels.pml", "ring_election.pml", "watchdog.pml"];
    let mut programs: Vec<_> = files.iter().map(|name| (name.to_string(), program(&read(name)))).collect();
    programs.push(("choices".to_string(), program(CHOICES)));
    programs.retain(|(_, program)| program.passing.is_some());
    let prepared: Vec<_> = programs
        .iter()
        .map(|(name, program)| {
            let source = Source::new(program, Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            let slots = Slots::exact(source.bits, true);
            (source, slots)
        })
        .collect();
    let kernels = Kernels::of(compiler, &prepared.iter().map(|(source, slots)| (source.clone(), Search::Levels(*slots))).collect::<Vec<_>>());
    let mut faults = 0;
    for (number, ((name, program), (source, slots))) in programs.iter().zip(&prepared).enumerate() {
        faults += same_paths(name, program, &kernels.device(number), source, *slots, 2_000);
    }
    assert!(programs.len() > 1 && faults > 0, "{} models, {faults} faults", programs.len());
}
