//! The walks of one sampler, as a strategy of the one loop over a store that remembers nothing.
//!
//! A walk is a function of the seed and its number, so the way to a violation is found by walking again.

use super::{CHANGE, Representative, Sampler, is_preferred};
use crate::strategies::drawing::{Choice, of_source, pick, pick_onward};
use crate::witness::chain;
use crate::{Admission, Candidates, Ground, Handle, Position, Record, Selection, Stepping, Store, Strategy, Visit};
use std::ops::Range;
use wayfarer_space::{Fired, Firing, Rng, Space, States, Steps, Width, Word, hash};

/// Walks side by side, so that a round's fixed cost is shared.
const LANES: usize = 16;

/// Steps of a round, roughly, if all steps out of a state are made.
const STEPS: usize = 2048;

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
    starts: Option<States>,
    lanes: Vec<Lane>,
    /// The number of walks that go on in a round: few if states have many successors, which take memory.
    wide: usize,
    /// The lane behind each selected state.
    chosen: Vec<usize>,
    /// For each of these the step that was drawn in the running round.
    drawn: Vec<Option<usize>>,
    kept: States,
    scratch: Vec<u32>,
}

/// A walk under way.
#[derive(Clone, Debug, Default)]
struct Lane {
    state: Vec<Word>,
    at: u32,
    keeps: u32,
    walk: Option<u64>,
    /// Its first state, if that is a stored state.
    handle: Option<Handle>,
    draws: Draws,
}

/// The random streams of a walk.
#[derive(Clone, Debug)]
struct Draws {
    rng: Rng,
    priorities: u64,
}

impl Default for Draws {
    fn default() -> Self {
        Draws { rng: Rng::new(0, ""), priorities: 0 }
    }
}

impl<'a> Walks<'a> {
    pub(super) fn new(sampler: Sampler, walks: Range<u64>, seed: u64, origin: Origin<'a>, width: Width) -> Self {
        Walks {
            sampler,
            ahead: walks,
            finished: 0,
            steps: 0,
            stream: sampler.stream(seed),
            origin,
            starts: None,
            lanes: vec![Lane::default(); LANES],
            wide: if sampler.expands() { 1 } else { LANES },
            chosen: Vec::new(),
            drawn: Vec::new(),
            kept: States::new(width),
            scratch: Vec::new(),
        }
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

    /// The walk of this number at its beginning; none if there is nowhere to begin.
    fn begin(&self, walk: u64) -> Option<Lane> {
        let mut rng = self.stream.split(walk);
        let keeps = self.sampler.kept_step(&mut rng);
        let mut found = States::new(self.kept.width());
        let (state, handle) = match &self.origin {
            Origin::Stored(store) => {
                let handle = store.nth(rng.below(store.len()));
                if store.is_empty() || !store.state(handle, &mut found) {
                    return None;
                }
                (found.get(0).to_vec(), Some(handle))
            }
            _ => {
                let starts = self.starts.as_ref().filter(|starts| !starts.is_empty())?;
                (starts.get(rng.below(starts.len() as u64) as usize).to_vec(), None)
            }
        };
        let priorities = rng.next_word();
        Some(Lane { state, at: 0, keeps, walk: Some(walk), handle, draws: Draws { rng, priorities } })
    }

    /// Whether a walk that stands in this state has come to its end.
    fn is_over(&self, lane: &Lane) -> bool {
        match &self.origin {
            Origin::Sieve { record, representative, reach } if lane.at >= lane.keeps => {
                let mut state = lane.state.clone();
                representative.iter().for_each(|representative| representative(&mut state));
                record.contains(hash(&state), &state).is_some() || lane.at - lane.keeps >= *reach
            }
            Origin::Sieve { .. } => false,
            _ => lane.at >= lane.keeps,
        }
    }

    /// The states of a walk up to its present one.
    fn again(&self, space: &dyn Space, walk: u64, length: u32) -> Option<(Vec<Vec<Word>>, Option<Handle>)> {
        let mut lane = self.begin(walk)?;
        let mut trail = vec![lane.state.clone()];
        let (mut steps, mut batch) = (Steps::new(space.width()), States::new(space.width()));
        let (mut scratch, mut out) = (Vec::new(), Vec::new());
        for _ in 0..length {
            let state = &trail[trail.len() - 1];
            if self.sampler.expands() {
                batch.clear();
                batch.push(state);
                space.expand(&batch, Firing::of(0), &mut steps);
                let Some(index) = lane.draws.step(self.sampler, &steps, 0..steps.len(), &mut scratch) else { continue };
                trail.push(steps.states.get(index).to_vec());
            } else if matches!(space.sample(state, &mut lane.draws.rng, &mut out), Some((_, Fired::To))) {
                trail.push(out.clone());
            }
        }
        Some((trail, lane.handle))
    }
}

impl Draws {
    /// The step that is taken, for samplers that see all steps; none if no step leads on.
    fn step(&mut self, sampler: Sampler, steps: &Steps, range: Range<usize>, scratch: &mut Vec<u32>) -> Option<usize> {
        if !matches!(sampler, Sampler::Priority { .. }) {
            return pick_onward(Choice::States, steps, range, &mut self.rng, scratch);
        }
        if self.rng.below(CHANGE) == 0 {
            self.priorities = self.rng.next_word();
        }
        scratch.clear();
        scratch.extend(range.filter(|index| steps.changed[*index] != 0).map(|index| index as u32));
        let preferred = |index: &u32| is_preferred(self.priorities, steps.firings[*index as usize].rule);
        if scratch.iter().any(preferred) {
            scratch.retain(preferred);
        }
        pick(Choice::Firings, steps, 0..scratch.len(), &mut self.rng, &mut Vec::new()).map(|at| scratch[at] as usize)
    }
}

impl Strategy for Walks<'_> {
    fn select(&mut self, _store: &dyn Store, selection: &mut Selection) {
        selection.stepping = if self.sampler.expands() { Stepping::All } else { Stepping::One };
        self.chosen.clear();
        for at in 0..self.lanes.len() {
            if self.chosen.len() == self.wide {
                break;
            }
            if self.lanes[at].walk.is_none()
                && let Some(walk) = self.ahead.next()
                && let Some(lane) = self.begin(walk)
            {
                self.lanes[at] = lane;
            }
            let lane = &self.lanes[at];
            if lane.walk.is_some() {
                self.chosen.push(at);
                selection.handles.push(Handle(u32::MAX));
                selection.states.push(&lane.state);
                selection.draws.push(lane.draws.rng.clone());
            }
        }
    }

