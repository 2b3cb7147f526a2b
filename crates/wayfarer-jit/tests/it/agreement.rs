//! Runs a program on the interpreter and compiled, side by side, and compares everything a search can see.

use std::collections::HashSet;
use std::sync::Arc;
use wayfarer_ir::{Interpreter, Limits, Program};
use wayfarer_jit::Compiled;
use wayfarer_kept::Folder;
use wayfarer_space::{Firing, PropertyBits, Rng, Sieve, Space, States, Steps, Word};

/// The cases seen on the way, so that a test can check that it tested something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) faults: usize,
    pub(crate) discarded: u64,
    pub(crate) reached: usize,
    pub(crate) failing: usize,
    pub(crate) property_faults: usize,
    /// Steps that a sieve left out.
    pub(crate) omitted: usize,
}

impl Seen {
    pub(crate) fn add(&mut self, other: Seen) {
        self.states += other.states;
        self.steps += other.steps;
        self.faults += other.faults;
        self.discarded += other.discarded;
        self.reached += other.reached;
        self.failing += other.failing;
        self.property_faults += other.property_faults;
        self.omitted += other.omitted;
    }
}

/// Explores breadth first up to `most` states, and panics with `name` if the two differ.
pub(crate) fn agree(name: &str, program: &Arc<Program>, limits: Limits, most: usize) -> Seen {
    let interpreter = Interpreter::new(program.clone(), limits);
    let compile = || Compiled::new(program.clone(), limits).unwrap_or_else(|error| panic!("{name}: {error}"));
    // The best code at once, after a few firings, and as in a search: first code that was made with little effort.
    agree_on(&format!("{name}, best code"), &interpreter, &compile().with_patience(0), most.min(10));
    agree_on(&format!("{name}, better code"), &interpreter, &compile().with_patience(3), most.min(10));
    agree_on(&format!("{name}, rules together"), &interpreter, &compile().with_patience(3).with_large_commands(true), most.min(20));
    agree_on_kept_code(name, &interpreter, (program, limits), most.min(10));
    agree_on(name, &interpreter, &compile(), most)
}

