//! Expressions, by precedence climbing.
//!
//! From loose to tight: `?:`, `->`, `||`, `&&`, `|`, `^`, `&`, `!`, comparisons, shifts, `+ -`, `* / %`, signs and
//! `~`. This is rumur's table; CMurphi's is the same on the operators that it has. Surprisingly, `!` binds looser
//! than comparison: `!a = b` is `!(a = b)`. Both tools refuse chains of `->` and of comparisons, and so does this
//! parser; it lets `?:` chain to the right, as other languages do.

use super::blocks::BlockKind;
use super::{NESTING_LIMIT, Parser};
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{BinaryOp, ChainOp, Domain, Expr, ExprKind, Quantifier, UnaryOp};
use crate::murphi::token::{Sign, TokenKind, Word};

/// An expression with the height of its tree, which the parser bounds.
struct Tall {
    expr: Expr,
    height: u32,
}

/// The node that an infix operator builds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Conditional,
    Binary(BinaryOp),
    Chain(ChainOp),
}

const LOOSEST: u8 = 0;
const IMPLICATION: u8 = 1;
const COMPARISON: u8 = 8;
/// Tighter than every infix operator: the operand of a sign.
const TIGHTEST: u8 = 12;

fn infix(sign: Sign) -> Option<(Infix, u8)> {
    use BinaryOp::*;
    Some(match sign {
        Sign::Question => (Infix::Conditional, LOOSEST),
        Sign::Implies | Sign::FatArrow => (Infix::Binary(Implies), IMPLICATION),
        Sign::OrOr => (Infix::Chain(ChainOp::Or), 2),
        Sign::AndAnd => (Infix::Chain(ChainOp::And), 3),
        Sign::Or => (Infix::Chain(ChainOp::Or), 4),
        Sign::Xor => (Infix::Binary(Xor), 5),
        Sign::And => (Infix::Chain(ChainOp::And), 6),
        Sign::Equal | Sign::EqualEqual => (Infix::Binary(Equal), COMPARISON),
        Sign::NotEqual => (Infix::Binary(NotEqual), COMPARISON),
        Sign::Less => (Infix::Binary(Less), COMPARISON),
        Sign::LessEqual => (Infix::Binary(LessEqual), COMPARISON),
        Sign::Greater => (Infix::Binary(Greater), COMPARISON),
        Sign::GreaterEqual => (Infix::Binary(GreaterEqual), COMPARISON),
        Sign::ShiftLeft => (Infix::Binary(ShiftLeft), 9),
        Sign::ShiftRight => (Infix::Binary(ShiftRight), 9),
        Sign::Plus => (Infix::Chain(ChainOp::Add), 10),
        Sign::Minus => (Infix::Binary(Subtract), 10),
        Sign::Times => (Infix::Chain(ChainOp::Multiply), 11),
        Sign::Divide => (Infix::Binary(Divide), 11),
        Sign::Remainder => (Infix::Binary(Remainder), 11),
        _ => return None,
    })
}

/// Whether a token can follow a complete operand; distinguishes a rule's priority from a guard that begins with a
/// number.
pub(super) fn continues_expression(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Sign(sign) if sign == Sign::GuardArrow || infix(sign).is_some())
}

