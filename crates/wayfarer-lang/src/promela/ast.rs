//! The tree of a Promela model after macros and inlines were expanded, with names as they were written.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

use crate::source::Span;
use std::sync::Arc;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// A whole model, in the order of its text.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub units: Vec<Unit>,
}

/// One item of a model.
#[derive(Clone, Debug)]
pub enum Unit {
    /// Global variables.
    Declaration(Declaration),
    /// `mtype:kind = { … }`.
    Mtype { kind: Option<Name>, names: Vec<Name> },
    /// `typedef name { … }`.
    Typedef { name: Name, fields: Vec<Declaration> },
    /// A process type.
    Proctype(Proctype),
    /// `ltl`, `never`, `trace` or `notrace`: kept by kind and name.
    Claim { kind: ClaimKind, name: Option<Name>, span: Span },
}

/// Kinds of claims about whole runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    Ltl,
    Never,
    Trace,
    Notrace,
}

/// A process type, or `init`.
#[derive(Clone, Debug)]
pub struct Proctype {
    pub name: Name,
    /// How many run at the start.
    pub active: Option<Expr>,
    pub is_init: bool,
    pub parameters: Vec<Declaration>,
    pub provided: Option<Expr>,
    pub body: Sequence,
    /// The closing brace.
    pub end: Span,
}

/// Variables declared together.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub hidden: bool,
    pub ty: TypeName,
    pub variables: Vec<Declarator>,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeName {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// The width stands with each name.
    Unsigned,
    Mtype(Option<Name>),
    Chan,
    User(Name),
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Declarator {
    pub name: Name,
    /// `: 5`.
    pub width: Option<(i64, Span)>,
    /// `[N]`.
    pub count: Option<Expr>,
    pub initial: Option<Initial>,
}

/// A value to begin with.
#[derive(Clone, Debug)]
pub enum Initial {
    Value(Expr),
    List(Vec<Expr>),
    Channel { capacity: Expr, fields: Vec<TypeName>, span: Span },
}

/// Steps one after the other.
pub type Sequence = Vec<Step>;

/// A statement with its labels.
#[derive(Clone, Debug)]
pub struct Step {
    pub labels: Vec<Label>,
    pub statement: Statement,
    pub span: Span,
}

/// A label and the expansion of an inline in which it stands; 0 outside of all.
#[derive(Clone, Debug)]
pub struct Label {
    pub name: Name,
    pub expansion: u32,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    Declaration(Declaration),
    /// `xr` and `xs`.
    Exclusive(Vec<Reference>),
    Expression(Expr),
    Assign {
        to: Reference,
        value: Expr,
    },
    Send {
        channel: Reference,
        sorted: bool,
        arguments: Vec<Expr>,
    },
    Receive {
        channel: Reference,
        random: bool,
        keep: bool,
        arguments: Vec<Pattern>,
    },
    Assert(Expr),
    Print {
        format: Arc<str>,
        arguments: Vec<Expr>,
    },
    /// `printm`.
    PrintName(Expr),
    Else,
    Break,
    Goto(Label),
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    For {
        variable: Reference,
        from: Expr,
        to: Expr,
        body: Sequence,
    },
    ForIn {
        variable: Reference,
        within: Reference,
        body: Sequence,
    },
    Select {
        variable: Reference,
        from: Expr,
        to: Expr,
    },
    Atomic(Sequence),
    Dstep(Sequence),
    Block(Sequence),
    Unless {
        body: Box<Step>,
        escape: Box<Step>,
    },
}

/// A pattern that a received field is matched with, or the place it is stored to.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Stored there. A name of an `mtype` is a constant, which only the resolver knows.
    Variable(Reference),
    Constant(i64, Span),
    Eval(Expr),
    /// `_`.
    Any(Span),
}

/// A variable, with its fields and indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub parts: Vec<(Name, Option<Expr>)>,
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: Box<ExprKind>,
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Number(i64),
    Reference(Reference),
    Unary(Unary, Expr),
    Binary(Binary, Expr, Expr),
    /// `(condition -> one : other)`.
    Conditional(Expr, Expr, Expr),
    Run {
        name: Name,
        arguments: Vec<Expr>,
    },
    Len(Reference),
    Probe(Probe, Reference),
    /// `c?[…]` and `c??[…]`.
    Poll {
        channel: Reference,
        random: bool,
        arguments: Vec<PollPattern>,
    },
    Timeout,
    Nonprogress,
    /// `P[n]@label`.
    RemoteLabel {
        name: Name,
        process: Option<Expr>,
        label: Name,
    },
    /// `P[n]:x`.
    RemoteVariable {
        name: Name,
        process: Option<Expr>,
        variable: Reference,
    },
    Enabled(Expr),
    Priority(Expr),
}

/// A pattern inside a poll, which stores nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum PollPattern {
    Variable(Reference),
    Constant(i64),
    Eval(Expr),
    Any,
}

/// Tests of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    Full,
    NotFull,
    Empty,
    NotEmpty,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Not,
    Minus,
    Complement,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

impl Binary {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
            Binary::BitAnd => "&",
            Binary::BitOr => "|",
            Binary::BitXor => "^",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::Less => "<",
            Binary::LessOrEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterOrEqual => ">=",
            Binary::And => "&&",
            Binary::Or => "||",
        }
    }
}

impl Name {
    /// A name that nobody wrote.
    pub(super) fn made(text: &str, span: Span) -> Self {
        Name { text: text.into(), span }
    }
}
