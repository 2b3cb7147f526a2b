//! Firings, directly into the columns of steps.

#![allow(unsafe_code)]

mod together;

pub(crate) use together::{LARGE_COMMAND, Together};

use crate::compiled::{CommandCode, Compiled, NOT_YET};
use crate::emit::{DONE, Environment, NO_CODE, WORDS_IN_VARIABLES};
use crate::explore::member;
#[cfg(target_arch = "x86_64")]
use crate::lanes;
use crate::run::{Scratch, outcome};
use crate::touched::{self, Blocks};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::Ordering;
use wayfarer_space::{FaultStep, Fired, Firing, Hash, Omitted, PropertyBits, SIEVED, Sieve, SieveOf, States, Steps, Sum, Width, Word, hash};

// States of few words have code of their own.
const _: () = assert!(SIEVED == 16);

/// The columns of steps while the rules of a batch fire. `W` is the number of words of a state, or 0 if it is known only at run time.
///
/// Rows are written behind the ends of the columns, and become part of them in [`finish`](Columns::finish): a loop over few variables is all that is left for each
/// firing.
pub(crate) struct Columns<'s, const W: usize> {
    states: &'s mut States,
    hashes: &'s mut Vec<Hash>,
    sources: &'s mut Vec<u32>,
    firings: &'s mut Vec<Firing>,
    changed: &'s mut Vec<u64>,
    faults: &'s mut Vec<FaultStep>,
    discarded: &'s mut u64,
    reached: &'s mut PropertyBits,
    omitted: &'s mut Vec<Omitted>,
    /// Steps of narrow states go through the sieve, if there is one.
    sieve: Option<SieveOf<'s, W>>,
    width: usize,
    /// The place of the first row.
    target: *mut Word,
    /// Rows that were written, steps that were left out, and the number of both for which there is room.
    made: usize,
    left_out: usize,
    room: usize,
    /// Rows that have their hash; those of wide states get it when they are written.
    hashed: usize,
}

impl<'s, const W: usize> Columns<'s, W> {
    /// Columns of steps that has none yet, for states of `width` words.
    pub(crate) fn new(steps: &'s mut Steps, width: usize) -> Self {
        assert!(steps.is_empty() && steps.omitted.is_empty() && steps.states.width() == Width::Fixed(width), "no steps yet");
        assert!(W == 0 || W == width, "states of {W} words");
        let Steps { states, hashes, sources, firings, changed, faults, discarded, reached, sieve, omitted, .. } = steps;
        let sieve = sieve.as_mut().filter(|_| W != 0).map(Sieve::of);
        let target = std::ptr::null_mut();
        Columns {
            states,
            hashes,
            sources,
            firings,
            changed,
            faults,
            discarded,
            reached,
            omitted,
            sieve,
            width,
            target,
            made: 0,
            left_out: 0,
            room: 0,
            hashed: 0,
        }
    }

    /// Makes room for so many more rows.
    #[cold]
    fn grow(&mut self, more: usize) {
        self.take_in();
        self.hashes.reserve(more);
        self.sources.reserve(more);
        self.firings.reserve(more);
        self.changed.reserve(more);
        self.omitted.reserve(more);
        let before = self.states.len();
        self.states.push_many_dirty(more);
        let spare = self.states.room();
        self.states.push_many_dirty(spare);
        // As many as there are in the column that has the fewest.
        let rows = [self.hashes.capacity(), self.sources.capacity(), self.firings.capacity(), self.changed.capacity(), self.states.len()];
        let rows = rows.into_iter().min().unwrap_or(0) - self.made;
        let omitted = self.omitted.capacity() - self.left_out;
        self.room = self.made + self.left_out + rows.min(omitted);
        self.target = self.states.words_mut().as_mut_ptr();
        assert!(more <= rows.min(omitted) && self.states.len() >= before + more, "room for every step");
    }