impl Parser<'_> {
    /// An expression that must not be an assignment: `:=` in it is reported as a mistake for `=`.
    pub(super) fn expression(&mut self) -> Expr {
        let left = self.bare_expression();
        if !self.at(Sign::Assign) {
            return left;
        }
        self.report(Diagnostic::error(self.token().span, "`:=` inside an expression").with_help("`=` compares; `:=` is a statement"));
        self.bump();
        let right = self.bare_expression();
        let span = left.span.to(right.span);
        Expr { kind: ExprKind::Binary { op: BinaryOp::Equal, left: Box::new(left), right: Box::new(right) }, span }
    }

    /// An expression that may turn out to be the left side of an assignment.
    pub(super) fn bare_expression(&mut self) -> Expr {
        self.operators(LOOSEST).expr
    }

    /// A place to write to, or a call: a name with what follows it, without operators.
    pub(super) fn designator(&mut self) -> Expr {
        self.postfix().expr
    }

    /// Whether the next token can begin an expression.
    pub(super) fn at_expression(&self) -> bool {
        match self.peek() {
            TokenKind::Name | TokenKind::Number(_) | TokenKind::HugeNumber(_) | TokenKind::Real => true,
            TokenKind::Word(word) => matches!(word, Word::Forall | Word::Exists | Word::IsUndefined | Word::IsMember),
            TokenKind::Sign(sign) => {
                matches!(sign, Sign::OpenRound | Sign::Not | Sign::Minus | Sign::Plus | Sign::Complement)
            }
            TokenKind::Text | TokenKind::EndOfFile => false,
        }
    }

    /// Operands joined by operators that bind at least as tight as `minimum`.
    fn operators(&mut self, minimum: u8) -> Tall {
        if !self.enter() {
            return self.nothing();
        }
        let mut left = self.prefix();
        // The level at which `left` is an unparenthesised operation, to flatten chains and to refuse comparisons of comparisons.
        let mut left_level = None;
        while let TokenKind::Sign(sign) = self.peek() {
            let Some((operator, level)) = infix(sign).filter(|(_, level)| *level >= minimum) else {
                break;
            };
            if sign == Sign::FatArrow && self.complain_of_fat_arrow() {
                break;
            }
            if left_level == Some(level) && matches!(level, IMPLICATION | COMPARISON) {
                self.complain_of_chain(level);
            }
            self.bump();
            left = self.operation(left, operator, level, left_level);
            left_level = Some(level);
            if self.depth + left.height > NESTING_LIMIT {
                self.too_deep();
                left = self.nothing();
            }
        }
        self.extent = self.extent.max(self.depth + left.height);
        self.leave();
        left
    }

    /// The operation whose left operand and operator were read.
    fn operation(&mut self, left: Tall, operator: Infix, level: u8, left_level: Option<u8>) -> Tall {
        let right_level = if operator == Infix::Conditional { LOOSEST } else { level + 1 };
        let right = self.operators(right_level);
        let height = 1 + left.height.max(right.height);
        let span = left.expr.span.to(right.expr.span);
        match operator {
            Infix::Conditional => {
                self.expect(Sign::Colon);
                let otherwise = self.operators(LOOSEST);
                let span = span.to(otherwise.expr.span);
                let kind = ExprKind::Conditional { condition: Box::new(left.expr), then: Box::new(right.expr), otherwise: Box::new(otherwise.expr) };
                Tall { expr: Expr { kind, span }, height: height.max(1 + otherwise.height) }
            }
            Infix::Binary(op) => {
                let kind = ExprKind::Binary { op, left: Box::new(left.expr), right: Box::new(right.expr) };
                Tall { expr: Expr { kind, span }, height }
            }
            Infix::Chain(op) => match left.expr.kind {
                ExprKind::Chain { op: same, mut operands } if same == op && left_level == Some(level) => {
                    operands.push(right.expr);
                    let expr = Expr { kind: ExprKind::Chain { op, operands }, span };
                    Tall { expr, height: left.height.max(1 + right.height) }
                }
                _ => Tall { expr: Expr { kind: ExprKind::Chain { op, operands: vec![left.expr, right.expr] }, span }, height },
            },
        }
    }

    /// `=>` is not an operator. Before a body it ends a guard (returns true); elsewhere an implication was meant.
    fn complain_of_fat_arrow(&mut self) -> bool {
        self.report(
            Diagnostic::error(self.token().span, "`=>` is not an operator").with_help("a guard ends with `==>`, an implication is written `->`"),
        );
        // A body may begin with an assignment, too.
        let ends = |kind: TokenKind| matches!(kind, TokenKind::Sign(Sign::Assign | Sign::Semicolon | Sign::GuardArrow) | TokenKind::EndOfFile);
        let assigns = self.tokens[self.at..].iter().find(|token| ends(token.kind)).is_some_and(|token| token.kind == Sign::Assign.into());
        assigns || matches!(self.nth(1).kind, TokenKind::Word(word) if !matches!(word, Word::Forall | Word::Exists | Word::IsUndefined))
    }

    fn complain_of_chain(&mut self, level: u8) {
        let (message, help) = if level == IMPLICATION {
            ("implications do not chain", "put parentheses: `a -> (b -> c)`")
        } else {
            ("comparisons do not chain", "compare twice, `a < b & b < c`, or put parentheses")
        };
        self.report(Diagnostic::error(self.token().span, message).with_help(help));
    }

    fn prefix(&mut self) -> Tall {
        let (op, level) = match self.peek() {
            TokenKind::Sign(Sign::Not) => (UnaryOp::Not, COMPARISON),
            TokenKind::Sign(Sign::Minus) => (UnaryOp::Negate, TIGHTEST),
            TokenKind::Sign(Sign::Plus) => (UnaryOp::Plus, TIGHTEST),
            TokenKind::Sign(Sign::Complement) => (UnaryOp::Complement, TIGHTEST),
            _ => return self.postfix(),
        };
        let start = self.bump().span;
        let operand = self.operators(level);
        let span = start.to(operand.expr.span);
        let kind = ExprKind::Unary { op, operand: Box::new(operand.expr) };
        Tall { expr: Expr { kind, span }, height: operand.height + 1 }
    }

    /// A primary expression with the fields and indices after it.
    fn postfix(&mut self) -> Tall {
        let mut base = self.primary();
        loop {
            let start = base.expr.span;
            let kind = if self.eat(Sign::Dot) {
                let field = self.name();
                base.height += 1;
                ExprKind::Field { base: Box::new(base.expr), field }
            } else if self.eat(Sign::OpenSquare) {
                let index = self.operators(LOOSEST);
                if self.at(Sign::Comma) {
                    let comma = Diagnostic::error(self.token().span, "an index is one expression");
                    self.report(comma.with_help("arrays of arrays are indexed one by one: `a[i][j]`"));
                    while !self.at(Sign::CloseSquare) && !self.at(Sign::Semicolon) && !self.at_statement_stop() {
                        self.bump();
                    }
                }
                self.expect(Sign::CloseSquare);
                base.height = 1 + base.height.max(index.height);
                ExprKind::Index { base: Box::new(base.expr), index: Box::new(index.expr) }
            } else {
                return base;
            };
            base.expr = Expr { kind, span: self.since(start) };
            if self.depth + base.height > NESTING_LIMIT {
                self.too_deep();
                return self.nothing();
            }
        }
    }

    fn primary(&mut self) -> Tall {
        let token = self.token();
        let start = token.span;
        let mut height = 1;
        let kind = match token.kind {
            TokenKind::Number(value) => {
                self.bump();
                ExprKind::Number(value)
            }
            TokenKind::HugeNumber(value) => {
                self.bump();
                ExprKind::HugeNumber(value)
            }
            TokenKind::Real => {
                self.bump();
                ExprKind::Real(self.text_of(token).to_string())
            }
            TokenKind::Sign(Sign::OpenRound) => {
                self.bump();
                let inner = self.operators(LOOSEST);
                self.expect(Sign::CloseRound);
                height += inner.height;
                ExprKind::Parenthesised(Box::new(inner.expr))
            }
            TokenKind::Name if self.nth(1).kind == Sign::OpenRound.into() => return self.call(),
            TokenKind::Name => ExprKind::Name(self.name().text),
            TokenKind::Word(Word::Forall | Word::Exists) => return self.quantified(),
            TokenKind::Word(Word::IsUndefined) => {
                self.bump();
                self.expect(Sign::OpenRound);
                let place = self.operators(LOOSEST);
                self.expect(Sign::CloseRound);
                height += place.height;
                ExprKind::IsUndefined(Box::new(place.expr))
            }
            TokenKind::Word(Word::IsMember) => {
                self.bump();
                let outer = std::mem::replace(&mut self.extent, self.depth);
                self.expect(Sign::OpenRound);
                let value = self.operators(LOOSEST);
                self.expect(Sign::Comma);
                let ty = self.type_expression();
                self.expect(Sign::CloseRound);
                height += self.extent - self.depth;
                self.extent = self.extent.max(outer);
                ExprKind::IsMember { value: Box::new(value.expr), ty: Box::new(ty) }
            }
            _ => {
                self.expected("an expression");
                return self.nothing();
            }
        };
        Tall { expr: Expr { kind, span: self.since(start) }, height }
    }

    /// `name(arguments)`, and CMurphi's `multisetcount(i : bag, condition)` unless the model has a function of that name.
    fn call(&mut self) -> Tall {
        let counts = self.at_name("multisetcount") && !self.functions.contains(self.text_of(self.token()));
        let function = self.name();
        let start = function.span;
        let mut height = 0;
        let kind = if counts {
            self.expect(Sign::OpenRound);
            let name = self.name();
            self.expect(Sign::Colon);
            let bag = self.postfix();
            self.expect(Sign::Comma);
            let condition = self.operators(LOOSEST);
            height = bag.height.max(condition.height);
            ExprKind::BagCount { name, bag: Box::new(bag.expr), condition: Box::new(condition.expr) }
        } else {
            self.expect(Sign::OpenRound);
            let mut arguments = Vec::new();
            while !self.at(Sign::CloseRound) {
                let argument = self.operators(LOOSEST);
                height = height.max(argument.height);
                arguments.push(argument.expr);
                if !self.eat(Sign::Comma) {
                    break;
                }
            }
            ExprKind::Call { function, arguments }
        };
        if !self.eat(Sign::CloseRound) {
            self.expected(if counts { "`)`" } else { "`,` or `)`" });
        }
        Tall { expr: Expr { kind, span: self.since(start) }, height: height + 1 }
    }

    /// `forall` or `exists`, over one or several variables.
    fn quantified(&mut self) -> Tall {
        let universal = self.at(Word::Forall);
        let start = self.bump().span;
        let outer = std::mem::replace(&mut self.extent, self.depth);
        self.open(if universal { BlockKind::Forall } else { BlockKind::Exists }, start);
        let quantifiers = self.quantifiers();
        self.expect_do();
        let body = self.operators(LOOSEST);
        self.close();
        let height = 1 + self.extent - self.depth;
        self.extent = self.extent.max(outer);
        let kind = ExprKind::Quantified { universal, quantifiers, body: Box::new(body.expr) };
        Tall { expr: Expr { kind, span: self.since(start) }, height }
    }

    /// `i : type; j := low to high by step`. A semicolon may follow the last.
    pub(super) fn quantifiers(&mut self) -> Vec<Quantifier> {
        let mut quantifiers = vec![self.quantifier()];
        while self.at(Sign::Semicolon) && !self.failed() {
            self.eat_semicolons();
            if !self.at(TokenKind::Name) {
                break;
            }
            quantifiers.push(self.quantifier());
        }
        quantifiers
    }

    fn quantifier(&mut self) -> Quantifier {
        let name = self.name();
        if !self.eat(Sign::Assign) {
            self.expect(Sign::Colon);
            return Quantifier { name, domain: Domain::Type(self.type_expression()) };
        }
        let from = self.bare_expression();
        self.expect(Word::To);
        let to = self.bare_expression();
        let by = self.eat(Word::By).then(|| self.bare_expression());
        Quantifier { name, domain: Domain::Range { from, to, by } }
    }

    /// A placeholder for an expression that could not be parsed.
    fn nothing(&self) -> Tall {
        Tall { expr: self.missing(), height: 1 }
    }
}
