//! The states that a random search chooses from, if V itself is too many: without closed states, or leaves apart from inner states.
//!
//! A state is closed once all its successors were visited. `urs` and `sdrs`, and their re-initialised forms, can take closed states out of the choice or out
//! of V as well, as the papers' implementation did (Abed, Tripakis, Vincent 2008).

use super::drawing::distinct;
use super::{Crewing, Nature, Need, RANDOM, exact};
use crate::{Handle, PoolStore, StoreSpec, Visit};
use std::ops::Range;
use wayfarer_space::{Rng, Steps};
use wayfarer_store::spec::{Accepts, Given, Parameter};

pub(super) const CLOSE: Parameter = Parameter::new(
    "close",
    Accepts::OneOf(&["off", "on", "delete"]),
    "off",
    "whether a state leaves the choice, or V, once all its successors were visited",
);

/// The treatment of closed states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    /// They can be chosen like any other.
    Off,
    /// They leave the choice, and V still knows them.
    On,
    /// V forgets them.
    Delete,
}

impl Close {
    pub(super) fn given(given: &Given) -> Close {
        match given.text("close") {
            Some("on") => Close::On,
            Some("delete") => Close::Delete,
            _ => Close::Off,
        }
    }
}

/// For rows: a search that closes states knows when it has visited everything; that takes one worker. What it meets again it does not meet by chance.
pub(super) fn closing(given: &Given, needs: Need) -> Nature {
    let closes = given.is("close", "on");
    let crewing = if closes { Crewing::Alone } else { Crewing::Apart };
    let draws = !closes && !given.is("close", "delete");
    Nature { needs, crewing, exhaustive: closes && !given.is("from", "visited"), draws, counts_depth: true, ..RANDOM }
}

/// For rows: the exact store, or a pool if V has to forget closed states.
pub(super) fn exact_or_pool(given: &Given) -> StoreSpec {
    if given.is("close", "delete") { PoolStore::spec(None, None) } else { exact(given) }
}

/// Whether a source has no unvisited successor left once the drawn step was taken.
pub(super) fn is_closed(steps: &Steps, range: Range<usize>, visits: &[Visit], drawn: Option<usize>, scratch: &mut Vec<u32>) -> bool {
    distinct(steps, range, scratch);
    let is_drawn = |index: usize| drawn.is_some_and(|drawn| steps.hashes[index] == steps.hashes[drawn]);
    !scratch.iter().any(|index| {
        let index = *index as usize;
        matches!(visits[index], Visit::New(_)) && steps.changed[index] != 0 && !is_drawn(index)
    })
}

/// The states to choose from, leaves apart from inner states.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    pub(super) members: [Vec<u32>; 2],
    /// Class and place of each handle; none for those that are not members.
    places: Vec<Option<(u8, u32)>>,
    /// Handles that V is to forget before the next choice.
    pub(super) forgotten: Vec<Handle>,
}

impl Classes {
    pub(super) const INNER: usize = 0;
    pub(super) const LEAVES: usize = 1;

    pub(super) fn len(&self) -> u64 {
        (self.members[0].len() + self.members[1].len()) as u64
    }

    /// Enters the new ones of the states that a search begins with.
    pub(super) fn start(&mut self, visits: &[Visit]) {
        visits.iter().for_each(|visit| {
            if let Visit::New(handle) = visit {
                self.enter(*handle);
            }
        });
    }

    /// A uniform member, whatever its class.
    pub(super) fn draw_any(&self, rng: &mut Rng) -> Option<Handle> {
        let leaves = self.members[Classes::LEAVES].len() as u64;
        (self.len() > 0).then(|| rng.below(self.len())).and_then(|at| {
            let (class, at) = if at < leaves { (Classes::LEAVES, at) } else { (Classes::INNER, at - leaves) };
            self.members[class].get(at as usize).map(|handle| Handle(*handle))
        })
    }

    pub(super) fn draw(&self, class: usize, rng: &mut Rng) -> Option<Handle> {
        let members = if self.members[class].is_empty() { &self.members[1 - class] } else { &self.members[class] };
        members.get(rng.below(members.len() as u64) as usize).map(|handle| Handle(*handle))
    }

    pub(super) fn is_leaf(&self, handle: Handle) -> bool {
        matches!(self.places.get(handle.0 as usize), Some(Some((class, _))) if *class as usize == Classes::LEAVES)
    }

    pub(super) fn enter(&mut self, handle: Handle) {
        let at = handle.0 as usize;
        if at >= self.places.len() {
            self.places.resize(at + 1, None);
        }
        self.leave(handle);
        self.put(handle, Classes::LEAVES);
    }

    fn put(&mut self, handle: Handle, class: usize) {
        self.places[handle.0 as usize] = Some((class as u8, self.members[class].len() as u32));
        self.members[class].push(handle.0);
    }

    pub(super) fn becomes_inner(&mut self, handle: Handle) {
        if self.is_leaf(handle) {
            self.leave(handle);
            self.put(handle, Classes::INNER);
        }
    }

    pub(super) fn leave(&mut self, handle: Handle) -> bool {
        let Some((class, place)) = self.places.get_mut(handle.0 as usize).and_then(Option::take) else { return false };
        let members = &mut self.members[class as usize];
        members.swap_remove(place as usize);
        if let Some(moved) = members.get(place as usize) {
            self.places[*moved as usize] = Some((class, place));
        }
        true
    }
}
