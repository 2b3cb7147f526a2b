//! Walks side by side, one random step after another: where each stands, how its next step is drawn, and the way it came.
//!
//! Walks of a search and walks of the audit are the same walks; they differ in where they begin and when they end. A walk
//! keeps no path: its draws are a function of its stream, so the way to where it stands is found by walking again.

use super::drawing::{Choice, of_source, pick, pick_onward};
use crate::audit::{CHANGE, is_preferred};
use crate::{Admission, Candidates, Handle, Selection, Stepping};
use std::ops::Range;
use wayfarer_space::{Fired, Firing, Rng, Space, States, Steps, Word};

/// How steps are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// Uniform over the enabled firings. The space draws, and makes no other step.
    Firings,
    /// Uniform over the set of successors.
    States,
    /// Uniform over the firings whose rules have the higher of two priorities, drawn anew now and then.
    Priorities,
}

impl Law {
    /// Whether all steps out of a state are made to draw one.
    pub(crate) fn expands(self) -> bool {
        self != Law::Firings
    }
}

/// The random streams of a walk.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    pub(crate) rng: Rng,
    pub(crate) priorities: u64,
}

impl Draws {
    pub(crate) fn new(rng: Rng) -> Self {
        Draws { rng, priorities: 0 }
    }

    /// The step that is taken, for laws that see all steps; none if no step leads on.
    fn step(&mut self, law: Law, steps: &Steps, range: Range<usize>, scratch: &mut Vec<u32>) -> Option<usize> {
        if law != Law::Priorities {
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

/// A walk under way.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) state: Vec<Word>,
    pub(crate) draws: Draws,
    /// Steps since it began.
    pub(crate) steps: u32,
    /// Whether it stands in a state.
    pub(crate) live: bool,
}

/// Walks side by side, so that a round's fixed cost is shared.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    law: Law,
    lanes: Vec<Lane>,
    /// The lane behind each selected state.
    chosen: Vec<usize>,
    /// For each of these the step that was drawn in the running round.
    drawn: Vec<Option<usize>>,
    scratch: Vec<u32>,
    /// The end of the steps of the source that was moved last.
    next: usize,
}

/// The step of a walk in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// The walk.
    pub(crate) lane: usize,
    /// The step it took. A firing that failed or was discarded leads nowhere.
    pub(crate) step: Option<usize>,
    /// Whether some step leads on.
    pub(crate) goes_on: bool,
}

impl Lanes {
    /// As many walks as there are streams; none of them has begun.
    pub(crate) fn new(law: Law, streams: impl Iterator<Item = Rng>) -> Self {
        let lane = |rng| Lane { state: Vec::new(), draws: Draws::new(rng), steps: 0, live: false };
        Lanes { law, lanes: streams.map(lane).collect(), chosen: Vec::new(), drawn: Vec::new(), scratch: Vec::new(), next: 0 }
    }

    /// The same with another law.
    pub(crate) fn with(self, law: Law) -> Self {
        Lanes { law, ..self }
    }

    pub(crate) fn law(&self) -> Law {
        self.law
    }

    pub(crate) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// How many walks go on in this round.
    pub(crate) fn chosen(&self) -> usize {
        self.chosen.len()
    }

    pub(crate) fn lane(&self, lane: usize) -> &Lane {
        &self.lanes[lane]
    }

    /// The walk behind a selected state, and its number.
    pub(crate) fn behind(&self, source: usize) -> (usize, &Lane) {
        (self.chosen[source], &self.lanes[self.chosen[source]])
    }

    /// A walk begins here.
    pub(crate) fn begin(&mut self, lane: usize, state: &[Word], draws: Draws) {
        let lane = &mut self.lanes[lane];
        lane.state.clear();
        lane.state.extend_from_slice(state);
        (lane.draws, lane.steps, lane.live) = (draws, 0, true);
    }

    /// A walk is over.
    pub(crate) fn end(&mut self, lane: usize) {
        self.lanes[lane].live = false;
    }

    /// A round begins: no walk goes on in it yet.
    pub(crate) fn open(&mut self, selection: &mut Selection) {
        selection.stepping = if self.law.expands() { Stepping::All } else { Stepping::One };
        self.chosen.clear();
        self.next = 0;
    }

    /// A walk goes on in this round.
    pub(crate) fn select(&mut self, lane: usize, handle: Handle, selection: &mut Selection) {
        self.chosen.push(lane);
        let lane = &self.lanes[lane];
        selection.handles.push(handle);
        selection.states.push(&lane.state);
        selection.draws.push(lane.draws.rng.clone());
    }

    pub(crate) fn admission(&self) -> Admission {
        if self.law.expands() { Admission::Drawn } else { Admission::AllNew }
    }

    /// Draws a step for each walk of the round, and marks it.
    pub(crate) fn admit(&mut self, candidates: Candidates, mask: &mut Vec<bool>) {
        let steps = candidates.steps;
        mask.clear();
        mask.resize(steps.len(), candidates.sources.is_empty());
        self.drawn.clear();
        let mut from = 0;
        for (source, lane) in self.chosen.iter().enumerate() {
            let range = of_source(steps, from, source);
            from = range.end;
            let drawn = self.lanes[*lane].draws.step(self.law, steps, range, &mut self.scratch);
            drawn.into_iter().for_each(|index| mask[index] = true);
            self.drawn.push(drawn);
        }
    }

    /// Moves the walk behind a selected state by the step that was drawn. To be called for each of them in turn.
    pub(crate) fn go(&mut self, source: usize, selection: &Selection, steps: &Steps) -> Moved {
        let number = self.chosen[source];
        let lane = &mut self.lanes[number];
        let (step, goes_on) = if self.law.expands() {
            (self.drawn[source], self.drawn[source].is_some())
        } else {
            lane.draws.rng = selection.draws[source].clone();
            let range = of_source(steps, self.next, source);
            self.next = range.end;
            // If no step leads on, a drawn one leads back.
            (range.clone().next(), steps.enabled[source] > 0)
        };
        lane.steps += 1;
        if let Some(index) = step {
            lane.state.clear();
            lane.state.extend_from_slice(steps.states.get(index));
        }
        Moved { lane: number, step, goes_on }
    }
}

/// The states of a walk: from its first state on, with the draws that it had then, for so many steps.
pub(crate) fn again(space: &dyn Space, law: Law, first: Vec<Word>, mut draws: Draws, steps: u32) -> Vec<Vec<Word>> {
    let mut trail = vec![first];
    let (mut made, mut batch) = (Steps::new(space.width()), States::new(space.width()));
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    for _ in 0..steps {
        let state = &trail[trail.len() - 1];
        if law.expands() {
            batch.clear();
            batch.push(state);
            space.expand(&batch, Firing::of(0), &mut made);
            let Some(index) = draws.step(law, &made, 0..made.len(), &mut scratch) else { continue };
            trail.push(made.states.get(index).to_vec());
        } else if matches!(space.sample(state, &mut draws.rng, &mut out), Some((_, Fired::To))) {
            trail.push(out.clone());
        }
    }
    trail
}
