//! Random walks: from a start state, one random successor after another; back to a start state where no step leads on.
//!
//! Several walks (`lanes`) go side by side, each with a stream of its own, so that the loop's fixed cost is shared. A walk keeps no path: its stream is
//! a function of the seed, so the way to where it stands is found by walking again. `restart=N` ends a walk after so many steps, which keeps that way
//! short; `from=visited` then goes on from any state that was met before (and needs a store that can give states back).
//!
//! Departure: a state whose every step leads back to it counts as one that no step leaves, else a walk would never get away from it.

use super::urs::CHOICE;
use super::{Nature, Need, OnDevice, RANDOM, Row};
use crate::strategies::drawing::{Choice, of_source, pick, pick_onward};
use crate::witness::chain;
use crate::{
    Admission, Candidates, Details, Figures, Ground, Handle, NoStore, Position, Selection, Stepping, Stop, Store, StoreSpec, Strategy, Visit,
};
use wayfarer_space::{Fired, Firing, Rng, Space, States, Steps, Word};
use wayfarer_store::spec::{Accepts, Entry, Given, Parameter};

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "walk",
        help: "random walks, one random step after another",
        parameters: &[
            Parameter::new("restart", Accepts::NumberOr(1..=u32::MAX as u64, "never"), "10000", "the steps after which a walk starts anew"),
            Parameter::new("from", Accepts::OneOf(&["initial", "visited"]), "initial", "where a walk starts: in a start state or in a visited one"),
            Parameter::open("depth", Accepts::Number(1..=u32::MAX as u64), "no limit", "the depth at which a walk starts anew"),
            Parameter::new("lanes", Accepts::Number(1..=4096), "16", "walks that go side by side"),
            CHOICE,
        ],
    },
    store: |given| if from_visited(given) { StoreSpec::exact() } else { NoStore::spec() },
    nature: |given| {
        let needs = if from_visited(given) { Need::Place } else { Need::Nothing };
        Nature { needs, counts_depth: true, device: on_device(given), ..RANDOM }
    },
    build: |given, site| {
        let most = |name: &str| given.number(name).map_or(u32::MAX, |number| number as u32);
        Box::new(Walk {
            restart: most("restart"),
            limit: most("depth").min(site.limits.depth),
            from_visited: from_visited(given),
            choice: choice(given),
            ..Walk::new(given.number("lanes").unwrap_or(1) as usize, site.seed)
        })
    },
};

fn from_visited(given: &Given) -> bool {
    given.is("from", "visited")
}

/// Walks that start in start states and draw firings need no memory, so that each lane of a device can make one.
fn on_device(given: &Given) -> OnDevice {
    match choice(given) {
        _ if from_visited(given) => OnDevice::No("walks there start in start states: `from=initial`"),
        Choice::States => OnDevice::No("walks there draw firings: `choice=firings`"),
        Choice::Firings => OnDevice::Walks,
    }
}

/// The choice that the parameter of this name asks for.
pub(super) fn choice(given: &Given) -> Choice {
    if given.is("choice", "states") { Choice::States } else { Choice::Firings }
}

