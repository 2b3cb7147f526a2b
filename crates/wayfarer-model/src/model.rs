//! What a user writes.

use std::fmt::Debug;
use std::panic::Location;

/// A system as a Rust value: its start states, the actions that are possible in a state, what they lead to, and what must hold.
///
/// All methods must give the same answer to the same question, whoever asks and how often: a search asks from several threads, forgets states and comes
/// back to them, and replays what it found. `next` that does not is found out and named.
pub trait Model: Send + Sync {
    /// A state. It implements `serde`'s `Serialize` and `Deserialize`, or [`Packed`](crate::Packed), which is faster and smaller.
    type State;

    /// What may happen in a state: an enum, mostly. Its variants are what reports count as rules.
    type Action: Debug;

    /// The start states.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends what may happen in `state`, in an order that depends on the state only.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Where an action leads; nowhere where it is not possible after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Names what is judged. Asked once in a run.
    fn properties(&self, properties: &mut Properties<Self>) {
        let _ = properties;
    }

    /// Whether a state counts. Those that do not are neither kept nor expanded, and a verdict is one within the boundary.
    fn within_boundary(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }

    /// How to find the representative of a state, where states that are alike may be taken for one. States are alike only if the same actions, up to the same
    /// exchange of names, lead from them to states that are alike, and no property tells them apart.
    fn symmetry(&self) -> Option<Representative<Self>> {
        None
    }

    /// An action for a person.
    fn format_action(&self, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// An action for a person who sees it taken in a state, which may say more.
    fn format_step(&self, state: &Self::State, action: &Self::Action) -> String {
        let _ = state;
        self.format_action(action)
    }

    /// A state for a person, where it should not be shown field by field.
    fn format_state(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }
}

/// Gives the representative of a state: the same for all that are alike.
pub type Representative<M> = fn(&M, &<M as Model>::State) -> <M as Model>::State;

/// Whether something holds in a state of a model.
type Condition<M> = Box<dyn Fn(&M, &<M as Model>::State) -> bool + Send + Sync>;

/// What a property asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Its condition holds in every state.
    Always,
    /// Its condition holds in no state.
    Never,
    /// Its condition holds in some state.
    Sometimes,
}

/// Something that is judged.
pub struct Property<M: Model + ?Sized> {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub kind: PropertyKind,
    /// `file:line:column` of where it was named.
    pub at: String,
    pub(crate) condition: Condition<M>,
}

/// The properties of a model.
pub struct Properties<M: Model + ?Sized>(pub(crate) Vec<Property<M>>);

impl<M: Model + ?Sized> Default for Properties<M> {
    fn default() -> Self {
        Properties(Vec::new())
    }
}

impl<M: Model + ?Sized> Properties<M> {
    /// The condition must hold in every state.
    #[track_caller]
    pub fn always(&mut self, name: impl Into<String>, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> &mut Self {
        self.add(name.into(), PropertyKind::Always, Box::new(condition))
    }

    /// The condition must hold in no state.
    #[track_caller]
    pub fn never(&mut self, name: impl Into<String>, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> &mut Self {
        self.add(name.into(), PropertyKind::Never, Box::new(condition))
    }

    /// The condition must hold in some state.
    #[track_caller]
    pub fn sometimes(&mut self, name: impl Into<String>, condition: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> &mut Self {
        self.add(name.into(), PropertyKind::Sometimes, Box::new(condition))
    }

    #[track_caller]
    fn add(&mut self, name: String, kind: PropertyKind, condition: Condition<M>) -> &mut Self {
        self.0.push(Property { name, kind, at: Location::caller().to_string(), condition });
        self
    }

    /// Says where the last property was named, `file:line:column`, where that is not where it was added.
    pub fn at(&mut self, place: impl Into<String>) -> &mut Self {
        if let Some(last) = self.0.last_mut() {
            last.at = place.into();
        }
        self
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Property<M>> {
        self.0.iter()
    }
}
