//! The walks of an audit, on a device made of a C++ compiler: they keep states by the laws that the audit's bounds stand on, the store judges them as it should,
//! and the way to something that a walk met is one.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::lanes::{holds_true, starts, successors};
use crate::models::{german, models};
use crate::searches::{asked, levels, tight, whole_level, working};
use std::collections::HashSet;
use wayfarer_gpu::{Asked, Audit, Law, Levels, Machine, OnWalk, Search, Slots, Source, Walking, What};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_search::Sampler;
use wayfarer_space::Word;

/// The laws, with samplers of short walks.
const LAWS: [(Sampler, Law); 3] =
    [(Sampler::Walk { cap: 16 }, Law::Firings), (Sampler::Shallow { cap: 8 }, Law::States), (Sampler::Priority { cap: 16 }, Law::Priorities)];

/// A search by levels as far as `most` states, and walks of each law. The store judges as the interpreter's own set of states does, and ways are ways. Gives how
/// many walks were missing and how many ways were looked at.
pub(crate) fn walks_are_judged(
    name: &str,
    interpreter: &Interpreter,
    (search, audit): (&dyn Machine, &dyn Machine),
    source: &Source,
    slots: Slots,
    most: usize,
) -> (u64, usize) {
    let starts = starts(interpreter);
    if starts.is_empty() {
        return (0, 0);
    }
    let expected = levels(interpreter, 0, most);
    let known: HashSet<&Vec<Word>> = expected.iter().flat_map(|level| &level.states).collect();
    let mut search = Levels::new(search, source, slots, 64 << 20, &Asked::default()).expect("memory");
    search.start(&tight(source, &expected[0].states)).expect("a start");
    for _ in 1..expected.len() {
        whole_level(&mut search);
    }
    let (mut missing, mut ways) = (0, 0);
    for (sampler, law) in LAWS {
        let walks: Vec<(u32, u64)> = (0..300).map(|walk| sampler.begins(5, walk)).collect();
        let starts_words = starts.concat();
        let walking = Walking { law, key: sampler.key(5), walks: &walks, starts: &starts_words };
        let mut audit = Audit::new(audit, source, &search, walking, &asked(interpreter, 2)).expect("memory");
        let mut met = Vec::new();
        loop {
            met.extend(audit.round().expect("a round"));
            if audit.is_over() {
                break;
            }
        }
        let judged = audit.judge().expect("a judgement");
        let kept = audit.kept().expect("states");
        let gone = kept.iter().filter(|state| !known.contains(state)).count() as u64;
        assert_eq!((judged.finished, judged.missing), (300, gone), "{name}, {slots:?}, {law:?}");
        assert!(judged.steps >= 300 && judged.steps <= walks.iter().map(|(keeps, _)| u64::from(*keeps)).sum(), "{name}, {law:?}");
        missing += gone;
        for met in met.iter().take(3) {
            let way: Vec<Vec<Word>> = audit.way(met).expect("a way").iter().map(|state| working(source, state)).collect();
            assert!(starts.contains(&way[0]), "{name}, {law:?}: {met:?}");
            for pair in way.windows(2) {
                // A firing that fails, or leads back, leaves the walk where it is.
                let leads = pair[0] == pair[1] || successors(interpreter, &pair[0]).states.iter().any(|state| state == &pair[1][..]);
                assert!(leads, "{name}, {law:?}: {met:?} has a way with a gap");
            }
            holds_true(name, interpreter, &way[way.len() - 1], met.what);
            ways += 1;
        }
    }
    (missing, ways)
}

#[test]
fn walks_of_an_audit_are_judged_by_the_store() {
    let Some(compiler) = compiler() else { return };
    let stores = [Slots::Word, Slots::Pair, Slots::Arena, Slots::Fingerprint, Slots::HalfFingerprint];
    let prepared: Vec<_> = models()
        .into_iter()
        .step_by(5)
        .enumerate()
        .filter_map(|(number, (name, program))| {
            let source = Source::new(&program, Limits::default()).ok()?;
            let fitting: Vec<Slots> = stores.into_iter().filter(|slots| crate::searches::fits(&source, *slots)).collect();
            Some((name, Interpreter::new(program, Limits::default()), source, fitting[number % fitting.len()]))
        })
        .collect();
    let searches =
        prepared.iter().flat_map(|(_, _, source, slots)| [(source.clone(), Search::Levels(*slots)), (source.clone(), Search::Audit(*slots))]);
    let kernels = Kernels::of(compiler, &searches.collect::<Vec<_>>());
    let (mut missing, mut ways) = (0, 0);
    for (number, (name, interpreter, source, slots)) in prepared.iter().enumerate() {
        let machines = (&kernels.device(number * 2) as &dyn Machine, &kernels.device(number * 2 + 1) as &dyn Machine);
        let (more, found) = walks_are_judged(name, interpreter, machines, source, *slots, 40);
        (missing, ways) = (missing + more, ways + found);
    }
    assert!(prepared.len() > 7 && missing > 100 && ways > 5, "{} models, {missing} missing, {ways} ways", prepared.len());
}

