//! A store that remembers nothing: for random walks, which need no memory. Every state is new to it.

use crate::{Candidates, Fidelity, Handle, Seat, Store, Visit};
use wayfarer_space::States;

/// Remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl Store for NoStore {
    fn seat(&self) -> Option<Seat> {
        Some(Seat::new(()))
    }

    fn probe(&self, _seat: &mut Seat, candidates: Candidates, visits: &mut Vec<Visit>) {
        visits.clear();
        visits.resize(candidates.steps.len(), Visit::New(Handle(u32::MAX)));
    }

    fn insert(&self, _seat: &mut Seat, candidates: Candidates, mask: Option<&[bool]>, mut room: u64, visits: &mut Vec<Visit>) {
        visits.clear();
        for index in 0..candidates.steps.len() {
            visits.push(match mask {
                Some(mask) if !mask[index] => Visit::Skipped,
                _ if room == 0 => Visit::Full,
                _ => {
                    room -= 1;
                    Visit::New(Handle(u32::MAX))
                }
            });
        }
    }

    fn state(&self, _at: Handle, _out: &mut States) -> bool {
        false
    }

    fn parent(&self, _at: Handle) -> Option<Handle> {
        None
    }

    fn len(&self) -> u64 {
        0
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Amnesic
    }

    fn bytes(&self) -> usize {
        0
    }
}
