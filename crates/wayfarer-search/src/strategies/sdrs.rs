//! Simplified Deep Random Search: a random walk. If no step leads on, it continues from a uniform state of V, the
//! states visited so far. Also its re-initialised form (Abed, Tripakis, Vincent 2008: SDRS, RSDRS). V is the store.
//!
//! `close=on` takes a state out of the choice of where to continue once all its successors were visited, while V still knows it; if no such state is left,
//! everything was visited. `close=delete` takes it out of V as well, as the paper's implementation did, and may meet it again. The walk itself goes on through
//! closed states.
//!
//! `rsdrs` starts anew when V is full, as [`rurs`](super::urs) does.
//!
//! Departures: start states are checked too. The loop ends at |V| = capacity and not beyond. A state whose only
//! successor is itself counts as one without successors, because it would hold the search for ever. `batch` walks share
//! V and run side by side (1 is the paper's algorithm). With `choice=firings` successors are weighted by the number of
//! firings that lead to them.

use super::classes::{CLOSE, closing, exact_or_pool};
use super::urs::{CAPACITY, CHOICE, FROM, REPLACE, pool, refused_by_lanes};
use super::visited::Visited;
use super::walk::choice;
use super::{Nature, Need, OnDevice, Row};
use crate::strategies::drawing::{Choice, of_source, pick_onward};
use crate::strategies::renewal::Renewal;
use crate::{Admission, Candidates, Details, Figures, Ground, Handle, Position, Selection, Stop, Store, Strategy, Visit};
use wayfarer_space::{Rng, Steps, Word};
use wayfarer_store::spec::{Accepts, Entry, Given, Parameter};

const BATCH: Parameter = Parameter::new("batch", Accepts::Number(1..=1024), "16", "walks that go side by side; 1 is the paper's algorithm");

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "sdrs",
        help: "a random walk that goes on from a visited state if no step leads on",
        parameters: &[CAPACITY, CLOSE, CHOICE, BATCH],
    },
    store: exact_or_pool,
    nature: |given| Nature {
        device: on_device(given, false),
        ..closing(given, if given.is("close", "delete") { Need::Emptying } else { Need::Place })
    },
    build: |given, site| Box::new(Sdrs::given(given, site.seed, None)),
};

pub(super) static REINITIALISED: Row = Row {
    entry: Entry { name: "rsdrs", help: "sdrs that starts anew when memory is full", parameters: &[CAPACITY, FROM, REPLACE, CLOSE, CHOICE, BATCH] },
    store: pool,
    nature: |given| Nature { device: on_device(given, true), ..closing(given, Need::Emptying) },
    build: |given, site| Box::new(Sdrs::given(given, site.seed, Some(Renewal::new(given.is("from", "visited"))))),
};

fn on_device(given: &Given, renews: bool) -> OnDevice {
    refused_by_lanes(given).map_or(OnDevice::Deep { by_states: choice(given) == Choice::States, renews }, OnDevice::No)
}

/// Simplified deep random search.
#[derive(Clone, Debug)]
pub struct Sdrs {
    visited: Visited,
    lanes: Vec<Lane>,
    jumps: u64,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    /// Its present state; none if it is about to jump.
    at: Option<Handle>,
    state: Vec<Word>,
}

impl Sdrs {
    /// The paper's algorithm exactly: one walk, uniform over the set of successors, until V holds `capacity` states.
    pub fn new(capacity: u64, seed: u64) -> Self {
        Sdrs { visited: Visited::new(capacity, Rng::new(seed, "sdrs")), lanes: vec![Lane::default()], jumps: 0 }
    }

    /// The same, which starts anew when V is full: from a visited state, or from the start states.
    pub fn renewed(capacity: u64, from_visited: bool, seed: u64) -> Self {
        let mut search = Sdrs::new(capacity, seed);
        search.visited.renewal = Some(Renewal::new(from_visited));
        search
    }

    fn given(given: &Given, seed: u64, renewal: Option<Renewal>) -> Self {
        let lanes = vec![Lane::default(); given.number("batch").unwrap_or(1) as usize];
        Sdrs { visited: Visited::given(given, Rng::new(seed, "sdrs"), renewal, false), lanes, jumps: 0 }
    }

    /// A state to continue from.
    fn draw(&mut self, store: &dyn Store) -> Option<Handle> {
        let Visited { classes, rng, .. } = &mut self.visited;
        match classes {
            Some(classes) => classes.draw_any(rng),
            None => (!store.is_empty()).then(|| store.nth(rng.below(store.len()))),
        }
    }
}

impl Strategy for Sdrs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.visited.starts_anew(store, selection) {
            self.lanes.iter_mut().for_each(|lane| lane.at = None);
            return;
        }
        if store.len() >= self.visited.capacity || self.visited.is_spent() || store.is_empty() {
            return;
        }
        selection.stepping = self.visited.stepping();
        // Few enough that V cannot grow beyond its capacity in one round.
        let room = (self.visited.capacity - store.len()).min(self.lanes.len() as u64) as usize;
        for at in 0..room {
            let lane = &self.lanes[at];
            match lane.at {
                // A pool that replaces may have dropped the state that a lane stands in, and so may closing.
                Some(handle) if store.holds(handle, &lane.state) => {
                    selection.states.push(&lane.state);
                    selection.handles.push(handle);
                }
                _ => {
                    let Some(handle) = self.draw(store) else { break };
                    store.state(handle, &mut selection.states);
                    selection.handles.push(handle);
                }
            }
        }
        self.visited.selected(selection);
    }

    fn give(&mut self, _selection: &Selection, steps: &mut Steps) {
        self.visited.give(steps);
    }

    fn admission(&self) -> Admission {
        self.visited.admission()
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        self.visited.admit(pick_onward, selection, candidates, visits, mask);
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        if !self.visited.learns(selection, kept, visits) {
            return;
        }
        let steps = candidates.steps;
        let expands = self.visited.expands();
        let mut next = 0;
        for source in 0..kept {
            let step = if !expands {
                let range = of_source(steps, next, source);
                next = range.end;
                range.clone().next().filter(|_| steps.enabled[source] > 0)
            } else {
                self.visited.drawn(source)
            };
            let visit = step.map(|index| visits[index]);
            visit.into_iter().for_each(|visit| self.visited.depths.learn(source, visit));
            self.visited.learn(selection.handles[source], source, visit, false);
            let lane = &mut self.lanes[source];
            lane.at = Some(selection.handles[source]);
            match step {
                Some(index) => {
                    lane.state.clear();
                    lane.state.extend_from_slice(steps.states.get(index));
                    lane.at = if let Visit::New(handle) | Visit::Seen(handle) = visits[index] { Some(handle) } else { None };
                }
                // Something was enabled and led nowhere: the walk stays and tries again.
                None if !expands && steps.enabled[source] > 0 => {
                    lane.state.clear();
                    lane.state.extend_from_slice(selection.states.get(source));
                }
                None => {
                    lane.at = None;
                    self.jumps += 1;
                }
            }
        }
    }

    fn answers_full(&mut self) -> bool {
        self.visited.answers_full()
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.visited.trail(ground, selection, source)
    }
}

impl Position for Sdrs {
    fn steps(&self) -> Option<u64> {
        Some(self.visited.steps)
    }

    fn ended(&self) -> Option<Stop> {
        (!self.visited.is_spent()).then_some(Stop::States)
    }

    fn details(&self) -> Details {
        let figures = self.visited.restarts(Figures::default().sum("jumps", self.jumps as f64));
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
