//! Two-phase commit as a Stateright user would write it, after Gray and Lamport, "Consensus on Transaction
//! Commit" (2006): messages are never lost, and a message that was sent stays available to be read again.

use serde::{Deserialize, Serialize};
use stateright::{Model, Property};
use std::collections::BTreeSet;

/// One transaction manager and several resource managers.
pub(crate) struct TwoPhase {
    pub(crate) managers: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Resource {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Decision {
    Open,
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct State {
    resources: Vec<Resource>,
    decision: Decision,
    /// The resource managers whose messages the transaction manager has read.
    counted: BTreeSet<u8>,
    sent: BTreeSet<Message>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Message {
    Prepared(u8),
    Commit,
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    Prepare(u8),
    GiveUp(u8),
    Obey(u8, Message),
    Count(u8),
    Decide(Message),
}

impl Model for TwoPhase {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            resources: vec![Resource::Working; self.managers.into()],
            decision: Decision::Open,
            counted: BTreeSet::new(),
            sent: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        if state.decision == Decision::Open {
            actions.push(Act::Decide(Message::Abort));
            if state.counted.len() == state.resources.len() {
                actions.push(Act::Decide(Message::Commit));
            }
        }
        for (manager, resource) in (0..).zip(&state.resources) {
            if state.decision == Decision::Open && state.sent.contains(&Message::Prepared(manager)) {
                actions.push(Act::Count(manager));
            }
            if *resource == Resource::Working {
                actions.extend([Act::Prepare(manager), Act::GiveUp(manager)]);
            }
            actions.extend(
                [Message::Commit, Message::Abort]
                    .into_iter()
                    .filter(|message| state.sent.contains(message))
                    .map(|message| Act::Obey(manager, message)),
            );
        }
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        let mut state = last.clone();
        match act {
            Act::Prepare(manager) => {
                state.resources[usize::from(manager)] = Resource::Prepared;
                state.sent.insert(Message::Prepared(manager));
            }
            Act::GiveUp(manager) | Act::Obey(manager, Message::Abort) => state.resources[usize::from(manager)] = Resource::Aborted,
            Act::Obey(manager, _) => state.resources[usize::from(manager)] = Resource::Committed,
            Act::Count(manager) => {
                state.counted.insert(manager);
            }
            Act::Decide(message) => {
                state.decision = if message == Message::Commit { Decision::Commit } else { Decision::Abort };
                state.sent.insert(message);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nobody disagrees", |_, state: &State| {
                !(state.resources.contains(&Resource::Committed) && state.resources.contains(&Resource::Aborted))
            }),
            Property::sometimes("all commit", |_, state: &State| state.resources.iter().all(|resource| *resource == Resource::Committed)),
            Property::sometimes("all abort", |_, state: &State| state.resources.iter().all(|resource| *resource == Resource::Aborted)),
        ]
    }
}

/// The state with its resource managers sorted: their identities do not matter.
pub(crate) fn sorted(state: &State) -> State {
    let mut order: Vec<u8> = (0..).take(state.resources.len()).collect();
    let key = |manager: u8| {
        (state.resources[usize::from(manager)] as u8, state.sent.contains(&Message::Prepared(manager)), state.counted.contains(&manager))
    };
    order.sort_by_key(|manager| key(*manager));
    let place = |manager: u8| (0..).zip(&order).find(|(_, other)| **other == manager).map_or(manager, |(place, _)| place);
    State {
        resources: order.iter().map(|manager| state.resources[usize::from(*manager)]).collect(),
        decision: state.decision,
        counted: state.counted.iter().map(|manager| place(*manager)).collect(),
        sent: state
            .sent
            .iter()
            .map(|message| if let Message::Prepared(manager) = *message { Message::Prepared(place(manager)) } else { *message })
            .collect(),
    }
}
