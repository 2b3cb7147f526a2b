//! Reads expressions, places and statements.

use super::items::{Items, Read, named};
use super::lists::{Kind, Node};
use super::print::loop_word;
use crate::code::{
    Argument, BinaryOp, Block, CheckedOp, Expr, FunctionId, Index, LoopExpr, LoopKind, Place, PrintItem, PropertyId, Reg, Root, Stmt, Test, TypeId,
    UnaryOp,
};
use crate::real::RealOp;

impl Items<'_, '_> {
    pub(super) fn expr(&mut self) -> Read<Expr> {
        let node = self.take()?;
        read_expr(node)
    }

    pub(super) fn boxed(&mut self) -> Read<Box<Expr>> {
        self.expr().map(Box::new)
    }

    pub(super) fn exprs(&mut self) -> Read<Vec<Expr>> {
        let mut exprs = Vec::new();
        while let Some(node) = self.next() {
            exprs.push(read_expr(node)?);
        }
        Ok(exprs)
    }

    pub(super) fn place(&mut self) -> Read<Place> {
        let mut items = self.list()?;
        let word = items.word()?;
        let root = root(word).ok_or_else(|| items.mark.error(format!("`{word}` is not the root of a place")))?;
        let offset = items.number()?;
        let mut indices = Vec::new();
        while let Some(node) = items.next() {
            let mut index = Items::of(node)?;
            indices.push(Index { value: index.expr()?, stride: index.number()?, count: index.number()?, fault: index.fault()? });
            index.end()?;
        }
        Ok(Place { root, offset, indices })
    }

    pub(super) fn block(&mut self) -> Read<Block> {
        let mut block = Vec::new();
        while let Some(node) = self.next() {
            block.push(read_statement(node)?);
        }
        Ok(block)
    }
}

fn root(word: &str) -> Option<Root> {
    match word {
        "state" => Some(Root::State),
        "frame" => Some(Root::Frame),
        word => word.strip_prefix("ref")?.parse().ok().map(Root::Reference),
    }
}

/// Grows the stack, because text can nest deeper than a thread's stack allows in an unoptimised build.
fn read_expr(node: &Node) -> Read<Expr> {
    stacker::maybe_grow(128 << 10, 1 << 20, || read_expr_here(node))
}

fn read_expr_here(node: &Node) -> Read<Expr> {
    let mut items = match &node.kind {
        Kind::Word(word) if word.starts_with('r') => {
            return word[1..].parse().map(|number| Expr::Reg(Reg(number))).map_err(|_| node.mark.error("expected `r` and a number"));
        }
        Kind::Word(word) => return word.parse().map(Expr::Const).map_err(|_| node.mark.error(format!("`{word}` is not a value"))),
        _ => Items::of(node)?,
    };
    let word = items.word()?;
    let loops = [LoopKind::All, LoopKind::Any, LoopKind::Sum].map(|kind| (kind, loop_word(kind)));
    let expr = if let Some(op) = named(&UnaryOp::ALL, word) {
        Expr::Unary(op, items.boxed()?)
    } else if let Some(op) = named(&BinaryOp::ALL, word) {
        Expr::Binary(op, items.boxed()?, items.boxed()?)
    } else if let Some(op) = named(&RealOp::ALL, word) {
        Expr::Binary(BinaryOp::Real(op), items.boxed()?, items.boxed()?)
    } else if let Some(op) = named(&CheckedOp::ALL, word) {
        let fault = items.fault()?;
        Expr::Checked { op, left: items.boxed()?, right: items.boxed()?, fault }
    } else if let Some(kind) = named(&loops, word) {
        let (register, from, to) = (items.register()?, items.expr()?, items.expr()?);
        let (by, fuel, body) = (items.number()?, items.fault()?, items.expr()?);
        Expr::Loop(Box::new(LoopExpr { kind, register, from, to, by, body, fuel }))
    } else {
        match word {
            "load" => {
                let bits = items.number()?;
                Expr::Load { place: items.place()?, bits }
            }
            "all" => Expr::All(items.exprs()?),
            "any" => Expr::Any(items.exprs()?),
            "select" => Expr::Select(items.boxed()?, items.boxed()?, items.boxed()?),
            "non-zero" => {
                let fault = items.fault()?;
                Expr::Require { value: items.boxed()?, test: Test::NonZero, fault }
            }
            "between" => {
                let (fault, low, high) = (items.fault()?, items.number()?, items.number()?);
                Expr::Require { value: items.boxed()?, test: Test::Between(low, high), fault }
            }
            "call" => {
                let (function, fuel) = (FunctionId(items.id('f')?), items.fault()?);
                let mut arguments = Vec::new();
                while let Some(argument) = items.peek() {
                    arguments.push(if is_place(argument) { Argument::Place(items.place()?) } else { Argument::Value(items.expr()?) });
                }
                Expr::Call { function, arguments, fuel }
            }
            _ => return Err(node.mark.error(format!("`{word}` is not an operator"))),
        }
    };
    items.end()?;
    Ok(expr)
}

