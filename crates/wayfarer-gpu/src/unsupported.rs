//! Reasons why a device cannot run a program.

use std::fmt;

/// Why a program cannot run on a device. The construct is named, so that a person knows what stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// Some states are passed through and not stored.
    Passing,
    /// A state has too many bits.
    Wide {
        /// How many.
        bits: usize,
    },
    /// A state has no bits at all.
    Empty,
    /// It computes with real numbers.
    Reals,
    /// There are too many rules, parameters fixed.
    Rules {
        /// How many.
        rules: u64,
    },
    /// A command or function has too many local variables.
    Frame {
        /// Its name.
        name: String,
        /// Words of its local variables.
        words: u32,
    },
    /// A function calls itself, too deep for a device's stack.
    Recursion,
    /// A scalarset has too many elements for all their permutations to be tried.
    Scalarset {
        /// How many.
        elements: u64,
    },
    /// All scalarsets together have too many permutations.
    Permutations {
        /// How many.
        permutations: u64,
    },
}

impl fmt::Display for Unsupported {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unsupported::Wide { bits } => write!(out, "a state has {bits} bits, and a device takes up to {}", crate::MOST_BITS),
            Unsupported::Empty => write!(out, "the model has no variables"),
            Unsupported::Reals => write!(out, "the model computes with real numbers"),
            Unsupported::Passing => write!(out, "the model has atomic sequences, and only breadth-first search passes through their states there"),
            Unsupported::Rules { rules } => write!(out, "the model has {rules} rules, and a device takes up to {}", crate::MOST_RULES),
            Unsupported::Frame { name, words } => write!(out, "`{name}` has {words} words of local variables"),
            Unsupported::Scalarset { elements } => write!(out, "a scalarset has {elements} elements, and a device permutes up to 6"),
            Unsupported::Permutations { permutations } => {
                write!(out, "the scalarsets have {permutations} permutations, and a device tries up to 4320")
            }
            Unsupported::Recursion => write!(out, "a function of the model calls itself"),
        }
    }
}

impl std::error::Error for Unsupported {}
