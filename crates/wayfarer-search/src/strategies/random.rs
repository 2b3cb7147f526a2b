//! Random search: one random simulation that looks at all successors of every state it visits (Engels, Groote, van
//! Weerdenburg, Willemse 2009, Definition 3). The simulation draws from the set of successors and ends if there are
//! none.
//!
//! Departures: `restarts=K` makes K more simulations, and `length=N` ends one after N steps, as the paper's experiments with bounded runs do.

use super::{Nature, OnDevice, RANDOM, Row, Walk};
use crate::NoStore;
use wayfarer_store::spec::{Accepts, Entry, Parameter};

pub(super) static ROW: Row = Row {
    entry: Entry {
        name: "random",
        help: "one random walk that looks at all successors on its way",
        parameters: &[
            Parameter::new("restarts", Accepts::Number(0..=u32::MAX as u64), "0", "how many more walks follow the first"),
            Parameter::open("length", Accepts::Number(1..=u32::MAX as u64), "no limit", "the most steps of a walk"),
        ],
    },
    store: |_| NoStore::spec(),
    nature: |_| Nature { counts_depth: true, device: OnDevice::Random, ..RANDOM },
    build: |given, site| {
        let length = given.number("length").map_or(u32::MAX, |number| number as u32);
        Box::new(Walk::new(1, site.seed).searching(given.number("restarts").unwrap_or(0), length.min(site.limits.depth)))
    },
};
