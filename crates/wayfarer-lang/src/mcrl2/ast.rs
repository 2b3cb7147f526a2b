//! An mCRL2 specification as it is written: names are not resolved, and nothing has a sort yet.

use crate::source::Span;

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its position in the text.
    pub span: Span,
}

/// All parts of a specification, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Sorts.
    pub sorts: Vec<SortDeclaration>,
    /// Constructors outside of structured sorts.
    pub constructors: Vec<FunctionDeclaration>,
    /// Mappings.
    pub maps: Vec<FunctionDeclaration>,
    /// Equations with the variables of their section.
    pub equations: Vec<Equations>,
    /// Global variables.
    pub globals: Vec<Variables>,
    /// Actions.
    pub actions: Vec<ActionDeclaration>,
    /// Processes.
    pub processes: Vec<ProcessDeclaration>,
    /// The initial process.
    pub init: Option<Process>,
}

/// A sort's name, with its meaning if it is an alias.
#[derive(Clone, Debug)]
pub struct SortDeclaration {
    /// The name.
    pub name: Name,
    /// The sort it stands for.
    pub meaning: Option<Sort>,
}

/// Functions of one sort.
#[derive(Clone, Debug)]
pub struct FunctionDeclaration {
    /// Their names.
    pub names: Vec<Name>,
    /// Their sort.
    pub sort: Sort,
}

/// Variables of one sort.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Their names.
    pub names: Vec<Name>,
    /// Their sort.
    pub sort: Sort,
}

/// A section of equations.
#[derive(Clone, Debug)]
pub struct Equations {
    /// The variables of the section.
    pub variables: Vec<Variables>,
    /// The equations.
    pub list: Vec<Equation>,
}

/// An equation.
#[derive(Clone, Debug)]
pub struct Equation {
    /// When it may be used.
    pub condition: Option<Expression>,
    /// The left side, which is rewritten.
    pub left: Expression,
    /// The right side, to which the left side is rewritten.
    pub right: Expression,
    /// The whole equation.
    pub span: Span,
}

/// Actions of one sort.
#[derive(Clone, Debug)]
pub struct ActionDeclaration {
    /// Their names.
    pub names: Vec<Name>,
    /// The sorts of their arguments.
    pub sorts: Vec<Sort>,
}

/// A process equation.
#[derive(Clone, Debug)]
pub struct ProcessDeclaration {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub parameters: Vec<Variables>,
    /// The body.
    pub body: Process,
}

/// A sort expression and its place.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Its kind.
    pub kind: SortKind,
    /// Its position in the text.
    pub span: Span,
}

/// The kinds of sort expressions.
#[derive(Clone, Debug)]
pub enum SortKind {
    /// A name, those of built-in sorts included.
    Named(String),
    /// `List(S)`, `Set(S)`, `Bag(S)`, `FSet(S)` or `FBag(S)`.
    Container(String, Box<Sort>),
    /// A structured sort.
    Struct(Vec<Constructor>),
    /// A function sort.
    Function(Vec<Sort>, Box<Sort>),
}

/// A constructor of a structured sort.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// Its name.
    pub name: Name,
    /// Its arguments, with the names of their projections.
    pub arguments: Vec<(Option<Name>, Sort)>,
    /// The name of its recogniser.
    pub recogniser: Option<Name>,
}

/// A data expression and its place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its position in the text.
    pub span: Span,
}

/// The kinds of data expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A name.
    Name(String),
    /// A number in decimal digits.
    Number(String),
    /// A list of elements.
    List(Vec<Expression>),
    /// A set of elements.
    Set(Vec<Expression>),
    /// A bag of elements with their numbers.
    Bag(Vec<(Expression, Expression)>),
    /// `{ x: S | e }`.
    Comprehension(Box<Variables>, Box<Expression>),
    /// A function applied to arguments.
    Apply(Box<Expression>, Vec<Expression>),
    /// `f[x -> y]`.
    Update(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `!`, `-` or `#` before an expression.
    Unary(&'static str, Box<Expression>),
    /// An operator between two expressions.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `forall`, `exists` or `lambda`.
    Binder(Binder, Vec<Variables>, Box<Expression>),
    /// `e whr x = d end`.
    Where(Box<Expression>, Vec<(Name, Expression)>),
}

/// An operator that binds variables in data expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    /// `forall`.
    Forall,
    /// `exists`.
    Exists,
    /// `lambda`.
    Lambda,
}

/// A process expression and its place.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its kind.
    pub kind: ProcessKind,
    /// Its position in the text.
    pub span: Span,
}

/// The kinds of process expressions.
#[derive(Clone, Debug)]
pub enum ProcessKind {
    /// `delta`.
    Delta,
    /// `tau`.
    Tau,
    /// An action or a process with arguments.
    Apply(Name, Vec<Expression>),
    /// A process with some of its parameters assigned anew.
    Assign(Name, Vec<(Name, Expression)>),
    /// `p + q + ...`.
    Choice(Vec<Process>),
    /// `sum x: S. p`.
    Sum(Vec<Variables>, Box<Process>),
    /// `c -> p <> q`.
    If(Box<Expression>, Box<Process>, Option<Box<Process>>),
    /// `p . q . ...`.
    Sequence(Vec<Process>),
    /// `a | b | ...`.
    Multi(Vec<Process>),
    /// `p || q || ...`.
    Parallel(Vec<Process>),
    /// `block(B, p)`.
    Block(Vec<Name>, Box<Process>),
    /// `hide(I, p)`.
    Hide(Vec<Name>, Box<Process>),
    /// `allow(V, p)`.
    Allow(Vec<Vec<Name>>, Box<Process>),
    /// `rename(R, p)`.
    Rename(Vec<(Name, Name)>, Box<Process>),
    /// `comm(C, p)`.
    Communicate(Vec<(Vec<Name>, Name)>, Box<Process>),
}
