//! Whether a run goes by states or by orbits, and the way back from orbits to states.

use crate::{Plan, RunError};
use std::fmt;
use std::str::FromStr;
use wayfarer_ir::symmetry::{Orbits, Symmetry};
use wayfarer_ir::{Asymmetry, Program};
use wayfarer_search::{Ending, Witness, WitnessError};
use wayfarer_space::{Firing, Space, States, Steps};

/// Whether states that differ only in which element of a scalarset is which are taken for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymmetryChoice {
    /// No.
    Off,
    /// Yes. A model that certainly tells elements apart is refused; where it cannot be shown that one does not, the user's word counts.
    On,
    /// Where the model has scalarsets and is shown to respect them.
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

/// The symmetry that a run uses, if any, and a remark on why or why not where the user may wonder.
pub(crate) fn chosen(plan: &Plan, program: &Program) -> Result<(Option<Symmetry>, Option<String>), RunError> {
    if plan.symmetry == SymmetryChoice::Off {
        return Ok((None, None));
    }
    let on = plan.symmetry == SymmetryChoice::On;
    let symmetry = match Symmetry::of(program) {
        Ok(Some(symmetry)) => symmetry,
        Ok(None) => return Ok((None, on.then(|| "the model has no scalarset of two elements or more, so there is no symmetry to use".to_string()))),
        Err(error) if on => return Err(RunError::Asymmetric { at: program.source.clone(), message: error.to_string() }),
        Err(error) => return Ok((None, Some(format!("symmetry is not used: {error}")))),
    };
    if let Some(name) = plan.find_rules.iter().find(|name| !program.rules.iter().any(|rule| rule.name == **name)) {
        // One instance of a rule is looked for, and its parameters may be elements.
        let message = format!("`{name}` is one instance of a rule");
        return if on {
            Err(RunError::Asymmetric { at: program.source.clone(), message })
        } else {
            Ok((None, Some(format!("symmetry is not used: {message}"))))
        };
    }
    let place = |asymmetry: &Asymmetry| format!("{}:{}:{}", program.source, asymmetry.at.line, asymmetry.at.column);
    match program.asymmetries.iter().find(|asymmetry| asymmetry.certain || !on) {
        Some(asymmetry) if on => Err(RunError::Asymmetric { at: place(asymmetry), message: asymmetry.message.clone() }),
        Some(asymmetry) => {
            let word = if asymmetry.certain { "" } else { "; --symmetry on uses it all the same" };
            Ok((None, Some(format!("symmetry is not used: {} ({}){word}", asymmetry.message, place(asymmetry)))))
        }
        None => {
            let doubt = program.asymmetries.first();
            Ok((Some(symmetry), doubt.map(|doubt| format!("symmetry is used on your word: {} ({})", doubt.message, place(doubt)))))
        }
    }
}

/// The witness in the space inside that leads through the orbits of a witness of the space of orbits.
pub(crate) fn concrete(program: &Program, inner: &dyn Space, orbits: &Orbits, witness: Witness) -> Result<Witness, WitnessError> {
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
    let family = |firing: Firing| program.rule_of(firing.rule).map(|(family, _)| family);
    let ending = match witness.ending {
        Ending::Fault(firing, fault) => {
            let alike = steps.faults.iter().find(|step| step.fault == fault && family(step.firing) == family(firing));
            alike.or(steps.faults.first()).map(|step| Ending::Fault(step.firing, step.fault)).ok_or(WitnessError::OtherEnd)?
        }
        Ending::Rule(firing) => {
            let fired = steps.firings.iter().copied().chain(steps.faults.iter().map(|step| step.firing));
            Ending::Rule(fired.into_iter().find(|other| family(*other) == family(firing)).ok_or(WitnessError::OtherEnd)?)
        }
        ending => ending,
    };
    Witness::through(inner, states, ending)
}
