//! The table through which compiled code calls functions of the model that have code of their own.

use crate::emit::Depth;

/// The place of a function in the table.
pub(crate) fn slot(function: u32, depth: Depth) -> usize {
    function as usize * 2 + usize::from(depth == Depth::Counted)
}
