//! Visits every part of a tree once, for analyses that search for something rather than compute something. Printed
//! items are visited too.

use crate::code::{Argument, Block, Expr, Place, PrintItem, Stmt};

/// Visits all statements of a block, each before those inside it.
pub fn statements<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    for statement in block {
        visit(statement);
        match statement {
            Stmt::If { branches, otherwise } => {
                branches.iter().for_each(|(_, block)| statements(block, visit));
                statements(otherwise, visit);
            }
            Stmt::While { body, .. } | Stmt::For { body, .. } => statements(body, visit),
            _ => {}
        }
    }
}

/// Visits all expressions of a block, each before those inside it.
pub fn expressions_of_block<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Expr)) {
    statements(block, &mut |statement| match statement {
        Stmt::Set(_, expr) | Stmt::Do(expr) | Stmt::Return(Some(expr)) => expressions(expr, visit),
        Stmt::Check { condition, .. } | Stmt::While { condition, .. } => expressions(condition, visit),
        Stmt::Store { place, value, .. } => {
            expressions_of_place(place, visit);
            expressions(value, visit);
        }
        Stmt::Copy { to, from, .. } => {
            expressions_of_place(to, visit);
            expressions_of_place(from, visit);
        }
        Stmt::Zero { place, .. } | Stmt::Sort { place, .. } => expressions_of_place(place, visit),
        Stmt::If { branches, .. } => branches.iter().for_each(|(condition, _)| expressions(condition, visit)),
        Stmt::For { from, to, .. } => {
            expressions(from, visit);
            expressions(to, visit);
        }
        Stmt::Print(items) => {
            for item in items {
                match item {
                    PrintItem::Text(_) => {}
                    PrintItem::Value(expr, _) => expressions(expr, visit),
                    PrintItem::Place(place, _) => expressions_of_place(place, visit),
                }
            }
        }
        Stmt::Fault(_) | Stmt::Discard | Stmt::Cover(_) | Stmt::Return(None) => {}
    });
}

/// Visits an expression and all its subexpressions.
pub fn expressions<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Expr)) {
    visit(expr);
    match expr {
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Load { place, .. } => expressions_of_place(place, visit),
        Expr::Unary(_, operand) => expressions(operand, visit),
        Expr::Binary(_, left, right) | Expr::Checked { left, right, .. } => {
            expressions(left, visit);
            expressions(right, visit);
        }
        Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| expressions(operand, visit)),
        Expr::Select(condition, then, otherwise) => {
            expressions(condition, visit);
            expressions(then, visit);
            expressions(otherwise, visit);
        }
        Expr::Require { value, .. } => expressions(value, visit),
        Expr::Loop(fold) => {
            expressions(&fold.from, visit);
            expressions(&fold.to, visit);
            expressions(&fold.body, visit);
        }
        Expr::Call { arguments, .. } => {
            for argument in arguments {
                match argument {
                    Argument::Value(expr) => expressions(expr, visit),
                    Argument::Place(place) => expressions_of_place(place, visit),
                }
            }
        }
    }
}

fn expressions_of_place<'a>(place: &'a Place, visit: &mut impl FnMut(&'a Expr)) {
    place.indices.iter().for_each(|index| expressions(&index.value, visit));
}

/// Visits the operands of an expression, including indices of places and arguments, but not their subexpressions.
pub fn operands<'a>(expr: &'a Expr, visit: &mut impl FnMut(&'a Expr)) {
    match expr {
        Expr::Const(_) | Expr::Reg(_) => {}
        Expr::Load { place, .. } => indices(place, visit),
        Expr::Unary(_, operand) | Expr::Require { value: operand, .. } => visit(operand),
        Expr::Binary(_, left, right) | Expr::Checked { left, right, .. } => {
            visit(left);
            visit(right);
        }
        Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(visit),
        Expr::Select(condition, then, otherwise) => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        Expr::Loop(fold) => {
            visit(&fold.from);
            visit(&fold.to);
            visit(&fold.body);
        }
        Expr::Call { arguments, .. } => {
            for argument in arguments {
                match argument {
                    Argument::Value(expr) => visit(expr),
                    Argument::Place(place) => indices(place, visit),
                }
            }
        }
    }
}

/// Visits the outermost expressions of one statement that a search evaluates: neither those of inner statements nor
/// those of printed items.
pub fn operands_of_statement<'a>(statement: &'a Stmt, visit: &mut impl FnMut(&'a Expr)) {
    match statement {
        Stmt::Set(_, expr) | Stmt::Do(expr) | Stmt::Return(Some(expr)) => visit(expr),
        Stmt::Check { condition, .. } | Stmt::While { condition, .. } => visit(condition),
        Stmt::Store { place, value, .. } => {
            indices(place, visit);
            visit(value);
        }
        Stmt::Copy { to, from, .. } => {
            indices(to, visit);
            indices(from, visit);
        }
        Stmt::Zero { place, .. } | Stmt::Sort { place, .. } => indices(place, visit),
        Stmt::If { branches, .. } => branches.iter().for_each(|(condition, _)| visit(condition)),
        Stmt::For { from, to, .. } => {
            visit(from);
            visit(to);
        }
        Stmt::Fault(_) | Stmt::Discard | Stmt::Cover(_) | Stmt::Return(None) | Stmt::Print(_) => {}
    }
}

fn indices<'a>(place: &'a Place, visit: &mut impl FnMut(&'a Expr)) {
    place.indices.iter().for_each(|index| visit(&index.value));
}
