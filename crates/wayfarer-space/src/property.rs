//! A set of property numbers.

/// A set of property numbers that grows as needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyBits {
    words: Vec<u64>,
}

impl PropertyBits {
    /// Adds a property.
    pub fn insert(&mut self, property: u32) {
        let word = property as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (property % 64);
    }

    /// Whether the set contains the property.
    pub fn contains(&self, property: u32) -> bool {
        self.words.get(property as usize / 64).is_some_and(|word| word >> (property % 64) & 1 == 1)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Removes all properties.
    #[inline]
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Adds all properties of another set.
    pub fn union(&mut self, other: &PropertyBits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Whether it is a subset of another set.
    #[inline]
    pub fn is_subset(&self, other: &PropertyBits) -> bool {
        self.words.iter().enumerate().all(|(index, word)| word & !other.words.get(index).copied().unwrap_or(0) == 0)
    }

    /// The properties in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index as u32 * 64 + bit))
    }
}
