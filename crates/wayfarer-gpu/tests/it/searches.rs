//! Searches on a device made of a C++ compiler, against a search by the interpreter.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::models::models;
use std::collections::HashSet;
use std::sync::Arc;
use wayfarer_gpu::{Asked, Levels, Machine, Note, Search, Slots, Source, Walks, What};
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_space::{Fired, Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// What a search by the interpreter found in one level.
pub(crate) struct Level {
    pub(crate) states: Vec<Vec<Word>>,
    pub(crate) totals: Totals,
    /// What is wrong in this level's states, or shows when the one before it is expanded.
    pub(crate) notes: Vec<(What, Vec<Word>)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) states: u64,
    pub(crate) firings: Vec<u64>,
    pub(crate) discarded: u64,
    reached: Vec<u32>,
}

/// Breadth-first search by the interpreter, by levels, until there are more than `most` states.
pub(crate) fn levels(interpreter: &dyn Space, deadlock: u64, most: usize) -> Vec<Level> {
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    let mut known: HashSet<Vec<Word>> = HashSet::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut totals = Totals { firings: vec![0; interpreter.rules() as usize], ..Totals::default() };
    // What start states cover is for the host to say.
    let mut reached = PropertyBits::default();
    let mut notes = Vec::new();
    loop {
        let mut fresh = Vec::new();
        let sources: Vec<Option<Vec<Word>>> =
            levels.last().map_or_else(|| vec![None], |level| level.states.iter().map(|state| Some(state.clone())).collect());
        for source in sources {
            if let Some(state) = &source {
                let mut batch = States::new(interpreter.width());
                batch.push(state);
                interpreter.expand(&batch, Firing::of(0), &mut steps);
                totals.discarded += steps.discarded;
                steps.firings.iter().chain(steps.faults.iter().map(|step| &step.firing)).for_each(|firing| totals.firings[firing.rule as usize] += 1);
                reached.union(&steps.reached);
                let fault = |step: &wayfarer_space::FaultStep| match step.firing {
                    Firing { rule, outcome: 0 } => What::Fault(rule, step.fault.0),
                    Firing { rule, outcome } => What::PathFault(rule, outcome, step.fault.0),
                };
                notes.extend(steps.faults.iter().map(|step| (fault(step), state.clone())));
                let stutters = steps.changed.iter().all(|changed| *changed == 0) && steps.faults.is_empty() && steps.discarded == 0;
                if (deadlock == 2 && stutters || deadlock == 1 && steps.enabled[0] == 0) && !interpreter.may_end(state) {
                    notes.push((What::Deadlock, state.clone()));
                }
            }
            for state in steps.states.iter() {
                if known.insert(state.to_vec()) {
                    fresh.push(state.to_vec());
                }
            }
        }
        for state in &fresh {
            let mut bits = PropertyBits::default();
            if let Err((property, fault)) = interpreter.check(state, &mut bits) {
                notes.push((What::PropertyFault(property, fault.0), state.clone()));
            }
            for property in bits.iter() {
                if interpreter.asks_to_reach(property) {
                    reached.insert(property);
                } else {
                    notes.push((What::Property(property), state.clone()));
                }
            }
        }
        totals.states += fresh.len() as u64;
        totals.reached = reached.iter().collect();
        notes.sort();
        let ends = fresh.is_empty() || known.len() > most;
        levels.push(Level { states: fresh, totals: totals.clone(), notes: std::mem::take(&mut notes) });
        if ends {
            return levels;
        }
    }
}

pub(crate) fn asked(interpreter: &Interpreter, deadlock: u64) -> Asked {
    let words = (interpreter.properties() as usize).div_ceil(64).max(1);
    Asked { judged: vec![u64::MAX; words], sought: vec![0; words], deadlock, faults: true, ..Asked::default() }
}

pub(crate) fn tight(source: &Source, states: &[Vec<Word>]) -> Vec<Word> {
    let mut words = vec![0; states.len() * source.tight];
    states.iter().zip(words.chunks_mut(source.tight)).for_each(|(state, words)| source.packing.pack(state, words));
    words
}

pub(crate) fn working(source: &Source, tight: &[Word]) -> Vec<Word> {
    let mut state = vec![0; source.words];
    source.packing.unpack(tight, &mut state);
    state
}

