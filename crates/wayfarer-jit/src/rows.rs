//! Commands as rows of a table. A command that only adds constants to fields and sets fields to constants needs no code: for each word of the state it is
//! two masks and two constants. A net with thousands of transitions is explored without compiling one of them.
//!
//! Each field keeps the meaning that the interpreter gives it: a sum that does not fit loses its upper bits and does
//! not affect its neighbours. So the highest bit of each field that is added to takes no part in the addition but is
//! exclusive-ored with the carry into it.

#![allow(unsafe_code)]

use crate::compiled::Compiled;
use crate::fire::{Enabled, EnabledBits};
use crate::listed::put_to_sleep;
use crate::run::Scratch;
use wayfarer_ir::{BinaryOp, Expr, Place, Program, Root, Rule, Stmt};
use wayfarer_space::{Fault, FaultStep, Fired, Firing, Omitted, States, Steps, Word};

/// The most words of a state for which rows are stored whole; for wider states only the words that change are stored.
const FEW_WORDS: usize = 4;

/// The commands of all rules of a program.
pub(crate) struct Rows {
    words: usize,
    /// The changes of all words, `words` for each rule, if states are narrow.
    dense: Vec<Change>,
    /// The changes of the words that change, and where those of each rule begin, if states are wide.
    sparse: Vec<(u32, Change)>,
    sparse_at: Vec<u32>,
    /// The tests of a command before it changes anything, and where the tests of each rule begin.
    tests: Vec<Test>,
    tests_at: Vec<u32>,
}

/// The change of a word: `((w & keep) + add) ^ (w & high) ^ flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    keep: u64,
    add: u64,
    high: u64,
    flip: u64,
}

/// An upper limit on the value of a field.
#[derive(Clone, Copy, Debug)]
struct Test {
    word: u32,
    shift: u32,
    mask: u64,
    /// No value passes if this is less than 0.
    most: i64,
    fault: Fault,
}

impl Change {
    const NONE: Change = Change { keep: u64::MAX, add: 0, high: 0, flip: 0 };

    #[inline(always)]
    fn apply(&self, word: u64) -> u64 {
        (word & self.keep).wrapping_add(self.add) ^ (word & self.high) ^ self.flip
    }

    /// The same with a field set to a constant.
    fn set(&mut self, shift: u32, bits: u32, value: u64) {
        let mask = ones(bits) << shift;
        self.keep &= !mask;
        self.add |= value << shift & mask;
    }

    /// The same with a constant added to a field.
    fn add(&mut self, shift: u32, bits: u32, value: u64) {
        let (mask, top) = (ones(bits) << shift, 1u64 << (shift + bits - 1));
        let value = value << shift & mask;
        self.keep &= !top;
        self.high |= top;
        self.add |= value & !top;
        self.flip |= value & top;
    }
}