    /// Makes the rows part of the columns.
    fn take_in(&mut self) {
        if W != 0 {
            let (states, hashes) = (self.target.cast::<[Word; W]>(), self.hashes.as_mut_ptr());
            // All at once: the products of several states are computed side by side.
            for index in self.hashed..self.made {
                // SAFETY: there is room for this many rows, and their states were written.
                unsafe { hashes.add(index).write(hash(&*states.add(index))) };
            }
            self.hashed = self.made;
        }
        // SAFETY: there was room for these rows, and each was written.
        unsafe {
            self.hashes.set_len(self.made);
            self.sources.set_len(self.made);
            self.firings.set_len(self.made);
            self.changed.set_len(self.made);
            self.omitted.set_len(self.left_out);
        }
        self.states.truncate(self.made);
    }

    /// Fires rules that are enabled in a state, in their order, beside guards that failed there. Says how many rules there were, those that sleep included.
    #[inline]
    pub(crate) fn fire_all(&mut self, compiled: &Compiled, source: u32, state: &[Word], rules: impl Enabled, scratch: &mut Scratch) -> usize {
        let most = rules.most();
        if self.made + self.left_out + most > self.room {
            self.grow(most);
        }
        let faults = self.faults.len();
        self.faults.extend(scratch.faults.iter().map(|(rule, fault)| FaultStep { source, firing: Firing::of(*rule), fault: *fault }));
        let (mut count, moved) = self.fire(compiled, source, state, rules, scratch);
        if rules.some_sleep() {
            count += match moved && self.faults.len() == faults {
                true => self.leave_asleep(source, rules),
                false => self.wake(compiled, (source, state), rules, scratch, faults),
            };
        }
        self.sort_faults(faults);
        count
    }

    /// The faults of a state, from this number on, come in the order of the rules.
    fn sort_faults(&mut self, from: usize) {
        if self.faults.len() > from {
            self.faults[from..].sort_by_key(|fault| fault.firing);
        }
    }

    /// Lists the steps of rules that sleep as omitted. Says how many there are.
    #[inline]
    fn leave_asleep(&mut self, source: u32, rules: impl Enabled) -> usize {
        let before = self.left_out;
        rules.each_sleeping(|rule| self.leave_out(source, rule));
        self.left_out - before
    }

    /// Lists a step of a rule that sleeps.
    #[inline]
    fn leave_out(&mut self, source: u32, rule: u32) {
        // SAFETY: there is room for as many omitted steps as rules.
        unsafe { self.omitted.as_mut_ptr().add(self.left_out).write(Omitted::new(source, rule, true)) };
        self.left_out += 1;
    }

    /// Fires rules that sleep until one of them leads on, if all others lead back to the state: whether there is one decides about a deadlock. If some
    /// fail, all are fired, because each fault counts. Says how many rules sleep.
    #[inline(never)]
    fn wake(&mut self, compiled: &Compiled, (source, state): (u32, &[Word]), rules: impl Enabled, scratch: &mut Scratch, faults: usize) -> usize {
        let (mut count, mut moved) = (0, false);
        rules.each_sleeping(|rule| {
            if moved && self.faults.len() == faults {
                self.leave_out(source, rule);
                count += 1;
            } else {
                let (fired, leads_on) = self.fire(compiled, source, state, EnabledRules { awake: &[rule], sleeping: &[] }, scratch);
                count += fired;
                moved |= leads_on;
            }
        });
        count
    }