/// Every level has the same states, counts and notes; then the way to a state of the last level is found.
pub(crate) fn same_search(
    name: &str,
    interpreter: &Interpreter,
    machine: &dyn Machine,
    source: &Source,
    slots: Slots,
    bytes: u64,
    most: usize,
) -> u64 {
    let deadlock = 1 + name.len() as u64 % 2;
    let expected = levels(interpreter, deadlock, most);
    let mut search = Levels::new(machine, source, slots, bytes, &asked(interpreter, deadlock)).expect("memory");
    let starts = tight(source, &expected[0].states);
    let mut round = search.start(&starts).expect("a start");
    let mut spilled = 0;
    for (depth, level) in expected.iter().enumerate() {
        let mut notes = Vec::new();
        if depth > 0 {
            loop {
                round = search.round().expect("a round");
                notes.append(&mut round.notes);
                spilled = spilled.max(search.totals().waiting_bytes);
                if round.ends_level {
                    break;
                }
            }
        } else {
            notes.append(&mut round.notes);
        }
        let totals = search.totals();
        let actual = Totals { states: totals.states, firings: totals.firings, discarded: totals.discarded, reached: totals.reached.iter().collect() };
        assert_eq!(level.totals, actual, "{name}, {slots:?}: level {depth}");
        assert_eq!((totals.lost, totals.spilled), (0, 0), "{name}");
        let mut notes: Vec<(What, Vec<Word>)> = notes.into_iter().map(|note| (note.what, working(source, &note.state))).collect();
        notes.sort();
        let limit = |what: &What| {
            let (What::Fault(_, fault) | What::PropertyFault(_, fault)) = *what else { return false };
            interpreter.fault_class(wayfarer_space::Fault(fault)) != wayfarer_space::FaultClass::Violation
        };
        let violations: Vec<_> = level.notes.iter().filter(|(what, _)| !limit(what)).cloned().collect();
        assert_eq!(totals.limit.is_some(), expected[..=depth].iter().any(|level| level.notes.iter().any(|(what, _)| limit(what))), "{name}: limit");
        if violations.len() < 4000 {
            assert_eq!(violations, notes, "{name}, {slots:?}: notes of level {depth}");
        }
        assert_eq!(search.frontier(), level.states.len() as u64, "{name}: frontier of level {depth}");
    }
    if starts.is_empty() {
        return spilled;
    }
    // Narrow levels that are taken together end in the same.
    search.start(&starts).expect("a start");
    let mut left = expected.len() as u64 - 1;
    while left > 0 {
        let leapt = search.leap(left).expect("a leap");
        left -= if leapt.ends_level { 1 + u64::from(leapt.levels_before) } else { 0 };
    }
    let (totals, last) = (search.totals(), &expected[expected.len() - 1].totals);
    assert_eq!((totals.states, &totals.firings, totals.discarded), (last.states, &last.firings, last.discarded), "{name}, {slots:?}: leaps");
    let depth = expected.len() - 1 - usize::from(expected[expected.len() - 1].states.is_empty());
    if let Some(goal) = expected[depth].states.last().filter(|_| slots.is_exact() && depth > 0) {
        let goal = tight(source, std::slice::from_ref(goal));
        let trail = search.trail(&starts, &goal, depth as u32, &mut || true).expect("a trail").unwrap_or_else(|| panic!("{name}: no trail"));
        assert_eq!(trail.last(), Some(&goal), "{name}");
        // Each state of the trail lies in a level of its own, and at most six levels after the one before.
        let mut before = 0;
        for state in &trail {
            let state = working(source, state);
            let level = expected.iter().position(|level| level.states.contains(&state)).unwrap_or_else(|| panic!("{name}: a state of the trail"));
            assert!(level > before && level - before <= 6 || level == 0 && before == 0, "{name}: {level} after {before}");
            before = level;
        }
    }
    spilled
}

/// Expands a whole level, and gives what was noted.
pub(crate) fn whole_level(search: &mut Levels) -> Vec<Note> {
    let mut notes = Vec::new();
    loop {
        let mut round = search.round().expect("a round");
        notes.append(&mut round.notes);
        if round.ends_level {
            return notes;
        }
    }
}

