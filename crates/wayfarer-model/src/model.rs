//! The trait that a user implements, and its properties.

use std::fmt::Debug;
use std::panic::Location;
use wayfarer_space::PropertyKind;

/// A system as a Rust value: its start states, the actions that are possible in a state, their successors, and the
/// properties that must hold.
///
/// All methods must be deterministic: a search calls them from several threads, forgets states and finds them again,
/// and replays what it found. A `next` that is not deterministic is detected and reported.
pub trait Model: Send + Sync {
    /// A state. It implements `serde`'s `Serialize` and `Deserialize`, or [`Packed`](crate::Packed), which is faster and smaller.
    type State;

    /// An action that is possible in a state; usually an enum, whose variants reports count as rules.
    type Action: Debug;

    /// The start states.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends the actions that are possible in `state`, in an order that depends only on the state.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state that an action leads to; `None` if it is not possible after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Adds the properties to check. Called once in a run.
    fn properties(&self, properties: &mut Properties<Self>) {
        let _ = properties;
    }

    /// Whether a state lies within the boundary. States outside are neither kept nor expanded, and a verdict covers
    /// only the states within the boundary.
    fn within_boundary(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }

    /// The function that returns the representative of a state, if symmetric states may be treated as one. States are
    /// symmetric only if the same actions, up to the same exchange of names, lead from them to symmetric states, and
    /// no property tells them apart.
    fn symmetry(&self) -> Option<Representative<Self>> {
        None
    }

    /// An action as text.
    fn format_action(&self, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// An action as text, taken in a given state, which may say more.
    fn format_step(&self, state: &Self::State, action: &Self::Action) -> String {
        let _ = state;
        self.format_action(action)
    }

    /// A state as text, if it should not be shown field by field.
    fn format_state(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }
}

/// Returns the representative of a state: the same for all symmetric states.
pub type Representative<M> = fn(&M, &<M as Model>::State) -> <M as Model>::State;

/// A condition on a state of a model.
type Condition<M> = Box<dyn Fn(&M, &<M as Model>::State) -> bool + Send + Sync>;

/// A property to check.
pub struct Property<M: Model + ?Sized> {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PropertyKind,
    /// The source location of its declaration, as `file:line:column`.
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
        self.add(name.into(), PropertyKind::Reachable, Box::new(condition))
    }

    #[track_caller]
    fn add(&mut self, name: String, kind: PropertyKind, condition: Condition<M>) -> &mut Self {
        self.0.push(Property { name, kind, at: Location::caller().to_string(), condition });
        self
    }

    /// Sets the source location of the last property, `file:line:column`, if that is not where it was added.
    pub fn at(&mut self, place: impl Into<String>) -> &mut Self {
        if let Some(last) = self.0.last_mut() {
            last.at = place.into();
        }
        self
    }

    /// All properties, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Property<M>> {
        self.0.iter()
    }
}
