//! The subject of a run: anything that can be searched, replayed independently, and described. A program in one of
//! the modelling languages is one, an explicit graph another, a model written in Rust a third; the run itself knows
//! none of them.
//!
//! [`Subject`] is the interface for a run, [`Words`] the interface for a reader. [`Programmed`] gives both for
//! everything that is a program of the IR.

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
use wayfarer_search::{Deadlock, Dependence, WitnessError};
use wayfarer_space::{Fault, Fired, Firing, PropertyKind, Space, States, Word, find_start};

/// The subject of a run.
pub trait Subject: Send + Sync {
    /// Its name in reports: usually its file.
    fn source(&self) -> &str;

    /// Its descriptions.
    fn words(&self) -> &dyn Words;

    /// A form that searches can run, which may use its share of `memory` bytes for code.
    fn running<'a>(&'a self, plan: &Plan, memory: usize) -> Box<dyn Running + 'a>;

    /// The largest amount of machine code of a run, if it generates any.
    fn most_code(&self, plan: &Plan, memory: usize) -> Option<usize> {
        let _ = (plan, memory);
        None
    }

    /// The same behaviour, by an independent implementation of [`running`](Subject::running) if there is one: every
    /// witness is replayed here.
    fn replaying<'a>(&'a self, plan: &Plan) -> Box<dyn Replaying + 'a>;

    /// The program that a GPU can run in its place, if there is one.
    #[cfg(feature = "gpu")]
    fn for_device(&self) -> Option<&Arc<wayfarer_ir::Program>> {
        None
    }

    /// The symmetry that a run of this plan uses, if any, and a remark that explains the choice if the user may
    /// wonder.
    fn symmetry<'a>(&'a self, plan: &Plan) -> Result<Used<'a>, RunError>;

    /// The sizes of the orbits of states under a symmetry that is not used because it could not be shown; `None` if there is none, or if it has too many
    /// permutations to try.
    fn orbit_sizes(&self, _states: &States) -> Option<Vec<usize>> {
        None
    }

    /// The most states that such a symmetry counts as one; `None` if there is no such symmetry.
    fn most_in_an_orbit(&self) -> Option<f64> {
        None
    }

    /// The remark on a run that began again because its symmetry was refuted.
    fn refuted_symmetry(&self) -> Option<String> {
        None
    }

    /// Its rules in the order of their numbers; a rule's parameter values are taken together.
    fn rules(&self) -> Vec<RuleFacts>;

    /// Its properties in the order of their numbers.
    fn properties(&self) -> Vec<PropertyFacts>;

    /// Whether a rule with its parameters fixed has this name for a user.
    fn is_called(&self, rule: u32, name: &str) -> bool;

    /// Whether two firings are of one rule, whatever its parameters.
    fn same_rule(&self, one: Firing, other: Firing) -> bool {
        one.rule == other.rule
    }

    /// The definition of a deadlock, unless the user chooses another.
    fn deadlock(&self) -> Deadlock {
        Deadlock::default()
    }

    /// The same subject with wider values, after a run reached this limit of representation. A run of a subject that
    /// can be widened ends at the first limit it reaches and starts again on the wider one, within the same budget.
    /// `None` if widening would not help.
    fn widened(&self, limit: Fault) -> Option<Arc<dyn Subject>> {
        let _ = limit;
        None
    }

    /// Whether a limit of representation should end the run, so that [`widened`](Subject::widened) is called.
    fn can_widen(&self) -> bool {
        false
    }

    /// Whether firings of a rule are counted. Firings on the way through passing states are not: that there are none
    /// says nothing.
    fn is_counted(&self, rule: u32) -> bool {
        let _ = rule;
        true
    }

    /// The statements that a rule begins with and those it may execute after them, by numbers of their own. Several rules may execute
    /// one statement: it happened if one of them fired. Both are empty where a rule stands for itself.
    fn statements(&self, rule: u32) -> (&[u32], &[u32]) {
        let _ = rule;
        (&[], &[])
    }

    /// The kinds and names of the model's claims that no run checks. They are reported as not judged.
    fn unjudged(&self) -> Vec<(Kind, String)> {
        Vec::new()
    }

    /// Whether a model without start states is explored as empty, with a remark. If not, it is refused.
    fn may_be_empty(&self) -> bool {
        false
    }

    /// Its parts, for `wayfarer info`.
    fn facts(&self) -> Facts {
        Facts::of_rules(self.rules(), self.properties())
    }

    /// The dependences of its rules and properties, if they are known.
    fn dependence<'a>(&'a self) -> Option<Box<dyn Dependence + 'a>> {
        None
    }

    /// More detail on why a property fails in a state.
    fn failing(&self, plan: &Plan, property: u32, state: &[Word]) -> Option<String> {
        let _ = (plan, property, state);
        None
    }

    /// The error if a witness does not replay: a defect of this program, unless the subject can be at fault.
    fn does_not_replay(&self, plan: &Plan, error: WitnessError) -> RunError {
        let _ = plan;
        RunError::Replay(error)
    }

    /// Whether states are left out because of the model's own boundary, and not because of an assumption.
    fn is_bounded(&self) -> bool {
        false
    }

    /// The reason why no result of a run can be trusted, if there is one.
    fn misuse(&self) -> Option<RunError> {
        None
    }

    /// The error if a witness among representatives has no counterpart.
    fn breaks_symmetry(&self, error: WitnessError) -> RunError {
        RunError::Replay(error)
    }
}

