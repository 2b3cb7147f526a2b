//! The one integration-test binary of this crate; each module is a suite.

mod bad_input;
mod examples;
mod files;
mod generated;
mod header;
mod models;
mod nets;
mod rust;
