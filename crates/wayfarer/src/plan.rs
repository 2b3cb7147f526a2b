//! The settings of a run.

mod amount;
mod device;
pub mod options;
mod planned;
mod widening;

pub use amount::Amount;
pub use device::DeviceChoice;
pub use options::{OPTIONS, PlanOption};
pub use planned::Planned;

use crate::SymmetryChoice;
use std::time::Duration;
use wayfarer_search::{Deadlock, StoreSpec, StrategySpec};

/// The settings of a run. The command line builds one from its options, which have the same names, defaults and
/// meanings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The memory budget in bytes; `None` if only the account's own limit counts.
    pub memory: Option<usize>,
    /// The time budget.
    pub time: Option<Duration>,
    /// Stop after this many distinct states.
    pub states: Option<u64>,
    /// Stop after this many steps: fired rules, or random choices of a strategy that makes them.
    pub steps: Option<u64>,
    /// Do not expand states at this depth.
    pub depth: Option<u32>,
    /// The number of workers; 0 means one for each processor this process may use.
    pub threads: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// The search strategy.
    pub strategy: StrategySpec,
    /// The confidence that `auto` needs that it omitted no state before it ends, with a store that may omit states.
    pub confidence: f64,
    /// The store; by default one that suits the strategy.
    pub store: Option<StoreSpec>,
    /// Whether states are explored up to permutations of scalarset elements.
    pub symmetry: SymmetryChoice,
    /// The definition of a deadlock; by default that of the model's language.
    pub deadlock: Option<Deadlock>,
    /// Names of the properties to check; all if empty.
    pub properties: Vec<String>,
    /// Names of rules whose firing is the goal, instead of violations.
    pub find_rules: Vec<String>,
    /// Names of reachability properties that are the goal, instead of violations.
    pub find: Vec<String>,
    /// The number of reachable states, if it is known: coverage and cover times are then reported.
    pub size: Option<u64>,
    /// Whether to count the visits of each state.
    pub profile: bool,
    /// The number of states that the record holds, beyond which distinct states are estimated; by default derived
    /// from the budget.
    pub record: Option<usize>,
    /// The number of walks of each sampler of the audit after a run that found nothing: none if it is 0; by default
    /// derived from the length of the search.
    pub audit: Option<u64>,
    /// The number of violations after which to stop.
    pub max_errors: usize,
    /// Whether to continue until everything was visited, and to report each violated property once.
    pub all_violations: bool,
    /// Whether an incomplete run counts as a failure: the command then exits with code 4, and unproved checks fail in
    /// JUnit and SARIF files.
    pub exhaustive: bool,
    /// Whether to shorten a witness that may not be a shortest one.
    pub shorten: bool,
    /// The number of loop rounds and calls that one firing may take.
    pub loop_limit: u64,
    /// Interpret instead of compiling.
    pub interpret: bool,
    /// Whether machine code is kept in the user's cache folder for later runs.
    pub keep_code: bool,
    /// The device of the run.
    pub device: DeviceChoice,
    /// The memory of a GPU that the run may take, in bytes; by default nearly all that is free.
    pub device_memory: Option<usize>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            memory: None,
            time: None,
            states: None,
            steps: None,
            depth: None,
            threads: 1,
            seed: 1,
            strategy: StrategySpec::default(),
            confidence: 0.99,
            store: None,
            symmetry: SymmetryChoice::default(),
            deadlock: None,
            properties: Vec::new(),
            find_rules: Vec::new(),
            find: Vec::new(),
            size: None,
            profile: false,
            record: None,
            audit: None,
            max_errors: 1,
            all_violations: false,
            exhaustive: false,
            shorten: true,
            loop_limit: 1_000_000,
            interpret: false,
            keep_code: false,
            device: DeviceChoice::default(),
            device_memory: None,
        }
    }
}

impl Plan {
    /// The same plan, with breadth-first search if a store was requested without a strategy: `auto` chooses its
    /// stores itself.
    pub fn settled(self) -> Plan {
        if self.store.is_some() && self.strategy == StrategySpec::default() { Plan { strategy: StrategySpec::bfs(), ..self } } else { self }
    }

    /// The store: the requested one, or one that suits the strategy.
    pub fn store(&self) -> StoreSpec {
        self.store.clone().unwrap_or_else(|| self.strategy.default_store())
    }
}
