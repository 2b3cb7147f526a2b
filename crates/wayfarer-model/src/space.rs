//! A model as a space. Typed states live for a moment only: they are decoded, asked for their actions and successors, and encoded again.

use crate::caught::{self, Faults, MISUSED, Misuse};
use crate::coded::Coded;
use crate::model::{Model, Properties, PropertyKind, Representative};
use crate::shape::Shape;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wayfarer_space::{
    Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, Rng, Space, States, Steps, Width, Word, changed_words,
};

/// How many rules a model has: one for each variant of its action type, the last two for all further variants and for what is looked for.
pub const KINDS: u32 = 64;
/// The rule of actions that are looked for.
pub const WANTED: u32 = KINDS - 1;
const FURTHER: u32 = KINDS - 2;

/// What stands for an action where asking for actions fails.
const NO_ACTION: Firing = Firing { rule: FURTHER, outcome: u32::MAX - 1 };

/// So many states are looked at twice at the beginning of a run, and then one of so many.
const VETTED: u32 = 256;

/// The space of a model whose states are encoded in the way `How`. A firing's rule is the variant of its action, its outcome the action's place among all that
/// are possible in the state; firings are taken in the order of these places.
pub struct ModelSpace<M: Model, How> {
    model: Arc<M>,
    properties: Arc<Properties<M>>,
    faults: Arc<Faults>,
    names: Arc<Names>,
    packing: Packing,
    /// How representatives are found, where only these are explored.
    representative: Option<Representative<M>>,
    /// Names or whole texts of actions that are looked for.
    wanted: Vec<String>,
    vetted: AtomicU32,
    how: PhantomData<fn() -> How>,
}

/// The names of the variants of actions that were met.
#[derive(Debug, Default)]
pub(crate) struct Names {
    met: AtomicU64,
    names: Mutex<Vec<(u32, String)>>,
}

/// Room for so many actions is taken at once.
const ACTIONS: usize = 32;

