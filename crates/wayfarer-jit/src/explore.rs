//! The space: enabled rules as bits or as a list, and their firings.

#![allow(unsafe_code)]

use crate::commands::Family;
use crate::compiled::Compiled;
use crate::emit::{DONE, NO_CODE};
use crate::fire::{Columns, EnabledBits, take_covered};
use crate::run::{Scratch, outcome};
use std::mem::MaybeUninit;
use std::ops::Range;
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, SIEVED, Space, States, Steps, Width, Word,
};

/// The number of groups of guards whose bits are kept on the stack.
pub(crate) const FEW_GROUPS: usize = 16;

/// Bits of a few groups, on the stack and not cleared.
pub(crate) type FewBits = [MaybeUninit<u64>; FEW_GROUPS * 2];

impl Compiled {
    /// The number of words of a state.
    pub fn width_words(&self) -> usize {
        self.words
    }

    /// The number of rules enabled in a state, including those whose guard faults.
    pub fn count_enabled(&self, state: &[Word]) -> u32 {
        self.expect_width(state);
        if let Some(masks) = &self.masks {
            return self.with_scratch(|scratch| {
                masks.enabled(state, 0, &mut scratch.classes, &mut scratch.rules);
                scratch.rules.len() as u32
            });
        }
        if let Some(count) = self.with_few(state, |bits| Some(count_even(bits))) {
            return count;
        }
        if self.lone {
            return self.with_scratch(|scratch| {
                self.list_rules(state, 0, scratch);
                (scratch.rules.len() + scratch.faults.len()) as u32
            });
        }
        self.with_scratch(|scratch| {
            self.enabled(state, 0, scratch);
            self.count_found(scratch)
        })
    }

    fn expect_width(&self, state: &[Word]) {
        assert_eq!(state.len(), self.words, "a state of another width");
    }

    /// Evaluates the guards that are evaluated together. Words of enabled and of undecided rules alternate. Returns
    /// whether any is undecided.
    ///
    /// # Safety
    /// The state must have the program's width, and there must be room for two words for each group.
    #[inline(always)]
    pub(crate) unsafe fn decide(&self, state: *const Word, bits: *mut u64) -> u64 {
        let mut undecided = 0;
        for chunk in &self.chunks {
            // SAFETY: guaranteed by the caller.
            undecided |= unsafe { self.decide_chunk(chunk, state, bits.add(chunk.group * 2)) };
        }
        undecided
    }

    /// Uses the bits of a state if there are few and all are decided; the odd ones are zero then.
    #[inline]
    fn with_few<T>(&self, state: &[Word], act: impl FnOnce(&[u64]) -> Option<T>) -> Option<T> {
        if self.groups > FEW_GROUPS || self.lone {
            return None;
        }
        let mut bits: FewBits = [MaybeUninit::uninit(); FEW_GROUPS * 2];
        // SAFETY: the width was tested by the caller, and there is room for all groups.
        let undecided = unsafe { self.decide(state.as_ptr(), bits.as_mut_ptr().cast()) };
        // SAFETY: every group is in a chunk, and the code of a chunk writes both words of its groups.
        let bits = (undecided == 0).then(|| unsafe { std::slice::from_raw_parts_mut(bits.as_mut_ptr().cast::<u64>(), self.groups * 2) })?;
        if self.layered {
            self.keep_lowest(bits);
        }
        act(bits)
    }

    /// Finds all rules from `first_rule` on whose guard is true, as the even words of the scratch's bits, and those
    /// whose guard is a fault, as the odd ones.
    pub(crate) fn enabled(&self, state: &[Word], first_rule: u64, scratch: &mut Scratch) {
        let mut bits = std::mem::take(&mut scratch.bits);
        self.find_enabled(state, first_rule, &mut bits, scratch);
        scratch.bits = bits;
    }

    /// The same with the bits outside the scratch.
    #[inline(always)]
    pub(crate) fn find_enabled(&self, state: &[Word], first_rule: u64, bits: &mut Vec<u64>, scratch: &mut Scratch) {
        assert!(state.len() == self.words && bits.len() >= self.groups * 2, "a state of the program's width, and room for its bits");
        scratch.faults.clear();
        // SAFETY: tested above.
        let undecided = unsafe { self.decide(state.as_ptr(), bits.as_mut_ptr()) };
        if undecided | first_rule != 0 || self.layered {
            self.settle(state, first_rule, undecided != 0, bits, scratch);
        }
    }

