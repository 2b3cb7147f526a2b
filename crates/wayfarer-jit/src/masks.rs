//! Guards of very many rules, all of which compare fields with constants. Rules are sixty-four to a group and groups
//! sixty-four to a block. For each value of a field, a block's table gives the groups that can have an enabled rule,
//! and a group's table the rules that can be enabled. A state then costs a few loads for each block and for each
//! remaining group, and nothing for all others. No code is generated, so a net of a hundred thousand transitions is
//! ready at once.

use std::collections::BTreeMap;
use wayfarer_ir::{BinaryOp, Expr, Program, Root};
use wayfarer_space::Word;

/// The guards of a program.
pub(crate) struct Masks {
    fields: Vec<Field>,
    groups: Vec<Lookups>,
    blocks: Vec<Lookups>,
    /// All tables one after another.
    tables: Vec<u64>,
}

/// A field that guards compare, and the values at which some guard's result changes.
struct Field {
    word: u32,
    shift: u32,
    mask: u64,
    /// The first values of the classes, ascending, beginning with 0; empty if each value is a class.
    cuts: Vec<u64>,
}

/// Tables that are consulted one after the other until nothing remains.
#[derive(Default)]
struct Lookups {
    /// The bits that can be enabled before any table is consulted.
    all: u64,
    /// A field and the start of its table.
    tables: Vec<(u32, u32)>,
}

/// Fields of at most this many values have a class for each.
const FEW_VALUES: u64 = 256;
/// The most words of tables.
const MOST_TABLES: usize = 1 << 22;

/// A comparison of a field with a constant.
#[derive(Clone, Copy)]
struct Test {
    field: (u32, u32),
    op: BinaryOp,
    value: i64,
}

