//! Candidates that equal one announced a moment ago, if states are wide.
//!
//! Copies of wide states would not fit a core's own cache. So only hashes are noted, each with the number of its candidate. A candidate of the same
//! round is compared where it lies. One of an earlier round has a handle when the turn of this one comes, and the state of
//! that handle is compared then, without a search in the index.

use super::ahead::{Look, NONE, TWIN};
use crate::{Account, Handle, Visit};
use std::collections::VecDeque;
use wayfarer_space::Steps;

/// The most places.
const PLACES: usize = 1 << 11;
/// Handles that are kept for each place.
const HANDLES: usize = 2;
/// The bytes of a place and its handles.
const BYTES: usize = size_of::<Noted>() + HANDLES * size_of::<u32>();

/// The latest candidate at each place that a hash names, and the handles of the latest candidates, by their numbers.
#[derive(Debug)]
pub(super) struct Twins {
    noted: Vec<Noted>,
    handles: Vec<u32>,
    next: u32,
    /// The numbers of candidates that have a twin in an earlier round, and of these twins, in the order of the candidates.
    found: VecDeque<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Noted {
    hash: u64,
    number: u32,
}

impl Twins {
    /// Takes not more than so many bytes, and none if the account has no room for them.
    pub(super) fn new(bytes: usize, account: &dyn Account) -> Self {
        let places = 1 << (bytes / BYTES).clamp(1, PLACES).ilog2();
        let places = if account.allows(places * BYTES) { places } else { 0 };
        // No candidate has the number before the first one yet, and by the time one has, all handles are others.
        Twins { noted: vec![Noted { hash: 0, number: u32::MAX }; places], handles: vec![NONE; places * HANDLES], next: 0, found: VecDeque::new() }
    }

    /// Appends each candidate that changed and has no twin before it in its round. Says which number the first of them has.
    pub(super) fn sift(&mut self, steps: &Steps, looks: &mut Vec<Look>) -> u32 {
        let first = self.next;
        let places = self.noted.len().wrapping_sub(1);
        for (index, (hash, changed)) in steps.hashes.iter().zip(&steps.changed).enumerate() {
            if *changed == 0 {
                continue;
            }
            let mut look = Look::at(index);
            let hash = hash.second();
            if let Some(noted) = self.noted.get_mut(hash as usize & places) {
                let same = noted.hash == hash;
                if same && let Some(before) = looks.get(noted.number.wrapping_sub(first) as usize) {
                    if steps.states.get(before.index as usize) == steps.states.get(index) {
                        continue;
                    }
                } else if same {
                    look.likely = TWIN;
                    self.found.push_back((self.next, noted.number));
                }
                *noted = Noted { hash, number: self.next };
            }
            looks.push(look);
            self.next = self.next.wrapping_add(1);
        }
        first
    }

    /// Names the twins of a round's candidates, of which the first has the number given. Rounds come in the order in which they were sifted.
    pub(super) fn resolve(&mut self, first: u32, looks: &mut [Look]) {
        let last = self.handles.len().wrapping_sub(1);
        while let Some((number, twin)) = self.found.front()
            && let Some(look) = looks.get_mut(number.wrapping_sub(first) as usize)
        {
            // The handle may be that of a later candidate. It has some state, in any case.
            look.likely = self.handles[*twin as usize & last];
            self.found.pop_front();
        }
        debug_assert!(looks.iter().all(|look| look.likely != TWIN), "rounds out of order");
    }

    /// Remembers the handles that a round's candidates were found to have.
    pub(super) fn learn(&mut self, first: u32, looks: &[Look], visits: &[Visit]) {
        let last = self.handles.len().wrapping_sub(1);
        for (look, number) in looks.iter().zip(first..) {
            let handle = match visits.get(look.index as usize) {
                Some(Visit::New(Handle(handle))) => *handle,
                Some(Visit::Seen(Handle(handle))) if *handle != NONE => *handle,
                Some(Visit::Seen(_)) => look.likely,
                _ => NONE,
            };
            if let Some(known) = self.handles.get_mut(number as usize & last) {
                *known = handle;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;
    use wayfarer_space::{Firing, Rng, Width, Word};

    #[test]
    fn twins_are_named_by_their_handles_and_repeats_lie_in_their_round() {
        for bytes in [1, 1 << 10, 1 << 17] {
            let mut rng = Rng::new(6, "twins");
            let mut twins = Twins::new(bytes, &Unlimited);
            let mut kept: Vec<Vec<Word>> = Vec::new();
            let (mut waiting, mut right) = (std::collections::VecDeque::new(), 0);
            for round in 0..300 {
                let mut steps = Steps::new(Width::Fixed(9));
                for _ in 0..50 {
                    // Some states never come again.
                    let kind = if rng.below(3) == 0 { rng.next_word() } else { rng.below(200) };
                    steps.push(0, Firing::of(0), &[0; 9], &[1, 2, 3, kind, 5, 6, 7, 8, 9]);
                }
                let mut looks = Vec::new();
                let first = twins.sift(&steps, &mut looks);
                let mut places = looks.iter().map(|look| look.index as usize).peekable();
                for index in 0..steps.len() {
                    let here = steps.states.get(index);
                    assert!(places.next_if_eq(&index).is_some() || (0..index).any(|before| steps.states.get(before) == here), "round {round}");
                }
                waiting.push_back((steps, looks, first));
                if waiting.len() < 3 {
                    continue;
                }
                let Some((steps, mut looks, first)) = waiting.pop_front() else { break };
                twins.resolve(first, &mut looks);
                let mut visits = vec![Visit::Seen(Handle(NONE)); steps.len()];
                for look in &looks {
                    let state = steps.states.get(look.index as usize);
                    assert_ne!(look.likely, TWIN);
                    if kept.get(look.likely as usize).is_some_and(|kept| kept == state) {
                        right += 1;
                        continue;
                    }
                    visits[look.index as usize] = match kept.iter().position(|kept| kept == state) {
                        Some(at) => Visit::Seen(Handle(at as u32)),
                        None => Visit::New(Handle(kept.len() as u32)),
                    };
                    if let Visit::New(_) = visits[look.index as usize] {
                        kept.push(state.to_vec());
                    }
                }
                twins.learn(first, &looks, &visits);
            }
            assert!(bytes < 1 << 17 || right > 3_000, "{right}");
        }
    }
}
