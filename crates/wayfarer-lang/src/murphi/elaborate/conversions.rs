//! Conversions from operands to stored forms of a type: coercions between unions and members, range checks, and
//! copies of values that may be undefined.

use super::build;
use super::operand::{Object, Operand, Storage, Value};
use super::types::{Simple, Ty};
use super::{Elaborator, Undefined};
use crate::source::Span;
use wayfarer_ir::{Block, Expr, FaultKind, Place, Stmt, Test};

/// The use of a value, for messages.
#[derive(Clone, Copy)]
pub(super) enum Goal<'g> {
    /// An assignment to the expression at this span.
    Assignment(Span),
    /// The element of a multiset.
    Element,
    /// A parameter of a function.
    Parameter(&'g str, &'g str),
    /// The result of a function.
    Result(&'g str),
}

impl<'a> Elaborator<'a> {
    /// The stored form, in a type, of an operand written at `span`. With a block, intermediate values get registers;
    /// without one, they are expanded.
    pub(super) fn stored_as(&mut self, operand: Operand, to: Ty, span: Span, goal: Goal, block: Option<&mut Block>) -> Option<Expr> {
        let simple = self.types.simple(to)?;
        match operand {
            Operand::Error => None,
            Operand::Undefined if simple.total => {
                self.error(span, "a range of all numbers of 64 bits has no undefined value");
                None
            }
            Operand::Undefined => Some(Expr::Const(0)),
            Operand::Value(value) => self.value_as(value, to, span, goal),
            Operand::Object(object) | Operand::Result { object, .. } if self.types.simple(object.ty).is_none() => {
                self.mismatch(object.ty, to, span, goal);
                None
            }
            Operand::Object(object) | Operand::Result { object, .. } => match self.options.undefined {
                Undefined::Strict => {
                    let value = self.read(object)?;
                    self.value_as(value, to, span, goal)
                }
                Undefined::Copy if self.types.is_real(object.ty) && self.types.same(object.ty, to) => Some(self.stored(&object)),
                Undefined::Copy if self.is_converted(object.ty, to) => {
                    let value = self.read(object)?;
                    self.value_as(value, to, span, goal)
                }
                Undefined::Copy => self.copy_as(object, to, simple, span, goal, block),
            },
        }
    }

    /// Whether a copy is computed from the value, which must then be defined: a copy between formats of real numbers, and
    /// one from or to a type without undefined value.
    fn is_converted(&self, from: Ty, to: Ty) -> bool {
        [from, to].into_iter().any(|ty| self.types.is_real(ty) || self.types.simple(ty).is_some_and(|simple| simple.total))
    }

    fn value_as(&mut self, value: Value, to: Ty, span: Span, goal: Goal) -> Option<Expr> {
        let simple = self.types.simple(to)?;
        if let Some(format) = self.types.real_format(to)
            && let Some(value) = self.as_real(&value)
        {
            return Some(self.packed(value, format, span, goal));
        }
        let Some(shift) = self.types.shift(value.ty, to) else {
            self.mismatch(value.ty, to, span, goal);
            return None;
        };
        let (mut expr, range) = (build::add(value.expr, shift), value.range.shift(shift));
        if !range.within(simple.range()) {
            let fault = self.out_of_range(value.ty, to, simple, span, goal);
            expr = build::require_within(expr, range, simple.range(), fault);
        }
        Some(build::add(expr, simple.to_stored()))
    }

    /// The stored form of a copy. Stored forms differ by a constant, except that undefined is 0 in all.
    fn copy_as(&mut self, object: Object, to: Ty, simple: Simple, span: Span, goal: Goal, block: Option<&mut Block>) -> Option<Expr> {
        let from = self.types.simple(object.ty)?;
        let Some(shift) = self.types.shift(object.ty, to) else {
            self.mismatch(object.ty, to, span, goal);
            return None;
        };
        let fits = from.range().shift(shift).within(simple.range());
        let stored = self.stored(&object);
        let by = shift.wrapping_sub(from.to_stored()).wrapping_add(simple.to_stored());
        if by == 0 && fits {
            return Some(stored);
        }
        if by == 0 && from.range().modest() && simple.range().modest() {
            let fault = self.out_of_range(object.ty, to, simple, span, goal);
            return Some(build::require(stored, Test::Between(0, (simple.high - simple.low) as i64 + 1), fault));
        }
        let stored = match block {
            Some(block) => Expr::Reg(self.code.bind(stored, block)),
            None if !self.may_repeat(&stored, span) => return None,
            None => stored,
        };
        let mut value = build::add(stored.clone(), shift.wrapping_sub(from.to_stored()));
        if !fits {
            let fault = self.out_of_range(object.ty, to, simple, span, goal);
            value = build::require_within(value, from.range().shift(shift), simple.range(), fault);
        }
        Some(build::select(stored, build::add(value, simple.to_stored()), Expr::Const(0)))
    }

