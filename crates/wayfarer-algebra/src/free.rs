//! The free variables of processes.

use crate::code::free;
use crate::specification::{Process, ProcessKind, VariableId};

/// All variables that occur in a process and are not bound in it.
pub(crate) fn free_in(process: &Process, out: &mut Vec<VariableId>) {
    match &process.kind {
        ProcessKind::Delta => {}
        ProcessKind::Actions(actions) => actions.iter().flat_map(|(_, terms)| terms).for_each(|term| free(term, out)),
        ProcessKind::Call(_, terms) => terms.iter().for_each(|term| free(term, out)),
        ProcessKind::Choice(list) | ProcessKind::Sequence(list) | ProcessKind::Parallel(list) => {
            list.iter().for_each(|process| free_in(process, out))
        }
        ProcessKind::Sum(variables, body) => {
            let mut inner = Vec::new();
            free_in(body, &mut inner);
            out.extend(inner.into_iter().filter(|variable| !variables.contains(variable)));
        }
        ProcessKind::If(condition, then, other) => {
            free(condition, out);
            free_in(then, out);
            free_in(other, out);
        }
        ProcessKind::Block(_, body) | ProcessKind::Hide(_, body) | ProcessKind::Allow(_, body) => free_in(body, out),
        ProcessKind::Rename(_, body) | ProcessKind::Communicate(_, body) => free_in(body, out),
    }
}
