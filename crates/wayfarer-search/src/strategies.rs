//! The strategies a user can ask for: one file each, and one row each in [`ROWS`].
//!
//! A row holds a strategy's name, its nature and its needs. All other code reads the row and never compares names.

mod auto;
pub(crate) mod batch;
mod bfs;
mod classes;
mod depths;
mod dfs;
pub(crate) mod drawing;
mod highway;
mod novelty;
mod piece;
mod random;
mod rbfs;
mod renewal;
mod sdrs;
mod urs;
mod visited;
mod walk;
pub(crate) mod walking;

pub use bfs::Bfs;
pub(crate) use bfs::Level;
pub use dfs::Dfs;
pub use highway::Highway;
pub use rbfs::{Rbfs, Rules};
pub use sdrs::Sdrs;
pub use urs::Urs;
pub use walk::Walk;

use crate::{Abilities, Account, Limits, StoreSpec, Strategy};
use std::fmt;
use std::str::FromStr;
use wayfarer_space::Packing;
use wayfarer_store::spec::{self, Entry, Given, Parameter, SpecError};

/// The parts that a strategy is built from.
#[derive(Clone)]
pub struct Site<'a> {
    /// How far it may go.
    pub limits: &'a Limits,
    /// The packing of its states.
    pub packing: &'a Packing,
    /// Asked before anything grows.
    pub account: &'a dyn Account,
    /// The seed of everything random.
    pub seed: u64,
    /// The store it will work over.
    pub store: StoreSpec,
}

/// A strategy that can be chosen by name.
pub(crate) struct Row {
    pub(crate) entry: Entry,
    /// The store it takes if none is asked for.
    pub(crate) store: fn(&Given) -> StoreSpec,
    /// Its nature with these parameters.
    pub(crate) nature: fn(&Given) -> Nature,
    pub(crate) build: for<'a> fn(&Given, &Site<'a>) -> Box<dyn Strategy + 'a>,
}

/// The nature of a strategy. Every row answers every question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    /// Its demands on a store.
    pub needs: Need,
    /// How several workers carry it out.
    pub crewing: Crewing,
    /// Whether it visits everything before it runs dry.
    pub exhaustive: bool,
    /// Whether it draws the states it visits, so that how often it met them says something about how many there are.
    pub draws: bool,
    /// Whether it expands each state once, so that redundancy says nothing about its choices.
    pub expands_once: bool,
    /// Whether it counts how deep it is.
    pub counts_depth: bool,
    /// Whether it goes level by level, so that its depth is that of the system.
    pub by_levels: bool,
    /// Whether the seed changes what it does.
    pub seeded: bool,
    /// How a device with many lanes carries it out.
    pub device: OnDevice,
}

/// How a device with many lanes carries out a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDevice {
    /// Not at all, for this reason.
    No(&'static str),
    /// All lanes together, level by level, over one store.
    Levels,
    /// A walk in each lane.
    Walks,
    /// Uniform random search in each lane, over a V of its own.
    Uniform {
        /// Whether a step is uniform over the set of successors, and not over the firings.
        by_states: bool,
        /// Whether it starts anew when V is full.
        renews: bool,
    },
    /// Simplified deep random search in each lane, over a V of its own.
    Deep {
        /// Whether a step is uniform over the set of successors, and not over the firings.
        by_states: bool,
        /// Whether it starts anew when V is full.
        renews: bool,
    },
    /// A walk that looks at all successors in each lane.
    Random,
    /// A highway in each lane.
    Highways {
        /// Whether levels are drawn uniformly.
        ideal: bool,
    },
    /// A depth-first search in random order in each lane, over a filter of its own.
    Swarm,
}

/// How several workers carry out a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crewing {
    /// Together, level by level, over one store.
    Together,
    /// Each for itself, over stores of their own.
    Apart,
    /// Not at all: one worker does it.
    Alone,
    /// In phases, each of them together, level by level.
    Phases,
}

/// The demands of a strategy on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: any store will do.
    Nothing,
    /// That it remembers states.
    Memory,
    /// That it gives states back.
    Recall,
    /// It must tell the handle of a known state.
    Place,
    /// That it can be emptied.
    Emptying,
    /// That it forgets by itself.
    Eviction,
}

