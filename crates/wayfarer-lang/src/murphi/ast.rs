//! The syntax tree of a Murphi model, as written: names are unresolved, nothing is typed, and every node has its
//! position in the text.
//!
//! The parser builds it and the elaborator reads it; nothing else needs it.

#![allow(missing_docs)] // The fields of a variant are described with the variant.

use crate::source::Span;

/// A name with its position. Identifiers are case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier as written.
    pub text: String,
    /// Its position.
    pub span: Span,
}

/// A whole model: its sections in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Declarations, functions and rules, interleaved as in the text.
    pub items: Vec<Item>,
}

/// One top-level element. Declarations may follow rules.
#[derive(Clone, Debug)]
pub enum Item {
    /// A constant, type, variable.
    Decl(Decl),
    /// A function or procedure.
    Function(Function),
    /// A rule, start state, property, or a block around some of them.
    Rule(Rule),
}

/// A declaration of a constant, a type or variables.
#[derive(Clone, Debug)]
pub enum Decl {
    /// `const name : value`.
    Const { name: Name, value: Expr },
    /// `type name : type`.
    Type { name: Name, ty: TypeExpr },
    /// `var a, b : type`.
    Var { names: Vec<Name>, ty: TypeExpr },
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// The form.
    pub kind: TypeKind,
    /// Its position.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A type's name (`boolean` included).
    Named(String),
    /// `low .. high`.
    Range(Box<Expr>, Box<Expr>),
    /// `enum { a, b }`.
    Enum(Vec<Name>),
    /// `scalarset(n)`.
    Scalarset(Box<Expr>),
    /// `union { a, b, enum { c } }`.
    Union(Vec<TypeExpr>),
    /// `record … end`.
    Record(Vec<Field>),
    /// `array [index] of element`.
    Array(Box<TypeExpr>, Box<TypeExpr>),
    /// `multiset [n] of element`.
    Multiset(Box<Expr>, Box<TypeExpr>),
    /// `real(digits, exponent)`.
    Real(Box<Expr>, Box<Expr>),
}

/// One line of a record: several names may share a type.
#[derive(Clone, Debug)]
pub struct Field {
    /// The fields' names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: TypeExpr,
}

/// A function (with a result type) or procedure (without).
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// The result type, for a function.
    pub result: Option<TypeExpr>,
    /// Local constants, types and variables.
    pub decls: Vec<Decl>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// From its keyword to its end.
    pub span: Span,
}

/// A group of parameters that share a type.
#[derive(Clone, Debug)]
pub struct Param {
    /// The names.
    pub names: Vec<Name>,
    /// Their type; a `var` parameter may leave it out in no dialect.
    pub ty: TypeExpr,
    /// Whether the callee writes through it.
    pub by_reference: bool,
}

/// Rules and the blocks around them.
#[derive(Clone, Debug)]
pub enum Rule {
    /// `rule "name" guard ==> … end`.
    Simple(SimpleRule),
    /// `startstate "name" … end`.
    Start(StartState),
    /// `invariant`, `assume`, `cover`, `liveness` at the level of rules.
    Property(Property),
    /// `ruleset i : t; j : u do … end`.
    Ruleset { quantifiers: Vec<Quantifier>, rules: Vec<Rule>, span: Span },
    /// `alias a : x; b : y do … end` around rules.
    Alias { aliases: Vec<Alias>, rules: Vec<Rule>, span: Span },
    /// `choose i : multiset do … end`.
    Choose { name: Name, bag: Expr, rules: Vec<Rule>, span: Span },
    /// Declarations inside a ruleset or alias block are not Murphi, but interleaved sections end up here.
    Decl(Decl),
}

/// A guarded command.
#[derive(Clone, Debug)]
pub struct SimpleRule {
    /// CMurphi's priority (`rule 20 "name"`), if one is written; absent means 0. If several rules are enabled, only
    /// those of the smallest number fire.
    pub priority: Option<Priority>,
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// Its guard; absent means true.
    pub guard: Option<Expr>,
    /// Local declarations.
    pub decls: Vec<Decl>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// From its keyword to its end.
    pub span: Span,
}

/// The priority of a rule, with its position so that it can be refused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// The number as written.
    pub value: i64,
    /// Its position.
    pub span: Span,
}

/// A start state.
#[derive(Clone, Debug)]
pub struct StartState {
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// Local declarations.
    pub decls: Vec<Decl>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// From its keyword to its end.
    pub span: Span,
}

/// The kind of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Must hold in every reachable state.
    Invariant,
    /// States that violate it are left out of the exploration.
    Assume,
    /// Some reachable state must satisfy it.
    Cover,
    /// Parsed so that it can be refused with its position.
    Liveness,
}

/// A property at the level of rules.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its kind.
    pub kind: PropertyKind,
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// The condition.
    pub condition: Expr,
    /// From its keyword to its end.
    pub span: Span,
}

