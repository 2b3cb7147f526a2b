//! Constructs that tell elements of scalarsets apart, collected while a model is read.
//!
//! The language itself gives no way to order elements, to compute with them or to name one. The exceptions are
//! `clear`, which makes a value the first element, loops that count elements, and loops over a scalarset whose rounds
//! cannot run in any order ([`rounds`](super::rounds)).

use super::Elaborator;
use super::code::Kind;
use crate::source::Span;
use std::collections::{HashMap, HashSet};
use wayfarer_ir::Asymmetry;

/// The asymmetries found so far. A caller is a function, or `None` for rules and properties.
#[derive(Default)]
pub(super) struct Ledger {
    /// Loops over scalarsets, by the positions of their variables, with the types they run over.
    pub(super) loops: HashMap<Span, String>,
    /// Whether a start state is being read. Its effects, and those of functions that only it calls, happen once, and
    /// rules treat its result as they treat all states of its orbit.
    pub(super) starting: bool,
    found: Vec<(Option<usize>, Asymmetry)>,
    calls: HashSet<(Option<usize>, usize)>,
}

impl Elaborator<'_> {
    /// Records that the model tells elements of a scalarset apart, or may do so.
    pub(super) fn asymmetry(&mut self, span: Span, certain: bool, message: impl Into<String>) {
        self.asymmetry_in(self.caller(), span, certain, message.into());
    }

    pub(super) fn asymmetry_in(&mut self, owner: Option<usize>, span: Span, certain: bool, message: String) {
        let found = (owner, Asymmetry { at: self.at(span), certain, message });
        if !self.asymmetries.starting && !self.asymmetries.found.contains(&found) {
            self.asymmetries.found.push(found);
        }
    }

    pub(super) fn note_call(&mut self, function: usize) {
        if !self.asymmetries.starting {
            self.asymmetries.calls.insert((self.caller(), function));
        }
    }

    fn caller(&self) -> Option<usize> {
        match self.code.kind {
            Kind::Function(function, _) => Some(function),
            Kind::Command | Kind::Formula => None,
        }
    }

    /// Keeps the asymmetries of rules and properties, direct or through calls.
    pub(super) fn gather_asymmetries(&mut self) {
        let Ledger { found, calls, .. } = &mut self.asymmetries;
        let mut called = HashSet::from([None]);
        let mut waiting = vec![None];
        while let Some(caller) = waiting.pop() {
            for (_, callee) in calls.iter().filter(|(by, _)| *by == caller) {
                if called.insert(Some(*callee)) {
                    waiting.push(Some(*callee));
                }
            }
        }
        let kept = std::mem::take(found).into_iter().filter(|(by, _)| called.contains(by)).map(|(_, asymmetry)| asymmetry);
        self.program.asymmetries = kept.collect();
        self.program.asymmetries.sort_by_key(|asymmetry| asymmetry.at);
    }
}
