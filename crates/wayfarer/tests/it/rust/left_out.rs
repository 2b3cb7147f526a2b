//! Steps to recently found states are not processed again, but they count: in reports, for deadlocks, and if
//! something fails beside them.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use wayfarer::prelude::*;

const SIZE: u32 = 20_011;

/// Numbers below [`SIZE`] with many paths to each other.
struct Numbers;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Packed, Serialize, Deserialize)]
struct Number(#[packed(range = 0..=20_010)] u32);

#[derive(Clone, Copy, Debug)]
enum Move {
    Add(u32),
    Stay,
    Double,
    Never,
}

impl Model for Numbers {
    type State = Number;
    type Action = Move;

    fn initial(&self) -> Vec<Number> {
        vec![Number(1)]
    }

    fn actions(&self, &Number(value): &Number, actions: &mut Vec<Move>) {
        // Some numbers lead only to themselves, and some nowhere.
        match value % 1_000 {
            13 => actions.push(Move::Stay),
            14 => {}
            _ => actions.extend([Move::Add(3), Move::Add(7), Move::Never, Move::Double, Move::Stay, Move::Add(10), Move::Add(11)]),
        }
    }

    fn next(&self, &Number(value): &Number, action: &Move) -> Option<Number> {
        assert!(value % 997 != 5 || !matches!(action, Move::Double), "no double here");
        match action {
            Move::Add(more) => Some(Number((value + more) % SIZE)),
            Move::Stay => Some(Number(value)),
            Move::Double => Some(Number(2 * value % SIZE)),
            Move::Never => None,
        }
    }

    fn within_boundary(&self, &Number(value): &Number) -> bool {
        value % 101 != 100
    }
}

/// The expected results, computed in the plainest way: states, firings of each kind, deadlocks, faults.
fn plainly() -> (u64, BTreeMap<&'static str, u64>, usize, usize) {
    let (mut known, mut waiting) = (BTreeSet::from([Number(1)]), vec![Number(1)]);
    let (mut fired, mut deadlocks, mut faults) = (BTreeMap::new(), 0, 0);
    while let Some(state) = waiting.pop() {
        let mut actions = Vec::new();
        Numbers.actions(&state, &mut actions);
        let mut leads_on = false;
        for action in actions {
            let name = match action {
                Move::Add(_) => "Add",
                Move::Stay => "Stay",
                Move::Double => "Double",
                Move::Never => continue,
            };
            if state.0 % 997 == 5 && name == "Double" {
                faults += 1;
                leads_on = true;
                *fired.entry(name).or_default() += 1;
                continue;
            }
            let next = Numbers.next(&state, &action).unwrap();
            if Numbers.within_boundary(&next) {
                *fired.entry(name).or_default() += 1;
                leads_on |= next != state;
                if known.insert(next) {
                    waiting.push(next);
                }
            }
        }
        deadlocks += usize::from(!leads_on);
    }
    (known.len() as u64, fired, deadlocks, faults)
}

#[test]
fn steps_that_are_left_out_count() {
    let (states, fired, deadlocks, faults) = plainly();
    assert!(states > 15_000 && deadlocks > 20 && faults > 10);
    let packed = || Plan::packed(Numbers).max_errors(1_000);
    let plans = [
        packed().strategy("bfs"),
        packed().strategy("bfs").profile(true),
        packed().strategy("bfs").threads(3),
        packed().strategy("bfs").store("tree"),
        packed().strategy("dfs"),
        packed(),
        Plan::by_serde(Numbers).max_errors(1_000).strategy("bfs"),
    ];
    for planned in plans {
        let report = planned.shorten(false).run().unwrap();
        let name = format!("{} over {}", report.strategy, report.store);
        let kind = |kind: &str| report.violations.iter().filter(|violation| violation.kind.word() == kind).count();
        assert_eq!((report.states, kind("deadlock"), kind("fault")), (states, deadlocks, faults), "{name}");
        assert_eq!(
            report.rules.iter().map(|rule| (rule.rule.as_str(), rule.fired)).filter(|(_, fired)| *fired > 0).collect::<BTreeMap<_, _>>(),
            fired,
            "{name}"
        );
        assert_eq!(report.rules_fired, fired.values().sum::<u64>(), "{name}");
    }
}

#[test]
fn a_search_that_is_cut_off_says_how_far_it_came() {
    let whole = Plan::packed(Numbers).deadlock("off").max_errors(1_000).strategy("bfs").run().unwrap();
    for states in [100, 1_000, 5_000] {
        let report = Plan::packed(Numbers).deadlock("off").max_errors(1_000).strategy("bfs").states(states).run().unwrap();
        assert_eq!((report.states, report.stop.word()), (states, "states"));
        assert!(report.rules_fired < whole.rules_fired && report.frontier > 0);
    }
}
