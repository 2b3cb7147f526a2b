//! The reasons why a run could not be carried out.

use std::fmt;
use wayfarer_model::Misuse;
use wayfarer_search::WitnessError;

/// The reason why a run could not be carried out.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// There is no reachability property of this name.
    NothingToFind {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A property of this name does not exist.
    UnknownProperty {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A rule of this name does not exist.
    UnknownRule {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The memory budget is too small to start.
    TooLittleMemory {
        /// The smallest budget that works, in bytes.
        least: usize,
    },
    /// The strategy does not work with the store.
    Unsuited {
        /// The strategy's name.
        strategy: &'static str,
        /// The store it needs instead.
        needs: String,
        /// The store, as requested.
        store: String,
    },
    /// The store needs states of a fixed width, and the model's states vary in width.
    NeedsFixedWidth {
        /// The store, as requested.
        store: String,
    },
    /// Symmetry was requested, but the model tells elements of a scalarset apart.
    Asymmetric {
        /// `file:line:column`.
        at: String,
        /// The reason.
        message: String,
    },
    /// A witness up to symmetry has no counterpart in the model, which the user declared to be symmetric.
    BrokenSymmetry,
    /// A witness among representatives has no counterpart in a Rust model: the function returned by its `symmetry`
    /// does not respect the symmetry.
    NotSymmetric,
    /// A violation of a Rust model cannot be reproduced.
    NotRepeated(WitnessError),
    /// A Rust model breaks the rules for models.
    Misuse(Misuse),
    /// An option of a plan has an invalid value.
    Wrong {
        /// The option.
        option: &'static str,
        /// A message that says what would be right.
        message: String,
    },
    /// A requested file cannot be written.
    Write {
        /// The file.
        file: String,
        /// The reason.
        message: String,
    },
    /// The run was to take place on a GPU, and cannot.
    Device {
        /// The reason.
        message: String,
    },
    /// The model has no start state.
    NoStartState,
    /// A witness did not replay: a defect of this program, never of the model.
    Replay(WitnessError),
}

/// The message itself, because it is what `fn main() -> Result<(), RunError>` prints.
impl fmt::Debug for RunError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RunError::NothingToFind { name, known } if known.is_empty() => {
                write!(out, "no property that asks to be reached is called `{name}`: the model has none that could be looked for")
            }
            RunError::NothingToFind { name, known } => {
                write!(out, "no property that asks to be reached is called `{name}`; the model has: {}", known.join(", "))
            }
            RunError::UnknownProperty { name, known } if known.is_empty() => write!(out, "there is no property `{name}`: the model has none"),
            RunError::UnknownProperty { name, known } => {
                write!(out, "there is no property `{name}`; the model has: {}", known.join(", "))
            }
            RunError::TooLittleMemory { least } => {
                write!(out, "the memory budget is too small to begin: this model needs at least {} KiB", least.div_ceil(1024))
            }
            RunError::Unsuited { strategy, needs, store } => write!(out, "`{strategy}` needs {needs}, and `{store}` is not one"),
            RunError::NeedsFixedWidth { store } => {
                write!(out, "the store `{store}` needs states of a fixed width: derive Packed for the state, or use another store")
            }
            RunError::UnknownRule { name, known } => write!(out, "there is no rule `{name}`; the model has: {}", known.join(", ")),
            RunError::Asymmetric { at, message } => {
                write!(out, "{at}: symmetry cannot be used: {message}\n  with the option `symmetry` off, the model is checked without it")
            }
            RunError::BrokenSymmetry => {
                write!(
                    out,
                    "a violation was found up to symmetry, but no run of the model leads there: it tells elements of scalarsets apart; turn the option `symmetry` off"
                )
            }
            RunError::NotSymmetric => write!(
                out,
                "a violation was found among representatives, but no run of the model leads there: the function that `symmetry` gives does not respect the \
                 model; symmetry(\"off\") checks without it"
            ),
            RunError::NotRepeated(error) => write!(
                out,
                "a violation was found, but it does not happen again ({error}): the model answers the same question differently from one time to the next; \
                 does it use random numbers, a clock, shared state or the order of a HashMap?"
            ),
            RunError::Misuse(misuse) => write!(out, "{}", misuse_text(misuse)),
            RunError::Wrong { option, message } => write!(out, "{option}: {message}"),
            RunError::Write { file, message } => write!(out, "cannot write `{file}`: {message}"),
            RunError::Device { message } => write!(out, "the search cannot run on the GPU: {message}"),
            RunError::NoStartState => write!(out, "the model has no start state, so there is nothing to explore"),
            RunError::Replay(error) => write!(out, "a violation was found but its witness does not replay ({error}): this is a defect of wayfarer"),
        }
    }
}

impl std::error::Error for RunError {}

fn misuse_text(misuse: &Misuse) -> String {
    match misuse {
        Misuse::NotDeterministic { state, action, differs } => format!(
            "`next` is not deterministic: in the state {state} the action {action} led to two different states ({differs}); does it use random numbers, a clock or \
             shared state?"
        ),
        Misuse::OtherActions { state } => format!(
            "`actions` is not deterministic: asked twice in the state {state} it gave different actions, or the same in another order; does it walk through a \
             HashMap or HashSet?"
        ),
        Misuse::Unordered { field } => format!(
            "the state's field `{field}` is written in another order each time, so that equal states look different; use BTreeMap or BTreeSet in place of HashMap \
             or HashSet"
        ),
        Misuse::Unreadable { message } => message.clone(),
        Misuse::NotWhole { state, differs } => format!(
            "a state that was just made answers otherwise than when it is read back ({differs}), shown as {state}: part of it is not written; is a field left out by \
             serde's skip?"
        ),
        Misuse::Representative { message, at } => format!("the function that `symmetry` gives panics at {at}: {message}"),
        Misuse::NotRestored { field } => format!(
            "the state does not come back from its encoding: its field `{field}` is not what it was; is it left out or changed by a serde attribute such as skip, \
             default or with?"
        ),
    }
}