    /// The number of rules that [`enabled`](Self::enabled) found.
    pub(crate) fn count_found(&self, scratch: &Scratch) -> u32 {
        count_even(&scratch.bits[..self.groups * 2]) + scratch.faults.len() as u32
    }

    /// The part of [`enabled`](Self::enabled) that most states do not need.
    #[cold]
    fn settle(&self, state: &[Word], first_rule: u64, undecided: bool, bits: &mut Vec<u64>, scratch: &mut Scratch) {
        std::mem::swap(bits, &mut scratch.bits);
        if self.layered {
            self.decide_levels(state, first_rule, undecided, scratch);
        } else {
            self.ask_undecided(state, first_rule, scratch);
        }
        std::mem::swap(bits, &mut scratch.bits);
    }

    /// All rules that are enabled or whose guard is a fault, in the scratch's bits.
    pub(crate) fn all_enabled(&self, state: &[Word], scratch: &mut Scratch) {
        self.enabled(state, 0, scratch);
    }

    /// Removes the bits of the rules before `first_rule`.
    pub(crate) fn remove_before(&self, first_rule: u64, bits: &mut [u64]) {
        for segment in &self.segments {
            for index in 0..segment.groups {
                let at = (segment.group + index) * 2;
                let base = u64::from(segment.first) + index as u64 * 64;
                if first_rule > base {
                    let from = u64::MAX.checked_shl((first_rule - base).min(64) as u32).unwrap_or(0);
                    bits[at] &= from;
                    bits[at + 1] &= from;
                }
            }
        }
    }

    pub(crate) fn ask_undecided(&self, state: &[Word], first_rule: u64, scratch: &mut Scratch) {
        let mut bits = std::mem::take(&mut scratch.bits);
        if first_rule > 0 {
            self.remove_before(first_rule, &mut bits);
        }
        for segment in &self.segments {
            for index in 0..segment.groups {
                let at = (segment.group + index) * 2;
                let base = u64::from(segment.first) + index as u64 * 64;
                let mut undecided = std::mem::take(&mut bits[at + 1]);
                while undecided != 0 {
                    let bit = undecided.trailing_zeros();
                    undecided &= undecided - 1;
                    let rule = base as u32 + bit;
                    let Some((number, member)) = member(&self.families, rule) else { continue };
                    match self.ask(false, number, member, state, scratch) {
                        Ok(true) => bits[at] |= 1 << bit,
                        Ok(false) => {}
                        Err(fault) => {
                            bits[at + 1] |= 1 << bit;
                            scratch.faults.push((rule, fault));
                        }
                    }
                }
            }
        }
        scratch.bits = bits;
    }

    /// Expands a batch. `W` is the number of words, or 0 if it is known only at run time.
    fn expand_batch<const W: usize>(&self, batch: &States, first_rule: u64, arrivals: &[u32], steps: &mut Steps, scratch: &mut Scratch) {
        let width = if W == 0 { self.words } else { W };
        let words = batch.words();
        assert!(width == self.words && words.len() >= batch.len() * width, "states of the program's width");
        let mut bits = std::mem::take(&mut scratch.bits);
        let mut enabled = std::mem::take(&mut steps.enabled);
        enabled.reserve(batch.len());
        let mut columns = Columns::<W>::new(steps, width);
        let table = if arrivals.is_empty() { None } else { self.sleepers(batch.len(), scratch) };
        for source in 0..batch.len() {
            let state = &words[source * width..(source + 1) * width];
            self.find_enabled(state, first_rule, &mut bits, scratch);
            let sleeping = table.map_or(self.awake.as_slice(), |table| table.after(arrivals[source]));
            let rules = EnabledBits { bits: &bits, firsts: &self.firsts, sleeping };
            let faults = scratch.faults.len();
            let fired = columns.fire_all(self, source as u32, state, rules, scratch);
            enabled.push((fired + faults) as u32);
        }
        columns.finish();
        steps.enabled = enabled;
        scratch.bits = bits;
    }

