//! Uniform Random Search: draws a uniform state of V and a uniform successor of it, which goes into V. Also its
//! re-initialised form (Abed, Tripakis, Vincent 2008: URS, RURS).
//!
//! V is the store. `mix=x` chooses with probability x among the leaves of the exploration tree (states from which no
//! state of V was first reached) and else among its inner states. If one class is empty, the other is used. `mix=auto`
//! moves x towards the class that recently gave more new states. `close=on` takes a state out of the choice once all
//! its successors were visited, while V still knows it, so that an empty choice over an exact store means that
//! everything was visited. `close=delete` takes it out of V as well, as the paper's implementation did, and may meet it
//! again.
//!
//! `rurs` starts anew when V is full: from the start states, or from a random state of the last V. It also starts anew if
//! nothing is left to choose from, unless that means that everything was visited; if V itself is empty, because its states
//! were deleted, it begins at the start states. With `replace` V is never emptied: a new state takes the place of another.
//!
//! Departures: start states are checked too. The loop ends at |V| = capacity and not beyond. `batch` states are drawn
//! before any of their successors enters V (1 is the paper's algorithm). With `choice=firings` successors are weighted
//! by the number of firings that lead to them.

use super::classes::{CLOSE, Classes, Close, closing, exact_or_pool, is_closed};
use super::depths::Depths;
use super::walk::choice;
use super::{Nature, Need, OnDevice, Row};
use crate::strategies::drawing::{Choice, of_source, pick};
use crate::strategies::renewal::Renewal;
use crate::{
    Admission, Candidates, Details, Figures, Ground, Handle, PoolStore, Position, Replacement, Selection, Stepping, Stop, Store, StoreSpec, Strategy,
    Visit,
};
use std::ops::Range;
use wayfarer_space::{Rng, Steps, Word};
use wayfarer_store::spec::{Accepts, Entry, Given, Parameter};

pub(super) const CAPACITY: Parameter = Parameter::open("capacity", Accepts::Number(1..=1 << 30), "as many as fit", "the most states in V");
const MIX: Parameter =
    Parameter::open("mix", Accepts::RealOr(0.0, 1.0, "auto"), "uniform", "the share of choices among leaves of the exploration tree");
pub(super) const CHOICE: Parameter =
    Parameter::new("choice", Accepts::OneOf(&["firings", "states"]), "firings", "whether steps or successor states are equally likely");
const BATCH: Parameter = Parameter::new("batch", Accepts::Number(1..=1024), "32", "states that are drawn together; 1 is the paper's algorithm");

pub(super) const FROM: Parameter =
    Parameter::new("from", Accepts::OneOf(&["initial", "visited"]), "initial", "where it starts anew: from the start states or from a visited one");
pub(super) const REPLACE: Parameter = Parameter::new(
    "replace",
    Accepts::OneOf(&["none", "random", "fifo", "lru", "lfu"]),
    "none",
    "which state of V a new one replaces; with none, it starts anew",
);

pub(super) static ROW: Row = Row {
    entry: Entry { name: "urs", help: "a random successor of a random visited state", parameters: &[CAPACITY, MIX, CLOSE, CHOICE, BATCH] },
    store: exact_or_pool,
    nature: |given| Nature {
        device: on_device(given, false),
        ..closing(given, if given.is("close", "delete") { Need::Emptying } else { Need::Recall })
    },
    build: |given, site| Box::new(Urs::given(given, site.seed, None)),
};

pub(super) static REINITIALISED: Row = Row {
    entry: Entry {
        name: "rurs",
        help: "urs that starts anew when memory is full",
        parameters: &[CAPACITY, FROM, REPLACE, MIX, CLOSE, CHOICE, BATCH],
    },
    store: pool,
    nature: |given| Nature { device: on_device(given, true), ..closing(given, Need::Emptying) },
    build: |given, site| Box::new(Urs::given(given, site.seed, Some(Renewal::new(given.is("from", "visited"))))),
};

/// For rows: why lanes with a V of their own cannot carry out what the parameters ask for.
pub(super) fn refused_by_lanes(given: &Given) -> Option<&'static str> {
    let wrong = [
        (given.is("from", "visited"), "searches there start anew in start states: `from=initial`"),
        (given.text("replace").and_then(Replacement::named).is_some(), "states are not replaced there: `replace=none`"),
        (given.text("mix").is_some(), "states of V are drawn uniformly there, without `mix`"),
        (given.text("close").is_some_and(|close| close != "off"), "states are not closed there: `close=off`"),
    ];
    wrong.into_iter().find_map(|(is, why)| is.then_some(why))
}

