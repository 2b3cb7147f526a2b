//! The union of several records while they grow: how many distinct states workers that search apart have met so far.
//!
//! A record takes a new value in rarely, a few times for each that it keeps, so workers hardly ever wait here.

use super::{Estimate, estimate};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The smallest values of all records that share it.
#[derive(Debug)]
pub(crate) struct Union {
    most: usize,
    values: Mutex<BTreeSet<u64>>,
    states: AtomicU64,
}

impl Union {
    /// An empty union of records of at most `most` states.
    pub(crate) fn new(most: usize) -> Self {
        Union { most: most.max(super::LEAST), values: Mutex::default(), states: AtomicU64::new(0) }
    }

    /// A record took this value in.
    pub(super) fn add(&self, value: u64) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = values.len() < self.most || values.last().is_some_and(|largest| value < *largest);
        if !wanted || !values.insert(value) {
            return;
        }
        if values.len() > self.most {
            values.pop_last();
        }
        let Estimate { value, .. } = estimate(values.len(), self.most, values.last().copied().unwrap_or(0));
        self.states.store(value as u64, Ordering::Relaxed);
    }

    /// How many distinct states were met, estimated as by a record of all.
    pub(crate) fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }
}
