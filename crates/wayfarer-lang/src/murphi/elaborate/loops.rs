//! `for`, `forall` and `exists`: the domains of their variables, and the loops.

use super::Elaborator;
use super::build;
use super::interval::Interval;
use super::operand::{Operand, Value};
use super::scopes::Symbol;
use super::types::{Shape, Ty};
use crate::murphi::ast::{self, Domain, Quantifier, TypeKind};
use crate::source::Span;
use wayfarer_ir::{BinaryOp, Block, CheckedOp, Expr, FaultKind, LoopExpr, LoopKind, Reg, Stmt};

/// The domain of a bound variable.
pub(super) struct Iteration {
    pub(super) from: Expr,
    pub(super) to: Expr,
    pub(super) by: Step,
    pub(super) ty: Ty,
    pub(super) range: Interval,
}

pub(super) enum Step {
    Constant(i64),
    Computed(Value, Span),
}

impl Iteration {
    /// The bound variable, held by a register.
    pub(super) fn variable(&self, register: Reg) -> Symbol {
        Symbol::Operand(Operand::Value(Value::new(Expr::Reg(register), self.ty, self.range)))
    }
}

impl<'a> Elaborator<'a> {
    /// The domain of a quantifier. A type gives all its values; `a to b` steps from the one to the other.
    pub(super) fn domain(&mut self, quantifier: &'a Quantifier) -> Option<Iteration> {
        match &quantifier.domain {
            Domain::Type(ty) => {
                if let TypeKind::Range(low, high) = &ty.kind {
                    let (low, high) = self.range_bounds(low, high, ty.span)?;
                    return self.up(low, high, Ty::NUMBER, ty.span);
                }
                let (place, ty) = (ty.span, self.type_expr(ty, None));
                if ty == Ty::ERROR {
                    return None;
                }
                let Some(simple) = self.types.ordinal(ty) else {
                    let found = self.types.describe(ty);
                    self.error_with_help(
                        place,
                        format!("`{}` cannot run over {found}", quantifier.name.text),
                        "loops and rulesets run over ranges, enums, scalarsets, unions and booleans",
                    );
                    return None;
                };
                let ty = if self.types.is_number(ty) { Ty::NUMBER } else { ty };
                self.up(simple.low, simple.high, ty, place)
            }
            Domain::Range { from, to, by } => self.range_domain(from, to, by.as_ref()),
        }
    }

    /// All numbers from one to another. Loops compare numbers with a sign, so the two must be on the same side.
    fn up(&mut self, low: i128, high: i128, ty: Ty, span: Span) -> Option<Iteration> {
        if low <= i64::MAX.into() && high > i64::MAX.into() {
            self.error(span, format!("this has numbers on both sides of {}: a loop would not end", i64::MAX));
            return None;
        }
        let (from, to) = (Expr::Const(low as i64), Expr::Const(high as i64));
        Some(Iteration { from, to, by: Step::Constant(1), ty, range: Interval { low, high } })
    }

    fn range_domain(&mut self, from: &'a ast::Expr, to: &'a ast::Expr, by: Option<&'a ast::Expr>) -> Option<Iteration> {
        let (first, last) = self.loop_bounds(from, to);
        let step = match by {
            None => Some(Value::constant(1, Ty::NUMBER)),
            Some(by) => self.number(by, "the step of a loop"),
        };
        let (first, last, step) = (first?, last?, step?);
        let span = from.span.to(to.span);
        if [&first, &last, &step].into_iter().any(|value| value.range.is_unsigned()) {
            self.error(span, format!("the bounds and the step of a loop must not go beyond {}", i64::MAX));
            return None;
        }
        match (by, step.as_constant()) {
            (Some(by), Some(0)) => {
                self.error(by.span, "the step of a loop must not be 0: the loop would not end");
                return None;
            }
            (by, Some(step)) => {
                let away = if step > 0 { first.range.low > last.range.high } else { first.range.high < last.range.low };
                let constant = first.as_constant().is_some() && last.as_constant().is_some();
                if away && constant && by.is_some() {
                    self.error(span, format!("a step of {step} leads away from the last bound"));
                    return None;
                }
                if away && constant {
                    self.warn(span, "this loop never runs: its first bound is past its last", "write `by -1` to count down");
                }
            }
            (_, None) => {}
        }
        let range = first.range.hull(last.range);
        let by = match (step.as_constant(), by) {
            (Some(step), _) => Step::Constant(step),
            (None, Some(by)) => Step::Computed(step, by.span),
            (None, None) => Step::Constant(1),
        };
        Some(Iteration { from: first.expr, to: last.expr, by, ty: Ty::NUMBER, range })
    }

