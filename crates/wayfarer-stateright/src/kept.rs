//! Models whose states `serde` cannot read back, such as Stateright's actor models.
//!
//! Every state met is kept as a clone in a table, and the search sees its number there. So the store takes a few bytes a state and the table takes whatever
//! the clones take: it is allocated by the model's types, and a memory budget counts it if `wayfarer::memory::Counting` is the program's allocator.

use crate::texts::shape_of;
use stateright::{Expectation, Property};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use wayfarer::model::{Coded, Shape};
use wayfarer::space::{Packing, States, Word};
use wayfarer::{Model, Properties};

/// A Stateright model whose states can be cloned, compared and hashed. It is implemented for every such model, and for actor models in particular.
pub trait Clonable:
    stateright::Model<State: Clone + Debug + Eq + Hash + Send + Sync + 'static, Action: Clone + Debug> + Send + Sync + 'static
{
}

impl<M: stateright::Model<State: Clone + Debug + Eq + Hash + Send + Sync + 'static, Action: Clone + Debug> + Send + Sync + 'static> Clonable for M {}

/// The encoding of a state by its number in the table of states met.
#[derive(Clone, Copy, Debug)]
pub struct ByClone;

/// A state that is kept in the table of its type.
pub struct Kept<S> {
    state: Arc<S>,
    table: Arc<Table<S>>,
}

/// The states met, in the order in which they were met.
struct Table<S> {
    inner: RwLock<Inner<S>>,
}

struct Inner<S> {
    numbers: HashMap<Arc<S>, u32>,
    states: Vec<Arc<S>>,
}

/// The bits of a state's number.
const BITS: Word = u32::MAX as Word;

/// The table of each type of states, as long as a plan uses it. An encoding is known by its type alone, so plans with the same type share a table.
static TABLES: RwLock<Option<HashMap<TypeId, Weak<dyn Any + Send + Sync>>>> = RwLock::new(None);

impl<S: Eq + Hash + Send + Sync + 'static> Table<S> {
    /// The table in use for this type, or a new one.
    fn of_type() -> Arc<Table<S>> {
        let find = |tables: &Option<HashMap<TypeId, Weak<dyn Any + Send + Sync>>>| {
            tables.as_ref()?.get(&TypeId::of::<S>())?.upgrade()?.downcast::<Table<S>>().ok()
        };
        if let Some(table) = find(&TABLES.read().unwrap_or_else(PoisonError::into_inner)) {
            return table;
        }
        let mut tables = TABLES.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = find(&tables) {
            return table;
        }
        let table = Arc::new(Table { inner: RwLock::new(Inner { numbers: HashMap::new(), states: Vec::<Arc<S>>::new() }) });
        let weak: Weak<dyn Any + Send + Sync> = Arc::downgrade(&(table.clone() as Arc<dyn Any + Send + Sync>));
        tables.get_or_insert_with(HashMap::new).insert(TypeId::of::<S>(), weak);
        table
    }

    fn number(&self, state: &Arc<S>) -> Word {
        if let Some(number) = self.inner.read().unwrap_or_else(PoisonError::into_inner).numbers.get(state) {
            return Word::from(*number);
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let fresh = inner.states.len() as u32;
        let number = *inner.numbers.entry(state.clone()).or_insert(fresh);
        if number == fresh {
            inner.states.push(state.clone());
        }
        Word::from(number)
    }

    fn state(&self, number: Word) -> Option<Arc<S>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).states.get(number as usize).cloned()
    }
}

impl<S: Debug + Eq + Hash + Send + Sync + 'static> Coded<ByClone> for Kept<S> {
    const WORDS: Option<usize> = Some(1);

    fn packing() -> Packing {
        Packing::new(vec![BITS])
    }

    fn write(&self, words: &mut [Word]) {
        words[0] = self.table.number(&self.state);
    }

    fn encode(&self, states: &mut States) {
        states.push(&[self.table.number(&self.state)]);
    }

    fn encode_to(&self, out: &mut Vec<Word>) {
        out.clear();
        out.push(self.table.number(&self.state));
    }

    /// # Panics
    /// If the words are not those of a state met before: a mistake of this program.
    fn decode(words: &[Word]) -> Self {
        let table = Table::of_type();
        let state = table.state(words[0]).unwrap_or_else(|| panic!("the number of a state that was never met"));
        Kept { state, table }
    }

    fn shape(&self) -> Shape {
        shape_of(&format!("{:?}", self.state))
    }
}

/// A Stateright model as a Wayfarer model whose states are kept as clones.
pub struct AdaptedByClone<M: Clonable> {
    model: M,
    table: Arc<Table<M::State>>,
    /// The source location of the plan: properties carry none of their own.
    at: String,
}

impl<M: Clonable> AdaptedByClone<M> {
    #[track_caller]
    pub(crate) fn new(model: M) -> Self {
        AdaptedByClone { model, table: Table::of_type(), at: Location::caller().to_string() }
    }

    fn keep(&self, state: M::State) -> Kept<M::State> {
        Kept { state: Arc::new(state), table: self.table.clone() }
    }
}

impl<M: Clonable> Model for AdaptedByClone<M> {
    type State = Kept<M::State>;
    type Action = M::Action;

    fn initial(&self) -> Vec<Self::State> {
        self.model.init_states().into_iter().map(|state| self.keep(state)).collect()
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<M::Action>) {
        self.model.actions(&state.state, actions);
    }

    fn next(&self, state: &Self::State, action: &M::Action) -> Option<Self::State> {
        self.model.next_state(&state.state, action.clone()).map(|state| self.keep(state))
    }

    fn properties(&self, properties: &mut Properties<Self>) {
        for Property { expectation, name, condition } in self.model.properties() {
            let holds = move |adapted: &Self, state: &Self::State| condition(&adapted.model, &state.state);
            match expectation {
                Expectation::Always => properties.always(name, holds).at(&self.at),
                Expectation::Sometimes => properties.sometimes(name, holds).at(&self.at),
                Expectation::Eventually => continue,
            };
        }
    }

    fn within_boundary(&self, state: &Self::State) -> bool {
        self.model.within_boundary(&state.state)
    }

    fn format_action(&self, action: &M::Action) -> String {
        self.model.format_action(action)
    }
}