    fn admission(&self) -> Admission {
        if self.sampler.expands() { Admission::Drawn } else { Admission::AllNew }
    }

    fn considers(&self) -> bool {
        self.sampler.expands()
    }

    fn admit(&mut self, _selection: &Selection, candidates: Candidates, _visits: &[Visit], mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        mask.resize(steps.len(), candidates.sources.is_empty());
        self.drawn.clear();
        let mut from = 0;
        for (source, lane) in self.chosen.iter().enumerate() {
            let range = of_source(steps, from, source);
            from = range.end;
            let drawn = self.lanes[*lane].draws.step(self.sampler, steps, range, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            self.drawn.push(drawn);
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, _visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            self.starts = Some(steps.states.clone());
            return;
        }
        if self.sampler.expands() {
            self.wide = (STEPS * selection.handles.len() / steps.len().max(1)).clamp(1, LANES);
        }
        let mut next = 0;
        for source in 0..kept {
            let at = self.chosen[source];
            let lane = &mut self.lanes[at];
            let (step, goes_on) = if self.sampler.expands() {
                (self.drawn[source], self.drawn[source].is_some())
            } else {
                lane.draws.rng = selection.draws[source].clone();
                let range = of_source(steps, next, source);
                next = range.end;
                // One that failed or was discarded leads nowhere, but another may.
                (range.clone().next(), steps.enabled[source] > 0)
            };
            self.steps += 1;
            lane.at += 1;
            if let Some(index) = step {
                lane.state.clear();
                lane.state.extend_from_slice(steps.states.get(index));
            }
            if !goes_on || self.is_over(&self.lanes[at]) {
                self.finished += 1;
                let lane = &mut self.lanes[at];
                lane.walk = None;
                self.kept.push(&lane.state);
            }
        }
    }

    fn trail(&self, ground: Ground, _selection: &Selection, source: usize) -> Option<Vec<Vec<Word>>> {
        let lane = &self.lanes[self.chosen[source]];
        let (walk, handle) = self.again(ground.space, lane.walk?, lane.at)?;
        match (handle, &self.origin) {
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
        (self.ahead.end - self.ahead.start) + self.chosen.len() as u64
    }

    fn exhaustive(&self) -> bool {
        false
    }
}
