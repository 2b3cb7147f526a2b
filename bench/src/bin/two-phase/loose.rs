//! The protocol over a state of lists and sets, for both sides.

use crate::plain::Action;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wayfarer::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Stage {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Decision {
    Open,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Prepared(usize),
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct State {
    managers: Vec<Stage>,
    decision: Decision,
    heard: Vec<bool>,
    messages: BTreeSet<Message>,
}

#[derive(Clone, Copy)]
pub(crate) struct Loose(pub(crate) usize);

impl State {
    fn first(managers: usize) -> Self {
        State { managers: vec![Stage::Working; managers], decision: Decision::Open, heard: vec![false; managers], messages: BTreeSet::new() }
    }

    fn actions(&self, actions: &mut Vec<Action>) {
        let open = self.decision == Decision::Open;
        if open && self.heard.iter().all(|heard| *heard) {
            actions.push(Action::Commit);
        }
        if open {
            actions.push(Action::Abort);
        }
        for index in 0..self.managers.len() {
            if open && self.messages.contains(&Message::Prepared(index)) {
                actions.push(Action::HearPrepared(index));
            }
            if self.managers[index] == Stage::Working {
                actions.push(Action::Prepare(index));
                actions.push(Action::ChooseAbort(index));
            }
            if self.messages.contains(&Message::Commit) {
                actions.push(Action::HearCommit(index));
            }
            if self.messages.contains(&Message::Abort) {
                actions.push(Action::HearAbort(index));
            }
        }
    }

    fn next(&self, action: Action) -> Self {
        let mut next = self.clone();
        match action {
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
                next.managers[index] = Stage::Prepared;
                next.messages.insert(Message::Prepared(index));
            }
            Action::ChooseAbort(index) => next.managers[index] = Stage::Aborted,
            Action::HearCommit(index) => next.managers[index] = Stage::Committed,
            Action::HearAbort(index) => next.managers[index] = Stage::Aborted,
        }
        next
    }

    fn all(&self, wanted: Stage) -> bool {
        self.managers.iter().all(|manager| *manager == wanted)
    }

    fn is_consistent(&self) -> bool {
        !(self.managers.contains(&Stage::Aborted) && self.managers.contains(&Stage::Committed))
    }
}

impl Model for Loose {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State::first(self.0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.actions(actions);
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        Some(state.next(*action))
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.sometimes("all abort", |_, state| state.all(Stage::Aborted));
        properties.sometimes("all commit", |_, state| state.all(Stage::Committed));
        properties.always("consistent", |_, state| state.is_consistent());
    }
}

impl stateright::Model for Loose {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::first(self.0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.actions(actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        Some(state.next(action))
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![
            stateright::Property::<Self>::sometimes("all abort", |_, state| state.all(Stage::Aborted)),
            stateright::Property::<Self>::sometimes("all commit", |_, state| state.all(Stage::Committed)),
            stateright::Property::<Self>::always("consistent", |_, state| state.is_consistent()),
        ]
    }
}
