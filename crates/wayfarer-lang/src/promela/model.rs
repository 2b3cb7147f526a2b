//! A model with its names resolved: variables taken apart into arrays of scalars, statements as they are executed, and an automaton for each
//! process type.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

pub use super::ast::{Binary, Probe, Unary};
use super::flow::Automaton;
use crate::source::Span;
use std::sync::Arc;
use wayfarer_ir::At;

/// A resolved model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The file it came from.
    pub source: String,
    /// Names of `mtype` values by kind; value 1 is the first.
    pub mtypes: Vec<Vec<String>>,
    pub leaves: Vec<Leaf>,
    /// Global variables in the order in which they get their first values.
    pub globals: Vec<LeafId>,
    pub types: Vec<ProcessType>,
    pub channels: Vec<ChannelType>,
    /// Processes that run at the start.
    pub active: Vec<(usize, At)>,
    /// Claims that are read and not judged, in words.
    pub claims: Vec<String>,
    /// The goal of the search, if there is one: a condition on states, and its text.
    pub find: Option<(Value, String)>,
    /// Whether `timeout` occurs.
    pub has_timeout: bool,
}

/// An array of scalars: a variable, or a field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafId(pub u32);

/// An array of scalars, all of one type, with one number of elements for each index that leads to one.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub name: String,
    /// The process type whose processes have one each; none for a global variable.
    pub owner: Option<usize>,
    pub ty: Scalar,
    pub dimensions: Vec<u32>,
    /// The first of its cells among those of its owner.
    pub cell: u32,
    /// It is no part of the state.
    pub hidden: bool,
    /// Its value may be asked for.
    pub read: bool,
    /// Something other than its first value may be stored there.
    pub written: bool,
    pub initial: Start,
    pub at: At,
}

/// How a variable begins.
#[derive(Clone, Debug)]
pub enum Start {
    /// At zero.
    Zero,
    /// All elements with this value.
    Value(Value),
    /// The elements with these; the last one goes on beyond.
    List(Vec<Value>),
    /// Each element with a new channel.
    Channel(usize),
    /// With an argument of `run`.
    Parameter(usize),
}

/// Types of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// One bit; `true` where it is written as a truth value.
    Bit(bool),
    Byte,
    Pid,
    Short,
    Int,
    Unsigned(u8),
    /// The kind's number.
    Mtype(u32),
    Chan,
}

/// A kind of channels: each initialiser is one.
#[derive(Clone, Debug)]
pub struct ChannelType {
    pub name: String,
    pub capacity: u32,
    pub fields: Vec<Scalar>,
    /// How many are made where the initialiser stands: one for each element of an array.
    pub count: u32,
    pub owner: Option<usize>,
}

/// A process type.
#[derive(Clone, Debug)]
pub struct ProcessType {
    pub name: String,
    /// Its parameters first, then its other variables.
    pub leaves: Vec<LeafId>,
    pub cells: u32,
    pub parameters: usize,
    pub provided: Option<Value>,
    pub automaton: Automaton,
    pub at: At,
}

