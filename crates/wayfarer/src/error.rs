//! Why a run could not be carried out.

use std::fmt;
use wayfarer_search::WitnessError;

/// Why a run could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A property of this name does not exist.
    UnknownProperty {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A rule of this name does not exist.
    UnknownRule {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The memory budget is too small to begin.
    TooLittleMemory {
        /// The least that works, in bytes.
        least: usize,
    },
    /// The strategy cannot work over the store.
    Unsuited {
        /// The strategy's name.
        strategy: &'static str,
        /// What it needs instead.
        needs: &'static str,
        /// The store, as it was asked for.
        store: String,
    },
    /// Symmetry was asked for, and the model tells elements of a scalarset apart.
    Asymmetric {
        /// `file:line:column`.
        at: String,
        /// Why.
        message: String,
    },
    /// A witness up to symmetry has no counterpart in the model, which was taken to be symmetric on the user's word.
    BrokenSymmetry,
    /// The model has no start state.
    NoStartState,
    /// A witness did not replay: a defect of this program, never of the model.
    Replay(WitnessError),
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RunError::UnknownProperty { name, known } if known.is_empty() => write!(out, "there is no property `{name}`: the model has none"),
            RunError::UnknownProperty { name, known } => {
                write!(out, "there is no property `{name}`; the model has: {}", known.join(", "))
            }
            RunError::TooLittleMemory { least } => {
                write!(out, "the memory budget is too small to begin: this model needs at least {} KiB", least.div_ceil(1024))
            }
            RunError::Unsuited { strategy, needs, store } => write!(out, "`{strategy}` needs {needs}, and `{store}` is not one"),
            RunError::UnknownRule { name, known } => write!(out, "there is no rule `{name}`; the model has: {}", known.join(", ")),
            RunError::Asymmetric { at, message } => {
                write!(out, "{at}: symmetry cannot be used: {message}\n  --symmetry off checks the model without it")
            }
            RunError::BrokenSymmetry => {
                write!(
                    out,
                    "a violation was found up to symmetry, but no run of the model leads there: it tells elements of scalarsets apart; use --symmetry off"
                )
            }
            RunError::NoStartState => write!(out, "the model has no start state, so there is nothing to explore"),
            RunError::Replay(error) => write!(out, "a violation was found but its witness does not replay ({error}): this is a defect of wayfarer"),
        }
    }
}

impl std::error::Error for RunError {}
