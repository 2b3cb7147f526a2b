//! Expressions and statements. All values are 64-bit two's complement integers; a truth value is 0 or 1, and a real
//! number is its bits.
//!
//! Evaluation is strict and from left to right, except for operators that are marked as lazy. A fault ends the whole
//! formula or command.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

use crate::real::RealOp;

/// A register of a formula, command or function: an unnamed local value. A rule's parameters and a function's value
/// parameters are its first registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A fault site in [`Program::faults`](crate::Program::faults).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaultId(pub u32);

/// A function in [`Program::functions`](crate::Program::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A type in [`Program::types`](crate::Program::types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A property in [`Program::properties`](crate::Program::properties).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyId(pub u32);

/// An expression.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Expr {
    /// A constant.
    Const(i64),
    /// The value of a register. Registers start at 0.
    Reg(Reg),
    /// The `bits` (1 to 64) at a place, zero-extended. They lie inside one word.
    Load { place: Place, bits: u8 },
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands, total: never a fault, arithmetic wraps.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Arithmetic that faults if the mathematical result does not exist or does not fit 64 bits.
    Checked { op: CheckedOp, left: Box<Expr>, right: Box<Expr>, fault: FaultId },
    /// 1 if all operands are non-zero; lazy, left to right; 1 if empty.
    All(Vec<Expr>),
    /// 1 if some operand is non-zero; lazy, left to right; 0 if empty.
    Any(Vec<Expr>),
    /// The second if the first is non-zero, otherwise the third; lazy.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value itself if it passes the test, otherwise a fault.
    Require { value: Box<Expr>, test: Test, fault: FaultId },
    /// A bounded loop that folds a value.
    Loop(Box<LoopExpr>),
    /// A function's result (0 for one without result). Costs one unit of fuel.
    Call { function: FunctionId, arguments: Vec<Argument>, fuel: FaultId },
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// 1 for 0, otherwise 0.
    Not,
    /// Two's complement negation; wraps.
    Negate,
    /// All bits flipped.
    Complement,
}

/// Total operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Wrapping sum.
    Add,
    /// Wrapping difference.
    Sub,
    /// Wrapping product.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left by the right operand's low six bits.
    Shl,
    /// Arithmetic shift right by the right operand's low six bits.
    Shr,
    /// Logical shift right by the right operand's low six bits.
    Ushr,
    /// 1 if equal.
    Eq,
    /// 1 if different.
    Ne,
    /// 1 if less, signed.
    Lt,
    /// 1 if less or equal, signed.
    Le,
    /// 1 if greater, signed.
    Gt,
    /// 1 if greater or equal, signed.
    Ge,
    /// An operator on real numbers.
    Real(RealOp),
}

/// Operators that can fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckedOp {
    /// Sum; faults on overflow.
    Add,
    /// Difference; faults on overflow.
    Sub,
    /// Product; faults on overflow.
    Mul,
    /// Quotient truncated towards zero; faults on a zero divisor and on overflow.
    Div,
    /// Remainder with the sign of the dividend; faults on a zero divisor; `MIN rem -1` is 0.
    Rem,
    /// Sum of numbers without sign; faults on overflow.
    UnsignedAdd,
    /// Difference of numbers without sign; faults if it is negative.
    UnsignedSub,
    /// Product of numbers without sign; faults on overflow.
    UnsignedMul,
    /// Quotient of numbers without sign; faults on a zero divisor.
    UnsignedDiv,
    /// Remainder of numbers without sign; faults on a zero divisor.
    UnsignedRem,
}

/// The condition on a required value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Not 0.
    NonZero,
    /// Between the two bounds, both included, signed.
    Between(i64, i64),
}

/// A loop inside an expression: `register` takes `from`, `from + by`, … while it is not past `to`. `from` and `to`
/// are evaluated once. `by` is not 0; if it is negative, the loop runs downwards. Each round costs one unit of fuel.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LoopExpr {
    /// The folding of the rounds' values.
    pub kind: LoopKind,
    /// The loop's register.
    pub register: Reg,
    /// First value.
    pub from: Expr,
    /// The last value that may be taken.
    pub to: Expr,
    /// The step.
    pub by: i64,
    /// The value of one round.
    pub body: Expr,
    /// The fault if the fuel runs out.
    pub fuel: FaultId,
}

/// The folding of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// 1 if all rounds give non-zero; stops at the first that does not.
    All,
    /// 1 if some round gives non-zero; stops there.
    Any,
    /// The wrapping sum of all rounds.
    Sum,
}

/// An argument of a call, matching the function's parameter.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Argument {
    /// For a value parameter.
    Value(Expr),
    /// For a reference parameter: the callee reads and writes there. Its indices are evaluated once, at the call.
    Place(Place),
}

/// A position in memory, in bits: `offset` plus, for each index, its value times its stride.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Place {
    /// The origin of the offset.
    pub root: Root,
    /// Constant part, in bits.
    pub offset: u32,
    /// Variable parts, evaluated from left to right.
    pub indices: Vec<Index>,
}

/// The origin of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// The state.
    State,
    /// The frame of the running command or function. Frames start zeroed.
    Frame,
    /// The n-th reference parameter of the running function.
    Reference(u32),
}

/// One variable part of a place.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Index {
    /// From 0 to `count - 1`; any other value is a fault.
    pub value: Expr,
    /// Bits from one element to the next.
    pub stride: u32,
    /// Number of elements.
    pub count: u32,
    /// The fault of a value out of bounds.
    pub fault: FaultId,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Stmt {
    /// Gives a register a value.
    Set(Reg, Expr),
    /// Writes the low `bits` (1 to 64, inside one word) of a value. The place's indices are evaluated before the value.
    Store { place: Place, bits: u8, value: Expr },
    /// Copies a run of bits: at most 64 inside one word, or whole words. The two may overlap only if they are the same.
    Copy { to: Place, from: Place, bits: u32 },
    /// Zeroes a run of bits: at most 64 inside one word, or whole words.
    Zero { place: Place, bits: u32 },
    /// Sorts `count` elements, `stride` bits apart, in descending order of their `bits` taken as one number (little
    /// end first over the words). The place has no indices beyond those given. This keeps unordered collections in
    /// one canonical order. `again` promises that the elements are in order in every state that the command is given,
    /// so that they need be sorted only if the command changed them.
    Sort { place: Place, stride: u32, count: u32, bits: u32, again: bool },
    /// The first branch whose condition is non-zero, otherwise the last block.
    If { branches: Vec<(Expr, Block)>, otherwise: Block },
    /// While the condition is non-zero; each round costs one unit of fuel.
    While { condition: Expr, body: Block, fuel: FaultId },
    /// As [`LoopExpr`], for statements. The body must not set the register.
    For { register: Reg, from: Expr, to: Expr, by: i64, body: Block, fuel: FaultId },
    /// Evaluates for its effects.
    Do(Expr),
    /// Faults if the condition is zero.
    Check { condition: Expr, fault: FaultId },
    /// Ends with a fault.
    Fault(FaultId),
    /// The firing is not a step after all: an assumption of the model fails.
    Discard,
    /// Records that a `Reachable` property was reached.
    Cover(PropertyId),
    /// Ends the command, or the function with its result.
    Return(Option<Expr>),
    /// Output of a simulation; a search ignores it, and evaluates nothing of it.
    Print(Vec<PrintItem>),
}

/// A piece of printed output.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum PrintItem {
    /// Literal text.
    Text(String),
    /// A value of a scalar type in its *stored* form (0 is undefined if the type has that).
    Value(Expr, TypeId),
    /// The value at a place.
    Place(Place, TypeId),
}
