//! The kinds of things that a report contains, each with its name in text and JSON.

use serde::{Serialize, Serializer};
use std::fmt;
use wayfarer_search::Verdict;
use wayfarer_space::PropertyKind;

/// The kind of a violation or a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A property that must hold in every reachable state.
    Invariant,
    /// A property that must hold in no reachable state.
    Never,
    /// A property that must hold in some reachable state.
    Cover,
    /// A property of infinite runs.
    Liveness,
    /// A claim about whole runs, such as an `ltl` formula of Promela.
    Claim,
    /// A state in which nothing can happen.
    Deadlock,
    /// An assertion that failed.
    Assertion,
    /// An error statement that was reached.
    Error,
    /// A rule that could not finish; as a check, all assertions, error statements and faults together.
    Fault,
    /// A formula from a file of formulas, which is true or false.
    Formula,
    /// A state that was the goal of the search.
    Found,
    /// A rule whose firing was the goal of the search.
    Rule,
}

impl Kind {
    /// All kinds with their names.
    pub const ALL: [(Kind, &'static str); 12] = [
        (Kind::Invariant, "invariant"),
        (Kind::Never, "never"),
        (Kind::Cover, "cover"),
        (Kind::Liveness, "liveness"),
        (Kind::Claim, "claim"),
        (Kind::Deadlock, "deadlock"),
        (Kind::Assertion, "assertion"),
        (Kind::Error, "error"),
        (Kind::Fault, "fault"),
        (Kind::Formula, "formula"),
        (Kind::Found, "found"),
        (Kind::Rule, "rule"),
    ];

    /// The kind of a violation of a property.
    pub(crate) fn of(property: PropertyKind) -> Kind {
        match property {
            PropertyKind::Never => Kind::Never,
            PropertyKind::Reachable => Kind::Cover,
            PropertyKind::Exists | PropertyKind::Forall => Kind::Formula,
            PropertyKind::Always | PropertyKind::Assumption => Kind::Invariant,
        }
    }

    /// The name of a property's kind in reports. Nothing violates an assumption, but it is listed.
    pub(crate) fn word_of(property: PropertyKind) -> &'static str {
        if property == PropertyKind::Assumption { property.word() } else { Kind::of(property).word() }
    }

    /// The name of the kind.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("fault", |(_, word)| word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// The verdict on one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckVerdict {
    /// It was checked, with the same verdicts as the whole run.
    Judged(Verdict),
    /// It was left out, on request or because it cannot be checked yet.
    NotJudged,
}

impl CheckVerdict {
    /// The name of the verdict.
    pub fn word(self) -> &'static str {
        match self {
            CheckVerdict::Judged(verdict) => verdict.word(),
            CheckVerdict::NotJudged => "not-judged",
        }
    }

    /// Whether it was proved.
    pub fn holds(self) -> bool {
        self == CheckVerdict::Judged(Verdict::Holds)
    }

    /// Whether it is violated.
    pub fn is_violated(self) -> bool {
        self == CheckVerdict::Judged(Verdict::Violated)
    }

    /// Whether it is neither proved nor violated.
    pub fn is_open(self) -> bool {
        self == CheckVerdict::Judged(Verdict::NotFound)
    }
}

impl Serialize for CheckVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// The answer to a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is true.
    True,
    /// It is false.
    False,
    /// The run ended before the answer was known.
    Open,
}

impl Answer {
    /// The name of the answer.
    pub fn word(self) -> &'static str {
        match self {
            Answer::True => "true",
            Answer::False => "false",
            Answer::Open => "open",
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
