//! The reasons why a computation gives no result.

use std::fmt;

/// The reason why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum TheoryError {
    /// The graph has no start node. The caller's graph is at fault.
    NoStart,
    /// A parameter is out of range. The caller's fault; the text says what would be right.
    Parameter(String),
    /// The method would need more memory than was allowed. Nobody's fault: allow more, or simulate.
    TooLarge {
        /// Bytes needed, or already needed when the computation gave up.
        bytes: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// The graph has more nodes than the method can number.
    TooManyNodes {
        /// Nodes of the graph.
        nodes: u64,
        /// The most nodes it can handle.
        most: u64,
    },
    /// The watch asked to stop.
    Interrupted,
}

impl fmt::Display for TheoryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TheoryError::NoStart => write!(out, "the graph has no start node"),
            TheoryError::Parameter(what) => write!(out, "{what}"),
            TheoryError::TooLarge { bytes, allowed } => write!(out, "needs at least {bytes} bytes where {allowed} are allowed"),
            TheoryError::TooManyNodes { nodes, most } => write!(out, "{nodes} nodes where at most {most} can be handled"),
            TheoryError::Interrupted => write!(out, "interrupted"),
        }
    }
}

impl std::error::Error for TheoryError {}
