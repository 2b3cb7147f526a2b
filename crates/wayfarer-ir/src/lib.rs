//! Guarded-command programs: the common form that every modelling language is translated to and every target is
//! generated from.
//!
//! A [`Program`] is a bit-exact layout of the state, start states, rules with their parameters, functions and
//! properties. Expressions and statements are trees over 64-bit values; every fault is explicit, there are no
//! pointers and no calls to the outside, and loops carry fuel. Nothing of a language's surface remains in it.
//!
//! - [`program`], [`code`], [`types`]: the parts of a program
//! - [`layout`]: the layout of values in words
//! - [`mod@verify`]: the rules for programs, listed
//! - [`text`]: the text form, written and read back
//! - [`interpret`]: the meaning of a program
//! - [`acts`], [`effects`]: the effects of functions, and the bits that a rule or property reads and writes
//! - [`independence`], [`relevant`]: the rules that do not disturb each other, and the parameters that matter to a rule
//! - [`levels`], [`passing`]: rules that wait for others, and states that are passed through
//! - [`real`]: real numbers of a fixed number of decimal digits
//! - [`show`]: rules, states and values in readable form
//! - [`symmetry`]: states up to permutations of scalarset elements
//! - [`walk`]: visits every part of a tree
//! - `generate`: random programs, for fuzzing (feature `generate`)

pub mod acts;
mod arithmetic;
pub mod code;
pub mod effects;
#[cfg(feature = "generate")]
pub mod generate;
pub mod independence;
pub mod interpret;
pub mod layout;
pub mod levels;
mod packing;
pub mod passing;
pub mod program;
pub mod real;
pub mod relevant;
pub mod show;
pub mod symmetry;
pub mod text;
pub mod types;
pub mod verify;
pub mod walk;

pub use code::{
    Argument, BinaryOp, Block, CheckedOp, Expr, FaultId, FunctionId, Index, LoopExpr, LoopKind, Place, PrintItem, PropertyId, Reg, Root, Stmt, Test,
    TypeId, UnaryOp,
};
pub use interpret::{Interpreter, Limits};
pub use program::{
    Asymmetry, At, Body, FaultKind, FaultSite, Formula, Function, Parameter, PassingField, Program, Property, Region, Rule, RuleParameter, Variable,
};
pub use real::{RealFormat, RealOp};
pub use types::{Elements, Field, Names, Scalar, Type};
pub use verify::{VerifyError, verify};
pub use wayfarer_space::PropertyKind;