/// A string literal, escapes resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text between the quotes.
    pub text: String,
    /// Its position, quotes included.
    pub span: Span,
}

/// `name : expression`.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// The place or value that it stands for.
    pub target: Expr,
}

/// A bound variable with its domain.
#[derive(Clone, Debug)]
pub struct Quantifier {
    /// The variable.
    pub name: Name,
    /// The values that it ranges over.
    pub domain: Domain,
}

/// The domain of a bound variable.
#[derive(Clone, Debug)]
pub enum Domain {
    /// `i : type`.
    Type(TypeExpr),
    /// `i := low to high by step`.
    Range { from: Expr, to: Expr, by: Option<Expr> },
}

/// A statement with its position.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The form.
    pub kind: StmtKind,
    /// Its position.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `place := value`.
    Assign { to: Expr, value: Expr },
    /// `if … then … elsif … else … end`: conditions with their branches, then the `else` branch.
    If { branches: Vec<(Expr, Vec<Stmt>)>, otherwise: Option<Vec<Stmt>> },
    /// `switch e case a, b: … else … end`.
    Switch { subject: Expr, cases: Vec<(Vec<Expr>, Vec<Stmt>)>, otherwise: Option<Vec<Stmt>> },
    /// `for i : t; j : u do … end`.
    For { quantifiers: Vec<Quantifier>, body: Vec<Stmt> },
    /// `while e do … end`.
    While { condition: Expr, body: Vec<Stmt> },
    /// `alias a : x do … end`.
    Alias { aliases: Vec<Alias>, body: Vec<Stmt> },
    /// `name(arguments)`.
    Call { function: Name, arguments: Vec<Expr> },
    /// `clear place`.
    Clear(Expr),
    /// `undefine place`.
    Undefine(Expr),
    /// `return e`.
    Return(Option<Expr>),
    /// `assert e "message"`; an `invariant` inside a rule means the same.
    Assert { condition: Expr, message: Option<Text> },
    /// `assume e "message"`.
    Assume { condition: Expr, message: Option<Text> },
    /// `cover e "message"`.
    Cover { condition: Expr, message: Option<Text> },
    /// `error "message"`.
    Error(Option<Text>),
    /// `put "text"` or `put e`.
    Put(PutArgument),
    /// `multisetadd(element, bag)`.
    BagAdd { element: Expr, bag: Expr },
    /// `multisetremove(index, bag)`.
    BagRemove { index: Expr, bag: Expr },
    /// `multisetremovepred(i : bag, condition)`.
    BagRemoveIf { name: Name, bag: Expr, condition: Expr },
}

/// The argument of `put`.
#[derive(Clone, Debug)]
pub enum PutArgument {
    /// A literal text.
    Text(Text),
    /// The value of an expression.
    Value(Expr),
}

/// An expression with its position.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// Its position.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A whole number that fits `i64`.
    Number(i64),
    /// A whole number above `i64::MAX`, parsed so that it can be refused with its position. Beyond 64 bits the lexer
    /// refuses.
    HugeNumber(u64),
    /// `true` and `false` are ordinary names in Murphi's grammar, resolved later; so is `undefined`.
    Name(String),
    /// `base.field`.
    Field { base: Box<Expr>, field: Name },
    /// `base[index]`.
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `name(arguments)`.
    Call { function: Name, arguments: Vec<Expr> },
    /// Prefix operators.
    Unary { op: UnaryOp, operand: Box<Expr> },
    /// Infix operators that are not chains.
    Binary { op: BinaryOp, left: Box<Expr>, right: Box<Expr> },
    /// `a & b & c`, flattened; two or more operands, all of the same operator, in order.
    Chain { op: ChainOp, operands: Vec<Expr> },
    /// `c ? a : b`.
    Conditional { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `forall` and `exists`.
    Quantified { universal: bool, quantifiers: Vec<Quantifier>, body: Box<Expr> },
    /// `isundefined(place)`.
    IsUndefined(Box<Expr>),
    /// `ismember(value, type)`.
    IsMember { value: Box<Expr>, ty: Box<TypeExpr> },
    /// `multisetcount(i : bag, condition)`.
    BagCount { name: Name, bag: Box<Expr>, condition: Box<Expr> },
    /// A parenthesised expression, kept so that precedence warnings can tell.
    Parenthesised(Box<Expr>),
    /// `1.5`, parsed so that it can be refused with its position.
    Real(String),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`, which binds looser than comparison.
    Not,
    /// `-`.
    Negate,
    /// `+`.
    Plus,
    /// `~`, bitwise complement.
    Complement,
}

/// Infix operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `->`.
    Implies,
    /// `=` or `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `-`.
    Subtract,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `^`.
    Xor,
}

/// Operators whose chains are flattened, so that long ones do not nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOp {
    /// `&` or `&&`: logical on booleans, bitwise on numbers (`&` alone).
    And,
    /// `|` or `||`: likewise.
    Or,
    /// `+`.
    Add,
    /// `*`.
    Multiply,
}
