//! Levels of rules in the set of enabled ones: masks decide which bits count.

use crate::compiled::Compiled;
use crate::run::Scratch;
use wayfarer_ir::levels::Levels;
use wayfarer_space::Word;

impl Compiled {
    /// Computes the bits of each level.
    pub(crate) fn list_levels(&mut self) {
        let Some(levels) = Levels::of(&self.program) else { return };
        let mut masks = Vec::new();
        for ranges in levels.rules() {
            let mut mask = vec![0u64; self.groups];
            for segment in &self.segments {
                for index in 0..segment.groups {
                    let base = u64::from(segment.first) + index as u64 * 64;
                    for range in ranges {
                        let (from, to) = (u64::from(range.start).max(base), u64::from(range.end).min(base + 64));
                        for rule in from..to {
                            mask[segment.group + index] |= 1 << (rule - base);
                        }
                    }
                }
            }
            // The last group of a segment may have room for rules of the next, which have groups of their own.
            masks.push(mask);
        }
        self.layered = true;
        self.levels = masks;
    }

    /// Keeps, of the bits of enabled and faulting rules, those of the smallest level that has any.
    pub(crate) fn keep_lowest(&self, bits: &mut [u64]) {
        let lowest = self.levels.iter().find(|mask| mask.iter().enumerate().any(|(group, mask)| (bits[group * 2] | bits[group * 2 + 1]) & mask != 0));
        if let Some(mask) = lowest {
            for (group, mask) in mask.iter().enumerate() {
                bits[group * 2] &= mask;
                bits[group * 2 + 1] &= mask;
            }
        }
    }

    /// Evaluates all guards, keeps the smallest level, and then removes the rules before `first_rule`.
    pub(crate) fn decide_levels(&self, state: &[Word], first_rule: u64, undecided: bool, scratch: &mut Scratch) {
        if undecided {
            self.ask_undecided(state, 0, scratch);
        }
        let mut bits = std::mem::take(&mut scratch.bits);
        self.keep_lowest(&mut bits[..self.groups * 2]);
        if first_rule > 0 {
            self.remove_before(first_rule, &mut bits);
        }
        let mut left = Vec::new();
        for segment in &self.segments {
            for index in 0..segment.groups {
                let at = (segment.group + index) * 2;
                let base = u64::from(segment.first) + index as u64 * 64;
                let (word, faults) = (bits[at + 1], &scratch.faults);
                left.extend(faults.iter().copied().filter(|(rule, _)| {
                    let place = u64::from(*rule).wrapping_sub(base);
                    place < 64 && word >> place & 1 == 1
                }));
            }
        }
        scratch.faults = left;
        scratch.bits = bits;
    }

    /// Whether a rule is not enabled because one of a smaller level is.
    pub(crate) fn is_held_back(&self, state: &[Word], rule: u32) -> bool {
        if self.lone {
            return self.with_scratch(|scratch| {
                self.list_rules(state, 0, scratch);
                let (rules, faults) = (&scratch.rules, &scratch.faults);
                let stays = rules.binary_search(&rule).is_ok() || faults.iter().any(|(other, _)| *other == rule);
                let some = !rules.is_empty() || !faults.is_empty();
                some && !stays
            });
        }
        self.with_scratch(|scratch| {
            scratch.faults.clear();
            // If its bit remains, or none at all, the guard alone decides.
            self.all_enabled(state, scratch);
            let some = scratch.bits[..self.groups * 2].iter().any(|word| *word != 0);
            let stays = self.segments.iter().any(|segment| {
                let Some(place) = rule.checked_sub(segment.first).map(|place| place as usize) else { return false };
                let at = (segment.group + place / 64) * 2;
                place / 64 < segment.groups && (scratch.bits[at] | scratch.bits[at + 1]) >> (place % 64) & 1 == 1
            });
            some && !stays
        })
    }
}
