//! Statements.

use super::Elaborator;
use super::build;
use super::code::Kind;
use super::conversions::Goal;
use super::operand::{Operand, Storage, Value};
use super::types::Ty;
use crate::murphi::ast::{self, PutArgument, StmtKind, Text};
use crate::source::Span;
use wayfarer_ir::{Block, Expr, FaultKind, PrintItem, RealOp, Stmt};

impl<'a> Elaborator<'a> {
    pub(super) fn block(&mut self, statements: &'a [ast::Stmt]) -> Block {
        let mut block = Block::new();
        self.statements(statements, &mut block);
        block
    }

    pub(super) fn statements(&mut self, statements: &'a [ast::Stmt], block: &mut Block) {
        for statement in statements {
            let mark = self.code.mark();
            self.statement(statement, block);
            self.code.free_from(mark);
        }
    }

    fn statement(&mut self, statement: &'a ast::Stmt, block: &mut Block) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Assign { to, value } => self.assign(to, value, block),
            StmtKind::If { branches, otherwise } => self.if_statement(branches, otherwise.as_deref(), block),
            StmtKind::Switch { subject, cases, otherwise } => self.switch(subject, cases, otherwise.as_deref(), block),
            StmtKind::For { quantifiers, body } => self.for_statement(quantifiers, body, span, block),
            StmtKind::While { condition, body } => self.while_statement(condition, body, span, block),
            StmtKind::Alias { aliases, body } => {
                self.scopes.open();
                for alias in aliases {
                    self.alias(alias, Some(block));
                }
                self.statements(body, block);
                self.scopes.close();
            }
            StmtKind::Call { function, arguments } => self.call_statement(function, arguments, span, block),
            StmtKind::Clear(target) => self.clear(target, span, block),
            StmtKind::Undefine(target) => self.undefine(target, block),
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span, block),
            StmtKind::Assert { condition, message } => self.assertion(condition, message.as_ref(), span, block),
            StmtKind::Assume { condition, .. } => {
                if let Some(condition) = self.truth(condition, "an assumption") {
                    self.code.effects.discards = true;
                    block.push(Stmt::If { branches: vec![(build::not(condition), vec![Stmt::Discard])], otherwise: Block::new() });
                }
            }
            StmtKind::Cover { condition, message } => {
                let condition = self.truth(condition, "a cover condition");
                let property = self.cover_statement(message.as_ref(), span);
                if let Some(condition) = condition {
                    self.code.effects.covers = true;
                    block.push(Stmt::If { branches: vec![(condition, vec![Stmt::Cover(property)])], otherwise: Block::new() });
                }
            }
            StmtKind::Error(message) => {
                let message = message.as_ref().map_or_else(|| "an error statement was reached".to_string(), |message| message.text.clone());
                block.push(Stmt::Fault(self.fault(FaultKind::Error, span, message)));
            }
            StmtKind::Put(argument) => self.put(argument, block),
            StmtKind::BagAdd { element, bag } => self.bag_add(element, bag, span, block),
            StmtKind::BagRemove { index, bag } => self.bag_remove(index, bag, span, block),
            StmtKind::BagRemoveIf { name, bag, condition } => self.bag_remove_if(name, bag, condition, span, block),
        }
    }

    fn assign(&mut self, to: &'a ast::Expr, value: &'a ast::Expr, block: &mut Block) {
        let target = self.writable(to);
        let operand = self.operand(value);
        let Some(target) = target else { return };
        let goal = Goal::Assignment(to.span);
        if self.types.simple(target.ty).is_some() {
            if let Some(stored) = self.stored_as(operand, target.ty, value.span, goal, Some(block)) {
                self.store(&target, stored, block);
            }
        } else if let Storage::Memory(place) = target.storage {
            self.copy_whole(place, target.ty, operand, value.span, goal, block);
        }
    }

    fn if_statement(&mut self, branches: &'a [(ast::Expr, Vec<ast::Stmt>)], otherwise: Option<&'a [ast::Stmt]>, block: &mut Block) {
        let mut lowered = Vec::new();
        for (condition, body) in branches {
            let condition = self.truth(condition, "the condition of `if`");
            let body = self.block(body);
            lowered.extend(condition.map(|condition| (condition, body)));
        }
        let otherwise = self.block(otherwise.unwrap_or_default());
        block.push(Stmt::If { branches: lowered, otherwise });
    }

    /// The subject is evaluated once; the first case that has its value runs. Cases need not be constant.
    fn switch(
        &mut self,
        subject: &'a ast::Expr,
        cases: &'a [(Vec<ast::Expr>, Vec<ast::Stmt>)],
        otherwise: Option<&'a [ast::Stmt]>,
        block: &mut Block,
    ) {
        let subject_value = self.value(subject).map(|value| match value.as_constant() {
            Some(_) => value,
            None => Value { expr: Expr::Reg(self.code.bind(value.expr, block)), ..value },
        });
        let mut branches = Vec::new();
        for (matches, body) in cases {
            let mut tests = Vec::new();
            for case in matches {
                let Some(mut value) = self.value(case) else { continue };
                let Some(mut subject) = subject_value.clone() else { continue };
                if self.common(&mut subject, &mut value, "this case and the subject of the `switch`", case.span).is_some() {
                    tests.extend(self.values_equal(subject, value, case.span));
                }
            }
            let body = self.block(body);
            branches.push((build::any(tests), body));
        }
        let otherwise = self.block(otherwise.unwrap_or_default());
        block.push(Stmt::If { branches, otherwise });
    }

    fn while_statement(&mut self, condition: &'a ast::Expr, body: &'a [ast::Stmt], span: Span, block: &mut Block) {
        let condition = self.truth(condition, "the condition of `while`");
        let body = self.block(body);
        let fuel = self.fuel(span, "loop");
        if let Some(condition) = condition {
            block.push(Stmt::While { condition, body, fuel });
        }
    }

    fn return_statement(&mut self, value: Option<&'a ast::Expr>, span: Span, block: &mut Block) {
        let (function, result) = match self.code.kind {
            Kind::Function(function, result) => (Some(function), result),
            Kind::Command | Kind::Formula => (None, None),
        };
        let name = function.map_or(String::new(), |function| self.functions[function].ast.name.text.clone());
        match (value, result) {
            (None, None) => block.push(Stmt::Return(None)),
            (Some(value), None) => {
                self.operand(value);
                let what = if function.is_some() { format!("`{name}` is a procedure") } else { "a rule".to_string() };
                let message = if function.is_some() { format!("{what} and returns no value") } else { format!("{what} returns no value") };
                self.error_with_help(value.span, message, "write `return;`");
            }
            (None, Some(ty)) => {
                let expected = self.types.describe(ty);
                self.error(span, format!("`{name}` must return a value of type {expected} here"));
            }
            (Some(value), Some(ty)) => {
                let operand = self.operand(value);
                if let Operand::Undefined = operand {
                    return self.error(value.span, "`undefined` cannot be returned");
                }
                if self.types.simple(ty).is_some() {
                    if let Some(stored) = self.stored_as(operand, ty, value.span, Goal::Result(&name), Some(block)) {
                        block.push(Stmt::Return(Some(stored)));
                    }
                } else if ty != Ty::ERROR {
                    // The caller passes a reference to the place of the result, before all other arguments.
                    let place = wayfarer_ir::Place { root: wayfarer_ir::Root::Reference(0), offset: 0, indices: Vec::new() };
                    self.copy_whole(place, ty, operand, value.span, Goal::Result(&name), block);
                    block.push(Stmt::Return(None));
                }
            }
        }
    }

    fn assertion(&mut self, condition: &'a ast::Expr, message: Option<&'a Text>, span: Span, block: &mut Block) {
        let text = match message {
            Some(message) => message.text.clone(),
            None => format!("assertion failed: {}", self.quote(condition.span)),
        };
        if let Some(condition) = self.truth(condition, "an assertion") {
            let fault = self.fault(FaultKind::Assertion, span, text);
            block.push(Stmt::Check { condition, fault });
        }
    }

    fn put(&mut self, argument: &'a PutArgument, block: &mut Block) {
        let item = match argument {
            PutArgument::Text(text) => PrintItem::Text(text.text.clone()),
            PutArgument::Value(expr) => {
                // A search does not print, so the printed expression must have no effects.
                let before = std::mem::replace(&mut self.code.kind, Kind::Formula);
                let operand = self.operand(expr);
                self.code.kind = before;
                match operand {
                    Operand::Object(object) => match object.storage {
                        Storage::Memory(place) => PrintItem::Place(place, self.types.ir(object.ty)),
                        Storage::Register(_) | Storage::Computed(_) => PrintItem::Value(self.stored(&object), self.types.ir(object.ty)),
                    },
                    Operand::Value(value) => self.print_value(value),
                    Operand::Undefined => PrintItem::Text("undefined".to_string()),
                    Operand::Result { .. } => {
                        return self.error_with_help(expr.span, "a whole result cannot be printed", "assign it to a variable first");
                    }
                    Operand::Error => return,
                }
            }
        };
        block.push(Stmt::Print(vec![item]));
    }

    fn print_value(&mut self, value: Value) -> PrintItem {
        if self.types.is_real(value.ty)
            && let Some((ty, format)) = self.types.any_real()
        {
            return PrintItem::Value(build::real(RealOp::Pack, Expr::Const(format.encode()), value.expr), self.types.ir(ty));
        }
        match self.types.simple(value.ty) {
            Some(simple) => PrintItem::Value(build::add(value.expr, simple.to_stored()), self.types.ir(value.ty)),
            None => {
                let all = self.types.any_number(value.range);
                let by = self.types.simple(all).map_or(0, |simple| simple.to_stored());
                PrintItem::Value(build::add(value.expr, by), self.types.ir(all))
            }
        }
    }
}