/// All kinds of stores.
pub(crate) const STORES: [Slots; 6] = [Slots::Word, Slots::Pair, Slots::Arena, Slots::Fingerprint, Slots::HalfFingerprint, Slots::Bits];

/// A store that can hold the program's states; they take turns.
fn store(number: usize, source: &Source) -> Slots {
    let fitting: Vec<Slots> = STORES.into_iter().filter(|slots| fits(source, *slots)).collect();
    fitting[number % fitting.len()]
}

/// Whether a store can hold the program's states.
pub(crate) fn fits(source: &Source, slots: Slots) -> bool {
    match slots {
        Slots::Word => source.bits <= 63,
        Slots::Pair => (64..=127).contains(&source.bits),
        _ => true,
    }
}

/// Small limits, so that loops and recursion of generated programs end soon.
pub(crate) fn limits(seed: u64) -> Limits {
    Limits { fuel: 50 + seed % 500, call_depth: 2 + (seed % 7) as u32, frame_words: 40 + (seed % 100) as u32 }
}

fn prepared(programs: Vec<(String, Arc<Program>, Limits)>) -> Vec<(String, Interpreter, Source, Slots)> {
    let prepare = |(number, (name, program, limits)): (usize, (String, Arc<Program>, Limits))| {
        let source = Source::new(&program, limits).ok()?;
        let slots = store(number, &source);
        Some((name, Interpreter::new(program, limits), source, slots))
    };
    programs.into_iter().enumerate().filter_map(prepare).collect()
}

#[test]
fn searches_of_models_agree_level_by_level() {
    let Some(compiler) = compiler() else { return };
    let programs = models().into_iter().map(|(name, program)| (name, program, Limits::default())).collect();
    let prepared = prepared(programs);
    let kernels = Kernels::new(compiler, &prepared.iter().map(|(_, _, source, slots)| (source.clone(), *slots)).collect::<Vec<_>>());
    let mut spilled = 0;
    for (number, (name, interpreter, source, slots)) in prepared.iter().enumerate() {
        // A Bloom filter must be large to have no false answer here; a small buffer spills.
        let bytes = match slots {
            Slots::Bits => 64 << 20,
            Slots::Arena => 4 << 20,
            _ => (160 << 10) + 4096 * (source.tight as u64 + 2) * 8,
        };
        spilled += u64::from(same_search(name, interpreter, &kernels.device(number), source, *slots, bytes, 1_500) > 0);
        walks_can_be_walked_again(name, interpreter, &kernels.device(number), source);
    }
    assert!(prepared.len() > 40 && spilled > 5, "{spilled} of {} spilled", prepared.len());
}

#[test]
fn searches_of_generated_programs_agree_level_by_level() {
    let Some(compiler) = compiler() else { return };
    let programs = (1000..1030).map(|seed| (format!("seed {seed}"), Arc::new(crate::plain(seed)), limits(seed))).collect();
    let prepared = prepared(programs);
    let kernels = Kernels::new(compiler, &prepared.iter().map(|(_, _, source, slots)| (source.clone(), *slots)).collect::<Vec<_>>());
    for (number, (name, interpreter, source, slots)) in prepared.iter().enumerate() {
        let bytes = if *slots == Slots::Bits { 64 << 20 } else { 4 << 20 };
        same_search(name, interpreter, &kernels.device(number), source, *slots, bytes, 200);
    }
}

