//! The bits of a state that a rule or property reads and writes: never fewer than it does, often more. An index that
//! is known only at run time stands for all elements. Only code that a search evaluates counts; printed items do not.
//!
//! Functions are followed once for each set of arguments whose values are known, with their references kept separate, and every call substitutes its
//! places. So a procedure that sends to a node touches the channel of that node only. A function that calls itself counts there with any arguments. For
//! these, functions are repeated until nothing is added. That ends soon, because a reference is passed on whole or as a part, never larger.

mod bits;
mod tracer;

pub use bits::Bits;

use crate::code::{Block, Expr, Reg, Stmt};
use crate::program::{Parameter, Program, Rule};
use crate::walk;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use tracer::{Callee, Tracer};

/// Nodes of functions that are followed for known arguments, at most. From then on they count as called with any arguments.
const MOST_NODES: usize = 1 << 20;

/// The bits that one rule accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEffects {
    /// The bits its guard reads. If rules have levels, the guards of smaller ones decide as well whether the rule counts; they are not part of this.
    pub guard_reads: Bits,
    /// The bits its command reads.
    pub reads: Bits,
    /// The bits its command writes.
    pub writes: Bits,
}

/// The effects of a program's rules and properties.
#[derive(Debug)]
pub struct Effects<'a> {
    program: &'a Program,
    calls: RefCell<Calls>,
    /// The effects of functions with any arguments, once they are needed.
    of_any: OnceCell<Vec<Rc<Touched>>>,
}

/// The registers whose value is known throughout a piece of code.
type Known = Vec<Option<i64>>;

/// Functions that were followed for the arguments that are known.
#[derive(Debug, Default)]
struct Calls {
    touched: HashMap<(usize, Known), Rc<Touched>>,
    /// Functions that are being followed. One that calls itself counts there with any arguments.
    begun: Vec<usize>,
    /// Nodes that were followed.
    nodes: usize,
}

/// Bits read and written, of the state and of the run of bits behind each reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touched {
    reads: Vec<Bits>,
    writes: Vec<Bits>,
}

impl<'a> Effects<'a> {
    /// The effects in a verified program, none of which is computed yet.
    pub fn new(program: &'a Program) -> Self {
        Effects { program, calls: RefCell::default(), of_any: OnceCell::new() }
    }

    /// The bits that any member of a rule family accesses.
    pub fn family(&self, rule: &Rule) -> RuleEffects {
        self.rule(rule, &Known::new())
    }

    /// The bits that one member accesses: indices that its parameters determine are taken as known.
    pub fn member(&self, rule: &Rule, member: u64) -> RuleEffects {
        let mut values = vec![0; rule.parameters.len()];
        rule.values(member, &mut values);
        self.rule(rule, &values.into_iter().map(Some).collect())
    }

    /// The bits that a property reads.
    pub fn property(&self, number: usize) -> Bits {
        let conjuncts = &self.program.properties[number].conjuncts;
        let [reads, _] = self.of_state(Known::new(), |tracer| conjuncts.iter().for_each(|(_, conjunct)| tracer.expr(conjunct)));
        reads
    }

    /// The bits that a rule accesses if these are the values of its parameters.
    fn rule(&self, rule: &Rule, values: &Known) -> RuleEffects {
        let of_guard = self.of_state(kept_by_formula(&rule.guard.value, values.clone()), |tracer| tracer.expr(&rule.guard.value));
        let of_command = self.of_state(kept_by_block(&rule.command.block, values.clone()), |tracer| tracer.block(&rule.command.block));
        let ([guard_reads, _], [reads, writes]) = (of_guard, of_command);
        RuleEffects { guard_reads, reads, writes }
    }

    /// The bits of the state that some code reads and writes.
    fn of_state(&self, known: Known, follow: impl FnOnce(&mut Tracer)) -> [Bits; 2] {
        let callee = |function, arguments| self.call(function, arguments);
        let mut tracer = Tracer::new(self.program, &callee, known, &[]);
        follow(&mut tracer);
        let Touched { mut reads, mut writes } = tracer.touched;
        [reads.swap_remove(0), writes.swap_remove(0)]
    }

    /// What a function accesses if these arguments are known.
    fn call(&self, function: usize, arguments: Known) -> Rc<Touched> {
        let key = (function, arguments);
        {
            let mut calls = self.calls.borrow_mut();
            if let Some(touched) = calls.touched.get(&key) {
                return touched.clone();
            }
            if calls.nodes >= MOST_NODES || calls.begun.contains(&function) {
                return self.of_any.get_or_init(|| of_any(self.program))[function].clone();
            }
            calls.begun.push(function);
        }
        let (touched, nodes) = body(self.program, &|function, arguments| self.call(function, arguments), function, key.1.clone());
        let touched = Rc::new(touched);
        let mut calls = self.calls.borrow_mut();
        calls.begun.pop();
        calls.nodes += nodes;
        calls.touched.insert(key, touched.clone());
        touched
    }
}

/// What functions access if their arguments may be any.
fn of_any(program: &Program) -> Vec<Rc<Touched>> {
    let mut functions: Vec<Rc<Touched>> = program.functions.iter().map(|function| Rc::new(Touched::nothing(program, &function.parameters))).collect();
    loop {
        let before = functions.clone();
        for number in 0..program.functions.len() {
            let (touched, _) = body(program, &|function, _| functions[function].clone(), number, Known::new());
            functions[number] = Rc::new(touched);
        }
        if functions == before {
            return functions;
        }
    }
}

/// What the body of a function accesses, and the number of its nodes that were followed.
fn body(program: &Program, callee: &Callee, number: usize, arguments: Known) -> (Touched, usize) {
    let function = &program.functions[number];
    let block = &function.body.block;
    let mut tracer = Tracer::new(program, callee, kept_by_block(block, arguments), &function.parameters);
    tracer.block(block);
    (tracer.touched, tracer.nodes)
}

impl Touched {
    /// No bits of the state and of references among parameters.
    fn nothing(program: &Program, parameters: &[Parameter]) -> Self {
        let run = |parameter: &Parameter| match parameter {
            Parameter::Value => None,
            Parameter::Reference { bits, .. } => Some(Bits::none(bits.div_ceil(64) as usize)),
        };
        let sets: Vec<Bits> = std::iter::once(Bits::none(program.words as usize)).chain(parameters.iter().filter_map(run)).collect();
        Touched { reads: sets.clone(), writes: sets }
    }
}

/// Of known registers, those that a formula does not assign: they stay known in all of it.
fn kept_by_formula(formula: &Expr, mut known: Known) -> Known {
    if known.iter().any(Option::is_some) {
        walk::expressions(formula, &mut |expr| forget_loop(expr, &mut known));
    }
    known
}

/// The same for a block.
fn kept_by_block(block: &Block, mut known: Known) -> Known {
    if known.iter().any(Option::is_some) {
        walk::expressions_of_block(block, &mut |expr| forget_loop(expr, &mut known));
        walk::statements(block, &mut |statement| {
            if let Stmt::Set(register, _) | Stmt::For { register, .. } = statement {
                forget(*register, &mut known);
            }
        });
    }
    known
}

fn forget_loop(expr: &Expr, known: &mut Known) {
    if let Expr::Loop(fold) = expr {
        forget(fold.register, known);
    }
}

fn forget(register: Reg, known: &mut Known) {
    if let Some(value) = known.get_mut(register.0 as usize) {
        *value = None;
    }
}
