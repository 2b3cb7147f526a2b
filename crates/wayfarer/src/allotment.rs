//! The parts of a run that would share a budget, computed without running anything.

use crate::memory::Budget;
use crate::subject::Subject;
use crate::{Plan, stores};
use wayfarer_search::{Account, Crewing, Record, Room};

/// A part of a run and the memory it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// The part's name.
    pub part: &'static str,
    /// Its size in bytes: exact, or an upper bound.
    pub bytes: usize,
    /// A description of its use.
    pub how: String,
}

impl Plan {
    /// The parts that would share the budget in a run of this plan.
    pub fn allotments(&self, subject: &dyn Subject, budget: &Budget) -> Vec<Allotment> {
        let replaying = subject.replaying(self);
        let space = replaying.space();
        let packing = space.packing();
        let store = stores::settled(self, packing, budget, 1);
        let record = Record::suiting(budget.limit(), packing);
        let limit = budget.limit();
        let mut parts = vec![Allotment { part: "already in use", bytes: budget.used(), how: "the process and the model as it was read".to_string() }];
        if let Some(code) = subject.most_code(self, limit) {
            parts.push(Allotment { part: "machine code", bytes: code, how: "at most; rules beyond it are interpreted".to_string() });
        }
        parts.push(Allotment {
            part: "reserve",
            bytes: budget.reserve(),
            how: "kept free for what grows inside a round, and for the witness".to_string(),
        });
        let room = Room { most: budget.free(), ..stores::room(self, packing, budget, 1) };
        let (bytes, how) = match self.strategy.nature().crewing {
            Crewing::Phases => {
                let how = "at most: every state while there is room, then fingerprints of them beside the frontier; some percent for random searches beside";
                (budget.free(), how.to_string())
            }
            _ => store.takes(&room),
        };
        parts.push(Allotment { part: "store", bytes, how: format!("{store}: {how}") });
        if !store.abilities().exact {
            let bytes = Record::bytes_for(record, packing);
            parts.push(Allotment { part: "record", bytes, how: format!("at most: {record} whole states, from which distinct states are estimated") });
            parts.push(Allotment { part: "frontier", bytes: budget.free().saturating_sub(bytes), how: "at most: what is left".to_string() });
        }
        parts
    }
}
