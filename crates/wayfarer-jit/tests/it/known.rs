//! Models whose numbers are known.

use crate::{agreement, mcslock};
use std::collections::HashSet;
use wayfarer_ir::{Limits, verify};
use wayfarer_jit::Compiled;
use wayfarer_space::{Completeness, Firing, PropertyBits, Space, States, Steps};

#[test]
fn mcs_lock_has_its_554221_states_and_2216884_firings() {
    let program = mcslock::program();
    assert_eq!(verify(&program), []);
    let compiled = Compiled::new(program, Limits::default()).expect("a supported machine");
    let mut steps = Steps::new(compiled.width());
    compiled.initial(&mut steps);
    let mut known: HashSet<[u64; 2]> = HashSet::new();
    let (mut firings, mut batch) = (0, States::new(compiled.width()));
    let mut bits = PropertyBits::default();
    loop {
        batch.clear();
        for state in steps.states.iter() {
            if known.insert([state[0], state[1]]) {
                batch.push(state);
                assert_eq!(compiled.check(state, &mut bits), Ok(()));
            }
        }
        if batch.is_empty() {
            break;
        }
        assert_eq!(compiled.expand(&batch, Firing::of(0), &mut steps), Completeness::All);
        assert!(steps.faults.is_empty());
        firings += steps.len();
    }
    assert_eq!((known.len(), firings), (554_221, 2_216_884));
    assert!(bits.is_empty());
}

#[test]
fn mcs_lock_agrees_with_the_interpreter() {
    agreement::agree("mcslock", &mcslock::program(), Limits::default(), 3_000);
}

/// Programs in the text form, such as those of a collection of models.
#[test]
fn programs_of_a_folder_agree() {
    let Ok(folder) = std::env::var("WAYFARER_IR") else {
        println!("not run: WAYFARER_IR names no folder of programs in the text form");
        return;
    };
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    paths.sort();
    for path in paths {
        let program = wayfarer_ir::text::read(&std::fs::read_to_string(&path).expect("a readable file")).expect("a program");
        let seen = agreement::agree(&path.display().to_string(), &std::sync::Arc::new(program), Limits::default(), 1_500);
        println!("{}: {seen:?}", path.display());
    }
}
