//! What a strategy is to the loop: it selects what to expand, says which new states to admit, and learns what became of them.

use crate::{Candidates, Handle, Store, Visit};
use wayfarer_space::{Firing, States, Width, Word};

/// How far a run may go, by the logical clock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Distinct states.
    pub states: u64,
    /// Rules fired.
    pub steps: u64,
    /// Depth: states so deep are found but not expanded.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: u64::MAX, steps: u64::MAX, depth: u32::MAX }
    }
}

/// What is expanded in one round.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Handles of the selected states.
    pub handles: Vec<Handle>,
    /// The states themselves.
    pub states: States,
    /// Only firings from here on are wanted.
    pub from: Firing,
    /// Whether these states are expanded for the first time: only then are their firings counted, and faults and deadlocks looked for.
    pub first: bool,
}

impl Selection {
    /// Nothing selected.
    pub fn new(width: Width) -> Self {
        Selection { handles: Vec::new(), states: States::new(width), from: Firing::of(0), first: true }
    }

    /// Forgets what was selected.
    pub fn clear(&mut self) {
        self.handles.clear();
        self.states.clear();
        self.from = Firing::of(0);
        self.first = true;
    }
}

/// Which new states are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// All of them: the loop need not probe first.
    AllNew,
    /// Those that [`Strategy::admit`] marks.
    Chosen,
}

/// Decides where to look next.
pub trait Strategy {
    /// Selects what to expand; an empty selection says that nothing is left.
    fn select(&mut self, store: &dyn Store, selection: &mut Selection);

    /// How new states are admitted.
    fn admission(&self) -> Admission {
        Admission::AllNew
    }

    /// Marks the candidates to insert, having seen what the store knows of them. Called only for [`Admission::Chosen`].
    fn admit(&mut self, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        let _ = candidates;
        mask.clear();
        mask.extend(visits.iter().map(|visit| matches!(visit, Visit::New(_))));
    }

    /// Learns what became of the candidates. `kept` is how many sources of the selection were dealt with in full; the others were cut off because the
    /// store was full, and belong to the frontier again. Start states come first, with an empty selection.
    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]);

    /// Whether the strategy itself ran out of room, so that states it should have kept are lost.
    fn full(&self) -> bool {
        false
    }

    /// States that a witness to the given state of a selection passes through, that state last: for stores that keep no links. None where the store does.
    fn trail(&self, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let _ = (selection, source);
        None
    }

    /// The depth reached so far.
    fn depth(&self) -> u32;

    /// How many known states wait to be expanded.
    fn frontier(&self) -> u64;

    /// How many states were left unexpanded because of the depth limit.
    fn beyond_depth(&self) -> u64;

    /// Whether running dry means that everything was visited.
    fn exhaustive(&self) -> bool;
}
