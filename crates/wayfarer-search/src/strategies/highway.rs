//! Highway search: breadth-first, with at most N states to a level (Engels, Groote, van Weerdenburg, Willemse 2009).
//!
//! Level d+1 is drawn from the successors of level d that lie in no level so far. States that are not selected are not
//! remembered, so they stay eligible later. All successors count as looked at (the paper's considered states), selected
//! or not.
//!
//! - `ideal=on`: uniform over the set of eligible states (Definition 5). The states of a level are remembered by their
//!   hashes until the level is complete.
//! - `ideal=off`: the paper's Algorithm 1, a reservoir that counts a state again each time it comes back after it was
//!   rejected or thrown out, and begins to count anew at each level. It favours states with many predecessors in the
//!   level (Property 8).
//!
//! A highway ends at a level without eligible successors, which comes soon if it is narrow. `restarts=K` then begins K
//! more, each with a stream of its own and an empty V.
//!
//! Departures: of several start states, at most N are drawn for level 0 (if there are more than 4,096, from a piece of as
//! many). A level's successors are gathered in batches of sources, which changes nothing.

use super::batch::Batch;
use super::piece::OnePiece;
use super::{Nature, Need, OnDevice, RANDOM, Row};
use crate::strategies::drawing::{distinct, of_source};
use crate::{Admission, Candidates, Details, Figures, Handle, PoolStore, Position, Selection, Stepping, Stop, Store, Strategy, Visit};
use std::collections::{HashMap, HashSet};
use wayfarer_space::{Firing, Hash, Rng, Steps, Word};
use wayfarer_store::spec::{Accepts, Entry, Parameter};

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "highway",
        help: "breadth-first with a bounded number of states per level",
        parameters: &[
            Parameter::new("width", Accepts::Number(1..=1 << 24), "100", "the most states of a level"),
            Parameter::new("ideal", Accepts::OneOf(&["on", "off"]), "off", "whether a level is drawn uniformly, or as in the paper's Algorithm 1"),
            Parameter::new("restarts", Accepts::Number(0..=u32::MAX as u64), "100", "how many more highways follow the first"),
        ],
    },
    store: |_| PoolStore::spec(None, None),
    nature: |given| {
        let device = OnDevice::Highways { ideal: given.is("ideal", "on") };
        // It avoids the states that it knows, so how often it meets a state says nothing about how many there are.
        Nature { needs: Need::Emptying, draws: false, counts_depth: true, device, ..RANDOM }
    },
    build: |given, site| {
        let highway = Highway::new(given.number("width").unwrap_or(1) as usize, given.is("ideal", "on"), site.seed);
        Box::new(Highway { restarts: given.number("restarts").unwrap_or(0), limit: site.limits.depth, ..highway })
    },
};

/// Sources expanded in one round.
const BATCH: u32 = 64;

/// Highway search.
#[derive(Clone, Debug)]
pub struct Highway {
    width: usize,
    ideal: bool,
    restarts: u64,
    limit: u32,
    seeds: Rng,
    rng: Rng,
    /// The level that is being expanded, and how much of it was.
    level: Vec<Handle>,
    next: usize,
    lanes: Lanes,
    depth: u32,
    deepest: u32,
    begun: u64,
    beyond: u64,
    again: bool,
    ended: Option<Stop>,
    scratch: Vec<u32>,
    batch: Batch,
    /// The start states that it begins with, and whether the last ones that came are these.
    piece: OnePiece,
    begins: bool,
}

/// The selection for the next level so far.
#[derive(Clone, Debug, Default)]
struct Lanes {
    states: Vec<Vec<Word>>,
    parents: Vec<Handle>,
    hashes: Vec<Hash>,
    /// The position of each state.
    places: HashMap<Hash, usize>,
    /// How many were considered for this level.
    considered: u64,
    /// For ideal selection: all that were.
    met: HashSet<Hash>,
}

impl Highway {
    /// One highway of the given width, by ideal selection or by the paper's Algorithm 1.
    pub fn new(width: usize, ideal: bool, seed: u64) -> Self {
        let seeds = Rng::new(seed, "highway");
        Highway {
            width: width.max(1),
            ideal,
            restarts: 0,
            limit: u32::MAX,
            rng: seeds.split(0),
            seeds,
            level: Vec::new(),
            next: 0,
            lanes: Lanes::default(),
            depth: 0,
            deepest: 0,
            begun: 1,
            beyond: 0,
            again: false,
            ended: None,
            scratch: Vec::new(),
            batch: Batch::new(BATCH),
            piece: OnePiece::new(seed),
            begins: false,
        }
    }

