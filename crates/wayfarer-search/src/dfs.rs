//! Depth-first search, true preorder: a state is marked when it is entered, not when it is first seen, so states are visited in the order in which a
//! recursive search would.
//!
//! The stack holds a handle and a cursor per level. Coming back to a state expands it again from the cursor on: firings are made anew, and in exchange
//! the stack costs twelve bytes a level and no pushed siblings.

use crate::{Admission, Candidates, Handle, Limits, Selection, Store, Strategy, Visit};
use wayfarer_space::Firing;

/// Depth-first search over a store that gives states back.
#[derive(Clone, Debug)]
pub struct Dfs {
    stack: Vec<Level>,
    /// Start states that were not entered yet, the first last.
    starts: Vec<Handle>,
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
}

impl Dfs {
    /// A search that does not expand states at `limits.depth` and beyond.
    pub fn new(limits: &Limits) -> Self {
        Dfs { stack: Vec::new(), starts: Vec::new(), deepest: 0, beyond: 0, limit: limits.depth, chosen: None }
    }
}

impl Strategy for Dfs {
    fn select(&mut self, store: &dyn Store, selection: &mut Selection) {
        if self.stack.is_empty() {
            match self.starts.pop() {
                Some(state) => self.stack.push(Level { state, next: Firing::of(0) }),
                None => return,
            }
        }
        while self.stack.len() as u64 > u64::from(self.limit) {
            self.stack.pop();
            self.beyond += 1;
            if self.stack.is_empty() {
                return self.select(store, selection);
            }
        }
        if let Some(level) = self.stack.last() {
            selection.handles.push(level.state);
            store.state(level.state, &mut selection.states);
            selection.from = level.next;
            selection.first = level.next == Firing::of(0);
        }
    }

    fn admission(&self) -> Admission {
        Admission::Chosen
    }

    fn admit(&mut self, candidates: Candidates, visits: &[Visit], mask: &mut Vec<bool>) {
        mask.clear();
        mask.resize(visits.len(), candidates.sources.is_empty());
        self.chosen = visits.iter().position(|visit| matches!(visit, Visit::New(_)));
        if let Some(index) = self.chosen {
            mask[index] = true;
        }
    }

    fn update(&mut self, selection: &Selection, kept: usize, candidates: Candidates, visits: &[Visit]) {
        if selection.handles.is_empty() {
            self.starts = visits.iter().rev().filter_map(|visit| if let Visit::New(handle) = visit { Some(*handle) } else { None }).collect();
            return;
        }
        if kept == 0 {
            return;
        }
        match self.chosen.take().map(|index| (index, visits[index])) {
            Some((index, Visit::New(handle))) => {
                if let Some(level) = self.stack.last_mut() {
                    level.next = candidates.steps.firings[index].after();
                }
                self.stack.push(Level { state: handle, next: Firing::of(0) });
                if self.stack.len() as u64 <= u64::from(self.limit) + 1 {
                    self.deepest = self.deepest.max(self.stack.len() as u32 - 1);
                }
            }
            _ => {
                self.stack.pop();
            }
        }
    }

    fn depth(&self) -> u32 {
        self.deepest
    }

    fn frontier(&self) -> u64 {
        self.stack.len() as u64 + self.starts.len() as u64
    }

    fn beyond_depth(&self) -> u64 {
        self.beyond
    }

    fn exhaustive(&self) -> bool {
        true
    }
}
