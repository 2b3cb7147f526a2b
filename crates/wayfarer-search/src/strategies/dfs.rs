//! Depth-first search, true preorder: a state is marked when it is entered, not when it is first seen, so states are visited in the order in which a
//! recursive search would. `rdfs` takes the successors in random order (Engels, Groote, van Weerdenburg, Willemse 2009; Dwyer and others 2006).
//!
//! The stack holds a handle and a cursor per level. Coming back to a state expands it again from the cursor on: firings are made anew, and in exchange
//! the stack costs twelve bytes a level and no pushed siblings. Over stores that cannot give states back the stack keeps the states themselves, tight.
//!
//! Departure of `rdfs`: instead of shuffling the successors once, it draws one of those not visited yet each time it is back. The order is the same in
//! distribution, because which successors are left depends on those before them only, and nothing has to be remembered.

mod stack;

use super::{Nature, OnDevice, Row, SYSTEMATIC, exact};
use crate::strategies::drawing::distinct;
use crate::{Account, Admission, Candidates, Ground, Handle, Limits, Position, Selection, Stepping, Stop, Store, Strategy, Unlimited, Visit};
use stack::Stack;
use wayfarer_space::{Firing, Packing, Rng, States, Word};
use wayfarer_store::spec::Entry;

pub(super) static ROW: Row = Row {
    entry: Entry { name: "dfs", help: "depth-first: the first unvisited successor of each state", parameters: &[] },
    store: exact,
    nature: |_| SYSTEMATIC,
    build: |_, site| Box::new(Dfs::over(site.limits, (!site.store.abilities().recalls).then(|| site.packing.clone()), site.account, None)),
};

pub(super) static RANDOMISED: Row = Row {
    entry: Entry { name: "rdfs", help: "depth-first, successors in random order", parameters: &[] },
    store: exact,
    nature: |_| Nature { seeded: true, device: OnDevice::Swarm, ..SYSTEMATIC },
    build: |_, site| {
        let own = (!site.store.abilities().recalls).then(|| site.packing.clone());
        Box::new(Dfs::over(site.limits, own, site.account, Some(Rng::new(site.seed, "rdfs"))))
    },
};

/// Depth-first search.
pub struct Dfs<'a> {
    stack: Stack<'a>,
    /// Whether a level found no room.
    full: bool,
    /// Start states that were not entered yet, the first last: their handles, and their places among the states themselves, which are kept if the store does not
    /// give them back.
    starts: Vec<(Handle, u32)>,
    start_states: Option<States>,
    /// Whether they are in the order in which they are entered: before the first round they come piece by piece.
    ordered: bool,
    /// Set if successors are taken in random order.
    rng: Option<Rng>,
    scratch: Vec<u32>,
    deepest: u32,
    beyond: u64,
    limit: u32,
    /// The candidate chosen in the running round.
    chosen: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    state: Handle,
    /// The first firing that was not tried yet.
    next: Firing,
    /// Whether it was expanded before.
    again: bool,
}

impl<'a> Dfs<'a> {
    /// A search over a store that gives states back; it does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits) -> Self {
        Dfs::over(limits, None, &Unlimited, None)
    }

    /// The same with successors in random order.
    pub fn randomised(limits: &Limits, seed: u64) -> Self {
        Dfs::over(limits, None, &Unlimited, Some(Rng::new(seed, "rdfs")))
    }

    fn over(limits: &Limits, own: Option<Packing>, account: &'a dyn Account, rng: Option<Rng>) -> Self {
        Dfs {
            stack: Stack::new(own, account),
            full: false,
            starts: Vec::new(),
            start_states: None,
            ordered: false,
            rng,
            scratch: Vec::new(),
            deepest: 0,
            beyond: 0,
            limit: limits.depth,
            chosen: None,
        }
    }

    fn push(&mut self, handle: Handle, state: &[Word]) {
        self.full |= !self.stack.push(Level { state: handle, next: Firing::of(0), again: false }, state);
    }

    /// The unvisited successor to enter.
    fn choose(&mut self, candidates: Candidates, visits: &[Visit]) -> Option<usize> {
        let Some(rng) = &mut self.rng else {
            return visits.iter().position(|visit| matches!(visit, Visit::New(_)));
        };
        distinct(candidates.steps, 0..candidates.steps.len(), &mut self.scratch);
        self.scratch.retain(|index| matches!(visits[*index as usize], Visit::New(_)));
        let drawn = rng.below(self.scratch.len() as u64);
        self.scratch.get(drawn as usize).map(|index| *index as usize)
    }
}