fn on_device(given: &Given, renews: bool) -> OnDevice {
    refused_by_lanes(given).map_or(OnDevice::Uniform { by_states: choice(given) == Choice::States, renews }, OnDevice::No)
}

/// For rows: the pool that the parameters ask for.
pub(super) fn pool(given: &Given) -> StoreSpec {
    PoolStore::spec(given.number("capacity"), given.text("replace").and_then(Replacement::named))
}

/// Uniform random search.
#[derive(Clone, Debug)]
pub struct Urs {
    capacity: u64,
    choice: Choice,
    batch: usize,
    close: Close,
    mix: Option<Mix>,
    /// The states to choose from, if V itself is not enough.
    classes: Option<Classes>,
    /// How to go on when V is full.
    renewal: Option<Renewal>,
    depths: Depths,
    rng: Rng,
    steps: u64,
    closed: u64,
    /// The step drawn from each source in this round, and whether it leaves the source without unvisited successors.
    drawn: Vec<(Option<usize>, bool)>,
    scratch: Vec<u32>,
}

impl Urs {
    /// The paper's algorithm exactly: one state at a time, uniform over the set of its successors, until V holds `capacity` states.
    pub fn new(capacity: u64, seed: u64) -> Self {
        Urs {
            capacity,
            choice: Choice::States,
            batch: 1,
            close: Close::Off,
            mix: None,
            classes: None,
            renewal: None,
            depths: Depths::default(),
            rng: Rng::new(seed, "urs"),
            steps: 0,
            closed: 0,
            drawn: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The same, which starts anew when V is full: from a visited state, or from the start states.
    pub fn renewed(capacity: u64, from_visited: bool, seed: u64) -> Self {
        Urs { renewal: Some(Renewal::new(from_visited)), ..Urs::new(capacity, seed) }
    }

    fn given(given: &Given, seed: u64, renewal: Option<Renewal>) -> Self {
        let close = Close::given(given);
        let mix = given.text("mix").map(|_| Mix::new(given.real("mix")));
        // A pool that replaces is never full for its owner, and a state it forgets can no longer be chosen.
        let replaces = given.text("replace").and_then(Replacement::named).is_some();
        Urs {
            choice: choice(given),
            batch: given.number("batch").unwrap_or(1) as usize,
            close,
            classes: (close != Close::Off || mix.is_some()).then(Classes::default),
            mix,
            renewal,
            ..Urs::new(if replaces { u64::MAX } else { given.number("capacity").unwrap_or(u64::MAX) }, seed)
        }
    }

    /// Whether sources must be expanded in full.
    fn expands(&self) -> bool {
        self.choice == Choice::States || self.close != Close::Off
    }

    fn draw_source(&mut self, store: &dyn Store) -> Option<Handle> {
        let Some(classes) = &mut self.classes else {
            return (!store.is_empty()).then(|| store.nth(self.rng.below(store.len())));
        };
        let leaves = match &self.mix {
            Some(mix) => self.rng.unit() < mix.leaves,
            // Uniform over both.
            None => self.rng.below(classes.len()) < classes.members[Classes::LEAVES].len() as u64,
        };
        classes.draw(if leaves { Classes::LEAVES } else { Classes::INNER }, &mut self.rng)
    }

    /// Learns the result of a choice: the state reached, if it is new, and whether the source has no unvisited successor left.
    fn learn(&mut self, source: Handle, visit: Option<Visit>, closed: bool) {
        let new = visit.and_then(|visit| if let Visit::New(handle) = visit { Some(handle) } else { None });
        if let Some(mix) = &mut self.mix {
            mix.learn(self.classes.as_ref().is_some_and(|classes| classes.is_leaf(source)), new.is_some());
        }
        let Some(classes) = &mut self.classes else { return };
        if let Some(handle) = new {
            classes.enter(handle);
            classes.becomes_inner(source);
        }
        // If there was no room for the drawn state, it was not visited.
        if closed && self.close != Close::Off && visit != Some(Visit::Full) {
            self.closed += u64::from(classes.leave(source));
            if self.close == Close::Delete {
                classes.forgotten.push(source);
            }
        }
    }

    /// The step that was taken out of a source, with its visit.
    fn taken(&self, mut range: Range<usize>, source: usize, visits: &[Visit]) -> Option<Visit> {
        let index = if self.expands() { self.drawn[source].0 } else { range.next() }?;
        Some(visits[index])
    }
}

impl Strategy for Urs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if let Some(classes) = &mut self.classes {
            classes.forgotten.drain(..).for_each(|handle| {
                store.forget(handle);
            });
        }
        if let Some(renewal) = &mut self.renewal {
            let spent = self.classes.as_ref().is_some_and(|classes| classes.len() == 0);
            if store.len() >= self.capacity || spent && (renewal.begins_at_visited() || self.close == Close::Delete) {
                renewal.ask();
            }
            if renewal.select(store, &mut self.rng, selection) {
                self.depths.begin(renewal.depth());
                if let Some(classes) = &mut self.classes {
                    *classes = Classes::default();
                }
                return;
            }
        }
        if store.len() >= self.capacity {
            return;
        }
        selection.stepping = if self.expands() { Stepping::All } else { Stepping::One };
        let room = (self.capacity - store.len()).min(self.batch as u64);
        for _ in 0..room {
            let Some(handle) = self.draw_source(store) else { break };
            selection.handles.push(handle);
        }
        store.states(&selection.handles, &mut selection.states);
        if !self.expands() {
            selection.draws.push(self.rng.split(self.steps));
        }
    }

