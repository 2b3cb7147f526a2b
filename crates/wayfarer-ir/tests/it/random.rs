//! Random programs: they verify, read back as they were printed, and run without panic, under limits small enough to
//! be reached.

use std::collections::BTreeMap;
use wayfarer_ir::generate::generate;
use wayfarer_ir::{Interpreter, Limits, text, verify};
use wayfarer_space::{Fired, Firing, PropertyBits, Rng, Space, States, Steps};

pub(crate) const LIMITS: Limits = Limits { fuel: 300, call_depth: 12, frame_words: 400 };

#[test]
fn generated_programs_verify() {
    for seed in 0..2_000 {
        let errors = verify(&generate(seed));
        assert!(errors.is_empty(), "seed {seed}: {errors:#?}");
    }
}

#[test]
fn texts_read_back_as_they_were_printed() {
    for seed in 0..500 {
        let program = generate(seed);
        let printed = text::print(&program);
        assert_eq!(text::read(&printed).as_ref(), Ok(&program), "seed {seed}: {printed}");
    }
}

#[test]
fn every_form_is_generated() {
    let all: String = (0..200).map(|seed| text::print(&generate(seed))).collect();
    let forms = "load not negate complement add sub mul and or xor shl shr ushr eq ne lt le gt ge checked-add checked-sub checked-mul checked-div \
        checked-rem all any select non-zero between for-all for-any for-sum call set store copy zero sort if while for do check fail discard cover return \
        print value place ref0 frame state record array bag";
    for form in forms.split_whitespace() {
        assert!(all.contains(&format!("({form} ")) || all.contains(&format!("({form})")) || all.contains(&format!("({form}\n")), "no `{form}`");
    }
}

/// A few hundred states of the program of a seed, found breadth first without a store.
pub(crate) fn some_states(space: &Interpreter, count: usize) -> States {
    let mut steps = Steps::new(space.width());
    space.initial(&mut steps);
    let mut states = steps.states.clone();
    let mut batch = steps.states.clone();
    while states.len() < count && !batch.is_empty() {
        space.expand(&batch, Firing::of(0), &mut steps);
        batch.clear();
        for (state, changed) in steps.states.iter().zip(&steps.changed).take(count) {
            if *changed != 0 {
                states.push(state);
                batch.push(state);
            }
        }
    }
    states
}

#[test]
fn the_ways_of_firing_agree() {
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..400 {
        let space = Interpreter::new(generate(seed), LIMITS);
        let mut rng = Rng::new(seed, "test");
        let (mut steps, mut out) = (Steps::new(space.width()), Vec::new());
        for state in some_states(&space, 30).iter() {
            let mut batch = States::new(space.width());
            batch.push(state);
            space.expand(&batch, Firing::of(0), &mut steps);
            let (mut row, mut fault_row, mut enabled, mut discarded) = (0, 0, 0, 0);
            for firing in (0..space.rules()).map(Firing::of) {
                let mut printed = Vec::new();
                let fired = space.fire(state, firing, &mut out);
                let kept = out.clone();
                assert_eq!(space.fire_printing(state, firing, &mut out, &mut printed), fired, "seed {seed}: printing changes {firing:?}");
                assert_eq!(out, kept, "seed {seed}: printing changes {firing:?}");
                let word = format!("{fired:?}");
                *ends.entry(word.split('(').next().unwrap_or_default().to_string()).or_default() += 1;
                match fired {
                    Fired::To => {
                        assert_eq!((steps.firings[row], steps.states.get(row)), (firing, out.as_slice()), "seed {seed}");
                        assert!(out.iter().zip(space.packing().masks()).all(|(word, mask)| word & !mask == 0), "seed {seed}: stray bits");
                        row += 1;
                    }
                    Fired::Fault(fault) => {
                        assert_eq!((steps.faults[fault_row].firing, steps.faults[fault_row].fault), (firing, fault), "seed {seed}");
                        fault_row += 1;
                    }
                    Fired::Discarded => discarded += 1,
                    Fired::Disabled => {}
                }
                enabled += u32::from(fired != Fired::Disabled);
            }
            assert_eq!((steps.len(), steps.faults.len(), steps.enabled[0], steps.discarded), (row, fault_row, enabled, discarded), "seed {seed}");
            match space.sample(state, &mut rng, &mut out) {
                Some((firing, fired)) => {
                    let sampled = out.clone();
                    assert_ne!(fired, Fired::Disabled, "seed {seed}");
                    assert_eq!(space.fire(state, firing, &mut out), fired, "seed {seed}");
                    assert_eq!(out, sampled, "seed {seed}");
                }
                None => assert_eq!(enabled, 0, "seed {seed}"),
            }
            let _ = space.check(state, &mut PropertyBits::default());
        }
    }
    // All ends occur, and none dominates: fuzzing with these programs sees every one of them often.
    let total: u32 = ends.values().sum();
    for end in ["To", "Disabled", "Discarded", "Fault"] {
        assert!(ends.get(end).is_some_and(|count| count * 100 > total), "{ends:?}");
    }
}

#[test]
fn random_states_never_break_a_program() {
    for seed in 0..300 {
        let space = Interpreter::new(generate(seed), LIMITS);
        let mut rng = Rng::new(seed, "states");
        let mut steps = Steps::new(space.width());
        for _ in 0..4 {
            // States no run would reach: every bit that carries information is random.
            let state: Vec<u64> = space.packing().masks().iter().map(|mask| rng.next_word() & mask).collect();
            let mut batch = States::new(space.width());
            batch.push(&state);
            space.expand(&batch, Firing::of(0), &mut steps);
            let _ = space.check(&state, &mut PropertyBits::default());
            space.program().listing(&state);
            for successor in steps.states.iter() {
                // Two states can differ and show no difference: free slots of these bags are not zero.
                let shown = space.program().differences(&state, successor);
                assert!(shown.is_empty() || successor != state, "seed {seed}");
            }
        }
    }
}
