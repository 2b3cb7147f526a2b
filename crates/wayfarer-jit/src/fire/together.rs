//! Fires the rules of several states one rule after the other: the code of a rule, and the ways that its branches go, serve for all states in which it is
//! enabled, while the processor remembers them. The steps then join the columns in their order, state by state. This pays if commands are large: each
//! state is copied once more.

use super::{Columns, Enabled, EnabledBits, differing, each_bit, note};
use crate::compiled::Compiled;
use crate::emit::{DONE, Environment, NO_CODE, WORDS_IN_VARIABLES};
#[cfg(target_arch = "x86_64")]
use crate::lanes;
use crate::run::{Scratch, outcome};
use std::mem::{MaybeUninit, replace, take};
use std::ops::Range;
use wayfarer_space::{Fault, FaultStep, Fired, Firing, Omitted, SieveOf, States, Steps, Word};

/// The firings at a time: few at first, because many searches are small, and at most so many that they and their targets stay in the cache.
const FIRST_FIRINGS: usize = 256;
const FIRINGS: usize = 4096;
const WORDS: usize = 1 << 15;
/// The most rules of a program whose rules fire together, and the nodes that a command should have on average.
const MOST_RULES: u32 = 1 << 12;
pub(crate) const LARGE_COMMAND: u64 = 400;
/// No firing.
const NONE: u16 = u16::MAX;

/// Firings of some states of a batch, numbered in the order of the states and of their rules.
#[derive(Default)]
pub(crate) struct Together {
    /// The rule of each firing.
    rules: Vec<u32>,
    /// The state of each firing, and in the low half the next firing of the same rule.
    links: Vec<u32>,
    /// The target of each firing.
    targets: Vec<Word>,
    firings: usize,
    /// For each rule its last firing, and for each group of rules, as bits, which of them have one.
    last: Vec<u16>,
    used: Vec<u64>,
    /// For each state the end of its firings, and for each group of rules, as bits, which of them sleep there.
    ends: Vec<u16>,
    sleeping: Vec<u64>,
    /// Guards and commands that failed, and firings that lead to no state.
    faults: Vec<FaultStep>,
    nowhere: Vec<u16>,
}

/// Rules that sleep, as bits in groups.
#[derive(Clone, Copy)]
struct Asleep<'a> {
    words: &'a [u64],
    firsts: &'a [u32],
}

impl Enabled for Asleep<'_> {
    #[inline]
    fn most(self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[inline]
    fn each(self, _: impl FnMut(u32)) {}

    #[inline]
    fn some_sleep(self) -> bool {
        self.words.iter().any(|word| *word != 0)
    }

    #[inline]
    fn each_sleeping(self, mut visit: impl FnMut(u32)) {
        self.words.iter().zip(self.firsts).for_each(|(word, first)| each_bit(*word, *first, &mut visit));
    }
}

impl Together {
    /// Prepares for a program of so many rules in groups.
    fn prepare(&mut self, rules: usize, groups: usize) {
        if self.last.len() < rules {
            self.last.resize(rules, NONE);
        }
        if self.used.len() < groups {
            self.used.resize(groups, 0);
        }
    }

    /// Makes room for a state of `width` words with so many firings, if nothing waits and that is possible.
    #[cold]
    fn make_room(&mut self, firings: usize, width: usize) {
        let most = FIRINGS.min(WORDS / width);
        if self.firings == 0 && firings <= most {
            let room = firings.max(2 * self.rules.len()).clamp(FIRST_FIRINGS.min(most), most);
            self.rules.resize(room, 0);
            self.links.resize(room, 0);
            self.targets.resize(room * width, 0);
        }
    }

    /// Forgets the firings.
    fn clear(&mut self) {
        self.firings = 0;
        self.sleeping.clear();
        self.ends.clear();
        self.faults.clear();
        self.nowhere.clear();
    }