/// What a walk met is met again where the interpreter walks with the same stream.
pub(crate) fn walks_can_be_walked_again(name: &str, interpreter: &Interpreter, machine: &dyn Machine, source: &Source) {
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    let starts: Vec<Vec<Word>> = steps.states.iter().map(<[Word]>::to_vec).collect();
    if starts.is_empty() {
        return;
    }
    let (lanes, seed) = (7, Rng::new(3, "walk"));
    let mut walks = Walks::new(machine, source, &starts.concat(), lanes, seed.parts().0, 50, &asked(interpreter, 2)).expect("memory");
    let met = walks.round(lanes * 40).expect("a round");
    let walked = walks.walked();
    assert_eq!(walked.steps, lanes * 40, "{name}");
    assert!(walked.firings.iter().sum::<u64>() + walked.discarded <= walked.steps, "{name}");
    for met in met.iter().take(5) {
        let mut rng = Rng::from_parts(seed.split(met.lane).parts().0, met.origin);
        let mut state = starts[rng.below(starts.len() as u64) as usize].clone();
        let mut out = Vec::new();
        for _ in 0..met.length {
            if let Some((_, Fired::To)) = interpreter.sample(&state, &mut rng, &mut out) {
                state.clone_from(&out);
            }
        }
        let mut bits = PropertyBits::default();
        let judged = interpreter.check(&state, &mut bits);
        match met.what {
            What::Property(property) => assert!(bits.contains(property), "{name}: {met:?}"),
            What::PropertyFault(property, fault) => assert_eq!(judged, Err((property, wayfarer_space::Fault(fault))), "{name}: {met:?}"),
            What::Fault(rule, fault) => {
                assert_eq!(interpreter.fire(&state, Firing::of(rule), &mut out), Fired::Fault(wayfarer_space::Fault(fault)), "{name}: {met:?}");
            }
            What::Deadlock => {
                let mut batch = States::new(interpreter.width());
                batch.push(&state);
                interpreter.expand(&batch, Firing::of(0), &mut steps);
                assert!(steps.changed.iter().all(|changed| *changed == 0) && steps.discarded == 0, "{name}: {met:?}");
            }
            What::PathFault(..) | What::Rule(..) | What::Found(_) => panic!("{name}: nothing was looked for"),
        }
    }
}

/// A search that gives up bits of its fingerprints goes on as if it had had fewer from the start.
#[test]
fn fingerprints_give_up_bits_in_place() {
    let Some(compiler) = compiler() else { return };
    let (name, program) = models().into_iter().find(|(name, _)| name.contains("german")).expect("a model");
    let (source, interpreter) = (Source::new(&program, Limits::default()).expect("a source"), Interpreter::new(program, Limits::default()));
    let stores = [Slots::Fingerprint, Slots::HalfFingerprint];
    let kernels = Kernels::of(compiler, &stores.map(|slots| (source.clone(), Search::Levels(slots))));
    let (whole, half) = (kernels.device(0), kernels.device(1));
    let expected = levels(&interpreter, 0, 1_500);
    let mut search = Levels::new(&whole, &source, Slots::Fingerprint, 1 << 20, &Asked::default()).expect("memory");
    search.start(&tight(&source, &expected[0].states)).expect("a start");
    for (depth, level) in expected.iter().enumerate().skip(1) {
        if depth == expected.len() / 2 {
            assert!(search.can_halve());
            let before = search.expected_omissions();
            search.halve(&half).expect("it halves");
            assert!(!search.can_halve() && search.expected_omissions() >= before);
        }
        while !search.round().expect("a round").ends_level {}
        assert_eq!(search.totals().states, level.totals.states, "{name}: level {depth}");
    }
}

/// A rule that is looked for is noted where it fires, and only there.
#[test]
fn rules_that_are_looked_for_are_noted() {
    let Some(compiler) = compiler() else { return };
    let (name, program) = models().into_iter().find(|(name, _)| name.contains("german")).expect("a model");
    let (source, interpreter) = (Source::new(&program, Limits::default()).expect("a source"), Interpreter::new(program, Limits::default()));
    let slots = Slots::exact(source.bits, true);
    let kernels = Kernels::of(compiler, &[(source.clone(), Search::Levels(slots))]);
    let machine = kernels.device(0);
    let expected = levels(&interpreter, 0, 800);
    let last = &expected[expected.len() - 1].totals.firings;
    let rule = last.iter().rposition(|fired| *fired > 0).expect("a rule that fires");
    let mut rules = vec![0; last.len().div_ceil(64)];
    rules[rule / 64] |= 1 << (rule % 64);
    let asked = Asked { rules, ..Asked::default() };
    let mut search = Levels::new(&machine, &source, slots, 4 << 20, &asked).expect("memory");
    search.start(&tight(&source, &expected[0].states)).expect("a start");
    let mut noted = 0;
    for level in &expected[1..] {
        loop {
            let round = search.round().expect("a round");
            assert!(round.notes.iter().all(|note| note.what == What::Rule(rule as u32, 0)), "{name}");
            noted += round.noted;
            if round.ends_level {
                break;
            }
        }
        assert_eq!(noted, level.totals.firings[rule], "{name}");
    }
}