    /// The bounds of `a to b`. As in rumur they may be members of an enum or scalarset, which stand for their positions.
    fn loop_bounds(&mut self, from: &'a ast::Expr, to: &'a ast::Expr) -> (Option<Value>, Option<Value>) {
        let (first, last) = (self.value(from), self.value(to));
        let (Some(first), Some(last)) = (first, last) else { return (None, None) };
        if self.types.is_number(first.ty) && self.types.is_number(last.ty) {
            return (Some(first), Some(last));
        }
        if first.ty == last.ty && matches!(self.types.shape(first.ty), Shape::Enum | Shape::Scalarset) {
            let found = self.types.describe(first.ty);
            if self.types.has_elements(first.ty) {
                self.asymmetry(from.span.to(to.span), true, format!("the bounds are of type {found}, whose elements have no order"));
            }
            self.warn(
                from.span.to(to.span),
                format!("the bounds are of type {found}, so this loop counts their positions from 0"),
                "run over a type to have its values",
            );
            return (Some(first), Some(last));
        }
        for (value, expr) in [(first, from), (last, to)] {
            if !self.types.is_number(value.ty) {
                let found = self.types.describe(value.ty);
                self.error(expr.span, format!("the bounds of a loop must be numbers, but this is of type {found}"));
            }
        }
        (None, None)
    }

    /// `forall` and `exists`; several variables nest.
    pub(super) fn quantified(&mut self, universal: bool, quantifiers: &'a [Quantifier], body: &'a ast::Expr, span: Span) -> Option<Value> {
        let what = if universal { "the body of `forall`" } else { "the body of `exists`" };
        let mut loops = Vec::new();
        let mut fine = true;
        for quantifier in quantifiers {
            let domain = self.domain(quantifier);
            self.scopes.open();
            let register = self.code.register();
            match domain {
                Some(Iteration { by: Step::Computed(_, place), .. }) => {
                    self.error(place, "the step of a quantifier must be a constant");
                    fine = false;
                    self.declare(&quantifier.name, Symbol::Operand(Operand::Error));
                }
                Some(domain) => {
                    self.declare(&quantifier.name, domain.variable(register));
                    loops.push((register, domain));
                }
                None => {
                    fine = false;
                    self.declare(&quantifier.name, Symbol::Operand(Operand::Error));
                }
            }
        }
        let body = self.truth(body, what);
        quantifiers.iter().for_each(|_| self.scopes.close());
        let body = body.filter(|_| fine)?;
        let kind = if universal { LoopKind::All } else { LoopKind::Any };
        let fuel = self.fuel(span, "quantifier");
        let wrapped = loops.into_iter().rev().fold(body, |body, (register, domain)| {
            let by = if let Step::Constant(by) = domain.by { by } else { 1 };
            Expr::Loop(Box::new(LoopExpr { kind, register, from: domain.from, to: domain.to, by, body, fuel }))
        });
        Some(Value::truth(wrapped))
    }

    pub(super) fn for_statement(&mut self, quantifiers: &'a [Quantifier], body: &'a [ast::Stmt], span: Span, block: &mut Block) {
        let Some((first, rest)) = quantifiers.split_first() else {
            return self.statements(body, block);
        };
        let domain = self.domain(first);
        self.scopes.open();
        let register = self.code.register();
        match domain {
            None => {
                self.declare(&first.name, Symbol::Operand(Operand::Error));
                self.for_statement(rest, body, span, &mut Block::new());
            }
            Some(domain) => {
                self.declare(&first.name, domain.variable(register));
                if self.types.has_elements(domain.ty) {
                    let described = (self.types.describe(domain.ty), self.types.sets(domain.ty));
                    self.asymmetries.loops.insert(first.name.span, described);
                }
                let mut inner = Block::new();
                self.for_statement(rest, body, span, &mut inner);
                let fuel = self.fuel(span, "loop");
                match domain.by {
                    Step::Constant(by) => block.push(Stmt::For { register, from: domain.from, to: domain.to, by, body: inner, fuel }),
                    Step::Computed(step, place) => self.stepped_loop(register, domain.from, domain.to, step, inner, (span, place), block),
                }
            }
        }
        self.scopes.close();
    }

    /// A loop whose step is computed: counts the rounds, and sets the variable at the start of each.
    #[allow(clippy::too_many_arguments)] // The parts of a loop belong together.
    fn stepped_loop(&mut self, register: Reg, from: Expr, to: Expr, step: Value, body: Block, (span, place): (Span, Span), block: &mut Block) {
        let (from, to) = (Expr::Reg(self.code.bind(from, block)), Expr::Reg(self.code.bind(to, block)));
        let step = Expr::Reg(self.code.bind(step.expr, block));
        let fuel = self.fuel(span, "loop");
        let message = format!("the step {} is 0: the loop does not end", self.quote(place));
        let fault = self.fault(FaultKind::Endless, place, message);
        block.push(Stmt::Check { condition: build::binary(BinaryOp::Ne, step.clone(), Expr::Const(0)), fault });
        let upwards = build::binary(BinaryOp::Gt, step.clone(), Expr::Const(0));
        let forth = build::binary(BinaryOp::Sub, to.clone(), from.clone());
        let runs = build::select(upwards, build::binary(BinaryOp::Le, from.clone(), to.clone()), build::binary(BinaryOp::Ge, from.clone(), to));
        let rounds = build::checked(CheckedOp::Div, forth, step.clone(), fuel);
        let counter = self.code.register();
        let value = build::binary(BinaryOp::Add, from, build::binary(BinaryOp::Mul, Expr::Reg(counter), step));
        let mut inner = vec![Stmt::Set(register, value)];
        inner.extend(body);
        let to = build::select(runs, rounds, Expr::Const(-1));
        block.push(Stmt::For { register: counter, from: Expr::Const(0), to, by: 1, body: inner, fuel });
    }
}
