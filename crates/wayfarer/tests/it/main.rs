//! The one integration-test binary of this crate; each module is a suite.

mod generated;
