//! The depth of each state of V in the exploration tree: the number of steps of the way by which it was first reached.
//!
//! A byte for each state is enough as long as no depth passes 255; then the numbers become wider.

use crate::{Handle, Visit};

/// The depths of V's states, by handle, and the greatest one so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Depths {
    of: Numbers,
    /// The depth of the states that the search began with, or began anew.
    base: u32,
    deepest: u32,
    sources: Vec<u32>,
}

/// Numbers in the narrowest form that holds them all.
#[derive(Clone, Debug)]
enum Numbers {
    Bytes(Vec<u8>),
    Halves(Vec<u16>),
    Wide(Vec<u32>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Bytes(Vec::new())
    }
}

impl Depths {
    /// The greatest depth of any state so far.
    pub(super) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// V was emptied, and the search begins anew at a state of this depth.
    pub(super) fn begin(&mut self, base: u32) {
        self.of = Numbers::default();
        self.base = base;
    }

    /// Records the states that the search begins with.
    pub(super) fn start(&mut self, visits: &[Visit]) {
        let base = self.base;
        visits.iter().for_each(|visit| self.enter(*visit, base));
    }

    /// Notes the sources of a round. A store that replaces may give a new state the handle of one of them.
    pub(super) fn note_sources(&mut self, sources: &[Handle]) {
        let mut depths = std::mem::take(&mut self.sources);
        depths.clear();
        depths.extend(sources.iter().map(|source| self.depth(*source)));
        self.sources = depths;
    }

    /// Records the state that a source of the round led to.
    pub(super) fn learn(&mut self, source: usize, visit: Visit) {
        let depth = self.sources.get(source).map_or(self.base, |depth| depth.saturating_add(1));
        self.enter(visit, depth);
    }

    fn depth(&self, handle: Handle) -> u32 {
        let at = handle.0 as usize;
        let found = match &self.of {
            Numbers::Bytes(all) => all.get(at).map(|depth| u32::from(*depth)),
            Numbers::Halves(all) => all.get(at).map(|depth| u32::from(*depth)),
            Numbers::Wide(all) => all.get(at).copied(),
        };
        found.unwrap_or(self.base)
    }

    fn enter(&mut self, visit: Visit, depth: u32) {
        let Visit::New(handle) = visit else { return };
        self.deepest = self.deepest.max(depth);
        self.of.put(handle.0 as usize, depth);
    }
}

impl Numbers {
    fn put(&mut self, at: usize, number: u32) {
        match self {
            Numbers::Bytes(all) => match u8::try_from(number) {
                Ok(number) => return put(all, at, number),
                Err(_) => *self = Numbers::Halves(all.iter().map(|number| u16::from(*number)).collect()),
            },
            Numbers::Halves(all) => match u16::try_from(number) {
                Ok(number) => return put(all, at, number),
                Err(_) => *self = Numbers::Wide(all.iter().map(|number| u32::from(*number)).collect()),
            },
            Numbers::Wide(all) => return put(all, at, number),
        }
        self.put(at, number);
    }
}

fn put<T: Copy + Default>(all: &mut Vec<T>, at: usize, number: T) {
    if at >= all.len() {
        all.resize(at + 1, T::default());
    }
    all[at] = number;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_become_wider_when_they_have_to() {
        let mut depths = Depths::default();
        depths.start(&[Visit::New(Handle(0)), Visit::Seen(Handle(9))]);
        for (handle, depth) in [(3, 255), (4, 256), (1, 65_535), (2, 70_000), (0, 7)] {
            depths.enter(Visit::New(Handle(handle)), depth);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|handle| depths.depth(Handle(handle))), [7, 65_535, 70_000, 255, 256]);
        assert_eq!(depths.deepest(), 70_000);
        depths.begin(5);
        depths.start(&[Visit::New(Handle(0))]);
        assert_eq!((depths.depth(Handle(0)), depths.deepest()), (5, 70_000));
    }
}
