//! The two algorithms of the Abed, Tripakis and Vincent papers, whose laws this crate computes, and the one
//! choice they leave open.
//!
//! Both start with V = the start states and take one *step* per turn of their loop, whether or not it finds
//! anything. Successors are a set: a successor that several firings lead to is drawn no more often than
//! another.

use std::fmt;
use std::str::FromStr;

/// A randomised exploration whose law is known exactly. With a capacity it is re-initialised when V is full,
/// and is then called RURS or RSDRS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Uniform random search. A step draws a node of V, then one of its successors, and adds it to V; drawing a deadlock costs the step.
    Urs,
    /// Simplified deep random search. A step goes from the current node to one of its successors and adds it to V; in a deadlock it jumps
    /// to a node drawn from V instead, which costs a step.
    Sdrs,
}

impl Algorithm {
    /// Both, in the order in which they are printed.
    pub const ALL: [Algorithm; 2] = [Algorithm::Urs, Algorithm::Sdrs];

    /// The name on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Algorithm::Urs => "urs",
            Algorithm::Sdrs => "sdrs",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.word() == text)
            .ok_or_else(|| format!("no exact theory for '{text}'; there is one for urs and for sdrs"))
    }
}

/// The behaviour of SDRS in a node whose only successor is itself. URS does not distinguish: the step is lost
/// either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelfLoops {
    /// It jumps, as in a deadlock. This departs from the papers; Wayfarer's own strategy does the same.
    #[default]
    Reset,
    /// It stays for ever, as printed: the cover time is then infinite.
    Absorb,
}
