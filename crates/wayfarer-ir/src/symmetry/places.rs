//! The positions of scalarset elements in a state: the pieces that move when elements are permuted, and the values
//! that refer to elements.
//!
//! A *piece* is a run of at most 64 bits inside one word that has no array of elements and no unordered slots inside: one for each combination of the
//! elements and slots around it, its *corners*. Pieces with one element around them form a [`Row`]; all others with corners are [`Cell`]s. Elements and
//! the slots of bags are *vertices*; elements come first.

use wayfarer_space::Word;

/// The table entry of a stored value that is not an element.
pub(super) const NO_VERTEX: u16 = u16::MAX;

/// A value inside a piece that may be an element.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// Its offset in its piece.
    pub(super) shift: u32,
    /// Its bits, from bit 0 on.
    pub(super) mask: Word,
    /// The start of its table, which maps stored values to vertices.
    pub(super) table: u32,
    pub(super) key: Word,
}

/// A reference at the same place in every state.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) word: u32,
    pub(super) reference: Reference,
}

/// Pieces that have one corner, an element: one for each element of a set.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) first: u16,
    pub(super) count: u16,
    /// The offset of the first element's piece in bits from the state's start, and the distance to the next.
    pub(super) bit: u32,
    pub(super) stride: u32,
    /// All bits of the piece, and those that are not references.
    pub(super) mask: Word,
    pub(super) data: Word,
    pub(super) key: Word,
    pub(super) references: Vec<Reference>,
    /// Whether all its pieces lie in one word.
    pub(super) narrow: bool,
}

/// The common part of all cells of one place in the model.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) bit: u32,
    /// For each corner, the distance between its elements or slots.
    pub(super) strides: Vec<u32>,
    pub(super) mask: Word,
    pub(super) data: Word,
    pub(super) key: Word,
    pub(super) references: Vec<Reference>,
}

/// A piece with several corners, or with a slot among them.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) unit: u32,
    pub(super) word: u32,
    pub(super) shift: u32,
    /// The start of its corners in the list of all corners.
    pub(super) corners: u32,
    /// The bit that says whether the innermost slot around it is taken.
    pub(super) mark: Option<u32>,
}

impl Cell {
    /// Whether it lies in a free slot, which is empty.
    #[inline]
    pub(super) fn is_free(&self, state: &[Word]) -> bool {
        self.mark.is_some_and(|mark| state[mark as usize / 64] >> (mark % 64) & 1 == 0)
    }
}

/// A bag whose slots are to be sorted again after a permutation.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub(super) bit: u32,
    pub(super) stride: u32,
    pub(super) capacity: u32,
    pub(super) bits: u32,
}
