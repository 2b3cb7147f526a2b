//! Searches that lanes make for themselves, on a device made of a C++ compiler. What they meet is held against the interpreter: every way is one, and what
//! searches are bound to visit is what there is.

use crate::emulated::Kernels;
use crate::harness::compiler;
use crate::models::models;
use crate::searches::{asked, levels, working};
use std::collections::HashSet;
use wayfarer_gpu::{Asked, Lanes, Machine, Order, Own, Search, Source, What};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_space::{Fired, Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// All searches.
pub(crate) const SEARCHES: [Own; 8] = [
    Own::Uniform { by_states: false },
    Own::Uniform { by_states: true },
    Own::Deep { by_states: false },
    Own::Deep { by_states: true },
    Own::Random,
    Own::Highway { ideal: false },
    Own::Highway { ideal: true },
    Own::DepthFirst,
];

fn order(own: Own) -> Order {
    let key = Rng::new(3, "lanes").parts().0;
    Order { own, lanes: 3, bytes: 64 << 20, capacity: None, width: 5, renews: true, searches: 6, longest: 1000, key }
}

pub(crate) fn starts(interpreter: &Interpreter) -> Vec<Vec<Word>> {
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    steps.states.iter().map(<[Word]>::to_vec).collect()
}

pub(crate) fn successors(interpreter: &Interpreter, state: &[Word]) -> Steps {
    let (mut batch, mut steps) = (States::new(interpreter.width()), Steps::new(interpreter.width()));
    batch.push(state);
    interpreter.expand(&batch, Firing::of(0), &mut steps);
    steps
}

/// What lanes met shows where the way leads, and the way is one.
pub(crate) fn ways_are_ways(name: &str, interpreter: &Interpreter, machine: &dyn Machine, source: &Source, own: Own) -> usize {
    let starts = starts(interpreter);
    if starts.is_empty() {
        return 0;
    }
    let mut lanes = Lanes::new(machine, source, &starts.concat(), &order(own), &asked(interpreter, 2)).expect("memory");
    let mut looked_at = 0;
    for _ in 0..4 {
        let shown = lanes.round(60).expect("a round");
        for shown in shown.iter().take(4) {
            let Some(way) = lanes.way(shown).expect("a way") else { continue };
            let way: Vec<Vec<Word>> = way.iter().map(|state| working(source, state)).collect();
            assert!(starts.contains(&way[0]), "{name}, {own:?}: {shown:?}");
            for pair in way.windows(2) {
                let leads = successors(interpreter, &pair[0]).states.iter().any(|state| state == &pair[1][..]);
                assert!(leads, "{name}, {own:?}: {shown:?} has a way with a gap");
            }
            holds_true(name, interpreter, &way[way.len() - 1], shown.what);
            looked_at += 1;
        }
    }
    let did = lanes.did();
    assert!(
        did.distinct.0 <= did.inserted as f64 * 1.1 + 2.0 || own == Own::Random || matches!(own, Own::Highway { .. }),
        "{name}, {own:?}: {did:?}"
    );
    looked_at
}

pub(crate) fn holds_true(name: &str, interpreter: &Interpreter, state: &[Word], what: What) {
    let (mut bits, mut out) = (PropertyBits::default(), Vec::new());
    let judged = interpreter.check(state, &mut bits);
    match what {
        What::Property(property) => assert!(bits.contains(property), "{name}: {what:?}"),
        What::PropertyFault(property, fault) => assert_eq!(judged, Err((property, wayfarer_space::Fault(fault))), "{name}"),
        What::Fault(rule, fault) => {
            assert_eq!(interpreter.fire(state, Firing::of(rule), &mut out), Fired::Fault(wayfarer_space::Fault(fault)), "{name}");
        }
        What::Deadlock => {
            let steps = successors(interpreter, state);
            assert!(steps.changed.iter().all(|changed| *changed == 0) && steps.discarded == 0 && !interpreter.may_end(state), "{name}");
        }
        What::PathFault(..) | What::Rule(..) | What::Found(_) => panic!("{name}: nothing was looked for"),
    }
}

#[test]
fn lanes_find_ways() {
    let Some(compiler) = compiler() else { return };
    let all: Vec<_> = models().into_iter().step_by(4).collect();
    let prepared: Vec<_> = all
        .into_iter()
        .enumerate()
        .filter_map(|(number, (name, program))| {
            let source = Source::new(&program, Limits::default()).ok()?;
            Some((name, Interpreter::new(program, Limits::default()), source, SEARCHES[number % SEARCHES.len()]))
        })
        .collect();
    let kernels = Kernels::of(compiler, &prepared.iter().map(|(_, _, source, own)| (source.clone(), Search::Own(*own))).collect::<Vec<_>>());
    let mut looked_at = 0;
    for (number, (name, interpreter, source, own)) in prepared.iter().enumerate() {
        looked_at += ways_are_ways(name, interpreter, &kernels.device(number), source, *own);
    }
    assert!(looked_at > 5, "{looked_at} ways");
}

/// A depth-first search over a large filter, a highway wider than the system and a long uniform search visit all there is, and no more.
#[test]
fn searches_that_must_visit_everything_do() {
    let Some(compiler) = compiler() else { return };
    let small = models().into_iter().filter_map(|(name, program)| {
        let source = Source::new(&program, Limits::default()).ok()?;
        let interpreter = Interpreter::new(program, Limits::default());
        let expected = levels(&interpreter, 0, 150);
        let complete = expected.last().is_some_and(|level| level.states.is_empty());
        (complete && expected.len() > 3).then_some((name, interpreter, source, expected))
    });
    let small: Vec<_> = small.take(3).collect();
    assert!(small.len() > 2);
    let searches = [
        Own::DepthFirst,
        Own::Highway { ideal: false },
        Own::Highway { ideal: true },
        Own::Uniform { by_states: true },
        Own::Uniform { by_states: false },
        Own::Deep { by_states: true },
        Own::Deep { by_states: false },
    ];
    let sources: Vec<_> = small.iter().flat_map(|(_, _, source, _)| searches.map(|own| (source.clone(), Search::Own(own)))).collect();
    let kernels = Kernels::of(compiler, &sources);
    for (number, (name, interpreter, source, expected)) in small.iter().enumerate() {
        let states: HashSet<&Vec<Word>> = expected.iter().flat_map(|level| &level.states).collect();
        for (at, own) in searches.into_iter().enumerate() {
            let machine = kernels.device(number * searches.len() + at);
            let starts = starts(interpreter).concat();
            let order = Order { lanes: 1, width: 1000, renews: false, searches: 1, longest: 100_000, ..order(own) };
            let mut lanes = Lanes::new(&machine, source, &starts, &order, &Asked::default()).expect("memory");
            while lanes.did().steps < 60_000 && !lanes.did().done {
                lanes.round(20_000).expect("a round");
            }
            let did = lanes.did();
            // A deep search does not come back out of a part that no step leads out of.
            if !matches!(own, Own::Deep { .. }) {
                assert_eq!(did.inserted, states.len() as u64, "{name}, {own:?}");
                assert!((did.distinct.0 - states.len() as f64).abs() < 1.0 + 0.05 * states.len() as f64, "{name}, {own:?}: {did:?}");
            }
            assert!(did.inserted <= states.len() as u64, "{name}, {own:?}");
            let exhaustive = matches!(own, Own::DepthFirst | Own::Highway { .. });
            assert_eq!(did.done, exhaustive, "{name}, {own:?}");
            if matches!(own, Own::Highway { .. }) {
                let depth = expected.iter().filter(|level| !level.states.is_empty()).count() as u64 - 1;
                assert_eq!((did.longest, &did.firings), (depth, &expected[expected.len() - 1].totals.firings), "{name}, {own:?}");
            }
        }
    }
}

/// Lanes give the same again for the same seed, and V is emptied when it is full.
#[test]
fn lanes_repeat_and_begin_anew() {
    let Some(compiler) = compiler() else { return };
    let (name, program) = models().into_iter().find(|(name, _)| name.contains("german")).expect("a model");
    let (source, interpreter) = (Source::new(&program, Limits::default()).expect("a source"), Interpreter::new(program, Limits::default()));
    let searches: Vec<_> = SEARCHES.iter().map(|own| (source.clone(), Search::Own(*own))).collect();
    let kernels = Kernels::of(compiler, &searches);
    for (number, own) in SEARCHES.into_iter().enumerate() {
        let run = |parts: &[u64]| {
            let machine = kernels.device(number);
            let order = Order { capacity: own.eq(&Own::Uniform { by_states: false }).then_some(50), ..order(own) };
            let starts = starts(&interpreter).concat();
            let mut lanes = Lanes::new(&machine, &source, &starts, &order, &Asked::default()).expect("memory");
            // How many steps a round takes depends on the clock.
            for part in parts {
                while lanes.did().steps < *part && !lanes.did().done {
                    lanes.round(part - lanes.did().steps).expect("a round");
                }
            }
            let did = lanes.did();
            (did.steps, did.inserted, did.ended, did.firings, did.distinct.0.to_bits())
        };
        let (once, again) = (run(&[1200]), run(&[300, 600, 900, 1200]));
        assert_eq!(once.4, again.4, "{name}, {own:?}");
        assert_eq!(once, again, "{name}, {own:?}");
        if own == (Own::Uniform { by_states: false }) {
            assert!(once.2 > 3 && once.1 > 150, "{once:?}");
        }
    }
}