impl Need {
    /// Whether a store with these abilities will do.
    pub fn is_met_by(self, can: Abilities) -> bool {
        match self {
            Need::Nothing => true,
            Need::Memory => can.remembers,
            Need::Recall => can.recalls,
            Need::Place => can.recalls && can.locates,
            Need::Emptying => can.recalls && can.empties,
            Need::Eviction => can.evicts,
        }
    }

    /// The need as a noun, with the stores that meet it.
    fn in_words(self) -> String {
        let what = match self {
            Need::Nothing => "any store",
            Need::Memory => "a store that remembers states",
            Need::Recall => "a store that can give states back",
            Need::Place => "a store that says where it keeps a state",
            Need::Emptying => "a store that can be emptied",
            Need::Eviction => "a store that forgets",
        };
        let names: Vec<String> =
            StoreSpec::all().filter(|store| self.is_met_by(store.abilities())).map(|store| format!("`{}`", store.name())).collect();
        match names.split_last() {
            Some((last, [])) => format!("{what} ({last})"),
            Some((last, others)) => format!("{what} ({} or {last})", others.join(", ")),
            None => what.to_owned(),
        }
    }
}

/// All strategies, in the order in which they are listed to users.
static ROWS: [&Row; 13] = [
    &auto::ROW,
    &bfs::ROW,
    &dfs::ROW,
    &dfs::RANDOMISED,
    &novelty::ROW,
    &walk::ROW,
    &random::ROW,
    &urs::ROW,
    &sdrs::ROW,
    &urs::REINITIALISED,
    &sdrs::REINITIALISED,
    &highway::ROW,
    &rbfs::ROW,
];

/// A strategy and its parameters, all within their ranges.
#[derive(Clone)]
pub struct StrategySpec {
    row: &'static Row,
    given: Given,
}

impl StrategySpec {
    /// Reads `name` or `name:parameter=value,…`.
    pub fn parse(text: &str) -> Result<StrategySpec, SpecError> {
        let (entry, given) = spec::read("strategy", ROWS.iter().map(|row| &row.entry), text)?;
        let row = ROWS.iter().find(|row| std::ptr::eq(&row.entry, entry)).unwrap_or(&ROWS[0]);
        Ok(StrategySpec { row, given })
    }

    /// Every strategy, with the parameters that it has if none is given.
    pub fn all() -> impl Iterator<Item = StrategySpec> {
        ROWS.iter().map(|row| StrategySpec { row, given: row.entry.plain() })
    }

    /// Every strategy with its parameters, their ranges and defaults, one line each.
    pub fn list() -> String {
        spec::list(ROWS.iter().map(|row| &row.entry))
    }

    /// Every strategy with its help, and its parameters with theirs.
    pub fn guide() -> String {
        spec::guide(ROWS.iter().map(|row| &row.entry))
    }

    /// The names of all strategies.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.entry.name)
    }

    /// The strategy's name.
    pub fn name(&self) -> &'static str {
        self.row.entry.name
    }

    /// One line that says what it does.
    pub fn help(&self) -> &'static str {
        self.row.entry.help
    }

    /// Its parameters.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.row.entry.parameters
    }

    /// The value of a parameter as a number; none if it is open, a word, or of another strategy.
    pub fn number(&self, parameter: &str) -> Option<u64> {
        self.given.number(parameter)
    }

    /// Whether a parameter has this value.
    pub fn is(&self, parameter: &str, value: &str) -> bool {
        self.given.is(parameter, value)
    }

    /// Its nature.
    pub fn nature(&self) -> Nature {
        (self.row.nature)(&self.given)
    }

    /// The store it takes if none is asked for.
    pub fn default_store(&self) -> StoreSpec {
        (self.row.store)(&self.given)
    }

    /// Whether it works over a store; else what it needs, as a noun.
    pub fn suits(&self, store: &StoreSpec) -> Result<(), String> {
        let needs = self.nature().needs;
        if needs.is_met_by(store.abilities()) { Ok(()) } else { Err(needs.in_words()) }
    }

    /// How several workers carry it out over a store: together only if they can share it.
    pub fn crew(&self, store: &StoreSpec) -> Crewing {
        match self.nature().crewing {
            Crewing::Together if !store.abilities().shared => Crewing::Alone,
            crewing => crewing,
        }
    }

    /// Breadth-first search.
    pub fn bfs() -> StrategySpec {
        StrategySpec { row: &bfs::ROW, given: bfs::ROW.entry.plain() }
    }

    /// Builds it.
    pub fn build<'a>(&self, site: &Site<'a>) -> Box<dyn Strategy + 'a> {
        (self.row.build)(&self.given, site)
    }
}

