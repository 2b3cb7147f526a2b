//! A whole program: its state, rules, functions, properties and fault sites.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

use crate::code::{Block, Expr, FaultId, Reg, TypeId};
use crate::types::Type;
use wayfarer_space::{FaultClass, PropertyKind};

/// A model in the form that searches run.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Program {
    /// The file it came from, as the user named it; positions are shown as `source:line:column`.
    pub source: String,
    /// All types, referred to by [`TypeId`].
    pub types: Vec<Type>,
    /// The state's variables, in the order in which they are shown.
    pub variables: Vec<Variable>,
    /// The number of words of a state.
    pub words: u32,
    /// Functions, referred to by `FunctionId`.
    pub functions: Vec<Function>,
    /// Start states: rules that run on the zeroed state. A guard is allowed and decides whether the start state exists.
    pub starts: Vec<Rule>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// The properties.
    pub properties: Vec<Property>,
    /// Every way in which code can fail.
    pub faults: Vec<FaultSite>,
    /// Constructs that tell elements of a scalarset apart, so that states should not be explored up to permutations
    /// of them.
    pub asymmetries: Vec<Asymmetry>,
    /// The level of each family of rules: a rule is enabled only if no rule of a smaller level is. Families beyond
    /// the list have level 0.
    pub levels: Vec<u32>,
    /// The field that marks states that are not stored but expanded at once, if there is one.
    pub passing: Option<PassingField>,
    /// The condition under which a state without enabled rules is a valid end; without a formula, none is.
    pub ends: Option<Formula>,
    /// The names of properties that no run judges. They are reported as not judged.
    pub unjudged: Vec<String>,
}

/// A field of the state. States in which it is not zero are passed through: they are expanded at once, and are not
/// states of their own. If nothing is enabled in such a state, the field is cleared, and the state is one like any
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PassingField {
    /// Its offset in bits from the state's start.
    pub offset: u32,
    /// Its width; it lies inside one word.
    pub bits: u8,
    /// The fault of passing through states endlessly.
    pub endless: FaultId,
}

/// A position in the source whose meaning depends, or may depend, on the identity of a scalarset's elements. Start
/// states have none: the behaviour does not depend on which of several symmetric states it begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asymmetry {
    /// Its source position.
    pub at: At,
    /// Whether it certainly tells elements apart, or only cannot be shown not to.
    pub certain: bool,
    /// The reason, as text.
    pub message: String,
    /// The rule families whose commands come to it; `None` if a guard or property may come to it, too.
    pub commands: Option<Vec<u32>>,
    /// The numbers of the scalarsets whose elements it may tell apart; those of all scalarsets if there are none.
    pub sets: Vec<u32>,
}

/// A position in the source text, counted from 1. Line 0 means that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A named part of the state.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Its offset in bits from the state's start.
    pub offset: u32,
    /// The position of its declaration.
    pub at: At,
}

/// A family of guarded commands, one for each combination of its parameters' values.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Its parameters; their values are the first registers of guard and command. The last one varies fastest.
    pub parameters: Vec<RuleParameter>,
    /// The condition under which it may fire. It writes nothing.
    pub guard: Formula,
    /// Its command.
    pub command: Body,
    /// Its source position.
    pub at: At,
}

/// A parameter of a rule: it takes the values `from`, `from + by`, … , `count` of them.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct RuleParameter {
    /// Its name.
    pub name: String,
    /// The scalar type in which its values are shown.
    pub ty: TypeId,
    /// First value.
    pub from: i64,
    /// Step.
    pub by: i64,
    /// The number of values.
    pub count: u32,
}

/// An expression with the registers it needs. It writes neither the state nor anything that outlives it.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Formula {
    /// The number of registers.
    pub registers: u32,
    /// The value.
    pub value: Expr,
}

/// Statements with the registers and the frame they need.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Body {
    /// The number of registers.
    pub registers: u32,
    /// Size of the frame in words.
    pub frame: u32,
    /// The statements.
    pub block: Block,
}

/// A function or procedure.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters. Values are its first registers, in order; references are numbered separately, in order.
    pub parameters: Vec<Parameter>,
    /// Whether it returns a value.
    pub result: bool,
    /// The fault if it ends without `Return` although it has a result.
    pub no_result: FaultId,
    /// Its body.
    pub body: Body,
    /// Its source position.
    pub at: At,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A value.
    Value,
    /// A run of `bits` (at most 64 inside one word, or whole words) in the given region.
    Reference { region: Region, bits: u32 },
}

/// The target region of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Into the state.
    State,
    /// Into a frame of a caller.
    Frame,
}

/// A named condition on states.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PropertyKind,
    /// The number of registers that its conjuncts need.
    pub registers: u32,
    /// The condition is their conjunction, evaluated lazily in order; kept separate so that the failing one can be
    /// named.
    pub conjuncts: Vec<(At, Expr)>,
    /// Its source position.
    pub at: At,
}

/// One way in which code can fail.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct FaultSite {
    /// Whether it is a violation by the model, or only a limit of representation.
    pub class: FaultClass,
    /// Its kind.
    pub kind: FaultKind,
    /// The message.
    pub message: String,
    /// Its source position.
    pub at: At,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An assertion failed.
    Assertion,
    /// An error statement was reached.
    Error,
    /// An undefined value was used.
    Undefined,
    /// A value left its range.
    Range,
    /// An index was out of bounds.
    Index,
    /// Division by zero.
    Division,
    /// A result does not fit 64 bits.
    Overflow,
    /// A loop or recursion did not end.
    Endless,
    /// A collection was full, or an element to be removed was absent.
    Collection,
    /// A function ended without a result.
    NoResult,
}

impl FaultKind {
    /// All kinds with their names in the text form and in reports.
    pub const ALL: [(FaultKind, &'static str); 10] = [
        (FaultKind::Assertion, "assertion"),
        (FaultKind::Error, "error"),
        (FaultKind::Undefined, "undefined"),
        (FaultKind::Range, "range"),
        (FaultKind::Index, "index"),
        (FaultKind::Division, "division"),
        (FaultKind::Overflow, "overflow"),
        (FaultKind::Endless, "endless"),
        (FaultKind::Collection, "collection"),
        (FaultKind::NoResult, "no-result"),
    ];

    /// The name of the kind.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("fault", |(_, word)| word)
    }
}

impl Rule {
    /// The number of guarded commands in the family.
    pub fn instances(&self) -> u64 {
        self.parameters.iter().map(|parameter| u64::from(parameter.count)).product()
    }

    /// The parameters' values of the n-th member, the last parameter varying fastest.
    pub fn values(&self, mut member: u64, out: &mut [i64]) {
        for (parameter, slot) in self.parameters.iter().zip(out).rev() {
            let count = u64::from(parameter.count);
            let step = (member % count) as i64;
            *slot = parameter.from.wrapping_add(step.wrapping_mul(parameter.by));
            member /= count;
        }
    }
}

impl Default for Formula {
    fn default() -> Self {
        Formula { registers: 0, value: Expr::Const(1) }
    }
}

/// The registers that a rule's parameters take.
pub fn parameter_registers(rule: &Rule) -> impl Iterator<Item = Reg> {
    (0..rule.parameters.len() as u32).map(Reg)
}
