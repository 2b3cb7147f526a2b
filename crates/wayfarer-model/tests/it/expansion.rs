//! Steps of states of varying length: the steps that a sieve leaves out, and the states that stay typed until they
//! are checked.

use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;
use wayfarer_model::{BySerde, Model, ModelSpace, Properties, Representative};
use wayfarer_space::{Firing, PropertyBits, Rng, Sieve, Space, States, Steps, Width, Word};

/// Lists of small numbers that grow at either end, shrink and turn. Some actions fail, some lead nowhere, back, or beyond the boundary.
struct Lists;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct List(Vec<u8>);

#[derive(Debug)]
enum Action {
    Push(u8),
    Begin(u8),
    Pop,
    Turn,
    Nothing,
    Fail,
}

impl Model for Lists {
    type State = List;
    type Action = Action;

    fn initial(&self) -> Vec<List> {
        vec![List(Vec::new())]
    }

    fn actions(&self, List(items): &List, actions: &mut Vec<Action>) {
        actions.push(Action::Nothing);
        actions.extend([0, 1, 9].map(Action::Push));
        actions.extend([0, 1].map(Action::Begin));
        actions.extend([Action::Pop, Action::Turn, Action::Nothing]);
        if items.len() > 3 && items.iter().sum::<u8>() % 5 == 2 {
            actions.insert((usize::from(items[0]) * 4).min(actions.len()), Action::Fail);
        }
    }

    fn next(&self, List(items): &List, action: &Action) -> Option<List> {
        let mut items = items.clone();
        match action {
            Action::Push(item) => items.push(*item),
            Action::Begin(item) => items.insert(0, *item),
            Action::Pop => drop(items.pop()?),
            Action::Turn => items.reverse(),
            Action::Nothing => {}
            Action::Fail => panic!("fails"),
        }
        Some(List(items))
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.always("few ones", |_, List(items)| items.iter().filter(|item| **item == 1).count() < 3);
        properties.never("a palindrome", |_, List(items)| items.len() > 2 && items.iter().eq(items.iter().rev()));
        properties.sometimes("long", |_, List(items)| items.len() == 6);
        properties.always("sound", |_, List(items)| !items.contains(&9) || items.len() < 4 || panic!("nine"));
    }

    fn within_boundary(&self, List(items): &List) -> bool {
        items.len() < 9
    }

    fn symmetry(&self) -> Option<Representative<Self>> {
        Some(|_, List(items)| {
            let turned: Vec<u8> = items.iter().rev().copied().collect();
            List(turned.min(items.clone()))
        })
    }
}

/// A step as a row: source, firing, state and whether it changes the state.
type Row = (u32, Firing, Vec<Word>, bool);

fn rows(steps: &Steps) -> Vec<Row> {
    (0..steps.len()).map(|index| (steps.sources[index], steps.firings[index], steps.states.get(index).to_vec(), steps.changed[index] != 0)).collect()
}

/// Explores in breadth, with a sieve and without, and compares every round.
fn agrees(space: &ModelSpace<Lists, BySerde>) {
    let mut rng = Rng::new(3, "batches");
    let mut start = Steps::new(Width::Varying);
    space.initial(&mut start);
    let mut queue: Vec<Vec<Word>> = start.states.iter().map(<[Word]>::to_vec).collect();
    let mut known: HashSet<Vec<Word>> = queue.iter().cloned().collect();
    let (mut with, mut without) = (Steps::new(Width::Varying), Steps::new(Width::Varying));
    with.sieve = Sieve::new(Width::Varying);
    let (mut next, mut left_out, mut judged, mut faults) = (0, 0, [0; 2], 0);
    while next < queue.len() && next < 6_000 {
        let mut batch = States::new(Width::Varying);
        let until = queue.len().min(next + 1 + rng.below(64) as usize);
        queue[next..until].iter().for_each(|state| batch.push(state));
        next = until;
        let from = if rng.below(8) == 0 { Firing { rule: 0, outcome: 2 } } else { Firing::of(0) };
        space.expand(&batch, from, &mut with);
        space.expand(&batch, from, &mut without);
        assert!(with.sifted && !without.sifted);
        assert_eq!((&with.enabled, with.discarded, &with.faults), (&without.enabled, without.discarded, &without.faults));
        assert!(without.omitted.is_empty());
        assert_eq!(with.len() + with.omitted.len(), without.len());
        // The steps left out lead to a known state, or back; all others are unchanged.
        let (given, all) = (rows(&with), rows(&without));
        let mut given = given.into_iter().peekable();
        for row in all {
            if given.next_if_eq(&row).is_none() {
                left_out += 1;
                assert!(!row.3 || known.contains(&row.2), "{row:?}");
            }
            if known.insert(row.2.clone()) && queue.len() < 8_000 {
                queue.push(row.2);
            }
        }
        assert!(given.next().is_none());
        for steps in [&with, &without] {
            for index in 0..steps.len() {
                let (mut typed, mut read) = (PropertyBits::default(), PropertyBits::default());
                let one = space.check_step(steps, index, &mut typed);
                assert_eq!(one, space.check(steps.states.get(index), &mut read), "{}", space.shape(steps.states.get(index)));
                assert_eq!(typed, read);
                judged[usize::from(one.is_err())] += 1;
            }
        }
        faults += with.faults.len();
    }
    assert!(left_out > 1_000 && judged[0] > 1_000 && judged[1] > 100 && faults > 20, "{left_out} {judged:?} {faults}");
}

#[test]
fn a_sieve_leaves_out_only_what_is_known_and_typed_states_are_judged_as_their_words() {
    let space = ModelSpace::new(Arc::new(Lists));
    agrees(&space);
    agrees(&space.folded().unwrap());
}

#[test]
fn what_stays_typed_is_forgotten_with_its_steps() {
    let space = ModelSpace::<Lists, BySerde>::new(Arc::new(Lists));
    let (mut steps, mut batch) = (Steps::new(Width::Varying), States::new(Width::Varying));
    space.initial(&mut steps);
    batch.push(steps.states.get(0));
    space.expand(&batch, Firing::of(0), &mut steps);
    let palindrome = {
        let mut other = Steps::new(Width::Varying);
        let mut last = steps.states.get(1).to_vec();
        for _ in 0..2 {
            let mut one = States::new(Width::Varying);
            one.push(&last);
            space.expand(&one, Firing::of(0), &mut other);
            last = other.states.get(1).to_vec();
        }
        last
    };
    steps.clear();
    steps.push(0, Firing::of(0), &[], &palindrome);
    let mut bits = PropertyBits::default();
    space.check_step(&steps, 0, &mut bits).unwrap();
    assert!(bits.contains(1), "{}", space.shape(&palindrome));
}
