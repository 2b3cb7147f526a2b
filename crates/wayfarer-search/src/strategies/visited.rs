//! The part that uniform and deep random search share: V with its capacity, closed states, restarts, and the steps drawn in a round.
//!
//! V itself is the store. A search says where it draws its sources from and which of the successors it picks.

use super::classes::{Classes, Close, is_closed};
use super::depths::Depths;
use super::drawing::{Choice, of_source};
use super::renewal::Renewal;
use super::walk::choice;
use crate::{Admission, Candidates, Figures, Ground, Handle, Replacement, Selection, Stepping, Store, Visit};
use std::ops::Range;
use wayfarer_space::{Rng, Steps, Word};
use wayfarer_store::spec::Given;

/// Picks one of the steps out of a source.
pub(super) type Pick = fn(Choice, &Steps, Range<usize>, &mut Rng, &mut Vec<u32>) -> Option<usize>;

/// V, and the state of a search over it.
#[derive(Clone, Debug)]
pub(super) struct Visited {
    pub(super) capacity: u64,
    pub(super) close: Close,
    /// The states to choose from, if V itself is not enough.
    pub(super) classes: Option<Classes>,
    /// How to go on when V is full.
    pub(super) renewal: Option<Renewal>,
    pub(super) depths: Depths,
    pub(super) rng: Rng,
    pub(super) steps: u64,
    choice: Choice,
    closed: u64,
    /// The step drawn from each source in this round, and whether it leaves the source without unvisited successors.
    drawn: Vec<(Option<usize>, bool)>,
    scratch: Vec<u32>,
    /// The pieces in which start states came: it starts anew in one of them.
    pieces: u64,
}

impl Visited {
    /// Uniform over the set of successors, until V holds `capacity` states.
    pub(super) fn new(capacity: u64, rng: Rng) -> Self {
        Visited {
            capacity,
            close: Close::Off,
            classes: None,
            renewal: None,
            depths: Depths::default(),
            rng,
            steps: 0,
            choice: Choice::States,
            closed: 0,
            drawn: Vec::new(),
            scratch: Vec::new(),
            pieces: 0,
        }
    }

    /// As the parameters say. With `classes` there are classes even if no state is closed.
    pub(super) fn given(given: &Given, rng: Rng, renewal: Option<Renewal>, classes: bool) -> Self {
        let close = Close::given(given);
        // A pool that replaces is never full for its owner, and a state it forgets can no longer be chosen.
        let replaces = given.text("replace").and_then(Replacement::named).is_some();
        let capacity = if replaces { u64::MAX } else { given.number("capacity").unwrap_or(u64::MAX) };
        let classes = (close != Close::Off || classes).then(Classes::default);
        Visited { close, classes, renewal, choice: choice(given), ..Visited::new(capacity, rng) }
    }

    /// Whether sources must be expanded in full.
    pub(super) fn expands(&self) -> bool {
        self.choice == Choice::States || self.close != Close::Off
    }

    /// Whether nothing is left to choose from, although V may hold states.
    pub(super) fn is_spent(&self) -> bool {
        self.classes.as_ref().is_some_and(|classes| classes.len() == 0)
    }

    /// Called before sources are drawn: forgets closed states, and starts anew if V is full or spent. Says whether it did; then the selection is made.
    pub(super) fn starts_anew(&mut self, store: &dyn Store, selection: &mut Selection) -> bool {
        if let Some(classes) = &mut self.classes {
            classes.forgotten.drain(..).for_each(|handle| {
                store.forget(handle);
            });
        }
        let spent = self.is_spent();
        let Some(renewal) = &mut self.renewal else { return false };
        let partial = renewal.begins_at_visited() || self.close == Close::Delete || renewal.times() > 0 && self.pieces > 1;
        if store.len() >= self.capacity || spent && partial {
            renewal.ask();
        }
        let anew = renewal.select(store, &mut self.rng, selection);
        if anew {
            self.depths.begin(renewal.depth());
            if let Some(classes) = &mut self.classes {
                *classes = Classes::default();
            }
        }
        anew
    }

    /// The steps to make out of the sources.
    pub(super) fn stepping(&self) -> Stepping {
        if self.expands() { Stepping::All } else { Stepping::One }
    }

