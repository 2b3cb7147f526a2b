//! A space without the states that a program passes through.

mod together;

use crate::program::PassingField;
use std::cell::Cell;
use std::ops::Deref;
use std::ops::Range;
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word,
};

/// The most states passed through from one state to all its successors.
const MOST_PASSED: usize = 1_000_000;
/// The most states passed through one after the other.
const LONGEST: usize = 10_000;

/// A space in which states whose passing field is set are expanded at once. A step leads from one permanent state to
/// another, through any number of passing ones; its firing has the first rule, and its outcome numbers the paths that
/// begin with that rule, in the order of the rules along the path.
pub struct Passing<P> {
    inner: P,
    field: PassingField,
    /// Without the field, which is zero in every state that is kept.
    packing: Packing,
}

/// The end of one of the paths that begin with a rule.
enum End {
    To,
    Fault(Fault),
}

/// A state on the path, the steps out of it, and the next step to take.
struct Frame {
    state: Vec<Word>,
    steps: Steps,
    row: usize,
    fault: usize,
}

/// The passing states that are so many steps away from a batch, and the steps out of them.
struct Level {
    batch: States,
    steps: Steps,
    /// The next passing state, the next of its steps and the next of its faults.
    entry: usize,
    row: usize,
    fault: usize,
}

/// Receives the end of a path: the state or fault, the states on the path, and the last firing. Returns whether to
/// continue.
type Tell<'t> = dyn FnMut(&[Word], End, &[Frame], Option<Firing>) -> bool + 't;

