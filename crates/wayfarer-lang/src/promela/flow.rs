//! From structured statements to the automaton of a process type: its control states and what leads from one to another.
//!
//! This follows SPIN's own construction step by step (elements, sequences, the search for the next element, escapes, and the copying of options into
//! the state that offers them), because which control states exist decides which states a model has.

mod elements;
mod transitions;

use super::model::{Act, Node};
use crate::source::Span;
use std::sync::Arc;
use wayfarer_ir::At;

/// The automaton of a process type. Control states are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The control state in which a process begins.
    pub start: usize,
    /// The transitions out of each control state, in the order in which SPIN tries them.
    pub states: Vec<ControlState>,
    /// Labels by name, with their control states; none where no process can stand there.
    pub labels: Vec<(Arc<str>, Option<usize>)>,
}

/// A control state.
#[derive(Clone, Debug, Default)]
pub struct ControlState {
    /// The transitions out of it.
    pub transitions: Vec<Transition>,
    /// A process may stay here for ever.
    pub may_end: bool,
}

/// A transition of a process.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The statement that is executed.
    pub act: Act,
    /// The control state it leads to; none if the process ends.
    pub to: Option<usize>,
    /// The process goes on alone after it.
    pub keeps_control: bool,
    /// Which escape it belongs to, or 0: where a transition of one is executable, only those of the same one count, and the first in the list decides.
    pub escape: usize,
}

/// Builds the automaton of a body. Labels that are named from outside are kept apart from jumps.
pub(super) fn build(nodes: Vec<Node>, end: At, remote: &[Arc<str>]) -> Result<Automaton, (Span, String)> {
    let graph = elements::build(nodes, end, remote)?;
    transitions::automaton(&graph)
}
