//! The steps out of states of a model. A fast path handles states in which nothing fails and a careful one the
//! others. Some states are expanded twice to check that the model is deterministic.

use super::{ACTIONS, ModelSpace, NO_ACTION};
use crate::caught::{self, MISUSED, Misuse};
use crate::coded::Coded;
use crate::model::Model;
use std::sync::atomic::Ordering;
use wayfarer_space::{FaultStep, Firing, Omitted, Sieve, States, Steps, Word, changed_words, hash};

/// The number of states that are expanded twice at the beginning of a run; later on, one in this many.
const VETTED: u32 = 256;

/// The number of initial states that are followed, and the number of steps of each.
const FOLLOWED: (u32, usize) = (32, 6);

/// The most bytes of successors that stay typed until they are checked. This is a rough estimate: the heap memory of
/// a type is taken for a multiple of its encoding.
const KEPT: usize = 1 << 16;
const TIMES: usize = 8;

/// Successors that stay typed until they are checked: those of the first steps of a round.
pub(super) struct Typed<M: Model>(Vec<M::State>);

impl<M: Model> Typed<M> {
    /// The typed state of a step.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&M::State> {
        self.0.get(index)
    }
}

/// The working memory of an expansion.
struct Hand<M: Model> {
    actions: Vec<M::Action>,
    /// The words of a successor.
    words: Vec<Word>,
    kept: Vec<M::State>,
    /// The bytes that may still be kept.
    room: usize,
}

impl<M: Model> Hand<M> {
    fn new(kept: Vec<M::State>, room: usize) -> Self {
        Hand { actions: Vec::with_capacity(ACTIONS), words: Vec::new(), kept, room }
    }

    /// Keeps the state of a step if all before it are kept and there is room.
    #[inline(always)]
    fn keep(&mut self, index: usize, state: impl FnOnce() -> Option<M::State>) {
        let bytes = size_of::<M::State>() + TIMES * size_of::<Word>() * self.words.len();
        if self.kept.len() == index && bytes <= self.room {
            self.room -= bytes;
            self.kept.extend(state());
        }
    }
}

