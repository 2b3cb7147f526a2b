//! The searches and stores against brute force on explicit graphs.

mod graphs;
mod searches;
mod stores;
