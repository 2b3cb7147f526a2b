//! The table through which compiled code calls functions of the model that have code of their own.

use crate::emit::Depth;

/// The function at an index of the table.
pub(crate) fn at(slot: usize) -> (u32, Depth) {
    ((slot / 2) as u32, if slot % 2 == 1 { Depth::Counted } else { Depth::Bounded })
}

/// The index of a function in the table.
pub(crate) fn slot(function: u32, depth: Depth) -> usize {
    function as usize * 2 + usize::from(depth == Depth::Counted)
}
