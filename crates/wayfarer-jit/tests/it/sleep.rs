//! Rules that sleep: a search that leaves out their steps reaches the same states at the same depth, whichever step it takes for the first to a state.

use crate::{mcslock, rows};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wayfarer_ir::generate::{generate, generate_deep};
use wayfarer_ir::{Limits, Program, PropertyKind, Stmt};
use wayfarer_jit::Compiled;
use wayfarer_space::{Firing, NO_RULE, Rng, Sieve, Space, States, Steps, Word};

/// Programs in which rules may sleep, their steps that were made and that were left out, and faults.
#[derive(Debug, Default)]
struct Seen {
    programs: usize,
    made: usize,
    asleep: usize,
    faults: usize,
}

/// The states of a level, each with the rules by which it was reached from the one before.
type Level = HashMap<Vec<Word>, Vec<u32>>;

/// For each state: how many rules fired, failed or were left out, and whether one leads on.
fn told(steps: &Steps, states: usize) -> Vec<(usize, bool)> {
    let mut told = vec![(0, false); states];
    let made = steps.sources.iter().zip(&steps.changed).map(|(source, changed)| (*source, *changed != 0));
    let omitted = steps.omitted.iter().map(|step| (step.source, step.changed()));
    let failed = steps.faults.iter().map(|step| (step.source, false));
    for (source, changed) in made.chain(omitted).chain(failed) {
        let (count, moved) = &mut told[source as usize];
        (*count, *moved) = (*count + 1, *moved | changed);
    }
    told
}

fn next_level(steps: &Steps, known: &HashSet<Vec<Word>>) -> Level {
    let mut level = Level::new();
    for (state, firing) in steps.states.iter().zip(&steps.firings).filter(|(state, _)| !known.contains(*state)) {
        level.entry(state.to_vec()).or_default().push(firing.rule);
    }
    level
}

fn states_of(level: &Level) -> HashSet<Vec<Word>> {
    level.keys().cloned().collect()
}

/// Explores level by level, up to one of more than `most` states, and compares with a search that leaves nothing out; state by state and rule by rule.
fn compare(name: &str, program: Arc<Program>, most: usize, seen: &mut Seen) {
    for together in [false, true] {
        compare_firing(&format!("{name}, together: {together}"), program.clone(), together, most, seen);
    }
}

fn compare_firing(name: &str, program: Arc<Program>, together: bool, most: usize, seen: &mut Seen) {
    let space =
        Compiled::new(program, Limits { fuel: 500, call_depth: 4, frame_words: 60 }).expect("code").with_patience(0).with_large_commands(together);
    if !space.uses_arrivals() {
        return;
    }
    seen.programs += 1;
    let mut rng = Rng::new(7, name);
    let (mut all, mut awake) = (Steps::new(space.width()), Steps::new(space.width()));
    awake.sieve = Sieve::new(space.width()).filter(|_| rng.below(2) == 0);
    space.initial(&mut all);
    let mut level = next_level(&all, &HashSet::new());
    level.values_mut().for_each(|rules| rules.fill(NO_RULE));
    let mut known = states_of(&level);
    for depth in 0..100 {
        if level.is_empty() || level.len() > most {
            break;
        }
        let mut batch = States::new(space.width());
        level.keys().for_each(|state| batch.push(state));
        // Any of the steps to a state may have been the first.
        let arrivals: Vec<u32> = level.values().map(|rules| rules[rng.below(rules.len() as u64) as usize]).collect();
        space.expand(&batch, Firing::of(0), &mut all);
        space.expand_arrived(&batch, &arrivals, &mut awake);
        assert_eq!(all.enabled, awake.enabled, "{name}: enabled rules at depth {depth}");
        assert_eq!(told(&all, batch.len()), told(&awake, batch.len()), "{name}: steps at depth {depth}");
        seen.made += awake.len();
        seen.faults += awake.faults.len();
        // A sieve leaves out others as well.
        seen.asleep += if awake.sifted { 0 } else { awake.omitted.len() };
        level = next_level(&awake, &known);
        assert_eq!(states_of(&next_level(&all, &known)), states_of(&level), "{name}: states at depth {}", depth + 1);
        known.extend(level.keys().cloned());
    }
}

#[test]
fn generated_programs_lose_no_state() {
    let mut seen = Seen::default();
    for seed in 0..600 {
        for (name, mut program) in [("seed", generate(seed)), ("deep seed", generate_deep(seed))] {
            program.properties.retain(|property| property.kind != PropertyKind::Assumption);
            compare(&format!("{name} {seed}"), Arc::new(program), 300, &mut seen);
        }
    }
    assert!(seen.programs > 100 && seen.asleep > 100 && seen.made > 10_000 && seen.faults > 100, "{seen:?}");
}

#[test]
fn programs_of_rows_lose_no_state() {
    let mut rng = Rng::new(5, "sleep");
    let mut seen = Seen::default();
    for number in 0..120 {
        let (words, rules) = (1 + (number % 6) as u32, 4 + rng.below(30));
        let mut program = rows::program(&mut rng, words, rules);
        if number % 3 == 0 {
            program.rules.iter_mut().for_each(|rule| rule.command.block.retain(|statement| !matches!(statement, Stmt::Check { .. })));
        }
        compare(&format!("rows {number}"), Arc::new(program), 400, &mut seen);
    }
    assert!(seen.programs == 240 && seen.asleep > 10_000 && seen.made > 10_000, "{seen:?}");
}

#[test]
fn a_lock_loses_no_state() {
    let mut seen = Seen::default();
    compare("mcslock", mcslock::program(), 4_000, &mut seen);
    assert!(seen.made > 10_000, "{seen:?}");
}
