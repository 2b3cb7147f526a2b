//! A model as a space. Typed states are short-lived: they are decoded, their actions and successors computed, and the
//! successors encoded. Some successors stay typed until they are checked.

mod expansion;

use crate::caught::{self, Faults, MISUSED, Misuse};
use crate::coded::Coded;
use crate::model::{Model, Properties, Representative};
use crate::shape::Shape;
use expansion::{Mark, Typed, restored};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wayfarer_space::{
    Checked, Completeness, Fault, FaultClass, FaultStep, Fired, Firing, Packing, PropertyBits, PropertyKind, Rng, Space, States, Steps, Width, Word,
};

/// The number of rules of a model: one for each variant of its action type, and the last two for all further variants
/// and for the actions searched for.
pub const KINDS: u32 = 64;
/// The rule of actions that are searched for.
pub const WANTED: u32 = KINDS - 1;
const FURTHER: u32 = KINDS - 2;

/// The firing reported if listing the actions fails.
const NO_ACTION: Firing = Firing { rule: FURTHER, outcome: u32::MAX - 1 };

/// The space of a model whose states are encoded in the way `How`. A firing's rule is the variant of its action, and
/// its outcome is the action's index among all that are possible in the state. Firings are taken in the order of
/// these indices.
pub struct ModelSpace<M: Model, How> {
    model: Arc<M>,
    properties: Arc<Properties<M>>,
    faults: Arc<Faults>,
    names: Arc<Names>,
    packing: Packing,
    /// The function that returns representatives, if only these are explored.
    representative: Option<Representative<M>>,
    /// Names or whole texts of the actions searched for.
    wanted: Vec<String>,
    vetted: AtomicU32,
    how: PhantomData<fn() -> How>,
}

/// The names of the variants of actions found so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    met: AtomicU64,
    names: Mutex<Vec<(u32, String)>>,
}

/// The initial capacity of a list of actions.
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

    /// A new space of the same model that searches for actions of these names, which share one rule: [`WANTED`].
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

    /// The space of representatives; `None` if the model has no symmetry.
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

    /// The faults found in its code.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The names of the rules found so far, by number.
    pub fn rule_names(&self) -> Vec<(u32, String)> {
        let mut names = self.names.names.lock().map_or_else(|_| Vec::new(), |names| names.clone());
        names.sort();
        names
    }

    /// A state in a form to be shown.
    pub fn shape(&self, state: &[Word]) -> Shape {
        let shape = caught::catch(|| {
            let state = M::State::decode(state);
            self.model.format_state(&state).map_or_else(|| state.shape(), Shape::Leaf)
        });
        shape.unwrap_or_else(|_| Shape::Leaf(format!("{state:x?}")))
    }

    /// The text of a firing; `None` if there is no such action in the state.
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
            self.represented(representative, &M::State::decode(state)).encode(&mut states);
            states.get(0).to_vec()
        });
        found.unwrap_or_else(|_| state.to_vec())
    }

    /// A state's representative. If computing it panics, that panic is reported, and not one of the step that led
    /// there.
    #[inline]
    fn represented(&self, representative: Representative<M>, state: &M::State) -> M::State {
        caught::catch(|| representative(&self.model, state)).unwrap_or_else(|panic| {
            let (message, at) = panic.into_parts();
            self.faults.misused(Misuse::Representative { message, at });
            caught::misused(String::new())
        })
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
        let named = || if kind == FURTHER { "other actions".to_string() } else { variant(action) };
        let name = caught::catch(named).unwrap_or_else(|_| format!("action {kind}"));
        if let Ok(mut names) = self.names.names.lock()
            && names.iter().all(|(other, _)| *other != kind)
        {
            names.push((kind, name));
            self.names.met.fetch_or(1 << kind, Ordering::Relaxed);
        }
    }

    #[cold]
    fn wanted_kind(&self, kind: u32, action: &M::Action) -> u32 {
        let called = caught::catch(|| [variant(action), self.model.format_action(action)]);
        if called.is_ok_and(|called| self.wanted.iter().any(|wanted| called.contains(wanted))) { WANTED } else { kind }
    }
}

impl<M: Model + 'static, How> Space for ModelSpace<M, How>
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
        self.expand_all(batch, from, steps);
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
        if self.is_vetted(state)
            && let Ok(Some(misuse)) = caught::catch(|| self.unlike(&typed, state))
        {
            self.faults.misused(misuse);
            return Some((NO_ACTION, Fired::Fault(MISUSED)));
        }
        // Actions that turn out to be impossible are set aside, so that all others remain equally likely.
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

    fn check(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.judging(|at| self.judge(&M::State::decode(state), at, bits))
    }

    #[inline]
    fn check_step(&self, steps: &Steps, index: usize, bits: &mut PropertyBits) -> Checked {
        match steps.own.get::<Typed<M>>().and_then(|typed| typed.get(index)) {
            Some(state) => self.judging(|at| self.judge(state, at, bits)),
            None => self.check(steps.states.get(index), bits),
        }
    }

    fn asks_to_reach(&self, property: u32) -> bool {
        self.properties.0.get(property as usize).is_some_and(|property| property.kind.asks_to_reach())
    }

    fn fault_class(&self, _fault: Fault) -> FaultClass {
        FaultClass::Violation
    }
}

impl<M: Model + 'static, How> ModelSpace<M, How>
where
    M::State: Coded<How>,
{
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
            self.represented(representative, &state).encode(&mut steps.states);
        }
        // Other errors on the way are found when the search gets there.
        if let Ok(Some(misuse)) = caught::catch(|| self.estranged(state)) {
            self.faults.misused(misuse);
        }
        steps.describe_last(0, Firing::of(number), &[]);
    }

    /// Checks a state with a function that keeps track of the current property: a panic is a fault of that property.
    #[inline]
    fn judging(&self, judge: impl FnOnce(&mut u32)) -> Checked {
        let mut at = 0;
        caught::catch(|| judge(&mut at)).map_err(|panic| (at, self.faults.note(panic)))
    }

    /// Sets the bits of the properties that fail or are reached; `judging` is the current one.
    #[inline]
    fn judge(&self, state: &M::State, judging: &mut u32, bits: &mut PropertyBits) {
        for (number, property) in self.properties.0.iter().enumerate() {
            *judging = number as u32;
            if (property.condition)(&self.model, state) != (property.kind == PropertyKind::Always) {
                bits.insert(*judging);
            }
        }
    }

    /// Takes one action and writes the state it leads to.
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
                self.represented(representative, &next).encode_to(out);
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

/// Reads the number by which a discriminant is hashed: usually the index of the variant. It only serves to tell
/// variants apart.
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