    /// As [`Space::sample`], if guards are evaluated one by one.
    fn sample_slowly(&self, state: &[Word], rng: &mut Rng, out: &mut [Word]) -> Option<(Firing, Fired)> {
        self.with_scratch(|scratch| {
            self.enabled(state, 0, scratch);
            let count = self.count_found(scratch);
            if count == 0 {
                return None;
            }
            let rank = rng.below(u64::from(count)) as u32;
            // The rank counts faulting guards as well, in firing order.
            let mut before = 0;
            for segment in &self.segments {
                for index in 0..segment.groups {
                    let base = segment.first + index as u32 * 64;
                    let at = (segment.group + index) * 2;
                    let (word, faults) = (scratch.bits[at], scratch.bits[at + 1]);
                    let here = (word | faults).count_ones();
                    if rank >= before + here {
                        before += here;
                        continue;
                    }
                    let bit = nth_bit(word | faults, rank - before);
                    let firing = Firing::of(base + bit);
                    if faults >> bit & 1 == 1 {
                        let fault = scratch.faults.iter().find(|(rule, _)| *rule == firing.rule).map(|(_, fault)| *fault)?;
                        return Some((firing, Fired::Fault(fault)));
                    }
                    let fired = self.fire_rule(firing.rule, state, out, scratch);
                    take_covered(scratch, None);
                    return Some((firing, fired));
                }
            }
            None
        })
    }

    /// Tries a start state whose guard is not evaluated yet.
    fn start(&self, number: usize, member: u64, zero: &[Word], steps: &mut Steps, scratch: &mut Scratch) {
        let firing = Firing::of(self.starts[number].first + member as u32);
        let out = steps.states.push_dirty(self.words);
        let fired = match self.ask(true, number, member, zero, scratch) {
            Ok(true) => self.fire_command(true, number, member, zero, out, scratch),
            Ok(false) => Fired::Disabled,
            Err(fault) => Fired::Fault(fault),
        };
        if fired == Fired::To {
            steps.describe_last(0, firing, zero);
        } else {
            steps.states.pop();
        }
        match fired {
            Fired::Fault(fault) => steps.faults.push(FaultStep { source: 0, firing, fault }),
            Fired::Discarded => steps.discarded += 1,
            Fired::To | Fired::Disabled => {}
        }
        take_covered(scratch, (fired != Fired::Discarded).then_some(&mut steps.reached));
    }

