//! Sets of bits of a state, or of the run of bits that a reference stands for.

use wayfarer_space::Word;

/// A set of bits, as a mask for each word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<Word>,
}

impl Bits {
    /// No bits of `words` words.
    pub fn none(words: usize) -> Self {
        Bits { words: vec![0; words] }
    }

    /// The first `bits` bits.
    pub(super) fn first(bits: u32) -> Self {
        let mut words = vec![Word::MAX; bits.div_ceil(64) as usize];
        if let (Some(last), true) = (words.last_mut(), !bits.is_multiple_of(64)) {
            *last = (1 << (bits % 64)) - 1;
        }
        Bits { words }
    }

    /// The masks, one per word.
    pub fn masks(&self) -> &[Word] {
        &self.words
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether the two sets share a bit.
    pub fn meets(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).any(|(word, more)| word & more != 0)
    }

    /// Whether it is a subset of another set.
    pub fn within(&self, other: &Bits) -> bool {
        self.words.iter().enumerate().all(|(index, word)| word & !other.words.get(index).copied().unwrap_or(0) == 0)
    }

    /// Adds all bits of another set.
    pub fn union(&mut self, other: &Bits) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Adds `part`, shifted up by `offset` and by every sum of multiples of the strides below their counts. Bits past
    /// the end are left out.
    pub(super) fn add(&mut self, part: &Bits, offset: usize, indices: &[(usize, usize)]) {
        if indices.iter().any(|(_, count)| *count == 0) {
            return;
        }
        // Only the words from the first to the last affected one are processed.
        let reach: usize = indices.iter().map(|(stride, count)| stride * (count - 1)).sum();
        let start = offset / 64;
        let length = (offset % 64 + reach).div_ceil(64) + part.words.len() + 1;
        let mut moved = vec![0; length.min(self.words.len().saturating_sub(start))];
        shift_into(&part.words, offset % 64, &mut moved);
        for (stride, count) in indices {
            // Each round doubles the number of multiples covered.
            let mut covered = 1;
            while covered < *count {
                let more = covered.min(count - covered);
                let copy = moved.clone();
                shift_into(&copy, more * stride, &mut moved);
                covered += more;
            }
        }
        for (word, more) in self.words.iter_mut().skip(start).zip(moved) {
            *word |= more;
        }
    }
}

/// Adds the bits of `from`, shifted up by `distance`, to `to`.
fn shift_into(from: &[Word], distance: usize, to: &mut [Word]) {
    let (words, bits) = (distance / 64, distance % 64);
    for (index, word) in from.iter().enumerate() {
        if let Some(low) = to.get_mut(index + words) {
            *low |= word << bits;
        }
        if let (Some(high), true) = (to.get_mut(index + words + 1), bits > 0) {
            *high |= word >> (64 - bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayfarer_space::Rng;

    #[test]
    fn adding_runs_agrees_with_the_definition() {
        let mut rng = Rng::new(3, "bits");
        for _ in 0..2_000 {
            let part = Bits::first(1 + rng.below(130) as u32);
            let offset = rng.below(200) as usize;
            let indices: Vec<(usize, usize)> = (0..rng.below(3)).map(|_| (rng.below(70) as usize, rng.below(7) as usize)).collect();
            let mut quick = Bits::none(8);
            quick.add(&part, offset, &indices);
            let mut slow = Bits::none(8);
            let mut starts = vec![offset];
            for (stride, count) in &indices {
                starts = starts.iter().flat_map(|start| (0..*count).map(move |k| start + k * stride)).collect();
            }
            for bit in starts
                .iter()
                .flat_map(|start| (0..part.words.len() * 64).filter(|bit| part.words[bit / 64] >> (bit % 64) & 1 == 1).map(move |bit| start + bit))
            {
                if bit < 512 {
                    slow.words[bit / 64] |= 1 << (bit % 64);
                }
            }
            assert_eq!(quick, slow, "{part:?} {offset} {indices:?}");
        }
    }
}
