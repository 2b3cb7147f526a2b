//! From a model and what was learned of it to a program of the IR.
//!
//! Every slot has a field for the process in it and its control state, and fields for the variables of the process types that may run there. Each
//! transition of each process type in each slot is a rule; a rendezvous is one rule for both sides.

mod acts;
mod blocks;
mod chains;
mod channels;
mod follow;
mod jumps;
mod layout;
mod rules;
mod values;

use super::learned::{Learned, Limit};
use super::model::Model;
use chains::Chains;
use layout::Layout;
use std::collections::HashMap;
use std::rc::Rc;
use wayfarer_ir::{At, BinaryOp, Expr, FaultId, FaultKind, FaultSite, Place, Program, Property, PropertyKind, Reg, Root, Stmt, UnaryOp};
use wayfarer_space::FaultClass;

/// A compiled model with the limits it may meet.
pub struct Lowered {
    /// The program; it is verified.
    pub program: Program,
    /// The limit behind each fault of class *limit*.
    pub limits: HashMap<u32, Limit>,
    /// Which process and transition a rule belongs to.
    pub rules: Vec<RuleOf>,
}

/// The transition that a rule takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleOf {
    /// The slot of the process that moves, or sends.
    pub slot: usize,
    /// Its type.
    pub ty: usize,
    /// The line of its statement.
    pub line: u32,
    /// The receiver of a rendezvous: its slot, its type, and the line of its statement.
    pub partner: Option<(usize, usize, u32)>,
    /// Whether the process may go on alone there, so that the rule fires on the way to a state.
    pub passed: bool,
    /// The numbers of the statements that it begins with: one, or two that meet. None where it only reports.
    pub begins: Vec<u32>,
    /// The numbers of those that it may execute after them.
    pub follow: Vec<u32>,
}

/// Compiles a model; an error says what is too large.
pub fn lower(model: &Model, learned: &Learned) -> Result<Lowered, String> {
    lower_as(model, learned, false)
}

/// Compiles a model to the same rules, whose commands print the statements that they execute, one after the other.
pub fn lower_telling(model: &Model, learned: &Learned) -> Result<Lowered, String> {
    lower_as(model, learned, true)
}

fn lower_as(model: &Model, learned: &Learned, telling: bool) -> Result<Lowered, String> {
    let mut program = Program { source: model.source.clone(), ..Program::default() };
    let chains = Chains::new(model, learned);
    let layout = Layout::new(model, learned, &chains, &mut program)?;
    let mut lowering = Lowering {
        model,
        learned,
        layout,
        program,
        limits: HashMap::new(),
        sites: HashMap::new(),
        rules: Vec::new(),
        statements: HashMap::new(),
        registers: 0,
        chains: Rc::new(chains),
        asserted: Vec::new(),
        failures: Vec::new(),
        pending: None,
        telling,
        lenient: false,
    };
    lowering.rules()?;
    lowering.find();
    let Lowering { program, limits, rules, .. } = lowering;
    let errors = wayfarer_ir::verify(&program);
    match errors.first() {
        Some(error) => Err(format!("the model cannot be represented: {error}")),
        None => Ok(Lowered { program, limits, rules }),
    }
}

/// The assertions of a command that is being written.
struct Pending {
    /// The number of the assertion that failed first, plus one.
    register: Reg,
    /// The numbers of its assertions.
    failed: Vec<usize>,
    /// Whether its process may go on alone, or lose control, after it.
    ends: [bool; 2],
}

struct Lowering<'a> {
    model: &'a Model,
    learned: &'a Learned,
    layout: Layout,
    program: Program,
    limits: HashMap<u32, Limit>,
    sites: HashMap<(FaultClass, String, At), FaultId>,
    rules: Vec<RuleOf>,
    /// The numbers of statements, by slot and transition.
    statements: HashMap<(usize, *const super::flow::Transition), u32>,
    /// Registers of the formula or command that is being written.
    registers: u32,
    /// The continuation of each transition in the same command.
    chains: Rc<Chains<'a>>,
    /// Assertions that may fail in the middle of a command.
    asserted: Vec<FaultId>,
    /// Those that may fail, and the type of the process.
    failures: Vec<(follow::Failure, usize)>,
    /// The register that says which of them failed first in the command that is being written.
    pending: Option<Pending>,
    /// Commands print the statements that they execute, and nothing else.
    telling: bool,
    /// Variables of a process that is not there are zero, and no fault.
    lenient: bool,
}

/// Whose statement is being written.
#[derive(Clone, Copy, Debug)]
struct Here {
    slot: usize,
    ty: usize,
    /// The value of `timeout`.
    timeout: bool,
}

/// An expression and the range of its values.
#[derive(Clone, Debug)]
struct Ranged {
    expr: Expr,
    low: i64,
    high: i64,
}

impl Lowering<'_> {
    /// Adds what is looked for.
    fn find(&mut self) {
        let Some((value, text)) = &self.model.find else { return };
        self.registers = 0;
        self.lenient = true;
        let condition = self.truth(Here { slot: 0, ty: 0, timeout: false }, value);
        self.lenient = false;
        let property = Property {
            name: text.clone(),
            kind: PropertyKind::Reachable,
            registers: self.registers,
            conjuncts: vec![(At::default(), condition)],
            at: At::default(),
        };
        self.program.properties.push(property);
    }

    fn fault(&mut self, class: FaultClass, kind: FaultKind, message: String, at: At) -> FaultId {
        let next = FaultId(self.program.faults.len() as u32);
        let key = (class, message.clone(), at);
        let id = *self.sites.entry(key).or_insert(next);
        if id == next {
            self.program.faults.push(FaultSite { class, kind, message, at });
        }
        id
    }

    /// The fault of meeting a limit.
    fn limit(&mut self, limit: Limit, message: String) -> FaultId {
        let id = self.fault(FaultClass::Limit, FaultKind::Range, message, At::default());
        self.limits.insert(id.0, limit);
        id
    }

    fn register(&mut self) -> Reg {
        self.registers += 1;
        Reg(self.registers - 1)
    }
}

/// A field of the state at a fixed place.
fn field(offset: u32, bits: u8) -> Expr {
    Expr::Load { place: fixed(offset), bits }
}

fn fixed(offset: u32) -> Place {
    Place { root: Root::State, offset, indices: Vec::new() }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn equal(left: Expr, right: i64) -> Expr {
    binary(BinaryOp::Eq, left, Expr::Const(right))
}

fn not(value: Expr) -> Expr {
    match value {
        Expr::Const(value) => Expr::Const(i64::from(value == 0)),
        value => Expr::Unary(UnaryOp::Not, Box::new(value)),
    }
}

/// A conjunction without parts that are always true.
fn all(parts: Vec<Expr>) -> Expr {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Expr::Const(0) => return Expr::Const(0),
            Expr::Const(_) => {}
            Expr::All(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    match flat.len() {
        0 => Expr::Const(1),
        1 => flat.remove(0),
        _ => Expr::All(flat),
    }
}

/// A disjunction without parts that are never true.
fn any(parts: Vec<Expr>) -> Expr {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Expr::Const(0) => {}
            Expr::Const(_) => return Expr::Const(1),
            Expr::Any(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    match flat.len() {
        0 => Expr::Const(0),
        1 => flat.remove(0),
        _ => Expr::Any(flat),
    }
}

fn store(offset: u32, bits: u8, value: Expr) -> Stmt {
    Stmt::Store { place: fixed(offset), bits, value }
}
