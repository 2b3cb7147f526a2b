//! Runs Stateright models in Wayfarer, unchanged: any [`stateright::Model`] whose state implements `serde`'s
//! traits becomes a plan by [`Plan::from_stateright`](FromStateright::from_stateright).
//!
//! `always` and `sometimes` properties, the boundary, and the model's own texts for actions and steps are
//! taken over. An `eventually` property is about infinite behaviours, which Wayfarer does not check: such a
//! model is refused, or [checked without it](FromStateright::from_stateright_without_eventually).
//!
//! Actor models have states that `serde` cannot read back; [`Plan::from_stateright_by_clone`](FromStateright::from_stateright_by_clone) keeps them as clones.

mod kept;
mod texts;

pub use kept::{AdaptedByClone, ByClone, Clonable, Kept};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stateright::{Expectation, Property};
use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;
use wayfarer::model::BySerde;
use wayfarer::{Model, Modelled, Plan, Planned, Properties, Representative, RunError};

/// A Stateright model that can be checked here: its state can be serialised, deserialised and shown, and it
/// can be used from several threads. It is implemented for every such model.
pub trait Checkable:
    stateright::Model<State: Serialize + DeserializeOwned + Clone + Debug + 'static, Action: Clone + Debug> + Send + Sync + 'static
{
}

impl<M: stateright::Model<State: Serialize + DeserializeOwned + Clone + Debug + 'static, Action: Clone + Debug> + Send + Sync + 'static> Checkable
    for M
{
}

/// Plans for Stateright models; implemented for [`Plan`].
pub trait FromStateright {
    /// The plan to check a Stateright model. As in Stateright, a state without successors is not a deadlock;
    /// `.deadlock("stuck")` makes it one.
    ///
    /// Running the plan returns an error if the model has an `eventually` property.
    fn from_stateright<M: Checkable>(model: M) -> Planned;

    /// The same with symmetry reduction, like `symmetry_fn` in Stateright: states with the same
    /// representative are treated as one. Pass `Representative::representative` for a state that implements
    /// Stateright's trait.
    fn from_stateright_symmetric<M: Checkable>(model: M, representative: fn(&M::State) -> M::State) -> Planned;

    /// The same as [`from_stateright`](FromStateright::from_stateright) without the model's `eventually`
    /// properties, which are not checked.
    fn from_stateright_without_eventually<M: Checkable>(model: M) -> Planned;

    /// The plan to check a Stateright model whose states `serde` cannot read back, such as an actor model: states are kept as clones, and
    /// their own `Eq` and `Hash` tell them apart. The clones take the memory that the model's types take, beside the store; the budget
    /// counts them if [`wayfarer::memory::Counting`] is the program's allocator. `eventually` properties are refused.
    fn from_stateright_by_clone<M: Clonable>(model: M) -> Planned;

    /// The same without the model's `eventually` properties, which are not checked.
    fn from_stateright_by_clone_without_eventually<M: Clonable>(model: M) -> Planned;
}

impl FromStateright for Plan {
    #[track_caller]
    fn from_stateright<M: Checkable>(model: M) -> Planned {
        let refusal = refusal(&model, "from_stateright");
        refused(planned("from_stateright", Adapted::new(model)), refusal)
    }

    #[track_caller]
    fn from_stateright_symmetric<M: Checkable>(model: M, representative: fn(&M::State) -> M::State) -> Planned {
        let refusal = refusal(&model, "from_stateright");
        refused(planned("from_stateright_symmetric", Adapted { representative: Some(representative), ..Adapted::new(model) }), refusal)
    }

    #[track_caller]
    fn from_stateright_without_eventually<M: Checkable>(model: M) -> Planned {
        planned("from_stateright_without_eventually", Adapted::new(model))
    }

    #[track_caller]
    fn from_stateright_by_clone<M: Clonable>(model: M) -> Planned {
        let refusal = refusal(&model, "from_stateright_by_clone");
        refused(planned_by_clone("from_stateright_by_clone", AdaptedByClone::new(model)), refusal)
    }

    #[track_caller]
    fn from_stateright_by_clone_without_eventually<M: Clonable>(model: M) -> Planned {
        planned_by_clone("from_stateright_by_clone_without_eventually", AdaptedByClone::new(model))
    }
}

