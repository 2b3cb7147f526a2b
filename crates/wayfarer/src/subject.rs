//! What a run is about: something that can be searched, replayed by other means, and spoken about. A program in one of the modelling languages is one, an
//! explicit graph another, a model written in Rust a third; the run itself knows none of them.
//!
//! [`Subject`] is what a run needs, [`Words`] is what a reader needs. [`Programmed`] gives both for whatever has become a program of the IR.

mod explicit;
mod facts;
mod modelled;
#[cfg(feature = "murphi")]
mod program;
#[cfg(feature = "murphi")]
mod running;
pub(crate) mod symmetry;
#[cfg(feature = "murphi")]
mod values;
mod words;

pub use explicit::Explicit;
pub use facts::{Facts, Table};
pub use modelled::Modelled;
#[cfg(feature = "murphi")]
pub use program::Programmed;
#[cfg(feature = "murphi")]
pub use running::space_of;
pub use words::{FaultFacts, ValueFacts, Words};

use crate::{Kind, Plan, RunError};
use std::sync::Arc;
use wayfarer_search::{Deadlock, WitnessError};
use wayfarer_space::{Fault, Fired, Firing, Space, Steps, Word};

/// What a run is about.
pub trait Subject: Send + Sync {
    /// What it is called in reports: its file, mostly.
    fn source(&self) -> &str;

    /// How it is spoken about.
    fn words(&self) -> &dyn Words;

    /// Something that searches can run, which may take its share of `memory` bytes for code.
    fn running<'a>(&'a self, plan: &Plan, memory: usize) -> Box<dyn Running + 'a>;

    /// How much machine code a run may make, if it makes any.
    fn most_code(&self, plan: &Plan, memory: usize) -> Option<usize> {
        let _ = (plan, memory);
        None
    }

    /// The same behaviour by means that are independent of [`running`](Subject::running) if there are any: every witness is replayed here.
    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Replaying + 'a>;

    /// The program that a GPU can run in its place, if there is one.
    #[cfg(feature = "gpu")]
    fn for_device(&self) -> Option<&Arc<wayfarer_ir::Program>> {
        None
    }

    /// The symmetry that a run of this plan uses, if any, and a remark on why or why not if the user may wonder.
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

    /// When a state counts as a deadlock, unless the user says otherwise.
    fn deadlock(&self) -> Deadlock {
        Deadlock::default()
    }

    /// The same subject with more room, after a run met this limit of representation. A run of a subject that can be widened ends at the first
    /// limit it meets and starts again on the wider one, within the same budget. None if more room would not help.
    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        let _ = limit;
        None
    }

    /// Whether a limit of representation should end the run, so that [`widened`](Subject::widened) is asked.
    fn can_widen(&self) -> bool {
        false
    }

    /// What it consists of, for `wayfarer info`.
    fn facts(&self) -> Facts {
        Facts::of_rules(self.rules(), self.properties())
    }

    /// More on why a property fails in a state.
    fn failing(&self, plan: &Plan, property: u32, state: &[Word]) -> Option<String> {
        let _ = (plan, property, state);
        None
    }

    /// What it means that a witness does not replay: a defect of this program, unless the subject can be at fault.
    fn does_not_replay(&self, plan: &Plan, error: WitnessError) -> RunError {
        let _ = plan;
        RunError::Replay(error)
    }

    /// Whether states are left out because of a boundary of the model's own, and not because of an assumption.
    fn is_bounded(&self) -> bool {
        false
    }

    /// Why nothing that a run of it found can be believed, if that turned out.
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
    /// The space that is searched.
    fn space(&self) -> &dyn Space;

    /// Bytes of machine code, which no allocator counts.
    fn code_bytes(&self) -> usize {
        0
    }
}

/// A subject while single steps are taken in it, for replay and for walks by hand.
pub trait Replaying: Sync {
    /// The space in which steps are taken.
    fn space(&self) -> &dyn Space;

    /// Makes the start state of this number, and appends what the model prints.
    fn start(&self, number: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        let _ = printed;
        let mut steps = Steps::new(self.space().width());
        self.space().initial(&mut steps);
        if let Some(fault) = steps.faults.iter().find(|step| step.firing.rule == number) {
            return Fired::Fault(fault.fault);
        }
        let Some(index) = steps.firings.iter().position(|firing| firing.rule == number) else { return Fired::Disabled };
        out.clear();
        out.extend_from_slice(steps.states.get(index));
        Fired::To
    }

    /// Fires a rule, and appends what the model prints.
    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        let _ = printed;
        self.space().fire(state, firing, out)
    }
}

/// A space that is searched and replayed as it is, and prints nothing.
pub struct Plain<S>(pub S);

impl<S: Space> Running for Plain<S> {
    fn space(&self) -> &dyn Space {
        &self.0
    }
}

impl<S: Space> Replaying for Plain<S> {
    fn space(&self) -> &dyn Space {
        &self.0
    }
}

/// A symmetry: states that are alike have one representative.
pub trait Symmetric {
    /// The space of representatives of a space that has this symmetry.
    fn orbits<'a>(&'a self, inner: &'a dyn Space) -> Box<dyn Representatives + 'a>;
}

/// A space of representatives.
pub trait Representatives: Sync {
    /// The space that is searched.
    fn space(&self) -> &dyn Space;

    /// States of the space inside that lead step by step through the states that `states` represent. The first must stand for a start state. Fewer than were
    /// asked for if some step is missing.
    fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>>;

    /// Puts what represents it in a state's place.
    fn representative(&self, state: &mut Vec<Word>);
}

/// A rule, all values of its parameters together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// How many numbers it has, one for each choice of its parameters' values.
    pub instances: u32,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// The question it asks.
    pub kind: Asks,
}

/// The question a property asks.
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
    /// A question with two answers: does it hold in some reachable state?
    Exists,
    /// A question with two answers: does it hold in no reachable state? Its author wrote the opposite, and asked about all states.
    Forall,
}

impl Asks {
    /// Whether a state that shows it can be looked for.
    pub fn can_be_looked_for(self) -> bool {
        matches!(self, Asks::Reachable | Asks::Exists | Asks::Forall)
    }

    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        if self == Asks::Assumed { "assumption" } else { self.kind().word() }
    }

    /// The kind of violation that speaks against it.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Asks::Never => Kind::Never,
            Asks::Reachable => Kind::Cover,
            Asks::Exists | Asks::Forall => Kind::Formula,
            Asks::Always | Asks::Assumed => Kind::Invariant,
        }
    }
}