    /// Removes firings that lead to no state, and brings the faults into the order of their steps.
    #[cold]
    fn drop_failed<const W: usize>(&mut self) {
        self.faults.sort_by_key(|step| (step.source, step.firing));
        self.nowhere.sort_unstable();
        let targets = self.targets.as_chunks_mut::<W>().0;
        let (mut kept, mut from, mut nowhere) = (0, 0, self.nowhere.iter().peekable());
        for end in &mut self.ends {
            for firing in from..usize::from(*end) {
                if nowhere.next_if(|number| usize::from(**number) == firing).is_none() {
                    self.rules[kept] = self.rules[firing];
                    targets[kept] = targets[firing];
                    kept += 1;
                }
            }
            from = usize::from(replace(end, kept as u16));
        }
        self.firings = kept;
    }

    /// Whether there is room for a state of `width` words with so many firings.
    #[inline]
    fn has_room(&self, more: usize, width: usize) -> bool {
        self.firings + more <= self.rules.len().min(self.targets.len() / width) && self.ends.len() < FIRINGS
    }

    /// Adds the rules that are enabled in the next state, and the guards that failed there. There must be room for them. Says how many there are, except
    /// for rules that sleep.
    #[inline(always)]
    fn add(&mut self, source: u32, enabled: EnabledBits, failed: &[(u32, Fault)]) -> usize {
        assert!(self.firings + enabled.most() <= self.rules.len().min(self.links.len()), "room for the firings");
        let state = (self.ends.len() as u32) << 16;
        let first = self.firings;
        let mut firing = first;
        let (rules, links, last) = (self.rules.as_mut_ptr(), self.links.as_mut_ptr(), &mut self.last[..]);
        for (((word, sleeping), rule), used) in enabled.words().zip(enabled.firsts).zip(&mut self.used) {
            let awake = word & !sleeping;
            *used |= awake;
            each_bit(awake, *rule, &mut |rule| {
                let next = replace(&mut last[rule as usize], firing as u16);
                // SAFETY: tested above.
                unsafe {
                    rules.add(firing).write(rule);
                    links.add(firing).write(state | u32::from(next));
                }
                firing += 1;
            });
            self.sleeping.push(word & sleeping);
        }
        self.firings = firing;
        self.ends.push(firing as u16);
        if !failed.is_empty() {
            self.add_failed(source, failed);
        }
        firing - first + failed.len()
    }

    #[cold]
    fn add_failed(&mut self, source: u32, failed: &[(u32, Fault)]) {
        self.faults.extend(failed.iter().map(|(rule, fault)| FaultStep { source, firing: Firing::of(*rule), fault: *fault }));
    }
}

impl Compiled {
    /// Takes the commands for large or not, whatever their size. Large commands of narrow states fire rule by rule over several states.
    #[must_use]
    pub fn with_large_commands(mut self, large: bool) -> Self {
        self.large_commands = large;
        self
    }

    /// Whether the rules of several states should fire one after the other.
    pub(crate) fn fires_together(&self) -> bool {
        self.large_commands && !self.lone && self.rules <= MOST_RULES
    }

