//! Processes with data.

mod code;
mod collections;
mod compare;
mod component;
mod data;
mod keys;
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

pub use machine::{FUEL, Halt};
pub use plain::PlainSpace;
pub use sequential::Wrong;
pub use space::{AlgebraSpace, ComponentState, FrameState, Layout};
pub use specification::{
    Action, ActionId, Equation, Function, FunctionId, Operation, Place, Process, ProcessDefinition, ProcessId, ProcessKind, Role, Sort, SortId,
    Specification, Term, Variable, VariableId,
};
pub use system::System;
pub use value::Value;
