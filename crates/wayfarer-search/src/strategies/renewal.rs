//! Starting anew when V is full: V is emptied, and the search goes on from the start states or from a random state of the V that was.

use crate::{Ground, Handle, Selection, Stepping, Store};
use wayfarer_space::{Firing, Rng, States, Steps, Word};

/// If the way to the restart has more states than this, the search begins at the start states again.
const LONGEST: usize = 1 << 16;

/// How a strategy starts anew.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    from_visited: bool,
    wanted: bool,
    times: u64,
    /// The way from a start state to the state of the restart; empty if that is a start state.
    way: Vec<Vec<Word>>,
}

impl Renewal {
    pub(crate) fn new(from_visited: bool) -> Self {
        Renewal { from_visited, wanted: false, times: 0, way: Vec::new() }
    }

    /// V is to be emptied before the next selection.
    pub(crate) fn ask(&mut self) -> bool {
        self.wanted = true;
        true
    }

    /// Whether it begins anew from a visited state.
    pub(crate) fn begins_at_visited(&self) -> bool {
        self.from_visited
    }

    /// The depth of the state where the search began anew.
    pub(crate) fn depth(&self) -> u32 {
        self.way.len().saturating_sub(1) as u32
    }

    pub(crate) fn times(&self) -> u64 {
        self.times
    }

    /// Empties V if that was asked for, and selects its first states.
    pub(crate) fn select(&mut self, store: &dyn Store, rng: &mut Rng, selection: &mut Selection) -> bool {
        if !std::mem::take(&mut self.wanted) {
            return false;
        }
        self.times += 1;
        let kept = self.from_visited && !store.is_empty() && {
            let chosen = store.nth(rng.below(store.len()));
            let before = std::mem::take(&mut self.way);
            self.way = joined(before, way(store, chosen, selection));
            self.way.len() <= LONGEST
        };
        if !kept {
            self.way.clear();
        }
        store.clear();
        selection.stepping = if kept { Stepping::Given } else { Stepping::Start };
        selection.draws.extend((!kept).then(|| rng.split(self.times)));
        true
    }

    pub(crate) fn give(&self, steps: &mut Steps) {
        if let Some(state) = self.way.last() {
            steps.push(0, Firing::of(0), state, state);
        }
    }

    /// The way to a state, if V's links do not lead to a start state.
    pub(crate) fn trail(&self, ground: Ground, at: Handle) -> Option<Vec<Vec<Word>>> {
        if self.way.is_empty() {
            return None;
        }
        let selection = Selection::new(ground.space.width());
        Some(joined(self.way.clone(), way(ground.store, at, &selection)))
    }
}

/// The states from the first of V to this one.
fn way(store: &dyn Store, at: Handle, selection: &Selection) -> Vec<Vec<Word>> {
    let mut states = States::new(selection.states.width());
    let handles = std::iter::successors(Some(at), |handle| store.parent(*handle));
    let mut way: Vec<Vec<Word>> = handles
        .map(|handle| {
            states.clear();
            store.state(handle, &mut states);
            states.get(0).to_vec()
        })
        .collect();
    way.reverse();
    way
}

/// Two ways, the second of which begins at the end of the first. A way back to a state of the first is cut off.
fn joined(mut first: Vec<Vec<Word>>, second: Vec<Vec<Word>>) -> Vec<Vec<Word>> {
    if let Some(last) = second.last()
        && let Some(at) = first.iter().position(|state| state == last)
    {
        first.truncate(at + 1);
        return first;
    }
    let skip = usize::from(first.last() == second.first());
    first.extend(second.into_iter().skip(skip));
    first
}
