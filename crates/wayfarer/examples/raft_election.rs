//! Leader election in Raft (Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", 2014): three
//! servers, each of which can time out, crash and come back. A server keeps its term and its vote on disk; one that
//! forgets its vote can elect two leaders in one term.
//!
//! Terms are unbounded, so the model has a boundary, and the verdict says that it holds within the boundary.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wayfarer::prelude::*;

const SERVERS: u8 = 3;

/// The protocol.
struct Election {
    /// States beyond this term are outside the boundary.
    last_term: u8,
    /// Whether a server that crashes forgets its vote: a mistake.
    forgets: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Role {
    Follower,
    Candidate,
    Leader,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Server {
    role: Role,
    term: u8,
    voted_for: Option<u8>,
    votes: BTreeSet<u8>,
}

/// Messages are never removed: one that is never read was lost, one that is read again arrived twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Ask { term: u8, from: u8 },
    Grant { term: u8, from: u8, to: u8 },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    servers: Vec<Server>,
    network: BTreeSet<Message>,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    TimeOut(u8),
    Crash(u8),
    Receive(u8, Message),
}

impl Model for Election {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        let server = Server { role: Role::Follower, term: 0, voted_for: None, votes: BTreeSet::new() };
        vec![State { servers: vec![server; SERVERS.into()], network: BTreeSet::new() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (number, server) in (0..).zip(&state.servers) {
            if server.role != Role::Leader {
                actions.push(Action::TimeOut(number));
            }
            actions.push(Action::Crash(number));
            let received = state.network.iter().filter(|message| match **message {
                Message::Ask { from, term } => from != number && term >= server.term,
                Message::Grant { to, term, .. } => to == number && term == server.term && server.role == Role::Candidate,
            });
            actions.extend(received.map(|message| Action::Receive(number, *message)));
        }
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::TimeOut(number) => {
                let server = &mut next.servers[usize::from(number)];
                let term = server.term + 1;
                *server = Server { role: Role::Candidate, term, voted_for: Some(number), votes: BTreeSet::from([number]) };
                next.network.insert(Message::Ask { term, from: number });
            }
            Action::Crash(number) => {
                let server = &mut next.servers[usize::from(number)];
                server.role = Role::Follower;
                server.votes.clear();
                if self.forgets {
                    server.voted_for = None;
                }
            }
            Action::Receive(number, Message::Ask { term, from }) => {
                let server = &mut next.servers[usize::from(number)];
                if term > server.term {
                    *server = Server { role: Role::Follower, term, voted_for: None, votes: BTreeSet::new() };
                }
                if *server.voted_for.get_or_insert(from) == from {
                    next.network.insert(Message::Grant { term, from: number, to: from });
                }
            }
            Action::Receive(number, Message::Grant { from, .. }) => {
                let server = &mut next.servers[usize::from(number)];
                server.votes.insert(from);
                if server.votes.len() * 2 > usize::from(SERVERS) {
                    server.role = Role::Leader;
                    server.votes.clear();
                }
            }
        }
        Some(next)
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        properties.always("a term has one leader", |_, state| {
            let mut terms: Vec<u8> = state.servers.iter().filter(|server| server.role == Role::Leader).map(|server| server.term).collect();
            let leaders = terms.len();
            terms.sort();
            terms.dedup();
            terms.len() == leaders
        });
        properties.sometimes("someone leads", |_, state| state.servers.iter().any(|server| server.role == Role::Leader));
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.servers.iter().all(|server| server.term <= self.last_term)
    }
}

pub(crate) fn main() -> Result<(), RunError> {
    let report = Plan::new(Election { last_term: 2, forgets: false }).deadlock("off").run()?;
    println!("{report}");
    report.assert_holds();
    assert!(report.bounded);
    assert_eq!(report.states, 1_853);

    let forgetful = Plan::new(Election { last_term: 2, forgets: true }).run()?;
    println!("{forgetful}");
    forgetful.assert_violated("a term has one leader");
    assert_eq!(forgetful.violations[0].witness.as_ref().map(|witness| witness.length), Some(7));
    Ok(())
}
