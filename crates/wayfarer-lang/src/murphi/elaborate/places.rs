//! Fields, elements and writable objects.

use super::Elaborator;
use super::build;
use super::operand::{Object, Operand, Storage, Value};
use super::scopes::nearest;
use super::types::{Shape, Ty};
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{self, Name};
use crate::source::Span;
use wayfarer_ir::{Block, Expr, FaultKind, Place, Test};

impl<'a> Elaborator<'a> {
    pub(super) fn field(&mut self, base: &'a ast::Expr, field: &Name, span: Span) -> Operand {
        let Some((object, place)) = self.part_of(base) else { return Operand::Error };
        let Shape::Record(fields) = self.types.shape(object.ty) else {
            let found = self.types.describe(object.ty);
            self.error(base.span, format!("only records have fields, but this is of type {found}"));
            return Operand::Error;
        };
        match fields.iter().find(|candidate| candidate.name == field.text) {
            Some(found) => {
                let (ty, offset) = (found.ty, found.offset);
                if ty == Ty::ERROR {
                    return Operand::Error;
                }
                Operand::Object(Object { storage: Storage::Memory(build::offset(place, offset)), ty, fixed: object.fixed, span })
            }
            None => {
                let found = self.types.describe(object.ty);
                let mut diagnostic = Diagnostic::error(field.span, format!("{found} has no field `{}`", field.text));
                if let Some(near) = nearest(&field.text, fields.iter().map(|field| field.name.as_str())) {
                    diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
                } else if !fields.is_empty() {
                    let names: Vec<String> = fields.iter().take(8).map(|field| format!("`{}`", field.name)).collect();
                    diagnostic = diagnostic.with_help(format!("its fields are {}", names.join(", ")));
                }
                self.report(diagnostic);
                Operand::Error
            }
        }
    }

    pub(super) fn element(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Operand {
        let Some((object, place)) = self.part_of(base) else {
            self.value(index);
            return Operand::Error;
        };
        match *self.types.shape(object.ty) {
            Shape::Array { index: index_ty, element, stride, count } => {
                let Some(value) = self.index_value(index, index_ty, base.span) else { return Operand::Error };
                if element == Ty::ERROR {
                    return Operand::Error;
                }
                let fault = match value {
                    Expr::Const(value) if (0..i64::from(count)).contains(&value) => wayfarer_ir::FaultId(0),
                    _ => {
                        let message = format!("index {} is outside {}", self.quote(index.span), self.types.describe(index_ty));
                        self.fault(FaultKind::Index, span, message)
                    }
                };
                let place = build::element(place, value, stride, count, fault);
                Operand::Object(Object { storage: Storage::Memory(place), ty: element, fixed: object.fixed, span })
            }
            Shape::Bag(bag) => self.bag_element(object, place, bag, index, span),
            _ => {
                let found = self.types.describe(object.ty);
                self.error(base.span, format!("only arrays and multisets have elements, but this is of type {found}"));
                self.value(index);
                Operand::Error
            }
        }
    }

    /// An expression whose part is accessed: it must be in memory.
    fn part_of(&mut self, base: &'a ast::Expr) -> Option<(Object, Place)> {
        match self.operand(base) {
            Operand::Object(object) => match object.storage.clone() {
                Storage::Memory(place) => Some((object, place)),
                Storage::Register(_) | Storage::Computed(_) => {
                    let found = self.types.describe(object.ty);
                    self.error(base.span, format!("this is of type {found}, a single value without parts"));
                    None
                }
            },
            Operand::Error => None,
            Operand::Undefined => {
                self.error(base.span, "`undefined` has no parts");
                None
            }
            Operand::Value(value) => {
                let found = self.types.describe(value.ty);
                self.error(base.span, format!("this is of type {found}, a single value without parts"));
                None
            }
            Operand::Result { .. } => {
                self.error_with_help(base.span, "the parts of a function's result cannot be named here", "assign the result to a variable first");
                None
            }
        }
    }

    /// The position of an index in an array, counted from 0; not checked.
    fn index_value(&mut self, index: &'a ast::Expr, ty: Ty, base: Span) -> Option<Expr> {
        let value = self.value(index)?;
        let simple = self.types.simple(ty)?;
        let Some(shift) = self.types.shift(value.ty, ty) else {
            if value.ty != Ty::ERROR {
                let (found, expected) = (self.types.describe(value.ty), self.types.describe(ty));
                let base = self.quote(base);
                self.error(index.span, format!("{base} is indexed by {expected}, but this index is of type {found}"));
            }
            return None;
        };
        let mut position = value.expr;
        if value.range.is_unsigned() {
            // A number without sign must not pass for a negative one.
            let message = format!("index {} is outside {}", self.quote(index.span), self.types.describe(ty));
            let fault = self.fault(FaultKind::Index, index.span, message);
            position = build::require(position, Test::Between(0, i64::MAX), fault);
        }
        Some(build::add(position, shift.wrapping_sub(simple.low as i64)))
    }

    /// An object that can be written.
    pub(super) fn writable(&mut self, expr: &'a ast::Expr) -> Option<Object> {
        match self.operand(expr) {
            Operand::Error => None,
            Operand::Object(object) => {
                if let Some(why) = object.fixed {
                    let text = self.quote(expr.span);
                    self.error(expr.span, format!("{text} cannot be written: it is {why}"));
                    return None;
                }
                if matches!(object.storage, Storage::Computed(_)) {
                    self.not_a_variable(expr);
                    return None;
                }
                Some(object)
            }
            Operand::Value(Value { expr: Expr::Reg(_), .. }) => {
                let text = self.quote(expr.span);
                self.error(expr.span, format!("{text} cannot be written: it is bound by a loop, a ruleset or an alias of a value"));
                None
            }
            Operand::Value(_) | Operand::Undefined | Operand::Result { .. } => {
                self.not_a_variable(expr);
                None
            }
        }
    }

    fn not_a_variable(&mut self, expr: &ast::Expr) {
        let text = self.quote(expr.span);
        self.error(expr.span, format!("{text} cannot be written: it is not a variable"));
    }

    /// Computes the indices of an object once, so that later writes do not change which object it is.
    pub(super) fn pin(&mut self, object: Object, block: &mut Block) -> Object {
        let Storage::Memory(mut place) = object.storage else { return object };
        for index in &mut place.indices {
            if matches!(index.value, Expr::Const(_) | Expr::Reg(_)) {
                continue;
            }
            let value = std::mem::replace(&mut index.value, Expr::Const(0));
            let checked = build::require(value, Test::Between(0, i64::from(index.count) - 1), index.fault);
            index.value = Expr::Reg(self.code.bind(checked, block));
        }
        Object { storage: Storage::Memory(place), ..object }
    }
}
