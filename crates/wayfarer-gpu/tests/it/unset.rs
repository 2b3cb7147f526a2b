//! Kernels set every variable before they read it. A C++ compiler makes nothing of one that is not set on a way that is never gone; one for GPUs (ptxas 12.9 and 13.0) took a
//! kept successor for another one, so that the walks of an audit came to states that do not exist.

use crate::harness::{compiler, unset_variables};
use crate::lanes::SEARCHES;
use crate::models::german;
use wayfarer_gpu::{Search, Slots, Source};
use wayfarer_ir::Limits;

/// The searches, on a model whose states have two words.
fn texts() -> Vec<(Search, String)> {
    let source = Source::symmetric(&german(5), Limits::default()).expect("a source");
    assert_eq!(source.tight, 2);
    let searches = [Search::Levels(Slots::Pair), Search::Walks, Search::Audit(Slots::Pair)].into_iter().chain(SEARCHES.map(Search::Own));
    searches.map(|search| (search, source.with_kernels(search))).collect()
}

#[test]
fn no_kernel_reads_what_it_did_not_set() {
    let Some(compiler) = compiler() else { return };
    for (search, text) in texts() {
        assert_eq!(unset_variables(compiler, &text), "", "{search:?}");
    }
}

#[test]
fn whoever_keeps_a_successor_begins_with_a_value() {
    let mut keeping = 0;
    for (search, text) in texts() {
        let Some(kept) = text.find("copy_words(key, made_key, TIGHT);") else { continue };
        let begun = text.find("copy_words(key, t, TIGHT);");
        assert!(begun.is_some_and(|begun| begun < kept), "{search:?} keeps a successor in words that were not set");
        keeping += 1;
    }
    // The audit, the walks that look at all successors, the swarm, and four kernels of which two draw from the set of successors.
    assert_eq!(keeping, 7);
}