    /// Offers an eligible state for the next level.
    fn consider(&mut self, state: &[Word], hash: Hash, parent: Handle) {
        let lanes = &mut self.lanes;
        if lanes.places.contains_key(&hash) || (self.ideal && !lanes.met.insert(hash)) {
            return;
        }
        lanes.considered += 1;
        let place = if lanes.states.len() < self.width {
            lanes.states.push(Vec::new());
            lanes.parents.push(parent);
            lanes.hashes.push(hash);
            lanes.states.len() - 1
        } else if self.rng.below(lanes.considered) < self.width as u64 {
            let place = self.rng.below(self.width as u64) as usize;
            lanes.places.remove(&lanes.hashes[place]);
            place
        } else {
            return;
        };
        lanes.states[place].clear();
        lanes.states[place].extend_from_slice(state);
        (lanes.parents[place], lanes.hashes[place]) = (parent, hash);
        lanes.places.insert(hash, place);
    }

    fn begin_anew(&mut self, store: &dyn Store, selection: &mut Selection) -> bool {
        if self.begun > self.restarts {
            return false;
        }
        store.clear();
        self.rng = self.seeds.split(self.begun);
        self.begun += 1;
        self.depth = 0;
        self.again = false;
        self.level.clear();
        self.next = 0;
        self.lanes = Lanes::default();
        self.piece.ask_for_another(selection);
        true
    }
}

impl Strategy for Highway {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.piece.is_to_be_drawn() {
            store.clear();
            self.level.clear();
            self.piece.ask_for_another(selection);
        } else if self.again && !self.begin_anew(store, selection) {
            self.ended = Some(Stop::Memory);
        }
        if self.ended.is_some() || selection.stepping == Stepping::Start {
            return;
        }
        if self.next < self.level.len() && self.depth >= self.limit {
            self.beyond += (self.level.len() - self.next) as u64;
            self.next = self.level.len();
        }
        if self.next < self.level.len() {
            let until = self.level.len().min(self.next + self.batch.states() as usize);
            selection.handles.extend_from_slice(&self.level[self.next..until]);
            store.states(&selection.handles, &mut selection.states);
            self.next = until;
        } else if !self.lanes.states.is_empty() {
            // The level is complete: what was selected enters V.
            selection.stepping = Stepping::Given;
            selection.handles.extend_from_slice(&self.lanes.parents);
            store.states(&selection.handles, &mut selection.states);
        } else if !self.begin_anew(store, selection) {
            self.ended = Some(Stop::Restarts);
        }
    }

    fn give(&mut self, selection: &Selection, steps: &mut Steps) {
        for (place, state) in self.lanes.states.iter().enumerate() {
            steps.push(place as u32, Firing::of(0), selection.states.get(place), state);
        }
    }

    fn admission(&self) -> Admission {
        Admission::Chosen
    }

    fn considers(&self) -> bool {
        true
    }

    fn admit(&mut self, selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        if selection.stepping == Stepping::Given {
            mask.resize(steps.len(), true);
            return;
        }
        mask.resize(steps.len(), false);
        let mut from = 0;
        let mut scratch = std::mem::take(&mut self.scratch);
        if candidates.sources.is_empty() {
            self.begins = self.piece.takes(selection, steps);
        }
        if candidates.sources.is_empty() && self.begins {
            distinct(steps, 0..steps.len(), &mut scratch);
            while scratch.len() > self.width {
                scratch.swap_remove(self.rng.below(scratch.len() as u64) as usize);
            }
            scratch.iter().for_each(|index| mask[*index as usize] = true);
        }
        for (source, parent) in candidates.sources.iter().enumerate() {
            let range = of_source(steps, from, source);
            from = range.end;
            distinct(steps, range, &mut scratch);
            for index in scratch.iter().map(|index| *index as usize) {
                if matches!(visits[index], Visit::New(_)) {
                    self.consider(steps.states.get(index), steps.hashes[index], *parent);
                }
            }
        }
        self.scratch = scratch;
    }

    fn update(&mut self, selection: &Selection, _kept: usize, candidates: Candidates, visits: &[Visit]) {
        let start = selection.handles.is_empty();
        if !start && selection.stepping != Stepping::Given {
            self.batch.learn(selection.handles.len(), candidates.steps.len());
            return;
        }
        if start && !self.begins {
            return;
        }
        self.level = visits.iter().filter_map(|visit| if let Visit::New(handle) = visit { Some(*handle) } else { None }).collect();
        self.next = 0;
        self.lanes = Lanes::default();
        self.depth += u32::from(!start);
        self.deepest = self.deepest.max(self.depth);
    }

    fn answers_full(&mut self) -> bool {
        self.again = true;
        true
    }
}

impl Position for Highway {
    fn ended(&self) -> Option<Stop> {
        self.ended
    }

    fn details(&self) -> Details {
        Details::of(Figures::default().sum("highways", self.begun as f64).last("width", self.width as f64))
    }

    fn depth(&self) -> Option<u32> {
        Some(self.deepest)
    }

    fn frontier(&self) -> u64 {
        (self.level.len() - self.next) as u64
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
