//! Whole states that a witness will pass through, each with a link to the one before it, counted by those that need them.

use crate::Account;
use wayfarer_space::{Packing, Word};
use wayfarer_store::varying;

/// Waypoints that are taken from the account together.
const BLOCK: usize = 256;
/// No waypoint.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A forest of states in which only what is needed is kept.
pub(crate) struct Waypoints {
    packing: Packing,
    /// Tight states, [`BLOCK`] to a block.
    blocks: Vec<Box<[Word]>>,
    /// States that have each their own number of words.
    forms: Vec<Box<[u8]>>,
    /// Link and count of each.
    links: Vec<Box<[(u32, u32)]>>,
    free: Vec<u32>,
    /// The most bytes to take.
    most: usize,
}

impl Waypoints {
    pub(crate) fn new(packing: Packing) -> Self {
        Waypoints { packing, blocks: Vec::new(), forms: Vec::new(), links: Vec::new(), free: Vec::new(), most: usize::MAX }
    }

    /// The same in at most `most` bytes.
    pub(crate) fn within(self, most: usize) -> Self {
        Waypoints { most, ..self }
    }

    /// Adds a state behind another waypoint, held once; none if the account has no room.
    pub(crate) fn add(&mut self, state: &[Word], before: Option<u32>, account: &dyn Account) -> Option<u32> {
        let mut form = Vec::new();
        if self.packing.is_varying() {
            varying::encode(state, &mut form);
            if !account.allows(form.len()) {
                return None;
            }
        }
        if self.free.is_empty() {
            let words = self.packing.words() * BLOCK;
            if (self.blocks.len() + 1).saturating_mul(self.one() * BLOCK) > self.most {
                return None;
            }
            if !account.allows(words * size_of::<Word>() + BLOCK * (12 + if self.packing.is_varying() { 16 } else { 0 })) {
                return None;
            }
            let first = (self.blocks.len() * BLOCK) as u32;
            self.blocks.push(vec![0; words].into_boxed_slice());
            if self.packing.is_varying() {
                self.forms.resize_with(self.forms.len() + BLOCK, Box::default);
            }
            self.links.push(vec![(NOWHERE, 0); BLOCK].into_boxed_slice());
            self.free.extend((first..first + BLOCK as u32).rev());
        }
        let waypoint = self.free.pop()?;
        let (block, at) = (waypoint as usize / BLOCK, waypoint as usize % BLOCK);
        if self.packing.is_varying() {
            self.forms[waypoint as usize] = form.into_boxed_slice();
        } else {
            let words = self.packing.words();
            self.packing.pack(state, &mut self.blocks[block][at * words..(at + 1) * words]);
        }
        self.links[block][at] = (before.unwrap_or(NOWHERE), 1);
        if let Some(before) = before {
            self.hold(before);
        }
        Some(waypoint)
    }

    /// The bytes that `more` further waypoints would take.
    pub(crate) fn bytes_for(&self, more: u64) -> u64 {
        more.saturating_sub(self.free.len() as u64).saturating_mul(self.one() as u64)
    }

    /// The bytes of one waypoint, about.
    fn one(&self) -> usize {
        self.packing.words() * size_of::<Word>() + 12 + if self.packing.is_varying() { 64 } else { 0 }
    }

    /// One more needs it.
    pub(crate) fn hold(&mut self, waypoint: u32) {
        if waypoint == NOWHERE {
            return;
        }
        self.links[waypoint as usize / BLOCK][waypoint as usize % BLOCK].1 += 1;
    }

    /// Removes one use of a waypoint. After the last use the waypoint is freed, and so are those that only it needed.
    pub(crate) fn release(&mut self, mut waypoint: u32) {
        while waypoint != NOWHERE {
            let (before, count) = &mut self.links[waypoint as usize / BLOCK][waypoint as usize % BLOCK];
            *count -= 1;
            if *count > 0 {
                return;
            }
            let next = *before;
            if let Some(form) = self.forms.get_mut(waypoint as usize) {
                *form = Box::default();
            }
            self.free.push(waypoint);
            waypoint = next;
        }
    }

    /// The states from the first waypoint to this one.
    pub(crate) fn chain(&self, mut waypoint: u32) -> Vec<Vec<Word>> {
        let words = self.packing.words();
        let mut states = Vec::new();
        while waypoint != NOWHERE {
            let (block, at) = (waypoint as usize / BLOCK, waypoint as usize % BLOCK);
            states.push(match self.forms.get(waypoint as usize) {
                Some(form) => {
                    let mut state = vec![0; varying::words(form)];
                    varying::decode(form, &mut state);
                    state
                }
                None => {
                    let mut state = vec![0; self.packing.masks().len()];
                    self.packing.unpack(&self.blocks[block][at * words..(at + 1) * words], &mut state);
                    state
                }
            });
            waypoint = self.links[block][at].0;
        }
        states.reverse();
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    #[test]
    fn what_nobody_needs_is_freed_with_its_ancestors() {
        for packing in [Packing::whole(1), Packing::varying()] {
            let mut waypoints = Waypoints::new(packing);
            let root = waypoints.add(&[1], None, &Unlimited).unwrap();
            let left = waypoints.add(&[2], Some(root), &Unlimited).unwrap();
            let right = waypoints.add(&[3], Some(root), &Unlimited).unwrap();
            waypoints.release(root);
            assert_eq!(waypoints.chain(right), [vec![1], vec![3]]);
            let before = waypoints.free.len();
            waypoints.release(left);
            assert_eq!(waypoints.free.len(), before + 1);
            waypoints.release(right);
            assert_eq!(waypoints.free.len(), before + 3);
        }
    }

    #[test]
    fn waypoints_of_varying_width_come_back() {
        let mut waypoints = Waypoints::new(Packing::varying());
        let states = [vec![], vec![1, 2, 3], vec![u64::MAX; 70]];
        let last = states.iter().fold(None, |before, state| waypoints.add(state, before, &Unlimited));
        assert_eq!(waypoints.chain(last.unwrap()), states);
    }
}
