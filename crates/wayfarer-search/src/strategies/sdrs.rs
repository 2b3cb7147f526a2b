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

use super::classes::{CLOSE, Classes, Close, closing, exact_or_pool, is_closed};
use super::depths::Depths;
use super::urs::{CAPACITY, CHOICE, FROM, REPLACE, pool, refused_by_lanes};
use super::walk::choice;
use super::{Nature, Need, OnDevice, Row};
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
    capacity: u64,
    choice: Choice,
    close: Close,
    /// The states to continue from, if closed states leave the choice.
    classes: Option<Classes>,
    lanes: Vec<Lane>,
    renewal: Option<Renewal>,
    depths: Depths,
    rng: Rng,
    steps: u64,
    jumps: u64,
    closed: u64,
    /// What was drawn in the running round, and whether it leaves its source without unvisited successors.
    drawn: Vec<(Option<usize>, bool)>,
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
            close: Close::Off,
            classes: None,
            lanes: vec![Lane::default()],
            renewal: None,
            depths: Depths::default(),
            rng: Rng::new(seed, "sdrs"),
            steps: 0,
            jumps: 0,
            closed: 0,
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
        let close = Close::given(given);
        let classes = (close != Close::Off).then(Classes::default);
        Sdrs { choice: choice(given), close, classes, lanes, renewal, ..Sdrs::new(capacity, seed) }
    }

    /// Whether sources must be expanded in full.
    fn expands(&self) -> bool {
        self.choice == Choice::States || self.close != Close::Off
    }

    /// A state to continue from.
    fn draw(&mut self, store: &dyn Store) -> Option<Handle> {
        match &self.classes {
            Some(classes) => classes.draw_any(&mut self.rng),
            None => (!store.is_empty()).then(|| store.nth(self.rng.below(store.len()))),
        }
    }

    /// Keeps the classes up to date with a step and with whether its source has no unvisited successor left.
    fn learn(&mut self, source: Handle, visit: Option<Visit>, closed: bool) {
        let Some(classes) = &mut self.classes else { return };
        if let Some(Visit::New(handle)) = visit {
            classes.enter(handle);
        }
        // If there was no room for the drawn state, it was not visited.
        if closed && visit != Some(Visit::Full) {
            self.closed += u64::from(classes.leave(source));
            if self.close == Close::Delete {
                classes.forgotten.push(source);
            }
        }
    }
}

impl Strategy for Sdrs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if let Some(classes) = &mut self.classes {
            classes.forgotten.drain(..).for_each(|handle| {
                store.forget(handle);
            });
        }
        let full = store.len() >= self.capacity;
        let spent = self.classes.as_ref().is_some_and(|classes| classes.len() == 0);
        if let Some(renewal) = &mut self.renewal {
            if full || spent && (renewal.begins_at_visited() || self.close == Close::Delete) {
                renewal.ask();
            }
            if renewal.select(store, &mut self.rng, selection) {
                self.depths.begin(renewal.depth());
                if let Some(classes) = &mut self.classes {
                    *classes = Classes::default();
                }
                self.lanes.iter_mut().for_each(|lane| lane.at = None);
                return;
            }
        }
        if full || spent || store.is_empty() {
            return;
        }
        selection.stepping = if self.expands() { Stepping::All } else { Stepping::One };
        // Few enough that V cannot grow beyond its capacity in one round.
        let room = (self.capacity - store.len()).min(self.lanes.len() as u64) as usize;
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
            let drawn = pick_onward(self.choice, steps, range.clone(), &mut self.rng, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            let closed = self.close != Close::Off && is_closed(steps, range, visits, drawn, &mut self.scratch);
            self.drawn.push((drawn, closed));
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            self.depths.start(visits);
            if let Some(classes) = &mut self.classes {
                classes.start(visits);
            }
            return;
        }
        self.steps += kept as u64;
        self.depths.note_sources(&selection.handles[..kept]);
        let expands = self.expands();
        let mut next = 0;
        for source in 0..kept {
            let step = if !expands {
                let range = of_source(steps, next, source);
                next = range.end;
                range.clone().next().filter(|_| steps.enabled[source] > 0)
            } else {
                self.drawn[source].0
            };
            let visit = step.map(|index| visits[index]);
            visit.into_iter().for_each(|visit| self.depths.learn(source, visit));
            let closed = self.drawn.get(source).is_some_and(|drawn| drawn.1);
            self.learn(selection.handles[source], visit, closed);
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
        self.classes.as_ref().is_none_or(|classes| classes.len() > 0).then_some(Stop::States)
    }

    fn details(&self) -> Details {
        let mut figures = Figures::default().sum("jumps", self.jumps as f64);
        if let Some(renewal) = &self.renewal {
            figures = figures.sum("restarts", renewal.times() as f64);
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