    fn give(&mut self, _selection: &Selection, steps: &mut Steps) {
        if let Some(renewal) = &self.renewal {
            renewal.give(steps);
        }
    }

    fn admission(&self) -> Admission {
        match (self.expands(), self.close) {
            (false, _) => Admission::AllNew,
            (true, Close::Off) => Admission::Drawn,
            (true, _) => Admission::Chosen,
        }
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
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

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        if selection.handles.is_empty() {
            self.depths.start(visits);
            if let Some(classes) = &mut self.classes {
                classes.start(visits);
            }
            return;
        }
        self.steps += kept as u64;
        self.depths.note_sources(&selection.handles[..kept]);
        let mut from = 0;
        for source in 0..kept {
            let range = of_source(candidates.steps, from, source);
            from = range.end;
            let step = self.taken(range, source, visits);
            step.into_iter().for_each(|visit| self.depths.learn(source, visit));
            if self.classes.is_some() {
                let closed = self.drawn.get(source).is_some_and(|drawn| drawn.1);
                self.learn(selection.handles[source], step, closed);
            }
        }
    }

    fn answers_full(&mut self) -> bool {
        self.renewal.as_mut().is_some_and(|renewal| renewal.ask())
    }

    fn lag(&self) -> usize {
        if self.batch > 1 && self.classes.is_none() && self.renewal.is_none() && !self.expands() { 2 } else { 0 }
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.renewal.as_ref()?.trail(ground, selection.handles[source])
    }
}

impl Position for Urs {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn ended(&self) -> Option<Stop> {
        (self.capacity != u64::MAX && self.classes.as_ref().is_none_or(|classes| classes.len() > 0)).then_some(Stop::States)
    }

    fn details(&self) -> Details {
        let mut figures = Figures::default();
        if let Some(renewal) = &self.renewal {
            figures = figures.sum("restarts", renewal.times() as f64);
        }
        if let Some(mix) = &self.mix {
            figures = figures.mean("rate of leaves", mix.leaves, self.steps as f64);
        }
        if self.close != Close::Off {
            figures = figures.sum("closed states", self.closed as f64);
        }
        Details::of(figures)
    }

    fn depth(&self) -> Option<u32> {
        Some(self.depths.deepest())
    }

    fn frontier(&self) -> u64 {
        self.classes.as_ref().map_or(0, Classes::len)
    }

    fn exhaustive(&self) -> bool {
        // If it started anew from a visited state, an empty choice says nothing of what that state does not lead to.
        self.close == Close::On && !self.renewal.as_ref().is_some_and(Renewal::begins_at_visited)
    }
}

/// The rate at which leaves are chosen.
#[derive(Clone, Debug)]
struct Mix {
    leaves: f64,
    /// For `auto`: how often a choice of an inner state, and of a leaf, recently gave a new state.
    success: Option<[f64; 2]>,
}

impl Mix {
    /// The weight of a single choice in the rates.
    const WEIGHT: f64 = 1.0 / 256.0;

    fn new(fixed: Option<f64>) -> Self {
        Mix { leaves: fixed.unwrap_or(0.5), success: fixed.is_none().then_some([0.5; 2]) }
    }

    fn learn(&mut self, leaf: bool, new: bool) {
        if let Some(success) = &mut self.success {
            let rate = &mut success[usize::from(leaf)];
            *rate += Self::WEIGHT * (f64::from(u8::from(new)) - *rate);
            // Neither class is ever given up: what it gives can change.
            self.leaves = (success[1] / (success[0] + success[1]).max(f64::MIN_POSITIVE)).clamp(0.05, 0.95);
        }
    }
}
