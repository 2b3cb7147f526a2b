//! Processes with data.

mod segments;
mod specification;
mod value;

pub use specification::{
    Action, ActionId, Equation, Function, FunctionId, Operation, Place, Process, ProcessDefinition, ProcessId, ProcessKind, Role, Sort, SortId, Specification, Term,
    Variable, VariableId,
};
pub use value::Value;
