//! Holds generated source against the interpreter: everything that a search can see of a state.

use crate::harness::Built;
use std::collections::HashSet;
use wayfarer_gpu::Source;
use wayfarer_ir::Interpreter;
use wayfarer_space::{Fault, FaultStep, Firing, PropertyBits, Rng, Space, States, Steps, Word};

/// What was seen, so that a test can tell that it tested something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) faults: usize,
    pub(crate) discarded: u64,
    pub(crate) reached: usize,
    pub(crate) failing: usize,
    pub(crate) property_faults: usize,
}

/// Explores breadth-first up to `most` states, and some that may not be reachable, and panics with `name` where the two differ.
pub(crate) fn agree(name: &str, interpreter: &Interpreter, built: &Built, number: usize, source: &Source, most: usize, seen: &mut Seen) {
    let width = interpreter.width();
    let mut steps = Steps::new(width);
    interpreter.initial(&mut steps);
    let mut known: HashSet<Vec<Word>> = HashSet::new();
    let mut frontier: Vec<Vec<Word>> = Vec::new();
    let mut rng = Rng::new(1, name);
    note(&steps, &mut known, &mut frontier, most);
    for density in 0..most.min(12) {
        let random = |mask: &Word| {
            let word = rng.next_word();
            let sparse = if density % 3 == 0 { word & rng.next_word() & rng.next_word() } else { word };
            sparse & mask
        };
        frontier.push(interpreter.packing().masks().iter().map(random).collect());
    }
    while let Some(state) = frontier.pop() {
        let mut batch = States::new(width);
        batch.push(&state);
        interpreter.expand(&batch, Firing::of(0), &mut steps);
        same_steps(&format!("{name}: {state:x?}"), &state, &steps, built, number, source);
        same_check(&format!("{name}: {state:x?}"), interpreter, &state, built, number, source, seen);
        same_packing(name, interpreter, &state, built, number);
        seen.states += 1;
        seen.steps += steps.len();
        seen.faults += steps.faults.len();
        seen.discarded += steps.discarded;
        seen.reached += steps.reached.iter().count();
        note(&steps, &mut known, &mut frontier, most);
    }
}

fn note(steps: &Steps, known: &mut HashSet<Vec<Word>>, frontier: &mut Vec<Vec<Word>>, most: usize) {
    for state in steps.states.iter() {
        if known.len() < most && known.insert(state.to_vec()) {
            frontier.insert(0, state.to_vec());
        }
    }
}

fn same_steps(name: &str, state: &[Word], steps: &Steps, built: &Built, number: usize, source: &Source) {
    let mut mask = vec![0; (source.rules as usize).div_ceil(64).max(1)];
    let mut own = state.to_vec();
    let faulty = built.enabled(number, &mut own, &mut mask);
    assert_eq!(own, state, "{name}: guards write the state");
    let words = (source.properties as usize).div_ceil(64).max(1);
    let (mut reached, mut enabled, mut discarded, mut step) = (vec![0u64; words], 0, 0, 0);
    let mut faults = Vec::new();
    for rule in (0..source.rules).filter(|rule| mask[*rule as usize / 64] >> (rule % 64) & 1 == 1) {
        enabled += 1;
        let (mut next, mut covered) = (state.to_vec(), vec![0u64; words]);
        let guard = if faulty { built.guard(number, &mut next, rule) } else { 1 };
        let ended = if guard > 1 { guard } else { built.fire(number, &mut next, &mut covered, rule) };
        match ended {
            0 => {
                assert_eq!(steps.firings.get(step), Some(&Firing::of(rule)), "{name}: step {step}");
                assert_eq!(steps.states.get(step), &next[..], "{name}: what rule {rule} leads to");
                step += 1;
            }
            1 => discarded += 1,
            fault => faults.push(FaultStep { source: 0, firing: Firing::of(rule), fault: Fault(fault as u32 - 2) }),
        }
        if ended != 1 {
            reached.iter_mut().zip(&covered).for_each(|(all, more)| *all |= more);
        }
    }
    assert_eq!(steps.len(), step, "{name}: steps");
    assert_eq!(steps.enabled[0], enabled, "{name}: enabled");
    assert_eq!(steps.discarded, discarded, "{name}: discarded");
    assert_eq!(steps.faults, faults, "{name}: faults");
    assert!(steps.reached.iter().eq(bits(&reached)), "{name}: reached");
}

fn same_check(name: &str, interpreter: &Interpreter, state: &[Word], built: &Built, number: usize, source: &Source, seen: &mut Seen) {
    let mut told = vec![0u64; (source.properties as usize).div_ceil(64).max(1)];
    let mut own = state.to_vec();
    let [property, fault] = built.check(number, &mut own, &mut told);
    let mut expected = PropertyBits::default();
    let judged = interpreter.check(state, &mut expected);
    assert!(expected.iter().eq(bits(&told)), "{name}: properties {expected:?} and {told:x?}");
    let actual = if fault == 0 { Ok(()) } else { Err((property, Fault(fault - 2))) };
    assert_eq!(judged, actual, "{name}: fault of a property");
    seen.failing += expected.iter().count();
    seen.property_faults += usize::from(judged.is_err());
}

fn same_packing(name: &str, interpreter: &Interpreter, state: &[Word], built: &Built, number: usize) {
    let packing = interpreter.packing();
    let (mut expected, mut actual) = (vec![0; packing.words()], vec![7; packing.words()]);
    packing.pack(state, &mut expected);
    built.pack(number, &mut state.to_vec(), &mut actual);
    assert_eq!(expected, actual, "{name}: tight form");
    let mut back = vec![7; state.len()];
    built.unpack(number, &mut actual, &mut back);
    assert_eq!(state, back, "{name}: state of a tight form");
}

fn bits(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit))
}
