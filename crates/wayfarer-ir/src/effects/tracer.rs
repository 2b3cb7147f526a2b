//! Follows a piece of code and collects the bits that it accesses. Code that the known values exclude does not count.

use super::{Bits, Known, Touched};
use crate::code::{Argument, Block, Expr, FunctionId, LoopExpr, Place, Root, Stmt};
use crate::program::{Parameter, Program, Region};
use std::rc::Rc;

/// What a function accesses if these of its arguments are known.
pub(super) type Callee<'c> = dyn Fn(usize, Known) -> Rc<Touched> + 'c;

/// Collects the bits that a piece of code accesses.
pub(super) struct Tracer<'e> {
    program: &'e Program,
    callee: &'e Callee<'e>,
    known: Known,
    /// The state first, then the references in order.
    pub(super) touched: Touched,
    /// Nodes that were followed.
    pub(super) nodes: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
}

impl<'e> Tracer<'e> {
    /// Nothing is followed yet, of code with these parameters.
    pub(super) fn new(program: &'e Program, callee: &'e Callee<'e>, known: Known, parameters: &[Parameter]) -> Self {
        Tracer { program, callee, known, touched: Touched::nothing(program, parameters), nodes: 0 }
    }

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

    pub(super) fn expr(&mut self, expr: &Expr) {
        self.nodes += 1;
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
            // Operands behind one that decides are not evaluated.
            Expr::All(operands) => self.operands(operands, |value| value == 0),
            Expr::Any(operands) => self.operands(operands, |value| value != 0),
            Expr::Select(condition, then, otherwise) => {
                self.expr(condition);
                match self.constant(condition) {
                    Some(0) => self.expr(otherwise),
                    Some(_) => self.expr(then),
                    None => {
                        self.expr(then);
                        self.expr(otherwise);
                    }
                }
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

    /// Operands up to one whose value is known to decide.
    fn operands(&mut self, operands: &[Expr], decides: impl Fn(i64) -> bool) {
        for operand in operands {
            self.expr(operand);
            if self.constant(operand).is_some_and(&decides) {
                return;
            }
        }
    }

    fn call(&mut self, FunctionId(number): FunctionId, arguments: &[Argument]) {
        let values = arguments.iter().filter_map(|argument| match argument {
            Argument::Value(value) => Some(self.constant(value)),
            Argument::Place(_) => None,
        });
        let callee = (self.callee)(number as usize, values.collect());
        self.touched.reads[0].union(&callee.reads[0]);
        self.touched.writes[0].union(&callee.writes[0]);
        let parameters = &self.program.functions[number as usize].parameters;
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

    pub(super) fn block(&mut self, block: &Block) {
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
                    match self.constant(condition) {
                        Some(0) => {}
                        Some(_) => return self.block(block),
                        None => self.block(block),
                    }
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

    /// The value of an expression if it is the same whenever it is evaluated without a fault.
    fn constant(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Reg(register) => self.known.get(register.0 as usize).copied().flatten(),
            Expr::Unary(op, operand) => Some(op.apply(self.constant(operand)?)),
            Expr::Binary(op, left, right) => Some(op.apply(self.constant(left)?, self.constant(right)?)),
            Expr::Checked { op, left, right, .. } => op.apply(self.constant(left)?, self.constant(right)?),
            Expr::Require { value, .. } => self.constant(value),
            _ => None,
        }
    }
}