/// `auto`.
impl Default for StrategySpec {
    fn default() -> Self {
        let given = ROWS[0].entry.plain();
        StrategySpec { row: ROWS[0], given }
    }
}

impl PartialEq for StrategySpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.given == other.given
    }
}

impl Eq for StrategySpec {}

impl fmt::Debug for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The text that reads as this choice.
impl fmt::Display for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.name(), self.given)
    }
}

impl FromStr for StrategySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        StrategySpec::parse(text)
    }
}

/// For rows: the exact store.
fn exact(_given: &Given) -> StoreSpec {
    StoreSpec::exact()
}

/// For rows: a search that visits every state once, for every seed.
const SYSTEMATIC: Nature = Nature {
    needs: Need::Memory,
    crewing: Crewing::Alone,
    exhaustive: true,
    draws: false,
    expands_once: true,
    counts_depth: true,
    by_levels: false,
    seeded: false,
    device: OnDevice::No("it takes one step after another"),
};

/// For rows: a search that draws its way at random, each worker for itself.
const RANDOM: Nature = Nature {
    needs: Need::Nothing,
    crewing: Crewing::Apart,
    exhaustive: false,
    draws: true,
    expands_once: false,
    counts_depth: false,
    by_levels: false,
    seeded: true,
    device: OnDevice::No("its store is one for all"),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlimited;

    /// A row's nature is that of the strategy it builds.
    #[test]
    fn rows_speak_the_truth_about_their_strategies() {
        let packing = Packing::new(vec![0xFF]);
        let variants = [
            "urs:close=on",
            "urs:close=delete",
            "rurs:close=on,from=visited",
            "sdrs:close=on",
            "sdrs:close=delete",
            "rsdrs:close=on",
            "walk:from=visited",
            "rbfs:own=on",
        ]
        .map(|text| StrategySpec::parse(text).unwrap());
        for spec in StrategySpec::all().chain(variants) {
            let (nature, store) = (spec.nature(), spec.default_store());
            assert_eq!(spec.suits(&store), Ok(()), "{spec} over {store}");
            let site = Site { limits: &Limits::default(), packing: &packing, account: &Unlimited, seed: 1, store };
            let built = spec.build(&site);
            assert_eq!(built.exhaustive(), nature.exhaustive, "{spec} is exhaustive");
            assert_eq!(built.depth().is_some(), nature.counts_depth, "{spec} counts depth");
            assert_eq!(built.level().is_some(), nature.by_levels, "{spec} goes by levels");
            assert!(!spec.help().is_empty() && spec.parameters().iter().all(|parameter| !parameter.help().is_empty()), "{spec} has no help");
        }
    }

    #[test]
    fn a_strategy_names_the_stores_it_can_work_over() {
        let needs = |strategy: &str, store: &str| StrategySpec::parse(strategy).unwrap().suits(&StoreSpec::parse(store).unwrap()).unwrap_err();
        assert!(needs("urs", "compact").starts_with("a store that can give states back (`exact`, `tree`, `difference`"));
        assert!(needs("sdrs", "tree").starts_with("a store that says where it keeps a state (`exact`, `difference`"));
        assert_eq!(needs("urs:close=delete", "exact"), "a store that can be emptied (`pool`)");
        assert_eq!(needs("rbfs", "exact"), "a store that forgets (`cache`)");
        assert!(needs("bfs", "nothing").starts_with("a store that remembers states (`exact`, "));
    }
}
