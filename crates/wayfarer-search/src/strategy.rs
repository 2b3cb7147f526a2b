//! The interface between a strategy and the loop: it selects states to expand, says which new states to admit, and learns the results.

use crate::{Candidates, Figures, Handle, Stop, Store, Visit};
use wayfarer_space::{Firing, Rng, Space, States, Steps, Width, Word};

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

/// The steps to make out of the selected states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stepping {
    /// All steps out of each: their firings are counted, and faults and deadlocks looked for.
    #[default]
    All,
    /// All steps once more, for a strategy that comes back to a state: nothing is counted again.
    Again,
    /// One step out of each, drawn from those enabled.
    One,
    /// Nothing is selected: the start states come in once more.
    Start,
    /// Nothing is expanded: [`Strategy::give`] brings the candidates, and the selection holds the states they came from.
    Given,
}

/// The states to expand in one round.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Handles of the selected states.
    pub handles: Vec<Handle>,
    /// The states themselves.
    pub states: States,
    /// The rule by which each of them was first reached, if the strategy [notes](Strategy::note_arrivals) it; else empty.
    pub arrivals: Vec<u32>,
    /// Only firings from here on are wanted.
    pub from: Firing,
    /// The steps to make out of them.
    pub stepping: Stepping,
    /// For [`Stepping::One`]: a stream for each state, or one for all. They come back moved on. For [`Stepping::Start`]: a stream by which some start states are
    /// drawn if there are many.
    pub draws: Vec<Rng>,
}

impl Selection {
    /// Nothing selected.
    pub fn new(width: Width) -> Self {
        Selection {
            handles: Vec::new(),
            states: States::new(width),
            arrivals: Vec::new(),
            from: Firing::of(0),
            stepping: Stepping::All,
            draws: Vec::new(),
        }
    }

    /// Forgets what was selected.
    pub fn clear(&mut self) {
        self.handles.clear();
        self.states.clear();
        self.arrivals.clear();
        self.from = Firing::of(0);
        self.stepping = Stepping::All;
        self.draws.clear();
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty() && !matches!(self.stepping, Stepping::Start | Stepping::Given)
    }
}

/// Which new states are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// All of them: the loop need not probe first.
    AllNew,
    /// Those that [`Strategy::admit`] marks, having seen what the store knows.
    Chosen,
    /// Those that [`Strategy::admit`] marks without asking the store first.
    Drawn,
}

/// The result of a meeting of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Nothing is left for anyone.
    Over,
    /// There is more to select.
    On,
    /// The run ends.
    Stop(Stop),
}

/// Figures of a strategy's own, for the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Named figures.
    pub figures: Figures,
    /// The figures of randomised breadth-first search after each visit, worker by worker.
    pub visits: Vec<VisitFigures>,
}

impl Details {
    /// The name of the figure that says how likely a state was omitted.
    pub(crate) const OMISSION: &'static str = "one-step omission probability (samples)";

    /// Details that are figures alone.
    pub(crate) fn of(figures: Figures) -> Self {
        Details { figures, visits: Vec::new() }
    }

    /// The greatest one-step omission probability of any worker, if the strategy computes it and all workers know it.
    pub fn omission_probability(&self) -> Option<f64> {
        self.figures.get(Details::OMISSION)
    }

    /// Takes in the details of another worker. Its visits stay its own.
    pub(crate) fn absorb(&mut self, other: Details) {
        self.figures.absorb(other.figures);
        let worker = self.visits.last().map_or(0, |last| last.worker + 1);
        self.visits.extend(other.visits.into_iter().map(|visit| VisitFigures { worker: worker + visit.worker, ..visit }));
    }
}

/// The figures of randomised breadth-first search after a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VisitFigures {
    /// The worker that made it, from 0 on.
    pub worker: u32,
    /// The greatest one-step omission probability among the samples. Without samples: 0 if nothing could have been lost, else unknown.
    pub pom1s: Option<f64>,
    /// How many states were inserted so far, those included that came back.
    pub insertions: u64,
    /// How many samples there are.
    pub samples: u64,
    /// The share of insertions that overwrote another state.
    pub collision_rate: f64,
    /// How many levels the visit had.
    pub levels: u32,
    /// Rules fired so far.
    pub fired: u64,
}

