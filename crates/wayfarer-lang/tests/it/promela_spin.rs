//! What SPIN says of many small models, every construct of the language among them, and texts made from these by random changes.

use crate::promela_explore::{by_machine, by_program, model};
use wayfarer_lang::promela::learned::Learned;
use wayfarer_lang::promela::lower::{lower, lower_telling};
use wayfarer_lang::promela::read;
use wayfarer_lang::source::Source;
use wayfarer_space::Rng;

const MODELS: &str = include_str!("promela_spin.txt");

/// A model with its name and what SPIN said.
struct Case {
    name: &'static str,
    states: usize,
    transitions: u64,
    assertion: bool,
    end: bool,
    text: &'static str,
}

fn cases() -> Vec<Case> {
    let parts = MODELS.split("\n== ").skip(1);
    parts
        .map(|part| {
            let (head, text) = part.split_once('\n').unwrap();
            let (name, said) = head.split_once(": ").unwrap();
            let said: Vec<&str> = said.split(' ').collect();
            let (states, transitions) = (said[0].parse().unwrap(), said[1].parse().unwrap());
            Case { name, states, transitions, assertion: said.contains(&"assertion"), end: said.contains(&"end"), text }
        })
        .collect()
}

#[test]
fn states_transitions_and_verdicts_are_those_of_spin() {
    let cases = cases();
    assert!(cases.len() > 150);
    for case in cases {
        let model = model(case.name, case.text);
        let program = by_program(&model, 10_000);
        let found = (program.states, program.steps + 1, program.faults > 0, program.deadlocks > 0);
        assert_eq!(found, (case.states, case.transitions, case.assertion, case.end), "{}\n{}", case.name, case.text);
        // The machine stores hidden variables like all others.
        if !case.text.contains("hidden") {
            let machine = by_machine(&model, 10_000);
            assert_eq!((machine.states, machine.steps), (program.states, program.steps), "{}\n{}", case.name, case.text);
        }
    }
}

/// Texts that random changes made of right ones are read, or refused with a message. `WAYFARER_MUTANTS` says how many are tried.
#[test]
fn changed_texts_never_panic() {
    let count: u64 = std::env::var("WAYFARER_MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let texts: Vec<&str> = cases().iter().map(|case| case.text).collect();
    for seed in 0..count {
        let mut rng = Rng::new(seed, "mutants");
        let mut below = |count: usize| rng.below(count.max(1) as u64) as usize;
        let mut pieces: Vec<&str> = texts[below(texts.len())].split_inclusive([' ', ';', '(', ')', '{', '}', ':', ',']).collect();
        let other: Vec<&str> = texts[below(texts.len())].split_inclusive([' ', ';', '(', ')', '{', '}', ':', ',']).collect();
        for _ in 0..1 + below(4) {
            let (at, from) = (below(pieces.len()), below(other.len()));
            match below(4) {
                0 => drop(pieces.drain(at..(at + 1 + below(5)).min(pieces.len()))),
                1 => pieces.insert(at, other[from]),
                2 => drop(pieces.splice(at..at, other[from..(from + 6).min(other.len())].iter().copied())),
                _ => pieces[at..].rotate_left(1),
            }
        }
        let source = Source::new("changed.pml", pieces.concat());
        let (model, diagnostics) = read(&source, &[], &|_| None);
        diagnostics.render(&source, false);
        assert_eq!(model.is_none(), diagnostics.has_errors(), "{}", source.text());
        let Some(model) = model else { continue };
        let Ok(learned) = Learned::look_ahead(&model) else { continue };
        // A program that is made passes the verifier; both forms have the same rules.
        if let (Ok(plain), Ok(telling)) = (lower(&model, &learned), lower_telling(&model, &learned)) {
            assert_eq!(plain.rules, telling.rules, "{}", source.text());
        }
    }
}
