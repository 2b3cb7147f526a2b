//! What a run is about: something that can be searched, replayed by other means, and spoken about. A Murphi program is one, an explicit graph another, a
//! model written in Rust a third; the run itself knows none of them.

use crate::report::Change;
use crate::{Plan, RunError};
use serde_json::{Map, Value};
use wayfarer_search::WitnessError;
use wayfarer_space::{Fault, Firing, Space, Word};

/// What a run is about.
pub trait Subject: Send + Sync {
    /// What it is called in reports: its file, mostly.
    fn source(&self) -> &str;

    /// Something that searches can run, which may take its share of `memory` bytes for code.
    fn running<'a>(&'a self, plan: &Plan, memory: usize) -> Box<dyn Running + 'a>;

    /// How much machine code a run may make, where it makes any.
    fn most_code(&self, plan: &Plan, memory: usize) -> Option<usize> {
        let _ = (plan, memory);
        None
    }

    /// The same behaviour by means that are independent of [`running`](Subject::running) where there are any: every witness is replayed here.
    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Space + 'a>;

    /// The symmetry that a run of this plan uses, if any, and a remark on why or why not where the user may wonder.
    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError>;

    /// Its rules in the order of their numbers, all values of a rule's parameters together.
    fn rules(&self) -> Vec<RuleFacts>;

    /// Its properties in the order of their numbers.
    fn properties(&self) -> Vec<PropertyFacts>;

    /// Whether a rule, parameters fixed, is one that a user calls by this name.
    fn is_called(&self, rule: u32, name: &str) -> bool;

    /// Whether two firings are of one rule, whatever its parameters.
    fn same_rule(&self, one: Firing, other: Firing) -> bool {
        one.rule == other.rule
    }

    /// What fires, and where it is written. `from` is the state it fires in, where that is known.
    fn firing(&self, from: Option<&[Word]>, firing: Firing) -> (String, String);

    /// What a start state is called.
    fn start(&self, number: u32) -> String;

    /// What a fault says.
    fn fault(&self, fault: Fault, plan: &Plan) -> FaultFacts;

    /// More on why a property fails in a state.
    fn failing(&self, plan: &Plan, property: u32, state: &[Word]) -> Option<String>;

    /// Every part of a state with its value.
    fn values(&self, state: &[Word]) -> Vec<ValueFacts>;

    /// What differs between two states.
    fn changes(&self, old: &[Word], new: &[Word]) -> Vec<Change>;

    /// The parts of a state as values of the Informal Trace Format.
    fn itf(&self, state: &[Word]) -> Map<String, Value>;

    /// What it means that a witness does not replay: a defect of this program, unless the subject can be at fault.
    fn does_not_replay(&self, plan: &Plan, error: WitnessError) -> RunError {
        let _ = plan;
        RunError::Replay(error)
    }

    /// Whether what leaves states out is a boundary of the model's own, and not an assumption.
    fn is_bounded(&self) -> bool {
        false
    }

    /// Why nothing that a run of it found can be believed, where that turned out.
    fn misuse(&self) -> Option<RunError> {
        None
    }

    /// What it means that a witness among representatives has no counterpart.
    fn breaks_symmetry(&self, error: WitnessError) -> RunError {
        RunError::Replay(error)
    }
}

/// A symmetry that is used, and a remark.
pub type Used<'a> = (Option<Box<dyn Symmetric + 'a>>, Option<String>);

/// A subject while a search runs it.
pub trait Running: Sync {
    /// What is searched.
    fn space(&self) -> &dyn Space;

    /// Bytes of machine code, which no allocator counts.
    fn code_bytes(&self) -> usize {
        0
    }
}

/// A symmetry: states that are alike have one representative.
pub trait Symmetric {
    /// The space of representatives of a space that has this symmetry.
    fn orbits<'a>(&'a self, inner: &'a dyn Space) -> Box<dyn Representatives + 'a>;
}

/// A space of representatives.
pub trait Representatives: Sync {
    /// What is searched.
    fn space(&self) -> &dyn Space;

    /// States of the space inside that lead step by step through what `states` represent, of which the first must stand for a start state. Fewer than were
    /// asked for where some step is missing.
    fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>>;

    /// Puts what represents it in a state's place.
    fn representative(&self, state: &mut Vec<Word>);
}

/// What there is to say of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// How many numbers it has, one for each choice of its parameters' values.
    pub instances: u32,
}

/// What there is to say of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// What it asks.
    pub kind: Asks,
}

/// What a property asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// To hold in every reachable state.
    Always,
    /// To hold in no reachable state.
    Never,
    /// To be taken for granted: states in which it does not hold are left out.
    Assumed,
    /// To hold in some reachable state.
    Reachable,
}

impl Asks {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Asks::Always => "invariant",
            Asks::Never => "never",
            Asks::Assumed => "assumption",
            Asks::Reachable => "cover",
        }
    }
}

/// What there is to say of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultFacts {
    /// `assertion`, `error` or `fault`.
    pub kind: &'static str,
    /// What went wrong.
    pub message: String,
    /// `file:line:column`.
    pub at: String,
    /// What the user can do about it, where that is not obvious.
    pub note: Option<String>,
}

/// What there is to say of a part of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFacts {
    /// Which part, as a path such as `Chan[1].Cmd`.
    pub path: String,
    /// Its value.
    pub value: String,
    /// Whether it has one.
    pub defined: bool,
}