    /// Expands a batch of narrow states, one rule after the other.
    pub(crate) fn expand_together<const W: usize>(
        &self,
        batch: &States,
        first_rule: u64,
        arrivals: &[u32],
        steps: &mut Steps,
        scratch: &mut Scratch,
    ) {
        let (states, _) = batch.words().as_chunks::<W>();
        assert!(W == self.words && states.len() >= batch.len(), "states of the program's width");
        let (mut bits, mut together) = (take(&mut scratch.bits), take(&mut scratch.together));
        let mut enabled = take(&mut steps.enabled);
        enabled.reserve(batch.len());
        together.prepare(self.rules as usize, self.groups);
        let mut columns = Columns::<W>::new(steps, W);
        let table = if arrivals.is_empty() { None } else { self.sleepers(batch.len(), scratch) };
        let mut first = 0;
        for (source, state) in states[..batch.len()].iter().enumerate() {
            self.find_enabled(state, first_rule, &mut bits, scratch);
            let sleeping = table.map_or(self.awake.as_slice(), |table| table.after(arrivals[source]));
            let rules = EnabledBits { bits: &bits, firsts: &self.firsts, sleeping };
            let most = rules.most();
            if !together.has_room(most, W) {
                columns.fire_together(self, (first as u32, &states[first..source]), &mut together, &mut enabled[first..], scratch);
                together.make_room(most, W);
                first = source;
            }
            if together.has_room(most, W) {
                enabled.push(together.add(source as u32, rules, &scratch.faults) as u32);
            } else {
                let faults = scratch.faults.len();
                let fired = columns.fire_all(self, source as u32, state, rules, scratch);
                enabled.push((fired + faults) as u32);
                first = source + 1;
            }
        }
        columns.fire_together(self, (first as u32, &states[first..batch.len()]), &mut together, &mut enabled[first..], scratch);
        columns.finish();
        steps.enabled = enabled;
        (scratch.bits, scratch.together) = (bits, together);
    }
}

