//! States that were met a moment ago: in breadth-first search most of what is not new is among them, because two steps that can be taken in either order lead from
//! neighbours to the same state. A [`Sieve`](wayfarer_space::Sieve) does the same where a space can leave such steps out before they are hashed; this is for all others.

use crate::Account;
use wayfarer_space::{Hash, Packing, Word, hash};

/// Where lengths vary, words of an entry, its state's length included.
const VARYING: usize = 8;

/// Whole states, each in the one place that its hash names, so that only what was met is taken for met.
#[derive(Debug)]
pub(crate) struct Recent {
    words: Vec<Word>,
    /// Words of an entry; none where there are no entries.
    stride: usize,
    mask: usize,
    varying: bool,
}

impl Recent {
    /// At most so many bytes of states, none where the account has no room for them.
    pub(crate) fn new(packing: &Packing, bytes: usize, account: &dyn Account) -> Self {
        let stride = if packing.is_varying() { VARYING } else { packing.masks().len() };
        let entries = bytes / 8 / stride.max(1);
        if entries < 2 || !account.allows(bytes) {
            return Recent { words: Vec::new(), stride: 0, mask: 0, varying: false };
        }
        let entries = 1 << entries.ilog2();
        let mut recent = Recent { words: vec![0; entries * stride], stride, mask: entries - 1, varying: packing.is_varying() };
        recent.clear();
        recent
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        if self.varying || self.stride == 0 {
            return;
        }
        // An empty entry holds a state that belongs elsewhere: the one of zeros, and where that belongs, another.
        let zero = self.entry(hash(&vec![0; self.stride]));
        let mut other = vec![Word::MAX; self.stride];
        while self.entry(hash(&other)) == zero {
            other[0] -= 1;
        }
        self.words[zero..zero + self.stride].copy_from_slice(&other);
    }

    /// Where the entry of a hash begins.
    #[inline]
    fn entry(&self, hash: Hash) -> usize {
        (hash.second() as usize & self.mask) * self.stride
    }

    /// The entries themselves where each is one word, and what of a hash's second half names a place among them.
    #[inline]
    pub(crate) fn plain(&mut self) -> Option<(&mut [Word], usize)> {
        (self.stride == 1 && !self.varying).then_some((&mut self.words, self.mask))
    }

    /// Whether a state was met lately; from now on it was.
    pub(crate) fn repeats(&mut self, hash: Hash, state: &[Word]) -> bool {
        if self.stride == 0 {
            return false;
        }
        let entry = self.entry(hash);
        let entry = &mut self.words[entry..entry + self.stride];
        let room = if self.varying {
            if state.len() >= VARYING {
                return false;
            }
            let (length, room) = entry.split_at_mut(1);
            let before = std::mem::replace(&mut length[0], 1 + state.len() as u64);
            let room = &mut room[..state.len()];
            if before != 1 + state.len() as u64 {
                room.copy_from_slice(state);
                return false;
            }
            room
        } else {
            entry
        };
        // Word by word: calls to compare and to copy would take longer than these few words.
        room.iter_mut().zip(state).fold(true, |same, (old, new)| std::mem::replace(old, *new) == *new && same)
    }
}
