//! Which bits of a state hold which tokens.

use super::bounds::{Bounds, MOST, OneToken, bits_for};
use super::flat::Flat;
use super::widths::Widths;
use wayfarer_ir::layout;
use wayfarer_space::Word;

/// How the tokens of a net are kept in a state.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The fields, in the order of their first places.
    pub fields: Vec<Field>,
    /// The encoding of each place's tokens.
    pub kept: Vec<Kept>,
    /// How many words a state has.
    pub words: u32,
    /// Bits of all fields together.
    pub bits: u32,
}

/// Some bits of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The number of its first bit.
    pub offset: u32,
    /// How many bits it has.
    pub bits: u32,
    /// Its content.
    pub holds: Holds,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The tokens of a place; whether it is proved that there are never more than fit.
    Count {
        /// The place.
        place: u32,
        /// Whether it is proved that they fit.
        is_proved: bool,
    },
    /// Which of some places has the one token that they share: its number among them, one more where they can all be empty.
    Which(OneToken),
}

/// The encoding of a place's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Their number never changes.
    Constant(u64),
    /// A field counts them.
    Count {
        /// The field.
        field: u32,
    },
    /// There is one where a field has a value.
    Which {
        /// The field.
        field: u32,
        /// The value.
        value: u32,
    },
}

/// A net whose states would be larger than is supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooWide {
    /// Bits of a state.
    pub bits: u64,
}

impl Encoding {
    /// Lays the tokens of a net into words.
    pub fn new(flat: &Flat, bounds: &Bounds, widths: &Widths) -> Result<Self, TooWide> {
        let mut kept: Vec<Kept> = flat.initial.iter().map(|tokens| Kept::Constant(*tokens)).collect();
        // A field has the place at which it is first needed, so that neighbours in the text are neighbours in the state.
        let mut fields: Vec<(u32, u32, Holds)> = Vec::new();
        let mut in_set = vec![false; flat.places.len()];
        for set in &bounds.sets {
            set.places.iter().for_each(|place| in_set[*place as usize] = true);
            let values = set.places.len() as u64 + u64::from(set.can_be_empty);
            fields.push((set.places[0], bits_for(values), Holds::Which(set.clone())));
        }
        for place in (0..flat.places.len()).filter(|place| !in_set[*place] && !bounds.constant[*place]) {
            let (bits, is_proved) = match bounds.proved[place] {
                Some(bound) if bound <= MOST => (bits_for(bound + 1), true),
                _ => (widths.bits[place].max(bits_for(flat.initial[place] + 1)).clamp(1, 62), false),
            };
            if bits > 0 {
                fields.push((place as u32, bits, Holds::Count { place: place as u32, is_proved }));
            }
        }
        fields.retain(|(_, bits, _)| *bits > 0);
        fields.sort_by_key(|(first, _, _)| *first);
        let sizes: Vec<u32> = fields.iter().map(|(_, bits, _)| *bits).collect();
        let bits: u64 = sizes.iter().map(|bits| u64::from(*bits)).sum();
        let (offsets, words) = arrange(&sizes).ok_or(TooWide { bits })?;
        let fields: Vec<Field> = fields.into_iter().zip(offsets).map(|((_, bits, holds), offset)| Field { offset, bits, holds }).collect();
        for (number, field) in fields.iter().enumerate() {
            let number = number as u32;
            match &field.holds {
                Holds::Count { place, .. } => kept[*place as usize] = Kept::Count { field: number },
                Holds::Which(set) => {
                    for (value, place) in set.places.iter().enumerate() {
                        kept[*place as usize] = Kept::Which { field: number, value: value as u32 + u32::from(set.can_be_empty) };
                    }
                }
            }
        }
        Ok(Encoding { fields, kept, words: words.max(1), bits: bits as u32 })
    }

    /// The tokens of a place in a state.
    pub fn tokens(&self, state: &[Word], place: usize) -> u64 {
        let read = |field: u32| {
            let field = &self.fields[field as usize];
            state[field.offset as usize / 64] >> (field.offset % 64) & ones(field.bits)
        };
        match self.kept[place] {
            Kept::Constant(tokens) => tokens,
            Kept::Count { field } => read(field),
            Kept::Which { field, value } => u64::from(read(field) == u64::from(value)),
        }
    }

    /// The tokens of all places in a state.
    pub fn marking(&self, state: &[Word]) -> Vec<u64> {
        (0..self.kept.len()).map(|place| self.tokens(state, place)).collect()
    }
}

/// A word of ones in its lowest bits.
pub(super) fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Offsets in the order of the fields where that wastes no word, else as tight as fields inside words can lie; and the number of words.
fn arrange(sizes: &[u32]) -> Option<(Vec<u32>, u32)> {
    let (tight, bits) = layout::arrange(sizes)?;
    let mut offsets = Vec::with_capacity(sizes.len());
    let mut next = 0u32;
    for size in sizes {
        if next % 64 + size > 64 {
            next = next.next_multiple_of(64);
        }
        offsets.push(next);
        next += size;
    }
    let words = next.div_ceil(64);
    Some(if words <= bits.div_ceil(64) { (offsets, words) } else { (tight, bits.div_ceil(64)) })
}
