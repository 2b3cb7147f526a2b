//! Generated models as a typed tree. The printer writes it as Murphi, and the naive explorer runs it directly: they
//! are independent.

/// A position in [`Model::types`].
pub(crate) type TypeId = usize;
/// A position in the `locals` of the unit (block of rules, function or property) that binds it.
pub(crate) type LocalId = usize;
/// A position in [`Model::functions`].
pub(crate) type FunctionId = usize;

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) constants: Vec<(String, i64)>,
    pub(crate) types: Vec<TypeDecl>,
    pub(crate) globals: Vec<(String, TypeId)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) units: Vec<Unit>,
}

#[derive(Clone, Debug)]
pub(crate) struct TypeDecl {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Whether it is written at its use instead of declared under its name.
    pub(crate) inline: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Boolean,
    Range(i64, i64),
    Enum(Vec<String>),
    Scalarset(i64),
    /// A union of enums and scalarsets.
    Union(Vec<TypeId>),
    Record(Vec<(String, TypeId)>),
    Array(TypeId, TypeId),
    Bag(usize, TypeId),
}

impl Type {
    pub(crate) fn is_simple(&self) -> bool {
        !matches!(self, Type::Record(_) | Type::Array(..) | Type::Bag(..))
    }

    /// Whether it has too many values to enumerate.
    pub(crate) fn is_wide(&self) -> bool {
        matches!(self, Type::Range(low, high) if high - low > 16)
    }
}

/// The meaning of a local name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LocalType {
    /// A number without bounds: the variable of `i := 1 to 3`.
    Number,
    Of(TypeId),
    /// A position in a bag of this type.
    Slot(TypeId),
}

#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: LocalType,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) local: LocalId,
    pub(crate) by_reference: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) locals: Vec<Local>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Option<TypeId>,
    /// Whether it writes only its own locals, so that it may be called in any expression.
    pub(crate) pure: bool,
    pub(crate) variables: Vec<LocalId>,
    pub(crate) body: Vec<Stmt>,
}

/// A block at the level of rules, with the names bound in it.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) locals: Vec<Local>,
    pub(crate) block: Block,
}

#[derive(Clone, Debug)]
pub(crate) enum Block {
    Ruleset(Vec<(LocalId, Domain)>, Vec<Block>),
    Alias(LocalId, Place, Vec<Block>),
    Choose(LocalId, Place, Vec<Block>),
    Rule { name: String, guard: Option<Expr>, variables: Vec<LocalId>, body: Vec<Stmt> },
    Start { name: String, variables: Vec<LocalId>, body: Vec<Stmt> },
    Invariant { name: String, condition: Expr },
}

#[derive(Clone, Debug)]
pub(crate) enum Domain {
    Type(TypeId),
    Span(Box<Expr>, Box<Expr>, i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) root: Root,
    pub(crate) path: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Root {
    Global(usize),
    Local(LocalId),
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Field(usize),
    Index(Box<Expr>),
    Slot(LocalId),
}

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Value(Expr),
    /// An object, by value or by reference as the parameter says.
    Place(Place),
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    Boolean(bool),
    Constant(usize),
    Member(TypeId, usize),
    Read(Place),
    Negate(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// Whether two records or arrays are equal, or (false) differ.
    Same(bool, Place, Place),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantified {
        all: bool,
        binders: Vec<(LocalId, Domain)>,
        body: Box<Expr>,
    },
    IsUndefined(Place),
    IsMember(Box<Expr>, TypeId),
    Count(LocalId, Place, Box<Expr>),
    Call(FunctionId, Vec<Argument>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Assign(Place, Expr),
    /// Between objects of one type: records, arrays, bags.
    Copy(Place, Place),
    If(Vec<(Expr, Vec<Stmt>)>, Option<Vec<Stmt>>),
    Switch(Expr, Vec<(Vec<Expr>, Vec<Stmt>)>, Option<Vec<Stmt>>),
    For(Vec<(LocalId, Domain)>, Vec<Stmt>),
    /// `counter := 0; while counter < rounds & condition do …; counter := counter + 1 end`.
    While {
        counter: LocalId,
        rounds: i64,
        condition: Expr,
        body: Vec<Stmt>,
    },
    Alias(Vec<(LocalId, Place)>, Vec<Stmt>),
    Call(FunctionId, Vec<Argument>),
    Clear(Place),
    Undefine(Place),
    Return(Option<Argument>),
    /// From a function whose result is an object.
    CopyResult(Place, FunctionId, Vec<Argument>),
    Assert(Expr, String),
    Error(String),
    Put(Expr),
    BagAdd(Argument, Place),
    BagRemove(LocalId, Place),
    BagRemoveIf(LocalId, Place, Expr),
}
