//! How often states are visited.

use crate::{Handle, Visit};

pub(super) fn count_visit(counts: &mut Vec<u32>, visit: Visit) {
    let (Visit::New(Handle(handle)) | Visit::Seen(Handle(handle))) = visit else { return };
    let at = handle as usize;
    if handle == u32::MAX {
        return;
    }
    if at >= counts.len() {
        counts.resize((at + 1).next_power_of_two(), 0);
    }
    counts[at] = counts[at].saturating_add(1);
}

/// For each i, the number of states that were visited at least 2^i and fewer than 2^(i+1) times.
pub(super) fn histogram(counts: &[u32]) -> Vec<u64> {
    let mut bins = Vec::new();
    for count in counts.iter().filter(|count| **count > 0) {
        let bin = count.ilog2() as usize;
        if bin >= bins.len() {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += 1;
    }
    bins
}
