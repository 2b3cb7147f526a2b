//! Calls of functions and procedures.

use super::Elaborator;
use super::build;
use super::code::Kind;
use super::conversions::Goal;
use super::operand::{Object, Operand, Storage};
use super::scopes::{Sought, Symbol};
use super::types::Ty;
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{self, Name};
use crate::source::Span;
use wayfarer_ir::{Argument, Block, Expr, Place, Region, Root, Stmt};

/// A call with the expressions that must be evaluated before it.
struct Call {
    expr: Expr,
    function: usize,
    result: Option<Object>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn call_expression(&mut self, function: &'a Name, arguments: &'a [ast::Expr], span: Span) -> Operand {
        if self.scopes.symbol(&function.text).is_none()
            && let Some(operand) = self.real_function(function, arguments, span)
        {
            return operand;
        }
        let Some(call) = self.call(function, arguments, span) else { return Operand::Error };
        match (self.functions[call.function].result, call.result) {
            (None, _) => {
                self.error(span, format!("`{}` is a procedure and gives no value", function.text));
                Operand::Error
            }
            (Some(Ty::ERROR), _) => Operand::Error,
            (Some(_), Some(object)) => Operand::Result { call: call.expr, object },
            (Some(ty), None) => Operand::Object(Object { storage: Storage::Computed(call.expr), ty, fixed: None, span }),
        }
    }

    /// A call for its effects; a result is dropped.
    pub(super) fn call_statement(&mut self, function: &'a Name, arguments: &'a [ast::Expr], span: Span, block: &mut Block) {
        if let Some(call) = self.call(function, arguments, span) {
            block.push(Stmt::Do(call.expr));
        }
    }

    fn call(&mut self, name: &'a Name, arguments: &'a [ast::Expr], span: Span) -> Option<Call> {
        let function = match self.scopes.symbol(&name.text) {
            Some(Symbol::Function(function)) => *function,
            Some(_) => {
                self.error(name.span, format!("`{}` is not a function or procedure", name.text));
                arguments.iter().for_each(|argument| drop(self.operand(argument)));
                return None;
            }
            None => {
                self.unknown(&name.text, name.span, Sought::Function);
                arguments.iter().for_each(|argument| drop(self.operand(argument)));
                return None;
            }
        };
        self.note_call(function);
        let count = self.functions[function].parameters.len();
        if count != arguments.len() {
            let declared = self.functions[function].ast.name.span;
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("`{}` takes {count} argument{plural}, but {} are given here", name.text, arguments.len());
            self.report(Diagnostic::error(span, message).with_label(declared, "it is declared here"));
            arguments.iter().for_each(|argument| drop(self.operand(argument)));
            return None;
        }
        let mut passed = Passed { arguments: Vec::new(), regions: Vec::new(), before: Vec::new() };
        let result = self.result_object(function, span, &mut passed);
        let fine: Vec<bool> = arguments.iter().enumerate().map(|(number, argument)| self.argument(function, number, argument, &mut passed)).collect();
        if fine.contains(&false) {
            return None;
        }
        self.join_effects(function, &passed, name)?;
        let fuel = self.fuel(span, "call");
        let target = self.instance(function, passed.regions);
        let call = Expr::Call { function: target, arguments: passed.arguments, fuel };
        let expr = passed.before.into_iter().rev().fold(call, |call, before| build::sequence(before, call));
        Some(Call { expr, function, result })
    }

    /// Frame space for a result that is not a single value; its reference is the first argument.
    fn result_object(&mut self, function: usize, span: Span, passed: &mut Passed) -> Option<Object> {
        let ty = self.functions[function].result?;
        if self.types.is_value(ty) {
            return None;
        }
        let place = self.frame_place(ty, span);
        passed.regions.push(Region::Frame);
        passed.arguments.push(Argument::Place(place.clone()));
        Some(Object { storage: Storage::Memory(place), ty, fixed: None, span })
    }