impl Rows {
    /// The rows of a program all of whose commands have this form and need only a state.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let words = program.words as usize;
        let mut rows = Rows { words, dense: Vec::new(), sparse: Vec::new(), sparse_at: Vec::new(), tests: Vec::new(), tests_at: Vec::new() };
        for rule in &program.rules {
            rows.push(rule)?;
        }
        rows.tests_at.push(rows.tests.len() as u32);
        rows.sparse_at.push(rows.sparse.len() as u32);
        Some(rows)
    }

    fn push(&mut self, rule: &Rule) -> Option<()> {
        if !rule.parameters.is_empty() || rule.command.frame > 0 {
            return None;
        }
        self.tests_at.push(self.tests.len() as u32);
        self.sparse_at.push(self.sparse.len() as u32);
        let mut changes: Vec<(u32, Change)> = Vec::new();
        let mut touched: Vec<(u32, u32)> = Vec::new();
        for statement in &rule.command.block {
            match statement {
                Stmt::Check { condition, fault } if changes.is_empty() => self.tests.push(test(condition, Fault(fault.0))?),
                Stmt::Store { place, bits, value } => {
                    let (offset, bits) = (fixed(place)?, u32::from(*bits));
                    // A field that is changed twice would be read between the changes.
                    if touched.iter().any(|(start, size)| offset < start + size && *start < offset + bits) {
                        return None;
                    }
                    touched.push((offset, bits));
                    let (word, shift) = (offset / 64, offset % 64);
                    let index = changes.iter().position(|(other, _)| *other == word).unwrap_or_else(|| {
                        changes.push((word, Change::NONE));
                        changes.len() - 1
                    });
                    let change = &mut changes[index].1;
                    match value {
                        Expr::Const(value) => change.set(shift, bits, *value as u64),
                        Expr::Binary(BinaryOp::Add, left, right) => match (&**left, &**right) {
                            (Expr::Load { place: from, bits: loaded }, Expr::Const(value)) if from == place && u32::from(*loaded) == bits => {
                                change.add(shift, bits, *value as u64);
                            }
                            _ => return None,
                        },
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        if self.words <= FEW_WORDS {
            let start = self.dense.len();
            self.dense.resize(start + self.words, Change::NONE);
            changes.into_iter().for_each(|(word, change)| self.dense[start + word as usize] = change);
        } else {
            self.sparse.extend(changes);
        }
        Some(())
    }

    /// Whether no command tests anything.
    fn is_untested(&self) -> bool {
        self.tests.is_empty()
    }

    /// The fault of the first test that a state does not pass.
    #[inline]
    fn fault(&self, rule: u32, state: &[Word]) -> Option<Fault> {
        let tests = &self.tests[self.tests_at[rule as usize] as usize..self.tests_at[rule as usize + 1] as usize];
        tests.iter().find(|test| (state[test.word as usize] >> test.shift & test.mask) as i64 > test.most).map(|test| test.fault)
    }

    /// Writes the state that a rule leads to, without the tests.
    #[inline(always)]
    fn write<const W: usize>(&self, rule: u32, state: &[Word], out: &mut [Word]) {
        if W > 0 {
            let changes = &self.dense[rule as usize * W..rule as usize * W + W];
            for word in 0..W {
                out[word] = changes[word].apply(state[word]);
            }
        } else {
            out.copy_from_slice(state);
            for (word, change) in &self.sparse[self.sparse_at[rule as usize] as usize..self.sparse_at[rule as usize + 1] as usize] {
                out[*word as usize] = change.apply(state[*word as usize]);
            }
        }
    }

    /// Fires rules that are enabled in a state of one word, without tests, and says whether some step leads on.
    #[inline]
    fn fire_words(&self, source: u32, state: Word, rules: &[u32], steps: &mut Steps) -> bool {
        let count = rules.len();
        let (before, gone) = (steps.states.len(), steps.omitted.len());
        steps.firings.resize(before + count, Firing::of(0));
        steps.omitted.resize(gone + if steps.sieve.is_some() { count } else { 0 }, Omitted::new(source, 0, false));
        let Steps { states, firings, omitted, sieve, .. } = &mut *steps;
        let room = states.push_many_dirty(count);
        let (firings, omitted) = (&mut firings[before..], &mut omitted[gone..]);
        let (mut arrived, mut left_out, mut moved) = (0, 0, false);
        for rule in rules {
            let next = self.dense[*rule as usize].apply(state);
            room[arrived] = next;
            firings[arrived] = Firing::of(*rule);
            let changed = next != state;
            moved |= changed;
            let mut given = 1;
            if let Some(sieve) = sieve {
                // Branch-free, because the branch would be unpredictable. The source itself is known, too.
                given = usize::from(changed & sieve.is_fresh(next));
                omitted[left_out] = Omitted::new(source, *rule, changed);
                left_out += 1 - given;
            }
            arrived += given;
        }
        steps.states.truncate(before + arrived);
        steps.firings.truncate(before + arrived);
        steps.omitted.truncate(gone + left_out);
        steps.describe_rest(source, std::slice::from_ref(&state));
        moved
    }

    /// The same for states of any number of words.
    #[inline]
    fn fire_states<const W: usize>(&self, source: u32, state: &[Word], rules: &[u32], steps: &mut Steps) -> bool {
        let before = steps.states.len();
        let Steps { states, firings, faults, .. } = &mut *steps;
        let room = states.push_many_dirty(rules.len());
        let mut arrived = 0;
        for rule in rules {
            if !self.is_untested()
                && let Some(fault) = self.fault(*rule, state)
            {
                faults.push(FaultStep { source, firing: Firing::of(*rule), fault });
                continue;
            }
            self.write::<W>(*rule, state, &mut room[arrived * state.len()..(arrived + 1) * state.len()]);
            firings.push(Firing::of(*rule));
            arrived += 1;
        }
        steps.states.truncate(before + arrived);
        steps.describe_rest(source, state);
        steps.changed[before..].iter().any(|changed| *changed != 0)
    }

    /// Fires a rule whose guard is true.
    pub(crate) fn fire(&self, rule: u32, state: &[Word], out: &mut [Word]) -> Fired {
        if let Some(fault) = self.fault(rule, state) {
            return Fired::Fault(fault);
        }
        match self.words {
            1 => self.write::<1>(rule, state, out),
            2 => self.write::<2>(rule, state, out),
            3 => self.write::<3>(rule, state, out),
            4 => self.write::<4>(rule, state, out),
            _ => self.write::<0>(rule, state, out),
        }
        Fired::To
    }
}

impl Compiled {
    /// Expands a batch of a program whose commands are rows.
    pub(crate) fn expand_rows(&self, rows: &Rows, batch: &States, first_rule: u64, arrivals: &[u32], steps: &mut Steps, scratch: &mut Scratch) {
        match self.words {
            1 if rows.is_untested() => self.expand_words(rows, batch, first_rule, arrivals, steps, scratch),
            1 => self.expand_states::<1>(rows, batch, first_rule, arrivals, steps, scratch),
            2 => self.expand_states::<2>(rows, batch, first_rule, arrivals, steps, scratch),
            3 => self.expand_states::<3>(rows, batch, first_rule, arrivals, steps, scratch),
            4 => self.expand_states::<4>(rows, batch, first_rule, arrivals, steps, scratch),
            _ => self.expand_states::<0>(rows, batch, first_rule, arrivals, steps, scratch),
        }
    }

    /// States of one word, without tests. Steps to recently found states are left out.
    fn expand_words(&self, rows: &Rows, batch: &States, first_rule: u64, arrivals: &[u32], steps: &mut Steps, scratch: &mut Scratch) {
        steps.sifted = steps.sieve.is_some();
        let table = if arrivals.is_empty() { None } else { self.sleepers(batch.len(), scratch) };
        for (source, state) in batch.words().iter().enumerate() {
            self.list_enabled(source as u32, std::slice::from_ref(state), first_rule, steps, scratch);
            put_to_sleep(table.map(|table| table.after(arrivals[source])), scratch);
            let mut moved = rows.fire_words(source as u32, *state, &scratch.rules, steps);
            // See `Columns::wake`. No rule fails here.
            let mut asleep = scratch.sleeping.as_slice();
            while !moved && let Some((rule, rest)) = asleep.split_first() {
                moved = rows.fire_words(source as u32, *state, std::slice::from_ref(rule), steps);
                asleep = rest;
            }
            leave_asleep(source as u32, asleep, steps);
        }
    }

    /// States of any number of words; `W` is 0 if it is more than a few.
    fn expand_states<const W: usize>(
        &self,
        rows: &Rows,
        batch: &States,
        first_rule: u64,
        arrivals: &[u32],
        steps: &mut Steps,
        scratch: &mut Scratch,
    ) {
        let width = if W == 0 { self.words } else { W };
        let words = batch.words();
        assert!(width == self.words && words.len() >= batch.len() * width, "states of the program's width");
        let table = if arrivals.is_empty() { None } else { self.sleepers(batch.len(), scratch) };
        for source in 0..batch.len() {
            let state = &words[source * width..(source + 1) * width];
            let first_fault = steps.faults.len();
            self.list_enabled(source as u32, state, first_rule, steps, scratch);
            put_to_sleep(table.map(|table| table.after(arrivals[source])), scratch);
            let mut moved = rows.fire_states::<W>(source as u32, state, &scratch.rules, steps);
            let mut asleep = scratch.sleeping.as_slice();
            while (!moved || steps.faults.len() > first_fault)
                && let Some((rule, rest)) = asleep.split_first()
            {
                moved |= rows.fire_states::<W>(source as u32, state, std::slice::from_ref(rule), steps);
                asleep = rest;
            }
            leave_asleep(source as u32, asleep, steps);
            steps.faults[first_fault..].sort_by_key(|fault| fault.firing);
        }
    }

    /// Lists the rules enabled in a state, and records guards that failed and the number of rules that count as
    /// enabled.
    #[inline]
    fn list_enabled(&self, source: u32, state: &[Word], first_rule: u64, steps: &mut Steps, scratch: &mut Scratch) {
        if let Some(masks) = &self.masks {
            masks.enabled(state, first_rule, &mut scratch.classes, &mut scratch.rules);
            steps.enabled.push(scratch.rules.len() as u32);
            return;
        }
        if self.lone {
            self.list_rules(state, first_rule, scratch);
            steps.enabled.push((scratch.rules.len() + scratch.faults.len()) as u32);
        } else {
            self.enabled(state, first_rule, scratch);
            let count = self.count_found(scratch);
            steps.enabled.push(count);
            let (bits, rules) = (&scratch.bits, &mut scratch.rules);
            rules.clear();
            EnabledBits { bits, firsts: &self.firsts, sleeping: &self.awake }.each(|rule| rules.push(rule));
        }
        for (rule, fault) in &scratch.faults {
            steps.faults.push(FaultStep { source, firing: Firing::of(*rule), fault: *fault });
        }
    }
}

/// Lists steps of rules that sleep as omitted.
#[inline]
fn leave_asleep(source: u32, rules: &[u32], steps: &mut Steps) {
    steps.omitted.extend(rules.iter().map(|rule| Omitted::new(source, *rule, true)));
}

/// The offset of a place without variable indices.
fn fixed(place: &Place) -> Option<u32> {
    (place.root == Root::State && place.indices.is_empty()).then_some(place.offset)
}

/// A test of one field against a constant.
fn test(condition: &Expr, fault: Fault) -> Option<Test> {
    match condition {
        Expr::Const(0) => Some(Test { word: 0, shift: 0, mask: 0, most: -1, fault }),
        Expr::Binary(op @ (BinaryOp::Le | BinaryOp::Eq), left, right) => match (&**left, &**right) {
            // That a field is at most 0 and that it is 0 are the same.
            (Expr::Load { place, bits }, Expr::Const(most)) if *bits < 64 && (*op == BinaryOp::Le || *most == 0) => {
                let offset = fixed(place)?;
                Some(Test { word: offset / 64, shift: offset % 64, mask: ones(u32::from(*bits)), most: *most, fault })
            }
            _ => None,
        },
        _ => None,
    }
}

fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_wrap_by_themselves_and_leave_their_neighbours_alone() {
        let mut change = Change::NONE;
        change.set(0, 3, 5);
        change.add(3, 2, 3);
        change.add(5, 4, (-2i64) as u64);
        change.add(60, 4, 9);
        for (low, two, four, top) in
            (0..8u64).flat_map(|low| (0..4).flat_map(move |two| (0..16).flat_map(move |four| (0..16).map(move |top| (low, two, four, top)))))
        {
            let rest = 0b1011 << 20;
            let before = low | two << 3 | four << 5 | rest | top << 60;
            let after = 5 | ((two + 3) & 3) << 3 | ((four + 14) & 15) << 5 | rest | ((top + 9) & 15) << 60;
            assert_eq!(change.apply(before), after, "{low} {two} {four} {top}");
        }
        let mut whole = Change::NONE;
        whole.add(0, 64, u64::MAX);
        assert_eq!(whole.apply(7), 6);
        assert_eq!(whole.apply(0), u64::MAX);
    }
}