fn planned_by_clone<M: Clonable>(constructor: &str, adapted: AdaptedByClone<M>) -> Planned {
    let name = name_of::<M>();
    let subject = Modelled::<AdaptedByClone<M>, ByClone>::new(adapted).named(name);
    Plan::about(Arc::new(subject)).written(format!("Plan::{constructor}({name})")).deadlock("off")
}

/// The name of a type without its path and parameters.
fn name_of<M>() -> &'static str {
    let path = std::any::type_name::<M>().split('<').next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or(path)
}

/// The reason why a model cannot be checked as it is.
fn refusal<M: stateright::Model>(model: &M, constructor: &str) -> Option<RunError> {
    let eventually = model.properties().into_iter().filter(|property| property.expectation == Expectation::Eventually);
    let names: Vec<String> = eventually.map(|property| format!("`{}`", property.name)).collect();
    let message = format!(
        "{} must hold eventually, and liveness is not checked here; Plan::{constructor}_without_eventually leaves that out and checks the rest",
        names.join(" and ")
    );
    (!names.is_empty()).then_some(RunError::Wrong { option: "from_stateright", message })
}

fn refused(planned: Planned, why: Option<RunError>) -> Planned {
    match why {
        Some(why) => planned.refused(why),
        None => planned,
    }
}

fn planned<M: Checkable>(constructor: &str, adapted: Adapted<M>) -> Planned {
    let name = name_of::<M>();
    let arguments = if adapted.representative.is_some() { format!("{name}, representative") } else { name.to_string() };
    let subject = Modelled::<Adapted<M>, BySerde>::new(adapted).named(name);
    Plan::about(Arc::new(subject)).written(format!("Plan::{constructor}({arguments})")).deadlock("off")
}

/// A function that returns representatives, as Stateright defines it.
type Folding<M> = fn(&<M as stateright::Model>::State) -> <M as stateright::Model>::State;

/// A Stateright model as a Wayfarer model.
pub struct Adapted<M: stateright::Model> {
    model: M,
    representative: Option<Folding<M>>,
    /// The source location of the plan: properties carry none of their own.
    at: String,
}

impl<M: stateright::Model> Adapted<M> {
    #[track_caller]
    fn new(model: M) -> Self {
        Adapted { model, representative: None, at: Location::caller().to_string() }
    }
}

impl<M: Checkable> Model for Adapted<M> {
    type State = M::State;
    type Action = M::Action;

    fn initial(&self) -> Vec<M::State> {
        self.model.init_states()
    }

    fn actions(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        self.model.actions(state, actions);
    }

    fn next(&self, state: &M::State, action: &M::Action) -> Option<M::State> {
        self.model.next_state(state, action.clone())
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        for Property { expectation, name, condition } in self.model.properties() {
            let holds = move |adapted: &Self, state: &M::State| condition(&adapted.model, state);
            match expectation {
                Expectation::Always => properties.always(name, holds).at(&self.at),
                Expectation::Sometimes => properties.sometimes(name, holds).at(&self.at),
                Expectation::Eventually => continue,
            };
        }
    }

    fn within_boundary(&self, state: &M::State) -> bool {
        self.model.within_boundary(state)
    }

    fn symmetry(&self) -> Option<Representative<Self>> {
        self.representative?;
        Some(|adapted, state| adapted.representative.map_or_else(|| state.clone(), |representative| representative(state)))
    }

    fn format_action(&self, action: &M::Action) -> String {
        self.model.format_action(action)
    }

    /// The action, and the model's own text for the step, unless that is only the next state.
    fn format_step(&self, state: &M::State, action: &M::Action) -> String {
        let text = self.model.format_action(action);
        let said = self.model.format_step(state, action.clone());
        let next = self.model.next_state(state, action.clone());
        match said.filter(|said| next.is_none_or(|next| *said != format!("{next:#?}"))) {
            Some(said) => format!("{text}: {}", said.split_whitespace().collect::<Vec<_>>().join(" ")),
            None => text,
        }
    }
}

/// The page of the book, whose code snippets are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/from-stateright.md")]
mod book {}