/// Explores with code that is to be kept, and again with the code that was.
fn agree_on_kept_code(name: &str, interpreter: &Interpreter, (program, limits): (&Arc<Program>, Limits), most: usize) {
    let folder = std::env::temp_dir().join(format!("wayfarer-jit-{}-{:?}", std::process::id(), std::thread::current().id()));
    let compile = || {
        let compiled = Compiled::with_kept(program.clone(), limits, Folder::at(&folder));
        compiled.unwrap_or_else(|error| panic!("{name}: {error}")).with_patience(2)
    };
    for what in ["code to keep", "kept code"] {
        agree_on(&format!("{name}, {what}"), interpreter, &compile(), most);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

pub(crate) fn agree_on(name: &str, interpreter: &Interpreter, compiled: &Compiled, most: usize) -> Seen {
    let mut seen = Seen::default();
    let width = interpreter.width();
    assert_eq!(width, compiled.width(), "{name}: width");
    assert_eq!(interpreter.rules(), compiled.rules(), "{name}: rules");
    let (mut expected, mut actual, mut sifted) = (Steps::new(width), Steps::new(width), Steps::new(width));
    sifted.sieve = Sieve::new(width);
    let mut given: HashSet<Vec<Word>> = HashSet::new();
    interpreter.initial(&mut expected);
    compiled.initial(&mut actual);
    same_steps(&format!("{name}: initial"), &expected, &actual);
    let mut known: HashSet<Vec<Word>> = HashSet::new();
    let mut frontier: Vec<Vec<Word>> = Vec::new();
    let mut rng = Rng::new(1, name);
    note(&expected, &mut seen, &mut known, &mut frontier, most);
    // States that may not be reachable: all bits that carry information may have any value.
    for density in 0..most.min(12) {
        let random = |mask: &Word| {
            let word = rng.next_word();
            let sparse = if density % 3 == 0 { word & rng.next_word() & rng.next_word() } else { word };
            sparse & mask
        };
        frontier.push(interpreter.packing().masks().iter().map(random).collect());
    }
    while let Some(first) = frontier.pop() {
        let mut batch = States::new(width);
        batch.push(&first);
        for _ in 0..rng.below(4) {
            batch.push(&frontier.pop().unwrap_or_else(|| first.clone()));
        }
        let from = if rng.below(8) == 0 {
            Firing { rule: rng.below(u64::from(interpreter.rules()) + 2) as u32, outcome: rng.below(2) as u32 }
        } else {
            Firing::of(0)
        };
        interpreter.expand(&batch, from, &mut expected);
        compiled.expand(&batch, from, &mut actual);
        same_steps(&format!("{name}: expand from {from:?} of {:x?}", batch.words()), &expected, &actual);
        compiled.expand(&batch, from, &mut sifted);
        seen.omitted += same_but_for_omitted(name, &batch, &expected, &sifted, &mut given);
        for state in batch.iter() {
            seen.states += 1;
            let (mut left, mut right) = (PropertyBits::default(), PropertyBits::default());
            let (one, two) = (interpreter.check(state, &mut left), compiled.check(state, &mut right));
            assert_eq!(one, two, "{name}: check of {state:x?}");
            assert!(left.iter().eq(right.iter()), "{name}: check of {state:x?}: {left:?} {right:?}");
            assert_eq!(interpreter.may_end(state), compiled.may_end(state), "{name}: may end in {state:x?}");
            seen.failing += left.iter().count();
            seen.property_faults += usize::from(one.is_err());
            let mut other = rng.clone();
            let (mut out_left, mut out_right) = (vec![7; 3], vec![7; 3]);
            let (one, two) = (interpreter.sample(state, &mut rng, &mut out_left), compiled.sample(state, &mut other, &mut out_right));
            assert_eq!(one, two, "{name}: sample of {state:x?}");
            assert_eq!(rng.next_word(), other.next_word(), "{name}: draws of a sample of {state:x?}");
            if let Some((_, wayfarer_space::Fired::To)) = one {
                assert_eq!(out_left, out_right, "{name}: sample of {state:x?}");
            }
            let firing = Firing { rule: rng.below(u64::from(interpreter.rules()) + 1) as u32, outcome: u32::from(rng.below(20) == 0) };
            let (mut out_left, mut out_right) = (vec![7; 3], vec![7; 3]);
            let (one, two) = (interpreter.fire(state, firing, &mut out_left), compiled.fire(state, firing, &mut out_right));
            assert_eq!((one, &out_left), (two, &out_right), "{name}: firing {firing:?} of {state:x?}");
        }
        if from != Firing::of(0) {
            interpreter.expand(&batch, Firing::of(0), &mut expected);
        }
        note(&expected, &mut seen, &mut known, &mut frontier, most);
    }
    seen
}

fn note(steps: &Steps, seen: &mut Seen, known: &mut HashSet<Vec<Word>>, frontier: &mut Vec<Vec<Word>>, most: usize) {
    seen.steps += steps.len();
    seen.faults += steps.faults.len();
    seen.discarded += steps.discarded;
    seen.reached += steps.reached.iter().count();
    for state in steps.states.iter() {
        if known.len() < most && known.insert(state.to_vec()) {
            frontier.insert(0, state.to_vec());
        }
    }
}

/// Every step is given or left out, and left out are only steps to a source or to a state that was given before.
fn same_but_for_omitted(name: &str, batch: &States, expected: &Steps, sifted: &Steps, given: &mut HashSet<Vec<Word>>) -> usize {
    assert_eq!(expected.enabled, sifted.enabled, "{name}: enabled");
    assert_eq!(expected.faults, sifted.faults, "{name}: faults");
    assert_eq!(expected.discarded, sifted.discarded, "{name}: discarded");
    assert!(expected.reached.iter().eq(sifted.reached.iter()), "{name}: reached");
    let (mut next, mut left) = (0, 0);
    given.extend(batch.iter().map(<[Word]>::to_vec));
    for index in 0..expected.len() {
        let (source, firing, state) = (expected.sources[index], expected.firings[index], expected.states.get(index));
        let is_given = next < sifted.len() && (sifted.sources[next], sifted.firings[next]) == (source, firing);
        if is_given {
            assert_eq!(sifted.states.get(next), state, "{name}: a sifted step");
            assert_eq!((sifted.hashes[next], sifted.changed[next]), (expected.hashes[index], expected.changed[index]), "{name}: a sifted step");
            given.insert(state.to_vec());
            next += 1;
        } else {
            let omitted = sifted.omitted[left];
            assert_eq!(
                (omitted.source, omitted.rule(), omitted.changed()),
                (source, firing.rule, expected.changed[index] != 0),
                "{name}: an omitted step"
            );
            assert!(given.contains(state), "{name}: {state:x?} was not given before");
            left += 1;
        }
    }
    assert_eq!((next, left), (sifted.len(), sifted.omitted.len()), "{name}: sifted steps");
    left
}

fn same_steps(name: &str, expected: &Steps, actual: &Steps) {
    let states = |steps: &Steps| steps.states.iter().map(<[Word]>::to_vec).collect::<Vec<_>>();
    assert_eq!(expected.enabled, actual.enabled, "{name}: enabled");
    assert_eq!(expected.faults, actual.faults, "{name}: faults");
    assert_eq!(expected.firings, actual.firings, "{name}: firings");
    assert_eq!(expected.sources, actual.sources, "{name}: sources");
    for (index, (left, right)) in states(expected).iter().zip(states(actual)).enumerate() {
        assert_eq!(*left, right, "{name}: state {index} by {:?}", expected.firings[index]);
    }
    assert_eq!(expected.states.len(), actual.states.len(), "{name}: states");
    assert_eq!(expected.hashes, actual.hashes, "{name}: hashes");
    assert_eq!(expected.changed, actual.changed, "{name}: changed");
    assert_eq!(expected.discarded, actual.discarded, "{name}: discarded");
    assert!(expected.reached.iter().eq(actual.reached.iter()), "{name}: reached");
}
