//! Decides whether a state or a step violates something, and whether that violation counts.

use super::Run;
use crate::witness::chain;
use crate::{Candidates, Cause, Fidelity, Ground, Handle, Rank, Selection, Strategy, Violation, Visit};
use wayfarer_space::{Checked, Fault, Firing, Word};

/// A violation that was just found, with the words of the state in which it shows.
pub(super) struct Found<'a> {
    pub(super) cause: Cause,
    pub(super) state: Option<Handle>,
    pub(super) words: &'a [Word],
    /// The length of its witness, if the search goes by levels.
    pub(super) length: Option<u32>,
}

impl Run<'_> {
    /// Judges the fresh candidates. Those that were not inserted have no handle, and the way to them goes through their source.
    pub(super) fn judge(&mut self, strategy: &dyn Strategy, selection: &Selection, candidates: Candidates, inserted: bool) {
        if self.properties == 0 {
            return;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let mut left = fresh.as_slice();
        self.bits.clear();
        while let Some((place, judged)) = self.space.check_steps(candidates.steps, left, &mut self.bits) {
            let index = left[place] as usize;
            left = &left[place + 1..];
            let handle = match self.visits[index] {
                Visit::New(handle) if inserted => Some(handle),
                _ => None,
            };
            self.shows(strategy, selection, candidates, (index, handle), judged);
            self.bits.clear();
        }
        self.fresh = fresh;
    }

    /// A candidate shows something: a property that fails, or one that asks to be reached.
    #[cold]
    pub(super) fn shows(
        &mut self,
        strategy: &dyn Strategy,
        selection: &Selection,
        candidates: Candidates,
        (index, state): (usize, Option<Handle>),
        judged: Checked,
    ) {
        if judged.is_ok() && self.settings.each_once && self.settings.sought.is_some() && self.bits.is_subset(&self.outcome.reached) {
            // Each is looked for once, and all of them were found before.
            return;
        }
        let ground = self.ground();
        let trail = || {
            let mut trail = match candidates.parent(index) {
                Some(_) => way(ground, strategy, selection, candidates.steps.sources[index] as usize, state.is_none()),
                None => Some(Vec::new()),
            };
            trail.iter_mut().for_each(|trail| trail.push(candidates.steps.states.get(index).to_vec()));
            trail.unwrap_or_default()
        };
        let length = strategy.level().map(|level| if candidates.sources.is_empty() { 0 } else { level + 1 });
        let words = candidates.steps.states.get(index);
        let found = |cause| Found { cause, state, words, length };
        if let Err((property, fault)) = judged
            && self.looked_for(property)
            && self.speaks_against_model(candidates.steps.firings[index], fault)
        {
            self.violated(found(Cause::PropertyFault(property, fault)), trail);
        }
        let bits = std::mem::take(&mut self.bits);
        for property in bits.iter() {
            if !self.looked_for(property) {
                continue;
            }
            if self.space.asks_to_reach(property) {
                self.outcome.reached.insert(property);
                if self.settings.sought.as_ref().is_some_and(|sought| sought.properties.contains(property)) {
                    self.violated(found(Cause::Found(property)), trail);
                }
            } else {
                self.violated(found(Cause::Property(property)), trail);
            }
        }
        self.bits = bits;
    }

    /// Notes a violation that shows in `words`. If the search goes by levels, violations of one level are kept in the
    /// order of their states, so that the result does not depend on which worker found them.
    pub(super) fn violated(&mut self, found: Found, trail: impl Fn() -> Vec<Vec<Word>>) {
        let Found { cause, state, words, length } = found;
        if self.settings.sought.is_some() && !matches!(cause, Cause::Found(_) | Cause::Rule(_)) {
            return;
        }
        if self.settings.aim.is_some_and(|aim| !aim.ending.is_shown_by(&cause, aim.any_rule)) {
            return;
        }
        let violations = &mut self.outcome.violations;
        let most = self.settings.max_errors.max(1);
        let rank = Rank::new(length.unwrap_or(0), &cause, words);
        if self.settings.each_once
            && let Some(same) = violations.iter().position(|earlier| earlier.cause.is_like(&cause))
        {
            if length.is_none() || violations[same].rank <= rank {
                return;
            }
            violations.remove(same);
        }
        let at = if length.is_some() { violations.partition_point(|earlier| earlier.rank <= rank) } else { violations.len() };
        if at >= most {
            return;
        }
        violations.insert(at, Violation { cause, state, trail: trail(), rank });
        violations.truncate(most);
    }

    /// Whether a fault is a violation. A fault that only means that a representation ran out is remembered as a limit.
    pub(super) fn speaks_against_model(&mut self, firing: Firing, fault: Fault) -> bool {
        if self.space.fault_class(fault).is_violation() {
            return true;
        }
        self.outcome.limit.get_or_insert((firing, fault));
        false
    }

    /// Whether everything that was looked for, each once, was found.
    pub(super) fn found_all(&self) -> bool {
        let sought = self.settings.sought.as_ref().filter(|sought| self.settings.each_once && sought.rules.is_empty());
        sought.is_some_and(|sought| sought.properties.is_subset(&self.outcome.reached))
    }

    pub(super) fn looked_for(&self, property: u32) -> bool {
        self.settings.properties.as_ref().is_none_or(|chosen| chosen.contains(property))
    }
}

/// The states on the way to a source of a selection. `None` if the store's links still lead there after the run.
pub(super) fn way(ground: Ground, strategy: &dyn Strategy, selection: &Selection, source: usize, at_once: bool) -> Option<Vec<Vec<Word>>> {
    let links = || {
        let fades = at_once || ground.store.fidelity() == Fidelity::Amnesic;
        fades.then(|| chain(ground.space, ground.store, selection.handles[source]).unwrap_or_default())
    };
    strategy.trail(ground, selection, source).or_else(links)
}
