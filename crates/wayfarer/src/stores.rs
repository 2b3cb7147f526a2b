//! Builds the store and the strategy that a plan asks for.

use crate::memory::Budget;
use crate::{Plan, RunError};
use wayfarer_search::{
    Account, BitstateStore, CacheStore, CompactStore, DifferenceStore, ExactStore, Limits, NoStore, PoolStore, Site, Store, StoreSpec, Strategy,
    TreeStore,
};
use wayfarer_space::{Packing, Space, Width};

/// Of what is left of the budget, a store of fixed size leaves this share to the frontier, waypoints and the witness.
const FRONTIER_SHARE: usize = 4;

/// The store of a plan, with what is left open filled in from the budget.
pub(crate) fn settled(plan: &Plan, packing: &Packing, budget: &Budget, stores: usize) -> StoreSpec {
    let fixed = fixed_bytes(budget) / stores;
    match plan.store() {
        StoreSpec::Cache { slots: None, ways, bits, replace } => {
            // The queue of a search over a cache keeps whole states, which weigh more than the fingerprints.
            let slot = u64::from(bits + 8).div_ceil(8) + usual_words(packing) as u64 * 8 + 24;
            let slots = (fixed as u64 / slot / u64::from(ways) * u64::from(ways)).max(u64::from(ways));
            StoreSpec::Cache { slots: Some(slots), ways, bits, replace }
        }
        StoreSpec::Pool { slots: None, replace: Some(replace) } => {
            // Ghosts may be as many as states.
            let slot = 2 * (usual_words(packing) * 8 + 24) + 24;
            StoreSpec::Pool { slots: Some((fixed / slot).max(64) as u64), replace: Some(replace) }
        }
        store => store,
    }
}

/// Refuses a store that cannot keep states that have each their own number of words.
pub(crate) fn refuse_varying(store: StoreSpec, packing: &Packing) -> Result<(), RunError> {
    let unsuited = packing.is_varying() && matches!(store, StoreSpec::Tree | StoreSpec::Difference { .. });
    if unsuited { Err(RunError::NeedsFixedWidth { store: store.to_string() }) } else { Ok(()) }
}

/// Words of a tight state; where states have each their own number, as many as many have.
fn usual_words(packing: &Packing) -> usize {
    if packing.is_varying() { 4 } else { packing.words() }
}

/// Builds a store whose parameters are settled; none where the budget has no room for it.
pub(crate) fn store<'a>(plan: &Plan, spec: StoreSpec, packing: &Packing, budget: &'a Budget, stores: usize) -> Option<Box<dyn Store + 'a>> {
    // Stores that share the budget are built one beside the other, so what the first has taken must not make the second smaller.
    let fixed = budget.limit().min(fixed_bytes(budget)) / stores;
    Some(match spec {
        StoreSpec::Exact => Box::new(ExactStore::new(packing.clone(), budget, budget.limit())?),
        StoreSpec::Tree => Box::new(TreeStore::new(packing.clone(), budget, budget.limit())?),
        StoreSpec::Difference { delta } => Box::new(DifferenceStore::new(packing.clone(), delta, budget, budget.limit())?),
        StoreSpec::Compact { bits, floor } => Box::new(CompactStore::new(bits, floor, fixed, budget)?),
        StoreSpec::Bitstate { k } => Box::new(BitstateStore::new(k, fixed, budget)?),
        StoreSpec::Cache { slots, ways, bits, replace } => Box::new(CacheStore::new(slots.unwrap_or(1), ways, bits, replace, plan.seed, budget)?),
        StoreSpec::Pool { slots, replace } => Box::new(PoolStore::new(packing.clone(), slots.unwrap_or(u64::MAX), replace, plan.seed, budget)),
        StoreSpec::Nothing => Box::new(NoStore),
    })
}

/// The strategy of a plan over a store.
pub(crate) fn strategy<'a>(
    plan: &Plan,
    store: StoreSpec,
    limits: &'a Limits,
    packing: &'a Packing,
    budget: &'a Budget,
) -> Result<Box<dyn Strategy + 'a>, RunError> {
    plan.strategy.suits(&store).map_err(|needs| RunError::Unsuited { strategy: plan.strategy.name(), needs, store: store.to_string() })?;
    Ok(plan.strategy.build(&Site { limits, packing, account: budget, seed: plan.seed, store }))
}

/// A run needs room for what its store begins with and for some batches with their successors.
pub(crate) fn refuse_if_too_small(plan: &Plan, space: &dyn Space, budget: &Budget) -> Result<(), RunError> {
    if budget.would_allow(budget.limit(), needs(plan, space, budget.limit())) {
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
    // Phases begin with whatever there is room for.
    if plan.strategy == crate::StrategySpec::default() {
        return (32 << 10) + (words * 8 + 64) * 512;
    }
    let begins = match plan.store() {
        StoreSpec::Tree => TreeStore::least(limit),
        StoreSpec::Difference { .. } => DifferenceStore::least(space.packing(), limit),
        StoreSpec::Pool { .. } | StoreSpec::Nothing => 64 << 10,
        _ => ExactStore::least(limit),
    };
    begins + (words * 8 + 64) * 4096
}

/// What a store that takes its memory at once may take.
pub(crate) fn fixed_bytes(budget: &Budget) -> usize {
    budget.limit().saturating_sub(budget.used()) / FRONTIER_SHARE * (FRONTIER_SHARE - 1)
}