/// A scalar variable.
#[derive(Clone, Debug)]
pub struct Place {
    pub leaf: LeafId,
    /// One for each dimension of the leaf.
    pub indices: Vec<Value>,
    pub at: At,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Value {
    Constant(i64),
    Load(Place),
    Unary(Unary, Box<Value>),
    Binary(Binary, Box<Value>, Box<Value>, At),
    Conditional(Box<Value>, Box<Value>, Box<Value>),
    Len(Place),
    Probe(Probe, Place),
    Poll {
        channel: Place,
        random: bool,
        fields: Vec<Match>,
    },
    Timeout,
    Pid,
    Processes,
    /// The number of the process that the statement creates.
    Created,
    RemoteLabel {
        ty: usize,
        process: Option<Box<Value>>,
        label: Arc<str>,
    },
    RemoteLoad {
        ty: usize,
        process: Option<Box<Value>>,
        place: Place,
    },
}

impl Value {
    /// The same for a created process of this number. A `run` stands below operators only.
    pub fn with_created(&self, number: i64) -> Value {
        match self {
            Value::Created => Value::Constant(number),
            Value::Unary(op, value) => Value::Unary(*op, Box::new(value.with_created(number))),
            Value::Binary(op, left, right, at) => Value::Binary(*op, Box::new(left.with_created(number)), Box::new(right.with_created(number)), *at),
            other => other.clone(),
        }
    }
}

/// The use of a received field.
#[derive(Clone, Debug)]
pub enum Match {
    Store(Place),
    Equal(Value),
    Any,
}

/// A basic statement.
#[derive(Clone, Debug)]
pub struct Act {
    pub kind: ActKind,
    pub at: At,
    pub text: Arc<str>,
}

/// Kinds of basic statements.
#[derive(Clone, Debug)]
pub enum ActKind {
    /// `skip`, or a jump.
    Skip,
    Condition(Value),
    Else,
    Assign(Place, Value),
    Send {
        channel: Place,
        sorted: bool,
        values: Vec<Value>,
    },
    Receive {
        channel: Place,
        random: bool,
        keep: bool,
        fields: Vec<Match>,
    },
    Assert(Value),
    /// `run` as a statement, or in the value of an assignment.
    Run {
        ty: usize,
        arguments: Vec<Value>,
        at: At,
        result: Option<Box<(Place, Value)>>,
    },
    Print(Vec<PrintPart>),
    /// A `d_step`.
    Indivisible(Arc<Vec<Node>>),
    /// The end of the process.
    End,
}

/// A piece of what `printf` prints.
#[derive(Clone, Debug)]
pub enum PrintPart {
    Text(String),
    Number(Value),
    Unsigned(Value),
    Hexadecimal(Value),
    Octal(Value),
    Character(Value),
    /// `%e` and `printm`: a name of an `mtype`; the kind's number.
    Name(Value, u32),
}

/// A statement of a structured sequence, with its labels.
#[derive(Clone, Debug)]
pub struct Node {
    pub labels: Vec<JumpLabel>,
    pub tree: Tree,
    pub span: Span,
    pub at: At,
}

/// A label: its name and the expansion of an inline in which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpLabel {
    pub name: Arc<str>,
    pub expansion: u32,
    pub span: Span,
}

/// Structured statements.
#[derive(Clone, Debug)]
pub enum Tree {
    Act(Act),
    If(Vec<Vec<Node>>),
    Do(Vec<Vec<Node>>),
    Atomic(Vec<Node>),
    Indivisible(Arc<Vec<Node>>, Arc<str>),
    Block(Vec<Node>),
    Unless(Vec<Node>, Vec<Node>),
    Break,
    Goto(JumpLabel),
}

impl Scalar {
    /// The least and the largest value.
    pub fn range(self) -> (i64, i64) {
        match self {
            Scalar::Bit(_) => (0, 1),
            Scalar::Byte | Scalar::Pid | Scalar::Mtype(_) | Scalar::Chan => (0, 255),
            Scalar::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Scalar::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Scalar::Unsigned(bits) => (0, (1i64 << bits.min(32)) - 1),
        }
    }

    /// The value that a variable of the type has after this one was stored in it.
    pub fn wrap(self, value: i64) -> i64 {
        match self {
            Scalar::Bit(_) => value & 1,
            Scalar::Byte | Scalar::Pid | Scalar::Mtype(_) | Scalar::Chan => value & 255,
            Scalar::Short => i64::from(value as i16),
            Scalar::Int => i64::from(value as i32),
            Scalar::Unsigned(bits) => value & ((1i64 << bits.min(32)) - 1),
        }
    }
}

impl Leaf {
    /// Whether it is hidden and nobody asks for its value, so that nothing need be stored.
    pub fn is_ignored(&self) -> bool {
        self.hidden && !self.read
    }

    /// How many scalars it has.
    pub fn cells(&self) -> u32 {
        self.dimensions.iter().product()
    }
}

impl Model {
    pub fn leaf(&self, id: LeafId) -> &Leaf {
        &self.leaves[id.0 as usize]
    }

    /// Whether receiving from a channel that is gone is a fault. As in SPIN, it is if some channel is a rendezvous; otherwise the channel looks empty.
    pub fn notices_receiving_from_gone(&self) -> bool {
        self.channels.iter().any(|channel| channel.capacity == 0)
    }

    /// How many cells all global variables have.
    pub fn global_cells(&self) -> u32 {
        self.globals.iter().map(|id| self.leaf(*id).cells()).sum()
    }
}