/// Whether a list begins as places do; no operator does.
fn is_place(node: &Node) -> bool {
    match &node.kind {
        Kind::List(items) => matches!(items.first(), Some(Node { kind: Kind::Word(word), .. }) if root(word).is_some()),
        _ => false,
    }
}

fn read_statement(node: &Node) -> Read<Stmt> {
    stacker::maybe_grow(128 << 10, 1 << 20, || read_statement_here(node))
}

fn read_statement_here(node: &Node) -> Read<Stmt> {
    let mut items = Items::of(node)?;
    let word = items.word()?;
    let statement = match word {
        "set" => Stmt::Set(items.register()?, items.expr()?),
        "store" => {
            let bits = items.number()?;
            Stmt::Store { place: items.place()?, bits, value: items.expr()? }
        }
        "copy" => {
            let bits = items.number()?;
            Stmt::Copy { to: items.place()?, from: items.place()?, bits }
        }
        "zero" => {
            let bits = items.number()?;
            Stmt::Zero { place: items.place()?, bits }
        }
        "sort" | "resort" => {
            let again = word == "resort";
            Stmt::Sort { place: items.place()?, stride: items.number()?, count: items.number()?, bits: items.number()?, again }
        }
        "if" => {
            let mut branches = Vec::new();
            let otherwise = loop {
                let mut part = items.list()?;
                if matches!(part.peek(), Some(Node { kind: Kind::Word("else"), .. })) {
                    part.expect("else")?;
                    break part.block()?;
                }
                branches.push((part.expr()?, part.block()?));
            };
            Stmt::If { branches, otherwise }
        }
        "while" => {
            let fuel = items.fault()?;
            Stmt::While { condition: items.expr()?, body: items.block()?, fuel }
        }
        "for" => {
            let (register, from, to) = (items.register()?, items.expr()?, items.expr()?);
            let (by, fuel) = (items.number()?, items.fault()?);
            Stmt::For { register, from, to, by, body: items.block()?, fuel }
        }
        "do" => Stmt::Do(items.expr()?),
        "check" => {
            let fault = items.fault()?;
            Stmt::Check { condition: items.expr()?, fault }
        }
        "fail" => Stmt::Fault(items.fault()?),
        "discard" => Stmt::Discard,
        "cover" => Stmt::Cover(PropertyId(items.id('p')?)),
        "return" if items.peek().is_none() => Stmt::Return(None),
        "return" => Stmt::Return(Some(items.expr()?)),
        "print" => {
            let mut printed = Vec::new();
            while let Some(node) = items.next() {
                printed.push(read_print_item(node)?);
            }
            Stmt::Print(printed)
        }
        _ => return Err(node.mark.error(format!("`{word}` is not a statement"))),
    };
    items.end()?;
    Ok(statement)
}

fn read_print_item(node: &Node) -> Read<PrintItem> {
    if let Kind::Text(text) = &node.kind {
        return Ok(PrintItem::Text(text.clone()));
    }
    let mut items = Items::of(node)?;
    let word = items.word()?;
    let ty = TypeId(items.id('t')?);
    let item = match word {
        "value" => PrintItem::Value(items.expr()?, ty),
        "place" => PrintItem::Place(items.place()?, ty),
        _ => return Err(node.mark.error(format!("`{word}` cannot be printed"))),
    };
    items.end()?;
    Ok(item)
}
