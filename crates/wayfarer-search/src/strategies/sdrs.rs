//! Simplified Deep Random Search: a random walk. If no step leads on, it continues from a uniform state of V, the
//! states visited so far. Also its re-initialised form (Abed, Tripakis, Vincent 2008: SDRS, RSDRS). V is the store.
//!
//! `rsdrs` starts anew when V is full, as [`rurs`](super::urs) does.
//!
//! Departures: start states are checked too. The loop ends at |V| = capacity and not beyond. A state whose only
//! successor is itself counts as one without successors, because it would hold the search for ever. `batch` walks share
//! V and run side by side (1 is the paper's algorithm). With `choice=firings` successors are weighted by the number of
//! firings that lead to them.

use super::urs::{CAPACITY, CHOICE, FROM, REPLACE, pool, refused_by_lanes};
use super::walk::choice;
use super::{Nature, Need, OnDevice, RANDOM, Row, exact};
use crate::strategies::drawing::{Choice, of_source, pick_onward};
use crate::strategies::renewal::Renewal;
use crate::{Admission, Candidates, Details, Figures, Ground, Handle, Position, Replacement, Selection, Stepping, Stop, Store, Strategy, Visit};
use wayfarer_space::{Rng, Steps, Word};
use wayfarer_store::spec::{Accepts, Entry, Given, Parameter};

const BATCH: Parameter = Parameter::new("batch", Accepts::Number(1..=1024), "16", "walks that go side by side; 1 is the paper's algorithm");

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "sdrs",
        help: "a random walk that goes on from a visited state where no step leads on",
        parameters: &[CAPACITY, CHOICE, BATCH],
    },
    store: exact,
    nature: |given| Nature { needs: Need::Place, device: on_device(given, false), ..RANDOM },
    build: |given, site| Box::new(Sdrs::given(given, site.seed, None)),
};

pub(super) static REINITIALISED: Row = Row {
    entry: Entry { name: "rsdrs", help: "sdrs that starts anew when memory is full", parameters: &[CAPACITY, FROM, REPLACE, CHOICE, BATCH] },
    store: pool,
    nature: |given| Nature { needs: Need::Emptying, device: on_device(given, true), ..RANDOM },
    build: |given, site| Box::new(Sdrs::given(given, site.seed, Some(Renewal::new(given.is("from", "visited"))))),
};

fn on_device(given: &Given, renews: bool) -> OnDevice {
    refused_by_lanes(given).map_or(OnDevice::Deep { by_states: choice(given) == Choice::States, renews }, OnDevice::No)
}

/// Simplified deep random search.
#[derive(Clone, Debug)]
pub struct Sdrs {
    capacity: u64,
    choice: Choice,
    lanes: Vec<Lane>,
    renewal: Option<Renewal>,
    rng: Rng,
    steps: u64,
    jumps: u64,
    drawn: Vec<Option<usize>>,
    scratch: Vec<u32>,
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
        Sdrs {
            capacity,
            choice: Choice::States,
            lanes: vec![Lane::default()],
            renewal: None,
            rng: Rng::new(seed, "sdrs"),
            steps: 0,
            jumps: 0,
            drawn: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The same, which starts anew when V is full: from a visited state, or from the start states.
    pub fn renewed(capacity: u64, from_visited: bool, seed: u64) -> Self {
        Sdrs { renewal: Some(Renewal::new(from_visited)), ..Sdrs::new(capacity, seed) }
    }

    fn given(given: &Given, seed: u64, renewal: Option<Renewal>) -> Self {
        let replaces = given.text("replace").and_then(Replacement::named).is_some();
        let lanes = vec![Lane::default(); given.number("batch").unwrap_or(1) as usize];
        let capacity = if replaces { u64::MAX } else { given.number("capacity").unwrap_or(u64::MAX) };
        Sdrs { choice: choice(given), lanes, renewal, ..Sdrs::new(capacity, seed) }
    }
}

impl Strategy for Sdrs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        let full = store.len() >= self.capacity;
        if let Some(renewal) = &mut self.renewal {
            if full {
                renewal.ask();
            }
            if renewal.select(store, &mut self.rng, selection) {
                self.lanes.iter_mut().for_each(|lane| lane.at = None);
                return;
            }
        }
        if full || store.is_empty() {
            return;
        }
        selection.stepping = if self.choice == Choice::States { Stepping::All } else { Stepping::One };
        // Few enough that V cannot grow beyond its capacity in one round.
        let room = (self.capacity - store.len()).min(self.lanes.len() as u64) as usize;
        for lane in &mut self.lanes[..room] {
            match lane.at {
                // A pool that replaces may have dropped what a lane stands in.
                Some(handle) if store.holds(handle, &lane.state) => {
                    selection.states.push(&lane.state);
                    selection.handles.push(handle);
                }
                _ => {
                    let handle = store.nth(self.rng.below(store.len()));
                    store.state(handle, &mut selection.states);
                    selection.handles.push(handle);
                }
            }
        }
        if self.choice == Choice::Firings {
            selection.draws.push(self.rng.split(self.steps));
        }
    }

    fn give(&mut self, _selection: &Selection, steps: &mut Steps) {
        if let Some(renewal) = &self.renewal {
            renewal.give(steps);
        }
    }

    fn admission(&self) -> Admission {
        if self.choice == Choice::Firings { Admission::AllNew } else { Admission::Drawn }
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, _visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        mask.resize(steps.len(), candidates.sources.is_empty());
        self.drawn.clear();
        let mut from = 0;
        for source in 0..selection.handles.len() {
            let range = of_source(steps, from, source);
            from = range.end;
            let drawn = pick_onward(self.choice, steps, range, &mut self.rng, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            self.drawn.push(drawn);
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        self.steps += kept as u64;
        let mut next = 0;
        for source in 0..kept {
            let step = if self.choice == Choice::Firings {
                let range = of_source(steps, next, source);
                next = range.end;
                range.clone().next().filter(|_| steps.enabled[source] > 0)
            } else {
                self.drawn[source]
            };
            let lane = &mut self.lanes[source];
            lane.at = Some(selection.handles[source]);
            match step {
                Some(index) => {
                    lane.state.clear();
                    lane.state.extend_from_slice(steps.states.get(index));
                    lane.at = if let Visit::New(handle) | Visit::Seen(handle) = visits[index] { Some(handle) } else { None };
                }
                // Something was enabled and led nowhere: the walk stays and tries again.
                None if self.choice == Choice::Firings && steps.enabled[source] > 0 => {
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
        self.renewal.as_mut().is_some_and(|renewal| renewal.ask())
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        self.renewal.as_ref()?.trail(ground, selection.handles[source])
    }
}

impl Position for Sdrs {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn ended(&self) -> Option<Stop> {
        Some(Stop::States)
    }

    fn details(&self) -> Details {
        let mut figures = Figures::default().sum("jumps", self.jumps as f64);
        if let Some(renewal) = &self.renewal {
            figures = figures.sum("restarts", renewal.times() as f64);
        }
        Details::of(figures)
    }

    fn depth(&self) -> Option<u32> {
        None
    }

    fn frontier(&self) -> u64 {
        0
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
