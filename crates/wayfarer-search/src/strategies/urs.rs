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

use super::classes::{CLOSE, Classes, closing, exact_or_pool};
use super::visited::Visited;
use super::walk::choice;
use super::{Nature, Need, OnDevice, Row};
use crate::strategies::drawing::{Choice, of_source, pick};
use crate::strategies::renewal::Renewal;
use crate::{
    Admission, Candidates, Details, Figures, Ground, Handle, PoolStore, Position, Replacement, Selection, Stop, Store, StoreSpec, Strategy, Visit,
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
    visited: Visited,
    batch: usize,
    mix: Option<Mix>,
}

impl Urs {
    /// The paper's algorithm exactly: one state at a time, uniform over the set of its successors, until V holds `capacity` states.
    pub fn new(capacity: u64, seed: u64) -> Self {
        Urs { visited: Visited::new(capacity, Rng::new(seed, "urs")), batch: 1, mix: None }
    }

    /// The same, which starts anew when V is full: from a visited state, or from the start states.
    pub fn renewed(capacity: u64, from_visited: bool, seed: u64) -> Self {
        let mut search = Urs::new(capacity, seed);
        search.visited.renewal = Some(Renewal::new(from_visited));
        search
    }

    fn given(given: &Given, seed: u64, renewal: Option<Renewal>) -> Self {
        let mix = given.text("mix").map(|_| Mix::new(given.real("mix")));
        let visited = Visited::given(given, Rng::new(seed, "urs"), renewal, mix.is_some());
        Urs { visited, batch: given.number("batch").unwrap_or(1) as usize, mix }
    }

    fn draw_source(&mut self, store: &dyn Store) -> Option<Handle> {
        let Visited { classes, rng, .. } = &mut self.visited;
        let Some(classes) = classes else {
            return (!store.is_empty()).then(|| store.nth(rng.below(store.len())));
        };
        let leaves = match &self.mix {
            Some(mix) => rng.unit() < mix.leaves,
            // Uniform over both.
            None => rng.below(classes.len()) < classes.members[Classes::LEAVES].len() as u64,
        };
        classes.draw(if leaves { Classes::LEAVES } else { Classes::INNER }, rng)
    }

    /// Learns the result of a choice: the state reached, and whether the source has no unvisited successor left.
    fn learn(&mut self, at: Handle, source: usize, visit: Option<Visit>) {
        if let Some(mix) = &mut self.mix {
            let leaf = self.visited.classes.as_ref().is_some_and(|classes| classes.is_leaf(at));
            mix.learn(leaf, matches!(visit, Some(Visit::New(_))));
        }
        self.visited.learn(at, source, visit, true);
    }

    /// The visit of the step that was taken out of a source.
    fn taken(&self, mut range: Range<usize>, source: usize, visits: &[Visit]) -> Option<Visit> {
        let index = if self.visited.expands() { self.visited.drawn(source) } else { range.next() }?;
        Some(visits[index])
    }
}

impl Strategy for Urs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.visited.starts_anew(store, selection) || store.len() >= self.visited.capacity {
            return;
        }
        selection.stepping = self.visited.stepping();
        let room = (self.visited.capacity - store.len()).min(self.batch as u64);
        for _ in 0..room {
            let Some(handle) = self.draw_source(store) else { break };
            selection.handles.push(handle);
        }
        store.states(&selection.handles, &mut selection.states);
        self.visited.selected(selection);
    }

    fn give(&mut self, _selection: &Selection, steps: &mut Steps) {
        self.visited.give(steps);
    }

    fn admission(&self) -> Admission {
        self.visited.admission()
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        self.visited.admit(pick, selection, candidates, visits, mask);
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        if !self.visited.learns(selection, kept, visits) {
            return;
        }
        let mut from = 0;
        for source in 0..kept {
            let range = of_source(candidates.steps, from, source);
            from = range.end;
            let step = self.taken(range, source, visits);
            step.into_iter().for_each(|visit| self.visited.depths.learn(source, visit));
            self.learn(selection.handles[source], source, step);
        }
    }

    fn answers_full(&mut self) -> bool {
        self.visited.answers_full()
    }

    fn lag(&self) -> usize {
        let Visited { classes, renewal, .. } = &self.visited;
        if self.batch > 1 && classes.is_none() && renewal.is_none() && !self.visited.expands() { 2 } else { 0 }
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.visited.trail(ground, selection, source)
    }
}

impl Position for Urs {
    fn steps(&self) -> Option<u64> {
        Some(self.visited.steps)
    }

    fn ended(&self) -> Option<Stop> {
        (self.visited.capacity != u64::MAX && !self.visited.is_spent()).then_some(Stop::States)
    }

    fn details(&self) -> Details {
        let mut figures = self.visited.restarts(Figures::default());
        if let Some(mix) = &self.mix {
            figures = figures.mean("rate of leaves", mix.leaves, self.visited.steps as f64);
        }
        Details::of(self.visited.closed(figures))
    }

    fn depth(&self) -> Option<u32> {
        Some(self.visited.depths.deepest())
    }

    fn frontier(&self) -> u64 {
        self.visited.frontier()
    }

    fn exhaustive(&self) -> bool {
        self.visited.exhaustive()
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
