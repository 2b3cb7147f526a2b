//! Two-phase commit, after Gray and Lamport, "Consensus on Transaction Commit" (2006): one transaction manager asks
//! several resource managers whether they are prepared, and decides. Messages are never lost, and a sent message can
//! be read again.
//!
//! The state is packed by a derive into a few bits for each manager. Resource managers are symmetric, so the model
//! also gives a representative of states that differ only in a permutation of the managers.

use wayfarer::prelude::*;

/// The protocol with `N` resource managers.
struct TwoPhaseCommit<const N: usize> {
    /// Whether the transaction manager commits as soon as it has heard from anyone: a mistake.
    hasty: bool,
}

/// The state of a resource manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Packed)]
enum Stage {
    Working,
    Prepared,
    Committed,
    Aborted,
}

/// The decision of the transaction manager, which is known to everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed)]
enum Decision {
    Open,
    Commit,
    Abort,
}

/// A resource manager, and the transaction manager's knowledge of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Packed)]
struct Manager {
    stage: Stage,
    /// Whether it has said that it is prepared.
    said: bool,
    /// Whether the transaction manager has heard it.
    heard: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Packed)]
struct State<const N: usize> {
    managers: [Manager; N],
    decision: Decision,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Prepare(usize),
    GiveUp(usize),
    Obey(usize),
    Hear(usize),
    Commit,
    Abort,
}

impl<const N: usize> Model for TwoPhaseCommit<N> {
    type State = State<N>;
    type Action = Action;

    fn initial(&self) -> Vec<State<N>> {
        vec![State { managers: [Manager { stage: Stage::Working, said: false, heard: false }; N], decision: Decision::Open }]
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        let open = state.decision == Decision::Open;
        let heard = state.managers.iter().filter(|manager| manager.heard).count();
        if open && (heard == N || self.hasty && heard > 0) {
            actions.push(Action::Commit);
        }
        if open {
            actions.push(Action::Abort);
        }
        for (number, manager) in state.managers.iter().enumerate() {
            if manager.stage == Stage::Working {
                actions.extend([Action::Prepare(number), Action::GiveUp(number)]);
            }
            if open && manager.said {
                actions.push(Action::Hear(number));
            }
            if !open {
                actions.push(Action::Obey(number));
            }
        }
    }

    fn next(&self, state: &State<N>, action: &Action) -> Option<State<N>> {
        let mut next = state.clone();
        match *action {
            Action::Prepare(number) => next.managers[number] = Manager { stage: Stage::Prepared, said: true, ..next.managers[number] },
            Action::GiveUp(number) => next.managers[number].stage = Stage::Aborted,
            Action::Obey(number) => next.managers[number].stage = if next.decision == Decision::Commit { Stage::Committed } else { Stage::Aborted },
            Action::Hear(number) => next.managers[number].heard = true,
            Action::Commit => next.decision = Decision::Commit,
            Action::Abort => next.decision = Decision::Abort,
        }
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        let any = |state: &State<N>, stage| state.managers.iter().any(|manager| manager.stage == stage);
        let all = |state: &State<N>, stage| state.managers.iter().all(|manager| manager.stage == stage);
        properties.never("some commit and some abort", move |_, state| any(state, Stage::Committed) && any(state, Stage::Aborted));
        properties.sometimes("all commit", move |_, state| all(state, Stage::Committed));
        properties.sometimes("all abort", move |_, state| all(state, Stage::Aborted));
    }

    fn symmetry(&self) -> Option<Representative<Self>> {
        Some(|_, state| {
            let mut state = state.clone();
            state.managers.sort();
            state
        })
    }
}

/// Checks the protocol with `N` managers; every behaviour ends, so the end is not a deadlock.
fn check<const N: usize>(symmetry: &str) -> Result<Report, RunError> {
    let report = Plan::new(TwoPhaseCommit::<N> { hasty: false }).deadlock("off").symmetry(symmetry).run()?;
    report.assert_holds();
    Ok(report)
}

pub(crate) fn main() -> Result<(), RunError> {
    for (states, report) in [(288, check::<3>("off")?), (8_832, check::<5>("off")?), (296_448, check::<7>("off")?)] {
        println!("{report}");
        assert_eq!(report.states, states);
    }
    let folded = check::<7>("on")?;
    println!("{folded}");
    assert_eq!(folded.states, 920);

    let hasty = Plan::new(TwoPhaseCommit::<3> { hasty: true }).deadlock("off").run()?;
    println!("{hasty}");
    hasty.assert_violated("some commit and some abort");
    assert_eq!(hasty.violations[0].witness.as_ref().map(|witness| witness.length), Some(5));
    Ok(())
}
