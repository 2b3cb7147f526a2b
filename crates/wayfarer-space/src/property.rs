//! Sets of property numbers, and the kinds of properties.

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

/// The kind of a property: the claim that its condition makes about the reachable states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// It holds in every reachable state.
    Always,
    /// It holds in no reachable state.
    Never,
    /// It is assumed: states in which it fails are not part of the system.
    Assumption,
    /// It holds in some reachable state, or some step reports that it was reached.
    Reachable,
    /// A question with two answers: does it hold in some reachable state?
    Exists,
    /// A question with two answers: does it hold in no reachable state? The condition is the negation of the author's
    /// claim about all states.
    Forall,
}

impl PropertyKind {
    /// All kinds with their names.
    pub const ALL: [(PropertyKind, &'static str); 6] = [
        (PropertyKind::Always, "always"),
        (PropertyKind::Never, "never"),
        (PropertyKind::Assumption, "assumption"),
        (PropertyKind::Reachable, "reachable"),
        (PropertyKind::Exists, "exists"),
        (PropertyKind::Forall, "forall"),
    ];

    /// The name of the kind.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("always", |(_, word)| word)
    }

    /// Whether a state in which it holds can be the goal of a search.
    pub fn asks_to_reach(self) -> bool {
        matches!(self, PropertyKind::Reachable | PropertyKind::Exists | PropertyKind::Forall)
    }

    /// The value of the condition for which [`Space::check`](crate::Space::check) reports a state; none for assumptions, which are not reported.
    pub fn reported_if(self) -> Option<bool> {
        match self {
            PropertyKind::Always => Some(false),
            PropertyKind::Never | PropertyKind::Reachable | PropertyKind::Exists | PropertyKind::Forall => Some(true),
            PropertyKind::Assumption => None,
        }
    }
}
