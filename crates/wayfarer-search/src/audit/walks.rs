//! The walks of one sampler, as a strategy of the one loop over a store that remembers nothing.
//!
//! A walk is a function of the seed and its number, so the way to a violation is found by walking again.

use super::{Representative, Sampler};
use crate::strategies::batch::Batch;
use crate::strategies::walking::{Draws, Lanes, Moved, again};
use crate::witness::chain;
use crate::{Admission, Candidates, Ground, Handle, Position, Record, Selection, Store, Strategy, Visit};
use std::ops::Range;
use wayfarer_space::{Rng, Space, States, Steps, Width, Word, hash};

/// Walks side by side, so that a round's fixed cost is shared.
const LANES: usize = 16;

/// Tries to make a start state before a walk is given up: some numbers may stand for none.
const TRIES: u32 = 256;

/// The ends of walks, apart from the sampler's law.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// They begin in a start state, all equally likely.
    Start,
    /// They begin in a stored state.
    Stored(&'a dyn Store),
    /// They end in the first state that the record can judge.
    Sieve { record: &'a Record, representative: Option<Representative<'a>>, reach: u32 },
}

pub(super) struct Walks<'a> {
    sampler: Sampler,
    /// The numbers of those that were not begun.
    ahead: Range<u64>,
    finished: u64,
    steps: u64,
    stream: Rng,
    origin: Origin<'a>,
    /// The space and its number of start states, if there are so many that each walk makes its own, by number.
    many: Option<(&'a dyn Space, u64)>,
    starts: Option<States>,
    lanes: Lanes,
    /// The walk of each lane.
    begun: Vec<Begun>,
    /// The walks that go on in a round, if all their successors are made.
    wide: Option<Batch>,
    kept: States,
    /// Room for a state and for its representative.
    found: States,
    folded: Vec<Word>,
}

/// A walk that was begun.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    walk: u64,
    keeps: u32,
    /// Its first state, if that is a stored state.
    handle: Option<Handle>,
}

impl<'a> Walks<'a> {
    pub(super) fn new(sampler: Sampler, walks: Range<u64>, seed: u64, origin: Origin<'a>, width: Width) -> Self {
        let stream = sampler.stream(seed);
        Walks {
            sampler,
            ahead: walks,
            finished: 0,
            steps: 0,
            lanes: Lanes::new(sampler.law(), (0..LANES).map(|_| stream.clone())),
            stream,
            origin,
            many: None,
            starts: None,
            begun: vec![Begun::default(); LANES],
            wide: sampler.law().expands().then(|| Batch::new(LANES as u32)),
            kept: States::new(width),
            found: States::new(width),
            folded: Vec::new(),
        }
    }