    /// Fires the rules that do not sleep. There is room for them. Says how many there were, and whether one leads on.
    #[inline(always)]
    fn fire(&mut self, compiled: &Compiled, source: u32, state: &[Word], rules: impl Enabled, scratch: &mut Scratch) -> (usize, bool) {
        let width = if W == 0 { self.width } else { W };
        assert!(state.len() == width, "a state of the program's width");
        let first = self.made;
        let (hashes, sources, firings, changed) =
            (self.hashes.as_mut_ptr(), self.sources.as_mut_ptr(), self.firings.as_mut_ptr(), self.changed.as_mut_ptr());
        // Successors of wide states are hashed by the words that change.
        let sum = (W == 0).then(|| Sum::of(state));
        let (mut end, mut none, mut any) = (first, 0, 0);
        rules.each(|rule| {
            // SAFETY: there is room for a row for each rule, and no one else sees it.
            let out = unsafe { std::slice::from_raw_parts_mut(self.target.add(end * width), width) };
            let fired = compiled.fire_rule(rule, state, out, scratch);
            if fired == Fired::To {
                // SAFETY: as above.
                unsafe {
                    firings.add(end).write(Firing::of(rule));
                    sources.add(end).write(source);
                }
                if let Some(sum) = sum {
                    let (hash, differs) = touched::describe(sum, state, out, compiled.touched_by(rule));
                    any |= differs;
                    // SAFETY: as above.
                    unsafe {
                        hashes.add(end).write(hash);
                        changed.add(end).write(differs);
                    }
                }
                end += 1;
            }
            if fired != Fired::To || compiled.covers {
                none += usize::from(fired != Fired::To);
                note(source, rule, fired, self.faults, self.discarded, self.reached, scratch);
            }
        });
        if W == 0 {
            self.made = end;
        } else {
            any = self.sift(source, state, first..end);
        }
        (end - first + none, any != 0)
    }

    /// Describes rows of narrow states and leaves out those that the sieve knows. This is a loop of its own, because the place of the next row depends on
    /// whether this one is left out: in the loop above, each rule would wait for the sieve's answer about the one before. Returns the words that some row
    /// changes.
    #[inline]
    fn sift(&mut self, source: u32, state: &[Word], rows: Range<usize>) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if W >= lanes::WORTH && lanes::are_there() {
            // SAFETY: this processor has the instructions.
            return unsafe { self.sift_fast(source, state, rows) };
        }
        self.sift_by(source, state, rows, differing, |entry, to| differing(&std::mem::replace(entry, *to), to))
    }

    /// The same, with several words in a register.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn sift_fast(&mut self, source: u32, state: &[Word], rows: Range<usize>) -> u64 {
        self.sift_by(source, state, rows, |from, to| lanes::differing(from, to), |entry, to| lanes::exchange(entry, to))
    }

    #[inline(always)]
    fn sift_by(
        &mut self,
        source: u32,
        state: &[Word],
        rows: Range<usize>,
        differing: impl Fn(&[Word; W], &[Word; W]) -> u64,
        exchange: impl Fn(&mut [Word; W], &[Word; W]) -> u64,
    ) -> u64 {
        let (firings, changed) = (self.firings.as_mut_ptr(), self.changed.as_mut_ptr());
        let states = self.target.cast::<[Word; W]>();
        let from = words_of(state);
        let mut any = 0;
        let Some(sieve) = &mut self.sieve else {
            for row in rows.clone() {
                // SAFETY: every row of the range was written by `fire`, and there is room for a mask for each.
                unsafe {
                    let differs = differing(from, &*states.add(row));
                    any |= differs;
                    changed.add(row).write(differs);
                }
            }
            self.made = rows.end;
            return any;
        };
        let mut sieve = sieve.known();
        let omitted = self.omitted.as_mut_ptr();
        let (mut made, mut left_out) = (rows.start, self.left_out);
        for row in rows {
            // SAFETY: as above, and there is room for as many omitted steps as rows. A row moves to its own place or an earlier one, and all rows have the
            // same source.
            unsafe {
                let to = &*states.add(row);
                let differs = differing(from, to);
                any |= differs;
                // Branch-free, because the branch would be unpredictable. The source itself is known, too.
                let given = usize::from((differs != 0) & (exchange(sieve.entry(to), to) != 0));
                let firing = *firings.add(row);
                omitted.add(left_out).write(Omitted::new(source, firing.rule, differs != 0));
                states.add(made).copy_from(states.add(row), 1);
                changed.add(made).write(differs);
                firings.add(made).write(firing);
                left_out += 1 - given;
                made += given;
            }
        }
        (self.made, self.left_out) = (made, left_out);
        any
    }

    /// Completes the steps.
    pub(crate) fn finish(mut self) {
        self.take_in();
    }
}

impl Compiled {
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
        let address = quick.code.take();
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