impl<M: Model, How> ModelSpace<M, How>
where
    M::State: Coded<How>,
{
    /// The space of a model.
    pub fn new(model: Arc<M>) -> Self {
        caught::prepare();
        let mut properties = Properties::default();
        model.properties(&mut properties);
        ModelSpace {
            model,
            properties: Arc::new(properties),
            faults: Arc::default(),
            names: Arc::default(),
            packing: M::State::packing(),
            representative: None,
            wanted: Vec::new(),
            vetted: AtomicU32::new(0),
            how: PhantomData,
        }
    }

    /// The same space anew, looking for actions of these names, which share one rule: [`WANTED`].
    pub fn looking_for(&self, wanted: &[String]) -> Self {
        ModelSpace {
            model: self.model.clone(),
            properties: self.properties.clone(),
            faults: self.faults.clone(),
            names: self.names.clone(),
            packing: self.packing.clone(),
            representative: self.representative,
            wanted: wanted.to_vec(),
            vetted: AtomicU32::new(0),
            how: PhantomData,
        }
    }

    /// The space of representatives; none where the model has no symmetry.
    pub fn folded(&self) -> Option<Self> {
        let representative = self.model.symmetry()?;
        Some(ModelSpace { representative: Some(representative), ..self.looking_for(&self.wanted) })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Its properties.
    pub fn named_properties(&self) -> &Properties<M> {
        &self.properties
    }

    /// What went wrong in its code.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The names of the rules that were met, by number.
    pub fn rule_names(&self) -> Vec<(u32, String)> {
        let mut names = self.names.names.lock().map_or_else(|_| Vec::new(), |names| names.clone());
        names.sort();
        names
    }

    /// A state for a person.
    pub fn shape(&self, state: &[Word]) -> Shape {
        let shape = caught::catch(|| {
            let state = M::State::decode(state);
            self.model.format_state(&state).map_or_else(|| state.shape(), Shape::Leaf)
        });
        shape.unwrap_or_else(|_| Shape::Leaf(format!("{state:x?}")))
    }

    /// What fires, for a person; none where there is no such action in the state.
    pub fn action(&self, state: &[Word], firing: Firing) -> Option<String> {
        let text = caught::catch(|| {
            let state = M::State::decode(state);
            let mut actions = Vec::new();
            self.model.actions(&state, &mut actions);
            actions.get(firing.outcome as usize).map(|action| self.model.format_step(&state, action))
        });
        text.ok().flatten()
    }

    /// The words of a state's representative.
    pub fn representative(&self, state: &[Word]) -> Vec<Word> {
        let Some(representative) = self.representative else { return state.to_vec() };
        let found = caught::catch(|| {
            let mut states = States::new(M::State::width());
            representative(&self.model, &M::State::decode(state)).encode(&mut states);
            states.get(0).to_vec()
        });
        found.unwrap_or_else(|_| state.to_vec())
    }

    /// The rule of an action.
    #[inline(always)]
    fn kind(&self, action: &M::Action) -> u32 {
        let mut number = Number(0);
        std::mem::discriminant(action).hash(&mut number);
        let kind = number.0.min(u64::from(FURTHER)) as u32;
        if self.names.met.load(Ordering::Relaxed) >> kind & 1 == 0 {
            self.meet(kind, action);
        }
        if self.wanted.is_empty() { kind } else { self.wanted_kind(kind, action) }
    }

    #[cold]
    fn meet(&self, kind: u32, action: &M::Action) {
        let name = if kind == FURTHER { "other actions".to_string() } else { variant(action) };
        if let Ok(mut names) = self.names.names.lock()
            && names.iter().all(|(other, _)| *other != kind)
        {
            names.push((kind, name));
            self.names.met.fetch_or(1 << kind, Ordering::Relaxed);
        }
    }

    #[cold]
    fn wanted_kind(&self, kind: u32, action: &M::Action) -> u32 {
        let (name, text) = (variant(action), self.model.format_action(action));
        if self.wanted.iter().any(|wanted| *wanted == name || *wanted == text) { WANTED } else { kind }
    }

    /// Asks for the actions of a state.
    #[inline(always)]
    fn list(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        actions.clear();
        self.model.actions(state, actions);
    }

    /// Appends the steps out of one state and gives how many actions were possible.
    #[inline(always)]
    fn expand_one(&self, source: u32, words: &[Word], from: Firing, actions: &mut Vec<M::Action>, steps: &mut Steps) -> u32 {
        let state = M::State::decode(words);
        self.list(&state, actions);
        let mut enabled = 0;
        let actions = actions.iter().enumerate().skip(from.outcome as usize);
        let firing = |(place, action): (usize, &M::Action)| Firing { rule: self.kind(action), outcome: place as u32 };
        match M::State::WORDS {
            Some(size) if self.representative.is_none() => {
                // Room for all that may come is taken before, and each successor is seen by nobody but what is put in here: so it is written once and never moved.
                // Reading it as a whole right after it was written in parts would hold up the processor.
                let (before, most) = (steps.states.len(), actions.len());
                let room = steps.states.push_many_dirty(most);
                steps.firings.resize(before + most, NO_ACTION);
                let firings = &mut steps.firings[before..];
                let mut arrived = 0;
                for action in actions {
                    if let Some(next) = self.model.next(&state, action.1) {
                        enabled += 1;
                        if self.model.within_boundary(&next) {
                            next.write(&mut room[arrived * size..(arrived + 1) * size]);
                            firings[arrived] = firing(action);
                            arrived += 1;
                        }
                    }
                }
                steps.discarded += (enabled as usize - arrived) as u64;
                steps.states.truncate(before + arrived);
                steps.firings.truncate(before + arrived);
            }
            _ => {
                for action in actions {
                    if let Some(next) = self.model.next(&state, action.1) {
                        enabled += 1;
                        self.arrive(words, firing(action), &next, steps);
                    }
                }
            }
        }
        steps.describe_rest(source, words);
        enabled
    }

    /// Appends a step to a state, or to its representative, unless it lies beyond the boundary. Whether a step leads back to its source is judged before the state
    /// is replaced, so that deadlocks are those of the model.
    #[inline]
    fn arrive(&self, from: &[Word], firing: Firing, next: &M::State, steps: &mut Steps) {
        if !self.model.within_boundary(next) {
            steps.discarded += 1;
            return;
        }
        next.encode(&mut steps.states);
        let mut changed = changed_words(from, steps.states.get(steps.states.len() - 1));
        if let Some(representative) = self.representative
            && changed != 0
        {
            steps.states.pop();
            representative(&self.model, next).encode(&mut steps.states);
            match changed_words(from, steps.states.get(steps.states.len() - 1)) {
                0 => {}
                other => changed = other,
            }
        }
        steps.changed.push(changed);
        steps.firings.push(firing);
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
                // It is no action that fails, but asking for them.
                if from == Firing::of(0) {
                    steps.faults.push(FaultStep { source, firing: NO_ACTION, fault });
                }
                return 1;
            }
        };
        let mut enabled = 0;
        for (place, action) in actions.iter().enumerate().skip(from.outcome as usize) {
            let before = Mark::of(steps);
            let firing = Firing { rule: self.kind(action), outcome: place as u32 };
            let done = caught::catch(|| {
                let next = self.model.next(&state, action);
                if let Some(next) = &next {
                    self.arrive(words, firing, next, steps);
                }
                next.is_some()
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

    /// Expands a state once more and compares: a model must give the same answers, and a state come back from its words.
    #[cold]
    fn vet(&self, source: u32, words: &[Word], before: &Mark, steps: &mut Steps) {
        let again = caught::catch(|| {
            let state = M::State::decode(words);
            let mut states = States::new(M::State::width());
            state.encode(&mut states);
            if states.get(0) != words {
                return Some(restored(&state, words));
            }
            let mut again = Steps::new(M::State::width());
            let mut actions = Vec::with_capacity(ACTIONS);
            self.expand_one(source, words, Firing::of(0), &mut actions, &mut again);
            let first = before.states;
            if again.firings != steps.firings[first..] {
                return Some(Misuse::OtherActions { state: self.shape(words).to_string() });
            }
            let other = (0..again.len()).find(|index| again.states.get(*index) != steps.states.get(first + index))?;
            let (one, two) = (self.shape(steps.states.get(first + other)), self.shape(again.states.get(other)));
            // A successor that is written in another order each time is the same state.
            if one.departure(&two).is_none_or(|(_, order)| order) {
                return Some(restored(&M::State::decode(again.states.get(other)), again.states.get(other)));
            }
            let differs = one.differences(&two).first().map(|change| format!("{}: {} or {}", change.path, change.old, change.new));
            let action = self.model.format_action(&actions[again.firings[other].outcome as usize]);
            Some(Misuse::NotDeterministic { state: self.shape(words).to_string(), action, differs: differs.unwrap_or_default() })
        });
        if let Ok(Some(misuse)) = again {
            self.faults.misused(misuse);
            steps.faults.push(FaultStep { source, firing: NO_ACTION, fault: MISUSED });
        }
    }

    #[inline]
    fn is_vetted(&self, words: &[Word]) -> bool {
        let seen = self.vetted.load(Ordering::Relaxed);
        if seen < VETTED {
            self.vetted.store(seen + 1, Ordering::Relaxed);
            return true;
        }
        // A rare few of all others: a hash of the first word costs next to nothing.
        words.first().is_some_and(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56 == 0)
    }

    fn start(&self, number: u32, state: M::State, steps: &mut Steps) {
        if !self.model.within_boundary(&state) {
            steps.discarded += 1;
            return;
        }
        state.encode(&mut steps.states);
        let words = steps.states.get(steps.states.len() - 1).to_vec();
        let back = M::State::decode(&words);
        let mut again = States::new(M::State::width());
        back.encode(&mut again);
        if again.get(0) != words.as_slice() || state.shape().departure(&back.shape()).is_some() {
            self.faults.misused(restored(&state, &words));
        }
        if let Some(representative) = self.representative {
            steps.states.pop();
            representative(&self.model, &state).encode(&mut steps.states);
        }
        steps.describe_last(0, Firing::of(number), &[]);
    }
}

/// In what a state that came back departs from what was written.
fn restored<How, S: Coded<How>>(state: &S, words: &[Word]) -> Misuse {
    let shape = state.shape();
    // Orders that change from time to time may agree by chance, but not many times.
    match (0..64).find_map(|_| shape.departure(&S::decode(words).shape())) {
        Some((field, false)) => Misuse::NotRestored { field },
        Some((field, true)) => Misuse::Unordered { field },
        None => Misuse::NotRestored { field: "state".to_string() },
    }
}

/// How much of the columns there was before something was tried.
struct Mark {
    states: usize,
    faults: usize,
    discarded: u64,
}

impl Mark {
    fn of(steps: &Steps) -> Mark {
        Mark { states: steps.hashes.len(), faults: steps.faults.len(), discarded: steps.discarded }
    }

    fn restore(&self, steps: &mut Steps) {
        steps.states.truncate(self.states);
        steps.hashes.truncate(self.states);
        steps.changed.truncate(self.states);
        steps.sources.truncate(self.states);
        steps.firings.truncate(self.states);
        steps.faults.truncate(self.faults);
        steps.discarded = self.discarded;
    }
}

impl<M: Model, How> Space for ModelSpace<M, How>
where
    M::State: Coded<How>,
{
    fn width(&self) -> Width {
        M::State::width()
    }

    fn packing(&self) -> &Packing {
        &self.packing
    }

    fn rules(&self) -> u32 {
        KINDS
    }

    fn properties(&self) -> u32 {
        self.properties.0.len() as u32
    }

    fn initial(&self, steps: &mut Steps) -> Completeness {
        steps.clear();
        let states = match caught::catch(|| self.model.initial()) {
            Ok(states) => states,
            Err(panic) => {
                let fault = self.faults.note(panic);
                steps.faults.push(FaultStep { source: 0, firing: Firing::of(0), fault });
                return Completeness::All;
            }
        };
        for (number, state) in states.into_iter().enumerate() {
            let before = Mark::of(steps);
            if let Err(panic) = caught::catch(|| self.start(number as u32, state, steps)) {
                before.restore(steps);
                steps.faults.push(FaultStep { source: 0, firing: Firing::of(number as u32), fault: self.faults.note(panic) });
            }
        }
        Completeness::All
    }

    fn expand(&self, batch: &States, from: Firing, steps: &mut Steps) -> Completeness {
        steps.clear();
        let mut actions = Vec::with_capacity(ACTIONS);
        let mut source = 0;
        while source < batch.len() {
            let mut before = Mark::of(steps);
            // Panics are caught around all states at once; the one that fails is expanded again with care, and then the others.
            let done = caught::catch(|| {
                while source < batch.len() {
                    before = Mark::of(steps);
                    let words = batch.get(source);
                    let enabled = self.expand_one(source as u32, words, from, &mut actions, steps);
                    if from == Firing::of(0) && self.is_vetted(words) {
                        self.vet(source as u32, words, &before, steps);
                    }
                    steps.enabled.push(enabled);
                    source += 1;
                }
            });
            if done.is_err() {
                before.restore(steps);
                let enabled = self.expand_failing(source as u32, batch.get(source), from, steps);
                steps.enabled.push(enabled);
                source += 1;
            }
        }
        Completeness::All
    }

    fn sample(&self, state: &[Word], rng: &mut Rng, out: &mut Vec<Word>) -> Option<(Firing, Fired)> {
        let mut actions = Vec::with_capacity(ACTIONS);
        let listed = caught::catch(|| {
            let typed = M::State::decode(state);
            self.list(&typed, &mut actions);
            typed
        });
        let typed = match listed {
            Ok(typed) => typed,
            Err(panic) => return Some((NO_ACTION, Fired::Fault(self.faults.note(panic)))),
        };
        // Actions that turn out to lead nowhere are put aside, so that each of the others is as likely as before.
        let mut aside: Vec<usize> = Vec::new();
        while aside.len() < actions.len() {
            let mut place = rng.below((actions.len() - aside.len()) as u64) as usize;
            aside.iter().for_each(|other| place += usize::from(*other <= place));
            let firing = Firing { rule: self.kind(&actions[place]), outcome: place as u32 };
            match self.land(state, &typed, &actions[place], out) {
                Fired::Disabled => aside.insert(aside.partition_point(|other| *other < place), place),
                fired => return Some((firing, fired)),
            }
        }
        None
    }

    fn fire(&self, state: &[Word], firing: Firing, out: &mut Vec<Word>) -> Fired {
        let mut actions = Vec::new();
        let listed = caught::catch(|| {
            let typed = M::State::decode(state);
            self.model.actions(&typed, &mut actions);
            typed
        });
        let typed = match listed {
            Ok(typed) => typed,
            Err(panic) => return Fired::Fault(self.faults.note(panic)),
        };
        match actions.get(firing.outcome as usize) {
            Some(action) if self.kind(action) == firing.rule => self.land(state, &typed, action, out),
            _ => Fired::Disabled,
        }
    }

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Result<(), (u32, Fault)> {
        let mut judging = 0;
        let judged = caught::catch(|| {
            let state = M::State::decode(state);
            for (number, property) in self.properties.0.iter().enumerate() {
                judging = number as u32;
                if (property.condition)(&self.model, &state) != (property.kind == PropertyKind::Always) {
                    bits.insert(judging);
                }
            }
        });
        judged.map_err(|panic| (judging, self.faults.note(panic)))
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.properties.0.get(property as usize).is_some_and(|property| property.kind == PropertyKind::Sometimes)
    }

    fn fault_class(&self, _fault: Fault) -> FaultClass {
        FaultClass::Violation
    }
}

impl<M: Model, How> ModelSpace<M, How>
where
    M::State: Coded<How>,
{
    /// Takes one action and writes where it leads.
    fn land(&self, from: &[Word], state: &M::State, action: &M::Action, out: &mut Vec<Word>) -> Fired {
        let done = caught::catch(|| {
            let Some(next) = self.model.next(state, action) else { return Fired::Disabled };
            if !self.model.within_boundary(&next) {
                return Fired::Discarded;
            }
            next.encode_to(out);
            if let Some(representative) = self.representative
                && out.as_slice() != from
            {
                representative(&self.model, &next).encode_to(out);
            }
            Fired::To
        });
        done.unwrap_or_else(|panic| Fired::Fault(self.faults.note(panic)))
    }
}

/// The name of an action's variant, as `Debug` writes it.
fn variant<A: std::fmt::Debug>(action: &A) -> String {
    let text = format!("{action:?}");
    let name: String = text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) { "action".to_string() } else { name }
}

/// Reads the number that a discriminant gives to be hashed: the place of the variant, mostly. It only serves to tell variants apart.
struct Number(u64);

impl Hasher for Number {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().take(8).rev() {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.0 = value as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
