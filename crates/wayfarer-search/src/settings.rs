//! The goal of a search and its limits: everything that a caller decides about a run besides its parts.

use crate::{Ending, Limits};
use std::fmt;
use std::str::FromStr;
use wayfarer_space::{Firing, PropertyBits, Space, States, Steps, Word};

/// When a state counts as a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deadlock {
    /// Never.
    Off,
    /// When no rule is enabled.
    Stuck,
    /// When no rule leads to another state.
    #[default]
    Stuttering,
}

impl Deadlock {
    /// All rules with their names.
    pub const ALL: [(Deadlock, &'static str); 3] = [(Deadlock::Off, "off"), (Deadlock::Stuck, "stuck"), (Deadlock::Stuttering, "stuttering")];

    /// Whether a state is a deadlock, by all its steps.
    pub fn is_at(self, space: &dyn Space, state: &[Word]) -> bool {
        let mut batch = States::new(space.width());
        batch.push(state);
        let mut steps = Steps::new(space.width());
        space.expand(&batch, Firing::of(0), &mut steps);
        self.shows_in(&steps) && !space.may_end(state)
    }

    /// Whether a state with these steps is a deadlock, unless it may end. A fault, and a state that an assumption excludes, are elsewhere.
    pub(crate) fn shows_in(self, steps: &Steps) -> bool {
        match self {
            Deadlock::Off => false,
            Deadlock::Stuck => steps.enabled.iter().all(|enabled| *enabled == 0),
            Deadlock::Stuttering => steps.changed.iter().all(|changed| *changed == 0) && steps.faults.is_empty() && steps.discarded == 0,
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(Self::ALL.iter().find(|(rule, _)| rule == self).map_or("off", |(_, name)| name))
    }
}

impl FromStr for Deadlock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text).map(|(rule, _)| *rule);
        found.ok_or_else(|| format!("`{text}` is not a rule for deadlocks; it is off, stuck or stuttering"))
    }
}

/// The violation that a witness must show while a shorter witness is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// How the witness ends.
    pub ending: Ending,
    /// Whether a fault at the same place counts whichever rule comes there.
    pub any_rule: bool,
}

/// The goal of a run, and its limits in counts rather than in time.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How far.
    pub limits: Limits,
    /// When a state counts as a deadlock.
    pub deadlock: Deadlock,
    /// After how many violations to stop; at least one.
    pub max_errors: usize,
    /// Whether of violations that are wrong in the same way only the first is kept.
    pub each_once: bool,
    /// The properties to judge; `None` means all of them.
    pub properties: Option<PropertyBits>,
    /// The goal of the search, if it is not a violation.
    pub sought: Option<Sought>,
    /// The only violation that counts. Set while its witness is being shortened.
    pub aim: Option<Aim>,
    /// How many states the record may hold over a store that is not exact; 0 keeps none.
    pub record: usize,
    /// Whether to keep a record over an exact store too. Needed if several workers with stores of their own may visit the same states.
    pub record_always: bool,
    /// Whether to count how often each state is visited.
    pub profile: bool,
    /// Whether to end at the first limit of representation, because the caller can widen it and start again.
    pub end_at_limit: bool,
}

/// States and firings that are looked for.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    /// Properties that ask to be reached.
    pub properties: PropertyBits,
    /// Rules, parameters fixed.
    pub rules: PropertyBits,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limits: Limits::default(),
            deadlock: Deadlock::default(),
            max_errors: 1,
            each_once: false,
            properties: None,
            sought: None,
            aim: None,
            record: 1 << 12,
            record_always: false,
            profile: false,
            end_at_limit: false,
        }
    }
}
