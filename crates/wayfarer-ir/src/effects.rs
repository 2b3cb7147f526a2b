//! The bits of a state that a rule or property reads and writes: never fewer than it does, often more. An index that
//! is known only at run time stands for all elements. Only code that a search evaluates counts; printed items do not.
//!
//! Functions are analysed once, with their references kept separate, and every call substitutes its places; mutually
//! recursive functions are repeated until nothing is added. That ends soon, because a reference is passed on whole or
//! as a part, never larger.

mod bits;

pub use bits::Bits;

use crate::code::{Argument, Block, Expr, FunctionId, LoopExpr, Place, Reg, Root, Stmt, UnaryOp};
use crate::program::{Function, Parameter, Program, Region, Rule};
use crate::walk;
use std::collections::HashMap;

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

/// The bits that a program's functions access, from which the effects of rules and properties follow.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    program: &'a Program,
    functions: Vec<Touched>,
}

/// Bits read and written, of the state and of the run of bits behind each reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touched {
    reads: Vec<Bits>,
    writes: Vec<Bits>,
}

impl<'a> Effects<'a> {
    /// Analyses the functions of a verified program.
    pub fn new(program: &'a Program) -> Self {
        let blank = |function: &Function| {
            let run = |parameter: &Parameter| match parameter {
                Parameter::Value => None,
                Parameter::Reference { bits, .. } => Some(Bits::none(bits.div_ceil(64) as usize)),
            };
            let sets: Vec<Bits> = std::iter::once(Bits::none(program.words as usize)).chain(function.parameters.iter().filter_map(run)).collect();
            Touched { reads: sets.clone(), writes: sets }
        };
        let mut effects = Effects { program, functions: program.functions.iter().map(blank).collect() };
        loop {
            let before = effects.functions.clone();
            for (number, function) in program.functions.iter().enumerate() {
                let touched = effects.functions[number].clone();
                let mut tracer = Tracer { effects: &effects, known: HashMap::new(), touched };
                tracer.block(&function.body.block);
                effects.functions[number] = tracer.touched;
            }
            if effects.functions == before {
                return effects;
            }
        }
    }

    /// The bits that any member of a rule family accesses.
    pub fn family(&self, rule: &Rule) -> RuleEffects {
        self.rule(rule, HashMap::new(), HashMap::new())
    }

    /// The bits that one member accesses: indices that its parameters determine are taken as known.
    pub fn member(&self, rule: &Rule, member: u64) -> RuleEffects {
        let mut values = vec![0; rule.parameters.len()];
        rule.values(member, &mut values);
        let guard: HashMap<Reg, i64> = (0..).map(Reg).zip(values).collect();
        let (mut guard, mut command) = (guard.clone(), guard);
        // A parameter's register that is assigned is no longer the parameter.
        walk::expressions(&rule.guard.value, &mut |expr| forget(expr, &mut guard));
        walk::expressions_of_block(&rule.command.block, &mut |expr| forget(expr, &mut command));
        walk::statements(&rule.command.block, &mut |statement| {
            if let Stmt::Set(register, _) | Stmt::For { register, .. } = statement {
                command.remove(register);
            }
        });
        self.rule(rule, guard, command)
    }

    /// The bits that a property reads.
    pub fn property(&self, number: usize) -> Bits {
        let mut tracer = self.tracer(HashMap::new());
        for (_, conjunct) in &self.program.properties[number].conjuncts {
            tracer.expr(conjunct);
        }
        tracer.touched.reads.swap_remove(0)
    }

    fn rule(&self, rule: &Rule, guard: HashMap<Reg, i64>, command: HashMap<Reg, i64>) -> RuleEffects {
        let mut of_guard = self.tracer(guard);
        of_guard.expr(&rule.guard.value);
        let mut of_command = self.tracer(command);
        of_command.block(&rule.command.block);
        let Touched { mut reads, mut writes } = of_command.touched;
        RuleEffects { guard_reads: of_guard.touched.reads.swap_remove(0), reads: reads.swap_remove(0), writes: writes.swap_remove(0) }
    }

    fn tracer(&self, known: HashMap<Reg, i64>) -> Tracer<'_> {
        let state = vec![Bits::none(self.program.words as usize)];
        Tracer { effects: self, known, touched: Touched { reads: state.clone(), writes: state } }
    }
}

fn forget(expr: &Expr, known: &mut HashMap<Reg, i64>) {
    if let Expr::Loop(fold) = expr {
        known.remove(&fold.register);
    }
}

/// Collects the bits that a piece of code accesses.
struct Tracer<'e> {
    effects: &'e Effects<'e>,
    /// Registers whose value is known throughout.
    known: HashMap<Reg, i64>,
    /// The state first, then the references in order.
    touched: Touched,
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
}