impl<M: Model + 'static, How> ModelSpace<M, How>
where
    M::State: Coded<How>,
{
    /// Fills `steps` with the steps out of every state of a batch.
    pub(super) fn expand_all(&self, batch: &States, from: Firing, steps: &mut Steps) {
        steps.clear();
        steps.sifted = steps.sieve.is_some() && if let Some(words) = M::State::WORDS { words == 1 && self.representative.is_none() } else { true };
        let kept = steps.own.take::<Typed<M>>().map_or_else(Vec::new, |kept| kept.0);
        let mut hand = Hand::<M>::new(kept, if self.properties.0.is_empty() { 0 } else { KEPT });
        // The states of the previous round are dropped here; panics of the user's code are caught then, too.
        let _ = caught::catch(|| hand.kept.clear());
        let mut source = 0;
        while source < batch.len() {
            let mut before = Mark::of(steps);
            // Panics are caught around all states at once. The state that fails is expanded again with care, and then
            // the others.
            let done = caught::catch(|| {
                while source < batch.len() {
                    before = Mark::of(steps);
                    let words = batch.get(source);
                    // A state that is expanded twice gets all its steps.
                    let vetted = from == Firing::of(0) && self.is_vetted(words);
                    let enabled = self.expand_one(source as u32, words, from, !vetted, &mut hand, steps);
                    if vetted {
                        self.vet(source as u32, words, &before, steps);
                    }
                    steps.enabled.push(enabled);
                    source += 1;
                }
            });
            if done.is_err() {
                before.restore(steps);
                // The steps that replace them were not kept.
                let _ = caught::catch(|| hand.kept.truncate(before.states));
                // The sieve may contain states that were taken back.
                steps.sieve.iter_mut().for_each(Sieve::clear);
                let enabled = self.expand_failing(source as u32, batch.get(source), from, steps);
                steps.enabled.push(enabled);
                source += 1;
            }
        }
        steps.own.put(Box::new(Typed::<M>(hand.kept)));
    }

    /// Lists the actions of a state.
    #[inline(always)]
    pub(super) fn list(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        actions.clear();
        self.model.actions(state, actions);
    }

    /// Appends the steps out of one state. Returns the number of possible actions.
    #[inline(always)]
    fn expand_one(&self, source: u32, words: &[Word], from: Firing, sifts: bool, hand: &mut Hand<M>, steps: &mut Steps) -> u32 {
        let state = M::State::decode(words);
        let mut listed = std::mem::take(&mut hand.actions);
        self.list(&state, &mut listed);
        let mut enabled = 0;
        let actions = listed.iter().enumerate().skip(from.outcome as usize);
        let firing = |(place, action): (usize, &M::Action)| Firing { rule: self.kind(action), outcome: place as u32 };
        match (M::State::WORDS, self.representative) {
            (Some(size), None) => {
                // Memory for all possible successors is allocated first, and nothing else accesses it while they are
                // added: each is written once and never moved. Reading it as a whole right after writing it in parts
                // would stall the processor.
                let (before, gone, most) = (steps.states.len(), steps.omitted.len(), actions.len());
                let mut sieve = steps.sieve.as_mut().filter(|_| size == 1 && sifts);
                let room = steps.states.push_many_dirty(most);
                steps.firings.resize(before + most, NO_ACTION);
                steps.omitted.resize(gone + if sieve.is_some() { most } else { 0 }, Omitted::new(source, 0, false));
                let (firings, omitted) = (&mut steps.firings[before..], &mut steps.omitted[gone..]);
                let (mut arrived, mut left_out) = (0, 0);
                for action in actions {
                    if let Some(next) = self.model.next(&state, action.1) {
                        enabled += 1;
                        if self.model.within_boundary(&next) {
                            let place = arrived * size..(arrived + 1) * size;
                            next.write(&mut room[place.clone()]);
                            firings[arrived] = firing(action);
                            let mut given = 1;
                            if let Some(sieve) = &mut sieve {
                                // Branch-free, because the branch would be unpredictable. The source itself is known,
                                // too.
                                let changed = room[place.start] != words[0];
                                given = usize::from(changed & sieve.is_fresh(room[place.start]));
                                omitted[left_out] = Omitted::new(source, firings[arrived].rule, changed);
                                left_out += 1 - given;
                            }
                            arrived += given;
                        }
                    }
                }
                steps.discarded += (enabled as usize - arrived - left_out) as u64;
                steps.states.truncate(before + arrived);
                steps.firings.truncate(before + arrived);
                steps.omitted.truncate(gone + left_out);
            }
            _ => {
                let Steps { states, hashes, changed, firings, omitted, discarded, .. } = steps;
                let mut sieve = steps.sieve.as_mut().filter(|_| sifts && steps.sifted);
                for action in actions {
                    // The state stays where it was built: moving data that was written in parts would stall the
                    // processor.
                    let made = self.model.next(&state, action.1);
                    let Some(next) = &made else { continue };
                    enabled += 1;
                    if !self.model.within_boundary(next) {
                        *discarded += 1;
                        continue;
                    }
                    let (differs, other) = self.arrive(words, next, &mut hand.words);
                    let firing = firing(action);
                    if let Some(sieve) = &mut sieve
                        && (differs == 0 || !sieve.is_fresh_state(&hand.words))
                    {
                        omitted.push(Omitted::new(source, firing.rule, differs != 0));
                        continue;
                    }
                    hand.keep(states.len(), || other.or(made));
                    states.push(&hand.words);
                    hashes.push(hash(&hand.words));
                    changed.push(differs);
                    firings.push(firing);
                }
            }
        }
        steps.describe_rest(source, words);
        hand.actions = listed;
        enabled
    }

    /// Writes the words of a state, or of its representative, which is returned then. Computes the words that differ
    /// from the source. Whether a step leads back to its source is decided before the state is replaced, so that
    /// deadlocks are those of the model.
    #[inline(always)]
    fn arrive(&self, from: &[Word], next: &M::State, words: &mut Vec<Word>) -> (u64, Option<M::State>) {
        next.encode_to(words);
        let changed = changed_words(from, words);
        match self.representative {
            Some(representative) if changed != 0 => {
                let other = self.represented(representative, next);
                other.encode_to(words);
                let differs = changed_words(from, words);
                (if differs == 0 { changed } else { differs }, Some(other))
            }
            _ => (changed, None),
        }
    }

    /// Appends the steps out of a state in which something fails, one action at a time.
    #[cold]
    fn expand_failing(&self, source: u32, words: &[Word], from: Firing, steps: &mut Steps) -> u32 {
        let mut actions = Vec::with_capacity(ACTIONS);
        let listed = caught::catch(|| {
            let state = M::State::decode(words);
            self.list(&state, &mut actions);
            state
        });
        let state = match listed {
            Ok(state) => state,
            Err(panic) => {
                let fault = self.faults.note(panic);
                // Listing the actions fails, not one of the actions.
                if from == Firing::of(0) {
                    steps.faults.push(FaultStep { source, firing: NO_ACTION, fault });
                }
                return 1;
            }
        };
        let (mut enabled, mut target) = (0, Vec::new());
        for (place, action) in actions.iter().enumerate().skip(from.outcome as usize) {
            let before = Mark::of(steps);
            let firing = Firing { rule: self.kind(action), outcome: place as u32 };
            let done = caught::catch(|| {
                let Some(next) = self.model.next(&state, action) else { return false };
                if self.model.within_boundary(&next) {
                    steps.changed.push(self.arrive(words, &next, &mut target).0);
                    steps.states.push(&target);
                    steps.firings.push(firing);
                } else {
                    steps.discarded += 1;
                }
                true
            });
            enabled += u32::from(*done.as_ref().unwrap_or(&true));
            if let Err(panic) = done {
                before.restore(steps);
                steps.faults.push(FaultStep { source, firing, fault: self.faults.note(panic) });
            }
            steps.describe_rest(source, words);
        }
        enabled
    }

    /// The misuse, if a state that was read is written differently.
    pub(super) fn unlike(&self, state: &M::State, words: &[Word]) -> Option<Misuse> {
        let mut again = Vec::new();
        state.encode_to(&mut again);
        (again != words).then(|| restored(state, words))
    }

    /// Expands a state once more and compares: a model must give the same answers, and a state must be restored from
    /// its words.
    #[cold]
    fn vet(&self, source: u32, words: &[Word], before: &Mark, steps: &mut Steps) {
        let again = caught::catch(|| {
            let state = M::State::decode(words);
            if let Some(misuse) = self.unlike(&state, words) {
                return Some(misuse);
            }
            let mut again = Steps::new(M::State::width());
            let mut hand = Hand::<M>::new(Vec::new(), 0);
            self.expand_one(source, words, Firing::of(0), false, &mut hand, &mut again);
            let first = before.states;
            if again.firings != steps.firings[first..] {
                return Some(Misuse::OtherActions { state: self.shape(words).to_string() });
            }
            let Some(other) = (0..again.len()).find(|index| again.states.get(*index) != steps.states.get(first + index)) else {
                // This is slow, and is done only at the beginning.
                return if self.vetted.load(Ordering::Relaxed) <= FOLLOWED.0 { self.estranged(state) } else { None };
            };
            let (one, two) = (self.shape(steps.states.get(first + other)), self.shape(again.states.get(other)));
            // A successor that is written in a different order each time is the same state.
            if one.departure(&two).is_none_or(|(_, order)| order) {
                return Some(restored(&M::State::decode(again.states.get(other)), again.states.get(other)));
            }
            let differs = one.differences(&two).first().map(|change| format!("{}: {} or {}", change.path, change.old, change.new));
            let action = self.model.format_action(&hand.actions[again.firings[other].outcome as usize]);
            Some(Misuse::NotDeterministic { state: self.shape(words).to_string(), action, differs: differs.unwrap_or_default() })
        });
        if let Ok(Some(misuse)) = again {
            self.faults.misused(misuse);
            steps.faults.push(FaultStep { source, firing: NO_ACTION, fault: MISUSED });
        }
    }

    /// Follows a typed state for some steps and compares it with its decoded copy: both must have the same actions,
    /// lead to the same states and satisfy the same properties. This detects data that is never written through
    /// behaviour that depends on it. Other checks report answers or orders that change from call to call.
    #[cold]
    pub(super) fn estranged(&self, mut state: M::State) -> Option<Misuse> {
        let encoded = |state: &M::State| {
            let mut words = Vec::new();
            state.encode_to(&mut words);
            words
        };
        let texts = |state: &M::State| {
            let mut actions = Vec::new();
            self.list(state, &mut actions);
            let mut texts: Vec<String> = actions.iter().map(|action| format!("{action:?}")).collect();
            texts.sort();
            (actions, texts)
        };
        for step in 0..FOLLOWED.1 {
            let words = encoded(&state);
            let back = M::State::decode(&words);
            if encoded(&back) != words {
                return None;
            }
            let estranged = |differs: String| Some(Misuse::NotWhole { state: self.shape(&words).to_string(), differs });
            for property in &self.properties.0 {
                if (property.condition)(&self.model, &state) != (property.condition)(&self.model, &back) {
                    return estranged(format!("`{}` is judged differently", property.name));
                }
            }
            if self.model.within_boundary(&state) != self.model.within_boundary(&back) {
                return estranged("it lies within the boundary only once".to_string());
            }
            let (actions, named) = texts(&state);
            if named != texts(&back).1 {
                return if named == texts(&state).1 { estranged("other actions are possible".to_string()) } else { None };
            }
            let turned = (0..actions.len()).map(|at| &actions[(at + step) % actions.len()]);
            let (action, next) = turned.filter_map(|action| self.model.next(&state, action).map(|next| (action, next))).next()?;
            let there = encoded(&next);
            if encoded(&self.model.next(&state, action)?) != there {
                return None;
            }
            match self.model.next(&back, action).map(|next| encoded(&next)) {
                None => return estranged(format!("{action:?} is possible only once")),
                Some(other) if other != there => {
                    let order = self.shape(&other).departure(&self.shape(&there)).is_none_or(|(_, order)| order);
                    return if order { None } else { estranged(format!("{action:?} leads elsewhere")) };
                }
                Some(_) if !self.model.within_boundary(&next) => return None,
                Some(_) => state = next,
            }
        }
        None
    }

    #[inline]
    pub(super) fn is_vetted(&self, words: &[Word]) -> bool {
        let seen = self.vetted.load(Ordering::Relaxed);
        if seen < VETTED {
            self.vetted.store(seen + 1, Ordering::Relaxed);
            return true;
        }
        // A small share of all others: a hash of the first word costs next to nothing.
        words.first().is_some_and(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56 == 0)
    }
}