    /// Called when the sources are selected.
    pub(super) fn selected(&mut self, selection: &mut Selection) {
        if !self.expands() {
            selection.draws.push(self.rng.split(self.steps));
        }
    }

    /// As [`Strategy::give`](crate::Strategy::give).
    pub(super) fn give(&self, steps: &mut Steps) {
        if let Some(renewal) = &self.renewal {
            renewal.give(steps);
        }
    }

    /// As [`Strategy::admission`](crate::Strategy::admission).
    pub(super) fn admission(&self) -> Admission {
        match (self.expands(), self.close) {
            (false, _) => Admission::AllNew,
            (true, Close::Off) => Admission::Drawn,
            (true, _) => Admission::Chosen,
        }
    }

    /// Marks one step out of each source, which `pick` draws, and notes whether it closes the source.
    pub(super) fn admit(&mut self, pick: Pick, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        mask.resize(steps.len(), candidates.sources.is_empty());
        self.drawn.clear();
        let mut from = 0;
        for source in 0..selection.handles.len() {
            let range = of_source(steps, from, source);
            from = range.end;
            let drawn = pick(self.choice, steps, range.clone(), &mut self.rng, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            let closed = self.close != Close::Off && is_closed(steps, range, visits, drawn, &mut self.scratch);
            self.drawn.push((drawn, closed));
        }
    }

    /// Learns what became of a round: the start states, or `kept` sources. Says whether there are steps to learn from.
    pub(super) fn learns(&mut self, selection: &Selection, kept: usize, visits: &[Visit]) -> bool {
        if selection.handles.is_empty() {
            self.pieces += u64::from(selection.stepping != Stepping::Start);
            self.depths.start(visits);
            if let Some(classes) = &mut self.classes {
                classes.start(visits);
            }
            return false;
        }
        self.steps += kept as u64;
        self.depths.note_sources(&selection.handles[..kept]);
        true
    }

    /// The step that was drawn from a source that was expanded in full.
    pub(super) fn drawn(&self, source: usize) -> Option<usize> {
        self.drawn[source].0
    }

    /// Keeps the classes up to date with the step out of a source, and closes the source if no unvisited successor is left. `inner` says whether a source
    /// from which a new state was reached is kept apart from the leaves.
    pub(super) fn learn(&mut self, at: Handle, source: usize, visit: Option<Visit>, inner: bool) {
        let Some(classes) = &mut self.classes else { return };
        if let Some(Visit::New(handle)) = visit {
            classes.enter(handle);
            if inner {
                classes.becomes_inner(at);
            }
        }
        // If there was no room for the drawn state, it was not visited.
        if self.close != Close::Off && self.drawn.get(source).is_some_and(|drawn| drawn.1) && visit != Some(Visit::Full) {
            self.closed += u64::from(classes.leave(at));
            if self.close == Close::Delete {
                classes.forgotten.push(at);
            }
        }
    }

    /// As [`Strategy::answers_full`](crate::Strategy::answers_full).
    pub(super) fn answers_full(&mut self) -> bool {
        self.renewal.as_mut().is_some_and(|renewal| renewal.ask())
    }

    /// As [`Strategy::trail`](crate::Strategy::trail).
    pub(super) fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.renewal.as_ref()?.trail(ground, selection.handles[source])
    }

    /// The figures so far, with those of restarts.
    pub(super) fn restarts(&self, figures: Figures) -> Figures {
        match &self.renewal {
            Some(renewal) => figures.sum("restarts", renewal.times() as f64),
            None => figures,
        }
    }

    /// The figures so far, with those of closed states.
    pub(super) fn closed(&self, figures: Figures) -> Figures {
        if self.close == Close::Off { figures } else { figures.sum("closed states", self.closed as f64) }
    }

    /// The states that can be chosen, if they are counted apart from V.
    pub(super) fn frontier(&self) -> u64 {
        self.classes.as_ref().map_or(0, Classes::len)
    }

    /// Whether an empty choice means that everything was visited.
    pub(super) fn exhaustive(&self) -> bool {
        // If it started anew from a visited state, or from some of the start states, an empty choice says nothing of what these do not lead to.
        let anew = |renewal: &Renewal| renewal.begins_at_visited() || renewal.times() > 0 && self.pieces > 1;
        self.close == Close::On && !self.renewal.as_ref().is_some_and(anew)
    }
}