    fn argument(&mut self, function: usize, number: usize, argument: &'a ast::Expr, passed: &mut Passed) -> bool {
        let parameter = self.functions[function].parameters[number].clone();
        let callee = self.functions[function].ast.name.text.as_str();
        let goal = Goal::Parameter(callee, &parameter.name);
        if parameter.ty == Ty::ERROR {
            self.operand(argument);
            return false;
        }
        if parameter.by_reference {
            return self.reference(&parameter.name, parameter.ty, goal, argument, passed);
        }
        let operand = self.operand(argument);
        if self.types.simple(parameter.ty).is_some() {
            let stored = self.stored_as(operand, parameter.ty, argument.span, goal, None);
            let fine = stored.is_some();
            passed.arguments.extend(stored.map(Argument::Value));
            return fine;
        }
        // The callee copies it, so that a reference serves as well as a value.
        let object = match operand {
            Operand::Object(object) => object,
            Operand::Result { call, object } => {
                passed.before.push(call);
                object
            }
            Operand::Undefined => {
                let place = self.frame_place(parameter.ty, argument.span);
                Object { storage: Storage::Memory(place), ty: parameter.ty, fixed: None, span: argument.span }
            }
            Operand::Value(value) => {
                self.mismatch(value.ty, parameter.ty, argument.span, goal);
                return false;
            }
            Operand::Error => return false,
        };
        if !self.types.same(object.ty, parameter.ty) {
            self.mismatch(object.ty, parameter.ty, argument.span, goal);
            return false;
        }
        self.pass_place(object, passed)
    }

    /// An argument for a `var` parameter: it must be writable and of exactly the parameter's type.
    fn reference(&mut self, name: &str, ty: Ty, goal: Goal, argument: &'a ast::Expr, passed: &mut Passed) -> bool {
        let operand = self.operand(argument);
        // A guard may pass a variable to a `var` parameter that is only read.
        let object = match operand {
            Operand::Error => return false,
            Operand::Object(object) if object.fixed.is_none() && !matches!(object.storage, Storage::Computed(_)) => object,
            Operand::Undefined => {
                let place = self.frame_place(ty, argument.span);
                Object { storage: Storage::Memory(place), ty, fixed: None, span: argument.span }
            }
            Operand::Object(_) | Operand::Value(_) | Operand::Result { .. } => {
                let text = self.quote(argument.span);
                self.error_with_help(
                    argument.span,
                    format!("{text} cannot be passed to `{name}`, a `var` parameter: it is not a variable that can be written"),
                    "assign it to a local variable and pass that",
                );
                return false;
            }
        };
        let same = match self.types.is_value(ty) {
            true => object.ty == ty || (self.types.same(object.ty, ty)),
            false => self.types.same(object.ty, ty),
        };
        if !same {
            if self.types.shift(object.ty, ty).is_some() {
                let (found, expected) = (self.types.describe(object.ty), self.types.describe(ty));
                self.error(
                    argument.span,
                    format!("the `var` parameter `{name}` is of type {expected}, so a variable of type {found} cannot be passed to it"),
                );
            } else {
                self.mismatch(object.ty, ty, argument.span, goal);
            }
            return false;
        }
        self.pass_place(object, passed)
    }

    fn pass_place(&mut self, object: Object, passed: &mut Passed) -> bool {
        let Storage::Memory(place) = object.storage else { return false };
        passed.regions.push(self.code.region(&place));
        passed.arguments.push(Argument::Place(place));
        true
    }

    /// Adds the callee's effects to those of this code; a formula may call only functions without effects.
    fn join_effects(&mut self, function: usize, passed: &Passed, name: &Name) -> Option<()> {
        let effects = self.functions[function].effects.clone();
        let places: Vec<&Place> = passed
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Place(place) => Some(place),
                Argument::Value(_) => None,
            })
            .collect();
        let sizes = self.reference_sizes(function);
        if self.code.kind == Kind::Formula {
            let writes = !effects.spans.is_empty() || effects.references.iter().any(|number| self.in_state(places[*number as usize]));
            let what = match (writes, effects.discards, effects.covers) {
                (true, _, _) => "changes the state",
                (_, true, _) => "makes an assumption",
                (_, _, true) => "covers a property",
                _ => return Some(()),
            };
            self.error_with_help(
                name.span,
                format!("`{}` {what}, so it cannot be called here", name.text),
                "guards, properties, constants and printed values may only look at the state",
            );
            return None;
        }
        for number in &effects.references {
            let place = places[*number as usize].clone();
            self.note_write(&place, sizes[*number as usize]);
        }
        for (from, to) in &effects.spans {
            self.code.effects.write(*from, *to);
        }
        self.code.effects.discards |= effects.discards;
        self.code.effects.covers |= effects.covers;
        Some(())
    }
}

/// The arguments of a call, while they are collected.
struct Passed {
    arguments: Vec<Argument>,
    /// The regions of the references among them.
    regions: Vec<Region>,
    /// Calls whose results are passed.
    before: Vec<Expr>,
}

/// A reference parameter, from inside the function.
pub(super) fn reference_place(number: u32) -> Place {
    Place { root: Root::Reference(number), offset: 0, indices: Vec::new() }
}
