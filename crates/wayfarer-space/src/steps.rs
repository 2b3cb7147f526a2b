//! The steps out of a batch of states, as columns.

use crate::{Fault, Hash, Omitted, PropertyBits, Sieve, States, Width, Word, hash};
use std::any::Any;
use std::fmt;

/// Which rule fired, its parameters fixed, and which of its outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Firing {
    /// The rule with its parameters fixed.
    pub rule: u32,
    /// Which of its outcomes; 0 where a rule has one only.
    pub outcome: u32,
}

impl Firing {
    /// The only outcome of a rule.
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
    /// What fired.
    pub firing: Firing,
    /// What went wrong.
    pub fault: Fault,
}

/// The steps out of a batch, one row per step, in the order of their sources and, within a source, in the order in which the space takes its firings: that of
/// their numbers, unless the space says otherwise.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The states the steps lead to.
    pub states: States,
    /// Their hashes.
    pub hashes: Vec<Hash>,
    /// The index of each step's source in the batch.
    pub sources: Vec<u32>,
    /// What fired.
    pub firings: Vec<Firing>,
    /// Which words differ from the source: bit w for word w, bit 63 for all from word 63 on. Zero means that the step leads back to its source.
    pub changed: Vec<u64>,
    /// Firings that ended in a fault.
    pub faults: Vec<FaultStep>,
    /// For each source of the batch, how many firings were enabled, those included that faulted or were discarded by an assumption.
    pub enabled: Vec<u32>,
    /// Firings that the model's assumptions discarded.
    pub discarded: u64,
    /// Properties that commands reported as reached while they fired.
    pub reached: PropertyBits,
    /// What was met lately, where steps that lead there may be left out.
    pub sieve: Option<Sieve>,
    /// Whether the space used the sieve.
    pub sifted: bool,
    /// Steps that were left out, in the order of their sources.
    pub omitted: Vec<Omitted>,
    /// What the space keeps beside the first states, to judge them without reading their words.
    pub own: Own,
}

/// A space's own form of states, which nobody else looks into. A copy has none.
#[derive(Default)]
pub struct Own {
    form: Option<Box<dyn Any>>,
    /// Whether it belongs to the steps as they are now.
    is_current: bool,
}

impl Own {
    /// What was put there, whichever steps it belongs to: room that can be used again.
    pub fn take<T: Any>(&mut self) -> Option<Box<T>> {
        self.form.take().and_then(|form| form.downcast().ok())
    }

    /// What belongs to the steps as they are now.
    pub fn put<T: Any>(&mut self, form: Box<T>) {
        *self = Own { form: Some(form), is_current: true };
    }

    /// What was put there for the steps as they are now.
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

    /// How many steps lead to a state.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no step leads to a state.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Forgets everything but the sieve and keeps the memory.
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

    /// Appends a step to `state` out of `from`, which is number `source` of the batch.
    pub fn push(&mut self, source: u32, firing: Firing, from: &[Word], state: &[Word]) {
        self.states.push(state);
        self.describe_last(source, firing, from);
    }

    /// Fills the other columns for a state that was just written to the end of `states`.
    pub fn describe_last(&mut self, source: u32, firing: Firing, from: &[Word]) {
        let state = self.states.get(self.states.len() - 1);
        self.hashes.push(hash(state));
        self.changed.push(changed_words(from, state));
        self.sources.push(source);
        self.firings.push(firing);
    }

    /// Fills the columns that a space need not fill itself, for all states behind those that have them already: steps of number `source` of the batch, `from`.
    /// Done for many states at once this costs a fraction of what it does for each.
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

    /// Fits hash and changed words to a state that was replaced. A step that did not lead back to its source is not made one that does.
    pub fn describe_again(&mut self, index: usize, from: &[Word]) {
        let state = self.states.get(index);
        self.hashes[index] = hash(state);
        let changed = changed_words(from, state);
        if changed != 0 {
            self.changed[index] = changed;
        }
    }
}

/// The words in which two states differ, as [`Steps::changed`] has them.
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
