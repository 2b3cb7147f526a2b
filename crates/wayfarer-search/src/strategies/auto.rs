//! The default: phases, which [`explore_in_phases`](crate::explore_in_phases) carries out. As a strategy by itself it is the first of them.

use super::{Bfs, Crewing, Nature, OnDevice, Row, SYSTEMATIC, exact};
use wayfarer_store::spec::Entry;

pub(super) static ROW: Row = Row {
    entry: Entry { name: "auto", help: "breadth-first while memory lasts, then over fingerprints, pass after pass; never gives up", parameters: &[] },
    store: exact,
    nature: |_| Nature { crewing: Crewing::Phases, by_levels: true, seeded: true, device: OnDevice::Levels, ..SYSTEMATIC },
    build: |_, site| Box::new(Bfs::new(site.limits).asking(site.account)),
};