/// The states that walks keep follow the exact law of their sampler. With a fixed seed the test is certain; with another one it would fail about once in a
/// million times.
#[test]
fn walks_of_an_audit_keep_their_law() {
    let Some(compiler) = compiler() else { return };
    let small = models().into_iter().filter_map(|(name, program)| {
        let source = Source::new(&program, Limits::default()).ok()?;
        let interpreter = Interpreter::new(program, Limits::default());
        let expected = levels(&interpreter, 0, 150);
        let complete = expected.last().is_some_and(|level| level.states.is_empty()) && expected.len() > 4;
        let lawful = complete && LAWS.iter().all(|(sampler, _)| sampler.mass(&interpreter, 200).is_some());
        lawful.then_some((name, interpreter, source))
    });
    let small: Vec<_> = small.take(4).collect();
    assert!(small.len() > 2, "{} models", small.len());
    let searches =
        small.iter().flat_map(|(_, _, source)| [Search::Levels(Slots::Arena), Search::Audit(Slots::Arena)].map(|search| (source.clone(), search)));
    let kernels = Kernels::of(compiler, &searches.collect::<Vec<_>>());
    for (number, (name, interpreter, source)) in small.iter().enumerate() {
        let (one, other) = (kernels.device(number * 2), kernels.device(number * 2 + 1));
        let search = Levels::new(&one, source, Slots::Arena, 1 << 20, &Asked::default()).expect("memory");
        for (sampler, law) in LAWS {
            let (starts, count) = (starts(interpreter).concat(), 6_000);
            let walks: Vec<(u32, u64)> = (0..count).map(|walk| sampler.begins(11, walk)).collect();
            let walking = Walking { law, key: sampler.key(11), walks: &walks, starts: &starts };
            let mut audit = Audit::new(&other, source, &search, walking, &Asked::default()).expect("memory");
            while audit.round().is_ok() && !audit.is_over() {}
            let (mass, kept) = (sampler.mass(interpreter, 200).expect("a small space"), audit.kept().expect("states"));
            let (mut chi, mut cells, mut rest, mut rest_seen) = (0f64, 0f64, 0.0, 0.0);
            let mut cell = |expected: f64, seen: f64| {
                chi += (seen - expected).powi(2) / expected;
                cells += 1.0;
            };
            for (state, share) in mass.states.iter().zip(&mass.shares) {
                let (expected, seen) = (share * count as f64, kept.iter().filter(|kept| kept[..] == *state).count() as f64);
                assert!(seen == 0.0 || *share > 0.0, "{name}, {law:?}: a state that no walk keeps");
                if expected >= 10.0 {
                    cell(expected, seen);
                } else {
                    (rest, rest_seen) = (rest + expected, rest_seen + seen);
                }
            }
            if rest >= 10.0 {
                cell(rest, rest_seen);
            }
            assert!(chi < cells + 5.0 * (2.0 * cells).sqrt() + 10.0, "{name}, {law:?}: chi-square {chi} over {cells} cells");
        }
    }
}

