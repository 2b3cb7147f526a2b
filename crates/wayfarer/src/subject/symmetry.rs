//! The choice between states and orbits, and the conversion of orbits back to states.

use crate::subject::{Representatives, Subject};
use std::fmt;
use std::str::FromStr;
use wayfarer_search::{Ending, Witness, WitnessError};
use wayfarer_space::{Firing, Space, States, Steps};

/// Whether states that differ only in a permutation of scalarset elements are treated as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymmetryChoice {
    /// No.
    Off,
    /// Yes. A model that certainly tells elements apart is refused; if it cannot be shown that a model does not, the
    /// user's choice counts.
    On,
    /// Yes if the model has scalarsets and is shown to respect them.
    #[default]
    Auto,
}

impl SymmetryChoice {
    /// All choices with their names.
    pub const ALL: [(SymmetryChoice, &'static str); 3] = [(SymmetryChoice::Off, "off"), (SymmetryChoice::On, "on"), (SymmetryChoice::Auto, "auto")];
}

impl fmt::Display for SymmetryChoice {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let name = Self::ALL.iter().find(|(choice, _)| choice == self).map_or("auto", |(_, name)| name);
        write!(out, "{name}")
    }
}

impl FromStr for SymmetryChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text).map(|(choice, _)| *choice);
        found.ok_or_else(|| "it is `off`, `on` or `auto`".to_string())
    }
}

/// The witness in the underlying space that leads through the orbits of a witness in the space of orbits.
pub(crate) fn concrete(subject: &dyn Subject, inner: &dyn Space, orbits: &dyn Representatives, witness: Witness) -> Result<Witness, WitnessError> {
    if witness.states.is_empty() {
        return Ok(witness);
    }
    let states = orbits.concrete(&witness.states);
    let Some(last) = states.last().filter(|_| states.len() == witness.states.len()) else {
        return Err(states.len().checked_sub(1).map_or(WitnessError::NoStart, WitnessError::NoStep));
    };
    let mut steps = Steps::new(inner.width());
    let mut batch = States::new(inner.width());
    batch.push(last);
    inner.expand(&batch, Firing::of(0), &mut steps);
    // Another instance of the same rule does in this state what the recorded one does in the representative.
    let ending = match witness.ending {
        Ending::Fault(firing, fault) => {
            let alike = steps.faults.iter().find(|step| step.fault == fault && subject.same_rule(step.firing, firing));
            alike.or(steps.faults.first()).map(|step| Ending::Fault(step.firing, step.fault)).ok_or(WitnessError::OtherEnd)?
        }
        Ending::Rule(firing) => {
            let fired = steps.firings.iter().copied().chain(steps.faults.iter().map(|step| step.firing));
            Ending::Rule(fired.into_iter().find(|other| subject.same_rule(*other, firing)).ok_or(WitnessError::OtherEnd)?)
        }
        ending => ending,
    };
    Witness::through(inner, states, ending, 1)
}
