//! Priorities of rules, an extension of CMurphi: if several rules are enabled, only those of the smallest number
//! fire. A rule without a number has 0.
//!
//! They become levels of the program's rules.

use super::Elaborator;

impl Elaborator<'_> {
    /// Turns priorities into levels, if there are several.
    pub(super) fn order_by_priority(&mut self) {
        let priorities = std::mem::take(&mut self.numbering.priorities);
        let mut levels = priorities.clone();
        levels.sort_unstable();
        levels.dedup();
        if levels.len() > 1 {
            let rank = |priority: &i64| levels.partition_point(|level| level < priority) as u32;
            self.program.levels = priorities.iter().map(rank).collect();
        }
    }
}
