//! The exact theory against brute force, against the papers' corrected formulas, and against simulation.

mod brute;
mod graphs;
mod grids;
mod notes;
mod simulation;
mod storage;
mod trees;