impl Masks {
    /// The masks of a program all of whose guards compare fields with constants; `None` if some do not, or if the
    /// tables would be too large.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let mut guards = Vec::with_capacity(program.rules.len());
        for rule in &program.rules {
            let mut tests = Vec::new();
            let can_be_true = if rule.parameters.is_empty() { collect(&rule.guard.value, &mut tests)? } else { return None };
            guards.push((can_be_true, tests));
        }
        let mut cuts: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for test in guards.iter().flat_map(|(_, tests)| tests) {
            // The result changes at the constant and after it, whatever the comparison.
            let at = [test.value, test.value.saturating_add(1)];
            cuts.entry(test.field).or_default().extend(at.into_iter().filter_map(|at| u64::try_from(at).ok()));
        }
        let mut numbers = BTreeMap::new();
        let mut fields = Vec::new();
        for ((offset, bits), mut list) in cuts {
            numbers.insert((offset, bits), fields.len() as u32);
            let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            list.push(0);
            list.retain(|cut| *cut <= mask);
            list.sort_unstable();
            list.dedup();
            fields.push(Field { word: offset / 64, shift: offset % 64, mask, cuts: if mask < FEW_VALUES { Vec::new() } else { list } });
        }
        let mut masks = Masks { fields, groups: Vec::new(), blocks: Vec::new(), tables: Vec::new() };
        for group in guards.chunks(64) {
            masks.add_group(group, &numbers)?;
        }
        for start in (0..masks.groups.len()).step_by(64) {
            masks.add_block(start)?;
        }
        Some(masks)
    }

    fn add_group(&mut self, guards: &[(bool, Vec<Test>)], numbers: &BTreeMap<(u32, u32), u32>) -> Option<()> {
        let mut lookups = Lookups::default();
        let mut tests: BTreeMap<u32, Vec<(u32, Test)>> = BTreeMap::new();
        for (bit, (can_be_true, list)) in guards.iter().enumerate() {
            lookups.all |= u64::from(*can_be_true) << bit;
            for test in list {
                tests.entry(*numbers.get(&test.field)?).or_default().push((bit as u32, *test));
            }
        }
        for (field, tests) in tests {
            let start = self.tables.len();
            for class in 0..self.fields[field as usize].classes() {
                let value = self.fields[field as usize].value(class) as i64;
                let failing = tests.iter().filter(|(_, test)| test.op.apply(value, test.value) == 0).fold(0, |mask, (bit, _)| mask | 1u64 << bit);
                self.tables.push(!failing);
            }
            lookups.tables.push((field, start as u32));
        }
        self.finish(lookups).map(|lookups| self.groups.push(lookups))
    }

    fn add_block(&mut self, start: usize) -> Option<()> {
        let end = (start + 64).min(self.groups.len());
        let mut lookups = Lookups { all: if end - start == 64 { u64::MAX } else { (1 << (end - start)) - 1 }, tables: Vec::new() };
        let mut fields: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for group in start..end {
            for (field, table) in &self.groups[group].tables {
                fields.entry(*field).or_default().push(((group - start) as u32, *table));
            }
        }
        for (field, users) in fields {
            let table = self.tables.len();
            let mut excludes = false;
            for class in 0..self.fields[field as usize].classes() {
                let mut mask = u64::MAX;
                for (group, at) in &users {
                    if self.tables[*at as usize + class] & self.groups[start + *group as usize].all == 0 {
                        mask &= !(1 << group);
                    }
                }
                excludes |= mask != u64::MAX;
                self.tables.push(mask);
            }
            if excludes {
                lookups.tables.push((field, table as u32));
            } else {
                self.tables.truncate(table);
            }
        }
        self.finish(lookups).map(|lookups| self.blocks.push(lookups))
    }

    /// Puts the tables that exclude the most first; `None` if there are too many.
    fn finish(&self, mut lookups: Lookups) -> Option<Lookups> {
        let left = |(field, table): &(u32, u32)| {
            let classes = self.fields[*field as usize].classes();
            let left: u32 = self.tables[*table as usize..*table as usize + classes].iter().map(|mask| (mask & lookups.all).count_ones()).sum();
            u64::from(left) * 1_000 / classes as u64
        };
        lookups.tables.sort_by_key(left);
        (self.tables.len() <= MOST_TABLES).then_some(lookups)
    }

    /// The number of words of the tables.
    pub(crate) fn table_words(&self) -> usize {
        self.tables.len()
    }

    /// Writes the rules from `first` on that are enabled in a state, in order.
    #[inline]
    pub(crate) fn enabled(&self, state: &[Word], first: u64, classes: &mut Vec<u32>, rules: &mut Vec<u32>) {
        rules.clear();
        classes.clear();
        classes.extend(self.fields.iter().map(|field| field.class(state)));
        let look = |lookups: &Lookups| {
            let mut left = lookups.all;
            for (field, table) in &lookups.tables {
                left &= self.tables[*table as usize + classes[*field as usize] as usize];
                if left == 0 {
                    break;
                }
            }
            left
        };
        for (number, block) in self.blocks.iter().enumerate() {
            let mut groups = look(block);
            while groups != 0 {
                let group = number * 64 + groups.trailing_zeros() as usize;
                groups &= groups - 1;
                let mut enabled = look(&self.groups[group]);
                while enabled != 0 {
                    rules.push(group as u32 * 64 + enabled.trailing_zeros());
                    enabled &= enabled - 1;
                }
            }
        }
        if first > 0 {
            rules.retain(|rule| u64::from(*rule) >= first);
        }
    }
}

impl Field {
    fn classes(&self) -> usize {
        if self.cuts.is_empty() { self.mask as usize + 1 } else { self.cuts.len() }
    }

    /// A value of a class.
    fn value(&self, class: usize) -> u64 {
        if self.cuts.is_empty() { class as u64 } else { self.cuts[class] }
    }

    #[inline]
    fn class(&self, state: &[Word]) -> u32 {
        let value = state[self.word as usize] >> self.shift & self.mask;
        if self.cuts.is_empty() { value as u32 } else { self.cuts.partition_point(|cut| *cut <= value) as u32 - 1 }
    }
}

/// The comparisons of a guard and whether it can be true at all; `None` if it is more than comparisons.
fn collect(guard: &Expr, tests: &mut Vec<Test>) -> Option<bool> {
    match guard {
        Expr::Const(value) => Some(*value != 0),
        Expr::All(operands) => operands.iter().try_fold(true, |all, operand| Some(collect(operand, tests)? && all)),
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge), left, right) => {
            match (&**left, &**right) {
                (Expr::Load { place, bits }, Expr::Const(value)) if place.root == Root::State && place.indices.is_empty() && *bits < 64 => {
                    tests.push(Test { field: (place.offset, u32::from(*bits)), op: *op, value: *value });
                    Some(true)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
