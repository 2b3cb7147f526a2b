//! The steps out of a batch of states, as columns.

use crate::{Fault, Hash, Omitted, PropertyBits, Sieve, States, Width, Word, hash};
use std::any::Any;
use std::fmt;

/// A rule with its parameters fixed, and one of its outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Firing {
    /// The rule with its parameters fixed.
    pub rule: u32,
    /// The outcome; 0 if the rule has only one.
    pub outcome: u32,
}

impl Firing {
    /// The firing of a rule with only one outcome.
    pub fn of(rule: u32) -> Self {
        Firing { rule, outcome: 0 }
    }

    /// The smallest firing after this one.
    pub fn after(self) -> Self {
        Firing { rule: self.rule, outcome: self.outcome + 1 }
    }

    /// The first rule at or after this firing, in a space whose rules have one outcome each.
    pub fn first_rule(self) -> u32 {
        self.rule + u32::from(self.outcome > 0)
    }
}

/// A firing that ended in a fault instead of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultStep {
    /// Index of the source in the batch.
    pub source: u32,
    /// The firing.
    pub firing: Firing,
    /// The fault.
    pub fault: Fault,
}

/// The steps out of a batch, one row per step. Rows are ordered by source and, within a source, by the order
/// in which the space takes its firings. That is the order of their numbers, unless the space says otherwise.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The states the steps lead to.
    pub states: States,
    /// Their hashes.
    pub hashes: Vec<Hash>,
    /// The index of each step's source in the batch.
    pub sources: Vec<u32>,
    /// The firing of each step.
    pub firings: Vec<Firing>,
    /// The words that differ from the source: bit w for word w, bit 63 for word 63 and all after it. Zero
    /// means that the step leads back to its source. No word that differs may be left out, since stores take all
    /// others from the source; one that does not differ may be named.
    pub changed: Vec<u64>,
    /// Firings that ended in a fault.
    pub faults: Vec<FaultStep>,
    /// For each source of the batch, the number of enabled firings, including those that faulted or were
    /// discarded by an assumption.
    pub enabled: Vec<u32>,
    /// Firings that the model's assumptions discarded.
    pub discarded: u64,
    /// Properties that commands reported as reached while they fired.
    pub reached: PropertyBits,
    /// The recently found states, if steps that lead to them may be left out.
    pub sieve: Option<Sieve>,
    /// Whether the space used the sieve.
    pub sifted: bool,
    /// Steps that were left out, in the order of their sources.
    pub omitted: Vec<Omitted>,
    /// The space's own form of the first states, for checking them without reading their words.
    pub own: Own,
}

/// A space's own form of states, opaque to everyone else. Cloning leaves it empty.
#[derive(Default)]
pub struct Own {
    form: Option<Box<dyn Any>>,
    /// Whether it belongs to the current steps.
    is_current: bool,
}

impl Own {
    /// The stored value, whichever steps it belongs to, so that its memory can be reused.
    pub fn take<T: Any>(&mut self) -> Option<Box<T>> {
        self.form.take().and_then(|form| form.downcast().ok())
    }

    /// Stores a value that belongs to the current steps.
    pub fn put<T: Any>(&mut self, form: Box<T>) {
        *self = Own { form: Some(form), is_current: true };
    }

    /// The stored value, if it belongs to the current steps.
    #[inline]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.form.as_ref().filter(|_| self.is_current).and_then(|form| form.downcast_ref())
    }
}

impl Clone for Own {
    fn clone(&self) -> Self {
        Own::default()
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Own").field("is_current", &self.is_current).finish_non_exhaustive()
    }
}

impl Steps {
    /// The bytes that the columns have room for.
    pub fn capacity_bytes(&self) -> usize {
        let each = [
            self.hashes.capacity() * size_of::<Hash>(),
            self.sources.capacity() * size_of::<u32>(),
            self.firings.capacity() * size_of::<Firing>(),
            self.changed.capacity() * size_of::<u64>(),
            self.omitted.capacity() * size_of::<Omitted>(),
        ];
        self.states.capacity_bytes() + each.into_iter().sum::<usize>()
    }

    /// No steps, for states of the given width.
    pub fn new(width: Width) -> Self {
        Steps {
            states: States::new(width),
            hashes: Vec::new(),
            sources: Vec::new(),
            firings: Vec::new(),
            changed: Vec::new(),
            faults: Vec::new(),
            enabled: Vec::new(),
            discarded: 0,
            reached: PropertyBits::default(),
            sieve: None,
            sifted: false,
            omitted: Vec::new(),
            own: Own::default(),
        }
    }

    /// The number of steps that lead to a state.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no step leads to a state.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Clears everything except the sieve, and keeps the memory.
    pub fn clear(&mut self) {
        self.states.clear();
        self.hashes.clear();
        self.sources.clear();
        self.firings.clear();
        self.changed.clear();
        self.faults.clear();
        self.enabled.clear();
        self.discarded = 0;
        self.reached.clear();
        self.sifted = false;
        self.omitted.clear();
        self.own.is_current = false;
    }

    /// Appends a step to `state` from `from`, the state at index `source` of the batch.
    pub fn push(&mut self, source: u32, firing: Firing, from: &[Word], state: &[Word]) {
        self.states.push(state);
        self.describe_last(source, firing, from);
    }

    /// Fills the other columns for the state just written to the end of `states`.
    pub fn describe_last(&mut self, source: u32, firing: Firing, from: &[Word]) {
        let state = self.states.get(self.states.len() - 1);
        self.hashes.push(hash(state));
        self.changed.push(changed_words(from, state));
        self.sources.push(source);
        self.firings.push(firing);
    }

    /// Fills the columns that a space need not fill itself, for all states that lack them: steps from `from`,
    /// the state at index `source` of the batch. Filling them for many states at once costs a fraction of
    /// filling them one by one.
    #[inline]
    pub fn describe_rest(&mut self, source: u32, from: &[Word]) {
        let Steps { states, hashes, sources, changed, .. } = self;
        sources.resize(states.len(), source);
        if let (Width::Fixed(1), [from]) = (states.width(), from) {
            let words = states.words();
            hashes.extend(words[hashes.len()..].iter().map(|word| hash(std::slice::from_ref(word))));
            changed.extend(words[changed.len()..].iter().map(|word| u64::from(word != from)));
            return;
        }
        hashes.extend((hashes.len()..states.len()).map(|index| hash(states.get(index))));
        changed.extend((changed.len()..states.len()).map(|index| changed_words(from, states.get(index))));
    }

    /// Updates hash and changed words of a state that was replaced. A step that did not lead back to its
    /// source must not become one that does.
    pub fn describe_again(&mut self, index: usize, from: &[Word]) {
        let state = self.states.get(index);
        self.hashes[index] = hash(state);
        let changed = changed_words(from, state);
        if changed != 0 {
            self.changed[index] = changed;
        }
    }
}

/// The words in which two states differ, in the form of [`Steps::changed`].
#[inline]
pub fn changed_words(from: &[Word], to: &[Word]) -> u64 {
    if let ([from], [to]) = (from, to) {
        return u64::from(from != to);
    }
    let mut mask = 0;
    for (index, (from, to)) in from.iter().zip(to).enumerate() {
        mask |= u64::from(from != to) << index.min(63);
    }
    for index in from.len().min(to.len())..from.len().max(to.len()) {
        mask |= 1 << index.min(63);
    }
    mask
}