    /// The code of a rule whose command needs only a state, and which will not be replaced by better code. Its parameters are written to the environment.
    fn settled_code(&self, rule: usize, environment: &mut MaybeUninit<Environment>) -> Option<CommandCode> {
        let quick = self.quick.get(rule)?;
        let address = quick.code.settled()?;
        let parameters = self.parameters.as_ptr().wrapping_add(quick.parameters as usize);
        // SAFETY: a field of valid memory, and code of commands.
        unsafe {
            (&raw mut (*environment.as_mut_ptr()).parameters).write(parameters);
            Some(std::mem::transmute::<usize, CommandCode>(address))
        }
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

/// The rules that are enabled in a state, some of which may sleep.
pub(crate) trait Enabled: Copy {
    /// How many there are at most.
    fn most(self) -> usize;

    /// Calls `visit` for each that does not sleep, in ascending order.
    fn each(self, visit: impl FnMut(u32));

    /// Whether some sleep.
    fn some_sleep(self) -> bool;

    /// Calls `visit` for each that sleeps, in ascending order.
    fn each_sleeping(self, visit: impl FnMut(u32));
}

/// Lists of rules.
#[derive(Clone, Copy)]
pub(crate) struct EnabledRules<'a> {
    pub(crate) awake: &'a [u32],
    pub(crate) sleeping: &'a [u32],
}

impl Enabled for EnabledRules<'_> {
    #[inline]
    fn most(self) -> usize {
        self.awake.len() + self.sleeping.len()
    }

    #[inline]
    fn each(self, mut visit: impl FnMut(u32)) {
        self.awake.iter().for_each(|rule| visit(*rule));
    }

    #[inline]
    fn some_sleep(self) -> bool {
        !self.sleeping.is_empty()
    }

    #[inline]
    fn each_sleeping(self, mut visit: impl FnMut(u32)) {
        self.sleeping.iter().for_each(|rule| visit(*rule));
    }
}

/// Rules whose bits are set: words of bits, every second of which counts, and for each of these its first rule and the rules that sleep.
#[derive(Clone, Copy)]
pub(crate) struct EnabledBits<'a> {
    pub(crate) bits: &'a [u64],
    pub(crate) firsts: &'a [u32],
    pub(crate) sleeping: &'a [u64],
}

impl EnabledBits<'_> {
    #[inline]
    fn words(&self) -> impl Iterator<Item = (u64, u64)> {
        self.bits.as_chunks::<2>().0.iter().zip(self.sleeping).map(|(word, sleeping)| (word[0], *sleeping))
    }
}

impl Enabled for EnabledBits<'_> {
    #[inline]
    fn most(self) -> usize {
        // Not every processor counts bits by itself.
        if self.firsts.len() <= 1 { 64 } else { self.words().map(|(word, _)| word.count_ones() as usize).sum() }
    }

    #[inline]
    fn each(self, mut visit: impl FnMut(u32)) {
        for ((word, sleeping), first) in self.words().zip(self.firsts) {
            each_bit(word & !sleeping, *first, &mut visit);
        }
    }

    #[inline]
    fn some_sleep(self) -> bool {
        self.words().fold(0, |some, (word, sleeping)| some | word & sleeping) != 0
    }

    #[inline]
    fn each_sleeping(self, mut visit: impl FnMut(u32)) {
        for ((word, sleeping), first) in self.words().zip(self.firsts) {
            each_bit(word & sleeping, *first, &mut visit);
        }
    }
}

/// Calls `visit` for each bit of a word, whose first bit stands for the rule `first`.
#[inline]
fn each_bit(mut word: u64, first: u32, visit: &mut impl FnMut(u32)) {
    while word != 0 {
        visit(first + word.trailing_zeros());
        word &= word - 1;
    }
}

/// A state of `W` words.
#[inline]
fn words_of<const W: usize>(state: &[Word]) -> &[Word; W] {
    state.try_into().expect("a width")
}

/// The words in which two states of `W` words differ.
#[inline]
fn differing<const W: usize>(from: &[Word; W], to: &[Word; W]) -> u64 {
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