/// The symmetry used, if any, and a remark.
pub type Used<'a> = (Option<Box<dyn Symmetric + 'a>>, Option<String>);

/// A subject prepared for a search.
pub trait Running: Sync {
    /// The space to search.
    fn space(&self) -> &dyn Space;

    /// Bytes that no allocator counts: machine code, and what small blocks take beyond their size.
    fn code_bytes(&self) -> usize {
        0
    }
}

/// A subject prepared for single steps, for replay and for interactive walks.
pub trait Replaying: Sync {
    /// The space in which steps are taken.
    fn space(&self) -> &dyn Space;

    /// Computes the start state of this number, and appends the model's output.
    fn start(&self, number: u32, out: &mut Vec<Word>, printed: &mut Vec<String>) -> Fired {
        let _ = printed;
        let made = find_start(self.space(), |steps| {
            if let Some(fault) = steps.faults.iter().find(|step| step.firing.rule == number) {
                return Some(Fired::Fault(fault.fault));
            }
            let index = steps.firings.iter().position(|firing| firing.rule == number)?;
            out.clear();
            out.extend_from_slice(steps.states.get(index));
            Some(Fired::To)
        });
        made.unwrap_or(Fired::Disabled)
    }

    /// Fires a rule, and appends the model's output.
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

/// A symmetry: symmetric states have one representative.
pub trait Symmetric {
    /// The space of representatives of a space that has this symmetry.
    fn orbits<'a>(&'a self, inner: &'a dyn Space) -> Box<dyn Representatives + 'a>;

    /// Whether the run has seen that there is no such symmetry. The search so far is then worth nothing.
    fn is_refuted(&self) -> bool {
        false
    }

    /// Whether the symmetry is checked during the run, because it could not be shown.
    fn is_doubtful(&self) -> bool {
        false
    }

    /// Ends these checks, for searches whose findings are replayed.
    fn rest(&self) {}
}

/// A space of representatives.
pub trait Representatives: Sync {
    /// The space to search.
    fn space(&self) -> &dyn Space;

    /// States of the underlying space that lead step by step through the states that `states` represent. The first
    /// must represent a start state. Returns fewer states if some step is missing.
    fn concrete(&self, states: &[Vec<Word>]) -> Vec<Vec<Word>>;

    /// Replaces a state by its representative.
    fn representative(&self, state: &mut Vec<Word>);
}

/// A rule, with all values of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// The number of its instances, one for each choice of its parameters' values.
    pub instances: u32,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyFacts {
    /// Its name.
    pub name: String,
    /// `file:line:column`.
    pub at: String,
    /// Its kind.
    pub kind: PropertyKind,
}