impl<const W: usize> Columns<'_, W> {
    /// Fires what was added for these states, of which the first has number `first` in the batch, and adds the steps. The rules that sleep are counted as
    /// enabled, too.
    fn fire_together(
        &mut self,
        compiled: &Compiled,
        (first, states): (u32, &[[Word; W]]),
        together: &mut Together,
        enabled: &mut [u32],
        scratch: &mut Scratch,
    ) {
        assert!(states.len() == together.ends.len() && states.len() == enabled.len(), "the states whose rules were added");
        self.fire_by_rule(compiled, (first, states), together, scratch);
        if !together.faults.is_empty() || !together.nowhere.is_empty() {
            together.drop_failed::<W>();
        }
        let most = together.firings + together.sleeping.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        if self.made + self.left_out + most > self.room {
            self.grow(most);
        }
        #[cfg(target_arch = "x86_64")]
        if W >= lanes::WORTH && lanes::are_there() {
            // SAFETY: this processor has the instructions.
            unsafe { self.join_fast(compiled, (first, states), together, enabled, scratch) };
            together.clear();
            return;
        }
        let exchange = |entry: &mut [Word; W], to: &[Word; W]| differing(&replace(entry, *to), to);
        self.join(compiled, (first, states), together, enabled, scratch, differing, exchange);
        together.clear();
    }

    /// Fires all, rule by rule.
    fn fire_by_rule(&mut self, compiled: &Compiled, (first, states): (u32, &[[Word; W]]), together: &mut Together, scratch: &mut Scratch) {
        let Together { links, targets, last, used, faults, nowhere, .. } = together;
        let targets = targets.as_chunks_mut::<W>().0;
        for (used, rule) in used.iter_mut().zip(&compiled.firsts) {
            each_bit(take(used), *rule, &mut |rule| {
                let mut environment = MaybeUninit::<Environment>::uninit();
                let code = compiled.settled_code(rule as usize, &mut environment);
                let mut firing = replace(&mut last[rule as usize], NONE);
                while firing != NONE {
                    let link = links[usize::from(firing)];
                    let (state, out) = (&states[(link >> 16) as usize], &mut targets[usize::from(firing)]);
                    let status = match code {
                        Some(code) => {
                            if W > WORDS_IN_VARIABLES as usize {
                                *out = *state;
                            }
                            // SAFETY: as in `fire_quickly`, and the environment has the rule's parameters.
                            unsafe { code(state.as_ptr(), out.as_mut_ptr(), environment.as_mut_ptr()) }
                        }
                        None => NO_CODE,
                    };
                    let fired = match status {
                        DONE => Fired::To,
                        NO_CODE => compiled.fire_rule(rule, state, out, scratch),
                        status => outcome(status),
                    };
                    if fired != Fired::To || compiled.covers {
                        note(first + (link >> 16), rule, fired, faults, self.discarded, self.reached, scratch);
                        nowhere.extend((fired != Fired::To).then_some(firing));
                    }
                    firing = link as u16;
                }
            });
        }
    }

    /// The same as [`join`](Self::join), with several words in a register.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn join_fast(
        &mut self,
        compiled: &Compiled,
        states: (u32, &[[Word; W]]),
        together: &Together,
        enabled: &mut [u32],
        scratch: &mut Scratch,
    ) {
        self.join(compiled, states, together, enabled, scratch, |from, to| lanes::differing(from, to), |entry, to| lanes::exchange(entry, to));
    }

    /// Adds the steps, and wakes rules where nothing else leads on.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn join(
        &mut self,
        compiled: &Compiled,
        (first, states): (u32, &[[Word; W]]),
        together: &Together,
        enabled: &mut [u32],
        scratch: &mut Scratch,
        differing: impl Fn(&[Word; W], &[Word; W]) -> u64,
        exchange: impl Fn(&mut [Word; W], &[Word; W]) -> u64,
    ) {
        let groups = compiled.firsts.len();
        let (mut firing, mut fault) = (0, 0);
        for (index, (state, end)) in states.iter().zip(&together.ends).enumerate() {
            let source = first + index as u32;
            let moved = self.join_one((source, state), firing..usize::from(*end), together, &differing, &exchange) != 0;
            firing = usize::from(*end);
            let faults = self.faults.len();
            if fault < together.faults.len() {
                let own = together.faults[fault..].iter().take_while(|step| step.source == source).count();
                self.faults.extend_from_slice(&together.faults[fault..fault + own]);
                fault += own;
            }
            let sleeping = Asleep { words: &together.sleeping[index * groups..(index + 1) * groups], firsts: &compiled.firsts };
            if sleeping.some_sleep() {
                enabled[index] += match moved && self.faults.len() == faults {
                    true => self.leave_asleep(source, sleeping),
                    false => self.wake(compiled, (source, state), sleeping, scratch, faults),
                } as u32;
                self.sort_faults(faults);
            }
        }
    }

    /// Adds the steps of a state, without those that the sieve knows. Returns the words that some step changes.
    #[inline(always)]
    fn join_one(
        &mut self,
        (source, state): (u32, &[Word; W]),
        firings: Range<usize>,
        together: &Together,
        differing: impl Fn(&[Word; W], &[Word; W]) -> u64,
        exchange: impl Fn(&mut [Word; W], &[Word; W]) -> u64,
    ) -> u64 {
        let (rules, targets) = (&together.rules[firings.clone()], &together.targets.as_chunks::<W>().0[firings]);
        let (sources, steps, changed) = (self.sources.as_mut_ptr(), self.firings.as_mut_ptr(), self.changed.as_mut_ptr());
        let (states, omitted) = (self.target.cast::<[Word; W]>(), self.omitted.as_mut_ptr());
        let mut sieve = self.sieve.as_mut().map(SieveOf::known);
        let (mut made, mut left_out, mut any) = (self.made, self.left_out, 0);
        for (rule, to) in rules.iter().zip(targets) {
            let differs = differing(state, to);
            any |= differs;
            // Branch-free, because the branch would be unpredictable. The source itself is known, too.
            let given = sieve.as_mut().is_none_or(|sieve| (differs != 0) & (exchange(sieve.entry(to), to) != 0));
            // SAFETY: there is room for a step, given or left out, for each firing.
            unsafe {
                omitted.add(left_out).write(Omitted::new(source, *rule, differs != 0));
                states.add(made).write(*to);
                changed.add(made).write(differs);
                steps.add(made).write(Firing::of(*rule));
                sources.add(made).write(source);
            }
            left_out += usize::from(!given);
            made += usize::from(given);
        }
        (self.made, self.left_out) = (made, left_out);
        any
    }
}