/// The difference between a decoded state and the original.
pub(super) fn restored<How, S: Coded<How>>(state: &S, words: &[Word]) -> Misuse {
    let shape = state.shape();
    // Orders that change from call to call may agree by chance, but not many times.
    match (0..64).find_map(|_| shape.departure(&S::decode(words).shape())) {
        Some((field, false)) => Misuse::NotRestored { field },
        Some((field, true)) => Misuse::Unordered { field },
        None => Misuse::NotRestored { field: "state".to_string() },
    }
}

/// The length of the columns before an attempt, to restore them.
pub(super) struct Mark {
    states: usize,
    faults: usize,
    omitted: usize,
    discarded: u64,
}

impl Mark {
    pub(super) fn of(steps: &Steps) -> Mark {
        Mark { states: steps.hashes.len(), faults: steps.faults.len(), omitted: steps.omitted.len(), discarded: steps.discarded }
    }

    pub(super) fn restore(&self, steps: &mut Steps) {
        steps.states.truncate(self.states);
        steps.hashes.truncate(self.states);
        steps.changed.truncate(self.states);
        steps.sources.truncate(self.states);
        steps.firings.truncate(self.states);
        steps.faults.truncate(self.faults);
        steps.omitted.truncate(self.omitted);
        steps.discarded = self.discarded;
    }
}