/// Memory for passing through states. Taken while in use.
#[derive(Default)]
struct Scratch {
    frames: Vec<Frame>,
    levels: Vec<Level>,
    batch: Option<States>,
    first: Option<Steps>,
    /// For drawing a step: a batch of one state, and its steps.
    drawn: Option<(States, Steps)>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl<P: Deref> Passing<P>
where
    P::Target: Space,
{
    /// The space without the states in which the field is set.
    pub fn new(inner: P, field: PassingField) -> Self {
        let mut masks = inner.packing().masks().to_vec();
        let (word, mask) = word(field);
        masks.iter_mut().skip(word).take(1).for_each(|bits| *bits &= !mask);
        Passing { inner, field, packing: Packing::new(masks) }
    }

    /// The underlying space, with these states.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

/// The word in which a field lies, and its bits there.
#[inline]
fn word(field: PassingField) -> (usize, u64) {
    let mask = if field.bits >= 64 { u64::MAX } else { (1 << field.bits) - 1 };
    ((field.offset / 64) as usize, mask << (field.offset % 64))
}

impl<P: Deref + Sync> Passing<P>
where
    P::Target: Space,
{
    #[inline]
    fn passes(&self, state: &[Word]) -> bool {
        let (word, mask) = word(self.field);
        state[word] & mask != 0
    }

    fn clear(&self, state: &mut [Word]) {
        let (word, mask) = word(self.field);
        state[word] &= !mask;
    }

    fn with_scratch<T>(&self, act: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let width = self.inner.width();
        let fits = scratch.first.as_ref().is_some_and(|steps| steps.states.width() == width);
        if !fits {
            *scratch = Scratch { batch: Some(States::new(width)), first: Some(Steps::new(width)), ..Scratch::default() };
        }
        let result = act(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }

    /// Passes through a state and reports the end of every path, in order, until the callback stops it. `frames`
    /// holds the states on the path.
    fn go(&self, state: &[Word], scratch: &mut Scratch, tell: &mut Tell) {
        let Scratch { frames, batch, .. } = scratch;
        let width = self.inner.width();
        let batch = batch.get_or_insert_with(|| States::new(width));
        let endless = Fault(self.field.endless.0);
        let mut passed = 0;
        let mut depth = 0;
        let mut enter = Some(state.to_vec());
        loop {
            if let Some(state) = enter.take() {
                passed += 1;
                if depth >= LONGEST || passed > MOST_PASSED {
                    if !tell(&state, End::Fault(endless), &frames[..depth], None) {
                        return;
                    }
                } else {
                    if frames.len() <= depth {
                        frames.push(Frame { state: Vec::new(), steps: Steps::new(width), row: 0, fault: 0 });
                    }
                    let frame = &mut frames[depth];
                    batch.clear();
                    batch.push(&state);
                    self.inner.expand(batch, Firing::of(0), &mut frame.steps);
                    (frame.state, frame.row, frame.fault) = (state, 0, 0);
                    depth += 1;
                    if frames[depth - 1].steps.enabled.first() == Some(&0) {
                        let mut settled = frames[depth - 1].state.clone();
                        self.clear(&mut settled);
                        if !tell(&settled, End::To, &frames[..depth], None) {
                            return;
                        }
                    }
                }
            }
            let Some(last) = depth.checked_sub(1) else { return };
            let Frame { steps, row, fault, state } = &mut frames[last];
            let (at, bad) = (*row, *fault);
            if at >= steps.len() && bad >= steps.faults.len() {
                depth -= 1;
                continue;
            }
            if bad < steps.faults.len() && (at >= steps.len() || steps.faults[bad].firing < steps.firings[at]) {
                *fault += 1;
                let (step, state) = (steps.faults[bad], state.clone());
                if !tell(&state, End::Fault(step.fault), &frames[..depth], Some(step.firing)) {
                    return;
                }
                continue;
            }
            *row += 1;
            let next = steps.states.get(at).to_vec();
            if self.passes(&next) {
                enter = Some(next);
                continue;
            }
            let firing = steps.firings[at];
            if !tell(&next, End::To, &frames[..depth], Some(firing)) {
                return;
            }
        }
    }

    /// Appends the results of the first steps to `out`, except those before the firing `from`.
    fn settle(&self, batch: &States, first: &Steps, from: Firing, out: &mut Steps, scratch: &mut Scratch) {
        out.discarded = first.discarded;
        out.reached.union(&first.reached);
        let (mut row, mut fault) = (0, 0);
        for source in 0..batch.len() {
            let before = (out.len(), out.faults.len());
            let mut discarded = first.enabled[source];
            let here = batch.get(source);
            loop {
                let next_row = (row < first.len() && first.sources[row] as usize == source).then(|| first.firings[row]);
                let next_fault = (fault < first.faults.len() && first.faults[fault].source as usize == source).then(|| first.faults[fault].firing);
                let is_fault = match (next_row, next_fault) {
                    (None, None) => break,
                    (Some(_), None) => false,
                    (None, Some(_)) => true,
                    (Some(step), Some(fault)) => fault < step,
                };
                discarded -= 1;
                let source = source as u32;
                if is_fault {
                    let step = first.faults[fault];
                    if step.firing >= from {
                        out.faults.push(FaultStep { source, ..step });
                    }
                    fault += 1;
                    continue;
                }
                let (state, rule) = (first.states.get(row), first.firings[row].rule);
                if !self.passes(state) {
                    let firing = Firing::of(rule);
                    if firing >= from {
                        out.states.push(state);
                        out.hashes.push(first.hashes[row]);
                        out.changed.push(first.changed[row]);
                        out.sources.push(source);
                        out.firings.push(firing);
                    }
                    row += 1;
                    continue;
                }
                let mut outcome = 0;
                let mut told = 0;
                self.go(state, scratch, &mut |state, end, frames, _| {
                    let firing = Firing { rule, outcome };
                    outcome += 1;
                    if let Some(frame) = frames.last() {
                        out.reached.union(&frame.steps.reached);
                    }
                    told += 1;
                    if firing < from {
                        return true;
                    }
                    match end {
                        End::To => out.push(source, firing, here, state),
                        End::Fault(fault) => {
                            out.faults.push(FaultStep { source, firing, fault });
                            return Fault(self.field.endless.0) != fault;
                        }
                    }
                    true
                });
                if told == 0 {
                    // Everything enabled on the path was discarded.
                    out.discarded += 1;
                    discarded += 1;
                }
                row += 1;
            }
            let made = (out.len() - before.0) + (out.faults.len() - before.1);
            out.enabled.push(made as u32 + discarded);
        }
    }
}

impl<P: Deref + Sync> Space for Passing<P>
where
    P::Target: Space,
{
    fn width(&self) -> Width {
        self.inner.width()
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        self.inner.rules()
    }

    fn properties(&self) -> u32 {
        self.inner.properties()
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        self.inner.initial(steps)
    }

    fn starts(&self) -> Option<u64> {
        self.inner.starts()
    }

    fn initial_some(&self, numbers: Range<u64>, steps: &mut Steps) -> Completeness {
        self.inner.initial_some(numbers, steps)
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        // Recently found states include passing ones, whose steps must not be left out: each leads to as many as there
        // are paths.
        let sieve = steps.sieve.take();
        // A path that begins with a rule can only be found by enumerating all paths that begin with it.
        let completeness = self.inner.expand(batch, Firing::of(from.rule), steps);
        steps.sieve = sieve;
        let (word, mask) = word(self.field);
        let width = match self.inner.width() {
            Width::Fixed(width) => width,
            Width::Varying => return completeness,
        };
        let passes = steps.states.words().chunks_exact(width.max(1)).any(|state| state[word] & mask != 0);
        if !passes && from.outcome == 0 {
            return completeness;
        }
        self.with_scratch(|scratch| {
            let mut first = scratch.first.take().unwrap_or_else(|| Steps::new(self.inner.width()));
            std::mem::swap(&mut first, steps);
            std::mem::swap(&mut first.sieve, &mut steps.sieve);
            steps.clear();
            if self.make_levels(&first, scratch) {
                self.settle_levels(batch, &first, from, steps, scratch);
            } else {
                self.settle(batch, &first, from, steps, scratch);
            }
            scratch.first = Some(first);
        });
        completeness
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        // All paths are enumerated, so that each is equally likely.
        let width = self.inner.width();
        let (mut batch, mut steps) = self.with_scratch(|scratch| scratch.drawn.take()).unwrap_or_else(|| (States::new(width), Steps::new(width)));
        batch.clear();
        batch.push(state);
        self.expand(&batch, Firing::of(0), &mut steps);
        let all = steps.len() + steps.faults.len();
        let mut drawn = None;
        if all > 0 {
            let chosen = rng.below(all as u64) as usize;
            drawn = Some(match chosen.checked_sub(steps.len()).map(|fault| steps.faults[fault]) {
                Some(fault) => (fault.firing, Fired::Fault(fault.fault)),
                None => {
                    out.clear();
                    out.extend_from_slice(steps.states.get(chosen));
                    (steps.firings[chosen], Fired::To)
                }
            });
        }
        self.with_scratch(|scratch| scratch.drawn = Some((batch, steps)));
        drawn
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let mut first = Vec::new();
        match self.inner.fire(state, Firing::of(firing.rule), &mut first) {
            Fired::To if self.passes(&first) => {}
            fired => {
                if firing.outcome > 0 {
                    return Fired::Disabled;
                }
                if fired == Fired::To {
                    *out = first;
                }
                return fired;
            }
        }
        let mut fired = Fired::Disabled;
        let mut left = firing.outcome;
        self.with_scratch(|scratch| {
            self.go(&first, scratch, &mut |state, end, _, _| {
                if left > 0 {
                    left -= 1;
                    return true;
                }
                fired = match end {
                    End::To => {
                        out.clear();
                        out.extend_from_slice(state);
                        Fired::To
                    }
                    End::Fault(fault) => Fired::Fault(fault),
                };
                false
            })
        });
        fired
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.inner.check(state, bits)
    }

    fn check_step(&self, steps: &Steps, index: usize, bits: &mut PropertyBits) -> Checked {
        self.inner.check_step(steps, index, bits)
    }

    fn may_end(&self, state: &[Word]) -> bool {
        self.inner.may_end(state)
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.inner.asks_to_reach(property)
    }

    fn fault_class(&self, fault: Fault) -> FaultClass {
        self.inner.fault_class(fault)
    }
}

impl<P: Deref + Sync> Passing<P>
where
    P::Target: Space,
{
    /// The firings of the underlying space that make up a firing, in order; `None` if it is not enabled.
    pub fn way(&self, state: &[Word], firing: Firing) -> Option<Vec<(Firing, Vec<Word>)>> {
        let mut first = Vec::new();
        let fired = self.inner.fire(state, Firing::of(firing.rule), &mut first);
        if fired != Fired::To || !self.passes(&first) {
            return (firing.outcome == 0 && fired != Fired::Disabled).then(|| vec![(Firing::of(firing.rule), first)]);
        }
        let mut left = firing.outcome;
        let mut way = None;
        self.with_scratch(|scratch| {
            self.go(&first, scratch, &mut |state, end, frames, last| {
                if left > 0 {
                    left -= 1;
                    return true;
                }
                let begin = (Firing::of(firing.rule), first.clone());
                let on_the_way = frames.windows(2).map(|pair| (pair[0].steps.firings[pair[0].row - 1], pair[1].state.clone()));
                let end = if let End::To = end { state.to_vec() } else { Vec::new() };
                way = Some(std::iter::once(begin).chain(on_the_way).chain(last.map(|last| (last, end))).collect());
                false
            });
        });
        way
    }
}