impl Strategy for Dfs<'_> {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if !std::mem::replace(&mut self.ordered, true) {
            self.starts.reverse();
            if let Some(rng) = &mut self.rng {
                for at in (1..self.starts.len()).rev() {
                    self.starts.swap(at, rng.below(at as u64 + 1) as usize);
                }
            }
        }
        while self.stack.len() as u64 > u64::from(self.limit) {
            self.stack.pop();
            self.beyond += 1;
        }
        while self.stack.is_empty() {
            // If the store is full, the rest stays unexpanded.
            if self.full {
                return;
            }
            let Some((handle, place)) = self.starts.pop() else { return };
            if self.limit == 0 {
                self.beyond += 1;
                continue;
            }
            let states = self.start_states.take();
            self.push(handle, states.as_ref().map_or(&[], |states| states.get(place as usize)));
            self.start_states = states;
        }
        if let Some(level) = self.stack.last_mut() {
            let state = level.state;
            selection.handles.push(state);
            selection.from = level.next;
            selection.stepping = if level.again { Stepping::Again } else { Stepping::All };
            level.again = true;
            if self.stack.keeps_states() {
                self.stack.state(self.stack.len() - 1, &mut selection.states);
            } else {
                store.state(state, &mut selection.states);
            }
        }
    }

    fn admission(&self) -> Admission {
        Admission::Chosen
    }

    fn admit(&mut self, _selection: &Selection, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        mask.clear();
        mask.resize(visits.len(), candidates.sources.is_empty());
        if !candidates.sources.is_empty() {
            self.chosen = self.choose(candidates, visits);
            if let Some(index) = self.chosen {
                mask[index] = true;
            }
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        let steps = candidates.steps;
        if selection.handles.is_empty() {
            let kept = self.stack.keeps_states().then(|| self.start_states.get_or_insert_with(|| States::new(steps.states.width())));
            let first = kept.as_ref().map_or(0, |kept| kept.len() as u32);
            self.starts
                .extend(visits.iter().zip(first..).filter_map(|(visit, place)| if let Visit::New(at) = visit { Some((*at, place)) } else { None }));
            if let Some(kept) = kept {
                steps.states.iter().for_each(|state| kept.push(state));
            }
            return;
        }
        if kept == 0 {
            if let Some(level) = self.stack.last_mut() {
                level.again = selection.stepping == Stepping::Again;
            }
            return;
        }
        match self.chosen.take().map(|index| (index, visits[index])) {
            Some((index, Visit::New(handle))) => {
                if let (Some(level), None) = (self.stack.last_mut(), &self.rng) {
                    level.next = steps.firings[index].after();
                }
                self.push(handle, steps.states.get(index));
                if self.stack.len() as u64 <= u64::from(self.limit) + 1 {
                    self.deepest = self.deepest.max(self.stack.len() as u32 - 1);
                }
            }
            _ => self.stack.pop(),
        }
    }

    fn trail(&self, ground: Ground, _selection: &Selection, _source: usize) -> Option<Vec<Vec<Word>>> {
        if !self.stack.keeps_states() {
            return None;
        }
        let mut states = States::new(ground.space.width());
        (0..self.stack.len()).for_each(|level| {
            self.stack.state(level, &mut states);
        });
        Some(states.iter().map(<[Word]>::to_vec).collect())
    }
}

impl Position for Dfs<'_> {
    fn depth(&self) -> Option<u32> {
        Some(self.deepest)
    }

    fn frontier(&self) -> u64 {
        self.stack.len() as u64 + self.starts.len() as u64 + u64::from(self.full)
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ended(&self) -> Option<Stop> {
        self.full.then_some(Stop::Memory)
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