impl Tracer<'_> {
    /// Records an access to `part` at a place; `more` is a stride and count beyond the place's own indices.
    fn access(&mut self, access: Access, place: &Place, part: &Bits, more: Option<(u32, u32)>) {
        let run = match place.root {
            Root::State => 0,
            Root::Frame => return,
            Root::Reference(number) => number as usize + 1,
        };
        let mut offset = place.offset as usize;
        let mut indices = Vec::new();
        for index in &place.indices {
            match self.constant(&index.value) {
                Some(value) if (0..i64::from(index.count)).contains(&value) => offset += value as usize * index.stride as usize,
                // The place is never reached: the index is a fault.
                Some(_) => return,
                None => indices.push((index.stride as usize, index.count as usize)),
            }
        }
        indices.extend(more.map(|(stride, count)| (stride as usize, count as usize)));
        let sets = if access == Access::Read { &mut self.touched.reads } else { &mut self.touched.writes };
        sets[run].add(part, offset, &indices);
    }

    fn indices(&mut self, place: &Place) {
        place.indices.iter().for_each(|index| self.expr(&index.value));
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) | Expr::Reg(_) => {}
            Expr::Load { place, bits } => {
                self.indices(place);
                self.access(Access::Read, place, &Bits::first(u32::from(*bits)), None);
            }
            Expr::Unary(_, operand) | Expr::Require { value: operand, .. } => self.expr(operand),
            Expr::Binary(_, left, right) | Expr::Checked { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| self.expr(operand)),
            Expr::Select(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            Expr::Loop(fold) => {
                let LoopExpr { from, to, body, .. } = &**fold;
                self.expr(from);
                self.expr(to);
                self.expr(body);
            }
            Expr::Call { function, arguments, .. } => self.call(*function, arguments),
        }
    }

    fn call(&mut self, FunctionId(number): FunctionId, arguments: &[Argument]) {
        let callee = &self.effects.functions[number as usize];
        self.touched.reads[0].union(&callee.reads[0]);
        self.touched.writes[0].union(&callee.writes[0]);
        let parameters = &self.effects.program.functions[number as usize].parameters;
        let mut reference = 0;
        for (argument, parameter) in arguments.iter().zip(parameters) {
            match (argument, parameter) {
                (Argument::Value(value), _) => self.expr(value),
                (Argument::Place(place), Parameter::Reference { region, .. }) => {
                    reference += 1;
                    self.indices(place);
                    if *region == Region::State {
                        self.access(Access::Read, place, &callee.reads[reference], None);
                        self.access(Access::Write, place, &callee.writes[reference], None);
                    }
                }
                (Argument::Place(_), Parameter::Value) => {}
            }
        }
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Set(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) | Stmt::Check { condition: value, .. } => self.expr(value),
            Stmt::Store { place, bits, value } => {
                self.indices(place);
                self.expr(value);
                self.access(Access::Write, place, &Bits::first(u32::from(*bits)), None);
            }
            Stmt::Copy { to, from, bits } => {
                self.indices(to);
                self.indices(from);
                self.access(Access::Read, from, &Bits::first(*bits), None);
                self.access(Access::Write, to, &Bits::first(*bits), None);
            }
            Stmt::Zero { place, bits } => {
                self.indices(place);
                self.access(Access::Write, place, &Bits::first(*bits), None);
            }
            Stmt::Sort { place, stride, count, bits, .. } => {
                self.indices(place);
                self.access(Access::Read, place, &Bits::first(*bits), Some((*stride, *count)));
                self.access(Access::Write, place, &Bits::first(*bits), Some((*stride, *count)));
            }
            Stmt::If { branches, otherwise } => {
                for (condition, block) in branches {
                    self.expr(condition);
                    self.block(block);
                }
                self.block(otherwise);
            }
            Stmt::While { condition, body, .. } => {
                self.expr(condition);
                self.block(body);
            }
            Stmt::For { from, to, body, .. } => {
                self.expr(from);
                self.expr(to);
                self.block(body);
            }
            Stmt::Fault(_) | Stmt::Discard | Stmt::Cover(_) | Stmt::Return(None) | Stmt::Print(_) => {}
        }
    }

    /// The value of an expression that is the same whenever it is evaluated; `None` if evaluating it may fault.
    fn constant(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Reg(register) => self.known.get(register).copied(),
            Expr::Unary(UnaryOp::Negate, operand) => Some(self.constant(operand)?.wrapping_neg()),
            Expr::Binary(op, left, right) => Some(op.apply(self.constant(left)?, self.constant(right)?)),
            Expr::Checked { op, left, right, .. } => op.apply(self.constant(left)?, self.constant(right)?),
            Expr::Require { value, .. } => self.constant(value),
            _ => None,
        }
    }
}
