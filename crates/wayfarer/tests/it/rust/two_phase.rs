//! Two-phase commit: resource managers that prepare or abort, and a transaction manager that collects their answers.
//! Written twice, with a state that packs and one that only serde can write.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wayfarer::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Packed, Serialize, Deserialize)]
pub(crate) enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed, Serialize, Deserialize)]
pub(crate) enum Decision {
    Open,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    HearPrepared(usize),
    Commit,
    Abort,
    Prepare(usize),
    ChooseAbort(usize),
    HearCommit(usize),
    HearAbort(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Packed)]
pub(crate) struct Plain<const N: usize> {
    pub(crate) managers: [Manager; N],
    pub(crate) decision: Decision,
    pub(crate) heard: [bool; N],
    pub(crate) said: [bool; N],
    pub(crate) commit: bool,
    pub(crate) abort: bool,
}

/// `broken` commits before all answers have arrived.
#[derive(Clone, Copy, Default)]
pub(crate) struct TwoPhase<const N: usize> {
    pub(crate) broken: bool,
}

impl<const N: usize> TwoPhase<N> {
    fn sorted(&self, state: &Plain<N>) -> Plain<N> {
        let mut rows: [(Manager, bool, bool); N] = std::array::from_fn(|index| (state.managers[index], state.heard[index], state.said[index]));
        rows.sort();
        Plain { managers: rows.map(|row| row.0), heard: rows.map(|row| row.1), said: rows.map(|row| row.2), ..*state }
    }
}

impl<const N: usize> Model for TwoPhase<N> {
    type State = Plain<N>;
    type Action = Action;

    fn initial(&self) -> Vec<Plain<N>> {
        let (managers, heard, said) = ([Manager::Working; N], [false; N], [false; N]);
        vec![Plain { managers, decision: Decision::Open, heard, said, commit: false, abort: false }]
    }

    fn actions(&self, state: &Plain<N>, actions: &mut Vec<Action>) {
        if state.decision == Decision::Open {
            if self.broken || state.heard.iter().all(|heard| *heard) {
                actions.push(Action::Commit);
            }
            actions.push(Action::Abort);
        }
        for index in 0..N {
            if state.decision == Decision::Open && state.said[index] {
                actions.push(Action::HearPrepared(index));
            }
            if state.managers[index] == Manager::Working {
                actions.extend([Action::Prepare(index), Action::ChooseAbort(index)]);
            }
            if state.commit {
                actions.push(Action::HearCommit(index));
            }
            if state.abort {
                actions.push(Action::HearAbort(index));
            }
        }
    }

    fn next(&self, state: &Plain<N>, action: &Action) -> Option<Plain<N>> {
        let mut next = *state;
        match *action {
            Action::HearPrepared(index) => next.heard[index] = true,
            Action::Commit => (next.decision, next.commit) = (Decision::Committed, true),
            Action::Abort => (next.decision, next.abort) = (Decision::Aborted, true),
            Action::Prepare(index) => (next.managers[index], next.said[index]) = (Manager::Prepared, true),
            Action::ChooseAbort(index) => next.managers[index] = Manager::Aborted,
            Action::HearCommit(index) => next.managers[index] = Manager::Committed,
            Action::HearAbort(index) => next.managers[index] = Manager::Aborted,
        }
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        let all = |state: &Plain<N>, wanted| state.managers.iter().all(|manager| *manager == wanted);
        properties.sometimes("all abort", move |_, state| all(state, Manager::Aborted));
        properties.sometimes("all commit", move |_, state| all(state, Manager::Committed));
        properties.always("consistent", |_, state| !(state.managers.contains(&Manager::Aborted) && state.managers.contains(&Manager::Committed)));
    }

    fn symmetry(&self) -> Option<wayfarer::model::Representative<Self>> {
        Some(Self::sorted)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Message {
    Prepared(usize),
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loose {
    managers: Vec<Manager>,
    decision: Decision,
    heard: Vec<bool>,
    messages: BTreeSet<Message>,
}

/// The same with states that serde writes.
#[derive(Clone, Copy)]
pub(crate) struct LooseTwoPhase(pub(crate) usize);

impl Model for LooseTwoPhase {
    type State = Loose;
    type Action = Action;

    fn initial(&self) -> Vec<Loose> {
        let (managers, heard) = (vec![Manager::Working; self.0], vec![false; self.0]);
        vec![Loose { managers, decision: Decision::Open, heard, messages: BTreeSet::new() }]
    }

    fn actions(&self, state: &Loose, actions: &mut Vec<Action>) {
        let open = state.decision == Decision::Open;
        if open && state.heard.iter().all(|heard| *heard) {
            actions.push(Action::Commit);
        }
        if open {
            actions.push(Action::Abort);
        }
        for index in 0..self.0 {
            if open && state.messages.contains(&Message::Prepared(index)) {
                actions.push(Action::HearPrepared(index));
            }
            if state.managers[index] == Manager::Working {
                actions.extend([Action::Prepare(index), Action::ChooseAbort(index)]);
            }
            if state.messages.contains(&Message::Commit) {
                actions.push(Action::HearCommit(index));
            }
            if state.messages.contains(&Message::Abort) {
                actions.push(Action::HearAbort(index));
            }
        }
    }

    fn next(&self, state: &Loose, action: &Action) -> Option<Loose> {
        let mut next = state.clone();
        match *action {
            Action::HearPrepared(index) => next.heard[index] = true,
            Action::Commit => {
                next.decision = Decision::Committed;
                next.messages.insert(Message::Commit);
            }
            Action::Abort => {
                next.decision = Decision::Aborted;
                next.messages.insert(Message::Abort);
            }
            Action::Prepare(index) => {
                next.managers[index] = Manager::Prepared;
                next.messages.insert(Message::Prepared(index));
            }
            Action::ChooseAbort(index) => next.managers[index] = Manager::Aborted,
            Action::HearCommit(index) => next.managers[index] = Manager::Committed,
            Action::HearAbort(index) => next.managers[index] = Manager::Aborted,
        }
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.sometimes("all commit", |_, state| state.managers.iter().all(|manager| *manager == Manager::Committed));
        properties.always("consistent", |_, state| !(state.managers.contains(&Manager::Aborted) && state.managers.contains(&Manager::Committed)));
    }
}