/// Random walks.
#[derive(Clone, Debug)]
pub struct Walk {
    lanes: Vec<Lane>,
    starts: Option<States>,
    start_handles: Vec<Handle>,
    restart: u32,
    limit: u32,
    from_visited: bool,
    choice: Choice,
    /// Whether every successor counts as looked at, and how many walks are made then.
    search: Option<u64>,
    steps: u64,
    restarts: u64,
    deadlocks: u64,
    deepest: u32,
    /// For each lane the step that was drawn in the running round.
    drawn: Vec<Option<usize>>,
    scratch: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Lane {
    state: Vec<Word>,
    handle: Handle,
    rng: Rng,
    /// The stream as it was when this walk began.
    origin: Rng,
    /// Steps since then.
    length: u32,
    /// Whether the lane stands in a state.
    live: bool,
    depth: u32,
}

impl Walk {
    /// So many walks with the given seed, uniform over firings, never restarted but where no step leads on.
    pub fn new(lanes: usize, seed: u64) -> Self {
        let rng = Rng::new(seed, "walk");
        let lane = |number| {
            let rng: Rng = rng.split(number);
            Lane { state: Vec::new(), handle: Handle(u32::MAX), origin: rng.clone(), rng, length: 0, live: false, depth: 0 }
        };
        Walk {
            lanes: (0..lanes.max(1) as u64).map(lane).collect(),
            starts: None,
            start_handles: Vec::new(),
            restart: u32::MAX,
            limit: u32::MAX,
            from_visited: false,
            choice: Choice::Firings,
            search: None,
            steps: 0,
            restarts: 0,
            deadlocks: 0,
            deepest: 0,
            drawn: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The same, uniform over the set of successors.
    pub fn over_states(self) -> Self {
        Walk { choice: Choice::States, ..self }
    }

    /// Walks that look at every successor, one after another, `restarts` times after the first, each of at most `length` steps.
    pub(super) fn searching(self, restarts: u64, length: u32) -> Self {
        Walk { choice: Choice::States, search: Some(restarts), restart: length, ..self }
    }

    /// Puts a lane into a random start state, or a visited one where that is wanted.
    fn begin(&mut self, lane: usize, store: Option<&dyn Store>) {
        let Some(starts) = &self.starts else { return };
        let lane = &mut self.lanes[lane];
        lane.origin = lane.rng.clone();
        lane.length = 0;
        lane.depth = 0;
        lane.live = !starts.is_empty();
        if let Some(store) = store.filter(|store| self.from_visited && !store.is_empty()) {
            lane.handle = store.nth(lane.rng.below(store.len()));
            let mut found = States::new(starts.width());
            if store.state(lane.handle, &mut found) {
                lane.state = found.get(0).to_vec();
                lane.depth = std::iter::successors(store.parent(lane.handle), |handle| store.parent(*handle)).count() as u32;
                return;
            }
        }
        if lane.live {
            let number = lane.rng.below(starts.len() as u64) as usize;
            lane.state = starts.get(number).to_vec();
            lane.handle = self.start_handles[number];
        }
    }

    /// The states of a walk from its beginning.
    fn again(&self, space: &dyn Space, lane: &Lane) -> Vec<Vec<Word>> {
        let Some(starts) = &self.starts else { return Vec::new() };
        let mut rng = lane.origin.clone();
        let mut trail = vec![starts.get(rng.below(starts.len() as u64) as usize).to_vec()];
        let (mut steps, mut batch) = (Steps::new(space.width()), States::new(space.width()));
        let mut scratch = Vec::new();
        let mut out = Vec::new();
        for _ in 0..lane.length {
            let state = &trail[trail.len() - 1];
            match self.choice {
                Choice::Firings => {
                    if !matches!(space.sample(state, &mut rng, &mut out), Some((_, Fired::To))) {
                        continue;
                    }
                }
                Choice::States => {
                    batch.clear();
                    batch.push(state);
                    space.expand(&batch, Firing::of(0), &mut steps);
                    let Some(index) = pick(self.choice, &steps, 0..steps.len(), &mut rng, &mut scratch) else { continue };
                    out.clear();
                    out.extend_from_slice(steps.states.get(index));
                }
            }
            trail.push(out.clone());
        }
        trail
    }
}

impl Strategy for Walk {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.search.is_some_and(|most| self.restarts > most) {
            return;
        }
        selection.stepping = if self.choice == Choice::Firings { Stepping::One } else { Stepping::All };
        for lane in 0..self.lanes.len() {
            if !self.lanes[lane].live {
                self.begin(lane, Some(store));
            }
            let lane = &self.lanes[lane];
            if lane.live {
                selection.handles.push(lane.handle);
                selection.states.push(&lane.state);
                selection.draws.push(lane.rng.clone());
            }
        }
    }

    fn admission(&self) -> Admission {
        if self.choice == Choice::Firings { Admission::AllNew } else { Admission::Drawn }
    }

    fn considers(&self) -> bool {
        self.search.is_some()
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, _visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        mask.resize(steps.len(), candidates.sources.is_empty());
        self.drawn.clear();
        let mut from = 0;
        for (source, lane) in self.lanes.iter_mut().enumerate().take(selection.handles.len()) {
            let range = of_source(steps, from, source);
            from = range.end;
            let drawn = pick_onward(self.choice, steps, range, &mut lane.rng, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            self.drawn.push(drawn);
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            self.starts = Some(steps.states.clone());
            self.start_handles =
                visits.iter().map(|visit| if let Visit::New(at) | Visit::Seen(at) = visit { *at } else { Handle(u32::MAX) }).collect();
            return;
        }
        let mut next = 0;
        for source in 0..kept {
            let lane = &mut self.lanes[source];
            let step = if self.choice == Choice::Firings {
                lane.rng = selection.draws[source].clone();
                let range = of_source(steps, next, source);
                next = range.end;
                // Where no step leads on, a drawn one leads back.
                range.clone().next().filter(|_| steps.enabled[source] > 0)
            } else {
                self.drawn[source]
            };
            self.steps += 1;
            lane.length += 1;
            lane.depth += 1;
            let mut live = step.is_some() || (steps.enabled[source] > 0 && self.choice == Choice::Firings);
            self.deadlocks += u64::from(!live);
            if let Some(index) = step {
                lane.state.clear();
                lane.state.extend_from_slice(steps.states.get(index));
                if let Visit::New(handle) | Visit::Seen(handle) = visits[index] {
                    lane.handle = handle;
                }
                self.deepest = self.deepest.max(lane.depth);
            }
            live &= lane.length < self.restart && lane.depth < self.limit;
            lane.live = live;
            self.restarts += u64::from(!live);
        }
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        if self.from_visited {
            return chain(ground.space, ground.store, selection.handles[source]).ok();
        }
        Some(self.again(ground.space, &self.lanes[source]))
    }
}

impl Position for Walk {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn ended(&self) -> Option<Stop> {
        self.search.map(|_| Stop::Restarts)
    }

    fn details(&self) -> Details {
        let walks = self.restarts + self.lanes.len() as u64;
        Details::of(Figures::default().sum("walks", walks as f64).sum("walks that ended in a deadlock", self.deadlocks as f64))
    }

    fn depth(&self) -> Option<u32> {
        Some(self.deepest)
    }

    fn frontier(&self) -> u64 {
        0
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
