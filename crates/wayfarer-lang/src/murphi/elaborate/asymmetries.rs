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

/// The owner of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    Function(usize),
    /// The command of the rule family of this number.
    Command(usize),
    /// A guard or a property.
    Formula,
}

/// The asymmetries found so far.
#[derive(Default)]
pub(super) struct Ledger {
    /// Loops over scalarsets, by the positions of their variables, with the types they run over and their scalarsets.
    pub(super) loops: HashMap<Span, (String, Vec<u32>)>,
    /// Whether a start state is being read. Its effects, and those of functions that only it calls, happen once, and
    /// rules treat its result as they treat all states of its orbit.
    pub(super) starting: bool,
    found: Vec<(Owner, Asymmetry)>,
    calls: HashSet<(Owner, usize)>,
}

impl Elaborator<'_> {
    /// Records that the model tells elements of a scalarset apart, or may do so.
    pub(super) fn asymmetry(&mut self, span: Span, certain: bool, message: impl Into<String>) {
        self.asymmetry_in(self.owner(), span, certain, message.into(), Vec::new());
    }

    pub(super) fn asymmetry_in(&mut self, owner: Owner, span: Span, certain: bool, message: String, sets: Vec<u32>) {
        let found = (owner, Asymmetry { at: self.at(span), certain, message, commands: None, sets });
        if !self.asymmetries.starting && !self.asymmetries.found.contains(&found) {
            self.asymmetries.found.push(found);
        }
    }

    pub(super) fn note_call(&mut self, function: usize) {
        if !self.asymmetries.starting {
            let owner = self.owner();
            self.asymmetries.calls.insert((owner, function));
        }
    }

    fn owner(&self) -> Owner {
        match self.code.kind {
            Kind::Function(function, _) => Owner::Function(function),
            Kind::Command => self.command_owner(),
            Kind::Formula => Owner::Formula,
        }
    }

    /// The rule family whose command is being read.
    pub(super) fn command_owner(&self) -> Owner {
        Owner::Command(self.program.rules.len())
    }

    /// Keeps the asymmetries of rules and properties, direct or through calls, each with the rules whose commands come there.
    pub(super) fn gather_asymmetries(&mut self) {
        let Ledger { found, calls, .. } = &mut self.asymmetries;
        let mut kept = Vec::new();
        for (owner, mut asymmetry) in std::mem::take(found) {
            let mut reached = HashSet::from([owner]);
            let mut waiting = vec![owner];
            while let Some(callee) = waiting.pop() {
                for (caller, _) in calls.iter().filter(|(_, function)| Owner::Function(*function) == callee) {
                    if reached.insert(*caller) {
                        waiting.push(*caller);
                    }
                }
            }
            let commands = reached.iter().filter_map(|owner| if let Owner::Command(family) = owner { Some(*family as u32) } else { None });
            let mut commands: Vec<u32> = commands.collect();
            commands.sort_unstable();
            let formula = reached.contains(&Owner::Formula);
            if formula || !commands.is_empty() {
                asymmetry.commands = (!formula).then_some(commands);
                kept.push(asymmetry);
            }
        }
        self.program.asymmetries = kept;
        self.program.asymmetries.sort_by_key(|asymmetry| asymmetry.at);
    }
}
