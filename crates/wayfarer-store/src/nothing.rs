//! A store that remembers nothing: for random walks, which need no memory. Every state is new to it.

use crate::rows::{NOTHING, any, as_given, little};
use crate::spec::Entry;
use crate::{Candidates, Fidelity, Forget, Handle, Recall, Remember, Seat, StoreRow, StoreSpec, Visit};

/// The row of `nothing`.
pub(crate) static ROW: StoreRow = StoreRow {
    entry: Entry { name: "nothing", help: "no states at all, for walks", parameters: &[] },
    abilities: NOTHING,
    agree: any,
    least: little,
    settle: as_given,
    takes: |_, _| (0, "nothing is remembered".to_string()),
    build: |_, _| Some(Box::new(NoStore)),
};

/// Remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl NoStore {
    /// The choice of no store.
    pub fn spec() -> StoreSpec {
        StoreSpec::of(&ROW, &[])
    }
}

impl Remember for NoStore {
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

impl Recall for NoStore {}

impl Forget for NoStore {}
