//! Everything chosen for a run.

use std::time::Duration;
use wayfarer_search::{Deadlock, StoreSpec};

/// A run's choices. The command line builds one from its options, which have the same names, defaults and meanings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The memory budget in bytes; none where only the account's own limit counts.
    pub memory: Option<usize>,
    /// The time budget.
    pub time: Option<Duration>,
    /// Stop after so many distinct states.
    pub states: Option<u64>,
    /// Stop after so many fired rules.
    pub steps: Option<u64>,
    /// Do not expand states at this depth.
    pub depth: Option<u32>,
    /// The seed of everything random.
    pub seed: u64,
    /// Where to look.
    pub strategy: StrategyChoice,
    /// What to remember.
    pub store: StoreSpec,
    /// When a state counts as a deadlock.
    pub deadlock: Deadlock,
    /// Names of the properties to judge; all where empty.
    pub properties: Vec<String>,
    /// After how many violations to stop.
    pub max_errors: usize,
    /// How many loop rounds and calls one firing may take.
    pub loop_limit: u64,
    /// Interpret instead of compiling.
    pub interpret: bool,
}

/// Which strategy explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StrategyChoice {
    /// Breadth-first.
    #[default]
    Bfs,
    /// Depth-first.
    Dfs,
}

impl StrategyChoice {
    /// All strategies with their names.
    pub const ALL: [(StrategyChoice, &'static str); 2] = [(StrategyChoice::Bfs, "bfs"), (StrategyChoice::Dfs, "dfs")];

    /// The name it is chosen by.
    pub fn name(self) -> &'static str {
        match self {
            StrategyChoice::Bfs => "bfs",
            StrategyChoice::Dfs => "dfs",
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            memory: None,
            time: None,
            states: None,
            steps: None,
            depth: None,
            seed: 1,
            strategy: StrategyChoice::default(),
            store: StoreSpec::Exact,
            deadlock: Deadlock::default(),
            properties: Vec::new(),
            max_errors: 1,
            loop_limit: 1_000_000,
            interpret: false,
        }
    }
}
