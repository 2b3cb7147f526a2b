//! Which rules are independent: neither accesses what the other writes. So they have the same result in either order, and neither enables or disables the
//! other.

use crate::effects::{Bits, RuleEffects};

/// For each rule, the rules that are not independent of it.
#[derive(Clone, Debug)]
pub struct Dependences {
    /// Words of a row.
    groups: usize,
    rows: Vec<u64>,
}

impl Dependences {
    /// Compares all rules with each other, by way of what each part of a state is accessed by.
    pub fn of(rules: &[RuleEffects]) -> Self {
        let groups = rules.len().div_ceil(64);
        let parts = Parts::of(rules);
        let (mut readers, mut writers) = (vec![0; parts.count * groups], vec![0; parts.count * groups]);
        for (number, rule) in rules.iter().enumerate() {
            let (group, bit) = (number / 64, 1u64 << (number % 64));
            let note = |by: &mut Vec<u64>, bits: &Bits| parts.each_in(bits, |part| by[part * groups + group] |= bit);
            note(&mut writers, &rule.writes);
            note(&mut readers, &rule.reads);
            note(&mut readers, &rule.guard_reads);
        }
        let mut rows = vec![0; rules.len() * groups];
        for (row, rule) in rows.chunks_exact_mut(groups.max(1)).zip(rules) {
            let mut add = |by: &[u64], part: usize| row.iter_mut().zip(&by[part * groups..]).for_each(|(word, more)| *word |= more);
            parts.each_in(&rule.writes, |part| {
                add(&writers, part);
                add(&readers, part);
            });
            parts.each_in(&rule.reads, |part| add(&writers, part));
            parts.each_in(&rule.guard_reads, |part| add(&writers, part));
        }
        Dependences { groups, rows }
    }

    /// The rules that are not independent of this one, as bits in words of 64.
    pub fn row(&self, rule: usize) -> &[u64] {
        &self.rows[rule * self.groups..(rule + 1) * self.groups]
    }
}

/// The parts of a state that no rule accesses in part: mostly its fields.
struct Parts {
    /// For each word, the masks of its parts and the number of the first.
    words: Vec<(usize, Vec<u64>)>,
    count: usize,
}

impl Parts {
    fn of(rules: &[RuleEffects]) -> Self {
        let width = rules.first().map_or(0, |rule| rule.writes.masks().len());
        let mut words: Vec<(usize, Vec<u64>)> = (0..width).map(|_| (0, vec![u64::MAX])).collect();
        for rule in rules {
            for bits in [&rule.writes, &rule.reads, &rule.guard_reads] {
                for ((_, parts), mask) in words.iter_mut().zip(bits.masks()) {
                    split(parts, *mask);
                }
            }
        }
        let mut count = 0;
        for (first, parts) in &mut words {
            *first = count;
            count += parts.len();
        }
        Parts { words, count }
    }

    /// Visits the parts that are in a set, which has each of them whole or not at all.
    fn each_in(&self, bits: &Bits, mut visit: impl FnMut(usize)) {
        for ((first, parts), mask) in self.words.iter().zip(bits.masks()).filter(|(_, mask)| **mask != 0) {
            let inside = parts.iter().enumerate().filter(|(_, part)| **part & mask != 0);
            inside.for_each(|(index, _)| visit(first + index));
        }
    }
}

/// Splits the parts of a word along a mask.
fn split(parts: &mut Vec<u64>, mask: u64) {
    for index in 0..parts.len() {
        let (inside, outside) = (parts[index] & mask, parts[index] & !mask);
        if inside != 0 && outside != 0 {
            parts[index] = inside;
            parts.push(outside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::Effects;
    use crate::generate::generate;

    fn depends(one: &RuleEffects, other: &RuleEffects) -> bool {
        let disturbs = |writer: &RuleEffects, reader: &RuleEffects| {
            writer.writes.meets(&reader.writes) || writer.writes.meets(&reader.reads) || writer.writes.meets(&reader.guard_reads)
        };
        disturbs(one, other) || disturbs(other, one)
    }

    #[test]
    fn rows_agree_with_the_definition() {
        let mut seen = [0; 2];
        for seed in 0..300 {
            let program = generate(seed);
            let effects = Effects::new(&program);
            let members = program.rules.iter().flat_map(|rule| (0..rule.instances()).map(move |member| (rule, member)));
            let rules: Vec<RuleEffects> = members.map(|(rule, member)| effects.member(rule, member)).collect();
            let dependences = Dependences::of(&rules);
            for (one, other) in (0..rules.len()).flat_map(|one| (0..rules.len()).map(move |other| (one, other))) {
                let found = dependences.row(one)[other / 64] >> (other % 64) & 1 == 1;
                assert_eq!(found, depends(&rules[one], &rules[other]), "seed {seed}: rules {one} and {other}");
                seen[usize::from(found)] += 1;
            }
        }
        assert!(seen[0] > 1_000 && seen[1] > 1_000, "{seen:?}");
    }
}
