//! The local variables that must be in memory because something may refer to them: those passed to `var` parameters
//! and those with aliases.

use super::Elaborator;
use super::scopes::Symbol;
use crate::murphi::ast::{Domain, Expr, ExprKind, Name, PutArgument, Quantifier, Stmt, StmtKind};
use std::collections::HashSet;

/// The names that are passed by reference or aliased as a whole somewhere in the statements.
pub(super) fn addressed<'a>(elaborator: &Elaborator<'a>, statements: &'a [Stmt]) -> HashSet<&'a str> {
    let mut search = Search { elaborator, found: HashSet::new() };
    search.statements(statements);
    search.found
}

struct Search<'s, 'a> {
    elaborator: &'s Elaborator<'a>,
    found: HashSet<&'a str>,
}

impl<'a> Search<'_, 'a> {
    fn statements(&mut self, statements: &'a [Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Assign { to, value } => self.expressions([to, value]),
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expression(condition);
                    self.statements(body);
                }
                self.statements(otherwise.as_deref().unwrap_or_default());
            }
            StmtKind::Switch { subject, cases, otherwise } => {
                self.expression(subject);
                for (matches, body) in cases {
                    self.expressions(matches);
                    self.statements(body);
                }
                self.statements(otherwise.as_deref().unwrap_or_default());
            }
            StmtKind::For { quantifiers, body } => {
                self.quantifiers(quantifiers);
                self.statements(body);
            }
            StmtKind::While { condition, body } => {
                self.expression(condition);
                self.statements(body);
            }
            StmtKind::Alias { aliases, body } => {
                for alias in aliases {
                    self.address(&alias.target);
                    self.expression(&alias.target);
                }
                self.statements(body);
            }
            StmtKind::Call { function, arguments } => self.call(function, arguments),
            StmtKind::Clear(expr) | StmtKind::Undefine(expr) | StmtKind::Return(Some(expr)) | StmtKind::Put(PutArgument::Value(expr)) => {
                self.expression(expr);
            }
            StmtKind::Assert { condition, .. } | StmtKind::Assume { condition, .. } | StmtKind::Cover { condition, .. } => self.expression(condition),
            StmtKind::BagAdd { element, bag } => self.expressions([element, bag]),
            StmtKind::BagRemove { index, bag } => self.expressions([index, bag]),
            StmtKind::BagRemoveIf { bag, condition, .. } => self.expressions([bag, condition]),
            StmtKind::Return(None) | StmtKind::Error(_) | StmtKind::Put(PutArgument::Text(_)) => {}
        }
    }

    fn expressions(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) {
        expressions.into_iter().for_each(|expr| self.expression(expr));
    }

    fn expression(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Call { function, arguments } => self.call(function, arguments),
            ExprKind::Field { base, .. } => self.expression(base),
            ExprKind::Index { base, index } => self.expressions([&**base, index]),
            ExprKind::Unary { operand, .. } | ExprKind::IsUndefined(operand) | ExprKind::Parenthesised(operand) => self.expression(operand),
            ExprKind::Binary { left, right, .. } => self.expressions([&**left, right]),
            ExprKind::Chain { operands, .. } => self.expressions(operands),
            ExprKind::Conditional { condition, then, otherwise } => self.expressions([&**condition, then, otherwise]),
            ExprKind::Quantified { quantifiers, body, .. } => {
                self.quantifiers(quantifiers);
                self.expression(body);
            }
            ExprKind::IsMember { value, .. } => self.expression(value),
            ExprKind::BagCount { bag, condition, .. } => self.expressions([&**bag, condition]),
            ExprKind::Number(_) | ExprKind::HugeNumber(_) | ExprKind::Name(_) | ExprKind::Real(_) => {}
        }
    }

    fn quantifiers(&mut self, quantifiers: &'a [Quantifier]) {
        for quantifier in quantifiers {
            if let Domain::Range { from, to, by } = &quantifier.domain {
                self.expressions([from, to].into_iter().chain(by));
            }
        }
    }

    fn call(&mut self, function: &'a Name, arguments: &'a [Expr]) {
        let declared = match self.elaborator.scopes.symbol(&function.text) {
            Some(Symbol::Function(function)) => Some(&self.elaborator.functions[*function]),
            _ => None,
        };
        for (number, argument) in arguments.iter().enumerate() {
            let by_reference = declared.and_then(|declared| declared.parameters.get(number)).is_none_or(|parameter| parameter.by_reference);
            if by_reference {
                self.address(argument);
            }
            self.expression(argument);
        }
    }

    fn address(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.found.insert(name);
            }
            ExprKind::Parenthesised(inner) => self.address(inner),
            _ => {}
        }
    }
}
