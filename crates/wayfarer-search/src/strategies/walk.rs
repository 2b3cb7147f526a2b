//! Random walks: from a start state, one random successor after another. If no step leads on, the walk returns to a start state.
//!
//! Several walks (`lanes`) run side by side, each with a stream of its own, so that the loop's fixed cost is shared. A
//! walk keeps no path: its stream is a function of the seed, so the way to its state is found by walking again.
//! `restart=N` ends a walk after N steps, which keeps that way short. `from=visited` then goes on from any visited
//! state, which needs a store that can give states back.
//!
//! If there are more than 4,096 start states, walks begin in a piece of as many; after as many walks, another piece is drawn.
//!
//! Departure: a state whose every step leads back to it counts as one that no step leaves, because a walk would never get away from it.

use super::piece::OnePiece;
use super::urs::CHOICE;
use super::{Nature, Need, OnDevice, RANDOM, Row};
use crate::strategies::drawing::Choice;
use crate::strategies::walking::{Lanes, Law, Moved, again};
use crate::witness::chain;
use crate::{Admission, Candidates, Details, Figures, Ground, Handle, NoStore, Position, Selection, Stop, Store, StoreSpec, Strategy, Visit};
use wayfarer_space::{Rng, Space, States, Word};
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
            ..Walk::of(if choice(given) == Choice::States { Law::States } else { Law::Firings }, given.number("lanes").unwrap_or(1), site.seed)
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
    lanes: Lanes,
    /// The knowledge of this search about each walk.
    since: Vec<Since>,
    /// The start states that walks begin in: all of them or, if there are many, one piece.
    starts: Option<States>,
    start_handles: Vec<Handle>,
    piece: OnePiece,
    /// The walks that may still begin in this piece.
    left: u64,
    restart: u32,
    limit: u32,
    from_visited: bool,
    /// Whether every successor counts as looked at, and how many walks are made then.
    search: Option<u64>,
    steps: u64,
    restarts: u64,
    deadlocks: u64,
    deepest: u32,
}

#[derive(Clone, Debug)]
struct Since {
    handle: Handle,
    /// The state in which the walk began, and the stream as it was then.
    first: Vec<Word>,
    origin: Rng,
    depth: u32,
}

impl Walk {
    /// `lanes` walks with the given seed, uniform over firings, restarted only if no step leads on.
    pub fn new(lanes: usize, seed: u64) -> Self {
        Walk::of(Law::Firings, lanes as u64, seed)
    }

    fn of(law: Law, lanes: u64, seed: u64) -> Self {
        let rng = Rng::new(seed, "walk");
        let streams = || (0..lanes.max(1)).map(|number| rng.split(number));
        Walk {
            lanes: Lanes::new(law, streams()),
            since: streams().map(|origin| Since { handle: Handle(u32::MAX), first: Vec::new(), origin, depth: 0 }).collect(),
            starts: None,
            start_handles: Vec::new(),
            piece: OnePiece::new(seed),
            left: u64::MAX,
            restart: u32::MAX,
            limit: u32::MAX,
            from_visited: false,
            search: None,
            steps: 0,
            restarts: 0,
            deadlocks: 0,
            deepest: 0,
        }
    }

    /// The same, uniform over the set of successors.
    pub fn over_states(self) -> Self {
        Walk { lanes: self.lanes.with(Law::States), ..self }
    }

    /// Walks that look at every successor, one after another, `restarts` times after the first, each of at most `length` steps.
    pub(super) fn searching(self, restarts: u64, length: u32) -> Self {
        Walk { search: Some(restarts), restart: length, ..self.over_states() }
    }

    /// Puts a lane into a random start state, or into a visited one if that is asked for.
    fn begin(&mut self, lane: usize, store: &dyn Store) {
        let Some(starts) = &self.starts else { return };
        let since = &mut self.since[lane];
        since.depth = 0;
        let mut draws = self.lanes.lane(lane).draws.clone();
        if self.from_visited && !store.is_empty() {
            since.handle = store.nth(draws.rng.below(store.len()));
            let mut found = States::new(starts.width());
            if store.state(since.handle, &mut found) {
                since.depth = std::iter::successors(store.parent(since.handle), |handle| store.parent(*handle)).count() as u32;
                self.lanes.begin(lane, found.get(0), draws);
                return;
            }
        }
        if !starts.is_empty() {
            let number = draws.rng.below(starts.len() as u64) as usize;
            since.handle = self.start_handles[number];
            since.first.clear();
            since.first.extend_from_slice(starts.get(number));
            since.origin = draws.rng.clone();
            // Several walks may begin in one round.
            self.left = self.left.saturating_sub(u64::from(self.piece.is_one_of_several()));
            self.lanes.begin(lane, starts.get(number), draws);
        }
    }

    /// The states of a walk from its beginning.
    fn again(&self, space: &dyn Space, source: usize) -> Vec<Vec<Word>> {
        let (lane, at) = self.lanes.behind(source);
        let Since { first, origin, .. } = &self.since[lane];
        let mut draws = at.draws.clone();
        draws.rng = origin.clone();
        again(space, self.lanes.law(), first.clone(), draws, at.steps)
    }
}

impl Strategy for Walk {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.search.is_some_and(|most| self.restarts > most) {
            return;
        }
        if self.left == 0 || self.piece.is_to_be_drawn() {
            // No walk goes on in this round.
            self.lanes.open(selection);
            self.piece.ask_for_another(selection);
            return;
        }
        self.lanes.open(selection);
        for lane in 0..self.lanes.len() {
            if !self.lanes.lane(lane).live {
                self.begin(lane, store);
            }
            if self.lanes.lane(lane).live {
                self.lanes.select(lane, self.since[lane].handle, selection);
            }
        }
    }

    fn admission(&self) -> Admission {
        self.lanes.admission()
    }

    fn considers(&self) -> bool {
        self.search.is_some()
    }

    fn admit(&mut self, _selection: &Selection, candidates: Candidates, _visits: &[Visit], mask: &mut Vec<bool>) {
        self.lanes.admit(candidates, mask);
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            if self.piece.takes(selection, steps) {
                self.starts = Some(steps.states.clone());
                let place = |visit: &Visit| if let Visit::New(at) | Visit::Seen(at) = visit { *at } else { Handle(u32::MAX) };
                self.start_handles = visits.iter().map(place).collect();
            }
            // As many walks as it has states.
            self.left = self.start_handles.len().max(1) as u64;
            return;
        }
        for source in 0..kept {
            let Moved { lane, step, goes_on } = self.lanes.go(source, selection, steps);
            let since = &mut self.since[lane];
            self.steps += 1;
            since.depth += 1;
            self.deadlocks += u64::from(!goes_on);
            if let Some(index) = step.filter(|_| goes_on) {
                if let Visit::New(handle) | Visit::Seen(handle) = visits[index] {
                    since.handle = handle;
                }
                self.deepest = self.deepest.max(since.depth);
            }
            if !goes_on || self.lanes.lane(lane).steps >= self.restart || since.depth >= self.limit {
                self.lanes.end(lane);
                self.restarts += 1;
            }
        }
    }

    fn trail(&self, ground: Ground, selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        if self.from_visited {
            return chain(ground.space, ground.store, selection.handles[source]).ok();
        }
        Some(self.again(ground.space, source))
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