    /// The same in a space with so many start states that each walk makes its own.
    pub(super) fn making_starts(self, many: Option<(&'a dyn Space, u64)>) -> Self {
        Walks { many, ..self }
    }

    /// Walks that came to their end.
    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    pub(super) fn all_steps(&self) -> u64 {
        self.steps
    }

    /// The states that were kept, at most one for each walk.
    pub(super) fn into_kept(self) -> States {
        self.kept
    }

    /// The beginning of a walk, with its first state in `found`; none if there is nowhere to begin.
    fn beginning(&self, walk: u64, found: &mut States) -> Option<(Begun, Draws)> {
        let mut rng = self.stream.split(walk);
        let keeps = self.sampler.kept_step(&mut rng);
        found.clear();
        let handle = match &self.origin {
            Origin::Stored(store) => {
                let handle = store.nth(rng.below(store.len()));
                if store.is_empty() || !store.state(handle, found) {
                    return None;
                }
                Some(handle)
            }
            _ if self.many.is_some() => {
                let (space, starts) = self.many?;
                let mut steps = Steps::new(found.width());
                for _ in 0..TRIES {
                    let number = rng.below(starts);
                    space.initial_some(number..number + 1, &mut steps);
                    if !steps.states.is_empty() {
                        break;
                    }
                }
                if steps.states.is_empty() {
                    return None;
                }
                found.push(steps.states.get(0));
                None
            }
            _ => {
                let starts = self.starts.as_ref().filter(|starts| !starts.is_empty())?;
                found.push(starts.get(rng.below(starts.len() as u64) as usize));
                None
            }
        };
        let priorities = rng.next_word();
        Some((Begun { walk, keeps, handle }, Draws { rng, priorities }))
    }

    /// Begins the next walk in a lane, if there is one.
    fn begin(&mut self, lane: usize) {
        let Some(walk) = self.ahead.next() else { return };
        let mut found = std::mem::replace(&mut self.found, States::new(self.kept.width()));
        if let Some((begun, draws)) = self.beginning(walk, &mut found) {
            self.begun[lane] = begun;
            self.lanes.begin(lane, found.get(0), draws);
        }
        self.found = found;
    }

    /// Whether a walk has come to its end.
    fn is_over(&mut self, lane: usize) -> bool {
        let (at, keeps) = (self.lanes.lane(lane), self.begun[lane].keeps);
        match &self.origin {
            _ if at.steps < keeps => false,
            Origin::Sieve { record, representative, reach } => {
                let mut state = &at.state;
                if let Some(representative) = representative {
                    self.folded.clone_from(state);
                    representative(&mut self.folded);
                    state = &self.folded;
                }
                record.judges(hash(state)) || at.steps - keeps >= *reach
            }
            _ => true,
        }
    }
}

impl Strategy for Walks<'_> {
    fn select(&mut self, _store: &dyn Store, selection: &mut Selection) {
        self.lanes.open(selection);
        let wide = self.wide.map_or(LANES, |batch| batch.states() as usize);
        for lane in 0..self.lanes.len() {
            if self.lanes.chosen() == wide {
                break;
            }
            if !self.lanes.lane(lane).live {
                self.begin(lane);
            }
            if self.lanes.lane(lane).live {
                self.lanes.select(lane, Handle(u32::MAX), selection);
            }
        }
    }

    fn admission(&self) -> Admission {
        self.lanes.admission()
    }

    fn considers(&self) -> bool {
        self.lanes.law().expands()
    }

    fn admit(&mut self, _selection: &Selection, candidates: Candidates, _visits: &[Visit], mask: &mut Vec<bool>) {
        self.lanes.admit(candidates, mask);
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, _visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            let starts = self.starts.get_or_insert_with(|| States::new(steps.states.width()));
            steps.states.iter().for_each(|state| starts.push(state));
            return;
        }
        if let Some(batch) = &mut self.wide {
            batch.learn(selection.handles.len(), steps.len());
        }
        for source in 0..kept {
            let Moved { lane, goes_on, .. } = self.lanes.go(source, selection, steps);
            self.steps += 1;
            if !goes_on || self.is_over(lane) {
                self.finished += 1;
                self.lanes.end(lane);
                self.kept.push(&self.lanes.lane(lane).state);
            }
        }
    }

    fn trail(&self, ground: Ground, _selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let (lane, at) = self.lanes.behind(source);
        let mut first = States::new(self.kept.width());
        let (begun, draws) = self.beginning(self.begun[lane].walk, &mut first)?;
        let walk = again(ground.space, self.lanes.law(), first.get(0).to_vec(), draws, at.steps);
        match (begun.handle, &self.origin) {
            (Some(handle), Origin::Stored(store)) => {
                let mut trail = chain(ground.space, *store, handle).ok()?;
                trail.extend(walk.into_iter().skip(1));
                Some(trail)
            }
            _ => Some(walk),
        }
    }
}

impl Position for Walks<'_> {
    fn steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn depth(&self) -> Option<u32> {
        None
    }

    fn frontier(&self) -> u64 {
        (self.ahead.end - self.ahead.start) + self.lanes.chosen() as u64
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
