//! Everything chosen for a run.

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

/// A run's choices. The command line builds one from its options, which have the same names, defaults and meanings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The memory budget in bytes; none where only the account's own limit counts.
    pub memory: Option<usize>,
    /// The time budget.
    pub time: Option<Duration>,
    /// Stop after so many distinct states.
    pub states: Option<u64>,
    /// Stop after so many steps: fired rules, or random choices of a strategy that makes them.
    pub steps: Option<u64>,
    /// Do not expand states at this depth.
    pub depth: Option<u32>,
    /// How many workers; one for each processor this process may use where it is 0.
    pub threads: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// Where to look.
    pub strategy: StrategySpec,
    /// Over a store that errs, how sure `auto` must be that it omitted nothing before it ends.
    pub confidence: f64,
    /// What to remember; what suits the strategy where it is not given.
    pub store: Option<StoreSpec>,
    /// Whether states are explored up to exchanges of scalarset elements.
    pub symmetry: SymmetryChoice,
    /// When a state counts as a deadlock; as the model's language has it if it is not given.
    pub deadlock: Option<Deadlock>,
    /// Names of the properties to judge; all where empty.
    pub properties: Vec<String>,
    /// Names of rules whose firing is looked for, instead of violations.
    pub find_rules: Vec<String>,
    /// Names of properties that ask to be reached and are looked for, instead of violations.
    pub find: Vec<String>,
    /// How many states are reachable, where that is known: coverage and cover times are then reported.
    pub size: Option<u64>,
    /// Whether to count how often each state is visited.
    pub profile: bool,
    /// How many states the record holds, beyond which distinct states are estimated; as the budget suggests where it is not given.
    pub record: Option<usize>,
    /// How many walks each sampler of the audit makes after a run that found nothing: none where it is 0, and as the search's length suggests where it is not
    /// given.
    pub audit: Option<u64>,
    /// After how many violations to stop.
    pub max_errors: usize,
    /// Whether to go on until everything was visited, and to report each violated property once.
    pub all_violations: bool,
    /// Whether a run that was cut counts as a failure: the command then exits with code 4, and what was not proved fails in JUnit and SARIF files.
    pub exhaustive: bool,
    /// Whether a witness that may not be a shortest one is made shorter.
    pub shorten: bool,
    /// How many loop rounds and calls one firing may take.
    pub loop_limit: u64,
    /// Interpret instead of compiling.
    pub interpret: bool,
    /// Where the run takes place.
    pub device: DeviceChoice,
    /// The memory of a GPU that the run may take, in bytes; nearly all that is free if it is not given.
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
            device: DeviceChoice::default(),
            device_memory: None,
        }
    }
}

impl Plan {
    /// The same plan with breadth-first search where a store was asked for and no strategy: `auto` chooses its stores itself.
    pub fn settled(self) -> Plan {
        if self.store.is_some() && self.strategy == StrategySpec::default() { Plan { strategy: StrategySpec::bfs(), ..self } } else { self }
    }

    /// The store: the one asked for, or what suits the strategy.
    pub fn store(&self) -> StoreSpec {
        self.store.clone().unwrap_or_else(|| self.strategy.default_store())
    }
}
