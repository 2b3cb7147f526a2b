//! Builds the store and the strategy of a plan.

use crate::memory::Budget;
use crate::{Plan, RunError};
use wayfarer_search::{Account, Crewing, Limits, Room, Site, Store, StoreSpec, Strategy};
use wayfarer_space::{Packing, Space, Width};

/// The share of the remaining budget that a store of fixed size leaves to the frontier, waypoints and the witness.
const FRONTIER_SHARE: usize = 4;

/// The inputs for building a plan's store, if `stores` stores share the budget.
pub(crate) fn room<'a>(plan: &Plan, packing: &'a Packing, budget: &'a Budget, stores: usize) -> Room<'a> {
    Room { packing, account: budget, most: budget.limit(), fixed: fixed_bytes(budget) / stores, bounded: false, seed: plan.seed }
}

/// The store of a plan, with its defaults filled in from the budget.
pub(crate) fn settled(plan: &Plan, packing: &Packing, budget: &Budget, stores: usize) -> StoreSpec {
    plan.store().settled(&room(plan, packing, budget, stores))
}

/// Refuses a store that cannot keep states of varying width.
pub(crate) fn refuse_varying(store: &StoreSpec, packing: &Packing) -> Result<(), RunError> {
    let unsuited = packing.is_varying() && !store.abilities().varying;
    if unsuited { Err(RunError::NeedsFixedWidth { store: store.to_string() }) } else { Ok(()) }
}

/// Builds a store whose parameters are all set; `None` if the budget has no room for it.
pub(crate) fn store<'a>(plan: &Plan, spec: &StoreSpec, packing: &'a Packing, budget: &'a Budget, stores: usize) -> Option<Box<dyn Store + 'a>> {
    spec.build(&room(plan, packing, budget, stores))
}

/// The strategy of a plan over a store.
pub(crate) fn strategy<'a>(
    plan: &Plan,
    store: &StoreSpec,
    limits: &'a Limits,
    packing: &'a Packing,
    budget: &'a Budget,
) -> Result<Box<dyn Strategy + 'a>, RunError> {
    plan.strategy.suits(store).map_err(|needs| RunError::Unsuited { strategy: plan.strategy.name(), needs, store: store.to_string() })?;
    Ok(plan.strategy.build(&Site { limits, packing, account: budget, seed: plan.seed, store: store.clone() }))
}

/// Returns an error if the budget is too small for the store's initial memory and some batches with their successors.
pub(crate) fn refuse_if_too_small(plan: &Plan, space: &dyn Space, budget: &Budget) -> Result<(), RunError> {
    if budget.would_allow(budget.limit(), needs(plan, space, budget.limit())) {
        return Ok(());
    }
    // The initial memory of a run grows a little with its budget, so the smallest budget is found by trying.
    let mut least = 64 << 10;
    while !budget.would_allow(least, needs(plan, space, least)) {
        least += least / 8;
    }
    Err(RunError::TooLittleMemory { least })
}

fn needs(plan: &Plan, space: &dyn Space, limit: usize) -> usize {
    let words = if let Width::Fixed(words) = space.width() { words } else { 0 };
    // Phases begin with whatever there is room for.
    if plan.strategy.nature().crewing == Crewing::Phases {
        return (32 << 10) + (words * 8 + 64) * 512;
    }
    plan.store().least(space.packing(), limit) + (words * 8 + 64) * 4096
}

/// The memory of a store that allocates all of it at once.
fn fixed_bytes(budget: &Budget) -> usize {
    budget.limit().saturating_sub(budget.used()) / FRONTIER_SHARE * (FRONTIER_SHARE - 1)
}
