//! Firings, directly into the columns of steps.

#![allow(unsafe_code)]

use crate::compiled::{CommandCode, Compiled, NOT_YET, Segment};
use crate::emit::{DONE, Environment, NO_CODE, WORDS_IN_VARIABLES};
use crate::explore::member;
use crate::run::{Scratch, outcome};
use crate::touched::{self, Blocks};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use wayfarer_space::{FaultStep, Fired, Firing, Omitted, PropertyBits, SIEVED, Steps, Sum, Word, hash};

// States of few words have code of their own.
const _: () = assert!(SIEVED == 8);

impl Compiled {
    /// Fires the rules of a list, at most `most`. Returns how many there were. Steps of narrow states go through the sieve, if there is one.
    #[inline]
    pub(crate) fn fire_rules<const W: usize>(
        &self,
        source: u32,
        state: &[Word],
        (rules, most): (impl Iterator<Item = u32>, usize),
        steps: &mut Steps,
        scratch: &mut Scratch,
    ) -> usize {
        let width = if W == 0 { self.words } else { W };
        let before = steps.states.len();
        assert!(steps.hashes.len() == before && steps.changed.len() == before, "columns of one length");
        assert!(steps.sources.len() == before && steps.firings.len() == before, "columns of one length");
        let Steps { states, hashes, sources, firings, changed, faults, discarded, reached, sieve, omitted, .. } = &mut *steps;
        let mut sieve = sieve.as_mut().filter(|_| W != 0);
        hashes.reserve(most);
        changed.reserve(most);
        sources.reserve(most);
        firings.reserve(most);
        let left = omitted.len();
        omitted.reserve(if sieve.is_some() { most } else { 0 });
        let targets = states.push_many_dirty(most);
        assert!(targets.len() == most * width, "room for every state");
        let target = targets.as_mut_ptr();
        // SAFETY: the columns have this length.
        let (hash_column, change_column, firing_column, omitted_column) = unsafe {
            (hashes.as_mut_ptr().add(before), changed.as_mut_ptr().add(before), firings.as_mut_ptr().add(before), omitted.as_mut_ptr().add(left))
        };
        // Successors of wide states are hashed by the words that change.
        let sum = (W == 0).then(|| Sum::of(state));
        let (mut made, mut left_out, mut count) = (0, 0, 0);
        for rule in rules {
            assert!(count < most, "room for every rule");
            count += 1;
            // SAFETY: fewer than `most` states were made, and there is room for this many.
            let out = unsafe { std::slice::from_raw_parts_mut(target.add(made * width), width) };
            let fired = self.fire_rule(rule, state, out, scratch);
            if fired == Fired::To {
                let differs = match sum {
                    Some(sum) if W == 0 => {
                        let (hash, differs) = touched::describe(sum, state, out, self.touched_by(rule));
                        // SAFETY: as below.
                        unsafe { hash_column.add(made).write(hash) };
                        differs
                    }
                    _ => differing::<W>(state, out),
                };
                // SAFETY: room was reserved for `most` more in each column, and fewer were written so far.
                unsafe {
                    change_column.add(made).write(differs);
                    firing_column.add(made).write(Firing::of(rule));
                }
                let mut given = 1;
                if let Some(sieve) = &mut sieve {
                    // Branch-free, because the branch would be unpredictable. The source itself is known, too.
                    given = usize::from((differs != 0) & sieve.is_fresh_of::<W>(words_of(out)));
                    // SAFETY: as above.
                    unsafe { omitted_column.add(left_out).write(Omitted { source, rule, changed: differs != 0 }) };
                    left_out += 1 - given;
                }
                made += given;
            }
            if fired != Fired::To || self.covers {
                note(source, rule, fired, faults, discarded, reached, scratch);
            }
        }
        if W != 0 {
            // All at once: the products of several states are computed side by side.
            for index in 0..made {
                // SAFETY: as above; this many states were written.
                unsafe { hash_column.add(index).write(hash(&*target.add(index * W).cast::<[Word; W]>())) };
            }
        }
        let after = before + made;
        // SAFETY: these columns had `before` rows, and each of the rows up to `after` was written above; so were `left_out` rows of omitted steps.
        unsafe {
            hashes.set_len(after);
            changed.set_len(after);
            firings.set_len(after);
            omitted.set_len(left + left_out);
        }
        sources.resize(after, source);
        states.truncate(after);
        count
    }

    /// Fires a rule whose guard is true.
    #[inline]
    pub(crate) fn fire_rule(&self, rule: u32, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        // SAFETY: the callers check the widths.
        match unsafe { self.fire_quickly(rule, state, out) } {
            DONE => Fired::To,
            NO_CODE => self.fire_slowly(rule, state, out, scratch),
            status => outcome(status),
        }
    }

