//! The typed core: what a specification is once names are resolved and everything has a sort. Languages are lowered to it.
//!
//! Numbers of all four sorts share one representation, so a conversion between them costs nothing and has no node of its own.

use num_bigint::BigInt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);

            impl $name {
                /// The index into the table it numbers.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// A sort.
    SortId
    /// A constructor, a mapping, a projection or a recogniser.
    FunctionId
    /// A variable; every binder has variables of its own.
    VariableId
    /// An action of one name and one list of argument sorts.
    ActionId
    /// A process.
    ProcessId
}

/// A place in the source text, as the language that made the specification counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A sort.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Truth values.
    Boolean,
    /// Positive integers.
    Positive,
    /// Integers from 0.
    Natural,
    /// Integers.
    Integer,
    /// Rational numbers.
    Real,
    /// Lists.
    List(SortId),
    /// Sets, finite or not.
    Set(SortId),
    /// Bags.
    Bag(SortId),
    /// Functions.
    Function(Vec<SortId>, SortId),
    /// A sort with constructors, or without any if it is abstract.
    Data {
        /// Its name.
        name: String,
        /// Its constructors in the order of the sort.
        constructors: Vec<FunctionId>,
    },
}

/// A function symbol.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The sorts of its arguments, those of curried applications one after another.
    pub arguments: Vec<SortId>,
    /// How many of these it takes in its first application.
    pub first: usize,
    /// The sort of its full application.
    pub result: SortId,
}

/// The role of a function symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A constructor, with its number in the sort.
    Constructor(u32),
    /// Defined by equations, if at all.
    Map,
    /// Whether a value is made by this constructor.
    Recogniser(FunctionId),
    /// The argument at this place of whichever of these constructors made the value.
    Projection(Vec<(FunctionId, usize)>),
}

/// Built-in operations on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operation {
    Not,
    And,
    Or,
    Implies,
    If,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Quotient,
    Remainder,
    Power,
    Successor,
    Predecessor,
    Absolute,
    Minimum,
    Maximum,
    Floor,
    Ceiling,
    Round,
    SquareRoot,
    /// A conversion to a smaller sort of numbers, which has no value for other numbers.
    ToPositive,
    ToNatural,
    ToInteger,
    ToReal,
    Cons,
    Snoc,
    Concatenate,
    Size,
    At,
    Head,
    Tail,
    LastElement,
    AllButLast,
    /// Membership in a list, set or bag.
    Member,
    Count,
    Union,
    Difference,
    Intersection,
    /// The complement of a set over elements of this sort.
    Complement(SortId),
    /// Subset and proper subset.
    Subset,
    ProperSubset,
    /// Union, difference and intersection of bags.
    BagUnion,
    BagDifference,
    BagIntersection,
    SetToBag,
    BagToSet,
    /// A set of the given elements.
    SetOf,
    /// A bag of the given elements, each followed by its number.
    BagOf,
    /// A list of the given elements.
    ListOf,
    /// The argument at a place of a constructor; it has no value for other constructors.
    Part(FunctionId, u32),
    /// A function with one place changed.
    Update,
    /// A value applied to arguments.
    Apply,
}

/// A data expression.
#[derive(Clone, Debug)]
pub enum Term {
    /// A variable.
    Variable(VariableId),
    /// A truth value.
    Boolean(bool),
    /// An integer.
    Number(BigInt),
    /// A value that is already known.
    Value(crate::Value),
    /// A function with arguments, those of curried applications one after another; possibly fewer than it takes.
    Call(FunctionId, Vec<Term>),
    /// A built-in operation.
    Operation(Operation, Vec<Term>),
    /// A value of a function sort applied to arguments.
    Apply(Box<Term>, Vec<Term>),
    /// A function by its value.
    Lambda(Vec<VariableId>, Box<Term>),
    /// A universal or existential quantifier.
    Quantified {
        /// Whether it is universal.
        forall: bool,
        /// The variables.
        variables: Vec<VariableId>,
        /// The body.
        body: Box<Term>,
    },
    /// A set or bag by a condition or a number for each element.
    Comprehension {
        /// Whether it is a bag.
        bag: bool,
        /// The element.
        variable: VariableId,
        /// The condition or the number.
        body: Box<Term>,
    },
    /// Abbreviations and what they are used in.
    Where(Vec<(VariableId, Term)>, Box<Term>),
}

impl Term {
    /// Adds all variables that occur in it and are not bound in it.
    pub fn add_free(&self, variables: &mut Vec<VariableId>) {
        crate::code::free(self, variables);
    }
}

/// A conditional equation, read from left to right.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The function it rewrites.
    pub function: FunctionId,
    /// The patterns of its arguments, those of curried applications one after another.
    pub patterns: Vec<Term>,
    /// When it may be used.
    pub condition: Option<Term>,
    /// The result.
    pub right: Term,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its sort.
    pub sort: SortId,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// The sorts of its arguments.
    pub arguments: Vec<SortId>,
}

/// A process equation.
#[derive(Clone, Debug)]
pub struct ProcessDefinition {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<VariableId>,
    /// Its body.
    pub body: Process,
    /// Its position in the text.
    pub place: Place,
}

/// A process expression and its place.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its kind.
    pub kind: ProcessKind,
    /// Its position in the text.
    pub place: Place,
}

/// The kinds of process expressions.
#[derive(Clone, Debug)]
pub enum ProcessKind {
    /// Nothing happens.
    Delta,
    /// A multi-action; without actions it is `tau`.
    Actions(Vec<(ActionId, Vec<Term>)>),
    /// A process with arguments.
    Call(ProcessId, Vec<Term>),
    /// A choice.
    Choice(Vec<Process>),
    /// A choice over all values of variables.
    Sum(Vec<VariableId>, Box<Process>),
    /// A condition, with what happens if it is true and if it is false.
    If(Term, Box<Process>, Box<Process>),
    /// One after another.
    Sequence(Vec<Process>),
    /// At the same time.
    Parallel(Vec<Process>),
    /// Without actions of these names.
    Block(Vec<String>, Box<Process>),
    /// With actions of these names hidden.
    Hide(Vec<String>, Box<Process>),
    /// With multi-actions of these names only.
    Allow(Vec<Vec<String>>, Box<Process>),
    /// With actions renamed.
    Rename(Vec<(String, String)>, Box<Process>),
    /// With actions that happen at the same time joined.
    Communicate(Vec<(Vec<String>, String)>, Box<Process>),
}

/// A typed specification.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Sorts.
    pub sorts: Vec<Sort>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Variables of all binders.
    pub variables: Vec<Variable>,
    /// Equations in the order of the text.
    pub equations: Vec<Equation>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Processes.
    pub processes: Vec<ProcessDefinition>,
    /// The initial process.
    pub initial: Option<Process>,
}
