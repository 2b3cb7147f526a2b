//! Descriptions of a subject: its firings, faults and states in the terms of its model.

use crate::report::Change;
use crate::{Kind, Plan};
use serde_json::{Map, Value, json};
use wayfarer_space::{Fault, Firing, Word};

/// Descriptions of a subject.
pub trait Words: Send + Sync {
    /// A firing with its parameters, and the rule's source location. `from` is the state it fires in, if that is
    /// known.
    fn firing(&self, from: Option<&[Word]>, firing: Firing) -> (String, String);

    /// The elements that a firing chooses in a state, by the names of its parameters, if those are only numbers of places.
    fn chosen(&self, from: &[Word], firing: Firing) -> Vec<(String, String)> {
        let _ = (from, firing);
        Vec::new()
    }

    /// The name of a start state.
    fn start(&self, number: u32) -> String;

    /// The message of a fault and its source location.
    fn fault(&self, fault: Fault, plan: &Plan) -> FaultFacts;

    /// The words for a state in which nothing is enabled and no run may end.
    fn stuck(&self) -> &'static str {
        "no rule is enabled"
    }

    /// Every part of a state with its value.
    fn values(&self, state: &[Word]) -> Vec<ValueFacts>;

    /// The parts that differ between two states. A part that only one of them has is missing on the other side.
    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change> {
        let (old, new) = (self.values(old), self.values(new));
        let missing = || "–".to_string();
        let before = |path: &str| old.iter().find(|value| value.path == path);
        let changed = new.iter().filter_map(|value| {
            let from = before(&value.path).map_or_else(missing, |old| old.value.clone());
            (from != value.value).then(|| Change { path: value.path.clone(), from, to: value.value.clone() })
        });
        let gone = old.iter().filter(|value| new.iter().all(|other| other.path != value.path));
        changed.chain(gone.map(|value| Change { path: value.path.clone(), from: value.value.clone(), to: missing() })).collect()
    }

    /// The parts of a state as values of the Informal Trace Format.
    fn itf(&self, state: &[Word]) -> Map<String, Value> {
        self.values(state).into_iter().map(|value| (value.path, json!(value.value))).collect()
    }
}

/// The description of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultFacts {
    /// An assertion, an error statement, or any other fault.
    pub kind: Kind,
    /// The message.
    pub message: String,
    /// `file:line:column`.
    pub at: String,
    /// Advice on what the user can do about it, if that is not obvious.
    pub note: Option<String>,
}

/// A part of a state with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFacts {
    /// The part, as a path such as `Chan[1].Cmd`.
    pub path: String,
    /// Its value.
    pub value: String,
    /// Whether it has a value.
    pub defined: bool,
}
