//! Builds the store and the strategy that a plan asks for.

use crate::memory::Budget;
use crate::{Plan, RunError, StrategyChoice};
use wayfarer_search::{
    Account, Bfs, BitstateStore, CacheStore, CompactStore, Dfs, DifferenceStore, ExactStore, Limits, QueuedBfs, Store, StoreSpec, Strategy, TreeStore,
};
use wayfarer_space::{Packing, Space, Width};

/// Of what is left of the budget, a store of fixed size leaves this share to the frontier, waypoints and the witness.
const FRONTIER_SHARE: usize = 4;

/// The store of a plan; none where the budget has no room for it.
pub(crate) fn store<'a>(plan: &Plan, packing: &Packing, budget: &'a Budget) -> Option<Box<dyn Store + 'a>> {
    let fixed = fixed_bytes(budget);
    Some(match plan.store {
        StoreSpec::Exact => Box::new(ExactStore::new(packing.clone(), budget, budget.limit())?),
        StoreSpec::Tree => Box::new(TreeStore::new(packing.clone(), budget, budget.limit())?),
        StoreSpec::Difference { delta } => Box::new(DifferenceStore::new(packing.clone(), delta, budget, budget.limit())?),
        StoreSpec::Compact { bits, floor } => Box::new(CompactStore::new(bits, floor, fixed, budget)?),
        StoreSpec::Bitstate { k } => Box::new(BitstateStore::new(k, fixed, budget)?),
        StoreSpec::Cache { slots, ways, bits, replace } => {
            let slots = slots.unwrap_or_else(|| cache_slots(fixed, ways, bits));
            Box::new(CacheStore::new(slots, ways, bits, replace, plan.seed, budget)?)
        }
    })
}

/// The strategy of a plan over its store.
pub(crate) fn strategy<'a>(plan: &Plan, limits: &Limits, packing: &Packing, budget: &'a Budget) -> Result<Box<dyn Strategy + 'a>, RunError> {
    let gives_back = matches!(plan.store, StoreSpec::Exact | StoreSpec::Tree | StoreSpec::Difference { .. });
    match plan.strategy {
        StrategyChoice::Bfs if gives_back => Ok(Box::new(Bfs::new(limits))),
        StrategyChoice::Bfs => Ok(Box::new(QueuedBfs::new(limits, packing.clone(), budget))),
        StrategyChoice::Dfs if gives_back => Ok(Box::new(Dfs::new(limits))),
        StrategyChoice::Dfs => Err(RunError::Unsuited { strategy: "dfs", store: plan.store.to_string() }),
    }
}

/// A run needs room for what its store begins with and for some batches with their successors.
pub(crate) fn refuse_if_too_small(plan: &Plan, space: &dyn Space, budget: &Budget) -> Result<(), RunError> {
    if budget.allows(needs(plan, space, budget.limit())) {
        return Ok(());
    }
    // What a run begins with grows a little with its budget, so the least that works is tried out.
    let mut least = 64 << 10;
    while !budget.would_allow(least, needs(plan, space, least)) {
        least += least / 8;
    }
    Err(RunError::TooLittleMemory { least })
}

fn needs(plan: &Plan, space: &dyn Space, limit: usize) -> usize {
    let words = if let Width::Fixed(words) = space.width() { words } else { 0 };
    let begins = match plan.store {
        StoreSpec::Tree => TreeStore::least(limit),
        StoreSpec::Difference { .. } => DifferenceStore::least(space.packing(), limit),
        _ => ExactStore::least(limit),
    };
    begins + (words * 8 + 64) * 4096
}

/// What a store that takes its memory at once may take.
fn fixed_bytes(budget: &Budget) -> usize {
    budget.limit().saturating_sub(budget.used()) / FRONTIER_SHARE * (FRONTIER_SHARE - 1)
}

fn cache_slots(bytes: usize, ways: u32, bits: u32) -> u64 {
    // Replacement needs a few bits beside each fingerprint; the rest is rounded down to whole buckets by the store.
    (bytes as u64 * 8 / u64::from(bits + 8) / u64::from(ways) * u64::from(ways)).max(u64::from(ways))
}
