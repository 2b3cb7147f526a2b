//! The name of what is done where nothing else is asked for: phases, which [`explore_in_phases`](crate::explore_in_phases) carries out. As a strategy by itself
//! it is the first of them.

use super::{Bfs, Row, exact};
use crate::StoreSpec;
use crate::spec::Entry;

pub(super) const ROW: Row = Row {
    entry: Entry { name: "auto", parameters: &[] },
    store: exact,
    suits: |_, store| if *store == StoreSpec::Exact { Ok(()) } else { Err("no store of its own to be named: it chooses") },
    build: |_, site| Box::new(Bfs::new(site.limits)),
};