    /// Fires a rule by its code, if its command needs only a state. Without code the status is [`NO_CODE`].
    ///
    /// # Safety
    /// Both states must have the program's width.
    #[inline]
    pub(crate) unsafe fn fire_quickly(&self, rule: u32, state: &[Word], out: &mut [Word]) -> i64 {
        let Some(quick) = self.quick.get(rule as usize) else { return NO_CODE };
        let address = quick.take();
        if address == NOT_YET {
            return NO_CODE;
        }
        let mut environment = MaybeUninit::<Environment>::uninit();
        let parameters = self.parameters.as_ptr().wrapping_add(quick.parameters as usize);
        // SAFETY: a field of valid memory.
        unsafe { (&raw mut (*environment.as_mut_ptr()).parameters).write(parameters) };
        self.begin(state, out);
        // SAFETY: the code was emitted with these parameters. It reads nothing of its environment that it did not
        // write, except for the rule's parameters. The widths are guaranteed by the caller.
        unsafe { std::mem::transmute::<usize, CommandCode>(address)(state.as_ptr(), out.as_mut_ptr(), environment.as_mut_ptr()) }
    }

    /// Prepares the next state for a command: the code of wide states expects a copy of the state there.
    #[inline]
    pub(crate) fn begin(&self, state: &[Word], out: &mut [Word]) {
        if out.len() > WORDS_IN_VARIABLES as usize {
            out.copy_from_slice(state);
        }
    }

    /// The words that a rule may change.
    #[inline]
    fn touched_by(&self, rule: u32) -> Blocks {
        self.quick.get(rule as usize).map_or(Blocks::ALL, |quick| Blocks(quick.touched.load(Ordering::Relaxed)))
    }

    #[cold]
    pub(crate) fn fire_slowly(&self, rule: u32, state: &[Word], out: &mut [Word], scratch: &mut Scratch) -> Fired {
        if let Some(rows) = &self.rows {
            return rows.fire(rule, state, out);
        }
        match member(&self.families, rule) {
            Some((number, member)) => self.fire_command(false, number, member, state, out, scratch),
            None => Fired::Disabled,
        }
    }
}

/// The rules whose bits are set, in ascending order.
#[inline]
pub(crate) fn rules_of<'a>(segments: &'a [Segment], bits: &'a [u64]) -> impl Iterator<Item = u32> + 'a {
    Rules { segments: segments.iter(), bits, group: 0, left: 0, word: 0, base: 0, next: 0 }
}

/// One iterator instead of nested ones: what is done with a rule is then compiled into the loop.
struct Rules<'a> {
    segments: std::slice::Iter<'a, Segment>,
    bits: &'a [u64],
    /// The next group of the segment, and how many are left.
    group: usize,
    left: usize,
    /// The bits of the group that are left, and the rule of its first; that of the next group's first.
    word: u64,
    base: u32,
    next: u32,
}

impl Iterator for Rules<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            if self.left == 0 {
                let segment = self.segments.next()?;
                (self.group, self.left, self.next) = (segment.group, segment.groups, segment.first);
                continue;
            }
            (self.word, self.base) = (self.bits[self.group * 2], self.next);
            (self.group, self.left, self.next) = (self.group + 1, self.left - 1, self.next + 64);
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

/// A state of `W` words.
#[inline]
fn words_of<const W: usize>(state: &[Word]) -> &[Word; W] {
    state.try_into().expect("a width")
}

/// The words in which two states of `W` words differ.
#[inline]
fn differing<const W: usize>(from: &[Word], to: &[Word]) -> u64 {
    let (from, to) = (words_of::<W>(from), words_of::<W>(to));
    let mut mask = 0;
    for index in 0..W {
        mask |= u64::from(from[index] != to[index]) << index;
    }
    mask
}

/// Records a firing that led to no state, and the properties it covered.
#[cold]
fn note(source: u32, rule: u32, fired: Fired, faults: &mut Vec<FaultStep>, discarded: &mut u64, reached: &mut PropertyBits, scratch: &mut Scratch) {
    match fired {
        Fired::Fault(fault) => faults.push(FaultStep { source, firing: Firing::of(rule), fault }),
        Fired::Discarded => *discarded += 1,
        Fired::To | Fired::Disabled => {}
    }
    take_covered(scratch, (fired != Fired::Discarded).then_some(reached));
}

/// Clears the properties that a firing covered, after recording them if it counts.
pub(crate) fn take_covered(scratch: &mut Scratch, mut reached: Option<&mut PropertyBits>) {
    for (index, word) in scratch.covered.iter_mut().enumerate() {
        let covered = std::mem::take(word);
        if let Some(reached) = &mut reached {
            (0..64).filter(|bit| covered >> bit & 1 == 1).for_each(|bit| reached.insert(index as u32 * 64 + bit));
        }
    }
}
