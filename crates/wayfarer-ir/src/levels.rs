//! Levels of rules: a rule is enabled only if no rule of a smaller level is. Promela's `timeout` and Murphi's
//! priorities are levels.

use crate::program::{Program, Rule};

/// The levels of rules, as masks over the bits of all rules; used only if there is more than one level.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Levels in ascending order, each with the numbers of its rules as ranges.
    levels: Vec<(u32, Vec<std::ops::Range<u32>>)>,
}

impl Program {
    /// The level of a family of rules.
    pub fn level_of(&self, family: usize) -> u32 {
        self.levels.get(family).copied().unwrap_or(0)
    }
}

impl Levels {
    /// The levels of a program; `None` if all rules have the same.
    pub fn of(program: &Program) -> Option<Self> {
        let mut levels: Vec<u32> = (0..program.rules.len()).map(|family| program.level_of(family)).collect();
        levels.sort_unstable();
        levels.dedup();
        if levels.len() < 2 {
            return None;
        }
        let levels = levels.into_iter().map(|level| {
            let mut first = 0u64;
            let mut ranges = Vec::new();
            for (family, rule) in program.rules.iter().enumerate() {
                let end = first + Rule::instances(rule);
                if program.level_of(family) == level && end > first {
                    ranges.push(first.min(u64::from(u32::MAX)) as u32..end.min(u64::from(u32::MAX)) as u32);
                }
                first = end;
            }
            (level, ranges)
        });
        Some(Levels { levels: levels.collect() })
    }

    /// The levels, ascending.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.levels.iter().map(|(level, _)| *level)
    }

    /// The numbers of the rules of each level, as ranges, in the order of the levels.
    pub fn rules(&self) -> impl Iterator<Item = &[std::ops::Range<u32>]> {
        self.levels.iter().map(|(_, ranges)| &ranges[..])
    }
}
