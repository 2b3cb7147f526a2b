//! The protocol over a state of fixed size, for both sides.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wayfarer::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Packed, Serialize, Deserialize)]
pub(crate) enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Packed, Serialize, Deserialize)]
pub(crate) enum Decision {
    Open,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    HearPrepared(usize),
    Commit,
    Abort,
    Prepare(usize),
    ChooseAbort(usize),
    HearCommit(usize),
    HearAbort(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Packed, Serialize, Deserialize)]
#[serde(bound(
    serialize = "[Manager; N]: Serialize, [bool; N]: Serialize",
    deserialize = "[Manager; N]: DeserializeOwned, [bool; N]: DeserializeOwned"
))]
pub(crate) struct State<const N: usize> {
    managers: [Manager; N],
    decision: Decision,
    heard: [bool; N],
    said: [bool; N],
    commit: bool,
    abort: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Plain<const N: usize>;

impl<const N: usize> State<N> {
    fn first() -> Self {
        let (managers, decision) = ([Manager::Working; N], Decision::Open);
        State { managers, decision, heard: [false; N], said: [false; N], commit: false, abort: false }
    }

    fn actions(&self, actions: &mut Vec<Action>) {
        let open = self.decision == Decision::Open;
        if open && self.heard.iter().all(|heard| *heard) {
            actions.push(Action::Commit);
        }
        if open {
            actions.push(Action::Abort);
        }
        for index in 0..N {
            if open && self.said[index] {
                actions.push(Action::HearPrepared(index));
            }
            if self.managers[index] == Manager::Working {
                actions.push(Action::Prepare(index));
                actions.push(Action::ChooseAbort(index));
            }
            if self.commit {
                actions.push(Action::HearCommit(index));
            }
            if self.abort {
                actions.push(Action::HearAbort(index));
            }
        }
    }

    fn next(&self, action: Action) -> Self {
        let mut next = *self;
        match action {
            Action::HearPrepared(index) => next.heard[index] = true,
            Action::Commit => (next.decision, next.commit) = (Decision::Committed, true),
            Action::Abort => (next.decision, next.abort) = (Decision::Aborted, true),
            Action::Prepare(index) => (next.managers[index], next.said[index]) = (Manager::Prepared, true),
            Action::ChooseAbort(index) => next.managers[index] = Manager::Aborted,
            Action::HearCommit(index) => next.managers[index] = Manager::Committed,
            Action::HearAbort(index) => next.managers[index] = Manager::Aborted,
        }
        next
    }

    fn all(&self, wanted: Manager) -> bool {
        self.managers.iter().all(|manager| *manager == wanted)
    }

    fn is_consistent(&self) -> bool {
        !(self.managers.contains(&Manager::Aborted) && self.managers.contains(&Manager::Committed))
    }
}

impl<const N: usize> Model for Plain<N> {
    type State = State<N>;
    type Action = Action;

    fn initial(&self) -> Vec<State<N>> {
        vec![State::first()]
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        state.actions(actions);
    }

    fn next(&self, state: &State<N>, action: &Action) -> Option<State<N>> {
        Some(state.next(*action))
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.sometimes("all abort", |_, state| state.all(Manager::Aborted));
        properties.sometimes("all commit", |_, state| state.all(Manager::Committed));
        properties.always("consistent", |_, state| state.is_consistent());
    }
}

impl<const N: usize> stateright::Model for Plain<N> {
    type State = State<N>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<N>> {
        vec![State::first()]
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        state.actions(actions);
    }

    fn next_state(&self, state: &State<N>, action: Action) -> Option<State<N>> {
        Some(state.next(action))
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![
            stateright::Property::<Self>::sometimes("all abort", |_, state| state.all(Manager::Aborted)),
            stateright::Property::<Self>::sometimes("all commit", |_, state| state.all(Manager::Committed)),
            stateright::Property::<Self>::always("consistent", |_, state| state.is_consistent()),
        ]
    }
}