    /// The steps of all rules, except for those that sleep.
    fn expand_all(&self, batch: &States, from: Firing, arrivals: &[u32], steps: &mut Steps) -> Completeness {
        steps.clear();
        assert!(batch.width() == self.width() && steps.states.width() == self.width(), "states of another width");
        let first = u64::from(from.rule) + u64::from(from.outcome > 0);
        if let Some(rows) = &self.rows {
            self.with_scratch(|scratch| self.expand_rows(rows, batch, first, arrivals, steps, scratch));
            return Completeness::All;
        }
        steps.sifted = steps.sieve.is_some() && self.words <= SIEVED;
        // Code of its own for each number of words up to [`SIEVED`].
        macro_rules! expand {
            ($narrow:ident, $wide:ident: $($words:literal)*) => {
                self.with_scratch(|scratch| match self.words {
                    $($words => self.$narrow::<$words>(batch, first, arrivals, steps, scratch),)*
                    _ => self.$wide::<0>(batch, first, arrivals, steps, scratch),
                })
            };
        }
        if self.lone {
            expand!(expand_listed, expand_listed: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        } else if self.fires_together() {
            expand!(expand_together, expand_batch: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        } else {
            expand!(expand_batch, expand_batch: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        }
        Completeness::All
    }
}

impl Space for Compiled {
    fn width(&self) -> Width {
        Width::Fixed(self.words)
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.rules
    }

    fn properties(&self) -> u32 {
        self.program.properties.len() as u32
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.initial_some(0..u64::MAX, steps)
    }

    fn starts(&self) -> Option<u64> {
        Some(self.starts.iter().map(|family| family.instances).sum())
    }

    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        steps.clear();
        let zero = vec![0; self.words];
        self.with_scratch(|scratch| {
            let mut before = 0;
            for (number, family) in self.starts.iter().enumerate() {
                let within = |at: u64| at.saturating_sub(before).min(family.instances);
                (within(numbers.start)..within(numbers.end)).for_each(|member| self.start(number, member, &zero, steps, scratch));
                before += family.instances;
            }
        });
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        self.expand_all(batch, from, &[], steps)
    }

    fn expand_arrived(&self, batch: &States, arrivals: &[u32], steps: &mut Steps) -> Completeness {
        self.expand_all(batch, Firing::of(0), arrivals, steps)
    }

    fn uses_arrivals(&self) -> bool {
        self.may_sleep()
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        self.expect_width(state);
        out.resize(self.words, 0);
        if let (Some(masks), Some(rows)) = (&self.masks, &self.rows) {
            return self.with_scratch(|scratch| {
                masks.enabled(state, 0, &mut scratch.classes, &mut scratch.rules);
                if scratch.rules.is_empty() {
                    return None;
                }
                let rule = scratch.rules[rng.below(scratch.rules.len() as u64) as usize];
                Some((Firing::of(rule), rows.fire(rule, state, out)))
            });
        }
        // `None` if it must be done slowly, and an inner `None` if no rule is enabled.
        let drawn = self.with_few(state, |bits| {
            let count = count_even(bits);
            if count == 0 {
                return Some(None);
            }
            let mut rank = rng.below(u64::from(count)) as u32;
            for segment in &self.segments {
                for index in 0..segment.groups {
                    let word = bits[(segment.group + index) * 2];
                    let here = word.count_ones();
                    if rank < here {
                        return Some(Some(segment.first + index as u32 * 64 + nth_bit(word, rank)));
                    }
                    rank -= here;
                }
            }
            Some(None)
        });
        let Some(drawn) = drawn else {
            return if self.lone { self.sample_listed(state, rng, out) } else { self.sample_slowly(state, rng, out) };
        };
        let rule = drawn?;
        // SAFETY: both widths are the program's.
        let fired = match unsafe { self.fire_quickly(rule, state, out) } {
            DONE => Fired::To,
            NO_CODE => self.with_scratch(|scratch| {
                let fired = self.fire_slowly(rule, state, out, scratch);
                take_covered(scratch, None);
                fired
            }),
            status => outcome(status),
        };
        Some((Firing::of(rule), fired))
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        self.expect_width(state);
        let Some((number, member)) = member(&self.families, firing.rule).filter(|_| firing.outcome == 0) else { return Fired::Disabled };
        if self.layered && self.is_held_back(state, firing.rule) {
            return Fired::Disabled;
        }
        self.with_scratch(|scratch| match self.ask(false, number, member, state, scratch) {
            Ok(true) => {
                let mut next = vec![0; self.words];
                let fired = match &self.rows {
                    Some(rows) => rows.fire(firing.rule, state, &mut next),
                    None => self.fire_command(false, number, member, state, &mut next, scratch),
                };
                take_covered(scratch, None);
                if fired == Fired::To {
                    *out = next;
                }
                fired
            }
            Ok(false) => Fired::Disabled,
            Err(fault) => Fired::Fault(fault),
        })
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.expect_width(state);
        self.judge(state, bits)
    }

    fn check_steps(&self, steps: &Steps, list: &[u32], bits: &mut PropertyBits) -> Option<(usize, Checked)> {
        assert_eq!(steps.states.width(), self.width(), "states of another width");
        self.judge_some(steps.states.words(), list, bits)
    }

    fn may_end(&self, state: &[Word]) -> bool {
        self.interpreter.may_end(state)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.program.properties.get(property as usize).is_some_and(|property| property.kind.asks_to_reach())
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.program.faults.get(fault.0 as usize).map_or(FaultClass::Unsupported, |site| site.class)
    }
}

/// The family of a rule and its number in it.
pub(crate) fn member(families: &[Family], rule: u32) -> Option<(usize, u64)> {
    let number = families.partition_point(|family| family.first <= rule).checked_sub(1)?;
    let member = u64::from(rule - families[number].first);
    (member < families[number].instances).then_some((number, member))
}

/// The bits set in even words.
#[inline]
fn count_even(bits: &[u64]) -> u32 {
    let mut count = 0;
    for index in 0..bits.len() / 2 {
        count += bits[index * 2].count_ones();
    }
    count
}

/// The index of the set bit that has `rank` set bits below it.
#[inline]
fn nth_bit(mut word: u64, rank: u32) -> u32 {
    for _ in 0..rank {
        word &= word - 1;
    }
    word.trailing_zeros()
}