/// Chooses the states to explore next.
pub trait Strategy: Position + Send {
    /// Selects what to expand; an empty selection says that nothing is left.
    fn select(&mut self, store: &dyn Store, selection: &mut Selection);

    /// Brings candidates of the strategy's own, for [`Stepping::Given`]; a candidate's source is its place in the selection.
    fn give(&mut self, selection: &Selection, steps: &mut Steps) {
        let _ = (selection, steps);
    }

    /// How new states are admitted.
    fn admission(&self) -> Admission {
        Admission::AllNew
    }

    /// Asks the strategy to note by which rule it first reaches each state. One that does expands all states that it reaches.
    fn note_arrivals(&mut self) {}

    /// How many rounds may ever be expanded ahead of the one that is dealt with: more than none only if a selection need not know what the last rounds found.
    fn lag(&self) -> usize {
        0
    }

    /// How many may be now: fewer if their steps would take too much memory.
    fn ahead(&self) -> usize {
        self.lag()
    }

    /// Whether every successor counts as looked at, also one that is not admitted.
    fn considers(&self) -> bool {
        false
    }

    /// Marks the candidates to insert. Not called for [`Admission::AllNew`]; `visits` is empty for [`Admission::Drawn`].
    fn admit(&mut self, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        let _ = (selection, candidates);
        mask.clear();
        mask.extend(visits.iter().map(|visit| matches!(visit, Visit::New(_))));
    }

    /// Learns what became of the candidates. `kept` is how many sources of the selection were dealt with in full; the others were cut off because the
    /// store was full, and belong to the frontier again. Start states come first, with an empty selection.
    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]);

    /// Called when the store is full. Returns true if the strategy can go on, for instance by starting anew.
    fn answers_full(&mut self) -> bool {
        false
    }

    /// States on the way of a witness to the given state of a selection, that state last. Needed if the store's links do not lead to a start state.
    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let _ = (ground, selection, source);
        None
    }

    /// Whether nothing is half done. A search that goes by levels stops for enough violations only between levels.
    fn at_border(&self) -> bool {
        true
    }

    /// Called if nothing is left to select and no round is under way. If other workers may still bring states, waits
    /// for them; `ask` is called meanwhile and may end the run. `found` is the number of violations that this worker
    /// holds.
    fn meet(&mut self, found: usize, ask: &mut dyn FnMut() -> Option<Stop>) -> Meeting {
        let _ = (found, ask);
        Meeting::Over
    }
}

/// The position of a strategy, for the loop, the progress line and the report.
pub trait Position {
    /// Whether the strategy itself ran out of room, so that states it should have kept are lost.
    fn full(&self) -> bool {
        false
    }

    /// The level that is being expanded, if the search goes by levels.
    fn level(&self) -> Option<u32> {
        None
    }

    /// Steps taken, if that is not the number of rules fired. A random choice is one step, however many successors were looked at to make it.
    fn steps(&self) -> Option<u64> {
        None
    }

    /// Why there was nothing left to select, if that does not mean that the frontier ran dry.
    fn ended(&self) -> Option<Stop> {
        None
    }

    /// Figures of the strategy's own.
    fn details(&self) -> Details {
        Details::default()
    }

    /// The depth reached so far; none if the strategy does not count it.
    fn depth(&self) -> Option<u32>;

    /// How many known states wait to be expanded.
    fn frontier(&self) -> u64;

    /// How many states were left unexpanded because of the depth limit.
    fn beyond_depth(&self) -> u64 {
        0
    }

    /// Whether running dry means that everything was visited.
    fn exhaustive(&self) -> bool;
}

/// The space and store in which a trail is found.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The space.
    pub space: &'a dyn Space,
    /// The store.
    pub store: &'a dyn Store,
}
