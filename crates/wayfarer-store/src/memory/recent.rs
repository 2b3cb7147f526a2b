//! A small table of recently found states. In breadth-first search it holds most of the states that are found again,
//! because two independent steps lead from neighbours to the same state in either order. A
//! [`Sieve`](wayfarer_space::Sieve) does the same inside a space, before states are hashed; this table is for all other
//! spaces.

use crate::Account;
use wayfarer_space::{Hash, Packing, Word, hash};

/// Words of an entry, including the length, if states vary in length.
const VARYING: usize = 8;
/// States of more words are compared only up to their first difference.
const FEW: usize = 8;

/// Whole states, each at the place that its hash names. A state is taken for found only if it was.
#[derive(Debug)]
pub(crate) struct Recent {
    words: Vec<Word>,
    /// Words of an entry; 0 if there are no entries.
    stride: usize,
    mask: usize,
    varying: bool,
}

impl Recent {
    /// A table of at most `bytes` bytes, empty if the account has no room for it.
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
        // An empty entry must hold a state that belongs elsewhere. That is the state of zeros, except at its own place, which holds another.
        let zero = self.entry(hash(&vec![0; self.stride]));
        let mut other = vec![Word::MAX; self.stride];
        while self.entry(hash(&other)) == zero {
            other[0] -= 1;
        }
        self.words[zero..zero + self.stride].copy_from_slice(&other);
    }

    /// The beginning of the entry of a hash.
    #[inline]
    fn entry(&self, hash: Hash) -> usize {
        (hash.second() as usize & self.mask) * self.stride
    }

    /// The entries, if each is one word, and the mask of a hash's second half that names a place among them.
    #[inline]
    pub(crate) fn plain(&mut self) -> Option<(&mut [Word], usize)> {
        (self.stride == 1 && !self.varying).then_some((&mut self.words, self.mask))
    }

    /// Whether a state was found recently; it counts as found from now on.
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
        if room.len() > FEW {
            let same = room == state;
            if !same {
                room.copy_from_slice(state);
            }
            return same;
        }
        // Word by word: calls to compare and to copy would take longer than these few words.
        room.iter_mut().zip(state).fold(true, |same, (old, new)| std::mem::replace(old, *new) == *new && same)
    }
}
