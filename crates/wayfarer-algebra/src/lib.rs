//! Processes with data, in the manner of mCRL2, as state spaces.
//!
//! A [`Specification`] is the typed core that a language is lowered to. [`System`] makes it ready: equations become decision trees, processes become components with locations, and operators
//! become synchronisation vectors. [`AlgebraSpace`] explores it, [`PlainSpace`] does the same by plainer means and replays what was found. This crate knows no text and no files.

mod blocks;
mod code;
mod collections;
mod compare;
mod component;
mod data;
mod free;
mod joins;
mod keys;
mod lazy;
mod machine;
mod matching;
mod network;
mod operations;
mod partial;
mod plain;
mod query;
mod segments;
mod sequential;
mod show;
mod space;
mod specification;
mod steps;
mod system;
mod value;
mod wrong;

pub use machine::{FUEL, Halt};
pub use plain::PlainSpace;
pub use show::show_sort;
pub use space::{AlgebraSpace, ComponentState, FrameState, Layout};
pub use specification::{
    Action, ActionId, Equation, Function, FunctionId, Operation, Place, Process, ProcessDefinition, ProcessId, ProcessKind, Role, Sort, SortId,
    Specification, Term, Variable, VariableId,
};
pub use system::System;
pub use value::Value;
pub use wrong::Wrong;
