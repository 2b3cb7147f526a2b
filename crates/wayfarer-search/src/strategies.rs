//! The strategies a user can ask for: one file each, and one row each in [`ROWS`].

mod auto;
mod bfs;
mod dfs;
mod highway;
mod random;
mod rbfs;
mod sdrs;
mod urs;
mod walk;

pub use bfs::{Bfs, QueuedBfs};
pub(crate) use bfs::{Frontier, LAG, Origin, Spill, Waiting, next_batch};
pub use dfs::Dfs;
pub use highway::Highway;
pub use rbfs::{Rbfs, Rules};
pub use sdrs::Sdrs;
pub use urs::Urs;
pub use walk::Walk;

use crate::spec::{self, Entry, Given, SpecError};
use crate::{Account, Limits, StoreSpec, Strategy};
use std::fmt;
use std::str::FromStr;
use wayfarer_space::Packing;

/// What a strategy is built from.
#[derive(Clone, Copy)]
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
    /// The store it takes where none is asked for.
    pub(crate) store: fn(&Given) -> StoreSpec,
    /// Whether it works over a store; else what it needs.
    pub(crate) suits: fn(&Given, &StoreSpec) -> Result<(), &'static str>,
    pub(crate) build: for<'a> fn(&Given, &Site<'a>) -> Box<dyn Strategy + 'a>,
}

/// All strategies, in the order in which they are listed to users.
static ROWS: [&Row; 12] = [
    &auto::ROW,
    &bfs::ROW,
    &dfs::ROW,
    &dfs::RANDOMISED,
    &walk::ROW,
    &random::ROW,
    &urs::ROW,
    &sdrs::ROW,
    &urs::REINITIALISED,
    &sdrs::REINITIALISED,
    &highway::ROW,
    &rbfs::ROW,
];

/// How several workers carry out a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crewing {
    /// Together, level by level, over one store that gives states back.
    Levels,
    /// Together, level by level, over one store that does not.
    Segments,
    /// Each for itself, over stores of their own.
    Apart,
    /// Not at all: one worker does it.
    Alone,
    /// In phases, each of them together, level by level.
    Phases,
}

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
        let row = ROWS.iter().find(|row| row.entry.name == entry.name).unwrap_or(&ROWS[0]);
        Ok(StrategySpec { row, given })
    }

    /// What exists: every strategy with its parameters, their ranges and what they are when not given.
    pub fn list() -> String {
        spec::list(ROWS.iter().map(|row| &row.entry))
    }

    /// The names of all strategies.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.entry.name)
    }

    /// The strategy's name.
    pub fn name(&self) -> &'static str {
        self.row.entry.name
    }

    /// The store it takes where none is asked for.
    pub fn default_store(&self) -> StoreSpec {
        (self.row.store)(&self.given)
    }

    /// Whether it works over a store; else what it needs, as a clause.
    pub fn suits(&self, store: &StoreSpec) -> Result<(), &'static str> {
        (self.row.suits)(&self.given, store)
    }

    /// How several workers carry it out over a store.
    pub fn crew(&self, store: &StoreSpec) -> Crewing {
        match self.name() {
            "auto" => Crewing::Phases,
            "bfs" if matches!(store, StoreSpec::Exact | StoreSpec::Tree | StoreSpec::Difference { .. }) => Crewing::Levels,
            "bfs" if matches!(store, StoreSpec::Compact { .. } | StoreSpec::Bitstate { .. }) => Crewing::Segments,
            "bfs" | "dfs" | "rdfs" => Crewing::Alone,
            _ if self.given.is("close", "on") => Crewing::Alone,
            _ => Crewing::Apart,
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
    StoreSpec::Exact
}

/// For rows: any store that remembers states.
fn remembering(_given: &Given, store: &StoreSpec) -> Result<(), &'static str> {
    if *store == StoreSpec::Nothing { Err("a store that remembers states") } else { Ok(()) }
}

/// For rows: stores that can give states back.
fn giving_back(_given: &Given, store: &StoreSpec) -> Result<(), &'static str> {
    if store.gives_back() { Ok(()) } else { Err("a store that can give states back (`exact`, `tree`, `difference` or `pool`)") }
}

/// For rows: stores that say of a known state where they keep it.
fn knowing(given: &Given, store: &StoreSpec) -> Result<(), &'static str> {
    match store {
        // The root set of a tree knows that a state is there, but not under which number.
        StoreSpec::Tree => Err("a store that says where it keeps a state (`exact`, `difference` or `pool`)"),
        _ => giving_back(given, store),
    }
}
