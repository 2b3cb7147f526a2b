//! Constants, types and variables, and the layout of the variables.

use super::code::{Code, Kind};
use super::operand::{Object, Operand, Storage, Value};
use super::scopes::{Symbol, nearest};
use super::types::Ty;
use super::{ConstantValue, Elaborator};
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{self, BinaryOp, ChainOp, Decl, ExprKind, Item, Name};
use crate::source::Span;
use std::collections::HashSet;
use wayfarer_ir::{Block, Expr, Variable, layout};

impl<'a> Elaborator<'a> {
    /// Declares all global names, in order. Returns, for each item, the number of names it sees; a function sees
    /// itself.
    pub(super) fn declare_all(&mut self, items: &'a [Item]) -> Vec<usize> {
        for name in items.iter().flat_map(declared_names) {
            self.scopes.places.entry(name.text.clone()).or_insert(name.span);
        }
        let mut visible = Vec::new();
        let mut constants = Vec::new();
        for item in items {
            self.scopes.visible = self.scopes.declared();
            match item {
                Item::Decl(Decl::Const { name, value }) => {
                    constants.push(name.text.as_str());
                    self.global_constant(name, value);
                }
                Item::Decl(Decl::Type { name, ty }) => self.type_declaration(name, ty),
                Item::Decl(Decl::Var { names, ty }) => self.global_variables(names, ty),
                Item::Function(function) => self.declare_function(function),
                Item::Rule(_) => {}
            }
            visible.push(self.scopes.declared());
        }
        self.check_overrides(&constants);
        visible
    }

    /// Lays out all variables of the state.
    pub(super) fn lay_out_state(&mut self) {
        let sizes: Vec<u32> = self.program.variables.iter().map(|variable| self.types.ir_bits(variable.ty)).collect();
        match layout::arrange(&sizes) {
            Some((offsets, bits)) => {
                self.program.variables.iter_mut().zip(offsets).for_each(|(variable, offset)| variable.offset = offset);
                self.program.words = bits.div_ceil(64).max(1);
            }
            None => self.too_large(Span::default()),
        }
        self.find_bags();
    }

    fn global_constant(&mut self, name: &'a Name, value: &'a ast::Expr) {
        let written = self.constant(value, "the value of a constant");
        let options = self.options;
        let given = options.constants.iter().rev().find(|(given, _)| *given == name.text).map(|(_, value)| value);
        let value = match given {
            Some(given) => self.given_constant(name, given, written.as_ref().map(|value| value.ty)),
            None => written,
        };
        let operand = value.map_or(Operand::Error, Operand::Value);
        self.declare(name, Symbol::Operand(operand));
    }

    /// The value that the user gave for a constant, which must be of the same kind as the one in the model.
    fn given_constant(&mut self, name: &Name, given: &ConstantValue, written: Option<Ty>) -> Option<Value> {
        let value = match given {
            ConstantValue::Number(number) if written == Some(Ty::REAL) => Value::real(Expr::Const((*number as f64).to_bits() as i64)),
            ConstantValue::Number(number) => Value::constant(*number, Ty::NUMBER),
            ConstantValue::Name(text) if written == Some(Ty::REAL) && text.parse::<f64>().is_ok_and(f64::is_finite) => {
                Value::real(Expr::Const(text.parse::<f64>().unwrap_or(0.0).to_bits() as i64))
            }
            ConstantValue::Name(text) => match self.name(text, name.span) {
                Operand::Value(value) if value.as_constant().is_some() => value,
                Operand::Error => return None,
                _ => {
                    self.error(name.span, format!("`{text}`, given for the constant `{}`, is not a constant", name.text));
                    return None;
                }
            },
        };
        if let Some(written) = written
            && self.types.shift(value.ty, written).is_none()
        {
            let (found, expected) = (self.types.describe(value.ty), self.types.describe(written));
            self.error(name.span, format!("the value given for `{}` is of type {found}, but the model's is of type {expected}", name.text));
            return None;
        }
        Some(value)
    }

    /// Reports values given for constants that the model does not have.
    fn check_overrides(&mut self, constants: &[&str]) {
        for (name, _) in &self.options.constants {
            if constants.contains(&name.as_str()) {
                continue;
            }
            let mut diagnostic = Diagnostic::error(Span::default(), format!("the model has no constant `{name}` to give a value to"));
            if let Some(near) = nearest(name, constants.iter().copied()) {
                diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
            } else if !constants.is_empty() {
                let shown: Vec<String> = constants.iter().take(8).map(|name| format!("`{name}`")).collect();
                diagnostic = diagnostic.with_help(format!("its constants are {}", shown.join(", ")));
            }
            self.report(diagnostic);
        }
    }

    fn global_variables(&mut self, names: &'a [Name], ty: &'a ast::TypeExpr) {
        let ty = self.type_expr(ty, None);
        for name in names {
            let number = self.program.variables.len();
            self.declare(name, Symbol::Variable(number, ty));
            let at = self.at(name.span);
            self.program.variables.push(Variable { name: name.text.clone(), ty: self.types.ir(ty), offset: 0, at });
        }
    }

