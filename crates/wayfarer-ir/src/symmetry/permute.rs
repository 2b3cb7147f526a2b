//! Applies a permutation of elements to a state.

use super::Symmetry;
use super::places::{NO_VERTEX, Reference, Row, Slots};
use crate::packing::ones;
use std::cmp::Ordering;
use wayfarer_space::Word;

impl Symmetry {
    /// Writes to `out` the state in which every element `v` has become element number `to[v]` of its set.
    pub(super) fn permute(&self, state: &[Word], to: &[u16], out: &mut Vec<Word>) {
        out.clear();
        out.extend(state.iter().zip(&self.still).map(|(word, still)| word & still));
        for fixed in &self.fixed {
            let word = fixed.word as usize;
            out[word] |= self.renamed(&fixed.reference, state[word], to);
        }
        for row in &self.rows {
            self.permute_row(row, state, to, out);
        }
        for cell in &self.cells {
            // A free slot is empty, although zero might stand for an element elsewhere.
            if cell.is_free(state) {
                continue;
            }
            let unit = &self.units[cell.unit as usize];
            let piece = self.rename(state[cell.word as usize] >> cell.shift, unit.data, &unit.references, to);
            let corners = &self.corners[cell.corners as usize..];
            let at = unit.bit + corners.iter().zip(&unit.strides).map(|(corner, stride)| u32::from(to[usize::from(*corner)]) * stride).sum::<u32>();
            out[at as usize / 64] |= piece << (at % 64);
        }
        for slots in &self.bags {
            sort(slots, out);
        }
    }

    #[inline]
    fn permute_row(&self, row: &Row, state: &[Word], to: &[u16], out: &mut [Word]) {
        let to_here = &to[usize::from(row.first)..][..usize::from(row.count)];
        if row.narrow {
            let (word, start) = (row.bit as usize / 64, row.bit % 64);
            let mut source = state[word] >> start;
            let mut made = 0;
            for index in to_here {
                let piece = source & row.mask;
                let piece = if row.references.is_empty() { piece } else { self.rename(piece, row.data, &row.references, to) };
                made |= piece << (u32::from(*index) * row.stride);
                // The last shift may be by a whole word.
                source = source.unbounded_shr(row.stride);
            }
            out[word] |= made << start;
            return;
        }
        let mut bit = row.bit;
        for index in to_here {
            let piece = state[bit as usize / 64] >> (bit % 64) & row.mask;
            let piece = if row.references.is_empty() { piece } else { self.rename(piece, row.data, &row.references, to) };
            let at = row.bit + u32::from(*index) * row.stride;
            out[at as usize / 64] |= piece << (at % 64);
            bit += row.stride;
        }
    }

    /// A piece with its references replaced by their images.
    #[inline]
    fn rename(&self, piece: Word, data: Word, references: &[Reference], to: &[u16]) -> Word {
        references.iter().fold(piece & data, |made, reference| made | self.renamed(reference, piece, to))
    }

    /// The bits of one reference after renaming, at their place in the piece.
    #[inline]
    fn renamed(&self, reference: &Reference, piece: Word, to: &[u16]) -> Word {
        let stored = piece >> reference.shift & reference.mask;
        let vertex = self.tables[reference.table as usize + stored as usize];
        if vertex == NO_VERTEX {
            return stored << reference.shift;
        }
        let vertex = usize::from(vertex);
        (stored + Word::from(to[vertex]) - Word::from(self.index[vertex])) << reference.shift
    }
}

/// Sorts slots in descending order, the last word weighing most, as `Sort` does.
fn sort(slots: &Slots, words: &mut [Word]) {
    let start = |slot: u32| (slots.bit + slot * slots.stride) as usize;
    for slot in 1..slots.capacity {
        let mut at = slot;
        while at > 0 && compare(words, start(at - 1), start(at), slots.bits) == Ordering::Less {
            swap(words, start(at - 1), start(at), slots.bits);
            at -= 1;
        }
    }
}

fn compare(words: &[Word], left: usize, right: usize, bits: u32) -> Ordering {
    if bits <= 64 {
        return (words[left / 64] >> (left % 64) & ones(bits)).cmp(&(words[right / 64] >> (right % 64) & ones(bits)));
    }
    let run = |at: usize| words[at / 64..at / 64 + bits as usize / 64].iter().rev();
    run(left).cmp(run(right))
}

fn swap(words: &mut [Word], left: usize, right: usize, bits: u32) {
    if bits <= 64 {
        let difference = (words[left / 64] >> (left % 64) ^ words[right / 64] >> (right % 64)) & ones(bits);
        words[left / 64] ^= difference << (left % 64);
        words[right / 64] ^= difference << (right % 64);
        return;
    }
    for word in 0..bits as usize / 64 {
        words.swap(left / 64 + word, right / 64 + word);
    }
}