/// A complete search of German's protocol up to symmetry and its whole audit: no walk meets anything, and none keeps a state whose representative is missing. Some
/// walks, spread over all lanes, are gone again and followed by the interpreter, step by step, up to the state that each kept. Gives the number of orbits and the
/// number of steps that were followed.
pub(crate) fn german_is_audited(
    interpreter: &Interpreter,
    (search, audit): (&dyn Machine, &dyn Machine),
    source: &Source,
    slots: Slots,
    walks: u64,
    followed: u64,
) -> (u64, u64) {
    let starts = starts(interpreter);
    let mut search = Levels::new(search, source, slots, 256 << 20, &asked(interpreter, 2)).expect("memory");
    search.start(&tight(source, &starts)).expect("a start");
    while search.frontier() > 0 {
        assert!(whole_level(&mut search).is_empty(), "the search met something");
    }
    let mut steps = 0;
    for sampler in Sampler::FIXED {
        let law = match sampler {
            Sampler::Shallow { .. } => Law::States,
            Sampler::Priority { .. } => Law::Priorities,
            _ => Law::Firings,
        };
        let begun: Vec<(u32, u64)> = (0..walks).map(|walk| sampler.begins(1, walk)).collect();
        let walking = Walking { law, key: sampler.key(1), walks: &begun, starts: &starts.concat() };
        let mut audit = Audit::new(audit, source, &search, walking, &asked(interpreter, 2)).expect("memory");
        let mut met = Vec::new();
        loop {
            met.extend(audit.round().expect("a round"));
            if audit.is_over() {
                break;
            }
        }
        let kept = audit.kept().expect("states");
        for walk in (0..walks).step_by((walks / followed.max(1)).max(1) as usize) {
            let last = OnWalk { walk, steps: u64::from(begun[walk as usize].0), what: What::Deadlock, successor: None };
            let way: Vec<Vec<Word>> = audit.way(&last).expect("a way").iter().map(|state| working(source, state)).collect();
            assert!(starts.contains(&way[0]), "{law:?}: walk {walk} does not begin in a start state");
            for (step, pair) in way.windows(2).enumerate() {
                let leads = pair[0] == pair[1] || successors(interpreter, &pair[0]).states.iter().any(|state| state == &pair[1][..]);
                assert!(leads, "{law:?}: step {step} of walk {walk} is none of the model's: {:x?} to {:x?}", pair[0], pair[1]);
                steps += 1;
            }
            assert_eq!(way.last(), kept.get(walk as usize), "{law:?}: walk {walk} ended elsewhere when it was gone again");
        }
        assert!(met.is_empty(), "{law:?}: {} things were met that are not there, first {:x?}", met.len(), met[0]);
        let judged = audit.judge().expect("a judgement");
        assert_eq!((judged.finished, judged.missing), (walks, 0), "{law:?}");
    }
    (search.totals().states, steps)
}

/// The model on which a GPU once met what is not there, with states of two words, as far as a device made of a C++ compiler can follow.
#[test]
fn walks_of_an_audit_follow_the_interpreter_lane_by_lane() {
    let Some(compiler) = compiler() else { return };
    let program = german(4);
    let source = Source::symmetric(&program, Limits::default()).expect("a source");
    let (interpreter, slots) = (Interpreter::new(program, Limits::default()), Slots::Fingerprint);
    let kernels = Kernels::of(compiler, &[Search::Levels(slots), Search::Audit(slots)].map(|search| (source.clone(), search)));
    let (orbits, steps) = german_is_audited(&interpreter, (&kernels.device(0), &kernels.device(1)), &source, slots, 300, 20);
    assert!(source.tight == 2 && orbits > 20_000 && steps > 2_000, "{orbits} orbits, {steps} steps");
}

/// After a complete search up to symmetry no walk keeps a state whose representative is missing.
#[test]
fn walks_of_an_audit_are_judged_up_to_symmetry() {
    let Some(compiler) = compiler() else { return };
    let (name, program) = models().into_iter().find(|(name, _)| name == "german.m").expect("a model");
    let source = Source::symmetric(&program, Limits::default()).expect("a source");
    let (interpreter, slots) = (Interpreter::new(program, Limits::default()), Slots::exact(source.bits, true));
    let kernels = Kernels::of(compiler, &[Search::Levels(slots), Search::Audit(slots)].map(|search| (source.clone(), search)));
    let (one, other) = (kernels.device(0), kernels.device(1));
    let mut search = Levels::new(&one, &source, slots, 64 << 20, &Asked::default()).expect("memory");
    let starts = starts(&interpreter);
    search.start(&tight(&source, &starts)).expect("a start");
    let mut gone = Vec::new();
    for levels in 0.. {
        if levels == 3 || search.frontier() == 0 {
            let sampler = Sampler::Walk { cap: 64 };
            let walks: Vec<(u32, u64)> = (0..200).map(|walk| sampler.begins(5, walk)).collect();
            let walking = Walking { law: Law::Firings, key: sampler.key(5), walks: &walks, starts: &starts.concat() };
            let mut audit = Audit::new(&other, &source, &search, walking, &Asked::default()).expect("memory");
            while audit.round().is_ok() && !audit.is_over() {}
            gone.push(audit.judge().expect("a judgement").missing);
        }
        if search.frontier() == 0 {
            break;
        }
        whole_level(&mut search);
    }
    assert!(gone.len() == 2 && gone[0] > 20 && gone[1] == 0, "{name}: {gone:?}");
}