    fn type_declaration(&mut self, name: &'a Name, ty: &'a ast::TypeExpr) {
        let ty = self.type_expr(ty, Some(&name.text));
        self.declare(name, Symbol::Type(ty));
    }

    /// Declares constants, types and variables of a function or rule in the innermost scope. Scalars live in registers, except those in `addressed`,
    /// which are passed by reference somewhere.
    pub(super) fn local_declarations(&mut self, decls: &'a [Decl], addressed: &HashSet<&str>) {
        for decl in decls {
            match decl {
                Decl::Const { name, value } => {
                    let value = self.constant(value, "the value of a constant");
                    self.declare(name, Symbol::Operand(value.map_or(Operand::Error, Operand::Value)));
                }
                Decl::Type { name, ty } => self.type_declaration(name, ty),
                Decl::Var { names, ty } => {
                    let ty = self.type_expr(ty, None);
                    for name in names {
                        let in_register = self.types.simple(ty).is_some() && !addressed.contains(name.text.as_str());
                        let storage = match in_register {
                            true => Storage::Register(self.code.register()),
                            false => Storage::Memory(self.frame_place(ty, name.span)),
                        };
                        let operand =
                            if ty == Ty::ERROR { Operand::Error } else { Operand::Object(Object { storage, ty, fixed: None, span: name.span }) };
                        self.declare(name, Symbol::Operand(operand));
                    }
                }
            }
        }
    }

    /// The value of a constant expression.
    pub(super) fn constant(&mut self, expr: &'a ast::Expr, what: &str) -> Option<Value> {
        let code = std::mem::replace(&mut self.code, Code::new(Kind::Formula, 0));
        let checking = std::mem::replace(&mut self.checking, true);
        let value = self.value(expr);
        self.code = code;
        self.checking = checking;
        let value = value?;
        if value.as_constant().is_none() {
            if self.types.is_number(value.ty) && self.absorbed(expr) {
                return Some(Value::constant(0, Ty::NUMBER));
            }
            match super::operators::zero_divisor(&value.expr) {
                true => self.error(expr.span, "division by zero in a constant"),
                false => self.error_with_help(
                    expr.span,
                    format!("{what} must be constant"),
                    "constants are numbers, names of constants and operators on them",
                ),
            }
            return None;
        }
        Some(value)
    }

    /// Whether an expression is 0 whatever its other operands are, as in `0 * f()`. rumur accepts these as constants.
    fn absorbed(&mut self, expr: &'a ast::Expr) -> bool {
        let zero = |this: &mut Self, operand: &'a ast::Expr| {
            let muted = std::mem::replace(&mut this.muted, true);
            let value = this.constant(operand, "");
            this.muted = muted;
            value.and_then(|value| value.as_constant()) == Some(0)
        };
        match &expr.kind {
            ExprKind::Parenthesised(inner) => self.absorbed(inner),
            ExprKind::Chain { op: ChainOp::Multiply, operands } => operands.iter().any(|operand| zero(self, operand)),
            ExprKind::Binary { op: BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight, left, right } => {
                zero(self, left) && !zero(self, right)
            }
            _ => false,
        }
    }

    pub(super) fn constant_number(&mut self, expr: &'a ast::Expr, what: &str) -> Option<i128> {
        let value = self.constant(expr, what)?;
        if !self.types.is_number(value.ty) {
            let found = self.types.describe(value.ty);
            self.error(expr.span, format!("{what} must be a number, but this is of type {found}"));
            return None;
        }
        // The interval of a constant may be wider than its number, but says whether that has a sign.
        let held = value.as_constant()?;
        Some(if value.range.is_unsigned() { i128::from(held as u64) } else { i128::from(held) })
    }

    /// Enters the names of an `alias` block into the innermost scope. In a command or function their indices and values are computed here, once.
    pub(super) fn alias(&mut self, alias: &'a ast::Alias, block: Option<&mut Block>) -> bool {
        let operand = self.operand(&alias.target);
        let operand = match (operand, block) {
            (Operand::Undefined, _) => {
                self.error(alias.target.span, "an alias cannot stand for `undefined`");
                Operand::Error
            }
            (Operand::Result { call, object }, Some(block)) => {
                block.push(wayfarer_ir::Stmt::Do(call));
                Operand::Object(object)
            }
            (Operand::Object(object), Some(block)) => Operand::Object(self.pin(object, block)),
            (Operand::Value(value), Some(block)) if value.as_constant().is_none() => {
                let register = self.code.bind(value.expr, block);
                Operand::Value(Value { expr: Expr::Reg(register), ..value })
            }
            (operand, _) => operand,
        };
        let fine = !matches!(operand, Operand::Error);
        self.declare(&alias.name, Symbol::Operand(operand));
        fine
    }
}

/// The names that an item declares, except those of enum members.
fn declared_names(item: &Item) -> &[Name] {
    match item {
        Item::Decl(Decl::Const { name, .. } | Decl::Type { name, .. }) => std::slice::from_ref(name),
        Item::Decl(Decl::Var { names, .. }) => names,
        Item::Function(function) => std::slice::from_ref(&function.name),
        Item::Rule(_) => &[],
    }
}
