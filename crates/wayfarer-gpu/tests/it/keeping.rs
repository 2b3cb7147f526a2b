//! What a search by levels keeps besides states: each kind of violation once, how often states were visited, and what of a level lies in the host's memory.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::models::models;
use crate::searches::{asked, levels, limits, tight, whole_level};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wayfarer_gpu::{Asked, Levels, Machine, Search, Slots, Source, What};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_space::{Firing, Space, States, Steps, Word};

/// A kind of violation: faults are the same whichever rule meets them.
fn kind(what: What) -> (u32, u32, u32) {
    match what {
        What::Deadlock => (1, 0, 0),
        What::Property(property) => (2, property, 0),
        What::PropertyFault(property, fault) => (3, property, fault),
        What::Fault(_, fault) | What::PathFault(_, _, fault) => (4, 0, fault),
        What::Found(property) => (5, property, 0),
        What::Rule(rule, _) => (6, rule, 0),
    }
}

/// Each kind is noted once, in the level in which it shows first. Gives how many there were.
pub(crate) fn each_kind_is_noted_once(
    name: &str,
    interpreter: &Interpreter,
    machine: &dyn Machine,
    source: &Source,
    slots: Slots,
    most: usize,
) -> usize {
    let expected = levels(interpreter, 1, most);
    let mut first: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
    for (depth, level) in expected.iter().enumerate() {
        for (what, _) in &level.notes {
            let (What::Fault(_, fault) | What::PathFault(_, _, fault) | What::PropertyFault(_, fault)) = *what else {
                first.entry(kind(*what)).or_insert(depth);
                continue;
            };
            if interpreter.fault_class(wayfarer_space::Fault(fault)).is_violation() {
                first.entry(kind(*what)).or_insert(depth);
            }
        }
    }
    // The kernels at hand may count visits, and then need room for them.
    let asked = Asked { once: true, profile: slots.is_exact(), ..asked(interpreter, 1) };
    let mut search = Levels::new(machine, source, slots, 16 << 20, &asked).expect("memory");
    let mut seen: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
    for (depth, level) in expected.iter().enumerate() {
        let start = || tight(source, &level.states);
        let notes = if depth == 0 { search.start(&start()).expect("a start").notes } else { whole_level(&mut search) };
        for note in notes {
            assert_eq!(seen.insert(kind(note.what), depth), None, "{name}: {:?} is noted twice", note.what);
        }
    }
    assert_eq!(first, seen, "{name}");
    seen.len()
}

/// Every step out of a state is a visit, and so is a start. Gives the number of visits.
pub(crate) fn visits_are_counted(name: &str, interpreter: &Interpreter, machine: &dyn Machine, source: &Source, slots: Slots, most: usize) -> u64 {
    let expected = levels(interpreter, 0, most);
    let mut visits: HashMap<Vec<Word>, u64> = HashMap::new();
    expected[0].states.iter().for_each(|state| *visits.entry(state.clone()).or_default() += 1);
    let (mut batch, mut steps) = (States::new(interpreter.width()), Steps::new(interpreter.width()));
    for state in expected[..expected.len() - 1].iter().flat_map(|level| &level.states) {
        batch.clear();
        batch.push(state);
        interpreter.expand(&batch, Firing::of(0), &mut steps);
        steps.states.iter().for_each(|state| *visits.entry(state.to_vec()).or_default() += 1);
    }
    let mut bins = vec![0; 64];
    visits.values().for_each(|count| bins[count.ilog2() as usize] += 1);
    bins.truncate(bins.iter().rposition(|bin| *bin > 0).map_or(0, |last| last + 1));
    let mut search = Levels::new(machine, source, slots, 16 << 20, &Asked { profile: true, ..Asked::default() }).expect("memory");
    search.start(&tight(source, &expected[0].states)).expect("a start");
    for _ in 1..expected.len() {
        whole_level(&mut search);
    }
    assert_eq!(search.profile().expect("a profile"), bins, "{name}, {slots:?}");
    visits.values().sum()
}

#[test]
fn kinds_of_violations_are_noted_once_and_visits_are_counted() {
    let Some(compiler) = compiler() else { return };
    let own = models().into_iter().step_by(6).map(|(name, program)| (name, program, Limits::default()));
    let generated = (2000..2010).map(|seed| (format!("seed {seed}"), Arc::new(crate::plain(seed)), limits(seed)));
    let prepared: Vec<_> = own
        .chain(generated)
        .filter_map(|(name, program, limits)| {
            let source = Source::new(&program, limits).ok()?;
            let slots = if name.len().is_multiple_of(3) { Slots::Arena } else { Slots::exact(source.bits, true) };
            Some((name, Interpreter::new(program, limits), source, slots))
        })
        .collect();
    let searches = prepared.iter().map(|(_, _, source, slots)| (source.clone(), Search::Profile(*slots)));
    let kernels = Kernels::of(compiler, &searches.collect::<Vec<_>>());
    let (mut kinds, mut visits) = (0, 0);
    for (number, (name, interpreter, source, slots)) in prepared.iter().enumerate() {
        let machine = kernels.device(number);
        visits += visits_are_counted(name, interpreter, &machine, source, *slots, 400);
        kinds += each_kind_is_noted_once(name, interpreter, &machine, source, *slots, 400);
    }
    assert!(kinds > 3 && visits > 3_000, "{kinds} kinds, {visits} visits");
}

/// What finds no room on the device lies in memory that is asked for; without it the search says that it lost states.
#[test]
fn memory_of_the_host_is_asked_for() {
    let Some(compiler) = compiler() else { return };
    let (name, program) = models().into_iter().find(|(name, _)| name == "german.m").expect("a model");
    let source = Source::new(&program, Limits::default()).expect("a source");
    let interpreter = Interpreter::new(program, Limits::default());
    let slots = Slots::exact(source.bits, true);
    let kernels = Kernels::of(compiler, &[(source.clone(), Search::Levels(slots))]);
    let machine = kernels.device(0);
    let expected = levels(&interpreter, 0, 1_500);
    let bytes = (160 << 10) + 4096 * (source.tight as u64 + 2) * 8;
    for pieces in [0, 1, u64::MAX] {
        let granted = Cell::new(0);
        let grant = |_: u64| {
            granted.set(granted.get() + 1);
            granted.get() <= pieces
        };
        let mut search = Levels::new(&machine, &source, slots, bytes, &Asked::default()).expect("memory").asking(&grant);
        search.start(&tight(&source, &expected[0].states)).expect("a start");
        for _ in 1..expected.len() {
            whole_level(&mut search);
            if search.totals().spilled > 0 {
                break;
            }
        }
        assert!(granted.get() > 0, "{name}: nothing was spilled");
        assert_eq!(search.totals().spilled > 0, pieces < u64::MAX, "{name}, {pieces}");
        assert_eq!(search.host_bytes() > 0, pieces > 0, "{name}, {pieces}");
        if pieces == u64::MAX {
            assert_eq!(search.totals().states, expected[expected.len() - 1].totals.states, "{name}");
        }
    }
}