    /// Whether an expression may be expanded more than once: if it is small enough and evaluating it again changes
    /// nothing. Reports an error if not.
    pub(super) fn may_repeat(&mut self, expr: &Expr, span: Span) -> bool {
        if build::size(expr) > build::LARGEST / 8 {
            self.error(span, "this expression is too large when written out");
            return false;
        }
        let mut calls = Vec::new();
        build::calls(expr, &mut calls);
        // Code that is discarded names no real functions; this is checked again when the final code is built.
        if calls.is_empty() || self.checking {
            return true;
        }
        let pure = calls.iter().all(|callee| {
            let function =
                self.instances.iter().find(|(_, id)| *id == callee).and_then(|((function, _), _)| self.functions.get(*function).map(|_| *function));
            function.is_none_or(|function| {
                let effects = &self.functions[function].effects;
                effects.spans.is_empty() && effects.references.is_empty() && !effects.discards && !effects.covers
            })
        });
        if !pure {
            let help = "assign the result to a variable first, and use that";
            self.error_with_help(span, "a function that changes the state cannot be called at this place", help);
        }
        pure
    }

    fn out_of_range(&mut self, from: Ty, to: Ty, simple: Simple, span: Span, goal: Goal) -> wayfarer_ir::FaultId {
        let goal = self.goal(goal);
        let message = match self.types.is_number(from) {
            true => format!("the value of {} is outside the range {}..{} of {goal}", self.quote(span), simple.low, simple.high),
            false => format!("the value of {} is not of type {}, as {goal} needs", self.quote(span), self.types.describe(to)),
        };
        self.fault(FaultKind::Range, span, message)
    }

    pub(super) fn goal(&self, goal: Goal) -> String {
        match goal {
            Goal::Assignment(span) => self.quote(span),
            Goal::Element => "an element of the multiset".to_string(),
            Goal::Parameter(function, name) => format!("the parameter `{name}` of `{function}`"),
            Goal::Result(function) => format!("the result of `{function}`"),
        }
    }

    pub(super) fn mismatch(&mut self, from: Ty, to: Ty, span: Span, goal: Goal) {
        if from == Ty::ERROR || to == Ty::ERROR {
            return;
        }
        let (found, expected, goal) = (self.types.describe(from), self.types.describe(to), self.goal(goal));
        self.error(span, format!("{goal} is of type {expected}, but this is of type {found}"));
    }

    /// Writes a stored form to a scalar object.
    pub(super) fn store(&mut self, object: &Object, value: Expr, block: &mut Block) {
        match &object.storage {
            Storage::Register(register) => block.push(Stmt::Set(*register, value)),
            Storage::Memory(place) => {
                let bits = self.types.bits(object.ty);
                self.note_write(place, bits);
                block.push(Stmt::Store { place: place.clone(), bits: bits as u8, value });
            }
            Storage::Computed(_) => {}
        }
    }

    /// Copies a record, array or bag into memory.
    pub(super) fn copy_whole(&mut self, to: Place, ty: Ty, operand: Operand, span: Span, goal: Goal, block: &mut Block) {
        let from = match operand {
            Operand::Object(object) => object,
            Operand::Result { call, object } => {
                block.push(Stmt::Do(call));
                object
            }
            Operand::Value(value) => return self.mismatch(value.ty, ty, span, goal),
            Operand::Undefined => {
                let bits = self.types.bits(ty);
                self.note_write(&to, bits);
                block.push(Stmt::Zero { place: to, bits });
                return;
            }
            Operand::Error => return,
        };
        if !self.types.same(from.ty, ty) {
            return self.mismatch(from.ty, ty, span, goal);
        }
        if let Storage::Memory(place) = from.storage {
            let bits = self.types.bits(ty);
            self.note_write(&to, bits);
            block.push(Stmt::Copy { to, from: place, bits });
        }
    }
}
